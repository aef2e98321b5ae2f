/*-------------------------------------------------------------------------
 *
 * refresh.c
 *	  One round: what is new in the log becomes the next version.
 *
 * A round takes its lock, then a snapshot, and then reads; it writes buckets,
 * standings, versions and its own watermark in one transaction, so that a
 * crash anywhere loses nothing and counts nothing twice.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "commands/sequence.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "log/leaf.h"
#include "log/lock.h"
#include "projection/news.h"
#include "projection/refresh.h"

PG_FUNCTION_INFO_V1(lb_refresh);
PG_FUNCTION_INFO_V1(lb_refresh_at);

/* A round of the loop counts about this many events, then commits. */
#define ROUND_EVENTS	500000

/* Numbers of rounds are promised to the log's row of its origin in such steps. */
#define ROUNDS_PROMISED	1000000

static void
promise_rounds(Datum system, int64 number)
{
	static LbPlan plan = {
		"UPDATE lb.origin o SET rounds = $2 FROM lb.home h "
		"WHERE h.system_identifier = $1 AND o.origin = h.origin", 2, {INT8OID, INT8OID}
	};
	Datum		values[2] = {system, Int64GetDatum(number + ROUNDS_PROMISED)};

	lb_run(&plan, values, NULL, false, 0, SPI_OK_UPDATE);
}

/*
 * Rounds are numbered by a sequence, so that no rollback lets a number return.
 * A restore sets it to what another cluster had come to, sooner or later:
 * perhaps back, perhaps after the first rounds.  So a number is beyond that of
 * every round before, and beyond all that other clusters gave, which lb.origin
 * says.
 */
int64
lb_next_round(void)
{
	static LbPlan plan = {
		"SELECT coalesce((SELECT r.number FROM lb.round r ORDER BY r.number DESC LIMIT 1), 0), "
		"coalesce(max(o.rounds) FILTER (WHERE h.origin IS NULL), 0), "
		"coalesce(max(o.rounds) FILTER (WHERE h.origin IS NOT NULL), 0) "
		"FROM lb.origin o LEFT JOIN lb.home h ON h.origin = o.origin AND h.system_identifier = $1",
		1, {INT8OID}
	};
	Oid			sequence = lb_relation_oid("round_number_seq");
	int64		number = nextval_internal(sequence, false);
	Datum		values[1] = {Int64GetDatum((int64) GetSystemIdentifier())};
	int64		found[3];

	lb_run(&plan, values, NULL, false, 1, SPI_OK_SELECT);
	for (int i = 0; i < (int) lengthof(found); i++)
	{
		bool		isnull;

		found[i] = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0],
											   SPI_tuptable->tupdesc, i + 1, &isnull));
	}
	SPI_freetuptable(SPI_tuptable);
	if (number <= Max(found[0], found[1]))
	{
		number = Max(found[0], found[1]) + 1;
		(void) DirectFunctionCall2(setval_oid, ObjectIdGetDatum(sequence),
								   Int64GetDatum(number));
	}
	if (number > found[2])
		promise_rounds(values[0], number);
	return number;
}

static void
set_local(const char *name, const char *value)
{
	(void) set_config_option(name, value, PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
}

/*
 * Settings for the statements of a round.  Its plans are kept and must not
 * depend on how large the tables were when they were made: every table is
 * reached by its key.
 */
int
lb_round_settings(void)
{
	int			nest = NewGUCNestLevel();

	set_local("search_path", "pg_catalog, pg_temp");
	set_local("enable_seqscan", "off");
	set_local("enable_hashjoin", "off");
	set_local("enable_mergejoin", "off");
	set_local("jit", "off");
	return nest;
}

void
lb_round_settings_end(int nest)
{
	AtEOXact_GUC(true, nest);
}

/* Does the log hold events of a cluster that was never counted as a whole? */
static bool
has_foreign_origin(int32 own)
{
	static LbPlan plan = {
		"SELECT 1 FROM lb.origin o WHERE o.origin <> $1 "
		"AND NOT EXISTS (SELECT FROM lb.adopted a WHERE a.origin = o.origin)",
		1, {INT4OID}
	};
	Datum		values[1] = {Int32GetDatum(own)};
	bool		found = lb_run(&plan, values, NULL, false, 1, SPI_OK_SELECT) == 1;

	SPI_freetuptable(SPI_tuptable);
	return found;
}

/*
 * Is a restore under way?  All partitions have their indexes once all events
 * are in; and each of the tables of definitions comes in as a whole.  Boards
 * may come later: a new board is built from what is counted.
 */
static bool
is_restoring(void)
{
	static LbPlan plan = {
		"SELECT 1 FROM lb.counter c JOIN lb.tenant t ON t.tenant_id = c.tenant_id "
		"JOIN lb.counter_version v ON v.counter_id = c.counter_id AND v.version = c.version",
		0
	};
	LbLeafScan	scan;
	LbLeaf		leaf;
	bool		defined;

	lb_leaf_scan_begin(&scan, DT_NOBEGIN, DT_NOEND, false);
	if (!lb_leaf_scan_next(&scan, &leaf))
		return false;			/* a log that was never opened */
	defined = lb_run(&plan, NULL, NULL, false, 1, SPI_OK_SELECT) == 1;
	SPI_freetuptable(SPI_tuptable);
	return !defined || lb_log_is_restoring();
}

static void
run_script(const char *const *statements, int n)
{
	for (int i = 0; i < n; i++)
		if (SPI_execute(statements[i], false, 0) < 0)
			elog(ERROR, "could not execute \"%s\"", statements[i]);
}

/* Nobody appends, and nothing is counted: the whole log is news. */
static void
begin_adoption(void)
{
	static const char *const script[] = {
		"DELETE FROM lb.standing",
		"DELETE FROM lb.sketch",
		"DELETE FROM lb.page",
		"DELETE FROM lb.moved",
		"DELETE FROM lb.version",
		"DELETE FROM lb.ranking",
		"DELETE FROM lb.bucket",
		"DELETE FROM lb.counter_horizon",
		"INSERT INTO lb.adopted (origin) SELECT o.origin FROM lb.origin o "
		"ON CONFLICT DO NOTHING"
	};

	run_script(script, lengthof(script));
}

static void
lock_log(void)
{
	if (SPI_execute("LOCK TABLE lb.event IN SHARE MODE", false, 0) < 0)
		elog(ERROR, "could not lock lb.event");
}

/* Rankings made from nothing are what they are; all others move on with the time. */
static void
count_news(LbRound *round, const LbWatermark *before, const LbWatermark *now,
		   LbNews news, bool everything, LbRefreshed *result, int64 counter_id)
{
	LbCosts		costs;

	lb_scope_news_count(round);
	if (news == LB_NEWS)
		lb_news_count(round, before, now, everything);
	if (!everything && lb_may_slide(before->as_of, now->as_of))
		lb_slide(round, before->as_of);
	result->events = round->events;
	result->rankings = lb_publish(round);
	result->idle = result->events == 0 && result->rankings == 0;
	lb_cost_charge(round, NULL);
	lb_cost_sum(round, &costs);
	lb_watermark_write(now, round->number, result->events, result->rankings,
					   costs.n > 0 ? &costs : NULL);
	if (counter_id == 0)
		return;
	result->events = 0;
	result->rankings = 0;
	for (LbCounted *counted = round->first; counted != NULL; counted = counted->next)
		if (counted->counter.counter_id == counter_id)
		{
			result->events += counted->events;
			result->rankings += counted->rankings;
		}
}

/* Shorten a long backlog to what one transaction should count. */
static void
cut_backlog(const LbWatermark *before, LbWatermark *now)
{
	uint64		xid = lb_news_cut(before, ROUND_EVENTS);

	if (xid == 0)
		return;
	xid = Min(xid, now->xmin);
	if (xid > before->xmax)
		lb_watermark_cut(now, before, xid);
}

/* The round proper, under its lock and with its snapshot active. */
static void
run_round(LbRefreshed *result, int64 counter_id, bool cut, TimestampTz as_of,
		  bool adopting)
{
	LbWatermark before;
	LbWatermark now;
	LbNews		news;

	lb_watermark_read(&before);
	lb_watermark_take(&now, &before, as_of);
	news = adopting ? LB_NEWS : lb_news_exist(&before, &now);
	if (news == LB_NEWS_UNKNOWN)
	{
		result->restoring = true;
		return;
	}
	if (adopting)
		begin_adoption();
	else if (news == LB_NEWS && cut)
		cut_backlog(&before, &now);
	result->as_of = now.as_of;
	result->idle = news == LB_NO_NEWS && !lb_may_slide(before.as_of, now.as_of) &&
		!lb_scope_news_exist();
	if (result->idle)
		lb_watermark_write(&now, lb_next_round(), 0, 0, NULL);
	else
		count_news(lb_round_begin(lb_next_round(), now.as_of), &before, &now,
				   news, adopting, result, counter_id);
}

/*
 * Run a round as the owner, connected to SPI.  With wait, wait for one under
 * way; otherwise leave it to that.  With cut, a long backlog is counted in
 * several rounds.  counter_id, if not zero, is the counter to report; time, if
 * not NULL, what the clock is to say.
 */
void
lb_refresh_once(LbRefreshed *result, int64 counter_id, bool wait, bool cut,
				const TimestampTz *time)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext context;
	TimestampTz as_of;
	bool		adopting;
	int			nest;

	memset(result, 0, sizeof(*result));
	if (!lb_lock(LB_LOCK_ROUND, 0, 0, wait))
		return;
	(void) GetTopFullTransactionId();
	context = AllocSetContextCreate(caller, "leaderboard round",
									ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(context);
	nest = lb_round_settings();

	PushActiveSnapshot(GetLatestSnapshot());
	adopting = has_foreign_origin(lb_current_origin());
	if (adopting && !(result->restoring = is_restoring()))
	{
		lock_log();
		result->restoring = is_restoring();
	}
	PopActiveSnapshot();

	if (!result->restoring)
	{
		as_of = time != NULL ? *time : GetCurrentTimestamp();
		PushActiveSnapshot(GetLatestSnapshot());
		run_round(result, counter_id, cut, as_of, adopting);
		PopActiveSnapshot();
	}
	lb_round_settings_end(nest);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
}

/* What waits for rounds must see what they left, which an older snapshot does not. */
void
lb_check_read_committed(const char *what)
{
	if (IsolationUsesXactSnapshot())
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("%s needs the isolation level READ COMMITTED", what),
				 errhint("Do it outside of this transaction, and where default_transaction_isolation asks for more, SET it to 'read committed' first.")));
}

static Datum
refreshed_row(FunctionCallInfo fcinfo, const LbRefreshed *result)
{
	TupleDesc	desc;
	Datum		values[3] = {Int64GetDatum(result->events),
		Int64GetDatum(result->rankings), (Datum) 0};
	bool		nulls[3] = {false, false, false};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "lb_refresh must return a row");
	nulls[2] = result->restoring || TIMESTAMP_NOT_FINITE(result->as_of);
	if (!nulls[2])
		values[2] = DirectFunctionCall2(timestamp_mi,
										TimestampTzGetDatum(GetCurrentTimestamp()),
										TimestampTzGetDatum(result->as_of));
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls));
}

static Datum
refresh(FunctionCallInfo fcinfo, const TimestampTz *as_of)
{
	LbRefreshed result;
	LbCounter	counter = {0};
	LbGate		gate;
	char	   *name = PG_ARGISNULL(0) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(0));

	lb_check_can_write("refresh");
	lb_check_read_committed("a refresh");
	lb_gate_enter(&gate);
	lb_spi_connect();
	if (name != NULL)
		lb_get_counter(name, &counter);
	lb_refresh_once(&result, counter.counter_id, true, false, as_of);
	lb_spi_finish();
	lb_gate_leave(&gate);
	if (result.restoring)
		ereport(WARNING,
				(errmsg("the event log is being restored; nothing was counted"),
				 errhint("Refresh again when the restore is complete; lb.health tells.")));
	PG_RETURN_DATUM(refreshed_row(fcinfo, &result));
}

/* lb_refresh(counter) -> events, rankings, lag */
Datum
lb_refresh(PG_FUNCTION_ARGS)
{
	return refresh(fcinfo, NULL);
}

/* lb._refresh(counter, as_of): the same with the time as an argument. */
Datum
lb_refresh_at(PG_FUNCTION_ARGS)
{
	TimestampTz as_of;

	lb_check_not_null(fcinfo, 1, "as_of");
	as_of = PG_GETARG_TIMESTAMPTZ(1);
	return refresh(fcinfo, &as_of);
}
