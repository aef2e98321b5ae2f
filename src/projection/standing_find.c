/*-------------------------------------------------------------------------
 *
 * standing_find.c
 *	  Reading a member's row of lb.standing.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "projection/standing.h"

/* The columns of lb.standing that are read, and of its key. */
enum
{
	VALUE = 3,
	REACHED_AT = 4
};

enum
{
	KEY_COUNTER_ID = 1, KEY_RANKING_ID, KEY_MEMBER
};

void
lb_standing_begin(LbProbe *probe, int64 counter_id)
{
	lb_probe_begin(probe, LB_TABLE_STANDING, counter_id, 3);
}

/* False if the member is not on the ranking; it may be in lb.poison. */
bool
lb_standing_find(LbProbe *probe, int64 counter_id, int64 ranking_id,
				 Datum member, LbStanding *standing)
{
	ScanKeyData keys[3];
	TupleTableSlot *slot;
	Datum		value;
	bool		isnull;

	lb_key_int64(&keys[0], KEY_COUNTER_ID, counter_id);
	lb_key_int64(&keys[1], KEY_RANKING_ID, ranking_id);
	lb_key_text(&keys[2], KEY_MEMBER, member);
	slot = lb_probe(probe, keys, ForwardScanDirection);
	if (slot == NULL)
		return false;
	value = slot_getattr(slot, VALUE, &isnull);
	if (isnull)
		return false;
	standing->value = DatumGetInt64(value);
	standing->reached_at = lb_slot_int64(slot, REACHED_AT);
	return true;
}
