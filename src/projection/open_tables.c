/*-------------------------------------------------------------------------
 *
 * open_tables.c
 *	  The tables that a round reads by key for each ranking it touches.
 *
 * A round may touch thousands of small rankings, each by one member: what it
 * does once a ranking has to cost what a probe costs.  So these tables are
 * opened once a round, when first needed, and closed when it is published.
 *
 * Nothing is read here that the round itself has written: a ranking that it
 * has opened, or published, it does not look for again.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "projection/round.h"

/* They show memberships as the round's snapshot does, the rest as it was left. */
LbOpenTables *
lb_open_tables(LbRound *round)
{
	MemoryContext old;
	LbOpenTables *tables;

	if (round->tables != NULL)
		return round->tables;
	old = MemoryContextSwitchTo(round->context);
	tables = palloc0(sizeof(LbOpenTables));
	tables->snapshot = RegisterSnapshot(GetLatestSnapshot());
	PushActiveSnapshot(tables->snapshot);
	lb_probe_begin(&tables->ranking, LB_TABLE_RANKING, 0, 4);
	lb_probe_begin(&tables->version, LB_TABLE_VERSION, 0, 2);
	lb_probe_begin(&tables->page, LB_TABLE_PAGE, 0, 3);
	PopActiveSnapshot();
	PushActiveSnapshot(round->snapshot);
	lb_memberships_begin(&tables->memberships);
	PopActiveSnapshot();
	MemoryContextSwitchTo(old);
	round->tables = tables;
	return tables;
}

void
lb_close_tables(LbRound *round)
{
	LbOpenTables *tables = round->tables;

	if (tables == NULL)
		return;
	lb_memberships_end(&tables->memberships);
	lb_probe_end(&tables->page);
	lb_probe_end(&tables->version);
	lb_probe_end(&tables->ranking);
	UnregisterSnapshot(tables->snapshot);
	pfree(tables);
	round->tables = NULL;
}
