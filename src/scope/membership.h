/*-------------------------------------------------------------------------
 *
 * membership.h
 *	  Which scopes a member belongs to in a window.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_MEMBERSHIP_H
#define LB_MEMBERSHIP_H

#include "leaderboard.h"

#include "log/event.h"
#include "table/probe.h"

/* lb.membership, read with the snapshot that was active when it began. */
typedef struct LbMemberships
{
	LbProbe		probe;
	TimestampTz closes;			/* of the window being asked for */
} LbMemberships;

extern void lb_memberships_begin(LbMemberships *memberships);
extern bool lb_memberships_first(LbMemberships *memberships, int64 board_id,
								 Datum member, TimestampTz closes,
								 LbText *scope);
extern bool lb_memberships_next(LbMemberships *memberships, LbText *scope);
extern void lb_memberships_end(LbMemberships *memberships);

extern bool lb_belongs(LbMemberships *memberships, int64 board_id,
					   Datum member, LbText scope, TimestampTz closes);

#endif							/* LB_MEMBERSHIP_H */
