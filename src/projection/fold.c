/*-------------------------------------------------------------------------
 *
 * fold.c
 *	  Many events, few groups.
 *
 * A round reads the log once.  It keeps one group a counter, member and
 * bucket, and stores them whenever they have become many, so that its memory
 * is bounded however long the backlog.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "projection/round.h"
#include "projection/sketch.h"

/*
 * Groups are kept until they fill maintenance_work_mem, and this many in any
 * case: some 300 bytes each.  The more are stored at once, the fewer members
 * are written twice.
 */
#define GROUPS_MIN		200000

/* Sketches make groups as large as they like; they are kept up to this at least. */
#define SKETCHES_MIN	(UINT64CONST(64) * 1024 * 1024)

static uint32
hash_member(const void *owner, int64 part, LbText member)
{
	uint64		place = (uint64) (uintptr_t) owner ^ hash_bytes_uint32((uint32) part) ^
		((uint64) hash_bytes_uint32((uint32) (part >> 32)) << 32);

	return hash_combine(hash_bytes((const unsigned char *) &place, sizeof(place)),
						hash_bytes((const unsigned char *) member.data, member.len));
}

static bool
same_group(const LbGroup *a, const LbGroup *b)
{
	return a->counted == b->counted && a->bucket.opens == b->bucket.opens &&
		a->span == b->span && a->late == b->late &&
		lb_text_equal(a->member, b->member);
}

static bool
same_move(const LbMove *a, const LbMove *b)
{
	return a->ranking == b->ranking && lb_text_equal(a->member, b->member);
}

/*
 * Both tables hold pointers, so that an element stays where it is while the
 * table grows, and take an element that has only its key as the key.
 */
typedef struct GroupEntry
{
	LbGroup    *group;
	uint32		hash;
	uint32		status;
} GroupEntry;

#define SH_PREFIX		lbgroup
#define SH_ELEMENT_TYPE GroupEntry
#define SH_KEY_TYPE		LbGroup *
#define SH_KEY			group
#define SH_HASH_KEY(tb, key)	(key)->hash
#define SH_EQUAL(tb, a, b)		same_group(a, b)
#define SH_STORE_HASH
#define SH_GET_HASH(tb, a)		(a)->hash
#define SH_SCOPE		static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

typedef struct MoveEntry
{
	LbMove	   *move;
	uint32		hash;
	uint32		status;
} MoveEntry;

#define SH_PREFIX		lbmove
#define SH_ELEMENT_TYPE MoveEntry
#define SH_KEY_TYPE		LbMove *
#define SH_KEY			move
#define SH_HASH_KEY(tb, key)	(key)->hash
#define SH_EQUAL(tb, a, b)		same_move(a, b)
#define SH_STORE_HASH
#define SH_GET_HASH(tb, a)		(a)->hash
#define SH_SCOPE		static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* Begin to collect; everything lives in the current memory context. */
LbRound *
lb_round_begin(int64 number, TimestampTz as_of)
{
	LbRound    *round = palloc0(sizeof(LbRound));

	round->number = number;
	round->as_of = as_of;
	round->context = CurrentMemoryContext;
	round->fold = AllocSetContextCreate(CurrentMemoryContext,
										"leaderboard fold",
										ALLOCSET_DEFAULT_SIZES);
	round->groups = lbgroup_create(round->fold, 1024, NULL);
	round->sorted = lb_moves_begin();
	round->snapshot = GetActiveSnapshot();
	INSTR_TIME_SET_CURRENT(round->clock);
	return round;
}

static LbText
keep_text(LbText text)
{
	char	   *copy = palloc(text.len + 1);

	memcpy(copy, text.data, text.len);
	copy[text.len] = '\0';
	return (LbText) {copy, text.len};
}

static bool
is_full(const LbRound *round)
{
	Size		limit = maintenance_work_mem * (Size) 1024;

	if (unlikely(round->has_sketches))
		limit = Max(limit, SKETCHES_MIN);
	else if (round->groups->members < GROUPS_MIN)
		return false;
	return MemoryContextMemAllocated(round->fold, false) >= limit;
}

/* The group of a member's events in a bucket; the current context is round->fold. */
static LbGroup *
find_group(LbRound *round, LbCounted *counted, LbText member, LbWindow bucket,
		   char span, int32 late)
{
	LbGroup		key = {.counted = counted, .member = member,
	.bucket = bucket, .span = span, .late = late};
	GroupEntry *entry;
	bool		found;

	key.hash = hash_member(counted, bucket.opens ^ late, member);
	entry = lbgroup_insert(round->groups, &key, &found);
	if (!found)
	{
		entry->group = palloc(sizeof(LbGroup));
		*entry->group = key;
		entry->group->member = keep_text(member);
	}
	return entry->group;
}

/* Add what a member has in a bucket to its group. */
void
lb_round_bucket(LbRound *round, LbCounted *counted, LbText member,
				LbWindow bucket, char span, int32 late, const LbAccum *accum)
{
	MemoryContext old = MemoryContextSwitchTo(round->fold);
	LbGroup    *group = find_group(round, counted, member, bucket, span, late);

	lb_accum_merge(counted->counter.op, &group->accum, accum);
	/* the bytes of the first are the caller's */
	if (group->accum.form == LB_SKETCH_STORED)
		lb_sketch_take(&group->accum, PointerGetDatum(group->accum.sketch.stored));
	MemoryContextSwitchTo(old);
	if (is_full(round))
		lb_round_flush(round);
}

/* Count one event of the log. */
void
lb_round_event(LbRound *round, const LbLogged *event)
{
	LbCounted  *counted = lb_counted(round, event->counter_id, event->version, 0);
	MemoryContext old;
	LbGroup    *group;
	int32		late = 0;

	if (counted->counter.retired)
		return;
	if (!lb_in_window(counted->bucket, event->event_time))
		counted->bucket = lb_bucket_window(counted->counter.grain,
										   event->event_time,
										   counted->counter.zone);
	if (event->kind != LB_KIND_HISTORY)
		late = lb_late_set(&counted->late, counted->counter.zone,
						   event->event_time, event->ingest_time,
						   counted->bucket);
	old = MemoryContextSwitchTo(round->fold);
	/* an approximate counter has one group for all members */
	group = find_group(round, counted,
					   counted->counter.op == LB_HEAVY ? (LbText) {"", 0} : event->member,
					   counted->bucket, LB_SPAN_GRAIN, late);
	lb_accum_event(counted->counter.op, counted->counter.size, &group->accum, event);
	MemoryContextSwitchTo(old);
	counted->events++;
	round->events++;
	if (is_full(round))
		lb_round_flush(round);
}

static void
add_move(LbRound *round, LbRanking *ranking, const LbGroup *group)
{
	LbMove		key = {.ranking = ranking, .member = group->member};
	MoveEntry  *entry;
	bool		found;

	key.hash = hash_member(ranking, 0, group->member);
	entry = lbmove_insert(round->moves, &key, &found);
	if (!found)
	{
		entry->move = palloc(sizeof(LbMove));
		*entry->move = key;
	}
	/* sketches are merged one ranking after the other, when it is its turn */
	if (unlikely(lb_is_sketched(group->counted->counter.op)))
		entry->move->parts = lappend(entry->move->parts, (void *) group);
	else
		lb_accum_merge(group->counted->counter.op, &entry->move->accum,
					   &group->accum);
}

/* Every ranking into which the group falls and for which it is not late. */
static void
add_moves(LbRound *round, const LbGroup *group)
{
	for (int i = 0; i < group->counted->nboards; i++)
	{
		LbCountedBoard *board = &group->counted->boards[i];
		LbRanking  *ranking;

		if (group->late & LB_LATE(board->board.late_bit))
			continue;
		ranking = lb_ranking(round, group->counted, board, group->bucket.opens);
		if (ranking != NULL)
			add_move(round, ranking, group);
	}
}

static int
compare_groups(const void *a, const void *b)
{
	const LbGroup *x = *(LbGroup *const *) a;
	const LbGroup *y = *(LbGroup *const *) b;
	const LbCounter *of_x = &x->counted->counter;
	const LbCounter *of_y = &y->counted->counter;
	int			c;

	if (of_x->counter_id != of_y->counter_id)
		return of_x->counter_id < of_y->counter_id ? -1 : 1;
	if (of_x->version != of_y->version)
		return of_x->version < of_y->version ? -1 : 1;
	c = lb_text_compare(x->member, y->member);
	if (c != 0)
		return c;
	if (x->bucket.opens != y->bucket.opens)
		return x->bucket.opens < y->bucket.opens ? -1 : 1;
	return (x->late > y->late) - (x->late < y->late);
}

static int
compare_moves(const void *a, const void *b)
{
	const LbMove *x = *(LbMove *const *) a;
	const LbMove *y = *(LbMove *const *) b;

	if (x->ranking->board->counter_id != y->ranking->board->counter_id)
		return x->ranking->board->counter_id < y->ranking->board->counter_id ? -1 : 1;
	if (x->ranking->ranking_id != y->ranking->ranking_id)
		return x->ranking->ranking_id < y->ranking->ranking_id ? -1 : 1;
	return lb_text_compare(x->member, y->member);
}

static LbGroup **
sorted_groups(LbRound *round, int *n)
{
	LbGroup   **groups = MemoryContextAllocHuge(round->fold,
												Max(round->groups->members, 1) * sizeof(LbGroup *));
	lbgroup_iterator it;
	GroupEntry *entry;

	*n = 0;
	lbgroup_start_iterate(round->groups, &it);
	while ((entry = lbgroup_iterate(round->groups, &it)) != NULL)
		groups[(*n)++] = entry->group;
	qsort(groups, *n, sizeof(LbGroup *), compare_groups);
	return groups;
}

static LbMove **
sorted_moves(LbRound *round, int *n)
{
	LbMove	  **moves = MemoryContextAllocHuge(round->fold,
											   Max(round->moves->members, 1) * sizeof(LbMove *));
	lbmove_iterator it;
	MoveEntry  *entry;

	*n = 0;
	lbmove_start_iterate(round->moves, &it);
	while ((entry = lbmove_iterate(round->moves, &it)) != NULL)
		moves[(*n)++] = entry->move;
	qsort(moves, *n, sizeof(LbMove *), compare_moves);
	return moves;
}

/*
 * Store the groups and what they move, and start anew.  Rows go in in the
 * order of their keys, which is the order of the indexes.
 */
void
lb_round_flush(LbRound *round)
{
	MemoryContext old = MemoryContextSwitchTo(round->fold);
	LbGroup   **groups;
	LbMove	  **moves;
	int			ngroups;
	int			nmoves;

	groups = sorted_groups(round, &ngroups);
	/* from now on their accumulations are read only */
	for (int i = 0; i < ngroups && round->has_sketches; i++)
		if (groups[i]->accum.form == LB_SKETCH_WORKING)
			lb_accum_settle(groups[i]->counted->counter.op, &groups[i]->accum);
	round->moves = lbmove_create(round->fold, ngroups + 16, NULL);
	for (int i = 0; i < ngroups && !round->recounts; i++)
		add_moves(round, groups[i]);
	lb_cost_charge(round, NULL);
	if (!round->rereads_buckets)
		lb_store_groups(round, groups, ngroups);
	moves = sorted_moves(round, &nmoves);
	lb_store_moves(round, moves, nmoves);
	round->flushes++;

	MemoryContextSwitchTo(old);
	MemoryContextReset(round->fold);
	round->groups = lbgroup_create(round->fold, 1024, NULL);
	round->moves = NULL;
}
