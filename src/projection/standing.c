/*-------------------------------------------------------------------------
 *
 * standing.c
 *	  lb.standing: a member's value in a ranking.
 *
 * A row that neither value nor time moves in is not written: a worse score
 * under max costs nothing here.  No index depends on the value, so an update
 * stays on its page.  What a member had before is kept in lb.moved for as
 * long as an older version can be asked for.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "projection/columns.h"
#include "projection/round.h"

static const Oid key_types[] = {INT8OID, INT8OID, TEXTOID};
static const Oid update_types[] = {TIDOID, LB_ACCUM_TYPES};
static const Oid insert_types[] = {INT8OID, INT8OID, TEXTOID, LB_ACCUM_TYPES};
static const Oid moved_types[] = {INT8OID, INT8OID, TEXTOID, INT8OID, INT8OID, TIMESTAMPTZOID};

static void
set_key(LbColumns *columns, const LbMove *move)
{
	lb_columns_set(columns, 0, Int64GetDatum(move->ranking->board->counter_id));
	lb_columns_set(columns, 1, Int64GetDatum(move->ranking->ranking_id));
	lb_columns_set_text(columns, 2, move->member);
}

/* Merge each move with the member's row; the row as it was stays in old. */
static void
merge_stored(LbMove **moves, int n)
{
	static LbPlan plan = {
		"SELECT k.ord, b.ctid, 1::bigint, b.value, b.wide, b.moved, b.reached_at, b.last_id "
		"FROM ROWS FROM (unnest($1), unnest($2), unnest($3)) "
		"WITH ORDINALITY AS k(counter_id, ranking_id, member, ord) "
		"CROSS JOIN LATERAL (SELECT s.ctid, s.value, s.wide, s.moved, s.reached_at, s.last_id "
		"FROM lb.standing s WHERE s.counter_id = k.counter_id "
		"AND s.ranking_id = k.ranking_id AND s.member = k.member LIMIT 1) b",
		3, {INT8ARRAYOID, INT8ARRAYOID, TEXTARRAYOID}
	};
	LbColumns	keys;
	Datum		arrays[3];
	uint64		found;

	lb_columns_init(&keys, key_types, lengthof(key_types), n);
	for (int i = 0; i < n; i++)
	{
		set_key(&keys, moves[i]);
		lb_columns_next(&keys);
	}
	lb_columns_arrays(&keys, arrays);
	found = lb_run(&plan, arrays, NULL, false, 0, SPI_OK_SELECT);
	for (uint64 row = 0; row < found; row++)
	{
		HeapTuple	tuple = SPI_tuptable->vals[row];
		TupleDesc	desc = SPI_tuptable->tupdesc;
		bool		isnull;
		LbMove	   *move = moves[DatumGetInt64(SPI_getbinval(tuple, desc, 1, &isnull)) - 1];

		move->stored = true;
		move->tid = *(ItemPointer) DatumGetPointer(SPI_getbinval(tuple, desc, 2, &isnull));
		lb_read_accum(tuple, desc, 3, &move->old);
		lb_accum_merge(move->ranking->board->op, &move->accum, &move->old);
	}
	SPI_freetuptable(SPI_tuptable);
}

static void
write_moves(LbMove **moves, int n)
{
	static LbPlan update = {
		"UPDATE lb.standing s SET value = u.value, wide = u.wide, moved = u.moved, "
		"reached_at = u.reached_at, last_id = u.last_id "
		"FROM ROWS FROM (unnest($1), unnest($2), unnest($3), unnest($4), unnest($5), "
		"unnest($6), unnest($7)) "
		"AS u(tid, n, value, wide, moved, reached_at, last_id) "
		"WHERE s.ctid = u.tid",
		7, {TIDARRAYOID, INT8ARRAYOID, INT8ARRAYOID, NUMERICARRAYOID, BOOLARRAYOID,
		TIMESTAMPTZARRAYOID, INT8ARRAYOID}
	};
	static LbPlan insert = {
		"INSERT INTO lb.standing (counter_id, ranking_id, member, "
		"value, wide, moved, reached_at, last_id) "
		"SELECT u.counter_id, u.ranking_id, u.member, u.value, u.wide, u.moved, "
		"u.reached_at, u.last_id "
		"FROM ROWS FROM (unnest($1), unnest($2), unnest($3), unnest($4), unnest($5), "
		"unnest($6), unnest($7), unnest($8), unnest($9)) AS "
		"u(counter_id, ranking_id, member, n, value, wide, moved, reached_at, last_id)",
		9, {INT8ARRAYOID, INT8ARRAYOID, TEXTARRAYOID, INT8ARRAYOID, INT8ARRAYOID,
		NUMERICARRAYOID, BOOLARRAYOID, TIMESTAMPTZARRAYOID, INT8ARRAYOID}
	};
	LbColumns	updates;
	LbColumns	inserts;
	Datum		arrays[9];

	lb_columns_init(&updates, update_types, lengthof(update_types), n);
	lb_columns_init(&inserts, insert_types, lengthof(insert_types), n);
	for (int i = 0; i < n; i++)
	{
		LbMove	   *move = moves[i];

		if (!move->stored)
		{
			set_key(&inserts, move);
			lb_columns_set_accum(&inserts, 3, &move->accum);
			lb_columns_next(&inserts);
		}
		else if (!lb_accum_same(&move->accum, &move->old))
		{
			lb_columns_set_tid(&updates, 0, &move->tid);
			lb_columns_set_accum(&updates, 1, &move->accum);
			lb_columns_next(&updates);
		}
	}
	if (updates.nrows > 0)
	{
		lb_columns_arrays(&updates, arrays);
		lb_run(&update, arrays, NULL, false, 0, SPI_OK_UPDATE);
	}
	if (inserts.nrows > 0)
	{
		lb_columns_arrays(&inserts, arrays);
		lb_run(&insert, arrays, NULL, false, 0, SPI_OK_INSERT);
	}
}

static bool
changes_place(const LbMove *move)
{
	return !move->stored || !lb_accum_same(&move->accum, &move->old);
}

/*
 * What the members had before this round, for those who ask for an earlier
 * version; of one who moves twice in a round, what came first.
 */
static void
write_moved(LbMove **moves, int n, int64 version)
{
	static LbPlan insert = {
		"INSERT INTO lb.moved (counter_id, ranking_id, member, version, value, reached_at) "
		"SELECT * FROM ROWS FROM (unnest($1), unnest($2), unnest($3), unnest($4), "
		"unnest($5), unnest($6)) AS u ON CONFLICT DO NOTHING",
		6, {INT8ARRAYOID, INT8ARRAYOID, TEXTARRAYOID, INT8ARRAYOID, INT8ARRAYOID,
		TIMESTAMPTZARRAYOID}
	};
	LbColumns	rows;
	Datum		arrays[6];

	lb_columns_init(&rows, moved_types, lengthof(moved_types), n);
	for (int i = 0; i < n; i++)
	{
		LbMove	   *move = moves[i];

		if (!changes_place(move) || !move->ranking->published ||
			!move->ranking->board->keeps_versions)
			continue;
		set_key(&rows, move);
		lb_columns_set(&rows, 3, Int64GetDatum(version));
		if (move->stored && lb_accum_fits(&move->old))
		{
			lb_columns_set(&rows, 4, Int64GetDatum((int64) move->old.value));
			lb_columns_set(&rows, 5, TimestampTzGetDatum(move->old.reached_at));
		}
		lb_columns_next(&rows);
	}
	if (rows.nrows > 0)
	{
		lb_columns_arrays(&rows, arrays);
		lb_run(&insert, arrays, NULL, false, 0, SPI_OK_INSERT);
	}
}

static LbRankEntry
entry_of(const LbMove *move, const LbAccum *accum)
{
	LbRankEntry entry = {
		.rank_key = lb_rank_key(move->ranking->board, (int64) accum->value),
		.reached_at = accum->reached_at,
		.member = (const uint8_t *) move->member.data,
		.member_len = move->member.len
	};

	return entry;
}

/* Hand the move on to the ranking: its order, population and histogram. */
static void
apply_move(LbRound *round, const LbMove *move)
{
	LbRanking  *ranking = move->ranking;
	bool		was = move->stored && lb_accum_fits(&move->old);
	bool		is = lb_accum_fits(&move->accum);
	int64		sorted_as = (int64) (intptr_t) ranking;
	LbRankEntry entry;

	if (!changes_place(move))
		return;
	ranking->changed = true;
	ranking->population += is - was;
	if (is)
	{
		entry = entry_of(move, &move->accum);
		lb_moves_add(round->sorted, sorted_as, &entry, false);
		if (ranking->histogram != NULL)
			lb_hist_change(ranking->histogram, (int64) move->accum.value, 1);
	}
	if (was)
	{
		entry = entry_of(move, &move->old);
		lb_moves_add(round->sorted, sorted_as, &entry, true);
		if (ranking->histogram != NULL)
			lb_hist_change(ranking->histogram, (int64) move->old.value, -1);
	}
}

/* Merge the moves, which are in key order, into the table and their rankings. */
void
lb_store_moves(LbRound *round, LbMove **moves, int n)
{
	MemoryContext old = CurrentMemoryContext;
	MemoryContext work = AllocSetContextCreate(old, "leaderboard standings",
											   ALLOCSET_DEFAULT_SIZES);

	for (int i = 0; i < n; i += LB_WRITE_ROWS)
	{
		int			rows = Min(LB_WRITE_ROWS, n - i);

		CHECK_FOR_INTERRUPTS();
		MemoryContextSwitchTo(work);
		merge_stored(moves + i, rows);
		write_moves(moves + i, rows);
		write_moved(moves + i, rows, round->number);
		for (int j = i; j < i + rows; j++)
			apply_move(round, moves[j]);
		MemoryContextSwitchTo(old);
		MemoryContextReset(work);
	}
	MemoryContextDelete(work);
}
