/*-------------------------------------------------------------------------
 *
 * topk_text.c
 *	  Reading the text form of a sketch, without trusting it.
 *
 *		{capacity:100,total:20,bound:0,items:{"alice":[12,12],"bob":[8,8]}}
 *
 * White space may stand between any two tokens.  Items stand in quotes; a
 * quote or backslash in an item has a backslash before it.  Items ascend by
 * their bytes, so a text says what it says in nearly one way only.
 *
 *-------------------------------------------------------------------------
 */
#include "topk_core.h"

#include "scan.h"

/* "name : number" */
static bool
scan_named(const char **text, const char *name, int64_t *result)
{
	return lb_scan_token(text, name) && lb_scan_token(text, ":") &&
		lb_scan_integer(text, result);
}

/* An item in quotes, into a buffer of LB_TOPK_ITEM_MAX bytes. */
static LbTopkStatus
parse_quoted(const char **text, char *item, size_t *length)
{
	size_t		n = 0;
	const char *p;

	if (!lb_scan_token(text, "\""))
		return LB_TOPK_SYNTAX;
	for (p = *text; *p != '"'; p++)
	{
		*text = p;
		if (*p == '\\')
		{
			p++;
			if (*p != '"' && *p != '\\')
				return LB_TOPK_SYNTAX;
		}
		if (*p == '\0')
			return LB_TOPK_SYNTAX;
		if (n == LB_TOPK_ITEM_MAX)
			return LB_TOPK_LONG_ITEM;
		item[n++] = *p;
	}
	*text = p + 1;
	*length = n;
	return LB_TOPK_OK;
}

/* Read one "item":[low,high] and write it. */
static LbTopkStatus
parse_item(const char **text, LbTopkTally *tally, LbTopkWriter *w)
{
	const char *at = lb_scan_space(*text);
	char		item[LB_TOPK_ITEM_MAX];
	size_t		length;
	int64_t		low;
	int64_t		high;
	LbTopkStatus status = parse_quoted(text, item, &length);

	if (status != LB_TOPK_OK)
		return status;
	if (!lb_scan_token(text, ":") || !lb_scan_token(text, "[") ||
		!lb_scan_integer(text, &low) || !lb_scan_token(text, ",") ||
		!lb_scan_integer(text, &high) || !lb_scan_token(text, "]"))
		return LB_TOPK_SYNTAX;

	if (tally->items > 0 &&
		lb_topk_compare(w->item, w->length, item, length) >= 0)
		status = LB_TOPK_BAD_ORDER;
	else
		status = lb_topk_tally_item(tally, low, high);
	if (status == LB_TOPK_OK)
		lb_topk_write_item(w, item, length, low, high);
	else
		*text = at;
	return status;
}

/* Read what stands before the items. */
static LbTopkStatus
parse_header(const char **text, LbTopkTally *tally)
{
	const char *at;
	int64_t		capacity;
	int64_t		total;
	int64_t		bound;
	LbTopkStatus status;

	if (!lb_scan_token(text, "{"))
		return LB_TOPK_SYNTAX;
	at = *text;
	if (!scan_named(text, "capacity", &capacity) ||
		!lb_scan_token(text, ",") || !scan_named(text, "total", &total) ||
		!lb_scan_token(text, ",") || !scan_named(text, "bound", &bound))
		return LB_TOPK_SYNTAX;
	status = lb_topk_tally_begin(tally, capacity, total, bound);
	if (status != LB_TOPK_OK)
		*text = at;
	return status;
}

/*
 * Read a text and write its stored form to bytes, of which there must be as
 * many as the text has; the form is shorter.  After an error *text is where it
 * was seen.
 */
LbTopkStatus
lb_topk_parse(const char **text, uint8_t *bytes, size_t *size)
{
	LbTopkTally tally;
	LbTopkWriter w;
	LbTopkStatus status = parse_header(text, &tally);

	if (status != LB_TOPK_OK)
		return status;
	lb_topk_write_header(&w, bytes, tally.capacity, tally.total, tally.bound);
	if (!lb_scan_token(text, ",") || !lb_scan_token(text, "items") ||
		!lb_scan_token(text, ":") || !lb_scan_token(text, "{"))
		return LB_TOPK_SYNTAX;
	if (!lb_scan_token(text, "}"))
	{
		do
		{
			status = parse_item(text, &tally, &w);
			if (status != LB_TOPK_OK)
				return status;
		} while (lb_scan_token(text, ","));
		if (!lb_scan_token(text, "}"))
			return LB_TOPK_SYNTAX;
	}
	if (!lb_scan_token(text, "}"))
		return LB_TOPK_SYNTAX;
	*text = lb_scan_space(*text);
	if (**text != '\0')
		return LB_TOPK_SYNTAX;
	*size = (size_t) (w.next - bytes);
	return lb_topk_tally_end(&tally);
}
