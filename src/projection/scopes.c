/*-------------------------------------------------------------------------
 *
 * scopes.c
 *	  What a member's move changes: its ranking, and those of its scopes.
 *
 * A scope's ranking has no standings of its own: what its members have is
 * what they have on the whole board in the same window.  It has its own
 * order, population and histogram.  Who belongs to it is read with the
 * snapshot of the round, so that each change of a membership is counted by
 * one round (scope_news.c), and events by those who belonged.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "utils/builtins.h"

#include "projection/round.h"

/* The member comes with that value into the ranking's order, or goes. */
static void
change_order(LbRound *round, LbRanking *ranking, LbText member,
			 const LbAccum *accum, bool remove)
{
	LbRankEntry entry = {
		.rank_key = lb_rank_key(ranking->board, (int64) accum->value),
		.reached_at = accum->reached_at,
		.member = (const uint8_t *) member.data,
		.member_len = member.len
	};

	lb_moves_add(round->sorted, (int64) (intptr_t) ranking, &entry, remove);
	if (ranking->histogram != NULL)
		lb_hist_change(ranking->histogram, (int64) accum->value, remove ? -1 : 1);
	ranking->population += remove ? -1 : 1;
}

/* What the member has on the ranking; NULL is not being on it. */
void
lb_change_ranking(LbRound *round, LbRanking *ranking, LbText member,
				  const LbAccum *was, const LbAccum *is)
{
	if (is != NULL)
		change_order(round, ranking, member, is, false);
	if (was != NULL)
		change_order(round, ranking, member, was, true);
}

/* The same in each scope to which the member belongs in the ranking's window. */
void
lb_change_scopes(LbRound *round, LbRanking *ranking, LbText member,
				 const LbAccum *was, const LbAccum *is)
{
	LbMemberships *memberships = &lb_open_tables(round)->memberships;
	Datum		name = PointerGetDatum(cstring_to_text_with_len(member.data, member.len));
	LbText		scope;
	bool		found;

	for (found = lb_memberships_first(memberships, ranking->board->board_id, name,
									  ranking->window.closes, &scope);
		 found; found = lb_memberships_next(memberships, &scope))
		lb_change_ranking(round,
						  lb_ranking_of_scope(round, ranking->counted, ranking->board,
											  ranking->window, scope, true),
						  member, was, is);
}
