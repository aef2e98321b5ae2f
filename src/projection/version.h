/*-------------------------------------------------------------------------
 *
 * version.h
 *	  The columns of lb.version.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_VERSION_H
#define LB_VERSION_H

enum
{
	LB_VERSION_COUNTER_ID = 1, LB_VERSION_RANKING_ID, LB_VERSION_VERSION,
	LB_VERSION_ROOT, LB_VERSION_NEXT_PAGE, LB_VERSION_POPULATION,
	LB_VERSION_OWES, LB_VERSION_MADE_AT, LB_VERSION_HISTOGRAM,
	LB_VERSION_SUPERSEDED, LB_VERSION_LEAF, LB_VERSION_TOTAL, LB_VERSION_BOUND
};

#endif							/* LB_VERSION_H */
