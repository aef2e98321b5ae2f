/*-------------------------------------------------------------------------
 *
 * histogram_io.c
 *	  lb_histogram as text and on the wire.
 *
 * The wire form is the stored form without its length word.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "libpq/pqformat.h"
#include "mb/pg_wchar.h"

#include "histogram/histogram.h"

PG_FUNCTION_INFO_V1(lb_histogram_in);
PG_FUNCTION_INFO_V1(lb_histogram_out);
PG_FUNCTION_INFO_V1(lb_histogram_recv);
PG_FUNCTION_INFO_V1(lb_histogram_send);

/* How much of a wrong text an error shows, in bytes. */
#define SHOWN_MAX	32

static void
report_text(LbHistogramStatus status, const char *text, const char *at)
{
	int			shown = pg_mbcliplen(at, strlen(at), SHOWN_MAX);

	ereport(ERROR,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
			 errmsg("invalid input syntax for type %s", "lb_histogram"),
			 *at == '\0' ?
			 errdetail("At the end of the text, %s.",
					   lb_hist_status_text(status)) :
			 errdetail("At byte %zu, \"%.*s\": %s.",
					   (size_t) (at - text) + 1, shown, at,
					   lb_hist_status_text(status)),
			 errhint("Write it like {buckets:128,ceiling:1000000000000,counts:{0:5,32:17}}, buckets in ascending order.")));
}

Datum
lb_histogram_in(PG_FUNCTION_ARGS)
{
	const char *text = PG_GETARG_CSTRING(0);
	const char *at = text;
	LbHistogramStatus status;
	LbHistogram *h = NULL;
	int32_t		buckets;
	int64_t		ceiling;

	status = lb_hist_parse_header(&at, &buckets, &ceiling);
	if (status == LB_HISTOGRAM_OK)
	{
		h = lb_hist_create(buckets, ceiling);
		status = lb_hist_parse_counts(h, &at);
	}
	if (status != LB_HISTOGRAM_OK)
		report_text(status, text, at);
	PG_RETURN_DATUM(lb_hist_store(h));
}

Datum
lb_histogram_out(PG_FUNCTION_ARGS)
{
	const LbHistogram *h = lb_hist_read(PG_GETARG_DATUM(0));
	int32_t		bucket = -h->scale->buckets;
	const char *separator = "";
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "{buckets:%d,ceiling:%lld,counts:{",
					 (int) h->scale->buckets, (long long) h->scale->ceiling);
	while (lb_hist_next(h, &bucket))
	{
		appendStringInfo(&text, "%s%d:%lld", separator, (int) bucket,
						 (long long) lb_hist_members(h, bucket));
		separator = ",";
	}
	appendStringInfoString(&text, "}}");
	PG_RETURN_CSTRING(text.data);
}

Datum
lb_histogram_recv(PG_FUNCTION_ARGS)
{
	StringInfo	message = (StringInfo) PG_GETARG_POINTER(0);
	int			size = message->len - message->cursor;
	const char *bytes = pq_getmsgbytes(message, size);

	PG_RETURN_DATUM(lb_hist_store(lb_hist_from_bytes((const uint8_t *) bytes,
													 (size_t) size,
													 ERRCODE_INVALID_BINARY_REPRESENTATION)));
}

Datum
lb_histogram_send(PG_FUNCTION_ARGS)
{
	const LbHistogram *h = lb_hist_read(PG_GETARG_DATUM(0));

	/* a varlena that begins with the length word is a bytea */
	PG_RETURN_DATUM(lb_hist_store(h));
}
