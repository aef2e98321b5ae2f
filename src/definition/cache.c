/*-------------------------------------------------------------------------
 *
 * cache.c
 *	  Definitions by name, in this backend's memory.
 *
 * A change of a definition sends a relation cache invalidation, which reaches
 * every backend and, through replay, every backend of a standby; all that is
 * cached is then forgotten.  What is not cached is read with the latest
 * snapshot: the invalidation that tells of a definition arrives once, and a
 * transaction whose own snapshot is older must not keep what it saw before.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "commands/trigger.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "definition/cache.h"
#include "definition/gate.h"

PG_FUNCTION_INFO_V1(lb_definition_changed);

/* "b" or "c", the tenant, "/" and the name. */
#define KEY_SIZE	(2 * LB_TEXT_MAX + 3)

typedef struct Cached
{
	char		key[KEY_SIZE];
	union
	{
		LbBoard		board;
		LbCounter	counter;
	}			definition;
} Cached;

static HTAB *cached;
static bool is_valid;
static uint64 generation = 1;

/* lb.tenant, lb.counter, lb.counter_version, lb.board */
static Oid	watched[4];

static void
forget_definitions(pg_attribute_unused() Datum arg, Oid relid)
{
	for (int i = 0; i < (int) lengthof(watched); i++)
		if (relid == InvalidOid || relid == watched[i])
		{
			is_valid = false;
			generation++;
			return;
		}
}

uint64
lb_definitions_generation(void)
{
	return generation;
}

static void
start_cache(void)
{
	static const char *const tables[] = {"tenant", "counter", "counter_version", "board"};
	static bool registered = false;
	HASHCTL		ctl = {
		.keysize = KEY_SIZE,
		.entrysize = sizeof(Cached),
		.hcxt = CacheMemoryContext
	};

	if (!registered)
	{
		CacheRegisterRelcacheCallback(forget_definitions, (Datum) 0);
		registered = true;
	}
	if (cached != NULL)
		hash_destroy(cached);
	cached = NULL;
	for (int i = 0; i < (int) lengthof(watched); i++)
		watched[i] = lb_relation_oid(tables[i]);
	cached = hash_create("leaderboard definitions", 64, &ctl,
						 HASH_ELEM | HASH_STRINGS | HASH_CONTEXT);
	is_valid = true;
}

/* What is cached under the name; a name that is none makes an error. */
static Cached *
find_cached(char kind, const char *what, const char *name, char *key)
{
	LbName		parsed = lb_parse_name(name, what);

	memset(key, 0, KEY_SIZE);
	snprintf(key, KEY_SIZE, "%c%s/%s", kind, parsed.tenant, parsed.name);
	if (!is_valid)
		start_cache();
	return hash_search(cached, key, HASH_FIND, NULL);
}

/*
 * In parallel mode no snapshot may be taken.  What is read with the query's is
 * kept by a worker, which ends with the query, and not by its leader.
 */
static void
begin_reading(LbGate *gate)
{
	lb_gate_enter(gate);
	PushActiveSnapshot(IsInParallelMode() ? GetActiveSnapshot() : GetLatestSnapshot());
	lb_spi_connect();
}

static void
end_reading(LbGate *gate)
{
	lb_spi_finish();
	PopActiveSnapshot();
	lb_gate_leave(gate);
}

/* Keep what was read, unless an invalidation came in while it was. */
static Cached *
keep(const char *key, uint64 read_at)
{
	static Cached uncached;
	bool		found;

	if (!is_valid || read_at != generation ||
		(IsInParallelMode() && !IsParallelWorker()))
		return &uncached;
	return hash_search(cached, key, HASH_ENTER, &found);
}

/* The board of that name, or 42704; good until the next look-up. */
const LbBoard *
lb_cached_board(const char *name)
{
	char		key[KEY_SIZE];
	Cached	   *entry = find_cached('b', "board", name, key);
	uint64		read_at = generation;
	LbBoard		board;
	LbGate		gate;

	if (entry != NULL)
		return &entry->definition.board;
	begin_reading(&gate);
	lb_get_board(name, &board);
	end_reading(&gate);
	entry = keep(key, read_at);
	entry->definition.board = board;
	return &entry->definition.board;
}

/* The counter of that name, live or retired, or 42704. */
const LbCounter *
lb_cached_counter(const char *name)
{
	char		key[KEY_SIZE];
	Cached	   *entry = find_cached('c', "counter", name, key);
	uint64		read_at = generation;
	LbCounter	counter;
	LbGate		gate;

	if (entry != NULL)
		return &entry->definition.counter;
	begin_reading(&gate);
	lb_get_counter(name, &counter);
	end_reading(&gate);
	entry = keep(key, read_at);
	entry->definition.counter = counter;
	return &entry->definition.counter;
}

/* A statement trigger on every table of definitions. */
Datum
lb_definition_changed(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo))
		elog(ERROR, "lb_definition_changed was not called by a trigger");
	CacheInvalidateRelcache(trigger->tg_relation);
	return PointerGetDatum(NULL);
}
