-- What a round tells those who listen, and the page for callers that cannot
-- join.  A second session listens, for one does not hear its own in time.
\unset ECHO
\set QUIET 1
\pset format unaligned
\pset tuples_only true
\pset pager off
\set ON_ERROR_STOP true
SET client_min_messages = warning;
CREATE EXTENSION dblink;
SELECT plan(14);
SELECT lb_create_counter('points') \g /dev/null
SELECT lb_create_board('all', 'points'), lb_create_board('odd "name"', 'points', 'day'), lb_create_board('team', 'points', scoped => true) \g /dev/null
SELECT lb_join('team', 'red', ARRAY['m1', 'm2']), lb_join('team', 'a "quoted" scope', ARRAY['m3']) \g /dev/null
SELECT dblink_connect('ear', format('host=%s port=%s dbname=%s user=%s', split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_database(), current_user)) \g /dev/null
SELECT dblink_exec('ear', format('LISTEN %I', (lb_version(b)).channel)) FROM unnest(ARRAY['all', 'odd "name"', 'team']) AS b \g /dev/null
CREATE FUNCTION heard() RETURNS TABLE (channel text, message jsonb) LANGUAGE sql AS $$ SELECT notify_name, extra::jsonb FROM dblink_get_notify('ear') $$;
CREATE FUNCTION score(k text, n integer) RETURNS bigint LANGUAGE sql AS $$
	SELECT count(*) FROM lb_submit_batch('points', ARRAY(SELECT 'm' || i % 9 FROM generate_series(1, n) AS i), ARRAY(SELECT i::bigint FROM generate_series(1, n) AS i), ARRAY(SELECT k || i FROM generate_series(1, n) AS i))
	WHERE status = 'accepted'
$$;

SELECT is(score('a', 100), 100::bigint, 'a hundred events');
SELECT is((SELECT count(*) FROM heard()), 0::bigint, 'a submission tells nobody');
SELECT events FROM lb_refresh() \g /dev/null
CREATE TABLE first AS SELECT * FROM heard();
SELECT is((SELECT array_agg(message ->> 'board' ORDER BY message ->> 'board') FROM first), ARRAY['all', 'odd "name"', 'team'], 'one message a board, with its name');
SELECT is((SELECT count(*) FROM first AS f, LATERAL lb_version(f.message ->> 'board') AS v WHERE f.channel = v.channel AND (f.message ->> 'version')::bigint = v.version), 3::bigint, 'on the channel that lb_version names, with its version');
SELECT is((SELECT message -> 'scopes' FROM first WHERE message ->> 'board' = 'all'), 'null'::jsonb, 'a board without scopes has none to tell');
SELECT is((SELECT message -> 'scopes' FROM first WHERE message ->> 'board' = 'team'), '["a \"quoted\" scope", "red"]'::jsonb, 'the scopes that changed');
SELECT events FROM lb_refresh() \g /dev/null
SELECT is((SELECT count(*) FROM heard()), 0::bigint, 'a round without news tells nobody');

-- Who has heard reads what is newer than what it had.
SELECT version AS had FROM lb_version('all') \gset
SELECT is((SELECT count(*) FROM lb_top('all', 3, newer_than => :had)), 0::bigint, 'nothing is newer than the newest');
SELECT count(*) FROM lb_submit('points', 'm1', 9007199254740993, 'much') \g /dev/null
SELECT events FROM lb_refresh() \g /dev/null
SELECT is((SELECT (message -> 'scopes') FROM heard() WHERE message ->> 'board' = 'team'), '["red"]'::jsonb, 'only the scope that changed');
SELECT is((SELECT count(*) FROM lb_top('all', 3, newer_than => :had)), 3::bigint, 'a listener sees what it was told of');

SELECT is(lb_page_json('all') #>> '{rows,0,value}', (SELECT value::text FROM lb_page('all', 1, 1)), 'a value beyond 2^53 arrives as it is');
SELECT is((SELECT array_agg(DISTINCT jsonb_typeof(r -> c)) FROM jsonb_array_elements(lb_page_json('all', 1, 5) -> 'rows') AS r, unnest(ARRAY['rank', 'place', 'value', 'population', 'version']) AS c), ARRAY['string'], 'every bigint is a string');
SELECT is((SELECT array_agg(r ->> 'member') FROM jsonb_array_elements(lb_page_json('all', 2, 4) -> 'rows') AS r), (SELECT array_agg(member ORDER BY place) FROM lb_page('all', 2, 4)), 'the rows of the page, in their order');
SELECT is(ARRAY[lb_page_json('all', newer_than => (lb_version('all')).version) -> 'rows', lb_page_json('all', 1000) -> 'rows'], ARRAY['null', '[]']::jsonb[], 'null says nothing newer, empty says nobody');
SELECT dblink_disconnect('ear') \g /dev/null
SELECT * FROM finish();
