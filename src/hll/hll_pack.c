/*-------------------------------------------------------------------------
 *
 * hll_pack.c
 *	  Sketches as bytes, and reading bytes without trusting them.
 *
 * README.md publishes the format.  Equal sets of hashes are equal bytes, and
 * bytes that the packer would not have written are refused; one function,
 * lb_hll_merge_bytes, is behind every way in.
 *
 *-------------------------------------------------------------------------
 */
#include "hll_core.h"

#include <string.h>

/* Bits are written and read from the low end of each byte up. */
typedef struct Writer
{
	uint8_t    *at;
	uint64_t	held;
	int			nheld;			/* fewer than 8 between calls */
} Writer;

static inline void
write_bits(Writer *w, uint64_t value, int n)
{
	w->held |= value << w->nheld;
	for (w->nheld += n; w->nheld >= 8; w->nheld -= 8)
	{
		*w->at++ = (uint8_t) w->held;
		w->held >>= 8;
	}
}

/* Eight bytes, the first being the low end; zeros after the end. */
static inline uint64_t
load8(const uint8_t *at, const uint8_t *end)
{
	uint64_t	x = 0;

	if (end - at >= 8)
	{
		memcpy(&x, at, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
		x = __builtin_bswap64(x);
#endif
		return x;
	}
	for (int i = 0; at + i < end; i++)
		x |= (uint64_t) at[i] << (8 * i);
	return x;
}

/*
 * How many low bits of a place are written as they are (Elias and Fano): the
 * logarithm of the mean distance between places, rounded down.
 */
static int
low_bits(uint32_t count)
{
	return count <= 1 ? 32 : __builtin_clz(count - 1);
}

static size_t
low_bytes(uint32_t count)
{
	return ((size_t) count * (size_t) low_bits(count) + 7) / 8;
}

/* No sparse sketch of so many places is longer. */
static size_t
sparse_max(uint32_t count)
{
	/* a bit for each place and each high part, of which are 2 * count */
	return LB_HLL_SPARSE_HEADER + low_bytes(count) +
		(3 * (size_t) count) / 8 + 1 + count;
}

/* Sort what is nearly sorted; false if it is not, after some steps. */
static bool
sort_nearly(uint64_t *entries, uint32_t n)
{
	uint64_t	steps = 16 * (uint64_t) n + 4096;

	for (uint32_t i = 1; i < n; i++)
	{
		uint64_t	entry = entries[i];
		uint32_t	at = i;

		for (; at > 0 && entries[at - 1] > entry; at--)
			entries[at] = entries[at - 1];
		entries[at] = entry;
		if (i - at > steps)
			return false;
		steps -= i - at;
	}
	return true;
}

static void
sift(uint64_t *heap, uint32_t at, uint32_t n)
{
	uint64_t	entry = heap[at];

	for (uint32_t child; (child = 2 * at + 1) < n; at = child)
	{
		if (child + 1 < n && heap[child + 1] > heap[child])
			child++;
		if (heap[child] <= entry)
			break;
		heap[at] = heap[child];
	}
	heap[at] = entry;
}

static void
sort_heap(uint64_t *entries, uint32_t n)
{
	for (uint32_t i = n / 2; i-- > 0;)
		sift(entries, i, n);
	for (uint32_t i = n; i-- > 1;)
	{
		uint64_t	greatest = entries[0];

		entries[0] = entries[i];
		entries[i] = greatest;
		sift(entries, 0, i);
	}
}

/*
 * The entries in ascending order, in memory of their own.  Places are spread
 * evenly, so their first bits say nearly where each will be; unless somebody
 * chose them, which costs a sort by comparing.
 */
static uint64_t *
sorted_entries(const LbHll *h)
{
	uint64_t   *sorted = h->memory.get(h->memory.context,
									   sizeof(uint64_t) * (h->count + 1));
	int			width = h->count < 32 ? 0 : 31 - __builtin_clz(h->count);
	int			shift = 8 + 32 - width;
	uint32_t   *begin = h->memory.get(h->memory.context,
									  sizeof(uint32_t) << width);
	uint32_t	sum = 0;

	for (uint32_t i = 0; i < h->slots; i++)
	{
		if (h->entries[i] != 0)
			begin[h->entries[i] >> shift]++;
	}
	for (uint32_t i = 0; i < UINT32_C(1) << width; i++)
	{
		uint32_t	here = begin[i];

		begin[i] = sum;
		sum += here;
	}
	for (uint32_t i = 0; i < h->slots; i++)
	{
		if (h->entries[i] != 0)
			sorted[begin[h->entries[i] >> shift]++] = h->entries[i];
	}
	h->memory.put(h->memory.context, begin);
	if (!sort_nearly(sorted, h->count))
		sort_heap(sorted, h->count);
	return sorted;
}

static size_t
pack_sparse(const LbHll *h, uint8_t *bytes)
{
	uint64_t   *sorted = sorted_entries(h);
	uint32_t	n = h->count;
	int			k = low_bits(n);
	Writer		w = {bytes + LB_HLL_SPARSE_HEADER, 0, 0};
	uint8_t    *highs = bytes + LB_HLL_SPARSE_HEADER + low_bytes(n);
	size_t		nhighs = n == 0 ? 0 :
		(n + (size_t) (sorted[n - 1] >> 8 >> k) + 7) / 8;
	uint32_t	nranks = 0;

	bytes[3] = (uint8_t) n;
	bytes[4] = (uint8_t) (n >> 8);
	for (uint32_t i = 0; i < n; i++)
	{
		write_bits(&w, sorted[i] >> 8 & ((UINT64_C(1) << k) - 1), k);
		nranks += (sorted[i] & 0xff) != 0;
	}
	if (w.nheld > 0)
		*w.at = (uint8_t) w.held;

	memset(highs, 0, nhighs);
	for (uint32_t i = 0, r = nranks; i < n; i++)
	{
		uint64_t	bit = (sorted[i] >> 8 >> k) + i;

		highs[bit / 8] |= (uint8_t) (1 << bit % 8);
		if ((sorted[i] & 0xff) != 0)
			highs[nhighs + --r] = (uint8_t) sorted[i];
	}
	h->memory.put(h->memory.context, sorted);
	return (size_t) (highs + nhighs + nranks - bytes);
}

static size_t
pack_dense(const LbHll *h, uint8_t *bytes)
{
	uint32_t	n = LB_HLL_REGISTERS(h->bits);
	int			base = lb_hll_min(h->registers, n);
	uint8_t    *nibbles = bytes + LB_HLL_DENSE_HEADER;
	uint8_t    *at = nibbles + n / 2;

	bytes[3] = (uint8_t) base;
	lb_hll_nibbles_pack(nibbles, h->registers, n, base);
	for (uint32_t i = 0; (i = lb_hll_nibbles_full(nibbles, n, i)) < n; i++)
		*at++ = (uint8_t) (h->registers[i] - base - 15);
	return (size_t) (at - bytes);
}

/* Packing writes no more bytes than this. */
size_t
lb_hll_pack_max(const LbHll *h)
{
	uint32_t	n = LB_HLL_REGISTERS(h->bits);

	if (h->registers == NULL)
		return sparse_max(h->count);
	return LB_HLL_DENSE_HEADER + n / 2 +
		lb_hll_count_from(h->registers, n, lb_hll_min(h->registers, n) + 15);
}

/* The stored form; how long it is. */
size_t
lb_hll_pack(const LbHll *h, uint8_t *bytes)
{
	bytes[0] = LB_HLL_VERSION;
	bytes[1] = h->registers == NULL ? 0 : LB_HLL_FLAG_DENSE;
	bytes[2] = h->bits;
	return h->registers == NULL ? pack_sparse(h, bytes) : pack_dense(h, bytes);
}

/* Look at what all sketches begin with. */
LbHllStatus
lb_hll_bytes_bits(const uint8_t *bytes, size_t size, int *bits)
{
	if (size < 1)
		return LB_HLL_SHORT;
	if (bytes[0] != LB_HLL_VERSION)
		return LB_HLL_BAD_VERSION;
	if (size < LB_HLL_DENSE_HEADER)
		return LB_HLL_SHORT;
	if ((bytes[1] & ~LB_HLL_FLAG_DENSE) != 0)
		return LB_HLL_BAD_FLAGS;
	if (!lb_hll_bits_valid(bytes[2]))
		return LB_HLL_BAD_BITS;
	*bits = bytes[2];
	return LB_HLL_OK;
}

/* Where the parts of a sparse sketch are. */
typedef struct Places
{
	const uint8_t *lows;
	const uint8_t *highs;
	const uint8_t *end;
	uint32_t	count;
	int			k;
	int			bits;
} Places;

/*
 * Nothing is left over: the high parts end where the ranks begin, and what
 * fills a byte up is zero.
 */
static bool
ends_well(const Places *p, const uint8_t *ranks, uint64_t last_place)
{
	size_t		last = (size_t) (last_place >> p->k) + p->count - 1;
	int			over = (int) ((size_t) p->count * (size_t) p->k % 8);

	return p->highs + last / 8 + 1 == ranks &&
		p->highs[last / 8] >> (last % 8 + 1) == 0 &&
		(over == 0 || p->highs[-1] >> over == 0);
}

/*
 * Read all places and count them in: into registers, unless these are NULL.
 * Compiled once for either.  That places ascend and are not too great is
 * known only at the end; until then they are just 32 bits.  What the loop
 * needs is in variables of its own, for a byte written to a register might
 * else have changed it.
 */
static inline __attribute__((always_inline)) LbHllStatus
read_places(const Places *p, LbHll *h, uint8_t *registers)
{
	const uint8_t *const lows = p->lows;
	const uint8_t *const end = p->end;
	const uint8_t *ranks = p->end;	/* these come from the end backwards */
	const uint8_t *at = p->highs;
	const uint32_t count = p->count;
	const int	k = p->k;
	const int	bits = p->bits;
	const int	into_bits = h->bits;
	const uint64_t low_mask = (UINT64_C(1) << k) - 1;
	uint64_t	first = 0;		/* bit of the word at hand, less the places */
	uint64_t	least = 0;		/* that the next place may be */
	bool		descends = false;
	size_t		low_bit = 0;
	uint32_t	left = count;

	for (; left > 0; at += 8, first += 64)
	{
		uint64_t	word;

		if (at >= ranks)
			return LB_HLL_SHORT;
		for (word = load8(at, end); word != 0 && left > 0; word &= word - 1)
		{
			uint64_t	low = load8(lows + low_bit / 8, end) >> low_bit % 8;
			uint64_t	place = (first-- + (uint64_t) __builtin_ctzll(word)) << k |
			(low & low_mask);
			uint64_t	entry = (place & UINT32_MAX) << 8;

			descends |= place < least;
			least = place + 1;
			low_bit += (size_t) k;
			left--;
			if (!lb_hll_needs_rank((uint32_t) place, bits))
			{
				if (registers != NULL)
					lb_hll_apply_entry(registers, into_bits, entry);
				else
					lb_hll_add_entry(h, entry);
			}
			else
			{
				if (ranks <= at)
					return LB_HLL_SHORT;
				ranks--;
				if (*ranks < 1 || *ranks > LB_HLL_PLACE_RANK_MAX)
					return LB_HLL_BAD_RANK;
				lb_hll_add_entry(h, entry | *ranks);
			}
		}
	}
	if (count == 0)
		return at == ranks ? LB_HLL_OK : LB_HLL_NOT_CANONICAL;
	return !descends && least <= UINT64_C(1) << 32 &&
		ends_well(p, ranks, least - 1) ?
		LB_HLL_OK : LB_HLL_NOT_CANONICAL;
}

static LbHllStatus
merge_sparse(LbHll *h, const uint8_t *bytes, size_t size, int bits)
{
	Places		p;

	if (size < LB_HLL_SPARSE_HEADER)
		return LB_HLL_SHORT;
	p.count = bytes[3] | (uint32_t) bytes[4] << 8;
	if (p.count > LB_HLL_SPARSE_MAX(bits))
		return LB_HLL_BAD_COUNT;
	if (size < LB_HLL_SPARSE_HEADER + low_bytes(p.count))
		return LB_HLL_SHORT;
	p.lows = bytes + LB_HLL_SPARSE_HEADER;
	p.highs = p.lows + low_bytes(p.count);
	p.end = bytes + size;
	p.k = low_bits(p.count);
	p.bits = bits;
	lb_hll_reserve(h, p.count);
	return h->registers != NULL ?
		read_places(&p, h, h->registers) : read_places(&p, h, NULL);
}

/* What the registers are whose nibble is 15: it is said at the end. */
static LbHllStatus
merge_tail(uint8_t *registers, const uint8_t *nibbles, uint32_t n,
		   const uint8_t *tail, int base, int rank_max)
{
	for (uint32_t i = 0; (i = lb_hll_nibbles_full(nibbles, n, i)) < n; i++)
	{
		int			rank = base + 15 + *tail++;

		if (rank > rank_max)
			return LB_HLL_BAD_RANK;
		if (rank > registers[i])
			registers[i] = (uint8_t) rank;
	}
	return LB_HLL_OK;
}

/* Whether a nibble says more than a register can be, 15 set aside. */
static bool
nibbles_exceed(const uint8_t *nibbles, uint32_t n, int most)
{
	if (most >= 14)
		return false;
	for (uint32_t i = 0; i < n / 2; i++)
	{
		if ((nibbles[i] & 15) > most || nibbles[i] >> 4 > most)
			return true;
	}
	return false;
}

/* Merge registers into an array of as many; what it has before may be any. */
static LbHllStatus
merge_registers(uint8_t *registers, const uint8_t *bytes, size_t size,
				int bits)
{
	const uint8_t *nibbles = bytes + LB_HLL_DENSE_HEADER;
	uint32_t	n = LB_HLL_REGISTERS(bits);
	int			base = bytes[3];
	uint32_t	full;
	bool		has_zero;

	if (size < LB_HLL_DENSE_HEADER + (size_t) n / 2)
		return LB_HLL_SHORT;
	if (base > LB_HLL_RANK_MAX(bits) ||
		nibbles_exceed(nibbles, n, LB_HLL_RANK_MAX(bits) - base))
		return LB_HLL_BAD_RANK;
	full = lb_hll_nibbles_look(nibbles, n, &has_zero);
	if (size < LB_HLL_DENSE_HEADER + (size_t) n / 2 + full)
		return LB_HLL_SHORT;
	if (size > LB_HLL_DENSE_HEADER + (size_t) n / 2 + full || !has_zero)
		return LB_HLL_NOT_CANONICAL;

	lb_hll_nibbles_max(registers, nibbles, n, base);
	if (full == 0)
		return LB_HLL_OK;
	return merge_tail(registers, nibbles, n, nibbles + n / 2, base,
					  LB_HLL_RANK_MAX(bits));
}

/* A dense sketch has counted something. */
static bool
all_zero(const uint8_t *bytes, size_t size)
{
	for (size_t i = LB_HLL_DENSE_HEADER - 1; i < size; i++)
	{
		if (bytes[i] != 0)
			return false;
	}
	return true;
}

static LbHllStatus
merge_dense(LbHll *h, const uint8_t *bytes, size_t size, int bits)
{
	uint8_t    *registers;
	LbHllStatus status;

	if (all_zero(bytes, size))
		return size < LB_HLL_DENSE_HEADER + LB_HLL_REGISTERS(bits) / 2 ?
			LB_HLL_SHORT : LB_HLL_NOT_CANONICAL;
	lb_hll_make_dense(h);
	if (h->bits == bits)
		return merge_registers(h->registers, bytes, size, bits);

	registers = h->memory.get(h->memory.context, LB_HLL_REGISTERS(bits));
	status = merge_registers(registers, bytes, size, bits);
	if (status == LB_HLL_OK)
		lb_hll_fold_registers(h->registers, h->bits, registers, bits);
	h->memory.put(h->memory.context, registers);
	return status;
}

/*
 * Count in all that the stored form of a sketch says; the result has the
 * bits of the one with fewer.  After an error the sketch is worthless.
 */
LbHllStatus
lb_hll_merge_bytes(LbHll *h, const uint8_t *bytes, size_t size)
{
	int			bits;
	LbHllStatus status = lb_hll_bytes_bits(bytes, size, &bits);

	if (status != LB_HLL_OK)
		return status;
	lb_hll_fold(h, bits);
	return (bytes[1] & LB_HLL_FLAG_DENSE) != 0 ?
		merge_dense(h, bytes, size, bits) : merge_sparse(h, bytes, size, bits);
}
