/*-------------------------------------------------------------------------
 *
 * recount.c
 *	  The buckets of a counter, once more from the log.
 *
 * Buckets know for which windows their events were late.  When a counter gets
 * a board whose windows settle in a way that no board of it had (a new row of
 * lb.late_class), what it has counted so far is counted again, judged by that
 * too: the same events, for the last round's watermark says which, so that no
 * value of any board changes.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/xid8.h"

#include "log/event.h"
#include "projection/build.h"
#include "projection/news.h"
#include "projection/refresh.h"
#include "projection/round.h"

PG_FUNCTION_INFO_V1(lb_late_class_created);

/* How many events the counter's buckets hold. */
static int64
events_counted(int64 counter_id)
{
	static LbPlan plan = {
		"SELECT coalesce(sum(b.n), 0)::int8 FROM lb.bucket b "
		"WHERE b.counter_id = $1 AND b.span = 'd'", 1, {INT8OID}
	};
	Datum		values[1] = {Int64GetDatum(counter_id)};
	int64		n;
	bool		isnull;

	lb_run(&plan, values, NULL, false, 1, SPI_OK_SELECT);
	n = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1,
									&isnull));
	SPI_freetuptable(SPI_tuptable);
	return n;
}

/* All of the counter's grain comes back from the log. */
static void
forget_buckets(int64 counter_id)
{
	static LbPlan buckets = {
		"DELETE FROM lb.bucket b WHERE b.counter_id = $1", 1, {INT8OID}
	};
	static LbPlan horizon = {
		"DELETE FROM lb.counter_horizon h WHERE h.counter_id = $1", 1, {INT8OID}
	};
	Datum		values[1] = {Int64GetDatum(counter_id)};

	lb_run(&buckets, values, NULL, false, 0, SPI_OK_DELETE);
	lb_run(&horizon, values, NULL, false, 0, SPI_OK_DELETE);
	CommandCounterIncrement();
}

/* Count again what the last round had counted of the counter. */
static void
recount(int64 counter_id)
{
	int64		counted = events_counted(counter_id);
	LbRound    *round;
	LbWatermark last;

	if (counted == 0)
		return;
	lb_check_read_committed("a board whose windows settle as none of its counter's did");
	lb_watermark_read(&last);
	forget_buckets(counter_id);
	round = lb_round_begin(lb_next_round(), last.as_of);
	round->recounts = true;
	lb_news_recount(round, &last, counter_id);
	lb_publish(round);
	if (events_counted(counter_id) != counted)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the log does not hold all events of the counter any more"),
				 errdetail("Which of them were late for the board's windows can be told from the log only."),
				 errhint("Leave \"starts\" and \"lateness\" out, or choose those of another board of the counter.")));
}

/* Boards of the class that are there already, for a restore brings them in any order. */
static void
rebuild_boards(int64 counter_id, int32 bit)
{
	static LbPlan forget = {
		"SELECT lb._forget_board($1, $2)", 2, {INT8OID, INT8OID}
	};
	LbBoard    *boards;
	int			n = lb_get_boards(counter_id, 0, &boards);

	for (int i = 0; i < n; i++)
	{
		Datum		values[2] = {Int64GetDatum(counter_id),
		Int64GetDatum(boards[i].board_id)};

		if (boards[i].late_bit != bit)
			continue;
		lb_run(&forget, values, NULL, false, 0, SPI_OK_SELECT);
		SPI_freetuptable(SPI_tuptable);
		lb_build_board(counter_id, boards[i].board_id);
	}
}

/* AFTER INSERT ON lb.late_class FOR EACH ROW */
Datum
lb_late_class_created(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;
	TupleDesc	desc;
	int64		counter_id;
	int32		bit;
	LbBuildScope scope;
	bool		isnull;

	if (!CALLED_AS_TRIGGER(fcinfo))
		elog(ERROR, "lb_late_class_created was not called by a trigger");
	desc = RelationGetDescr(trigger->tg_relation);
	counter_id = DatumGetInt64(heap_getattr(trigger->tg_trigtuple,
											SPI_fnumber(desc, "counter_id"), desc, &isnull));
	bit = DatumGetInt32(heap_getattr(trigger->tg_trigtuple,
									 SPI_fnumber(desc, "bit"), desc, &isnull));
	lb_build_begin(&scope);
	recount(counter_id);
	rebuild_boards(counter_id, bit);
	lb_build_end(&scope);
	return PointerGetDatum(NULL);
}
