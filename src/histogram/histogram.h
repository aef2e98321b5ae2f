/*-------------------------------------------------------------------------
 *
 * histogram.h
 *	  lb_histogram for the C of other folders.
 *
 * To read:    h = lb_hist_read(datum); lb_hist_above(h, value, &low, &high);
 *
 * To write:   h = lb_hist_load(datum), or lb_hist_create(buckets, ceiling)
 *             lb_hist_change(h, new_value, 1);
 *             lb_hist_change(h, old_value, -1);	as often as needed
 *             datum = lb_hist_store(h);
 *
 * A change costs some ten nanoseconds; load and store cost about a
 * microsecond each.  Add before you take away when the order is free: a
 * count may not fall below zero on the way.  Everything lives in the current
 * memory context, except scales, which are kept for the backend's life.
 *
 * The pure functions are declared in histogram_core.h: lb_hist_above,
 * lb_hist_below (for ascending boards), lb_hist_nth, lb_hist_next,
 * lb_hist_bucket, lb_hist_bucket_low, lb_hist_bucket_high; h->total is the
 * number of members.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_HISTOGRAM_H
#define LB_HISTOGRAM_H

#include "utils/expandeddatum.h"

#include "histogram/histogram_core.h"

/* histogram_value.c */

/* The buckets of these parameters; 22023 when they are out of range. */
extern const LbHistogramScale *lb_hist_scale(int32 buckets, int64 ceiling);

/* An empty histogram; 22023 when the parameters are out of range. */
extern LbHistogram *lb_hist_create(int32 buckets, int64 ceiling);

/* A histogram from a Datum of the type: the caller's own, to change. */
extern LbHistogram *lb_hist_load(Datum datum);

/* The same to read only; it may be the Datum's own memory. */
extern const LbHistogram *lb_hist_read(Datum datum);

/* A flat Datum of the type. */
extern Datum lb_hist_store(const LbHistogram *h);

/* Count value n times; n < 0 takes away.  22003 below zero or past int64. */
extern void lb_hist_change(LbHistogram *h, int64 value, int64 n);

/* Count in, or take away, all of another; 22023 when parameters differ. */
extern void lb_hist_union(LbHistogram *into, const LbHistogram *other);
extern void lb_hist_subtract(LbHistogram *from, const LbHistogram *other);

/* Report the failure of an arithmetic lb_hist_try_ function; OK returns. */
extern void lb_hist_check(LbHistogramStatus status);

/* For this folder: parsing and validation shared by in, recv and detoast. */
extern LbHistogram *lb_hist_from_bytes(const uint8_t *bytes, size_t size,
									   int sqlstate);

/*
 * For this folder: an aggregate's state, a histogram that an aggregate
 * changes in place.  Stored, copied or sent it is an ordinary value.
 */
typedef struct LbExpandedHistogram
{
	ExpandedObjectHeader header;
	int64		inputs;			/* rows in a moving frame that were not NULL */
	LbHistogram h;
} LbExpandedHistogram;

extern LbExpandedHistogram *lb_hist_expand(const LbHistogramScale *scale,
										   MemoryContext context);
extern LbExpandedHistogram *lb_hist_expanded(Datum datum);
extern LbExpandedHistogram *lb_hist_writable(Datum datum);

#endif							/* LB_HISTOGRAM_H */
