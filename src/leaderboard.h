/*-------------------------------------------------------------------------
 *
 * leaderboard.h
 *	  What every C file of the extension shares.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LEADERBOARD_H
#define LEADERBOARD_H

#include "postgres.h"

#include "compat.h"

/* The longest name, member, key, actor, source or scope, in bytes. */
#define LB_TEXT_MAX			200

/* The most events one submitting call may carry. */
#define LB_BATCH_MAX		10000

/* The most rows a reading call returns, and members it may name. */
#define LB_ROWS_MAX			1000

/* leaderboard.tenant: the tenant of a name written without "tenant/". */
extern char *lb_tenant;

/* leaderboard.page_cache_size, in kilobytes. */
extern int	lb_page_cache_size;

#endif							/* LEADERBOARD_H */
