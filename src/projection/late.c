/*-------------------------------------------------------------------------
 *
 * late.c
 *	  For which windows an event is late.
 *
 * An event is late for a window that had settled when it came in.  Buckets
 * keep the set of those windows, so that one event can be late for its day and
 * in time for its week, and a board need not read the log to be built.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "catalog/pg_type.h"

#include "definition/gate.h"
#include "projection/late.h"

static void
add_rule(LbLateRules *rules, LbLateRule rule)
{
	rules->rules[rules->n++] = rule;
	rules->shortest = Min(rules->shortest, rule.lateness);
	if (rule.period == LB_PERIOD_HOUR)
		rules->hourly |= LB_LATE(rule.bit);
}

/* The classes of the counter's boards, which most counters have none of. */
static void
add_classes(LbLateRules *rules, int64 counter_id)
{
	static LbPlan plan = {
		"SELECT l.bit, l.period, l.starts, l.lateness FROM lb.late_class l "
		"WHERE l.counter_id OPERATOR(pg_catalog.=) $1",
		1, {INT8OID}
	};
	Datum		values[1] = {Int64GetDatum(counter_id)};
	uint64		n = lb_run(&plan, values, NULL, false, 0, SPI_OK_SELECT);

	for (uint64 i = 0; i < n; i++)
	{
		HeapTuple	row = SPI_tuptable->vals[i];
		TupleDesc	desc = SPI_tuptable->tupdesc;
		bool		isnull;
		int32		units;
		LbLateRule	rule;

		rule.bit = DatumGetInt32(SPI_getbinval(row, desc, 1, &isnull));
		rule.period = lb_parse_period(SPI_getvalue(row, desc, 2), USECS_PER_HOUR,
									  &units);
		rule.starts = lb_interval_usecs(DatumGetIntervalP(SPI_getbinval(row, desc, 3, &isnull)));
		rule.lateness = lb_interval_usecs(DatumGetIntervalP(SPI_getbinval(row, desc, 4, &isnull)));
		if (rule.bit < LB_LATE_CLASS_MIN || rule.bit > LB_LATE_CLASS_MAX)
			elog(ERROR, "unknown late class %d", rule.bit);
		add_rule(rules, rule);
	}
	SPI_freetuptable(SPI_tuptable);
}

/* By what the counter's events are judged. */
void
lb_late_rules(LbLateRules *rules, const LbCounter *counter)
{
	rules->n = 0;
	rules->shortest = PG_INT64_MAX;
	rules->hourly = 0;
	for (LbPeriod period = LB_PERIOD_HOUR; period <= LB_PERIOD_YEAR; period++)
		add_rule(rules, (LbLateRule) {period, period, 0, counter->lateness});
	if (counter->has_late_classes)
		add_classes(rules, counter->counter_id);
}

/* Had the window of the rule in which the event falls settled when it came in? */
static bool
is_late(const LbLateRule *rule, pg_tz *zone, TimestampTz event_time,
		TimestampTz ingest_time)
{
	return ingest_time - rule->lateness >
		lb_window(rule->period, rule->starts, event_time, zone).closes;
}

/* The same of a single period, whatever it is; one that rolls never settles. */
bool
lb_is_late(LbPeriod period, int64 starts, int64 lateness, pg_tz *zone,
		   TimestampTz event_time, TimestampTz ingest_time)
{
	LbLateRule	rule = {.period = period, .starts = starts, .lateness = lateness};

	return period != LB_PERIOD_ALL && !lb_period_rolls(period) &&
		is_late(&rule, zone, event_time, ingest_time);
}

/*
 * The windows for which the event is late.  Nothing is as long as the event's
 * own bucket, which ends before any of them, is in time for the strictest.
 */
int32
lb_late_set(const LbLateRules *rules, pg_tz *zone, TimestampTz event_time,
			TimestampTz ingest_time, LbWindow bucket)
{
	int32		late = 0;

	if (ingest_time - rules->shortest <= bucket.closes)
		return 0;
	for (int i = 0; i < rules->n; i++)
		if (is_late(&rules->rules[i], zone, event_time, ingest_time))
			late |= LB_LATE(rules->rules[i].bit);
	return late;
}
