/*-------------------------------------------------------------------------
 *
 * hll_hash.c
 *	  The canonical bytes of a value.  Equal values have equal bytes.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/uuid.h"

#include "hll/hll.h"
#include "hll/hll_hash.h"

static bool
kind_of(Oid type, LbHllKind *kind)
{
	switch (type)
	{
		case BOOLOID:
			*kind = LB_HLL_KIND_BOOL;
			return true;
		case INT2OID:
			*kind = LB_HLL_KIND_INT2;
			return true;
		case INT4OID:
		case DATEOID:
			*kind = LB_HLL_KIND_INT4;
			return true;
		case INT8OID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			*kind = LB_HLL_KIND_INT8;
			return true;
		case OIDOID:
			*kind = LB_HLL_KIND_OID;
			return true;
		case FLOAT4OID:
			*kind = LB_HLL_KIND_FLOAT4;
			return true;
		case FLOAT8OID:
			*kind = LB_HLL_KIND_FLOAT8;
			return true;
		case NUMERICOID:
			*kind = LB_HLL_KIND_NUMERIC;
			return true;
		case TEXTOID:
		case VARCHAROID:
			*kind = LB_HLL_KIND_TEXT;
			return true;
		case BPCHAROID:
			*kind = LB_HLL_KIND_BPCHAR;
			return true;
		case NAMEOID:
			*kind = LB_HLL_KIND_NAME;
			return true;
		case CHAROID:
			*kind = LB_HLL_KIND_CHAR;
			return true;
		case BYTEAOID:
			*kind = LB_HLL_KIND_BYTEA;
			return true;
		case UUIDOID:
			*kind = LB_HLL_KIND_UUID;
			return true;
		default:
			*kind = LB_HLL_KIND_ENUM;
			return type_is_enum(type);
	}
}

/* Whether text is hashed as the server has it; SQL_ASCII has no encoding. */
static bool
is_plain_text(void)
{
	return GetDatabaseEncoding() == PG_UTF8 ||
		GetDatabaseEncoding() == PG_SQL_ASCII;
}

const LbHllHasher *
lb_hll_find_hasher(FmgrInfo *flinfo, int argument, Oid collation)
{
	Oid			type = get_fn_expr_argtype(flinfo, argument);
	LbHllHasher *hasher;
	LbHllKind	kind;

	if (!OidIsValid(type))
		elog(ERROR, "could not determine the type of the values of an lb_hll");
	if (!kind_of(getBaseType(type), &kind))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("lb_hll cannot count values of type %s",
						format_type_be(type)),
				 errhint("Cast them to text, or to another type of which equal values are equal bytes.")));
	if (OidIsValid(collation) && !get_collation_isdeterministic(collation))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("lb_hll cannot count values of a nondeterministic collation"),
				 errhint("Such values may be equal although their bytes differ. Add COLLATE \"C\" to tell all of them apart, or count lower(value) or normalize(value).")));

	hasher = MemoryContextAlloc(flinfo->fn_mcxt, sizeof(LbHllHasher));
	hasher->kind = kind == LB_HLL_KIND_TEXT && is_plain_text() ?
		LB_HLL_KIND_BYTEA : kind;
	flinfo->fn_extra = hasher;
	return hasher;
}

/* The same text is the same bytes in databases of different encodings. */
uint64
lb_hll_hash_text(const char *text, size_t length)
{
	char	   *utf8;
	uint64		hash;

	if (is_plain_text())
		return XXH3_64bits(text, length);
	utf8 = pg_server_to_any(text, (int) length, PG_UTF8);
	hash = XXH3_64bits(utf8, utf8 == text ? length : strlen(utf8));
	if (utf8 != text)
		pfree(utf8);
	return hash;
}

/* One zero and one NaN; float4 counts as the float8 that it equals. */
static uint64
hash_of_float8(float8 value)
{
	union
	{
		float8		value;
		int64		bits;
	}			u;

	u.value = value == 0 ? 0 : value;
	if (isnan(value))
		u.bits = INT64CONST(0x7ff8000000000000);
	return lb_hll_hash_int64(u.bits);
}

/* As it is written, without zeros at the end. */
static uint64
hash_of_numeric(Datum value)
{
	Datum		trimmed = DirectFunctionCall1(numeric_trim_scale, value);
	char	   *text = DatumGetCString(DirectFunctionCall1(numeric_out, trimmed));

	return XXH3_64bits(text, strlen(text));
}

static uint64
hash_of_text(LbHllKind kind, Datum value)
{
	struct varlena *flat = PG_DETOAST_DATUM_PACKED(value);
	char	   *text = VARDATA_ANY(flat);
	size_t		length = VARSIZE_ANY_EXHDR(flat);

	if (kind == LB_HLL_KIND_BPCHAR)
		length = (size_t) bpchartruelen(text, (int) length);
	return lb_hll_hash_text(text, length);
}

static uint64
hash_of_enum(Datum value)
{
	char	   *label = DatumGetCString(DirectFunctionCall1(enum_out, value));

	return lb_hll_hash_text(label, strlen(label));
}

/* What lb_hll_hash_datum does not do itself. */
uint64
lb_hll_hash_other(const LbHllHasher *hasher, Datum value)
{
	char		byte;

	switch (hasher->kind)
	{
		case LB_HLL_KIND_INT8:
			return lb_hll_hash_int64(DatumGetInt64(value));
		case LB_HLL_KIND_INT4:
			return lb_hll_hash_int64(DatumGetInt32(value));
		case LB_HLL_KIND_INT2:
			return lb_hll_hash_int64(DatumGetInt16(value));
		case LB_HLL_KIND_OID:
			return lb_hll_hash_int64((int64) DatumGetObjectId(value));
		case LB_HLL_KIND_BOOL:
			byte = DatumGetBool(value);
			return XXH3_64bits(&byte, 1);
		case LB_HLL_KIND_FLOAT4:
			return hash_of_float8((float8) DatumGetFloat4(value));
		case LB_HLL_KIND_FLOAT8:
			return hash_of_float8(DatumGetFloat8(value));
		case LB_HLL_KIND_NUMERIC:
			return hash_of_numeric(value);
		case LB_HLL_KIND_TEXT:
		case LB_HLL_KIND_BPCHAR:
			return hash_of_text(hasher->kind, value);
		case LB_HLL_KIND_BYTEA:
			return lb_hll_hash_varlena(value);
		case LB_HLL_KIND_NAME:
			return lb_hll_hash_text(NameStr(*DatumGetName(value)),
									strlen(NameStr(*DatumGetName(value))));
		case LB_HLL_KIND_CHAR:
			/* as its text, which for the zero byte is empty */
			byte = DatumGetChar(value);
			return XXH3_64bits(&byte, byte != '\0');
		case LB_HLL_KIND_ENUM:
			return hash_of_enum(value);
		case LB_HLL_KIND_UUID:
			return XXH3_64bits(DatumGetUUIDP(value)->data, UUID_LEN);
	}
	elog(ERROR, "unexpected kind of value %d", (int) hasher->kind);
	return 0;
}
