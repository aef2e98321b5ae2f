/*-------------------------------------------------------------------------
 *
 * value.h
 *	  What the value types have in common on the server's side.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_VALUE_H
#define LB_VALUE_H

#include "fmgr.h"

/*
 * Where an aggregate's new expanded state is to live: where the executor
 * expects it, right below its own context.  "grows" says that the state's
 * chunks will be resized.
 */
extern MemoryContext lb_state_context(FunctionCallInfo fcinfo, bool grows);

extern Datum lb_value_row(FunctionCallInfo fcinfo, Datum *values, bool *nulls);

#endif							/* LB_VALUE_H */
