/*-------------------------------------------------------------------------
 *
 * gate.c
 *	  The one way through which a public function reaches the tables.
 *
 * Public functions run as their caller, so that the right to call one is
 * the right of the current role, SET ROLE included.  The tables are closed;
 * the inner work is therefore done as the owner of the schema lb.  An error
 * inside needs no care: aborting the (sub)transaction restores the caller.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/namespace.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "parser/parse_func.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "definition/gate.h"

PG_FUNCTION_INFO_V1(lb_public);

Oid
lb_schema_oid(void)
{
	return get_namespace_oid("lb", false);
}

/* The relation lb.relname, or an error if it is gone. */
Oid
lb_relation_oid(const char *relname)
{
	Oid			relid = get_relname_relid(relname, lb_schema_oid());

	if (!OidIsValid(relid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation \"lb.%s\" does not exist", relname),
				 errhint("Drop and create the extension leaderboard again.")));
	return relid;
}

static Oid
schema_owner(void)
{
	HeapTuple	tuple = SearchSysCache1(NAMESPACEOID,
										ObjectIdGetDatum(lb_schema_oid()));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for schema lb");
	owner = ((Form_pg_namespace) GETSTRUCT(tuple))->nspowner;
	ReleaseSysCache(tuple);
	return owner;
}

/* Act as the owner until lb_gate_leave(). */
void
lb_gate_enter(LbGate *gate)
{
	GetUserIdAndSecContext(&gate->userid, &gate->sec_context);
	SetUserIdAndSecContext(schema_owner(),
						   gate->sec_context | SECURITY_LOCAL_USERID_CHANGE);
}

void
lb_gate_leave(const LbGate *gate)
{
	SetUserIdAndSecContext(gate->userid, gate->sec_context);
}

/* A required argument must not be NULL. */
void
lb_check_not_null(FunctionCallInfo fcinfo, int argno, const char *name)
{
	if (PG_ARGISNULL(argno))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"%s\" must not be null", name),
				 errhint("Give a value for \"%s\".", name)));
}

/* What writes needs a primary, and a transaction that may. */
void
lb_check_can_write(const char *what)
{
	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("cannot %s during recovery", what),
				 errhint("This server is a standby. Connect to the primary to write; every reading function works here.")));
	if (XactReadOnly)
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("cannot %s in a read-only transaction", what),
				 errhint("Begin a transaction that is READ WRITE.")));
}

void
lb_spi_connect(void)
{
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
}

void
lb_spi_finish(void)
{
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
}

/* The kept plan of *p, prepared if this is its first use. */
SPIPlanPtr
lb_plan(LbPlan *p)
{
	SPIPlanPtr	plan;

	if (p->plan != NULL)
		return p->plan;
	plan = SPI_prepare_cursor(p->sql, p->nargs, p->argtypes,
							  CURSOR_OPT_GENERIC_PLAN);
	if (plan == NULL)
		elog(ERROR, "could not prepare \"%s\": %s",
			 p->sql, SPI_result_code_string(SPI_result));
	if (SPI_keepplan(plan) != 0)
		elog(ERROR, "SPI_keepplan failed");
	p->plan = plan;
	return plan;
}

/*
 * Run a kept plan and expect an SPI result code; returns the rows processed.
 * The current memory context stays what it was.
 */
uint64
lb_run(LbPlan *p, const Datum *values, const char *nulls, bool read_only,
	   long limit, int expected)
{
	MemoryContext context = CurrentMemoryContext;
	int			result = SPI_execute_plan(lb_plan(p), (Datum *) values, nulls,
										  read_only, limit);

	MemoryContextSwitchTo(context);

	if (result != expected)
		elog(ERROR, "\"%s\" returned %s",
			 p->sql, SPI_result_code_string(result));
	return SPI_processed;
}

/*
 * The gate of every public function written in SQL or PL/pgSQL:
 * lb_name(args) as the caller becomes lb._name(args) as the owner.
 */
typedef struct PublicCall
{
	FmgrInfo	inner;
	bool		writes;			/* volatile, that is */
} PublicCall;

static PublicCall *
resolve_public_call(FmgrInfo *outer)
{
	PublicCall *call = MemoryContextAllocZero(outer->fn_mcxt,
											  sizeof(PublicCall));
	HeapTuple	tuple = SearchSysCache1(PROCOID,
										ObjectIdGetDatum(outer->fn_oid));
	Form_pg_proc proc;
	char	   *name;
	Oid			inner;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", outer->fn_oid);
	proc = (Form_pg_proc) GETSTRUCT(tuple);
	name = psprintf("_%s", NameStr(proc->proname) + strlen("lb_"));
	call->writes = proc->provolatile == PROVOLATILE_VOLATILE;
	inner = LookupFuncName(list_make2(makeString("lb"), makeString(name)),
						   proc->pronargs, proc->proargtypes.values, false);
	ReleaseSysCache(tuple);

	fmgr_info_cxt(inner, &call->inner, outer->fn_mcxt);
	fmgr_info_set_expr(outer->fn_expr, &call->inner);
	return call;
}

Datum
lb_public(PG_FUNCTION_ARGS)
{
	FmgrInfo   *outer = fcinfo->flinfo;
	PublicCall *call;
	LbGate		gate;
	Datum		result;

	/* the schema lb is closed to the caller, so the name is looked up inside */
	lb_gate_enter(&gate);
	if (outer->fn_extra == NULL)
		outer->fn_extra = resolve_public_call(outer);
	call = outer->fn_extra;
	if (call->writes)
		lb_check_can_write("write");
	fcinfo->flinfo = &call->inner;
	PG_TRY();
	{
		result = FunctionCallInvoke(fcinfo);
	}
	PG_FINALLY();
	{
		fcinfo->flinfo = outer;
	}
	PG_END_TRY();
	lb_gate_leave(&gate);
	return result;
}
