-- The contract: names of functions, arguments and columns are promises.  An
-- argument may be added behind those stated here, nothing may go or move.
\unset ECHO
\set QUIET 1
\pset format unaligned
\pset tuples_only true
\pset pager off
\set ON_ERROR_STOP true
CREATE TABLE promise (name text, arguments text, columns text);
INSERT INTO promise VALUES
('lb_create_tenant', 'tenant text, timezone text DEFAULT ''UTC'', if_not_exists boolean DEFAULT false', 'integer'),
('lb_alter_tenant', 'tenant text, timezone text', 'void'),
('lb_create_counter', 'counter text, type text DEFAULT ''exact'', operator text DEFAULT ''sum'', min_delta bigint DEFAULT NULL, max_delta bigint DEFAULT NULL, monotonic boolean DEFAULT false, lateness interval DEFAULT ''1 day'', max_age interval DEFAULT ''7 days'', max_skew interval DEFAULT ''00:01:00'', idempotency interval DEFAULT NULL, tolerated_error double precision DEFAULT NULL, grain interval DEFAULT ''01:00:00'', if_not_exists boolean DEFAULT false', 'bigint'),
('lb_create_board', 'board text, counter text, period text DEFAULT ''all'', direction text DEFAULT NULL, ties text DEFAULT ''competition'', ranks text, head integer DEFAULT 2000, buckets integer DEFAULT 128, ceiling bigint DEFAULT ''1000000000000'', freshness interval DEFAULT ''00:00:05'', keep_versions interval DEFAULT ''00:05:00'', scoped boolean DEFAULT false, starts interval DEFAULT ''00:00:00'', lateness interval DEFAULT NULL, if_not_exists boolean DEFAULT false', 'bigint'),
('lb_drop_board', 'board text', 'void'), ('lb_drop_counter', 'counter text, force boolean DEFAULT false', 'void'),
('lb_counters', '', 'counter_id bigint, tenant text, counter text, type text, operator text, min_delta bigint, max_delta bigint, monotonic boolean, lateness interval, max_age interval, max_skew interval, idempotency interval, tolerated_error double precision, grain interval'),
('lb_boards', '', 'board_id bigint, tenant text, board text, counter_id bigint, counter text, period text, direction text, ties text, ranks text, head integer, buckets integer, ceiling bigint, freshness interval, keep_versions interval, scoped boolean, starts interval, lateness interval'),
('lb_submit', 'counter text, member text, delta bigint, key text DEFAULT NULL, event_time timestamp with time zone DEFAULT NULL, actor text DEFAULT NULL, source text DEFAULT NULL, strict boolean DEFAULT false', 'ordinal integer, status text, reason text, event_id bigint, retry_after_ms integer'),
('lb_submit_batch', 'counter text, members text[], deltas bigint[], keys text[] DEFAULT NULL, event_times timestamp with time zone[] DEFAULT NULL, actors text[] DEFAULT NULL, sources text[] DEFAULT NULL, strict boolean DEFAULT false', 'ordinal integer, status text, reason text, event_id bigint, retry_after_ms integer'),
('lb_backfill', 'counter text, members text[], deltas bigint[], keys text[] DEFAULT NULL, event_times timestamp with time zone[] DEFAULT NULL, actors text[] DEFAULT NULL, sources text[] DEFAULT NULL, strict boolean DEFAULT false', 'ordinal integer, status text, reason text, event_id bigint, retry_after_ms integer'),
('lb_submit_json', 'events jsonb, strict boolean DEFAULT false', 'ordinal integer, status text, reason text, event_id bigint, retry_after_ms integer'),
('lb_refresh', 'counter text DEFAULT NULL', 'events bigint, rankings bigint, lag interval'),
('lb_refresh_loop', 'duration interval DEFAULT ''00:01:01'', every interval DEFAULT ''00:00:00.25''', NULL),
('lb_schedule', '', 'void'), ('lb_unschedule', '', 'void'),
('lb_rank', 'board text, member text, scope text DEFAULT '''', at timestamp with time zone DEFAULT NULL', 'lb_answer'),
('lb_ranks', 'board text, members text[], scope text DEFAULT '''', at timestamp with time zone DEFAULT NULL', 'lb_answer'),
('lb_top', 'board text, n integer DEFAULT 10, scope text DEFAULT '''', at timestamp with time zone DEFAULT NULL', 'lb_answer'),
('lb_page', 'board text, first bigint, n integer DEFAULT 10, scope text DEFAULT '''', at timestamp with time zone DEFAULT NULL', 'lb_answer'),
('lb_around', 'board text, member text, n integer DEFAULT 5, scope text DEFAULT '''', at timestamp with time zone DEFAULT NULL', 'lb_answer'),
('lb_among', 'board text, members text[], scope text DEFAULT '''', at timestamp with time zone DEFAULT NULL', 'among bigint, member text, rank bigint, kind text, rank_low bigint, rank_high bigint, midpoint bigint, place bigint, percentile_low double precision, percentile_high double precision, value bigint, value_low bigint, value_high bigint, reached_at timestamp with time zone, population bigint, version bigint, as_of timestamp with time zone, stale boolean, state text'),
('lb_rank_for_value', 'board text, value bigint, scope text DEFAULT '''', at timestamp with time zone DEFAULT NULL', 'lb_answer'),
('lb_distribution', 'board text, scope text DEFAULT '''', at timestamp with time zone DEFAULT NULL', 'low bigint, high bigint, members bigint'),
('lb_version', 'board text, scope text DEFAULT '''', at timestamp with time zone DEFAULT NULL', 'board_id bigint, channel text, version bigint, as_of timestamp with time zone, stale boolean, state text, population bigint, opens timestamp with time zone, closes timestamp with time zone, settles timestamp with time zone'),
('lb_join', 'board text, scope text, members text[], since timestamp with time zone DEFAULT NULL', 'integer'), ('lb_leave', 'board text, scope text, members text[], since timestamp with time zone DEFAULT NULL', 'integer'),
('lb_move', 'board text, member text, to_scope text, since timestamp with time zone DEFAULT NULL', 'boolean'), ('lb_assign', 'board text, member text, size integer, prefix text DEFAULT ''''', 'text'),
('lb_scopes', 'board text, member text DEFAULT NULL', 'scope text, members bigint, since timestamp with time zone'),
('lb_top_scopes', 'board text, scopes text[], n integer DEFAULT 10', 'scope text, member text, rank bigint, kind text, rank_low bigint, rank_high bigint, midpoint bigint, place bigint, percentile_low double precision, percentile_high double precision, value bigint, value_low bigint, value_high bigint, reached_at timestamp with time zone, population bigint, version bigint, as_of timestamp with time zone, stale boolean, state text'),
('lb_value', 'counter text, member text, period text DEFAULT ''all'', at timestamp with time zone DEFAULT NULL, viewer text DEFAULT NULL', 'member text, value bigint, value_low bigint, value_high bigint, late bigint, version bigint, as_of timestamp with time zone, stale boolean'),
('lb_values', 'counter text, members text[], period text DEFAULT ''all'', at timestamp with time zone DEFAULT NULL, viewer text DEFAULT NULL', 'member text, value bigint, value_low bigint, value_high bigint, late bigint, version bigint, as_of timestamp with time zone, stale boolean'),
('lb_alter_board', 'board text, freshness interval DEFAULT NULL, keep_versions interval DEFAULT NULL, head integer DEFAULT NULL', 'void'),
('lb_maintain', 'hot interval DEFAULT ''90 days'', archive interval DEFAULT ''1 year 1 mon'', archive_tablespace name DEFAULT NULL, drop_partitions text[] DEFAULT NULL', NULL),
('lb_windows', 'board text, n integer DEFAULT 10, scope text DEFAULT ''''', 'label text, opens timestamp with time zone, closes timestamp with time zone, settles timestamp with time zone, state text, population bigint'),
('lb_next_reset', 'board text', 'timestamp with time zone'),
('lb_series', 'counter text, member text, step interval, from_time timestamp with time zone, to_time timestamp with time zone', 'opens timestamp with time zone, value bigint'),
('lb_events', 'counter text, member text DEFAULT NULL, key text DEFAULT NULL, since timestamp with time zone DEFAULT NULL, n integer DEFAULT 100', 'event_id bigint, member text, delta bigint, actor text, key text, event_time timestamp with time zone, ingest_time timestamp with time zone, kind text, source text, counted boolean'),
('lb_histogram_add', 'h lb_histogram, value bigint, n bigint DEFAULT 1', 'lb_histogram'), ('lb_histogram_count', 'h lb_histogram', 'bigint'),
('lb_histogram_above', 'h lb_histogram, value bigint', 'low bigint, high bigint'), ('lb_histogram_rank', 'h lb_histogram, value bigint', 'rank_low bigint, rank_high bigint, percentile_low double precision, percentile_high double precision'),
('lb_histogram_quantile', 'h lb_histogram, fraction double precision', 'low bigint, high bigint'), ('lb_histogram_buckets', 'h lb_histogram', 'bucket integer, low bigint, high bigint, members bigint'),
('lb_histogram_chart', 'h lb_histogram, width integer DEFAULT 40', 'text');
INSERT INTO promise VALUES
('lb_topk_items', 't lb_topk', 'item text, low bigint, high bigint'), ('lb_topk_item', 't lb_topk, item text', 'low bigint, high bigint'),
('lb_topk_add', 't lb_topk, item text, weight bigint DEFAULT 1', 'lb_topk'), ('lb_topk_total', 't lb_topk', 'bigint'), ('lb_topk_bound', 't lb_topk', 'bigint'), ('lb_topk_capacity', 't lb_topk', 'integer'),
('lb_hll_empty', 'bits integer DEFAULT 14', 'lb_hll'), ('lb_hll_add', 'h lb_hll, value anyelement', 'lb_hll'), ('lb_hll_count', 'h lb_hll', 'double precision'),
('lb_hll_bounds', 'h lb_hll, confidence double precision DEFAULT 0.95', 'low double precision, high double precision'), ('lb_hll_bits', 'h lb_hll', 'integer'), ('lb_hll_hash_value', 'value anyelement', 'bigint');
-- An argument "name type" is promised as it is; the default of ranks moves with the milestones.
CREATE FUNCTION parts(list text) RETURNS SETOF text LANGUAGE sql IMMUTABLE AS $$
	SELECT regexp_replace(regexp_replace(trim(p), '::[a-z ]+(\[\])?', '', 'g'), '^(IN )', '') FROM regexp_split_to_table(list, ',') WITH ORDINALITY AS s (p, n) WHERE trim(p) <> '' ORDER BY n
$$;
CREATE VIEW made AS
SELECT p.proname AS name, p.oid, p.prokind, pg_get_function_arguments(p.oid) AS all_arguments, p.proretset,
	(SELECT array_agg(part) FROM parts(pg_get_function_arguments(p.oid)) AS part WHERE part !~ '^OUT ') AS arguments,
	CASE WHEN pg_get_function_result(p.oid) ~ 'record|TABLE' THEN (SELECT array_agg(format('%s %s', a.name, format_type(a.type, NULL)) ORDER BY n)
		FROM unnest(p.proargnames, p.proallargtypes, p.proargmodes) WITH ORDINALITY AS a (name, type, mode, n) WHERE mode IN ('o', 't'))
	ELSE ARRAY[regexp_replace(pg_get_function_result(p.oid), '^SETOF ', '')] END AS columns
FROM pg_proc AS p WHERE p.pronamespace = 'public'::regnamespace AND p.proname LIKE 'lb\_%';
SELECT plan((SELECT count(*)::integer FROM promise) * 2 + 6);
SELECT is((SELECT array_agg(part) FROM parts(p.arguments) AS part), (m.arguments)[1 : (SELECT count(*) FROM parts(p.arguments))], p.name || ' takes what is promised')
FROM (SELECT name, regexp_replace(arguments, 'ranks text,', format('ranks text DEFAULT ''%s'',', CASE WHEN EXISTS (SELECT FROM made WHERE all_arguments LIKE '%ranks text DEFAULT ''exact''%') THEN 'exact' ELSE 'bounded' END)) AS arguments FROM promise) AS p
	LEFT JOIN made AS m USING (name);
SELECT ok(p.columns IS NULL AND m.prokind = 'p' OR (SELECT array_agg(part) FROM parts(p.columns) AS part) <@ m.columns, p.name || ' returns what is promised') FROM promise AS p LEFT JOIN made AS m USING (name);
SELECT is((SELECT array_agg(name::text ORDER BY name) FROM (SELECT name FROM made WHERE prokind <> 'a' GROUP BY name HAVING count(*) > 1) AS d), NULL, 'no overloads, ever, but of the aggregates');
SELECT is((SELECT array_agg(format('%s(%s)', name, all_arguments) ORDER BY format('%s(%s)', name, all_arguments) COLLATE "C") FROM made WHERE prokind = 'a'),
	ARRAY['lb_histogram_agg(value bigint)', 'lb_histogram_agg(value bigint, buckets integer)', 'lb_histogram_agg(value bigint, buckets integer, ceiling bigint)', 'lb_histogram_union_agg(histogram lb_histogram)',
	'lb_hll_agg(value anyelement)', 'lb_hll_agg(value anyelement, bits integer)', 'lb_hll_union_agg(sketch lb_hll)',
	'lb_topk_agg(item text, weight bigint)', 'lb_topk_agg(item text, weight bigint, capacity integer)', 'lb_topk_union_agg(topk lb_topk)'], 'the aggregates');
SELECT is((SELECT array_agg(format('%s %s', attname, format_type(atttypid, atttypmod)) ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'lb_answer'::regclass),
	(SELECT array_agg(part) FROM parts('member text, rank bigint, kind text, rank_low bigint, rank_high bigint, midpoint bigint, place bigint, percentile_low double precision, percentile_high double precision, value bigint, value_low bigint, value_high bigint, reached_at timestamp with time zone, population bigint, version bigint, as_of timestamp with time zone, stale boolean, state text') AS part), 'lb_answer');
-- What reads is STABLE and may run in parallel, what writes is VOLATILE.
SELECT is((SELECT array_agg(p.proname::text ORDER BY 1) FROM pg_proc AS p JOIN made AS m ON m.oid = p.oid WHERE p.provolatile <> CASE WHEN p.proname ~ '^lb_(rank|ranks|top|page|page_json|around|among|rank_for_value|distribution|version|value|values|counters|boards|check|windows|next_reset|series|events|scopes|top_scopes)$' THEN 's' WHEN p.proname ~ '^lb_(histogram|hll|topk)' THEN 'i' ELSE 'v' END), NULL, 'what reads is STABLE, what writes is VOLATILE');
SELECT is((SELECT array_agg(p.proname::text ORDER BY 1) FROM pg_proc AS p JOIN made AS m ON m.oid = p.oid WHERE p.proparallel = 's' AND p.provolatile = 'v'), NULL, 'what writes is not PARALLEL SAFE');
-- lb.health and lb.poison have a row a check, hints where something is not ok.
SELECT is((SELECT array_agg(check_name ORDER BY check_name) FROM lb.health WHERE ok IS NOT NULL AND detail <> '' AND (ok OR hint <> '')) @> ARRAY['lag', 'oldest snapshot', 'partitions ahead', 'pg_cron present', 'poisoned members', 'refresh running', 'refresh scheduled'], true, 'lb.health says how things are, and what to do');
SELECT * FROM finish();
