/* PUBLIC may use the value types; everything that reads or writes boards is granted by name. */
DO $$
DECLARE
	routine pg_catalog.regprocedure;
BEGIN
	FOR routine IN
		SELECT p.oid::pg_catalog.regprocedure
		FROM pg_catalog.pg_depend d
		JOIN pg_catalog.pg_proc p ON p.oid OPERATOR(pg_catalog.=) d.objid
		WHERE d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass
		AND d.refobjid OPERATOR(pg_catalog.=) (SELECT e.oid FROM pg_catalog.pg_extension e WHERE e.extname OPERATOR(pg_catalog.=) 'leaderboard')
		AND d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass
		AND NOT (p.proname OPERATOR(pg_catalog.~) '^lb_(histogram|hll|topk)')
	LOOP
		EXECUTE pg_catalog.format('REVOKE ALL ON ROUTINE %s FROM PUBLIC', routine);
	END LOOP;
END
$$;
