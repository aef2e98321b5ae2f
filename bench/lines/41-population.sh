# What a rank costs, the more members there are: from a hundredth of the big
# board to ten times as many.
make_database population
largest=$((SIZE * 10))
populations=$(for p in $((SIZE / 100)) $((SIZE / 10)) "$SIZE" "$largest"; do [ "$p" -lt 100 ] || echo "$p"; done)
for population in $populations; do
	make_board population "b$population"
	lb_say "    filling a board of $population members"
	query population -c "CALL bench.fill('b$population', $population, $population)"
	round_base=1 ROUNDS=1 first_round=1 timed load "$population" population '' lb_refresh 'SELECT lb_refresh()'
	query population -c "SELECT 'ZADD b$population ' || bench.value(i) || ' m' || lpad((1 + (i * 7368787) % $population)::text, 8, '0')
		FROM generate_series(1::bigint, $population) i" | redis_cli --pipe >/dev/null
	query population -c "CREATE TABLE plain.b$population AS SELECT s.member, s.value FROM lb.standing s
			JOIN lb.counter c USING (counter_id) WHERE c.counter = 'b$population'" \
		-c "ALTER TABLE plain.b$population ADD PRIMARY KEY (member)"
done
query population -c 'VACUUM ANALYZE' -c CHECKPOINT -c 'CREATE EXTENSION pg_prewarm'
# Random members of ten million touch most pages once in a turn: all
# contestants begin with theirs in the buffers.
query population -c "SELECT pg_prewarm(c.oid) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
	WHERE c.relkind IN ('r', 'i') AND (n.nspname = 'plain'
		OR c.oid IN (SELECT 'lb.standing'::regclass UNION SELECT 'lb.page'::regclass)
		OR c.oid IN (SELECT indexrelid FROM pg_index WHERE indrelid IN ('lb.standing'::regclass, 'lb.page'::regclass)))" >/dev/null

ask() {  # SEED SQL
	ask_pg -t "$SECONDS_A_TURN" -w 0.5 -s "$1" -- population "$2" "member:$population"
}
rank_of() { ask "$1" "SELECT rank FROM lb_rank('b$population', \$1)"; }
looked_up() { ask "$1" "SELECT value FROM plain.b$population WHERE member = \$1"; }
zrevrank() { ask_redis -t "$SECONDS_A_TURN" -w 0.5 -s "$1" -- =ZREVRANK "=b$population" "member:$population"; }

for population in $populations; do
	contest population "$population" 1 lb_rank rank_of 'primary-key lookup' looked_up 'Redis ZREVRANK' zrevrank
done
smallest=$(echo "$populations" | head -1)
claim population p50 lb_rank "$largest" lb_rank "$smallest" most 1.5 "µs for a random member's rank among $largest against among $smallest"
claim population p50 'primary-key lookup' "$largest" 'primary-key lookup' "$smallest" - - 'the same of the look-up'
claim population p50 'Redis ZREVRANK' "$largest" 'Redis ZREVRANK' "$smallest" - - 'the same of Redis'
picture population population p50 "A random member's rank, by the members there are" \
	'members' 'microseconds, median' log log
