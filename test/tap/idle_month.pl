# An installation left idle for a month: its partitions have run out.  Events
# go into the default partition, the loop makes partitions for the days to
# come, keys are remembered across both, and nothing is lost.
use strict;
use warnings;

use LbTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('idle');
$node->start;
install($node, 'postgres');

# A month ago in effect: today and all days to come have no partition.
$node->safe_psql('postgres', q{
	SELECT oracle.make('points');
	DO $$
	DECLARE
		day regclass;
	BEGIN
		FOR day IN SELECT partition FROM lb._partitions() LOOP
			EXECUTE format('ALTER TABLE lb.event DETACH PARTITION %s', day);
			EXECUTE format('DROP TABLE %s', day);
		END LOOP;
	END
	$$;
	SELECT lb._make_partitions(current_date - 32, current_date - 30);
});
my $submit = sub {
	my ($from, $to, $when) = @_;
	return qq{SELECT string_agg(DISTINCT became, ' ') FROM generate_series($from, $to) i,
		oracle.submit('points', 'm' || i % 13, i, 'k' || i, $when) became};
};
my $then = q{date_trunc('day', now()) - interval '31 days' + interval '12 hours'};
my $today = q{date_trunc('day', now()) + interval '12 hours'};
my $soon = q{date_trunc('day', now()) + interval '3 days 12 hours'};
my $in_default = 'SELECT count(*) FROM lb.event_default';

is($node->safe_psql('postgres', $submit->(1, 50, $then)), 'accepted', 'events of a month ago');
no_violations($node, 'postgres', 'counted then');
is($node->safe_psql('postgres', $in_default), '0', 'in partitions of their own');
is($node->safe_psql('postgres', q{SELECT ok FROM lb.health WHERE check_name = 'partitions ahead'}), 'f', 'lb.health misses partitions');

is($node->safe_psql('postgres', q{SELECT status FROM lb_submit('points', 'ann', 5, 'first after')}), 'accepted', 'the first event after the month');
is($node->safe_psql('postgres', $submit->(51, 90, $today)), 'accepted', 'and more today');
is($node->safe_psql('postgres', $submit->(91, 99, $soon)), 'accepted', 'and on a day to come');
is($node->safe_psql('postgres', $in_default), '50', 'all in the default partition');
is($node->safe_psql('postgres', $submit->(51, 90, $today)), 'duplicate', 'which knows its keys');
no_violations($node, 'postgres', 'counted');

# A day that has rows in the default partition cannot have one of its own, be
# it today or, by a clock that was wrong, a day to come; the loop leaves it there
# and makes the others.
my $loop = q{CALL lb_refresh_loop('0', '1 ms')};
is(psql_value($node, 'postgres', $loop), '', 'the loop runs');
is($node->safe_psql('postgres', q{SELECT ok FROM lb.health WHERE check_name = 'partitions ahead'}), 't', 'and makes partitions ahead');
is($node->safe_psql('postgres', q{SELECT count(*) FROM lb._partitions() WHERE opens <= now() AND closes > now()}), '0', 'none for today, which has begun');
is($node->safe_psql('postgres', q{SELECT count(*) FROM lb._partitions() WHERE opens > now()}), '6', 'six of the seven days to come');
is($node->safe_psql('postgres', $in_default), '50', 'no event is gone');

is($node->safe_psql('postgres', $submit->(51, 90, $today)), 'duplicate', 'keys of today are known');
is($node->safe_psql('postgres', $submit->(91, 99, $soon)), 'duplicate', 'keys of the day to come are known');
my $tomorrow = q{date_trunc('day', now()) + interval '1 day 6 hours'};
is($node->safe_psql('postgres', $submit->(51, 90, $tomorrow)), 'duplicate', 'and tomorrow too');
is($node->safe_psql('postgres', $submit->(100, 120, $tomorrow)), 'accepted', 'new events tomorrow');
is($node->safe_psql('postgres', $in_default), '50', 'are in a partition again');
no_violations($node, 'postgres', 'counted once');
is(psql_value($node, 'postgres', $loop), '', 'the loop runs again');
no_violations($node, 'postgres', 'and changes nothing');
$node->stop('immediate');

done_testing();
