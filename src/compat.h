/*-------------------------------------------------------------------------
 *
 * compat.h
 *	  Every difference between the supported versions of PostgreSQL, and
 *	  the only place that looks at PG_VERSION_NUM.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LB_COMPAT_H
#define LB_COMPAT_H

#if PG_VERSION_NUM < 150000
#error "leaderboard needs PostgreSQL 15 or later"
#endif

/* A result set that is materialised; renamed in 16, and 15 has both names. */
#if PG_VERSION_NUM >= 160000
#define lb_materialize(fcinfo)	InitMaterializedSRF((fcinfo), 0)
#define lb_materialize_scalars(fcinfo) \
	InitMaterializedSRF((fcinfo), MAT_SRF_USE_EXPECTED_DESC)
#else
#define lb_materialize(fcinfo)	SetSingleFuncCall((fcinfo), 0)
#define lb_materialize_scalars(fcinfo) \
	SetSingleFuncCall((fcinfo), SRF_SINGLE_USE_EXPECTED)
#endif

/* Where a relation's file is; renamed in 16. */
#if PG_VERSION_NUM >= 160000
#define LbFile					RelFileLocator
#define lb_file_of(rel)			((rel)->rd_locator)
#else
#define LbFile					RelFileNode
#define lb_file_of(rel)			((rel)->rd_node)
#endif

/* 18 added instrumentation to index scans. */
#if PG_VERSION_NUM >= 180000
#define lb_index_beginscan(heap, index, snapshot, nkeys) \
	index_beginscan((heap), (index), (snapshot), NULL, (nkeys), 0)
#else
#define lb_index_beginscan(heap, index, snapshot, nkeys) \
	index_beginscan((heap), (index), (snapshot), (nkeys), 0)
#endif

/*
 * 16 tells an update that changed no indexed column from one that changed
 * only columns of summarizing indexes, of which the extension has none.
 */
#if PG_VERSION_NUM >= 160000
#define LbUpdateIndexes			TU_UpdateIndexes
#define lb_must_update_indexes(indexes)	((indexes) == TU_All)
#define lb_insert_index_tuples(result, slot, estate) \
	ExecInsertIndexTuples((result), (slot), (estate), false, false, NULL, NIL, false)
#else
#define LbUpdateIndexes			bool
#define lb_must_update_indexes(indexes)	(indexes)
#define lb_insert_index_tuples(result, slot, estate) \
	ExecInsertIndexTuples((result), (slot), (estate), false, false, NULL, NIL)
#endif

/* Stands first in a declaration: 18 has only the word that C11 brought. */
#if PG_VERSION_NUM >= 180000
#define lb_noreturn				pg_noreturn
#else
#define lb_noreturn				pg_attribute_noreturn()
#endif

/* 18 asks whether a deferrable key will do. */
#if PG_VERSION_NUM >= 180000
#define lb_primary_key(rel)		RelationGetPrimaryKeyIndex((rel), false)
#else
#define lb_primary_key(rel)		RelationGetPrimaryKeyIndex(rel)
#endif

#endif							/* LB_COMPAT_H */
