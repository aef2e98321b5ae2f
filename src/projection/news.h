/*-------------------------------------------------------------------------
 *
 * news.h
 *	  The events that a round has to count.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_NEWS_H
#define LB_NEWS_H

#include "leaderboard.h"

#include "log/leaf.h"
#include "projection/round.h"
#include "projection/watermark.h"

typedef enum LbNews
{
	LB_NO_NEWS,
	LB_NEWS,
	LB_NEWS_UNKNOWN				/* the log is being restored */
} LbNews;

extern void lb_news_scan_begin(LbLeafScan *scan, const LbWatermark *before);
extern bool lb_news_scan_next(LbLeafScan *scan, LbLeaf *leaf);
extern LbLogged lb_logged_event(TupleTableSlot *slot);
extern LbNews lb_news_exist(const LbWatermark *before, const LbWatermark *now);
extern uint64 lb_news_cut(const LbWatermark *before, int64 limit);
extern void lb_news_count(LbRound *round, const LbWatermark *before,
						  const LbWatermark *now, bool everything);
extern void lb_news_recount(LbRound *round, const LbWatermark *counted,
							int64 counter_id);

#endif							/* LB_NEWS_H */
