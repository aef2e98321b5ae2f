# A hundred ranks in one call, against a hundred commands in one go.
need_big_board
any=$run/lists/any
ranks() {
	ask_pg -t "$SECONDS_A_TURN" -w 0.3 -s "$1" -- big "SELECT rank FROM lb_ranks('board', \$1)" "lists:$any:100"
}
looked_up() {
	ask_pg -t "$SECONDS_A_TURN" -w 0.3 -s "$1" -- big 'SELECT value FROM plain.board WHERE member = ANY ($1)' "lists:$any:100"
}
pipelined() { ask_redis -p 100 -t "$SECONDS_A_TURN" -w 0.3 -s "$1" -- =ZREVRANK =board "list:$any"; }

contest many 100 100 lb_ranks ranks 'primary-key lookups of = ANY' looked_up 'Redis ZREVRANK, pipelined' pipelined
claim many rate lb_ranks 100 'Redis ZREVRANK, pipelined' 100 least 0.5 'ranks/s, a hundred at a time'
claim many rate lb_ranks 100 'primary-key lookups of = ANY' 100 - - 'ranks/s, a hundred at a time'
