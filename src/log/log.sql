/*
 * The log: the only system of record.  The parent carries no index and no
 * constraint, and no partition belongs to the extension: pg_dump then dumps
 * and restores every partition with its rows, indexes and triggers (README.md
 * in this folder).
 */
CREATE SEQUENCE lb.event_id_seq;

CREATE TABLE lb.event (
	counter_id bigint NOT NULL,
	event_id bigint NOT NULL,
	delta bigint NOT NULL,
	event_time timestamptz NOT NULL,
	ingest_time timestamptz NOT NULL,
	xid xid8 NOT NULL,
	origin integer NOT NULL,
	version smallint NOT NULL,
	kind "char" NOT NULL,
	member text COLLATE "C" NOT NULL,
	key text COLLATE "C",
	actor text COLLATE "C",
	source text COLLATE "C"
) PARTITION BY RANGE (ingest_time);
COMMENT ON TABLE lb.event IS
'The append-only log, partitioned by the day of ingest_time (UTC). kind: e = submitted as it happened, h = backfilled history. xid and origin: the transaction and the cluster that admitted the event; see lb.origin.';

CREATE TABLE lb.origin (
	origin integer PRIMARY KEY,
	system_identifier bigint NOT NULL,
	since timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
	rounds bigint NOT NULL DEFAULT 0
);
COMMENT ON TABLE lb.origin IS
'The clusters whose transaction numbers stand in lb.event.xid: numbers of different clusters cannot be compared. After a restore elsewhere the new cluster adds its own row, and counts the events of the others once, as a whole. rounds: no round there has a larger number, so that versions go on from it.';

CREATE TABLE lb.home (
	system_identifier bigint PRIMARY KEY,
	origin integer NOT NULL
);
COMMENT ON TABLE lb.home IS
'The origin of this database in each cluster that it was in as files; not dumped, so that a restore begins a new one, in the same cluster too.';

/* Exact: what the log no longer holds can be learnt from nowhere else. */
CREATE TABLE lb.dropped (
	counter_id bigint NOT NULL,
	partition text NOT NULL,
	opens timestamptz NOT NULL,
	closes timestamptz NOT NULL,
	events bigint NOT NULL,
	first_event timestamptz NOT NULL,
	last_event timestamptz NOT NULL,
	dropped_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
	dropped_by text NOT NULL,
	PRIMARY KEY (counter_id, opens)
);
COMMENT ON TABLE lb.dropped IS
'What lb_maintain() dropped from the log: one row a partition and counter with the number of events and the first and last event_time. Counter 0 stands for a partition that held nothing.';

SELECT pg_catalog.pg_extension_config_dump('lb.event_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('lb.dropped', '');
SELECT pg_catalog.pg_extension_config_dump('lb.origin', '');

/* Append-only: on the parent, and on every partition, which the parent's trigger does not cover. */
CREATE FUNCTION lb._refuse_change() RETURNS trigger
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	RAISE EXCEPTION '% of the event log is refused: it is append-only', TG_OP
		USING ERRCODE = 'object_not_in_prerequisite_state',
			  HINT = 'What was wrong is corrected by a further event.';
END
$$;

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON lb.event
	FOR EACH STATEMENT EXECUTE FUNCTION lb._refuse_change();

/*
 * A partition's table, in the tablespace given, else in that of the database:
 * not in the default of whoever happens to make the first counter, or to call
 * the loop.
 */
CREATE FUNCTION lb._create_partition(partition text, tablespace text DEFAULT '') RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	SET default_tablespace = ''
	SET default_table_access_method = 'heap'
	AS $$
BEGIN
	PERFORM set_config('default_tablespace', tablespace, true);
	EXECUTE format('CREATE TABLE lb.%I (LIKE lb.event INCLUDING DEFAULTS)', partition);
END
$$;

/* The one place that makes a partition's indexes and guard; they lie where the table does. */
CREATE FUNCTION lb._index_partition(partition text, tablespace text DEFAULT '') RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	SET default_tablespace = ''
	AS $$
BEGIN
	PERFORM set_config('default_tablespace', tablespace, true);
	EXECUTE format('CREATE UNIQUE INDEX %I ON lb.%I (counter_id, key)', partition || '_key', partition);
	EXECUTE format('CREATE INDEX %I ON lb.%I (xid)', partition || '_xid', partition);
	EXECUTE format('CREATE INDEX %I ON lb.%I (counter_id, member, xid)', partition || '_member', partition);
	EXECUTE format('CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON lb.%I '
				   'FOR EACH STATEMENT EXECUTE FUNCTION lb._refuse_change()', partition);
END
$$;

CREATE FUNCTION lb._prepare_partition(partition text) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	PERFORM lb._create_partition(partition);
	PERFORM lb._index_partition(partition);
END
$$;

/* The partitions with bounds, in order of time. */
CREATE FUNCTION lb._partitions() RETURNS TABLE (partition regclass, opens timestamptz, closes timestamptz)
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	SET timezone = 'UTC'
	AS $$
BEGIN
	RETURN QUERY
	SELECT c.oid::regclass, (m.bound)[1]::timestamptz, (m.bound)[2]::timestamptz
	FROM pg_inherits i
	JOIN pg_class c ON c.oid = i.inhrelid,
	LATERAL regexp_match(pg_get_expr(c.relpartbound, c.oid), 'FROM \(''(.*)''\) TO \(''(.*)''\)') AS m(bound)
	WHERE i.inhparent = 'lb.event'::regclass AND m.bound IS NOT NULL
	ORDER BY 2;
END
$$;

CREATE VIEW lb.log_partition AS
	SELECT c.relname AS partition, p.opens, p.closes, coalesce(t.spcname, d.spcname) AS tablespace,
		pg_catalog.pg_total_relation_size(c.oid) AS bytes
	FROM lb._partitions() p
	JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) p.partition
	LEFT JOIN pg_catalog.pg_tablespace t ON t.oid OPERATOR(pg_catalog.=) c.reltablespace
	JOIN pg_catalog.pg_database b ON b.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
	JOIN pg_catalog.pg_tablespace d ON d.oid OPERATOR(pg_catalog.=) b.dattablespace;
COMMENT ON VIEW lb.log_partition IS
'The partitions of the log by their names: which instants of admission each holds, where it lies, and its size with its indexes. lb_maintain() takes these names.';

/* Has some partition no key index?  So it is in the middle of a restore. */
CREATE FUNCTION lb._lacks_indexes() RETURNS boolean
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	RETURN EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = 'lb.event'::regclass
				   AND NOT EXISTS (SELECT FROM pg_index x
								   WHERE x.indrelid = i.inhrelid AND x.indisunique AND x.indisvalid));
END
$$;

/*
 * Make the daily partitions from first_day (UTC) up to last_day that are not
 * there.  No day that has begun: its events may already be in the default
 * partition, or on their way there.
 */
CREATE FUNCTION lb._make_partitions(first_day date, last_day date) RETURNS integer
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	SET timezone = 'UTC'
	AS $$
DECLARE
	missing date[];
	day date;
	elsewhere text;
BEGIN
	/* one maker at a time, and in the way of no submitter */
	LOCK TABLE lb.event IN SHARE UPDATE EXCLUSIVE MODE;
	SELECT array_agg(d::date ORDER BY d) INTO missing
		FROM generate_series(first_day, last_day, interval '1 day') AS d
		WHERE NOT EXISTS (SELECT FROM lb._partitions() p WHERE p.opens <= d AND d < p.closes);
	IF missing IS NULL THEN
		RETURN 0;
	END IF;
	/* a clock that was ahead for a while left events of a day to come; that day stays there */
	SELECT array_agg(d ORDER BY d) INTO missing
		FROM unnest(missing) AS d
		WHERE d NOT IN (SELECT e.ingest_time::date FROM lb.event_default e
						WHERE e.ingest_time >= first_day AND e.ingest_time < last_day + 1);
	IF missing IS NULL THEN
		RETURN 0;
	END IF;
	FOREACH day IN ARRAY missing LOOP
		PERFORM lb._prepare_partition('event_' || to_char(day, 'YYYYMMDD'));
	END LOOP;
	/*
	 * ATTACH locks the default partition, into which submitters look for
	 * their key, so it comes last.  It would read that partition once for
	 * each day, to see that it holds no row of that day; one constraint
	 * spares it that.
	 */
	LOCK TABLE lb.event_default IN ACCESS EXCLUSIVE MODE;
	SELECT string_agg(format('(ingest_time < %L OR ingest_time >= %L)', d::timestamptz, (d + 1)::timestamptz), ' AND ')
		INTO elsewhere FROM unnest(missing) AS d;
	EXECUTE format('ALTER TABLE lb.event_default ADD CONSTRAINT elsewhere CHECK (%s)', elsewhere);
	FOREACH day IN ARRAY missing LOOP
		EXECUTE format('ALTER TABLE lb.event ATTACH PARTITION lb.%I FOR VALUES FROM (%L) TO (%L)',
					   'event_' || to_char(day, 'YYYYMMDD'), day::timestamptz, (day + 1)::timestamptz);
	END LOOP;
	ALTER TABLE lb.event_default DROP CONSTRAINT elsewhere;
	RETURN array_length(missing, 1);
END
$$;

/* With the first counter the log gets its default partition and its first days. */
CREATE FUNCTION lb._open_log() RETURNS trigger
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	SET timezone = 'UTC'
	AS $$
BEGIN
	IF EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = 'lb.event'::regclass) THEN
		RETURN NULL;
	END IF;
	LOCK TABLE lb.event IN SHARE UPDATE EXCLUSIVE MODE;
	IF EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = 'lb.event'::regclass) THEN
		RETURN NULL;
	END IF;
	PERFORM lb._prepare_partition('event_default');
	ALTER TABLE lb.event ATTACH PARTITION lb.event_default DEFAULT;
	PERFORM lb._make_partitions(current_date, current_date + 7);
	RETURN NULL;
END
$$;

CREATE TRIGGER open_log AFTER INSERT ON lb.counter
	FOR EACH STATEMENT EXECUTE FUNCTION lb._open_log();

/* What the log asks of definitions: events keep their counter and their tenant's zone. */
CREATE FUNCTION lb._has_events(counter_id bigint) RETURNS boolean
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	RETURN EXISTS (SELECT FROM lb.event e WHERE e.counter_id = _has_events.counter_id)
		OR EXISTS (SELECT FROM lb.dropped d WHERE d.counter_id = _has_events.counter_id);
END
$$;

CREATE FUNCTION lb._keep_counter() RETURNS trigger
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	IF lb._has_events(OLD.counter_id) THEN
		RAISE EXCEPTION 'counter "%" has events', OLD.counter
			USING ERRCODE = 'object_in_use',
				  HINT = 'The log is never deleted; pass force => true to retire the counter.';
	END IF;
	RETURN OLD;
END
$$;

CREATE TRIGGER keep_counter BEFORE DELETE ON lb.counter
	FOR EACH ROW EXECUTE FUNCTION lb._keep_counter();

CREATE FUNCTION lb._keep_timezone() RETURNS trigger
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	IF NEW.timezone <> OLD.timezone AND EXISTS (
		SELECT FROM lb.counter c WHERE c.tenant_id = OLD.tenant_id AND lb._has_events(c.counter_id)) THEN
		RAISE EXCEPTION 'the time zone of tenant "%" cannot change any more', OLD.tenant
			USING ERRCODE = 'feature_not_supported',
				  DETAIL = 'Its events are counted in windows of that zone.',
				  HINT = 'Make another tenant with the other zone.';
	END IF;
	RETURN NEW;
END
$$;

CREATE TRIGGER keep_timezone BEFORE UPDATE ON lb.tenant
	FOR EACH ROW EXECUTE FUNCTION lb._keep_timezone();

/* Admission with ids and the time as arguments. */
CREATE FUNCTION lb._submit_batch(counter_id bigint, members text[], deltas bigint[], keys text[],
		event_times timestamptz[], actors text[], sources text[], kind "char", now timestamptz,
		OUT ordinal integer, OUT status text, OUT reason text, OUT event_id bigint, OUT retry_after_ms integer)
	RETURNS SETOF record
	LANGUAGE c VOLATILE PARALLEL UNSAFE
	AS 'MODULE_PATHNAME', 'lb_submit_batch_at';

CREATE FUNCTION @extschema@.lb_submit(counter text, member text, delta bigint, key text DEFAULT NULL,
		event_time timestamptz DEFAULT NULL, actor text DEFAULT NULL, source text DEFAULT NULL,
		strict boolean DEFAULT false,
		OUT ordinal integer, OUT status text, OUT reason text, OUT event_id bigint, OUT retry_after_ms integer)
	LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'lb_submit';
COMMENT ON FUNCTION @extschema@.lb_submit(text, text, bigint, text, timestamptz, text, text, boolean) IS
'Appends one event. key names the effect: a retry with the same key counts once and answers "duplicate" with the event_id of the original; the same key with another member, delta or actor is rejected as key_reused. For max, min and last, delta is the score itself. event_time NULL is the moment of admission. Row: ordinal, status (accepted, duplicate, rejected), reason of a rejection, event_id, retry_after_ms. The status is final when the transaction commits. strict => true turns a rejection into an error 22023. 42704 for an unknown counter, 22023 for a NULL counter, member or delta, 25006 on a standby. Costs one row in three indexes, and a look into each earlier day in which the original could be.';

CREATE FUNCTION @extschema@.lb_submit_batch(counter text, members text[], deltas bigint[], keys text[] DEFAULT NULL,
		event_times timestamptz[] DEFAULT NULL, actors text[] DEFAULT NULL, sources text[] DEFAULT NULL,
		strict boolean DEFAULT false,
		OUT ordinal integer, OUT status text, OUT reason text, OUT event_id bigint, OUT retry_after_ms integer)
	RETURNS SETOF record
	LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 500 AS 'MODULE_PATHNAME', 'lb_submit_batch';
COMMENT ON FUNCTION @extschema@.lb_submit_batch(text, text[], bigint[], text[], timestamptz[], text[], text[], boolean) IS
'Appends up to 10,000 events of one counter; one status row an event, in the order given, as lb_submit(). One bad event never touches the others. 22023 for more events or a NULL counter, members or deltas; 2202E if the arrays differ in length; otherwise as lb_submit().';

CREATE FUNCTION @extschema@.lb_backfill(counter text, members text[], deltas bigint[], keys text[] DEFAULT NULL,
		event_times timestamptz[] DEFAULT NULL, actors text[] DEFAULT NULL, sources text[] DEFAULT NULL,
		strict boolean DEFAULT false,
		OUT ordinal integer, OUT status text, OUT reason text, OUT event_id bigint, OUT retry_after_ms integer)
	RETURNS SETOF record
	LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 500 AS 'MODULE_PATHNAME', 'lb_backfill';
COMMENT ON FUNCTION @extschema@.lb_backfill(text, text[], bigint[], text[], timestamptz[], text[], text[], boolean) IS
'lb_submit_batch() for history: event_time may be older than max_age, the events are never late, and a repeat is found in the whole retained log, at the cost of one look a partition and event. Rows and errors as lb_submit_batch().';

CREATE FUNCTION @extschema@.lb_submit_json(events jsonb, strict boolean DEFAULT false,
		OUT ordinal integer, OUT status text, OUT reason text, OUT event_id bigint, OUT retry_after_ms integer)
	RETURNS SETOF record
	LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 500 AS 'MODULE_PATHNAME', 'lb_submit_json';
COMMENT ON FUNCTION @extschema@.lb_submit_json(jsonb, boolean) IS
'Appends events given as a JSON array of {counter, member, delta, key, event_time, actor, source}, of one or several counters. delta: a whole number or a string of digits. event_time: ISO 8601 with its offset, such as 2026-12-01T09:30:00+01:00. An unknown field is rejected as bad_field, an unknown counter as counter_unknown. Rows as lb_submit_batch(). 22023 if it is no array or has more than 10,000 elements.';
