/*-------------------------------------------------------------------------
 *
 * windows.c
 *	  The windows of a board: lb_windows, lb_next_reset.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"

#include "read/answer.h"
#include "read/label.h"

PG_FUNCTION_INFO_V1(lb_windows);
PG_FUNCTION_INFO_V1(lb_next_reset);

#define EQ " OPERATOR(pg_catalog.=) "

static bool
has_one_window(const LbBoard *board)
{
	return board->period == LB_PERIOD_ALL || lb_period_rolls(board->period);
}

static void
put_window(FunctionCallInfo fcinfo, LbReading *reading, LbWindow window,
		   int64 population)
{
	Datum		values[6];
	bool		nulls[6] = {false};

	reading->window = window;
	values[0] = CStringGetTextDatum(lb_window_label(&reading->board, window));
	values[1] = TimestampTzGetDatum(window.opens);
	values[2] = TimestampTzGetDatum(window.closes);
	values[3] = TimestampTzGetDatum(lb_reading_settles(reading));
	values[4] = CStringGetTextDatum(lb_reading_state(reading));
	values[5] = Int64GetDatum(population);
	lb_put_row(fcinfo, values, nulls);
}

/* The rankings of the scope, the newest first, with what they hold now. */
static uint64
find_rankings(const LbBoard *board, LbText scope, int n)
{
	static LbPlan plan = {
		"SELECT r.opens, r.closes, "
		"(SELECT v.population FROM lb.version v WHERE v.counter_id" EQ "r.counter_id "
		"AND v.ranking_id" EQ "r.ranking_id ORDER BY v.version DESC LIMIT 1) "
		"FROM lb.ranking r WHERE r.counter_id" EQ "$1 AND r.board_id" EQ "$2 "
		"AND r.scope" EQ "$3 ORDER BY r.opens DESC LIMIT $4",
		4, {INT8OID, INT8OID, TEXTOID, INT8OID}
	};
	Datum		values[4] = {Int64GetDatum(board->counter_id),
		Int64GetDatum(board->board_id),
		PointerGetDatum(cstring_to_text_with_len(scope.data, scope.len)),
	Int64GetDatum(n)};

	return lb_run(&plan, values, NULL, true, n, SPI_OK_SELECT);
}

/*
 * The rankings that there are, and the current window among them, whether
 * somebody has opened it or not.
 */
static void
put_windows(FunctionCallInfo fcinfo, LbReading *reading, LbText scope, int n)
{
	LbWindow	current = reading->window;
	bool		pending = true;
	uint64		found = find_rankings(&reading->board, scope, n);

	for (uint64 i = 0; i < found && n > 0; i++)
	{
		HeapTuple	row = SPI_tuptable->vals[i];
		TupleDesc	desc = SPI_tuptable->tupdesc;
		bool		isnull;
		LbWindow	window = {
			DatumGetTimestampTz(SPI_getbinval(row, desc, 1, &isnull)),
			DatumGetTimestampTz(SPI_getbinval(row, desc, 2, &isnull))
		};
		Datum		population = SPI_getbinval(row, desc, 3, &isnull);

		if (pending && window.opens < current.opens)
		{
			put_window(fcinfo, reading, current, 0);
			n--;
		}
		pending = pending && window.opens > current.opens;
		if (n-- > 0)
			put_window(fcinfo, reading, window,
					   isnull ? 0 : DatumGetInt64(population));
	}
	if (pending && n > 0)
		put_window(fcinfo, reading, current, 0);
}

/* lb_windows(board, n, scope) -> label, opens, closes, settles, state, population */
Datum
lb_windows(PG_FUNCTION_ARGS)
{
	LbReading	reading;
	LbText		scope = lb_text_arg(fcinfo, 2);
	LbGate		gate;
	int			n = lb_rows_arg(fcinfo, 1, "n", 10);

	if (scope.data == NULL)
		scope = (LbText) {"", 0};
	lb_materialize(fcinfo);
	lb_reading_open(&reading, fcinfo, 0, -1);
	lb_reading_scope(&reading, scope);
	lb_reading_end(&reading);
	if (has_one_window(&reading.board))
		put_window(fcinfo, &reading, reading.window, reading.population);
	else
	{
		lb_gate_enter(&gate);
		lb_spi_connect();
		put_windows(fcinfo, &reading, scope, n);
		lb_spi_finish();
		lb_gate_leave(&gate);
	}
	return (Datum) 0;
}

/* lb_next_reset(board): when the current window ends, or a rolling one moves on */
Datum
lb_next_reset(PG_FUNCTION_ARGS)
{
	LbReading	reading;

	lb_reading_open(&reading, fcinfo, 0, -1);
	if (reading.board.period == LB_PERIOD_ALL)
		PG_RETURN_NULL();
	if (lb_period_rolls(reading.board.period))
		PG_RETURN_TIMESTAMPTZ(lb_board_covers(&reading.board, reading.now).closes);
	PG_RETURN_TIMESTAMPTZ(lb_board_window(&reading.board, reading.now).closes);
}
