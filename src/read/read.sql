/* Every rank and list function returns this, built in one place (answer.c). */
CREATE TYPE @extschema@.lb_answer AS (
	member text,
	rank bigint,
	kind text,
	rank_low bigint,
	rank_high bigint,
	midpoint bigint,
	place bigint,
	percentile_low double precision,
	percentile_high double precision,
	value bigint,
	value_low bigint,
	value_high bigint,
	reached_at timestamptz,
	population bigint,
	version bigint,
	as_of timestamptz,
	stale boolean,
	state text
);
COMMENT ON TYPE @extschema@.lb_answer IS
'An answer about a board. kind: exact (rank = rank_low = rank_high), estimated (rank NULL, the truth between rank_low and rank_high; midpoint is for display only) or unranked (rank and value NULL). place: 1-based position in board order where known. percentile: 100 x (population - strictly better) / population, oneself included. value: of a unique counter an estimate, with value_low and value_high around it in 95 of 100 cases; of an approximate one value = value_low is certain and value_high the most, kind is estimated, and rank, percentile and reached_at are NULL. version: number of the last counting round that changed the ranking. as_of: clock before the newest round. stale: as_of is older than the board''s freshness. state: live, provisional (the window is over, late events still count) or settled (only lb_backfill() can still change it).';

CREATE FUNCTION @extschema@.lb_rank(board text, member text, scope text DEFAULT '', at timestamptz DEFAULT NULL,
		viewer text DEFAULT NULL, version bigint DEFAULT NULL, newer_than bigint DEFAULT NULL)
	RETURNS SETOF @extschema@.lb_answer
	LANGUAGE c STABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'lb_rank';
COMMENT ON FUNCTION @extschema@.lb_rank(text, text, text, timestamptz, text, bigint, bigint) IS
'The rank of a member: one row of lb_answer; a member who is not on the board is an answer of kind unranked. at: an instant in the window asked for, NULL for the current one; no matter for a board of period all, and inside of what it covers for a rolling one. viewer: who asks; an answer about that member includes its accepted events that no round has counted yet, the caller''s own uncommitted ones among them: value, rank, place, and the population if the member is new; everybody else''s answer is that of the version. In a scope that is so for who belongs to it; a rolling board covers what it did as of the newest round. version: the answer as it was when that round was the newest, with its as_of, state and window. newer_than: no row if the version answered is that or an older one, unless the viewer''s uncounted events change its answer. Costs one probe for the member and a walk of the tree, two to four pages at any depth; with a viewer one descent more in each partition of the log from a day before the newest round''s floor on; with a version a probe of the member''s later moves; a miss of newer_than is one look-up of the version, and the viewer''s events. 42704 for an unknown board; 22023 for a NULL board or member, an infinite at, a scope where the board has none, a version below 1 or above the newest round, or one together with a viewer; 55000 for a version older than keep_versions, which names the oldest that is left. Nobody is in an unknown scope of a scoped board.';

CREATE FUNCTION @extschema@.lb_ranks(board text, members text[], scope text DEFAULT '', at timestamptz DEFAULT NULL,
		viewer text DEFAULT NULL, version bigint DEFAULT NULL, newer_than bigint DEFAULT NULL)
	RETURNS SETOF @extschema@.lb_answer
	LANGUAGE c STABLE PARALLEL SAFE ROWS 100 AS 'MODULE_PATHNAME', 'lb_ranks';
COMMENT ON FUNCTION @extschema@.lb_ranks(text, text[], text, timestamptz, text, bigint, bigint) IS
'lb_rank() for 1 to 1,000 members at one version: one row of lb_answer a member given, in the order given; viewer, version and newer_than as there. 22023 for more members or a NULL among them; otherwise as lb_rank().';

CREATE FUNCTION @extschema@.lb_top(board text, n integer DEFAULT 10, scope text DEFAULT '', at timestamptz DEFAULT NULL,
		viewer text DEFAULT NULL, version bigint DEFAULT NULL, newer_than bigint DEFAULT NULL)
	RETURNS SETOF @extschema@.lb_answer
	LANGUAGE c STABLE PARALLEL SAFE ROWS 10 AS 'MODULE_PATHNAME', 'lb_top';
COMMENT ON FUNCTION @extschema@.lb_top(text, integer, text, timestamptz, text, bigint, bigint) IS
'The best n (1 to 1,000; of a bounded board at most its head) in board order, as lb_answer. viewer: a line that is the viewer''s says what the viewer has now, in the same place. version, newer_than and errors as lb_rank(). Costs a page or two and n entries, and what these add.';

CREATE FUNCTION @extschema@.lb_page(board text, first bigint, n integer DEFAULT 10, scope text DEFAULT '', at timestamptz DEFAULT NULL,
		viewer text DEFAULT NULL, version bigint DEFAULT NULL, newer_than bigint DEFAULT NULL)
	RETURNS SETOF @extschema@.lb_answer
	LANGUAGE c STABLE PARALLEL SAFE ROWS 10 AS 'MODULE_PATHNAME', 'lb_page';
COMMENT ON FUNCTION @extschema@.lb_page(text, bigint, integer, text, timestamptz, text, bigint, bigint) IS
'The n (1 to 1,000) entries from place "first" on, in board order, as lb_answer; of a bounded board none beyond its head. viewer, version and newer_than as lb_top(). Costs a walk of the tree and n entries, at any place. 22023 for a first below 1; otherwise as lb_rank().';

/* lb_version() at the version asked for. */
CREATE FUNCTION lb._version_at(board text, scope text, at timestamptz, viewer text, version bigint, newer_than bigint,
		OUT board_id bigint, OUT channel text, OUT version bigint, OUT as_of timestamptz, OUT stale boolean,
		OUT state text, OUT population bigint, OUT opens timestamptz, OUT closes timestamptz, OUT settles timestamptz)
	LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'lb_version';

/*
 * For callers that cannot join: the header and the rows in one value, numbers
 * as strings.  Both are of one version and one window, and say the same of them
 * though the clock goes on between.
 */
CREATE FUNCTION lb._page_json(board text, first bigint, n integer, scope text, at timestamptz, viewer text,
		version bigint, newer_than bigint) RETURNS jsonb
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	instant timestamptz := coalesce(at, CASE WHEN version IS NULL THEN clock_timestamp() END);
	head record;
	page jsonb;
BEGIN
	SELECT v.board_id::text, v.channel, v.version::text, v.as_of, v.stale, v.state,
		v.population::text, v.opens, v.closes, v.settles INTO head
		FROM lb._version_at(board, scope, instant, NULL, version, NULL) v;
	SELECT jsonb_agg(to_jsonb(r) - 'ordinality' || jsonb_build_object('rank', r.rank::text, 'rank_low', r.rank_low::text,
			'rank_high', r.rank_high::text, 'midpoint', r.midpoint::text, 'place', r.place::text, 'value', r.value::text,
			'value_low', r.value_low::text, 'value_high', r.value_high::text, 'population', r.population::text,
			'version', r.version::text, 'stale', head.stale, 'state', head.state) ORDER BY r.ordinality) INTO page
		FROM @extschema@.lb_page(board, coalesce(first, 1), coalesce(n, 10), scope, instant, viewer, version, newer_than)
			WITH ORDINALITY r;
	IF page IS NULL AND (newer_than IS NULL OR head.version::bigint > newer_than) THEN
		page := '[]';	/* nobody there; nothing newer is null */
	END IF;
	RETURN to_jsonb(head) || jsonb_build_object('rows', page);
END
$$;

CREATE FUNCTION @extschema@.lb_page_json(board text, first bigint DEFAULT 1, n integer DEFAULT 10, scope text DEFAULT '',
		at timestamptz DEFAULT NULL, viewer text DEFAULT NULL, version bigint DEFAULT NULL, newer_than bigint DEFAULT NULL)
	RETURNS jsonb
	LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'lb_public';
COMMENT ON FUNCTION @extschema@.lb_page_json(text, bigint, integer, text, timestamptz, text, bigint, bigint) IS
'lb_version()''s columns as the keys of one object, of the newest version or of the one asked for, and "rows": lb_page()''s rows in their order, an empty array if there are none, null if nothing is newer than newer_than. Every bigint is a string, for readers whose numbers end at 2^53. viewer, version, newer_than, errors and cost as lb_page(), and another look-up of the version and the newest round.';

CREATE FUNCTION @extschema@.lb_around(board text, member text, n integer DEFAULT 5, scope text DEFAULT '', at timestamptz DEFAULT NULL,
		viewer text DEFAULT NULL, version bigint DEFAULT NULL, newer_than bigint DEFAULT NULL)
	RETURNS SETOF @extschema@.lb_answer
	LANGUAGE c STABLE PARALLEL SAFE ROWS 11 AS 'MODULE_PATHNAME', 'lb_around';
COMMENT ON FUNCTION @extschema@.lb_around(text, text, integer, text, timestamptz, text, bigint, bigint) IS
'Up to n (1 to 1,000) members ahead of the member, the member, and up to n behind, in board order, as lb_answer; not topped up at the ends. One unranked row for a member who is not on the board; of a bounded board only the member where the tree of its head does not reach. viewer: the viewer''s neighbours are those of the place with the uncounted events, as the version has them; in those of another member, as lb_top(). version, newer_than and errors as lb_rank(). Costs as lb_rank() and 2n entries.';

CREATE FUNCTION @extschema@.lb_among(board text, members text[], scope text DEFAULT '', at timestamptz DEFAULT NULL,
		viewer text DEFAULT NULL, version bigint DEFAULT NULL, newer_than bigint DEFAULT NULL,
		OUT among bigint, OUT member text, OUT rank bigint, OUT kind text, OUT rank_low bigint, OUT rank_high bigint,
		OUT midpoint bigint, OUT place bigint, OUT percentile_low double precision,
		OUT percentile_high double precision, OUT value bigint, OUT value_low bigint, OUT value_high bigint,
		OUT reached_at timestamptz, OUT population bigint, OUT version bigint, OUT as_of timestamptz,
		OUT stale boolean, OUT state text)
	RETURNS SETOF record
	LANGUAGE c STABLE PARALLEL SAFE ROWS 100 AS 'MODULE_PATHNAME', 'lb_among';
COMMENT ON FUNCTION @extschema@.lb_among(text, text[], text, timestamptz, text, bigint, bigint) IS
'A board of friends: 1 to 1,000 members, each once, best first and the unranked last. among: the rank among the given ones by the board''s tie rule, NULL for the unranked; then the columns of lb_answer, which speak of the whole board. viewer: the viewer has the uncounted events too, and is placed accordingly. version and newer_than as lb_rank(). Costs as lb_rank() for each member. Errors as lb_ranks().';

CREATE FUNCTION @extschema@.lb_top_scopes(board text, scopes text[], n integer DEFAULT 10, at timestamptz DEFAULT NULL,
		viewer text DEFAULT NULL, version bigint DEFAULT NULL, newer_than bigint DEFAULT NULL,
		OUT scope text, OUT member text, OUT rank bigint, OUT kind text, OUT rank_low bigint, OUT rank_high bigint,
		OUT midpoint bigint, OUT place bigint, OUT percentile_low double precision,
		OUT percentile_high double precision, OUT value bigint, OUT value_low bigint, OUT value_high bigint,
		OUT reached_at timestamptz, OUT population bigint, OUT version bigint, OUT as_of timestamptz,
		OUT stale boolean, OUT state text)
	RETURNS SETOF record
	LANGUAGE c STABLE PARALLEL SAFE ROWS 100 AS 'MODULE_PATHNAME', 'lb_top_scopes';
COMMENT ON FUNCTION @extschema@.lb_top_scopes(text, text[], integer, timestamptz, text, bigint, bigint) IS
'lb_top() of 1 to 1,000 scopes, in the order given: scope, then the columns of lb_answer, the best n (1 to 1,000) of each. A scope that nobody is in has no rows. viewer and version as lb_top(); newer_than is decided scope by scope. Costs a look-up and a page or two a scope. 22023 for more scopes, a NULL among them, or a board without scopes; otherwise as lb_top().';

CREATE FUNCTION @extschema@.lb_rank_for_value(board text, value bigint, scope text DEFAULT '', at timestamptz DEFAULT NULL,
		viewer text DEFAULT NULL, version bigint DEFAULT NULL, newer_than bigint DEFAULT NULL)
	RETURNS SETOF @extschema@.lb_answer
	LANGUAGE c STABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'lb_rank_for_value';
COMMENT ON FUNCTION @extschema@.lb_rank_for_value(text, bigint, text, timestamptz, text, bigint, bigint) IS
'The rank that a value would have for somebody who reached it now: one row of lb_answer whose member is NULL. By the ordinal rule that is behind all who have it. percentile is NULL on an empty board. A viewer changes nothing in the row; version and newer_than, cost and errors as lb_rank().';

CREATE FUNCTION @extschema@.lb_distribution(board text, scope text DEFAULT '', at timestamptz DEFAULT NULL,
		viewer text DEFAULT NULL, version bigint DEFAULT NULL, newer_than bigint DEFAULT NULL,
		OUT low bigint, OUT high bigint, OUT members bigint)
	RETURNS SETOF record
	LANGUAGE c STABLE PARALLEL SAFE ROWS 64 AS 'MODULE_PATHNAME', 'lb_distribution';
COMMENT ON FUNCTION @extschema@.lb_distribution(text, text, timestamptz, text, bigint, bigint) IS
'How the board''s values are spread: the buckets of its histogram that hold members, from the lowest values up; low and high are the least and greatest value of the bucket, NULL where it has no end. Costs one row of a bounded board, and a walk of the tree a bucket of an exact one. A viewer changes nothing in the rows; version, newer_than and errors as lb_rank().';

CREATE FUNCTION @extschema@.lb_version(board text, scope text DEFAULT '', at timestamptz DEFAULT NULL,
		OUT board_id bigint, OUT channel text, OUT version bigint, OUT as_of timestamptz, OUT stale boolean,
		OUT state text, OUT population bigint, OUT opens timestamptz, OUT closes timestamptz, OUT settles timestamptz)
	LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'lb_version';
COMMENT ON FUNCTION @extschema@.lb_version(text, text, timestamptz) IS
'Always one row: the board''s id and channel, the version, as_of, stale and state that answers carry, the population, and when the window opens, closes and settles (infinite for period all); of a rolling board, what it covers as of the newest round, and it never settles. Errors as lb_rank().';

CREATE FUNCTION @extschema@.lb_value(counter text, member text, period text DEFAULT 'all', at timestamptz DEFAULT NULL,
		viewer text DEFAULT NULL,
		OUT member text, OUT value bigint, OUT value_low bigint, OUT value_high bigint, OUT late bigint,
		OUT version bigint, OUT as_of timestamptz, OUT stale boolean)
	LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'lb_value';
COMMENT ON FUNCTION @extschema@.lb_value(text, text, text, timestamptz, text) IS
'What a member has in a period (all, hour, day, week, month, year, or "last N minutes", "hours" or "days"), with a board or without. at: an instant in the window; of a rolling period, the last instant of what it covers; NULL is now, and for a rolling period the newest round. value = value_low = value_high for an exact counter; of a unique one value is an estimate and the others are bounds that hold in 95 of 100 cases; of an approximate one value = value_low is what is certain, NULL for a member that is not tracked, and value_high what it has at the most; NULL for a member without events. late: what events add up to that came too late for this window. version: the last counting round that changed the counter. stale: as_of is older than the smallest freshness of the counter''s boards, or 5 seconds. viewer: for that member, value and late include its events that no round has counted yet, one descent in each partition of the log from a day before the newest round''s floor on. Costs one row a day in which the member had events, and one a bucket of the counter''s grain at the window''s edges. 42704 for an unknown counter, 22023 for a bad argument, 22003 if the sum does not fit bigint, 55000 for a window whose edges are kept by the day only.';

CREATE FUNCTION @extschema@.lb_values(counter text, members text[], period text DEFAULT 'all', at timestamptz DEFAULT NULL,
		viewer text DEFAULT NULL,
		OUT member text, OUT value bigint, OUT value_low bigint, OUT value_high bigint, OUT late bigint,
		OUT version bigint, OUT as_of timestamptz, OUT stale boolean)
	RETURNS SETOF record
	LANGUAGE c STABLE PARALLEL SAFE ROWS 100 AS 'MODULE_PATHNAME', 'lb_values';
COMMENT ON FUNCTION @extschema@.lb_values(text, text[], text, timestamptz, text) IS
'lb_value() for 1 to 1,000 members: one row a member given, in the order given; NULL for a sum that does not fit bigint. viewer as there. Errors as lb_value(), and 22023 for more members or a NULL among them.';

/* The inner parts of lb_check: one tree re-summed, one tree read in order. */
CREATE FUNCTION lb._check_ranking(counter_id bigint, ranking_id bigint, root bigint, leaf bytea DEFAULT NULL,
		OUT entries bigint, OUT problem text)
	RETURNS SETOF record
	LANGUAGE c STABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'lb_check_ranking';

CREATE FUNCTION lb._ranking_entries(counter_id bigint, ranking_id bigint, root bigint,
		first bigint DEFAULT 1, n bigint DEFAULT 9223372036854775807, leaf bytea DEFAULT NULL,
		OUT place bigint, OUT rank_key bigint, OUT reached_at timestamptz, OUT member text)
	RETURNS SETOF record
	LANGUAGE c STABLE PARALLEL SAFE ROWS 100000 AS 'MODULE_PATHNAME', 'lb_ranking_entries';

/*
 * What a ranking is about: its window, or what a rolling one covers, which bit
 * of the late set keeps events out, and in which buckets that is to be seen.
 */
CREATE FUNCTION lb._board_window(b lb.board, r lb.ranking, OUT opens timestamptz, OUT closes timestamptz,
		OUT late_bit integer, OUT span "char")
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	zone text := (SELECT t.timezone FROM lb.tenant t WHERE t.tenant_id = b.tenant_id);
	v lb.counter_version;
	horizon timestamptz := (SELECT h.horizon FROM lb.counter_horizon h WHERE h.counter_id = b.counter_id);
BEGIN
	SELECT d.* INTO v FROM lb.counter c JOIN lb.counter_version d ON d.counter_id = c.counter_id AND d.version = c.version
		WHERE c.counter_id = b.counter_id;
	opens := r.opens;
	closes := r.closes;
	span := 'g';
	IF b.period LIKE 'last %' THEN
		SELECT w.opens, w.closes INTO opens, closes
			FROM (SELECT n.as_of FROM lb.round n ORDER BY n.number DESC LIMIT 1) n, lb._window(b.period, n.as_of, zone, '0', v.grain) w;
		late_bit := 0;
	ELSE
		SELECT l.bit INTO late_bit FROM lb.late_class l
			WHERE l.counter_id = b.counter_id AND l.period = b.period AND l.starts = b.starts
			AND l.lateness = coalesce(b.lateness, v.lateness);
		late_bit := coalesce(late_bit, array_position(ARRAY['all', 'hour', 'day', 'week', 'month', 'year'], b.period) - 1);
	END IF;
	IF opens < horizon THEN
		span := CASE WHEN b.period !~ 'hour|minute' AND lb._usecs(b.starts) % 86400000000 = 0 THEN 'd' END;
	END IF;
END
$$;

/*
 * Is a ranking what its parts say?  Its tree against itself, and against the
 * standings sorted by plain SQL.
 */
CREATE FUNCTION lb._ranking_problems(b lb.board, r lb.ranking, op text) RETURNS SETOF text
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	v lb.version;
	members bigint;
	tree record;
	wrong bigint;
BEGIN
	SELECT * INTO v FROM lb.version n
		WHERE n.counter_id = r.counter_id AND n.ranking_id = r.ranking_id ORDER BY n.version DESC LIMIT 1;
	SELECT count(*) FILTER (WHERE s.value IS NOT NULL) INTO members FROM lb.standing s
		WHERE s.counter_id = r.counter_id AND s.ranking_id = r.ranking_id;
	IF v.population <> members THEN
		RETURN NEXT format('version %s says %s members, the standings hold %s', v.version, v.population, members);
	END IF;

	IF b.ranks = 'bounded' AND (members <> @extschema@.lb_histogram_count(v.histogram) OR
		(SELECT @extschema@.lb_histogram_ne(v.histogram, @extschema@.lb_histogram_agg(s.value, b.buckets, b.ceiling))
		 FROM lb.standing s
		 WHERE s.counter_id = r.counter_id AND s.ranking_id = r.ranking_id)) THEN
		RETURN NEXT 'the histogram is not that of the standings';
	END IF;

	IF op = 'unique' THEN
		SELECT count(*) INTO wrong FROM (SELECT * FROM lb.standing s WHERE s.counter_id = r.counter_id AND s.ranking_id = r.ranking_id) s
			FULL JOIN (SELECT * FROM lb.sketch k WHERE k.counter_id = r.counter_id AND k.ranking_id = r.ranking_id) k ON k.member = s.member
			WHERE s.value IS DISTINCT FROM round(@extschema@.lb_hll_count(k.sketch::@extschema@.lb_hll));
		IF wrong > 0 THEN
			RETURN NEXT format('%s standings are not the counts of their sketches', wrong);
		END IF;
	ELSIF op = 'approximate' THEN
		SELECT count(*) INTO wrong FROM (SELECT * FROM lb.standing s WHERE s.counter_id = r.counter_id AND s.ranking_id = r.ranking_id AND s.value IS NOT NULL) s
			FULL JOIN (SELECT i.* FROM lb.sketch k, LATERAL @extschema@.lb_topk_items(k.sketch::@extschema@.lb_topk) i
					   WHERE k.counter_id = r.counter_id AND k.ranking_id = r.ranking_id) i ON i.item = s.member COLLATE "C"
			WHERE (s.value, extract(epoch FROM s.reached_at - timestamptz '2000-01-01 00:00+00') * 1000000) IS DISTINCT FROM (i.low, i.low::numeric - i.high);
		IF wrong > 0 THEN
			RETURN NEXT format('%s standings are not what the sketch tracks', wrong);
		END IF;
		IF EXISTS (SELECT FROM lb.sketch k WHERE k.counter_id = r.counter_id AND k.ranking_id = r.ranking_id
			AND (v.total, v.bound) IS DISTINCT FROM (@extschema@.lb_topk_total(k.sketch::@extschema@.lb_topk), @extschema@.lb_topk_bound(k.sketch::@extschema@.lb_topk))) THEN
			RETURN NEXT format('version %s has another total or bound than the sketch', v.version);
		END IF;
	END IF;

	SELECT * INTO tree FROM lb._check_ranking(r.counter_id, r.ranking_id, v.root);
	IF tree.problem IS NOT NULL THEN
		RETURN NEXT tree.problem;
	ELSE
		IF b.ranks <> 'bounded' AND tree.entries <> members THEN
			RETURN NEXT format('the tree holds %s entries instead of %s', tree.entries, members);
		ELSIF tree.entries NOT BETWEEN least(members, b.head) AND members THEN
			RETURN NEXT format('the head holds %s entries of %s', tree.entries, members);
		END IF;
		SELECT count(*) INTO wrong FROM lb._ranking_entries(r.counter_id, r.ranking_id, v.root) e
			FULL JOIN (SELECT s.member, s.value, s.reached_at,
							  row_number() OVER (ORDER BY CASE WHEN b.direction = 'desc' THEN ~s.value ELSE s.value END,
												 s.reached_at, s.member) AS place
					   FROM lb.standing s
					   WHERE s.counter_id = r.counter_id AND s.ranking_id = r.ranking_id AND s.value IS NOT NULL) s
			ON s.member = e.member COLLATE "C"
			WHERE (s.place <= tree.entries OR s.place IS NULL)
			AND (s.place, s.value, s.reached_at) IS DISTINCT FROM
				(e.place, CASE WHEN b.direction = 'desc' THEN ~e.rank_key ELSE e.rank_key END, e.reached_at);
		IF wrong > 0 THEN
			RETURN NEXT format('%s entries of the tree differ from the standings in order', wrong);
		END IF;
	END IF;

END
$$;

/*
 * In which of a board's windows the buckets that open at an instant are: each
 * belongs to at most one.  Of a window whose buckets are gone nothing is said.
 */
CREATE FUNCTION lb._placed(b lb.board) RETURNS TABLE (ranking_id bigint, span "char", opens timestamptz, late_bit integer)
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	RETURN QUERY
	WITH about AS MATERIALIZED (
		SELECT r.ranking_id, w.opens, w.closes, w.late_bit, w.span
		FROM lb.ranking r, LATERAL lb._board_window(b, r) w
		WHERE r.counter_id = b.counter_id AND r.board_id = b.board_id AND r.scope = ''
		AND w.span IS NOT NULL),	/* else no buckets are left that say what the window holds */
	instant AS (
		SELECT DISTINCT u.span, u.opens FROM lb.bucket u WHERE u.counter_id = b.counter_id)
	SELECT a.ranking_id, i.span, i.opens, a.late_bit
	FROM instant i, LATERAL (
		SELECT k.ranking_id FROM lb.ranking k
		WHERE k.counter_id = b.counter_id AND k.board_id = b.board_id AND k.scope = '' AND k.opens <= i.opens
		ORDER BY k.opens DESC LIMIT 1) r
	JOIN about a ON a.ranking_id = r.ranking_id
	WHERE a.span = i.span AND i.opens >= a.opens AND i.opens < a.closes;
END
$$;

/* The standings of all of a board's rankings against the buckets of their windows, which are read once. */
CREATE FUNCTION lb._standing_problems(b lb.board, op text) RETURNS TABLE (ranking_id bigint, problem text)
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	RETURN QUERY
	WITH placed AS MATERIALIZED (SELECT * FROM lb._placed(b)),
	due AS (
		SELECT p.ranking_id, u.member,
			CASE op WHEN 'unique' THEN round(@extschema@.lb_hll_count(@extschema@.lb_hll_union_agg(u.sketch::@extschema@.lb_hll)))::numeric
				WHEN 'sum' THEN sum(coalesce(u.value, u.wide)) WHEN 'max' THEN max(u.value) WHEN 'min' THEN min(u.value)
				ELSE (array_agg(u.value ORDER BY u.reached_at DESC, u.last_id DESC))[1] END AS value
		FROM lb.bucket u JOIN placed p ON p.span = u.span AND p.opens = u.opens
		WHERE u.counter_id = b.counter_id AND u.late & (1 << p.late_bit) = 0
		GROUP BY p.ranking_id, u.member),
	standing AS (
		SELECT s.ranking_id, s.member, coalesce(s.value, s.wide) AS value
		FROM (SELECT r.ranking_id FROM lb.ranking r, LATERAL lb._board_window(b, r) w
			  WHERE r.counter_id = b.counter_id AND r.board_id = b.board_id AND r.scope = '' AND w.span IS NOT NULL) a
		JOIN lb.standing s ON s.counter_id = b.counter_id AND s.ranking_id = a.ranking_id)
	SELECT coalesce(d.ranking_id, s.ranking_id), format('%s standings differ from the buckets of the window', count(*))
	FROM due d FULL JOIN standing s ON s.ranking_id = d.ranking_id AND s.member = d.member
	WHERE s.value IS DISTINCT FROM d.value
	GROUP BY 1;
END
$$;

/*
 * The same of an approximate counter: what sketches say that were merged in
 * another order need not be the same, but both hold the truth.
 */
CREATE FUNCTION lb._tracked_problems(b lb.board) RETURNS TABLE (ranking_id bigint, problem text)
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	RETURN QUERY
	WITH part AS MATERIALIZED (
		SELECT p.ranking_id, u.sketch, sum(coalesce(u.value, u.wide)) OVER (PARTITION BY p.ranking_id) AS total
		FROM lb.bucket u JOIN lb._placed(b) p ON p.span = u.span AND p.opens = u.opens
		WHERE u.counter_id = b.counter_id AND u.late & (1 << p.late_bit) = 0),
	due AS MATERIALIZED (
		SELECT p.ranking_id, p.total, @extschema@.lb_topk_union_agg(p.sketch::@extschema@.lb_topk) AS sketch
		FROM part p WHERE p.total <= 9223372036854775807
		GROUP BY p.ranking_id, p.total),
	kept AS MATERIALIZED (
		SELECT k.ranking_id, k.sketch::@extschema@.lb_topk AS sketch FROM lb.sketch k WHERE k.counter_id = b.counter_id)
	SELECT d.ranking_id, format('the total is %s in the buckets and %s in the sketch', d.total, @extschema@.lb_topk_total(k.sketch))
		FROM due d LEFT JOIN kept k ON k.ranking_id = d.ranking_id
		WHERE d.total <> coalesce(@extschema@.lb_topk_total(k.sketch), 0)
	UNION ALL
	SELECT d.ranking_id, format('%s members cannot have both what the buckets and what the sketch says', count(*))
		FROM due d JOIN kept k ON k.ranking_id = d.ranking_id,
			LATERAL (SELECT i.item FROM @extschema@.lb_topk_items(d.sketch) i UNION SELECT i.item FROM @extschema@.lb_topk_items(k.sketch) i) m,
			LATERAL @extschema@.lb_topk_item(d.sketch, m.item) x, LATERAL @extschema@.lb_topk_item(k.sketch, m.item) y
		WHERE x.low > y.high OR y.low > x.high
		GROUP BY 1;
END
$$;

/*
 * Is a scope's ranking what its parts say?  Its tree against itself, and
 * against what its members have on the whole board.  Who joined or left since
 * the last round is not asked about.
 */
CREATE FUNCTION lb._scope_problems(b lb.board, r lb.ranking) RETURNS SETOF text
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	v lb.version;
	tree record;
	wrong bigint;
BEGIN
	SELECT * INTO v FROM lb.version n
		WHERE n.counter_id = r.counter_id AND n.ranking_id = r.ranking_id ORDER BY n.version DESC LIMIT 1;
	SELECT * INTO tree FROM lb._check_ranking(r.counter_id, r.ranking_id, v.root, v.leaf);
	IF tree.problem IS NOT NULL THEN
		RETURN NEXT tree.problem;
		RETURN;
	END IF;
	IF v.population <> tree.entries THEN
		RETURN NEXT format('version %s says %s members, the tree holds %s', v.version, v.population, tree.entries);
	END IF;
	IF b.ranks = 'bounded' AND @extschema@.lb_histogram_count(v.histogram) > 0 AND
		(SELECT @extschema@.lb_histogram_ne(v.histogram, @extschema@.lb_histogram_agg(
			CASE WHEN b.direction = 'desc' THEN ~e.rank_key ELSE e.rank_key END, b.buckets, b.ceiling))
		 FROM lb._ranking_entries(r.counter_id, r.ranking_id, v.root, leaf => v.leaf) e) THEN
		RETURN NEXT 'the histogram is not that of the tree';
	END IF;
	SELECT count(*) INTO wrong FROM lb._ranking_entries(r.counter_id, r.ranking_id, v.root, leaf => v.leaf) e
		FULL JOIN (SELECT s.member, s.value, s.reached_at
				   FROM lb.ranking w
				   JOIN lb.membership m ON m.board_id = w.board_id AND m.scope = r.scope
					AND m.since < r.closes AND m.until >= r.closes
				   JOIN lb.standing s ON s.counter_id = w.counter_id AND s.ranking_id = w.ranking_id AND s.member = m.member
				   WHERE w.counter_id = r.counter_id AND w.board_id = r.board_id AND w.scope = '' AND w.opens = r.opens
				   AND s.value IS NOT NULL) s
		ON s.member = e.member COLLATE "C"
		WHERE (s.value, s.reached_at) IS DISTINCT FROM
			(CASE WHEN b.direction = 'desc' THEN ~e.rank_key ELSE e.rank_key END, e.reached_at)
		AND NOT EXISTS (SELECT FROM lb.membership_news n WHERE n.board_id = r.board_id AND n.scope = r.scope
			AND n.member = coalesce(s.member, e.member));
	IF wrong > 0 THEN
		RETURN NEXT format('%s entries of the tree differ from the standings of its members', wrong);
	END IF;
END
$$;

/* Members of scopes that have no ranking in that window, which they should have. */
CREATE FUNCTION lb._scopes_missing(r lb.ranking) RETURNS SETOF text
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
BEGIN
	RETURN QUERY SELECT format('scope %s has members, but no ranking', m.scope)
		FROM lb.membership m
		WHERE m.board_id = r.board_id AND m.since < r.closes AND m.until >= r.closes
		AND NOT EXISTS (SELECT FROM lb.ranking o WHERE o.counter_id = r.counter_id AND o.board_id = r.board_id
			AND o.scope = m.scope AND o.opens = r.opens)
		AND EXISTS (SELECT FROM lb.standing s WHERE s.counter_id = r.counter_id AND s.ranking_id = r.ranking_id
			AND s.member = m.member AND s.value IS NOT NULL)
		AND NOT EXISTS (SELECT FROM lb.membership_news n WHERE n.board_id = r.board_id AND n.scope = m.scope
			AND n.member = m.member)
		GROUP BY m.scope;
END
$$;

CREATE FUNCTION lb._check(board text) RETURNS TABLE (problem text)
	LANGUAGE plpgsql STABLE PARALLEL SAFE
	SET search_path = pg_catalog, lb, pg_temp
	AS $$
DECLARE
	id bigint := lb._board_id(board);
	b lb.board;
	r lb.ranking;
	op text;
	wrong bigint;
	since timestamptz;
BEGIN
	SELECT * INTO b FROM lb.board d WHERE d.board_id = id;
	SELECT CASE v.type WHEN 'exact' THEN v.operator ELSE v.type END INTO op FROM lb.counter c
		JOIN lb.counter_version v ON v.counter_id = c.counter_id AND v.version = c.version
		WHERE c.counter_id = b.counter_id;
	FOR r IN SELECT * FROM lb.ranking k WHERE k.counter_id = b.counter_id AND k.board_id = id
		ORDER BY k.opens, k.scope LOOP
		IF r.scope <> '' THEN
			RETURN QUERY SELECT format('ranking %s (%s, scope %s): %s', r.ranking_id, r.opens, r.scope, p)
				FROM lb._scope_problems(b, r) p;
			CONTINUE;
		END IF;
		RETURN QUERY SELECT format('ranking %s (%s): %s', r.ranking_id, r.opens, p) FROM lb._ranking_problems(b, r, op) p;
		RETURN QUERY SELECT format('ranking %s (%s): %s', r.ranking_id, r.opens, p) FROM lb._scopes_missing(r) p;
	END LOOP;
	RETURN QUERY
		SELECT format('ranking %s (%s): %s', k.ranking_id, k.opens, p.problem)
		FROM (SELECT * FROM lb._standing_problems(b, op) WHERE op <> 'approximate'
			  UNION ALL SELECT * FROM lb._tracked_problems(b) WHERE op = 'approximate') p
		JOIN lb.ranking k ON k.counter_id = b.counter_id AND k.ranking_id = p.ranking_id
		ORDER BY k.opens;

	/* a member's days hold what the buckets inside them do */
	SELECT CASE WHEN w.opens = h.horizon THEN w.opens ELSE w.closes END INTO since
		FROM lb.counter_horizon h, lb.tenant t, lb._window('day', h.horizon, t.timezone) w
		WHERE h.counter_id = b.counter_id AND t.tenant_id = b.tenant_id;
	SELECT count(*) INTO wrong FROM
		(SELECT u.version, u.member
		 FROM lb.bucket u WHERE u.counter_id = b.counter_id AND u.opens >= coalesce(since, '-infinity')
		 GROUP BY 1, 2
		 HAVING sum(u.n) FILTER (WHERE u.span = 'd') IS DISTINCT FROM sum(u.n) FILTER (WHERE u.span = 'g')) d;
	IF wrong > 0 THEN
		problem := format('the days of %s members differ from the buckets inside them', wrong);
		RETURN NEXT;
	END IF;
END
$$;

CREATE FUNCTION @extschema@.lb_check(board text, OUT problem text) RETURNS SETOF text
	LANGUAGE c STABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'lb_public';
COMMENT ON FUNCTION @extschema@.lb_check(text) IS
'Checks every ranking of a board: its tree re-summed at every level, the tree against the standings sorted by plain SQL, population and histogram against the standings, the standings against the buckets of their window, the counter''s days against the buckets inside them; the rankings of its scopes against the standings of their members. One row a problem, none if all is well. Reads the whole board. 42704 for an unknown board.';
