# Unique and approximate counters under kill -9, and through pg_dump: what is
# counted is what the log says, by lb_hll_agg() and by plain sums.
use strict;
use warnings;

use LbTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

my $crashes = 5;
srand(20261202);

my $node = new_node('families', 'restart_after_crash = off', 'fsync = off');
$node->start;
$node->safe_psql('postgres', 'CREATE DATABASE game');
$node->safe_psql('game', q{
	CREATE EXTENSION leaderboard;
	SELECT lb_create_counter('viewers', type => 'unique', tolerated_error => 0.05),
		lb_create_counter('hits', type => 'approximate', tolerated_error => 0.02);
	SELECT lb_create_board('v', 'viewers'), lb_create_board('v day', 'viewers', 'day'), lb_create_board('v rolling', 'viewers', 'last 3 hours'),
		lb_create_board('h', 'hits'), lb_create_board('h day', 'hits', 'day'), lb_create_board('h rolling', 'hits', 'last 3 hours');
});

# What is wrong by the log; everything in it is counted.
my $wrong = q{
	WITH due AS (SELECT member, lb_hll_agg(actor, 11) AS sketch, max(event_time) AS reached_at FROM lb.event WHERE counter_id = lb._counter_id('viewers') GROUP BY 1),
	kept AS (SELECT member, sketch FROM lb.sketch JOIN lb.ranking USING (counter_id, ranking_id) WHERE board_id = lb._board_id('v'))
	SELECT 'sketch of ' || member FROM due FULL JOIN kept USING (member) WHERE due.sketch::bytea IS DISTINCT FROM kept.sketch
	UNION ALL
	SELECT 'value of ' || member FROM due LEFT JOIN lb_page('v', 1, 1000) AS p USING (member)
		WHERE (p.value, p.reached_at) IS DISTINCT FROM (round(lb_hll_count(sketch))::bigint, due.reached_at);
	WITH due AS (SELECT member, sum(delta) AS sum FROM lb.event WHERE counter_id = lb._counter_id('hits') GROUP BY 1),
	total AS (SELECT sum(sum) AS total FROM due)
	SELECT 'hits of ' || d.member FROM due AS d, total, LATERAL lb_rank('h', d.member) AS r
		WHERE NOT coalesce(d.sum BETWEEN r.value_low AND r.value_high, false) OR r.value_high - r.value_low > total / 51
	UNION ALL
	SELECT 'total' FROM total WHERE total <> (SELECT v.total FROM lb.version AS v JOIN lb.ranking USING (counter_id, ranking_id) WHERE board_id = lb._board_id('h') ORDER BY v.version DESC LIMIT 1);
	SELECT b.board || ': ' || problem FROM lb_boards() AS b, lb_check(b.board);
};

sub work
{
	my ($writer) = @_;
	my $script = '';
	for my $i (1 .. 60)
	{
		my $tag = "$writer " . rand();
		$script .= "SELECT count(*) FROM lb_submit_batch('viewers', (SELECT array_agg('m' || floor(random() ^ 3 * 30)) FROM generate_series(1, 200)), array_fill(1::bigint, ARRAY[200]), "
		  . "actors => (SELECT array_agg('a' || floor(random() ^ 2 * 20000)) FROM generate_series(1, 200)));\n"
		  . "SELECT count(*) FROM lb_submit_batch('hits', (SELECT array_agg('m' || floor(random() ^ 4 * 2000)) FROM generate_series(1, 200)), (SELECT array_agg(ceil(random() * 20)::bigint) FROM generate_series(1, 200)), "
		  . "(SELECT array_agg('$tag ' || i) FROM generate_series(1, 200) AS i));\n";
	}
	return $script;
}

for my $crash (1 .. $crashes)
{
	my @clients = map { client($node, 'game', "writer$_", work("$crash $_")) } 1 .. 3;
	push @clients, client($node, 'game', 'loop', "CALL lb_refresh_loop('1 minute', '15 ms');");
	push @clients, client($node, 'game', 'board', "SELECT lb_create_board('v$crash', 'viewers', 'month'), lb_create_board('h$crash', 'hits', 'week');\n");
	for (1 .. 200)
	{
		last if $node->safe_psql('game', 'SELECT count(*) FROM lb.event') > 3000 * $crash;
		sleep(0.1);
	}
	sleep(rand(0.3));
	kill_server($node);
	finish_client($_) for @clients;
	$node->start;
	$node->safe_psql('game', 'SELECT lb_refresh()');
	is($node->safe_psql('game', $wrong), '', "crash $crash: boards and sketches are what the log says");
}
cmp_ok($node->safe_psql('game', "SELECT count(*) FROM lb.event"), '>', 5000, 'and that was something');
cmp_ok($node->safe_psql('game', "SELECT max(bound) FROM lb.version"), '>', 0, 'with more members than are tracked');

# A dump has the log and the definitions; what it is restored to counts anew.
my $answers = q{SELECT member, rank, value, value_low, value_high, reached_at FROM lb_page('v day', 1, 1000) ORDER BY place;
	SELECT counter, type, tolerated_error FROM lb_counters() ORDER BY 1};
my $before = $node->safe_psql('game', $answers);
my $dump = "${PostgreSQL::Test::Utils::tmp_check}/families.dump";
$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, '-d', $node->connstr('game') ], 'dumped');
$node->safe_psql('postgres', 'CREATE DATABASE copy');
$node->command_ok([ 'pg_restore', '-d', $node->connstr('copy'), $dump ], 'restored');
is($node->safe_psql('copy', 'SELECT count(*) FROM lb.sketch'), '0', 'no sketch is dumped');
$node->safe_psql('copy', 'SELECT lb_refresh()');
is($node->safe_psql('copy', $wrong), '', 'counted anew, boards and sketches are what the log says');
is($node->safe_psql('copy', $answers), $before, 'and unique counters say the same');
$node->stop('immediate');

done_testing();
