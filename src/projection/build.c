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
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "log/lock.h"
#include "projection/build.h"
#include "projection/refresh.h"

PG_FUNCTION_INFO_V1(lb_board_created);
PG_FUNCTION_INFO_V1(lb_lock_rounds);

typedef struct Building
{
	LbRound    *round;
	LbCounted  *counted;
	char		span;
} Building;

static void
add_bucket(void *context, const LbBucket *bucket)
{
	Building   *building = context;

	lb_round_bucket(building->round, building->counted, bucket->member,
					bucket->stretch, building->span, bucket->late, &bucket->accum);
}

/* Do all of the board's windows consist of whole days? */
static bool
has_whole_days(const LbBoard *board)
{
	return board->period != LB_PERIOD_HOUR && board->period != LB_PERIOD_MINUTES &&
		board->period != LB_PERIOD_HOURS && board->starts % USECS_PER_DAY == 0;
}

/*
 * The stretch of time from which the board is built: what it covers, or
 * everything; where it needs the counter's grain, the windows for which that
 * is still there.
 */
static LbWindow
time_to_build(const LbBoard *board, TimestampTz as_of)
{
	LbWindow	all = {DT_NOBEGIN, DT_NOEND};
	TimestampTz horizon;

	if (lb_period_rolls(board->period))
		return lb_board_covers(board, as_of);
	if (has_whole_days(board))
		return all;
	horizon = lb_counter_horizon(board->counter_id);
	if (!TIMESTAMP_NOT_FINITE(horizon))
	{
		LbWindow	window = lb_board_window(board, horizon);

		all.opens = window.opens < horizon ? window.closes : window.opens;
	}
	return all;
}

/*
 * What runs beside the rounds takes their place: their lock until the
 * transaction ends, their settings, and a snapshot that sees what the last one
 * left.  Everything allocated until the end goes with it.
 */
void
lb_build_begin(LbBuildScope *scope)
{
	scope->context = AllocSetContextCreate(CurrentMemoryContext, "leaderboard build",
										   ALLOCSET_DEFAULT_SIZES);
	lb_lock(LB_LOCK_ROUND, 0, 0, true);
	CommandCounterIncrement();
	PushActiveSnapshot(GetLatestSnapshot());
	lb_spi_connect();
	scope->nest = lb_round_settings();
	scope->caller = MemoryContextSwitchTo(scope->context);
}

void
lb_build_end(LbBuildScope *scope)
{
	MemoryContextSwitchTo(scope->caller);
	lb_round_settings_end(scope->nest);
	lb_spi_finish();
	PopActiveSnapshot();
	MemoryContextDelete(scope->context);
}

/*
 * Build the board as the last round would have it.  In the middle of a restore
 * its counter may not be there yet, nor anything that was counted.
 */
void
lb_build_board(int64 counter_id, int64 board_id)
{
	LbWatermark last;
	LbCounter	counter;
	Building	building = {0};

	/* its buckets may have been counted again in this very transaction */
	CommandCounterIncrement();
	PushActiveSnapshot(GetLatestSnapshot());
	lb_watermark_read(&last);
	building.round = lb_round_begin(lb_next_round(), last.as_of);
	building.round->rereads_buckets = true;
	if (lb_find_counter_version(counter_id, 0, &counter))
		building.counted = lb_counted(building.round, counter_id,
									  counter.version, board_id);
	if (building.counted != NULL && building.counted->nboards > 0)
	{
		const LbBoard *board = &building.counted->boards[0].board;

		building.span = has_whole_days(board) ? LB_SPAN_DAY : LB_SPAN_GRAIN;
		lb_within_all(&counter, time_to_build(board, last.as_of), building.span,
					  add_bucket, &building);
	}
	lb_round_flush(building.round);
	lb_build_publish(building.round, &last);
	PopActiveSnapshot();
}

/*
 * What is published beside the rounds has the number of one, which counted
 * nothing: so no version is newer than the newest round.
 */
void
lb_build_publish(LbRound *round, const LbWatermark *last)
{
	int64		published = lb_publish(round);

	if (published > 0)
		lb_watermark_write(last, round->number, 0, published, NULL);
}

/* AFTER INSERT ON lb.board FOR EACH ROW */
Datum
lb_board_created(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;
	TupleDesc	desc;
	int64		counter_id;
	int64		board_id;
	LbBuildScope scope;
	bool		isnull;

	if (!CALLED_AS_TRIGGER(fcinfo))
		elog(ERROR, "lb_board_created was not called by a trigger");
	desc = RelationGetDescr(trigger->tg_relation);
	board_id = DatumGetInt64(heap_getattr(trigger->tg_trigtuple,
										  SPI_fnumber(desc, "board_id"), desc, &isnull));
	counter_id = DatumGetInt64(heap_getattr(trigger->tg_trigtuple,
											SPI_fnumber(desc, "counter_id"), desc, &isnull));

	lb_build_begin(&scope);
	lb_build_board(counter_id, board_id);
	lb_build_end(&scope);
	return PointerGetDatum(NULL);
}

/*
 * lb._lock_rounds(what): no round runs until the transaction ends, and what the
 * last one wrote is there to be deleted.
 */
Datum
lb_lock_rounds(PG_FUNCTION_ARGS)
{
	lb_check_read_committed(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	lb_lock(LB_LOCK_ROUND, 0, 0, true);
	PG_RETURN_VOID();
}
