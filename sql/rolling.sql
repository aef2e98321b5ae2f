-- Rolling boards by hand, late classes and their limits, what is known by the
-- day only, and the zone of a tenant.  The time is the rounds'.
CREATE EXTENSION leaderboard;
\set ECHO none
\i test/include/attempt.sql
\set ECHO all
\pset null '(null)'
SET timezone = 'UTC';
SET datestyle = 'ISO';
SET intervalstyle = 'postgres';
SET client_min_messages = warning;
CREATE FUNCTION pg_temp.submit(counter text, member text, delta bigint, at timestamptz, now timestamptz) RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(s.reason, s.status) FROM lb_counters() AS c, lb._submit_batch(c.counter_id, ARRAY[member], ARRAY[delta], ARRAY[concat(member, delta, at, now)], ARRAY[at], NULL, NULL, 'e', now) AS s
	WHERE c.counter = submit.counter
$$;
SELECT lb_create_counter('steps', grain => '5 minutes') > 0 AS id;
SELECT lb_create_board('quarter', 'steps', 'last 15 minutes') > 0 AS id;
SELECT lb_create_board('hours', 'steps', 'last 2 hour') > 0 AS id;
SELECT lb_create_board('days', 'steps', 'last 3 days', ranks => 'bounded', head => 1) > 0 AS id;

-- Before the first round a board covers what it would now, and has nobody.
SELECT state, population, version, settles, as_of, closes - opens AS covers, opens <= now() AND now() < closes AS current FROM lb_version('quarter');
SELECT kind, state FROM lb_rank('quarter', 'ann');

-- Events, one of them ahead of the clock, and a round just before 12:05.
SELECT pg_temp.submit('steps', 'ann', 5, '2040-01-01 11:47:00Z', '2040-01-01 12:00:40Z'), pg_temp.submit('steps', 'bob', 3, '2040-01-01 11:59:59.999999Z', '2040-01-01 12:00:40Z'),
	pg_temp.submit('steps', 'cat', 9, '2040-01-01 12:05:00Z', '2040-01-01 12:04:20Z'), pg_temp.submit('steps', 'dan', 1, '2040-01-01 11:44:59.999999Z', '2040-01-01 12:00:40Z');
SELECT events, rankings FROM lb._refresh('steps', '2040-01-01 12:04:59.999999Z');
SELECT opens, closes, settles, state, population, as_of FROM lb_version('quarter');
-- 11:50 to 12:05: only bob; the event at 12:05 has not entered, that of 11:47 has left.
SELECT b.board, member, rank, value, reached_at, state FROM unnest(ARRAY['quarter', 'hours', 'days']) AS b (board), LATERAL lb_page(b.board, 1) AS p ORDER BY 1, 3;
-- Nothing moves within the five minutes, and a round that slides nothing changes nothing.
SELECT version AS before FROM lb_version('quarter') \gset
SELECT events, rankings FROM lb._refresh(NULL, '2040-01-01 12:04:59.999999Z');
SELECT version - :before AS grown FROM lb_version('quarter');
-- At 12:05 cat enters, 11:55 to 12:10 still has bob, who leaves at 12:10.
SELECT events, rankings FROM lb._refresh(NULL, '2040-01-01 12:05:00Z');
SELECT member, rank, value, reached_at FROM lb_page('quarter', 1);
SELECT version > :before AS grown FROM lb_version('quarter');
SELECT events, rankings FROM lb._refresh(NULL, '2040-01-01 12:10:00Z');
SELECT member, rank, value FROM lb_page('quarter', 1);
SELECT member, rank, value FROM lb_page('hours', 1);
SELECT kind, rank, value, population FROM lb_rank('quarter', 'bob');
-- An event of a while ago counts where it is covered, and nowhere else.
SELECT pg_temp.submit('steps', 'cat', 4, '2040-01-01 11:40:00Z', '2040-01-01 12:11:00Z'), pg_temp.submit('steps', 'bob', 2, '2040-01-01 12:09:00Z', '2040-01-01 12:11:00Z');
SELECT events, rankings FROM lb._refresh(NULL, '2040-01-01 12:12:00Z');
SELECT b.board, member, rank, value FROM unnest(ARRAY['quarter', 'hours']) AS b (board), LATERAL lb_page(b.board, 1) AS p ORDER BY 1, 3;
-- A clock that goes back takes the board back.
SELECT events, rankings FROM lb._refresh(NULL, '2040-01-01 12:04:00Z');
SELECT member, rank, value FROM lb_page('quarter', 1);
SELECT events, rankings FROM lb._refresh(NULL, '2040-01-01 12:12:00Z');
SELECT member, rank, value FROM lb_page('quarter', 1);
-- lb_value over any rolling period, as of the round or of any instant.
SELECT period, at, value, late FROM (VALUES ('last 15 minutes', NULL), ('last 10 minutes', NULL), ('last 2 hours', NULL), ('last 3 days', NULL), ('last 15 minutes', '2040-01-01 12:04:00Z'),
	('last 30 minutes', '2040-01-01 11:59:00Z'), ('last 1 days', '2040-01-02 00:00Z'), ('last 2 days', '2040-01-02 00:00Z')) AS p (period, at), LATERAL lb_value('steps', 'cat', period, at::timestamptz) AS v;
-- at: the board has one window.
SELECT * FROM pg_temp.wrong(ARRAY[
'22023', 'window', 'SELECT lb_rank(''quarter'', ''bob'', at => ''2040-01-01 11:59:59.999999Z'')',
'22023', 'window', 'SELECT lb_top(''quarter'', at => ''2040-01-01 12:15Z'')',
'22023', 'window', 'SELECT lb_version(''days'', at => ''2039-12-29 23:59:59.999999Z'')',
'22023', 'finite', 'SELECT lb_version(''days'', at => ''infinity'')',
'22023', 'last N', 'SELECT lb_value(''steps'', ''bob'', ''last week'')',
'22023', 'grain', 'SELECT lb_value(''steps'', ''bob'', ''last 7 minutes'')',
'22023', 'as_of', 'SELECT lb._refresh(NULL, NULL)',
'00000', '', 'SELECT lb_rank(''quarter'', ''bob'', at => ''2040-01-01 12:00Z'')',
'00000', '', 'SELECT lb_rank(''quarter'', ''bob'', at => ''2040-01-01 12:14:59.999999Z'')',
'00000', '', 'SELECT lb_rank(''days'', ''bob'', at => ''2039-12-30 00:00Z'')',
'00000', '', 'SELECT lb_rank(''days'', ''bob'', at => now())'
]);
-- The error says what the board covers, from end to end.
SELECT lb_top('quarter', at => '2040-01-01 12:15Z');
-- Days pass; the last member leaves; somebody comes back.
SELECT events, rankings FROM lb._refresh(NULL, '2040-01-03 23:59:59Z');
SELECT b.board, population, opens, closes FROM unnest(ARRAY['quarter', 'hours', 'days']) AS b (board), LATERAL lb_version(b.board) AS v ORDER BY 1;
SELECT events, rankings FROM lb._refresh(NULL, '2040-01-04 00:00:00Z');
SELECT b.board, population FROM unnest(ARRAY['quarter', 'hours', 'days']) AS b (board), LATERAL lb_version(b.board) AS v ORDER BY 1;
SELECT count(*) AS standings FROM lb.standing;
SELECT count(*) AS noted FROM lb.moved AS m JOIN lb.ranking AS r USING (counter_id, ranking_id) JOIN lb_boards() AS b USING (board_id) WHERE board = 'days' AND value IS NOT NULL AND member = 'ann';
SELECT pg_temp.submit('steps', 'ann', 7, '2040-01-04 00:00Z', '2040-01-04 00:01Z');
SELECT events, rankings FROM lb._refresh(NULL, '2040-01-04 00:01:00Z');
SELECT b.board, member, rank, value FROM unnest(ARRAY['quarter', 'hours', 'days']) AS b (board), LATERAL lb_page(b.board, 1) AS p ORDER BY 1;
SELECT b.board, c.* FROM lb_boards() AS b, LATERAL lb_check(b.board) AS c;
-- A sum beyond bigint that slides into range again.
SELECT pg_temp.submit('steps', 'max', 9223372036854775807, '2040-01-04 00:02Z', '2040-01-04 00:03Z'), pg_temp.submit('steps', 'max', 1, '2040-01-04 00:06Z', '2040-01-04 00:07Z');
SELECT events, rankings FROM lb._refresh(NULL, '2040-01-04 00:08:00Z');
SELECT board, member, value FROM lb.poison ORDER BY 1;
SELECT kind FROM lb_rank('quarter', 'max');
SELECT events, rankings FROM lb._refresh(NULL, '2040-01-04 00:15:00Z');
SELECT board, member, value FROM lb.poison ORDER BY 1;
SELECT kind, value FROM lb_rank('quarter', 'max');
-- lb_check sees a standing that should have left, and a day that is not what its buckets are.
BEGIN;
UPDATE lb.standing SET value = value + 1 WHERE member = 'ann';
SELECT count(*) > 0 AS seen FROM lb_check('days');
ROLLBACK;
BEGIN;
UPDATE lb.bucket SET n = n + 1 WHERE member = 'ann' AND span = 'd';
SELECT count(*) > 0 AS seen FROM lb_check('quarter');
ROLLBACK;

-- Lateness of a board's own: states and settles go by it.
SELECT lb_create_board('day', 'steps', 'day') > 0 AS id;
SELECT lb_create_board('strict', 'steps', 'day', lateness => '0') > 0 AS id;
SELECT lb_create_board('lenient', 'steps', 'day', lateness => '3 days') > 0 AS id;
SELECT lb_create_board('same', 'steps', 'day', lateness => '24 hours') > 0 AS id;
SELECT count(*) AS classes FROM lb.late_class;
SELECT pg_temp.submit('steps', 'ann', 100, '2040-01-03 23:00Z', '2040-01-04 00:30Z'), pg_temp.submit('steps', 'ann', 1000, '2040-01-03 23:00Z', '2040-01-05 00:00:00.000001Z'),
	pg_temp.submit('steps', 'ann', 10000, '2040-01-03 23:00Z', '2040-01-05 00:00:00Z');
SELECT events, rankings FROM lb._refresh(NULL, '2040-01-05 00:01Z');
SELECT b.board, r.value, v.settles FROM unnest(ARRAY['day', 'strict', 'lenient', 'same']) AS b (board), LATERAL lb_rank(b.board, 'ann', at => '2040-01-03 12:00Z') AS r, LATERAL lb_version(b.board, at => '2040-01-03 12:00Z') AS v;
SELECT value, late FROM lb_value('steps', 'ann', 'day', '2040-01-03 12:00Z');
SELECT * FROM lb.late;
-- The class goes with its last board; a new one of other bits judges again.
SELECT lb_drop_board('strict');
SELECT count(*) AS classes FROM lb.late_class;
SELECT lb_create_board('hourly', 'steps', 'hour', lateness => '2 hours') > 0 AS id;
SELECT lb_create_board('strict', 'steps', 'day', lateness => '0') > 0 AS id;
SELECT r.value FROM lb_rank('strict', 'ann', at => '2040-01-03 12:00Z') AS r;
SELECT r.value FROM lb_rank('hourly', 'ann', at => '2040-01-03 23:00Z') AS r;
SELECT b.board, c.* FROM lb_boards() AS b, LATERAL lb_check(b.board) AS c;
-- 23 classes a counter.
SELECT count(lb_create_board('class' || n, 'steps', 'week', lateness => make_interval(hours => n))) AS boards FROM generate_series(1, 20) AS n;
SELECT * FROM pg_temp.wrong(ARRAY[
'54000', '23', 'SELECT lb_create_board(''class21'', ''steps'', ''week'', lateness => ''21 hours'')',
'00000', '', 'SELECT lb_create_board(''class21'', ''steps'', ''week'', lateness => ''20 hours'')'
]);
SELECT b.board, c.* FROM lb_boards() AS b, LATERAL lb_check(b.board) AS c;
SELECT count(lb_drop_board('class' || n)) AS boards FROM generate_series(1, 21) AS n;
SELECT count(*) AS classes FROM lb.late_class;

-- What is known by the day only: whole days are answered, others not, and new
-- boards of hours begin behind it.
INSERT INTO lb.counter_horizon SELECT counter_id, '2040-01-04 00:00Z' FROM lb_counters() WHERE counter = 'steps';
DELETE FROM lb.bucket WHERE span = 'g' AND opens < '2040-01-04 00:00Z';
SELECT * FROM pg_temp.wrong(ARRAY[
'55000', 'day', 'SELECT lb_value(''steps'', ''ann'', ''hour'', ''2040-01-03 23:59:59Z'')',
'55000', 'day', 'SELECT lb_value(''steps'', ''ann'', ''last 3 hours'', ''2040-01-04 01:00Z'')',
'55000', 'day', 'SELECT lb_values(''steps'', ARRAY[''ann''], ''last 10 minutes'', ''2040-01-01 01:00Z'')',
'00000', '', 'SELECT lb_value(''steps'', ''ann'', ''hour'', ''2040-01-04 00:00Z'')',
'00000', '', 'SELECT lb_value(''steps'', ''ann'', ''day'', ''2040-01-03 12:00Z'')',
'00000', '', 'SELECT lb_value(''steps'', ''ann'', ''last 400 days'')',
'00000', '', 'SELECT lb_value(''steps'', ''ann'', ''last 24 hours'', ''2040-01-03 23:59:59Z'')'
]);
SELECT value FROM lb_value('steps', 'ann');
SELECT lb_create_board('hour', 'steps', 'hour') > 0 AS id;
SELECT lb_create_board('days2', 'steps', 'last 7 days') > 0 AS id;
SELECT value FROM lb_rank('days2', 'ann');
SELECT min(opens) FROM lb.ranking JOIN lb_boards() AS b USING (board_id) WHERE board = 'hour';
SELECT b.board, c.* FROM lb_boards() AS b, LATERAL lb_check(b.board) AS c;
-- The log has everything still: a new class brings the grain back.
SELECT lb_create_board('six', 'steps', 'day', starts => '6 hours') > 0 AS id;
SELECT count(*) AS horizons FROM lb.counter_horizon;
SELECT value FROM lb_value('steps', 'ann', 'hour', '2040-01-03 23:59:59Z');
SELECT r.value FROM lb_rank('six', 'ann', at => '2040-01-03 23:00Z') AS r;
SELECT b.board, c.* FROM lb_boards() AS b, LATERAL lb_check(b.board) AS c;
-- And without it there is no telling what was late.
UPDATE lb.bucket SET n = n + 1 WHERE member = 'ann';
SELECT * FROM pg_temp.wrong(ARRAY['55000', 'log', 'SELECT lb_create_board(''seven'', ''steps'', ''day'', starts => ''7 hours'')']);
SELECT count(*) AS classes FROM lb.late_class;

-- A zone changes until the first event, and no later.
SELECT lb_create_tenant('acme', 'UTC') > 0 AS id;
SELECT lb_create_counter('acme/c') > 0 AS id;
SELECT lb_create_board('acme/day', 'acme/c', 'day') > 0 AS id;
SELECT lb_alter_tenant('acme', 'Asia/Kathmandu');
SELECT opens FROM lb_version('acme/day', at => '2040-05-05 12:00Z');
BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ;
SELECT * FROM pg_temp.wrong(ARRAY['25001', 'time zone', 'SELECT lb_alter_tenant(''acme'', ''UTC'')', '00000', '', 'SELECT lb_alter_tenant(''acme'', ''Asia/Kathmandu'')',
	'25001', 'lateness of its own', 'SELECT lb_create_board(''acme/own'', ''acme/c'', ''day'', lateness => ''0'')']);
ROLLBACK;
SELECT status FROM lb_submit('acme/c', 'm', 1, 'a');
SELECT * FROM pg_temp.wrong(ARRAY['0A000', 'zone', 'SELECT lb_alter_tenant(''acme'', ''UTC'')', '00000', '', 'SELECT lb_alter_tenant(''acme'', ''asia/kathmandu'')']);
SELECT opens FROM lb_version('acme/day', at => '2040-05-05 12:00Z');
DROP EXTENSION leaderboard;
