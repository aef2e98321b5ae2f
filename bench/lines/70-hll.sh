# lb_hll against postgresql-hll with the same number of registers (2^14 of 5
# bits), count(DISTINCT) and a plain aggregate: adding, merging, bytes, error.
#
# A row is read for eight sketches, as reading it costs more than adding to
# one; "beyond the scan" takes off what count(*) of the same table takes.
make_database hll
hll_rows=$((SIZE / 2))
hll_adds=$((hll_rows * 8))
hll_peer=yes
if ! query hll -c 'CREATE EXTENSION hll' 2>/dev/null; then
	hll_peer=no
	lb_say "    the distribution has no postgresql-$lb_major-hll: without it"
fi

# hll_eight EXPRESSION: with each of the columns c1 to c8 in the place of @.
hll_eight() {
	local i list=
	for i in 1 2 3 4 5 6 7 8; do
		list="$list, ${1//@/c$i}"
	done
	echo "${list#, }"
}
query hll -c "CREATE TABLE plain.many AS SELECT $(hll_eight '(random() * 1e15)::bigint AS @') FROM generate_series(1, $hll_rows)" \
	-c "CREATE TABLE plain.few AS SELECT $(hll_eight '@ % 1000 AS @') FROM plain.many" \
	-c "CREATE TABLE plain.text AS SELECT $(hll_eight 'md5(@::text) AS @') FROM plain.many" \
	-c 'VACUUM ANALYZE' -c CHECKPOINT

# hll_net X: adds a millisecond, without the time that count(*) took.
hll_net() {
	awk -F '\t' -v x="$1" '$1 == "hll" && $2 == x && $5 == "ms" { ms[$3 "\t" $4] = $6 }
		END { for (k in ms) { split(k, a, "\t"); scan = ms["count(*)\t" a[2]]
			if (a[1] != "count(*)" && ms[k] > scan) print a[1] "\t" a[2] "\t" ms[k] - scan } }' "$results" |
		while IFS=$'\t' read -r who round ms; do
			measured hll "$1" "$who" "$round" rate "$(awk -v n="$hll_adds" -v ms="$ms" 'BEGIN { print n / ms }')"
		done
}

# hll_merges X N: microseconds for each of the N merges of a statement.
hll_merges() {
	awk -F '\t' -v x="$1" -v n="$2" -v OFS='\t' '$1 == "hll" && $2 == x && $5 == "ms" { $5 = "merge"; $6 = $6 * 1000 / n; print }' "$results" |
		lb_as tee "$run/merges.tsv" >/dev/null
	cat "$run/merges.tsv" >> "$results"
}

for hll_kind in many few text; do
	hll_hash=bigint
	hll_what="bigints"
	[ $hll_kind != few ] || hll_what='bigints, 1,000 different'
	[ $hll_kind != text ] || { hll_hash=text; hll_what='texts of 32 bytes'; }
	hll_entered=('count(*)' "SELECT count(*) FROM plain.$hll_kind"
		max "SELECT $(hll_eight 'max(@)') FROM plain.$hll_kind"
		lb_hll_agg "SELECT $(hll_eight 'lb_hll_agg(@)') FROM plain.$hll_kind")
	if [ $hll_peer = yes ]; then
		hll_entered+=(hll_add_agg "SELECT $(hll_eight "hll_add_agg(hll_hash_$hll_hash(@), 14, 5)") FROM plain.$hll_kind")
	fi
	timed hll $hll_kind hll '' "${hll_entered[@]}"
	# so much slower that a turn is enough
	ROUNDS=1 first_round=1 timed hll $hll_kind hll '' 'count(DISTINCT)' "SELECT $(hll_eight 'count(DISTINCT @)') FROM plain.$hll_kind"
	hll_net $hll_kind
	claim hll rate lb_hll_agg $hll_kind hll_add_agg $hll_kind least 2 "adds/ms beyond the scan, $hll_adds $hll_what"
	claim hll ms lb_hll_agg $hll_kind hll_add_agg $hll_kind - - 'ms, scan and all'
	claim hll ms lb_hll_agg $hll_kind max $hll_kind - - 'ms, scan and all'
	claim hll ms lb_hll_agg $hll_kind 'count(DISTINCT)' $hll_kind - - 'ms, scan and all'
done

# Merging 200 sketches, each of so many values: as they are stored, which
# mostly means fetching them from out of line, and a hundred times from memory.
for n in 100 1000 10000; do
	query hll -c 'DROP TABLE IF EXISTS plain.part' \
		-c "CREATE TABLE plain.part AS SELECT g, lb_hll_agg(g * 1000000000::bigint + i) AS ours FROM generate_series(1, 200) AS g, generate_series(1, $n) AS i GROUP BY g" 2>/dev/null
	hll_entered=(lb_hll_union_agg "SELECT lb_hll_union_agg(ours) FROM plain.part")
	hll_again=(lb_hll_union_agg "WITH part AS MATERIALIZED (SELECT ours || ours AS h FROM plain.part) SELECT lb_hll_union_agg(h) FROM part, generate_series(1, 100)")
	if [ $hll_peer = yes ]; then
		query hll -c "ALTER TABLE plain.part ADD peer hll" \
			-c "UPDATE plain.part AS p SET peer = (SELECT hll_add_agg(hll_hash_bigint(p.g * 1000000000::bigint + i), 14, 5) FROM generate_series(1, $n) AS i)"
		hll_entered+=(hll_union_agg "SELECT hll_union_agg(peer) FROM plain.part")
		hll_again+=(hll_union_agg "WITH part AS MATERIALIZED (SELECT hll_union(peer, peer) AS h FROM plain.part) SELECT hll_union_agg(h) FROM part, generate_series(1, 100)")
	fi
	query hll -c 'VACUUM FULL ANALYZE plain.part'
	timed hll "stored$n" hll '' "${hll_entered[@]}"
	timed hll "memory$n" hll '' "${hll_again[@]}"
	hll_merges "stored$n" 200
	hll_merges "memory$n" 20000
	claim hll merge lb_hll_union_agg "stored$n" hll_union_agg "stored$n" most 1 "µs a merge, stored sketches of $n values"
	claim hll merge lb_hll_union_agg "memory$n" hll_union_agg "memory$n" most 1 "µs a merge, in memory, of $n values"
done

# hll_error N TRIALS AGGREGATE COUNT: root of the mean square of the relative
# error, in millionths; the bytes of one.
hll_error() {
	query hll -c "SELECT 1e6 * sqrt(avg((c / $1 - 1) ^ 2)), avg(bytes) FROM (SELECT $4(h) AS c, pg_column_size(h) - 4 AS bytes
		FROM (SELECT g, $3 AS h FROM generate_series(1, $2) AS g, generate_series(1::bigint, $1) AS i GROUP BY g OFFSET 0) AS s) AS t"
}
for n in 10 1000 100000 10000000; do
	hll_trials=200
	[ $n != 10000000 ] || hll_trials=$((SIZE < 200000 ? 1 : 5))
	for hll_who in lb_hll hll; do
		hll_value="g * 1000000000::bigint + i"
		if [ $hll_who = hll ]; then
			[ $hll_peer = yes ] || continue
			hll_report=$(hll_error $n $hll_trials "hll_add_agg(hll_hash_bigint($hll_value), 14, 5)" hll_cardinality)
		else
			hll_report=$(hll_error $n $hll_trials "lb_hll_agg($hll_value)" lb_hll_count)
		fi
		measured hll "of$n" $hll_who 1 error "${hll_report%|*}"
		measured hll "of$n" $hll_who 1 bytes "${hll_report#*|}"
	done
	claim hll bytes lb_hll "of$n" hll "of$n" most 1.1 "bytes of $n values"
	claim hll error lb_hll "of$n" hll "of$n" most 1 "RMS error, millionths, $n values, $hll_trials trials"
done
query postgres -c 'DROP DATABASE hll'
