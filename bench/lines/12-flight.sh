# 1,000 new members to one board, many at a time: how many are lost?  The peer
# keeps one row a board and reads it before it writes, as many do.
make_database flight
make_board flight points
query flight -c "CREATE TABLE plain.hot (board text PRIMARY KEY, members bigint)" \
	-c "INSERT INTO plain.hot VALUES ('points', 0)"

submitted() {
	ask_pg -c "$in_flight" -n 1000 -e accepted -s "$((in_flight * 1000 + $1))" -- flight \
		"SELECT status FROM lb_submit('points', \$1, 1, \$2)" new key
}
shared_row() {
	bench_conninfo="options='-c default_transaction_isolation=repeatable\\\\ read'" \
		ask_pg -c "$in_flight" -n 1000 -s "$1" -- flight \
		"UPDATE plain.hot SET members = members + 1 WHERE board = 'points'" 2>/dev/null
}

for in_flight in 8 16 64 256; do
	ROUNDS=$((ROUNDS < 3 ? ROUNDS : 3)) contest flight $in_flight 1 lb_submit submitted 'one shared row, REPEATABLE READ, no retry' shared_row
	claim flight failures lb_submit $in_flight 'one shared row, REPEATABLE READ, no retry' $in_flight \
		most 0 "failures of 1,000 with $in_flight in flight"
done
picture flight flight failures 'Submissions lost of 1,000 new members to one board' \
	'requests in flight' 'failures of 1,000' log linear
