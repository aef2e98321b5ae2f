/*-------------------------------------------------------------------------
 *
 * rows.c
 *	  Many rows into a table, without a plan.
 *
 * What a round writes it has just read by key, so it knows each row's place
 * and needs no planner to find it.  New rows go in as COPY writes them, a heap
 * page at a time.  The tables written this way have no triggers, and only the
 * round, which is alone, writes them.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "access/heapam.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "table/rows.h"

/* New rows handed to the table at a time, in number and bytes. */
#define INSERT_ROWS		256
#define INSERT_BYTES	65536

struct LbRows
{
	Relation	heap;
	EState	   *estate;
	ResultRelInfo *result;
	BulkInsertState bulk;
	CommandId	cid;
	MemoryContext context;		/* of the slots */
	TupleTableSlot *updated;
	TupleTableSlot *slots[INSERT_ROWS];
	int			nslots;			/* made */
	int			n;				/* filled */
	Size		bytes;
};

LbRows *
lb_rows_begin(LbTable table, int64 counter_id)
{
	LbRows	   *rows = palloc0(sizeof(LbRows));

	rows->context = CurrentMemoryContext;
	rows->heap = lb_table_open(table, counter_id, RowExclusiveLock);
	rows->estate = CreateExecutorState();
	rows->result = makeNode(ResultRelInfo);
	InitResultRelInfo(rows->result, rows->heap, 1, NULL, 0);
	ExecOpenIndices(rows->result, false);
	rows->bulk = GetBulkInsertState();
	rows->updated = table_slot_create(rows->heap, NULL);
	rows->cid = GetCurrentCommandId(true);
	return rows;
}

/* The row as a tuple of the slot's own, so that the values may go. */
static Size
fill_slot(LbRows *rows, TupleTableSlot *slot, const LbRow *row)
{
	HeapTuple	tuple = heap_form_tuple(RelationGetDescr(rows->heap),
										(Datum *) row->values,
										(bool *) row->nulls);
	Size		size = tuple->t_len;

	ExecForceStoreHeapTuple(tuple, slot, true);
	ExecMaterializeSlot(slot);
	return size;
}

static void
write_inserts(LbRows *rows)
{
	CHECK_FOR_INTERRUPTS();
	if (rows->n == 0)
		return;
	table_multi_insert(rows->heap, rows->slots, rows->n, rows->cid, 0, rows->bulk);
	for (int i = 0; i < rows->n; i++)
	{
		lb_insert_index_tuples(rows->result, rows->slots[i], rows->estate);
		ResetPerTupleExprContext(rows->estate);
		ExecClearTuple(rows->slots[i]);
	}
	rows->n = 0;
	rows->bytes = 0;
}

void
lb_rows_insert(LbRows *rows, const LbRow *row)
{
	if (rows->n == INSERT_ROWS || rows->bytes >= INSERT_BYTES)
		write_inserts(rows);
	if (rows->n == rows->nslots)
	{
		MemoryContext old = MemoryContextSwitchTo(rows->context);

		rows->slots[rows->nslots++] = table_slot_create(rows->heap, NULL);
		MemoryContextSwitchTo(old);
	}
	rows->bytes += fill_slot(rows, rows->slots[rows->n++], row);
}

/* Does the partial index have an entry for the row? */
static bool
is_indexed(LbRows *rows, IndexInfo *index)
{
	ExprContext *context = GetPerTupleExprContext(rows->estate);

	if (index->ii_Predicate == NIL)
		return true;
	if (index->ii_PredicateState == NULL)
		index->ii_PredicateState = ExecPrepareQual(index->ii_Predicate, rows->estate);
	context->ecxt_scantuple = rows->updated;
	return ExecQual(index->ii_PredicateState, context);
}

/*
 * Index a new version of a row whose keys are those that it had.  It takes the
 * place of the only row with its key, so nothing is looked for: a unique check
 * would pass by all the versions that an old snapshot keeps, again and again.
 */
static void
index_update(LbRows *rows)
{
	for (int i = 0; i < rows->result->ri_NumIndices; i++)
	{
		IndexInfo  *index = rows->result->ri_IndexRelationInfo[i];
		Datum		values[INDEX_MAX_KEYS];
		bool		nulls[INDEX_MAX_KEYS];

		if (!is_indexed(rows, index))
			continue;
		FormIndexDatum(index, rows->updated, rows->estate, values, nulls);
		index_insert(rows->result->ri_IndexRelationDescs[i], values, nulls,
					 &rows->updated->tts_tid, rows->heap, UNIQUE_CHECK_NO, true,
					 index);
	}
}

/*
 * Replace the row at that place, which the active snapshot sees, by one with
 * the same keys.
 */
void
lb_rows_update(LbRows *rows, const ItemPointerData *tid, const LbRow *row)
{
	TM_FailureData failure;
	LockTupleMode mode;
	LbUpdateIndexes indexes;
	ItemPointerData place = *tid;
	TM_Result	result;

	(void) fill_slot(rows, rows->updated, row);
	result = table_tuple_update(rows->heap, &place, rows->updated, rows->cid,
								GetActiveSnapshot(), InvalidSnapshot, true,
								&failure, &mode, &indexes);
	if (result != TM_Ok)
		elog(ERROR, "a row of \"%s\" was changed by somebody else",
			 RelationGetRelationName(rows->heap));
	if (lb_must_update_indexes(indexes))
	{
		index_update(rows);
		ResetPerTupleExprContext(rows->estate);
	}
	ExecClearTuple(rows->updated);
}

/* Delete the row at that place, which the active snapshot sees. */
void
lb_rows_delete(LbRows *rows, const ItemPointerData *tid)
{
	TM_FailureData failure;
	ItemPointerData place = *tid;
	TM_Result	result;

	result = table_tuple_delete(rows->heap, &place, rows->cid,
								GetActiveSnapshot(), InvalidSnapshot, true,
								&failure, false);
	if (result != TM_Ok)
		elog(ERROR, "a row of \"%s\" was changed by somebody else",
			 RelationGetRelationName(rows->heap));
}

/* What was written becomes visible to a snapshot taken from now on. */
void
lb_rows_flush(LbRows *rows)
{
	write_inserts(rows);
	CommandCounterIncrement();
	rows->cid = GetCurrentCommandId(true);
}

void
lb_rows_end(LbRows *rows)
{
	lb_rows_flush(rows);
	table_finish_bulk_insert(rows->heap, 0);
	FreeBulkInsertState(rows->bulk);
	for (int i = 0; i < rows->nslots; i++)
		ExecDropSingleTupleTableSlot(rows->slots[i]);
	ExecDropSingleTupleTableSlot(rows->updated);
	ExecCloseIndices(rows->result);
	FreeExecutorState(rows->estate);
	table_close(rows->heap, NoLock);
	pfree(rows);
}
