/*-------------------------------------------------------------------------
 *
 * slide.c
 *	  Rolling windows move on.
 *
 * A rolling board covers what its window covers at the round's as_of.  When
 * that is another window than at the round before, every member with a bucket
 * in what left it or entered it is read anew, after all of the round's events
 * have been stored: the value is that of the buckets, and a member without any
 * leaves the board.  Everybody else has what was counted already.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "projection/round.h"
#include "projection/sketch.h"

/* Members stored at a time. */
#define MEMBERS		10000

/* And bytes of sketches. */
#define SKETCHES	(32 * 1024 * 1024)

/* Since then no zone's offset has had seconds. */
#define WHOLE_MINUTES_SINCE	(-INT64CONST(20) * 366 * USECS_PER_DAY)

/* A board whose members are being read. */
typedef struct Slide
{
	LbRound    *round;
	LbRanking  *ranking;
	LbWithin	within;			/* what the board covers now */
	LbMove	  **moves;
	int			n;
	MemoryContext context;		/* of the moves */
	MemoryContext work;			/* of one member's sketches */
} Slide;

/*
 * Can a rolling window be another one at as_of than before?  Boundaries are
 * whole minutes, and most rounds have the minute of the one before.
 */
bool
lb_may_slide(TimestampTz before, TimestampTz as_of)
{
	if (TIMESTAMP_NOT_FINITE(before) || TIMESTAMP_NOT_FINITE(as_of) ||
		Min(before, as_of) < WHOLE_MINUTES_SINCE)
		return before != as_of;
	return (before - WHOLE_MINUTES_SINCE) / USECS_PER_MINUTE !=
		(as_of - WHOLE_MINUTES_SINCE) / USECS_PER_MINUTE;
}

static void
store_read(Slide *slide)
{
	if (slide->n > 0)
		lb_store_moves(slide->round, slide->moves, slide->n);
	MemoryContextReset(slide->context);
	slide->n = 0;
}

/* Sketches may fill the memory before the moves are as many as may be. */
static bool
is_full(const Slide *slide)
{
	return slide->n == MEMBERS ||
		(lb_is_sketched(slide->ranking->board->op) &&
		 MemoryContextMemAllocated(slide->context, false) >= SKETCHES);
}

static void
add_bucket(void *context, const LbBucket *bucket)
{
	LbMove	   *move = context;

	lb_accum_merge(move->ranking->board->op, &move->accum, &bucket->accum);
}

/* What the member has in the window now. */
static void
read_member(void *context, LbText member)
{
	Slide	   *slide = context;
	MemoryContext old;
	LbMove	   *move;
	char	   *name;

	CHECK_FOR_INTERRUPTS();
	if (is_full(slide))
		store_read(slide);
	old = MemoryContextSwitchTo(slide->context);
	name = palloc(member.len + 1);
	memcpy(name, member.data, member.len);
	name[member.len] = '\0';
	move = palloc0(sizeof(LbMove));
	move->ranking = slide->ranking;
	move->member = (LbText) {name, member.len};
	move->absolute = true;
	MemoryContextSwitchTo(slide->work);
	lb_within(&slide->within, move->member, add_bucket, move);
	MemoryContextSwitchTo(slide->context);
	lb_accum_keep(slide->ranking->board->op, &move->accum);
	MemoryContextReset(slide->work);
	move->gone = move->accum.n == 0;
	slide->moves[slide->n++] = move;
	MemoryContextSwitchTo(old);
}

/* The parts of two stretches of time that only one of them has. */
static void
differences(LbWindow a, LbWindow b, LbWindow *first, LbWindow *second)
{
	*first = a;
	*second = b;
	if (lb_is_empty(a) || lb_is_empty(b) || a.closes <= b.opens || b.closes <= a.opens)
		return;
	*first = (LbWindow) {Min(a.opens, b.opens), Max(a.opens, b.opens)};
	*second = (LbWindow) {Min(a.closes, b.closes), Max(a.closes, b.closes)};
}

static LbCountedBoard *
find_board(LbCounted *counted, int64 board_id)
{
	for (int i = 0; i < counted->nboards; i++)
		if (counted->boards[i].board.board_id == board_id)
			return &counted->boards[i];
	elog(ERROR, "board " INT64_FORMAT " is not of its counter", board_id);
}

static void
slide_board(LbRound *round, const LbBoard *defined, LbWindow was)
{
	LbCounted  *counted = lb_counted(round, defined->counter_id, defined->version, 0);
	LbCountedBoard *board = find_board(counted, defined->board_id);
	LbWindow	first;
	LbWindow	second;
	Slide		slide = {.round = round};

	slide.ranking = lb_ranking(round, counted, board, board->covers.opens);
	slide.moves = palloc(MEMBERS * sizeof(LbMove *));
	slide.context = AllocSetContextCreate(CurrentMemoryContext, "leaderboard slide",
										  ALLOCSET_DEFAULT_SIZES);
	slide.work = AllocSetContextCreate(CurrentMemoryContext, "leaderboard slide, a member",
									   ALLOCSET_DEFAULT_SIZES);
	lb_within_begin(&slide.within, &counted->counter, board->covers);
	differences(was, board->covers, &first, &second);
	lb_members_within(&counted->counter, first, second,
					  defined->period == LB_PERIOD_DAYS ? LB_SPAN_DAY : LB_SPAN_GRAIN,
					  read_member, &slide);
	store_read(&slide);
	lb_cost_charge(round, counted);
	lb_within_end(&slide.within);
	MemoryContextDelete(slide.work);
	MemoryContextDelete(slide.context);
	pfree(slide.moves);
}

/*
 * Move the rolling boards on from the window that they covered before.  The
 * round's events are stored.
 */
void
lb_slide(LbRound *round, TimestampTz before)
{
	LbBoard    *boards;
	int			n;

	PushActiveSnapshot(GetLatestSnapshot());
	n = lb_get_rolling_boards(&boards);
	for (int i = 0; i < n; i++)
	{
		LbWindow	was = lb_board_covers(&boards[i], before);
		LbWindow	is = lb_board_covers(&boards[i], round->as_of);

		CHECK_FOR_INTERRUPTS();
		if (was.opens != is.opens || was.closes != is.closes)
			slide_board(round, &boards[i], was);
	}
	PopActiveSnapshot();
}
