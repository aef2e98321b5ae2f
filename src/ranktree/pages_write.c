/*-------------------------------------------------------------------------
 *
 * pages_write.c
 *	  A ranktree's pages as rows of lb.page: writing.
 *
 * A round writes pages by the thousand.  They go in as COPY writes rows, a
 * heap page at a time, and into the index one by one.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "access/heapam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "ranktree/pages.h"

/* Rows handed to the table at a time. */
#define WRITE_ROWS	256

struct LbPageWriter
{
	Relation	heap;
	Relation	index;
	IndexInfo  *info;
	BulkInsertState bulk;
	CommandId	cid;
	MemoryContext context;		/* of the writer and its slots */
	MemoryContext rows;			/* the bodies of the slots */
	TupleTableSlot *slots[WRITE_ROWS];
	int			nslots;			/* made */
	int			n;				/* filled */
};

LbPageWriter *
lb_page_writer_begin(int64 counter_id)
{
	LbPageWriter *writer = palloc0(sizeof(LbPageWriter));

	writer->heap = lb_table_open(LB_TABLE_PAGE, counter_id, RowExclusiveLock);
	writer->index = index_open(lb_primary_key(writer->heap), RowExclusiveLock);
	writer->info = BuildIndexInfo(writer->index);
	writer->bulk = GetBulkInsertState();
	writer->cid = GetCurrentCommandId(true);
	writer->context = CurrentMemoryContext;
	writer->rows = AllocSetContextCreate(CurrentMemoryContext,
										 "leaderboard page rows",
										 ALLOCSET_DEFAULT_SIZES);
	return writer;
}

static void
index_row(LbPageWriter *writer, TupleTableSlot *slot)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		nulls[INDEX_MAX_KEYS];

	FormIndexDatum(writer->info, slot, NULL, values, nulls);
	index_insert(writer->index, values, nulls, &slot->tts_tid, writer->heap,
				 UNIQUE_CHECK_YES, false, writer->info);
}

static void
write_rows(LbPageWriter *writer)
{
	CHECK_FOR_INTERRUPTS();
	if (writer->n == 0)
		return;
	table_multi_insert(writer->heap, writer->slots, writer->n, writer->cid, 0,
					   writer->bulk);
	for (int i = 0; i < writer->n; i++)
	{
		index_row(writer, writer->slots[i]);
		ExecClearTuple(writer->slots[i]);
	}
	writer->n = 0;
	MemoryContextReset(writer->rows);
}

static TupleTableSlot *
next_slot(LbPageWriter *writer)
{
	if (writer->n == WRITE_ROWS)
		write_rows(writer);
	if (writer->n == writer->nslots)
	{
		MemoryContext old = MemoryContextSwitchTo(writer->context);

		writer->slots[writer->nslots++] = table_slot_create(writer->heap, NULL);
		MemoryContextSwitchTo(old);
	}
	return writer->slots[writer->n++];
}

/* What was written becomes visible to a snapshot taken from now on. */
void
lb_page_writer_flush(LbPageWriter *writer)
{
	write_rows(writer);
	CommandCounterIncrement();
	writer->cid = GetCurrentCommandId(true);
}

/* The same, and no more is to be written. */
void
lb_page_writer_end(LbPageWriter *writer)
{
	write_rows(writer);
	table_finish_bulk_insert(writer->heap, 0);
	FreeBulkInsertState(writer->bulk);
	for (int i = 0; i < writer->nslots; i++)
		ExecDropSingleTupleTableSlot(writer->slots[i]);
	index_close(writer->index, NoLock);
	table_close(writer->heap, NoLock);
	MemoryContextDelete(writer->rows);
	pfree(writer);
	CommandCounterIncrement();
}

static int64_t
next_page_id(void *context)
{
	LbPages    *pages = context;

	return pages->next_page++;
}

static bool
put_page(void *context, int64_t page_id, const uint8_t *body, int size)
{
	LbPages    *pages = context;
	TupleTableSlot *slot = next_slot(pages->writer);
	bytea	   *copy = MemoryContextAlloc(pages->writer->rows, VARHDRSZ + size);

	SET_VARSIZE(copy, VARHDRSZ + size);
	memcpy(VARDATA(copy), body, size);
	ExecClearTuple(slot);
	slot->tts_values[LB_PAGE_COUNTER_ID - 1] = Int64GetDatum(pages->counter_id);
	slot->tts_values[LB_PAGE_RANKING_ID - 1] = Int64GetDatum(pages->ranking_id);
	slot->tts_values[LB_PAGE_PAGE_ID - 1] = Int64GetDatum(page_id);
	slot->tts_values[LB_PAGE_BODY - 1] = PointerGetDatum(copy);
	memset(slot->tts_isnull, false, LB_PAGE_BODY * sizeof(bool));
	ExecStoreVirtualTuple(slot);
	return true;
}

static bool
supersede_page(void *context, int64_t page_id)
{
	LbPages    *pages = context;

	if (pages->nsuperseded == pages->capacity)
	{
		pages->capacity = Max(pages->capacity * 2, 64);
		pages->superseded = pages->superseded == NULL ?
			palloc(pages->capacity * sizeof(int64)) :
			repalloc_huge(pages->superseded, pages->capacity * sizeof(int64));
	}
	pages->superseded[pages->nsuperseded++] = page_id;
	return true;
}

static void *
allocate(void *context, size_t size)
{
	return MemoryContextAllocHuge(CurrentMemoryContext, size);
}

static void
release(void *context, void *pointer)
{
	pfree(pointer);
}

/* Let the core write, too; ids are given out from next_page on. */
void
lb_pages_write(LbPages *pages, LbPageWriter *writer, int64 next_page)
{
	pages->writer = writer;
	pages->next_page = next_page;
	pages->store.next_id = next_page_id;
	pages->store.put = put_page;
	pages->store.supersede = supersede_page;
	pages->store.alloc = allocate;
	pages->store.release = release;
}
