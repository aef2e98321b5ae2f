/*-------------------------------------------------------------------------
 *
 * standing.h
 *	  Reading a member's row of lb.standing.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_STANDING_H
#define LB_STANDING_H

#include "leaderboard.h"

#include "table/probe.h"

/* What a member has on a ranking. */
typedef struct LbStanding
{
	int64		value;
	TimestampTz reached_at;
} LbStanding;

extern void lb_standing_begin(LbProbe *probe, int64 counter_id);
extern bool lb_standing_find(LbProbe *probe, int64 counter_id,
							 int64 ranking_id, Datum member,
							 LbStanding *standing);

#endif							/* LB_STANDING_H */
