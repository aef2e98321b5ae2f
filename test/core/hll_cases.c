/*-------------------------------------------------------------------------
 *
 * hll_cases.c
 *	  The estimator at every kind of register state, and fixed cases.
 *
 * Its independent road is the maximum of the likelihood of the registers,
 * found by bisection.  Prints one line, or aborts at what is not so.
 *
 * usage: hll_cases [SEED]
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

static double
checked_estimate(const uint32_t *counts, int bits)
{
	double		estimate = lb_hll_estimate_counts(counts, bits);

	MUST(isfinite(estimate) && estimate >= 0 && estimate <= MOST);
	MUST((estimate == 0) == (counts[0] == LB_HLL_REGISTERS(bits)));
	return estimate;
}

/* A register may only make the estimate greater as it grows. */
static void
check_monotone(uint32_t *counts, int bits)
{
	double		before = checked_estimate(counts, bits);

	for (int k = 0; k < LB_HLL_RANK_MAX(bits); k++)
	{
		if (counts[k] == 0)
			continue;
		counts[k]--;
		counts[k + 1]++;
		MUST(checked_estimate(counts, bits) >= before * (1 - 1e-12));
		counts[k]++;
		counts[k + 1]--;
	}
}

/* All registers alike, all but one, halves: the states at the ends. */
static void
check_extremes(int bits)
{
	uint32_t	m = LB_HLL_REGISTERS(bits);
	int			last = LB_HLL_RANK_MAX(bits);

	for (int a = 0; a <= last; a++)
	{
		for (int b = a; b <= last; b++)
		{
			uint32_t	shares[] = {0, 1, m / 2, m - 1};

			for (int s = 0; s < 4; s++)
			{
				uint32_t	counts[64] = {0};

				counts[a] += m - shares[s];
				counts[b] += shares[s];
				check_monotone(counts, bits);
			}
		}
	}
}

/* Any state, also such as no set would have. */
static void
check_any(int bits)
{
	uint32_t	left = LB_HLL_REGISTERS(bits);
	uint32_t	counts[64] = {0};

	while (left > 0)
	{
		uint32_t	share = 1 + below(left);

		counts[below((uint32_t) LB_HLL_RANK_MAX(bits) + 1)] += share;
		left -= share;
	}
	check_monotone(counts, bits);
}

/* How fast the logarithm of the likelihood grows at that rate a register. */
static long double
slope(const uint32_t *counts, int bits, long double rate)
{
	int			last = LB_HLL_RANK_MAX(bits);
	long double sum = -(long double) counts[0];

	for (int k = 1; k <= last; k++)
	{
		long double share = ldexpl(1, k < last ? -k : -(last - 1));

		/* P(register = k) = exp(-rate 2^-k) (1 - exp(-rate 2^-k)) */
		if (counts[k] > 0)
			sum += counts[k] * (share / expm1l(rate * share) -
								(k < last ? share : 0));
	}
	return sum;
}

static double
likeliest(const uint32_t *counts, int bits)
{
	long double low = 1e-9L;
	long double high = 1e18L;

	for (int i = 0; i < 200; i++)
	{
		long double middle = sqrtl(low * high);

		if (slope(counts, bits, middle) > 0)
			low = middle;
		else
			high = middle;
	}
	return (double) (low * LB_HLL_REGISTERS(bits));
}

/* Sets of every size: the two estimators are within 0.8 errors. */
static void
check_likelihood(int bits)
{
	LbHll		h;
	uint32_t	counts[64];
	uint32_t	n = (uint32_t) exp(log(2000000) * (double) below(1000) / 1000);

	lb_hll_init(&h, bits, &test_memory);
	for (uint32_t i = 0; i < n; i++)
		lb_hll_add_hash(&h, next_random());
	lb_hll_make_dense(&h);
	count_registers(&h, counts);
	MUST(fabs(lb_hll_estimate(&h) / likeliest(counts, bits) - 1) <
		 0.8 / sqrt(LB_HLL_REGISTERS(bits)));
	lb_hll_clear(&h);
}

/*
 * Sets that no machine can count, up to where a third of the registers are
 * full: registers drawn as so many values a register would leave them.
 */
static void
check_fullness(int bits)
{
	int			last = LB_HLL_RANK_MAX(bits);
	double		rate = ldexp(1 + below(1000) / 1000.0, last - 3 - (int) below(below(2) == 0 ? 6 : 60));
	uint32_t	counts[64] = {0};

	for (uint32_t i = 0; i < LB_HLL_REGISTERS(bits); i++)
	{
		double		u = ((double) (next_random() >> 11) + 0.5) * 0x1p-53;
		int			k = 0;

		while (k < last && exp(-ldexp(rate, -k)) < u)
			k++;
		counts[k]++;
	}
	if (counts[0] == LB_HLL_REGISTERS(bits))
		return;
	MUST(fabs(checked_estimate(counts, bits) / likeliest(counts, bits) - 1) <
		 0.8 / sqrt(LB_HLL_REGISTERS(bits)));
}

/* The sparse ends: as many as may be, and one more. */
static void
check_switch(int bits)
{
	uint32_t	most = LB_HLL_SPARSE_MAX(bits);
	LbHll		h;
	double		low;
	double		high;

	lb_hll_init(&h, bits, &test_memory);
	MUST(lb_hll_estimate(&h) == 0);
	for (uint32_t i = 0; i < most; i++)
	{
		lb_hll_add_hash(&h, (uint64_t) (i * UINT32_C(2654435761)) << 32 | i);
		MUST(lb_hll_estimate(&h) == i + 1);
	}
	lb_hll_interval(&h, 0.95, &low, &high);
	MUST(low == most && high <= most + 1);
	MUST(h.registers == NULL && h.slots <= LB_HLL_REGISTERS(bits) / 4 + 16);
	lb_hll_add_hash(&h, (uint64_t) (most * UINT32_C(2654435761)) << 32);
	MUST(h.registers != NULL && h.entries == NULL);
	lb_hll_clear(&h);
}

/* Places that somebody chose: neighbours, in either order. */
static void
check_neighbours(int bits, bool down)
{
	uint32_t	most = LB_HLL_SPARSE_MAX(bits);
	uint32_t	from = below(2) == 0 ? 0 : UINT32_MAX - most;
	LbHll		h;
	LbHll		again;
	Packed		p;
	Packed		q;

	lb_hll_init(&h, bits, &test_memory);
	for (uint32_t i = 0; i < most; i++)
		lb_hll_add_hash(&h, (uint64_t) (from + (down ? most - i : i)) << 32);
	MUST(lb_hll_estimate(&h) == most);
	p = pack(&h);
	lb_hll_init(&again, bits, &test_memory);
	MUST(lb_hll_merge_bytes(&again, p.bytes, p.size) == LB_HLL_OK);
	lb_hll_merge(&again, &h);
	q = pack(&again);
	MUST(again.count == most && same(&p, &q));
	free(p.bytes);
	free(q.bytes);
	lb_hll_clear(&h);
	lb_hll_clear(&again);
}

/* The same hash in a sketch of any bits, by hand. */
static void
check_ranks(void)
{
	MUST(lb_hll_index(UINT64_C(0xffffffffffffffff), 4) == 15);
	MUST(lb_hll_index(UINT64_C(0x8000000000000000), 18) == 131072);
	MUST(lb_hll_rank(UINT64_C(0xf800000000000000), 4) == 1);
	MUST(lb_hll_rank(UINT64_C(0xf000000000000001), 4) == 60);
	MUST(lb_hll_rank(UINT64_C(0xf000000000000000), 4) == 61);
	MUST(lb_hll_rank(0, 18) == 47);
	MUST(lb_hll_rank(1, 32) == 32 && lb_hll_rank(0, 32) == LB_HLL_PLACE_RANK_MAX);
}

int
main(int argc, char **argv)
{
	uint64_t	seed = argc > 1 ? strtoull(argv[1], NULL, 10) : (uint64_t) time(NULL);

	random_state = seed;
	check_ranks();
	for (int bits = LB_HLL_BITS_MIN; bits <= LB_HLL_BITS_MAX; bits++)
	{
		check_extremes(bits);
		check_switch(bits);
		check_neighbours(bits, false);
		check_neighbours(bits, true);
		for (int i = 0; i < 200; i++)
			check_any(bits);
	}
	for (int i = 0; i < 150; i++)
		check_likelihood(8 + (int) below(9));
	for (int i = 0; i < 600; i++)
		check_fullness(8 + (int) below(5));
	printf("hll_cases: register states of all bits, seed %llu\n", (unsigned long long) seed);
	return 0;
}
