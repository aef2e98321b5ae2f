/*-------------------------------------------------------------------------
 *
 * histogram_ops.c
 *	  The SQL functions and operators of lb_histogram.
 *
 * NULL in a required argument gives NULL, as for any operator; NULL in an
 * optional one is its default.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include <math.h>

#include "common/int.h"
#include "fmgr.h"
#include "funcapi.h"

#include "histogram/histogram.h"
#include "value.h"

PG_FUNCTION_INFO_V1(lb_histogram_union);
PG_FUNCTION_INFO_V1(lb_histogram_subtract);
PG_FUNCTION_INFO_V1(lb_histogram_add);
PG_FUNCTION_INFO_V1(lb_histogram_count);
PG_FUNCTION_INFO_V1(lb_histogram_above);
PG_FUNCTION_INFO_V1(lb_histogram_rank);
PG_FUNCTION_INFO_V1(lb_histogram_quantile);
PG_FUNCTION_INFO_V1(lb_histogram_buckets);

/* h + h: the members of both. */
Datum
lb_histogram_union(PG_FUNCTION_ARGS)
{
	LbHistogram *h = lb_hist_load(PG_GETARG_DATUM(0));

	lb_hist_union(h, lb_hist_read(PG_GETARG_DATUM(1)));
	PG_RETURN_DATUM(lb_hist_store(h));
}

/* h - h: the members of the first without those of the second. */
Datum
lb_histogram_subtract(PG_FUNCTION_ARGS)
{
	LbHistogram *h = lb_hist_load(PG_GETARG_DATUM(0));

	lb_hist_subtract(h, lb_hist_read(PG_GETARG_DATUM(1)));
	PG_RETURN_DATUM(lb_hist_store(h));
}

/* (h, value, n): a histogram with the value counted n times more. */
Datum
lb_histogram_add(PG_FUNCTION_ARGS)
{
	LbHistogram *h;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	h = lb_hist_load(PG_GETARG_DATUM(0));
	lb_hist_change(h, PG_GETARG_INT64(1),
				   PG_ARGISNULL(2) ? 1 : PG_GETARG_INT64(2));
	PG_RETURN_DATUM(lb_hist_store(h));
}

Datum
lb_histogram_count(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(lb_hist_read(PG_GETARG_DATUM(0))->total);
}

/* (h, value): how many are strictly above, at least and at most. */
Datum
lb_histogram_above(PG_FUNCTION_ARGS)
{
	const LbHistogram *h = lb_hist_read(PG_GETARG_DATUM(0));
	int64_t		low;
	int64_t		high;
	Datum		values[2];
	bool		nulls[2] = {false, false};

	lb_hist_above(h, PG_GETARG_INT64(1), &low, &high);
	values[0] = Int64GetDatum(low);
	values[1] = Int64GetDatum(high);
	return lb_value_row(fcinfo, values, nulls);
}

/*
 * (h, value): rank and percentile of a member with that value, where the
 * greatest value has rank 1.  One of the members of the value's bucket is the
 * member itself, so it is not above.  If the bucket has none, the answer is
 * what it would be had the member just joined.
 */
Datum
lb_histogram_rank(PG_FUNCTION_ARGS)
{
	const LbHistogram *h = lb_hist_read(PG_GETARG_DATUM(0));
	int64		value = PG_GETARG_INT64(1);
	int64_t		low;
	int64_t		high;
	double		population;
	Datum		values[4];
	bool		nulls[4] = {false, false, false, false};

	lb_hist_above(h, value, &low, &high);
	population = (double) h->total;
	if (lb_hist_members(h, lb_hist_bucket(h->scale, value)) > 0)
		high = Max(high - 1, low);
	else if (h->total == PG_INT64_MAX)
		lb_hist_check(LB_HISTOGRAM_OVERFLOW);
	else
		population += 1;
	values[0] = Int64GetDatum(low + 1);
	values[1] = Int64GetDatum(high + 1);
	values[2] = Float8GetDatum(100 * (population - (double) high) / population);
	values[3] = Float8GetDatum(100 * (population - (double) low) / population);
	return lb_value_row(fcinfo, values, nulls);
}

/*
 * (h, fraction): where percentile_disc(fraction) of the members' values is.
 * The position is computed as percentile_disc does it.
 */
Datum
lb_histogram_quantile(PG_FUNCTION_ARGS)
{
	const LbHistogram *h = lb_hist_read(PG_GETARG_DATUM(0));
	double		fraction = PG_GETARG_FLOAT8(1);
	double		position;
	int32_t		bucket;
	int64_t		low = 0;
	int64_t		high = 0;
	Datum		values[2];
	bool		nulls[2] = {true, true};

	if (isnan(fraction) || fraction < 0 || fraction > 1)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("fraction %g is not between 0 and 1", fraction),
				 errhint("Give 0.5 for the median, 0.99 for the value that 99 %% do not exceed.")));
	if (h->total > 0)
	{
		position = Max(ceil(fraction * (double) h->total), 1);
		bucket = lb_hist_nth(h, position >= (double) h->total ?
							 h->total : (int64) position);
		nulls[0] = !lb_hist_bucket_low(h->scale, bucket, &low);
		nulls[1] = !lb_hist_bucket_high(h->scale, bucket, &high);
	}
	values[0] = Int64GetDatum(low);
	values[1] = Int64GetDatum(high);
	return lb_value_row(fcinfo, values, nulls);
}

/* One row for each bucket with members, in ascending order. */
Datum
lb_histogram_buckets(PG_FUNCTION_ARGS)
{
	const LbHistogram *h = lb_hist_read(PG_GETARG_DATUM(0));
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	int32_t		bucket = -h->scale->buckets;

	InitMaterializedSRF(fcinfo, 0);
	while (lb_hist_next(h, &bucket))
	{
		int64_t		low = 0;
		int64_t		high = 0;
		Datum		values[4];
		bool		nulls[4] = {false, false, false, false};

		nulls[1] = !lb_hist_bucket_low(h->scale, bucket, &low);
		nulls[2] = !lb_hist_bucket_high(h->scale, bucket, &high);
		values[0] = Int32GetDatum(bucket);
		values[1] = Int64GetDatum(low);
		values[2] = Int64GetDatum(high);
		values[3] = Int64GetDatum(lb_hist_members(h, bucket));
		tuplestore_putvalues(result->setResult, result->setDesc,
							 values, nulls);
	}
	return (Datum) 0;
}
