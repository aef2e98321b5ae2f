/*-------------------------------------------------------------------------
 *
 * series.c
 *	  What a member had step by step: lb_series.
 *
 * Each step is a calendar window, and its value is what lb_value says of that
 * window: the member's days, for hours the buckets of the grain, are read once
 * in the order of time.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "projection/accum_row.h"
#include "projection/within.h"
#include "read/answer.h"

PG_FUNCTION_INFO_V1(lb_series);

#define EQ " OPERATOR(pg_catalog.=) "

#define STEPS_MAX	10000

/* The windows asked for, and the one that rows are being added to. */
typedef struct Series
{
	LbCounter	counter;
	LbPeriod	period;
	TimestampTz to;
	LbWindow	window;
	LbAccum		accum;
} Series;

static LbPeriod
period_of(const Interval *step)
{
	static const struct
	{
		LbPeriod	period;
		Interval	step;
	}			steps[] = {
		{LB_PERIOD_HOUR, {.time = USECS_PER_HOUR}},
		{LB_PERIOD_DAY, {.day = 1}},
		{LB_PERIOD_WEEK, {.day = 7}},
		{LB_PERIOD_MONTH, {.month = 1}},
		{LB_PERIOD_YEAR, {.month = 12}}
	};

	for (int i = 0; i < (int) lengthof(steps); i++)
		if (step->month == steps[i].step.month && step->day == steps[i].step.day &&
			step->time == steps[i].step.time)
			return steps[i].period;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid step"),
			 errhint("step is one of '1 hour', '1 day', '1 week', '1 month', '1 year'.")));
}

static TimestampTz
finite_arg(FunctionCallInfo fcinfo, int argno, const char *name)
{
	TimestampTz t;

	lb_check_not_null(fcinfo, argno, name);
	t = PG_GETARG_TIMESTAMPTZ(argno);
	if (TIMESTAMP_NOT_FINITE(t))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"%s\" must be a finite instant", name),
				 errhint("A series has a beginning and an end.")));
	return t;
}

static LbWindow
window_at(const Series *series, TimestampTz t)
{
	return lb_window(series->period, 0, t, series->counter.zone);
}

/* Before anything is read: are they too many? */
static void
check_length(const Series *series)
{
	LbWindow	window = series->window;

	for (int n = 1; window.closes < series->to; n++)
	{
		CHECK_FOR_INTERRUPTS();
		if (n >= STEPS_MAX)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("a series has at most %d steps", STEPS_MAX),
					 errhint("Ask for a longer step, or for a shorter time.")));
		window = window_at(series, window.closes);
	}
}

/* Nothing is a sum of zero, but no score at all; and a sum may not fit. */
static void
put_step(FunctionCallInfo fcinfo, Series *series)
{
	const LbAccum *accum = &series->accum;
	Datum		values[2] = {TimestampTzGetDatum(series->window.opens),
	Int64GetDatum((int64) accum->value)};
	bool		nulls[2] = {false, false};

	nulls[1] = !lb_accum_fits(accum) ||
		(accum->n == 0 && series->counter.op != LB_SUM);
	lb_put_row(fcinfo, values, nulls);
	series->window = window_at(series, series->window.closes);
	memset(&series->accum, 0, sizeof(series->accum));
}

static uint64
read_buckets(const Series *series, LbText member)
{
	static LbPlan plan = {
		"SELECT b.opens, b.late, b.n, b.value, b.wide, b.moved, b.reached_at, b.last_id "
		"FROM lb.bucket b WHERE b.counter_id" EQ "$1 AND b.version" EQ "$2 "
		"AND b.member" EQ "$3 AND b.span" EQ "$6 AND b.opens OPERATOR(pg_catalog.>=) $4 "
		"AND b.opens OPERATOR(pg_catalog.<) $5 ORDER BY b.opens",
		6, {INT8OID, INT2OID, TEXTOID, TIMESTAMPTZOID, TIMESTAMPTZOID, CHAROID}
	};
	Datum		values[6] = {Int64GetDatum(series->counter.counter_id),
		Int16GetDatum(series->counter.version),
		PointerGetDatum(cstring_to_text_with_len(member.data, member.len)),
		TimestampTzGetDatum(series->window.opens),
		TimestampTzGetDatum(window_at(series, series->to - 1).closes),
	CharGetDatum(series->period == LB_PERIOD_HOUR ? LB_SPAN_GRAIN : LB_SPAN_DAY)};

	return lb_run(&plan, values, NULL, true, 0, SPI_OK_SELECT);
}

static void
put_series(FunctionCallInfo fcinfo, Series *series, LbText member)
{
	uint64		n = read_buckets(series, member);
	SPITupleTable *rows = SPI_tuptable;

	for (uint64 i = 0; i < n; i++)
	{
		HeapTuple	row = rows->vals[i];
		LbAccum		accum;
		bool		isnull;
		TimestampTz opens = DatumGetTimestampTz(SPI_getbinval(row, rows->tupdesc, 1, &isnull));
		int32		late = DatumGetInt32(SPI_getbinval(row, rows->tupdesc, 2, &isnull));

		CHECK_FOR_INTERRUPTS();
		while (opens >= series->window.closes)
			put_step(fcinfo, series);
		if (late & LB_LATE(series->period))
			continue;
		lb_read_accum(row, rows->tupdesc, 3, &accum);
		lb_accum_merge(series->counter.op, &series->accum, &accum);
	}
	while (series->window.opens < series->to)
		put_step(fcinfo, series);
}

/* lb_series(counter, member, step, from_time, to_time) -> opens, value */
Datum
lb_series(PG_FUNCTION_ARGS)
{
	Series		series = {0};
	LbGate		gate;
	TimestampTz from;

	lb_check_not_null(fcinfo, 0, "counter");
	lb_check_not_null(fcinfo, 1, "member");
	lb_check_not_null(fcinfo, 2, "step");
	series.period = period_of(PG_GETARG_INTERVAL_P(2));
	from = finite_arg(fcinfo, 3, "from_time");
	series.to = finite_arg(fcinfo, 4, "to_time");
	lb_materialize(fcinfo);
	lb_gate_enter(&gate);
	lb_spi_connect();
	lb_get_counter(text_to_cstring(PG_GETARG_TEXT_PP(0)), &series.counter);
	if (from < series.to)
	{
		series.window = window_at(&series, from);
		check_length(&series);
		lb_check_within(&series.counter, series.window);
		put_series(fcinfo, &series, lb_text_arg(fcinfo, 1));
	}
	lb_spi_finish();
	lb_gate_leave(&gate);
	return (Datum) 0;
}
