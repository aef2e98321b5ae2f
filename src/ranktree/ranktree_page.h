/*-------------------------------------------------------------------------
 *
 * ranktree_page.h
 *	  One page of the ranktree: reading in place, measuring, writing.
 *
 * Private to src/ranktree.  The byte format is described in README.md.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_RANKTREE_PAGE_H
#define LB_RANKTREE_PAGE_H

#include <string.h>

#include "ranktree_core.h"

#define LB_RANK_PAGE_VERSION	1
#define LB_RANK_FLAG_EVEN		0x01	/* all suffixes have one length */
#define LB_RANK_FLAGS_KNOWN		LB_RANK_FLAG_EVEN

#define LB_RANK_LEAF_HEADER		24
#define LB_RANK_INNER_HEADER	34

/* Keeps sums over all levels of a hostile tree inside an int64. */
#define LB_RANK_COUNT_WIDTH_MAX	7

/* The writer stores whole words and runs over the end by less than this. */
#define LB_RANK_PAGE_SLACK		8
#define LB_RANK_PAGE_BUFFER		(LB_PAGE_MAX + LB_RANK_PAGE_SLACK)

/*
 * An opened page.  Opening proves that no accessor below reads outside the
 * body; it does not prove that entries are in order.
 */
typedef struct LbRankPage
{
	int			level;			/* 0: leaf */
	int			n;				/* entries or children */
	int			slots;			/* members kept: n, or n - 1 separators */
	int			prefix_len;
	int			even_len;		/* length of every suffix, or -1 */
	int			heap_size;
	int			key_width;
	int			time_width;
	int			id_width;
	int			count_width;
	int			distinct_width;
	int64_t		key_base;
	int64_t		time_base;
	int64_t		id_base;
	const uint8_t *keys;
	const uint8_t *times;
	const uint8_t *ids;
	const uint8_t *counts;
	const uint8_t *distincts;
	const uint8_t *lengths;
	const uint8_t *prefix;
	const uint8_t *heap;
} LbRankPage;

/*
 * An entry of a leaf, or a child of an inner page with its full separator;
 * the member's bytes lie at `at` of a buffer beside the records.
 */
typedef struct LbRankRecord
{
	int64_t		rank_key;
	int64_t		reached_at;
	int64_t		child;
	int64_t		count;			/* entries below the child */
	int64_t		distinct;		/* rank_keys below the child, all of them */
	uint32_t	at;
	uint8_t		member_len;
	bool		fresh;			/* child was put by this very call */
} LbRankRecord;

/* What a page of the records added so far would look like. */
typedef struct LbRankMeasure
{
	int			level;
	int			n;
	int			slots;
	int			prefix_len;
	int			first_len;
	int			member_bytes;
	int			size;			/* of the body */
	int			key_width;
	int			time_width;
	int			id_width;
	int			count_width;
	int			distinct_width;
	bool		even;
	bool		timed;			/* any time that is not INT64_MIN, or a leaf */
	int64_t		key_base;
	int64_t		key_last;
	int64_t		time_base;
	int64_t		time_last;
	int64_t		id_base;
	int64_t		id_last;
	int64_t		count;
	int64_t		distinct;
	const uint8_t *first_member;	/* must outlive the measure */
} LbRankMeasure;

/* ranktree_page.c */
extern const char *lb_rank_page_open(LbRankPage *page, const uint8_t *body,
									 int size);
extern int	lb_rank_page_lower_bound(const LbRankPage *page, int64_t rank_key);
extern int	lb_rank_page_upper_bound(const LbRankPage *page, int64_t rank_key);
extern int	lb_rank_page_through_bound(const LbRankPage *page,
									   int64_t position);
extern int	lb_rank_page_find(const LbRankPage *page, int first, int end,
							  const LbRankEntry *entry, bool *found);
extern int	lb_rank_page_distinct(const LbRankPage *page, int end);
extern int	lb_rank_page_heap_at(const LbRankPage *page, int slot);
extern int	lb_rank_page_entry(const LbRankPage *page, int i, int heap_at,
							   uint8_t *buffer, LbRankEntry *entry);

/* ranktree_encode.c */
extern int	lb_rank_entry_compare(const LbRankEntry *a, const LbRankEntry *b);
extern void lb_rank_entry_separate(const LbRankEntry *left,
								   const LbRankEntry *right,
								   LbRankEntry *separator);
extern void lb_rank_measure_start(LbRankMeasure *measure, int level);
extern int	lb_rank_measure_add(LbRankMeasure *measure,
								const LbRankEntry *entry, int64_t child,
								int64_t count, int64_t distinct);
extern int	lb_rank_page_encode(uint8_t *body, int level,
								const LbRankRecord *records, int n,
								const uint8_t *bytes);

/* ranktree_store.c */
extern LbRankStatus lb_rank_fail(LbRankStore *store, LbRankStatus status,
								 const char *words, int64_t page_id);
extern LbRankStatus lb_rank_read(LbRankStore *store, int64_t page_id,
								 int level, LbRankPage *page,
								 const uint8_t **body, int *size);
extern LbRankStatus lb_rank_read_whole(LbRankStore *store, int64_t page_id,
									   int level, LbRankPage *page,
									   const uint8_t **body, int *size);

static inline uint64_t
lb_rank_load(const uint8_t *from)
{
	uint64_t	word;

	memcpy(&word, from, sizeof(word));
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	return word;
}

static inline void
lb_rank_store_word(uint8_t *to, uint64_t word)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	memcpy(to, &word, sizeof(word));
}

/*
 * Item i of a column of `width` bytes each.  The load ends where the item
 * ends: it may begin before the column, but never before the body, because a
 * header is longer than a word.
 */
static inline uint64_t
lb_rank_column(const uint8_t *column, int width, int i)
{
	if (width == 0)
		return 0;
	return lb_rank_load(column + (i + 1) * width - 8) >> (64 - 8 * width);
}

static inline int64_t
lb_rank_page_key(const LbRankPage *page, int i)
{
	return (int64_t) ((uint64_t) page->key_base +
					  lb_rank_column(page->keys, page->key_width, i));
}

/* In an inner page code 0 stands for "before every time". */
static inline int64_t
lb_rank_page_time(const LbRankPage *page, int slot)
{
	uint64_t	code = lb_rank_column(page->times, page->time_width, slot);

	if (page->level > 0)
	{
		if (code == 0)
			return INT64_MIN;
		code--;
	}
	return (int64_t) ((uint64_t) page->time_base + code);
}

static inline int
lb_rank_page_length(const LbRankPage *page, int slot)
{
	return page->even_len >= 0 ? page->even_len : page->lengths[slot];
}

static inline int64_t
lb_rank_page_child(const LbRankPage *page, int i)
{
	return (int64_t) ((uint64_t) page->id_base +
					  lb_rank_column(page->ids, page->id_width, i));
}

/* Entries below children 0 .. i. */
static inline int64_t
lb_rank_page_through(const LbRankPage *page, int i)
{
	return (int64_t) lb_rank_column(page->counts, page->count_width, i);
}

/* Distinct rank_keys below children 0 .. i. */
static inline int64_t
lb_rank_page_distinct_through(const LbRankPage *page, int i)
{
	if (page->distinct_width == 0)
		return lb_rank_page_through(page, i);
	return (int64_t) lb_rank_column(page->distincts, page->distinct_width, i);
}

/*
 * Does the rank_key before child i go on in child i?  True just when the
 * separator holds more than the rank_key; no other bit is kept for it.
 */
static inline bool
lb_rank_page_continues(const LbRankPage *page, int i)
{
	if (i == 0)
		return false;
	return lb_rank_column(page->times, page->time_width, i - 1) != 0 ||
		page->prefix_len + lb_rank_page_length(page, i - 1) > 0;
}

static inline bool
lb_rank_separator_continues(const LbRankEntry *separator)
{
	return separator->reached_at != INT64_MIN || separator->member_len > 0;
}

/* The counts of child i; its distinct rank_keys are all of its own. */
static inline void
lb_rank_page_child_record(const LbRankPage *page, int i, LbRankRecord *record)
{
	record->child = lb_rank_page_child(page, i);
	record->count = lb_rank_page_through(page, i);
	record->distinct = lb_rank_page_distinct_through(page, i);
	if (i > 0)
	{
		record->count -= lb_rank_page_through(page, i - 1);
		record->distinct += lb_rank_page_continues(page, i) -
			lb_rank_page_distinct_through(page, i - 1);
	}
	record->fresh = false;
}

static inline LbRankEntry
lb_rank_record_entry(const LbRankRecord *record, const uint8_t *bytes)
{
	LbRankEntry entry;

	entry.rank_key = record->rank_key;
	entry.reached_at = record->reached_at;
	entry.member = bytes + record->at;
	entry.member_len = record->member_len;
	return entry;
}

#endif							/* LB_RANKTREE_PAGE_H */
