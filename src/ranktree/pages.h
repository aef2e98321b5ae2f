/*-------------------------------------------------------------------------
 *
 * pages.h
 *	  A ranktree's pages as rows of lb.page.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_PAGES_H
#define LB_PAGES_H

#include "leaderboard.h"

#include "ranktree/ranktree_core.h"
#include "table/probe.h"
#include "table/rows.h"

/* The columns of lb.page. */
enum
{
	LB_PAGE_COUNTER_ID = 1,
	LB_PAGE_RANKING_ID,
	LB_PAGE_PAGE_ID,
	LB_PAGE_BODY
};

/* The pages of one ranking, lent to the core as its store. */
typedef struct LbPages
{
	LbRankStore store;
	int64		counter_id;
	int64		ranking_id;
	bool		cacheable;		/* the version read is not of this transaction */

	/* reading */
	bool		probing;
	LbProbe		probe;
	LbProbe    *lent;			/* used instead, if not NULL */

	/* a page that lives with its version, not as a row; 0 is none */
	int64		leaf_id;
	const bytea *leaf;

	/* writing */
	int64		next_page;
	bool		keeps;			/* the first page is kept back, in: */
	bytea	   *kept;
	int64		kept_id;
	int64	   *superseded;
	int			nsuperseded;
	int			capacity;
	LbRows	   *rows;
} LbPages;

extern void lb_pages_begin(LbPages *pages, int64 counter_id, int64 ranking_id,
						   bool cacheable);
extern void lb_pages_leaf(LbPages *pages, int64 page_id, const bytea *body);
extern void lb_pages_end(LbPages *pages);
extern void lb_pages_check(const LbPages *pages, LbRankStatus status);

/* pages_write.c */
extern void lb_pages_write(LbPages *pages, LbRows *rows, int64 next_page);
extern void lb_pages_keep(LbPages *pages);
extern const bytea *lb_pages_kept(LbPages *pages, int64 root);

#endif							/* LB_PAGES_H */
