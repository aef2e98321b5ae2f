/*-------------------------------------------------------------------------
 *
 * topk_value.c
 *	  lb_topk as a Datum: flat, expanded, and loaded to work on.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "common/pg_prng.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "utils/memutils.h"

#include "topk/topk.h"

static Size flat_size(ExpandedObjectHeader *eohptr);
static void flatten_into(ExpandedObjectHeader *eohptr, void *result,
						 Size allocated_size);

static const ExpandedObjectMethods methods = {flat_size, flatten_into};

/* Memory for the core: arg is a context. */
static void *
resize(void *arg, void *chunk, size_t size)
{
	if (chunk == NULL)
		return MemoryContextAlloc((MemoryContext) arg, size);
	return repalloc(chunk, size);
}

/* One a backend; what it changes is only which items are slow. */
static uint64
seed(void)
{
	static uint64 kept = 0;

	if (kept == 0)
		kept = pg_prng_uint64(&pg_global_prng_state) | 1;
	return kept;
}

static void
check_capacity(int32 capacity)
{
	if (capacity < LB_TOPK_CAPACITY_MIN || capacity > LB_TOPK_CAPACITY_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a top-k sketch cannot have the capacity %d", capacity),
				 errhint("Give the number of items to track, %d to %d; the default is %d.",
						 LB_TOPK_CAPACITY_MIN, LB_TOPK_CAPACITY_MAX,
						 LB_TOPK_CAPACITY_DEFAULT)));
}

LbTopk *
lb_topk_create(int32 capacity)
{
	LbTopk	   *t = palloc(sizeof(LbTopk));

	check_capacity(capacity);
	lb_topk_init(t, capacity, seed(), resize, CurrentMemoryContext);
	return t;
}

/* Stored bytes are damaged; those from outside are whatever was sent. */
static void
report_bytes(size_t size, const char *wrong, int sqlstate)
{
	ereport(ERROR,
			(errcode(sqlstate),
			 errmsg("invalid bytes for type %s", "lb_topk"),
			 errdetail("In the %zu bytes, %s.", size, wrong),
			 sqlstate == ERRCODE_DATA_CORRUPTED ?
			 errhint("The stored value is damaged: build it again from the items it counted.") :
			 errhint("Take the bytes from lb_topk_send, a cast to bytea or COPY BINARY, unchanged.")));
}

/* The one way in for bytes: checked, and their items text of the database. */
static void
open_bytes(LbTopkReader *r, const uint8_t *bytes, size_t size, int sqlstate)
{
	LbTopkStatus status = lb_topk_open(r, bytes, size);
	LbTopkReader again;

	if (status != LB_TOPK_OK)
		report_bytes(size, lb_topk_status_text(status), sqlstate);
	again = *r;
	while (lb_topk_next(&again))
	{
		if (!pg_verifymbstr(again.item, again.length, true))
			report_bytes(size,
						 "an item is no text in the encoding of the database",
						 sqlstate);
	}
}

void
lb_topk_read(Datum datum, LbTopkReader *r)
{
	struct varlena *flat = PG_DETOAST_DATUM_PACKED(datum);

	open_bytes(r, (const uint8_t *) VARDATA_ANY(flat),
			   VARSIZE_ANY_EXHDR(flat), ERRCODE_DATA_CORRUPTED);
}

Datum
lb_topk_from_bytes(const uint8_t *bytes, size_t size, int sqlstate)
{
	struct varlena *flat;
	LbTopkReader r;

	open_bytes(&r, bytes, size, sqlstate);
	flat = palloc(VARHDRSZ + size);
	SET_VARSIZE(flat, VARHDRSZ + size);
	memcpy(VARDATA(flat), bytes, size);
	return PointerGetDatum(flat);
}

LbTopk *
lb_topk_load(Datum datum)
{
	LbTopk	   *t = lb_topk_create(LB_TOPK_CAPACITY_MAX);

	lb_topk_merge(t, datum);
	return t;
}

Datum
lb_topk_store(LbTopk *t)
{
	struct varlena *flat = palloc(VARHDRSZ + lb_topk_pack_room(t));

	SET_VARSIZE(flat, VARHDRSZ + lb_topk_pack(t, (uint8_t *) VARDATA(flat)));
	return PointerGetDatum(flat);
}

void
lb_topk_check(LbTopkStatus status)
{
	if (likely(status == LB_TOPK_OK))
		return;
	if (status == LB_TOPK_BAD_WEIGHT)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the weight of an item must be positive"),
				 errhint("Leave out what weighs nothing; a top-k sketch takes nothing away.")));
	if (status == LB_TOPK_LONG_ITEM)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("an item of a top-k sketch has at most %d bytes",
						LB_TOPK_ITEM_MAX),
				 errhint("Count by a shorter name, or by a hash of it.")));
	if (status == LB_TOPK_OVERFLOW)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("the total of a top-k sketch cannot be more than %lld",
						(long long) PG_INT64_MAX),
				 errhint("Count smaller weights, or split the items between several sketches.")));
	elog(ERROR, "unexpected status %d of a top-k sketch", (int) status);
}

void
lb_topk_add(LbTopk *t, const char *item, size_t length, int64 weight)
{
	lb_topk_check(lb_topk_try_add(t, item, length, weight));
}

void
lb_topk_merge(LbTopk *t, Datum datum)
{
	struct varlena *flat = PG_DETOAST_DATUM_PACKED(datum);
	const uint8_t *bytes = (const uint8_t *) VARDATA_ANY(flat);
	LbTopkStatus status;

	status = lb_topk_try_merge(t, bytes, VARSIZE_ANY_EXHDR(flat));
	if (status != LB_TOPK_OK && status != LB_TOPK_OVERFLOW)
		report_bytes(VARSIZE_ANY_EXHDR(flat), lb_topk_status_text(status),
					 ERRCODE_DATA_CORRUPTED);
	lb_topk_check(status);
	if ((Pointer) flat != DatumGetPointer(datum))
		pfree(flat);
}

/* An empty expanded sketch, which dies with the context. */
LbExpandedTopk *
lb_topk_expand(int32 capacity, MemoryContext context)
{
	LbExpandedTopk *state;

	check_capacity(capacity);
	state = MemoryContextAlloc(context, sizeof(LbExpandedTopk));
	EOH_init_header(&state->header, &methods, context);
	lb_topk_init(&state->t, capacity, seed(), resize, context);
	return state;
}

/* The expanded sketch behind a Datum, if it is one. */
static LbExpandedTopk *
expanded(Datum datum)
{
	ExpandedObjectHeader *header;

	if (!VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(datum)))
		return NULL;
	header = DatumGetEOHP(datum);
	return header->eoh_methods == &methods ? (LbExpandedTopk *) header : NULL;
}

/* The expanded sketch that this Datum entitles to change, or NULL. */
LbExpandedTopk *
lb_topk_writable(Datum datum)
{
	if (!VARATT_IS_EXTERNAL_EXPANDED_RW(DatumGetPointer(datum)))
		return NULL;
	return expanded(datum);
}

/* An aggregate's state as a flat value; it says the same afterwards. */
Datum
lb_topk_flat(Datum datum)
{
	LbExpandedTopk *state = expanded(datum);
	LbTopkReader r;

	if (state != NULL)
		return lb_topk_store(&state->t);
	lb_topk_read(datum, &r);
	return datum;
}

/*
 * Packs twice, here and below: whoever ships a state ships few.  Works in the
 * object's own context, for the current one may be a sort's, from which
 * PostgreSQL 17 and later can free nothing.
 */
static Size
flat_size(ExpandedObjectHeader *eohptr)
{
	LbTopk	   *t = &((LbExpandedTopk *) eohptr)->t;
	uint8_t    *bytes = MemoryContextAlloc(eohptr->eoh_context,
										   lb_topk_pack_room(t));
	Size		size = VARHDRSZ + lb_topk_pack(t, bytes);

	pfree(bytes);
	return size;
}

static void
flatten_into(ExpandedObjectHeader *eohptr, void *result, Size allocated_size)
{
	SET_VARSIZE(result, allocated_size);
	lb_topk_pack(&((LbExpandedTopk *) eohptr)->t, (uint8_t *) VARDATA(result));
}
