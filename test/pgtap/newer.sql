-- Conditional reads: somebody who asks with newer_than for what changed since
-- the last answer, and keeps that otherwise, always has what the board has:
-- over resets, hours without anybody, rolling windows and scopes.
-- The seed is in the names of the tests: LB_SEED=… repeats a run.
\i test/include/seeded.sql
SELECT plan(17);

SELECT lb_create_counter('points', grain => '5 minutes') AS points \gset
SELECT lb_create_board('hour', 'points', 'hour', scoped => true), lb_create_board('all', 'points', scoped => true), lb_create_board('rolling', 'points', 'last 45 minutes', ranks => 'bounded', head => 3) \g /dev/null
SELECT lb_join(b, s, ARRAY[s || '1', s || '2', s || '3'], '-infinity') FROM unnest(ARRAY['hour', 'all']) AS b, unnest(ARRAY['red', 'blue']) AS s \g /dev/null

-- Who asks.
CREATE TABLE reader (board text, scope text, version bigint DEFAULT 0, knows jsonb DEFAULT '[]', misses integer DEFAULT 0, hits integer DEFAULT 0, PRIMARY KEY (board, scope));
INSERT INTO reader SELECT board, scope FROM unnest(ARRAY['hour', 'all', 'rolling']) AS board, unnest(ARRAY['', 'red', 'blue', 'green']) AS scope WHERE scope = '' OR board <> 'rolling';
CREATE TABLE blind (at timestamptz, board text, scope text, knows jsonb, has jsonb);
CREATE FUNCTION columns(rows jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
	SELECT coalesce(jsonb_agg(jsonb_build_array(r ->> 'member', r ->> 'place', r ->> 'value', r ->> 'population') ORDER BY n), '[]') FROM jsonb_array_elements(rows) WITH ORDINALITY AS x (r, n)
$$;
CREATE FUNCTION ask(clock timestamptz) RETURNS void LANGUAGE sql VOLATILE AS $$
	UPDATE reader SET version = CASE WHEN said -> 'rows' = 'null' THEN version ELSE (said ->> 'version')::bigint END,
		knows = CASE WHEN said -> 'rows' = 'null' THEN knows ELSE columns(said -> 'rows') END,
		misses = misses + (said -> 'rows' = 'null')::integer, hits = hits + (said -> 'rows' <> 'null')::integer
	FROM (SELECT board AS b, scope AS s, lb_page_json(board, scope => scope, at => CASE WHEN board <> 'rolling' THEN clock END, newer_than => nullif(version, 0)) AS said FROM reader) AS a
	WHERE (board, scope) = (b, s)
$$;
CREATE FUNCTION compare(clock timestamptz) RETURNS void LANGUAGE sql VOLATILE AS $$
	INSERT INTO blind SELECT clock, board, scope, knows, has
	FROM reader, LATERAL (SELECT coalesce(jsonb_agg(jsonb_build_array(member, place::text, value::text, population::text) ORDER BY place), '[]') AS has
		FROM lb_page(board, 1, scope => scope, at => CASE WHEN board <> 'rolling' THEN clock END)) AS p
	WHERE knows <> has
$$;
-- Two days that are over: a window that nobody opened has a version only once it has begun.
CREATE PROCEDURE play(id bigint) LANGUAGE plpgsql AS $$
DECLARE
	clock timestamptz := date_trunc('hour', now()) - interval '30 hours';
BEGIN
	WHILE clock < now() - interval '1 hour' LOOP
		clock := clock + (1 + floor(random() * random() * 80)) * interval '1 minute';
		IF random() < 0.4 THEN
			PERFORM s.status FROM (SELECT array_agg((ARRAY['red', 'blue', 'green'])[1 + floor(random() * 3)] || floor(random() * 5)) AS m, array_agg(1 + floor(random() * 9)::bigint) AS d,
					array_agg(clock || '-' || i) AS k, array_agg(clock - random() * interval '20 minutes') AS t FROM generate_series(1, 4) AS i) AS e,
				LATERAL lb._submit_batch(id, m, d, k, t, NULL, NULL, 'e', clock) AS s;
		END IF;
		/* before the round, perhaps in an hour that no round has seen */
		PERFORM ask(clock);
		COMMIT;
		PERFORM lb._refresh(NULL, clock);
		COMMIT;
		PERFORM ask(clock);
		PERFORM compare(clock);
		COMMIT;
	END LOOP;
END
$$;
CALL play(:points);
SELECT is((SELECT array_agg(b::text ORDER BY at) FROM (SELECT * FROM blind ORDER BY at LIMIT 3) AS b), NULL, seeded('whoever keeps what is not newer has what the board has, after every round'));
SELECT is((SELECT array_agg(r::text) FROM reader AS r WHERE misses < 10 OR hits < CASE WHEN scope = 'green' THEN 1 ELSE 3 END), NULL, 'often nothing was newer, and often something');

-- What a miss reads: a row of lb.version.
CREATE FUNCTION scans() RETURNS TABLE (relname text, n bigint) LANGUAGE sql VOLATILE AS $$
	SELECT relname::text, coalesce(seq_scan, 0) + coalesce(idx_scan, 0) FROM pg_stat_xact_all_tables WHERE schemaname = 'lb' AND coalesce(seq_scan, 0) + coalesce(idx_scan, 0) > 0
$$;
CREATE TABLE cost (call text, relname text, n bigint);
CREATE PROCEDURE measure(call text) LANGUAGE plpgsql AS $$
DECLARE
	before jsonb;
BEGIN
	EXECUTE 'SELECT count(*) FROM ' || call;	/* definitions and the ranking's number are known from then on */
	/* a transaction that writes sees each row anew */
	PERFORM pg_current_xact_id();
	before := (SELECT jsonb_object_agg(relname, n) FROM scans());
	EXECUTE 'SELECT count(*) FROM ' || call;
	INSERT INTO cost SELECT call, s.relname, s.n - coalesce((before ->> s.relname)::bigint, 0) FROM scans() AS s WHERE s.n > coalesce((before ->> s.relname)::bigint, 0);
END
$$;
SELECT max(as_of) + interval '1 minute' AS at FROM lb.round \gset
SELECT version AS all FROM lb_version('all') \gset
SELECT version AS rolling FROM lb_version('rolling') \gset
CALL measure(format('lb_top(''all'', 10, newer_than => %s)', :all));
CALL measure(format('lb_page(''all'', 3, 10, newer_than => %s)', :all));
CALL measure(format('lb_rank(''all'', ''red1'', newer_than => %s)', :all));
CALL measure(format('lb_ranks(''all'', ''{red1,blue1}'', newer_than => %s)', :all));
CALL measure(format('lb_among(''all'', ''{red1,blue1}'', newer_than => %s)', :all));
CALL measure(format('lb_around(''all'', ''red1'', newer_than => %s)', :all));
CALL measure(format('lb_rank_for_value(''all'', 4, newer_than => %s)', :all));
CALL measure(format('lb_distribution(''rolling'', newer_than => %s)', :rolling));
CALL measure(format('lb_top(''rolling'', 10, newer_than => %s)', :rolling));
CALL measure(format('lb_top(''all'', 10, ''red'', newer_than => %s)', :all));
SELECT is((SELECT array_agg(c::text) FROM cost AS c WHERE relname <> 'version' OR n <> 1), NULL, 'a miss is one probe of lb.version, and nothing else, whatever the question');
SELECT is((SELECT count(*) FROM cost), 10::bigint, 'of ten questions');
TRUNCATE cost;
CALL measure('lb_top(''all'', 10, newer_than => 1)');
SELECT cmp_ok((SELECT count(DISTINCT relname) FROM cost), '>', 1::bigint, 'which is less than an answer');

-- The answer as JSON says what lb_version and lb_page say, at a version too, with every bigint as a string.
CREATE FUNCTION texts(columns jsonb) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_object_agg(key, CASE WHEN key IN ('board_id', 'rank', 'rank_low', 'rank_high', 'midpoint', 'place', 'value', 'value_low', 'value_high', 'population', 'version') AND value <> 'null'
		THEN to_jsonb(value #>> '{}') ELSE value END) FROM jsonb_each(columns)
$$;
SELECT submit.status FROM lb._submit_batch(:points, ARRAY['red1'], ARRAY[9007199254740993], ARRAY['much'], ARRAY[:'at'::timestamptz - interval '1 hour'], NULL, NULL, 'e', :'at') AS submit \g /dev/null
SELECT lb._refresh(NULL, :'at') \g /dev/null
SELECT is(said - 'rows', texts(to_jsonb(v)), 'lb_page_json has the columns of lb_version') FROM lb_version('all', 'red') AS v, lb_page_json('all', 1, 1, 'red') AS said;
SELECT is(lb_page_json('all', 2, 3) -> 'rows', (SELECT jsonb_agg(texts(to_jsonb(p)) ORDER BY place) FROM lb_page('all', 2, 3) AS p), 'and the rows of lb_page');
SELECT is(lb_page_json('all') #>> '{rows,0,value}', (SELECT value::text FROM lb_top('all', 1)), 'a value beyond 2^53 arrives as it is');
SELECT is(lb_page_json('all', version => :all) -> 'rows', (SELECT jsonb_agg(texts(to_jsonb(p)) ORDER BY place) FROM lb_page('all', 1, version => :all) AS p), 'at a version, the rows of that');
SELECT is((SELECT array_agg(DISTINCT said -> key = row -> key) FROM jsonb_array_elements(said -> 'rows') AS row, unnest(ARRAY['version', 'as_of', 'population', 'stale', 'state']) AS key), '{t}', 'and a header that says what its rows say')
FROM lb_page_json('all', version => :all) AS said;
SELECT submit.status FROM lb._submit_batch(:points, ARRAY['blue4'], ARRAY[1], ARRAY['mine'], ARRAY[:'at'::timestamptz], NULL, NULL, 'e', :'at') AS submit \g /dev/null
SELECT is(lb_page_json('all', 1, 100, viewer => 'blue4') -> 'rows', (SELECT jsonb_agg(texts(to_jsonb(p) - 'n') ORDER BY n) FROM lb_page('all', 1, 100, viewer => 'blue4') WITH ORDINALITY AS p (member, rank, kind, rank_low, rank_high, midpoint, place,
	percentile_low, percentile_high, value, value_low, value_high, reached_at, population, version, as_of, stale, state, n)), 'for a viewer, the lines of lb_page');
SELECT is(jsonb_typeof(lb_page_json('all', newer_than => v.version, viewer => 'red2') -> 'rows'), 'null', 'the tail of another is no news') FROM lb_version('all') AS v;
SELECT is(jsonb_array_length(lb_page_json('all', newer_than => v.version, viewer => 'blue4') -> 'rows'), 10, 'one''s own is') FROM lb_version('all') AS v;
SELECT is((SELECT array_agg(DISTINCT key) FROM jsonb_each(lb_page_json('rolling', newer_than => v.version)) WHERE value = 'null'), ARRAY['rows'], 'a whole header, but no rows, where nothing is newer') FROM lb_version('rolling') AS v;
SELECT is(lb_page_json('all', 1000, 1) -> 'rows', '[]', 'rows are an empty array where there are none');
SELECT is(lb_page_json('all', NULL, NULL, NULL, NULL, NULL, NULL, NULL), lb_page_json('all'), 'NULL is the default');
SELECT throws_ok('SELECT lb_page_json(''all'', 0)', '22023', NULL, 'first is checked');
SELECT * FROM finish();
