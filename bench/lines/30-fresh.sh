# The first round over two events a member, against plain SQL doing the same.
for fresh in $(seq 1 "$((ROUNDS < 3 ? ROUNDS : 3))"); do
	make_database fresh
	make_board fresh points
	query fresh -c "CALL bench.fill('points', 2 * $SIZE, $SIZE)" -c CHECKPOINT
	contestants=('lb_refresh' 'SELECT lb_refresh()' 'plain SQL upserts' "CALL plain.refresh('0')")
	[ $((fresh % 2)) = 1 ] || contestants=("${contestants[@]:2}" "${contestants[@]:0:2}")
	as_round=$fresh first_round=1 ROUNDS=1 timed fresh "$SIZE" fresh '' "${contestants[@]}"
done
query postgres -c 'DROP DATABASE fresh'
claim fresh ms lb_refresh "$SIZE" 'plain SQL upserts' "$SIZE" most 2 \
	"ms to count $((2 * SIZE)) events of $SIZE members afresh"
