/*-------------------------------------------------------------------------
 *
 * list.c
 *	  Stretches of a board: lb_top, lb_page, lb_around.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "read/overlay.h"

PG_FUNCTION_INFO_V1(lb_top);
PG_FUNCTION_INFO_V1(lb_page);
PG_FUNCTION_INFO_V1(lb_around);

static void
put_entry(FunctionCallInfo fcinfo, LbReading *reading,
		  const LbEntry *entry, const LbPlace *place)
{
	Datum		values[LB_ANSWER_COLUMNS];
	bool		nulls[LB_ANSWER_COLUMNS];

	lb_answer_entry(reading, entry, place, values, nulls);
	lb_put_row(fcinfo, values, nulls);
}

static void
put_page(FunctionCallInfo fcinfo, LbReading *reading, int64 first, int n)
{
	LbEntry    *entries = palloc(n * sizeof(LbEntry));
	LbPlace    *places = palloc(n * sizeof(LbPlace));

	n = lb_order_page(reading, first, n, entries, places);
	for (int i = 0; i < n; i++)
		put_entry(fcinfo, reading, &entries[i], &places[i]);
}

/* lb_top(board, n, scope, at, ...) */
Datum
lb_top(PG_FUNCTION_ARGS)
{
	LbReading	reading;
	int			n = lb_rows_arg(fcinfo, 1, "n", 10);

	lb_materialize(fcinfo);
	if (!lb_reading_begin(&reading, fcinfo, 0, 2, 3))
		return (Datum) 0;
	put_page(fcinfo, &reading, 1, n);
	lb_reading_end(&reading);
	return (Datum) 0;
}

/* lb_page(board, first, n, scope, at, ...) */
Datum
lb_page(PG_FUNCTION_ARGS)
{
	LbReading	reading;
	int64		first;
	int			n = lb_rows_arg(fcinfo, 2, "n", 10);

	lb_check_not_null(fcinfo, 1, "first");
	first = PG_GETARG_INT64(1);
	if (first < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"first\" must be at least 1"),
				 errhint("The best place is 1.")));
	lb_materialize(fcinfo);
	if (!lb_reading_begin(&reading, fcinfo, 0, 3, 4))
		return (Datum) 0;
	put_page(fcinfo, &reading, first, n);
	lb_reading_end(&reading);
	return (Datum) 0;
}

static void
put_unranked(FunctionCallInfo fcinfo, const LbReading *reading, LbText member)
{
	Datum		values[LB_ANSWER_COLUMNS];
	bool		nulls[LB_ANSWER_COLUMNS];

	lb_answer_unranked(reading, member, values, nulls);
	lb_put_row(fcinfo, values, nulls);
}

static void
put_around(FunctionCallInfo fcinfo, LbReading *reading, LbText member, int n)
{
	LbEntry    *entries = palloc((2 * n + 1) * sizeof(LbEntry));
	LbPlace    *places = palloc((2 * n + 1) * sizeof(LbPlace));
	const LbOverlay *overlay = lb_overlay_of(reading, member);
	LbEntry		entry;
	int			found;

	if (overlay != NULL && overlay->ranked)
		found = lb_overlay_around(reading, overlay, n, entries, places);
	else if (overlay == NULL && lb_order_find(reading, member, &entry))
		found = lb_order_around(reading, &entry, n, entries, places);
	else
	{
		put_unranked(fcinfo, overlay == NULL ? reading : &overlay->view, member);
		return;
	}
	for (int i = 0; i < found; i++)
		put_entry(fcinfo, reading, &entries[i], &places[i]);
}

/* lb_around(board, member, n, scope, at, ...) */
Datum
lb_around(PG_FUNCTION_ARGS)
{
	LbReading	reading;
	int			n = lb_rows_arg(fcinfo, 2, "n", 5);

	lb_check_not_null(fcinfo, 1, "member");
	lb_materialize(fcinfo);
	if (!lb_reading_begin(&reading, fcinfo, 0, 3, 4))
		return (Datum) 0;
	put_around(fcinfo, &reading, lb_text_arg(fcinfo, 1), n);
	lb_reading_end(&reading);
	return (Datum) 0;
}
