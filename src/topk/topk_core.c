/*-------------------------------------------------------------------------
 *
 * topk_core.c
 *	  The sketch to work on: adding, merging, forgetting, packing.
 *
 * The counts are those of Misra and Gries (1982), merged as Agarwal and
 * others (2012) merge them.  An item has a count while it is tracked; none
 * that is not tracked has more weight than the bound.  To forget is to lower
 * all counts by the best count that shall not stay, and to raise the bound by
 * as much, so that count + bound, an item's high, stays.  Beside its count an
 * item has its low, the weight seen since it is tracked, which no forgetting
 * lowers.
 *
 *-------------------------------------------------------------------------
 */
#include "topk_core.h"

#include <string.h>

#include "varint.h"

#define ROOM_MIN		16
#define BYTES_ROOM_MIN	256

/* Is a to come before b?  A total order of different entries. */
typedef bool (*Before) (const LbTopk *t, uint16_t a, uint16_t b);

/* What is wrong, as a clause for an error message. */
const char *
lb_topk_status_text(LbTopkStatus status)
{
	switch (status)
	{
		case LB_TOPK_OK:
			return "nothing is wrong";
		case LB_TOPK_SHORT:
			return "it ends too early";
		case LB_TOPK_BAD_VERSION:
			return "its format version is unknown";
		case LB_TOPK_BAD_FLAGS:
			return "it sets unknown flags";
		case LB_TOPK_NOT_CANONICAL:
			return "its bytes are not in canonical form";
		case LB_TOPK_BAD_CAPACITY:
			return "the capacity is not between 1 and 10000";
		case LB_TOPK_BAD_ORDER:
			return "the items are not in ascending order of their bytes";
		case LB_TOPK_BAD_NUMBER:
			return "a low is below 1 or above its high, or the total or the bound is negative";
		case LB_TOPK_BAD_WIDTH:
			return "a high is below the bound, or further above its low than the bound";
		case LB_TOPK_BAD_SUM:
			return "the highs and the bound together exceed the total, or are less although the bound is 0";
		case LB_TOPK_BAD_ITEMS:
			return "it has more items than its capacity, or fewer although the bound is not 0";
		case LB_TOPK_SYNTAX:
			return "the text does not follow the form of a sketch";
		case LB_TOPK_LONG_ITEM:
			return "an item has more than 255 bytes";
		case LB_TOPK_BAD_WEIGHT:
			return "a weight is not positive";
		case LB_TOPK_OVERFLOW:
			return "its total would be more than 9223372036854775807";
	}
	return "unknown status";
}

/*
 * An empty sketch of a capacity in range.  It takes memory with its first
 * item: two chunks, entries and bytes.  The seed changes how fast it is with
 * which items and nothing else; one that others do not know keeps them from
 * choosing items that are slow.
 */
void
lb_topk_init(LbTopk *t, int32_t capacity, uint64_t seed, LbTopkResize resize,
			 void *arg)
{
	memset(t, 0, sizeof(*t));
	t->capacity = capacity;
	t->seed = seed;
	t->pivots = seed;
	t->resize = resize;
	t->arg = arg;
}

static uint64_t
mix(uint64_t x)
{
	x ^= x >> 32;
	x *= UINT64_C(0xd6e8feb86659fd93);
	return x ^ x >> 32;
}

/* Up to eight bytes as a number; with the length it tells them apart. */
static uint64_t
few_bytes(const char *p, size_t length)
{
	uint32_t	head;
	uint32_t	tail;

	if (length >= 4)
	{
		memcpy(&head, p, 4);
		memcpy(&tail, p + length - 4, 4);
		return (uint64_t) head << 32 | tail;
	}
	if (length == 0)
		return 0;
	return (uint64_t) (uint8_t) p[0] << 16 |
		(uint64_t) (uint8_t) p[length / 2] << 8 | (uint8_t) p[length - 1];
}

/* For the index alone: it is in no stored form and need not be portable. */
static uint32_t
hash_item(uint64_t seed, const char *item, size_t length)
{
	uint64_t	h = seed ^ length * UINT64_C(0x9e3779b97f4a7c15);
	uint64_t	word;

	for (; length > 8; item += 8, length -= 8)
	{
		memcpy(&word, item, 8);
		h = mix(h ^ word) + seed;
	}
	return (uint32_t) (mix(mix(h ^ few_bytes(item, length)) + seed) >> 32);
}

static const char *
item_of(const LbTopk *t, const LbTopkEntry *e)
{
	return (const char *) t->bytes + e->at;
}

static bool
before_by_item(const LbTopk *t, uint16_t a, uint16_t b)
{
	const LbTopkEntry *x = &t->entries[a];
	const LbTopkEntry *y = &t->entries[b];

	return lb_topk_compare(item_of(t, x), x->length,
						   item_of(t, y), y->length) < 0;
}

/* Which is the better one to keep: by count, then low, then item. */
static bool
before_by_count(const LbTopk *t, uint16_t a, uint16_t b)
{
	const LbTopkEntry *x = &t->entries[a];
	const LbTopkEntry *y = &t->entries[b];

	if (x->count != y->count)
		return x->count > y->count;
	if (x->low != y->low)
		return x->low > y->low;
	return before_by_item(t, a, b);
}

/* A place in [from, to), which nobody foresees who does not know the seed. */
static int32_t
pivot_place(LbTopk *t, int32_t from, int32_t to)
{
	t->pivots = t->pivots * UINT64_C(6364136223846793005) +
		UINT64_C(1442695040888963407);
	return from + (int32_t) ((t->pivots >> 33) % (uint64_t) (to - from));
}

/* Hoare's partition of [from, to): returns the place of its pivot. */
static int32_t
partition(LbTopk *t, int32_t from, int32_t to, Before before)
{
	uint16_t   *order = t->order;
	int32_t		place = pivot_place(t, from, to);
	uint16_t	pivot = order[place];
	int32_t		end = from;

	order[place] = order[to - 1];
	for (int32_t i = from; i < to - 1; i++)
	{
		uint16_t	entry = order[i];

		if (before(t, entry, pivot))
		{
			order[i] = order[end];
			order[end++] = entry;
		}
	}
	order[to - 1] = order[end];
	order[end] = pivot;
	return end;
}

/* Put that entry at the place where it were if all were sorted. */
static void
select_place(LbTopk *t, int32_t place, int32_t n, Before before)
{
	int32_t		from = 0;
	int32_t		to = n;

	while (to - from > 1)
	{
		int32_t		at = partition(t, from, to, before);

		if (at == place)
			return;
		if (at < place)
			from = at + 1;
		else
			to = at;
	}
}

static void
sort_places(LbTopk *t, int32_t from, int32_t to, Before before)
{
	while (to - from > 1)
	{
		int32_t		at = partition(t, from, to, before);

		/* the smaller part by recursion, so that the stack stays low */
		if (at - from < to - at)
		{
			sort_places(t, from, at, before);
			from = at + 1;
		}
		else
		{
			sort_places(t, at + 1, to, before);
			to = at;
		}
	}
}

/*
 * Number all entries in t->order, the best of them, as many as the capacity,
 * in front.  Returns by how much counts are lower once the others are gone:
 * the best of their counts.
 */
static int64_t
choose(LbTopk *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		t->order[i] = (uint16_t) i;
	if (t->n <= (uint32_t) t->capacity)
		return 0;
	select_place(t, t->capacity, (int32_t) t->n, before_by_count);
	return t->entries[t->order[t->capacity]].count;
}

static void
fill_index(LbTopk *t)
{
	uint32_t	mask = 2 * t->room - 1;

	memset(t->index, 0, 2 * t->room * sizeof(uint16_t));
	for (uint32_t i = 0; i < t->n; i++)
	{
		uint32_t	slot = t->entries[i].hash & mask;

		while (t->index[slot] != 0)
			slot = (slot + 1) & mask;
		t->index[slot] = (uint16_t) (i + 1);
	}
}

/* Room for that many entries, with the index and the scratch behind them. */
static void
make_room(LbTopk *t, uint32_t n)
{
	uint32_t	room = t->room ? t->room : ROOM_MIN;

	if (n <= t->room)
		return;
	while (room < n)
		room *= 2;
	t->entries = t->resize(t->arg, t->entries,
						   room * (sizeof(LbTopkEntry) + 3 * sizeof(uint16_t)));
	t->index = (uint16_t *) (t->entries + room);
	t->order = t->index + 2 * room;
	t->room = room;
	fill_index(t);
}

/* Room for more bytes than that, so that there is a chunk even for none. */
static void
make_bytes_room(LbTopk *t, size_t size)
{
	size_t		room = t->bytes_room ? t->bytes_room : BYTES_ROOM_MIN;

	if (size < t->bytes_room)
		return;
	while (room <= size)
		room *= 2;
	t->bytes = t->resize(t->arg, t->bytes, room);
	t->bytes_room = room;
}

/* Forget all but the capacity's best; they close ranks in the old order. */
static void
forget(LbTopk *t)
{
	int64_t		lost = choose(t);
	uint32_t	kept = 0;
	size_t		used = 0;

	/* until it is filled again, the index marks who stays */
	memset(t->index, 0, 2 * t->room * sizeof(uint16_t));
	for (int32_t i = 0; i < t->capacity; i++)
		t->index[t->order[i]] = 1;
	for (uint32_t i = 0; i < t->n; i++)
	{
		LbTopkEntry e = t->entries[i];

		if (t->index[i] == 0)
			continue;
		memmove(t->bytes + used, t->bytes + e.at, e.length);
		e.at = (uint32_t) used;
		e.count -= lost;
		used += e.length;
		t->entries[kept++] = e;
	}
	t->n = kept;
	t->bytes_used = used;
	t->bound += lost;
	fill_index(t);
}

/* Count an entry in, tracked from now on if it was not. */
static void
count_in(LbTopk *t, const char *item, size_t length, int64_t low,
		 int64_t count)
{
	uint32_t	hash = hash_item(t->seed, item, length);
	uint32_t	mask;
	uint32_t	slot;
	LbTopkEntry *e;

	make_room(t, t->n + 1);
	mask = 2 * t->room - 1;
	for (slot = hash & mask; t->index[slot] != 0; slot = (slot + 1) & mask)
	{
		e = &t->entries[t->index[slot] - 1];
		if (e->hash == hash && e->length == length &&
			memcmp(item_of(t, e), item, length) == 0)
		{
			e->low += low;
			e->count += count;
			return;
		}
	}

	make_bytes_room(t, t->bytes_used + length);
	memcpy(t->bytes + t->bytes_used, item, length);
	e = &t->entries[t->n++];
	e->low = low;
	e->count = count;
	e->at = (uint32_t) t->bytes_used;
	e->hash = hash;
	e->length = (uint8_t) length;
	t->bytes_used += length;
	t->index[slot] = (uint16_t) t->n;
}

/*
 * One more than this are too many to track at once.  Forgetting costs some
 * comparisons for each that is tracked, so it shall be rare; and the later it
 * comes, the less it has to forget: with four times the capacity the bound is
 * a third of what it is with twice.
 */
static uint32_t
tracked_max(const LbTopk *t)
{
	return 4 * (uint32_t) t->capacity;
}

/* Count an item with a weight. */
LbTopkStatus
lb_topk_try_add(LbTopk *t, const char *item, size_t length, int64_t weight)
{
	if (weight <= 0)
		return LB_TOPK_BAD_WEIGHT;
	if (length > LB_TOPK_ITEM_MAX)
		return LB_TOPK_LONG_ITEM;
	if (weight > INT64_MAX - t->total)
		return LB_TOPK_OVERFLOW;
	/* no low, high or bound is greater than the total */
	t->total += weight;
	count_in(t, item, length, weight, weight);
	if (t->n > tracked_max(t))
		forget(t);
	return LB_TOPK_OK;
}

/*
 * Count in a sketch from its stored bytes, which are checked.  The result has
 * the smaller of the capacities.  Nothing is forgotten before all is counted,
 * so that of two stored sketches it is the same which is merged into which.
 */
LbTopkStatus
lb_topk_try_merge(LbTopk *t, const uint8_t *bytes, size_t size)
{
	LbTopkReader r;
	LbTopkStatus status = lb_topk_open(&r, bytes, size);

	if (status != LB_TOPK_OK)
		return status;
	if (r.total > INT64_MAX - t->total)
		return LB_TOPK_OVERFLOW;
	if (r.capacity < t->capacity)
		t->capacity = r.capacity;
	make_room(t, t->n + (uint32_t) r.items);
	while (lb_topk_next(&r))
		count_in(t, r.item, r.length, r.low, r.high - r.bound);
	t->total += r.total;
	t->bound += r.bound;
	if (t->n > tracked_max(t))
		forget(t);
	return LB_TOPK_OK;
}

/* As many bytes as lb_topk_pack may write; a little more than it will. */
size_t
lb_topk_pack_room(const LbTopk *t)
{
	size_t		items = t->n;

	if (items > (size_t) t->capacity)
		items = (size_t) t->capacity;
	return LB_TOPK_HEADER_SIZE + 2 * LB_VARINT_SIZE_MAX + t->bytes_used +
		items * (2 + 2 + 2 * LB_VARINT_SIZE_MAX);
}

/*
 * Write the stored form of the capacity's best; returns its size.  The sketch
 * says the same as before, only its scratch is another.
 */
size_t
lb_topk_pack(LbTopk *t, uint8_t *bytes)
{
	int64_t		lost = choose(t);
	int32_t		items = t->n > (uint32_t) t->capacity ?
		t->capacity : (int32_t) t->n;
	LbTopkWriter w;

	sort_places(t, 0, items, before_by_item);
	lb_topk_write_header(&w, bytes, t->capacity, t->total, t->bound + lost);
	for (int32_t i = 0; i < items; i++)
	{
		const LbTopkEntry *e = &t->entries[t->order[i]];

		lb_topk_write_item(&w, item_of(t, e), e->length, e->low,
						   e->count + t->bound);
	}
	return (size_t) (w.next - bytes);
}
