/*-------------------------------------------------------------------------
 *
 * hll.h
 *	  lb_hll for the C of other folders.
 *
 *		LbHll		h;
 *
 *		lb_hll_begin(&h, bits, context);		empty, grows in that context
 *		lb_hll_add_hash(&h, lb_hll_hash_text(actor, length));
 *		lb_hll_merge_stored(&h, datum);			of any bits: folds to the fewer
 *		count = lb_hll_estimate(&h);
 *		datum = lb_hll_store(&h);				canonical
 *		lb_hll_clear(&h);						frees what it holds
 *
 * The pure functions are declared in hll_core.h: lb_hll_merge,
 * lb_hll_interval, lb_hll_fold, and lb_hll_merge_bytes, lb_hll_pack_max,
 * lb_hll_pack for bytes that are no Datum.  An LbHll is some 60 bytes and may
 * be part of another struct; it may be copied, if the original is forgotten.
 *
 * Memory: nothing while empty; 128 bytes to 8 bytes a value and twice that
 * while sparse, 2^bits bytes when dense.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_HLL_H
#define LB_HLL_H

#include "utils/expandeddatum.h"

#include "hll/hll_core.h"

/* hll_value.c */

/* The context is where the sketch grows; 22023 when bits is out of range. */
extern void lb_hll_begin(LbHll *h, int32 bits, MemoryContext context);

/* Count in a stored sketch; XX001 when its bytes are damaged. */
extern void lb_hll_merge_stored(LbHll *h, Datum datum);

/* A flat Datum of the type, in the current context. */
extern Datum lb_hll_store(const LbHll *h);

/* hll_hash.c */

/* The hash of a text in the server's encoding, as lb_hll_agg(text) has it. */
extern uint64 lb_hll_hash_text(const char *text, size_t length);

/*
 * For this folder: an aggregate's state, a sketch that is changed in place.
 * Stored, copied or sent it is an ordinary value.
 */
typedef struct LbExpandedHll
{
	ExpandedObjectHeader header;
	struct varlena *flat;		/* between being asked its size and flattened */
	LbHll		h;
} LbExpandedHll;

extern LbExpandedHll *lb_hll_expand(int32 bits, MemoryContext context);
extern const ExpandedObjectMethods lb_hll_methods;

/* 22023 when there cannot be a sketch of so many bits. */
extern void lb_hll_check_bits(int32 bits);

/* Parsing and validation shared by in, recv, the cast and detoasting. */
extern void lb_hll_merge_or_fail(LbHll *h, const uint8_t *bytes, size_t size,
								 int sqlstate);
extern void lb_hll_load_bytes(LbHll *h, const uint8_t *bytes, size_t size,
							  int sqlstate);

/* A sketch from a Datum: the caller's own, to change. */
extern void lb_hll_load(LbHll *h, Datum datum);

/* The same to read only: in *own, or that of an aggregate's state. */
extern const LbHll *lb_hll_read(Datum datum, LbHll *own);

/* The flat bytes behind a Datum, checked. */
extern struct varlena *lb_hll_flat(Datum datum);

/*
 * The expanded sketch behind a Datum, if it is one.  DatumGetEOHP() would do,
 * but is a call into the server, and this is done for every row.
 */
static inline LbExpandedHll *
lb_hll_expanded(Datum datum)
{
	varatt_expanded external;

	if (!VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(datum)))
		return NULL;
	memcpy(&external, VARDATA_EXTERNAL(DatumGetPointer(datum)),
		   sizeof(external));
	return external.eohptr->eoh_methods == &lb_hll_methods ?
		(LbExpandedHll *) external.eohptr : NULL;
}

/* The expanded sketch that this Datum entitles to change, or NULL. */
static inline LbExpandedHll *
lb_hll_writable(Datum datum)
{
	if (!VARATT_IS_EXTERNAL_EXPANDED_RW(DatumGetPointer(datum)))
		return NULL;
	return lb_hll_expanded(datum);
}

#endif							/* LB_HLL_H */
