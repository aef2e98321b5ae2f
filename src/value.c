/*-------------------------------------------------------------------------
 *
 * value.c
 *	  What the value types have in common on the server's side: equality by
 *	  bytes, rows of results, and where the states of their aggregates live.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "access/htup_details.h"
#include "common/hashfn.h"
#include "funcapi.h"
#include "nodes/memnodes.h"
#include "utils/memutils.h"

#include "value.h"

PG_FUNCTION_INFO_V1(lb_value_eq);
PG_FUNCTION_INFO_V1(lb_value_ne);
PG_FUNCTION_INFO_V1(lb_value_hash);
PG_FUNCTION_INFO_V1(lb_value_hash_extended);

/* Told from other contexts by its address. */
static const char group_states[] = "leaderboard groups";

/* Stored forms are canonical: equal values are equal bytes. */
static bool
same_bytes(FunctionCallInfo fcinfo)
{
	struct varlena *a = PG_GETARG_VARLENA_PP(0);
	struct varlena *b = PG_GETARG_VARLENA_PP(1);

	return VARSIZE_ANY_EXHDR(a) == VARSIZE_ANY_EXHDR(b) &&
		memcmp(VARDATA_ANY(a), VARDATA_ANY(b), VARSIZE_ANY_EXHDR(a)) == 0;
}

Datum
lb_value_eq(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(same_bytes(fcinfo));
}

Datum
lb_value_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(!same_bytes(fcinfo));
}

Datum
lb_value_hash(PG_FUNCTION_ARGS)
{
	struct varlena *flat = PG_GETARG_VARLENA_PP(0);

	return hash_any((unsigned char *) VARDATA_ANY(flat),
					VARSIZE_ANY_EXHDR(flat));
}

Datum
lb_value_hash_extended(PG_FUNCTION_ARGS)
{
	struct varlena *flat = PG_GETARG_VARLENA_PP(0);

	return hash_any_extended((unsigned char *) VARDATA_ANY(flat),
							 VARSIZE_ANY_EXHDR(flat), PG_GETARG_INT64(1));
}

/* One row of the function's result type, whose descriptor it keeps. */
Datum
lb_value_row(FunctionCallInfo fcinfo, Datum *values, bool *nulls)
{
	TupleDesc	descriptor = fcinfo->flinfo->fn_extra;

	if (descriptor == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);

		if (get_call_result_type(fcinfo, NULL,
								 &descriptor) != TYPEFUNC_COMPOSITE)
			elog(ERROR, "unexpected result type of a function of a value type");
		descriptor = BlessTupleDesc(descriptor);
		fcinfo->flinfo->fn_extra = descriptor;
		MemoryContextSwitchTo(old);
	}
	return HeapTupleGetDatum(heap_form_tuple(descriptor, values, nulls));
}

/*
 * The one context below the aggregate's for the states of all its groups.
 *
 * One context a group would be the custom, but a hash aggregate visits all
 * contexts below its own with each new group, so 10,000 groups would take
 * seconds.  Sharing is safe because the executor deletes an expanded state
 * only when the transition returns another in its place, which those of a
 * grouping aggregate never do.  A generation context wastes nothing on states
 * that stay as they are, an allocation set gives room that was outgrown to
 * others.
 */
static MemoryContext
shared_context(MemoryContext parent, bool grows)
{
	MemoryContext child = parent->firstchild;
	NodeTag		kind = grows ? T_AllocSetContext : T_GenerationContext;

	while (child != NULL && (child->name != group_states ||
							 nodeTag(child) != kind))
		child = child->nextchild;
	if (child == NULL && grows)
		child = AllocSetContextCreateInternal(parent, group_states,
											  ALLOCSET_DEFAULT_SIZES);
	else if (child == NULL)
		child = GenerationContextCreate(parent, group_states,
										ALLOCSET_DEFAULT_SIZES);
	return child;
}

MemoryContext
lb_state_context(FunctionCallInfo fcinfo, bool grows)
{
	MemoryContext parent;

	if (AggCheckCallContext(fcinfo, &parent) == AGG_CONTEXT_AGGREGATE)
		return shared_context(parent, grows);
	return AllocSetContextCreate(parent ? parent : CurrentMemoryContext,
								 "leaderboard state", ALLOCSET_SMALL_SIZES);
}
