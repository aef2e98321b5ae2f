/* lb_histogram: how many members have about which value.  src/histogram/README.md says why it is as it is. */

CREATE TYPE @extschema@.lb_histogram;

CREATE FUNCTION @extschema@.lb_histogram_in(pg_catalog.cstring)
RETURNS @extschema@.lb_histogram
AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION @extschema@.lb_histogram_out(@extschema@.lb_histogram)
RETURNS pg_catalog.cstring
AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION @extschema@.lb_histogram_recv(pg_catalog.internal)
RETURNS @extschema@.lb_histogram
AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION @extschema@.lb_histogram_send(@extschema@.lb_histogram)
RETURNS pg_catalog.bytea
AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE @extschema@.lb_histogram (
	INPUT = @extschema@.lb_histogram_in,
	OUTPUT = @extschema@.lb_histogram_out,
	RECEIVE = @extschema@.lb_histogram_recv,
	SEND = @extschema@.lb_histogram_send,
	INTERNALLENGTH = VARIABLE,
	ALIGNMENT = int4,
	STORAGE = extended
);

COMMENT ON TYPE @extschema@.lb_histogram IS
'How many members have about which value: counts of bigint values in logarithmic buckets, exact to add and to take away. '
'Text form {buckets:128,ceiling:1000000000000,counts:{-3:1,0:5,32:17}}: buckets 2 to 1024, ceiling 2 to 9223372036854775807, then bucket:members in ascending order of buckets; an empty one is {buckets:128,ceiling:1000000000000,counts:{}}. '
'A value v >= 0 is in bucket least(buckets - 1, floor(ln(1 + v) / ln(ceiling) * buckets)), a negative one in the negative of the bucket of -v; the first and the last bucket have no outer end. '
'Equal histograms are equal bytes; 128 buckets of a million members take a few hundred bytes. '
'Errors: 22P02 bad text, 22P03 bad wire bytes, XX001 damaged stored bytes. In all functions a NULL in a required argument gives NULL, in an optional one its default.';

COMMENT ON FUNCTION @extschema@.lb_histogram_in(pg_catalog.cstring) IS
'Text input of lb_histogram. Errors: 22P02 with the place and what is wrong there.';
COMMENT ON FUNCTION @extschema@.lb_histogram_out(@extschema@.lb_histogram) IS
'Text output of lb_histogram.';
COMMENT ON FUNCTION @extschema@.lb_histogram_recv(pg_catalog.internal) IS
'Binary input of lb_histogram: the published byte form, fully checked. Errors: 22P03.';
COMMENT ON FUNCTION @extschema@.lb_histogram_send(@extschema@.lb_histogram) IS
'The published byte form of lb_histogram (src/histogram/README.md), the same on every machine.';


/* Comparison: equal or not; there is no order among histograms. */

CREATE FUNCTION @extschema@.lb_histogram_eq(left_histogram @extschema@.lb_histogram, right_histogram @extschema@.lb_histogram)
RETURNS boolean
AS 'MODULE_PATHNAME', 'lb_value_eq' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION @extschema@.lb_histogram_ne(left_histogram @extschema@.lb_histogram, right_histogram @extschema@.lb_histogram)
RETURNS boolean
AS 'MODULE_PATHNAME', 'lb_value_ne' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION @extschema@.lb_histogram_hash(histogram @extschema@.lb_histogram)
RETURNS integer
AS 'MODULE_PATHNAME', 'lb_value_hash' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION @extschema@.lb_histogram_hash_extended(histogram @extschema@.lb_histogram, seed bigint)
RETURNS bigint
AS 'MODULE_PATHNAME', 'lb_value_hash_extended' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE OPERATOR @extschema@.= (
	FUNCTION = @extschema@.lb_histogram_eq,
	LEFTARG = @extschema@.lb_histogram,
	RIGHTARG = @extschema@.lb_histogram,
	COMMUTATOR = OPERATOR(@extschema@.=),
	NEGATOR = OPERATOR(@extschema@.<>),
	RESTRICT = pg_catalog.eqsel,
	JOIN = pg_catalog.eqjoinsel,
	HASHES
);

CREATE OPERATOR @extschema@.<> (
	FUNCTION = @extschema@.lb_histogram_ne,
	LEFTARG = @extschema@.lb_histogram,
	RIGHTARG = @extschema@.lb_histogram,
	COMMUTATOR = OPERATOR(@extschema@.<>),
	NEGATOR = OPERATOR(@extschema@.=),
	RESTRICT = pg_catalog.neqsel,
	JOIN = pg_catalog.neqjoinsel
);

CREATE OPERATOR CLASS @extschema@.lb_histogram_hash_ops
DEFAULT FOR TYPE @extschema@.lb_histogram USING hash AS
	OPERATOR 1 @extschema@.=,
	FUNCTION 1 @extschema@.lb_histogram_hash(@extschema@.lb_histogram),
	FUNCTION 2 @extschema@.lb_histogram_hash_extended(@extschema@.lb_histogram, bigint);

COMMENT ON FUNCTION @extschema@.lb_histogram_eq(@extschema@.lb_histogram, @extschema@.lb_histogram) IS
'Behind =: the same buckets, ceiling and counts. Histograms of different buckets or ceilings are not equal; that is no error.';
COMMENT ON FUNCTION @extschema@.lb_histogram_ne(@extschema@.lb_histogram, @extschema@.lb_histogram) IS
'Behind <>: not equal.';
COMMENT ON FUNCTION @extschema@.lb_histogram_hash(@extschema@.lb_histogram) IS
'Hash of a histogram, for GROUP BY, DISTINCT, EXCEPT and hash joins.';
COMMENT ON FUNCTION @extschema@.lb_histogram_hash_extended(@extschema@.lb_histogram, bigint) IS
'Seeded 64-bit hash of a histogram, for hash partitioning.';
COMMENT ON OPERATOR @extschema@.= (@extschema@.lb_histogram, @extschema@.lb_histogram) IS 'equal';
COMMENT ON OPERATOR @extschema@.<> (@extschema@.lb_histogram, @extschema@.lb_histogram) IS 'not equal';
COMMENT ON OPERATOR CLASS @extschema@.lb_histogram_hash_ops USING hash IS
'Equality of histograms, hashed.';


/* Arithmetic. */

CREATE FUNCTION @extschema@.lb_histogram_union(left_histogram @extschema@.lb_histogram, right_histogram @extschema@.lb_histogram)
RETURNS @extschema@.lb_histogram
AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION @extschema@.lb_histogram_subtract(left_histogram @extschema@.lb_histogram, right_histogram @extschema@.lb_histogram)
RETURNS @extschema@.lb_histogram
AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE OPERATOR @extschema@.+ (
	FUNCTION = @extschema@.lb_histogram_union,
	LEFTARG = @extschema@.lb_histogram,
	RIGHTARG = @extschema@.lb_histogram,
	COMMUTATOR = OPERATOR(@extschema@.+)
);

CREATE OPERATOR @extschema@.- (
	FUNCTION = @extschema@.lb_histogram_subtract,
	LEFTARG = @extschema@.lb_histogram,
	RIGHTARG = @extschema@.lb_histogram
);

CREATE FUNCTION @extschema@.lb_histogram_add(h @extschema@.lb_histogram, value bigint, n bigint DEFAULT 1)
RETURNS @extschema@.lb_histogram
AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.lb_histogram_union(@extschema@.lb_histogram, @extschema@.lb_histogram) IS
'Behind +: the members of both, exactly. Errors: 22023 when buckets or ceiling differ; 22003 past 9223372036854775807 members. Cost: grows with the buckets only.';
COMMENT ON FUNCTION @extschema@.lb_histogram_subtract(@extschema@.lb_histogram, @extschema@.lb_histogram) IS
'Behind -: the members of the first without those of the second, exactly. Errors: 22023 when buckets or ceiling differ; 22003 when the second has more members in some bucket. Cost: grows with the buckets only.';
COMMENT ON OPERATOR @extschema@.+ (@extschema@.lb_histogram, @extschema@.lb_histogram) IS 'the members of both';
COMMENT ON OPERATOR @extschema@.- (@extschema@.lb_histogram, @extschema@.lb_histogram) IS 'the members of the first without those of the second';
COMMENT ON FUNCTION @extschema@.lb_histogram_add(@extschema@.lb_histogram, bigint, bigint) IS
'h with value counted n times more; a negative n takes away. Any bigint is a value. n NULL is 1; h or value NULL gives NULL. '
'Errors: 22003 when a bucket would fall below zero members or all would pass 9223372036854775807. Cost: about a microsecond, as it unpacks and packs h; use lb_histogram_agg for many values.';


/* Questions. */

CREATE FUNCTION @extschema@.lb_histogram_count(h @extschema@.lb_histogram)
RETURNS bigint
AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION @extschema@.lb_histogram_above(h @extschema@.lb_histogram, value bigint, OUT low bigint, OUT high bigint)
RETURNS record
AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION @extschema@.lb_histogram_rank(h @extschema@.lb_histogram, value bigint,
	OUT rank_low bigint, OUT rank_high bigint,
	OUT percentile_low double precision, OUT percentile_high double precision)
RETURNS record
AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION @extschema@.lb_histogram_quantile(h @extschema@.lb_histogram, fraction double precision, OUT low bigint, OUT high bigint)
RETURNS record
AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION @extschema@.lb_histogram_buckets(h @extschema@.lb_histogram)
RETURNS TABLE (bucket integer, low bigint, high bigint, members bigint)
AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
ROWS 64;

CREATE FUNCTION @extschema@.lb_histogram_chart(h @extschema@.lb_histogram, width integer DEFAULT 40)
RETURNS pg_catalog.text
AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.lb_histogram_count(@extschema@.lb_histogram) IS
'The number of members; 0 for an empty histogram.';
COMMENT ON FUNCTION @extschema@.lb_histogram_above(@extschema@.lb_histogram, bigint) IS
'How many members are strictly above value: at least low, at most high. The value need not be one of them. '
'low = high when no member shares the value''s bucket or value is the greatest of its bucket (always so for small values, whose buckets hold one integer); else they differ by the members of its bucket. An empty histogram answers 0, 0. Cost: less than a microsecond.';
COMMENT ON FUNCTION @extschema@.lb_histogram_rank(@extschema@.lb_histogram, bigint) IS
'The rank of a member of h whose value is given, the greatest value having rank 1: at best rank_low, at worst rank_high (1 + the members strictly above). '
'percentile = 100 * (members - strictly above) / members, oneself included, between percentile_low and percentile_high. '
'If the value''s bucket is empty, value is no member: the answer is then exact and is what it would be had that member just joined (so 1, 1, 100, 100 for an empty h). '
'Errors: 22003 when that member would be one too many. Cost: less than a microsecond.';
COMMENT ON FUNCTION @extschema@.lb_histogram_quantile(@extschema@.lb_histogram, double precision) IS
'Bounds low and high of what percentile_disc(fraction) WITHIN GROUP (ORDER BY value) answers over the same values; 0.5 is the median. '
'high is NULL in the last bucket, low in the first, which have no outer end; both are NULL for an empty histogram. high + 1 is at most ceiling^(1/buckets) times low + 1, rounded up. '
'Errors: 22003 when fraction is not between 0 and 1. Cost: less than a microsecond.';
COMMENT ON FUNCTION @extschema@.lb_histogram_buckets(@extschema@.lb_histogram) IS
'One row for each bucket with members, in ascending order: bucket (negative below zero), its least and greatest possible value (NULL: no end), its members.';
COMMENT ON FUNCTION @extschema@.lb_histogram_chart(@extschema@.lb_histogram, integer) IS
'A drawing in text, one line for a range of values, ascending: range, members, per cent of all, and a bar, the longest being width characters (1 to 200, NULL is 40). '
'Neighbouring buckets are joined so that there are some 20 lines. "no members" for an empty histogram, NULL for NULL. Errors: 22023 for another width.';


/* Aggregates: the state is the type; what these functions do is in histogram_agg.c. */

CREATE FUNCTION lb._histogram_agg_add(state @extschema@.lb_histogram, value bigint)
RETURNS @extschema@.lb_histogram
AS 'MODULE_PATHNAME', 'lb_histogram_agg_add' LANGUAGE c IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE;

CREATE FUNCTION lb._histogram_agg_add(state @extschema@.lb_histogram, value bigint, buckets integer)
RETURNS @extschema@.lb_histogram
AS 'MODULE_PATHNAME', 'lb_histogram_agg_add' LANGUAGE c IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE;

CREATE FUNCTION lb._histogram_agg_add(state @extschema@.lb_histogram, value bigint, buckets integer, ceiling bigint)
RETURNS @extschema@.lb_histogram
AS 'MODULE_PATHNAME', 'lb_histogram_agg_add' LANGUAGE c IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE;

CREATE FUNCTION lb._histogram_agg_move(state @extschema@.lb_histogram, value bigint)
RETURNS @extschema@.lb_histogram
AS 'MODULE_PATHNAME', 'lb_histogram_agg_move' LANGUAGE c IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE;

CREATE FUNCTION lb._histogram_agg_move(state @extschema@.lb_histogram, value bigint, buckets integer)
RETURNS @extschema@.lb_histogram
AS 'MODULE_PATHNAME', 'lb_histogram_agg_move' LANGUAGE c IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE;

CREATE FUNCTION lb._histogram_agg_move(state @extschema@.lb_histogram, value bigint, buckets integer, ceiling bigint)
RETURNS @extschema@.lb_histogram
AS 'MODULE_PATHNAME', 'lb_histogram_agg_move' LANGUAGE c IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE;

CREATE FUNCTION lb._histogram_agg_remove(state @extschema@.lb_histogram, value bigint)
RETURNS @extschema@.lb_histogram
AS 'MODULE_PATHNAME', 'lb_histogram_agg_remove' LANGUAGE c IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE;

CREATE FUNCTION lb._histogram_agg_remove(state @extschema@.lb_histogram, value bigint, buckets integer)
RETURNS @extschema@.lb_histogram
AS 'MODULE_PATHNAME', 'lb_histogram_agg_remove' LANGUAGE c IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE;

CREATE FUNCTION lb._histogram_agg_remove(state @extschema@.lb_histogram, value bigint, buckets integer, ceiling bigint)
RETURNS @extschema@.lb_histogram
AS 'MODULE_PATHNAME', 'lb_histogram_agg_remove' LANGUAGE c IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE;

CREATE FUNCTION lb._histogram_agg_union(state @extschema@.lb_histogram, histogram @extschema@.lb_histogram)
RETURNS @extschema@.lb_histogram
AS 'MODULE_PATHNAME', 'lb_histogram_agg_union' LANGUAGE c IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE;

CREATE FUNCTION lb._histogram_agg_union_move(state @extschema@.lb_histogram, histogram @extschema@.lb_histogram)
RETURNS @extschema@.lb_histogram
AS 'MODULE_PATHNAME', 'lb_histogram_agg_union_move' LANGUAGE c IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE;

CREATE FUNCTION lb._histogram_agg_union_remove(state @extschema@.lb_histogram, histogram @extschema@.lb_histogram)
RETURNS @extschema@.lb_histogram
AS 'MODULE_PATHNAME', 'lb_histogram_agg_union_remove' LANGUAGE c IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE;

CREATE FUNCTION lb._histogram_agg_final(state @extschema@.lb_histogram)
RETURNS @extschema@.lb_histogram
AS 'MODULE_PATHNAME', 'lb_histogram_agg_final' LANGUAGE c IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE;

CREATE FUNCTION lb._histogram_agg_move_final(state @extschema@.lb_histogram)
RETURNS @extschema@.lb_histogram
AS 'MODULE_PATHNAME', 'lb_histogram_agg_move_final' LANGUAGE c IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE;

CREATE AGGREGATE @extschema@.lb_histogram_agg(value bigint) (
	SFUNC = lb._histogram_agg_add,
	STYPE = @extschema@.lb_histogram,
	SSPACE = 4096,
	FINALFUNC = lb._histogram_agg_final,
	FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = lb._histogram_agg_union,
	MSFUNC = lb._histogram_agg_move,
	MINVFUNC = lb._histogram_agg_remove,
	MSTYPE = @extschema@.lb_histogram,
	MSSPACE = 4096,
	MFINALFUNC = lb._histogram_agg_move_final,
	MFINALFUNC_MODIFY = READ_ONLY,
	PARALLEL = SAFE
);

CREATE AGGREGATE @extschema@.lb_histogram_agg(value bigint, buckets integer) (
	SFUNC = lb._histogram_agg_add,
	STYPE = @extschema@.lb_histogram,
	SSPACE = 4096,
	FINALFUNC = lb._histogram_agg_final,
	FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = lb._histogram_agg_union,
	MSFUNC = lb._histogram_agg_move,
	MINVFUNC = lb._histogram_agg_remove,
	MSTYPE = @extschema@.lb_histogram,
	MSSPACE = 4096,
	MFINALFUNC = lb._histogram_agg_move_final,
	MFINALFUNC_MODIFY = READ_ONLY,
	PARALLEL = SAFE
);

CREATE AGGREGATE @extschema@.lb_histogram_agg(value bigint, buckets integer, ceiling bigint) (
	SFUNC = lb._histogram_agg_add,
	STYPE = @extschema@.lb_histogram,
	SSPACE = 4096,
	FINALFUNC = lb._histogram_agg_final,
	FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = lb._histogram_agg_union,
	MSFUNC = lb._histogram_agg_move,
	MINVFUNC = lb._histogram_agg_remove,
	MSTYPE = @extschema@.lb_histogram,
	MSSPACE = 4096,
	MFINALFUNC = lb._histogram_agg_move_final,
	MFINALFUNC_MODIFY = READ_ONLY,
	PARALLEL = SAFE
);

CREATE AGGREGATE @extschema@.lb_histogram_union_agg(histogram @extschema@.lb_histogram) (
	SFUNC = lb._histogram_agg_union,
	STYPE = @extschema@.lb_histogram,
	SSPACE = 4096,
	FINALFUNC = lb._histogram_agg_final,
	FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = lb._histogram_agg_union,
	MSFUNC = lb._histogram_agg_union_move,
	MINVFUNC = lb._histogram_agg_union_remove,
	MSTYPE = @extschema@.lb_histogram,
	MSSPACE = 4096,
	MFINALFUNC = lb._histogram_agg_move_final,
	MFINALFUNC_MODIFY = READ_ONLY,
	PARALLEL = SAFE
);

COMMENT ON AGGREGATE @extschema@.lb_histogram_agg(bigint) IS
'The histogram of the values that are not NULL; NULL when there is none. 128 buckets, ceiling 10^12.'
'Moves with a window frame by adding and taking away, runs in parallel, gives the same bytes in any order and split. '
'Errors: 22023 when buckets or ceiling is out of range or changes between rows. Cost: some tens of nanoseconds a row; memory: 16 bytes a bucket and group.';
COMMENT ON AGGREGATE @extschema@.lb_histogram_agg(bigint, integer) IS
'The histogram of the values that are not NULL; NULL when there is none. buckets 2 to 1024, NULL is 128; ceiling 10^12.'
'Moves with a window frame by adding and taking away, runs in parallel, gives the same bytes in any order and split. '
'Errors: 22023 when buckets or ceiling is out of range or changes between rows. Cost: some tens of nanoseconds a row; memory: 16 bytes a bucket and group.';
COMMENT ON AGGREGATE @extschema@.lb_histogram_agg(bigint, integer, bigint) IS
'The histogram of the values that are not NULL; NULL when there is none. buckets 2 to 1024, NULL is 128; ceiling 2 to 9223372036854775807, NULL is 10^12: greater values are all counted in the last bucket.'
'Moves with a window frame by adding and taking away, runs in parallel, gives the same bytes in any order and split. '
'Errors: 22023 when buckets or ceiling is out of range or changes between rows. Cost: some tens of nanoseconds a row; memory: 16 bytes a bucket and group.';
COMMENT ON AGGREGATE @extschema@.lb_histogram_union_agg(@extschema@.lb_histogram) IS
'The members of all the histograms that are not NULL together; NULL when there is none. '
'Moves with a window frame, runs in parallel, gives the same bytes in any order and split. '
'Errors: 22023 when buckets or ceiling differ, 22003 past 9223372036854775807 members. Cost: grows with the buckets of each row.';

/* Users call the aggregates, whose owner may call these. */
REVOKE ALL ON FUNCTION
	lb._histogram_agg_add(@extschema@.lb_histogram, bigint),
	lb._histogram_agg_add(@extschema@.lb_histogram, bigint, integer),
	lb._histogram_agg_add(@extschema@.lb_histogram, bigint, integer, bigint),
	lb._histogram_agg_move(@extschema@.lb_histogram, bigint),
	lb._histogram_agg_move(@extschema@.lb_histogram, bigint, integer),
	lb._histogram_agg_move(@extschema@.lb_histogram, bigint, integer, bigint),
	lb._histogram_agg_remove(@extschema@.lb_histogram, bigint),
	lb._histogram_agg_remove(@extschema@.lb_histogram, bigint, integer),
	lb._histogram_agg_remove(@extschema@.lb_histogram, bigint, integer, bigint),
	lb._histogram_agg_union(@extschema@.lb_histogram, @extschema@.lb_histogram),
	lb._histogram_agg_union_move(@extschema@.lb_histogram, @extschema@.lb_histogram),
	lb._histogram_agg_union_remove(@extschema@.lb_histogram, @extschema@.lb_histogram),
	lb._histogram_agg_final(@extschema@.lb_histogram),
	lb._histogram_agg_move_final(@extschema@.lb_histogram)
FROM PUBLIC;
