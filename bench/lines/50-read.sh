# Questions about the big board, of random members, all warm.
need_big_board
ask() {  # SEED SQL ARGUMENT...
	ask_pg -c "$clients" -t "$SECONDS_A_TURN" -w 0.3 -s "$1" -- big "${@:2}"
}
ask_zset() {  # SEED ARGUMENT...
	ask_redis -c "$clients" -t "$SECONDS_A_TURN" -w 0.3 -s "$1" -- "${@:2}"
}
any=list:$run/lists/any
rank_of() { ask "$1" "SELECT rank, value FROM lb_rank('board', \$1)" "$any"; }
rank_row() { ask "$1" "SELECT * FROM lb_rank('board', \$1)" "$any"; }
looked_up() { ask "$1" 'SELECT value FROM plain.board WHERE member = $1' "$any"; }
viewed() { ask "$1" 'SELECT rank, value FROM plain.ranks WHERE member = $1' "$any"; }
nothing() { ask "$1" 'SELECT 1'; }
zrevrank() { ask_zset "$1" =ZREVRANK =board "$any"; }
top() { ask "$1" "SELECT place, member, value FROM lb_top('board', 10)"; }
top_plain() { ask "$1" 'SELECT member, value FROM plain.board ORDER BY value DESC LIMIT 10'; }
zrevrange() { ask_zset "$1" =ZREVRANGE =board =0 =9 =WITHSCORES; }

for clients in 1 2 4; do
	contest read $clients 1 lb_rank rank_of 'lb_rank, all columns' rank_row 'primary-key lookup' looked_up \
		'materialised rank() OVER' viewed 'SELECT 1' nothing 'Redis ZREVRANK' zrevrank \
		'lb_top(10)' top 'ORDER BY value LIMIT 10' top_plain 'Redis ZREVRANGE' zrevrange
done
for clients in 1 2 4; do
	aims=(least 0.85 least 0.9 least 0.8)
	[ $clients = 1 ] || aims=(- - - - - -)
	claim read rate lb_rank $clients 'primary-key lookup' $clients ${aims[0]} ${aims[1]} "ranks/s, $clients connection(s)"
	claim read rate lb_rank $clients 'Redis ZREVRANK' $clients ${aims[2]} ${aims[3]} "ranks/s, $clients connection(s)"
	claim read rate 'lb_top(10)' $clients 'primary-key lookup' $clients ${aims[4]} ${aims[5]} "top tens/s, $clients connection(s)"
	claim read rate 'lb_top(10)' $clients 'Redis ZREVRANGE' $clients - - "top tens/s, $clients connection(s)"
	claim read rate 'lb_rank, all columns' $clients 'primary-key lookup' $clients - - "whole answers/s, $clients connection(s)"
	claim read rate 'primary-key lookup' $clients 'SELECT 1' $clients - - "the floor: requests/s, $clients connection(s)"
done
