/*-------------------------------------------------------------------------
 *
 * columns.c
 *	  Rows on their way to a statement, as one array a column.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"

#include "projection/columns.h"

void
lb_columns_init(LbColumns *columns, const Oid *types, int ncolumns, int nrows)
{
	Assert(ncolumns <= LB_COLUMNS_MAX);
	columns->ncolumns = ncolumns;
	columns->nrows = 0;
	columns->types = types;
	for (int i = 0; i < ncolumns; i++)
	{
		columns->values[i] = palloc(nrows * sizeof(Datum));
		columns->nulls[i] = palloc(nrows * sizeof(bool));
		memset(columns->nulls[i], true, nrows * sizeof(bool));
	}
}

/* Set a column of the row being written; what is not set is NULL. */
void
lb_columns_set(LbColumns *columns, int column, Datum value)
{
	columns->values[column][columns->nrows] = value;
	columns->nulls[column][columns->nrows] = false;
}

void
lb_columns_set_text(LbColumns *columns, int column, LbText text)
{
	lb_columns_set(columns, column,
				   PointerGetDatum(cstring_to_text_with_len(text.data, text.len)));
}

void
lb_columns_set_tid(LbColumns *columns, int column, const ItemPointerData *tid)
{
	lb_columns_set(columns, column, PointerGetDatum(tid));
}

static Datum
int128_to_numeric(int128 value)
{
	char		digits[48];
	char	   *p = digits + sizeof(digits);
	bool		negative = value < 0;

	*--p = '\0';
	do
	{
		int			digit = (int) (value % 10);

		*--p = '0' + (digit < 0 ? -digit : digit);
		value /= 10;
	} while (value != 0);
	if (negative)
		*--p = '-';
	return DirectFunctionCall3(numeric_in, CStringGetDatum(p),
							   ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
}

static int128
numeric_to_int128(Datum numeric)
{
	const char *p = DatumGetCString(DirectFunctionCall1(numeric_out, numeric));
	bool		negative = *p == '-';
	int128		value = 0;

	for (p += negative; *p != '\0'; p++)
		value = value * 10 - (*p - '0');
	return negative ? value : -value;
}

/* n, value or wide, moved, reached_at, last_id */
void
lb_columns_set_accum(LbColumns *columns, int column, const LbAccum *accum)
{
	lb_columns_set(columns, column, Int64GetDatum(accum->n));
	if (lb_accum_fits(accum))
		lb_columns_set(columns, column + 1, Int64GetDatum((int64) accum->value));
	else
		lb_columns_set(columns, column + 2, int128_to_numeric(accum->value));
	lb_columns_set(columns, column + 3, BoolGetDatum(accum->moved));
	lb_columns_set(columns, column + 4, TimestampTzGetDatum(accum->reached_at));
	if (accum->last_id != 0)
		lb_columns_set(columns, column + 5, Int64GetDatum(accum->last_id));
}

void
lb_columns_next(LbColumns *columns)
{
	columns->nrows++;
}

/* The columns as array Datums; the rows are forgotten. */
void
lb_columns_arrays(LbColumns *columns, Datum *arrays)
{
	int			lower = 1;

	for (int i = 0; i < columns->ncolumns; i++)
	{
		int16		typlen;
		bool		typbyval;
		char		typalign;

		get_typlenbyvalalign(columns->types[i], &typlen, &typbyval, &typalign);
		arrays[i] = PointerGetDatum(construct_md_array(columns->values[i],
													   columns->nulls[i], 1,
													   &columns->nrows, &lower,
													   columns->types[i],
													   typlen, typbyval, typalign));
		memset(columns->nulls[i], true, columns->nrows * sizeof(bool));
	}
	columns->nrows = 0;
}

/* An accumulation from the columns that lb_columns_set_accum() wrote. */
void
lb_read_accum(HeapTuple row, TupleDesc desc, int column, LbAccum *accum)
{
	Datum		values[LB_ACCUM_COLUMNS];
	bool		nulls[LB_ACCUM_COLUMNS];

	for (int i = 0; i < LB_ACCUM_COLUMNS; i++)
		values[i] = SPI_getbinval(row, desc, column + i, &nulls[i]);
	accum->n = DatumGetInt64(values[0]);
	accum->value = nulls[1] ? numeric_to_int128(values[2]) : DatumGetInt64(values[1]);
	accum->moved = DatumGetBool(values[3]);
	accum->reached_at = DatumGetTimestampTz(values[4]);
	accum->last_id = nulls[5] ? 0 : DatumGetInt64(values[5]);
}
