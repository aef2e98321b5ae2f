-- lb_topk: what it says against plain SQL, its laws, its bytes, and what it
-- does with hostile input.  Queries that check print violations only.
CREATE EXTENSION leaderboard;
\pset null '(null)'

-- What it looks like.
SELECT lb_topk_agg(item, weight) AS t FROM (VALUES ('ann', 5), ('bob', 8), ('ann', 7), ('say "hi"', 1), ('back\slash', 1), ('', 1), ('Zoë', 3), ('zoe', 3)) AS t (item, weight);
SELECT i.* FROM lb_topk_items((SELECT lb_topk_agg(item, weight) FROM (VALUES ('ann', 5), ('bob', 8), ('ann', 7), ('', 1), ('Zoë', 3), ('zoe', 3)) AS t (item, weight))) AS i;
-- One more than fits: the lightest is forgotten, and the bound says how heavy it may be.
CREATE TABLE small AS SELECT lb_topk_agg('m' || i, i, 3 ORDER BY i) AS t FROM generate_series(1, 7) AS i;
SELECT t, lb_topk_total(t), lb_topk_bound(t), lb_topk_capacity(t) FROM small;
SELECT i.* FROM small, lb_topk_items(t) AS i;
SELECT m, i.* FROM small, (VALUES ('m7'), ('m5'), ('m1'), ('m'), (''), ('z')) AS v (m), lb_topk_item(t, m) AS i;

-- Data: streams of different shape, known exactly.
SELECT setseed(0.42);
CREATE TABLE event AS
SELECT s AS set_id, i AS id, CASE s
	WHEN 1 THEN 'm' || (random() * 50)::integer
	WHEN 2 THEN 'player ' || (exp(random() * 7))::integer
	WHEN 3 THEN 'every one another ' || i
	WHEN 4 THEN md5((i % 201)::text)
	WHEN 5 THEN CASE WHEN i <= 1000 THEN 'late tail ' || i ELSE 'head ' || i % 5 END
	ELSE repeat('ü', (i % 126)::integer) END AS item,
	CASE WHEN s = 2 THEN 1 WHEN s = 4 THEN i WHEN s = 6 THEN 1000000000000000 ELSE (1 + random() * 9)::bigint END AS weight
FROM generate_series(1, 6) AS s, LATERAL generate_series(1, 2000) AS i;
ANALYZE event;
CREATE TABLE truth AS SELECT set_id, item, sum(weight)::bigint AS weight FROM event GROUP BY 1, 2;
CREATE TABLE shape (n integer);
INSERT INTO shape VALUES (1), (2), (10), (100), (1000);
CREATE TABLE built AS
SELECT n, set_id, 'serial' AS how, lb_topk_agg(item, weight, n ORDER BY id) AS t FROM shape, event GROUP BY n, set_id;
INSERT INTO built SELECT n, set_id, 'parts ' || k, lb_topk_union_agg(t ORDER BY hashint4(part))
FROM (SELECT n, set_id, k, id % k AS part, lb_topk_agg(item, weight, n ORDER BY id) AS t FROM shape, event, (VALUES (2), (7), (40)) AS k (k) GROUP BY 1, 2, 3, 4) AS p GROUP BY n, set_id, k;
INSERT INTO built SELECT n, set_id, 'tree', (min(t::text) FILTER (WHERE part = 0))::lb_topk || ((min(t::text) FILTER (WHERE part = 1))::lb_topk || (min(t::text) FILTER (WHERE part = 2))::lb_topk)
FROM (SELECT n, set_id, id % 3 AS part, lb_topk_agg(item, weight, n ORDER BY id) AS t FROM shape, event GROUP BY 1, 2, 3) AS p GROUP BY n, set_id;
INSERT INTO built SELECT 10, set_id, 'mixed capacities', lb_topk_union_agg(t)
FROM (SELECT set_id, id % 2 AS part, lb_topk_agg(item, weight, CASE id % 2 WHEN 0 THEN 10 ELSE 1000 END ORDER BY id) AS t FROM event GROUP BY 1, 2) AS p GROUP BY set_id;
SELECT count(*) AS built FROM built;

CREATE TABLE tracked AS SELECT n, set_id, how, lb_topk_bound(t) AS bound, lb_topk_total(t) AS total, i.* FROM built, lb_topk_items(t) WITH ORDINALITY AS i (item, low, high, at);
ANALYZE tracked;

-- The promises: total, low and high of each item, the bound of all others.
SELECT 'total', n, set_id, how FROM built WHERE lb_topk_total(t) <> (SELECT sum(weight) FROM event AS e WHERE e.set_id = built.set_id) OR lb_topk_capacity(t) <> n;
SELECT 'tracked', k.*, weight FROM tracked AS k LEFT JOIN truth AS r USING (set_id, item)
WHERE weight IS NULL OR weight NOT BETWEEN low AND high OR high - low > bound OR high < bound OR low < 1;
SELECT 'untracked', n, set_id, how, r.item, weight FROM built JOIN truth AS r USING (set_id) LEFT JOIN tracked AS k USING (n, set_id, how, item)
WHERE k.item IS NULL AND weight > lb_topk_bound(t);
SELECT 'any item', n, set_id, how, r.item, weight, i.* FROM built JOIN truth AS r USING (set_id) LEFT JOIN tracked AS k USING (n, set_id, how, item), LATERAL lb_topk_item(t, r.item) AS i
WHERE (n < 1000 AND hashtext(r.item) % 9 = 0 OR weight % 97 = 0) AND (weight NOT BETWEEN i.low AND i.high OR i.low <> coalesce(k.low, 0) OR i.high <> coalesce(k.high, lb_topk_bound(t)));
-- The bound: at most the weight beyond the j heaviest, divided by capacity + 1 - j.
CREATE TABLE tail AS SELECT set_id, row_number() OVER w AS j, sum(weight) OVER (PARTITION BY set_id) - sum(weight) OVER w AS tail FROM truth WINDOW w AS (PARTITION BY set_id ORDER BY weight DESC ROWS UNBOUNDED PRECEDING);
SELECT 'bound', n, set_id, how, j FROM built JOIN tail USING (set_id) WHERE j <= n AND lb_topk_bound(t) > div(tail, n + 1 - j);
SELECT 'bound', n, set_id, how FROM built WHERE lb_topk_bound(t) > lb_topk_total(t) / (n + 1);
-- Highs and bound together are no more than was counted.
SELECT 'sum', n, set_id, how FROM tracked GROUP BY n, set_id, how, bound, total HAVING sum(high) + bound > total;
-- Enough room: exact, and the whole truth; the same bytes in any order and split.
SELECT 'exact', n, set_id, how FROM built WHERE (SELECT count(*) FROM truth AS r WHERE r.set_id = built.set_id) <= n
	AND (lb_topk_bound(t) <> 0 OR EXISTS (SELECT item, weight, weight FROM truth AS r WHERE r.set_id = built.set_id EXCEPT SELECT * FROM lb_topk_items(t)));
SELECT 'canonical', n, set_id FROM built WHERE lb_topk_bound(t) = 0 GROUP BY n, set_id HAVING count(DISTINCT t::text) > 1;
SELECT count(*) FILTER (WHERE lb_topk_bound(t) = 0) AS exact, count(*) FILTER (WHERE lb_topk_bound(t) > 0) AS bounded FROM built;
SELECT 'order', n, set_id FROM built WHERE how = 'serial' AND lb_topk_bound(t) = 0
	AND t <> (SELECT lb_topk_agg(item, weight, built.n ORDER BY hashtext(item), id DESC) FROM event AS e WHERE e.set_id = built.set_id);
-- Best first.
SELECT 'best first', n, set_id, how FROM tracked GROUP BY n, set_id, how HAVING array_agg(item ORDER BY at) <> array_agg(item ORDER BY low DESC, high DESC, item COLLATE "C");

-- Laws.
SELECT 'commutative' FROM built AS a, built AS b WHERE a.how = 'serial' AND b.how = 'parts 7' AND a.t || b.t <> b.t || a.t;
SELECT 'associative' FROM built AS a, built AS b, built AS c WHERE (a.n, b.n, c.n) = (1000, 1000, 1000) AND (a.how, b.how, c.how) = ('serial', 'parts 7', 'tree') AND lb_topk_bound((a.t || b.t) || c.t) = 0 AND (a.t || b.t) || c.t <> a.t || (b.t || c.t);
SELECT 'empty', n, set_id, how FROM built WHERE t || '{capacity:10000,total:0,bound:0,items:{}}' <> t;
SELECT 'same sequence', n, set_id FROM built WHERE how = 'serial' AND t <> (SELECT lb_topk_agg(item, weight, n ORDER BY id) FROM event AS e WHERE e.set_id = built.set_id);
SELECT 'add', n, set_id, how FROM built WHERE lb_topk_add(t, 'one more', 77) <> t || (SELECT lb_topk_agg('one more', v, n) FROM (VALUES (77)) AS w (v)) OR lb_topk_add(t, 'x') <> lb_topk_add(t, 'x', NULL);
SELECT 'text', n, set_id, how FROM built WHERE t::text::lb_topk <> t OR t::text::lb_topk::text <> t::text;
SELECT 'bytea', n, set_id, how FROM built WHERE t::bytea::lb_topk <> t OR t::bytea <> lb_topk_send(t);
SELECT 'defaults' FROM event HAVING lb_topk_agg(item, weight ORDER BY set_id, id) <> lb_topk_agg(item, weight, 100 ORDER BY set_id, id) OR lb_topk_agg(item, weight ORDER BY set_id, id) <> lb_topk_agg(item, weight, NULL ORDER BY set_id, id);
SELECT 'nulls' FROM event HAVING lb_topk_agg(item, weight ORDER BY set_id, id) FILTER (WHERE id % 5 > 1) <> lb_topk_agg(CASE WHEN id % 5 > 0 THEN item END, CASE WHEN id % 5 <> 1 THEN weight END ORDER BY set_id, id);
-- Hashing agrees with equality.
SELECT count(*) = count(DISTINCT t::text) AS agree FROM (SELECT t FROM built UNION SELECT t::text::lb_topk FROM built) AS t;
SELECT 'except' FROM (SELECT t FROM built EXCEPT ALL SELECT t FROM built) AS t;

-- Parallel = serial, as long as nothing is forgotten; beyond, the promises hold.
CREATE TABLE wide AS SELECT 'm' || (exp(random() * 8))::integer AS item, i % 7 + 1 AS weight, i % 10 AS g FROM generate_series(1, 60000) AS i;
ANALYZE wide;
CREATE TABLE exactly AS SELECT item, sum(weight)::bigint AS weight FROM wide GROUP BY 1;
CREATE TABLE serial AS SELECT lb_topk_agg(item, weight, 10000) AS t FROM wide;
CREATE TABLE grouped AS SELECT g, lb_topk_agg(item, weight, 10000) AS t FROM wide GROUP BY g;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT lb_topk_agg(item, weight) FROM wide;
SELECT 'parallel' FROM wide HAVING lb_topk_agg(item, weight, 10000) <> (SELECT t FROM serial);
SELECT 'parallel groups' FROM (SELECT g, lb_topk_agg(item, weight, 10000) AS t FROM wide GROUP BY g EXCEPT ALL SELECT g, t FROM grouped) AS t;
SELECT 'parallel union' FROM grouped HAVING lb_topk_union_agg(t) <> (SELECT t FROM serial);
CREATE TABLE bounded AS SELECT lb_topk_agg(item, weight) AS t FROM wide;
SELECT 'parallel promises', e.item, weight, i.* FROM bounded, exactly AS e, LATERAL lb_topk_item(t, e.item) AS i WHERE weight NOT BETWEEN low AND high OR lb_topk_bound(t) > lb_topk_total(t) / 101;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET max_parallel_workers_per_gather;
-- Many groups, and many sets of groups at once; sorted and hashed; on disk.
CREATE TABLE sets AS SELECT g, item AS k, lb_topk_agg(item, weight, 10000) AS t, lb_topk_union_agg(one) AS united
FROM wide, LATERAL (SELECT lb_topk_add('{capacity:10000,total:0,bound:0,items:{}}', item, weight)) AS o (one) WHERE weight = 7 GROUP BY GROUPING SETS ((g, item), (item), (g), ());
SELECT count(*) > 1000 AS many FROM sets;
SELECT 'sets', g, k FROM sets WHERE t <> united;
SELECT 'sets of sets' FROM sets HAVING lb_topk_union_agg(t) FILTER (WHERE g IS NOT NULL AND k IS NOT NULL) <> lb_topk_union_agg(t) FILTER (WHERE g IS NULL AND k IS NULL);
SET enable_hashagg = off;
SELECT 'sorted', k FROM (SELECT item AS k, lb_topk_agg(item, weight, 10000) AS t FROM wide WHERE weight = 7 GROUP BY 1 EXCEPT ALL SELECT k, t FROM sets WHERE g IS NULL AND k IS NOT NULL) AS t;
RESET enable_hashagg;
SET work_mem = '64kB';
SELECT 'spill' FROM (SELECT id, lb_topk_agg(item, weight, 10) AS t FROM event GROUP BY id) AS a
JOIN (SELECT id, lb_topk_union_agg(t) AS t FROM (SELECT id, lb_topk_agg(item, weight, 10) AS t FROM event GROUP BY id, set_id) AS p GROUP BY id) AS b USING (id) WHERE a.t <> b.t;
RESET work_mem;
-- A window whose frame grows, or moves.
SELECT 'window', width, i FROM (VALUES (0), (3), (300)) AS w (width),
	LATERAL (SELECT id AS i, lb_topk_agg(item, weight, 5) OVER (ORDER BY id ROWS BETWEEN width PRECEDING AND CURRENT ROW) AS moved FROM event WHERE set_id = 2 AND id <= 200) AS t
WHERE moved IS DISTINCT FROM (SELECT lb_topk_agg(item, weight, 5 ORDER BY id) FROM event AS e WHERE set_id = 2 AND e.id BETWEEN i - width AND i);

-- Nothing, and NULL.
SELECT lb_topk_agg(item, weight) AS no_rows, lb_topk_union_agg(NULL::lb_topk) FROM event WHERE id < 0;
SELECT lb_topk_agg(NULL, 1), lb_topk_agg('a', NULL), lb_topk_agg(NULL, 1, 5), lb_topk_union_agg(NULL::lb_topk) FROM generate_series(1, 3);
CREATE TABLE nothing AS SELECT '{capacity:100,total:0,bound:0,items:{}}'::lb_topk AS t;
SELECT lb_topk_total(t), lb_topk_bound(t), lb_topk_capacity(t), i.*, (SELECT count(*) FROM lb_topk_items(t)) AS items FROM nothing, lb_topk_item(t, 'a') AS i;
SELECT lb_topk_total(NULL), t || NULL AS united, lb_topk_item(t, NULL) AS item, lb_topk_add(t, NULL) AS no_item, lb_topk_add(NULL, 'a') AS no_sketch FROM nothing;
SELECT * FROM lb_topk_items(NULL);

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
	('lb_topk_agg(''a'', 0)'), ('lb_topk_agg(''a'', -9223372036854775808)'),
	('lb_topk_agg(''a'', 1, 0)'), ('lb_topk_agg(''a'', 1, 10001)'), ('lb_topk_agg(''a'', 1, -2147483648)'),
	('lb_topk_agg(''a'', 1, n) FROM generate_series(2, 3) AS n'),
	('lb_topk_agg(repeat(''a'', 255), 1)'), ('lb_topk_agg(repeat(''a'', 256), 1)'), ('lb_topk_agg(repeat(''ü'', 128), 1)'),
	('lb_topk_agg(''a'', 4611686018427387904) FROM generate_series(1, 2)'),
	('lb_topk_agg(n::text, 4611686018427387904) FROM generate_series(1, 2) AS n'),
	('lb_topk_agg(''a'', 9223372036854775807) || lb_topk_agg(''b'', 1)'),
	('lb_topk_add(lb_topk_agg(''a'', 9223372036854775807), ''b'')'),
	('lb_topk_add(t, ''a'', 0) FROM nothing'), ('lb_topk_add(t, repeat(''a'', 256)) FROM nothing'),
	('lb_topk_union_agg(lb_topk_add(t, ''a'', 9223372036854775807)) FROM nothing, generate_series(1, 2)'),
	('lb_topk_agg(''a'', 9223372036854775807)')
) AS t (command);

-- Hostile text: 22P02, what is wrong where, and a hint each time.
SELECT t, try(format('SELECT %L::lb_topk', t)) FROM (VALUES
	(''), ('{'), ('null'), ('{capacity:100}'), ('{capacity:100,total:0,bound:0,items:{}'), ('{capacity:100,total:0,bound:0,items:{}}x'),
	('{capacity:0,total:0,bound:0,items:{}}'), ('{capacity:10001,total:0,bound:0,items:{}}'), ('{capacity:-1,total:0,bound:0,items:{}}'), ('{capacity:99999999999999999999,total:0,bound:0,items:{}}'),
	('{capacity:1,total:-1,bound:0,items:{}}'), ('{capacity:1,total:5,bound:6,items:{}}'), ('{capacity:1,total:5,bound:0,items:{}}'), ('{capacity:1,total:5,bound:1,items:{}}'), ('{capacity:1,total:5,bound:-1,items:{}}'),
	('{capacity:1,total:9223372036854775808,bound:0,items:{}}'),
	('{capacity:2,total:2,bound:0,items:{"b":[1,1],"a":[1,1]}}'), ('{capacity:2,total:2,bound:0,items:{"a":[1,1],"a":[1,1]}}'), ('{capacity:1,total:2,bound:0,items:{"a":[1,1],"b":[1,1]}}'),
	('{capacity:2,total:1,bound:0,items:{"a":[0,1]}}'), ('{capacity:2,total:1,bound:0,items:{"a":[1,0]}}'), ('{capacity:2,total:1,bound:0,items:{"a":[-1,1]}}'), ('{capacity:2,total:2,bound:0,items:{"a":[1,2]}}'),
	('{capacity:1,total:9,bound:3,items:{"a":[2,6]}}'), ('{capacity:1,total:9,bound:3,items:{"a":[1,2]}}'), ('{capacity:1,total:9,bound:3,items:{"a":[6,7]}}'), ('{capacity:1,total:9,bound:0,items:{"a":[8,8]}}'), ('{capacity:2,total:9,bound:3,items:{"a":[4,6]}}'),
	('{capacity:2,total:9223372036854775807,bound:0,items:{"a":[9223372036854775807,9223372036854775807],"b":[1,1]}}'),
	('{capacity:2,total:1,bound:0,items:{"a:[1,1]}}'), ('{capacity:2,total:1,bound:0,items:{a:[1,1]}}'), ('{capacity:2,total:1,bound:0,items:{"a\n":[1,1]}}'), ('{capacity:2,total:1,bound:0,items:{"a\":[1,1]}}'), ('{capacity:2,total:1,bound:0,items:{"\'),
	('{capacity:2,total:1,bound:0,items:{"a":[1]}}'), ('{capacity:2,total:1,bound:0,items:{"a":1}}'), ('{capacity:2,total:1,bound:0,items:{"a":[1,1],}}'), ('{capacity:2,total:1,bound:0,items:{"a":[1.0,1]}}'), ('{capacity:2,total:1,bound:0,items:{五:[1,1]}}')
) AS v (t);
SELECT try(format('SELECT %L::lb_topk', '{capacity:2,total:1,bound:0,items:{"' || repeat('a', n) || '":[1,1]}}')) FROM (VALUES (255), (256), (100000)) AS v (n);
SELECT ' { capacity : 2 , total : 9 , bound : 3 , items : { "a" : [ 3 , 3 ] , "b\"\\" : [ 1 , 3 ] } } '::lb_topk;

-- Golden bytes: the same on every machine, in every version.
CREATE TABLE golden (name text, hex text, t lb_topk);
\copy golden FROM 'test/golden/topk.tsv'
SELECT name, encode(lb_topk_send(t), 'hex') FROM golden WHERE hex <> encode(lb_topk_send(t), 'hex') OR decode(hex, 'hex')::lb_topk <> t;
SELECT count(*) AS golden FROM golden;

-- Any bytes, by the cast and, through COPY BINARY, by receive.
CREATE TABLE received (t lb_topk);
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
	SELECT t::text INTO STRICT result FROM received;
	RETURN result;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ': ' || SQLERRM;
END
$$;
CREATE FUNCTION cast_bytes(bytes bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	RETURN bytes::lb_topk::text;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN SQLSTATE || ': ' || detail;
END
$$;
SELECT name, receive(decode(hex, 'hex')) FROM golden WHERE receive(decode(hex, 'hex')) <> t::text;
SELECT why, cast_bytes(decode(hex, 'hex')), left(receive(decode(hex, 'hex')), 6) FROM (VALUES
	('nothing', ''), ('half a header', '0100'), ('version 0', '000064000000'), ('version 2', '020064000000'), ('a flag', '018064000000'),
	('capacity 0', '010000000000'), ('capacity 10001', '010011270000'), ('no bound', '0100640000'), ('a total of 70 bits', '01006400ffffffffffffffffff0100'),
	('long total', '01006400800000'), ('bound above total', '010001000506'), ('nothing of a total', '010064000500'), ('a bound and nothing else', '010001000501'),
	('item without length', '01006400010000'), ('item without bytes', '0100640001000003'), ('item without numbers', '010064000100000161'), ('item cut', '01006400010000026101'),
	('item with a head of nobody', '010064000100010161'), ('item of 256 bytes', '0100640001000080026101'), ('a huge length', '01006400010000ffffffffffffffff7f61'),
	('low 0', '01006400010000016100'), ('low above total', '01006400010000016102'), ('long low', '0100640001000001618100'),
	('the same twice', '010064000200000161010100'), ('the same twice, apart', '01006400020000016101000161' || '01'), ('descending', '0100640002000001620100016101'), ('a head not taken', '01006400020000016101' || '0002616201'),
	('a width above the bound', '0100010009030001610304'), ('a high below the bound', '0100010009030001610101'), ('highs above the total', '0100010009030001610701'), ('one too few', '0100020009030001610303'),
	('one too many', '01000100020000016101000162' || '01'), ('trailing byte', '0100640001000001610100'),
	('no text', '010064000100000' || '1ff01'), ('half a letter', '01006400010000' || '01c301'), ('a zero byte', '01006400010000' || '010001'),
	('fine', '0100640002000001610101016201'), ('fine with a bound', '0100010009030001610303')
) AS t (why, hex);
-- Golden bytes with one byte changed: refused, or another sketch; no other error.
SELECT name, i, x, r FROM golden, LATERAL generate_series(0, length(hex) / 2 - 1) AS i, (VALUES (1), (4), (128), (255)) AS v (x),
	LATERAL cast_bytes(set_byte(decode(hex, 'hex'), i, get_byte(decode(hex, 'hex'), i) # x)) AS r
WHERE r NOT LIKE '22P03: In the % bytes, %' AND (r NOT LIKE '{capacity:%' OR r = t::text);
SELECT name, i, cast_bytes(substr(decode(hex, 'hex'), 1, i)) FROM golden, LATERAL generate_series(0, length(hex) / 2 - 1) AS i WHERE cast_bytes(substr(decode(hex, 'hex'), 1, i)) NOT LIKE '22P03: In the % bytes, %';

-- Stored bytes are checked at each use: damage is XX001, never a crash.
ALTER EXTENSION leaderboard DROP CAST (bytea AS lb_topk);
DROP CAST (bytea AS lb_topk);
CREATE CAST (bytea AS lb_topk) WITHOUT FUNCTION;
CREATE TABLE damaged AS SELECT name, i, cut, CASE WHEN cut THEN substr(bytes, 1, i) ELSE set_byte(bytes, i, get_byte(bytes, i) # 129) END AS bytes
FROM golden, LATERAL (SELECT decode(hex, 'hex') AS bytes) AS b, LATERAL generate_series(0, length(bytes) - 1) AS i, (VALUES (true), (false)) AS c (cut) WHERE i < 60;
SELECT question, left(result, 5) AS result, count(*) > 0 AS some
FROM damaged, (VALUES ('lb_topk_total(%L::bytea::lb_topk)'), ('%L::bytea::lb_topk::text'), ('lb_topk_item(%L::bytea::lb_topk, ''a'')'), ('lb_topk_items(%L::bytea::lb_topk)'),
	('lb_topk_send(%L::bytea::lb_topk)'), ('lb_topk_union_agg(%L::bytea::lb_topk)'), ('%1$L::bytea::lb_topk || %1$L::bytea::lb_topk')) AS q (question),
	LATERAL try('SELECT ' || format(question, bytes)) AS result
GROUP BY 1, 2 ORDER BY 1, 2;
DROP CAST (bytea AS lb_topk);
CREATE CAST (bytea AS lb_topk) WITH FUNCTION lb_topk_from_bytea(bytea);
ALTER EXTENSION leaderboard ADD CAST (bytea AS lb_topk);

-- Kept out of line, compressed and not, and with a short header.
CREATE TABLE big (plain lb_topk, squeezed lb_topk);
ALTER TABLE big ALTER plain SET STORAGE external;
CREATE TABLE many AS SELECT lb_topk_agg(md5(i::text) || repeat('-', 50), i, 10000) AS t FROM generate_series(1, 3000) AS i;
INSERT INTO big SELECT t, t FROM (SELECT lb_topk_agg(md5(i::text) || repeat('-', 50), i, 10000) AS t FROM generate_series(1, 3000) AS i) AS t;
SELECT pg_column_size(plain) > 8000 AS long, pg_column_size(squeezed) < pg_column_size(plain) AS squeezed, lb_topk_total(plain) = lb_topk_total(squeezed) AS same FROM big;
SELECT 'toast' FROM big WHERE plain <> squeezed OR plain::text <> squeezed::text OR plain || squeezed <> squeezed || plain
	OR plain <> (SELECT t FROM many) OR (SELECT count(*) FROM lb_topk_items(plain)) <> 3000;

-- Through a binary file and back.
\copy built TO PROGRAM 'cat > "${PG_ABS_BUILDDIR:-.}/results/topk.bin"' (FORMAT binary)
CREATE TABLE rebuilt (LIKE built);
\copy rebuilt FROM PROGRAM 'cat "${PG_ABS_BUILDDIR:-.}/results/topk.bin"' (FORMAT binary)
SELECT 'rebuilt', n, set_id, how FROM (TABLE built EXCEPT ALL TABLE rebuilt) AS t;

-- PUBLIC uses the aggregates, not their inner functions.
SELECT p.oid::regprocedure FROM pg_proc AS p JOIN pg_namespace AS s ON s.oid = pronamespace
WHERE s.nspname = 'lb' AND proname LIKE '\_topk%' AND has_function_privilege('public', p.oid, 'EXECUTE');
CREATE ROLE regress_topk;
SET ROLE regress_topk;
SELECT lb_topk_agg('a', v) || '{capacity:1,total:0,bound:0,items:{}}' AS t FROM generate_series(1, 2) AS v;
RESET ROLE;
DROP ROLE regress_topk;

DROP TABLE small, event, truth, shape, built, tracked, tail, wide, exactly, serial, grouped, bounded, sets, nothing, golden, received, damaged, big, many, rebuilt;
DROP FUNCTION try, receive, cast_bytes;
DROP EXTENSION leaderboard;
