/*-------------------------------------------------------------------------
 *
 * rows.h
 *	  Many rows into a table, without a plan.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_ROWS_H
#define LB_ROWS_H

#include "leaderboard.h"

#include "table/probe.h"

/* No table of the extension has more columns. */
#define LB_ROW_COLUMNS	16

typedef struct LbRows LbRows;

/* A row to be written, column by column; what is not set is NULL. */
typedef struct LbRow
{
	Datum		values[LB_ROW_COLUMNS];
	bool		nulls[LB_ROW_COLUMNS];
} LbRow;

extern LbRows *lb_rows_begin(LbTable table, int64 counter_id);
extern void lb_rows_insert(LbRows *rows, const LbRow *row);
extern void lb_rows_update(LbRows *rows, const ItemPointerData *tid,
						   const LbRow *row);
extern void lb_rows_delete(LbRows *rows, const ItemPointerData *tid);
extern void lb_rows_flush(LbRows *rows);
extern void lb_rows_end(LbRows *rows);

static inline void
lb_row_clear(LbRow *row)
{
	memset(row->nulls, true, sizeof(row->nulls));
}

static inline void
lb_row_set(LbRow *row, int column, Datum value)
{
	row->values[column - 1] = value;
	row->nulls[column - 1] = false;
}

#endif							/* LB_ROWS_H */
