-- Windows: random streams through the changes of the clocks of a winter, in
-- six zones, under every operator, on boards of every kind of window, against
-- plain SQL over what was submitted.  Rounds come with and without events, and
-- the time is theirs.  The seed is in the names of the tests: LB_SEED=…
-- repeats a run.
\i test/include/seeded.sql
SET jit = off;
SELECT plan(12);

-- Apia leaves a day out at the end of 2011; the others change their clocks,
-- Lord Howe by half an hour, Havana and the Azores at midnight.
CREATE TABLE zone AS SELECT row_number() OVER () AS id, zone FROM unnest(ARRAY['Europe/Berlin', 'America/Havana', 'Atlantic/Azores', 'Australia/Lord_Howe',
	'Asia/Kathmandu', 'Pacific/Apia']) AS zone;
CREATE TABLE season (id serial, middle timestamptz);
INSERT INTO season (middle) VALUES ('2011-10-01 16:00Z'), ('2011-10-30 02:00Z'), ('2011-11-13 06:00Z'), ('2011-12-30 22:00Z'), ('2012-03-25 02:00Z'), ('2012-04-01 08:00Z');

-- Windows by what local clocks show, on a grid that holds every change: a
-- boundary is the first instant that shows it or more.
CREATE FUNCTION reached(local timestamp, zone text) RETURNS timestamptz LANGUAGE sql STABLE AS $$
	SELECT min(t) FROM generate_series(local AT TIME ZONE 'UTC' - interval '16 hours', local AT TIME ZONE 'UTC' + interval '40 hours', '15 minutes') AS t WHERE t AT TIME ZONE zone >= local
$$;
CREATE TABLE shape (period text, starts interval);
INSERT INTO shape VALUES ('day', '0'), ('day', '6 hours'), ('week', '0'), ('week', '1 day 3 hours'), ('month', '0'), ('month', '9 days 12 hours'), ('year', '0'), ('year', '364 days 23:50');
CREATE TABLE win AS
WITH local AS (SELECT zone, period, starts, date_trunc(period, d) + starts AS local
	FROM zone, shape, generate_series(timestamp '2011-09-10' - interval '1 year', '2012-04-20', '1 day') AS d
	WHERE d >= '2011-09-10' OR period = 'year' GROUP BY 1, 2, 3, 4)
SELECT zone, period, starts, opens, lead(opens) OVER (PARTITION BY zone, period, starts ORDER BY local) AS closes
FROM (SELECT *, reached(local, zone) AS opens FROM local) AS l;
-- Buckets of one hour and of ten minutes: stretches of local time without a change of the clock.
CREATE TABLE bucket AS
SELECT zone, grain, opens, lead(opens) OVER w AS closes, row_number() OVER w AS n
FROM (SELECT zone, grain, t AS opens, (floor(extract(epoch FROM l) / grain), off) IS DISTINCT FROM lag((floor(extract(epoch FROM l) / grain), off)) OVER (PARTITION BY zone, grain ORDER BY t) AS begins
	FROM zone, unnest(ARRAY[600, 3600]) AS grain, (SELECT DISTINCT t FROM season, generate_series(middle - interval '9 days 16 hours', middle + interval '4 days', '5 minutes') AS t) AS g,
		LATERAL (SELECT t AT TIME ZONE zone AS l, t AT TIME ZONE zone - t AT TIME ZONE 'UTC' AS off) AS o) AS b
WHERE begins WINDOW w AS (PARTITION BY zone, grain ORDER BY opens);
INSERT INTO win SELECT zone, 'hour', '0', opens, closes FROM bucket WHERE grain = 3600 AND closes - opens <= interval '1 hour';
INSERT INTO win SELECT zone, 'all', '0', '-infinity', 'infinity' FROM zone;
DELETE FROM win WHERE closes IS NULL OR opens >= closes;
CREATE INDEX ON win (zone, period, starts, opens);
CREATE INDEX ON bucket (zone, grain, n);
ANALYZE win;
ANALYZE bucket;

-- What a rolling period covers.
CREATE FUNCTION covers(of_zone text, period text, as_of timestamptz, OUT opens timestamptz, OUT closes timestamptz) LANGUAGE plpgsql STABLE AS $$
DECLARE
	units integer := split_part(period, ' ', 2);
	unit text := split_part(period, ' ', 3);
	of_grain integer := CASE unit WHEN 'minutes' THEN 600 ELSE 3600 END;
	last integer;
BEGIN
	IF unit = 'days' THEN
		SELECT w.closes INTO closes FROM win AS w WHERE w.zone = of_zone AND w.period = 'day' AND w.starts = '0' AND w.opens <= as_of AND as_of < w.closes;
		/* the date of the day before the boundary, however many hours it had */
		SELECT reached((max(t AT TIME ZONE of_zone))::date - (units - 1), of_zone) INTO opens
			FROM generate_series(as_of - interval '3 hours', as_of, '5 minutes') AS t;
		RETURN;
	END IF;
	SELECT b.n, b.closes INTO last, closes FROM bucket AS b WHERE b.zone = of_zone AND b.grain = of_grain AND b.opens <= as_of AND as_of < b.closes;
	SELECT b.opens INTO opens FROM bucket AS b WHERE b.zone = of_zone AND b.grain = of_grain AND b.n = last - units * CASE unit WHEN 'minutes' THEN 60 ELSE 3600 END / of_grain + 1;
END
$$;

CREATE TABLE counter AS
SELECT z.zone, op, format('z%s/%s', z.id, op) AS counter, 0::bigint AS id FROM zone AS z, unnest(ARRAY['sum', 'max', 'min', 'last']) AS op;
SELECT count(lb_create_tenant('z' || id, zone)) FROM zone \g /dev/null
UPDATE counter SET id = lb_create_counter(counter, operator => op, max_age => '6 days', max_skew => '30 minutes', lateness => '1 day', grain => '10 minutes');

-- Late ones come when events have been counted; "again" at the end of all.
CREATE TABLE kind (born text, period text, starts interval, lateness interval);
INSERT INTO kind VALUES ('first', 'all', '0', NULL), ('first', 'hour', '0', NULL), ('first', 'day', '0', NULL), ('first', 'week', '0', NULL), ('first', 'month', '0', NULL), ('first', 'year', '0', NULL),
	('first', 'day', '6 hours', NULL), ('first', 'week', '1 day 3 hours', '2 hours'), ('first', 'hour', '0', '0'), ('first', 'day', '0', '3 hours'),
	('first', 'last 30 minutes', '0', NULL), ('first', 'last 3 hours', '0', NULL), ('first', 'last 2 days', '0', NULL), ('first', 'last 30 days', '0', NULL), ('first', 'last 10 minutes', '0', NULL),
	('later', 'month', '9 days 12 hours', NULL), ('later', 'year', '364 days 23:50', NULL), ('later', 'day', '0', '2 days'), ('later', 'day', '6 hours', '0'),
	('later', 'last 20 minutes', '0', NULL), ('later', 'last 30 hours', '0', NULL), ('later', 'last 1 days', '0', NULL);
CREATE TABLE board AS
SELECT c.*, k.*, format('%s %s %s %s', c.counter, period, starts, lateness) AS board, coalesce(lateness, '1 day') AS late_after, period LIKE 'last%' AS rolls, false AS made
FROM counter AS c, kind AS k;
CREATE FUNCTION make(b board) RETURNS bigint LANGUAGE sql VOLATILE AS $$
	SELECT lb_create_board(b.board, b.counter, b.period, starts => b.starts, lateness => b.lateness)
$$;
WITH m AS (SELECT make(b) FROM board AS b WHERE born = 'first') SELECT count(*) FROM m \g /dev/null
UPDATE board SET made = true WHERE born = 'first';

CREATE TABLE schedule (round serial, season integer, as_of timestamptz, events boolean, last boolean);
INSERT INTO schedule (season, as_of, events, last)
SELECT id, at, true, false FROM (SELECT s.id, middle + (n - 2 + random()) * interval '16 hours' AS at FROM season AS s, generate_series(-1, 3) AS n
	UNION ALL SELECT id, middle + (random() - 0.5) * interval '4 hours' FROM season, generate_series(1, 2)) AS s ORDER BY at;
-- Some rounds have nothing to count: a minute later, and some half hours.
INSERT INTO schedule (season, as_of, events, last)
SELECT season, as_of + interval '10 seconds' + random() * CASE round % 3 WHEN 0 THEN interval '1 minute' WHEN 1 THEN interval '15 minutes' ELSE interval '2 hours' END, false, false
FROM schedule WHERE round % 3 < 2 OR random() < 0.3;
UPDATE schedule AS s SET last = true WHERE as_of = (SELECT max(as_of) FROM schedule AS o WHERE o.season = s.season);
CREATE TABLE plan AS SELECT row_number() OVER (ORDER BY as_of) AS round, season, as_of, events, last FROM schedule;

CREATE TABLE raw (round integer, counter text, event_id bigint, member text, delta bigint, event_time timestamptz, ingest_time timestamptz, kind "char");
CREATE INDEX ON raw (counter, event_time);

-- The events of a round: of the last hours and days, a few ahead of the clock,
-- and many at a boundary or a microsecond before it.
CREATE PROCEDURE play(this plan) LANGUAGE plpgsql AS $$
DECLARE
	c counter;
	now timestamptz;
	of_kind "char";
	m text[];
	d bigint[];
	t timestamptz[];
BEGIN
	FOR c IN SELECT * FROM counter WHERE random() < 0.8 LOOP
		now := this.as_of - random() ^ 3 * interval '40 minutes';
		of_kind := CASE WHEN random() < 0.1 THEN 'h' ELSE 'e' END;
		SELECT array_agg('m' || floor(random() ^ 2 * 12)), array_agg(CASE WHEN random() < 0.2 THEN 0 ELSE floor(random() * 9) - 4 END), array_agg(e.at)
			INTO m, d, t
			FROM (SELECT CASE WHEN random() < 0.5 OR bound IS NULL THEN about ELSE bound - CASE WHEN random() < 0.5 THEN interval '0' ELSE interval '1 microsecond' END END AS at
				FROM (SELECT now + CASE WHEN r < 0.1 THEN random() * interval '30 minutes' WHEN r < 0.6 THEN - random() * interval '2 hours'
						WHEN r < 0.8 THEN - random() * interval '30 hours' ELSE - random() * interval '5 days 23 hours' END AS about
					FROM generate_series(1, 1 + (random() * 12)::int), LATERAL (SELECT random() AS r) AS r) AS a
				LEFT JOIN LATERAL (SELECT b.opens AS bound FROM bucket AS b WHERE b.zone = c.zone AND b.grain = CASE WHEN extract(epoch FROM about)::bigint % 2 = 0 THEN 600 ELSE 3600 END
					AND b.opens <= about AND about < b.closes) AS b ON true) AS e;
		INSERT INTO raw SELECT this.round, c.counter, s.event_id, m[s.ordinal], d[s.ordinal], t[s.ordinal], now, of_kind
			FROM lb._submit_batch(c.id, m, d, (SELECT array_agg(format('%s_%s', this.round, i)) FROM generate_subscripts(m, 1) AS i), t, NULL, NULL, of_kind, now) AS s
			WHERE s.status = 'accepted';
	END LOOP;
END
$$;

-- The windows to look at after a round: those of its events, or all; and what rolling boards cover.
CREATE FUNCTION looked_at(this plan, everything boolean) RETURNS TABLE (b board, opens timestamptz, closes timestamptz) LANGUAGE sql VOLATILE AS $$
	SELECT b, w.opens, w.closes
	FROM board AS b JOIN win AS w ON w.zone = b.zone AND w.period = b.period AND w.starts = b.starts
	WHERE b.made AND EXISTS (SELECT FROM raw AS r WHERE r.counter = b.counter AND r.event_time >= w.opens AND r.event_time < w.closes AND (everything OR r.round = this.round))
	UNION ALL
	SELECT b, c.opens, c.closes FROM board AS b, LATERAL covers(b.zone, b.period, this.as_of) AS c WHERE b.made AND b.rolls
$$;

-- What members have, by plain SQL.
CREATE FUNCTION add_up(op text, deltas bigint[], times timestamptz[], ids bigint[], OUT value bigint, OUT reached_at timestamptz) LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE op WHEN 'sum' THEN sum(d) WHEN 'max' THEN max(d) WHEN 'min' THEN min(d) ELSE (array_agg(d ORDER BY t DESC, i DESC))[1] END,
		CASE op WHEN 'sum' THEN coalesce(max(t) FILTER (WHERE d <> 0), min(t)) WHEN 'max' THEN (array_agg(t ORDER BY d DESC, t))[1] WHEN 'min' THEN (array_agg(t ORDER BY d, t))[1]
			ELSE max(t) END
	FROM unnest(deltas, times, ids) AS e (d, t, i)
$$;

CREATE TABLE wrong (round integer, what text, shown text);

CREATE FUNCTION wrong_boards(this plan, everything boolean) RETURNS TABLE (what text, shown text) LANGUAGE sql VOLATILE AS $$
	WITH looked AS MATERIALIZED (SELECT (b).*, opens, closes FROM looked_at(this, everything)),
	due AS MATERIALIZED (SELECT board, opens, member, value, reached_at,
			rank() OVER (PARTITION BY board, opens ORDER BY CASE op WHEN 'min' THEN value ELSE -value END) AS rank
		FROM (SELECT l.board, l.opens, l.op, r.member, (add_up(l.op, array_agg(r.delta), array_agg(r.event_time), array_agg(r.event_id))).*
			FROM looked AS l JOIN raw AS r ON r.counter = l.counter AND r.event_time >= l.opens AND r.event_time < l.closes
			WHERE l.rolls OR l.period = 'all' OR r.kind = 'h' OR r.ingest_time - l.late_after <= l.closes GROUP BY 1, 2, 3, 4) AS v),
	shown AS MATERIALIZED (SELECT l.board, l.opens, p.member, p.value, p.reached_at, p.rank
		FROM looked AS l, LATERAL lb_page(l.board, 1, 1000, at => CASE WHEN l.rolls OR l.period = 'all' THEN NULL ELSE l.opens END) AS p)
	SELECT 'board', format('%s, window of %s: due %s, shown %s', coalesce(d.board, s.board), coalesce(d.opens, s.opens), d, s)
	FROM due AS d FULL JOIN shown AS s ON s.board = d.board AND s.opens = d.opens AND s.member = d.member
	WHERE (d.value, d.reached_at, d.rank) IS DISTINCT FROM (s.value, s.reached_at, s.rank)
$$;

-- lb_values: what is in time, and what is late, by the counter's lateness.
CREATE FUNCTION wrong_values(this plan, everything boolean) RETURNS TABLE (what text, shown text) LANGUAGE sql VOLATILE AS $$
	WITH looked AS MATERIALIZED (SELECT (b).*, opens, closes FROM looked_at(this, everything) WHERE (b).starts = '0' AND (b).lateness IS NULL AND (everything OR hashtext((b).board || opens) % 3 = 0)),
	due AS MATERIALIZED (SELECT v.*, (i).value AS value, coalesce((o).value, CASE op WHEN 'sum' THEN 0 END) AS late
		FROM (SELECT l.counter, l.op, l.period, l.opens, l.rolls, r.member,
				add_up(l.op, array_agg(r.delta) FILTER (WHERE in_time), array_agg(r.event_time) FILTER (WHERE in_time), array_agg(r.event_id) FILTER (WHERE in_time)) AS i,
				add_up(l.op, array_agg(r.delta) FILTER (WHERE NOT in_time), array_agg(r.event_time) FILTER (WHERE NOT in_time), array_agg(r.event_id) FILTER (WHERE NOT in_time)) AS o
			FROM looked AS l JOIN raw AS r ON r.counter = l.counter AND r.event_time >= l.opens AND r.event_time < l.closes,
				LATERAL (SELECT l.rolls OR l.period = 'all' OR r.kind = 'h' OR r.ingest_time - l.late_after <= l.closes AS in_time) AS t GROUP BY 1, 2, 3, 4, 5, 6) AS v)
	SELECT 'lb_values', row(d, s)::text
	FROM (SELECT counter, period, opens, rolls, array_agg(member) AS members FROM due GROUP BY 1, 2, 3, 4) AS a
		CROSS JOIN LATERAL lb_values(a.counter, a.members, a.period, CASE WHEN a.rolls OR a.period = 'all' THEN NULL ELSE a.opens END) AS s
		LEFT JOIN due AS d ON d.counter = a.counter AND d.period = a.period AND d.opens = a.opens AND d.member = s.member
	WHERE (d.value, d.late) IS DISTINCT FROM (s.value, s.late)
$$;

CREATE PROCEDURE run(of_season integer) LANGUAGE plpgsql AS $$
DECLARE
	p plan;
BEGIN
	FOR p IN SELECT * FROM plan WHERE season = of_season ORDER BY round LOOP
		IF p.events THEN
			CALL play(p);
			COMMIT;
		END IF;
		PERFORM lb._refresh(NULL, p.as_of);
		COMMIT;
		ANALYZE raw;
		INSERT INTO wrong SELECT p.round, w.* FROM wrong_boards(p, p.last) AS w LIMIT 20;
		INSERT INTO wrong SELECT p.round, w.* FROM wrong_values(p, false) AS w LIMIT 20;
		COMMIT;
	END LOOP;
END
$$;

CALL run(1);
CALL run(2);
SELECT is((SELECT min(format('round %s of %s: %s: %s', round, (SELECT as_of FROM plan AS p WHERE p.round = wrong.round), what, shown)) FROM wrong), NULL, seeded('two seasons'));
-- Boards that come when much was counted: their windows settle as none did.
WITH m AS (SELECT make(b) FROM board AS b WHERE born = 'later') SELECT count(*) FROM m \g /dev/null
UPDATE board SET made = true;
INSERT INTO wrong SELECT p.round, w.* FROM plan AS p, wrong_boards(p, true) AS w WHERE p.season = 2 AND p.last LIMIT 20;
SELECT is((SELECT min(format('round %s of %s: %s: %s', round, (SELECT as_of FROM plan AS p WHERE p.round = wrong.round), what, shown)) FROM wrong), NULL, seeded('boards made over what was counted'));
CALL run(3);
CALL run(4);
SELECT is((SELECT min(format('round %s of %s: %s: %s', round, (SELECT as_of FROM plan AS p WHERE p.round = wrong.round), what, shown)) FROM wrong), NULL, seeded('a day left out, and the turn of the year'));
CALL run(5);
CALL run(6);
SELECT is((SELECT min(format('round %s of %s: %s: %s', round, (SELECT as_of FROM plan AS p WHERE p.round = wrong.round), what, shown)) FROM wrong), NULL, seeded('spring'));
TRUNCATE wrong;
INSERT INTO wrong SELECT p.round, w.* FROM plan AS p, wrong_values(p, true) AS w WHERE p.season = 6 AND p.last LIMIT 20;
SELECT is((SELECT min(shown) FROM wrong), NULL, seeded('lb_values of every window'));
SELECT is(min(format('%s: %s', board, c.problem)), NULL, seeded('lb_check finds nothing')) FROM board AS b, LATERAL lb_check(b.board) AS c;

-- Late events by window, as lb.late says.
WITH due AS (SELECT 'z' || z.id AS tenant, c.op AS counter, w.period, w.opens, w.closes, count(*) AS events, count(*) FILTER (WHERE r.kind <> 'h' AND r.ingest_time - interval '1 day' > w.closes) AS late
	FROM zone AS z JOIN counter AS c USING (zone) JOIN raw AS r USING (counter) JOIN win AS w ON w.zone = z.zone AND w.starts = '0' AND w.period <> 'all' AND r.event_time >= w.opens AND r.event_time < w.closes GROUP BY 1, 2, 3, 4, 5)
SELECT is(min(row(d, l)::text), NULL, seeded('lb.late')) FROM (SELECT * FROM due WHERE late > 0) AS d FULL JOIN lb.late AS l USING (tenant, counter, period, opens, closes)
WHERE (d.late, d.events) IS DISTINCT FROM (l.late, l.events) OR l.ratio IS DISTINCT FROM d.late::float8 / d.events;
SELECT ok(count(*) > 100 AND count(DISTINCT period) >= 3, seeded('many windows had late events')) FROM lb.late;

-- Rolling boards let members go, and keep what older versions say of them.
SELECT ok(count(*) > 0, seeded('members left rolling boards')) FROM lb.moved AS m JOIN lb.ranking AS r USING (counter_id, ranking_id) JOIN board AS b ON b.id = m.counter_id AND b.rolls
WHERE m.value IS NOT NULL AND NOT EXISTS (SELECT FROM lb.standing AS s WHERE (s.counter_id, s.ranking_id, s.member) = (m.counter_id, m.ranking_id, m.member));
SELECT is(min(format('%s: %s', board, v)), NULL, seeded('rolling boards cover what plain SQL says, are live and never settle'))
FROM (SELECT max(as_of) AS as_of FROM plan) AS p, board AS b, LATERAL lb_version(b.board) AS v, LATERAL covers(b.zone, b.period, p.as_of) AS c
WHERE rolls AND (v.opens, v.closes, v.settles, v.state, v.as_of) IS DISTINCT FROM (c.opens, c.closes, 'infinity', 'live', p.as_of);

-- A window has settled when nothing that comes can be in time for it, by the board's own lateness.
SELECT is(min(format('%s at %s: %s', (l.b).board, l.opens, state)), NULL, seeded('states go by the board''s own lateness'))
FROM (SELECT * FROM plan ORDER BY round DESC LIMIT 1) AS p, (SELECT floor FROM lb.round ORDER BY number DESC LIMIT 1) AS f, looked_at(p, true) AS l, LATERAL lb_version((l.b).board, at => CASE WHEN isfinite(l.opens) THEN l.opens ELSE p.as_of END) AS v
WHERE NOT (l.b).rolls AND state <> CASE WHEN NOT isfinite(l.closes) THEN 'live' WHEN floor - (l.b).late_after > l.closes THEN 'settled' ELSE 'provisional' END;

-- The same boards once more, built from buckets.
SELECT lb_drop_board(board) FROM board \g /dev/null
WITH m AS (SELECT make(b) FROM board AS b ORDER BY random()) SELECT count(*) FROM m \g /dev/null
TRUNCATE wrong;
INSERT INTO wrong SELECT p.round, w.* FROM plan AS p, wrong_boards(p, true) AS w WHERE p.season = 6 AND p.last LIMIT 20;
SELECT is((SELECT min(shown) FROM wrong), NULL, seeded('all boards once more'));
SELECT * FROM finish();
