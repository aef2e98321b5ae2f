/* The install script of leaderboard, joined from the parts below src by "make sql"; edit those, not this file. */
\echo Use "CREATE EXTENSION leaderboard" to load this file. \quit

CREATE SCHEMA lb;
COMMENT ON SCHEMA lb IS
'The tables and inner functions of the extension leaderboard; applications call the lb_ functions instead.';
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
/* lb_topk: the heaviest of many weighted items, in bounded memory.  src/topk/README.md says why it is as it is. */

CREATE TYPE @extschema@.lb_topk;

CREATE FUNCTION @extschema@.lb_topk_in(pg_catalog.cstring)
RETURNS @extschema@.lb_topk
AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION @extschema@.lb_topk_out(@extschema@.lb_topk)
RETURNS pg_catalog.cstring
AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION @extschema@.lb_topk_recv(pg_catalog.internal)
RETURNS @extschema@.lb_topk
AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION @extschema@.lb_topk_send(@extschema@.lb_topk)
RETURNS pg_catalog.bytea
AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE @extschema@.lb_topk (
	INPUT = @extschema@.lb_topk_in,
	OUTPUT = @extschema@.lb_topk_out,
	RECEIVE = @extschema@.lb_topk_recv,
	SEND = @extschema@.lb_topk_send,
	INTERNALLENGTH = VARIABLE,
	ALIGNMENT = int4,
	STORAGE = extended
);

CREATE FUNCTION @extschema@.lb_topk_from_bytea(bytes pg_catalog.bytea)
RETURNS @extschema@.lb_topk
AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE CAST (@extschema@.lb_topk AS pg_catalog.bytea) WITH FUNCTION @extschema@.lb_topk_send(@extschema@.lb_topk);
CREATE CAST (pg_catalog.bytea AS @extschema@.lb_topk) WITH FUNCTION @extschema@.lb_topk_from_bytea(pg_catalog.bytea);

COMMENT ON TYPE @extschema@.lb_topk IS
'The heaviest of many items with weights, in memory that its capacity bounds: tracked items with a low and a high that hold the true weight between them, and one bound that no other item exceeds. '
'bound <= total / (capacity + 1), also after any number of merges; 0 as long as there are no more distinct items than the capacity: then all is exact. '
'Text form {capacity:100,total:20,bound:0,items:{"ann":[12,12],"bob":[8,8]}}: capacity 1 to 10000, then "item":[low,high] in ascending order of the items'' bytes, a quote or backslash in an item with a backslash before it; an empty one is {capacity:100,total:0,bound:0,items:{}}. '
'An item is text of at most 255 bytes, a weight a positive bigint. '
'Errors: 22P02 bad text, 22P03 bad bytes, XX001 damaged stored bytes. In all functions a NULL in a required argument gives NULL, in an optional one its default.';

COMMENT ON FUNCTION @extschema@.lb_topk_in(pg_catalog.cstring) IS
'Text input of lb_topk. Errors: 22P02 with the place and what is wrong there.';
COMMENT ON FUNCTION @extschema@.lb_topk_out(@extschema@.lb_topk) IS
'Text output of lb_topk.';
COMMENT ON FUNCTION @extschema@.lb_topk_recv(pg_catalog.internal) IS
'Binary input of lb_topk: the published byte form, fully checked. Errors: 22P03.';
COMMENT ON FUNCTION @extschema@.lb_topk_send(@extschema@.lb_topk) IS
'The published byte form of lb_topk (src/topk/README.md), the same on every machine; also its cast to bytea. Items are in the encoding of the database.';
COMMENT ON FUNCTION @extschema@.lb_topk_from_bytea(pg_catalog.bytea) IS
'The cast from bytea: the published byte form, fully checked. Errors: 22P03 for bytes that are not canonical, promise what cannot be, or hold items that are no text of the database''s encoding.';
COMMENT ON CAST (@extschema@.lb_topk AS pg_catalog.bytea) IS 'the published byte form';
COMMENT ON CAST (pg_catalog.bytea AS @extschema@.lb_topk) IS 'from the published byte form, fully checked';


/* Comparison: equal or not; there is no order among sketches. */

CREATE FUNCTION @extschema@.lb_topk_eq(left_topk @extschema@.lb_topk, right_topk @extschema@.lb_topk)
RETURNS boolean
AS 'MODULE_PATHNAME', 'lb_value_eq' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION @extschema@.lb_topk_ne(left_topk @extschema@.lb_topk, right_topk @extschema@.lb_topk)
RETURNS boolean
AS 'MODULE_PATHNAME', 'lb_value_ne' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION @extschema@.lb_topk_hash(topk @extschema@.lb_topk)
RETURNS integer
AS 'MODULE_PATHNAME', 'lb_value_hash' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION @extschema@.lb_topk_hash_extended(topk @extschema@.lb_topk, seed bigint)
RETURNS bigint
AS 'MODULE_PATHNAME', 'lb_value_hash_extended' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE OPERATOR @extschema@.= (
	FUNCTION = @extschema@.lb_topk_eq,
	LEFTARG = @extschema@.lb_topk,
	RIGHTARG = @extschema@.lb_topk,
	COMMUTATOR = OPERATOR(@extschema@.=),
	NEGATOR = OPERATOR(@extschema@.<>),
	RESTRICT = pg_catalog.eqsel,
	JOIN = pg_catalog.eqjoinsel,
	HASHES
);

CREATE OPERATOR @extschema@.<> (
	FUNCTION = @extschema@.lb_topk_ne,
	LEFTARG = @extschema@.lb_topk,
	RIGHTARG = @extschema@.lb_topk,
	COMMUTATOR = OPERATOR(@extschema@.<>),
	NEGATOR = OPERATOR(@extschema@.=),
	RESTRICT = pg_catalog.neqsel,
	JOIN = pg_catalog.neqjoinsel
);

CREATE OPERATOR CLASS @extschema@.lb_topk_hash_ops
DEFAULT FOR TYPE @extschema@.lb_topk USING hash AS
	OPERATOR 1 @extschema@.=,
	FUNCTION 1 @extschema@.lb_topk_hash(@extschema@.lb_topk),
	FUNCTION 2 @extschema@.lb_topk_hash_extended(@extschema@.lb_topk, bigint);

COMMENT ON FUNCTION @extschema@.lb_topk_eq(@extschema@.lb_topk, @extschema@.lb_topk) IS
'Behind =: the same capacity, total, bound, items, lows and highs. Sketches of the same items need not be equal once something was forgotten.';
COMMENT ON FUNCTION @extschema@.lb_topk_ne(@extschema@.lb_topk, @extschema@.lb_topk) IS
'Behind <>: not equal.';
COMMENT ON FUNCTION @extschema@.lb_topk_hash(@extschema@.lb_topk) IS
'Hash of a sketch, for GROUP BY, DISTINCT, EXCEPT and hash joins.';
COMMENT ON FUNCTION @extschema@.lb_topk_hash_extended(@extschema@.lb_topk, bigint) IS
'Seeded 64-bit hash of a sketch, for hash partitioning.';
COMMENT ON OPERATOR @extschema@.= (@extschema@.lb_topk, @extschema@.lb_topk) IS 'equal';
COMMENT ON OPERATOR @extschema@.<> (@extschema@.lb_topk, @extschema@.lb_topk) IS 'not equal';
COMMENT ON OPERATOR CLASS @extschema@.lb_topk_hash_ops USING hash IS
'Equality of top-k sketches, hashed.';


/* Counting in. */

CREATE FUNCTION @extschema@.lb_topk_union(left_topk @extschema@.lb_topk, right_topk @extschema@.lb_topk)
RETURNS @extschema@.lb_topk
AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE OPERATOR @extschema@.|| (
	FUNCTION = @extschema@.lb_topk_union,
	LEFTARG = @extschema@.lb_topk,
	RIGHTARG = @extschema@.lb_topk,
	COMMUTATOR = OPERATOR(@extschema@.||)
);

CREATE FUNCTION @extschema@.lb_topk_add(t @extschema@.lb_topk, item pg_catalog.text, weight bigint DEFAULT 1)
RETURNS @extschema@.lb_topk
AS 'MODULE_PATHNAME', 'lb_topk_with' LANGUAGE c IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.lb_topk_union(@extschema@.lb_topk, @extschema@.lb_topk) IS
'Behind ||: what both counted. The result has the smaller of the capacities and keeps its promises for all items of both; totals and bounds add up, and the bound rises by what has to be forgotten. '
't || u = u || t always; (t || u) || v = t || (u || v) as long as nothing was forgotten. Errors: 22003 past a total of 9223372036854775807. Cost: some hundred nanoseconds for each item of both.';
COMMENT ON OPERATOR @extschema@.|| (@extschema@.lb_topk, @extschema@.lb_topk) IS 'what both counted';
COMMENT ON FUNCTION @extschema@.lb_topk_add(@extschema@.lb_topk, pg_catalog.text, bigint) IS
't with item counted with that much more weight. weight NULL is 1; t or item NULL gives NULL. '
'Errors: 22023 when weight is not positive or item has more than 255 bytes; 22003 past a total of 9223372036854775807. Cost: some hundred nanoseconds for each item of t, as it unpacks and packs t; use lb_topk_agg for many.';


/* Questions. */

CREATE FUNCTION @extschema@.lb_topk_items(t @extschema@.lb_topk)
RETURNS TABLE (item pg_catalog.text, low bigint, high bigint)
AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
ROWS 100;

CREATE FUNCTION @extschema@.lb_topk_item(t @extschema@.lb_topk, item pg_catalog.text, OUT low bigint, OUT high bigint)
RETURNS record
AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION @extschema@.lb_topk_total(t @extschema@.lb_topk)
RETURNS bigint
AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION @extschema@.lb_topk_bound(t @extschema@.lb_topk)
RETURNS bigint
AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION @extschema@.lb_topk_capacity(t @extschema@.lb_topk)
RETURNS integer
AS 'MODULE_PATHNAME' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.lb_topk_items(@extschema@.lb_topk) IS
'The tracked items, at most the capacity, with bounds of their weights: low <= true weight <= high, high - low <= bound. '
'Best first: by low, then high, both descending, then by the item''s bytes. Every item with more weight than lb_topk_bound(t) is among them. '
'If low of one is at least high of another, it is at least as heavy for certain. Cost: some hundred nanoseconds an item.';
COMMENT ON FUNCTION @extschema@.lb_topk_item(@extschema@.lb_topk, pg_catalog.text) IS
'Between what the weight of any item is: low and high of lb_topk_items for a tracked one, 0 and lb_topk_bound(t) for another. Cost: less than a hundred nanoseconds for each item of t.';
COMMENT ON FUNCTION @extschema@.lb_topk_total(@extschema@.lb_topk) IS
'All weight that was counted, exactly; 0 for an empty sketch.';
COMMENT ON FUNCTION @extschema@.lb_topk_bound(@extschema@.lb_topk) IS
'What no untracked item exceeds, and what no high - low exceeds; at most total / (capacity + 1), and at most (total - weight of the j heaviest items) / (capacity + 1 - j) for each j up to the capacity. 0: every item is there and exact.';
COMMENT ON FUNCTION @extschema@.lb_topk_capacity(@extschema@.lb_topk) IS
'How many items the sketch tracks.';


/* Aggregates: the state is the type; what these functions do is in topk_agg.c. */

CREATE FUNCTION lb._topk_agg_add(state @extschema@.lb_topk, item pg_catalog.text, weight bigint)
RETURNS @extschema@.lb_topk
AS 'MODULE_PATHNAME', 'lb_topk_agg_add' LANGUAGE c IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE;

CREATE FUNCTION lb._topk_agg_add(state @extschema@.lb_topk, item pg_catalog.text, weight bigint, capacity integer)
RETURNS @extschema@.lb_topk
AS 'MODULE_PATHNAME', 'lb_topk_agg_add' LANGUAGE c IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE;

CREATE FUNCTION lb._topk_agg_union(state @extschema@.lb_topk, topk @extschema@.lb_topk)
RETURNS @extschema@.lb_topk
AS 'MODULE_PATHNAME', 'lb_topk_agg_union' LANGUAGE c IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE;

CREATE FUNCTION lb._topk_agg_final(state @extschema@.lb_topk)
RETURNS @extschema@.lb_topk
AS 'MODULE_PATHNAME', 'lb_topk_agg_final' LANGUAGE c IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE;

CREATE AGGREGATE @extschema@.lb_topk_agg(item pg_catalog.text, weight bigint) (
	SFUNC = lb._topk_agg_add,
	STYPE = @extschema@.lb_topk,
	SSPACE = 24576,
	FINALFUNC = lb._topk_agg_final,
	FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = lb._topk_agg_union,
	PARALLEL = SAFE
);

CREATE AGGREGATE @extschema@.lb_topk_agg(item pg_catalog.text, weight bigint, capacity integer) (
	SFUNC = lb._topk_agg_add,
	STYPE = @extschema@.lb_topk,
	SSPACE = 24576,
	FINALFUNC = lb._topk_agg_final,
	FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = lb._topk_agg_union,
	PARALLEL = SAFE
);

CREATE AGGREGATE @extschema@.lb_topk_union_agg(topk @extschema@.lb_topk) (
	SFUNC = lb._topk_agg_union,
	STYPE = @extschema@.lb_topk,
	SSPACE = 24576,
	FINALFUNC = lb._topk_agg_final,
	FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = lb._topk_agg_union,
	PARALLEL = SAFE
);

COMMENT ON AGGREGATE @extschema@.lb_topk_agg(pg_catalog.text, bigint) IS
'The sketch of the items with their weights, rows with a NULL left out; NULL when there is none. Capacity 100. '
'Exact, and the same bytes in any order and split, up to as many distinct items as the capacity; beyond, the same for the same sequence of rows. Runs in parallel; a window frame whose start moves is counted anew for each row. '
'Errors: 22023 when a weight is not positive or an item has more than 255 bytes, 22003 past a total of 9223372036854775807. Cost: some tens of nanoseconds a row; memory: some 160 bytes and four times the item for each of the capacity and group.';
COMMENT ON AGGREGATE @extschema@.lb_topk_agg(pg_catalog.text, bigint, integer) IS
'The sketch of the items with their weights, rows with a NULL left out; NULL when there is none. capacity 1 to 10000, NULL is 100; ten times the places of interest is a good choice. '
'Exact, and the same bytes in any order and split, up to as many distinct items as the capacity; beyond, the same for the same sequence of rows. Runs in parallel; a window frame whose start moves is counted anew for each row. '
'Errors: 22023 when capacity is out of range or changes between rows, a weight is not positive or an item has more than 255 bytes, 22003 past a total of 9223372036854775807. Cost: some tens of nanoseconds a row; memory: some 160 bytes and four times the item for each of the capacity and group.';
COMMENT ON AGGREGATE @extschema@.lb_topk_union_agg(@extschema@.lb_topk) IS
'What all the sketches that are not NULL counted; NULL when there is none. The smallest of the capacities is that of the result. '
'The same bytes in any order and split as long as nothing was or has to be forgotten. Runs in parallel. '
'Errors: 22003 past a total of 9223372036854775807. Cost: less than a hundred nanoseconds for each item of each row.';

/* Users call the aggregates, whose owner may call these. */
REVOKE ALL ON FUNCTION
	lb._topk_agg_add(@extschema@.lb_topk, pg_catalog.text, bigint),
	lb._topk_agg_add(@extschema@.lb_topk, pg_catalog.text, bigint, integer),
	lb._topk_agg_union(@extschema@.lb_topk, @extschema@.lb_topk),
	lb._topk_agg_final(@extschema@.lb_topk)
FROM PUBLIC;
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
/* Names, arguments and spans: the rules that C and SQL share. */
CREATE FUNCTION lb._parse_name(name text, what text) RETURNS text[]
	LANGUAGE c STABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'lb_parse_name_sql';

CREATE FUNCTION lb._counter_id(counter text) RETURNS bigint
	LANGUAGE c STABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'lb_counter_id_sql';

CREATE FUNCTION lb._board_id(board text) RETURNS bigint
	LANGUAGE c STABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'lb_board_id_sql';

CREATE FUNCTION lb._usecs(span interval, argument text DEFAULT '') RETURNS bigint
	LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'lb_interval_usecs_sql';

CREATE FUNCTION lb._period(period text, grain interval) RETURNS text
	LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'lb_period_sql';

CREATE FUNCTION lb._tolerated_error(type text, tolerated_error double precision) RETURNS double precision
	LANGUAGE c IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'lb_tolerated_error_sql';

/* The value, if it is one of those allowed; else 22023, which lists them. */
CREATE FUNCTION lb._one_of(argument text, value text, VARIADIC allowed text[]) RETURNS text
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	IF value = ANY (allowed) THEN
		RETURN value;
	END IF;
	RAISE EXCEPTION 'invalid % "%"', argument, value
		USING ERRCODE = 'invalid_parameter_value',
			  HINT = format('%s is one of %s.', argument, array_to_string(allowed, ', '));
END
$$;

/* The tenant of that name; "default" is made on first use. */
CREATE FUNCTION lb._tenant_id(tenant text) RETURNS integer
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	found_id integer;
BEGIN
	IF tenant = 'default' AND NOT EXISTS (SELECT FROM lb.tenant t WHERE t.tenant = 'default') THEN
		INSERT INTO lb.tenant (tenant, timezone) VALUES ('default', 'UTC')
			ON CONFLICT DO NOTHING;
	END IF;
	SELECT t.tenant_id INTO found_id FROM lb.tenant t WHERE t.tenant = _tenant_id.tenant;
	IF found_id IS NULL THEN
		RAISE EXCEPTION 'tenant "%" does not exist', tenant
			USING ERRCODE = 'undefined_object',
				  HINT = format('Make it with lb_create_tenant(%L, timezone), or set leaderboard.tenant.', tenant);
	END IF;
	RETURN found_id;
END
$$;

/* A time zone by a name that knows its own changes; offsets and abbreviations do not. */
CREATE FUNCTION lb._zone(timezone text) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	known text;
BEGIN
	SELECT z.name INTO known FROM pg_timezone_names z
		WHERE lower(z.name) = lower(timezone) ORDER BY z.name <> timezone LIMIT 1;
	IF known IS NULL THEN
		RAISE EXCEPTION 'invalid time zone "%"', timezone
			USING ERRCODE = 'invalid_parameter_value',
				  HINT = 'Use a full name such as Europe/Berlin; pg_timezone_names lists them.';
	END IF;
	RETURN known;
END
$$;

/* What to do about a name that is taken: its id with if_not_exists, or 42710. */
CREATE FUNCTION lb._already(what text, name text, id bigint, if_not_exists boolean, same boolean) RETURNS bigint
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	IF NOT if_not_exists THEN
		RAISE EXCEPTION '% "%" already exists', what, name
			USING ERRCODE = 'duplicate_object',
				  HINT = 'Choose another name, or pass if_not_exists => true.';
	END IF;
	IF same THEN
		RAISE NOTICE '% "%" already exists, skipping', what, name;
	ELSE
		RAISE WARNING '% "%" already exists with another definition, skipping', what, name
			USING HINT = format(CASE what WHEN 'tenant' THEN 'lb.%s' ELSE 'lb_%ss()' END || ' shows the definition in force.', what);
	END IF;
	RETURN id;
END
$$;

CREATE FUNCTION lb._create_tenant(tenant text, timezone text, if_not_exists boolean) RETURNS integer
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	name text;
	zone text := lb._zone(coalesce(timezone, 'UTC'));
	made integer;
	other lb.tenant;
BEGIN
	IF tenant IS NULL THEN
		RAISE EXCEPTION 'argument "tenant" must not be null'
			USING ERRCODE = 'invalid_parameter_value', HINT = 'Give the tenant a name.';
	END IF;
	IF position('/' IN tenant) > 0 THEN
		RAISE EXCEPTION 'invalid tenant name "%"', tenant
			USING ERRCODE = 'invalid_parameter_value', HINT = 'A tenant''s name holds no "/".';
	END IF;
	name := (lb._parse_name(concat('default/', tenant), 'tenant'))[2];
	INSERT INTO lb.tenant (tenant, timezone) VALUES (name, zone)
		ON CONFLICT DO NOTHING RETURNING tenant_id INTO made;
	IF made IS NULL THEN
		SELECT * INTO other FROM lb.tenant t WHERE t.tenant = name;
		made := lb._already('tenant', name, other.tenant_id, coalesce(if_not_exists, false),
							other.timezone = zone);
	END IF;
	RETURN made;
END
$$;

CREATE FUNCTION lb._alter_tenant(tenant text, timezone text) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	id integer;
BEGIN
	IF tenant IS NULL OR timezone IS NULL THEN
		RAISE EXCEPTION 'argument "%" must not be null', CASE WHEN tenant IS NULL THEN 'tenant' ELSE 'timezone' END
			USING ERRCODE = 'invalid_parameter_value', HINT = 'Give the name of a tenant and that of a time zone.';
	END IF;
	id := lb._tenant_id(tenant);
	UPDATE lb.tenant t SET timezone = lb._zone(_alter_tenant.timezone) WHERE t.tenant_id = id;
END
$$;

/* Check a counter's definition as a whole; returns it with the defaults filled in. */
CREATE FUNCTION lb._check_counter(d lb.counter_version) RETURNS lb.counter_version
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	least_idempotency interval;
BEGIN
	d.type := lb._one_of('type', coalesce(d.type, 'exact'), 'exact', 'unique', 'approximate');
	d.operator := lb._one_of('operator', coalesce(d.operator, 'sum'), 'sum', 'max', 'min', 'last');
	/* what sketches count cannot be taken back */
	d.monotonic := coalesce(d.monotonic, false) OR d.type <> 'exact';
	d.lateness := coalesce(d.lateness, '1 day');
	d.max_age := coalesce(d.max_age, '7 days');
	d.max_skew := coalesce(d.max_skew, '60 seconds');
	d.grain := coalesce(d.grain, '1 hour');
	IF d.grain <> ALL (ARRAY['1 minute', '5 minutes', '10 minutes', '15 minutes', '20 minutes', '30 minutes', '1 hour']::interval[]) THEN
		RAISE EXCEPTION 'invalid grain %', d.grain
			USING ERRCODE = 'invalid_parameter_value',
				  HINT = 'grain is one of 1, 5, 10, 15, 20 or 30 minutes, or 1 hour.';
	END IF;
	IF d.type <> 'exact' AND d.operator <> 'sum' THEN
		RAISE EXCEPTION 'a counter of type % has no operator "%"', d.type, d.operator
			USING ERRCODE = 'invalid_parameter_value',
				  HINT = CASE d.type WHEN 'unique' THEN 'Leave operator out: a unique counter counts different actors.'
					ELSE 'Leave operator out: an approximate counter sums.' END;
	END IF;
	IF d.type = 'unique' AND (d.min_delta IS NOT NULL OR d.max_delta IS NOT NULL) THEN
		RAISE EXCEPTION 'a unique counter has no bounds of deltas'
			USING ERRCODE = 'invalid_parameter_value',
				  HINT = 'Leave min_delta and max_delta out: the delta of each of its events is 1.';
	END IF;
	IF d.monotonic AND d.operator <> 'sum' THEN
		RAISE EXCEPTION 'only a sum can be monotonic'
			USING ERRCODE = 'invalid_parameter_value',
				  HINT = format('Leave monotonic out: a %s takes any score.', d.operator);
	END IF;
	IF d.min_delta > d.max_delta THEN
		RAISE EXCEPTION 'min_delta % is above max_delta %', d.min_delta, d.max_delta
			USING ERRCODE = 'invalid_parameter_value',
				  HINT = 'Swap them, or leave one out.';
	END IF;
	d.tolerated_error := lb._tolerated_error(d.type, d.tolerated_error);
	PERFORM lb._usecs(d.lateness, 'lateness');
	least_idempotency := greatest(interval '24 hours',
								  make_interval(secs => (lb._usecs(d.max_age, 'max_age') + lb._usecs(d.max_skew, 'max_skew')) / 1000000.0));
	IF lb._usecs(d.idempotency, 'idempotency') < lb._usecs(justify_hours(least_idempotency)) THEN
		RAISE EXCEPTION 'idempotency % is shorter than max_age and max_skew allow', d.idempotency
			USING ERRCODE = 'invalid_parameter_value',
				  HINT = format('Leave it out for %s, or give more.', justify_hours(least_idempotency));
	END IF;
	RETURN d;
END
$$;

CREATE FUNCTION lb._create_counter(counter text, type text, operator text, min_delta bigint, max_delta bigint,
		monotonic boolean, lateness interval, max_age interval, max_skew interval, idempotency interval,
		tolerated_error double precision, grain interval, if_not_exists boolean) RETURNS bigint
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	parsed text[] := lb._parse_name(counter, 'counter');
	owner integer := lb._tenant_id(parsed[1]);
	wanted lb.counter_version;
	other lb.counter_version;
	id bigint;
BEGIN
	wanted := lb._check_counter(ROW(0, 1, type, operator, min_delta, max_delta, monotonic, lateness,
		max_age, max_skew, idempotency, tolerated_error, grain, clock_timestamp())::lb.counter_version);
	/* one creator of a name at a time, so that the loser sees the winner's row */
	PERFORM 1 FROM lb.tenant t WHERE t.tenant_id = owner FOR NO KEY UPDATE;
	SELECT v.* INTO other
		FROM lb.counter c JOIN lb.counter_version v ON v.counter_id = c.counter_id AND v.version = c.version
		WHERE c.tenant_id = owner AND c.counter = parsed[2] AND c.retired_at IS NULL;
	IF other.counter_id IS NOT NULL THEN
		wanted.counter_id := other.counter_id;
		wanted.version := other.version;
		wanted.created_at := other.created_at;
		RETURN lb._already('counter', parsed[2], other.counter_id, coalesce(if_not_exists, false),
						   wanted IS NOT DISTINCT FROM other);
	END IF;
	id := nextval('lb.counter_id_seq');
	wanted.counter_id := id;
	INSERT INTO lb.counter_version SELECT (wanted).*;
	INSERT INTO lb.counter (counter_id, tenant_id, counter, version) VALUES (id, owner, parsed[2], 1);
	PERFORM lb._tell_cost(wanted.type, wanted.operator);
	RETURN id;
END
$$;

/* Do starts and lateness go with the period? */
CREATE FUNCTION lb._check_window(d lb.board, grain interval) RETURNS void
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	starts bigint := lb._usecs(d.starts, 'starts');
	shortest interval := CASE d.period WHEN 'day' THEN '1 day' WHEN 'week' THEN '7 days'
		WHEN 'month' THEN '28 days' WHEN 'year' THEN '365 days' END;
BEGIN
	IF starts > 0 AND shortest IS NULL THEN
		RAISE EXCEPTION 'windows of the period "%" cannot start later', d.period
			USING ERRCODE = 'invalid_parameter_value',
				  HINT = 'starts goes with the periods day, week, month and year.';
	END IF;
	IF starts > 0 AND (starts >= lb._usecs(shortest) OR starts % lb._usecs(grain) <> 0) THEN
		RAISE EXCEPTION 'invalid starts %', d.starts
			USING ERRCODE = 'invalid_parameter_value',
				  HINT = format('For a %s starts is less than %s and a multiple of the counter''s grain, %s.', d.period, shortest, grain);
	END IF;
	IF d.lateness IS NOT NULL AND (d.period = 'all' OR d.period LIKE 'last %') THEN
		RAISE EXCEPTION 'nothing is late for the period "%"', d.period
			USING ERRCODE = 'invalid_parameter_value',
				  HINT = 'lateness goes with the periods hour, day, week, month and year; leave it out.';
	END IF;
	PERFORM lb._usecs(d.lateness, 'lateness');
END
$$;

/* Check a board's definition as a whole; returns it with the defaults filled in. */
CREATE FUNCTION lb._check_board(d lb.board) RETURNS lb.board
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	op text;
	grain interval;
	type text;
BEGIN
	SELECT v.operator, v.grain, v.type INTO op, grain, type FROM lb.counter c
		JOIN lb.counter_version v ON v.counter_id = c.counter_id AND v.version = c.version
		WHERE c.counter_id = d.counter_id;
	d.period := lb._period(coalesce(d.period, 'all'), grain);
	d.direction := lb._one_of('direction', coalesce(d.direction, CASE op WHEN 'min' THEN 'asc' ELSE 'desc' END),
							  'desc', 'asc');
	d.ties := lb._one_of('ties', coalesce(d.ties, 'competition'), 'competition', 'dense', 'ordinal');
	d.ranks := lb._one_of('ranks', coalesce(d.ranks, 'exact'), 'exact', 'bounded');
	d.head := coalesce(d.head, 2000);
	d.buckets := coalesce(d.buckets, 128);
	d.ceiling := coalesce(d.ceiling, 1000000000000);
	d.freshness := coalesce(d.freshness, '5 seconds');
	d.keep_versions := coalesce(d.keep_versions, '5 minutes');
	d.scoped := coalesce(d.scoped, false);
	d.starts := coalesce(d.starts, '0');
	IF d.head NOT BETWEEN 1 AND 100000 THEN
		RAISE EXCEPTION 'invalid head %', d.head
			USING ERRCODE = 'invalid_parameter_value', HINT = 'head is between 1 and 100000.';
	END IF;
	PERFORM @extschema@.lb_histogram_agg(v, d.buckets, d.ceiling) FROM (VALUES (0::bigint)) AS s(v);
	IF lb._usecs(d.freshness, 'freshness') = 0 THEN
		RAISE EXCEPTION 'freshness must be more than nothing'
			USING ERRCODE = 'invalid_parameter_value', HINT = 'Leave it out for 5 seconds.';
	END IF;
	PERFORM lb._usecs(d.keep_versions, 'keep_versions');
	PERFORM lb._check_window(d, grain);
	IF type = 'approximate' AND (d.scoped OR d.ranks <> 'exact' OR d.direction <> 'desc') THEN
		RAISE EXCEPTION 'a board of an approximate counter ranks its heaviest members, and nothing else'
			USING ERRCODE = 'invalid_parameter_value',
				  HINT = 'Leave scoped, ranks and direction out.';
	END IF;
	RETURN d;
END
$$;

/*
 * The class of a calendar board whose windows or lateness are its own; a new
 * one lets the counter's events be judged by it (projection/recount.c).
 */
CREATE FUNCTION lb._judge_late(d lb.board) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	of_counter interval;
	own interval;
	free integer;
BEGIN
	SELECT v.lateness INTO of_counter FROM lb.counter c
		JOIN lb.counter_version v ON v.counter_id = c.counter_id AND v.version = c.version
		WHERE c.counter_id = d.counter_id;
	own := coalesce(d.lateness, of_counter);
	IF d.period = 'all' OR d.period LIKE 'last %' OR (d.starts = '0' AND own = of_counter) THEN
		RETURN;
	END IF;
	/* against whoever makes or drops a board of the class */
	PERFORM lb._lock_rounds('a board with windows or a lateness of its own');
	IF EXISTS (SELECT FROM lb.late_class l WHERE l.counter_id = d.counter_id
			   AND l.period = d.period AND l.starts = d.starts AND l.lateness = own) THEN
		RETURN;
	END IF;
	SELECT min(b) INTO free FROM generate_series(8, 30) b
		WHERE NOT EXISTS (SELECT FROM lb.late_class l WHERE l.counter_id = d.counter_id AND l.bit = b);
	IF free IS NULL THEN
		RAISE EXCEPTION 'the boards of the counter settle in more than 23 ways'
			USING ERRCODE = 'program_limit_exceeded',
				  HINT = 'Choose period, starts and lateness of another board of the counter, or drop boards.';
	END IF;
	INSERT INTO lb.late_class (counter_id, bit, period, starts, lateness)
		VALUES (d.counter_id, free, d.period, d.starts, own);
END
$$;

CREATE FUNCTION lb._create_board(board text, counter text, period text, direction text, ties text, ranks text,
		head integer, buckets integer, ceiling bigint, freshness interval, keep_versions interval,
		scoped boolean, starts interval, lateness interval, if_not_exists boolean) RETURNS bigint
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	parsed text[] := lb._parse_name(board, 'board');
	owner integer := lb._tenant_id(parsed[1]);
	counted bigint;
	wanted lb.board;
	other lb.board;
BEGIN
	counted := lb._counter_id(counter);
	IF NOT EXISTS (SELECT FROM lb.counter c WHERE c.counter_id = counted AND c.tenant_id = owner) THEN
		RAISE EXCEPTION 'board "%" and counter "%" are of different tenants', board, counter
			USING ERRCODE = 'invalid_parameter_value', HINT = format('A board ranks a counter of its own tenant: write the counter as "%s/name".', parsed[1]);
	END IF;
	wanted := lb._check_board(ROW(0, owner, parsed[2], counted, period, direction, ties, ranks, head, buckets,
		ceiling, freshness, keep_versions, scoped, starts, lateness, clock_timestamp())::lb.board);
	/* against a counter that is being dropped, and against another creator of the name */
	PERFORM 1 FROM lb.counter c WHERE c.counter_id = counted AND c.retired_at IS NULL FOR SHARE;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'counter "%" does not exist', counter
			USING ERRCODE = 'undefined_object', HINT = 'It was dropped just now; lb_counters() lists the counters.';
	END IF;
	PERFORM 1 FROM lb.tenant t WHERE t.tenant_id = owner FOR NO KEY UPDATE;
	SELECT * INTO other FROM lb.board b WHERE b.tenant_id = owner AND b.board = parsed[2];
	IF other.board_id IS NOT NULL THEN
		wanted.board_id := other.board_id;
		wanted.created_at := other.created_at;
		RETURN lb._already('board', parsed[2], other.board_id, coalesce(if_not_exists, false),
						   wanted IS NOT DISTINCT FROM other);
	END IF;
	PERFORM lb._judge_late(wanted);
	wanted.board_id := nextval('lb.board_id_seq');
	INSERT INTO lb.board SELECT (wanted).*;
	RETURN wanted.board_id;
END
$$;

CREATE FUNCTION lb._drop_board(board text) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	id bigint := lb._board_id(board);
BEGIN
	DELETE FROM lb.board b WHERE b.board_id = id;
END
$$;

CREATE FUNCTION lb._drop_counter(counter text, force boolean) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	id bigint := lb._counter_id(counter);
	boards text;
BEGIN
	/* after whoever is making a board of it */
	PERFORM 1 FROM lb.counter c WHERE c.counter_id = id FOR UPDATE;
	IF coalesce(force, false) THEN
		DELETE FROM lb.board b WHERE b.counter_id = id;
		UPDATE lb.counter c SET retired_at = clock_timestamp() WHERE c.counter_id = id;
		RETURN;
	END IF;
	SELECT string_agg(b.board, ', ' ORDER BY b.board) INTO boards FROM lb.board b WHERE b.counter_id = id;
	IF boards IS NOT NULL THEN
		RAISE EXCEPTION 'counter "%" is used by boards', counter
			USING ERRCODE = 'object_in_use',
				  DETAIL = format('Its boards: %s.', boards),
				  HINT = 'Drop them with lb_drop_board() first, or pass force => true to retire the counter with them.';
	END IF;
	DELETE FROM lb.counter c WHERE c.counter_id = id;
	DELETE FROM lb.counter_version v WHERE v.counter_id = id;
END
$$;

CREATE FUNCTION lb._counters() RETURNS TABLE (counter_id bigint, tenant text, counter text, version smallint,
		type text, operator text, min_delta bigint, max_delta bigint, monotonic boolean, lateness interval,
		max_age interval, max_skew interval, idempotency interval, tolerated_error double precision,
		grain interval, timezone text, created_at timestamptz, retired_at timestamptz)
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	RETURN QUERY
	SELECT c.counter_id, t.tenant, c.counter, v.version, v.type, v.operator, v.min_delta, v.max_delta, v.monotonic,
		v.lateness, v.max_age, v.max_skew,
		coalesce(v.idempotency, greatest(interval '24 hours', v.max_age + v.max_skew)),
		v.tolerated_error, v.grain, t.timezone, c.created_at, c.retired_at
	FROM lb.counter c
	JOIN lb.counter_version v ON v.counter_id = c.counter_id AND v.version = c.version
	JOIN lb.tenant t ON t.tenant_id = c.tenant_id
	ORDER BY t.tenant, c.counter, c.counter_id;
END
$$;

CREATE FUNCTION lb._boards() RETURNS TABLE (board_id bigint, tenant text, board text, counter_id bigint,
		counter text, period text, direction text, ties text, ranks text, head integer, buckets integer,
		ceiling bigint, freshness interval, keep_versions interval, scoped boolean, starts interval,
		lateness interval, timezone text, created_at timestamptz)
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	RETURN QUERY
	SELECT b.board_id, t.tenant, b.board, b.counter_id, c.counter, b.period, b.direction, b.ties, b.ranks, b.head,
		b.buckets, b.ceiling, b.freshness, b.keep_versions, b.scoped, b.starts, b.lateness, t.timezone, b.created_at
	FROM lb.board b
	JOIN lb.counter c ON c.counter_id = b.counter_id
	JOIN lb.tenant t ON t.tenant_id = b.tenant_id
	ORDER BY t.tenant, b.board;
END
$$;

/* The public functions: as the caller through the gate (gate.c) to the inner function of the same name. */
CREATE FUNCTION @extschema@.lb_create_tenant(tenant text, timezone text DEFAULT 'UTC',
		if_not_exists boolean DEFAULT false) RETURNS integer
	LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'lb_public';
COMMENT ON FUNCTION @extschema@.lb_create_tenant(text, text, boolean) IS
'Makes a tenant whose calendar windows begin in the time zone "timezone" (a full name of pg_timezone_names). Returns its id. 42710 if it exists and if_not_exists is not true; 22023 for a bad name or zone.';

CREATE FUNCTION @extschema@.lb_alter_tenant(tenant text, timezone text) RETURNS void
	LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'lb_public';
COMMENT ON FUNCTION @extschema@.lb_alter_tenant(text, text) IS
'Changes a tenant''s time zone, which is possible until its first event, while rounds wait; 0A000 afterwards, 25001 unless READ COMMITTED, 42704 for an unknown tenant, 22023 for an unknown zone.';

CREATE FUNCTION @extschema@.lb_create_counter(counter text, type text DEFAULT 'exact', operator text DEFAULT 'sum',
		min_delta bigint DEFAULT NULL, max_delta bigint DEFAULT NULL, monotonic boolean DEFAULT false,
		lateness interval DEFAULT '1 day', max_age interval DEFAULT '7 days',
		max_skew interval DEFAULT '60 seconds', idempotency interval DEFAULT NULL,
		tolerated_error double precision DEFAULT NULL, grain interval DEFAULT '1 hour',
		if_not_exists boolean DEFAULT false) RETURNS bigint
	LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'lb_public';
COMMENT ON FUNCTION @extschema@.lb_create_counter(text, text, text, bigint, bigint, boolean, interval, interval, interval, interval, double precision, interval, boolean) IS
'Makes a counter "[tenant/]name". type: exact, or unique: the number of different actors of a member''s events, estimated with the relative error tolerated_error (0.004 to 0.5, NULL for 0.02) in 95 of 100 cases, and exactly while they are few; the delta of its events is 1 and each has an actor. operator, of an exact counter: sum, max, min or last. min_delta and max_delta bound each event; monotonic refuses negative deltas of a sum. lateness: how long after a window''s end events still change it. max_age and max_skew: how far event_time may lie behind and ahead of admission. idempotency: how far back every retry is recognised whatever its event_time, at least greatest(24 h, max_age + max_skew). grain: how long the buckets are in which a member''s events are kept, 1, 5, 10, 15, 20 or 30 minutes or 1 hour; boards over the last minutes, and windows that start between hours, go by it. Spans are days or smaller units. Returns the counter''s id. 42710 if it exists and if_not_exists is not true; 22023 for a bad argument; 42704 for an unknown tenant.';

CREATE FUNCTION @extschema@.lb_create_board(board text, counter text, period text DEFAULT 'all',
		direction text DEFAULT NULL, ties text DEFAULT 'competition', ranks text DEFAULT 'exact',
		head integer DEFAULT 2000, buckets integer DEFAULT 128, ceiling bigint DEFAULT 1000000000000,
		freshness interval DEFAULT '5 seconds', keep_versions interval DEFAULT '5 minutes',
		scoped boolean DEFAULT false, starts interval DEFAULT '0', lateness interval DEFAULT NULL,
		if_not_exists boolean DEFAULT false) RETURNS bigint
	LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'lb_public';
COMMENT ON FUNCTION @extschema@.lb_create_board(text, text, text, text, text, text, integer, integer, bigint, interval, interval, boolean, interval, interval, boolean) IS
'Makes a board "[tenant/]name" that ranks the members of a counter of the same tenant. period: all, hour, day, week, month or year, calendar windows in the tenant''s zone; or "last N minutes" (up to 1440, a multiple of the counter''s grain), "last N hours" (up to 168) or "last N days" (up to 400): the current minute (hour, day) and the N - 1 before it. starts: how long after the calendar''s boundary a day, week, month or year opens (''6 hours'': a day from 06:00 to 06:00), in local time. lateness: the board''s own instead of the counter''s; only for calendar windows, nothing is late for the others. scoped: whether members can be grouped in scopes. direction: desc (high is best) or asc; NULL is asc for a min, else desc. ties: competition 1,2,2,4, dense 1,2,2,3 or ordinal 1,2,3,4 (first to reach is ahead, then the member''s bytes). ranks: exact at any depth, or bounded: exact for the best "head" places (1 to 100000), beyond them an interval from a histogram of "buckets" log-wide buckets up to "ceiling". keep_versions: how long after it was superseded a version is kept; what a round moved is written once more for it, unless it is 0. freshness: the age at which an answer is called stale. Events already counted are on the board at once; costs one pass over the counter''s buckets, during which rounds wait. A board whose starts or lateness no other board of the counter has lets events be judged by them: those already counted are read from the log once more, 25001 unless READ COMMITTED, 55000 if the log does not hold them any more, 54000 beyond 23 such ways. Returns the board''s id. 42710 if it exists and if_not_exists is not true; 42704 for an unknown tenant or counter; 22023 for a bad argument.';

CREATE FUNCTION @extschema@.lb_drop_board(board text) RETURNS void
	LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'lb_public';
COMMENT ON FUNCTION @extschema@.lb_drop_board(text) IS
'Drops a board and its rankings; the counter and its log stay. 25001 unless READ COMMITTED, 42704 for an unknown board.';

CREATE FUNCTION @extschema@.lb_drop_counter(counter text, force boolean DEFAULT false) RETURNS void
	LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'lb_public';
COMMENT ON FUNCTION @extschema@.lb_drop_counter(text, boolean) IS
'Drops a counter that no board and no event uses; 55006 otherwise. With force => true its boards are dropped, its id is retired and its log stays: the name is free again, submissions to the id are refused as "retired". 25001 unless READ COMMITTED, 42704 for an unknown counter.';

CREATE FUNCTION @extschema@.lb_counters(OUT counter_id bigint, OUT tenant text, OUT counter text,
		OUT version smallint, OUT type text, OUT operator text, OUT min_delta bigint, OUT max_delta bigint,
		OUT monotonic boolean, OUT lateness interval, OUT max_age interval, OUT max_skew interval,
		OUT idempotency interval, OUT tolerated_error double precision, OUT grain interval, OUT timezone text,
		OUT created_at timestamptz, OUT retired_at timestamptz) RETURNS SETOF record
	LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'lb_public';
COMMENT ON FUNCTION @extschema@.lb_counters() IS
'One row a counter of every tenant, with its id, the version in force and the whole definition; retired counters have retired_at.';

CREATE FUNCTION @extschema@.lb_boards(OUT board_id bigint, OUT tenant text, OUT board text, OUT counter_id bigint,
		OUT counter text, OUT period text, OUT direction text, OUT ties text, OUT ranks text, OUT head integer,
		OUT buckets integer, OUT ceiling bigint, OUT freshness interval, OUT keep_versions interval,
		OUT scoped boolean, OUT starts interval, OUT lateness interval, OUT timezone text, OUT created_at timestamptz) RETURNS SETOF record
	LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'lb_public';
COMMENT ON FUNCTION @extschema@.lb_boards() IS
'One row a board of every tenant, with its id, its counter and the whole definition.';
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
/*
 * The log: the only system of record.  The parent carries no index and no
 * constraint, and no partition belongs to the extension: pg_dump then dumps
 * and restores every partition with its rows, indexes and triggers (README.md
 * in this folder).
 */
CREATE SEQUENCE lb.event_id_seq;

CREATE TABLE lb.event (
	counter_id bigint NOT NULL,
	event_id bigint NOT NULL,
	delta bigint NOT NULL,
	event_time timestamptz NOT NULL,
	ingest_time timestamptz NOT NULL,
	xid xid8 NOT NULL,
	origin integer NOT NULL,
	version smallint NOT NULL,
	kind "char" NOT NULL,
	member text COLLATE "C" NOT NULL,
	key text COLLATE "C",
	actor text COLLATE "C",
	source text COLLATE "C"
) PARTITION BY RANGE (ingest_time);
COMMENT ON TABLE lb.event IS
'The append-only log, partitioned by the day of ingest_time (UTC). kind: e = submitted as it happened, h = backfilled history. xid and origin: the transaction and the cluster that admitted the event; see lb.origin.';

CREATE TABLE lb.origin (
	origin integer PRIMARY KEY,
	system_identifier bigint NOT NULL,
	since timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
	rounds bigint NOT NULL DEFAULT 0
);
COMMENT ON TABLE lb.origin IS
'The clusters whose transaction numbers stand in lb.event.xid: numbers of different clusters cannot be compared. After a restore elsewhere the new cluster adds its own row, and counts the events of the others once, as a whole. rounds: no round there has a larger number, so that versions go on from it.';

CREATE TABLE lb.home (
	system_identifier bigint PRIMARY KEY,
	origin integer NOT NULL
);
COMMENT ON TABLE lb.home IS
'The origin of this database in each cluster that it was in as files; not dumped, so that a restore begins a new one, in the same cluster too.';

/* Exact: what the log no longer holds can be learnt from nowhere else. */
CREATE TABLE lb.dropped (
	counter_id bigint NOT NULL,
	partition text NOT NULL,
	opens timestamptz NOT NULL,
	closes timestamptz NOT NULL,
	events bigint NOT NULL,
	first_event timestamptz NOT NULL,
	last_event timestamptz NOT NULL,
	dropped_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
	dropped_by text NOT NULL,
	PRIMARY KEY (counter_id, opens)
);
COMMENT ON TABLE lb.dropped IS
'What lb_maintain() dropped from the log: one row a partition and counter with the number of events and the first and last event_time. Counter 0 stands for a partition that held nothing.';

SELECT pg_catalog.pg_extension_config_dump('lb.event_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('lb.dropped', '');
SELECT pg_catalog.pg_extension_config_dump('lb.origin', '');

/* Append-only: on the parent, and on every partition, which the parent's trigger does not cover. */
CREATE FUNCTION lb._refuse_change() RETURNS trigger
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	RAISE EXCEPTION '% of the event log is refused: it is append-only', TG_OP
		USING ERRCODE = 'object_not_in_prerequisite_state',
			  HINT = 'What was wrong is corrected by a further event.';
END
$$;

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON lb.event
	FOR EACH STATEMENT EXECUTE FUNCTION lb._refuse_change();

/*
 * A partition's table, in the tablespace given, else in that of the database:
 * not in the default of whoever happens to make the first counter, or to call
 * the loop.
 */
CREATE FUNCTION lb._create_partition(partition text, tablespace text DEFAULT '') RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	SET default_tablespace = ''
	SET default_table_access_method = 'heap'
	AS $$
BEGIN
	PERFORM set_config('default_tablespace', tablespace, true);
	EXECUTE format('CREATE TABLE lb.%I (LIKE lb.event INCLUDING DEFAULTS)', partition);
END
$$;

/* The one place that makes a partition's indexes and guard; they lie where the table does. */
CREATE FUNCTION lb._index_partition(partition text, tablespace text DEFAULT '') RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	SET default_tablespace = ''
	AS $$
BEGIN
	PERFORM set_config('default_tablespace', tablespace, true);
	EXECUTE format('CREATE UNIQUE INDEX %I ON lb.%I (counter_id, key)', partition || '_key', partition);
	EXECUTE format('CREATE INDEX %I ON lb.%I (xid)', partition || '_xid', partition);
	EXECUTE format('CREATE INDEX %I ON lb.%I (counter_id, member, xid)', partition || '_member', partition);
	EXECUTE format('CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON lb.%I '
				   'FOR EACH STATEMENT EXECUTE FUNCTION lb._refuse_change()', partition);
END
$$;

CREATE FUNCTION lb._prepare_partition(partition text) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	PERFORM lb._create_partition(partition);
	PERFORM lb._index_partition(partition);
END
$$;

/* The partitions with bounds, in order of time. */
CREATE FUNCTION lb._partitions() RETURNS TABLE (partition regclass, opens timestamptz, closes timestamptz)
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	SET timezone = 'UTC'
	AS $$
BEGIN
	RETURN QUERY
	SELECT c.oid::regclass, (m.bound)[1]::timestamptz, (m.bound)[2]::timestamptz
	FROM pg_inherits i
	JOIN pg_class c ON c.oid = i.inhrelid,
	LATERAL regexp_match(pg_get_expr(c.relpartbound, c.oid), 'FROM \(''(.*)''\) TO \(''(.*)''\)') AS m(bound)
	WHERE i.inhparent = 'lb.event'::regclass AND m.bound IS NOT NULL
	ORDER BY 2;
END
$$;

CREATE VIEW lb.log_partition AS
	SELECT c.relname AS partition, p.opens, p.closes, coalesce(t.spcname, d.spcname) AS tablespace,
		pg_catalog.pg_total_relation_size(c.oid) AS bytes
	FROM lb._partitions() p
	JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) p.partition
	LEFT JOIN pg_catalog.pg_tablespace t ON t.oid OPERATOR(pg_catalog.=) c.reltablespace
	JOIN pg_catalog.pg_database b ON b.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
	JOIN pg_catalog.pg_tablespace d ON d.oid OPERATOR(pg_catalog.=) b.dattablespace;
COMMENT ON VIEW lb.log_partition IS
'The partitions of the log by their names: which instants of admission each holds, where it lies, and its size with its indexes. lb_maintain() takes these names.';

/* Has some partition no key index?  So it is in the middle of a restore. */
CREATE FUNCTION lb._lacks_indexes() RETURNS boolean
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	RETURN EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = 'lb.event'::regclass
				   AND NOT EXISTS (SELECT FROM pg_index x
								   WHERE x.indrelid = i.inhrelid AND x.indisunique AND x.indisvalid));
END
$$;

/*
 * Make the daily partitions from first_day (UTC) up to last_day that are not
 * there.  No day that has begun: its events may already be in the default
 * partition, or on their way there.
 */
CREATE FUNCTION lb._make_partitions(first_day date, last_day date) RETURNS integer
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	SET timezone = 'UTC'
	AS $$
DECLARE
	missing date[];
	day date;
	elsewhere text;
BEGIN
	/* one maker at a time, and in the way of no submitter */
	LOCK TABLE lb.event IN SHARE UPDATE EXCLUSIVE MODE;
	SELECT array_agg(d::date ORDER BY d) INTO missing
		FROM generate_series(first_day, last_day, interval '1 day') AS d
		WHERE NOT EXISTS (SELECT FROM lb._partitions() p WHERE p.opens <= d AND d < p.closes);
	IF missing IS NULL THEN
		RETURN 0;
	END IF;
	/* a clock that was ahead for a while left events of a day to come; that day stays there */
	SELECT array_agg(d ORDER BY d) INTO missing
		FROM unnest(missing) AS d
		WHERE d NOT IN (SELECT e.ingest_time::date FROM lb.event_default e
						WHERE e.ingest_time >= first_day AND e.ingest_time < last_day + 1);
	IF missing IS NULL THEN
		RETURN 0;
	END IF;
	FOREACH day IN ARRAY missing LOOP
		PERFORM lb._prepare_partition('event_' || to_char(day, 'YYYYMMDD'));
	END LOOP;
	/*
	 * ATTACH locks the default partition, into which submitters look for
	 * their key, so it comes last.  It would read that partition once for
	 * each day, to see that it holds no row of that day; one constraint
	 * spares it that.
	 */
	LOCK TABLE lb.event_default IN ACCESS EXCLUSIVE MODE;
	SELECT string_agg(format('(ingest_time < %L OR ingest_time >= %L)', d::timestamptz, (d + 1)::timestamptz), ' AND ')
		INTO elsewhere FROM unnest(missing) AS d;
	EXECUTE format('ALTER TABLE lb.event_default ADD CONSTRAINT elsewhere CHECK (%s)', elsewhere);
	FOREACH day IN ARRAY missing LOOP
		EXECUTE format('ALTER TABLE lb.event ATTACH PARTITION lb.%I FOR VALUES FROM (%L) TO (%L)',
					   'event_' || to_char(day, 'YYYYMMDD'), day::timestamptz, (day + 1)::timestamptz);
	END LOOP;
	ALTER TABLE lb.event_default DROP CONSTRAINT elsewhere;
	RETURN array_length(missing, 1);
END
$$;

/* With the first counter the log gets its default partition and its first days. */
CREATE FUNCTION lb._open_log() RETURNS trigger
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	SET timezone = 'UTC'
	AS $$
BEGIN
	IF EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = 'lb.event'::regclass) THEN
		RETURN NULL;
	END IF;
	LOCK TABLE lb.event IN SHARE UPDATE EXCLUSIVE MODE;
	IF EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = 'lb.event'::regclass) THEN
		RETURN NULL;
	END IF;
	PERFORM lb._prepare_partition('event_default');
	ALTER TABLE lb.event ATTACH PARTITION lb.event_default DEFAULT;
	PERFORM lb._make_partitions(current_date, current_date + 7);
	RETURN NULL;
END
$$;

CREATE TRIGGER open_log AFTER INSERT ON lb.counter
	FOR EACH STATEMENT EXECUTE FUNCTION lb._open_log();

/* What the log asks of definitions: events keep their counter and their tenant's zone. */
CREATE FUNCTION lb._has_events(counter_id bigint) RETURNS boolean
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	RETURN EXISTS (SELECT FROM lb.event e WHERE e.counter_id = _has_events.counter_id)
		OR EXISTS (SELECT FROM lb.dropped d WHERE d.counter_id = _has_events.counter_id);
END
$$;

CREATE FUNCTION lb._keep_counter() RETURNS trigger
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	IF lb._has_events(OLD.counter_id) THEN
		RAISE EXCEPTION 'counter "%" has events', OLD.counter
			USING ERRCODE = 'object_in_use',
				  HINT = 'The log is never deleted; pass force => true to retire the counter.';
	END IF;
	RETURN OLD;
END
$$;

CREATE TRIGGER keep_counter BEFORE DELETE ON lb.counter
	FOR EACH ROW EXECUTE FUNCTION lb._keep_counter();

CREATE FUNCTION lb._keep_timezone() RETURNS trigger
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	IF NEW.timezone <> OLD.timezone AND EXISTS (
		SELECT FROM lb.counter c WHERE c.tenant_id = OLD.tenant_id AND lb._has_events(c.counter_id)) THEN
		RAISE EXCEPTION 'the time zone of tenant "%" cannot change any more', OLD.tenant
			USING ERRCODE = 'feature_not_supported',
				  DETAIL = 'Its events are counted in windows of that zone.',
				  HINT = 'Make another tenant with the other zone.';
	END IF;
	RETURN NEW;
END
$$;

CREATE TRIGGER keep_timezone BEFORE UPDATE ON lb.tenant
	FOR EACH ROW EXECUTE FUNCTION lb._keep_timezone();

/* Admission with ids and the time as arguments. */
CREATE FUNCTION lb._submit_batch(counter_id bigint, members text[], deltas bigint[], keys text[],
		event_times timestamptz[], actors text[], sources text[], kind "char", now timestamptz,
		OUT ordinal integer, OUT status text, OUT reason text, OUT event_id bigint, OUT retry_after_ms integer)
	RETURNS SETOF record
	LANGUAGE c VOLATILE PARALLEL UNSAFE
	AS 'MODULE_PATHNAME', 'lb_submit_batch_at';

CREATE FUNCTION @extschema@.lb_submit(counter text, member text, delta bigint, key text DEFAULT NULL,
		event_time timestamptz DEFAULT NULL, actor text DEFAULT NULL, source text DEFAULT NULL,
		strict boolean DEFAULT false,
		OUT ordinal integer, OUT status text, OUT reason text, OUT event_id bigint, OUT retry_after_ms integer)
	LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'lb_submit';
COMMENT ON FUNCTION @extschema@.lb_submit(text, text, bigint, text, timestamptz, text, text, boolean) IS
'Appends one event. key names the effect: a retry with the same key counts once and answers "duplicate" with the event_id of the original; the same key with another member, delta or actor is rejected as key_reused. For max, min and last, delta is the score itself. event_time NULL is the moment of admission. Row: ordinal, status (accepted, duplicate, rejected), reason of a rejection, event_id, retry_after_ms. The status is final when the transaction commits. strict => true turns a rejection into an error 22023. 42704 for an unknown counter, 22023 for a NULL counter, member or delta, 25006 on a standby. Costs one row in three indexes, and a look into each earlier day in which the original could be.';

CREATE FUNCTION @extschema@.lb_submit_batch(counter text, members text[], deltas bigint[], keys text[] DEFAULT NULL,
		event_times timestamptz[] DEFAULT NULL, actors text[] DEFAULT NULL, sources text[] DEFAULT NULL,
		strict boolean DEFAULT false,
		OUT ordinal integer, OUT status text, OUT reason text, OUT event_id bigint, OUT retry_after_ms integer)
	RETURNS SETOF record
	LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 500 AS 'MODULE_PATHNAME', 'lb_submit_batch';
COMMENT ON FUNCTION @extschema@.lb_submit_batch(text, text[], bigint[], text[], timestamptz[], text[], text[], boolean) IS
'Appends up to 10,000 events of one counter; one status row an event, in the order given, as lb_submit(). One bad event never touches the others. 22023 for more events or a NULL counter, members or deltas; 2202E if the arrays differ in length; otherwise as lb_submit().';

CREATE FUNCTION @extschema@.lb_backfill(counter text, members text[], deltas bigint[], keys text[] DEFAULT NULL,
		event_times timestamptz[] DEFAULT NULL, actors text[] DEFAULT NULL, sources text[] DEFAULT NULL,
		strict boolean DEFAULT false,
		OUT ordinal integer, OUT status text, OUT reason text, OUT event_id bigint, OUT retry_after_ms integer)
	RETURNS SETOF record
	LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 500 AS 'MODULE_PATHNAME', 'lb_backfill';
COMMENT ON FUNCTION @extschema@.lb_backfill(text, text[], bigint[], text[], timestamptz[], text[], text[], boolean) IS
'lb_submit_batch() for history: event_time may be older than max_age, the events are never late, and a repeat is found in the whole retained log, at the cost of one look a partition and event. Rows and errors as lb_submit_batch().';

CREATE FUNCTION @extschema@.lb_submit_json(events jsonb, strict boolean DEFAULT false,
		OUT ordinal integer, OUT status text, OUT reason text, OUT event_id bigint, OUT retry_after_ms integer)
	RETURNS SETOF record
	LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 500 AS 'MODULE_PATHNAME', 'lb_submit_json';
COMMENT ON FUNCTION @extschema@.lb_submit_json(jsonb, boolean) IS
'Appends events given as a JSON array of {counter, member, delta, key, event_time, actor, source}, of one or several counters. delta: a whole number or a string of digits. event_time: ISO 8601 with its offset, such as 2026-12-01T09:30:00+01:00. An unknown field is rejected as bad_field, an unknown counter as counter_unknown. Rows as lb_submit_batch(). 22023 if it is no array or has more than 10,000 elements.';
/* The pages of every ranking's tree; README.md publishes what is in them. */
CREATE TABLE lb.page (
	counter_id bigint NOT NULL,
	ranking_id bigint NOT NULL,
	page_id bigint NOT NULL,
	body bytea NOT NULL,
	PRIMARY KEY (counter_id, ranking_id, page_id)
);
ALTER TABLE lb.page ALTER COLUMN body SET STORAGE PLAIN;
COMMENT ON TABLE lb.page IS
'The order of every ranking: the pages of its counted tree. A page is written once and never changed; lb.version names the root of each version.';
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
/*
 * What counters cost on this installation, by kind: what rounds have measured
 * (cost.c), and the sizes of tables, apportioned by the bytes of their rows, of
 * which some thousand blocks are read.
 */
CREATE FUNCTION lb._table_share(tab text, kept bigint DEFAULT 1000) RETURNS TABLE (counter_id bigint, bytes numeric, events numeric)
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	blocks bigint := pg_relation_size(('lb.' || tab)::regclass) / current_setting('block_size')::bigint;
	percent double precision := least(100, 100.0 * kept / greatest(blocks, 1));
	/* what is stored out of line is not in the row */
	aside text := CASE WHEN tab IN ('bucket', 'sketch') THEN ' + coalesce(pg_column_size(t.sketch), 0)' ELSE '' END;
	counted text := CASE WHEN tab = 'bucket' THEN 'sum(t.n) FILTER (WHERE t.span = ''d'')' ELSE '0' END;
BEGIN
	RETURN QUERY EXECUTE format(
		'SELECT s.counter_id, pg_total_relation_size(%L) * s.bytes / sum(s.bytes) OVER (), s.n * %s '
		'FROM (SELECT t.counter_id, sum(pg_column_size(t.*)%s)::numeric AS bytes, coalesce(%s, 0)::numeric AS n '
		'FROM lb.%I t TABLESAMPLE SYSTEM (%s) GROUP BY t.counter_id) s',
		'lb.' || tab, 100.0 / percent, aside, counted, tab, percent);
END
$$;

/* What an event of each counter takes in the log, its indexes included, by a sample of the largest partition. */
CREATE FUNCTION lb._log_share(kept bigint DEFAULT 1000) RETURNS TABLE (counter_id bigint, bytes numeric)
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	leaf regclass;
	blocks bigint;
	percent double precision;
BEGIN
	SELECT i.inhrelid::regclass, pg_relation_size(i.inhrelid) / current_setting('block_size')::bigint INTO leaf, blocks
		FROM pg_inherits i WHERE i.inhparent = 'lb.event'::regclass ORDER BY 2 DESC LIMIT 1;
	IF coalesce(blocks, 0) = 0 THEN
		RETURN;
	END IF;
	percent := least(100, 100.0 * kept / blocks);
	RETURN QUERY EXECUTE format(
		'SELECT s.counter_id, s.width * pg_total_relation_size(%L) * %s / sum(s.width * s.n) OVER () '
		'FROM (SELECT e.counter_id, avg(pg_column_size(e.*)) AS width, count(*) AS n FROM %s e TABLESAMPLE SYSTEM (%s) GROUP BY 1) s',
		leaf::text, percent / 100, leaf, percent);
END
$$;

/* By kind: an exact counter's operator, else its type. */
CREATE FUNCTION lb._unit_cost() RETURNS TABLE (type text, operator text, counters bigint, events bigint, log_bytes bigint,
		projection_bytes bigint, refresh_seconds double precision, read_cost text)
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	RETURN QUERY
	WITH kind(type, operator, kind, read_cost) AS (VALUES
		('exact', 'sum', 'sum', 'page'), ('exact', 'max', 'max', 'page'), ('exact', 'min', 'min', 'page'),
		('exact', 'last', 'last', 'page'), ('unique', 'sum', 'unique', 'page'), ('approximate', 'sum', 'approximate', 'tracked')),
	counted AS (
		SELECT c.counter_id, CASE v.type WHEN 'exact' THEN v.operator ELSE v.type END AS kind
		FROM lb.counter c JOIN lb.counter_version v ON v.counter_id = c.counter_id AND v.version = c.version
		WHERE c.retired_at IS NULL),
	spent AS (
		SELECT u.kind, sum(u.events) AS events, sum(u.usecs) AS usecs
		FROM lb.round r, LATERAL unnest(r.kinds, r.kind_events, r.kind_usecs) AS u(kind, events, usecs)
		WHERE r.kinds IS NOT NULL GROUP BY u.kind),
	logged AS (
		SELECT c.kind, avg(l.bytes) AS bytes FROM lb._log_share() l JOIN counted c ON c.counter_id = l.counter_id GROUP BY c.kind),
	kept AS (
		SELECT c.kind, sum(s.bytes) AS bytes, sum(s.events) AS events
		FROM unnest(ARRAY['bucket', 'standing', 'sketch', 'page', 'version', 'moved']) AS t(tab), LATERAL lb._table_share(t.tab) s
		JOIN counted c ON c.counter_id = s.counter_id GROUP BY c.kind)
	SELECT k.type, k.operator, (SELECT count(*) FROM counted c WHERE c.kind = k.kind), s.events::bigint,
		(l.bytes * 1000000)::bigint, (p.bytes / nullif(p.events, 0) * 1000000)::bigint,
		s.usecs::double precision / nullif(s.events, 0)::double precision, k.read_cost
	FROM kind k LEFT JOIN spent s ON s.kind = k.kind LEFT JOIN logged l ON l.kind = k.kind LEFT JOIN kept p ON p.kind = k.kind;
END
$$;

CREATE VIEW lb.unit_cost AS
	SELECT u.type, u.operator, u.counters, u.events, u.log_bytes, u.projection_bytes, u.refresh_seconds, u.read_cost
	FROM lb._unit_cost() u;
COMMENT ON VIEW lb.unit_cost IS
'What a million events cost on this installation, one row a kind of counter: how many counters of it there are, on how many events of recent rounds refresh_seconds is measured, bytes in the log and in buckets, standings, sketches, pages and versions with their indexes, seconds of refresh, and what reading a rank costs: page (a probe and the way through a tree), or tracked (a walk over all tracked members). NULL where there is no history. Sizes are of a sample, apportioned by bytes; the rest of what rounds do is shared by events. Reads up to some thousand blocks of each table. A monitoring role needs USAGE on the schema lb, SELECT on this view and EXECUTE on lb._unit_cost().';

/* What the events of a counter that was just defined may cost; nothing where too few have been counted. */
CREATE FUNCTION lb._tell_cost(of_type text, of_operator text) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	kind text := CASE of_type WHEN 'exact' THEN of_operator ELSE of_type END;
	u record;
BEGIN
	IF (SELECT sum(r.kind_events[array_position(r.kinds, kind)]) FROM lb.round r WHERE r.kinds IS NOT NULL) >= 10000 THEN
		SELECT * INTO u FROM lb._unit_cost() c WHERE c.type = of_type AND c.operator = of_operator;
		RAISE NOTICE 'a million events of such counters took % in the log, % in projections and % s of refresh here',
			coalesce(pg_size_pretty(u.log_bytes), 'nothing'), coalesce(pg_size_pretty(u.projection_bytes), 'nothing'),
			round(u.refresh_seconds::numeric, 1)
			USING HINT = 'The view lb.unit_cost has the prices of all kinds of counters.';
	END IF;
END
$$;
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
/* Every rank and list function returns this, built in one place (answer.c). */
CREATE TYPE @extschema@.lb_answer AS (
	member text,
	rank bigint,
	kind text,
	rank_low bigint,
	rank_high bigint,
	midpoint bigint,
	place bigint,
	percentile_low double precision,
	percentile_high double precision,
	value bigint,
	value_low bigint,
	value_high bigint,
	reached_at timestamptz,
	population bigint,
	version bigint,
	as_of timestamptz,
	stale boolean,
	state text
);
COMMENT ON TYPE @extschema@.lb_answer IS
'An answer about a board. kind: exact (rank = rank_low = rank_high), estimated (rank NULL, the truth between rank_low and rank_high; midpoint is for display only) or unranked (rank and value NULL). place: 1-based position in board order where known. percentile: 100 x (population - strictly better) / population, oneself included. value: of a unique counter an estimate, with value_low and value_high around it in 95 of 100 cases; of an approximate one value = value_low is certain and value_high the most, kind is estimated, and rank, percentile and reached_at are NULL. version: number of the last counting round that changed the ranking. as_of: clock before the newest round. stale: as_of is older than the board''s freshness. state: live, provisional (the window is over, late events still count) or settled (only lb_backfill() can still change it).';

CREATE FUNCTION @extschema@.lb_rank(board text, member text, scope text DEFAULT '', at timestamptz DEFAULT NULL,
		viewer text DEFAULT NULL, version bigint DEFAULT NULL, newer_than bigint DEFAULT NULL)
	RETURNS SETOF @extschema@.lb_answer
	LANGUAGE c STABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'lb_rank';
COMMENT ON FUNCTION @extschema@.lb_rank(text, text, text, timestamptz, text, bigint, bigint) IS
'The rank of a member: one row of lb_answer; a member who is not on the board is an answer of kind unranked. at: an instant in the window asked for, NULL for the current one; no matter for a board of period all, and inside of what it covers for a rolling one. viewer: who asks; an answer about that member includes its accepted events that no round has counted yet, the caller''s own uncommitted ones among them: value, rank, place, and the population if the member is new; everybody else''s answer is that of the version. In a scope that is so for who belongs to it; a rolling board covers what it did as of the newest round. version: the answer as it was when that round was the newest, with its as_of, state and window. newer_than: no row if the version answered is that or an older one, unless the viewer''s uncounted events change its answer. Costs one probe for the member and a walk of the tree, two to four pages at any depth; with a viewer one descent more in each partition of the log from a day before the newest round''s floor on; with a version a probe of the member''s later moves; a miss of newer_than is one look-up of the version, and the viewer''s events. 42704 for an unknown board; 22023 for a NULL board or member, an infinite at, a scope where the board has none, a version below 1 or above the newest round, or one together with a viewer; 55000 for a version older than keep_versions, which names the oldest that is left. Nobody is in an unknown scope of a scoped board.';

CREATE FUNCTION @extschema@.lb_ranks(board text, members text[], scope text DEFAULT '', at timestamptz DEFAULT NULL,
		viewer text DEFAULT NULL, version bigint DEFAULT NULL, newer_than bigint DEFAULT NULL)
	RETURNS SETOF @extschema@.lb_answer
	LANGUAGE c STABLE PARALLEL SAFE ROWS 100 AS 'MODULE_PATHNAME', 'lb_ranks';
COMMENT ON FUNCTION @extschema@.lb_ranks(text, text[], text, timestamptz, text, bigint, bigint) IS
'lb_rank() for 1 to 1,000 members at one version: one row of lb_answer a member given, in the order given; viewer, version and newer_than as there. 22023 for more members or a NULL among them; otherwise as lb_rank().';

CREATE FUNCTION @extschema@.lb_top(board text, n integer DEFAULT 10, scope text DEFAULT '', at timestamptz DEFAULT NULL,
		viewer text DEFAULT NULL, version bigint DEFAULT NULL, newer_than bigint DEFAULT NULL)
	RETURNS SETOF @extschema@.lb_answer
	LANGUAGE c STABLE PARALLEL SAFE ROWS 10 AS 'MODULE_PATHNAME', 'lb_top';
COMMENT ON FUNCTION @extschema@.lb_top(text, integer, text, timestamptz, text, bigint, bigint) IS
'The best n (1 to 1,000; of a bounded board at most its head) in board order, as lb_answer. viewer: a line that is the viewer''s says what the viewer has now, in the same place. version, newer_than and errors as lb_rank(). Costs a page or two and n entries, and what these add.';

CREATE FUNCTION @extschema@.lb_page(board text, first bigint, n integer DEFAULT 10, scope text DEFAULT '', at timestamptz DEFAULT NULL,
		viewer text DEFAULT NULL, version bigint DEFAULT NULL, newer_than bigint DEFAULT NULL)
	RETURNS SETOF @extschema@.lb_answer
	LANGUAGE c STABLE PARALLEL SAFE ROWS 10 AS 'MODULE_PATHNAME', 'lb_page';
COMMENT ON FUNCTION @extschema@.lb_page(text, bigint, integer, text, timestamptz, text, bigint, bigint) IS
'The n (1 to 1,000) entries from place "first" on, in board order, as lb_answer; of a bounded board none beyond its head. viewer, version and newer_than as lb_top(). Costs a walk of the tree and n entries, at any place. 22023 for a first below 1; otherwise as lb_rank().';

/* lb_version() at the version asked for. */
CREATE FUNCTION lb._version_at(board text, scope text, at timestamptz, viewer text, version bigint, newer_than bigint,
		OUT board_id bigint, OUT channel text, OUT version bigint, OUT as_of timestamptz, OUT stale boolean,
		OUT state text, OUT population bigint, OUT opens timestamptz, OUT closes timestamptz, OUT settles timestamptz)
	LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'lb_version';

/*
 * For callers that cannot join: the header and the rows in one value, numbers
 * as strings.  Both are of one version and one window, and say the same of them
 * though the clock goes on between.
 */
CREATE FUNCTION lb._page_json(board text, first bigint, n integer, scope text, at timestamptz, viewer text,
		version bigint, newer_than bigint) RETURNS jsonb
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	instant timestamptz := coalesce(at, CASE WHEN version IS NULL THEN clock_timestamp() END);
	head record;
	page jsonb;
BEGIN
	SELECT v.board_id::text, v.channel, v.version::text, v.as_of, v.stale, v.state,
		v.population::text, v.opens, v.closes, v.settles INTO head
		FROM lb._version_at(board, scope, instant, NULL, version, NULL) v;
	SELECT jsonb_agg(to_jsonb(r) - 'ordinality' || jsonb_build_object('rank', r.rank::text, 'rank_low', r.rank_low::text,
			'rank_high', r.rank_high::text, 'midpoint', r.midpoint::text, 'place', r.place::text, 'value', r.value::text,
			'value_low', r.value_low::text, 'value_high', r.value_high::text, 'population', r.population::text,
			'version', r.version::text, 'stale', head.stale, 'state', head.state) ORDER BY r.ordinality) INTO page
		FROM @extschema@.lb_page(board, coalesce(first, 1), coalesce(n, 10), scope, instant, viewer, version, newer_than)
			WITH ORDINALITY r;
	IF page IS NULL AND (newer_than IS NULL OR head.version::bigint > newer_than) THEN
		page := '[]';	/* nobody there; nothing newer is null */
	END IF;
	RETURN to_jsonb(head) || jsonb_build_object('rows', page);
END
$$;

CREATE FUNCTION @extschema@.lb_page_json(board text, first bigint DEFAULT 1, n integer DEFAULT 10, scope text DEFAULT '',
		at timestamptz DEFAULT NULL, viewer text DEFAULT NULL, version bigint DEFAULT NULL, newer_than bigint DEFAULT NULL)
	RETURNS jsonb
	LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'lb_public';
COMMENT ON FUNCTION @extschema@.lb_page_json(text, bigint, integer, text, timestamptz, text, bigint, bigint) IS
'lb_version()''s columns as the keys of one object, of the newest version or of the one asked for, and "rows": lb_page()''s rows in their order, an empty array if there are none, null if nothing is newer than newer_than. Every bigint is a string, for readers whose numbers end at 2^53. viewer, version, newer_than, errors and cost as lb_page(), and another look-up of the version and the newest round.';

CREATE FUNCTION @extschema@.lb_around(board text, member text, n integer DEFAULT 5, scope text DEFAULT '', at timestamptz DEFAULT NULL,
		viewer text DEFAULT NULL, version bigint DEFAULT NULL, newer_than bigint DEFAULT NULL)
	RETURNS SETOF @extschema@.lb_answer
	LANGUAGE c STABLE PARALLEL SAFE ROWS 11 AS 'MODULE_PATHNAME', 'lb_around';
COMMENT ON FUNCTION @extschema@.lb_around(text, text, integer, text, timestamptz, text, bigint, bigint) IS
'Up to n (1 to 1,000) members ahead of the member, the member, and up to n behind, in board order, as lb_answer; not topped up at the ends. One unranked row for a member who is not on the board; of a bounded board only the member where the tree of its head does not reach. viewer: the viewer''s neighbours are those of the place with the uncounted events, as the version has them; in those of another member, as lb_top(). version, newer_than and errors as lb_rank(). Costs as lb_rank() and 2n entries.';

CREATE FUNCTION @extschema@.lb_among(board text, members text[], scope text DEFAULT '', at timestamptz DEFAULT NULL,
		viewer text DEFAULT NULL, version bigint DEFAULT NULL, newer_than bigint DEFAULT NULL,
		OUT among bigint, OUT member text, OUT rank bigint, OUT kind text, OUT rank_low bigint, OUT rank_high bigint,
		OUT midpoint bigint, OUT place bigint, OUT percentile_low double precision,
		OUT percentile_high double precision, OUT value bigint, OUT value_low bigint, OUT value_high bigint,
		OUT reached_at timestamptz, OUT population bigint, OUT version bigint, OUT as_of timestamptz,
		OUT stale boolean, OUT state text)
	RETURNS SETOF record
	LANGUAGE c STABLE PARALLEL SAFE ROWS 100 AS 'MODULE_PATHNAME', 'lb_among';
COMMENT ON FUNCTION @extschema@.lb_among(text, text[], text, timestamptz, text, bigint, bigint) IS
'A board of friends: 1 to 1,000 members, each once, best first and the unranked last. among: the rank among the given ones by the board''s tie rule, NULL for the unranked; then the columns of lb_answer, which speak of the whole board. viewer: the viewer has the uncounted events too, and is placed accordingly. version and newer_than as lb_rank(). Costs as lb_rank() for each member. Errors as lb_ranks().';

CREATE FUNCTION @extschema@.lb_top_scopes(board text, scopes text[], n integer DEFAULT 10, at timestamptz DEFAULT NULL,
		viewer text DEFAULT NULL, version bigint DEFAULT NULL, newer_than bigint DEFAULT NULL,
		OUT scope text, OUT member text, OUT rank bigint, OUT kind text, OUT rank_low bigint, OUT rank_high bigint,
		OUT midpoint bigint, OUT place bigint, OUT percentile_low double precision,
		OUT percentile_high double precision, OUT value bigint, OUT value_low bigint, OUT value_high bigint,
		OUT reached_at timestamptz, OUT population bigint, OUT version bigint, OUT as_of timestamptz,
		OUT stale boolean, OUT state text)
	RETURNS SETOF record
	LANGUAGE c STABLE PARALLEL SAFE ROWS 100 AS 'MODULE_PATHNAME', 'lb_top_scopes';
COMMENT ON FUNCTION @extschema@.lb_top_scopes(text, text[], integer, timestamptz, text, bigint, bigint) IS
'lb_top() of 1 to 1,000 scopes, in the order given: scope, then the columns of lb_answer, the best n (1 to 1,000) of each. A scope that nobody is in has no rows. viewer and version as lb_top(); newer_than is decided scope by scope. Costs a look-up and a page or two a scope. 22023 for more scopes, a NULL among them, or a board without scopes; otherwise as lb_top().';

CREATE FUNCTION @extschema@.lb_rank_for_value(board text, value bigint, scope text DEFAULT '', at timestamptz DEFAULT NULL,
		viewer text DEFAULT NULL, version bigint DEFAULT NULL, newer_than bigint DEFAULT NULL)
	RETURNS SETOF @extschema@.lb_answer
	LANGUAGE c STABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'lb_rank_for_value';
COMMENT ON FUNCTION @extschema@.lb_rank_for_value(text, bigint, text, timestamptz, text, bigint, bigint) IS
'The rank that a value would have for somebody who reached it now: one row of lb_answer whose member is NULL. By the ordinal rule that is behind all who have it. percentile is NULL on an empty board. A viewer changes nothing in the row; version and newer_than, cost and errors as lb_rank().';

CREATE FUNCTION @extschema@.lb_distribution(board text, scope text DEFAULT '', at timestamptz DEFAULT NULL,
		viewer text DEFAULT NULL, version bigint DEFAULT NULL, newer_than bigint DEFAULT NULL,
		OUT low bigint, OUT high bigint, OUT members bigint)
	RETURNS SETOF record
	LANGUAGE c STABLE PARALLEL SAFE ROWS 64 AS 'MODULE_PATHNAME', 'lb_distribution';
COMMENT ON FUNCTION @extschema@.lb_distribution(text, text, timestamptz, text, bigint, bigint) IS
'How the board''s values are spread: the buckets of its histogram that hold members, from the lowest values up; low and high are the least and greatest value of the bucket, NULL where it has no end. Costs one row of a bounded board, and a walk of the tree a bucket of an exact one. A viewer changes nothing in the rows; version, newer_than and errors as lb_rank().';

CREATE FUNCTION @extschema@.lb_version(board text, scope text DEFAULT '', at timestamptz DEFAULT NULL,
		OUT board_id bigint, OUT channel text, OUT version bigint, OUT as_of timestamptz, OUT stale boolean,
		OUT state text, OUT population bigint, OUT opens timestamptz, OUT closes timestamptz, OUT settles timestamptz)
	LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'lb_version';
COMMENT ON FUNCTION @extschema@.lb_version(text, text, timestamptz) IS
'Always one row: the board''s id and channel, the version, as_of, stale and state that answers carry, the population, and when the window opens, closes and settles (infinite for period all); of a rolling board, what it covers as of the newest round, and it never settles. Errors as lb_rank().';

CREATE FUNCTION @extschema@.lb_value(counter text, member text, period text DEFAULT 'all', at timestamptz DEFAULT NULL,
		viewer text DEFAULT NULL,
		OUT member text, OUT value bigint, OUT value_low bigint, OUT value_high bigint, OUT late bigint,
		OUT version bigint, OUT as_of timestamptz, OUT stale boolean)
	LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'lb_value';
COMMENT ON FUNCTION @extschema@.lb_value(text, text, text, timestamptz, text) IS
'What a member has in a period (all, hour, day, week, month, year, or "last N minutes", "hours" or "days"), with a board or without. at: an instant in the window; of a rolling period, the last instant of what it covers; NULL is now, and for a rolling period the newest round. value = value_low = value_high for an exact counter; of a unique one value is an estimate and the others are bounds that hold in 95 of 100 cases; of an approximate one value = value_low is what is certain, NULL for a member that is not tracked, and value_high what it has at the most; NULL for a member without events. late: what events add up to that came too late for this window. version: the last counting round that changed the counter. stale: as_of is older than the smallest freshness of the counter''s boards, or 5 seconds. viewer: for that member, value and late include its events that no round has counted yet, one descent in each partition of the log from a day before the newest round''s floor on. Costs one row a day in which the member had events, and one a bucket of the counter''s grain at the window''s edges. 42704 for an unknown counter, 22023 for a bad argument, 22003 if the sum does not fit bigint, 55000 for a window whose edges are kept by the day only.';

CREATE FUNCTION @extschema@.lb_values(counter text, members text[], period text DEFAULT 'all', at timestamptz DEFAULT NULL,
		viewer text DEFAULT NULL,
		OUT member text, OUT value bigint, OUT value_low bigint, OUT value_high bigint, OUT late bigint,
		OUT version bigint, OUT as_of timestamptz, OUT stale boolean)
	RETURNS SETOF record
	LANGUAGE c STABLE PARALLEL SAFE ROWS 100 AS 'MODULE_PATHNAME', 'lb_values';
COMMENT ON FUNCTION @extschema@.lb_values(text, text[], text, timestamptz, text) IS
'lb_value() for 1 to 1,000 members: one row a member given, in the order given; NULL for a sum that does not fit bigint. viewer as there. Errors as lb_value(), and 22023 for more members or a NULL among them.';

/* The inner parts of lb_check: one tree re-summed, one tree read in order. */
CREATE FUNCTION lb._check_ranking(counter_id bigint, ranking_id bigint, root bigint, leaf bytea DEFAULT NULL,
		OUT entries bigint, OUT problem text)
	RETURNS SETOF record
	LANGUAGE c STABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'lb_check_ranking';

CREATE FUNCTION lb._ranking_entries(counter_id bigint, ranking_id bigint, root bigint,
		first bigint DEFAULT 1, n bigint DEFAULT 9223372036854775807, leaf bytea DEFAULT NULL,
		OUT place bigint, OUT rank_key bigint, OUT reached_at timestamptz, OUT member text)
	RETURNS SETOF record
	LANGUAGE c STABLE PARALLEL SAFE ROWS 100000 AS 'MODULE_PATHNAME', 'lb_ranking_entries';

/*
 * What a ranking is about: its window, or what a rolling one covers, which bit
 * of the late set keeps events out, and in which buckets that is to be seen.
 */
CREATE FUNCTION lb._board_window(b lb.board, r lb.ranking, OUT opens timestamptz, OUT closes timestamptz,
		OUT late_bit integer, OUT span "char")
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	zone text := (SELECT t.timezone FROM lb.tenant t WHERE t.tenant_id = b.tenant_id);
	v lb.counter_version;
	horizon timestamptz := (SELECT h.horizon FROM lb.counter_horizon h WHERE h.counter_id = b.counter_id);
BEGIN
	SELECT d.* INTO v FROM lb.counter c JOIN lb.counter_version d ON d.counter_id = c.counter_id AND d.version = c.version
		WHERE c.counter_id = b.counter_id;
	opens := r.opens;
	closes := r.closes;
	span := 'g';
	IF b.period LIKE 'last %' THEN
		SELECT w.opens, w.closes INTO opens, closes
			FROM (SELECT n.as_of FROM lb.round n ORDER BY n.number DESC LIMIT 1) n, lb._window(b.period, n.as_of, zone, '0', v.grain) w;
		late_bit := 0;
	ELSE
		SELECT l.bit INTO late_bit FROM lb.late_class l
			WHERE l.counter_id = b.counter_id AND l.period = b.period AND l.starts = b.starts
			AND l.lateness = coalesce(b.lateness, v.lateness);
		late_bit := coalesce(late_bit, array_position(ARRAY['all', 'hour', 'day', 'week', 'month', 'year'], b.period) - 1);
	END IF;
	IF opens < horizon THEN
		span := CASE WHEN b.period !~ 'hour|minute' AND lb._usecs(b.starts) % 86400000000 = 0 THEN 'd' END;
	END IF;
END
$$;

/*
 * Is a ranking what its parts say?  Its tree against itself, and against the
 * standings sorted by plain SQL.
 */
CREATE FUNCTION lb._ranking_problems(b lb.board, r lb.ranking, op text) RETURNS SETOF text
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	v lb.version;
	members bigint;
	tree record;
	wrong bigint;
BEGIN
	SELECT * INTO v FROM lb.version n
		WHERE n.counter_id = r.counter_id AND n.ranking_id = r.ranking_id ORDER BY n.version DESC LIMIT 1;
	SELECT count(*) FILTER (WHERE s.value IS NOT NULL) INTO members FROM lb.standing s
		WHERE s.counter_id = r.counter_id AND s.ranking_id = r.ranking_id;
	IF v.population <> members THEN
		RETURN NEXT format('version %s says %s members, the standings hold %s', v.version, v.population, members);
	END IF;

	IF b.ranks = 'bounded' AND (members <> @extschema@.lb_histogram_count(v.histogram) OR
		(SELECT @extschema@.lb_histogram_ne(v.histogram, @extschema@.lb_histogram_agg(s.value, b.buckets, b.ceiling))
		 FROM lb.standing s
		 WHERE s.counter_id = r.counter_id AND s.ranking_id = r.ranking_id)) THEN
		RETURN NEXT 'the histogram is not that of the standings';
	END IF;

	IF op = 'unique' THEN
		SELECT count(*) INTO wrong FROM (SELECT * FROM lb.standing s WHERE s.counter_id = r.counter_id AND s.ranking_id = r.ranking_id) s
			FULL JOIN (SELECT * FROM lb.sketch k WHERE k.counter_id = r.counter_id AND k.ranking_id = r.ranking_id) k ON k.member = s.member
			WHERE s.value IS DISTINCT FROM round(@extschema@.lb_hll_count(k.sketch::@extschema@.lb_hll));
		IF wrong > 0 THEN
			RETURN NEXT format('%s standings are not the counts of their sketches', wrong);
		END IF;
	ELSIF op = 'approximate' THEN
		SELECT count(*) INTO wrong FROM (SELECT * FROM lb.standing s WHERE s.counter_id = r.counter_id AND s.ranking_id = r.ranking_id AND s.value IS NOT NULL) s
			FULL JOIN (SELECT i.* FROM lb.sketch k, LATERAL @extschema@.lb_topk_items(k.sketch::@extschema@.lb_topk) i
					   WHERE k.counter_id = r.counter_id AND k.ranking_id = r.ranking_id) i ON i.item = s.member COLLATE "C"
			WHERE (s.value, extract(epoch FROM s.reached_at - timestamptz '2000-01-01 00:00+00') * 1000000) IS DISTINCT FROM (i.low, i.low::numeric - i.high);
		IF wrong > 0 THEN
			RETURN NEXT format('%s standings are not what the sketch tracks', wrong);
		END IF;
		IF EXISTS (SELECT FROM lb.sketch k WHERE k.counter_id = r.counter_id AND k.ranking_id = r.ranking_id
			AND (v.total, v.bound) IS DISTINCT FROM (@extschema@.lb_topk_total(k.sketch::@extschema@.lb_topk), @extschema@.lb_topk_bound(k.sketch::@extschema@.lb_topk))) THEN
			RETURN NEXT format('version %s has another total or bound than the sketch', v.version);
		END IF;
	END IF;

	SELECT * INTO tree FROM lb._check_ranking(r.counter_id, r.ranking_id, v.root);
	IF tree.problem IS NOT NULL THEN
		RETURN NEXT tree.problem;
	ELSE
		IF b.ranks <> 'bounded' AND tree.entries <> members THEN
			RETURN NEXT format('the tree holds %s entries instead of %s', tree.entries, members);
		ELSIF tree.entries NOT BETWEEN least(members, b.head) AND members THEN
			RETURN NEXT format('the head holds %s entries of %s', tree.entries, members);
		END IF;
		SELECT count(*) INTO wrong FROM lb._ranking_entries(r.counter_id, r.ranking_id, v.root) e
			FULL JOIN (SELECT s.member, s.value, s.reached_at,
							  row_number() OVER (ORDER BY CASE WHEN b.direction = 'desc' THEN ~s.value ELSE s.value END,
												 s.reached_at, s.member) AS place
					   FROM lb.standing s
					   WHERE s.counter_id = r.counter_id AND s.ranking_id = r.ranking_id AND s.value IS NOT NULL) s
			ON s.member = e.member COLLATE "C"
			WHERE (s.place <= tree.entries OR s.place IS NULL)
			AND (s.place, s.value, s.reached_at) IS DISTINCT FROM
				(e.place, CASE WHEN b.direction = 'desc' THEN ~e.rank_key ELSE e.rank_key END, e.reached_at);
		IF wrong > 0 THEN
			RETURN NEXT format('%s entries of the tree differ from the standings in order', wrong);
		END IF;
	END IF;

END
$$;

/*
 * In which of a board's windows the buckets that open at an instant are: each
 * belongs to at most one.  Of a window whose buckets are gone nothing is said.
 */
CREATE FUNCTION lb._placed(b lb.board) RETURNS TABLE (ranking_id bigint, span "char", opens timestamptz, late_bit integer)
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	RETURN QUERY
	WITH about AS MATERIALIZED (
		SELECT r.ranking_id, w.opens, w.closes, w.late_bit, w.span
		FROM lb.ranking r, LATERAL lb._board_window(b, r) w
		WHERE r.counter_id = b.counter_id AND r.board_id = b.board_id AND r.scope = ''
		AND w.span IS NOT NULL),	/* else no buckets are left that say what the window holds */
	instant AS (
		SELECT DISTINCT u.span, u.opens FROM lb.bucket u WHERE u.counter_id = b.counter_id)
	SELECT a.ranking_id, i.span, i.opens, a.late_bit
	FROM instant i, LATERAL (
		SELECT k.ranking_id FROM lb.ranking k
		WHERE k.counter_id = b.counter_id AND k.board_id = b.board_id AND k.scope = '' AND k.opens <= i.opens
		ORDER BY k.opens DESC LIMIT 1) r
	JOIN about a ON a.ranking_id = r.ranking_id
	WHERE a.span = i.span AND i.opens >= a.opens AND i.opens < a.closes;
END
$$;

/* The standings of all of a board's rankings against the buckets of their windows, which are read once. */
CREATE FUNCTION lb._standing_problems(b lb.board, op text) RETURNS TABLE (ranking_id bigint, problem text)
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	RETURN QUERY
	WITH placed AS MATERIALIZED (SELECT * FROM lb._placed(b)),
	due AS (
		SELECT p.ranking_id, u.member,
			CASE op WHEN 'unique' THEN round(@extschema@.lb_hll_count(@extschema@.lb_hll_union_agg(u.sketch::@extschema@.lb_hll)))::numeric
				WHEN 'sum' THEN sum(coalesce(u.value, u.wide)) WHEN 'max' THEN max(u.value) WHEN 'min' THEN min(u.value)
				ELSE (array_agg(u.value ORDER BY u.reached_at DESC, u.last_id DESC))[1] END AS value
		FROM lb.bucket u JOIN placed p ON p.span = u.span AND p.opens = u.opens
		WHERE u.counter_id = b.counter_id AND u.late & (1 << p.late_bit) = 0
		GROUP BY p.ranking_id, u.member),
	standing AS (
		SELECT s.ranking_id, s.member, coalesce(s.value, s.wide) AS value
		FROM (SELECT r.ranking_id FROM lb.ranking r, LATERAL lb._board_window(b, r) w
			  WHERE r.counter_id = b.counter_id AND r.board_id = b.board_id AND r.scope = '' AND w.span IS NOT NULL) a
		JOIN lb.standing s ON s.counter_id = b.counter_id AND s.ranking_id = a.ranking_id)
	SELECT coalesce(d.ranking_id, s.ranking_id), format('%s standings differ from the buckets of the window', count(*))
	FROM due d FULL JOIN standing s ON s.ranking_id = d.ranking_id AND s.member = d.member
	WHERE s.value IS DISTINCT FROM d.value
	GROUP BY 1;
END
$$;

/*
 * The same of an approximate counter: what sketches say that were merged in
 * another order need not be the same, but both hold the truth.
 */
CREATE FUNCTION lb._tracked_problems(b lb.board) RETURNS TABLE (ranking_id bigint, problem text)
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	RETURN QUERY
	WITH part AS MATERIALIZED (
		SELECT p.ranking_id, u.sketch, sum(coalesce(u.value, u.wide)) OVER (PARTITION BY p.ranking_id) AS total
		FROM lb.bucket u JOIN lb._placed(b) p ON p.span = u.span AND p.opens = u.opens
		WHERE u.counter_id = b.counter_id AND u.late & (1 << p.late_bit) = 0),
	due AS MATERIALIZED (
		SELECT p.ranking_id, p.total, @extschema@.lb_topk_union_agg(p.sketch::@extschema@.lb_topk) AS sketch
		FROM part p WHERE p.total <= 9223372036854775807
		GROUP BY p.ranking_id, p.total),
	kept AS MATERIALIZED (
		SELECT k.ranking_id, k.sketch::@extschema@.lb_topk AS sketch FROM lb.sketch k WHERE k.counter_id = b.counter_id)
	SELECT d.ranking_id, format('the total is %s in the buckets and %s in the sketch', d.total, @extschema@.lb_topk_total(k.sketch))
		FROM due d LEFT JOIN kept k ON k.ranking_id = d.ranking_id
		WHERE d.total <> coalesce(@extschema@.lb_topk_total(k.sketch), 0)
	UNION ALL
	SELECT d.ranking_id, format('%s members cannot have both what the buckets and what the sketch says', count(*))
		FROM due d JOIN kept k ON k.ranking_id = d.ranking_id,
			LATERAL (SELECT i.item FROM @extschema@.lb_topk_items(d.sketch) i UNION SELECT i.item FROM @extschema@.lb_topk_items(k.sketch) i) m,
			LATERAL @extschema@.lb_topk_item(d.sketch, m.item) x, LATERAL @extschema@.lb_topk_item(k.sketch, m.item) y
		WHERE x.low > y.high OR y.low > x.high
		GROUP BY 1;
END
$$;

/*
 * Is a scope's ranking what its parts say?  Its tree against itself, and
 * against what its members have on the whole board.  Who joined or left since
 * the last round is not asked about.
 */
CREATE FUNCTION lb._scope_problems(b lb.board, r lb.ranking) RETURNS SETOF text
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	v lb.version;
	tree record;
	wrong bigint;
BEGIN
	SELECT * INTO v FROM lb.version n
		WHERE n.counter_id = r.counter_id AND n.ranking_id = r.ranking_id ORDER BY n.version DESC LIMIT 1;
	SELECT * INTO tree FROM lb._check_ranking(r.counter_id, r.ranking_id, v.root, v.leaf);
	IF tree.problem IS NOT NULL THEN
		RETURN NEXT tree.problem;
		RETURN;
	END IF;
	IF v.population <> tree.entries THEN
		RETURN NEXT format('version %s says %s members, the tree holds %s', v.version, v.population, tree.entries);
	END IF;
	IF b.ranks = 'bounded' AND @extschema@.lb_histogram_count(v.histogram) > 0 AND
		(SELECT @extschema@.lb_histogram_ne(v.histogram, @extschema@.lb_histogram_agg(
			CASE WHEN b.direction = 'desc' THEN ~e.rank_key ELSE e.rank_key END, b.buckets, b.ceiling))
		 FROM lb._ranking_entries(r.counter_id, r.ranking_id, v.root, leaf => v.leaf) e) THEN
		RETURN NEXT 'the histogram is not that of the tree';
	END IF;
	SELECT count(*) INTO wrong FROM lb._ranking_entries(r.counter_id, r.ranking_id, v.root, leaf => v.leaf) e
		FULL JOIN (SELECT s.member, s.value, s.reached_at
				   FROM lb.ranking w
				   JOIN lb.membership m ON m.board_id = w.board_id AND m.scope = r.scope
					AND m.since < r.closes AND m.until >= r.closes
				   JOIN lb.standing s ON s.counter_id = w.counter_id AND s.ranking_id = w.ranking_id AND s.member = m.member
				   WHERE w.counter_id = r.counter_id AND w.board_id = r.board_id AND w.scope = '' AND w.opens = r.opens
				   AND s.value IS NOT NULL) s
		ON s.member = e.member COLLATE "C"
		WHERE (s.value, s.reached_at) IS DISTINCT FROM
			(CASE WHEN b.direction = 'desc' THEN ~e.rank_key ELSE e.rank_key END, e.reached_at)
		AND NOT EXISTS (SELECT FROM lb.membership_news n WHERE n.board_id = r.board_id AND n.scope = r.scope
			AND n.member = coalesce(s.member, e.member));
	IF wrong > 0 THEN
		RETURN NEXT format('%s entries of the tree differ from the standings of its members', wrong);
	END IF;
END
$$;

/* Members of scopes that have no ranking in that window, which they should have. */
CREATE FUNCTION lb._scopes_missing(r lb.ranking) RETURNS SETOF text
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	RETURN QUERY SELECT format('scope %s has members, but no ranking', m.scope)
		FROM lb.membership m
		WHERE m.board_id = r.board_id AND m.since < r.closes AND m.until >= r.closes
		AND NOT EXISTS (SELECT FROM lb.ranking o WHERE o.counter_id = r.counter_id AND o.board_id = r.board_id
			AND o.scope = m.scope AND o.opens = r.opens)
		AND EXISTS (SELECT FROM lb.standing s WHERE s.counter_id = r.counter_id AND s.ranking_id = r.ranking_id
			AND s.member = m.member AND s.value IS NOT NULL)
		AND NOT EXISTS (SELECT FROM lb.membership_news n WHERE n.board_id = r.board_id AND n.scope = m.scope
			AND n.member = m.member)
		GROUP BY m.scope;
END
$$;

CREATE FUNCTION lb._check(board text) RETURNS TABLE (problem text)
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	id bigint := lb._board_id(board);
	b lb.board;
	r lb.ranking;
	op text;
	wrong bigint;
	since timestamptz;
BEGIN
	SELECT * INTO b FROM lb.board d WHERE d.board_id = id;
	SELECT CASE v.type WHEN 'exact' THEN v.operator ELSE v.type END INTO op FROM lb.counter c
		JOIN lb.counter_version v ON v.counter_id = c.counter_id AND v.version = c.version
		WHERE c.counter_id = b.counter_id;
	FOR r IN SELECT * FROM lb.ranking k WHERE k.counter_id = b.counter_id AND k.board_id = id
		ORDER BY k.opens, k.scope LOOP
		IF r.scope <> '' THEN
			RETURN QUERY SELECT format('ranking %s (%s, scope %s): %s', r.ranking_id, r.opens, r.scope, p)
				FROM lb._scope_problems(b, r) p;
			CONTINUE;
		END IF;
		RETURN QUERY SELECT format('ranking %s (%s): %s', r.ranking_id, r.opens, p) FROM lb._ranking_problems(b, r, op) p;
		RETURN QUERY SELECT format('ranking %s (%s): %s', r.ranking_id, r.opens, p) FROM lb._scopes_missing(r) p;
	END LOOP;
	RETURN QUERY
		SELECT format('ranking %s (%s): %s', k.ranking_id, k.opens, p.problem)
		FROM (SELECT * FROM lb._standing_problems(b, op) WHERE op <> 'approximate'
			  UNION ALL SELECT * FROM lb._tracked_problems(b) WHERE op = 'approximate') p
		JOIN lb.ranking k ON k.counter_id = b.counter_id AND k.ranking_id = p.ranking_id
		ORDER BY k.opens;

	/* a member's days hold what the buckets inside them do */
	SELECT CASE WHEN w.opens = h.horizon THEN w.opens ELSE w.closes END INTO since
		FROM lb.counter_horizon h, lb.tenant t, lb._window('day', h.horizon, t.timezone) w
		WHERE h.counter_id = b.counter_id AND t.tenant_id = b.tenant_id;
	SELECT count(*) INTO wrong FROM
		(SELECT u.version, u.member
		 FROM lb.bucket u WHERE u.counter_id = b.counter_id AND u.opens >= coalesce(since, '-infinity')
		 GROUP BY 1, 2
		 HAVING sum(u.n) FILTER (WHERE u.span = 'd') IS DISTINCT FROM sum(u.n) FILTER (WHERE u.span = 'g')) d;
	IF wrong > 0 THEN
		problem := format('the days of %s members differ from the buckets inside them', wrong);
		RETURN NEXT;
	END IF;
END
$$;

CREATE FUNCTION @extschema@.lb_check(board text, OUT problem text) RETURNS SETOF text
	LANGUAGE c STABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'lb_public';
COMMENT ON FUNCTION @extschema@.lb_check(text) IS
'Checks every ranking of a board: its tree re-summed at every level, the tree against the standings sorted by plain SQL, population and histogram against the standings, the standings against the buckets of their window, the counter''s days against the buckets inside them; the rankings of its scopes against the standings of their members. One row a problem, none if all is well. Reads the whole board. 42704 for an unknown board.';
/* The windows of a board, a member's history, the log itself. */
CREATE FUNCTION @extschema@.lb_windows(board text, n integer DEFAULT 10, scope text DEFAULT '',
		OUT label text, OUT opens timestamptz, OUT closes timestamptz, OUT settles timestamptz, OUT state text,
		OUT population bigint)
	RETURNS SETOF record
	LANGUAGE c STABLE PARALLEL SAFE ROWS 10 AS 'MODULE_PATHNAME', 'lb_windows';
COMMENT ON FUNCTION @extschema@.lb_windows(text, integer, text) IS
'The newest n (1 to 1,000) windows of a board, newest first: the current one, and those that somebody has been in. label: 2026-W48, 2026-12-01, 2026-12, 2026, for an hour 2026-12-01 13:00 in the tenant''s zone, with its offset where that hour comes twice; all, or the rolling period, for a board that has one window. opens, closes and settles are infinite where there is no end; any instant from opens up to closes is an "at" for the other functions. Costs two look-ups a window. 42704 for an unknown board, 22023 for another n, or a scope of a board that has none.';

CREATE FUNCTION @extschema@.lb_next_reset(board text) RETURNS timestamptz
	LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'lb_next_reset';
COMMENT ON FUNCTION @extschema@.lb_next_reset(text) IS
'When the board''s current window closes and the next one opens; for a rolling board, when it moves on by its next minute, hour or day; NULL for period all, which never does. Costs no look-up beyond the board''s definition. 42704 for an unknown board.';

CREATE FUNCTION @extschema@.lb_series(counter text, member text, step interval, from_time timestamptz,
		to_time timestamptz, OUT opens timestamptz, OUT value bigint)
	RETURNS SETOF record
	LANGUAGE c STABLE PARALLEL SAFE ROWS 100 AS 'MODULE_PATHNAME', 'lb_series';
COMMENT ON FUNCTION @extschema@.lb_series(text, text, interval, timestamptz, timestamptz) IS
'What a member had in each calendar window of the length "step" (1 hour, 1 day, 1 week, 1 month or 1 year, in the tenant''s zone), from the one that from_time falls into up to the last that opens before to_time: opens, and value as lb_value() gives it for that window, late events left out. A window without events has 0 for a sum and NULL otherwise; a sum that does not fit bigint is NULL. Costs one row of the member''s an hour or day with events. 42704 for an unknown counter; 22023 for a NULL, another step, an infinite instant or more than 10,000 windows.';

/* A counter's id, of the live one before a retired one; 42704 for none. */
CREATE FUNCTION lb._logged_counter_id(counter text) RETURNS bigint
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	parsed text[] := lb._parse_name(counter, 'counter');
	id bigint;
BEGIN
	SELECT c.counter_id INTO id FROM lb.counter c JOIN lb.tenant t ON t.tenant_id = c.tenant_id
		WHERE t.tenant = parsed[1] AND c.counter = parsed[2]
		ORDER BY c.retired_at DESC NULLS FIRST LIMIT 1;
	RETURN coalesce(id, lb._counter_id(counter));
END
$$;

/*
 * The newest rows of the log, partition by partition from the newest on, until
 * there are enough; the default partition may hold rows of any time.  Not
 * parallel, for the sake of the subtransactions.
 */
CREATE FUNCTION lb._newest_events(id bigint, member text, key text, since timestamptz, n integer)
	RETURNS SETOF lb.event
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	look CONSTANT text := 'SELECT coalesce(array_agg(s.e), ''{}'') FROM (SELECT ROW(e.*)::lb.event AS e FROM lb.%I e '
		'WHERE e.counter_id = $1 AND ($2 IS NULL OR e.member = $2) AND ($3 IS NULL OR e.key = $3) '
		'AND ($4 IS NULL OR e.ingest_time >= $4) ORDER BY e.ingest_time DESC, e.event_id DESC LIMIT $5) s';
	part record;
	held lb.event[] := '{}';
	more lb.event[];
BEGIN
	FOR part IN
		SELECT c.relname, p.closes
		FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
		LEFT JOIN lb._partitions() p ON p.partition = c.oid
		WHERE i.inhparent = 'lb.event'::regclass
		ORDER BY p.closes DESC NULLS FIRST
	LOOP
		EXIT WHEN part.closes <= since
			OR (SELECT count(*) FROM unnest(held) h WHERE h.ingest_time >= part.closes) >= n;
		BEGIN
			EXECUTE format(look, part.relname) INTO more USING id, member, key, since, n;
			held := held || more;
		EXCEPTION WHEN undefined_table THEN
			NULL;	/* dropped just now */
		END;
	END LOOP;
	RETURN QUERY SELECT * FROM unnest(held) h ORDER BY h.ingest_time DESC, h.event_id DESC LIMIT n;
END
$$;

CREATE FUNCTION lb._events(counter text, of_member text, of_key text, since timestamptz, n integer)
	RETURNS TABLE (event_id bigint, member text, delta bigint, actor text, key text, event_time timestamptz,
		ingest_time timestamptz, kind text, source text, counted boolean)
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
#variable_conflict use_column
DECLARE
	id bigint := lb._logged_counter_id(counter);
	most integer := coalesce(n, 100);
	own integer := (SELECT h.origin FROM lb.home h, pg_control_system() c WHERE h.system_identifier = c.system_identifier);
	newest pg_snapshot := (SELECT r.snapshot FROM lb.round r ORDER BY r.number DESC LIMIT 1);
BEGIN
	IF most NOT BETWEEN 1 AND 1000 THEN
		RAISE EXCEPTION '"n" is between 1 and 1000'
			USING ERRCODE = 'invalid_parameter_value', HINT = 'Ask for further rows in further calls.';
	END IF;
	RETURN QUERY
	SELECT e.event_id, e.member, e.delta, e.actor, e.key, e.event_time, e.ingest_time,
		CASE e.kind WHEN 'h' THEN 'history' ELSE 'event' END, e.source,
		/* numbers of transactions mean something in their own cluster only; others are counted as a whole */
		CASE WHEN e.origin = own THEN coalesce(pg_visible_in_snapshot(e.xid, newest), false)
			 ELSE EXISTS (SELECT FROM lb.adopted a WHERE a.origin = e.origin) END
	FROM lb._newest_events(id, of_member, of_key, since, most) e
	ORDER BY e.ingest_time DESC, e.event_id DESC;
END
$$;

CREATE FUNCTION @extschema@.lb_events(counter text, member text DEFAULT NULL, key text DEFAULT NULL,
		since timestamptz DEFAULT NULL, n integer DEFAULT 100,
		OUT event_id bigint, OUT member text, OUT delta bigint, OUT actor text, OUT key text,
		OUT event_time timestamptz, OUT ingest_time timestamptz, OUT kind text, OUT source text, OUT counted boolean)
	RETURNS SETOF record
	LANGUAGE c STABLE PARALLEL UNSAFE ROWS 100 AS 'MODULE_PATHNAME', 'lb_public';
COMMENT ON FUNCTION @extschema@.lb_events(text, text, text, timestamptz, integer) IS
'The newest n (1 to 1,000) events of a counter in the log, live or retired, the last to come in first: of one member, of one key, or that came in (ingest_time) at "since" or later. kind: event, or history for lb_backfill(). counted: whether the boards this call sees have it. Days are searched from the newest on until there are n events: with a key one look a day, with a member the member''s events of those days, with neither the whole log of those days. 42704 for an unknown counter, 22023 for another n.';
/*
 * What is to be done once a day, in steps that maintain.c commits one by one.
 * A step that finds somebody in its way lets it be: the next call goes on.
 */
CREATE TABLE lb.maintenance (
	started_at timestamptz PRIMARY KEY,
	finished_at timestamptz NOT NULL,
	collected bigint NOT NULL,
	expired bigint NOT NULL,
	archived text[] NOT NULL,
	dropped text[] NOT NULL,
	left_over text[] NOT NULL
);
COMMENT ON TABLE lb.maintenance IS
'One row a finished call of lb_maintain(), of which a hundred stay: rankings collected, rows of expired buckets deleted, partitions moved and dropped, and those that somebody was in the way of. Not dumped.';

/* Check the arguments as a whole, before anything is done. */
CREATE FUNCTION lb._check_maintain(hot interval, archive interval, archive_tablespace name, drop_partitions text[])
	RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	argument text;
	span interval;
	dropping text;
	reason text;
BEGIN
	FOR argument, span IN VALUES ('hot', hot), ('archive', archive) LOOP
		IF span IS NULL OR span < interval '1 day' OR span > interval '1000 years' THEN
			RAISE EXCEPTION 'argument "%" is an invalid span of time', argument
				USING ERRCODE = 'invalid_parameter_value',
					  HINT = 'Give a day or more, for example ''90 days''.';
		END IF;
	END LOOP;
	IF archive_tablespace = 'pg_global' THEN
		RAISE EXCEPTION 'no partition can lie in the tablespace "%"', archive_tablespace
			USING ERRCODE = 'invalid_parameter_value', HINT = 'Make one with CREATE TABLESPACE.';
	END IF;
	IF NOT EXISTS (SELECT FROM pg_tablespace t WHERE t.spcname = archive_tablespace) AND archive_tablespace IS NOT NULL THEN
		RAISE EXCEPTION 'tablespace "%" does not exist', archive_tablespace
			USING ERRCODE = 'undefined_object', HINT = 'Make it with CREATE TABLESPACE; pg_tablespace lists them.';
	END IF;
	IF EXISTS (SELECT FROM unnest(drop_partitions) AS d WHERE d IS NULL) THEN
		RAISE EXCEPTION 'argument "drop_partitions" has a null element'
			USING ERRCODE = 'invalid_parameter_value', HINT = 'Leave it out.';
	END IF;
	FOREACH dropping IN ARRAY coalesce(drop_partitions, '{}') LOOP
		reason := lb._why_kept(dropping, archive);
		IF reason IS NOT NULL THEN
			RAISE EXCEPTION 'partition "%" cannot be dropped', dropping
				USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = reason,
					  HINT = 'It can be moved to another tablespace instead; nothing was dropped.';
		END IF;
	END LOOP;
END
$$;

/* The partition of that name; one that lb_maintain() dropped before is NULL, an unknown one 42704. */
CREATE FUNCTION lb._named_partition(partition text, OUT relid regclass, OUT opens timestamptz, OUT closes timestamptz)
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	bare text := regexp_replace(partition, '^lb\.', '');
BEGIN
	SELECT p.partition, p.opens, p.closes INTO relid, opens, closes
		FROM lb._partitions() p JOIN pg_class c ON c.oid = p.partition WHERE c.relname = bare;
	IF relid IS NULL AND NOT EXISTS (SELECT FROM lb.dropped d WHERE d.partition = bare) THEN
		RAISE EXCEPTION 'the log has no partition "%"', partition
			USING ERRCODE = 'undefined_object', HINT = 'lb.log_partition lists them.';
	END IF;
END
$$;

/* Whatever came in before is counted, and no round looks for more there. */
CREATE FUNCTION lb._counted_before() RETURNS timestamptz
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	counted timestamptz;
BEGIN
	IF lb._lacks_indexes() OR EXISTS (
		SELECT FROM lb.origin o
		WHERE NOT EXISTS (SELECT FROM lb.adopted a WHERE a.origin = o.origin)
		AND NOT EXISTS (SELECT FROM lb.home h, pg_control_system() c
						WHERE h.origin = o.origin AND h.system_identifier = c.system_identifier)) THEN
		RETURN '-infinity';	/* a restore, whose log will be counted as a whole */
	END IF;
	/* rounds look a day back, for clocks that were set back (news.c) */
	SELECT r.floor - interval '1 day' INTO counted FROM lb.round r WHERE isfinite(r.floor) ORDER BY r.number DESC LIMIT 1;
	RETURN coalesce(counted, '-infinity');
END
$$;

/* What a partition holds, counter by counter, as lb.dropped will say it. */
CREATE FUNCTION lb._contents(partition regclass, opens timestamptz, closes timestamptz) RETURNS SETOF lb.dropped
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	RETURN QUERY EXECUTE format(
		'SELECT coalesce(e.counter_id, 0), %L::text, $1, $2, count(e.counter_id), coalesce(min(e.event_time), $1), '
		'coalesce(max(e.event_time), $1), clock_timestamp(), session_user::text '
		'FROM (SELECT 1) one LEFT JOIN %s e ON true GROUP BY e.counter_id ORDER BY 1',
		(SELECT c.relname FROM pg_class c WHERE c.oid = partition), partition)
		USING opens, closes;
END
$$;

/*
 * Why does a live projection need what one counter has in a partition?  NULL if
 * none does.  A board needs the events of every window that can still change,
 * or that has no end: they are what it would be built from anew.
 */
CREATE FUNCTION lb._needed_by(held lb.dropped, floor timestamptz) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	c record;
	b record;
	ends timestamptz;
BEGIN
	SELECT d.* INTO c FROM lb._counters() d WHERE d.counter_id = held.counter_id AND d.retired_at IS NULL;
	IF NOT FOUND THEN
		RETURN NULL;
	END IF;
	IF held.closes > floor - greatest(c.idempotency, c.max_age + c.max_skew) THEN
		RETURN format('Counter "%s" recognises retries of its events for %s.', c.counter, greatest(c.idempotency, c.max_age + c.max_skew));
	END IF;
	FOR b IN SELECT * FROM lb.board d WHERE d.counter_id = held.counter_id ORDER BY d.board LOOP
		IF b.period = 'all' THEN
			RETURN format('Board "%s" counts the events of all time.', b.board);
		ELSIF b.period LIKE 'last %' THEN
			/* one unit more than it covers, and a day for the zone */
			ends := held.last_event + substr(b.period, 6)::interval + interval '2 days';
		ELSE
			ends := (lb._window(b.period, held.last_event, c.timezone, b.starts)).closes + coalesce(b.lateness, c.lateness);
		END IF;
		IF ends >= floor THEN
			RETURN format('Board "%s" counts its events in a window that is not settled.', b.board);
		END IF;
	END LOOP;
	RETURN NULL;
END
$$;

/* Why must the partition of that name stay?  NULL if it need not, or is gone. */
CREATE FUNCTION lb._why_kept(partition text, archive interval) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	p record;
	held lb.dropped;
	counted timestamptz := lb._counted_before();
	reason text;
BEGIN
	SELECT * INTO p FROM lb._named_partition(partition);
	IF p.relid IS NULL THEN
		RETURN NULL;
	ELSIF p.closes > clock_timestamp() - archive THEN
		RETURN format('It is younger than "archive", %s.', archive);
	ELSIF p.closes > counted THEN
		RETURN 'Its events may not all be counted yet.';
	END IF;
	FOR held IN SELECT * FROM lb._contents(p.relid, p.opens, p.closes) LOOP
		reason := lb._needed_by(held, counted);
		EXIT WHEN reason IS NOT NULL;
	END LOOP;
	RETURN reason;
END
$$;

/*
 * Drop a partition: dropped, gone (before this call), or busy.  What it holds
 * is read before anybody is made to wait; that no board needs it is decided
 * while rounds and makers of boards do.
 */
CREATE FUNCTION lb._drop_partition(partition text, archive interval) RETURNS text
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	SET lock_timeout = '100ms'
	AS $$
DECLARE
	p record;
	held lb.dropped[];
	one lb.dropped;
	reason text;
BEGIN
	SELECT * INTO p FROM lb._named_partition(partition);
	IF p.relid IS NULL THEN
		RETURN 'gone';
	END IF;
	SELECT array_agg(h) INTO held FROM lb._contents(p.relid, p.opens, p.closes) h;
	BEGIN
		PERFORM lb._lock_rounds('maintenance');
		FOREACH one IN ARRAY held LOOP
			reason := lb._needed_by(one, lb._counted_before());
			IF p.closes > clock_timestamp() - archive OR reason IS NOT NULL THEN
				RAISE EXCEPTION 'partition "%" cannot be dropped', partition
					USING ERRCODE = 'object_not_in_prerequisite_state',
						  DETAIL = coalesce(reason, 'It is too young.'),
						  HINT = 'It can be moved to another tablespace instead.';
			END IF;
		END LOOP;
		INSERT INTO lb.dropped SELECT * FROM unnest(held);
		EXECUTE format('DROP TABLE %s', p.relid);
	EXCEPTION WHEN lock_not_available THEN
		RETURN 'busy';
	END;
	RETURN 'dropped';
END
$$;

/*
 * While the default partition holds rows, attaching another reads it, to see
 * that none of them belongs there.  A constraint spares it that, made and
 * checked beforehand, in two transactions that keep nobody waiting.
 */
CREATE FUNCTION lb._guard_default(opens timestamptz, closes timestamptz, validate boolean) RETURNS boolean
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	SET timezone = 'UTC'
	SET lock_timeout = '100ms'
	AS $$
DECLARE
	guard text := 'elsewhere_' || to_char(opens, 'YYYYMMDD');
BEGIN
	IF NOT EXISTS (SELECT FROM lb.event_default) THEN
		RETURN true;
	ELSIF validate THEN
		EXECUTE format('ALTER TABLE lb.event_default VALIDATE CONSTRAINT %I', guard);
	ELSIF NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conrelid = 'lb.event_default'::regclass AND c.conname = guard) THEN
		EXECUTE format('ALTER TABLE lb.event_default ADD CONSTRAINT %I CHECK (ingest_time < %L OR ingest_time >= %L) NOT VALID',
					   guard, opens, closes);
	END IF;
	RETURN true;
EXCEPTION WHEN lock_not_available THEN
	RETURN false;
END
$$;

/* The next partition that is to be moved: the oldest, after the one given. */
CREATE FUNCTION lb._next_to_archive(hot interval, archive_tablespace name, beyond timestamptz,
		OUT partition text, OUT opens timestamptz, OUT closes timestamptz)
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	SELECT l.partition, l.opens, l.closes INTO partition, opens, closes
		FROM lb.log_partition l
		WHERE l.closes <= clock_timestamp() - hot AND l.closes <= lb._counted_before()
		AND l.tablespace <> archive_tablespace AND l.opens > beyond
		ORDER BY l.opens LIMIT 1;
END
$$;

/* Put the copy into the place of the partition: an instant, for which everybody waits. */
CREATE FUNCTION lb._swap_partition(partition text, copy text, opens timestamptz, closes timestamptz) RETURNS boolean
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	SET timezone = 'UTC'
	SET lock_timeout = '100ms'
	AS $$
DECLARE
	part text;
BEGIN
	/* a round that has its snapshot would not see the copied rows */
	PERFORM lb._lock_rounds('maintenance');
	LOCK TABLE ONLY lb.event IN ACCESS EXCLUSIVE MODE;
	EXECUTE format('ALTER TABLE lb.event DETACH PARTITION lb.%I', partition);
	EXECUTE format('ALTER TABLE lb.event ATTACH PARTITION lb.%I FOR VALUES FROM (%L) TO (%L)', copy, opens, closes);
	EXECUTE format('DROP TABLE lb.%I', partition);
	EXECUTE format('ALTER TABLE lb.%I DROP CONSTRAINT moving', copy);
	EXECUTE format('ALTER TABLE lb.%I RENAME TO %I', copy, partition);
	FOREACH part IN ARRAY ARRAY['_key', '_xid', '_member'] LOOP
		EXECUTE format('ALTER INDEX lb.%I RENAME TO %I', copy || part, partition || part);
	END LOOP;
	EXECUTE format('ALTER TABLE lb.event_default DROP CONSTRAINT IF EXISTS %I', 'elsewhere_' || to_char(opens, 'YYYYMMDD'));
	RETURN true;
EXCEPTION WHEN lock_not_available THEN
	RETURN false;
END
$$;

/*
 * Move a partition to another tablespace.  ALTER TABLE … SET TABLESPACE would
 * lock it for as long as the copying takes, and submissions look into it for
 * their keys; so it is copied beside, and the copy takes its place.  What is
 * copied gets no row any more: its days are over, and whoever could still add
 * one holds a lock that this one waits for.
 */
CREATE FUNCTION lb._archive_partition(partition text, opens timestamptz, closes timestamptz, archive_tablespace name)
	RETURNS boolean
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	SET client_min_messages = 'warning'
	SET timezone = 'UTC'
	SET lock_timeout = '100ms'
	AS $$
DECLARE
	copy text := partition || '_copy';
BEGIN
	EXECUTE format('LOCK TABLE lb.%I IN SHARE MODE', partition);
	PERFORM lb._create_partition(copy, archive_tablespace);
	EXECUTE format('ALTER TABLE lb.%I ADD CONSTRAINT moving CHECK (ingest_time >= %L AND ingest_time < %L)', copy, opens, closes);
	EXECUTE format('INSERT INTO lb.%I SELECT * FROM lb.%I', copy, partition);
	PERFORM lb._index_partition(copy, archive_tablespace);
	FOR attempt IN 1 .. 50 LOOP
		IF lb._swap_partition(partition, copy, opens, closes) THEN
			RETURN true;
		END IF;
		PERFORM pg_sleep(0.2);
	END LOOP;
	EXECUTE format('DROP TABLE lb.%I', copy);
	RETURN false;
EXCEPTION WHEN lock_not_available THEN
	RETURN false;
END
$$;

/* A second's worth of what the loop collects too; who is first does it. */
CREATE FUNCTION lb._maintain_versions(OUT collected bigint, OUT more boolean)
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	SET lock_timeout = '200ms'
	AS $$
BEGIN
	SELECT * INTO collected, more FROM lb._collect_some('1 second');
	IF NOT more THEN
		PERFORM lb._thin_rounds();
	END IF;
EXCEPTION WHEN lock_not_available THEN
	collected := 0;
	more := false;
END
$$;

/*
 * The instant before which nobody needs what a counter's members had by its
 * grain, at the beginning of a local day: 400 days ago, or earlier where a
 * window that does not consist of whole days is not settled yet.
 */
CREATE FUNCTION lb._grain_needed_from(counter_id bigint, now timestamptz) RETURNS timestamptz
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	c record;
	needed timestamptz := now - interval '400 days';
	b record;
BEGIN
	SELECT t.timezone, v.lateness INTO c
		FROM lb.counter d JOIN lb.tenant t ON t.tenant_id = d.tenant_id
		JOIN lb.counter_version v ON v.counter_id = d.counter_id AND v.version = d.version
		WHERE d.counter_id = _grain_needed_from.counter_id;
	IF NOT FOUND THEN
		RETURN '-infinity';
	END IF;
	FOR b IN SELECT * FROM lb.board d WHERE d.counter_id = _grain_needed_from.counter_id
		AND d.period IN ('hour', 'day', 'week', 'month', 'year')
		AND (d.period = 'hour' OR extract(epoch FROM d.starts)::bigint % 86400 <> 0) LOOP
		needed := least(needed, (lb._window(b.period, now - coalesce(b.lateness, c.lateness), c.timezone, b.starts)).opens);
	END LOOP;
	RETURN (lb._window('day', needed, c.timezone)).opens;
END
$$;

/*
 * Delete a piece of the buckets of span g that nobody needs.  First it is said
 * that they are gone; a round may not meet a row that goes.  NULL if somebody
 * is in the way.
 */
CREATE FUNCTION lb._expire_buckets(now timestamptz DEFAULT clock_timestamp(), OUT expired bigint, OUT more boolean)
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	SET lock_timeout = '200ms'
	AS $$
DECLARE
	piece CONSTANT integer := 5000;
	id bigint;
	until timestamptz;
BEGIN
	expired := 0;
	more := false;
	FOR id IN SELECT c.counter_id FROM lb.counter c ORDER BY 1 LOOP
		until := lb._grain_needed_from(id, now);
		CONTINUE WHEN NOT EXISTS (SELECT FROM lb.bucket b WHERE b.counter_id = id AND b.span = 'g' AND b.opens < until);
		PERFORM lb._lock_rounds('maintenance');
		/* a board may have come in before the lock */
		until := lb._grain_needed_from(id, now);
		INSERT INTO lb.counter_horizon AS h VALUES (id, until)
			ON CONFLICT (counter_id) DO UPDATE SET horizon = excluded.horizon WHERE h.horizon < excluded.horizon;
		DELETE FROM lb.bucket b WHERE b.ctid = ANY (ARRAY(
			SELECT o.ctid FROM lb.bucket o WHERE o.counter_id = id AND o.span = 'g' AND o.opens < until LIMIT piece));
		GET DIAGNOSTICS expired = ROW_COUNT;
		more := expired > 0;
		RETURN;
	END LOOP;
EXCEPTION WHEN lock_not_available THEN
	expired := NULL;
	more := true;
END
$$;

CREATE FUNCTION lb._finish_maintenance(started_at timestamptz, collected bigint, expired bigint, archived text[],
		dropped text[], left_over text[]) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	INSERT INTO lb.maintenance
		VALUES (started_at, clock_timestamp(), collected, expired, archived, dropped, left_over);
	DELETE FROM lb.maintenance m WHERE m.started_at <
		(SELECT n.started_at FROM lb.maintenance n ORDER BY n.started_at DESC OFFSET 99 LIMIT 1);
END
$$;

CREATE PROCEDURE @extschema@.lb_maintain(hot interval DEFAULT '90 days', archive interval DEFAULT '13 months',
		archive_tablespace name DEFAULT NULL, drop_partitions text[] DEFAULT NULL)
	LANGUAGE c AS 'MODULE_PATHNAME', 'lb_maintain';
COMMENT ON PROCEDURE @extschema@.lb_maintain(interval, interval, name, text[]) IS
'What is to be done once a day; lb_schedule() does. Makes log partitions ahead, collects versions that nobody may ask for any more, thins old rounds, and deletes what members had by the counter''s grain more than 400 days ago and no window that can still change needs (their days stay). With archive_tablespace, moves log partitions older than "hot" there. With drop_partitions, drops the partitions named (see lb.log_partition), if they are older than "archive" and no board needs their events: 55000 says which does; one that was dropped before is passed over. Each step commits by itself; a call that was cut off, or found somebody in its way (a WARNING says so), is simply repeated. Submissions wait for an instant at most, reads of the log too. Does nothing on a standby, and while another call is under way. 25001 inside a transaction or unless READ COMMITTED, 22023 for a span under a day, 42704 for an unknown tablespace or partition. NULL is the default.';
/*
 * Thin glue to pg_cron, which lives in one database of a cluster and starts
 * jobs no more often than every minute before its version 1.5.  The job is
 * therefore a loop that lasts a minute and a second: pg_cron holds the next
 * start until it is over, so that rounds follow each other without a gap, and
 * its own history grows by one row a minute whatever the pace of the rounds.
 */
CREATE FUNCTION lb._cron_jobs() RETURNS TABLE (jobid bigint, jobname text, schedule text, command text, active boolean)
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	IF to_regclass('cron.job') IS NOT NULL THEN
		RETURN QUERY EXECUTE
			'SELECT j.jobid, j.jobname::text, j.schedule, j.command, j.active FROM cron.job j '
			'WHERE j.jobname IN (''leaderboard_refresh'', ''leaderboard_maintain'', ''leaderboard_history'') AND j.database = current_database()';
	END IF;
END
$$;

/*
 * What the job runs.  With arguments of the very types: were the schema one in
 * which others may create, a procedure of theirs that fits a bare call better
 * would run as us.
 */
CREATE FUNCTION lb._cron_command() RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	RETURN format('CALL %I.lb_refresh_loop(interval ''61 seconds'', interval ''250 milliseconds'')', '@extschema@');
END
$$;

CREATE FUNCTION lb._cron_maintenance() RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	RETURN format('CALL %I.lb_maintain(interval ''90 days'', interval ''13 months'', NULL::name, NULL::text[])', '@extschema@');
END
$$;

/* 55000 with what to do, unless pg_cron is here. */
CREATE FUNCTION lb._require_cron() RETURNS void
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	home text := current_setting('cron.database_name', true);
BEGIN
	IF to_regclass('cron.job') IS NOT NULL AND home = current_database() THEN
		RETURN;
	END IF;
	IF home IS NULL THEN
		RAISE EXCEPTION 'pg_cron is not loaded'
			USING ERRCODE = 'object_not_in_prerequisite_state',
				  HINT = format('Install pg_cron, set shared_preload_libraries = ''pg_cron'' and cron.database_name = %L, restart, and CREATE EXTENSION pg_cron here; or call lb_refresh_loop() from a scheduler of your own.',
								current_database());
	ELSIF home <> current_database() THEN
		RAISE EXCEPTION 'pg_cron lives in the database "%"', home
			USING ERRCODE = 'object_not_in_prerequisite_state',
				  HINT = format('Connect to "%s" and run: SELECT cron.schedule_in_database(%L, ''* * * * *'', %L, %L);',
								home, 'leaderboard_refresh in ' || current_database(),
								lb._cron_command(), current_database());
	END IF;
	RAISE EXCEPTION 'the extension pg_cron is not installed'
		USING ERRCODE = 'object_not_in_prerequisite_state',
			  HINT = 'Run CREATE EXTENSION pg_cron as a superuser.';
END
$$;

/* A day of the jobs' history stays. */
CREATE FUNCTION lb._purge_history() RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	DELETE FROM cron.job_run_details d
		USING lb._cron_jobs() j
		WHERE d.jobid = j.jobid AND d.end_time < clock_timestamp() - interval '1 day';
END
$$;

CREATE FUNCTION lb._schedule() RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	PERFORM lb._require_cron();
	PERFORM cron.schedule('leaderboard_refresh', '* * * * *', lb._cron_command());
	PERFORM cron.schedule('leaderboard_maintain', '19 3 * * *', lb._cron_maintenance());
	PERFORM cron.schedule('leaderboard_history', '7 * * * *', 'SELECT lb._purge_history()');
END
$$;

CREATE FUNCTION lb._unschedule() RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	job record;
BEGIN
	PERFORM lb._require_cron();
	FOR job IN SELECT j.jobid FROM lb._cron_jobs() j LOOP
		PERFORM cron.unschedule(job.jobid);
		DELETE FROM cron.job_run_details d WHERE d.jobid = job.jobid;
	END LOOP;
END
$$;

/* When nothing counts what a new board will show, say so. */
CREATE FUNCTION lb._notice_unscheduled() RETURNS trigger
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	IF NOT EXISTS (SELECT FROM lb._cron_jobs() j WHERE j.active AND j.jobname = 'leaderboard_refresh')
		AND NOT EXISTS (SELECT FROM lb.round r WHERE r.as_of > clock_timestamp() - interval '2 minutes') THEN
		RAISE NOTICE 'no refresh is scheduled'
			USING HINT = 'Run SELECT lb_schedule() to count with pg_cron, or call lb_refresh() yourself.';
	END IF;
	RETURN NULL;
END
$$;

CREATE TRIGGER notice_unscheduled AFTER INSERT ON lb.board
	FOR EACH STATEMENT EXECUTE FUNCTION lb._notice_unscheduled();

/* What a DBA looks at first. */
CREATE FUNCTION lb._health() RETURNS TABLE (check_name text, ok boolean, detail text, hint text)
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	now timestamptz := clock_timestamp();
	newest lb.round;
	since timestamptz;
	jobs bigint;
	days integer;
	overdue bigint;
	maintained timestamptz;
	poisoned bigint;
	waiting text;
	bare boolean;
BEGIN
	SELECT count(*) INTO jobs FROM lb._cron_jobs() j WHERE j.active AND j.jobname = 'leaderboard_refresh';
	RETURN QUERY SELECT 'pg_cron present', to_regclass('cron.job') IS NOT NULL,
		CASE WHEN to_regclass('cron.job') IS NOT NULL THEN 'pg_cron is installed in this database'
			 WHEN current_setting('cron.database_name', true) = current_database() THEN 'pg_cron is loaded, its extension is not created'
			 ELSE coalesce(format('pg_cron lives in database "%s"', current_setting('cron.database_name', true)),
						   'pg_cron is not loaded') END,
		CASE WHEN to_regclass('cron.job') IS NULL THEN 'Any scheduler that calls lb_refresh_loop() will do; lb_schedule() needs pg_cron here.' END;
	RETURN QUERY SELECT 'refresh scheduled', jobs > 0,
		CASE WHEN jobs > 0 THEN 'pg_cron runs lb_refresh_loop() every minute' ELSE 'no job of pg_cron counts in this database' END,
		CASE WHEN jobs = 0 THEN 'Run SELECT lb_schedule(), unless another scheduler calls lb_refresh_loop().' END;

	SELECT * INTO newest FROM lb.round r ORDER BY r.number DESC LIMIT 1;
	RETURN QUERY SELECT 'refresh running', coalesce(newest.as_of > now - interval '2 minutes', false),
		CASE WHEN newest.number IS NULL THEN 'no round has ever run'
			 ELSE format('round %s has as_of %s', newest.number, newest.as_of) END,
		CASE WHEN coalesce(newest.as_of > now - interval '2 minutes', false) THEN NULL
			 ELSE 'See cron.job_run_details for what became of the job, or call lb_refresh().' END;
	RETURN QUERY SELECT 'lag', coalesce(newest.as_of > now - interval '10 seconds', false),
		CASE WHEN newest.number IS NULL THEN 'nothing is counted yet'
			 ELSE format('answers are %s old', date_trunc('milliseconds', now - newest.as_of)) END,
		CASE WHEN newest.as_of > now - interval '10 seconds' THEN NULL
			 ELSE 'The refresh is not running, or is working off a backlog.' END;

	SELECT min(a.xact_start) INTO since FROM pg_stat_activity a
		WHERE a.backend_xmin IS NOT NULL AND a.pid <> pg_backend_pid();
	SELECT least(since, min(p.prepared)) INTO since FROM pg_prepared_xacts p;
	RETURN QUERY SELECT 'oldest snapshot', coalesce(since > now - interval '10 minutes', true),
		CASE WHEN since IS NULL THEN 'no other transaction holds a snapshot'
			 ELSE format('the oldest transaction holds a snapshot since %s', since) END,
		CASE WHEN since <= now - interval '10 minutes'
			 THEN 'Dead rows cannot be removed while it is open; find it in pg_stat_activity or pg_prepared_xacts.' END;

	SELECT count(*) INTO days FROM lb._partitions() p WHERE p.opens > now;
	RETURN QUERY SELECT 'partitions ahead', days >= 2,
		format('the log has partitions for %s days to come', days),
		CASE WHEN days < 2 THEN 'lb_refresh_loop() makes them; until then the default partition takes the events, and none is lost.' END;

	SELECT count(*) INTO overdue FROM (
		SELECT FROM lb.version v
		JOIN lb.ranking r ON r.counter_id = v.counter_id AND r.ranking_id = v.ranking_id
		JOIN lb.board b ON b.board_id = r.board_id
		WHERE v.owes AND v.made_at < now - b.keep_versions - interval '15 minutes'
		LIMIT 1000) late;
	RETURN QUERY SELECT 'collection', overdue = 0,
		CASE WHEN overdue = 0 THEN 'old versions are collected in time'
			 ELSE format('%s%s old versions have been waiting to be collected for 15 minutes and more',
						 CASE WHEN overdue = 1000 THEN 'at least ' END, overdue) END,
		CASE WHEN overdue > 0 THEN 'lb_refresh_loop() and lb_maintain() collect them; lb_refresh() alone does not.' END;

	SELECT max(m.finished_at) INTO maintained FROM lb.maintenance m;
	/* no wonder, in the first days of a new installation */
	RETURN QUERY SELECT 'maintenance', coalesce(maintained > now - interval '2 days',
			NOT EXISTS (SELECT FROM lb.round r WHERE r.as_of < now - interval '2 days')),
		CASE WHEN maintained IS NULL THEN 'lb_maintain() has never run to its end'
			 ELSE format('lb_maintain() last ran to its end at %s', maintained) END,
		CASE WHEN coalesce(maintained > now - interval '2 days', false) THEN NULL
			 ELSE 'lb_schedule() runs it every night; without pg_cron, CALL lb_maintain() once a day.' END;

	SELECT count(*) INTO poisoned FROM lb.poison;
	RETURN QUERY SELECT 'poisoned members', poisoned = 0,
		format('%s members are off a ranking because their sum left bigint', poisoned),
		CASE WHEN poisoned > 0 THEN 'lb.poison lists them.' END;

	SELECT string_agg(o.origin::text, ', ') INTO waiting FROM lb.origin o
		WHERE NOT EXISTS (SELECT FROM lb.adopted a WHERE a.origin = o.origin)
		AND NOT EXISTS (SELECT FROM lb.home h, pg_control_system() c
						WHERE h.origin = o.origin AND h.system_identifier = c.system_identifier);
	bare := lb._lacks_indexes();
	RETURN QUERY SELECT 'restored log', waiting IS NULL AND NOT bare,
		CASE WHEN bare THEN 'restoring: partitions of the log have not all of their indexes'
			 WHEN waiting IS NULL THEN 'every event of the log is known to this cluster'
			 ELSE format('restoring: events of origin %s are not counted here yet', waiting) END,
		CASE WHEN bare THEN 'Finish the restore, or make the indexes anew; until then nothing is counted.'
			 WHEN waiting IS NOT NULL THEN 'The next refresh counts them, once every partition has its indexes.' END;
END
$$;

CREATE VIEW lb.health AS SELECT h.check_name, h.ok, h.detail, h.hint FROM lb._health() h;
COMMENT ON VIEW lb.health IS
'One row a check: whether pg_cron is here, the refresh is scheduled and running, how old answers are, whether an old snapshot keeps dead rows, how far partitions are made ahead, whether old versions are collected and lb_maintain() runs, who is poisoned, and whether a restored log is counted. hint says what to do where ok is false. A monitoring role needs USAGE on the schema lb, SELECT on this view and EXECUTE on lb._health().';

CREATE FUNCTION @extschema@.lb_schedule() RETURNS void
	LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'lb_public';
COMMENT ON FUNCTION @extschema@.lb_schedule() IS
'Makes the pg_cron jobs that keep the boards fresh: lb_refresh_loop() every minute, lb_maintain() every night at 03:19 (of pg_cron''s clock), and a purge of these jobs'' own history. Calling it again changes nothing. 55000 with a hint if pg_cron is missing or lives in another database.';

CREATE FUNCTION @extschema@.lb_unschedule() RETURNS void
	LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'lb_public';
COMMENT ON FUNCTION @extschema@.lb_unschedule() IS
'Removes the jobs of lb_schedule() and their history; a loop under way ends within a minute. 55000 with a hint if pg_cron is missing or lives in another database.';
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
