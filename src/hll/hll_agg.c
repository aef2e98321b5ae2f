/*-------------------------------------------------------------------------
 *
 * hll_agg.c
 *	  lb_hll_agg and lb_hll_union_agg.
 *
 * The state of both is the type itself, as an expanded object that lives in
 * the aggregate's context: the executor hands it from row to row by its
 * read-write pointer, so a row costs a hash and a compare, while a
 * distributed or parallel plan may ship the state as an ordinary value.
 *
 * There is no moving form: what a sketch has seen cannot be taken away.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "fmgr.h"

#include "hll/hll.h"
#include "hll/hll_hash.h"
#include "value.h"

PG_FUNCTION_INFO_V1(lb_hll_agg_add);
PG_FUNCTION_INFO_V1(lb_hll_agg_union);
PG_FUNCTION_INFO_V1(lb_hll_agg_final);

static LbExpandedHll *
new_state(FunctionCallInfo fcinfo, int32 bits)
{
	lb_hll_check_bits(bits);
	return lb_hll_expand(bits, lb_state_context(fcinfo, true));
}

/* A state that came as a plain value: somebody else than a node called. */
static LbExpandedHll *
loaded_state(FunctionCallInfo fcinfo)
{
	LbHll		own;
	const LbHll *h = lb_hll_read(PG_GETARG_DATUM(0), &own);
	LbExpandedHll *state = new_state(fcinfo, h->bits);

	lb_hll_merge(&state->h, h);
	return state;
}

/* The state in argument 0, which is not NULL, ready to be changed. */
static inline LbExpandedHll *
given_state(FunctionCallInfo fcinfo)
{
	LbExpandedHll *state = lb_hll_writable(PG_GETARG_DATUM(0));

	return likely(state != NULL) ? state : loaded_state(fcinfo);
}

/* Argument 2, where the aggregate has it. */
static inline int32
get_bits(FunctionCallInfo fcinfo)
{
	if (PG_NARGS() > 2 && !PG_ARGISNULL(2))
		return PG_GETARG_INT32(2);
	return LB_HLL_BITS_DEFAULT;
}

/* A value for a state that may not be there, or not be what it should. */
static pg_noinline Datum
add_carefully(FunctionCallInfo fcinfo)
{
	LbExpandedHll *state;

	if (PG_ARGISNULL(1))
	{
		if (PG_ARGISNULL(0))
			PG_RETURN_NULL();
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	}
	if (PG_ARGISNULL(0))
		state = new_state(fcinfo, get_bits(fcinfo));
	else
	{
		state = given_state(fcinfo);
		if (PG_NARGS() > 2 && get_bits(fcinfo) != state->h.bits)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("bits must be the same for all rows of a sketch"),
					 errhint("Give a constant, or GROUP BY what it depends on.")));
	}
	lb_hll_add_hash(&state->h,
					lb_hll_hash_datum(lb_hll_hasher(fcinfo, 1),
									  PG_GETARG_DATUM(1)));
	PG_RETURN_DATUM(EOHPGetRWDatum(&state->header));
}

/*
 * (state, value [, bits]): NULL values are not counted.
 *
 * A bigint, or a time, for a dense state is counted here without a call, so
 * that no register of the processor is saved and restored for one.  All else
 * is add_carefully's, which could do this as well.
 */
Datum
lb_hll_agg_add(PG_FUNCTION_ARGS)
{
	const LbHllHasher *hasher = fcinfo->flinfo->fn_extra;
	LbExpandedHll *state;

	if (PG_NARGS() == 2 && !PG_ARGISNULL(0) && !PG_ARGISNULL(1) &&
		hasher != NULL && hasher->kind == LB_HLL_KIND_INT8 &&
		(state = lb_hll_writable(PG_GETARG_DATUM(0))) != NULL &&
		state->h.registers != NULL)
	{
		lb_hll_add_dense(&state->h,
						 lb_hll_hash_int64(PG_GETARG_INT64(1)));
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	}
	return add_carefully(fcinfo);
}

/* (state, sketch), also to combine partial states; NULL changes nothing. */
Datum
lb_hll_agg_union(PG_FUNCTION_ARGS)
{
	LbExpandedHll *state;

	if (PG_ARGISNULL(1))
	{
		if (PG_ARGISNULL(0))
			PG_RETURN_NULL();
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	}
	/* the most bits there are: the first sketch folds it down to its own */
	state = PG_ARGISNULL(0) ? new_state(fcinfo, LB_HLL_BITS_MAX) :
		given_state(fcinfo);
	lb_hll_merge_stored(&state->h, PG_GETARG_DATUM(1));
	PG_RETURN_DATUM(EOHPGetRWDatum(&state->header));
}

/* The state as a flat value; reads it only. */
Datum
lb_hll_agg_final(PG_FUNCTION_ARGS)
{
	const LbHll *h;
	LbHll		own;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	h = lb_hll_read(PG_GETARG_DATUM(0), &own);
	PG_RETURN_DATUM(lb_hll_store(h));
}
