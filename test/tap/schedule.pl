# lb_schedule through pg_cron, really running, and its refusals without it.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

sub refused
{
	my ($node, $database, $what) = @_;
	my ($code, $out, $err) = $node->psql($database,
		'\set VERBOSITY verbose' . "\n" . 'SELECT lb_schedule();');
	like($err, qr/ERROR:  55000: .*pg_cron/, "$what: refused with 55000");
	like($err, qr/HINT:  \S/, "$what: with a hint");
}

# A server that has no pg_cron: everything but the schedule works.
my $plain = PostgreSQL::Test::Cluster->new('plain');
$plain->init;
$plain->start;
$plain->safe_psql('postgres', 'CREATE EXTENSION leaderboard');
refused($plain, 'postgres', 'pg_cron is not there');
$plain->stop;

my $node = PostgreSQL::Test::Cluster->new('cron');
$node->init;
my $host = $node->host;
$node->append_conf('postgresql.conf', qq{
shared_preload_libraries = 'pg_cron'
cron.database_name = 'game'
cron.host = '$host'
});
$node->start;
$node->safe_psql('postgres', 'CREATE DATABASE game');
$node->safe_psql('postgres', 'CREATE EXTENSION leaderboard');
refused($node, 'postgres', 'pg_cron lives in another database');
$node->safe_psql('game', 'CREATE EXTENSION leaderboard');
refused($node, 'game', 'pg_cron is not created');

$node->safe_psql('game', q{
	CREATE EXTENSION pg_cron;
	SELECT cron.schedule('not ours', '0 3 * * *', 'SELECT 1');
	SELECT lb_create_counter('points');
	SELECT lb_create_board('all', 'points');
	SELECT lb_schedule();
});
my $jobs = q{SELECT count(*) FROM cron.job WHERE jobname <> 'not ours'};
my $once = $node->safe_psql('game', $jobs);
cmp_ok($once, '>', 0, 'lb_schedule makes jobs');
$node->safe_psql('game', 'SELECT lb_schedule()');
is($node->safe_psql('game', $jobs), $once, 'once more makes no others');

# What pg_cron's job counts nobody asked for by hand.
$node->safe_psql('game', q{SELECT lb_submit('points', 'alice', 7, key => 'a')});
ok($node->poll_query_until('game', q{SELECT value = 7 FROM lb_rank('all', 'alice')}),
	'the job counts');
is($node->safe_psql('game', q{SELECT string_agg(check_name, ',') FROM lb.health WHERE NOT ok}),
	'', 'lb.health is content');

$node->safe_psql('game', 'SELECT lb_unschedule()');
is($node->safe_psql('game', $jobs), '0', 'lb_unschedule leaves none of its jobs');
is($node->safe_psql('game', q{SELECT count(*) FROM cron.job}), '1', 'and every other');
$node->stop;

done_testing();
