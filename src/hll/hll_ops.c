/*-------------------------------------------------------------------------
 *
 * hll_ops.c
 *	  The SQL functions and operators of lb_hll.
 *
 * NULL in a required argument gives NULL, as for any operator; NULL in an
 * optional one is its default.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include <math.h>

#include "fmgr.h"

#include "hll/hll.h"
#include "hll/hll_hash.h"
#include "value.h"

PG_FUNCTION_INFO_V1(lb_hll_union);
PG_FUNCTION_INFO_V1(lb_hll_add);
PG_FUNCTION_INFO_V1(lb_hll_count);
PG_FUNCTION_INFO_V1(lb_hll_bounds);
PG_FUNCTION_INFO_V1(lb_hll_bits);
PG_FUNCTION_INFO_V1(lb_hll_empty);
PG_FUNCTION_INFO_V1(lb_hll_hash_value);

/* h || h: the values of both. */
Datum
lb_hll_union(PG_FUNCTION_ARGS)
{
	LbHll		h;

	lb_hll_load(&h, PG_GETARG_DATUM(0));
	lb_hll_merge_stored(&h, PG_GETARG_DATUM(1));
	PG_RETURN_DATUM(lb_hll_store(&h));
}

/* (h, value): with one value more. */
Datum
lb_hll_add(PG_FUNCTION_ARGS)
{
	LbHll		h;

	lb_hll_load(&h, PG_GETARG_DATUM(0));
	lb_hll_add_hash(&h, lb_hll_hash_datum(lb_hll_hasher(fcinfo, 1),
										  PG_GETARG_DATUM(1)));
	PG_RETURN_DATUM(lb_hll_store(&h));
}

Datum
lb_hll_count(PG_FUNCTION_ARGS)
{
	LbHll		own;

	PG_RETURN_FLOAT8(lb_hll_estimate(lb_hll_read(PG_GETARG_DATUM(0), &own)));
}

/* (h, confidence): between what the number of values is, so often. */
Datum
lb_hll_bounds(PG_FUNCTION_ARGS)
{
	double		confidence = PG_ARGISNULL(1) ? 0.95 : PG_GETARG_FLOAT8(1);
	LbHll		own;
	double		low;
	double		high;
	Datum		values[2];
	bool		nulls[2] = {false, false};

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (isnan(confidence) || confidence <= 0 || confidence >= 1)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("confidence %g is not between 0 and 1", confidence),
				 errhint("Give 0.95 for bounds that hold 95 times of 100; never and always cannot be had.")));
	lb_hll_interval(lb_hll_read(PG_GETARG_DATUM(0), &own), confidence,
					&low, &high);
	values[0] = Float8GetDatum(low);
	values[1] = Float8GetDatum(high);
	return lb_value_row(fcinfo, values, nulls);
}

Datum
lb_hll_bits(PG_FUNCTION_ARGS)
{
	LbHll		own;

	PG_RETURN_INT32(lb_hll_read(PG_GETARG_DATUM(0), &own)->bits);
}

/* (bits): of no value. */
Datum
lb_hll_empty(PG_FUNCTION_ARGS)
{
	LbHll		h;

	lb_hll_begin(&h, PG_ARGISNULL(0) ? LB_HLL_BITS_DEFAULT : PG_GETARG_INT32(0),
				 CurrentMemoryContext);
	PG_RETURN_DATUM(lb_hll_store(&h));
}

/* The hash that a value is counted by. */
Datum
lb_hll_hash_value(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64((int64) lb_hll_hash_datum(lb_hll_hasher(fcinfo, 0),
											  PG_GETARG_DATUM(0)));
}
