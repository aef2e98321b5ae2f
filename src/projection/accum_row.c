/*-------------------------------------------------------------------------
 *
 * accum_row.c
 *	  An accumulation as columns of a row.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "utils/builtins.h"
#include "utils/numeric.h"

#include "projection/accum_row.h"
#include "projection/sketch.h"

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

/* Put the accumulation, which is settled, into its columns. */
void
lb_accum_to_row(const LbAccum *accum, const LbAccumColumns *columns, LbRow *row)
{
	if (columns->n != 0)
		lb_row_set(row, columns->n, Int64GetDatum(accum->n));
	if (lb_accum_fits(accum))
		lb_row_set(row, columns->value, Int64GetDatum((int64) accum->value));
	else
		lb_row_set(row, columns->wide, int128_to_numeric(accum->value));
	lb_row_set(row, columns->moved, BoolGetDatum(accum->moved));
	lb_row_set(row, columns->reached_at, TimestampTzGetDatum(accum->reached_at));
	if (accum->last_id != 0)
		lb_row_set(row, columns->last_id, Int64GetDatum(accum->last_id));
	if (columns->sketch != 0 && accum->form != LB_SKETCH_NONE)
		lb_row_set(row, columns->sketch, PointerGetDatum(accum->sketch.stored));
}

/*
 * And take it out again; a table without n has rows of members only.  A sketch
 * is copied into the current memory context.
 */
void
lb_accum_from_slot(LbAccum *accum, const LbAccumColumns *columns,
				   TupleTableSlot *slot)
{
	bool		isnull;
	Datum		value = slot_getattr(slot, columns->value, &isnull);

	accum->value = isnull ?
		numeric_to_int128(slot_getattr(slot, columns->wide, &isnull)) :
		DatumGetInt64(value);
	accum->n = columns->n == 0 ? 1 : lb_slot_int64(slot, columns->n);
	accum->moved = DatumGetBool(slot_getattr(slot, columns->moved, &isnull));
	accum->reached_at = lb_slot_int64(slot, columns->reached_at);
	value = slot_getattr(slot, columns->last_id, &isnull);
	accum->last_id = isnull ? 0 : DatumGetInt64(value);
	accum->form = LB_SKETCH_NONE;
	accum->size = 0;
	if (columns->sketch == 0)
		return;
	value = slot_getattr(slot, columns->sketch, &isnull);
	if (!isnull)
		lb_sketch_take(accum, value);
}

/* From n, value, wide, moved, reached_at, last_id, sketch of a query's result. */
void
lb_read_accum(HeapTuple row, TupleDesc desc, int column, LbAccum *accum)
{
	Datum		values[7];
	bool		nulls[7];

	for (int i = 0; i < 7; i++)
		values[i] = SPI_getbinval(row, desc, column + i, &nulls[i]);
	accum->n = DatumGetInt64(values[0]);
	accum->value = nulls[1] ? numeric_to_int128(values[2]) : DatumGetInt64(values[1]);
	accum->moved = DatumGetBool(values[3]);
	accum->reached_at = DatumGetTimestampTz(values[4]);
	accum->last_id = nulls[5] ? 0 : DatumGetInt64(values[5]);
	accum->form = LB_SKETCH_NONE;
	accum->size = 0;
	if (!nulls[6])
		lb_sketch_take(accum, values[6]);
}
