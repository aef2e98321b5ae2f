/*-------------------------------------------------------------------------
 *
 * standing_find.c
 *	  Reading a member's row of lb.standing.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "projection/standing.h"

const LbAccumColumns lb_standing_columns = {
	.n = 0,
	.value = LB_STANDING_VALUE,
	.wide = LB_STANDING_WIDE,
	.moved = LB_STANDING_MOVED,
	.reached_at = LB_STANDING_REACHED_AT,
	.last_id = LB_STANDING_LAST_ID
};

/* The columns of its key. */
enum
{
	KEY_COUNTER_ID = 1, KEY_RANKING_ID, KEY_MEMBER
};

void
lb_standing_begin(LbProbe *probe, int64 counter_id)
{
	lb_probe_begin(probe, LB_TABLE_STANDING, counter_id, 3);
}

static TupleTableSlot *
find_row(LbProbe *probe, int64 counter_id, int64 ranking_id, Datum member)
{
	ScanKeyData keys[3];

	lb_key_int64(&keys[0], KEY_COUNTER_ID, counter_id);
	lb_key_int64(&keys[1], KEY_RANKING_ID, ranking_id);
	lb_key_text(&keys[2], KEY_MEMBER, member);
	return lb_probe_row(probe, keys);
}

/* False if the member is not on the ranking; it may be in lb.poison. */
bool
lb_standing_find(LbProbe *probe, int64 counter_id, int64 ranking_id,
				 Datum member, LbStanding *standing)
{
	TupleTableSlot *slot = find_row(probe, counter_id, ranking_id, member);
	Datum		value;
	bool		isnull;

	if (slot == NULL)
		return false;
	value = slot_getattr(slot, LB_STANDING_VALUE, &isnull);
	if (isnull)
		return false;
	standing->value = DatumGetInt64(value);
	standing->reached_at = lb_slot_int64(slot, LB_STANDING_REACHED_AT);
	return true;
}

/* What further events are added to; n is zero if the member has no row. */
void
lb_standing_accum(LbProbe *probe, int64 counter_id, int64 ranking_id,
				  Datum member, LbAccum *accum)
{
	TupleTableSlot *slot = find_row(probe, counter_id, ranking_id, member);

	memset(accum, 0, sizeof(*accum));
	if (slot != NULL)
		lb_accum_from_slot(accum, &lb_standing_columns, slot);
}
