/*-------------------------------------------------------------------------
 *
 * round.h
 *	  One run of the refresh, and what its steps hand to each other.
 *
 * Events are folded into one group a counter, member and bucket (fold.c);
 * groups are merged into lb.bucket (bucket.c), regrouped by ranking and
 * merged into lb.standing (standing.c); what moved there changes the
 * ranking's histogram and population, which are published (ranking.c).  It
 * changes the rankings of the member's scopes in the same way (scopes.c).
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_ROUND_H
#define LB_ROUND_H

#include "leaderboard.h"

#include "storage/itemptr.h"
#include "utils/hsearch.h"

#include "definition/gate.h"
#include "definition/lookup.h"
#include "histogram/histogram.h"
#include "log/event.h"
#include "projection/accum.h"
#include "projection/moves.h"
#include "projection/window.h"
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
	int64		next_page;
	int64		size;			/* members on the board before the round */
	int64		population;		/* and now */
	LbHistogram *histogram;		/* of a bounded board */
} LbRanking;

/* A board of a counter, with the window of the event before. */
typedef struct LbCountedBoard
{
	LbBoard		board;
	LbWindow	window;
	LbRanking  *ranking;		/* of that window */
} LbCountedBoard;

/* A counter, in one version, that has news. */
typedef struct LbCounted
{
	LbCounter	counter;
	LbCountedBoard *boards;
	int			nboards;
	LbWindow	hour;			/* of the event before */
	int64		events;
	int64		rankings;		/* that changed */
	struct LbCounted *next;
} LbCounted;

/* The events of one member in one bucket. */
typedef struct LbGroup
{
	struct LbCounted *counted;
	LbText		member;
	LbWindow	bucket;
	int16		late;
	LbAccum		accum;
	uint32		hash;
} LbGroup;

/* The change of one member in one ranking. */
typedef struct LbMove
{
	LbRanking  *ranking;
	LbText		member;
	LbAccum		accum;
	bool		stored;			/* the member has a row: */
	ItemPointerData tid;
	LbAccum		old;
	uint32		hash;
} LbMove;

struct lbgroup_hash;
struct lbmove_hash;

typedef struct LbRound
{
	int64		number;
	MemoryContext context;		/* lives as long as the round */
	MemoryContext fold;			/* emptied whenever groups are stored */
	HTAB	   *counted;		/* the counters by id and version */
	HTAB	   *rankings;		/* the rankings by board and window */
	LbCounted  *first;			/* all of them */
	LbCounted  *last_used;
	struct lbgroup_hash *groups;
	struct lbmove_hash *moves;	/* only while groups are being stored */
	LbMoves    *sorted;			/* what moved in all rankings */
	int64		events;
	int			flushes;		/* done so far */
	bool		rereads_buckets;	/* groups come from lb.bucket itself */
	Snapshot	snapshot;		/* whose memberships the rankings show */
	LbMemberships *memberships; /* open while moves are being stored */
} LbRound;

/* A row of the log, as a round reads it. */
typedef struct LbLogged
{
	int64		counter_id;
	int16		version;
	int64		delta;
	TimestampTz event_time;
	TimestampTz ingest_time;
	int64		event_id;
	char		kind;
	LbText		member;
} LbLogged;

/* fold.c */
extern LbRound *lb_round_begin(int64 number);
extern void lb_round_event(LbRound *round, const LbLogged *event);
extern void lb_round_bucket(LbRound *round, LbCounted *counted, LbText member,
							LbWindow bucket, int16 late, const LbAccum *accum);
extern void lb_round_flush(LbRound *round);

/* ranking.c */
extern LbCounted *lb_counted(LbRound *round, int64 counter_id, int16 version,
							 int64 only_board);
extern LbRanking *lb_ranking(LbRound *round, LbCounted *counted,
							 LbCountedBoard *board, TimestampTz at);
extern LbRanking *lb_ranking_of_scope(LbRound *round, LbCounted *counted,
									  const LbBoard *board, LbWindow window,
									  LbText scope, bool open);

/* publish.c, head.c */
extern int64 lb_publish(LbRound *round);
extern void lb_head_apply(LbRanking *ranking, LbPages *pages, LbMoves *moves);

/* bucket.c, standing.c */
extern void lb_store_groups(LbGroup **groups, int n);
extern void lb_store_moves(LbRound *round, LbMove **moves, int n);

/* scopes.c, scope_news.c */
extern void lb_change_ranking(LbRound *round, LbRanking *ranking, LbText member,
							  const LbAccum *was, const LbAccum *is);
extern void lb_change_scopes(LbRound *round, LbRanking *ranking, LbText member,
							 const LbAccum *was, const LbAccum *is);
extern void lb_change_scopes_end(LbRound *round);
extern bool lb_scope_news_exist(void);
extern void lb_scope_news_count(LbRound *round);

#endif							/* LB_ROUND_H */
