# lb_maintain() beside submissions, rounds and retries of old keys: partitions
# move to another tablespace and are dropped, and no event is lost or counted
# twice.  A standby is silent.  The log can be dumped and restored as it is.
use strict;
use warnings;

use LbTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

delete $ENV{INITDB_TEMPLATE};
my $node = PostgreSQL::Test::Cluster->new('maintain');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', "timezone = 'UTC'\nallow_in_place_tablespaces = on\nmax_connections = 100\n");
$node->start;
install($node, 'postgres');
my $value = sub { psql_value($node, 'postgres', shift) };
$node->safe_psql('postgres', q{SET allow_in_place_tablespaces = on; CREATE TABLESPACE cold LOCATION ''});

# A week of days a hundred days ago, counted; one of them holds nothing but
# what a counter that is gone had, and one is shared.
my $day = sub { my $i = shift; qq{date_trunc('day', now()) - interval '100 days' + interval '$i days 12 hours'} };
$node->safe_psql('postgres', q{
	SELECT lb_create_counter('gone');
	SELECT oracle.make('points');
	SELECT lb._make_partitions(current_date - 100, current_date - 94);
});
is($value->(qq{SELECT string_agg(DISTINCT oracle.submit('points', 'm' || i % 83, i, 'k' || i, @{[$day->(0)]} + i % 3 * interval '1 day'), ' ')
	FROM generate_series(1, 600) i}), 'accepted', 'events of three days');
is($value->(qq{SELECT string_agg(DISTINCT oracle.submit('gone', 'm' || i % 83, i, 'k' || i, @{[$day->(2)]} + i % 2 * interval '1 day'), ' ')
	FROM generate_series(1, 200) i}), 'accepted', 'and of a counter that will be gone');
# The default partition is not empty either, so that attaching has something to pass by.
is($value->(q{SELECT oracle.submit('points', 'm1', 1, 'far', now() - interval '200 days')}), 'accepted', 'an event in the default partition');
$node->safe_psql('postgres', q{SELECT lb_refresh(); SELECT lb_refresh(); SELECT lb_refresh()});
my $name = sub { my $i = shift; $value->("SELECT to_char(current_date - 100 + $i, '\"event_\"YYYYMMDD')") };

# What a live counter needs stays.
like($value->("CALL lb_maintain(archive => '10 days', drop_partitions => ARRAY['" . $name->(1) . "'])"), qr/cannot be dropped/,
	'a board for all time needs its events');
like($value->("CALL lb_maintain(drop_partitions => ARRAY['" . $name->(3) . "'])"), qr/cannot be dropped/, 'and nothing younger than archive goes');
like($value->(q{CALL lb_maintain(drop_partitions => ARRAY['event_default'])}), qr/no partition/, 'nor the default partition');
$node->safe_psql('postgres', q{SELECT lb_drop_counter('gone', force => true)});
like($value->("CALL lb_maintain(archive => '10 days', drop_partitions => ARRAY['" . $name->(2) . "'])"), qr/cannot be dropped/,
	'what was shared is needed by the other');

# An open transaction that has submitted keeps it busy.
my $open = $node->background_psql('postgres');
$open->query_safe(q{BEGIN; SELECT status FROM lb_submit('points', 'open', 1, 'open')});
is($value->("SELECT lb._drop_partition('" . $name->(3) . "', '10 days')"), 'busy', 'an open submission is in the way');
$open->query_safe('COMMIT');
$open->quit;
$node->safe_psql('postgres', q{SELECT lb_refresh()});

# A standby from before all of it.
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('maintain_standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;
my ($code, $out, $err) = $standby->psql('postgres', "CALL lb_maintain(); CALL lb_maintain('1 day', archive_tablespace => 'cold')");
is("$code$out$err", '0', 'a standby is silent');

# Submitters, retries of the old days, and a loop.
my $loop = client($node, 'postgres', 'loop', "CALL lb_refresh_loop('25 s', '5 ms');");
my @clients = map {
	my $c = $_;
	client($node, 'postgres', "client$c", join('', map {
		my $i = $_ % 600 + 1;
		my $m = 'm' . $i % 83;
		"SELECT status FROM lb_submit('points', 'm' || $_ % 83, $_, 'new-$c-$_');\n"
		. "SELECT status FROM lb_backfill('points', ARRAY['$m'], ARRAY[$i], ARRAY['k$i'], ARRAY[" . $day->(0) . "]);\n"
	} 1 .. 1500))
} 1 .. 3;
my $first = client($node, 'postgres', 'first', "CALL lb_maintain(archive_tablespace => 'cold');");
my $second = client($node, 'postgres', 'second', "CALL lb_maintain(archive => '10 days', drop_partitions => ARRAY['" . $name->(3) . "']);");
finish_client($_) for ($first, $second);
# Back and forth, so that many a look for an old key meets a move.
my $mover = client($node, 'postgres', 'mover', join('', map {
	"SELECT lb._archive_partition(partition, opens, closes, CASE tablespace WHEN 'cold' THEN 'pg_default' ELSE 'cold' END) FROM lb.log_partition WHERE opens = current_date - 100 + $_ % 3;\n"
} 1 .. 60));
my @moved = finish_client($mover);
is(join(' ', grep { $_ ne 't' } @moved), '', 'a partition moves many times');
# Two at once: what one did not get to do is left for a third.
$node->safe_psql('postgres', "CALL lb_maintain(archive => '10 days', archive_tablespace => 'cold', drop_partitions => ARRAY['" . $name->(3) . "'])");
my (%became, @errors);
for my $c (@clients)
{
	$became{$_}++ for finish_client($c);
	push @errors, client_errors($c);
}
is(join("\n", @errors, client_errors($loop), client_errors($first), client_errors($second), client_errors($mover)), '', 'nobody had an error');
is($became{accepted}, 4500, 'every new event was accepted');
is($became{duplicate}, 4500, 'every retry of an old one was found');
finish_client($loop);
no_violations($node, 'postgres', 'everything is counted once');
is($value->(q{SELECT string_agg(DISTINCT tablespace, ' ') FROM lb.log_partition WHERE opens < now() - interval '90 days'}), 'cold', 'the old days are moved');
is($value->(q{SELECT count(*) FROM lb.log_partition WHERE tablespace = 'cold' AND closes > now() - interval '90 days'}), '0', 'and no others');
is($value->(q{SELECT count(*) FROM pg_class i JOIN pg_index x ON x.indexrelid = i.oid JOIN lb._partitions() p ON p.partition = x.indrelid
	JOIN pg_class t ON t.oid = x.indrelid WHERE i.reltablespace <> t.reltablespace OR i.relname NOT LIKE t.relname || '%'}), '0', 'with their indexes');
is($value->(qq{SELECT string_agg(format('%s %s', events, partition), ',') FROM lb.dropped}), '100 ' . $name->(3), 'the day nobody needs is dropped, and it is noted what it held');
is($value->(q{SELECT count(*) FROM pg_constraint WHERE conrelid = 'lb.event'::regclass OR conname ~ '^(moving|elsewhere)'}), '0', 'nothing is left of the work');
is($value->(q{SELECT lb._lacks_indexes()}), 'f', 'every partition has its indexes');
is($value->("CALL lb_maintain(archive => '10 days', drop_partitions => ARRAY['" . $name->(3) . "'])"), '', 'dropped before is passed over');
is($value->(q{SELECT count(*) FROM lb.health WHERE check_name IN ('maintenance', 'collection') AND NOT ok}), '0', 'lb.health is content');
like($value->(q{DELETE FROM lb.event}), qr/append-only/, 'a moved partition is as closed as it was');
for my $p (map { $name->($_) } 0 .. 2)
{
	like($value->("DELETE FROM lb.$p"), qr/append-only/, "$p is append-only");
}

# The standby follows.
$node->wait_for_catchup($standby);
is(violations($standby, 'postgres', 5), '', 'the standby says the same');
is($standby->safe_psql('postgres', q{SELECT count(*) FROM lb_events('points', key => 'k7')}), '1', 'and finds an old event');
$standby->stop('immediate');

# A dump and its restore, with tablespaces and without.
for my $options ([], ['--no-tablespaces'])
{
	my $database = 'copy' . @$options;
	my $file = PostgreSQL::Test::Utils::tempdir() . '/dump';
	command_ok([ 'pg_dump', '-Fc', '-f', $file, '-d', $node->connstr('postgres'), '-N', 'oracle', @$options ], "a dump @$options");
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	command_ok([ 'pg_restore', '--exit-on-error', @$options, '-d', $node->connstr($database), $file ], "a restore @$options");
	$node->safe_psql($database, q{SELECT lb_refresh()});
	is($node->safe_psql($database, q{SELECT count(*) FROM lb.dropped}), '1', 'what was dropped is still known');
	is($node->safe_psql($database, q{SELECT string_agg(format('%s %s', member, value), ',' ORDER BY place) FROM lb_top('points', 100)}),
		$node->safe_psql('postgres', q{SELECT string_agg(format('%s %s', member, value), ',' ORDER BY place) FROM lb_top('points', 100)}),
		'the board says the same');
	is($node->safe_psql($database, q{SELECT status FROM lb_backfill('points', ARRAY['m7'], ARRAY[7], ARRAY['k7'])}), 'duplicate', 'an old key is known');
}
$node->stop('immediate');

done_testing();
