# A round that has nothing to count, and ever more counters that have nothing.
idle_round() {
	bench_conninfo="options='-c synchronous_commit=off'" \
		ask_pg -t "$SECONDS_A_TURN" -w 0.2 -s "$1" -- "idle_$counters" 'SELECT * FROM lb_refresh()'
}
one_row() {
	bench_conninfo="options='-c synchronous_commit=off'" \
		ask_pg -t "$SECONDS_A_TURN" -w 0.2 -s "$1" -- "idle_$counters" \
		'INSERT INTO plain.round VALUES (1, pg_current_snapshot(), now())'
}

for counters in 1 100 10000; do
	make_database "idle_$counters"
	query "idle_$counters" -c "SET client_min_messages = warning" -c "DO \$\$ BEGIN FOR i IN 1..$counters LOOP
		PERFORM lb_create_counter('c' || i);
		PERFORM lb_create_board('c' || i, 'c' || i, ranks => '$RANKS');
		PERFORM lb_submit('c' || i, 'member', i, 'k');
		END LOOP; END \$\$" -c 'SELECT lb_refresh()' -c 'CREATE TABLE plain.round (number bigint, snapshot pg_snapshot, as_of timestamptz)' \
		-c 'VACUUM ANALYZE' -c CHECKPOINT >/dev/null
	contest idle $counters 1 'lb_refresh with nothing to do' idle_round 'INSERT of one row' one_row
	claim idle p50 'lb_refresh with nothing to do' $counters 'INSERT of one row' $counters \
		- - "µs, $counters counter(s)"
done
claim idle p50 'lb_refresh with nothing to do' 10000 'lb_refresh with nothing to do' 1 \
	most 1.5 '10,000 counters against one, µs (and under 1,000)'
