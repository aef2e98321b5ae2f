/*-------------------------------------------------------------------------
 *
 * varint.h
 *	  Varints, as the stored forms of the value types have them.
 *
 * Base 128, low seven bits first, the high bit set on all but the last byte,
 * at most nine bytes, no longer than needed: so a number has one form.
 * Needs no server.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_VARINT_H
#define LB_VARINT_H

#include <stddef.h>
#include <stdint.h>

#define LB_VARINT_SIZE_MAX	9

typedef enum LbVarintStatus
{
	LB_VARINT_OK,
	LB_VARINT_SHORT,			/* the bytes end inside the number */
	LB_VARINT_LONG				/* longer than needed, or than 63 bits */
} LbVarintStatus;

static inline uint8_t *
lb_varint_put(uint8_t *p, uint64_t x)
{
	while (x >= 0x80)
	{
		*p++ = (uint8_t) (x | 0x80);
		x >>= 7;
	}
	*p++ = (uint8_t) x;
	return p;
}

static inline size_t
lb_varint_size(uint64_t x)
{
	size_t		size = 1;

	while (x >= 0x80)
	{
		size++;
		x >>= 7;
	}
	return size;
}

/* Reads one number and steps over it; after an error *p is anywhere. */
static inline LbVarintStatus
lb_varint_get(const uint8_t **p, const uint8_t *end, int64_t *x)
{
	uint64_t	result = 0;

	for (int shift = 0; shift < 63; shift += 7)
	{
		uint8_t		byte;

		if (*p == end)
			return LB_VARINT_SHORT;
		byte = *(*p)++;
		result |= (uint64_t) (byte & 0x7f) << shift;
		if (byte < 0x80)
		{
			if (byte == 0 && shift > 0)
				return LB_VARINT_LONG;
			*x = (int64_t) result;
			return LB_VARINT_OK;
		}
	}
	return LB_VARINT_LONG;
}

#endif							/* LB_VARINT_H */
