/*-------------------------------------------------------------------------
 *
 * scope_news.c
 *	  Memberships that changed since the last round.
 *
 * Before it counts events a round takes the queue of changed memberships
 * that its snapshot sees.  For each, in every window that it concerns, it
 * compares whether the member is in the scope's order with whether it should
 * be.  What the change was does not matter, so changes that undo each other,
 * or that come twice, do no harm.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "projection/round.h"
#include "projection/standing.h"

#define FETCH_ROWS	1000

/* The rankings of a whole board whose scopes' memberships changed. */
typedef struct ChangedBoard
{
	LbRound    *round;
	LbCounted  *counted;
	const LbBoard *board;
	int			nwindows;
	LbWindow   *windows;
	int64	   *rankings;
	LbMemberships memberships;
	LbProbe		standing;
} ChangedBoard;

/* Is there any that the active snapshot sees? */
bool
lb_scope_news_exist(void)
{
	static LbPlan plan = {
		"SELECT 1 FROM lb.membership_news n ORDER BY n.id LIMIT 1", 0
	};
	bool		found = lb_run(&plan, NULL, NULL, true, 1, SPI_OK_SELECT) == 1;

	SPI_freetuptable(SPI_tuptable);
	return found;
}

static bool
is_in_order(LbRound *round, const LbRanking *ranking, LbText member, 
			const LbStanding *standing)
{
	LbRankEntry entry = {
		.rank_key = lb_rank_key(ranking->board, standing->value),
		.reached_at = standing->reached_at,
		.member = (const uint8_t *) member.data,
		.member_len = member.len
	};
	LbRankPlace place = {0};
	LbPages		pages;

	lb_pages_begin(&pages, ranking->board->counter_id, ranking->ranking_id, false);
	pages.lent = &lb_open_tables(round)->page;
	lb_pages_leaf(&pages, ranking->root, ranking->leaf);
	lb_pages_check(&pages, lb_ranktree_find(&pages.store, ranking->root, &entry, &place));
	lb_pages_end(&pages);
	return place.found;
}

/* Bring the member into the scope's order in that window, or out of it. */
static void
compare(ChangedBoard *changed, int i, LbText scope, LbText member, Datum name)
{
	LbRanking  *ranking;
	LbStanding	standing;
	LbAccum		accum = {.n = 1};
	bool		is;
	bool		was;

	if (!lb_standing_find(&changed->standing, changed->board->counter_id,
						  changed->rankings[i], name, &standing))
		return;
	is = lb_belongs(&changed->memberships, changed->board->board_id, name, scope,
					changed->windows[i].closes);
	ranking = lb_ranking_of_scope(changed->round, changed->counted, changed->board,
								  changed->windows[i], scope, is);
	was = ranking != NULL && is_in_order(changed->round, ranking, member, &standing);
	if (is == was)
		return;
	accum.value = standing.value;
	accum.reached_at = standing.reached_at;
	lb_change_ranking(changed->round, ranking, member,
					  was ? &accum : NULL, is ? &accum : NULL);
}

static void
compare_fetched(ChangedBoard *changed, const SPITupleTable *fetched, uint64 n)
{
	for (uint64 row = 0; row < n; row++)
	{
		Datum		values[3];
		bool		nulls[3];
		text	   *scope;
		text	   *member;

		CHECK_FOR_INTERRUPTS();
		heap_deform_tuple(fetched->vals[row], fetched->tupdesc, values, nulls);
		scope = DatumGetTextPP(values[0]);
		member = DatumGetTextPP(values[1]);
		for (int i = 0; i < changed->nwindows; i++)
			if (changed->windows[i].closes > DatumGetTimestampTz(values[2]))
				compare(changed, i,
						(LbText) {VARDATA_ANY(scope), VARSIZE_ANY_EXHDR(scope)},
						(LbText) {VARDATA_ANY(member), VARSIZE_ANY_EXHDR(member)},
						values[1]);
	}
}

/* The board's changes, each scope and member once, by the round's snapshot. */
static void
compare_members(ChangedBoard *changed)
{
	Oid			types[1] = {INT8OID};
	Datum		values[1] = {Int64GetDatum(changed->board->board_id)};
	Portal		portal;
	uint64		n;

	PushActiveSnapshot(changed->round->snapshot);
	portal = SPI_cursor_open_with_args(NULL,
									   "SELECT n.scope, n.member, min(n.since) FROM lb.membership_news n "
									   "WHERE n.board_id = $1 GROUP BY n.scope, n.member "
									   "ORDER BY n.scope, n.member",
									   1, types, values, NULL, true,
									   CURSOR_OPT_NO_SCROLL);
	lb_memberships_begin(&changed->memberships);
	PopActiveSnapshot();
	PushActiveSnapshot(GetLatestSnapshot());
	lb_standing_begin(&changed->standing, changed->board->counter_id);
	do
	{
		SPITupleTable *fetched;

		SPI_cursor_fetch(portal, true, FETCH_ROWS);
		fetched = SPI_tuptable;
		n = SPI_processed;
		compare_fetched(changed, fetched, n);
		SPI_freetuptable(fetched);
	} while (n > 0);
	lb_probe_end(&changed->standing);
	PopActiveSnapshot();
	lb_memberships_end(&changed->memberships);
	SPI_cursor_close(portal);
}

/* The windows of the board that close after since. */
static void
load_windows(ChangedBoard *changed, TimestampTz since)
{
	static LbPlan plan = {
		"SELECT r.ranking_id, r.opens, r.closes FROM lb.ranking r WHERE r.counter_id = $1 "
		"AND r.board_id = $2 AND r.scope = '' AND r.closes > $3",
		3, {INT8OID, INT8OID, TIMESTAMPTZOID}
	};
	Datum		values[3] = {Int64GetDatum(changed->board->counter_id),
	Int64GetDatum(changed->board->board_id), TimestampTzGetDatum(since)};
	SPITupleTable *rows;

	changed->nwindows = (int) lb_run(&plan, values, NULL, false, 0, SPI_OK_SELECT);
	rows = SPI_tuptable;
	changed->windows = palloc(Max(changed->nwindows, 1) * sizeof(LbWindow));
	changed->rankings = palloc(Max(changed->nwindows, 1) * sizeof(int64));
	for (int i = 0; i < changed->nwindows; i++)
	{
		Datum		columns[3];
		bool		nulls[3];

		heap_deform_tuple(rows->vals[i], rows->tupdesc, columns, nulls);
		changed->rankings[i] = DatumGetInt64(columns[0]);
		changed->windows[i].opens = DatumGetTimestampTz(columns[1]);
		changed->windows[i].closes = DatumGetTimestampTz(columns[2]);
	}
	SPI_freetuptable(rows);
}

static const LbBoard *
find_board(const LbCounted *counted, int64 board_id)
{
	for (int i = 0; i < counted->nboards; i++)
		if (counted->boards[i].board.board_id == board_id)
			return &counted->boards[i].board;
	return NULL;
}

static void
count_board(LbRound *round, int64 board_id, int64 counter_id, int16 version,
			TimestampTz since)
{
	ChangedBoard changed = {.round = round};

	changed.counted = lb_counted(round, counter_id, version, 0);
	changed.board = find_board(changed.counted, board_id);
	if (changed.board == NULL || !changed.board->scoped)
		return;
	load_windows(&changed, since);
	if (changed.nwindows > 0)
		compare_members(&changed);
}

/* The changes that were taken, and no others, go. */
static void
clear_queue(void)
{
	static LbPlan taken = {
		"SELECT array_agg(n.id) FROM lb.membership_news n", 0
	};
	static LbPlan clear = {
		"DELETE FROM lb.membership_news n WHERE n.id = ANY ($1)", 1, {INT8ARRAYOID}
	};
	SPITupleTable *rows;
	Datum		ids[1];
	bool		isnull;

	lb_run(&taken, NULL, NULL, true, 1, SPI_OK_SELECT);
	rows = SPI_tuptable;
	ids[0] = SPI_getbinval(rows->vals[0], rows->tupdesc, 1, &isnull);
	if (!isnull)
		lb_run(&clear, ids, NULL, false, 0, SPI_OK_DELETE);
	SPI_freetuptable(rows);
}

/*
 * Move what changed memberships move, and take them off the queue.  The
 * active snapshot is the round's, and nothing is counted yet.  What belongs to
 * a board that is still to come, in a restore, its build will read.
 */
void
lb_scope_news_count(LbRound *round)
{
	static LbPlan plan = {
		"SELECT n.board_id, c.counter_id, c.version, n.since FROM "
		"(SELECT o.board_id, min(o.since) AS since FROM lb.membership_news o GROUP BY o.board_id) n "
		"JOIN lb.board b ON b.board_id = n.board_id "
		"JOIN lb.counter c ON c.counter_id = b.counter_id",
		0
	};
	uint64		n = lb_run(&plan, NULL, NULL, true, 0, SPI_OK_SELECT);
	SPITupleTable *boards = SPI_tuptable;

	for (uint64 i = 0; i < n; i++)
	{
		Datum		values[4];
		bool		nulls[4];

		heap_deform_tuple(boards->vals[i], boards->tupdesc, values, nulls);
		count_board(round, DatumGetInt64(values[0]), DatumGetInt64(values[1]),
					DatumGetInt16(values[2]), DatumGetTimestampTz(values[3]));
	}
	SPI_freetuptable(boards);
	clear_queue();
}
