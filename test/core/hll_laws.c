/*-------------------------------------------------------------------------
 *
 * hll_laws.c
 *	  What must hold of any sketch, tried on random sets.
 *
 * The independent road is a model that keeps every hash: registers by the
 * definition, from all of them, with as many bits as asked for.
 *
 * usage: hll_laws [SEED]
 *
 *-------------------------------------------------------------------------
 */
#include "hll_memory.h"

#include <time.h>

static uint64_t random_state;

static uint64_t
next_random(void)
{
	return mix(random_state += UINT64_C(0x9e3779b97f4a7c15));
}

static uint32_t
below(uint32_t bound)
{
	return (uint32_t) ((next_random() >> 32) * bound >> 32);
}

/*
 * A hash: often one of a small pool, so that there are repetitions; often
 * one with a long run of zeros, where the ranks are.
 */
static uint64_t
some_hash(uint32_t pool)
{
	uint64_t	hash = mix(below(pool) + UINT64_C(77));

	switch (below(16))
	{
		case 0:
			return hash & ~UINT64_C(0) << below(64);
		case 1:
			return hash & ~(~UINT64_C(0) >> (4 + below(20)) & ~(UINT64_C(0xff) >> below(9)));
		case 2:
			return hash >> (32 + below(32));
		default:
			return hash;
	}
}

/* The registers of a set, by the definition, one bit at a time. */
static void
model_registers(uint8_t *registers, int bits, const uint64_t *hashes, size_t n)
{
	memset(registers, 0, LB_HLL_REGISTERS(bits));
	for (size_t i = 0; i < n; i++)
	{
		uint32_t	index = (uint32_t) (hashes[i] >> (64 - bits));
		int			rank = 1;

		while (rank <= 64 - bits &&
			   (hashes[i] >> (64 - bits - rank) & 1) == 0)
			rank++;
		if (rank > registers[index])
			registers[index] = (uint8_t) rank;
	}
}

static int
by_value(const void *a, const void *b)
{
	uint64_t	x = *(const uint64_t *) a;
	uint64_t	y = *(const uint64_t *) b;

	return x < y ? -1 : x > y;
}

/* How many different first halves. */
static uint32_t
model_places(const uint64_t *hashes, size_t n)
{
	uint64_t   *copy = checked_malloc(n * sizeof(uint64_t));
	uint32_t	places = 0;

	memcpy(copy, hashes, n * sizeof(uint64_t));
	qsort(copy, n, sizeof(uint64_t), by_value);
	for (size_t i = 0; i < n; i++)
		places += i == 0 || copy[i] >> 32 != copy[i - 1] >> 32;
	free(copy);
	return places;
}

static Packed
packed_of(int bits, const uint64_t *hashes, size_t n)
{
	LbHll		h;
	Packed		p;

	lb_hll_init(&h, bits, &test_memory);
	for (size_t i = 0; i < n; i++)
		lb_hll_add_hash(&h, hashes[i]);
	p = pack(&h);
	lb_hll_clear(&h);
	return p;
}

/* The sketch against the model. */
static void
check_against_model(int bits, const uint64_t *hashes, size_t n)
{
	LbHll		h;
	uint8_t    *registers = checked_malloc(LB_HLL_REGISTERS(bits));
	uint32_t	places = model_places(hashes, n);

	lb_hll_init(&h, bits, &test_memory);
	for (size_t i = 0; i < n; i++)
		lb_hll_add_hash(&h, hashes[i]);
	MUST((h.registers != NULL) == (places > LB_HLL_SPARSE_MAX(bits)));
	if (h.registers == NULL)
	{
		MUST(lb_hll_estimate(&h) == places);
		MUST(h.count == places);
	}
	lb_hll_make_dense(&h);
	model_registers(registers, bits, hashes, n);
	MUST(memcmp(registers, h.registers, LB_HLL_REGISTERS(bits)) == 0);
	lb_hll_clear(&h);
	free(registers);
}

/* Any order and any split, with any bits in the parts: the same bytes. */
static void
check_laws(uint64_t *hashes, size_t n)
{
	int			bits = 4 + (int) below(below(4) == 0 ? 15 : 9);
	Packed		whole = packed_of(bits, hashes, n);
	int			nparts = 1 + (int) below(5);
	LbHll		parts[5];
	Packed		again;

	check_against_model(bits, hashes, n);

	for (size_t i = n; i > 1; i--)
	{
		size_t		j = below((uint32_t) i);
		uint64_t	swap = hashes[i - 1];

		hashes[i - 1] = hashes[j];
		hashes[j] = swap;
	}
	again = packed_of(bits, hashes, n);
	MUST(same(&whole, &again));
	free(again.bytes);

	for (int i = 0; i < nparts; i++)
		lb_hll_init(&parts[i], i == 0 ? bits : bits + (int) below((uint32_t) (LB_HLL_BITS_MAX + 1 - bits)),
					&test_memory);
	for (size_t i = 0; i < n; i++)
		lb_hll_add_hash(&parts[below((uint32_t) nparts)], hashes[i]);
	while (nparts > 1)
	{
		int			into = (int) below((uint32_t) nparts - 1);

		if (below(2) == 0)
			lb_hll_merge(&parts[into], &parts[nparts - 1]);
		else
		{
			Packed		p = pack(&parts[nparts - 1]);

			MUST(lb_hll_merge_bytes(&parts[into], p.bytes, p.size) == LB_HLL_OK);
			free(p.bytes);
		}
		lb_hll_clear(&parts[--nparts]);
	}
	again = pack(&parts[0]);
	MUST(same(&whole, &again));
	free(again.bytes);
	lb_hll_clear(&parts[0]);
	free(whole.bytes);
}

/* Folding = having built with fewer bits. */
static void
check_folding(const uint64_t *hashes, size_t n)
{
	int			from = 5 + (int) below(14);
	int			to = 4 + (int) below((uint32_t) (from - 4));
	Packed		wanted = packed_of(to, hashes, n);
	Packed		got;
	LbHll		h;

	lb_hll_init(&h, from, &test_memory);
	for (size_t i = 0; i < n; i++)
		lb_hll_add_hash(&h, hashes[i]);
	if (below(2) == 0)
		lb_hll_fold(&h, to + (int) below((uint32_t) (from - to)));
	lb_hll_fold(&h, to);
	got = pack(&h);
	MUST(same(&wanted, &got));
	free(wanted.bytes);
	free(got.bytes);
	lb_hll_clear(&h);
}

int
main(int argc, char **argv)
{
	uint64_t	seed = argc > 1 ? strtoull(argv[1], NULL, 10) : (uint64_t) time(NULL);
	uint64_t   *hashes = checked_malloc(60000 * sizeof(uint64_t));
	int			rounds = 600;

	random_state = seed;
	lb_hll_key_slots(next_random());
	for (int i = 0; i < rounds; i++)
	{
		size_t		n = below(i % 50 == 0 ? 60000 : 1u << below(13));
		uint32_t	pool = 1 + below(UINT32_C(1) << (1 + below(17)));

		for (size_t j = 0; j < n; j++)
			hashes[j] = some_hash(pool);
		check_laws(hashes, n);
		check_folding(hashes, n);
	}
	free(hashes);
	printf("hll_laws: %d random sets, seed %llu\n", rounds, (unsigned long long) seed);
	return 0;
}
