-- Privileges: who may what, hostile search paths, another schema, what is left.
-- Queries that check print violations only.
\set ECHO none
\i test/include/attempt.sql
\set ECHO all
\pset null '(null)'
SET client_min_messages = warning;
CREATE SCHEMA other;
CREATE EXTENSION leaderboard SCHEMA other;
CREATE ROLE regress_lb_nobody;
CREATE ROLE regress_lb_app;
CREATE ROLE regress_lb_login IN ROLE regress_lb_app NOINHERIT;
GRANT USAGE ON SCHEMA other TO PUBLIC;
CREATE TEMP VIEW routine AS
SELECT p.oid, p.oid::regprocedure AS signature, n.nspname, p.proname, p.prokind, p.prosecdef, p.proconfig, l.lanname
FROM pg_depend AS d JOIN pg_proc AS p ON p.oid = d.objid JOIN pg_namespace AS n ON n.oid = p.pronamespace JOIN pg_language AS l ON l.oid = p.prolang
WHERE d.classid = 'pg_proc'::regclass AND d.refclassid = 'pg_extension'::regclass AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'leaderboard') AND d.deptype = 'e';

-- PUBLIC may execute the functions of the value types, and nothing else.
SELECT signature FROM routine WHERE has_function_privilege('regress_lb_nobody', oid, 'EXECUTE') <> (nspname = 'other' AND proname ~ '^lb_(histogram|hll|topk)') ORDER BY 1;
SELECT count(*) > 20 AS value_functions FROM routine WHERE has_function_privilege('regress_lb_nobody', oid, 'EXECUTE');
-- What is public is lb_…, in the chosen schema; all else is in lb.
SELECT signature FROM routine WHERE (nspname = 'other') <> (proname LIKE 'lb\_%') OR nspname NOT IN ('other', 'lb') OR nspname = 'lb' AND proname NOT LIKE '\_%';
-- Every public object says what it is for.
SELECT signature FROM routine WHERE nspname = 'other' AND obj_description(oid, 'pg_proc') IS NULL;
SELECT c.oid::regclass FROM pg_class AS c JOIN pg_depend AS d ON d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'
WHERE c.relkind IN ('r', 'p', 'v') AND c.relnamespace = 'lb'::regnamespace AND c.relname <> 'adopted' AND obj_description(c.oid, 'pg_class') IS NULL;
SELECT t.oid::regtype FROM pg_type AS t JOIN pg_depend AS d ON d.classid = 'pg_type'::regclass AND d.objid = t.oid AND d.deptype = 'e'
WHERE t.typname LIKE 'lb\_%' AND obj_description(t.oid, 'pg_type') IS NULL;
-- A function that runs as its owner, or as SQL behind the gate, fixes its path.
SELECT signature FROM routine WHERE (prosecdef OR lanname IN ('sql', 'plpgsql')) AND proconfig::text NOT LIKE '%search_path=pg_catalog, lb, pg_temp%';
SELECT signature FROM routine WHERE nspname = 'lb' AND lanname <> 'c' AND proconfig IS NULL;
SELECT signature FROM routine WHERE prosecdef AND has_function_privilege('regress_lb_nobody', oid, 'EXECUTE');
-- Tables, views and sequences are closed, and so is the schema.
SELECT c.oid::regclass, p FROM pg_class AS c, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) AS p
WHERE c.relnamespace = 'lb'::regnamespace AND c.relkind IN ('r', 'p', 'v') AND has_table_privilege('regress_lb_nobody', c.oid, p);
SELECT c.oid::regclass, p FROM pg_class AS c, unnest(ARRAY['SELECT', 'USAGE', 'UPDATE']) AS p
WHERE c.relnamespace = 'lb'::regnamespace AND c.relkind = 'S' AND has_sequence_privilege('regress_lb_nobody', c.oid, p);
SELECT p FROM unnest(ARRAY['USAGE', 'CREATE']) AS p WHERE has_schema_privilege('regress_lb_nobody', 'lb', p);

-- Another schema: by its name, or through the path.
SELECT other.lb_create_counter('points') > 0 AS counter;
SELECT other.lb_create_board('all', 'points') > 0 AS board;
SELECT other.lb_create_board('day', 'points', 'day') > 0 AS board;
SELECT other.lb_create_board('league', 'points', scoped => true) > 0 AS board;
SET search_path = other, public;
SELECT status FROM lb_submit('points', 'alice', 5, 'a');
SELECT events FROM lb_refresh();
SELECT member, value FROM lb_top('all');
SELECT count(*) FROM pg_class WHERE relnamespace = 'other'::regnamespace AND relkind = 'r';
-- Partitions made at run time are no members of the extension.
SELECT lb._make_partitions(current_date + 1, current_date + 9) IS NOT NULL AS made;

-- A call of everything that reads or writes, as a role without a grant.
CREATE TABLE public.call (id serial, name text, call text);
INSERT INTO public.call (name, call) VALUES
('lb_submit', 'SELECT status FROM other.lb_submit(''points'', ''bob'', 3, %L)'), ('lb_submit_batch', 'SELECT status FROM other.lb_submit_batch(''points'', ARRAY[''bob''], ARRAY[3], ARRAY[%L])'),
('lb_backfill', 'SELECT status FROM other.lb_backfill(''points'', ARRAY[''bob''], ARRAY[3], ARRAY[%L])'), ('lb_submit_json', 'SELECT status FROM other.lb_submit_json(''[{"counter":"points","member":"bob","delta":3,"key":"%s"}]'')'),
('lb_refresh', 'SELECT other.lb_refresh()'), ('lb_refresh_loop', 'CALL other.lb_refresh_loop(''0'')'),
('lb_rank', 'SELECT other.lb_rank(''all'', ''alice'')'), ('lb_ranks', 'SELECT other.lb_ranks(''all'', ARRAY[''alice''])'), ('lb_top', 'SELECT other.lb_top(''all'')'), ('lb_page', 'SELECT other.lb_page(''all'', 1)'), ('lb_page_json', 'SELECT other.lb_page_json(''all'')'),
('lb_around', 'SELECT other.lb_around(''all'', ''alice'')'), ('lb_among', 'SELECT other.lb_among(''all'', ARRAY[''alice''])'), ('lb_rank_for_value', 'SELECT other.lb_rank_for_value(''all'', 1)'),
('lb_distribution', 'SELECT other.lb_distribution(''all'')'), ('lb_version', 'SELECT other.lb_version(''all'')'), ('lb_value', 'SELECT other.lb_value(''points'', ''alice'')'), ('lb_values', 'SELECT other.lb_values(''points'', ARRAY[''alice''])'),
('lb_top_scopes', 'SELECT other.lb_top_scopes(''league'', ARRAY[''a''])'), ('lb_join', 'SELECT other.lb_join(''league'', ''a'', ARRAY[''alice''])'), ('lb_leave', 'SELECT other.lb_leave(''league'', ''a'', ARRAY[''alice''])'),
('lb_move', 'SELECT other.lb_move(''league'', ''alice'', ''a'')'), ('lb_assign', 'SELECT other.lb_assign(''league'', ''alice'', 3)'), ('lb_scopes', 'SELECT other.lb_scopes(''league'')'),
('lb_counters', 'SELECT other.lb_counters()'), ('lb_boards', 'SELECT other.lb_boards()'),
('lb_create_tenant', 'SELECT other.lb_create_tenant(%L)'), ('lb_alter_tenant', 'SELECT other.lb_alter_tenant(''default'', ''UTC'')'),
('lb_create_counter', 'SELECT other.lb_create_counter(%L)'), ('lb_create_board', 'SELECT other.lb_create_board(%L, ''points'')'),
('lb_drop_board', 'SELECT other.lb_drop_board(''day'')'), ('lb_drop_counter', 'SELECT other.lb_drop_counter(%L)');
INSERT INTO public.call (name, call) VALUES
('lb_windows', 'SELECT other.lb_windows(''all'')'), ('lb_next_reset', 'SELECT other.lb_next_reset(''all'')'), ('lb_series', 'SELECT other.lb_series(''points'', ''alice'', ''1 day'', ''2026-01-01'', ''2026-01-03'')'),
('lb_events', 'SELECT other.lb_events(''points'')'), ('lb_alter_board', 'SELECT other.lb_alter_board(''all'', ''9 seconds'')');
-- Nothing that later versions add is forgotten here.
SELECT signature FROM routine WHERE nspname = 'other' AND proname !~ '^lb_(histogram|hll|topk)' AND proname NOT IN (SELECT name FROM public.call) AND proname NOT IN ('lb_schedule', 'lb_unschedule', 'lb_check', 'lb_maintain');
GRANT SELECT ON public.call TO PUBLIC;
SET ROLE regress_lb_nobody;
SELECT name, a.code, a.said FROM public.call, LATERAL pg_temp.attempt(format(call, 'nobody' || id)) AS a WHERE a.code <> '42501';
SELECT code FROM pg_temp.attempt('SELECT * FROM lb.event') UNION ALL SELECT code FROM pg_temp.attempt('SELECT * FROM lb.health') UNION ALL SELECT code FROM pg_temp.attempt('SELECT lb._counters()')
UNION ALL SELECT code FROM pg_temp.attempt('SELECT lb._submit_batch(1, ARRAY[''a''], ARRAY[1], ARRAY[''k''], NULL, NULL, NULL, ''e'', now())');
SELECT code FROM pg_temp.attempt('CALL other.lb_maintain()');
-- The value types are anybody's.
SELECT other.lb_histogram_count(other.lb_histogram_agg(v)) FROM generate_series(1, 3) AS v;
SELECT other.lb_histogram_agg(v) OVER (ORDER BY v ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM generate_series(1, 2) AS v;
SELECT other.lb_hll_count(other.lb_hll_agg(v)), other.lb_hll_bits(other.lb_hll_agg(v, 9)) FROM generate_series(1, 3) AS v;
SELECT other.lb_topk_total(other.lb_topk_agg('item', v)) FROM generate_series(1, 3) AS v;
RESET ROLE;

-- Plain GRANT EXECUTE is enough, tables stay closed, and it is the current
-- role that counts: SET ROLE takes rights and gives them.
DO $$
DECLARE
	r record;
BEGIN
	FOR r IN SELECT signature FROM routine WHERE nspname = 'other' AND proname IN (SELECT name FROM public.call) LOOP
		EXECUTE format('GRANT EXECUTE ON ROUTINE %s TO regress_lb_app', r.signature);
	END LOOP;
END
$$;
GRANT EXECUTE ON PROCEDURE other.lb_maintain TO regress_lb_app;
SET ROLE regress_lb_app;
SELECT name, a.* FROM (SELECT * FROM public.call ORDER BY id) AS c, LATERAL pg_temp.attempt(format(call, 'app' || id)) AS a WHERE a.code <> '00000' AND name <> 'lb_drop_counter';
CALL other.lb_refresh_loop('0');
CALL other.lb_maintain();
SELECT member, value FROM lb_top('all');
SELECT status FROM lb_submit('points', 'alice', 5, 'a');
SELECT code FROM pg_temp.attempt('SELECT * FROM lb.event') UNION ALL SELECT code FROM pg_temp.attempt('TRUNCATE lb.event') UNION ALL SELECT code FROM pg_temp.attempt('SELECT * FROM lb.standing')
UNION ALL SELECT code FROM pg_temp.attempt('SELECT nextval(''lb.event_id_seq'')') UNION ALL SELECT code FROM pg_temp.attempt('SELECT lb._drop_board(''all'')');
SELECT current_user;
-- After an error inside, the caller is still the caller.
SELECT code FROM pg_temp.attempt('SELECT other.lb_rank(''nix'', ''a'')') UNION ALL SELECT code FROM pg_temp.attempt('SELECT other.lb_create_counter(''x'', operator => ''avg'')')
UNION ALL SELECT code FROM pg_temp.attempt('SELECT other.lb_submit(''points'', '''', 1, ''k'', strict => true)');
SELECT current_user;
SELECT code FROM pg_temp.attempt('SELECT * FROM lb.event');
SET SESSION AUTHORIZATION regress_lb_login;
SELECT code FROM pg_temp.attempt('SELECT other.lb_top(''all'')');
SET ROLE regress_lb_app;
SELECT code FROM pg_temp.attempt('SELECT other.lb_top(''all'')');
SET ROLE NONE;
RESET SESSION AUTHORIZATION;
RESET ROLE;
-- A view of lb can be opened by a grant.
GRANT USAGE ON SCHEMA lb TO regress_lb_app;
GRANT SELECT ON lb.health, lb.poison, lb.unit_cost TO regress_lb_app;
GRANT EXECUTE ON FUNCTION lb._health(), lb._unit_cost() TO regress_lb_app;
SET ROLE regress_lb_app;
SELECT v, a.code, a.said FROM unnest(ARRAY['lb.poison', 'lb.health', 'lb.unit_cost']) AS v, LATERAL pg_temp.attempt('SELECT * FROM ' || v) AS a WHERE a.code <> '00000';
RESET ROLE;
REVOKE ALL ON SCHEMA lb FROM regress_lb_app;

-- A hostile schema in front: types, functions and operators named like
-- Postgres's own, better matches than those, that say so and raise.
CREATE SCHEMA hostile;
GRANT USAGE ON SCHEMA hostile TO PUBLIC;
CREATE FUNCTION hostile.trap() RETURNS void LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'trapped as %', current_user USING ERRCODE = 'TRAP0'; END $$;
DO $$
DECLARE
	o record;
BEGIN
	-- each operator of the types that the extension uses, and each function
	FOR o IN SELECT oprname, oprleft::regtype AS l, oprright::regtype AS r, oprresult::regtype AS res, row_number() OVER () AS n FROM pg_operator
		WHERE oprnamespace = 'pg_catalog'::regnamespace AND oprleft <> 0
		AND oprleft IN ('text'::regtype, 'int8'::regtype, 'int4'::regtype, 'int2'::regtype, 'timestamptz'::regtype, 'interval'::regtype, 'xid8'::regtype, 'char'::regtype, 'bool'::regtype, 'oid'::regtype, 'name'::regtype)
		AND oprright IN ('text'::regtype, 'int8'::regtype, 'int4'::regtype, 'int2'::regtype, 'timestamptz'::regtype, 'interval'::regtype, 'xid8'::regtype, 'char'::regtype, 'bool'::regtype, 'oid'::regtype, 'name'::regtype)
		AND oprname IN ('=', '<>', '<', '>', '<=', '>=', '+', '-', '||', '~', '~~') LOOP
		EXECUTE format('CREATE FUNCTION hostile.op%s(%s, %s) RETURNS %s LANGUAGE plpgsql AS $f$ BEGIN PERFORM hostile.trap(); RETURN NULL; END $f$', o.n, o.l, o.r, o.res);
		EXECUTE format('CREATE OPERATOR hostile.%s (FUNCTION = hostile.op%s, LEFTARG = %s, RIGHTARG = %s)', o.oprname, o.n, o.l, o.r);
	END LOOP;
	FOR o IN SELECT DISTINCT ON (p.proname, p.proargtypes) p.proname, pg_get_function_identity_arguments(p.oid) AS args, pg_get_function_result(p.oid) AS res, p.proretset FROM pg_proc AS p
		WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f' AND p.provariadic = 0
		AND p.proname IN ('nextval', 'clock_timestamp', 'now', 'unnest', 'pg_current_snapshot', 'pg_visible_in_snapshot', 'date_trunc', 'lower', 'length', 'octet_length', 'position', 'array_to_string',
			'generate_series', 'to_char', 'current_setting', 'pg_get_expr', 'make_interval', 'date_bin', 'pg_control_system', 'to_regclass', 'int8', 'text', 'int4', 'justify_hours') LOOP
		BEGIN
			EXECUTE format('CREATE FUNCTION hostile.%I(%s) RETURNS %s LANGUAGE plpgsql AS $f$ BEGIN PERFORM hostile.trap(); %s END $f$', o.proname, o.args, o.res, CASE WHEN o.proretset THEN '' ELSE 'RETURN NULL;' END);
		EXCEPTION WHEN OTHERS THEN
			NULL;	-- one whose result type cannot be written so
		END;
	END LOOP;
END
$$;
CREATE FUNCTION hostile.trapped(text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM hostile.trap(); RETURN NULL; END $$;
CREATE AGGREGATE hostile.count(bigint) (SFUNC = pg_catalog.int8inc_any, STYPE = bigint);
CREATE FUNCTION hostile.concat(VARIADIC text[]) RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM hostile.trap(); RETURN NULL; END $$;
CREATE FUNCTION hostile.format(text, text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM hostile.trap(); RETURN NULL; END $$;
CREATE FUNCTION hostile.format(text, text, text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM hostile.trap(); RETURN NULL; END $$;
CREATE DOMAIN hostile.int2 AS text CHECK (hostile.trapped(VALUE) IS NULL);
CREATE DOMAIN hostile.text AS pg_catalog.text CHECK (hostile.trapped(VALUE) IS NULL);
CREATE DOMAIN hostile.timestamptz AS pg_catalog.text CHECK (hostile.trapped(VALUE) IS NULL);
CREATE DOMAIN hostile.interval AS pg_catalog.text CHECK (hostile.trapped(VALUE) IS NULL);
CREATE DOMAIN hostile.regclass AS pg_catalog.text CHECK (hostile.trapped(VALUE) IS NULL);
CREATE DOMAIN hostile.pg_snapshot AS pg_catalog.text CHECK (hostile.trapped(VALUE) IS NULL);
CREATE TABLE hostile.pg_inherits (inhparent integer);
CREATE TABLE hostile.pg_class (relname integer);
-- The trap works.
SET search_path = hostile, pg_catalog;
\set VERBOSITY terse
SELECT 1::bigint = 1::bigint;
\set VERBOSITY default
RESET search_path;
-- All calls, as a role that may: first in a session that has planned nothing
-- before, then in one that has.
CREATE PROCEDURE public.under_trap(mark text) LANGUAGE plpgsql AS $$
DECLARE
	calls text[] := (SELECT array_agg(format(c.call, mark || c.id) ORDER BY c.id) FROM public.call AS c WHERE c.name NOT IN ('lb_drop_counter', 'lb_drop_board'));
	call text;
	message text;
	context text;
BEGIN
	FOREACH call IN ARRAY calls LOOP
		BEGIN
			PERFORM pg_catalog.set_config('search_path', 'hostile, pg_catalog', true);
			EXECUTE call;
			PERFORM pg_catalog.set_config('search_path', 'pg_catalog', true);
		EXCEPTION WHEN OTHERS THEN
			GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, context = PG_EXCEPTION_CONTEXT;
			PERFORM pg_catalog.set_config('search_path', 'pg_catalog', true);
			RAISE WARNING '%: % %', call, message, context;
		END;
	END LOOP;
END
$$;
\connect -
SET client_min_messages = warning;
SET ROLE regress_lb_app;
CALL public.under_trap('new');
CALL public.under_trap('old');
RESET ROLE;
-- Dropping too, and a refresh with something to count.
SELECT other.lb_create_counter('doomed') > 0 AS counter;
SELECT other.lb_create_board('doomed', 'doomed') > 0 AS board;
SELECT status FROM other.lb_submit('points', 'eve', 1, 'last');
SET search_path = hostile, pg_catalog;
SELECT events FROM other.lb_refresh();
SELECT other.lb_drop_board('doomed');
SELECT other.lb_drop_counter('doomed');
SELECT lb._make_partitions('2040-01-01', '2040-01-02');
SELECT lb._tidy();
RESET search_path;
SELECT member, value FROM other.lb_top('all');

-- A trigger's function called by hand is an error, not a crash.
DO $$
DECLARE
	f regprocedure;
BEGIN
	FOR f IN SELECT oid FROM pg_proc
		WHERE pronamespace = 'lb'::regnamespace AND prorettype = 'trigger'::regtype
	LOOP
		BEGIN
			EXECUTE format('SELECT %s', f);
			RAISE NOTICE '% runs without a trigger', f;
		EXCEPTION WHEN OTHERS THEN
			NULL;
		END;
	END LOOP;
END
$$;
-- Dropped without CASCADE, with partitions and rows; nothing stays behind.
DROP EXTENSION leaderboard;
SELECT nspname FROM pg_namespace WHERE nspname = 'lb';
SELECT relname FROM pg_class WHERE relname LIKE 'event\_%' OR relnamespace = 'other'::regnamespace;
SELECT proname FROM pg_proc WHERE pronamespace = 'other'::regnamespace;
SELECT typname FROM pg_type WHERE typname LIKE 'lb\_%';
-- Installed into the hostile schema itself, whose owner waits there.
CREATE EXTENSION leaderboard SCHEMA hostile;
SELECT hostile.lb_create_counter('points') > 0 AS counter;
SELECT hostile.lb_create_board('all', 'points') > 0 AS board;
SELECT status FROM hostile.lb_submit('points', 'alice', 5, 'a');
SELECT events FROM hostile.lb_refresh();
SELECT member, value FROM hostile.lb_top('all');
-- A table of the user's on an extension type needs CASCADE, as it should.
CREATE TABLE public.kept (h hostile.lb_histogram);
DROP EXTENSION leaderboard;
DROP TABLE public.kept;
DROP EXTENSION leaderboard;
SET client_min_messages = error;
DROP SCHEMA hostile CASCADE;
DROP SCHEMA other;
DROP PROCEDURE public.under_trap;
DROP TABLE public.call;
DROP OWNED BY regress_lb_app, regress_lb_nobody, regress_lb_login;
DROP ROLE regress_lb_app, regress_lb_nobody, regress_lb_login;
