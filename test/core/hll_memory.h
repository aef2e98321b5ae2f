/*-------------------------------------------------------------------------
 *
 * hll_memory.h
 *	  What the programs about lb_hll share: its pure part, memory for it,
 *	  packing, a mixer that makes hashes of numbers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HLL_MEMORY_H
#define HLL_MEMORY_H

#include "hll/hll_core.c"
#include "hll/hll_dense.c"
#include "hll/hll_pack.c"
#include "hll/hll_estimate.c"
#include "hll/hll_text.c"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUST(condition) \
	do { \
		if (!(condition)) \
		{ \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			abort(); \
		} \
	} while (0)

static inline void *
checked_malloc(size_t size)
{
	void	   *chunk = malloc(size > 0 ? size : 1);

	MUST(chunk != NULL);
	return chunk;
}

static void *
test_get(void *context, size_t size)
{
	void	   *chunk = calloc(1, size);

	(void) context;
	MUST(chunk != NULL);
	return chunk;
}

static void
test_put(void *context, void *chunk)
{
	(void) context;
	free(chunk);
}

static const LbHllMemory test_memory = {test_get, test_put, NULL};

typedef struct Packed
{
	uint8_t    *bytes;
	size_t		size;
} Packed;

/* In a block of exactly its size, for the address sanitizer to watch. */
static inline Packed
pack(const LbHll *h)
{
	size_t		most = lb_hll_pack_max(h);
	uint8_t    *bytes = checked_malloc(most);
	Packed		p;

	p.size = lb_hll_pack(h, bytes);
	MUST(p.size <= most);
	p.bytes = checked_malloc(p.size);
	memcpy(p.bytes, bytes, p.size);
	free(bytes);
	return p;
}

static inline bool
same(const Packed *a, const Packed *b)
{
	return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

/* The mixer of splitmix64: a bijection whose values pass for random. */
static inline uint64_t
mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

#endif							/* HLL_MEMORY_H */
