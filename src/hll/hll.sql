/* lb_hll: how many different values.  src/hll/README.md says why it is as it is. */

CREATE TYPE @extschema@.lb_hll;

CREATE FUNCTION @extschema@.lb_hll_in(pg_catalog.cstring)
RETURNS @extschema@.lb_hll
AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION @extschema@.lb_hll_out(@extschema@.lb_hll)
RETURNS pg_catalog.cstring
AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION @extschema@.lb_hll_recv(pg_catalog.internal)
RETURNS @extschema@.lb_hll
AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION @extschema@.lb_hll_send(@extschema@.lb_hll)
RETURNS pg_catalog.bytea
AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE @extschema@.lb_hll (
	INPUT = @extschema@.lb_hll_in,
	OUTPUT = @extschema@.lb_hll_out,
	RECEIVE = @extschema@.lb_hll_recv,
	SEND = @extschema@.lb_hll_send,
	INTERNALLENGTH = VARIABLE,
	ALIGNMENT = int4,
	STORAGE = external
);

CREATE FUNCTION @extschema@.lb_hll_from_bytea(bytes pg_catalog.bytea)
RETURNS @extschema@.lb_hll
AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE CAST (pg_catalog.bytea AS @extschema@.lb_hll) WITH FUNCTION @extschema@.lb_hll_from_bytea(pg_catalog.bytea);
CREATE CAST (@extschema@.lb_hll AS pg_catalog.bytea) WITH FUNCTION @extschema@.lb_hll_send(@extschema@.lb_hll);

COMMENT ON TYPE @extschema@.lb_hll IS
'How many different values: a HyperLogLog sketch of 2^bits registers, bits 4 to 18. '
'Up to 3/16 * 2^bits values (3072 of the default 14 bits) it is sparse and its count exact but for one set in a thousand; beyond, the relative standard error is 1.04 / sqrt(2^bits): 0.8 per cent by default. '
'Text form: \x and the published bytes (src/hll/README.md) in hexadecimal, \x01000e0000 for an empty one. Equal sets of values are equal bytes, in whatever order and parts they were counted. '
'A dense one of 14 bits takes 8.2 kB, a sparse one some 3 bytes a value. '
'Errors: 22P02 bad text, 22P03 bad wire bytes or bytea, XX001 damaged stored bytes. In all functions a NULL in a required argument gives NULL, in an optional one its default.';

COMMENT ON FUNCTION @extschema@.lb_hll_in(pg_catalog.cstring) IS
'Text input of lb_hll. Errors: 22P02 with the place and what is wrong there.';
COMMENT ON FUNCTION @extschema@.lb_hll_out(@extschema@.lb_hll) IS
'Text output of lb_hll.';
COMMENT ON FUNCTION @extschema@.lb_hll_recv(pg_catalog.internal) IS
'Binary input of lb_hll: the published byte form, fully checked. Errors: 22P03.';
COMMENT ON FUNCTION @extschema@.lb_hll_send(@extschema@.lb_hll) IS
'The published byte form of lb_hll (src/hll/README.md), the same on every machine; also the cast to bytea.';
COMMENT ON FUNCTION @extschema@.lb_hll_from_bytea(pg_catalog.bytea) IS
'A sketch from its published byte form, fully checked; also the cast from bytea. Errors: 22P03.';
COMMENT ON CAST (pg_catalog.bytea AS @extschema@.lb_hll) IS 'the published byte form, fully checked';
COMMENT ON CAST (@extschema@.lb_hll AS pg_catalog.bytea) IS 'the published byte form';


/* Comparison: equal or not; there is no order among sketches. */

CREATE FUNCTION @extschema@.lb_hll_eq(left_sketch @extschema@.lb_hll, right_sketch @extschema@.lb_hll)
RETURNS boolean
AS 'MODULE_PATHNAME', 'lb_value_eq' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION @extschema@.lb_hll_ne(left_sketch @extschema@.lb_hll, right_sketch @extschema@.lb_hll)
RETURNS boolean
AS 'MODULE_PATHNAME', 'lb_value_ne' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION @extschema@.lb_hll_hash(sketch @extschema@.lb_hll)
RETURNS integer
AS 'MODULE_PATHNAME', 'lb_value_hash' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION @extschema@.lb_hll_hash_extended(sketch @extschema@.lb_hll, seed bigint)
RETURNS bigint
AS 'MODULE_PATHNAME', 'lb_value_hash_extended' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE OPERATOR @extschema@.= (
	FUNCTION = @extschema@.lb_hll_eq,
	LEFTARG = @extschema@.lb_hll,
	RIGHTARG = @extschema@.lb_hll,
	COMMUTATOR = OPERATOR(@extschema@.=),
	NEGATOR = OPERATOR(@extschema@.<>),
	RESTRICT = pg_catalog.eqsel,
	JOIN = pg_catalog.eqjoinsel,
	HASHES
);

CREATE OPERATOR @extschema@.<> (
	FUNCTION = @extschema@.lb_hll_ne,
	LEFTARG = @extschema@.lb_hll,
	RIGHTARG = @extschema@.lb_hll,
	COMMUTATOR = OPERATOR(@extschema@.<>),
	NEGATOR = OPERATOR(@extschema@.=),
	RESTRICT = pg_catalog.neqsel,
	JOIN = pg_catalog.neqjoinsel
);

CREATE OPERATOR CLASS @extschema@.lb_hll_hash_ops
DEFAULT FOR TYPE @extschema@.lb_hll USING hash AS
	OPERATOR 1 @extschema@.=,
	FUNCTION 1 @extschema@.lb_hll_hash(@extschema@.lb_hll),
	FUNCTION 2 @extschema@.lb_hll_hash_extended(@extschema@.lb_hll, bigint);

COMMENT ON FUNCTION @extschema@.lb_hll_eq(@extschema@.lb_hll, @extschema@.lb_hll) IS
'Behind =: the same bits and the same state; so of equal sets, and almost never of others. Sketches of different bits are not equal; that is no error.';
COMMENT ON FUNCTION @extschema@.lb_hll_ne(@extschema@.lb_hll, @extschema@.lb_hll) IS
'Behind <>: not equal.';
COMMENT ON FUNCTION @extschema@.lb_hll_hash(@extschema@.lb_hll) IS
'Hash of a sketch, for GROUP BY, DISTINCT, EXCEPT and hash joins.';
COMMENT ON FUNCTION @extschema@.lb_hll_hash_extended(@extschema@.lb_hll, bigint) IS
'Seeded 64-bit hash of a sketch, for hash partitioning.';
COMMENT ON OPERATOR @extschema@.= (@extschema@.lb_hll, @extschema@.lb_hll) IS 'equal';
COMMENT ON OPERATOR @extschema@.<> (@extschema@.lb_hll, @extschema@.lb_hll) IS 'not equal';
COMMENT ON OPERATOR CLASS @extschema@.lb_hll_hash_ops USING hash IS
'Equality of sketches, hashed.';


/* Making and joining. */

CREATE FUNCTION @extschema@.lb_hll_empty(bits integer DEFAULT 14)
RETURNS @extschema@.lb_hll
AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE;

CREATE FUNCTION @extschema@.lb_hll_add(h @extschema@.lb_hll, value pg_catalog.anyelement)
RETURNS @extschema@.lb_hll
AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION @extschema@.lb_hll_union(left_sketch @extschema@.lb_hll, right_sketch @extschema@.lb_hll)
RETURNS @extschema@.lb_hll
AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE OPERATOR @extschema@.|| (
	FUNCTION = @extschema@.lb_hll_union,
	LEFTARG = @extschema@.lb_hll,
	RIGHTARG = @extschema@.lb_hll,
	COMMUTATOR = OPERATOR(@extschema@.||)
);

CREATE FUNCTION @extschema@.lb_hll_hash_value(value pg_catalog.anyelement)
RETURNS bigint
AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.lb_hll_empty(integer) IS
'A sketch of no value. bits 4 to 18, NULL is 14; each bit more doubles the size and divides the error by 1.41. Errors: 22023.';
COMMENT ON FUNCTION @extschema@.lb_hll_add(@extschema@.lb_hll, pg_catalog.anyelement) IS
'h with one value more; the types are those of lb_hll_agg. h or value NULL gives NULL. A literal needs its type: lb_hll_add(h, ''x''::text). '
'Errors: 0A000 for other types and for nondeterministic collations. Cost: some microseconds, as it unpacks and packs h; use lb_hll_agg for many values.';
COMMENT ON FUNCTION @extschema@.lb_hll_union(@extschema@.lb_hll, @extschema@.lb_hll) IS
'Behind ||: the values of both, exactly as if all had been counted by one sketch. Of different bits: as if all had been counted with the fewer bits. Cost: some microseconds.';
COMMENT ON OPERATOR @extschema@.|| (@extschema@.lb_hll, @extschema@.lb_hll) IS 'the values of both';
COMMENT ON FUNCTION @extschema@.lb_hll_hash_value(pg_catalog.anyelement) IS
'The 64-bit hash that lb_hll counts a value by: XXH3 with seed 0 of the value''s canonical bytes (src/hll/README.md), for those who build sketches elsewhere. '
'smallint, integer, bigint of the same value hash alike, real and double precision too, char(n), varchar, text, name and enum labels of the same text too. Errors: 0A000 as lb_hll_agg.';


/* Questions. */

CREATE FUNCTION @extschema@.lb_hll_count(h @extschema@.lb_hll)
RETURNS double precision
AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION @extschema@.lb_hll_bounds(h @extschema@.lb_hll, confidence double precision DEFAULT 0.95, OUT low double precision, OUT high double precision)
RETURNS record
AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE;

CREATE FUNCTION @extschema@.lb_hll_bits(h @extschema@.lb_hll)
RETURNS integer
AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.lb_hll_count(@extschema@.lb_hll) IS
'How many different values: a whole number while the sketch is sparse (up to 3/16 * 2^bits values), then an estimate whose relative standard error is at most 1.04 / sqrt(2^bits), without bias at any size. 0 for an empty sketch. Cost: some ten microseconds.';
COMMENT ON FUNCTION @extschema@.lb_hll_bounds(@extschema@.lb_hll, double precision) IS
'Bounds low and high, lb_hll_count between them, that hold the true number of different values with that confidence, over random sets. '
'While the sketch is sparse low = high almost always. low is never less than 0. confidence NULL is 0.95; h NULL gives NULL. Errors: 22003 when confidence is not between 0 and 1.';
COMMENT ON FUNCTION @extschema@.lb_hll_bits(@extschema@.lb_hll) IS
'The bits of a sketch, 4 to 18: it has 2^bits registers.';


/* Aggregates: the state is the type; what these functions do is in hll_agg.c. */

CREATE FUNCTION lb._hll_agg_add(state @extschema@.lb_hll, value pg_catalog.anyelement)
RETURNS @extschema@.lb_hll
AS 'MODULE_PATHNAME', 'lb_hll_agg_add' LANGUAGE c IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE;

CREATE FUNCTION lb._hll_agg_add(state @extschema@.lb_hll, value pg_catalog.anyelement, bits integer)
RETURNS @extschema@.lb_hll
AS 'MODULE_PATHNAME', 'lb_hll_agg_add' LANGUAGE c IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE;

CREATE FUNCTION lb._hll_agg_union(state @extschema@.lb_hll, sketch @extschema@.lb_hll)
RETURNS @extschema@.lb_hll
AS 'MODULE_PATHNAME', 'lb_hll_agg_union' LANGUAGE c IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE;

CREATE FUNCTION lb._hll_agg_final(state @extschema@.lb_hll)
RETURNS @extschema@.lb_hll
AS 'MODULE_PATHNAME', 'lb_hll_agg_final' LANGUAGE c IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE;

CREATE AGGREGATE @extschema@.lb_hll_agg(value pg_catalog.anyelement) (
	SFUNC = lb._hll_agg_add,
	STYPE = @extschema@.lb_hll,
	SSPACE = 16384,
	FINALFUNC = lb._hll_agg_final,
	FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = lb._hll_agg_union,
	PARALLEL = SAFE
);

CREATE AGGREGATE @extschema@.lb_hll_agg(value pg_catalog.anyelement, bits integer) (
	SFUNC = lb._hll_agg_add,
	STYPE = @extschema@.lb_hll,
	SSPACE = 16384,
	FINALFUNC = lb._hll_agg_final,
	FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = lb._hll_agg_union,
	PARALLEL = SAFE
);

CREATE AGGREGATE @extschema@.lb_hll_union_agg(sketch @extschema@.lb_hll) (
	SFUNC = lb._hll_agg_union,
	STYPE = @extschema@.lb_hll,
	SSPACE = 16384,
	FINALFUNC = lb._hll_agg_final,
	FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = lb._hll_agg_union,
	PARALLEL = SAFE
);

COMMENT ON AGGREGATE @extschema@.lb_hll_agg(pg_catalog.anyelement) IS
'The sketch of the values that are not NULL; NULL when there is none. 14 bits: 0.8 per cent. '
'Types: boolean, integers, oid, real, double precision, numeric, text, varchar, char, name, enums, bytea, uuid, date, time, timestamp with and without time zone, and domains over them; cast others to text. '
'Runs in parallel, gives the same bytes in any order and split; does not move with a window frame, but computes each anew. '
'Errors: 0A000 for other types and for nondeterministic collations. Cost: some ten nanoseconds a row; memory: 2^bits bytes a group of many values, some 20 bytes a value while few.';
COMMENT ON AGGREGATE @extschema@.lb_hll_agg(pg_catalog.anyelement, integer) IS
'The sketch of the values that are not NULL; NULL when there is none. bits 4 to 18, NULL is 14; the relative standard error is 1.04 / sqrt(2^bits). '
'Types: boolean, integers, oid, real, double precision, numeric, text, varchar, char, name, enums, bytea, uuid, date, time, timestamp with and without time zone, and domains over them; cast others to text. '
'Runs in parallel, gives the same bytes in any order and split; does not move with a window frame, but computes each anew. '
'Errors: 22023 when bits is out of range or changes between rows; 0A000 for other types and for nondeterministic collations. Cost: some ten nanoseconds a row; memory: 2^bits bytes a group of many values, some 20 bytes a value while few.';
COMMENT ON AGGREGATE @extschema@.lb_hll_union_agg(@extschema@.lb_hll) IS
'The values of all the sketches that are not NULL together; NULL when there is none. Of different bits: as if all had been counted with the fewest. '
'Runs in parallel, gives the same bytes in any order and split; does not move with a window frame. Cost: some microseconds a row; memory: 2^bits bytes a group.';

/* Users call the aggregates, whose owner may call these. */
REVOKE ALL ON FUNCTION
	lb._hll_agg_add(@extschema@.lb_hll, pg_catalog.anyelement),
	lb._hll_agg_add(@extschema@.lb_hll, pg_catalog.anyelement, integer),
	lb._hll_agg_union(@extschema@.lb_hll, @extschema@.lb_hll),
	lb._hll_agg_final(@extschema@.lb_hll)
FROM PUBLIC;
