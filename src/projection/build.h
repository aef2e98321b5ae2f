/*-------------------------------------------------------------------------
 *
 * build.h
 *	  What is built from the buckets or the log beside the rounds.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_BUILD_H
#define LB_BUILD_H

#include "leaderboard.h"

#include "projection/round.h"
#include "projection/watermark.h"

typedef struct LbBuildScope
{
	MemoryContext context;
	MemoryContext caller;
	int			nest;
} LbBuildScope;

extern void lb_build_begin(LbBuildScope *scope);
extern void lb_build_end(LbBuildScope *scope);
extern void lb_build_publish(LbRound *round, const LbWatermark *last);
extern void lb_build_board(int64 counter_id, int64 board_id);

#endif							/* LB_BUILD_H */
