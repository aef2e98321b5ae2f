/*-------------------------------------------------------------------------
 *
 * topk_property.c
 *	  Random and hostile streams of weighted items, counted whole and in
 *	  parts that are merged in random trees, against the true weights.
 *
 * usage: topk_property [SEED]
 *
 *-------------------------------------------------------------------------
 */
#include "topk_model.h"

#define ITEMS_MAX	3000
#define PARTS_MAX	12

typedef struct Event
{
	int			id;
	int64_t		weight;
} Event;

static uint64_t state;

static uint64_t
draw(uint64_t bound)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return ((state * UINT64_C(0x2545f4914f6cdd1d)) >> 11) % bound;
}

/* An item by Zipf's law, exponent 1, from the sums of the harmonic series. */
static int
zipf(const double *sums, int n)
{
	double		u = (double) draw(UINT64_C(1) << 52) / 0x1p52 * sums[n - 1];
	int			low = 0;
	int			high = n - 1;

	while (low < high)
	{
		int			middle = (low + high) / 2;

		if (sums[middle] <= u)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int64_t
draw_weight(int kind)
{
	switch (kind)
	{
		case 0:
			return 1;
		case 1:
			return 1 + (int64_t) draw(10);
		case 2:
			return 1 + (int64_t) draw(UINT64_C(1) << draw(40));
		default:
			/* 2,000 of these still fit */
			return (INT64_C(1) << 51) + (int64_t) draw(1000);
	}
}

/* A stream of n events over so many items, of one of eight kinds. */
static void
make_stream(Event *events, int n, int items, int kind, int weights)
{
	static double sums[ITEMS_MAX];

	for (int i = 0; i < items; i++)
		sums[i] = (i > 0 ? sums[i - 1] : 0) + 1.0 / (i + 1);
	for (int i = 0; i < n; i++)
	{
		Event	   *e = &events[i];

		e->weight = draw_weight(weights);
		switch (kind)
		{
			case 0:				/* all alike */
				e->id = (int) draw((uint64_t) items);
				break;
			case 1:				/* round and round: nobody is ever kept long */
				e->id = i % items;
				break;
			case 2:				/* every item once before any comes again */
				e->id = items - 1 - i % items;
				break;
			case 3:				/* the heavy ones late, after a long tail */
				e->id = i < n / 2 ? 10 + (int) draw((uint64_t) items - 10) :
					(int) draw(10);
				break;
			case 4:				/* the heavy ones early, then a long tail */
				e->id = i >= n / 2 ? 10 + (int) draw((uint64_t) items - 10) :
					(int) draw(10);
				break;
			case 5:				/* ever heavier: the newest is the best */
				e->id = i % items;
				e->weight = 1 + i;
				break;
			default:
				e->id = zipf(sums, items);
				break;
		}
	}
}

static void
learn(Truth *truth, const Event *events, int n)
{
	memset(truth->weights, 0, sizeof(int64_t) * (size_t) truth->n);
	truth->total = 0;
	for (int i = 0; i < n; i++)
	{
		truth->weights[events[i].id] += events[i].weight;
		truth->total += events[i].weight;
	}
}

static Packed
count_stream(const Event *events, int n, int32_t capacity, uint64_t seed)
{
	LbTopk		t;
	Packed		p;

	begin_sketch(&t, capacity, seed);
	for (int i = 0; i < n; i++)
		add_item(&t, events[i].id, events[i].weight);
	p = pack_sketch(&t);
	end_sketch(&t);
	return p;
}

/* Of two stored sketches a third, which it is whichever comes first. */
static Packed
merge_two(Packed a, Packed b)
{
	LbTopk		t[2];
	Packed		p[2];

	for (int i = 0; i < 2; i++)
	{
		begin_sketch(&t[i], LB_TOPK_CAPACITY_MAX, draw(UINT64_MAX));
		MUST(lb_topk_try_merge(&t[i], i ? b.bytes : a.bytes,
							   i ? b.size : a.size) == LB_TOPK_OK);
		MUST(lb_topk_try_merge(&t[i], i ? a.bytes : b.bytes,
							   i ? a.size : b.size) == LB_TOPK_OK);
		p[i] = pack_sketch(&t[i]);
		end_sketch(&t[i]);
	}
	MUST(same_packed(p[0], p[1]));
	free(p[1].bytes);
	return p[0];
}

/* Deal the events to parts, and merge these two by two until one is left. */
static Packed
count_in_parts(const Event *events, int n, const int32_t *capacities, int parts)
{
	LbTopk		t[PARTS_MAX];
	Packed		p[PARTS_MAX];

	for (int i = 0; i < parts; i++)
		begin_sketch(&t[i], capacities[i], draw(UINT64_MAX));
	for (int i = 0; i < n; i++)
		add_item(&t[draw((uint64_t) parts)], events[i].id, events[i].weight);
	for (int i = 0; i < parts; i++)
	{
		p[i] = pack_sketch(&t[i]);
		end_sketch(&t[i]);
	}
	while (parts > 1)
	{
		int			a = (int) draw((uint64_t) parts);
		int			b = (int) draw((uint64_t) parts - 1);
		Packed		merged;

		b += b >= a;
		merged = merge_two(p[a], p[b]);
		free(p[a].bytes);
		free(p[b].bytes);
		p[a] = merged;
		p[b] = p[--parts];
		if (a == parts)
			p[b] = merged;
	}
	return p[0];
}

/* Merge parts into one that also counts on its own, as an aggregate does. */
static Packed
count_in_one(const Event *events, int n, int32_t capacity)
{
	LbTopk		t;
	Packed		p;
	int			from = 0;

	begin_sketch(&t, capacity, draw(UINT64_MAX));
	while (from < n)
	{
		int			to = from + 1 + (int) draw((uint64_t) (n - from));

		if (draw(2) == 0)
		{
			for (int i = from; i < to; i++)
				add_item(&t, events[i].id, events[i].weight);
		}
		else
		{
			p = count_stream(events + from, to - from, capacity, 0);
			MUST(lb_topk_try_merge(&t, p.bytes, p.size) == LB_TOPK_OK);
			free(p.bytes);
		}
		from = to;
	}
	p = pack_sketch(&t);
	end_sketch(&t);
	return p;
}

/* Loading and packing again changes nothing. */
static void
check_canonical(Packed p)
{
	LbTopk		t;
	Packed		again;

	begin_sketch(&t, LB_TOPK_CAPACITY_MAX, draw(UINT64_MAX));
	MUST(lb_topk_try_merge(&t, p.bytes, p.size) == LB_TOPK_OK);
	again = pack_sketch(&t);
	MUST(same_packed(p, again));
	free(again.bytes);
	end_sketch(&t);
}

static void
check(Packed p, const Truth *truth)
{
	check_promises(p, truth);
	check_tail_bound(p, truth);
	check_canonical(p);
}

static void
shuffle(Event *events, int n)
{
	for (int i = n - 1; i > 0; i--)
	{
		int			j = (int) draw((uint64_t) i + 1);
		Event		e = events[i];

		events[i] = events[j];
		events[j] = e;
	}
}

static void
one_round(Event *events, Truth *truth)
{
	static const int32_t capacities[] = {1, 2, 3, 10, 33, 100, 1000};
	int32_t		capacity = capacities[draw(7)];
	int			items = 11 + (int) draw(draw(2) ? 60 : ITEMS_MAX - 11);
	int			n = 1 + (int) draw(2000);
	int			parts = 1 + (int) draw(PARTS_MAX);
	int32_t		part_capacities[PARTS_MAX];
	Packed		whole;
	Packed		again;
	Packed		merged;
	Packed		mixed;
	int			distinct = 0;

	truth->n = items;
	make_stream(events, n, items, (int) draw(8), (int) draw(4));
	learn(truth, events, n);
	for (int id = 0; id < items; id++)
		distinct += truth->weights[id] > 0;

	/* the same sequence, the same bytes, however items hash */
	whole = count_stream(events, n, capacity, draw(UINT64_MAX));
	again = count_stream(events, n, capacity, draw(UINT64_MAX));
	check(whole, truth);
	MUST(same_packed(whole, again));
	free(again.bytes);

	for (int i = 0; i < parts; i++)
		part_capacities[i] = capacity;
	merged = count_in_parts(events, n, part_capacities, parts);
	check(merged, truth);
	mixed = count_in_one(events, n, capacity);
	check(mixed, truth);

	/* any order and any split, as long as all items fit */
	if (distinct <= capacity)
	{
		MUST(same_packed(whole, merged) && same_packed(whole, mixed));
		shuffle(events, n);
		again = count_stream(events, n, capacity, 0);
		MUST(same_packed(whole, again));
		free(again.bytes);
	}
	free(whole.bytes);
	free(merged.bytes);
	free(mixed.bytes);

	/* parts of different capacities: the promises of the least of them */
	for (int i = 0; i < parts; i++)
		part_capacities[i] = capacities[draw(7)];
	merged = count_in_parts(events, n, part_capacities, parts);
	check(merged, truth);
	free(merged.bytes);
}

/* Whoever adds always what is not tracked gets nowhere with it. */
static void
against_the_sketch(Truth *truth)
{
	int32_t		capacity = 1 + (int32_t) draw(20);
	LbTopk		t;
	Packed		p = {NULL, 0};

	truth->n = 60;
	truth->total = 0;
	memset(truth->weights, 0, sizeof(int64_t) * (size_t) truth->n);
	begin_sketch(&t, capacity, draw(UINT64_MAX));
	for (int i = 0; i < 200; i++)
	{
		int64_t		weight = 1 + (int64_t) draw(3);
		int			chosen = 0;
		LbTopkReader r;

		free(p.bytes);
		p = pack_sketch(&t);
		MUST(lb_topk_open(&r, p.bytes, p.size) == LB_TOPK_OK);
		for (int id = 0; id < truth->n; id++)
		{
			char		name[LB_TOPK_ITEM_MAX + 1];
			int64_t		low;
			int64_t		high;

			lb_topk_find(&r, name, item_name(id, name), &low, &high);
			if (low == 0 && truth->weights[id] >= truth->weights[chosen])
				chosen = id;
		}
		add_item(&t, chosen, weight);
		truth->weights[chosen] += weight;
		truth->total += weight;
		free(p.bytes);
		p = pack_sketch(&t);
		check(p, truth);
	}
	free(p.bytes);
	end_sketch(&t);
}

int
main(int argc, char **argv)
{
	uint64_t	seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	Event	   *events = allocate(sizeof(Event) * 2000);
	Truth		truth;
	int			rounds = 400;

	state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	truth.weights = allocate(sizeof(int64_t) * ITEMS_MAX);
	for (int i = 0; i < rounds; i++)
	{
		one_round(events, &truth);
		if (i % 10 == 0)
			against_the_sketch(&truth);
	}
	free(events);
	free(truth.weights);
	printf("topk_property: seed %llu, %d rounds\n", (unsigned long long) seed,
		   rounds);
	return 0;
}
