/*-------------------------------------------------------------------------
 *
 * model.h
 *	  The ranking as a sorted array: the independent road to every answer.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_TEST_MODEL_H
#define LB_TEST_MODEL_H

#include "memory_store.h"

typedef struct ModelEntry
{
	int64_t		rank_key;
	int64_t		reached_at;
	int			len;
	uint8_t		member[LB_RANK_MEMBER_MAX];
} ModelEntry;

typedef struct Model
{
	ModelEntry *entries;
	int			n;
	int			room;
} Model;

/* Written for itself, not by the core's comparison. */
static inline int
model_compare(const void *left, const void *right)
{
	const ModelEntry *a = left;
	const ModelEntry *b = right;
	int			i;

	if (a->rank_key < b->rank_key)
		return -1;
	if (a->rank_key > b->rank_key)
		return 1;
	if (a->reached_at < b->reached_at)
		return -1;
	if (a->reached_at > b->reached_at)
		return 1;
	for (i = 0; i < a->len && i < b->len; i++)
		if (a->member[i] != b->member[i])
			return a->member[i] < b->member[i] ? -1 : 1;
	return a->len < b->len ? -1 : a->len > b->len;
}

static inline LbRankEntry
model_view(const ModelEntry *entry)
{
	LbRankEntry view = {entry->rank_key, entry->reached_at, entry->member,
	entry->len};

	return view;
}

static inline bool
model_same(const ModelEntry *entry, const LbRankEntry *view)
{
	return entry->rank_key == view->rank_key &&
		entry->reached_at == view->reached_at &&
		entry->len == view->member_len &&
		memcmp(entry->member, view->member, (size_t) entry->len) == 0;
}

static inline void
model_reserve(Model *model, int n)
{
	if (n <= model->room)
		return;
	model->room = n * 2;
	model->entries = realloc(model->entries,
							 (size_t) model->room * sizeof(ModelEntry));
	MUST(model->entries != NULL);
}

static inline void
model_copy(Model *to, const Model *from)
{
	model_reserve(to, from->n + 1);
	if (from->n > 0)
		memcpy(to->entries, from->entries,
			   (size_t) from->n * sizeof(ModelEntry));
	to->n = from->n;
}

/* How many entries are before the given one. */
static inline int
model_position(const Model *model, const ModelEntry *entry)
{
	int			low = 0;
	int			high = model->n;

	while (low < high)
	{
		int			middle = (low + high) / 2;

		if (model_compare(&model->entries[middle], entry) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static inline bool
model_has(const Model *model, const ModelEntry *entry)
{
	int			at = model_position(model, entry);

	return at < model->n && model_compare(&model->entries[at], entry) == 0;
}

/* A batch of moves, sorted, each with its order of arrival among equals. */
typedef struct ModelMove
{
	ModelEntry	entry;
	bool		remove;
} ModelMove;

typedef struct MoveSource
{
	const ModelMove *moves;
	int			n;
	int			next;
	ModelEntry	scratch;		/* bytes given out die at the next call */
} MoveSource;

static inline LbRankStatus
next_move(void *source, LbRankMove *move)
{
	MoveSource *moves = source;

	if (moves->next == moves->n)
		return LB_RANK_DONE;
	moves->scratch = moves->moves[moves->next].entry;
	move->entry = model_view(&moves->scratch);
	move->remove = moves->moves[moves->next].remove;
	moves->next++;
	return LB_RANK_OK;
}

static inline LbRankStatus
next_entry(void *source, LbRankEntry *entry)
{
	LbRankMove	move;
	LbRankStatus status = next_move(source, &move);

	if (status == LB_RANK_OK)
		*entry = move.entry;
	return status;
}

static inline int
move_compare(const void *left, const void *right)
{
	const ModelMove *a = left;
	const ModelMove *b = right;
	int			order = model_compare(&a->entry, &b->entry);

	return order != 0 ? order : (int) b->remove - (int) a->remove;
}

/* Applies a sorted batch, known to be right, by one merge. */
static inline void
model_apply(Model *model, const ModelMove *moves, int n)
{
	Model		merged = {NULL, 0, 0};
	int			at = 0;
	int			i;

	model_reserve(&merged, model->n + n + 1);
	for (i = 0; i < n; i++)
	{
		while (at < model->n &&
			   model_compare(&model->entries[at], &moves[i].entry) < 0)
			merged.entries[merged.n++] = model->entries[at++];
		if (moves[i].remove)
			at++;
		else
			merged.entries[merged.n++] = moves[i].entry;
	}
	while (at < model->n)
		merged.entries[merged.n++] = model->entries[at++];
	free(model->entries);
	*model = merged;
}

/* Every question about one place, asked of both. */
static inline void
compare_place(const Model *model, LbRankStore *store, int64_t root,
			  const ModelEntry *probe)
{
	LbRankEntry view = model_view(probe);
	LbRankPlace place;
	LbRankValue value;
	int64_t		better = 0;
	int64_t		distinct = 0;
	int64_t		not_worse;
	int			i;

	for (i = 0; i < model->n && model->entries[i].rank_key < probe->rank_key;
		 i++)
	{
		better++;
		if (i == 0 || model->entries[i].rank_key !=
			model->entries[i - 1].rank_key)
			distinct++;
	}
	for (not_worse = better; not_worse < model->n &&
		 model->entries[not_worse].rank_key == probe->rank_key; not_worse++)
		;

	MUST(lb_ranktree_find(store, root, &view, &place) == LB_RANK_OK);
	MUST(place.found == model_has(model, probe));
	MUST(place.ahead == model_position(model, probe));
	MUST(place.better == better);
	MUST(place.distinct_better == distinct);
	MUST(lb_ranktree_value(store, root, probe->rank_key, &value) ==
		 LB_RANK_OK);
	MUST(value.better == better);
	MUST(value.distinct_better == distinct);
	MUST(value.not_worse == not_worse);
}

/* Walks from a position, some steps forward, then back over them and on. */
static inline void
compare_walk(const Model *model, LbRankStore *store, int64_t root,
			 int position, int steps)
{
	LbRankCursor cursor;
	LbRankEntry entry;
	int			at = position;
	int			end = position + steps;

	MUST(lb_ranktree_seek(store, root, position, &cursor) == LB_RANK_OK);
	for (; at < end && at < model->n; at++)
	{
		MUST(cursor.position == at);
		MUST(lb_ranktree_next(&cursor, &entry) == LB_RANK_OK);
		MUST(model_same(&model->entries[at], &entry));
	}
	if (at == model->n)
		MUST(lb_ranktree_next(&cursor, &entry) == LB_RANK_DONE);
	for (end = position - steps; at > end && at > 0; at--)
	{
		MUST(lb_ranktree_previous(&cursor, &entry) == LB_RANK_OK);
		MUST(cursor.position == at - 1);
		MUST(model_same(&model->entries[at - 1], &entry));
	}
	if (at == 0)
		MUST(lb_ranktree_previous(&cursor, &entry) == LB_RANK_DONE);
}

static inline void
compare_totals(const Model *model, const LbRankTotals *totals)
{
	int64_t		distinct = 0;
	int			i;

	for (i = 0; i < model->n; i++)
		if (i == 0 || model->entries[i].rank_key !=
			model->entries[i - 1].rank_key)
			distinct++;
	MUST(totals->entries == model->n);
	MUST(totals->distinct == distinct);
}

#endif							/* LB_TEST_MODEL_H */
