-- lb.unit_cost: what it says is what tables and rounds add up to.  The seed is in
-- the names of the tests: LB_SEED=… repeats a run.
\i test/include/seeded.sql
SELECT plan(12);

CREATE TABLE kind (type text, operator text, counter text, each integer, id bigint);
INSERT INTO kind VALUES ('exact', 'sum', 'sums', 3000, 0), ('exact', 'max', 'best', 1000, 0), ('unique', 'sum', 'viewers', 3000, 0), ('approximate', 'sum', 'hits', 3000, 0);
UPDATE kind SET id = lb_create_counter(counter, type => type, operator => operator);
SELECT lb_create_board(counter, counter), lb_create_board(counter || ' day', counter, 'day') FROM kind \g /dev/null

SELECT is((SELECT count(*) FROM lb.unit_cost), 6::bigint, 'a row a kind');
SELECT is((SELECT sum(counters) FROM lb.unit_cost), 4::numeric, 'with its counters');
SELECT ok((SELECT bool_and(num_nulls(events, log_bytes, projection_bytes, refresh_seconds) = 4) FROM lb.unit_cost), 'and no history');

CREATE TABLE spent (seconds double precision);
CREATE PROCEDURE play() LANGUAGE plpgsql AS $$
DECLARE
	began timestamptz;
BEGIN
	FOR i IN 1 .. 4 LOOP
		PERFORM count(*) FROM kind AS k, LATERAL (SELECT array_agg('m' || floor(random() ^ 2 * 2000)) AS m, array_agg('a' || floor(random() * 1000)) AS a, array_agg(i || ' ' || g) AS k, array_fill(1::bigint, ARRAY[each]) AS d FROM generate_series(1, each) AS g) AS e,
			LATERAL lb_submit_batch(k.counter, e.m, e.d, e.k, actors => e.a) AS s;
		COMMIT;
		began := clock_timestamp();
		PERFORM lb_refresh();
		INSERT INTO spent VALUES (extract(epoch FROM clock_timestamp() - began));
		COMMIT;
	END LOOP;
END
$$;
CALL play();
-- What vacuum would have to say, before sizes are compared.
VACUUM lb.bucket, lb.standing, lb.sketch, lb.page, lb.version, lb.moved;
CREATE TABLE said AS SELECT * FROM lb.unit_cost;

SELECT results_eq('SELECT type, operator, events FROM said WHERE events IS NOT NULL ORDER BY 1, 2', 'SELECT type, operator, 4 * each::bigint FROM kind ORDER BY 1, 2', 'events are those counted');
SELECT ok((SELECT bool_and(log_bytes > 0 AND projection_bytes > 0 AND refresh_seconds > 0) FROM said WHERE events IS NOT NULL), seeded('and each has a price'));
SELECT ok((SELECT sum(log_bytes / 1e6 * events) / (SELECT sum(pg_total_relation_size(inhrelid)) FROM pg_inherits WHERE inhparent = 'lb.event'::regclass AND pg_relation_size(inhrelid) > 0) BETWEEN 0.99 AND 1.01 FROM said),
	seeded('the log as a whole'));
SELECT ok((SELECT sum(projection_bytes / 1e6 * events) / (SELECT sum(pg_total_relation_size(('lb.' || t)::regclass)) FROM unnest(ARRAY['bucket', 'standing', 'sketch', 'page', 'version', 'moved']) AS t) BETWEEN 0.99 AND 1.01 FROM said),
	seeded('the projections as a whole'));
SELECT ok((SELECT sum(refresh_seconds / 1e6 * events) <= (SELECT sum(seconds) FROM spent) FROM said), seeded('no more time than passed'));
SELECT ok((SELECT sum(refresh_seconds / 1e6 * events) > (SELECT sum(seconds) / 10 FROM spent) FROM said), seeded('and a good part of it'));
SELECT ok((SELECT (SELECT log_bytes FROM said WHERE type = 'unique') > 0.8 * log_bytes AND projection_bytes < (SELECT projection_bytes FROM said WHERE type = 'unique') FROM said WHERE type = 'exact' AND operator = 'sum'),
	seeded('sketches of actors take more than sums'));

-- Who makes another one is told.
\setenv PGHOST :HOST
\setenv PGPORT :PORT
\setenv PGUSER :USER
\setenv PGDATABASE :DBNAME
\set told `psql -Xq -o /dev/null -c "SELECT lb_create_counter('more', type => 'unique')" -c "SELECT lb_create_counter('few', operator => 'max')" 2>&1 | grep -c 'a million events of such counters took'`
SELECT is(:told, 1, 'a NOTICE with the price, where enough was counted');

-- However many members there are, an approximate counter takes as much.
SELECT lb_create_counter('few members', type => 'approximate', tolerated_error => 0.01), lb_create_counter('many members', type => 'approximate', tolerated_error => 0.01) \g /dev/null
SELECT lb_create_board('few', 'few members'), lb_create_board('many', 'many members') \g /dev/null
SELECT count(*) FROM (VALUES ('few members', 1000), ('many members', 30000)) AS c(counter, n), generate_series(0, n / 1000 - 1) AS b, LATERAL (SELECT array_agg('member ' || lpad((b * 1000 + g)::text, 7, '0')) AS m, array_agg(b || ' ' || g) AS k FROM generate_series(1, 1000) AS g) AS e,
	LATERAL lb_submit_batch(c.counter, e.m, array_fill(7::bigint, ARRAY[1000]), e.k) AS s \g /dev/null
SELECT lb_refresh() \g /dev/null
WITH size AS (SELECT counter, count(*) AS n, sum(b) AS bytes FROM (SELECT counter_id, pg_column_size(u.*) + pg_column_size(u.sketch) AS b FROM lb.bucket AS u UNION ALL SELECT counter_id, pg_column_size(k.sketch) FROM lb.sketch AS k UNION ALL SELECT counter_id, pg_column_size(s.*) FROM lb.standing AS s) AS s
	JOIN lb_counters() USING (counter_id) WHERE counter LIKE '% members' GROUP BY 1)
SELECT ok(bool_and(n BETWEEN 103 AND 106) AND max(bytes) < 1.3 * min(bytes), 'memory and rows do not depend on the number of members') FROM size;
SELECT finish();
