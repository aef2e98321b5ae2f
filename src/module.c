/*-------------------------------------------------------------------------
 *
 * module.c
 *	  The module's magic block and all of its settings.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "fmgr.h"
#include "utils/guc.h"

PG_MODULE_MAGIC;

char	   *lb_tenant = NULL;

void		_PG_init(void);

void
_PG_init(void)
{
	DefineCustomStringVariable("leaderboard.tenant",
							   "Tenant of a counter or board named without \"tenant/\".",
							   NULL,
							   &lb_tenant,
							   "default",
							   PGC_USERSET,
							   0,
							   NULL, NULL, NULL);

	MarkGUCPrefixReserved("leaderboard");
}
