/*-------------------------------------------------------------------------
 *
 * moved_find.c
 *	  Reading lb.moved: what a member had at an earlier version.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "projection/moved.h"

/* Its key. */
enum
{
	KEY_COUNTER_ID = 1, KEY_RANKING_ID, KEY_MEMBER, KEY_VERSION
};

void
lb_moved_begin(LbProbe *probe, int64 counter_id)
{
	lb_probe_begin(probe, LB_TABLE_MOVED, counter_id, 4);
}

/*
 * Has the member been moved since that version, and from where?  The first
 * version that moved it since then noted what it had until then.
 */
LbMoved
lb_moved_since(LbProbe *probe, int64 counter_id, int64 ranking_id, Datum member,
			   int64 version, LbStanding *had)
{
	ScanKeyData keys[4];
	TupleTableSlot *slot;
	Datum		value;
	bool		isnull;

	lb_key_int64(&keys[0], KEY_COUNTER_ID, counter_id);
	lb_key_int64(&keys[1], KEY_RANKING_ID, ranking_id);
	lb_key_text(&keys[2], KEY_MEMBER, member);
	lb_key_int64_above(&keys[3], KEY_VERSION, version);
	slot = lb_probe(probe, keys, ForwardScanDirection);
	if (slot == NULL)
		return LB_MOVED_NOT;
	value = slot_getattr(slot, LB_MOVED_VALUE, &isnull);
	if (isnull)
		return LB_MOVED_CAME;
	had->value = DatumGetInt64(value);
	had->reached_at = lb_slot_int64(slot, LB_MOVED_REACHED_AT);
	return LB_MOVED_HAD;
}
