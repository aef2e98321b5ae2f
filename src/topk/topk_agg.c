/*-------------------------------------------------------------------------
 *
 * topk_agg.c
 *	  lb_topk_agg and lb_topk_union_agg.
 *
 * The state of both is the type itself, as an expanded object that lives in
 * the aggregate's context: the executor hands it from row to row by its
 * read-write pointer, so a row costs one addition, while a distributed or
 * parallel plan may ship the state as an ordinary value.
 *
 * What was forgotten cannot be taken away again, so there is no moving
 * aggregate: a frame whose start moves is counted anew for each row.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "fmgr.h"

#include "topk/topk.h"
#include "value.h"

PG_FUNCTION_INFO_V1(lb_topk_agg_add);
PG_FUNCTION_INFO_V1(lb_topk_agg_union);
PG_FUNCTION_INFO_V1(lb_topk_agg_final);

static LbExpandedTopk *
new_state(FunctionCallInfo fcinfo, int32 capacity)
{
	return lb_topk_expand(capacity, lb_state_context(fcinfo, true));
}

/*
 * The state in argument 0, which is not NULL, ready to be changed: it came
 * as a plain value if somebody else than an executor node called.
 */
static LbExpandedTopk *
given_state(FunctionCallInfo fcinfo)
{
	Datum		datum = PG_GETARG_DATUM(0);
	LbExpandedTopk *state = lb_topk_writable(datum);

	if (likely(state != NULL))
		return state;
	/* with the first one merged in, its capacity is that one's */
	state = new_state(fcinfo, LB_TOPK_CAPACITY_MAX);
	lb_topk_merge(&state->t, datum);
	return state;
}

/* Argument 3, where the aggregate has it. */
static int32
get_capacity(FunctionCallInfo fcinfo)
{
	if (PG_NARGS() > 3 && !PG_ARGISNULL(3))
		return PG_GETARG_INT32(3);
	return LB_TOPK_CAPACITY_DEFAULT;
}

/* The state of an aggregate over items, made with the first row. */
static LbExpandedTopk *
item_state(FunctionCallInfo fcinfo)
{
	LbExpandedTopk *state;

	if (PG_ARGISNULL(0))
		return new_state(fcinfo, get_capacity(fcinfo));
	state = given_state(fcinfo);
	if (PG_NARGS() > 3 && get_capacity(fcinfo) != state->t.capacity)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the capacity must be the same for all rows of a top-k sketch"),
				 errhint("Give a constant, or GROUP BY what it depends on.")));
	return state;
}

/* Argument 0, as it came. */
static Datum
unchanged(FunctionCallInfo fcinfo)
{
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

/* (state, item, weight [, capacity]): rows with a NULL are not counted. */
Datum
lb_topk_agg_add(PG_FUNCTION_ARGS)
{
	LbExpandedTopk *state;
	text	   *item;

	if (PG_ARGISNULL(1) || PG_ARGISNULL(2))
		return unchanged(fcinfo);
	state = item_state(fcinfo);
	item = PG_GETARG_TEXT_PP(1);
	lb_topk_add(&state->t, VARDATA_ANY(item), VARSIZE_ANY_EXHDR(item),
				PG_GETARG_INT64(2));
	PG_RETURN_DATUM(EOHPGetRWDatum(&state->header));
}

/* (state, sketch), also to combine partial states; NULL changes nothing. */
Datum
lb_topk_agg_union(PG_FUNCTION_ARGS)
{
	LbExpandedTopk *state;

	if (PG_ARGISNULL(1))
		return unchanged(fcinfo);
	if (PG_ARGISNULL(0))
		state = new_state(fcinfo, LB_TOPK_CAPACITY_MAX);
	else
		state = given_state(fcinfo);
	lb_topk_merge(&state->t, PG_GETARG_DATUM(1));
	PG_RETURN_DATUM(EOHPGetRWDatum(&state->header));
}

/* The state as a flat value; reads it only. */
Datum
lb_topk_agg_final(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	PG_RETURN_DATUM(lb_topk_flat(PG_GETARG_DATUM(0)));
}
