/*-------------------------------------------------------------------------
 *
 * series.c
 *	  What a member had step by step: lb_series.
 *
 * Each step is a calendar window, and its value is what lb_value says of that
 * window: the member's buckets are read once, in the order of time.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "projection/sketch.h"
#include "projection/tracked.h"
#include "projection/within.h"
#include "read/answer.h"

PG_FUNCTION_INFO_V1(lb_series);

#define STEPS_MAX	10000

/* The windows asked for, and the one that rows are being added to. */
typedef struct Series
{
	LbCounter	counter;
	LbPeriod	period;
	TimestampTz to;
	LbWindow	window;
	LbText		member;
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

/* Nothing is a sum or a number of zero, but no score at all; and a sum may not fit. */
static void
put_step(FunctionCallInfo fcinfo, Series *series)
{
	LbAccum    *accum = &series->accum;
	Datum		values[2] = {TimestampTzGetDatum(series->window.opens)};
	bool		nulls[2] = {false, false};

	lb_accum_settle(series->counter.op, accum);
	values[1] = Int64GetDatum((int64) accum->value);
	if (series->counter.op == LB_HEAVY)
	{
		int64		low;
		int64		high;

		(void) lb_tracked_find(accum, series->member, &low, &high);
		values[1] = Int64GetDatum(low);
	}
	nulls[1] = !lb_accum_fits(accum) ||
		(accum->n == 0 && !lb_counts_from_zero(series->counter.op));
	lb_put_row(fcinfo, values, nulls);
	series->window = window_at(series, series->window.closes);
	memset(&series->accum, 0, sizeof(series->accum));
}

/* The member's buckets, as they come. */
typedef struct Found
{
	LbBucket   *buckets;
	int			n;
	int			capacity;
} Found;

static void
add_bucket(void *context, const LbBucket *bucket)
{
	Found	   *found = context;

	if (found->n == found->capacity)
	{
		found->capacity *= 2;
		found->buckets = repalloc_huge(found->buckets,
									   found->capacity * sizeof(LbBucket));
	}
	found->buckets[found->n++] = *bucket;
}

static int
compare_buckets(const void *a, const void *b)
{
	TimestampTz x = ((const LbBucket *) a)->stretch.opens;
	TimestampTz y = ((const LbBucket *) b)->stretch.opens;

	return x < y ? -1 : x > y;
}

static void
put_series(FunctionCallInfo fcinfo, Series *series, LbText member)
{
	Found		found = {.capacity = 64};
	LbWindow	all = {series->window.opens, window_at(series, series->to - 1).closes};
	LbWithin	within;

	lb_check_within(&series->counter,
					series->period == LB_PERIOD_HOUR ? series->window : all);
	found.buckets = palloc(found.capacity * sizeof(LbBucket));
	lb_within_begin(&within, &series->counter, all);
	if (series->period == LB_PERIOD_HOUR)
		lb_within_by_grain(&within);
	series->member = member;
	lb_within(&within, series->counter.op == LB_HEAVY ? (LbText) {"", 0} : member,
			  add_bucket, &found);
	lb_within_end(&within);
	qsort(found.buckets, found.n, sizeof(LbBucket), compare_buckets);
	for (int i = 0; i < found.n; i++)
	{
		const LbBucket *bucket = &found.buckets[i];

		CHECK_FOR_INTERRUPTS();
		while (bucket->stretch.opens >= series->window.closes)
			put_step(fcinfo, series);
		if ((bucket->late & LB_LATE(series->period)) == 0)
			lb_accum_merge(series->counter.op, &series->accum, &bucket->accum);
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
		put_series(fcinfo, &series, lb_text_arg(fcinfo, 1));
	}
	lb_spi_finish();
	lb_gate_leave(&gate);
	return (Datum) 0;
}
