# "Is there anything newer?", answered no, against looking up a row by its key.
# The version known is a number that no round reaches, so every answer is no.
need_big_board
any=$run/lists/any
ask() {  # SEED SQL ARGUMENT...
	ask_pg -c "$clients" -t "$SECONDS_A_TURN" -w 0.3 -s "$1" -- big "${@:2}"
}
looked_up() { ask "$1" 'SELECT value FROM plain.board WHERE member = $1' "list:$any"; }
miss() { ask "$1" "SELECT member, rank, value FROM lb_top('board', 10, newer_than => 9223372036854775807)"; }
hit() { ask "$1" "SELECT member, rank, value FROM lb_top('board', 10, newer_than => 0)"; }

for clients in 1 2; do
	contest newer $clients 1 'lb_top(10), nothing newer' miss 'lb_top(10), something newer' hit 'primary-key lookup' looked_up
	claim newer rate 'lb_top(10), nothing newer' $clients 'primary-key lookup' $clients least 0.9 "conditional misses/s, $clients connection(s)"
	claim newer rate 'lb_top(10), something newer' $clients 'primary-key lookup' $clients - - "conditional hits/s, $clients connection(s)"
done
