/*-------------------------------------------------------------------------
 *
 * gate.h
 *	  How a public function becomes the extension's owner, and how it
 *	  reports what is wrong with its arguments.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_GATE_H
#define LB_GATE_H

#include "leaderboard.h"

#include "executor/spi.h"
#include "fmgr.h"
#include "utils/timestamp.h"

/* Who called, while the owner's rights are in force. */
typedef struct LbGate
{
	Oid			userid;
	int			sec_context;
} LbGate;

extern Oid	lb_schema_oid(void);
extern Oid	lb_relation_oid(const char *relname);
extern void lb_gate_enter(LbGate *gate);
extern void lb_gate_leave(const LbGate *gate);

extern void lb_check_not_null(FunctionCallInfo fcinfo, int argno,
							  const char *name);
extern void lb_check_can_write(const char *what);

/* A plan that is prepared at its first use and kept for the session. */
typedef struct LbPlan
{
	const char *sql;
	int			nargs;
	Oid			argtypes[16];
	SPIPlanPtr	plan;
} LbPlan;

extern void lb_spi_connect(void);
extern void lb_spi_finish(void);
extern SPIPlanPtr lb_plan(LbPlan *p);
extern uint64 lb_run(LbPlan *p, const Datum *values, const char *nulls,
					 bool read_only, long limit, int expected);

#endif							/* LB_GATE_H */
