/*-------------------------------------------------------------------------
 *
 * sketches.h
 *	  lb.sketch: what the standings of sketched counters are merged in.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_SKETCHES_H
#define LB_SKETCHES_H

#include "leaderboard.h"

#include "projection/accum.h"
#include "table/rows.h"

/* The table, and the row that was looked for last. */
typedef struct LbSketches
{
	bool		begun;
	LbProbe		probe;
	LbRows	   *rows;			/* NULL: to be read only */
	bool		found;
	ItemPointerData tid;
	LbAccum		old;			/* its sketch, and nothing else */
	int64		counter_id;
	int64		ranking_id;
	Datum		member;
} LbSketches;

extern void lb_sketches_begin(LbSketches *sketches, bool writes);
extern bool lb_sketches_find(LbSketches *sketches, int64 counter_id,
							 int64 ranking_id, Datum member, LbAccum *accum);
extern void lb_sketches_put(LbSketches *sketches, const LbAccum *accum);
extern void lb_sketches_end(LbSketches *sketches);

#endif							/* LB_SKETCHES_H */
