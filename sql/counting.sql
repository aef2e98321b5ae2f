-- Counting, rule by rule: when a value was reached, zeros, sums that leave
-- bigint, transactions, versions, late events.  Random streams are in
-- test/pgtap/counting.sql.  Queries that check print violations only.
CREATE EXTENSION leaderboard;
\set ECHO none
\i test/include/attempt.sql
\set ECHO all
\pset null '(null)'
SET client_min_messages = warning;
SET timezone = 'UTC';
SET datestyle = 'ISO';

-- reached_at.  Each case is a set of (delta, minute) events of one member, in
-- the order in which they come; a refresh after each event, or after all, or
-- before the last, and any order of arrival, must say the same.
CREATE TEMP TABLE rule (id serial, op text, deltas bigint[], minutes integer[], value bigint, reached integer);
INSERT INTO rule (op, deltas, minutes, value, reached) VALUES
-- sum: the latest delta that is not zero, else the earliest of all
('sum', '{5}', '{10}', 5, 10), ('sum', '{5,3}', '{10,20}', 8, 20), ('sum', '{5,3}', '{20,10}', 8, 20), ('sum', '{5,0}', '{10,20}', 5, 10),
('sum', '{0,5}', '{20,10}', 5, 10), ('sum', '{0}', '{10}', 0, 10), ('sum', '{0,0,0}', '{20,10,30}', 0, 10), ('sum', '{5,-5}', '{10,20}', 0, 20),
('sum', '{5,-5,0}', '{10,20,30}', 0, 20), ('sum', '{-1,-2}', '{30,10}', -3, 30), ('sum', '{0,7,0}', '{5,20,40}', 7, 20), ('sum', '{4,4}', '{10,10}', 8, 10),
-- max, min: the earliest time with that value
('max', '{5}', '{10}', 5, 10), ('max', '{5,3}', '{10,20}', 5, 10), ('max', '{3,5}', '{10,20}', 5, 20), ('max', '{5,5}', '{10,20}', 5, 10), ('max', '{5,5}', '{20,10}', 5, 10),
('max', '{5,7,5}', '{10,30,40}', 7, 30), ('max', '{7,5,7}', '{30,10,20}', 7, 20), ('max', '{-5,-7}', '{10,5}', -5, 10), ('max', '{0,-1,0}', '{20,10,15}', 0, 15),
('max', '{-9223372036854775808}', '{10}', -9223372036854775808, 10), ('max', '{-9223372036854775808,9223372036854775807}', '{10,5}', 9223372036854775807, 5),
('min', '{5,3}', '{10,20}', 3, 20), ('min', '{3,5}', '{10,5}', 3, 10), ('min', '{3,3}', '{10,5}', 3, 5), ('min', '{0,-1,-1}', '{5,20,10}', -1, 10),
('min', '{9223372036854775807}', '{10}', 9223372036854775807, 10), ('min', '{9223372036854775807,-9223372036854775808}', '{1,5}', -9223372036854775808, 5),
-- last: that event's, decided by time
('last', '{5,3}', '{10,20}', 3, 20), ('last', '{5,3}', '{20,10}', 5, 20), ('last', '{5,5}', '{10,20}', 5, 20), ('last', '{0}', '{10}', 0, 10), ('last', '{9,0,4}', '{10,30,20}', 0, 30);
-- Every order of arrival of up to three events, with a cut after each number of them.
CREATE TEMP TABLE played AS
SELECT r.id, r.op, o.ord, cut, format('r%s_%s_%s', r.id, array_to_string(o.ord, ''), cut) AS member
FROM rule AS r, LATERAL (SELECT array_agg(i) AS ord FROM generate_subscripts(r.deltas, 1) AS i
	UNION SELECT ARRAY[a, b] FROM generate_subscripts(r.deltas, 1) AS a, generate_subscripts(r.deltas, 1) AS b WHERE a <> b AND cardinality(r.deltas) = 2
	UNION SELECT ARRAY[a, b, c] FROM generate_subscripts(r.deltas, 1) AS a, generate_subscripts(r.deltas, 1) AS b, generate_subscripts(r.deltas, 1) AS c
		WHERE a <> b AND b <> c AND a <> c AND cardinality(r.deltas) = 3) AS o, generate_series(0, cardinality(r.deltas)) AS cut;
SELECT op, lb_create_counter('rule_' || op, operator => op) > 0 AS counter, lb_create_board('rule_' || op, 'rule_' || op) > 0 AS board FROM unnest(ARRAY['sum', 'max', 'min', 'last']) AS op;
CREATE PROCEDURE pg_temp.play(pass integer) LANGUAGE plpgsql AS $$
DECLARE
	p record;
	i integer;
BEGIN
	-- pass 1 plays the events up to the cut, pass 2 the others
	FOR p IN SELECT played.*, rule.deltas, rule.minutes FROM played JOIN rule USING (id) ORDER BY member LOOP
		FOR n IN CASE pass WHEN 1 THEN 1 ELSE p.cut + 1 END .. CASE pass WHEN 1 THEN p.cut ELSE cardinality(p.ord) END LOOP
			i := p.ord[n];
			PERFORM lb._submit_batch((SELECT counter_id FROM lb_counters() WHERE counter = 'rule_' || p.op), ARRAY[p.member], ARRAY[p.deltas[i]], ARRAY[p.member || n],
				ARRAY['2040-05-05 12:00Z'::timestamptz + p.minutes[i] * interval '1 minute'], NULL, NULL, 'e', '2040-05-05 18:00Z');
		END LOOP;
	END LOOP;
END
$$;
CALL pg_temp.play(1);
SELECT events > 100 AS many FROM lb_refresh();
CALL pg_temp.play(2);
SELECT events > 100 AS many FROM lb_refresh();
SELECT r.op, r.deltas, r.minutes, p.ord, p.cut, a.value, a.reached_at FROM played AS p JOIN rule AS r USING (id), LATERAL lb_rank('rule_' || r.op, member) AS a
WHERE (a.value, a.reached_at) IS DISTINCT FROM (r.value, '2040-05-05 12:00Z'::timestamptz + r.reached * interval '1 minute');
-- last, at the same time: the later event_id, however they are counted.
SELECT lb_create_counter('tie', operator => 'last') AS tie \gset
SELECT lb_create_board('tie', 'tie') > 0 AS board;
SELECT status FROM lb._submit_batch(:tie, ARRAY['m', 'm', 'n', 'n'], ARRAY[1, 2, 2, 1], ARRAY['a', 'b', 'd', 'c'], array_fill('2040-05-05 12:00Z'::timestamptz, ARRAY[4]), NULL, NULL, 'e', '2040-05-05 18:00Z');
SELECT events FROM lb_refresh('tie');
SELECT member, value FROM lb_top('tie') ORDER BY member;
SELECT status FROM lb._submit_batch(:tie, ARRAY['m', 'n'], ARRAY[7, 5], ARRAY['e', 'f'], ARRAY['2040-05-05 12:00Z', '2040-05-05 11:59Z']::timestamptz[], NULL, NULL, 'e', '2040-05-05 18:00Z');
SELECT events FROM lb_refresh('tie');
SELECT member, value FROM lb_top('tie') ORDER BY member;

-- Zero deltas: on the board, and nothing moves; not even the version.
SELECT lb_create_counter('zero') AS zero \gset
SELECT lb_create_board('zero', 'zero') > 0 AS board;
SELECT status FROM lb._submit_batch(:zero, ARRAY['z', 'one'], ARRAY[0, 1], ARRAY['a', 'b'], ARRAY['2040-05-05 12:00Z', '2040-05-05 12:00Z']::timestamptz[], NULL, NULL, 'e', '2040-05-05 18:00Z');
SELECT events FROM lb_refresh('zero');
SELECT member, rank, value, reached_at, population FROM lb_top('zero');
SELECT version AS before FROM lb_version('zero') \gset
SELECT status FROM lb._submit_batch(:zero, ARRAY['one', 'z', 'one'], ARRAY[0, 0, 0], ARRAY['c', 'd', 'e'], ARRAY['2040-05-05 13:00Z', '2040-05-05 13:00Z', '2040-05-05 11:00Z']::timestamptz[], NULL, NULL, 'e', '2040-05-05 18:00Z');
SELECT events, rankings FROM lb_refresh('zero');
SELECT member, rank, value, reached_at, population, version - :before AS versions FROM lb_top('zero');
-- A worse or equal score under max, and the counter's own line.
SELECT lb_create_counter('best', operator => 'max') AS best \gset
SELECT lb_create_board('best', 'best') > 0 AS board;
SELECT status FROM lb._submit_batch(:best, ARRAY['a', 'b'], ARRAY[10, 20], NULL, ARRAY['2040-05-05 12:00Z', '2040-05-05 12:00Z']::timestamptz[], NULL, NULL, 'e', '2040-05-05 18:00Z');
SELECT events, rankings FROM lb_refresh('best');
SELECT version AS before FROM lb_version('best') \gset
SELECT status FROM lb._submit_batch(:best, ARRAY['a', 'b', 'a', 'a'], ARRAY[9, 20, 10, -5], NULL, ARRAY['2040-05-05 11:00Z', '2040-05-05 13:00Z', '2040-05-05 12:00Z', '2040-05-05 10:00Z']::timestamptz[], NULL, NULL, 'e', '2040-05-05 18:00Z');
SELECT events, rankings FROM lb_refresh('best');
SELECT version - :before AS versions FROM lb_version('best');
SELECT v.version > :before AS counter_changed, v.value FROM lb_value('best', 'a') AS v;
-- An equal score that was reached earlier does move it.
SELECT status FROM lb._submit_batch(:best, ARRAY['b'], ARRAY[20], NULL, ARRAY['2040-05-05 09:00Z']::timestamptz[], NULL, NULL, 'e', '2040-05-05 18:00Z');
SELECT events, rankings FROM lb_refresh('best');
SELECT member, value, reached_at, version > :before AS grew FROM lb_top('best', 1);

-- Sums that leave bigint: the member goes off the ranking into lb.poison, the
-- round goes on, and back in range the member returns.
SELECT lb_create_counter('huge') AS huge \gset
SELECT lb_create_board('huge', 'huge') > 0 AS board;
SELECT lb_create_board('huge_day', 'huge', 'day', ranks => 'bounded', head => 1) > 0 AS board;
CREATE FUNCTION pg_temp.add(members text[], deltas bigint[], at timestamptz DEFAULT '2040-05-05 18:00Z') RETURNS bigint LANGUAGE sql AS $$
	SELECT count(*) FILTER (WHERE status = 'accepted') FROM lb._submit_batch((SELECT counter_id FROM lb_counters() WHERE counter = 'huge'), members, deltas,
		(SELECT array_agg(gen_random_uuid()::text) FROM unnest(members)), NULL, NULL, NULL, 'e', at)
$$;
SELECT pg_temp.add(ARRAY['up', 'down', 'ok'], ARRAY[9223372036854775807, -9223372036854775808, 5]);
SELECT events FROM lb_refresh('huge');
SELECT member, rank, value, population FROM lb_top('huge');
SELECT * FROM lb.poison;
SELECT pg_temp.add(ARRAY['up', 'down', 'ok', 'new'], ARRAY[1, -1, 1, 1]);
SELECT events, rankings FROM lb_refresh('huge');
SELECT member, rank, value, population FROM lb_top('huge');
SELECT member, rank, kind, value, population FROM lb_ranks('huge', ARRAY['up', 'down', 'ok']);
SELECT tenant, board, member, value, opens FROM lb.poison ORDER BY board, member;
SELECT check_name, ok, detail FROM lb.health WHERE check_name = 'poisoned members';
SELECT * FROM pg_temp.wrong(ARRAY[
'22003', 'up%lb.poison', 'SELECT lb_value(''huge'', ''up'')',
'22003', 'down', 'SELECT lb_value(''huge'', ''down'', ''day'', ''2040-05-05'')',
'00000', '', 'SELECT lb_values(''huge'', ARRAY[''ok'', ''new''])'
]);
SELECT sum(members) FROM lb_distribution('huge');
-- A name is shown as long as it is, whatever stands behind it in the array.
SELECT pg_temp.add(ARRAY['overflow', 'overflow'], ARRAY[9223372036854775807, 1]);
SELECT events FROM lb_refresh('huge');
SELECT * FROM pg_temp.wrong(ARRAY[
'22003', 'member "overflow" does not', 'SELECT lb_value(''huge'', ''overflow'')'
]);
SELECT pg_temp.add(ARRAY['overflow', 'overflow'], ARRAY[-9223372036854775808, 0]);
-- Far out, and over several rounds: 128 bits, no wrap.
SELECT pg_temp.add(array_fill('up'::text, ARRAY[1000]), array_fill(9223372036854775807, ARRAY[1000]));
SELECT events FROM lb_refresh('huge');
SELECT member, value, value = 1001 * 9223372036854775807::numeric + 1 AS exact FROM lb.poison WHERE board = 'huge' AND member = 'up';
-- Of the day alone it is as far out, and the next day it is not.
SELECT pg_temp.add(ARRAY['up'], ARRAY[3], '2040-05-06 18:00Z');
SELECT events FROM lb_refresh('huge');
SELECT member, rank, value FROM lb_top('huge_day', at => '2040-05-06');
-- A new board over it finds the same poison.
SELECT lb_create_board('huge_late', 'huge', 'month') > 0 AS board;
SELECT p.member, p.value = o.value AS same FROM lb.poison AS p JOIN lb.poison AS o USING (member) WHERE p.board = 'huge_late' AND o.board = 'huge' ORDER BY 1;
SELECT pg_temp.add(array_fill('up'::text, ARRAY[1000]), array_fill(-9223372036854775807, ARRAY[1000]));
SELECT pg_temp.add(ARRAY['up', 'down'], ARRAY[-4, 1]);
SELECT events FROM lb_refresh('huge');
SELECT b.board, t.member, t.rank, t.value, t.population FROM unnest(ARRAY['huge', 'huge_late']) AS b (board), LATERAL lb_top(board, at => '2040-05-05') AS t;
SELECT board, member, value FROM lb.poison ORDER BY 1, 2;
SELECT sum(members) FROM lb_distribution('huge');
SELECT member, value FROM lb_values('huge', ARRAY['up', 'down', 'ok', 'nobody']);

-- Transactions.  A round counts what was committed before it, and its own
-- transaction's events belong to the next.
SELECT lb_create_counter('own') > 0 AS counter;
SELECT lb_create_board('own', 'own') > 0 AS board;
BEGIN;
SELECT status FROM lb_submit('own', 'm', 1, 'a');
SELECT events FROM lb_refresh('own');
SELECT status FROM lb_submit('own', 'm', 10, 'b');
SELECT events FROM lb_refresh('own');
SELECT status FROM lb_submit('own', 'm', 100, 'c');
COMMIT;
SELECT value FROM lb_rank('own', 'm');
SELECT events FROM lb_refresh('own');
SELECT value FROM lb_rank('own', 'm');
SELECT events FROM lb_refresh('own');
-- A savepoint that was rolled back has ended, and its number is above the
-- transaction's own: the snapshot then takes the own one for ended too.
BEGIN;
SELECT status FROM lb_submit('own', 'n', 1, 'n1');
SAVEPOINT s;
SELECT status FROM lb_submit('own', 'n', 10, 'n2');
ROLLBACK TO s;
SELECT pg_visible_in_snapshot(pg_current_xact_id(), pg_current_snapshot()) AS seems_ended;
SELECT events FROM lb_refresh('own');
SELECT status FROM lb_submit('own', 'n', 100, 'n3');
COMMIT;
SELECT events FROM lb_refresh('own');
SELECT value FROM lb_rank('own', 'n');
-- The refresh rolled back, then the whole transaction.
BEGIN;
SELECT status FROM lb_submit('own', 'm', 1000, 'd');
SAVEPOINT s;
SELECT events FROM lb_refresh('own');
ROLLBACK TO s;
SELECT status FROM lb_submit('own', 'm', 10000, 'e');
ROLLBACK TO s;
SELECT status FROM lb_submit('own', 'm', 100000, 'f');
COMMIT;
SELECT events FROM lb_refresh('own');
SELECT value FROM lb_rank('own', 'm');
SELECT status FROM lb_submit('own', 'm', 1000000, 'g');
BEGIN;
SELECT events FROM lb_refresh('own');
SELECT value FROM lb_rank('own', 'm');
ROLLBACK;
SELECT value FROM lb_rank('own', 'm');
SELECT events FROM lb_refresh('own');
SELECT value FROM lb_rank('own', 'm');
-- Under way while others are counted, then committed or not.
BEGIN;
SELECT status FROM lb_submit('own', 'm', 10000000, 'h');
PREPARE TRANSACTION 'regress_lb_kept';
BEGIN;
SELECT status FROM lb_submit('own', 'm', 5, 'i');
PREPARE TRANSACTION 'regress_lb_lost';
SELECT status FROM lb_submit('own', 'm', 100000000, 'j');
SELECT events FROM lb_refresh('own');
SELECT value FROM lb_rank('own', 'm');
COMMIT PREPARED 'regress_lb_kept';
ROLLBACK PREPARED 'regress_lb_lost';
SELECT status FROM lb_submit('own', 'm', 1000000000, 'k');
SELECT events FROM lb_refresh('own');
SELECT value FROM lb_rank('own', 'm');
SELECT events FROM lb_refresh('own');
SELECT value - (SELECT sum(e.delta) FROM lb.event AS e JOIN lb_counters() AS c USING (counter_id) WHERE c.counter = 'own' AND member = 'm') AS difference FROM lb_rank('own', 'm');
-- A board made in the transaction that submitted.
BEGIN;
SELECT lb_create_counter('fresh') > 0 AS counter;
SELECT status FROM lb_submit('fresh', 'm', 1, 'a');
SELECT events FROM lb_refresh('fresh');
SELECT lb_create_board('fresh', 'fresh') > 0 AS board;
SELECT kind, value FROM lb_rank('fresh', 'm');
COMMIT;
SELECT events FROM lb_refresh('fresh');
SELECT kind, value FROM lb_rank('fresh', 'm');
-- A board made after events that no round has counted.
SELECT status FROM lb_submit('fresh', 'n', 2, 'b');
SELECT lb_create_board('fresh2', 'fresh') > 0 AS board;
SELECT member, value FROM lb_top('fresh2');
SELECT events FROM lb_refresh('fresh');
SELECT member, value FROM lb_top('fresh2');
-- Only READ COMMITTED.
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT * FROM pg_temp.wrong(ARRAY['25001', 'READ COMMITTED', 'SELECT lb_refresh()']);
SELECT status FROM lb_submit('own', 'm', 1, 'l');
SELECT status FROM lb_submit('own', 'm', 1, 'l');
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT * FROM pg_temp.wrong(ARRAY['25001', 'READ COMMITTED', 'SELECT lb_refresh()', '25001', 'READ COMMITTED', 'CALL lb_refresh_loop(''1 second'')']);
COMMIT;
-- The loop: in a transaction one round, outside several, each committed.
SELECT max(number) AS round FROM lb.round \gset
BEGIN;
CALL lb_refresh_loop('1 hour');
COMMIT;
SELECT max(number) - :round AS rounds FROM lb.round;
SELECT value - (SELECT sum(e.delta) FROM lb.event AS e JOIN lb_counters() AS c USING (counter_id) WHERE c.counter = 'own' AND member = 'm') AS difference FROM lb_rank('own', 'm');
CALL lb_refresh_loop('300 milliseconds', '20 milliseconds');
SELECT max(number) - :round BETWEEN 2 AND 25 AS rounds FROM lb.round;
SELECT * FROM pg_temp.wrong(ARRAY[
'22023', 'every', 'CALL lb_refresh_loop(''1 second'', ''0'')',
'22023', 'every', 'CALL lb_refresh_loop(''1 second'', NULL)',
'22023', 'duration', 'CALL lb_refresh_loop(NULL)',
'22023', 'days', 'CALL lb_refresh_loop(''-1 second'')',
'22023', 'days', 'CALL lb_refresh_loop(''1 month'')'
]);

-- Late events: judged to the microsecond, for each length of window by itself.
SELECT lb_create_counter('late', lateness => '6 hours', max_age => '400 days') AS late \gset
SELECT lb_create_board('late_' || p, 'late', p) > 0 AS board FROM unnest(ARRAY['hour', 'day', 'week', 'month', 'year', 'all']) AS p;
CREATE TEMP TABLE lateness (member text, at timestamptz, time timestamptz, kind "char", hour bigint, day bigint, week bigint, month bigint, year bigint);
INSERT INTO lateness VALUES
('in time', '2040-02-29 13:00Z', '2040-02-29 12:30Z', 'e', 1, 1, 1, 1, 1),
('hour edge', '2040-02-29 19:00Z', '2040-02-29 12:30Z', 'e', 1, 1, 1, 1, 1),
('hour late', '2040-02-29 19:00:00.000001Z', '2040-02-29 12:30Z', 'e', NULL, 1, 1, 1, 1),
('day edge', '2040-02-28 06:00Z', '2040-02-27 12:30Z', 'e', NULL, 1, 1, 1, 1),
('day late', '2040-02-28 06:00:00.000001Z', '2040-02-27 12:30Z', 'e', NULL, NULL, 1, 1, 1),
('week edge', '2040-02-27 06:00Z', '2040-02-26 12:30Z', 'e', NULL, 1, 1, 1, 1),
('week late', '2040-02-27 06:00:00.000001Z', '2040-02-26 12:30Z', 'e', NULL, NULL, NULL, 1, 1),
('month edge', '2040-03-01 06:00Z', '2040-02-29 12:30Z', 'e', NULL, 1, 1, 1, 1),
('month late', '2040-03-01 06:00:00.000001Z', '2040-02-29 12:30Z', 'e', NULL, NULL, 1, NULL, 1),
('year edge', '2041-01-01 06:00Z', '2040-12-31 12:30Z', 'e', NULL, 1, 1, 1, 1),
('year late', '2041-01-01 06:00:00.000001Z', '2040-12-31 12:30Z', 'e', NULL, NULL, 1, NULL, NULL),
('history', '2041-01-01 06:00:00.000001Z', '2040-02-29 12:30Z', 'h', 1, 1, 1, 1, 1);
SELECT status, count(*) FROM lateness, LATERAL lb._submit_batch(:late, ARRAY[member], ARRAY[1], ARRAY[member], ARRAY[time], NULL, NULL, kind, at) GROUP BY 1;
SELECT events FROM lb_refresh('late');
SELECT l.member, p, r.value AS board, v.value, v.late FROM lateness AS l, LATERAL (VALUES ('hour', hour), ('day', day), ('week', week), ('month', month), ('year', year), ('all', 1)) AS p (p, stated),
	LATERAL lb_rank('late_' || p, l.member, at => time) AS r, LATERAL lb_value('late', l.member, p, time) AS v
WHERE r.value IS DISTINCT FROM stated OR v.value IS DISTINCT FROM stated OR v.late IS DISTINCT FROM 1 - coalesce(stated, 0);
-- A member may have both.
SELECT status FROM lb._submit_batch(:late, ARRAY['hour late'], ARRAY[10], ARRAY['in time too'], ARRAY['2040-02-29 12:40Z'::timestamptz], NULL, NULL, 'e', '2040-02-29 13:00Z');
SELECT events FROM lb_refresh('late');
SELECT p, v.value, v.late FROM unnest(ARRAY['hour', 'day', 'all']) AS p, LATERAL lb_value('late', 'hour late', p, '2040-02-29 12:30Z') AS v;
SELECT value, reached_at FROM lb_rank('late_hour', 'hour late', at => '2040-02-29 12:30Z');

-- Everything above once more: boards made now over all of it.
SELECT count(*) AS boards FROM (SELECT lb_create_board('again_' || board, counter, period, direction, ties) FROM lb_boards()) AS b;
SELECT o.board, o.opens, x.* FROM (SELECT b.board, r.opens FROM lb.ranking AS r JOIN lb_boards() AS b USING (board_id) WHERE b.board NOT LIKE 'again%') AS o,
	LATERAL (SELECT CASE WHEN isfinite(o.opens) THEN o.opens END AS at) AS i,
	LATERAL ((SELECT member, rank, value, reached_at, population FROM lb_top(o.board, 1000, at => at) EXCEPT SELECT member, rank, value, reached_at, population FROM lb_top('again_' || o.board, 1000, at => at))
		UNION ALL (SELECT member, rank, value, reached_at, population FROM lb_top('again_' || o.board, 1000, at => at) EXCEPT SELECT member, rank, value, reached_at, population FROM lb_top(o.board, 1000, at => at))) AS x
WHERE o.board <> 'huge_day';
-- Of a counter's buckets the newest version is kept, and the one asked for.
SELECT version AS before FROM lb_value('own', 'm') \gset
SELECT lb._collect() IS NOT NULL AS collected;
SELECT counter_id, count(*) FROM lb.version WHERE ranking_id = 0 GROUP BY 1 HAVING count(*) > 1;
SELECT version = :before AS same FROM lb_value('own', 'm');
DROP EXTENSION leaderboard;
