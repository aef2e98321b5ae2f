/*-------------------------------------------------------------------------
 *
 * json.c
 *	  lb_submit_json: events of several counters, written as JSON.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "datatype/timestamp.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/datetime.h"
#include "utils/jsonb.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"

#include "definition/gate.h"
#include "log/event.h"
#include "log/submit.h"

PG_FUNCTION_INFO_V1(lb_submit_json);

/* Compared before it is written out: eight bytes of JSON can be 130,000 digits. */
static bool
read_number(Numeric number, int64 *delta)
{
	Datum		value = NumericGetDatum(number);
	Datum		lowest = NumericGetDatum(int64_to_numeric(PG_INT64_MIN));
	Datum		highest = NumericGetDatum(int64_to_numeric(PG_INT64_MAX));
	Datum		whole;

	if (DatumGetBool(DirectFunctionCall2(numeric_lt, value, lowest)) ||
		DatumGetBool(DirectFunctionCall2(numeric_gt, value, highest)))
		return false;
	whole = DirectFunctionCall2(numeric_trunc, value, Int32GetDatum(0));
	if (!DatumGetBool(DirectFunctionCall2(numeric_eq, whole, value)))
		return false;
	*delta = DatumGetInt64(DirectFunctionCall1(numeric_int8, whole));
	return true;
}

/* A number without a fraction, or a string of digits, that fits bigint. */
static bool
read_delta(const JsonbValue *value, int64 *delta)
{
	char	   *digits;
	char	   *end;
	size_t		len;

	if (value->type == jbvNumeric)
		return read_number(value->val.numeric, delta);
	if (value->type != jbvString)
		return false;
	digits = pnstrdup(value->val.string.val, value->val.string.len);

	len = strspn(digits + (digits[0] == '-'), "0123456789");
	if (len == 0 || digits[len + (digits[0] == '-')] != '\0')
		return false;
	errno = 0;
	*delta = strtoll(digits, &end, 10);
	return errno == 0;
}

/* Exactly n digits at *p; moves on. */
static bool
read_digits(const char **p, int n, int *value)
{
	*value = 0;
	for (int i = 0; i < n; i++, (*p)++)
	{
		if (**p < '0' || **p > '9')
			return false;
		*value = *value * 10 + (**p - '0');
	}
	return true;
}

static bool
read_char(const char **p, const char *one_of)
{
	if (**p == '\0' || strchr(one_of, **p) == NULL)
		return false;
	(*p)++;
	return true;
}

static bool
read_fraction(const char **p, fsec_t *fsec)
{
	int			scale = 100000;

	*fsec = 0;
	if (**p != '.')
		return true;
	(*p)++;
	if (**p < '0' || **p > '9')
		return false;
	for (; **p >= '0' && **p <= '9'; (*p)++, scale /= 10)
		*fsec += (**p - '0') * scale;
	return true;
}

/* "Z" or an offset from UTC such as +02:00, +0545 or -08. */
static bool
read_offset(const char **p, int *seconds_west)
{
	int			hours;
	int			minutes = 0;
	int			sign = **p == '-' ? 1 : -1;

	*seconds_west = 0;
	if (read_char(p, "Zz"))
		return **p == '\0';
	if (!read_char(p, "+-") || !read_digits(p, 2, &hours))
		return false;
	if (**p != '\0')
	{
		(void) read_char(p, ":");
		if (!read_digits(p, 2, &minutes))
			return false;
	}
	*seconds_west = sign * (hours * 3600 + minutes * 60);
	return **p == '\0' && hours <= 15 && minutes <= 59;
}

/*
 * ISO 8601 / RFC 3339 with its offset.  Not the server's own parser, whose
 * answer would depend on the session's DateStyle and time zone.
 */
static bool
read_time(const char *p, TimestampTz *time)
{
	struct pg_tm tm = {0};
	fsec_t		fsec = 0;
	int			west;

	if (!read_digits(&p, 4, &tm.tm_year) || !read_char(&p, "-") ||
		!read_digits(&p, 2, &tm.tm_mon) || !read_char(&p, "-") ||
		!read_digits(&p, 2, &tm.tm_mday) || !read_char(&p, "Tt ") ||
		!read_digits(&p, 2, &tm.tm_hour) || !read_char(&p, ":") ||
		!read_digits(&p, 2, &tm.tm_min))
		return false;
	if (read_char(&p, ":") &&
		(!read_digits(&p, 2, &tm.tm_sec) || !read_fraction(&p, &fsec)))
		return false;
	if (!read_offset(&p, &west))
		return false;
	if (tm.tm_year < 1 || tm.tm_mon < 1 || tm.tm_mon > 12 || tm.tm_mday < 1 ||
		tm.tm_mday > day_tab[isleap(tm.tm_year)][tm.tm_mon - 1] ||
		tm.tm_hour > 23 || tm.tm_min > 59 || tm.tm_sec > 59)
		return false;
	return tm2timestamp(&tm, fsec, &west, time) == 0;
}

static bool
read_text(const JsonbValue *value, LbText *text)
{
	if (value->type != jbvString)
		return false;
	text->data = pnstrdup(value->val.string.val, value->val.string.len);
	text->len = value->val.string.len;
	return true;
}

static bool
read_event_time(const JsonbValue *value, LbEvent *event)
{
	LbText		text;

	event->has_event_time = true;
	return read_text(value, &text) && read_time(text.data, &event->event_time);
}

static bool
key_is(const JsonbValue *key, const char *name)
{
	return key->val.string.len == (int) strlen(name) &&
		memcmp(key->val.string.val, name, key->val.string.len) == 0;
}

/* One field of an event; a null is as good as none.  The reason if it is bad. */
static const char *
read_field(const JsonbValue *key, const JsonbValue *value, LbEvent *event,
		   LbText *counter)
{
	bool		null = value->type == jbvNull;

	if (key_is(key, "counter"))
		return null || read_text(value, counter) ? NULL : "counter_unknown";
	if (key_is(key, "member"))
		return null || read_text(value, &event->member) ? NULL : "bad_member";
	if (key_is(key, "key"))
		return null || read_text(value, &event->key) ? NULL : "bad_key";
	if (key_is(key, "actor"))
		return null || read_text(value, &event->actor) ? NULL : "bad_field";
	if (key_is(key, "source"))
		return null || read_text(value, &event->source) ? NULL : "bad_field";
	if (key_is(key, "event_time"))
		return null || read_event_time(value, event) ? NULL : "bad_event_time";
	if (key_is(key, "delta"))
	{
		event->has_delta = !null && read_delta(value, &event->delta);
		return null || event->has_delta ? NULL : "bad_delta";
	}
	return "bad_field";
}

static void
read_event(JsonbContainer *object, LbEvent *event, LbText *counter)
{
	JsonbIterator *it = JsonbIteratorInit(object);
	JsonbValue	key;
	JsonbValue	value;
	JsonbIteratorToken token;

	while ((token = JsonbIteratorNext(&it, &key, true)) != WJB_DONE)
	{
		const char *reason;

		if (token != WJB_KEY)
			continue;
		(void) JsonbIteratorNext(&it, &value, true);
		reason = read_field(&key, &value, event, counter);
		if (reason != NULL && event->status != LB_REJECTED)
			lb_reject(event, reason);
	}
}

/* The events of the array, each with the name of its counter. */
static LbEvent *
read_events(Jsonb *json, int *n, LbText **counters)
{
	LbEvent    *events;

	if (!JB_ROOT_IS_ARRAY(json) || JB_ROOT_IS_SCALAR(json))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("events must be a JSON array"),
				 errhint("Write [{\"counter\": …, \"member\": …, \"delta\": …, \"key\": …}, …].")));
	lb_check_batch_size(JB_ROOT_COUNT(json));
	*n = JB_ROOT_COUNT(json);
	events = palloc0(Max(*n, 1) * sizeof(LbEvent));
	*counters = palloc0(Max(*n, 1) * sizeof(LbText));
	for (int i = 0; i < *n; i++)
	{
		JsonbValue *element = getIthJsonbValueFromContainer(&json->root, i);

		events[i].ordinal = i + 1;
		if (element->type == jbvBinary &&
			JsonContainerIsObject(element->val.binary.data))
			read_event(element->val.binary.data, &events[i], &(*counters)[i]);
		else
			lb_reject(&events[i], "bad_field");
	}
	return events;
}

/* An event's counter, once for each name. */
typedef struct NamedCounter
{
	LbText		name;
	bool		known;
	LbCounter	counter;
} NamedCounter;

static NamedCounter *
find_named(NamedCounter *named, int *count, LbText name)
{
	LbName		parsed;

	for (int i = 0; i < *count; i++)
		if (lb_text_equal(named[i].name, name))
			return &named[i];
	named[*count].name = name;
	named[*count].known = name.data != NULL &&
		lb_try_parse_name(name.data, &parsed) &&
		lb_find_counter(&parsed, &named[*count].counter);
	return &named[(*count)++];
}

static int
compare_counters(const void *a, const void *b)
{
	const NamedCounter *x = a;
	const NamedCounter *y = b;

	if (x->known != y->known)
		return y->known - x->known;
	if (!x->known)
		return 0;
	return (x->counter.counter_id > y->counter.counter_id) -
		(x->counter.counter_id < y->counter.counter_id);
}

/*
 * The events of one counter, by whatever names it was called, in a row of
 * their own; their statuses go back to where they came from.
 */
static void
admit_counter(const LbCounter *counter, LbEvent *events, const int64 *ids,
			  int n, TimestampTz now)
{
	LbEvent    *own = palloc(n * sizeof(LbEvent));
	int			count = 0;

	for (int i = 0; i < n; i++)
		if (ids[i] == counter->counter_id)
			own[count++] = events[i];
	lb_admit(counter, own, count, LB_KIND_EVENT, now);
	for (int i = 0; i < count; i++)
		events[own[i].ordinal - 1] = own[i];
	pfree(own);
}

/* Counters in the order of their ids, as all batches take their locks. */
static void
admit_all(LbEvent *events, const LbText *counters, int n, TimestampTz now)
{
	NamedCounter *named = palloc(Max(n, 1) * sizeof(NamedCounter));
	int64	   *ids = palloc0(Max(n, 1) * sizeof(int64));
	int			count = 0;
	int64		done = 0;

	for (int i = 0; i < n; i++)
	{
		NamedCounter *of = find_named(named, &count, counters[i]);

		if (of->known)
			ids[i] = of->counter.counter_id;
		else if (events[i].status != LB_REJECTED)
			lb_reject(&events[i], "counter_unknown");
	}
	qsort(named, count, sizeof(NamedCounter), compare_counters);
	for (int i = 0; i < count && named[i].known; i++)
	{
		if (named[i].counter.counter_id != done)
			admit_counter(&named[i].counter, events, ids, n, now);
		done = named[i].counter.counter_id;
	}
}

Datum
lb_submit_json(PG_FUNCTION_ARGS)
{
	LbEvent    *events;
	LbText	   *counters;
	LbGate		gate;
	int			n;

	lb_check_can_write("submit events");
	lb_check_not_null(fcinfo, 0, "events");
	lb_materialize(fcinfo);
	events = read_events(PG_GETARG_JSONB_P(0), &n, &counters);

	lb_gate_enter(&gate);
	lb_spi_connect();
	admit_all(events, counters, n, lb_admission_time());
	lb_spi_finish();
	lb_gate_leave(&gate);

	if (!PG_ARGISNULL(1) && PG_GETARG_BOOL(1))
		lb_check_strict(events, n);
	lb_return_statuses(fcinfo, events, n);
	return (Datum) 0;
}
