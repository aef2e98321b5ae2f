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

#include "projection/accum_row.h"
#include "table/probe.h"

/* The columns of lb.standing. */
enum
{
	LB_STANDING_COUNTER_ID = 1,
	LB_STANDING_RANKING_ID,
	LB_STANDING_VALUE,
	LB_STANDING_REACHED_AT,
	LB_STANDING_LAST_ID,
	LB_STANDING_MOVED,
	LB_STANDING_MEMBER,
	LB_STANDING_WIDE
};

extern const LbAccumColumns lb_standing_columns;

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
extern void lb_standing_accum(LbProbe *probe, int64 counter_id,
							  int64 ranking_id, Datum member, LbAccum *accum);

#endif							/* LB_STANDING_H */
