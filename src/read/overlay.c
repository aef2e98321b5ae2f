/*-------------------------------------------------------------------------
 *
 * overlay.c
 *	  The viewer's own uncounted events, laid over a version.
 *
 * Who has just scored asks for the new rank at once, and rounds come when
 * they come.  With a viewer, answers about that member say what a round that
 * counted this member's events alone would publish: the value by the one rule
 * of accumulation, and its place in the version's order without the viewer's
 * entry there.  All others keep what the version says of them.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "utils/builtins.h"

#include "projection/sketch.h"
#include "projection/sketches.h"
#include "projection/standing.h"
#include "read/overlay.h"
#include "read/tail.h"
#include "scope/membership.h"

bool
lb_is_viewer(const LbReading *reading, LbText member)
{
	return reading->viewer.len > 0 && lb_text_equal(reading->viewer, member);
}

static Datum
viewer_datum(const LbReading *reading)
{
	return PointerGetDatum(cstring_to_text_with_len(reading->viewer.data,
													reading->viewer.len));
}

/* What the viewer's uncounted events add up to in the reading's window. */
static void
read_tail(const LbReading *reading, LbAccum *accum)
{
	LbTailOf of = {
		.counter_id = reading->board.counter_id,
		.op = reading->board.op,
		.size = reading->board.size,
		.grain = reading->board.grain,
		.zone = reading->board.zone,
		.window = reading->window,
		.period = reading->board.period,
		.starts = reading->board.starts,
		.lateness = reading->board.lateness,
		.newest = reading->newest
	};
	LbTail		tail;

	lb_tail_read(&of, reading->viewer, &tail);
	*accum = tail.in_time;
}

/* A round would count the events in a scope for those who belong to it. */
static bool
belongs(const LbReading *reading)
{
	LbMemberships memberships;
	bool		found;

	if (reading->scope.len == 0)
		return true;
	lb_memberships_begin(&memberships);
	found = lb_belongs(&memberships, reading->board.board_id, viewer_datum(reading),
					   reading->scope,
					   lb_board_window(&reading->board, reading->at).closes);
	lb_memberships_end(&memberships);
	return found;
}

/* What the version has of the viewer on the whole board. */
static void
read_stored(LbReading *reading, LbAccum *stored)
{
	int64		whole_id = lb_reading_whole(reading);

	memset(stored, 0, sizeof(*stored));
	if (whole_id == 0)
		return;
	lb_reading_probe(reading);
	lb_standing_accum(&reading->standing, reading->board.counter_id, whole_id,
					  viewer_datum(reading), stored);
	if (stored->n > 0 && lb_is_sketched(reading->board.op))
	{
		LbSketches	sketches;

		lb_sketches_begin(&sketches, false);
		(void) lb_sketches_find(&sketches, reading->board.counter_id, whole_id,
								viewer_datum(reading), stored);
		lb_sketches_end(&sketches);
	}
}

static bool
is_ranked(const LbAccum *accum)
{
	return accum->n > 0 && lb_accum_fits(accum);
}

static LbEntry
entry_of(const LbReading *reading, const LbAccum *accum)
{
	return (LbEntry) {
		.member = reading->viewer,
		.value = (int64) accum->value,
		.reached_at = accum->reached_at
	};
}

/* Is the viewer's entry counted in the version's population, and where is it? */
static bool
find_before(LbReading *reading, const LbAccum *stored, LbHidden *before)
{
	LbEntry		entry = entry_of(reading, stored);

	memset(before, 0, sizeof(*before));
	if (!is_ranked(stored) || reading->ranking_id == 0)
		return false;
	lb_order_locate(reading, &entry, before);
	/* a scope's order is whole: who is not in it is not in the scope */
	return before->found || reading->scope.len == 0;
}

/* The histogram with the viewer's value, if any, for that of the version. */
static const LbHistogram *
changed_histogram(const LbReading *reading, const LbAccum *was, const LbAccum *is)
{
	LbHistogram *histogram = lb_hist_load(lb_hist_store(reading->histogram));

	if (is != NULL)
		lb_hist_change(histogram, (int64) is->value, 1);
	if (was != NULL)
		lb_hist_change(histogram, (int64) was->value, -1);
	return histogram;
}

static LbOverlay *
load_overlay(LbReading *reading)
{
	LbOverlay  *overlay;
	LbAccum		now;
	LbAccum		stored;
	LbHidden	before;
	bool		was;
	bool		is;

	read_tail(reading, &now);
	if (now.n == 0 || !belongs(reading))
		return NULL;
	read_stored(reading, &stored);
	was = find_before(reading, &stored, &before);
	lb_accum_merge(reading->board.op, &now, &stored);
	lb_accum_settle(reading->board.op, &now);
	is = is_ranked(&now);
	if (was == is && (!is || lb_accum_same(&now, &stored)))
		return NULL;			/* not even a round would change anything */

	overlay = palloc0(sizeof(LbOverlay));
	overlay->ranked = is;
	if (is)
		overlay->now = entry_of(reading, &now);
	overlay->before = before;
	overlay->view = *reading;
	overlay->view.hidden = before.found ? &overlay->before : NULL;
	overlay->view.population += is - was;
	if (reading->histogram != NULL)
		overlay->view.histogram = changed_histogram(reading, was ? &stored : NULL,
													is ? &now : NULL);
	return overlay;
}

/* The viewer's overlay; NULL if the version says it all. */
const LbOverlay *
lb_overlay(LbReading *reading)
{
	/* what a round would track, one member's events do not tell */
	if (reading->viewer.len == 0 || reading->board.op == LB_HEAVY)
		return NULL;
	if (!reading->overlay_known)
	{
		reading->overlay = load_overlay(reading);
		reading->overlay_known = true;
	}
	return reading->overlay;
}

/* The same if the member is the viewer; else NULL. */
const LbOverlay *
lb_overlay_of(LbReading *reading, LbText member)
{
	return lb_is_viewer(reading, member) ? lb_overlay(reading) : NULL;
}

/* The answer about the viewer. */
void
lb_overlay_answer(const LbOverlay *overlay, Datum *values, bool *nulls)
{
	LbReading	view = overlay->view;
	LbPlace		place;

	if (!overlay->ranked)
	{
		lb_answer_unranked(&view, view.viewer, values, nulls);
		return;
	}
	place = lb_order_place_new(&view, &overlay->now, NULL);
	lb_answer_ranked(&view, &overlay->now, &place, values, nulls);
}

/* The answer about an entry of a stretch; the viewer's says what is new. */
void
lb_answer_entry(LbReading *reading, const LbEntry *entry, const LbPlace *place,
				Datum *values, bool *nulls)
{
	const LbOverlay *overlay = lb_overlay_of(reading, entry->member);

	if (overlay != NULL)
		lb_overlay_answer(overlay, values, nulls);
	else
		lb_answer_ranked(reading, entry, place, values, nulls);
}

/*
 * The viewer among up to n entries ahead of the new place and n behind it,
 * which are as the version has them; only the viewer where a bounded board's
 * tree does not reach.
 */
int
lb_overlay_around(LbReading *reading, const LbOverlay *overlay, int n,
				  LbEntry *entries, LbPlace *places)
{
	LbReading	view = overlay->view;
	int64		ahead;
	LbPlace		place = lb_order_place_new(&view, &overlay->now, &ahead);
	int64		first;
	int			above;
	int			read;
	int			given = 0;

	if (ahead < 0)
	{
		entries[0] = overlay->now;
		places[0] = place;
		return 1;
	}
	first = Max(ahead - n, 0);
	above = (int) (ahead - first);
	/* the same stretch in the version's order, where the viewer's entry is one more */
	if (overlay->before.found && overlay->before.position < first)
		first++;
	read = lb_order_stretch(reading, first, above + n + 1, entries, places);
	for (int i = 0; i < read && given < above + n; i++)
		if (!overlay->before.found || first + i != overlay->before.position)
		{
			entries[given] = entries[i];
			places[given++] = places[i];
		}
	above = Min(above, given);
	memmove(&entries[above + 1], &entries[above], (given - above) * sizeof(LbEntry));
	memmove(&places[above + 1], &places[above], (given - above) * sizeof(LbPlace));
	entries[above] = overlay->now;
	places[above] = place;
	return given + 1;
}
