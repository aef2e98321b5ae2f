/*-------------------------------------------------------------------------
 *
 * sketch.c
 *	  The sketch of an accumulation.
 *
 * A unique counter counts the different actors of a member's events, in an
 * HyperLogLog sketch.  Most sketches that a round meets are of one actor: that
 * one's hash, in no memory at all.  What is read from a row stays as it is
 * stored until something is merged with it.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include <math.h>

#include "executor/tuptable.h"
#include "fmgr.h"

#include "hll/hll.h"
#include "log/leaf.h"
#include "projection/sketch.h"

/* Standard deviations within which 95 of 100 estimates are. */
#define DEVIATIONS		1.959964

static uint64
hash_actor(const LbLogged *event)
{
	bool		isnull;
	Datum		actor = slot_getattr(event->slot, LB_EVENT_ACTOR, &isnull);
	text	   *name;

	if (isnull)
		return lb_hll_hash_text("", 0);
	name = DatumGetTextPP(actor);
	return lb_hll_hash_text(VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name));
}

/* Complete what one event accumulates. */
void
lb_sketch_of_event(pg_attribute_unused() LbOperator op, int32 size,
				   LbAccum *accum, const LbLogged *event)
{
	accum->value = 1;
	accum->moved = true;
	accum->form = LB_SKETCH_ONE;
	accum->size = size;
	accum->sketch.hash = hash_actor(event);
}

static void
add_unique(LbHll *hll, const LbAccum *accum)
{
	switch ((LbSketchForm) accum->form)
	{
		case LB_SKETCH_NONE:
			break;
		case LB_SKETCH_ONE:
			lb_hll_add_hash(hll, accum->sketch.hash);
			break;
		case LB_SKETCH_STORED:
			lb_hll_merge_stored(hll, PointerGetDatum(accum->sketch.stored));
			break;
		case LB_SKETCH_WORKING:
			lb_hll_merge(hll, accum->sketch.hll);
			break;
	}
}

/* A sketch of one's own; a stored one brings its bits. */
static LbHll *
working_unique(const LbAccum *accum)
{
	LbHll	   *hll = palloc(sizeof(LbHll));

	lb_hll_begin(hll, accum->size != 0 ? accum->size : LB_HLL_BITS_MAX,
				 CurrentMemoryContext);
	add_unique(hll, accum);
	return hll;
}

void
lb_sketch_merge_unique(LbAccum *into, const LbAccum *from)
{
	if (into->form == LB_SKETCH_ONE && from->form == LB_SKETCH_ONE &&
		into->sketch.hash == from->sketch.hash)
		return;
	if (into->form != LB_SKETCH_WORKING)
	{
		into->sketch.hll = working_unique(into);
		into->form = LB_SKETCH_WORKING;
	}
	add_unique(into->sketch.hll, from);
}

/* Of what was copied from another, make the sketch one's own. */
void
lb_sketch_copy(pg_attribute_unused() LbOperator op, LbAccum *accum)
{
	LbHll	   *hll = palloc(sizeof(LbHll));

	lb_hll_begin(hll, accum->sketch.hll->bits, CurrentMemoryContext);
	lb_hll_merge(hll, accum->sketch.hll);
	accum->sketch.hll = hll;
}

static void
store_unique(LbAccum *accum)
{
	LbHll		one;
	LbHll	   *hll = &one;
	double		estimate;

	if (accum->form == LB_SKETCH_WORKING)
		hll = accum->sketch.hll;
	else
	{
		lb_hll_begin(&one, accum->size, CurrentMemoryContext);
		lb_hll_add_hash(&one, accum->sketch.hash);
	}
	estimate = rint(lb_hll_estimate(hll));
	accum->value = estimate < (double) PG_INT64_MAX ? (int64) estimate : PG_INT64_MAX;
	accum->sketch.stored = (struct varlena *) DatumGetPointer(lb_hll_store(hll));
	accum->form = LB_SKETCH_STORED;
	lb_hll_clear(hll);
	if (hll != &one)
		pfree(hll);
}

/* See lb_accum_settle. */
void
lb_sketch_store(pg_attribute_unused() LbOperator op, LbAccum *accum)
{
	store_unique(accum);
}

/* The accumulation's sketch is a copy of that, in the current memory context. */
void
lb_sketch_take(LbAccum *accum, Datum stored)
{
	accum->sketch.stored = PG_DETOAST_DATUM_COPY(stored);
	accum->form = LB_SKETCH_STORED;
}

/*
 * Between what the number of different actors is in 95 of 100 cases, where
 * that many were estimated with so many bits.  A function of the value alone,
 * so that any version's values have their bounds without their sketches.
 *
 * A sketch that is sparse has a place for every actor; that two share one gets
 * likely with many places only.  Whether it is sparse the value says but near
 * the switch, where the wider interval is given.
 */
void
lb_unique_bounds(int64 value, int32 bits, int64 *low, int64 *high)
{
	int64		sparse = LB_HLL_SPARSE_MAX(bits);
	double		spread = exp(DEVIATIONS * LB_HLL_ERROR / sqrt(LB_HLL_REGISTERS(bits)));
	double		most = ceil((double) value * spread);

	*low = value;
	*high = value;
	if (value <= sparse)
	{
		/* with n places one more actor is hidden in n^2 / 2^33 of cases */
		if ((double) value * (double) value / 8589934592.0 > 0.05)
			(*high)++;
	}
	else
		*low = Min(value, Max((int64) floor((double) value / spread), sparse + 1));
	if (most > (double) sparse)
		*high = most < (double) PG_INT64_MAX ? (int64) most : PG_INT64_MAX;
}
