# A large board read page by page, at one version and in one snapshot, while
# rounds go on and versions are collected; then kill -9 in the middle of
# rounds on exact and bounded boards.
use strict;
use warnings;

use LbTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

srand(20261201);
my $node = new_node('ranktree', 'fsync = on', 'max_wal_size = 64MB', 'restart_after_crash = off');
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION leaderboard');

sub value { return $node->safe_psql('postgres', shift); }

# Everything that is not as plain SQL over the log says, for an operator last.
$node->safe_psql('postgres', q{
CREATE FUNCTION truth() RETURNS TABLE (member text, value bigint, better bigint, dense bigint, place bigint) LANGUAGE sql AS $$
	SELECT member, value, rank() OVER (ORDER BY value DESC) - 1, dense_rank() OVER (ORDER BY value DESC),
		row_number() OVER (ORDER BY value DESC, reached_at, member COLLATE "C")
	FROM (SELECT DISTINCT ON (member) member, delta AS value, event_time AS reached_at FROM lb.event
		WHERE counter_id = (SELECT counter_id FROM lb_counters() WHERE counter = 'last') ORDER BY member, event_time DESC, event_id DESC) AS e
$$;
CREATE FUNCTION wrong() RETURNS SETOF text LANGUAGE sql AS $$
	SELECT b.board || ': ' || c.problem FROM lb_boards() AS b, LATERAL lb_check(b.board) AS c
	UNION ALL
	(WITH t AS MATERIALIZED (SELECT *, (place - 1) / 1000 AS chunk FROM truth())
	SELECT format('%s: %s is %s instead of %s', b.board, a.member, a.rank, t)
	FROM lb_boards() AS b CROSS JOIN (SELECT array_agg(member) AS members FROM t GROUP BY chunk) AS m
		CROSS JOIN LATERAL lb_ranks(b.board, m.members) AS a JOIN t ON t.member = a.member
	WHERE b.counter = 'last' AND (a.value IS DISTINCT FROM t.value
		OR a.rank IS DISTINCT FROM CASE WHEN b.ranks = 'bounded' AND CASE b.ties WHEN 'ordinal' THEN t.place > b.head ELSE t.better >= b.head END THEN NULL
			ELSE CASE b.ties WHEN 'ordinal' THEN t.place WHEN 'dense' THEN t.dense ELSE t.better + 1 END END)
	LIMIT 5)
$$;
-- Moves of random members to random values.
CREATE SEQUENCE moves;
CREATE FUNCTION move(n int, range int) RETURNS bigint LANGUAGE sql AS $$
	SELECT count(*) FROM (SELECT array_agg('m' || i) AS members, array_agg(v) AS values, array_agg(k) AS keys
		FROM (SELECT floor(random() * 100000)::int AS i, floor(random() * range)::bigint AS v, nextval('moves')::text AS k FROM generate_series(1, n)) AS d) AS d,
		LATERAL lb_submit_batch('last', members, values, keys) AS s WHERE status = 'accepted'
$$;
SELECT lb_create_counter('last', operator => 'last');
SELECT lb_create_board('kept', 'last', ties => 'ordinal', keep_versions => '1 hour');
SELECT lb_create_board('quick', 'last', keep_versions => '0');
SELECT count(*) FROM generate_series(0, 90000, 10000) AS f, LATERAL lb_submit_batch('last', ARRAY(SELECT 'm' || i FROM generate_series(f, f + 9999) AS i),
	ARRAY(SELECT i % 5000 FROM generate_series(f, f + 9999) AS i), ARRAY(SELECT 'first' || i FROM generate_series(f, f + 9999) AS i));
});
value('SELECT lb_refresh()');
is(value('SELECT population FROM lb_version(\'kept\')'), 100000, 'a board of 100,000');
my ($counter, $ranking, $root) = split /\|/, value(q{
	SELECT v.counter_id, v.ranking_id, v.root FROM lb.version AS v JOIN lb.ranking AS r USING (counter_id, ranking_id)
	JOIN lb_boards() AS b ON b.board_id = r.board_id WHERE b.board = 'kept'});
my $order = value('SELECT member FROM truth() ORDER BY place');
my @order = split /\n/, $order;

# One reader walks the root of that version, a transaction a page; another
# reads the other board's pages in one snapshot.  Each pauses, so that rounds
# come between pages.
my $pinned = join('', map {
	"SELECT place, member FROM lb._ranking_entries($counter, $ranking, $root, first => $_, n => 1000);\nSELECT pg_sleep(0.1) \\g /dev/null\n"
} map { 1 + 1000 * $_ } 0 .. 99);
my $snapshot = "BEGIN ISOLATION LEVEL REPEATABLE READ;\nSELECT 1 \\g /dev/null\n\\! touch $PostgreSQL::Test::Utils::tmp_check/begun\n"
  . join('', map { "SELECT place, member FROM lb_page('quick', $_, 1000);\nSELECT pg_sleep(0.1) \\g /dev/null\n" } map { 1 + 1000 * $_ } 0 .. 99)
  . "COMMIT;\n";
my $again = client($node, 'postgres', 'snapshot', $snapshot);
for (1 .. 1000) { last if -e "$PostgreSQL::Test::Utils::tmp_check/begun"; sleep(0.02); }
my $walk = client($node, 'postgres', 'pinned', $pinned);
my $rounds = 0;
while ($rounds < 400 && ($walk->{run}->pumpable || $again->{run}->pumpable))
{
	value('SELECT move(300, 7000)');
	value('SELECT lb_refresh()');
	value('SELECT lb._collect()');
	$rounds++;
}
my @walked = finish_client($walk);
my @read = finish_client($again);
is(join(' ', client_errors($walk), client_errors($again)), '', 'no page is missing');
my $due = join("\n", map { $_ + 1 . ' ' . $order[$_] } 0 .. $#order);
ok(join("\n", @walked) eq $due, "a walk at one version shows each member once, in order, beside $rounds rounds");
ok(join("\n", @read) eq $due, 'a walk in one snapshot does, while its versions are collected');
cmp_ok($rounds, '>', 2, 'rounds there were');
is(value('SELECT * FROM wrong()'), '', 'and the newest version is right');

# kill -9, again and again, with bounded boards beside.
value("SELECT lb_drop_board('quick')");
value("SELECT lb_create_board(format('%s %s', t, h), 'last', ties => t, ranks => 'bounded', head => h, keep_versions => '0')
	FROM unnest(ARRAY['competition', 'dense', 'ordinal']) AS t, unnest(ARRAY[1, 300]) AS h");
for my $crash (1 .. 5)
{
	my $range = (2, 100000)[$crash % 2];
	my @clients = map {
		client($node, 'postgres', "mover$_", join('', map { "SELECT move(" . (1 + int(rand(800))) . ", $range);\n" } 1 .. 300))
	} 1, 2;
	push @clients, client($node, 'postgres', 'loop', "CALL lb_refresh_loop('1 minute', '5 ms');");
	push @clients, client($node, 'postgres', 'collector', "SELECT lb._collect();\nSELECT pg_sleep(0.01);\n" x 300);
	sleep(0.3 + rand(1));
	kill_server($node);
	finish_client($_) for @clients;
	$node->start;
	is(value('SELECT * FROM wrong() WHERE (SELECT lb_refresh()) IS NOT NULL'), '', "crash $crash: every rank right, every tree sound") if $crash == 3 || $crash == 5;
	is(value("SELECT b.board, c.problem FROM lb_boards() AS b, LATERAL lb_check(b.board) AS c"), '', "crash $crash: every tree as the crash left it is sound");
}
$node->stop;
done_testing();
