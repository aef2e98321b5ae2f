# A long backlog after a pause: the loop counts it in several rounds, its
# backend's memory stays bounded, and the boards are what the log says.
# BACKLOG=2000000 makes it longer than the suite has time for.
use strict;
use warnings;

use LbTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my $events = $ENV{BACKLOG} // 510000;
my $batch = 10000;
my $node = new_node('backlog', 'maintenance_work_mem = 16MB', 'max_wal_size = 2GB', 'shared_buffers = 256MB');
$node->start;
install($node, 'postgres');

# Most members are few events long, a few are very long.
my $from = time();
$node->safe_psql('postgres', qq{
	SELECT oracle.make('points');
	SELECT lb_drop_board('points in places');
	SELECT lb_refresh();
	DO \$\$
	BEGIN
		FOR b IN 0 .. $events / $batch - 1 LOOP
			PERFORM count(*) FROM (
				SELECT array_agg('m' || (i::bigint * i * 7919 % 20011)::text) AS members, array_agg((i % 1000 - 100)::bigint) AS deltas,
					array_agg('k' || i) AS keys, array_agg(now() - i % 100 * interval '1 hour') AS times
				FROM generate_series(b * $batch + 1, (b + 1) * $batch) i) s,
				LATERAL lb_submit_batch('points', s.members, s.deltas, s.keys, s.times);
			COMMIT;
		END LOOP;
	END
	\$\$;
});
my $submitted = time() - $from;
is($node->safe_psql('postgres', 'SELECT count(*) FROM lb.event'), $events, "$events events are waiting");

sub anonymous_memory
{
	my ($pid) = @_;
	open(my $file, '<', "/proc/$pid/status") or return 0;
	my ($kb) = join('', <$file>) =~ /^RssAnon:\s+(\d+) kB/m;
	return ($kb // 0) / 1024;
}

my $loop = client($node, 'postgres', 'loop', "CALL lb_refresh_loop('10 minutes', '1 ms');");
my $pid;
for (1 .. 500)
{
	$pid = $node->safe_psql('postgres', q{SELECT pid FROM pg_stat_activity WHERE query LIKE 'CALL lb_refresh_loop%'});
	last if $pid;
}
$from = time();
my $most = 0;
my $done = 0;
while (!$done && time() - $from < 120)
{
	for (1 .. 20)
	{
		my $now = anonymous_memory($pid);
		$most = $now if $now > $most;
		sleep(0.02);
	}
	$done = $node->safe_psql('postgres', 'SELECT coalesce(sum(events), 0) FROM lb.round') == $events;
}
my $counted = time() - $from;
ok($done, 'the loop counts all of it');
cmp_ok($most, '>', 1, 'its memory was seen');
cmp_ok($most, '<', 128, 'and is bounded: megabytes of its own');
cmp_ok($node->safe_psql('postgres', 'SELECT count(*) FROM lb.round WHERE events > 0'), '>=', int(($events - 1) / 500000) + 1,
	'in several rounds');
cmp_ok($node->safe_psql('postgres', 'SELECT max(events) FROM lb.round'), '<=', 500000 + $batch, 'none of which is long');
$node->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
finish_client($loop);
no_violations($node, 'postgres', 'the boards are what the log says', 101);
diag(sprintf('%d events: submitted in %.1f s, counted in %.1f s, at most %.0f MB', $events, $submitted, $counted, $most));
$node->stop('immediate');

done_testing();
