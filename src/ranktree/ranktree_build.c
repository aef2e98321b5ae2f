/*-------------------------------------------------------------------------
 *
 * ranktree_build.c
 *	  Building a whole tree from a sorted stream.
 *
 * The memory used is a few pages a level, whatever the number of entries.
 *
 *-------------------------------------------------------------------------
 */
#include "ranktree_pack.h"

/* Feeds the packer until the source is done. */
static LbRankStatus
pack_all(LbRankPacker *packer, LbRankNextEntry next, void *source)
{
	LbRankStore *store = packer->store;

	for (;;)
	{
		LbRankRun  *leaves = &packer->run[0];
		LbRankEntry entry;
		LbRankStatus status = next(source, &entry);

		if (status == LB_RANK_DONE)
			return LB_RANK_OK;
		if (status != LB_RANK_OK)
			return status;
		if (entry.member_len < 1 || entry.member_len > LB_RANK_MEMBER_MAX)
			return lb_rank_fail(store, LB_RANK_BAD_INPUT,
								"member has an impossible length", 0);
		if (leaves->n > 0)
		{
			LbRankEntry last =
				lb_rank_record_entry(&leaves->records[leaves->n - 1],
									 leaves->bytes);

			if (lb_rank_entry_compare(&last, &entry) >= 0)
				return lb_rank_fail(store, LB_RANK_BAD_INPUT,
									"entries are out of order", 0);
		}
		status = lb_rank_pack_entry(packer, &entry, NULL);
		if (status != LB_RANK_OK)
			return status;
	}
}

/*
 * Builds a tree of the entries that `next` gives in strict board order, its
 * pages filled to `fill` percent.  After any other status than LB_RANK_OK
 * the pages put so far belong to nothing; roll them back.
 */
LbRankStatus
lb_ranktree_build(LbRankStore *store, int fill, LbRankNextEntry next,
				  void *source, int64_t *new_root)
{
	LbRankPacker *packer;
	LbRankStatus status = lb_rank_packer_create(store, fill, &packer);

	*new_root = 0;
	if (status != LB_RANK_OK)
		return status;
	status = pack_all(packer, next, source);
	if (status == LB_RANK_OK)
		status = lb_rank_pack_finish(packer, new_root);
	lb_rank_packer_free(packer);
	return status;
}
