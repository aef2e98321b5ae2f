/*-------------------------------------------------------------------------
 *
 * ranktree_page_fuzz.c
 *	  Any bytes as a page: the validator and the searches.
 *
 * What the validator accepts must come out of the encoder again byte for
 * byte.  What merely opens is searched all the same: a wrong answer is
 * allowed, a read outside the body is not.
 *
 *-------------------------------------------------------------------------
 */
#include "../core/memory_store.h"

typedef struct Input
{
	const uint8_t *data;
	int			size;
} Input;

/* Every child is the page itself. */
static const uint8_t *
get_input(void *context, int64_t page_id, int *size)
{
	const Input *input = context;

	(void) page_id;
	*size = input->size;
	return input->data;
}

static void
must_come_back(const uint8_t *body, int size)
{
	LbRankPage	page;
	LbRankRecord *records;
	uint8_t    *bytes;
	uint8_t		again[LB_RANK_PAGE_BUFFER];
	int			heap_at = 0;
	int			i;

	MUST(lb_rank_page_open(&page, body, size) == NULL);
	records = calloc((size_t) page.n, sizeof(LbRankRecord));
	bytes = malloc((size_t) page.n * LB_RANK_MEMBER_MAX);
	for (i = 0; i < page.n; i++)
	{
		LbRankEntry entry;
		LbRankRecord *record = &records[i];

		record->at = (uint32_t) i * LB_RANK_MEMBER_MAX;
		heap_at = lb_rank_page_entry(&page, i, heap_at, bytes + record->at,
									 &entry);
		if (page.level > 0)
			lb_rank_page_child_record(&page, i, record);
		else
			record->count = 1;
		record->rank_key = entry.rank_key;
		record->reached_at = entry.reached_at;
		record->member_len = (uint8_t) entry.member_len;
	}
	MUST(lb_rank_page_encode(again, page.level, records, page.n, bytes) ==
		 size);
	MUST(memcmp(again, body, (size_t) size) == 0);
	free(records);
	free(bytes);
}

static void
search(LbRankStore *store, const uint8_t *body, int size)
{
	LbRankCursor cursor;
	LbRankEntry entry;
	LbRankPlace place;
	LbRankValue value;
	LbRankTotals totals;
	int			i;
	int64_t		key = 0;

	if (size >= 16)
		memcpy(&key, body + 8, sizeof(key));
	(void) lb_ranktree_totals(store, 1, &totals);
	(void) lb_ranktree_value(store, 1, key, &value);
	(void) lb_ranktree_value(store, 1, INT64_MAX, &value);
	for (i = 0; i < 3; i++)
	{
		if (lb_ranktree_seek(store, 1, i == 0 ? 0 : i == 1 ? 3 : INT64_MAX,
							 &cursor) == LB_RANK_OK)
		{
			int			steps = 0;

			while (steps++ < 50 &&
				   lb_ranktree_next(&cursor, &entry) == LB_RANK_OK)
				(void) lb_ranktree_find(store, 1, &entry, &place);
			while (steps++ < 150 &&
				   lb_ranktree_previous(&cursor, &entry) == LB_RANK_OK)
				(void) lb_ranktree_find(store, 1, &entry, &place);
		}
	}
}

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input		input = {data, (int) size};
	LbRankStore store;

	memset(&store, 0, sizeof(store));
	store.context = &input;
	store.get = get_input;
	if (lb_rank_page_problem(data, (int) size) == NULL)
		must_come_back(data, (int) size);
	search(&store, data, (int) size);
	return 0;
}
