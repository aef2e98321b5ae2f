/*-------------------------------------------------------------------------
 *
 * cost.h
 *	  What rounds cost, by kind of counter.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_COST_H
#define LB_COST_H

#include "leaderboard.h"

#include "definition/lookup.h"

/* As many as there are operators. */
#define LB_COST_KINDS	6

/* A round's events and microseconds, by what the events add up to. */
typedef struct LbCosts
{
	int			n;
	LbOperator	ops[LB_COST_KINDS];
	int64		events[LB_COST_KINDS];
	int64		usecs[LB_COST_KINDS];
} LbCosts;

struct LbRound;
struct LbCounted;

extern void lb_cost_charge(struct LbRound *round, struct LbCounted *counted);
extern void lb_cost_sum(const struct LbRound *round, LbCosts *costs);
extern Datum lb_cost_names(const LbCosts *costs);
extern Datum lb_cost_numbers(const int64 *numbers, int n);

#endif							/* LB_COST_H */
