/*-------------------------------------------------------------------------
 *
 * reading.c
 *	  From a board's name to the version that this call reads.
 *
 * Everything is read with the caller's snapshot, so a call sees one version
 * of one ranking, whatever rounds commit meanwhile.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "access/sysattr.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "definition/cache.h"
#include "projection/standing.h"
#include "projection/version.h"
#include "read/doubt.h"
#include "read/overlay.h"
#include "read/pin.h"
#include "table/epoch.h"

#define EQ " OPERATOR(pg_catalog.=) "

/* The columns of lb.round that are read here. */
enum
{
	ROUND_NUMBER = 1,
	ROUND_AS_OF = 3,
	ROUND_FLOOR = 4
};

/* The key of lb.version. */
enum
{
	KEY_COUNTER_ID = 1, KEY_RANKING_ID, KEY_VERSION
};

/* The last round of those keys of lb.round. */
static LbNewest
last_round(ScanKey keys, int nkeys)
{
	LbNewest	last = {0, DT_NOBEGIN, DT_NOBEGIN};
	LbProbe		probe;
	TupleTableSlot *slot;

	lb_probe_begin(&probe, LB_TABLE_ROUND, 0, nkeys);
	slot = lb_probe(&probe, keys, BackwardScanDirection);
	if (slot != NULL)
	{
		last.number = lb_slot_int64(slot, ROUND_NUMBER);
		last.as_of = lb_slot_int64(slot, ROUND_AS_OF);
		last.floor = lb_slot_int64(slot, ROUND_FLOOR);
	}
	lb_probe_end(&probe);
	return last;
}

/* Where the newest round came to. */
LbNewest
lb_newest_round(void)
{
	static LbNewest known;
	static uint64 known_at;
	uint64		epoch = lb_snapshot_epoch();

	if (epoch != 0 && epoch == known_at)
		return known;
	known = last_round(NULL, 0);
	known_at = epoch;
	return known;
}

/* And one of at most that number. */
LbNewest
lb_newest_round_up_to(int64 number)
{
	ScanKeyData key;

	lb_key_int64_up_to(&key, ROUND_NUMBER, number);
	return last_round(&key, 1);
}

/*
 * What rounds have come to.  An answer that nothing newer is there needs it
 * not, so it is read when it is first asked for.
 */
void
lb_reading_round(LbReading *reading)
{
	LbNewest	newest;

	if (reading->round_known)
		return;
	newest = lb_newest_round();
	reading->newest = newest.number;
	reading->as_of = newest.as_of;
	reading->floor = newest.floor;
	if (reading->pin != 0)
		lb_pin_round(reading);
	reading->round_known = true;
}

/*
 * The version of a window that has begun and that nobody opened: the first
 * round after its beginning, before which it could not be seen to be empty.
 */
static int64
first_round_since(TimestampTz opens, int64 newest)
{
	static LbPlan plan = {
		"SELECT r.number FROM lb.round r WHERE r.as_of OPERATOR(pg_catalog.>=) $1 "
		"ORDER BY r.as_of, r.number LIMIT 1",
		1, {TIMESTAMPTZOID}
	};
	Datum		values[1] = {TimestampTzGetDatum(opens)};
	LbGate		gate;
	bool		isnull;
	int64		version = newest;

	lb_gate_enter(&gate);
	lb_spi_connect();
	if (lb_run(&plan, values, NULL, true, 1, SPI_OK_SELECT) == 1)
		version = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0],
											  SPI_tuptable->tupdesc, 1, &isnull));
	lb_spi_finish();
	lb_gate_leave(&gate);
	return version;
}

/* The newest versions that this backend has read, those that are numbers only. */
#define KNOWN	64

typedef struct Known
{
	uint64		epoch;			/* in which they are the newest */
	int64		counter_id;
	int64		ranking_id;
	int64		version;
	int64		root;
	int64		population;
} Known;

static Known known[KNOWN];

static bool
recall_version(LbReading *reading, uint64 epoch)
{
	const Known *k = &known[reading->ranking_id % KNOWN];

	if (epoch == 0 || k->epoch != epoch || k->ranking_id != reading->ranking_id ||
		k->counter_id != reading->board.counter_id)
		return false;
	reading->cacheable = true;
	reading->version = k->version;
	reading->root = k->root;
	reading->population = k->population;
	return true;
}

static void
keep_version(const LbReading *reading, uint64 epoch)
{
	if (epoch != 0 && reading->histogram == NULL && reading->leaf == NULL &&
		reading->doubt == NULL)
		known[reading->ranking_id % KNOWN] = (Known) {
			.epoch = epoch,
			.counter_id = reading->board.counter_id,
			.ranking_id = reading->ranking_id,
			.version = reading->version,
			.root = reading->root,
			.population = reading->population
		};
}

static void
read_doubt(LbReading *reading, TupleTableSlot *slot)
{
	reading->total = lb_slot_int64(slot, LB_VERSION_TOTAL);
	reading->bound = slot_attisnull(slot, LB_VERSION_BOUND) ? -1 :
		lb_slot_int64(slot, LB_VERSION_BOUND);
	reading->doubt = lb_doubt_begin();
}

/*
 * Read the version of reading->ranking_id that is asked for: the newest, or the
 * newest up to a round.  False if it has none.
 */
static bool
read_version(LbReading *reading)
{
	LbProbe		probe;
	ScanKeyData keys[3];
	TupleTableSlot *slot;
	Datum		histogram;
	Datum		leaf;
	bool		isnull;
	bool		pinned = reading->pin != 0;
	bool		found;
	uint64		epoch = pinned ? 0 : lb_snapshot_epoch();

	if (recall_version(reading, epoch))
		return true;
	lb_key_int64(&keys[0], KEY_COUNTER_ID, reading->board.counter_id);
	lb_key_int64(&keys[1], KEY_RANKING_ID, reading->ranking_id);
	lb_key_int64_up_to(&keys[2], KEY_VERSION, reading->pin);
	lb_probe_begin(&probe, LB_TABLE_VERSION, reading->board.counter_id, pinned ? 3 : 2);
	slot = lb_probe(&probe, keys, BackwardScanDirection);
	found = slot != NULL;
	if (found)
	{
		Datum		xmin = slot_getsysattr(slot, MinTransactionIdAttributeNumber,
										   &isnull);

		reading->cacheable =
			!TransactionIdIsCurrentTransactionId(DatumGetTransactionId(xmin));
		reading->version = lb_slot_int64(slot, LB_VERSION_VERSION);
		reading->root = lb_slot_int64(slot, LB_VERSION_ROOT);
		reading->population = lb_slot_int64(slot, LB_VERSION_POPULATION);
		histogram = slot_getattr(slot, LB_VERSION_HISTOGRAM, &isnull);
		if (!isnull)
			reading->histogram = lb_hist_load(histogram);
		leaf = slot_getattr(slot, LB_VERSION_LEAF, &isnull);
		if (!isnull)
			reading->leaf = DatumGetByteaPCopy(leaf);
		if (reading->board.op == LB_HEAVY)
			read_doubt(reading, slot);
		keep_version(reading, epoch);
	}
	lb_probe_end(&probe);
	if (pinned)
		lb_pin_check(reading, found);
	return found;
}

/* The rankings last read, so that they need not be looked up. */
#define RECENT	256

typedef struct Recent
{
	uint64		generation;		/* of the definitions it was found under */
	int64		board_id;
	LbWindow	window;
	int64		ranking_id;		/* zero: only the window is known */
	int64		whole_id;
	TimestampTz covered_at;		/* of a rolling board: what it covered then */
	LbWindow	covers;
	int			scope_len;
	char		scope[LB_TEXT_MAX];
} Recent;

static Recent recent[RECENT];

static Recent *
recent_of(int64 board_id, LbText scope)
{
	uint32		hash = hash_bytes((const unsigned char *) scope.data, scope.len);

	return &recent[(board_id + hash) % RECENT];
}

static bool
is_recent(const Recent *r, int64 board_id, LbText scope)
{
	return r->board_id == board_id && r->generation == lb_definitions_generation() &&
		lb_text_equal((LbText) {r->scope, r->scope_len}, scope);
}

static void
keep_recent(Recent *r, const LbReading *reading, LbText scope)
{
	r->generation = lb_definitions_generation();
	r->board_id = reading->board.board_id;
	r->window = reading->window;
	r->ranking_id = reading->cacheable ? reading->ranking_id : 0;
	r->whole_id = reading->whole_id;
	r->scope_len = scope.len;
	memcpy(r->scope, scope.data, scope.len);
}

static int64
find_ranking(const LbReading *reading, LbText scope)
{
	static LbPlan plan = {
		"SELECT r.ranking_id FROM lb.ranking r WHERE r.counter_id" EQ "$1 "
		"AND r.board_id" EQ "$2 AND r.scope" EQ "$3 AND r.opens" EQ "$4",
		4, {INT8OID, INT8OID, TEXTOID, TIMESTAMPTZOID}
	};
	Datum		values[4] = {Int64GetDatum(reading->board.counter_id),
		Int64GetDatum(reading->board.board_id),
		PointerGetDatum(cstring_to_text_with_len(scope.data, scope.len)),
	TimestampTzGetDatum(reading->window.opens)};
	LbGate		gate;
	bool		isnull;
	int64		id = 0;

	lb_gate_enter(&gate);
	lb_spi_connect();
	if (lb_run(&plan, values, NULL, true, 1, SPI_OK_SELECT) == 1)
		id = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0],
										 SPI_tuptable->tupdesc, 1, &isnull));
	lb_spi_finish();
	lb_gate_leave(&gate);
	return id;
}

/* What was not there at the version asked for has none that is newer. */
static int64
version_of_nothing(LbReading *reading)
{
	int64		version;

	if (reading->window.opens > reading->now)
		return 0;
	lb_reading_round(reading);
	version = first_round_since(reading->window.opens, reading->newest);
	return reading->pin != 0 ? Min(version, reading->pin) : version;
}

static void
look_up(LbReading *reading, LbText scope)
{
	reading->ranking_id = find_ranking(reading, scope);
	reading->whole_id = reading->ranking_id;
	if (reading->ranking_id != 0 && scope.len > 0)
		reading->whole_id = find_ranking(reading, (LbText) {"", 0});
	if (reading->ranking_id != 0 && read_version(reading))
		return;
	reading->ranking_id = 0;
	reading->version = version_of_nothing(reading);
}

/*
 * The window of at, the scope's ranking and that one's newest version.  A
 * ranking's id is remembered; should its version be gone, so is the ranking.
 */
static void
find_version(LbReading *reading, LbText scope)
{
	Recent	   *r = recent_of(reading->board.board_id, scope);

	if (is_recent(r, reading->board.board_id, scope) &&
		r->window.opens <= reading->at && reading->at < r->window.closes)
	{
		reading->window = r->window;
		reading->ranking_id = r->ranking_id;
		reading->whole_id = r->whole_id;
		if (r->ranking_id != 0 && read_version(reading))
			return;
	}
	else
		reading->window = lb_board_window(&reading->board, reading->at);
	look_up(reading, scope);
	keep_recent(r, reading, scope);
	r->covers = (LbWindow) {DT_NOBEGIN, DT_NOBEGIN};
}

/*
 * A rolling board has one ranking.  What that covers is said by the newest
 * round's clock; before the first round, by ours.
 */
static void
find_covered(LbReading *reading, LbText scope)
{
	Recent	   *r = recent_of(reading->board.board_id, scope);
	TimestampTz as_of = TIMESTAMP_NOT_FINITE(reading->as_of) ? reading->now : reading->as_of;

	if (lb_is_empty(r->covers) || as_of < r->covered_at || as_of >= r->covers.closes)
	{
		r->covers = lb_board_covers(&reading->board, as_of);
		r->covered_at = as_of;
	}
	reading->window = r->covers;
}

/* Nobody can ask for what a rolling board covered at another time. */
static void
check_covered(const LbReading *reading)
{
	if (lb_in_window(reading->window, reading->at) ||
		lb_in_window(lb_board_covers(&reading->board, reading->now), reading->at))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("\"at\" is outside of the board's current window"),
			 errdetail("The board covers %s to %s, and moves on with the time.",
					   pstrdup(timestamptz_to_str(reading->window.opens)),
					   pstrdup(timestamptz_to_str(reading->window.closes))),
			 errhint("Leave \"at\" out; lb_value() answers for a member at any time.")));
}

/*
 * The arguments that follow "at" wherever there are any: viewer, version,
 * newer_than.
 */
static void
take_wishes(LbReading *reading, FunctionCallInfo fcinfo, int viewer_arg)
{
	int			version_arg = viewer_arg + 1;
	int			newer_than_arg = viewer_arg + 2;

	reading->viewer = lb_text_arg(fcinfo, viewer_arg);
	if (!PG_ARGISNULL(version_arg))
	{
		reading->pin = PG_GETARG_INT64(version_arg);
		if (reading->pin < 1)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("\"version\" must be at least 1"),
					 errhint("Give the version of an earlier answer, or leave it out for the newest.")));
		if (reading->viewer.len > 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("\"viewer\" and \"version\" exclude each other"),
					 errdetail("A version is what was counted then; the viewer's uncounted events are of now."),
					 errhint("Leave one of them out.")));
	}
	if (!PG_ARGISNULL(newer_than_arg))
		reading->newer_than = PG_GETARG_INT64(newer_than_arg);
}

/*
 * Whoever asks for no instant means now; and who asks for a version, when that
 * was made, so that what is read with it page by page stays one window.
 */
static TimestampTz
usual_instant(LbReading *reading)
{
	if (reading->pin == 0)
		return reading->now;
	lb_reading_round(reading);
	return TIMESTAMP_NOT_FINITE(reading->as_of) ? reading->now : reading->as_of;
}

/*
 * The board and the instant; without an argument for it, now.  The caller has
 * checked its own arguments.
 */
void
lb_reading_open(LbReading *reading, FunctionCallInfo fcinfo, int board_arg,
				int at_arg)
{
	lb_check_not_null(fcinfo, board_arg, "board");
	memset(reading, 0, sizeof(*reading));
	reading->now = GetCurrentTimestamp();
	reading->name = text_to_cstring(PG_GETARG_TEXT_PP(board_arg));
	reading->board = *lb_cached_board(reading->name);
	reading->newer_than = PG_INT64_MIN;
	if (at_arg >= 0 && PG_NARGS() > at_arg + 1)
		take_wishes(reading, fcinfo, at_arg + 1);
	reading->at = usual_instant(reading);
	/* a board of one window has no use for it, whatever it is */
	if (at_arg >= 0 && reading->board.period != LB_PERIOD_ALL)
		reading->at = lb_instant_arg(fcinfo, at_arg, reading->at);
}

/* Read what the answers of a scope share; the empty one is the whole board. */
void
lb_reading_scope(LbReading *reading, LbText scope)
{
	bool		known_all;

	if (scope.len > 0 && !reading->board.scoped)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the board has no scopes"),
				 errhint("Leave scope out to ask for the whole board.")));
	if (scope.len > LB_TEXT_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a scope has at most %d bytes", LB_TEXT_MAX),
				 errhint("lb_scopes() lists the scopes of a board.")));
	reading->scope = scope;
	find_version(reading, scope);
	/* who knows the version, and sees what all see, is told so by that alone */
	known_all = reading->version <= reading->newer_than && reading->viewer.len == 0;
	if (!known_all)
		lb_reading_round(reading);
	if (lb_period_rolls(reading->board.period) &&
		(!known_all || reading->at != reading->now))
	{
		lb_reading_round(reading);
		find_covered(reading, scope);
		check_covered(reading);
	}
	lb_pages_begin(&reading->pages, reading->board.counter_id,
				   reading->ranking_id, reading->cacheable);
	lb_pages_leaf(&reading->pages, reading->root, reading->leaf);
}

/*
 * Has the answer something that whoever asks does not know?  Uncounted events
 * of the viewer are that too, until they are in a version.
 */
bool
lb_reading_is_news(LbReading *reading)
{
	return reading->version > reading->newer_than || lb_overlay(reading) != NULL;
}

/*
 * Read what the answers share.  False if that is not newer than what the
 * caller knows: then it is to give no rows, and the reading is over.
 */
bool
lb_reading_begin(LbReading *reading, FunctionCallInfo fcinfo, int board_arg,
				 int scope_arg, int at_arg)
{
	LbText		scope = lb_text_arg(fcinfo, scope_arg);

	lb_reading_open(reading, fcinfo, board_arg, at_arg);
	lb_reading_scope(reading, scope.data == NULL ? (LbText) {"", 0} : scope);
	if (lb_reading_is_news(reading))
		return true;
	lb_reading_end(reading);
	return false;
}

/* Make reading->standing ready. */
void
lb_reading_probe(LbReading *reading)
{
	if (!reading->probing)
		lb_standing_begin(&reading->standing, reading->board.counter_id);
	reading->probing = true;
}

/* The whole board's ranking of the window, also where the scope has none yet. */
int64
lb_reading_whole(LbReading *reading)
{
	if (reading->ranking_id == 0 && reading->scope.len > 0)
		return find_ranking(reading, (LbText) {"", 0});
	return reading->whole_id;
}

void
lb_reading_end(LbReading *reading)
{
	if (reading->probing)
		lb_probe_end(&reading->standing);
	if (reading->probing_moved)
		lb_probe_end(&reading->moved);
	lb_pages_end(&reading->pages);
}

/* Is the newest round older than it may be? */
bool
lb_reading_stale(const LbReading *reading, int64 freshness)
{
	return TIMESTAMP_NOT_FINITE(reading->as_of) ||
		reading->now - reading->as_of > freshness;
}

/*
 * A window is settled when everything that may still be counted was ingested
 * after its lateness ended, which makes it late for this window.  At a version
 * it was what it was for that round.
 */
const char *
lb_reading_state(const LbReading *reading)
{
	TimestampTz seen = reading->pin != 0 ? reading->as_of : reading->now;

	if (seen < reading->window.closes ||
		lb_period_rolls(reading->board.period))
		return "live";
	if (!TIMESTAMP_NOT_FINITE(reading->floor) &&
		reading->floor - reading->board.lateness > reading->window.closes)
		return "settled";
	return "provisional";
}
