/*-------------------------------------------------------------------------
 *
 * family.h
 *	  What kinds of counters there are, and how large their sketches.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_FAMILY_H
#define LB_FAMILY_H

#include "leaderboard.h"

#include "definition/lookup.h"

extern LbOperator lb_family_operator(const char *type, LbOperator op);
extern int32 lb_family_size(LbOperator op, double tolerated_error);

#endif							/* LB_FAMILY_H */
