/*-------------------------------------------------------------------------
 *
 * doubt.c
 *	  Who may be ahead of whom on an approximate board.
 *
 * Of every tracked member a low and a high are known, of all others one bound
 * and the total.  Better for certain is whose low is above one's high;
 * possibly better whose high is above one's low.  How many untracked members
 * can have that much, what the total leaves for them says.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "miscadmin.h"

#include "projection/tracked.h"
#include "read/doubt.h"

/* The tracked members' bounds, each ascending. */
struct LbDoubt
{
	bool		loaded;
	int64		n;
	int64	   *lows;
	int64	   *highs;
	int64		rest;			/* of the total, what no low has */
};

LbDoubt *
lb_doubt_begin(void)
{
	return palloc0(sizeof(LbDoubt));
}

static int
compare_int64(const void *a, const void *b)
{
	int64		x = *(const int64 *) a;
	int64		y = *(const int64 *) b;

	return x < y ? -1 : x > y;
}

/* The order has them all: a walk through its tree. */
static void
load(const LbReading *reading, LbDoubt *doubt)
{
	LbReading	order = *reading;
	LbRankCursor cursor;
	LbRankEntry entry;
	LbRankStatus status = LB_RANK_DONE;

	doubt->loaded = true;
	doubt->rest = reading->total;
	doubt->lows = palloc(Max(reading->population, 1) * sizeof(int64));
	doubt->highs = palloc(Max(reading->population, 1) * sizeof(int64));
	if (reading->root == 0)
		return;
	lb_pages_check(&order.pages,
				   lb_ranktree_seek(&order.pages.store, reading->root, 0, &cursor));
	while (doubt->n < reading->population &&
		   (status = lb_ranktree_next(&cursor, &entry)) == LB_RANK_OK)
	{
		int64		low = lb_rank_value(&reading->board, entry.rank_key);

		CHECK_FOR_INTERRUPTS();
		doubt->lows[doubt->n] = low;
		doubt->highs[doubt->n++] = lb_tracked_high(low, entry.reached_at);
		doubt->rest -= low;
	}
	if (status != LB_RANK_DONE)
		lb_pages_check(&order.pages, status);
	qsort(doubt->lows, doubt->n, sizeof(int64), compare_int64);
	qsort(doubt->highs, doubt->n, sizeof(int64), compare_int64);
}

/* How many of the ascending numbers are above that. */
static int64
count_above(const int64 *numbers, int64 n, int64 limit)
{
	int64		from = 0;
	int64		to = n;

	while (from < to)
	{
		int64		middle = from + (to - from) / 2;

		if (numbers[middle] > limit)
			to = middle;
		else
			from = middle + 1;
	}
	return n - from;
}

/* How many that are not tracked can have more than that. */
static int64
untracked_above(const LbReading *reading, const LbDoubt *doubt, int64 limit)
{
	if (reading->bound <= limit)
		return 0;
	/* each of them at least one more, and together no more than is left */
	return limit < 0 ? doubt->rest : doubt->rest / (limit + 1);
}

/* Between which ranks somebody is who has that much, or that member of the order. */
void
lb_doubt_ranks(const LbReading *reading, int64 low, int64 high, bool is_tracked,
			   int64 *rank_low, int64 *rank_high)
{
	LbDoubt    *doubt = reading->doubt;

	if (!doubt->loaded)
		load(reading, doubt);
	*rank_low = 1 + count_above(doubt->lows, doubt->n, high);
	*rank_high = 1 + count_above(doubt->highs, doubt->n, low) -
		(is_tracked && high > low) +
		untracked_above(reading, doubt, low);
}
