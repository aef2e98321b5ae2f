/*-------------------------------------------------------------------------
 *
 * hll_core.h
 *	  The pure part of lb_hll: sets of hashes, counted; bytes and text.
 *
 * Nothing here reports or looks at the server, so that a fuzzer compiles
 * these files alone.  A working sketch grows as it is filled, by the two
 * functions of its LbHllMemory; get() hands out zeroed memory and does not
 * return without it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_HLL_CORE_H
#define LB_HLL_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LB_HLL_BITS_MIN		4
#define LB_HLL_BITS_MAX		18
#define LB_HLL_BITS_DEFAULT	14

/* The stored form; README.md publishes it. */
#define LB_HLL_VERSION		1
#define LB_HLL_FLAG_DENSE	0x01
#define LB_HLL_SPARSE_HEADER	5
#define LB_HLL_DENSE_HEADER		4

/* How many registers there are, and the greatest value of one. */
#define LB_HLL_REGISTERS(bits)	(UINT32_C(1) << (bits))
#define LB_HLL_RANK_MAX(bits)	(64 - (bits) + 1)

/*
 * A sparse sketch keeps the first 32 bits of every hash, its place, and up to
 * this many of them.  One more and it becomes dense.  The number is a
 * function of the set of hashes alone, whatever their order, so the form is.
 */
#define LB_HLL_SPARSE_MAX(bits)	((UINT32_C(3) << (bits)) / 16)

/* The greatest rank after a place, 64 - 32 + 1. */
#define LB_HLL_PLACE_RANK_MAX	33

/*
 * The relative standard error of the count of a dense sketch of m registers
 * is at most this / sqrt(m): sqrt(3 ln 2 - 1).
 */
#define LB_HLL_ERROR		1.0389618

typedef enum LbHllStatus
{
	LB_HLL_OK,
	LB_HLL_SHORT,				/* ends too early */
	LB_HLL_BAD_VERSION,
	LB_HLL_BAD_FLAGS,
	LB_HLL_BAD_BITS,
	LB_HLL_BAD_COUNT,			/* more places than a sparse one may have */
	LB_HLL_BAD_RANK,			/* a rank that no hash has */
	LB_HLL_NOT_CANONICAL,		/* says it in a way the packer never does */
	LB_HLL_SYNTAX				/* of text */
} LbHllStatus;

typedef struct LbHllMemory
{
	void	   *(*get) (void *context, size_t size);	/* zeroed */
	void		(*put) (void *context, void *chunk);
	void	   *context;
} LbHllMemory;

/*
 * A sketch to work on.
 *
 * Sparse (registers is NULL): a hash table, open addressing, of entries
 * place << 8 | rank, 0 being none.  The rank, that of the 32 bits after the
 * place, is kept where it will be needed: where the place has only zeros
 * after its first `bits` bits; else it is 0.
 *
 * Dense: one byte a register.
 */
typedef struct LbHll
{
	uint8_t    *registers;
	uint64_t   *entries;
	uint32_t	count;			/* of entries */
	uint32_t	slots;			/* a power of two, or 0 */
	uint8_t		bits;
	uint8_t		slot_shift;		/* 64 - log2(slots) */
	LbHllMemory memory;
} LbHll;

/* hll_core.c */
extern void lb_hll_key_slots(uint64_t key);
extern const char *lb_hll_status_text(LbHllStatus status);
extern bool lb_hll_bits_valid(int64_t bits);
extern void lb_hll_init(LbHll *h, int bits, const LbHllMemory *memory);
extern void lb_hll_clear(LbHll *h);
extern void lb_hll_add_sparse(LbHll *h, uint64_t hash);
extern void lb_hll_add_entry(LbHll *h, uint64_t entry);
extern void lb_hll_reserve(LbHll *h, uint32_t count);
extern void lb_hll_make_dense(LbHll *h);
extern void lb_hll_fold(LbHll *h, int bits);
extern void lb_hll_fold_registers(uint8_t *into, int bits,
								  const uint8_t *from, int from_bits);
extern void lb_hll_merge(LbHll *into, const LbHll *other);

/* hll_dense.c: loops over registers, compiled to be vectorised */
extern void lb_hll_max(uint8_t *into, const uint8_t *other, uint32_t n);
extern int	lb_hll_min(const uint8_t *registers, uint32_t n);
extern uint32_t lb_hll_count_from(const uint8_t *registers, uint32_t n,
								  int rank);
extern void lb_hll_nibbles_pack(uint8_t *nibbles, const uint8_t *registers,
								uint32_t n, int base);
extern void lb_hll_nibbles_max(uint8_t *registers, const uint8_t *nibbles,
							   uint32_t n, int base);
extern uint32_t lb_hll_nibbles_look(const uint8_t *nibbles, uint32_t n,
									bool *has_zero);
extern uint32_t lb_hll_nibbles_full(const uint8_t *nibbles, uint32_t n,
									uint32_t from);

/* hll_pack.c */
extern size_t lb_hll_pack_max(const LbHll *h);
extern size_t lb_hll_pack(const LbHll *h, uint8_t *bytes);
extern LbHllStatus lb_hll_bytes_bits(const uint8_t *bytes, size_t size,
									 int *bits);
extern LbHllStatus lb_hll_merge_bytes(LbHll *h, const uint8_t *bytes,
									  size_t size);

/* hll_estimate.c */
extern double lb_hll_estimate(const LbHll *h);
extern double lb_hll_estimate_counts(const uint32_t *counts, int bits);
extern void lb_hll_interval(const LbHll *h, double confidence,
							double *low, double *high);

/* hll_text.c */
extern LbHllStatus lb_hll_parse(const char *text, const char **at,
								uint8_t *bytes, size_t *size);

/* The register and the rank of a hash. */
static inline uint32_t
lb_hll_index(uint64_t hash, int bits)
{
	return (uint32_t) (hash >> (64 - bits));
}

static inline uint8_t
lb_hll_rank(uint64_t hash, int bits)
{
	/* the bit set below the hash's own ends the search for a one */
	uint64_t	rest = (hash << bits) | (UINT64_C(1) << (bits - 1));

	return (uint8_t) (__builtin_clzll(rest) + 1);
}

/* Whether a place has only zeros after its first `bits` bits. */
static inline bool
lb_hll_needs_rank(uint32_t place, int bits)
{
	return (uint32_t) (place << bits) == 0;
}

/* Bring an entry to the register that it means. */
static inline void
lb_hll_apply_entry(uint8_t *registers, int bits, uint64_t entry)
{
	uint32_t	place = (uint32_t) (entry >> 8);
	uint32_t	rest = place << bits;
	uint8_t    *at = registers + (place >> (32 - bits));
	uint8_t		rank = (uint8_t) (rest != 0 ? __builtin_clz(rest) + 1 :
								  32 - bits + (int) (entry & 0xff));

	if (rank > *at)
		*at = rank;
}

/* Count one hash into a sketch that is dense: a load and a compare. */
static inline void
lb_hll_add_dense(LbHll *h, uint64_t hash)
{
	uint8_t    *at = h->registers + lb_hll_index(hash, h->bits);
	uint8_t		rank = lb_hll_rank(hash, h->bits);

	if (rank > *at)
		*at = rank;
}

/* Count in one hash. */
static inline void
lb_hll_add_hash(LbHll *h, uint64_t hash)
{
	if (h->registers != NULL)
		lb_hll_add_dense(h, hash);
	else
		lb_hll_add_sparse(h, hash);
}

#endif							/* LB_HLL_CORE_H */
