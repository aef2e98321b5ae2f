/*-------------------------------------------------------------------------
 *
 * probe.c
 *	  One row by its key, without a plan.
 *
 * A read of a rank is a handful of such probes.  An executor run for each
 * would cost more than the probe.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "access/stratnum.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_collation.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "definition/gate.h"
#include "table/probe.h"

static const char *const table_names[] = {
	"round", "version", "bucket", "standing", "moved", "page",
	"membership", "ranking", "sketch"
};

static Oid	table_oids[lengthof(table_names)];

static void
forget_table(pg_attribute_unused() Datum arg, Oid relid)
{
	for (int i = 0; i < (int) lengthof(table_oids); i++)
		if (relid == InvalidOid || relid == table_oids[i])
			table_oids[i] = InvalidOid;
}

static Oid
table_oid(LbTable table)
{
	static bool registered = false;

	if (!registered)
	{
		CacheRegisterRelcacheCallback(forget_table, (Datum) 0);
		registered = true;
	}
	if (!OidIsValid(table_oids[table]))
		table_oids[table] = lb_relation_oid(table_names[table]);
	return table_oids[table];
}

/*
 * The relation that holds the table's rows of that counter; today there is
 * one for all counters.
 */
Relation
lb_table_open(LbTable table, pg_attribute_unused() int64 counter_id,
			  LOCKMODE mode)
{
	return table_open(table_oid(table), mode);
}

void
lb_probe_begin(LbProbe *probe, LbTable table, int64 counter_id, int nkeys)
{
	probe->heap = lb_table_open(table, counter_id, AccessShareLock);
	probe->index = index_open(lb_primary_key(probe->heap), AccessShareLock);
	probe->slot = table_slot_create(probe->heap, NULL);
	probe->scan = lb_index_beginscan(probe->heap, probe->index,
									 GetActiveSnapshot(), nkeys);
	probe->nkeys = nkeys;
	probe->context = CurrentMemoryContext;
}

/* The first row of those keys in that direction, or NULL. */
TupleTableSlot *
lb_probe(LbProbe *probe, ScanKey keys, ScanDirection direction)
{
	MemoryContext old = MemoryContextSwitchTo(probe->context);

	index_rescan(probe->scan, keys, probe->nkeys, NULL, 0);
	MemoryContextSwitchTo(old);
	return lb_probe_next(probe, direction);
}

/*
 * The row of a whole key, or NULL.  While somebody holds an old snapshot,
 * every version of a row that has come since is still in the index, and those
 * of one key lie there in the order of the table: the newest comes last.  Who
 * looks from there does not pass by all the others.
 */
TupleTableSlot *
lb_probe_row(LbProbe *probe, ScanKey keys)
{
	return lb_probe(probe, keys, BackwardScanDirection);
}

/* The row after the last one of the same keys, or NULL. */
TupleTableSlot *
lb_probe_next(LbProbe *probe, ScanDirection direction)
{
	MemoryContext old = MemoryContextSwitchTo(probe->context);
	bool		found = index_getnext_slot(probe->scan, direction, probe->slot);

	MemoryContextSwitchTo(old);
	return found ? probe->slot : NULL;
}

void
lb_probe_end(LbProbe *probe)
{
	index_endscan(probe->scan);
	ExecDropSingleTupleTableSlot(probe->slot);
	index_close(probe->index, AccessShareLock);
	table_close(probe->heap, AccessShareLock);
}

void
lb_key_int64(ScanKey key, AttrNumber column, int64 value)
{
	ScanKeyInit(key, column, BTEqualStrategyNumber, F_INT8EQ,
				Int64GetDatum(value));
}

/* Higher numbers. */
void
lb_key_int64_above(ScanKey key, AttrNumber column, int64 value)
{
	ScanKeyInit(key, column, BTGreaterStrategyNumber, F_INT8GT,
				Int64GetDatum(value));
}

/* That number and lower ones. */
void
lb_key_int64_up_to(ScanKey key, AttrNumber column, int64 value)
{
	ScanKeyInit(key, column, BTLessEqualStrategyNumber, F_INT8LE,
				Int64GetDatum(value));
}

void
lb_key_char(ScanKey key, AttrNumber column, char value)
{
	ScanKeyInit(key, column, BTEqualStrategyNumber, F_CHAREQ,
				CharGetDatum(value));
}

void
lb_key_int32(ScanKey key, AttrNumber column, int32 value)
{
	ScanKeyInit(key, column, BTEqualStrategyNumber, F_INT4EQ,
				Int32GetDatum(value));
}

void
lb_key_int16(ScanKey key, AttrNumber column, int16 value)
{
	ScanKeyInit(key, column, BTEqualStrategyNumber, F_INT2EQ,
				Int16GetDatum(value));
}

void
lb_key_time(ScanKey key, AttrNumber column, TimestampTz value)
{
	ScanKeyInit(key, column, BTEqualStrategyNumber, F_TIMESTAMPTZ_EQ,
				TimestampTzGetDatum(value));
}

/* Times of a stretch: from one on, and before another. */
void
lb_key_from(ScanKey key, AttrNumber column, TimestampTz value)
{
	ScanKeyInit(key, column, BTGreaterEqualStrategyNumber, F_TIMESTAMPTZ_GE,
				TimestampTzGetDatum(value));
}

void
lb_key_before(ScanKey key, AttrNumber column, TimestampTz value)
{
	ScanKeyInit(key, column, BTLessStrategyNumber, F_TIMESTAMPTZ_LT,
				TimestampTzGetDatum(value));
}

/* Text of the collation "C". */
void
lb_key_text(ScanKey key, AttrNumber column, Datum value)
{
	ScanKeyEntryInitialize(key, 0, column, BTEqualStrategyNumber, InvalidOid,
						   C_COLLATION_OID, F_TEXTEQ, value);
}
