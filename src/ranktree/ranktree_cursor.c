/*-------------------------------------------------------------------------
 *
 * ranktree_cursor.c
 *	  Selecting by position, and walking both ways from there.
 *
 *-------------------------------------------------------------------------
 */
#include "ranktree_page.h"

/* Where in its leaf the cursor stands: entries of the leaf before it. */
#define SLOT(cursor)	((cursor)->slot[0])

/* The cursor's own copy of its leaf, opened. */
static void
open_leaf(LbRankCursor *cursor, LbRankPage *leaf)
{
	/* cannot fail: it was opened before it was copied */
	(void) lb_rank_page_open(leaf, cursor->leaf, cursor->leaf_size);
}

/*
 * Goes down from the page noted for `level` to a leaf, always to the first
 * or to the last child, and stands before its first or after its last entry.
 */
static LbRankStatus
go_down(LbRankCursor *cursor, int level, bool to_last)
{
	LbRankPage	page;
	const uint8_t *body;
	int			size;
	LbRankStatus status;

	for (;; level--)
	{
		status = lb_rank_read(cursor->store, cursor->page_id[level], level,
							  &page, &body, &size);
		if (status != LB_RANK_OK)
			return status;
		cursor->fanout[level] = page.n;
		if (level == 0)
			break;
		cursor->slot[level] = to_last ? page.n - 1 : 0;
		cursor->page_id[level - 1] =
			lb_rank_page_child(&page, cursor->slot[level]);
	}
	memcpy(cursor->leaf, body, (size_t) size);
	cursor->leaf_size = size;
	SLOT(cursor) = to_last ? page.n : 0;
	cursor->heap_at = to_last ? page.heap_size : 0;
	return LB_RANK_OK;
}

/* Moves to the neighbouring leaf; LB_RANK_DONE if there is none. */
static LbRankStatus
go_beside(LbRankCursor *cursor, bool forward)
{
	int			level;
	LbRankPage	page;
	const uint8_t *body;
	int			size;
	LbRankStatus status;

	for (level = 1; level < cursor->height; level++)
		if (forward ? cursor->slot[level] + 1 < cursor->fanout[level] :
			cursor->slot[level] > 0)
			break;
	if (level >= cursor->height)
		return LB_RANK_DONE;

	status = lb_rank_read(cursor->store, cursor->page_id[level], level, &page,
						  &body, &size);
	if (status != LB_RANK_OK)
		return status;
	cursor->slot[level] += forward ? 1 : -1;
	if (cursor->slot[level] >= page.n)
		return lb_rank_fail(cursor->store, LB_RANK_CORRUPT,
							"page has changed under a cursor",
							cursor->page_id[level]);
	cursor->page_id[level - 1] =
		lb_rank_page_child(&page, cursor->slot[level]);
	return go_down(cursor, level - 1, !forward);
}

/*
 * Stands before the entry at a position counted from 0; at the end if there
 * are not so many.  The cursor then holds all it needs beside the store.
 */
LbRankStatus
lb_ranktree_seek(LbRankStore *store, int64_t root, int64_t position,
				 LbRankCursor *cursor)
{
	LbRankPage	page;
	const uint8_t *body;
	int			size;
	int			level = -1;
	int64_t		page_id = root;
	int64_t		rest = position < 0 ? 0 : position;
	LbRankStatus status;

	cursor->store = store;
	cursor->root = root;
	cursor->position = 0;
	cursor->height = 0;
	if (root == 0)
		return LB_RANK_OK;
	for (;; level = page.level - 1)
	{
		int			i;

		status = lb_rank_read(store, page_id, level, &page, &body, &size);
		if (status != LB_RANK_OK)
			return status;
		if (level < 0)
			cursor->height = page.level + 1;
		level = page.level;
		cursor->page_id[level] = page_id;
		cursor->fanout[level] = page.n;
		if (level == 0)
			break;
		i = lb_rank_page_through_bound(&page, rest);
		if (i >= page.n)
			i = page.n - 1;
		if (i > 0)
		{
			cursor->position += lb_rank_page_through(&page, i - 1);
			rest -= lb_rank_page_through(&page, i - 1);
			if (rest < 0)
				rest = 0;		/* only where counts are not in order */
		}
		cursor->slot[level] = i;
		page_id = lb_rank_page_child(&page, i);
	}
	SLOT(cursor) = rest < page.n ? (int) rest : page.n;
	cursor->position += SLOT(cursor);
	cursor->heap_at = lb_rank_page_heap_at(&page, SLOT(cursor));
	memcpy(cursor->leaf, body, (size_t) size);
	cursor->leaf_size = size;
	return LB_RANK_OK;
}

/* Stands before the first entry that is not before the given one. */
LbRankStatus
lb_ranktree_seek_entry(LbRankStore *store, int64_t root,
					   const LbRankEntry *entry, LbRankCursor *cursor)
{
	LbRankPlace place;
	LbRankStatus status = lb_ranktree_find(store, root, entry, &place);

	if (status != LB_RANK_OK)
		return status;
	return lb_ranktree_seek(store, root, place.ahead, cursor);
}

/*
 * Gives the entry after the cursor and steps over it; LB_RANK_DONE at the
 * end.  The member's bytes live until the cursor's next move.
 */
LbRankStatus
lb_ranktree_next(LbRankCursor *cursor, LbRankEntry *entry)
{
	LbRankPage	leaf;

	if (cursor->height == 0)
		return LB_RANK_DONE;
	if (SLOT(cursor) >= cursor->fanout[0])
	{
		LbRankStatus status = go_beside(cursor, true);

		if (status != LB_RANK_OK)
			return status;
	}
	open_leaf(cursor, &leaf);
	cursor->heap_at = lb_rank_page_entry(&leaf, SLOT(cursor), cursor->heap_at,
										 cursor->member, entry);
	SLOT(cursor)++;
	cursor->position++;
	return LB_RANK_OK;
}

/* The same backwards: gives the entry before the cursor. */
LbRankStatus
lb_ranktree_previous(LbRankCursor *cursor, LbRankEntry *entry)
{
	LbRankPage	leaf;

	if (cursor->height == 0)
		return LB_RANK_DONE;
	if (SLOT(cursor) == 0)
	{
		LbRankStatus status = go_beside(cursor, false);

		if (status != LB_RANK_OK)
			return status;
	}
	open_leaf(cursor, &leaf);
	SLOT(cursor)--;
	cursor->position--;
	cursor->heap_at -= lb_rank_page_length(&leaf, SLOT(cursor));
	(void) lb_rank_page_entry(&leaf, SLOT(cursor), cursor->heap_at,
							  cursor->member, entry);
	return LB_RANK_OK;
}
