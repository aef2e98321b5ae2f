/*-------------------------------------------------------------------------
 *
 * hll_text.c
 *	  Reading the text form of a sketch: \x and its bytes in hexadecimal.
 *
 *-------------------------------------------------------------------------
 */
#include "hll_core.h"

#include <string.h>

static int
digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/*
 * The bytes that a text stands for: no more than half as many as it has.
 * After an error *at is where it was seen.
 */
LbHllStatus
lb_hll_parse(const char *text, const char **at, uint8_t *bytes, size_t *size)
{
	const char *p = text;

	*size = 0;
	*at = p;
	if (p[0] != '\\' || p[1] != 'x')
		return LB_HLL_SYNTAX;
	for (p += 2; *p != '\0'; p += 2)
	{
		int			high = digit(p[0]);
		int			low = high < 0 ? -1 : digit(p[1]);

		*at = p;
		if (low < 0)
			return LB_HLL_SYNTAX;
		bytes[(*size)++] = (uint8_t) (high << 4 | low);
	}
	*at = p;
	return LB_HLL_OK;
}
