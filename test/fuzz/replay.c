/*-------------------------------------------------------------------------
 *
 * replay.c
 *	  Drives a fuzz harness without libFuzzer: every file named on the
 *	  command line, then mutations of them, the same ones in every run.
 *
 * usage: HARNESS MUTATIONS [FILE...]
 *
 *-------------------------------------------------------------------------
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUT_MAX	65536

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t random_state = UINT64_C(0x9e3779b97f4a7c15);

/* xorshift64*: small, and the same numbers everywhere. */
static uint32_t
random_below(uint32_t bound)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (uint32_t) ((random_state * UINT64_C(0x2545f4914f6cdd1d)) >> 32) % bound;
}

/*
 * Run one input from a block of exactly its size, so that the address
 * sanitizer sees a read of even one byte past it.
 */
static void
run(const uint8_t *data, size_t size)
{
	uint8_t    *exact = malloc(size > 0 ? size : 1);

	if (exact == NULL)
		abort();
	if (size > 0)
		memcpy(exact, data, size);
	LLVMFuzzerTestOneInput(exact, size);
	free(exact);
}

static size_t
mutate(uint8_t *data, size_t size)
{
	static const uint8_t edges[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
	uint32_t	steps = 1 + random_below(4);

	while (steps-- > 0)
	{
		uint32_t	at = size > 0 ? random_below((uint32_t) size) : 0;

		switch (random_below(6))
		{
			case 0:				/* cut the end off */
				size = at;
				break;
			case 1:				/* insert a byte */
				if (size < INPUT_MAX)
				{
					memmove(data + at + 1, data + at, size - at);
					data[at] = (uint8_t) random_below(256);
					size++;
				}
				break;
			case 2:				/* delete a byte */
				if (size > 0)
				{
					memmove(data + at, data + at + 1, size - at - 1);
					size--;
				}
				break;
			case 3:				/* flip a bit */
				if (size > 0)
					data[at] ^= (uint8_t) (1 << random_below(8));
				break;
			case 4:				/* a byte at an edge */
				if (size > 0)
					data[at] = edges[random_below(sizeof(edges))];
				break;
			default:			/* any byte */
				if (size > 0)
					data[at] = (uint8_t) random_below(256);
				break;
		}
	}
	return size;
}

int
main(int argc, char **argv)
{
	static uint8_t seed[INPUT_MAX + 1];
	static uint8_t work[INPUT_MAX + 1];
	long		mutations = argc > 1 ? atol(argv[1]) : 0;
	int			files = argc > 2 ? argc - 2 : 0;
	int			f = 0;

	do
	{
		size_t		size = 0;
		long		share = mutations / (files > 0 ? files : 1);

		if (files > 0)
		{
			FILE	   *file = fopen(argv[f + 2], "rb");

			if (file == NULL)
			{
				perror(argv[f + 2]);
				return 1;
			}
			size = fread(seed, 1, INPUT_MAX, file);
			fclose(file);
		}
		run(seed, size);
		while (share-- > 0)
		{
			memcpy(work, seed, size);
			run(work, mutate(work, size));
		}
	} while (++f < files);

	printf("%d files, %ld mutations\n", files, mutations);
	return 0;
}
