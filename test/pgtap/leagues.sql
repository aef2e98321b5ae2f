-- Leagues: promotion on Monday, who comes and who goes, sums that leave bigint,
-- boards that are dropped.
\unset ECHO
\set QUIET 1
\pset format unaligned
\pset tuples_only true
\pset pager off
\set ON_ERROR_STOP true
SET client_min_messages = warning;
SET timezone = 'UTC';
SELECT plan(12);

-- Last week's provisional league does not see Monday's promotion.
SELECT lb_create_counter('now', lateness => '30 days', max_age => '30 days') AS c, lb_create_board('now', 'now', 'week', scoped => true) AS b, date_trunc('week', now(), 'UTC') AS monday \gset
SELECT status FROM lb_submit_batch('now', ARRAY['ann', 'bob', 'cid', 'ann', 'bob', 'cid'], ARRAY[3, 2, 1, 30, 20, 10], ARRAY['1', '2', '3', '4', '5', '6'],
	ARRAY[:'monday'::timestamptz - interval '1 hour', :'monday'::timestamptz - interval '1 hour', :'monday'::timestamptz - interval '1 hour', now(), now(), now()]) \g /dev/null
SELECT lb_join('now', 'silver', ARRAY['ann', 'bob', 'cid'], :'monday'::timestamptz - interval '7 days') \g /dev/null
SELECT lb_refresh() \g /dev/null
SELECT ok(lb_move('now', 'ann', 'gold'), 'the promotion');
SELECT ok(NOT lb_move('now', 'ann', 'gold'), 'twice is once');
SELECT lb_refresh() \g /dev/null
SELECT is((SELECT array_agg(member || rank) FROM lb_top('now', scope => 'silver', at => :'monday'::timestamptz - interval '1 day')), ARRAY['ann1', 'bob2', 'cid3'], 'last week''s league is as it was');
SELECT is((SELECT array_agg(member || rank) FROM lb_top('now', scope => 'silver')), ARRAY['bob1', 'cid2'], 'this week''s has one less');
SELECT is((SELECT array_agg(member || value) FROM lb_top('now', scope => 'gold')), ARRAY['ann30'], 'and what she has came along');
SELECT is((SELECT array_agg(member || value) FROM lb_top('now')), ARRAY['ann30', 'bob20', 'cid10'], 'everybody is on the whole board');
-- Next week's league is made today.
SELECT lb_move('now', 'bob', 'gold', :'monday'::timestamptz + interval '7 days') \g /dev/null
SELECT is(rankings, 0::bigint, 'what holds from next week on moves nothing') FROM lb_refresh();
SELECT is((SELECT array_agg(scope || ' ' || (since > now())) FROM lb_scopes('now', 'bob')), ARRAY['gold true', 'silver false'], 'lb_scopes says both');

-- A sum that left bigint is off the scope, and comes back.
SELECT lb_submit('now', 'cid', 9223372036854775807, 'big') \g /dev/null
SELECT lb_refresh() \g /dev/null
SELECT is((SELECT array_agg(member) FROM lb_top('now', scope => 'silver')), ARRAY['bob'], 'a poisoned member is off the scope');
SELECT is((SELECT kind FROM lb_rank('now', 'cid', 'silver')), 'unranked', 'and unranked in it');
SELECT lb_move('now', 'cid', 'gold') \g /dev/null
SELECT lb_refresh() \g /dev/null
SELECT lb_submit('now', 'cid', -9223372036854775807, 'small') \g /dev/null
SELECT lb_refresh() \g /dev/null
SELECT is((SELECT array_agg(member || value) FROM lb_top('now', scope => 'gold')), ARRAY['ann30', 'cid10'], 'it comes back to the scope in which it is then');

-- A board that goes takes its memberships along; a retired counter too.
SELECT lb_create_board('other', 'now', scoped => true), lb_join('other', 'x', ARRAY['ann']) \g /dev/null
SELECT lb_drop_board('now'), lb_drop_counter('now', force => true) \g /dev/null
SELECT is((SELECT count(*) FROM lb.membership WHERE board_id NOT IN (SELECT board_id FROM lb.board)) + (SELECT count(*) FROM lb.scope WHERE board_id NOT IN (SELECT board_id FROM lb.board))
	+ (SELECT count(*) FROM lb.membership_news) + (SELECT count(*) FROM lb.ranking WHERE board_id NOT IN (SELECT board_id FROM lb.board)), 0::bigint, 'nothing is left of dropped boards');
SELECT * FROM finish();
