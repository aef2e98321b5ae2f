/*-------------------------------------------------------------------------
 *
 * topk_io.c
 *	  lb_topk as text, on the wire, and as bytea.
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

#include "topk/topk.h"

PG_FUNCTION_INFO_V1(lb_topk_in);
PG_FUNCTION_INFO_V1(lb_topk_out);
PG_FUNCTION_INFO_V1(lb_topk_recv);
PG_FUNCTION_INFO_V1(lb_topk_send);
PG_FUNCTION_INFO_V1(lb_topk_from_bytea);

/* How much of a wrong text an error shows, in bytes. */
#define SHOWN_MAX	32

static void
report_text(LbTopkStatus status, const char *text, const char *at)
{
	int			shown = pg_mbcliplen(at, strlen(at), SHOWN_MAX);

	ereport(ERROR,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
			 errmsg("invalid input syntax for type %s", "lb_topk"),
			 *at == '\0' ?
			 errdetail("At the end of the text, %s.",
					   lb_topk_status_text(status)) :
			 errdetail("At byte %zu, \"%.*s\": %s.",
					   (size_t) (at - text) + 1, shown, at,
					   lb_topk_status_text(status)),
			 errhint("Write it like {capacity:100,total:20,bound:0,items:{\"ann\":[12,12],\"bob\":[8,8]}}, items in ascending order of their bytes, each with its low and high.")));
}

Datum
lb_topk_in(PG_FUNCTION_ARGS)
{
	const char *text = PG_GETARG_CSTRING(0);
	const char *at = text;
	struct varlena *flat = palloc(VARHDRSZ + strlen(text));
	size_t		size = 0;
	LbTopkStatus status;

	status = lb_topk_parse(&at, (uint8_t *) VARDATA(flat), &size);
	if (status != LB_TOPK_OK)
		report_text(status, text, at);
	SET_VARSIZE(flat, VARHDRSZ + size);
	PG_RETURN_POINTER(flat);
}

/* An item in quotes. */
static void
append_item(StringInfo text, const char *item, int length)
{
	appendStringInfoChar(text, '"');
	for (int i = 0; i < length; i++)
	{
		if (item[i] == '"' || item[i] == '\\')
			appendStringInfoChar(text, '\\');
		appendStringInfoChar(text, item[i]);
	}
	appendStringInfoChar(text, '"');
}

Datum
lb_topk_out(PG_FUNCTION_ARGS)
{
	LbTopkReader r;
	StringInfoData text;

	lb_topk_read(PG_GETARG_DATUM(0), &r);
	initStringInfo(&text);
	appendStringInfo(&text, "{capacity:%d,total:%lld,bound:%lld,items:{",
					 (int) r.capacity, (long long) r.total,
					 (long long) r.bound);
	while (lb_topk_next(&r))
	{
		if (r.number > 1)
			appendStringInfoChar(&text, ',');
		append_item(&text, r.item, r.length);
		appendStringInfo(&text, ":[%lld,%lld]", (long long) r.low,
						 (long long) r.high);
	}
	appendStringInfoString(&text, "}}");
	PG_RETURN_CSTRING(text.data);
}

Datum
lb_topk_recv(PG_FUNCTION_ARGS)
{
	StringInfo	message = (StringInfo) PG_GETARG_POINTER(0);
	int			size = message->len - message->cursor;
	const char *bytes = pq_getmsgbytes(message, size);

	PG_RETURN_DATUM(lb_topk_from_bytes((const uint8_t *) bytes, (size_t) size,
									   ERRCODE_INVALID_BINARY_REPRESENTATION));
}

/* Also the cast to bytea. */
Datum
lb_topk_send(PG_FUNCTION_ARGS)
{
	struct varlena *flat = PG_DETOAST_DATUM_PACKED(PG_GETARG_DATUM(0));

	/* checked, and with the length word of a bytea */
	PG_RETURN_DATUM(lb_topk_from_bytes((const uint8_t *) VARDATA_ANY(flat),
									   VARSIZE_ANY_EXHDR(flat),
									   ERRCODE_DATA_CORRUPTED));
}

/* The cast from bytea. */
Datum
lb_topk_from_bytea(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);

	PG_RETURN_DATUM(lb_topk_from_bytes((const uint8_t *) VARDATA_ANY(bytes),
									   VARSIZE_ANY_EXHDR(bytes),
									   ERRCODE_INVALID_BINARY_REPRESENTATION));
}
