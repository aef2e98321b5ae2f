/*-------------------------------------------------------------------------
 *
 * doubt.h
 *	  Who may be ahead of whom on an approximate board.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_DOUBT_H
#define LB_DOUBT_H

#include "leaderboard.h"

#include "read/answer.h"

extern LbDoubt *lb_doubt_begin(void);
extern void lb_doubt_ranks(const LbReading *reading, int64 low, int64 high,
						   bool is_tracked, int64 *rank_low, int64 *rank_high);

#endif							/* LB_DOUBT_H */
