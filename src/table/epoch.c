/*-------------------------------------------------------------------------
 *
 * epoch.c
 *	  Does this snapshot see what the last one saw?
 *
 * Two snapshots with the same transactions under way and the same end see
 * the same rows.  As long as nothing commits in the cluster, what a backend
 * has read it need not read again.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "access/xact.h"
#include "utils/snapmgr.h"

#include "table/epoch.h"

/* A snapshot with more transactions under way than this is taken for new. */
#define XIDS_MAX	64

static struct
{
	uint64		epoch;
	TransactionId xmin;
	TransactionId xmax;
	uint32		xcnt;
	int32		subxcnt;
	bool		suboverflowed;
	bool		recovery;
	TransactionId xids[XIDS_MAX];
}			last;

static bool
is_last(Snapshot snapshot)
{
	return snapshot->xmin == last.xmin && snapshot->xmax == last.xmax &&
		snapshot->xcnt == last.xcnt && snapshot->subxcnt == last.subxcnt &&
		snapshot->suboverflowed == last.suboverflowed &&
		snapshot->takenDuringRecovery == last.recovery &&
		memcmp(snapshot->xip, last.xids,
			   snapshot->xcnt * sizeof(TransactionId)) == 0 &&
		memcmp(snapshot->subxip, last.xids + snapshot->xcnt,
			   snapshot->subxcnt * sizeof(TransactionId)) == 0;
}

static void
remember(Snapshot snapshot)
{
	last.xmin = snapshot->xmin;
	last.xmax = snapshot->xmax;
	last.xcnt = snapshot->xcnt;
	last.subxcnt = snapshot->subxcnt;
	last.suboverflowed = snapshot->suboverflowed;
	last.recovery = snapshot->takenDuringRecovery;
	memcpy(last.xids, snapshot->xip, snapshot->xcnt * sizeof(TransactionId));
	memcpy(last.xids + snapshot->xcnt, snapshot->subxip,
		   snapshot->subxcnt * sizeof(TransactionId));
	last.epoch++;
}

/*
 * The epoch of the active snapshot: equal to an earlier one if it sees the
 * same rows, zero if that cannot be said.  A transaction that has written
 * sees its own rows by command, not by snapshot.
 */
uint64
lb_snapshot_epoch(void)
{
	Snapshot	snapshot = GetActiveSnapshot();

	if (TransactionIdIsValid(GetTopTransactionIdIfAny()) ||
		snapshot->snapshot_type != SNAPSHOT_MVCC ||
		snapshot->xcnt + (uint32) snapshot->subxcnt > XIDS_MAX)
		return 0;
	if (last.epoch == 0 || !is_last(snapshot))
		remember(snapshot);
	return last.epoch;
}
