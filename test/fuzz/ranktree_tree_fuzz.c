/*-------------------------------------------------------------------------
 *
 * ranktree_tree_fuzz.c
 *	  Any bytes as a tree of several pages: check, searches, apply.
 *
 * The input is cut into pages, numbered from 1: two bytes of length, then
 * the body; the last is the root.  Nothing is promised about such a tree but
 * that every call comes back; and if the checker finds no fault, the answers
 * must agree with a walk over the entries and a batch must leave a sound
 * tree.
 *
 *-------------------------------------------------------------------------
 */
#include "../core/memory_store.h"

#define REPLAY_MUTATIONS 30000

typedef struct Batch
{
	LbRankMove	moves[4];
	uint8_t		members[4][LB_RANK_MEMBER_MAX];
	int			n;
	int			next;
} Batch;

static LbRankStatus
next_move(void *source, LbRankMove *move)
{
	Batch	   *batch = source;

	if (batch->next == batch->n)
		return LB_RANK_DONE;
	*move = batch->moves[batch->next++];
	return LB_RANK_OK;
}

/* Removes some of the first entries and puts them elsewhere. */
static void
make_batch(LbRankStore *store, int64_t root, Batch *batch, int64_t skip)
{
	LbRankCursor cursor;
	int			i;

	batch->n = batch->next = 0;
	if (lb_ranktree_seek(store, root, skip, &cursor) != LB_RANK_OK)
		return;
	for (i = 0; i < 4; i++)
	{
		LbRankMove *move = &batch->moves[i];

		if (lb_ranktree_next(&cursor, &move->entry) != LB_RANK_OK)
			return;
		memcpy(batch->members[i], move->entry.member,
			   (size_t) move->entry.member_len);
		move->entry.member = batch->members[i];
		move->remove = true;
		if (i == 3 && move->entry.member_len < LB_RANK_MEMBER_MAX)
		{
			batch->members[i][move->entry.member_len++] = 0;
			move->remove = false;
		}
		batch->n++;
	}
}

static void
walk_and_ask(LbRankStore *store, int64_t root, bool sound, int64_t entries)
{
	LbRankCursor cursor;
	LbRankEntry entry;
	LbRankPlace place;
	LbRankValue value;
	int64_t		at = 0;

	if (lb_ranktree_seek(store, root, 0, &cursor) != LB_RANK_OK)
		return;
	while (at < 3000 && lb_ranktree_next(&cursor, &entry) == LB_RANK_OK)
	{
		LbRankStatus status = lb_ranktree_find(store, root, &entry, &place);

		if (sound)
			MUST(status == LB_RANK_OK && place.found && place.ahead == at);
		status = lb_ranktree_value(store, root, entry.rank_key, &value);
		if (sound)
			MUST(status == LB_RANK_OK && value.better == place.better &&
				 value.distinct_better == place.distinct_better &&
				 value.not_worse > at);
		at++;
	}
	if (sound && at < 3000)
		MUST(at == entries);
	while (at-- > 0 && lb_ranktree_previous(&cursor, &entry) == LB_RANK_OK)
		;
}

/* Pages may be met twice here; the caller of apply would be told. */
static bool
supersede_once(void *context, int64_t page_id)
{
	MemoryStore *memory = context;

	if (memory->pages[page_id].dead != 0)
		return false;
	return memory_supersede(context, page_id);
}

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static Batch batch;
	MemoryStore memory;
	LbRankTotals totals = {0, 0, 0};
	LbRankTotals after;
	int64_t		skip = size > 0 ? data[size - 1] : 0;
	int64_t		root;
	int64_t		new_root;
	bool		sound;

	memory_start(&memory);
	while (size >= 2)
	{
		size_t		length = (size_t) data[0] | (size_t) data[1] << 8;

		data += 2;
		size -= 2;
		if (length > size)
			length = size;
		if (length == 0 || length > LB_PAGE_MAX)
			break;
		memory_put(&memory, memory_next_id(&memory), data, (int) length);
		data += length;
		size -= length;
	}
	memory.batch++;
	root = memory.next_id - 1;
	memory.store.supersede = supersede_once;

	sound = root > 0 &&
		lb_ranktree_check(&memory.store, root, NULL, &totals) == LB_RANK_OK;
	walk_and_ask(&memory.store, root, sound, totals.entries);
	make_batch(&memory.store, root, &batch, skip);
	if (lb_ranktree_apply(&memory.store, root, LB_RANK_FILL_DEFAULT, next_move,
						  &batch, &new_root) == LB_RANK_OK && sound)
	{
		MUST(lb_ranktree_check(&memory.store, new_root, NULL, &after) ==
			 LB_RANK_OK);
	}
	memory_end(&memory);
	return 0;
}
