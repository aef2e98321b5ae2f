-- A database for the benchmark: the extension, and what the peers need.
CREATE EXTENSION leaderboard;
CREATE SCHEMA bench;
CREATE SCHEMA plain;

-- Scores as games have them: many low, a few very high, hardly two alike.
CREATE FUNCTION bench.value(i bigint) RETURNS bigint
	LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
	AS $$
	SELECT (1e6 * (-ln(((hashint8extended(i, 1) & 4294967295) + 1) / 4294967296.0::float8)) ^ 3)::bigint
$$;

-- Events straight into the log: admission is measured elsewhere.  They come
-- in an order that has nothing to do with that of the members' names.
CREATE PROCEDURE bench.log(counter_id bigint, first bigint, n bigint, members bigint, highest bigint)
	LANGUAGE sql
	AS $$
	INSERT INTO lb.event (counter_id, event_id, delta, event_time, ingest_time, xid, origin, version, kind, member, key)
	SELECT log.counter_id, nextval('lb.event_id_seq'),
		CASE WHEN highest IS NULL THEN bench.value(i) ELSE 1 + (hashint8extended(i, 2) & 4294967295) % highest END,
		now(), clock_timestamp(), pg_current_xact_id(), (SELECT max(o.origin) FROM lb.origin o), 1, 'e',
		'm' || lpad((1 + (i * 7368787) % members)::text, 8, '0'), to_hex(hashint8extended(i, 3))
	FROM generate_series(log.first, log.first + log.n - 1) AS i
$$;

-- A counter's first n events, over that many members.
CREATE PROCEDURE bench.fill(counter text, n bigint, members bigint)
	LANGUAGE plpgsql
	AS $$
DECLARE
	id bigint := (SELECT c.counter_id FROM lb.counter c WHERE c.counter = fill.counter);
BEGIN
	-- makes the row of lb.origin
	PERFORM lb_submit(fill.counter, 'm00000001', 0, 'first');
	CALL bench.log(id, 1, n, members, NULL);
	COMMIT;
	ANALYZE lb.event;
END
$$;

-- A log that is older than a day: yesterday had as many events, and every
-- submission has to make sure that its key is not among them.
CREATE PROCEDURE bench.fill_yesterday(counter text, n bigint, members bigint)
	LANGUAGE plpgsql
	SET timezone = 'UTC'
	AS $$
DECLARE
	id bigint := (SELECT c.counter_id FROM lb.counter c WHERE c.counter = fill_yesterday.counter);
BEGIN
	PERFORM lb_submit(fill_yesterday.counter, 'm00000001', 0, 'first');
	PERFORM lb._make_partitions(current_date - 1, current_date - 1);
	EXECUTE format('INSERT INTO lb.%I SELECT $1, nextval(''lb.event_id_seq''), 1, t.at, t.at, pg_current_xact_id(),
		(SELECT max(o.origin) FROM lb.origin o), 1, ''e'', ''m'' || lpad((1 + (i * 7368787) %% $3)::text, 8, ''0''),
		to_hex(hashint8extended(i, 3))
		FROM generate_series(1, $2) AS i, LATERAL (SELECT current_date - interval ''1 day'' * ((i %% 1000) + 1) / 1001 AS at) t',
		'event_' || to_char(current_date - 1, 'YYYYMMDD')) USING id, n, members;
END
$$;

-- One round's news: as many members move, each once, by a little.
CREATE PROCEDURE bench.move(counter text, round bigint, n bigint, members bigint)
	LANGUAGE plpgsql
	AS $$
DECLARE
	id bigint := (SELECT c.counter_id FROM lb.counter c WHERE c.counter = move.counter);
BEGIN
	CALL bench.log(id, 1000000000 + round * 10000000, n, members, 100000);
END
$$;

-- What plain SQL would have: tables of the same shape.
CREATE TABLE plain.bucket (LIKE lb.bucket INCLUDING ALL);
CREATE TABLE plain.standing (LIKE lb.standing INCLUDING ALL);
DO $$
BEGIN
	EXECUTE (SELECT string_agg(format('ALTER TABLE plain.%I SET (%s);', c.relname, array_to_string(c.reloptions, ', ')), '')
			 FROM pg_class c WHERE c.oid IN ('lb.bucket'::regclass, 'lb.standing'::regclass) AND c.reloptions IS NOT NULL);
END
$$;
CREATE TABLE plain.event (LIKE lb.event INCLUDING DEFAULTS);
CREATE UNIQUE INDEX event_key ON plain.event (counter_id, key);
CREATE INDEX event_xid ON plain.event (xid);
CREATE INDEX event_member ON plain.event (counter_id, member, xid);
CREATE SEQUENCE plain.event_id;

-- Count the events of the transactions from "since" on into them.
CREATE PROCEDURE plain.refresh(since xid8)
	LANGUAGE plpgsql
	SET plan_cache_mode = force_custom_plan
	AS $$
BEGIN
	WITH news AS MATERIALIZED (
		SELECT e.counter_id, e.version, e.member, date_trunc('hour', e.event_time) AS opens, count(*) AS n,
			sum(e.delta)::bigint AS value, bool_or(e.delta <> 0) AS moved, max(e.event_time) AS reached_at
		FROM lb.event e WHERE e.xid >= since
		GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
	), buckets AS (
		INSERT INTO plain.bucket AS b (counter_id, version, span, late, moved, opens, closes, n, value, reached_at, member)
		SELECT n.counter_id, n.version, 'g', 0, n.moved, n.opens, n.opens + interval '1 hour', n.n, n.value, n.reached_at, n.member FROM news n
		ON CONFLICT (counter_id, version, member, span, opens, late) DO UPDATE SET n = b.n + excluded.n,
			value = b.value + excluded.value, moved = b.moved OR excluded.moved,
			reached_at = greatest(b.reached_at, excluded.reached_at)
	)
	INSERT INTO plain.standing AS s (counter_id, ranking_id, value, reached_at, moved, member)
	SELECT n.counter_id, 1, sum(n.value)::bigint, max(n.reached_at), bool_or(n.moved), n.member
	FROM news n GROUP BY n.counter_id, n.member ORDER BY n.counter_id, n.member
	ON CONFLICT (counter_id, ranking_id, member) DO UPDATE SET value = s.value + excluded.value, moved = s.moved OR excluded.moved,
		reached_at = greatest(s.reached_at, excluded.reached_at);
END
$$;

-- The reading peers of the board "board", from its events.
CREATE PROCEDURE bench.fill_peers()
	LANGUAGE plpgsql
	AS $$
BEGIN
	CREATE TABLE plain.board AS
		SELECT e.member, sum(e.delta)::bigint AS value, max(e.event_time) AS reached_at
		FROM lb.event e JOIN lb.counter c USING (counter_id) WHERE c.counter = 'board'
		GROUP BY e.member;
	ALTER TABLE plain.board ADD PRIMARY KEY (member);
	CREATE INDEX board_value ON plain.board (value);
	CREATE MATERIALIZED VIEW plain.ranks AS
		SELECT member, value, rank() OVER (ORDER BY value DESC) AS rank FROM plain.board;
	CREATE UNIQUE INDEX ranks_member ON plain.ranks (member);
	CREATE INDEX ranks_rank ON plain.ranks (rank);
END
$$;

-- The same news, for plain.board.
CREATE PROCEDURE plain.move(since xid8)
	LANGUAGE plpgsql
	SET plan_cache_mode = force_custom_plan
	AS $$
BEGIN
	UPDATE plain.board b SET value = b.value + e.delta, reached_at = e.event_time
	FROM lb.event e WHERE e.xid >= since AND b.member = e.member;
END
$$;
