#!/usr/bin/env bash
# Everything that is there is listed or picked up, and the other way round.
. "$(dirname "$0")/tap.sh.inc"

names() { find "$1" -maxdepth 1 -name "*$2" 2>/dev/null -printf '%f\n' | sed "s/\\$2\$//" | sort; }

law 'the install script is joined from its parts (make sql)' "$(make -s check-sql 2>&1)"
law 'every SQL part in src is in SQL_PARTS' \
	"$(missing "$(find src -name '*.sql' | sort)" "$(value SQL_PARTS)")"
law 'every C file in src is in OBJS' \
	"$(missing "$(find src -name '*.c' | sed 's/c$/o/')" "$(value OBJS)")"

law 'every test in sql is in REGRESS' "$(missing "$(names sql .sql)" "$(value REGRESS)")"
law 'every test in REGRESS is in sql' "$(missing "$(value REGRESS)" "$(names sql .sql)")"
law 'every regression test has an expected output' \
	"$(missing "$(names sql .sql)" "$(names expected .out)")"
law 'every expected output has a regression test' \
	"$(missing "$(names expected .out | sed 's/_[0-9]$//')" "$(names sql .sql)")"

law 'every isolation spec is in ISOLATION' \
	"$(missing "$(names test/isolation/specs .spec)" "$(value ISOLATION)")"
law 'every spec in ISOLATION is there' \
	"$(missing "$(value ISOLATION)" "$(names test/isolation/specs .spec)")"
law 'every isolation spec has an expected output' \
	"$(missing "$(names test/isolation/specs .spec)" "$(names test/isolation/expected .out)")"
law 'every expected output has an isolation spec' \
	"$(missing "$(names test/isolation/expected .out | sed 's/_[0-9]$//')" "$(names test/isolation/specs .spec)")"

# What lies beside the pattern that test/run looks for would never run.
law 'test/pgtap holds .sql files only' \
	"$(find test/pgtap -type f ! -path 'test/pgtap/*.sql' ! -name 'README.md' ! -path '*/data/*' 2>/dev/null)"
law 'test/tap holds .pl files, lib and data only' \
	"$(find test/tap -type f ! -name '*.pl' ! -path 'test/tap/lib/*' ! -path 'test/tap/data/*' ! -name README.md)"
law 'no TAP test hides in a folder' "$(find test/tap -mindepth 2 -name '*.pl')"
law 'a fuzz harness is called NAME_fuzz.c' \
	"$(grep -l LLVMFuzzerTestOneInput test/fuzz/*.c 2>/dev/null | grep -v -e _fuzz.c -e replay.c)"
done_testing
