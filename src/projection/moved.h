/*-------------------------------------------------------------------------
 *
 * moved.h
 *	  lb.moved: what members had before the versions that moved them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_MOVED_H
#define LB_MOVED_H

#include "leaderboard.h"

#include "projection/standing.h"

/* The columns of lb.moved. */
enum
{
	LB_MOVED_COUNTER_ID = 1, LB_MOVED_RANKING_ID, LB_MOVED_VERSION,
	LB_MOVED_VALUE, LB_MOVED_REACHED_AT, LB_MOVED_MEMBER
};

/* What a member had at an earlier version. */
typedef enum LbMoved
{
	LB_MOVED_NOT,				/* what it has now */
	LB_MOVED_HAD,				/* another value */
	LB_MOVED_CAME				/* nothing: it was not on the board */
} LbMoved;

extern void lb_moved_begin(LbProbe *probe, int64 counter_id);
extern LbMoved lb_moved_since(LbProbe *probe, int64 counter_id,
							  int64 ranking_id, Datum member, int64 version,
							  LbStanding *had);

#endif							/* LB_MOVED_H */
