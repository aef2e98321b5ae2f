/*
 * Who belongs to which scope of a board, and since when: exact and backed up.
 * No foreign keys, as among the definitions.
 */
CREATE TABLE lb.membership (
	board_id bigint NOT NULL,
	member text COLLATE "C" NOT NULL,
	until timestamptz NOT NULL DEFAULT 'infinity',
	scope text COLLATE "C" NOT NULL,
	since timestamptz NOT NULL,
	PRIMARY KEY (board_id, member, until, scope),
	CHECK (since < until)
);
CREATE INDEX membership_scope ON lb.membership (board_id, scope, until);
COMMENT ON TABLE lb.membership IS
'A member belongs to a scope of a board in every window that closes after since and not after until; infinity is until further notice. Of one member and scope no two overlap.';

CREATE TABLE lb.scope (
	board_id bigint NOT NULL,
	scope text COLLATE "C" NOT NULL,
	members integer NOT NULL,
	prefix text COLLATE "C",
	number bigint,
	PRIMARY KEY (board_id, scope)
) WITH (fillfactor = 70);
CREATE INDEX scope_number ON lb.scope (board_id, prefix, number) WHERE prefix IS NOT NULL;
CREATE INDEX scope_members ON lb.scope (board_id, prefix, members) WHERE prefix IS NOT NULL;
COMMENT ON TABLE lb.scope IS
'One row a scope that a board has had: its memberships until further notice. Whoever changes memberships locks it. prefix and number: of a scope that lb_assign() fills.';

/* Dumped by lb.membership itself: what is restored is news again. */
CREATE SEQUENCE lb.membership_news_id_seq;

CREATE TABLE lb.membership_news (
	id bigint PRIMARY KEY DEFAULT pg_catalog.nextval('lb.membership_news_id_seq'),
	board_id bigint NOT NULL,
	scope text COLLATE "C" NOT NULL,
	member text COLLATE "C" NOT NULL,
	since timestamptz NOT NULL
);
COMMENT ON TABLE lb.membership_news IS
'Memberships that changed since the last round, which takes them off: in no window that closes by since does anything change.';

SELECT pg_catalog.pg_extension_config_dump('lb.membership', '');
SELECT pg_catalog.pg_extension_config_dump('lb.scope', '');

/* However a membership changes, a restore included, it is news. */
CREATE FUNCTION lb._membership_changed() RETURNS trigger
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	IF TG_OP = 'INSERT' THEN
		INSERT INTO lb.membership_news (board_id, scope, member, since)
			SELECT n.board_id, n.scope, n.member, n.since FROM new_rows n;
	ELSIF TG_OP = 'DELETE' THEN
		INSERT INTO lb.membership_news (board_id, scope, member, since)
			SELECT o.board_id, o.scope, o.member, o.since FROM old_rows o;
	ELSE
		/* what begins when it did ends at another time */
		INSERT INTO lb.membership_news (board_id, scope, member, since)
			SELECT o.board_id, o.scope, o.member, least(o.until, n.until)
			FROM old_rows o JOIN new_rows n ON n.board_id = o.board_id AND n.member = o.member
				AND n.scope = o.scope AND n.since = o.since;
	END IF;
	RETURN NULL;
END
$$;

CREATE TRIGGER inserted AFTER INSERT ON lb.membership
	REFERENCING NEW TABLE AS new_rows
	FOR EACH STATEMENT EXECUTE FUNCTION lb._membership_changed();
CREATE TRIGGER updated AFTER UPDATE ON lb.membership
	REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
	FOR EACH STATEMENT EXECUTE FUNCTION lb._membership_changed();
CREATE TRIGGER deleted AFTER DELETE ON lb.membership
	REFERENCING OLD TABLE AS old_rows
	FOR EACH STATEMENT EXECUTE FUNCTION lb._membership_changed();

CREATE FUNCTION lb._scopes_dropped() RETURNS trigger
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	DELETE FROM lb.membership m WHERE m.board_id = OLD.board_id;
	DELETE FROM lb.membership_news n WHERE n.board_id = OLD.board_id;
	DELETE FROM lb.scope s WHERE s.board_id = OLD.board_id;
	RETURN OLD;
END
$$;

CREATE TRIGGER scopes_dropped AFTER DELETE ON lb.board
	FOR EACH ROW EXECUTE FUNCTION lb._scopes_dropped();
