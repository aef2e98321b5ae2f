# leaderboard - a PGXS extension.  `make help` lists what else it can do.

EXTENSION = leaderboard
MODULE_big = leaderboard
DATA = leaderboard--1.0.sql

# The parts of the install script, in the order in which they are joined.
SQL_PARTS = \
	src/prelude.sql \
	src/histogram/histogram.sql \
	src/definition/tables.sql \
	src/definition/definition.sql \
	src/log/log.sql \
	src/projection/projection.sql \
	src/read/read.sql \
	src/schedule/schedule.sql \
	src/grants.sql

OBJS = \
	src/module.o

# pg_regress tests, run by `make installcheck`.
REGRESS = \
	install
REGRESS_OPTS = --inputdir=. --outputdir=.

PG_CPPFLAGS = -I$(srcdir)/src

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs 2>/dev/null)
ifneq ($(wildcard $(PGXS)),)
include $(PGXS)
endif
