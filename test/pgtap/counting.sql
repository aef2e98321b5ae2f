-- Random streams, counted in several rounds, against plain SQL over what was
-- submitted.  The seed is in the names of the tests: LB_SEED=… repeats a run.
\i test/include/seeded.sql
SELECT plan(53);

-- A day of 25 hours is in the middle of the stream.
SELECT lb_create_tenant('t', 'Europe/Berlin') \g /dev/null
CREATE TABLE stream AS
SELECT op, lb_create_counter('t/' || op, operator => op, max_age => '30 days', lateness => '36 hours') AS id
FROM unnest(ARRAY['sum', 'max', 'min', 'last']) AS op;
CREATE TABLE ranked AS
SELECT op, period, 't/' || op || '_' || period AS board, lb_create_board('t/' || op || '_' || period, 't/' || op, period) AS id
FROM stream, unnest(ARRAY['all', 'hour', 'day', 'week', 'month', 'year']) AS period
WHERE op = 'sum' OR period IN ('all', 'day', 'month');

-- The test's own record of what was accepted.
CREATE TABLE raw (op text, event_id bigint, member text, delta bigint, event_time timestamptz, ingest_time timestamptz, kind "char");

-- Submit n events of a stream at an instant: out of order by up to five days,
-- often at equal times and on boundaries, with few members and few values.
CREATE PROCEDURE submit(op text, at timestamptz, n integer, kind "char" DEFAULT 'e') LANGUAGE plpgsql AS $$
DECLARE
	lost bigint;
BEGIN
	CREATE TEMP TABLE IF NOT EXISTS batch (ordinal integer, member text, delta bigint, event_time timestamptz);
	TRUNCATE batch;
	INSERT INTO batch SELECT i, 'm' || floor(random() ^ 2 * 25),
		CASE WHEN random() < 0.2 THEN 0 ELSE floor(random() * 9) - 4 END,
		date_trunc((ARRAY['second', 'minute', 'hour', 'day', 'microseconds'])[1 + floor(random() * 5)],
			at - CASE WHEN kind = 'h' THEN interval '20 days' WHEN random() < 0.6 THEN interval '2 hours' ELSE interval '5 days' END * random(), 'Europe/Berlin')
	FROM generate_series(1, n) AS i;
	-- one member has nothing but zeros
	UPDATE batch SET delta = 0 WHERE member = 'm3';
	WITH s AS (
		SELECT s.* FROM (SELECT array_agg(member ORDER BY ordinal) AS m, array_agg(delta ORDER BY ordinal) AS d, array_agg(event_time ORDER BY ordinal) AS t,
			array_agg(concat(at, ' ', ordinal, kind) ORDER BY ordinal) AS k FROM batch) AS g,
			LATERAL lb._submit_batch((SELECT id FROM stream AS x WHERE x.op = submit.op), m, d, k, t, NULL, NULL, kind, at) AS s)
	INSERT INTO raw SELECT op, event_id, member, delta, event_time, at, kind FROM s JOIN batch USING (ordinal) WHERE status = 'accepted';
	SELECT n - count(*) INTO lost FROM raw WHERE ingest_time = at AND raw.op = submit.op AND raw.kind = submit.kind;
	IF lost <> 0 THEN
		RAISE EXCEPTION '% events were not accepted', lost;
	END IF;
END
$$;

-- Which window an event falls into, by date_trunc; Berlin's days begin once.
CREATE FUNCTION opens(period text, t timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE period WHEN 'all' THEN '-infinity' ELSE date_trunc(period, t, 'Europe/Berlin') END
$$;
CREATE FUNCTION closes(period text, opens timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE period WHEN 'all' THEN 'infinity' WHEN 'hour' THEN opens + interval '1 hour'
		ELSE ((opens AT TIME ZONE 'Europe/Berlin') + ('1 ' || period)::interval) AT TIME ZONE 'Europe/Berlin' END
$$;

-- What must be known of each member in each window: value and time reached,
-- of the events that were in time and of those that were late.
CREATE VIEW known AS
SELECT op, period, opens, late, member,
	CASE op WHEN 'sum' THEN sum(delta) WHEN 'max' THEN max(delta) WHEN 'min' THEN min(delta)
		ELSE (array_agg(delta ORDER BY event_time DESC, event_id DESC))[1] END AS value,
	CASE op WHEN 'sum' THEN coalesce(max(event_time) FILTER (WHERE delta <> 0), min(event_time))
		WHEN 'max' THEN (array_agg(event_time ORDER BY delta DESC, event_time))[1]
		WHEN 'min' THEN (array_agg(event_time ORDER BY delta, event_time))[1]
		ELSE max(event_time) END AS reached_at
FROM (
	SELECT r.*, period, opens, kind = 'e' AND ingest_time > closes(period, opens) + interval '36 hours' AS late
	FROM raw AS r, unnest(ARRAY['all', 'hour', 'day', 'week', 'month', 'year']) AS period, LATERAL opens(period, event_time) AS o (opens)
) AS s
GROUP BY op, period, opens, late, member;

-- What the boards say, with their versions, at each cut.
CREATE TABLE said (cut integer, op text, period text, opens timestamptz, version bigint, population bigint, content text);
CREATE TABLE wrong (cut integer, op text, period text, opens timestamptz, what text);

CREATE PROCEDURE compare(at_cut integer) LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS truth, answer, opened;
	CREATE TEMP TABLE truth AS
	SELECT op, period, opens, member, value, reached_at, rank() OVER (PARTITION BY op, period, opens ORDER BY CASE WHEN op = 'min' THEN value ELSE -value END) AS rank,
		count(*) OVER (PARTITION BY op, period, opens) AS population
	FROM known AS k JOIN ranked AS r USING (op, period) WHERE NOT late;
	CREATE TEMP TABLE opened AS SELECT DISTINCT board, op, period, opens FROM known JOIN ranked USING (op, period);
	CREATE TEMP TABLE answer AS
	SELECT w.op, w.period, w.opens, t.* FROM opened AS w,
		LATERAL lb_top(board, 1000, at => CASE WHEN w.opens = '-infinity' THEN now() ELSE w.opens END) AS t;
	INSERT INTO wrong SELECT at_cut, op, period, opens, row(t.member, t.value, t.reached_at, t.rank, a.value, a.reached_at, a.rank, a.kind)::text
	FROM truth AS t FULL JOIN answer AS a USING (op, period, opens, member)
	WHERE (t.value, t.reached_at, t.rank, t.population, 'exact') IS DISTINCT FROM (a.value, a.reached_at, a.rank, a.population, a.kind);
	INSERT INTO said SELECT at_cut, w.op, w.period, w.opens, v.version, v.population,
		(SELECT md5(string_agg(row(member, value, reached_at)::text, ';' ORDER BY member)) FROM answer AS a WHERE (a.op, a.period, a.opens) = (w.op, w.period, w.opens))
	FROM opened AS w,
		LATERAL lb_version(board, at => CASE WHEN w.opens = '-infinity' THEN now() ELSE w.opens END) AS v;
END
$$;

CREATE TABLE round (cut integer, events bigint, rankings bigint, lag interval, submitted bigint);
DO $$
DECLARE
	at timestamptz := '2040-10-22 10:00Z';
	before bigint := 0;
BEGIN
	FOR cut IN 1 .. 7 LOOP
		FOR i IN 1 .. 1 + floor(random() * 4) LOOP
			at := at + random() * interval '30 hours';
			CALL submit('sum', at, 1 + floor(random() * 90)::integer);
			CALL submit((ARRAY['max', 'min', 'last'])[1 + floor(random() * 3)], at, 1 + floor(random() * 60)::integer);
			IF random() < 0.5 THEN
				COMMIT;
			END IF;
		END LOOP;
		IF cut = 4 THEN
			CALL submit('sum', at, 40, 'h');
			CALL submit('last', at, 40, 'h');
		END IF;
		COMMIT;
		INSERT INTO round SELECT cut, f.*, (SELECT count(*) FROM raw) - before FROM lb_refresh() AS f;
		COMMIT;
		before := (SELECT count(*) FROM raw);
		CALL compare(cut);
		COMMIT;
	END LOOP;
END
$$;
SELECT is(min(row(cut, opens, what)::text) FILTER (WHERE what IS NOT NULL), NULL, seeded(format('%s per %s is what plain SQL says, at every cut', op, period)))
FROM ranked LEFT JOIN wrong USING (op, period) GROUP BY op, period ORDER BY op, period;
SELECT ok((SELECT count(*) FROM known WHERE late) > 100 AND (SELECT count(*) FROM known WHERE NOT late AND period = 'day') > 100, seeded('some events are late and some are not'));
SELECT is((SELECT array_agg(events ORDER BY cut) FROM round), (SELECT array_agg(submitted ORDER BY cut) FROM round), seeded('each round counts what was submitted since the last'));
SELECT ok(bool_and(rankings > 0 AND lag >= '0' AND lag < '1 hour'), seeded('rounds say what they changed and how long ago')) FROM round;

-- Versions: a ranking's version moves exactly when its content does, and only up.
CREATE VIEW step AS SELECT *, lag(version) OVER w AS version_before, lag(content) OVER w AS content_before, lag(cut) OVER w AS cut_before
FROM said WINDOW w AS (PARTITION BY op, period, opens ORDER BY cut);
SELECT is(count(*), 0::bigint, seeded('versions strictly grow where something changed'))
FROM step WHERE cut_before IS NOT NULL AND content IS DISTINCT FROM content_before AND version <= version_before;
SELECT is(min(row(op, period, opens, cut)::text), NULL, seeded('versions stay where nothing changed'))
FROM step WHERE cut_before IS NOT NULL AND content = content_before AND version <> version_before;
SELECT ok(count(*) FILTER (WHERE content = content_before) > 10 AND count(*) FILTER (WHERE content <> content_before) > 10, seeded('there were both')) FROM step;
SELECT is((SELECT sum(rankings) FROM round), (SELECT count(*)::numeric FROM step WHERE content IS DISTINCT FROM content_before), seeded('rounds count the rankings that changed'));

-- A round without news.
SELECT as_of AS before FROM lb_version('t/sum_all') \gset
SELECT is(row(events, rankings)::text, '(0,0)', 'a round without news changes nothing') FROM lb_refresh();
SELECT is(count(*), 0::bigint, seeded('nor any version')) FROM said AS s JOIN ranked AS r USING (op, period),
	LATERAL lb_version(board, at => CASE WHEN s.opens = '-infinity' THEN now() ELSE s.opens END) AS v
WHERE s.cut = 7 AND s.population > 0 AND v.version <> s.version;
SELECT ok(as_of > :'before', 'as_of moves on quiet boards too') FROM lb_version('t/sum_all');

-- lb_values says the same, with a board or without, and what came late.
CREATE TABLE asked AS
SELECT w.op, w.period, w.opens, v.member, v.value, v.value_low, v.value_high, v.late
FROM (SELECT DISTINCT op, period, opens FROM known) AS w, (SELECT array_agg('m' || i) AS members FROM generate_series(0, 26) AS i) AS g,
	LATERAL lb_values('t/' || op, members, period, CASE WHEN opens = '-infinity' THEN now() ELSE opens END) AS v
WHERE period <> 'hour' OR random() < 0.2;
CREATE TABLE summed AS
SELECT op, period, opens, member, max(value) FILTER (WHERE NOT late) AS value, max(value) FILTER (WHERE late) AS late FROM known GROUP BY 1, 2, 3, 4;
SELECT is(min(row(a.*, s.value, s.late)::text) FILTER (WHERE (a.value, a.value_low, a.value_high, a.late)
	IS DISTINCT FROM (s.value, s.value, s.value, CASE op WHEN 'sum' THEN coalesce(s.late, 0) ELSE s.late END)), NULL,
	seeded(format('lb_values of %s per %s is what plain SQL says', op, period)))
FROM asked AS a LEFT JOIN summed AS s USING (op, period, opens, member) GROUP BY op, period ORDER BY op, period;
SELECT is(count(*), 0::bigint, 'members without events are NULL, not zero') FROM asked WHERE member IN ('m25', 'm26') AND value IS NOT NULL;
SELECT is(min(v::text), NULL, seeded('lb_value is lb_values of one')) FROM asked AS a, LATERAL lb_value('t/' || op, member, period, CASE WHEN opens = '-infinity' THEN now() ELSE opens END) AS v
WHERE period IN ('all', 'week') AND (v.member, v.value, v.value_low, v.value_high, v.late) IS DISTINCT FROM (a.member, a.value, a.value_low, a.value_high, a.late);

-- A board made now has the history of those made before.
CREATE TABLE later AS
SELECT op, period, opens, lb_create_board('t/later_' || r.id, 't/' || op, period) AS id, r.id AS of FROM ranked AS r JOIN (SELECT op, period, max(opens) AS opens FROM known GROUP BY 1, 2) AS k USING (op, period);
SELECT is(min(d::text), NULL, seeded('a new board over old events shows the same history')) FROM (
	(SELECT l.op, l.period, s.opens, t.member, t.value, t.rank, t.reached_at, t.population FROM later AS l JOIN said AS s USING (op, period), LATERAL lb_top('t/later_' || of, 1000, at => CASE WHEN s.opens = '-infinity' THEN now() ELSE s.opens END) AS t WHERE s.cut = 7
	EXCEPT SELECT op, period, opens, member, value, rank, reached_at, population FROM answer)
	UNION ALL (SELECT op, period, opens, member, value, rank, reached_at, population FROM answer
	EXCEPT SELECT l.op, l.period, s.opens, t.member, t.value, t.rank, t.reached_at, t.population FROM later AS l JOIN said AS s USING (op, period), LATERAL lb_top('t/later_' || of, 1000, at => CASE WHEN s.opens = '-infinity' THEN now() ELSE s.opens END) AS t WHERE s.cut = 7)) AS d;
-- And goes on from there.
DO $$
BEGIN
	FOR i IN 1 .. 3 LOOP
		CALL submit('sum', '2040-11-20 00:00Z'::timestamptz + i * interval '1 hour', 50);
		CALL submit('last', '2040-11-20 00:00Z'::timestamptz + i * interval '1 hour', 50);
	END LOOP;
	COMMIT;
	PERFORM lb_refresh();
	COMMIT;
	UPDATE ranked AS r SET board = 't/later_' || r.id;
	CALL compare(8);
END
$$;
SELECT is(count(*), 0::bigint, seeded('a later board is what plain SQL says in the rounds after')) FROM wrong WHERE cut = 8;
SELECT * FROM finish();
