/*-------------------------------------------------------------------------
 *
 * window.h
 *	  Calendar windows, rolling windows and buckets in a named time zone.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_WINDOW_H
#define LB_WINDOW_H

#include "leaderboard.h"

#include "definition/lookup.h"

/* The window opens <= t < closes; infinite for LB_PERIOD_ALL. */
typedef struct LbWindow
{
	TimestampTz opens;
	TimestampTz closes;
} LbWindow;

extern LbWindow lb_window(LbPeriod period, int64 starts, TimestampTz t,
						  pg_tz *zone);
extern LbWindow lb_bucket_window(int64 grain, TimestampTz t, pg_tz *zone);
extern LbWindow lb_rolling_window(LbPeriod period, int32 units, int64 grain,
								  TimestampTz as_of, pg_tz *zone);
extern LbWindow lb_whole_days(LbWindow window, pg_tz *zone);

static inline bool
lb_in_window(LbWindow window, TimestampTz t)
{
	return window.opens <= t && t < window.closes;
}

static inline bool
lb_is_empty(LbWindow window)
{
	return window.opens >= window.closes;
}

/* The window of the ranking in which t falls; a rolling board has but one. */
static inline LbWindow
lb_board_window(const LbBoard *board, TimestampTz t)
{
	return lb_window(lb_period_rolls(board->period) ? LB_PERIOD_ALL : board->period,
					 board->starts, t, board->zone);
}

/* What a rolling board covers at that time. */
static inline LbWindow
lb_board_covers(const LbBoard *board, TimestampTz as_of)
{
	return lb_rolling_window(board->period, board->units, board->grain, as_of,
							 board->zone);
}

#endif							/* LB_WINDOW_H */
