/*-------------------------------------------------------------------------
 *
 * period.h
 *	  The periods that a board can have.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_PERIOD_H
#define LB_PERIOD_H

#include "leaderboard.h"

/* The numbers of the calendar periods are stored: see LB_LATE (window.h). */
typedef enum LbPeriod
{
	LB_PERIOD_ALL,
	LB_PERIOD_HOUR,
	LB_PERIOD_DAY,
	LB_PERIOD_WEEK,
	LB_PERIOD_MONTH,
	LB_PERIOD_YEAR,
	/* rolling: the last so many of a unit, the current one included */
	LB_PERIOD_MINUTES,
	LB_PERIOD_HOURS,
	LB_PERIOD_DAYS
} LbPeriod;

static inline bool
lb_period_rolls(LbPeriod period)
{
	return period >= LB_PERIOD_MINUTES;
}

extern LbPeriod lb_parse_period(const char *period, int64 grain, int32 *units);

#endif							/* LB_PERIOD_H */
