/*-------------------------------------------------------------------------
 *
 * leaf.c
 *	  The partitions of lb.event, and the indexes that each has.
 *
 * The list is read from the relation cache and kept until the relation
 * changes.  It is in the order of time, the default partition last.  It may
 * change in the middle of a walk, and a partition on it may be gone when it is
 * opened: maintenance drops what nobody needs any more.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_index.h"
#include "partitioning/partbounds.h"
#include "partitioning/partdesc.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "definition/gate.h"
#include "log/leaf.h"

static struct
{
	bool		valid;
	bool		registered;
	uint64		generation;		/* of the list */
	Oid			parent;
	int			count;
	int			capacity;
	LbLeaf	   *leaves;
}			cache;

static void
forget_leaves(pg_attribute_unused() Datum arg, Oid relid)
{
	if (relid == cache.parent || relid == InvalidOid)
		cache.valid = false;
}

/* The bound as an instant; what has no end is infinite. */
static TimestampTz
bound_time(PartitionBoundInfo bounds, int i)
{
	if (i < 0 || bounds->kind[i][0] == PARTITION_RANGE_DATUM_MINVALUE)
		return DT_NOBEGIN;
	if (bounds->kind[i][0] == PARTITION_RANGE_DATUM_MAXVALUE)
		return DT_NOEND;
	return DatumGetTimestampTz(bounds->datums[i][0]);
}

static void
remember_leaf(Oid relid, TimestampTz from, TimestampTz to, bool is_default)
{
	LbLeaf	   *leaf = &cache.leaves[cache.count++];

	leaf->relid = relid;
	leaf->from = from;
	leaf->to = to;
	leaf->is_default = is_default;
}

static void
load_leaves(void)
{
	Relation	parent;
	PartitionDesc desc;
	PartitionBoundInfo bounds;

	if (!cache.registered)
	{
		CacheRegisterRelcacheCallback(forget_leaves, (Datum) 0);
		cache.registered = true;
	}
	cache.parent = lb_relation_oid("event");
	parent = table_open(cache.parent, AccessShareLock);
	desc = RelationGetPartitionDesc(parent, true);
	bounds = desc->boundinfo;
	if (desc->nparts > cache.capacity)
	{
		if (cache.leaves != NULL)
			pfree(cache.leaves);
		cache.leaves = MemoryContextAlloc(TopMemoryContext,
										  desc->nparts * sizeof(LbLeaf));
		cache.capacity = desc->nparts;
	}
	cache.count = 0;
	for (int i = 0; desc->nparts > 0 && i < bounds->ndatums; i++)
		if (bounds->indexes[i] >= 0)
			remember_leaf(desc->oids[bounds->indexes[i]],
						  bound_time(bounds, i - 1), bound_time(bounds, i),
						  false);
	if (desc->nparts > 0 && bounds->default_index >= 0)
		remember_leaf(desc->oids[bounds->default_index],
					  DT_NOBEGIN, DT_NOEND, true);
	cache.valid = true;
	cache.generation++;
	table_close(parent, AccessShareLock);
}

static void
ensure_leaves(void)
{
	if (!cache.valid || cache.parent != lb_relation_oid("event"))
		load_leaves();
}

/* The partition that an event ingested at that instant falls into. */
const LbLeaf *
lb_leaf_for(TimestampTz time)
{
	ensure_leaves();
	for (int i = cache.count - 1; i >= 0; i--)
	{
		const LbLeaf *leaf = &cache.leaves[i];

		if (!leaf->is_default && leaf->from <= time && time < leaf->to)
			return leaf;
	}
	if (cache.count > 0 && cache.leaves[cache.count - 1].is_default)
		return &cache.leaves[cache.count - 1];
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the event log has no partition to write to"),
			 errhint("Make a counter with lb_create_counter(), or finish the restore of this database.")));
}

void
lb_leaf_scan_begin(LbLeafScan *scan, TimestampTz from, TimestampTz to,
				   bool newest_first)
{
	memset(scan, 0, sizeof(*scan));
	scan->from = from;
	scan->to = to;
	scan->newest_first = newest_first;
}

/* The leaves that have bounds; the default one may follow them. */
static int
bounded_leaves(void)
{
	return cache.count > 0 && cache.leaves[cache.count - 1].is_default ?
		cache.count - 1 : cache.count;
}

/* Find the place again in a list that has changed. */
static void
resume(LbLeafScan *scan)
{
	int			n = bounded_leaves();
	int			i = 0;

	if (!scan->begun)
		i = scan->newest_first ? n : 0;
	else
		while (i < n && (scan->newest_first ? cache.leaves[i].from < scan->last :
						 cache.leaves[i].from <= scan->last))
			i++;
	scan->next = scan->newest_first ? i - 1 : i;
	scan->generation = cache.generation;
}

/* The next leaf, or false. */
bool
lb_leaf_scan_next(LbLeafScan *scan, LbLeaf *leaf)
{
	int			n;

	ensure_leaves();
	if (scan->generation != cache.generation)
		resume(scan);
	n = bounded_leaves();
	while (scan->next >= 0 && scan->next < n)
	{
		*leaf = cache.leaves[scan->next];
		scan->next += scan->newest_first ? -1 : 1;
		scan->begun = true;
		scan->last = leaf->from;
		if (leaf->to > scan->from && leaf->from <= scan->to)
			return true;
	}
	if (scan->ended || n == cache.count)
		return false;
	scan->ended = true;
	*leaf = cache.leaves[n];
	return true;
}

/* The relation that now has the leaf's stretch of time; invalid if none has. */
static Oid
present_relid(const LbLeaf *leaf)
{
	ensure_leaves();
	for (int i = 0; i < cache.count; i++)
		if (cache.leaves[i].is_default == leaf->is_default &&
			cache.leaves[i].from == leaf->from && cache.leaves[i].to == leaf->to)
			return cache.leaves[i].relid;
	return InvalidOid;
}

/*
 * Open it for reading; NULL if it was dropped meanwhile.  It may also have
 * been moved: then a copy has its place.
 */
Relation
lb_leaf_open(const LbLeaf *leaf)
{
	Oid			relid = leaf->relid;

	for (;;)
	{
		Relation	rel = try_table_open(relid, AccessShareLock);
		Oid			present;

		if (rel != NULL)
			return rel;
		present = present_relid(leaf);
		if (!OidIsValid(present) || present == relid)
			return NULL;
		relid = present;
	}
}

/* The valid index whose first column is that one and that is unique or not. */
static Oid
find_index(Relation leaf, AttrNumber column, bool unique)
{
	List	   *indexes = RelationGetIndexList(leaf);
	Oid			found = InvalidOid;
	ListCell   *lc;

	foreach(lc, indexes)
	{
		HeapTuple	tuple = SearchSysCache1(INDEXRELID,
											ObjectIdGetDatum(lfirst_oid(lc)));
		Form_pg_index form;

		if (!HeapTupleIsValid(tuple))
			continue;
		form = (Form_pg_index) GETSTRUCT(tuple);
		if (form->indisvalid && form->indisunique == unique &&
			form->indkey.values[0] == column)
			found = lfirst_oid(lc);
		ReleaseSysCache(tuple);
		if (OidIsValid(found))
			break;
	}
	list_free(indexes);
	return found;
}

Oid
lb_leaf_find_key_index(Relation leaf)
{
	return find_index(leaf, LB_EVENT_COUNTER_ID, true);
}

Oid
lb_leaf_find_xid_index(Relation leaf)
{
	return find_index(leaf, LB_EVENT_XID, false);
}

/* (counter_id, member, xid): the events of a member. */
Oid
lb_leaf_find_member_index(Relation leaf)
{
	return find_index(leaf, LB_EVENT_COUNTER_ID, false);
}

Oid
lb_leaf_key_index(Relation leaf)
{
	Oid			index = lb_leaf_find_key_index(leaf);

	if (!OidIsValid(index))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("partition \"%s\" of the event log has not all of its indexes",
						RelationGetRelationName(leaf)),
				 errhint("If this database is being restored, wait until the restore is complete.")));
	return index;
}

/*
 * Is the log in the middle of a restore?  A dump builds a partition's indexes
 * after all of its rows are in.
 */
bool
lb_log_is_restoring(void)
{
	LbLeafScan	scan;
	LbLeaf		leaf;
	bool		restoring = false;

	lb_leaf_scan_begin(&scan, DT_NOBEGIN, DT_NOEND, false);
	while (!restoring && lb_leaf_scan_next(&scan, &leaf))
	{
		Relation	rel = lb_leaf_open(&leaf);

		if (rel == NULL)
			continue;
		restoring = !OidIsValid(lb_leaf_find_key_index(rel));
		table_close(rel, AccessShareLock);
	}
	return restoring;
}
