/*-------------------------------------------------------------------------
 *
 * within.h
 *	  What is inside a window, read from the buckets.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_WITHIN_H
#define LB_WITHIN_H

#include "leaderboard.h"

#include "log/event.h"
#include "projection/accum.h"
#include "projection/bucket.h"
#include "projection/late.h"
#include "table/probe.h"

/* A bucket of a member. */
typedef struct LbBucket
{
	LbText		member;
	LbWindow	stretch;
	int32		late;
	LbAccum		accum;
} LbBucket;

typedef void (*LbBucketFunction) (void *context, const LbBucket *bucket);
typedef void (*LbMemberFunction) (void *context, LbText member);

/* A window of a counter, open for reading with the active snapshot. */
typedef struct LbWithin
{
	const LbCounter *counter;
	LbWindow	window;
	LbWindow	days;			/* the whole ones inside it */
	LbProbe		probe;
} LbWithin;

extern void lb_within_begin(LbWithin *within, const LbCounter *counter,
							LbWindow window);
extern void lb_within(LbWithin *within, LbText member,
					  LbBucketFunction function, void *context);
extern void lb_within_end(LbWithin *within);
extern void lb_within_all(const LbCounter *counter, LbWindow window, char span,
						  LbBucketFunction function, void *context);
extern void lb_members_within(const LbCounter *counter, LbWindow first,
							  LbWindow second, char span,
							  LbMemberFunction function, void *context);
extern TimestampTz lb_counter_horizon(int64 counter_id);
extern void lb_check_within(const LbCounter *counter, LbWindow window);

#endif							/* LB_WITHIN_H */
