/*-------------------------------------------------------------------------
 *
 * ranktree_apply.c
 *	  Applying a sorted batch of moves to a tree, by copying paths.
 *
 * One walk over the old tree in board order.  Pages into whose range a move
 * falls are taken apart and go through the packer; the others are passed by
 * as single records.  Every old page is read at most once and every new one
 * written once.
 *
 *-------------------------------------------------------------------------
 */
#include "ranktree_pack.h"

typedef struct Apply
{
	LbRankStore *store;
	LbRankPacker *packer;
	LbRankNextMove next;
	void	   *source;
	bool		pending;		/* is there a move to make? */
	int			turn;			/* which member buffer it is in */
	LbRankMove	move;
	uint8_t		member[2][LB_RANK_MEMBER_MAX];
} Apply;

/*
 * Fetches the next move.  Moves come in board order, and one entry at most
 * once, except that its removal may be followed by its insertion.
 */
static LbRankStatus
advance(Apply *apply)
{
	LbRankStore *store = apply->store;
	LbRankMove	last = apply->move;
	bool		first = last.entry.member == NULL;
	LbRankMove *move = &apply->move;
	int			order;
	LbRankStatus status = apply->next(apply->source, move);

	apply->pending = status == LB_RANK_OK;
	if (status == LB_RANK_DONE)
		return LB_RANK_OK;
	if (status != LB_RANK_OK)
		return status;
	if (move->entry.member_len < 1 ||
		move->entry.member_len > LB_RANK_MEMBER_MAX)
		return lb_rank_fail(store, LB_RANK_BAD_INPUT,
							"member has an impossible length", 0);
	apply->turn = !apply->turn;
	memcpy(apply->member[apply->turn], move->entry.member,
		   (size_t) move->entry.member_len);
	move->entry.member = apply->member[apply->turn];
	if (first)
		return LB_RANK_OK;
	order = lb_rank_entry_compare(&last.entry, &move->entry);
	if (order > 0 || (order == 0 && !(last.remove && !move->remove)))
		return lb_rank_fail(store, LB_RANK_BAD_INPUT,
							"moves are out of order", 0);
	return LB_RANK_OK;
}

/* Does the move at hand fall before a separator?  NULL lies after all. */
static bool
falls_before(const Apply *apply, const LbRankEntry *separator)
{
	return apply->pending &&
		(separator == NULL ||
		 lb_rank_entry_compare(&apply->move.entry, separator) < 0);
}

/* Makes the insertions that fall before a place; there must be no removal. */
static LbRankStatus
insert_before(Apply *apply, const LbRankEntry *place, const LbRankEntry *edge)
{
	while (falls_before(apply, place))
	{
		LbRankStatus status;

		if (apply->move.remove)
			return lb_rank_fail(apply->store, LB_RANK_NO_ENTRY,
								"an entry to remove is not in the tree", 0);
		status = lb_rank_pack_entry(apply->packer, &apply->move.entry, edge);
		if (status == LB_RANK_OK)
			status = advance(apply);
		if (status != LB_RANK_OK)
			return status;
	}
	return LB_RANK_OK;
}

/* Sets `keep` to whether an old entry stays, by the moves that name it. */
static LbRankStatus
decide(Apply *apply, const LbRankEntry *entry, bool *keep)
{
	LbRankStatus status;

	*keep = true;
	while (apply->pending &&
		   lb_rank_entry_compare(&apply->move.entry, entry) == 0)
	{
		if (!apply->move.remove && *keep)
			return lb_rank_fail(apply->store, LB_RANK_ENTRY_EXISTS,
								"an entry to insert is in the tree already",
								0);
		*keep = !apply->move.remove;
		status = advance(apply);
		if (status != LB_RANK_OK)
			return status;
	}
	return LB_RANK_OK;
}

/* Merges a leaf's entries with the moves that fall into its range. */
static LbRankStatus
merge_leaf(Apply *apply, const LbRankPage *leaf, const LbRankEntry *edge,
		   const LbRankEntry *upper)
{
	uint8_t		buffer[LB_RANK_MEMBER_MAX];
	LbRankEntry entry;
	int			heap_at = 0;
	int			i;
	bool		keep;

	for (i = 0; i < leaf->n; i++)
	{
		LbRankStatus status;

		heap_at = lb_rank_page_entry(leaf, i, heap_at, buffer, &entry);
		status = insert_before(apply, &entry, edge);
		if (status == LB_RANK_OK)
			status = decide(apply, &entry, &keep);
		if (status == LB_RANK_OK && keep)
			status = lb_rank_pack_entry(apply->packer, &entry, edge);
		if (status != LB_RANK_OK)
			return status;
	}
	return insert_before(apply, upper, edge);
}

static LbRankStatus take_apart(Apply *apply, int64_t page_id, int level,
							   int64_t count, const LbRankEntry *edge,
							   const LbRankEntry *upper);

/*
 * Ends the runs below a page that is to stay as it is.  A run that wants a
 * neighbour gets the page before it; if there is none, or the page to come
 * is of its own level, that page is wanted, and `wanted` is set.
 */
static LbRankStatus
end_runs(Apply *apply, int level, bool *wanted)
{
	LbRankPacker *packer = apply->packer;
	int			below;

	*wanted = false;
	for (below = 0; below <= level; below++)
	{
		bool		overflows = lb_rank_pack_overflows(packer, below);
		LbRankStatus status;

		while (overflows || lb_rank_pack_is_low(packer, below))
		{
			bool		pulled = false;

			packer->run[below].balanced = true;
			if (below < level)
			{
				status = lb_rank_pack_previous(packer, below, &pulled);
				if (status != LB_RANK_OK)
					return status;
			}
			if (!pulled && (below == level || !overflows))
			{
				*wanted = true;
				return LB_RANK_OK;
			}
			overflows = false;
		}
		status = lb_rank_pack_flush(packer, below);
		if (status != LB_RANK_OK)
			return status;
	}
	return LB_RANK_OK;
}

/* Passes by a child into which no move falls, unless a run wants it. */
static LbRankStatus
pass_by(Apply *apply, int level, const LbRankRecord *child,
		const LbRankEntry *edge, const LbRankEntry *upper)
{
	bool		wanted;
	LbRankStatus status = end_runs(apply, level, &wanted);

	if (status != LB_RANK_OK)
		return status;
	if (wanted)
		return take_apart(apply, child->child, level, child->count, edge,
						  upper);
	status = lb_rank_pack_child(apply->packer, level + 1, edge, child->child,
								child->count, child->distinct);

	/* its last rank_key is the next separator's, or smaller */
	apply->packer->last_known = upper != NULL &&
		lb_rank_separator_continues(upper);
	if (upper != NULL)
		apply->packer->last_key = upper->rank_key;
	return status;
}

/* Goes through the children of an inner page. */
static LbRankStatus
take_children(Apply *apply, const LbRankPage *page, const LbRankEntry *edge,
			  const LbRankEntry *upper)
{
	uint8_t		buffer[2][LB_RANK_MEMBER_MAX];
	LbRankEntry separator[2];
	int			heap_at = 0;
	int			i;

	separator[0] = *edge;
	for (i = 0; i < page->n; i++)
	{
		const LbRankEntry *left = &separator[i % 2];
		const LbRankEntry *right = upper;
		LbRankRecord child;
		LbRankStatus status;

		if (i + 1 < page->n)
		{
			right = &separator[(i + 1) % 2];
			heap_at = lb_rank_page_entry(page, i + 1, heap_at,
										 buffer[(i + 1) % 2],
										 &separator[(i + 1) % 2]);
		}
		lb_rank_page_child_record(page, i, &child);
		if (falls_before(apply, right))
		{
			apply->packer->run[page->level - 1].sources++;
			status = take_apart(apply, child.child, page->level - 1,
								child.count, left, right);
		}
		else
			status = pass_by(apply, page->level - 1, &child, left, right);
		if (status != LB_RANK_OK)
			return status;
	}
	return LB_RANK_OK;
}

/*
 * Replaces a page.  `level` and `count` are what its parent says, -1 for the
 * root; `edge` and `upper` the separators around it, NULL where it is the
 * first or the last of its level.
 */
static LbRankStatus
take_apart(Apply *apply, int64_t page_id, int level, int64_t count,
		   const LbRankEntry *edge, const LbRankEntry *upper)
{
	LbRankStore *store = apply->store;
	uint8_t		copy[LB_PAGE_MAX];
	LbRankEntry bare = {0, INT64_MIN, copy, 0};
	LbRankPage	page;
	const uint8_t *body;
	int			size;
	int64_t		entries;
	LbRankStatus status;

	status = lb_rank_read_whole(store, page_id, level, &page, &body, &size);
	if (status != LB_RANK_OK)
		return status;
	memcpy(copy, body, (size_t) size);
	(void) lb_rank_page_open(&page, copy, size);

	entries = page.level > 0 ? lb_rank_page_through(&page, page.n - 1) :
		page.n;
	if (count >= 0 && entries != count)
		return lb_rank_fail(store, LB_RANK_CORRUPT,
							"page has not the entries its parent says",
							page_id);
	bare.rank_key = page.key_base;
	if (edge == NULL)
		edge = &bare;
	else if (edge->rank_key != page.key_base)
		return lb_rank_fail(store, LB_RANK_CORRUPT,
							"page begins elsewhere than its parent says",
							page_id);
	if (!store->supersede(store->context, page_id))
		return lb_rank_fail(store, LB_RANK_STORE_FAILED,
							"a page could not be superseded", page_id);
	if (page.level == 0)
		return merge_leaf(apply, &page, edge, upper);
	return take_children(apply, &page, edge, upper);
}

/* The whole work of lb_ranktree_apply, its packer at hand. */
static LbRankStatus
apply_all(Apply *apply, int64_t root, int64_t *new_root)
{
	LbRankStatus status = advance(apply);

	if (status != LB_RANK_OK)
		return status;
	if (!apply->pending)
	{
		*new_root = root;
		return LB_RANK_OK;
	}
	if (root == 0)
		status = insert_before(apply, NULL, NULL);
	else
		status = take_apart(apply, root, -1, -1, NULL, NULL);
	if (status != LB_RANK_OK)
		return status;
	return lb_rank_pack_finish(apply->packer, new_root);
}

/*
 * Applies moves, which `next` gives in board order, to the tree under `root`
 * and gives the root of the new tree; the old one stays readable as long as
 * its pages are kept.  Every page that only the old tree has is superseded,
 * once.  After any other status than LB_RANK_OK the old tree is what it was,
 * and the pages put so far belong to nothing; roll them back.
 */
LbRankStatus
lb_ranktree_apply(LbRankStore *store, int64_t root, int fill,
				  LbRankNextMove next, void *source, int64_t *new_root)
{
	Apply		apply;
	LbRankStatus status;

	memset(&apply, 0, sizeof(apply));
	apply.store = store;
	apply.next = next;
	apply.source = source;
	*new_root = 0;
	status = lb_rank_packer_create(store, fill, &apply.packer);
	if (status != LB_RANK_OK)
		return status;
	status = apply_all(&apply, root, new_root);
	lb_rank_packer_free(apply.packer);
	return status;
}
