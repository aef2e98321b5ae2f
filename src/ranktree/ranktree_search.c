/*-------------------------------------------------------------------------
 *
 * ranktree_search.c
 *	  Rank questions: where does an entry stand, where a value.
 *
 * One walk from the root to a leaf, counting what lies to the left.  Only
 * where equal values reach over the leaf's edge is a second walk needed, to
 * the other end of them.
 *
 *-------------------------------------------------------------------------
 */
#include "ranktree_page.h"

/*
 * What a walk has learnt.  Beside the leaf: everything to its left, and the
 * nearest separators on both sides.
 */
typedef struct Descent
{
	LbRankPage	leaf;
	int64_t		ahead;			/* entries left of the leaf */
	int64_t		distinct;		/* rank_keys left of it, see descend */
	bool		left_continues; /* the last rank_key on the left goes on here */
	bool		right_continues;	/* the leaf's last goes on on the right */
	int64_t		left_key;
	int64_t		right_key;
} Descent;

/* The child in whose range an entry falls. */
static int
choose_child(const LbRankPage *page, const LbRankEntry *entry)
{
	int			first = lb_rank_page_lower_bound(page, entry->rank_key);
	int			end = first;
	bool		found;

	if (first < page->n && lb_rank_page_key(page, first) == entry->rank_key)
		end = lb_rank_page_upper_bound(page, entry->rank_key);
	if (first == 0)
		first = 1;				/* nothing is kept of the first separator */
	if (first < end)
	{
		first = lb_rank_page_find(page, first, end, entry, &found);
		if (found)
			first++;
	}
	return first - 1;
}

/*
 * Walks to the leaf in whose range an entry falls.
 *
 * `distinct` counts the rank_keys left of the leaf, less those that go on
 * to the right of a separator on the path.  So with the leaf's own keys that
 * are smaller than the entry's, it makes the keys smaller than the entry's,
 * if the entry's own rank_key does not itself lie across such a separator;
 * who asks for (rank_key, INT64_MIN, '') can be sure of that.
 */
static LbRankStatus
descend(LbRankStore *store, int64_t root, const LbRankEntry *entry,
		Descent *walk)
{
	LbRankPage *page = &walk->leaf;
	int64_t		page_id = root;
	int			level = -1;

	walk->ahead = walk->distinct = 0;
	walk->left_continues = walk->right_continues = false;
	walk->left_key = walk->right_key = 0;
	for (;;)
	{
		const uint8_t *body;
		int			size;
		int			i;
		LbRankStatus status = lb_rank_read(store, page_id, level, page, &body,
										   &size);

		if (status != LB_RANK_OK || page->level == 0)
			return status;

		i = choose_child(page, entry);
		if (i > 0)
		{
			walk->left_continues = lb_rank_page_continues(page, i);
			walk->left_key = lb_rank_page_key(page, i);
			walk->ahead += lb_rank_page_through(page, i - 1);
			walk->distinct += lb_rank_page_distinct_through(page, i - 1) -
				walk->left_continues;
		}
		if (i + 1 < page->n)
		{
			walk->right_continues = lb_rank_page_continues(page, i + 1);
			walk->right_key = lb_rank_page_key(page, i + 1);
		}
		page_id = lb_rank_page_child(page, i);
		level = page->level - 1;
	}
}

/* Entries and rank_keys smaller than a rank_key, by a walk of its own. */
static LbRankStatus
count_better(LbRankStore *store, int64_t root, int64_t rank_key,
			 int64_t *better, int64_t *distinct_better)
{
	LbRankEntry before_all = {rank_key, INT64_MIN, (const uint8_t *) "", 0};
	Descent		walk;
	LbRankStatus status = descend(store, root, &before_all, &walk);
	int			first;

	if (status != LB_RANK_OK)
		return status;
	first = lb_rank_page_lower_bound(&walk.leaf, rank_key);
	*better = walk.ahead + first;
	*distinct_better = walk.distinct + lb_rank_page_distinct(&walk.leaf, first);
	return LB_RANK_OK;
}

/* How many entries and rank_keys a tree has, and how high it is. */
LbRankStatus
lb_ranktree_totals(LbRankStore *store, int64_t root, LbRankTotals *totals)
{
	LbRankPage	page;
	const uint8_t *body;
	int			size;
	LbRankStatus status;

	memset(totals, 0, sizeof(*totals));
	if (root == 0)
		return LB_RANK_OK;
	status = lb_rank_read(store, root, -1, &page, &body, &size);
	if (status != LB_RANK_OK)
		return status;
	totals->height = page.level + 1;
	if (page.level == 0)
	{
		totals->entries = page.n;
		totals->distinct = lb_rank_page_distinct(&page, page.n);
	}
	else
	{
		totals->entries = lb_rank_page_through(&page, page.n - 1);
		totals->distinct = lb_rank_page_distinct_through(&page, page.n - 1);
	}
	return LB_RANK_OK;
}

/*
 * Where an entry stands; where it would, if it is not there.  `better` and
 * `distinct_better` depend on its rank_key only.
 */
LbRankStatus
lb_ranktree_find(LbRankStore *store, int64_t root, const LbRankEntry *entry,
				 LbRankPlace *place)
{
	Descent		walk;
	LbRankStatus status;
	int			first;
	int			end;

	memset(place, 0, sizeof(*place));
	if (root == 0)
		return LB_RANK_OK;
	status = descend(store, root, entry, &walk);
	if (status != LB_RANK_OK)
		return status;

	first = lb_rank_page_lower_bound(&walk.leaf, entry->rank_key);
	place->better = walk.ahead + first;
	place->ahead = place->better;
	if (first < walk.leaf.n &&
		lb_rank_page_key(&walk.leaf, first) == entry->rank_key)
	{
		end = lb_rank_page_upper_bound(&walk.leaf, entry->rank_key);
		place->ahead = walk.ahead +
			lb_rank_page_find(&walk.leaf, first, end, entry, &place->found);
	}

	if (first == 0 && walk.left_continues &&
		walk.left_key == entry->rank_key)
		return count_better(store, root, entry->rank_key, &place->better,
							&place->distinct_better);
	place->distinct_better = walk.distinct +
		lb_rank_page_distinct(&walk.leaf, first);
	return LB_RANK_OK;
}

/* How many are ahead of a rank_key, and how many with those who share it. */
LbRankStatus
lb_ranktree_value(LbRankStore *store, int64_t root, int64_t rank_key,
				  LbRankValue *value)
{
	LbRankEntry before_all = {rank_key, INT64_MIN, (const uint8_t *) "", 0};
	Descent		walk;
	LbRankStatus status;
	LbRankTotals totals;
	int64_t		ignored;
	int			first;
	int			end;

	memset(value, 0, sizeof(*value));
	if (root == 0)
		return LB_RANK_OK;
	status = descend(store, root, &before_all, &walk);
	if (status != LB_RANK_OK)
		return status;

	first = lb_rank_page_lower_bound(&walk.leaf, rank_key);
	end = lb_rank_page_upper_bound(&walk.leaf, rank_key);
	value->better = walk.ahead + first;
	value->distinct_better = walk.distinct +
		lb_rank_page_distinct(&walk.leaf, first);
	value->not_worse = walk.ahead + end;

	/*
	 * Had a leaf to the right begun with the value's first entry, the walk
	 * had ended there; so more of them follow only if the value is in this
	 * leaf and goes on.
	 */
	if (end == walk.leaf.n && walk.right_continues &&
		walk.right_key == rank_key)
	{
		if (rank_key < INT64_MAX)
			return count_better(store, root, rank_key + 1, &value->not_worse,
								&ignored);
		status = lb_ranktree_totals(store, root, &totals);
		value->not_worse = totals.entries;
	}
	return status;
}
