-- A sample season for the demonstration: a few thousand players, five weeks
-- of games until now, few strong players and many casual ones.
--
-- The players, their games and their points are the same in every run (they
-- are drawn from a hash of a number, not from random()); only the calendar
-- moves with the clock, so that this week is always under way.
--
-- Each line it prints is shown as a step of `make demo`.

CREATE SCHEMA sample;

-- A number in [0, 1) that looks random and is the same everywhere.
CREATE FUNCTION sample.draw(what text, n integer) RETURNS double precision
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN ('x' || substr(md5(what || n), 1, 8))::bit(32)::bigint / 4294967296.0;

CREATE FUNCTION sample.pick(what text, n integer, choices text[]) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN choices[1 + floor(sample.draw(what, n) * array_length(choices, 1))::integer];

-- Players: a made-up name of syllables, a skill with a long tail (Pareto), a
-- number of games.
CREATE TABLE sample.player AS
    SELECT DISTINCT ON (name) n, name, skill, games
    FROM (
        SELECT n,
            initcap(sample.pick('a', n, '{ka,mi,sol,ve,ra,no,lin,ta,el,jo,bri,zé,yu,fen,or,dá}')
                || sample.pick('b', n, '{ra,li,no,ve,ma,sha,do,ne,ri,ka,lu,mé}')
                || sample.pick('c', n, '{n,s,l,"",r,th,"",k}'))
            || ' '
            || initcap(sample.pick('d', n, '{bel,cor,dun,fal,gar,hol,ist,kor,lam,mer,nor,ost,pel,quin,ros,sten,tor,ulv,var,wes}')
                || sample.pick('e', n, '{a,e,i,o,an,en,in,or,ar,ø}')
                || sample.pick('f', n, '{ski,vik,dor,lund,berg,ster,ro,ne,mark,tis,lev,mann,di,ček}')) AS name,
            (1 - sample.draw('skill', n)) ^ (-0.6) AS skill,
            2 + floor(12 * sample.draw('games', n) ^ 2)::integer AS games
        FROM generate_series(1, 5000) AS n
    ) AS everybody
    ORDER BY name, n;

-- Games: the first of a player is in this week, the others anywhere in it or
-- in the four weeks before, later ones more often.
CREATE TABLE sample.game AS
    SELECT format('game %s of player %s', g, p.n) AS key,
        p.name AS player,
        ceil(10 * p.skill * (0.3 + sample.draw('points', p.n * 100 + g)))::bigint AS points,
        CASE WHEN g = 1 OR sample.draw('week', p.n * 100 + g) < 0.4
            THEN monday + sample.draw('when', p.n * 100 + g) * (now() - monday)
            ELSE monday - sample.draw('when', p.n * 100 + g) ^ 2 * interval '28 days'
        END AS played_at
    FROM sample.player AS p,
        generate_series(1, p.games) AS g,
        (SELECT date_trunc('week', now(), 'Europe/Berlin') AS monday) AS calendar;

-- One counter, two boards over it.  The week's ranks are exact at any depth;
-- those of all time for the best 500, and deeper down a range.
SELECT lb_create_tenant('arcade', 'Europe/Berlin') AS tenant \gset
SELECT lb_create_counter('points') AS counter \gset
SET client_min_messages = warning;      -- that no refresh is scheduled yet is known
SELECT lb_create_board('all-time', 'points', ranks => 'bounded', head => 500) AS board \gset
SELECT lb_create_board('weekly', 'points', period => 'week') AS board \gset
RESET client_min_messages;

-- Batches of 5,000; what is older than this week is history.
CREATE VIEW sample.batch AS
    SELECT this_week, no,
        array_agg(player ORDER BY key) AS members, array_agg(points ORDER BY key) AS deltas,
        array_agg(key ORDER BY key) AS keys, array_agg(played_at ORDER BY key) AS event_times
    FROM (
        SELECT *, (row_number() OVER (PARTITION BY this_week ORDER BY key) - 1) / 5000 AS no
        FROM sample.game,
            LATERAL (SELECT played_at >= date_trunc('week', now(), 'Europe/Berlin') AS this_week) AS w
    ) AS numbered
    GROUP BY this_week, no;

SELECT format('earlier weeks, lb_backfill: %s games %s', to_char(count(*), 'FM999,999'), status)
    FROM sample.batch AS b, lb_backfill('points', b.members, b.deltas, b.keys, b.event_times) AS r
    WHERE NOT this_week
    GROUP BY status;

SELECT format('this week, lb_submit_batch: %s games %s', to_char(count(*), 'FM999,999'), status)
    FROM sample.batch AS b, lb_submit_batch('points', b.members, b.deltas, b.keys, b.event_times) AS r
    WHERE this_week
    GROUP BY status;

SELECT format('the same once more, as a client that lost the answer does: %s games %s',
        to_char(count(*), 'FM999,999'), status)
    FROM sample.batch AS b, lb_submit_batch('points', b.members, b.deltas, b.keys, b.event_times) AS r
    WHERE this_week
    GROUP BY status;

SELECT lb_schedule() AS scheduled \gset
