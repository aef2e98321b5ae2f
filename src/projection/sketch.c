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
 * An approximate counter has one accumulation for all members, whose sketch
 * tracks the heaviest.  Its value is the total; when that leaves bigint, there
 * is no sketch any more, and the window is off the board as a member would be
 * whose sum does.
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
#include "topk/topk.h"

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

/* Complete what one event of a unique counter accumulates. */
void
lb_sketch_of_event(int32 size, LbAccum *accum, const LbLogged *event)
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

static void
free_heavy(LbTopk *topk)
{
	if (topk->entries != NULL)
		pfree(topk->entries);
	if (topk->bytes != NULL)
		pfree(topk->bytes);
	pfree(topk);
}

/* The total does not fit bigint: no sketch can say whose it is. */
static void
drop_heavy(LbAccum *accum)
{
	if (accum->form == LB_SKETCH_WORKING)
		free_heavy(accum->sketch.topk);
	accum->form = LB_SKETCH_NONE;
}

/* Make the sketch one to work on. */
static LbTopk *
working_heavy(int32 size, LbAccum *accum)
{
	if (accum->form == LB_SKETCH_NONE)
		accum->sketch.topk = lb_topk_create(size);
	else if (accum->form == LB_SKETCH_STORED)
		accum->sketch.topk = lb_topk_load(PointerGetDatum(accum->sketch.stored));
	accum->form = LB_SKETCH_WORKING;
	return accum->sketch.topk;
}

/* Add an event of an approximate counter, whose delta is in the value already. */
void
lb_sketch_add_heavy(int32 size, LbAccum *into, const LbLogged *event)
{
	if (!lb_accum_fits(into))
		drop_heavy(into);
	else if (event->delta > 0)
		lb_topk_add(working_heavy(size, into), event->member.data,
					event->member.len, event->delta);
}

/* The values are added already. */
void
lb_sketch_merge_heavy(LbAccum *into, const LbAccum *from)
{
	if (!lb_accum_fits(into))
		drop_heavy(into);
	else if (from->form != LB_SKETCH_NONE)
	{
		LbAccum		other = *from;

		if (other.form == LB_SKETCH_WORKING)
			lb_sketch_copy(LB_HEAVY, &other);
		if (into->form == LB_SKETCH_NONE)
		{
			into->form = other.form;
			into->sketch = other.sketch;
		}
		else
			lb_topk_merge(working_heavy(0, into), PointerGetDatum(other.sketch.stored));
	}
}

/*
 * Of what was copied from another whose sketch is a working one, make the
 * sketch one's own.
 */
void
lb_sketch_copy(LbOperator op, LbAccum *accum)
{
	LbHll	   *hll;

	if (op == LB_HEAVY)
	{
		accum->sketch.stored = (struct varlena *)
			DatumGetPointer(lb_topk_store(accum->sketch.topk));
		accum->form = LB_SKETCH_STORED;
		return;
	}
	hll = palloc(sizeof(LbHll));
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
lb_sketch_store(LbOperator op, LbAccum *accum)
{
	LbTopk	   *topk = accum->sketch.topk;

	if (op == LB_UNIQUE)
		store_unique(accum);
	else
	{
		lb_sketch_copy(op, accum);
		free_heavy(topk);
	}
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
