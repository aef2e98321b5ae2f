/*-------------------------------------------------------------------------
 *
 * hll_io.c
 *	  lb_hll as text, on the wire and as bytea.
 *
 * The wire form is the stored form without its length word, the text form is
 * \x and the wire form in hexadecimal.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "libpq/pqformat.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"

#include "hll/hll.h"

PG_FUNCTION_INFO_V1(lb_hll_in);
PG_FUNCTION_INFO_V1(lb_hll_out);
PG_FUNCTION_INFO_V1(lb_hll_recv);
PG_FUNCTION_INFO_V1(lb_hll_send);
PG_FUNCTION_INFO_V1(lb_hll_from_bytea);

/* How much of a wrong text an error shows, in bytes. */
#define SHOWN_MAX	32

static void
report_text(LbHllStatus status, const char *text, const char *at)
{
	int			shown = pg_mbcliplen(at, (int) strlen(at), SHOWN_MAX);

	ereport(ERROR,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
			 errmsg("invalid input syntax for type %s", "lb_hll"),
			 *at == '\0' ?
			 errdetail("At the end of the text, %s.",
					   lb_hll_status_text(status)) :
			 errdetail("At byte %zu, \"%.*s\": %s.",
					   (size_t) (at - text) + 1, shown, at,
					   lb_hll_status_text(status)),
			 errhint("Write the text that lb_hll gives, like \\x01000e0000 for an empty sketch; lb_hll_agg builds one from values.")));
}

Datum
lb_hll_in(PG_FUNCTION_ARGS)
{
	const char *text = PG_GETARG_CSTRING(0);
	const char *at;
	uint8_t    *bytes = palloc(strlen(text) / 2 + 1);
	size_t		size;
	LbHllStatus status = lb_hll_parse(text, &at, bytes, &size);
	LbHll		h;

	if (status != LB_HLL_OK)
		report_text(status, text, at);
	lb_hll_load_bytes(&h, bytes, size, ERRCODE_INVALID_TEXT_REPRESENTATION);
	PG_RETURN_DATUM(lb_hll_store(&h));
}

Datum
lb_hll_out(PG_FUNCTION_ARGS)
{
	struct varlena *flat = lb_hll_flat(PG_GETARG_DATUM(0));
	size_t		size = VARSIZE_ANY_EXHDR(flat);
	char	   *text = palloc(2 + 2 * size + 1);

	text[0] = '\\';
	text[1] = 'x';
	hex_encode(VARDATA_ANY(flat), size, text + 2);
	text[2 + 2 * size] = '\0';
	PG_RETURN_CSTRING(text);
}

Datum
lb_hll_recv(PG_FUNCTION_ARGS)
{
	StringInfo	message = (StringInfo) PG_GETARG_POINTER(0);
	int			size = message->len - message->cursor;
	const char *bytes = pq_getmsgbytes(message, size);
	LbHll		h;

	lb_hll_load_bytes(&h, (const uint8_t *) bytes, (size_t) size,
					  ERRCODE_INVALID_BINARY_REPRESENTATION);
	PG_RETURN_DATUM(lb_hll_store(&h));
}

/* Also the cast to bytea: the two are laid out alike. */
Datum
lb_hll_send(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(lb_hll_flat(PG_GETARG_DATUM(0)));
}

/* The cast from bytea. */
Datum
lb_hll_from_bytea(PG_FUNCTION_ARGS)
{
	struct varlena *bytes = PG_GETARG_VARLENA_PP(0);
	LbHll		h;

	lb_hll_load_bytes(&h, (const uint8_t *) VARDATA_ANY(bytes),
					  VARSIZE_ANY_EXHDR(bytes),
					  ERRCODE_INVALID_BINARY_REPRESENTATION);
	PG_RETURN_DATUM(lb_hll_store(&h));
}
