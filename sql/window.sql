-- Calendar windows: boundaries in zones that change their clocks.
-- Queries that check print violations only.
CREATE EXTENSION leaderboard;
\set ECHO none
\i test/include/attempt.sql
\set ECHO all
\pset null '(null)'
SET timezone = 'UTC';
SET datestyle = 'ISO';

-- By hand, from the world's own tables.  A window opens at an instant and not a
-- microsecond before, and closes when the next one opens.
CREATE TEMP TABLE stated (period text, zone text, opens timestamptz, closes timestamptz);
INSERT INTO stated VALUES
('day', 'UTC', '2024-02-29 00:00Z', '2024-03-01 00:00Z'), ('hour', 'UTC', '1969-12-31 23:00Z', '1970-01-01 00:00Z'),
('week', 'UTC', '2024-12-30 00:00Z', '2025-01-06 00:00Z'), ('month', 'UTC', '2024-02-01 00:00Z', '2024-03-01 00:00Z'),
('year', 'UTC', '1900-01-01 00:00Z', '1901-01-01 00:00Z'),
-- Berlin: 23 and 25 hours.
('day', 'Europe/Berlin', '2024-03-30 23:00Z', '2024-03-31 22:00Z'), ('day', 'Europe/Berlin', '2024-10-26 22:00Z', '2024-10-27 23:00Z'),
('hour', 'Europe/Berlin', '2024-10-27 00:00Z', '2024-10-27 01:00Z'), ('hour', 'Europe/Berlin', '2024-10-27 01:00Z', '2024-10-27 02:00Z'),
('week', 'Europe/Berlin', '2024-10-20 22:00Z', '2024-10-27 23:00Z'), ('month', 'Europe/Berlin', '2024-02-29 23:00Z', '2024-03-31 22:00Z'),
('year', 'Europe/Berlin', '2023-12-31 23:00Z', '2024-12-31 23:00Z'),
('day', 'America/New_York', '2024-03-10 05:00Z', '2024-03-11 04:00Z'), ('day', 'America/New_York', '2024-11-03 04:00Z', '2024-11-04 05:00Z'),
-- Havana: midnight is skipped in spring and comes twice in autumn; the second one is no boundary.
('day', 'America/Havana', '2024-03-09 05:00Z', '2024-03-10 05:00Z'), ('day', 'America/Havana', '2024-03-10 05:00Z', '2024-03-11 04:00Z'),
('day', 'America/Havana', '2024-11-02 04:00Z', '2024-11-03 04:00Z'), ('day', 'America/Havana', '2024-11-03 04:00Z', '2024-11-04 05:00Z'),
('hour', 'America/Havana', '2024-11-03 04:00Z', '2024-11-03 05:00Z'), ('hour', 'America/Havana', '2024-11-03 05:00Z', '2024-11-03 06:00Z'),
('week', 'America/Havana', '2024-10-28 04:00Z', '2024-11-04 05:00Z'),
-- The Azores set the clock back from 01:00 to 00:00, and forward from 00:00 to 01:00.
('day', 'Atlantic/Azores', '2024-10-26 00:00Z', '2024-10-27 00:00Z'), ('day', 'Atlantic/Azores', '2024-10-27 00:00Z', '2024-10-28 01:00Z'),
('day', 'Atlantic/Azores', '2024-03-30 01:00Z', '2024-03-31 01:00Z'), ('day', 'Atlantic/Azores', '2024-03-31 01:00Z', '2024-04-01 00:00Z'),
-- Lord Howe changes by half an hour, at 02:00.
('day', 'Australia/Lord_Howe', '2024-04-06 13:00Z', '2024-04-07 13:30Z'), ('day', 'Australia/Lord_Howe', '2024-10-05 13:30Z', '2024-10-06 13:00Z'),
('hour', 'Australia/Lord_Howe', '2024-04-06 14:00Z', '2024-04-06 15:00Z'), ('hour', 'Australia/Lord_Howe', '2024-04-06 15:00Z', '2024-04-06 15:30Z'),
('hour', 'Australia/Lord_Howe', '2024-04-06 15:30Z', '2024-04-06 16:30Z'), ('hour', 'Australia/Lord_Howe', '2024-10-05 15:30Z', '2024-10-05 16:00Z'),
('day', 'Asia/Kolkata', '2024-05-04 18:30Z', '2024-05-05 18:30Z'), ('hour', 'Asia/Kolkata', '2024-05-04 18:30Z', '2024-05-04 19:30Z'),
('day', 'Asia/Kathmandu', '2024-05-04 18:15Z', '2024-05-05 18:15Z'), ('hour', 'Asia/Kathmandu', '2024-05-04 17:15Z', '2024-05-04 18:15Z'),
-- Apia had no 30 December 2011; the year ended a day earlier.
('day', 'Pacific/Apia', '2011-12-29 10:00Z', '2011-12-30 10:00Z'), ('day', 'Pacific/Apia', '2011-12-30 10:00Z', '2011-12-31 10:00Z'),
('year', 'Pacific/Apia', '2011-01-01 10:00Z', '2011-12-31 10:00Z'), ('week', 'Pacific/Apia', '2011-12-26 10:00Z', '2012-01-01 10:00Z'),
-- Sao Paulo skipped midnight until 2019, and had its last hour twice.
('day', 'America/Sao_Paulo', '2018-11-03 03:00Z', '2018-11-04 03:00Z'), ('day', 'America/Sao_Paulo', '2018-11-04 03:00Z', '2018-11-05 02:00Z'),
('day', 'America/Sao_Paulo', '2018-02-17 02:00Z', '2018-02-18 03:00Z'), ('month', 'America/Sao_Paulo', '2018-11-01 03:00Z', '2018-12-01 02:00Z');
SELECT s.*, at, w.* FROM stated AS s,
	LATERAL unnest(ARRAY[opens, opens + interval '1 microsecond', opens + (closes - opens) / 2, closes - interval '1 microsecond']) AS at,
	LATERAL lb._window(period, at, zone) AS w
WHERE (w.opens, w.closes) IS DISTINCT FROM (s.opens, s.closes);
SELECT s.*, b.closes, a.opens FROM stated AS s, LATERAL lb._window(period, s.opens - interval '1 microsecond', zone) AS b,
	LATERAL lb._window(period, s.closes, zone) AS a
WHERE b.closes <> s.opens OR a.opens <> s.closes;

-- St John's set the clock back at 00:01, across a midnight that stays passed.
INSERT INTO stated VALUES ('day', 'America/St_Johns', '2010-11-06 02:30Z', '2010-11-07 02:30Z'), ('day', 'America/St_Johns', '2010-11-07 02:30Z', '2010-11-08 03:30Z');
SELECT w.*, at FROM unnest(ARRAY['2010-11-07 02:29:59.999999Z', '2010-11-07 02:30Z', '2010-11-07 02:31Z', '2010-11-07 03:29:59Z', '2010-11-07 03:30Z']::timestamptz[]) AS at,
	LATERAL lb._window('day', at, 'America/St_Johns') AS w WHERE NOT EXISTS (SELECT FROM stated AS s WHERE zone = 'America/St_Johns' AND (s.opens, s.closes) = (w.opens, w.closes) AND at >= s.opens AND at < s.closes);

-- Windows that start later: where the clock skips the boundary they open when
-- it has, where it shows it twice at the first time.
CREATE TEMP TABLE stated_later (period text, zone text, starts interval, opens timestamptz, closes timestamptz);
INSERT INTO stated_later VALUES
('day', 'Europe/Berlin', '6 hours', '2024-03-30 05:00Z', '2024-03-31 04:00Z'), ('day', 'Europe/Berlin', '6 hours', '2024-10-27 05:00Z', '2024-10-28 05:00Z'),
('day', 'Europe/Berlin', '2:30', '2024-03-30 01:30Z', '2024-03-31 01:00Z'), ('day', 'Europe/Berlin', '2:30', '2024-03-31 01:00Z', '2024-04-01 00:30Z'),
('day', 'Europe/Berlin', '2:30', '2024-10-27 00:30Z', '2024-10-28 01:30Z'), ('day', 'America/Havana', '0:30', '2024-11-03 04:30Z', '2024-11-04 05:30Z'),
('day', 'America/Havana', '0:30', '2024-03-09 05:30Z', '2024-03-10 05:00Z'), ('day', 'America/Havana', '0:30', '2024-03-10 05:00Z', '2024-03-11 04:30Z'),
('day', 'Pacific/Apia', '6 hours', '2011-12-29 16:00Z', '2011-12-30 10:00Z'), ('day', 'Pacific/Apia', '6 hours', '2011-12-30 10:00Z', '2011-12-30 16:00Z'),
('day', 'Pacific/Apia', '6 hours', '2011-12-30 16:00Z', '2011-12-31 16:00Z'),
('day', 'Australia/Lord_Howe', '2:15', '2024-10-04 15:45Z', '2024-10-05 15:30Z'), ('day', 'Australia/Lord_Howe', '2:15', '2024-10-05 15:30Z', '2024-10-06 15:15Z'),
('day', 'Asia/Kathmandu', '23:45', '2024-05-05 18:00Z', '2024-05-06 18:00Z'), ('day', 'UTC', '23:59', '2023-12-31 23:59Z', '2024-01-01 23:59Z'),
('week', 'UTC', '1 day 3 hours', '2024-12-31 03:00Z', '2025-01-07 03:00Z'), ('week', 'Europe/Berlin', '6 days 23 hours', '2021-01-03 22:00Z', '2021-01-10 22:00Z'),
('month', 'UTC', '27 days 23 hours', '2023-02-28 23:00Z', '2023-03-28 23:00Z'), ('month', 'Asia/Kolkata', '9 days 12 hours', '2024-02-10 06:30Z', '2024-03-10 06:30Z'),
('year', 'UTC', '364 days 23 hours', '2024-12-30 23:00Z', '2025-12-31 23:00Z'), ('year', 'Europe/Berlin', '181 days 6 hours', '2024-06-30 04:00Z', '2025-07-01 04:00Z'),
-- Weeks belong to the year of their Thursday, boundaries do not care.
('week', 'UTC', '0', '2020-12-28 00:00Z', '2021-01-04 00:00Z'), ('week', 'Asia/Kolkata', '0', '2024-12-29 18:30Z', '2025-01-05 18:30Z'),
('week', 'Atlantic/Azores', '0', '2018-12-31 01:00Z', '2019-01-07 01:00Z'),
-- Offsets of old: Berlin had the sun's own until 1893, Kathmandu went from +5:30 to +5:45 with 1986.
('day', 'Europe/Berlin', '0', '1893-03-30 23:06:32Z', '1893-03-31 23:06:32Z'), ('day', 'Europe/Berlin', '0', '1893-03-31 23:06:32Z', '1893-04-01 23:00Z'),
('day', 'Asia/Kathmandu', '0', '1985-12-30 18:30Z', '1985-12-31 18:30Z'), ('day', 'Asia/Kathmandu', '0', '1985-12-31 18:30Z', '1986-01-01 18:15Z'),
('hour', 'Asia/Kathmandu', '0', '1985-12-31 18:30Z', '1985-12-31 19:15Z');
SELECT s.*, at, w.* FROM stated_later AS s, LATERAL unnest(ARRAY[opens, opens + interval '1 microsecond', opens + (closes - opens) / 2, closes - interval '1 microsecond']) AS at,
	LATERAL lb._window(period, at, zone, starts) AS w
WHERE (w.opens, w.closes) IS DISTINCT FROM (s.opens, s.closes);
SELECT s.*, b.closes, a.opens FROM stated_later AS s, LATERAL lb._window(period, s.opens - interval '1 microsecond', zone, starts) AS b,
	LATERAL lb._window(period, s.closes, zone, starts) AS a
WHERE b.closes <> s.opens OR a.opens <> s.closes;

-- What rolling periods cover: the current unit and those before it, whether
-- the clock went back, forward, or left a day out.
CREATE TEMP TABLE stated_rolling (period text, zone text, grain interval, since timestamptz, until timestamptz, opens timestamptz);
INSERT INTO stated_rolling VALUES
('last 1 hour', 'UTC', '1 hour', '2024-01-01 00:00Z', '2024-01-01 01:00Z', '2024-01-01 00:00Z'),
('last 3 hours', 'Europe/Berlin', '1 hour', '2024-10-27 01:00Z', '2024-10-27 02:00Z', '2024-10-26 23:00Z'),
('last 3 hours', 'Europe/Berlin', '1 hour', '2024-03-31 01:00Z', '2024-03-31 02:00Z', '2024-03-30 23:00Z'),
('last 3 hours', 'Australia/Lord_Howe', '1 hour', '2024-04-06 15:30Z', '2024-04-06 16:30Z', '2024-04-06 14:00Z'),
('last 3 hours', 'Australia/Lord_Howe', '30 minutes', '2024-04-06 15:00Z', '2024-04-06 15:30Z', '2024-04-06 13:00Z'),
('last 30 minutes', 'Australia/Lord_Howe', '10 minutes', '2024-04-06 15:00Z', '2024-04-06 15:10Z', '2024-04-06 14:40Z'),
('last 120 minutes', 'Australia/Lord_Howe', '1 hour', '2024-04-06 15:30Z', '2024-04-06 16:30Z', '2024-04-06 15:00Z'),
('last 30 minutes', 'Asia/Kathmandu', '15 minutes', '2024-05-05 18:15Z', '2024-05-05 18:30Z', '2024-05-05 18:00Z'),
('last 5 minutes', 'UTC', '1 minute', '2024-01-01 00:00Z', '2024-01-01 00:01Z', '2023-12-31 23:56Z'),
('last 2 days', 'Europe/Berlin', '1 hour', '2024-03-30 23:00Z', '2024-03-31 22:00Z', '2024-03-29 23:00Z'),
('last 3 days', 'Pacific/Apia', '1 hour', '2011-12-30 10:00Z', '2011-12-31 10:00Z', '2011-12-29 10:00Z'),
('last 2 days', 'Pacific/Apia', '1 hour', '2011-12-30 10:00Z', '2011-12-31 10:00Z', '2011-12-30 10:00Z'),
('last 7 days', 'America/Havana', '1 hour', '2024-11-03 04:00Z', '2024-11-04 05:00Z', '2024-10-28 04:00Z'),
('last 400 days', 'UTC', '1 hour', '2024-12-31 00:00Z', '2025-01-01 00:00Z', '2023-11-28 00:00Z'),
('last 2 hours', 'Asia/Kathmandu', '1 hour', '1985-12-31 18:30Z', '1985-12-31 19:15Z', '1985-12-31 17:30Z');
SELECT s.*, at, w.* FROM stated_rolling AS s, LATERAL unnest(ARRAY[since, since + interval '1 microsecond', since + (until - since) / 2, until - interval '1 microsecond']) AS at,
	LATERAL lb._window(period, at, zone, '0', grain) AS w
WHERE (w.opens, w.closes) IS DISTINCT FROM (s.opens, s.until);
SELECT s.*, w.* FROM stated_rolling AS s, LATERAL lb._window(period, s.since - interval '1 microsecond', zone, '0', grain) AS w WHERE w.closes <> s.since;
SELECT s.*, w.* FROM stated_rolling AS s, LATERAL lb._window(period, s.until, zone, '0', grain) AS w WHERE w.closes <= s.until OR w.opens < s.opens;

-- The changes of each zone, found by halving, and instants around them.
CREATE TEMP TABLE zone (zone text PRIMARY KEY);
INSERT INTO zone VALUES ('UTC'), ('Europe/Berlin'), ('America/New_York'), ('America/Havana'), ('Atlantic/Azores'), ('Australia/Lord_Howe'),
	('Asia/Kolkata'), ('Asia/Kathmandu'), ('Pacific/Apia'), ('America/Sao_Paulo'), ('America/St_Johns');
CREATE FUNCTION pg_temp.off(at timestamptz, zone text) RETURNS interval LANGUAGE sql IMMUTABLE AS $$ SELECT at AT TIME ZONE zone - at AT TIME ZONE 'UTC' $$;
CREATE FUNCTION pg_temp.change_in(lo timestamptz, hi timestamptz, zone text) RETURNS timestamptz LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
	a bigint := extract(epoch FROM lo);
	b bigint := extract(epoch FROM hi);
	before interval := pg_temp.off(lo, zone);
BEGIN
	WHILE b - a > 1 LOOP
		IF pg_temp.off(to_timestamp((a + b) / 2), zone) = before THEN a := (a + b) / 2; ELSE b := (a + b) / 2; END IF;
	END LOOP;
	RETURN to_timestamp(b);
END
$$;
CREATE TEMP TABLE change AS
SELECT zone, pg_temp.change_in(t, t + interval '20 days', zone) AS at
FROM zone, generate_series(timestamptz '1900-01-01 00:00Z', '2100-01-01 00:00Z', '20 days') AS t
WHERE pg_temp.off(t, zone) <> pg_temp.off(t + interval '20 days', zone);
SELECT zone, count(*) > 0 AS changes FROM zone LEFT JOIN change USING (zone) GROUP BY zone HAVING count(change.at) = 0;
SELECT setseed(0.2718);
CREATE TEMP TABLE instant AS
SELECT zone, at + d AS at FROM change, unnest(ARRAY['-1 microsecond', '0']::interval[]) AS d
UNION SELECT zone, at + (random() - 0.5) * interval '4 hours' FROM change
UNION SELECT zone, at + (random() - 0.5) * interval '60 hours' FROM change
UNION SELECT zone, timestamptz '1900-01-01 00:00Z' + random() * interval '73000 days' FROM zone, generate_series(1, 100);
CREATE TEMP TABLE window_ AS
SELECT i.*, p.period, w.opens, w.closes FROM instant AS i, (VALUES ('hour', 1), ('day', 1), ('week', 0.1), ('month', 0.1), ('year', 0.1)) AS p (period, part),
	LATERAL lb._window(period, at, zone) AS w WHERE part = 1 OR abs(hashtext(at::text)) % 10 = 0;
CREATE TEMP TABLE distinct_ AS SELECT DISTINCT zone, period, opens, closes FROM window_;
ANALYZE distinct_;
ANALYZE window_;
ANALYZE change;
SELECT count(*) > 10000 AS many FROM window_;
-- An instant is in its window, and its window in that of the longer period.
SELECT * FROM window_ WHERE NOT (opens <= at AND at < closes) LIMIT 10;
SELECT h.zone, h.period, h.at, d.period FROM window_ AS h JOIN window_ AS d USING (zone, at)
WHERE (h.period, d.period) IN (('hour', 'day'), ('day', 'week'), ('day', 'month'), ('month', 'year')) AND NOT (d.opens <= h.opens AND h.closes <= d.closes) LIMIT 10;
-- No gap and no overlap: the neighbours meet it.
SELECT w.*, b.closes AS before, a.opens AS after FROM distinct_ AS w,
	LATERAL lb._window(period, w.opens - interval '1 microsecond', zone) AS b, LATERAL lb._window(period, w.closes, zone) AS a
WHERE b.closes <> w.opens OR a.opens <> w.closes LIMIT 10;
-- Every instant of a window has that window.
SELECT w.*, i.at AS other FROM distinct_ AS w, LATERAL (SELECT opens + random() * (closes - opens) * 0.999999 AS at) AS i, LATERAL lb._window(period, i.at, zone) AS o
WHERE (o.opens, o.closes) IS DISTINCT FROM (w.opens, w.closes) LIMIT 10;
-- Days and longer: the first instant whose local time reaches the boundary.
-- It does at opens, it does not before; and no earlier instant of two days
-- (each change of the clock, and an instant before it) had reached it.
SELECT * FROM distinct_ WHERE period <> 'hour'
AND (opens AT TIME ZONE zone < date_trunc(period, opens AT TIME ZONE zone)
	OR (opens - interval '1 microsecond') AT TIME ZONE zone >= date_trunc(period, opens AT TIME ZONE zone)) LIMIT 10;
SELECT w.*, c.at AS reached FROM distinct_ AS w JOIN change AS c ON c.zone = w.zone AND c.at BETWEEN opens - interval '50 hours' AND opens,
	unnest(ARRAY[c.at, c.at - interval '1 microsecond']) AS e
WHERE period <> 'hour' AND e < opens AND e AT TIME ZONE w.zone >= date_trunc(period, opens AT TIME ZONE w.zone) LIMIT 10;
-- No boundary is left out: the local time of an instant is of its window's
-- period, but where the clock went back over a boundary that was passed already.
SELECT zone, period, at FROM window_ WHERE period <> 'hour'
AND date_trunc(period, at AT TIME ZONE zone) <> date_trunc(period, opens AT TIME ZONE zone)
AND NOT EXISTS (SELECT FROM change AS c WHERE c.zone = window_.zone AND c.at > opens AND c.at <= window_.at AND c.at AT TIME ZONE c.zone < opens AT TIME ZONE c.zone) LIMIT 10;
-- Hours group as date_trunc('hour', at, zone) does; only where the clock was
-- changed at 00:01 it gives the hours 0 and 1 one name, and windows do not.
SELECT zone, hour, count(DISTINCT opens) FROM (SELECT zone, opens, date_trunc('hour', at, zone) AS hour FROM window_ WHERE period = 'hour' AND zone <> 'America/St_Johns') AS h GROUP BY 1, 2 HAVING count(DISTINCT opens) > 1 LIMIT 10;
SELECT zone, opens, count(DISTINCT hour) FROM (SELECT zone, opens, date_trunc('hour', at, zone) AS hour FROM window_ WHERE period = 'hour') AS h GROUP BY 1, 2 HAVING count(DISTINCT hour) > 1 LIMIT 10;
SELECT zone, at, opens, closes FROM window_ WHERE period = 'hour' AND (closes - opens > interval '1 hour' OR opens < date_trunc('hour', at, zone)) LIMIT 10;
-- Later starts, by the same laws.
CREATE TEMP TABLE later AS
SELECT i.zone, i.at, p.*, w.opens, w.closes FROM instant AS i, (VALUES ('day', interval '30 minutes'), ('day', '2:30'), ('day', '23:59'), ('week', '6 days 23:00'), ('month', '27 days 1:00'), ('year', '100 days 0:30')) AS p (period, starts),
	LATERAL lb._window(p.period, at, zone, starts) AS w WHERE p.period = 'day' OR abs(hashtext(at::text)) % 10 = 0;
SELECT * FROM later WHERE NOT (opens <= at AND at < closes) LIMIT 10;
SELECT w.*, b.closes AS before, a.opens AS after FROM later AS w,
	LATERAL lb._window(period, w.opens - interval '1 microsecond', zone, starts) AS b, LATERAL lb._window(period, w.closes, zone, starts) AS a
WHERE b.closes <> w.opens OR a.opens <> w.closes LIMIT 10;
SELECT * FROM later
WHERE opens AT TIME ZONE zone < date_trunc(period, opens AT TIME ZONE zone - starts) + starts
	OR (opens - interval '1 microsecond') AT TIME ZONE zone >= date_trunc(period, opens AT TIME ZONE zone - starts) + starts LIMIT 10;
SELECT w.*, c.at AS reached FROM later AS w JOIN change AS c ON c.zone = w.zone AND c.at BETWEEN opens - interval '50 hours' AND opens,
	unnest(ARRAY[c.at, c.at - interval '1 microsecond']) AS e
WHERE e < opens AND e AT TIME ZONE w.zone >= date_trunc(period, opens AT TIME ZONE w.zone - starts) + starts LIMIT 10;
-- Buckets of every grain: inside the hour, and as long as the grain between changes.
CREATE TEMP TABLE small AS
SELECT i.zone, i.at, grain, w.opens, w.closes FROM instant AS i, unnest(ARRAY[1, 5, 10, 15, 20, 30, 60]) AS grain,
	LATERAL lb._window(format('last %s minutes', grain), at, zone, '0', make_interval(mins => grain)) AS w WHERE abs(hashtext(at::text)) % 4 = 0;
SELECT s.* FROM small AS s, LATERAL lb._window('hour', at, zone) AS h WHERE NOT (s.opens <= at AND at < s.closes AND h.opens <= s.opens AND s.closes <= h.closes) LIMIT 10;
SELECT * FROM small WHERE closes - opens > make_interval(mins => grain) OR pg_temp.off(opens, zone) <> pg_temp.off(closes - interval '1 microsecond', zone)
	OR mod(extract(epoch FROM opens AT TIME ZONE zone), grain * 60) <> 0 AND pg_temp.off(opens - interval '1 microsecond', zone) = pg_temp.off(opens, zone)
	OR mod(extract(epoch FROM closes AT TIME ZONE zone), grain * 60) <> 0 AND pg_temp.off(closes - interval '1 microsecond', zone) = pg_temp.off(closes, zone) LIMIT 10;
-- n units are one, and the n - 1 before it; Apia's days but for the one that was none.
SELECT i.zone, at, period, n, w.* FROM instant AS i, (VALUES ('minutes', 10, interval '10 minutes', 2), ('minutes', 10, '10 minutes', 9), ('minutes', 1, '1 minute', 1440), ('minutes', 30, '30 minutes', 48),
		('hours', 1, '1 hour', 2), ('hours', 1, '1 hour', 30), ('hours', 1, '15 minutes', 168), ('days', 1, '1 hour', 2), ('days', 1, '1 hour', 35)) AS p (period, unit, grain, n),
	LATERAL lb._window(format('last %s %s', n * unit, period), at, zone, '0', grain) AS w, LATERAL lb._window(format('last %s %s', unit, period), at, zone, '0', grain) AS one,
	LATERAL lb._window(format('last %s %s', (n - 1) * unit, period), one.opens - interval '1 microsecond', zone, '0', grain) AS rest
WHERE abs(hashtext(at::text)) % 4 = 0 AND n * unit <= 1440 AND (w.opens, w.closes) IS DISTINCT FROM (rest.opens, one.closes) AND NOT (zone = 'Pacific/Apia' AND period = 'days') LIMIT 10;

-- Far away, and forever.
SELECT * FROM lb._window('all', '2024-01-01', 'UTC');
SELECT * FROM lb._window('year', '0001-06-01 00:00Z', 'America/New_York');
SELECT * FROM lb._window('year', '0001-01-01 00:00Z', 'America/New_York');
SELECT * FROM lb._window('week', '9999-12-31 23:59:59.999999Z', 'Pacific/Apia');

-- A board of a tenant in that zone opens and closes there, for each instant.
SET client_min_messages = warning;
SELECT lb_create_tenant('cuba', 'America/Havana') > 0 AS id;
SELECT lb_create_counter('cuba/c') > 0 AS id;
SELECT lb_create_board('cuba/' || p, 'cuba/c', p) > 0 AS id FROM unnest(ARRAY['hour', 'day', 'week', 'month', 'year', 'all']) AS p;
SELECT p, at, v.opens, v.closes, v.settles FROM unnest(ARRAY['hour', 'day', 'week', 'month', 'year']) AS p, unnest(ARRAY['2024-11-03 03:59:59.999999Z', '2024-11-03 04:00Z', '2024-11-03 05:00Z']::timestamptz[]) AS at,
	LATERAL lb_version('cuba/' || p, at => at) AS v, LATERAL lb._window(p, at, 'America/Havana') AS w
WHERE (v.opens, v.closes, v.settles) IS DISTINCT FROM (w.opens, w.closes, w.closes + interval '1 day');
SELECT opens, closes, settles FROM lb_version('cuba/all', at => '2024-11-03 05:00Z');
-- Events at both sides of a boundary, and in the hour that comes twice.
SELECT status FROM lb_backfill('cuba/c', array_fill('m'::text, ARRAY[6]), ARRAY[1, 10, 100, 1000, 10000, 100000], ARRAY['1', '2', '3', '4', '5', '6'],
	ARRAY['2024-11-03 03:59:59.999999Z', '2024-11-03 04:00Z', '2024-11-03 04:59:59.999999Z', '2024-11-03 05:00Z', '2024-11-04 04:59:59.999999Z', '2024-11-04 05:00Z']::timestamptz[]) GROUP BY 1;
SELECT events, rankings FROM lb_refresh();
SELECT p, at, r.value FROM (VALUES ('day', '2024-11-03 00:00Z', 1), ('day', '2024-11-03 04:30Z', 11110), ('day', '2024-11-03 05:30Z', 11110), ('day', '2024-11-04 05:00Z', 100000),
	('hour', '2024-11-03 03:30Z', 1), ('hour', '2024-11-03 04:30Z', 110), ('hour', '2024-11-03 05:30Z', 1000), ('hour', '2024-11-04 04:30Z', 10000),
	('week', '2024-11-03 05:30Z', 11111), ('week', '2024-11-04 05:30Z', 100000), ('month', '2024-11-20 00:00Z', 111111), ('year', '2024-01-20 00:00Z', 111111)) AS s (p, at, stated),
	LATERAL lb_rank('cuba/' || p, 'm', at => at::timestamptz) AS r, LATERAL lb_value('cuba/c', 'm', p, at::timestamptz) AS v
WHERE r.value IS DISTINCT FROM stated OR v.value IS DISTINCT FROM stated;
DROP EXTENSION leaderboard;
