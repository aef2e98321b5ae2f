/*-------------------------------------------------------------------------
 *
 * histogram_value.c
 *	  lb_histogram as a Datum: flat, expanded, and loaded to work on.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "fmgr.h"
#include "utils/memutils.h"

#include "histogram/histogram.h"

/*
 * Scales this backend has used.  They are never freed, for working
 * histograms point to them; past the last slot a scale is made anew in the
 * current context, which is right, but slow.
 */
#define SCALES_KEPT		64

static const LbHistogramScale *scales[SCALES_KEPT];
static int	nscales = 0;

static Size flat_size(ExpandedObjectHeader *eohptr);
static void flatten_into(ExpandedObjectHeader *eohptr, void *result,
						 Size allocated_size);

static const ExpandedObjectMethods methods = {flat_size, flatten_into};

static void
check_parameters(int32 buckets, int64 ceiling)
{
	LbHistogramStatus status = lb_hist_check_parameters(buckets, ceiling);

	if (status == LB_HISTOGRAM_BAD_BUCKETS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a histogram cannot have %d buckets", buckets),
				 errhint("Give %d to %d buckets; the default is %d.",
						 LB_HISTOGRAM_BUCKETS_MIN, LB_HISTOGRAM_BUCKETS_MAX,
						 LB_HISTOGRAM_BUCKETS_DEFAULT)));
	if (status == LB_HISTOGRAM_BAD_CEILING)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a histogram cannot have the ceiling %lld",
						(long long) ceiling),
				 errhint("Give the greatest value to be told from greater ones, 2 or more; the default is %lld.",
						 (long long) LB_HISTOGRAM_CEILING_DEFAULT)));
}

const LbHistogramScale *
lb_hist_scale(int32 buckets, int64 ceiling)
{
	MemoryContext context;
	LbHistogramScale *scale;

	for (int i = 0; i < nscales; i++)
	{
		if (scales[i]->buckets == buckets && scales[i]->ceiling == ceiling)
			return scales[i];
	}

	check_parameters(buckets, ceiling);
	context = nscales < SCALES_KEPT ? TopMemoryContext : CurrentMemoryContext;
	scale = MemoryContextAlloc(context, lb_hist_scale_size(buckets));
	lb_hist_scale_init(scale, buckets, ceiling);
	if (nscales < SCALES_KEPT)
		scales[nscales++] = scale;
	return scale;
}

/* An empty histogram of a scale at hand. */
static LbHistogram *
create(const LbHistogramScale *scale)
{
	Size		header = MAXALIGN(sizeof(LbHistogram));
	char	   *chunk;
	LbHistogram *h;

	chunk = palloc(header +
				   sizeof(int64_t) * LB_HISTOGRAM_COUNTS(scale->buckets));
	h = (LbHistogram *) chunk;
	lb_hist_init(h, scale, (int64_t *) (chunk + header));
	return h;
}

static void
copy_counts(LbHistogram *to, const LbHistogram *from)
{
	to->total = from->total;
	memcpy(to->counts, from->counts,
		   sizeof(int64_t) * LB_HISTOGRAM_COUNTS(from->scale->buckets));
}

LbHistogram *
lb_hist_create(int32 buckets, int64 ceiling)
{
	return create(lb_hist_scale(buckets, ceiling));
}

/* The one way in for bytes; what is wrong with them is the given SQLSTATE. */
LbHistogram *
lb_hist_from_bytes(const uint8_t *bytes, size_t size, int sqlstate)
{
	LbHistogramStatus status;
	LbHistogram *h = NULL;
	int32_t		buckets;
	int64_t		ceiling;

	status = lb_hist_decode_header(bytes, size, &buckets, &ceiling);
	if (status == LB_HISTOGRAM_OK)
	{
		h = lb_hist_create(buckets, ceiling);
		status = lb_hist_decode(h, bytes, size);
	}
	if (status != LB_HISTOGRAM_OK)
		ereport(ERROR,
				(errcode(sqlstate),
				 errmsg("invalid bytes for type %s", "lb_histogram"),
				 errdetail("In the %zu bytes, %s.", size,
						   lb_hist_status_text(status)),
				 sqlstate == ERRCODE_DATA_CORRUPTED ?
				 errhint("The stored value is damaged: build it again from the values it counted.") :
				 errhint("Take the bytes from lb_histogram_send or COPY BINARY, unchanged.")));
	return h;
}

/* The expanded histogram behind a Datum, if it is one. */
LbExpandedHistogram *
lb_hist_expanded(Datum datum)
{
	ExpandedObjectHeader *header;

	if (!VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(datum)))
		return NULL;
	header = DatumGetEOHP(datum);
	return header->eoh_methods == &methods ? (LbExpandedHistogram *) header : NULL;
}

const LbHistogram *
lb_hist_read(Datum datum)
{
	LbExpandedHistogram *state = lb_hist_expanded(datum);
	struct varlena *flat;

	if (state != NULL)
		return &state->h;
	flat = PG_DETOAST_DATUM_PACKED(datum);
	return lb_hist_from_bytes((const uint8_t *) VARDATA_ANY(flat),
							  VARSIZE_ANY_EXHDR(flat),
							  ERRCODE_DATA_CORRUPTED);
}

LbHistogram *
lb_hist_load(Datum datum)
{
	const LbHistogram *h = lb_hist_read(datum);
	LbHistogram *copy;

	if (lb_hist_expanded(datum) == NULL)
		return (LbHistogram *) h;	/* just made from the bytes */
	copy = lb_hist_create(h->scale->buckets, h->scale->ceiling);
	copy_counts(copy, h);
	return copy;
}

Datum
lb_hist_store(const LbHistogram *h)
{
	Size		size = VARHDRSZ + lb_hist_encoded_size(h);
	struct varlena *flat = palloc(size);

	SET_VARSIZE(flat, size);
	lb_hist_encode(h, (uint8_t *) VARDATA(flat));
	return PointerGetDatum(flat);
}

void
lb_hist_check(LbHistogramStatus status)
{
	if (likely(status == LB_HISTOGRAM_OK))
		return;
	if (status == LB_HISTOGRAM_MISMATCH)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("histograms of different buckets or ceilings cannot be combined"),
				 errhint("Build both with the same number of buckets and the same ceiling.")));
	if (status == LB_HISTOGRAM_NEGATIVE)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("a bucket of the histogram would have fewer than no members"),
				 errhint("Take away only what was counted before.")));
	if (status == LB_HISTOGRAM_OVERFLOW)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("a histogram cannot have more than %lld members",
						(long long) PG_INT64_MAX),
				 errhint("Count fewer, or split them between several histograms.")));
	elog(ERROR, "unexpected histogram status %d", (int) status);
}

void
lb_hist_change(LbHistogram *h, int64 value, int64 n)
{
	lb_hist_check(lb_hist_try_change(h, value, n));
}

void
lb_hist_union(LbHistogram *into, const LbHistogram *other)
{
	lb_hist_check(lb_hist_try_union(into, other));
}

void
lb_hist_subtract(LbHistogram *from, const LbHistogram *other)
{
	lb_hist_check(lb_hist_try_subtract(from, other));
}

/* An empty expanded histogram, which dies with the context. */
LbExpandedHistogram *
lb_hist_expand(const LbHistogramScale *scale, MemoryContext context)
{
	Size		header = MAXALIGN(sizeof(LbExpandedHistogram));
	MemoryContext old = MemoryContextSwitchTo(context);
	char	   *chunk;
	LbExpandedHistogram *state;

	chunk = palloc(header +
				   sizeof(int64_t) * LB_HISTOGRAM_COUNTS(scale->buckets));
	state = (LbExpandedHistogram *) chunk;
	EOH_init_header(&state->header, &methods, context);
	state->inputs = 0;
	/* the scale may be one that was not kept: take one of our own */
	lb_hist_init(&state->h, lb_hist_scale(scale->buckets, scale->ceiling),
				 (int64_t *) (chunk + header));
	MemoryContextSwitchTo(old);
	return state;
}

/* The expanded histogram that this Datum entitles to change, or NULL. */
LbExpandedHistogram *
lb_hist_writable(Datum datum)
{
	if (!VARATT_IS_EXTERNAL_EXPANDED_RW(DatumGetPointer(datum)))
		return NULL;
	return lb_hist_expanded(datum);
}

static Size
flat_size(ExpandedObjectHeader *eohptr)
{
	return VARHDRSZ +
		lb_hist_encoded_size(&((LbExpandedHistogram *) eohptr)->h);
}

static void
flatten_into(ExpandedObjectHeader *eohptr, void *result, Size allocated_size)
{
	SET_VARSIZE(result, allocated_size);
	lb_hist_encode(&((LbExpandedHistogram *) eohptr)->h,
				   (uint8_t *) VARDATA(result));
}
