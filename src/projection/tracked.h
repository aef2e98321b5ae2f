/*-------------------------------------------------------------------------
 *
 * tracked.h
 *	  The members that an approximate counter tracks.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_TRACKED_H
#define LB_TRACKED_H

#include "leaderboard.h"

#include "projection/accum.h"

typedef void (*LbTrackedFunction) (void *context, LbText member,
								   const LbAccum *accum);

extern bool lb_tracked_changes(const LbAccum *was, const LbAccum *is,
							   LbTrackedFunction function, void *context,
							   int64 *total, int64 *bound);
extern bool lb_tracked_find(const LbAccum *accum, LbText member, int64 *low,
							int64 *high);

/*
 * What is certain of a member is its value on the board, and how much more it
 * may have at most takes the place of the time in board order, negated: so of
 * equals the one that may have more is ahead, and trees, earlier versions and
 * pages know the bounds of their entries.
 */
static inline TimestampTz
lb_tracked_time(int64 low, int64 high)
{
	return low - high;
}

static inline int64
lb_tracked_high(int64 low, TimestampTz time)
{
	return low - time;
}

#endif							/* LB_TRACKED_H */
