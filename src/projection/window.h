/*-------------------------------------------------------------------------
 *
 * window.h
 *	  Calendar windows in a named time zone.
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

extern LbWindow lb_window(LbPeriod period, TimestampTz t, pg_tz *zone);

/* A set of periods, as lb.bucket.late holds it. */
#define LB_LATE(period)		(1 << (period))

extern int16 lb_late_set(TimestampTz event_time, TimestampTz ingest_time,
						 int64 lateness, pg_tz *zone, LbWindow hour);

#endif							/* LB_WINDOW_H */
