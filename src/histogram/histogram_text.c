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

#include <string.h>

static const char *
skip_space(const char *p)
{
	while (*p == ' ' || (*p >= '\t' && *p <= '\r'))
		p++;
	return p;
}

/* Step over a token, or leave *text where it fails. */
static bool
accept(const char **text, const char *token)
{
	size_t		length = strlen(token);

	*text = skip_space(*text);
	if (strncmp(*text, token, length) != 0)
		return false;
	*text += length;
	return true;
}

/* A decimal integer of up to 64 bits, or leave *text where it begins. */
static bool
accept_integer(const char **text, int64_t *result)
{
	const char *p = *text = skip_space(*text);
	bool		negative = *p == '-';
	uint64_t	limit = (uint64_t) INT64_MAX + negative;
	uint64_t	x = 0;

	p += negative;
	if (*p < '0' || *p > '9')
		return false;
	for (; *p >= '0' && *p <= '9'; p++)
	{
		uint64_t	digit = (uint64_t) (*p - '0');

		if (x > (limit - digit) / 10)
			return false;
		x = x * 10 + digit;
	}
	*result = (int64_t) (negative ? -x : x);
	*text = p;
	return true;
}

/*
 * Read as far as the parameters.  After an error *text is where it was seen.
 */
LbHistogramStatus
lb_hist_parse_header(const char **text, int32_t *buckets, int64_t *ceiling)
{
	const char *at;
	int64_t		n;
	LbHistogramStatus status;

	if (!accept(text, "{") || !accept(text, "buckets") || !accept(text, ":"))
		return LB_HISTOGRAM_SYNTAX;
	at = *text = skip_space(*text);
	if (!accept_integer(text, &n))
		return LB_HISTOGRAM_SYNTAX;
	status = lb_hist_check_parameters(n, LB_HISTOGRAM_CEILING_DEFAULT);
	if (status == LB_HISTOGRAM_OK)
	{
		*buckets = (int32_t) n;
		if (!accept(text, ",") || !accept(text, "ceiling") ||
			!accept(text, ":"))
			return LB_HISTOGRAM_SYNTAX;
		at = *text = skip_space(*text);
		if (!accept_integer(text, ceiling))
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
	const char *at = skip_space(*text);
	int64_t		bucket;
	int64_t		count;
	LbHistogramStatus status;

	if (!accept_integer(text, &bucket) || !accept(text, ":") ||
		!accept_integer(text, &count))
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

	if (!accept(text, ",") || !accept(text, "counts") ||
		!accept(text, ":") || !accept(text, "{"))
		return LB_HISTOGRAM_SYNTAX;
	if (!accept(text, "}"))
	{
		do
		{
			LbHistogramStatus status = parse_count(h, text, &previous);

			if (status != LB_HISTOGRAM_OK)
				return status;
		} while (accept(text, ","));
		if (!accept(text, "}"))
			return LB_HISTOGRAM_SYNTAX;
	}
	if (!accept(text, "}"))
		return LB_HISTOGRAM_SYNTAX;
	*text = skip_space(*text);
	return **text == '\0' ? LB_HISTOGRAM_OK : LB_HISTOGRAM_SYNTAX;
}
