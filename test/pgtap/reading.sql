-- Random boards, every question, against plain SQL over the scores submitted:
-- three tie rules, both directions, heads that reach everybody, some or one.
-- The seed is in the names of the tests: LB_SEED=… repeats a run.
\i test/include/seeded.sql
SELECT plan(23);

-- Scores of several shapes: few values, wide ones, one value only, both ends.
CREATE TABLE score AS
SELECT shape, format(CASE WHEN random() < 0.1 THEN 'Ž%s' WHEN random() < 0.1 THEN 'M%s' ELSE 'm%s' END, i) AS member,
	CASE shape WHEN 'few' THEN floor(random() * 12)::bigint - 4
		WHEN 'wide' THEN (CASE WHEN random() < 0.3 THEN -1 ELSE 1 END * exp(random() * 30))::bigint
		WHEN 'one' THEN 1000
		WHEN 'near' THEN 1000000 + floor(random() * 200)::bigint
		ELSE ('{9223372036854775807,-9223372036854775808,9223372036854775806,-9223372036854775807,0,-1,1}'::bigint[])[1 + floor(random() * 7)] END AS value,
	timestamptz '2040-05-05 12:00Z' + floor(random() * 5) * interval '1 minute' AS reached_at
FROM unnest(ARRAY['few', 'wide', 'one', 'near', 'ends']) AS shape, generate_series(1, 150) AS i;
CREATE TABLE board AS
SELECT row_number() OVER () AS id, shape, ties, direction, head, format('%s_%s_%s_%s', shape, ties, direction, coalesce(head, 0)) AS board
FROM (SELECT DISTINCT shape FROM score) AS s, unnest(ARRAY['competition', 'dense', 'ordinal']) AS ties, unnest(ARRAY['asc', 'desc']) AS direction,
	unnest(ARRAY[NULL, 1, 7, 60]) AS head;
SELECT lb_create_counter(shape, operator => 'last') FROM (SELECT DISTINCT shape FROM score) AS s \g /dev/null
-- Some boards are made before the events, some after; head NULL is the default
-- of lb_create_board, whose answers are exact for so few members.
CREATE FUNCTION make(b board) RETURNS bigint LANGUAGE sql AS $$
	SELECT CASE WHEN b.head IS NULL THEN lb_create_board(b.board, b.shape, direction => b.direction, ties => b.ties)
		ELSE lb_create_board(b.board, b.shape, direction => b.direction, ties => b.ties, ranks => 'bounded', head => b.head, buckets => CASE WHEN b.id % 5 = 0 THEN 4 ELSE 128 END) END
$$;
SELECT make(b) FROM board AS b WHERE id % 2 = 0 \g /dev/null
SELECT s.status, count(*) FROM (SELECT counter_id, array_agg(member) AS m, array_agg(value) AS v, array_agg(reached_at) AS t
	FROM score JOIN lb_counters() ON counter = shape GROUP BY counter_id) AS g,
	LATERAL lb._submit_batch(counter_id, m, v, m, t, NULL, NULL, 'e', '2040-05-05 18:00Z') AS s GROUP BY 1 \g /dev/null
SELECT lb_refresh() \g /dev/null
SELECT make(b) FROM board AS b WHERE id % 2 = 1 \g /dev/null

-- The truth.
CREATE TABLE truth AS
SELECT b.*, s.member, s.value, s.reached_at, count(*) OVER w AS population,
	CASE direction WHEN 'asc' THEN count(*) OVER (w ORDER BY value GROUPS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
		ELSE count(*) OVER (w ORDER BY value DESC GROUPS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) END AS better,
	CASE direction WHEN 'asc' THEN row_number() OVER (w ORDER BY value, reached_at, member COLLATE "C")
		ELSE row_number() OVER (w ORDER BY value DESC, reached_at, member COLLATE "C") END AS place,
	CASE ties || direction
		WHEN 'competitionasc' THEN rank() OVER (w ORDER BY value) WHEN 'competitiondesc' THEN rank() OVER (w ORDER BY value DESC)
		WHEN 'denseasc' THEN dense_rank() OVER (w ORDER BY value) WHEN 'densedesc' THEN dense_rank() OVER (w ORDER BY value DESC)
		WHEN 'ordinalasc' THEN row_number() OVER (w ORDER BY value, reached_at, member COLLATE "C")
		ELSE row_number() OVER (w ORDER BY value DESC, reached_at, member COLLATE "C") END AS rank
FROM board AS b JOIN score AS s USING (shape) WINDOW w AS (PARTITION BY b.id);
CREATE INDEX ON truth (id, member);
ANALYZE truth;
-- What bounded boards owe: exact inside the head, beyond it an interval that
-- holds the truth; the member's own value always.
CREATE FUNCTION owed(t truth) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
	SELECT t.head IS NULL OR CASE t.ties WHEN 'ordinal' THEN t.place <= t.head ELSE t.better < t.head END
$$;
CREATE FUNCTION fits(t truth, a lb_answer) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
	SELECT (a.member, a.value, a.value_low, a.value_high, a.reached_at, a.population, a.state) IS NOT DISTINCT FROM (t.member, t.value, t.value, t.value, t.reached_at, t.population, 'live')
		AND (a.place IS NULL AND t.place > t.head OR a.place = t.place)
		AND CASE WHEN owed(t) THEN
			(a.kind, a.rank, a.rank_low, a.rank_high) IS NOT DISTINCT FROM ('exact', t.rank, t.rank, t.rank)
			AND abs(a.percentile_low - 100.0 * (t.population - t.better) / t.population) < 1e-9 AND a.percentile_high = a.percentile_low
		ELSE a.kind = 'estimated' AND a.rank IS NULL AND a.rank_low BETWEEN 1 AND t.rank AND a.rank_high BETWEEN t.rank AND t.population
			AND a.midpoint BETWEEN a.rank_low AND a.rank_high
			AND 100.0 * (t.population - t.better) / t.population BETWEEN a.percentile_low - 1e-9 AND a.percentile_high + 1e-9
			AND a.percentile_low >= 0 AND a.percentile_high <= 100 END
$$;
CREATE FUNCTION shown(t truth, a lb_answer) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT format('%s: place %s better %s rank %s, said %s', t.board, t.place, t.better, t.rank, a) $$;

-- lb_ranks, with strangers in between; one row for each given, in that order.
CREATE TABLE said AS
SELECT b.id, g.given[r.ordinality] AS given, r.a FROM board AS b JOIN (SELECT shape, array_agg(member ORDER BY random()) || ARRAY['stranger', 'm1 ', ''] AS given FROM score GROUP BY shape) AS g USING (shape),
	LATERAL (SELECT row_number() OVER () AS ordinality, x AS a FROM lb_ranks(b.board, g.given) AS x) AS r;
SELECT is(count(*), (SELECT count(*) + 3 * (SELECT count(*) FROM board) FROM truth), 'one row for each member given') FROM said;
SELECT is(min(given), NULL, seeded('in the given order')) FROM said WHERE (a).member IS DISTINCT FROM given;
SELECT is(min(shown(t, s.a)), NULL, seeded('lb_ranks without bounds is exact')) FROM truth AS t JOIN said AS s ON (s.id, s.given) = (t.id, t.member) WHERE head IS NULL AND fits(t, s.a) IS NOT TRUE;
SELECT is(min(shown(t, s.a)) FILTER (WHERE fits(t, s.a) IS NOT TRUE), NULL, seeded(format('lb_ranks, bounded, %s', ties)))
FROM truth AS t JOIN said AS s ON (s.id, s.given) = (t.id, t.member) WHERE head IS NOT NULL GROUP BY ties ORDER BY ties;
SELECT ok(count(*) FILTER (WHERE NOT owed(t)) > 1000 AND count(*) FILTER (WHERE owed(t) AND head IS NOT NULL) > 1000, 'both sides of heads were asked for') FROM truth AS t;
SELECT is(min(s.a::text), NULL, seeded('strangers are unranked, with the board''s population and version')) FROM said AS s JOIN board AS b USING (id), LATERAL lb_version(b.board) AS v
WHERE given IN ('stranger', 'm1 ', '') AND (s.a) IS DISTINCT FROM ROW(given, NULL, 'unranked', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 150, v.version, v.as_of, v.stale, 'live')::lb_answer;
SELECT is(min(b.board), NULL, seeded('dense: beyond the head at least the distinct values in it')) FROM truth AS t JOIN board AS b USING (id) JOIN said AS s ON (s.id, s.given) = (t.id, t.member)
WHERE t.ties = 'dense' AND NOT owed(t) AND (s.a).rank_low <> 1 + (SELECT count(DISTINCT i.value) FROM truth AS i WHERE i.id = t.id AND i.place <= t.head);
SELECT is(min(b.board), NULL, 'lb_rank is lb_ranks of one') FROM (SELECT * FROM said WHERE random() < 0.1) AS s JOIN board AS b USING (id), LATERAL lb_rank(b.board, given) AS r
WHERE (to_jsonb(r) - '{stale}'::text[]) IS DISTINCT FROM (to_jsonb(s.a) - '{stale}'::text[]);

-- lb_top and lb_page: a stretch of board order, none beyond the head.
CREATE TABLE page AS
SELECT b.id, f.first, n, p.ordinality, p.a FROM board AS b, (VALUES (1, 1000), (1, 1), (2, 1), (1, 10), (7, 2), (8, 3), (59, 5), (141, 20), (150, 10), (151, 5), (9223372036854775807, 1000)) AS f (first, n),
	LATERAL (SELECT row_number() OVER () AS ordinality, x AS a FROM lb_page(b.board, f.first, n) AS x) AS p;
CREATE TABLE due AS
SELECT t.*, f.first, f.n, t.place - first + 1 AS ordinality FROM truth AS t, (SELECT DISTINCT first, n FROM page UNION SELECT 151, 5) AS f
WHERE place BETWEEN first AND first::numeric + n - 1 AND (head IS NULL OR place <= head);
SELECT is(min(row(d.board, d.first, d.n, d.member, p.a)::text), NULL, seeded('lb_page is a stretch of the order'))
FROM due AS d FULL JOIN page AS p USING (id, first, n, ordinality)
WHERE d.member IS NULL OR p.a IS NULL OR NOT fits((SELECT t FROM truth AS t WHERE (t.id, t.member) = (d.id, d.member)), p.a);
SELECT is(min(b.board), NULL, 'lb_top is the first page') FROM board AS b, unnest(ARRAY[1, 10, 1000]) AS n,
	LATERAL (SELECT count(*) FROM ((SELECT member, rank, place FROM lb_top(b.board, n) EXCEPT ALL SELECT member, rank, place FROM lb_page(b.board, 1, n))
		UNION ALL (SELECT member, rank, place FROM lb_page(b.board, 1, n) EXCEPT ALL SELECT member, rank, place FROM lb_top(b.board, n))) AS d) AS x WHERE x.count <> 0;
SELECT is(count(*), 0::bigint, 'the previous page of the second is the first, ranks included') FROM board AS b WHERE head IS NULL AND
	(SELECT array_agg(x::text) FROM (SELECT member, rank FROM lb_page(b.board, 1, 20)) AS x) IS DISTINCT FROM
	(SELECT array_agg(x::text) FROM (SELECT * FROM (SELECT member, rank FROM lb_page(b.board, 1, 10)) AS a UNION ALL SELECT * FROM (SELECT member, rank FROM lb_page(b.board, 11, 10)) AS c) AS x);

-- lb_around at the first, second, last and other places.
CREATE TABLE around AS
SELECT t.id, t.member AS of, n, o.ordinality, o.a FROM truth AS t, unnest(ARRAY[1, 5, 200]) AS n,
	LATERAL (SELECT row_number() OVER () AS ordinality, x AS a FROM lb_around(t.board, t.member, n) AS x) AS o
WHERE t.place IN (1, 2, 7, 8, 60, 149, 150) AND (n < 200 OR t.id % 7 = 0);
SELECT is(min(shown(t, o.a)), NULL, seeded('lb_around answers as lb_rank does')) FROM around AS o JOIN truth AS t ON (t.id, t.member) = (o.id, (o.a).member) WHERE NOT fits(t, o.a);
SELECT is(min(row(d.board, d.of, d.n, d.member, o.a)::text), NULL, seeded('lb_around without bounds: n ahead, the member, n behind, in order'))
FROM (SELECT t.board, t.id, c.member AS of, c.n, t.member, row_number() OVER (PARTITION BY t.id, c.member, c.n ORDER BY t.place) AS ordinality
	FROM (SELECT DISTINCT id, of AS member, n FROM around) AS c JOIN truth AS m USING (id, member) JOIN truth AS t ON t.id = c.id AND t.place BETWEEN m.place - c.n AND m.place + c.n WHERE t.head IS NULL) AS d
	FULL JOIN (SELECT * FROM around WHERE id IN (SELECT id FROM board WHERE head IS NULL)) AS o ON (o.id, o.of, o.n, o.ordinality) = (d.id, d.of, d.n, d.ordinality)
WHERE d.member IS DISTINCT FROM (o.a).member;
SELECT is(min(row(o.id, o.of, o.n)::text), NULL, seeded('lb_around, bounded: the member and neighbours, in order, at most n a side; complete inside the head'))
FROM (SELECT o.id, of, n, array_agg(t.place ORDER BY ordinality) AS places, m.place, m.head FROM around AS o JOIN truth AS t ON (t.id, t.member) = (o.id, (o.a).member) JOIN truth AS m ON (m.id, m.member) = (o.id, o.of)
	GROUP BY 1, 2, 3, m.place, m.head) AS o
WHERE head IS NOT NULL AND (NOT place = ANY (places) OR places <> (SELECT array_agg(p ORDER BY p) FROM unnest(places) AS p) OR places[1] < place - n OR places[cardinality(places)] > place + n
	OR place + n <= head AND cardinality(places) <> least(place - 1, n) + n + 1);
SELECT is(count(*), (SELECT count(*) FROM board), 'a stranger has no neighbours') FROM board AS b, LATERAL lb_around(b.board, 'stranger', 3) AS a WHERE kind = 'unranked' AND member = 'stranger';

-- lb_among: the tie rule among the given, then what lb_rank says.
CREATE TABLE friends AS
SELECT b.id, f.ordinality, f.among, f.a FROM board AS b,
	LATERAL (SELECT row_number() OVER () AS ordinality, x.among, (SELECT a FROM lb_rank(b.board, x.member) AS a) AS a, x AS x
		FROM lb_among(b.board, (SELECT array_agg(member) || ARRAY['stranger'] || array_agg(member) FROM score WHERE score.shape = b.shape AND hashtext(member) % 4 = b.id % 3)) AS x) AS f
WHERE (to_jsonb(f.x) - '{among,stale}'::text[]) = (to_jsonb(f.a) - '{stale}'::text[]);
SELECT is(min(row(t.board, t.member, t.ordinality, f.ordinality, t.among, f.among)::text), NULL, seeded('lb_among ranks the given, each once, best first'))
FROM (SELECT t.id, t.board, t.member, row_number() OVER w AS ordinality,
		CASE ties WHEN 'ordinal' THEN row_number() OVER w WHEN 'dense' THEN dense_rank() OVER v ELSE rank() OVER v END AS among
	FROM truth AS t WHERE hashtext(member) % 4 = id % 3 WINDOW w AS (PARTITION BY id ORDER BY place), v AS (PARTITION BY id ORDER BY better)) AS t
	FULL JOIN (SELECT * FROM friends WHERE (a).member <> 'stranger') AS f ON (f.id, (f.a).member) = (t.id, t.member)
WHERE (t.ordinality, t.among) IS DISTINCT FROM (f.ordinality, f.among);
SELECT is(count(*), (SELECT count(*) FROM board), 'the unranked last, without a rank') FROM friends AS f WHERE (a).member = 'stranger' AND among IS NULL AND ordinality = (SELECT max(ordinality) FROM friends AS o WHERE o.id = f.id);

-- lb_rank_for_value: of values that members have, their neighbours, the ends.
CREATE TABLE asked AS
SELECT b.*, v.value, (SELECT a FROM lb_rank_for_value(b.board, v.value) AS a) AS a,
	x.better, x.better_values, x.equal
FROM board AS b, LATERAL (SELECT DISTINCT w::bigint AS value FROM (SELECT value FROM score WHERE score.shape = b.shape ORDER BY random() LIMIT 15) AS s, unnest(ARRAY[value::numeric - 1, value, value::numeric + 1, 0, 9223372036854775807, -9223372036854775808]) AS w
	WHERE w BETWEEN -9223372036854775808 AND 9223372036854775807) AS v,
	LATERAL (SELECT count(*) FILTER (WHERE CASE b.direction WHEN 'asc' THEN s.value < v.value ELSE s.value > v.value END) AS better,
		count(DISTINCT s.value) FILTER (WHERE CASE b.direction WHEN 'asc' THEN s.value < v.value ELSE s.value > v.value END) AS better_values,
		count(*) FILTER (WHERE s.value = v.value) AS equal FROM score AS s WHERE s.shape = b.shape) AS x;
SELECT is(min(row(board, value, better, better_values, equal, a)::text), NULL, seeded('lb_rank_for_value is what a newcomer would have'))
FROM asked, LATERAL (SELECT CASE ties WHEN 'ordinal' THEN better + equal + 1 WHEN 'dense' THEN better_values + 1 ELSE better + 1 END AS rank) AS t,
	LATERAL (SELECT 100.0 * (150 - better) / 150 AS percentile) AS p
WHERE ((a).member, (a).value, (a).reached_at, (a).population) IS DISTINCT FROM (NULL, value, NULL, 150::bigint)
OR (a).place IS NOT NULL AND (a).place <> better + equal + 1
OR CASE WHEN head IS NULL OR CASE ties WHEN 'ordinal' THEN better + equal < head ELSE better < head END
	THEN ((a).kind, (a).rank, (a).rank_low, (a).rank_high) IS DISTINCT FROM ('exact', rank, rank, rank) OR abs((a).percentile_low - percentile) > 1e-9 OR (a).percentile_high <> (a).percentile_low
	ELSE ((a).kind, (a).rank) IS DISTINCT FROM ('estimated', NULL::bigint) OR rank NOT BETWEEN (a).rank_low AND (a).rank_high
		OR percentile NOT BETWEEN (a).percentile_low - 1e-9 AND (a).percentile_high + 1e-9 END;

-- lb_distribution: buckets in order that hold the members between their ends.
CREATE TABLE spread AS SELECT b.id, b.shape, d.ordinality, d.low, d.high, d.members FROM board AS b, LATERAL (SELECT row_number() OVER () AS ordinality, x.* FROM lb_distribution(b.board) AS x) AS d;
SELECT is(min(s::text), NULL, seeded('each bucket of lb_distribution holds its members')) FROM spread AS s
WHERE members <> (SELECT count(*) FROM score AS c WHERE c.shape = s.shape AND (low IS NULL OR value >= low) AND (high IS NULL OR value <= high)) OR members < 1;
SELECT is(min(s::text), NULL, seeded('buckets do not overlap, ascend, and hold everybody')) FROM (SELECT id, low <= lag(high) OVER (PARTITION BY id ORDER BY ordinality) AS over, sum(members) OVER (PARTITION BY id) AS all FROM spread) AS s WHERE over OR "all" <> 150;
SELECT is(min(b.board), NULL, 'lb_version has what answers carry') FROM board AS b, LATERAL lb_version(b.board) AS v, LATERAL lb_top(b.board, 1) AS t
WHERE (v.version, v.as_of, v.state, v.population) IS DISTINCT FROM (t.version, t.as_of, t.state, t.population) OR v.board_id <> (SELECT board_id FROM lb_boards() AS l WHERE l.board = b.board);
SELECT * FROM finish();
