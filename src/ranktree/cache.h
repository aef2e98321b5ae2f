/*-------------------------------------------------------------------------
 *
 * cache.h
 *	  Pages in this backend's memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_CACHE_H
#define LB_CACHE_H

#include "leaderboard.h"

typedef struct LbPageKey
{
	int64		counter_id;
	int64		ranking_id;
	int64		page_id;
} LbPageKey;

extern const uint8 *lb_cache_get(const LbPageKey *key, int *size);
extern const uint8 *lb_cache_put(const LbPageKey *key, const uint8 *body,
								 int size);

#endif							/* LB_CACHE_H */
