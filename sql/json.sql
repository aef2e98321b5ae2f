-- lb_submit_json: fields, numbers, times, several counters, what is malformed.
-- Queries that check print violations only.
CREATE EXTENSION leaderboard;
\set ECHO none
\i test/include/attempt.sql
\set ECHO all
\pset null '(null)'
SET client_min_messages = warning;
SELECT lb_create_tenant('acme') > 0 AS id;
SELECT lb_create_counter('sum', max_age => '36500 days') AS sum \gset
SELECT lb_create_counter('max', operator => 'max', max_age => '36500 days') AS max \gset
SELECT lb_create_counter('acme/sum') AS acme \gset
SELECT lb_create_counter('gone') AS gone \gset
SELECT status FROM lb_submit('gone', 'a', 1, 'k');
SELECT lb_drop_counter('gone', force => true);

-- One event: what replaces or joins the fields of a good one, the reason, and
-- the delta that is kept.
CREATE TEMP TABLE act (id serial, change jsonb, reason text, delta bigint DEFAULT 1);
INSERT INTO act (change, reason, delta) VALUES
('{}', NULL, 1), ('{"delta": 0}', NULL, 0), ('{"delta": -7}', NULL, -7), ('{"delta": "7"}', NULL, 7), ('{"delta": "-7"}', NULL, -7),
('{"delta": 9223372036854775807}', NULL, 9223372036854775807), ('{"delta": "9223372036854775807"}', NULL, 9223372036854775807),
('{"delta": -9223372036854775808}', NULL, -9223372036854775808), ('{"delta": "-9223372036854775808"}', NULL, -9223372036854775808),
('{"delta": 1e3}', NULL, 1000), ('{"delta": 2.0}', NULL, 2), ('{"delta": 12.5e1}', NULL, 125), ('{"delta": "007"}', NULL, 7);
INSERT INTO act (change, reason) VALUES
('{"delta": 9223372036854775808}', 'bad_delta'), ('{"delta": "9223372036854775808"}', 'bad_delta'), ('{"delta": -9223372036854775809}', 'bad_delta'),
('{"delta": 1.5}', 'bad_delta'), ('{"delta": 1e-3}', 'bad_delta'), ('{"delta": 1e30}', 'bad_delta'), ('{"delta": 1e1000}', 'bad_delta'),
('{"delta": "1.0"}', 'bad_delta'), ('{"delta": "1e3"}', 'bad_delta'), ('{"delta": ""}', 'bad_delta'), ('{"delta": "-"}', 'bad_delta'), ('{"delta": "+1"}', 'bad_delta'),
('{"delta": " 1"}', 'bad_delta'), ('{"delta": "1 "}', 'bad_delta'), ('{"delta": "0x10"}', 'bad_delta'), ('{"delta": "１"}', 'bad_delta'), ('{"delta": "NaN"}', 'bad_delta'),
('{"delta": null}', 'bad_delta'), ('{"delta": true}', 'bad_delta'), ('{"delta": [1]}', 'bad_delta'), ('{"delta": {}}', 'bad_delta'),
('{"member": null}', 'bad_member'), ('{"member": ""}', 'bad_member'), ('{"member": 7}', 'bad_member'), ('{"member": ["a"]}', 'bad_member'), ('{"member": {"a": 1}}', 'bad_member'),
(jsonb_build_object('member', repeat('ž', 101)), 'bad_member'), (jsonb_build_object('member', repeat('ž', 100)), NULL),
('{"key": null}', 'key_missing'), ('{"key": ""}', 'bad_key'), ('{"key": 7}', 'bad_key'), ('{"key": []}', 'bad_key'), (jsonb_build_object('key', repeat('k', 201)), 'bad_key'),
('{"actor": "me", "source": "here"}', NULL), ('{"actor": null, "source": null, "event_time": null}', NULL), ('{"actor": ""}', 'bad_field'), ('{"actor": 1}', 'bad_field'),
('{"source": {}}', 'bad_field'), (jsonb_build_object('source', repeat('s', 201)), 'bad_field'),
('{"Delta": 1}', 'bad_field'), ('{"value": 1}', 'bad_field'), ('{"": 1}', 'bad_field'), ('{"tags": {"a": [1, {"delta": 5}]}}', 'bad_field'), ('{"scope": null}', 'bad_field'),
('{"counter": "nix"}', 'counter_unknown'), ('{"counter": null}', 'counter_unknown'), ('{"counter": ""}', 'counter_unknown'), ('{"counter": 5}', 'counter_unknown'), ('{"counter": "a/b/c"}', 'counter_unknown'),
('{"counter": "nobody/sum"}', 'counter_unknown'), (jsonb_build_object('counter', repeat('c', 300)), 'counter_unknown'), ('{"counter": "Sum"}', 'counter_unknown'),
('{"counter": "gone"}', 'retired'), ('{"counter": "default/sum"}', NULL), ('{"counter": "acme/sum"}', NULL), ('{"counter": "max", "key": null}', NULL);
CREATE FUNCTION pg_temp.event(id integer, change jsonb) RETURNS jsonb LANGUAGE sql AS
$$ SELECT jsonb_build_object('counter', 'sum', 'member', 'm' || id, 'delta', 1, 'key', 'k' || id) || change $$;
CREATE TEMP TABLE single AS
SELECT act.id, s.* FROM act, LATERAL lb_submit_json(jsonb_build_array(pg_temp.event(id, change))) AS s;
SELECT a.change, a.reason AS wanted, s.status, s.reason FROM act AS a LEFT JOIN single AS s USING (id)
WHERE s.reason IS DISTINCT FROM a.reason OR s.status <> CASE WHEN a.reason IS NULL THEN 'accepted' ELSE 'rejected' END
OR (s.event_id IS NULL) <> (s.status = 'rejected') OR s.ordinal <> 1;
SELECT a.change, e.* FROM act AS a JOIN single AS s USING (id) LEFT JOIN lb.event AS e USING (event_id), LATERAL pg_temp.event(a.id, a.change) AS v
WHERE s.status = 'accepted' AND ((e.delta, e.member, e.key, e.actor, e.source, e.kind)
	IS DISTINCT FROM (a.delta, v->>'member', v->>'key', v->>'actor', v->>'source', 'e') OR e.event_time <> e.ingest_time
OR e.counter_id <> CASE v->>'counter' WHEN 'acme/sum' THEN :acme WHEN 'max' THEN :max ELSE :sum END);
-- All of them in one call: each what it was alone, now a duplicate if it has a
-- key; ordinals count on over all counters.
SELECT a.change, s.status AS alone, b.status, b.reason FROM (SELECT jsonb_agg(pg_temp.event(id, change) ORDER BY id) AS events FROM act) AS g,
	LATERAL lb_submit_json(events) AS b JOIN act AS a ON a.id = b.ordinal JOIN single AS s USING (id)
WHERE (b.status, b.reason) IS DISTINCT FROM (CASE WHEN s.status = 'rejected' THEN 'rejected' WHEN a.change = '{"counter": "max", "key": null}' THEN 'accepted' ELSE 'duplicate' END, s.reason)
OR b.status = 'duplicate' AND b.event_id <> s.event_id;

-- A missing field is as good as null; of a field given twice JSON keeps the last.
SELECT ordinal, status, reason FROM lb_submit_json('[{}, {"counter": "sum"}, {"counter": "sum", "member": "a"}, {"counter": "sum", "member": "a", "key": "x"},
	{"counter": "sum", "member": "a", "key": "x", "delta": 1, "delta": 5}, {"member": "a", "key": "x", "delta": 5}]');
SELECT delta FROM lb.event WHERE key = 'x';
-- Elements that are no objects.
SELECT ordinal, status, reason FROM lb_submit_json('[1, "a", null, true, [], [{"counter": "sum"}], {"counter": "max", "member": "a", "delta": 1}]');
SELECT * FROM lb_submit_json('[]');
-- What is no array of at most 10,000.
SELECT * FROM pg_temp.wrong(ARRAY[
'22023', 'array', 'SELECT lb_submit_json(''{}'')',
'22023', 'array', 'SELECT lb_submit_json(''{"counter": "sum", "member": "a", "delta": 1, "key": "y"}'')',
'22023', 'array', 'SELECT lb_submit_json(''1'')',
'22023', 'array', 'SELECT lb_submit_json(''"[]"'')',
'22023', 'array', 'SELECT lb_submit_json(''null'')',
'22023', 'events', 'SELECT lb_submit_json(NULL)',
'22023', '10000', 'SELECT lb_submit_json((SELECT jsonb_agg(1) FROM generate_series(1, 10001)))'
]);
SELECT status, reason, count(*) FROM lb_submit_json((SELECT jsonb_agg(1) FROM generate_series(1, 10000))) GROUP BY 1, 2;

-- Times: good ones by Postgres's own reading of them, whatever the session's
-- zone and style.
SET timezone = 'Asia/Kolkata';
SET datestyle = 'SQL, DMY';
CREATE TEMP TABLE good (t text);
INSERT INTO good VALUES ('2024-02-29T12:30:00Z'), ('2024-02-29t12:30:00z'), ('2024-02-29 12:30:00+00'), ('2024-02-29T12:30Z'), ('2024-02-29T12:30:00.5Z'),
('2024-02-29T12:30:00.123456+02:00'), ('2024-12-31T23:59:59.999999-08:00'), ('2024-01-02T00:00:00+0545'), ('2024-01-02T00:00:00-08'), ('2024-01-02T00:00:00+14:00'),
('2024-01-02T00:00:00-12:00'), ('2000-02-29T00:00:00+00:00'), ('1970-01-01T00:00:00Z'), ('2023-03-04T05:06:07+05:30');
SELECT g.t, s.status, s.reason, e.event_time FROM good AS g,
	LATERAL lb_submit_json(jsonb_build_array(jsonb_build_object('counter', 'sum', 'member', 'a', 'delta', 1, 'key', 't' || t, 'event_time', t))) AS s
	LEFT JOIN lb.event AS e USING (event_id)
WHERE s.status <> 'accepted';
RESET datestyle;
SELECT g.t, e.event_time FROM good AS g LEFT JOIN lb.event AS e ON e.key = 't' || t WHERE e.event_time IS DISTINCT FROM t::timestamptz;
-- More than six digits of a second: cut, not rounded into the next.
SELECT status FROM lb_submit_json('[{"counter": "sum", "member": "a", "delta": 1, "key": "fine", "event_time": "2024-12-31T23:59:59.99999999999Z"}]');
SELECT event_time AT TIME ZONE 'UTC' AS time FROM lb.event WHERE key = 'fine';
-- Malformed, or without an offset, or no instant.
SELECT t, s.status, s.reason FROM unnest(ARRAY['', 'now', 'today', 'infinity', '-infinity', 'epoch', '2024-02-29', '2024-02-29T12:30:00', '2024-02-30T12:30:00Z', '2023-02-29T12:30:00Z',
	'1900-02-29T12:30:00Z', '2024-13-01T00:00:00Z', '2024-00-01T00:00:00Z', '2024-01-00T00:00:00Z', '2024-01-32T00:00:00Z', '2024-01-01T24:00:00Z', '2024-01-01T23:60:00Z', '2024-01-01T23:59:60Z',
	'2024-01-01T00:00:00.Z', '2024-01-01T00:00:00,5Z', '2024-1-1T00:00:00Z', '24-01-01T00:00:00Z', '02024-01-01T00:00:00Z', '-2024-01-01T00:00:00Z', '0000-01-01T00:00:00Z',
	'4713-01-01T00:00:00Z BC', '2024-01-01T00:00:00Z BC', '2024-01-01T00:00:00+16:00', '2024-01-01T00:00:00+02:60', '2024-01-01T00:00:00+2', '2024-01-01T00:00:00 Europe/Berlin', '2024-01-01T00:00:00EST',
	'2024-01-01T00:00:00Z ', ' 2024-01-01T00:00:00Z', '2024-01-01T00:00:00ZZ', '2024-01-01T00:00:00+02:00x', '20240101T000000Z', '2024-W01-1T00:00:00Z', '2024-001T00:00:00Z', '01/02/2024 00:00:00Z',
	'１024-01-01T00:00:00Z', '1704067200', repeat('2', 1000)]) AS t,
	LATERAL lb_submit_json(jsonb_build_array(jsonb_build_object('counter', 'sum', 'member', 'a', 'delta', 1, 'key', 'bad', 'event_time', t))) AS s
WHERE s.reason IS DISTINCT FROM 'bad_event_time';
SELECT j, s.status, s.reason FROM unnest(ARRAY['1704067200', '1.5', 'true', '[]', '{}', '["2024-01-01T00:00:00Z"]']) AS j,
	LATERAL lb_submit_json(format('[{"counter": "sum", "member": "a", "delta": 1, "key": "bad", "event_time": %s}]', j)::jsonb) AS s
WHERE s.reason IS DISTINCT FROM 'bad_event_time';
SELECT t, s.status, s.reason FROM (VALUES ('0001-01-01T00:00:00Z', 'too_old'), ('1850-01-01T00:00:00Z', 'too_old'), ('9999-12-31T23:59:59Z', 'in_future')) AS v (t, why),
	LATERAL lb_submit_json(jsonb_build_array(jsonb_build_object('counter', 'sum', 'member', 'a', 'delta', 1, 'key', 'bad', 'event_time', t))) AS s
WHERE s.reason IS DISTINCT FROM why;

-- Escapes and multibyte text arrive as they are.
SELECT status FROM lb_submit_json('[{"counter": "sum", "member": "D\u017eeko \ud83c\udfc6 \" \\ \n", "delta": 1, "key": "esc"}]');
SELECT member = E'Džeko 🏆 " \\ \n' AS same FROM lb.event WHERE key = 'esc';
-- What is counted is what was accepted, for each counter.
SELECT events > 0 AS some FROM lb_refresh();
SELECT c.counter, m.member, v.value, v.value_low FROM (VALUES (:sum, 'sum'), (:acme, 'acme/sum')) AS c (id, counter),
	LATERAL (SELECT member, sum(delta) AS total FROM lb.event WHERE counter_id = c.id GROUP BY member) AS m, LATERAL lb_value(c.counter, m.member) AS v
WHERE m.total BETWEEN -9223372036854775808 AND 9223372036854775807 AND v.value IS DISTINCT FROM m.total;
DROP EXTENSION leaderboard;
