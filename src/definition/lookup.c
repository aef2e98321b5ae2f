/*-------------------------------------------------------------------------
 *
 * lookup.c
 *	  From a name to the definition behind it.
 *
 * A counter or board is written "[tenant/]name".  The queries below run as
 * the owner under whatever search_path the caller has, so every operator
 * in them is qualified.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "catalog/pg_type.h"
#include "common/int.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "definition/gate.h"
#include "definition/family.h"
#include "definition/lookup.h"

#define EQ " OPERATOR(pg_catalog.=) "

PG_FUNCTION_INFO_V1(lb_parse_name_sql);
PG_FUNCTION_INFO_V1(lb_counter_id_sql);
PG_FUNCTION_INFO_V1(lb_board_id_sql);
PG_FUNCTION_INFO_V1(lb_interval_usecs_sql);

static bool
name_part_is_valid(const char *part)
{
	size_t		len = strlen(part);

	return len >= 1 && len <= LB_TEXT_MAX && strchr(part, '/') == NULL;
}

/* Split "[tenant/]name"; without a tenant, leaderboard.tenant decides. */
bool
lb_try_parse_name(const char *name, LbName *parsed)
{
	const char *slash = strchr(name, '/');

	parsed->tenant = slash ? pnstrdup(name, slash - name) : lb_tenant;
	parsed->name = slash ? slash + 1 : name;
	return name_part_is_valid(parsed->tenant) &&
		name_part_is_valid(parsed->name);
}

LbName
lb_parse_name(const char *name, const char *what)
{
	LbName		parsed;

	if (!lb_try_parse_name(name, &parsed))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid %s name \"%s\"", what, name),
				 errdetail("Tenant and name have 1 to %d bytes each, and no \"/\" but the one between them.",
						   LB_TEXT_MAX),
				 errhint("Write it as \"name\" or \"tenant/name\".")));
	return parsed;
}

/*
 * A span of a definition in microseconds; a day is 24 hours.  Months have no
 * fixed length and negative spans no meaning.  The error names the argument.
 */
int64
lb_span_usecs(const Interval *interval, const char *argument)
{
	int64		days;
	int64		result;

	if (interval->month != 0 ||
		pg_mul_s64_overflow(interval->day, USECS_PER_DAY, &days) ||
		pg_add_s64_overflow(days, interval->time, &result) ||
		result < 0 || result > INT64CONST(36525) * USECS_PER_DAY)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 *argument == '\0' ? errmsg("invalid span of time") :
				 errmsg("argument \"%s\" is an invalid span of time", argument),
				 errdetail("A span is between 0 and 36525 days, in days or smaller units."),
				 errhint("Write for example '30 days' instead of '1 month'.")));
	return result;
}

int64
lb_interval_usecs(const Interval *interval)
{
	return lb_span_usecs(interval, "");
}

static LbOperator
parse_operator(const char *op)
{
	if (strcmp(op, "sum") == 0)
		return LB_SUM;
	if (strcmp(op, "max") == 0)
		return LB_MAX;
	if (strcmp(op, "min") == 0)
		return LB_MIN;
	if (strcmp(op, "last") == 0)
		return LB_LAST;
	elog(ERROR, "unknown operator \"%s\" in lb.counter_version", op);
}

static LbTies
parse_ties(const char *ties)
{
	if (strcmp(ties, "competition") == 0)
		return LB_COMPETITION;
	if (strcmp(ties, "dense") == 0)
		return LB_DENSE;
	if (strcmp(ties, "ordinal") == 0)
		return LB_ORDINAL;
	elog(ERROR, "unknown tie rule \"%s\" in lb.board", ties);
}

static pg_tz *
get_zone(const char *name)
{
	pg_tz	   *zone = pg_tzset(name);

	if (zone == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("time zone \"%s\" is not known to this server", name),
				 errhint("Install the time zone database that has it.")));
	return zone;
}

/* Reading the columns of the first row, or of row "row". */
static Datum
column(uint64 row, int col, bool *isnull)
{
	return SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc,
						 col, isnull);
}

static int64
int64_column(uint64 row, int col, bool *isnull)
{
	Datum		value = column(row, col, isnull);

	return *isnull ? 0 : DatumGetInt64(value);
}

static int64
required_int64(uint64 row, int col)
{
	bool		isnull;

	return int64_column(row, col, &isnull);
}

static char *
text_column(uint64 row, int col)
{
	return SPI_getvalue(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, col);
}

static int64
span_column(uint64 row, int col, int64 if_null)
{
	bool		isnull;
	Datum		value = column(row, col, &isnull);

	return isnull ? if_null : lb_interval_usecs(DatumGetIntervalP(value));
}

#define COUNTER_COLUMNS \
	"c.counter_id, v.version, v.operator, c.retired_at IS NOT NULL, " \
	"v.monotonic, v.min_delta, v.max_delta, v.lateness, v.max_age, " \
	"v.max_skew, v.idempotency, t.timezone, v.grain, " \
	"EXISTS (SELECT FROM lb.late_class l WHERE l.counter_id" EQ "c.counter_id), " \
	"v.type, v.tolerated_error "

static void
read_family(uint64 row, int op, int type, int tolerated, LbOperator *result,
			int32 *size)
{
	bool		isnull;
	Datum		error = column(row, tolerated, &isnull);

	*result = lb_family_operator(text_column(row, type),
								 parse_operator(text_column(row, op)));
	*size = lb_family_size(*result, isnull ? 0 : DatumGetFloat8(error));
}

static void
read_counter(LbCounter *counter)
{
	bool		isnull;

	counter->counter_id = required_int64(0, 1);
	counter->version = DatumGetInt16(column(0, 2, &isnull));
	read_family(0, 3, 15, 16, &counter->op, &counter->size);
	counter->retired = DatumGetBool(column(0, 4, &isnull));
	counter->monotonic = DatumGetBool(column(0, 5, &isnull));
	counter->min_delta = int64_column(0, 6, &isnull);
	counter->has_min_delta = !isnull;
	counter->max_delta = int64_column(0, 7, &isnull);
	counter->has_max_delta = !isnull;
	counter->lateness = span_column(0, 8, 0);
	counter->max_age = span_column(0, 9, 0);
	counter->max_skew = span_column(0, 10, 0);
	counter->idempotency = span_column(0, 11, -1);
	counter->zone = get_zone(text_column(0, 12));
	counter->grain = span_column(0, 13, 0);
	counter->has_late_classes = DatumGetBool(column(0, 14, &isnull));
	/* an event of a unique counter says that there was one, no less and no more */
	if (counter->op == LB_UNIQUE)
	{
		counter->has_min_delta = counter->has_max_delta = true;
		counter->min_delta = counter->max_delta = 1;
	}
}

/*
 * The one counter that the plan finds, if any.  Rows are freed at once: a
 * round looks up each counter that has news in one connection.
 */
static bool
run_for_counter(LbPlan *plan, const Datum *values, LbCounter *counter)
{
	bool		found = lb_run(plan, values, NULL, true, 1, SPI_OK_SELECT) == 1;

	if (found)
		read_counter(counter);
	SPI_freetuptable(SPI_tuptable);
	return found;
}

/* The counter of that name, the live one before a retired one. */
bool
lb_find_counter(const LbName *name, LbCounter *counter)
{
	static LbPlan plan = {
		"SELECT " COUNTER_COLUMNS
		"FROM lb.tenant t JOIN lb.counter c ON c.tenant_id" EQ "t.tenant_id "
		"JOIN lb.counter_version v ON v.counter_id" EQ "c.counter_id "
		"AND v.version" EQ "c.version "
		"WHERE t.tenant" EQ "$1 AND c.counter" EQ "$2 "
		"ORDER BY c.retired_at DESC NULLS FIRST LIMIT 1",
		2, {TEXTOID, TEXTOID}
	};
	Datum		values[2] = {CStringGetTextDatum(name->tenant),
	CStringGetTextDatum(name->name)};

	return run_for_counter(&plan, values, counter);
}

/* A counter by its ids; version 0 is the version in force. */
bool
lb_find_counter_version(int64 counter_id, int16 version, LbCounter *counter)
{
	static LbPlan plan = {
		"SELECT " COUNTER_COLUMNS
		"FROM lb.counter c "
		"JOIN lb.tenant t ON c.tenant_id" EQ "t.tenant_id "
		"JOIN lb.counter_version v ON v.counter_id" EQ "c.counter_id "
		"WHERE c.counter_id" EQ "$1 AND v.version" EQ
		"CASE WHEN $2" EQ "0::pg_catalog.int2 THEN c.version ELSE $2 END",
		2, {INT8OID, INT2OID}
	};
	Datum		values[2] = {Int64GetDatum(counter_id), Int16GetDatum(version)};

	return run_for_counter(&plan, values, counter);
}

void
lb_get_counter_version(int64 counter_id, int16 version, LbCounter *counter)
{
	if (!lb_find_counter_version(counter_id, version, counter))
		elog(ERROR, "counter " INT64_FORMAT " has no version %d",
			 counter_id, version);
}

/* What else a tenant has by a name, as the detail of an error. */
static char *
what_exists(const LbName *parsed)
{
	static LbPlan plan = {
		"SELECT pg_catalog.format('\"%s\" is %s', $2, s.what) "
		"FROM lb.tenant t, LATERAL ("
		"SELECT pg_catalog.concat('a counter; its boards: ', "
		"coalesce(pg_catalog.string_agg(b.board, ', ' ORDER BY b.board), 'none')) "
		"FROM lb.counter c LEFT JOIN lb.board b ON b.counter_id" EQ "c.counter_id "
		"WHERE c.tenant_id" EQ "t.tenant_id AND c.counter" EQ "$2 "
		"AND c.retired_at IS NULL GROUP BY c.counter_id "
		"UNION ALL SELECT pg_catalog.concat('a board of the counter ', c.counter) "
		"FROM lb.board b JOIN lb.counter c ON c.counter_id" EQ "b.counter_id "
		"WHERE b.tenant_id" EQ "t.tenant_id AND b.board" EQ "$2"
		") s(what) WHERE t.tenant" EQ "$1",
		2, {TEXTOID, TEXTOID}
	};
	static LbPlan tenant_plan = {
		"SELECT 1 FROM lb.tenant t WHERE t.tenant" EQ "$1", 1, {TEXTOID}
	};
	Datum		values[2] = {CStringGetTextDatum(parsed->tenant),
	CStringGetTextDatum(parsed->name)};

	if (lb_run(&tenant_plan, values, NULL, true, 1, SPI_OK_SELECT) == 0)
		return psprintf("There is no tenant \"%s\".", parsed->tenant);
	if (lb_run(&plan, values, NULL, true, 1, SPI_OK_SELECT) == 0)
		return psprintf("Tenant \"%s\" has nothing by that name.", parsed->tenant);
	return psprintf("%s.", text_column(0, 1));
}

lb_noreturn static void
unknown_name(const char *name, const char *what, const char *hint)
{
	LbName		parsed = lb_parse_name(name, what);

	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("%s \"%s\" does not exist", what, name),
			 errdetail_internal("%s", what_exists(&parsed)),
			 errhint("%s", hint)));
}

void
lb_get_counter(const char *name, LbCounter *counter)
{
	LbName		parsed = lb_parse_name(name, "counter");

	if (!lb_find_counter(&parsed, counter))
		unknown_name(name, "counter",
					 "lb_counters() lists the counters; lb_create_counter() makes one.");
}

#define BOARD_COLUMNS \
	"b.board_id, b.counter_id, b.period, b.direction, b.ties, b.head, " \
	"b.buckets, b.ceiling, b.freshness, coalesce(b.lateness, v.lateness), " \
	"v.operator, t.timezone, b.ranks, b.keep_versions, b.scoped, b.starts, " \
	"v.grain, v.version, l.bit, v.type, v.tolerated_error " \
	"FROM lb.board b " \
	"JOIN lb.tenant t ON t.tenant_id" EQ "b.tenant_id " \
	"JOIN lb.counter c ON c.counter_id" EQ "b.counter_id " \
	"JOIN lb.counter_version v ON v.counter_id" EQ "c.counter_id " \
	"AND v.version" EQ "c.version " \
	"LEFT JOIN lb.late_class l ON l.counter_id" EQ "b.counter_id " \
	"AND l.period" EQ "b.period AND l.starts" EQ "b.starts " \
	"AND l.lateness" EQ "coalesce(b.lateness, v.lateness) "

static void
read_board(uint64 row, LbBoard *board)
{
	bool		isnull;

	board->board_id = required_int64(row, 1);
	board->counter_id = required_int64(row, 2);
	board->grain = span_column(row, 17, 0);
	board->period = lb_parse_period(text_column(row, 3), board->grain,
									&board->units);
	board->late_bit = DatumGetInt32(column(row, 19, &isnull));
	if (isnull)
		board->late_bit = lb_period_rolls(board->period) ? 0 : board->period;
	board->descending = strcmp(text_column(row, 4), "desc") == 0;
	board->ties = parse_ties(text_column(row, 5));
	board->head = DatumGetInt32(column(row, 6, &isnull));
	board->buckets = DatumGetInt32(column(row, 7, &isnull));
	board->ceiling = required_int64(row, 8);
	board->freshness = span_column(row, 9, 0);
	board->lateness = span_column(row, 10, 0);
	read_family(row, 11, 20, 21, &board->op, &board->size);
	board->zone = get_zone(text_column(row, 12));
	board->bounded = strcmp(text_column(row, 13), "bounded") == 0;
	board->keeps_versions = span_column(row, 14, 0) > 0;
	board->scoped = DatumGetBool(column(row, 15, &isnull));
	board->starts = span_column(row, 16, 0);
	board->version = DatumGetInt16(column(row, 18, &isnull));
}

void
lb_get_board(const char *name, LbBoard *board)
{
	static LbPlan plan = {
		"SELECT " BOARD_COLUMNS
		"WHERE t.tenant" EQ "$1 AND b.board" EQ "$2",
		2, {TEXTOID, TEXTOID}
	};
	LbName		parsed = lb_parse_name(name, "board");
	Datum		values[2] = {CStringGetTextDatum(parsed.tenant),
	CStringGetTextDatum(parsed.name)};

	if (lb_run(&plan, values, NULL, true, 1, SPI_OK_SELECT) == 0)
		unknown_name(name, "board",
					 "lb_boards() lists the boards; lb_create_board() makes one.");
	read_board(0, board);
}

/* The boards that the plan finds, allocated in the caller's context. */
static int
read_boards(LbPlan *plan, const Datum *values, LbBoard **boards)
{
	uint64		n = lb_run(plan, values, NULL, true, 0, SPI_OK_SELECT);

	*boards = palloc(Max(n, 1) * sizeof(LbBoard));
	for (uint64 i = 0; i < n; i++)
		read_board(i, &(*boards)[i]);
	SPI_freetuptable(SPI_tuptable);
	return (int) n;
}

/*
 * The boards of a counter, or only board_id if that is not zero; allocated
 * in the caller's context.
 */
int
lb_get_boards(int64 counter_id, int64 board_id, LbBoard **boards)
{
	static LbPlan plan = {
		"SELECT " BOARD_COLUMNS
		"WHERE b.counter_id" EQ "$1 "
		"AND ($2" EQ "0 OR b.board_id" EQ "$2) ORDER BY b.board_id",
		2, {INT8OID, INT8OID}
	};
	Datum		values[2] = {Int64GetDatum(counter_id), Int64GetDatum(board_id)};

	return read_boards(&plan, values, boards);
}

/* The rolling boards of all counters; the index board_rolling finds them. */
int
lb_get_rolling_boards(LbBoard **boards)
{
	static LbPlan plan = {
		"SELECT " BOARD_COLUMNS
		"WHERE pg_catalog.left(b.period, 4)" EQ "'last' "
		"ORDER BY b.counter_id, b.board_id", 0
	};

	return read_boards(&plan, NULL, boards);
}

/* lb._parse_name(name, what) -> tenant, name */
Datum
lb_parse_name_sql(PG_FUNCTION_ARGS)
{
	LbName		parsed;
	Datum		parts[2];

	lb_check_not_null(fcinfo, 0, text_to_cstring(PG_GETARG_TEXT_PP(1)));
	parsed = lb_parse_name(text_to_cstring(PG_GETARG_TEXT_PP(0)),
						   text_to_cstring(PG_GETARG_TEXT_PP(1)));
	parts[0] = CStringGetTextDatum(parsed.tenant);
	parts[1] = CStringGetTextDatum(parsed.name);
	PG_RETURN_ARRAYTYPE_P(construct_array(parts, 2, TEXTOID, -1, false,
										  TYPALIGN_INT));
}

/* lb._counter_id(name): the live counter of that name, or 42704. */
Datum
lb_counter_id_sql(PG_FUNCTION_ARGS)
{
	LbCounter	counter;
	char	   *name;

	lb_check_not_null(fcinfo, 0, "counter");
	name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	lb_spi_connect();
	lb_get_counter(name, &counter);
	if (counter.retired)
		unknown_name(name, "counter",
					 "The counter of that name was retired; lb_create_counter() makes a new one.");
	lb_spi_finish();
	PG_RETURN_INT64(counter.counter_id);
}

/* lb._board_id(name): the board of that name, or 42704. */
Datum
lb_board_id_sql(PG_FUNCTION_ARGS)
{
	LbBoard		board;

	lb_check_not_null(fcinfo, 0, "board");
	lb_spi_connect();
	lb_get_board(text_to_cstring(PG_GETARG_TEXT_PP(0)), &board);
	lb_spi_finish();
	PG_RETURN_INT64(board.board_id);
}

/* lb._usecs(span, argument): the span in microseconds, or 22023. */
Datum
lb_interval_usecs_sql(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(lb_span_usecs(PG_GETARG_INTERVAL_P(0),
								  text_to_cstring(PG_GETARG_TEXT_PP(1))));
}
