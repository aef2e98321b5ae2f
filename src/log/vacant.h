/*-------------------------------------------------------------------------
 *
 * vacant.h
 *	  Partitions that nobody has written to.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_VACANT_H
#define LB_VACANT_H

#include "leaderboard.h"

#include "log/leaf.h"

extern bool lb_leaf_is_vacant(const LbLeaf *leaf);

#endif							/* LB_VACANT_H */
