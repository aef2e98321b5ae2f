# How wide estimated ranks are, by the number of buckets of a histogram, over
# values of several distributions, and what the buckets cost.
#
# GOALS=FILE.csv has the real thing too: date, home_team, away_team, team,
# scorer, minute, own_goal, penalty, with a header, as in the public data set
# of men's international football; how many goals a scorer has is the value.
members=$((SIZE / 10))
widths='64 128 256 512'
make_database width >/dev/null
query width -c 'SELECT setseed(0.5)' -c "CREATE TABLE plain.sample AS
	SELECT kind, (CASE kind
			WHEN 'log-uniform' THEN exp(random() * ln(1e9))
			WHEN 'Zipf' THEN 100.0 * $members / i
			WHEN 'normal' THEN 1500 + 300 * sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())
			-- twenty questions of 100, a bonus of tens for the quick
			ELSE 100 * (SELECT count(*) FROM generate_series(1, 20) WHERE random() < 0.6 AND i > 0) + 10 * floor(random() * 10)
		END)::bigint AS value
	FROM (VALUES ('log-uniform'), ('Zipf'), ('normal'), ('quiz')) AS k (kind), LATERAL generate_series(1, $members) AS i" >/dev/null
if [ -n "${GOALS:-}" ]; then
	query width -c 'CREATE TABLE plain.goal (date date, home_team text, away_team text, team text, scorer text, minute text, own_goal text, penalty text)'
	query width -c '\copy plain.goal FROM STDIN (FORMAT csv, HEADER)' < "$GOALS"
	query width -c "INSERT INTO plain.sample SELECT 'goals', count(*) FROM plain.goal WHERE own_goal ILIKE 'false' AND scorer <> 'NA' GROUP BY team, scorer"
else
	lb_say '    real goals are left out: GOALS names no file'
fi
query width -c 'ANALYZE'

# The default ceiling, and one that fits: the power of ten above the greatest.
for ceiling in default fitting; do
	for buckets in $widths; do
		query width -F ' ' -c "WITH h AS MATERIALIZED (SELECT kind,
				lb_histogram_agg(value, $buckets, CASE '$ceiling' WHEN 'default' THEN 1000000000000 ELSE (10 ^ ceil(log(greatest))) END::bigint) AS h
				FROM plain.sample JOIN (SELECT kind, max(value)::numeric + 1 AS greatest FROM plain.sample GROUP BY kind) AS g USING (kind) GROUP BY kind),
			v AS (SELECT kind, value, count(*) AS n FROM plain.sample GROUP BY kind, value),
			w AS (SELECT kind, n, rank_high - rank_low AS ranks, percentile_high - percentile_low AS points
				FROM v JOIN h USING (kind), LATERAL lb_histogram_rank(h, value))
			SELECT kind, percentile_disc(0.5) WITHIN GROUP (ORDER BY ranks), percentile_disc(0.99) WITHIN GROUP (ORDER BY ranks),
				percentile_disc(0.5) WITHIN GROUP (ORDER BY points), percentile_disc(0.99) WITHIN GROUP (ORDER BY points)
			FROM w, LATERAL generate_series(1, n) GROUP BY kind ORDER BY kind" |
			while read -r kind r50 r99 p50 p99; do
				fit=
				[ $ceiling = default ] || fit=fit_
				measured width "$buckets" "$kind" 1 ${fit}ranks50 "$r50"
				measured width "$buckets" "$kind" 1 ${fit}ranks99 "$r99"
				measured width "$buckets" "$kind" 1 ${fit}points50 "$p50"
				measured width "$buckets" "$kind" 1 ${fit}points99 "$p99"
			done
	done
done

# What they cost: bounded boards of the same members, a thousand of whom move.
# A board each, so that a round is of that one alone.
for buckets in $widths; do
	query width -c 'SET client_min_messages = warning' -c "SELECT lb_create_counter('w$buckets')" \
		-c "SELECT lb_create_board('w$buckets', 'w$buckets', ranks => 'bounded', buckets => $buckets)" \
		-c "CALL bench.fill('w$buckets', $members, $members)" >/dev/null
done
query width -c 'SELECT lb_refresh()' -c 'VACUUM ANALYZE' -c CHECKPOINT >/dev/null
query width -c "SELECT 'm' || lpad(i::text, 8, '0') FROM generate_series(1, $members) AS i ORDER BY hashint4(i) LIMIT 10000" |
	lb_as tee "$run/lists/width" >/dev/null
estimated() {
	ask_pg -t "$SECONDS_A_TURN" -w 0.2 -s "$1" -- width "SELECT rank_low, rank_high FROM lb_rank('w$buckets', \$1)" "list:$run/lists/width"
}
for buckets in $widths; do
	timed width "$buckets" width "CALL bench.move('w$buckets', :round, 1000, $members);" 'a round' 'SELECT lb_refresh()'
	contest width "$buckets" 1 lb_rank estimated
	measured width "$buckets" 'a version' 1 bytes "$(query width -c "SELECT pg_column_size(v.histogram) FROM lb.version v
		JOIN lb.board b ON b.board = 'w$buckets' JOIN lb.ranking r ON r.board_id = b.board_id AND r.ranking_id = v.ranking_id
		WHERE v.histogram IS NOT NULL ORDER BY v.version DESC LIMIT 1")"
done
query postgres -c 'DROP DATABASE width'

for buckets in 64 256 512; do
	claim width ms 'a round' $buckets 'a round' 128 - - "ms for a round that moves 1000 of $members members, $buckets buckets against 128"
	claim width p50 lb_rank $buckets lb_rank 128 - - "µs for an estimated rank, $buckets buckets against 128"
	claim width bytes 'a version' $buckets 'a version' 128 - - "bytes of the histogram in each version, $buckets buckets against 128"
done

# The table of widths has its own place: a row a distribution, a column a
# number of buckets.
lb_as sh -c "perl '$lb_top/bench/widths.pl' '$results' $widths > '$run/widths.md'"
cat "$run/widths.md"
[ "$record" != yes ] || perl "$lb_top/bench/widths.pl" --into "$lb_top/bench/README.md" "$results" $widths
picture width width points99 'How wide an estimated rank is, 99 of 100 members, ceiling 10^12' \
	'buckets' 'percentile points' log linear
picture width_fitting width fit_points99 'How wide an estimated rank is, 99 of 100 members, fitting ceiling' \
	'buckets' 'percentile points' log linear
