/*-------------------------------------------------------------------------
 *
 * answer.h
 *	  A reading of a ranking, and the answers given from it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_ANSWER_H
#define LB_ANSWER_H

#include "leaderboard.h"

#include "fmgr.h"
#include "funcapi.h"

#include "definition/gate.h"
#include "definition/lookup.h"
#include "histogram/histogram.h"
#include "log/event.h"
#include "projection/window.h"
#include "ranktree/pages.h"

/* An entry that an order is to be read without. */
typedef struct LbHidden
{
	bool		found;
	int64		rank_key;
	int64		position;		/* counted from zero */
	bool		alone;			/* nobody else has that rank_key */
} LbHidden;

struct LbOverlay;
typedef struct LbDoubt LbDoubt;

/*
 * What every answer of one call shares: the ranking at the version that the
 * call's snapshot sees.
 */
typedef struct LbReading
{
	const char *name;			/* of the board, as it was given */
	LbBoard		board;
	LbText		scope;
	TimestampTz at;				/* which window */
	LbText		viewer;			/* who asks; empty if nobody says */
	int64		pin;			/* the version asked for; zero: the newest */
	int64		told_at;		/* the last one that is the same */
	int64		newer_than;		/* the lowest bigint: whatever there is */
	LbWindow	window;
	bool		round_known;
	int64		newest;			/* the newest round's number */
	int64		ranking_id;		/* zero if nothing fell into the window yet */
	int64		whole_id;		/* of a scope's ranking, that of the whole board */
	int64		root;
	const bytea *leaf;			/* the root itself, if it is no row */
	bool		cacheable;		/* the version is not of this transaction */
	int64		population;
	int64		version;
	TimestampTz now;
	TimestampTz as_of;			/* of the newest round, or the one asked for; */
	TimestampTz floor;			/* DT_NOBEGIN before the first */
	const LbHistogram *histogram;	/* of a bounded board */
	int64		total;			/* of an approximate one: of all members, */
	int64		bound;			/* and no member untracked has more; or -1 */
	struct LbDoubt *doubt;		/* doubt.c */
	LbPages		pages;
	bool		probing;
	LbProbe		standing;
	bool		probing_moved;
	LbProbe		moved;

	bool		overlay_known;
	struct LbOverlay *overlay;	/* overlay.c; may be NULL when known, too */
	const LbHidden *hidden;		/* not in the order, if not NULL */
} LbReading;

/* A member's entry in board order. */
typedef struct LbEntry
{
	LbText		member;
	int64		value;
	TimestampTz reached_at;
} LbEntry;

/*
 * Where a value stands, as far as the board can say exactly: how many
 * members, and how many values, are strictly better, and the place in board
 * order; place is zero where it is not known, and so is everything when
 * exact is false.
 */
typedef struct LbPlace
{
	bool		exact;
	int64		better;
	int64		better_values;
	int64		place;
} LbPlace;

/* lb_answer's columns. */
#define LB_ANSWER_COLUMNS	18

/* reading.c */
typedef struct LbNewest
{
	int64		number;			/* zero before the first round */
	TimestampTz as_of;
	TimestampTz floor;
} LbNewest;

extern LbNewest lb_newest_round(void);
extern LbNewest lb_newest_round_up_to(int64 number);
extern bool lb_reading_begin(LbReading *reading, FunctionCallInfo fcinfo,
							 int board_arg, int scope_arg, int at_arg);
extern void lb_reading_open(LbReading *reading, FunctionCallInfo fcinfo,
							int board_arg, int at_arg);
extern void lb_reading_round(LbReading *reading);
extern void lb_reading_scope(LbReading *reading, LbText scope);
extern bool lb_reading_is_news(LbReading *reading);
extern void lb_reading_end(LbReading *reading);
extern void lb_reading_probe(LbReading *reading);
extern int64 lb_reading_whole(LbReading *reading);
extern bool lb_reading_stale(const LbReading *reading, int64 freshness);
extern const char *lb_reading_state(const LbReading *reading);

/* board.c */
extern TimestampTz lb_reading_settles(const LbReading *reading);

/* answer.c: one builder for every function */
extern void lb_answer_ranked(const LbReading *reading, const LbEntry *entry,
							 const LbPlace *place, Datum *values, bool *nulls);
extern void lb_answer_unranked(const LbReading *reading, LbText member,
							   Datum *values, bool *nulls);
extern void lb_answer_value(const LbReading *reading, int64 value,
							const LbPlace *place, Datum *values, bool *nulls);
extern void lb_put_row(FunctionCallInfo fcinfo, Datum *values, bool *nulls);

/* arguments.c */
extern int	lb_rows_arg(FunctionCallInfo fcinfo, int argno, const char *name,
						int if_null);
extern LbText *lb_texts_arg(FunctionCallInfo fcinfo, int argno,
							const char *name, int *n);
extern LbText *lb_members_arg(FunctionCallInfo fcinfo, int argno, int *n);
extern LbText lb_text_arg(FunctionCallInfo fcinfo, int argno);
extern TimestampTz lb_instant_arg(FunctionCallInfo fcinfo, int argno,
								  TimestampTz now);

/* order.c */
extern bool lb_order_find(LbReading *reading, LbText member,
						  LbEntry *entry);
extern LbPlace lb_order_place(LbReading *reading, const LbEntry *entry);
extern LbPlace lb_order_place_of_value(LbReading *reading, int64 value);
extern int	lb_order_page(LbReading *reading, int64 first, int n,
						  LbEntry *entries, LbPlace *places);
extern int	lb_order_around(LbReading *reading, const LbEntry *entry, int n,
							LbEntry *entries, LbPlace *places);
extern int	lb_order_stretch(LbReading *reading, int64 position, int n,
							 LbEntry *entries, LbPlace *places);
extern void lb_order_locate(LbReading *reading, const LbEntry *entry,
							LbHidden *found);
extern LbPlace lb_order_place_new(LbReading *reading, const LbEntry *entry,
								  int64 *ahead);
extern int64 lb_order_better(LbReading *reading, int64 value);
extern int	lb_order_compare(const LbReading *reading, const LbEntry *a,
							 const LbEntry *b);

#endif							/* LB_ANSWER_H */
