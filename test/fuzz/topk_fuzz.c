/*-------------------------------------------------------------------------
 *
 * topk_fuzz.c
 *	  Fuzzes the pure part of lb_topk.
 *
 * The first byte of an input chooses what the rest is: stored bytes, text,
 * two sketches to merge, or a program of additions and merges that is also
 * run on a model that knows every item's true weight.
 *
 *-------------------------------------------------------------------------
 */
#define REPLAY_MUTATIONS 25000

#include "../core/topk_model.h"

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must hold of any stored sketch that is accepted. */
static void
check_bytes(const uint8_t *data, size_t size)
{
	LbTopkReader r;
	LbTopk		t;
	Packed		again;
	int64_t		highs = 0;
	int32_t		items = 0;
	char		previous[LB_TOPK_ITEM_MAX];
	size_t		previous_length = 0;

	MUST(lb_topk_open(&r, data, size) == LB_TOPK_OK);
	MUST(r.capacity >= LB_TOPK_CAPACITY_MIN);
	MUST(r.capacity <= LB_TOPK_CAPACITY_MAX);
	MUST(r.bound >= 0 && r.bound <= r.total / (r.capacity + 1));
	while (lb_topk_next(&r))
	{
		MUST(1 <= r.low && r.low <= r.high && r.bound <= r.high);
		MUST(r.high - r.low <= r.bound);
		MUST(items == 0 || lb_topk_compare(previous, previous_length,
										   r.item, r.length) < 0);
		memcpy(previous, r.item, r.length);
		previous_length = r.length;
		highs += r.high;
		items++;
	}
	MUST(items == r.items && items <= r.capacity);
	MUST(highs <= r.total - r.bound);
	if (r.bound == 0)
		MUST(highs == r.total);
	else
		MUST(items == r.capacity);

	/* loaded and packed again it is the same */
	begin_sketch(&t, LB_TOPK_CAPACITY_MAX, size);
	MUST(lb_topk_try_merge(&t, data, size) == LB_TOPK_OK);
	again = pack_sketch(&t);
	MUST(again.size == size && memcmp(again.bytes, data, size) == 0);
	free(again.bytes);
	end_sketch(&t);
}

static void
fuzz_bytes(const uint8_t *data, size_t size)
{
	LbTopkReader r;

	if (lb_topk_open(&r, data, size) == LB_TOPK_OK)
		check_bytes(data, size);
}

static void
fuzz_text(const uint8_t *data, size_t size)
{
	char	   *text = allocate(size + 1);
	const char *at = text;
	uint8_t    *bytes;
	size_t		written;

	memcpy(text, data, size);
	text[size] = '\0';
	/* as many bytes as the text has are promised to do */
	bytes = allocate(strlen(text));
	if (lb_topk_parse(&at, bytes, &written) == LB_TOPK_OK)
	{
		MUST(written <= strlen(text));
		check_bytes(bytes, written);
	}
	MUST(at >= text && at <= text + strlen(text));
	free(bytes);
	free(text);
}

/* The first byte says where the second sketch begins. */
static void
fuzz_merge(const uint8_t *data, size_t size)
{
	LbTopk		t[2];
	Packed		p[2];
	LbTopkStatus status[2];
	size_t		cut;

	if (size == 0 || data[0] > size - 1)
		return;
	cut = data[0];
	data++;
	size--;
	for (int i = 0; i < 2; i++)
	{
		const uint8_t *bytes[2] = {data, data + cut};
		size_t		sizes[2] = {cut, size - cut};

		begin_sketch(&t[i], LB_TOPK_CAPACITY_MAX, (uint64_t) i);
		status[i] = lb_topk_try_merge(&t[i], bytes[i], sizes[i]);
		if (status[i] == LB_TOPK_OK)
			status[i] = lb_topk_try_merge(&t[i], bytes[1 - i], sizes[1 - i]);
		p[i] = pack_sketch(&t[i]);
		check_bytes(p[i].bytes, p[i].size);
	}
	MUST((status[0] == LB_TOPK_OK) == (status[1] == LB_TOPK_OK));
	if (status[0] == LB_TOPK_OK)
		MUST(same_packed(p[0], p[1]));
	for (int i = 0; i < 2; i++)
	{
		free(p[i].bytes);
		end_sketch(&t[i]);
	}
}

/*
 * A program for two sketches over the first 256 items: a byte of what to do,
 * a byte of which item, a byte of weight.
 */
static void
fuzz_program(const uint8_t *data, size_t size)
{
	LbTopk		t[2];
	int64_t		weights[2][256];
	Truth		truth[2];

	if (size < 2)
		return;
	memset(weights, 0, sizeof(weights));
	for (int i = 0; i < 2; i++)
	{
		begin_sketch(&t[i], 1 + data[i] % 40, size);
		truth[i].n = 256;
		truth[i].weights = weights[i];
		truth[i].total = 0;
	}
	for (data += 2, size -= 2; size >= 3; data += 3, size -= 3)
	{
		int			which = data[0] & 1;
		int64_t		weight = data[2];
		char		name[LB_TOPK_ITEM_MAX + 1];
		size_t		length = item_name(data[1], name);
		LbTopkStatus status;

		if (data[0] & 2)
			weight = (int64_t) ((uint64_t) weight << (data[0] >> 2));
		if ((data[0] & 0xfc) == 0xfc)
		{
			Packed		p = pack_sketch(&t[1 - which]);

			status = lb_topk_try_merge(&t[which], p.bytes, p.size);
			free(p.bytes);
			MUST((status == LB_TOPK_OK) ==
				 (truth[1 - which].total <= INT64_MAX - truth[which].total));
			if (status != LB_TOPK_OK)
				continue;
			for (int id = 0; id < 256; id++)
				weights[which][id] += weights[1 - which][id];
			truth[which].total += truth[1 - which].total;
			continue;
		}
		status = lb_topk_try_add(&t[which], name, length, weight);
		MUST((status == LB_TOPK_BAD_WEIGHT) == (weight <= 0));
		MUST((status == LB_TOPK_OVERFLOW) ==
			 (weight > 0 && weight > INT64_MAX - truth[which].total));
		if (status != LB_TOPK_OK)
			continue;
		weights[which][data[1]] += weight;
		truth[which].total += weight;
	}
	for (int i = 0; i < 2; i++)
	{
		Packed		p = pack_sketch(&t[i]);

		check_promises(p, &truth[i]);
		check_tail_bound(p, &truth[i]);
		check_bytes(p.bytes, p.size);
		free(p.bytes);
		end_sketch(&t[i]);
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
		case 4:
			fuzz_text(data + 1, size - 1);
			break;
		case 5:
			fuzz_merge(data + 1, size - 1);
			break;
		default:
			fuzz_program(data + 1, size - 1);
			break;
	}
	return 0;
}
