/*-------------------------------------------------------------------------
 *
 * bucket.c
 *	  lb.bucket: what a member has in an hour.
 *
 * Rows that exist are read by their key, merged with what is new and written
 * back by their place in the table; the others are inserted.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "projection/columns.h"
#include "projection/round.h"

static const Oid key_types[] = {INT8OID, INT2OID, TEXTOID, TIMESTAMPTZOID, INT2OID};
static const Oid update_types[] = {TIDOID, LB_ACCUM_TYPES};
static const Oid insert_types[] = {INT8OID, INT2OID, TEXTOID, TIMESTAMPTZOID,
INT2OID, TIMESTAMPTZOID, LB_ACCUM_TYPES};

static void
set_key(LbColumns *columns, const LbGroup *group)
{
	lb_columns_set(columns, 0, Int64GetDatum(group->counted->counter.counter_id));
	lb_columns_set(columns, 1, Int16GetDatum(group->counted->counter.version));
	lb_columns_set_text(columns, 2, group->member);
	lb_columns_set(columns, 3, TimestampTzGetDatum(group->bucket.opens));
	lb_columns_set(columns, 4, Int16GetDatum(group->late));
}

/* Merge each group with the row that is there for it. */
static void
merge_stored(LbGroup **groups, int n)
{
	static LbPlan plan = {
		"SELECT k.ord, b.ctid, b.n, b.value, b.wide, b.moved, b.reached_at, b.last_id "
		"FROM ROWS FROM (unnest($1), unnest($2), unnest($3), unnest($4), unnest($5)) "
		"WITH ORDINALITY AS k(counter_id, version, member, opens, late, ord) "
		"CROSS JOIN LATERAL (SELECT s.ctid, s.n, s.value, s.wide, s.moved, s.reached_at, s.last_id "
		"FROM lb.bucket s WHERE s.counter_id = k.counter_id AND s.version = k.version "
		"AND s.member = k.member AND s.opens = k.opens AND s.late = k.late LIMIT 1) b",
		5, {INT8ARRAYOID, INT2ARRAYOID, TEXTARRAYOID, TIMESTAMPTZARRAYOID, INT2ARRAYOID}
	};
	LbColumns	keys;
	Datum		arrays[5];
	uint64		found;

	lb_columns_init(&keys, key_types, lengthof(key_types), n);
	for (int i = 0; i < n; i++)
	{
		set_key(&keys, groups[i]);
		lb_columns_next(&keys);
	}
	lb_columns_arrays(&keys, arrays);
	found = lb_run(&plan, arrays, NULL, false, 0, SPI_OK_SELECT);
	for (uint64 row = 0; row < found; row++)
	{
		HeapTuple	tuple = SPI_tuptable->vals[row];
		TupleDesc	desc = SPI_tuptable->tupdesc;
		bool		isnull;
		LbGroup    *group = groups[DatumGetInt64(SPI_getbinval(tuple, desc, 1, &isnull)) - 1];
		LbAccum		old;

		group->stored = true;
		group->tid = *(ItemPointer) DatumGetPointer(SPI_getbinval(tuple, desc, 2, &isnull));
		lb_read_accum(tuple, desc, 3, &old);
		lb_accum_merge(group->counted->counter.op, &group->accum, &old);
	}
	SPI_freetuptable(SPI_tuptable);
}

static void
write_groups(LbGroup **groups, int n)
{
	static LbPlan update = {
		"UPDATE lb.bucket b SET n = u.n, value = u.value, wide = u.wide, moved = u.moved, "
		"reached_at = u.reached_at, last_id = u.last_id "
		"FROM ROWS FROM (unnest($1), unnest($2), unnest($3), unnest($4), unnest($5), "
		"unnest($6), unnest($7)) AS u(tid, n, value, wide, moved, reached_at, last_id) "
		"WHERE b.ctid = u.tid",
		7, {TIDARRAYOID, INT8ARRAYOID, INT8ARRAYOID, NUMERICARRAYOID, BOOLARRAYOID,
		TIMESTAMPTZARRAYOID, INT8ARRAYOID}
	};
	static LbPlan insert = {
		"INSERT INTO lb.bucket (counter_id, version, member, opens, late, closes, "
		"n, value, wide, moved, reached_at, last_id) "
		"SELECT * FROM ROWS FROM (unnest($1), unnest($2), unnest($3), unnest($4), unnest($5), "
		"unnest($6), unnest($7), unnest($8), unnest($9), unnest($10), unnest($11), unnest($12)) AS u",
		12, {INT8ARRAYOID, INT2ARRAYOID, TEXTARRAYOID, TIMESTAMPTZARRAYOID, INT2ARRAYOID,
			TIMESTAMPTZARRAYOID, INT8ARRAYOID, INT8ARRAYOID, NUMERICARRAYOID, BOOLARRAYOID,
		TIMESTAMPTZARRAYOID, INT8ARRAYOID}
	};
	LbColumns	updates;
	LbColumns	inserts;
	Datum		arrays[12];

	lb_columns_init(&updates, update_types, lengthof(update_types), n);
	lb_columns_init(&inserts, insert_types, lengthof(insert_types), n);
	for (int i = 0; i < n; i++)
	{
		LbGroup    *group = groups[i];

		if (group->stored)
		{
			lb_columns_set_tid(&updates, 0, &group->tid);
			lb_columns_set_accum(&updates, 1, &group->accum);
			lb_columns_next(&updates);
			continue;
		}
		set_key(&inserts, group);
		lb_columns_set(&inserts, 5, TimestampTzGetDatum(group->bucket.closes));
		lb_columns_set_accum(&inserts, 6, &group->accum);
		lb_columns_next(&inserts);
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

/* Merge the groups, which are in key order, into the table. */
void
lb_store_groups(LbGroup **groups, int n)
{
	MemoryContext old = CurrentMemoryContext;
	MemoryContext work = AllocSetContextCreate(old, "leaderboard buckets",
											   ALLOCSET_DEFAULT_SIZES);

	for (int i = 0; i < n; i += LB_WRITE_ROWS)
	{
		int			rows = Min(LB_WRITE_ROWS, n - i);

		CHECK_FOR_INTERRUPTS();
		MemoryContextSwitchTo(work);
		merge_stored(groups + i, rows);
		write_groups(groups + i, rows);
		MemoryContextSwitchTo(old);
		MemoryContextReset(work);
	}
	MemoryContextDelete(work);
}
