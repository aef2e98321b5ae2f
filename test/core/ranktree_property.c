/*-------------------------------------------------------------------------
 *
 * ranktree_property.c
 *	  Random batches against a sorted array.
 *
 * usage: ranktree_property [first seed [number of histories [batches each]]]
 *
 * Every history draws its own shapes of keys, times, members and batches.
 * After each batch the whole tree is checked and counted against the pages
 * that are live, and its answers are compared with the array's; older
 * versions that are kept must answer as they did.  Prints one line at the
 * end, or aborts with the seed.
 *
 *-------------------------------------------------------------------------
 */
#include "model.h"

#define KEPT 3					/* versions kept beside the newest */
#define MOVES_MAX 6000

typedef struct Shape
{
	int			keys;
	int			times;
	int			members;
	int			batch_max;
	int			size_max;		/* growth turns to shrinking here */
	int			fill;
	int			cuts;			/* one batch in so many is a cut */
} Shape;

typedef struct History
{
	Shape		shape;
	MemoryStore memory;
	Model		model;
	Model		old[KEPT];
	int64_t		old_root[KEPT];
	int64_t		root;
	bool		growing;
	int64_t		clock;
	uint64_t	names;
	ModelMove	moves[MOVES_MAX];
	int			move_count;
} History;

static uint64_t random_state;
static long moves_made;
static long batches_made;
static long probes_made;
static int	height_max;
static long pages_seen;
static long pages_low;		/* under 40 percent, roots left out */

static uint64_t
draw(void)
{
	uint64_t	z = (random_state += UINT64_C(0x9E3779B97F4A7C15));

	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

static int
below(int n)
{
	return (int) (draw() % (uint64_t) n);
}

static int64_t
draw_key(const History *history)
{
	static const int64_t edges[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1,
	INT64_MAX - 1, INT64_MAX};

	switch (history->shape.keys)
	{
		case 0:
			return (int64_t) draw();
		case 1:
			return below(2);
		case 2:
			return below(50) - 25;
		case 3:
			return edges[below(7)];
		case 4:
			return below(1000000);
		case 5:					/* most at one value, others around */
			return below(10) > 0 ? 7 : below(1000) - 500;
		case 6:
			return -7;
		default:
			return below(3) == 0 ? edges[below(7)] :
				(int64_t) (draw() >> below(64));
	}
}

static int64_t
draw_time(History *history)
{
	static const int64_t time_edges[] = {INT64_MIN, INT64_MIN + 1, 0,
	INT64_MAX};

	switch (history->shape.times)
	{
		case 0:
			return INT64_C(750000000000000) + below(1000000000);
		case 1:
			return 0;
		case 2:
			return below(3) - 1;
		case 3:
			return time_edges[below(4)];
		case 4:
			return history->clock++;
		default:
			return (int64_t) draw();
	}
}

static void
draw_member(History *history, ModelEntry *entry)
{
	char		text[64];
	int			i;

	switch (history->shape.members)
	{
		case 0:
			snprintf(text, sizeof(text), "player-%07d", below(10000000));
			break;
		case 1:
			snprintf(text, sizeof(text), "%llu",
					 (unsigned long long) history->names++);
			break;
		case 2:
			snprintf(text, sizeof(text), "%08x-%04x-4%03x-%04x-%012llx",
					 (unsigned) draw(), below(65536), below(4096),
					 below(65536),
					 (unsigned long long) (draw() >> 16));
			break;
		case 3:					/* long, different at the very end */
			entry->len = LB_RANK_MEMBER_MAX - below(2);
			memset(entry->member, 'x', LB_RANK_MEMBER_MAX);
			for (i = 1; i <= 4; i++)
				entry->member[entry->len - i] = (uint8_t) ('a' + below(4));
			return;
		case 4:					/* any bytes, any length */
			entry->len = 1 + below(LB_RANK_MEMBER_MAX);
			for (i = 0; i < entry->len; i++)
				entry->member[i] = (uint8_t) draw();
			return;
		case 5:					/* prefixes of each other, few bytes */
			entry->len = 1 + below(below(4) > 0 ? 12 : LB_RANK_MEMBER_MAX);
			for (i = 0; i < entry->len; i++)
				entry->member[i] = (uint8_t) (below(2) ? 0 : 255);
			return;
		default:				/* pairs alike but for the last byte */
			entry->len = LB_RANK_MEMBER_MAX;
			memset(entry->member, 'a' + below(26), LB_RANK_MEMBER_MAX);
			for (i = 0; i < 3; i++)
				entry->member[i] = (uint8_t) draw();
			entry->member[LB_RANK_MEMBER_MAX - 1] = (uint8_t) below(2);
			return;
	}
	entry->len = (int) strlen(text);
	memcpy(entry->member, text, (size_t) entry->len);
}

static void
draw_entry(History *history, ModelEntry *entry)
{
	memset(entry, 0, sizeof(*entry));
	entry->rank_key = draw_key(history);
	entry->reached_at = draw_time(history);
	draw_member(history, entry);
}

static void
draw_shape(History *history)
{
	static const int batch_max[] = {1, 3, 30, 300, 3000};
	static const int size_max[] = {3, 60, 500, 3000, 12000};

	history->shape.keys = below(8);
	history->shape.times = below(6);
	history->shape.members = below(7);
	history->shape.batch_max = batch_max[below(5)];
	history->shape.size_max = size_max[below(5)];
	history->shape.cuts = 2 + below(20);
	history->shape.fill = LB_RANK_FILL_MIN +
		below(LB_RANK_FILL_MAX - LB_RANK_FILL_MIN + 1);
}

/*
 * Removes a stretch of the ranking but for a few survivors, so that pages of
 * several levels become empty or small at once.
 */
static void
draw_cut(History *history)
{
	int			n = history->model.n;
	int			length = 1 + below(1 << below(13));
	int			first = below(n);
	int			survive = 1 + below(length);
	int			i;

	if (below(3) == 0)
		first = 0;
	else if (below(3) == 0)
		first = length < n ? n - length : 0;
	history->move_count = 0;
	for (i = first; i < n && i < first + length && i - first < MOVES_MAX; i++)
	{
		ModelMove  *move = &history->moves[history->move_count];

		if (below(survive) == 0 && below(3) == 0)
			continue;
		move->entry = history->model.entries[i];
		move->remove = true;
		history->move_count++;
	}
}

/* Adds moves, sorts, and drops what cannot stand together. */
static void
draw_batch(History *history)
{
	int			wanted = 1 + below(history->shape.batch_max);
	int			odds = history->growing ? 75 : 25;
	int			focus = below(4) == 0 && history->model.n > 0 ?
		below(history->model.n) : -1;
	int			i;
	int			kept = 0;

	if (history->model.n > 0 && below(history->shape.cuts) == 0)
	{
		draw_cut(history);
		return;
	}
	for (i = 0; i < wanted; i++)
	{
		ModelMove  *move = &history->moves[i];

		move->remove = history->model.n > 0 && below(100) >= odds;
		if (move->remove)
		{
			int			at = focus < 0 ? below(history->model.n) :
				(focus + i) % history->model.n;

			move->entry = history->model.entries[at];
		}
		else
			draw_entry(history, &move->entry);
		if (move->remove && below(50) == 0 && i + 1 < wanted)
		{
			history->moves[i + 1] = *move;	/* and put back */
			history->moves[++i].remove = false;
		}
	}
	qsort(history->moves, (size_t) wanted, sizeof(ModelMove), move_compare);
	for (i = 0; i < wanted; i++)
	{
		ModelMove  *move = &history->moves[i];
		bool		again = kept > 0 &&
			model_compare(&history->moves[kept - 1].entry, &move->entry) == 0;
		bool		there = again ? !history->moves[kept - 1].remove :
			model_has(&history->model, &move->entry);

		if (move->remove ? (!there || again) : there)
			continue;
		history->moves[kept++] = *move;
	}
	history->move_count = kept;
}

static LbRankStatus
apply_moves(History *history, int64_t *new_root)
{
	MoveSource	source = {history->moves, history->move_count, 0,
	{0, 0, 0, {0}}};

	return lb_ranktree_apply(&history->memory.store, history->root,
							 history->shape.fill, next_move, &source,
							 new_root);
}

/* Batches that must be refused, and leave nothing behind. */
static void
try_bad_batch(History *history)
{
	LbRankStatus expected = LB_RANK_OK;
	int64_t		new_root;
	int			i;

	if (history->move_count == 0)
		return;
	i = below(history->move_count);
	switch (below(4))
	{
		case 0:					/* the same move twice */
			if (history->move_count >= MOVES_MAX)
				return;
			memmove(&history->moves[i + 1], &history->moves[i],
					(size_t) (history->move_count - i) * sizeof(ModelMove));
			history->move_count++;
			expected = LB_RANK_BAD_INPUT;
			break;
		case 1:					/* removal of what is not there */
			if (history->moves[i].remove ||
				(i > 0 && model_compare(&history->moves[i - 1].entry,
										&history->moves[i].entry) == 0))
				return;
			history->moves[i].remove = true;
			expected = LB_RANK_NO_ENTRY;
			break;
		case 2:					/* insertion of what is */
			if (!history->moves[i].remove ||
				(i + 1 < history->move_count &&
				 model_compare(&history->moves[i].entry,
							   &history->moves[i + 1].entry) == 0))
				return;
			history->moves[i].remove = false;
			expected = LB_RANK_ENTRY_EXISTS;
			break;
		case 3:
			history->memory.alloc_left = below(8);
			expected = LB_RANK_NO_MEMORY;
			break;
	}
	{
		LbRankStatus status = apply_moves(history, &new_root);

		if (expected == LB_RANK_NO_MEMORY && status == LB_RANK_OK)
			expected = LB_RANK_OK;	/* it needed less */
		MUST(status == expected);
	}
	history->memory.alloc_left = -1;
	MUST(history->memory.blocks == 0);
	memory_roll_back(&history->memory);
}

static void
probe(History *history, const Model *model, int64_t root, int times)
{
	int			i;

	for (i = 0; i < times; i++)
	{
		ModelEntry	entry;

		if (model->n > 0 && below(3) > 0)
		{
			entry = model->entries[below(model->n)];
			if (below(4) == 0)
				draw_member(history, &entry);
			if (below(6) == 0)
				entry.reached_at = draw_time(history);
		}
		else
			draw_entry(history, &entry);
		if (below(20) == 0)
			entry.rank_key = below(2) ? INT64_MAX : INT64_MIN;
		compare_place(model, &history->memory.store, root, &entry);
		compare_walk(model, &history->memory.store, root,
					 below(model->n + 1), below(40));
		probes_made++;
	}
}

/* All of it: one walk forward, one back, by way of every entry's place. */
static void
compare_all(History *history, const Model *model, int64_t root)
{
	int			i;

	compare_walk(model, &history->memory.store, root, 0, model->n);
	for (i = 0; i < model->n; i++)
	{
		LbRankEntry view = model_view(&model->entries[i]);
		LbRankPlace place;
		LbRankCursor cursor;
		LbRankEntry entry;

		MUST(lb_ranktree_find(&history->memory.store, root, &view, &place) ==
			 LB_RANK_OK);
		MUST(place.found && place.ahead == i);
		MUST(lb_ranktree_seek_entry(&history->memory.store, root, &view,
									&cursor) == LB_RANK_OK);
		MUST(lb_ranktree_next(&cursor, &entry) == LB_RANK_OK);
		MUST(model_same(&model->entries[i], &entry));
	}
}

/* Publishes the batch: shifts the versions kept and collects. */
static void
keep_version(History *history)
{
	int			slot = history->memory.batch % KEPT;

	model_copy(&history->old[slot], &history->model);
	history->old_root[slot] = history->root;
	memory_collect(&history->memory, history->memory.batch - KEPT);
}

static void
check_versions(History *history)
{
	LbRankTotals totals;
	int			slot = below(KEPT);

	memory_check(&history->memory, history->root, true, &totals);
	compare_totals(&history->model, &totals);
	pages_seen += history->memory.visits;
	pages_low += history->memory.low;
	if (totals.height > height_max)
		height_max = totals.height;
	if (history->old_root[slot] < 0)
		return;
	memory_check(&history->memory, history->old_root[slot], false, &totals);
	compare_totals(&history->old[slot], &totals);
	probe(history, &history->old[slot], history->old_root[slot], 2);
}

/* The array's entries as one build; its tree must say the same. */
static void
rebuild(History *history)
{
	MoveSource	source = {history->moves, 0, 0, {0, 0, 0, {0}}};
	ModelMove  *all = calloc((size_t) history->model.n + 1, sizeof(ModelMove));
	int64_t		root;
	LbRankTotals totals;
	int			i;

	MUST(all != NULL);
	for (i = 0; i < history->model.n; i++)
		all[i].entry = history->model.entries[i];
	source.moves = all;
	source.n = history->model.n;
	history->memory.batch++;
	MUST(lb_ranktree_build(&history->memory.store, history->shape.fill,
						   next_entry, &source, &root) == LB_RANK_OK);
	memory_check(&history->memory, root, false, &totals);
	compare_totals(&history->model, &totals);
	compare_all(history, &history->model, root);
	memory_roll_back(&history->memory);
	history->memory.batch--;
	free(all);
}

static void
run_history(uint64_t seed, int batches)
{
	static History history;
	int			i;

	random_state = seed;
	memset(&history, 0, sizeof(history));
	memory_start(&history.memory);
	draw_shape(&history);
	for (i = 0; i < KEPT; i++)
		history.old_root[i] = -1;
	history.growing = true;
	for (i = 0; i < batches; i++)
	{
		history.memory.batch++;
		draw_batch(&history);
		if (below(10) == 0)
			try_bad_batch(&history);
		else
		{
			MUST(apply_moves(&history, &history.root) == LB_RANK_OK);
			model_apply(&history.model, history.moves, history.move_count);
			moves_made += history.move_count;
			batches_made++;
		}
		keep_version(&history);
		check_versions(&history);
		probe(&history, &history.model, history.root, 4);
		if (history.model.n > history.shape.size_max)
			history.growing = false;
		else if (history.model.n == 0 || below(200) == 0)
			history.growing = true;
		if (below(50) == 0)
			compare_all(&history, &history.model, history.root);
		if (below(100) == 0)
			rebuild(&history);
	}
	memory_end(&history.memory);
	free(history.model.entries);
	for (i = 0; i < KEPT; i++)
		free(history.old[i].entries);
}

static uint64_t running;

static void
say_seed(void)
{
	fprintf(stderr, "seed %llu\n", (unsigned long long) running);
}

#include <signal.h>

static void
on_abort(int number)
{
	(void) number;
	say_seed();
}

int
main(int argc, char **argv)
{
	uint64_t	first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	int			histories = argc > 2 ? atoi(argv[2]) : 100;
	int			batches = argc > 3 ? atoi(argv[3]) : 100;
	int			i;

	signal(SIGABRT, on_abort);
	for (i = 0; i < histories; i++)
	{
		running = first + (uint64_t) i;
		run_history(running, batches);
	}
	printf("ranktree: seeds %llu-%llu, %ld batches, %ld moves, %ld probes, "
		   "highest tree %d pages, %.3f %% of pages low: no difference\n",
		   (unsigned long long) first, (unsigned long long) running,
		   batches_made, moves_made, probes_made, height_max,
		   100.0 * (double) pages_low / (double) pages_seen);
	MUST(pages_low * 100 <= pages_seen);
	return 0;
}
