# A transaction that stays open keeps everything that dies meanwhile.  What a
# rank and a round read stays bounded nevertheless, counted in pages.
use strict;
use warnings;

use LbTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $rounds = 300;
my $node = new_node('held', 'fsync = off', 'autovacuum = off', 'max_parallel_workers_per_gather = 0');
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION leaderboard;
	SELECT lb_create_counter('points'), lb_create_board('all', 'points', keep_versions => '1 second'),
		lb_create_board('day', 'points', 'day', keep_versions => '1 second');
	SELECT count(s.status) FROM (SELECT array_agg('m' || i) AS m, array_agg(i::bigint) AS d, array_agg('k' || i) AS k FROM generate_series(1, 5000) AS i) AS e,
		LATERAL lb_submit_batch('points', m, d, k) AS s;
	SELECT lb_refresh();
});

# Pages that the question reads in a session of its own, whose caches are warm.
sub pages
{
	my ($question, $before) = @_;
	my $plan = $node->safe_psql('postgres', join("\n", ($before // '') . ";$question;", ($before // '') . ';',
			"EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) $question;"));
	my $pages = 0;
	# the first line is of the whole
	$plan =~ /Buffers: shared(?: hit=(\d+))?(?: read=(\d+))?/ and $pages = ($1 // 0) + ($2 // 0);
	return $pages;
}
# A session that has just read the round's rows need not read them again, so
# something commits in between.
my $rank = q{SELECT count(rank) FROM (SELECT 'm' || i AS m FROM generate_series(1, 100) i) s, LATERAL lb_rank('all', m)};
my $commit = q{CREATE TEMP TABLE IF NOT EXISTS t (); DROP TABLE t};
# The same twenty every time: each round makes one more version of their rows.
my $moves = q{SELECT count(*) FROM (SELECT array_agg('m' || i * 5) AS m, array_agg(1 + (random() * 100)::bigint) AS d,
		array_agg(gen_random_uuid()::text) AS k FROM generate_series(1, 20) AS i) AS e, LATERAL lb_submit_batch('points', m, d, k)};
my $round = 'SELECT events FROM lb_refresh()';

my %first = (rank => pages($rank, $commit), round => pages($round, $moves));
my $holder = $node->background_psql('postgres');
$holder->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
my $saw = $holder->query_safe(q{SELECT md5(string_agg(t::text, ',' ORDER BY place)) FROM (SELECT place, member, rank, value, version FROM lb_top('all', 1000)) t});
my $script = '';
for my $i (1 .. $rounds)
{
	$script .= "$moves;\n$round;\n";
	$script .= "SELECT lb._collect();\nVACUUM;\n" if $i % 50 == 0;
}
$node->safe_psql('postgres', $script);
my %last = (rank => pages($rank, $commit), round => pages($round, $moves));
my $dead = $node->safe_psql('postgres', q{SELECT pg_stat_force_next_flush(); SELECT sum(n_dead_tup) FROM pg_stat_user_tables WHERE schemaname = 'lb'});
cmp_ok((split /\n/, $dead)[-1], '>', $rounds, 'what died is still there');
cmp_ok($first{rank}, '>', 0, "a hundred ranks read $first{rank} pages before");
cmp_ok($last{rank}, '<=', 2 * $first{rank}, "and $last{rank} after $rounds rounds with a transaction held open");
cmp_ok($first{round}, '>', 0, "a round of 20 moves read $first{round} pages before");
cmp_ok($last{round}, '<=', 3 * $first{round}, "and $last{round} after");
is($holder->query_safe(q{SELECT md5(string_agg(t::text, ',' ORDER BY place)) FROM (SELECT place, member, rank, value, version FROM lb_top('all', 1000)) t}),
	$saw, 'the open transaction still reads what it saw');
$holder->query_safe('COMMIT');
$holder->quit;
$node->safe_psql('postgres', "SELECT pg_sleep(1.1); SELECT lb._collect(); VACUUM");
cmp_ok($node->safe_psql('postgres', 'SELECT count(*) FROM lb.version'), '<', 50, 'when it has ended, old versions go');
is($node->safe_psql('postgres', q{SELECT count(*) FROM lb_check('all')}), 0, 'and all is well');
$node->stop('immediate');
done_testing();
