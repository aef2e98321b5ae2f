# Rounds in which few or many members of the big board move.
need_big_board
query big -c "CALL plain.refresh('0')" -c 'VACUUM ANALYZE' -c CHECKPOINT

moves=$(for m in 10 100 1000 10000 100000; do [ $((m * 10)) -gt "$SIZE" ] || echo $m; done)
news='SELECT pg_snapshot_xmax(pg_current_snapshot()) AS since \gset
CALL bench.move('"'board'"', :round, :moved, '"$SIZE"');'
for moved in $moves; do
	timed refresh "$moved" big "\\set moved $moved"$'\n'"$news" \
		lb_refresh 'SELECT lb_refresh()' 'plain SQL upserts' "CALL plain.refresh(:'since')"
	query big -c 'VACUUM ANALYZE' -c CHECKPOINT
done
# this one takes its time
for moved in $moves; do
	ROUNDS=2 first_round=1 timed refresh "$moved" big "\\set moved $moved"$'\n'"$news
SELECT count(*) FROM lb_refresh();
CALL plain.refresh(:'since');
CALL plain.move(:'since');" \
		'REFRESH MATERIALIZED VIEW CONCURRENTLY' 'REFRESH MATERIALIZED VIEW CONCURRENTLY plain.ranks'
	for round in $(seq "$ROUNDS"); do
		report=$(ask_redis -p 10 -n $((moved / 10)) -s "$round" -- =ZINCRBY =board value:1:100000 "member:$SIZE")
		measured refresh "$moved" 'Redis ZINCRBY, pipelined' "$round" ms "$(echo "$report" | awk '{ print $2 * 1000 }')"
	done
done
query big -c 'VACUUM ANALYZE' -c CHECKPOINT

for moved in $moves; do
	aim=4
	[ "$moved" -lt 100000 ] || aim=2
	claim refresh ms lb_refresh "$moved" 'plain SQL upserts' "$moved" most $aim "ms for a round that moves $moved of $SIZE members"
done
for moved in $moves; do
	claim refresh "wal/$moved" lb_refresh "$moved" 'plain SQL upserts' "$moved" - - \
		"bytes of WAL a moved member, page images aside, $moved of $SIZE"
	claim refresh "fpi/$moved" lb_refresh "$moved" 'plain SQL upserts' "$moved" - - \
		"bytes of page images a moved member, right after a checkpoint, $moved of $SIZE"
done
for moved in $moves; do
	claim refresh ms lb_refresh "$moved" 'REFRESH MATERIALIZED VIEW CONCURRENTLY' "$moved" - - \
		"ms for a round that moves $moved of $SIZE members"
done
picture refresh refresh ms "A round over a board of $(echo "$SIZE" | sed ':a; s/\([0-9]\)\([0-9]\{3\}\)\b/\1,\2/; ta') members" \
	'members moved' 'milliseconds' log log
