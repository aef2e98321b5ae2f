/*-------------------------------------------------------------------------
 *
 * build.c
 *	  A new board over events already counted.
 *
 * The rankings are built from the buckets, by the code that a round runs, in
 * the transaction that makes the board.  Rounds wait meanwhile, so what is in
 * the buckets is what the last round counted; submissions do not.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "log/lock.h"
#include "projection/accum_row.h"
#include "projection/refresh.h"
#include "projection/round.h"

#define FETCH_ROWS	1000

PG_FUNCTION_INFO_V1(lb_board_created);
PG_FUNCTION_INFO_V1(lb_lock_rounds);

static void
add_bucket(LbRound *round, HeapTuple row, TupleDesc desc, int64 counter_id,
		   int64 board_id)
{
	bool		isnull;
	text	   *name = DatumGetTextPP(SPI_getbinval(row, desc, 2, &isnull));
	LbText		member = {VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name)};
	LbWindow	bucket;
	LbAccum		accum;
	LbCounted  *counted = lb_counted(round, counter_id,
									 DatumGetInt16(SPI_getbinval(row, desc, 1, &isnull)),
									 board_id);

	bucket.opens = DatumGetTimestampTz(SPI_getbinval(row, desc, 3, &isnull));
	bucket.closes = DatumGetTimestampTz(SPI_getbinval(row, desc, 4, &isnull));
	lb_read_accum(row, desc, 6, &accum);
	lb_round_bucket(round, counted, member, bucket,
					DatumGetInt16(SPI_getbinval(row, desc, 5, &isnull)), &accum);
}

static void
add_buckets(LbRound *round, int64 counter_id, int64 board_id)
{
	Oid			types[1] = {INT8OID};
	Datum		values[1] = {Int64GetDatum(counter_id)};
	Portal		portal;

	portal = SPI_cursor_open_with_args(NULL,
									   "SELECT b.version, b.member, b.opens, b.closes, b.late, b.n, b.value, "
									   "b.wide, b.moved, b.reached_at, b.last_id "
									   "FROM lb.bucket b WHERE b.counter_id = $1",
									   1, types, values, NULL, true,
									   CURSOR_OPT_NO_SCROLL);
	for (;;)
	{
		SPITupleTable *fetched;
		uint64		n;

		CHECK_FOR_INTERRUPTS();
		SPI_cursor_fetch(portal, true, FETCH_ROWS);
		fetched = SPI_tuptable;
		n = SPI_processed;
		for (uint64 i = 0; i < n; i++)
			add_bucket(round, fetched->vals[i], fetched->tupdesc, counter_id,
					   board_id);
		SPI_freetuptable(fetched);
		if (n == 0)
			break;
	}
	SPI_cursor_close(portal);
}

static void
build_board(int64 counter_id, int64 board_id)
{
	LbRound    *round = lb_round_begin(lb_next_round());

	round->rereads_buckets = true;
	add_buckets(round, counter_id, board_id);
	lb_round_flush(round);
	lb_publish(round);
}

/* AFTER INSERT ON lb.board FOR EACH ROW */
Datum
lb_board_created(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;
	TupleDesc	desc;
	MemoryContext context;
	MemoryContext old;
	int64		counter_id;
	int64		board_id;
	int			nest;
	bool		isnull;

	if (!CALLED_AS_TRIGGER(fcinfo))
		elog(ERROR, "lb_board_created was not called by a trigger");
	desc = RelationGetDescr(trigger->tg_relation);
	board_id = DatumGetInt64(heap_getattr(trigger->tg_trigtuple,
										  SPI_fnumber(desc, "board_id"), desc, &isnull));
	counter_id = DatumGetInt64(heap_getattr(trigger->tg_trigtuple,
											SPI_fnumber(desc, "counter_id"), desc, &isnull));

	context = AllocSetContextCreate(CurrentMemoryContext, "leaderboard build",
									ALLOCSET_DEFAULT_SIZES);
	lb_lock(LB_LOCK_ROUND, 0, 0, true);
	CommandCounterIncrement();
	PushActiveSnapshot(GetLatestSnapshot());
	lb_spi_connect();
	nest = lb_round_settings();
	old = MemoryContextSwitchTo(context);
	build_board(counter_id, board_id);
	MemoryContextSwitchTo(old);
	lb_round_settings_end(nest);
	lb_spi_finish();
	PopActiveSnapshot();
	MemoryContextDelete(context);
	return PointerGetDatum(NULL);
}

/*
 * lb._lock_rounds(): no round runs until the transaction ends, and what the
 * last one wrote is there to be deleted.
 */
Datum
lb_lock_rounds(PG_FUNCTION_ARGS)
{
	lb_check_read_committed("dropping or altering a definition");
	lb_lock(LB_LOCK_ROUND, 0, 0, true);
	PG_RETURN_VOID();
}
