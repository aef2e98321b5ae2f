/*-------------------------------------------------------------------------
 *
 * board.c
 *	  Questions about a board as a whole: lb_version, lb_distribution.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "utils/builtins.h"

#include "read/answer.h"

PG_FUNCTION_INFO_V1(lb_version);
PG_FUNCTION_INFO_V1(lb_distribution);

/* When no event can change the window any more; never, if it has no end. */
TimestampTz
lb_reading_settles(const LbReading *reading)
{
	if (TIMESTAMP_NOT_FINITE(reading->window.closes) ||
		lb_period_rolls(reading->board.period))
		return DT_NOEND;
	return reading->window.closes + reading->board.lateness;
}

/* lb_version(board, scope, at): always one row */
Datum
lb_version(PG_FUNCTION_ARGS)
{
	LbReading	reading;
	TupleDesc	desc;
	Datum		values[10];
	bool		nulls[10] = {false};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "lb_version must return a row");
	(void) lb_reading_begin(&reading, fcinfo, 0, 1, 2);
	lb_reading_end(&reading);
	values[0] = Int64GetDatum(reading.board.board_id);
	values[1] = CStringGetTextDatum(psprintf(LB_CHANNEL_FORMAT,
											 reading.board.board_id));
	values[2] = Int64GetDatum(reading.version);
	values[3] = TimestampTzGetDatum(reading.as_of);
	nulls[3] = TIMESTAMP_NOT_FINITE(reading.as_of);
	values[4] = BoolGetDatum(lb_reading_stale(&reading, reading.board.freshness));
	values[5] = CStringGetTextDatum(lb_reading_state(&reading));
	values[6] = Int64GetDatum(reading.population);
	values[7] = TimestampTzGetDatum(reading.window.opens);
	values[8] = TimestampTzGetDatum(reading.window.closes);
	values[9] = TimestampTzGetDatum(lb_reading_settles(&reading));
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc),
													  values, nulls)));
}

static void
put_bucket(FunctionCallInfo fcinfo, const LbHistogramScale *scale, int32 bucket,
		   int64 members)
{
	int64		low = 0;
	int64		high = 0;
	Datum		values[3];
	bool		nulls[3];

	nulls[0] = !lb_hist_bucket_low(scale, bucket, &low);
	nulls[1] = !lb_hist_bucket_high(scale, bucket, &high);
	nulls[2] = false;
	values[0] = Int64GetDatum(low);
	values[1] = Int64GetDatum(high);
	values[2] = Int64GetDatum(members);
	lb_put_row(fcinfo, values, nulls);
}

/* A bounded board has counted its buckets. */
static void
put_histogram(FunctionCallInfo fcinfo, const LbHistogram *histogram)
{
	int32		bucket = -histogram->scale->buckets;

	while (lb_hist_next(histogram, &bucket))
		put_bucket(fcinfo, histogram->scale, bucket,
				   lb_hist_members(histogram, bucket));
}

/* The members whose value is at most that. */
static int64
members_up_to(LbReading *reading, int64 value)
{
	if (!reading->board.descending)
	{
		if (value == PG_INT64_MAX)
			return reading->population;
		return lb_order_better(reading, value + 1);
	}
	return reading->population - lb_order_better(reading, value);
}

/* The tree counts them at each bucket's edge. */
static void
put_counted(FunctionCallInfo fcinfo, LbReading *reading)
{
	const LbHistogramScale *scale = lb_hist_scale(reading->board.buckets,
												  reading->board.ceiling);
	int64		before = 0;

	for (int32 bucket = 1 - scale->buckets;
		 bucket < scale->buckets && before < reading->population; bucket++)
	{
		int64		high;
		int64		up_to;

		if (!lb_hist_bucket_exists(scale, bucket))
			continue;
		up_to = lb_hist_bucket_high(scale, bucket, &high) ?
			members_up_to(reading, high) : reading->population;
		if (up_to > before)
			put_bucket(fcinfo, scale, bucket, up_to - before);
		before = up_to;
	}
}

/* lb_distribution(board, scope, at, ...) -> low, high, members */
Datum
lb_distribution(PG_FUNCTION_ARGS)
{
	LbReading	reading;

	lb_materialize(fcinfo);
	if (!lb_reading_begin(&reading, fcinfo, 0, 1, 2))
		return (Datum) 0;
	if (reading.histogram != NULL)
		put_histogram(fcinfo, reading.histogram);
	else if (reading.root != 0)
		put_counted(fcinfo, &reading);
	lb_reading_end(&reading);
	return (Datum) 0;
}
