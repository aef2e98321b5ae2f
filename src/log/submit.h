/*-------------------------------------------------------------------------
 *
 * submit.h
 *	  What the submitting functions share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_SUBMIT_H
#define LB_SUBMIT_H

#include "leaderboard.h"

#include "fmgr.h"

#include "log/event.h"

/* ordinal, status, reason, event_id, retry_after_ms */
#define LB_STATUS_COLUMNS	5

extern TimestampTz lb_admission_time(void);
extern int64 lb_admission_elapsed(void);
extern void lb_check_batch_size(int64 n);
extern void lb_return_statuses(FunctionCallInfo fcinfo, const LbEvent *events,
							   int n);

#endif							/* LB_SUBMIT_H */
