/*-------------------------------------------------------------------------
 *
 * histogram_core.c
 *	  Counting in buckets, the questions a histogram answers, and its bytes.
 *
 *-------------------------------------------------------------------------
 */
#include "histogram_core.h"

#include <string.h>

#include "varint.h"

/* What is wrong, as a clause for an error message. */
const char *
lb_hist_status_text(LbHistogramStatus status)
{
	switch (status)
	{
		case LB_HISTOGRAM_OK:
			return "nothing is wrong";
		case LB_HISTOGRAM_SHORT:
			return "it ends too early";
		case LB_HISTOGRAM_BAD_VERSION:
			return "its format version is unknown";
		case LB_HISTOGRAM_BAD_FLAGS:
			return "it sets unknown flags";
		case LB_HISTOGRAM_NOT_CANONICAL:
			return "its bytes are not in canonical form";
		case LB_HISTOGRAM_BAD_BUCKETS:
			return "the number of buckets is not between 2 and 1024";
		case LB_HISTOGRAM_BAD_CEILING:
			return "the ceiling is not between 2 and 9223372036854775807";
		case LB_HISTOGRAM_BAD_BUCKET:
			return "a bucket does not exist or holds no integer";
		case LB_HISTOGRAM_SYNTAX:
			return "the text does not follow the form of a histogram";
		case LB_HISTOGRAM_BAD_ORDER:
			return "the buckets are not in ascending order";
		case LB_HISTOGRAM_BAD_COUNT:
			return "a listed bucket has no members";
		case LB_HISTOGRAM_OVERFLOW:
			return "it would have more than 9223372036854775807 members";
		case LB_HISTOGRAM_NEGATIVE:
			return "a bucket would have fewer than no members";
		case LB_HISTOGRAM_MISMATCH:
			return "the numbers of buckets or the ceilings differ";
	}
	return "unknown status";
}

/*
 * An empty histogram over the caller's LB_HISTOGRAM_COUNTS counts, which it
 * clears.  Scale and counts must live as long as the histogram.
 */
void
lb_hist_init(LbHistogram *h, const LbHistogramScale *scale, int64_t *counts)
{
	h->scale = scale;
	h->total = 0;
	h->counts = counts;
	memset(counts, 0,
		   sizeof(int64_t) * (size_t) LB_HISTOGRAM_COUNTS(scale->buckets));
}

/* Count a value n times; take it away when n is negative. */
LbHistogramStatus
lb_hist_try_change(LbHistogram *h, int64_t value, int64_t n)
{
	return lb_hist_try_change_bucket(h, lb_hist_bucket(h->scale, value), n);
}

/* The same for one that knows the bucket, which must be in range. */
LbHistogramStatus
lb_hist_try_change_bucket(LbHistogram *h, int32_t bucket, int64_t n)
{
	int64_t    *count = &h->counts[bucket + h->scale->buckets - 1];

	/* no count is greater than the total, so only the total can overflow */
	if (n > INT64_MAX - h->total)
		return LB_HISTOGRAM_OVERFLOW;
	/* n may be INT64_MIN: add, do not negate */
	if (*count + n < 0)
		return LB_HISTOGRAM_NEGATIVE;
	*count += n;
	h->total += n;
	return LB_HISTOGRAM_OK;
}

static bool
same_scale(const LbHistogram *a, const LbHistogram *b)
{
	return a->scale == b->scale ||
		(a->scale->buckets == b->scale->buckets &&
		 a->scale->ceiling == b->scale->ceiling);
}

/* Count in everything that other counts. */
LbHistogramStatus
lb_hist_try_union(LbHistogram *into, const LbHistogram *other)
{
	int			n = LB_HISTOGRAM_COUNTS(into->scale->buckets);

	if (!same_scale(into, other))
		return LB_HISTOGRAM_MISMATCH;
	if (other->total > INT64_MAX - into->total)
		return LB_HISTOGRAM_OVERFLOW;
	for (int i = 0; i < n; i++)
		into->counts[i] += other->counts[i];
	into->total += other->total;
	return LB_HISTOGRAM_OK;
}

/* Take away everything that other counts. */
LbHistogramStatus
lb_hist_try_subtract(LbHistogram *from, const LbHistogram *other)
{
	int			n = LB_HISTOGRAM_COUNTS(from->scale->buckets);

	if (!same_scale(from, other))
		return LB_HISTOGRAM_MISMATCH;
	for (int i = 0; i < n; i++)
	{
		if (other->counts[i] > from->counts[i])
			return LB_HISTOGRAM_NEGATIVE;
	}
	for (int i = 0; i < n; i++)
		from->counts[i] -= other->counts[i];
	from->total -= other->total;
	return LB_HISTOGRAM_OK;
}

static int64_t
sum(const int64_t *counts, int n)
{
	int64_t		result = 0;

	for (int i = 0; i < n; i++)
		result += counts[i];
	return result;
}

/*
 * How many members are strictly above the value: at least low, at most high.
 * The value need not be one of them.  Members of the value's own bucket may
 * be above, unless the value is the greatest that the bucket can hold.
 */
void
lb_hist_above(const LbHistogram *h, int64_t value, int64_t *low, int64_t *high)
{
	int32_t		last = h->scale->buckets - 1;
	int32_t		bucket = lb_hist_bucket(h->scale, value);
	int64_t		top;

	*low = sum(&h->counts[bucket + last + 1], last - bucket);
	if (!lb_hist_bucket_high(h->scale, bucket, &top))
		top = INT64_MAX;
	*high = *low + (value == top ? 0 : lb_hist_members(h, bucket));
}

/* The mirror: how many are strictly below, for boards where low is best. */
void
lb_hist_below(const LbHistogram *h, int64_t value, int64_t *low, int64_t *high)
{
	int32_t		last = h->scale->buckets - 1;
	int32_t		bucket = lb_hist_bucket(h->scale, value);
	int64_t		bottom;

	*low = sum(h->counts, bucket + last);
	if (!lb_hist_bucket_low(h->scale, bucket, &bottom))
		bottom = INT64_MIN;
	*high = *low + (value == bottom ? 0 : lb_hist_members(h, bucket));
}

/* The bucket of the nth smallest member, 1 <= n <= total. */
int32_t
lb_hist_nth(const LbHistogram *h, int64_t n)
{
	int			i = 0;

	while (n > h->counts[i])
		n -= h->counts[i++];
	return i - (h->scale->buckets - 1);
}

/*
 * Walk the buckets that have members, in ascending order: moves *bucket to
 * the next after it; false when there is none.  Start with -buckets.
 */
bool
lb_hist_next(const LbHistogram *h, int32_t *bucket)
{
	int32_t		last = h->scale->buckets - 1;
	int32_t		b = *bucket;

	while (++b <= last)
	{
		if (h->counts[b + last] != 0)
		{
			*bucket = b;
			return true;
		}
	}
	return false;
}

static LbHistogramStatus
get_number(const uint8_t **p, const uint8_t *end, int64_t *x)
{
	switch (lb_varint_get(p, end, x))
	{
		case LB_VARINT_OK:
			return LB_HISTOGRAM_OK;
		case LB_VARINT_SHORT:
			return LB_HISTOGRAM_SHORT;
		default:
			return LB_HISTOGRAM_NOT_CANONICAL;
	}
}

static void
put_little_endian(uint8_t *p, uint64_t x, int size)
{
	for (int i = 0; i < size; i++)
		p[i] = (uint8_t) (x >> (8 * i));
}

static uint64_t
get_little_endian(const uint8_t *p, int size)
{
	uint64_t	x = 0;

	for (int i = 0; i < size; i++)
		x |= (uint64_t) p[i] << (8 * i);
	return x;
}

/* The exact number of bytes that lb_hist_encode will write. */
size_t
lb_hist_encoded_size(const LbHistogram *h)
{
	int32_t		previous = -h->scale->buckets;
	int32_t		bucket = previous;
	size_t		size = LB_HISTOGRAM_HEADER_SIZE;

	while (lb_hist_next(h, &bucket))
	{
		int32_t		gap = bucket - previous - 1;

		if (gap > 0)
			size += 1 + lb_varint_size((uint64_t) gap);
		size += lb_varint_size((uint64_t) lb_hist_members(h, bucket));
		previous = bucket;
	}
	return size;
}

/* Write the stored form; returns its size. */
size_t
lb_hist_encode(const LbHistogram *h, uint8_t *bytes)
{
	int32_t		previous = -h->scale->buckets;
	int32_t		bucket = previous;
	uint8_t    *p = bytes + LB_HISTOGRAM_HEADER_SIZE;

	bytes[0] = LB_HISTOGRAM_VERSION;
	bytes[1] = 0;
	put_little_endian(bytes + 2, (uint64_t) h->scale->buckets, 2);
	put_little_endian(bytes + 4, (uint64_t) h->scale->ceiling, 8);
	while (lb_hist_next(h, &bucket))
	{
		int32_t		gap = bucket - previous - 1;

		if (gap > 0)
		{
			*p++ = 0;
			p = lb_varint_put(p, (uint64_t) gap);
		}
		p = lb_varint_put(p, (uint64_t) lb_hist_members(h, bucket));
		previous = bucket;
	}
	return (size_t) (p - bytes);
}

/* Check a stored form's header and get its parameters. */
LbHistogramStatus
lb_hist_decode_header(const uint8_t *bytes, size_t size,
					  int32_t *buckets, int64_t *ceiling)
{
	/* say of foreign bytes what they are rather than how long */
	if (size >= 1 && bytes[0] != LB_HISTOGRAM_VERSION)
		return LB_HISTOGRAM_BAD_VERSION;
	if (size < LB_HISTOGRAM_HEADER_SIZE)
		return LB_HISTOGRAM_SHORT;
	if (bytes[1] != 0)
		return LB_HISTOGRAM_BAD_FLAGS;
	*buckets = (int32_t) get_little_endian(bytes + 2, 2);
	*ceiling = (int64_t) get_little_endian(bytes + 4, 8);
	return lb_hist_check_parameters(*buckets, *ceiling);
}

/*
 * Check a stored form's body and count it into h, an empty histogram of the
 * parameters in the header.  After an error h is worthless.
 */
LbHistogramStatus
lb_hist_decode(LbHistogram *h, const uint8_t *bytes, size_t size)
{
	const uint8_t *p = bytes + LB_HISTOGRAM_HEADER_SIZE;
	const uint8_t *end = bytes + size;
	int32_t		last = h->scale->buckets - 1;
	int32_t		bucket = -last;

	while (p < end)
	{
		LbHistogramStatus status;
		int64_t		x;

		status = get_number(&p, end, &x);
		if (status == LB_HISTOGRAM_OK && x == 0)
		{
			/* a gap of one or more empty buckets, then a count */
			status = get_number(&p, end, &x);
			if (status != LB_HISTOGRAM_OK)
				return status;
			if (x == 0)
				return LB_HISTOGRAM_NOT_CANONICAL;
			if (x > last - bucket)
				return LB_HISTOGRAM_BAD_BUCKET;
			bucket += (int32_t) x;
			status = get_number(&p, end, &x);
			if (status == LB_HISTOGRAM_OK && x == 0)
				return LB_HISTOGRAM_NOT_CANONICAL;
		}
		if (status != LB_HISTOGRAM_OK)
			return status;
		if (!lb_hist_bucket_exists(h->scale, bucket))
			return LB_HISTOGRAM_BAD_BUCKET;
		status = lb_hist_try_change_bucket(h, bucket, x);
		if (status != LB_HISTOGRAM_OK)
			return status;
		bucket++;
	}
	return LB_HISTOGRAM_OK;
}
