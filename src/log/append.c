/*-------------------------------------------------------------------------
 *
 * append.c
 *	  Rows into the log.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/xid8.h"

#include "definition/gate.h"
#include "log/event.h"

#define EQ " OPERATOR(pg_catalog.=) "

/* The columns that are the same for a whole call, then those that differ. */
#define INSERT_EVENT \
	"INSERT INTO lb.event (counter_id, ingest_time, xid, origin, version, " \
	"kind, event_id, delta, event_time, member, key, actor, source) "

/* Make an origin for this database, unless somebody else just has. */
static bool
make_origin(uint64 system)
{
	static LbPlan claim = {
		"INSERT INTO lb.home (system_identifier, origin) VALUES ($1, $2) "
		"ON CONFLICT DO NOTHING",
		2, {INT8OID, INT4OID}
	};
	static LbPlan insert = {
		"INSERT INTO lb.origin (system_identifier, origin) VALUES ($1, $2)",
		2, {INT8OID, INT4OID}
	};
	Datum		values[2] = {Int64GetDatum((int64) system), (Datum) 0};
	int32		origin;

	if (!pg_strong_random(&origin, sizeof(origin)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate a random number")));
	values[1] = Int32GetDatum(origin & 0x7FFFFFFF);
	if (lb_run(&claim, values, NULL, false, 0, SPI_OK_INSERT) == 0)
		return false;
	lb_run(&insert, values, NULL, false, 0, SPI_OK_INSERT);
	return true;
}

/* What was found, in which database's lb.home, and who made that row. */
static Oid	known_in = InvalidOid;
static int32 known;
static FullTransactionId made_by;

static bool
find_origin(bool read_only, int32 *origin)
{
	static LbPlan look = {
		"SELECT h.origin FROM lb.home h WHERE h.system_identifier" EQ "$1",
		1, {INT8OID}
	};
	Datum		values[1] = {Int64GetDatum((int64) GetSystemIdentifier())};
	Oid			relid = lb_relation_oid("home");
	bool		isnull;

	if (known_in != relid)
	{
		if (lb_run(&look, values, NULL, read_only, 1, SPI_OK_SELECT) == 0)
			return false;
		known = DatumGetInt32(SPI_getbinval(SPI_tuptable->vals[0],
											SPI_tuptable->tupdesc, 1, &isnull));
		SPI_freetuptable(SPI_tuptable);
		/* if it is our own row, a rollback may take it away */
		if (!FullTransactionIdEquals(made_by, GetTopFullTransactionIdIfAny()) ||
			!FullTransactionIdIsValid(made_by))
			known_in = relid;
	}
	*origin = known;
	return true;
}

/*
 * The origin of this database's transactions, made at its first use.  It is
 * drawn at random instead of counted, so that a restore of others' rows meets
 * no row of ours in its way; and it is looked up where a dump does not take
 * it along, because a restored log is foreign even in the cluster that wrote
 * it: a round may already have gone beyond its transactions.
 */
int32
lb_current_origin(void)
{
	int32		origin;

	if (find_origin(false, &origin))
		return origin;
	if (make_origin(GetSystemIdentifier()))
		made_by = GetTopFullTransactionId();
	if (!find_origin(false, &origin))
		elog(ERROR, "the origin of this database is gone");
	return origin;
}

/*
 * The same for those who only read; false if it was never used, so that no
 * event has it.
 */
bool
lb_known_origin(int32 *origin)
{
	LbGate		gate;
	bool		found;

	if (known_in == lb_relation_oid("home"))
	{
		*origin = known;
		return true;
	}
	lb_gate_enter(&gate);
	lb_spi_connect();
	found = find_origin(true, origin);
	lb_spi_finish();
	lb_gate_leave(&gate);
	return found;
}

static Datum
text_datum(LbText text)
{
	return text.data == NULL ? (Datum) 0 :
		PointerGetDatum(cstring_to_text_with_len(text.data, text.len));
}

static void
append_one(LbEvent *event, Datum *values)
{
	static LbPlan plan = {
		INSERT_EVENT
		"VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) "
		"ON CONFLICT DO NOTHING",
		13, {INT8OID, TIMESTAMPTZOID, XID8OID, INT4OID, INT2OID, CHAROID,
			INT8OID, INT8OID, TIMESTAMPTZOID, TEXTOID, TEXTOID, TEXTOID,
		TEXTOID}
	};
	char		nulls[13];

	memset(nulls, ' ', sizeof(nulls));
	values[6] = Int64GetDatum(event->event_id);
	values[7] = Int64GetDatum(event->delta);
	values[8] = TimestampTzGetDatum(event->event_time);
	values[9] = text_datum(event->member);
	values[10] = text_datum(event->key);
	values[11] = text_datum(event->actor);
	values[12] = text_datum(event->source);
	for (int i = 10; i < 13; i++)
		if (values[i] == (Datum) 0)
			nulls[i] = 'n';
	if (lb_run(&plan, values, nulls, false, 0, SPI_OK_INSERT) == 1)
		event->status = LB_ACCEPTED;
}

/* An array of one text field of the events, or NULL if all of them are. */
static Datum
text_array(LbEvent **events, int n, size_t field, char *null)
{
	Datum	   *datums = palloc(n * sizeof(Datum));
	bool	   *nulls = palloc(n * sizeof(bool));
	int			lower = 1;
	bool		any = false;

	for (int i = 0; i < n; i++)
	{
		LbText		text = *(LbText *) ((char *) events[i] + field);

		datums[i] = text_datum(text);
		nulls[i] = text.data == NULL;
		any |= !nulls[i];
	}
	*null = any ? ' ' : 'n';
	if (!any)
		return (Datum) 0;
	return PointerGetDatum(construct_md_array(datums, nulls, 1, &n, &lower,
											  TEXTOID, -1, false,
											  TYPALIGN_INT));
}

static Datum
int64_array(LbEvent **events, int n, size_t field, Oid type)
{
	Datum	   *datums = palloc(n * sizeof(Datum));

	for (int i = 0; i < n; i++)
		datums[i] = Int64GetDatum(*(int64 *) ((char *) events[i] + field));
	return PointerGetDatum(construct_array(datums, n, type, sizeof(int64),
										   FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/* RETURNING gave the ids of the rows that went in, in the order of insertion. */
static void
mark_appended(LbEvent **events, int n)
{
	uint64		row = 0;
	bool		isnull;

	for (int i = 0; i < n && row < SPI_processed; i++)
	{
		int64		id = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[row],
													 SPI_tuptable->tupdesc, 1,
													 &isnull));

		if (events[i]->event_id == id)
		{
			events[i]->status = LB_ACCEPTED;
			row++;
		}
	}
	if (row != SPI_processed)
		elog(ERROR, "the log returned an event that was not submitted");
	SPI_freetuptable(SPI_tuptable);
}

static void
append_many(LbEvent **events, int n, Datum *values)
{
	static LbPlan plan = {
		INSERT_EVENT
		"SELECT $1, $2, $3, $4, $5, $6, u.event_id, u.delta, u.event_time, "
		"u.member, u.key, u.actor, u.source "
		"FROM ROWS FROM (pg_catalog.unnest($7), pg_catalog.unnest($8), "
		"pg_catalog.unnest($9), pg_catalog.unnest($10), "
		"pg_catalog.unnest($11), pg_catalog.unnest($12), "
		"pg_catalog.unnest($13)) "
		"AS u(event_id, delta, event_time, member, key, actor, source) "
		"ON CONFLICT DO NOTHING RETURNING event_id",
		13, {INT8OID, TIMESTAMPTZOID, XID8OID, INT4OID, INT2OID, CHAROID,
			INT8ARRAYOID, INT8ARRAYOID, TIMESTAMPTZARRAYOID, TEXTARRAYOID,
		TEXTARRAYOID, TEXTARRAYOID, TEXTARRAYOID}
	};
	char		nulls[13];

	memset(nulls, ' ', sizeof(nulls));
	values[6] = int64_array(events, n, offsetof(LbEvent, event_id), INT8OID);
	values[7] = int64_array(events, n, offsetof(LbEvent, delta), INT8OID);
	values[8] = int64_array(events, n, offsetof(LbEvent, event_time),
							TIMESTAMPTZOID);
	values[9] = text_array(events, n, offsetof(LbEvent, member), &nulls[9]);
	values[10] = text_array(events, n, offsetof(LbEvent, key), &nulls[10]);
	values[11] = text_array(events, n, offsetof(LbEvent, actor), &nulls[11]);
	values[12] = text_array(events, n, offsetof(LbEvent, source), &nulls[12]);
	lb_run(&plan, values, nulls, false, 0, SPI_OK_INSERT_RETURNING);
	mark_appended(events, n);
}

/*
 * Append the events, which are in key order and have their ids; those that
 * went in become LB_ACCEPTED, those whose key was taken stay as they are.
 */
void
lb_append(const LbCounter *counter, LbEvent **events, int n, char kind,
		  TimestampTz now)
{
	Datum		values[13];

	if (n == 0)
		return;
	values[0] = Int64GetDatum(counter->counter_id);
	values[1] = TimestampTzGetDatum(now);
	values[2] = FullTransactionIdGetDatum(GetTopFullTransactionId());
	values[3] = Int32GetDatum(lb_current_origin());
	values[4] = Int16GetDatum(counter->version);
	values[5] = CharGetDatum(kind);
	if (n == 1)
		append_one(events[0], values);
	else
		append_many(events, n, values);
}
