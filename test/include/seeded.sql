-- What random pgTAP tests begin with: quiet output, and a seed that is drawn, or
-- given by LB_SEED.  seeded(what) puts it into the name of a test.
\unset ECHO
\set QUIET 1
\pset format unaligned
\pset tuples_only true
\pset pager off
\set ON_ERROR_STOP true
\getenv seed LB_SEED
\if :{?seed}
\else
SELECT round(random()::numeric, 9) AS seed \gset
\endif
SET client_min_messages = warning;
SET timezone = 'UTC';
SELECT setseed(:seed) \g /dev/null
CREATE TABLE seed AS SELECT :'seed' AS seed;
CREATE FUNCTION seeded(what text) RETURNS text LANGUAGE sql STABLE AS $$ SELECT format('%s (LB_SEED=%s)', what, seed) FROM seed $$;
