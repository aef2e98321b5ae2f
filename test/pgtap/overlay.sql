-- The viewer's overlay: random interleavings of submissions, rounds and reads in
-- sessions of their own, some of them in long transactions of every isolation
-- level, against plain SQL over the log.  What is asked after each step: the
-- viewer has everything that the reading snapshot sees, once; everybody else has
-- what the version says.
-- The seed is in the names of the tests: LB_SEED=… repeats a run, LB_STEPS makes it longer.
\i test/include/seeded.sql
\getenv steps LB_STEPS
\if :{?steps}
\else
\set steps 250
\endif
CREATE EXTENSION dblink;
SELECT plan(8);

-- One counter an operator; boards of every tie rule, direction, kind of window
-- and head, each beside an exact one without a bound, which says what the others
-- have; one of each kind of window has scopes.
SELECT lb_create_counter(op, operator => op, lateness => '6 hours', max_age => '30 days') FROM unnest(ARRAY['sum', 'max', 'min', 'last']) AS op \g /dev/null
CREATE TABLE kind (period text, starts interval, lateness interval);
INSERT INTO kind VALUES ('all', '0', NULL), ('day', '0', NULL), ('week', '6 hours', '1 hour'), ('last 3 hours', '0', NULL), ('last 2 days', '0', NULL);
CREATE TABLE ranked (op text, period text, starts interval, lateness interval, direction text, ties text, head integer, scoped boolean, board text, twin text);
INSERT INTO ranked
SELECT op, period, starts, coalesce(lateness, '6 hours'), direction, ties, head, head IS NULL AND ties = 'competition',
	concat_ws(' ', op, period, direction, ties, head), concat_ws(' ', op, period, direction, 'competition')
FROM (SELECT *, random() AS luck FROM unnest(ARRAY['sum', 'max', 'min', 'last']) AS op, kind, unnest(ARRAY['asc', 'desc']) AS direction,
	unnest(ARRAY['competition', 'dense', 'ordinal']) AS ties, unnest(ARRAY[NULL, 1, 4, 9]) AS head) AS x
WHERE head IS NULL AND ties = 'competition' OR luck < CASE head WHEN 1 THEN 0.3 ELSE 0.2 END;
SELECT lb_create_board(board, op, r.period, direction => direction, ties => ties, ranks => CASE WHEN head IS NULL THEN 'exact' ELSE 'bounded' END,
	head => coalesce(head, 2000), buckets => 16, ceiling => 1000, scoped => r.scoped, starts => r.starts, lateness => k.lateness)
FROM ranked AS r JOIN kind AS k USING (period) \g /dev/null

-- The window that is asked about, by its own arithmetic.
CREATE FUNCTION opens(r ranked, at timestamptz) RETURNS timestamptz LANGUAGE sql STABLE AS $$
	SELECT CASE r.period WHEN 'all' THEN '-infinity' WHEN 'day' THEN date_trunc('day', at)
		WHEN 'week' THEN date_trunc('week', at - r.starts) + r.starts
		WHEN 'last 3 hours' THEN date_trunc('hour', as_of) - interval '2 hours' ELSE date_trunc('day', as_of) - interval '1 day' END
	FROM (SELECT coalesce((SELECT as_of FROM lb.round ORDER BY number DESC LIMIT 1), now()) AS as_of) AS n
$$;
CREATE FUNCTION closes(r ranked, opens timestamptz) RETURNS timestamptz LANGUAGE sql STABLE AS $$
	SELECT CASE r.period WHEN 'all' THEN 'infinity' WHEN 'day' THEN opens + interval '1 day' WHEN 'week' THEN opens + interval '7 days'
		WHEN 'last 3 hours' THEN opens + interval '3 hours' ELSE opens + interval '2 days' END
$$;

-- What the viewer's visible events add up to, and whether some are not counted.
CREATE FUNCTION mine(r ranked, viewer text, opens timestamptz, OUT value numeric, OUT reached_at timestamptz, OUT news boolean) LANGUAGE sql STABLE AS $$
	SELECT CASE r.op WHEN 'sum' THEN sum(delta) WHEN 'max' THEN max(delta) WHEN 'min' THEN min(delta)
			ELSE (array_agg(delta ORDER BY event_time DESC, event_id DESC))[1] END,
		CASE r.op WHEN 'sum' THEN coalesce(max(event_time) FILTER (WHERE delta <> 0), min(event_time))
			WHEN 'max' THEN (array_agg(event_time ORDER BY delta DESC, event_time))[1] WHEN 'min' THEN (array_agg(event_time ORDER BY delta, event_time))[1]
			ELSE max(event_time) END,
		coalesce(bool_or(NOT pg_visible_in_snapshot(xid, (SELECT snapshot FROM lb.round ORDER BY number DESC LIMIT 1))), count(*) > 0)
	FROM lb.event
	WHERE counter_id = lb._counter_id(r.op) AND member = viewer AND event_time >= opens AND event_time < closes(r, opens)
		AND (r.period = 'all' OR r.period LIKE 'last%' OR kind = 'h' OR ingest_time - r.lateness <= closes(r, opens))
$$;

CREATE FUNCTION owed(r ranked, value numeric, reached_at timestamptz, viewer text, others lb_answer[], OUT better bigint, OUT equal bigint, OUT values_better bigint, OUT place bigint, OUT rank bigint) LANGUAGE plpgsql STABLE AS $$
DECLARE
	sign integer := CASE r.direction WHEN 'asc' THEN 1 ELSE -1 END;
BEGIN
	SELECT count(*) FILTER (WHERE sign * o.value::numeric < sign * owed.value), count(DISTINCT o.value) FILTER (WHERE sign * o.value::numeric < sign * owed.value),
		1 + count(*) FILTER (WHERE (sign * o.value::numeric, o.reached_at, o.member COLLATE "C") < (sign * owed.value, owed.reached_at, viewer COLLATE "C"))
	INTO better, values_better, place FROM unnest(others) AS o;
	rank := CASE r.ties WHEN 'competition' THEN better + 1 WHEN 'dense' THEN values_better + 1 ELSE place END;
END
$$;

-- What is wrong with what the board says to the viewer, in one snapshot.
CREATE FUNCTION wrong(r ranked, viewer text, asked timestamptz, s text, n integer) RETURNS SETOF text LANGUAGE plpgsql STABLE AS $$
DECLARE
	at timestamptz := CASE WHEN r.period LIKE 'last%' THEN NULL ELSE asked END;
	begins timestamptz := opens(r, asked);
	belongs boolean := s = '' OR EXISTS (SELECT FROM lb.membership AS m WHERE m.board_id = lb._board_id(r.board) AND m.member = viewer AND m.scope = s
		AND m.since < CASE WHEN r.period LIKE 'last%' THEN 'infinity' ELSE closes(r, begins) END AND m.until >= CASE WHEN r.period LIKE 'last%' THEN 'infinity' ELSE closes(r, begins) END);
	mine record;
	published lb_answer[] := ARRAY(SELECT p FROM lb_page(r.twin, 1, 1000, s, at) AS p);
	others lb_answer[] := ARRAY(SELECT p FROM unnest(published) AS p WHERE p.member <> viewer);
	everybody text[] := ARRAY(SELECT 'm' || i FROM generate_series(0, 31) AS i);
	a lb_answer;
	b lb_answer;
	o record;
	fits boolean;
	near text[];
	due text[];
	was_place bigint := (SELECT p.place FROM unnest(published) AS p WHERE p.member = viewer);
BEGIN
	SELECT * INTO STRICT a FROM lb_rank(r.board, viewer, s, at, viewer => viewer);
	SELECT * INTO STRICT b FROM lb_rank(r.board, viewer, s, at);
	SELECT * INTO mine FROM mine(r, viewer, begins);

	-- everybody else has what the version says, in every list
	RETURN QUERY SELECT format('somebody is %s with a viewer, %s without', x, y)
		FROM (SELECT row_number() OVER () AS i, x FROM lb_ranks(r.board, everybody, s, at, viewer => viewer) AS x) AS u(i, x)
		FULL JOIN (SELECT row_number() OVER () AS i, y FROM lb_ranks(r.board, everybody, s, at) AS y) AS w(i, y) USING (i)
		WHERE u.x IS DISTINCT FROM CASE (w.y).member WHEN viewer THEN a ELSE w.y END;
	RETURN QUERY SELECT format('a line of the top is %s with a viewer, %s without', u.x, w.y)
		FROM (SELECT row_number() OVER () AS i, x FROM lb_top(r.board, 20, s, at, viewer => viewer) AS x) AS u
		FULL JOIN (SELECT row_number() OVER () AS i, y FROM lb_top(r.board, 20, s, at) AS y) AS w USING (i)
		WHERE u.x IS DISTINCT FROM CASE (w.y).member WHEN viewer THEN a ELSE w.y END;

	IF NOT belongs OR NOT mine.news THEN
		RETURN QUERY SELECT format('nothing is uncounted, but %s is %s', b, a) WHERE a IS DISTINCT FROM b;
		RETURN;
	END IF;
	fits := mine.value BETWEEN -9223372036854775808 AND 9223372036854775807;
	IF NOT fits THEN
		RETURN QUERY SELECT format('%s does not fit, but the answer is %s', mine.value, a)
			WHERE (a.member, a.kind, a.rank, a.place, a.value, a.population, a.version) IS DISTINCT FROM (viewer, 'unranked', NULL::bigint, NULL::bigint, NULL::bigint, cardinality(others), b.version);
		RETURN QUERY SELECT format('neighbours of somebody off the board: %s', array_agg(x)) FROM lb_around(r.board, viewer, n, s, at, viewer => viewer) AS x HAVING count(*) <> 1 OR bool_or(x IS DISTINCT FROM a);
		RETURN;
	END IF;
	SELECT * INTO o FROM owed(r, mine.value, mine.reached_at, viewer, others);
	RETURN QUERY SELECT format('%s at %s is to be ranked %s at %s of %s, but is %s', mine.value, mine.reached_at, o.rank, o.place, cardinality(others) + 1, a)
		WHERE (a.member, a.value, a.value_low, a.value_high, a.reached_at, a.population, a.version, a.as_of, a.state)
				IS DISTINCT FROM (viewer, mine.value, mine.value, mine.value, mine.reached_at, cardinality(others) + 1, b.version, b.as_of, b.state)
			OR a.place <> o.place
			OR NOT CASE a.kind
				WHEN 'exact' THEN (a.rank, a.rank_low, a.rank_high, a.midpoint) = (o.rank, o.rank, o.rank, o.rank) AND abs(a.percentile_low - 100.0 * (a.population - o.better) / a.population) < 1e-9 AND a.percentile_high = a.percentile_low
					AND (r.head IS NULL OR CASE r.ties WHEN 'ordinal' THEN o.place <= r.head ELSE o.better < r.head END)
				WHEN 'estimated' THEN a.rank IS NULL AND a.rank_low BETWEEN 1 AND o.rank AND a.rank_high BETWEEN o.rank AND a.population AND a.midpoint BETWEEN a.rank_low AND a.rank_high
					AND 100.0 * (a.population - o.better) / a.population BETWEEN a.percentile_low - 1e-9 AND a.percentile_high + 1e-9
					-- exact where a round would be, but where the viewer left a head that has no more than it needs, for just behind its last
					AND (CASE r.ties WHEN 'ordinal' THEN o.place > r.head ELSE o.better >= r.head END OR was_place <= r.head AND o.better >= r.head - 1)
				ELSE false END;

	-- the neighbours are those of the new place, as the version has them
	SELECT array_agg((x).member ORDER BY i) INTO near FROM (SELECT row_number() OVER () AS i, x FROM lb_around(r.board, viewer, n, s, at, viewer => viewer) AS x) AS u(i, x);
	SELECT array_agg(member ORDER BY i) INTO due FROM (SELECT i, member FROM unnest(others) WITH ORDINALITY AS x(member, rank, kind, rank_low, rank_high, midpoint, place, percentile_low, percentile_high, value, value_low, value_high, reached_at, population, version, as_of, stale, state, i)
		WHERE i BETWEEN o.place - n AND o.place - 1 + n) AS x;
	due := due[: least(n, o.place - 1)] || viewer || due[least(n, o.place - 1) + 1 :];
	RETURN QUERY SELECT format('around it are %s instead of %s', near, due)
		WHERE near IS DISTINCT FROM due AND (r.head IS NULL OR s <> '' OR NOT (near = ARRAY[viewer] AND o.place >= r.head
			OR near = due[: cardinality(near)] AND cardinality(near) > least(n, o.place - 1) AND o.place - 1 + cardinality(near) - least(n, o.place - 1) > r.head - 1));
	RETURN QUERY SELECT format('a neighbour is %s, the version says %s', x, y) FROM lb_around(r.board, viewer, n, s, at, viewer => viewer) AS x, LATERAL lb_rank(r.board, x.member, s, at) AS y
		WHERE x IS DISTINCT FROM CASE x.member WHEN viewer THEN a ELSE y END;

	-- among others, in the order of what all of them have
	RETURN QUERY SELECT format('among: %s', array_agg(x))
		FROM (SELECT row_number() OVER () AS i, x.* FROM lb_among(r.board, everybody[: 12] || viewer, s, at, viewer => viewer) AS x) AS x
		LEFT JOIN unnest(others) AS y ON y.member = x.member
		WHERE x.among IS NOT NULL
		HAVING bool_or(x.member = viewer AND (x.value, x.rank, x.place, x.population) IS DISTINCT FROM (a.value, a.rank, a.place, a.population))
			OR bool_or(x.member <> viewer AND x.value IS DISTINCT FROM y.value)
			OR count(*) FILTER (WHERE x.member = viewer) <> 1
			OR array_agg(x.member ORDER BY i) IS DISTINCT FROM array_agg(x.member ORDER BY CASE r.direction WHEN 'asc' THEN x.value::numeric ELSE -x.value::numeric END, x.reached_at, x.member COLLATE "C");
END
$$;

-- The sessions: two writers, a counting one, and readers.
SELECT dblink_connect(name, format('host=%s port=%s dbname=%s user=%s', split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_database(), current_user))
FROM unnest(ARRAY['w1', 'w2', 'r', 'read committed', 'repeatable read', 'serializable']) AS name \g /dev/null
SELECT dblink_exec(name, 'SET timezone = ''UTC''') FROM unnest(dblink_get_connections()) AS name \g /dev/null
CREATE TABLE open (name text PRIMARY KEY, level text);
CREATE TABLE asked (n integer, session text, level text, board text, viewer text, at timestamptz, scope text, news boolean, wrong text);
CREATE TABLE done (what text);

-- The first submission of all makes lb.home, and others wait for it.
SELECT lb_create_counter('first') > 0, (lb_submit('first', 'm0', 1, 'k')).status \g /dev/null
CREATE PROCEDURE submit(w text, clock timestamptz, n integer) LANGUAGE plpgsql AS $$
DECLARE
	its_op text := (ARRAY['sum', 'max', 'min', 'last'])[1 + floor(random() * 4)];
	status text;
	-- one of a head, which often has no more than it needs when somebody leaves it
	first text := (SELECT t.member FROM (SELECT * FROM ranked AS x WHERE x.op = its_op AND head IS NOT NULL ORDER BY random() LIMIT 1) AS x,
		LATERAL lb_top(board, head, at => CASE WHEN period LIKE 'last%' THEN NULL ELSE clock END) AS t ORDER BY random() LIMIT 1);
BEGIN
	SELECT format($f$SELECT string_agg(DISTINCT coalesce(reason, status), ',') FROM lb._submit_batch(lb._counter_id(%L), %L, %L, %L, %L, NULL, NULL, %L, %L)$f$,
		its_op, array_agg(CASE WHEN random() < 0.4 AND first IS NOT NULL THEN first ELSE 'm' || floor(random() ^ 2 * 32) END), array_agg(CASE WHEN its_op = 'sum' AND random() < 0.05 THEN 9223372036854775807 WHEN its_op = 'sum' AND random() < 0.05 THEN -9223372036854775807 ELSE (floor(random() * 12)::bigint - 5) * CASE WHEN its_op = 'sum' AND random() < 0.3 THEN 10 ELSE 1 END END),
		array_agg(format('%s %s %s', w, n, i)), array_agg(clock - CASE WHEN random() < 0.6 THEN interval '10 minutes' WHEN random() < 0.7 THEN interval '5 hours' ELSE interval '4 days' END * random()),
		CASE WHEN random() < 0.1 THEN 'h' ELSE 'e' END, clock) INTO status FROM generate_series(1, 1 + floor(random() ^ 3 * 8)::integer) AS i;
	SELECT * INTO status FROM dblink(w, status) AS x(status text);
	INSERT INTO done VALUES (status);
END
$$;

CREATE PROCEDURE end_transaction(w text, how text) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM dblink_exec(w, how);
	DELETE FROM open WHERE name = w;
END
$$;

CREATE PROCEDURE ask(who text, n integer, clock timestamptz) LANGUAGE plpgsql AS $$
DECLARE
	r ranked;
	viewer text := 'm' || floor(random() ^ 2 * 32);
	at timestamptz := clock - CASE WHEN random() < 0.7 THEN interval '0' WHEN random() < 0.5 THEN interval '5 hours' ELSE interval '1 day' END;
	s text;
	its_op text;
BEGIN
	-- mostly somebody with events that are fresh
	IF random() < 0.8 THEN
		SELECT coalesce(x.member, viewer), x.op, CASE WHEN random() < 0.6 THEN coalesce(x.event_time, at) ELSE at END INTO viewer, its_op, at FROM (VALUES (1)) AS one LEFT JOIN dblink(who, $f$SELECT member, counter, event_time FROM lb.event JOIN lb.counter USING (counter_id)
			WHERE NOT pg_visible_in_snapshot(xid, coalesce((SELECT snapshot FROM lb.round ORDER BY number DESC LIMIT 1), '1:1:')) ORDER BY random() LIMIT 1$f$) AS x(member text, op text, event_time timestamptz) ON true;
	END IF;
	FOR r IN SELECT * FROM ranked AS x WHERE its_op IS NULL OR x.op = its_op ORDER BY random() * CASE WHEN head IS NULL THEN 2 ELSE 1 END LIMIT 4 LOOP
		s := CASE WHEN r.scoped AND random() < 0.7 THEN (ARRAY['a', 'b', 'none'])[1 + floor(random() * 2.2)] ELSE '' END;
		INSERT INTO asked SELECT n, who, coalesce((SELECT level FROM open WHERE name = who), 'read committed'), r.board, viewer, at, s, x.news, x.wrong
		FROM dblink(who, format('SELECT (mine(r, %1$L, opens(r, %2$L))).news, w FROM ranked AS r LEFT JOIN LATERAL wrong(r, %1$L, %2$L, %3$L, %5$s) AS w ON true WHERE board = %4$L', viewer, at, s, r.board, 1 + floor(random() * 5))) AS x(news boolean, wrong text);
	END LOOP;
END
$$;

CREATE PROCEDURE act(n integer, clock timestamptz) LANGUAGE plpgsql AS $$
DECLARE
	w text := 'w' || 1 + floor(random() * 2);
	what float := random();
	reader text := (ARRAY['read committed', 'repeatable read', 'serializable'])[1 + floor(random() * 3)];
	board text;
BEGIN
	IF what < 0.4 THEN
		IF random() < 0.5 AND NOT EXISTS (SELECT FROM open WHERE name = w) THEN
			INSERT INTO open VALUES (w, (ARRAY['read committed', 'repeatable read'])[1 + floor(random() * 2)]);
			PERFORM dblink_exec(w, 'BEGIN ISOLATION LEVEL ' || level) FROM open WHERE name = w;
		END IF;
		CALL submit(w, clock, n);
	ELSIF what < 0.5 THEN
		IF EXISTS (SELECT FROM open WHERE name = w) THEN
			CALL end_transaction(w, CASE WHEN random() < 0.8 THEN 'COMMIT' ELSE 'ROLLBACK' END);
		END IF;
	ELSIF what < 0.63 THEN
		-- a writer's own transaction may count, too
		w := CASE WHEN random() < 0.2 AND coalesce((SELECT level FROM open WHERE name = w), '') <> 'repeatable read' THEN w ELSE 'r' END;
		PERFORM * FROM dblink(w, format('SELECT events FROM lb._refresh(NULL, %L)', clock)) AS x(events bigint);
		IF EXISTS (SELECT FROM open WHERE name = w) THEN
			CALL ask(w, n, clock);
			CALL end_transaction(w, CASE WHEN random() < 0.5 THEN 'COMMIT' ELSE 'ROLLBACK' END);
		END IF;
	ELSIF what < 0.67 THEN
		SELECT r.board INTO board FROM ranked AS r WHERE scoped ORDER BY random() LIMIT 1;
		PERFORM * FROM dblink('r', format('SELECT lb._%s(%L, %L, ARRAY(SELECT ''m'' || floor(random() * 32) FROM generate_series(1, 6)), %L)',
			CASE WHEN random() < 0.7 THEN 'join' ELSE 'leave' END, board, CASE WHEN random() < 0.5 THEN 'a' ELSE 'b' END,
			CASE WHEN board LIKE '% all %' OR board LIKE '% last % %s %' THEN now() ELSE clock - interval '1 day' END)) AS x(nothing text);
	ELSIF what < 0.8 THEN
		CALL ask(w, n, clock);
	ELSE
		IF NOT EXISTS (SELECT FROM open WHERE name = reader) AND random() < 0.7 THEN
			INSERT INTO open VALUES (reader, reader);
			PERFORM dblink_exec(reader, 'BEGIN ISOLATION LEVEL ' || reader);
		END IF;
		CALL ask(reader, n, clock);
		IF random() < 0.25 AND EXISTS (SELECT FROM open WHERE name = reader) THEN
			CALL end_transaction(reader, 'COMMIT');
		END IF;
	END IF;
END
$$;

-- The clock goes on, not in the minutes around midnight, where submissions wait for each other.
CREATE PROCEDURE play(steps integer) LANGUAGE plpgsql AS $$
DECLARE
	clock timestamptz := '2045-06-05 10:00Z';
BEGIN
	FOR n IN 1 .. steps LOOP
		CALL act(n, clock);
		COMMIT;
		clock := clock + random() ^ 8 * interval '5 hours' + interval '1 second';
		IF clock::time > '23:30' OR clock::time < '00:30' THEN
			clock := date_trunc('day', clock + interval '1 hour') + interval '1 hour';
		END IF;
	END LOOP;
END
$$;
CALL play(:steps);

SELECT is(string_agg(DISTINCT what, ','), 'accepted', seeded('submissions are accepted')) FROM done;
SELECT is(min(format('step %s, %s of %s, scope "%s", %s asks about %s: %s', n, session, level, scope, viewer, board, wrong)) FILTER (WHERE wrong IS NOT NULL), NULL, seeded(format('the viewer''s overlay, %s', l)))
FROM unnest(ARRAY['read committed', 'repeatable read', 'serializable']) AS l LEFT JOIN asked ON level = l GROUP BY l ORDER BY l;
SELECT ok(count(*) > 200, seeded('viewers asked for many answers')) FROM asked;
SELECT cmp_ok(count(*), '>', 60::bigint, seeded('in many of which some event was uncounted')) FROM asked WHERE news;

-- And in the end, with everything committed and counted, nothing is left to lay over.
SELECT dblink_exec(name, 'COMMIT') FROM open \g /dev/null
SELECT dblink_disconnect(name) FROM unnest(dblink_get_connections()) AS name \g /dev/null
SELECT lb._refresh(NULL, (SELECT max(ingest_time) FROM lb.event)) \g /dev/null
SELECT is(count(*), 0::bigint, seeded('what is counted is not uncounted')) FROM ranked AS r, generate_series(0, 31) AS i, LATERAL mine(r, 'm' || i, opens(r, '2045-06-10 12:00Z')) AS m WHERE news;
SELECT is(min(w), NULL, seeded('and viewers see the version')) FROM (SELECT * FROM ranked ORDER BY random() LIMIT 8) AS r, generate_series(0, 31, 7) AS i,
	LATERAL wrong(r, 'm' || i, (SELECT max(ingest_time) FROM lb.event), '', 2) AS w;
SELECT * FROM finish();
