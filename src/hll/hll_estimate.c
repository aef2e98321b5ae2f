/*-------------------------------------------------------------------------
 *
 * hll_estimate.c
 *	  How many distinct values a sketch has seen.
 *
 * Dense: the improved raw estimator of O. Ertl, "New cardinality estimation
 * algorithms for HyperLogLog sketches", 2017, arXiv:1702.01284, algorithm 6.
 * One formula from the first register to the last, without tables of
 * measured bias and without a place where one method gives way to another.
 *
 *-------------------------------------------------------------------------
 */
#include "hll_core.h"

#include <math.h>
#include <string.h>

/* 1 / (2 ln 2) */
#define ALPHA	0.72134752044448170367996234050095

/* There are no more hashes. */
#define MOST	18446744073709551616.0

/* x + sum of x^(2^k) 2^(k-1), k >= 1, for 0 <= x < 1. */
static double
sigma(double x)
{
	double		sum = x;
	double		factor = 1;
	double		before;

	do
	{
		before = sum;
		x *= x;
		sum += x * factor;
		factor += factor;
	} while (sum != before);
	return sum;
}

/* (1 - x - sum of (1 - x^(2^-k))^2 2^-k, k >= 1) / 3, for 0 <= x <= 1. */
static double
tau(double x)
{
	double		sum = 1 - x;
	double		factor = 1;
	double		before;

	if (x == 0 || x == 1)
		return 0;
	do
	{
		before = sum;
		x = sqrt(x);
		factor /= 2;
		sum -= (1 - x) * (1 - x) * factor;
	} while (sum != before);
	return sum / 3;
}

/*
 * From how many registers have each value: counts[0] to counts[65 - bits],
 * 2^bits together.  Never NaN and never infinite.
 */
double
lb_hll_estimate_counts(const uint32_t *counts, int bits)
{
	double		m = (double) LB_HLL_REGISTERS(bits);
	int			last = LB_HLL_RANK_MAX(bits);
	double		z;
	double		estimate;

	if (counts[0] == LB_HLL_REGISTERS(bits))
		return 0;
	z = m * tau(1 - counts[last] / m);
	for (int k = last - 1; k >= 1; k--)
		z = 0.5 * (z + counts[k]);
	z += m * sigma(counts[0] / m);
	estimate = ALPHA * m * m / z;
	return estimate < MOST ? estimate : MOST;
}

static void
count_registers(const LbHll *h, uint32_t *counts)
{
	uint32_t	n = LB_HLL_REGISTERS(h->bits);
	uint32_t	part[4][64];

	/* neighbours often have the same value, and would wait for each other */
	memset(part, 0, sizeof(part));
	for (uint32_t i = 0; i < n; i += 4)
	{
		for (int j = 0; j < 4; j++)
			part[j][h->registers[i + (uint32_t) j] & 63]++;
	}
	for (int k = 0; k < 64; k++)
		counts[k] = part[0][k] + part[1][k] + part[2][k] + part[3][k];
}

/*
 * How many distinct hashes.  While sparse that is how many different places
 * there are: two of 3,072 share one in 0.1 per cent of cases.
 */
double
lb_hll_estimate(const LbHll *h)
{
	uint32_t	counts[64];

	if (h->registers == NULL)
		return h->count;
	count_registers(h, counts);
	return lb_hll_estimate_counts(counts, h->bits);
}

/* z such that a normal value is within z standard deviations so often. */
static double
normal_deviations(double confidence)
{
	double		low = 0;
	double		high = 40;

	for (int i = 0; i < 60; i++)
	{
		double		middle = (low + high) / 2;

		if (erfc(middle * 0.70710678118654752440) > 1 - confidence)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* The relative standard error of a dense sketch's estimate. */
static double
relative_error(double estimate, double m)
{
	double		load = estimate / m;
	double		error = LB_HLL_ERROR;

	/* where many registers are empty, counting those says more */
	if (load < 2)
		error = fmin(error, sqrt(fmax(expm1(load) - load, 0)) / load);
	return error / sqrt(m);
}

/*
 * Bounds between which the number of distinct hashes is with that
 * confidence, 0 < confidence < 1; the estimate is between them.
 */
void
lb_hll_interval(const LbHll *h, double confidence, double *low, double *high)
{
	double		estimate = lb_hll_estimate(h);

	if (h->registers == NULL)
	{
		/* how many more share a place: a Poisson distribution */
		double		mean = estimate * estimate / 8589934592.0;
		double		term = exp(-mean);
		double		sum = term;
		int			hidden = 0;

		while (sum < confidence && hidden < 64)
		{
			hidden++;
			term *= mean / hidden;
			sum += term;
		}
		*low = estimate;
		*high = estimate + hidden;
	}
	else
	{
		uint32_t	n = LB_HLL_REGISTERS(h->bits);
		double		spread = exp(normal_deviations(confidence) *
								 relative_error(estimate, n));

		*low = fmin(fmax(estimate / spread,
						 lb_hll_count_from(h->registers, n, 1)), estimate);
		*high = fmin(estimate * spread, MOST);
	}
}
