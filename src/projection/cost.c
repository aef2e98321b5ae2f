/*-------------------------------------------------------------------------
 *
 * cost.c
 *	  What rounds cost, by kind of counter.
 *
 * A round has one clock.  Its steps go through their rows counter by counter,
 * and charge the time since the last reading to the one that they leave; what
 * is done for all of them together, reading the log most of all, is shared by
 * the number of events.  So the price of a kind of counter is measured on the
 * rounds of every day, at some readings of the clock a round.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "projection/cost.h"
#include "projection/round.h"

/* Charge the time since the last call to the counter, or to all if it is NULL. */
void
lb_cost_charge(LbRound *round, LbCounted *counted)
{
	instr_time	now;
	instr_time	spent;

	INSTR_TIME_SET_CURRENT(now);
	spent = now;
	INSTR_TIME_SUBTRACT(spent, round->clock);
	round->clock = now;
	if (counted != NULL)
		INSTR_TIME_ADD(counted->spent, spent);
	else
		INSTR_TIME_ADD(round->spent, spent);
}

static int
kind_of(LbCosts *costs, LbOperator op)
{
	int			i = 0;

	while (i < costs->n && costs->ops[i] != op)
		i++;
	if (i == costs->n)
	{
		costs->n++;
		costs->ops[i] = op;
		costs->events[i] = costs->usecs[i] = 0;
	}
	return i;
}

/* What the round has cost so far. */
void
lb_cost_sum(const LbRound *round, LbCosts *costs)
{
	costs->n = 0;
	for (LbCounted *counted = round->first; counted != NULL; counted = counted->next)
	{
		int			i;

		if (counted->counter.retired || counted->events == 0)
			continue;
		i = kind_of(costs, counted->counter.op);
		costs->events[i] += counted->events;
		costs->usecs[i] += (int64) INSTR_TIME_GET_MICROSEC(counted->spent);
	}
	for (int i = 0; i < costs->n; i++)
		costs->usecs[i] += (int64) ((double) INSTR_TIME_GET_MICROSEC(round->spent) *
									(double) costs->events[i] / (double) round->events);
}

static const char *
name_of(LbOperator op)
{
	switch (op)
	{
		case LB_SUM:
			return "sum";
		case LB_MAX:
			return "max";
		case LB_MIN:
			return "min";
		case LB_LAST:
			return "last";
		case LB_UNIQUE:
			return "unique";
		case LB_HEAVY:
			return "approximate";
	}
	pg_unreachable();
}

Datum
lb_cost_names(const LbCosts *costs)
{
	Datum		names[LB_COST_KINDS];

	for (int i = 0; i < costs->n; i++)
		names[i] = CStringGetTextDatum(name_of(costs->ops[i]));
	return PointerGetDatum(construct_array(names, costs->n, TEXTOID, -1, false,
										   TYPALIGN_INT));
}

Datum
lb_cost_numbers(const int64 *numbers, int n)
{
	Datum		datums[LB_COST_KINDS];

	for (int i = 0; i < n; i++)
		datums[i] = Int64GetDatum(numbers[i]);
	return PointerGetDatum(construct_array(datums, n, INT8OID, sizeof(int64),
										   FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}
