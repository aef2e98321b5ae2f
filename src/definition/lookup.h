/*-------------------------------------------------------------------------
 *
 * lookup.h
 *	  From a name to the definition behind it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_LOOKUP_H
#define LB_LOOKUP_H

#include "leaderboard.h"

#include "pgtime.h"
#include "utils/timestamp.h"

#include "definition/period.h"

typedef enum LbOperator
{
	LB_SUM = 's',
	LB_MAX = 'x',
	LB_MIN = 'n',
	LB_LAST = 'l',
	LB_UNIQUE = 'u',			/* of a unique counter: different actors */
	LB_HEAVY = 'h'				/* of an approximate one: the heaviest members */
} LbOperator;

/* Is what events add up to kept in a sketch? */
static inline bool
lb_is_sketched(LbOperator op)
{
	return op == LB_UNIQUE || op == LB_HEAVY;
}

typedef enum LbTies
{
	LB_COMPETITION,
	LB_DENSE,
	LB_ORDINAL
} LbTies;

/* Is having nothing the same as having zero? */
static inline bool
lb_counts_from_zero(LbOperator op)
{
	return op == LB_SUM || lb_is_sketched(op);
}

/* A counter, in one version of its definition. */
typedef struct LbCounter
{
	int64		counter_id;
	int16		version;
	LbOperator	op;
	int32		size;			/* of its sketches: bits, or capacity */
	bool		retired;
	bool		monotonic;
	bool		has_min_delta;
	bool		has_max_delta;
	int64		min_delta;
	int64		max_delta;
	int64		lateness;		/* microseconds, as all that follow */
	int64		max_age;
	int64		max_skew;
	int64		idempotency;	/* -1: derived from max_age and max_skew */
	int64		grain;			/* how long its buckets are */
	bool		has_late_classes;	/* see late.h */
	pg_tz	   *zone;
} LbCounter;

typedef struct LbBoard
{
	int64		board_id;
	int64		counter_id;
	int16		version;		/* of the counter, in force */
	LbPeriod	period;
	int32		units;			/* of a rolling period */
	bool		scoped;
	int64		starts;			/* how long after the calendar its windows open */
	bool		descending;
	LbTies		ties;
	bool		bounded;		/* exact up to head only */
	bool		keeps_versions;	/* for any time at all */
	int32		head;
	int32		buckets;
	int64		ceiling;
	int64		freshness;
	int64		lateness;		/* its own, or the counter's */
	int32		late_bit;		/* of the late set that says: late for it */
	int64		grain;			/* the counter's */
	LbOperator	op;
	int32		size;			/* of the counter's sketches */
	pg_tz	   *zone;
} LbBoard;

/* The channel on which rounds tell of a board, by its id. */
#define LB_CHANNEL_FORMAT	"lb_board_" INT64_FORMAT

typedef struct LbName
{
	const char *tenant;
	const char *name;
} LbName;

extern bool lb_try_parse_name(const char *name, LbName *parsed);
extern LbName lb_parse_name(const char *name, const char *what);
extern int64 lb_interval_usecs(const Interval *interval);
extern int64 lb_span_usecs(const Interval *interval, const char *argument);

/* These read the definitions through SPI; the caller is connected. */
extern bool lb_find_counter(const LbName *name, LbCounter *counter);
extern void lb_get_counter(const char *name, LbCounter *counter);
extern bool lb_find_counter_version(int64 counter_id, int16 version,
									LbCounter *counter);
extern void lb_get_counter_version(int64 counter_id, int16 version,
								   LbCounter *counter);
extern void lb_get_board(const char *name, LbBoard *board);
extern int	lb_get_boards(int64 counter_id, int64 board_id, LbBoard **boards);
extern int	lb_get_rolling_boards(LbBoard **boards);

/*
 * The key by which a ranking is sorted, best first.  Complementing the bits
 * where negating would do keeps the lowest bigint in its place.
 */
static inline int64
lb_rank_key(const LbBoard *board, int64 value)
{
	return board->descending ? ~value : value;
}

/* And back. */
static inline int64
lb_rank_value(const LbBoard *board, int64 rank_key)
{
	return board->descending ? ~rank_key : rank_key;
}

#endif							/* LB_LOOKUP_H */
