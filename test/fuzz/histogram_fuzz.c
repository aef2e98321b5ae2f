/*-------------------------------------------------------------------------
 *
 * histogram_fuzz.c
 *	  Fuzzes the pure part of lb_histogram.
 *
 * The first byte of an input chooses what the rest is: stored bytes, text,
 * parameters of a scale, or a program of changes that is also run on a model
 * too simple to be wrong.
 *
 *-------------------------------------------------------------------------
 */
#include "histogram/histogram_scale.c"
#include "histogram/histogram_core.c"
#include "histogram/histogram_text.c"

#include <math.h>
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

/* Scales that are computed once: making one costs more than fuzzing one. */
static const struct
{
	int32_t		buckets;
	int64_t		ceiling;
}			kept[] =
{
	{LB_HISTOGRAM_BUCKETS_DEFAULT, LB_HISTOGRAM_CEILING_DEFAULT},
	{2, 2}, {2, INT64_MAX}, {3, 100}, {62, INT64_C(1) << 62},
	{1024, 2}, {1024, INT64_MAX}, {128, 1000}
};

#define NKEPT	(sizeof(kept) / sizeof(kept[0]))

/* Other scales of more buckets than this are left alone, to be quick. */
#define OTHERS_MAX	40

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void *
allocate(size_t size)
{
	void	   *chunk = malloc(size);

	MUST(chunk != NULL);
	return chunk;
}

static void
check_scale(const LbHistogramScale *scale)
{
	MUST(scale->edges[0] == 0);
	for (int32_t i = 1; i < scale->buckets; i++)
	{
		long double root = powl((long double) scale->ceiling,
								(long double) i / scale->buckets);
		long double edge = (long double) scale->edges[i] + 1;
		long double slack = root * 0x1p-52L;

		MUST(scale->edges[i] >= scale->edges[i - 1] && scale->edges[i] >= 1);
		MUST(edge >= root - slack && edge < root + 1 + slack);
	}
}

static LbHistogramScale *
make_scale(int32_t buckets, int64_t ceiling)
{
	LbHistogramScale *scale = allocate(lb_hist_scale_size(buckets));

	lb_hist_scale_init(scale, buckets, ceiling);
	check_scale(scale);
	return scale;
}

/* A scale of these parameters, NULL when it is not worth the time. */
static const LbHistogramScale *
get_scale(int32_t buckets, int64_t ceiling)
{
	static LbHistogramScale *scales[NKEPT];
	static LbHistogramScale *other = NULL;

	for (size_t i = 0; i < NKEPT; i++)
	{
		if (kept[i].buckets != buckets || kept[i].ceiling != ceiling)
			continue;
		if (scales[i] == NULL)
			scales[i] = make_scale(buckets, ceiling);
		return scales[i];
	}
	if (buckets > OTHERS_MAX)
		return NULL;
	if (other == NULL || other->buckets != buckets || other->ceiling != ceiling)
	{
		free(other);
		other = make_scale(buckets, ceiling);
	}
	return other;
}

static void
begin(LbHistogram *h, const LbHistogramScale *scale)
{
	lb_hist_init(h, scale,
				 allocate(sizeof(int64_t) *
						  (size_t) LB_HISTOGRAM_COUNTS(scale->buckets)));
}

/* What must hold of any histogram. */
static void
check_histogram(const LbHistogram *h)
{
	int32_t		bucket = -h->scale->buckets;
	int64_t		seen = 0;
	int64_t		previous = INT64_MIN;

	while (lb_hist_next(h, &bucket))
	{
		int64_t		members = lb_hist_members(h, bucket);
		int64_t		low;
		int64_t		high;
		int64_t		above[2];
		int64_t		below[2];

		if (!lb_hist_bucket_low(h->scale, bucket, &low))
			low = INT64_MIN;
		if (!lb_hist_bucket_high(h->scale, bucket, &high))
			high = INT64_MAX;
		MUST(members > 0 && low <= high);
		MUST(seen == 0 || low > previous);
		MUST(lb_hist_bucket_exists(h->scale, bucket));
		MUST(lb_hist_bucket(h->scale, low) == bucket);
		MUST(lb_hist_bucket(h->scale, high) == bucket);
		MUST(lb_hist_nth(h, seen + 1) == bucket);
		MUST(lb_hist_nth(h, seen + members) == bucket);

		lb_hist_above(h, high, &above[0], &above[1]);
		lb_hist_below(h, low, &below[0], &below[1]);
		MUST(above[0] == above[1] && below[0] == below[1]);
		MUST(below[0] == seen);
		MUST(above[0] == h->total - seen - members);
		seen += members;
		previous = high;
	}
	MUST(seen == h->total);
}

/* Bytes and back. */
static void
check_codec(const LbHistogram *h)
{
	size_t		size = lb_hist_encoded_size(h);
	uint8_t    *bytes = allocate(size);
	LbHistogram copy;
	int32_t		buckets;
	int64_t		ceiling;

	MUST(size <= LB_HISTOGRAM_SIZE_MAX(h->scale->buckets));
	MUST(lb_hist_encode(h, bytes) == size);
	MUST(lb_hist_decode_header(bytes, size, &buckets,
							   &ceiling) == LB_HISTOGRAM_OK);
	MUST(buckets == h->scale->buckets && ceiling == h->scale->ceiling);
	begin(&copy, h->scale);
	MUST(lb_hist_decode(&copy, bytes, size) == LB_HISTOGRAM_OK);
	MUST(copy.total == h->total);
	MUST(memcmp(copy.counts, h->counts, sizeof(int64_t) *
				(size_t) LB_HISTOGRAM_COUNTS(buckets)) == 0);
	free(copy.counts);
	free(bytes);
}

/* Whatever decodes encodes to the same bytes. */
static void
fuzz_bytes(const uint8_t *data, size_t size)
{
	const LbHistogramScale *scale;
	LbHistogram h;
	int32_t		buckets;
	int64_t		ceiling;

	if (lb_hist_decode_header(data, size, &buckets,
							  &ceiling) != LB_HISTOGRAM_OK)
		return;
	scale = get_scale(buckets, ceiling);
	if (scale == NULL)
		return;
	begin(&h, scale);
	if (lb_hist_decode(&h, data, size) == LB_HISTOGRAM_OK)
	{
		uint8_t    *again = allocate(size);

		MUST(lb_hist_encoded_size(&h) == size);
		lb_hist_encode(&h, again);
		MUST(memcmp(data, again, size) == 0);
		free(again);
		check_histogram(&h);
		check_codec(&h);
	}
	free(h.counts);
}

static void
fuzz_text(const uint8_t *data, size_t size)
{
	char	   *text = allocate(size + 1);
	const char *at = text;
	const LbHistogramScale *scale = NULL;
	LbHistogram h;
	int32_t		buckets;
	int64_t		ceiling;

	memcpy(text, data, size);
	text[size] = '\0';
	if (lb_hist_parse_header(&at, &buckets, &ceiling) == LB_HISTOGRAM_OK)
		scale = get_scale(buckets, ceiling);
	if (scale != NULL)
	{
		begin(&h, scale);
		if (lb_hist_parse_counts(&h, &at) == LB_HISTOGRAM_OK)
		{
			check_histogram(&h);
			check_codec(&h);
		}
		free(h.counts);
	}
	MUST(at >= text && at <= text + strlen(text));
	free(text);
}

/* The bucket of a value, found without any cleverness. */
static int32_t
model_bucket(const LbHistogramScale *scale, int64_t value)
{
	uint64_t	magnitude = value < 0 ? -(uint64_t) value : (uint64_t) value;
	int32_t		bucket = 0;

	for (int32_t i = 0; i < scale->buckets; i++)
	{
		if ((uint64_t) scale->edges[i] <= magnitude)
			bucket = i;
	}
	return value < 0 ? -bucket : bucket;
}

/* A program of changes: three bytes of kind and number, eight of value. */
static void
fuzz_changes(const uint8_t *data, size_t size)
{
	const LbHistogramScale *scale;
	LbHistogram h[2];
	int64_t    *model[2];
	size_t		n;

	if (size == 0)
		return;
	scale = get_scale(kept[data[0] % NKEPT].buckets,
					  kept[data[0] % NKEPT].ceiling);
	n = (size_t) LB_HISTOGRAM_COUNTS(scale->buckets);
	for (int i = 0; i < 2; i++)
	{
		begin(&h[i], scale);
		model[i] = calloc(n, sizeof(int64_t));
		MUST(model[i] != NULL);
	}

	for (data++, size--; size >= 11; data += 11, size -= 11)
	{
		int			which = data[0] & 1;
		int64_t		value = (int64_t) get_little_endian(data + 3, 8);
		int64_t		times = (int8_t) data[1];
		LbHistogramStatus status;
		bool		fits = true;

		/* small values and huge numbers of members are rare otherwise */
		if (data[0] & 2)
			value >>= data[2] % 64;
		if (data[0] & 4)
			times = times < 0 ? INT64_MIN + (times + 128) : INT64_MAX - times;

		if ((data[0] & 24) == 8)
		{
			fits = h[1 - which].total <= INT64_MAX - h[which].total;
			status = lb_hist_try_union(&h[which], &h[1 - which]);
			for (size_t i = 0; fits && i < n; i++)
				model[which][i] += model[1 - which][i];
		}
		else if ((data[0] & 24) == 16)
		{
			status = lb_hist_try_subtract(&h[which], &h[1 - which]);
			for (size_t i = 0; i < n; i++)
				fits = fits && model[which][i] >= model[1 - which][i];
			for (size_t i = 0; fits && i < n; i++)
				model[which][i] -= model[1 - which][i];
		}
		else
		{
			int32_t		bucket = model_bucket(scale, value);
			int64_t    *count = &model[which][bucket + scale->buckets - 1];
			int64_t		total;

			MUST(lb_hist_bucket(scale, value) == bucket);
			fits = !__builtin_add_overflow(h[which].total, times, &total) &&
				*count + times >= 0;
			status = lb_hist_try_change(&h[which], value, times);
			if (fits)
				*count += times;
		}
		MUST(fits == (status == LB_HISTOGRAM_OK));
	}

	for (int i = 0; i < 2; i++)
	{
		MUST(memcmp(h[i].counts, model[i], sizeof(int64_t) * n) == 0);
		check_histogram(&h[i]);
		check_codec(&h[i]);
		free(h[i].counts);
		free(model[i]);
	}
}

/* Any scale: sound edges, and the exact test of powers agrees with them. */
static void
fuzz_scale(const uint8_t *data, size_t size)
{
	int32_t		buckets;
	int64_t		ceiling;
	LbHistogramScale *scale;

	if (size < 10)
		return;
	buckets = 2 + (int32_t) get_little_endian(data, 2) % OTHERS_MAX;
	ceiling = (int64_t) (get_little_endian(data + 2, 8) >> 1);
	if (size > 10)
		ceiling >>= data[10] % 62;
	if (lb_hist_check_parameters(buckets, ceiling) != LB_HISTOGRAM_OK)
		return;
	scale = make_scale(buckets, ceiling);
	for (int32_t i = 1; i < buckets; i++)
	{
		uint64_t	edge = (uint64_t) scale->edges[i];

		MUST(power_at_least(edge + 1, buckets, (uint64_t) ceiling, i));
		MUST(!power_at_least(edge, buckets, (uint64_t) ceiling, i));
	}
	free(scale);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	switch (data[0] % 8)
	{
		case 0:
		case 1:
		case 2:
			fuzz_bytes(data + 1, size - 1);
			break;
		case 3:
		case 4:
			fuzz_text(data + 1, size - 1);
			break;
		case 5:
		case 6:
			fuzz_changes(data + 1, size - 1);
			break;
		default:
			fuzz_scale(data + 1, size - 1);
			break;
	}
	return 0;
}
