/*-------------------------------------------------------------------------
 *
 * sketches.c
 *	  lb.sketch: what the standings of sketched counters are merged in.
 *
 * It is a table of its own, so that rows of lb.standing stay what they are:
 * whoever reads a board reads values, and those of exact counters are no wider
 * for it.  A row is looked for first, and then written where it was found.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "projection/sketch.h"
#include "projection/sketches.h"

/* The columns of lb.sketch; the first three are its key. */
enum
{
	COUNTER_ID = 1, RANKING_ID, MEMBER, SKETCH
};

void
lb_sketches_begin(LbSketches *sketches, bool writes)
{
	memset(sketches, 0, sizeof(*sketches));
	sketches->begun = true;
	sketches->rows = writes ? lb_rows_begin(LB_TABLE_SKETCH, 0) : NULL;
	lb_probe_begin(&sketches->probe, LB_TABLE_SKETCH, 0, 3);
}

/*
 * Give the accumulation its stored sketch, in the current memory context.
 * False if there is none.
 */
bool
lb_sketches_find(LbSketches *sketches, int64 counter_id, int64 ranking_id,
				 Datum member, LbAccum *accum)
{
	ScanKeyData keys[3];
	TupleTableSlot *slot;
	bool		isnull;

	lb_key_int64(&keys[0], COUNTER_ID, counter_id);
	lb_key_int64(&keys[1], RANKING_ID, ranking_id);
	lb_key_text(&keys[2], MEMBER, member);
	slot = lb_probe(&sketches->probe, keys, ForwardScanDirection);
	sketches->counter_id = counter_id;
	sketches->ranking_id = ranking_id;
	sketches->member = member;
	sketches->found = slot != NULL;
	if (!sketches->found)
		return false;
	sketches->tid = slot->tts_tid;
	lb_sketch_take(&sketches->old, slot_getattr(slot, SKETCH, &isnull));
	accum->form = sketches->old.form;
	accum->sketch = sketches->old.sketch;
	return true;
}

static bool
same_bytes(const LbAccum *a, const LbAccum *b)
{
	Size		size = VARSIZE_ANY(a->sketch.stored);

	return size == VARSIZE_ANY(b->sketch.stored) &&
		memcmp(a->sketch.stored, b->sketch.stored, size) == 0;
}

/*
 * Let the row that was looked for last have the sketch of the accumulation,
 * which is settled; without a sketch, there is to be none.
 */
void
lb_sketches_put(LbSketches *sketches, const LbAccum *accum)
{
	LbRow		row;

	if (accum == NULL || accum->form == LB_SKETCH_NONE)
	{
		if (sketches->found)
			lb_rows_delete(sketches->rows, &sketches->tid);
		return;
	}
	if (sketches->found && same_bytes(accum, &sketches->old))
		return;
	lb_row_clear(&row);
	lb_row_set(&row, COUNTER_ID, Int64GetDatum(sketches->counter_id));
	lb_row_set(&row, RANKING_ID, Int64GetDatum(sketches->ranking_id));
	lb_row_set(&row, MEMBER, sketches->member);
	lb_row_set(&row, SKETCH, PointerGetDatum(accum->sketch.stored));
	if (sketches->found)
		lb_rows_update(sketches->rows, &sketches->tid, &row);
	else
		lb_rows_insert(sketches->rows, &row);
}

void
lb_sketches_end(LbSketches *sketches)
{
	if (!sketches->begun)
		return;
	lb_probe_end(&sketches->probe);
	if (sketches->rows != NULL)
		lb_rows_end(sketches->rows);
	sketches->begun = false;
}
