/*-------------------------------------------------------------------------
 *
 * epoch.h
 *	  Does this snapshot see what the last one saw?
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_EPOCH_H
#define LB_EPOCH_H

#include "leaderboard.h"

extern uint64 lb_snapshot_epoch(void);

#endif							/* LB_EPOCH_H */
