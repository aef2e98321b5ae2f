/*-------------------------------------------------------------------------
 *
 * watermark.c
 *	  Which transactions a round has counted.
 *
 * Event ids are drawn before their transactions commit, so no id can say how
 * far counting has come; a snapshot can.  What a snapshot does not say is
 * the transaction that took it: a round never counts the events of its own
 * transaction, and its watermark lists that transaction as still under way,
 * so that the next round does.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "access/transam.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"
#include "utils/xid8.h"

#include "definition/gate.h"
#include "projection/watermark.h"
#include "table/probe.h"

/* Parse "xmin:xmax:xip,xip,…", the text of a pg_snapshot. */
static void
parse_snapshot(const char *text, LbWatermark *mark)
{
	char	   *p;
	int			room = 1;

	for (const char *c = text; *c != '\0'; c++)
		room += *c == ',';
	mark->xmin = strtoull(text, &p, 10);
	mark->xmax = strtoull(p + 1, &p, 10);
	mark->xip = palloc((room + 1) * sizeof(uint64));	/* one more for our own */
	mark->nxip = 0;
	while (*p != '\0' && p[1] != '\0')
		mark->xip[mark->nxip++] = strtoull(p + 1, &p, 10);
}

static char *
format_snapshot(const LbWatermark *mark)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, UINT64_FORMAT ":" UINT64_FORMAT ":",
					 mark->xmin, mark->xmax);
	for (int i = 0; i < mark->nxip; i++)
		appendStringInfo(&text, "%s" UINT64_FORMAT, i ? "," : "", mark->xip[i]);
	return text.data;
}

/* Has the transaction been counted? */
bool
lb_watermark_has(const LbWatermark *mark, uint64 xid)
{
	if (xid >= mark->xmax)
		return false;
	for (int i = 0; i < mark->nxip; i++)
		if (mark->xip[i] == xid)
			return false;
	return true;
}

/* Where the newest round came to; false, and nothing counted, before the first. */
bool
lb_watermark_read(LbWatermark *mark)
{
	static LbPlan plan = {
		"SELECT r.snapshot::text, r.as_of, r.floor, r.next FROM lb.round r "
		"ORDER BY r.number DESC LIMIT 1",
		0
	};
	bool		found;
	bool		isnull;

	memset(mark, 0, sizeof(*mark));
	mark->as_of = DT_NOBEGIN;
	mark->floor = DT_NOBEGIN;
	found = lb_run(&plan, NULL, NULL, false, 1, SPI_OK_SELECT) == 1;
	if (found)
	{
		HeapTuple	row = SPI_tuptable->vals[0];
		TupleDesc	desc = SPI_tuptable->tupdesc;

		parse_snapshot(SPI_getvalue(row, desc, 1), mark);
		mark->as_of = DatumGetTimestampTz(SPI_getbinval(row, desc, 2, &isnull));
		mark->floor = DatumGetTimestampTz(SPI_getbinval(row, desc, 3, &isnull));
		mark->next = DatumGetUInt64(SPI_getbinval(row, desc, 4, &isnull));
	}
	SPI_freetuptable(SPI_tuptable);
	return found;
}

/* The columns of lb.round that a reader's watermark consists of. */
enum
{
	NUMBER = 1,
	SNAPSHOT = 2,
	FLOOR = 4
};

/* Parse the round's row into memory that stays; *mark is freed of its last. */
static void
keep_round(TupleTableSlot *slot, LbWatermark *mark)
{
	MemoryContext old;
	bool		isnull;
	char	   *text = DatumGetCString(DirectFunctionCall1(pg_snapshot_out,
														   slot_getattr(slot, SNAPSHOT, &isnull)));

	if (mark->xip != NULL)
		pfree(mark->xip);
	memset(mark, 0, sizeof(*mark));
	old = MemoryContextSwitchTo(TopMemoryContext);
	parse_snapshot(text, mark);
	MemoryContextSwitchTo(old);
	mark->as_of = DT_NOBEGIN;	/* neither is asked for by who only reads */
	mark->floor = lb_slot_int64(slot, FLOOR);
}

/*
 * What the round of that number, which the active snapshot sees, had counted;
 * nothing if it is zero.  Good until the next call.  No number of a round
 * returns, so what one came to is read once.
 */
const LbWatermark *
lb_watermark_of(int64 number)
{
	static LbWatermark nothing = {.as_of = DT_NOBEGIN, .floor = DT_NOBEGIN};
	static LbWatermark known;
	static int64 known_number;
	static Oid	known_in;
	LbProbe		probe;
	ScanKeyData key;
	TupleTableSlot *slot;

	if (number == 0)
		return &nothing;
	if (number == known_number && known_in == lb_relation_oid("round"))
		return &known;
	known_number = 0;
	lb_key_int64(&key, NUMBER, number);
	lb_probe_begin(&probe, LB_TABLE_ROUND, 0, 1);
	slot = lb_probe(&probe, &key, ForwardScanDirection);
	if (slot == NULL)
		elog(ERROR, "round " INT64_FORMAT " is gone", number);
	keep_round(slot, &known);
	lb_probe_end(&probe);
	known_number = number;
	known_in = lb_relation_oid("round");
	return &known;
}

static void
add_own_transaction(LbWatermark *mark)
{
	uint64		own = U64FromFullTransactionId(GetTopFullTransactionId());
	int			i;

	if (own >= mark->xmax)
		return;
	for (i = mark->nxip; i > 0 && mark->xip[i - 1] > own; i--)
		mark->xip[i] = mark->xip[i - 1];
	if (i > 0 && mark->xip[i - 1] == own)
		elog(ERROR, "a snapshot lists the transaction that took it");
	mark->xip[i] = own;
	mark->nxip++;
}

/*
 * The watermark of the active snapshot, taken after the clock showed as_of.
 * A transaction that read its clock before then had its number before, which
 * is below "next".  It need not be in the snapshot's list: those numbered
 * after the newest that has ended are beyond xmax, whether begun or not.  So
 * the floor moves up to the last round's clock reading once all transactions
 * numbered before that reading have ended, and not sooner.
 */
void
lb_watermark_take(LbWatermark *mark, const LbWatermark *before,
				  TimestampTz as_of)
{
	static LbPlan plan = {"SELECT pg_current_snapshot()::text", 0};

	lb_run(&plan, NULL, NULL, true, 1, SPI_OK_SELECT);
	parse_snapshot(SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1),
				   mark);
	SPI_freetuptable(SPI_tuptable);
	add_own_transaction(mark);
	mark->as_of = as_of;
	mark->next = U64FromFullTransactionId(ReadNextFullTransactionId());
	mark->floor = mark->xmin < before->next ? before->floor : before->as_of;
}

/* Stop before xid, which is not above the oldest transaction under way. */
void
lb_watermark_cut(LbWatermark *mark, const LbWatermark *before, uint64 xid)
{
	mark->xmin = xid;
	mark->xmax = xid;
	mark->nxip = 0;
	mark->as_of = before->as_of;
	mark->next = before->next;
	mark->floor = before->floor;
}

/*
 * The round's row: with it everything that the round did becomes visible.
 * costs may be NULL.
 */
void
lb_watermark_write(const LbWatermark *mark, int64 number, int64 events,
				   int64 rankings, const LbCosts *costs)
{
	static LbPlan plan = {
		"INSERT INTO lb.round (number, snapshot, as_of, floor, events, rankings, next, "
		"kinds, kind_events, kind_usecs) "
		"VALUES ($1, $2::pg_snapshot, $3, $4, $5, $6, $7, $8, $9, $10)",
		10, {INT8OID, TEXTOID, TIMESTAMPTZOID, TIMESTAMPTZOID, INT8OID, INT8OID, XID8OID,
		TEXTARRAYOID, INT8ARRAYOID, INT8ARRAYOID}
	};
	char		nulls[] = "       nnn";
	Datum		values[10] = {Int64GetDatum(number),
		CStringGetTextDatum(format_snapshot(mark)),
		TimestampTzGetDatum(mark->as_of), TimestampTzGetDatum(mark->floor),
		Int64GetDatum(events), Int64GetDatum(rankings),
	FullTransactionIdGetDatum(FullTransactionIdFromU64(mark->next))};

	if (costs != NULL)
	{
		values[7] = lb_cost_names(costs);
		values[8] = lb_cost_numbers(costs->events, costs->n);
		values[9] = lb_cost_numbers(costs->usecs, costs->n);
		nulls[7] = nulls[8] = nulls[9] = ' ';
	}
	lb_run(&plan, values, nulls, false, 0, SPI_OK_INSERT);
}
