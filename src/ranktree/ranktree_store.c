/*-------------------------------------------------------------------------
 *
 * ranktree_store.c
 *	  What every part of the ranktree does with the caller's store.
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>

#include "ranktree_page.h"

/* Notes why a call fails and hands the status back; page_id 0: no page. */
LbRankStatus
lb_rank_fail(LbRankStore *store, LbRankStatus status, const char *words,
			 int64_t page_id)
{
	if (page_id == 0)
		snprintf(store->message, sizeof(store->message), "%s", words);
	else
		snprintf(store->message, sizeof(store->message), "page %lld: %s",
				 (long long) page_id, words);
	return status;
}

/*
 * Fetches and opens a page that must be of `level`, or of any if that is
 * negative.  Levels fall by one on the way down, so that a walk ends even
 * where pages point in circles.
 */
LbRankStatus
lb_rank_read(LbRankStore *store, int64_t page_id, int level, LbRankPage *page,
			 const uint8_t **body, int *size)
{
	const char *problem;

	if (page_id < 1)
		return lb_rank_fail(store, LB_RANK_CORRUPT,
							"a page points to no page", page_id);
	*body = store->get(store->context, page_id, size);
	if (*body == NULL)
		return lb_rank_fail(store, LB_RANK_CORRUPT, "page is missing",
							page_id);
	problem = lb_rank_page_open(page, *body, *size);
	if (problem == NULL && level >= 0 && page->level != level)
		problem = "page is of another level than its parent says";
	if (problem != NULL)
		return lb_rank_fail(store, LB_RANK_CORRUPT, problem, page_id);
	return LB_RANK_OK;
}

/* The same, and the page is validated: for who builds upon its bytes. */
LbRankStatus
lb_rank_read_whole(LbRankStore *store, int64_t page_id, int level,
				   LbRankPage *page, const uint8_t **body, int *size)
{
	LbRankStatus status = lb_rank_read(store, page_id, level, page, body,
									   size);
	const char *problem;

	if (status != LB_RANK_OK)
		return status;
	problem = lb_rank_page_problem(*body, *size);
	if (problem != NULL)
		return lb_rank_fail(store, LB_RANK_CORRUPT, problem, page_id);
	return LB_RANK_OK;
}
