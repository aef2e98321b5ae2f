/*-------------------------------------------------------------------------
 *
 * standing.c
 *	  lb.standing: a member's value in a ranking.
 *
 * A row that neither value nor time moves in is not written: a worse score
 * under max costs nothing here.  No index depends on the value, so an update
 * stays on its page.  What a member had before is kept in lb.moved for as
 * long as an older version can be asked for.  A member of a rolling board who
 * has nothing left in its window has no row.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "projection/accum_row.h"
#include "projection/moved.h"
#include "projection/round.h"
#include "projection/sketch.h"
#include "projection/sketches.h"
#include "projection/standing.h"
#include "projection/tracked.h"

/* Both keys begin so; that of lb.moved goes on with the version. */
enum
{
	KEY_COUNTER_ID = 1, KEY_RANKING_ID, KEY_MEMBER, KEY_VERSION
};

/* The tables that a flush of moves reads and writes. */
typedef struct Tables
{
	LbProbe		standing;
	LbProbe		moved;
	LbRows	   *standing_rows;
	LbRows	   *moved_rows;
	LbSketches	sketches;		/* open if the round has any */
} Tables;

/* The members of one approximate ranking, while they are stored. */
typedef struct Tracked
{
	LbRound    *round;
	Tables	   *tables;
	LbRanking  *ranking;
} Tracked;

static void
set_keys(ScanKey keys, const LbMove *move, Datum member)
{
	lb_key_int64(&keys[0], KEY_COUNTER_ID, move->ranking->board->counter_id);
	lb_key_int64(&keys[1], KEY_RANKING_ID, move->ranking->ranking_id);
	lb_key_text(&keys[2], KEY_MEMBER, member);
}

static bool
changes_place(const LbMove *move)
{
	if (move->gone || !move->stored)
		return move->gone == move->stored;
	return !lb_accum_same(&move->accum, &move->old);
}

lb_noreturn static void
no_sketch(const LbMove *move)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("a member of ranking " INT64_FORMAT " has a value and no sketch",
					move->ranking->ranking_id),
			 errhint("Drop the board and create it again to build it from the buckets.")));
}

/*
 * Of a sketched counter: merge what the round's groups bring, and add the
 * stored sketch, if there is one, to what the row gave.
 */
static bool
merge_sketches(Tables *tables, LbMove *move, Datum member)
{
	const LbBoard *board = move->ranking->board;
	ListCell   *part;

	foreach(part, move->parts)
		lb_accum_merge(board->op, &move->accum, &((LbGroup *) lfirst(part))->accum);
	return lb_sketches_find(&tables->sketches, board->counter_id,
							move->ranking->ranking_id, member, &move->old);
}

/* The member's row as it is. */
static void
find_stored(Tables *tables, LbMove *move, Datum member)
{
	ScanKeyData keys[3];
	TupleTableSlot *slot;

	set_keys(keys, move, member);
	slot = lb_probe_row(&tables->standing, keys);
	move->stored = slot != NULL;
	if (!move->stored)
		return;
	move->tid = slot->tts_tid;
	lb_accum_from_slot(&move->old, &lb_standing_columns, slot);
}

static void
write_standing(Tables *tables, const LbMove *move, Datum member)
{
	LbRow		row;

	if (move->gone)
	{
		lb_rows_delete(tables->standing_rows, &move->tid);
		return;
	}
	lb_row_clear(&row);
	lb_row_set(&row, LB_STANDING_COUNTER_ID, Int64GetDatum(move->ranking->board->counter_id));
	lb_row_set(&row, LB_STANDING_RANKING_ID, Int64GetDatum(move->ranking->ranking_id));
	lb_row_set(&row, LB_STANDING_MEMBER, member);
	lb_accum_to_row(&move->accum, &lb_standing_columns, &row);
	if (move->stored)
		lb_rows_update(tables->standing_rows, &move->tid, &row);
	else
		lb_rows_insert(tables->standing_rows, &row);
}

/* A backlog is stored in pieces; the first has noted what came before. */
static bool
is_noted(Tables *tables, const LbMove *move, Datum member, int64 version)
{
	ScanKeyData keys[4];

	set_keys(keys, move, member);
	lb_key_int64(&keys[3], KEY_VERSION, version);
	return lb_probe(&tables->moved, keys, ForwardScanDirection) != NULL;
}

/* Note what the member had, for those who ask for an earlier version. */
static void
write_moved(Tables *tables, const LbRound *round, const LbMove *move, Datum member)
{
	LbRow		row;

	if (!move->ranking->published || !move->ranking->board->keeps_versions ||
		(round->flushes > 0 && is_noted(tables, move, member, round->number)))
		return;
	lb_row_clear(&row);
	lb_row_set(&row, LB_MOVED_COUNTER_ID, Int64GetDatum(move->ranking->board->counter_id));
	lb_row_set(&row, LB_MOVED_RANKING_ID, Int64GetDatum(move->ranking->ranking_id));
	lb_row_set(&row, LB_MOVED_VERSION, Int64GetDatum(round->number));
	lb_row_set(&row, LB_MOVED_MEMBER, member);
	if (move->stored && lb_accum_fits(&move->old))
	{
		lb_row_set(&row, LB_MOVED_VALUE, Int64GetDatum((int64) move->old.value));
		lb_row_set(&row, LB_MOVED_REACHED_AT, TimestampTzGetDatum(move->old.reached_at));
	}
	lb_rows_insert(tables->moved_rows, &row);
}

/* Hand the move on to the ranking, and to those of the member's scopes. */
static void
apply_move(LbRound *round, const LbMove *move)
{
	const LbAccum *was = move->stored && lb_accum_fits(&move->old) ? &move->old : NULL;
	const LbAccum *is = !move->gone && lb_accum_fits(&move->accum) ? &move->accum : NULL;

	lb_change_ranking(round, move->ranking, move->member, was, is);
	if (move->ranking->board->scoped)
		lb_change_scopes(round, move->ranking, move->member, was, is);
}

static void
write_move(LbRound *round, Tables *tables, const LbMove *move, Datum member)
{
	if (!changes_place(move))
		return;
	write_standing(tables, move, member);
	write_moved(tables, round, move, member);
	apply_move(round, move);
}

static Datum
name_of(const LbMove *move)
{
	return PointerGetDatum(cstring_to_text_with_len(move->member.data,
													move->member.len));
}

/* What a member has in the sketch of an approximate ranking, or that it is gone. */
static void
store_tracked(void *context, LbText member, const LbAccum *accum)
{
	Tracked    *tracked = context;
	LbMove		move = {.ranking = tracked->ranking, .member = member,
		.accum = *accum, .absolute = true, .gone = accum->n == 0};
	Datum		name = name_of(&move);

	find_stored(tracked->tables, &move, name);
	write_move(tracked->round, tracked->tables, &move, name);
}

/*
 * An approximate counter has one move for all members.  Its sketch is merged
 * with the stored one, and what that changes for members that are tracked, or
 * were, moves them as other counters' events do.  A row of its own it has only
 * while the total does not fit bigint.
 */
static void
store_heavy(LbRound *round, Tables *tables, LbMove *move)
{
	LbRanking  *ranking = move->ranking;
	Tracked		tracked = {.round = round, .tables = tables, .ranking = ranking};
	Datum		name = name_of(move);

	find_stored(tables, move, name);
	merge_sketches(tables, move, name);
	if (move->old.form != LB_SKETCH_NONE)
	{
		move->old.n = 1;
		move->old.value = ranking->total;
	}
	if (!move->absolute)
		lb_accum_merge(LB_HEAVY, &move->accum, &move->old);
	lb_accum_settle(LB_HEAVY, &move->accum);
	lb_sketches_put(&tables->sketches, &move->accum);
	if (lb_tracked_changes(&move->old, &move->accum, store_tracked, &tracked,
						   &ranking->total, &ranking->bound))
		lb_moves_touch(round->sorted, (int64) (intptr_t) ranking);
	move->gone = lb_accum_fits(&move->accum);
	if (!move->gone)
		ranking->bound = -1;	/* nothing is known of anybody */
	write_move(round, tables, move, name);
}

static void
store_move(LbRound *round, Tables *tables, LbMove *move)
{
	LbOperator	op = move->ranking->board->op;
	Datum		member;

	if (unlikely(op == LB_HEAVY))
	{
		store_heavy(round, tables, move);
		return;
	}
	member = name_of(move);
	find_stored(tables, move, member);
	if (unlikely(op == LB_UNIQUE) && !merge_sketches(tables, move, member) && move->stored)
		no_sketch(move);
	if (move->stored && !move->absolute)
		lb_accum_merge(op, &move->accum, &move->old);
	lb_accum_settle(op, &move->accum);
	/* a sketch can become another without another value */
	if (unlikely(op == LB_UNIQUE))
		lb_sketches_put(&tables->sketches, move->gone ? NULL : &move->accum);
	write_move(round, tables, move, member);
}

static void
open_tables(const LbRound *round, Tables *tables)
{
	memset(tables, 0, sizeof(*tables));
	tables->standing_rows = lb_rows_begin(LB_TABLE_STANDING, 0);
	tables->moved_rows = lb_rows_begin(LB_TABLE_MOVED, 0);
	lb_probe_begin(&tables->standing, LB_TABLE_STANDING, 0, 3);
	lb_moved_begin(&tables->moved, 0);
	if (round->has_sketches)
		lb_sketches_begin(&tables->sketches, true);
}

static void
close_tables(Tables *tables)
{
	lb_probe_end(&tables->standing);
	lb_probe_end(&tables->moved);
	lb_rows_end(tables->standing_rows);
	lb_rows_end(tables->moved_rows);
	lb_sketches_end(&tables->sketches);
}

/* Merge the moves, which are in key order, into the table and their rankings. */
void
lb_store_moves(LbRound *round, LbMove **moves, int n)
{
	MemoryContext old = CurrentMemoryContext;
	MemoryContext work = AllocSetContextCreate(old, "leaderboard standings",
											   ALLOCSET_DEFAULT_SIZES);
	Tables		tables;

	PushActiveSnapshot(GetLatestSnapshot());
	open_tables(round, &tables);
	for (int i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (i > 0 && moves[i]->ranking->counted != moves[i - 1]->ranking->counted)
			lb_cost_charge(round, moves[i - 1]->ranking->counted);
		MemoryContextSwitchTo(work);
		store_move(round, &tables, moves[i]);
		MemoryContextSwitchTo(old);
		MemoryContextReset(work);
	}
	close_tables(&tables);
	PopActiveSnapshot();
	MemoryContextDelete(work);
	if (n > 0)
		lb_cost_charge(round, moves[n - 1]->ranking->counted);
}
