/*-------------------------------------------------------------------------
 *
 * answer.c
 *	  The one builder of lb_answer rows.
 *
 * What a board knows exactly is stated as a rank; what it does not know is
 * stated as the interval in which the histogram puts it, and rank is null.
 * What an approximate board does not know, doubt.c counts.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "utils/builtins.h"

#include "projection/sketch.h"
#include "projection/tracked.h"
#include "read/answer.h"
#include "read/doubt.h"

/* The columns of lb_answer. */
enum
{
	MEMBER, RANK, KIND, RANK_LOW, RANK_HIGH, MIDPOINT, PLACE, PERCENTILE_LOW,
	PERCENTILE_HIGH, VALUE, VALUE_LOW, VALUE_HIGH, REACHED_AT, POPULATION,
	VERSION, AS_OF, STALE, STATE
};

static void
put(Datum *values, bool *nulls, int column, Datum value)
{
	values[column] = value;
	nulls[column] = false;
}

static void
put_int64(Datum *values, bool *nulls, int column, int64 value)
{
	put(values, nulls, column, Int64GetDatum(value));
}

/* What every answer of a reading says, and nothing else yet. */
static void
begin_answer(const LbReading *reading, const char *kind, Datum *values,
			 bool *nulls)
{
	memset(nulls, true, LB_ANSWER_COLUMNS * sizeof(bool));
	memset(values, 0, LB_ANSWER_COLUMNS * sizeof(Datum));
	put(values, nulls, KIND, CStringGetTextDatum(kind));
	put_int64(values, nulls, POPULATION, reading->population);
	put_int64(values, nulls, VERSION, reading->version);
	if (!TIMESTAMP_NOT_FINITE(reading->as_of))
		put(values, nulls, AS_OF, TimestampTzGetDatum(reading->as_of));
	put(values, nulls, STALE,
		BoolGetDatum(lb_reading_stale(reading, reading->board.freshness)));
	put(values, nulls, STATE, CStringGetTextDatum(lb_reading_state(reading)));
}

static void
put_member(Datum *values, bool *nulls, LbText member)
{
	put(values, nulls, MEMBER,
		PointerGetDatum(cstring_to_text_with_len(member.data, member.len)));
}

static double
percentile(const LbReading *reading, int64 better)
{
	return 100.0 * (reading->population - better) / reading->population;
}

/* The rank by the board's tie rule of what is placed exactly. */
static int64
exact_rank(const LbReading *reading, const LbPlace *place)
{
	switch (reading->board.ties)
	{
		case LB_COMPETITION:
			return place->better + 1;
		case LB_DENSE:
			return place->better_values + 1;
		case LB_ORDINAL:
			return place->place;
	}
	pg_unreachable();
}

static void
put_rank(const LbReading *reading, const LbPlace *place, Datum *values,
		 bool *nulls)
{
	int64		rank = exact_rank(reading, place);

	put_int64(values, nulls, RANK, rank);
	put_int64(values, nulls, RANK_LOW, rank);
	put_int64(values, nulls, RANK_HIGH, rank);
	put_int64(values, nulls, MIDPOINT, rank);
	if (place->place > 0)
		put_int64(values, nulls, PLACE, place->place);
	if (reading->population > 0)
	{
		put(values, nulls, PERCENTILE_LOW,
			Float8GetDatum(percentile(reading, place->better)));
		put(values, nulls, PERCENTILE_HIGH,
			Float8GetDatum(percentile(reading, place->better)));
	}
}

/*
 * The interval of a value that the head does not reach.  others: how many
 * members of the value's own bucket may be strictly better, given that the
 * value belongs to one of them or not.  The head gives the lower bound too:
 * its values are known to be better.
 */
static void
put_estimate(const LbReading *reading, int64 value, bool is_member,
			 const LbPlace *place, Datum *values, bool *nulls)
{
	const LbHistogram *h = reading->histogram;
	int64		low;
	int64		high;
	int64		with_bucket;
	int64		rank_low;
	int64		rank_high;

	if (reading->board.descending)
		lb_hist_above(h, value, &low, &high);
	else
		lb_hist_below(h, value, &low, &high);
	with_bucket = low + lb_hist_members(h, lb_hist_bucket(h->scale, value));
	if (is_member && high > low)
		high--;					/* one of those in doubt is the member itself */
	low = Max(low, place->better);
	rank_low = low + 1;
	rank_high = high + 1;
	if (reading->board.ties == LB_DENSE)
		rank_low = place->better_values + 1;
	if (reading->board.ties == LB_ORDINAL)
	{
		/* equals may be ahead too, though none of them is better */
		rank_low = Max(rank_low, place->place);
		rank_high = is_member ? with_bucket : with_bucket + 1;
	}
	put_int64(values, nulls, RANK_LOW, rank_low);
	put_int64(values, nulls, RANK_HIGH, rank_high);
	put_int64(values, nulls, MIDPOINT, rank_low + (rank_high - rank_low + 1) / 2);
	put(values, nulls, PERCENTILE_LOW, Float8GetDatum(percentile(reading, high)));
	put(values, nulls, PERCENTILE_HIGH, Float8GetDatum(percentile(reading, low)));
}

/* What a member has may be an estimate; what is asked about is what it is. */
static void
put_value(const LbReading *reading, int64 value, bool is_member, Datum *values,
		  bool *nulls)
{
	int64		low = value;
	int64		high = value;

	if (is_member && reading->board.op == LB_UNIQUE)
		lb_unique_bounds(value, reading->board.size, &low, &high);
	put_int64(values, nulls, VALUE, value);
	put_int64(values, nulls, VALUE_LOW, low);
	put_int64(values, nulls, VALUE_HIGH, high);
}

/* On an approximate board nothing but the order of what is certain is exact. */
static void
answer_tracked(const LbReading *reading, int64 low, int64 high, bool is_member,
			   const LbPlace *place, Datum *values, bool *nulls)
{
	int64		rank_low = 1;
	int64		rank_high = 1;

	begin_answer(reading, "estimated", values, nulls);
	if (reading->doubt != NULL)
		lb_doubt_ranks(reading, low, high, is_member, &rank_low, &rank_high);
	put_int64(values, nulls, VALUE, low);
	put_int64(values, nulls, VALUE_LOW, low);
	put_int64(values, nulls, VALUE_HIGH, high);
	put_int64(values, nulls, RANK_LOW, rank_low);
	if (reading->bound >= 0)
	{
		put_int64(values, nulls, RANK_HIGH, rank_high);
		put_int64(values, nulls, MIDPOINT, rank_low + (rank_high - rank_low + 1) / 2);
	}
	if (place->place > 0)
		put_int64(values, nulls, PLACE, place->place);
}

static void
answer_placed(const LbReading *reading, int64 value, bool is_member,
			  const LbPlace *place, Datum *values, bool *nulls)
{
	begin_answer(reading, place->exact ? "exact" : "estimated", values, nulls);
	put_value(reading, value, is_member, values, nulls);
	if (place->exact)
		put_rank(reading, place, values, nulls);
	else
		put_estimate(reading, value, is_member, place, values, nulls);
}

/* A member on the board. */
void
lb_answer_ranked(const LbReading *reading, const LbEntry *entry,
				 const LbPlace *place, Datum *values, bool *nulls)
{
	if (reading->board.op == LB_HEAVY)
	{
		answer_tracked(reading, entry->value,
					   lb_tracked_high(entry->value, entry->reached_at), true,
					   place, values, nulls);
		put_member(values, nulls, entry->member);
		return;
	}
	answer_placed(reading, entry->value, true, place, values, nulls);
	put_member(values, nulls, entry->member);
	put(values, nulls, REACHED_AT, TimestampTzGetDatum(entry->reached_at));
}

/* A member who is not on the board: an answer, not an error. */
void
lb_answer_unranked(const LbReading *reading, LbText member, Datum *values,
				   bool *nulls)
{
	begin_answer(reading, "unranked", values, nulls);
	put_member(values, nulls, member);
	/* whoever is not tracked may still have something */
	if (reading->board.op == LB_HEAVY && reading->bound >= 0)
	{
		put_int64(values, nulls, VALUE_LOW, 0);
		put_int64(values, nulls, VALUE_HIGH, reading->bound);
	}
}

/* A value that nobody need have. */
void
lb_answer_value(const LbReading *reading, int64 value, const LbPlace *place,
				Datum *values, bool *nulls)
{
	if (reading->board.op == LB_HEAVY)
		answer_tracked(reading, value, value, false, place, values, nulls);
	else
		answer_placed(reading, value, false, place, values, nulls);
}

void
lb_put_row(FunctionCallInfo fcinfo, Datum *values, bool *nulls)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}
