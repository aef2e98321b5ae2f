/*-------------------------------------------------------------------------
 *
 * ranktree_check.c
 *	  Is a whole tree what it says it is?
 *
 * Reads every page and every entry and counts again from the leaves up.  No
 * list of pages seen is needed to know that each is reached once: a page met
 * twice would put its entries out of order.
 *
 *-------------------------------------------------------------------------
 */
#include "ranktree_page.h"

typedef struct Check
{
	LbRankStore *store;
	LbRankVisit visit;
	bool		any;			/* has an entry gone by? */
	LbRankEntry last;			/* the last that has */
	uint8_t		last_member[LB_RANK_MEMBER_MAX];
} Check;

/* What a subtree turned out to hold. */
typedef struct Subtree
{
	int64_t		entries;
	int64_t		distinct;
	int64_t		first_key;
	int64_t		last_key;
} Subtree;

static LbRankStatus
corrupt(Check *check, const char *words, int64_t page_id)
{
	return lb_rank_fail(check->store, LB_RANK_CORRUPT, words, page_id);
}

/* The entries of a leaf, each against the one before and the bounds. */
static LbRankStatus
check_leaf(Check *check, int64_t page_id, const LbRankPage *leaf,
		   const LbRankEntry *edge, const LbRankEntry *upper, Subtree *sum)
{
	uint8_t		buffer[LB_RANK_MEMBER_MAX];
	LbRankEntry entry;
	int			heap_at = 0;
	int			i;

	for (i = 0; i < leaf->n; i++)
	{
		heap_at = lb_rank_page_entry(leaf, i, heap_at, buffer, &entry);
		if (check->any && lb_rank_entry_compare(&check->last, &entry) >= 0)
			return corrupt(check, "an entry is out of order", page_id);
		if (edge != NULL && lb_rank_entry_compare(edge, &entry) > 0)
			return corrupt(check, "an entry is before its leaf's separator",
						   page_id);
		if (upper != NULL && lb_rank_entry_compare(upper, &entry) <= 0)
			return corrupt(check, "an entry is not before the next separator",
						   page_id);
		if (i == 0)
			sum->first_key = entry.rank_key;
		if (i == 0 || sum->last_key != entry.rank_key)
			sum->distinct++;
		sum->last_key = entry.rank_key;
		sum->entries++;

		check->any = true;
		check->last = entry;
		memcpy(check->last_member, entry.member, (size_t) entry.member_len);
		check->last.member = check->last_member;
	}
	return LB_RANK_OK;
}

/* What a child turned out to be against what its parent says of it. */
static LbRankStatus
check_child(Check *check, int64_t page_id, int i, const LbRankRecord *said,
			const LbRankEntry *separator, const Subtree *child, Subtree *sum)
{
	bool		continues = i > 0 && sum->last_key == child->first_key;

	if (said->count != child->entries)
		return corrupt(check, "a child has another number of entries than "
					   "the page says", page_id);
	if (said->distinct != child->distinct)
		return corrupt(check, "a child has another number of distinct values "
					   "than the page says", page_id);
	if (separator->rank_key != child->first_key)
		return corrupt(check, "a child begins with another value than the "
					   "page says", page_id);
	if (i > 0 && lb_rank_separator_continues(separator) != continues)
		return corrupt(check, "a separator is wrong about a value that goes "
					   "on", page_id);
	if (i == 0)
		sum->first_key = child->first_key;
	sum->last_key = child->last_key;
	sum->entries += child->entries;
	sum->distinct += child->distinct - continues;
	return LB_RANK_OK;
}

static LbRankStatus check_page(Check *check, int64_t page_id, int level,
							   const LbRankEntry *edge,
							   const LbRankEntry *upper, Subtree *sum);

static LbRankStatus
check_children(Check *check, int64_t page_id, const LbRankPage *page,
			   const LbRankEntry *edge, const LbRankEntry *upper,
			   Subtree *sum)
{
	uint8_t		buffer[2][LB_RANK_MEMBER_MAX];
	LbRankEntry separator[2];
	int			heap_at;
	int			i;

	heap_at = lb_rank_page_entry(page, 0, 0, buffer[0], &separator[0]);
	for (i = 0; i < page->n; i++)
	{
		const LbRankEntry *left = &separator[i % 2];
		const LbRankEntry *right = upper;
		LbRankRecord said;
		Subtree		child = {0, 0, 0, 0};
		LbRankStatus status;

		if (i + 1 < page->n)
		{
			right = &separator[(i + 1) % 2];
			heap_at = lb_rank_page_entry(page, i + 1, heap_at,
										 buffer[(i + 1) % 2],
										 &separator[(i + 1) % 2]);
		}
		lb_rank_page_child_record(page, i, &said);
		status = check_page(check, said.child, page->level - 1,
							i == 0 ? edge : left, right, &child);
		if (status == LB_RANK_OK)
			status = check_child(check, page_id, i, &said, left, &child, sum);
		if (status != LB_RANK_OK)
			return status;
	}
	return LB_RANK_OK;
}

static LbRankStatus
check_page(Check *check, int64_t page_id, int level, const LbRankEntry *edge,
		   const LbRankEntry *upper, Subtree *sum)
{
	uint8_t		copy[LB_PAGE_MAX];
	LbRankPage	page;
	const uint8_t *body;
	int			size;
	LbRankStatus status;

	status = lb_rank_read_whole(check->store, page_id, level, &page, &body,
								&size);
	if (status != LB_RANK_OK)
		return status;
	if (check->visit != NULL)
		check->visit(check->store->context, page_id, page.level, size);
	memcpy(copy, body, (size_t) size);
	(void) lb_rank_page_open(&page, copy, size);
	if (page.level == 0)
		return check_leaf(check, page_id, &page, edge, upper, sum);
	return check_children(check, page_id, &page, edge, upper, sum);
}

/*
 * Checks everything that other calls rely on.  LB_RANK_OK, or LB_RANK_CORRUPT
 * and the first problem in store->message.  `visit`, if not NULL, sees every
 * page of the tree.
 */
LbRankStatus
lb_ranktree_check(LbRankStore *store, int64_t root, LbRankVisit visit,
				  LbRankTotals *totals)
{
	Check		check;
	Subtree		sum = {0, 0, 0, 0};
	LbRankStatus status;

	memset(&check, 0, sizeof(check));
	check.store = store;
	check.visit = visit;
	status = lb_ranktree_totals(store, root, totals);
	if (status != LB_RANK_OK || root == 0)
		return status;
	status = check_page(&check, root, totals->height - 1, NULL, NULL, &sum);
	if (status != LB_RANK_OK)
		return status;
	if (sum.entries != totals->entries || sum.distinct != totals->distinct)
		return corrupt(&check, "the root's totals are wrong", root);
	return LB_RANK_OK;
}
