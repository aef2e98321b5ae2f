-- Conditional reads: somebody who asks with newer_than for what changed since
-- the last answer, and keeps that otherwise, always has what the board has:
-- over resets, hours without anybody, rolling windows and scopes.
-- The seed is in the names of the tests: LB_SEED=… repeats a run.
\unset ECHO
\set QUIET 1
\pset format unaligned
\pset tuples_only true
\pset pager off
\set ON_ERROR_STOP true
\getenv seed LB_SEED
\if :{?seed}
\else
SELECT round(random()::numeric, 9) AS seed \gset
\endif
SET client_min_messages = warning;
SET timezone = 'UTC';
SELECT plan(12);
SELECT setseed(:seed) \g /dev/null
CREATE TABLE seed AS SELECT :'seed' AS seed;
CREATE FUNCTION seeded(what text) RETURNS text LANGUAGE sql STABLE AS $$ SELECT format('%s (LB_SEED=%s)', what, seed) FROM seed $$;

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
SELECT version AS hour, now() AS at FROM lb_version('hour', at => (SELECT max(opens) FROM lb.ranking WHERE isfinite(opens))) \gset
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

-- The answer as JSON says what lb_version and lb_page say.
SELECT is((said - 'rows'), (SELECT jsonb_object_agg(key, CASE WHEN key IN ('board_id', 'version', 'population') THEN to_jsonb(value #>> '{}') ELSE value END) FROM jsonb_each(to_jsonb(v))), 'lb_page_json has the columns of lb_version')
FROM lb_version('all', 'red') AS v, LATERAL (SELECT lb_page_json('all', 1, 1, 'red') - 'stale' || jsonb_build_object('stale', v.stale) AS said) AS j;
SELECT is(lb_page_json('all', 2, 3) -> 'rows', (SELECT jsonb_agg((SELECT jsonb_object_agg(key, CASE WHEN key IN ('rank', 'rank_low', 'rank_high', 'midpoint', 'place', 'value', 'value_low', 'value_high', 'population', 'version') AND value <> 'null'
	THEN to_jsonb(value #>> '{}') ELSE value END) FROM jsonb_each(to_jsonb(p))) ORDER BY place) FROM lb_page('all', 2, 3) AS p), 'and the rows of lb_page');
SELECT is((SELECT array_agg(DISTINCT key) FROM jsonb_each(lb_page_json('rolling', 1, 10, newer_than => :rolling)) WHERE value = 'null'), ARRAY['rows'], 'with a whole header, but no rows, where nothing is newer');
SELECT is(lb_page_json('rolling', newer_than => :rolling) -> 'opens', to_jsonb(v.opens), 'and the window that it covers') FROM lb_version('rolling') AS v;
SELECT is(lb_page_json('all', 1000, 1) -> 'rows', '[]', 'rows are an empty array where there are none');
SELECT is(lb_page_json('all', NULL, NULL, NULL, NULL, NULL, NULL, NULL) - ARRAY['as_of', 'stale'], lb_page_json('all') - ARRAY['as_of', 'stale'], 'NULL is the default');
SELECT throws_ok('SELECT lb_page_json(''all'', 0)', '22023', NULL, 'first is checked');
SELECT * FROM finish();
