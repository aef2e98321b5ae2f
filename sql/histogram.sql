-- lb_histogram: what it says against plain SQL, its laws, its bytes, and what
-- it does with hostile input.  Queries that check print violations only.
CREATE EXTENSION leaderboard;
\pset null '(null)'

-- The promised places.
CREATE FUNCTION one(value bigint) RETURNS lb_histogram LANGUAGE sql AS 'SELECT lb_histogram_agg(value)';
SELECT v AS value, b.bucket, b.low, b.high
FROM (VALUES (0), (1), (2), (1000), (10000), (1000000), (-1000)) AS t (v), LATERAL lb_histogram_buckets(one(v)) AS b;
SELECT bucket AS holds_an_integer FROM generate_series(0, 10) AS v, LATERAL lb_histogram_buckets(one(v))
WHERE bucket IN (1, 2, 4);

-- The mapping, by exact powers: v >= 0 is in bucket i or a later one exactly
-- when (1 + v)^buckets >= ceiling^i.  Tried at each edge and its neighbours.
CREATE FUNCTION bucket_of(value bigint, buckets integer, ceiling bigint) RETURNS integer
LANGUAGE sql AS 'SELECT bucket FROM lb_histogram_buckets((SELECT lb_histogram_agg(value, buckets, ceiling)))';
CREATE TABLE edge AS
SELECT n AS buckets, c AS ceiling, i,
	least(ceil(exp(i * ln(c::numeric(60, 40)) / n) - 1), 9223372036854775806)::bigint AS guess
FROM (VALUES (128, 1000000000000), (2, 2), (7, 1000), (62, 4611686018427387904), (40, 9223372036854775807), (3, 3)) AS p (n, c),
	LATERAL generate_series(1, n - 1) AS i;
SELECT buckets, ceiling, i, v
FROM edge, LATERAL generate_series(greatest(guess - 2, 0), guess + 1) AS v,
	LATERAL bucket_of(v, buckets, ceiling) AS b
WHERE (b >= i) IS DISTINCT FROM ((1 + v)::numeric ^ buckets >= ceiling::numeric ^ i);
-- The mapping, by logarithms, for random values of every size.
SELECT setseed(0.42);
SELECT v, b FROM (SELECT (2 ^ (random() * 62))::bigint AS v FROM generate_series(1, 3000)) AS t,
	LATERAL bucket_of(v, 128, 1000000000000) AS b
WHERE b <> least(127, floor(ln((1 + v)::numeric(60, 40)) / ln(1000000000000::numeric(60, 40)) * 128 + 1e-30));
-- The mirror, and the ends.
SELECT v FROM (SELECT (2 ^ (random() * 62))::bigint AS v FROM generate_series(1, 1000)) AS t
WHERE bucket_of(-v, 128, 1000000000000) <> -bucket_of(v, 128, 1000000000000);
SELECT v AS value, b.* FROM (VALUES ((-9223372036854775808)::bigint), (-9223372036854775807), (-1), (0),
	(9223372036854775807)) AS t (v), LATERAL lb_histogram_buckets(one(v)) AS b;
-- Few buckets: bucket 0 has both signs, order stays exact.
SELECT b.* FROM lb_histogram_buckets((SELECT lb_histogram_agg(v, 3, 1000) FROM generate_series(-2000, 2000) AS v)) AS b;
SELECT b.* FROM lb_histogram_buckets((SELECT lb_histogram_agg(v, 2, 2) FROM generate_series(-5, 5) AS v)) AS b;

-- Data: sets of different shape, with values that repeat, with both signs.
CREATE TABLE member AS
SELECT s AS set_id, i AS id, CASE s
	WHEN 1 THEN (exp(random() * 20))::bigint
	WHEN 2 THEN (random() * 20 - 10)::bigint
	WHEN 3 THEN ((random() - 0.5) * 2 ^ 63)::bigint
	WHEN 4 THEN (CASE WHEN random() < 0.5 THEN -1 ELSE 1 END * exp(random() * 40))::bigint
	ELSE CASE WHEN i % 3 = 0 THEN 9223372036854775807 WHEN i % 3 = 1 THEN -9223372036854775808 ELSE 0 END
	END AS value
FROM generate_series(1, 5) AS s, LATERAL generate_series(1, 400) AS i;
ANALYZE member;
CREATE TABLE shape (n integer, c bigint);
INSERT INTO shape VALUES (128, 1000000000000), (16, 1000), (1024, 9223372036854775807), (2, 2);
CREATE TABLE built AS
SELECT n, c, set_id, lb_histogram_agg(value, n, c) AS h FROM shape, member GROUP BY n, c, set_id;

-- Answers: the interval holds what plain SQL says.
SELECT 'count' AS what, n, c, set_id FROM built
WHERE lb_histogram_count(h) <> (SELECT count(*) FROM member AS m WHERE m.set_id = built.set_id);
SELECT 'buckets' AS what, n, c, set_id, b.* FROM built, LATERAL lb_histogram_buckets(h) AS b
WHERE members <> (SELECT count(*) FROM member AS m WHERE m.set_id = built.set_id
	AND (low IS NULL OR value >= low) AND (high IS NULL OR value <= high));
CREATE TABLE probe AS
SELECT DISTINCT set_id, v FROM member, LATERAL (VALUES (value), (value / 2), (-(value / 3))) AS t (v) WHERE id <= 60
UNION SELECT s, v FROM generate_series(1, 5) AS s, (VALUES (9223372036854775807), (-9223372036854775808), (0), (-1), (1)) AS t (v);
SELECT 'above' AS what, n, c, set_id, v, a.*, exact
FROM built JOIN probe USING (set_id), LATERAL lb_histogram_above(h, v) AS a,
	LATERAL (SELECT count(*) AS exact FROM member AS m WHERE m.set_id = probe.set_id AND value > v) AS e
WHERE exact NOT BETWEEN a.low AND a.high;
SELECT 'rank' AS what, n, c, set_id, value, r.*, e.*
FROM built JOIN (SELECT DISTINCT set_id, value FROM member WHERE id <= 60) AS p USING (set_id), LATERAL lb_histogram_rank(h, value) AS r,
	LATERAL (SELECT count(*) FILTER (WHERE m.value > p.value) AS above, count(*) AS population FROM member AS m WHERE m.set_id = p.set_id) AS e
WHERE above + 1 NOT BETWEEN rank_low AND rank_high
	OR percentile_low > 100.0 * (population - above) / population + 1e-9
	OR percentile_high < 100.0 * (population - above) / population - 1e-9
	OR percentile_low <> 100 * (population - (rank_high - 1)::float8) / population
	OR percentile_high <> 100 * (population - (rank_low - 1)::float8) / population;
SELECT 'quantile' AS what, n, c, set_id, f, q.*, exact
FROM built, (VALUES (0.0::float8), (1e-300), (0.001), (0.01), (0.25), (1.0 / 3), (0.5), (0.9), (0.999), (1)) AS t (f),
	LATERAL lb_histogram_quantile(h, f) AS q,
	LATERAL (SELECT percentile_disc(f) WITHIN GROUP (ORDER BY value) AS exact FROM member AS m WHERE m.set_id = built.set_id) AS e
WHERE exact < low OR exact > high;
-- The error bound: 1 + high is at most the ratio of a bucket, rounded up.
SELECT b.* FROM built, LATERAL lb_histogram_buckets(h) AS b
WHERE low >= 0 AND 1 + high > ceil((1 + low) * (c::numeric ^ (1.0 / n)) * 1.000000001);

-- Laws: order, any split, parts combined, taken away again.
SELECT 'commutative' FROM built AS a, built AS b WHERE (a.n, a.c) = (b.n, b.c) AND a.h + b.h <> b.h + a.h;
SELECT 'associative' FROM built AS a, built AS b, built AS d
WHERE (a.n, a.c) = (b.n, b.c) AND (a.n, a.c) = (d.n, d.c) AND (a.h + b.h) + d.h <> a.h + (b.h + d.h);
SELECT 'subtract' FROM built AS a, built AS b WHERE (a.n, a.c) = (b.n, b.c) AND (a.h + b.h) - b.h <> a.h;
SELECT 'empty', n, c, set_id FROM built WHERE lb_histogram_count(h - h) <> 0 OR h + (h - h) <> h;
SELECT 'order', n, c, set_id FROM built
WHERE h <> (SELECT lb_histogram_agg(value, n, c ORDER BY hashint8(value), id) FROM member AS m WHERE m.set_id = built.set_id);
SELECT 'split', k, n, c, set_id FROM built, generate_series(1, 7) AS k
WHERE h <> (SELECT lb_histogram_union_agg(part) FROM (SELECT lb_histogram_agg(value, n, c) AS part
	FROM member AS m WHERE m.set_id = built.set_id GROUP BY id % k) AS p);
SELECT 'add', n, c FROM built
WHERE set_id = 1 AND lb_histogram_add(lb_histogram_add(lb_histogram_add(h, 77), -5, 3), 77, -1)
	<> h + lb_histogram_add(lb_histogram_add(h - h, -5), -5, 2);
SELECT 'defaults' FROM member HAVING lb_histogram_agg(value) <> lb_histogram_agg(value, 128)
	OR lb_histogram_agg(value) <> lb_histogram_agg(value, NULL, NULL);
SELECT 'nulls' FROM member HAVING lb_histogram_agg(value) <> lb_histogram_agg(value) FILTER (WHERE value IS NOT NULL)
	+ (SELECT lb_histogram_agg(v) FROM (VALUES (NULL::bigint), (7)) AS t (v)) - (SELECT lb_histogram_agg(7));
SELECT 'text', n, c, set_id FROM built WHERE h::text::lb_histogram <> h OR h::text::lb_histogram::text <> h::text;
-- Hashing agrees with equality.
SELECT count(*), count(DISTINCT h::text) FROM (SELECT h FROM built UNION SELECT h::text::lb_histogram FROM built) AS t;
SELECT 'except' FROM (SELECT h FROM built EXCEPT ALL SELECT h FROM built) AS t;

-- Parallel = serial; the plan says that it was parallel.
CREATE TABLE wide AS SELECT (exp(random() * 25) - 1000)::bigint AS value, i % 10 AS g FROM generate_series(1, 60000) AS i;
ANALYZE wide;
CREATE TABLE serial AS SELECT lb_histogram_agg(value) AS h FROM wide;
CREATE TABLE grouped AS SELECT g, lb_histogram_agg(value) AS h FROM wide GROUP BY g;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT lb_histogram_agg(value) FROM wide;
SELECT 'parallel' FROM wide HAVING lb_histogram_agg(value) <> (SELECT h FROM serial);
SELECT 'parallel groups' FROM (SELECT g, lb_histogram_agg(value) AS h FROM wide GROUP BY g EXCEPT ALL SELECT g, h FROM grouped) AS t;
SELECT 'parallel union' FROM grouped HAVING lb_histogram_union_agg(h) <> (SELECT h FROM serial);
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET max_parallel_workers_per_gather;
-- Sets larger than memory's share, on disk.
SET work_mem = '64kB';
SELECT 'spill' FROM (SELECT id, lb_histogram_agg(value) AS h FROM member GROUP BY id) AS a
JOIN (SELECT id, lb_histogram_union_agg(h) AS h FROM (SELECT id, lb_histogram_agg(value) AS h FROM member GROUP BY id, set_id) AS p GROUP BY id) AS b USING (id)
WHERE a.h <> b.h;
RESET work_mem;
-- Many groups, and many sets of groups at once; sorted and hashed.
CREATE TABLE sets AS SELECT g, value % 500 AS k, lb_histogram_agg(value) AS h, lb_histogram_agg(g, 16, 1000) AS h16, lb_histogram_union_agg(one) AS united
FROM wide, LATERAL (SELECT one(value)) AS o (one) WHERE value % 7 = 0 GROUP BY GROUPING SETS ((g, value % 500), (value % 500), (g), ());
SELECT count(*) > 1000 AS many FROM sets;
SELECT 'sets', g, k FROM sets WHERE h <> united OR lb_histogram_count(h) <> lb_histogram_count(h16);
SELECT 'sets of sets' FROM sets HAVING lb_histogram_union_agg(h) FILTER (WHERE g IS NOT NULL AND k IS NOT NULL) <> lb_histogram_union_agg(h) FILTER (WHERE g IS NULL AND k IS NULL)
	OR lb_histogram_union_agg(h) FILTER (WHERE g IS NOT NULL AND k IS NULL) <> lb_histogram_union_agg(h) FILTER (WHERE g IS NULL AND k IS NOT NULL);
SET enable_hashagg = off;
SELECT 'sorted', k FROM (SELECT value % 500 AS k, lb_histogram_agg(value) AS h FROM wide WHERE value % 7 = 0 GROUP BY 1 EXCEPT ALL SELECT k, h FROM sets WHERE g IS NULL AND k IS NOT NULL) AS t;
RESET enable_hashagg;

-- A moving window = the same frame computed anew, where NULLs come and go.
CREATE TABLE moving AS
SELECT i, CASE WHEN i % 7 < 3 THEN NULL ELSE (random() * 1000 - 300)::bigint END AS value,
	CASE WHEN i % 5 < 3 THEN NULL ELSE (SELECT lb_histogram_agg(v) FROM generate_series(0, i % 4 - 1) AS v) END AS h
FROM generate_series(1, 300) AS i;
UPDATE moving SET h = '{buckets:128,ceiling:1000000000000,counts:{}}' WHERE i % 11 = 0;
SELECT 'window', width, i FROM (VALUES (0), (1), (2), (5), (40)) AS w (width),
	LATERAL (SELECT i, lb_histogram_agg(value) OVER (ORDER BY i ROWS BETWEEN width PRECEDING AND CURRENT ROW) AS moved,
		lb_histogram_union_agg(h) OVER (ORDER BY i ROWS BETWEEN width PRECEDING AND CURRENT ROW) AS united FROM moving) AS t
WHERE moved IS DISTINCT FROM (SELECT lb_histogram_agg(value) FROM moving AS m WHERE m.i BETWEEN t.i - width AND t.i)
	OR united IS DISTINCT FROM (SELECT lb_histogram_union_agg(h) FROM moving AS m WHERE m.i BETWEEN t.i - width AND t.i);
SELECT 'growing window', i FROM (SELECT i, lb_histogram_agg(value) OVER (ORDER BY i) AS grown FROM moving) AS t
WHERE grown IS DISTINCT FROM (SELECT lb_histogram_agg(value) FROM moving AS m WHERE m.i <= t.i);

-- Nothing, and NULL.
SELECT lb_histogram_agg(NULL::bigint), lb_histogram_agg(value) AS no_rows, lb_histogram_union_agg(NULL::lb_histogram)
FROM member WHERE id < 0;
SELECT lb_histogram_agg(NULL::bigint), lb_histogram_agg(NULL::bigint, 16, 100), lb_histogram_union_agg(NULL::lb_histogram) FROM generate_series(1, 3);
CREATE TABLE nothing AS SELECT '{buckets:128,ceiling:1000000000000,counts:{}}'::lb_histogram AS h;
SELECT lb_histogram_count(h), a.*, r.*, q.*, lb_histogram_chart(h)
FROM nothing, lb_histogram_above(h, 5) AS a, lb_histogram_rank(h, 5) AS r, lb_histogram_quantile(h, 0.5) AS q;
SELECT * FROM nothing, lb_histogram_buckets(h);
SELECT lb_histogram_add(h, 5) AS once, lb_histogram_add(h, 5, NULL) AS once_too, lb_histogram_add(h, 5, 0) AS never,
	lb_histogram_add(h, NULL) IS NULL AS no_value, lb_histogram_add(NULL, 5) IS NULL AS no_histogram FROM nothing;
SELECT lb_histogram_count(NULL), h + NULL AS plus, lb_histogram_chart(NULL), lb_histogram_above(h, NULL) AS above FROM nothing;
-- A value whose bucket is empty is ranked as if it joined.
SELECT r.* FROM lb_histogram_rank((SELECT lb_histogram_agg(v) FROM generate_series(1, 3) AS v), 1000) AS r;
SELECT r.* FROM lb_histogram_rank((SELECT lb_histogram_agg(v) FROM generate_series(1, 3) AS v), -1000) AS r;
-- Small values have a bucket each, so ranks are exact; the best is 1 and at 100 per cent.
SELECT v, r.* FROM generate_series(0, 4) AS v, lb_histogram_rank((SELECT lb_histogram_agg(v) FROM generate_series(0, 4) AS v), v) AS r;

-- The chart.
SELECT lb_histogram_chart((SELECT lb_histogram_agg(v) FROM (VALUES (0::bigint, 4), (1, 2), (2, 1), (4, 1)) AS t (v, n), generate_series(1, n)), 8);
SELECT lb_histogram_chart((SELECT lb_histogram_agg((1.02 ^ i)::bigint - 500) FROM generate_series(1, 1000) AS i), 20);
SELECT lb_histogram_chart((SELECT lb_histogram_agg(v, 4, 1000) FROM (VALUES (-9223372036854775808), (9223372036854775807), (9223372036854775807)) AS t (v)), 10);
SELECT lb_histogram_chart(lb_histogram_add(lb_histogram_add(h, 0, 9223372036854775000), 1), 10) FROM nothing;
SELECT lb_histogram_chart(h, 0) FROM nothing;
SELECT lb_histogram_chart(h, 201) FROM nothing;

-- What a user can do wrong.
\set SHOW_CONTEXT never
CREATE FUNCTION try(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
	hint text;
BEGIN
	EXECUTE command;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN SQLSTATE || ': ' || CASE WHEN detail = '' THEN SQLERRM ELSE detail END || CASE WHEN hint = '' THEN ' (NO HINT)' ELSE '' END;
END
$$;
SELECT command, try('SELECT ' || command) FROM (VALUES
	('lb_histogram_agg(1, 1)'),
	('lb_histogram_agg(1, 1025)'),
	('lb_histogram_agg(1, -2147483648)'),
	('lb_histogram_agg(1, 128, 1)'),
	('lb_histogram_agg(1, 128, -9223372036854775808)'),
	('lb_histogram_agg(1, n) FROM generate_series(2, 3) AS n'),
	('lb_histogram_agg(1, 2) + lb_histogram_agg(1, 3)'),
	('lb_histogram_agg(1, 2, 3) - lb_histogram_agg(1, 2, 4)'),
	('lb_histogram_agg(1, 2, 3) = lb_histogram_agg(1, 2, 4)'),
	('lb_histogram_union_agg(h) FROM built'),
	('lb_histogram_agg(1) - lb_histogram_agg(2)'),
	('lb_histogram_add(lb_histogram_agg(1), 2, -1)'),
	('lb_histogram_add(lb_histogram_agg(1), 1, -9223372036854775808)'),
	('lb_histogram_add(lb_histogram_agg(1), 5, 9223372036854775807)'),
	('lb_histogram_add(h, 5, 9223372036854775807) + lb_histogram_add(h, 6) FROM nothing'),
	('lb_histogram_rank(lb_histogram_add(h, 5, 9223372036854775807), 6) FROM nothing'),
	('lb_histogram_rank(lb_histogram_add(h, 5, 9223372036854775807), 5) FROM nothing'),
	('lb_histogram_quantile(h, -0.1) FROM nothing'),
	('lb_histogram_quantile(h, 1.1) FROM nothing'),
	('lb_histogram_quantile(h, ''NaN'') FROM nothing'),
	('lb_histogram_quantile(lb_histogram_add(h, 5, 9223372036854775807), 1) FROM nothing')
) AS t (command);

-- Hostile text: 22P02, what is wrong where, and a hint each time.
SELECT t, try(format('SELECT %L::lb_histogram', t)) FROM (VALUES
	(''), ('{'), ('null'), ('{buckets:128}'), ('{buckets:128,ceiling:1000,counts:{}'),
	('{buckets:128,ceiling:1000,counts:{}}x'), ('{buckets:1,ceiling:1000,counts:{}}'),
	('{buckets:1025,ceiling:1000,counts:{}}'), ('{buckets:99999999999999999999,ceiling:1000,counts:{}}'),
	('{buckets:128,ceiling:1,counts:{}}'), ('{buckets:128,ceiling:9223372036854775808,counts:{}}'),
	('{buckets:128,ceiling:1000000000000,counts:{1:1}}'), ('{buckets:128,ceiling:1000000000000,counts:{128:1}}'),
	('{buckets:128,ceiling:1000000000000,counts:{-9223372036854775808:1}}'),
	('{buckets:128,ceiling:1000000000000,counts:{5:1,3:1}}'), ('{buckets:128,ceiling:1000000000000,counts:{5:1,5:1}}'),
	('{buckets:128,ceiling:1000000000000,counts:{5:0}}'), ('{buckets:128,ceiling:1000000000000,counts:{5:-1}}'),
	('{buckets:128,ceiling:1000000000000,counts:{5:9223372036854775808}}'),
	('{buckets:128,ceiling:1000000000000,counts:{5:9223372036854775807,6:1}}'),
	('{buckets:128,ceiling:1000000000000,counts:{5:1,}}'), ('{buckets:128,ceiling:1000000000000,counts:{5:1.5}}'),
	('{buckets:128,ceiling:1000000000000,counts:{五:1}}')
) AS v (t);
SELECT '{buckets:128,ceiling:1000000000000,counts:{ü5:1}}'::lb_histogram;
SELECT ' { buckets : 128 , ceiling : 1000000000000 , counts : { 3 : 1 , 5 : 1 } } '::lb_histogram;

-- Golden bytes: the same on every machine, in every version.
CREATE TABLE golden (name text, hex text, h lb_histogram);
\copy golden FROM 'test/golden/histogram.tsv'
SELECT name, encode(lb_histogram_send(h), 'hex') FROM golden WHERE hex <> encode(lb_histogram_send(h), 'hex');
SELECT count(*) AS golden FROM golden;

-- The wire: any bytes, through COPY BINARY and so through receive.
CREATE TABLE received (h lb_histogram);
CREATE FUNCTION receive(bytes bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	frame bytea := '\x5047434f50590aff0d0a00' || '\x0000000000000000'::bytea || '\x0001' || int4send(length(bytes)) || bytes || '\xffff';
	octal text;
	result text;
BEGIN
	SELECT string_agg('\' || lpad(((b >> 6) * 100 + (b >> 3 & 7) * 10 + (b & 7))::text, 3, '0'), '' ORDER BY i) INTO octal
	FROM (SELECT i, get_byte(frame, i) AS b FROM generate_series(0, length(frame) - 1) AS i) AS t;
	TRUNCATE received;
	EXECUTE format('COPY received FROM PROGRAM %L (FORMAT binary)', format('printf ''%s''', octal));
	SELECT h::text INTO STRICT result FROM received;
	RETURN result;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ': ' || SQLERRM;
END
$$;
SELECT name, receive(decode(hex, 'hex')) FROM golden WHERE receive(decode(hex, 'hex')) <> h::text;
SELECT n, c, set_id FROM built WHERE receive(lb_histogram_send(h)) <> h::text;
SELECT why, receive(decode(head || body, 'hex')) FROM (VALUES
	('nothing', '', ''), ('half a header', '01008000', ''), ('version 0', '0000800000', '10a5d4e8000000'),
	('version 2', '0200800000', '10a5d4e8000000'), ('a flag', '0180800000', '10a5d4e8000000'),
	('one bucket', '0100010000', '10a5d4e8000000'), ('1025 buckets', '0100010400', '10a5d4e8000000'),
	('ceiling 1', '0100800001', '00000000000000'), ('ceiling negative', '0100800001', '000000000000ff'),
	('gap without end', '0100800000', '10a5d4e800000000'), ('gap without count', '0100800000', '10a5d4e8000000007f'),
	('gap of none', '0100800000', '10a5d4e8000000000001'), ('two gaps', '0100800000', '10a5d4e80000000001007e01'),
	('a gap too far', '0100800000', '10a5d4e800000000ff0101'), ('a huge gap', '0100800000', '10a5d4e800000000ffffffffffffffff7f01'),
	('long zero', '0100800000', '10a5d4e8000000800001'), ('long one', '0100800000', '10a5d4e8000000818000'),
	('count of 70 bits', '0100800000', '10a5d4e8000000ffffffffffffffffff01'),
	('overflow', '0100800000', '10a5d4e8000000ffffffffffffffff7f01'),
	('a bucket without integers', '0100800000', '10a5d4e800000000800101'),
	('fine', '0100800000', '10a5d4e8000000007f05')
) AS t (why, head, body);
-- Golden bytes with one byte changed: refused, or another histogram; no other error.
SELECT name, i, x, r FROM golden, LATERAL generate_series(0, length(hex) / 2 - 1) AS i, (VALUES (1), (128), (255)) AS v (x),
	LATERAL receive(set_byte(decode(hex, 'hex'), i, get_byte(decode(hex, 'hex'), i) # x)) AS r
WHERE name IN ('empty', 'both signs', 'coarse')
	AND r NOT LIKE '22P03: invalid bytes for type lb\_histogram' AND (r NOT LIKE '{buckets:%' OR r = h::text);

-- Stored bytes are checked at each use: damage is XX001, never a crash.
CREATE CAST (bytea AS lb_histogram) WITHOUT FUNCTION;
CREATE TABLE damaged AS SELECT name, i, cut, CASE WHEN cut THEN substr(bytes, 1, i) ELSE set_byte(bytes, i, get_byte(bytes, i) # 129) END AS bytes
FROM golden, LATERAL (SELECT decode(hex, 'hex') AS bytes) AS b, LATERAL generate_series(0, length(bytes) - 1) AS i, (VALUES (true), (false)) AS c (cut);
SELECT question, left(result, 5) AS result, count(*) > 0 AS some
FROM damaged, (VALUES ('lb_histogram_count(%L::bytea::lb_histogram)'), ('%L::bytea::lb_histogram::text'), ('lb_histogram_rank(%L::bytea::lb_histogram, 0)'),
	('lb_histogram_send(%L::bytea::lb_histogram)'), ('lb_histogram_union_agg(%L::bytea::lb_histogram)'), ('lb_histogram_chart(%L::bytea::lb_histogram)')) AS q (question),
	LATERAL try('SELECT ' || format(question, bytes)) AS result
GROUP BY 1, 2 ORDER BY 1, 2;
DROP CAST (bytea AS lb_histogram);

-- Kept out of line, compressed and not, and with a short header.
CREATE TABLE big (plain lb_histogram, squeezed lb_histogram);
ALTER TABLE big ALTER plain SET STORAGE external;
CREATE TABLE filled AS SELECT (s * (2 ^ (i / 16.0))::numeric)::bigint AS value FROM generate_series(0, 1000) AS i, (VALUES (1), (-1)) AS t (s);
INSERT INTO big SELECT h, h FROM (SELECT lb_histogram_union_agg(lb_histogram_add('{buckets:1024,ceiling:9223372036854775807,counts:{}}', value, 1000000000000)) FROM filled) AS t (h);
SELECT pg_column_size(plain) > 8000 AS long, pg_column_size(squeezed) < pg_column_size(plain) AS squeezed, lb_histogram_count(plain) AS count FROM big;
SELECT 'toast' FROM big WHERE plain <> squeezed OR plain::text <> squeezed::text OR plain - squeezed <> plain - plain
	OR lb_histogram_count(plain) <> (SELECT count(*) * 1000000000000 FROM filled)
	OR plain <> (SELECT lb_histogram_union_agg(lb_histogram_add(h - h, value, 1000000000000)) FROM filled, (SELECT plain FROM big) AS t (h));

-- Through a binary file and back.
\copy built TO PROGRAM 'cat > "${PG_ABS_BUILDDIR:-.}/results/histogram.bin"' (FORMAT binary)
CREATE TABLE rebuilt (LIKE built);
\copy rebuilt FROM PROGRAM 'cat "${PG_ABS_BUILDDIR:-.}/results/histogram.bin"' (FORMAT binary)
SELECT count(*) AS rebuilt FROM rebuilt;
SELECT 'rebuilt', n, c, set_id FROM (TABLE built EXCEPT ALL TABLE rebuilt) AS t;

-- More scales in one session than it keeps.
SELECT n FROM generate_series(2, 200) AS n, LATERAL (SELECT lb_histogram_agg(v, n, 5000) AS h FROM generate_series(-3, 3) AS v) AS t
WHERE lb_histogram_count(h) <> 7 OR h <> h::text::lb_histogram OR lb_histogram_count(h + h - h) <> 7;

-- PUBLIC uses the aggregates, not their inner functions.
SELECT p.oid::regprocedure FROM pg_proc AS p JOIN pg_namespace AS s ON s.oid = pronamespace
WHERE s.nspname = 'lb' AND proname LIKE '\_histogram%' AND has_function_privilege('public', p.oid, 'EXECUTE');
CREATE ROLE regress_histogram;
SET ROLE regress_histogram;
SELECT lb_histogram_agg(v) OVER (ORDER BY v ROWS 1 PRECEDING) + lb_histogram_agg(v) OVER () AS h FROM generate_series(1, 2) AS v;
RESET ROLE;
DROP ROLE regress_histogram;

DROP TABLE edge, member, shape, built, probe, wide, serial, grouped, sets, moving, nothing, golden, damaged, big, filled, received, rebuilt;
DROP FUNCTION one, bucket_of, try, receive;
DROP EXTENSION leaderboard;
