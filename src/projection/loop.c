/*-------------------------------------------------------------------------
 *
 * loop.c
 *	  lb_refresh_loop: rounds one after another, each committed.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "storage/latch.h"
#include "utils/guc.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "definition/gate.h"
#include "definition/lookup.h"
#include "projection/refresh.h"

PG_FUNCTION_INFO_V1(lb_refresh_loop);

/* A loop of the usual length tidies once. */
#define TIDY_EVERY		(2 * USECS_PER_MINUTE)

static int64
span_arg(FunctionCallInfo fcinfo, int argno, const char *name)
{
	lb_check_not_null(fcinfo, argno, name);
	return lb_span_usecs(PG_GETARG_INTERVAL_P(argno), name);
}

/*
 * What is lost of a round that counted nothing is a moment of freshness:
 * such a commit does not wait for the disk.
 */
static void
commit_without_waiting(void)
{
	(void) set_config_option("synchronous_commit", "off", PGC_USERSET,
							 PGC_S_SESSION, GUC_ACTION_LOCAL, true, 0, false);
}

/* Its own connection, so that a loop leaves no memory behind from round to round. */
static void
one_round(bool own_transaction)
{
	LbRefreshed result;
	LbGate		gate;

	lb_gate_enter(&gate);
	lb_spi_connect();
	lb_refresh_once(&result, 0, false, own_transaction, NULL);
	lb_spi_finish();
	lb_gate_leave(&gate);
	if (own_transaction && result.idle)
		commit_without_waiting();
}

/* Old versions and rounds away, partitions ahead; true if there is more to do. */
static bool
tidy(void)
{
	LbGate		gate;
	bool		isnull;
	bool		more;

	lb_gate_enter(&gate);
	PushActiveSnapshot(GetLatestSnapshot());
	lb_spi_connect();
	if (SPI_execute("SELECT lb._tidy()", false, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not tidy");
	more = DatumGetBool(SPI_getbinval(SPI_tuptable->vals[0],
									  SPI_tuptable->tupdesc, 1, &isnull));
	lb_spi_finish();
	PopActiveSnapshot();
	lb_gate_leave(&gate);
	return more;
}

static void
sleep_until(TimestampTz until)
{
	for (;;)
	{
		long		ms;

		CHECK_FOR_INTERRUPTS();
		ms = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), until);
		if (ms <= 0)
			return;
		(void) WaitLatch(MyLatch,
						 WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 ms, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
	}
}

/*
 * Rounds until the end.  On a standby wait for a promotion; the transaction
 * that saw it happen is still a read-only one, so it ends first.
 */
static void
loop(TimestampTz end, int64 every)
{
	TimestampTz tidy_at = DT_NOBEGIN;

	for (;;)
	{
		TimestampTz next = GetCurrentTimestamp() + every;

		CHECK_FOR_INTERRUPTS();
		if (!RecoveryInProgress() && !XactReadOnly)
		{
			if (GetCurrentTimestamp() >= tidy_at)
			{
				bool		more = tidy();

				/* a piece at a time, with rounds between */
				SPI_commit();
				tidy_at = GetCurrentTimestamp() + (more ? 0 : TIDY_EVERY);
			}
			one_round(true);
		}
		SPI_commit();
		if (next >= end)
			break;
		sleep_until(next);
	}
}

/* CALL lb_refresh_loop(duration, every) */
Datum
lb_refresh_loop(PG_FUNCTION_ARGS)
{
	int64		duration = span_arg(fcinfo, 0, "duration");
	int64		every = span_arg(fcinfo, 1, "every");
	bool		atomic = fcinfo->context == NULL ||
		!IsA(fcinfo->context, CallContext) ||
		castNode(CallContext, fcinfo->context)->atomic;

	if (every < USECS_PER_SEC / 1000)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"every\" must be at least a millisecond"),
				 errhint("50 to 1000 milliseconds suit most boards.")));
	if (SPI_connect_ext(atomic ? 0 : SPI_OPT_NONATOMIC) != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	/* the first transaction is as all that follow it will be */
	lb_check_read_committed("a refresh");
	if (atomic)
	{
		lb_check_can_write("refresh");
		one_round(false);
	}
	else
		loop(GetCurrentTimestamp() + duration, every);
	lb_spi_finish();
	PG_RETURN_VOID();
}
