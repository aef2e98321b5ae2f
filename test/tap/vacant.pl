# Sessions remember which partitions of the log nobody has written to: rounds
# and viewers pass those over.  Whoever writes to one, in whatever order of the
# days, and whatever becomes of its files and pages meanwhile, no session that
# remembers may miss the event: the primary's, the standby's, or the one that
# counts.
use strict;
use warnings;

use List::Util qw(shuffle);

use LbTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = $ENV{LB_SEED} ? int($ENV{LB_SEED} * 1e9) : int(rand(1e9));
srand($seed);
note('LB_SEED=' . $seed / 1e9);

# Few buffers, so that the pages looked at can be driven out: by tables that
# are each small enough not to be read in a ring of their own.
my $driving_out = 8;
my $primary = PostgreSQL::Test::Cluster->new('written');
delete $ENV{INITDB_TEMPLATE};
$primary->init(allows_streaming => 1);
$primary->append_conf('postgresql.conf', "timezone = 'UTC'\nautovacuum = off\nshared_buffers = 4MB\n");
$primary->start;
install($primary, 'postgres');
my @days = map { sprintf('2031-08-%02d', $_) } 1 .. 14;
my $members = 5;
$primary->safe_psql('postgres', qq{
	SET client_min_messages = warning;
	SELECT oracle.make('points');
	SELECT format('CREATE TABLE other%s AS SELECT repeat(''x'', 1000) AS t FROM generate_series(1, 700)', i) FROM generate_series(1, $driving_out) i \\gexec
	SELECT lb_submit('points', 'm' || i, 100 * i, 'first ' || i) FROM generate_series(1, $members) i;
	SELECT lb_refresh();
	SELECT lb._make_partitions('$days[0]', '$days[-1]');
});
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('reads');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', "hot_standby_feedback = on\nmax_standby_streaming_delay = -1\n");
$standby->start;

my $look = "SELECT string_agg(m || ' has ' || coalesce(r.value::text, '-') || ', not ' || want, '; ') FROM (
	SELECT member AS m, sum(delta) AS want FROM lb.event GROUP BY member) t, lb_rank('points', m, viewer => m) r
	WHERE r.value IS DISTINCT FROM want";
my %reader = (
	primary => $primary->background_psql('postgres'),
	standby => $standby->background_psql('postgres'));
my $counts = $primary->background_psql('postgres');
my $writes = $primary->background_psql('postgres');

my ($asked, $missed, $counted, $sent, $n) = (0, 0, 0, 0, 0);
my @history;
sub look
{
	$primary->wait_for_catchup($standby);
	for my $where (sort keys %reader)
	{
		my $wrong = $reader{$where}->query_safe($look);
		$asked++;
		next if $wrong eq '';
		$missed++;
		diag("$where: $wrong, after " . join(', ', @history));
	}
}

sub submission
{
	my ($day) = @_;
	$n++;
	$sent++;
	return sprintf(q{SELECT oracle.submit('points', 'm%d', %d, 'k%d', '%s %02d:30Z')},
		1 + int(rand($members)), 1 + int(rand(100)), $n, $day, int(rand(24)));
}

my @to_write = shuffle @days;
my %does = (
	submit => sub { my $q = submission(pop @to_write); $writes->query_safe($q); },
	again => sub { $writes->query_safe(submission($days[ rand @days ])); },
	undone => sub { my $q = submission($days[ rand @days ]); $sent--; $writes->query_safe("BEGIN; $q; ROLLBACK"); },
	reindex => sub { my ($table) = table(); $primary->safe_psql('postgres', "REINDEX TABLE $table"); },
	beside => sub { my ($table) = table(); $primary->safe_psql('postgres', "REINDEX TABLE CONCURRENTLY $table"); },
	rewrite => sub { my ($table) = table(); $primary->safe_psql('postgres', "VACUUM FULL $table"); },
	evict => sub {
		my $read = join(';', map { "SELECT count(*) FROM other$_" } (1 .. $driving_out) x 5);
		$_->safe_psql('postgres', $read) for $primary, $standby;
	},
	count => sub { $counted += $counts->query_safe('SELECT events FROM lb_refresh()'); });
sub table { return 'lb.event_' . ($days[ rand @days ] =~ tr/-//dr); }

look();
$counted += $counts->query_safe('SELECT events FROM lb_refresh()');
while (@to_write)
{
	my $what = rand() < 0.4 ? 'submit' : (sort keys %does)[ rand keys %does ];
	push @history, $what;
	$does{$what}->();
	look();
}
cmp_ok($sent, '>=', scalar @days, "$sent events into " . @days . ' days, in no order');
cmp_ok($asked, '>=', 2 * @days, "asked $asked times");
is($missed, 0, 'no viewer missed an event');
$does{count}->();
is($counted, $sent, 'and every event was counted');

# Nothing but a submission between the look that remembers and the one that must see.
$primary->safe_psql('postgres', "SELECT lb._make_partitions('2031-08-20', '2031-08-22')");
for my $day ('2031-08-22', '2031-08-20')
{
	$counts->query_safe('SELECT lb_refresh()');
	look();
	$writes->query_safe(submission($day));
	look();
	is($counts->query_safe('SELECT events FROM lb_refresh()'), 1, "a round counts what came in on $day");
}
is($missed, 0, 'and viewers see it');
no_violations($primary, 'postgres', 'once');

# The standby's sessions go on when it is promoted, and so do those days.
$primary->safe_psql('postgres', "SELECT lb._make_partitions('2031-09-01', '2031-09-03')");
look();
$primary->stop;
$standby->promote;
for my $day ('2031-09-03', '2031-09-01')
{
	$standby->safe_psql('postgres', submission($day));
	is($reader{standby}->query_safe($look), '', 'promoted: no event is missed');
}
is($standby->safe_psql('postgres', 'SELECT events FROM lb_refresh()'), 2, 'nor by a round');
no_violations($standby, 'postgres', 'and each is there once');

$_->quit for values %reader, $counts, $writes;
$standby->stop;
done_testing();
