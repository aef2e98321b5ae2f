/*-------------------------------------------------------------------------
 *
 * event.h
 *	  An event on its way into the log.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_EVENT_H
#define LB_EVENT_H

#include "leaderboard.h"

#include "definition/lookup.h"

/* lb.event.kind */
#define LB_KIND_EVENT	'e'		/* submitted as it happened */
#define LB_KIND_HISTORY	'h'		/* backfilled: never too old, never late */

typedef enum LbStatus
{
	LB_PENDING,					/* valid so far, not yet claimed */
	LB_ACCEPTED,
	LB_DUPLICATE,
	LB_REJECTED
} LbStatus;

/* A text argument; data is NULL for an SQL NULL. */
typedef struct LbText
{
	const char *data;
	int			len;
} LbText;

typedef struct LbEvent
{
	/* as submitted */
	LbText		member;
	LbText		key;
	LbText		actor;
	LbText		source;
	int64		delta;
	bool		has_delta;
	TimestampTz event_time;
	bool		has_event_time;

	/* as decided */
	int			ordinal;
	LbStatus	status;
	const char *reason;			/* of a rejection */
	int64		event_id;
} LbEvent;

/* A row of the log, as it is counted; the texts are good as long as the slot. */
typedef struct LbLogged
{
	int64		counter_id;
	int16		version;
	int64		delta;
	TimestampTz event_time;
	TimestampTz ingest_time;
	int64		event_id;
	char		kind;
	LbText		member;
	struct TupleTableSlot *slot;	/* what few counters ask for: log/leaf.h */
} LbLogged;

static inline bool
lb_text_equal(LbText a, LbText b)
{
	if (a.data == NULL || b.data == NULL)
		return a.data == b.data;
	return a.len == b.len && memcmp(a.data, b.data, a.len) == 0;
}

/* Bytewise order, as the collation "C" has it; SQL NULL last. */
static inline int
lb_text_compare(LbText a, LbText b)
{
	int			c;

	if (a.data == NULL || b.data == NULL)
		return (a.data == NULL) - (b.data == NULL);
	c = memcmp(a.data, b.data, Min(a.len, b.len));
	return c != 0 ? c : a.len - b.len;
}

/* admit.c */
extern void lb_reject(LbEvent *event, const char *reason);
extern void lb_validate(const LbCounter *counter, LbEvent *event, char kind,
						TimestampTz now);
extern void lb_admit(const LbCounter *counter, LbEvent *events, int n,
					 char kind, TimestampTz now);
extern void lb_check_strict(const LbEvent *events, int n);

/* claim.c: who holds a key */
typedef struct LbClaim
{
	int64		event_id;
	LbText		member;
	LbText		actor;
	int64		delta;
} LbClaim;

typedef struct LbClaims LbClaims;

extern LbClaims *lb_claim_begin(const LbCounter *counter, LbEvent **events,
								int n, char kind, TimestampTz now);
extern void lb_claim_earlier(LbClaims *claims, LbEvent **events, int n,
							 LbClaim *found, bool *held);
extern bool lb_claim_current(LbClaims *claims, const LbEvent *event,
							 LbClaim *claim);
extern void lb_claim_end(LbClaims *claims);

/* append.c */
extern int32 lb_current_origin(void);
extern bool lb_known_origin(int32 *origin);
extern void lb_append(const LbCounter *counter, LbEvent **events, int n,
					  char kind, TimestampTz now);

#endif							/* LB_EVENT_H */
