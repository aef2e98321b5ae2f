-- Definitions: arguments and their errors, defaults, names, tenants, drops.
-- Queries that check print violations only.
CREATE EXTENSION leaderboard;
\set ECHO none
\i test/include/attempt.sql
\set ECHO all
\pset null '(null)'
SET client_min_messages = warning;

-- Every argument of a counter: its code, words of the error, a hint.
SELECT * FROM pg_temp.wrong(ARRAY[
'22023', 'counter', 'SELECT lb_create_counter(NULL)',
'22023', 'name', 'SELECT lb_create_counter('''')',
'22023', 'name', 'SELECT lb_create_counter(''a/b/c'')',
'22023', 'name', 'SELECT lb_create_counter(''/a'')',
'22023', 'name', 'SELECT lb_create_counter(''a/'')',
'22023', 'name', 'SELECT lb_create_counter(repeat(''x'', 201))',
'22023', '200', 'SELECT lb_create_counter(repeat(''ž'', 101))',
'00000', '', 'SELECT lb_create_counter(repeat(''x'', 200))',
'00000', '', 'SELECT lb_create_counter(repeat(''ž'', 100))',
'42704', 'nobody', 'SELECT lb_create_counter(''nobody/points'')',
'22023', 'exact', 'SELECT lb_create_counter(''bad'', type => ''precise'')',
'22023', 'exact', 'SELECT lb_create_counter(''bad'', type => '''')',
'22023', 'sum, max, min, last', 'SELECT lb_create_counter(''bad'', operator => ''avg'')',
'22023', 'sum, max, min, last', 'SELECT lb_create_counter(''bad'', operator => ''SUM'')',
'22023', 'min_delta', 'SELECT lb_create_counter(''bad'', min_delta => 1, max_delta => 0)',
'22023', 'monotonic', 'SELECT lb_create_counter(''bad'', operator => ''max'', monotonic => true)',
'22023', 'monotonic', 'SELECT lb_create_counter(''bad'', operator => ''min'', monotonic => true)',
'22023', 'monotonic', 'SELECT lb_create_counter(''bad'', operator => ''last'', monotonic => true)',
'22023', 'days', 'SELECT lb_create_counter(''bad'', lateness => ''-1 second'')',
'22023', 'days', 'SELECT lb_create_counter(''bad'', lateness => ''1 month'')',
'22023', 'days', 'SELECT lb_create_counter(''bad'', lateness => ''178000000 days'')',
'22023', 'days', 'SELECT lb_create_counter(''bad'', max_age => ''-1 day'')',
'22023', 'days', 'SELECT lb_create_counter(''bad'', max_age => ''1 year'')',
'22023', 'days', 'SELECT lb_create_counter(''bad'', max_skew => ''-1 microsecond'')',
'22023', 'days', 'SELECT lb_create_counter(''bad'', idempotency => ''-1 day'')',
'22023', 'idempotency', 'SELECT lb_create_counter(''bad'', idempotency => ''7 days 59 seconds'')',
'22023', 'idempotency', 'SELECT lb_create_counter(''bad'', max_age => ''1 hour'', idempotency => ''23:59:59.999999'')',
'22023', 'tolerated_error', 'SELECT lb_create_counter(''bad'', tolerated_error => 0.01)',
'22023', '1, 5, 10, 15, 20 or 30 minutes, or 1 hour', 'SELECT lb_create_counter(''bad'', grain => ''2 minutes'')',
'22023', '1, 5, 10, 15, 20 or 30 minutes, or 1 hour', 'SELECT lb_create_counter(''bad'', grain => ''0'')',
'22023', '1, 5, 10, 15, 20 or 30 minutes, or 1 hour', 'SELECT lb_create_counter(''bad'', grain => ''-1 hour'')',
'22023', '1, 5, 10, 15, 20 or 30 minutes, or 1 hour', 'SELECT lb_create_counter(''bad'', grain => ''1 day'')',
'00000', '', 'SELECT lb_create_counter(''good1'', idempotency => ''7 days 1 minute'')',
'00000', '', 'SELECT lb_create_counter(''good2'', max_age => ''1 hour'', idempotency => ''24 hours'')',
'00000', '', 'SELECT lb_create_counter(''good3'', min_delta => -9223372036854775808, max_delta => 9223372036854775807)',
'00000', '', 'SELECT lb_create_counter(''good4'', min_delta => 5, max_delta => 5, monotonic => true)',
'00000', '', 'SELECT lb_create_counter(''good5'', lateness => ''0'', max_age => ''0'', max_skew => ''0'')',
'00000', '', 'SELECT lb_create_counter(''good6'', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, if_not_exists => NULL)',
'00000', '', 'SELECT lb_create_counter(E''tab\tand 🏆'')'
]);

-- NULL in an optional argument is its default, and the defaults are these.
SELECT type, operator, min_delta, max_delta, monotonic, lateness, max_age, max_skew, idempotency, tolerated_error,
	timezone, tenant, version, retired_at
FROM lb_counters() WHERE counter = 'good6';
SELECT lb_create_counter('plain') > 0 AS id;
SELECT 'default differs' FROM lb_counters() AS a, lb_counters() AS b
WHERE a.counter = 'good6' AND b.counter = 'plain'
AND ROW(a.type, a.operator, a.monotonic, a.lateness, a.max_age, a.max_skew, a.idempotency)
	IS DISTINCT FROM ROW(b.type, b.operator, b.monotonic, b.lateness, b.max_age, b.max_skew, b.idempotency);

-- Every argument of a board.
SELECT lb_create_counter('points') > 0 AS id;
SELECT lb_create_counter('laps', operator => 'min') > 0 AS id;
SELECT lb_create_counter('quick', grain => '5 minutes') > 0 AS id;
SELECT * FROM pg_temp.wrong(ARRAY[
'22023', 'board', 'SELECT lb_create_board(NULL, ''points'')',
'22023', 'counter', 'SELECT lb_create_board(''bad'', NULL)',
'22023', 'name', 'SELECT lb_create_board('''', ''points'')',
'22023', 'name', 'SELECT lb_create_board(''a/b/c'', ''points'')',
'22023', 'name', 'SELECT lb_create_board(repeat(''ž'', 101), ''points'')',
'22023', 'name', 'SELECT lb_create_board(''bad'', '''')',
'42704', 'nothing by that name', 'SELECT lb_create_board(''bad'', ''nothing'')',
'42704', 'nobody', 'SELECT lb_create_board(''nobody/bad'', ''points'')',
'42704', 'nobody', 'SELECT lb_create_board(''bad'', ''nobody/points'')',
'22023', 'all, hour, day, week, month, year', 'SELECT lb_create_board(''bad'', ''points'', ''fortnight'')',
'22023', 'all, hour, day, week, month, year', 'SELECT lb_create_board(''bad'', ''points'', ''Day'')',
'22023', 'desc, asc', 'SELECT lb_create_board(''bad'', ''points'', direction => ''up'')',
'22023', 'competition, dense, ordinal', 'SELECT lb_create_board(''bad'', ''points'', ties => ''fair'')',
'22023', 'bounded', 'SELECT lb_create_board(''bad'', ''points'', ranks => ''guessed'')',
'22023', 'head', 'SELECT lb_create_board(''bad'', ''points'', ranks => ''bounded'', head => 0)',
'22023', 'head', 'SELECT lb_create_board(''bad'', ''points'', ranks => ''bounded'', head => -1)',
'22023', 'head', 'SELECT lb_create_board(''bad'', ''points'', ranks => ''bounded'', head => 100001)',
'22023', 'buckets', 'SELECT lb_create_board(''bad'', ''points'', buckets => 1)',
'22023', 'buckets', 'SELECT lb_create_board(''bad'', ''points'', buckets => 1025)',
'22023', 'ceiling', 'SELECT lb_create_board(''bad'', ''points'', ceiling => 1)',
'22023', 'ceiling', 'SELECT lb_create_board(''bad'', ''points'', ceiling => -9223372036854775808)',
'22023', 'freshness', 'SELECT lb_create_board(''bad'', ''points'', freshness => ''0'')',
'22023', 'days', 'SELECT lb_create_board(''bad'', ''points'', freshness => ''-1 second'')',
'22023', 'days', 'SELECT lb_create_board(''bad'', ''points'', freshness => ''1 month'')',
'22023', 'days', 'SELECT lb_create_board(''bad'', ''points'', keep_versions => ''-1 second'')',
'22023', 'last N minutes', 'SELECT lb_create_board(''bad'', ''points'', ''last'')',
'22023', '1440', 'SELECT lb_create_board(''bad'', ''points'', ''last 1441 minutes'')',
'22023', '168', 'SELECT lb_create_board(''bad'', ''points'', ''last 169 hours'')',
'22023', '400', 'SELECT lb_create_board(''bad'', ''points'', ''last 401 days'')',
'22023', '400', 'SELECT lb_create_board(''bad'', ''points'', ''last 99999999999999999999 days'')',
'22023', 'last N', 'SELECT lb_create_board(''bad'', ''points'', ''last 0 days'')',
'22023', 'last N', 'SELECT lb_create_board(''bad'', ''points'', ''last -1 days'')',
'22023', 'last N', 'SELECT lb_create_board(''bad'', ''points'', ''last 07 days'')',
'22023', 'last N', 'SELECT lb_create_board(''bad'', ''points'', ''last 7 dayss'')',
'22023', 'last N', 'SELECT lb_create_board(''bad'', ''points'', ''last 7  days'')',
'22023', 'last N', 'SELECT lb_create_board(''bad'', ''points'', ''last 7 weeks'')',
'22023', 'last N', 'SELECT lb_create_board(''bad'', ''points'', ''last days'')',
'22023', 'grain', 'SELECT lb_create_board(''bad'', ''points'', ''last 30 minutes'')',
'22023', 'grain', 'SELECT lb_create_board(''bad'', ''quick'', ''last 12 minutes'')',
'22023', 'day, week, month and year', 'SELECT lb_create_board(''bad'', ''points'', ''hour'', starts => ''10 minutes'')',
'22023', 'day, week, month and year', 'SELECT lb_create_board(''bad'', ''points'', starts => ''6 hours'')',
'22023', 'day, week, month and year', 'SELECT lb_create_board(''bad'', ''points'', ''last 7 days'', starts => ''6 hours'')',
'22023', '1 day', 'SELECT lb_create_board(''bad'', ''points'', ''day'', starts => ''1 day'')',
'22023', '7 days', 'SELECT lb_create_board(''bad'', ''points'', ''week'', starts => ''168 hours'')',
'22023', '28 days', 'SELECT lb_create_board(''bad'', ''points'', ''month'', starts => ''28 days'')',
'22023', '365 days', 'SELECT lb_create_board(''bad'', ''points'', ''year'', starts => ''365 days'')',
'22023', 'grain', 'SELECT lb_create_board(''bad'', ''points'', ''day'', starts => ''90 minutes'')',
'22023', 'days', 'SELECT lb_create_board(''bad'', ''points'', ''year'', starts => ''1 month'')',
'22023', 'days', 'SELECT lb_create_board(''bad'', ''points'', ''day'', starts => ''-1 hour'')',
'22023', 'lateness', 'SELECT lb_create_board(''bad'', ''points'', lateness => ''1 hour'')',
'22023', 'lateness', 'SELECT lb_create_board(''bad'', ''points'', ''last 7 days'', lateness => ''0'')',
'22023', 'days', 'SELECT lb_create_board(''bad'', ''points'', ''day'', lateness => ''-1 hour'')',
'00000', '', 'SELECT lb_create_board(''r1'', ''points'', ''last 60 minutes'')',
'00000', '', 'SELECT lb_create_board(''r2'', ''quick'', ''last 5 minute'')',
'00000', '', 'SELECT lb_create_board(''r3'', ''quick'', ''last 1440 minutes'')',
'00000', '', 'SELECT lb_create_board(''r4'', ''points'', ''last 1 hour'')',
'00000', '', 'SELECT lb_create_board(''r5'', ''points'', ''last 168 hours'')',
'00000', '', 'SELECT lb_create_board(''r6'', ''points'', ''last 400 days'', scoped => true)',
'00000', '', 'SELECT lb_create_board(''s1'', ''quick'', ''day'', starts => ''23:55'', lateness => ''0'')',
'00000', '', 'SELECT lb_create_board(''s2'', ''points'', ''year'', starts => ''364 days 23 hours'', lateness => ''3 days'')',
'00000', '', 'SELECT lb_create_board(''b1'', ''points'', ranks => ''bounded'', head => 1, buckets => 2, ceiling => 2)',
'00000', '', 'SELECT lb_create_board(''b2'', ''points'', ranks => ''bounded'', head => 100000, buckets => 1024, ceiling => 9223372036854775807)',
'00000', '', 'SELECT lb_create_board(''b3'', ''points'', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, if_not_exists => NULL)',
'00000', '', 'SELECT lb_create_board(''b4'', ''laps'')',
'00000', '', 'SELECT lb_create_board(''b5'', ''laps'', direction => ''desc'')',
'00000', '', 'SELECT lb_create_board(''points'', ''points'', keep_versions => ''0'')'
]);
SELECT b.board, b.period, b.direction, b.ties, b.head, b.buckets, b.ceiling, b.freshness, b.keep_versions, b.timezone, b.tenant, b.counter
FROM lb_boards() AS b WHERE b.board IN ('b3', 'b4', 'b5') ORDER BY 1;
SELECT board, period, scoped, starts, b.lateness, grain FROM lb_boards() AS b JOIN lb_counters() AS c USING (counter_id)
WHERE board ~ '^[rs][0-9]$' OR board = 'b3' ORDER BY 1;
SELECT lb_create_board('defaults', 'points') > 0 AS id;
SELECT 'default differs' FROM lb_boards() AS a, lb_boards() AS b
WHERE a.board = 'b3' AND b.board = 'defaults'
AND ROW(a.period, a.direction, a.ties, a.ranks, a.head, a.buckets, a.ceiling, a.freshness, a.keep_versions)
	IS DISTINCT FROM ROW(b.period, b.direction, b.ties, b.ranks, b.head, b.buckets, b.ceiling, b.freshness, b.keep_versions);
-- One row each; the ids are those that were returned.
SELECT 'board' AS what, board_id FROM lb_boards() GROUP BY board_id HAVING count(*) > 1
UNION ALL SELECT 'counter', counter_id FROM lb_counters() GROUP BY counter_id HAVING count(*) > 1;

-- A NOTICE says that nothing counts.
SET client_min_messages = notice;
SELECT lb_create_board('unscheduled', 'points') > 0 AS id;
SET client_min_messages = warning;

-- A name that is taken.
SELECT * FROM pg_temp.wrong(ARRAY[
'42710', 'points', 'SELECT lb_create_counter(''points'')',
'42710', 'points', 'SELECT lb_create_counter(''default/points'')',
'42710', 'if_not_exists', 'SELECT lb_create_board(''b1'', ''points'')',
'42710', 'acme', 'SELECT lb_create_tenant(''acme''), lb_create_tenant(''acme'')'
]);
SELECT lb_create_tenant('acme', 'Europe/Berlin') > 0 AS id;
SET client_min_messages = notice;
SELECT 'another id' WHERE lb_create_counter('points', if_not_exists => true)
	<> (SELECT counter_id FROM lb_counters() WHERE counter = 'points');
SELECT 'another id' WHERE lb_create_board('b4', 'laps', if_not_exists => true)
	<> (SELECT board_id FROM lb_boards() WHERE board = 'b4');
SELECT 'another id' WHERE lb_create_tenant('acme', 'europe/berlin', if_not_exists => true)
	<> lb_create_tenant('acme', 'Europe/Berlin', true);
-- With another definition: the one in force stays, and that is said louder.
SELECT 'another id' WHERE lb_create_counter('points', operator => 'max', if_not_exists => true)
	<> (SELECT counter_id FROM lb_counters() WHERE counter = 'points');
SELECT 'another id' WHERE lb_create_board('b4', 'laps', 'week', if_not_exists => true)
	<> (SELECT board_id FROM lb_boards() WHERE board = 'b4');
SELECT 'another id' WHERE lb_create_board('b4', 'points', direction => 'asc', if_not_exists => true)
	<> (SELECT board_id FROM lb_boards() WHERE board = 'b4');
SELECT lb_create_tenant('acme', 'UTC', if_not_exists => true) > 0 AS id;
SET client_min_messages = warning;
SELECT operator FROM lb_counters() WHERE counter = 'points';
SELECT period, counter FROM lb_boards() WHERE board = 'b4';
SELECT DISTINCT timezone FROM lb_boards() UNION SELECT timezone FROM lb.tenant ORDER BY 1;
-- A bad argument is an error, whether the name is taken or not.
SELECT * FROM pg_temp.wrong(ARRAY[
'22023', 'sum, max', 'SELECT lb_create_counter(''points'', operator => ''avg'', if_not_exists => true)',
'22023', 'period', 'SELECT lb_create_board(''b4'', ''laps'', ''epoch'', if_not_exists => true)',
'22023', 'zone', 'SELECT lb_create_tenant(''acme'', ''Mars/Phobos'', if_not_exists => true)'
]);

-- Unknown names: 42704 says what exists by that name.
SELECT lb_create_counter('acme/points') > 0 AS id;
SELECT lb_create_board('acme/weekly', 'acme/points', 'week') > 0 AS id;
SELECT lb_create_board('acme/all', 'acme/points') > 0 AS id;
SELECT lb_create_counter('acme/lonely') > 0 AS id;
SELECT * FROM lb_rank('acme/points', 'alice');
\set VERBOSITY terse
SELECT * FROM pg_temp.wrong(ARRAY[
'42704', '"points" is a counter; its boards: all, weekly.', 'SELECT lb_rank(''acme/points'', ''alice'')',
'42704', '"lonely" is a counter; its boards: none.', 'SELECT lb_top(''acme/lonely'')',
'42704', '"weekly" is a board of the counter points.', 'SELECT lb_submit(''acme/weekly'', ''alice'', 1, ''k'')',
'42704', '"weekly" is a board of the counter points.', 'SELECT lb_value(''acme/weekly'', ''alice'')',
'42704', 'nothing by that name', 'SELECT lb_rank(''acme/nix'', ''alice'')',
'42704', 'no tenant "nobody"', 'SELECT lb_rank(''nobody/weekly'', ''alice'')',
'42704', 'nobody', 'SELECT lb_submit(''nobody/points'', ''alice'', 1, ''k'')',
'42704', '', 'SELECT lb_rank(''Points'', ''alice'')'
]);
-- Everything that takes a name: unknown, malformed, NULL.
CREATE TEMP TABLE taker (call text, what text);
INSERT INTO taker VALUES
('lb_drop_board(%s)', 'board'), ('lb_rank(%s, ''m'')', 'board'), ('lb_ranks(%s, ARRAY[''m''])', 'board'),
('lb_top(%s)', 'board'), ('lb_page(%s, 1)', 'board'), ('lb_around(%s, ''m'')', 'board'),
('lb_among(%s, ARRAY[''m''])', 'board'), ('lb_rank_for_value(%s, 1)', 'board'), ('lb_distribution(%s)', 'board'),
('lb_version(%s)', 'board'),
('lb_drop_counter(%s)', 'counter'), ('lb_drop_counter(%s, true)', 'counter'), ('lb_value(%s, ''m'')', 'counter'),
('lb_values(%s, ARRAY[''m''])', 'counter'), ('lb_submit(%s, ''m'', 1, ''k'')', 'counter'),
('lb_submit_batch(%s, ARRAY[''m''], ARRAY[1])', 'counter'), ('lb_backfill(%s, ARRAY[''m''], ARRAY[1])', 'counter'),
('lb_create_board(''new'', %s)', 'counter'), ('lb_alter_tenant(%s, ''UTC'')', 'tenant');
SELECT call, given, a.*
FROM taker, (VALUES ('''nix''', '42704'), ('''nobody/nix''', '42704'), ('NULL', '22023'), ('''''', '22023'),
	('''a/b/c''', '22023'), ('repeat(''ž'', 101)', '22023')) AS v (given, code),
	LATERAL pg_temp.attempt('SELECT ' || format(call, given)) AS a
WHERE a.code <> CASE WHEN what = 'tenant' AND given NOT IN ('NULL') THEN '42704' ELSE v.code END OR a.hinted IS NOT TRUE;
SELECT a.code, a.said FROM pg_temp.attempt('SELECT lb_refresh(''nix'')') AS a WHERE a.code <> '42704';
-- Also when there is no board and no counter at all.
BEGIN;
SELECT lb_drop_board(tenant || '/' || board) FROM lb_boards();
SELECT call, a.* FROM taker, LATERAL pg_temp.attempt('SELECT ' || format(call, '''nix''')) AS a WHERE a.code <> '42704';
PREPARE dropping(text) AS SELECT lb_drop_board($1);
SELECT a.* FROM pg_temp.attempt('EXECUTE dropping(''nix'')') AS a WHERE a.code <> '42704';
ROLLBACK;

-- Tenants.
SELECT * FROM pg_temp.wrong(ARRAY[
'22023', 'tenant', 'SELECT lb_create_tenant(NULL)',
'22023', 'tenant', 'SELECT lb_create_tenant('''')',
'22023', '/', 'SELECT lb_create_tenant(''a/b'')',
'22023', '200', 'SELECT lb_create_tenant(repeat(''x'', 201))',
'22023', '200', 'SELECT lb_create_tenant(repeat(''ž'', 101))',
'22023', 'pg_timezone_names', 'SELECT lb_create_tenant(''bad'', ''Mars/Phobos'')',
'22023', 'zone', 'SELECT lb_create_tenant(''bad'', '''')',
'22023', 'zone', 'SELECT lb_create_tenant(''bad'', ''+05:30'')',
'22023', 'zone', 'SELECT lb_create_tenant(''bad'', ''<+02>-02'')',
'22023', 'zone', 'SELECT lb_alter_tenant(''acme'', ''Mars/Phobos'')',
'22023', 'timezone', 'SELECT lb_alter_tenant(''acme'', NULL)',
'22023', 'tenant', 'SELECT lb_alter_tenant(NULL, ''UTC'')',
'42704', 'nobody', 'SELECT lb_alter_tenant(''nobody'', ''UTC'')',
'00000', '', 'SELECT lb_create_tenant(repeat(''ž'', 100), NULL)',
'22023', 'tenant', 'SELECT lb_create_board(''crossed'', ''acme/points'')',
'22023', 'tenant', 'SELECT lb_create_board(''acme/crossed'', ''points'')'
]);
-- The name of a zone is kept as the database of zones spells it.
SELECT lb_create_tenant('zoned', 'asia/KOLKATA') > 0 AS id;
SELECT timezone FROM lb.tenant WHERE tenant = 'zoned';
-- The setting decides about names without a tenant; a tenant in the name wins.
SET leaderboard.tenant = 'acme';
SELECT lb_create_counter('goals') > 0 AS id;
SELECT lb_create_board('default/goals', 'default/points') > 0 AS id;
SELECT tenant, counter FROM lb_counters() WHERE counter = 'goals';
SELECT tenant, board FROM lb_boards() WHERE board = 'goals';
SELECT a.* FROM pg_temp.attempt('SELECT lb_top(''goals'')') AS a WHERE a.code <> '42704';
SELECT * FROM lb_top('default/goals');
SET leaderboard.tenant = 'nobody';
SELECT * FROM pg_temp.wrong(ARRAY[
'42704', 'leaderboard.tenant', 'SELECT lb_create_counter(''x'')',
'42704', 'nobody', 'SELECT lb_top(''b1'')'
]);
SET leaderboard.tenant = '';
SELECT a.* FROM pg_temp.attempt('SELECT lb_top(''b1'')') AS a WHERE a.code <> '22023';
SET leaderboard.tenant = 'a/b';
SELECT a.* FROM pg_temp.attempt('SELECT lb_top(''b1'')') AS a WHERE a.code <> '22023';
RESET leaderboard.tenant;

-- The zone of a tenant can change until its first event, whose counter may be
-- retired; the windows of boards move with it.
SELECT lb_alter_tenant('acme', 'America/New_York');
SELECT DISTINCT timezone FROM lb_boards() WHERE tenant = 'acme';
SELECT status FROM lb_submit('acme/goals', 'alice', 1, 'g1');
SELECT * FROM pg_temp.wrong(ARRAY[
'0A000', 'acme', 'SELECT lb_alter_tenant(''acme'', ''Asia/Tokyo'')',
'00000', '', 'SELECT lb_alter_tenant(''acme'', ''america/new_york'')'
]);
SELECT lb_drop_counter('acme/goals', force => true);
SELECT a.* FROM pg_temp.attempt('SELECT lb_alter_tenant(''acme'', ''Asia/Tokyo'')') AS a WHERE a.code <> '0A000';
SELECT lb_alter_tenant('zoned', 'UTC');
-- An event that was rolled back is none.
BEGIN;
SELECT lb_create_counter('zoned/c') > 0 AS id;
SELECT status FROM lb_submit('zoned/c', 'alice', 1, 'g1');
ROLLBACK;
SELECT lb_alter_tenant('zoned', 'Asia/Tokyo');

-- Dropping.
SELECT lb_create_counter('doomed') AS doomed \gset
SELECT lb_create_board('d1', 'doomed') > 0 AS id;
SELECT lb_create_board('d2', 'doomed', 'day') > 0 AS id;
SELECT * FROM pg_temp.wrong(ARRAY[
'55006', 'd1, d2', 'SELECT lb_drop_counter(''doomed'')',
'55006', 'force', 'SELECT lb_drop_counter(''doomed'', NULL)'
]);
SELECT lb_drop_board('d1');
SELECT lb_drop_board('default/d2');
SELECT lb_drop_counter('doomed');
SELECT 'still there' FROM lb_counters() WHERE counter_id = :doomed;
-- Its name is free, its id is not given again.
SELECT lb_create_counter('doomed') > :doomed AS another;
SELECT counter_id AS doomed FROM lb_counters() WHERE counter = 'doomed' \gset
SELECT lb_create_board('d1', 'doomed') > 0 AS id;
SELECT lb_create_board('d2', 'doomed', 'day') > 0 AS id;
SELECT status FROM lb_submit('doomed', 'alice', 7, 'k1');
SELECT events, rankings FROM lb_refresh();
SELECT rank, value FROM lb_rank('d1', 'alice');
-- A counter with events stays until it is forced: then retired, with its log.
SELECT lb_drop_board('d1');
SELECT lb_drop_board('d2');
SELECT a.* FROM pg_temp.attempt('SELECT lb_drop_counter(''doomed'')') AS a WHERE a.code <> '55006';
SELECT lb_create_board('d1', 'doomed') > 0 AS id;
SELECT lb_drop_counter('doomed', force => true);
SELECT counter, retired_at IS NOT NULL AS retired FROM lb_counters() WHERE counter_id = :doomed;
SELECT count(*) AS logged FROM lb.event WHERE counter_id = :doomed;
SELECT 'board left' FROM lb_boards() WHERE counter_id = :doomed;
SELECT status, reason, event_id FROM lb_submit('doomed', 'alice', 7, 'k2');
SELECT status, reason FROM lb_submit('doomed', '', 7);
SELECT * FROM pg_temp.wrong(ARRAY[
'22023', 'retired', 'SELECT lb_submit(''doomed'', ''alice'', 7, ''k2'', strict => true)',
'42704', 'retired', 'SELECT lb_drop_counter(''doomed'', force => true)',
'42704', 'doomed', 'SELECT lb_create_board(''d1'', ''doomed'')'
]);
-- The name again, with another meaning; the old key is no key of the new one.
SELECT lb_create_counter('doomed', operator => 'max') > :doomed AS another;
SELECT lb_create_board('d1', 'doomed') > 0 AS id;
SELECT member, kind, population FROM lb_rank('d1', 'alice');
SELECT status FROM lb_submit('doomed', 'bob', 3, 'k1');
SELECT events FROM lb_refresh('doomed');
SELECT member, rank, value, population FROM lb_top('d1');
SELECT count(*) FROM lb_counters() WHERE counter = 'doomed';
-- Of a dropped board and a retired counter nothing derived is left.
DO $$
DECLARE
	t record;
	n bigint;
BEGIN
	FOR t IN SELECT a.attrelid::regclass AS tab, a.attname AS col FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
		WHERE c.relnamespace = 'lb'::regnamespace AND c.relkind = 'r' AND NOT c.relispartition AND NOT a.attisdropped
		AND (a.attname = 'board_id' OR a.attname = 'counter_id' AND c.relname NOT IN ('counter', 'counter_version')) LOOP
		EXECUTE format('SELECT count(*) FROM %s AS x WHERE NOT EXISTS (SELECT FROM %s AS d WHERE d.%I = x.%I)',
			t.tab, CASE t.col WHEN 'board_id' THEN 'lb_boards()' ELSE '(SELECT * FROM lb_counters() WHERE retired_at IS NULL)' END, t.col, t.col) INTO n;
		IF n > 0 THEN
			RAISE WARNING '% rows of a % that is gone are left in %', n, t.col, t.tab;
		END IF;
	END LOOP;
END
$$;
DO $$
DECLARE
	t record;
	n bigint;
BEGIN
	FOR t IN SELECT a.attrelid::regclass AS tab FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
		WHERE c.relnamespace = 'lb'::regnamespace AND c.relkind = 'r' AND a.attname = 'ranking_id' LOOP
		EXECUTE format('SELECT count(*) FROM %s AS x WHERE ranking_id <> 0 AND NOT EXISTS (SELECT FROM lb.ranking AS r JOIN lb_boards() AS b '
			'ON b.board_id = r.board_id WHERE r.counter_id = x.counter_id AND r.ranking_id = x.ranking_id)', t.tab) INTO n;
		IF n > 0 THEN
			RAISE WARNING '% rows of a ranking that is gone are left in %', n, t.tab;
		END IF;
	END LOOP;
END
$$;

-- Definitions made in a transaction that fails are not there.
BEGIN;
SELECT lb_create_tenant('undone') > 0 AS id;
SELECT lb_create_counter('undone/c') > 0 AS id;
SELECT lb_create_board('undone/b', 'undone/c') > 0 AS id;
ROLLBACK;
SELECT 'undone' FROM lb_counters() WHERE tenant = 'undone';
SELECT a.* FROM pg_temp.attempt('SELECT lb_create_counter(''undone/c'')') AS a WHERE a.code <> '42704';

-- In a read-only transaction.
BEGIN READ ONLY;
SELECT * FROM pg_temp.wrong(ARRAY[
'25006', 'READ WRITE', 'SELECT lb_create_tenant(''t2'')',
'25006', 'READ WRITE', 'SELECT lb_create_counter(''c2'')',
'25006', 'READ WRITE', 'SELECT lb_drop_counter(''nix'')',
'00000', '', 'SELECT lb_counters()'
]);
COMMIT;

-- What only a trigger may call says so, and no more.
SELECT f, a.code, a.said FROM unnest(ARRAY['lb._board_created()', 'lb._definition_changed()']) AS f, LATERAL pg_temp.attempt('SELECT ' || f) AS a
WHERE a.said NOT LIKE '%was not called by a trigger%';

DROP EXTENSION leaderboard;
