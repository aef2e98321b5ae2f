/*-------------------------------------------------------------------------
 *
 * pages.c
 *	  A ranktree's pages as rows of lb.page: reading.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "fmgr.h"
#include "miscadmin.h"

#include "ranktree/cache.h"
#include "ranktree/pages.h"

/* The page's row; the bytes stay while the probe stands on it. */
static const uint8 *
read_row(LbPages *pages, int64 page_id, int *size)
{
	ScanKeyData keys[3];
	TupleTableSlot *slot;
	bytea	   *body;
	bool		isnull;

	if (!pages->probing && pages->lent == NULL)
	{
		lb_probe_begin(&pages->probe, LB_TABLE_PAGE, pages->counter_id, 3);
		pages->probing = true;
	}
	lb_key_int64(&keys[0], LB_PAGE_COUNTER_ID, pages->counter_id);
	lb_key_int64(&keys[1], LB_PAGE_RANKING_ID, pages->ranking_id);
	lb_key_int64(&keys[2], LB_PAGE_PAGE_ID, page_id);
	slot = lb_probe(pages->lent != NULL ? pages->lent : &pages->probe, keys,
					ForwardScanDirection);
	if (slot == NULL)
		return NULL;
	body = DatumGetByteaPP(slot_getattr(slot, LB_PAGE_BODY, &isnull));
	*size = VARSIZE_ANY_EXHDR(body);
	if (*size > LB_PAGE_MAX)
		return NULL;
	return (const uint8 *) VARDATA_ANY(body);
}

/* The core trusts what it is lent, so a page is checked on its way in. */
static void
check_page(const LbPages *pages, int64 page_id, const uint8 *body, int size)
{
	const char *problem = lb_rank_page_problem(body, size);

	if (problem != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("page " INT64_FORMAT " of ranking " INT64_FORMAT " is damaged: %s",
						page_id, pages->ranking_id, problem),
				 errhint("lb_check() says more; drop the board and create it again to build it from the buckets.")));
}

static const uint8 *
lent_leaf(const LbPages *pages, int *size)
{
	const uint8 *body = (const uint8 *) VARDATA_ANY(pages->leaf);

	*size = VARSIZE_ANY_EXHDR(pages->leaf);
	if (pages->cacheable)
		check_page(pages, pages->leaf_id, body, *size);
	return body;
}

static const uint8_t *
get_page(void *context, int64_t page_id, int *size)
{
	LbPages    *pages = context;
	LbPageKey	key = {pages->counter_id, pages->ranking_id, page_id};
	const uint8 *body;

	CHECK_FOR_INTERRUPTS();
	if (page_id == pages->leaf_id)
		return lent_leaf(pages, size);
	if (!pages->cacheable)
		return read_row(pages, page_id, size);
	body = lb_cache_get(&key, size);
	if (body != NULL)
		return body;
	body = read_row(pages, page_id, size);
	if (body == NULL)
		return NULL;
	check_page(pages, page_id, body, *size);
	return lb_cache_put(&key, body, *size);
}

/* Lend the ranking's pages to the core. */
void
lb_pages_begin(LbPages *pages, int64 counter_id, int64 ranking_id,
			   bool cacheable)
{
	memset(pages, 0, sizeof(*pages));
	pages->counter_id = counter_id;
	pages->ranking_id = ranking_id;
	pages->cacheable = cacheable;
	pages->store.context = pages;
	pages->store.get = get_page;
}

/* That page is at hand, for as long as it is read; without a body none is. */
void
lb_pages_leaf(LbPages *pages, int64 page_id, const bytea *body)
{
	pages->leaf_id = body == NULL ? 0 : page_id;
	pages->leaf = body;
}

void
lb_pages_end(LbPages *pages)
{
	if (pages->probing)
		lb_probe_end(&pages->probe);
	pages->probing = false;
}

/* Report what the core found; LB_RANK_OK returns. */
void
lb_pages_check(const LbPages *pages, LbRankStatus status)
{
	if (status == LB_RANK_OK)
		return;
	if (status == LB_RANK_NO_MEMORY)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("ranking " INT64_FORMAT " of counter " INT64_FORMAT " is damaged: %s",
					pages->ranking_id, pages->counter_id, pages->store.message),
			 errhint("lb_check() says more; drop the board and create it again to build it from the buckets.")));
}
