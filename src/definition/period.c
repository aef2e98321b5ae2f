/*-------------------------------------------------------------------------
 *
 * period.c
 *	  The periods that a board can have, and how they are written.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "definition/lookup.h"
#include "definition/period.h"

PG_FUNCTION_INFO_V1(lb_period_sql);

static const char *const calendar[] = {"all", "hour", "day", "week", "month", "year"};

/* From LB_PERIOD_MINUTES on; longer windows are calendar ones. */
static const struct
{
	const char *unit;
	int			most;
}			rolling[] = {{"minute", 1440}, {"hour", 168}, {"day", 400}};

lb_noreturn static void
invalid_period(const char *period)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid period \"%s\"", period),
			 errhint("A period is one of all, hour, day, week, month, year, or \"last N minutes\" (1 to %d, a multiple of the counter's grain), \"last N hours\" (1 to %d) or \"last N days\" (1 to %d).",
					 rolling[0].most, rolling[1].most, rolling[2].most)));
}

/* The number in "last N unit", which has no leading zeros; 0 if there is none. */
static int
parse_units(const char **p)
{
	int			units = 0;

	if (**p == '0')
		return 0;
	for (; **p >= '0' && **p <= '9' && units <= 10000; (*p)++)
		units = units * 10 + (**p - '0');
	return units;
}

static int
parse_unit(const char *word)
{
	for (int i = 0; i < (int) lengthof(rolling); i++)
	{
		size_t		len = strlen(rolling[i].unit);

		if (strncmp(word, rolling[i].unit, len) == 0 &&
			(word[len] == '\0' || strcmp(word + len, "s") == 0))
			return i;
	}
	return -1;
}

/*
 * The period of that name, for a counter whose buckets are of that grain; of a
 * rolling one also how many units it covers.
 */
LbPeriod
lb_parse_period(const char *period, int64 grain, int32 *units)
{
	const char *p = period;
	int			unit;

	*units = 0;
	for (int i = 0; i < (int) lengthof(calendar); i++)
		if (strcmp(period, calendar[i]) == 0)
			return (LbPeriod) i;
	if (strncmp(p, "last ", 5) != 0)
		invalid_period(period);
	p += 5;
	*units = parse_units(&p);
	if (*units == 0 || *p != ' ' || (unit = parse_unit(p + 1)) < 0 ||
		*units > rolling[unit].most)
		invalid_period(period);
	if (unit == 0 && *units * USECS_PER_MINUTE % grain != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("period \"%s\" is no multiple of the counter's grain", period),
				 errhint("The counter's buckets are %d minutes long: ask for a multiple of that, or make a counter of a finer grain.",
						 (int) (grain / USECS_PER_MINUTE))));
	return (LbPeriod) (LB_PERIOD_MINUTES + unit);
}

/* lb._period(period, grain): the period as it is stored, or 22023. */
Datum
lb_period_sql(PG_FUNCTION_ARGS)
{
	int32		units;
	LbPeriod	period = lb_parse_period(text_to_cstring(PG_GETARG_TEXT_PP(0)),
										 lb_interval_usecs(PG_GETARG_INTERVAL_P(1)),
										 &units);

	if (!lb_period_rolls(period))
		PG_RETURN_TEXT_P(cstring_to_text(calendar[period]));
	PG_RETURN_TEXT_P(cstring_to_text(psprintf("last %d %ss", units,
											  rolling[period - LB_PERIOD_MINUTES].unit)));
}
