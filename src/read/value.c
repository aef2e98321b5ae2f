/*-------------------------------------------------------------------------
 *
 * value.c
 *	  What a member has: lb_value, lb_values.
 *
 * Read from the member's buckets in the window, so any period can be asked
 * for, with a board or without.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "projection/sketch.h"
#include "projection/tracked.h"
#include "projection/within.h"
#include "read/answer.h"
#include "read/tail.h"

PG_FUNCTION_INFO_V1(lb_value);
PG_FUNCTION_INFO_V1(lb_values);

#define EQ " OPERATOR(pg_catalog.=) "

/* member, value, value_low, value_high, late, version, as_of, stale */
#define VALUE_COLUMNS	8

/* A counter that no board says otherwise of is stale after this long. */
#define FRESHNESS_DEFAULT	(5 * USECS_PER_SEC)

/* What a member's buckets add up to: in time, and late. */
typedef struct Sums
{
	LbOperator	op;
	int32		late_bit;
	LbAccum		in_time;
	LbAccum		late;
} Sums;

typedef struct ValueReading
{
	LbCounter	counter;
	LbPeriod	period;
	int32		units;
	LbWindow	window;
	int64		version;
	int64		freshness;
	TimestampTz now;
	LbNewest	newest;
	LbText		viewer;			/* empty: nobody */
	LbGate		gate;
	LbWithin	within;
	bool		summed;			/* an approximate counter's sums are all members' */
	Sums		sums;
} ValueReading;

static int64
counter_version(int64 counter_id)
{
	static LbPlan plan = {
		"SELECT v.version FROM lb.version v WHERE v.counter_id" EQ "$1 "
		"AND v.ranking_id" EQ "0 ORDER BY v.version DESC LIMIT 1",
		1, {INT8OID}
	};
	Datum		values[1] = {Int64GetDatum(counter_id)};
	bool		isnull;

	if (lb_run(&plan, values, NULL, true, 1, SPI_OK_SELECT) == 0)
		return 0;
	return DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0],
									   SPI_tuptable->tupdesc, 1, &isnull));
}

/* What the most demanding of its boards asks. */
static int64
counter_freshness(int64 counter_id)
{
	LbBoard    *boards;
	int			n = lb_get_boards(counter_id, 0, &boards);
	int64		freshness = n > 0 ? boards[0].freshness : FRESHNESS_DEFAULT;

	for (int i = 1; i < n; i++)
		freshness = Min(freshness, boards[i].freshness);
	return freshness;
}

/*
 * The window asked for: that in which "at" falls; of a rolling period, what it
 * covers then, and without "at" what the boards cover, as of the newest round.
 */
static void
find_window(ValueReading *reading, FunctionCallInfo fcinfo, int at_arg)
{
	const LbCounter *counter = &reading->counter;
	TimestampTz t = reading->period == LB_PERIOD_ALL ? reading->now :
		lb_instant_arg(fcinfo, at_arg, reading->now);

	if (!lb_period_rolls(reading->period))
		reading->window = lb_window(reading->period, 0, t, counter->zone);
	else
	{
		if (PG_ARGISNULL(at_arg) && !TIMESTAMP_NOT_FINITE(reading->newest.as_of))
			t = reading->newest.as_of;
		reading->window = lb_rolling_window(reading->period, reading->units,
											counter->grain, t, counter->zone);
	}
	lb_check_within(counter, reading->window);
	lb_within_begin(&reading->within, counter, reading->window);
}

/* (counter, member or members, period, at, viewer) */
static void
begin_values(ValueReading *reading, FunctionCallInfo fcinfo)
{
	char	   *name;

	lb_check_not_null(fcinfo, 0, "counter");
	name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	reading->now = GetCurrentTimestamp();
	reading->summed = false;
	lb_gate_enter(&reading->gate);
	lb_spi_connect();
	lb_get_counter(name, &reading->counter);
	reading->period = PG_ARGISNULL(2) ? LB_PERIOD_ALL :
		lb_parse_period(text_to_cstring(PG_GETARG_TEXT_PP(2)),
						reading->counter.grain, &reading->units);
	reading->newest = lb_newest_round();
	reading->viewer = lb_text_arg(fcinfo, 4);
	find_window(reading, fcinfo, 3);
	reading->version = counter_version(reading->counter.counter_id);
	reading->freshness = counter_freshness(reading->counter.counter_id);
}

static void
end_values(ValueReading *reading)
{
	lb_within_end(&reading->within);
	lb_spi_finish();
	lb_gate_leave(&reading->gate);
}

static void
add_bucket(void *context, const LbBucket *bucket)
{
	Sums	   *sums = context;

	lb_accum_merge(sums->op,
				   bucket->late & LB_LATE(sums->late_bit) ? &sums->late : &sums->in_time,
				   &bucket->accum);
}

/*
 * The value, if it fits bigint.  Of many members one that does not is a NULL
 * among the others' values; alone it is an error.
 */
static bool
put_value(const LbAccum *accum, LbText member, bool alone, Datum *value)
{
	if (lb_accum_fits(accum))
	{
		*value = Int64GetDatum((int64) accum->value);
		return true;
	}
	if (alone)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("the sum of member \"%.*s\" does not fit bigint",
						member.len, member.data),
				 errhint("lb.poison shows the sum; events that bring it back into range bring the member back.")));
	return false;
}

/* Of an estimate, into value_low and value_high. */
static void
put_bounds(int64 value, int32 bits, Datum *values)
{
	int64		low;
	int64		high;

	lb_unique_bounds(value, bits, &low, &high);
	values[0] = Int64GetDatum(low);
	values[1] = Int64GetDatum(high);
}

/* The viewer has the events that no round has counted yet, too. */
static void
add_tail(const ValueReading *reading, Sums *sums)
{
	LbTailOf of = {
		.counter_id = reading->counter.counter_id,
		.op = reading->counter.op,
		.size = reading->counter.size,
		.grain = reading->counter.grain,
		.zone = reading->counter.zone,
		.window = reading->window,
		.period = reading->period,
		.lateness = reading->counter.lateness,
		.newest = reading->newest.number
	};
	LbTail		tail;

	lb_tail_read(&of, reading->viewer, &tail);
	lb_accum_merge(of.op, &sums->in_time, &tail.in_time);
	lb_accum_merge(of.op, &sums->late, &tail.late);
}

static void
read_sums(ValueReading *reading, LbText member, Sums *sums)
{
	bool		shared = reading->counter.op == LB_HEAVY;

	if (shared && reading->summed)
		*sums = reading->sums;
	else
	{
		memset(sums, 0, sizeof(*sums));
		sums->op = reading->counter.op;
		/* nothing is late for a window that rolls */
		if (!lb_period_rolls(reading->period))
			sums->late_bit = reading->period;
		lb_within(&reading->within, shared ? (LbText) {"", 0} : member,
				  add_bucket, sums);
		lb_accum_settle(sums->op, &sums->in_time);
		lb_accum_settle(sums->op, &sums->late);
		reading->sums = *sums;
		reading->summed = true;
	}
	/* nothing of a retired counter will be counted */
	if (reading->viewer.len > 0 && lb_text_equal(member, reading->viewer) &&
		!reading->counter.retired)
	{
		add_tail(reading, sums);
		lb_accum_settle(sums->op, &sums->in_time);
		lb_accum_settle(sums->op, &sums->late);
	}
}

/* A member's own sums, or what is estimated of them. */
static void
put_sums(const ValueReading *reading, const Sums *sums, LbText member, bool alone,
		 Datum *values, bool *nulls)
{
	nulls[1] = sums->in_time.n == 0 ||
		!put_value(&sums->in_time, member, alone, &values[1]);
	nulls[2] = nulls[3] = nulls[1];
	values[2] = values[3] = values[1];
	if (!nulls[1] && sums->op == LB_UNIQUE)
		put_bounds((int64) sums->in_time.value, reading->counter.size, &values[2]);
	/* nothing late is a sum of zero, but no score at all */
	nulls[4] = (sums->late.n == 0 && !lb_counts_from_zero(sums->op)) ||
		!put_value(&sums->late, member, alone, &values[4]);
}

/*
 * A member's share of what all members have: between low and high.  No share
 * at all is known while the total does not fit.
 */
static void
put_share(const Sums *sums, LbText member, bool alone, Datum *values, bool *nulls)
{
	int64		low;
	int64		high;

	if (alone && !(lb_accum_fits(&sums->in_time) && lb_accum_fits(&sums->late)))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("the total of the window does not fit bigint"),
				 errhint("An approximate counter's window can hold no more; count a smaller unit.")));
	nulls[1] = !lb_tracked_find(&sums->in_time, member, &low, &high);
	nulls[2] = nulls[3] = !lb_accum_fits(&sums->in_time);
	values[1] = values[2] = Int64GetDatum(low);
	values[3] = Int64GetDatum(high);
	(void) lb_tracked_find(&sums->late, member, &low, &high);
	nulls[4] = !lb_accum_fits(&sums->late);
	values[4] = Int64GetDatum(low);
}

static void
value_row(ValueReading *reading, LbText member, bool alone, Datum *values,
		  bool *nulls)
{
	Sums		sums;

	read_sums(reading, member, &sums);
	memset(nulls, 0, VALUE_COLUMNS * sizeof(bool));
	values[0] = PointerGetDatum(cstring_to_text_with_len(member.data, member.len));
	if (sums.op == LB_HEAVY)
		put_share(&sums, member, alone, values, nulls);
	else
		put_sums(reading, &sums, member, alone, values, nulls);
	values[5] = Int64GetDatum(reading->version);
	nulls[6] = TIMESTAMP_NOT_FINITE(reading->newest.as_of);
	values[6] = TimestampTzGetDatum(reading->newest.as_of);
	values[7] = BoolGetDatum(nulls[6] ||
							 reading->now - reading->newest.as_of > reading->freshness);
}

Datum
lb_value(PG_FUNCTION_ARGS)
{
	ValueReading reading;
	TupleDesc	desc;
	Datum		values[VALUE_COLUMNS];
	bool		nulls[VALUE_COLUMNS];
	Datum		row;

	lb_check_not_null(fcinfo, 1, "member");
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "lb_value must return a row");
	desc = BlessTupleDesc(desc);
	begin_values(&reading, fcinfo);
	value_row(&reading, lb_text_arg(fcinfo, 1), true, values, nulls);
	row = PointerGetDatum(SPI_returntuple(heap_form_tuple(desc, values, nulls),
										  desc));
	end_values(&reading);
	PG_RETURN_DATUM(row);
}

Datum
lb_values(PG_FUNCTION_ARGS)
{
	ValueReading reading;
	LbText	   *members;
	int			n;

	members = lb_members_arg(fcinfo, 1, &n);
	lb_materialize(fcinfo);
	begin_values(&reading, fcinfo);
	for (int i = 0; i < n; i++)
	{
		Datum		values[VALUE_COLUMNS];
		bool		nulls[VALUE_COLUMNS];

		CHECK_FOR_INTERRUPTS();
		value_row(&reading, members[i], false, values, nulls);
		lb_put_row(fcinfo, values, nulls);
	}
	end_values(&reading);
	return (Datum) 0;
}
