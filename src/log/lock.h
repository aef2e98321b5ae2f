/*-------------------------------------------------------------------------
 *
 * lock.h
 *	  Locks of the extension's own, held until the transaction ends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_LOCK_H
#define LB_LOCK_H

#include "leaderboard.h"

/* What is locked; the number is the lock's place in the namespace. */
#define LB_LOCK_ROUND		0x4C42	/* the counting round */
#define LB_LOCK_KEY			0x4C43	/* a share of a counter's keys */
#define LB_LOCK_SCOPE		0x4C44	/* what is said of a board's scopes */
#define LB_LOCK_MAINTENANCE	0x4C46	/* lb_maintain() */

extern bool lb_lock(int what, int64 id, uint32 part, bool wait);

#endif							/* LB_LOCK_H */
