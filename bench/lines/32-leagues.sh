# What leagues of 30 cost: rounds that move members of a board with leagues,
# against rounds that move as many of the same board without.
make_database leagues
members=$((SIZE * 60 / 1000))
query leagues -c "SET client_min_messages = warning" \
	-c "SELECT lb_create_counter('flat'), lb_create_counter('leagues')" \
	-c "SELECT lb_create_board('flat', 'flat', ranks => '$RANKS'), lb_create_board('leagues', 'leagues', ranks => '$RANKS', scoped => true)" \
	-c "CALL bench.fill('flat', $members, $members)" -c "CALL bench.fill('leagues', $members, $members)" \
	-c "SELECT lb_join('leagues', 'league ' || i / 30, array_agg('m' || lpad((i + 1)::text, 8, '0')), '-infinity')
		FROM generate_series(0, $members - 1) i GROUP BY i / 30" \
	-c 'SELECT lb_refresh()' -c 'VACUUM ANALYZE' -c CHECKPOINT >/dev/null

moves=$(for m in $((members / 1000)) $((members / 100)) $((members / 10)) "$members"; do [ "$m" -lt 1 ] || echo "$m"; done)
for moved in $moves; do
	for who in flat leagues; do
		name='one board'
		[ "$who" = flat ] || name='with leagues of 30'
		timed leagues "$moved" leagues "CALL bench.move('$who', :round, $moved, $members);" "$name" 'SELECT lb_refresh()'
	done
	query leagues -c 'VACUUM ANALYZE' -c CHECKPOINT
done
for moved in $moves; do
	claim leagues ms 'with leagues of 30' "$moved" 'one board' "$moved" most 1.5 "ms for a round that moves $moved of $members members"
done
for moved in $moves; do
	claim leagues "wal/$moved" 'with leagues of 30' "$moved" 'one board' "$moved" - - "bytes of WAL a moved member, $moved of $members"
done
