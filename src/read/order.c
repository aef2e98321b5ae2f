/*-------------------------------------------------------------------------
 *
 * order.c
 *	  Board order, read from the ranking's tree.
 *
 * A rank is one probe for the member and a walk from the root to a leaf,
 * whatever the depth.  A bounded board has a tree of its head only; what is
 * deeper is answered from the histogram.  Its tree may reach somewhat further
 * than the head, which no rank lets on: the same board gives the same ranks
 * however often it was trimmed and filled up.  Only lb_around shows neighbours,
 * without a rank, as far as the tree happens to reach.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "miscadmin.h"
#include "utils/builtins.h"

#include "projection/standing.h"
#include "read/answer.h"
#include "read/pin.h"

static int64
rank_key(const LbReading *reading, int64 value)
{
	return lb_rank_key(&reading->board, value);
}

static LbRankEntry
tree_entry(const LbReading *reading, const LbEntry *entry)
{
	return (LbRankEntry) {
		.rank_key = rank_key(reading, entry->value),
		.reached_at = entry->reached_at,
		.member = (const uint8_t *) entry->member.data,
		.member_len = entry->member.len
	};
}

/* Where the entry stands in the order, or would; what is hidden is not there. */
static LbRankPlace
find_place(LbReading *reading, const LbEntry *entry)
{
	LbRankEntry key = tree_entry(reading, entry);
	const LbHidden *hidden = reading->hidden;
	LbRankPlace place;

	lb_pages_check(&reading->pages,
				   lb_ranktree_find(&reading->pages.store, reading->root, &key,
									&place));
	if (hidden != NULL && hidden->position < place.ahead)
		place.ahead--;
	if (hidden != NULL && hidden->rank_key < key.rank_key)
	{
		place.better--;
		place.distinct_better -= hidden->alone;
	}
	return place;
}

/* Is the entry one of the scope's order?  Who has left has one no more. */
static bool
is_in_scope(LbReading *reading, const LbEntry *entry)
{
	return find_place(reading, entry).found;
}

static bool
find_standing(LbReading *reading, LbText member, LbStanding *standing)
{
	Datum		name = PointerGetDatum(cstring_to_text_with_len(member.data, member.len));

	if (reading->pin != 0)
		return lb_pin_standing(reading, name, standing);
	return lb_standing_find(&reading->standing, reading->board.counter_id,
							reading->whole_id, name, standing);
}

/*
 * The member's entry; false if the member is not on the board.  In a scope
 * members have what they have on the whole board.
 */
bool
lb_order_find(LbReading *reading, LbText member, LbEntry *entry)
{
	LbStanding	standing;

	if (reading->ranking_id == 0 || member.len < 1 || member.len > LB_TEXT_MAX)
		return false;
	lb_reading_probe(reading);
	if (!find_standing(reading, member, &standing))
		return false;
	entry->member = member;
	entry->value = standing.value;
	entry->reached_at = standing.reached_at;
	return reading->whole_id == reading->ranking_id || is_in_scope(reading, entry);
}

static LbRankValue
key_place(LbReading *reading, int64 key)
{
	const LbHidden *hidden = reading->hidden;
	LbRankValue place;

	lb_pages_check(&reading->pages,
				   lb_ranktree_value(&reading->pages.store, reading->root, key,
									 &place));
	if (hidden != NULL && hidden->rank_key < key)
	{
		place.better--;
		place.distinct_better -= hidden->alone;
	}
	if (hidden != NULL && hidden->rank_key <= key)
		place.not_worse--;
	return place;
}

/* How many members have a strictly better value, and how many values that is. */
static LbRankValue
value_place(LbReading *reading, int64 value)
{
	return key_place(reading, rank_key(reading, value));
}

int64
lb_order_better(LbReading *reading, int64 value)
{
	return value_place(reading, value).better;
}

/* The entry at a place, counted from zero, which exists. */
static LbRankEntry
entry_at(LbReading *reading, int64 position, LbRankCursor *cursor)
{
	LbRankEntry entry;

	if (reading->hidden != NULL && reading->hidden->position <= position)
		position++;
	lb_pages_check(&reading->pages,
				   lb_ranktree_seek(&reading->pages.store, reading->root,
									position, cursor));
	lb_pages_check(&reading->pages, lb_ranktree_next(cursor, &entry));
	return entry;
}

/* What the head says of everything behind it. */
static LbPlace
behind_head(LbReading *reading)
{
	LbRankCursor cursor;
	LbRankEntry last = entry_at(reading, reading->board.head - 1, &cursor);

	return (LbPlace) {
		.exact = false,
		.better = reading->board.head,
		.better_values = key_place(reading, last.rank_key).distinct_better + 1,
		.place = reading->board.head + 1
	};
}

/*
 * Limit what the tree says to what the board promises.  ahead is the number
 * of entries ahead in board order; known, whether it is more than a lower
 * bound: if not, those behind the tree's end may be better too, unless the
 * last in it are equals.
 */
static LbPlace
limit_to_head(LbReading *reading, LbPlace place, int64 ahead, bool known)
{
	int64		head = reading->board.head;

	if (!reading->board.bounded)
		return place;
	if (place.better >= head)
		return behind_head(reading);
	if (ahead < head && known)
		return place;
	if (reading->board.ties == LB_ORDINAL || (!known && place.better == ahead))
	{
		place.exact = false;
		place.place = Min(head, ahead) + 1; /* at the least */
	}
	else
		place.place = 0;
	return place;
}

/* Where the entry stands. */
LbPlace
lb_order_place(LbReading *reading, const LbEntry *entry)
{
	LbRankPlace found = find_place(reading, entry);
	LbPlace		place;

	if (!found.found && !reading->board.bounded)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("a member on the board is not in the tree of ranking " INT64_FORMAT,
						reading->ranking_id),
				 errhint("lb_check() says more; drop the board and create it again to build it from the buckets.")));
	place = (LbPlace) {
		.exact = true,
		.better = found.better,
		.better_values = found.distinct_better,
		.place = found.ahead + 1
	};
	return limit_to_head(reading, place, found.ahead, found.found);
}

/* Where in the tree the entry is, to hide it. */
void
lb_order_locate(LbReading *reading, const LbEntry *entry, LbHidden *found)
{
	LbRankPlace place = find_place(reading, entry);
	LbRankValue value = value_place(reading, entry->value);

	found->found = place.found;
	found->rank_key = rank_key(reading, entry->value);
	found->position = place.ahead;
	found->alone = value.not_worse - value.better == 1;
}

/*
 * Where an entry stands that the tree does not have and the population counts.
 * ahead, if not NULL: the entries ahead, or -1 if it is behind the end of a
 * bounded board's tree and others may be between.
 */
LbPlace
lb_order_place_new(LbReading *reading, const LbEntry *entry, int64 *ahead)
{
	LbRankPlace found = find_place(reading, entry);
	LbRankTotals totals;
	int64		size;
	bool		known;

	lb_pages_check(&reading->pages,
				   lb_ranktree_totals(&reading->pages.store, reading->root, &totals));
	size = totals.entries - (reading->hidden != NULL);
	known = found.ahead < size || size == reading->population - 1;
	if (ahead != NULL)
		*ahead = known ? found.ahead : -1;
	return limit_to_head(reading,
						 (LbPlace) {
							 .exact = true,
							 .better = found.better,
							 .better_values = found.distinct_better,
							 .place = found.ahead + 1
						 },
						 found.ahead, known);
}

/* Where the value would stand, the last of its equals. */
LbPlace
lb_order_place_of_value(LbReading *reading, int64 value)
{
	LbRankValue found = {0};
	LbPlace		place;

	if (reading->root != 0)
		found = value_place(reading, value);
	place = (LbPlace) {
		.exact = true,
		.better = found.better,
		.better_values = found.distinct_better,
		.place = found.not_worse + 1
	};
	return limit_to_head(reading, place, found.not_worse, true);
}

static void
copy_entry(const LbReading *reading, const LbRankEntry *from, LbEntry *to)
{
	char	   *member = palloc(from->member_len);

	memcpy(member, from->member, from->member_len);
	to->member = (LbText) {member, from->member_len};
	to->value = lb_rank_value(&reading->board, from->rank_key);
	to->reached_at = from->reached_at;
}

/*
 * Read on from a place: up to n entries, each with where it stands, which the
 * first one's place tells for all.
 */
int
lb_order_stretch(LbReading *reading, int64 position, int n, LbEntry *entries,
			 LbPlace *places)
{
	LbRankCursor cursor;
	LbRankValue at = {0};

	lb_pages_check(&reading->pages,
				   lb_ranktree_seek(&reading->pages.store, reading->root,
									position, &cursor));
	for (int i = 0; i < n; i++)
	{
		LbRankEntry entry;
		LbRankStatus status = lb_ranktree_next(&cursor, &entry);

		if (status == LB_RANK_DONE)
			return i;
		lb_pages_check(&reading->pages, status);
		copy_entry(reading, &entry, &entries[i]);
		if (i == 0)
			at = value_place(reading, entries[i].value);
		else if (entries[i].value != entries[i - 1].value)
		{
			at.better = position + i;
			at.distinct_better++;
		}
		places[i] = limit_to_head(reading,
								  (LbPlace) {
									  .exact = true,
									  .better = at.better,
									  .better_values = at.distinct_better,
									  .place = position + i + 1
								  },
								  position + i, true);
	}
	return n;
}

/*
 * The entries from place first on, n of them at the most; of a bounded board
 * none beyond the head.
 */
int
lb_order_page(LbReading *reading, int64 first, int n, LbEntry *entries,
			  LbPlace *places)
{
	int64		last = reading->population;

	if (reading->board.bounded)
		last = Min(last, reading->board.head);
	if (reading->root == 0 || first > last)
		return 0;
	return lb_order_stretch(reading, first - 1, (int) Min(n, last - first + 1),
							entries, places);
}

/*
 * Up to n entries ahead of the entry, itself, and up to n behind it.  Of a
 * bounded board, only the entry where its tree does not reach.
 */
int
lb_order_around(LbReading *reading, const LbEntry *entry, int n,
				LbEntry *entries, LbPlace *places)
{
	LbRankPlace found = find_place(reading, entry);
	int64		first;

	if (!found.found)
	{
		entries[0] = *entry;
		places[0] = lb_order_place(reading, entry);
		return 1;
	}
	first = Max(found.ahead - n, 0);
	return lb_order_stretch(reading, first, (int) (found.ahead - first) + 1 + n,
							entries, places);
}

/* Board order: the better value, then the earlier time, then the bytes. */
int
lb_order_compare(const LbReading *reading, const LbEntry *a, const LbEntry *b)
{
	int64		x = rank_key(reading, a->value);
	int64		y = rank_key(reading, b->value);

	if (x != y)
		return x < y ? -1 : 1;
	if (a->reached_at != b->reached_at)
		return a->reached_at < b->reached_at ? -1 : 1;
	return lb_text_compare(a->member, b->member);
}
