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
#include "projection/news.h"

/* Rows fetched from the log at a time. */
#define FETCH_ROWS		1000

/*
 * A clock may be set back, and a failover may bring a slower one; events
 * are looked for this far before the time at which they can have come in.
 */
#define CLOCK_SLACK		USECS_PER_DAY

static TimestampTz
search_from(const LbWatermark *before)
{
	if (TIMESTAMP_NOT_FINITE(before->floor))
		return DT_NOBEGIN;
	return before->floor - CLOCK_SLACK;
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

	lb_leaf_scan_begin(&scan, search_from(before), DT_NOEND, false);
	while (lb_leaf_scan_next(&scan, &leaf))
	{
		LbNews		news = leaf_news(&leaf, before->xmax, settled, nsettled);

		if (news != LB_NO_NEWS)
			return news;
	}
	return LB_NO_NEWS;
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
		TimestampTzGetDatum(search_from(before)), Int64GetDatum(limit)
	};
	uint64		xid = 0;
	bool		isnull;

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

#define LOGGED_COLUMNS \
	"SELECT e.counter_id, e.version, e.delta, e.event_time, e.ingest_time, " \
	"e.event_id, e.kind, e.member FROM lb.event e WHERE "

static Portal
open_log(const LbWatermark *before, const LbWatermark *now, bool everything)
{
	static const char *const all =
		LOGGED_COLUMNS "e.xid <> $2 OR e.origin <> $3";
	static const char *const news =
		LOGGED_COLUMNS "e.xid >= $1 AND e.xid < $6 AND e.xid <> $2 AND e.origin = $3 AND e.ingest_time >= $4 "
		"UNION ALL "
		LOGGED_COLUMNS "e.xid = ANY ($5) AND e.origin = $3 AND e.ingest_time >= $4";
	Oid			types[6] = {XID8OID, XID8OID, INT4OID, TIMESTAMPTZOID,
	XID8ARRAYOID, XID8OID};
	Datum		values[6];
	Datum	   *settled;
	int			nsettled;

	settled = settled_since(before, now, &nsettled);
	values[0] = FullTransactionIdGetDatum(FullTransactionIdFromU64(before->xmax));
	values[1] = FullTransactionIdGetDatum(GetTopFullTransactionId());
	values[2] = Int32GetDatum(lb_current_origin());
	values[3] = TimestampTzGetDatum(search_from(before));
	values[4] = PointerGetDatum(construct_array(settled, nsettled, XID8OID,
												sizeof(uint64), FLOAT8PASSBYVAL,
												TYPALIGN_DOUBLE));
	values[5] = FullTransactionIdGetDatum(FullTransactionIdFromU64(now->xmax));
	return SPI_cursor_open_with_args(NULL, everything ? all : news, 6, types,
									 values, NULL, true, CURSOR_OPT_NO_SCROLL);
}

/* With counted, rows have two more columns that say whether it has them. */
static void
count_fetched(LbRound *round, const SPITupleTable *fetched, uint64 n,
			  const LbWatermark *counted, int32 origin)
{
	for (uint64 row = 0; row < n; row++)
	{
		Datum		values[10];
		bool		nulls[10];
		LbLogged	event;
		text	   *member;

		heap_deform_tuple(fetched->vals[row], fetched->tupdesc, values, nulls);
		if (counted != NULL && DatumGetInt32(values[9]) == origin &&
			!lb_watermark_has(counted, DatumGetUInt64(values[8])))
			continue;
		member = DatumGetTextPP(values[7]);
		event.counter_id = DatumGetInt64(values[0]);
		event.version = DatumGetInt16(values[1]);
		event.delta = DatumGetInt64(values[2]);
		event.event_time = DatumGetTimestampTz(values[3]);
		event.ingest_time = DatumGetTimestampTz(values[4]);
		event.event_id = DatumGetInt64(values[5]);
		event.kind = DatumGetChar(values[6]);
		event.member.data = VARDATA_ANY(member);
		event.member.len = VARSIZE_ANY_EXHDR(member);
		lb_round_event(round, &event);
	}
}

static void
count_all(LbRound *round, Portal portal, const LbWatermark *counted)
{
	int32		origin = lb_current_origin();

	for (;;)
	{
		SPITupleTable *fetched;
		uint64		n;

		CHECK_FOR_INTERRUPTS();
		SPI_cursor_fetch(portal, true, FETCH_ROWS);
		fetched = SPI_tuptable;
		n = SPI_processed;
		if (n > 0)
			count_fetched(round, fetched, n, counted, origin);
		SPI_freetuptable(fetched);
		if (n == 0)
			break;
	}
	SPI_cursor_close(portal);
	lb_round_flush(round);
}

/*
 * Hand every new event to the round; with everything, the whole log.  The
 * events are read with the active snapshot, which is the one of "now".
 */
void
lb_news_count(LbRound *round, const LbWatermark *before, const LbWatermark *now,
			  bool everything)
{
	count_all(round, open_log(before, now, everything), NULL);
}

/*
 * Hand what has been counted of one counter to the round again: of this
 * cluster what the watermark has, of others what was adopted.
 */
void
lb_news_recount(LbRound *round, const LbWatermark *counted, int64 counter_id)
{
	static const char *const sql =
		"SELECT e.counter_id, e.version, e.delta, e.event_time, e.ingest_time, "
		"e.event_id, e.kind, e.member, e.xid, e.origin FROM lb.event e "
		"WHERE e.counter_id = $1 AND (e.origin = $2 "
		"OR e.origin = ANY (ARRAY(SELECT a.origin FROM lb.adopted a)))";
	Oid			types[2] = {INT8OID, INT4OID};
	Datum		values[2] = {Int64GetDatum(counter_id),
	Int32GetDatum(lb_current_origin())};

	count_all(round,
			  SPI_cursor_open_with_args(NULL, sql, 2, types, values, NULL, true,
										CURSOR_OPT_NO_SCROLL), counted);
}
