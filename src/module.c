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
int			lb_page_cache_size = 0;

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

	DefineCustomIntVariable("leaderboard.page_cache_size",
							"Memory in which a session keeps pages of rankings.",
							"Takes effect when the session reads its first ranking.",
							&lb_page_cache_size,
							16384,
							128, 1048576,
							PGC_USERSET,
							GUC_UNIT_KB,
							NULL, NULL, NULL);

	MarkGUCPrefixReserved("leaderboard");
}
