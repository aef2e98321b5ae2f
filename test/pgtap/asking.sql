-- lb_series, lb_windows and lb_events over random events, against plain SQL
-- over the log.  The seed is in the names of the tests: LB_SEED=… repeats a run.
\i test/include/seeded.sql
SELECT plan(13);

-- Zones whose clocks change at a whole hour, and not at midnight: of those
-- date_trunc knows the calendar.
CREATE TABLE zone AS SELECT z, lower(split_part(z, '/', 2)) AS tenant FROM unnest(ARRAY['Europe/Berlin', 'America/New_York', 'Asia/Tokyo']) AS z;
SELECT lb_create_tenant(tenant, z) FROM zone \g /dev/null
CREATE TABLE counter AS SELECT tenant || '/' || op AS counter, op, z, tenant,
	lb_create_counter(tenant || '/' || op, operator => op, lateness => '3 hours') AS id
FROM zone, unnest(ARRAY['sum', 'max', 'min', 'last']) AS op;
CREATE TABLE board AS SELECT c.*, c.counter || ' ' || p AS board, p AS period, lb_create_board(c.counter || ' ' || p, c.counter, p) AS board_id
FROM counter AS c, unnest(ARRAY['hour', 'day', 'week', 'month', 'year']) AS p;
-- Events of half a year around both changes of clocks; some come in on time,
-- some days late, some as history.
CREATE TABLE event AS
SELECT c.id, c.counter, c.op, c.z, 'm' || floor(random() * 4) AS member, floor(random() * 100)::bigint - 30 AS delta, c.counter || n AS key,
	timestamptz '2031-03-28 00:00Z' + floor(random() * 3) * interval '105 days' + floor(random() * 6 * 86400) * interval '1 second' AS event_time,
	floor(random() * 30) * interval '1 hour' * (random() < 0.5)::int AS delay,
	CASE WHEN random() < 0.1 THEN 'h' ELSE 'e' END::"char" AS kind
FROM counter AS c, generate_series(1, 150) AS n;
-- Some days have partitions of their own, the others share the default one.
SELECT lb._make_partitions('2031-03-29', '2031-04-01'), lb._make_partitions('2031-07-12', '2031-07-14') \g /dev/null
SELECT s.status, count(*) FROM event AS e, LATERAL lb._submit_batch(e.id, ARRAY[e.member], ARRAY[e.delta], ARRAY[e.key], ARRAY[e.event_time],
	ARRAY[CASE WHEN e.delta % 3 = 0 THEN 'ref' END], NULL, e.kind, e.event_time + e.delay) AS s GROUP BY 1 \g /dev/null
SELECT lb_refresh() \g /dev/null
SELECT is((SELECT count(*) FROM lb.event), (SELECT count(*) FROM event), seeded('all events are in the log'));

-- What each member has in each window, and what came too late for it.
CREATE VIEW fits AS
SELECT c.counter, c.op, c.z, p AS period, e.member, e.delta, e.event_time, e.event_id,
	CASE p WHEN 'hour' THEN date_trunc('hour', e.event_time) ELSE date_trunc(p, e.event_time, c.z) END AS opens,
	e.kind = 'h' OR e.ingest_time - interval '3 hours' <= CASE p WHEN 'hour' THEN date_trunc('hour', e.event_time) + interval '1 hour'
		ELSE (date_trunc(p, e.event_time AT TIME ZONE c.z) + ('1 ' || p)::interval) AT TIME ZONE c.z END AS in_time
FROM lb.event AS e JOIN counter AS c ON c.id = e.counter_id, unnest(ARRAY['hour', 'day', 'week', 'month', 'year']) AS p;
CREATE TABLE truth AS
SELECT counter, op, z, period, member, opens,
	CASE op WHEN 'sum' THEN sum(delta)::bigint WHEN 'max' THEN max(delta) WHEN 'min' THEN min(delta)
		ELSE (array_agg(delta ORDER BY event_time DESC, event_id DESC))[1] END AS value
FROM fits WHERE in_time GROUP BY 1, 2, 3, 4, 5, 6;

-- The series of every member and step, over a random stretch.
CREATE TABLE asked AS
SELECT c.counter, c.op, c.z, p AS period, m AS member, timestamptz '2031-03-20' + floor(random() * 250 * 24) * interval '1 hour' AS from_time, floor(random() * 2000) * interval '1 hour' AS length
FROM counter AS c, unnest(ARRAY['hour', 'day', 'week', 'month', 'year']) AS p, unnest(ARRAY['m0', 'm1', 'm2', 'm3', 'nobody']) AS m;
CREATE TABLE answered AS
SELECT a.*, s.opens, s.value, s.n FROM asked AS a, LATERAL lb_series(a.counter, a.member, ('1 ' || a.period)::interval, a.from_time, a.from_time + a.length) WITH ORDINALITY AS s (opens, value, n);
SELECT cmp_ok((SELECT count(*) FROM answered WHERE value <> 0), '>', 100::bigint, seeded('the series say something'));
SELECT is((SELECT count(*) FROM answered AS a LEFT JOIN truth AS t USING (counter, period, member, opens)
	WHERE a.value IS DISTINCT FROM CASE a.op WHEN 'sum' THEN coalesce(t.value, 0) ELSE t.value END), 0::bigint, seeded('each step has the value of its window'));
SELECT is((SELECT count(*) FROM truth AS t JOIN asked AS a USING (counter, period, member)
	WHERE t.opens >= a.from_time AND t.opens < a.from_time + a.length
	AND NOT EXISTS (SELECT FROM answered AS s WHERE (s.counter, s.period, s.member, s.from_time, s.opens) = (a.counter, a.period, a.member, a.from_time, t.opens))), 0::bigint, seeded('no window is left out'));
SELECT is((SELECT count(*) FROM answered AS a WHERE n = 1 AND NOT (opens <= from_time AND opens =
	CASE period WHEN 'hour' THEN date_trunc('hour', from_time) ELSE date_trunc(period, from_time, z) END)), 0::bigint, seeded('a series begins with the window of from_time'));
SELECT is((SELECT count(*) FROM answered AS a JOIN answered AS b USING (counter, period, member, from_time) WHERE b.n = a.n + 1 AND b.opens IS DISTINCT FROM
	CASE a.period WHEN 'hour' THEN a.opens + interval '1 hour' ELSE (a.opens AT TIME ZONE a.z + ('1 ' || a.period)::interval) AT TIME ZONE a.z END), 0::bigint, seeded('and goes on without a gap'));
SELECT is((SELECT count(*) FROM (SELECT counter, period, member, from_time, length, max(opens) AS last, z FROM answered GROUP BY 1, 2, 3, 4, 5, 7) AS l
	WHERE last >= from_time + length OR CASE period WHEN 'hour' THEN last + interval '1 hour' ELSE (last AT TIME ZONE z + ('1 ' || period)::interval) AT TIME ZONE z END < from_time + length), 0::bigint,
	seeded('up to to_time'));
SELECT is((SELECT count(*) FROM answered AS a, LATERAL lb_value(a.counter, a.member, a.period, a.opens) AS v
	WHERE a.period <> 'hour' AND a.value IS DISTINCT FROM CASE a.op WHEN 'sum' THEN coalesce(v.value, 0) ELSE v.value END), 0::bigint, seeded('lb_value says the same'));

-- The windows of every board.
CREATE TABLE listed AS SELECT b.*, w.* FROM board AS b, LATERAL lb_windows(b.board, 1000) WITH ORDINALITY AS w (label, opens, closes, settles, state, population, n);
SELECT is((SELECT count(*) FROM (SELECT board, opens, population FROM listed WHERE population > 0
	EXCEPT ALL SELECT b.board, t.opens, count(*) FROM truth AS t JOIN board AS b USING (counter, period) GROUP BY 1, 2) AS d)
	+ (SELECT count(*) FROM (SELECT b.board, t.opens, count(*) FROM truth AS t JOIN board AS b USING (counter, period) GROUP BY 1, 2
	EXCEPT ALL SELECT board, opens, population FROM listed WHERE population > 0) AS d), 0::bigint, seeded('lb_windows lists every window that somebody is in'));
SELECT is((SELECT count(*) FROM listed WHERE label <> to_char(opens AT TIME ZONE z, CASE period WHEN 'hour' THEN 'YYYY-MM-DD HH24:MI' WHEN 'day' THEN 'YYYY-MM-DD' WHEN 'week' THEN 'IYYY-"W"IW' WHEN 'month' THEN 'YYYY-MM' ELSE 'YYYY' END)
	AND NOT (period = 'hour' AND label::timestamptz = opens)), 0::bigint, seeded('by its name'));
SELECT is((SELECT count(*) FROM (SELECT board, label FROM listed GROUP BY 1, 2 HAVING count(*) > 1) AS d)
	+ (SELECT count(*) FROM listed AS a JOIN listed AS b USING (board) WHERE b.n = a.n + 1 AND b.opens >= a.opens)
	+ (SELECT count(*) FROM listed AS l, LATERAL lb_version(l.board, at => l.opens) AS v WHERE (v.opens, v.closes, v.settles, v.state, v.population) IS DISTINCT FROM (l.opens, l.closes, l.settles, l.state, l.population)), 0::bigint,
	seeded('once each, newest first, as lb_version has it'));

-- The log.
CREATE TABLE question AS
SELECT n AS id, counter, CASE WHEN random() < 0.5 THEN 'm' || floor(random() * 5) END AS member, CASE WHEN random() < 0.3 THEN counter || floor(random() * 160) END AS key,
	CASE WHEN random() < 0.5 THEN timestamptz '2031-03-28' + floor(random() * 220) * interval '1 day' END AS since, 1 + floor(random() * 60)::integer AS most
FROM generate_series(1, 120) AS n, LATERAL (SELECT counter FROM counter ORDER BY hashtext(n || counter.counter) LIMIT 1) AS c;
CREATE TABLE found AS SELECT q.id, e.* FROM question AS q, LATERAL lb_events(q.counter, q.member, q.key, q.since, q.most) WITH ORDINALITY AS e (event_id, member, delta, actor, key, event_time, ingest_time, kind, source, counted, n);
CREATE TABLE due AS SELECT q.id, e.event_id, e.member, e.delta, e.actor, e.key, e.event_time, e.ingest_time, CASE e.kind WHEN 'h' THEN 'history' ELSE 'event' END AS kind, e.source, true AS counted,
	row_number() OVER (PARTITION BY q.id ORDER BY e.ingest_time DESC, e.event_id DESC) AS n
FROM question AS q JOIN counter AS c USING (counter) JOIN lb.event AS e ON e.counter_id = c.id AND (q.member IS NULL OR e.member = q.member) AND (q.key IS NULL OR e.key = q.key)
	AND (q.since IS NULL OR e.ingest_time >= q.since);
SELECT cmp_ok((SELECT count(*) FROM found), '>', 500::bigint, seeded('lb_events finds something'));
SELECT is((SELECT count(*) FROM (SELECT * FROM found EXCEPT ALL SELECT due.* FROM due JOIN question USING (id) WHERE n <= most) AS d)
	+ (SELECT count(*) FROM (SELECT due.* FROM due JOIN question USING (id) WHERE n <= most EXCEPT ALL SELECT * FROM found) AS d), 0::bigint, seeded('the newest of those asked for'));
SELECT * FROM finish();
