/*-------------------------------------------------------------------------
 *
 * topk_model.h
 *	  What tests of lb_topk share: sketches over malloc, and the true weights
 *	  of all items to hold them against.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TOPK_MODEL_H
#define TOPK_MODEL_H

#include "topk/topk_core.c"
#include "topk/topk_bytes.c"
#include "topk/topk_text.c"

#include <stdio.h>
#include <stdlib.h>

#define MUST(condition) \
	do { \
		if (!(condition)) \
		{ \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			abort(); \
		} \
	} while (0)

/* Stored bytes on their own. */
typedef struct Packed
{
	uint8_t    *bytes;
	size_t		size;
} Packed;

/* The true weights of items 0 .. n - 1, and their sum. */
typedef struct Truth
{
	int			n;
	int64_t	   *weights;
	int64_t		total;
} Truth;

static void *
allocate(size_t size)
{
	void	   *chunk = malloc(size > 0 ? size : 1);

	MUST(chunk != NULL);
	return chunk;
}

static inline void *
resize_chunk(void *arg, void *chunk, size_t size)
{
	(void) arg;
	chunk = realloc(chunk, size);
	MUST(chunk != NULL);
	return chunk;
}

static inline void
begin_sketch(LbTopk *t, int32_t capacity, uint64_t seed)
{
	lb_topk_init(t, capacity, seed, resize_chunk, NULL);
}

static inline void
end_sketch(LbTopk *t)
{
	free(t->entries);
	free(t->bytes);
}

/* Pack into a chunk of exactly the size, for the sanitizers. */
static inline Packed
pack_sketch(LbTopk *t)
{
	uint8_t    *room = allocate(lb_topk_pack_room(t));
	Packed		p;

	p.size = lb_topk_pack(t, room);
	MUST(p.size <= lb_topk_pack_room(t));
	p.bytes = allocate(p.size);
	memcpy(p.bytes, room, p.size);
	free(room);
	return p;
}

static inline bool
same_packed(Packed a, Packed b)
{
	return a.size == b.size && memcmp(a.bytes, b.bytes, a.size) == 0;
}

/*
 * The name of an item: of any length, with heads in common, not in the order
 * of the numbers.  Item 0 is the empty one, item 1 as long as can be.
 */
static inline size_t
item_name(int id, char *name)
{
	if (id == 0)
		return 0;
	if (id == 1)
	{
		memset(name, 'x', LB_TOPK_ITEM_MAX);
		return LB_TOPK_ITEM_MAX;
	}
	return (size_t) snprintf(name, LB_TOPK_ITEM_MAX, "%s%d",
							 id % 3 == 0 ? "member-" : id % 3 == 1 ? "m" : "",
							 (int) ((unsigned) id * 7919u % 1000003u));
}

static inline void
add_item(LbTopk *t, int id, int64_t weight)
{
	char		name[LB_TOPK_ITEM_MAX + 1];
	size_t		length = item_name(id, name);

	MUST(lb_topk_try_add(t, name, length, weight) == LB_TOPK_OK);
}

/* What is promised of a stored sketch, against the truth. */
static inline void
check_promises(Packed p, const Truth *truth)
{
	LbTopkReader r;
	int32_t		tracked = 0;
	int64_t		rest = 0;

	MUST(lb_topk_open(&r, p.bytes, p.size) == LB_TOPK_OK);
	MUST(r.total == truth->total);
	/* bound <= total / (capacity + 1), without overflow */
	MUST(r.bound <= r.total / (r.capacity + 1));
	for (int id = 0; id < truth->n; id++)
	{
		char		name[LB_TOPK_ITEM_MAX + 1];
		size_t		length = item_name(id, name);
		int64_t		low;
		int64_t		high;

		lb_topk_find(&r, name, length, &low, &high);
		MUST(low <= truth->weights[id] && truth->weights[id] <= high);
		MUST(high - low <= r.bound);
		tracked += low > 0;
		if (low == 0)
			rest += truth->weights[id];
	}
	MUST(tracked == r.items && r.items <= r.capacity);
	if (r.bound == 0)
		MUST(rest == 0);
	else
		MUST(r.items == r.capacity);
}

static inline int
descending(const void *a, const void *b)
{
	int64_t		x = *(const int64_t *) a;
	int64_t		y = *(const int64_t *) b;

	return (x < y) - (x > y);
}

/* bound <= (what is not among the j heaviest) / (capacity + 1 - j), any j. */
static inline void
check_tail_bound(Packed p, const Truth *truth)
{
	size_t		size = sizeof(int64_t) * (size_t) truth->n;
	int64_t    *sorted = allocate(size);
	int64_t		tail = truth->total;
	LbTopkReader r;

	MUST(lb_topk_open(&r, p.bytes, p.size) == LB_TOPK_OK);
	memcpy(sorted, truth->weights, size);
	qsort(sorted, (size_t) truth->n, sizeof(int64_t), descending);
	for (int j = 0; j <= r.capacity && j < truth->n; j++)
	{
		MUST(r.bound <= tail / (r.capacity + 1 - j));
		tail -= sorted[j];
	}
	free(sorted);
}

#endif							/* TOPK_MODEL_H */
