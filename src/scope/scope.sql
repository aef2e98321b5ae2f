/* The board's id, and from when on what is said of its memberships holds. */
CREATE FUNCTION lb._scoped_board(board text, since timestamptz, OUT board_id bigint, OUT since_when timestamptz)
	LANGUAGE c STABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'lb_scoped_board_sql';

/* One transaction at a time for that board and those words; 25001 unless READ COMMITTED. */
CREATE FUNCTION lb._lock_words(board_id bigint, words text) RETURNS void
	LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
	AS 'MODULE_PATHNAME', 'lb_lock_words_sql';

/* The board and the instant; the board stays until the transaction ends. */
CREATE FUNCTION lb._hold_scoped_board(board text, since timestamptz, OUT board_id bigint, OUT since_when timestamptz)
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	SELECT s.board_id, s.since_when INTO board_id, since_when FROM lb._scoped_board(board, since) s;
	PERFORM 1 FROM lb.board b WHERE b.board_id = _hold_scoped_board.board_id FOR KEY SHARE;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'board "%" does not exist', board
			USING ERRCODE = 'undefined_object', HINT = 'It was dropped just now; lb_boards() lists the boards.';
	END IF;
END
$$;

/* A scope, member or prefix as an argument: shortest to longest bytes. */
CREATE FUNCTION lb._check_text(argument text, value text, shortest integer, longest integer) RETURNS void
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	IF value IS NULL THEN
		RAISE EXCEPTION 'argument "%" must not be null', argument
			USING ERRCODE = 'invalid_parameter_value', HINT = format('Give a value for "%s".', argument);
	END IF;
	IF octet_length(value) NOT BETWEEN shortest AND longest THEN
		RAISE EXCEPTION '"%" has % bytes', argument, octet_length(value)
			USING ERRCODE = 'invalid_parameter_value', HINT = format('It has %s to %s bytes.', shortest, longest);
	END IF;
END
$$;

/* The members given, each once, in order. */
CREATE FUNCTION lb._check_members(members text[]) RETURNS text[]
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	IF members IS NULL THEN
		RAISE EXCEPTION 'argument "members" must not be null'
			USING ERRCODE = 'invalid_parameter_value', HINT = 'Give an array of members.';
	END IF;
	IF cardinality(members) NOT BETWEEN 1 AND 10000 THEN
		RAISE EXCEPTION '"members" has % elements', cardinality(members)
			USING ERRCODE = 'invalid_parameter_value', HINT = 'Give 1 to 10000 members a call.';
	END IF;
	IF EXISTS (SELECT FROM unnest(members) AS m WHERE m IS NULL) THEN
		RAISE EXCEPTION 'an element of "members" is null'
			USING ERRCODE = 'invalid_parameter_value', HINT = 'Leave it out.';
	END IF;
	PERFORM lb._check_text('member', m, 1, 200) FROM unnest(members) AS m;
	RETURN ARRAY(SELECT DISTINCT m COLLATE "C" FROM unnest(members) AS m ORDER BY 1);
END
$$;

/* Nobody else changes the memberships of these scopes until the transaction ends. */
CREATE FUNCTION lb._lock_scopes(board_id bigint, VARIADIC scopes text[]) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	name text;
BEGIN
	FOR name IN SELECT DISTINCT s COLLATE "C" FROM unnest(scopes) AS s ORDER BY 1 LOOP
		INSERT INTO lb.scope (board_id, scope, members) VALUES (_lock_scopes.board_id, name, 0)
			ON CONFLICT ON CONSTRAINT scope_pkey DO NOTHING;
		IF NOT FOUND THEN
			PERFORM 1 FROM lb.scope s WHERE s.board_id = _lock_scopes.board_id AND s.scope = name FOR NO KEY UPDATE;
		END IF;
	END LOOP;
END
$$;

/* From an instant on, for good, the members belong to the scope, which is locked; how many that changes. */
CREATE FUNCTION lb._enter(board bigint, name text, members text[], begins timestamptz) RETURNS integer
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	entering text[];
	counted integer;
BEGIN
	SELECT count(*) INTO counted FROM lb.membership m
		WHERE m.board_id = board AND m.scope = name AND m.member = ANY (members) AND m.until = 'infinity';
	entering := ARRAY(SELECT g FROM unnest(members) AS g WHERE NOT EXISTS (
		SELECT FROM lb.membership m WHERE m.board_id = board AND m.member = g AND m.scope = name
			AND m.until = 'infinity' AND m.since <= begins));
	/* what would have begun later begins now, what would have ended goes on */
	DELETE FROM lb.membership m
		WHERE m.board_id = board AND m.member = ANY (entering) AND m.scope = name AND m.since > begins;
	UPDATE lb.membership m SET until = 'infinity'
		WHERE m.board_id = board AND m.member = ANY (entering) AND m.scope = name AND m.until >= begins;
	INSERT INTO lb.membership (board_id, scope, member, since)
		SELECT board, name, g, begins FROM unnest(entering) AS g WHERE NOT EXISTS (
			SELECT FROM lb.membership m WHERE m.board_id = board AND m.member = g AND m.scope = name
				AND m.until = 'infinity');
	UPDATE lb.scope s SET members = s.members + cardinality(_enter.members) - counted
		WHERE s.board_id = board AND s.scope = name AND cardinality(_enter.members) <> counted;
	RETURN cardinality(entering);
END
$$;

/* From an instant on the members do not belong to the scope, which is locked; how many that changes. */
CREATE FUNCTION lb._exit(board bigint, name text, members text[], ends timestamptz) RETURNS integer
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	leaving text[];
	counted integer;
BEGIN
	SELECT array_agg(DISTINCT m.member), count(*) FILTER (WHERE m.until = 'infinity') INTO leaving, counted
		FROM lb.membership m
		WHERE m.board_id = board AND m.scope = name AND m.member = ANY (members) AND m.until > ends;
	IF leaving IS NULL THEN
		RETURN 0;
	END IF;
	DELETE FROM lb.membership m
		WHERE m.board_id = board AND m.member = ANY (leaving) AND m.scope = name AND m.since >= ends;
	UPDATE lb.membership m SET until = ends
		WHERE m.board_id = board AND m.member = ANY (leaving) AND m.scope = name AND m.until > ends;
	UPDATE lb.scope s SET members = s.members - counted
		WHERE s.board_id = board AND s.scope = name AND counted > 0;
	RETURN cardinality(leaving);
END
$$;

CREATE FUNCTION lb._join(board text, scope text, members text[], since timestamptz) RETURNS integer
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	held record;
	joining text[];
BEGIN
	PERFORM lb._check_text('scope', scope, 1, 200);
	joining := lb._check_members(members);
	held := lb._hold_scoped_board(board, since);
	PERFORM lb._lock_scopes(held.board_id, scope);
	RETURN lb._enter(held.board_id, scope, joining, held.since_when);
END
$$;

CREATE FUNCTION lb._leave(board text, scope text, members text[], since timestamptz) RETURNS integer
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	held record;
	leaving text[];
BEGIN
	PERFORM lb._check_text('scope', scope, 1, 200);
	leaving := lb._check_members(members);
	held := lb._hold_scoped_board(board, since);
	PERFORM 1 FROM lb.scope s WHERE s.board_id = held.board_id AND s.scope = _leave.scope FOR NO KEY UPDATE;
	IF NOT FOUND THEN
		RETURN 0;
	END IF;
	RETURN lb._exit(held.board_id, scope, leaving, held.since_when);
END
$$;

CREATE FUNCTION lb._move(board text, member text, to_scope text, since timestamptz, from_scope text) RETURNS boolean
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	held record;
	others text[];
	changed integer := 0;
BEGIN
	PERFORM lb._check_text('member', member, 1, 200);
	PERFORM lb._check_text('to_scope', to_scope, 1, 200);
	PERFORM lb._check_text('from_scope', coalesce(from_scope, to_scope), 1, 200);
	held := lb._hold_scoped_board(board, since);
	/* two moves of a member: the second one starts where the first has led */
	PERFORM lb._lock_words(held.board_id, 'member ' || member);
	others := ARRAY(SELECT DISTINCT m.scope FROM lb.membership m
		WHERE m.board_id = held.board_id AND m.member = _move.member AND m.until > held.since_when
		AND m.scope <> to_scope ORDER BY 1);
	IF from_scope IS NOT NULL THEN
		IF NOT from_scope = ANY (others) AND NOT EXISTS (SELECT FROM lb.membership m WHERE m.board_id = held.board_id
			AND m.member = _move.member AND m.scope = to_scope AND m.until = 'infinity') THEN
			RAISE EXCEPTION 'member "%" is not in scope "%"', member, from_scope
				USING ERRCODE = 'invalid_parameter_value', HINT = 'lb_scopes(board, member) says in which it is; lb_join() adds one.';
		END IF;
		others := ARRAY(SELECT o FROM unnest(others) AS o WHERE o = from_scope);
	ELSIF cardinality(others) > 1 THEN
		RAISE EXCEPTION 'member "%" is in several scopes: %', member, array_to_string(others, ', ')
			USING ERRCODE = 'invalid_parameter_value', HINT = 'Say with from_scope which one to leave.';
	END IF;
	PERFORM lb._lock_scopes(held.board_id, VARIADIC others || to_scope);
	IF cardinality(others) = 1 THEN
		changed := lb._exit(held.board_id, others[1], ARRAY[member], held.since_when);
	END IF;
	RETURN changed + lb._enter(held.board_id, to_scope, ARRAY[member], held.since_when) > 0;
END
$$;

/* Is the scope one that the prefix and a number make? */
CREATE FUNCTION lb._is_numbered(scope text, prefix text) RETURNS boolean
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	RETURN starts_with(scope, prefix) AND substr(scope, length(prefix) + 1) ~ '^[1-9][0-9]*$';
END
$$;

/* Has a scope, which is locked from here on, room for one more, now and later? */
CREATE FUNCTION lb._has_room(board bigint, name text, size integer, instant timestamptz) RETURNS boolean
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	PERFORM lb._lock_scopes(board, name);
	/* who leaves later still has the place in this window */
	RETURN (SELECT count(DISTINCT m.member) FROM lb.membership m
			WHERE m.board_id = board AND m.scope = name AND m.until > instant) < size;
END
$$;

CREATE FUNCTION lb._assign(board text, member text, size integer, prefix text) RETURNS text
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	held record;
	name text;
	nr bigint;
BEGIN
	prefix := coalesce(prefix, '');
	PERFORM lb._check_text('member', member, 1, 200);
	PERFORM lb._check_text('prefix', prefix, 0, 180);
	IF size IS NULL OR size < 1 THEN
		RAISE EXCEPTION 'invalid size %', size
			USING ERRCODE = 'invalid_parameter_value', HINT = 'size is at least 1: how many members a scope may have.';
	END IF;
	held := lb._hold_scoped_board(board, NULL);
	PERFORM lb._lock_words(held.board_id, 'prefix ' || prefix);

	SELECT m.scope INTO name FROM lb.membership m
		WHERE m.board_id = held.board_id AND m.member = _assign.member AND m.until > held.since_when
		AND lb._is_numbered(m.scope, prefix) ORDER BY m.until DESC, m.since, m.scope LIMIT 1;
	IF name IS NOT NULL THEN
		RETURN name;
	END IF;

	FOR name IN SELECT s.scope FROM lb.scope s WHERE s.board_id = held.board_id AND s.prefix = _assign.prefix
		AND s.members < size ORDER BY s.number LOOP
		IF lb._has_room(held.board_id, name, size, held.since_when) THEN
			PERFORM lb._enter(held.board_id, name, ARRAY[member], held.since_when);
			RETURN name;
		END IF;
	END LOOP;

	/* the next number; a scope of that name may be there already, made by lb_join() */
	SELECT max(s.number) INTO nr FROM lb.scope s WHERE s.board_id = held.board_id AND s.prefix = _assign.prefix;
	LOOP
		nr := coalesce(nr, 0) + 1;
		name := prefix || nr;
		PERFORM lb._lock_scopes(held.board_id, name);
		UPDATE lb.scope s SET prefix = _assign.prefix, number = nr
			WHERE s.board_id = held.board_id AND s.scope = name AND s.prefix IS NULL;
		EXIT WHEN lb._has_room(held.board_id, name, size, held.since_when);
	END LOOP;
	PERFORM lb._enter(held.board_id, name, ARRAY[member], held.since_when);
	RETURN name;
END
$$;

CREATE FUNCTION lb._scopes(board text, member text) RETURNS TABLE (scope text, members bigint, since timestamptz)
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	asked record := lb._scoped_board(board, NULL);
BEGIN
	IF member IS NULL THEN
		RETURN QUERY SELECT s.scope::text, s.members::bigint, NULL::timestamptz
			FROM lb.scope s WHERE s.board_id = asked.board_id ORDER BY s.scope;
	ELSE
		RETURN QUERY SELECT m.scope::text, s.members::bigint, m.since
			FROM lb.membership m JOIN lb.scope s ON s.board_id = m.board_id AND s.scope = m.scope
			WHERE m.board_id = asked.board_id AND m.member = _scopes.member AND m.until > asked.since_when
			ORDER BY m.scope, m.since;
	END IF;
END
$$;

CREATE FUNCTION @extschema@.lb_join(board text, scope text, members text[], since timestamptz DEFAULT NULL)
	RETURNS integer
	LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'lb_public';
COMMENT ON FUNCTION @extschema@.lb_join(text, text, text[], timestamptz) IS
'From "since" on, until further notice, the members (1 to 10,000 of 1 to 200 bytes) belong to a scope of a board made with scoped => true: to its ranking in every window that closes after since. NULL is the beginning of the current window, or now where the board has no calendar windows; an earlier instant changes past windows too, a later one is next week''s league. The next round brings what they have in those windows along. A member may be in several scopes, and need not have events. Returns how many were not in already. Costs some rows a member, and in the next round a few probes for each existing window that closes after since. 22023 for a bad argument, a board without scopes, or a later since where the board has no calendar windows; 42704 for an unknown board.';

CREATE FUNCTION @extschema@.lb_leave(board text, scope text, members text[], since timestamptz DEFAULT NULL)
	RETURNS integer
	LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'lb_public';
COMMENT ON FUNCTION @extschema@.lb_leave(text, text, text[], timestamptz) IS
'From "since" on the members do not belong to the scope: the next round takes them off its rankings of all windows that close after since. NULL is the beginning of the current window, so earlier windows stay as they are. Returns how many were in it; an unknown scope is 0. Costs and errors as lb_join().';

CREATE FUNCTION @extschema@.lb_move(board text, member text, to_scope text, since timestamptz DEFAULT NULL,
		from_scope text DEFAULT NULL) RETURNS boolean
	LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'lb_public';
COMMENT ON FUNCTION @extschema@.lb_move(text, text, text, timestamptz, text) IS
'lb_leave() of from_scope and lb_join() of to_scope at one instant. Without from_scope the member is in one scope, which it leaves, or in none. Returns whether anything changed: a move made before is not made again. 22023 if the member is in several scopes and from_scope is not given, or not in from_scope; 25001 unless READ COMMITTED; otherwise as lb_join().';

CREATE FUNCTION @extschema@.lb_assign(board text, member text, size integer, prefix text DEFAULT '') RETURNS text
	LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'lb_public';
COMMENT ON FUNCTION @extschema@.lb_assign(text, text, integer, text) IS
'Puts a member into the first of the scopes prefix1, prefix2, … that has fewer than size members, from the beginning of the current window on, and returns that scope; a member who is in one of them already stays there. First come, first served: concurrent calls for the same board and prefix wait for each other until their transactions end, so assign last and commit soon. Whoever leaves later keeps the place until then. prefix has at most 180 bytes. Costs some rows, whatever the number of scopes. 25001 unless READ COMMITTED; 22023 for a bad argument or a board without scopes; 42704 for an unknown board.';

CREATE FUNCTION @extschema@.lb_scopes(board text, member text DEFAULT NULL,
		OUT scope text, OUT members bigint, OUT since timestamptz) RETURNS SETOF record
	LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'lb_public';
COMMENT ON FUNCTION @extschema@.lb_scopes(text, text) IS
'The scopes of a board, or of one member those to which it belongs now or later, in order, with how many members each has until further notice, with or without events. since: from when on the member belongs to it; NULL without a member. Scopes that all have left are listed with 0. What is said here is said by the boards after the next round. Costs a row a scope. 22023 for a board without scopes, 42704 for an unknown one.';
