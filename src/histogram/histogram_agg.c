/*-------------------------------------------------------------------------
 *
 * histogram_agg.c
 *	  lb_histogram_agg and lb_histogram_union_agg.
 *
 * The state of both is the type itself, as an expanded object that lives in
 * the aggregate's context: the executor hands it from row to row by its
 * read-write pointer, so a row costs one addition, while a distributed or
 * parallel plan may ship the state as an ordinary value.
 *
 * A moving frame must answer NULL once it has no input left, although its
 * state is there already; so those transitions count their inputs.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "fmgr.h"

#include "histogram/histogram.h"
#include "value.h"

PG_FUNCTION_INFO_V1(lb_histogram_agg_add);
PG_FUNCTION_INFO_V1(lb_histogram_agg_move);
PG_FUNCTION_INFO_V1(lb_histogram_agg_remove);
PG_FUNCTION_INFO_V1(lb_histogram_agg_union);
PG_FUNCTION_INFO_V1(lb_histogram_agg_union_move);
PG_FUNCTION_INFO_V1(lb_histogram_agg_union_remove);
PG_FUNCTION_INFO_V1(lb_histogram_agg_final);
PG_FUNCTION_INFO_V1(lb_histogram_agg_move_final);

/* An empty state where the executor expects it. */
static LbExpandedHistogram *
new_state(FunctionCallInfo fcinfo, const LbHistogramScale *scale)
{
	return lb_hist_expand(scale, lb_state_context(fcinfo, false));
}

/*
 * The state in argument 0, which is not NULL, ready to be changed: it came
 * as a plain value if somebody else than an executor node called.
 */
static LbExpandedHistogram *
given_state(FunctionCallInfo fcinfo)
{
	Datum		datum = PG_GETARG_DATUM(0);
	LbExpandedHistogram *state = lb_hist_writable(datum);
	const LbHistogram *h;

	if (likely(state != NULL))
		return state;
	h = lb_hist_read(datum);
	state = new_state(fcinfo, h->scale);
	lb_hist_union(&state->h, h);
	return state;
}

/* Arguments 2 and 3 as parameters, where the aggregate has them. */
static void
get_parameters(FunctionCallInfo fcinfo, int32 *buckets, int64 *ceiling)
{
	*buckets = LB_HISTOGRAM_BUCKETS_DEFAULT;
	*ceiling = LB_HISTOGRAM_CEILING_DEFAULT;
	if (PG_NARGS() > 2 && !PG_ARGISNULL(2))
		*buckets = PG_GETARG_INT32(2);
	if (PG_NARGS() > 3 && !PG_ARGISNULL(3))
		*ceiling = PG_GETARG_INT64(3);
}

/* The state of an aggregate over values, made with the first row. */
static LbExpandedHistogram *
value_state(FunctionCallInfo fcinfo)
{
	LbExpandedHistogram *state;
	int32		buckets;
	int64		ceiling;

	if (PG_ARGISNULL(0))
	{
		get_parameters(fcinfo, &buckets, &ceiling);
		return new_state(fcinfo, lb_hist_scale(buckets, ceiling));
	}

	state = given_state(fcinfo);
	if (PG_NARGS() > 2)
	{
		get_parameters(fcinfo, &buckets, &ceiling);
		if (buckets != state->h.scale->buckets ||
			ceiling != state->h.scale->ceiling)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("buckets and ceiling must be the same for all rows of a histogram"),
					 errhint("Give constants, or GROUP BY what they depend on.")));
	}
	return state;
}

/* (state, value [, buckets [, ceiling]]): NULL values are not counted. */
Datum
lb_histogram_agg_add(PG_FUNCTION_ARGS)
{
	LbExpandedHistogram *state;

	if (PG_ARGISNULL(1))
	{
		if (PG_ARGISNULL(0))
			PG_RETURN_NULL();
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	}
	state = value_state(fcinfo);
	lb_hist_change(&state->h, PG_GETARG_INT64(1), 1);
	PG_RETURN_DATUM(EOHPGetRWDatum(&state->header));
}

/* The same for a moving frame, whose state may not be NULL. */
Datum
lb_histogram_agg_move(PG_FUNCTION_ARGS)
{
	LbExpandedHistogram *state = value_state(fcinfo);

	if (!PG_ARGISNULL(1))
	{
		lb_hist_change(&state->h, PG_GETARG_INT64(1), 1);
		state->inputs++;
	}
	PG_RETURN_DATUM(EOHPGetRWDatum(&state->header));
}

/* A row leaves the frame. */
Datum
lb_histogram_agg_remove(PG_FUNCTION_ARGS)
{
	LbExpandedHistogram *state;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();		/* cannot undo: start again */
	state = value_state(fcinfo);
	if (!PG_ARGISNULL(1))
	{
		lb_hist_change(&state->h, PG_GETARG_INT64(1), -1);
		state->inputs--;
	}
	PG_RETURN_DATUM(EOHPGetRWDatum(&state->header));
}

/* The state after counting in argument 1, a histogram that is not NULL. */
static LbExpandedHistogram *
union_state(FunctionCallInfo fcinfo)
{
	const LbHistogram *h = lb_hist_read(PG_GETARG_DATUM(1));
	LbExpandedHistogram *state;

	if (PG_ARGISNULL(0))
		state = new_state(fcinfo, h->scale);
	else
		state = given_state(fcinfo);
	lb_hist_union(&state->h, h);
	return state;
}

/* (state, histogram), also to combine partial states; NULL changes nothing. */
Datum
lb_histogram_agg_union(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(1))
	{
		if (PG_ARGISNULL(0))
			PG_RETURN_NULL();
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	}
	PG_RETURN_DATUM(EOHPGetRWDatum(&union_state(fcinfo)->header));
}

/*
 * The same for a moving frame.  While it has no input, its state may be of
 * any parameters: here the default ones, replaced by those of the first.
 */
Datum
lb_histogram_agg_union_move(PG_FUNCTION_ARGS)
{
	LbExpandedHistogram *state;

	if (PG_ARGISNULL(1))
	{
		if (!PG_ARGISNULL(0))
			PG_RETURN_DATUM(PG_GETARG_DATUM(0));
		state = new_state(fcinfo,
						  lb_hist_scale(LB_HISTOGRAM_BUCKETS_DEFAULT,
										LB_HISTOGRAM_CEILING_DEFAULT));
		PG_RETURN_DATUM(EOHPGetRWDatum(&state->header));
	}

	if (!PG_ARGISNULL(0) && given_state(fcinfo)->inputs == 0)
	{
		const LbHistogram *h = lb_hist_read(PG_GETARG_DATUM(1));

		state = new_state(fcinfo, h->scale);
		lb_hist_union(&state->h, h);
	}
	else
		state = union_state(fcinfo);
	state->inputs++;
	PG_RETURN_DATUM(EOHPGetRWDatum(&state->header));
}

/* A histogram leaves the frame. */
Datum
lb_histogram_agg_union_remove(PG_FUNCTION_ARGS)
{
	LbExpandedHistogram *state;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();		/* cannot undo: start again */
	state = given_state(fcinfo);
	if (!PG_ARGISNULL(1))
	{
		lb_hist_subtract(&state->h, lb_hist_read(PG_GETARG_DATUM(1)));
		state->inputs--;
	}
	PG_RETURN_DATUM(EOHPGetRWDatum(&state->header));
}

/* The state as a flat value; reads it only. */
Datum
lb_histogram_agg_final(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	PG_RETURN_DATUM(lb_hist_store(lb_hist_read(PG_GETARG_DATUM(0))));
}

/* The same for a moving frame: NULL when it has no input. */
Datum
lb_histogram_agg_move_final(PG_FUNCTION_ARGS)
{
	LbExpandedHistogram *state;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	state = lb_hist_expanded(PG_GETARG_DATUM(0));
	if (state != NULL && state->inputs == 0)
		PG_RETURN_NULL();
	return lb_histogram_agg_final(fcinfo);
}
