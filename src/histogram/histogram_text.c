/*-------------------------------------------------------------------------
 *
 * histogram_text.c
 *	  Reading the text form of a histogram, without trusting it.
 *
 *		{buckets:128,ceiling:1000000000000,counts:{-3:1,0:5,32:17}}
 *
 * White space may stand between any two tokens.  Buckets ascend and have
 * members, so a text says what it says in one way only.
 *
 *-------------------------------------------------------------------------
 */
#include "histogram_core.h"

#include "scan.h"

/*
 * Read as far as the parameters.  After an error *text is where it was seen.
 */
LbHistogramStatus
lb_hist_parse_header(const char **text, int32_t *buckets, int64_t *ceiling)
{
	const char *at;
	int64_t		n;
	LbHistogramStatus status;

	if (!lb_scan_token(text, "{") || !lb_scan_token(text, "buckets") || !lb_scan_token(text, ":"))
		return LB_HISTOGRAM_SYNTAX;
	at = *text = lb_scan_space(*text);
	if (!lb_scan_integer(text, &n))
		return LB_HISTOGRAM_SYNTAX;
	status = lb_hist_check_parameters(n, LB_HISTOGRAM_CEILING_DEFAULT);
	if (status == LB_HISTOGRAM_OK)
	{
		*buckets = (int32_t) n;
		if (!lb_scan_token(text, ",") || !lb_scan_token(text, "ceiling") ||
			!lb_scan_token(text, ":"))
			return LB_HISTOGRAM_SYNTAX;
		at = *text = lb_scan_space(*text);
		if (!lb_scan_integer(text, ceiling))
			return LB_HISTOGRAM_SYNTAX;
		status = lb_hist_check_parameters(*buckets, *ceiling);
	}
	if (status != LB_HISTOGRAM_OK)
		*text = at;
	return status;
}

/* Read one "bucket:count", which must be above *previous. */
static LbHistogramStatus
parse_count(LbHistogram *h, const char **text, int64_t *previous)
{
	const char *at = lb_scan_space(*text);
	int64_t		bucket;
	int64_t		count;
	LbHistogramStatus status;

	if (!lb_scan_integer(text, &bucket) || !lb_scan_token(text, ":") ||
		!lb_scan_integer(text, &count))
		return LB_HISTOGRAM_SYNTAX;

	if (!lb_hist_bucket_exists(h->scale, bucket))
		status = LB_HISTOGRAM_BAD_BUCKET;
	else if (bucket <= *previous)
		status = LB_HISTOGRAM_BAD_ORDER;
	else if (count <= 0)
		status = LB_HISTOGRAM_BAD_COUNT;
	else
		status = lb_hist_try_change_bucket(h, (int32_t) bucket, count);

	*previous = bucket;
	if (status != LB_HISTOGRAM_OK)
		*text = at;
	return status;
}

/*
 * Read the rest, after the header, into h: an empty histogram of those
 * parameters.  After an error *text is where it was seen and h is worthless.
 */
LbHistogramStatus
lb_hist_parse_counts(LbHistogram *h, const char **text)
{
	int64_t		previous = -h->scale->buckets;

	if (!lb_scan_token(text, ",") || !lb_scan_token(text, "counts") ||
		!lb_scan_token(text, ":") || !lb_scan_token(text, "{"))
		return LB_HISTOGRAM_SYNTAX;
	if (!lb_scan_token(text, "}"))
	{
		do
		{
			LbHistogramStatus status = parse_count(h, text, &previous);

			if (status != LB_HISTOGRAM_OK)
				return status;
		} while (lb_scan_token(text, ","));
		if (!lb_scan_token(text, "}"))
			return LB_HISTOGRAM_SYNTAX;
	}
	if (!lb_scan_token(text, "}"))
		return LB_HISTOGRAM_SYNTAX;
	*text = lb_scan_space(*text);
	return **text == '\0' ? LB_HISTOGRAM_OK : LB_HISTOGRAM_SYNTAX;
}
