/*-------------------------------------------------------------------------
 *
 * within.c
 *	  What is inside a window, read from the buckets.
 *
 * Everything is kept twice: by the counter's grain, and by local days.  A
 * window is read as the whole days inside it and the grain at its edges, so
 * that a year costs a member some 365 rows and not 8,760.  Whoever reads
 * buckets reads them here: a new board, a window that slides, lb_value.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "definition/gate.h"
#include "projection/accum_row.h"
#include "projection/within.h"

#define FETCH_ROWS	1000

/* These run as the owner under whatever search_path the caller has. */
#define EQ " OPERATOR(pg_catalog.=) "

#define IN_STRETCH(span, opens, closes) \
	"WHERE b.counter_id" EQ "$1 AND b.span" EQ "'" span "' " \
	"AND b.opens OPERATOR(pg_catalog.>=) " opens " " \
	"AND b.opens OPERATOR(pg_catalog.<) " closes " "

void
lb_within_begin(LbWithin *within, const LbCounter *counter, LbWindow window)
{
	within->counter = counter;
	within->window = window;
	within->days = lb_whole_days(window, counter->zone);
	lb_probe_begin(&within->probe, LB_TABLE_BUCKET, counter->counter_id,
				   LB_BUCKET_KEYS);
}

/* For those who need the parts of days as well. */
void
lb_within_by_grain(LbWithin *within)
{
	within->days = (LbWindow) {within->window.closes, within->window.closes};
}

void
lb_within_end(LbWithin *within)
{
	lb_probe_end(&within->probe);
}

static void
read_stretch(LbWithin *within, LbText member, Datum name, char span,
			 LbWindow stretch, LbBucketFunction function, void *context)
{
	ScanKeyData keys[LB_BUCKET_KEYS];
	TupleTableSlot *slot;

	if (lb_is_empty(stretch))
		return;
	lb_key_int64(&keys[0], LB_BUCKET_KEY_COUNTER_ID, within->counter->counter_id);
	lb_key_int16(&keys[1], LB_BUCKET_KEY_VERSION, within->counter->version);
	lb_key_text(&keys[2], LB_BUCKET_KEY_MEMBER, name);
	lb_key_char(&keys[3], LB_BUCKET_KEY_SPAN, span);
	lb_key_from(&keys[4], LB_BUCKET_KEY_OPENS, stretch.opens);
	lb_key_before(&keys[5], LB_BUCKET_KEY_OPENS, stretch.closes);
	for (slot = lb_probe(&within->probe, keys, ForwardScanDirection);
		 slot != NULL; slot = lb_probe_next(&within->probe, ForwardScanDirection))
	{
		LbBucket	bucket = {.member = member};
		bool		isnull;

		CHECK_FOR_INTERRUPTS();
		bucket.stretch.opens = lb_slot_int64(slot, LB_BUCKET_OPENS);
		bucket.stretch.closes = lb_slot_int64(slot, LB_BUCKET_CLOSES);
		bucket.late = DatumGetInt32(slot_getattr(slot, LB_BUCKET_LATE, &isnull));
		lb_accum_from_slot(&bucket.accum, lb_bucket_columns(within->counter->op), slot);
		function(context, &bucket);
	}
}

/* The member's buckets in the window. */
void
lb_within(LbWithin *within, LbText member, LbBucketFunction function,
		  void *context)
{
	Datum		name = PointerGetDatum(cstring_to_text_with_len(member.data,
																member.len));

	read_stretch(within, member, name, LB_SPAN_GRAIN,
				 (LbWindow) {within->window.opens, within->days.opens},
				 function, context);
	read_stretch(within, member, name, LB_SPAN_DAY, within->days, function, context);
	read_stretch(within, member, name, LB_SPAN_GRAIN,
				 (LbWindow) {within->days.closes, within->window.closes},
				 function, context);
	pfree(DatumGetPointer(name));
}

static LbText
text_of_row(HeapTuple row, TupleDesc desc)
{
	bool		isnull;
	text	   *name = DatumGetTextPP(SPI_getbinval(row, desc, 1, &isnull));

	return (LbText) {VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name)};
}

static void
read_bucket(LbBucket *bucket, HeapTuple row, TupleDesc desc)
{
	bool		isnull;

	bucket->member = text_of_row(row, desc);
	bucket->stretch.opens = DatumGetTimestampTz(SPI_getbinval(row, desc, 2, &isnull));
	bucket->stretch.closes = DatumGetTimestampTz(SPI_getbinval(row, desc, 3, &isnull));
	bucket->late = DatumGetInt32(SPI_getbinval(row, desc, 4, &isnull));
	lb_read_accum(row, desc, 5, &bucket->accum);
}

/* Fetch the next rows of the portal; false behind the last. */
static bool
fetch(Portal portal)
{
	CHECK_FOR_INTERRUPTS();
	SPI_cursor_fetch(portal, true, FETCH_ROWS);
	if (SPI_processed > 0)
		return true;
	SPI_freetuptable(SPI_tuptable);
	SPI_cursor_close(portal);
	return false;
}

/*
 * Everybody's buckets of that span in the window, in any order; a sketch is
 * there until the function returns.
 */
void
lb_within_all(const LbCounter *counter, LbWindow window, char span,
			  LbBucketFunction function, void *context)
{
#define ALL(span) \
	{"SELECT b.member, b.opens, b.closes, b.late, b.n, b.value, b.wide, b.moved, " \
	"b.reached_at, b.last_id, b.sketch FROM lb.bucket b " IN_STRETCH(span, "$2", "$3") \
	"AND b.version" EQ "$4", 4, {INT8OID, TIMESTAMPTZOID, TIMESTAMPTZOID, INT2OID}}
	static LbPlan days = ALL("d");
	static LbPlan grain = ALL("g");
	Datum		values[4] = {Int64GetDatum(counter->counter_id),
		TimestampTzGetDatum(window.opens), TimestampTzGetDatum(window.closes),
	Int16GetDatum(counter->version)};
	Portal		portal = SPI_cursor_open(NULL, lb_plan(span == LB_SPAN_DAY ? &days : &grain),
										 values, NULL, true);
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext,
											   "leaderboard buckets read",
											   ALLOCSET_DEFAULT_SIZES);

	while (fetch(portal))
	{
		SPITupleTable *rows = SPI_tuptable;
		uint64		n = SPI_processed;

		for (uint64 i = 0; i < n; i++)
		{
			MemoryContext old = MemoryContextSwitchTo(work);
			LbBucket	bucket;

			read_bucket(&bucket, rows->vals[i], rows->tupdesc);
			MemoryContextSwitchTo(old);
			function(context, &bucket);
			MemoryContextReset(work);
		}
		SPI_freetuptable(rows);
	}
	MemoryContextDelete(work);
}

/*
 * The members with a bucket of that span in one of the two stretches, each
 * once, in their order.  They are to be found by time, hence by the index
 * bucket_time; "|| ''" keeps the planner from taking the primary key for the
 * sake of its order, with which it would read all of the counter's buckets.
 */
void
lb_members_within(const LbCounter *counter, LbWindow first, LbWindow second,
				  char span, LbMemberFunction function, void *context)
{
#define MEMBERS(span) \
	{"SELECT b.member OPERATOR(pg_catalog.||) '' FROM lb.bucket b " IN_STRETCH(span, "$2", "$3") \
	"UNION SELECT b.member OPERATOR(pg_catalog.||) '' FROM lb.bucket b " IN_STRETCH(span, "$4", "$5") \
	"ORDER BY 1", 5, \
	{INT8OID, TIMESTAMPTZOID, TIMESTAMPTZOID, TIMESTAMPTZOID, TIMESTAMPTZOID}}
	static LbPlan days = MEMBERS("d");
	static LbPlan grain = MEMBERS("g");
	Datum		values[5] = {Int64GetDatum(counter->counter_id),
		TimestampTzGetDatum(first.opens), TimestampTzGetDatum(first.closes),
	TimestampTzGetDatum(second.opens), TimestampTzGetDatum(second.closes)};
	Portal		portal = SPI_cursor_open(NULL, lb_plan(span == LB_SPAN_DAY ? &days : &grain),
										 values, NULL, true);

	while (fetch(portal))
	{
		SPITupleTable *rows = SPI_tuptable;
		uint64		n = SPI_processed;

		for (uint64 i = 0; i < n; i++)
			function(context, text_of_row(rows->vals[i], rows->tupdesc));
		SPI_freetuptable(rows);
	}
}

/* The instant before which the counter's grain rows are gone. */
TimestampTz
lb_counter_horizon(int64 counter_id)
{
	static LbPlan plan = {
		"SELECT h.horizon FROM lb.counter_horizon h WHERE h.counter_id" EQ "$1",
		1, {INT8OID}
	};
	Datum		values[1] = {Int64GetDatum(counter_id)};
	TimestampTz horizon = DT_NOBEGIN;
	bool		isnull;

	if (lb_run(&plan, values, NULL, true, 1, SPI_OK_SELECT) == 1)
		horizon = DatumGetTimestampTz(SPI_getbinval(SPI_tuptable->vals[0],
													SPI_tuptable->tupdesc, 1, &isnull));
	SPI_freetuptable(SPI_tuptable);
	return horizon;
}

/* A window whose edges were kept by the grain only can be read as long as they are. */
void
lb_check_within(const LbCounter *counter, LbWindow window)
{
	LbWindow	days = lb_whole_days(window, counter->zone);
	TimestampTz first = window.opens < days.opens ? window.opens : days.closes;
	TimestampTz horizon;

	if (first >= window.closes)
		return;					/* whole days only */
	horizon = lb_counter_horizon(counter->counter_id);
	if (first < horizon)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("what happened before %s is known by the day only",
						timestamptz_to_str(horizon)),
				 errhint("Ask for a window of whole days in the tenant's zone, or for a later one.")));
}
