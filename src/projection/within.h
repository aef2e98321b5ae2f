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

#include "executor/spi.h"

#include "log/event.h"
#include "projection/accum.h"
#include "projection/late.h"

/* lb.bucket.span: how long a row's stretch of time is. */
#define LB_SPAN_GRAIN	'g'
#define LB_SPAN_DAY		'd'

/* A bucket of a member, as the queries here give it. */
typedef struct LbBucket
{
	LbText		member;
	LbWindow	stretch;
	int32		late;
	LbAccum		accum;			/* n = 0: the member has none */
} LbBucket;

typedef void (*LbBucketFunction) (void *context, const LbBucket *bucket);

extern void lb_within(const LbCounter *counter, LbWindow window, LbText member,
					  LbBucketFunction function, void *context);
extern void lb_within_all(const LbCounter *counter, LbWindow window, bool whole_days,
						  LbBucketFunction function, void *context);
extern void lb_within_changed(const LbCounter *counter, LbWindow window,
							  LbWindow left, LbWindow entered, bool whole_days,
							  LbBucketFunction function, void *context);
extern TimestampTz lb_counter_horizon(int64 counter_id);
extern void lb_check_within(const LbCounter *counter, LbWindow window);

#endif							/* LB_WITHIN_H */
