-- lb_hll: what it counts against plain SQL, its laws, its bytes built by the
-- published rules, and what it does with hostile input.  Queries that check
-- print violations only.
\set ECHO none
\i test/include/attempt.sql
\set ECHO all
CREATE EXTENSION leaderboard;
\pset null '(null)'
SET extra_float_digits = 0;

-- Data: sets of different size and shape, with values that repeat.
SELECT setseed(0.42);
CREATE TABLE visit AS
SELECT s AS set_id, i AS id, CASE s
	WHEN 1 THEN i
	WHEN 2 THEN (random() * 100)::bigint
	WHEN 3 THEN (random() * 3000)::bigint - 1500
	ELSE (random() * 1e15)::bigint
	END AS actor
FROM generate_series(1, 5) AS s, LATERAL generate_series(1, CASE s WHEN 5 THEN 20000 ELSE 2000 END) AS i;
ANALYZE visit;
CREATE TABLE built AS
SELECT bits, set_id, lb_hll_agg(actor, bits) AS h FROM (VALUES (4), (8), (10), (14), (18)) AS b (bits), visit GROUP BY bits, set_id;

-- Small sets are exact, as count(DISTINCT) is; which are small the bits say.
SELECT n, bits FROM generate_series(0, 3072, 96) AS n, (VALUES (14), (16), (18)) AS b (bits)
WHERE n <> lb_hll_count((SELECT lb_hll_agg(v, bits) FROM generate_series(1, n) AS v)) AND n > 0;
SELECT bits, lb_hll_count(h) AS last_sparse, lb_hll_count(more) <> lb_hll_count(h) + 1 AS then_estimated
FROM generate_series(4, 18, 7) AS bits, LATERAL (SELECT lb_hll_agg(v, bits) AS h, lb_hll_add(lb_hll_agg(v, bits), 0::bigint) AS more
	FROM generate_series(1::bigint, 3 * (1 << bits) / 16) AS v) AS s;
-- Large ones are near, within five standard errors.
SELECT bits, set_id, lb_hll_count(h), exact FROM built,
	LATERAL (SELECT count(DISTINCT actor) AS exact FROM visit AS v WHERE v.set_id = built.set_id) AS e
WHERE abs(lb_hll_count(h) / exact - 1) > 5 * 1.04 / sqrt(1 << bits);
-- Bounds hold the count, and widen with confidence; those of 0.99999 the truth.
SELECT bits, set_id, c, b.* FROM built, (VALUES (0.5), (0.95), (0.99999)) AS t (c), LATERAL lb_hll_bounds(h, c) AS b
WHERE NOT (low <= lb_hll_count(h) AND lb_hll_count(h) <= high AND low > 0);
SELECT bits, set_id, b.*, exact FROM built, LATERAL lb_hll_bounds(h, 0.99999) AS b,
	LATERAL (SELECT count(DISTINCT actor) AS exact FROM visit AS v WHERE v.set_id = built.set_id) AS e
WHERE exact NOT BETWEEN low AND high;
SELECT bits, set_id FROM built, lb_hll_bounds(h, 0.5) AS a, lb_hll_bounds(h) AS b, lb_hll_bounds(h, 0.99999) AS c
WHERE a.low < b.low OR b.low < c.low OR a.high > b.high OR b.high > c.high OR b IS DISTINCT FROM lb_hll_bounds(h, NULL);

-- Laws: order, any split, parts combined, repetition.
SELECT 'commutative' FROM built AS a, built AS b WHERE a.h || b.h <> b.h || a.h;
SELECT 'associative' FROM built AS a, built AS b, built AS c WHERE a.set_id < 4 AND b.set_id > 2 AND (a.h || b.h) || c.h <> a.h || (b.h || c.h);
SELECT 'idempotent' FROM built WHERE h || h <> h OR h || lb_hll_empty(lb_hll_bits(h)) <> h;
SELECT 'order', bits, set_id FROM built WHERE h <> (SELECT lb_hll_agg(actor, bits ORDER BY hashint8(actor), id) FROM visit AS v WHERE v.set_id = built.set_id);
SELECT 'split', k, bits, set_id FROM built, generate_series(1, 7, 2) AS k
WHERE h <> (SELECT lb_hll_union_agg(part) FROM (SELECT lb_hll_agg(actor, bits) AS part FROM visit AS v WHERE v.set_id = built.set_id GROUP BY id % k) AS p);
SELECT 'distinct', bits, set_id FROM built WHERE h <> (SELECT lb_hll_agg(DISTINCT actor, bits) FROM visit AS v WHERE v.set_id = built.set_id);
SELECT 'add', bits, set_id FROM built WHERE lb_hll_add(lb_hll_add(h, -77::bigint), 123456789012345678) <> h || (SELECT lb_hll_agg(v, bits) FROM (VALUES (-77), (123456789012345678)) AS t (v));
SELECT 'text', bits, set_id FROM built WHERE h::text::lb_hll <> h OR h::bytea::lb_hll <> h OR h::bytea <> lb_hll_send(h) OR h::text <> h::bytea::text;
SELECT 'defaults' FROM visit HAVING lb_hll_agg(actor) <> lb_hll_agg(actor, 14) OR lb_hll_agg(actor) <> lb_hll_agg(actor, NULL);
SELECT 'nulls' FROM visit HAVING lb_hll_agg(nullif(actor, 5)) <> lb_hll_agg(actor) FILTER (WHERE actor <> 5);
-- Fewer bits, from those of more, are what building with fewer gives.
SELECT 'fold', a.set_id, a.bits, b.bits FROM built AS a JOIN built AS b USING (set_id) WHERE a.bits < b.bits AND (a.h || b.h <> a.h OR lb_hll_empty(a.bits) || b.h <> a.h OR b.h || lb_hll_empty(a.bits) <> a.h);
SELECT 'fold in aggregates', set_id FROM built GROUP BY set_id
HAVING lb_hll_union_agg(h ORDER BY bits) <> (SELECT h FROM built AS b WHERE b.set_id = built.set_id AND bits = 4)
	OR lb_hll_union_agg(h ORDER BY bits DESC) <> (SELECT h FROM built AS b WHERE b.set_id = built.set_id AND bits = 4);
-- Hashing agrees with equality.
SELECT count(*), count(DISTINCT h::text) FROM (SELECT h FROM built UNION SELECT h::text::lb_hll FROM built) AS t;

-- Equal values are one value, of whatever type they are; others are not.
CREATE TYPE mood AS ENUM ('happy', 'Ünsad');
CREATE DOMAIN small AS smallint CHECK (VALUE < 100);
SELECT 'equal', what FROM (VALUES
	('integers', lb_hll_hash_value(-5::smallint), lb_hll_hash_value(-5::integer)), ('bigint', lb_hll_hash_value(-5), lb_hll_hash_value(-5::bigint)),
	('domain', lb_hll_hash_value(7::small), lb_hll_hash_value(7::bigint)), ('oid', lb_hll_hash_value(7::oid), lb_hll_hash_value(7::bigint)),
	('zero', lb_hll_hash_value(0::float8), lb_hll_hash_value('-0'::float8)), ('real', lb_hll_hash_value(1.5::real), lb_hll_hash_value(1.5::float8)),
	('real nan', lb_hll_hash_value('NaN'::real), lb_hll_hash_value('NaN'::float8)), ('real zero', lb_hll_hash_value('-0'::real), lb_hll_hash_value(0::float8)),
	('nan', lb_hll_hash_value('NaN'::float8), lb_hll_hash_value('inf'::float8 - 'inf'::float8 * 0 - 'NaN'::float8)),
	('numeric', lb_hll_hash_value(1.5), lb_hll_hash_value(1.500)), ('numeric zero', lb_hll_hash_value(0.00), lb_hll_hash_value(-0::numeric)),
	('numeric hundred', lb_hll_hash_value(100::numeric), lb_hll_hash_value(1e2)), ('varchar', lb_hll_hash_value('añb'::text), lb_hll_hash_value('añb'::varchar(9))),
	('char(n)', lb_hll_hash_value('añb'::text), lb_hll_hash_value('añb'::char(9))), ('name', lb_hll_hash_value('añb'::text), lb_hll_hash_value('añb'::name)),
	('"char"', lb_hll_hash_value('a'::text), lb_hll_hash_value('a'::"char")), ('no "char"', lb_hll_hash_value(''::text), lb_hll_hash_value(''::"char")),
	('enum', lb_hll_hash_value('Ünsad'::text), lb_hll_hash_value('Ünsad'::mood)), ('bytea', lb_hll_hash_value('añb'::text), lb_hll_hash_value(convert_to('añb', 'UTF8'))),
	('long', lb_hll_hash_value(repeat('ab', 100000)), lb_hll_hash_value(repeat('ab', 100000)::varchar)),
	('timestamptz', lb_hll_hash_value('2026-01-01 12:00+01'::timestamptz), lb_hll_hash_value('2026-01-01 11:00+00'::timestamptz))
) AS t (what, one, other) WHERE one <> other;
SELECT 'different', count(*), count(DISTINCT h) FROM (VALUES
	(lb_hll_hash_value(5)), (lb_hll_hash_value('5'::text)), (lb_hll_hash_value(5::float8)), (lb_hll_hash_value(' 5'::char(3))), (lb_hll_hash_value(true)),
	(lb_hll_hash_value(false)), (lb_hll_hash_value('infinity'::date)), (lb_hll_hash_value('-infinity'::date)), (lb_hll_hash_value('infinity'::timestamp)),
	(lb_hll_hash_value('2026-01-01'::date)), (lb_hll_hash_value('00:00:01'::time)), (lb_hll_hash_value(gen_random_uuid())), (lb_hll_hash_value('5 '::text)),
	(lb_hll_hash_value('infinity'::float8)), (lb_hll_hash_value('-infinity'::float8))) AS t (h);
-- The hash by its published rule: XXH3 of nothing is a vector of the function's own.
SELECT to_hex(lb_hll_hash_value(''::text)) AS xxh3_of_nothing;
SELECT 'bytes', what FROM (VALUES
	('bigint', lb_hll_hash_value(-2::bigint), '\xfeffffffffffffff'::bytea), ('date', lb_hll_hash_value('2000-01-02'::date), '\x0100000000000000'),
	('timestamp', lb_hll_hash_value('2000-01-01 00:00:01'::timestamp), '\x40420f0000000000'), ('time', lb_hll_hash_value('00:00:01'::time), '\x40420f0000000000'),
	('bool', lb_hll_hash_value(true), '\x01'), ('float8', lb_hll_hash_value(1::float8), '\x000000000000f03f'), ('nan', lb_hll_hash_value('NaN'::float8), '\x000000000000f87f'),
	('numeric', lb_hll_hash_value(-1.50), '-1.5'), ('uuid', lb_hll_hash_value('00010203-0405-0607-0809-0a0b0c0d0e0f'::uuid), '\x000102030405060708090a0b0c0d0e0f')
) AS t (what, hash, bytes) WHERE hash <> lb_hll_hash_value(bytes);
-- A text too long for its row counts as any other.
CREATE TABLE long_text AS SELECT repeat(md5(i::text), 200) AS plain, i FROM generate_series(1, 30) AS i;
ALTER TABLE long_text ADD squeezed text;
ALTER TABLE long_text ALTER plain SET STORAGE external;
UPDATE long_text SET squeezed = plain, plain = plain || '';
SELECT 'toast' FROM long_text HAVING lb_hll_count(lb_hll_agg(plain)) <> 30 OR lb_hll_agg(plain) <> lb_hll_agg(squeezed) OR lb_hll_agg(plain) <> lb_hll_agg(repeat(md5(i::text), 200));

-- An application that builds sketches by the published rules: dense …
CREATE FUNCTION dense_of(hashes bigint[], bits integer) RETURNS bytea LANGUAGE sql AS $$
	WITH hash AS (SELECT h, h::bit(64) AS b FROM unnest(hashes) AS h),
	one AS (SELECT (h >> (64 - bits)) & ((1 << bits) - 1) AS register,
			coalesce(nullif(position(B'1' IN substring(b FROM bits + 1)), 0), 64 - bits + 1) AS rank FROM hash),
	register AS MATERIALIZED (SELECT i, coalesce(max(rank), 0) AS rank FROM generate_series(0, (1 << bits) - 1) AS i LEFT JOIN one ON register = i GROUP BY i),
	base AS MATERIALIZED (SELECT min(rank) AS least FROM register),
	nibble AS (SELECT i, least(rank - least, 15) AS n, rank - least - 15 AS rest FROM register, base)
	SELECT '\x0101' || decode(lpad(to_hex(bits), 2, '0') || lpad(to_hex(least), 2, '0'), 'hex')
		|| (SELECT string_agg(decode(lpad(to_hex(low.n | (high.n << 4)), 2, '0'), 'hex'), '' ORDER BY low.i) FROM nibble AS low JOIN nibble AS high ON high.i = low.i + (1 << bits) / 2)
		|| coalesce((SELECT string_agg(decode(lpad(to_hex(rest), 2, '0'), 'hex'), '' ORDER BY i) FROM nibble WHERE n = 15), '')
	FROM base
$$;
-- … and sparse.
CREATE FUNCTION filled(stream text) RETURNS bytea LANGUAGE sql AS $$
	-- bits in the order in which they are written, eight a byte, the low ones first
	SELECT coalesce(string_agg(decode(lpad(to_hex(reverse(rpad(substring(stream FROM i FOR 8), 8, '0'))::bit(8)::integer), 2, '0'), 'hex'), '' ORDER BY i), '')
	FROM generate_series(1, length(stream), 8) AS i
$$;
CREATE FUNCTION sparse_of(hashes bigint[], bits integer) RETURNS bytea LANGUAGE plpgsql AS $$
DECLARE
	n integer := (SELECT count(DISTINCT (h >> 32) & 4294967295) FROM unnest(hashes) AS h);
	k integer := 32 - ceil(log(2, greatest(n, 1)));
	high bigint := 0;
	lows text := '';
	highs text := '';
	ranks bytea := '';
	r record;
BEGIN
	FOR r IN SELECT (h >> 32) & 4294967295 AS place, max(coalesce(nullif(position(B'1' IN substring(h::bit(64) FROM 33)), 0), 33)) AS rank
		FROM unnest(hashes) AS h GROUP BY 1 ORDER BY 1
	LOOP
		lows := lows || reverse(right(r.place::bit(64)::text, k));
		highs := highs || repeat('0', ((r.place >> k) - high)::integer) || '1';
		high := r.place >> k;
		IF r.place & ((1::bigint << (32 - bits)) - 1) = 0 THEN
			ranks := set_byte('\x00', 0, r.rank) || ranks;
		END IF;
	END LOOP;
	RETURN '\x0100' || decode(lpad(to_hex(bits), 2, '0'), 'hex') || substring(int4send(n) FROM 4 FOR 1) || substring(int4send(n) FROM 3 FOR 1)
		|| filled(lows) || filled(highs) || ranks;
END
$$;
SELECT 'dense', bits, n FROM (VALUES (4, 5), (4, 100), (4, 2000), (5, 20), (10, 200), (10, 30000)) AS t (bits, n),
	LATERAL (SELECT lb_hll_agg(v, bits) AS h, array_agg(lb_hll_hash_value(v)) AS hashes FROM generate_series(1, n) AS v) AS s
WHERE h::bytea <> dense_of(hashes, bits);
SELECT 'sparse', bits, n FROM (VALUES (4, 0), (4, 1), (4, 2), (4, 3), (10, 0), (10, 64), (10, 192), (14, 1000), (14, 1024), (14, 1025), (18, 2000)) AS t (bits, n),
	LATERAL (SELECT coalesce(lb_hll_agg(v, bits), lb_hll_empty(bits)) AS h, coalesce(array_agg(lb_hll_hash_value(v)), '{}') AS hashes FROM generate_series(1, n) AS v) AS s
WHERE h::bytea <> sparse_of(hashes, bits);
-- Hashes of its own choice, with long runs of zeros: all ranks, all exceptions.
SELECT 'chosen', bits, t FROM (VALUES (4), (10)) AS b (bits), generate_series(1, 20) AS t,
	LATERAL (SELECT array_agg(h) AS hashes FROM (SELECT (random() * 2 ^ 31)::bigint << 33 >> (random() * t * 3)::integer AS h FROM generate_series(1, 10 + 60 * t) OFFSET 0) AS s) AS s
WHERE (SELECT count(DISTINCT (h >> 32) & 4294967295) FROM unnest(hashes) AS h) > 3 * (1 << bits) / 16
	AND dense_of(hashes, bits)::lb_hll::bytea <> dense_of(hashes, bits);
SELECT 'chosen sparse', t, bits FROM generate_series(1, 40) AS t, (VALUES (14), (18)) AS b (bits),
	LATERAL (SELECT array_agg(h) AS hashes FROM (SELECT (random() * 2 ^ 31)::bigint << 33 >> (random() * t)::integer AS h FROM generate_series(1, 40) OFFSET 0) AS s) AS s
WHERE sparse_of(hashes, bits)::lb_hll::bytea <> sparse_of(hashes, bits)
	OR lb_hll_count(sparse_of(hashes, bits)::lb_hll) <> (SELECT count(DISTINCT (h >> 32) & 4294967295) FROM unnest(hashes) AS h)
	OR lb_hll_empty(4) || sparse_of(hashes, bits)::lb_hll <> dense_of(hashes, 4)::lb_hll;

-- Parallel = serial; the plan says that it was parallel.
CREATE TABLE wide AS SELECT (random() * 30000)::bigint AS actor, i % 10 AS g FROM generate_series(1, 60000) AS i;
ANALYZE wide;
CREATE TABLE serial AS SELECT lb_hll_agg(actor) AS h, lb_hll_agg(actor::text, 10) AS t FROM wide;
CREATE TABLE grouped AS SELECT g, lb_hll_agg(actor) AS h FROM wide GROUP BY g;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT lb_hll_agg(actor) FROM wide;
SELECT 'parallel' FROM wide HAVING lb_hll_agg(actor) <> (SELECT h FROM serial) OR lb_hll_agg(actor::text, 10) <> (SELECT t FROM serial);
SELECT 'parallel groups' FROM (SELECT g, lb_hll_agg(actor) AS h FROM wide GROUP BY g EXCEPT ALL SELECT g, h FROM grouped) AS t;
SELECT 'parallel union' FROM grouped HAVING lb_hll_union_agg(h) <> (SELECT h FROM serial);
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET max_parallel_workers_per_gather;
-- Sets larger than memory's share, on disk; many groups, and many sets of them; sorted and hashed.
SET work_mem = '64kB';
SELECT 'spill' FROM (SELECT id, lb_hll_agg(actor) AS h FROM visit GROUP BY id) AS a
JOIN (SELECT id, lb_hll_union_agg(h) AS h FROM (SELECT id, lb_hll_agg(actor) AS h FROM visit GROUP BY id, set_id) AS p GROUP BY id) AS b USING (id)
WHERE a.h <> b.h;
RESET work_mem;
CREATE TABLE sets AS SELECT g, actor % 300 AS k, lb_hll_agg(actor) AS h, lb_hll_agg(actor, 6) AS h6 FROM wide WHERE actor % 7 = 0 GROUP BY GROUPING SETS ((g, actor % 300), (actor % 300), (g), ());
SELECT count(*) > 1000 AS many FROM sets;
SELECT 'sets of sets' FROM sets HAVING lb_hll_union_agg(h) FILTER (WHERE g IS NOT NULL AND k IS NOT NULL) <> lb_hll_union_agg(h) FILTER (WHERE g IS NULL AND k IS NULL)
	OR lb_hll_union_agg(h6) FILTER (WHERE g IS NOT NULL AND k IS NULL) <> lb_hll_union_agg(h6) FILTER (WHERE g IS NULL AND k IS NOT NULL);
SELECT 'sets', g, k FROM sets WHERE h || lb_hll_empty(6) <> h6;
SET enable_hashagg = off;
SELECT 'sorted', k FROM (SELECT actor % 300 AS k, lb_hll_agg(actor) AS h FROM wide WHERE actor % 7 = 0 GROUP BY 1 EXCEPT ALL SELECT k, h FROM sets WHERE g IS NULL AND k IS NOT NULL) AS t;
RESET enable_hashagg;

-- A window = the same frame on its own.
SELECT 'window', width, id FROM (VALUES (0), (5), (40)) AS w (width),
	LATERAL (SELECT id, lb_hll_agg(nullif(actor % 50, 7), 8) OVER (ORDER BY id ROWS BETWEEN width PRECEDING AND CURRENT ROW) AS h FROM visit WHERE set_id = 2 AND id <= 200) AS t
WHERE h IS DISTINCT FROM (SELECT lb_hll_agg(nullif(actor % 50, 7), 8) FROM visit AS v WHERE v.set_id = 2 AND v.id BETWEEN t.id - width AND t.id);
SELECT 'growing window', id FROM (SELECT id, lb_hll_agg(actor, 4) OVER (ORDER BY id) AS h FROM visit WHERE set_id = 3 AND id <= 200) AS t
WHERE h IS DISTINCT FROM (SELECT lb_hll_agg(actor, 4) FROM visit AS v WHERE v.set_id = 3 AND v.id <= t.id);
SELECT 'union window', id FROM (SELECT set_id AS id, lb_hll_union_agg(h) OVER (ORDER BY set_id) AS u FROM built WHERE bits = 8) AS t
WHERE u IS DISTINCT FROM (SELECT lb_hll_union_agg(h) FROM built WHERE bits = 8 AND set_id <= id);

-- Nothing, and NULL.
SELECT lb_hll_agg(NULL::bigint), lb_hll_agg(actor) AS no_rows, lb_hll_union_agg(NULL::lb_hll) FROM visit WHERE id < 0;
SELECT lb_hll_agg(NULL::text), lb_hll_agg(NULL::bigint, 10), lb_hll_union_agg(NULL::lb_hll) FROM generate_series(1, 3);
SELECT lb_hll_empty() AS h, lb_hll_empty(NULL) AS same, lb_hll_empty(4) AS least, lb_hll_count(lb_hll_empty()), lb_hll_bits(lb_hll_empty(18)), b.* FROM lb_hll_bounds(lb_hll_empty()) AS b;
SELECT lb_hll_add(lb_hll_empty(), NULL::text), lb_hll_add(NULL, 5), lb_hll_count(NULL), lb_hll_empty() || NULL AS plus, lb_hll_bounds(NULL) AS bounds, lb_hll_bits(NULL), lb_hll_hash_value(NULL::text);

-- What a user can do wrong.
\set SHOW_CONTEXT never
CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
SELECT * FROM pg_temp.wrong(ARRAY[
	'22023', 'cannot have 3 bits', 'SELECT lb_hll_agg(1, 3)',
	'22023', 'cannot have 19 bits', 'SELECT lb_hll_agg(1, 19)',
	'22023', 'cannot have -2147483648 bits', 'SELECT lb_hll_empty(-2147483648)',
	'22023', 'the same for all rows', 'SELECT lb_hll_agg(1, n) FROM generate_series(9, 10) AS n',
	'22003', 'confidence 0 is not between', 'SELECT lb_hll_bounds(lb_hll_empty(), 0)',
	'22003', 'confidence 1 is not between', 'SELECT lb_hll_bounds(lb_hll_empty(), 1)',
	'22003', 'confidence NaN is not between', 'SELECT lb_hll_bounds(lb_hll_empty(), ''NaN'')',
	'0A000', 'type jsonb', 'SELECT lb_hll_agg(''{}''::jsonb)',
	'0A000', 'type integer[]', 'SELECT lb_hll_agg(ARRAY[1])',
	'0A000', 'type interval', 'SELECT lb_hll_add(lb_hll_empty(), ''1 day''::interval)',
	'0A000', 'type lb_hll', 'SELECT lb_hll_hash_value(lb_hll_empty())',
	'0A000', 'type record', 'SELECT lb_hll_hash_value(ROW(1, 2))',
	'0A000', 'nondeterministic', 'SELECT lb_hll_agg(t COLLATE blind) FROM (VALUES (''a''), (''A'')) AS v (t)',
	'00000', '', 'SELECT lb_hll_agg(t COLLATE "C") FROM (SELECT ''a'' COLLATE blind) AS v (t)'
]);

-- Golden bytes: the same on every machine, in every version.
CREATE TABLE golden (name text, hex text, count float8);
\copy golden FROM 'test/golden/hll.tsv'
SELECT name, lb_hll_count(h), h FROM golden, LATERAL (SELECT ('\x' || hex)::lb_hll) AS t (h) WHERE h::text <> '\x' || hex OR abs(lb_hll_count(h) - count) > 1e-12 * count;
SELECT g.name FROM golden AS g, LATERAL (SELECT regexp_match(name, '^integers 1 to (\d+), (\d+) bits$') AS m) AS p
WHERE m IS NOT NULL AND (SELECT lb_hll_agg(v, m[2]::integer) FROM generate_series(1, m[1]::integer) AS v)::text <> '\x' || hex;
SELECT count(*) AS golden, count(*) FILTER (WHERE name LIKE 'integers%') AS built FROM golden;
-- Golden hashes.
CREATE TABLE golden_hash (type text, value text, hash text);
\copy golden_hash FROM 'test/golden/hll_hash.tsv'
SELECT type, value, code, said FROM golden_hash, LATERAL pg_temp.attempt(format('SELECT 1 / (to_hex(lb_hll_hash_value(%L::%s)) = %L)::integer', value, type, hash)) WHERE code <> '00000';
SELECT count(*) AS golden, count(DISTINCT type) AS types FROM golden_hash;

-- Hostile text: 22P02, what is wrong where, and a hint each time.
SELECT t AS text, a.code, regexp_replace(a.said, ' (Take|Write) .*', '') AS said, a.hinted FROM (VALUES
	(''), ('x'), ('\'), ('\x'), ('\x0'), ('\x01'), ('\x01000'), ('\x01000e000'), ('\x01000e00001'), ('\x01000g0000'), ('\X01000e0000'), (' \x01000e0000'), ('\x01000e0000 '), ('\x01 000e0000'),
	('\x01000e000000'), ('\x00000e0000'), ('\x02000e0000'), ('\x01020e0000'), ('\x01ff0e0000'), ('\x0100030000'), ('\x0100130000'), ('\x01000e'), ('\x01000e01'), ('\x01000e0100'), ('\x01000e01005959bc2f'), ('\x01000effff'),
	('\x01010e'), ('\x01010400'), ('\x010104000000000000000000'), ('\x01ü'), ('01000e0000'), ('{}')
) AS v (t), LATERAL pg_temp.attempt(format('SELECT %L::lb_hll', t)) AS a;
SELECT '\x01000E0000'::lb_hll, '\x01000e0000'::lb_hll = lb_hll_empty() AS empty;

-- The wire and bytea: any bytes, through COPY BINARY and so through receive, and through the cast.
CREATE TABLE received (h lb_hll);
CREATE FUNCTION receive(bytes bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	frame bytea := '\x5047434f50590aff0d0a00' || '\x0000000000000000'::bytea || '\x0001' || int4send(length(bytes)) || bytes || '\xffff';
	octal text;
	result text;
	cast_result text;
BEGIN
	BEGIN
		cast_result := bytes::lb_hll::text;
	EXCEPTION WHEN OTHERS THEN
		cast_result := SQLSTATE || ': ' || SQLERRM;
	END;
	SELECT string_agg('\' || lpad(((b >> 6) * 100 + (b >> 3 & 7) * 10 + (b & 7))::text, 3, '0'), '' ORDER BY i) INTO octal
	FROM (SELECT i, get_byte(frame, i) AS b FROM generate_series(0, length(frame) - 1) AS i) AS t;
	TRUNCATE received;
	BEGIN
		EXECUTE format('COPY received FROM PROGRAM %L (FORMAT binary)', format('printf ''%s''', octal));
		SELECT h::text INTO STRICT result FROM received;
	EXCEPTION WHEN OTHERS THEN
		result := SQLSTATE || ': ' || SQLERRM;
	END;
	RETURN CASE WHEN result = cast_result THEN result ELSE 'received ' || result || ', cast ' || cast_result END;
END
$$;
SELECT name FROM golden, LATERAL receive(decode(hex, 'hex')) AS r WHERE length(hex) < 2000 AND r <> '\x' || hex;
SELECT why, receive(decode(hex, 'hex')) FROM (VALUES
	('nothing', ''), ('version only', '01'), ('version 0', '00000e0000'), ('version 2', '02000e0000'), ('a flag', '01020e0000'), ('every flag', '01ff0e0000'),
	('3 bits', '0100030000'), ('19 bits', '0100130000'), ('no count', '01000e00'), ('a place too many', '01000404005959bc2f5959bc2f5959bc2f5959bc2f0f'),
	('a byte after none', '01000e000000'), ('no places', '01000e0100'), ('half a place', '01000e01005959'), ('a place', '01000e01005959bc2f01'),
	('no high part', '01000e01005959bc2f'), ('high part 0', '01000e01005959bc2f00'), ('high part too high', '01000e01005959bc2f02'), ('two high parts', '01000e01005959bc2f03'),
	('a byte too many', '01000e01005959bc2f0100'), ('padding of the high parts set', '01000e01005959bc2f81'),
	('three places', '01000e03005cc686604d16ef9b0222d9000b'), ('padding of the low parts set', '01000e03005cc686604d16ef9b0222d9040b'),
	('equal places', '01000e02005cc686202e63431003'), ('descending places', '01000e02003559bc2f2e63431003'), ('ascending places', '01000e02005cc686a09a2cde1703'), ('one higher', '01000e02003559bc2f2e63431005'),
	('rank missing', '01000e01000000000001'), ('rank 0', '01000e0100000000000100'), ('rank 34', '01000e0100000000000122'), ('rank 33', '01000e0100000000000121'),
	('rank not needed', '01000e01005959bc2f0121'), ('only ranks', '01000e010000000000212121'),
	('dense without registers', '01010400'), ('dense, too few', '0101040001000000000000'), ('dense, one too many', '01010400010000000000000000'),
	('dense of nothing', '010104000000000000000000'), ('dense without a least', '010104001111111111111111'), ('dense, base 62', '0101043e0100000000000000'),
	('dense, rank 62', '0101043d0100000000000000'), ('dense, rank 61', '0101043c0100000000000000'), ('exception missing', '010104000f00000000000000'),
	('exception too great', '010104000f000000000000002f'), ('greatest exception', '010104000f000000000000002e'), ('least exception', '010104000f0000000000000000'), ('an exception too many', '010104000f000000000000000000'),
	('two exceptions', '01010400ff000000000000000102')
) AS t (why, hex);
-- Golden bytes with one byte changed: refused, or another sketch; no other error.
SELECT name, i, x, r FROM golden, LATERAL generate_series(0, length(hex) / 2 - 1) AS i, (VALUES (1), (128), (255)) AS v (x),
	LATERAL receive(set_byte(decode(hex, 'hex'), i, get_byte(decode(hex, 'hex'), i) # x)) AS r
WHERE length(hex) < 80 AND r NOT LIKE '22P03: invalid bytes for type lb\_hll' AND (r NOT LIKE '\\x%' OR r = '\x' || hex);

-- Stored bytes are checked at each use: damage is XX001, never a crash.
UPDATE pg_cast SET castmethod = 'b', castfunc = 0 WHERE castsource = 'bytea'::regtype AND casttarget = 'lb_hll'::regtype;
CREATE TABLE damaged AS SELECT name, i, cut, CASE WHEN cut THEN substr(bytes, 1, i) ELSE set_byte(bytes, i, get_byte(bytes, i) # 129) END AS bytes
FROM golden, LATERAL (SELECT decode(hex, 'hex') AS bytes) AS b, LATERAL generate_series(0, least(length(bytes) - 1, 60)) AS i, (VALUES (true), (false)) AS c (cut) WHERE length(hex) < 2000;
SELECT question, a.code, count(*) > 0 AS some
FROM damaged, (VALUES ('lb_hll_count(%L::bytea::lb_hll)'), ('%L::bytea::lb_hll::text'), ('lb_hll_bounds(%L::bytea::lb_hll)'), ('lb_hll_send(%L::bytea::lb_hll)'), ('lb_hll_bits(%L::bytea::lb_hll)'),
	('lb_hll_union_agg(%L::bytea::lb_hll)'), ('lb_hll_add(%L::bytea::lb_hll, 5)'), ('lb_hll_empty() || %L::bytea::lb_hll')) AS q (question),
	LATERAL pg_temp.attempt('SELECT ' || format(question, bytes)) AS a
GROUP BY 1, 2 ORDER BY 1, 2;
UPDATE pg_cast SET castmethod = 'f', castfunc = 'lb_hll_from_bytea(bytea)'::regprocedure WHERE castsource = 'bytea'::regtype AND casttarget = 'lb_hll'::regtype;

-- Kept out of line and in, and through a binary file and back.
SELECT 'stored' FROM built AS a JOIN built AS b USING (bits, set_id) WHERE a.h <> b.h || b.h;
SELECT max(pg_column_size(h)) > 40000 AS out_of_line, min(pg_column_size(h)) < 40 AS short FROM built;
\copy built TO PROGRAM 'cat > "${PG_ABS_BUILDDIR:-.}/results/hll.bin"' (FORMAT binary)
CREATE TABLE rebuilt (LIKE built);
\copy rebuilt FROM PROGRAM 'cat "${PG_ABS_BUILDDIR:-.}/results/hll.bin"' (FORMAT binary)
SELECT count(*) AS rebuilt FROM rebuilt;
SELECT 'rebuilt', bits, set_id FROM (TABLE built EXCEPT ALL TABLE rebuilt) AS t;

-- Called by hand, with states that are plain values.
SELECT 'by hand' FROM built WHERE lb._hll_agg_final(lb._hll_agg_add(h, 123456789012345678, bits)) <> lb_hll_add(h, 123456789012345678)
	OR lb._hll_agg_union(h, h) <> h OR lb._hll_agg_add(h, NULL::bigint, bits) <> h;

-- PUBLIC uses the aggregates, not their inner functions.
SELECT p.oid::regprocedure FROM pg_proc AS p JOIN pg_namespace AS s ON s.oid = pronamespace
WHERE s.nspname = 'lb' AND proname LIKE '\_hll%' AND has_function_privilege('public', p.oid, 'EXECUTE');
CREATE ROLE regress_hll;
SET ROLE regress_hll;
SELECT lb_hll_count(lb_hll_agg(v) OVER (ORDER BY v) || lb_hll_agg(v, 10) OVER ()) AS count FROM generate_series(1, 2) AS v;
RESET ROLE;
DROP ROLE regress_hll;

DROP TABLE visit, built, long_text, wide, serial, grouped, sets, golden, golden_hash, received, damaged, rebuilt;
DROP FUNCTION dense_of, sparse_of, filled, receive;
DROP COLLATION blind;
DROP TYPE mood;
DROP DOMAIN small;
DROP EXTENSION leaderboard;
