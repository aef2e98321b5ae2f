-- Scopes: random joins, leaves and moves, at any date, among random events,
-- counted in several rounds, against plain SQL over what was submitted and said.
-- The seed is in the names of the tests: LB_SEED=… repeats a run.
\i test/include/seeded.sql
SELECT plan(25);

SELECT lb_create_tenant('t', 'Europe/Berlin') \g /dev/null
CREATE TABLE stream AS
SELECT op, lb_create_counter('t/' || op, operator => op, max_age => '30 days', lateness => '36 hours') AS id
FROM unnest(ARRAY['sum', 'max']) AS op;
CREATE TABLE ranked (op text, period text, board text, ties text, direction text, head integer, id bigint);
INSERT INTO ranked
SELECT op, period, 't/' || name, ties, direction, head,
	lb_create_board('t/' || name, 't/' || op, period, direction => direction, ties => ties, ranks => CASE WHEN head IS NULL THEN 'exact' ELSE 'bounded' END,
		head => coalesce(head, 2000), buckets => 16, ceiling => 1000, scoped => true)
FROM (VALUES ('sum', 'week', 'week', 'competition', 'desc', NULL), ('sum', 'day', 'day', 'ordinal', 'asc', NULL), ('sum', 'all', 'all', 'dense', 'desc', NULL),
	('sum', 'day', 'head', 'competition', 'desc', 3), ('max', 'month', 'month', 'dense', 'desc', NULL), ('max', 'all', 'best', 'competition', 'desc', 2),
	('sum', 'last 3 days', 'days', 'competition', 'desc', NULL), ('max', 'last 40 hours', 'hours', 'dense', 'asc', NULL), ('sum', 'last 40 hours', 'few hours', 'ordinal', 'desc', 2)) AS v (op, period, name, ties, direction, head);

-- The test's own record: what was accepted, and who said what about whom.
CREATE TABLE raw (op text, event_id bigint, member text, delta bigint, event_time timestamptz, ingest_time timestamptz);
CREATE TABLE said (n serial, board text, scope text, member text, since timestamptz, is_in boolean);

CREATE PROCEDURE submit(op text, at timestamptz, n integer) LANGUAGE plpgsql AS $$
DECLARE
	m text[] := ARRAY(SELECT 'm' || floor(random() ^ 2 * 25) FROM generate_series(1, n));
	d bigint[] := ARRAY(SELECT floor(random() * 9) - 4 FROM generate_series(1, n));
	t timestamptz[] := ARRAY(SELECT date_trunc((ARRAY['second', 'hour', 'day', 'microseconds'])[1 + floor(random() * 4)],
		at - CASE WHEN random() < 0.6 THEN interval '2 hours' ELSE interval '6 days' END * random(), 'Europe/Berlin') FROM generate_series(1, n));
BEGIN
	INSERT INTO raw SELECT submit.op, event_id, m[ordinal], d[ordinal], t[ordinal], at
	FROM lb._submit_batch((SELECT id FROM stream AS x WHERE x.op = submit.op), m, d, ARRAY(SELECT concat(at, ' ', i) FROM generate_series(1, n) AS i), t, NULL, NULL, 'e', at)
	WHERE status = 'accepted';
END
$$;

-- Whether a member belongs to a scope in a window is what was said last of an
-- instant before its end: from then on it is in, or out.
CREATE FUNCTION belongs(b text, s text, m text, closes timestamptz) RETURNS boolean LANGUAGE sql STABLE AS $$
	SELECT coalesce((SELECT is_in FROM said WHERE board = b AND scope = s AND member = m AND since < closes ORDER BY n DESC LIMIT 1), false)
$$;

-- Say something random of a board at about that time.
CREATE PROCEDURE say(b ranked, at timestamptz) LANGUAGE plpgsql AS $$
DECLARE
	starts timestamptz := CASE WHEN b.period = 'all' OR b.period LIKE 'last%' THEN now() - random() * interval '3 days' ELSE date_trunc((ARRAY['hour', 'day', 'week', 'month', 'second'])[1 + floor(random() * 5)],
		at + (random() * 20 - 12) * interval '1 day', 'Europe/Berlin') END;
	to_scope text := (ARRAY['a', 'b', 'c', 'd', 'é'])[1 + floor(random() * 5)];
	members text[] := ARRAY(SELECT 'm' || floor(random() * 27) FROM generate_series(1, 1 + floor(random() * 6)::integer));
	from_scopes text[];
	is_in boolean := random() < 0.6;
BEGIN
	IF random() < 0.05 THEN
		starts := '-infinity';
	END IF;
	IF random() < 0.4 THEN
		members := members[1 : 1];
		SELECT array_agg(DISTINCT scope ORDER BY scope) INTO from_scopes FROM said AS s
			WHERE board = b.board AND member = members[1] AND scope <> to_scope AND (belongs(board, scope, member, 'infinity')
				OR EXISTS (SELECT FROM said AS o WHERE o.board = s.board AND o.scope = s.scope AND o.member = s.member AND o.since > starts AND belongs(o.board, o.scope, o.member, o.since)));
		PERFORM lb._move(b.board, members[1], to_scope, starts, from_scopes[1]);
		INSERT INTO said (board, scope, member, since, is_in) SELECT b.board, from_scopes[1], members[1], starts, false WHERE from_scopes IS NOT NULL;
		is_in := true;
	ELSIF is_in THEN
		PERFORM lb._join(b.board, to_scope, members, starts);
	ELSE
		PERFORM lb._leave(b.board, to_scope, members, starts);
	END IF;
	INSERT INTO said (board, scope, member, since, is_in) SELECT DISTINCT b.board, to_scope, m, starts, is_in FROM unnest(members) AS m;
END
$$;

CREATE FUNCTION opens(period text, t timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE WHEN period = 'all' OR period LIKE 'last%' THEN '-infinity' ELSE date_trunc(period, t, 'Europe/Berlin') END
$$;
CREATE FUNCTION closes(period text, opens timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE opens WHEN '-infinity' THEN 'infinity' ELSE ((opens AT TIME ZONE 'Europe/Berlin') + ('1 ' || period)::interval) AT TIME ZONE 'Europe/Berlin' END
$$;

-- Where the last round came to, and what is in a rolling window then.
CREATE TABLE clock (at timestamptz);
INSERT INTO clock VALUES ('2040-10-22 10:00Z');
CREATE FUNCTION rolls_over(period text, t timestamptz) RETURNS boolean LANGUAGE sql STABLE AS $$
	SELECT t >= CASE unit WHEN 'day' THEN (date_trunc('day', at AT TIME ZONE 'Europe/Berlin') - (n - 1) * interval '1 day') AT TIME ZONE 'Europe/Berlin' ELSE date_trunc('hour', at) - (n - 1) * interval '1 hour' END
		AND t < CASE unit WHEN 'day' THEN (date_trunc('day', at AT TIME ZONE 'Europe/Berlin') + interval '1 day') AT TIME ZONE 'Europe/Berlin' ELSE date_trunc('hour', at) + interval '1 hour' END
	FROM clock, regexp_matches(period, '^last ([0-9]+) (day|hour)s$') AS m, LATERAL (SELECT m[1]::integer AS n, m[2] AS unit) AS p
$$;

-- What each member has in each window, then in each scope.
CREATE VIEW known AS
SELECT board, r.op, period, ties, direction, head, o.opens, closes(period, o.opens) AS closes, member,
	CASE r.op WHEN 'sum' THEN sum(delta) ELSE max(delta) END::bigint AS value,
	CASE r.op WHEN 'sum' THEN coalesce(max(event_time) FILTER (WHERE delta <> 0), min(event_time)) ELSE (array_agg(event_time ORDER BY delta DESC, event_time))[1] END AS reached_at
FROM ranked AS r JOIN raw USING (op), LATERAL opens(period, event_time) AS o (opens)
WHERE CASE WHEN period LIKE 'last%' THEN rolls_over(period, event_time) ELSE period = 'all' OR ingest_time <= closes(period, o.opens) + interval '36 hours' END
GROUP BY board, r.op, period, ties, direction, head, o.opens, member;
CREATE VIEW truth AS
SELECT *, rank() OVER v AS competition, dense_rank() OVER v AS dense, row_number() OVER p AS ordinal, count(*) OVER (PARTITION BY board, opens, scope) AS population
FROM (SELECT k.*, s.scope, CASE direction WHEN 'desc' THEN -value ELSE value END AS o FROM known AS k, LATERAL (SELECT '' AS scope UNION SELECT scope FROM unnest(ARRAY['a', 'b', 'c', 'd', 'é']) AS scope
	WHERE belongs(board, scope, member, closes)) AS s) AS s
WINDOW v AS (PARTITION BY board, opens, scope ORDER BY o), p AS (PARTITION BY board, opens, scope ORDER BY o, reached_at, member COLLATE "C");

CREATE TABLE wrong (cut integer, board text, what text);
CREATE TABLE amount (cut integer, board text, opens timestamptz, scope text, version bigint, content text);
CREATE PROCEDURE compare(at_cut integer) LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS right_now, asked, answer;
	CREATE TEMP TABLE right_now AS SELECT *, CASE ties WHEN 'competition' THEN competition WHEN 'dense' THEN dense ELSE ordinal END AS rank,
		head IS NULL OR CASE ties WHEN 'ordinal' THEN ordinal ELSE competition END <= head AS is_exact FROM truth;
	CREATE TEMP TABLE asked AS SELECT DISTINCT board, head, opens, CASE WHEN isfinite(opens) THEN opens END AS at, scope FROM (SELECT DISTINCT board, head, opens FROM known UNION SELECT board, head, '-infinity' FROM ranked WHERE period LIKE 'last%') AS k, unnest(ARRAY['', 'a', 'b', 'c', 'd', 'é', 'none']) AS scope;
	CREATE TEMP TABLE answer AS SELECT a.board, a.opens, a.scope, r.*
	FROM asked AS a, LATERAL lb_ranks(board, ARRAY(SELECT 'm' || i FROM generate_series(0, 27) AS i), scope, at) AS r;
	INSERT INTO wrong SELECT at_cut, board, row('lb_ranks', opens, scope, member, t.rank, a.rank, a.kind, a.rank_low, a.rank_high, t.value, a.value, t.population, a.population)::text
	FROM right_now AS t FULL JOIN (SELECT * FROM answer WHERE kind <> 'unranked') AS a USING (board, opens, scope, member)
	WHERE (t.value, t.reached_at, t.population) IS DISTINCT FROM (a.value, a.reached_at, a.population)
		OR CASE WHEN t.is_exact THEN (t.rank, 'exact') IS DISTINCT FROM (a.rank, a.kind) ELSE a.kind <> 'estimated' OR a.rank IS NOT NULL OR t.rank NOT BETWEEN a.rank_low AND a.rank_high END;
	INSERT INTO wrong SELECT at_cut, board, row('unranked', opens, scope, member, population, n)::text
	FROM (SELECT a.*, (SELECT count(*) FROM right_now AS t WHERE (t.board, t.opens, t.scope) = (a.board, a.opens, a.scope)) AS n FROM answer AS a WHERE kind = 'unranked') AS a
	WHERE (rank, value, place) IS DISTINCT FROM (NULL::bigint, NULL::bigint, NULL::bigint) OR population <> n;
	-- lists, by place
	INSERT INTO wrong SELECT at_cut, board, row(f, opens, scope, said, should)::text FROM (
		SELECT a.*, ARRAY(SELECT row(member, ordinal, value)::text FROM right_now AS t WHERE (t.board, t.opens, t.scope) = (a.board, a.opens, a.scope)
			AND ordinal BETWEEN first AND least(5, head) ORDER BY ordinal) AS should
		FROM (SELECT *, 'lb_top' AS f, 1 AS first, ARRAY(SELECT row(member, place, value)::text FROM lb_top(board, 5, scope, at)) AS said FROM asked
			UNION ALL SELECT *, 'lb_page', 2, ARRAY(SELECT row(member, place, value)::text FROM lb_page(board, 2, 4, scope, at)) FROM asked) AS a) AS s
	WHERE said <> should;
	INSERT INTO wrong SELECT at_cut, board, row('lb_around', opens, scope, member, said, should)::text FROM (
		SELECT a.board, a.opens, a.scope, t.member, ARRAY(SELECT r.member FROM lb_around(a.board, t.member, 2, a.scope, a.at) AS r) AS said,
			ARRAY(SELECT o.member FROM right_now AS o WHERE (o.board, o.opens, o.scope) = (t.board, t.opens, t.scope) AND o.ordinal BETWEEN t.ordinal - 2 AND t.ordinal + 2 ORDER BY o.ordinal) AS should
		FROM asked AS a JOIN right_now AS t USING (board, opens, scope) WHERE a.head IS NULL AND random() < 0.2) AS s WHERE said <> should;
	INSERT INTO wrong SELECT at_cut, board, row('lb_among', opens, scope, said, should)::text FROM (
		SELECT a.board, a.opens, a.scope, ARRAY(SELECT row(member, among, rank)::text FROM lb_among(a.board, ARRAY['m1', 'm2', 'm3', 'm4', 'm5', 'm6', 'm7', 'm27', 'm1'], a.scope, a.at) WHERE among IS NOT NULL) AS said,
			ARRAY(SELECT row(member, CASE ties WHEN 'competition' THEN rank() OVER v WHEN 'dense' THEN dense_rank() OVER v ELSE row_number() OVER p END, rank)::text
				FROM right_now AS t WHERE (t.board, t.opens, t.scope) = (a.board, a.opens, a.scope) AND member IN ('m1', 'm2', 'm3', 'm4', 'm5', 'm6', 'm7', 'm27')
				WINDOW v AS (ORDER BY o), p AS (ORDER BY o, reached_at, member COLLATE "C") ORDER BY ordinal) AS should
		FROM asked AS a WHERE a.head IS NULL) AS s WHERE said <> should;
	INSERT INTO wrong SELECT at_cut, board, row('lb_rank_for_value', opens, scope, said, better)::text FROM (
		SELECT a.*, ties, (SELECT r.rank FROM lb_rank_for_value(a.board, 1, a.scope, a.at) AS r) AS said,
			(SELECT CASE r.ties WHEN 'competition' THEN count(*) FILTER (WHERE o < x) WHEN 'dense' THEN count(DISTINCT o) FILTER (WHERE o < x) ELSE count(*) FILTER (WHERE o <= x) END
			 FROM right_now AS t, LATERAL (SELECT CASE r.direction WHEN 'desc' THEN -1 ELSE 1 END AS x) AS v WHERE (t.board, t.opens, t.scope) = (a.board, a.opens, a.scope)) AS better
		FROM asked AS a JOIN ranked AS r USING (board) WHERE a.head IS NULL) AS s WHERE said IS DISTINCT FROM better + 1;
	INSERT INTO wrong SELECT at_cut, board, row('lb_distribution', opens, scope, said, should)::text FROM (
		SELECT a.board, a.opens, a.scope, ARRAY(SELECT row(d.low, d.high, d.members)::text FROM lb_distribution(a.board, a.scope, a.at) AS d) AS said,
			ARRAY(SELECT row(b.low, b.high, b.members)::text FROM (SELECT lb_histogram_agg(value, 16, 1000) AS h FROM right_now AS t WHERE (t.board, t.opens, t.scope) = (a.board, a.opens, a.scope)) AS g, LATERAL lb_histogram_buckets(h) AS b) AS should
		FROM asked AS a) AS s WHERE said <> should;
	INSERT INTO wrong SELECT at_cut, board, row('lb_version', a.opens, a.scope, v.population, v.version)::text
	FROM asked AS a, LATERAL lb_version(board, scope, at) AS v
	WHERE v.population <> (SELECT count(*) FROM right_now AS t WHERE (t.board, t.opens, t.scope) = (a.board, a.opens, a.scope));
	INSERT INTO wrong SELECT at_cut, board, row('lb_top_scopes', at)::text FROM (SELECT DISTINCT board, opens, at FROM asked) AS a
	WHERE ARRAY(SELECT s::text FROM lb_top_scopes(board, ARRAY['b', '', 'none', 'a'], 2, at) AS s)
		<> ARRAY(SELECT row(scope, t.*)::text FROM unnest(ARRAY['b', '', 'none', 'a']) WITH ORDINALITY AS s (scope, n), LATERAL lb_top(board, 2, scope, at) AS t ORDER BY s.n, t.place);
	INSERT INTO amount SELECT at_cut, a.board, a.opens, a.scope, v.version,
		(SELECT md5(string_agg(row(member, value, reached_at)::text, ';' ORDER BY member)) FROM right_now AS t WHERE (t.board, t.opens, t.scope) = (a.board, a.opens, a.scope))
	FROM asked AS a, LATERAL lb_version(board, scope, at) AS v;
	INSERT INTO wrong SELECT at_cut, r.board, 'lb_check: ' || problem FROM ranked AS r, LATERAL lb_check(board);
END
$$;

DO $$
DECLARE
	at_now timestamptz := '2040-10-22 10:00Z';
	b ranked;
BEGIN
	FOR cut IN 1 .. 9 LOOP
		FOR i IN 1 .. 1 + floor(random() * 3) LOOP
			at_now := at_now + random() * interval '40 hours';
			-- some rounds have events only, some memberships only
			IF cut NOT IN (4, 8) THEN
				CALL submit('sum', at_now, 1 + floor(random() * 60)::integer);
				CALL submit('max', at_now, 1 + floor(random() * 40)::integer);
			END IF;
			IF cut NOT IN (1, 5) THEN
				FOR b IN SELECT * FROM ranked WHERE random() < 0.8 LOOP
					FOR j IN 1 .. floor(random() * 4) LOOP
						CALL say(b, at_now);
					END LOOP;
				END LOOP;
			END IF;
			IF random() < 0.5 THEN
				COMMIT;
			END IF;
		END LOOP;
		-- what is said in the round's own transaction is counted by it, its events are not
		IF cut = 3 THEN
			COMMIT;
			SELECT * INTO b FROM ranked WHERE board = 't/week';
			CALL say(b, at_now);
		ELSE
			COMMIT;
		END IF;
		UPDATE clock SET at = at_now;
		PERFORM lb._refresh(NULL, at_now);
		COMMIT;
		CALL compare(cut);
		COMMIT;
	END LOOP;
END
$$;
SELECT is(min(row(cut, what)::text) FILTER (WHERE what IS NOT NULL), NULL, seeded(board || ' is what plain SQL says, at every cut'))
FROM ranked LEFT JOIN wrong USING (board) GROUP BY board ORDER BY board;
SELECT ok(count(DISTINCT scope) FILTER (WHERE content IS NOT NULL) = 6 AND count(*) FILTER (WHERE content IS NOT NULL) > 300, seeded('there was something in the scopes')) FROM amount;
SELECT is((SELECT count(*) FROM lb.membership_news), 0::bigint, seeded('what is counted is off the queue'));
SELECT is(min(m::text), NULL, seeded('no two memberships of a member and scope overlap')) FROM lb.membership AS m JOIN lb.membership AS o USING (board_id, member, scope)
WHERE m.since < o.since AND m.until >= o.since;
SELECT is(min(row(s.*, n)::text), NULL, seeded('lb.scope counts its members')) FROM lb.scope AS s,
	LATERAL (SELECT count(*) AS n FROM lb.membership AS m WHERE (m.board_id, m.scope) = (s.board_id, s.scope) AND until = 'infinity') AS c WHERE members <> n;
SELECT is(min(row(board, s.member, s.scope)::text), NULL, seeded('lb_scopes says where members are')) FROM ranked AS r, (SELECT 'm' || i AS member FROM generate_series(0, 27) AS i) AS g,
	LATERAL (SELECT g.member, x.scope FROM unnest(ARRAY['a', 'b', 'c', 'd', 'é']) AS x (scope) WHERE belongs(board, x.scope, g.member, 'infinity')
		EXCEPT SELECT g.member, x.scope FROM lb_scopes(board, g.member) AS x) AS s;

-- Versions: a ranking's version moves exactly when its content does, and only up.
CREATE VIEW step AS SELECT *, lag(version) OVER w AS version_before, lag(content) OVER w AS content_before, lag(cut) OVER w AS cut_before
FROM amount WINDOW w AS (PARTITION BY board, opens, scope ORDER BY cut);
SELECT is(min(s::text), NULL, seeded('versions strictly grow where something changed')) FROM step AS s WHERE cut_before IS NOT NULL AND content IS DISTINCT FROM content_before AND version <= version_before;
SELECT is(min(s::text), NULL, seeded('versions stay where nothing changed')) FROM step AS s WHERE cut_before IS NOT NULL AND content = content_before AND version <> version_before;

-- What is rolled back, and what undoes itself, changes nothing.
SELECT max(version) AS before FROM lb.version \gset
BEGIN;
SELECT lb_join('t/week', 'a', ARRAY['m1', 'm2', 'm3', 'new']) \g /dev/null
SELECT lb._refresh(NULL, (SELECT at FROM clock)) \g /dev/null
ROLLBACK;
BEGIN;
SELECT lb_join('t/all', 'fresh', ARRAY['m1', 'm2']), lb_leave('t/all', 'fresh', ARRAY['m1', 'm2'], '-infinity') \g /dev/null
COMMIT;
SELECT is(rankings, 0::bigint, 'what undoes itself moves no ranking') FROM lb._refresh(NULL, (SELECT at FROM clock));
SELECT is((SELECT max(version) FROM lb.version), :before::bigint, 'and makes no version');
CALL compare(10);
SELECT is(min(what), NULL, seeded('what was rolled back is not there')) FROM wrong WHERE cut = 10;

-- Old versions are collected; the newest answer stays.
UPDATE lb.board SET keep_versions = '0' \g /dev/null
SELECT lb._collect() \g /dev/null
SELECT is((SELECT max(n) FROM (SELECT count(*) AS n FROM lb.version JOIN lb.ranking USING (counter_id, ranking_id) WHERE scope <> '' GROUP BY counter_id, ranking_id) AS s), 1::bigint, seeded('one version of each scope is left'));
SELECT is((SELECT count(*) FROM lb.page JOIN lb.ranking USING (counter_id, ranking_id) WHERE scope <> ''), 0::bigint, seeded('and no page that is a row, for so few members'));
CALL compare(11);
SELECT is(min(what), NULL, seeded('the answers are the same')) FROM wrong WHERE cut = 11;

-- A rebuild from the log and the memberships reproduces every scope in every window.
INSERT INTO lb.origin (origin, system_identifier) SELECT 1000000, 1 \g /dev/null
SELECT ok(events = (SELECT count(*) FROM raw), seeded('everything is counted anew')) FROM lb._refresh(NULL, (SELECT at FROM clock));
CALL compare(12);
SELECT is(min(row(board, what)::text), NULL, seeded('a rebuild says the same')) FROM wrong WHERE cut = 12;
SELECT is(count(*), 0::bigint, seeded('no version is smaller')) FROM amount AS a JOIN amount AS o USING (board, opens, scope) WHERE a.cut = 12 AND o.cut = 11 AND a.content IS NOT NULL AND a.version < o.version;

SELECT * FROM finish();
