/*-------------------------------------------------------------------------
 *
 * topk_cases.c
 *	  Fixed cases: golden bytes, the greatest capacity, ties, refusals.
 *
 * Prints one line, or aborts at what is not so.
 *
 *-------------------------------------------------------------------------
 */
#include "topk_model.h"

/* The sketch that README.md explains byte by byte. */
static const uint8_t golden[] = {
	0x01, 0x00, 0x03, 0x00, 0xbc, 0x05, 0x80, 0x01,
	0x00, 0x08, 'm', 'e', 'm', 'b', 'e', 'r', '-', '1', 0x96, 0x01, 0x00,
	0x08, 0x01, '7', 0x64, 0x64,
	0x07, 0x01, '2', 0x01, 0x80, 0x01
};

static void
add_name(LbTopk *t, const char *name, int64_t weight)
{
	MUST(lb_topk_try_add(t, name, strlen(name), weight) == LB_TOPK_OK);
}

static void
must_say(LbTopk *t, const char *text)
{
	Packed		p = pack_sketch(t);
	uint8_t    *bytes = allocate(strlen(text));
	const char *at = text;
	size_t		size;

	MUST(lb_topk_parse(&at, bytes, &size) == LB_TOPK_OK);
	MUST(p.size == size && memcmp(p.bytes, bytes, size) == 0);
	free(bytes);
	free(p.bytes);
}

static void
golden_bytes(void)
{
	LbTopk		t;
	Packed		p;

	begin_sketch(&t, LB_TOPK_CAPACITY_MAX, 1);
	MUST(lb_topk_try_merge(&t, golden, sizeof(golden)) == LB_TOPK_OK);
	must_say(&t, "{capacity:3,total:700,bound:128,items:"
			 "{\"member-1\":[150,150],\"member-17\":[100,200],\"member-2\":[1,129]}}");
	p = pack_sketch(&t);
	MUST(p.size == sizeof(golden));
	MUST(memcmp(p.bytes, golden, p.size) == 0);
	free(p.bytes);

	/* whatever is cut off is missed */
	for (size_t size = 0; size < sizeof(golden); size++)
	{
		uint8_t    *cut = allocate(size);
		LbTopkReader r;

		memcpy(cut, golden, size);
		MUST(lb_topk_open(&r, cut, size) != LB_TOPK_OK);
		free(cut);
	}
	end_sketch(&t);
}

/* Of those that are alike the first in the order of bytes are kept. */
static void
ties(void)
{
	LbTopk		t;

	begin_sketch(&t, 2, 1);
	for (const char *name = "hdacfgeb"; *name != '\0'; name++)
		MUST(lb_topk_try_add(&t, name, 1, 1) == LB_TOPK_OK);
	must_say(&t, "{capacity:2,total:8,bound:1,items:{\"a\":[1,1],\"b\":[1,1]}}");
	/* to pack is not to forget */
	MUST(t.n == 8 && t.bound == 0);
	/* the ninth is one too many: what went is gone */
	add_name(&t, "i", 1);
	MUST(t.n == 2 && t.bound == 1);
	add_name(&t, "d", 1);
	must_say(&t, "{capacity:2,total:10,bound:1,items:{\"a\":[1,1],\"d\":[1,2]}}");
	end_sketch(&t);
}

/* As many entries as there can be, and the index still finds them all. */
static void
greatest(void)
{
	LbTopk		t;
	LbTopk		other;
	Packed		p;
	Packed		q;
	LbTopkReader r;

	begin_sketch(&t, LB_TOPK_CAPACITY_MAX, 7);
	begin_sketch(&other, LB_TOPK_CAPACITY_MAX, 7);
	for (int id = 2; id < 2 + 4 * LB_TOPK_CAPACITY_MAX; id++)
		add_item(&t, id, id);
	MUST(t.n == 4 * LB_TOPK_CAPACITY_MAX && t.bound == 0);
	for (int id = 50000; id < 50000 + LB_TOPK_CAPACITY_MAX; id++)
		add_item(&other, id, id);
	p = pack_sketch(&other);
	MUST(lb_topk_try_merge(&t, p.bytes, p.size) == LB_TOPK_OK);
	MUST(t.n == LB_TOPK_CAPACITY_MAX);
	q = pack_sketch(&t);
	MUST(lb_topk_open(&r, q.bytes, q.size) == LB_TOPK_OK);
	MUST(r.items == LB_TOPK_CAPACITY_MAX);
	MUST(r.bound == 2 + 4 * LB_TOPK_CAPACITY_MAX - 1);
	while (lb_topk_next(&r))
		MUST(r.low >= 50000 && r.low == r.high);
	free(p.bytes);
	free(q.bytes);
	end_sketch(&t);
	end_sketch(&other);
}

/* What is refused changes nothing. */
static void
refusals(void)
{
	static const char text[] = "{capacity:2,total:9223372036854775807,bound:0,"
		"items:{\"a\":[9223372036854775806,9223372036854775806],\"b\":[1,1]}}";
	char		name[LB_TOPK_ITEM_MAX + 1];
	LbTopk		t;
	Packed		p;

	memset(name, 'x', sizeof(name));
	begin_sketch(&t, 2, 1);
	add_name(&t, "a", INT64_MAX - 1);
	add_name(&t, "b", 1);
	MUST(lb_topk_try_add(&t, "a", 1, 1) == LB_TOPK_OVERFLOW);
	MUST(lb_topk_try_add(&t, "c", 1, INT64_MAX) == LB_TOPK_OVERFLOW);
	MUST(lb_topk_try_add(&t, "a", 1, 0) == LB_TOPK_BAD_WEIGHT);
	MUST(lb_topk_try_add(&t, "a", 1, INT64_MIN) == LB_TOPK_BAD_WEIGHT);
	MUST(lb_topk_try_add(&t, name, sizeof(name), 1) == LB_TOPK_LONG_ITEM);
	p = pack_sketch(&t);
	MUST(lb_topk_try_merge(&t, p.bytes, p.size) == LB_TOPK_OVERFLOW);
	MUST(lb_topk_try_merge(&t, p.bytes, p.size - 1) == LB_TOPK_SHORT);
	must_say(&t, text);
	free(p.bytes);
	end_sketch(&t);
}

int
main(void)
{
	golden_bytes();
	ties();
	greatest();
	refusals();
	printf("topk_cases: fine\n");
	return 0;
}
