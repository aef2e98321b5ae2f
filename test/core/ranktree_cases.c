/*-------------------------------------------------------------------------
 *
 * ranktree_cases.c
 *	  Fixed cases: golden bytes, extremes, ties by the million, refusals.
 *
 * Prints one line, or aborts at what is not so.
 *
 *-------------------------------------------------------------------------
 */
#include "memory_store.h"

/* The two pages that README.md explains byte by byte. */
static const uint8_t golden_leaf[] = {
	0x01, 0x00, 0x00, 0x02, 0x03, 0x00, 0x22, 0x00,
	0x7b, 0xfc, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	0xe8, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x8a, 0x02,
	0x00, 0x00, 0xe8, 0x03, 0xf4, 0x01,
	0x05, 0x03, 0x01,
	0x75, 0x2d,
	0x61, 0x6c, 0x69, 0x63, 0x65, 0x62, 0x6f, 0x62, 0x63
};
static const uint8_t golden_inner[] = {
	0x01, 0x00, 0x01, 0x00, 0x03, 0x00, 0x12, 0x00,
	0x7b, 0xfc, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	0xd0, 0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x28, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x11, 0x01,
	0x00, 0x00, 0x00, 0x00, 0x8a, 0x02,
	0x01, 0x00,
	0x01, 0x00, 0x02,
	0x64, 0xc8, 0xfa,
	0x01, 0x01, 0x29,
	0x02, 0x00,
	0x75, 0x2d
};

typedef struct Line
{
	int64_t		rank_key;
	int64_t		reached_at;
	const char *member;
} Line;

static void
show(const char *what, const uint8_t *body, int size)
{
	int			i;

	fprintf(stderr, "%s, %d bytes:", what, size);
	for (i = 0; i < size; i++)
		fprintf(stderr, "%s0x%02x,", i % 8 ? " " : "\n", body[i]);
	fprintf(stderr, "\n");
}

static void
must_encode(const char *what, int level, const Line *lines,
			LbRankRecord *records, int n, const uint8_t *golden, size_t size)
{
	uint8_t		bytes[256];
	uint8_t		body[LB_RANK_PAGE_BUFFER];
	uint32_t	at = 0;
	int			got;
	int			i;

	for (i = 0; i < n; i++)
	{
		size_t		len = strlen(lines[i].member);

		records[i].rank_key = lines[i].rank_key;
		records[i].reached_at = lines[i].reached_at;
		records[i].at = at;
		records[i].member_len = (uint8_t) len;
		memcpy(bytes + at, lines[i].member, len);
		at += (uint32_t) len;
	}
	got = lb_rank_page_encode(body, level, records, n, bytes);
	if (got != (int) size || memcmp(body, golden, size) != 0)
		show(what, body, got);
	MUST(got == (int) size && memcmp(body, golden, size) == 0);
	MUST(lb_rank_page_problem(golden, (int) size) == NULL);
}

static void
test_golden(void)
{
	static const Line entries[] = {
		{~INT64_C(900), 1000, "u-alice"},
		{~INT64_C(900), 2000, "u-bob"},
		{~INT64_C(250), 1500, "u-c"},
	};
	static const Line children[] = {
		{~INT64_C(900), INT64_MIN, ""},
		{~INT64_C(900), 2000, "u-"},
		{~INT64_C(250), INT64_MIN, ""},
	};
	LbRankRecord leaf[3];
	LbRankRecord inner[3];

	memset(leaf, 0, sizeof(leaf));
	memset(inner, 0, sizeof(inner));
	inner[0].child = 41;
	inner[0].count = 100;
	inner[0].distinct = 1;
	inner[1].child = 40;
	inner[1].count = 100;
	inner[1].distinct = 1;
	inner[2].child = 42;
	inner[2].count = 50;
	inner[2].distinct = 40;
	must_encode("leaf", 0, entries, leaf, 3, golden_leaf,
				sizeof(golden_leaf));
	must_encode("inner", 1, children, inner, 3, golden_inner,
				sizeof(golden_inner));
}

/* No single changed byte, and no cut, is both accepted and read wild. */
static void
test_damage(void)
{
	uint8_t		body[sizeof(golden_inner)];
	LbRankPage	page;
	int			accepted = 0;
	size_t		i;
	int			byte;

	for (i = 0; i < sizeof(golden_inner); i++)
	{
		MUST(lb_rank_page_problem(golden_inner, (int) i) != NULL);
		for (byte = 0; byte < 256; byte++)
		{
			memcpy(body, golden_inner, sizeof(body));
			body[i] = (uint8_t) byte;
			if (i < 4 && byte != golden_inner[i] &&
				!(i == 2 && byte > 0 && byte <= LB_RANK_LEVEL_MAX))
				MUST(lb_rank_page_problem(body, (int) sizeof(body)) != NULL);
			accepted += lb_rank_page_problem(body, (int) sizeof(body)) == NULL;
		}
	}
	MUST(accepted > (int) sizeof(golden_inner));	/* other values, e.g. */
	MUST(lb_rank_page_problem(golden_leaf, -1) != NULL);
	MUST(lb_rank_page_open(&page, golden_leaf, LB_PAGE_MAX + 1) != NULL);
}

/* Entries made up from their number. */
typedef struct Series
{
	int64_t		n;
	int64_t		next;
	int64_t		step;			/* of the rank_key, per entry */
	int64_t		time_step;
	int			len;
	bool		remove;
	uint8_t		member[LB_RANK_MEMBER_MAX];
} Series;

static void
make_entry(Series *series, int64_t i, LbRankEntry *entry)
{
	int			digit;
	int64_t		rest = i;

	memset(series->member, 'z', sizeof(series->member));
	for (digit = 1; digit <= 8; digit++, rest /= 10)
		series->member[series->len - digit] = (uint8_t) ('0' + rest % 10);
	entry->rank_key = (int64_t) ((uint64_t) i * (uint64_t) series->step);
	entry->reached_at = i * series->time_step;
	entry->member = series->member;
	entry->member_len = series->len;
}

static LbRankStatus
next_of_series(void *source, LbRankEntry *entry)
{
	Series	   *series = source;

	if (series->next == series->n)
		return LB_RANK_DONE;
	make_entry(series, series->next++, entry);
	return LB_RANK_OK;
}

static LbRankStatus
next_move(void *source, LbRankMove *move)
{
	move->remove = ((Series *) source)->remove;
	return next_of_series(source, &move->entry);
}

static void
must_be_at(LbRankStore *store, int64_t root, Series *series, int64_t i)
{
	LbRankEntry entry;
	LbRankEntry there;
	LbRankPlace place;
	LbRankValue value;
	LbRankCursor cursor;
	int64_t		better = series->step == 0 ? 0 : i;

	make_entry(series, i, &entry);
	MUST(lb_ranktree_find(store, root, &entry, &place) == LB_RANK_OK);
	MUST(place.found && place.ahead == i && place.better == better &&
		 place.distinct_better == better);
	MUST(lb_ranktree_value(store, root, entry.rank_key, &value) ==
		 LB_RANK_OK);
	MUST(value.better == better && value.distinct_better == better &&
		 value.not_worse == (series->step == 0 ? series->n : i + 1));
	MUST(lb_ranktree_seek(store, root, i, &cursor) == LB_RANK_OK);
	MUST(lb_ranktree_next(&cursor, &there) == LB_RANK_OK);
	MUST(lb_rank_entry_compare(&entry, &there) == 0);
}

/* Builds a series, asks, takes it down to nothing. */
static void
test_series(int64_t n, int64_t step, int64_t time_step, int len)
{
	Series		series = {n, 0, step, time_step, len, false, {0}};
	MemoryStore memory;
	LbRankTotals totals;
	int64_t		root;
	int64_t		i;

	memory_start(&memory);
	MUST(lb_ranktree_build(&memory.store, LB_RANK_FILL_DEFAULT,
						   next_of_series, &series, &root) == LB_RANK_OK);
	memory_check(&memory, root, true, &totals);
	MUST(totals.entries == n);
	MUST(totals.distinct == (step == 0 ? n > 0 : n));
	for (i = 0; i < n; i += 1 + n / 5000)
		must_be_at(&memory.store, root, &series, i);
	if (n > 0)
		must_be_at(&memory.store, root, &series, n - 1);

	memory.batch++;
	series.next = 0;
	series.remove = true;
	MUST(lb_ranktree_apply(&memory.store, root, LB_RANK_FILL_DEFAULT,
						   next_move, &series, &root) == LB_RANK_OK);
	MUST(root == 0);
	MUST(memory.live == 0);
	memory_end(&memory);
}

static void
test_empty(void)
{
	Series		none = {0, 0, 0, 0, 8, false, {0}};
	Series		one = {1, 0, 1, 0, 8, false, {0}};
	MemoryStore memory;
	LbRankEntry entry;
	LbRankPlace place;
	LbRankValue value;
	LbRankTotals totals;
	LbRankCursor cursor;
	int64_t		root;
	int64_t		same;

	memory_start(&memory);
	MUST(lb_ranktree_build(&memory.store, 88, next_of_series, &none, &root) ==
		 LB_RANK_OK && root == 0);
	MUST(lb_ranktree_apply(&memory.store, 0, 88, next_move, &none, &root) ==
		 LB_RANK_OK && root == 0);
	make_entry(&one, 0, &entry);
	MUST(lb_ranktree_find(&memory.store, 0, &entry, &place) == LB_RANK_OK &&
		 !place.found && place.ahead == 0);
	MUST(lb_ranktree_value(&memory.store, 0, 5, &value) == LB_RANK_OK &&
		 value.not_worse == 0);
	MUST(lb_ranktree_totals(&memory.store, 0, &totals) == LB_RANK_OK &&
		 totals.entries == 0);
	MUST(lb_ranktree_seek(&memory.store, 0, 7, &cursor) == LB_RANK_OK);
	MUST(lb_ranktree_next(&cursor, &entry) == LB_RANK_DONE);
	MUST(lb_ranktree_previous(&cursor, &entry) == LB_RANK_DONE);

	/* an empty batch writes nothing and keeps the root */
	MUST(lb_ranktree_apply(&memory.store, 0, 88, next_move, &one, &root) ==
		 LB_RANK_OK && root == 1);
	MUST(lb_ranktree_apply(&memory.store, root, 88, next_move, &none, &same)
		 == LB_RANK_OK && same == root && memory.puts == 1);
	MUST(lb_ranktree_apply(&memory.store, root, 49, next_move, &none, &same)
		 == LB_RANK_BAD_INPUT);
	memory_end(&memory);
}

/* Separators are as short as can be. */
static void
test_separate(void)
{
	const uint8_t *alice = (const uint8_t *) "alice";
	const uint8_t *alina = (const uint8_t *) "alina";
	LbRankEntry left = {5, 7, alice, 5};
	LbRankEntry right = {5, 7, alina, 5};
	LbRankEntry separator;

	lb_rank_entry_separate(&left, &right, &separator);
	MUST(separator.rank_key == 5 && separator.reached_at == 7 &&
		 separator.member_len == 4 && separator.member == alina);
	left.member = alina;
	left.member_len = 3;		/* a prefix of the other */
	lb_rank_entry_separate(&left, &right, &separator);
	MUST(separator.member_len == 4);
	right.reached_at = 8;
	lb_rank_entry_separate(&left, &right, &separator);
	MUST(separator.reached_at == 8 && separator.member_len == 0);
	right.rank_key = 6;
	lb_rank_entry_separate(&left, &right, &separator);
	MUST(separator.rank_key == 6 && separator.reached_at == INT64_MIN &&
		 separator.member_len == 0);
}

/* Entries taken out one a batch, all but one in twenty: no page stays low. */
static void
test_thinning(void)
{
	enum
	{
		N = 8000
	};
	Series		series = {N, 0, 1000, 0, 40, false, {0}};
	MemoryStore memory;
	LbRankTotals totals;
	int64_t		root;
	int64_t		i;

	memory_start(&memory);
	MUST(lb_ranktree_build(&memory.store, LB_RANK_FILL_DEFAULT,
						   next_of_series, &series, &root) == LB_RANK_OK);
	series.remove = true;
	for (i = 0; i < N; i++)
	{
		int64_t		which = i * 3001 % N;	/* each once, in a mixed order */

		if (which % 20 == 0)
			continue;
		memory.batch++;
		series.next = which;
		series.n = which + 1;
		MUST(lb_ranktree_apply(&memory.store, root, LB_RANK_FILL_DEFAULT,
							   next_move, &series, &root) == LB_RANK_OK);
		memory_collect(&memory, memory.batch);
		if (i % 100 == 0)
		{
			memory_check(&memory, root, true, &totals);
			MUST(memory.low == 0);
		}
	}
	memory_check(&memory, root, true, &totals);
	MUST(totals.entries == N / 20 && memory.low == 0);
	memory_end(&memory);
}

/* The worst separators: how many children are left to an inner page? */
static void
test_fanout(void)
{
	LbRankMeasure measure;
	uint8_t		first[LB_RANK_MEMBER_MAX];
	uint8_t		member[LB_RANK_MEMBER_MAX];
	LbRankEntry entry = {INT64_MIN, INT64_MAX, first, LB_RANK_MEMBER_MAX};
	int			leaf = 0;
	int			inner = 0;

	memset(first, 'a', sizeof(first));
	memset(member, 'b', sizeof(member));
	lb_rank_measure_start(&measure, 0);
	while (lb_rank_measure_add(&measure, &entry, 0, 1, 0) <= LB_PAGE_MAX)
	{
		entry.rank_key = INT64_MAX;
		entry.reached_at = -entry.reached_at;
		entry.member = member;
		entry.member_len = LB_RANK_MEMBER_MAX - leaf % 2;
		leaf++;
	}
	entry.rank_key = INT64_MIN;
	lb_rank_measure_start(&measure, 1);
	while (lb_rank_measure_add(&measure, &entry,
							   inner % 2 ? INT64_MAX : 1,
							   INT64_C(1) << 48, 1 + (INT64_C(1) << 47)) <=
		   LB_PAGE_MAX)
	{
		entry.rank_key = INT64_MAX;
		entry.member = inner % 2 ? first : member;
		entry.member_len = LB_RANK_MEMBER_MAX - inner % 2;
		entry.reached_at = inner % 2 ? INT64_MIN + 1 : INT64_MAX;
		inner++;
	}
	MUST(leaf >= 8 && inner >= 8);
}

int
main(void)
{
	test_golden();
	test_damage();
	test_empty();
	test_fanout();
	test_separate();
	test_thinning();
	test_series(0, 1, 1, 8);
	test_series(1, 1, 1, 8);
	test_series(100000, 1, 0, 14);
	test_series(100000, INT64_C(92000000000000), 1, 200);
	test_series(1000000, 0, 0, 8);	/* one value, one time */
	test_series(1000000, 0, 1, 36); /* one value */
	test_series(20000, 0, 0, 200);
	printf("ranktree: golden bytes, damage, extremes, ties: as expected\n");
	return 0;
}
