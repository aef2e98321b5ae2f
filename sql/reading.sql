-- Reading: arguments, empty boards, windows through "at", state and staleness.
-- Random boards are in test/pgtap/reading.sql.  Queries that check print
-- violations only.
CREATE EXTENSION leaderboard;
\set ECHO none
\i test/include/attempt.sql
\set ECHO all
\pset null '(null)'
SET client_min_messages = warning;
SET timezone = 'UTC';
SET datestyle = 'ISO';
SELECT lb_create_counter('c') > 0 AS counter;
SELECT lb_create_board('all', 'c', freshness => '1 hour') > 0 AS board;
SELECT lb_create_board('day', 'c', 'day', freshness => '1 hour') > 0 AS board;

-- Before any round: nobody, nothing known, stale.
SELECT member, rank, kind, value, population, version, as_of, stale, state FROM lb_rank('all', 'alice');
SELECT version, as_of, stale, state, population FROM lb_version('all');
SELECT value, late, version, as_of, stale FROM lb_value('c', 'alice');
-- An empty board answers, once counted.
SELECT events, rankings FROM lb_refresh();
SELECT count(*) FROM lb_top('all') UNION ALL SELECT count(*) FROM lb_page('all', 5) UNION ALL SELECT count(*) FROM lb_distribution('day');
SELECT member, rank, kind, rank_low, rank_high, midpoint, place, percentile_low, value, reached_at, population, version, stale, state FROM lb_rank('all', 'alice');
SELECT member, kind FROM lb_around('all', 'alice');
SELECT among, member, kind FROM lb_among('day', ARRAY['bob', 'alice', 'bob']);
SELECT member, rank, kind, rank_low, rank_high, place, percentile_low, percentile_high, value, population FROM lb_rank_for_value('all', -3);
SELECT population, stale, state, as_of IS NOT NULL AS as_of, channel LIKE '%' || board_id AS channel FROM lb_version('day');

-- Arguments.
SELECT status FROM lb_backfill('c', ARRAY['alice', 'bob', 'carol', 'alice'], ARRAY[5, 7, 5, 1], ARRAY['1', '2', '3', '4'],
	ARRAY['2024-05-05 10:00Z', '2024-05-05 11:00Z', '2024-05-05 12:00Z', '2024-05-06 10:00Z']::timestamptz[]);
SELECT events, rankings FROM lb_refresh();
SELECT * FROM pg_temp.wrong(ARRAY[
'22023', '1000', 'SELECT lb_top(''all'', 0)',
'22023', '1000', 'SELECT lb_top(''all'', -1)',
'22023', '1000', 'SELECT lb_top(''all'', 1001)',
'22023', '1000', 'SELECT lb_page(''all'', 1, 0)',
'22023', '1000', 'SELECT lb_page(''all'', 1, 1001)',
'22023', 'first', 'SELECT lb_page(''all'', 0)',
'22023', 'first', 'SELECT lb_page(''all'', -9223372036854775808)',
'22023', 'first', 'SELECT lb_page(''all'', NULL)',
'22023', '1000', 'SELECT lb_around(''all'', ''alice'', 0)',
'22023', '1000', 'SELECT lb_around(''all'', ''alice'', 1001)',
'22023', 'member', 'SELECT lb_around(''all'', NULL)',
'22023', 'member', 'SELECT lb_rank(''all'', NULL)',
'22023', 'value', 'SELECT lb_rank_for_value(''all'', NULL)',
'22023', 'scope', 'SELECT lb_rank(''all'', ''alice'', scope => ''x'')',
'22023', 'scope', 'SELECT lb_top(''all'', scope => ''x'')',
'22023', 'scope', 'SELECT lb_version(''all'', scope => ''x'')',
'22023', 'at', 'SELECT lb_rank(''day'', ''alice'', at => ''infinity'')',
'22023', 'at', 'SELECT lb_version(''day'', at => ''-infinity'')',
'22023', 'at', 'SELECT lb_value(''c'', ''alice'', ''day'', ''infinity'')',
'22023', 'member', 'SELECT lb_value(''c'', NULL)',
'22023', 'all, hour, day, week, month, year', 'SELECT lb_value(''c'', ''alice'', ''fortnight'')',
'00000', '', 'SELECT lb_top(''all'', 1000)',
'00000', '', 'SELECT lb_page(''all'', 9223372036854775807, 1000)',
'00000', '', 'SELECT lb_around(''all'', ''alice'', 1000)',
'00000', '', 'SELECT lb_rank(''day'', ''alice'', at => ''4713-11-24 BC'')',
'00000', '', 'SELECT lb_rank(''day'', ''alice'', at => ''294000-01-01'')',
'00000', '', 'SELECT lb_rank(''all'', repeat(''ž'', 500))'
]);
SELECT w.* FROM unnest(ARRAY['lb_ranks(''all'', %s)', 'lb_among(''all'', %s)', 'lb_values(''c'', %s)']) AS f, LATERAL pg_temp.wrong(ARRAY[
'22023', 'members', 'SELECT ' || format(f, 'NULL'),
'22023', 'members', 'SELECT ' || format(f, '''{}'''),
'22023', 'members', 'SELECT ' || format(f, 'array_fill(''a''::text, ARRAY[1001])'),
'22023', 'members', 'SELECT ' || format(f, 'ARRAY[''alice'', NULL]'),
'00000', '', 'SELECT ' || format(f, 'array_fill(''a''::text, ARRAY[1000])')]) AS w;
-- NULL in an optional argument is its default.
SELECT count(*) AS top FROM lb_top('all', NULL, NULL, NULL);
SELECT rank, value FROM lb_rank('all', 'alice', NULL, NULL);
SELECT count(*) AS around FROM lb_around('all', 'bob', NULL);
SELECT count(*) AS page FROM lb_page('all', 1, NULL);
SELECT value FROM lb_value('c', 'alice', NULL, NULL);
-- "at" does not matter for all; a board's own window otherwise.
SELECT a.value FROM unnest(ARRAY['1900-01-01', '2024-05-05', '2100-01-01']::timestamptz[]) AS at, LATERAL lb_rank('all', 'alice', at => at) AS a WHERE a.value <> 6;
SELECT at, r.member, r.rank, r.value, r.population FROM unnest(ARRAY['2024-05-04 23:59:59.999999Z', '2024-05-05 00:00Z', '2024-05-05 23:59:59.999999Z', '2024-05-06 00:00Z']::timestamptz[]) AS at, LATERAL lb_rank('day', 'alice', at => at) AS r;
SELECT member, rank, value FROM lb_top('day', at => '2024-05-05 09:00Z');
SELECT rank, value FROM lb_rank_for_value('day', 6, at => '2024-05-05 09:00Z');
SELECT member, rank FROM lb_around('day', 'bob', 1, at => '2024-05-05 09:00Z');
SELECT among, member FROM lb_among('day', ARRAY['carol', 'alice'], at => '2024-05-05 09:00Z');
SELECT low, high, members FROM lb_distribution('day', at => '2024-05-05 09:00Z');
SELECT member, kind FROM lb_top('day');
-- The session's zone and style do not matter.
SET timezone = 'Pacific/Apia';
SELECT member, value FROM lb_top('day', at => '2024-05-05 23:59:59Z');
SET timezone = 'UTC';

-- state: the window's day is over and settled once the round before could see
-- everything; today is live; between them provisional.
SELECT events FROM lb_refresh();
SELECT at, state, opens, closes, settles FROM lb_version('day', at => '2024-05-05'), LATERAL (SELECT '2024-05-05' AS at) AS a;
SELECT DISTINCT state FROM lb_top('day', at => '2024-05-05') UNION ALL SELECT state FROM lb_rank('day', 'alice', at => '1999-01-01');
SELECT lb_create_board('hour', 'c', 'hour') > 0 AS board;
SELECT v.state FROM (VALUES (interval '0', 'live'), ('-1 hour', 'live'), ('1 hour', 'provisional'), ('20 hours', 'provisional'), ('27 hours', 'settled')) AS s (ago, stated),
	LATERAL lb_version('hour', at => now() - ago) AS v WHERE v.state <> stated;
SELECT DISTINCT state FROM lb_top('all') UNION SELECT state FROM lb_version('day');
SELECT lb_create_counter('quick', lateness => '0', max_age => '1 day') > 0 AS counter;
SELECT lb_create_board('quick', 'quick', 'hour', freshness => '1 hour') > 0 AS board;
SELECT state FROM lb_version('quick', at => now() - interval '2 hours');
-- What may still be counted came in after "floor"; while a writer is open it
-- stays, so that no window settles that this writer may still change.
SELECT floor AS before FROM lb.round ORDER BY number DESC LIMIT 1 \gset
BEGIN;
SELECT status FROM lb_submit('quick', 'alice', 1, 'open');
PREPARE TRANSACTION 'regress_lb_open';
SELECT count(lb_refresh()) AS rounds FROM generate_series(1, 3);
SELECT max(floor) AS held FROM lb.round \gset
SELECT lb_refresh() IS NOT NULL AS round;
SELECT lb_refresh() IS NOT NULL AS round;
SELECT max(floor) = :'held' AS held FROM lb.round;
COMMIT PREPARED 'regress_lb_open';
SELECT :'held' <= ingest_time AS truly FROM lb.event WHERE key = 'open';
SELECT events FROM lb_refresh();
-- It moves on, though perhaps not before a writer elsewhere has ended.
DO $$
BEGIN
	FOR i IN 1 .. 100 LOOP
		PERFORM lb_refresh();
		COMMIT;
		EXIT WHEN (SELECT max(floor) FROM lb.round) > (SELECT ingest_time FROM lb.event WHERE key = 'open');
		PERFORM pg_sleep(0.05);
	END LOOP;
END
$$;
SELECT max(floor) > ingest_time AS moved FROM lb.round, lb.event WHERE key = 'open' GROUP BY ingest_time;
SELECT value FROM lb_value('quick', 'alice');

-- stale: by the board's own freshness.
SELECT lb_create_board('impatient', 'c', freshness => '1 microsecond') > 0 AS board;
SELECT events FROM lb_refresh();
SELECT board, v.stale FROM unnest(ARRAY['day', 'impatient']) AS b (board), LATERAL lb_version(board) AS v;
SELECT stale FROM lb_rank('impatient', 'alice') UNION ALL SELECT stale FROM lb_rank('day', 'alice') UNION ALL SELECT stale FROM lb_value('c', 'alice') UNION ALL SELECT stale FROM lb_value('quick', 'alice');

-- Versions: of a window that nobody opened it is that of the first round after
-- it began, never more than the newest, and it grows when somebody does.
SELECT version AS nobody FROM lb_version('day', at => '2024-05-07') \gset
SELECT version AS somebody FROM lb_version('day', at => '2024-05-06') \gset
SELECT :nobody <= (SELECT max(number) FROM lb.round) AS not_newer;
SELECT events FROM lb_refresh();
SELECT version = :nobody AS same FROM lb_version('day', at => '2024-05-07');
SELECT status FROM lb_backfill('c', ARRAY['dave'], ARRAY[1], ARRAY['5'], ARRAY['2024-05-07 10:00Z'::timestamptz]);
SELECT events, rankings FROM lb_refresh();
SELECT version > :nobody AS grew, population FROM lb_version('day', at => '2024-05-07');
SELECT version = :somebody AS same FROM lb_version('day', at => '2024-05-06');

-- Answers in one statement and one snapshot; in a parallel plan too.
SELECT set_config(name, CASE name WHEN 'force_parallel_mode' THEN 'on' WHEN 'debug_parallel_query' THEN 'on' ELSE '0' END, false) IS NOT NULL AS forced
FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
SELECT member, rank, value FROM lb_top('all', 2);
SELECT value FROM lb_value('c', 'alice');
SELECT (SELECT rank FROM lb_rank('all', m.member)) AS rank, member FROM (VALUES ('alice'), ('bob')) AS m (member);
SELECT board, kind FROM lb_boards() AS b, LATERAL lb_rank(b.board, 'nobody') AS r ORDER BY 1;
SELECT set_config(name, 'off', false) AS forced FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
-- In a read-only transaction.
BEGIN READ ONLY;
SELECT member, rank FROM lb_top('all');
SELECT value FROM lb_value('c', 'alice');
SELECT version > 0 AS version FROM lb_version('all');
SELECT code FROM pg_temp.attempt('SELECT lb_submit(''c'', ''alice'', 1, ''ro'')');
SELECT code FROM pg_temp.attempt('SELECT lb_refresh()');
COMMIT;
-- The extension dropped and created anew in one session: kept plans do not mix.
SELECT member, rank, value FROM lb_top('all', 1);
DROP EXTENSION leaderboard;
CREATE EXTENSION leaderboard;
SELECT lb_create_counter('c', operator => 'max') > 0 AS counter;
SELECT lb_create_board('all', 'c') > 0 AS board;
SELECT status FROM lb_submit_batch('c', ARRAY['alice', 'bob'], ARRAY[1, 2]);
SELECT status FROM lb_submit('c', 'carol', 3);
SELECT events, rankings FROM lb_refresh();
SELECT member, rank, value FROM lb_top('all');
SELECT value FROM lb_value('c', 'carol');
DROP EXTENSION leaderboard;
