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

#include "definition/gate.h"
#include "projection/accum_row.h"
#include "projection/within.h"

#define FETCH_ROWS	1000

/* These run as the owner under whatever search_path the caller has. */
#define EQ " OPERATOR(pg_catalog.=) "
#define FROM_ON " OPERATOR(pg_catalog.>=) "
#define BEFORE " OPERATOR(pg_catalog.<) "

#define COLUMNS \
	"b.opens, b.closes, b.late, b.n, b.value, b.wide, b.moved, b.reached_at, b.last_id"

#define STRETCH(columns, span, member, opens, closes) \
	"SELECT " columns " FROM lb.bucket b WHERE b.counter_id" EQ "$1 " \
	"AND b.version" EQ "$2 AND b.span" EQ "'" span "' " member \
	"AND b.opens" FROM_ON opens " AND b.opens" BEFORE closes " "

/* The whole days $3 to $4, and the grain between $5 and $6 outside of them. */
#define WITHIN(columns, member) \
	STRETCH(columns, "d", member, "$3", "$4") "UNION ALL " \
	STRETCH(columns, "g", member, "$5", "$3") "UNION ALL " \
	STRETCH(columns, "g", member, "$4", "$6")

#define WITHIN_ARGS		6

/* Members with a bucket of that span in $7 to $8 or $9 to $10. */
#define CHANGED(span) \
	"SELECT m.member, " COLUMNS " FROM (" \
	STRETCH("b.member", span, "", "$7", "$8") "UNION " \
	STRETCH("b.member", span, "", "$9", "$10") "ORDER BY 1) m " \
	"LEFT JOIN LATERAL (" WITHIN(COLUMNS, "AND b.member" EQ "m.member ") ") b ON true " \
	"ORDER BY m.member"

static void
set_window(Datum *values, const LbCounter *counter, LbWindow window)
{
	LbWindow	days = lb_whole_days(window, counter->zone);

	values[0] = Int64GetDatum(counter->counter_id);
	values[1] = Int16GetDatum(counter->version);
	values[2] = TimestampTzGetDatum(days.opens);
	values[3] = TimestampTzGetDatum(days.closes);
	values[4] = TimestampTzGetDatum(window.opens);
	values[5] = TimestampTzGetDatum(window.closes);
}

/* A row of member, COLUMNS; one without a bucket is of a member that has none. */
static void
read_bucket(LbBucket *bucket, HeapTuple row, TupleDesc desc)
{
	bool		isnull;
	Datum		member = SPI_getbinval(row, desc, 1, &isnull);
	text	   *name;

	memset(bucket, 0, sizeof(*bucket));
	if (!isnull)
	{
		name = DatumGetTextPP(member);
		bucket->member = (LbText) {VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name)};
	}
	bucket->stretch.opens = DatumGetTimestampTz(SPI_getbinval(row, desc, 2, &isnull));
	if (isnull)
		return;
	bucket->stretch.closes = DatumGetTimestampTz(SPI_getbinval(row, desc, 3, &isnull));
	bucket->late = DatumGetInt32(SPI_getbinval(row, desc, 4, &isnull));
	lb_read_accum(row, desc, 5, &bucket->accum);
}

static void
each_row(SPITupleTable *rows, uint64 n, LbBucketFunction function, void *context)
{
	for (uint64 i = 0; i < n; i++)
	{
		LbBucket	bucket;

		read_bucket(&bucket, rows->vals[i], rows->tupdesc);
		function(context, &bucket);
	}
}

/* Many rows, a piece at a time. */
static void
stream(LbPlan *plan, Datum *values, LbBucketFunction function, void *context)
{
	Portal		portal = SPI_cursor_open(NULL, lb_plan(plan), values, NULL, true);

	if (portal == NULL)
		elog(ERROR, "could not open a cursor for \"%s\"", plan->sql);
	for (;;)
	{
		SPITupleTable *fetched;
		uint64		n;

		CHECK_FOR_INTERRUPTS();
		SPI_cursor_fetch(portal, true, FETCH_ROWS);
		fetched = SPI_tuptable;
		n = SPI_processed;
		each_row(fetched, n, function, context);
		SPI_freetuptable(fetched);
		if (n == 0)
			break;
	}
	SPI_cursor_close(portal);
}

/* The member's buckets in the window, in any order. */
void
lb_within(const LbCounter *counter, LbWindow window, LbText member,
		  LbBucketFunction function, void *context)
{
	static LbPlan plan = {
		WITHIN("b.member, " COLUMNS, "AND b.member" EQ "$7 "),
		WITHIN_ARGS + 1, {INT8OID, INT2OID, TIMESTAMPTZOID, TIMESTAMPTZOID,
		TIMESTAMPTZOID, TIMESTAMPTZOID, TEXTOID}
	};
	Datum		values[WITHIN_ARGS + 1];
	uint64		n;

	set_window(values, counter, window);
	values[WITHIN_ARGS] = PointerGetDatum(cstring_to_text_with_len(member.data,
																   member.len));
	n = lb_run(&plan, values, NULL, true, 0, SPI_OK_SELECT);
	each_row(SPI_tuptable, n, function, context);
	SPI_freetuptable(SPI_tuptable);
}

/*
 * Everybody's buckets in the window, in any order: days for those who need no
 * less, the grain for others.
 */
void
lb_within_all(const LbCounter *counter, LbWindow window, bool whole_days,
			  LbBucketFunction function, void *context)
{
#define ALL(span) \
	{STRETCH("b.member, " COLUMNS, span, "", "$3", "$4"), 4, \
	{INT8OID, INT2OID, TIMESTAMPTZOID, TIMESTAMPTZOID}}
	static LbPlan days = ALL("d");
	static LbPlan grain = ALL("g");
	Datum		values[4] = {Int64GetDatum(counter->counter_id),
		Int16GetDatum(counter->version), TimestampTzGetDatum(window.opens),
	TimestampTzGetDatum(window.closes)};

	stream(whole_days ? &days : &grain, values, function, context);
}

/*
 * The buckets in the window of every member who has some in what left the
 * window or entered it, member by member; one row without a bucket for a
 * member who has none in the window any more.
 */
void
lb_within_changed(const LbCounter *counter, LbWindow window, LbWindow left,
				  LbWindow entered, bool whole_days, LbBucketFunction function,
				  void *context)
{
#define CHANGED_PLAN(span) \
	{CHANGED(span), WITHIN_ARGS + 4, \
	{INT8OID, INT2OID, TIMESTAMPTZOID, TIMESTAMPTZOID, TIMESTAMPTZOID, \
	TIMESTAMPTZOID, TIMESTAMPTZOID, TIMESTAMPTZOID, TIMESTAMPTZOID, TIMESTAMPTZOID}}
	static LbPlan days = CHANGED_PLAN("d");
	static LbPlan grain = CHANGED_PLAN("g");
	Datum		values[WITHIN_ARGS + 4];

	set_window(values, counter, window);
	values[6] = TimestampTzGetDatum(left.opens);
	values[7] = TimestampTzGetDatum(left.closes);
	values[8] = TimestampTzGetDatum(entered.opens);
	values[9] = TimestampTzGetDatum(entered.closes);
	stream(whole_days ? &days : &grain, values, function, context);
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
