# 1,000 new members submitted to one board, so many requests at the same time:
# each is accepted, and if one is not, its reason is told.
use strict;
use warnings;

use LbTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $requests = 1000;
my $node = new_node('flight');
$node->start;
install($node, 'postgres');

my $loop = client($node, 'postgres', 'loop', "SELECT pg_sleep(1); CALL lb_refresh_loop('5 minutes', '50 ms');");
for my $sessions (8, 16, 64, 256)
{
	my $counter = "flight $sessions";
	$node->safe_psql('postgres', "SELECT oracle.make('$counter')");

	# All are connected before the first of them may begin.
	my $gate = $node->background_psql('postgres');
	$gate->query_safe('SELECT pg_advisory_lock(1)');
	my @clients;
	for my $session (0 .. $sessions - 1)
	{
		my $script = "SELECT 'ready' FROM pg_advisory_xact_lock_shared(1);\n";
		for (my $i = $session; $i < $requests; $i += $sessions)
		{
			$script .= "\\echo request $i\n"
			  . "SELECT coalesce(reason, status) FROM lb_submit('$counter', 'm$i', $i, key => 'k$i');\n";
		}
		push @clients, client($node, 'postgres', "s$session", $script, go_on => 1);
	}
	$node->poll_query_until('postgres',
		"SELECT count(*) = $sessions FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
	  or die 'not all clients came';
	$gate->query_safe('SELECT pg_advisory_unlock(1)');
	$gate->quit;

	my (%answer, @failures);
	for my $client (@clients)
	{
		my $request;
		for (finish_client($client))
		{
			if (/^request (\d+)$/) { $request = $1; }
			elsif (defined $request) { $answer{$request} = $_; }
		}
		push @failures, client_errors($client);
	}
	push @failures, map { "request $_: " . ($answer{$_} // 'no answer') }
	  grep { ($answer{$_} // '') ne 'accepted' } 0 .. $requests - 1;
	is(join("\n", @failures), '', "$sessions in flight: $requests accepted");
	is($node->safe_psql('postgres',
			"SELECT count(*), count(DISTINCT member) FROM lb.event WHERE counter_id = lb._counter_id('$counter')"),
		"$requests|$requests", "$sessions in flight: as many in the log");
	no_violations($node, 'postgres', "$sessions in flight: all counted");
	is($node->safe_psql('postgres', "SELECT population FROM lb_version('$counter')"), $requests,
		"$sessions in flight: all on the board");
}
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'CALL lb_refresh_loop%'});
finish_client($loop);
is(join("\n", grep { !/57014/ } client_errors($loop)), '', 'the loop ran all the time');
$node->stop('immediate');

done_testing();
