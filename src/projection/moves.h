/*-------------------------------------------------------------------------
 *
 * moves.h
 *	  The moves of a round, sorted into board order.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_MOVES_H
#define LB_MOVES_H

#include "leaderboard.h"

#include "ranktree/ranktree_core.h"

typedef struct LbMoves LbMoves;

extern LbMoves *lb_moves_begin(void);
extern void lb_moves_add(LbMoves *moves, int64 ranking,
						 const LbRankEntry *entry, bool remove);
extern void lb_moves_touch(LbMoves *moves, int64 ranking);
extern void lb_moves_sort(LbMoves *moves);
extern bool lb_moves_ranking(LbMoves *moves, int64 *ranking);
extern LbRankStatus lb_moves_next(void *moves, LbRankMove *move);
extern void lb_moves_end(LbMoves *moves);

#endif							/* LB_MOVES_H */
