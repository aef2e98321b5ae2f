/*-------------------------------------------------------------------------
 *
 * membership.c
 *	  Which scopes a member belongs to in a window.
 *
 * A membership holds in the windows that close after it began and not after
 * it ended.  It says infinity while it has no end, so what has ended is not
 * read: the key leads from the window's end on.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "scope/membership.h"

/* The columns of lb.membership, and of its key. */
enum
{
	SCOPE = 4,
	SINCE = 5
};

enum
{
	KEY_BOARD_ID = 1, KEY_MEMBER, KEY_UNTIL
};

void
lb_memberships_begin(LbMemberships *memberships)
{
	lb_probe_begin(&memberships->probe, LB_TABLE_MEMBERSHIP, 0, 3);
}

void
lb_memberships_end(LbMemberships *memberships)
{
	lb_probe_end(&memberships->probe);
}

/* From that row on, the scope of the first that had begun; until the next call. */
static bool
read_scope(LbMemberships *memberships, TupleTableSlot *slot, LbText *scope)
{
	bool		isnull;
	text	   *name;

	while (slot != NULL && lb_slot_int64(slot, SINCE) >= memberships->closes)
		slot = lb_probe_next(&memberships->probe, ForwardScanDirection);
	if (slot == NULL)
		return false;
	name = DatumGetTextPP(slot_getattr(slot, SCOPE, &isnull));
	*scope = (LbText) {VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name)};
	return true;
}

/* A scope that the member belongs to in the window closing then, if any. */
bool
lb_memberships_first(LbMemberships *memberships, int64 board_id, Datum member,
					 TimestampTz closes, LbText *scope)
{
	ScanKeyData keys[3];

	memberships->closes = closes;
	lb_key_int64(&keys[0], KEY_BOARD_ID, board_id);
	lb_key_text(&keys[1], KEY_MEMBER, member);
	lb_key_from(&keys[2], KEY_UNTIL, closes);
	return read_scope(memberships,
					  lb_probe(&memberships->probe, keys, ForwardScanDirection),
					  scope);
}

bool
lb_memberships_next(LbMemberships *memberships, LbText *scope)
{
	return read_scope(memberships,
					  lb_probe_next(&memberships->probe, ForwardScanDirection),
					  scope);
}

/* Does the member belong to that scope in the window that closes then? */
bool
lb_belongs(LbMemberships *memberships, int64 board_id, Datum member,
		   LbText scope, TimestampTz closes)
{
	LbText		other;
	bool		found;

	for (found = lb_memberships_first(memberships, board_id, member, closes, &other);
		 found; found = lb_memberships_next(memberships, &other))
		if (lb_text_equal(other, scope))
			return true;
	return false;
}
