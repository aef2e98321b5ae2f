/*-------------------------------------------------------------------------
 *
 * memory_store.h
 *	  A store for tests: pages in an array by id, each in a block of its own
 *	  so that the address sanitizer sees the end of it.
 *
 * It knows in which batch a page was put and superseded, can roll a batch
 * back, and complains about a page superseded twice or in the batch that put
 * it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_TEST_MEMORY_STORE_H
#define LB_TEST_MEMORY_STORE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The whole core comes with it, so that a test is one file to compile. */
#include "ranktree/ranktree_page.c"
#include "ranktree/ranktree_encode.c"
#include "ranktree/ranktree_store.c"
#include "ranktree/ranktree_search.c"
#include "ranktree/ranktree_cursor.c"
#include "ranktree/ranktree_run.c"
#include "ranktree/ranktree_pack.c"
#include "ranktree/ranktree_build.c"
#include "ranktree/ranktree_apply.c"
#include "ranktree/ranktree_check.c"

typedef struct MemoryPage
{
	uint8_t    *body;
	int			size;
	int			born;			/* batch that put it */
	int			dead;			/* batch that superseded it, 0: none */
	int			seen;			/* mark of the last visit */
} MemoryPage;

typedef struct MemoryStore
{
	LbRankStore store;
	MemoryPage *pages;			/* by id, 0 unused */
	int64_t		next_id;
	int64_t		room;
	int			batch;
	int			mark;
	long		live;			/* put, not superseded */
	long		held;			/* put, not freed */
	long		blocks;			/* alloc less release */
	long		alloc_left;		/* fails after so many; negative: never */
	long		puts;
	long		bytes_put;
	long		low;			/* by visits: pages under 40 percent */
	long		visits;
	long		visit_bytes;
	int			visit_top;		/* level of the root, not counted as low */
} MemoryStore;

#define MUST(condition) \
	do { \
		if (!(condition)) \
		{ \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, \
					#condition); \
			abort(); \
		} \
	} while (0)

static inline const uint8_t *
memory_get(void *context, int64_t page_id, int *size)
{
	MemoryStore *memory = context;

	if (page_id < 1 || page_id >= memory->next_id ||
		memory->pages[page_id].body == NULL)
		return NULL;
	*size = memory->pages[page_id].size;
	return memory->pages[page_id].body;
}

static inline int64_t
memory_next_id(void *context)
{
	MemoryStore *memory = context;

	if (memory->next_id == memory->room)
	{
		memory->room *= 2;
		memory->pages = realloc(memory->pages,
								(size_t) memory->room * sizeof(MemoryPage));
		MUST(memory->pages != NULL);
	}
	memset(&memory->pages[memory->next_id], 0, sizeof(MemoryPage));
	return memory->next_id++;
}

static inline bool
memory_put(void *context, int64_t page_id, const uint8_t *body, int size)
{
	MemoryStore *memory = context;
	MemoryPage *page = &memory->pages[page_id];

	MUST(page_id > 0 && page_id < memory->next_id && page->body == NULL);
	MUST(size > 0 && size <= LB_PAGE_MAX);
	page->body = malloc((size_t) size);
	MUST(page->body != NULL);
	memcpy(page->body, body, (size_t) size);
	page->size = size;
	page->born = memory->batch;
	memory->live++;
	memory->held++;
	memory->puts++;
	memory->bytes_put += size;
	return true;
}

static inline bool
memory_supersede(void *context, int64_t page_id)
{
	MemoryStore *memory = context;
	MemoryPage *page = &memory->pages[page_id];

	MUST(page->body != NULL && page->dead == 0);
	MUST(page->born != memory->batch);
	page->dead = memory->batch;
	memory->live--;
	return true;
}

static inline void *
memory_alloc(void *context, size_t size)
{
	MemoryStore *memory = context;

	if (memory->alloc_left == 0)
		return NULL;
	if (memory->alloc_left > 0)
		memory->alloc_left--;
	memory->blocks++;
	return malloc(size);
}

static inline void
memory_release(void *context, void *pointer)
{
	MemoryStore *memory = context;

	memory->blocks--;
	free(pointer);
}

static inline void
memory_start(MemoryStore *memory)
{
	memset(memory, 0, sizeof(*memory));
	memory->room = 1024;
	memory->next_id = 1;
	memory->batch = 1;
	memory->alloc_left = -1;
	memory->pages = calloc((size_t) memory->room, sizeof(MemoryPage));
	MUST(memory->pages != NULL);
	memory->store.context = memory;
	memory->store.get = memory_get;
	memory->store.next_id = memory_next_id;
	memory->store.put = memory_put;
	memory->store.supersede = memory_supersede;
	memory->store.alloc = memory_alloc;
	memory->store.release = memory_release;
}

static inline void
memory_free_page(MemoryStore *memory, MemoryPage *page)
{
	free(page->body);
	page->body = NULL;
	memory->held--;
}

static inline void
memory_end(MemoryStore *memory)
{
	int64_t		id;

	MUST(memory->blocks == 0);
	for (id = 1; id < memory->next_id; id++)
		free(memory->pages[id].body);
	free(memory->pages);
}

/* Undoes what the current batch did so far. */
static inline void
memory_roll_back(MemoryStore *memory)
{
	int64_t		id;

	for (id = 1; id < memory->next_id; id++)
	{
		MemoryPage *page = &memory->pages[id];

		if (page->body == NULL)
			continue;
		if (page->dead == memory->batch)
		{
			page->dead = 0;
			memory->live++;
		}
		if (page->born == memory->batch)
		{
			memory_free_page(memory, page);
			memory->live--;
		}
	}
}

/* Frees the pages that no batch from `oldest` on can reach. */
static inline void
memory_collect(MemoryStore *memory, int oldest)
{
	int64_t		id;

	for (id = 1; id < memory->next_id; id++)
	{
		MemoryPage *page = &memory->pages[id];

		if (page->body != NULL && page->dead != 0 && page->dead <= oldest)
			memory_free_page(memory, page);
	}
}

static inline void
memory_visit(void *context, int64_t page_id, int level, int size)
{
	MemoryStore *memory = context;

	MUST(memory->pages[page_id].seen != memory->mark);
	memory->pages[page_id].seen = memory->mark;
	if (memory->visits == 0)
		memory->visit_top = level;
	memory->visits++;
	memory->visit_bytes += size;
	if (level != memory->visit_top && size < LB_PAGE_MAX * 40 / 100)
		memory->low++;
}

/*
 * Checks a tree, and that it is complete: where `newest`, its pages are just
 * those that are live.
 */
static inline void
memory_check(MemoryStore *memory, int64_t root, bool newest,
			 LbRankTotals *totals)
{
	LbRankStatus status;

	memory->mark++;
	memory->visits = memory->visit_bytes = memory->low = 0;
	status = lb_ranktree_check(&memory->store, root, memory_visit, totals);
	if (status != LB_RANK_OK)
		fprintf(stderr, "%s\n", memory->store.message);
	MUST(status == LB_RANK_OK);
	if (newest)
		MUST(memory->visits == memory->live);
}

#endif							/* LB_TEST_MEMORY_STORE_H */
