/*-------------------------------------------------------------------------
 *
 * claim.c
 *	  Who holds an idempotency key.
 *
 * Within a partition the unique index (counter_id, key) decides.  A key that
 * may have been claimed in an earlier partition is looked up there with a
 * dirty snapshot, which also sees what is not committed yet, and waits for
 * that transaction as a unique check does.
 *
 * Two first submissions on both sides of midnight could still miss each
 * other, each looking before the other inserts.  Near a boundary they
 * therefore lock their key's share of the counter first and look at both
 * sides.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "log/event.h"
#include "log/leaf.h"
#include "log/lock.h"

/* Keys of a counter share this many locks near a partition boundary. */
#define KEY_LOCKS			64

/* How near is near: no admission takes longer to reach its lock. */
#define BOUNDARY_MARGIN		(5 * USECS_PER_MINUTE)

static bool
is_near_boundary(TimestampTz now)
{
	int64		since = now % USECS_PER_DAY;

	if (since < 0)
		since += USECS_PER_DAY;
	return since < BOUNDARY_MARGIN || since >= USECS_PER_DAY - BOUNDARY_MARGIN;
}

/* Without its index a partition would take any key twice. */
static void
require_key_index(const LbLeaf *leaf)
{
	Relation	heap = table_open(leaf->relid, AccessShareLock);

	(void) lb_leaf_key_index(heap);
	table_close(heap, AccessShareLock);
}

/* Before looking: near a boundary, lock the keys' shares in their order. */
void
lb_claim_begin(const LbCounter *counter, LbEvent **events, int n,
			   TimestampTz now)
{
	bool		wanted[KEY_LOCKS] = {false};

	require_key_index(lb_leaf_for(now));
	if (!is_near_boundary(now))
		return;
	for (int i = 0; i < n; i++)
		if (events[i]->key.data != NULL)
			wanted[hash_bytes((const unsigned char *) events[i]->key.data,
							  events[i]->key.len) % KEY_LOCKS] = true;
	for (uint32 part = 0; part < KEY_LOCKS; part++)
		if (wanted[part])
			lb_lock(LB_LOCK_KEY, counter->counter_id, part, true);
}

static LbText
slot_text(TupleTableSlot *slot, int column)
{
	LbText		result = {NULL, 0};
	bool		isnull;
	Datum		value = slot_getattr(slot, column, &isnull);

	if (!isnull)
	{
		result.data = TextDatumGetCString(value);
		result.len = strlen(result.data);
	}
	return result;
}

static void
read_claim(TupleTableSlot *slot, LbClaim *claim)
{
	bool		isnull;

	claim->event_id = DatumGetInt64(slot_getattr(slot, LB_EVENT_EVENT_ID, &isnull));
	claim->delta = DatumGetInt64(slot_getattr(slot, LB_EVENT_DELTA, &isnull));
	claim->member = slot_text(slot, LB_EVENT_MEMBER);
	claim->actor = slot_text(slot, LB_EVENT_ACTOR);
}

/*
 * One look into a partition.  True if the key is held there; *wait_for is
 * set instead if that depends on a transaction still under way.
 */
static bool
look_once(Relation heap, Relation index, int64 counter_id, Datum key,
		  LbClaim *claim, TransactionId *wait_for)
{
	SnapshotData dirty;
	ScanKeyData keys[2];
	IndexScanDesc scan;
	TupleTableSlot *slot = table_slot_create(heap, NULL);
	bool		found;

	InitDirtySnapshot(dirty);
	*wait_for = InvalidTransactionId;
	ScanKeyInit(&keys[0], 1, BTEqualStrategyNumber, F_INT8EQ,
				Int64GetDatum(counter_id));
	ScanKeyEntryInitialize(&keys[1], 0, 2, BTEqualStrategyNumber, InvalidOid,
						   C_COLLATION_OID, F_TEXTEQ, key);
	scan = lb_index_beginscan(heap, index, &dirty, 2);
	index_rescan(scan, keys, 2, NULL, 0);
	found = index_getnext_slot(scan, ForwardScanDirection, slot);
	if (found)
	{
		*wait_for = TransactionIdIsValid(dirty.xmin) ? dirty.xmin : dirty.xmax;
		if (!TransactionIdIsValid(*wait_for))
			read_claim(slot, claim);
	}
	index_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	return found && !TransactionIdIsValid(*wait_for);
}

static bool
look_into(const LbLeaf *leaf, int64 counter_id, LbText key, LbClaim *claim)
{
	Relation	heap = table_open(leaf->relid, AccessShareLock);
	Relation	index = index_open(lb_leaf_key_index(heap), AccessShareLock);
	Datum		datum = PointerGetDatum(cstring_to_text_with_len(key.data, key.len));
	TransactionId wait_for;
	bool		found;

	for (;;)
	{
		found = look_once(heap, index, counter_id, datum, claim, &wait_for);
		if (!TransactionIdIsValid(wait_for))
			break;
		XactLockTableWait(wait_for, heap, NULL, XLTW_None);
	}
	index_close(index, AccessShareLock);
	table_close(heap, AccessShareLock);
	return found;
}

/*
 * How far back a repeat of this event can have its original: it cannot have
 * been ingested before event_time - max_skew; without an event_time a retry
 * is recognised for a day.  A declared idempotency holds whatever is given.
 */
static TimestampTz
earliest_original(const LbCounter *counter, const LbEvent *event, char kind,
				  TimestampTz now)
{
	TimestampTz earliest;

	if (kind == LB_KIND_HISTORY)
		return DT_NOBEGIN;
	if (event->has_event_time)
		earliest = event->event_time - counter->max_skew;
	else
		earliest = now - USECS_PER_DAY;
	if (counter->idempotency >= 0)
		earliest = Min(earliest, now - counter->idempotency);
	return earliest;
}

/*
 * Is the key held in a partition other than the one that now falls into?
 */
bool
lb_claim_earlier(const LbCounter *counter, const LbEvent *event, char kind,
				 TimestampTz now, LbClaim *claim)
{
	TimestampTz from = earliest_original(counter, event, kind, now);
	TimestampTz to = is_near_boundary(now) ? now + BOUNDARY_MARGIN : now;
	const LbLeaf *current = lb_leaf_for(now);
	LbLeafScan	scan;
	const LbLeaf *leaf;

	/* a snapshot of the whole transaction would make the insert fail */
	if (IsolationUsesXactSnapshot() &&
		look_into(current, counter->counter_id, event->key, claim))
		return true;

	lb_leaf_scan_begin(&scan, from, to);
	while ((leaf = lb_leaf_scan_next(&scan)) != NULL)
		if (leaf->relid != current->relid &&
			look_into(leaf, counter->counter_id, event->key, claim))
			return true;
	return false;
}

/* The event whose key kept this one out of its own partition. */
bool
lb_claim_current(const LbCounter *counter, const LbEvent *event,
				 TimestampTz now, LbClaim *claim)
{
	return look_into(lb_leaf_for(now), counter->counter_id, event->key, claim);
}
