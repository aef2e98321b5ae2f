/* The windows of a board, a member's history, the log itself. */
CREATE FUNCTION @extschema@.lb_windows(board text, n integer DEFAULT 10, scope text DEFAULT '',
		OUT label text, OUT opens timestamptz, OUT closes timestamptz, OUT settles timestamptz, OUT state text,
		OUT population bigint)
	RETURNS SETOF record
	LANGUAGE c STABLE PARALLEL SAFE ROWS 10 AS 'MODULE_PATHNAME', 'lb_windows';
COMMENT ON FUNCTION @extschema@.lb_windows(text, integer, text) IS
'The newest n (1 to 1,000) windows of a board, newest first: the current one, and those that somebody has been in. label: 2026-W48, 2026-12-01, 2026-12, 2026, for an hour 2026-12-01 13:00 in the tenant''s zone, with its offset where that hour comes twice; all, or the rolling period, for a board that has one window. opens, closes and settles are infinite where there is no end; any instant from opens up to closes is an "at" for the other functions. Costs two look-ups a window. 42704 for an unknown board, 22023 for another n, or a scope of a board that has none.';

CREATE FUNCTION @extschema@.lb_next_reset(board text) RETURNS timestamptz
	LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'lb_next_reset';
COMMENT ON FUNCTION @extschema@.lb_next_reset(text) IS
'When the board''s current window closes and the next one opens; for a rolling board, when it moves on by its next minute, hour or day; NULL for period all, which never does. Costs no look-up beyond the board''s definition. 42704 for an unknown board.';

CREATE FUNCTION @extschema@.lb_series(counter text, member text, step interval, from_time timestamptz,
		to_time timestamptz, OUT opens timestamptz, OUT value bigint)
	RETURNS SETOF record
	LANGUAGE c STABLE PARALLEL SAFE ROWS 100 AS 'MODULE_PATHNAME', 'lb_series';
COMMENT ON FUNCTION @extschema@.lb_series(text, text, interval, timestamptz, timestamptz) IS
'What a member had in each calendar window of the length "step" (1 hour, 1 day, 1 week, 1 month or 1 year, in the tenant''s zone), from the one that from_time falls into up to the last that opens before to_time: opens, and value as lb_value() gives it for that window, late events left out. A window without events has 0 for a sum and NULL otherwise; a sum that does not fit bigint is NULL. Costs one row of the member''s an hour or day with events. 42704 for an unknown counter; 22023 for a NULL, another step, an infinite instant or more than 10,000 windows.';

/* A counter's id, of the live one before a retired one; 42704 for none. */
CREATE FUNCTION lb._logged_counter_id(counter text) RETURNS bigint
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	parsed text[] := lb._parse_name(counter, 'counter');
	id bigint;
BEGIN
	SELECT c.counter_id INTO id FROM lb.counter c JOIN lb.tenant t ON t.tenant_id = c.tenant_id
		WHERE t.tenant = parsed[1] AND c.counter = parsed[2]
		ORDER BY c.retired_at DESC NULLS FIRST LIMIT 1;
	RETURN coalesce(id, lb._counter_id(counter));
END
$$;

/*
 * The newest rows of the log, partition by partition from the newest on, until
 * there are enough; the default partition may hold rows of any time.  Not
 * parallel, for the sake of the subtransactions.
 */
CREATE FUNCTION lb._newest_events(id bigint, member text, key text, since timestamptz, n integer)
	RETURNS SETOF lb.event
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	look CONSTANT text := 'SELECT coalesce(array_agg(s.e), ''{}'') FROM (SELECT ROW(e.*)::lb.event AS e FROM lb.%I e '
		'WHERE e.counter_id = $1 AND ($2 IS NULL OR e.member = $2) AND ($3 IS NULL OR e.key = $3) '
		'AND ($4 IS NULL OR e.ingest_time >= $4) ORDER BY e.ingest_time DESC, e.event_id DESC LIMIT $5) s';
	part record;
	held lb.event[] := '{}';
	more lb.event[];
BEGIN
	FOR part IN
		SELECT c.relname, p.closes
		FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
		LEFT JOIN lb._partitions() p ON p.partition = c.oid
		WHERE i.inhparent = 'lb.event'::regclass
		ORDER BY p.closes DESC NULLS FIRST
	LOOP
		EXIT WHEN part.closes <= since
			OR (SELECT count(*) FROM unnest(held) h WHERE h.ingest_time >= part.closes) >= n;
		BEGIN
			EXECUTE format(look, part.relname) INTO more USING id, member, key, since, n;
			held := held || more;
		EXCEPTION WHEN undefined_table THEN
			NULL;	/* dropped just now */
		END;
	END LOOP;
	RETURN QUERY SELECT * FROM unnest(held) h ORDER BY h.ingest_time DESC, h.event_id DESC LIMIT n;
END
$$;

CREATE FUNCTION lb._events(counter text, of_member text, of_key text, since timestamptz, n integer)
	RETURNS TABLE (event_id bigint, member text, delta bigint, actor text, key text, event_time timestamptz,
		ingest_time timestamptz, kind text, source text, counted boolean)
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
#variable_conflict use_column
DECLARE
	id bigint := lb._logged_counter_id(counter);
	most integer := coalesce(n, 100);
	own integer := (SELECT h.origin FROM lb.home h, pg_control_system() c WHERE h.system_identifier = c.system_identifier);
	newest pg_snapshot := (SELECT r.snapshot FROM lb.round r ORDER BY r.number DESC LIMIT 1);
BEGIN
	IF most NOT BETWEEN 1 AND 1000 THEN
		RAISE EXCEPTION '"n" is between 1 and 1000'
			USING ERRCODE = 'invalid_parameter_value', HINT = 'Ask for further rows in further calls.';
	END IF;
	RETURN QUERY
	SELECT e.event_id, e.member, e.delta, e.actor, e.key, e.event_time, e.ingest_time,
		CASE e.kind WHEN 'h' THEN 'history' ELSE 'event' END, e.source,
		/* numbers of transactions mean something in their own cluster only; others are counted as a whole */
		CASE WHEN e.origin = own THEN coalesce(pg_visible_in_snapshot(e.xid, newest), false)
			 ELSE EXISTS (SELECT FROM lb.adopted a WHERE a.origin = e.origin) END
	FROM lb._newest_events(id, of_member, of_key, since, most) e
	ORDER BY e.ingest_time DESC, e.event_id DESC;
END
$$;

CREATE FUNCTION @extschema@.lb_events(counter text, member text DEFAULT NULL, key text DEFAULT NULL,
		since timestamptz DEFAULT NULL, n integer DEFAULT 100,
		OUT event_id bigint, OUT member text, OUT delta bigint, OUT actor text, OUT key text,
		OUT event_time timestamptz, OUT ingest_time timestamptz, OUT kind text, OUT source text, OUT counted boolean)
	RETURNS SETOF record
	LANGUAGE c STABLE PARALLEL UNSAFE ROWS 100 AS 'MODULE_PATHNAME', 'lb_public';
COMMENT ON FUNCTION @extschema@.lb_events(text, text, text, timestamptz, integer) IS
'The newest n (1 to 1,000) events of a counter in the log, live or retired, the last to come in first: of one member, of one key, or that came in (ingest_time) at "since" or later. kind: event, or history for lb_backfill(). counted: whether the boards this call sees have it. Days are searched from the newest on until there are n events: with a key one look a day, with a member the member''s events of those days, with neither the whole log of those days. 42704 for an unknown counter, 22023 for another n.';
