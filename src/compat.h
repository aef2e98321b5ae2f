/*-------------------------------------------------------------------------
 *
 * compat.h
 *	  Every difference between the supported versions of PostgreSQL, and
 *	  the only place that looks at PG_VERSION_NUM.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_COMPAT_H
#define LB_COMPAT_H

#if PG_VERSION_NUM < 150000
#error "leaderboard needs PostgreSQL 15 or later"
#endif

#endif							/* LB_COMPAT_H */
