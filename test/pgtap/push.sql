-- NOTIFY: whoever listens to a board's channel is told of every round that
-- changed it, once, and finds what is new; otherwise nothing is said.  A second
-- session listens, for one does not hear its own in time.
\unset ECHO
\set QUIET 1
\pset format unaligned
\pset tuples_only true
\pset pager off
\set ON_ERROR_STOP true
SET client_min_messages = warning;
CREATE EXTENSION dblink;
SELECT plan(31);
SELECT lb_create_tenant('acme'), lb_create_counter('points', grain => '5 minutes'), lb_create_counter('quiet'), lb_create_counter('acme/points') \g /dev/null
SELECT lb_create_board('all', 'points'), lb_create_board('odd "name"', 'points', direction => 'asc'), lb_create_board('rolling', 'points', 'last 10 minutes', ranks => 'bounded', head => 2),
	lb_create_board('leagues', 'points', scoped => true), lb_create_board('quiet', 'quiet'), lb_create_board('acme/all', 'acme/points') \g /dev/null
CREATE TABLE channel AS SELECT DISTINCT (lb_version(tenant || '/' || board)).channel FROM lb_boards();
SELECT is(count(*), 6::bigint, 'every board has a channel of its own') FROM channel;

-- What was heard since the last time: an answer comes after all that was told before it.
SELECT dblink_connect('ear', format('host=%s port=%s dbname=%s user=%s', split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_database(), current_user)) \g /dev/null
SELECT dblink_exec('ear', format('LISTEN %I', channel)) FROM channel \g /dev/null
CREATE TABLE told (channel text, message jsonb, board text GENERATED ALWAYS AS (message ->> 'board') STORED, version bigint GENERATED ALWAYS AS ((message ->> 'version')::bigint) STORED);
CREATE FUNCTION heard() RETURNS text LANGUAGE sql AS $$
	DELETE FROM told;
	SELECT one FROM dblink('ear', 'SELECT 1') AS x (one integer);
	INSERT INTO told SELECT notify_name, extra::jsonb FROM dblink_get_notify('ear');
	SELECT string_agg(board, ', ' ORDER BY board COLLATE "C", version) FROM told;
$$;
CREATE FUNCTION submit(counter text, member text, delta bigint) RETURNS text LANGUAGE sql AS $$
	SELECT status FROM lb_submit(counter, member, delta, gen_random_uuid()::text)
$$;

SELECT is(heard(), NULL, 'a board without events has nothing to say');
SELECT is(array_agg(DISTINCT submit('points', 'm' || i, i)), '{accepted}', 'five events') FROM generate_series(1, 5) AS i;
SELECT is(heard(), NULL, 'of which nobody is told');
SELECT lb_refresh() \g /dev/null
SELECT is(heard(), 'all, leagues, odd "name", rolling', 'a round tells of each board that it changed');
SELECT is(count(*), 4::bigint, 'on the channel that lb_version names, with its version') FROM told AS t, LATERAL lb_version(board) AS v WHERE (t.channel, t.version) = (v.channel, v.version);
SELECT is(array_agg(DISTINCT message - '{board,version}'::text[]), '{"{\"scopes\": null}"}', 'and that no scope changed') FROM told;
SELECT lb_refresh() FROM generate_series(1, 3) \g /dev/null
SELECT is(heard(), NULL, 'rounds without news are silent');

-- Whoever hears of a version finds it, and had not seen it before.
CREATE TABLE seen AS SELECT board, version FROM told WHERE false;
INSERT INTO seen SELECT b, (lb_version(b)).version FROM unnest(ARRAY['all', 'leagues', 'odd "name"', 'rolling']) AS b;
SELECT is(count(*), 0::bigint, 'nothing is newer than what was told') FROM seen, LATERAL lb_top(board, 1, newer_than => seen.version);
SELECT submit('points', 'm1', 10) \g /dev/null
SELECT lb_refresh() \g /dev/null
SELECT is(heard(), 'all, leagues, odd "name", rolling', 'the next round');
SELECT is(count(*), 4::bigint, 'reading with newer_than finds the version told') FROM told AS t JOIN seen USING (board), LATERAL lb_top(board, 1, newer_than => seen.version) AS a WHERE a.version = t.version;
SELECT submit('acme/points', 'm1', 1) \g /dev/null
SELECT lb_refresh() \g /dev/null
SELECT is(heard(), 'acme/all', 'a board of another tenant is named with it');
SET leaderboard.tenant = 'acme'; SELECT submit('points', 'm1', 1) \g /dev/null
SELECT lb_refresh() \g /dev/null
SELECT is(heard(), 'acme/all', 'whoever counts'); RESET leaderboard.tenant;

-- Scopes: those that changed, in order, each once; null when they do not fit.
SELECT lb_join('leagues', s, ARRAY['m1', 'm2']) FROM unnest(ARRAY['z', 'a "b" \ c', 'ž', 'm']) AS s \g /dev/null
SELECT lb_refresh() \g /dev/null
SELECT is(heard(), 'leagues', 'a change of scopes is one of their board');
SELECT is(message -> 'scopes', '["a \"b\" \\ c", "m", "z", "ž"]', 'which are named in order') FROM told;
SELECT lb_leave('leagues', 'z', ARRAY['m2']), lb_leave('leagues', 'm', ARRAY['m1', 'm2']), submit('points', 'm2', 1) \g /dev/null
SELECT lb_refresh() \g /dev/null
SELECT heard() \g /dev/null
SELECT is(jsonb_agg(message -> 'scopes'), '[["a \"b\" \\ c", "m", "z", "ž"]]', 'also those that somebody left') FROM told WHERE board = 'leagues';
SELECT submit('points', 'm1', 1) \g /dev/null
SELECT lb_refresh() \g /dev/null
SELECT heard() \g /dev/null
SELECT is(jsonb_agg(message -> 'scopes'), '[["a \"b\" \\ c", "z", "ž"]]', 'but no others') FROM told WHERE board = 'leagues';
SELECT lb_join('leagues', repeat('s', 100) || i, ARRAY['m5']) FROM generate_series(1, 70) AS i \g /dev/null
SELECT lb_refresh() \g /dev/null
SELECT heard() \g /dev/null
SELECT is(jsonb_array_length(message -> 'scopes'), 70, 'seventy long names fit') FROM told;
SELECT lb_join('leagues', repeat('s', 120) || i, ARRAY['m5']) FROM generate_series(1, 70) AS i \g /dev/null
SELECT lb_refresh() \g /dev/null
SELECT is(heard(), 'leagues', 'more do not');
SELECT is(message -> 'scopes', 'null', 'so it is not said which') FROM told;
-- The message is as long as it may be, whatever is in the names.
SELECT lb_create_tenant(repeat(e'\x01', 200)), lb_create_counter(repeat(e'\x01', 200) || '/c'), lb_create_board(repeat(e'\x01', 200) || '/' || repeat(e'\x02', 200), repeat(e'\x01', 200) || '/c', scoped => true) \g /dev/null
SELECT dblink_exec('ear', format('LISTEN %I', (lb_version(repeat(e'\x01', 200) || '/' || repeat(e'\x02', 200))).channel)) \g /dev/null
SELECT submit(repeat(e'\x01', 200) || '/c', 'm1', 1) \g /dev/null
SELECT lb_refresh() \g /dev/null
SELECT heard() \g /dev/null
CREATE TABLE filled (named integer);
CREATE PROCEDURE fill() LANGUAGE plpgsql AS $$
BEGIN
	FOR scopes IN 52 .. 58 LOOP
		PERFORM lb_join(repeat(e'\x01', 200) || '/' || repeat(e'\x02', 200), scopes || '-' || i || repeat('s', 90), ARRAY['m1']) FROM generate_series(1, scopes) AS i;
		PERFORM lb_refresh();
		COMMIT;
		PERFORM heard();
		INSERT INTO filled SELECT jsonb_array_length(nullif(message -> 'scopes', 'null')) FROM told;
		COMMIT;
	END LOOP;
END
$$;
CALL fill();
SELECT is(count(*) = 7 AND count(*) FILTER (WHERE named IS NULL) BETWEEN 1 AND 6, true, 'however long the name of the board') FROM filled;

-- What is undone was not told.
SELECT submit('quiet', 'm1', 1) \g /dev/null
BEGIN; SELECT lb_refresh() \g /dev/null
ROLLBACK;
DO $$ BEGIN BEGIN PERFORM lb_refresh(); RAISE 'no'; EXCEPTION WHEN raise_exception THEN NULL; END; END $$;
SELECT is(heard(), NULL, 'a round that was rolled back says nothing');
DO $$ BEGIN BEGIN PERFORM lb_refresh(); EXCEPTION WHEN raise_exception THEN NULL; END; END $$;
SELECT is(heard(), 'quiet', 'one in a subtransaction does');
SELECT submit('quiet', 'm1', 1) \g /dev/null
BEGIN; SELECT lb_refresh() \g /dev/null
PREPARE TRANSACTION 'round'; COMMIT PREPARED 'round';
SELECT is(heard(), NULL, 'a round in a prepared transaction is possible, and tells nobody');
SELECT is(value, 2::bigint, 'but counts') FROM lb_rank('quiet', 'm1');
-- Two rounds in one transaction, the second of what another session wrote meanwhile.
SELECT submit('quiet', 'm1', 1) \g /dev/null
BEGIN; SELECT lb_refresh() \g /dev/null
SELECT one FROM dblink('ear', 'SELECT count(lb_submit(''quiet'', ''m2'', 1, ''k''))') AS x (one bigint) \g /dev/null
SELECT lb_refresh() \g /dev/null
COMMIT;
SELECT one FROM dblink('ear', 'SELECT 1') AS x (one integer) \g /dev/null
SELECT is(array_agg((extra::jsonb ->> 'version')::bigint - v.version), '{-1,0}', 'rounds are told in their order') FROM dblink_get_notify('ear'), lb_version('quiet') AS v;

-- The loop; what moves without events; what an operator does.
SELECT submit('points', 'm3', 1) \g /dev/null
CALL lb_refresh_loop('1 second', '20 ms');
SELECT is(heard(), 'all, leagues, odd "name", rolling', 'a loop tells of what it counted, once');
SELECT lb._refresh(NULL, clock_timestamp() + interval '1 hour') \g /dev/null
SELECT is(heard(), 'rolling', 'a rolling window that moves on is news');
SELECT lb_alter_board('rolling', head => 5) \g /dev/null
SELECT is(heard(), 'rolling', 'a larger head too');
SELECT lb_create_board('new', 'points') \g /dev/null
SELECT is(heard(), NULL, 'a new board is no news of another');
SELECT lb_drop_board('quiet') \g /dev/null
SELECT is(heard(), NULL, 'nor is one that is gone');
SELECT dblink_disconnect('ear') \g /dev/null
SELECT * FROM finish();
