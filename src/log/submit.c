/*-------------------------------------------------------------------------
 *
 * submit.c
 *	  lb_submit, lb_submit_batch, lb_backfill: from arguments to statuses.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "definition/cache.h"
#include "definition/gate.h"
#include "log/event.h"
#include "log/submit.h"

PG_FUNCTION_INFO_V1(lb_submit);
PG_FUNCTION_INFO_V1(lb_submit_batch);
PG_FUNCTION_INFO_V1(lb_backfill);
PG_FUNCTION_INFO_V1(lb_submit_batch_at);

/* The arguments that lb_submit_batch and lb_backfill share. */
enum
{
	ARG_COUNTER, ARG_MEMBERS, ARG_DELTAS, ARG_KEYS, ARG_TIMES, ARG_ACTORS,
	ARG_SOURCES, ARG_STRICT
};

static TimestampTz admitted_at;

/*
 * The instant of admission.  The transaction takes its number first: an event
 * that a round's snapshot does not see was then ingested after the clock
 * reading of that round, which lets rounds skip old partitions.
 */
TimestampTz
lb_admission_time(void)
{
	(void) GetTopFullTransactionId();
	admitted_at = GetCurrentTimestamp();
	return admitted_at;
}

/* How long ago that was, for the call under way. */
int64
lb_admission_elapsed(void)
{
	return GetCurrentTimestamp() - admitted_at;
}

static void
status_row(const LbEvent *event, Datum *values, bool *nulls)
{
	static const char *const names[] = {"pending", "accepted", "duplicate", "rejected"};

	memset(nulls, 0, LB_STATUS_COLUMNS * sizeof(bool));
	values[0] = Int32GetDatum(event->ordinal);
	values[1] = CStringGetTextDatum(names[event->status]);
	nulls[2] = event->status != LB_REJECTED;
	if (!nulls[2])
		values[2] = CStringGetTextDatum(event->reason);
	nulls[3] = event->status == LB_REJECTED;
	values[3] = Int64GetDatum(event->event_id);
	nulls[4] = true;
	values[4] = (Datum) 0;
}

/* Put one row an event, in the order of the call. */
void
lb_return_statuses(FunctionCallInfo fcinfo, const LbEvent *events, int n)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	for (int i = 0; i < n; i++)
	{
		Datum		values[LB_STATUS_COLUMNS];
		bool		nulls[LB_STATUS_COLUMNS];

		status_row(&events[i], values, nulls);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
}

void
lb_check_batch_size(int64 n)
{
	if (n > LB_BATCH_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a call may carry at most %d events, not " INT64_FORMAT,
						LB_BATCH_MAX, n),
				 errhint("Submit them in several calls; batches of 500 to 2000 are quickest.")));
}

static LbText
text_from_datum(Datum datum)
{
	text	   *value = DatumGetTextPP(datum);
	LbText		result = {VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value)};

	return result;
}

static LbText
text_arg(FunctionCallInfo fcinfo, int argno)
{
	LbText		none = {NULL, 0};

	return PG_ARGISNULL(argno) ? none : text_from_datum(PG_GETARG_DATUM(argno));
}

static bool
bool_arg(FunctionCallInfo fcinfo, int argno)
{
	return !PG_ARGISNULL(argno) && PG_GETARG_BOOL(argno);
}

/* The one event of lb_submit, its required arguments checked. */
static void
read_submitted(FunctionCallInfo fcinfo, LbEvent *event)
{
	lb_check_not_null(fcinfo, 0, "counter");
	lb_check_not_null(fcinfo, 1, "member");
	lb_check_not_null(fcinfo, 2, "delta");
	event->ordinal = 1;
	event->member = text_arg(fcinfo, 1);
	event->delta = PG_GETARG_INT64(2);
	event->has_delta = true;
	event->key = text_arg(fcinfo, 3);
	event->has_event_time = !PG_ARGISNULL(4);
	if (event->has_event_time)
		event->event_time = PG_GETARG_TIMESTAMPTZ(4);
	event->actor = text_arg(fcinfo, 5);
	event->source = text_arg(fcinfo, 6);
}

Datum
lb_submit(PG_FUNCTION_ARGS)
{
	LbEvent		event = {0};
	LbCounter	counter;
	LbGate		gate;
	TupleDesc	desc;
	char	   *name;
	Datum		values[LB_STATUS_COLUMNS];
	bool		nulls[LB_STATUS_COLUMNS];

	lb_check_can_write("submit events");
	read_submitted(fcinfo, &event);
	name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "lb_submit must return a row");

	counter = *lb_cached_counter(name);
	lb_gate_enter(&gate);
	lb_spi_connect();
	lb_admit(&counter, &event, 1, LB_KIND_EVENT, lb_admission_time());
	lb_spi_finish();
	lb_gate_leave(&gate);

	if (bool_arg(fcinfo, 7))
		lb_check_strict(&event, 1);
	status_row(&event, values, nulls);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc),
													  values, nulls)));
}

/* An array argument taken apart; n is -1 for an SQL NULL. */
typedef struct ArrayArg
{
	int			n;
	Datum	   *values;
	bool	   *nulls;
} ArrayArg;

static ArrayArg
array_arg(FunctionCallInfo fcinfo, int argno, const char *name, Oid type,
		  int typlen, char align)
{
	ArrayArg	result = {-1, NULL, NULL};
	ArrayType  *array;

	if (PG_ARGISNULL(argno))
		return result;
	array = PG_GETARG_ARRAYTYPE_P(argno);
	if (ARR_NDIM(array) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("argument \"%s\" must have one dimension", name),
				 errhint("Give a flat array with one element an event.")));
	lb_check_batch_size(ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)));
	deconstruct_array(array, type, typlen, typlen > 0, align,
					  &result.values, &result.nulls, &result.n);
	return result;
}

static ArrayArg
text_array_arg(FunctionCallInfo fcinfo, int argno, const char *name)
{
	return array_arg(fcinfo, argno, name, TEXTOID, -1, TYPALIGN_INT);
}

static void
check_length(ArrayArg array, const char *name, int n)
{
	if (array.n >= 0 && array.n != n)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("array \"%s\" has %d elements, \"members\" has %d",
						name, array.n, n),
				 errhint("All arrays have one element an event; leave out or pass NULL for what no event has.")));
}

static LbText
text_element(ArrayArg array, int i)
{
	LbText		none = {NULL, 0};

	return array.n < 0 || array.nulls[i] ? none : text_from_datum(array.values[i]);
}

/* The events of a batch; every array but members and deltas may be NULL. */
static LbEvent *
read_batch(FunctionCallInfo fcinfo, int *n)
{
	ArrayArg	members = text_array_arg(fcinfo, ARG_MEMBERS, "members");
	ArrayArg	deltas = array_arg(fcinfo, ARG_DELTAS, "deltas", INT8OID,
								   sizeof(int64), TYPALIGN_DOUBLE);
	ArrayArg	keys = text_array_arg(fcinfo, ARG_KEYS, "keys");
	ArrayArg	times = array_arg(fcinfo, ARG_TIMES, "event_times",
								  TIMESTAMPTZOID, sizeof(int64),
								  TYPALIGN_DOUBLE);
	ArrayArg	actors = text_array_arg(fcinfo, ARG_ACTORS, "actors");
	ArrayArg	sources = text_array_arg(fcinfo, ARG_SOURCES, "sources");
	LbEvent    *events;

	*n = members.n;
	check_length(deltas, "deltas", *n);
	check_length(keys, "keys", *n);
	check_length(times, "event_times", *n);
	check_length(actors, "actors", *n);
	check_length(sources, "sources", *n);

	events = palloc0(Max(*n, 1) * sizeof(LbEvent));
	for (int i = 0; i < *n; i++)
	{
		LbEvent    *event = &events[i];

		event->ordinal = i + 1;
		event->member = text_element(members, i);
		event->key = text_element(keys, i);
		event->actor = text_element(actors, i);
		event->source = text_element(sources, i);
		event->has_delta = !deltas.nulls[i];
		if (event->has_delta)
			event->delta = DatumGetInt64(deltas.values[i]);
		event->has_event_time = times.n >= 0 && !times.nulls[i];
		if (event->has_event_time)
			event->event_time = DatumGetTimestampTz(times.values[i]);
	}
	return events;
}

static Datum
submit_batch(FunctionCallInfo fcinfo, char kind)
{
	LbEvent    *events;
	LbCounter	counter;
	LbGate		gate;
	char	   *name;
	int			n;

	lb_check_can_write("submit events");
	lb_check_not_null(fcinfo, ARG_COUNTER, "counter");
	lb_check_not_null(fcinfo, ARG_MEMBERS, "members");
	lb_check_not_null(fcinfo, ARG_DELTAS, "deltas");
	lb_materialize(fcinfo);
	events = read_batch(fcinfo, &n);
	name = text_to_cstring(PG_GETARG_TEXT_PP(ARG_COUNTER));

	counter = *lb_cached_counter(name);
	lb_gate_enter(&gate);
	lb_spi_connect();
	lb_admit(&counter, events, n, kind, lb_admission_time());
	lb_spi_finish();
	lb_gate_leave(&gate);

	if (bool_arg(fcinfo, ARG_STRICT))
		lb_check_strict(events, n);
	lb_return_statuses(fcinfo, events, n);
	return (Datum) 0;
}

Datum
lb_submit_batch(PG_FUNCTION_ARGS)
{
	return submit_batch(fcinfo, LB_KIND_EVENT);
}

Datum
lb_backfill(PG_FUNCTION_ARGS)
{
	return submit_batch(fcinfo, LB_KIND_HISTORY);
}

/*
 * lb._submit_batch(counter_id, members, deltas, keys, event_times, actors,
 * sources, kind, now): the inner admission, with ids and the time as
 * arguments.
 */
Datum
lb_submit_batch_at(PG_FUNCTION_ARGS)
{
	LbEvent    *events;
	LbCounter	counter;
	int			n;

	lb_check_can_write("submit events");
	lb_materialize(fcinfo);
	events = read_batch(fcinfo, &n);
	lb_spi_connect();
	lb_get_counter_version(PG_GETARG_INT64(ARG_COUNTER), 0, &counter);
	(void) lb_admission_time();
	lb_admit(&counter, events, n, PG_GETARG_CHAR(7), PG_GETARG_TIMESTAMPTZ(8));
	lb_spi_finish();
	lb_return_statuses(fcinfo, events, n);
	return (Datum) 0;
}
