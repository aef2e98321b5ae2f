/*-------------------------------------------------------------------------
 *
 * head.c
 *	  The tree of a bounded board, which is cut at its head.
 *
 * The tree holds a first stretch of the board's order: everybody, or at least
 * "head" entries.  It may grow to twice the head before it is trimmed, and is
 * filled up again from the standings when it has shrunk below it, so that
 * neither happens often.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"

#include "projection/round.h"

/* The part of a stream of moves that falls into the tree. */
typedef struct Cut
{
	LbMoves    *moves;
	bool		whole;			/* the tree holds everybody */
	LbRankEntry last;			/* otherwise, the last that it holds */
	uint8		last_member[LB_RANK_MEMBER_MAX];
	int64		room;			/* insertions that can still matter */
} Cut;

static int
compare_entries(const LbRankEntry *a, const LbRankEntry *b)
{
	LbText		x = {(const char *) a->member, a->member_len};
	LbText		y = {(const char *) b->member, b->member_len};

	if (a->rank_key != b->rank_key)
		return a->rank_key < b->rank_key ? -1 : 1;
	if (a->reached_at != b->reached_at)
		return a->reached_at < b->reached_at ? -1 : 1;
	return lb_text_compare(x, y);
}

static int64
trimmed_size(const LbBoard *board)
{
	return (int64) board->head + board->head / 2;
}

static int64
largest_size(const LbBoard *board)
{
	return (int64) board->head * 2;
}

/*
 * Moves come in board order, so once as many have come in as the tree may
 * hold, no further one can be among the best.
 */
static LbRankStatus
next_in_head(void *source, LbRankMove *move)
{
	Cut		   *cut = source;
	LbRankStatus status;

	while ((status = lb_moves_next(cut->moves, move)) == LB_RANK_OK)
	{
		if (!cut->whole && compare_entries(&move->entry, &cut->last) > 0)
			return LB_RANK_DONE;
		if (move->remove || cut->room-- > 0)
			return LB_RANK_OK;
	}
	return status;
}

static int64
tree_size(LbPages *pages, int64 root)
{
	LbRankTotals totals;

	lb_pages_check(pages, lb_ranktree_totals(&pages->store, root, &totals));
	return totals.entries;
}

static void
begin_cut(Cut *cut, const LbRanking *ranking, LbPages *pages, LbMoves *moves)
{
	int64		size = tree_size(pages, ranking->root);
	LbRankCursor cursor;

	cut->moves = moves;
	cut->whole = size == ranking->size;
	cut->room = largest_size(ranking->board);
	if (cut->whole)
		return;
	lb_pages_check(pages, lb_ranktree_seek(&pages->store, ranking->root, size - 1,
										   &cursor));
	lb_pages_check(pages, lb_ranktree_next(&cursor, &cut->last));
	memcpy(cut->last_member, cut->last.member, cut->last.member_len);
	cut->last.member = cut->last_member;
}

/* What was written becomes readable. */
static void
turn_to_reading(LbPages *pages)
{
	lb_rows_flush(pages->rows);
	lb_pages_end(pages);
	PopActiveSnapshot();
	PushActiveSnapshot(GetLatestSnapshot());
}

/* A stream of the removals of a stretch of the tree, read beforehand. */
typedef struct Tail
{
	LbRankEntry *entries;
	int64		n;
	int64		given;
} Tail;

static LbRankStatus
next_of_tail(void *source, LbRankMove *move)
{
	Tail	   *tail = source;

	if (tail->given == tail->n)
		return LB_RANK_DONE;
	move->entry = tail->entries[tail->given++];
	move->remove = true;
	return LB_RANK_OK;
}

static void
read_tail(Tail *tail, LbPages *pages, int64 root, int64 from, int64 n)
{
	LbRankCursor cursor;

	tail->entries = MemoryContextAllocHuge(CurrentMemoryContext,
										   n * sizeof(LbRankEntry));
	tail->given = 0;
	lb_pages_check(pages, lb_ranktree_seek(&pages->store, root, from, &cursor));
	for (tail->n = 0; tail->n < n; tail->n++)
	{
		LbRankEntry *entry = &tail->entries[tail->n];
		uint8	   *member;

		lb_pages_check(pages, lb_ranktree_next(&cursor, entry));
		member = palloc(entry->member_len);
		memcpy(member, entry->member, entry->member_len);
		entry->member = member;
	}
}

static void
trim(LbRanking *ranking, LbPages *pages, int64 size)
{
	int64		keep = trimmed_size(ranking->board);
	Tail		tail;

	turn_to_reading(pages);
	read_tail(&tail, pages, ranking->root, keep, size - keep);
	lb_pages_check(pages, lb_ranktree_apply(&pages->store, ranking->root,
											LB_RANK_FILL_DEFAULT, next_of_tail,
											&tail, &ranking->root));
}

static void
supersede_visited(void *context, int64_t page_id,
				  pg_attribute_unused() int level,
				  pg_attribute_unused() int size)
{
	LbPages    *pages = context;

	(void) pages->store.supersede(pages, page_id);
}

static void
drop_tree(LbRanking *ranking, LbPages *pages)
{
	LbRankTotals totals;

	lb_pages_check(pages, lb_ranktree_check(&pages->store, ranking->root,
											supersede_visited, &totals));
}

/* The best members, read from the standings in board order. */
typedef struct Best
{
	const LbBoard *board;
	SPITupleTable *rows;
	uint64		n;
	uint64		given;
} Best;

static LbRankStatus
next_best(void *source, LbRankEntry *entry)
{
	Best	   *best = source;
	HeapTuple	row;
	text	   *member;
	bool		isnull;

	if (best->given == best->n)
		return LB_RANK_DONE;
	row = best->rows->vals[best->given++];
	member = DatumGetTextPP(SPI_getbinval(row, best->rows->tupdesc, 1, &isnull));
	entry->member = (const uint8_t *) VARDATA_ANY(member);
	entry->member_len = VARSIZE_ANY_EXHDR(member);
	entry->rank_key = lb_rank_key(best->board,
								  DatumGetInt64(SPI_getbinval(row, best->rows->tupdesc, 2, &isnull)));
	entry->reached_at = DatumGetTimestampTz(SPI_getbinval(row, best->rows->tupdesc, 3, &isnull));
	return LB_RANK_OK;
}

static void
read_best(Best *best, const LbRanking *ranking)
{
#define BEST(order) \
	"SELECT s.member, s.value, s.reached_at FROM lb.standing s " \
	"WHERE s.counter_id = $1 AND s.ranking_id = $2 AND s.wide IS NULL " \
	"ORDER BY s.value " order ", s.reached_at, s.member LIMIT $3"
	static LbPlan highest = {BEST("DESC"), 3, {INT8OID, INT8OID, INT8OID}};
	static LbPlan lowest = {BEST("ASC"), 3, {INT8OID, INT8OID, INT8OID}};
	Datum		values[3] = {Int64GetDatum(ranking->board->counter_id),
		Int64GetDatum(ranking->ranking_id),
	Int64GetDatum(trimmed_size(ranking->board))};

	best->board = ranking->board;
	best->n = lb_run(ranking->board->descending ? &highest : &lowest, values,
					 NULL, false, 0, SPI_OK_SELECT);
	best->rows = SPI_tuptable;
	best->given = 0;
}

/*
 * Too many have dropped out: one pass over the standings, which keeps no more
 * than the best in memory, makes the tree anew.
 */
static void
refill(LbRanking *ranking, LbPages *pages)
{
	Best		best;

	turn_to_reading(pages);
	if (ranking->root != 0)
		drop_tree(ranking, pages);
	read_best(&best, ranking);
	lb_pages_check(pages, lb_ranktree_build(&pages->store, LB_RANK_FILL_DEFAULT,
											next_best, &best, &ranking->root));
	SPI_freetuptable(best.rows);
}

/* Bring the head up to the ranking's moves. */
void
lb_head_apply(LbRanking *ranking, LbPages *pages, LbMoves *moves)
{
	const LbBoard *board = ranking->board;
	Cut			cut;
	int64		size;

	begin_cut(&cut, ranking, pages, moves);
	lb_pages_check(pages, lb_ranktree_apply(&pages->store, ranking->root,
											LB_RANK_FILL_DEFAULT, next_in_head,
											&cut, &ranking->root));
	turn_to_reading(pages);
	size = tree_size(pages, ranking->root);
	if (size > largest_size(board) || cut.room < 0)
		trim(ranking, pages, size);
	else if (size < board->head && size < ranking->population)
		refill(ranking, pages);
}
