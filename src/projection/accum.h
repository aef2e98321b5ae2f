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

/*
 * A value being accumulated.  The value is 128 bits wide: a sum of 2^63
 * events of any size fits, and whether it fits bigint is asked at the end.
 */
typedef struct LbAccum
{
	int64		n;				/* events; nothing is here while zero */
	int128		value;
	bool		moved;			/* sum: some delta was not zero */
	TimestampTz reached_at;
	int64		last_id;		/* last: the event whose value it is */
} LbAccum;

extern void lb_accum_merge(LbOperator op, LbAccum *into, const LbAccum *from);
extern void lb_accum_event(LbOperator op, LbAccum *into, int64 delta,
						   TimestampTz event_time, int64 event_id);

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
