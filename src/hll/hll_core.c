/*-------------------------------------------------------------------------
 *
 * hll_core.c
 *	  Working sketches: adding, growing, folding, merging.
 *
 *-------------------------------------------------------------------------
 */
#include "hll_core.h"

#include <string.h>

/* The first table of a sparse sketch. */
#define SLOTS_MIN	16

/*
 * Which slot a place has depends on this, so that who chooses values cannot
 * choose slots: hashes that all fall together would make tables slow.  It may
 * be any odd number and is of no consequence for what a sketch is.
 */
static uint64_t slot_key = UINT64_C(0x9e3779b97f4a7c15);

/* Once, before the first sketch. */
void
lb_hll_key_slots(uint64_t key)
{
	slot_key = key | 1;
}

static inline uint32_t
first_slot(uint64_t entry, int shift)
{
	return (uint32_t) ((entry >> 8) * slot_key >> shift);
}

/* What is wrong, as a clause for an error message. */
const char *
lb_hll_status_text(LbHllStatus status)
{
	switch (status)
	{
		case LB_HLL_OK:
			return "nothing is wrong";
		case LB_HLL_SHORT:
			return "it ends too early";
		case LB_HLL_BAD_VERSION:
			return "its format version is unknown";
		case LB_HLL_BAD_FLAGS:
			return "it sets unknown flags";
		case LB_HLL_BAD_BITS:
			return "the number of bits is not between 4 and 18";
		case LB_HLL_BAD_COUNT:
			return "it has more places than a sparse sketch may have";
		case LB_HLL_BAD_RANK:
			return "it has a rank that no hash has";
		case LB_HLL_NOT_CANONICAL:
			return "its bytes are not in canonical form";
		case LB_HLL_SYNTAX:
			return "the text is not \\x and pairs of hexadecimal digits";
	}
	return "unknown";
}

bool
lb_hll_bits_valid(int64_t bits)
{
	return bits >= LB_HLL_BITS_MIN && bits <= LB_HLL_BITS_MAX;
}

/* An empty sketch; takes no memory yet. */
void
lb_hll_init(LbHll *h, int bits, const LbHllMemory *memory)
{
	memset(h, 0, sizeof(*h));
	h->bits = (uint8_t) bits;
	h->memory = *memory;
}

static void
put(LbHll *h, void *chunk)
{
	if (chunk != NULL)
		h->memory.put(h->memory.context, chunk);
}

/* Empty again; gives back all memory. */
void
lb_hll_clear(LbHll *h)
{
	put(h, h->registers);
	put(h, h->entries);
	h->registers = NULL;
	h->entries = NULL;
	h->count = 0;
	h->slots = 0;
}

/* Put an entry whose place is not there yet into a table with room. */
static void
insert(uint64_t *entries, uint32_t slots, int shift, uint64_t entry)
{
	uint32_t	slot = first_slot(entry, shift);

	while (entries[slot] != 0)
		slot = (slot + 1) & (slots - 1);
	entries[slot] = entry;
}

/* A table of so many slots, with the entries that there are. */
static void
resize(LbHll *h, uint32_t slots)
{
	int			shift = 64 - __builtin_ctz(slots);
	uint64_t   *entries = h->memory.get(h->memory.context,
										sizeof(uint64_t) * slots);

	for (uint32_t i = 0; i < h->slots; i++)
	{
		if (h->entries[i] != 0)
			insert(entries, slots, shift, h->entries[i]);
	}
	put(h, h->entries);
	h->entries = entries;
	h->slots = slots;
	h->slot_shift = (uint8_t) shift;
}

/* Room for so many entries more. */
void
lb_hll_reserve(LbHll *h, uint32_t count)
{
	uint32_t	slots = SLOTS_MIN;

	if (h->registers != NULL || count == 0)
		return;
	count += h->count;
	if (count > LB_HLL_SPARSE_MAX(h->bits))
		count = LB_HLL_SPARSE_MAX(h->bits);
	while (slots / 4 * 3 < count)
		slots *= 2;
	if (slots > h->slots)
		resize(h, slots);
}

/* From now on dense.  Only a sketch that is to be dense may be made so. */
void
lb_hll_make_dense(LbHll *h)
{
	uint8_t    *registers;

	if (h->registers != NULL)
		return;
	registers = h->memory.get(h->memory.context, LB_HLL_REGISTERS(h->bits));
	for (uint32_t i = 0; i < h->slots; i++)
	{
		if (h->entries[i] != 0)
			lb_hll_apply_entry(registers, h->bits, h->entries[i]);
	}
	lb_hll_clear(h);
	h->registers = registers;
}

/*
 * Count in an entry of any sketch of as many bits as this one or more: a
 * rank that is not needed here is dropped.
 */
void
lb_hll_add_entry(LbHll *h, uint64_t entry)
{
	uint32_t	place = (uint32_t) (entry >> 8);
	uint32_t	slot;

	if (h->registers != NULL)
	{
		lb_hll_apply_entry(h->registers, h->bits, entry);
		return;
	}
	if (!lb_hll_needs_rank(place, h->bits))
		entry &= ~UINT64_C(0xff);
	if (h->count >= h->slots / 4 * 3)
		resize(h, h->slots == 0 ? SLOTS_MIN : 2 * h->slots);

	slot = first_slot(entry, h->slot_shift);
	while (h->entries[slot] != 0)
	{
		if ((uint32_t) (h->entries[slot] >> 8) == place)
		{
			if (entry > h->entries[slot])
				h->entries[slot] = entry;	/* a greater rank */
			return;
		}
		slot = (slot + 1) & (h->slots - 1);
	}
	h->entries[slot] = entry;
	if (++h->count > LB_HLL_SPARSE_MAX(h->bits))
		lb_hll_make_dense(h);
}

/* Count a hash into a sketch that is still sparse: see lb_hll_add_hash. */
void
lb_hll_add_sparse(LbHll *h, uint64_t hash)
{
	uint64_t	place = hash >> 32;
	uint64_t	rank = 0;

	if (lb_hll_needs_rank((uint32_t) place, h->bits))
		rank = lb_hll_rank(hash, 32);
	lb_hll_add_entry(h, place << 8 | rank);
}

/*
 * Registers of fewer bits from those of more: the bits by which the index
 * gets shorter come before the rest of the hash, where its rank is counted.
 * The result is the greater of what is there and what comes.
 */
void
lb_hll_fold_registers(uint8_t *into, int bits, const uint8_t *from,
					  int from_bits)
{
	int			moved = from_bits - bits;
	uint32_t	n = LB_HLL_REGISTERS(bits);

	for (uint32_t i = 0; i < n; i++)
	{
		const uint8_t *group = from + ((size_t) i << moved);
		uint8_t		best = group[0] == 0 ? 0 : (uint8_t) (group[0] + moved);

		for (uint32_t j = 1; j < (UINT32_C(1) << moved); j++)
		{
			uint8_t		rank = (uint8_t) (__builtin_clz(j) - (32 - moved) + 1);

			if (group[j] != 0 && rank > best)
				best = rank;
		}
		if (best > into[i])
			into[i] = best;
	}
}

/* Make it what it were, had it been built with so many bits, or fewer. */
void
lb_hll_fold(LbHll *h, int bits)
{
	if (bits >= h->bits)
		return;
	if (h->registers != NULL)
	{
		uint8_t    *registers = h->memory.get(h->memory.context,
											  LB_HLL_REGISTERS(bits));

		lb_hll_fold_registers(registers, bits, h->registers, h->bits);
		put(h, h->registers);
		h->registers = registers;
		h->bits = (uint8_t) bits;
		return;
	}
	for (uint32_t i = 0; i < h->slots; i++)
	{
		if (!lb_hll_needs_rank((uint32_t) (h->entries[i] >> 8), bits))
			h->entries[i] &= ~UINT64_C(0xff);
	}
	h->bits = (uint8_t) bits;
	if (h->count > LB_HLL_SPARSE_MAX(bits))
		lb_hll_make_dense(h);
}

/* Count in all of another; the result has the bits of the one with fewer. */
void
lb_hll_merge(LbHll *into, const LbHll *other)
{
	if (into == other)
		return;
	lb_hll_fold(into, other->bits);
	if (other->registers == NULL)
	{
		lb_hll_reserve(into, other->count);
		for (uint32_t i = 0; i < other->slots; i++)
		{
			if (other->entries[i] != 0)
				lb_hll_add_entry(into, other->entries[i]);
		}
		return;
	}
	lb_hll_make_dense(into);
	if (into->bits == other->bits)
		lb_hll_max(into->registers, other->registers,
				   LB_HLL_REGISTERS(into->bits));
	else
		lb_hll_fold_registers(into->registers, into->bits, other->registers,
							  other->bits);
}
