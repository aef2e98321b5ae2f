/*-------------------------------------------------------------------------
 *
 * ranktree_corpus.c
 *	  Writes sound pages and trees for the ranktree's harnesses to start from.
 *
 * usage: ranktree_corpus FOLDER_OF_PAGES FOLDER_OF_TREES
 *
 * It wrote what is in the corpus; after a change of the page's format:
 * gcc -Isrc -o /tmp/ranktree_corpus test/fuzz/ranktree_corpus.c && cd
 * test/fuzz/corpus && /tmp/ranktree_corpus ranktree_page ranktree_tree
 *
 *-------------------------------------------------------------------------
 */
#include "../core/model.h"

static void
write_file(const char *folder, const char *name, int number,
		   MemoryStore *memory, int64_t first, int64_t last, bool lengths)
{
	char		path[1024];
	FILE	   *file;
	int64_t		id;

	snprintf(path, sizeof(path), "%s/%s-%d", folder, name, number);
	file = fopen(path, "wb");
	MUST(file != NULL);
	for (id = first; id <= last; id++)
	{
		MemoryPage *page = &memory->pages[id];

		if (lengths)
		{
			fputc(page->size & 255, file);
			fputc(page->size >> 8, file);
		}
		fwrite(page->body, 1, (size_t) page->size, file);
	}
	fclose(file);
}

int
main(int argc, char **argv)
{
	int			shape;

	MUST(argc == 3);
	for (shape = 0; shape < 48; shape += 3)
	{
		int			n = shape % 4 == 0 ? 5 : shape % 4 == 1 ? 60 : 250;
		ModelMove  *moves = calloc((size_t) n, sizeof(ModelMove));
		MoveSource	source = {moves, n, 0, {0, 0, 0, {0}}};
		MemoryStore memory;
		int64_t		root;
		int			i;

		for (i = 0; i < n; i++)
		{
			ModelEntry *entry = &moves[i].entry;
			char		text[32];

			entry->rank_key = shape & 4 ? i / 100 : (int64_t) i * 77777 - 99;
			entry->reached_at = shape & 8 ? i / 10 : 0;
			entry->len = shape & 16 ? LB_RANK_MEMBER_MAX : 8;
			memset(entry->member, 'p', sizeof(entry->member));
			snprintf(text, sizeof(text), "%05d", i);
			memcpy(entry->member + entry->len - 5, text, 5);
			if (shape >= 32 && i % 3 == 0)
				entry->member[0] = (uint8_t) ('a' + i % 7);
		}
		qsort(moves, (size_t) n, sizeof(ModelMove), move_compare);
		memory_start(&memory);
		MUST(lb_ranktree_build(&memory.store, 80, next_entry, &source,
							   &root) == LB_RANK_OK);
		MUST(root == memory.next_id - 1);
		write_file(argv[1], "leaf", shape, &memory, 1, 1, false);
		write_file(argv[1], "root", shape, &memory, root, root, false);
		write_file(argv[2], "tree", shape, &memory, 1, root, true);
		memory_end(&memory);
		free(moves);
	}
	return 0;
}
