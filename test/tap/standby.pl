# A streaming standby answers, refuses to write with a hint, and after its
# promotion goes on counting: nothing is lost or counted twice.
use strict;
use warnings;

use LbTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = PostgreSQL::Test::Cluster->new('primary');
delete $ENV{INITDB_TEMPLATE};
$primary->init(allows_streaming => 1);
$primary->append_conf('postgresql.conf', "timezone = 'UTC'\n");
$primary->start;
install($primary, 'postgres');
my $answers = q{SELECT member, rank, kind, place, value, reached_at, population, version, as_of FROM lb_top('points', 100)
	UNION ALL SELECT member, rank, kind, place, value, reached_at, population, version, as_of FROM lb_around('points in places', 'm5', 3)};
$primary->safe_psql('postgres', q{
	SELECT oracle.make('points');
	SELECT count(*) FROM generate_series(1, 500) i, lb_submit('points', 'm' || i % 83, i, 'k' || i);
	SELECT lb_refresh();
});
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;

$primary->safe_psql('postgres', q{
	SELECT count(*) FROM generate_series(501, 900) i, lb_submit('points', 'm' || i % 83, i, 'k' || i);
	SELECT lb_refresh();
});
$primary->wait_for_catchup($standby);
is($standby->safe_psql('postgres', $answers), $primary->safe_psql('postgres', $answers),
	'the standby answers as the primary does, with its version and as_of');
is(violations($standby, 'postgres'), '', 'which is what the log says');
is($standby->safe_psql('postgres', q{SELECT bool_and(as_of IS NOT NULL AND NOT stale OR as_of < now() - interval '5 seconds') FROM lb_top('points')}),
	't', 'as_of tells how old it is');
# New windows, counters and boards reach the standby's open sessions too.
my $session = $standby->background_psql('postgres');
is($session->query_safe(q{SELECT count(*) FROM lb_top('points', 5)}), '5', 'a session on the standby');
$primary->safe_psql('postgres', q{
	SELECT oracle.make('later');
	SELECT lb_submit('later', 'ann', 1, 'k');
	SELECT lb_drop_board('points by day');
	SELECT lb_refresh();
});
$primary->wait_for_catchup($standby);
is($session->query_safe(q{SELECT value FROM lb_rank('later', 'ann')}), '1', 'it sees a new board');
$session->quit;
like(psql_value($standby, 'postgres', q{SELECT * FROM lb_top('points by day')}), qr/does not exist/, 'and not the one that is gone');

for my $write (
	q{SELECT lb_submit('points', 'ann', 1, 'x')},
	q{SELECT lb_submit_batch('points', '{ann}', '{1}', '{x}')},
	q{SELECT lb_submit_json('[{"counter": "points", "member": "ann", "delta": 1, "key": "x"}]')},
	q{SELECT lb_backfill('points', '{ann}', '{1}', '{x}')},
	q{SELECT lb_refresh()},
	q{SELECT lb_create_counter('no')},
	q{SELECT lb_create_board('no', 'points')},
	q{SELECT lb_drop_board('points')})
{
	my ($name) = $write =~ /(lb_\w+)/;
	my ($code, $out, $err) = $standby->psql('postgres', "\\set VERBOSITY verbose\n$write;");
	like($err, qr/ERROR:  25006/, "$name on the standby: 25006");
	like($err, qr/HINT:  \S/, "$name on the standby: with a hint") if $name =~ /submit|refresh|backfill/;
}
is(psql_value($standby, 'postgres', q{CALL lb_refresh_loop('100 ms', '10 ms')}), '', 'the loop waits quietly');

# The loop on the standby takes over once it is promoted.  Submitters are at
# work when the primary goes.
my $loop = client($standby, 'postgres', 'loop', "CALL lb_refresh_loop('1 minute', '20 ms');");
my $primary_loop = client($primary, 'postgres', 'ploop', "CALL lb_refresh_loop('1 minute', '20 ms');");
my $writer = client($primary, 'postgres', 'writer',
	join('', map { "SELECT 'ack', status FROM lb_submit('points', 'm' || $_ % 83, $_, 'k$_');\n" } 901 .. 4000));
$standby->poll_query_until('postgres', q{SELECT count(*) > 1000 FROM lb.event}) or die 'nothing arrives';
$primary->stop('immediate');
my @acked = finish_client($writer);
finish_client($primary_loop);
$standby->promote;
my $there = $standby->safe_psql('postgres', 'SELECT count(*) FROM lb.event');
$standby->poll_query_until('postgres', q{SELECT sum(n) = (SELECT count(*) FROM lb.event) FROM lb.bucket WHERE span = 'g'})
  or fail('the loop takes over');
is(violations($standby, 'postgres'), '', 'after the promotion the loop has counted what arrived, once');
cmp_ok($there, '>', 1000, 'which is more than before');

# What may be lost with the primary is sent again; the rest is a duplicate.
is($standby->safe_psql('postgres', q{
	SELECT count(*) FILTER (WHERE status NOT IN ('accepted', 'duplicate')) FROM generate_series(1, 4000) i,
		lb_submit('points', 'm' || i % 83, i, 'k' || i)}), '0', 'all events again');
$standby->poll_query_until('postgres', q{SELECT sum(n) = (SELECT count(*) FROM lb.event) FROM lb.bucket WHERE span = 'g'})
  or fail('the loop goes on');
is($standby->safe_psql('postgres', q{SELECT count(*) FROM lb.event WHERE counter_id = lb._counter_id('points')}), '4000',
	'each is there once');
is(violations($standby, 'postgres'), '', 'and counted once');
$standby->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'CALL lb_refresh_loop%'});
finish_client($loop);
is(join("\n", grep { !/57014/ } client_errors($loop)), '', 'one call of the loop lived through all of it');
$standby->stop('immediate');

done_testing();
