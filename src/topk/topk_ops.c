/*-------------------------------------------------------------------------
 *
 * topk_ops.c
 *	  The SQL functions and operators of lb_topk.
 *
 * NULL in a required argument gives NULL, as for any operator; NULL in an
 * optional one is its default.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"

#include "topk/topk.h"
#include "value.h"

PG_FUNCTION_INFO_V1(lb_topk_union);
PG_FUNCTION_INFO_V1(lb_topk_with);
PG_FUNCTION_INFO_V1(lb_topk_total);
PG_FUNCTION_INFO_V1(lb_topk_bound);
PG_FUNCTION_INFO_V1(lb_topk_capacity);
PG_FUNCTION_INFO_V1(lb_topk_item);
PG_FUNCTION_INFO_V1(lb_topk_items);

/* An item and its interval, out of the reader. */
typedef struct Line
{
	int64		low;
	int64		high;
	text	   *item;
} Line;

/* t || t: what both counted. */
Datum
lb_topk_union(PG_FUNCTION_ARGS)
{
	LbTopk	   *t = lb_topk_load(PG_GETARG_DATUM(0));

	lb_topk_merge(t, PG_GETARG_DATUM(1));
	PG_RETURN_DATUM(lb_topk_store(t));
}

/* (t, item, weight): a sketch with the item counted too; SQL's lb_topk_add. */
Datum
lb_topk_with(PG_FUNCTION_ARGS)
{
	LbTopk	   *t;
	text	   *item;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	t = lb_topk_load(PG_GETARG_DATUM(0));
	item = PG_GETARG_TEXT_PP(1);
	lb_topk_add(t, VARDATA_ANY(item), VARSIZE_ANY_EXHDR(item),
				PG_ARGISNULL(2) ? 1 : PG_GETARG_INT64(2));
	PG_RETURN_DATUM(lb_topk_store(t));
}

Datum
lb_topk_total(PG_FUNCTION_ARGS)
{
	LbTopkReader r;

	lb_topk_read(PG_GETARG_DATUM(0), &r);
	PG_RETURN_INT64(r.total);
}

Datum
lb_topk_bound(PG_FUNCTION_ARGS)
{
	LbTopkReader r;

	lb_topk_read(PG_GETARG_DATUM(0), &r);
	PG_RETURN_INT64(r.bound);
}

Datum
lb_topk_capacity(PG_FUNCTION_ARGS)
{
	LbTopkReader r;

	lb_topk_read(PG_GETARG_DATUM(0), &r);
	PG_RETURN_INT32(r.capacity);
}

/* (t, item): between what its weight is, tracked or not. */
Datum
lb_topk_item(PG_FUNCTION_ARGS)
{
	text	   *item = PG_GETARG_TEXT_PP(1);
	LbTopkReader r;
	int64_t		low;
	int64_t		high;
	Datum		values[2];
	bool		nulls[2] = {false, false};

	lb_topk_read(PG_GETARG_DATUM(0), &r);
	lb_topk_find(&r, VARDATA_ANY(item), VARSIZE_ANY_EXHDR(item), &low, &high);
	values[0] = Int64GetDatum(low);
	values[1] = Int64GetDatum(high);
	return lb_value_row(fcinfo, values, nulls);
}

/* Best first: the heaviest that is certain. */
static int
compare_items(const void *a, const void *b)
{
	const Line *x = a;
	const Line *y = b;

	if (x->low != y->low)
		return x->low > y->low ? -1 : 1;
	if (x->high != y->high)
		return x->high > y->high ? -1 : 1;
	return lb_topk_compare(VARDATA(x->item), VARSIZE(x->item) - VARHDRSZ,
						   VARDATA(y->item), VARSIZE(y->item) - VARHDRSZ);
}

/* One row for each tracked item, the best first. */
Datum
lb_topk_items(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	LbTopkReader r;
	Line	   *items;
	int			n = 0;

	lb_materialize(fcinfo);
	lb_topk_read(PG_GETARG_DATUM(0), &r);
	items = palloc(sizeof(Line) * (Size) (r.items + 1));
	while (lb_topk_next(&r))
	{
		items[n].low = r.low;
		items[n].high = r.high;
		items[n++].item = cstring_to_text_with_len(r.item, r.length);
	}
	qsort(items, (size_t) n, sizeof(Line), compare_items);
	for (int i = 0; i < n; i++)
	{
		Datum		values[3];
		bool		nulls[3] = {false, false, false};

		values[0] = PointerGetDatum(items[i].item);
		values[1] = Int64GetDatum(items[i].low);
		values[2] = Int64GetDatum(items[i].high);
		tuplestore_putvalues(result->setResult, result->setDesc,
							 values, nulls);
	}
	return (Datum) 0;
}
