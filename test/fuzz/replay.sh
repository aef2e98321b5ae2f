#!/usr/bin/env bash
# Build one harness under the sanitizers and replay its corpus, in the tree.
#
#   test/fuzz/replay.sh NAME_fuzz PROGRAM [MUTATIONS]
#
# Without a number, as many mutations as the harness defines REPLAY_MUTATIONS
# to be, or 100,000.
set -euo pipefail

name=$1
program=$2
mutations=${3:-$(sed -n 's/^#define REPLAY_MUTATIONS //p' "test/fuzz/$name.c")}
mutations=${mutations:-100000}
corpus=test/fuzz/corpus/${name%_fuzz}

gcc -g -O1 -Wall -Wextra -Werror -fsanitize=address,undefined -fno-sanitize-recover=all \
	-Isrc -isystem "$("${PG_CONFIG:-pg_config}" --includedir-server)" \
	-o "$program" "test/fuzz/$name.c" test/fuzz/replay.c -lm
echo -n "$name: "
if [ -d "$corpus" ]; then
	find "$corpus" -type f -print0 | sort -z | xargs -0 -r "$program" "$mutations"
else
	"$program" "$mutations"
fi
