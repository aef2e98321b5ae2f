/*-------------------------------------------------------------------------
 *
 * overlay.h
 *	  The viewer's own uncounted events, laid over a version.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_OVERLAY_H
#define LB_OVERLAY_H

#include "leaderboard.h"

#include "read/answer.h"

/*
 * What the viewer has beyond the version.  Everybody else has what the
 * version says, so only answers about the viewer are given from it.
 */
typedef struct LbOverlay
{
	bool		ranked;			/* false: a sum that does not fit bigint */
	LbEntry		now;
	LbHidden	before;			/* the viewer's entry in the version's order */
	LbReading	view;			/* the version without that, to place it in */
} LbOverlay;

extern bool lb_is_viewer(const LbReading *reading, LbText member);
extern const LbOverlay *lb_overlay(LbReading *reading);
extern const LbOverlay *lb_overlay_of(LbReading *reading, LbText member);
extern void lb_answer_entry(LbReading *reading, const LbEntry *entry,
							const LbPlace *place, Datum *values, bool *nulls);
extern void lb_overlay_answer(const LbOverlay *overlay, Datum *values,
							  bool *nulls);
extern int	lb_overlay_around(LbReading *reading, const LbOverlay *overlay,
							  int n, LbEntry *entries, LbPlace *places);

#endif							/* LB_OVERLAY_H */
