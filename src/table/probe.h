/*-------------------------------------------------------------------------
 *
 * probe.h
 *	  One row by its key, without a plan.
 *
 * This is the one resolver from (logical table, counter) to relation: nobody
 * else opens the extension's tables directly.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_PROBE_H
#define LB_PROBE_H

#include "leaderboard.h"

#include "access/genam.h"
#include "access/skey.h"
#include "executor/tuptable.h"
#include "utils/relcache.h"
#include "utils/timestamp.h"

typedef enum LbTable
{
	LB_TABLE_ROUND,
	LB_TABLE_VERSION,
	LB_TABLE_BUCKET,
	LB_TABLE_STANDING,
	LB_TABLE_MOVED,
	LB_TABLE_PAGE,
	LB_TABLE_MEMBERSHIP,
	LB_TABLE_RANKING,
	LB_TABLE_SKETCH
} LbTable;

/* A primary key's index, open for reading with the active snapshot. */
typedef struct LbProbe
{
	Relation	heap;
	Relation	index;
	IndexScanDesc scan;
	TupleTableSlot *slot;
	int			nkeys;
	MemoryContext context;		/* of the scan, which allocates as it goes */
} LbProbe;

extern Relation lb_table_open(LbTable table, int64 counter_id, LOCKMODE mode);
extern void lb_probe_begin(LbProbe *probe, LbTable table, int64 counter_id,
						   int nkeys);
extern TupleTableSlot *lb_probe(LbProbe *probe, ScanKey keys,
								ScanDirection direction);
extern TupleTableSlot *lb_probe_row(LbProbe *probe, ScanKey keys);
extern TupleTableSlot *lb_probe_next(LbProbe *probe, ScanDirection direction);
extern void lb_probe_end(LbProbe *probe);

extern void lb_key_int64(ScanKey key, AttrNumber column, int64 value);
extern void lb_key_int64_above(ScanKey key, AttrNumber column, int64 value);
extern void lb_key_int64_up_to(ScanKey key, AttrNumber column, int64 value);
extern void lb_key_char(ScanKey key, AttrNumber column, char value);
extern void lb_key_int32(ScanKey key, AttrNumber column, int32 value);
extern void lb_key_int16(ScanKey key, AttrNumber column, int16 value);
extern void lb_key_time(ScanKey key, AttrNumber column, TimestampTz value);
extern void lb_key_from(ScanKey key, AttrNumber column, TimestampTz value);
extern void lb_key_before(ScanKey key, AttrNumber column, TimestampTz value);
extern void lb_key_text(ScanKey key, AttrNumber column, Datum value);

static inline int64
lb_slot_int64(TupleTableSlot *slot, int column)
{
	bool		isnull;

	return DatumGetInt64(slot_getattr(slot, column, &isnull));
}

#endif							/* LB_PROBE_H */
