#!/usr/bin/env bash
# Laws of all text files: shell syntax, line ends, white space.
. "$(dirname "$0")/tap.sh.inc"

files=$(find . -type f ! -path './.git/*' ! -path './.check*/*' ! -path './.demo*/*' ! -path './.bench*/*' ! -path './.drivers/*' \
	! -path './results/*' ! -path './test/fuzz/corpus/*' ! -path './test/golden/*' ! -path './bench/*/data/*' | sort)
scripts=$(for f in $files; do
	case $f in
		*.sh|*.inc) echo "$f" ;;
		*) head -c 64 "$f" | head -1 | tr -d '\0' | grep -qE '^#!.*\b(ba)?sh\b' && echo "$f" ;;
	esac
done)
written=$(echo "$files" | grep -E '\.(c|h|sql|spec|pl|pm|sh|md|json|control|yml)$|Makefile$|/\.ci/' |
	grep -v '^./leaderboard--')

law 'shell scripts parse' "$(for f in $scripts; do bash -n "$f" 2>&1; done)"
law 'lines end in a plain newline' "$(grep -lI $'\r' $written)"
law 'no white space at the end of a line' \
	"$(grep -nIE '[ 	]+$' $written | head -20)"
law 'files end in a newline' \
	"$(for f in $written; do [ ! -s "$f" ] || [ -z "$(tail -c 1 "$f")" ] || echo "$f"; done)"
law 'no conflict marker' "$(grep -nE '^(<<<<<<<|>>>>>>>)' $written)"
done_testing
