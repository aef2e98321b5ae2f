-- Pinned reads: whatever was answered at a version is answered again with
-- version => v, many rounds and thousands of moves later, for every question:
-- exact and bounded boards, tie rules, both directions, days, rolling windows,
-- scopes.  And what is no longer kept, not there yet, or never was.
-- The seed is in the names of the tests: LB_SEED=… repeats a run.
\i test/include/seeded.sql
SELECT plan(34);

SELECT lb_create_counter('points', max_age => '60 days', lateness => '1 day', grain => '15 minutes') AS points,
	lb_create_counter('best', operator => 'min', max_age => '60 days') AS best \gset
CREATE TABLE board (board text, counter text, scoped boolean);
INSERT INTO board VALUES ('exact', 'points', false), ('dense', 'points', true), ('ordinal', 'points', false), ('head', 'points', true),
	('day', 'points', true), ('hours', 'points', false), ('fastest', 'best', false), ('forgets', 'points', false);
SELECT lb_create_board('exact', 'points', keep_versions => '1 hour'),
	lb_create_board('dense', 'points', ties => 'dense', scoped => true, keep_versions => '1 hour'),
	lb_create_board('ordinal', 'points', ties => 'ordinal', keep_versions => '1 hour'),
	lb_create_board('head', 'points', ranks => 'bounded', head => 12, scoped => true, keep_versions => '1 hour'),
	lb_create_board('day', 'points', 'day', scoped => true, keep_versions => '1 hour'),
	lb_create_board('hours', 'points', 'last 3 hours', keep_versions => '1 hour'),
	lb_create_board('fastest', 'best', ranks => 'bounded', head => 5, ties => 'ordinal', keep_versions => '1 hour'),
	lb_create_board('forgets', 'points', keep_versions => '0') \g /dev/null

-- What there is to ask; %s is where scope, at and version go.
CREATE TABLE question (what text, call text);
INSERT INTO question VALUES
	('ranks', format('lb_ranks(%%L, %L, %%s)', ARRAY(SELECT 'm' || i FROM generate_series(0, 70) AS i))),
	('page', 'lb_page(%L, 1, 1000, %s)'), ('page', 'lb_page(%L, 9, 3, %s)'), ('top', 'lb_top(%L, 4, %s)'),
	('around', 'lb_around(%L, ''m3'', 4, %s)'), ('around', 'lb_around(%L, ''m40'', 2, %s)'),
	('among', 'lb_among(%L, ''{m1,m2,m5,m8,m13,m21,m34,m55,m89}'', %s)'),
	('value', 'lb_rank_for_value(%L, 1, %s)'), ('value', 'lb_rank_for_value(%L, 150, %s)'), ('value', 'lb_rank_for_value(%L, 9000, %s)'),
	('spread', 'lb_distribution(%L, %s)');
CREATE FUNCTION answer(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	said text;
BEGIN
	EXECUTE format('SELECT coalesce(jsonb_agg(to_jsonb(a)), ''[]'')::text FROM %s AS a', call) INTO said;
	RETURN said;
END
$$;

-- The rounds, and what was answered right after each.
CREATE TABLE played (number bigint PRIMARY KEY, as_of timestamptz);
CREATE TABLE asked (number bigint, board text, scope text, at timestamptz, call text, version bigint, said text);
CREATE FUNCTION call(q question, board text, scope text, more text) RETURNS text LANGUAGE sql STABLE AS $$
	SELECT format(q.call, board, format('scope => %L', scope) || more)
$$;
CREATE FUNCTION listen(clock timestamptz) RETURNS void LANGUAGE sql VOLATILE AS $$
	INSERT INTO played SELECT max(number), clock FROM lb.round;
	INSERT INTO asked
	SELECT p.number, b.board, s.scope, t.at, call(q, b.board, s.scope, format(', at => %L', t.at)), v.version, answer(call(q, b.board, s.scope, format(', at => %L', t.at)))
	FROM (SELECT max(number) AS number FROM lb.round) AS p, question AS q, board AS b,
		LATERAL (SELECT '' AS scope UNION ALL SELECT unnest(ARRAY['red', 'blue', 'nobody']) WHERE b.scoped) AS s,
		LATERAL (SELECT CASE WHEN b.board <> 'hours' THEN clock END AS at UNION ALL SELECT clock - interval '1 day' WHERE b.board = 'day') AS t,
		LATERAL lb_version(b.board, s.scope, t.at) AS v
$$;
-- A window that is over is provisional for a reader, but was not for the round: the clock of this test is in years to come.
CREATE FUNCTION unlike(more text, without text[], since bigint) RETURNS SETOF text LANGUAGE sql VOLATILE AS $$
	SELECT format('round %s: %s%s: %s instead of %s', number, call, more, now, said)
	FROM (SELECT *, answer(format('%s, version => %s)', left(call, -1), CASE more WHEN 'own' THEN version ELSE number END)) AS now FROM asked
		WHERE board <> 'forgets' AND number >= since AND (more = '' OR version > 0)) AS a
	WHERE (SELECT jsonb_agg(x - without - CASE WHEN coalesce(at = (SELECT as_of FROM played AS p WHERE p.number = a.number), true) THEN '{}'::text[] ELSE '{state}' END) FROM jsonb_array_elements(now::jsonb) AS x)
		IS DISTINCT FROM (SELECT jsonb_agg(x - without - CASE WHEN coalesce(at = (SELECT as_of FROM played AS p WHERE p.number = a.number), true) THEN '{}'::text[] ELSE '{state}' END) FROM jsonb_array_elements(said::jsonb) AS x)
	LIMIT 3
$$;

CREATE FUNCTION submit(id bigint, events integer, members integer, largest integer, at timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	refused text;
BEGIN
	SELECT min(s.status || s.reason) INTO refused
	FROM (SELECT array_agg('m' || floor(random() * members)) AS m, array_agg(CASE WHEN random() < 0.004 THEN 9223372036854775807 ELSE floor(random() * random() * largest)::bigint - largest / 5 END) AS d,
			array_agg(format('%s-%s-%s', at, events, i)) AS k, array_agg(at - random() * random() * interval '5 hours') AS t FROM generate_series(1, events) AS i) AS e,
		LATERAL lb._submit_batch(id, m, d, k, t, NULL, NULL, 'e', at) AS s
	WHERE s.status <> 'accepted';
	IF refused IS NOT NULL THEN
		RAISE EXCEPTION '%', refused;
	END IF;
END
$$;
-- Rounds over two days; some have no events, and only move rolling windows on; members of scopes come and go.
CREATE PROCEDURE play(rounds integer) LANGUAGE plpgsql AS $$
DECLARE
	at timestamptz := coalesce((SELECT max(as_of) FROM played), '2041-03-04 20:00Z');
	id bigint;
BEGIN
	FOR i IN 1 .. rounds LOOP
		at := at + (1 + floor(random() * 200)) * interval '1 minute';
		FOR id IN SELECT counter_id FROM lb_counters() WHERE random() < 0.85 LOOP
			PERFORM submit(id, (ARRAY[3, 100, 300, 400])[1 + floor(random() * 4)], 60, 200, at);
		END LOOP;
		PERFORM lb_join(b.board, (ARRAY['red', 'blue'])[1 + floor(random() * 2)], ARRAY['m' || floor(random() * 60), 'm' || floor(random() * 60)]) FROM board AS b WHERE b.scoped AND random() < 0.5;
		PERFORM lb_leave(b.board, (ARRAY['red', 'blue'])[1 + floor(random() * 2)], ARRAY['m' || floor(random() * 60)]) FROM board AS b WHERE b.scoped AND random() < 0.5;
		COMMIT;
		PERFORM lb._refresh(NULL, at);
		COMMIT;
		PERFORM listen(at);
		COMMIT;
	END LOOP;
END
$$;

CALL play(16);
SELECT cmp_ok((SELECT count(*) FROM lb.moved AS m JOIN lb.ranking USING (counter_id, ranking_id) WHERE m.version > (SELECT number FROM played ORDER BY number DESC OFFSET 10 LIMIT 1)), '>', 1000::bigint,
	seeded('thousands of moves in ten rounds'));
SELECT is((SELECT array_agg(u) FROM unlike('', '{}', 0) AS u), NULL, seeded('what was answered after each round is answered with its number, to the last column'));
SELECT is((SELECT array_agg(u) FROM unlike('own', '{as_of}', 0) AS u), NULL, seeded('and with the version that the answer gave'));
SELECT is((SELECT array_agg(a.number || a.call) FROM asked AS a JOIN played AS p USING (number), LATERAL answer(format('%s, version => %s)', left(regexp_replace(call, ', at => [^)]*', ''), -1), number)) AS now
		WHERE a.board <> 'forgets' AND coalesce(a.at = p.as_of, true) AND now <> said), NULL, seeded('without "at", a version is of the window that was current then'));
SELECT is((SELECT count(*) FROM asked WHERE said LIKE '%"estimated"%') > 20 AND (SELECT count(*) FROM asked WHERE version = number) > 100
	AND (SELECT count(*) FROM lb.poison) > 0 AND (SELECT count(DISTINCT at) FROM asked WHERE board = 'day' AND said <> '[]') > 3, true, 'there was something to get wrong');

-- Versions that are collected.  A day passes for those up to a round; each ranking keeps the one that was current then.
SELECT number AS then FROM played ORDER BY number OFFSET 6 LIMIT 1 \gset
CREATE TABLE due AS
SELECT b.board, r.scope, r.opens, greatest(r.opens, '2041-03-04 00:00Z') AS at, r.counter_id, r.ranking_id, max(v.version) FILTER (WHERE v.version <= :then) AS oldest, min(v.version) AS first, max(v.version) AS newest
FROM lb.ranking AS r JOIN lb.board AS b USING (board_id) JOIN lb.version AS v ON v.counter_id = r.counter_id AND v.ranking_id = r.ranking_id GROUP BY 1, 2, 3, 4, 5, 6;
UPDATE lb.version SET made_at = made_at - interval '1 day' WHERE version <= :then;
SELECT lb._collect() \g /dev/null
SELECT is((SELECT array_agg(u) FROM unlike('', '{}', :then) AS u), NULL, seeded('collecting takes nothing from what is still kept'));

CREATE FUNCTION tried(board text, scope text, at timestamptz, version bigint, OUT code text, OUT detail text, OUT message text, OUT hint text) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM lb_rank(board, 'm1', scope, CASE WHEN board <> 'hours' THEN at END, version => version);
	code := 'ok';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE, detail = PG_EXCEPTION_DETAIL, message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
END
$$;
SELECT is((SELECT array_agg(row(d.*, t.*)::text) FROM (SELECT * FROM due WHERE scope = '' AND oldest > first AND board <> 'forgets') AS d, LATERAL tried(board, scope, at, oldest - 1) AS t
	WHERE (code, detail) IS DISTINCT FROM ('55000', format('The oldest version that is still served is %s.', oldest))
		OR message <> format('version %s of board "%s" is no longer kept', oldest - 1, board) OR hint !~ 'keep_versions'), NULL, seeded('a collected version is an error that names the oldest'));
SELECT is((SELECT array_agg(row(d.*, t.*)::text) FROM due AS d, LATERAL tried(board, scope, at, oldest) AS t WHERE oldest IS NOT NULL AND board <> 'forgets' AND code <> 'ok'), NULL, seeded('which is served'));
SELECT is((SELECT count(*) FROM due WHERE scope = '' AND oldest > first AND board <> 'forgets') > 5, true, 'of several boards');
SELECT is((SELECT array_agg(row(d.*, t.*)::text) FROM due AS d, LATERAL tried(board, scope, at, newest) AS t WHERE code <> 'ok'), NULL, 'the newest version of every ranking can be asked for');
SELECT is((SELECT array_agg(row(d.*, t.*)::text) FROM (SELECT * FROM due WHERE board = 'forgets' AND newest > first) AS d, LATERAL tried(board, scope, at, newest - 1) AS t
	WHERE (code, detail) IS DISTINCT FROM ('55000', format('The oldest version that is still served is %s.', newest))), NULL, 'where keep_versions is 0, only that');

-- Two members of a scope rest while the board moves on and forgets; so does somebody who was in it.
SELECT lb_create_counter('calm') AS calm, lb_create_board('calm', 'calm', scoped => true) \gset
SELECT lb_join('calm', 'still', ARRAY['a', 'b', 'c']) \g /dev/null
SELECT status FROM lb._submit_batch(:calm, '{a,b,c,d}', '{30,20,10,5}', '{1,2,3,4}', NULL, NULL, NULL, 'e', '2041-03-07 00:00Z') \g /dev/null
SELECT lb._refresh(NULL, '2041-03-07 00:00Z') \g /dev/null
SELECT version AS before FROM lb_version('calm', 'still') \gset
SELECT lb_leave('calm', 'still', ARRAY['c']) \g /dev/null
SELECT lb._refresh(NULL, '2041-03-07 00:01Z') \g /dev/null
SELECT version AS still, array_agg(member || value) AS said FROM lb_top('calm', scope => 'still') GROUP BY 1 \gset
SELECT status FROM lb._submit_batch(:calm, '{c,d}', '{100,100}', '{5,6}', NULL, NULL, NULL, 'e', '2041-03-07 00:02Z') \g /dev/null
SELECT lb._refresh(NULL, '2041-03-07 00:02Z') \g /dev/null
SELECT is((SELECT array_agg(member || value ORDER BY place) FROM lb_ranks('calm', '{a,b,c}', 'still', version => :before)), '{a30,b20,c10}', 'who has left a scope, and scored since, is in it at an earlier version');
UPDATE lb.version SET made_at = made_at - interval '1 day';
SELECT lb._collect() \g /dev/null
SELECT is((SELECT version FROM lb_version('calm', 'still')), :still::bigint, 'a scope may have an old version');
SELECT is((SELECT array_agg(member || value) FROM lb_top('calm', scope => 'still', version => :still)), :'said', 'which is told although the board''s own is forgotten');
SELECT is((SELECT array_agg(rank ORDER BY member) FROM lb_ranks('calm', '{a,b,c}', 'still', version => :still)), '{1,2,NULL}', 'rank by rank');
SELECT is((tried('calm', 'still', NULL, :before)).code, '55000', 'an earlier one is not');

-- What was not there.
SELECT throws_ok('SELECT lb_top(''exact'', version => 0)', '22023', NULL, 'no version is below 1');
SELECT throws_ok(format('SELECT lb_rank(''exact'', ''m1'', version => %s)', (SELECT max(number) + 1 FROM lb.round)), '22023', NULL, 'nor above the newest round');
SELECT throws_ok('SELECT lb_rank(''exact'', ''m1'', viewer => ''m1'', version => 1)', '22023', NULL, 'a viewer has no past');
SELECT is(row(kind, population, version <= :then), row('unranked'::text, 0::bigint, true), 'a window that opened later was empty') FROM lb_rank('day', 'm1', at => '2041-05-05', version => :then);
SELECT is((SELECT array_agg(member) FROM lb_top('dense', scope => 'none', version => :then)), NULL, 'a scope that nobody was in too');
SELECT max(number) AS unbuilt FROM lb.round \gset
SELECT lb_create_board('late', 'points') \g /dev/null
SELECT is((SELECT array_agg(member) FROM lb_top('late', version => :unbuilt)), NULL, 'before it was made nobody was on a board');
SELECT is((SELECT count(*) FROM lb_top('late', 1000) AS t JOIN lb_version('late') AS v USING (version), LATERAL lb_rank('late', t.member, version => v.version) AS r WHERE r.rank = t.rank), (SELECT population FROM lb_version('late')),
	'the version that it was made with can be asked for at once');

-- A larger head, and a keep_versions that was 0, let go of what came before.
SELECT version AS head FROM lb_version('head') \gset
SELECT lb_alter_board('head', head => 30) \g /dev/null
SELECT is((tried('head', '', NULL, :head)).code, '55000', 'with a larger head, earlier versions are gone');
SELECT is((SELECT count(*) FROM lb_page('head', 1, 1000, version => v.version) AS p), 30::bigint, 'the new one has it') FROM lb_version('head') AS v;
SELECT version AS forgets FROM lb_version('forgets') \gset
SELECT submit(:points, 40, 60, 200, '2041-03-08 00:00Z'); SELECT lb._refresh(NULL, '2041-03-08 00:00Z') \g /dev/null
SELECT lb_alter_board('forgets', keep_versions => '1 hour') \g /dev/null
SELECT is((tried('forgets', '', NULL, :forgets)).code, '55000', 'what nobody noted is gone');
INSERT INTO asked SELECT 0, 'forgets', '', NULL, 'lb_page(''forgets'', 1, 1000)', version, answer('lb_page(''forgets'', 1, 1000)') FROM lb_version('forgets');
SELECT submit(:points, 400, 60, 200, '2041-03-08 00:10Z'); SELECT lb._refresh(NULL, '2041-03-08 00:10Z') \g /dev/null
SELECT is(answer(format('lb_page(''forgets'', 1, 1000, version => %s)', version)), said, 'from then on it is noted') FROM asked WHERE number = 0;

-- A version, once counted, is as old as its round.
SELECT is(t.stale, true, 'an old version is stale') FROM (SELECT number, as_of FROM lb.round ORDER BY number LIMIT 1) AS r, LATERAL (SELECT now() > r.as_of + interval '5 seconds' OR r.as_of > now() AS stale) AS t;
SELECT is((SELECT array_agg(DISTINCT t.as_of) FROM lb_top('exact', version => p.number) AS t), ARRAY[p.as_of], 'as_of is the round''s') FROM played AS p ORDER BY number DESC LIMIT 1;

-- Conditional reads, with everything else that can be asked.
SELECT is((SELECT count(*) FROM asked AS a WHERE a.number = (SELECT max(number) FROM played) AND version > 0 AND board <> 'forgets'
	AND answer(format('%s, newer_than => %s)', left(call, -1), (SELECT version FROM lb_version(a.board, a.scope, a.at)))) <> '[]'), 0::bigint, 'nothing newer: no rows, whatever the question');
SELECT is((SELECT array_agg(call) FROM asked AS a WHERE a.number = (SELECT max(number) FROM played) AND board <> 'forgets'
	AND answer(format('%s, newer_than => %s)', left(call, -1), (SELECT version - 1 FROM lb_version(a.board, a.scope, a.at)))) <> answer(call)), NULL, 'something newer: all rows');
SELECT version AS latest FROM lb_version('exact') \gset
SELECT is((SELECT count(*) FROM lb_top('exact', version => :latest, newer_than => :latest)), 0::bigint, 'a version is not newer than itself');
SELECT cmp_ok((SELECT count(*) FROM lb_top('exact', version => :latest, newer_than => 1)), '>', 0::bigint, 'but than earlier ones');
SELECT is((SELECT array_agg(DISTINCT scope) FROM lb_top_scopes('dense', ARRAY['red', 'blue'], newer_than => (SELECT version FROM lb_version('dense', 'red')))),
	(SELECT array_agg(s) FROM unnest(ARRAY['blue']) AS s WHERE (lb_version('dense', s)).version > (lb_version('dense', 'red')).version), 'of several scopes those that are newer');
SELECT * FROM finish();
