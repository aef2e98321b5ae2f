/*-------------------------------------------------------------------------
 *
 * accum.c
 *	  What events add up to: the one rule for every operator.
 *
 * Merging is commutative and associative, so that the answer depends on the
 * events alone and not on the order in which they arrived or were counted.
 * reached_at says when the value came to be:
 *
 *	sum		the latest event_time among deltas that are not zero, or the
 *			earliest of all while every delta is zero
 *	max,min	the earliest event_time with that value
 *	last	the event_time of that event; event_id decides between equals
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "projection/accum.h"

static void
merge_sum(LbAccum *into, const LbAccum *from)
{
	into->value += from->value;
	if (into->moved == from->moved)
		into->reached_at = into->moved ?
			Max(into->reached_at, from->reached_at) :
			Min(into->reached_at, from->reached_at);
	else if (from->moved)
		into->reached_at = from->reached_at;
	into->moved |= from->moved;
}

/* Value and time are decided on as a pair. */
static void
merge_best(LbAccum *into, const LbAccum *from, bool from_is_better)
{
	if (from_is_better ||
		(from->value == into->value && from->reached_at < into->reached_at))
	{
		into->value = from->value;
		into->reached_at = from->reached_at;
	}
}

static void
merge_last(LbAccum *into, const LbAccum *from)
{
	if (from->reached_at > into->reached_at ||
		(from->reached_at == into->reached_at && from->last_id > into->last_id))
	{
		into->value = from->value;
		into->reached_at = from->reached_at;
		into->last_id = from->last_id;
	}
}

void
lb_accum_merge(LbOperator op, LbAccum *into, const LbAccum *from)
{
	if (from->n == 0)
		return;
	if (into->n == 0)
	{
		*into = *from;
		return;
	}
	switch (op)
	{
		case LB_SUM:
			merge_sum(into, from);
			break;
		case LB_MAX:
			merge_best(into, from, from->value > into->value);
			break;
		case LB_MIN:
			merge_best(into, from, from->value < into->value);
			break;
		case LB_LAST:
			merge_last(into, from);
			break;
	}
	into->n += from->n;
}

void
lb_accum_event(LbOperator op, LbAccum *into, int64 delta,
			   TimestampTz event_time, int64 event_id)
{
	LbAccum		event = {
		.n = 1,
		.value = delta,
		.moved = op == LB_SUM && delta != 0,
		.reached_at = event_time,
		.last_id = op == LB_LAST ? event_id : 0
	};

	lb_accum_merge(op, into, &event);
}
