-- Scopes: arguments, what the functions return, reading what is not there.
-- Random memberships are in test/pgtap/scopes.sql.  Queries that check print
-- violations only.
CREATE EXTENSION leaderboard;
\set ECHO none
\i test/include/attempt.sql
\set ECHO all
\pset null '(null)'
SET client_min_messages = warning;
SET timezone = 'UTC';
SET datestyle = 'ISO';
SELECT lb_create_counter('c') > 0 AS counter;
SELECT lb_create_board('plain', 'c') > 0 AS board;
SELECT lb_create_board('all', 'c', scoped => true) > 0 AS board;
SELECT lb_create_board('week', 'c', 'week', scoped => true) > 0 AS board;
SELECT lb_create_board('days', 'c', 'last 7 days', scoped => true) > 0 AS board;
SELECT board, scoped FROM lb_boards() ORDER BY board;

SELECT * FROM pg_temp.wrong(ARRAY[
'42704', 'nobody', 'SELECT lb_join(''nobody'', ''s'', ARRAY[''a''])',
'42704', 'counter', 'SELECT lb_join(''c'', ''s'', ARRAY[''a''])',
'22023', 'scoped', 'SELECT lb_join(''plain'', ''s'', ARRAY[''a''])',
'22023', 'scoped', 'SELECT lb_leave(''plain'', ''s'', ARRAY[''a''])',
'22023', 'scoped', 'SELECT lb_move(''plain'', ''a'', ''s'')',
'22023', 'scoped', 'SELECT lb_assign(''plain'', ''a'', 3)',
'22023', 'scoped', 'SELECT lb_scopes(''plain'')',
'22023', 'board', 'SELECT lb_join(NULL, ''s'', ARRAY[''a''])',
'22023', 'scope', 'SELECT lb_join(''all'', NULL, ARRAY[''a''])',
'22023', '1 to 200', 'SELECT lb_join(''all'', '''', ARRAY[''a''])',
'22023', '1 to 200', 'SELECT lb_join(''all'', repeat(''é'', 101), ARRAY[''a''])',
'22023', 'members', 'SELECT lb_join(''all'', ''s'', NULL)',
'22023', '10000', 'SELECT lb_join(''all'', ''s'', ARRAY[]::text[])',
'22023', '10000', 'SELECT lb_join(''all'', ''s'', ARRAY(SELECT i::text FROM generate_series(1, 10001) AS i))',
'22023', 'null', 'SELECT lb_join(''all'', ''s'', ARRAY[''a'', NULL])',
'22023', '1 to 200', 'SELECT lb_join(''all'', ''s'', ARRAY[''a'', ''''])',
'22023', '1 to 200', 'SELECT lb_leave(''all'', ''s'', ARRAY[repeat(''x'', 201)])',
'22023', 'infinity', 'SELECT lb_join(''week'', ''s'', ARRAY[''a''], ''infinity'')',
'22023', 'future', 'SELECT lb_join(''all'', ''s'', ARRAY[''a''], now() + interval ''1 minute'')',
'22023', 'future', 'SELECT lb_leave(''days'', ''s'', ARRAY[''a''], now() + interval ''1 minute'')',
'22023', 'future', 'SELECT lb_move(''days'', ''a'', ''s'', now() + interval ''1 minute'')',
'22023', 'member', 'SELECT lb_move(''all'', NULL, ''s'')',
'22023', 'to_scope', 'SELECT lb_move(''all'', ''a'', NULL)',
'22023', '1 to 200', 'SELECT lb_move(''all'', ''a'', '''')',
'22023', '1 to 200', 'SELECT lb_move(''all'', ''a'', ''s'', from_scope => '''')',
'22023', 'not in scope', 'SELECT lb_move(''all'', ''a'', ''s'', from_scope => ''t'')',
'22023', 'size', 'SELECT lb_assign(''all'', ''a'', NULL)',
'22023', 'size', 'SELECT lb_assign(''all'', ''a'', 0)',
'22023', 'member', 'SELECT lb_assign(''all'', NULL, 3)',
'22023', '0 to 180', 'SELECT lb_assign(''all'', ''a'', 3, repeat(''x'', 181))',
'22023', 'no scopes', 'SELECT lb_rank(''plain'', ''a'', ''s'')',
'22023', 'no scopes', 'SELECT lb_version(''plain'', ''s'')',
'22023', 'no scopes', 'SELECT lb_top_scopes(''plain'', ARRAY['''', ''s''])',
'22023', '200 bytes', 'SELECT lb_top(''all'', scope => repeat(''x'', 201))',
'22023', 'scopes', 'SELECT lb_top_scopes(''all'', NULL)',
'22023', '1000', 'SELECT lb_top_scopes(''all'', ARRAY[]::text[])',
'22023', '1000', 'SELECT lb_top_scopes(''all'', ARRAY(SELECT i::text FROM generate_series(1, 1001) AS i))',
'22023', 'null', 'SELECT lb_top_scopes(''all'', ARRAY[''s'', NULL])',
'22023', '1000', 'SELECT lb_top_scopes(''all'', ARRAY[''s''], 0)',
'42704', 'nobody', 'SELECT lb_top_scopes(''nobody'', ARRAY[''s''])']);
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT code FROM pg_temp.attempt('SELECT lb_assign(''all'', ''a'', 3)') UNION ALL SELECT code FROM pg_temp.attempt('SELECT lb_move(''all'', ''a'', ''s'')');
ROLLBACK;
BEGIN READ ONLY;
SELECT f, code FROM unnest(ARRAY['lb_join(''all'', ''s'', ARRAY[''a''])', 'lb_leave(''all'', ''s'', ARRAY[''a''])', 'lb_move(''all'', ''a'', ''s'')', 'lb_assign(''all'', ''a'', 3)']) AS f,
	LATERAL pg_temp.attempt('SELECT ' || f) WHERE code <> '25006';
ROLLBACK;
SELECT count(*) FROM lb.membership;

-- An unknown scope is empty.
SELECT status FROM lb_submit_batch('c', ARRAY['ann', 'bob', 'cid', 'dan'], ARRAY[4, 3, 2, 1], ARRAY['1', '2', '3', '4']);
SELECT events FROM lb_refresh();
SELECT member, rank, kind, value, population, stale, state FROM lb_rank('all', 'ann', 's');
SELECT count(*) FROM lb_top('all', scope => 's') UNION ALL SELECT count(*) FROM lb_page('all', 1, scope => 's') UNION ALL SELECT count(*) FROM lb_distribution('all', 's');
SELECT rank, population FROM lb_rank_for_value('all', 3, 's');
SELECT population, version > 0 AS version, state FROM lb_version('all', 's');
SELECT * FROM lb_scopes('all');

-- Who is said to be new is counted; whoever is in it already is not.
SELECT lb_join('all', 's', ARRAY['ann', 'bob', 'ann', 'new']);
SELECT lb_join('all', 's', ARRAY['ann', 'cid']);
SELECT member, rank FROM lb_top('all', scope => 's');
SELECT events, rankings FROM lb_refresh();
SELECT member, rank, place, value, population FROM lb_top('all', scope => 's');
SELECT member, rank FROM lb_around('all', 'bob', 1, 's');
SELECT member, rank, kind FROM lb_ranks('all', ARRAY['dan', 'new', 'cid'], 's');
SELECT among, member, rank FROM lb_among('all', ARRAY['dan', 'cid', 'bob'], 's');
SELECT among, member, rank FROM lb_among('all', ARRAY['dan', 'cid', 'bob', 'dan']);
SELECT scope, member, rank FROM lb_top_scopes('all', ARRAY['nobody', 's', ''], 2);
SELECT scope, members, since FROM lb_scopes('all');
SELECT scope, members, since <= now() AS since FROM lb_scopes('all', 'ann');
SELECT lb_leave('all', 's', ARRAY['ann', 'dan']) AS one, lb_leave('all', 's', ARRAY['ann']) AS none, lb_leave('all', 'unheard', ARRAY['ann']) AS none;
SELECT rankings FROM lb_refresh();
SELECT member, rank, population FROM lb_top('all', scope => 's');
SELECT scope, members FROM lb_scopes('all', 'ann') UNION ALL SELECT scope, members FROM lb_scopes('all');

-- Moving: from the one scope, from none, from one of several.
SELECT lb_move('all', 'dan', 't') AS joins, lb_move('all', 'bob', 't') AS moves, lb_move('all', 'bob', 't') AS stays, lb_join('all', 'region', ARRAY['bob']);
SELECT * FROM pg_temp.wrong(ARRAY['22023', 'region, t', 'SELECT lb_move(''all'', ''bob'', ''u'')']);
SELECT lb_move('all', 'bob', 'u', from_scope => 't') AS moves, lb_move('all', 'bob', 'u', from_scope => 't') AS stays;
SELECT scope FROM lb_scopes('all', 'bob');
SELECT rankings FROM lb_refresh();
SELECT scope, member FROM lb_top_scopes('all', ARRAY['s', 't', 'u', 'region']);

-- Assignment fills the first with room, and opens the next one.
SELECT member, lb_assign('week', member, 2, 'gold-') AS league FROM unnest(ARRAY['a', 'b', 'c', 'a', 'd', 'e', 'b']) AS member;
SELECT lb_leave('week', 'gold-1', ARRAY['b']), lb_assign('week', 'f', 2, 'gold-') AS hole, lb_assign('week', 'g', 2, 'gold-') AS open;
-- One that was made by hand, and is full, is not the next.
SELECT lb_join('week', 'gold-4', ARRAY['x', 'y']), lb_assign('week', 'h', 2, 'gold-') AS after, lb_assign('week', 'y', 2, 'gold-') AS stays;
-- Whoever leaves next week has the place in this one.
SELECT lb_leave('week', 'gold-1', ARRAY['a'], date_trunc('week', now()) + interval '7 days'), lb_assign('week', 'i', 2, 'gold-') AS not_one, lb_assign('week', 'a', 2, 'gold-') AS stays;
-- Another size, another prefix, none, one that ends in a number.
SELECT lb_assign('week', 'j', 3, 'gold-') AS larger, lb_assign('week', 'a', 2, 'silver-') AS other, lb_assign('week', 'a', 2) AS none, lb_assign('week', 'a', 2, 'gold-1') AS numbered;
SELECT scope, members FROM lb_scopes('week');
SELECT * FROM lb_check('all') UNION ALL SELECT * FROM lb_check('week') UNION ALL SELECT * FROM lb_check('days');

-- lb_check sees what is wrong with a scope.
SELECT events FROM lb_refresh();
BEGIN;
UPDATE lb.version SET population = population + 1 WHERE ranking_id IN (SELECT ranking_id FROM lb.ranking WHERE scope = 'u');
SELECT regexp_replace(problem, '[0-9]+', 'n', 'g') FROM lb_check('all');
ROLLBACK;
BEGIN;
DELETE FROM lb.membership WHERE scope = 'u';
SELECT * FROM lb_check('all');
DELETE FROM lb.membership_news;
SELECT regexp_replace(problem, '[0-9]+', 'n') FROM lb_check('all');
ROLLBACK;
BEGIN;
DELETE FROM lb.ranking WHERE scope = 'u';
SELECT regexp_replace(problem, '[0-9]+', 'n') FROM lb_check('all');
ROLLBACK;

-- A scope that outgrows one page, and falls back to it: problems, members, and pages that are rows.
CREATE TABLE step (n serial, what text, members integer);
INSERT INTO step (what, members) VALUES ('join', 300), ('leave', 3), ('leave', 0), ('join', 3), ('join', 400), ('leave', 200), ('leave', 4), ('leave', 0);
SELECT count(*) FROM lb_submit_batch('c', ARRAY(SELECT repeat('long', 20) || i FROM generate_series(1, 400) AS i), ARRAY(SELECT i * 7919 % 400 FROM generate_series(1, 400) AS i), ARRAY(SELECT 'long' || i FROM generate_series(1, 400) AS i));
SELECT events FROM lb_refresh();
UPDATE lb.board SET keep_versions = '0';
CREATE FUNCTION pg_temp.go(s step, OUT members bigint, OUT best text, OUT pages bigint, OUT problems bigint) LANGUAGE plpgsql AS $$
BEGIN
	IF s.what = 'join' THEN
		PERFORM lb_join('all', 'large', ARRAY(SELECT repeat('long', 20) || i FROM generate_series(1, s.members) AS i));
	ELSE
		PERFORM lb_leave('all', 'large', ARRAY(SELECT repeat('long', 20) || i FROM generate_series(s.members + 1, 400) AS i));
	END IF;
	PERFORM lb_refresh();
	PERFORM lb._collect();
	SELECT population INTO members FROM lb_version('all', 'large');
	SELECT replace(member, 'long', '') || ' ' || rank INTO best FROM lb_top('all', 1, 'large');
	SELECT count(*) INTO pages FROM lb.page JOIN lb.ranking USING (counter_id, ranking_id) WHERE scope = 'large';
	SELECT count(*) INTO problems FROM lb_check('all');
END
$$;
SELECT n, what, g.members, best, best = (SELECT i || ' 1' FROM generate_series(1, s.members) AS i ORDER BY i * 7919 % 400 DESC LIMIT 1) AS right, pages > 0 AS pages, problems FROM step AS s, LATERAL pg_temp.go(s) AS g ORDER BY n;
DROP TABLE step CASCADE;

-- What is left when the board goes.
SELECT lb_drop_board('all'), lb_drop_board('week'), lb_drop_board('days');
SELECT count(*) FROM lb.membership UNION ALL SELECT count(*) FROM lb.scope UNION ALL SELECT count(*) FROM lb.membership_news UNION ALL SELECT count(*) FROM lb.ranking WHERE scope <> '';
DROP EXTENSION leaderboard;
