/*-------------------------------------------------------------------------
 *
 * ranktree_page.c
 *	  Reading one page in place: opening, searching, decoding.
 *
 * Columns have a fixed width within a page, so every search is a binary
 * search over the bytes as they are stored; nothing is unpacked for it.
 *
 *-------------------------------------------------------------------------
 */
#include "ranktree_page.h"

/* Sum of n bytes, a word at a time: eight lanes, folded by multiplication. */
static int
sum_bytes(const uint8_t *bytes, int n)
{
	const uint64_t odd = UINT64_C(0x00FF00FF00FF00FF);
	int			sum = 0;
	int			i;

	for (i = 0; i + 8 <= n; i += 8)
	{
		uint64_t	word = lb_rank_load(bytes + i);

		word = (word & odd) + ((word >> 8) & odd);
		sum += (int) ((word * UINT64_C(0x0001000100010001)) >> 48);
	}
	for (; i < n; i++)
		sum += bytes[i];
	return sum;
}

/* Takes the fixed part; NULL, or what is wrong with it. */
static const char *
open_header(LbRankPage *page, const uint8_t *body, int size)
{
	if (size < LB_RANK_LEAF_HEADER || size > LB_PAGE_MAX)
		return "page has an impossible size";
	if (body[0] != LB_RANK_PAGE_VERSION)
		return "page has an unknown version";
	if ((body[1] & ~LB_RANK_FLAGS_KNOWN) != 0)
		return "page has unknown flags";

	page->level = body[2];
	page->prefix_len = body[3];
	page->n = body[4] | body[5] << 8;
	page->key_width = body[6] & 0x0F;
	page->time_width = body[6] >> 4;
	page->even_len = (body[1] & LB_RANK_FLAG_EVEN) ? body[7] : -1;
	page->key_base = (int64_t) lb_rank_load(body + 8);
	page->time_base = (int64_t) lb_rank_load(body + 16);
	page->id_base = 0;
	page->id_width = page->count_width = page->distinct_width = 0;
	page->slots = page->n;

	if (page->even_len < 0 && body[7] != 0)
		return "page has a length where none belongs";
	if (page->level > LB_RANK_LEVEL_MAX)
		return "page has an impossible level";
	if (page->level > 0)
	{
		if (size < LB_RANK_INNER_HEADER)
			return "page has an impossible size";
		page->id_base = (int64_t) lb_rank_load(body + 24);
		page->id_width = body[32] & 0x0F;
		page->count_width = body[32] >> 4;
		page->distinct_width = body[33];
		page->slots = page->n - 1;
	}
	if (page->key_width > 8 || page->time_width > 8 || page->id_width > 8 ||
		page->count_width > LB_RANK_COUNT_WIDTH_MAX ||
		page->distinct_width > LB_RANK_COUNT_WIDTH_MAX)
		return "page has a column too wide";
	if (page->prefix_len > LB_RANK_MEMBER_MAX)
		return "page has a member prefix too long";
	if (page->n < (page->level > 0 ? 2 : 1))
		return "page has too few entries";
	return NULL;
}

/*
 * Takes a body for reading.  NULL, or what is wrong.  Whatever the bytes,
 * after NULL the accessors stay inside them; an entry's member may still be
 * longer than allowed, which lb_rank_page_entry cuts.
 */
const char *
lb_rank_page_open(LbRankPage *page, const uint8_t *body, int size)
{
	const char *problem = open_header(page, body, size);
	const uint8_t *at;
	int			lengths;
	int			fixed;

	if (problem != NULL)
		return problem;

	/* n < 65536 and widths <= 8, so nothing here can overflow an int */
	lengths = page->even_len < 0 ? page->slots : 0;
	fixed = (page->level > 0 ? LB_RANK_INNER_HEADER : LB_RANK_LEAF_HEADER) +
		page->n * (page->key_width + page->id_width + page->count_width +
				   page->distinct_width) +
		page->slots * page->time_width + lengths + page->prefix_len;
	if (fixed > size)
		return "page is shorter than its entries";

	at = body + (page->level > 0 ? LB_RANK_INNER_HEADER : LB_RANK_LEAF_HEADER);
	page->keys = at;
	at += page->n * page->key_width;
	page->times = at;
	at += page->slots * page->time_width;
	page->ids = at;
	at += page->n * page->id_width;
	page->counts = at;
	at += page->n * page->count_width;
	page->distincts = at;
	at += page->n * page->distinct_width;
	page->lengths = at;
	at += lengths;
	page->prefix = at;
	page->heap = body + fixed;

	if (page->even_len < 0)
		page->heap_size = sum_bytes(page->lengths, page->slots);
	else
		page->heap_size = page->slots * page->even_len;
	if (fixed + page->heap_size != size)
		return "page size does not fit its members";
	return NULL;
}

/* Items of a sorted column that are smaller than `target`. */
static inline int
column_bound(const uint8_t *column, int width, int n, uint64_t target)
{
	int			first = 0;

	if (width == 0)
		return target > 0 ? n : 0;
	while (n > 1)
	{
		int			half = n / 2;

		/* no branch to mispredict: the compiler makes this a select */
		first += lb_rank_column(column, width, first + half - 1) < target ?
			half : 0;
		n -= half;
	}
	if (n == 1 && lb_rank_column(column, width, first) < target)
		first++;
	return first;
}

/* How many keys of the page are smaller than rank_key. */
int
lb_rank_page_lower_bound(const LbRankPage *page, int64_t rank_key)
{
	if (rank_key <= page->key_base)
		return 0;
	return column_bound(page->keys, page->key_width, page->n,
						(uint64_t) rank_key - (uint64_t) page->key_base);
}

/* How many keys of the page are smaller than rank_key or equal to it. */
int
lb_rank_page_upper_bound(const LbRankPage *page, int64_t rank_key)
{
	if (rank_key == INT64_MAX)
		return page->n;
	return lb_rank_page_lower_bound(page, rank_key + 1);
}

/* The child that holds the entry at a position, counted from 0, or n. */
int
lb_rank_page_through_bound(const LbRankPage *page, int64_t position)
{
	return column_bound(page->counts, page->count_width, page->n,
						(uint64_t) position + 1);
}

/* Where the suffix of a slot begins in the heap. */
int
lb_rank_page_heap_at(const LbRankPage *page, int slot)
{
	if (page->even_len >= 0)
		return slot * page->even_len;
	return sum_bytes(page->lengths, slot);
}

static int
compare_member(const LbRankPage *page, int slot, const uint8_t *member,
			   int len)
{
	int			common = len < page->prefix_len ? len : page->prefix_len;
	int			order = memcmp(page->prefix, member, (size_t) common);
	int			suffix_len;

	if (order != 0)
		return order;
	if (len < page->prefix_len)
		return 1;

	member += common;
	len -= common;
	suffix_len = lb_rank_page_length(page, slot);
	common = len < suffix_len ? len : suffix_len;
	order = memcmp(page->heap + lb_rank_page_heap_at(page, slot), member,
				   (size_t) common);
	return order != 0 ? order : suffix_len - len;
}

/*
 * Among entries first .. end - 1, which share the entry's rank_key: how many
 * entries of the page are smaller than it, and whether it is there itself.
 * In an inner page the same of separators.
 */
int
lb_rank_page_find(const LbRankPage *page, int first, int end,
				  const LbRankEntry *entry, bool *found)
{
	int			slot_of_first = page->level > 0 ? -1 : 0;

	*found = false;
	while (first < end)
	{
		int			middle = first + (end - first) / 2;
		int			slot = middle + slot_of_first;
		int64_t		reached_at = lb_rank_page_time(page, slot);
		int			order;

		if (reached_at != entry->reached_at)
			order = reached_at < entry->reached_at ? -1 : 1;
		else
			order = compare_member(page, slot, entry->member,
								   entry->member_len);
		if (order == 0)
		{
			*found = true;
			return middle;
		}
		if (order < 0)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

/* How many different keys entries 0 .. end - 1 of a leaf have. */
int
lb_rank_page_distinct(const LbRankPage *page, int end)
{
	int			distinct = 1;
	uint64_t	last = 0;		/* the first key is the base */
	int			i;

	if (end <= 0)
		return 0;
	if (page->key_width == 0)
		return 1;
	for (i = 1; i < end; i++)
	{
		uint64_t	code = lb_rank_column(page->keys, page->key_width, i);

		distinct += code != last;
		last = code;
	}
	return distinct;
}

/*
 * Decodes entry i of a leaf, or the separator before child i of an inner
 * page (before child 0 stands its bare rank_key).  `heap_at` is where its
 * suffix begins; returns where the next one does.  The member is put
 * together in `buffer`, LB_RANK_MEMBER_MAX bytes.
 */
int
lb_rank_page_entry(const LbRankPage *page, int i, int heap_at,
				   uint8_t *buffer, LbRankEntry *entry)
{
	int			slot = page->level > 0 ? i - 1 : i;
	int			len;
	int			kept;

	entry->rank_key = lb_rank_page_key(page, i);
	entry->member = buffer;
	if (slot < 0)
	{
		entry->reached_at = INT64_MIN;
		entry->member_len = 0;
		return heap_at;
	}

	entry->reached_at = lb_rank_page_time(page, slot);
	len = lb_rank_page_length(page, slot);
	kept = LB_RANK_MEMBER_MAX - page->prefix_len;
	if (kept > len)
		kept = len;
	memcpy(buffer, page->prefix, (size_t) page->prefix_len);
	memcpy(buffer + page->prefix_len, page->heap + heap_at, (size_t) kept);
	entry->member_len = page->prefix_len + kept;
	return heap_at + len;
}
