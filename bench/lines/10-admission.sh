# lb_submit_batch of 500 events against the INSERT that it cannot do without:
# same columns, same three indexes, same keys, the same arrays from the client.
make_database admission
make_board admission points
query admission -c "CALL bench.fill_yesterday('points', $SIZE, $SIZE)" -c 'VACUUM ANALYZE' -c CHECKPOINT
batch=500
insert="INSERT INTO plain.event (counter_id, event_id, delta, event_time, ingest_time, xid, origin, version, kind, member, key)
	SELECT 1, nextval('plain.event_id'), d, now(), clock_timestamp(), pg_current_xact_id(), 1, 1, 'e', m, k
	FROM unnest(\$1::text[], \$2::bigint[], \$3::text[]) AS u(m, d, k) ON CONFLICT DO NOTHING"

batch_by() {  # CLIENTS SEED SQL
	ask_pg -c "$1" -t "$SECONDS_A_TURN" -w 0.3 -s "$2" -- admission "$3" \
		"members:$SIZE:$batch" "values:1:1000:$batch" "keys:$batch"
}
rejected() { batch_by "$clients" "$1" "SELECT * FROM lb_submit_batch('points', \$1, \$2, \$3) WHERE status <> 'accepted'"; }
statuses() { batch_by "$clients" "$1" "SELECT * FROM lb_submit_batch('points', \$1, \$2, \$3)"; }
inserted() { batch_by "$clients" "$1" "$insert"; }
returned() { batch_by "$clients" "$1" "$insert RETURNING event_id"; }

for clients in 1 2; do
	contest admission $clients $batch \
		'lb_submit_batch, rejections sent' rejected \
		'lb_submit_batch, all statuses sent' statuses \
		'INSERT … ON CONFLICT DO NOTHING' inserted \
		'INSERT … RETURNING event_id' returned
	query admission -c 'VACUUM ANALYZE' -c CHECKPOINT
	claim admission rate 'lb_submit_batch, rejections sent' $clients 'INSERT … ON CONFLICT DO NOTHING' $clients \
		least 0.7 "batches of $batch, events/s, $clients client(s)"
	claim admission rate 'lb_submit_batch, all statuses sent' $clients 'INSERT … RETURNING event_id' $clients \
		- - "the same, a row an event sent back, $clients client(s)"
done
