/*-------------------------------------------------------------------------
 *
 * hll_dense.c
 *	  Loops over registers, a byte each, and over their packed form.
 *
 * They decide how fast merging is.  Written so that a compiler turns them
 * into vector code: the Makefile asks for that here, as PostgreSQL's own
 * does for page checksums.  n is the number of registers, 16 or a greater
 * power of two.
 *
 * Packed, a register is a nibble: its value above a base.  Byte i has
 * register i in its low nibble and register n/2 + i in its high one, so both
 * halves are read and written in order.
 *
 *-------------------------------------------------------------------------
 */
#include "hll_core.h"

#include <string.h>

/* Registers: the greater of two. */
void
lb_hll_max(uint8_t *restrict into, const uint8_t *restrict other, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		into[i] = into[i] > other[i] ? into[i] : other[i];
}

int
lb_hll_min(const uint8_t *registers, uint32_t n)
{
	uint8_t		least = registers[0];

	for (uint32_t i = 0; i < n; i++)
		least = least < registers[i] ? least : registers[i];
	return least;
}

/* How many registers are at least that. */
uint32_t
lb_hll_count_from(const uint8_t *registers, uint32_t n, int rank)
{
	uint32_t	found = 0;

	for (uint32_t i = 0; i < n; i++)
		found += registers[i] >= rank;
	return found;
}

/* Pack what is above the base, 15 standing for that or more. */
void
lb_hll_nibbles_pack(uint8_t *restrict nibbles,
					const uint8_t *restrict registers, uint32_t n, int base)
{
	uint32_t	half = n / 2;
	uint8_t		from = (uint8_t) base;

	for (uint32_t i = 0; i < half; i++)
	{
		uint8_t		low = (uint8_t) (registers[i] - from);
		uint8_t		high = (uint8_t) (registers[half + i] - from);

		low = low < 15 ? low : 15;
		high = high < 15 ? high : 15;
		nibbles[i] = (uint8_t) (low | (high << 4));
	}
}

/* Registers: the greater of what they are and what the nibbles say. */
void
lb_hll_nibbles_max(uint8_t *restrict registers,
				   const uint8_t *restrict nibbles, uint32_t n, int base)
{
	uint32_t	half = n / 2;
	uint8_t    *restrict upper = registers + half;
	uint8_t		from = (uint8_t) base;

	for (uint32_t i = 0; i < half; i++)
	{
		uint8_t		low = (uint8_t) ((nibbles[i] & 15) + from);
		uint8_t		high = (uint8_t) ((nibbles[i] >> 4) + from);

		registers[i] = registers[i] > low ? registers[i] : low;
		upper[i] = upper[i] > high ? upper[i] : high;
	}
}

/* How many nibbles are 15, and whether one is 0. */
uint32_t
lb_hll_nibbles_look(const uint8_t *nibbles, uint32_t n, bool *has_zero)
{
	const uint64_t ones = UINT64_C(0x1111111111111111);
	uint64_t	zeros = 0;
	uint32_t	full = 0;

	for (uint32_t i = 0; i < n / 2; i += 8)
	{
		uint64_t	x;
		uint64_t	all;

		memcpy(&x, nibbles + i, 8);
		all = x & (x >> 2);
		all &= (all >> 1) & ones;
		x |= x >> 2;
		zeros |= ~(x | (x >> 1)) & ones;
		if (all != 0)
			full += (uint32_t) __builtin_popcountll(all);
	}
	*has_zero = zeros != 0;
	return full;
}

/* The first register from there on whose nibble is 15, or n. */
uint32_t
lb_hll_nibbles_full(const uint8_t *nibbles, uint32_t n, uint32_t from)
{
	uint32_t	half = n / 2;

	for (uint32_t i = from; i < n;)
	{
		int			shift = i < half ? 0 : 4;
		uint32_t	at = i & (half - 1);

		if ((nibbles[at] >> shift & 15) == 15)
			return i;
		i++;
		if (at % 8 != 7)
			continue;
		/* most words have none */
		while ((i & (half - 1)) != 0)
		{
			uint64_t	x;

			memcpy(&x, nibbles + (i & (half - 1)), 8);
			x >>= shift;
			x &= x >> 2;
			if ((x & (x >> 1) & UINT64_C(0x0101010101010101)) != 0)
				break;
			i += 8;
		}
	}
	return n;
}
