/*-------------------------------------------------------------------------
 *
 * cache.c
 *	  Pages in this backend's memory.
 *
 * A page never changes and its id is never used again, so a cached page is
 * right for ever, on every version and on a standby.  (Ids of a round that
 * rolled back are used again; who reads within such a round passes the cache
 * by.)  The cache has a fixed number of frames, as many as
 * leaderboard.page_cache_size allows; a frame is given up by the clock: one
 * that was read since the hand last came by is passed over once.
 *
 * Only another lb.page, of an extension that was dropped and created anew,
 * has other pages under these ids.  What else happens to the table, and a
 * vacuum sends the same message, leaves the cache as it is.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "common/hashfn.h"
#include "utils/inval.h"
#include "utils/memutils.h"

#include "definition/gate.h"
#include "ranktree/cache.h"
#include "ranktree/ranktree_core.h"

typedef struct Frame
{
	LbPageKey	key;
	int32		next;			/* of the same bucket; -1 ends */
	uint16		size;
	bool		used;
	uint8		body[LB_PAGE_MAX];
} Frame;

/* Frames are allocated by the chunk, as they come into use. */
#define CHUNK_FRAMES	64

static struct
{
	MemoryContext context;
	Oid			relid;			/* of lb.page, whose pages these are */
	bool		doubted;		/* something happened to it */
	int			limit;			/* frames */
	int			count;
	int			hand;
	Frame	  **chunks;
	int32	   *buckets;		/* heads; a power of two of them */
	uint32		mask;
}			cache;

static Frame *
frame(int i)
{
	return &cache.chunks[i / CHUNK_FRAMES][i % CHUNK_FRAMES];
}

static uint32
bucket_of(const LbPageKey *key)
{
	uint64		h = (uint64) key->page_id * UINT64CONST(0x9E3779B97F4A7C15);

	h ^= (uint64) key->ranking_id * UINT64CONST(0xC2B2AE3D27D4EB4F);
	h ^= (uint64) key->counter_id * UINT64CONST(0x165667B19E3779F9);
	return (uint32) (h >> 32) & cache.mask;
}

static void
doubt_pages(pg_attribute_unused() Datum arg, Oid relid)
{
	if (relid == InvalidOid || relid == cache.relid)
		cache.doubted = true;
}

/* Is there a cache, and is it that of the lb.page there is? */
static bool
is_started(void)
{
	if (cache.limit > 0 && cache.doubted)
	{
		/* looking up may itself bring further messages, hence the order */
		cache.doubted = false;
		if (lb_relation_oid("page") != cache.relid)
			cache.limit = 0;
	}
	return cache.limit > 0;
}

static void
start_cache(void)
{
	static bool registered = false;
	int			limit = Max(lb_page_cache_size * 1024 / (int) sizeof(Frame),
							CHUNK_FRAMES);
	uint32		buckets = 64;

	if (!registered)
	{
		CacheRegisterRelcacheCallback(doubt_pages, (Datum) 0);
		registered = true;
	}
	if (cache.context != NULL)
		MemoryContextReset(cache.context);
	else
		cache.context = AllocSetContextCreate(TopMemoryContext,
											  "leaderboard pages",
											  ALLOCSET_DEFAULT_SIZES);
	while (buckets < (uint32) limit)
		buckets *= 2;
	cache.doubted = false;
	cache.relid = lb_relation_oid("page");
	cache.count = 0;
	cache.hand = 0;
	cache.chunks = MemoryContextAllocZero(cache.context,
										  (limit / CHUNK_FRAMES + 1) * sizeof(Frame *));
	cache.buckets = MemoryContextAlloc(cache.context, buckets * sizeof(int32));
	memset(cache.buckets, -1, buckets * sizeof(int32));
	cache.mask = buckets - 1;
	cache.limit = limit;
}

static bool
same_key(const LbPageKey *a, const LbPageKey *b)
{
	return a->page_id == b->page_id && a->ranking_id == b->ranking_id &&
		a->counter_id == b->counter_id;
}

/* The page's bytes, or NULL; they stay until the next lb_cache_put(). */
const uint8 *
lb_cache_get(const LbPageKey *key, int *size)
{
	if (!is_started())
		return NULL;
	for (int32 i = cache.buckets[bucket_of(key)]; i >= 0; i = frame(i)->next)
	{
		Frame	   *f = frame(i);

		if (same_key(&f->key, key))
		{
			f->used = true;
			*size = f->size;
			return f->body;
		}
	}
	return NULL;
}

static void
unlink_frame(int victim)
{
	int32	   *link = &cache.buckets[bucket_of(&frame(victim)->key)];

	while (*link != victim)
		link = &frame(*link)->next;
	*link = frame(victim)->next;
}

/* A frame to fill: a new one, or the first that was not read of late. */
static int
free_frame(void)
{
	if (cache.count < cache.limit)
	{
		int			chunk = cache.count / CHUNK_FRAMES;

		if (cache.chunks[chunk] == NULL)
			cache.chunks[chunk] = MemoryContextAlloc(cache.context,
													 CHUNK_FRAMES * sizeof(Frame));
		return cache.count++;
	}
	for (;;)
	{
		int			i = cache.hand;

		cache.hand = (cache.hand + 1) % cache.count;
		if (frame(i)->used)
			frame(i)->used = false;
		else
		{
			unlink_frame(i);
			return i;
		}
	}
}

/* Keep the page; the bytes returned are the cache's own. */
const uint8 *
lb_cache_put(const LbPageKey *key, const uint8 *body, int size)
{
	Frame	   *f;
	int			i;
	uint32		bucket;

	if (!is_started())
		start_cache();
	i = free_frame();
	f = frame(i);
	bucket = bucket_of(key);
	f->key = *key;
	f->size = (uint16) size;
	f->used = true;
	memcpy(f->body, body, size);
	f->next = cache.buckets[bucket];
	cache.buckets[bucket] = i;
	return f->body;
}
