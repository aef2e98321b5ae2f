# A rank with the viewer's own uncounted events, against one without: of
# members who have none, and of members who have one.
need_big_board
any=$run/lists/any
tail=$run/lists/tail
query big -c 'SELECT lb_refresh()' -c 'VACUUM ANALYZE' -c CHECKPOINT >/dev/null
query big -c "CALL bench.move('board', 90000, 10000, $SIZE)"
query big -c "SELECT e.member FROM lb.event e WHERE e.xid >= pg_snapshot_xmax((SELECT r.snapshot FROM lb.round r ORDER BY r.number DESC LIMIT 1))
	ORDER BY pg_catalog.hashtext(e.member)" | lb_as tee "$tail" >/dev/null
ask() {  # SEED SQL ARGUMENT...
	ask_pg -t "$SECONDS_A_TURN" -w 0.3 -s "$1" -- big "${@:2}"
}
plain() { ask "$1" "SELECT rank, value FROM lb_rank('board', \$1)" "list:$list"; }
overlaid() { ask "$1" "SELECT rank, value FROM lb_rank('board', \$1, viewer => \$1)" "list:$list"; }
for list in "$any" "$tail"; do
	x=$([ "$list" = "$any" ] && echo none || echo one)
	contest overlay "$x" 1 'lb_rank with viewer' overlaid lb_rank plain
	claim overlay p50 'lb_rank with viewer' "$x" lb_rank "$x" most 1.5 "µs for a rank, of a viewer with ${x/none/no} uncounted event"
done
query big -c 'SELECT lb_refresh()' -c 'VACUUM ANALYZE' -c CHECKPOINT >/dev/null
