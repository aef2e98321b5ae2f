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

typedef struct Reader
{
	const uint8_t *at;
	const uint8_t *end;
	uint64_t	held;
	int			nheld;
} Reader;

/* Eight bytes, the first being the low end. */
static inline uint64_t
load8(const uint8_t *bytes)
{
	uint64_t	x;

	memcpy(&x, bytes, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	x = __builtin_bswap64(x);
#endif
	return x;
}

/* Hold at least n bits, n <= 56; false when they are not there. */
static inline bool
hold(Reader *r, int n)
{
	if (r->nheld >= n)
		return true;
	if (r->end - r->at >= 8)
	{
		int			more = (63 - r->nheld) / 8;

		r->held |= load8(r->at) << r->nheld;
		r->at += more;
		r->nheld += 8 * more;
		r->held &= (UINT64_C(1) << r->nheld) - 1;
		return true;
	}
	while (r->nheld < n)
	{
		if (r->at == r->end)
			return false;
		r->held |= (uint64_t) *r->at++ << r->nheld;
		r->nheld += 8;
	}
	return true;
}

static inline uint64_t
take(Reader *r, int n)
{
	uint64_t	value = r->held & ((UINT64_C(1) << n) - 1);

	r->held >>= n;
	r->nheld -= n;
	return value;
}

/*
 * How many low bits of a gap are written as they are (Golomb and Rice): the
 * logarithm of the mean gap, rounded down.
 */
static int
plain_bits(uint32_t count)
{
	return count <= 1 ? 32 : __builtin_clz(count - 1);
}

static bool
has_rank(uint32_t place, int bits)
{
	return (uint32_t) (place << bits) == 0;
}

/* No sparse sketch of so many places is longer. */
static size_t
sparse_max(uint32_t count)
{
	/* all high parts of gaps together are less than 2 * count; ranks: 6 */
	return LB_HLL_SPARSE_HEADER +
		((size_t) count * (size_t) (plain_bits(count) + 1 + 2 + 6) + 7) / 8;
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
	Writer		w = {bytes + LB_HLL_SPARSE_HEADER, 0, 0};
	int			k = plain_bits(h->count);
	uint64_t	next = 0;		/* the least place that may come */

	bytes[3] = (uint8_t) h->count;
	bytes[4] = (uint8_t) (h->count >> 8);
	for (uint32_t i = 0; i < h->count; i++)
	{
		uint64_t	place = sorted[i] >> 8;
		uint64_t	gap = place - next;
		uint64_t	high = gap >> k;

		for (; high > 32; high -= 32)
			write_bits(&w, UINT64_C(0xffffffff), 32);
		write_bits(&w, (UINT64_C(1) << high) - 1, (int) high + 1);
		write_bits(&w, gap & ((UINT64_C(1) << k) - 1), k);
		if (has_rank((uint32_t) place, h->bits))
			write_bits(&w, sorted[i] & 0xff, 6);
		next = place + 1;
	}
	if (w.nheld > 0)
		*w.at++ = (uint8_t) w.held;
	h->memory.put(h->memory.context, sorted);
	return (size_t) (w.at - bytes);
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

/* The next gap; SHORT too when it leads past the last place. */
static LbHllStatus
read_gap(Reader *r, int k, uint64_t *gap)
{
	uint64_t	high = 0;

	for (;;)
	{
		int			ones;

		if (!hold(r, 1))
			return LB_HLL_SHORT;
		/* the bits above those held are zero, so the search ends */
		ones = __builtin_ctzll(~r->held);
		take(r, ones);
		high += (uint64_t) ones;
		if (r->nheld > 0)
			break;
	}
	take(r, 1);
	if (high >> (32 - k) != 0)
		return LB_HLL_NOT_CANONICAL;
	if (!hold(r, k))
		return LB_HLL_SHORT;
	*gap = high << k | take(r, k);
	return LB_HLL_OK;
}

static LbHllStatus
merge_sparse(LbHll *h, const uint8_t *bytes, size_t size, int bits)
{
	Reader		r = {bytes + LB_HLL_SPARSE_HEADER, bytes + size, 0, 0};
	uint32_t	count;
	uint64_t	next = 0;
	int			k;

	if (size < LB_HLL_SPARSE_HEADER)
		return LB_HLL_SHORT;
	count = bytes[3] | (uint32_t) bytes[4] << 8;
	if (count > LB_HLL_SPARSE_MAX(bits))
		return LB_HLL_BAD_COUNT;
	k = plain_bits(count);
	lb_hll_reserve(h, count);

	for (uint32_t i = 0; i < count; i++)
	{
		uint64_t	place;
		uint64_t	rank = 0;
		LbHllStatus status = read_gap(&r, k, &place);

		if (status != LB_HLL_OK)
			return status;
		place += next;
		if (place > UINT32_MAX)
			return LB_HLL_NOT_CANONICAL;
		if (has_rank((uint32_t) place, bits))
		{
			if (!hold(&r, 6))
				return LB_HLL_SHORT;
			rank = take(&r, 6);
			if (rank < 1 || rank > LB_HLL_PLACE_RANK_MAX)
				return LB_HLL_BAD_RANK;
		}
		lb_hll_add_entry(h, place << 8 | rank);
		next = place + 1;
	}
	/* what is left over is less than a byte, and zero */
	return r.at == r.end && r.nheld < 8 && r.held == 0 ?
		LB_HLL_OK : LB_HLL_NOT_CANONICAL;
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
