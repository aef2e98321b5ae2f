/*-------------------------------------------------------------------------
 *
 * topk_core.h
 *	  The pure part of lb_topk: the heaviest of many weighted items.
 *
 * Nothing here reports or looks at the server, so that a fuzzer compiles
 * these files alone.  Memory comes through a function of the caller's, who
 * also frees it.  Whatever can fail returns an LbTopkStatus and has then
 * changed nothing, unless its comment says otherwise.
 *
 * There are two forms.  LbTopk is to work on: items are added and stored
 * bytes merged.  The stored bytes are to keep and to read, by LbTopkReader,
 * which never trusts them.  README.md has the guarantees and their proof.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_TOPK_CORE_H
#define LB_TOPK_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LB_TOPK_CAPACITY_MIN		1
#define LB_TOPK_CAPACITY_MAX		10000
#define LB_TOPK_CAPACITY_DEFAULT	100

/* The longest item, in bytes; the empty one is an item. */
#define LB_TOPK_ITEM_MAX			255

/* The stored form; README.md publishes it. */
#define LB_TOPK_VERSION				1
#define LB_TOPK_HEADER_SIZE			4	/* then two varints and the items */

typedef enum LbTopkStatus
{
	LB_TOPK_OK,
	/* of bytes */
	LB_TOPK_SHORT,				/* ends inside the header, a number, an item */
	LB_TOPK_BAD_VERSION,
	LB_TOPK_BAD_FLAGS,
	LB_TOPK_NOT_CANONICAL,		/* says it in a way the encoder never does */
	/* of bytes and text */
	LB_TOPK_BAD_CAPACITY,
	LB_TOPK_BAD_ORDER,			/* items not in ascending order of bytes */
	LB_TOPK_BAD_NUMBER,			/* not 1 <= low <= high, or a total below 0 */
	LB_TOPK_BAD_WIDTH,			/* high - low > bound, or high < bound */
	LB_TOPK_BAD_SUM,			/* the highs and the bound exceed the total */
	LB_TOPK_BAD_ITEMS,			/* more or fewer items than can be */
	/* of text */
	LB_TOPK_SYNTAX,
	/* of text and arithmetic */
	LB_TOPK_LONG_ITEM,			/* an item of more than 255 bytes */
	LB_TOPK_BAD_WEIGHT,			/* a weight that is not positive */
	LB_TOPK_OVERFLOW			/* a total of more than INT64_MAX */
} LbTopkStatus;

/*
 * Where memory comes from: a chunk of the size, with the content of the old
 * one, which is NULL the first time.  It may not fail, but it may not return.
 */
typedef void *(*LbTopkResize) (void *arg, void *chunk, size_t size);

/* A tracked item. */
typedef struct LbTopkEntry
{
	int64_t		low;			/* weight seen while it was tracked */
	int64_t		count;			/* of Misra and Gries: high - bound */
	uint32_t	at;				/* its bytes are at t->bytes + at */
	uint32_t	hash;
	uint8_t		length;
} LbTopkEntry;

/*
 * A sketch to work on.  It tracks up to four times its capacity, and falls
 * back to its capacity by lowering all counts and raising the bound.
 */
typedef struct LbTopk
{
	int64_t		total;			/* all weight ever added */
	int64_t		bound;			/* no item that is not tracked has more */
	int32_t		capacity;
	uint32_t	n;				/* tracked items */
	uint32_t	room;			/* for entries: 0 or a power of two */
	LbTopkEntry *entries;		/* in the order in which they came */
	uint16_t   *index;			/* 2 * room slots: number of an entry + 1 */
	uint16_t   *order;			/* room numbers: scratch */
	uint8_t    *bytes;			/* the items, in the order of entries */
	size_t		bytes_used;
	size_t		bytes_room;
	uint64_t	seed;			/* of hashes */
	uint64_t	pivots;			/* random state */
	LbTopkResize resize;
	void	   *arg;
} LbTopk;

/* Stored bytes while they are read; the last are the current item's. */
typedef struct LbTopkReader
{
	int64_t		total;
	int64_t		bound;
	int32_t		capacity;
	int32_t		items;			/* how many there are */
	const uint8_t *first;
	const uint8_t *next;
	const uint8_t *end;
	int64_t		low;
	int64_t		high;
	int32_t		number;			/* from 1 on; 0 before the first */
	uint8_t		length;
	char		item[LB_TOPK_ITEM_MAX];
} LbTopkReader;

/* What must hold of the items of one sketch together, while they are seen. */
typedef struct LbTopkTally
{
	int64_t		total;
	int64_t		bound;
	int32_t		capacity;
	int32_t		items;
	int64_t		highs;			/* their sum */
} LbTopkTally;

/* Stored bytes while they are written; what comes must pass the tally. */
typedef struct LbTopkWriter
{
	uint8_t    *next;
	bool		exact;			/* the bound is 0: lows are highs */
	uint8_t		length;			/* of the last item */
	char		item[LB_TOPK_ITEM_MAX];
} LbTopkWriter;

/* topk_core.c */
extern const char *lb_topk_status_text(LbTopkStatus status);
extern void lb_topk_init(LbTopk *t, int32_t capacity, uint64_t seed,
						 LbTopkResize resize, void *arg);
extern LbTopkStatus lb_topk_try_add(LbTopk *t, const char *item,
									size_t length, int64_t weight);
extern LbTopkStatus lb_topk_try_merge(LbTopk *t, const uint8_t *bytes,
									  size_t size);
extern size_t lb_topk_pack_room(const LbTopk *t);
extern size_t lb_topk_pack(LbTopk *t, uint8_t *bytes);

/* topk_bytes.c */
extern LbTopkStatus lb_topk_tally_begin(LbTopkTally *tally, int64_t capacity,
										int64_t total, int64_t bound);
extern LbTopkStatus lb_topk_tally_item(LbTopkTally *tally, int64_t low,
									   int64_t high);
extern LbTopkStatus lb_topk_tally_end(const LbTopkTally *tally);
extern LbTopkStatus lb_topk_open(LbTopkReader *r, const uint8_t *bytes,
								 size_t size);
extern bool lb_topk_next(LbTopkReader *r);
extern void lb_topk_find(LbTopkReader *r, const char *item, size_t length,
						 int64_t *low, int64_t *high);
extern int	lb_topk_compare(const char *a, size_t a_length,
							const char *b, size_t b_length);
extern void lb_topk_write_header(LbTopkWriter *w, uint8_t *bytes,
								 int32_t capacity, int64_t total,
								 int64_t bound);
extern void lb_topk_write_item(LbTopkWriter *w, const char *item,
							   size_t length, int64_t low, int64_t high);

/* topk_text.c */
extern LbTopkStatus lb_topk_parse(const char **text, uint8_t *bytes,
								  size_t *size);

#endif							/* LB_TOPK_CORE_H */
