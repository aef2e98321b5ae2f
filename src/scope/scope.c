/*-------------------------------------------------------------------------
 *
 * scope.c
 *	  What the functions that change memberships share with C.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "access/xact.h"
#include "common/hashfn.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"

#include "definition/gate.h"
#include "definition/lookup.h"
#include "log/lock.h"
#include "projection/refresh.h"
#include "projection/window.h"

PG_FUNCTION_INFO_V1(lb_scoped_board_sql);
PG_FUNCTION_INFO_V1(lb_lock_words_sql);

static bool
has_calendar_windows(const LbBoard *board)
{
	return board->period >= LB_PERIOD_HOUR && board->period <= LB_PERIOD_YEAR;
}

/*
 * Without calendar windows there is one ranking, which goes on: what is true
 * of it is true from now on.
 */
static TimestampTz
since_when(const LbBoard *board, FunctionCallInfo fcinfo)
{
	TimestampTz now = GetCurrentTimestamp();
	TimestampTz since;

	if (PG_ARGISNULL(1))
		return has_calendar_windows(board) ?
			lb_board_window(board, now).opens : now;
	since = PG_GETARG_TIMESTAMPTZ(1);
	if (TIMESTAMP_IS_NOEND(since))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"since\" must not be infinity"),
				 errhint("Give an instant, or NULL for the current window.")));
	if (since > now && !has_calendar_windows(board))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"since\" is in the future, and the board has no calendar windows"),
				 errhint("Leave it out, and call when the time has come.")));
	return since;
}

/* lb._scoped_board(board, since) -> board_id, since_when */
Datum
lb_scoped_board_sql(PG_FUNCTION_ARGS)
{
	char	   *name;
	LbBoard		board;
	TupleDesc	desc;
	Datum		values[2];
	bool		nulls[2] = {false, false};

	lb_check_not_null(fcinfo, 0, "board");
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "lb._scoped_board must return a row");
	name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	lb_spi_connect();
	lb_get_board(name, &board);
	lb_spi_finish();
	if (!board.scoped)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("board \"%s\" has no scopes", name),
				 errhint("Make a board with scoped => true.")));
	values[0] = Int64GetDatum(board.board_id);
	values[1] = TimestampTzGetDatum(since_when(&board, fcinfo));
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc),
													  values, nulls)));
}

/* lb._lock_words(board_id, words); words that share a hash share the lock. */
Datum
lb_lock_words_sql(PG_FUNCTION_ARGS)
{
	text	   *words = PG_GETARG_TEXT_PP(1);
	uint64		hash = hash_bytes_extended((const unsigned char *) VARDATA_ANY(words),
										   VARSIZE_ANY_EXHDR(words),
										   (uint64) PG_GETARG_INT64(0));

	lb_check_read_committed("moving or assigning a member");
	lb_lock(LB_LOCK_SCOPE, (int64) (hash >> 8), 0, true);
	PG_RETURN_VOID();
}
