/*-------------------------------------------------------------------------
 *
 * ranktree_core.h
 *	  A persistent, counted B+tree of a ranking's entries.
 *
 * The algorithm alone: no server memory, no ereport, no file or table.  The
 * caller lends it a store (callbacks) and reports its status.  README.md
 * holds the reasons, the page format and the invariants.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_RANKTREE_CORE_H
#define LB_RANKTREE_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Tests make these two smaller, to grow higher trees of fewer entries. */
#ifndef LB_PAGE_MAX
#define LB_PAGE_MAX				1960	/* bytes of a page's body */
#endif
#ifndef LB_RANK_MEMBER_MAX
#define LB_RANK_MEMBER_MAX		200 /* bytes of a member */
#endif
#define LB_RANK_LEVEL_MAX		20	/* level of the highest possible root */
#define LB_RANK_FILL_MIN		80	/* percent; less would cut into low pages */
#define LB_RANK_FILL_MAX		100
#define LB_RANK_FILL_DEFAULT	88
#define LB_RANK_MESSAGE_SIZE	160

typedef enum LbRankStatus
{
	LB_RANK_OK = 0,
	LB_RANK_DONE,				/* no (more) entry there; not an error */
	LB_RANK_CORRUPT,			/* a page contradicts the format or its tree */
	LB_RANK_NO_ENTRY,			/* removal of an entry that is not there */
	LB_RANK_ENTRY_EXISTS,		/* insertion of one that is there already */
	LB_RANK_BAD_INPUT,			/* entries out of order, bad member length */
	LB_RANK_NO_MEMORY,			/* alloc gave NULL */
	LB_RANK_STORE_FAILED,		/* a callback reported failure */
} LbRankStatus;

/*
 * An entry, or a place between entries.  Board order is ascending by
 * (rank_key, reached_at, member bytes, member length); rank_key is the value
 * where low is best and ~value where high is best.
 */
typedef struct LbRankEntry
{
	int64_t		rank_key;
	int64_t		reached_at;		/* microseconds */
	const uint8_t *member;
	int			member_len;		/* 1 .. LB_RANK_MEMBER_MAX */
} LbRankEntry;

/* One change of the ranking. */
typedef struct LbRankMove
{
	LbRankEntry entry;
	bool		remove;			/* false: insert */
} LbRankMove;

/*
 * Gives the next entry or move of a sorted stream: LB_RANK_OK, LB_RANK_DONE,
 * or what else is to be reported.  The member's bytes need to live until the
 * next call only.
 */
typedef LbRankStatus (*LbRankNextEntry) (void *source, LbRankEntry *entry);
typedef LbRankStatus (*LbRankNextMove) (void *source, LbRankMove *move);

/*
 * What the caller lends.  Callbacks may leave by longjmp (ereport) if `alloc`
 * memory is then freed by its context.  Every page costs at least one of
 * them, so they are also the place to look for interrupts.
 */
typedef struct LbRankStore
{
	void	   *context;

	/*
	 * The bytes of a page, or NULL if there is none.  They must stay valid
	 * and unchanged until the next call of get.
	 */
	const uint8_t *(*get) (void *context, int64_t page_id, int *size);

	/* For build and apply only. */
	int64_t		(*next_id) (void *context); /* unused before, >= 1 */
	bool		(*put) (void *context, int64_t page_id,
						const uint8_t *body, int size);
	bool		(*supersede) (void *context, int64_t page_id);

	/* For build and apply only; alloc gives NULL when there is no more. */
	void	   *(*alloc) (void *context, size_t size);
	void		(*release) (void *context, void *pointer);

	char		message[LB_RANK_MESSAGE_SIZE];	/* words for a bad status */
} LbRankStore;

/* Where an entry stands, or would stand. */
typedef struct LbRankPlace
{
	bool		found;
	int64_t		ahead;			/* entries ahead in board order */
	int64_t		better;			/* entries with a smaller rank_key */
	int64_t		distinct_better;	/* rank_keys that are smaller */
} LbRankPlace;

/* Where a rank_key stands, or would stand. */
typedef struct LbRankValue
{
	int64_t		better;
	int64_t		distinct_better;
	int64_t		not_worse;		/* entries with a smaller or the same key */
} LbRankValue;

typedef struct LbRankTotals
{
	int64_t		entries;
	int64_t		distinct;		/* rank_keys */
	int			height;			/* pages from root to leaf, 0 if empty */
} LbRankTotals;

/*
 * Stands between two entries.  It owns a copy of its leaf, so other calls
 * may use the store meanwhile; it holds nothing that would need closing.
 */
typedef struct LbRankCursor
{
	LbRankStore *store;
	int64_t		root;
	int64_t		position;		/* entries before the cursor */
	int			height;			/* 0: no tree */
	int64_t		page_id[LB_RANK_LEVEL_MAX + 1]; /* by level, 0 the leaf */
	int			slot[LB_RANK_LEVEL_MAX + 1];	/* child taken, by level */
	int			fanout[LB_RANK_LEVEL_MAX + 1];
	int			leaf_size;
	int			heap_at;		/* bytes of member suffixes before it */
	uint8_t		member[LB_RANK_MEMBER_MAX];
	uint8_t		leaf[LB_PAGE_MAX];
} LbRankCursor;

/* A root is a page id, 0 for the empty tree. */

/* ranktree_search.c */
extern LbRankStatus lb_ranktree_totals(LbRankStore *store, int64_t root,
									   LbRankTotals *totals);
extern LbRankStatus lb_ranktree_find(LbRankStore *store, int64_t root,
									 const LbRankEntry *entry,
									 LbRankPlace *place);
extern LbRankStatus lb_ranktree_value(LbRankStore *store, int64_t root,
									  int64_t rank_key, LbRankValue *value);

/* ranktree_cursor.c */
extern LbRankStatus lb_ranktree_seek(LbRankStore *store, int64_t root,
									 int64_t position, LbRankCursor *cursor);
extern LbRankStatus lb_ranktree_seek_entry(LbRankStore *store, int64_t root,
										   const LbRankEntry *entry,
										   LbRankCursor *cursor);
extern LbRankStatus lb_ranktree_next(LbRankCursor *cursor, LbRankEntry *entry);
extern LbRankStatus lb_ranktree_previous(LbRankCursor *cursor,
										 LbRankEntry *entry);

/* ranktree_build.c, ranktree_apply.c */
extern LbRankStatus lb_ranktree_build(LbRankStore *store, int fill,
									  LbRankNextEntry next, void *source,
									  int64_t *new_root);
extern LbRankStatus lb_ranktree_apply(LbRankStore *store, int64_t root,
									  int fill, LbRankNextMove next,
									  void *source, int64_t *new_root);

/* ranktree_check.c */
typedef void (*LbRankVisit) (void *context, int64_t page_id, int level,
							 int size);
extern LbRankStatus lb_ranktree_check(LbRankStore *store, int64_t root,
									  LbRankVisit visit, LbRankTotals *totals);

/* ranktree_page.c */
extern const char *lb_rank_page_problem(const uint8_t *body, int size);

#endif							/* LB_RANKTREE_CORE_H */
