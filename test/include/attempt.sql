-- For regression tests: \i this with ECHO none.  Everything is in pg_temp, so
-- nothing is left behind.

-- What becomes of a statement: its SQLSTATE (00000 if it works), all that the
-- error says, and whether there is a hint.  What a failing one did is undone.
CREATE FUNCTION pg_temp.attempt(call text, OUT code text, OUT said text, OUT hinted boolean)
LANGUAGE plpgsql AS $$
DECLARE
	message text;
	detail text;
	hint text;
BEGIN
	EXECUTE call;
	code := '00000';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
		detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	said := concat_ws(' ', message, nullif(detail, ''), nullif(hint, ''));
	hinted := hint <> '';
END
$$;

-- Cases that did not end as they should: with that code, each of the words
-- (LIKE patterns) in what the error says, and a hint.
CREATE FUNCTION pg_temp.wrong(cases text[], OUT call text, OUT code text, OUT said text)
RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
	wanted text;
	words text;
	tried record;
BEGIN
	FOR i IN 1 .. cardinality(cases) / 3 LOOP
		wanted := cases[3 * i - 2];
		words := cases[3 * i - 1];
		call := cases[3 * i];
		SELECT * INTO tried FROM pg_temp.attempt(call);
		code := tried.code;
		said := tried.said;
		IF code <> wanted
			OR (wanted <> '00000' AND (said NOT LIKE '%' || words || '%' OR NOT tried.hinted)) THEN
			RETURN NEXT;
		END IF;
	END LOOP;
END
$$;
