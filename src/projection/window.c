/*-------------------------------------------------------------------------
 *
 * window.c
 *	  Calendar windows in a named time zone.
 *
 * A boundary is the first instant whose local time reaches it.  That is the
 * one rule that holds where clocks skip midnight or show it twice, and under
 * which windows neither overlap nor leave gaps.  An hour is a stretch of one
 * offset from UTC, so where the clock is set back by an hour the local hour
 * comes twice, and where it is set back by half an hour a short one is
 * counted by itself.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "datatype/timestamp.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/datetime.h"

#include "projection/window.h"

PG_FUNCTION_INFO_V1(lb_window_sql);

#define UNIX_TO_PG_SECS \
	((POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * (int64) SECS_PER_DAY)

/* No zone has ever been further than this from UTC. */
#define OFFSET_MAX			(16 * SECS_PER_HOUR)

static int64
floor_div(int64 a, int64 b)
{
	return a / b - (a % b < 0);
}

static pg_time_t
to_unix(TimestampTz t)
{
	return floor_div(t, USECS_PER_SEC) + UNIX_TO_PG_SECS;
}

static TimestampTz
from_unix(pg_time_t t)
{
	return (t - UNIX_TO_PG_SECS) * USECS_PER_SEC;
}

/*
 * The offset in force at t, and the next instant at which it changes (the
 * largest possible one if it never does).
 */
static long
offset_at(pg_time_t t, pg_tz *zone, pg_time_t *until)
{
	for (pg_time_t at = t;;)
	{
		long		before;
		long		after;
		int			before_isdst;
		int			after_isdst;
		int			found = pg_next_dst_boundary(&at, &before, &before_isdst,
												 until, &after, &after_isdst,
												 zone);

		if (found <= 0)
			*until = PG_INT64_MAX;
		if (found <= 0 || before != after)
			return before;
		at = *until;			/* a change of name only */
	}
}

/* The first instant whose local time reaches local. */
static pg_time_t
first_instant(int64 local, pg_tz *zone)
{
	pg_time_t	from = local - OFFSET_MAX;

	for (;;)
	{
		pg_time_t	until;
		long		offset = offset_at(from, zone, &until);
		pg_time_t	reached = Max(from, local - offset);

		if (reached < until)
			return reached;
		from = until;
	}
}

/* Local days since 1970-01-01 at which the period of that day begins and ends. */
static void
period_days(LbPeriod period, int64 day, int64 *first, int64 *next)
{
	int			year;
	int			month;
	int			mday;

	*first = day;
	*next = day + 1;
	if (period == LB_PERIOD_WEEK)
	{
		*first = day - (day + 3 - 7 * floor_div(day + 3, 7));
		*next = *first + 7;
		return;
	}
	if (period != LB_PERIOD_MONTH && period != LB_PERIOD_YEAR)
		return;
	j2date(day + UNIX_EPOCH_JDATE, &year, &month, &mday);
	if (period == LB_PERIOD_YEAR)
	{
		*first = date2j(year, 1, 1) - UNIX_EPOCH_JDATE;
		*next = date2j(year + 1, 1, 1) - UNIX_EPOCH_JDATE;
	}
	else
	{
		*first = date2j(year, month, 1) - UNIX_EPOCH_JDATE;
		*next = (month == 12 ? date2j(year + 1, 1, 1) :
				 date2j(year, month + 1, 1)) - UNIX_EPOCH_JDATE;
	}
}

static LbWindow
days_window(LbPeriod period, pg_time_t t, pg_tz *zone)
{
	pg_time_t	until;
	int64		day = floor_div(t + offset_at(t, zone, &until), SECS_PER_DAY);
	int64		first;
	int64		next;
	LbWindow	window;
	pg_time_t	closes;

	period_days(period, day, &first, &next);
	closes = first_instant(next * SECS_PER_DAY, zone);
	if (t >= closes)
	{
		/* the clock was set back across the boundary, which stays passed */
		period_days(period, next, &first, &next);
		closes = first_instant(next * SECS_PER_DAY, zone);
	}
	window.opens = from_unix(first_instant(first * SECS_PER_DAY, zone));
	window.closes = from_unix(closes);
	return window;
}

static LbWindow
hour_window(pg_time_t t, pg_tz *zone)
{
	pg_time_t	until;
	long		offset = offset_at(t, zone, &until);
	pg_time_t	opens = floor_div(t + offset, SECS_PER_HOUR) * SECS_PER_HOUR - offset;
	pg_time_t	closes = Min(opens + SECS_PER_HOUR, until);
	LbWindow	window;

	/* no earlier than the change that brought this offset */
	for (pg_time_t from = opens; from < t; from = until)
	{
		(void) offset_at(from, zone, &until);
		if (until > t)
			break;
		opens = until;
	}
	window.opens = from_unix(opens);
	window.closes = from_unix(closes);
	return window;
}

/* The window of that period in which t falls. */
LbWindow
lb_window(LbPeriod period, TimestampTz t, pg_tz *zone)
{
	LbWindow	forever = {DT_NOBEGIN, DT_NOEND};

	if (period == LB_PERIOD_ALL || lb_period_rolls(period))
		return forever;
	if (period == LB_PERIOD_HOUR)
		return hour_window(to_unix(t), zone);
	return days_window(period, to_unix(t), zone);
}

/*
 * The calendar periods whose windows had settled before the event came in:
 * for those it is late.  hour is the event's own hour, which settles first.
 */
int16
lb_late_set(TimestampTz event_time, TimestampTz ingest_time, int64 lateness,
			pg_tz *zone, LbWindow hour)
{
	int16		late = 0;

	if (ingest_time - lateness <= hour.closes)
		return 0;
	for (LbPeriod period = LB_PERIOD_HOUR; period <= LB_PERIOD_YEAR; period++)
	{
		LbWindow	window = lb_window(period, event_time, zone);

		if (ingest_time - lateness > window.closes)
			late |= LB_LATE(period);
	}
	return late;
}

/* lb._window(period, at, timezone) -> opens, closes */
Datum
lb_window_sql(PG_FUNCTION_ARGS)
{
	int32		units;
	LbPeriod	period = lb_parse_period(text_to_cstring(PG_GETARG_TEXT_PP(0)),
										 USECS_PER_HOUR, &units);
	pg_tz	   *zone = pg_tzset(text_to_cstring(PG_GETARG_TEXT_PP(2)));
	LbWindow	window;
	TupleDesc	desc;
	Datum		values[2];
	bool		nulls[2] = {false, false};

	if (zone == NULL || TIMESTAMP_NOT_FINITE(PG_GETARG_TIMESTAMPTZ(1)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a window needs a known time zone and a finite instant")));
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "lb._window must return a row");
	window = lb_window(period, PG_GETARG_TIMESTAMPTZ(1), zone);
	values[0] = TimestampTzGetDatum(window.opens);
	values[1] = TimestampTzGetDatum(window.closes);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc),
													  values, nulls)));
}
