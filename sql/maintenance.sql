-- lb_maintain and its steps, and for how long keys are remembered.  Time is an
-- argument: events come in long ago and in years to come.  Queries that check
-- print violations only.
\set ECHO none
\i test/include/attempt.sql
\set ECHO all
\pset null '(null)'
SET client_min_messages = warning;
SET timezone = 'UTC';
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE regress_lb_cold LOCATION '';
CREATE EXTENSION leaderboard;

-- Whoever makes the first counter, the log lies where the database does.
SET default_tablespace = regress_lb_cold;
SELECT lb_create_counter('points') > 0 AS counter, lb_create_counter('seldom', max_age => '1 hour') > 0 AS counter, lb_create_counter('long', idempotency => '30 days') > 0 AS counter;
SELECT lb._make_partitions('2031-03-01', '2031-03-20');
RESET default_tablespace;
SELECT partition FROM lb.log_partition WHERE tablespace <> 'pg_default';
SELECT c.oid::regclass FROM pg_class AS c JOIN pg_inherits AS h ON h.inhrelid = c.oid LEFT JOIN pg_index AS x ON x.indrelid = c.oid LEFT JOIN pg_class AS i ON i.oid = x.indexrelid
WHERE h.inhparent = 'lb.event'::regclass AND (c.reltablespace <> 0 OR i.reltablespace <> 0);

-- A retry without event_time is recognised for as long as lb_counters() says,
-- across partitions and the default one; and not much longer.
CREATE FUNCTION pg_temp.add(counter text, key text, at timestamptz, event_time timestamptz DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(reason, status) FROM lb._submit_batch(lb._counter_id(counter), ARRAY['m'], ARRAY[1], ARRAY[key], CASE WHEN event_time IS NOT NULL THEN ARRAY[event_time] END, NULL, NULL, 'e', at)
$$;
SELECT counter, idempotency FROM lb_counters() ORDER BY 1;
CREATE TABLE retry (counter text, sent timestamptz, after interval, became text);
INSERT INTO retry VALUES
('points', '2031-03-05 12:00Z', '1 day 1 hour', 'duplicate'), ('points', '2031-03-05 12:00Z', '2 days', 'duplicate'), ('points', '2031-03-05 12:00Z', '7 days', 'duplicate'),
('points', '2031-03-05 12:00Z', '9 days', 'accepted'), ('points', '2031-03-18 12:00Z', '6 days', 'duplicate'), ('points', '2031-02-26 12:00Z', '6 days', 'duplicate'),
('seldom', '2031-03-05 12:00Z', '23 hours', 'duplicate'), ('seldom', '2031-03-05 12:00Z', '3 days', 'accepted'),
('long', '2031-03-05 12:00Z', '29 days', 'duplicate'), ('long', '2031-03-05 12:00Z', '13 days', 'duplicate'), ('long', '2031-02-20 12:00Z', '20 days', 'duplicate');
SELECT counter, sent, a AS first FROM retry, LATERAL pg_temp.add(counter, format('%s %s', sent, after), sent) AS a WHERE a <> 'accepted';
SELECT r.*, a FROM retry AS r, LATERAL pg_temp.add(counter, format('%s %s', sent, after), sent + after) AS a WHERE a <> became;
-- With an event_time, repeated unchanged, at any time.
SELECT pg_temp.add('points', 'timed', '2031-03-05 12:00Z', '2031-03-05 11:00Z'), pg_temp.add('points', 'timed', '2031-03-12 10:00Z', '2031-03-05 11:00Z');
-- Many keys at once, some held on one day and some on another, some new; each has its own answer.
SELECT count(*) FROM generate_series(1, 60) AS i WHERE pg_temp.add('points', 'many' || i, timestamptz '2031-03-10 12:00Z' + i % 5 * interval '1 day') <> 'accepted';
SELECT DISTINCT status, count(*) FILTER (WHERE event_id = (SELECT e.event_id FROM lb.event AS e WHERE e.key = 'many' || ordinal ORDER BY e.event_id LIMIT 1)) FROM lb._submit_batch(lb._counter_id('points'),
	array_fill('m'::text, ARRAY[80]), array_fill(1::bigint, ARRAY[80]), ARRAY(SELECT 'many' || i FROM generate_series(1, 80) AS i), NULL, NULL, NULL, 'e', '2031-03-15 12:00Z') GROUP BY 1 ORDER BY 1;

-- Old versions are collected a piece at a time.
SELECT lb_create_counter('hours') > 0 AS counter;
SELECT lb_create_board('hours', 'hours', 'hour', keep_versions => '0') > 0 AS board;
SELECT status, count(*) FROM lb_backfill('hours', array_fill('m'::text, ARRAY[1200]), array_fill(1::bigint, ARRAY[1200]), ARRAY(SELECT 'a' || i FROM generate_series(1, 1200) AS i), ARRAY(SELECT date_trunc('day', now()) - i * interval '1 hour' FROM generate_series(1, 1200) AS i)) GROUP BY 1;
SELECT rankings >= 1200 AS counted FROM lb_refresh();
SELECT status, count(*) FROM lb_backfill('hours', array_fill('n'::text, ARRAY[1200]), array_fill(1::bigint, ARRAY[1200]), ARRAY(SELECT 'b' || i FROM generate_series(1, 1200) AS i), ARRAY(SELECT date_trunc('day', now()) - i * interval '1 hour' FROM generate_series(1, 1200) AS i)) GROUP BY 1;
SELECT rankings >= 1200 AS counted FROM lb_refresh();
SELECT collected BETWEEN 900 AND 1000 AS some, more FROM lb._collect_some('1 hour');
SELECT collected BETWEEN 200 AND 300 AS others, more FROM lb._collect_some('1 hour');
SELECT collected, more FROM lb._collect_some('1 hour');
SELECT count(*) FROM lb.version WHERE owes OR ranking_id > 0 AND NOT EXISTS (SELECT FROM lb.page AS p WHERE p.counter_id = version.counter_id AND p.ranking_id = version.ranking_id AND p.page_id = version.root);
SELECT count(*) FROM lb_check('hours');

-- Arguments, and where it may be called.
SELECT * FROM pg_temp.wrong(ARRAY[
'25001', 'commits each of its steps', 'CALL lb_maintain()'
]);
\set VERBOSITY sqlstate
BEGIN; CALL lb_maintain(); ROLLBACK;
SET default_transaction_isolation = 'repeatable read';
CALL lb_maintain();
CALL lb_refresh_loop('0');
RESET default_transaction_isolation;
CALL lb_maintain(hot => '23 hours');
CALL lb_maintain(archive => '-1 days');
CALL lb_maintain(archive_tablespace => 'regress_lb_none');
CALL lb_maintain(archive_tablespace => 'pg_global');
CALL lb_maintain(drop_partitions => ARRAY['event_19990101']);
CALL lb_maintain(drop_partitions => ARRAY['event_default']);
CALL lb_maintain(drop_partitions => ARRAY[NULL]::text[]);
CALL lb_maintain(drop_partitions => ARRAY['event_20310301']);
\set VERBOSITY default
SET transaction_read_only = on;
SET default_transaction_read_only = on;
CALL lb_maintain();
RESET default_transaction_read_only;
SELECT count(*) FROM lb.maintenance;
CALL lb_maintain(NULL, NULL, NULL, NULL);
SELECT expired, archived, dropped, left_over, finished_at >= started_at AS finished FROM lb.maintenance;
SELECT check_name, ok FROM lb.health WHERE check_name IN ('maintenance', 'collection', 'partitions ahead');
DROP EXTENSION leaderboard;

-- Long ago: what expires, what is moved, what is dropped.
CREATE EXTENSION leaderboard;
SELECT lb_create_tenant('havana', 'America/Havana') > 0 AS tenant;
SELECT lb_create_counter('havana/points') > 0 AS counter, lb_create_counter('weekly') > 0 AS counter, lb_create_counter('gone') > 0 AS counter, lb_create_counter('slow', lateness => '3000 days') > 0 AS counter;
SELECT lb_create_board('havana/all', 'havana/points') > 0 AS board, lb_create_board('havana/hour', 'havana/points', 'hour') > 0 AS board, lb_create_board('weekly', 'weekly', 'week') > 0 AS board,
	lb_create_board('slow', 'slow', 'day', starts => '6 hours') > 0 AS board;
SELECT lb._make_partitions('2024-11-01', '2024-11-05');
SELECT status, count(*) FROM lb_counters() AS c, generate_series(0, 99) AS i, LATERAL lb._submit_batch(c.counter_id, ARRAY['m' || i % 4], ARRAY[i], ARRAY['k' || i], NULL, NULL, NULL, 'e', timestamptz '2024-11-01 02:10Z' + i * interval '1 hour') AS s GROUP BY 1;
SELECT status FROM lb_counters() AS c, LATERAL lb._submit_batch(c.counter_id, ARRAY['m1'], ARRAY[5], ARRAY['now'], NULL, NULL, NULL, 'e', now()) AS s;
SELECT events FROM lb_refresh();
SELECT events FROM lb_refresh();
SELECT events FROM lb_refresh();
CREATE TABLE was AS SELECT counter, period, at, (lb_value(counter, 'm1', period, at)).value FROM unnest(ARRAY['havana/points', 'weekly', 'slow']) AS counter, unnest(ARRAY['all', 'day', 'week', 'month', 'year']) AS period, unnest(ARRAY['2024-11-03 06:00Z', now()]) AS at;
CREATE TABLE ranked AS SELECT b, t.* FROM unnest(ARRAY['havana/all', 'havana/hour', 'weekly', 'slow']) AS b, LATERAL lb_top(b, at => CASE b WHEN 'havana/all' THEN NULL ELSE timestamptz '2024-11-03 15:00Z' END) AS t;
SELECT count(*) FROM ranked;
CALL lb_maintain();
-- Only what nobody needs by the hour is gone, and what is left says the same.
SELECT c.counter, b.span, min(b.opens), count(*) FROM lb.bucket AS b JOIN lb_counters() AS c USING (counter_id) WHERE b.opens < '2025-01-01' GROUP BY 1, 2 ORDER BY 1, 2;
SELECT c.counter, count(*) FROM lb.bucket AS b JOIN lb_counters() AS c USING (counter_id) WHERE b.opens >= '2025-01-01' GROUP BY 1 ORDER BY 1;
SELECT * FROM was WHERE value IS DISTINCT FROM (lb_value(counter, 'm1', period, at)).value;
SELECT count(*) FROM was WHERE value > 0;
SELECT b, member, value, rank FROM ranked EXCEPT ALL SELECT b, t.member, t.value, t.rank FROM unnest(ARRAY['havana/all', 'havana/hour', 'weekly', 'slow']) AS b, LATERAL lb_top(b, at => CASE b WHEN 'havana/all' THEN NULL ELSE timestamptz '2024-11-03 15:00Z' END) AS t;
SELECT b, c FROM unnest(ARRAY['havana/all', 'havana/hour', 'weekly', 'slow']) AS b, LATERAL lb_check(b) AS c;
SELECT * FROM pg_temp.wrong(ARRAY[
'55000', 'known by the day only', 'SELECT lb_value(''weekly'', ''m1'', ''hour'', ''2024-11-03 15:00Z'')',
'55000', 'known by the day only', 'SELECT lb_series(''weekly'', ''m1'', ''1 hour'', ''2024-11-03 15:00Z'', ''2024-11-03 18:00Z'')',
'00000', '', 'SELECT lb_series(''weekly'', ''m1'', ''1 day'', ''2024-11-03 15:00Z'', ''2024-11-03 18:00Z'')',
'00000', '', 'SELECT lb_value(''slow'', ''m1'', ''hour'', ''2024-11-03 15:00Z'')'
]);
SELECT expired FROM lb.maintenance ORDER BY started_at DESC LIMIT 1;
CALL lb_maintain();
SELECT expired FROM lb.maintenance ORDER BY started_at DESC LIMIT 1;

-- Who needs a partition says so.
CREATE FUNCTION pg_temp.kept(partition text) RETURNS text LANGUAGE sql AS $$ SELECT lb._why_kept(partition, '13 months') $$;
SELECT pg_temp.kept('event_20241101');
SELECT lb_drop_board('havana/all');
SELECT pg_temp.kept('event_20241101');
SELECT lb_drop_board('slow');
SELECT pg_temp.kept('event_20241101');
SELECT lb_create_board('weekly all', 'weekly') > 0 AS board;
SELECT pg_temp.kept('lb.event_20241101');
SELECT lb_drop_board('weekly all');
SELECT lb_create_board('rolls', 'weekly', 'last 400 days') > 0 AS board;
SELECT pg_temp.kept('event_20241101');
SELECT pg_temp.kept(to_char(current_date, '"event_"YYYYMMDD'));
SELECT lb_create_counter('remembers', idempotency => '9999 days') > 0 AS counter;
SELECT status FROM lb._submit_batch(lb._counter_id('remembers'), ARRAY['m'], ARRAY[1], ARRAY['k'], NULL, NULL, NULL, 'e', '2024-11-02 12:00Z');
SELECT pg_temp.kept('event_20241102');
CREATE TABLE log AS SELECT * FROM lb.event;
CALL lb_maintain(drop_partitions => ARRAY['lb.event_20241101', 'event_20241103']);
SELECT c.counter, d.partition, d.events, d.first_event, d.last_event FROM lb.dropped AS d JOIN lb_counters() AS c USING (counter_id) ORDER BY 2, 1;
SELECT d.partition, d.counter_id FROM lb.dropped AS d LEFT JOIN LATERAL (SELECT count(*) AS n FROM log AS l WHERE l.counter_id = d.counter_id AND l.ingest_time >= d.opens AND l.ingest_time < d.closes) AS l ON true WHERE n <> events;
CALL lb_maintain(drop_partitions => ARRAY['event_20241101']);
SELECT dropped FROM lb.maintenance ORDER BY started_at;
-- The boards still say what they said; a counter whose log is dropped is not without events.
SELECT b, member, value, rank FROM ranked WHERE b IN ('havana/hour', 'weekly') EXCEPT ALL SELECT b, t.member, t.value, t.rank FROM unnest(ARRAY['havana/hour', 'weekly']) AS b, LATERAL lb_top(b, at => timestamptz '2024-11-03 15:00Z') AS t;
SELECT lb._has_events(lb._counter_id('gone')) AS had, (SELECT count(*) FROM lb_events('gone')) AS left;
-- Move what is left, twice; the copy is the original.
SELECT status FROM lb._submit_batch(lb._counter_id('gone'), ARRAY['m'], ARRAY[1], ARRAY['elsewhere'], NULL, NULL, NULL, 'e', '2023-11-02 12:00Z');
CALL lb_maintain(archive_tablespace => 'regress_lb_cold');
SELECT archived, left_over FROM lb.maintenance ORDER BY started_at DESC LIMIT 1;
SELECT partition, tablespace FROM lb.log_partition WHERE opens < '2025-01-01';
SELECT count(*) FROM (SELECT * FROM log WHERE ingest_time < '2025-01-01' EXCEPT ALL SELECT * FROM lb.event) AS d JOIN lb.log_partition AS p ON d.ingest_time >= p.opens AND d.ingest_time < p.closes;
SELECT conname FROM pg_constraint WHERE contype <> 'n' AND conrelid = 'lb.event_default'::regclass OR conname = 'moving';
SELECT status, event_id = (SELECT event_id FROM log AS l WHERE l.key = 'k30' AND l.counter_id = lb._counter_id('gone')) AS same FROM lb_backfill('gone', ARRAY['m2'], ARRAY[30], ARRAY['k30']);
CALL lb_maintain(archive_tablespace => 'pg_default');
SELECT partition, tablespace FROM lb.log_partition WHERE opens < '2025-01-01';
SELECT * FROM pg_temp.wrong(ARRAY['55000', 'append-only', 'TRUNCATE lb.event_20241102', '55000', 'append-only', 'DELETE FROM lb.event_20241102']);
DROP TABLE retry, was, ranked, log;
DROP EXTENSION leaderboard;
DROP TABLESPACE regress_lb_cold;
