/*-------------------------------------------------------------------------
 *
 * pin.c
 *	  Answers as they were at an earlier version.
 *
 * What a ranking was at round v is its newest version of that round or one
 * before: a row of lb.version, whose tree is still there, and what its
 * members had, of which lb.moved tells for those who have moved since.  All
 * that stays for as long as keep_versions says (lb._collect_some).
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "projection/moved.h"
#include "projection/version.h"
#include "read/answer.h"
#include "read/pin.h"

/* The key of lb.version. */
enum
{
	KEY_COUNTER_ID = 1, KEY_RANKING_ID, KEY_VERSION
};

lb_noreturn static void
not_published(const LbReading *reading)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("version " INT64_FORMAT " is not published yet", reading->pin),
			 reading->newest == 0 ? errdetail("Nothing has been counted yet.") :
			 errdetail("The newest round is number " INT64_FORMAT ".", reading->newest),
			 errhint("Give the version of an earlier answer; a standby may not have replayed it yet.")));
}

lb_noreturn static void
not_kept(const LbReading *reading, int64 oldest)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("version " INT64_FORMAT " of board \"%s\" is no longer kept",
					reading->pin, reading->name),
			 errdetail("The oldest version that is still served is " INT64_FORMAT ".", oldest),
			 errhint("Begin again with the newest version; the board's keep_versions says how long one is kept, and lb_alter_board() changes that.")));
}

/*
 * The round asked for, or as much of it as is still known: the newest one of
 * at most that number.
 */
void
lb_pin_round(LbReading *reading)
{
	LbNewest	round;

	if (reading->pin > reading->newest)
		not_published(reading);
	round = lb_newest_round_up_to(reading->pin);
	reading->as_of = round.as_of;
	reading->floor = round.floor;
}

/*
 * The first version of the ranking above that one, or without one the last in
 * that direction; zero for none.
 */
static int64
find_version(const LbReading *reading, int64 ranking_id, int64 above,
			 ScanDirection direction, bool *collected)
{
	LbProbe		probe;
	ScanKeyData keys[3];
	TupleTableSlot *slot;
	int64		version = 0;
	bool		isnull = false;

	lb_key_int64(&keys[0], KEY_COUNTER_ID, reading->board.counter_id);
	lb_key_int64(&keys[1], KEY_RANKING_ID, ranking_id);
	lb_key_int64_above(&keys[2], KEY_VERSION, above);
	lb_probe_begin(&probe, LB_TABLE_VERSION, reading->board.counter_id, 3);
	slot = lb_probe(&probe, keys, direction);
	if (slot != NULL)
	{
		version = lb_slot_int64(slot, LB_VERSION_VERSION);
		(void) slot_getattr(slot, LB_VERSION_SUPERSEDED, &isnull);
	}
	lb_probe_end(&probe);
	*collected = isnull;
	return version;
}

/*
 * The oldest version of the ranking that can be told; zero if that is its
 * first one, before which there was nothing.
 */
static int64
oldest_served(const LbReading *reading, int64 ranking_id)
{
	bool		collected;
	bool		ignored;
	int64		first = find_version(reading, ranking_id, 0, ForwardScanDirection,
									 &collected);
	int64		last;

	if (reading->board.keeps_versions)
		return collected ? first : 0;
	/* nobody has noted what its members had before the newest */
	last = find_version(reading, ranking_id, 0, BackwardScanDirection, &ignored);
	return first < last || collected ? last : 0;
}

/*
 * Until when what members of the scope have stayed what it is at the version
 * found.  They have it on the whole board, which moves on without them and
 * may have forgotten versions that are still the scope's newest.
 */
static int64
told_until(const LbReading *reading)
{
	bool		ignored;
	int64		next = find_version(reading, reading->ranking_id, reading->version,
									ForwardScanDirection, &ignored);

	return next == 0 ? PG_INT64_MAX : next - 1;
}

/*
 * Can the version asked for be told?  found: the ranking has one of at most
 * that number.
 */
void
lb_pin_check(LbReading *reading, bool found)
{
	int64		oldest = 0;

	reading->told_at = reading->pin;
	if (!found || !reading->board.keeps_versions)
		oldest = oldest_served(reading, reading->ranking_id);
	if (oldest > reading->pin)
		not_kept(reading, oldest);
	if (!found || reading->whole_id == reading->ranking_id)
		return;
	reading->told_at = told_until(reading);
	if (reading->told_at == PG_INT64_MAX)
		return;
	oldest = oldest_served(reading, reading->whole_id);
	if (oldest > reading->told_at)
		not_kept(reading, oldest);
}

/* What the member had in the whole board's ranking; false for nothing. */
bool
lb_pin_standing(LbReading *reading, Datum member, LbStanding *standing)
{
	int64		counter_id = reading->board.counter_id;

	if (!reading->probing_moved)
		lb_moved_begin(&reading->moved, counter_id);
	reading->probing_moved = true;
	switch (lb_moved_since(&reading->moved, counter_id, reading->whole_id, member,
						   reading->told_at, standing))
	{
		case LB_MOVED_HAD:
			return true;
		case LB_MOVED_CAME:
			return false;
		case LB_MOVED_NOT:
			break;
	}
	return lb_standing_find(&reading->standing, counter_id, reading->whole_id, member,
							standing);
}
