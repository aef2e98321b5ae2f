/*-------------------------------------------------------------------------
 *
 * hll_value.c
 *	  lb_hll as a Datum: flat, expanded, and loaded to work on.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "hll/hll.h"

static Size flat_size(ExpandedObjectHeader *eohptr);
static void flatten_into(ExpandedObjectHeader *eohptr, void *result,
						 Size allocated_size);

const ExpandedObjectMethods lb_hll_methods = {flat_size, flatten_into};

static void *
get(void *context, size_t size)
{
	return MemoryContextAllocZero(context, size);
}

static void
put(void *context, void *chunk)
{
	(void) context;
	pfree(chunk);
}

void
lb_hll_check_bits(int32 bits)
{
	if (!lb_hll_bits_valid(bits))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a sketch cannot have %d bits", bits),
				 errhint("Give %d to %d bits; the default is %d, each more halves the square of the error and doubles the size.",
						 LB_HLL_BITS_MIN, LB_HLL_BITS_MAX,
						 LB_HLL_BITS_DEFAULT)));
}

/* Without a check of the bits. */
static void
begin(LbHll *h, int bits, MemoryContext context)
{
	LbHllMemory memory = {get, put, context};
	static bool keyed = false;

	if (unlikely(!keyed))
	{
		uint64		key;

		if (!pg_strong_random(&key, sizeof(key)))
			key = (uint64) MyStartTimestamp ^ (uint64) MyProcPid << 32;
		lb_hll_key_slots(key);
		keyed = true;
	}
	lb_hll_init(h, bits, &memory);
}

void
lb_hll_begin(LbHll *h, int32 bits, MemoryContext context)
{
	lb_hll_check_bits(bits);
	begin(h, bits, context);
}

static void
report_bytes(LbHllStatus status, size_t size, int sqlstate)
{
	ereport(ERROR,
			(errcode(sqlstate),
			 errmsg("invalid bytes for type %s", "lb_hll"),
			 errdetail("In the %zu bytes, %s.", size,
					   lb_hll_status_text(status)),
			 sqlstate == ERRCODE_DATA_CORRUPTED ?
			 errhint("The stored value is damaged: build it again from the values it counted.") :
			 errhint("Take the bytes from lb_hll_send, a cast to bytea or COPY BINARY, unchanged; or build them as src/hll/README.md says.")));
}

/* The one way in for bytes; what is wrong with them is the given SQLSTATE. */
void
lb_hll_merge_or_fail(LbHll *h, const uint8_t *bytes, size_t size,
					 int sqlstate)
{
	LbHllStatus status = lb_hll_merge_bytes(h, bytes, size);

	if (unlikely(status != LB_HLL_OK))
		report_bytes(status, size, sqlstate);
}

/* A new sketch from bytes, in the current context. */
void
lb_hll_load_bytes(LbHll *h, const uint8_t *bytes, size_t size, int sqlstate)
{
	int			bits = LB_HLL_BITS_DEFAULT;
	LbHllStatus status = lb_hll_bytes_bits(bytes, size, &bits);

	if (unlikely(status != LB_HLL_OK))
		report_bytes(status, size, sqlstate);
	begin(h, bits, CurrentMemoryContext);
	lb_hll_merge_or_fail(h, bytes, size, sqlstate);
}

const LbHll *
lb_hll_read(Datum datum, LbHll *own)
{
	LbExpandedHll *state = lb_hll_expanded(datum);
	struct varlena *flat;

	if (state != NULL)
		return &state->h;
	flat = PG_DETOAST_DATUM_PACKED(datum);
	lb_hll_load_bytes(own, (const uint8_t *) VARDATA_ANY(flat),
					  VARSIZE_ANY_EXHDR(flat), ERRCODE_DATA_CORRUPTED);
	if ((Pointer) flat != DatumGetPointer(datum))
		pfree(flat);
	return own;
}

void
lb_hll_load(LbHll *h, Datum datum)
{
	const LbHll *read = lb_hll_read(datum, h);

	if (read == h)
		return;
	begin(h, read->bits, CurrentMemoryContext);
	lb_hll_merge(h, read);
}

void
lb_hll_merge_stored(LbHll *h, Datum datum)
{
	LbExpandedHll *state = lb_hll_expanded(datum);
	struct varlena *flat;

	if (state != NULL)
	{
		lb_hll_merge(h, &state->h);
		return;
	}
	flat = PG_DETOAST_DATUM_PACKED(datum);
	lb_hll_merge_or_fail(h, (const uint8_t *) VARDATA_ANY(flat),
						 VARSIZE_ANY_EXHDR(flat), ERRCODE_DATA_CORRUPTED);
	if ((Pointer) flat != DatumGetPointer(datum))
		pfree(flat);
}

Datum
lb_hll_store(const LbHll *h)
{
	struct varlena *flat = palloc(VARHDRSZ + lb_hll_pack_max(h));
	size_t		size = lb_hll_pack(h, (uint8_t *) VARDATA(flat));

	SET_VARSIZE(flat, VARHDRSZ + size);
	return PointerGetDatum(flat);
}

struct varlena *
lb_hll_flat(Datum datum)
{
	struct varlena *flat;
	LbHll		h;

	if (lb_hll_expanded(datum) != NULL)
		return (struct varlena *) DatumGetPointer(lb_hll_store(&lb_hll_expanded(datum)->h));
	flat = PG_DETOAST_DATUM_PACKED(datum);
	lb_hll_load_bytes(&h, (const uint8_t *) VARDATA_ANY(flat),
					  VARSIZE_ANY_EXHDR(flat), ERRCODE_DATA_CORRUPTED);
	lb_hll_clear(&h);
	return flat;
}

/* An empty expanded sketch, which dies with the context. */
LbExpandedHll *
lb_hll_expand(int32 bits, MemoryContext context)
{
	LbExpandedHll *state = MemoryContextAllocZero(context,
												  sizeof(LbExpandedHll));

	EOH_init_header(&state->header, &lb_hll_methods, context);
	lb_hll_begin(&state->h, bits, context);
	return state;
}

/* The caller flattens next: pack once for both. */
static Size
flat_size(ExpandedObjectHeader *eohptr)
{
	LbExpandedHll *state = (LbExpandedHll *) eohptr;
	MemoryContext old = MemoryContextSwitchTo(eohptr->eoh_context);

	if (state->flat != NULL)
		pfree(state->flat);
	state->flat = (struct varlena *) DatumGetPointer(lb_hll_store(&state->h));
	MemoryContextSwitchTo(old);
	return VARSIZE(state->flat);
}

static void
flatten_into(ExpandedObjectHeader *eohptr, void *result, Size allocated_size)
{
	LbExpandedHll *state = (LbExpandedHll *) eohptr;

	Assert(state->flat != NULL && VARSIZE(state->flat) == allocated_size);
	memcpy(result, state->flat, allocated_size);
	pfree(state->flat);
	state->flat = NULL;
}
