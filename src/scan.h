/*-------------------------------------------------------------------------
 *
 * scan.h
 *	  Reading the text forms of the value types, token by token.
 *
 * White space may stand before any token.  What is not there is not stepped
 * over: then *text is where it should begin, for an error to show.  Needs no
 * server.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_SCAN_H
#define LB_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline const char *
lb_scan_space(const char *p)
{
	while (*p == ' ' || (*p >= '\t' && *p <= '\r'))
		p++;
	return p;
}

/* Step over a token. */
static inline bool
lb_scan_token(const char **text, const char *token)
{
	size_t		length = strlen(token);

	*text = lb_scan_space(*text);
	if (strncmp(*text, token, length) != 0)
		return false;
	*text += length;
	return true;
}

/* A decimal integer of up to 64 bits. */
static inline bool
lb_scan_integer(const char **text, int64_t *result)
{
	const char *p = *text = lb_scan_space(*text);
	bool		negative = *p == '-';
	uint64_t	limit = (uint64_t) INT64_MAX + negative;
	uint64_t	x = 0;

	p += negative;
	if (*p < '0' || *p > '9')
		return false;
	for (; *p >= '0' && *p <= '9'; p++)
	{
		uint64_t	digit = (uint64_t) (*p - '0');

		if (x > (limit - digit) / 10)
			return false;
		x = x * 10 + digit;
	}
	*result = (int64_t) (negative ? -x : x);
	*text = p;
	return true;
}

#endif							/* LB_SCAN_H */
