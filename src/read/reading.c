/*-------------------------------------------------------------------------
 *
 * reading.c
 *	  From a board's name to the version that this call reads.
 *
 * Everything is read with the caller's snapshot, so a call sees one version
 * of one ranking, whatever rounds commit meanwhile.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "read/answer.h"

#define EQ " OPERATOR(pg_catalog.=) "

LbNewest
lb_newest_round(void)
{
	static LbPlan plan = {
		"SELECT r.number, r.as_of, r.floor FROM lb.round r "
		"ORDER BY r.number DESC LIMIT 1",
		0
	};
	LbNewest	newest = {0, DT_NOBEGIN, DT_NOBEGIN};
	bool		isnull;

	if (lb_run(&plan, NULL, NULL, true, 1, SPI_OK_SELECT) == 1)
	{
		HeapTuple	row = SPI_tuptable->vals[0];
		TupleDesc	desc = SPI_tuptable->tupdesc;

		newest.number = DatumGetInt64(SPI_getbinval(row, desc, 1, &isnull));
		newest.as_of = DatumGetTimestampTz(SPI_getbinval(row, desc, 2, &isnull));
		newest.floor = DatumGetTimestampTz(SPI_getbinval(row, desc, 3, &isnull));
	}
	return newest;
}

/*
 * The version of a window that nobody opened: the first round after it
 * began, before which it could not be seen to be empty.
 */
static int64
version_of_nothing(TimestampTz opens, int64 newest)
{
	static LbPlan plan = {
		"SELECT r.number FROM lb.round r WHERE r.as_of OPERATOR(pg_catalog.>=) $1 "
		"ORDER BY r.as_of, r.number LIMIT 1",
		1, {TIMESTAMPTZOID}
	};
	Datum		values[1] = {TimestampTzGetDatum(opens)};
	bool		isnull;

	if (lb_run(&plan, values, NULL, true, 1, SPI_OK_SELECT) == 0)
		return newest;
	return DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0],
									   SPI_tuptable->tupdesc, 1, &isnull));
}

static void
read_version(LbReading *reading, LbText scope, int64 newest)
{
	static LbPlan plan = {
		"SELECT r.ranking_id, v.version, v.population, v.histogram "
		"FROM lb.ranking r JOIN LATERAL (SELECT n.version, n.population, n.histogram "
		"FROM lb.version n WHERE n.counter_id" EQ "r.counter_id "
		"AND n.ranking_id" EQ "r.ranking_id ORDER BY n.version DESC LIMIT 1) v ON true "
		"WHERE r.counter_id" EQ "$1 AND r.board_id" EQ "$2 "
		"AND r.scope" EQ "$3 AND r.opens" EQ "$4",
		4, {INT8OID, INT8OID, TEXTOID, TIMESTAMPTZOID}
	};
	Datum		values[4] = {Int64GetDatum(reading->board.counter_id),
		Int64GetDatum(reading->board.board_id),
		PointerGetDatum(cstring_to_text_with_len(scope.data, scope.len)),
	TimestampTzGetDatum(reading->window.opens)};
	bool		isnull;

	if (lb_run(&plan, values, NULL, true, 1, SPI_OK_SELECT) == 1)
	{
		HeapTuple	row = SPI_tuptable->vals[0];
		TupleDesc	desc = SPI_tuptable->tupdesc;

		reading->ranking_id = DatumGetInt64(SPI_getbinval(row, desc, 1, &isnull));
		reading->version = DatumGetInt64(SPI_getbinval(row, desc, 2, &isnull));
		reading->population = DatumGetInt64(SPI_getbinval(row, desc, 3, &isnull));
		reading->histogram = lb_hist_read(SPI_getbinval(row, desc, 4, &isnull));
	}
	else
		reading->version = version_of_nothing(reading->window.opens, newest);
}

static LbText
scope_of(FunctionCallInfo fcinfo, int argno)
{
	LbText		scope = lb_text_arg(fcinfo, argno);

	if (scope.data == NULL || scope.len == 0)
		return (LbText) {"", 0};
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("the board has no scopes"),
			 errhint("Leave scope out to ask for the whole board.")));
}

static TimestampTz
instant_of(FunctionCallInfo fcinfo, int argno, TimestampTz now)
{
	TimestampTz at = PG_ARGISNULL(argno) ? now : PG_GETARG_TIMESTAMPTZ(argno);

	if (TIMESTAMP_NOT_FINITE(at))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"at\" must be a finite instant"),
				 errhint("Give an instant inside the window, or NULL for the current one.")));
	return at;
}

/*
 * Become the owner, connect, and read what the answers share.  The caller has
 * checked its own arguments.
 */
void
lb_reading_begin(LbReading *reading, FunctionCallInfo fcinfo, int board_arg,
				 int scope_arg, int at_arg)
{
	LbText		scope;
	TimestampTz at;
	LbNewest	newest;
	char	   *name;

	lb_check_not_null(fcinfo, board_arg, "board");
	name = text_to_cstring(PG_GETARG_TEXT_PP(board_arg));
	memset(reading, 0, sizeof(*reading));
	reading->now = GetCurrentTimestamp();
	scope = scope_of(fcinfo, scope_arg);
	at = instant_of(fcinfo, at_arg, reading->now);

	lb_gate_enter(&reading->gate);
	lb_spi_connect();
	lb_get_board(name, &reading->board);
	reading->window = lb_window(reading->board.period, at, reading->board.zone);
	newest = lb_newest_round();
	reading->as_of = newest.as_of;
	reading->floor = newest.floor;
	read_version(reading, scope, newest.number);
}

void
lb_reading_end(LbReading *reading)
{
	lb_spi_finish();
	lb_gate_leave(&reading->gate);
}

/* Is the newest round older than it may be? */
bool
lb_reading_stale(const LbReading *reading, int64 freshness)
{
	return TIMESTAMP_NOT_FINITE(reading->as_of) ||
		reading->now - reading->as_of > freshness;
}

/*
 * A window is settled when everything that may still be counted was ingested
 * after its lateness ended, which makes it late for this window.
 */
const char *
lb_reading_state(const LbReading *reading)
{
	if (reading->now < reading->window.closes)
		return "live";
	if (!TIMESTAMP_NOT_FINITE(reading->floor) &&
		reading->floor - reading->board.lateness > reading->window.closes)
		return "settled";
	return "provisional";
}
