-- Counters of type unique: random streams with repeats, late events and history,
-- on boards of every kind of window, against lb_hll_agg() and count(DISTINCT)
-- over what was submitted.  One counter is so coarse that its sketches get dense
-- after a dozen actors.  The seed is in the names of the tests: LB_SEED=…
-- repeats a run.
\i test/include/seeded.sql
SET jit = off;
SELECT plan(12);

SELECT lb_create_tenant('t', 'Europe/Berlin') \g /dev/null
CREATE TABLE counter (counter text, bits integer, tolerated double precision, actors integer, id bigint);
INSERT INTO counter VALUES ('t/fine', 14, NULL, 120, 0), ('t/coarse', 6, 0.26, 300, 0);
UPDATE counter SET id = lb_create_counter(counter, type => 'unique', tolerated_error => tolerated, max_age => '30 days', lateness => '1 day');
CREATE TABLE board (board text, counter text, period text, starts interval, lateness interval, later boolean, made boolean);
INSERT INTO board SELECT format('%s %s %s', counter, period, starts), counter, period, starts, lateness, later, NOT later
FROM counter, (VALUES ('all', '0'::interval, NULL::interval, false), ('hour', '0', NULL, false), ('day', '0', NULL, false), ('week', '0', NULL, false),
	('day', '6 hours', '3 hours', true), ('month', '0', NULL, true), ('last 3 hours', '0', NULL, false), ('last 2 days', '0', NULL, false), ('last 5 hours', '0', NULL, true)) AS p(period, starts, lateness, later);
CREATE FUNCTION make(b board) RETURNS bigint LANGUAGE sql VOLATILE AS $$
	SELECT lb_create_board(b.board, b.counter, b.period, starts => b.starts, lateness => b.lateness)
$$;
SELECT count(make(b)) FROM board AS b WHERE made \g /dev/null
SELECT lb_create_board('t/scoped', 't/coarse', scoped => true), lb_create_board('t/bounded', 't/coarse', ranks => 'bounded', head => 5) \g /dev/null
SELECT count(lb_join('t/scoped', 'even', ARRAY['m0', 'm2', 'm4', 'm6', 'm8'], '-infinity')) \g /dev/null

CREATE TABLE raw (counter text, event_id bigint, member text, actor text, event_time timestamptz, ingest_time timestamptz, kind "char");

-- n events of a counter: out of order, with as many repeats as not, a key or none.
CREATE PROCEDURE submit(c counter, at timestamptz, n integer, kind "char" DEFAULT 'e') LANGUAGE plpgsql AS $$
DECLARE
	m text[];
	a text[];
	k text[];
	t timestamptz[];
	lost bigint;
BEGIN
	SELECT array_agg('m' || floor(random() ^ 3 * 10)), array_agg('actor ' || floor(random() ^ 2 * c.actors)),
		array_agg(CASE WHEN random() < 0.5 THEN format('%s %s %s', at, i, kind) END),
		array_agg(date_trunc((ARRAY['microseconds', 'minute', 'hour', 'day'])[1 + floor(random() * 4)],
			at - CASE WHEN kind = 'h' THEN interval '20 days' WHEN random() < 0.7 THEN interval '3 hours' ELSE interval '4 days' END * random(), 'Europe/Berlin'))
		INTO m, a, k, t FROM generate_series(1, n) AS i;
	INSERT INTO raw SELECT c.counter, s.event_id, m[ordinal], a[ordinal], t[ordinal], at, kind
		FROM lb._submit_batch(c.id, m, array_fill(1::bigint, ARRAY[n]), k, t, a, NULL, kind, at) AS s WHERE status = 'accepted';
	GET DIAGNOSTICS lost = ROW_COUNT;
	IF lost <> n THEN
		RAISE EXCEPTION '% events were not accepted', n - lost;
	END IF;
END
$$;

CREATE FUNCTION opens(b board, t timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE b.period WHEN 'all' THEN '-infinity' WHEN 'hour' THEN date_trunc('hour', t) ELSE (date_trunc(b.period, t AT TIME ZONE 'Europe/Berlin' - b.starts) + b.starts) AT TIME ZONE 'Europe/Berlin' END
$$;
CREATE FUNCTION closes(b board, opens timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE b.period WHEN 'all' THEN 'infinity' WHEN 'hour' THEN opens + interval '1 hour' ELSE (opens AT TIME ZONE 'Europe/Berlin' + ('1 ' || b.period)::interval) AT TIME ZONE 'Europe/Berlin' END
$$;

-- What is in time in each window of each board, and what rolling boards cover.
CREATE VIEW looked_at AS
SELECT b.board, c.counter, c.bits, CASE WHEN b.period LIKE 'last%' OR b.period = 'all' THEN NULL ELSE o.opens END AS at, o.opens, r.*
FROM board AS b JOIN counter AS c USING (counter) JOIN (SELECT counter AS of, member, actor, event_time, ingest_time, kind FROM raw) AS r ON r.of = c.counter
	CROSS JOIN LATERAL (SELECT CASE WHEN b.period NOT LIKE 'last%' THEN opens(b, r.event_time)
		ELSE (SELECT CASE b.period WHEN 'last 2 days' THEN (date_trunc('day', as_of AT TIME ZONE 'Europe/Berlin') - interval '1 day') AT TIME ZONE 'Europe/Berlin'
				ELSE date_trunc('hour', as_of) - CASE b.period WHEN 'last 3 hours' THEN interval '2 hours' ELSE interval '4 hours' END END
			FROM lb.round ORDER BY number DESC LIMIT 1) END AS opens) AS o
WHERE b.made AND CASE WHEN b.period LIKE 'last%' THEN r.event_time >= o.opens
	ELSE r.kind = 'h' OR b.period = 'all' OR r.ingest_time - coalesce(b.lateness, '1 day') <= closes(b, o.opens) END;
CREATE FUNCTION estimate(h lb_hll) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$ SELECT round(lb_hll_count(h))::bigint $$;

CREATE TABLE wrong (round integer, what text, shown text);
CREATE FUNCTION first_wrong(whats text[]) RETURNS text LANGUAGE sql STABLE AS $$
	SELECT min(format('round %s: %s: %s', round, what, shown)) FROM wrong WHERE what = ANY (whats)
$$;

CREATE FUNCTION wrong_boards(round integer) RETURNS SETOF wrong LANGUAGE sql VOLATILE AS $$
	WITH due AS MATERIALIZED (SELECT board, at, bits, opens, member, estimate(lb_hll_agg(actor, bits)) AS value, max(event_time) AS reached_at, count(DISTINCT actor) AS truly,
			rank() OVER (PARTITION BY board, opens ORDER BY estimate(lb_hll_agg(actor, bits)) DESC) AS rank
		FROM looked_at GROUP BY 1, 2, 3, 4, 5),
	shown AS MATERIALIZED (SELECT w.board, w.opens, p.* FROM (SELECT DISTINCT board, at, opens FROM due) AS w, LATERAL lb_page(w.board, 1, 1000, at => w.at) AS p)
	SELECT round, 'board', format('%s, window of %s: due %s, shown %s', board, opens, d, s)
	FROM due AS d FULL JOIN shown AS s USING (board, opens, member)
	WHERE (d.value, d.reached_at, d.rank, 'exact') IS DISTINCT FROM (s.value, s.reached_at, s.rank, s.kind)
	UNION ALL
	SELECT round, 'bounds', format('%s: truly %s, shown %s', board, truly, s)
	FROM due AS d JOIN shown AS s USING (board, opens, member)
	WHERE CASE WHEN d.truly <= 3 * 2 ^ d.bits / 16 * 0.5 THEN (s.value_low, s.value_high) IS DISTINCT FROM (d.truly, d.truly)
		ELSE NOT s.value BETWEEN s.value_low AND s.value_high OR abs(d.truly - s.value) > 1 + 6 * 1.04 / sqrt(2 ^ d.bits) * d.truly END
	UNION ALL
	SELECT round, 'lb_values', format('%s, window of %s: due %s, shown %s', board, opens, d, v)
	FROM (SELECT board, opens, at, array_agg(member) AS members FROM due GROUP BY 1, 2, 3) AS w JOIN board AS b USING (board)
		CROSS JOIN LATERAL lb_values(b.counter, w.members, b.period, w.at) AS v JOIN due AS d USING (board, opens, member)
	WHERE b.starts = '0' AND (v.value, v.value_low, v.value_high) IS DISTINCT FROM (d.value, (SELECT s.value_low FROM shown AS s WHERE (s.board, s.opens, s.member) = (d.board, d.opens, d.member)),
		(SELECT s.value_high FROM shown AS s WHERE (s.board, s.opens, s.member) = (d.board, d.opens, d.member)))
	UNION ALL
	SELECT round, 'scope', row(d, s)::text
	FROM (SELECT member, estimate(lb_hll_agg(actor, 6)) AS value FROM raw WHERE counter = 't/coarse' AND member IN ('m0', 'm2', 'm4', 'm6', 'm8') GROUP BY 1) AS d
		FULL JOIN lb_page('t/scoped', 1, 1000, 'even') AS s USING (member)
	WHERE d.value IS DISTINCT FROM s.value
	UNION ALL
	SELECT round, 'bounded', row(d, s)::text
	FROM (SELECT member, value, rank() OVER (ORDER BY value DESC) AS rank FROM (SELECT member, estimate(lb_hll_agg(actor, 6)) AS value FROM raw WHERE counter = 't/coarse' GROUP BY 1) AS m) AS d
		CROSS JOIN LATERAL lb_rank('t/bounded', d.member) AS s
	WHERE d.value IS DISTINCT FROM s.value OR NOT d.rank BETWEEN s.rank_low AND s.rank_high
$$;

-- The sketches themselves: of every standing, and of every member's buckets together.
CREATE FUNCTION wrong_bytes(round integer) RETURNS SETOF wrong LANGUAGE sql VOLATILE AS $$
	WITH due AS MATERIALIZED (SELECT board, opens, member, lb_hll_agg(actor, bits)::bytea AS sketch FROM looked_at GROUP BY 1, 2, 3),
	stored AS MATERIALIZED (SELECT t.tenant || '/' || b.board AS board, CASE WHEN b.period LIKE 'last%' THEN (SELECT min(d.opens) FROM due AS d WHERE d.board = t.tenant || '/' || b.board) ELSE r.opens END AS opens,
			k.member, k.sketch
		FROM lb.sketch AS k JOIN lb.ranking AS r USING (counter_id, ranking_id) JOIN lb.board AS b USING (board_id) JOIN lb.tenant AS t ON t.tenant_id = b.tenant_id
		WHERE b.board NOT IN ('scoped', 'bounded'))
	SELECT round, 'bytes', format('%s, window of %s, %s', board, opens, member) FROM due AS d FULL JOIN stored AS s USING (board, opens, member)
	WHERE d.sketch IS DISTINCT FROM s.sketch
	UNION ALL
	SELECT round, 'buckets', format('%s, %s', counter, member)
	FROM (SELECT counter, bits, id, member, lb_hll_agg(actor, bits) AS sketch FROM raw JOIN counter USING (counter) GROUP BY 1, 2, 3, 4) AS d
		LEFT JOIN LATERAL (SELECT lb_hll_union_agg(u.sketch::lb_hll) FILTER (WHERE span = 'g') AS g, lb_hll_union_agg(u.sketch::lb_hll) FILTER (WHERE span = 'd') AS d
			FROM lb.bucket AS u WHERE u.counter_id = d.id AND u.member = d.member) AS b ON true
	WHERE d.sketch::text IS DISTINCT FROM b.g::text OR d.sketch::text IS DISTINCT FROM b.d::text
	UNION ALL
	SELECT round, 'lb_check', format('%s: %s', b.board, problem) FROM (SELECT board FROM board WHERE made UNION VALUES ('t/scoped'), ('t/bounded')) AS b, LATERAL lb_check(b.board)
$$;

-- A viewer sees what the next round would publish of its own events.
CREATE FUNCTION wrong_views(round integer) RETURNS SETOF wrong LANGUAGE sql VOLATILE AS $$
	SELECT round, 'viewer', row(d, s)::text
	FROM (SELECT board, member, estimate(lb_hll_agg(actor, bits)) AS value, max(event_time) AS reached_at FROM looked_at WHERE board LIKE '% all 00:00:00' GROUP BY 1, 2) AS d
		CROSS JOIN LATERAL lb_rank(d.board, d.member, viewer => d.member) AS s
	WHERE (d.value, d.reached_at) IS DISTINCT FROM (s.value, s.reached_at)
$$;

CREATE TABLE page AS SELECT 0 AS round, 0::bigint AS pin, ''::text AS board, p.* FROM lb_page('t/coarse all 00:00:00', 1) AS p WHERE false;

CREATE PROCEDURE play(round integer, at timestamptz, n integer) LANGUAGE plpgsql AS $$
DECLARE
	c counter;
BEGIN
	FOR c IN SELECT * FROM counter WHERE n > 0 LOOP
		CALL submit(c, at, n);
		IF round % 4 = 2 THEN
			CALL submit(c, at, n / 2, 'h');
		END IF;
	END LOOP;
	COMMIT;
	ANALYZE raw;
	INSERT INTO wrong SELECT w.* FROM wrong_views(play.round) AS w LIMIT 20;
	PERFORM lb._refresh(NULL, at + random() * interval '40 minutes');
	COMMIT;
	INSERT INTO wrong SELECT w.* FROM wrong_boards(play.round) AS w LIMIT 20;
	INSERT INTO wrong SELECT w.* FROM wrong_bytes(play.round) AS w LIMIT 20;
	INSERT INTO page SELECT play.round, (SELECT max(number) FROM lb.round), b, p.* FROM unnest(ARRAY['t/coarse all 00:00:00', 't/fine all 00:00:00']) AS b, LATERAL lb_page(b, 1, 1000) AS p;
	COMMIT;
END
$$;

-- A day of 25 hours is in the middle.
CREATE PROCEDURE play_some(first integer, last integer) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN first .. last LOOP
		CALL play(i, timestamptz '2031-10-25 09:00Z' + i * interval '9 hours', CASE WHEN i % 5 = 4 THEN 0 ELSE (ARRAY[3, 40, 150])[1 + i % 3] END);
	END LOOP;
END
$$;

CALL play_some(0, 4);
SELECT is(first_wrong(ARRAY['board', 'bounds']), NULL, seeded('boards of estimates'));
SELECT count(make(b)) FROM board AS b WHERE NOT made \g /dev/null
UPDATE board SET made = true;
INSERT INTO wrong SELECT w.* FROM wrong_boards(100) AS w LIMIT 20;
INSERT INTO wrong SELECT w.* FROM wrong_bytes(100) AS w LIMIT 20;
SELECT is(first_wrong(ARRAY['board', 'bytes', 'buckets', 'lb_check']), NULL, seeded('boards made over what was counted'));
CALL play_some(5, 9);
SELECT is(first_wrong(ARRAY['board']), NULL, seeded('values, times and ranks are those of lb_hll_agg'));
SELECT is(first_wrong(ARRAY['bounds']), NULL, seeded('count(DISTINCT) within the bounds, few actors exactly'));
SELECT is(first_wrong(ARRAY['lb_values']), NULL, seeded('lb_values and lb_page say the same'));
SELECT is(first_wrong(ARRAY['scope', 'bounded']), NULL, seeded('in a scope and on a bounded board'));
SELECT is(first_wrong(ARRAY['bytes', 'buckets', 'lb_check']), NULL, seeded('the stored sketches have the bytes of lb_hll_agg'));
SELECT is(first_wrong(ARRAY['viewer']), NULL, seeded('the viewer sees what the round publishes'));
SELECT is((SELECT min(row(p, v)::text) FROM page AS p LEFT JOIN LATERAL lb_page(p.board, 1, 1000, version => p.pin) AS v ON v.member = p.member
	WHERE (p.value, p.value_low, p.value_high, p.rank, p.reached_at) IS DISTINCT FROM (v.value, v.value_low, v.value_high, v.rank, v.reached_at)), NULL, seeded('earlier versions have their values and bounds'));
SELECT cmp_ok((SELECT count(*) FROM lb.sketch WHERE get_byte(sketch, 1) = 1), '>', 10::bigint, seeded('there were dense sketches'));

-- A log that this cluster did not write is counted as a whole.
DELETE FROM lb.home;
\setenv PGHOST :HOST
\setenv PGPORT :PORT
\setenv PGUSER :USER
\setenv PGDATABASE :DBNAME
\! psql -Xq -c "SELECT lb._refresh(NULL, (SELECT max(as_of) FROM lb.round))" -o /dev/null
INSERT INTO wrong SELECT w.* FROM wrong_boards(101) AS w LIMIT 20;
INSERT INTO wrong SELECT w.* FROM wrong_bytes(101) AS w LIMIT 20;
SELECT is((SELECT min(shown) FROM wrong WHERE round = 101), NULL, seeded('the same after everything was counted anew'));
SELECT cmp_ok((SELECT count(*) FROM lb.standing), '>', 100::bigint, seeded('which was something'));
SELECT finish();
