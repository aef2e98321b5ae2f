/*-------------------------------------------------------------------------
 *
 * cache.h
 *	  Definitions by name, in this backend's memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_DEFINITION_CACHE_H
#define LB_DEFINITION_CACHE_H

#include "leaderboard.h"

#include "definition/lookup.h"

extern const LbBoard *lb_cached_board(const char *name);
extern const LbCounter *lb_cached_counter(const char *name);

/* Changes whenever a definition may have. */
extern uint64 lb_definitions_generation(void);

#endif							/* LB_DEFINITION_CACHE_H */
