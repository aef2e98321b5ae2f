/*
 * What is to be done once a day, in steps that maintain.c commits one by one.
 * A step that finds somebody in its way lets it be: the next call goes on.
 */
CREATE TABLE lb.maintenance (
	started_at timestamptz PRIMARY KEY,
	finished_at timestamptz NOT NULL,
	collected bigint NOT NULL,
	expired bigint NOT NULL,
	archived text[] NOT NULL,
	dropped text[] NOT NULL,
	left_over text[] NOT NULL
);
COMMENT ON TABLE lb.maintenance IS
'One row a finished call of lb_maintain(), of which a hundred stay: rankings collected, rows of expired buckets deleted, partitions moved and dropped, and those that somebody was in the way of. Not dumped.';

/* Check the arguments as a whole, before anything is done. */
CREATE FUNCTION lb._check_maintain(hot interval, archive interval, archive_tablespace name, drop_partitions text[])
	RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	argument text;
	span interval;
	dropping text;
	reason text;
BEGIN
	FOR argument, span IN VALUES ('hot', hot), ('archive', archive) LOOP
		IF span IS NULL OR span < interval '1 day' OR span > interval '1000 years' THEN
			RAISE EXCEPTION 'argument "%" is an invalid span of time', argument
				USING ERRCODE = 'invalid_parameter_value',
					  HINT = 'Give a day or more, for example ''90 days''.';
		END IF;
	END LOOP;
	IF archive_tablespace = 'pg_global' THEN
		RAISE EXCEPTION 'no partition can lie in the tablespace "%"', archive_tablespace
			USING ERRCODE = 'invalid_parameter_value', HINT = 'Make one with CREATE TABLESPACE.';
	END IF;
	IF NOT EXISTS (SELECT FROM pg_tablespace t WHERE t.spcname = archive_tablespace) AND archive_tablespace IS NOT NULL THEN
		RAISE EXCEPTION 'tablespace "%" does not exist', archive_tablespace
			USING ERRCODE = 'undefined_object', HINT = 'Make it with CREATE TABLESPACE; pg_tablespace lists them.';
	END IF;
	IF EXISTS (SELECT FROM unnest(drop_partitions) AS d WHERE d IS NULL) THEN
		RAISE EXCEPTION 'argument "drop_partitions" has a null element'
			USING ERRCODE = 'invalid_parameter_value', HINT = 'Leave it out.';
	END IF;
	FOREACH dropping IN ARRAY coalesce(drop_partitions, '{}') LOOP
		reason := lb._why_kept(dropping, archive);
		IF reason IS NOT NULL THEN
			RAISE EXCEPTION 'partition "%" cannot be dropped', dropping
				USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = reason,
					  HINT = 'It can be moved to another tablespace instead; nothing was dropped.';
		END IF;
	END LOOP;
END
$$;

/* The partition of that name; one that lb_maintain() dropped before is NULL, an unknown one 42704. */
CREATE FUNCTION lb._named_partition(partition text, OUT relid regclass, OUT opens timestamptz, OUT closes timestamptz)
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	bare text := regexp_replace(partition, '^lb\.', '');
BEGIN
	SELECT p.partition, p.opens, p.closes INTO relid, opens, closes
		FROM lb._partitions() p JOIN pg_class c ON c.oid = p.partition WHERE c.relname = bare;
	IF relid IS NULL AND NOT EXISTS (SELECT FROM lb.dropped d WHERE d.partition = bare) THEN
		RAISE EXCEPTION 'the log has no partition "%"', partition
			USING ERRCODE = 'undefined_object', HINT = 'lb.log_partition lists them.';
	END IF;
END
$$;

/* Whatever came in before is counted, and no round looks for more there. */
CREATE FUNCTION lb._counted_before() RETURNS timestamptz
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	counted timestamptz;
BEGIN
	IF lb._lacks_indexes() OR EXISTS (
		SELECT FROM lb.origin o
		WHERE NOT EXISTS (SELECT FROM lb.adopted a WHERE a.origin = o.origin)
		AND NOT EXISTS (SELECT FROM lb.home h, pg_control_system() c
						WHERE h.origin = o.origin AND h.system_identifier = c.system_identifier)) THEN
		RETURN '-infinity';	/* a restore, whose log will be counted as a whole */
	END IF;
	/* rounds look a day back, for clocks that were set back (news.c) */
	SELECT r.floor - interval '1 day' INTO counted FROM lb.round r WHERE isfinite(r.floor) ORDER BY r.number DESC LIMIT 1;
	RETURN coalesce(counted, '-infinity');
END
$$;

/* What a partition holds, counter by counter, as lb.dropped will say it. */
CREATE FUNCTION lb._contents(partition regclass, opens timestamptz, closes timestamptz) RETURNS SETOF lb.dropped
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	RETURN QUERY EXECUTE format(
		'SELECT coalesce(e.counter_id, 0), %L::text, $1, $2, count(e.counter_id), coalesce(min(e.event_time), $1), '
		'coalesce(max(e.event_time), $1), clock_timestamp(), session_user::text '
		'FROM (SELECT 1) one LEFT JOIN %s e ON true GROUP BY e.counter_id ORDER BY 1',
		(SELECT c.relname FROM pg_class c WHERE c.oid = partition), partition)
		USING opens, closes;
END
$$;

/*
 * Why does a live projection need what one counter has in a partition?  NULL if
 * none does.  A board needs the events of every window that can still change,
 * or that has no end: they are what it would be built from anew.
 */
CREATE FUNCTION lb._needed_by(held lb.dropped, floor timestamptz) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	c record;
	b record;
	ends timestamptz;
BEGIN
	SELECT d.* INTO c FROM lb._counters() d WHERE d.counter_id = held.counter_id AND d.retired_at IS NULL;
	IF NOT FOUND THEN
		RETURN NULL;
	END IF;
	IF held.closes > floor - greatest(c.idempotency, c.max_age + c.max_skew) THEN
		RETURN format('Counter "%s" recognises retries of its events for %s.', c.counter, greatest(c.idempotency, c.max_age + c.max_skew));
	END IF;
	FOR b IN SELECT * FROM lb.board d WHERE d.counter_id = held.counter_id ORDER BY d.board LOOP
		IF b.period = 'all' THEN
			RETURN format('Board "%s" counts the events of all time.', b.board);
		ELSIF b.period LIKE 'last %' THEN
			/* one unit more than it covers, and a day for the zone */
			ends := held.last_event + substr(b.period, 6)::interval + interval '2 days';
		ELSE
			ends := (lb._window(b.period, held.last_event, c.timezone, b.starts)).closes + coalesce(b.lateness, c.lateness);
		END IF;
		IF ends >= floor THEN
			RETURN format('Board "%s" counts its events in a window that is not settled.', b.board);
		END IF;
	END LOOP;
	RETURN NULL;
END
$$;

/* Why must the partition of that name stay?  NULL if it need not, or is gone. */
CREATE FUNCTION lb._why_kept(partition text, archive interval) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	p record;
	held lb.dropped;
	counted timestamptz := lb._counted_before();
	reason text;
BEGIN
	SELECT * INTO p FROM lb._named_partition(partition);
	IF p.relid IS NULL THEN
		RETURN NULL;
	ELSIF p.closes > clock_timestamp() - archive THEN
		RETURN format('It is younger than "archive", %s.', archive);
	ELSIF p.closes > counted THEN
		RETURN 'Its events may not all be counted yet.';
	END IF;
	FOR held IN SELECT * FROM lb._contents(p.relid, p.opens, p.closes) LOOP
		reason := lb._needed_by(held, counted);
		EXIT WHEN reason IS NOT NULL;
	END LOOP;
	RETURN reason;
END
$$;

/*
 * Drop a partition: dropped, gone (before this call), or busy.  What it holds
 * is read before anybody is made to wait; that no board needs it is decided
 * while rounds and makers of boards do.
 */
CREATE FUNCTION lb._drop_partition(partition text, archive interval) RETURNS text
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	SET lock_timeout = '100ms'
	AS $$
DECLARE
	p record;
	held lb.dropped[];
	one lb.dropped;
	reason text;
BEGIN
	SELECT * INTO p FROM lb._named_partition(partition);
	IF p.relid IS NULL THEN
		RETURN 'gone';
	END IF;
	SELECT array_agg(h) INTO held FROM lb._contents(p.relid, p.opens, p.closes) h;
	BEGIN
		PERFORM lb._lock_rounds('maintenance');
		FOREACH one IN ARRAY held LOOP
			reason := lb._needed_by(one, lb._counted_before());
			IF p.closes > clock_timestamp() - archive OR reason IS NOT NULL THEN
				RAISE EXCEPTION 'partition "%" cannot be dropped', partition
					USING ERRCODE = 'object_not_in_prerequisite_state',
						  DETAIL = coalesce(reason, 'It is too young.'),
						  HINT = 'It can be moved to another tablespace instead.';
			END IF;
		END LOOP;
		INSERT INTO lb.dropped SELECT * FROM unnest(held);
		EXECUTE format('DROP TABLE %s', p.relid);
	EXCEPTION WHEN lock_not_available THEN
		RETURN 'busy';
	END;
	RETURN 'dropped';
END
$$;

/*
 * While the default partition holds rows, attaching another reads it, to see
 * that none of them belongs there.  A constraint spares it that, made and
 * checked beforehand, in two transactions that keep nobody waiting.
 */
CREATE FUNCTION lb._guard_default(opens timestamptz, closes timestamptz, validate boolean) RETURNS boolean
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	SET timezone = 'UTC'
	SET lock_timeout = '100ms'
	AS $$
DECLARE
	guard text := 'elsewhere_' || to_char(opens, 'YYYYMMDD');
BEGIN
	IF NOT EXISTS (SELECT FROM lb.event_default) THEN
		RETURN true;
	ELSIF validate THEN
		EXECUTE format('ALTER TABLE lb.event_default VALIDATE CONSTRAINT %I', guard);
	ELSIF NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conrelid = 'lb.event_default'::regclass AND c.conname = guard) THEN
		EXECUTE format('ALTER TABLE lb.event_default ADD CONSTRAINT %I CHECK (ingest_time < %L OR ingest_time >= %L) NOT VALID',
					   guard, opens, closes);
	END IF;
	RETURN true;
EXCEPTION WHEN lock_not_available THEN
	RETURN false;
END
$$;

/* The next partition that is to be moved: the oldest, after the one given. */
CREATE FUNCTION lb._next_to_archive(hot interval, archive_tablespace name, beyond timestamptz,
		OUT partition text, OUT opens timestamptz, OUT closes timestamptz)
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	SELECT l.partition, l.opens, l.closes INTO partition, opens, closes
		FROM lb.log_partition l
		WHERE l.closes <= clock_timestamp() - hot AND l.closes <= lb._counted_before()
		AND l.tablespace <> archive_tablespace AND l.opens > beyond
		ORDER BY l.opens LIMIT 1;
END
$$;

/* Put the copy into the place of the partition: an instant, for which everybody waits. */
CREATE FUNCTION lb._swap_partition(partition text, copy text, opens timestamptz, closes timestamptz) RETURNS boolean
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	SET timezone = 'UTC'
	SET lock_timeout = '100ms'
	AS $$
DECLARE
	part text;
BEGIN
	/* a round that has its snapshot would not see the copied rows */
	PERFORM lb._lock_rounds('maintenance');
	LOCK TABLE ONLY lb.event IN ACCESS EXCLUSIVE MODE;
	EXECUTE format('ALTER TABLE lb.event DETACH PARTITION lb.%I', partition);
	EXECUTE format('ALTER TABLE lb.event ATTACH PARTITION lb.%I FOR VALUES FROM (%L) TO (%L)', copy, opens, closes);
	EXECUTE format('DROP TABLE lb.%I', partition);
	EXECUTE format('ALTER TABLE lb.%I DROP CONSTRAINT moving', copy);
	EXECUTE format('ALTER TABLE lb.%I RENAME TO %I', copy, partition);
	FOREACH part IN ARRAY ARRAY['_key', '_xid', '_member'] LOOP
		EXECUTE format('ALTER INDEX lb.%I RENAME TO %I', copy || part, partition || part);
	END LOOP;
	EXECUTE format('ALTER TABLE lb.event_default DROP CONSTRAINT IF EXISTS %I', 'elsewhere_' || to_char(opens, 'YYYYMMDD'));
	RETURN true;
EXCEPTION WHEN lock_not_available THEN
	RETURN false;
END
$$;

/*
 * Move a partition to another tablespace.  ALTER TABLE … SET TABLESPACE would
 * lock it for as long as the copying takes, and submissions look into it for
 * their keys; so it is copied beside, and the copy takes its place.  What is
 * copied gets no row any more: its days are over, and whoever could still add
 * one holds a lock that this one waits for.
 */
CREATE FUNCTION lb._archive_partition(partition text, opens timestamptz, closes timestamptz, archive_tablespace name)
	RETURNS boolean
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	SET client_min_messages = 'warning'
	SET timezone = 'UTC'
	SET lock_timeout = '100ms'
	AS $$
DECLARE
	copy text := partition || '_copy';
BEGIN
	EXECUTE format('LOCK TABLE lb.%I IN SHARE MODE', partition);
	PERFORM lb._create_partition(copy, archive_tablespace);
	EXECUTE format('ALTER TABLE lb.%I ADD CONSTRAINT moving CHECK (ingest_time >= %L AND ingest_time < %L)', copy, opens, closes);
	EXECUTE format('INSERT INTO lb.%I SELECT * FROM lb.%I', copy, partition);
	PERFORM lb._index_partition(copy, archive_tablespace);
	FOR attempt IN 1 .. 50 LOOP
		IF lb._swap_partition(partition, copy, opens, closes) THEN
			RETURN true;
		END IF;
		PERFORM pg_sleep(0.2);
	END LOOP;
	EXECUTE format('DROP TABLE lb.%I', copy);
	RETURN false;
EXCEPTION WHEN lock_not_available THEN
	RETURN false;
END
$$;

/* A second's worth of what the loop collects too; who is first does it. */
CREATE FUNCTION lb._maintain_versions(OUT collected bigint, OUT more boolean)
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	SET lock_timeout = '200ms'
	AS $$
BEGIN
	SELECT * INTO collected, more FROM lb._collect_some('1 second');
	IF NOT more THEN
		PERFORM lb._thin_rounds();
	END IF;
EXCEPTION WHEN lock_not_available THEN
	collected := 0;
	more := false;
END
$$;

/*
 * The instant before which nobody needs what a counter's members had by its
 * grain, at the beginning of a local day: 400 days ago, or earlier where a
 * window that does not consist of whole days is not settled yet.
 */
CREATE FUNCTION lb._grain_needed_from(counter_id bigint, now timestamptz) RETURNS timestamptz
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	c record;
	needed timestamptz := now - interval '400 days';
	b record;
BEGIN
	SELECT t.timezone, v.lateness INTO c
		FROM lb.counter d JOIN lb.tenant t ON t.tenant_id = d.tenant_id
		JOIN lb.counter_version v ON v.counter_id = d.counter_id AND v.version = d.version
		WHERE d.counter_id = _grain_needed_from.counter_id;
	IF NOT FOUND THEN
		RETURN '-infinity';
	END IF;
	FOR b IN SELECT * FROM lb.board d WHERE d.counter_id = _grain_needed_from.counter_id
		AND d.period IN ('hour', 'day', 'week', 'month', 'year')
		AND (d.period = 'hour' OR extract(epoch FROM d.starts)::bigint % 86400 <> 0) LOOP
		needed := least(needed, (lb._window(b.period, now - coalesce(b.lateness, c.lateness), c.timezone, b.starts)).opens);
	END LOOP;
	RETURN (lb._window('day', needed, c.timezone)).opens;
END
$$;

/*
 * Delete a piece of the buckets of span g that nobody needs.  First it is said
 * that they are gone; a round may not meet a row that goes.  NULL if somebody
 * is in the way.
 */
CREATE FUNCTION lb._expire_buckets(now timestamptz DEFAULT clock_timestamp(), OUT expired bigint, OUT more boolean)
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	SET lock_timeout = '200ms'
	AS $$
DECLARE
	piece CONSTANT integer := 5000;
	id bigint;
	until timestamptz;
BEGIN
	expired := 0;
	more := false;
	FOR id IN SELECT c.counter_id FROM lb.counter c ORDER BY 1 LOOP
		until := lb._grain_needed_from(id, now);
		CONTINUE WHEN NOT EXISTS (SELECT FROM lb.bucket b WHERE b.counter_id = id AND b.span = 'g' AND b.opens < until);
		PERFORM lb._lock_rounds('maintenance');
		/* a board may have come in before the lock */
		until := lb._grain_needed_from(id, now);
		INSERT INTO lb.counter_horizon AS h VALUES (id, until)
			ON CONFLICT (counter_id) DO UPDATE SET horizon = excluded.horizon WHERE h.horizon < excluded.horizon;
		DELETE FROM lb.bucket b WHERE b.ctid = ANY (ARRAY(
			SELECT o.ctid FROM lb.bucket o WHERE o.counter_id = id AND o.span = 'g' AND o.opens < until LIMIT piece));
		GET DIAGNOSTICS expired = ROW_COUNT;
		more := expired > 0;
		RETURN;
	END LOOP;
EXCEPTION WHEN lock_not_available THEN
	expired := NULL;
	more := true;
END
$$;

CREATE FUNCTION lb._finish_maintenance(started_at timestamptz, collected bigint, expired bigint, archived text[],
		dropped text[], left_over text[]) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	INSERT INTO lb.maintenance
		VALUES (started_at, clock_timestamp(), collected, expired, archived, dropped, left_over);
	DELETE FROM lb.maintenance m WHERE m.started_at <
		(SELECT n.started_at FROM lb.maintenance n ORDER BY n.started_at DESC OFFSET 99 LIMIT 1);
END
$$;

CREATE PROCEDURE @extschema@.lb_maintain(hot interval DEFAULT '90 days', archive interval DEFAULT '13 months',
		archive_tablespace name DEFAULT NULL, drop_partitions text[] DEFAULT NULL)
	LANGUAGE c AS 'MODULE_PATHNAME', 'lb_maintain';
COMMENT ON PROCEDURE @extschema@.lb_maintain(interval, interval, name, text[]) IS
'What is to be done once a day; lb_schedule() does. Makes log partitions ahead, collects versions that nobody may ask for any more, thins old rounds, and deletes what members had by the counter''s grain more than 400 days ago and no window that can still change needs (their days stay). With archive_tablespace, moves log partitions older than "hot" there. With drop_partitions, drops the partitions named (see lb.log_partition), if they are older than "archive" and no board needs their events: 55000 says which does; one that was dropped before is passed over. Each step commits by itself; a call that was cut off, or found somebody in its way (a WARNING says so), is simply repeated. Submissions wait for an instant at most, reads of the log too. Does nothing on a standby, and while another call is under way. 25001 inside a transaction or unless READ COMMITTED, 22023 for a span under a day, 42704 for an unknown tablespace or partition. NULL is the default.';
