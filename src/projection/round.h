/*-------------------------------------------------------------------------
 *
 * round.h
 *	  One run of the refresh, and what its steps hand to each other.
 *
 * Events are folded into one group a counter, member and bucket (fold.c);
 * groups are merged into lb.bucket (bucket.c), regrouped by ranking and
 * merged into lb.standing (standing.c), as are the members whose rolling
 * windows moved on (slide.c); what moved there changes the ranking's
 * histogram and population, which are published (publish.c).  It changes the
 * rankings of the member's scopes in the same way (scopes.c).
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_ROUND_H
#define LB_ROUND_H

#include "leaderboard.h"

#include "portability/instr_time.h"
#include "storage/itemptr.h"
#include "utils/hsearch.h"

#include "definition/gate.h"
#include "definition/lookup.h"
#include "histogram/histogram.h"
#include "log/event.h"
#include "projection/accum.h"
#include "projection/cost.h"
#include "projection/late.h"
#include "projection/moves.h"
#include "projection/window.h"
#include "projection/within.h"
#include "ranktree/pages.h"
#include "scope/membership.h"

/* A ranking that the round touches. */
typedef struct LbRanking
{
	LbWindow	window;
	LbText		scope;			/* empty: the whole board */
	int64		ranking_id;
	const LbBoard *board;
	struct LbCounted *counted;
	bool		published;		/* it has a version before this round's */
	int64		root;
	const bytea *leaf;			/* the root itself, if it is no row */
	int64		next_page;
	int64		size;			/* members on the board before the round */
	int64		population;		/* and now */
	LbHistogram *histogram;		/* of a bounded board */
	int64		total;			/* of an approximate one: of all members, */
	int64		bound;			/* and no member untracked has more; or -1 */
} LbRanking;

/* A board of a counter, with the window of the event before. */
typedef struct LbCountedBoard
{
	LbBoard		board;
	LbWindow	covers;			/* of a rolling board, in this round */
	LbWindow	window;
	LbRanking  *ranking;		/* of that window */
} LbCountedBoard;

/* A counter, in one version, that has news. */
typedef struct LbCounted
{
	LbCounter	counter;
	LbCountedBoard *boards;
	int			nboards;
	LbLateRules late;
	LbWindow	bucket;			/* of the event before */
	LbWindow	day;			/* of the group before */
	int64		events;
	int64		rankings;		/* that changed */
	instr_time	spent;			/* on this counter alone */
	struct LbCounted *next;
} LbCounted;

/* The events of one member in one bucket, or the buckets of one day. */
typedef struct LbGroup
{
	struct LbCounted *counted;
	LbText		member;
	LbWindow	bucket;
	char		span;			/* LB_SPAN_... */
	int32		late;
	LbAccum		accum;
	uint32		hash;
} LbGroup;

/* The change of one member in one ranking. */
typedef struct LbMove
{
	LbRanking  *ranking;
	LbText		member;
	List	   *parts;			/* of sketches: the groups that are to be merged */
	LbAccum		accum;
	bool		absolute;		/* the value itself, not what came on top */
	bool		gone;			/* and that is none: the member leaves */
	bool		stored;			/* the member has a row: */
	ItemPointerData tid;
	LbAccum		old;
	uint32		hash;
} LbMove;

/* What is read for each ranking that is touched. */
typedef struct LbOpenTables
{
	Snapshot	snapshot;
	LbProbe		ranking;
	LbProbe		version;
	LbProbe		page;
	LbMemberships memberships;
} LbOpenTables;

struct lbgroup_hash;
struct lbmove_hash;

typedef struct LbRound
{
	int64		number;
	TimestampTz as_of;
	MemoryContext context;		/* lives as long as the round */
	MemoryContext fold;			/* emptied whenever groups are stored */
	HTAB	   *counted;		/* the counters by id and version */
	HTAB	   *rankings;		/* the rankings by board and window */
	LbCounted  *first;			/* all of them */
	LbCounted  *last_used;
	struct lbgroup_hash *groups;
	struct lbmove_hash *moves;	/* only while groups are being stored */
	LbMoves    *sorted;			/* what moved in all rankings */
	List	   *changed;		/* the rankings that have a new version */
	int64		events;
	int			flushes;		/* done so far */
	bool		rereads_buckets;	/* groups come from lb.bucket itself */
	bool		has_sketches;	/* of some of its counters */
	bool		recounts;		/* only buckets are written, no board moves */
	instr_time	clock;			/* its last reading, see cost.c */
	instr_time	spent;			/* on all counters together */
	Snapshot	snapshot;		/* whose memberships the rankings show */
	struct LbOpenTables *tables;
} LbRound;

/* fold.c */
extern LbRound *lb_round_begin(int64 number, TimestampTz as_of);
extern void lb_round_event(LbRound *round, const LbLogged *event);
extern void lb_round_bucket(LbRound *round, LbCounted *counted, LbText member,
							LbWindow bucket, char span, int32 late,
							const LbAccum *accum);
extern void lb_round_flush(LbRound *round);

/* ranking.c */
extern LbCounted *lb_counted(LbRound *round, int64 counter_id, int16 version,
							 int64 only_board);
extern LbRanking *lb_ranking(LbRound *round, LbCounted *counted,
							 LbCountedBoard *board, TimestampTz at);
extern LbRanking *lb_ranking_of_scope(LbRound *round, LbCounted *counted,
									  const LbBoard *board, LbWindow window,
									  LbText scope, bool open);

/* slide.c */
extern bool lb_may_slide(TimestampTz before, TimestampTz as_of);
extern void lb_slide(LbRound *round, TimestampTz before);

/* publish.c, head.c, push.c */
extern int64 lb_publish(LbRound *round);
extern void lb_push(LbRound *round);
extern void lb_head_apply(LbRanking *ranking, LbPages *pages, LbMoves *moves);

/* bucket.c, standing.c */
extern void lb_store_groups(LbRound *round, LbGroup **groups, int n);
extern void lb_store_moves(LbRound *round, LbMove **moves, int n);

/* open_tables.c */
extern LbOpenTables *lb_open_tables(LbRound *round);
extern void lb_close_tables(LbRound *round);

/* scopes.c, scope_news.c */
extern void lb_change_ranking(LbRound *round, LbRanking *ranking, LbText member,
							  const LbAccum *was, const LbAccum *is);
extern void lb_change_scopes(LbRound *round, LbRanking *ranking, LbText member,
							 const LbAccum *was, const LbAccum *is);
extern bool lb_scope_news_exist(void);
extern void lb_scope_news_count(LbRound *round);

#endif							/* LB_ROUND_H */
