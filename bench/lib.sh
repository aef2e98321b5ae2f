# Shared by bench/run and the lines; to be sourced after .ci/lib.sh.

SIZE=${SIZE:-1000000}
ROUNDS=${ROUNDS:-5}
SECONDS_A_TURN=${SECONDS_A_TURN:-3}
RANKS=${RANKS:-}
# A third of the memory, so that ten times SIZE members fit with their peers'
# tables: what is measured is the cost of reading, not of a small cache.
SHARED_BUFFERS=${SHARED_BUFFERS:-$(awk '/^MemTotal/ { m = int($2 / 3072); print (m > 8192 ? 8192 : m) "MB" }' /proc/meminfo)}

# bench_start: the client, the private cluster and Redis.
#
# Unlike the tests' cluster this one is durable, as those of users are.
# Vacuum and checkpoints come between the turns, at the same point for all,
# and not in the middle of one.
bench_start() {
	lb_copy_tree "$run/tree"
	lb_build "$run/tree" > "$run/build.log" 2>&1 &&
		lb_install "$run/tree" "$run/root" >> "$run/build.log" 2>&1 ||
		{ cat "$run/build.log" >&2; lb_die 'the extension does not build'; }
	lb_as gcc -O2 -o "$run/client" "$lb_top/bench/client.c" \
		-I"$("$lb_pg_config" --includedir)" -L"$("$lb_pg_config" --libdir)" -lpq
	lb_init "$run/data" "$socket" 'fsync = on' 'max_connections = 300' \
		"shared_buffers = $SHARED_BUFFERS" 'work_mem = 256MB' 'maintenance_work_mem = 512MB' \
		'max_wal_size = 32GB' 'min_wal_size = 2GB' 'checkpoint_timeout = 1d' \
		'log_min_messages = fatal' 'autovacuum = off' 'max_parallel_workers_per_gather = 0' 'jit = off'
	lb_start
	lb_as redis-server --unixsocket "$socket/redis" --port 0 --save '' --appendonly no \
		--dir "$run" > "$run/redis.log" 2>&1 &
	redis_pid=$!
	local i
	for i in $(seq 100); do
		! redis_cli ping >/dev/null 2>&1 || break
		sleep 0.1
	done
	redis_cli ping >/dev/null || { cat "$run/redis.log" >&2; lb_die 'Redis did not start'; }
}

redis_cli() { redis-cli -s "$socket/redis" "$@"; }

bench_stop_redis() {
	[ -z "${redis_pid:-}" ] || redis_cli shutdown nosave >/dev/null 2>&1 || true
	redis_pid=
}

# query DATABASE [PSQL ARGUMENT...]
query() {
	local database=$1
	shift
	lb_psql -d "$database" "$@"
}

# make_database NAME: empty, with the extension and a schema for the peers.
make_database() {
	query postgres -c "DROP DATABASE IF EXISTS $1" -c "CREATE DATABASE $1" 2>/dev/null
	query "$1" -f "$lb_top/bench/setup.sql"
	if [ -z "$RANKS" ]; then
		RANKS=bounded
		! query "$1" -c "BEGIN; SELECT lb_create_counter('try'); SELECT lb_create_board('try', 'try', ranks => 'exact'); ROLLBACK" \
			>/dev/null 2>&1 || RANKS=exact
		lb_say "boards are $RANKS"
	fi
}

# make_board DATABASE NAME: a counter and its board of that name.
make_board() {
	query "$1" -c "SET client_min_messages = warning" \
		-c "SELECT lb_create_counter('$2')" \
		-c "SELECT lb_create_board('$2', '$2', ranks => '$RANKS')" >/dev/null
}

# Which database the big board is in, with everything that has its members:
# the board itself, plain.board, plain.ranks and Redis' sorted set "board".
need_big_board() {
	[ -z "${big_board:-}" ] || return 0
	big_board=big
	make_database big
	make_board big board
	lb_say "    filling a board of $SIZE members"
	query big -c "CALL bench.fill('board', $SIZE, $SIZE)" -c 'SELECT lb_refresh()' >/dev/null
	fill_peers
}

# The peers of the big board, from the log.
fill_peers() {
	query big -c 'CALL bench.fill_peers()'
	query big -c "SELECT 'ZADD board ' || value || ' ' || member FROM plain.board" |
		redis_cli --pipe >/dev/null
	query big -c 'VACUUM ANALYZE' -c CHECKPOINT
	query big -c 'SELECT member FROM plain.board ORDER BY pg_catalog.hashtext(member) LIMIT 100000' |
		lb_as tee "$run/lists/any" >/dev/null
}

# list_at NAME FIRST N: a list of the members of the big board from that place on.
list_at() {
	query big -c "SELECT member FROM plain.board ORDER BY value DESC, member OFFSET $2 - 1 LIMIT $3" |
		lb_as tee "$run/lists/$1" >/dev/null
}

# ask_pg OPTIONS... -- DATABASE SQL ARGUMENT...: ask PostgreSQL.
ask_pg() {
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	local database=$2 sql=$3
	shift 3
	lb_as "$run/client" "${options[@]}" \
		"pg:host=$socket user=postgres dbname=$database ${bench_conninfo:-}" "$sql" "$@"
}

# ask_redis OPTIONS... -- ARGUMENT...
ask_redis() {
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	lb_as "$run/client" "${options[@]}" "redis:$socket/redis" "$@"
}

# measured LINE X WHO ROUND METRIC VALUE
measured() {
	printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$@" >> "$results"
}

# claim LINE METRIC WHO X PEER X least|most|- AIM WHAT: a row of the table: the
# ratio of who's metric to the peer's, and what it is to be.
claim() {
	printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$@" >> "$claims"
}

# contest LINE X SCALE WHO FUNCTION [WHO FUNCTION...]: each has its turns,
# every other round in the opposite order.  The function gets the round's
# number, which is also the seed of that turn, and prints the client's report;
# SCALE is how many things a request does.
contest() {
	local line=$1 x=$2 scale=$3 round i n who report
	shift 3
	local entered=("$@")
	n=$(($# / 2))
	for round in $(seq "$ROUNDS"); do
		for i in $(seq 0 $((n - 1))); do
			[ $((round % 2)) = 1 ] || i=$((n - 1 - i))
			who=${entered[$((2 * i))]}
			report=$("${entered[$((2 * i + 1))]}" "$round")
			measured "$line" "$x" "$who" "$round" rate "$(echo "$report" | awk -v s="$scale" '{ print $3 * s }')"
			measured "$line" "$x" "$who" "$round" failures "$(echo "$report" | cut -f 4)"
			measured "$line" "$x" "$who" "$round" p50 "$(echo "$report" | cut -f 5)"
			measured "$line" "$x" "$who" "$round" p99 "$(echo "$report" | cut -f 6)"
		done
	done
}

# timed LINE X DATABASE SETUP WHO SQL [WHO SQL...]: how long each statement
# takes (ms), and the WAL that it writes (wal, and the page images, which come
# once a page and checkpoint: fpi; bytes).  All in one session; before each
# round the psql script SETUP runs, in which :round is the round's number.
# Round 0 makes everything warm and does not count.
timed() {
	local line=$1 x=$2 database=$3 setup=$4 round i n who before after
	shift 4
	local entered=("$@")
	n=$(($# / 2))
	for round in $(seq "${first_round:-0}" "$ROUNDS"); do
		echo "\\set round $((round_base + round))"
		echo "$setup"
		for i in $(seq 0 $((n - 1))); do
			[ $((round % 2)) = 1 ] || i=$((n - 1 - i))
			echo 'SELECT pg_current_wal_insert_lsn() AS before \gset'
			echo '\o /dev/null' $'\n' '\timing on'
			echo "${entered[$((2 * i + 1))]};"
			echo '\timing off' $'\n' '\o'
			echo "SELECT '@', $i, $round, :'before', pg_current_wal_insert_lsn();"
		done
	done | lb_as tee "$run/timed.sql" >/dev/null
	query "$database" -f "$run/timed.sql" | lb_as tee "$run/timed.out" >/dev/null
	# what is to be read has to be written
	query "$database" -c 'CREATE TABLE plain.flush (); DROP TABLE plain.flush'
	awk -F '[ |]' '/^Time:/ { ms = $2 } /^@/ { print $2, $3, ms, $4, $5 }' "$run/timed.out" |
		while read -r i round ms before after; do
			[ "$round" -gt 0 ] || continue
			round=${as_round:-$round}
			who=${entered[$((2 * i))]}
			measured "$line" "$x" "$who" "$round" ms "$ms"
			set -- $(lb_as "$lb_bin/pg_waldump" --stats -p "$lb_data/pg_wal" -s "$before" -e "$after" 2>/dev/null |
				awk '/^Total/ { gsub(/\[[^]]*\]/, ""); print $3, $4 }')
			measured "$line" "$x" "$who" "$round" wal "${1:-0}"
			measured "$line" "$x" "$who" "$round" fpi "${2:-0}"
		done
	round_base=$((round_base + ROUNDS + 1))
}
round_base=1

# picture NAME ARGUMENT...: see plot.pl.  Nothing without figures.
pictures=()
picture() {
	pictures+=("$1")
	lb_as perl "$lb_top/bench/plot.pl" "$results" "$run/$1.svg" "${@:2}"
}

bench_report() {
	lb_as sh -c "perl '$lb_top/bench/report.pl' '$results' '$claims' > '$run/report.md'"
	cat "$run/report.md"
	if [ "$record" = yes ]; then
		local name
		for name in "${pictures[@]}"; do
			cp "$run/$name.svg" "$lb_top/bench/$name.svg"
		done
		perl "$lb_top/bench/report.pl" --into "$lb_top/bench/README.md" \
			"SIZE=$SIZE, ROUNDS=$ROUNDS, turns of $SECONDS_A_TURN s, boards $RANKS, PostgreSQL $lb_major, $(nproc) cores" \
			"$results" "$claims"
	fi
	lb_say "figures, pictures and report: $run"
}
