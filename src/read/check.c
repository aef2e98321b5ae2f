/*-------------------------------------------------------------------------
 *
 * check.c
 *	  lb._check_ranking: is a ranking's tree what it says, and what the
 *	  standings say?
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"

#include "read/answer.h"

PG_FUNCTION_INFO_V1(lb_check_ranking);
PG_FUNCTION_INFO_V1(lb_ranking_entries);

/* The tree's pages; false for a NULL among counter_id, ranking_id and root. */
static bool
begin_pages(FunctionCallInfo fcinfo, int leaf_arg, LbPages *pages)
{
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2))
		return false;
	lb_pages_begin(pages, PG_GETARG_INT64(0), PG_GETARG_INT64(1), false);
	lb_pages_leaf(pages, PG_GETARG_INT64(2),
				  PG_ARGISNULL(leaf_arg) ? NULL : PG_GETARG_BYTEA_PP(leaf_arg));
	return true;
}

/*
 * lb._check_ranking(counter_id, ranking_id, root, leaf) -> entries, problem:
 * the tree of that root, which is leaf if it is no row, re-summed at every
 * level; one of the two is NULL.
 */
Datum
lb_check_ranking(PG_FUNCTION_ARGS)
{
	LbPages		pages;
	LbRankTotals totals;
	Datum		values[2] = {0};
	bool		nulls[2] = {true, true};

	lb_materialize(fcinfo);
	if (!begin_pages(fcinfo, 3, &pages))
		return (Datum) 0;
	if (lb_ranktree_check(&pages.store, PG_GETARG_INT64(2), NULL, &totals) == LB_RANK_OK)
	{
		values[0] = Int64GetDatum(totals.entries);
		nulls[0] = false;
	}
	else
	{
		values[1] = CStringGetTextDatum(pages.store.message);
		nulls[1] = false;
	}
	lb_pages_end(&pages);
	lb_put_row(fcinfo, values, nulls);
	return (Datum) 0;
}

/*
 * lb._ranking_entries(counter_id, ranking_id, root, first, n, leaf) -> place,
 * rank_key, reached_at, member: up to n entries of the tree from place first on.
 */
Datum
lb_ranking_entries(PG_FUNCTION_ARGS)
{
	int64		place = PG_ARGISNULL(3) ? 0 : Max(PG_GETARG_INT64(3), 1) - 1;
	int64		n = PG_ARGISNULL(4) ? 0 : PG_GETARG_INT64(4);
	LbPages		pages;
	LbRankCursor cursor;
	LbRankEntry entry;
	LbRankStatus status = LB_RANK_DONE;

	lb_materialize(fcinfo);
	if (!begin_pages(fcinfo, 5, &pages))
		return (Datum) 0;
	lb_pages_check(&pages, lb_ranktree_seek(&pages.store, PG_GETARG_INT64(2), place, &cursor));
	while (n-- > 0 && (status = lb_ranktree_next(&cursor, &entry)) == LB_RANK_OK)
	{
		Datum		values[4] = {Int64GetDatum(++place), Int64GetDatum(entry.rank_key),
			TimestampTzGetDatum(entry.reached_at),
		PointerGetDatum(cstring_to_text_with_len((const char *) entry.member, entry.member_len))};
		bool		nulls[4] = {false};

		CHECK_FOR_INTERRUPTS();
		lb_put_row(fcinfo, values, nulls);
	}
	if (status != LB_RANK_DONE)
		lb_pages_check(&pages, status);
	lb_pages_end(&pages);
	return (Datum) 0;
}
