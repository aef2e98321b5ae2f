/*-------------------------------------------------------------------------
 *
 * ranktree_run.c
 *	  The records of one level that wait for their pages.
 *
 * A run knows nothing of stores beyond their memory: it grows, is cut into
 * pages on paper, and shrinks.
 *
 *-------------------------------------------------------------------------
 */
#include "ranktree_pack.h"

/* A larger block with the old one's bytes in it, or NULL. */
static void *
enlarge(LbRankStore *store, void *old, size_t used, size_t size)
{
	void	   *block = store->alloc(store->context, size);

	if (block == NULL)
		return NULL;
	if (old != NULL)
	{
		memcpy(block, old, used);
		store->release(store->context, old);
	}
	return block;
}

/* Makes room for more records and bytes of their members. */
static LbRankStatus
reserve(LbRankStore *store, LbRankRun *run, int records, size_t bytes)
{
	if (run->n + records > run->room)
	{
		int			room = run->room * 2 + records + 256;
		void	   *block = enlarge(store, run->records,
									(size_t) run->n * sizeof(LbRankRecord),
									(size_t) room * sizeof(LbRankRecord));

		if (block == NULL)
			return lb_rank_fail(store, LB_RANK_NO_MEMORY, "out of memory", 0);
		run->records = block;
		run->room = room;
	}
	if (run->bytes_used + bytes >= run->bytes_room)
	{
		size_t		room = run->bytes_room * 2 + bytes + 4096;
		size_t		first = 0;
		uint8_t    *block;

		if (run->open.slots > 0)
			first = (size_t) (run->open.first_member - run->bytes);
		block = enlarge(store, run->bytes, run->bytes_used, room);
		if (block == NULL)
			return lb_rank_fail(store, LB_RANK_NO_MEMORY, "out of memory", 0);
		run->bytes = block;
		run->bytes_room = room;
		run->open.first_member = block + first;
	}
	return LB_RANK_OK;
}

/* Writes a record; its place and the room for its bytes are there. */
static void
set_record(LbRankRun *run, int i, const LbRankEntry *entry,
		   const LbRankRecord *child)
{
	LbRankRecord *record = &run->records[i];

	if (child != NULL)
		*record = *child;
	else
	{
		record->child = 0;
		record->count = 1;
		record->distinct = 0;	/* a leaf's is counted when it is written */
		record->fresh = false;
	}
	record->rank_key = entry->rank_key;
	record->reached_at = entry->reached_at;
	record->member_len = (uint8_t) entry->member_len;
	record->at = (uint32_t) run->bytes_used;
	memcpy(run->bytes + run->bytes_used, entry->member,
		   (size_t) entry->member_len);
	run->bytes_used += (size_t) entry->member_len;
}

static int
measure_record(const LbRankRun *run, int i, LbRankMeasure *measure)
{
	const LbRankRecord *record = &run->records[i];
	LbRankEntry entry = lb_rank_record_entry(record, run->bytes);

	return lb_rank_measure_add(measure, &entry, record->child, record->count,
							   record->distinct);
}

/* Takes record i into the running cuts, which end before it. */
static void
follow_record(LbRankRun *run, int i, int level, int limit)
{
	if (measure_record(run, i, &run->open) <= limit ||
		run->cut_count == LB_RANK_CUTS_MAX)
		return;
	run->cuts[run->cut_count++] = i;
	lb_rank_measure_start(&run->open, level);
	measure_record(run, i, &run->open);
}

/* Measures anew what lies after the last cut. */
static void
measure_open(LbRankRun *run, int level, int limit)
{
	int			i;

	if (run->cut_count > 0 && run->cuts[run->cut_count - 1] == run->n)
		run->cut_count--;
	lb_rank_measure_start(&run->open, level);
	i = run->cut_count > 0 ? run->cuts[run->cut_count - 1] : 0;
	for (; i < run->n; i++)
		follow_record(run, i, level, limit);
}

/*
 * Adds a record at the end: an entry of a leaf (child NULL), or a child and
 * the separator before it.
 */
LbRankStatus
lb_rank_run_append(LbRankStore *store, LbRankRun *run, int level, int limit,
				   const LbRankEntry *entry, const LbRankRecord *child)
{
	LbRankStatus status = reserve(store, run, 1, (size_t) entry->member_len);

	if (status != LB_RANK_OK)
		return status;
	set_record(run, run->n, entry, child);
	follow_record(run, run->n, level, limit);
	run->n++;
	return LB_RANK_OK;
}

/* Puts a page's records before the run's; `edge` is the page's separator. */
LbRankStatus
lb_rank_run_prepend(LbRankStore *store, LbRankRun *run, int level, int limit,
					const LbRankPage *page, const LbRankEntry *edge)
{
	uint8_t		buffer[LB_RANK_MEMBER_MAX];
	LbRankEntry entry;
	LbRankRecord child = {0};
	int			heap_at = 0;
	int			i;
	LbRankStatus status;

	status = reserve(store, run, page->n,
					 (size_t) page->n * LB_RANK_MEMBER_MAX);
	if (status != LB_RANK_OK)
		return status;
	if (run->n > 0)
		memmove(run->records + page->n, run->records,
				(size_t) run->n * sizeof(LbRankRecord));
	for (i = 0; i < page->n; i++)
	{
		heap_at = lb_rank_page_entry(page, i, heap_at, buffer, &entry);
		if (level > 0)
			lb_rank_page_child_record(page, i, &child);
		set_record(run, i, level > 0 && i == 0 ? edge : &entry,
				   level > 0 ? &child : NULL);
	}
	run->n += page->n;
	if (level == 0)
		lb_rank_run_set_head(run, edge);
	run->cut_count = 0;
	measure_open(run, level, limit);
	return LB_RANK_OK;
}

/* Takes the last record away. */
void
lb_rank_run_pop(LbRankRun *run, int level, int limit)
{
	run->n--;
	measure_open(run, level, limit);
}

/* Takes the records before the first cut away; the others move up. */
void
lb_rank_run_drop(LbRankRun *run)
{
	int			first = run->cuts[0];
	uint32_t	at = UINT32_MAX;
	int			i;

	run->n -= first;
	memmove(run->records, run->records + first,
			(size_t) run->n * sizeof(LbRankRecord));
	for (i = 0; i < run->n; i++)
		if (run->records[i].at < at)
			at = run->records[i].at;
	for (i = 0; i < run->n; i++)
		run->records[i].at -= at;
	run->bytes_used -= at;
	memmove(run->bytes, run->bytes + at, run->bytes_used);
	if (run->open.slots > 0)
		run->open.first_member -= at;
	run->cut_count--;
	for (i = 0; i < run->cut_count; i++)
		run->cuts[i] = run->cuts[i + 1] - first;
}

/*
 * Cuts the records from `first` on into pages of at most `limit` bytes, each
 * as full as it can be.  Sets where pages end and returns how many there
 * are, or `most` + 1 if they are more.
 */
int
lb_rank_run_cut(const LbRankRun *run, int level, int first, int limit,
				int *cuts, int most)
{
	LbRankMeasure measure;
	int			pages = 0;
	int			i;

	lb_rank_measure_start(&measure, level);
	for (i = first; i < run->n; i++)
	{
		if (measure_record(run, i, &measure) <= limit)
			continue;
		if (pages == most)
			return most + 1;
		cuts[pages++] = i;
		lb_rank_measure_start(&measure, level);
		measure_record(run, i, &measure);
	}
	if (pages == most)
		return most + 1;
	cuts[pages++] = run->n;

	/* an inner page of one child would say nothing */
	if (level > 0 && pages > 1 && cuts[pages - 2] == run->n - 1)
		cuts[pages - 2]--;
	return pages;
}

/*
 * Cuts into that many pages, or fewer, of much the same size and of at most
 * `limit` bytes, into which they are known to fit.  A few entries more or less
 * make no difference, and every try measures the whole run.
 */
int
lb_rank_run_cut_even(const LbRankRun *run, int level, int first, int pages,
					 int limit, int *cuts)
{
	int			low = limit / 2;
	int			even_enough = limit / 20;

	while (limit - low > even_enough)
	{
		int			middle = low + (limit - low) / 2;

		if (lb_rank_run_cut(run, level, first, middle, cuts, pages) > pages)
			low = middle;
		else
			limit = middle;
	}
	return lb_rank_run_cut(run, level, first, limit, cuts, pages);
}

/* Keeps the separator before the first record of a run of leaves. */
void
lb_rank_run_set_head(LbRankRun *run, const LbRankEntry *head)
{
	/* it may point into head_member itself */
	memmove(run->head_member, head->member, (size_t) head->member_len);
	run->head = *head;
	run->head.member = run->head_member;
}

void
lb_rank_run_clear(LbRankRun *run, int level)
{
	run->n = 0;
	run->bytes_used = 0;
	run->sources = 0;
	run->balanced = false;
	run->cut_count = 0;
	lb_rank_measure_start(&run->open, level);
}
