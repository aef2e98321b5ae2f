-- lb_windows, lb_next_reset, lb_series, lb_events and lb_alter_board by hand, and
-- what readers make of odd arguments.  Queries that check print violations only.
\set ECHO none
\i test/include/attempt.sql
\set ECHO all
\pset null '(null)'
SET client_min_messages = warning;
SET timezone = 'UTC';
CREATE EXTENSION leaderboard;
SELECT lb_create_tenant('b', 'Europe/Berlin') > 0 AS tenant, lb_create_tenant('lord', 'Australia/Lord_Howe') > 0 AS tenant;
SELECT lb_create_counter('b/points', grain => '5 minutes') > 0 AS counter, lb_create_counter('b/best', operator => 'max') > 0 AS counter, lb_create_counter('lord/points') > 0 AS counter;
SELECT count(lb_create_board('b/' || p, 'b/points', p)) FROM unnest(ARRAY['all', 'hour', 'day', 'week', 'month', 'year', 'last 10 minutes', 'last 24 hours', 'last 7 days']) AS p;
SELECT lb_create_board('b/late day', 'b/points', 'day', starts => '6 hours') > 0 AS board, lb_create_board('b/late week', 'b/points', 'week', starts => '3 days') > 0 AS board,
	lb_create_board('b/late month', 'b/points', 'month', starts => '27 days') > 0 AS board, lb_create_board('b/late year', 'b/points', 'year', starts => '100 days') > 0 AS board, lb_create_board('lord/hour', 'lord/points', 'hour') > 0 AS board;
-- Around the days on which the clocks change, the turn of the year, and a week of two years.
CREATE TABLE happened (at timestamptz, delta bigint);
INSERT INTO happened VALUES ('2031-10-26 00:30Z', 1), ('2031-10-26 01:30Z', 2), ('2031-10-26 02:30Z', 4), ('2032-01-01 12:00+01', 8), ('2032-01-03 12:00+01', 16), ('2032-01-05 05:59+01', 32), ('2032-02-28 12:00+01', 64);
SELECT status, count(*) FROM happened, unnest(ARRAY['b/points', 'b/best', 'lord/points']) AS c, LATERAL lb._submit_batch(lb._counter_id(c), ARRAY['ann'], ARRAY[delta], ARRAY['k' || delta], ARRAY[at], ARRAY['ref'], ARRAY['test'], 'h', at) AS s GROUP BY 1;
SELECT events FROM lb_refresh();
SELECT w.* FROM lb_windows('b/hour') AS w WHERE population > 0;
SELECT b, w.label, w.opens AT TIME ZONE 'Europe/Berlin' AS opens, w.closes AT TIME ZONE 'Europe/Berlin' AS closes, w.settles - w.closes AS lateness, w.population
FROM unnest(ARRAY['day', 'week', 'month', 'year', 'late day', 'late week', 'late month', 'late year']) AS b, LATERAL lb_windows('b/' || b) AS w WHERE population > 0;
SELECT label, population FROM lb_windows('b/all');
SELECT label, settles, state FROM unnest(ARRAY['last 10 minutes', 'last 24 hours', 'last 7 days']) AS b, LATERAL lb_windows('b/' || b);
-- Lord Howe sets its clock back by half an hour.
SELECT status FROM lb._submit_batch(lb._counter_id('lord/points'), array_fill('m'::text, ARRAY[5]), array_fill(1::bigint, ARRAY[5]), ARRAY['a', 'b', 'c', 'd', 'e'],
	ARRAY(SELECT timestamptz '2031-04-05 13:45Z' + i * interval '30 minutes' FROM generate_series(0, 4) AS i), NULL, NULL, 'h', '2031-04-06') AS s;
SELECT events FROM lb_refresh();
SELECT label, opens AT TIME ZONE 'Australia/Lord_Howe' AS opens, closes - opens AS length FROM lb_windows('lord/hour') WHERE opens < '2031-05-01' AND population > 0;
-- The current window is there without anybody in it, once, and n counts it.
SELECT count(*) FILTER (WHERE opens <= now() AND now() < closes), count(*) FROM lb_windows('b/week', 1000);
SELECT count(*) FROM lb_windows('b/week', 3);
-- The next reset is the end of the current window; a rolling board's is not further than its unit.
SELECT b.board FROM lb_boards() AS b, LATERAL lb_version(b.tenant || '/' || b.board) AS v, LATERAL lb_next_reset(b.tenant || '/' || b.board) AS r
WHERE b.period NOT LIKE 'last%' AND r IS DISTINCT FROM nullif(v.closes, 'infinity');
SELECT b.period FROM lb_boards() AS b, LATERAL lb_next_reset(b.tenant || '/' || b.board) AS r
WHERE b.period LIKE 'last%' AND (r NOT BETWEEN now() AND now() + CASE WHEN b.period ~ 'minutes' THEN interval '5 minutes' WHEN b.period ~ 'hours' THEN interval '1 hour' ELSE interval '25 hours' END) IS NOT FALSE;

-- Series.
SELECT opens AT TIME ZONE 'Europe/Berlin' AS opens, value FROM lb_series('b/points', 'ann', '1 hour', '2031-10-26 02:45+02', '2031-10-26 04:00+01');
SELECT opens AT TIME ZONE 'Europe/Berlin' AS opens, value FROM lb_series('b/points', 'ann', '1 month', '2031-10-10', '2032-03-01');
SELECT opens AT TIME ZONE 'Europe/Berlin' AS opens, value FROM lb_series('b/best', 'ann', '1 week', '2031-12-20', '2032-01-12');
SELECT opens AT TIME ZONE 'Europe/Berlin' AS opens, value FROM lb_series('b/best', 'nobody', '1 year', '2031-12-20', '2032-01-12');
SELECT count(*) FROM lb_series('b/points', 'ann', '1 day', '2031-10-26', '2031-10-26');
SELECT count(*) FROM lb_series('b/points', 'ann', '1 day', '2031-10-27', '2031-10-26');
SELECT count(*), sum(value) FROM lb_series('b/points', 'ann', '1 hour', '2031-10-26 00:00Z', timestamptz '2031-10-26 00:00Z' + interval '10000 hours');
SELECT * FROM pg_temp.wrong(ARRAY[
'22023', 'at most 10000', 'SELECT lb_series(''b/points'', ''ann'', ''1 hour'', ''2031-10-26 00:00Z'', timestamptz ''2031-10-26 00:00Z'' + interval ''10001 hours'')',
'22023', 'invalid step', 'SELECT lb_series(''b/points'', ''ann'', ''2 hours'', ''2031-10-26'', ''2031-10-27'')',
'22023', 'from_time', 'SELECT lb_series(''b/points'', ''ann'', ''1 hour'', ''-infinity'', ''2031-10-27'')',
'22023', 'to_time', 'SELECT lb_series(''b/points'', ''ann'', ''1 hour'', ''2031-10-27'', NULL)',
'22023', '"member"', 'SELECT lb_series(''b/points'', NULL, ''1 hour'', ''2031-10-27'', ''2031-10-27'')',
'42704', 'nix', 'SELECT lb_series(''b/nix'', ''ann'', ''1 hour'', ''2031-10-27'', ''2031-10-27'')',
'42704', 'nix', 'SELECT lb_windows(''b/nix'')', '22023', '"n"', 'SELECT lb_windows(''b/day'', 0)', '22023', '"n"', 'SELECT lb_windows(''b/day'', 1001)', '22023', 'no scopes', 'SELECT lb_windows(''b/day'', scope => ''x'')',
'22023', '"board"', 'SELECT lb_windows(NULL)', '42704', 'nix', 'SELECT lb_next_reset(''b/nix'')', '22023', '"board"', 'SELECT lb_next_reset(NULL)',
'42704', 'nix', 'SELECT lb_events(''b/nix'')', '22023', '"n"', 'SELECT lb_events(''b/points'', n => 0)', '22023', '"n"', 'SELECT lb_events(''b/points'', n => 1001)', '22023', '"counter"', 'SELECT lb_events(NULL)'
]);

-- The log.
SELECT member, delta, actor, key, event_time, ingest_time = event_time AS at_once, kind, source, counted FROM lb_events('b/points', n => 3);
SELECT key FROM lb_events('b/points', key => 'k8');
SELECT key FROM lb_events('b/points', 'ann', since => '2032-01-05 00:00Z');
SELECT key FROM lb_events('b/points', 'bob') UNION ALL SELECT key FROM lb_events('b/points', 'bob', 'k8') UNION ALL SELECT key FROM lb_events('b/points', since => '2040-01-01');
SELECT status FROM lb_submit('b/points', 'bob', 5, 'not yet');
SELECT kind, counted FROM lb_events('b/points', 'bob');
SELECT events FROM lb_refresh();
SELECT kind, counted FROM lb_events('b/points', 'bob');
SELECT lb_create_counter('retired') > 0 AS counter;
SELECT status FROM lb_submit('retired', 'ann', 1, 'k');
SELECT lb_drop_counter('retired', true);
SELECT member FROM lb_events('retired');

-- What changes no meaning can change.
SELECT lb_create_counter('crowd') > 0 AS counter;
SELECT lb_create_board('crowd', 'crowd') > 0 AS board, lb_create_board('crowd head', 'crowd', ranks => 'bounded', head => 5) > 0 AS board, lb_create_board('crowd days', 'crowd', 'day', ranks => 'bounded', head => 5) > 0 AS board;
SELECT status, count(*) FROM lb_backfill('crowd', ARRAY(SELECT 'm' || i % 500 FROM generate_series(1, 1000) AS i), ARRAY(SELECT (i * 7919) % 1000 FROM generate_series(1, 1000) AS i), ARRAY(SELECT 'k' || i FROM generate_series(1, 1000) AS i),
	ARRAY(SELECT date_trunc('day', now()) - i % 2 * interval '1 day' FROM generate_series(1, 1000) AS i)) GROUP BY 1;
SELECT events FROM lb_refresh();
SELECT lb_alter_board('crowd head', head => 100), lb_alter_board('crowd days', head => 40, freshness => '1 minute', keep_versions => '0');
SELECT board, head, freshness, keep_versions FROM lb_boards() WHERE counter = 'crowd' ORDER BY 1;
SELECT p.member FROM lb_page('crowd head', 90, 11) AS p JOIN lb_rank('crowd', p.member) AS r USING (member) WHERE (p.rank, p.place) IS DISTINCT FROM (r.rank, r.place);
SELECT count(*) FROM lb_top('crowd head', 200);
SELECT count(*) FROM lb_top('crowd days', 200) UNION ALL SELECT count(*) FROM lb_top('crowd days', 200, at => now() - interval '1 day');
SELECT b, c FROM unnest(ARRAY['crowd', 'crowd head', 'crowd days']) AS b, LATERAL lb_check(b) AS c;
SELECT lb_alter_board('crowd head', head => 3), lb_alter_board('crowd head', head => 7), lb_alter_board('crowd head'), lb_alter_board('crowd', head => 9999);
SELECT count(*) FROM lb_top('crowd head', 200) UNION ALL SELECT count(*) FROM lb_top('crowd', 200);
SELECT b, c FROM unnest(ARRAY['crowd', 'crowd head', 'crowd days']) AS b, LATERAL lb_check(b) AS c;
SELECT status FROM lb_submit('crowd', 'm1', 5000, 'up');
SELECT rankings FROM lb_refresh('crowd');
SELECT b, t.member, t.rank FROM unnest(ARRAY['crowd', 'crowd head', 'crowd days']) AS b, LATERAL lb_top(b, 1) AS t;
SELECT b, c FROM unnest(ARRAY['crowd', 'crowd head', 'crowd days']) AS b, LATERAL lb_check(b) AS c;
SELECT * FROM pg_temp.wrong(ARRAY[
'42704', 'nix', 'SELECT lb_alter_board(''nix'', head => 5)', '22023', '"board"', 'SELECT lb_alter_board(NULL)', '22023', 'head', 'SELECT lb_alter_board(''crowd'', head => 0)',
'22023', 'freshness', 'SELECT lb_alter_board(''crowd'', ''0'')', '22023', '"keep_versions"', 'SELECT lb_alter_board(''crowd'', keep_versions => ''1 month'')',
-- The error says which span it means.
'22023', '"lateness"', 'SELECT lb_create_counter(''x'', lateness => ''1 month'')', '22023', '"max_age"', 'SELECT lb_create_counter(''x'', max_age => ''-1 day'')', '22023', '"max_skew"', 'SELECT lb_create_counter(''x'', max_skew => ''1 year'')',
'22023', '"idempotency"', 'SELECT lb_create_counter(''x'', idempotency => ''1 month'')', '22023', '"freshness"', 'SELECT lb_create_board(''x'', ''crowd'', freshness => ''1 month'')',
'22023', '"keep_versions"', 'SELECT lb_create_board(''x'', ''crowd'', keep_versions => ''1 month'')', '22023', '"starts"', 'SELECT lb_create_board(''x'', ''crowd'', ''year'', starts => ''1 month'')',
'22023', '"lateness"', 'SELECT lb_create_board(''x'', ''crowd'', ''year'', lateness => ''1 month'')', '22023', '"every"', 'CALL lb_refresh_loop(''0'', ''1 month'')', '22023', '"duration"', 'CALL lb_refresh_loop(''-1 s'')'
]);

-- A board of one window has no use for "at", whatever it is.
SELECT r.member, v.value FROM lb_rank('crowd', 'm1', at => 'infinity') AS r, lb_value('crowd', 'm1', 'all', '-infinity') AS v WHERE r.value <> v.value;
SELECT count(*) FROM lb_top('crowd', 3, at => '-infinity'), lb_version('crowd', at => 'infinity'), lb_values('crowd', ARRAY['m1'], at => 'infinity');
SELECT * FROM pg_temp.wrong(ARRAY['22023', '"at"', 'SELECT lb_top(''crowd days'', at => ''infinity'')', '22023', '"at"', 'SELECT lb_value(''crowd'', ''m1'', ''day'', ''infinity'')']);

-- One sum that does not fit is a NULL among the others, and an error alone.
SELECT status FROM lb_submit_batch('crowd', ARRAY['huge', 'huge', 'low', 'low'], ARRAY[9223372036854775807, 1, -9223372036854775808, -1], ARRAY['h1', 'h2', 'l1', 'l2']);
SELECT events FROM lb_refresh();
SELECT member, value, value_low, value_high, late FROM lb_values('crowd', ARRAY['huge', 'm1', 'low', 'nobody']);
SELECT value FROM lb_series('crowd', 'huge', '1 day', now(), now() + interval '1 microsecond');
SELECT * FROM pg_temp.wrong(ARRAY['22003', 'huge', 'SELECT lb_value(''crowd'', ''huge'')', '22003', 'low', 'SELECT lb_value(''crowd'', ''low'', ''day'')', '00000', '', 'SELECT lb_value(''crowd'', ''huge'', ''day'', now() - interval ''3 days'')']);

-- A vacuum leaves the pages in a session's memory.
CREATE FUNCTION pg_temp.blocks(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ' || query INTO plan;
	RETURN (plan -> 0 -> 'Plan' ->> 'Shared Hit Blocks')::bigint + (plan -> 0 -> 'Plan' ->> 'Shared Read Blocks')::bigint;
END
$$;
SELECT status, count(*) FROM lb_submit_batch('crowd', ARRAY(SELECT 'player-' || md5(i::text) FROM generate_series(1, 9000) AS i), ARRAY(SELECT 20000 + i FROM generate_series(1, 9000) AS i), ARRAY(SELECT 'p' || i FROM generate_series(1, 9000) AS i)) GROUP BY 1;
SELECT events FROM lb_refresh();
\set question 'SELECT * FROM lb_page(''crowd'', 3000, 1000)'
SELECT pg_temp.blocks(:'question') AS cold \gset
SELECT pg_temp.blocks(:'question') AS warm \gset
VACUUM lb.page;
SELECT count(*) > 0 AS relations_read_again FROM lb_page('crowd', 1, 1);
SELECT pg_temp.blocks(:'question') AS vacuumed \gset
SELECT :cold > :warm + 50 AS cold_reads_pages, :vacuumed - :warm < (:cold - :warm) / 2 AS vacuumed_reads_none;
DROP TABLE happened;
DROP EXTENSION leaderboard;
