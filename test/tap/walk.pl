# Page by page through a board at one version, while rounds go on, versions are
# collected, and members move: each of them is met exactly once.
# WALK_MEMBERS=100000 makes the board larger.
use strict;
use warnings;

use LbTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $members = $ENV{WALK_MEMBERS} // 10000;
my $node = new_node('walk');
$node->start;
$node->safe_psql('postgres', qq{
	CREATE EXTENSION leaderboard;
	SELECT lb_create_counter('points'), lb_create_board('all', 'points', keep_versions => '2 minutes'), lb_create_board('ordinal', 'points', ties => 'ordinal', keep_versions => '2 minutes');
	SELECT count(s.status) FROM (SELECT array_agg('m' || i) AS m, array_agg((i * 7919::bigint) % 5000) AS d, array_agg('k' || i) AS k FROM generate_series(1, $members) AS i GROUP BY i / 5000) AS e,
		LATERAL lb_submit_batch('points', m, d, k) AS s;
	SELECT lb_refresh();
});

# Scores come in all the time, from the last to the first place and back.
my @busy = (
	client($node, 'postgres', 'loop', q{CALL lb_refresh_loop('5 minutes', '20 ms');}),
	client($node, 'postgres', 'collector', "SELECT lb._collect();\nSELECT pg_sleep(0.1);\n" x 3000, go_on => 1),
	client($node, 'postgres', 'writer', qq{SELECT count(status) FROM (SELECT array_agg('m' || ceil(random() * $members)) AS m, array_agg(floor(random() * 20000)::bigint - 10000) AS d, array_agg(gen_random_uuid()::text) AS k
		FROM generate_series(1, 100)) AS e, LATERAL lb_submit_batch('points', m, d, k) AS s;\nSELECT pg_sleep(0.01);\n} x 20000, go_on => 1));
$node->poll_query_until('postgres', q{SELECT version > 10 FROM lb_version('all')}) or die 'no rounds';

for my $board ('all', 'ordinal')
{
	# All of it with one snapshot, then a statement a page with its version.
	my $pages = int($members / 1000) + 1;
	my $columns = 'place, member, rank, value, reached_at, population, version';
	my $truth = $node->safe_psql('postgres', "BEGIN ISOLATION LEVEL REPEATABLE READ;\n"
		  . join('', map { "SELECT $columns FROM lb_page('$board', 1 + 1000 * $_, 1000);\n" } 0 .. $pages) . 'COMMIT');
	my @truth = split /\n/, $truth;
	my $version = (split /\|/, $truth[0])[6];
	my (@walked, %met);
	for my $page (0 .. $pages)
	{
		push @walked, split /\n/, $node->safe_psql('postgres', "SELECT $columns FROM lb_page('$board', 1 + 1000 * $page, 1000, version => $version)");
		select(undef, undef, undef, 0.1);
	}
	$met{(split /\|/)[1]}++ for @walked;
	is(scalar @walked, $members, "$board: as many entries as members");
	is(join(' ', grep { $met{$_} != 1 } sort keys %met), '', "$board: each member once");
	is(scalar keys %met, $members, "$board: all of them");
	my $first_unlike = (grep { $walked[$_] ne $truth[$_] } 0 .. $#truth)[0];
	is($first_unlike, undef, "$board: in the places that they had");
	cmp_ok($node->safe_psql('postgres', "SELECT count(*) FROM lb.version v JOIN lb.ranking r USING (counter_id, ranking_id) WHERE r.board_id = (lb_version('$board')).board_id AND v.version > $version"), '>=', 5,
		"$board: although it moved on");
	is($node->safe_psql('postgres', qq{SELECT count(*) FROM lb_page('$board', 500, 100, version => $version) AS p, LATERAL lb_rank('$board', p.member, version => $version) AS r
		WHERE (p.rank, p.place, p.value) IS DISTINCT FROM (r.rank, r.place, r.value)}), 0, "$board: a member's own rank is that of the page");
}
$node->stop('immediate');
finish_client($_) for @busy;
is(join("\n", grep { !/57P0|08006|terminat|connection/ } map { client_errors($_) } @busy), '', 'nobody met an error');
done_testing();
