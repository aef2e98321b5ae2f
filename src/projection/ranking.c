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
#include "projection/version.h"

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

/* A column of lb.ranking, and the keys of that and of lb.version. */
enum
{
	RANKING_ID = 2
};

enum
{
	KEY_COUNTER_ID = 1, KEY_BOARD_ID, KEY_SCOPE, KEY_OPENS
};

enum
{
	KEY_RANKING_ID = 2
};

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
	round->has_sketches |= lb_is_sketched(counted->counter.op);
	counted->nboards = lb_get_boards(counter_id, only_board, &boards);
	counted->boards = palloc0(Max(counted->nboards, 1) * sizeof(LbCountedBoard));
	for (int i = 0; i < counted->nboards; i++)
	{
		counted->boards[i].board = boards[i];
		if (lb_period_rolls(boards[i].period))
			counted->boards[i].covers = lb_board_covers(&boards[i], round->as_of);
	}
	lb_late_rules(&counted->late, &counted->counter);
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
find_ranking_id(LbRound *round, const LbBoard *board, LbWindow window, LbText scope)
{
	TupleTableSlot *slot;
	ScanKeyData keys[4];

	lb_key_int64(&keys[0], KEY_COUNTER_ID, board->counter_id);
	lb_key_int64(&keys[1], KEY_BOARD_ID, board->board_id);
	lb_key_text(&keys[2], KEY_SCOPE, text_datum(scope));
	lb_key_time(&keys[3], KEY_OPENS, window.opens);
	slot = lb_probe(&lb_open_tables(round)->ranking, keys, ForwardScanDirection);
	return slot == NULL ? 0 : lb_slot_int64(slot, RANKING_ID);
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
load_version(LbRound *round, LbRanking *ranking)
{
	TupleTableSlot *slot;
	ScanKeyData keys[2];
	bool		isnull;

	lb_key_int64(&keys[0], KEY_COUNTER_ID, ranking->board->counter_id);
	lb_key_int64(&keys[1], KEY_RANKING_ID, ranking->ranking_id);
	slot = lb_probe(&lb_open_tables(round)->version, keys, BackwardScanDirection);
	ranking->next_page = 1;
	ranking->published = slot != NULL;
	if (ranking->published)
	{
		Datum		histogram = slot_getattr(slot, LB_VERSION_HISTOGRAM, &isnull);
		Datum		leaf;

		if (!isnull)
			ranking->histogram = lb_hist_load(histogram);
		leaf = slot_getattr(slot, LB_VERSION_LEAF, &isnull);
		if (!isnull)
			ranking->leaf = DatumGetByteaPCopy(leaf);
		ranking->population = lb_slot_int64(slot, LB_VERSION_POPULATION);
		ranking->root = lb_slot_int64(slot, LB_VERSION_ROOT);
		ranking->next_page = lb_slot_int64(slot, LB_VERSION_NEXT_PAGE);
		if (ranking->board->op == LB_HEAVY)
		{
			ranking->total = lb_slot_int64(slot, LB_VERSION_TOTAL);
			ranking->bound = slot_attisnull(slot, LB_VERSION_BOUND) ? -1 :
				lb_slot_int64(slot, LB_VERSION_BOUND);
		}
	}
	else if (ranking->board->bounded)
		ranking->histogram = lb_hist_create(ranking->board->buckets,
											ranking->board->ceiling);
	ranking->size = ranking->population;
}

/* The ranking; NULL if it was never opened, and is not to be. */
static LbRanking *
load_ranking(LbRound *round, LbCounted *counted, const LbBoard *board,
			 LbWindow window, LbText scope, bool open)
{
	MemoryContext old = MemoryContextSwitchTo(round->context);
	LbRanking  *ranking = NULL;
	int64		id = find_ranking_id(round, board, window, scope);

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
		load_version(round, ranking);
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

/*
 * The ranking of the board in whose window the instant falls; NULL if a
 * rolling board does not cover it.
 */
LbRanking *
lb_ranking(LbRound *round, LbCounted *counted, LbCountedBoard *board,
		   TimestampTz at)
{
	if (lb_period_rolls(board->board.period) && !lb_in_window(board->covers, at))
		return NULL;
	if (board->ranking != NULL && lb_in_window(board->window, at))
		return board->ranking;
	board->window = lb_board_window(&board->board, at);
	board->ranking = lb_ranking_of_scope(round, counted, &board->board,
										 board->window, (LbText) {"", 0}, true);
	return board->ranking;
}
