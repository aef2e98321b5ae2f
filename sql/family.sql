-- Counters that are not exact: definitions, admission, what answers say.
-- Queries that check print violations only.
CREATE EXTENSION leaderboard;
\set ECHO none
\i test/include/attempt.sql
\set ECHO all
\pset null '(null)'
SET client_min_messages = warning;

SELECT * FROM pg_temp.wrong(ARRAY[
'22023', 'exact, unique, approximate', 'SELECT lb_create_counter(''bad'', type => ''distinct'')',
'22023', '0.004 and 0.5', 'SELECT lb_create_counter(''bad'', type => ''unique'', tolerated_error => 0.0039)',
'22023', '0.004 and 0.5', 'SELECT lb_create_counter(''bad'', type => ''unique'', tolerated_error => 0.51)',
'22023', '0.004 and 0.5', 'SELECT lb_create_counter(''bad'', type => ''unique'', tolerated_error => 0)',
'22023', '0.004 and 0.5', 'SELECT lb_create_counter(''bad'', type => ''unique'', tolerated_error => -0.02)',
'22023', '0.004 and 0.5', 'SELECT lb_create_counter(''bad'', type => ''unique'', tolerated_error => ''NaN'')',
'22023', '0.004 and 0.5', 'SELECT lb_create_counter(''bad'', type => ''unique'', tolerated_error => ''Infinity'')',
'22023', 'Leave operator out', 'SELECT lb_create_counter(''bad'', type => ''unique'', operator => ''max'')',
'22023', 'Leave operator out', 'SELECT lb_create_counter(''bad'', type => ''unique'', operator => ''last'')',
'22023', 'delta', 'SELECT lb_create_counter(''bad'', type => ''unique'', min_delta => 1)',
'22023', 'delta', 'SELECT lb_create_counter(''bad'', type => ''unique'', max_delta => 1)',
'00000', '', 'SELECT lb_create_counter(''u1'', type => ''unique'', tolerated_error => 0.004)',
'00000', '', 'SELECT lb_create_counter(''u2'', type => ''unique'', tolerated_error => 0.5)',
'00000', '', 'SELECT lb_create_counter(''u3'', type => ''unique'', operator => ''sum'', monotonic => true)',
'00000', '', 'SELECT lb_create_counter(''u3'', type => ''unique'', tolerated_error => 0.02, if_not_exists => true)'
]);
SELECT * FROM pg_temp.wrong(ARRAY[
'22023', '0.0001 and 0.1', 'SELECT lb_create_counter(''bad'', type => ''approximate'', tolerated_error => 0.00009)',
'22023', '0.0001 and 0.1', 'SELECT lb_create_counter(''bad'', type => ''approximate'', tolerated_error => 0.11)',
'22023', '0.0001 and 0.1', 'SELECT lb_create_counter(''bad'', type => ''approximate'', tolerated_error => 0)',
'22023', '0.0001 and 0.1', 'SELECT lb_create_counter(''bad'', type => ''approximate'', tolerated_error => ''NaN'')',
'22023', 'Leave operator out', 'SELECT lb_create_counter(''bad'', type => ''approximate'', operator => ''min'')',
'00000', '', 'SELECT lb_create_counter(''a1'', type => ''approximate'', tolerated_error => 0.0001)',
'00000', '', 'SELECT lb_create_counter(''a2'', type => ''approximate'', tolerated_error => 0.1)',
'00000', '', 'SELECT lb_create_counter(''a3'', type => ''approximate'', min_delta => 0, max_delta => 5)',
'22023', 'Leave scoped', 'SELECT lb_create_board(''bad'', ''a1'', scoped => true)',
'22023', 'Leave scoped', 'SELECT lb_create_board(''bad'', ''a1'', ranks => ''bounded'')',
'22023', 'Leave scoped', 'SELECT lb_create_board(''bad'', ''a1'', direction => ''asc'')',
'00000', '', 'SELECT lb_create_board(''a1'', ''a1'', ''last 7 days'', ties => ''ordinal'')'
]);
SELECT counter, type, operator, monotonic, min_delta, max_delta, tolerated_error FROM lb_counters() ORDER BY counter;

-- How many bits each error comes to: the fewest that keep to it.
SELECT lb_create_counter('e' || i, type => 'unique', tolerated_error => e) > 0 AS made
FROM unnest(ARRAY[0.004, 0.005, 0.01, 0.016, 0.02, 0.023, 0.05, 0.1, 0.4, 0.5]) WITH ORDINALITY AS t(e, i) GROUP BY 1;
SELECT count(*) FROM lb_counters() AS c, LATERAL lb_submit(c.counter, 'm', 1, actor => 'a') AS s WHERE c.type = 'unique' AND s.status = 'accepted';
SELECT events FROM lb_refresh();
SELECT c.tolerated_error, lb_hll_bits(b.sketch::lb_hll) AS bits FROM lb.bucket AS b JOIN lb_counters() AS c USING (counter_id)
WHERE span = 'd' AND c.counter LIKE 'e%' ORDER BY 1;
SELECT 'bits' FROM lb.bucket AS b JOIN lb_counters() AS c USING (counter_id), LATERAL lb_hll_bits(b.sketch::lb_hll) AS bits
WHERE 1.959964 * 1.0389618 / sqrt(2 ^ bits) > c.tolerated_error OR bits > 4 AND 1.959964 * 1.0389618 / sqrt(2 ^ (bits - 1)) <= c.tolerated_error;

-- Admission: an actor, a delta of 1, and a key or none.
SELECT lb_create_counter('viewers', type => 'unique', max_age => '30 days') > 0 AS made;
SELECT lb_create_board('top', 'viewers') > 0 AS made;
SELECT ordinal, status, reason FROM lb_submit_batch('viewers', ARRAY['a', 'a', 'a', 'a', 'a', 'a', 'a', '', 'a', 'a', 'b'], ARRAY[1, 1, 2, 0, -1, NULL, 1, 1, 1, 1, 1],
	ARRAY[NULL, NULL, NULL, NULL, NULL, NULL, '', NULL, 'k', 'k', 'k'], actors => ARRAY['x', NULL, 'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x']);
SELECT status, reason FROM lb_submit('viewers', 'a', 1, actor => '');
SELECT status, reason FROM lb_submit('viewers', 'a', 1, actor => repeat('x', 201));
SELECT status, reason FROM lb_submit('viewers', 'a', 1, 'k', actor => 'y');
SELECT status, reason FROM lb_submit_json('[{"counter": "viewers", "member": "a", "delta": 1}, {"counter": "viewers", "member": "a", "delta": 1, "actor": "y"}, {"counter": "viewers", "member": "a", "delta": 3, "actor": "y"}]');
SELECT * FROM pg_temp.attempt('SELECT lb_submit(''viewers'', ''a'', 1, strict => true)');
SELECT * FROM pg_temp.attempt('SELECT lb_submit(''viewers'', ''a'', 5, actor => ''x'', strict => true)');
-- An exact counter takes an actor or none, as ever.
SELECT lb_create_counter('points') > 0 AS made;
SELECT status FROM lb_submit_batch('points', ARRAY['a', 'a'], ARRAY[1, -1], ARRAY['1', '2'], actors => ARRAY['x', NULL]);

-- Answers: repeats count once, and few are exact.
SELECT events FROM lb_refresh();
SELECT member, rank, kind, value, value_low, value_high, population FROM lb_top('top');
SELECT member, value, value_low, value_high, late FROM lb_value('viewers', 'a');
SELECT member, value, value_low, value_high, late FROM lb_value('viewers', 'nobody');
SELECT count(*) FROM lb_submit_batch('viewers', array_fill('a'::text, ARRAY[8000]), array_fill(1::bigint, ARRAY[8000]), actors => (SELECT array_agg('v' || i) FROM generate_series(1, 8000) AS i));
SELECT value > 7700 AND value < 8300 AS viewed, value_low < value AND value < value_high AS in_doubt, value FROM lb_rank('top', 'a', viewer => 'a') \gset
SELECT :'viewed' AS viewed, :'in_doubt' AS in_doubt;
SELECT rankings FROM lb_refresh('viewers');
SELECT a.value = :value AS published, a.value = v.value AND a.value_low = v.value_low AND a.value_high = v.value_high AS same, 8002 BETWEEN a.value_low AND a.value_high AS holds
FROM lb_rank('top', 'a') AS a, lb_value('viewers', 'a') AS v;
-- What is asked about is no estimate.
SELECT value, value_low, value_high, rank FROM lb_rank_for_value('top', 5000);
SELECT * FROM lb_check('top');
-- Nothing is left of a board that is dropped, nor of a counter.
SELECT lb_drop_board('top');
SELECT count(*) FROM lb.sketch;
SELECT lb_drop_counter('viewers', force => true);
SELECT count(*) FROM lb.bucket AS b JOIN lb_counters() AS c USING (counter_id) WHERE counter = 'viewers';
-- A sketch that is damaged is an error, and no value.
SELECT lb_create_board('u', 'u1') > 0 AS made;
UPDATE lb.sketch SET sketch = '\x0900';
SELECT status FROM lb_submit('u1', 'm', 1, actor => 'b');
SELECT code FROM pg_temp.attempt('SELECT lb_refresh()');
DELETE FROM lb.sketch;
SELECT code, said FROM pg_temp.attempt('SELECT lb_refresh()');
SELECT substring(problem from ': (.*)') AS problem FROM lb_check('u');
SELECT lb_drop_counter('u1', force => true);

-- Approximate: deltas of at least zero, with a key.
SELECT lb_create_counter('hits', type => 'approximate', tolerated_error => 0.1) > 0 AS made;
SELECT lb_create_board('hits', 'hits') > 0 AND lb_create_board('hourly', 'hits', 'hour') > 0 AS made;
SELECT ordinal, status, reason FROM lb_submit_batch('hits', ARRAY['a', 'a', 'a', 'b', 'c'], ARRAY[-1, 1, 0, 5, 0], ARRAY['1', NULL, '2', '3', '4']);
SELECT * FROM pg_temp.attempt('SELECT lb_submit(''hits'', ''a'', -1, ''k'', strict => true)');
SELECT member, kind, value FROM lb_rank('hits', 'b');
SELECT events FROM lb_refresh();
-- A delta of zero counts nothing, and few members are exact.
SELECT member, rank, kind, rank_low, rank_high, midpoint, place, percentile_low, value, value_low, value_high, reached_at, population FROM lb_top('hits');
SELECT member, kind, value, value_low, value_high FROM lb_ranks('hits', ARRAY['a', 'b', 'nobody']);
SELECT member, value, value_low, value_high, late FROM lb_values('hits', ARRAY['a', 'b', 'nobody']);
-- What more members than are tracked leave in doubt: no more than a tenth.
SELECT count(*) FROM lb_submit_batch('hits', (SELECT array_agg('m' || i % 40) FROM generate_series(1, 1000) AS i), array_fill(1::bigint, ARRAY[1000]), (SELECT array_agg('k' || i) FROM generate_series(1, 1000) AS i)) WHERE status = 'accepted';
SELECT status FROM lb_submit('hits', 'b', 500, 'more');
SELECT events FROM lb_refresh();
SELECT count(*) AS members, bool_and(value_high - value_low <= 1505 / 11) AS declared, count(*) FILTER (WHERE member = 'b' AND 505 BETWEEN value_low AND value_high AND rank_high = 1) AS b,
	bool_and(member = 'b' OR 25 BETWEEN value_low AND value_high) AS holds, bool_and(25 <= u.most) AS others
FROM lb_top('hits'), LATERAL (SELECT min(value_high) AS most FROM lb_ranks('hits', (SELECT array_agg('m' || i) FROM generate_series(0, 39) AS i)) WHERE kind = 'unranked') AS u;
SELECT * FROM lb_check('hits') UNION ALL SELECT * FROM lb_check('hourly');
-- A version that only untracked events have changed is a version.
SELECT version FROM lb_version('hits') \gset
SELECT status FROM lb_submit('hits', 'somebody', 1, 's1');
SELECT rankings FROM lb_refresh('hits');
SELECT version > :version AS newer FROM lb_version('hits');
SELECT total = sum AS exactly FROM (SELECT total FROM lb.version WHERE total IS NOT NULL ORDER BY version DESC LIMIT 1) AS v, (SELECT sum(delta) AS sum FROM lb.event WHERE counter_id = lb._counter_id('hits')) AS s;
-- A total that leaves bigint takes the window off the board, and nothing else.
SELECT status FROM lb_submit_batch('hits', ARRAY['x', 'y'], ARRAY[9223372036854775807, 9223372036854775807], ARRAY['x1', 'y1'], ARRAY[now() - interval '2 hours', now() - interval '2 hours']);
SELECT status FROM lb_submit('hits', 'b', 1, 'one', now());
SELECT events FROM lb_refresh();
SELECT count(*) FROM lb_top('hits');
SELECT count(*) > 0 AS hour FROM lb_top('hourly');
SELECT kind, value, value_low, value_high, population FROM lb_rank('hits', 'b');
SELECT kind, rank_low, rank_high FROM lb_rank_for_value('hits', 5);
SELECT board, member, value > 9223372036854775807 AS beyond FROM lb.poison ORDER BY 1;
SELECT code, said, hinted FROM pg_temp.attempt('SELECT lb_value(''hits'', ''b'')');
SELECT value, value_low, value_high FROM lb_values('hits', ARRAY['b']);
SELECT status FROM lb_submit('hits', 'b', 1, 'two', now() - interval '2 hours');
SELECT events FROM lb_refresh();
SELECT * FROM lb_check('hits') UNION ALL SELECT * FROM lb_check('hourly');
SELECT lb_drop_board('hits'), lb_drop_board('hourly');
SELECT count(*) FROM lb.sketch;
DROP EXTENSION leaderboard CASCADE;
