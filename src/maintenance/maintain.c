/*-------------------------------------------------------------------------
 *
 * maintain.c
 *	  lb_maintain: the daily household, a step a transaction.
 *
 * The steps are functions of maintenance.sql.  Here is in which order they
 * run, that each commits, and what is tried again: whatever stops a call, the
 * next one goes on where it was.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "storage/latch.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "definition/gate.h"
#include "log/lock.h"
#include "projection/refresh.h"

PG_FUNCTION_INFO_V1(lb_maintain);

/* What somebody is in the way of is tried so often, a moment apart. */
#define ATTEMPTS		50
#define ATTEMPT_MS		200

#define STEP_ARGS		6

/* The arguments of the call, and what it has done so far. */
typedef struct Maintenance
{
	MemoryContext context;		/* outlives the transactions */
	TimestampTz started_at;
	Datum		hot;
	Datum		archive;
	Datum		archive_tablespace;
	bool		archives;
	ArrayType  *drop_partitions;	/* or NULL */
	int64		collected;
	int64		expired;
	ArrayBuildState *archived;
	ArrayBuildState *dropped;
	ArrayBuildState *left_over;
} Maintenance;

/* A statement with its arguments, and the columns of its one row. */
typedef struct Step
{
	const char *sql;
	int			nargs;
	Oid			types[STEP_ARGS];
	Datum		args[STEP_ARGS];
	char		nulls[STEP_ARGS];
	Datum		columns[3];
	bool		isnull[3];
} Step;

static void
add_arg(Step *step, Oid type, Datum value, bool isnull)
{
	step->types[step->nargs] = type;
	step->args[step->nargs] = value;
	step->nulls[step->nargs++] = isnull ? 'n' : ' ';
}

static void
read_columns(Step *step, MemoryContext context)
{
	TupleDesc	desc = SPI_tuptable->tupdesc;
	MemoryContext old = MemoryContextSwitchTo(context);

	for (int i = 0; i < Min(desc->natts, (int) lengthof(step->columns)); i++)
	{
		Form_pg_attribute column = TupleDescAttr(desc, i);
		Datum		value = SPI_getbinval(SPI_tuptable->vals[0], desc, i + 1,
										  &step->isnull[i]);

		if (!step->isnull[i])
			step->columns[i] = datumCopy(value, column->attbyval, column->attlen);
	}
	MemoryContextSwitchTo(old);
}

/*
 * Run a step as the owner, and commit it.  False if another call is at work:
 * of two at once, one at most gets anywhere.
 */
static bool
run(Maintenance *m, Step *step)
{
	LbGate		gate;
	bool		alone;

	CHECK_FOR_INTERRUPTS();
	alone = lb_lock(LB_LOCK_MAINTENANCE, 0, 0, false);
	if (alone)
	{
		lb_gate_enter(&gate);
		PushActiveSnapshot(GetLatestSnapshot());
		lb_spi_connect();
		if (SPI_execute_with_args(step->sql, step->nargs, step->types, step->args,
								  step->nulls, false, 0) != SPI_OK_SELECT ||
			SPI_processed != 1)
			elog(ERROR, "could not execute \"%s\"", step->sql);
		read_columns(step, m->context);
		lb_spi_finish();
		PopActiveSnapshot();
		lb_gate_leave(&gate);
	}
	SPI_commit();
	return alone;
}

static void
note(Maintenance *m, ArrayBuildState **list, Datum name)
{
	*list = accumArrayResult(*list, name, false, TEXTOID, m->context);
}

static void
pause_a_moment(void)
{
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 ATTEMPT_MS, PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
}

/* A step that somebody may be in the way of: until it succeeds, or too often. */
static bool
insist(Maintenance *m, Step *step, bool (*succeeded) (const Step *step))
{
	for (int i = 0; i < ATTEMPTS; i++)
	{
		if (!run(m, step))
			return false;
		if (succeeded(step))
			return true;
		pause_a_moment();
	}
	return false;
}

static bool
is_true(const Step *step)
{
	return DatumGetBool(step->columns[0]);
}

static bool
is_not_busy(const Step *step)
{
	return strcmp(TextDatumGetCString(step->columns[0]), "busy") != 0;
}

static void
leave(Maintenance *m, Datum partition)
{
	note(m, &m->left_over, partition);
	ereport(WARNING,
			(errmsg("partition \"%s\" of the event log is in use and was left as it is",
					TextDatumGetCString(partition)),
			 errhint("Call lb_maintain() again; look for a transaction that has been open for long.")));
}

/* Old versions and rounds away, a second at a time. */
static bool
collect(Maintenance *m)
{
	Step		step;

	do
	{
		step = (Step) {.sql = "SELECT s.collected, s.more FROM lb._maintain_versions() s"};
		if (!run(m, &step))
			return false;
		m->collected += DatumGetInt64(step.columns[0]);
	} while (DatumGetBool(step.columns[1]));
	return true;
}

/* Buckets that nobody needs by the grain, piece by piece. */
static bool
expire(Maintenance *m)
{
	Step		step;
	int			failures = 0;

	do
	{
		step = (Step) {.sql = "SELECT s.expired, s.more FROM lb._expire_buckets() s"};
		if (!run(m, &step))
			return false;
		if (!step.isnull[0])
		{
			m->expired += DatumGetInt64(step.columns[0]);
			failures = 0;
			continue;
		}
		if (++failures >= ATTEMPTS)
			break;
		pause_a_moment();
	} while (DatumGetBool(step.columns[1]));
	return true;
}

static void
drop_partitions(Maintenance *m)
{
	Datum	   *names;
	bool	   *nulls;
	int			n;

	if (m->drop_partitions == NULL)
		return;
	deconstruct_array(m->drop_partitions, TEXTOID, -1, false, TYPALIGN_INT,
					  &names, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		Step		step = {.sql = "SELECT lb._drop_partition($1, $2)"};

		add_arg(&step, TEXTOID, names[i], false);
		add_arg(&step, INTERVALOID, m->archive, false);
		if (!insist(m, &step, is_not_busy))
			leave(m, names[i]);
		else if (strcmp(TextDatumGetCString(step.columns[0]), "dropped") == 0)
			note(m, &m->dropped, names[i]);
	}
}

/* Move one partition; its name is columns[0] of what was found. */
static bool
archive_one(Maintenance *m, const Step *found)
{
	Step		guard = {.sql = "SELECT lb._guard_default($1, $2, $3)"};
	Step		move = {.sql = "SELECT lb._archive_partition($1, $2, $3, $4)"};

	add_arg(&guard, TIMESTAMPTZOID, found->columns[1], false);
	add_arg(&guard, TIMESTAMPTZOID, found->columns[2], false);
	add_arg(&guard, BOOLOID, BoolGetDatum(false), false);
	if (!insist(m, &guard, is_true))
		return false;
	guard.args[2] = BoolGetDatum(true);
	if (!insist(m, &guard, is_true))
		return false;
	add_arg(&move, TEXTOID, found->columns[0], false);
	add_arg(&move, TIMESTAMPTZOID, found->columns[1], false);
	add_arg(&move, TIMESTAMPTZOID, found->columns[2], false);
	add_arg(&move, NAMEOID, m->archive_tablespace, false);
	return run(m, &move) && is_true(&move);
}

static void
archive_partitions(Maintenance *m)
{
	TimestampTz beyond = DT_NOBEGIN;

	while (m->archives)
	{
		Step		next = {.sql = "SELECT n.partition, n.opens, n.closes FROM lb._next_to_archive($1, $2, $3) n"};

		add_arg(&next, INTERVALOID, m->hot, false);
		add_arg(&next, NAMEOID, m->archive_tablespace, false);
		add_arg(&next, TIMESTAMPTZOID, TimestampTzGetDatum(beyond), false);
		if (!run(m, &next) || next.isnull[0])
			return;
		if (archive_one(m, &next))
			note(m, &m->archived, next.columns[0]);
		else
			leave(m, next.columns[0]);
		beyond = DatumGetTimestampTz(next.columns[1]);
	}
}

static Datum
names_of(Maintenance *m, ArrayBuildState *list)
{
	if (list == NULL)
		return PointerGetDatum(construct_empty_array(TEXTOID));
	return makeArrayResult(list, m->context);
}

static bool
check(Maintenance *m)
{
	Step		step = {.sql = "SELECT lb._check_maintain($1, $2, $3, $4)"};

	add_arg(&step, INTERVALOID, m->hot, false);
	add_arg(&step, INTERVALOID, m->archive, false);
	add_arg(&step, NAMEOID, m->archive_tablespace, !m->archives);
	add_arg(&step, TEXTARRAYOID, PointerGetDatum(m->drop_partitions),
			m->drop_partitions == NULL);
	return run(m, &step);
}

static void
finish(Maintenance *m)
{
	Step		step = {.sql = "SELECT lb._finish_maintenance($1, $2, $3, $4, $5, $6)"};

	add_arg(&step, TIMESTAMPTZOID, TimestampTzGetDatum(m->started_at), false);
	add_arg(&step, INT8OID, Int64GetDatum(m->collected), false);
	add_arg(&step, INT8OID, Int64GetDatum(m->expired), false);
	add_arg(&step, TEXTARRAYOID, names_of(m, m->archived), false);
	add_arg(&step, TEXTARRAYOID, names_of(m, m->dropped), false);
	add_arg(&step, TEXTARRAYOID, names_of(m, m->left_over), false);
	(void) run(m, &step);
}

static void
maintain(Maintenance *m)
{
	Step		ahead = {.sql = "SELECT lb._partitions_ahead()"};

	if (!check(m) || !run(m, &ahead) || !collect(m) || !expire(m))
	{
		ereport(NOTICE, (errmsg("another lb_maintain() is at work")));
		return;
	}
	drop_partitions(m);
	archive_partitions(m);
	finish(m);
}

/* An interval argument, or its default for NULL, that outlives transactions. */
static Datum
interval_arg(FunctionCallInfo fcinfo, int argno, const char *if_null)
{
	Datum		value;

	if (!PG_ARGISNULL(argno))
		value = PG_GETARG_DATUM(argno);
	else
		value = DirectFunctionCall3(interval_in, CStringGetDatum(if_null),
									ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
	return datumCopy(value, false, sizeof(Interval));
}

/* CALL lb_maintain(hot, archive, archive_tablespace, drop_partitions) */
Datum
lb_maintain(PG_FUNCTION_ARGS)
{
	Maintenance m = {.context = PortalContext};
	MemoryContext old;

	if (RecoveryInProgress() || XactReadOnly)
		PG_RETURN_VOID();		/* silent, as the loop is */
	if (fcinfo->context == NULL || !IsA(fcinfo->context, CallContext) ||
		castNode(CallContext, fcinfo->context)->atomic)
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("lb_maintain() commits each of its steps"),
				 errhint("CALL it by itself, outside of a transaction block and of functions.")));
	lb_check_read_committed("lb_maintain()");
	old = MemoryContextSwitchTo(m.context);
	m.started_at = GetCurrentTimestamp();
	m.hot = interval_arg(fcinfo, 0, "90 days");
	m.archive = interval_arg(fcinfo, 1, "13 months");
	m.archives = !PG_ARGISNULL(2);
	if (m.archives)
		m.archive_tablespace = datumCopy(PG_GETARG_DATUM(2), false, NAMEDATALEN);
	if (!PG_ARGISNULL(3))
		m.drop_partitions = PG_GETARG_ARRAYTYPE_P_COPY(3);
	MemoryContextSwitchTo(old);
	if (SPI_connect_ext(SPI_OPT_NONATOMIC) != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	maintain(&m);
	lb_spi_finish();
	PG_RETURN_VOID();
}
