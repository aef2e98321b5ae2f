/*-------------------------------------------------------------------------
 *
 * hll_error.c
 *	  How far the count is from the truth, over many random sets.
 *
 * usage: hll_error [SEED [TRIALS [MOST]]]
 *
 * Without TRIALS a few hundred sets of up to 100,000 values are counted, and
 * the program aborts where the error is greater than it may be.  With TRIALS
 * it counts that many sets of up to MOST values (default 10,000,000) and
 * prints what it saw; `make hll-error` does so.
 *
 * A trial counts consecutive bigints from a place of its own, hashed as
 * lb_hll_agg(bigint) does, into a sketch of 16 bits; at certain numbers of
 * values that sketch is folded to fewer bits, which hll_laws.c shows to be
 * the same as building with them.
 *
 *-------------------------------------------------------------------------
 */
#include "hll_memory.h"

#include <time.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define QUICK_TRIALS	300
#define QUICK_MOST		100000
#define FULL_MOST		10000000

static const int all_bits[] = {10, 12, 14, 16};

#define NBITS		4
#define BITS_MAX	16
#define POINTS_MAX	256

/* What the trials gave at one number of values, for one number of bits. */
typedef struct Seen
{
	float	   *errors;			/* relative, of each trial */
	int			held;			/* how often the 95 % bounds held the truth */
} Seen;

typedef struct Summary
{
	double		rms;
	double		bias;
	double		p95;
	double		p99;
	double		held;			/* share of trials */
} Summary;

static uint32_t points[POINTS_MAX];
static int	npoints = 0;
static Seen seen[NBITS][POINTS_MAX];

static void
add_point(double n, uint32_t most)
{
	if (n >= 1 && n <= most)
		points[npoints++] = (uint32_t) n;
}

static int
by_number(const void *a, const void *b)
{
	uint32_t	x = *(const uint32_t *) a;
	uint32_t	y = *(const uint32_t *) b;

	return x < y ? -1 : x > y;
}

static int
by_size(const void *a, const void *b)
{
	float		x = fabsf(*(const float *) a);
	float		y = fabsf(*(const float *) b);

	return x < y ? -1 : x > y;
}

/* A few a decade, and closely where the form changes and registers fill. */
static void
choose_points(uint32_t most)
{
	static const double loads[] = {0.25, 0.35, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 2.25, 2.5, 3, 4, 6};
	int			kept = 0;

	for (double n = 1; n <= most * 1.0001; n *= pow(10, 1.0 / 6))
		add_point(n + 0.5, most);
	for (int b = 0; b < NBITS; b++)
	{
		uint32_t	sparse = LB_HLL_SPARSE_MAX(all_bits[b]);

		add_point(sparse, most);
		add_point(sparse + 1, most);
		for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
			add_point(loads[i] * LB_HLL_REGISTERS(all_bits[b]), most);
	}
	qsort(points, (size_t) npoints, sizeof(uint32_t), by_number);
	for (int i = 0; i < npoints; i++)
	{
		if (kept == 0 || points[i] != points[kept - 1])
			points[kept++] = points[i];
	}
	npoints = kept;
}

static void
look(const LbHll *whole, int trial, int point)
{
	for (int b = 0; b < NBITS; b++)
	{
		Seen	   *at = &seen[b][point];
		double		truth = points[point];
		double		low;
		double		high;
		LbHll		h;

		lb_hll_init(&h, all_bits[b], &test_memory);
		lb_hll_merge(&h, whole);
		at->errors[trial] = (float) (lb_hll_estimate(&h) / truth - 1);
		lb_hll_interval(&h, 0.95, &low, &high);
		at->held += low <= truth && truth <= high;
		lb_hll_clear(&h);
	}
}

static void
run_trial(uint64_t seed, int trial)
{
	int64_t		value = (int64_t) mix(seed + (uint64_t) trial);
	uint32_t	n = 0;
	LbHll		h;

	lb_hll_init(&h, BITS_MAX, &test_memory);
	for (int p = 0; p < npoints; p++)
	{
		for (; n < points[p]; n++, value = (int64_t) ((uint64_t) value + 1))
			lb_hll_add_hash(&h, XXH3_64bits(&value, sizeof(value)));
		look(&h, trial, p);
	}
	lb_hll_clear(&h);
}

static Summary
summarise(Seen *at, int trials)
{
	Summary		s = {0, 0, 0, 0, 0};

	for (int t = 0; t < trials; t++)
	{
		s.bias += at->errors[t];
		s.rms += (double) at->errors[t] * at->errors[t];
	}
	s.bias /= trials;
	s.rms = sqrt(s.rms / trials);
	qsort(at->errors, (size_t) trials, sizeof(float), by_size);
	s.p95 = fabsf(at->errors[(int) (0.95 * trials)]);
	s.p99 = fabsf(at->errors[(int) (0.99 * trials)]);
	s.held = (double) at->held / trials;
	return s;
}

/*
 * What may be: the promised errors, and on top what chance does to a mean,
 * a root of a mean square and a share over so many trials, five times.
 */
static void
check(int bits, uint32_t n, const Summary *s, int trials)
{
	double		unit = 1.04 / sqrt(LB_HLL_REGISTERS(bits));

	if (n <= LB_HLL_SPARSE_MAX(bits))
	{
		/* two of n share a place once in 2^33 / n^2 sets */
		MUST(s->p95 * n < 1.5 && s->rms * n < 0.2);
		return;
	}
	MUST(s->rms <= 1.05 * unit * (1 + 5 / sqrt(2.0 * trials)));
	MUST(fabs(s->bias) <= 5 * unit / sqrt(trials) + unit * unit);
	MUST(s->held >= 0.95 - 5 * sqrt(0.95 * 0.05 / trials));
	if (bits == 14)
		MUST(s->p95 <= 0.02 && s->p99 <= 0.05);
}

/* Where a number of values is, from the point of view of m registers. */
static int
band(int bits, uint32_t n)
{
	double		load = (double) n / LB_HLL_REGISTERS(bits);

	return n <= LB_HLL_SPARSE_MAX(bits) ? 0 : load < 0.5 ? 1 : load <= 2.5 ? 2 :
		load <= 10 ? 3 : 4;
}

#define NBANDS	5

static void
print_tables(int trials)
{
	static const char *const names[NBANDS] = {
		"sparse", "dense, below m / 2", "m / 2 to 2.5 m", "2.5 m to 10 m", "above 10 m"
	};

	printf("bits\tn\tn/m\trms/unit\trms%%\tbias%%\tp95%%\tp99%%\theld%%\n");
	for (int b = 0; b < NBITS; b++)
	{
		double		m = LB_HLL_REGISTERS(all_bits[b]);
		double		unit = 1.04 / sqrt(m);
		Summary		worst[NBANDS];
		Summary		mean[NBANDS];
		int			count[NBANDS] = {0};

		memset(worst, 0, sizeof(worst));
		memset(mean, 0, sizeof(mean));
		for (int p = 0; p < npoints; p++)
		{
			Summary		s = summarise(&seen[b][p], trials);
			Summary    *w = &worst[band(all_bits[b], points[p])];
			Summary    *a = &mean[band(all_bits[b], points[p])];

			printf("%d\t%u\t%.3f\t%.4f\t%.4f\t%+.4f\t%.4f\t%.4f\t%.2f\n", all_bits[b],
				   points[p], points[p] / m, s.rms / unit, 100 * s.rms, 100 * s.bias,
				   100 * s.p95, 100 * s.p99, 100 * s.held);
			w->rms = fmax(w->rms, s.rms);
			w->bias = fabs(s.bias) > fabs(w->bias) ? s.bias : w->bias;
			w->p95 = fmax(w->p95, s.p95);
			w->p99 = fmax(w->p99, s.p99);
			w->held = count[band(all_bits[b], points[p])]++ == 0 ? s.held : fmin(w->held, s.held);
			a->rms += s.rms * s.rms;
			a->held += s.held;
		}
		printf("\n| %d bits, %d trials | points | RMS / (1.04/√m): mean, worst | bias, worst | p95 | p99 | 95 %% bounds held: mean, worst |\n|---|---:|---:|---:|---:|---:|---:|\n",
			   all_bits[b], trials);
		for (int i = 0; i < NBANDS; i++)
		{
			if (count[i] > 0)
				printf("| %s | %d | %.3f, %.3f | %+.3f %% | %.2f %% | %.2f %% | %.1f %%, %.1f %% |\n",
					   names[i], count[i], sqrt(mean[i].rms / count[i]) / unit, worst[i].rms / unit,
					   100 * worst[i].bias, 100 * worst[i].p95, 100 * worst[i].p99,
					   100 * mean[i].held / count[i], 100 * worst[i].held);
		}
		printf("\n");
	}
}

int
main(int argc, char **argv)
{
	uint64_t	seed = argc > 1 ? strtoull(argv[1], NULL, 10) : (uint64_t) time(NULL);
	int			trials = argc > 2 ? atoi(argv[2]) : QUICK_TRIALS;
	uint32_t	most = argc > 3 ? (uint32_t) atol(argv[3]) :
		argc > 2 ? FULL_MOST : QUICK_MOST;

	MUST(trials > 0);
	choose_points(most);
	for (int b = 0; b < NBITS; b++)
	{
		for (int p = 0; p < npoints; p++)
			seen[b][p].errors = checked_malloc(sizeof(float) * (size_t) trials);
	}
	for (int t = 0; t < trials; t++)
		run_trial(seed, t);
	if (argc > 2)
		print_tables(trials);
	else
	{
		for (int b = 0; b < NBITS; b++)
		{
			for (int p = 0; p < npoints; p++)
			{
				Summary		s = summarise(&seen[b][p], trials);

				check(all_bits[b], points[p], &s, trials);
			}
		}
		printf("hll_error: %d sets of up to %u values at %d sizes, seed %llu\n",
			   trials, most, npoints, (unsigned long long) seed);
	}
	for (int b = 0; b < NBITS; b++)
	{
		for (int p = 0; p < npoints; p++)
			free(seen[b][p].errors);
	}
	return 0;
}
