/*-------------------------------------------------------------------------
 *
 * refresh.h
 *	  What runs a round.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_REFRESH_H
#define LB_REFRESH_H

#include "leaderboard.h"

#include "utils/timestamp.h"

typedef struct LbRefreshed
{
	bool		restoring;		/* the log is incomplete, nothing was done */
	bool		idle;			/* nothing was there to count */
	int64		events;
	int64		rankings;
	TimestampTz as_of;
} LbRefreshed;

extern void lb_check_read_committed(const char *what);
extern int64 lb_next_round(void);
extern int	lb_round_settings(void);
extern void lb_round_settings_end(int nest);
extern void lb_refresh_once(LbRefreshed *result, int64 counter_id, bool wait,
							bool cut, const TimestampTz *as_of);

#endif							/* LB_REFRESH_H */
