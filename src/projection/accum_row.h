/*-------------------------------------------------------------------------
 *
 * accum_row.h
 *	  An accumulation as columns of a row.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_ACCUM_ROW_H
#define LB_ACCUM_ROW_H

#include "leaderboard.h"

#include "executor/spi.h"

#include "projection/accum.h"
#include "table/rows.h"

/* Which columns of a table they are; n and sketch may be 0, for none. */
typedef struct LbAccumColumns
{
	int			n;
	int			value;
	int			wide;
	int			moved;
	int			reached_at;
	int			last_id;
	int			sketch;
} LbAccumColumns;

extern void lb_accum_to_row(const LbAccum *accum, const LbAccumColumns *columns,
							LbRow *row);
extern void lb_accum_from_slot(LbAccum *accum, const LbAccumColumns *columns,
							   TupleTableSlot *slot);
extern void lb_read_accum(HeapTuple row, TupleDesc desc, int column,
						  LbAccum *accum);

#endif							/* LB_ACCUM_ROW_H */
