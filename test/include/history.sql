-- For sql/ranktree.sql: \i this with ECHO none, after making the tables
-- history and board.  Everything is in pg_temp.

-- What was submitted.
CREATE TEMP TABLE event (h int, n bigint GENERATED ALWAYS AS IDENTITY, round int, member text COLLATE "C", delta bigint, at timestamptz);
-- The rounds, and what they should have left behind.
CREATE TEMP TABLE played (round int, number bigint);
CREATE TEMP TABLE truth (round int, h int, member text COLLATE "C", value bigint, reached_at timestamptz);
CREATE TEMP TABLE expected (h int, direction text, member text COLLATE "C", value bigint, reached_at timestamptz, population bigint,
	better bigint, dense bigint, place bigint);
CREATE INDEX ON truth (h, round);
CREATE INDEX ON expected (h, direction);

CREATE FUNCTION pg_temp.a_member(names int, i int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE names WHEN 0 THEN 'member-' || i
		WHEN 1 THEN repeat('x', 196) || to_char(i, 'FM0000')
		WHEN 2 THEN repeat('ž', 1 + i % 97) || i
		WHEN 3 THEN repeat('a', 1 + i % 200) || CASE WHEN i >= 200 THEN 'b' ELSE '' END
		ELSE chr(1000 + i * 7919 % 50000) || i END
$$;

CREATE FUNCTION pg_temp.a_delta(deltas int) RETURNS bigint LANGUAGE sql VOLATILE AS $$
	SELECT CASE deltas WHEN 0 THEN floor(random() * 2)::bigint
		WHEN 1 THEN floor(random() * 7)::bigint - 3
		WHEN 2 THEN ('{9223372036854775807,-9223372036854775808,9223372036854775806,-9223372036854775807,0,-1,1}'::bigint[])[1 + floor(random() * 7)]
		WHEN 3 THEN (CASE WHEN random() < 0.4 THEN -1 ELSE 1 END * exp(random() * 40))::bigint
		WHEN 4 THEN 7
		WHEN 5 THEN 1000000 + floor(random() * 30)::bigint
		ELSE floor(random() * 1000)::bigint END
$$;

-- Round 4 is a drop for nearly everybody.
CREATE FUNCTION pg_temp.draw(this_round int) RETURNS void LANGUAGE sql VOLATILE AS $$
	INSERT INTO event (h, round, member, delta, at)
	SELECT h, this_round, pg_temp.a_member(names, i),
		CASE WHEN this_round = 4 AND random() < 0.9 THEN CASE operator WHEN 'sum' THEN -abs(pg_temp.a_delta(6)) ELSE -9000000000 - floor(random() * 3)::bigint END
			ELSE pg_temp.a_delta(deltas) END,
		timestamptz '2024-02-28 23:00Z' + CASE times WHEN 0 THEN interval '0' WHEN 1 THEN floor(random() * 5) * interval '40 minutes' ELSE random() * 1e6 * interval '1 second' END
			+ CASE WHEN this_round = 4 THEN interval '30 days' ELSE '0' END
	FROM history,
		LATERAL (SELECT CASE WHEN this_round = 1 AND s % 3 > 0 OR this_round = 4 THEN s ELSE floor(random() * members)::int END AS i
			FROM generate_series(0, CASE WHEN this_round IN (1, 4) THEN members - 1 WHEN h = 0 THEN 3000 ELSE floor(random() * members * 1.5)::int END) AS s) AS drawn
	ORDER BY h
$$;

CREATE FUNCTION pg_temp.submit(this_round int) RETURNS TABLE (status text, reason text) LANGUAGE sql VOLATILE AS $$
	SELECT s.status, s.reason
	FROM (SELECT h, array_agg(member ORDER BY n) AS members, array_agg(delta ORDER BY n) AS deltas, array_agg(n::text ORDER BY n) AS keys, array_agg(at ORDER BY n) AS times
		FROM (SELECT *, (row_number() OVER (PARTITION BY h ORDER BY n) - 1) / 10000 AS batch FROM event WHERE event.round = this_round) AS e
		GROUP BY h, batch ORDER BY h, batch) AS b,
		LATERAL lb_backfill('c' || h, members, deltas, keys, times) AS s
$$;

-- The truth by plain SQL over the raw events.
CREATE FUNCTION pg_temp.tell(this_round int) RETURNS void LANGUAGE sql VOLATILE AS $$
	INSERT INTO truth
	SELECT this_round, h, member, value, reached_at
	FROM (SELECT h, member,
			CASE operator WHEN 'sum' THEN sum(delta) WHEN 'max' THEN max(delta) WHEN 'min' THEN min(delta)
				ELSE (array_agg(delta ORDER BY at DESC, n DESC))[1] END AS value,
			CASE operator WHEN 'sum' THEN coalesce(max(at) FILTER (WHERE delta <> 0), min(at)) WHEN 'max' THEN (array_agg(at ORDER BY delta DESC, at))[1]
				WHEN 'min' THEN (array_agg(at ORDER BY delta, at))[1] ELSE max(at) END AS reached_at
		FROM event JOIN history USING (h) GROUP BY h, operator, member) AS t
	WHERE value BETWEEN -9223372036854775808 AND 9223372036854775807;
	TRUNCATE expected;
	INSERT INTO expected
	SELECT h, 'desc', member, value, reached_at, count(*) OVER (PARTITION BY h), rank() OVER (PARTITION BY h ORDER BY value DESC) - 1,
		dense_rank() OVER (PARTITION BY h ORDER BY value DESC), row_number() OVER (PARTITION BY h ORDER BY value DESC, reached_at, member)
	FROM truth WHERE truth.round = this_round
	UNION ALL
	SELECT h, 'asc', member, value, reached_at, count(*) OVER (PARTITION BY h), rank() OVER (PARTITION BY h ORDER BY value) - 1,
		dense_rank() OVER (PARTITION BY h ORDER BY value), row_number() OVER (PARTITION BY h ORDER BY value, reached_at, member)
	FROM truth WHERE truth.round = this_round;
$$;

-- A round's events; the caller counts them in another transaction.
CREATE FUNCTION pg_temp.play(this_round int) RETURNS TABLE (status text, reason text) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_temp.draw(this_round);
	ANALYZE event;
	RETURN QUERY SELECT * FROM pg_temp.submit(this_round);
END
$$;

CREATE FUNCTION pg_temp.make_board(b board) RETURNS bigint LANGUAGE sql VOLATILE AS $$
	SELECT CASE WHEN b.head IS NULL THEN lb_create_board(b.board, 'c' || b.h, direction => b.direction, ties => b.ties, keep_versions => b.keep)
		ELSE lb_create_board(b.board, 'c' || b.h, direction => b.direction, ties => b.ties, keep_versions => b.keep, ranks => 'bounded', head => b.head) END
$$;

-- The rank by the board's rule, and whether the board promises to know it.
CREATE FUNCTION pg_temp.due(b board, e expected) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE b.ties WHEN 'competition' THEN e.better + 1 WHEN 'dense' THEN e.dense ELSE e.place END
$$;
CREATE FUNCTION pg_temp.known(b board, e expected) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
	SELECT b.head IS NULL OR CASE b.ties WHEN 'ordinal' THEN e.place <= b.head ELSE e.better < b.head END
$$;

-- An answer about a member of the board is as it should be.
CREATE FUNCTION pg_temp.fits(b board, e expected, a lb_answer) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
	SELECT (a.value, a.reached_at, a.population) IS NOT DISTINCT FROM (e.value, e.reached_at, e.population)
		AND CASE WHEN pg_temp.known(b, e) THEN
			(a.kind, a.rank, a.rank_low, a.rank_high, a.place) IS NOT DISTINCT FROM
			('exact', pg_temp.due(b, e), pg_temp.due(b, e), pg_temp.due(b, e), CASE WHEN b.head IS NULL OR e.place <= b.head THEN e.place END)
			AND abs(a.percentile_low - 100.0 * (e.population - e.better) / e.population) < 1e-9 AND a.percentile_low = a.percentile_high
		ELSE (a.kind, a.rank, a.place) IS NOT DISTINCT FROM ('estimated', NULL::bigint, NULL::bigint)
			AND pg_temp.due(b, e) BETWEEN a.rank_low AND a.rank_high END
$$;

-- VOLATILE, so that none is inlined under a LIMIT that would mislead the planner.
CREATE FUNCTION pg_temp.wrong_ranks() RETURNS TABLE (what text, board text, shown text) LANGUAGE sql VOLATILE AS $$
	SELECT 'lb_ranks', b.board, row(e, a)::text
	FROM board AS b JOIN (SELECT h, array_agg(member) || ARRAY['nobody'] AS members
			FROM (SELECT h, member, (row_number() OVER (PARTITION BY h) - 1) / 900 AS chunk FROM (SELECT DISTINCT h, member FROM event) AS d) AS m GROUP BY h, chunk) AS m USING (h)
		CROSS JOIN LATERAL lb_ranks(b.board, m.members) AS a
		/* all at once: of the history of 20,000 the index finds far too many */
		LEFT JOIN expected AS e ON (e.h + 0, e.direction || '', e.member) = (b.h, b.direction, a.member)
	WHERE CASE WHEN e.member IS NULL THEN (a.kind, a.rank, a.value) IS DISTINCT FROM ('unranked', NULL::bigint, NULL::bigint)
		ELSE NOT pg_temp.fits(b, e, a) END
$$;

CREATE FUNCTION pg_temp.wrong_pages() RETURNS TABLE (what text, board text, shown text) LANGUAGE sql VOLATILE AS $$
	SELECT 'lb_page', coalesce(b.board, p.board), row(p.place, p.a, b.e)::text
	FROM (SELECT b.board, b.h, b.direction, first + ordinality - 1 AS place, row(p.member, p.rank, p.kind, p.rank_low, p.rank_high, p.midpoint, p.place, p.percentile_low, p.percentile_high,
				p.value, p.value_low, p.value_high, p.reached_at, p.population, p.version, p.as_of, p.stale, p.state)::lb_answer AS a
			FROM board AS b, LATERAL (SELECT CASE WHEN b.h = 0 THEN 1000 ELSE 6 END AS n) AS s,
			LATERAL generate_series(1, (SELECT count(*) FROM expected AS e WHERE (e.h, e.direction) = (b.h, b.direction)) + 1, n) AS first,
			LATERAL lb_page(b.board, first, n) WITH ORDINALITY AS p) AS p
		FULL JOIN (SELECT b.board, e.place, b, e FROM board AS b JOIN expected AS e USING (h, direction) WHERE b.head IS NULL OR e.place <= b.head) AS b USING (board, place)
	WHERE p.a IS NULL OR b.e IS NULL OR (p.a).member <> (b.e).member OR NOT pg_temp.fits(b.b, b.e, p.a)
$$;

CREATE FUNCTION pg_temp.wrong_neighbours() RETURNS TABLE (what text, board text, shown text) LANGUAGE sql VOLATILE AS $$
	WITH asked AS MATERIALIZED (SELECT b.board, b, e, 1 + b.h % 4 AS n FROM board AS b JOIN expected AS e USING (h, direction)
		WHERE b.head IS NULL AND (b.h > 0 OR e.place % 1999 IN (0, 1)))
	SELECT 'lb_around', coalesce(d.board, o.board), row(d.e, o.member)::text
	FROM (SELECT k.board, (k.e).member AS of, x.place, x AS e FROM asked AS k JOIN expected AS x ON (x.h, x.direction) = ((k.e).h, (k.e).direction) AND x.place BETWEEN (k.e).place - n AND (k.e).place + n) AS d
		FULL JOIN (SELECT k.board, (k.e).member AS of, a.place, a.member, a.rank, k.b FROM asked AS k, LATERAL lb_around(k.board, (k.e).member, n) AS a) AS o USING (board, of, place)
	WHERE (d.e).member IS DISTINCT FROM o.member OR pg_temp.due(o.b, d.e) IS DISTINCT FROM o.rank
$$;

CREATE FUNCTION pg_temp.wrong_values() RETURNS TABLE (what text, board text, shown text) LANGUAGE sql VOLATILE AS $$
	WITH asked AS MATERIALIZED (SELECT DISTINCT h, v::bigint AS value FROM truth, unnest(ARRAY[value::numeric - 1, value, value::numeric + 1, -9223372036854775808, 9223372036854775807, 0]) AS v
		WHERE round = (SELECT max(round) FROM played) AND v BETWEEN -9223372036854775808 AND 9223372036854775807),
	due AS (SELECT h, asked.value, direction, count(*) FILTER (WHERE beats) AS better, count(DISTINCT t.value) FILTER (WHERE beats) AS values_better,
			count(*) FILTER (WHERE t.value = asked.value) AS equal
		FROM asked JOIN truth AS t USING (h), unnest(ARRAY['asc', 'desc']) AS direction,
			LATERAL (SELECT CASE direction WHEN 'asc' THEN t.value < asked.value ELSE t.value > asked.value END AS beats) AS x
		WHERE round = (SELECT max(round) FROM played) GROUP BY 1, 2, 3)
	SELECT 'lb_rank_for_value', b.board, row(d, a)::text
	FROM board AS b JOIN due AS d USING (h, direction), LATERAL lb_rank_for_value(b.board, d.value) AS a,
		LATERAL (SELECT CASE ties WHEN 'competition' THEN better + 1 WHEN 'dense' THEN values_better + 1 ELSE better + equal + 1 END AS rank,
			CASE ties WHEN 'ordinal' THEN better + equal ELSE better END AS ahead) AS r
	WHERE CASE WHEN b.head IS NULL OR ahead < b.head THEN (a.kind, a.rank, a.rank_low, a.rank_high) IS DISTINCT FROM ('exact', r.rank, r.rank, r.rank)
		ELSE a.kind <> 'estimated' OR r.rank NOT BETWEEN a.rank_low AND a.rank_high END
$$;

CREATE FUNCTION pg_temp.wrong_distributions() RETURNS TABLE (what text, board text, shown text) LANGUAGE sql VOLATILE AS $$
	SELECT 'lb_distribution', board, row(members, members_truly, "all", all_truly)::text
	FROM (SELECT b.board, d.low, d.high, d.members, x.members_truly, sum(d.members) OVER (PARTITION BY b.board) AS all, x.all_truly
		FROM board AS b LEFT JOIN LATERAL lb_distribution(b.board) AS d ON true
		CROSS JOIN LATERAL (SELECT count(*) FILTER (WHERE (d.low IS NULL OR value >= d.low) AND (d.high IS NULL OR value <= d.high)) AS members_truly, count(*) AS all_truly
			FROM expected AS e WHERE (e.h, e.direction) = (b.h, b.direction)) AS x) AS d
	WHERE members IS DISTINCT FROM members_truly AND all_truly > 0 OR coalesce("all", 0) <> all_truly
$$;

-- Everything that is wrong after a round; no round: after the last one.
CREATE FUNCTION pg_temp.differences(this_round int) RETURNS TABLE (what text, board text, shown text) LANGUAGE plpgsql AS $$
BEGIN
	IF this_round IS NOT NULL THEN
		INSERT INTO played SELECT this_round, max(number) FROM lb.round;
		PERFORM pg_temp.tell(this_round);
		ANALYZE truth;
		ANALYZE expected;
	END IF;
	RETURN QUERY SELECT * FROM pg_temp.wrong_ranks() LIMIT 3;
	RETURN QUERY SELECT * FROM pg_temp.wrong_pages() LIMIT 3;
	RETURN QUERY SELECT * FROM pg_temp.wrong_neighbours() LIMIT 3;
	RETURN QUERY SELECT * FROM pg_temp.wrong_values() LIMIT 3;
	RETURN QUERY SELECT * FROM pg_temp.wrong_distributions() LIMIT 3;
	RETURN QUERY SELECT 'lb_check', b.board, c.problem FROM board AS b, LATERAL lb_check(b.board) AS c LIMIT 3;
END
$$;

-- Where two boards of one history do not answer alike.
CREATE FUNCTION pg_temp.unlike(one text, other text, history int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	questions text[] := ARRAY['lb_page(%L, 1, 1000)'];
	found text;
BEGIN
	questions := questions || (SELECT array_agg(format('lb_ranks(%%L, %L)', members)) FROM (SELECT array_agg(member) AS members
		FROM (SELECT member, row_number() OVER () / 900 AS chunk FROM truth WHERE h = history AND round = (SELECT max(round) FROM played) AND (h > 0 OR hashtext(member) % 10 = 0)) AS m GROUP BY chunk) AS m);
	questions := questions || (SELECT array_agg(format('lb_rank_for_value(%%L, %s)', value)) FROM (SELECT DISTINCT value FROM truth WHERE h = history AND round = (SELECT max(round) FROM played)) AS v);
	FOR i IN 1 .. cardinality(questions) LOOP
		EXECUTE format('SELECT min(a::text) '
			|| 'FROM ((SELECT to_jsonb(a) - ''{version,as_of,stale}''::text[] AS a FROM %s AS a EXCEPT ALL SELECT to_jsonb(a) - ''{version,as_of,stale}''::text[] FROM %s AS a) '
			|| 'UNION ALL (SELECT to_jsonb(a) - ''{version,as_of,stale}''::text[] FROM %s AS a EXCEPT ALL SELECT to_jsonb(a) - ''{version,as_of,stale}''::text[] FROM %s AS a)) AS d',
			format(questions[i], one), format(questions[i], other), format(questions[i], other), format(questions[i], one))
		INTO found;
		IF found IS NOT NULL THEN
			RETURN NEXT questions[i] || ': ' || found;
		END IF;
	END LOOP;
END
$$;

CREATE FUNCTION pg_temp.ranking() RETURNS TABLE (h int, board text, head int, direction text, keep interval, counter_id bigint, ranking_id bigint) LANGUAGE sql STABLE AS $$
	SELECT b.h, b.board, b.head, b.direction, b.keep, r.counter_id, r.ranking_id
	FROM board AS b JOIN lb_boards() AS d ON d.board = b.board JOIN lb.ranking AS r ON r.counter_id = d.counter_id AND r.board_id = d.board_id
$$;

-- Of which rounds does a board not say what it said?  Its tree, read at its
-- root, and the values that lb.moved and lb.standing give for it; of every
-- other board, because the trees of one history are much alike.
CREATE FUNCTION pg_temp.forgotten(since int) RETURNS TABLE (what text, board text, round int, members bigint) LANGUAGE sql STABLE AS $$
	WITH kept AS MATERIALIZED (SELECT r.*, p.round, v.version, v.root, v.population FROM pg_temp.ranking() AS r CROSS JOIN played AS p
		LEFT JOIN LATERAL (SELECT * FROM lb.version AS v WHERE (v.counter_id, v.ranking_id) = (r.counter_id, r.ranking_id) AND v.version <= p.number
			ORDER BY v.version DESC LIMIT 1) AS v ON true
		WHERE p.round >= since AND hashtext(r.board) % 2 = 0 AND (r.keep > '0' OR p.round = (SELECT max(round) FROM played))),
	due AS MATERIALIZED (SELECT k.board, k.round, t.member, t.value, t.reached_at,
			CASE k.direction WHEN 'desc' THEN row_number() OVER (PARTITION BY k.board, k.round ORDER BY t.value DESC, t.reached_at, t.member)
				ELSE row_number() OVER (PARTITION BY k.board, k.round ORDER BY t.value, t.reached_at, t.member) END AS place,
			coalesce(k.head, 1000000) AS head
		FROM kept AS k JOIN truth AS t USING (h, round)),
	entries AS MATERIALIZED (SELECT k.board, k.round, e.place, e.member, CASE k.direction WHEN 'desc' THEN ~e.rank_key ELSE e.rank_key END AS value, e.reached_at
		FROM kept AS k, LATERAL lb._ranking_entries(k.counter_id, k.ranking_id, k.root) AS e),
	states AS MATERIALIZED (SELECT k.board, k.round, s.member, CASE WHEN m.member IS NULL THEN s.value ELSE m.value END AS value,
			CASE WHEN m.member IS NULL THEN s.reached_at ELSE m.reached_at END AS reached_at
		FROM kept AS k JOIN lb.standing AS s ON (s.counter_id, s.ranking_id) = (k.counter_id, k.ranking_id)
		LEFT JOIN LATERAL (SELECT * FROM lb.moved AS m WHERE (m.counter_id, m.ranking_id, m.member) = (s.counter_id, s.ranking_id, s.member) AND m.version > k.version
			ORDER BY m.version LIMIT 1) AS m ON true
		WHERE k.version IS NOT NULL)
	(SELECT 'tree', board, round, count(*) FROM due FULL JOIN entries AS e USING (board, round, place)
		WHERE (due.member, due.value, due.reached_at) IS DISTINCT FROM (e.member, e.value, e.reached_at) AND (due.place <= head OR due.member IS NULL OR e.member IS NOT NULL)
		GROUP BY board, round LIMIT 3)
	UNION ALL
	(SELECT 'lb.moved', board, round, count(*) FROM due FULL JOIN (SELECT * FROM states WHERE value IS NOT NULL) AS s USING (board, round, member)
		WHERE (due.value, due.reached_at) IS DISTINCT FROM (s.value, s.reached_at) GROUP BY board, round LIMIT 3)
	UNION ALL
	(SELECT 'population', board, round, population FROM kept WHERE population <> (SELECT count(*) FROM truth AS t WHERE (t.h, t.round) = (kept.h, kept.round)) LIMIT 3)
$$;

-- The children of an inner page, by the format that src/ranktree publishes.
CREATE FUNCTION pg_temp.children(body bytea) RETURNS SETOF bigint LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
	n int := get_byte(body, 4) + 256 * get_byte(body, 5);
	key_width int := get_byte(body, 6) & 15;
	time_width int := get_byte(body, 6) >> 4;
	child_width int;
	at int;
	child bigint;
BEGIN
	IF get_byte(body, 2) = 0 THEN
		RETURN;
	END IF;
	child_width := get_byte(body, 32) & 15;
	at := 34 + n * key_width + (n - 1) * time_width;
	FOR i IN 0 .. n - 1 LOOP
		child := 0;
		FOR j IN REVERSE 7 .. 0 LOOP
			child := child * 256 + get_byte(body, 24 + j);
		END LOOP;
		FOR j IN 0 .. child_width - 1 LOOP
			child := child + (get_byte(body, at + i * child_width + j)::bigint << 8 * j);
		END LOOP;
		RETURN NEXT child;
	END LOOP;
END
$$;

-- Pages that no kept version reaches and none waits to collect, and pages missing.
CREATE FUNCTION pg_temp.unreachable() RETURNS TABLE (what text, ranking bigint, page bigint) LANGUAGE sql STABLE AS $$
	WITH RECURSIVE reached AS (
		SELECT counter_id, ranking_id, root AS page_id FROM lb.version WHERE ranking_id > 0 AND root > 0
		UNION
		SELECT r.counter_id, r.ranking_id, c FROM reached AS r JOIN lb.page AS p USING (counter_id, ranking_id, page_id), LATERAL pg_temp.children(p.body) AS c),
	waiting AS (SELECT counter_id, ranking_id, unnest(superseded) AS page_id FROM lb.version)
	SELECT CASE WHEN p.page_id IS NULL THEN 'missing' ELSE 'left over' END, ranking_id, page_id
	FROM reached AS r FULL JOIN lb.page AS p USING (counter_id, ranking_id, page_id)
	WHERE p.page_id IS NULL OR r.page_id IS NULL AND (counter_id, ranking_id, page_id) NOT IN (SELECT * FROM waiting)
	LIMIT 5
$$;
