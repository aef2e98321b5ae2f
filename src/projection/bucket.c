/*-------------------------------------------------------------------------
 *
 * bucket.c
 *	  lb.bucket: what a member has in a stretch of time.
 *
 * Everything is stored twice, by the counter's grain and by local days, so
 * that long windows are read from few rows (within.c).  A day's rows know
 * nothing of windows that are shorter than a day.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "projection/bucket.h"
#include "projection/round.h"
#include "projection/sketch.h"

static void
set_row(LbRow *row, const LbGroup *group, const LbAccum *accum, Datum member)
{
	lb_row_clear(row);
	lb_row_set(row, LB_BUCKET_COUNTER_ID, Int64GetDatum(group->counted->counter.counter_id));
	lb_row_set(row, LB_BUCKET_VERSION, Int16GetDatum(group->counted->counter.version));
	lb_row_set(row, LB_BUCKET_SPAN, CharGetDatum(group->span));
	lb_row_set(row, LB_BUCKET_LATE, Int32GetDatum(group->late));
	lb_row_set(row, LB_BUCKET_OPENS, TimestampTzGetDatum(group->bucket.opens));
	lb_row_set(row, LB_BUCKET_CLOSES, TimestampTzGetDatum(group->bucket.closes));
	lb_row_set(row, LB_BUCKET_MEMBER, member);
	lb_accum_to_row(accum, lb_bucket_columns(group->counted->counter.op), row);
}

static TupleTableSlot *
find_row(LbProbe *probe, const LbGroup *group, Datum member)
{
	ScanKeyData keys[LB_BUCKET_KEYS];

	lb_key_int64(&keys[0], LB_BUCKET_KEY_COUNTER_ID, group->counted->counter.counter_id);
	lb_key_int16(&keys[1], LB_BUCKET_KEY_VERSION, group->counted->counter.version);
	lb_key_text(&keys[2], LB_BUCKET_KEY_MEMBER, member);
	lb_key_char(&keys[3], LB_BUCKET_KEY_SPAN, group->span);
	lb_key_time(&keys[4], LB_BUCKET_KEY_OPENS, group->bucket.opens);
	lb_key_int32(&keys[5], LB_BUCKET_KEY_LATE, group->late);
	return lb_probe_row(probe, keys);
}

/* The group's own accumulation stays as it is: others point to its sketch. */
static void
store_group(LbProbe *probe, LbRows *rows, const LbGroup *group)
{
	LbOperator	op = group->counted->counter.op;
	Datum		member = PointerGetDatum(cstring_to_text_with_len(group->member.data,
																  group->member.len));
	TupleTableSlot *slot = find_row(probe, group, member);
	ItemPointerData tid;
	LbAccum		accum = {0};
	LbRow		row;

	if (slot != NULL)
	{
		lb_accum_from_slot(&accum, lb_bucket_columns(op), slot);
		tid = slot->tts_tid;
	}
	lb_accum_merge(op, &accum, &group->accum);
	lb_accum_settle(op, &accum);
	set_row(&row, group, &accum, member);
	if (slot != NULL)
		lb_rows_update(rows, &tid, &row);
	else
		lb_rows_insert(rows, &row);
}

/* Merge the groups, which are in the order of members and time, into the table. */
static void
store_groups(LbRound *round, LbGroup **groups, int n)
{
	MemoryContext old = CurrentMemoryContext;
	MemoryContext work = AllocSetContextCreate(old, "leaderboard buckets",
											   ALLOCSET_DEFAULT_SIZES);
	LbRows	   *rows = lb_rows_begin(LB_TABLE_BUCKET, 0);
	LbProbe		probe;

	PushActiveSnapshot(GetLatestSnapshot());
	lb_probe_begin(&probe, LB_TABLE_BUCKET, 0, LB_BUCKET_KEYS);
	for (int i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (i > 0 && groups[i]->counted != groups[i - 1]->counted)
			lb_cost_charge(round, groups[i - 1]->counted);
		MemoryContextSwitchTo(work);
		store_group(&probe, rows, groups[i]);
		MemoryContextSwitchTo(old);
		MemoryContextReset(work);
	}
	lb_probe_end(&probe);
	lb_rows_end(rows);
	PopActiveSnapshot();
	MemoryContextDelete(work);
	if (n > 0)
		lb_cost_charge(round, groups[n - 1]->counted);
}

static bool
is_of_day(const LbGroup *day, const LbGroup *group)
{
	return day->counted == group->counted &&
		lb_in_window(day->bucket, group->bucket.opens) &&
		lb_text_equal(day->member, group->member);
}

/* The row of a day to which the group belongs: one of the last, or a new one. */
static LbGroup *
day_of(LbGroup *days, int *n, const LbGroup *group)
{
	LbCounted  *counted = group->counted;
	int32		late = group->late & ~counted->late.hourly;
	LbGroup    *day;

	for (int i = *n - 1; i >= 0 && is_of_day(&days[i], group); i--)
		if (days[i].late == late)
			return &days[i];
	if (!lb_in_window(counted->day, group->bucket.opens))
		counted->day = lb_window(LB_PERIOD_DAY, 0, group->bucket.opens,
								 counted->counter.zone);
	day = &days[(*n)++];
	memset(day, 0, sizeof(*day));
	day->counted = counted;
	day->member = group->member;
	day->bucket = counted->day;
	day->span = LB_SPAN_DAY;
	day->late = late;
	return day;
}

/*
 * Store the groups, which are in the order of members and time and lie in the
 * current memory context, and the days that they add up to.
 */
void
lb_store_groups(LbRound *round, LbGroup **groups, int n)
{
	LbGroup    *days = MemoryContextAllocHuge(CurrentMemoryContext,
											  Max(n, 1) * sizeof(LbGroup));
	LbGroup   **sorted;
	int			ndays = 0;

	for (int i = 0; i < n; i++)
	{
		LbGroup    *day = day_of(days, &ndays, groups[i]);

		lb_accum_merge(day->counted->counter.op, &day->accum, &groups[i]->accum);
	}
	sorted = MemoryContextAllocHuge(CurrentMemoryContext,
									Max(ndays, 1) * sizeof(LbGroup *));
	for (int i = 0; i < ndays; i++)
		sorted[i] = &days[i];
	store_groups(round, groups, n);
	store_groups(round, sorted, ndays);
}
