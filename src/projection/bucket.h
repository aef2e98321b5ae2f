/*-------------------------------------------------------------------------
 *
 * bucket.h
 *	  The columns of lb.bucket and of its key.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_BUCKET_H
#define LB_BUCKET_H

#include "leaderboard.h"

#include "projection/accum_row.h"

enum
{
	LB_BUCKET_COUNTER_ID = 1,
	LB_BUCKET_VERSION,
	LB_BUCKET_SPAN,
	LB_BUCKET_MOVED,
	LB_BUCKET_LATE,
	LB_BUCKET_OPENS,
	LB_BUCKET_CLOSES,
	LB_BUCKET_N,
	LB_BUCKET_VALUE,
	LB_BUCKET_REACHED_AT,
	LB_BUCKET_LAST_ID,
	LB_BUCKET_MEMBER,
	LB_BUCKET_WIDE,
	LB_BUCKET_SKETCH
};

enum
{
	LB_BUCKET_KEY_COUNTER_ID = 1,
	LB_BUCKET_KEY_VERSION,
	LB_BUCKET_KEY_MEMBER,
	LB_BUCKET_KEY_SPAN,
	LB_BUCKET_KEY_OPENS,
	LB_BUCKET_KEY_LATE,
	LB_BUCKET_KEYS = LB_BUCKET_KEY_LATE
};

/* lb.bucket.span: how long a row's stretch of time is. */
#define LB_SPAN_GRAIN	'g'
#define LB_SPAN_DAY		'd'

static const LbAccumColumns lb_bucket_accum = {
	.n = LB_BUCKET_N, .value = LB_BUCKET_VALUE, .wide = LB_BUCKET_WIDE,
	.moved = LB_BUCKET_MOVED, .reached_at = LB_BUCKET_REACHED_AT,
	.last_id = LB_BUCKET_LAST_ID
};

static const LbAccumColumns lb_bucket_sketched = {
	.n = LB_BUCKET_N, .value = LB_BUCKET_VALUE, .wide = LB_BUCKET_WIDE,
	.moved = LB_BUCKET_MOVED, .reached_at = LB_BUCKET_REACHED_AT,
	.last_id = LB_BUCKET_LAST_ID, .sketch = LB_BUCKET_SKETCH
};

/* Those of a counter's buckets; an exact one is not looked at for sketches. */
static inline const LbAccumColumns *
lb_bucket_columns(LbOperator op)
{
	return lb_is_sketched(op) ? &lb_bucket_sketched : &lb_bucket_accum;
}

#endif							/* LB_BUCKET_H */
