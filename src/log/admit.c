/*-------------------------------------------------------------------------
 *
 * admit.c
 *	  Admission: what may enter the log, and what became of each event.
 *
 * Validate every event alone, then claim the keys of all that are left in
 * key order (so that overlapping batches cannot deadlock each other), and
 * append.  What is wrong with one event is that event's status and never
 * touches the others.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "commands/sequence.h"
#include "common/int.h"
#include "miscadmin.h"
#include "utils/timestamp.h"

#include "definition/gate.h"
#include "log/event.h"

/* The years in which an event can have happened, in every time zone. */
#define EARLIEST_EVENT	((TimestampTz) INT64CONST(-63082281600000000))	/* year 1 */
#define LATEST_EVENT	((TimestampTz) INT64CONST(252455616000000000))	/* year 10000 */

void
lb_reject(LbEvent *event, const char *reason)
{
	event->status = LB_REJECTED;
	event->reason = reason;
}

static bool
text_is_valid(LbText text)
{
	return text.len >= 1 && text.len <= LB_TEXT_MAX;
}

static bool
optional_text_is_valid(LbText text)
{
	return text.data == NULL || text_is_valid(text);
}

static bool
is_before(TimestampTz time, TimestampTz now, int64 span)
{
	int64		edge;

	return !pg_sub_s64_overflow(now, span, &edge) && time < edge;
}

static bool
is_after(TimestampTz time, TimestampTz now, int64 span)
{
	int64		edge;

	return !pg_add_s64_overflow(now, span, &edge) && time > edge;
}

/* The first rule that the event breaks, or NULL. */
static const char *
broken_rule(const LbCounter *counter, const LbEvent *event, char kind,
			TimestampTz now)
{
	if (counter->retired)
		return "retired";
	if (event->member.data == NULL || !text_is_valid(event->member))
		return "bad_member";
	if (!optional_text_is_valid(event->key))
		return "bad_key";
	if (event->key.data == NULL &&
		(counter->op == LB_SUM || counter->op == LB_LAST || counter->op == LB_HEAVY))
		return "key_missing";
	if (!event->has_delta)
		return "bad_delta";
	if (counter->op == LB_UNIQUE &&
		(event->actor.data == NULL || event->actor.len == 0))
		return "actor_missing";
	if (!optional_text_is_valid(event->actor) ||
		!optional_text_is_valid(event->source))
		return "bad_field";
	if (counter->monotonic && event->delta < 0 && counter->op != LB_UNIQUE)
		return "not_monotonic";
	if ((counter->has_min_delta && event->delta < counter->min_delta) ||
		(counter->has_max_delta && event->delta > counter->max_delta))
		return "delta_out_of_bounds";
	if (TIMESTAMP_NOT_FINITE(event->event_time))
		return "bad_event_time";
	if (kind != LB_KIND_HISTORY &&
		is_before(event->event_time, now, counter->max_age))
		return "too_old";
	if (is_after(event->event_time, now, counter->max_skew))
		return "in_future";
	if (event->event_time < EARLIEST_EVENT || event->event_time >= LATEST_EVENT)
		return "bad_event_time";
	return NULL;
}

/* Decide whether the event may enter, its key aside. */
void
lb_validate(const LbCounter *counter, LbEvent *event, char kind,
			TimestampTz now)
{
	const char *reason;

	if (event->status == LB_REJECTED)
		return;
	if (!event->has_event_time)
		event->event_time = now;
	reason = broken_rule(counter, event, kind, now);
	if (reason != NULL)
		lb_reject(event, reason);
}

/* Against the event that holds the key, this one is a repeat or a misuse. */
static void
settle_claimed(LbEvent *event, const LbClaim *claim)
{
	if (event->delta == claim->delta &&
		lb_text_equal(event->member, claim->member) &&
		lb_text_equal(event->actor, claim->actor))
	{
		event->status = LB_DUPLICATE;
		event->event_id = claim->event_id;
	}
	else
		lb_reject(event, "key_reused");
}

static int
compare_by_key(const void *a, const void *b)
{
	const LbEvent *x = *(LbEvent *const *) a;
	const LbEvent *y = *(LbEvent *const *) b;
	int			c = lb_text_compare(x->key, y->key);

	return c != 0 ? c : x->ordinal - y->ordinal;
}

static bool
same_key(const LbEvent *a, const LbEvent *b)
{
	return a->key.data != NULL && lb_text_equal(a->key, b->key);
}

/* The first of each key; NULL keys claim nothing and each stand alone. */
static int
pick_leaders(LbEvent **sorted, int n, LbEvent **leaders)
{
	int			count = 0;

	for (int i = 0; i < n; i++)
		if (i == 0 || !same_key(sorted[i - 1], sorted[i]))
			leaders[count++] = sorted[i];
	return count;
}

/* The claim that a settled leader of its key left or found. */
static void
claim_of_leader(const LbEvent *leader, const LbClaim *found, LbClaim *claim)
{
	if (leader->status == LB_ACCEPTED)
	{
		claim->event_id = leader->event_id;
		claim->member = leader->member;
		claim->actor = leader->actor;
		claim->delta = leader->delta;
	}
	else
		*claim = *found;
}

/*
 * Claim and append the leaders; found[i] is set for those that lost.  Event
 * ids are drawn in the order of the call, rows go in in the order of the key.
 */
static void
claim_leaders(const LbCounter *counter, LbEvent *events, int n,
			  LbEvent **leaders, int nleaders, LbClaim *found, char kind,
			  TimestampTz now)
{
	LbEvent   **fresh = palloc(nleaders * sizeof(LbEvent *));
	int		   *index = palloc(nleaders * sizeof(int));
	bool	   *wanted = palloc0(n * sizeof(bool));
	bool	   *held = palloc(nleaders * sizeof(bool));
	Oid			sequence = lb_relation_oid("event_id_seq");
	int			nfresh = 0;
	LbClaims   *claims = lb_claim_begin(counter, leaders, nleaders, kind, now);

	lb_claim_earlier(claims, leaders, nleaders, found, held);
	for (int i = 0; i < nleaders; i++)
	{
		if (held[i])
			settle_claimed(leaders[i], &found[i]);
		else
		{
			wanted[leaders[i] - events] = true;
			index[nfresh] = i;
			fresh[nfresh++] = leaders[i];
		}
	}
	for (int i = 0; i < n; i++)
		if (wanted[i])
			events[i].event_id = nextval_internal(sequence, false);

	lb_append(counter, fresh, nfresh, kind, now);

	for (int i = 0; i < nfresh; i++)
	{
		if (fresh[i]->status == LB_ACCEPTED)
			continue;
		if (!lb_claim_current(claims, fresh[i], &found[index[i]]))
			elog(ERROR, "the event that holds a key is gone");
		settle_claimed(fresh[i], &found[index[i]]);
	}
	lb_claim_end(claims);
}

/*
 * Admit n events of one counter at the instant now.  The caller is connected
 * to SPI and acts as the owner.
 */
void
lb_admit(const LbCounter *counter, LbEvent *events, int n, char kind,
		 TimestampTz now)
{
	LbEvent   **sorted = palloc(Max(n, 1) * sizeof(LbEvent *));
	LbEvent   **leaders;
	LbClaim    *found;
	LbClaim		claim = {0};
	int			nsorted = 0;
	int			nleaders;
	int			leader = -1;

	for (int i = 0; i < n; i++)
	{
		lb_validate(counter, &events[i], kind, now);
		if (events[i].status == LB_PENDING)
			sorted[nsorted++] = &events[i];
	}
	if (nsorted == 0)
		return;
	qsort(sorted, nsorted, sizeof(LbEvent *), compare_by_key);
	leaders = palloc(nsorted * sizeof(LbEvent *));
	nleaders = pick_leaders(sorted, nsorted, leaders);
	found = palloc0(nleaders * sizeof(LbClaim));
	claim_leaders(counter, events, n, leaders, nleaders, found, kind, now);

	/* the others of each key follow their leader */
	for (int i = 0; i < nsorted; i++)
	{
		if (leader + 1 < nleaders && sorted[i] == leaders[leader + 1])
		{
			leader++;
			claim_of_leader(leaders[leader], &found[leader], &claim);
		}
		else
			settle_claimed(sorted[i], &claim);
	}
}

static const char *
hint_for(const char *reason)
{
	static const struct
	{
		const char *reason;
		const char *hint;
	}			hints[] = {
		{"bad_member", "A member is 1 to 200 bytes of text."},
		{"bad_key", "A key is 1 to 200 bytes of text."},
		{"key_missing", "Give a key that names the effect, so that a retry counts once."},
		{"key_reused", "This key already names an event with another member, delta or actor; use a new key for a new effect."},
		{"bad_delta", "A delta is a whole number that fits bigint."},
		{"bad_field", "Fields are counter, member, delta, key, event_time, actor and source, of 1 to 200 bytes."},
		{"bad_event_time", "An event_time is a finite instant between the years 1 and 9999, with its offset."},
		{"delta_out_of_bounds", "The counter's min_delta and max_delta bound each event, see lb_counters(); of a unique counter the delta is 1."},
		{"actor_missing", "Give the actor: a unique counter counts different actors."},
		{"not_monotonic", "The counter only grows; take back an effect by other means than a negative delta."},
		{"too_old", "event_time is older than the counter's max_age; history goes in through lb_backfill()."},
		{"in_future", "event_time is ahead of this server's clock by more than the counter's max_skew."},
		{"counter_unknown", "lb_counters() lists the counters."},
		{"retired", "The counter was dropped; submit to a live one."},
	};

	for (int i = 0; i < (int) lengthof(hints); i++)
		if (strcmp(reason, hints[i].reason) == 0)
			return hints[i].hint;
	return "See the reasons in the reference of lb_submit().";
}

/* strict: the first rejection becomes an error, and nothing is kept. */
void
lb_check_strict(const LbEvent *events, int n)
{
	for (int i = 0; i < n; i++)
		if (events[i].status == LB_REJECTED)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("event %d is rejected: %s",
							events[i].ordinal, events[i].reason),
					 errhint("%s", hint_for(events[i].reason))));
}
