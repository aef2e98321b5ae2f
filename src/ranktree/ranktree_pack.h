/*-------------------------------------------------------------------------
 *
 * ranktree_pack.h
 *	  Packing a stream of records into pages, all levels at once.
 *
 * Private to src/ranktree.  Bulk build and batch apply both feed a packer:
 * build with entries only, apply with entries and with whole subtrees that
 * stay as they are.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_RANKTREE_PACK_H
#define LB_RANKTREE_PACK_H

#include "ranktree_page.h"

/* A page below this asks for a neighbour. */
#define LB_RANK_PAGE_LOW		(LB_PAGE_MAX * 40 / 100)

/* Pages that a run may hold back; beyond, its first page is written. */
#define LB_RANK_CUTS_HELD		3
#define LB_RANK_CUTS_MAX		16

/*
 * A run: records of one level that follow each other and are not in a page
 * yet.  It ends where a page follows that stays as it is.
 */
typedef struct LbRankRun
{
	LbRankRecord *records;
	int			n;
	int			room;
	uint8_t    *bytes;			/* of the records' members */
	size_t		bytes_used;
	size_t		bytes_room;
	int			sources;		/* old pages that moves led into the run */
	bool		balanced;		/* it has had its neighbour already */
	int			cuts[LB_RANK_CUTS_MAX]; /* where packing to the fill cuts */
	int			cut_count;
	LbRankMeasure open;			/* of the records after the last cut */
	LbRankEntry head;			/* leaves: separator before the first record */
	uint8_t		head_member[LB_RANK_MEMBER_MAX];
} LbRankRun;

typedef struct LbRankPacker
{
	LbRankStore *store;
	int			limit;			/* bytes to which pages are packed */
	bool		last_known;		/* is last_key the last key gone by? */
	int64_t		last_key;		/* if not, that was smaller than the next */
	LbRankRun	run[LB_RANK_LEVEL_MAX + 1];
	uint8_t		body[LB_RANK_PAGE_BUFFER];
} LbRankPacker;

extern LbRankStatus lb_rank_packer_create(LbRankStore *store, int fill,
										  LbRankPacker **packer);
extern void lb_rank_packer_free(LbRankPacker *packer);
extern LbRankStatus lb_rank_pack_entry(LbRankPacker *packer,
									   const LbRankEntry *entry,
									   const LbRankEntry *edge);
extern LbRankStatus lb_rank_pack_child(LbRankPacker *packer, int level,
									   const LbRankEntry *separator,
									   int64_t child, int64_t count,
									   int64_t distinct);
extern bool lb_rank_pack_is_low(const LbRankPacker *packer, int level);
extern bool lb_rank_pack_overflows(const LbRankPacker *packer, int level);
extern LbRankStatus lb_rank_pack_previous(LbRankPacker *packer, int level,
										  bool *pulled);
extern LbRankStatus lb_rank_pack_flush(LbRankPacker *packer, int level);
extern LbRankStatus lb_rank_pack_finish(LbRankPacker *packer,
										int64_t *new_root);

/* ranktree_run.c */
extern LbRankStatus lb_rank_run_append(LbRankStore *store, LbRankRun *run,
									   int level, int limit,
									   const LbRankEntry *entry,
									   const LbRankRecord *child);
extern LbRankStatus lb_rank_run_prepend(LbRankStore *store, LbRankRun *run,
										int level, int limit,
										const LbRankPage *page,
										const LbRankEntry *edge);
extern void lb_rank_run_pop(LbRankRun *run, int level, int limit);
extern void lb_rank_run_drop(LbRankRun *run);
extern int	lb_rank_run_cut(const LbRankRun *run, int level, int first,
							int limit, int *cuts, int most);
extern int	lb_rank_run_cut_even(const LbRankRun *run, int level, int first,
								 int pages, int limit, int *cuts);
extern void lb_rank_run_set_head(LbRankRun *run, const LbRankEntry *head);
extern void lb_rank_run_clear(LbRankRun *run, int level);

#endif							/* LB_RANKTREE_PACK_H */
