/*-------------------------------------------------------------------------
 *
 * hll_fuzz.c
 *	  Fuzzes the pure part of lb_hll.
 *
 * The first byte of an input chooses what the rest is: stored bytes, two
 * stored sketches to merge, text, or a program that adds, merges and folds,
 * which is also run on a model too simple to be wrong: a list of hashes.
 *
 *-------------------------------------------------------------------------
 */
#include "../core/hll_memory.h"

/* How many mutations `make check` replays: some seconds. */
#define REPLAY_MUTATIONS 60000

/* Only so many hashes of a program are kept. */
#define HASHES_MAX	1024

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must hold of any sketch. */
static void
check_sketch(const LbHll *h)
{
	double		estimate = lb_hll_estimate(h);
	double		low;
	double		high;
	Packed		p = pack(h);
	LbHll		again;
	Packed		q;

	MUST(isfinite(estimate) && estimate >= 0 && estimate <= MOST);
	lb_hll_interval(h, 0.95, &low, &high);
	MUST(0 <= low && low <= estimate && estimate <= high && high <= MOST);
	MUST(h->registers != NULL || h->count <= LB_HLL_SPARSE_MAX(h->bits));

	lb_hll_init(&again, h->bits, &test_memory);
	MUST(lb_hll_merge_bytes(&again, p.bytes, p.size) == LB_HLL_OK);
	MUST(again.bits == h->bits && lb_hll_estimate(&again) == estimate);
	lb_hll_merge(&again, h);
	q = pack(&again);
	MUST(same(&p, &q));
	lb_hll_clear(&again);
	free(p.bytes);
	free(q.bytes);
}

/* Bytes that are accepted are those that the packer writes. */
static bool
load(LbHll *h, const uint8_t *data, size_t size)
{
	Packed		p;
	bool		fine;
	int			bits = LB_HLL_BITS_MAX;

	lb_hll_bytes_bits(data, size, &bits);
	lb_hll_init(h, bits, &test_memory);
	fine = lb_hll_merge_bytes(h, data, size) == LB_HLL_OK;
	if (fine)
	{
		p = pack(h);
		MUST(p.size == size && memcmp(p.bytes, data, size) == 0);
		free(p.bytes);
		check_sketch(h);
	}
	return fine;
}

static void
fuzz_bytes(const uint8_t *data, size_t size)
{
	LbHll		h;

	if (load(&h, data, size))
	{
		lb_hll_fold(&h, LB_HLL_BITS_MIN + data[size - 1] % 15);
		check_sketch(&h);
	}
	lb_hll_clear(&h);
}

/* a || b = b || a, from bytes and from working sketches. */
static void
fuzz_pair(const uint8_t *data, size_t size)
{
	size_t		half;
	LbHll		a;
	LbHll		b;
	bool		fine;

	if (size < 2)
		return;
	half = (data[0] | (size_t) data[1] << 8) % size;
	data += 2;
	size -= 2;
	half = half > size ? size : half;
	fine = load(&a, data, half);
	fine = load(&b, data + half, size - half) && fine;
	if (fine)
	{
		LbHll		c;
		Packed		p;
		Packed		q;

		lb_hll_init(&c, LB_HLL_BITS_MAX, &test_memory);
		lb_hll_merge(&c, &b);
		lb_hll_merge(&c, &a);
		MUST(lb_hll_merge_bytes(&a, data + half, size - half) == LB_HLL_OK);
		p = pack(&a);
		q = pack(&c);
		MUST(same(&p, &q));
		check_sketch(&c);
		free(p.bytes);
		free(q.bytes);
		lb_hll_clear(&c);
	}
	lb_hll_clear(&a);
	lb_hll_clear(&b);
}

static void
fuzz_text(const uint8_t *data, size_t size)
{
	char	   *text = checked_malloc(size + 1);
	uint8_t    *bytes = checked_malloc(size / 2 + 1);
	const char *at;
	size_t		length;

	memcpy(text, data, size);
	text[size] = '\0';
	if (lb_hll_parse(text, &at, bytes, &length) == LB_HLL_OK)
	{
		LbHll		h;

		MUST(length * 2 + 2 == strlen(text));
		load(&h, bytes, length);
		lb_hll_clear(&h);
	}
	MUST(at >= text && at <= text + strlen(text));
	free(bytes);
	free(text);
}

static int
by_value(const void *a, const void *b)
{
	uint32_t	x = *(const uint32_t *) a;
	uint32_t	y = *(const uint32_t *) b;

	return x < y ? -1 : x > y;
}

/* Large sketches are rare, to be quick. */
static int
some_bits(uint8_t byte)
{
	return LB_HLL_BITS_MIN + byte % (byte < 240 ? 7 : 15);
}

/* A sketch by the definition: from all hashes, with that many bits. */
static void
check_against_model(LbHll *h, const uint64_t *hashes, size_t n)
{
	uint8_t    *registers = checked_malloc(LB_HLL_REGISTERS(h->bits));
	uint32_t   *marks = checked_malloc((n + 1) * sizeof(uint32_t));
	size_t		places = 0;

	memset(registers, 0, LB_HLL_REGISTERS(h->bits));
	for (size_t i = 0; i < n; i++)
	{
		uint32_t	index = (uint32_t) (hashes[i] >> (64 - h->bits));
		int			rank = 1;

		while (rank <= 64 - h->bits &&
			   (hashes[i] >> (64 - h->bits - rank) & 1) == 0)
			rank++;
		if (rank > registers[index])
			registers[index] = (uint8_t) rank;
		marks[i] = (uint32_t) (hashes[i] >> 32);
	}
	qsort(marks, n, sizeof(uint32_t), by_value);
	for (size_t i = 0; i < n; i++)
		places += i == 0 || marks[i] != marks[i - 1];
	MUST((h->registers != NULL) == (places > LB_HLL_SPARSE_MAX(h->bits)));
	MUST(h->registers != NULL || h->count == places);
	lb_hll_make_dense(h);
	MUST(memcmp(h->registers, registers, LB_HLL_REGISTERS(h->bits)) == 0);
	free(marks);
	free(registers);
}

/*
 * A program on two sketches: a byte of what to do, eight of hash, of which
 * some bits are cleared.
 */
static void
fuzz_program(const uint8_t *data, size_t size)
{
	LbHll		h[2];
	uint64_t   *hashes[2];
	size_t		n[2] = {0, 0};

	if (size < 2)
		return;
	for (int i = 0; i < 2; i++)
	{
		lb_hll_init(&h[i], some_bits(data[i]), &test_memory);
		hashes[i] = checked_malloc(HASHES_MAX * sizeof(uint64_t));
	}
	for (data += 2, size -= 2; size >= 9; data += 9, size -= 9)
	{
		int			which = data[0] & 1;
		uint64_t	hash = load8(data + 1, data + 9);

		if (data[0] & 2)
			hash &= ~UINT64_C(0) << (hash & 63);
		if (data[0] & 4)
			hash = mix(hash);
		switch (data[0] >> 3 & 7)
		{
			case 0:
				if (n[0] + n[1] >= HASHES_MAX)
					break;
				lb_hll_merge(&h[which], &h[1 - which]);
				memcpy(hashes[which] + n[which], hashes[1 - which], n[1 - which] * sizeof(uint64_t));
				n[which] += n[1 - which];
				break;
			case 1:
				lb_hll_fold(&h[which], some_bits(data[1]));
				break;
			default:
				if (n[which] >= HASHES_MAX / 2)
					break;
				/* several at once, so that sketches become dense */
				for (int i = 0; i < 8 && n[which] < HASHES_MAX / 2; i++)
				{
					lb_hll_add_hash(&h[which], hash);
					hashes[which][n[which]++] = hash;
					hash = data[0] & 128 ? mix(hash) : hash + (UINT64_C(1) << 32);
				}
				break;
		}
	}
	for (int i = 0; i < 2; i++)
	{
		check_sketch(&h[i]);
		check_against_model(&h[i], hashes[i], n[i]);
		lb_hll_clear(&h[i]);
		free(hashes[i]);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	switch (data[0] % 8)
	{
		case 0:
		case 1:
		case 2:
			fuzz_bytes(data + 1, size - 1);
			break;
		case 3:
			fuzz_pair(data + 1, size - 1);
			break;
		case 4:
			fuzz_text(data + 1, size - 1);
			break;
		default:
			fuzz_program(data + 1, size - 1);
			break;
	}
	return 0;
}
