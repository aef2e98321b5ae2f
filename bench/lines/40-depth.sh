# What a rank costs, the deeper it lies.
need_big_board
rank="SELECT rank FROM lb_rank('board', \$1)"
rank_of() { ask_pg -t "$SECONDS_A_TURN" -w 0.2 -s "$1" -- big "$rank" "list:$run/lists/$depth"; }
counted() {
	ask_pg -t "$SECONDS_A_TURN" -w 0.2 -s "$1" -- big \
		'SELECT count(*) + 1 FROM plain.board b WHERE b.value > (SELECT o.value FROM plain.board o WHERE o.member = $1)' \
		"list:$run/lists/$depth"
}
over() {
	ask_pg -n 3 -s "$1" -- big \
		'SELECT r.rank FROM (SELECT member, rank() OVER (ORDER BY value DESC) FROM plain.board) r WHERE r.member = $1' \
		"list:$run/lists/$depth"
}
viewed() {
	ask_pg -t "$SECONDS_A_TURN" -w 0.2 -s "$1" -- big 'SELECT rank FROM plain.ranks WHERE member = $1' \
		"list:$run/lists/$depth"
}
zrevrank() { ask_redis -t "$SECONDS_A_TURN" -w 0.2 -s "$1" -- =ZREVRANK =board "list:$run/lists/$depth"; }

depths=$(for d in 10 100 1000 10000 100000 1000000; do [ "$d" -gt "$SIZE" ] || echo $d; done)
for depth in $depths; do
	list_at "$depth" "$((depth - depth / 10))" "$((depth / 10))"
	contest depth "$depth" 1 lb_rank rank_of 'count(*) + 1 on an index' counted \
		'materialised rank() OVER' viewed 'Redis ZREVRANK' zrevrank
done
deepest=$depth
depth=$(echo "$depths" | head -1)
ROUNDS=1 contest depth "$depth" 1 'rank() OVER' over
claim depth p50 lb_rank "$deepest" lb_rank 1000 most 1 "µs for a rank at $deepest against one at 1,000 (outside and inside of the head)"
for depth in 1000 "$deepest"; do
	claim depth p50 lb_rank "$depth" 'count(*) + 1 on an index' "$depth" - - "µs for a rank at depth $depth"
done
claim depth p50 lb_rank "$deepest" 'rank() OVER' 10 - - 'µs for a rank'
picture depth depth p50 "A member's rank, by how deep it lies" 'depth' 'microseconds, median' log log
