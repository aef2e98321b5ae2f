/*-------------------------------------------------------------------------
 *
 * topk.h
 *	  lb_topk for the C of other folders.
 *
 * To write:   t = lb_topk_create(capacity), or lb_topk_load(datum)
 *             lb_topk_add(t, item, length, weight);	as often as needed
 *             lb_topk_merge(t, datum);					as often as needed
 *             datum = lb_topk_store(t);
 *
 * To read:    lb_topk_read(datum, &r);		r.total, r.bound, r.capacity, r.items
 *             while (lb_topk_next(&r))		in the order of the items' bytes
 *                 ... r.item, r.length, r.low, r.high
 *             lb_topk_find(&r, item, length, &low, &high);
 *
 * An addition costs some tens of nanoseconds; loading, merging, storing and
 * reading one or two hundred nanoseconds an item.  Items are bytes of the
 * database's encoding.  Everything lives in the memory context that was
 * current at the creation; a reader points into the Datum's memory.
 *
 * Without the server's errors the same is in topk_core.h, over plain bytes
 * and their number: lb_topk_init, lb_topk_try_add, lb_topk_try_merge,
 * lb_topk_pack; lb_topk_open.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_TOPK_H
#define LB_TOPK_H

#include "utils/expandeddatum.h"

#include "topk/topk_core.h"

/* topk_value.c */

/* An empty sketch; 22023 when the capacity is out of range. */
extern LbTopk *lb_topk_create(int32 capacity);

/* A sketch from a Datum of the type: the caller's own, to change. */
extern LbTopk *lb_topk_load(Datum datum);

/*
 * Count an item with a weight.  22023 for a weight that is not positive and
 * an item of more than 255 bytes, 22003 for a total past int64.
 */
extern void lb_topk_add(LbTopk *t, const char *item, size_t length,
						int64 weight);

/*
 * Count in all of another; the smaller of the capacities is that of the
 * result.  22003 for a total past int64.
 */
extern void lb_topk_merge(LbTopk *t, Datum datum);

/* A flat Datum of the type; of what t tracks, the capacity's best. */
extern Datum lb_topk_store(LbTopk *t);

/* Check a Datum of the type and make it ready to be read. */
extern void lb_topk_read(Datum datum, LbTopkReader *r);

/* Report the failure of a lb_topk_try_ function; OK returns. */
extern void lb_topk_check(LbTopkStatus status);

/* For this folder: a flat Datum of checked bytes, shared by in, recv, casts. */
extern Datum lb_topk_from_bytes(const uint8_t *bytes, size_t size,
								int sqlstate);

/*
 * For this folder: an aggregate's state, a sketch that an aggregate changes
 * in place.  Stored, copied or sent it is an ordinary value.
 */
typedef struct LbExpandedTopk
{
	ExpandedObjectHeader header;
	LbTopk		t;
} LbExpandedTopk;

extern LbExpandedTopk *lb_topk_expand(int32 capacity, MemoryContext context);
extern LbExpandedTopk *lb_topk_writable(Datum datum);
extern Datum lb_topk_flat(Datum datum);

#endif							/* LB_TOPK_H */
