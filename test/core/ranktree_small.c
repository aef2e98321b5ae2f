/*-------------------------------------------------------------------------
 *
 * ranktree_small.c
 *	  ranktree_property.c with small pages and members: higher trees.
 *
 *-------------------------------------------------------------------------
 */
#define LB_PAGE_MAX 330
#define LB_RANK_MEMBER_MAX 36

#include "ranktree_property.c"
