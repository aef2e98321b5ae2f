/*-------------------------------------------------------------------------
 *
 * late.h
 *	  For which windows an event is late.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_LATE_H
#define LB_LATE_H

#include "leaderboard.h"

#include "projection/window.h"

/* A late set, as lb.bucket.late holds it. */
#define LB_LATE(bit)		(1 << (bit))

/*
 * Bits of a late set: the calendar periods by their numbers, judged by the
 * counter's lateness, and from LB_LATE_CLASS_MIN on the classes of boards
 * whose windows or lateness are others (lb.late_class).
 */
#define LB_LATE_CLASS_MIN	8
#define LB_LATE_CLASS_MAX	30

typedef struct LbLateRule
{
	int32		bit;
	LbPeriod	period;
	int64		starts;
	int64		lateness;
} LbLateRule;

typedef struct LbLateRules
{
	int			n;
	int64		shortest;		/* lateness */
	int32		hourly;			/* the bits of windows shorter than a day */
	LbLateRule	rules[LB_LATE_CLASS_MAX + 1];
} LbLateRules;

extern void lb_late_rules(LbLateRules *rules, const LbCounter *counter);
extern int32 lb_late_set(const LbLateRules *rules, pg_tz *zone,
						 TimestampTz event_time, TimestampTz ingest_time,
						 LbWindow bucket);
extern bool lb_is_late(LbPeriod period, int64 starts, int64 lateness,
					   pg_tz *zone, TimestampTz event_time,
					   TimestampTz ingest_time);

#endif							/* LB_LATE_H */
