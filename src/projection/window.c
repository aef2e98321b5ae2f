/*-------------------------------------------------------------------------
 *
 * window.c
 *	  Calendar windows, rolling windows and buckets in a named time zone.
 *
 * A boundary is the first instant whose local time reaches it.  That is the
 * one rule that holds where clocks skip midnight or show it twice, and under
 * which windows neither overlap nor leave gaps.  A window that starts later
 * than the calendar opens at the first instant whose local time reaches that
 * much later.  An hour, and a bucket of any grain, is a stretch of one offset
 * from UTC, so where the clock is set back by an hour the local hour comes
 * twice, and where it is set back by half an hour a short one is counted by
 * itself.
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

/* The local days of the window in which t falls. */
static void
find_days(LbPeriod period, int64 starts, pg_time_t t, pg_tz *zone,
		  int64 *first, int64 *next)
{
	pg_time_t	until;
	int64		local = t + offset_at(t, zone, &until) - starts;

	period_days(period, floor_div(local, SECS_PER_DAY), first, next);
	/* the clock may have been set back across a boundary, which stays passed */
	while (t >= first_instant(*next * SECS_PER_DAY + starts, zone))
		period_days(period, *next, first, next);
}

static LbWindow
days_window(LbPeriod period, int64 starts, pg_time_t t, pg_tz *zone)
{
	int64		first;
	int64		next;
	LbWindow	window;

	find_days(period, starts, t, zone, &first, &next);
	window.opens = from_unix(first_instant(first * SECS_PER_DAY + starts, zone));
	window.closes = from_unix(first_instant(next * SECS_PER_DAY + starts, zone));
	return window;
}

/* The change that brought the offset in force at t, if it was after from; else from. */
static pg_time_t
offset_since(pg_time_t from, pg_time_t t, pg_tz *zone)
{
	for (;;)
	{
		pg_time_t	until;

		(void) offset_at(from, zone, &until);
		if (until > t)
			return from;
		from = until;
	}
}

/* A stretch of grain in local time, within one offset. */
LbWindow
lb_bucket_window(int64 grain, TimestampTz at, pg_tz *zone)
{
	pg_time_t	t = to_unix(at);
	int64		length = grain / USECS_PER_SEC;
	pg_time_t	until;
	long		offset = offset_at(t, zone, &until);
	pg_time_t	opens = floor_div(t + offset, length) * length - offset;
	LbWindow	window;

	window.closes = from_unix(Min(opens + length, until));
	window.opens = from_unix(offset_since(opens, t, zone));
	return window;
}

/*
 * Where the bucket opens that is n before the one that opens at t.  A change of
 * the offset cuts the bucket before it short; between two changes buckets are
 * as long as the grain, but for the first.
 */
static pg_time_t
buckets_before(pg_time_t t, int64 n, int64 grain, pg_tz *zone)
{
	int64		length = grain / USECS_PER_SEC;

	while (n > 0)
	{
		pg_time_t	from;
		pg_time_t	since;
		int64		here;

		t = to_unix(lb_bucket_window(grain, from_unix(t - 1), zone).opens);
		from = t - --n * length;
		since = offset_since(from, t, zone);
		if (since == from)
			return from;
		here = (t - since + length - 1) / length;
		t = Max(since, from);
		n -= Min(n, here);
	}
	return t;
}

/* The window of that calendar period in which t falls. */
LbWindow
lb_window(LbPeriod period, int64 starts, TimestampTz t, pg_tz *zone)
{
	LbWindow	forever = {DT_NOBEGIN, DT_NOEND};

	if (period == LB_PERIOD_ALL)
		return forever;
	if (period == LB_PERIOD_HOUR)
		return lb_bucket_window(USECS_PER_HOUR, t, zone);
	return days_window(period, starts / USECS_PER_SEC, to_unix(t), zone);
}

static LbWindow
last_buckets(int64 n, int64 length, TimestampTz as_of, pg_tz *zone)
{
	LbWindow	window = lb_bucket_window(length, as_of, zone);

	window.opens = from_unix(buckets_before(to_unix(window.opens), n - 1, length, zone));
	return window;
}

static LbWindow
last_days(int64 n, TimestampTz as_of, pg_tz *zone)
{
	int64		first;
	int64		next;
	LbWindow	window;

	find_days(LB_PERIOD_DAY, 0, to_unix(as_of), zone, &first, &next);
	window.opens = from_unix(first_instant((first - (n - 1)) * SECS_PER_DAY, zone));
	window.closes = from_unix(first_instant(next * SECS_PER_DAY, zone));
	return window;
}

/*
 * What a rolling period covers at as_of: the unit in which that falls and
 * those before it, units in all.  Before the first round, nothing.
 */
LbWindow
lb_rolling_window(LbPeriod period, int32 units, int64 grain, TimestampTz as_of,
				  pg_tz *zone)
{
	if (TIMESTAMP_NOT_FINITE(as_of))
		return (LbWindow) {DT_NOBEGIN, DT_NOBEGIN};
	if (period == LB_PERIOD_MINUTES)
		return last_buckets(units * USECS_PER_MINUTE / grain, grain, as_of, zone);
	if (period == LB_PERIOD_HOURS)
		return last_buckets(units, USECS_PER_HOUR, as_of, zone);
	return last_days(units, as_of, zone);
}

/* The stretch of whole local days inside the window; empty if there is none. */
LbWindow
lb_whole_days(LbWindow window, pg_tz *zone)
{
	LbWindow	days = window;

	if (!TIMESTAMP_NOT_FINITE(window.opens))
	{
		LbWindow	day = lb_window(LB_PERIOD_DAY, 0, window.opens, zone);

		if (day.opens < window.opens)
			days.opens = day.closes;
	}
	if (!TIMESTAMP_NOT_FINITE(window.closes))
		days.closes = lb_window(LB_PERIOD_DAY, 0, window.closes, zone).opens;
	if (lb_is_empty(days))
		days.opens = days.closes = window.closes;
	return days;
}

/*
 * lb._window(period, at, timezone, starts, grain) -> opens, closes; of a
 * rolling period, what it covers at that time.
 */
Datum
lb_window_sql(PG_FUNCTION_ARGS)
{
	TimestampTz at = PG_GETARG_TIMESTAMPTZ(1);
	pg_tz	   *zone = pg_tzset(text_to_cstring(PG_GETARG_TEXT_PP(2)));
	int64		starts = lb_interval_usecs(PG_GETARG_INTERVAL_P(3));
	int64		grain = lb_interval_usecs(PG_GETARG_INTERVAL_P(4));
	int32		units;
	LbPeriod	period = lb_parse_period(text_to_cstring(PG_GETARG_TEXT_PP(0)),
										 grain, &units);
	LbWindow	window;
	TupleDesc	desc;
	Datum		values[2];
	bool		nulls[2] = {false, false};

	if (zone == NULL || TIMESTAMP_NOT_FINITE(at))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a window needs a known time zone and a finite instant")));
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "lb._window must return a row");
	window = lb_period_rolls(period) ?
		lb_rolling_window(period, units, grain, at, zone) :
		lb_window(period, starts, at, zone);
	values[0] = TimestampTzGetDatum(window.opens);
	values[1] = TimestampTzGetDatum(window.closes);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc),
													  values, nulls)));
}
