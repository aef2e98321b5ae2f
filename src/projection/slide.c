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

/* Members stored at a time. */
#define MEMBERS		10000

/* Since then no zone's offset has had seconds. */
#define WHOLE_MINUTES_SINCE	(-INT64CONST(20) * 366 * USECS_PER_DAY)

/* A board whose members are being read. */
typedef struct Slide
{
	LbRound    *round;
	LbCounted  *counted;
	LbCountedBoard *board;
	LbMove	  **moves;			/* the last one is still being read */
	int			n;
	MemoryContext context;		/* of the moves */
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

static LbMove *
begin_member(Slide *slide, LbText member)
{
	MemoryContext old;
	LbMove	   *move;
	char	   *name;

	if (slide->n == MEMBERS)
		store_read(slide);
	old = MemoryContextSwitchTo(slide->context);
	name = palloc(member.len + 1);
	memcpy(name, member.data, member.len);
	name[member.len] = '\0';
	move = palloc0(sizeof(LbMove));
	move->ranking = lb_ranking(slide->round, slide->counted, slide->board,
							   slide->board->covers.opens);
	move->member = (LbText) {name, member.len};
	move->absolute = true;
	move->gone = true;
	slide->moves[slide->n++] = move;
	MemoryContextSwitchTo(old);
	return move;
}

/* Buckets come member by member. */
static void
add_bucket(void *context, const LbBucket *bucket)
{
	Slide	   *slide = context;
	LbMove	   *move = slide->n > 0 ? slide->moves[slide->n - 1] : NULL;

	if (move == NULL || !lb_text_equal(move->member, bucket->member))
		move = begin_member(slide, bucket->member);
	if (bucket->accum.n == 0)
		return;
	lb_accum_merge(slide->board->board.op, &move->accum, &bucket->accum);
	move->gone = false;
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
slide_board(LbRound *round, const LbBoard *board, LbWindow was)
{
	LbWindow	first;
	LbWindow	second;
	Slide		slide = {.round = round};

	slide.counted = lb_counted(round, board->counter_id, board->version, 0);
	slide.board = find_board(slide.counted, board->board_id);
	slide.moves = palloc(MEMBERS * sizeof(LbMove *));
	slide.context = AllocSetContextCreate(CurrentMemoryContext, "leaderboard slide",
										  ALLOCSET_DEFAULT_SIZES);
	differences(was, slide.board->covers, &first, &second);
	lb_within_changed(&slide.counted->counter, slide.board->covers, first, second,
					  board->period == LB_PERIOD_DAYS, add_bucket, &slide);
	store_read(&slide);
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
