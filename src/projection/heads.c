/*-------------------------------------------------------------------------
 *
 * heads.c
 *	  A bounded board whose head has grown.
 *
 * Its rankings are published anew without a move: where the tree is too small
 * for the head and members are left, head.c fills it up from the standings.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"

#include "projection/build.h"
#include "projection/refresh.h"

PG_FUNCTION_INFO_V1(lb_refill_heads);

static void
touch_rankings(LbRound *round, LbCounted *counted, const LbBoard *board)
{
	static LbPlan plan = {
		"SELECT r.opens, r.closes FROM lb.ranking r WHERE r.counter_id = $1 "
		"AND r.board_id = $2 AND r.scope = '' ORDER BY r.opens",
		2, {INT8OID, INT8OID}
	};
	Datum		values[2] = {Int64GetDatum(board->counter_id),
	Int64GetDatum(board->board_id)};
	uint64		n = lb_run(&plan, values, NULL, false, 0, SPI_OK_SELECT);
	SPITupleTable *rows = SPI_tuptable;

	for (uint64 i = 0; i < n; i++)
	{
		bool		isnull;
		LbWindow	window = {
			DatumGetTimestampTz(SPI_getbinval(rows->vals[i], rows->tupdesc, 1, &isnull)),
			DatumGetTimestampTz(SPI_getbinval(rows->vals[i], rows->tupdesc, 2, &isnull))
		};

		CHECK_FOR_INTERRUPTS();
		lb_moves_touch(round->sorted,
					   (int64) (intptr_t) lb_ranking_of_scope(round, counted, board, window,
															  (LbText) {"", 0}, false));
	}
	SPI_freetuptable(rows);
}

/* lb._refill_heads(counter_id, board_id), of a bounded board, while rounds wait */
Datum
lb_refill_heads(PG_FUNCTION_ARGS)
{
	LbBuildScope scope;
	LbWatermark last;
	LbRound    *round;
	LbCounted  *counted;

	lb_build_begin(&scope);
	(void) lb_watermark_read(&last);
	round = lb_round_begin(lb_next_round(), last.as_of);
	counted = lb_counted(round, PG_GETARG_INT64(0), 0, PG_GETARG_INT64(1));
	if (counted->nboards == 1)
		touch_rankings(round, counted, &counted->boards[0].board);
	lb_build_publish(round, &last);
	lb_build_end(&scope);
	PG_RETURN_VOID();
}
