/*-------------------------------------------------------------------------
 *
 * sketch.h
 *	  The sketch of an accumulation.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_SKETCH_H
#define LB_SKETCH_H

#include "leaderboard.h"

#include "projection/accum.h"

/* For accum.c */
extern void lb_sketch_of_event(int32 size, LbAccum *accum,
							   const LbLogged *event);
extern void lb_sketch_add_heavy(int32 size, LbAccum *into,
								const LbLogged *event);
extern void lb_sketch_merge_unique(LbAccum *into, const LbAccum *from);
extern void lb_sketch_merge_heavy(LbAccum *into, const LbAccum *from);
extern void lb_sketch_copy(LbOperator op, LbAccum *accum);

extern void lb_sketch_store(LbOperator op, LbAccum *accum);
extern void lb_sketch_take(LbAccum *accum, Datum stored);
extern void lb_unique_bounds(int64 value, int32 bits, int64 *low, int64 *high);

/*
 * Make the value what the sketch says, and the sketch bytes in the current
 * memory context, which others may point to.
 */
static inline void
lb_accum_settle(LbOperator op, LbAccum *accum)
{
	if (accum->form == LB_SKETCH_WORKING || accum->form == LB_SKETCH_ONE)
		lb_sketch_store(op, accum);
}

/* The same, and what was only pointed to is copied into the context as well. */
static inline void
lb_accum_keep(LbOperator op, LbAccum *accum)
{
	if (accum->form == LB_SKETCH_STORED)
		lb_sketch_take(accum, PointerGetDatum(accum->sketch.stored));
	else
		lb_accum_settle(op, accum);
}

#endif							/* LB_SKETCH_H */
