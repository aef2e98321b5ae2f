/*-------------------------------------------------------------------------
 *
 * push.c
 *	  NOTIFY: which boards have a new version.
 *
 * At most one message a round and board, when the round commits, on the
 * channel that lb_version() names.  Who listens reads with newer_than.
 *
 * Messages are handed to the server just before the commit: a transaction
 * that has notified cannot be prepared, and one that was prepared tells
 * nobody.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "commands/async.h"
#include "utils/json.h"
#include "utils/memutils.h"

#include "projection/round.h"

/* The server takes no longer message; scopes that make it longer are not named. */
#define MESSAGE_MAX	7999

/* What the transaction has to tell, newest first. */
typedef struct Pending
{
	struct Pending *next;
	int			level;			/* of the subtransaction whose round it was */
	char	   *channel;
	char	   *message;
} Pending;

static Pending *pending;

/* Rounds tell in the order in which they counted. */
static void
tell_pending(void)
{
	Pending    *oldest = NULL;

	while (pending != NULL)
	{
		Pending    *p = pending;

		pending = p->next;
		p->next = oldest;
		oldest = p;
	}
	for (Pending *p = oldest; p != NULL; p = p->next)
		Async_Notify(p->channel, p->message);
}

static void
at_end(XactEvent event, pg_attribute_unused() void *arg)
{
	if (event == XACT_EVENT_PRE_COMMIT)
		tell_pending();
	if (event != XACT_EVENT_PARALLEL_PRE_COMMIT)
		pending = NULL;			/* the transaction's memory goes with it */
}

/* Rounds of a subtransaction are its parent's when it ends, or are nobody's. */
static void
at_subend(SubXactEvent event, pg_attribute_unused() SubTransactionId mine,
		  pg_attribute_unused() SubTransactionId parent,
		  pg_attribute_unused() void *arg)
{
	int			level = GetCurrentTransactionNestLevel();

	if (event == SUBXACT_EVENT_ABORT_SUB)
		while (pending != NULL && pending->level >= level)
			pending = pending->next;
	if (event == SUBXACT_EVENT_COMMIT_SUB)
		for (Pending *p = pending; p != NULL && p->level >= level; p = p->next)
			p->level = level - 1;
}

static void
tell(const char *channel, const char *message)
{
	static bool registered = false;
	MemoryContext old = MemoryContextSwitchTo(TopTransactionContext);
	Pending    *p = palloc(sizeof(Pending));

	if (!registered)
	{
		RegisterXactCallback(at_end, NULL);
		RegisterSubXactCallback(at_subend, NULL);
		registered = true;
	}
	p->next = pending;
	p->level = GetCurrentTransactionNestLevel();
	p->channel = pstrdup(channel);
	p->message = pstrdup(message);
	pending = p;
	MemoryContextSwitchTo(old);
}

static int
compare_rankings(const ListCell *a, const ListCell *b)
{
	const LbRanking *x = lfirst(a);
	const LbRanking *y = lfirst(b);

	if (x->board->board_id != y->board->board_id)
		return x->board->board_id < y->board->board_id ? -1 : 1;
	return lb_text_compare(x->scope, y->scope);
}

/*
 * The board's name as every session can give it whose tenant is the default
 * one; NULL if it is being dropped.
 */
static char *
board_name(int64 board_id)
{
	static LbPlan plan = {
		"SELECT concat(nullif(t.tenant, 'default') || '/', b.board) FROM lb.board b "
		"JOIN lb.tenant t ON t.tenant_id = b.tenant_id WHERE b.board_id = $1",
		1, {INT8OID}
	};
	Datum		values[1] = {Int64GetDatum(board_id)};
	char	   *name = NULL;

	if (lb_run(&plan, values, NULL, true, 1, SPI_OK_SELECT) == 1)
		name = pstrdup(SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1));
	SPI_freetuptable(SPI_tuptable);
	return name;
}

/*
 * The scopes of a board among the rankings from first to end, as an array; null
 * for none, and for more than the message takes.
 */
static void
append_scopes(StringInfo message, List *changed, int first, int end)
{
	int			room = MESSAGE_MAX - message->len - (int) strlen("]}");
	StringInfoData scopes;
	LbText		last = {"", 0};

	initStringInfo(&scopes);
	for (int i = first; i < end && scopes.len <= room; i++)
	{
		const LbRanking *ranking = list_nth(changed, i);

		/* several windows of a scope are one */
		if (ranking->scope.len == 0 || lb_text_equal(ranking->scope, last))
			continue;
		last = ranking->scope;
		appendStringInfoChar(&scopes, scopes.len == 0 ? '[' : ',');
		escape_json(&scopes, pnstrdup(last.data, last.len));
	}
	if (scopes.len == 0 || scopes.len > room)
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
	tell(psprintf(LB_CHANNEL_FORMAT, ranking->board->board_id), message.data);
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
