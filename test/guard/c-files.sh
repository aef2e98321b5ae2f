#!/usr/bin/env bash
# Laws of the C files.
. "$(dirname "$0")/tap.sh.inc"

files=$(find src test -name '*.[ch]' | sort)
cores=$(find src -name '*_core.[ch]' | sort)

law 'only compat.h looks at PG_VERSION_NUM' \
	"$(grep -n PG_VERSION_NUM $files | grep -v '^src/compat.h:')"
# What a user caused has an SQLSTATE and a hint; the words give it away.
law 'elog is for what cannot happen' \
	"$(for f in $(find src -name '*.c'); do
		awk -v f="$f" '/elog\((ERROR|FATAL|PANIC)/ && /(must (be|not)|invalid|may not|not allowed|permission|too (long|many|large|small|old))/ { print f ":" FNR ": " $0 }' "$f"
	done)"
law 'the pure cores use no server memory and report no errors' \
	"$([ -z "$cores" ] || grep -nE '\b(palloc0?|pfree|ereport|elog|SPI_[a-z]+)\(' $cores)"
law 'C is indented by tabs' \
	"$(grep -nE '^    +[^ *]' $files /dev/null | grep -v '^src/compat' | head -20)"
law 'primary error messages begin in lower case and have no full stop' \
	"$(grep -nE 'errmsg(_plural)?\("([A-Z][a-z]+ |[^"]*\."\))' $files /dev/null)"
law 'C strings are copied with a bound' \
	"$(grep -nE '\b(strcpy|strcat|sprintf|gets)\(' $(find src -name '*.c') /dev/null)"

# A long file is a question, not an error.
for f in $files; do
	lines=$(wc -l < "$f")
	[ "$lines" -le 700 ] || echo "# warning: $f has $lines lines; ask why at 700" >&2
done
done_testing
