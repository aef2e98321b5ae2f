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
'An answer about a board. kind: exact (rank = rank_low = rank_high), estimated (rank NULL, the truth between rank_low and rank_high; midpoint is for display only) or unranked (rank and value NULL). place: 1-based position in board order where known. percentile: 100 x (population - strictly better) / population, oneself included. version: number of the last counting round that changed the ranking. as_of: clock before the newest round. stale: as_of is older than the board''s freshness. state: live, provisional (the window is over, late events still count) or settled.';

CREATE FUNCTION @extschema@.lb_rank(board text, member text, scope text DEFAULT '', at timestamptz DEFAULT NULL)
	RETURNS SETOF @extschema@.lb_answer
	LANGUAGE c STABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'lb_rank';
COMMENT ON FUNCTION @extschema@.lb_rank(text, text, text, timestamptz) IS
'The rank of a member: one row of lb_answer; a member who is not on the board is an answer of kind unranked. at: an instant in the window asked for, NULL for the current one; no matter for a board of period all. Costs one probe for the member and at most "head" index entries. 42704 for an unknown board, 22023 for a NULL board or member, an infinite at or a scope.';

CREATE FUNCTION @extschema@.lb_ranks(board text, members text[], scope text DEFAULT '', at timestamptz DEFAULT NULL)
	RETURNS SETOF @extschema@.lb_answer
	LANGUAGE c STABLE PARALLEL SAFE ROWS 100 AS 'MODULE_PATHNAME', 'lb_ranks';
COMMENT ON FUNCTION @extschema@.lb_ranks(text, text[], text, timestamptz) IS
'lb_rank() for 1 to 1,000 members at one version: one row of lb_answer a member given, in the order given. 22023 for more members or a NULL among them; otherwise as lb_rank().';

CREATE FUNCTION @extschema@.lb_top(board text, n integer DEFAULT 10, scope text DEFAULT '', at timestamptz DEFAULT NULL)
	RETURNS SETOF @extschema@.lb_answer
	LANGUAGE c STABLE PARALLEL SAFE ROWS 10 AS 'MODULE_PATHNAME', 'lb_top';
COMMENT ON FUNCTION @extschema@.lb_top(text, integer, text, timestamptz) IS
'The best n (1 to 1,000, and at most the board''s head) in board order, as lb_answer. Costs n index entries. Errors as lb_rank().';

CREATE FUNCTION @extschema@.lb_page(board text, first bigint, n integer DEFAULT 10, scope text DEFAULT '', at timestamptz DEFAULT NULL)
	RETURNS SETOF @extschema@.lb_answer
	LANGUAGE c STABLE PARALLEL SAFE ROWS 10 AS 'MODULE_PATHNAME', 'lb_page';
COMMENT ON FUNCTION @extschema@.lb_page(text, bigint, integer, text, timestamptz) IS
'The n (1 to 1,000) entries from place "first" on, in board order, as lb_answer; none beyond the board''s head. Costs first + n index entries. 22023 for a first below 1; otherwise as lb_rank().';

CREATE FUNCTION @extschema@.lb_around(board text, member text, n integer DEFAULT 5, scope text DEFAULT '', at timestamptz DEFAULT NULL)
	RETURNS SETOF @extschema@.lb_answer
	LANGUAGE c STABLE PARALLEL SAFE ROWS 11 AS 'MODULE_PATHNAME', 'lb_around';
COMMENT ON FUNCTION @extschema@.lb_around(text, text, integer, text, timestamptz) IS
'Up to n (1 to 1,000) members ahead of the member, the member, and up to n behind, in board order, as lb_answer; not topped up at the ends. One unranked row for a member who is not on the board. Costs as lb_rank() for each row. Errors as lb_rank().';

CREATE FUNCTION @extschema@.lb_among(board text, members text[], scope text DEFAULT '', at timestamptz DEFAULT NULL,
		OUT among bigint, OUT member text, OUT rank bigint, OUT kind text, OUT rank_low bigint, OUT rank_high bigint,
		OUT midpoint bigint, OUT place bigint, OUT percentile_low double precision,
		OUT percentile_high double precision, OUT value bigint, OUT value_low bigint, OUT value_high bigint,
		OUT reached_at timestamptz, OUT population bigint, OUT version bigint, OUT as_of timestamptz,
		OUT stale boolean, OUT state text)
	RETURNS SETOF record
	LANGUAGE c STABLE PARALLEL SAFE ROWS 100 AS 'MODULE_PATHNAME', 'lb_among';
COMMENT ON FUNCTION @extschema@.lb_among(text, text[], text, timestamptz) IS
'A board of friends: 1 to 1,000 members, each once, best first and the unranked last. among: the rank among the given ones by the board''s tie rule, NULL for the unranked; then the columns of lb_answer, which speak of the whole board. Costs as lb_rank() for each member. Errors as lb_ranks().';

CREATE FUNCTION @extschema@.lb_rank_for_value(board text, value bigint, scope text DEFAULT '', at timestamptz DEFAULT NULL)
	RETURNS SETOF @extschema@.lb_answer
	LANGUAGE c STABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'lb_rank_for_value';
COMMENT ON FUNCTION @extschema@.lb_rank_for_value(text, bigint, text, timestamptz) IS
'The rank that a value would have for somebody who reached it now: one row of lb_answer whose member is NULL. By the ordinal rule that is behind all who have it. percentile is NULL on an empty board. Costs and errors as lb_rank().';

CREATE FUNCTION @extschema@.lb_distribution(board text, scope text DEFAULT '', at timestamptz DEFAULT NULL,
		OUT low bigint, OUT high bigint, OUT members bigint)
	RETURNS SETOF record
	LANGUAGE c STABLE PARALLEL SAFE ROWS 64 AS 'MODULE_PATHNAME', 'lb_distribution';
COMMENT ON FUNCTION @extschema@.lb_distribution(text, text, timestamptz) IS
'How the board''s values are spread: the buckets of its histogram that hold members, from the lowest values up; low and high are the least and greatest value of the bucket, NULL where it has no end. Costs one row. Errors as lb_rank().';

CREATE FUNCTION @extschema@.lb_version(board text, scope text DEFAULT '', at timestamptz DEFAULT NULL,
		OUT board_id bigint, OUT channel text, OUT version bigint, OUT as_of timestamptz, OUT stale boolean,
		OUT state text, OUT population bigint, OUT opens timestamptz, OUT closes timestamptz, OUT settles timestamptz)
	LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'lb_version';
COMMENT ON FUNCTION @extschema@.lb_version(text, text, timestamptz) IS
'Always one row: the board''s id and channel, the version, as_of, stale and state that answers carry, the population, and when the window opens, closes and settles (infinite for period all). Errors as lb_rank().';

CREATE FUNCTION @extschema@.lb_value(counter text, member text, period text DEFAULT 'all', at timestamptz DEFAULT NULL,
		OUT member text, OUT value bigint, OUT value_low bigint, OUT value_high bigint, OUT late bigint,
		OUT version bigint, OUT as_of timestamptz, OUT stale boolean)
	LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'lb_value';
COMMENT ON FUNCTION @extschema@.lb_value(text, text, text, timestamptz) IS
'What a member has in a period (all, hour, day, week, month, year), with a board or without. value = value_low = value_high for an exact counter, NULL for a member without events. late: what events add up to that came too late for this window. version: the last counting round that changed the counter. stale: as_of is older than the smallest freshness of the counter''s boards, or 5 seconds. Costs one row an hour in which the member had events. 42704 for an unknown counter, 22023 for a bad argument, 22003 if the sum does not fit bigint.';

CREATE FUNCTION @extschema@.lb_values(counter text, members text[], period text DEFAULT 'all', at timestamptz DEFAULT NULL,
		OUT member text, OUT value bigint, OUT value_low bigint, OUT value_high bigint, OUT late bigint,
		OUT version bigint, OUT as_of timestamptz, OUT stale boolean)
	RETURNS SETOF record
	LANGUAGE c STABLE PARALLEL SAFE ROWS 100 AS 'MODULE_PATHNAME', 'lb_values';
COMMENT ON FUNCTION @extschema@.lb_values(text, text[], text, timestamptz) IS
'lb_value() for 1 to 1,000 members: one row a member given, in the order given. Errors as lb_value(), and 22023 for more members or a NULL among them.';
