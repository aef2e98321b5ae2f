# One event a transaction, durable.
make_database submit
make_board submit points
query submit -c "CALL bench.fill_yesterday('points', $SIZE, $SIZE)" -c 'VACUUM ANALYZE' -c CHECKPOINT

submit_by() {  # SEED SQL
	ask_pg -c "$clients" -t "$SECONDS_A_TURN" -w 0.3 -s "$1" -- submit "$2" \
		"member:$SIZE" value:1:1000 key
}
submitted() { submit_by "$1" "SELECT * FROM lb_submit('points', \$1, \$2, \$3)"; }
inserted() {
	submit_by "$1" "INSERT INTO plain.event (counter_id, event_id, delta, event_time, ingest_time, xid, origin, version, kind, member, key)
		VALUES (1, nextval('plain.event_id'), \$2, now(), clock_timestamp(), pg_current_xact_id(), 1, 1, 'e', \$1, \$3)
		ON CONFLICT DO NOTHING"
}
zadd() {
	ask_redis -c "$clients" -t "$SECONDS_A_TURN" -w 0.3 -s "$1" -- \
		=ZINCRBY =submitted value:1:1000 "member:$SIZE"
}

for clients in 1 8; do
	contest submit $clients 1 \
		lb_submit submitted 'INSERT … ON CONFLICT DO NOTHING' inserted 'Redis ZINCRBY (in memory only)' zadd
	query submit -c 'VACUUM ANALYZE' -c CHECKPOINT
	claim submit rate lb_submit $clients 'INSERT … ON CONFLICT DO NOTHING' $clients \
		- - "single submissions/s, $clients client(s)"
	claim submit rate lb_submit $clients 'Redis ZINCRBY (in memory only)' $clients \
		- - "single submissions/s, $clients client(s)"
done
redis_cli del submitted >/dev/null
