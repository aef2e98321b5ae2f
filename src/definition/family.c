/*-------------------------------------------------------------------------
 *
 * family.c
 *	  What kinds of counters there are, and how large their sketches.
 *
 * A unique counter keeps an HyperLogLog sketch a member, whose number of bits
 * follows from the error that the counter tolerates: 95 of 100 estimates are
 * within it.  An approximate one keeps a sketch of the heaviest members,
 * whose capacity follows from the share of a window's total by which a
 * member's value may be off: no value ever is by more.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include <math.h>

#include "fmgr.h"
#include "utils/builtins.h"

#include "definition/family.h"
#include "hll/hll_core.h"
#include "topk/topk_core.h"

PG_FUNCTION_INFO_V1(lb_tolerated_error_sql);

/* Standard deviations within which 95 of 100 estimates are. */
#define DEVIATIONS		1.959964

#define UNIQUE_DEFAULT		0.02
#define UNIQUE_MOST			0.5

#define HEAVY_DEFAULT		0.001
#define HEAVY_CAPACITY_MIN	10

/* What its events add up to, by the counter's type and declared operator. */
LbOperator
lb_family_operator(const char *type, LbOperator op)
{
	if (strcmp(type, "exact") == 0)
		return op;
	if (strcmp(type, "unique") == 0)
		return LB_UNIQUE;
	if (strcmp(type, "approximate") == 0)
		return LB_HEAVY;
	elog(ERROR, "unknown type \"%s\" in lb.counter_version", type);
}

/* The fewest bits with which 95 of 100 estimates are within that; 0 if none. */
static int32
unique_bits(double tolerated)
{
	if (!(tolerated <= UNIQUE_MOST))
		return 0;
	for (int32 bits = LB_HLL_BITS_MIN; bits <= LB_HLL_BITS_MAX; bits++)
		if (DEVIATIONS * LB_HLL_ERROR <= tolerated * sqrt(LB_HLL_REGISTERS(bits)))
			return bits;
	return 0;
}

/*
 * The smallest capacity whose bound, at most total / (capacity + 1), is within
 * that share of the total; 0 if none.
 */
static int32
heavy_capacity(double tolerated)
{
	if (!(tolerated >= 1.0 / LB_TOPK_CAPACITY_MAX && tolerated <= 1.0 / HEAVY_CAPACITY_MIN))
		return 0;
	return Min((int32) ceil(1.0 / tolerated), LB_TOPK_CAPACITY_MAX);
}

/*
 * The bits or the capacity of the counter's sketches; 0 for an exact counter,
 * and for an error that no sketch keeps to.
 */
int32
lb_family_size(LbOperator op, double tolerated_error)
{
	if (op == LB_UNIQUE)
		return unique_bits(tolerated_error);
	if (op == LB_HEAVY)
		return heavy_capacity(tolerated_error);
	return 0;
}

/*
 * lb._tolerated_error(type, tolerated_error): the error to be stored, with the
 * default for NULL, or 22023; of an exact counter none.
 */
Datum
lb_tolerated_error_sql(PG_FUNCTION_ARGS)
{
	LbOperator	op = lb_family_operator(text_to_cstring(PG_GETARG_TEXT_PP(0)), LB_SUM);
	double		tolerated;

	if (!lb_is_sketched(op))
	{
		if (!PG_ARGISNULL(1))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("an exact counter tolerates no error"),
					 errhint("Leave tolerated_error out.")));
		PG_RETURN_NULL();
	}
	if (!PG_ARGISNULL(1))
		tolerated = PG_GETARG_FLOAT8(1);
	else
		tolerated = op == LB_UNIQUE ? UNIQUE_DEFAULT : HEAVY_DEFAULT;
	if (lb_family_size(op, tolerated) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid tolerated_error %g", tolerated),
				 op == LB_UNIQUE ?
				 errhint("For a unique counter it is between 0.004 and 0.5: 95 of 100 values are that close to the number of different actors. Leave it out for %g.",
						 UNIQUE_DEFAULT) :
				 errhint("For an approximate counter it is between 0.0001 and 0.1: the share of a window's total by which a member's value may be off. Leave it out for %g.",
						 HEAVY_DEFAULT)));
	PG_RETURN_FLOAT8(tolerated);
}
