/*
 * Thin glue to pg_cron, which lives in one database of a cluster and starts
 * jobs no more often than every minute before its version 1.5.  The job is
 * therefore a loop that lasts a minute and a second: pg_cron holds the next
 * start until it is over, so that rounds follow each other without a gap, and
 * its own history grows by one row a minute whatever the pace of the rounds.
 */
CREATE FUNCTION lb._cron_jobs() RETURNS TABLE (jobid bigint, jobname text, schedule text, command text, active boolean)
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	IF to_regclass('cron.job') IS NOT NULL THEN
		RETURN QUERY EXECUTE
			'SELECT j.jobid, j.jobname::text, j.schedule, j.command, j.active FROM cron.job j '
			'WHERE j.jobname IN (''leaderboard_refresh'', ''leaderboard_maintain'', ''leaderboard_history'') AND j.database = current_database()';
	END IF;
END
$$;

/*
 * What the job runs.  With arguments of the very types: were the schema one in
 * which others may create, a procedure of theirs that fits a bare call better
 * would run as us.
 */
CREATE FUNCTION lb._cron_command() RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	RETURN format('CALL %I.lb_refresh_loop(interval ''61 seconds'', interval ''250 milliseconds'')', '@extschema@');
END
$$;

CREATE FUNCTION lb._cron_maintenance() RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	RETURN format('CALL %I.lb_maintain(interval ''90 days'', interval ''13 months'', NULL::name, NULL::text[])', '@extschema@');
END
$$;

/* 55000 with what to do, unless pg_cron is here. */
CREATE FUNCTION lb._require_cron() RETURNS void
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	home text := current_setting('cron.database_name', true);
BEGIN
	IF to_regclass('cron.job') IS NOT NULL AND home = current_database() THEN
		RETURN;
	END IF;
	IF home IS NULL THEN
		RAISE EXCEPTION 'pg_cron is not loaded'
			USING ERRCODE = 'object_not_in_prerequisite_state',
				  HINT = format('Install pg_cron, set shared_preload_libraries = ''pg_cron'' and cron.database_name = %L, restart, and CREATE EXTENSION pg_cron here; or call lb_refresh_loop() from a scheduler of your own.',
								current_database());
	ELSIF home <> current_database() THEN
		RAISE EXCEPTION 'pg_cron lives in the database "%"', home
			USING ERRCODE = 'object_not_in_prerequisite_state',
				  HINT = format('Connect to "%s" and run: SELECT cron.schedule_in_database(%L, ''* * * * *'', %L, %L);',
								home, 'leaderboard_refresh in ' || current_database(),
								lb._cron_command(), current_database());
	END IF;
	RAISE EXCEPTION 'the extension pg_cron is not installed'
		USING ERRCODE = 'object_not_in_prerequisite_state',
			  HINT = 'Run CREATE EXTENSION pg_cron as a superuser.';
END
$$;

/* A day of the jobs' history stays. */
CREATE FUNCTION lb._purge_history() RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	DELETE FROM cron.job_run_details d
		USING lb._cron_jobs() j
		WHERE d.jobid = j.jobid AND d.end_time < clock_timestamp() - interval '1 day';
END
$$;

CREATE FUNCTION lb._schedule() RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	PERFORM lb._require_cron();
	PERFORM cron.schedule('leaderboard_refresh', '* * * * *', lb._cron_command());
	PERFORM cron.schedule('leaderboard_maintain', '19 3 * * *', lb._cron_maintenance());
	PERFORM cron.schedule('leaderboard_history', '7 * * * *', 'SELECT lb._purge_history()');
END
$$;

CREATE FUNCTION lb._unschedule() RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	job record;
BEGIN
	PERFORM lb._require_cron();
	FOR job IN SELECT j.jobid FROM lb._cron_jobs() j LOOP
		PERFORM cron.unschedule(job.jobid);
		DELETE FROM cron.job_run_details d WHERE d.jobid = job.jobid;
	END LOOP;
END
$$;

/* When nothing counts what a new board will show, say so. */
CREATE FUNCTION lb._notice_unscheduled() RETURNS trigger
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	IF NOT EXISTS (SELECT FROM lb._cron_jobs() j WHERE j.active AND j.jobname = 'leaderboard_refresh')
		AND NOT EXISTS (SELECT FROM lb.round r WHERE r.as_of > clock_timestamp() - interval '2 minutes') THEN
		RAISE NOTICE 'no refresh is scheduled'
			USING HINT = 'Run SELECT lb_schedule() to count with pg_cron, or call lb_refresh() yourself.';
	END IF;
	RETURN NULL;
END
$$;

CREATE TRIGGER notice_unscheduled AFTER INSERT ON lb.board
	FOR EACH STATEMENT EXECUTE FUNCTION lb._notice_unscheduled();

/* What a DBA looks at first. */
CREATE FUNCTION lb._health() RETURNS TABLE (check_name text, ok boolean, detail text, hint text)
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	now timestamptz := clock_timestamp();
	newest lb.round;
	since timestamptz;
	jobs bigint;
	days integer;
	overdue bigint;
	maintained timestamptz;
	poisoned bigint;
	waiting text;
	bare boolean;
BEGIN
	SELECT count(*) INTO jobs FROM lb._cron_jobs() j WHERE j.active AND j.jobname = 'leaderboard_refresh';
	RETURN QUERY SELECT 'pg_cron present', to_regclass('cron.job') IS NOT NULL,
		CASE WHEN to_regclass('cron.job') IS NOT NULL THEN 'pg_cron is installed in this database'
			 WHEN current_setting('cron.database_name', true) = current_database() THEN 'pg_cron is loaded, its extension is not created'
			 ELSE coalesce(format('pg_cron lives in database "%s"', current_setting('cron.database_name', true)),
						   'pg_cron is not loaded') END,
		CASE WHEN to_regclass('cron.job') IS NULL THEN 'Any scheduler that calls lb_refresh_loop() will do; lb_schedule() needs pg_cron here.' END;
	RETURN QUERY SELECT 'refresh scheduled', jobs > 0,
		CASE WHEN jobs > 0 THEN 'pg_cron runs lb_refresh_loop() every minute' ELSE 'no job of pg_cron counts in this database' END,
		CASE WHEN jobs = 0 THEN 'Run SELECT lb_schedule(), unless another scheduler calls lb_refresh_loop().' END;

	SELECT * INTO newest FROM lb.round r ORDER BY r.number DESC LIMIT 1;
	RETURN QUERY SELECT 'refresh running', coalesce(newest.as_of > now - interval '2 minutes', false),
		CASE WHEN newest.number IS NULL THEN 'no round has ever run'
			 ELSE format('round %s has as_of %s', newest.number, newest.as_of) END,
		CASE WHEN coalesce(newest.as_of > now - interval '2 minutes', false) THEN NULL
			 ELSE 'See cron.job_run_details for what became of the job, or call lb_refresh().' END;
	RETURN QUERY SELECT 'lag', coalesce(newest.as_of > now - interval '10 seconds', false),
		CASE WHEN newest.number IS NULL THEN 'nothing is counted yet'
			 ELSE format('answers are %s old', date_trunc('milliseconds', now - newest.as_of)) END,
		CASE WHEN newest.as_of > now - interval '10 seconds' THEN NULL
			 ELSE 'The refresh is not running, or is working off a backlog.' END;

	SELECT min(a.xact_start) INTO since FROM pg_stat_activity a
		WHERE a.backend_xmin IS NOT NULL AND a.pid <> pg_backend_pid();
	SELECT least(since, min(p.prepared)) INTO since FROM pg_prepared_xacts p;
	RETURN QUERY SELECT 'oldest snapshot', coalesce(since > now - interval '10 minutes', true),
		CASE WHEN since IS NULL THEN 'no other transaction holds a snapshot'
			 ELSE format('the oldest transaction holds a snapshot since %s', since) END,
		CASE WHEN since <= now - interval '10 minutes'
			 THEN 'Dead rows cannot be removed while it is open; find it in pg_stat_activity or pg_prepared_xacts.' END;

	SELECT count(*) INTO days FROM lb._partitions() p WHERE p.opens > now;
	RETURN QUERY SELECT 'partitions ahead', days >= 2,
		format('the log has partitions for %s days to come', days),
		CASE WHEN days < 2 THEN 'lb_refresh_loop() makes them; until then the default partition takes the events, and none is lost.' END;

	SELECT count(*) INTO overdue FROM (
		SELECT FROM lb.version v
		JOIN lb.ranking r ON r.counter_id = v.counter_id AND r.ranking_id = v.ranking_id
		JOIN lb.board b ON b.board_id = r.board_id
		WHERE v.owes AND v.made_at < now - b.keep_versions - interval '15 minutes'
		LIMIT 1000) late;
	RETURN QUERY SELECT 'collection', overdue = 0,
		CASE WHEN overdue = 0 THEN 'old versions are collected in time'
			 ELSE format('%s%s old versions have been waiting to be collected for 15 minutes and more',
						 CASE WHEN overdue = 1000 THEN 'at least ' END, overdue) END,
		CASE WHEN overdue > 0 THEN 'lb_refresh_loop() and lb_maintain() collect them; lb_refresh() alone does not.' END;

	SELECT max(m.finished_at) INTO maintained FROM lb.maintenance m;
	/* no wonder, in the first days of a new installation */
	RETURN QUERY SELECT 'maintenance', coalesce(maintained > now - interval '2 days',
			NOT EXISTS (SELECT FROM lb.round r WHERE r.as_of < now - interval '2 days')),
		CASE WHEN maintained IS NULL THEN 'lb_maintain() has never run to its end'
			 ELSE format('lb_maintain() last ran to its end at %s', maintained) END,
		CASE WHEN coalesce(maintained > now - interval '2 days', false) THEN NULL
			 ELSE 'lb_schedule() runs it every night; without pg_cron, CALL lb_maintain() once a day.' END;

	SELECT count(*) INTO poisoned FROM lb.poison;
	RETURN QUERY SELECT 'poisoned members', poisoned = 0,
		format('%s members are off a ranking because their sum left bigint', poisoned),
		CASE WHEN poisoned > 0 THEN 'lb.poison lists them.' END;

	SELECT string_agg(o.origin::text, ', ') INTO waiting FROM lb.origin o
		WHERE NOT EXISTS (SELECT FROM lb.adopted a WHERE a.origin = o.origin)
		AND NOT EXISTS (SELECT FROM lb.home h, pg_control_system() c
						WHERE h.origin = o.origin AND h.system_identifier = c.system_identifier);
	bare := lb._lacks_indexes();
	RETURN QUERY SELECT 'restored log', waiting IS NULL AND NOT bare,
		CASE WHEN bare THEN 'restoring: partitions of the log have not all of their indexes'
			 WHEN waiting IS NULL THEN 'every event of the log is known to this cluster'
			 ELSE format('restoring: events of origin %s are not counted here yet', waiting) END,
		CASE WHEN bare THEN 'Finish the restore, or make the indexes anew; until then nothing is counted.'
			 WHEN waiting IS NOT NULL THEN 'The next refresh counts them, once every partition has its indexes.' END;
END
$$;

CREATE VIEW lb.health AS SELECT h.check_name, h.ok, h.detail, h.hint FROM lb._health() h;
COMMENT ON VIEW lb.health IS
'One row a check: whether pg_cron is here, the refresh is scheduled and running, how old answers are, whether an old snapshot keeps dead rows, how far partitions are made ahead, whether old versions are collected and lb_maintain() runs, who is poisoned, and whether a restored log is counted. hint says what to do where ok is false. A monitoring role needs USAGE on the schema lb, SELECT on this view and EXECUTE on lb._health().';

CREATE FUNCTION @extschema@.lb_schedule() RETURNS void
	LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'lb_public';
COMMENT ON FUNCTION @extschema@.lb_schedule() IS
'Makes the pg_cron jobs that keep the boards fresh: lb_refresh_loop() every minute, lb_maintain() every night at 03:19 (of pg_cron''s clock), and a purge of these jobs'' own history. Calling it again changes nothing. 55000 with a hint if pg_cron is missing or lives in another database.';

CREATE FUNCTION @extschema@.lb_unschedule() RETURNS void
	LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'lb_public';
COMMENT ON FUNCTION @extschema@.lb_unschedule() IS
'Removes the jobs of lb_schedule() and their history; a loop under way ends within a minute. 55000 with a hint if pg_cron is missing or lives in another database.';
