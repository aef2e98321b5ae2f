/*-------------------------------------------------------------------------
 *
 * ranktree_moves_fuzz.c
 *	  A sequence of batches, spelt by the input, against a sorted array.
 *
 * Each move is three bytes: what to do, a rank_key and time, a member.  The
 * same triple inserts what is not there and removes what is, so that every
 * input is a valid history.
 *
 *-------------------------------------------------------------------------
 */
/* Small pages and members: higher trees from shorter inputs. */
#define LB_PAGE_MAX 400
#define LB_RANK_MEMBER_MAX 40

#include "../core/model.h"

#define REPLAY_MUTATIONS 5000

#define MOVES_MAX 4096

static void
spell_entry(const uint8_t *bytes, ModelEntry *entry)
{
	static const int64_t keys[] = {INT64_MIN, -1, 0, 1, 1000, 70000,
	INT64_C(1) << 40, INT64_MAX};
	int			shape = bytes[0] & 7;
	int			i;

	memset(entry, 0, sizeof(*entry));
	entry->rank_key = shape < 4 ? keys[bytes[1] & 7] : (int8_t) bytes[1];
	entry->reached_at = bytes[1] & 8 ? keys[bytes[2] & 7] : bytes[1] >> 4;
	entry->len = shape & 1 ? LB_RANK_MEMBER_MAX : shape & 2 ?
		1 + bytes[2] % LB_RANK_MEMBER_MAX : 4;
	for (i = 0; i < entry->len; i++)
		entry->member[i] = shape & 4 ? (uint8_t) (bytes[2] * 31) : 'm';
	entry->member[entry->len - 1] = bytes[2];
	if (entry->len > 1)
		entry->member[entry->len - 2] = bytes[0] >> 3;
}

/* Sorts the batch and keeps of every entry the first move. */
static int
settle(const Model *model, ModelMove *moves, int n)
{
	int			kept = 0;
	int			i;

	for (i = 0; i < n; i++)
		moves[i].remove = model_has(model, &moves[i].entry);
	qsort(moves, (size_t) n, sizeof(ModelMove), move_compare);
	for (i = 0; i < n; i++)
		if (kept == 0 ||
			model_compare(&moves[kept - 1].entry, &moves[i].entry) != 0)
			moves[kept++] = moves[i];
	return kept;
}

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static ModelMove moves[MOVES_MAX];
	MemoryStore memory;
	Model		model = {NULL, 0, 0};
	LbRankTotals totals;
	int64_t		root = 0;
	int			fill;

	if (size < 1)
		return 0;
	fill = LB_RANK_FILL_MIN + data[0] % (LB_RANK_FILL_MAX - LB_RANK_FILL_MIN + 1);
	data++;
	size--;
	memory_start(&memory);
	while (size >= 4)
	{
		int			wanted = 1 + data[0] * 4;
		int			n = 0;
		MoveSource	source = {moves, 0, 0, {0, 0, 0, {0}}};

		data++;
		size--;
		for (; n < wanted && n < MOVES_MAX && size >= 3; data += 3, size -= 3)
			spell_entry(data, &moves[n++].entry);
		source.n = settle(&model, moves, n);
		memory.batch++;
		MUST(lb_ranktree_apply(&memory.store, root, fill, next_move, &source,
							   &root) == LB_RANK_OK);
		model_apply(&model, moves, source.n);
		memory_check(&memory, root, true, &totals);
		compare_totals(&model, &totals);
		compare_walk(&model, &memory.store, root, 0, model.n);
		compare_place(&model, &memory.store, root, &moves[0].entry);
		compare_place(&model, &memory.store, root, &moves[n - 1].entry);
		memory_collect(&memory, memory.batch);
	}
	free(model.entries);
	memory_end(&memory);
	return 0;
}
