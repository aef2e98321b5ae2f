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
