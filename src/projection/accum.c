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
 *	unique	the latest event_time, of a repeat too: which events were the first
 *			of their actors, a sketch does not know
 *
 * What is added to the value of a unique counter is in its sketch (sketch.c).
 * That of an approximate one is the sum over all members, whose shares are in
 * the sketch.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "projection/accum.h"
#include "projection/sketch.h"

static void
merge_moved(LbAccum *into, const LbAccum *from)
{
	if (into->moved == from->moved)
		into->reached_at = into->moved ?
			Max(into->reached_at, from->reached_at) :
			Min(into->reached_at, from->reached_at);
	else if (from->moved)
		into->reached_at = from->reached_at;
	into->moved |= from->moved;
}

static void
merge_sum(LbAccum *into, const LbAccum *from)
{
	into->value += from->value;
	merge_moved(into, from);
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

/*
 * Add from to into.  A stored sketch is taken over as it is, so it has to be
 * there as long as into; what is made anew is in the current memory context.
 */
void
lb_accum_merge(LbOperator op, LbAccum *into, const LbAccum *from)
{
	if (from->n == 0)
		return;
	if (into->n == 0)
	{
		*into = *from;
		if (unlikely(from->form == LB_SKETCH_WORKING))
			lb_sketch_copy(op, into);
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
		case LB_UNIQUE:
			merge_moved(into, from);
			lb_sketch_merge_unique(into, from);
			break;
		case LB_HEAVY:
			merge_sum(into, from);
			lb_sketch_merge_heavy(into, from);
			break;
	}
	into->n += from->n;
}

/* Add one event.  size: of the counter's sketches. */
void
lb_accum_event(LbOperator op, int32 size, LbAccum *into, const LbLogged *event)
{
	LbAccum		accum = {
		.n = 1,
		.value = event->delta,
		.moved = (op == LB_SUM || op == LB_HEAVY) && event->delta != 0,
		.reached_at = event->event_time,
		.last_id = op == LB_LAST ? event->event_id : 0
	};

	if (unlikely(op == LB_UNIQUE))
		lb_sketch_of_event(size, &accum, event);
	lb_accum_merge(op, into, &accum);
	if (unlikely(op == LB_HEAVY))
		lb_sketch_add_heavy(size, into, event);
}
