# What the sessions of a standby see while they follow: every question answered
# as the primary answers it, through boards dropped and made anew, definitions
# changed, members moved and pages collected; how old the answer is, when the
# standby falls behind; and their own writes, once it is promoted.
#
# standby.pl is about the promotion under load.
use strict;
use warnings;

use LbTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = $ENV{LB_SEED} ? int($ENV{LB_SEED} * 1e9) : int(rand(1e9));
srand($seed);
note('LB_SEED=' . $seed / 1e9);

my $primary = PostgreSQL::Test::Cluster->new('ahead');
delete $ENV{INITDB_TEMPLATE};
$primary->init(allows_streaming => 1);
$primary->append_conf('postgresql.conf', "timezone = 'UTC'\nautovacuum = off\n");
$primary->start;
install($primary, 'postgres');
# A board of each kind.  None of them is stale by the clock within this test.
$primary->safe_psql('postgres', q{
	SET client_min_messages = warning;
	SELECT oracle.make('points');
	SELECT lb_create_board('few', 'points', ranks => 'bounded', head => 5, ties => 'dense');
	SELECT lb_create_board('recent', 'points', period => 'last 3 hours');
	SELECT lb_create_board('leagues', 'points', period => 'week', scoped => true);
	SELECT lb_join('leagues', 'gold', ARRAY['m1', 'm2', 'm3', 'm4']);
	SELECT lb_join('leagues', 'tin', ARRAY['m5', 'm6']);
	SELECT lb_create_counter('other');
	SELECT lb_create_board('hasty', 'other', freshness => '100 milliseconds');
	SELECT lb_alter_board(board, freshness => '1 day') FROM lb_boards() WHERE board <> 'hasty';
	SELECT count(*) FROM generate_series(1, 300) i, lb_submit('points', 'm' || i % 37, i, 'k' || i);
	SELECT lb_refresh();
});

# Every question there is, of some boards; each row as text.
my @boards = ('points', 'points by day', 'points in places', 'few', 'recent');
my %reads = (
	lb_rank => q{lb_rank(%s, 'm7', viewer => 'm7')},
	lb_ranks => q{lb_ranks(%s, ARRAY['m7', 'nobody', 'm8'])},
	lb_top => q{lb_top(%s, 100)},
	lb_page => q{lb_page(%s, 3, 50)},
	lb_page_json => q{lb_page_json(%s, 2, 5, viewer => 'm7')},
	lb_around => q{lb_around(%s, 'm7', 4)},
	lb_among => q{lb_among(%s, ARRAY['m7', 'm1', 'nobody'])},
	lb_rank_for_value => q{lb_rank_for_value(%s, 700)},
	lb_distribution => q{lb_distribution(%s)},
	lb_version => q{lb_version(%s)},
	lb_windows => q{lb_windows(%s, 5)},
	lb_check => q{lb_check(%s)},
	lb_next_reset => q{lb_next_reset('points by day')},
	lb_top_scopes => q{lb_top_scopes('leagues', ARRAY['tin', 'none', 'gold'])},
	lb_scopes => q{lb_scopes('leagues')},
	lb_value => q{lb_value('points', 'm7')},
	lb_values => q{lb_values('points', ARRAY['m7', 'nobody'], 'week')},
	lb_series => q{lb_series('points', 'm7', '1 hour', date_trunc('day', now()), date_trunc('day', now()) + interval '1 day')},
	lb_events => q{lb_events('points', 'm7')},
	lb_boards => q{lb_boards()},
	lb_counters => q{lb_counters()},
);
my $reads = join(' UNION ALL ', map {
	my ($name, $call) = ($_, $reads{$_});
	map { "SELECT '$name', r::text FROM " . ($call =~ s/%s/'$_'/r) . ' AS r' } $call =~ /%s/ ? @boards : ('') } sort keys %reads);
sub functions_that
{
	my ($condition) = @_;
	return $primary->safe_psql('postgres', qq{
		SELECT p.proname FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.deptype = 'e' AND d.classid = 'pg_proc'::regclass
		JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'leaderboard'
		WHERE p.proname ~ '^lb_' AND p.prorettype <> 'trigger'::regtype AND $condition ORDER BY p.proname});
}
is(join("\n", sort keys %reads), functions_that(q{p.provolatile = 's'}), 'no reading function is left out here');

$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('behind');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
# What the long reader below has open is not to be vacuumed on the primary.
$standby->append_conf('postgresql.conf', "hot_standby_feedback = on\nmax_standby_streaming_delay = -1\n");
$standby->start;

# One session of each, all through the test: their caches must follow.
my $there = $standby->background_psql('postgres');
my $here = $primary->background_psql('postgres');
sub same
{
	my ($what) = @_;
	$primary->wait_for_catchup($standby);
	my $want = $here->query_safe($reads);
	cmp_ok(length($want), '>', 1000, "$what: there are answers");
	is($there->query_safe($reads), $want, "$what: the standby's are the primary's");
	is($there->query_safe('SELECT * FROM oracle.violations() LIMIT 10'), '', "$what: and what the log says");
}
same('at first');

# Rounds of changes, with what tidying collects, and boards that are dropped and
# made anew under the same name, in one transaction or in two.
my $key = 1000;
for my $round (1 .. 4)
{
	my $n = 1 + int(rand(200));
	my $ties = (qw(competition dense ordinal))[ rand 3 ];
	my $direction = (qw(asc desc))[ rand 2 ];
	my $league = (qw(gold tin))[ rand 2 ];
	my $who = 'm' . int(rand(37));
	my $again = "SELECT lb_drop_board('few'); SELECT lb_create_board('few', 'points', ranks => '"
	  . (qw(bounded exact))[ rand 2 ] . "', head => " . (1 + int(rand(9))) . ", ties => '$ties', direction => '$direction', freshness => '1 day');";
	$again = "BEGIN; $again COMMIT;" if rand() < 0.5;
	$primary->safe_psql('postgres', qq{
		SET client_min_messages = warning;
		SELECT count(*) FROM generate_series($key + 1, $key + $n) i,
			lb_submit('points', 'm' || hashint4(i + $seed % 1000) % 60, hashint4(i) % 1000, 'k' || i);
		SELECT lb_refresh();
		$again
		SELECT lb_alter_board('points', freshness => interval '1 day' + $round * interval '1 second', keep_versions => '0');
		SELECT lb_leave('leagues', s.scope, ARRAY['$who']) FROM lb_scopes('leagues', '$who') s;
		SELECT lb_join('leagues', '$league', ARRAY['$who']);
		SELECT count(*) FROM generate_series(1, 20) i, lb_submit('points', '$who', i, 'again ' || $key || ' ' || i);
		SELECT lb_refresh();
	});
	$primary->safe_psql('postgres', q{CALL lb_refresh_loop('0 seconds'); VACUUM (TRUNCATE false)}) if $round % 2;
	$key += $n;
	same("round $round");
}

# One snapshot stays one version, while the primary counts, collects and vacuums.
my $long = $standby->background_psql('postgres');
$long->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
my $before = $long->query_safe($reads);
$primary->safe_psql('postgres', qq{
	SELECT count(*) FROM generate_series(1, 100) i, lb_submit('points', 'm' || i % 37, -i, 'long ' || i);
	SELECT lb_refresh();});
$primary->safe_psql('postgres', q{CALL lb_refresh_loop('0 seconds'); VACUUM (TRUNCATE false)});
same('beside a long reader');
is($long->query_safe($reads), $before, 'the long reader is where it was');
$long->query_safe('COMMIT');
isnt($long->query_safe($reads), $before, 'and comes along afterwards');
$long->quit;

# A standby that falls behind says so: as_of is that of the last round it has.
my $as_of = q{SELECT as_of FROM lb_version('hasty')};
$primary->safe_psql('postgres', 'SELECT lb_refresh()');
$primary->wait_for_catchup($standby);
my $last = $there->query_safe($as_of);
is($last, $primary->safe_psql('postgres', $as_of), 'as_of is the newest round\'s');
$standby->safe_psql('postgres', 'SELECT pg_wal_replay_pause()');
$standby->poll_query_until('postgres', q{SELECT pg_get_wal_replay_pause_state() = 'paused'}) or die 'replay goes on';
$before = $there->query_safe($reads);
$primary->safe_psql('postgres', q{
	SELECT count(*) FROM generate_series(1, 50) i, lb_submit('points', 'm' || i, i, 'unseen ' || i);
	SELECT lb_refresh();
	SELECT pg_sleep(0.15);
	SELECT lb_refresh();
});
cmp_ok($primary->safe_psql('postgres', $as_of), 'gt', $last, 'the primary goes on');
is($there->query_safe($as_of), $last, 'a standby behind says how far it is');
is($there->query_safe($reads), $before, 'and answers as of then');
is($there->query_safe(q{SELECT * FROM oracle.violations() LIMIT 10}), '', 'which is what its log says');
is($there->query_safe(q{SELECT stale FROM lb_rank('hasty', 'm1')}), 't', 'an answer older than the freshness of its board is stale');
is($there->query_safe(q{SELECT bool_or(stale) FROM lb_top('points')}), 'f', 'on another board it is not');
$standby->safe_psql('postgres', 'SELECT pg_wal_replay_resume()');
same('resumed');
cmp_ok($there->query_safe($as_of), 'gt', $last, 'as_of comes along');

# Nothing that writes works there; each says what to do.
my %writes = (
	lb_create_tenant => q{'x'},
	lb_alter_tenant => q{'default', 'UTC'},
	lb_create_counter => q{'x'},
	lb_drop_counter => q{'points'},
	lb_create_board => q{'x', 'points'},
	lb_alter_board => q{'points', freshness => '1 s'},
	lb_drop_board => q{'points'},
	lb_submit => q{'points', 'ann', 1, 'x'},
	lb_submit_batch => q{'points', '{ann}', '{1}', '{x}'},
	lb_backfill => q{'points', '{ann}', '{1}', '{x}'},
	lb_submit_json => q{'[{"counter": "points", "member": "ann", "delta": 1, "key": "x"}]'},
	lb_refresh => '',
	lb_join => q{'leagues', 'gold', '{ann}'},
	lb_leave => q{'leagues', 'gold', '{m1}'},
	lb_move => q{'leagues', 'm1', 'tin'},
	lb_assign => q{'leagues', 'ann', 10},
	lb_schedule => '',
	lb_unschedule => '',
);
is(join("\n", sort keys %writes), functions_that(q{p.provolatile = 'v' AND p.prokind = 'f'}), 'no writing function is left out here');
for my $name (sort keys %writes)
{
	my ($code, $out, $err) = $standby->psql('postgres', "\\set VERBOSITY verbose\nSELECT $name($writes{$name});");
	like($err, qr/ERROR:  25006:.*\nHINT:  \S/, "$name: 25006 and a hint");
}
is(psql_value($standby, 'postgres', q{CALL lb_maintain()}), '', 'lb_maintain has nothing to do there');

# Promoted: the sessions that read go on, and may write.  The primary is gone.
$here->quit;
$primary->stop('immediate');
$before = $there->query_safe($reads);
$standby->promote;
is($there->query_safe($reads), $before, 'the same answers after the promotion');
is($there->query_safe(q{SELECT status FROM lb_submit('points', 'm7', 5, 'promoted')}), 'accepted', 'the session that only read submits');
is($there->query_safe(q{SELECT status FROM lb_submit('points', 'm1', 1, 'unseen 1')}), 'duplicate', 'what had arrived is known');
is($there->query_safe(q{SELECT events FROM lb_refresh()}), '1', 'and counts');
$there->query_safe(q{SELECT lb_drop_board('recent'); SELECT lb_create_board('recent', 'points', ties => 'ordinal')});
$there->query_safe(qq{SELECT count(*) FROM generate_series(1, 200) i, lb_submit('points', 'm' || i % 80, i * 3, 'after ' || i); SELECT lb_refresh()});
is($there->query_safe('SELECT * FROM oracle.violations() LIMIT 10'), '', 'the boards say what the log says');
is($there->query_safe($reads), $standby->safe_psql('postgres', $reads), 'to an old session what they say to a new one');
$there->quit;
$standby->stop;

done_testing();
