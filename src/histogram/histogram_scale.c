/*-------------------------------------------------------------------------
 *
 * histogram_scale.c
 *	  The edges of the buckets, computed exactly, and the way from a value
 *	  to its bucket and back.
 *
 * A value v >= 0 belongs to bucket floor(ln(1 + v) / ln(ceiling) * buckets),
 * at most the last.  So bucket i begins at the smallest v with
 *
 *		(1 + v) ^ buckets >= ceiling ^ i
 *
 * which is a statement about integers: no rounding, no libm, the same edges
 * on every machine.  Powers of that size are slow to compare, so the edge is
 * first computed as 2 ^ (i * log2(ceiling) / buckets) in fixed point, with a
 * proven error, and the powers are compared only when the result is too
 * close to an integer to tell (in practice: when it is one, such as 1000 for
 * bucket 32 of 128 below 10^12).
 *
 * Fixed point numbers have 32 bits before the point and 160 behind it; limbs
 * are 32 bits wide, least significant first.
 *
 *-------------------------------------------------------------------------
 */
#include "histogram_core.h"

#include <string.h>

#define FIX_FRACTION	5		/* limbs behind the point */
#define FIX_LIMBS		(FIX_FRACTION + 1)
#define FIX_BITS		(32 * FIX_FRACTION)

/* A power of 63 bits to the 1024th, and one factor more. */
#define POWER_LIMBS		(2 * LB_HISTOGRAM_BUCKETS_MAX + 2)

/* ln 2, truncated. */
static const uint32_t fix_ln2[FIX_LIMBS] =
{0x40f34326, 0x03f2f6af, 0xc9e3b398, 0xd1cf79ab, 0xb17217f7, 0};

/* dst (na + nb limbs, no overlap) = a * b. */
static void
limbs_multiply(uint32_t *dst, const uint32_t *a, int na,
			   const uint32_t *b, int nb)
{
	memset(dst, 0, sizeof(uint32_t) * (size_t) (na + nb));
	for (int i = 0; i < na; i++)
	{
		uint64_t	carry = 0;

		for (int j = 0; j < nb; j++)
		{
			carry += (uint64_t) a[i] * b[j] + dst[i + j];
			dst[i + j] = (uint32_t) carry;
			carry >>= 32;
		}
		dst[i + nb] = (uint32_t) carry;
	}
}

/* dst = base ^ exponent; returns the number of limbs, without leading zeros. */
static int
limbs_power(uint32_t *dst, uint64_t base, int exponent)
{
	const uint32_t b[2] = {(uint32_t) base, (uint32_t) (base >> 32)};
	uint32_t	previous[POWER_LIMBS];
	int			n = 1;

	dst[0] = 1;
	while (exponent-- > 0)
	{
		memcpy(previous, dst, sizeof(uint32_t) * (size_t) n);
		limbs_multiply(dst, previous, n, b, 2);
		n += 2;
		while (n > 1 && dst[n - 1] == 0)
			n--;
	}
	return n;
}

/* Is a ^ m >= b ^ n?  Exactly. */
static bool
power_at_least(uint64_t a, int m, uint64_t b, int n)
{
	uint32_t	left[POWER_LIMBS];
	uint32_t	right[POWER_LIMBS];
	int			nleft = limbs_power(left, a, m);
	int			nright = limbs_power(right, b, n);

	if (nleft != nright)
		return nleft > nright;
	for (int i = nleft - 1; i >= 0; i--)
	{
		if (left[i] != right[i])
			return left[i] > right[i];
	}
	return true;
}

/* dst = a * b, truncated; dst may be a or b. */
static void
fix_multiply(uint32_t *dst, const uint32_t *a, const uint32_t *b)
{
	uint32_t	product[2 * FIX_LIMBS];

	limbs_multiply(product, a, FIX_LIMBS, b, FIX_LIMBS);
	memcpy(dst, product + FIX_FRACTION, sizeof(uint32_t) * FIX_LIMBS);
}

/* x = x * m / d, truncated; the product must stay below 2^32. */
static void
fix_scale(uint32_t *x, uint32_t m, uint32_t d)
{
	uint64_t	carry = 0;
	uint64_t	rest = 0;

	for (int i = 0; i < FIX_LIMBS; i++)
	{
		carry += (uint64_t) x[i] * m;
		x[i] = (uint32_t) carry;
		carry >>= 32;
	}
	for (int i = FIX_LIMBS - 1; i >= 0; i--)
	{
		rest = rest << 32 | x[i];
		x[i] = (uint32_t) (rest / d);
		rest %= d;
	}
}

/* x += y; returns whether a limb of y was not zero. */
static bool
fix_add(uint32_t *x, const uint32_t *y)
{
	uint64_t	carry = 0;
	uint32_t	any = 0;

	for (int i = 0; i < FIX_LIMBS; i++)
	{
		carry += (uint64_t) x[i] + y[i];
		x[i] = (uint32_t) carry;
		carry >>= 32;
		any |= y[i];
	}
	return any != 0;
}

/* The number of bits of x; 0 for 0. */
static inline int
bit_length(uint64_t x)
{
#ifdef __GNUC__
	return x == 0 ? 0 : 64 - __builtin_clzll(x);
#else
	int			n = 0;

	for (; x != 0; x >>= 1)
		n++;
	return n;
#endif
}

/*
 * dst = log2(x) for 2 <= x, digit by digit: square, and halve when that
 * passes 2.  With u = 2^-160: the square and the halving of digit j truncate
 * less than 2u, which moves the logarithm by less than 3u * 2^-j, and the
 * digits after the last are less than u, so dst is low by less than 4u.
 */
static void
fix_log2(uint32_t *dst, uint64_t x)
{
	int			whole = bit_length(x) - 1;
	uint64_t	fraction = (x << (63 - whole)) << 1;
	uint32_t	y[FIX_LIMBS] = {0};

	y[FIX_FRACTION] = 1;
	y[FIX_FRACTION - 1] = (uint32_t) (fraction >> 32);
	y[FIX_FRACTION - 2] = (uint32_t) fraction;

	memset(dst, 0, sizeof(uint32_t) * FIX_LIMBS);
	dst[FIX_FRACTION] = (uint32_t) whole;
	for (int bit = FIX_BITS - 1; bit >= 0; bit--)
	{
		fix_multiply(y, y, y);
		if (y[FIX_FRACTION] >= 2)
		{
			dst[bit / 32] |= UINT32_C(1) << (bit % 32);
			fix_scale(y, 1, 2);
		}
	}
}

/*
 * dst = 2 ^ f for 0 <= f < 1, by the series of e ^ (f * ln 2).  When f is low
 * by less than 5u, the product is by less than 6u, each of the fewer than 50
 * terms by less than 8u, what follows the first term that truncates to zero
 * is less than u: dst is low by less than 512u.
 */
static void
fix_exp2(uint32_t *dst, const uint32_t *f)
{
	uint32_t	z[FIX_LIMBS];
	uint32_t	term[FIX_LIMBS] = {0};

	fix_multiply(z, f, fix_ln2);
	term[FIX_FRACTION] = 1;
	memset(dst, 0, sizeof(uint32_t) * FIX_LIMBS);
	for (uint32_t k = 1; fix_add(dst, term); k++)
	{
		fix_multiply(term, term, z);
		fix_scale(term, 1, k);
	}
}

/* The 64 bits of x that begin `from` bits above its lowest. */
static uint64_t
fix_bits(const uint32_t *x, int from)
{
	uint64_t	result = 0;

	for (int limb = from / 32; limb < FIX_LIMBS; limb++)
	{
		int			shift = 32 * limb - from;

		if (shift >= 64)
			break;
		if (shift >= 0)
			result |= (uint64_t) x[limb] << shift;
		else
			result |= (uint64_t) x[limb] >> -shift;
	}
	return result;
}

static int
greatest_common_divisor(int a, int b)
{
	while (b != 0)
	{
		int			rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/*
 * The smallest value of bucket i: ceil(ceiling ^ (i / buckets)) - 1, exactly.
 *
 * The root is computed low by less than 512u * 2^62 = 2^-89, so unless the
 * first 64 bits behind its point are all zeros or all ones, its ceiling is
 * certain.  Otherwise one comparison of powers decides.
 */
static int64_t
edge(const uint32_t *log2_ceiling, int64_t ceiling, int buckets, int i)
{
	uint32_t	exponent[FIX_LIMBS];
	uint32_t	mantissa[FIX_LIMBS];
	int			whole;
	int			divisor;
	uint64_t	root;
	uint64_t	fraction;

	if (i == 0)
		return 0;

	memcpy(exponent, log2_ceiling, sizeof(exponent));
	fix_scale(exponent, (uint32_t) i, (uint32_t) buckets);
	whole = (int) exponent[FIX_FRACTION];
	exponent[FIX_FRACTION] = 0;
	fix_exp2(mantissa, exponent);
	root = fix_bits(mantissa, FIX_BITS - whole);
	fraction = fix_bits(mantissa, FIX_BITS - whole - 64);

	if (fraction != 0 && fraction != UINT64_MAX)
		return (int64_t) root;	/* the ceiling is root + 1 */
	if (fraction != 0)
		root++;
	divisor = greatest_common_divisor(i, buckets);
	if (power_at_least(root, buckets / divisor,
					   (uint64_t) ceiling, i / divisor))
		root--;
	return (int64_t) root;
}

/* OK, BAD_BUCKETS or BAD_CEILING. */
LbHistogramStatus
lb_hist_check_parameters(int64_t buckets, int64_t ceiling)
{
	if (buckets < LB_HISTOGRAM_BUCKETS_MIN ||
		buckets > LB_HISTOGRAM_BUCKETS_MAX)
		return LB_HISTOGRAM_BAD_BUCKETS;
	if (ceiling < LB_HISTOGRAM_CEILING_MIN)
		return LB_HISTOGRAM_BAD_CEILING;
	return LB_HISTOGRAM_OK;
}

/* The bytes that a scale of so many buckets needs. */
size_t
lb_hist_scale_size(int32_t buckets)
{
	return offsetof(LbHistogramScale, edges) +
		sizeof(int64_t) * (size_t) buckets;
}

/* Compute a scale; the parameters must have passed their check. */
void
lb_hist_scale_init(LbHistogramScale *scale, int32_t buckets, int64_t ceiling)
{
	uint32_t	log2_ceiling[FIX_LIMBS];

	scale->buckets = buckets;
	scale->ceiling = ceiling;
	fix_log2(log2_ceiling, (uint64_t) ceiling);
	for (int32_t i = 0; i < buckets; i++)
		scale->edges[i] = edge(log2_ceiling, ceiling, buckets, i);

	for (int n = 0, i = 0; n <= 64; n++)
	{
		uint64_t	smallest = n == 0 ? 0 : UINT64_C(1) << (n - 1);

		while (i + 1 < buckets && (uint64_t) scale->edges[i + 1] <= smallest)
			i++;
		scale->octave[n] = (int16_t) i;
	}
	scale->octave[65] = (int16_t) (buckets - 1);
}

/* The bucket of any value, INT64_MIN included. */
int32_t
lb_hist_bucket(const LbHistogramScale *scale, int64_t value)
{
	uint64_t	magnitude = value < 0 ? -(uint64_t) value : (uint64_t) value;
	int			bits = bit_length(magnitude);
	int32_t		low = scale->octave[bits];
	int32_t		high = scale->octave[bits + 1];

	/* edges[low] <= magnitude, and no bucket after high can hold it */
	while (low < high)
	{
		int32_t		middle = (low + high + 1) / 2;

		if ((uint64_t) scale->edges[middle] <= magnitude)
			low = middle;
		else
			high = middle - 1;
	}
	return value < 0 ? -low : low;
}

/* Is there a value in this bucket? */
bool
lb_hist_bucket_exists(const LbHistogramScale *scale, int64_t bucket)
{
	int64_t		i;

	if (bucket <= -scale->buckets || bucket >= scale->buckets)
		return false;
	i = bucket < 0 ? -bucket : bucket;
	return i == scale->buckets - 1 || scale->edges[i] < scale->edges[i + 1];
}

/* The bucket's smallest value; false when it has no lower end. */
bool
lb_hist_bucket_low(const LbHistogramScale *scale, int32_t bucket, int64_t *low)
{
	if (bucket > 0)
		*low = scale->edges[bucket];
	else if (-bucket == scale->buckets - 1)
		return false;
	else
		*low = -(scale->edges[1 - bucket] - 1);
	return true;
}

/* The bucket's greatest value; false when it has no upper end. */
bool
lb_hist_bucket_high(const LbHistogramScale *scale, int32_t bucket,
					int64_t *high)
{
	if (bucket < 0)
		*high = -scale->edges[-bucket];
	else if (bucket == scale->buckets - 1)
		return false;
	else
		*high = scale->edges[bucket + 1] - 1;
	return true;
}
