/* Names, arguments and spans: the rules that C and SQL share. */
CREATE FUNCTION lb._parse_name(name text, what text) RETURNS text[]
	LANGUAGE c STABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'lb_parse_name_sql';

CREATE FUNCTION lb._counter_id(counter text) RETURNS bigint
	LANGUAGE c STABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'lb_counter_id_sql';

CREATE FUNCTION lb._board_id(board text) RETURNS bigint
	LANGUAGE c STABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'lb_board_id_sql';

CREATE FUNCTION lb._usecs(span interval, argument text DEFAULT '') RETURNS bigint
	LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'lb_interval_usecs_sql';

CREATE FUNCTION lb._period(period text, grain interval) RETURNS text
	LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'lb_period_sql';

CREATE FUNCTION lb._tolerated_error(type text, tolerated_error double precision) RETURNS double precision
	LANGUAGE c IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'lb_tolerated_error_sql';

/* The value, if it is one of those allowed; else 22023, which lists them. */
CREATE FUNCTION lb._one_of(argument text, value text, VARIADIC allowed text[]) RETURNS text
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	IF value = ANY (allowed) THEN
		RETURN value;
	END IF;
	RAISE EXCEPTION 'invalid % "%"', argument, value
		USING ERRCODE = 'invalid_parameter_value',
			  HINT = format('%s is one of %s.', argument, array_to_string(allowed, ', '));
END
$$;

/* The tenant of that name; "default" is made on first use. */
CREATE FUNCTION lb._tenant_id(tenant text) RETURNS integer
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	found_id integer;
BEGIN
	IF tenant = 'default' AND NOT EXISTS (SELECT FROM lb.tenant t WHERE t.tenant = 'default') THEN
		INSERT INTO lb.tenant (tenant, timezone) VALUES ('default', 'UTC')
			ON CONFLICT DO NOTHING;
	END IF;
	SELECT t.tenant_id INTO found_id FROM lb.tenant t WHERE t.tenant = _tenant_id.tenant;
	IF found_id IS NULL THEN
		RAISE EXCEPTION 'tenant "%" does not exist', tenant
			USING ERRCODE = 'undefined_object',
				  HINT = format('Make it with lb_create_tenant(%L, timezone), or set leaderboard.tenant.', tenant);
	END IF;
	RETURN found_id;
END
$$;

/* A time zone by a name that knows its own changes; offsets and abbreviations do not. */
CREATE FUNCTION lb._zone(timezone text) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	known text;
BEGIN
	SELECT z.name INTO known FROM pg_timezone_names z
		WHERE lower(z.name) = lower(timezone) ORDER BY z.name <> timezone LIMIT 1;
	IF known IS NULL THEN
		RAISE EXCEPTION 'invalid time zone "%"', timezone
			USING ERRCODE = 'invalid_parameter_value',
				  HINT = 'Use a full name such as Europe/Berlin; pg_timezone_names lists them.';
	END IF;
	RETURN known;
END
$$;

/* What to do about a name that is taken: its id with if_not_exists, or 42710. */
CREATE FUNCTION lb._already(what text, name text, id bigint, if_not_exists boolean, same boolean) RETURNS bigint
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	IF NOT if_not_exists THEN
		RAISE EXCEPTION '% "%" already exists', what, name
			USING ERRCODE = 'duplicate_object',
				  HINT = 'Choose another name, or pass if_not_exists => true.';
	END IF;
	IF same THEN
		RAISE NOTICE '% "%" already exists, skipping', what, name;
	ELSE
		RAISE WARNING '% "%" already exists with another definition, skipping', what, name
			USING HINT = format(CASE what WHEN 'tenant' THEN 'lb.%s' ELSE 'lb_%ss()' END || ' shows the definition in force.', what);
	END IF;
	RETURN id;
END
$$;

CREATE FUNCTION lb._create_tenant(tenant text, timezone text, if_not_exists boolean) RETURNS integer
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	name text;
	zone text := lb._zone(coalesce(timezone, 'UTC'));
	made integer;
	other lb.tenant;
BEGIN
	IF tenant IS NULL THEN
		RAISE EXCEPTION 'argument "tenant" must not be null'
			USING ERRCODE = 'invalid_parameter_value', HINT = 'Give the tenant a name.';
	END IF;
	IF position('/' IN tenant) > 0 THEN
		RAISE EXCEPTION 'invalid tenant name "%"', tenant
			USING ERRCODE = 'invalid_parameter_value', HINT = 'A tenant''s name holds no "/".';
	END IF;
	name := (lb._parse_name(concat('default/', tenant), 'tenant'))[2];
	INSERT INTO lb.tenant (tenant, timezone) VALUES (name, zone)
		ON CONFLICT DO NOTHING RETURNING tenant_id INTO made;
	IF made IS NULL THEN
		SELECT * INTO other FROM lb.tenant t WHERE t.tenant = name;
		made := lb._already('tenant', name, other.tenant_id, coalesce(if_not_exists, false),
							other.timezone = zone);
	END IF;
	RETURN made;
END
$$;

CREATE FUNCTION lb._alter_tenant(tenant text, timezone text) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	id integer;
BEGIN
	IF tenant IS NULL OR timezone IS NULL THEN
		RAISE EXCEPTION 'argument "%" must not be null', CASE WHEN tenant IS NULL THEN 'tenant' ELSE 'timezone' END
			USING ERRCODE = 'invalid_parameter_value', HINT = 'Give the name of a tenant and that of a time zone.';
	END IF;
	id := lb._tenant_id(tenant);
	UPDATE lb.tenant t SET timezone = lb._zone(_alter_tenant.timezone) WHERE t.tenant_id = id;
END
$$;

/* Check a counter's definition as a whole; returns it with the defaults filled in. */
CREATE FUNCTION lb._check_counter(d lb.counter_version) RETURNS lb.counter_version
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	least_idempotency interval;
BEGIN
	d.type := lb._one_of('type', coalesce(d.type, 'exact'), 'exact', 'unique', 'approximate');
	d.operator := lb._one_of('operator', coalesce(d.operator, 'sum'), 'sum', 'max', 'min', 'last');
	/* what sketches count cannot be taken back */
	d.monotonic := coalesce(d.monotonic, false) OR d.type <> 'exact';
	d.lateness := coalesce(d.lateness, '1 day');
	d.max_age := coalesce(d.max_age, '7 days');
	d.max_skew := coalesce(d.max_skew, '60 seconds');
	d.grain := coalesce(d.grain, '1 hour');
	IF d.grain <> ALL (ARRAY['1 minute', '5 minutes', '10 minutes', '15 minutes', '20 minutes', '30 minutes', '1 hour']::interval[]) THEN
		RAISE EXCEPTION 'invalid grain %', d.grain
			USING ERRCODE = 'invalid_parameter_value',
				  HINT = 'grain is one of 1, 5, 10, 15, 20 or 30 minutes, or 1 hour.';
	END IF;
	IF d.type <> 'exact' AND d.operator <> 'sum' THEN
		RAISE EXCEPTION 'a counter of type % has no operator "%"', d.type, d.operator
			USING ERRCODE = 'invalid_parameter_value',
				  HINT = CASE d.type WHEN 'unique' THEN 'Leave operator out: a unique counter counts different actors.'
					ELSE 'Leave operator out: an approximate counter sums.' END;
	END IF;
	IF d.type = 'unique' AND (d.min_delta IS NOT NULL OR d.max_delta IS NOT NULL) THEN
		RAISE EXCEPTION 'a unique counter has no bounds of deltas'
			USING ERRCODE = 'invalid_parameter_value',
				  HINT = 'Leave min_delta and max_delta out: the delta of each of its events is 1.';
	END IF;
	IF d.monotonic AND d.operator <> 'sum' THEN
		RAISE EXCEPTION 'only a sum can be monotonic'
			USING ERRCODE = 'invalid_parameter_value',
				  HINT = format('Leave monotonic out: a %s takes any score.', d.operator);
	END IF;
	IF d.min_delta > d.max_delta THEN
		RAISE EXCEPTION 'min_delta % is above max_delta %', d.min_delta, d.max_delta
			USING ERRCODE = 'invalid_parameter_value',
				  HINT = 'Swap them, or leave one out.';
	END IF;
	d.tolerated_error := lb._tolerated_error(d.type, d.tolerated_error);
	PERFORM lb._usecs(d.lateness, 'lateness');
	least_idempotency := greatest(interval '24 hours',
								  make_interval(secs => (lb._usecs(d.max_age, 'max_age') + lb._usecs(d.max_skew, 'max_skew')) / 1000000.0));
	IF lb._usecs(d.idempotency, 'idempotency') < lb._usecs(justify_hours(least_idempotency)) THEN
		RAISE EXCEPTION 'idempotency % is shorter than max_age and max_skew allow', d.idempotency
			USING ERRCODE = 'invalid_parameter_value',
				  HINT = format('Leave it out for %s, or give more.', justify_hours(least_idempotency));
	END IF;
	RETURN d;
END
$$;

CREATE FUNCTION lb._create_counter(counter text, type text, operator text, min_delta bigint, max_delta bigint,
		monotonic boolean, lateness interval, max_age interval, max_skew interval, idempotency interval,
		tolerated_error double precision, grain interval, if_not_exists boolean) RETURNS bigint
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	parsed text[] := lb._parse_name(counter, 'counter');
	owner integer := lb._tenant_id(parsed[1]);
	wanted lb.counter_version;
	other lb.counter_version;
	id bigint;
BEGIN
	wanted := lb._check_counter(ROW(0, 1, type, operator, min_delta, max_delta, monotonic, lateness,
		max_age, max_skew, idempotency, tolerated_error, grain, clock_timestamp())::lb.counter_version);
	/* one creator of a name at a time, so that the loser sees the winner's row */
	PERFORM 1 FROM lb.tenant t WHERE t.tenant_id = owner FOR NO KEY UPDATE;
	SELECT v.* INTO other
		FROM lb.counter c JOIN lb.counter_version v ON v.counter_id = c.counter_id AND v.version = c.version
		WHERE c.tenant_id = owner AND c.counter = parsed[2] AND c.retired_at IS NULL;
	IF other.counter_id IS NOT NULL THEN
		wanted.counter_id := other.counter_id;
		wanted.version := other.version;
		wanted.created_at := other.created_at;
		RETURN lb._already('counter', parsed[2], other.counter_id, coalesce(if_not_exists, false),
						   wanted IS NOT DISTINCT FROM other);
	END IF;
	id := nextval('lb.counter_id_seq');
	wanted.counter_id := id;
	INSERT INTO lb.counter_version SELECT (wanted).*;
	INSERT INTO lb.counter (counter_id, tenant_id, counter, version) VALUES (id, owner, parsed[2], 1);
	PERFORM lb._tell_cost(wanted.type, wanted.operator);
	RETURN id;
END
$$;

/* Do starts and lateness go with the period? */
CREATE FUNCTION lb._check_window(d lb.board, grain interval) RETURNS void
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	starts bigint := lb._usecs(d.starts, 'starts');
	shortest interval := CASE d.period WHEN 'day' THEN '1 day' WHEN 'week' THEN '7 days'
		WHEN 'month' THEN '28 days' WHEN 'year' THEN '365 days' END;
BEGIN
	IF starts > 0 AND shortest IS NULL THEN
		RAISE EXCEPTION 'windows of the period "%" cannot start later', d.period
			USING ERRCODE = 'invalid_parameter_value',
				  HINT = 'starts goes with the periods day, week, month and year.';
	END IF;
	IF starts > 0 AND (starts >= lb._usecs(shortest) OR starts % lb._usecs(grain) <> 0) THEN
		RAISE EXCEPTION 'invalid starts %', d.starts
			USING ERRCODE = 'invalid_parameter_value',
				  HINT = format('For a %s starts is less than %s and a multiple of the counter''s grain, %s.', d.period, shortest, grain);
	END IF;
	IF d.lateness IS NOT NULL AND (d.period = 'all' OR d.period LIKE 'last %') THEN
		RAISE EXCEPTION 'nothing is late for the period "%"', d.period
			USING ERRCODE = 'invalid_parameter_value',
				  HINT = 'lateness goes with the periods hour, day, week, month and year; leave it out.';
	END IF;
	PERFORM lb._usecs(d.lateness, 'lateness');
END
$$;

/* Check a board's definition as a whole; returns it with the defaults filled in. */
CREATE FUNCTION lb._check_board(d lb.board) RETURNS lb.board
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	op text;
	grain interval;
	type text;
BEGIN
	SELECT v.operator, v.grain, v.type INTO op, grain, type FROM lb.counter c
		JOIN lb.counter_version v ON v.counter_id = c.counter_id AND v.version = c.version
		WHERE c.counter_id = d.counter_id;
	d.period := lb._period(coalesce(d.period, 'all'), grain);
	d.direction := lb._one_of('direction', coalesce(d.direction, CASE op WHEN 'min' THEN 'asc' ELSE 'desc' END),
							  'desc', 'asc');
	d.ties := lb._one_of('ties', coalesce(d.ties, 'competition'), 'competition', 'dense', 'ordinal');
	d.ranks := lb._one_of('ranks', coalesce(d.ranks, 'exact'), 'exact', 'bounded');
	d.head := coalesce(d.head, 2000);
	d.buckets := coalesce(d.buckets, 128);
	d.ceiling := coalesce(d.ceiling, 1000000000000);
	d.freshness := coalesce(d.freshness, '5 seconds');
	d.keep_versions := coalesce(d.keep_versions, '5 minutes');
	d.scoped := coalesce(d.scoped, false);
	d.starts := coalesce(d.starts, '0');
	IF d.head NOT BETWEEN 1 AND 100000 THEN
		RAISE EXCEPTION 'invalid head %', d.head
			USING ERRCODE = 'invalid_parameter_value', HINT = 'head is between 1 and 100000.';
	END IF;
	PERFORM @extschema@.lb_histogram_agg(v, d.buckets, d.ceiling) FROM (VALUES (0::bigint)) AS s(v);
	IF lb._usecs(d.freshness, 'freshness') = 0 THEN
		RAISE EXCEPTION 'freshness must be more than nothing'
			USING ERRCODE = 'invalid_parameter_value', HINT = 'Leave it out for 5 seconds.';
	END IF;
	PERFORM lb._usecs(d.keep_versions, 'keep_versions');
	PERFORM lb._check_window(d, grain);
	IF type = 'approximate' AND (d.scoped OR d.ranks <> 'exact' OR d.direction <> 'desc') THEN
		RAISE EXCEPTION 'a board of an approximate counter ranks its heaviest members, and nothing else'
			USING ERRCODE = 'invalid_parameter_value',
				  HINT = 'Leave scoped, ranks and direction out.';
	END IF;
	RETURN d;
END
$$;

/*
 * The class of a calendar board whose windows or lateness are its own; a new
 * one lets the counter's events be judged by it (projection/recount.c).
 */
CREATE FUNCTION lb._judge_late(d lb.board) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	of_counter interval;
	own interval;
	free integer;
BEGIN
	SELECT v.lateness INTO of_counter FROM lb.counter c
		JOIN lb.counter_version v ON v.counter_id = c.counter_id AND v.version = c.version
		WHERE c.counter_id = d.counter_id;
	own := coalesce(d.lateness, of_counter);
	IF d.period = 'all' OR d.period LIKE 'last %' OR (d.starts = '0' AND own = of_counter) THEN
		RETURN;
	END IF;
	/* against whoever makes or drops a board of the class */
	PERFORM lb._lock_rounds('a board with windows or a lateness of its own');
	IF EXISTS (SELECT FROM lb.late_class l WHERE l.counter_id = d.counter_id
			   AND l.period = d.period AND l.starts = d.starts AND l.lateness = own) THEN
		RETURN;
	END IF;
	SELECT min(b) INTO free FROM generate_series(8, 30) b
		WHERE NOT EXISTS (SELECT FROM lb.late_class l WHERE l.counter_id = d.counter_id AND l.bit = b);
	IF free IS NULL THEN
		RAISE EXCEPTION 'the boards of the counter settle in more than 23 ways'
			USING ERRCODE = 'program_limit_exceeded',
				  HINT = 'Choose period, starts and lateness of another board of the counter, or drop boards.';
	END IF;
	INSERT INTO lb.late_class (counter_id, bit, period, starts, lateness)
		VALUES (d.counter_id, free, d.period, d.starts, own);
END
$$;

CREATE FUNCTION lb._create_board(board text, counter text, period text, direction text, ties text, ranks text,
		head integer, buckets integer, ceiling bigint, freshness interval, keep_versions interval,
		scoped boolean, starts interval, lateness interval, if_not_exists boolean) RETURNS bigint
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	parsed text[] := lb._parse_name(board, 'board');
	owner integer := lb._tenant_id(parsed[1]);
	counted bigint;
	wanted lb.board;
	other lb.board;
BEGIN
	counted := lb._counter_id(counter);
	IF NOT EXISTS (SELECT FROM lb.counter c WHERE c.counter_id = counted AND c.tenant_id = owner) THEN
		RAISE EXCEPTION 'board "%" and counter "%" are of different tenants', board, counter
			USING ERRCODE = 'invalid_parameter_value', HINT = format('A board ranks a counter of its own tenant: write the counter as "%s/name".', parsed[1]);
	END IF;
	wanted := lb._check_board(ROW(0, owner, parsed[2], counted, period, direction, ties, ranks, head, buckets,
		ceiling, freshness, keep_versions, scoped, starts, lateness, clock_timestamp())::lb.board);
	/* against a counter that is being dropped, and against another creator of the name */
	PERFORM 1 FROM lb.counter c WHERE c.counter_id = counted AND c.retired_at IS NULL FOR SHARE;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'counter "%" does not exist', counter
			USING ERRCODE = 'undefined_object', HINT = 'It was dropped just now; lb_counters() lists the counters.';
	END IF;
	PERFORM 1 FROM lb.tenant t WHERE t.tenant_id = owner FOR NO KEY UPDATE;
	SELECT * INTO other FROM lb.board b WHERE b.tenant_id = owner AND b.board = parsed[2];
	IF other.board_id IS NOT NULL THEN
		wanted.board_id := other.board_id;
		wanted.created_at := other.created_at;
		RETURN lb._already('board', parsed[2], other.board_id, coalesce(if_not_exists, false),
						   wanted IS NOT DISTINCT FROM other);
	END IF;
	PERFORM lb._judge_late(wanted);
	wanted.board_id := nextval('lb.board_id_seq');
	INSERT INTO lb.board SELECT (wanted).*;
	RETURN wanted.board_id;
END
$$;

CREATE FUNCTION lb._drop_board(board text) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	id bigint := lb._board_id(board);
BEGIN
	DELETE FROM lb.board b WHERE b.board_id = id;
END
$$;

CREATE FUNCTION lb._drop_counter(counter text, force boolean) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	id bigint := lb._counter_id(counter);
	boards text;
BEGIN
	/* after whoever is making a board of it */
	PERFORM 1 FROM lb.counter c WHERE c.counter_id = id FOR UPDATE;
	IF coalesce(force, false) THEN
		DELETE FROM lb.board b WHERE b.counter_id = id;
		UPDATE lb.counter c SET retired_at = clock_timestamp() WHERE c.counter_id = id;
		RETURN;
	END IF;
	SELECT string_agg(b.board, ', ' ORDER BY b.board) INTO boards FROM lb.board b WHERE b.counter_id = id;
	IF boards IS NOT NULL THEN
		RAISE EXCEPTION 'counter "%" is used by boards', counter
			USING ERRCODE = 'object_in_use',
				  DETAIL = format('Its boards: %s.', boards),
				  HINT = 'Drop them with lb_drop_board() first, or pass force => true to retire the counter with them.';
	END IF;
	DELETE FROM lb.counter c WHERE c.counter_id = id;
	DELETE FROM lb.counter_version v WHERE v.counter_id = id;
END
$$;

CREATE FUNCTION lb._counters() RETURNS TABLE (counter_id bigint, tenant text, counter text, version smallint,
		type text, operator text, min_delta bigint, max_delta bigint, monotonic boolean, lateness interval,
		max_age interval, max_skew interval, idempotency interval, tolerated_error double precision,
		grain interval, timezone text, created_at timestamptz, retired_at timestamptz)
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	RETURN QUERY
	SELECT c.counter_id, t.tenant, c.counter, v.version, v.type, v.operator, v.min_delta, v.max_delta, v.monotonic,
		v.lateness, v.max_age, v.max_skew,
		coalesce(v.idempotency, greatest(interval '24 hours', v.max_age + v.max_skew)),
		v.tolerated_error, v.grain, t.timezone, c.created_at, c.retired_at
	FROM lb.counter c
	JOIN lb.counter_version v ON v.counter_id = c.counter_id AND v.version = c.version
	JOIN lb.tenant t ON t.tenant_id = c.tenant_id
	ORDER BY t.tenant, c.counter, c.counter_id;
END
$$;

CREATE FUNCTION lb._boards() RETURNS TABLE (board_id bigint, tenant text, board text, counter_id bigint,
		counter text, period text, direction text, ties text, ranks text, head integer, buckets integer,
		ceiling bigint, freshness interval, keep_versions interval, scoped boolean, starts interval,
		lateness interval, timezone text, created_at timestamptz)
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	RETURN QUERY
	SELECT b.board_id, t.tenant, b.board, b.counter_id, c.counter, b.period, b.direction, b.ties, b.ranks, b.head,
		b.buckets, b.ceiling, b.freshness, b.keep_versions, b.scoped, b.starts, b.lateness, t.timezone, b.created_at
	FROM lb.board b
	JOIN lb.counter c ON c.counter_id = b.counter_id
	JOIN lb.tenant t ON t.tenant_id = b.tenant_id
	ORDER BY t.tenant, b.board;
END
$$;

/* The public functions: as the caller through the gate (gate.c) to the inner function of the same name. */
CREATE FUNCTION @extschema@.lb_create_tenant(tenant text, timezone text DEFAULT 'UTC',
		if_not_exists boolean DEFAULT false) RETURNS integer
	LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'lb_public';
COMMENT ON FUNCTION @extschema@.lb_create_tenant(text, text, boolean) IS
'Makes a tenant whose calendar windows begin in the time zone "timezone" (a full name of pg_timezone_names). Returns its id. 42710 if it exists and if_not_exists is not true; 22023 for a bad name or zone.';

CREATE FUNCTION @extschema@.lb_alter_tenant(tenant text, timezone text) RETURNS void
	LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'lb_public';
COMMENT ON FUNCTION @extschema@.lb_alter_tenant(text, text) IS
'Changes a tenant''s time zone, which is possible until its first event, while rounds wait; 0A000 afterwards, 25001 unless READ COMMITTED, 42704 for an unknown tenant, 22023 for an unknown zone.';

CREATE FUNCTION @extschema@.lb_create_counter(counter text, type text DEFAULT 'exact', operator text DEFAULT 'sum',
		min_delta bigint DEFAULT NULL, max_delta bigint DEFAULT NULL, monotonic boolean DEFAULT false,
		lateness interval DEFAULT '1 day', max_age interval DEFAULT '7 days',
		max_skew interval DEFAULT '60 seconds', idempotency interval DEFAULT NULL,
		tolerated_error double precision DEFAULT NULL, grain interval DEFAULT '1 hour',
		if_not_exists boolean DEFAULT false) RETURNS bigint
	LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'lb_public';
COMMENT ON FUNCTION @extschema@.lb_create_counter(text, text, text, bigint, bigint, boolean, interval, interval, interval, interval, double precision, interval, boolean) IS
'Makes a counter "[tenant/]name". type: exact, or unique: the number of different actors of a member''s events, estimated with the relative error tolerated_error (0.004 to 0.5, NULL for 0.02) in 95 of 100 cases, and exactly while they are few; the delta of its events is 1 and each has an actor. operator, of an exact counter: sum, max, min or last. min_delta and max_delta bound each event; monotonic refuses negative deltas of a sum. lateness: how long after a window''s end events still change it. max_age and max_skew: how far event_time may lie behind and ahead of admission. idempotency: how far back every retry is recognised whatever its event_time, at least greatest(24 h, max_age + max_skew). grain: how long the buckets are in which a member''s events are kept, 1, 5, 10, 15, 20 or 30 minutes or 1 hour; boards over the last minutes, and windows that start between hours, go by it. Spans are days or smaller units. Returns the counter''s id. 42710 if it exists and if_not_exists is not true; 22023 for a bad argument; 42704 for an unknown tenant.';

CREATE FUNCTION @extschema@.lb_create_board(board text, counter text, period text DEFAULT 'all',
		direction text DEFAULT NULL, ties text DEFAULT 'competition', ranks text DEFAULT 'exact',
		head integer DEFAULT 2000, buckets integer DEFAULT 128, ceiling bigint DEFAULT 1000000000000,
		freshness interval DEFAULT '5 seconds', keep_versions interval DEFAULT '5 minutes',
		scoped boolean DEFAULT false, starts interval DEFAULT '0', lateness interval DEFAULT NULL,
		if_not_exists boolean DEFAULT false) RETURNS bigint
	LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'lb_public';
COMMENT ON FUNCTION @extschema@.lb_create_board(text, text, text, text, text, text, integer, integer, bigint, interval, interval, boolean, interval, interval, boolean) IS
'Makes a board "[tenant/]name" that ranks the members of a counter of the same tenant. period: all, hour, day, week, month or year, calendar windows in the tenant''s zone; or "last N minutes" (up to 1440, a multiple of the counter''s grain), "last N hours" (up to 168) or "last N days" (up to 400): the current minute (hour, day) and the N - 1 before it. starts: how long after the calendar''s boundary a day, week, month or year opens (''6 hours'': a day from 06:00 to 06:00), in local time. lateness: the board''s own instead of the counter''s; only for calendar windows, nothing is late for the others. scoped: whether members can be grouped in scopes. direction: desc (high is best) or asc; NULL is asc for a min, else desc. ties: competition 1,2,2,4, dense 1,2,2,3 or ordinal 1,2,3,4 (first to reach is ahead, then the member''s bytes). ranks: exact at any depth, or bounded: exact for the best "head" places (1 to 100000), beyond them an interval from a histogram of "buckets" log-wide buckets up to "ceiling". keep_versions: how long after it was superseded a version is kept; what a round moved is written once more for it, unless it is 0. freshness: the age at which an answer is called stale. Events already counted are on the board at once; costs one pass over the counter''s buckets, during which rounds wait. A board whose starts or lateness no other board of the counter has lets events be judged by them: those already counted are read from the log once more, 25001 unless READ COMMITTED, 55000 if the log does not hold them any more, 54000 beyond 23 such ways. Returns the board''s id. 42710 if it exists and if_not_exists is not true; 42704 for an unknown tenant or counter; 22023 for a bad argument.';

CREATE FUNCTION @extschema@.lb_drop_board(board text) RETURNS void
	LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'lb_public';
COMMENT ON FUNCTION @extschema@.lb_drop_board(text) IS
'Drops a board and its rankings; the counter and its log stay. 25001 unless READ COMMITTED, 42704 for an unknown board.';

CREATE FUNCTION @extschema@.lb_drop_counter(counter text, force boolean DEFAULT false) RETURNS void
	LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'lb_public';
COMMENT ON FUNCTION @extschema@.lb_drop_counter(text, boolean) IS
'Drops a counter that no board and no event uses; 55006 otherwise. With force => true its boards are dropped, its id is retired and its log stays: the name is free again, submissions to the id are refused as "retired". 25001 unless READ COMMITTED, 42704 for an unknown counter.';

CREATE FUNCTION @extschema@.lb_counters(OUT counter_id bigint, OUT tenant text, OUT counter text,
		OUT version smallint, OUT type text, OUT operator text, OUT min_delta bigint, OUT max_delta bigint,
		OUT monotonic boolean, OUT lateness interval, OUT max_age interval, OUT max_skew interval,
		OUT idempotency interval, OUT tolerated_error double precision, OUT grain interval, OUT timezone text,
		OUT created_at timestamptz, OUT retired_at timestamptz) RETURNS SETOF record
	LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'lb_public';
COMMENT ON FUNCTION @extschema@.lb_counters() IS
'One row a counter of every tenant, with its id, the version in force and the whole definition; retired counters have retired_at.';

CREATE FUNCTION @extschema@.lb_boards(OUT board_id bigint, OUT tenant text, OUT board text, OUT counter_id bigint,
		OUT counter text, OUT period text, OUT direction text, OUT ties text, OUT ranks text, OUT head integer,
		OUT buckets integer, OUT ceiling bigint, OUT freshness interval, OUT keep_versions interval,
		OUT scoped boolean, OUT starts interval, OUT lateness interval, OUT timezone text, OUT created_at timestamptz) RETURNS SETOF record
	LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'lb_public';
COMMENT ON FUNCTION @extschema@.lb_boards() IS
'One row a board of every tenant, with its id, its counter and the whole definition.';
