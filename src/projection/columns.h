/*-------------------------------------------------------------------------
 *
 * columns.h
 *	  Rows on their way to a statement, as one array a column.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_COLUMNS_H
#define LB_COLUMNS_H

#include "leaderboard.h"

#include "storage/itemptr.h"

#include "log/event.h"
#include "projection/accum.h"

#define LB_COLUMNS_MAX	12

/* Up to as many rows as lb_columns_init() was told. */
typedef struct LbColumns
{
	int			ncolumns;
	int			nrows;
	const Oid  *types;			/* of the elements */
	Datum	   *values[LB_COLUMNS_MAX];
	bool	   *nulls[LB_COLUMNS_MAX];
} LbColumns;

/* The columns in which an accumulation is stored, in this order. */
#define LB_ACCUM_COLUMNS	6
#define LB_ACCUM_TYPES \
	INT8OID, INT8OID, NUMERICOID, BOOLOID, TIMESTAMPTZOID, INT8OID

extern void lb_columns_init(LbColumns *columns, const Oid *types,
							int ncolumns, int nrows);
extern void lb_columns_set(LbColumns *columns, int column, Datum value);
extern void lb_columns_set_text(LbColumns *columns, int column, LbText text);
extern void lb_columns_set_tid(LbColumns *columns, int column,
							   const ItemPointerData *tid);
extern void lb_columns_set_accum(LbColumns *columns, int column,
								 const LbAccum *accum);
extern void lb_columns_next(LbColumns *columns);
extern void lb_columns_arrays(LbColumns *columns, Datum *arrays);

extern void lb_read_accum(HeapTuple row, TupleDesc desc, int column,
						  LbAccum *accum);

#endif							/* LB_COLUMNS_H */
