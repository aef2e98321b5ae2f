/*-------------------------------------------------------------------------
 *
 * order.c
 *	  Board order, read from the index on lb.standing.
 *
 * Every question costs at most "head" index entries: what lies deeper is
 * answered from the histogram.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"

#include "read/answer.h"

#define EQ " OPERATOR(pg_catalog.=) "
#define LT " OPERATOR(pg_catalog.<) "
#define GT " OPERATOR(pg_catalog.>) "
#define MINUS " OPERATOR(pg_catalog.-) "
#define OF_RANKING "s.counter_id" EQ "$1 AND s.ranking_id" EQ "$2 "

static int64
rank_key(const LbReading *reading, int64 value)
{
	return reading->board.descending ? ~value : value;
}

static Datum
text_datum(LbText text)
{
	return PointerGetDatum(cstring_to_text_with_len(text.data, text.len));
}

static int64
count_of(int column)
{
	bool		isnull;

	return DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0],
									   SPI_tuptable->tupdesc, column, &isnull));
}

/* The member, value and time of a row whose columns are in that order. */
static void
read_entry(uint64 row, LbEntry *entry)
{
	HeapTuple	tuple = SPI_tuptable->vals[row];
	TupleDesc	desc = SPI_tuptable->tupdesc;
	bool		isnull;

	entry->member.data = TextDatumGetCString(SPI_getbinval(tuple, desc, 1, &isnull));
	entry->member.len = strlen(entry->member.data);
	entry->value = DatumGetInt64(SPI_getbinval(tuple, desc, 2, &isnull));
	entry->reached_at = DatumGetTimestampTz(SPI_getbinval(tuple, desc, 3, &isnull));
}

/* The member's entry; false if the member is not on the board. */
bool
lb_order_find(const LbReading *reading, LbText member, LbEntry *entry)
{
	static LbPlan plan = {
		"SELECT s.member, s.value, s.reached_at FROM lb.standing s "
		"WHERE " OF_RANKING "AND s.member" EQ "$3 AND s.rank_key IS NOT NULL",
		3, {INT8OID, INT8OID, TEXTOID}
	};
	Datum		values[3] = {Int64GetDatum(reading->board.counter_id),
	Int64GetDatum(reading->ranking_id), text_datum(member)};

	if (reading->ranking_id == 0 || member.len > LB_TEXT_MAX ||
		lb_run(&plan, values, NULL, true, 1, SPI_OK_SELECT) == 0)
		return false;
	read_entry(0, entry);
	return true;
}

/* Strictly better members, at most limit, and how many values they have. */
static void
count_better(const LbReading *reading, int64 value, int64 limit,
			 int64 *members, int64 *values_out)
{
	static LbPlan plan = {
		"SELECT pg_catalog.count(*), pg_catalog.count(DISTINCT b.rank_key) "
		"FROM (SELECT s.rank_key FROM lb.standing s WHERE " OF_RANKING
		"AND s.rank_key" LT "$3 ORDER BY s.rank_key, s.reached_at, s.member LIMIT $4) b",
		4, {INT8OID, INT8OID, INT8OID, INT8OID}
	};
	Datum		values[4] = {Int64GetDatum(reading->board.counter_id),
		Int64GetDatum(reading->ranking_id),
	Int64GetDatum(rank_key(reading, value)), Int64GetDatum(limit)};

	lb_run(&plan, values, NULL, true, 1, SPI_OK_SELECT);
	*members = count_of(1);
	*values_out = count_of(2);
}

/* Members of the same value who reached it first, at most limit. */
static int64
count_ahead_in_tie(const LbReading *reading, const LbEntry *entry, int64 limit)
{
	static LbPlan plan = {
		"SELECT pg_catalog.count(*) FROM (SELECT 1 FROM lb.standing s WHERE " OF_RANKING
		"AND s.rank_key" EQ "$3 AND ROW(s.reached_at, s.member)" LT "ROW($4, $5) "
		"ORDER BY s.rank_key, s.reached_at, s.member LIMIT $6) b",
		6, {INT8OID, INT8OID, INT8OID, TIMESTAMPTZOID, TEXTOID, INT8OID}
	};
	Datum		values[6] = {Int64GetDatum(reading->board.counter_id),
		Int64GetDatum(reading->ranking_id),
		Int64GetDatum(rank_key(reading, entry->value)),
		TimestampTzGetDatum(entry->reached_at), text_datum(entry->member),
	Int64GetDatum(limit)};

	lb_run(&plan, values, NULL, true, 1, SPI_OK_SELECT);
	return count_of(1);
}

/* Where the entry stands, if the head reaches it. */
LbPlace
lb_order_place(const LbReading *reading, const LbEntry *entry)
{
	LbPlace		place = {0};
	int64		head = reading->board.head;
	int64		ahead;

	count_better(reading, entry->value, head, &place.better,
				 &place.better_values);
	if (place.better < head)
	{
		ahead = place.better +
			count_ahead_in_tie(reading, entry, head - place.better);
		if (ahead < head)
			place.place = ahead + 1;
		place.exact = reading->board.ties != LB_ORDINAL || ahead < head;
		if (!place.exact)
			place.place = head + 1;		/* at the least */
	}
	else
		place.place = head + 1;
	return place;
}

static int64
count_equal(const LbReading *reading, int64 value, int64 limit)
{
	static LbPlan plan = {
		"SELECT pg_catalog.count(*) FROM (SELECT 1 FROM lb.standing s WHERE " OF_RANKING
		"AND s.rank_key" EQ "$3 LIMIT $4) b",
		4, {INT8OID, INT8OID, INT8OID, INT8OID}
	};
	Datum		values[4] = {Int64GetDatum(reading->board.counter_id),
		Int64GetDatum(reading->ranking_id),
	Int64GetDatum(rank_key(reading, value)), Int64GetDatum(limit)};

	lb_run(&plan, values, NULL, true, 1, SPI_OK_SELECT);
	return count_of(1);
}

/* Where the value would stand, the last of its equals. */
LbPlace
lb_order_place_of_value(const LbReading *reading, int64 value)
{
	LbPlace		place = {0};
	int64		head = reading->board.head;
	int64		ahead;

	count_better(reading, value, head, &place.better, &place.better_values);
	ahead = place.better;
	if (ahead < head)
		ahead += count_equal(reading, value, head - ahead);
	if (place.better < head &&
		(reading->board.ties != LB_ORDINAL || ahead < head))
		place.exact = true;
	if (!place.exact || ahead < head)
		place.place = ahead + 1;
	return place;
}

/*
 * The entries from place first on, n of them at the most and none beyond the
 * head; each with its place.
 */
int
lb_order_page(const LbReading *reading, int64 first, int n, LbEntry *entries,
			  LbPlace *places)
{
	static LbPlan plan = {
		"SELECT p.member, p.value, p.reached_at, p.better, p.better_values FROM ("
		"SELECT s.member, s.value, s.reached_at, "
		"pg_catalog.rank() OVER (ORDER BY s.rank_key)" MINUS "1 AS better, "
		"pg_catalog.dense_rank() OVER (ORDER BY s.rank_key)" MINUS "1 AS better_values, "
		"pg_catalog.row_number() OVER (ORDER BY s.rank_key, s.reached_at, s.member) AS place "
		"FROM (SELECT h.* FROM lb.standing h WHERE h.counter_id" EQ "$1 "
		"AND h.ranking_id" EQ "$2 AND h.rank_key IS NOT NULL "
		"ORDER BY h.rank_key, h.reached_at, h.member LIMIT $4) s) p "
		"WHERE p.place OPERATOR(pg_catalog.>=) $3 ORDER BY p.place",
		4, {INT8OID, INT8OID, INT8OID, INT8OID}
	};
	int64		last = Min(first + n - 1, reading->board.head);
	Datum		values[4] = {Int64GetDatum(reading->board.counter_id),
		Int64GetDatum(reading->ranking_id), Int64GetDatum(first),
	Int64GetDatum(last)};
	uint64		found;
	bool		isnull;

	if (reading->ranking_id == 0 || first > last)
		return 0;
	found = lb_run(&plan, values, NULL, true, 0, SPI_OK_SELECT);
	for (uint64 i = 0; i < found; i++)
	{
		HeapTuple	row = SPI_tuptable->vals[i];
		TupleDesc	desc = SPI_tuptable->tupdesc;

		read_entry(i, &entries[i]);
		places[i].exact = true;
		places[i].better = DatumGetInt64(SPI_getbinval(row, desc, 4, &isnull));
		places[i].better_values = DatumGetInt64(SPI_getbinval(row, desc, 5, &isnull));
		places[i].place = first + (int64) i;
	}
	return (int) found;
}

/*
 * Up to n neighbours of the entry, nearest first: those ahead of it or those
 * behind.
 */
int
lb_order_beside(const LbReading *reading, const LbEntry *entry, bool ahead,
				int n, LbEntry *entries)
{
#define NEIGHBOURS(op, order) \
	"SELECT s.member, s.value, s.reached_at FROM lb.standing s WHERE " OF_RANKING \
	"AND ROW(s.rank_key, s.reached_at, s.member)" op "ROW($3, $4, $5) " \
	"AND s.rank_key IS NOT NULL " \
	"ORDER BY s.rank_key " order ", s.reached_at " order ", s.member " order " LIMIT $6"
	static LbPlan before = {NEIGHBOURS(LT, "DESC"), 6,
	{INT8OID, INT8OID, INT8OID, TIMESTAMPTZOID, TEXTOID, INT8OID}};
	static LbPlan after = {NEIGHBOURS(GT, "ASC"), 6,
	{INT8OID, INT8OID, INT8OID, TIMESTAMPTZOID, TEXTOID, INT8OID}};
	Datum		values[6] = {Int64GetDatum(reading->board.counter_id),
		Int64GetDatum(reading->ranking_id),
		Int64GetDatum(rank_key(reading, entry->value)),
		TimestampTzGetDatum(entry->reached_at), text_datum(entry->member),
	Int64GetDatum(n)};
	uint64		found = lb_run(ahead ? &before : &after, values, NULL, true, 0,
							   SPI_OK_SELECT);

	for (uint64 i = 0; i < found; i++)
		read_entry(i, &entries[i]);
	return (int) found;
}

/* Board order: the better value, then the earlier time, then the bytes. */
int
lb_order_compare(const LbReading *reading, const LbEntry *a, const LbEntry *b)
{
	int64		x = rank_key(reading, a->value);
	int64		y = rank_key(reading, b->value);

	if (x != y)
		return x < y ? -1 : 1;
	if (a->reached_at != b->reached_at)
		return a->reached_at < b->reached_at ? -1 : 1;
	return lb_text_compare(a->member, b->member);
}
