/*
 * The exact, backed-up definitions.  They have no foreign keys among each
 * other: pg_restore with several jobs loads the tables of an extension in any
 * order, at the same time.  The functions that write them lock what they refer
 * to.
 */
CREATE SEQUENCE lb.tenant_id_seq AS integer;
CREATE SEQUENCE lb.counter_id_seq;
CREATE SEQUENCE lb.board_id_seq;

CREATE TABLE lb.tenant (
	tenant_id integer PRIMARY KEY DEFAULT pg_catalog.nextval('lb.tenant_id_seq'),
	tenant text COLLATE "C" NOT NULL UNIQUE,
	timezone text NOT NULL,
	created_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp()
);
COMMENT ON TABLE lb.tenant IS
'One row a tenant: its name and the time zone in which its calendar windows begin.';

CREATE TABLE lb.counter_version (
	counter_id bigint NOT NULL,
	version smallint NOT NULL,
	type text NOT NULL,
	operator text NOT NULL,
	min_delta bigint,
	max_delta bigint,
	monotonic boolean NOT NULL,
	lateness interval NOT NULL,
	max_age interval NOT NULL,
	max_skew interval NOT NULL,
	idempotency interval,
	tolerated_error double precision,
	grain interval NOT NULL,
	created_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
	PRIMARY KEY (counter_id, version)
);
COMMENT ON TABLE lb.counter_version IS
'What a counter means, version by version; every event is stamped with the version it was admitted under.';

CREATE TABLE lb.counter (
	counter_id bigint PRIMARY KEY,
	tenant_id integer NOT NULL,
	counter text COLLATE "C" NOT NULL,
	version smallint NOT NULL,
	created_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
	retired_at timestamptz
);
CREATE UNIQUE INDEX counter_name ON lb.counter (tenant_id, counter) WHERE retired_at IS NULL;
COMMENT ON TABLE lb.counter IS
'One row a counter: its name, its id for ever, the version of its definition in force. A retired counter keeps its id and its log and gives its name back.';

CREATE TABLE lb.board (
	board_id bigint PRIMARY KEY DEFAULT pg_catalog.nextval('lb.board_id_seq'),
	tenant_id integer NOT NULL,
	board text COLLATE "C" NOT NULL,
	counter_id bigint NOT NULL,
	period text NOT NULL,
	direction text NOT NULL,
	ties text NOT NULL,
	ranks text NOT NULL,
	head integer NOT NULL,
	buckets integer NOT NULL,
	ceiling bigint NOT NULL,
	freshness interval NOT NULL,
	keep_versions interval NOT NULL,
	scoped boolean NOT NULL,
	starts interval NOT NULL,
	lateness interval,
	created_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
	UNIQUE (tenant_id, board)
);
CREATE INDEX board_counter ON lb.board (counter_id);
CREATE INDEX board_rolling ON lb.board (counter_id, board_id) WHERE pg_catalog."left"(period, 4) OPERATOR(pg_catalog.=) 'last';
COMMENT ON TABLE lb.board IS
'One row a board: the members of one counter, ranked in one period. lateness NULL: the counter''s.';

CREATE TABLE lb.late_class (
	counter_id bigint NOT NULL,
	bit integer NOT NULL,
	period text NOT NULL,
	starts interval NOT NULL,
	lateness interval NOT NULL,
	PRIMARY KEY (counter_id, bit),
	UNIQUE (counter_id, period, starts, lateness)
);
COMMENT ON TABLE lb.late_class IS
'Windows of a counter''s boards that settle otherwise than the calendar''s windows by the counter''s lateness: the bit of lb.bucket.late that says an event was late for them. A class goes with the last board that has it.';

/* Backends, also those of a standby, forget what they have cached. */
CREATE FUNCTION lb._definition_changed() RETURNS trigger
	LANGUAGE c VOLATILE PARALLEL UNSAFE
	AS 'MODULE_PATHNAME', 'lb_definition_changed';

CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON lb.tenant
	FOR EACH STATEMENT EXECUTE FUNCTION lb._definition_changed();
CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON lb.counter_version
	FOR EACH STATEMENT EXECUTE FUNCTION lb._definition_changed();
CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON lb.counter
	FOR EACH STATEMENT EXECUTE FUNCTION lb._definition_changed();
CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON lb.board
	FOR EACH STATEMENT EXECUTE FUNCTION lb._definition_changed();

SELECT pg_catalog.pg_extension_config_dump('lb.tenant', '');
SELECT pg_catalog.pg_extension_config_dump('lb.counter_version', '');
SELECT pg_catalog.pg_extension_config_dump('lb.counter', '');
SELECT pg_catalog.pg_extension_config_dump('lb.board', '');
SELECT pg_catalog.pg_extension_config_dump('lb.late_class', '');
SELECT pg_catalog.pg_extension_config_dump('lb.tenant_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('lb.counter_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('lb.board_id_seq', '');
