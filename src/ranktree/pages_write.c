/*-------------------------------------------------------------------------
 *
 * pages_write.c
 *	  A ranktree's pages as rows of lb.page: writing.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "utils/memutils.h"

#include "ranktree/pages.h"

static int64_t
next_page_id(void *context)
{
	LbPages    *pages = context;

	return pages->next_page++;
}

static void
write_row(LbPages *pages, int64 page_id, bytea *body)
{
	LbRow		row;

	lb_row_clear(&row);
	lb_row_set(&row, LB_PAGE_COUNTER_ID, Int64GetDatum(pages->counter_id));
	lb_row_set(&row, LB_PAGE_RANKING_ID, Int64GetDatum(pages->ranking_id));
	lb_row_set(&row, LB_PAGE_PAGE_ID, Int64GetDatum(page_id));
	lb_row_set(&row, LB_PAGE_BODY, PointerGetDatum(body));
	lb_rows_insert(pages->rows, &row);
}

static void
keep_back(LbPages *pages, int64 page_id, const uint8_t *body, int size)
{
	pages->kept = palloc(VARHDRSZ + size);
	SET_VARSIZE(pages->kept, VARHDRSZ + size);
	memcpy(VARDATA(pages->kept), body, size);
	pages->kept_id = page_id;
}

/* There is more than one page, so none is kept back. */
static void
give_up_keeping(LbPages *pages)
{
	if (pages->kept != NULL)
		write_row(pages, pages->kept_id, pages->kept);
	pages->kept = NULL;
	pages->keeps = false;
}

static bool
put_page(void *context, int64_t page_id, const uint8_t *body, int size)
{
	LbPages    *pages = context;
	char		copy[VARHDRSZ + LB_PAGE_MAX];

	if (pages->keeps && pages->kept == NULL)
	{
		keep_back(pages, page_id, body, size);
		return true;
	}
	give_up_keeping(pages);
	SET_VARSIZE(copy, VARHDRSZ + size);
	memcpy(VARDATA(copy), body, size);
	write_row(pages, page_id, (bytea *) copy);
	return true;
}

static bool
supersede_page(void *context, int64_t page_id)
{
	LbPages    *pages = context;

	if (page_id == pages->leaf_id)
		return true;			/* it goes with its version */
	if (pages->nsuperseded == pages->capacity)
	{
		pages->capacity = Max(pages->capacity * 2, 64);
		pages->superseded = pages->superseded == NULL ?
			palloc(pages->capacity * sizeof(int64)) :
			repalloc_huge(pages->superseded, pages->capacity * sizeof(int64));
	}
	pages->superseded[pages->nsuperseded++] = page_id;
	return true;
}

static void *
allocate(pg_attribute_unused() void *context, size_t size)
{
	return MemoryContextAllocHuge(CurrentMemoryContext, size);
}

static void
release(pg_attribute_unused() void *context, void *pointer)
{
	pfree(pointer);
}

/* Let the core write, too; ids are given out from next_page on. */
void
lb_pages_write(LbPages *pages, LbRows *rows, int64 next_page)
{
	pages->rows = rows;
	pages->next_page = next_page;
	pages->store.next_id = next_page_id;
	pages->store.put = put_page;
	pages->store.supersede = supersede_page;
	pages->store.alloc = allocate;
	pages->store.release = release;
}

/* Do not write a page that is the whole tree; lb_pages_kept() asks for it. */
void
lb_pages_keep(LbPages *pages)
{
	pages->keeps = true;
}

/* The root, if it was not written: it is new, or the one that was lent. */
const bytea *
lb_pages_kept(LbPages *pages, int64 root)
{
	if (pages->kept != NULL && pages->kept_id == root)
		return pages->kept;
	give_up_keeping(pages);
	return root != 0 && root == pages->leaf_id ? pages->leaf : NULL;
}
