/*-------------------------------------------------------------------------
 *
 * ranktree_pack.c
 *	  Packing a stream of records into pages, all levels at once.
 *
 * A page written on one level is a record of the next.  Each level holds
 * back a few pages' worth of records, so that a run's end can be shared out
 * evenly and no page is written that would be written again.
 *
 *-------------------------------------------------------------------------
 */
#include "ranktree_pack.h"

/* A packer with nothing in it. */
LbRankStatus
lb_rank_packer_create(LbRankStore *store, int fill, LbRankPacker **packer)
{
	int			level;

	*packer = NULL;
	if (fill < LB_RANK_FILL_MIN || fill > LB_RANK_FILL_MAX)
		return lb_rank_fail(store, LB_RANK_BAD_INPUT,
							"fill is out of range", 0);
	*packer = store->alloc(store->context, sizeof(LbRankPacker));
	if (*packer == NULL)
		return lb_rank_fail(store, LB_RANK_NO_MEMORY, "out of memory", 0);
	memset(*packer, 0, sizeof(LbRankPacker));
	(*packer)->store = store;
	(*packer)->limit = LB_PAGE_MAX * fill / 100;
	for (level = 0; level <= LB_RANK_LEVEL_MAX; level++)
		lb_rank_run_clear(&(*packer)->run[level], level);
	return LB_RANK_OK;
}

void
lb_rank_packer_free(LbRankPacker *packer)
{
	LbRankStore *store = packer->store;
	int			level;

	for (level = 0; level <= LB_RANK_LEVEL_MAX; level++)
	{
		if (packer->run[level].records != NULL)
			store->release(store->context, packer->run[level].records);
		if (packer->run[level].bytes != NULL)
			store->release(store->context, packer->run[level].bytes);
	}
	store->release(store->context, packer);
}

/* Entries and rank_keys of the records first .. end - 1. */
static void
sum_records(const LbRankRun *run, int level, int first, int end,
			LbRankRecord *page)
{
	int			i;

	page->count = page->distinct = 0;
	for (i = first; i < end; i++)
	{
		const LbRankRecord *record = &run->records[i];
		LbRankEntry entry = lb_rank_record_entry(record, run->bytes);

		page->count += record->count;
		page->distinct += record->distinct;
		if (level == 0)
			page->distinct += i == first ||
				record->rank_key != run->records[i - 1].rank_key;
		else if (i > first && lb_rank_separator_continues(&entry))
			page->distinct--;
	}
}

/* The separator before record i, and so of a page that begins there. */
static LbRankEntry
separator_before(const LbRankRun *run, int level, int i)
{
	LbRankEntry right = lb_rank_record_entry(&run->records[i], run->bytes);
	LbRankEntry left;
	LbRankEntry separator;

	if (level > 0)
		return right;
	if (i == 0)
		return run->head;
	left = lb_rank_record_entry(&run->records[i - 1], run->bytes);
	lb_rank_entry_separate(&left, &right, &separator);
	return separator;
}

static LbRankStatus write_first_page(LbRankPacker *packer, int level);

/* Adds a record to a level; writes its first page when enough is held. */
static LbRankStatus
append(LbRankPacker *packer, int level, const LbRankEntry *entry,
	   const LbRankRecord *child)
{
	LbRankRun  *run = &packer->run[level];
	LbRankStatus status;

	if (run->n > 0)
	{
		LbRankEntry last = lb_rank_record_entry(&run->records[run->n - 1],
												run->bytes);

		if (lb_rank_entry_compare(&last, entry) >= 0)
			return lb_rank_fail(packer->store, LB_RANK_CORRUPT,
								"the tree's pages are out of order", 0);
	}
	status = lb_rank_run_append(packer->store, run, level, packer->limit,
								entry, child);
	if (status == LB_RANK_OK && run->cut_count >= LB_RANK_CUTS_HELD)
		status = write_first_page(packer, level);
	return status;
}

/* Writes the page of records first .. end - 1; adds it to the level above. */
static LbRankStatus
write_page(LbRankPacker *packer, int level, int first, int end)
{
	LbRankStore *store = packer->store;
	LbRankRun  *run = &packer->run[level];
	LbRankEntry separator = separator_before(run, level, first);
	LbRankRecord page;
	int			size;

	if (level == LB_RANK_LEVEL_MAX)
		return lb_rank_fail(store, LB_RANK_BAD_INPUT,
							"the tree would become too high", 0);
	size = lb_rank_page_encode(packer->body, level, run->records + first,
							   end - first, run->bytes);
	if (size < 0)
		return lb_rank_fail(store, LB_RANK_CORRUPT,
							"records do not fit their page", 0);
	page.fresh = true;
	sum_records(run, level, first, end, &page);
	page.child = store->next_id(store->context);
	if (page.child < 1 ||
		!store->put(store->context, page.child, packer->body, size))
		return lb_rank_fail(store, LB_RANK_STORE_FAILED,
							"a page could not be stored", 0);
	return append(packer, level + 1, &separator, &page);
}

static LbRankStatus
write_first_page(LbRankPacker *packer, int level)
{
	LbRankRun  *run = &packer->run[level];
	LbRankStatus status = write_page(packer, level, 0, run->cuts[0]);
	LbRankEntry head;

	if (status != LB_RANK_OK)
		return status;
	head = separator_before(run, level, run->cuts[0]);
	if (level == 0)
		lb_rank_run_set_head(run, &head);
	lb_rank_run_drop(run);
	run->balanced = true;
	return LB_RANK_OK;
}

/*
 * Adds the next entry.  `edge` is the separator of the old leaf in whose
 * range it falls, NULL if there is none; it is used where a rank_key goes on
 * from a page that stays as it is.
 */
LbRankStatus
lb_rank_pack_entry(LbRankPacker *packer, const LbRankEntry *entry,
				   const LbRankEntry *edge)
{
	LbRankRun  *run = &packer->run[0];

	if (run->n == 0)
	{
		LbRankEntry head = {entry->rank_key, INT64_MIN, entry->member, 0};

		if (packer->last_known && packer->last_key == entry->rank_key)
		{
			if (edge == NULL || edge->rank_key != entry->rank_key ||
				!lb_rank_separator_continues(edge))
				return lb_rank_fail(packer->store, LB_RANK_CORRUPT,
									"a value goes on across a separator that "
									"does not say so", 0);
			head = *edge;
		}
		lb_rank_run_set_head(run, &head);
	}
	packer->last_known = true;
	packer->last_key = entry->rank_key;
	return append(packer, 0, entry, NULL);
}

/*
 * Adds a child that stays as it is to a level above the leaves.  All levels
 * below must have been flushed.  The caller then sets what is known of the
 * last rank_key.
 */
LbRankStatus
lb_rank_pack_child(LbRankPacker *packer, int level,
				   const LbRankEntry *separator, int64_t child,
				   int64_t count, int64_t distinct)
{
	LbRankEntry bare = {separator->rank_key, INT64_MIN, separator->member, 0};
	LbRankRecord record;

	record.child = child;
	record.count = count;
	record.distinct = distinct;
	record.fresh = false;
	if (!packer->last_known || packer->last_key != separator->rank_key)
		return append(packer, level, &bare, &record);
	if (!lb_rank_separator_continues(separator))
		return lb_rank_fail(packer->store, LB_RANK_CORRUPT,
							"a value goes on across a separator that does "
							"not say so", 0);
	return append(packer, level, separator, &record);
}

/* Would the run end in a page too small? */
bool
lb_rank_pack_is_low(const LbRankPacker *packer, int level)
{
	const LbRankRun *run = &packer->run[level];

	return run->n > 0 && run->cut_count == 0 &&
		run->open.size < LB_RANK_PAGE_LOW;
}

/*
 * Has a single page outgrown itself, and not been given a neighbour yet?
 * Two pages in three keep fuller than one page in two.
 */
bool
lb_rank_pack_overflows(const LbRankPacker *packer, int level)
{
	const LbRankRun *run = &packer->run[level];
	int			cuts[1];

	return run->cut_count == 1 && run->sources == 1 && !run->balanced &&
		lb_rank_run_cut(run, level, 0, LB_PAGE_MAX, cuts, 1) > 1;
}

/*
 * Takes the page before the run, which stayed as it was until now, into the
 * run.  `pulled` is false if there is none.
 */
LbRankStatus
lb_rank_pack_previous(LbRankPacker *packer, int level, bool *pulled)
{
	LbRankStore *store = packer->store;
	LbRankRun  *above;
	LbRankRecord *record;
	LbRankEntry edge;
	LbRankPage	page;
	const uint8_t *body;
	int			size;
	LbRankStatus status;

	*pulled = false;
	if (level == LB_RANK_LEVEL_MAX)
		return LB_RANK_OK;
	above = &packer->run[level + 1];
	if (above->n == 0)
	{
		status = lb_rank_pack_previous(packer, level + 1, pulled);
		if (status != LB_RANK_OK || !*pulled)
			return status;
		*pulled = false;
	}
	record = &above->records[above->n - 1];
	if (record->fresh)
		return LB_RANK_OK;		/* written just now: leave it */
	status = lb_rank_read_whole(store, record->child, level, &page, &body,
								&size);
	if (status != LB_RANK_OK)
		return status;
	edge = lb_rank_record_entry(record, above->bytes);
	status = lb_rank_run_prepend(store, &packer->run[level], level,
								 packer->limit, &page, &edge);
	if (status != LB_RANK_OK)
		return status;
	if (!store->supersede(store->context, record->child))
		return lb_rank_fail(store, LB_RANK_STORE_FAILED,
							"a page could not be superseded", record->child);
	lb_rank_run_pop(above, level + 1, packer->limit);
	*pulled = true;
	return LB_RANK_OK;
}

/*
 * Into how many pages?  As many as the fill asks for, but a few pages that
 * still hold their records are not split for its sake.
 */
static int
cut_run(const LbRankPacker *packer, int level, int first, int *cuts)
{
	const LbRankRun *run = &packer->run[level];
	int			limit = packer->limit;
	int			most = LB_RANK_CUTS_HELD + 1;
	int			full_cuts[LB_RANK_CUTS_HELD + 1];
	int			pages;
	int			full;

	pages = lb_rank_run_cut(run, level, first, limit, cuts, most);
	if (pages == 1 || pages > most)
		return pages;
	full = lb_rank_run_cut(run, level, first, LB_PAGE_MAX, full_cuts, most);
	if (full <= run->sources && run->sources < pages)
	{
		pages = run->sources;
		limit = LB_PAGE_MAX;
	}
	if (pages == 1)
	{
		cuts[0] = run->n;
		return 1;
	}
	return lb_rank_run_cut_even(run, level, first, pages, limit, cuts);
}

/* Writes all of a run. */
LbRankStatus
lb_rank_pack_flush(LbRankPacker *packer, int level)
{
	LbRankRun  *run = &packer->run[level];
	int			cuts[LB_RANK_CUTS_HELD + 1];
	int			first = 0;

	while (first < run->n)
	{
		int			pages = cut_run(packer, level, first, cuts);
		int			i;

		/* more than are cut at once: write one and look again */
		if (pages > LB_RANK_CUTS_HELD + 1)
			pages = 1;
		for (i = 0; i < pages; i++)
		{
			LbRankStatus status = write_page(packer, level, first, cuts[i]);

			if (status != LB_RANK_OK)
				return status;
			first = cuts[i];
		}
	}
	lb_rank_run_clear(run, level);
	return LB_RANK_OK;
}

static bool
is_top(const LbRankPacker *packer, int level)
{
	while (++level <= LB_RANK_LEVEL_MAX)
		if (packer->run[level].n > 0)
			return false;
	return true;
}

/* Gives the last run of a level the neighbour it wants, which is before it. */
static LbRankStatus
balance_last(LbRankPacker *packer, int level)
{
	bool		pulled = true;
	LbRankStatus status = LB_RANK_OK;

	if (lb_rank_pack_overflows(packer, level))
		status = lb_rank_pack_previous(packer, level, &pulled);
	while (status == LB_RANK_OK && pulled && lb_rank_pack_is_low(packer, level))
		status = lb_rank_pack_previous(packer, level, &pulled);
	return status;
}

/* Writes what is held on all levels and gives the root, 0 if there was none. */
LbRankStatus
lb_rank_pack_finish(LbRankPacker *packer, int64_t *new_root)
{
	int			level;

	*new_root = 0;
	for (level = 0; level <= LB_RANK_LEVEL_MAX; level++)
	{
		LbRankRun  *run = &packer->run[level];
		bool		top = is_top(packer, level);
		int			cuts[1];
		LbRankStatus status = LB_RANK_OK;

		if (run->n == 0)
			continue;
		if (top && level > 0 && run->n == 1)
		{
			*new_root = run->records[0].child;
			return LB_RANK_OK;
		}
		if (!top)
			status = balance_last(packer, level);
		if (status != LB_RANK_OK)
			return status;
		if (top && lb_rank_run_cut(run, level, 0, LB_PAGE_MAX, cuts, 1) == 1)
			status = write_page(packer, level, 0, run->n);
		else
			status = lb_rank_pack_flush(packer, level);
		if (status != LB_RANK_OK)
			return status;
		lb_rank_run_clear(run, level);
	}
	return LB_RANK_OK;
}
