/*
 * What counters cost on this installation, by kind: what rounds have measured
 * (cost.c), and the sizes of tables, apportioned by the bytes of their rows, of
 * which some thousand blocks are read.
 */
CREATE FUNCTION lb._table_share(tab text, kept bigint DEFAULT 1000) RETURNS TABLE (counter_id bigint, bytes numeric, events numeric)
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	blocks bigint := pg_relation_size(('lb.' || tab)::regclass) / current_setting('block_size')::bigint;
	percent double precision := least(100, 100.0 * kept / greatest(blocks, 1));
	/* what is stored out of line is not in the row */
	aside text := CASE WHEN tab IN ('bucket', 'sketch') THEN ' + coalesce(pg_column_size(t.sketch), 0)' ELSE '' END;
	counted text := CASE WHEN tab = 'bucket' THEN 'sum(t.n) FILTER (WHERE t.span = ''d'')' ELSE '0' END;
BEGIN
	RETURN QUERY EXECUTE format(
		'SELECT s.counter_id, pg_total_relation_size(%L) * s.bytes / sum(s.bytes) OVER (), s.n * %s '
		'FROM (SELECT t.counter_id, sum(pg_column_size(t.*)%s)::numeric AS bytes, coalesce(%s, 0)::numeric AS n '
		'FROM lb.%I t TABLESAMPLE SYSTEM (%s) GROUP BY t.counter_id) s',
		'lb.' || tab, 100.0 / percent, aside, counted, tab, percent);
END
$$;

/* What an event of each counter takes in the log, its indexes included, by a sample of the largest partition. */
CREATE FUNCTION lb._log_share(kept bigint DEFAULT 1000) RETURNS TABLE (counter_id bigint, bytes numeric)
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	leaf regclass;
	blocks bigint;
	percent double precision;
BEGIN
	SELECT i.inhrelid::regclass, pg_relation_size(i.inhrelid) / current_setting('block_size')::bigint INTO leaf, blocks
		FROM pg_inherits i WHERE i.inhparent = 'lb.event'::regclass ORDER BY 2 DESC LIMIT 1;
	IF coalesce(blocks, 0) = 0 THEN
		RETURN;
	END IF;
	percent := least(100, 100.0 * kept / blocks);
	RETURN QUERY EXECUTE format(
		'SELECT s.counter_id, s.width * pg_total_relation_size(%L) * %s / sum(s.width * s.n) OVER () '
		'FROM (SELECT e.counter_id, avg(pg_column_size(e.*)) AS width, count(*) AS n FROM %s e TABLESAMPLE SYSTEM (%s) GROUP BY 1) s',
		leaf::text, percent / 100, leaf, percent);
END
$$;

/* By kind: an exact counter's operator, else its type. */
CREATE FUNCTION lb._unit_cost() RETURNS TABLE (type text, operator text, counters bigint, events bigint, log_bytes bigint,
		projection_bytes bigint, refresh_seconds double precision, read_cost text)
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	RETURN QUERY
	WITH kind(type, operator, kind, read_cost) AS (VALUES
		('exact', 'sum', 'sum', 'page'), ('exact', 'max', 'max', 'page'), ('exact', 'min', 'min', 'page'),
		('exact', 'last', 'last', 'page'), ('unique', 'sum', 'unique', 'page'), ('approximate', 'sum', 'approximate', 'tracked')),
	counted AS (
		SELECT c.counter_id, CASE v.type WHEN 'exact' THEN v.operator ELSE v.type END AS kind
		FROM lb.counter c JOIN lb.counter_version v ON v.counter_id = c.counter_id AND v.version = c.version
		WHERE c.retired_at IS NULL),
	spent AS (
		SELECT u.kind, sum(u.events) AS events, sum(u.usecs) AS usecs
		FROM lb.round r, LATERAL unnest(r.kinds, r.kind_events, r.kind_usecs) AS u(kind, events, usecs)
		WHERE r.kinds IS NOT NULL GROUP BY u.kind),
	logged AS (
		SELECT c.kind, avg(l.bytes) AS bytes FROM lb._log_share() l JOIN counted c ON c.counter_id = l.counter_id GROUP BY c.kind),
	kept AS (
		SELECT c.kind, sum(s.bytes) AS bytes, sum(s.events) AS events
		FROM unnest(ARRAY['bucket', 'standing', 'sketch', 'page', 'version', 'moved']) AS t(tab), LATERAL lb._table_share(t.tab) s
		JOIN counted c ON c.counter_id = s.counter_id GROUP BY c.kind)
	SELECT k.type, k.operator, (SELECT count(*) FROM counted c WHERE c.kind = k.kind), s.events::bigint,
		(l.bytes * 1000000)::bigint, (p.bytes / nullif(p.events, 0) * 1000000)::bigint,
		s.usecs::double precision / nullif(s.events, 0)::double precision, k.read_cost
	FROM kind k LEFT JOIN spent s ON s.kind = k.kind LEFT JOIN logged l ON l.kind = k.kind LEFT JOIN kept p ON p.kind = k.kind;
END
$$;

CREATE VIEW lb.unit_cost AS
	SELECT u.type, u.operator, u.counters, u.events, u.log_bytes, u.projection_bytes, u.refresh_seconds, u.read_cost
	FROM lb._unit_cost() u;
COMMENT ON VIEW lb.unit_cost IS
'What a million events cost on this installation, one row a kind of counter: how many counters of it there are, on how many events of recent rounds refresh_seconds is measured, bytes in the log and in buckets, standings, sketches, pages and versions with their indexes, seconds of refresh, and what reading a rank costs: page (a probe and the way through a tree), or tracked (a walk over all tracked members). NULL where there is no history. Sizes are of a sample, apportioned by bytes; the rest of what rounds do is shared by events. Reads up to some thousand blocks of each table. A monitoring role needs USAGE on the schema lb, SELECT on this view and EXECUTE on lb._unit_cost().';

/* What the events of a counter that was just defined may cost; nothing where too few have been counted. */
CREATE FUNCTION lb._tell_cost(of_type text, of_operator text) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	kind text := CASE of_type WHEN 'exact' THEN of_operator ELSE of_type END;
	u record;
BEGIN
	IF (SELECT sum(r.kind_events[array_position(r.kinds, kind)]) FROM lb.round r WHERE r.kinds IS NOT NULL) >= 10000 THEN
		SELECT * INTO u FROM lb._unit_cost() c WHERE c.type = of_type AND c.operator = of_operator;
		RAISE NOTICE 'a million events of such counters took % in the log, % in projections and % s of refresh here',
			coalesce(pg_size_pretty(u.log_bytes), 'nothing'), coalesce(pg_size_pretty(u.projection_bytes), 'nothing'),
			round(u.refresh_seconds::numeric, 1)
			USING HINT = 'The view lb.unit_cost has the prices of all kinds of counters.';
	END IF;
END
$$;
