/*-------------------------------------------------------------------------
 *
 * accum.h
 *	  What events add up to: the one rule for every operator.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_ACCUM_H
#define LB_ACCUM_H

#include "leaderboard.h"

#include "definition/lookup.h"
#include "log/event.h"

/* How a sketch is there. */
typedef enum LbSketchForm
{
	LB_SKETCH_NONE,				/* of an exact counter, or nothing in it */
	LB_SKETCH_ONE,				/* of one actor: the hash says it all */
	LB_SKETCH_STORED,			/* its bytes, which several may point to */
	LB_SKETCH_WORKING			/* this accumulation's own, to be changed */
} LbSketchForm;

/*
 * A value being accumulated.  The value is 128 bits wide: a sum of 2^63
 * events of any size fits, and whether it fits bigint is asked at the end.
 * What is accumulated in a sketch has its value once that is settled.
 */
typedef struct LbAccum
{
	int64		n;				/* events; nothing is here while zero */
	union
	{
		uint64		hash;
		struct varlena *stored;
		struct LbHll *hll;
		struct LbTopk *topk;
	}			sketch;
	int128		value;
	bool		moved;			/* sum: some delta was not zero */
	uint8		form;			/* LbSketchForm */
	int16		size;			/* of a sketch of one, what it would grow to */
	TimestampTz reached_at;
	int64		last_id;		/* last: the event whose value it is */
} LbAccum;

extern void lb_accum_merge(LbOperator op, LbAccum *into, const LbAccum *from);
extern void lb_accum_event(LbOperator op, int32 size, LbAccum *into,
						   const LbLogged *event);

static inline bool
lb_accum_fits(const LbAccum *accum)
{
	return accum->value >= PG_INT64_MIN && accum->value <= PG_INT64_MAX;
}

/* Does a member with this stand in the same place as with the other? */
static inline bool
lb_accum_same(const LbAccum *a, const LbAccum *b)
{
	return a->value == b->value && a->reached_at == b->reached_at &&
		a->moved == b->moved && a->last_id == b->last_id;
}

#endif							/* LB_ACCUM_H */
