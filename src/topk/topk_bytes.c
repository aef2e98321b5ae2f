/*-------------------------------------------------------------------------
 *
 * topk_bytes.c
 *	  The stored form of a sketch: what may be in it, reading, writing.
 *
 * The tally is the one place that knows which numbers are possible; bytes
 * and text both pass it.
 *
 *-------------------------------------------------------------------------
 */
#include "topk_core.h"

#include <string.h>

#include "varint.h"

/* Begin to look at a sketch; checks the numbers of its head. */
LbTopkStatus
lb_topk_tally_begin(LbTopkTally *tally, int64_t capacity, int64_t total,
					int64_t bound)
{
	if (capacity < LB_TOPK_CAPACITY_MIN || capacity > LB_TOPK_CAPACITY_MAX)
		return LB_TOPK_BAD_CAPACITY;
	if (total < 0 || bound < 0)
		return LB_TOPK_BAD_NUMBER;
	if (bound > total)
		return LB_TOPK_BAD_SUM;
	tally->capacity = (int32_t) capacity;
	tally->total = total;
	tally->bound = bound;
	tally->items = 0;
	tally->highs = 0;
	return LB_TOPK_OK;
}

/* The next item has these. */
LbTopkStatus
lb_topk_tally_item(LbTopkTally *tally, int64_t low, int64_t high)
{
	if (low < 1 || high < low)
		return LB_TOPK_BAD_NUMBER;
	if (high < tally->bound || high - low > tally->bound)
		return LB_TOPK_BAD_WIDTH;
	if (tally->items == tally->capacity)
		return LB_TOPK_BAD_ITEMS;
	if (high > tally->total - tally->bound - tally->highs)
		return LB_TOPK_BAD_SUM;
	tally->items++;
	tally->highs += high;
	return LB_TOPK_OK;
}

/*
 * There are no more items.  A bound is there because something was forgotten,
 * which happens to full sketches only; without one, everything is there.
 */
LbTopkStatus
lb_topk_tally_end(const LbTopkTally *tally)
{
	if (tally->bound > 0 && tally->items < tally->capacity)
		return LB_TOPK_BAD_ITEMS;
	if (tally->bound == 0 && tally->highs != tally->total)
		return LB_TOPK_BAD_SUM;
	return LB_TOPK_OK;
}

/* The order of items: by their bytes, the shorter of equal ones first. */
int
lb_topk_compare(const char *a, size_t a_length, const char *b, size_t b_length)
{
	int			cmp = memcmp(a, b, a_length < b_length ? a_length : b_length);

	if (cmp != 0)
		return cmp;
	return (a_length > b_length) - (a_length < b_length);
}

static LbTopkStatus
get_number(const uint8_t **p, const uint8_t *end, int64_t *x)
{
	switch (lb_varint_get(p, end, x))
	{
		case LB_VARINT_OK:
			return LB_TOPK_OK;
		case LB_VARINT_SHORT:
			return LB_TOPK_SHORT;
		default:
			return LB_TOPK_NOT_CANONICAL;
	}
}

/*
 * Read an item: how many bytes it shares with the one before, how many of its
 * own follow, those.  As many are shared as can be, so that it is written in
 * one way only, and what follows them says which of the two is greater.
 */
static LbTopkStatus
read_item(LbTopkReader *r)
{
	LbTopkStatus status;
	int64_t		shared;
	int64_t		own;

	status = get_number(&r->next, r->end, &shared);
	if (status == LB_TOPK_OK)
		status = get_number(&r->next, r->end, &own);
	if (status != LB_TOPK_OK)
		return status;
	if (shared > r->length)
		return LB_TOPK_NOT_CANONICAL;
	if (own > LB_TOPK_ITEM_MAX - shared)
		return LB_TOPK_LONG_ITEM;
	if (own > r->end - r->next)
		return LB_TOPK_SHORT;
	if (r->number > 0)
	{
		if (own == 0)
			return LB_TOPK_BAD_ORDER;
		if (shared < r->length)
		{
			if (*r->next == (uint8_t) r->item[shared])
				return LB_TOPK_NOT_CANONICAL;
			if (*r->next < (uint8_t) r->item[shared])
				return LB_TOPK_BAD_ORDER;
		}
	}
	memcpy(r->item + shared, r->next, (size_t) own);
	r->length = (uint8_t) (shared + own);
	r->next += own;
	return LB_TOPK_OK;
}

/* Read an item with its numbers. */
static LbTopkStatus
read_entry(LbTopkReader *r)
{
	LbTopkStatus status = read_item(r);
	int64_t		width = 0;

	if (status == LB_TOPK_OK)
		status = get_number(&r->next, r->end, &r->low);
	if (status == LB_TOPK_OK && r->bound > 0)
		status = get_number(&r->next, r->end, &width);
	if (status != LB_TOPK_OK)
		return status;
	if (width > r->bound)
		return LB_TOPK_BAD_WIDTH;
	if (r->low > INT64_MAX - width)
		return LB_TOPK_BAD_SUM;
	r->high = r->low + width;
	r->number++;
	return LB_TOPK_OK;
}

static LbTopkStatus
read_header(LbTopkReader *r, const uint8_t *bytes, size_t size)
{
	LbTopkStatus status;

	/* say of foreign bytes what they are rather than how long */
	if (size >= 1 && bytes[0] != LB_TOPK_VERSION)
		return LB_TOPK_BAD_VERSION;
	if (size < LB_TOPK_HEADER_SIZE)
		return LB_TOPK_SHORT;
	if (bytes[1] != 0)
		return LB_TOPK_BAD_FLAGS;
	r->capacity = bytes[2] | bytes[3] << 8;
	r->next = bytes + LB_TOPK_HEADER_SIZE;
	r->end = bytes + size;
	status = get_number(&r->next, r->end, &r->total);
	if (status == LB_TOPK_OK)
		status = get_number(&r->next, r->end, &r->bound);
	r->first = r->next;
	return status;
}

static void
rewind_items(LbTopkReader *r)
{
	r->next = r->first;
	r->number = 0;
	r->length = 0;
}

/*
 * Check stored bytes, all of them, and begin to read them: the head is in *r,
 * and lb_topk_next finds the items.  The bytes must stay as they are.
 */
LbTopkStatus
lb_topk_open(LbTopkReader *r, const uint8_t *bytes, size_t size)
{
	LbTopkTally tally;
	LbTopkStatus status = read_header(r, bytes, size);

	if (status == LB_TOPK_OK)
		status = lb_topk_tally_begin(&tally, r->capacity, r->total, r->bound);
	if (status != LB_TOPK_OK)
		return status;
	rewind_items(r);
	while (r->next < r->end)
	{
		status = read_entry(r);
		if (status == LB_TOPK_OK)
			status = lb_topk_tally_item(&tally, r->low, r->high);
		if (status != LB_TOPK_OK)
			return status;
	}
	r->items = r->number;
	rewind_items(r);
	return lb_topk_tally_end(&tally);
}

/* The next item, in ascending order of bytes; false when there is none. */
bool
lb_topk_next(LbTopkReader *r)
{
	return r->next < r->end && read_entry(r) == LB_TOPK_OK;
}

/*
 * Between what the weight of an item is, tracked or not.  It reads from the
 * first item on, and leaves the reader there.
 */
void
lb_topk_find(LbTopkReader *r, const char *item, size_t length,
			 int64_t *low, int64_t *high)
{
	*low = 0;
	*high = r->bound;
	rewind_items(r);
	while (lb_topk_next(r))
	{
		int			cmp = lb_topk_compare(r->item, r->length, item, length);

		if (cmp == 0)
		{
			*low = r->low;
			*high = r->high;
		}
		if (cmp >= 0)
			break;
	}
	rewind_items(r);
}

/* Write a sketch: first its head. */
void
lb_topk_write_header(LbTopkWriter *w, uint8_t *bytes, int32_t capacity,
					 int64_t total, int64_t bound)
{
	bytes[0] = LB_TOPK_VERSION;
	bytes[1] = 0;
	bytes[2] = (uint8_t) capacity;
	bytes[3] = (uint8_t) (capacity >> 8);
	w->next = lb_varint_put(bytes + LB_TOPK_HEADER_SIZE, (uint64_t) total);
	w->next = lb_varint_put(w->next, (uint64_t) bound);
	w->exact = bound == 0;
	w->length = 0;
}

/* Then its items, in ascending order of bytes. */
void
lb_topk_write_item(LbTopkWriter *w, const char *item, size_t length,
				   int64_t low, int64_t high)
{
	size_t		shared = 0;

	while (shared < w->length && shared < length &&
		   w->item[shared] == item[shared])
		shared++;
	w->next = lb_varint_put(w->next, shared);
	w->next = lb_varint_put(w->next, length - shared);
	memcpy(w->next, item + shared, length - shared);
	w->next = lb_varint_put(w->next + (length - shared), (uint64_t) low);
	if (!w->exact)
		w->next = lb_varint_put(w->next, (uint64_t) (high - low));
	memcpy(w->item + shared, item + shared, length - shared);
	w->length = (uint8_t) length;
}
