# From the commit of an event to the rank that shows it, as the next session
# sees it, with the loop at several paces; two clients submit meanwhile as
# fast as they can.  A look every millisecond or two.
make_database visible
make_board visible points
visible_members=$((SIZE < 100000 ? SIZE : 100000))
query visible -c "CALL bench.fill('points', $visible_members, $visible_members)" -c 'SELECT lb_refresh()' -c 'VACUUM ANALYZE' -c CHECKPOINT >/dev/null
query visible -f - <<'SQL'
CREATE TABLE plain.seen (round integer, ms double precision);
CREATE SEQUENCE plain.probe;
CREATE PROCEDURE bench.probe(round integer, until timestamptz)
	LANGUAGE plpgsql
	AS $$
DECLARE
	who text;
	committed timestamptz;
BEGIN
	WHILE clock_timestamp() < until LOOP
		who := 'probe ' || nextval('plain.probe');
		/* at no fixed distance from a round */
		PERFORM pg_sleep(random() / 2);
		PERFORM lb_submit('points', who, 1, key => who);
		COMMIT;
		committed := clock_timestamp();
		WHILE (SELECT r.value FROM lb_rank('points', who) r) IS NULL LOOP
			PERFORM pg_sleep(0.001);
			COMMIT;
		END LOOP;
		INSERT INTO plain.seen VALUES (round, extract(epoch FROM clock_timestamp() - committed) * 1000);
		COMMIT;
	END LOOP;
END
$$;
SQL

visible_turn=$(awk -v s="$SECONDS_A_TURN" 'BEGIN { print s * 5 }')
visible_paces='50 100 250'
for round in $(seq "$ROUNDS"); do
	for pace in $visible_paces; do
		query visible -c 'TRUNCATE plain.seen' -c "CALL lb_refresh_loop('0 seconds')"
		query visible -c "CALL lb_refresh_loop('$visible_turn s'::interval + '5 s', '$pace ms')" 2>/dev/null &
		visible_jobs=$!
		ask_pg -c 2 -t "$(awk -v t="$visible_turn" 'BEGIN { print t + 1 }')" -s "$((round * 1000 + pace))" -- visible \
			"SELECT status FROM lb_submit('points', \$1, \$2, key => \$3)" "member:$visible_members" value:1:1000 key >/dev/null &
		visible_jobs="$visible_jobs $!"
		query visible -c "CALL bench.probe($round, clock_timestamp() + '$visible_turn s')"
		query visible -c "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'CALL lb_refresh_loop%'" >/dev/null
		# shellcheck disable=SC2086
		wait $visible_jobs || true
		while IFS='|' read -r p50 p99 n; do
			measured visible "$pace" median "$round" ms "$p50"
			measured visible "$pace" '99th percentile' "$round" ms "$p99"
			measured visible "$pace" median "$round" n "$n"
		done < <(query visible -c "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY ms), percentile_cont(0.99) WITHIN GROUP (ORDER BY ms), count(*) FROM plain.seen")
	done
done
for pace in $visible_paces; do
	claim visible ms median "$pace" '99th percentile' "$pace" - - "ms from commit to visible rank under load, the loop every $pace ms"
done
picture visible visible ms 'From commit to visible rank, two clients submitting' 'a round every … milliseconds' 'milliseconds' linear linear
query postgres -c 'DROP DATABASE visible WITH (FORCE)'
