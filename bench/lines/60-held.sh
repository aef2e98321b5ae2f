# What a transaction that stays open costs: it keeps its snapshot, so nothing
# that dies meanwhile can be vacuumed away.  Two databases side by side, each
# with a round every 250 ms that moves 20 members of 20,000; in one of them
# somebody holds a snapshot.  Both are vacuumed before each look, and tidied
# every half minute; versions are kept for ten seconds only, so that there is
# something to collect.
HELD_MINUTES=${HELD_MINUTES:-2}
held_members=$((SIZE < 20000 ? SIZE : 20000))
held_looks=12
held_step=$(awk -v m="$HELD_MINUTES" -v n=$held_looks 'BEGIN { printf "%.1f", m * 60 / n }')

# the rounds of a database; prints when each was, and how long it took
held_rounds() {
	local round
	for round in $(seq $((${HELD_MINUTES%.*} * 240 + 240))); do
		echo "CALL bench.move('points', $round, 20, $held_members);"
		echo '\o /dev/null' $'\n' '\timing on'
		echo 'SELECT count(*) FROM lb_refresh();'
		echo '\timing off' $'\n' '\o'
		echo "SELECT '@', extract(epoch FROM clock_timestamp());"
		[ $((round % 120)) != 0 ] || echo "CALL lb_refresh_loop('0 seconds');"
		# when the next quarter of a second begins
		echo "SELECT FROM pg_sleep(0.25 - extract(epoch FROM clock_timestamp())::numeric % 0.25);"
	done | lb_as tee "$run/held.sql" >/dev/null
	query "$1" -f "$run/held.sql" 2>/dev/null | lb_as tee "$run/$1.out" >/dev/null || true
}

for database in held free; do
	make_database $database
	make_board $database points
	query $database -c "SELECT lb_alter_board('points', keep_versions => '10 seconds')" \
		-c "CALL bench.fill('points', $held_members, $held_members)" -c 'SELECT lb_refresh()' -c 'VACUUM ANALYZE' >/dev/null
done
query postgres -c CHECKPOINT
query held -c 'BEGIN ISOLATION LEVEL REPEATABLE READ' -c 'SELECT count(*) FROM lb.round' -c 'SELECT pg_sleep(86400)' \
	>/dev/null 2>&1 &
held_jobs=$!
for database in held free; do
	held_rounds $database &
	held_jobs="$held_jobs $!"
done

held_name() { [ "$1" = held ] && echo 'a transaction held open' || echo 'none'; }
held_began=$(date +%s.%N)
for look in $(seq 0 $held_looks); do
	sleep "$(awk -v a="$held_began" -v b="$(date +%s.%N)" -v s="$held_step" -v i="$look" \
		'BEGIN { w = a + i * s - b; printf "%.2f", (w > 0 ? w : 0) }')"
	x=$(awk -v s="$held_step" -v i="$look" 'BEGIN { print s * i }')
	for database in held free; do
		query $database -c VACUUM
		sleep 0.2
		while IFS='|' read -r table dead; do
			measured held "$x" "$([ $database = held ] || echo 'without: ')$table" 1 dead "$dead"
		done < <(query $database -c "SELECT CASE WHEN relname LIKE 'event\\_%' THEN 'event' ELSE relname END, sum(n_dead_tup)
			FROM pg_stat_user_tables WHERE schemaname = 'lb' AND relname ~ '^(bucket|standing|moved|page|version|round|event.*)$'
			GROUP BY 1 HAVING '$database' = 'held' OR sum(n_dead_tup) > 1000 ORDER BY 1")
		report=$(ask_pg -c 1 -t 0.4 -w 0.1 -s "$look" -- $database "SELECT rank, value FROM lb_rank('points', \$1)" "member:$held_members")
		measured held "$x" "$(held_name $database)" 1 read "$(echo "$report" | cut -f 5)"
	done
done
for database in held free; do
	query postgres -c "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '$database'" >/dev/null
done
# shellcheck disable=SC2086
wait $held_jobs || true

# the rounds between two looks: their median
for database in held free; do
	awk -F '[ |]' -v began="$held_began" -v step="$held_step" '/^Time:/ { ms = $2 }
		/^@/ && $2 >= began && $2 < began + step * '$held_looks' { print step * (int(($2 - began) / step) + 1), ms }' "$run/$database.out" | sort -n -k1,1 -k2,2 |
		awk '{ v[$1] = v[$1] " " $2; n[$1]++ } END { for (x in v) { split(v[x], a, " "); print x, a[int((n[x] + 1) / 2)] } }' |
		while read -r x ms; do
			measured held "$x" "$(held_name $database)" 1 round "$ms"
		done
	query postgres -c "DROP DATABASE $database WITH (FORCE)"
done
held_end=$(awk -v s="$held_step" -v i="$held_looks" 'BEGIN { print s * i }')
claim held read "$(held_name held)" "$held_end" "$(held_name free)" "$held_end" - - "µs for a rank after $HELD_MINUTES minutes"
claim held round "$(held_name held)" "$held_end" "$(held_name free)" "$held_end" - - "ms for a round after $HELD_MINUTES minutes"
picture held held dead 'Dead rows that a transaction held open keeps' 'seconds since it began, a round every 250 ms' 'dead rows' linear linear
picture held_read held read 'A rank, while a transaction is held open' 'seconds since it began, a round every 250 ms' 'microseconds (median)' linear linear
picture held_round held round 'A round, while a transaction is held open' 'seconds since it began, a round every 250 ms' 'milliseconds (median)' linear linear
