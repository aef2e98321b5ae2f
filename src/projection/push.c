/*-------------------------------------------------------------------------
 *
 * push.c
 *	  NOTIFY: which boards have a new version.
 *
 * At most one message a round and board, when the round commits, on the
 * channel that lb_version() names.  Who listens reads with newer_than.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "catalog/pg_type.h"
#include "commands/async.h"
#include "utils/json.h"

#include "projection/round.h"

/* The server takes 7,999 bytes; beyond this, scopes are not named. */
#define SCOPES_MAX	7000

static int
compare_rankings(const ListCell *a, const ListCell *b)
{
	const LbRanking *x = lfirst(a);
	const LbRanking *y = lfirst(b);

	if (x->board->board_id != y->board->board_id)
		return x->board->board_id < y->board->board_id ? -1 : 1;
	return lb_text_compare(x->scope, y->scope);
}

/* The board's name; NULL if it is being dropped. */
static char *
board_name(int64 board_id)
{
	static LbPlan plan = {
		"SELECT b.board FROM lb.board b WHERE b.board_id = $1", 1, {INT8OID}
	};
	Datum		values[1] = {Int64GetDatum(board_id)};
	char	   *name = NULL;

	if (lb_run(&plan, values, NULL, true, 1, SPI_OK_SELECT) == 1)
		name = pstrdup(SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1));
	SPI_freetuptable(SPI_tuptable);
	return name;
}

/* The scopes of a board among the rankings from first to end, as an array. */
static void
append_scopes(StringInfo message, List *changed, int first, int end)
{
	StringInfoData scopes;
	LbText		last = {"", 0};

	initStringInfo(&scopes);
	for (int i = first; i < end && scopes.len < SCOPES_MAX; i++)
	{
		const LbRanking *ranking = list_nth(changed, i);

		/* several windows of a scope are one */
		if (ranking->scope.len == 0 || lb_text_equal(ranking->scope, last))
			continue;
		last = ranking->scope;
		appendStringInfoChar(&scopes, scopes.len == 0 ? '[' : ',');
		escape_json(&scopes, pnstrdup(last.data, last.len));
	}
	if (scopes.len == 0 || scopes.len >= SCOPES_MAX)
		appendStringInfoString(message, "null");
	else
		appendStringInfo(message, "%s]", scopes.data);
}

static void
push_board(const LbRound *round, List *changed, int first, int end)
{
	const LbRanking *ranking = list_nth(changed, first);
	char	   *name = board_name(ranking->board->board_id);
	StringInfoData message;

	if (name == NULL)
		return;
	initStringInfo(&message);
	appendStringInfoString(&message, "{\"board\":");
	escape_json(&message, name);
	appendStringInfo(&message, ",\"version\":" INT64_FORMAT ",\"scopes\":", round->number);
	append_scopes(&message, changed, first, end);
	appendStringInfoChar(&message, '}');
	Async_Notify(psprintf(LB_CHANNEL_FORMAT, ranking->board->board_id),
				 message.data);
}

/* Tell of the rankings that the round has published. */
void
lb_push(LbRound *round)
{
	int			n = list_length(round->changed);
	int			end;

	list_sort(round->changed, compare_rankings);
	for (int first = 0; first < n; first = end)
	{
		const LbRanking *ranking = list_nth(round->changed, first);

		for (end = first + 1; end < n; end++)
			if (((LbRanking *) list_nth(round->changed, end))->board->board_id !=
				ranking->board->board_id)
				break;
		push_board(round, round->changed, first, end);
	}
}
