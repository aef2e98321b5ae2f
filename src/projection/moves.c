/*-------------------------------------------------------------------------
 *
 * moves.c
 *	  The moves of a round, sorted into board order.
 *
 * The ranktree takes a round's moves at once, in order.  They are sorted by
 * the server's own sort, which goes to disk when they are many.  A member
 * that moved more than once in the round leaves an entry and its removal
 * behind, which are the same place and cancel out.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"
#include "utils/tuplesort.h"

#include "projection/moves.h"

/* The columns that are sorted. */
enum
{
	RANKING = 1,
	RANK_KEY,
	REACHED_AT,
	MEMBER,
	REMOVE
};

/* A row read back. */
typedef struct Row
{
	int64		ranking;
	bool		remove;
	LbRankEntry entry;
	uint8		member[LB_RANK_MEMBER_MAX];
} Row;

struct LbMoves
{
	TupleDesc	desc;
	Tuplesortstate *sort;
	TupleTableSlot *slot;		/* read from */
	TupleTableSlot *row;		/* written from */
	int64		ranking;		/* being read */
	bool		has_ahead;		/* ahead is a row not given yet */
	Row			ahead;
	Row			given;			/* whose member the reader holds */
	bool		found;			/* given is a move not read yet: */
	int			net;			/* +1 it came, -1 it went */
};

LbMoves *
lb_moves_begin(void)
{
	static AttrNumber columns[] = {RANKING, RANK_KEY, REACHED_AT, MEMBER};
	static Oid operators[] = {Int8LessOperator, Int8LessOperator,
	Int8LessOperator, TextLessOperator};
	static Oid collations[] = {InvalidOid, InvalidOid, InvalidOid, C_COLLATION_OID};
	static bool nulls_first[] = {false, false, false, false};
	LbMoves    *moves = palloc0(sizeof(LbMoves));

	moves->desc = CreateTemplateTupleDesc(REMOVE);
	TupleDescInitEntry(moves->desc, RANKING, "ranking", INT8OID, -1, 0);
	TupleDescInitEntry(moves->desc, RANK_KEY, "rank_key", INT8OID, -1, 0);
	TupleDescInitEntry(moves->desc, REACHED_AT, "reached_at", INT8OID, -1, 0);
	TupleDescInitEntry(moves->desc, MEMBER, "member", TEXTOID, -1, 0);
	TupleDescInitEntry(moves->desc, REMOVE, "remove", BOOLOID, -1, 0);
	moves->slot = MakeSingleTupleTableSlot(moves->desc, &TTSOpsMinimalTuple);
	moves->row = MakeSingleTupleTableSlot(moves->desc, &TTSOpsVirtual);
	moves->sort = tuplesort_begin_heap(moves->desc, lengthof(columns), columns,
									   operators, collations, nulls_first,
									   maintenance_work_mem, NULL,
									   TUPLESORT_NONE);
	return moves;
}

/* ranking: any number that tells the round's rankings apart. */
void
lb_moves_add(LbMoves *moves, int64 ranking, const LbRankEntry *entry,
			 bool remove)
{
	TupleTableSlot *slot = moves->row;
	text	   *member = cstring_to_text_with_len((const char *) entry->member,
												  entry->member_len);

	ExecClearTuple(slot);
	slot->tts_values[RANKING - 1] = Int64GetDatum(ranking);
	slot->tts_values[RANK_KEY - 1] = Int64GetDatum(entry->rank_key);
	slot->tts_values[REACHED_AT - 1] = Int64GetDatum(entry->reached_at);
	slot->tts_values[MEMBER - 1] = PointerGetDatum(member);
	slot->tts_values[REMOVE - 1] = BoolGetDatum(remove);
	memset(slot->tts_isnull, false, REMOVE * sizeof(bool));
	ExecStoreVirtualTuple(slot);
	tuplesort_puttupleslot(moves->sort, slot);
	pfree(member);
}

static void
read_ahead(LbMoves *moves)
{
	Row		   *row = &moves->ahead;
	bool		isnull;
	text	   *member;

	moves->has_ahead = tuplesort_gettupleslot(moves->sort, true, false,
											  moves->slot, NULL);
	if (!moves->has_ahead)
		return;
	row->ranking = DatumGetInt64(slot_getattr(moves->slot, RANKING, &isnull));
	row->entry.rank_key = DatumGetInt64(slot_getattr(moves->slot, RANK_KEY, &isnull));
	row->entry.reached_at = DatumGetInt64(slot_getattr(moves->slot, REACHED_AT, &isnull));
	row->remove = DatumGetBool(slot_getattr(moves->slot, REMOVE, &isnull));
	member = DatumGetTextPP(slot_getattr(moves->slot, MEMBER, &isnull));
	row->entry.member_len = VARSIZE_ANY_EXHDR(member);
	memcpy(row->member, VARDATA_ANY(member), row->entry.member_len);
	row->entry.member = row->member;
}

void
lb_moves_sort(LbMoves *moves)
{
	tuplesort_performsort(moves->sort);
	read_ahead(moves);
}

static bool
same_entry(const LbRankEntry *a, const LbRankEntry *b)
{
	return a->rank_key == b->rank_key && a->reached_at == b->reached_at &&
		a->member_len == b->member_len &&
		memcmp(a->member, b->member, a->member_len) == 0;
}

/* Take the rows of the next entry; +1 it came, -1 it went, 0 both. */
static int
take_entry(LbMoves *moves)
{
	int			net = 0;

	moves->given = moves->ahead;
	moves->given.entry.member = moves->given.member;
	do
	{
		net += moves->ahead.remove ? -1 : 1;
		read_ahead(moves);
	} while (moves->has_ahead && moves->ahead.ranking == moves->ranking &&
			 same_entry(&moves->ahead.entry, &moves->given.entry));
	return net;
}

/* Find the ranking's next entry that came or went; false if there is none. */
static bool
find_move(LbMoves *moves)
{
	while (!moves->found && moves->has_ahead && moves->ahead.ranking == moves->ranking)
	{
		moves->net = take_entry(moves);
		moves->found = moves->net != 0;
	}
	return moves->found;
}

/* Was the ranking touched?  Those rows come first. */
static bool
take_touches(LbMoves *moves)
{
	bool		touched = false;

	while (moves->has_ahead && moves->ahead.ranking == moves->ranking &&
		   moves->ahead.entry.member_len == 0)
	{
		touched = true;
		read_ahead(moves);
	}
	return touched;
}

/*
 * The next ranking that has moves, or was touched; what was not read of the
 * last is skipped, and rankings whose moves undo each other.
 */
bool
lb_moves_ranking(LbMoves *moves, int64 *ranking)
{
	for (;;)
	{
		bool		touched;

		moves->found = false;
		while (moves->has_ahead && moves->ahead.ranking == moves->ranking)
			read_ahead(moves);
		if (!moves->has_ahead)
			return false;
		moves->ranking = moves->ahead.ranking;
		*ranking = moves->ranking;
		touched = take_touches(moves);
		if (find_move(moves) || touched)
			return true;
	}
}

/* The next move of the ranking, as the core asks for it. */
LbRankStatus
lb_moves_next(void *source, LbRankMove *move)
{
	LbMoves    *moves = source;

	if (!find_move(moves))
		return LB_RANK_DONE;
	moves->found = false;
	if (moves->net > 1 || moves->net < -1)
		return LB_RANK_BAD_INPUT;
	move->entry = moves->given.entry;
	move->remove = moves->net < 0;
	return LB_RANK_OK;
}

/* Have the ranking be among them, with or without moves: nobody, before all others. */
void
lb_moves_touch(LbMoves *moves, int64 ranking)
{
	LbRankEntry nobody = {.rank_key = PG_INT64_MIN,.reached_at = PG_INT64_MIN,
	.member = (const uint8_t *) "",.member_len = 0};

	lb_moves_add(moves, ranking, &nobody, false);
}

void
lb_moves_end(LbMoves *moves)
{
	ExecDropSingleTupleTableSlot(moves->slot);
	ExecDropSingleTupleTableSlot(moves->row);
	tuplesort_end(moves->sort);
	pfree(moves);
}
