# leaderboard - a PGXS extension.  `make help` lists what else it can do.

EXTENSION = leaderboard
MODULE_big = leaderboard
DATA = leaderboard--1.0.sql

# The parts of the install script, in the order in which they are joined.
SQL_PARTS = \
	src/prelude.sql \
	src/histogram/histogram.sql \
	src/topk/topk.sql \
	src/hll/hll.sql \
	src/definition/tables.sql \
	src/definition/definition.sql \
	src/scope/tables.sql \
	src/log/log.sql \
	src/ranktree/ranktree.sql \
	src/projection/projection.sql \
	src/projection/cost.sql \
	src/scope/scope.sql \
	src/read/read.sql \
	src/read/asking.sql \
	src/maintenance/maintenance.sql \
	src/schedule/schedule.sql \
	src/grants.sql

OBJS = \
	src/module.o \
	src/value.o \
	src/histogram/histogram_scale.o \
	src/histogram/histogram_core.o \
	src/histogram/histogram_text.o \
	src/histogram/histogram_value.o \
	src/histogram/histogram_io.o \
	src/histogram/histogram_agg.o \
	src/histogram/histogram_ops.o \
	src/histogram/histogram_chart.o \
	src/hll/hll_core.o \
	src/hll/hll_dense.o \
	src/hll/hll_pack.o \
	src/hll/hll_estimate.o \
	src/hll/hll_text.o \
	src/hll/hll_hash.o \
	src/hll/hll_value.o \
	src/hll/hll_io.o \
	src/hll/hll_agg.o \
	src/hll/hll_ops.o \
	src/topk/topk_core.o \
	src/topk/topk_bytes.o \
	src/topk/topk_text.o \
	src/topk/topk_value.o \
	src/topk/topk_io.o \
	src/topk/topk_agg.o \
	src/topk/topk_ops.o \
	src/definition/gate.o \
	src/definition/period.o \
	src/definition/family.o \
	src/definition/lookup.o \
	src/definition/cache.o \
	src/table/probe.o src/table/epoch.o \
	src/table/rows.o \
	src/log/lock.o \
	src/scope/membership.o \
	src/scope/scope.o \
	src/log/leaf.o \
	src/log/vacant.o \
	src/log/claim.o \
	src/log/append.o \
	src/log/admit.o \
	src/log/submit.o \
	src/log/json.o \
	src/ranktree/ranktree_page.o \
	src/ranktree/ranktree_encode.o \
	src/ranktree/ranktree_store.o \
	src/ranktree/ranktree_search.o \
	src/ranktree/ranktree_cursor.o \
	src/ranktree/ranktree_run.o \
	src/ranktree/ranktree_pack.o \
	src/ranktree/ranktree_build.o \
	src/ranktree/ranktree_apply.o \
	src/ranktree/ranktree_check.o \
	src/ranktree/cache.o \
	src/ranktree/pages.o \
	src/ranktree/pages_write.o \
	src/projection/window.o \
	src/projection/late.o \
	src/projection/accum.o \
	src/projection/cost.o \
	src/projection/sketch.o \
	src/projection/sketches.o \
	src/projection/tracked.o \
	src/projection/accum_row.o \
	src/projection/within.o \
	src/projection/fold.o \
	src/projection/moves.o \
	src/projection/ranking.o \
	src/projection/publish.o \
	src/projection/push.o \
	src/projection/head.o \
	src/projection/bucket.o \
	src/projection/open_tables.o \
	src/projection/scopes.o \
	src/projection/scope_news.o \
	src/projection/standing_find.o \
	src/projection/moved_find.o \
	src/projection/standing.o \
	src/projection/slide.o \
	src/projection/watermark.o \
	src/projection/news.o \
	src/projection/refresh.o \
	src/projection/loop.o \
	src/projection/build.o \
	src/projection/heads.o \
	src/projection/recount.o \
	src/read/arguments.o \
	src/read/reading.o \
	src/read/pin.o \
	src/read/check.o \
	src/read/answer.o \
	src/read/doubt.o \
	src/read/order.o \
	src/read/tail.o \
	src/read/overlay.o \
	src/read/rank.o \
	src/read/list.o \
	src/read/scopes.o \
	src/read/board.o \
	src/read/value.o \
	src/read/label.o \
	src/read/windows.o \
	src/read/series.o \
	src/maintenance/maintain.o

# pg_regress tests, run by `make installcheck`.
REGRESS = \
	install \
	definition \
	family \
	admission \
	json \
	counting \
	reading \
	scope \
	histogram \
	hll \
	topk \
	window \
	rolling \
	privilege \
	ranktree \
	asking \
	maintenance \
	overlay
REGRESS_OPTS = --inputdir=$(srcdir)

# pg_isolation_regress tests: test/isolation/specs/NAME.spec.
ISOLATION = \
	oracle \
	submit_refresh \
	same_key \
	batches \
	partitions \
	open_writer \
	prepared \
	levels \
	boards \
	scopes \
	windows \
	overlay \
	ranktree

ISOLATION_OPTS = --inputdir=$(srcdir)/test/isolation --outputdir=output_iso --load-extension=leaderboard

PG_CPPFLAGS = -I$(srcdir)/src
EXTRA_CLEAN = output_iso results

# Goals that work on a machine that has nothing but make: their scripts bring
# the packages, the build and a private cluster.  PGXS has a `check` of its own
# that only says no, so while `check` is asked for PGXS stays outside.
PG_CONFIG ?= pg_config
OWN_GOALS = check demo demo-stop bench hll-error packages sql check-sql fuzz help print-%
PGXS := $(shell $(PG_CONFIG) --pgxs 2>/dev/null)

ifneq ($(filter check,$(MAKECMDGOALS)),)

check:
	@bash test/run $(STAGES)

ifneq ($(filter-out $(OWN_GOALS),$(MAKECMDGOALS)),)
$(filter-out $(OWN_GOALS),$(MAKECMDGOALS)):
	$(MAKE) $@
endif

else ifneq ($(wildcard $(PGXS)),)

include $(PGXS)

# Loops over registers, which are to become vector code.
src/hll/hll_dense.o: CFLAGS += $(CFLAGS_UNROLL_LOOPS) $(CFLAGS_VECTORIZE)

# A struct changed in a header changes every object that has it inside.
$(OBJS) $(OBJS:.o=.bc): $(wildcard $(srcdir)/src/*.h $(srcdir)/src/*/*.h)

else

.DEFAULT_GOAL := all
all install installcheck uninstall clean:
	@echo 'leaderboard: $(PG_CONFIG) finds no PostgreSQL server headers (PGXS).' >&2
	@echo 'Run `make packages` (root or sudo) to install what is needed, or install' >&2
	@echo 'postgresql-server-dev-NN yourself, or name another one: make PG_CONFIG=/path/to/pg_config' >&2
	@exit 1

endif

.DEFAULT_GOAL := all

help:
	@echo 'make, make install    build and install, as any PGXS extension'
	@echo 'make installcheck     regression tests against a running server'
	@echo 'make demo             a private cluster with a sample season; make demo-stop ends it'
	@echo 'make check            every test in a private cluster; STAGES="regress isolation" for some'
	@echo 'make bench            measure against the peers'
	@echo 'make hll-error        measure the error of lb_hll over TRIALS (default 200) random sets'
	@echo 'make fuzz             fuzz the value types for SECONDS (default 60) each'
	@echo 'make sql              join the SQL parts into $(DATA); make check-sql compares'
	@echo 'make packages         install what all of this needs'

packages:
	@bash .ci/packages build check demo

fuzz:
	@bash test/fuzz/run $(or $(SECONDS),60)

demo:
	@bash examples/demo/demo.sh start

demo-stop:
	@bash examples/demo/demo.sh stop

# The error of lb_hll up to 10 million values; some 0.1 s a trial.
hll-error:
	@mkdir -p .check
	@$(or $(CC),cc) -O2 -Isrc -o .check/hll_error test/core/hll_error.c -lm
	@.check/hll_error $(or $(SEED),1) $(or $(TRIALS),200)

bench:
	@bash .ci/packages build bench
	@bash bench/run

# Joined into another file first: a missing part may not leave half a script.
sql:
	@cat $(SQL_PARTS) > $(DATA).new && mv $(DATA).new $(DATA) || { rm -f $(DATA).new; exit 1; }

check-sql:
	@cat $(SQL_PARTS) | diff -q $(DATA) - || { echo '$(DATA) is not what its parts say: run `make sql`' >&2; exit 1; }

# For scripts: the value of a variable of this file.
print-%:
	@echo '$($*)'

.PHONY: help packages check fuzz demo demo-stop bench hll-error sql check-sql
