/*-------------------------------------------------------------------------
 *
 * tail.h
 *	  A member's events that no round has counted yet.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_TAIL_H
#define LB_TAIL_H

#include "leaderboard.h"

#include "log/event.h"
#include "projection/accum.h"
#include "projection/window.h"

/* Of which counter, in which window, and by what it is told what came late. */
typedef struct LbTailOf
{
	int64		counter_id;
	LbOperator	op;
	int32		size;			/* of its sketches */
	int64		grain;
	pg_tz	   *zone;
	LbWindow	window;
	LbPeriod	period;
	int64		starts;
	int64		lateness;
	int64		newest;			/* the round that has counted all others */
} LbTailOf;

/* What they add up to; n is zero where there are none. */
typedef struct LbTail
{
	LbAccum		in_time;
	LbAccum		late;
} LbTail;

extern void lb_tail_read(const LbTailOf *of, LbText member, LbTail *tail);

#endif							/* LB_TAIL_H */
