/*-------------------------------------------------------------------------
 *
 * lock.c
 *	  Locks of the extension's own, held until the transaction ends.
 *
 * They are advisory locks of a class that pg_advisory_lock() cannot reach,
 * so they meet no lock of an application.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "miscadmin.h"
#include "storage/lock.h"

#include "log/lock.h"

/* Lock; without waiting, false says that somebody else holds it. */
bool
lb_lock(int what, int64 id, uint32 part, bool wait)
{
	LOCKTAG		tag;

	/* counter ids beyond 2^25 share locks, which costs waits and no more */
	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, (uint32) (id >> 25),
						 (uint32) ((id << 7) | part), what);
	return LockAcquire(&tag, ExclusiveLock, false, !wait) !=
		LOCKACQUIRE_NOT_AVAIL;
}
