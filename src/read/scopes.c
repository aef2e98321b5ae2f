/*-------------------------------------------------------------------------
 *
 * scopes.c
 *	  The best of several scopes: lb_top_scopes.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "read/overlay.h"

PG_FUNCTION_INFO_V1(lb_top_scopes);

static void
put_scope(FunctionCallInfo fcinfo, LbReading *reading, LbText scope, int n)
{
	LbEntry    *entries = palloc(n * sizeof(LbEntry));
	LbPlace    *places = palloc(n * sizeof(LbPlace));

	n = lb_order_page(reading, 1, n, entries, places);
	for (int i = 0; i < n; i++)
	{
		Datum		values[1 + LB_ANSWER_COLUMNS];
		bool		nulls[1 + LB_ANSWER_COLUMNS];

		values[0] = PointerGetDatum(cstring_to_text_with_len(scope.data, scope.len));
		nulls[0] = false;
		lb_answer_entry(reading, &entries[i], &places[i], values + 1, nulls + 1);
		lb_put_row(fcinfo, values, nulls);
	}
}

/* lb_top_scopes(board, scopes, n, at, ...): all of them with one snapshot. */
Datum
lb_top_scopes(PG_FUNCTION_ARGS)
{
	LbReading	board;
	LbText	   *scopes;
	MemoryContext work;
	MemoryContext old;
	int			nscopes;
	int			n = lb_rows_arg(fcinfo, 2, "n", 10);

	scopes = lb_texts_arg(fcinfo, 1, "scopes", &nscopes);
	lb_materialize(fcinfo);
	lb_reading_open(&board, fcinfo, 0, 3);
	work = AllocSetContextCreate(CurrentMemoryContext, "leaderboard scopes",
								 ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(work);
	for (int i = 0; i < nscopes; i++)
	{
		LbReading	reading = board;

		CHECK_FOR_INTERRUPTS();
		lb_reading_scope(&reading, scopes[i]);
		if (lb_reading_is_news(&reading))
			put_scope(fcinfo, &reading, scopes[i], n);
		lb_reading_end(&reading);
		MemoryContextReset(work);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(work);
	return (Datum) 0;
}
