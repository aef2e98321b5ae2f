-- Counters of type approximate: random streams with late events and history, on
-- boards of every kind of window, against plain sums over what was submitted.
-- One counter tracks everybody and is to be exact, the others a few of many.
-- The seed is in the names of the tests: LB_SEED=… repeats a run.
\i test/include/seeded.sql
SET jit = off;
SELECT plan(11);

SELECT lb_create_tenant('t', 'Europe/Berlin') \g /dev/null
CREATE TABLE counter (counter text, capacity integer, members integer, id bigint);
INSERT INTO counter VALUES ('t/ample', 200, 60, 0), ('t/scarce', 20, 120, 0), ('t/least', 10, 400, 0);
UPDATE counter SET id = lb_create_counter(counter, type => 'approximate', tolerated_error => 1.0 / capacity, max_age => '30 days', lateness => '1 day');
CREATE TABLE board (board text, counter text, period text, starts interval, lateness interval, later boolean, made boolean);
INSERT INTO board SELECT format('%s %s %s', counter, period, starts), counter, period, starts, lateness, later, NOT later
FROM counter, (VALUES ('all', '0'::interval, NULL::interval, false), ('hour', '0', NULL, false), ('day', '0', NULL, false), ('week', '0', NULL, false),
	('day', '6 hours', '3 hours', true), ('month', '0', NULL, true), ('last 3 hours', '0', NULL, false), ('last 2 days', '0', NULL, false), ('last 5 hours', '0', NULL, true)) AS p(period, starts, lateness, later);
CREATE FUNCTION make(b board) RETURNS bigint LANGUAGE sql VOLATILE AS $$
	SELECT lb_create_board(b.board, b.counter, b.period, starts => b.starts, lateness => b.lateness)
$$;
SELECT count(make(b)) FROM board AS b WHERE made \g /dev/null

CREATE TABLE raw (counter text, event_id bigint, member text, delta bigint, event_time timestamptz, ingest_time timestamptz, kind "char");

-- n events of a counter, out of order; few members have most, and the heavy ones change.
CREATE PROCEDURE submit(c counter, at timestamptz, n integer, kind "char" DEFAULT 'e') LANGUAGE plpgsql AS $$
DECLARE
	shift integer := floor(random() * c.members);
	m text[];
	d bigint[];
	k text[];
	t timestamptz[];
	lost bigint;
BEGIN
	SELECT array_agg('m' || (floor(random() ^ 4 * c.members)::integer + CASE WHEN random() < 0.3 THEN shift ELSE 0 END) % c.members),
		array_agg(CASE WHEN random() < 0.1 THEN 0 ELSE ceil(random() ^ 3 * 50) END), array_agg(format('%s %s %s', at, i, kind)),
		array_agg(date_trunc((ARRAY['microseconds', 'minute', 'hour', 'day'])[1 + floor(random() * 4)],
			at - CASE WHEN kind = 'h' THEN interval '20 days' WHEN random() < 0.7 THEN interval '3 hours' ELSE interval '4 days' END * random(), 'Europe/Berlin'))
		INTO m, d, k, t FROM generate_series(1, n) AS i;
	INSERT INTO raw SELECT c.counter, s.event_id, m[ordinal], d[ordinal], t[ordinal], at, kind
		FROM lb._submit_batch(c.id, m, d, k, t, NULL, NULL, kind, at) AS s WHERE status = 'accepted';
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

-- What members have in each window of each board, and in what rolling boards cover.
CREATE FUNCTION truth() RETURNS TABLE (board text, counter text, capacity integer, period text, starts interval, lateness interval, at timestamptz, opens timestamptz, member text, sum bigint, late bigint, total bigint, members bigint)
LANGUAGE sql VOLATILE AS $$
	SELECT s.*, sum(sum) OVER w, count(*) FILTER (WHERE sum > 0) OVER w
	FROM (SELECT b.board, c.counter, c.capacity, b.period, b.starts, b.lateness, CASE WHEN b.period LIKE 'last%' OR b.period = 'all' THEN NULL ELSE o.opens END AS at, o.opens, r.member,
			coalesce(sum(r.delta) FILTER (WHERE in_time), 0)::bigint AS sum, coalesce(sum(r.delta) FILTER (WHERE NOT in_time), 0)::bigint AS late
		FROM board AS b JOIN counter AS c USING (counter) JOIN raw AS r ON r.counter = c.counter
			CROSS JOIN LATERAL (SELECT CASE WHEN b.period NOT LIKE 'last%' THEN opens(b, r.event_time)
				ELSE (SELECT CASE b.period WHEN 'last 2 days' THEN (date_trunc('day', as_of AT TIME ZONE 'Europe/Berlin') - interval '1 day') AT TIME ZONE 'Europe/Berlin'
						ELSE date_trunc('hour', as_of) - CASE b.period WHEN 'last 3 hours' THEN interval '2 hours' ELSE interval '4 hours' END END
					FROM lb.round ORDER BY number DESC LIMIT 1) END AS opens) AS o
			CROSS JOIN LATERAL (SELECT r.kind = 'h' OR b.period = 'all' OR b.period LIKE 'last%' OR r.ingest_time - coalesce(b.lateness, '1 day') <= closes(b, o.opens) AS in_time) AS t
		WHERE b.made AND (b.period NOT LIKE 'last%' OR r.event_time >= o.opens)
		GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9) AS s
	WINDOW w AS (PARTITION BY board, opens)
$$;
CREATE TABLE due AS SELECT * FROM truth();
CREATE INDEX ON due (board, opens, member);

CREATE TABLE wrong (round integer, what text, shown text);
CREATE FUNCTION first_wrong(whats text[]) RETURNS text LANGUAGE sql STABLE AS $$
	SELECT min(format('round %s: %s: %s', round, what, shown)) FROM wrong WHERE what = ANY (whats)
$$;

CREATE FUNCTION wrong_boards(round integer) RETURNS SETOF wrong LANGUAGE plpgsql VOLATILE AS $$
BEGIN
	TRUNCATE due;
	INSERT INTO due SELECT * FROM truth() AS t WHERE round >= 100 OR t.period <> 'hour' OR hashtext(t.opens::text || round) % 4 = 0;
	ANALYZE due;
	CREATE TEMP TABLE IF NOT EXISTS shown AS SELECT ''::text AS board, now() AS opens, p.* FROM lb_page('t/ample all 00:00:00', 1) AS p WHERE false;
	TRUNCATE shown;
	INSERT INTO shown SELECT w.board, w.opens, p.* FROM (SELECT DISTINCT d.board, d.at, d.opens FROM due AS d) AS w, LATERAL lb_page(w.board, 1, 1000, at => w.at) AS p;
	ANALYZE shown;
	RETURN QUERY
	-- a tracked member has what it has within its bounds
	SELECT round, 'tracked', format('due %s, shown %s', d, s)
	FROM shown AS s LEFT JOIN due AS d USING (board, opens, member)
	WHERE d.sum IS NULL OR NOT coalesce(d.sum BETWEEN s.value_low AND s.value_high, false) OR s.value <> s.value_low OR s.kind <> 'estimated' OR s.rank IS NOT NULL OR s.reached_at IS NOT NULL
		OR s.value_high - s.value_low > d.total / (d.capacity + 1)
	UNION ALL
	-- an untracked one no more than the bound, which is within the declared error
	SELECT round, 'untracked', format('due %s, answered %s', d, a)
	FROM (SELECT o.board, o.opens, o.at, array_agg(o.member) AS members FROM due AS o WHERE NOT EXISTS (SELECT FROM shown AS s WHERE (s.board, s.opens, s.member) = (o.board, o.opens, o.member)) GROUP BY 1, 2, 3) AS w
		CROSS JOIN LATERAL lb_ranks(w.board, w.members, at => w.at) AS a JOIN due AS d USING (board, opens, member)
	WHERE (a.kind <> 'unranked' OR a.value IS NOT NULL OR d.sum > a.value_high OR a.value_low <> 0 OR a.value_high > d.total / (d.capacity + 1))
	UNION ALL
	-- everybody and exactly, while there are no more members than the capacity
	SELECT round, 'exact', format('due %s, shown %s', d, s)
	FROM (SELECT *, rank() OVER (PARTITION BY o.board, o.opens ORDER BY o.sum DESC) AS r, row_number() OVER (PARTITION BY o.board, o.opens ORDER BY o.sum DESC, o.member COLLATE "C") AS p FROM due AS o WHERE sum > 0) AS d
		LEFT JOIN shown AS s USING (board, opens, member)
	WHERE d.members <= d.capacity AND (d.sum, d.sum, d.sum, d.r, d.p, d.members) IS DISTINCT FROM (s.value, s.value_low, s.value_high, s.rank_low, s.place, s.population)
	UNION ALL
	-- the true rank is between its bounds
	SELECT round, 'ranks', format('due %s, shown %s', d, s)
	FROM (SELECT *, rank() OVER (PARTITION BY o.board, o.opens ORDER BY o.sum DESC) AS r FROM due AS o) AS d JOIN shown AS s USING (board, opens, member)
	WHERE NOT coalesce(d.r BETWEEN s.rank_low AND s.rank_high, false) OR NOT s.midpoint BETWEEN s.rank_low AND s.rank_high
	UNION ALL
	SELECT round, 'order', format('%s, window of %s', s.board, s.opens)
	FROM (SELECT o.board, o.opens, o.place, row_number() OVER (PARTITION BY o.board, o.opens ORDER BY o.value DESC, o.value_high DESC, o.member COLLATE "C") AS due FROM shown AS o) AS s WHERE s.place <> s.due
	UNION ALL
	SELECT round, 'lb_rank_for_value', row(b.board, v, a, t)::text
	FROM board AS b CROSS JOIN unnest(ARRAY[0, 1, 5, 50, 500]::bigint[]) AS v CROSS JOIN LATERAL lb_rank_for_value(b.board, v) AS a
		CROSS JOIN LATERAL (SELECT 1 + count(*) AS r FROM due AS d WHERE d.board = b.board AND d.sum > v) AS t
	WHERE b.made AND b.period = 'all' AND NOT t.r BETWEEN a.rank_low AND a.rank_high
	UNION ALL
	-- lb_value: what is in time, and what is late
	SELECT round, 'lb_values', row(d, v)::text
	FROM (SELECT o.board, o.opens, o.at, o.counter, o.period, array_agg(o.member) AS members FROM due AS o WHERE o.starts = '0' AND o.lateness IS NULL GROUP BY 1, 2, 3, 4, 5) AS w
		CROSS JOIN LATERAL lb_values(w.counter, w.members, w.period, w.at) AS v JOIN due AS d USING (board, opens, member)
	WHERE NOT coalesce(d.sum BETWEEN v.value_low AND v.value_high, false) OR v.value IS DISTINCT FROM nullif(v.value_low, 0) OR v.value_high - v.value_low > d.total / (d.capacity + 1)
		OR v.late > d.late OR d.capacity > 100 AND (v.value_high, v.late) IS DISTINCT FROM (d.sum, d.late)
	UNION ALL
	SELECT round, 'totals', row(o, v.total)::text
	FROM (SELECT DISTINCT d.board, d.opens, d.period, d.total FROM due AS d) AS o
		LEFT JOIN LATERAL (SELECT v.total FROM lb.ranking AS r JOIN lb.version AS v USING (counter_id, ranking_id) WHERE r.board_id = lb._board_id(o.board)
			AND (r.opens = o.opens OR o.period LIKE 'last%') ORDER BY v.version DESC LIMIT 1) AS v ON true
	WHERE o.total <> coalesce(v.total, 0)
	UNION ALL
	SELECT round, 'lb_check', format('%s: %s', b.board, problem) FROM board AS b, LATERAL lb_check(b.board) WHERE b.made AND (round >= 9 OR hashtext(b.board || round) % 9 = 0);
END
$$;

CREATE TABLE page AS SELECT 0 AS round, 0::bigint AS pin, ''::text AS board, p.* FROM lb_page('t/ample all 00:00:00', 1) AS p WHERE false;

CREATE PROCEDURE play(first integer, last integer) LANGUAGE plpgsql AS $$
DECLARE
	c counter;
	at timestamptz;
BEGIN
	FOR i IN first .. last LOOP
		-- a day of 25 hours is in the middle
		at := timestamptz '2031-10-25 09:00Z' + i * interval '9 hours';
		FOR c IN SELECT * FROM counter WHERE i % 5 <> 4 LOOP
			CALL submit(c, at, (ARRAY[3, 60, 300])[1 + i % 3]);
			IF i % 4 = 2 THEN
				CALL submit(c, at, 50, 'h');
			END IF;
		END LOOP;
		COMMIT;
		ANALYZE raw;
		PERFORM lb._refresh(NULL, at + random() * interval '40 minutes');
		COMMIT;
		INSERT INTO wrong SELECT w.* FROM wrong_boards(i) AS w LIMIT 20;
		INSERT INTO page SELECT i, (SELECT max(number) FROM lb.round), b.board, p.* FROM board AS b, LATERAL lb_page(b.board, 1, 1000) AS p WHERE b.period = 'all';
		COMMIT;
	END LOOP;
END
$$;

CALL play(0, 4);
SELECT count(make(b)) FROM board AS b WHERE NOT made \g /dev/null
UPDATE board SET made = true;
INSERT INTO wrong SELECT w.* FROM wrong_boards(100) AS w LIMIT 20;
SELECT is((SELECT min(what || ' ' || shown) FROM wrong WHERE round = 100), NULL, seeded('boards made over what was counted'));
CALL play(5, 9);
SELECT is(first_wrong(ARRAY['tracked']), NULL, seeded('tracked members have what they have within the bounds'));
SELECT is(first_wrong(ARRAY['untracked']), NULL, seeded('others no more than the bound'));
SELECT is(first_wrong(ARRAY['exact']), NULL, seeded('few members exactly'));
SELECT is(first_wrong(ARRAY['ranks', 'lb_rank_for_value', 'order']), NULL, seeded('true ranks are between their bounds'));
SELECT is(first_wrong(ARRAY['lb_values']), NULL, seeded('values, late ones too'));
SELECT is(first_wrong(ARRAY['totals', 'lb_check']), NULL, seeded('totals are exact, and lb_check finds nothing'));
SELECT is((SELECT min(row(p, v)::text) FROM page AS p LEFT JOIN LATERAL lb_page(p.board, 1, 1000, version => p.pin) AS v ON v.member = p.member
	WHERE (p.value, p.value_low, p.value_high, p.rank_low, p.rank_high, p.place, p.population) IS DISTINCT FROM (v.value, v.value_low, v.value_high, v.rank_low, v.rank_high, v.place, v.population)), NULL,
	seeded('earlier versions have their values, bounds and ranks'));
SELECT ok((SELECT bool_or(bound > 0) AND bool_or(bound = 0 AND total > 0) FROM lb.version), seeded('there were windows with a bound and without'));

-- A log that this cluster did not write is counted as a whole.
DELETE FROM lb.home;
\setenv PGHOST :HOST
\setenv PGPORT :PORT
\setenv PGUSER :USER
\setenv PGDATABASE :DBNAME
\! psql -Xq -c "SELECT lb._refresh(NULL, (SELECT max(as_of) FROM lb.round))" -o /dev/null
INSERT INTO wrong SELECT w.* FROM wrong_boards(101) AS w LIMIT 20;
SELECT is((SELECT min(what || ' ' || shown) FROM wrong WHERE round = 101), NULL, seeded('the same after everything was counted anew'));
SELECT cmp_ok((SELECT count(*) FROM lb.standing), '>', 100::bigint, seeded('which was something'));
SELECT finish();
