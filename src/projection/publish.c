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
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "projection/round.h"

/* The place of the histogram among the columns of lb.version. */
#define LB_VERSION_HISTOGRAM	9

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
insert_version(const LbRanking *ranking, const LbPages *pages, int64 version)
{
	static LbPlan insert = {
		"INSERT INTO lb.version (counter_id, ranking_id, version, root, next_page, "
		"population, superseded, owes, histogram, made_at) "
		"VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, clock_timestamp())",
		9, {INT8OID, INT8OID, INT8OID, INT8OID, INT8OID, INT8OID, INT8ARRAYOID,
		BOOLOID, InvalidOid}
	};
	Datum		values[9] = {Int64GetDatum(ranking->board->counter_id),
		Int64GetDatum(ranking->ranking_id), Int64GetDatum(version),
		Int64GetDatum(ranking->root), Int64GetDatum(ranking->next_page),
		Int64GetDatum(ranking->population),
		int64_array(pages->superseded, pages->nsuperseded),
		/* also a first version can: of a head that was trimmed at once */
	BoolGetDatum(ranking->published || pages->nsuperseded > 0)};
	char		nulls[9] = {' ', ' ', ' ', ' ', ' ', ' ', ' ', ' ', 'n'};
	Oid			type = get_atttype(lb_relation_oid("version"), LB_VERSION_HISTOGRAM);

	if (insert.argtypes[8] != type)
	{
		/* the first use, or the extension was created anew */
		insert.argtypes[8] = type;
		insert.plan = NULL;
	}
	if (ranking->histogram != NULL)
	{
		values[8] = lb_hist_store(ranking->histogram);
		nulls[8] = ' ';
	}
	lb_run(&insert, values, nulls, false, 0, SPI_OK_INSERT);
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

static void
publish_ranking(LbRanking *ranking, LbMoves *moves, LbRows *rows,
				int64 version)
{
	LbPages		pages;

	lb_pages_begin(&pages, ranking->board->counter_id, ranking->ranking_id, false);
	lb_pages_write(&pages, rows, ranking->next_page);
	if (ranking->board->bounded && ranking->scope.len == 0)
		lb_head_apply(ranking, &pages, moves);
	else
		lb_pages_check(&pages,
					   lb_ranktree_apply(&pages.store, ranking->root,
										 LB_RANK_FILL_DEFAULT, lb_moves_next,
										 moves, &ranking->root));
	lb_pages_end(&pages);
	ranking->next_page = pages.next_page;
	insert_version(ranking, &pages, version);
	ranking->counted->rankings++;
}

/* All rankings that have moves, in a context that is emptied after each. */
static void
publish_rankings(LbRound *round)
{
	MemoryContext old = CurrentMemoryContext;
	MemoryContext work = AllocSetContextCreate(old, "leaderboard publish",
											   ALLOCSET_DEFAULT_SIZES);
	LbRows	   *rows = lb_rows_begin(LB_TABLE_PAGE, 0);
	int64		ranking;

	PushActiveSnapshot(GetLatestSnapshot());
	lb_moves_sort(round->sorted);
	while (lb_moves_ranking(round->sorted, &ranking))
	{
		MemoryContextSwitchTo(work);
		publish_ranking((LbRanking *) (intptr_t) ranking, round->sorted, rows,
						round->number);
		MemoryContextSwitchTo(old);
		MemoryContextReset(work);
	}
	lb_moves_end(round->sorted);
	PopActiveSnapshot();
	lb_rows_end(rows);
	MemoryContextDelete(work);
}

/* Make what the round moved visible as its version; how many rankings. */
int64
lb_publish(LbRound *round)
{
	int64		published = 0;

	publish_rankings(round);
	for (LbCounted *counted = round->first; counted != NULL; counted = counted->next)
	{
		if (counted->events > 0)
			publish_counter(counted->counter.counter_id, round->number);
		published += counted->rankings;
	}
	return published;
}
