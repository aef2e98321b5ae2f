/*-------------------------------------------------------------------------
 *
 * arguments.c
 *	  Arguments that several reading functions take.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "read/answer.h"

lb_noreturn static void
out_of_range(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("\"%s\" is between 1 and %d", name, LB_ROWS_MAX),
			 errhint("Ask for further rows in further calls.")));
}

/* A number of rows. */
int
lb_rows_arg(FunctionCallInfo fcinfo, int argno, const char *name, int if_null)
{
	int			n = PG_ARGISNULL(argno) ? if_null : PG_GETARG_INT32(argno);

	if (n < 1 || n > LB_ROWS_MAX)
		out_of_range(name);
	return n;
}

static LbText
text_of(Datum datum)
{
	text	   *value = DatumGetTextPP(datum);

	return (LbText) {VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value)};
}

LbText
lb_text_arg(FunctionCallInfo fcinfo, int argno)
{
	if (PG_ARGISNULL(argno))
		return (LbText) {NULL, 0};
	return text_of(PG_GETARG_DATUM(argno));
}

/* An instant that says which window; NULL is now. */
TimestampTz
lb_instant_arg(FunctionCallInfo fcinfo, int argno, TimestampTz now)
{
	TimestampTz at = PG_ARGISNULL(argno) ? now : PG_GETARG_TIMESTAMPTZ(argno);

	if (TIMESTAMP_NOT_FINITE(at))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"at\" must be a finite instant"),
				 errhint("Give an instant inside the window, or NULL for the current one.")));
	return at;
}

/* An array of texts, none of them NULL. */
LbText *
lb_texts_arg(FunctionCallInfo fcinfo, int argno, const char *name, int *n)
{
	ArrayType  *array;
	Datum	   *values;
	bool	   *nulls;
	LbText	   *texts;

	lb_check_not_null(fcinfo, argno, name);
	array = PG_GETARG_ARRAYTYPE_P(argno);
	*n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	if (*n < 1 || *n > LB_ROWS_MAX)
		out_of_range(name);
	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &values, &nulls, n);
	texts = palloc(*n * sizeof(LbText));
	for (int i = 0; i < *n; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("element %d of \"%s\" is null", i + 1, name),
					 errhint("Leave it out.")));
		texts[i] = text_of(values[i]);
	}
	return texts;
}

LbText *
lb_members_arg(FunctionCallInfo fcinfo, int argno, int *n)
{
	return lb_texts_arg(fcinfo, argno, "members", n);
}
