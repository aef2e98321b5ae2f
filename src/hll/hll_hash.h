/*-------------------------------------------------------------------------
 *
 * hll_hash.h
 *	  The hash of a value: XXH3 of its canonical bytes.  For this folder.
 *
 * libxxhash is used as a header that is compiled in: the hash of an integer
 * becomes some ten instructions in the loop that counts it, and nothing is
 * linked that a server would have to have.  XXH3 is the same function on
 * every machine and since version 0.8.0 for ever.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_HLL_HASH_H
#define LB_HLL_HASH_H

#include "port/pg_bswap.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* How a type's values become bytes; README.md publishes it. */
typedef enum LbHllKind
{
	LB_HLL_KIND_BOOL,
	LB_HLL_KIND_INT2,
	LB_HLL_KIND_INT4,
	LB_HLL_KIND_INT8,			/* and times: 64 bits, passed by value */
	LB_HLL_KIND_OID,
	LB_HLL_KIND_FLOAT4,
	LB_HLL_KIND_FLOAT8,
	LB_HLL_KIND_NUMERIC,
	LB_HLL_KIND_TEXT,
	LB_HLL_KIND_BPCHAR,
	LB_HLL_KIND_NAME,
	LB_HLL_KIND_CHAR,
	LB_HLL_KIND_ENUM,
	LB_HLL_KIND_BYTEA,			/* and text that is UTF-8 already */
	LB_HLL_KIND_UUID
} LbHllKind;

typedef struct LbHllHasher
{
	LbHllKind	kind;
} LbHllHasher;

/* hll_hash.c */

/*
 * How the values of an argument are hashed, kept with the call; 0A000 when
 * they cannot be, or when equal ones may be different bytes.
 */
extern const LbHllHasher *lb_hll_find_hasher(FmgrInfo *flinfo, int argument,
											 Oid collation);
extern uint64 lb_hll_hash_other(const LbHllHasher *hasher, Datum value);

static inline uint64
lb_hll_hash_int64(int64 value)
{
#ifdef WORDS_BIGENDIAN
	value = (int64) pg_bswap64((uint64) value);
#endif
	return XXH3_64bits(&value, sizeof(value));
}

/* The bytes of a varlena as they are. */
static inline uint64
lb_hll_hash_varlena(Datum value)
{
	struct varlena *flat = (struct varlena *) DatumGetPointer(value);

	if (VARATT_IS_COMPRESSED(flat) || VARATT_IS_EXTERNAL(flat))
		flat = pg_detoast_datum_packed(flat);
	return XXH3_64bits(VARDATA_ANY(flat), VARSIZE_ANY_EXHDR(flat));
}

/* The hasher of that argument of a call, looked up with its first row. */
static inline const LbHllHasher *
lb_hll_hasher(FunctionCallInfo fcinfo, int argument)
{
	const LbHllHasher *hasher = fcinfo->flinfo->fn_extra;

	if (likely(hasher != NULL))
		return hasher;
	return lb_hll_find_hasher(fcinfo->flinfo, argument,
							  PG_GET_COLLATION());
}

static inline uint64
lb_hll_hash_datum(const LbHllHasher *hasher, Datum value)
{
	switch (hasher->kind)
	{
		case LB_HLL_KIND_INT8:
			return lb_hll_hash_int64(DatumGetInt64(value));
		case LB_HLL_KIND_INT4:
			return lb_hll_hash_int64(DatumGetInt32(value));
		case LB_HLL_KIND_BYTEA:
			return lb_hll_hash_varlena(value);
		default:
			return lb_hll_hash_other(hasher, value);
	}
}

#endif							/* LB_HLL_HASH_H */
