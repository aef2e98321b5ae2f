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

static TimestampTz
settles_at(const LbReading *reading)
{
	if (TIMESTAMP_NOT_FINITE(reading->window.closes))
		return reading->window.closes;
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
	lb_reading_begin(&reading, fcinfo, 0, 1, 2);
	lb_reading_end(&reading);
	values[0] = Int64GetDatum(reading.board.board_id);
	values[1] = CStringGetTextDatum(psprintf("lb_board_" INT64_FORMAT,
											 reading.board.board_id));
	values[2] = Int64GetDatum(reading.version);
	values[3] = TimestampTzGetDatum(reading.as_of);
	nulls[3] = TIMESTAMP_NOT_FINITE(reading.as_of);
	values[4] = BoolGetDatum(lb_reading_stale(&reading, reading.board.freshness));
	values[5] = CStringGetTextDatum(lb_reading_state(&reading));
	values[6] = Int64GetDatum(reading.population);
	values[7] = TimestampTzGetDatum(reading.window.opens);
	values[8] = TimestampTzGetDatum(reading.window.closes);
	values[9] = TimestampTzGetDatum(settles_at(&reading));
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc),
													  values, nulls)));
}

/* lb_distribution(board, scope, at) -> low, high, members */
Datum
lb_distribution(PG_FUNCTION_ARGS)
{
	LbReading	reading;
	int32		bucket;

	lb_materialize(fcinfo);
	lb_reading_begin(&reading, fcinfo, 0, 1, 2);
	if (reading.histogram != NULL)
	{
		const LbHistogramScale *scale = reading.histogram->scale;

		bucket = -scale->buckets;
		while (lb_hist_next(reading.histogram, &bucket))
		{
			int64		low;
			int64		high;
			Datum		values[3];
			bool		nulls[3];

			nulls[0] = !lb_hist_bucket_low(scale, bucket, &low);
			nulls[1] = !lb_hist_bucket_high(scale, bucket, &high);
			nulls[2] = false;
			values[0] = Int64GetDatum(low);
			values[1] = Int64GetDatum(high);
			values[2] = Int64GetDatum(lb_hist_members(reading.histogram, bucket));
			lb_put_row(fcinfo, values, nulls);
		}
	}
	lb_reading_end(&reading);
	return (Datum) 0;
}
