# A distribution in a few bytes: lb_histogram against percentile_disc, which
# sorts all values, and the package tdigest, where the distribution has it.
make_database values >/dev/null
query values -c 'SELECT setseed(0.5)' -c "CREATE TABLE plain.sample AS
	SELECT bench.value(i) AS value, bench.value(i)::float8 AS real, (i % 1000)::integer AS part FROM generate_series(1, $SIZE) AS i" >/dev/null
tdigest=yes
query values -c 'CREATE EXTENSION tdigest' >/dev/null 2>&1 || tdigest=no
[ $tdigest = yes ] || lb_say "    tdigest is left out: this distribution has no package postgresql-$lb_major-tdigest"
query values -c "CREATE TABLE plain.part AS SELECT part, lb_histogram_agg(value) AS h,
		lb_histogram_agg(value, 1024) AS h1024 $([ $tdigest = no ] || echo ', tdigest(real, 100) AS d') FROM plain.sample GROUP BY part" \
	-c 'VACUUM ANALYZE' -c CHECKPOINT >/dev/null

contestants=(lb_histogram 'SELECT lb_histogram_quantile(lb_histogram_agg(value), 0.99) FROM plain.sample'
	'lb_histogram, 1,024 buckets' 'SELECT lb_histogram_quantile(lb_histogram_agg(value, 1024), 0.99) FROM plain.sample'
	percentile_disc 'SELECT percentile_disc(0.99) WITHIN GROUP (ORDER BY value) FROM plain.sample'
	'sum of all rows' 'SELECT sum(value) FROM plain.sample')
[ $tdigest = no ] || contestants+=('tdigest, compression 100' 'SELECT tdigest_percentile(real, 100, 0.99) FROM plain.sample')
timed histogram "$SIZE" values '' "${contestants[@]}"
contestants=(lb_histogram 'SELECT lb_histogram_union_agg(h) FROM plain.part'
	'lb_histogram, 1,024 buckets' 'SELECT lb_histogram_union_agg(h1024) FROM plain.part')
[ $tdigest = no ] || contestants+=('tdigest, compression 100' 'SELECT tdigest(d) FROM plain.part')
timed histogram 1000 values '' "${contestants[@]}"

# error WHO SUMMARY ESTIMATE TABLE: of quantiles 0.001 ... 0.999, the
# middle of what is answered.  off: percentile points from the one asked for;
# far: per cent that the value is off.
fractions='ARRAY[0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999]::float8[]'
error() {
	local bytes off far
	query values -F ' ' -c "WITH s AS MATERIALIZED (SELECT $2 AS s FROM $4),
		q AS MATERIALIZED (SELECT f, at, ($3)::float8 AS estimate FROM s, unnest($fractions) WITH ORDINALITY AS f (f, at)),
		e AS MATERIALIZED (SELECT exact, at FROM unnest((SELECT percentile_disc($fractions) WITHIN GROUP (ORDER BY value) FROM plain.sample)) WITH ORDINALITY AS e (exact, at)),
		r AS (SELECT f, estimate, exact, (SELECT count(*) FROM plain.sample WHERE value < estimate)::float8 / $SIZE AS below,
			(SELECT count(*) FROM plain.sample WHERE value <= estimate)::float8 / $SIZE AS upto FROM q JOIN e USING (at))
		SELECT (SELECT pg_column_size(s) FROM s), max(100 * greatest(below - f, f - upto, 0)), max(100 * abs(estimate - exact) / greatest(exact, 1)) FROM r" > "$run/error.out"
	read -r bytes off far < "$run/error.out"
	measured histogram "$SIZE" "$1" 1 bytes "$bytes"
	measured histogram "$SIZE" "$1" 1 off "$off"
	measured histogram "$SIZE" "$1" 1 far "$far"
}
middle='(SELECT (q.low + q.high) / 2.0 FROM lb_histogram_quantile(s, f) AS q)'
error lb_histogram 'lb_histogram_agg(value)' "$middle" plain.sample
error 'lb_histogram, 1,024 buckets' 'lb_histogram_agg(value, 1024)' "$middle" plain.sample
measured histogram "$SIZE" percentile_disc 1 bytes $((8 * SIZE))
[ $tdigest = no ] || error 'tdigest, compression 100' 'tdigest(real, 100)' '(SELECT tdigest_percentile(d.s, f) FROM s AS d)' plain.sample

claim histogram ms lb_histogram "$SIZE" percentile_disc "$SIZE" most 1 "ms for a percentile of $SIZE values"
claim histogram ms lb_histogram "$SIZE" 'tdigest, compression 100' "$SIZE" most 1 'the same'
claim histogram ms lb_histogram "$SIZE" 'sum of all rows' "$SIZE" - - 'the same, against reading the rows'
claim histogram ms lb_histogram 1000 'tdigest, compression 100' 1000 most 1 'ms to merge 1,000 parts'
claim histogram ms 'lb_histogram, 1,024 buckets' 1000 'tdigest, compression 100' 1000 - - 'ms to merge 1,000 parts'
claim histogram bytes lb_histogram "$SIZE" 'tdigest, compression 100' "$SIZE" most 1 'bytes'
claim histogram bytes 'lb_histogram, 1,024 buckets' "$SIZE" 'tdigest, compression 100' "$SIZE" - - 'bytes'
for who in lb_histogram 'lb_histogram, 1,024 buckets'; do
	claim histogram off "$who" "$SIZE" 'tdigest, compression 100' "$SIZE" - - 'a quantile is off by percentile points, at most'
	claim histogram far "$who" "$SIZE" 'tdigest, compression 100' "$SIZE" - - 'a quantile is off by per cent of its value, at most'
done
query postgres -c 'DROP DATABASE values'
