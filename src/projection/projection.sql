/*
 * The projections: derived from the log, never dumped, rebuilt by the code
 * that counts.  counter_id leads every key.
 */
CREATE SEQUENCE lb.round_number_seq;
SELECT pg_catalog.pg_extension_config_dump('lb.round_number_seq', '');

CREATE TABLE lb.round (
	number bigint PRIMARY KEY,
	snapshot pg_snapshot NOT NULL,
	as_of timestamptz NOT NULL,
	floor timestamptz NOT NULL,
	events bigint NOT NULL,
	rankings bigint NOT NULL,
	next xid8 NOT NULL,
	kinds text[],
	kind_events bigint[],
	kind_usecs bigint[]
);
CREATE INDEX round_as_of ON lb.round (as_of);
COMMENT ON TABLE lb.round IS
'One row a counting round, insert-only: the transactions it has counted, the clock before its snapshot, a lower bound of the ingest_time of everything not counted yet, how much it did, and the transaction number that was next at that clock reading. kinds, kind_events and kind_usecs: what the counters that had events are (the operator of an exact one, else its type), how many events each kind had, and how many microseconds they took; NULL in a round without any.';

CREATE TABLE lb.adopted (
	origin integer PRIMARY KEY
);
COMMENT ON TABLE lb.adopted IS
'The origins whose events are all counted; like every projection it is not dumped, so after a restore none is.';

CREATE TABLE lb.bucket (
	counter_id bigint NOT NULL,
	version smallint NOT NULL,
	span "char" NOT NULL,
	moved boolean NOT NULL,
	late integer NOT NULL,
	opens timestamptz NOT NULL,
	closes timestamptz NOT NULL,
	n bigint NOT NULL,
	value bigint,
	reached_at timestamptz NOT NULL,
	last_id bigint,
	member text COLLATE "C" NOT NULL,
	wide numeric,
	sketch bytea,
	PRIMARY KEY (counter_id, version, member, span, opens, late)
) WITH (fillfactor = 90);
ALTER TABLE lb.bucket ALTER COLUMN sketch SET STORAGE EXTERNAL;
CREATE INDEX bucket_time ON lb.bucket (counter_id, span, opens);
CREATE INDEX bucket_late ON lb.bucket (counter_id, span, opens) WHERE late OPERATOR(pg_catalog.<>) 0;
COMMENT ON TABLE lb.bucket IS
'What a member has in a stretch of the tenant''s local time, kept twice: by the counter''s grain (span g) and by the day (span d). late: the set of windows that had settled when the events came in (2 hour, 4 day, 8 week, 16 month, 32 year; from 256 on those of lb.late_class); a day''s rows know nothing of hours. value is NULL and wide holds it while it does not fit bigint. sketch: of a unique counter, the lb_hll of the actors, of which value is the count; of an approximate one, which has one row for all members, with the member '''', the lb_topk of what they have, of which value is the total; NULL for an exact one.';

CREATE TABLE lb.counter_horizon (
	counter_id bigint PRIMARY KEY,
	horizon timestamptz NOT NULL
);
COMMENT ON TABLE lb.counter_horizon IS
'The instant before which a counter''s buckets of span g are gone; what happened before it is known by the day.';

CREATE SEQUENCE lb.ranking_id_seq;

CREATE TABLE lb.ranking (
	counter_id bigint NOT NULL,
	ranking_id bigint NOT NULL,
	board_id bigint NOT NULL,
	scope text COLLATE "C" NOT NULL,
	opens timestamptz NOT NULL,
	closes timestamptz NOT NULL,
	PRIMARY KEY (counter_id, board_id, scope, opens),
	UNIQUE (counter_id, ranking_id)
);
COMMENT ON TABLE lb.ranking IS
'One row a ranking: a board, or one of its scopes, in one of its windows, opened when the first member came.';

CREATE TABLE lb.version (
	counter_id bigint NOT NULL,
	ranking_id bigint NOT NULL,
	version bigint NOT NULL,
	root bigint NOT NULL,
	next_page bigint NOT NULL,
	population bigint NOT NULL,
	owes boolean NOT NULL,
	made_at timestamptz NOT NULL,
	histogram @extschema@.lb_histogram,
	superseded bigint[],
	leaf bytea,
	total bigint,
	bound bigint,
	PRIMARY KEY (counter_id, ranking_id, version)
);
ALTER TABLE lb.version ALTER COLUMN leaf SET STORAGE PLAIN;
CREATE INDEX version_owes ON lb.version (made_at) WHERE owes;
COMMENT ON TABLE lb.version IS
'What a ranking is at a version, the number of the round that made it: the root of its tree, its population, the pages it superseded, and for a bounded board the histogram. owes: there is something to collect once nobody may ask for an earlier version. superseded is NULL once earlier versions are gone. leaf: the root itself, where that is the only page of a scope. total and bound, of an approximate counter: what all members have together, and what none that is not tracked has more than. Ranking 0 stands for the counter''s buckets.';

CREATE TABLE lb.standing (
	counter_id bigint NOT NULL,
	ranking_id bigint NOT NULL,
	value bigint,
	reached_at timestamptz NOT NULL,
	last_id bigint,
	moved boolean NOT NULL,
	member text COLLATE "C" NOT NULL,
	wide numeric,
	PRIMARY KEY (counter_id, ranking_id, member)
) WITH (fillfactor = 85);
CREATE INDEX standing_wide ON lb.standing (counter_id, ranking_id, member) WHERE wide IS NOT NULL;
COMMENT ON TABLE lb.standing IS
'A member''s value in a ranking at its newest version. value is NULL, and the member off the ranking, while the sum does not fit bigint and stands in wide. Of an approximate counter value is what is certain, and reached_at tells no time: as many microseconds before 2000 as the member may have more.';

CREATE TABLE lb.sketch (
	counter_id bigint NOT NULL,
	ranking_id bigint NOT NULL,
	member text COLLATE "C" NOT NULL,
	sketch bytea NOT NULL,
	PRIMARY KEY (counter_id, ranking_id, member)
) WITH (fillfactor = 85);
ALTER TABLE lb.sketch ALTER COLUMN sketch SET STORAGE EXTERNAL;
COMMENT ON TABLE lb.sketch IS
'What the standings of counters that are not exact are merged in, at the newest version of a ranking: of a unique counter, the lb_hll of a member''s actors, of which lb.standing has the count; of an approximate one, with the member '''', the lb_topk of all, whose tracked members are those of lb.standing.';

CREATE TABLE lb.moved (
	counter_id bigint NOT NULL,
	ranking_id bigint NOT NULL,
	version bigint NOT NULL,
	value bigint,
	reached_at timestamptz,
	member text COLLATE "C" NOT NULL,
	PRIMARY KEY (counter_id, ranking_id, member, version)
);
COMMENT ON TABLE lb.moved IS
'What a member had in a ranking before the version that moved it; NULL if it was not on the board. With lb.standing it tells every member''s value at every version kept.';

/* A window, for tests and for the inner functions in SQL. */
CREATE FUNCTION lb._window(period text, at timestamptz, timezone text, starts interval DEFAULT '0',
		grain interval DEFAULT '1 hour', OUT opens timestamptz, OUT closes timestamptz)
	LANGUAGE c STABLE STRICT PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'lb_window_sql';

/*
 * Late events by the calendar's windows and the counter's lateness.  Hours are
 * known by the grain, everything longer by the day.
 */
CREATE VIEW lb.late AS
	SELECT t.tenant, c.counter, w.period, w.opens, w.closes, s.late, s.events,
		s.late::double precision OPERATOR(pg_catalog./) s.events::double precision AS ratio
	FROM (SELECT DISTINCT b.counter_id, b.version, p.period, p.bit, b.span, k.opens, k.closes
		  FROM lb.bucket b
		  JOIN (VALUES ('hour', 2, 'g'::"char"), ('day', 4, 'd'), ('week', 8, 'd'), ('month', 16, 'd'), ('year', 32, 'd'))
			AS p(period, bit, span)
			ON p.span OPERATOR(pg_catalog.=) b.span AND (b.late OPERATOR(pg_catalog.&) p.bit) OPERATOR(pg_catalog.<>) 0
		  JOIN lb.counter o ON o.counter_id OPERATOR(pg_catalog.=) b.counter_id
		  JOIN lb.tenant z ON z.tenant_id OPERATOR(pg_catalog.=) o.tenant_id,
		  LATERAL lb._window(p.period, b.opens, z.timezone) k
		  WHERE b.late OPERATOR(pg_catalog.<>) 0) w
	JOIN lb.counter c ON c.counter_id OPERATOR(pg_catalog.=) w.counter_id
	JOIN lb.tenant t ON t.tenant_id OPERATOR(pg_catalog.=) c.tenant_id,
	LATERAL (SELECT pg_catalog.sum(b.n)::bigint AS events,
				pg_catalog.sum(b.n) FILTER (WHERE (b.late OPERATOR(pg_catalog.&) w.bit) OPERATOR(pg_catalog.<>) 0)::bigint AS late
			 FROM lb.bucket b
			 WHERE b.counter_id OPERATOR(pg_catalog.=) w.counter_id AND b.version OPERATOR(pg_catalog.=) w.version
			 AND b.span OPERATOR(pg_catalog.=) w.span
			 AND b.opens OPERATOR(pg_catalog.>=) w.opens AND b.opens OPERATOR(pg_catalog.<) w.closes) s;
COMMENT ON VIEW lb.late IS
'Windows of the calendar that events came too late for, by the counter''s lateness: late, the events that do not count there, of events in all, and their ratio. A window is here only if it has late events.';

CREATE VIEW lb.poison AS
	SELECT t.tenant, b.board, b.board_id, s.counter_id, r.scope, r.opens, r.closes, s.member, s.wide AS value
	FROM lb.standing s
	JOIN lb.ranking r ON r.counter_id OPERATOR(pg_catalog.=) s.counter_id
		AND r.ranking_id OPERATOR(pg_catalog.=) s.ranking_id
	JOIN lb.board b ON b.board_id OPERATOR(pg_catalog.=) r.board_id
	JOIN lb.tenant t ON t.tenant_id OPERATOR(pg_catalog.=) b.tenant_id
	WHERE s.wide IS NOT NULL;
COMMENT ON VIEW lb.poison IS
'Members taken off a ranking because their sum left bigint, with the sum; they return when it fits again. lb_value() raises 22003 for them.';

/* What boards and counters leave behind when they go, and what a new board finds. */
CREATE FUNCTION lb._lock_rounds(what text) RETURNS void
	LANGUAGE c VOLATILE PARALLEL UNSAFE
	AS 'MODULE_PATHNAME', 'lb_lock_rounds';

CREATE FUNCTION lb._board_created() RETURNS trigger
	LANGUAGE c VOLATILE PARALLEL UNSAFE
	AS 'MODULE_PATHNAME', 'lb_board_created';

CREATE TRIGGER board_created AFTER INSERT ON lb.board
	FOR EACH ROW EXECUTE FUNCTION lb._board_created();

/* Its class of windows was judged when its counter counted; what is there is judged now. */
CREATE FUNCTION lb._late_class_created() RETURNS trigger
	LANGUAGE c VOLATILE PARALLEL UNSAFE
	AS 'MODULE_PATHNAME', 'lb_late_class_created';

CREATE TRIGGER late_class_created AFTER INSERT ON lb.late_class
	FOR EACH ROW EXECUTE FUNCTION lb._late_class_created();

/* Before the trigger of the log looks for events: no round may count some in the old zone meanwhile. */
CREATE FUNCTION lb._zone_changes() RETURNS trigger
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	PERFORM lb._lock_rounds('a change of a time zone');
	RETURN NEW;
END
$$;

CREATE TRIGGER hold_rounds BEFORE UPDATE ON lb.tenant
	FOR EACH ROW WHEN (OLD.timezone OPERATOR(pg_catalog.<>) NEW.timezone)
	EXECUTE FUNCTION lb._zone_changes();

CREATE FUNCTION lb._forget_board(counter_id bigint, board_id bigint) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	DELETE FROM lb.standing s USING lb.ranking r
		WHERE r.counter_id = _forget_board.counter_id AND r.board_id = _forget_board.board_id
		AND s.counter_id = r.counter_id AND s.ranking_id = r.ranking_id;
	DELETE FROM lb.sketch s USING lb.ranking r
		WHERE r.counter_id = _forget_board.counter_id AND r.board_id = _forget_board.board_id
		AND s.counter_id = r.counter_id AND s.ranking_id = r.ranking_id;
	DELETE FROM lb.moved m USING lb.ranking r
		WHERE r.counter_id = _forget_board.counter_id AND r.board_id = _forget_board.board_id
		AND m.counter_id = r.counter_id AND m.ranking_id = r.ranking_id;
	DELETE FROM lb.page p USING lb.ranking r
		WHERE r.counter_id = _forget_board.counter_id AND r.board_id = _forget_board.board_id
		AND p.counter_id = r.counter_id AND p.ranking_id = r.ranking_id;
	DELETE FROM lb.version v USING lb.ranking r
		WHERE r.counter_id = _forget_board.counter_id AND r.board_id = _forget_board.board_id
		AND v.counter_id = r.counter_id AND v.ranking_id = r.ranking_id;
	DELETE FROM lb.ranking r
		WHERE r.counter_id = _forget_board.counter_id AND r.board_id = _forget_board.board_id;
END
$$;

CREATE FUNCTION lb._board_dropped() RETURNS trigger
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	PERFORM lb._lock_rounds('dropping a board or a counter');
	PERFORM lb._forget_board(OLD.counter_id, OLD.board_id);
	DELETE FROM lb.late_class l
		WHERE l.counter_id = OLD.counter_id AND NOT EXISTS (
			SELECT FROM lb.board b
			JOIN lb.counter c ON c.counter_id = b.counter_id
			JOIN lb.counter_version v ON v.counter_id = c.counter_id AND v.version = c.version
			WHERE b.counter_id = l.counter_id AND b.period = l.period AND b.starts = l.starts
			AND coalesce(b.lateness, v.lateness) = l.lateness);
	RETURN OLD;
END
$$;

CREATE TRIGGER board_dropped AFTER DELETE ON lb.board
	FOR EACH ROW EXECUTE FUNCTION lb._board_dropped();

CREATE FUNCTION lb._counter_gone() RETURNS trigger
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	PERFORM lb._lock_rounds('dropping a board or a counter');
	DELETE FROM lb.bucket b WHERE b.counter_id = OLD.counter_id;
	DELETE FROM lb.counter_horizon h WHERE h.counter_id = OLD.counter_id;
	DELETE FROM lb.version v WHERE v.counter_id = OLD.counter_id;
	RETURN OLD;
END
$$;

CREATE TRIGGER counter_gone AFTER UPDATE OF retired_at OR DELETE ON lb.counter
	FOR EACH ROW EXECUTE FUNCTION lb._counter_gone();

/*
 * What a board's definition may change without meaning something else.  A
 * larger head is filled up at once: readers trust it to be there.
 */
CREATE FUNCTION lb._refill_heads(counter_id bigint, board_id bigint) RETURNS void
	LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
	AS 'MODULE_PATHNAME', 'lb_refill_heads';

CREATE FUNCTION lb._alter_board(board text, freshness interval, keep_versions interval, head integer) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	id bigint := lb._board_id(board);
	was lb.board;
	b lb.board;
BEGIN
	PERFORM lb._lock_rounds('altering a board');
	SELECT * INTO was FROM lb.board d WHERE d.board_id = id FOR UPDATE;
	IF NOT FOUND THEN
		PERFORM lb._board_id(board);	/* dropped just now */
	END IF;
	b := was;
	b.freshness := coalesce(freshness, b.freshness);
	b.keep_versions := coalesce(keep_versions, b.keep_versions);
	b.head := coalesce(head, b.head);
	b := lb._check_board(b);
	UPDATE lb.board d SET freshness = b.freshness, keep_versions = b.keep_versions, head = b.head
		WHERE d.board_id = id;
	/* earlier versions have a smaller head, or nobody has noted what moved since */
	IF b.ranks = 'bounded' AND b.head > was.head THEN
		PERFORM lb._refill_heads(b.counter_id, id);
		PERFORM lb._collect_board(b.counter_id, id);
	ELSIF was.keep_versions = '0' AND b.keep_versions > '0' THEN
		PERFORM lb._collect_board(b.counter_id, id);
	END IF;
END
$$;

CREATE FUNCTION @extschema@.lb_alter_board(board text, freshness interval DEFAULT NULL,
		keep_versions interval DEFAULT NULL, head integer DEFAULT NULL) RETURNS void
	LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'lb_public';
COMMENT ON FUNCTION @extschema@.lb_alter_board(text, interval, interval, integer) IS
'Changes what of a board changes no meaning: freshness, keep_versions and head as in lb_create_board(); NULL leaves it. Rounds wait until the transaction ends. A larger head of a bounded board costs one pass over the standings of each of its rankings. Versions from before a larger head, or from before keep_versions was raised from 0, are kept no longer. 25001 unless READ COMMITTED, 42704 for an unknown board, 22023 for a bad argument.';

/*
 * Collect what no kept version of a ranking reaches; false if there is nothing.
 * The newest version made before the time from which versions are kept was
 * current at that time and stays; what came before it goes, and with it the
 * pages that were superseded up to it, and what was noted of its members.
 * Where something went, superseded is NULL: who asks for an earlier version is
 * told that it is gone, and not that nobody was there.
 */
CREATE FUNCTION lb._collect_ranking(counter_id bigint, ranking_id bigint, keep interval) RETURNS boolean
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	of_counter CONSTANT bigint := counter_id;
	of_ranking CONSTANT bigint := ranking_id;
	before bigint;
BEGIN
	SELECT max(v.version) INTO before FROM lb.version v
		WHERE v.counter_id = of_counter AND v.ranking_id = of_ranking
		AND v.owes AND v.made_at < clock_timestamp() - keep;
	IF before IS NULL THEN
		RETURN false;
	END IF;
	DELETE FROM lb.page p
		USING (SELECT unnest(v.superseded) AS page_id FROM lb.version v
			   WHERE v.counter_id = of_counter AND v.ranking_id = of_ranking
			   AND v.version <= before AND v.owes) s
		WHERE p.counter_id = of_counter AND p.ranking_id = of_ranking AND p.page_id = s.page_id;
	DELETE FROM lb.moved m
		WHERE m.counter_id = of_counter AND m.ranking_id = of_ranking AND m.version <= before;
	DELETE FROM lb.version v
		WHERE v.counter_id = of_counter AND v.ranking_id = of_ranking AND v.version < before;
	UPDATE lb.version v SET owes = false, superseded = CASE WHEN NOT FOUND THEN '{}'::bigint[] END
		WHERE v.counter_id = of_counter AND v.ranking_id = of_ranking AND v.version = before AND v.owes;
	RETURN true;
END
$$;

/* Of a board nothing stays but the newest versions.  Scopes are told from the whole board's. */
CREATE FUNCTION lb._collect_board(counter_id bigint, board_id bigint) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	PERFORM lb._collect_ranking(o.counter_id, o.ranking_id, '0')
		FROM (SELECT DISTINCT v.counter_id, v.ranking_id
			  FROM lb.version v JOIN lb.ranking r ON r.counter_id = v.counter_id AND r.ranking_id = v.ranking_id
			  WHERE v.owes AND r.counter_id = _collect_board.counter_id AND r.board_id = _collect_board.board_id
			  AND r.scope = '') o;
END
$$;

/*
 * Collect ranking by ranking.  Of a counter's buckets (ranking 0) nobody asks
 * for a version but the newest.
 *
 * The rankings that have waited longest come first, and no new one is begun
 * after "budget": a loop that tidies does not count meanwhile.
 */
CREATE FUNCTION lb._collect_some(budget interval, OUT collected bigint, OUT more boolean)
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	portion CONSTANT integer := 1000;
	until timestamptz := clock_timestamp() + budget;
	due record;
	found bigint := 0;
BEGIN
	collected := 0;
	/* as many versions that wait as a budget of the usual size can work off */
	FOR due IN
		SELECT o.counter_id, o.ranking_id, o.keep, sum(count(*)) OVER () AS found
		FROM (SELECT v.counter_id, v.ranking_id, coalesce(b.keep_versions, '0') AS keep
			  FROM lb.version v
			  LEFT JOIN lb.ranking r ON r.counter_id = v.counter_id AND r.ranking_id = v.ranking_id
			  LEFT JOIN lb.board b ON b.board_id = r.board_id
			  WHERE v.owes AND v.made_at < clock_timestamp() - coalesce(b.keep_versions, '0')
			  ORDER BY v.made_at LIMIT portion) AS o
		GROUP BY o.counter_id, o.ranking_id, o.keep
	LOOP
		found := due.found;
		IF clock_timestamp() > until THEN
			more := true;
			RETURN;
		END IF;
		IF lb._collect_ranking(due.counter_id, due.ranking_id, due.keep) AND due.ranking_id > 0 THEN
			collected := collected + 1;
		END IF;
	END LOOP;
	more := found >= portion;
END
$$;

/* All of it at once. */
CREATE FUNCTION lb._collect() RETURNS bigint
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	part record;
	collected bigint := 0;
BEGIN
	LOOP
		SELECT * INTO part FROM lb._collect_some('1 hour');
		collected := collected + part.collected;
		EXIT WHEN NOT part.more;
	END LOOP;
	RETURN collected;
END
$$;

/*
 * Old rounds.  One each quarter of an hour stays, the grain of the world's
 * window boundaries, to say from which round on a window that nobody opened
 * was new.
 */
CREATE FUNCTION lb._thin_rounds() RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	SET timezone = 'UTC'
	AS $$
BEGIN
	DELETE FROM lb.round r
		USING (SELECT date_bin('15 minutes', o.as_of, 'epoch') AS slot, min(o.number) AS number
			   FROM lb.round o
			   WHERE o.as_of < clock_timestamp() - interval '1 hour'
			   AND o.as_of > clock_timestamp() - interval '7 days'
			   GROUP BY 1 HAVING count(*) > 1) AS kept
		WHERE r.as_of >= kept.slot AND r.as_of < kept.slot + interval '15 minutes'
		AND r.as_of < clock_timestamp() - interval '1 hour'
		AND r.number <> kept.number
		AND r.number < (SELECT max(n.number) FROM lb.round n);
END
$$;

/* Partitions a week ahead, unless somebody is in the way: the next call tries again, and the default partition serves until then. */
CREATE FUNCTION lb._partitions_ahead() RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	SET timezone = 'UTC'
	SET lock_timeout = '200ms'
	AS $$
BEGIN
	IF EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = 'lb.event'::regclass)
		AND NOT EXISTS (SELECT FROM lb._partitions() p WHERE p.opens = current_date + 7)
		AND NOT lb._lacks_indexes() THEN	/* a restore brings its own */
		PERFORM lb._make_partitions(current_date + 1, current_date + 7);
	END IF;
EXCEPTION WHEN lock_not_available OR check_violation THEN
	NULL;	/* busy, or just now an event of such a day */
END
$$;

/* The household of the loop; true if it did not finish. */
CREATE FUNCTION lb._tidy() RETURNS boolean
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	SET lock_timeout = '200ms'
	AS $$
DECLARE
	more boolean := false;
BEGIN
	BEGIN
		more := (lb._collect_some('100 milliseconds')).more;
		PERFORM lb._thin_rounds();
	EXCEPTION WHEN lock_not_available THEN
		NULL;	/* somebody drops a board, or another loop tidies: next time */
	END;
	/* last, for submitters wait from the moment that it locks the default partition */
	PERFORM lb._partitions_ahead();
	RETURN more;
END
$$;

CREATE FUNCTION @extschema@.lb_refresh(counter text DEFAULT NULL,
		OUT events bigint, OUT rankings bigint, OUT lag interval)
	LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'lb_refresh';
COMMENT ON FUNCTION @extschema@.lb_refresh(text) IS
'Counts every event committed so far, of all counters, in one round, waiting for one under way; the caller''s own transaction is counted by the next. Row: the events counted and rankings changed (of the named counter, or of all), and the age of the answer. Costs by the new events, not by counters, boards or members. Old versions and partitions ahead are the loop''s work. 25001 unless READ COMMITTED, 25006 on a standby, 42704 for an unknown counter.';

/* The same with the time as an argument, for tests. */
CREATE FUNCTION lb._refresh(counter text, as_of timestamptz, OUT events bigint, OUT rankings bigint, OUT lag interval)
	LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'lb_refresh_at';

CREATE PROCEDURE @extschema@.lb_refresh_loop(duration interval DEFAULT '61 seconds',
		every interval DEFAULT '250 milliseconds')
	LANGUAGE c AS 'MODULE_PATHNAME', 'lb_refresh_loop';
COMMENT ON PROCEDURE @extschema@.lb_refresh_loop(interval, interval) IS
'Runs rounds for "duration", beginning one "every" so often and committing each; skips those that another session is running. At its start and every two minutes it also makes log partitions ahead and removes versions that nobody may ask for any more and old rounds; a duration of 0 does that and one round. On a standby it waits quietly and takes over after a promotion. Inside a transaction it runs one round. A long backlog is counted in several rounds. Let it last minutes, not days: the server learns what there is to vacuum when the call ends. 22023 for a span that is negative, in months, or an "every" under a millisecond.';
