-- The ranktree: random histories against window functions over the raw
-- events, bounded heads, versions and their collection, damage.  Queries that
-- check print violations only.
CREATE EXTENSION leaderboard;
\set ECHO none
\i test/include/attempt.sql
\set ECHO all
\pset null '(null)'
SET client_min_messages = warning;
SET timezone = 'UTC';
SET datestyle = 'ISO';
-- The seed: another one in LB_SEED makes other histories, and this line differ.
\getenv seed LB_SEED
\if :{?seed}
\else
\set seed 0.20261201
\endif
SELECT :seed AS seed, setseed(:seed) IS NOT NULL AS set;

-- 200 small histories of four operators, values from two to all there are,
-- members up to 200 bytes, equal times; and one of 20,000 members at 0 or 1.
CREATE TEMP TABLE history AS
SELECT h, (ARRAY['sum', 'max', 'min', 'last'])[1 + h % 4] AS operator, floor(random() * 7)::int AS deltas, floor(random() * 5)::int AS names,
	floor(random() * 3)::int AS times, 2 + floor(random() * CASE WHEN h % 25 = 0 THEN 90 ELSE 12 END)::int AS members
FROM generate_series(1, 200) AS h
UNION ALL SELECT 0, 'last', 0, 0, 1, 20000;
-- Each on six exact boards, and every third on bounded ones: of a head of one,
-- of a few, and of more than there are.
CREATE TEMP TABLE board AS
SELECT h, ties, direction, head, keep, format('b%s %s %s %s', h, ties, direction, coalesce(head, 0)) AS board
FROM (SELECT h, NULL::int AS head, CASE WHEN h % 10 = 5 THEN interval '0' ELSE '1 day' END AS keep FROM history
	UNION ALL SELECT h, (ARRAY[1, 2, 3, 5, 8, 1000])[1 + h % 6], '1 day' FROM history WHERE h % 3 = 1
	UNION ALL SELECT 0, head, '1 day' FROM unnest(ARRAY[3, 700]) AS head) AS s,
	unnest(ARRAY['competition', 'dense', 'ordinal']) AS ties, unnest(ARRAY['desc', 'asc']) AS direction
WHERE h > 0 OR ties || direction || coalesce(head, 0) IN ('competitiondesc0', 'denseasc0', 'ordinaldesc0', 'competitiondesc3', 'ordinalasc700', 'densedesc700');
\set ECHO none
\i test/include/history.sql
\set ECHO all
SELECT count(lb_create_counter('c' || h, operator => operator)) AS counters FROM history;
SELECT count(pg_temp.make_board(b)) AS boards FROM board AS b;

-- Four rounds: a first crowd, then improvements, drops, newcomers.
SELECT status, reason FROM pg_temp.play(1) WHERE status <> 'accepted';
SELECT events > 0 AS counted FROM lb_refresh();
SELECT * FROM pg_temp.differences(1);
SELECT status, reason FROM pg_temp.play(2) WHERE status <> 'accepted';
SELECT events > 0 AS counted FROM lb_refresh();
SELECT * FROM pg_temp.differences(2);
SELECT status, reason FROM pg_temp.play(3) WHERE status <> 'accepted';
SELECT events > 0 AS counted FROM lb_refresh();
SELECT * FROM pg_temp.differences(3);
-- Everybody drops, so that heads must be filled up again.
SELECT status, reason FROM pg_temp.play(4) WHERE status <> 'accepted';
SELECT events > 0 AS counted FROM lb_refresh();
SELECT * FROM pg_temp.differences(4);

-- A bounded board that lived through all that answers as one just made.
CREATE TEMP TABLE fresh AS SELECT *, board || ' fresh' AS name FROM board WHERE head IS NOT NULL;
SELECT count(pg_temp.make_board(ROW(h, ties, direction, head, keep, name)::board)) > 100 AS boards FROM fresh;
SELECT * FROM fresh AS b, LATERAL pg_temp.unlike(b.board, b.name, b.h) AS unlike;
SELECT board, p.problem FROM fresh, LATERAL lb_check(name) AS p;
SELECT count(lb_drop_board(name)) > 100 AS dropped FROM fresh;

-- Every version kept says what it said: its tree, and lb.moved with lb.standing.
SELECT * FROM pg_temp.forgotten(1);
SELECT * FROM pg_temp.unreachable();
-- Where nobody may ask for an earlier version nothing is noted.
SELECT board FROM pg_temp.ranking() AS r JOIN lb.moved AS m USING (ranking_id) WHERE keep = '0';
-- Collection leaves what a kept version reaches, and no more.  Version 3 was
-- current when the time to keep began.
UPDATE lb.version SET made_at = made_at - interval '2 days' WHERE version <= (SELECT number FROM played WHERE round = 3);
SELECT lb._collect() > 500 AS collected;
SELECT * FROM pg_temp.forgotten(3);
SELECT * FROM pg_temp.unreachable();
SELECT count(*) AS left FROM lb.moved AS m WHERE m.version <= (SELECT min(v.version) FROM lb.version AS v WHERE (v.counter_id, v.ranking_id) = (m.counter_id, m.ranking_id));
SELECT lb._collect() AS again;
UPDATE lb.version SET made_at = made_at - interval '2 days';
SELECT lb._collect() > 500 AS collected;
SELECT * FROM pg_temp.forgotten(4);
SELECT * FROM pg_temp.unreachable();
SELECT count(*) FROM lb.moved;
SELECT ranking_id FROM lb.version WHERE ranking_id > 0 GROUP BY 1 HAVING count(*) <> 1;
SELECT * FROM pg_temp.wrong_ranks();
-- With keep_versions 0 the newest is kept, and a round makes the next from it.
SELECT status, reason FROM pg_temp.play(5) WHERE status <> 'accepted';
SELECT events > 0 AS counted FROM lb_refresh();
SELECT * FROM pg_temp.differences(5);
SELECT lb._collect() > 50 AS collected;
SELECT * FROM pg_temp.forgotten(5);
SELECT * FROM pg_temp.unreachable();
SELECT board FROM pg_temp.ranking() JOIN lb.version AS v USING (ranking_id) WHERE keep = '0' GROUP BY 1 HAVING count(*) <> 1;
-- Boards leave nothing behind.
SELECT count(lb_drop_board(board)) > 1000 AS dropped FROM board;
SELECT count(*) FROM lb.page UNION ALL SELECT count(*) FROM lb.moved UNION ALL SELECT count(*) FROM lb.standing UNION ALL SELECT count(*) FROM lb.version WHERE ranking_id > 0;

-- The first version of a head that was trimmed at once: all of it is collected.
SELECT lb_create_board('trimmed', 'c0', ranks => 'bounded', head => 10, keep_versions => '0') > 0 AS board;
SELECT status FROM lb_submit('c0', 'member-1', 5, 'trimmed');
SELECT events FROM lb_refresh();
SELECT lb._collect() AS collected;
SELECT count(*) AS pages FROM lb.page;
SELECT * FROM lb_check('trimmed');
SELECT lb_drop_board('trimmed');

-- A round that is rolled back gives its page ids to the next one; who reads
-- inside it sees it, and afterwards the other.
SELECT lb_create_counter('undone', operator => 'last') > 0 AS counter;
SELECT lb_create_board('undone', 'undone') > 0 AS board;
SELECT count(*) FROM lb_submit_batch('undone', ARRAY['a', 'b', 'c'], ARRAY[3, 2, 1], ARRAY['1', '2', '3']) WHERE status = 'accepted';
SELECT events FROM lb_refresh();
SELECT member, rank, value FROM lb_top('undone');
SELECT status FROM lb_submit('undone', 'c', 9, '4');
BEGIN;
SELECT events FROM lb_refresh();
SELECT member, rank, value FROM lb_top('undone');
SELECT member, rank FROM lb_rank('undone', 'a');
ROLLBACK;
SELECT member, rank, value FROM lb_top('undone');
BEGIN;
SAVEPOINT s;
SELECT events FROM lb_refresh();
SELECT member, rank, value FROM lb_top('undone', 1);
ROLLBACK TO s;
SELECT member, rank, value FROM lb_top('undone', 1);
COMMIT;
SELECT status FROM lb_submit('undone', 'b', 10, '5');
SELECT events FROM lb_refresh();
SELECT member, rank, value FROM lb_top('undone');
SELECT * FROM lb_check('undone');
-- A board made, read and rolled back; another by its name.
BEGIN;
SELECT lb_create_board('undone 2', 'undone', direction => 'asc') > 0 AS board;
SELECT member, rank FROM lb_top('undone 2', 1);
ROLLBACK;
SELECT code FROM pg_temp.attempt('SELECT lb_top(''undone 2'', 1)');
SELECT lb_create_board('undone 2', 'undone', direction => 'desc') > 0 AS board;
SELECT member, rank FROM lb_top('undone 2', 1);
BEGIN;
SELECT lb_drop_board('undone 2');
SELECT code FROM pg_temp.attempt('SELECT lb_top(''undone 2'', 1)');
SELECT lb_create_board('undone 2', 'undone', direction => 'asc') > 0 AS board;
SELECT member, rank FROM lb_top('undone 2', 1);
ROLLBACK;
SELECT member, rank FROM lb_top('undone 2', 1);

-- The smallest page cache under a board much larger.
\c -
SET leaderboard.page_cache_size = '128kB';
SET client_min_messages = warning;
SELECT lb_create_board('large', 'c0', ties => 'ordinal') > 0 AS board;
SELECT count(*), count(DISTINCT p.member), bool_and(p.place = first + ordinality - 1) AS in_order
FROM generate_series(1, 20000, 1000) AS first, LATERAL lb_page('large', first, 1000) WITH ORDINALITY AS p;
SELECT p.place FROM generate_series(1, 20000, 37) AS first, LATERAL lb_page('large', first, 1) AS p, LATERAL lb_rank('large', p.member) AS r WHERE (r.rank, r.value) IS DISTINCT FROM (p.rank, p.value);

-- In a parallel worker nothing is cached yet.
\c -
SET client_min_messages = warning;
SELECT set_config(name, 'on', false) AS forced FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
SELECT member, rank, value FROM lb_rank('undone', 'c');
SELECT member, value FROM lb_value('undone', 'c');
SELECT rank FROM lb_rank_for_value('undone', 9);
SELECT population FROM lb_version('undone');
SELECT count(*) FROM lb_distribution('undone');
SELECT * FROM lb_check('undone');
SELECT count(*) FROM lb_boards() WHERE board = 'undone';
SELECT set_config(name, 'off', false) AS forced FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');

-- Every byte of a leaf and of a root flipped, one at a time: reads and rounds
-- answer or say XX001, and lb_check tells, unless no answer is another (between
-- two leaves more than one byte can stand).
CREATE FUNCTION pg_temp.all_answers(board text) RETURNS text LANGUAGE sql VOLATILE AS $$
	SELECT string_agg(row(p.place, p.rank, p.member, p.value, p.reached_at, r.rank, r.place)::text, ' ' ORDER BY p.place)
	FROM lb_page(board, 1, 1000) AS p CROSS JOIN LATERAL lb_rank(board, p.member) AS r
$$;
CREATE FUNCTION pg_temp.met(board text, counter text, member text, sound text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	call text;
	code text;
BEGIN
	FOREACH call IN ARRAY ARRAY['lb_rank(%1$L, %2$L)', 'lb_top(%1$L, 1000)', 'lb_page(%1$L, 3, 2)', 'lb_around(%1$L, %2$L, 1000)', 'lb_rank_for_value(%1$L, 900)',
		'lb_rank_for_value(%1$L, -9223372036854775808)', 'lb_distribution(%1$L)', 'lb_ranks(%1$L, ARRAY[%2$L, ''nobody''])'] LOOP
		BEGIN
			EXECUTE 'SELECT count(*) FROM ' || format(call, board, member);
		EXCEPTION WHEN OTHERS THEN
			IF SQLSTATE <> 'XX001' THEN
				RETURN NEXT call || ' ' || SQLSTATE || ' ' || SQLERRM;
			END IF;
		END;
	END LOOP;
	BEGIN
		PERFORM lb_refresh(counter);
		RAISE 'undo it' USING ERRCODE = 'LB000';
	EXCEPTION WHEN SQLSTATE 'LB000' OR data_corrupted THEN
		NULL;
	END;
	IF NOT EXISTS (SELECT FROM lb_check(board)) AND pg_temp.all_answers(board) <> sound THEN
		RETURN NEXT 'lb_check finds nothing';
	END IF;
END
$$;
-- cold: the pages come from the table into the cache; otherwise past it, as
-- in the transaction of a round.
CREATE FUNCTION pg_temp.damage(board text, counter text, member text, body bytea, cold boolean) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	v lb.version;
	sound text := pg_temp.all_answers(board);
BEGIN
	SELECT n.* INTO v FROM lb_boards() AS b JOIN lb.ranking AS r ON r.counter_id = b.counter_id AND r.board_id = b.board_id
		JOIN lb.version AS n ON n.counter_id = r.counter_id AND n.ranking_id = r.ranking_id WHERE b.board = damage.board ORDER BY n.version DESC LIMIT 1;
	BEGIN
		IF cold THEN
			ALTER TABLE lb.page SET (fillfactor = 100);
		ELSE
			UPDATE lb.version SET made_at = made_at WHERE (counter_id, ranking_id, version) = (v.counter_id, v.ranking_id, v.version);
		END IF;
		IF damage.body IS NULL THEN
			DELETE FROM lb.page WHERE (counter_id, ranking_id, page_id) = (v.counter_id, v.ranking_id, v.root);
		ELSE
			UPDATE lb.page SET body = damage.body WHERE (counter_id, ranking_id, page_id) = (v.counter_id, v.ranking_id, v.root);
		END IF;
		RETURN QUERY SELECT * FROM pg_temp.met(damage.board, counter, member, sound);
		RAISE 'undo it' USING ERRCODE = 'LB000';
	EXCEPTION WHEN SQLSTATE 'LB000' THEN
		NULL;
	END;
END
$$;
CREATE FUNCTION pg_temp.root(board text) RETURNS bytea LANGUAGE sql VOLATILE AS $$
	SELECT p.body FROM lb_boards() AS b JOIN lb.ranking AS r ON r.counter_id = b.counter_id AND r.board_id = b.board_id
		JOIN lb.version AS v ON v.counter_id = r.counter_id AND v.ranking_id = r.ranking_id
		JOIN lb.page AS p ON p.counter_id = v.counter_id AND p.ranking_id = v.ranking_id AND p.page_id = v.root WHERE b.board = root.board
$$;
CREATE FUNCTION pg_temp.torn(board text, counter text, member text) RETURNS TABLE (byte int, flip int, problem text) LANGUAGE sql VOLATILE AS $$
	SELECT i, mask, d FROM (SELECT pg_temp.root(board) AS body) AS r, generate_series(0, length(body) - 1) AS i, unnest(ARRAY[1, 128, 255]) AS mask,
		LATERAL pg_temp.damage(board, counter, member, set_byte(body, i, get_byte(body, i) # mask), (i + mask) % 2 = 0) AS d
$$;
SELECT lb_create_counter('torn', operator => 'last') > 0 AS counter;
SELECT lb_create_board('leaf', 'torn', keep_versions => '0') > 0 AS board;
SELECT count(*) FROM lb_submit_batch('torn', ARRAY['u-alice', 'u-bob', 'u-c', 'žofie'], ARRAY[900, 900, 250, -7], ARRAY['1', '2', '3', '4']) WHERE status = 'accepted';
SELECT events FROM lb_refresh();
SELECT status FROM lb_submit('torn', 'u-bob', 5, '5');
SELECT * FROM pg_temp.torn('leaf', 'torn', 'u-bob');
SELECT * FROM lb_check('leaf');
SELECT member, rank FROM lb_top('leaf');
SELECT lb_create_counter('torn tree', operator => 'last') > 0 AS counter;
SELECT lb_create_board('root', 'torn tree', keep_versions => '0') > 0 AS board;
SELECT count(*) FROM lb_submit_batch('torn tree', ARRAY(SELECT repeat('ř', 30 + i % 60) || i FROM generate_series(1, 100) AS i), ARRAY(SELECT i / 20 FROM generate_series(1, 100) AS i), ARRAY(SELECT i::text FROM generate_series(1, 100) AS i)) WHERE status = 'accepted';
SELECT events FROM lb_refresh();
SELECT status FROM lb_submit('torn tree', repeat('ř', 31) || '1', 4, '101');
SELECT * FROM pg_temp.torn('root', 'torn tree', 'nobody');
SELECT * FROM lb_check('root');
-- Whole pages: empty, foreign, too long, gone.
SELECT d FROM unnest(ARRAY['', '\x01', '\x00', '\x0100000003', pg_temp.root('leaf'), repeat('x', 1960)::bytea, repeat('x', 5000)::bytea, NULL]) AS body,
	unnest(ARRAY[false, true]) AS cold, LATERAL pg_temp.damage('root', 'torn tree', repeat('ř', 31) || '1', body, cold) AS d;
SELECT * FROM lb_check('root');
DROP EXTENSION leaderboard;
-- The extension made anew gives the same ids to other pages.
CREATE EXTENSION leaderboard;
SELECT lb_create_counter('anew') > 0 AS counter;
SELECT lb_create_board('anew', 'anew') AS board \gset
SELECT count(*) FROM lb_submit_batch('anew', ARRAY['a', 'b'], ARRAY[2, 1], ARRAY['1', '2']) WHERE status = 'accepted';
SELECT events FROM lb_refresh();
SELECT ranking_id, root, member, rank FROM lb.version, lb_top('anew') WHERE ranking_id > 0;
DROP EXTENSION leaderboard;
CREATE EXTENSION leaderboard;
SELECT lb_create_counter('anew') > 0 AS counter;
SELECT lb_create_board('anew', 'anew', direction => 'asc') = :board AS same;
SELECT count(*) FROM lb_submit_batch('anew', ARRAY['c', 'b'], ARRAY[2, 1], ARRAY['1', '2']) WHERE status = 'accepted';
SELECT events FROM lb_refresh();
SELECT ranking_id, root, member, rank FROM lb.version, lb_top('anew') WHERE ranking_id > 0;
SELECT rank FROM lb_rank('anew', 'c');
DROP EXTENSION leaderboard;
