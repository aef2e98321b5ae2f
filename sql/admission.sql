-- Admission: what becomes of each event, and what the log keeps.
-- Queries that check print violations only.
CREATE EXTENSION leaderboard;
\set ECHO none
\i test/include/attempt.sql
\set ECHO all
\pset null '(null)'
SELECT lb_create_counter('sum') AS sum \gset
SELECT lb_create_counter('max', operator => 'max') AS max \gset
SELECT lb_create_counter('min', operator => 'min') AS min \gset
SELECT lb_create_counter('last', operator => 'last') AS last \gset
SELECT lb_create_counter('grow', monotonic => true) AS grow \gset
SELECT lb_create_counter('tight', min_delta => -5, max_delta => 5, max_age => '1 hour', max_skew => '10 seconds') AS tight \gset

-- Every status and reason.  Times are relative to the clock; k is the key,
-- made unique by the case's number where it ends in *.
CREATE TEMP TABLE act (id serial, counter text, member text, delta bigint, k text, ago interval, actor text, source text,
	status text, reason text);
INSERT INTO act (counter, member, delta, k, ago, actor, source, status, reason) VALUES
('sum', 'a', 1, '*', NULL, NULL, NULL, 'accepted', NULL),
('sum', 'a', 0, '*', '1 day', 'me', 'here', 'accepted', NULL),
('sum', 'a', 9223372036854775807, '*', NULL, NULL, NULL, 'accepted', NULL),
('sum', 'a', -9223372036854775808, '*', NULL, NULL, NULL, 'accepted', NULL),
('sum', '', 1, '*', NULL, NULL, NULL, 'rejected', 'bad_member'),
('sum', repeat('x', 200), 1, '*', NULL, NULL, NULL, 'accepted', NULL),
('sum', repeat('x', 201), 1, '*', NULL, NULL, NULL, 'rejected', 'bad_member'),
('sum', repeat('ž', 100), 1, '*', NULL, NULL, NULL, 'accepted', NULL),
('sum', repeat('ž', 101), 1, '*', NULL, NULL, NULL, 'rejected', 'bad_member'),
('sum', repeat('🏆', 50), 1, '*', NULL, NULL, NULL, 'accepted', NULL),
('sum', repeat('🏆', 50) || 'x', 1, '*', NULL, NULL, NULL, 'rejected', 'bad_member'),
('sum', 'a/b', 1, '*', NULL, NULL, NULL, 'accepted', NULL),
('sum', ' ', 1, '*', NULL, NULL, NULL, 'accepted', NULL),
('sum', 'a', 1, NULL, NULL, NULL, NULL, 'rejected', 'key_missing'),
('last', 'a', 1, NULL, NULL, NULL, NULL, 'rejected', 'key_missing'),
('last', 'a', 1, '*', NULL, NULL, NULL, 'accepted', NULL),
('max', 'a', 1, NULL, NULL, NULL, NULL, 'accepted', NULL),
('max', 'a', 1, NULL, NULL, NULL, NULL, 'accepted', NULL),
('min', 'a', 1, NULL, NULL, NULL, NULL, 'accepted', NULL),
('max', 'a', 1, '*', NULL, NULL, NULL, 'accepted', NULL),
('sum', 'a', 1, '', NULL, NULL, NULL, 'rejected', 'bad_key'),
('max', 'a', 1, '', NULL, NULL, NULL, 'rejected', 'bad_key'),
('sum', 'a', 1, repeat('k', 200), NULL, NULL, NULL, 'accepted', NULL),
('sum', 'a', 1, repeat('k', 201), NULL, NULL, NULL, 'rejected', 'bad_key'),
('sum', 'a', 1, repeat('ž', 101), NULL, NULL, NULL, 'rejected', 'bad_key'),
('sum', 'a', 1, '*', NULL, '', NULL, 'rejected', 'bad_field'),
('sum', 'a', 1, '*', NULL, repeat('ž', 101), NULL, 'rejected', 'bad_field'),
('sum', 'a', 1, '*', NULL, repeat('ž', 100), repeat('ž', 100), 'accepted', NULL),
('sum', 'a', 1, '*', NULL, NULL, '', 'rejected', 'bad_field'),
('sum', 'a', 1, '*', NULL, NULL, repeat('s', 201), 'rejected', 'bad_field'),
('grow', 'a', 0, '*', NULL, NULL, NULL, 'accepted', NULL),
('grow', 'a', 1, '*', NULL, NULL, NULL, 'accepted', NULL),
('grow', 'a', -1, '*', NULL, NULL, NULL, 'rejected', 'not_monotonic'),
('grow', 'a', -9223372036854775808, '*', NULL, NULL, NULL, 'rejected', 'not_monotonic'),
('tight', 'a', 5, '*', NULL, NULL, NULL, 'accepted', NULL),
('tight', 'a', -5, '*', NULL, NULL, NULL, 'accepted', NULL),
('tight', 'a', 6, '*', NULL, NULL, NULL, 'rejected', 'delta_out_of_bounds'),
('tight', 'a', -6, '*', NULL, NULL, NULL, 'rejected', 'delta_out_of_bounds'),
('tight', 'a', -9223372036854775808, '*', NULL, NULL, NULL, 'rejected', 'delta_out_of_bounds'),
('tight', 'a', 1, '*', '59 minutes', NULL, NULL, 'accepted', NULL),
('tight', 'a', 1, '*', '61 minutes', NULL, NULL, 'rejected', 'too_old'),
('tight', 'a', 1, '*', '-5 seconds', NULL, NULL, 'accepted', NULL),
('tight', 'a', 1, '*', '-60 seconds', NULL, NULL, 'rejected', 'in_future'),
('sum', 'a', 1, '*', '6 days 23 hours', NULL, NULL, 'accepted', NULL),
('sum', 'a', 1, '*', '8 days', NULL, NULL, 'rejected', 'too_old'),
('sum', 'a', 1, '*', '2000 years', NULL, NULL, 'rejected', 'too_old'),
('sum', 'a', 1, '*', '-1000 years', NULL, NULL, 'rejected', 'in_future');
UPDATE act SET k = k || id WHERE k = '*';
-- One by one.
CREATE TEMP TABLE single AS
SELECT a.id, s.* FROM act AS a, LATERAL lb_submit(counter, member, delta, k, clock_timestamp() - ago, actor, source) AS s;
SELECT a.id, a.counter, left(a.member, 5) AS member, a.delta, a.status, a.reason, s.* FROM act AS a JOIN single AS s USING (id)
WHERE (a.status, a.reason) IS DISTINCT FROM (s.status, s.reason)
OR s.ordinal <> 1 OR (s.event_id IS NULL) <> (s.status = 'rejected') OR s.retry_after_ms IS NOT NULL;
-- In batches: the same, with other keys, and each what it would be alone.
CREATE TEMP TABLE batched AS
SELECT g.counter, g.ids[b.ordinal] AS id, b.* FROM (
	SELECT counter, array_agg(id ORDER BY id) AS ids, array_agg(member ORDER BY id) AS members, array_agg(delta ORDER BY id) AS deltas,
		array_agg(CASE WHEN octet_length(k) BETWEEN 1 AND 200 THEN 'b' || substr(k, 2) ELSE k END ORDER BY id) AS keys,
		array_agg(clock_timestamp() - ago ORDER BY id) AS times,
		array_agg(actor ORDER BY id) AS actors, array_agg(source ORDER BY id) AS sources
	FROM act GROUP BY counter) AS g,
	LATERAL lb_submit_batch(counter, members, deltas, keys, times, actors, sources) AS b;
SELECT a.id, a.status, a.reason, b.* FROM act AS a LEFT JOIN batched AS b USING (id)
WHERE (a.status, a.reason) IS DISTINCT FROM (b.status, b.reason) OR (b.event_id IS NULL) <> (b.status = 'rejected');
-- Rows are in the order of the call, and ids are drawn in that order.
SELECT * FROM (SELECT counter, ordinal, event_id, lag(event_id) OVER w AS before FROM batched WHERE event_id IS NOT NULL
	WINDOW w AS (PARTITION BY counter ORDER BY ordinal)) AS s WHERE event_id <= before;
-- The log has what was accepted, as it was submitted, and nothing else.
SELECT a.id FROM act AS a JOIN (SELECT id, event_id, false AS b FROM single UNION ALL SELECT id, event_id, true FROM batched) AS s USING (id)
	LEFT JOIN lb.event AS e USING (event_id)
WHERE a.status = 'accepted' AND (e.member, e.delta, e.key, e.actor, e.source, e.kind, e.version) IS DISTINCT FROM
	(a.member, a.delta, CASE WHEN b THEN 'b' || substr(k, 2) ELSE k END, a.actor, a.source, 'e', 1::smallint)
OR abs(extract(epoch FROM e.event_time - (e.ingest_time - coalesce(ago, '0')))) > 10
OR e.ingest_time NOT BETWEEN now() - interval '10 seconds' AND clock_timestamp()
OR ago IS NULL AND e.event_time <> e.ingest_time
OR e.xid::text::bigint NOT BETWEEN 1 AND txid_current() OR e.counter_id <> (SELECT counter_id FROM lb_counters() AS c WHERE c.counter = a.counter);
SELECT count(*) - (SELECT count(*) FROM single WHERE status = 'accepted') - (SELECT count(*) FROM batched WHERE status = 'accepted') AS surplus FROM lb.event;
-- Each again: accepted ones are duplicates of themselves, those without a key
-- are new, rejected ones are rejected for the same reason.
SELECT a.id, a.k, s.status, s.reason, s.event_id, o.event_id AS original
FROM act AS a JOIN single AS o USING (id), LATERAL lb_submit(counter, member, delta, k, clock_timestamp() - ago, actor, 'elsewhere') AS s
WHERE a.status = 'accepted' AND CASE WHEN k IS NULL THEN s.status <> 'accepted'
	ELSE (s.status, s.reason, s.event_id) IS DISTINCT FROM ('duplicate', NULL, o.event_id) END
OR a.status = 'rejected' AND a.reason <> 'bad_field' AND (s.status, s.reason) IS DISTINCT FROM ('rejected', a.reason);

-- The same key with another member, delta or actor; time and source may differ.
SELECT event_id AS original FROM lb_submit('sum', 'm', 5, 'same', actor => 'x', source => 's') \gset
SELECT case_, status, reason, event_id FROM (VALUES
	('as it was', 'm', 5::bigint, 'x', 's', NULL::interval, 'duplicate', NULL),
	('another source', 'm', 5, 'x', NULL, NULL, 'duplicate', NULL),
	('another time', 'm', 5, 'x', 's', '3 days', 'duplicate', NULL),
	('another member', 'n', 5, 'x', 's', NULL, 'rejected', 'key_reused'),
	('another member by case', 'M', 5, 'x', 's', NULL, 'rejected', 'key_reused'),
	('a longer member', 'm ', 5, 'x', 's', NULL, 'rejected', 'key_reused'),
	('another delta', 'm', 6, 'x', 's', NULL, 'rejected', 'key_reused'),
	('another actor', 'm', 5, 'y', 's', NULL, 'rejected', 'key_reused'),
	('no actor', 'm', 5, NULL, 's', NULL, 'rejected', 'key_reused')
) AS v (case_, member, delta, actor, source, ago, wanted, why),
	LATERAL lb_submit('sum', member, delta, 'same', clock_timestamp() - ago, actor, source) AS s
WHERE (status, reason, event_id) IS DISTINCT FROM (wanted, why, CASE wanted WHEN 'duplicate' THEN :original END);
-- Keys are compared bytewise; a key of another counter is another key.
SELECT status FROM lb_submit('sum', 'm', 5, 'Same');
SELECT status FROM lb_submit('sum', 'm', 5, E'e\u0301');
SELECT status FROM lb_submit('sum', 'm', 5, E'\u00e9');
SELECT counter, status FROM (VALUES ('last'), ('max'), ('min'), ('grow'), ('tight')) AS v (counter), LATERAL lb_submit(counter, 'n', 1, 'same')
WHERE status <> 'accepted';
-- A keyed event of max is deduplicated too.
SELECT status, reason FROM lb_submit('max', 'n', 2, 'same');

-- In one batch: the first of a key claims it, in the order of the call.
SELECT ordinal, status, reason, event_id - first_value(event_id) OVER (ORDER BY ordinal) AS id FROM lb_submit_batch('sum',
	ARRAY['p', 'p', 'q', 'p', 'p'], ARRAY[1, 1, 1, 2, 1], ARRAY['twice', 'twice', 'twice', 'twice', 'other']);
SELECT ordinal, status, reason FROM lb_submit_batch('max', ARRAY['p', 'p', 'p'], ARRAY[1, 1, 1]);
-- A rejected event claims nothing.
SELECT ordinal, status, reason FROM lb_submit_batch('tight', ARRAY['p', 'p', 'p'], ARRAY[9, 1, 1], ARRAY['r', 'r', 'r']);
-- Two of one key in one transaction, in savepoints of which one is undone.
BEGIN;
SAVEPOINT s;
SELECT status FROM lb_submit('sum', 'p', 1, 'saved');
ROLLBACK TO s;
SELECT status FROM lb_submit('sum', 'q', 2, 'saved');
SELECT status, reason FROM lb_submit('sum', 'p', 1, 'saved');
COMMIT;
SELECT member, delta FROM lb.event WHERE key = 'saved';

-- What is wrong with one event of 500 touches no other.
SELECT bad, accepted, left(others::text, 100) AS others FROM (VALUES
	('bad_member', NULL, 1::bigint, 'k', NULL::timestamptz, NULL), ('bad_member', '', 1, 'k', NULL, NULL),
	('bad_member', repeat('ž', 101), 1, 'k', NULL, NULL), ('bad_delta', 'm', NULL, 'k', NULL, NULL),
	('key_missing', 'm', 1, NULL, NULL, NULL), ('bad_key', 'm', 1, '', NULL, NULL), ('bad_field', 'm', 1, 'k', NULL, ''),
	('bad_event_time', 'm', 1, 'k', 'infinity', NULL), ('bad_event_time', 'm', 1, 'k', '-infinity', NULL),
	('too_old', 'm', 1, 'k', '4713-11-24 00:00+00 BC', NULL), ('in_future', 'm', 1, 'k', '294276-12-31 23:59+00', NULL)
) AS v (bad, member, delta, key, time, actor), LATERAL (
	SELECT count(*) FILTER (WHERE status = 'accepted') AS accepted,
		array_agg(row(ordinal, status, reason)::text) FILTER (WHERE status <> 'accepted') AS others
	FROM lb_submit_batch('sum',
		(SELECT array_agg(CASE i WHEN 250 THEN v.member ELSE 'm' || i % 7 END ORDER BY i) FROM generate_series(1, 500) AS i),
		(SELECT array_agg(CASE i WHEN 250 THEN v.delta ELSE i END ORDER BY i) FROM generate_series(1, 500) AS i),
		(SELECT array_agg(CASE i WHEN 250 THEN v.key ELSE md5(concat(bad, ':', v.member, ':', v.time, ':', v.member IS NULL)) || i END ORDER BY i) FROM generate_series(1, 500) AS i),
		(SELECT array_agg(CASE i WHEN 250 THEN v.time END ORDER BY i) FROM generate_series(1, 500) AS i),
		(SELECT array_agg(CASE i WHEN 250 THEN v.actor END ORDER BY i) FROM generate_series(1, 500) AS i))) AS s
WHERE accepted <> 499 OR others <> ARRAY[format('(250,rejected,%s)', bad)];

-- strict: the first rejection is an error, and nothing is kept.
SELECT count(*) AS before FROM lb.event \gset
SELECT * FROM pg_temp.wrong(ARRAY[
'22023', 'bad_member', 'SELECT lb_submit(''sum'', '''', 1, ''st1'', strict => true)',
'22023', 'key_reused', 'SELECT lb_submit(''sum'', ''other'', 1, ''same'', strict => true)',
'22023', 'event 2%bad_member', 'SELECT lb_submit_batch(''sum'', ARRAY[''a'', '''', ''b''], ARRAY[1, 1, 1], ARRAY[''st1'', ''st2'', ''st3''], strict => true)',
'22023', 'event 2%not_monotonic', 'SELECT lb_backfill(''grow'', ARRAY[''a'', ''b''], ARRAY[1, -1], ARRAY[''st1'', ''st2''], strict => true)',
'22023', 'event 2%counter_unknown', 'SELECT lb_submit_json(''[{"counter":"max","member":"a","delta":1},{"counter":"nix","member":"a","delta":1}]'', true)'
]);
SELECT count(*) - :before AS kept FROM lb.event;
SELECT status FROM lb_submit('sum', 'a', 1, 'st1', strict => true);
SELECT status FROM lb_submit('sum', 'a', 1, 'st1', strict => true);
SELECT status FROM lb_submit('sum', '', 1, 'st1', strict => NULL);

-- Arrays and arguments that are wrong as a whole.
SELECT count(*) AS before FROM lb.event \gset
SELECT w.* FROM unnest(ARRAY['lb_submit_batch', 'lb_backfill']) AS f, LATERAL pg_temp.wrong(ARRAY[
'2202E', 'deltas', format('SELECT %s(''sum'', ARRAY[''a'', ''b''], ARRAY[1])', f),
'2202E', 'deltas', format('SELECT %s(''sum'', ARRAY[''a''], ARRAY[1, 2])', f),
'2202E', 'keys', format('SELECT %s(''sum'', ARRAY[''a''], ARRAY[1], ARRAY[''k'', ''l''])', f),
'2202E', 'keys', format('SELECT %s(''sum'', ARRAY[''a''], ARRAY[1], ''{}'')', f),
'2202E', 'event_times', format('SELECT %s(''sum'', ARRAY[''a''], ARRAY[1], ARRAY[''k''], ARRAY[now(), now()])', f),
'2202E', 'actors', format('SELECT %s(''sum'', ARRAY[''a''], ARRAY[1], ARRAY[''k''], NULL, ''{}'')', f),
'2202E', 'sources', format('SELECT %s(''sum'', ARRAY[''a''], ARRAY[1], ARRAY[''k''], NULL, NULL, ARRAY[''s'', ''t''])', f),
'2202E', 'dimension', format('SELECT %s(''sum'', ARRAY[[''a'', ''b'']], ARRAY[1, 2])', f),
'2202E', 'dimension', format('SELECT %s(''sum'', ARRAY[''a'', ''b''], ARRAY[[1, 2]])', f),
'2202E', 'dimension', format('SELECT %s(''sum'', ARRAY[''a'', ''b''], ARRAY[1, 2], ARRAY[[''a''], [''b'']])', f),
'22023', 'members', format('SELECT %s(''sum'', NULL, ARRAY[1])', f),
'22023', 'deltas', format('SELECT %s(''sum'', ARRAY[''a''], NULL)', f),
'22023', 'counter', format('SELECT %s(NULL, ARRAY[''a''], ARRAY[1])', f),
'22023', '10000', format('SELECT %s(''sum'', array_fill(''a''::text, ARRAY[10001]), array_fill(1::bigint, ARRAY[10001]))', f),
'22023', '10000', format('SELECT %s(''sum'', array_fill(''a''::text, ARRAY[10001]), ARRAY[1])', f),
'00000', '', format('SELECT %s(''sum'', ''{}'', ''{}'')', f)]) AS w;
SELECT * FROM pg_temp.wrong(ARRAY[
'22023', 'member', 'SELECT lb_submit(''sum'', NULL, 1, ''k'')',
'22023', 'delta', 'SELECT lb_submit(''sum'', ''a'', NULL, ''k'')',
'22023', 'counter', 'SELECT lb_submit(NULL, ''a'', 1, ''k'')'
]);
SELECT count(*) - :before AS kept FROM lb.event;
SELECT * FROM lb_submit_batch('sum', '{}', '{}', '{}', '{}', '{}', '{}');
-- Exactly 10,000; NULL elements of event_times are now, of optional arrays none.
SELECT status, count(*), count(DISTINCT event_id), min(ordinal), max(ordinal) FROM lb_submit_batch('max',
	array_fill('a'::text, ARRAY[10000]), array_fill(1::bigint, ARRAY[10000])) GROUP BY status;
SELECT status, count(*) FROM lb_submit_batch('sum', '[0:1]={a,b}', '[5:6]={1,2}', ARRAY['z1', 'z2'], ARRAY[NULL, now()], ARRAY[NULL, 'me'], ARRAY[NULL, NULL]::text[])
GROUP BY status;
-- An installation whose partitions are used up accepts the next event.
SELECT status FROM lb._submit_batch(:sum, ARRAY['a'], ARRAY[1], ARRAY['idle'], NULL, NULL, NULL, 'e', now() + interval '5 years');
SELECT tableoid::regclass FROM lb.event WHERE key = 'idle';

-- Backfill: older than max_age, but not ahead; kind h; years 1 to 9999.
SELECT v.t, b.status, b.reason FROM (VALUES ('2001-01-01 00:00+00'::timestamptz, NULL), ('0001-01-01 00:00+00', NULL), ('1969-12-31 23:59:59.999999+00', NULL),
	('0001-12-31 23:59:59+00 BC', 'bad_event_time'), ('4713-11-24 00:00+00 BC', 'bad_event_time'), ('infinity', 'bad_event_time'), ('-infinity', 'bad_event_time'),
	('9999-12-31 00:00+00', 'in_future'), ('294276-12-31 00:00+00', 'in_future')) AS v (t, why),
	LATERAL lb_backfill('sum', ARRAY['h'], ARRAY[1], ARRAY['h' || v.t], ARRAY[v.t]) AS b
WHERE b.reason IS DISTINCT FROM why OR b.status <> CASE WHEN why IS NULL THEN 'accepted' ELSE 'rejected' END;
SELECT kind, count(*) FROM lb.event WHERE member = 'h' GROUP BY kind;
SELECT status FROM lb_backfill('tight', ARRAY['h', 'h', 'h'], ARRAY[1, 9, 1], ARRAY['h1', 'h2', NULL], ARRAY['2001-01-01 00:00+00'::timestamptz, now(), now()]);

-- Over partitions.  "now" is an argument: 2040 has days made ahead, then none.
SELECT lb._make_partitions('2040-01-01', '2040-01-12'), lb._make_partitions('2040-01-01', '2040-01-12') AS again;
SELECT lb_create_counter('days', max_age => '30 days') AS days \gset
SELECT lb_create_counter('stamped', idempotency => '20 days') AS stamped \gset
CREATE TEMP TABLE day (id serial, c bigint, at timestamptz, time timestamptz, k text, kind "char", member text, wanted text, why text);
INSERT INTO day (c, at, time, k, kind, member, wanted, why) VALUES
(:days, '2040-01-02 12:00+00', '2040-01-02 11:00+00', 'a', 'e', 'm', 'accepted', NULL),
(:days, '2040-01-04 12:00+00', '2040-01-02 11:00+00', 'a', 'e', 'm', 'duplicate', NULL),
(:days, '2040-01-11 12:00+00', '2040-01-02 11:00+00', 'a', 'e', 'm', 'duplicate', NULL),
(:days, '2040-01-20 12:00+00', '2040-01-02 11:00+00', 'a', 'e', 'm', 'duplicate', NULL),
(:days, '2040-01-04 12:00+00', '2040-01-02 11:00+00', 'a', 'e', 'n', 'rejected', 'key_reused'),
-- A retry without a time is recognised for a day.
(:days, '2040-01-05 12:00+00', NULL, 'b', 'e', 'm', 'accepted', NULL),
(:days, '2040-01-06 11:59+00', NULL, 'b', 'e', 'm', 'duplicate', NULL),
(:days, '2040-01-06 11:59+00', NULL, 'b', 'e', 'n', 'rejected', 'key_reused'),
-- Both sides of midnight, and a clock that was set back over it.
(:days, '2040-01-07 23:59:59.999999+00', NULL, 'c', 'e', 'm', 'accepted', NULL),
(:days, '2040-01-08 00:00+00', NULL, 'c', 'e', 'm', 'duplicate', NULL),
(:days, '2040-01-09 00:00:01+00', NULL, 'd', 'e', 'm', 'accepted', NULL),
(:days, '2040-01-08 23:59:58+00', NULL, 'd', 'e', 'm', 'duplicate', NULL),
-- The default partition, in both directions.
(:days, '2040-02-20 12:00+00', NULL, 'e', 'e', 'm', 'accepted', NULL),
(:days, '2040-02-20 23:00+00', NULL, 'e', 'e', 'm', 'duplicate', NULL),
(:days, '2040-01-12 23:59+00', '2040-01-12 20:00+00', 'f', 'e', 'm', 'accepted', NULL),
(:days, '2040-01-13 00:01+00', '2040-01-12 20:00+00', 'f', 'e', 'm', 'duplicate', NULL),
(:days, '2040-01-13 00:01+00', NULL, 'g', 'e', 'm', 'accepted', NULL),
(:days, '2040-01-12 23:59+00', NULL, 'g', 'e', 'm', 'duplicate', NULL),
-- Ahead by max_skew, so that the original came in before its own time.
(:days, '2040-01-09 23:59:30+00', '2040-01-10 00:00:29+00', 'h', 'e', 'm', 'accepted', NULL),
(:days, '2040-01-10 12:00+00', '2040-01-10 00:00:29+00', 'h', 'e', 'm', 'duplicate', NULL),
-- A declared idempotency, for clients that stamp each retry anew.
(:stamped, '2040-01-01 12:00+00', '2040-01-01 12:00+00', 'a', 'e', 'm', 'accepted', NULL),
(:stamped, '2040-01-11 12:00+00', '2040-01-11 12:00+00', 'a', 'e', 'm', 'duplicate', NULL),
(:stamped, '2040-01-11 12:00+00', NULL, 'a', 'e', 'm', 'duplicate', NULL),
(:stamped, '2040-01-20 12:00+00', NULL, 'a', 'e', 'm', 'duplicate', NULL),
-- Backfill looks at everything.
(:days, '2040-01-12 12:00+00', '2040-01-12 12:00+00', 'a', 'h', 'm', 'duplicate', NULL),
(:days, '2040-01-12 12:00+00', '2040-01-12 12:00+00', 'a', 'h', 'n', 'rejected', 'key_reused'),
(:days, '2040-03-12 12:00+00', '2002-01-12 12:00+00', 'b', 'h', 'm', 'duplicate', NULL),
(:days, '2040-03-12 12:00+00', '2002-01-12 12:00+00', 'c', 'h', 'm', 'duplicate', NULL);
CREATE TEMP TABLE settled AS
SELECT day.*, s.status, s.reason, s.event_id FROM (SELECT * FROM day ORDER BY id) AS day,
	LATERAL lb._submit_batch(c, ARRAY[member], ARRAY[1], ARRAY[k], ARRAY[time], NULL, NULL, kind, at) AS s;
SELECT * FROM settled WHERE (status, reason) IS DISTINCT FROM (wanted, why);
SELECT c, k FROM settled WHERE event_id IS NOT NULL GROUP BY c, k HAVING count(DISTINCT event_id) <> 1;
SELECT tableoid::regclass AS partition, count(*) FROM lb.event WHERE counter_id IN (:days, :stamped) GROUP BY 1 ORDER BY 1;

-- A random stream, in batches over twelve days: the first of each key wins,
-- found or not by the same time, the same content or another.
SELECT setseed(0.314);
SELECT lb_create_counter('stream', max_age => '30 days') AS stream \gset
CREATE TEMP TABLE sent (id serial, batch integer, at timestamptz, member text, delta bigint, k text, time timestamptz, actor text);
INSERT INTO sent (batch, at, k)
SELECT b, timestamptz '2040-01-01 00:00+00' + b * interval '7 hours 11 minutes', 'k' || floor(random() ^ 2 * 300)
FROM generate_series(1, 38) AS b, generate_series(1, 20 + b % 3 * 20);
-- A key's own time and content; one repeat in eight has another one.
UPDATE sent SET time = f.at - interval '1 hour', member = 'm' || hashtext(sent.k || CASE WHEN random() < 0.125 THEN 'x' ELSE '' END) % 5,
	delta = length(sent.k) + (random() < 0.05)::int, actor = CASE WHEN random() < 0.05 THEN 'someone' END
FROM (SELECT k, min(at) AS at FROM sent GROUP BY k) AS f WHERE f.k = sent.k;
CREATE TEMP TABLE got AS
SELECT g.ids[s.ordinal] AS id, s.status, s.reason, s.event_id FROM (
	SELECT batch, at, array_agg(id ORDER BY id) AS ids, array_agg(member ORDER BY id) AS members, array_agg(delta ORDER BY id) AS deltas,
		array_agg(k ORDER BY id) AS keys, array_agg(time ORDER BY id) AS times, array_agg(actor ORDER BY id) AS actors
	FROM sent GROUP BY batch, at ORDER BY batch) AS g,
	LATERAL lb._submit_batch(:stream, members, deltas, keys, times, actors, NULL, 'e', at) AS s;
SELECT sent.*, got.*, f.id AS first FROM sent JOIN got USING (id)
	JOIN LATERAL (SELECT o.*, r.event_id FROM sent AS o JOIN got AS r USING (id) WHERE o.k = sent.k ORDER BY o.id LIMIT 1) AS f ON true
WHERE concat_ws(' ', status, reason, got.event_id) <> CASE
	WHEN f.id = sent.id THEN concat('accepted ', got.event_id)
	WHEN (sent.member, sent.delta, sent.actor) IS NOT DISTINCT FROM (f.member, f.delta, f.actor) THEN concat('duplicate ', f.event_id)
	ELSE 'rejected key_reused' END;
SELECT count(*) > 50 AS accepted, count(*) FILTER (WHERE status = 'duplicate') > 50 AS duplicates, count(*) FILTER (WHERE reason = 'key_reused') > 50 AS reused FROM got;
SELECT k FROM sent JOIN got USING (id) WHERE status = 'accepted' GROUP BY k HAVING count(*) <> 1;
SELECT count(*) - (SELECT count(*) FROM got WHERE status = 'accepted') AS surplus FROM lb.event WHERE counter_id = :stream;
-- All that was accepted again, with other partitions in between, in one call a counter.
SELECT lb._make_partitions('2040-01-14', '2040-01-16');
SELECT s.status, count(*) FROM (SELECT array_agg(member) AS m, array_agg(delta) AS d, array_agg(k) AS k, array_agg(time) AS t, array_agg(actor) AS a
	FROM sent JOIN got USING (id) WHERE status = 'accepted') AS g,
	LATERAL lb._submit_batch(:stream, m, d, k, t, a, NULL, 'e', '2040-01-15 12:00+00') AS s WHERE s.status <> 'duplicate' GROUP BY 1;
-- A day in which events have come in stays in the default partition, and the
-- days around it are made; keys are found there as before.
SELECT lb._make_partitions('2040-02-19', '2040-02-21');
SELECT status FROM unnest(ARRAY['2040-02-19 12:00+00', '2040-02-20 23:30+00', '2040-02-21 12:00+00']::timestamptz[]) AS at,
	LATERAL lb._submit_batch(:days, ARRAY['m'], ARRAY[1], ARRAY['around ' || extract(day FROM at AT TIME ZONE 'UTC')], NULL, NULL, NULL, 'e', at);
SELECT key, tableoid::regclass AS partition FROM lb.event WHERE key LIKE 'around %' ORDER BY key;
SELECT status FROM lb._submit_batch(:days, ARRAY['m'], ARRAY[1], ARRAY['e'], NULL, NULL, NULL, 'e', '2040-02-21 01:00+00');

-- Append-only: the parent and every partition, whoever asks.
SELECT v.verb, t.tab, a.* FROM (SELECT 'lb.event'::regclass AS tab UNION ALL SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'lb.event'::regclass) AS t,
	(VALUES ('UPDATE %s SET delta = 0'), ('UPDATE %s SET delta = 0 WHERE false'), ('DELETE FROM %s'), ('DELETE FROM %s WHERE false'),
	('TRUNCATE %s'), ('TRUNCATE ONLY %s')) AS v (verb),
	LATERAL pg_temp.attempt(format(verb, tab)) AS a
WHERE a.code <> CASE WHEN verb LIKE '%ONLY%' AND tab = 'lb.event'::regclass THEN '42809' ELSE '55000' END OR a.code = '55000' AND a.hinted IS NOT TRUE;
SELECT count(*) > 10 AS partitions FROM pg_inherits WHERE inhparent = 'lb.event'::regclass;
-- Each partition has the same indexes and the same guard.
SELECT shape, count(*) FROM (SELECT array_agg(regexp_replace(pg_get_indexdef(indexrelid), '(INDEX|ON) \S+', '\1', 'g') ORDER BY indkey)::text AS shape
	FROM pg_inherits JOIN pg_index ON indrelid = inhrelid WHERE inhparent = 'lb.event'::regclass GROUP BY inhrelid) AS s
GROUP BY shape HAVING count(*) <> (SELECT count(*) FROM pg_inherits WHERE inhparent = 'lb.event'::regclass);
-- The parent has none, or a restore would meet them.
SELECT indexrelid::regclass::text FROM pg_index WHERE indrelid = 'lb.event'::regclass UNION ALL SELECT conname FROM pg_constraint WHERE conrelid = 'lb.event'::regclass AND contype <> 'n';
DROP EXTENSION leaderboard;
