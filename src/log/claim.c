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
 * sides.  Who looks after midnight relies on it that what was admitted before
 * is in its place by then, or locked: an admission that waited too long for
 * somebody else's key to keep that promise fails.
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
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "log/event.h"
#include "log/leaf.h"
#include "log/lock.h"
#include "log/submit.h"

/* Keys of a counter share this many locks near a partition boundary. */
#define KEY_LOCKS			64

/* How near is near. */
#define BOUNDARY_MARGIN		(5 * USECS_PER_MINUTE)

static int64
since_boundary(TimestampTz now)
{
	int64		since = now % USECS_PER_DAY;

	return since < 0 ? since + USECS_PER_DAY : since;
}

static bool
is_near_boundary(TimestampTz now)
{
	int64		since = since_boundary(now);

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
static void
lock_keys(const LbCounter *counter, LbEvent **events, int n)
{
	bool		wanted[KEY_LOCKS] = {false};

	for (int i = 0; i < n; i++)
		if (events[i]->key.data != NULL)
			wanted[hash_bytes((const unsigned char *) events[i]->key.data,
							  events[i]->key.len) % KEY_LOCKS] = true;
	for (uint32 part = 0; part < KEY_LOCKS; part++)
		if (wanted[part])
			lb_lock(LB_LOCK_KEY, counter->counter_id, part, true);
}

/* A partition that is being looked into; it stays open for the next look. */
typedef struct Look
{
	Oid			relid;
	Relation	heap;
	Relation	index;
	IndexScanDesc scan;
	TupleTableSlot *slot;
	SnapshotData dirty;
	bool		empty;			/* when it was opened */
	struct Look *next;
} Look;

struct LbClaims
{
	const LbCounter *counter;
	char		kind;
	TimestampTz now;
	Look	   *looks;
};

/* The events are all that lb_claim_earlier() will be asked about. */
LbClaims *
lb_claim_begin(const LbCounter *counter, LbEvent **events, int n, char kind,
			   TimestampTz now)
{
	LbClaims   *claims = palloc0(sizeof(LbClaims));

	claims->counter = counter;
	claims->kind = kind;
	claims->now = now;
	require_key_index(lb_leaf_for(now));
	if (is_near_boundary(now))
		lock_keys(counter, events, n);
	return claims;
}

/*
 * Let go of the partitions.  Whoever waits for another transaction may hold
 * none of them: a maker of partitions may be waiting for the default one, and
 * that other transaction behind him.
 */
void
lb_claim_rest(LbClaims *claims)
{
	for (Look *look = claims->looks; look != NULL; look = look->next)
	{
		index_endscan(look->scan);
		ExecDropSingleTupleTableSlot(look->slot);
		index_close(look->index, AccessShareLock);
		table_close(look->heap, AccessShareLock);
	}
	claims->looks = NULL;
}

static Look *
open_look(LbClaims *claims, Oid relid)
{
	Look	   *look;

	for (look = claims->looks; look != NULL; look = look->next)
		if (look->relid == relid)
			return look;
	look = palloc0(sizeof(Look));
	look->relid = relid;
	look->heap = table_open(relid, AccessShareLock);
	look->index = index_open(lb_leaf_key_index(look->heap), AccessShareLock);
	look->slot = table_slot_create(look->heap, NULL);
	InitDirtySnapshot(look->dirty);
	look->scan = lb_index_beginscan(look->heap, look->index, &look->dirty, 2);
	look->empty = RelationGetNumberOfBlocks(look->heap) == 0;
	look->next = claims->looks;
	claims->looks = look;
	return look;
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
look_once(Look *look, ScanKey keys, LbClaim *claim, TransactionId *wait_for)
{
	bool		found;

	*wait_for = InvalidTransactionId;
	index_rescan(look->scan, keys, 2, NULL, 0);
	found = index_getnext_slot(look->scan, ForwardScanDirection, look->slot);
	if (found)
	{
		*wait_for = TransactionIdIsValid(look->dirty.xmin) ?
			look->dirty.xmin : look->dirty.xmax;
		if (!TransactionIdIsValid(*wait_for))
			read_claim(look->slot, claim);
	}
	return found && !TransactionIdIsValid(*wait_for);
}

static bool
look_into(LbClaims *claims, Oid relid, LbText key, LbClaim *claim)
{
	Datum		datum = PointerGetDatum(cstring_to_text_with_len(key.data, key.len));
	ScanKeyData keys[2];
	TransactionId wait_for;

	ScanKeyInit(&keys[0], 1, BTEqualStrategyNumber, F_INT8EQ,
				Int64GetDatum(claims->counter->counter_id));
	ScanKeyEntryInitialize(&keys[1], 0, 2, BTEqualStrategyNumber, InvalidOid,
						   C_COLLATION_OID, F_TEXTEQ, datum);
	for (;;)
	{
		if (look_once(open_look(claims, relid), keys, claim, &wait_for))
			return true;
		if (!TransactionIdIsValid(wait_for))
			return false;
		lb_claim_rest(claims);
		XactLockTableWait(wait_for, NULL, NULL, XLTW_None);
	}
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
 * Is the key held in a partition other than the one that now falls into?  A
 * default partition that was empty when it was first looked at is passed by:
 * whoever fills it with keys that matter here holds their locks.
 */
bool
lb_claim_earlier(LbClaims *claims, const LbEvent *event, LbClaim *claim)
{
	TimestampTz now = claims->now;
	TimestampTz from = earliest_original(claims->counter, event, claims->kind, now);
	TimestampTz to = is_near_boundary(now) ? now + BOUNDARY_MARGIN : now;
	Oid			current = lb_leaf_for(now)->relid;
	LbLeafScan	scan;
	const LbLeaf *leaf;

	/* a snapshot of the whole transaction would make the insert fail */
	if (IsolationUsesXactSnapshot() &&
		look_into(claims, current, event->key, claim))
		return true;

	lb_leaf_scan_begin(&scan, from, to);
	while ((leaf = lb_leaf_scan_next(&scan)) != NULL)
	{
		Oid			relid = leaf->relid;

		if (relid == current ||
			(leaf->is_default && open_look(claims, relid)->empty))
			continue;
		if (look_into(claims, relid, event->key, claim))
			return true;
	}
	return false;
}

/* The event whose key kept this one out of its own partition. */
bool
lb_claim_current(LbClaims *claims, const LbEvent *event, LbClaim *claim)
{
	return look_into(claims, lb_leaf_for(claims->now)->relid, event->key, claim);
}

/*
 * After the rows are in: were they before anybody could look for them in vain?
 * From the boundary on others look from beyond it; for a margin more they wait
 * for whoever holds the locks.
 */
void
lb_claim_end(LbClaims *claims)
{
	TimestampTz now = claims->now;
	TimestampTz boundary = now - since_boundary(now) + USECS_PER_DAY;
	int64		left = boundary - now + (is_near_boundary(now) ? BOUNDARY_MARGIN : 0);

	lb_claim_rest(claims);
	if (lb_admission_elapsed() >= left &&
		lb_leaf_for(boundary)->relid != lb_leaf_for(now)->relid)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("the submission waited for other transactions past the end of the log's day"),
				 errhint("Submit again: nothing was kept, and the day has changed meanwhile.")));
}
