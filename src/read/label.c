/*-------------------------------------------------------------------------
 *
 * label.c
 *	  What people call a window: 2026-W48, 2026-12-01, 2026-12, 2026,
 *	  2026-12-01 13:00.
 *
 * A window is called by the calendar's date in the tenant's zone.  One that
 * starts later than the calendar's is called by the day, week, month or year
 * that it belongs to.  Where clocks are set back an hour comes twice; both are
 * then told apart by their offset from UTC.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "utils/datetime.h"
#include "utils/timestamp.h"

#include "read/label.h"

static pg_time_t
to_unix(TimestampTz t)
{
	/* windows open at whole seconds */
	return (pg_time_t) (t / USECS_PER_SEC) +
		(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * (pg_time_t) SECS_PER_DAY;
}

/* Does the local time at t, of that offset, come twice? */
static bool
comes_twice(pg_time_t t, long offset, pg_tz *zone)
{
	pg_time_t	at = t - SECS_PER_DAY;
	pg_time_t	local = t + offset;

	for (;;)
	{
		pg_time_t	boundary;
		long		before;
		long		after;
		int			isdst;

		if (pg_next_dst_boundary(&at, &before, &isdst, &boundary, &after,
								 &isdst, zone) <= 0 ||
			boundary > t + SECS_PER_DAY)
			return false;
		if (local >= boundary + after && local < boundary + before)
			return true;
		at = boundary;
	}
}

static char *
hour_label(TimestampTz opens, pg_tz *zone)
{
	pg_time_t	t = to_unix(opens);
	struct pg_tm tm = *pg_localtime(&t, zone);
	long		offset = tm.tm_gmtoff;
	char	   *label = psprintf("%04d-%02d-%02d %02d:%02d", tm.tm_year + 1900,
								 tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min);

	if (!comes_twice(t, offset, zone))
		return label;
	return psprintf("%s%c%02d:%02d", label, offset < 0 ? '-' : '+',
					(int) (labs(offset) / SECS_PER_HOUR),
					(int) (labs(offset) / SECS_PER_MINUTE % MINS_PER_HOUR));
}

static char *
date_label(const LbBoard *board, TimestampTz opens)
{
	pg_time_t	t = to_unix(opens);
	pg_time_t	date = t + pg_localtime(&t, board->zone)->tm_gmtoff -
		board->starts / USECS_PER_SEC;
	struct pg_tm tm = *pg_gmtime(&date);
	int			year = tm.tm_year + 1900;
	int			month = tm.tm_mon + 1;

	switch (board->period)
	{
		case LB_PERIOD_YEAR:
			return psprintf("%04d", year);
		case LB_PERIOD_MONTH:
			return psprintf("%04d-%02d", year, month);
		case LB_PERIOD_WEEK:
			return psprintf("%04d-W%02d", date2isoyear(year, month, tm.tm_mday),
							date2isoweek(year, month, tm.tm_mday));
		default:
			return psprintf("%04d-%02d-%02d", year, month, tm.tm_mday);
	}
}

/* The label of one of the board's windows; of a rolling board, its period. */
char *
lb_window_label(const LbBoard *board, LbWindow window)
{
	static const char *const units[] = {"minutes", "hours", "days"};

	if (board->period == LB_PERIOD_ALL)
		return pstrdup("all");
	if (lb_period_rolls(board->period))
		return psprintf("last %d %s", board->units,
						units[board->period - LB_PERIOD_MINUTES]);
	if (board->period == LB_PERIOD_HOUR)
		return hour_label(window.opens, board->zone);
	return date_label(board, window.opens);
}
