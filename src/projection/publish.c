/*-------------------------------------------------------------------------
 *
 * publish.c
 *	  What a round moved becomes the next version.
 *
 * The moves of each ranking go into its tree at once, in board order; the
 * new root is one new row of lb.version, with the pages that it supersedes.
 * Old versions stay until nobody may ask for them (lb._collect).
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "projection/round.h"
#include "projection/version.h"

static Datum
int64_array(const int64 *values, int n)
{
	Datum	   *datums = MemoryContextAllocHuge(CurrentMemoryContext,
												Max(n, 1) * sizeof(Datum));

	for (int i = 0; i < n; i++)
		datums[i] = Int64GetDatum(values[i]);
	return PointerGetDatum(construct_array(datums, n, INT8OID, sizeof(int64),
										   FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

static void
write_version(const LbRanking *ranking, const LbPages *pages, LbRows *rows,
			  int64 version)
{
	LbRow		row;

	lb_row_clear(&row);
	lb_row_set(&row, LB_VERSION_COUNTER_ID, Int64GetDatum(ranking->board->counter_id));
	lb_row_set(&row, LB_VERSION_RANKING_ID, Int64GetDatum(ranking->ranking_id));
	lb_row_set(&row, LB_VERSION_VERSION, Int64GetDatum(version));
	lb_row_set(&row, LB_VERSION_ROOT, Int64GetDatum(ranking->root));
	lb_row_set(&row, LB_VERSION_NEXT_PAGE, Int64GetDatum(ranking->next_page));
	lb_row_set(&row, LB_VERSION_POPULATION, Int64GetDatum(ranking->population));
	/* also a first version can owe: of a head that was trimmed at once */
	lb_row_set(&row, LB_VERSION_OWES,
			   BoolGetDatum(ranking->published || pages->nsuperseded > 0));
	lb_row_set(&row, LB_VERSION_MADE_AT, TimestampTzGetDatum(GetCurrentTimestamp()));
	if (ranking->histogram != NULL)
		lb_row_set(&row, LB_VERSION_HISTOGRAM, lb_hist_store(ranking->histogram));
	/* never NULL here: that says that earlier versions are gone */
	lb_row_set(&row, LB_VERSION_SUPERSEDED,
			   int64_array(pages->superseded, pages->nsuperseded));
	if (ranking->leaf != NULL)
		lb_row_set(&row, LB_VERSION_LEAF, PointerGetDatum(ranking->leaf));
	if (ranking->board->op == LB_HEAVY && ranking->bound >= 0)
	{
		lb_row_set(&row, LB_VERSION_TOTAL, Int64GetDatum(ranking->total));
		lb_row_set(&row, LB_VERSION_BOUND, Int64GetDatum(ranking->bound));
	}
	lb_rows_insert(rows, &row);
}

/*
 * The counter's own line: the version of its buckets.  Those before it go when
 * all old versions do (lb._collect): removed here, they would be met again by
 * every round for as long as a long transaction holds a snapshot.
 */
static void
publish_counter(int64 counter_id, int64 version)
{
	static LbPlan insert = {
		"INSERT INTO lb.version (counter_id, ranking_id, version, root, next_page, "
		"population, owes, made_at) "
		"VALUES ($1, 0, $2, 0, 1, 0, true, clock_timestamp()) ON CONFLICT DO NOTHING",
		2, {INT8OID, INT8OID}
	};
	Datum		values[2] = {Int64GetDatum(counter_id), Int64GetDatum(version)};

	lb_run(&insert, values, NULL, false, 0, SPI_OK_INSERT);
}

/* Where the pages and versions of a round go. */
typedef struct Outlet
{
	LbRound    *round;
	LbRows	   *pages;
	LbRows	   *versions;
} Outlet;

/* Is the tree cut?  Of a scope it is whole: it is what says who is in. */
static bool
has_head_only(const LbRanking *ranking)
{
	return ranking->board->bounded && ranking->scope.len == 0;
}

static void
apply_moves(LbRanking *ranking, LbPages *pages, LbMoves *moves)
{
	lb_pages_check(pages, lb_ranktree_apply(&pages->store, ranking->root,
											LB_RANK_FILL_DEFAULT, lb_moves_next,
											moves, &ranking->root));
}

/*
 * Scopes are many and small: while one has a single page, that is written
 * with its version, and read with it.
 */
static void
apply_to_scope(LbRanking *ranking, LbPages *pages, LbMoves *moves)
{
	lb_pages_leaf(pages, ranking->root, ranking->leaf);
	lb_pages_keep(pages);
	apply_moves(ranking, pages, moves);
	ranking->leaf = lb_pages_kept(pages, ranking->root);
}

static void
publish_ranking(LbRanking *ranking, const Outlet *to)
{
	LbMoves    *moves = to->round->sorted;
	LbPages		pages;

	lb_pages_begin(&pages, ranking->board->counter_id, ranking->ranking_id, false);
	lb_pages_write(&pages, to->pages, ranking->next_page);
	if (has_head_only(ranking))
		lb_head_apply(ranking, &pages, moves);
	else
	{
		pages.lent = &lb_open_tables(to->round)->page;
		if (ranking->scope.len > 0)
			apply_to_scope(ranking, &pages, moves);
		else
			apply_moves(ranking, &pages, moves);
	}
	lb_pages_end(&pages);
	ranking->next_page = pages.next_page;
	write_version(ranking, &pages, to->versions, to->round->number);
	ranking->counted->rankings++;
}

/* All rankings that have moves, in a context that is emptied after each. */
static void
publish_rankings(LbRound *round)
{
	MemoryContext old = CurrentMemoryContext;
	MemoryContext work = AllocSetContextCreate(old, "leaderboard publish",
											   ALLOCSET_DEFAULT_SIZES);
	Outlet to = {
		.round = round,
		.pages = lb_rows_begin(LB_TABLE_PAGE, 0),
		.versions = lb_rows_begin(LB_TABLE_VERSION, 0)
	};
	int64		ranking;

	PushActiveSnapshot(GetLatestSnapshot());
	lb_moves_sort(round->sorted);
	lb_cost_charge(round, NULL);
	while (lb_moves_ranking(round->sorted, &ranking))
	{
		MemoryContextSwitchTo(work);
		publish_ranking((LbRanking *) (intptr_t) ranking, &to);
		MemoryContextSwitchTo(round->context);
		round->changed = lappend(round->changed, (LbRanking *) (intptr_t) ranking);
		MemoryContextSwitchTo(old);
		MemoryContextReset(work);
		lb_cost_charge(round, ((LbRanking *) (intptr_t) ranking)->counted);
	}
	lb_moves_end(round->sorted);
	PopActiveSnapshot();
	lb_rows_end(to.pages);
	lb_rows_end(to.versions);
	lb_close_tables(round);
	MemoryContextDelete(work);
}

/* Make what the round moved visible as its version; how many rankings. */
int64
lb_publish(LbRound *round)
{
	int64		published = 0;

	publish_rankings(round);
	lb_push(round);
	for (LbCounted *counted = round->first; counted != NULL; counted = counted->next)
	{
		if (counted->events > 0)
			publish_counter(counted->counter.counter_id, round->number);
		published += counted->rankings;
	}
	return published;
}
