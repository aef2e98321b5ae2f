/*-------------------------------------------------------------------------
 *
 * watermark.h
 *	  Which transactions a round has counted.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_WATERMARK_H
#define LB_WATERMARK_H

#include "leaderboard.h"

#include "utils/timestamp.h"

#include "projection/cost.h"

/*
 * A snapshot: counted is every transaction before xmax that is not in xip.
 * as_of is a clock reading taken before the snapshot, next the number that no
 * transaction had yet when it was taken.  Nothing that is not counted was
 * ingested before floor.
 */
typedef struct LbWatermark
{
	uint64		xmin;
	uint64		xmax;
	uint64	   *xip;
	int			nxip;
	uint64		next;
	TimestampTz as_of;
	TimestampTz floor;
} LbWatermark;

extern bool lb_watermark_read(LbWatermark *mark);
extern const LbWatermark *lb_watermark_of(int64 number);
extern void lb_watermark_take(LbWatermark *mark, const LbWatermark *before,
							  TimestampTz as_of);
extern void lb_watermark_cut(LbWatermark *mark, const LbWatermark *before,
							 uint64 xid);
extern void lb_watermark_write(const LbWatermark *mark, int64 number,
							   int64 events, int64 rankings,
							   const LbCosts *costs);
extern bool lb_watermark_has(const LbWatermark *mark, uint64 xid);

#endif							/* LB_WATERMARK_H */
