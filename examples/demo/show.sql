-- What `make demo` prints, from the read functions alone.  Variables bold, dim
-- and plain hold a terminal's codes, or nothing.

-- Numbers as people write them.
CREATE OR REPLACE FUNCTION pg_temp.n(value bigint) RETURNS text
    LANGUAGE sql RETURN to_char(value, 'FM999,999,999,999');

-- The board's best ten, with a bar as long as the share of the best one.
SELECT format(E'\n  %sThis week''s ten best%s   %s%s players, version %s, as of %s, %s%s\n',
        :'bold', :'plain', :'dim', pg_temp.n(population), version,
        to_char(as_of, 'HH24:MI:SS'), state, :'plain')
    FROM lb_version('weekly');
SELECT format('  %4s  %-22s %9s  %s', rank, member, pg_temp.n(value),
        repeat('█', greatest(1, 32 * value / max(value) OVER ())::integer))
    FROM lb_top('weekly', 10) ORDER BY place;

SELECT format(E'\n  %sAll-time, the five best%s\n', :'bold', :'plain');
SELECT format('  %4s  %-22s %9s', rank, member, pg_temp.n(value))
    FROM lb_top('all-time', 5) ORDER BY place;

-- Somebody near the top, with the neighbours.
SELECT member AS near FROM lb_page('weekly', 42, 1) \gset
SELECT format(E'\n  %sAround %s%s\n', :'bold', :'near', :'plain');
SELECT rtrim(format('  %4s  %-22s %9s  %s', rank, member, pg_temp.n(value),
        CASE WHEN member = :'near' THEN
            format('exactly rank %s of %s, top %s %%', rank, pg_temp.n(population),
                round((100.0 * rank / population)::numeric, 1))
        END))
    FROM lb_around('weekly', :'near', 2);

-- Somebody deep down: exact on the week's board, and on the bounded one of all
-- time a range, never a guess.
SELECT member AS deep FROM lb_page('weekly', 2500, 1) \gset
SELECT format(E'\n  %sDeep down: %s%s\n', :'bold', :'deep', :'plain');
SELECT format('  %-9s %7s points, %s', board, pg_temp.n(value),
        CASE kind WHEN 'exact' THEN format('exactly rank %s of %s', pg_temp.n(rank), pg_temp.n(population))
            ELSE format('%s: rank %s to %s of %s, top %s %% to %s %%', kind,
                pg_temp.n(rank_low), pg_temp.n(rank_high), pg_temp.n(population),
                round((100.0 * rank_low / population)::numeric, 1), round((100.0 * rank_high / population)::numeric, 1))
        END)
    FROM unnest(ARRAY['weekly', 'all-time']) AS board, lb_rank(board, :'deep');

-- Everybody: the histogram that the board keeps, made here from the games.
SELECT format(E'\n  %sHow this week''s points are spread%s\n', :'bold', :'plain');
SELECT '  ' || line
    FROM (
        SELECT lb_histogram_chart(lb_histogram_agg(points), 32) AS chart
        FROM (
            SELECT sum(points)::bigint AS points FROM sample.game
            WHERE played_at >= date_trunc('week', now(), 'Europe/Berlin')
            GROUP BY player
        ) AS this_week
    ) AS drawn, string_to_table(chart, E'\n') AS line
    WHERE line <> '';
SELECT '';
