/*-------------------------------------------------------------------------
 *
 * tail.c
 *	  A member's events that no round has counted yet.
 *
 * They are what the caller's snapshot sees of the log and the watermark of
 * the newest round, read with the same snapshot, does not have.  So whatever
 * commits meanwhile, an event is either in the version that is read or here,
 * and never in both.  The caller's own events are here until a round after its
 * commit counts them: no watermark has a transaction that is under way.
 *
 * In each partition that can hold such events one descent of the index
 * (counter_id, member, xid) finds them, or that there are none.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/xid8.h"

#include "log/leaf.h"
#include "projection/late.h"
#include "projection/news.h"
#include "read/tail.h"

/* The columns of the index. */
enum
{
	KEY_COUNTER_ID = 1, KEY_MEMBER, KEY_XID
};

#define NKEYS	3

typedef struct TailScan
{
	const LbTailOf *of;
	LbTail	   *tail;
	const LbWatermark *counted;
	int32		origin;
	ScanKeyData keys[NKEYS];
} TailScan;

/* Add an event to what it counts for, by the rules of a round. */
static void
add_event(const LbTailOf *of, const LbLogged *event, LbTail *tail)
{
	LbWindow	bucket = lb_bucket_window(of->grain, event->event_time, of->zone);
	bool		late;

	if (!lb_in_window(of->window, bucket.opens))
		return;
	late = event->kind != LB_KIND_HISTORY &&
		lb_is_late(of->period, of->starts, of->lateness, of->zone,
				   event->event_time, event->ingest_time);
	lb_accum_event(of->op, of->size, late ? &tail->late : &tail->in_time, event);
}

/*
 * The watermark is asked about the transaction in the index, so that what
 * was counted since the oldest open transaction began costs no row.
 */
static bool
is_counted(const TailScan *tail, IndexScanDesc scan)
{
	bool		isnull;
	Datum		xid = index_getattr(scan->xs_itup, KEY_XID, scan->xs_itupdesc, &isnull);

	return lb_watermark_has(tail->counted,
							U64FromFullTransactionId(DatumGetFullTransactionId(xid)));
}

static void
read_index(TailScan *tail, Relation heap, Relation index)
{
	TupleTableSlot *slot = table_slot_create(heap, NULL);
	IndexScanDesc scan = lb_index_beginscan(heap, index, GetActiveSnapshot(), NKEYS);

	scan->xs_want_itup = true;
	index_rescan(scan, tail->keys, NKEYS, NULL, 0);
	while (index_getnext_tid(scan, ForwardScanDirection) != NULL)
	{
		LbLogged	event;
		bool		isnull;

		CHECK_FOR_INTERRUPTS();
		if (is_counted(tail, scan) || !index_fetch_heap(scan, slot) ||
			DatumGetInt32(slot_getattr(slot, LB_EVENT_ORIGIN, &isnull)) != tail->origin)
			continue;
		event = lb_logged_event(slot);
		add_event(tail->of, &event, tail->tail);
	}
	index_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
}

/* One without the index is being restored: until that is over nothing of it counts. */
static void
read_leaf(TailScan *tail, const LbLeaf *leaf)
{
	Relation	heap = lb_leaf_open(leaf);
	Oid			indexid;

	if (heap == NULL)
		return;					/* dropped, so it was counted */
	indexid = lb_leaf_find_member_index(heap);
	if (OidIsValid(indexid))
	{
		Relation	index = index_open(indexid, AccessShareLock);

		read_index(tail, heap, index);
		index_close(index, AccessShareLock);
	}
	table_close(heap, AccessShareLock);
}

static void
set_keys(TailScan *tail, LbText member)
{
	const LbWatermark *counted = tail->counted;
	uint64		first = counted->nxip > 0 ? counted->xip[0] : counted->xmax;

	lb_key_int64(&tail->keys[0], KEY_COUNTER_ID, tail->of->counter_id);
	lb_key_text(&tail->keys[1], KEY_MEMBER,
				PointerGetDatum(cstring_to_text_with_len(member.data, member.len)));
	ScanKeyInit(&tail->keys[2], KEY_XID, BTGreaterEqualStrategyNumber, F_XID8GE,
				FullTransactionIdGetDatum(FullTransactionIdFromU64(first)));
}

/*
 * What the member's uncounted events add up to.  Those of another cluster are
 * counted as a whole or not at all, so they are none.
 */
void
lb_tail_read(const LbTailOf *of, LbText member, LbTail *result)
{
	TailScan	tail = {.of = of, .tail = result};
	LbLeafScan	leaves;
	LbLeaf		leaf;

	memset(result, 0, sizeof(*result));
	if (member.len < 1 || member.len > LB_TEXT_MAX || !lb_known_origin(&tail.origin))
		return;
	tail.counted = lb_watermark_of(of->newest);
	set_keys(&tail, member);
	lb_news_scan_begin(&leaves, tail.counted);
	while (lb_news_scan_next(&leaves, &leaf))
		read_leaf(&tail, &leaf);
}
