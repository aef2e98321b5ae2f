/*-------------------------------------------------------------------------
 *
 * leaf.h
 *	  The partitions of lb.event.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_LEAF_H
#define LB_LEAF_H

#include "leaderboard.h"

#include "utils/relcache.h"
#include "utils/timestamp.h"

/* The columns of lb.event and of every partition, in their order. */
enum
{
	LB_EVENT_COUNTER_ID = 1,
	LB_EVENT_EVENT_ID,
	LB_EVENT_DELTA,
	LB_EVENT_EVENT_TIME,
	LB_EVENT_INGEST_TIME,
	LB_EVENT_XID,
	LB_EVENT_ORIGIN,
	LB_EVENT_VERSION,
	LB_EVENT_KIND,
	LB_EVENT_MEMBER,
	LB_EVENT_KEY,
	LB_EVENT_ACTOR,
	LB_EVENT_SOURCE
};

/* One partition: ingest times from..to, or those of no other. */
typedef struct LbLeaf
{
	Oid			relid;
	TimestampTz from;
	TimestampTz to;
	bool		is_default;
} LbLeaf;

/*
 * A walk over the partitions that can hold from <= ingest_time <= to, in the
 * order of time or against it, the default partition last.  Partitions may
 * come and go meanwhile: those that stay are met once each.
 */
typedef struct LbLeafScan
{
	TimestampTz from;
	TimestampTz to;
	bool		newest_first;
	bool		begun;
	bool		ended;			/* with the default partition, if there is one */
	TimestampTz last;			/* where the leaf met last begins */
	uint64		generation;		/* of the list, in which the next one is at */
	int			next;
} LbLeafScan;

extern const LbLeaf *lb_leaf_for(TimestampTz time);
extern void lb_leaf_scan_begin(LbLeafScan *scan, TimestampTz from,
							   TimestampTz to, bool newest_first);
extern bool lb_leaf_scan_next(LbLeafScan *scan, LbLeaf *leaf);
extern Relation lb_leaf_open(const LbLeaf *leaf);

extern Oid	lb_leaf_find_key_index(Relation leaf);
extern Oid	lb_leaf_key_index(Relation leaf);
extern Oid	lb_leaf_find_xid_index(Relation leaf);
extern Oid	lb_leaf_find_member_index(Relation leaf);
extern bool lb_log_is_restoring(void);

#endif							/* LB_LEAF_H */
