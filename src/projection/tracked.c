/*-------------------------------------------------------------------------
 *
 * tracked.c
 *	  The members that an approximate counter tracks.
 *
 * A sketch has them in the order of their bytes, so what became of them from
 * one sketch to the next is told by one walk over both.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "miscadmin.h"

#include "projection/tracked.h"
#include "topk/topk.h"

/* The next member of a sketch; has is false behind the last. */
typedef struct Walk
{
	LbTopkReader reader;
	bool		has;
} Walk;

static void
begin_walk(Walk *walk, const LbAccum *accum)
{
	memset(walk, 0, sizeof(*walk));
	if (accum->form == LB_SKETCH_NONE)
		return;
	lb_topk_read(PointerGetDatum(accum->sketch.stored), &walk->reader);
	walk->has = lb_topk_next(&walk->reader);
}

static int
compare_walks(const Walk *a, const Walk *b)
{
	if (!a->has || !b->has)
		return b->has - a->has;
	return lb_topk_compare(a->reader.item, a->reader.length,
						   b->reader.item, b->reader.length);
}

static LbText
member_of(const Walk *walk)
{
	return (LbText) {walk->reader.item, walk->reader.length};
}

static LbAccum
accum_of(const Walk *walk)
{
	return (LbAccum) {
		.n = 1,
		.value = walk->reader.low,
		.moved = true,
		.reached_at = lb_tracked_time(walk->reader.low, walk->reader.high)
	};
}

/*
 * Call the function with each member that has something else in the second
 * sketch than in the first, and what that is; n is zero if the member is not
 * tracked any more.  Both are settled.  Gives the second one's total and
 * bound, and whether anything at all is another.
 */
bool
lb_tracked_changes(const LbAccum *was, const LbAccum *is,
				   LbTrackedFunction function, void *context,
				   int64 *total, int64 *bound)
{
	LbAccum		gone = {0};
	Walk		old;
	Walk		new;
	bool		changed;

	begin_walk(&old, was);
	begin_walk(&new, is);
	changed = old.reader.total != new.reader.total ||
		old.reader.bound != new.reader.bound;
	*total = new.reader.total;
	*bound = new.reader.bound;
	while (old.has || new.has)
	{
		int			c = compare_walks(&old, &new);
		LbAccum		accum = accum_of(&new);

		CHECK_FOR_INTERRUPTS();
		if (c < 0)
			function(context, member_of(&old), &gone);
		else if (c > 0 || old.reader.low != new.reader.low ||
				 old.reader.high != new.reader.high)
			function(context, member_of(&new), &accum);
		if (c <= 0)
			old.has = lb_topk_next(&old.reader);
		if (c >= 0)
			new.has = lb_topk_next(&new.reader);
	}
	return changed;
}

/*
 * Between what the member's share is, of an accumulation that is settled;
 * false if it is not tracked.
 */
bool
lb_tracked_find(const LbAccum *accum, LbText member, int64 *low, int64 *high)
{
	LbTopkReader reader;

	*low = *high = 0;
	if (accum->form == LB_SKETCH_NONE)
		return false;
	lb_topk_read(PointerGetDatum(accum->sketch.stored), &reader);
	lb_topk_find(&reader, member.data, member.len, low, high);
	return *low > 0;
}
