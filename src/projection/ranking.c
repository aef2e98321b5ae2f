/*-------------------------------------------------------------------------
 *
 * ranking.c
 *	  The counters, boards and rankings that a round touches.
 *
 * Each is read once a round.  A ranking that no event has fallen into before
 * is opened here.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "projection/round.h"

typedef struct LbCountedKey
{
	int64		counter_id;
	int64		version;
} LbCountedKey;

typedef struct LbRankingKey
{
	int64		board_id;
	TimestampTz opens;
	int64		scope_len;
	char		scope[LB_TEXT_MAX];
} LbRankingKey;

typedef struct RankingEntry
{
	LbRankingKey key;
	LbRanking  *ranking;
} RankingEntry;

typedef struct CountedEntry
{
	LbCountedKey key;
	LbCounted  *counted;
} CountedEntry;

static HTAB *
make_table(LbRound *round, Size keysize, Size entrysize)
{
	HASHCTL		ctl = {
		.keysize = keysize,
		.entrysize = entrysize,
		.hcxt = round->context
	};

	return hash_create("leaderboard round", 64, &ctl,
					   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

static LbCounted *
load_counted(LbRound *round, int64 counter_id, int16 version, int64 only_board)
{
	MemoryContext old = MemoryContextSwitchTo(round->context);
	LbCounted  *counted = palloc0(sizeof(LbCounted));
	LbBoard    *boards;

	if (!lb_find_counter_version(counter_id, version, &counted->counter))
	{
		/*
		 * A submission that was under way when its counter was dropped for
		 * having no events; nobody can ask for it any more.
		 */
		counted->counter.counter_id = counter_id;
		counted->counter.version = version;
		counted->counter.retired = true;
	}
	counted->nboards = lb_get_boards(counter_id, only_board, &boards);
	counted->boards = palloc0(Max(counted->nboards, 1) * sizeof(LbCountedBoard));
	for (int i = 0; i < counted->nboards; i++)
		counted->boards[i].board = boards[i];
	counted->next = round->first;
	round->first = counted;
	MemoryContextSwitchTo(old);
	return counted;
}

/* The counter and its boards, or the one board if that is not zero. */
LbCounted *
lb_counted(LbRound *round, int64 counter_id, int16 version, int64 only_board)
{
	LbCountedKey key = {counter_id, version};
	LbCounted  *last = round->last_used;
	CountedEntry *entry;
	bool		found;

	if (last != NULL && last->counter.counter_id == counter_id &&
		last->counter.version == version)
		return last;
	if (round->counted == NULL)
		round->counted = make_table(round, sizeof(LbCountedKey),
									sizeof(CountedEntry));
	entry = hash_search(round->counted, &key, HASH_ENTER, &found);
	if (!found)
		entry->counted = load_counted(round, counter_id, version, only_board);
	round->last_used = entry->counted;
	return entry->counted;
}

static Datum
text_datum(LbText text)
{
	return PointerGetDatum(cstring_to_text_with_len(text.data, text.len));
}

/* The id of the ranking in that window; zero if it was never opened. */
static int64
find_ranking_id(const LbBoard *board, LbWindow window, LbText scope)
{
	static LbPlan plan = {
		"SELECT r.ranking_id FROM lb.ranking r WHERE r.counter_id = $1 "
		"AND r.board_id = $2 AND r.scope = $4 AND r.opens = $3",
		4, {INT8OID, INT8OID, TIMESTAMPTZOID, TEXTOID}
	};
	Datum		values[4] = {Int64GetDatum(board->counter_id),
		Int64GetDatum(board->board_id), TimestampTzGetDatum(window.opens),
	text_datum(scope)};
	int64		id = 0;
	bool		isnull;

	if (lb_run(&plan, values, NULL, false, 1, SPI_OK_SELECT) == 1)
		id = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0],
										 SPI_tuptable->tupdesc, 1, &isnull));
	SPI_freetuptable(SPI_tuptable);
	return id;
}

/*
 * The number comes from a sequence: it may never return, not even after a
 * rollback or a drop, for pages are cached by it.
 */
static int64
open_ranking(const LbBoard *board, LbWindow window, LbText scope)
{
	static LbPlan plan = {
		"INSERT INTO lb.ranking (counter_id, ranking_id, board_id, scope, opens, closes) "
		"VALUES ($1, nextval('lb.ranking_id_seq'), $2, $5, $3, $4) RETURNING ranking_id",
		5, {INT8OID, INT8OID, TIMESTAMPTZOID, TIMESTAMPTZOID, TEXTOID}
	};
	Datum		values[5] = {Int64GetDatum(board->counter_id),
		Int64GetDatum(board->board_id), TimestampTzGetDatum(window.opens),
	TimestampTzGetDatum(window.closes), text_datum(scope)};
	int64		id;
	bool		isnull;

	lb_run(&plan, values, NULL, false, 0, SPI_OK_INSERT_RETURNING);
	id = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0],
									 SPI_tuptable->tupdesc, 1, &isnull));
	SPI_freetuptable(SPI_tuptable);
	return id;
}

/* What its newest version says; of a ranking just opened, nothing. */
static void
load_version(LbRanking *ranking)
{
	static LbPlan plan = {
		"SELECT v.population, v.root, v.next_page, v.histogram FROM lb.version v "
		"WHERE v.counter_id = $1 AND v.ranking_id = $2 "
		"ORDER BY v.version DESC LIMIT 1",
		2, {INT8OID, INT8OID}
	};
	Datum		values[2] = {Int64GetDatum(ranking->board->counter_id),
	Int64GetDatum(ranking->ranking_id)};
	bool		isnull;

	ranking->next_page = 1;
	ranking->published = lb_run(&plan, values, NULL, false, 1, SPI_OK_SELECT) == 1;
	if (ranking->published)
	{
		HeapTuple	row = SPI_tuptable->vals[0];
		TupleDesc	desc = SPI_tuptable->tupdesc;
		Datum		histogram = SPI_getbinval(row, desc, 4, &isnull);

		if (!isnull)
			ranking->histogram = lb_hist_load(histogram);
		ranking->population = DatumGetInt64(SPI_getbinval(row, desc, 1, &isnull));
		ranking->root = DatumGetInt64(SPI_getbinval(row, desc, 2, &isnull));
		ranking->next_page = DatumGetInt64(SPI_getbinval(row, desc, 3, &isnull));
	}
	else if (ranking->board->bounded)
		ranking->histogram = lb_hist_create(ranking->board->buckets,
											ranking->board->ceiling);
	ranking->size = ranking->population;
	SPI_freetuptable(SPI_tuptable);
}

/* The ranking; NULL if it was never opened, and is not to be. */
static LbRanking *
load_ranking(LbRound *round, LbCounted *counted, const LbBoard *board,
			 LbWindow window, LbText scope, bool open)
{
	MemoryContext old = MemoryContextSwitchTo(round->context);
	LbRanking  *ranking = NULL;
	int64		id = find_ranking_id(board, window, scope);

	if (id == 0 && open)
		id = open_ranking(board, window, scope);
	if (id != 0)
	{
		ranking = palloc0(sizeof(LbRanking));
		ranking->window = window;
		ranking->scope = scope;
		ranking->board = board;
		ranking->counted = counted;
		ranking->ranking_id = id;
		load_version(ranking);
	}
	MemoryContextSwitchTo(old);
	return ranking;
}

/*
 * The ranking of a scope of the board in that window; the empty scope is the
 * whole board.  NULL if it was never opened, unless it is to be opened now.
 */
LbRanking *
lb_ranking_of_scope(LbRound *round, LbCounted *counted, const LbBoard *board,
					LbWindow window, LbText scope, bool open)
{
	LbRankingKey key = {.board_id = board->board_id,.opens = window.opens,
	.scope_len = scope.len};
	RankingEntry *entry;
	bool		found;

	memcpy(key.scope, scope.data, scope.len);
	if (round->rankings == NULL)
		round->rankings = make_table(round, sizeof(LbRankingKey),
									 sizeof(RankingEntry));
	entry = hash_search(round->rankings, &key, HASH_ENTER, &found);
	if (!found)
		entry->ranking = NULL;
	if (entry->ranking == NULL)
		entry->ranking = load_ranking(round, counted, board, window,
									  (LbText) {entry->key.scope, scope.len}, open);
	return entry->ranking;
}

/* The ranking of the board in whose window the instant falls. */
LbRanking *
lb_ranking(LbRound *round, LbCounted *counted, LbCountedBoard *board,
		   TimestampTz at)
{
	if (board->ranking != NULL &&
		board->window.opens <= at && at < board->window.closes)
		return board->ranking;
	board->window = lb_window(board->board.period, at, board->board.zone);
	board->ranking = lb_ranking_of_scope(round, counted, &board->board,
										 board->window, (LbText) {"", 0}, true);
	return board->ranking;
}
