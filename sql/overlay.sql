-- The viewer's overlay, case by case.  Random ones are in test/pgtap/overlay.sql,
-- several sessions in test/isolation/specs/overlay.spec.
CREATE EXTENSION leaderboard;
\set ECHO none
\i test/include/attempt.sql
\set ECHO all
\pset null '(null)'
SET client_min_messages = warning;
SET timezone = 'UTC';
SET datestyle = 'ISO';
SELECT lb_create_counter('c') > 0 AS counter;
SELECT lb_create_counter('best', operator => 'max') > 0 AS counter;
SELECT lb_create_board('all', 'c') > 0 AS board;
SELECT lb_create_board('day', 'c', 'day', lateness => '1 hour') > 0 AS board;
SELECT lb_create_board('best', 'best') > 0 AS board;
CREATE FUNCTION submit(counter text, member text, delta bigint, at timestamptz DEFAULT '2040-05-05 12:00Z', now timestamptz DEFAULT '2040-05-05 12:00Z', kind "char" DEFAULT 'e')
RETURNS text LANGUAGE sql AS $$
	SELECT status FROM lb._submit_batch(lb._counter_id(counter), ARRAY[member], ARRAY[delta], ARRAY[gen_random_uuid()::text], ARRAY[at], NULL, NULL, kind, now)
$$;

-- Before any round, and before anybody is there.
SELECT member, rank, kind, value, population, version FROM lb_rank('all', 'ann', viewer => 'ann');
SELECT submit('c', 'ann', 5);
SELECT member, rank, kind, value, place, percentile_low, reached_at, population, version, as_of, stale FROM lb_rank('all', 'ann', viewer => 'ann');
SELECT member, rank, kind, value, population FROM lb_rank('all', 'ann');
SELECT member, rank, kind, value, population FROM lb_rank('all', 'ann', viewer => 'bob');
SELECT count(*) FROM lb_top('all', viewer => 'ann');
SELECT submit('c', 'bob', 7), submit('c', 'cid', 6), submit('c', 'dan', 6), submit('c', 'eve', 2);
SELECT events FROM lb_refresh();

-- Nobody is a viewer nobody knows.
SELECT count(DISTINCT r) AS answers FROM unnest(ARRAY[NULL, '', 'ann', 'bob', 'zoe', repeat('ž', 500)]) v, LATERAL (SELECT r - 'stale' AS r FROM lb_rank('all', 'ann', viewer => v) a, to_jsonb(a) r) r;
SELECT member, rank, kind FROM lb_rank('all', repeat('ž', 500), viewer => repeat('ž', 500)) WHERE member <> repeat('ž', 500) OR kind <> 'unranked';
SELECT * FROM pg_temp.wrong(ARRAY[
'22023', 'viewer', 'SELECT lb_rank(''all'', ''ann'', viewer => ''ann'', version => 1)',
'22023', 'scope', 'SELECT lb_rank(''all'', ''ann'', scope => ''x'', viewer => ''ann'')',
'42704', 'none', 'SELECT lb_rank(''none'', ''ann'', viewer => ''ann'')',
'42704', 'none', 'SELECT lb_value(''none'', ''ann'', viewer => ''ann'')',
'00000', '', 'SELECT lb_rank_for_value(''all'', 3, viewer => ''ann'')',
'00000', '', 'SELECT lb_distribution(''all'', viewer => ''ann'')'
]);

-- Ann passes dan and cid; whoever else is asked about stays where the version has them.
SELECT submit('c', 'ann', 1, '2040-05-05 11:00Z');
SELECT member, rank, place, value, population FROM lb_top('all', viewer => 'ann');
SELECT member, rank, place, value, population FROM lb_around('all', 'ann', 1, viewer => 'ann');
SELECT member, rank, place, value, population FROM lb_around('all', 'cid', 2, viewer => 'ann');
SELECT among, member, rank, value FROM lb_among('all', ARRAY['dan', 'eve', 'ann', 'zoe'], viewer => 'ann');
SELECT member, rank, value FROM lb_ranks('all', ARRAY['ann', 'bob', 'ann', 'zoe'], viewer => 'ann');
-- In her own transaction at once; a delta that is taken back leaves nothing.
BEGIN;
SELECT submit('c', 'ann', 10), submit('c', 'bob', 100);
SELECT member, rank, value FROM lb_ranks('all', ARRAY['ann', 'bob'], viewer => 'ann');
SELECT member, value, late FROM lb_values('c', ARRAY['ann', 'bob'], viewer => 'ann');
SELECT events FROM lb_refresh();
SELECT member, rank, value FROM lb_ranks('all', ARRAY['ann', 'bob'], viewer => 'ann');
ROLLBACK;
SELECT member, rank, value FROM lb_ranks('all', ARRAY['ann', 'bob'], viewer => 'ann');
-- A prepared plan, and a cursor whose snapshot is older than the event.
BEGIN;
DECLARE old CURSOR FOR SELECT member, value FROM lb_ranks('all', ARRAY['ann', 'eve'], viewer => 'eve');
SELECT submit('c', 'eve', 3);
FETCH ALL FROM old;
SELECT member, value FROM lb_ranks('all', ARRAY['ann', 'eve'], viewer => 'eve');
COMMIT;
SELECT events FROM lb_refresh();

-- Only what is new to the viewer is news: not a score that is no better.
SELECT submit('best', 'ann', 50), submit('best', 'bob', 40);
SELECT events FROM lb_refresh();
SELECT version AS v FROM lb_version('best') \gset
SELECT count(*) FROM lb_top('best', viewer => 'ann', newer_than => :v);
SELECT submit('best', 'ann', 49);
SELECT count(*) FROM lb_top('best', viewer => 'ann', newer_than => :v) UNION ALL SELECT value FROM lb_rank('best', 'ann', viewer => 'ann');
SELECT submit('best', 'ann', 60);
SELECT member, value FROM lb_top('best', viewer => 'ann', newer_than => :v);
SELECT count(*) FROM lb_top('best', viewer => 'bob', newer_than => :v);
-- The same score at an earlier time is.
SELECT submit('best', 'bob', 40, '2040-05-05 10:00Z');
SELECT reached_at FROM lb_rank('best', 'bob', viewer => 'bob');

-- Late for the day, in time for all; history never is.
SELECT submit('c', 'fay', 1, '2040-05-04 12:00Z', '2040-05-05 01:00:00.000001Z'), submit('c', 'fay', 2, '2040-05-04 13:00Z', '2040-05-05 01:00Z'),
	submit('c', 'fay', 4, '2040-05-04 14:00Z', '2040-05-05 12:00Z', 'h'), submit('c', 'fay', 8, '2040-05-05 00:00Z', '2040-05-05 12:00Z');
SELECT at, value, rank, population FROM (VALUES ('2040-05-04 00:00Z'::timestamptz), ('2040-05-05 00:00Z'), ('2040-05-06 00:00Z')) v (at), LATERAL lb_rank('day', 'fay', at => at, viewer => 'fay');
SELECT value FROM lb_rank('all', 'fay', viewer => 'fay');
-- lb_value goes by the counter's lateness, a day.
SELECT submit('c', 'fay', 16, '2040-05-04 15:00Z', '2040-05-06 00:00:00.000001Z');
SELECT p, value, late FROM unnest(ARRAY['day', 'hour', 'week', 'all']) p, LATERAL lb_value('c', 'fay', p, '2040-05-04 15:30Z', viewer => 'fay');
SELECT value, late FROM lb_value('c', 'fay', 'day', '2040-05-04 15:30Z', viewer => 'ann');
SELECT events FROM lb_refresh();
SELECT p, value, late FROM unnest(ARRAY['day', 'hour', 'week', 'all']) p, LATERAL lb_value('c', 'fay', p, '2040-05-04 15:30Z') v;
SELECT at, value, rank, population FROM (VALUES ('2040-05-04 00:00Z'::timestamptz), ('2040-05-05 00:00Z')) v (at), LATERAL lb_rank('day', 'fay', at => at);

-- Off the board with a sum that does not fit, and back.
SELECT submit('c', 'ann', 9223372036854775807);
SELECT member, rank, kind, value, population FROM lb_rank('all', 'ann', viewer => 'ann');
SELECT member, kind, population FROM lb_around('all', 'ann', viewer => 'ann');
SELECT member, kind, value FROM lb_top('all', viewer => 'ann') WHERE member = 'ann';
SELECT among, member, kind FROM lb_among('all', ARRAY['ann', 'bob'], viewer => 'ann');
SELECT * FROM pg_temp.wrong(ARRAY['22003', 'ann', 'SELECT lb_value(''c'', ''ann'', viewer => ''ann'')', '00000', '', 'SELECT lb_value(''c'', ''ann'')']);
SELECT events FROM lb_refresh();
SELECT submit('c', 'ann', -9223372036854775807);
SELECT member, rank, value, population FROM lb_rank('all', 'ann') UNION ALL SELECT member, rank, value, population FROM lb_rank('all', 'ann', viewer => 'ann');

-- The head of one: who leaves it may be anywhere behind, and is told so.
SELECT lb_create_counter('h') > 0 AS counter;
SELECT lb_create_board('head', 'h', ranks => 'bounded', head => 1) > 0 AS board;
SELECT lb_create_board('places', 'h', ranks => 'bounded', head => 1, ties => 'ordinal') > 0 AS board;
SELECT submit('h', 'ann', 10), submit('h', 'bob', 8), submit('h', 'cid', 6), submit('h', 'dan', 4);
SELECT events FROM lb_refresh();
SELECT submit('h', 'ann', -5);
SELECT b, kind, rank, rank_low <= 3 AND rank_high >= 3 AS holds_3, place, value, population FROM unnest(ARRAY['head', 'places']) b, LATERAL lb_rank(b, 'ann', viewer => 'ann');
SELECT submit('h', 'cid', 3);
SELECT b, kind, rank, rank_low <= 2 AND rank_high >= 2 AS holds_2, place, value, population FROM unnest(ARRAY['head', 'places']) b, LATERAL lb_rank(b, 'cid', viewer => 'cid');
SELECT submit('h', 'cid', 2);
SELECT b, kind, rank, place, value, population FROM unnest(ARRAY['head', 'places']) b, LATERAL lb_rank(b, 'cid', viewer => 'cid');
SELECT submit('h', 'eve', 11);
SELECT b, kind, rank, place, value, population FROM unnest(ARRAY['head', 'places']) b, LATERAL lb_rank(b, 'eve', viewer => 'eve');

-- In a scope, who belongs to it has what there is on the whole board.
SELECT lb_create_board('league', 'c', scoped => true) > 0 AS board;
SELECT lb_join('league', 'gold', ARRAY['ann', 'bob']), lb_join('league', 'tin', ARRAY['eve', 'new']);
SELECT events FROM lb_refresh();
SELECT submit('c', 'eve', 100), submit('c', 'new', 1), submit('c', 'zoe', 3);
SELECT s, v, rank, value, population FROM unnest(ARRAY['gold', 'tin', 'none']) s, unnest(ARRAY['eve', 'new', 'zoe']) v, LATERAL lb_rank('league', v, scope => s, viewer => v) ORDER BY s, v;
SELECT lb_move('league', 'eve', 'gold', from_scope => 'tin');
SELECT s, rank, value, population FROM unnest(ARRAY['gold', 'tin']) s, LATERAL lb_rank('league', 'eve', scope => s, viewer => 'eve');
SELECT lb_join('league', 'fresh', ARRAY['eve']);
SELECT rank, value, population FROM lb_rank('league', 'eve', scope => 'fresh', viewer => 'eve');
SELECT scope, member, rank, value, population FROM lb_top_scopes('league', ARRAY['gold', 'tin'], viewer => 'eve');

-- A role that may ask, and nothing else.
CREATE ROLE regress_overlay;
GRANT EXECUTE ON FUNCTION lb_rank, lb_value TO regress_overlay;
SET ROLE regress_overlay;
SELECT value FROM lb_rank('all', 'eve', viewer => 'eve') UNION ALL SELECT value FROM lb_value('c', 'eve', viewer => 'eve');
RESET ROLE;
DROP OWNED BY regress_overlay;
DROP ROLE regress_overlay;
DROP FUNCTION submit;
DROP EXTENSION leaderboard;
