/*-------------------------------------------------------------------------
 *
 * news.c
 *	  The events that a round has to count.
 *
 * New is what the round's snapshot sees and the last watermark did not have:
 * events of transactions from its xmax on, and of those it listed as under
 * way that have since committed.  The first are found by one range of the
 * index on xid, the second by a probe each.  A scan from the old xmin would
 * read again everything since the oldest writer that is still open.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/xid8.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "log/leaf.h"
#include "log/vacant.h"
#include "projection/news.h"

/* Rows fetched from the log at a time. */
#define FETCH_ROWS		1000

/*
 * A clock may be set back, and a failover may bring a slower one; events
 * are looked for this far before the time at which they can have come in.
 */
#define CLOCK_SLACK		USECS_PER_DAY

/* From which ingest_time on the log can hold what that watermark has not. */
static TimestampTz
news_from(const LbWatermark *before)
{
	if (TIMESTAMP_NOT_FINITE(before->floor))
		return DT_NOBEGIN;
	return before->floor - CLOCK_SLACK;
}

/* A walk over the partitions that can hold it. */
void
lb_news_scan_begin(LbLeafScan *scan, const LbWatermark *before)
{
	lb_leaf_scan_begin(scan, news_from(before), DT_NOEND, false);
}

bool
lb_news_scan_next(LbLeafScan *scan, LbLeaf *leaf)
{
	while (lb_leaf_scan_next(scan, leaf))
		if (!lb_leaf_is_vacant(leaf))
			return true;
	return false;
}

/* Transactions that the last round saw under way and this one sees committed. */
static Datum *
settled_since(const LbWatermark *before, const LbWatermark *now, int *n)
{
	Datum	   *xids = palloc((before->nxip + 1) * sizeof(Datum));

	*n = 0;
	for (int i = 0; i < before->nxip; i++)
		if (lb_watermark_has(now, before->xip[i]))
			xids[(*n)++] = FullTransactionIdGetDatum(FullTransactionIdFromU64(before->xip[i]));
	return xids;
}

/* Does the snapshot see an event of these transactions in the index? */
static bool
probe(Relation heap, Relation index, StrategyNumber strategy, RegProcedure proc,
	  Datum xid)
{
	Datum		own = FullTransactionIdGetDatum(GetTopFullTransactionId());
	TupleTableSlot *slot = table_slot_create(heap, NULL);
	IndexScanDesc scan = lb_index_beginscan(heap, index, GetActiveSnapshot(), 1);
	ScanKeyData key;
	bool		found = false;

	ScanKeyInit(&key, 1, strategy, proc, xid);
	index_rescan(scan, &key, 1, NULL, 0);
	while (!found && index_getnext_slot(scan, ForwardScanDirection, slot))
	{
		bool		isnull;
		Datum		of = slot_getattr(slot, LB_EVENT_XID, &isnull);

		CHECK_FOR_INTERRUPTS();
		found = DatumGetUInt64(of) != DatumGetUInt64(own);
	}
	index_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	return found;
}

static LbNews
index_news(Relation heap, Oid indexid, uint64 xmax, const Datum *settled,
		   int nsettled)
{
	Relation	index = index_open(indexid, AccessShareLock);
	bool		found;

	found = probe(heap, index, BTGreaterEqualStrategyNumber, F_XID8GE,
				  FullTransactionIdGetDatum(FullTransactionIdFromU64(xmax)));
	for (int i = 0; !found && i < nsettled; i++)
		found = probe(heap, index, BTEqualStrategyNumber, F_XID8EQ, settled[i]);
	index_close(index, AccessShareLock);
	return found ? LB_NEWS : LB_NO_NEWS;
}

static LbNews
leaf_news(const LbLeaf *leaf, uint64 xmax, const Datum *settled, int nsettled)
{
	Relation	heap = lb_leaf_open(leaf);
	Oid			index;
	LbNews		news = LB_NEWS_UNKNOWN;

	if (heap == NULL)
		return LB_NO_NEWS;		/* dropped, so it was counted */
	index = lb_leaf_find_xid_index(heap);
	if (OidIsValid(index))
		news = index_news(heap, index, xmax, settled, nsettled);
	table_close(heap, AccessShareLock);
	return news;
}

/*
 * Is there anything to count?  A few index probes, however many counters and
 * partitions there are.  Unknown while a restore has not made the indexes.
 */
LbNews
lb_news_exist(const LbWatermark *before, const LbWatermark *now)
{
	LbLeafScan	scan;
	LbLeaf		leaf;
	int			nsettled;
	Datum	   *settled = settled_since(before, now, &nsettled);

	lb_news_scan_begin(&scan, before);
	while (lb_news_scan_next(&scan, &leaf))
	{
		LbNews		news = leaf_news(&leaf, before->xmax, settled, nsettled);

		if (news != LB_NO_NEWS)
			return news;
	}
	return LB_NO_NEWS;
}

/* How many entries the index has from that transaction on, up to a limit. */
static int64
count_entries(const LbLeaf *leaf, uint64 xmax, int64 limit)
{
	Relation	heap = lb_leaf_open(leaf);
	Oid			indexid = heap == NULL ? InvalidOid : lb_leaf_find_xid_index(heap);
	Relation	index;
	IndexScanDesc scan;
	ScanKeyData key;
	int64		n = 0;

	if (!OidIsValid(indexid))
	{
		if (heap != NULL)
			table_close(heap, AccessShareLock);
		return heap == NULL ? 0 : limit;
	}
	index = index_open(indexid, AccessShareLock);
	scan = lb_index_beginscan(heap, index, GetActiveSnapshot(), 1);
	ScanKeyInit(&key, 1, BTGreaterEqualStrategyNumber, F_XID8GE,
				FullTransactionIdGetDatum(FullTransactionIdFromU64(xmax)));
	index_rescan(scan, &key, 1, NULL, 0);
	while (n < limit && index_getnext_tid(scan, ForwardScanDirection) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		n++;
	}
	index_endscan(scan);
	index_close(index, AccessShareLock);
	table_close(heap, AccessShareLock);
	return n;
}

/* Are there fewer news than that?  The usual case, so no plan is made for it. */
static bool
fewer_than(const LbWatermark *before, int64 limit)
{
	LbLeafScan	scan;
	LbLeaf		leaf;

	lb_news_scan_begin(&scan, before);
	while (limit > 0 && lb_news_scan_next(&scan, &leaf))
		limit -= count_entries(&leaf, before->xmax, limit);
	return limit > 0;
}

/*
 * The transaction of the event that has limit new ones before it, at which a
 * long backlog can be cut; zero if there are fewer.
 */
uint64
lb_news_cut(const LbWatermark *before, int64 limit)
{
	Oid			types[3] = {XID8OID, TIMESTAMPTZOID, INT8OID};
	Datum		values[3] = {
		FullTransactionIdGetDatum(FullTransactionIdFromU64(before->xmax)),
		TimestampTzGetDatum(news_from(before)), Int64GetDatum(limit)
	};
	uint64		xid = 0;
	bool		isnull;

	if (fewer_than(before, limit))
		return 0;
	if (SPI_execute_with_args("SELECT e.xid FROM lb.event e WHERE e.xid >= $1 "
							  "AND e.ingest_time >= $2 ORDER BY e.xid OFFSET $3 LIMIT 1",
							  3, types, values, NULL, true, 1) != SPI_OK_SELECT)
		elog(ERROR, "could not measure the backlog");
	if (SPI_processed == 1)
		xid = DatumGetUInt64(SPI_getbinval(SPI_tuptable->vals[0],
										   SPI_tuptable->tupdesc, 1, &isnull));
	SPI_freetuptable(SPI_tuptable);
	return xid;
}

/* What counting reads of a row of the log. */
LbLogged
lb_logged_event(TupleTableSlot *slot)
{
	LbLogged	event;
	bool		isnull;
	text	   *member;

	slot_getsomeattrs(slot, LB_EVENT_MEMBER);
	member = DatumGetTextPP(slot_getattr(slot, LB_EVENT_MEMBER, &isnull));
	event.counter_id = lb_slot_int64(slot, LB_EVENT_COUNTER_ID);
	event.event_id = lb_slot_int64(slot, LB_EVENT_EVENT_ID);
	event.delta = lb_slot_int64(slot, LB_EVENT_DELTA);
	event.event_time = lb_slot_int64(slot, LB_EVENT_EVENT_TIME);
	event.ingest_time = lb_slot_int64(slot, LB_EVENT_INGEST_TIME);
	event.version = DatumGetInt16(slot_getattr(slot, LB_EVENT_VERSION, &isnull));
	event.kind = DatumGetChar(slot_getattr(slot, LB_EVENT_KIND, &isnull));
	event.member.data = VARDATA_ANY(member);
	event.member.len = VARSIZE_ANY_EXHDR(member);
	event.slot = slot;
	return event;
}

/* A walk over the new events of one partition. */
typedef struct NewsScan
{
	LbRound    *round;
	IndexScanDesc scan;
	TupleTableSlot *slot;
	uint64		own;			/* the round's transaction, which is not counted */
	int32		origin;
} NewsScan;

static void
count_row(NewsScan *news)
{
	LbLogged	event;
	bool		isnull;

	CHECK_FOR_INTERRUPTS();
	if ((uint64) lb_slot_int64(news->slot, LB_EVENT_XID) == news->own ||
		DatumGetInt32(slot_getattr(news->slot, LB_EVENT_ORIGIN, &isnull)) != news->origin)
		return;
	event = lb_logged_event(news->slot);
	lb_round_event(news->round, &event);
}

static void
count_found(NewsScan *news, ScanKey keys, int nkeys)
{
	index_rescan(news->scan, keys, nkeys, NULL, 0);
	while (index_getnext_slot(news->scan, ForwardScanDirection, news->slot))
		count_row(news);
}

/* Transactions from the old xmax on, then those that have ended since. */
static void
count_by_index(NewsScan *news, Relation heap, Oid indexid, const LbWatermark *before,
			   const LbWatermark *now, const Datum *settled, int nsettled)
{
	Relation	index = index_open(indexid, AccessShareLock);
	ScanKeyData keys[2];

	news->scan = lb_index_beginscan(heap, index, GetActiveSnapshot(), 2);
	ScanKeyInit(&keys[0], 1, BTGreaterEqualStrategyNumber, F_XID8GE,
				FullTransactionIdGetDatum(FullTransactionIdFromU64(before->xmax)));
	ScanKeyInit(&keys[1], 1, BTLessStrategyNumber, F_XID8LT,
				FullTransactionIdGetDatum(FullTransactionIdFromU64(now->xmax)));
	count_found(news, keys, 2);
	index_endscan(news->scan);

	news->scan = lb_index_beginscan(heap, index, GetActiveSnapshot(), 1);
	for (int i = 0; i < nsettled; i++)
	{
		ScanKeyInit(&keys[0], 1, BTEqualStrategyNumber, F_XID8EQ, settled[i]);
		count_found(news, keys, 1);
	}
	index_endscan(news->scan);
	index_close(index, AccessShareLock);
}

/* A partition that a restore has not given its indexes yet. */
static void
count_by_reading(NewsScan *news, Relation heap, const LbWatermark *before,
				 const LbWatermark *now)
{
	TableScanDesc scan = table_beginscan(heap, GetActiveSnapshot(), 0, NULL);

	while (table_scan_getnextslot(scan, ForwardScanDirection, news->slot))
	{
		uint64		xid = (uint64) lb_slot_int64(news->slot, LB_EVENT_XID);

		if (!lb_watermark_has(before, xid) && lb_watermark_has(now, xid))
			count_row(news);
	}
	table_endscan(scan);
}

static void
count_leaf(NewsScan *news, const LbLeaf *leaf, const LbWatermark *before,
		   const LbWatermark *now, const Datum *settled, int nsettled)
{
	Relation	heap = lb_leaf_open(leaf);
	Oid			index;

	if (heap == NULL)
		return;					/* dropped just now, hence counted long ago */
	news->slot = table_slot_create(heap, NULL);
	index = lb_leaf_find_xid_index(heap);
	if (OidIsValid(index))
		count_by_index(news, heap, index, before, now, settled, nsettled);
	else
		count_by_reading(news, heap, before, now);
	ExecDropSingleTupleTableSlot(news->slot);
	table_close(heap, AccessShareLock);
}

/*
 * The news, partition by partition.  No plan is made: that of the log with
 * all its partitions would cost more than a small round.
 */
static void
count_news(LbRound *round, const LbWatermark *before, const LbWatermark *now)
{
	NewsScan	news = {
		.round = round,
		.own = U64FromFullTransactionId(GetTopFullTransactionId()),
		.origin = lb_current_origin()
	};
	LbLeafScan	leaves;
	LbLeaf		leaf;
	int			nsettled;
	Datum	   *settled = settled_since(before, now, &nsettled);

	lb_news_scan_begin(&leaves, before);
	while (lb_news_scan_next(&leaves, &leaf))
		count_leaf(&news, &leaf, before, now, settled, nsettled);
}

/*
 * Rows of the log from a query; of this cluster's own events, with counted,
 * only those that it has.
 */
static void
count_selected(LbRound *round, Portal portal, const LbWatermark *counted)
{
	int32		origin = lb_current_origin();

	for (;;)
	{
		TupleTableSlot *slot;
		SPITupleTable *fetched;
		uint64		n;

		CHECK_FOR_INTERRUPTS();
		SPI_cursor_fetch(portal, true, FETCH_ROWS);
		fetched = SPI_tuptable;
		n = SPI_processed;
		slot = MakeSingleTupleTableSlot(fetched->tupdesc, &TTSOpsHeapTuple);
		for (uint64 row = 0; row < n; row++)
		{
			LbLogged	event;
			bool		isnull;

			ExecStoreHeapTuple(fetched->vals[row], slot, false);
			if (counted != NULL &&
				DatumGetInt32(slot_getattr(slot, LB_EVENT_ORIGIN, &isnull)) == origin &&
				!lb_watermark_has(counted, (uint64) lb_slot_int64(slot, LB_EVENT_XID)))
				continue;
			event = lb_logged_event(slot);
			lb_round_event(round, &event);
		}
		ExecDropSingleTupleTableSlot(slot);
		SPI_freetuptable(fetched);
		if (n == 0)
			break;
	}
	SPI_cursor_close(portal);
}

/* The whole log, whatever the transaction, but for the round's own. */
static void
count_everything(LbRound *round)
{
	Oid			types[2] = {XID8OID, INT4OID};
	Datum		values[2] = {FullTransactionIdGetDatum(GetTopFullTransactionId()),
	Int32GetDatum(lb_current_origin())};

	count_selected(round,
				   SPI_cursor_open_with_args(NULL,
											 "SELECT e.* FROM lb.event e WHERE e.xid <> $1 OR e.origin <> $2",
											 2, types, values, NULL, true,
											 CURSOR_OPT_NO_SCROLL), NULL);
}

/*
 * Hand every new event to the round; with everything, the whole log.  The
 * events are read with the active snapshot, which is the one of "now".
 */
void
lb_news_count(LbRound *round, const LbWatermark *before, const LbWatermark *now,
			  bool everything)
{
	if (everything)
		count_everything(round);
	else
		count_news(round, before, now);
	lb_round_flush(round);
}

/*
 * Hand what has been counted of one counter to the round again: of this
 * cluster what the watermark has, of others what was adopted.
 */
void
lb_news_recount(LbRound *round, const LbWatermark *counted, int64 counter_id)
{
	static const char *const sql =
		"SELECT e.* FROM lb.event e "
		"WHERE e.counter_id = $1 AND (e.origin = $2 "
		"OR e.origin = ANY (ARRAY(SELECT a.origin FROM lb.adopted a)))";
	Oid			types[2] = {INT8OID, INT4OID};
	Datum		values[2] = {Int64GetDatum(counter_id),
	Int32GetDatum(lb_current_origin())};

	count_selected(round,
				   SPI_cursor_open_with_args(NULL, sql, 2, types, values, NULL, true,
											 CURSOR_OPT_NO_SCROLL), counted);
	lb_round_flush(round);
}
