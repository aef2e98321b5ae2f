# The heaviest items: lb_topk against an exact GROUP BY, which has to keep all
# of them.  Items by Zipf's law, a tenth as many as rows.
need_items() {
	make_database items
	query items -c 'SELECT setseed(0.5)' -c "CREATE TABLE plain.item AS
		SELECT 'm' || lpad(((floor(exp(random() * ln($SIZE / 10.0)))::bigint * 7368787) % ($SIZE / 10))::text, 8, '0') AS item,
			(1 + random() * 9)::bigint AS weight, (i % 1000)::integer AS part
		FROM generate_series(1, $SIZE) AS i" \
		-c 'CREATE TABLE plain.exact AS SELECT item, sum(weight)::bigint AS weight FROM plain.item GROUP BY item' \
		-c 'CREATE TABLE plain.exact_part AS SELECT part, item, sum(weight)::bigint AS weight FROM plain.item GROUP BY part, item' \
		-c 'CREATE TABLE plain.topk_part AS SELECT part, lb_topk_agg(item, weight) AS t, lb_topk_agg(item, weight, 1000) AS t1000 FROM plain.item GROUP BY part' \
		-c 'VACUUM ANALYZE' -c CHECKPOINT >/dev/null
}
need_items >/dev/null

best='ORDER BY 2 DESC LIMIT 10'
timed topk "$SIZE" items '' \
	'lb_topk_agg' "SELECT item, low FROM lb_topk_items((SELECT lb_topk_agg(item, weight) FROM plain.item)) $best" \
	'lb_topk_agg, capacity 1000' "SELECT item, low FROM lb_topk_items((SELECT lb_topk_agg(item, weight, 1000) FROM plain.item)) $best" \
	'GROUP BY, ORDER BY, LIMIT 10' "SELECT item, sum(weight) FROM plain.item GROUP BY item $best" \
	'sum of all rows' 'SELECT count(item), sum(weight) FROM plain.item'
timed topk 1000 items '' \
	'lb_topk_union_agg' "SELECT item, low FROM lb_topk_items((SELECT lb_topk_union_agg(t) FROM plain.topk_part)) $best" \
	'lb_topk_union_agg, capacity 1000' "SELECT item, low FROM lb_topk_items((SELECT lb_topk_union_agg(t1000) FROM plain.topk_part)) $best" \
	'GROUP BY of sums' "SELECT item, sum(weight) FROM plain.exact_part GROUP BY item $best"

# sketch CAPACITY COLUMN: its bytes and errors, of the whole and of the merged
# parts.  Shares are per cent of all weight.
sketch() {
	local who how bytes bound width first hundred
	for how in "lb_topk_agg(item, weight, $1) FROM plain.item" "lb_topk_union_agg($2) FROM plain.topk_part"; do
		who="capacity $1"
		case $how in *union*) who="$who, 1,000 merged" ;; esac
		query items -F ' ' -c "WITH s AS MATERIALIZED (SELECT $how),
			s1 (t) AS (TABLE s),
			k AS (SELECT i.*, e.weight, row_number() OVER (ORDER BY low DESC, high DESC) AS at
				FROM s1, lb_topk_items(t) AS i JOIN plain.exact AS e USING (item)),
			e AS (SELECT weight, item, row_number() OVER (ORDER BY weight DESC) AS at FROM plain.exact)
			SELECT octet_length(t::bytea), 100.0 * lb_topk_bound(t) / lb_topk_total(t),
				(SELECT coalesce(max(100.0 * (e.weight - coalesce(k.low, 0)) / e.weight), 0) FROM e LEFT JOIN k USING (item) WHERE e.at <= 10),
				(SELECT count(*) FROM e WHERE e.at <= 10 AND NOT EXISTS (SELECT FROM k WHERE k.item = e.item AND k.at <= 10)),
				(SELECT count(*) FROM e WHERE e.at <= 100 AND NOT EXISTS (SELECT FROM k WHERE k.item = e.item AND k.at <= 100))
			FROM s1" > "$run/sketch.out"
		read -r bytes bound width first hundred < "$run/sketch.out"
		measured topk "$SIZE" "$who" 1 bytes "$bytes"
		measured topk "$SIZE" "$who" 1 bound "$bound"
		measured topk "$SIZE" "$who" 1 width "$width"
		measured topk "$SIZE" "$who" 1 first "$first"
		measured topk "$SIZE" "$who" 1 hundred "$hundred"
	done
}
sketch 100 t
sketch 1000 t1000
for who in 'table of sums'; do
	measured topk "$SIZE" "$who" 1 bytes "$(query items -c "SELECT pg_table_size('plain.exact')")"
	for metric in bound width first hundred; do
		measured topk "$SIZE" "$who" 1 $metric 0
	done
done

claim topk ms lb_topk_agg "$SIZE" 'GROUP BY, ORDER BY, LIMIT 10' "$SIZE" most 1 "ms for the best ten of $SIZE rows, capacity 100"
claim topk ms 'lb_topk_agg, capacity 1000' "$SIZE" 'GROUP BY, ORDER BY, LIMIT 10' "$SIZE" most 1 "the same, capacity 1,000"
claim topk ms lb_topk_agg "$SIZE" 'sum of all rows' "$SIZE" - - 'ms, against reading the rows'
claim topk ms lb_topk_union_agg 1000 'GROUP BY of sums' 1000 most 1 'ms for the best ten of 1,000 parts, capacity 100'
claim topk ms 'lb_topk_union_agg, capacity 1000' 1000 'GROUP BY of sums' 1000 most 1 'the same, capacity 1,000'
for who in 'capacity 100' 'capacity 100, 1,000 merged' 'capacity 1000' 'capacity 1000, 1,000 merged'; do
	claim topk bytes "$who" "$SIZE" 'table of sums' "$SIZE" most 0.1 'bytes'
	claim topk bound "$who" "$SIZE" 'table of sums' "$SIZE" - - 'bound, per cent of all weight'
	claim topk width "$who" "$SIZE" 'table of sums' "$SIZE" - - 'of the best ten: what is not certain, per cent, at most'
	claim topk first "$who" "$SIZE" 'table of sums' "$SIZE" - - 'of the best ten: missing among the first ten'
	claim topk hundred "$who" "$SIZE" 'table of sums' "$SIZE" - - 'of the best hundred: missing among the first hundred'
done
query postgres -c 'DROP DATABASE items'
