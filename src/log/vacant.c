/*-------------------------------------------------------------------------
 *
 * vacant.c
 *	  Partitions that nobody has written to.
 *
 * Most partitions that a round or a viewer's tail has to look into are of
 * days to come.  To lock each, and to ask the system how long its file is,
 * costs more than all the rest.  But the first page of a B-tree tells whether
 * there has ever been an entry, and a backend that remembers in which shared
 * buffer that page is need only look there.
 *
 * A row enters the indexes before its transaction can commit, so the log that
 * a snapshot taken earlier sees has no row in a partition whose index has no
 * root now; that the page is of the index that is in use, the invalidations
 * say, which whoever replaced it sent before anybody could write to the new one.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "access/genam.h"
#include "access/nbtree.h"
#include "access/table.h"
#include "storage/bufmgr.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "log/leaf.h"
#include "log/vacant.h"

/* What is known of a partition. */
typedef struct Look
{
	Oid			leaf;
	Oid			index;			/* the one on (counter_id, member, xid) */
	LbFile		file;			/* that index' */
	Buffer		first;			/* its first page; invalid once it was written to */
} Look;

static struct
{
	bool		registered;
	int			count;
	int			capacity;
	Look	   *looks;
}			known;

static void
forget(pg_attribute_unused() Datum arg, Oid relid)
{
	int			kept = 0;

	for (int i = 0; i < known.count; i++)
		if (OidIsValid(relid) && known.looks[i].leaf != relid &&
			known.looks[i].index != relid)
			known.looks[kept++] = known.looks[i];
	known.count = kept;
}

static Look *
find(Oid leaf)
{
	for (int i = 0; i < known.count; i++)
		if (known.looks[i].leaf == leaf)
			return &known.looks[i];
	return NULL;
}

static Look *
new_look(void)
{
	if (known.looks == NULL)
	{
		known.capacity = 16;
		known.looks = MemoryContextAlloc(TopMemoryContext,
										 known.capacity * sizeof(Look));
	}
	else if (known.count == known.capacity)
	{
		known.looks = repalloc(known.looks, 2 * known.capacity * sizeof(Look));
		known.capacity *= 2;
	}
	return &known.looks[known.count++];
}

/* Does this first page of a B-tree say that there is nothing in it? */
static bool
has_no_root(Buffer buffer)
{
	BTMetaPageData *meta;
	bool		none;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	meta = BTPageGetMeta(BufferGetPage(buffer));
	none = meta->btm_magic == BTREE_MAGIC && meta->btm_root == P_NONE;
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	return none;
}

static void
read_first_page(Relation leaf, Oid indexid)
{
	Relation	index = index_open(indexid, AccessShareLock);
	Buffer		buffer = ReadBuffer(index, BTREE_METAPAGE);
	Look	   *look = new_look();

	look->leaf = RelationGetRelid(leaf);
	look->index = indexid;
	look->file = lb_file_of(index);
	look->first = has_no_root(buffer) ? buffer : InvalidBuffer;
	ReleaseBuffer(buffer);
	index_close(index, AccessShareLock);
}

/* NULL if the partition is gone, or has no index yet: it is being restored. */
static Look *
look_into(const LbLeaf *leaf)
{
	Relation	rel;
	Oid			indexid;

	if (!known.registered)
	{
		CacheRegisterRelcacheCallback(forget, (Datum) 0);
		known.registered = true;
	}
	rel = lb_leaf_open(leaf);
	if (rel == NULL)
		return NULL;
	indexid = lb_leaf_find_member_index(rel);
	if (OidIsValid(indexid))
		read_first_page(rel, indexid);
	table_close(rel, AccessShareLock);
	return find(leaf->relid);
}

/*
 * Is it certain that the active snapshot sees no row there?  False also says
 * that it is not known.
 */
bool
lb_leaf_is_vacant(const LbLeaf *leaf)
{
	Look	   *look;
	bool		vacant;

	AcceptInvalidationMessages();
	look = find(leaf->relid);
	if (look == NULL)
		look = look_into(leaf);
	if (look == NULL || !BufferIsValid(look->first))
		return false;
	if (!ReadRecentBuffer(look->file, MAIN_FORKNUM, BTREE_METAPAGE, look->first))
	{
		forget((Datum) 0, leaf->relid);	/* evicted: the next call reads it again */
		return false;
	}
	vacant = has_no_root(look->first);
	ReleaseBuffer(look->first);
	if (!vacant)
		look->first = InvalidBuffer;
	return vacant;
}
