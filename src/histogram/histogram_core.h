/*-------------------------------------------------------------------------
 *
 * histogram_core.h
 *	  The pure part of lb_histogram: buckets, counts, bytes and text.
 *
 * Nothing here allocates, reports or looks at the server, so that a fuzzer
 * compiles these files alone.  The caller brings the memory; whatever can
 * fail returns an LbHistogramStatus and, unless its comment says otherwise,
 * has then changed nothing.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_HISTOGRAM_CORE_H
#define LB_HISTOGRAM_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LB_HISTOGRAM_BUCKETS_MIN		2
#define LB_HISTOGRAM_BUCKETS_MAX		1024
#define LB_HISTOGRAM_BUCKETS_DEFAULT	128
#define LB_HISTOGRAM_CEILING_MIN		INT64_C(2)
#define LB_HISTOGRAM_CEILING_MAX		INT64_MAX
#define LB_HISTOGRAM_CEILING_DEFAULT	INT64_C(1000000000000)

/* The stored form; README.md publishes it. */
#define LB_HISTOGRAM_VERSION			1
#define LB_HISTOGRAM_HEADER_SIZE		12

/* How many counts a histogram has: buckets -(n - 1) .. n - 1. */
#define LB_HISTOGRAM_COUNTS(buckets)	(2 * (buckets) - 1)

/* No encoding is longer: a varint of 63 bits has 9 bytes. */
#define LB_HISTOGRAM_SIZE_MAX(buckets) \
	(LB_HISTOGRAM_HEADER_SIZE + (size_t) 9 * LB_HISTOGRAM_COUNTS(buckets))

typedef enum LbHistogramStatus
{
	LB_HISTOGRAM_OK,
	/* of bytes */
	LB_HISTOGRAM_SHORT,			/* ends inside the header or a number */
	LB_HISTOGRAM_BAD_VERSION,
	LB_HISTOGRAM_BAD_FLAGS,
	LB_HISTOGRAM_NOT_CANONICAL, /* says it in a way the encoder never does */
	/* of bytes and text */
	LB_HISTOGRAM_BAD_BUCKETS,
	LB_HISTOGRAM_BAD_CEILING,
	LB_HISTOGRAM_BAD_BUCKET,	/* no such bucket, or it holds no integer */
	/* of text */
	LB_HISTOGRAM_SYNTAX,
	LB_HISTOGRAM_BAD_ORDER,		/* buckets not in ascending order */
	LB_HISTOGRAM_BAD_COUNT,		/* a bucket listed without members */
	/* of arithmetic */
	LB_HISTOGRAM_OVERFLOW,		/* more than INT64_MAX members */
	LB_HISTOGRAM_NEGATIVE,		/* fewer than no members in a bucket */
	LB_HISTOGRAM_MISMATCH		/* buckets or ceiling differ */
} LbHistogramStatus;

/*
 * The buckets of one (buckets, ceiling).  edges[i] is the smallest value of
 * bucket i for i > 0, computed exactly; equal neighbours mean that a bucket
 * holds no integer.  A negative value is in the negative of the bucket of
 * its magnitude.
 */
typedef struct LbHistogramScale
{
	int64_t		ceiling;
	int32_t		buckets;
	int16_t		octave[66];		/* [n]: bucket of the smallest magnitude of n
								 * bits; [65] is the last bucket */
	int64_t		edges[];		/* as many as buckets */
} LbHistogramScale;

/* A histogram to work on: every count at hand. */
typedef struct LbHistogram
{
	const LbHistogramScale *scale;
	int64_t		total;
	int64_t    *counts;			/* bucket b is at [b + scale->buckets - 1] */
} LbHistogram;

/* histogram_scale.c */
extern LbHistogramStatus lb_hist_check_parameters(int64_t buckets,
												  int64_t ceiling);
extern size_t lb_hist_scale_size(int32_t buckets);
extern void lb_hist_scale_init(LbHistogramScale *scale, int32_t buckets,
							   int64_t ceiling);
extern int32_t lb_hist_bucket(const LbHistogramScale *scale, int64_t value);
extern bool lb_hist_bucket_exists(const LbHistogramScale *scale,
								  int64_t bucket);
extern bool lb_hist_bucket_low(const LbHistogramScale *scale, int32_t bucket,
							   int64_t *low);
extern bool lb_hist_bucket_high(const LbHistogramScale *scale, int32_t bucket,
								int64_t *high);

/* histogram_core.c */
extern const char *lb_hist_status_text(LbHistogramStatus status);
extern void lb_hist_init(LbHistogram *h, const LbHistogramScale *scale,
						 int64_t *counts);
extern LbHistogramStatus lb_hist_try_change(LbHistogram *h, int64_t value,
											int64_t n);
extern LbHistogramStatus lb_hist_try_change_bucket(LbHistogram *h,
												   int32_t bucket, int64_t n);
extern LbHistogramStatus lb_hist_try_union(LbHistogram *into,
										   const LbHistogram *other);
extern LbHistogramStatus lb_hist_try_subtract(LbHistogram *from,
											  const LbHistogram *other);
extern void lb_hist_above(const LbHistogram *h, int64_t value,
						  int64_t *low, int64_t *high);
extern void lb_hist_below(const LbHistogram *h, int64_t value,
						  int64_t *low, int64_t *high);
extern int32_t lb_hist_nth(const LbHistogram *h, int64_t n);
extern bool lb_hist_next(const LbHistogram *h, int32_t *bucket);
extern size_t lb_hist_encoded_size(const LbHistogram *h);
extern size_t lb_hist_encode(const LbHistogram *h, uint8_t *bytes);
extern LbHistogramStatus lb_hist_decode_header(const uint8_t *bytes,
											   size_t size, int32_t *buckets,
											   int64_t *ceiling);
extern LbHistogramStatus lb_hist_decode(LbHistogram *h, const uint8_t *bytes,
										size_t size);

/* histogram_text.c */
extern LbHistogramStatus lb_hist_parse_header(const char **text,
											  int32_t *buckets,
											  int64_t *ceiling);
extern LbHistogramStatus lb_hist_parse_counts(LbHistogram *h,
											  const char **text);

/* The count of a bucket; the caller knows that the bucket is in range. */
static inline int64_t
lb_hist_members(const LbHistogram *h, int32_t bucket)
{
	return h->counts[bucket + h->scale->buckets - 1];
}

#endif							/* LB_HISTOGRAM_CORE_H */
