/*-------------------------------------------------------------------------
 *
 * rank.c
 *	  Questions about members and values: lb_rank, lb_ranks, lb_among,
 *	  lb_rank_for_value.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "miscadmin.h"

#include "read/overlay.h"

PG_FUNCTION_INFO_V1(lb_rank);
PG_FUNCTION_INFO_V1(lb_ranks);
PG_FUNCTION_INFO_V1(lb_among);
PG_FUNCTION_INFO_V1(lb_rank_for_value);

/* board, member(s) or value, scope, at and what follows it */
#define BEGIN(reading)	lb_reading_begin(reading, fcinfo, 0, 2, 3)

static void
put_rank_of(FunctionCallInfo fcinfo, LbReading *reading, LbText member)
{
	Datum		values[LB_ANSWER_COLUMNS];
	bool		nulls[LB_ANSWER_COLUMNS];
	const LbOverlay *overlay = lb_overlay_of(reading, member);
	LbEntry		entry;
	LbPlace		place;

	if (overlay != NULL)
		lb_overlay_answer(overlay, values, nulls);
	else if (lb_order_find(reading, member, &entry))
	{
		place = lb_order_place(reading, &entry);
		lb_answer_ranked(reading, &entry, &place, values, nulls);
	}
	else
		lb_answer_unranked(reading, member, values, nulls);
	lb_put_row(fcinfo, values, nulls);
}

Datum
lb_rank(PG_FUNCTION_ARGS)
{
	LbReading	reading;

	lb_check_not_null(fcinfo, 1, "member");
	lb_materialize(fcinfo);
	if (!BEGIN(&reading))
		return (Datum) 0;
	put_rank_of(fcinfo, &reading, lb_text_arg(fcinfo, 1));
	lb_reading_end(&reading);
	return (Datum) 0;
}

Datum
lb_ranks(PG_FUNCTION_ARGS)
{
	LbReading	reading;
	LbText	   *members;
	int			n;

	members = lb_members_arg(fcinfo, 1, &n);
	lb_materialize(fcinfo);
	if (!BEGIN(&reading))
		return (Datum) 0;
	for (int i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		put_rank_of(fcinfo, &reading, members[i]);
	}
	lb_reading_end(&reading);
	return (Datum) 0;
}

/* One of the members of lb_among; entry.member is as it was given. */
typedef struct Among
{
	const LbReading *reading;
	LbEntry		entry;
	const LbOverlay *overlay;	/* of the viewer */
	bool		ranked;
	int			given;
} Among;

static int
compare_members(const void *a, const void *b)
{
	const Among *x = a;
	const Among *y = b;
	int			c = lb_text_compare(x->entry.member, y->entry.member);

	return c != 0 ? c : x->given - y->given;
}

/* Board order; the unranked last, in the order in which they were given. */
static int
compare_among(const void *a, const void *b)
{
	const Among *x = a;
	const Among *y = b;

	if (x->ranked != y->ranked)
		return y->ranked - x->ranked;
	if (!x->ranked)
		return x->given - y->given;
	return lb_order_compare(x->reading, &x->entry, &y->entry);
}

/* The members, each once. */
static int
distinct_members(Among *among, int n)
{
	int			count = 0;

	qsort(among, n, sizeof(Among), compare_members);
	for (int i = 0; i < n; i++)
		if (count == 0 ||
			!lb_text_equal(among[count - 1].entry.member, among[i].entry.member))
			among[count++] = among[i];
	return count;
}

/*
 * The ranks of ranked members among themselves, by the board's tie rule.
 */
static int64
next_among_rank(const LbReading *reading, const Among *among, int i, int64 before)
{
	bool		tied = i > 0 && among[i].entry.value == among[i - 1].entry.value;

	switch (reading->board.ties)
	{
		case LB_COMPETITION:
			return tied ? before : i + 1;
		case LB_DENSE:
			return tied ? before : before + 1;
		case LB_ORDINAL:
			return i + 1;
	}
	pg_unreachable();
}

/* What the member has, which is what its place among the others depends on. */
static void
find_among(LbReading *reading, Among *among)
{
	LbText		member = among->entry.member;

	among->overlay = lb_overlay_of(reading, member);
	if (among->overlay == NULL)
		among->ranked = lb_order_find(reading, member, &among->entry);
	else if ((among->ranked = among->overlay->ranked))
		among->entry = among->overlay->now;
}

static void
answer_among(LbReading *reading, const Among *among, Datum *values, bool *nulls)
{
	LbPlace		place;

	if (among->overlay != NULL)
		lb_overlay_answer(among->overlay, values, nulls);
	else if (among->ranked)
	{
		place = lb_order_place(reading, &among->entry);
		lb_answer_ranked(reading, &among->entry, &place, values, nulls);
	}
	else
		lb_answer_unranked(reading, among->entry.member, values, nulls);
}

static void
put_among(FunctionCallInfo fcinfo, LbReading *reading, Among *among, int n)
{
	int64		rank = 0;

	for (int i = 0; i < n; i++)
	{
		Datum		values[1 + LB_ANSWER_COLUMNS];
		bool		nulls[1 + LB_ANSWER_COLUMNS];

		CHECK_FOR_INTERRUPTS();
		nulls[0] = !among[i].ranked;
		if (among[i].ranked)
			rank = next_among_rank(reading, among, i, rank);
		answer_among(reading, &among[i], values + 1, nulls + 1);
		values[0] = Int64GetDatum(rank);
		lb_put_row(fcinfo, values, nulls);
	}
}

Datum
lb_among(PG_FUNCTION_ARGS)
{
	LbReading	reading;
	LbText	   *members;
	Among	   *among;
	int			n;

	members = lb_members_arg(fcinfo, 1, &n);
	lb_materialize(fcinfo);
	among = palloc0(n * sizeof(Among));
	for (int i = 0; i < n; i++)
	{
		among[i].reading = &reading;
		among[i].entry.member = members[i];
		among[i].given = i;
	}
	n = distinct_members(among, n);
	if (!BEGIN(&reading))
		return (Datum) 0;
	for (int i = 0; i < n; i++)
		find_among(&reading, &among[i]);
	qsort(among, n, sizeof(Among), compare_among);
	put_among(fcinfo, &reading, among, n);
	lb_reading_end(&reading);
	return (Datum) 0;
}

Datum
lb_rank_for_value(PG_FUNCTION_ARGS)
{
	LbReading	reading;
	LbPlace		place;
	Datum		values[LB_ANSWER_COLUMNS];
	bool		nulls[LB_ANSWER_COLUMNS];

	lb_check_not_null(fcinfo, 1, "value");
	lb_materialize(fcinfo);
	if (!BEGIN(&reading))
		return (Datum) 0;
	place = lb_order_place_of_value(&reading, PG_GETARG_INT64(1));
	lb_answer_value(&reading, PG_GETARG_INT64(1), &place, values, nulls);
	lb_put_row(fcinfo, values, nulls);
	lb_reading_end(&reading);
	return (Datum) 0;
}
