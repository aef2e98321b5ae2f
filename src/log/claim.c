/*-------------------------------------------------------------------------
 *
 * claim.c
 *	  Who holds an idempotency key.
 *
 * Within a partition the unique index (counter_id, key) decides.  A key that
 * may have been claimed in an earlier partition is looked up there with a
 * dirty snapshot, which also sees what is not committed yet, and waits for
 * that transaction as a unique check does.  Partitions are looked into one
 * after the other, the newest first, for all keys of the call in their order:
 * what is opened is opened once, and neighbouring keys meet the same pages.
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

/* The partition that is being looked into; it stays open for the next key. */
typedef struct Look
{
	Relation	heap;
	Relation	index;
	IndexScanDesc scan;
	TupleTableSlot *slot;
	SnapshotData dirty;
} Look;

struct LbClaims
{
	const LbCounter *counter;
	char		kind;
	TimestampTz now;
	bool		looking;
	Look		look;
};

/* The events are all that the other functions will be asked about. */
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
 * Let go of the partition.  Whoever waits for another transaction may not
 * hold it: a maker of partitions may be waiting for the default one, and that
 * other transaction behind him.
 */
static void
rest(LbClaims *claims)
{
	Look	   *look = &claims->look;

	if (!claims->looking)
		return;
	index_endscan(look->scan);
	ExecDropSingleTupleTableSlot(look->slot);
	index_close(look->index, AccessShareLock);
	table_close(look->heap, AccessShareLock);
	claims->looking = false;
}

/* False if there is nothing in it, or if it is gone. */
static bool
begin_look(LbClaims *claims, const LbLeaf *leaf)
{
	Look	   *look = &claims->look;

	look->heap = lb_leaf_open(leaf);
	if (look->heap == NULL)
		return false;
	if (RelationGetNumberOfBlocks(look->heap) == 0)
	{
		table_close(look->heap, AccessShareLock);
		return false;
	}
	look->index = index_open(lb_leaf_key_index(look->heap), AccessShareLock);
	look->slot = table_slot_create(look->heap, NULL);
	InitDirtySnapshot(look->dirty);
	look->scan = lb_index_beginscan(look->heap, look->index, &look->dirty, 2);
	claims->looking = true;
	return true;
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

/*
 * Is the key held in that partition?  The partition need not be open, and if
 * it was waited for somebody it is opened again.
 */
static bool
look_into(LbClaims *claims, const LbLeaf *leaf, LbText key, LbClaim *claim)
{
	Datum		datum = PointerGetDatum(cstring_to_text_with_len(key.data, key.len));
	ScanKeyData keys[2];
	TransactionId wait_for = InvalidTransactionId;
	bool		held = false;

	ScanKeyInit(&keys[0], 1, BTEqualStrategyNumber, F_INT8EQ,
				Int64GetDatum(claims->counter->counter_id));
	ScanKeyEntryInitialize(&keys[1], 0, 2, BTEqualStrategyNumber, InvalidOid,
						   C_COLLATION_OID, F_TEXTEQ, datum);
	while (claims->looking || begin_look(claims, leaf))
	{
		held = look_once(&claims->look, keys, claim, &wait_for);
		if (!TransactionIdIsValid(wait_for))
			break;
		rest(claims);
		XactLockTableWait(wait_for, NULL, NULL, XLTW_None);
	}
	pfree(DatumGetPointer(datum));
	return held;
}

/*
 * How far back every retry is recognised, whatever event_time it has: what
 * lb_counters() reports as the counter's idempotency.
 */
static int64
idempotency_span(const LbCounter *counter)
{
	int64		span = counter->max_age + counter->max_skew;

	if (counter->idempotency >= 0)
		return counter->idempotency;
	return Max(span, USECS_PER_DAY);
}

/*
 * How far back a repeat of this event can have its original: it cannot have
 * been ingested before event_time - max_skew.  Without an event_time the span
 * of the counter decides, and so it does when it was declared.
 */
static TimestampTz
earliest_original(const LbCounter *counter, const LbEvent *event, char kind,
				  TimestampTz now)
{
	TimestampTz earliest = DT_NOEND;

	if (kind == LB_KIND_HISTORY)
		return DT_NOBEGIN;
	if (event->has_event_time)
		earliest = event->event_time - counter->max_skew;
	if (!event->has_event_time || counter->idempotency >= 0)
		earliest = Min(earliest, now - idempotency_span(counter));
	return earliest;
}

typedef struct Question
{
	const LbEvent *event;
	TimestampTz from;
	LbClaim    *claim;
	bool	   *held;
} Question;

/* Look into one partition for every key that may be there. */
static void
ask_leaf(LbClaims *claims, const LbLeaf *leaf, Question *questions, int n)
{
	for (int i = 0; i < n; i++)
	{
		Question   *q = &questions[i];

		CHECK_FOR_INTERRUPTS();
		if (*q->held || (!leaf->is_default && leaf->to <= q->from))
			continue;
		if (!claims->looking && !begin_look(claims, leaf))
			return;
		*q->held = look_into(claims, leaf, q->event->key, q->claim);
	}
	rest(claims);
}

/*
 * Which of the keys are held in partitions other than the one that now falls
 * into?  A partition without a row is passed by: whoever is about to fill the
 * default one, or yesterday's, with keys that matter here holds their locks.
 */
void
lb_claim_earlier(LbClaims *claims, LbEvent **events, int n, LbClaim *found,
				 bool *held)
{
	TimestampTz now = claims->now;
	TimestampTz from = DT_NOEND;
	TimestampTz to = is_near_boundary(now) ? now + BOUNDARY_MARGIN : now;
	LbLeaf		current = *lb_leaf_for(now);
	LbLeaf		leaf;
	LbLeafScan	scan;
	Question   *questions = palloc(n * sizeof(Question));
	int			asked = 0;

	for (int i = 0; i < n; i++)
	{
		Question   *q = &questions[asked];

		held[i] = false;
		if (events[i]->key.data == NULL)
			continue;
		q->event = events[i];
		q->from = earliest_original(claims->counter, events[i], claims->kind, now);
		q->claim = &found[i];
		q->held = &held[i];
		from = Min(from, q->from);
		asked++;
	}

	/* a snapshot of the whole transaction would make the insert fail */
	if (IsolationUsesXactSnapshot())
		ask_leaf(claims, &current, questions, asked);

	lb_leaf_scan_begin(&scan, from, to, true);
	while (asked > 0 && lb_leaf_scan_next(&scan, &leaf))
		if (leaf.relid != current.relid)
			ask_leaf(claims, &leaf, questions, asked);
	pfree(questions);
}

/* The event whose key kept this one out of its own partition. */
bool
lb_claim_current(LbClaims *claims, const LbEvent *event, LbClaim *claim)
{
	LbLeaf		current = *lb_leaf_for(claims->now);

	return look_into(claims, &current, event->key, claim);
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

	rest(claims);
	if (lb_admission_elapsed() >= left &&
		lb_leaf_for(boundary)->relid != lb_leaf_for(now)->relid)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("the submission waited for other transactions past the end of the log's day"),
				 errhint("Submit again: nothing was kept, and the day has changed meanwhile.")));
}
