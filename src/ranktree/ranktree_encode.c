/*-------------------------------------------------------------------------
 *
 * ranktree_encode.c
 *	  Comparing and separating entries; measuring, writing and validating
 *	  pages.
 *
 * The same measure decides how many records go into a page, writes its
 * header and judges a stranger's page, so the three cannot disagree: equal
 * records are equal bytes.
 *
 *-------------------------------------------------------------------------
 */
#include "ranktree_page.h"

/* Board order: negative, zero or positive. */
int
lb_rank_entry_compare(const LbRankEntry *a, const LbRankEntry *b)
{
	int			common;
	int			order;

	if (a->rank_key != b->rank_key)
		return a->rank_key < b->rank_key ? -1 : 1;
	if (a->reached_at != b->reached_at)
		return a->reached_at < b->reached_at ? -1 : 1;
	common = a->member_len < b->member_len ? a->member_len : b->member_len;
	order = memcmp(a->member, b->member, (size_t) common);
	return order != 0 ? order : a->member_len - b->member_len;
}

/*
 * The shortest place with left < place <= right, for left < right: the bare
 * rank_key where that differs, else with the time, else with as much of the
 * member as is needed.  It points into right's member.
 */
void
lb_rank_entry_separate(const LbRankEntry *left, const LbRankEntry *right,
					   LbRankEntry *separator)
{
	int			same = 0;

	separator->rank_key = right->rank_key;
	separator->reached_at = INT64_MIN;
	separator->member = right->member;
	separator->member_len = 0;
	if (left->rank_key != right->rank_key)
		return;
	separator->reached_at = right->reached_at;
	if (left->reached_at != right->reached_at)
		return;
	while (same < left->member_len && same < right->member_len &&
		   left->member[same] == right->member[same])
		same++;
	separator->member_len = same + 1;
}

/* Bytes that an unsigned number needs; none for zero. */
static inline int
width_of(uint64_t number)
{
	return number == 0 ? 0 : (71 - __builtin_clzll(number)) / 8;
}

static inline uint64_t
distance(int64_t from, int64_t to)
{
	return (uint64_t) to - (uint64_t) from;
}

void
lb_rank_measure_start(LbRankMeasure *measure, int level)
{
	memset(measure, 0, sizeof(*measure));
	measure->level = level;
	measure->even = true;
}

/* Takes the time of the next slot; INT64_MIN is free in inner pages. */
static void
measure_time(LbRankMeasure *measure, int64_t reached_at)
{
	uint64_t	code;

	if (measure->level > 0 && reached_at == INT64_MIN)
		return;
	if (!measure->timed)
	{
		measure->timed = true;
		measure->time_base = measure->time_last = reached_at;
	}
	else if (reached_at < measure->time_base)
		measure->time_base = reached_at;
	else if (reached_at > measure->time_last)
		measure->time_last = reached_at;

	code = distance(measure->time_base, measure->time_last);
	if (measure->level > 0)
		code++;					/* base > INT64_MIN, so this has room */
	measure->time_width = width_of(code);
}

/* Takes the member of the next slot. */
static void
measure_member(LbRankMeasure *measure, const uint8_t *member, int len)
{
	int			same = 0;

	measure->member_bytes += len;
	if (measure->slots++ == 0)
	{
		measure->first_member = member;
		measure->first_len = measure->prefix_len = len;
		return;
	}
	if (len != measure->first_len)
		measure->even = false;
	if (len >= measure->prefix_len &&
		memcmp(member, measure->first_member,
			   (size_t) measure->prefix_len) == 0)
		return;
	while (same < len && same < measure->prefix_len &&
		   member[same] == measure->first_member[same])
		same++;
	measure->prefix_len = same;
}

/* Takes what only inner pages keep of a child. */
static void
measure_child(LbRankMeasure *measure, int64_t child, int64_t count,
			  int64_t distinct)
{
	if (measure->n == 0)
		measure->id_base = measure->id_last = child;
	else if (child < measure->id_base)
		measure->id_base = child;
	else if (child > measure->id_last)
		measure->id_last = child;
	measure->count += count;
	measure->distinct += distinct;
	measure->id_width = width_of(distance(measure->id_base,
										  measure->id_last));
	measure->count_width = width_of((uint64_t) measure->count);

	/* where no rank_key is shared the counts say it all */
	measure->distinct_width = measure->distinct == measure->count ? 0 :
		width_of((uint64_t) measure->distinct);
}

/*
 * Adds the next record and returns the size of the page so far; it never
 * shrinks.  In an inner page `entry` is the separator before the child, of
 * which the first is kept as its bare rank_key, and `distinct` all rank_keys
 * below the child.
 */
int
lb_rank_measure_add(LbRankMeasure *measure, const LbRankEntry *entry,
					int64_t child, int64_t count, int64_t distinct)
{
	int			slots;

	if (measure->n == 0)
		measure->key_base = entry->rank_key;
	measure->key_last = entry->rank_key;
	measure->key_width = width_of(distance(measure->key_base,
										   measure->key_last));

	if (measure->level > 0)
	{
		if (measure->n > 0 && lb_rank_separator_continues(entry))
			distinct--;			/* counted with the child before */
		measure_child(measure, child, count, distinct);
	}
	if (measure->level == 0 || measure->n > 0)
	{
		measure_time(measure, entry->reached_at);
		measure_member(measure, entry->member, entry->member_len);
	}
	measure->n++;

	slots = measure->slots;
	measure->size = measure->n * (measure->key_width + measure->id_width +
								  measure->count_width +
								  measure->distinct_width) +
		slots * measure->time_width + (measure->even ? 0 : slots) +
		measure->prefix_len + measure->member_bytes -
		slots * measure->prefix_len +
		(measure->level > 0 ? LB_RANK_INNER_HEADER : LB_RANK_LEAF_HEADER);
	return measure->size;
}

static void
encode_header(uint8_t *body, const LbRankMeasure *measure)
{
	body[0] = LB_RANK_PAGE_VERSION;
	body[1] = measure->even ? LB_RANK_FLAG_EVEN : 0;
	body[2] = (uint8_t) measure->level;
	body[3] = (uint8_t) measure->prefix_len;
	body[4] = (uint8_t) measure->n;
	body[5] = (uint8_t) (measure->n >> 8);
	body[6] = (uint8_t) (measure->key_width | measure->time_width << 4);
	body[7] = measure->even ?
		(uint8_t) (measure->first_len - measure->prefix_len) : 0;
	lb_rank_store_word(body + 8, (uint64_t) measure->key_base);
	lb_rank_store_word(body + 16, (uint64_t) measure->time_base);
	if (measure->level > 0)
	{
		lb_rank_store_word(body + 24, (uint64_t) measure->id_base);
		body[32] = (uint8_t) (measure->id_width | measure->count_width << 4);
		body[33] = (uint8_t) measure->distinct_width;
	}
}

/*
 * The columns that only inner pages have.  Here as elsewhere a word is
 * stored and the next item overwrites what was too much of it.
 */
static uint8_t *
encode_children(uint8_t *at, const LbRankMeasure *measure,
				const LbRankRecord *records, int n, const uint8_t *bytes)
{
	uint64_t	sum = 0;
	int			i;

	for (i = 0; i < n; i++, at += measure->id_width)
		lb_rank_store_word(at, distance(measure->id_base, records[i].child));
	for (i = 0; i < n; i++, at += measure->count_width)
		lb_rank_store_word(at, sum += (uint64_t) records[i].count);
	if (measure->distinct_width == 0)
		return at;
	sum = 0;
	for (i = 0; i < n; i++, at += measure->distinct_width)
	{
		LbRankEntry entry = lb_rank_record_entry(&records[i], bytes);

		sum += (uint64_t) records[i].distinct;
		if (i > 0 && lb_rank_separator_continues(&entry))
			sum--;
		lb_rank_store_word(at, sum);
	}
	return at;
}

/*
 * Writes the page of n records into `body`, LB_RANK_PAGE_BUFFER bytes.
 * Returns its size, or -1 if it would be larger than a page may be.
 */
int
lb_rank_page_encode(uint8_t *body, int level, const LbRankRecord *records,
					int n, const uint8_t *bytes)
{
	int			first = level > 0 ? 1 : 0;	/* the first that has a slot */
	LbRankMeasure measure;
	uint8_t    *at = body + (level > 0 ? LB_RANK_INNER_HEADER :
							 LB_RANK_LEAF_HEADER);
	int			i;

	lb_rank_measure_start(&measure, level);
	for (i = 0; i < n; i++)
	{
		LbRankEntry entry = lb_rank_record_entry(&records[i], bytes);

		if (lb_rank_measure_add(&measure, &entry, records[i].child,
								records[i].count, records[i].distinct) >
			LB_PAGE_MAX)
			return -1;
	}

	encode_header(body, &measure);
	for (i = 0; i < n; i++, at += measure.key_width)
		lb_rank_store_word(at, distance(measure.key_base,
										records[i].rank_key));
	for (i = first; i < n; i++, at += measure.time_width)
	{
		uint64_t	code = distance(measure.time_base, records[i].reached_at);

		if (level > 0)
			code = records[i].reached_at == INT64_MIN ? 0 : code + 1;
		lb_rank_store_word(at, code);
	}
	if (level > 0)
		at = encode_children(at, &measure, records, n, bytes);
	if (!measure.even)
		for (i = first; i < n; i++)
			*at++ = (uint8_t) (records[i].member_len - measure.prefix_len);
	memcpy(at, bytes + records[first].at, (size_t) measure.prefix_len);
	at += measure.prefix_len;
	for (i = first; i < n; i++)
	{
		int			len = records[i].member_len - measure.prefix_len;

		memcpy(at, bytes + records[i].at + measure.prefix_len, (size_t) len);
		at += len;
	}
	return (int) (at - body);
}

/* Does the page say of itself what a measure of its entries says? */
static bool
is_canonical(const LbRankPage *page, const LbRankMeasure *measure, int size)
{
	return measure->size == size &&
		measure->even == (page->even_len >= 0) &&
		measure->prefix_len == page->prefix_len &&
		measure->key_base == page->key_base &&
		measure->key_width == page->key_width &&
		measure->time_width == page->time_width &&
		measure->time_base == page->time_base &&
		measure->id_base == page->id_base &&
		measure->id_width == page->id_width &&
		measure->count_width == page->count_width &&
		measure->distinct_width == page->distinct_width;
}

/* One child of an inner page, its separator at hand; NULL or what is wrong. */
static const char *
child_problem(const LbRankPage *page, int i, const LbRankEntry *separator,
			  LbRankMeasure *measure)
{
	LbRankRecord record;

	lb_rank_page_child_record(page, i, &record);
	if (record.child < 1)
		return "page has an impossible child";
	if (record.count < 1)
		return "page has a child without entries";
	if (record.distinct < 1 || record.distinct > record.count)
		return "page has an impossible number of distinct values";
	lb_rank_measure_add(measure, separator, record.child, record.count,
						record.distinct);
	return NULL;
}

/*
 * The one validator: NULL for a well-formed page, else what is wrong.  Takes
 * any bytes and never reads outside them.  What it accepts is in order,
 * canonical and safe to search.
 */
const char *
lb_rank_page_problem(const uint8_t *body, int size)
{
	uint8_t		member[3][LB_RANK_MEMBER_MAX];	/* first, and two in turn */
	const char *problem;
	LbRankMeasure measure;
	LbRankEntry entry;
	LbRankEntry last = {0, 0, NULL, 0};
	LbRankPage	page;
	int			heap_at = 0;
	int			i;

	problem = lb_rank_page_open(&page, body, size);
	if (problem != NULL)
		return problem;

	lb_rank_measure_start(&measure, page.level);
	for (i = 0; i < page.n; i++)
	{
		int			slot = i - (page.level > 0);
		uint8_t    *buffer = member[slot <= 0 ? 0 : 1 + i % 2];

		if (slot >= 0 &&
			page.prefix_len + lb_rank_page_length(&page, slot) >
			LB_RANK_MEMBER_MAX)
			return "page has a member too long";
		heap_at = lb_rank_page_entry(&page, i, heap_at, buffer, &entry);
		if (i > 0 && lb_rank_entry_compare(&last, &entry) >= 0)
			return "page is out of order";
		if (page.level == 0)
		{
			if (entry.member_len < 1)
				return "page has an empty member";
			lb_rank_measure_add(&measure, &entry, 0, 1, 0);
		}
		else if ((problem = child_problem(&page, i, &entry, &measure)) != NULL)
			return problem;
		last = entry;
	}
	return is_canonical(&page, &measure, size) ? NULL :
		"page is not in canonical form";
}
