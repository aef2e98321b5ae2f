# pg_dump and pg_restore: the log and the definitions come back whole, in
# another cluster and in the same one, with refreshes in the middle, while
# others submit; what is counted there is what the log says, once.
use strict;
use warnings;

use LbTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

my $events = 52000;
my %node = map { $_ => new_node($_, 'fsync = off') } qw(a b c);
$_->start for values %node;
my $tmp = $PostgreSQL::Test::Utils::tmp_check;

isnt($node{a}->safe_psql('postgres', 'SELECT system_identifier FROM pg_control_system()'),
	$node{b}->safe_psql('postgres', 'SELECT system_identifier FROM pg_control_system()'),
	'the clusters are different ones');

# Several days, the default partition, history, all operators, another zone, a
# counter that was retired.
my $a = $node{a};
$a->safe_psql('postgres', 'CREATE DATABASE game');
install($a, 'game');
$a->safe_psql('game', q{
	SELECT lb_create_tenant('eu', 'Europe/Berlin');
	SELECT oracle.make('points'), oracle.make('best', 'max'), oracle.make('least', 'min'),
		oracle.make('last', 'last'), oracle.make('eu/points'), oracle.make('gone');
});
my $batch = sub {
	my ($from, $to, $now) = @_;
	return qq{
	SELECT count(*) FILTER (WHERE b.status <> 'accepted') FROM (VALUES ('points'), ('best'), ('least'), ('last'), ('eu/points'), ('gone')) c(counter),
	LATERAL (SELECT array_agg('m' || i * i % 997) AS members, array_agg((i * 7919 % 2000 - 300)::bigint) AS deltas, array_agg('k' || i) AS keys,
		array_agg($now - i % 50 * interval '1 hour') AS times FROM generate_series($from, $to) i) s,
	LATERAL lb._submit_batch(lb._counter_id(c.counter), s.members, s.deltas, s.keys, s.times, NULL, NULL, 'e', $now) b;
	};
};
my $per = $events / 5 / 5;
my $i = 0;
for my $days (0, 1, 2, 40, 41)
{
	is($a->safe_psql('game', $batch->($i + 1, $i + $per, "date_trunc('day', now()) + interval '$days days 12 hours'")),
		'0', "events of day $days");
	$i += $per;
	$a->safe_psql('game', 'SELECT lb_refresh()') if $days == 1;
}
$a->safe_psql('game', q{
	SELECT lb_drop_counter('gone', force => true);
	SELECT count(*) FROM lb_backfill('points', ARRAY(SELECT 'old' || i FROM generate_series(1, 500) i),
		ARRAY(SELECT i FROM generate_series(1, 500) i), ARRAY(SELECT 'old' || i FROM generate_series(1, 500) i),
		ARRAY(SELECT timestamptz '2020-02-29 12:00Z' + i * interval '1 day' FROM generate_series(1, 500) i));
	SELECT lb_refresh();
});
# Boards that settle on their own, over what was counted.
$a->safe_psql('game', q{SELECT lb_create_board('own', 'points', 'day', lateness => '2 hours'),
	lb_create_board('later', 'points', 'week', starts => '1 day 6 hours', lateness => '6 hours'), lb_create_board('rolling', 'points', 'last 400 days')});
cmp_ok($a->safe_psql('game', 'SELECT count(*) FROM lb.event'), '>=', $events, 'enough of them');
cmp_ok($a->safe_psql('game', 'SELECT count(*) FROM lb.event_default'), '>=', $events / 5, 'many in the default partition');
no_violations($a, 'game', 'the original is right', 11);

# All that is promised to come back, as text.
my @kept = (
	'SELECT * FROM lb.event ORDER BY event_id',
	'SELECT * FROM lb.tenant ORDER BY 1',
	'SELECT * FROM lb.counter ORDER BY 1',
	'SELECT * FROM lb.counter_version ORDER BY 1, 2',
	'SELECT * FROM lb.board ORDER BY 1',
	'SELECT * FROM lb.late_class ORDER BY 1, 2');
my @answers = (
	q{SELECT b.board, w.opens, t.member, t.rank, t.kind, t.rank_low, t.rank_high, t.place, t.value, t.reached_at, t.population
		FROM lb_boards() b JOIN lb.ranking w USING (board_id), LATERAL lb_top(b.tenant || '/' || b.board, 100,
		at => CASE WHEN isfinite(w.opens) THEN w.opens END) t ORDER BY b.board_id, w.opens, t.place},
	q{SELECT c.counter, v.member, v.value, v.late FROM lb_counters() c, LATERAL (SELECT array_agg('m' || i) AS members
		FROM generate_series(0, 996) i) m, LATERAL lb_values(c.tenant || '/' || c.counter, m.members) v
		WHERE c.retired_at IS NULL ORDER BY c.counter_id, v.member});
sub text_of
{
	my ($node, $database, @queries) = @_;
	return join("\n", map { $node->safe_psql($database, $_) } @queries);
}
my $versions = q{SELECT b.board_id || ' ' || w.opens || ' ' || v.version FROM lb.board b JOIN lb.ranking w USING (board_id),
	lb.tenant t, LATERAL lb_version(t.tenant || '/' || b.board, at => CASE WHEN isfinite(w.opens) THEN w.opens END) v
	WHERE t.tenant_id = b.tenant_id};
sub versions { return map { /^(.*) (\d+)$/ ? ($1 => $2) : () } split /\n/, shift->safe_psql(shift, $versions); }

my $kept = text_of($a, 'game', @kept);
my $answers = text_of($a, 'game', @answers);
my %versions = versions($a, 'game');

sub dump_of
{
	my ($node, $database, $to, @options) = @_;
	command_ok([ 'pg_dump', '-d', $node->connstr($database), '-f', $to, @options ], "dump of $database to $to");
}

sub restore
{
	my ($node, $database, $from, @options) = @_;
	return command_ok([ 'pg_restore', '--exit-on-error', '-d', $node->connstr($database), @options, $from ],
		'restore ' . join(' ', @options) . ' into ' . $node->name . "/$database");
}

# What must be so after every restore.
sub check_restored
{
	my ($node, $database, $what) = @_;
	is(psql_value($node, $database, 'SELECT events >= 0 FROM lb_refresh()'), 't', "$what: a refresh");
	ok(text_of($node, $database, @kept) eq $kept, "$what: log and definitions are whole");
	ok(text_of($node, $database, @answers) eq $answers, "$what: every answer is the old one");
	my %now = versions($node, $database);
	is(join("\n", grep { !defined $now{$_} || $now{$_} < $versions{$_} } sort keys %versions), '',
		"$what: no version is smaller");
	is($node->safe_psql($database, q{SELECT ok FROM lb.health WHERE check_name = 'restored log'}), 't',
		"$what: lb.health says that it is whole");
	my $last = $events / 5;
	for my $old ([ 0, 1, 500 ], [ 41, $last - 500, $last ])
	{
		my ($days, @range) = @$old;
		is($node->safe_psql($database, $batch->(@range, "date_trunc('day', now()) + interval '$days days 12 hours'")
				=~ s/<> 'accepted'/<> 'duplicate'/r =~ s/, \('gone'\)//r),
			'0', "$what: keys of day $days are duplicates");
	}
	is($node->safe_psql($database, q{SELECT status FROM lb_submit('points', 'newcomer', 5, 'new event')}), 'accepted',
		"$what: a new event is accepted");
	is($node->safe_psql($database, q{SELECT status FROM lb_submit('points', 'newcomer', 5, 'new event')}), 'duplicate',
		"$what: once");
	is($node->safe_psql($database, q{SELECT events FROM lb_refresh()}), '1', "$what: and counted once");
	is($node->safe_psql($database, q{SELECT events FROM lb_refresh()}), '0', "$what: not twice");
	is(violations($node, $database, 11), '', "$what: right by the log");
}

# A dump while others submit and count is as whole as any.
my @busy = (client($a, 'game', 'loop', "CALL lb_refresh_loop('1 minute', '5 ms');"),
	map { client($a, 'game', "busy$_", join('', map { "SELECT lb_submit('points', 'busy', 1, 'busy$_');\n" } $_ * 10000 .. $_ * 10000 + 3000)) } 1, 2);
dump_of($a, 'game', "$tmp/busy.dump", '-Fd', '-j', '2');
$a->safe_psql('game', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'CALL lb_refresh_loop%' OR query LIKE '%busy%' AND pid <> pg_backend_pid()});
my @lines = map { finish_client($_) } @busy;
$node{b}->safe_psql('postgres', 'CREATE DATABASE busy');
restore($node{b}, 'busy', "$tmp/busy.dump", '-j', '2');
no_violations($node{b}, 'busy', 'a dump made under load', 11);
cmp_ok($node{b}->safe_psql('busy', q{SELECT count(*) FROM lb.event WHERE member = 'busy'}), '<=',
	$a->safe_psql('game', q{SELECT count(*) FROM lb.event WHERE member = 'busy'}), 'with events of that moment');

no_violations($a, 'game', 'the original after that', 11);
$kept = text_of($a, 'game', @kept);
$answers = text_of($a, 'game', @answers);
%versions = versions($a, 'game');
dump_of($a, 'game', "$tmp/game.dir", '-Fd', '-j', '2');
dump_of($a, 'game', "$tmp/game.custom", '-Fc');
dump_of($a, 'game', "$tmp/game.sql", '-Fp');

# One section after the other, a refresh after each: those in the middle do
# nothing, and no harm.
my $restoring = q{SELECT detail FROM lb.health WHERE check_name = 'restored log'};
sub in_sections
{
	my ($node, $database, $what) = @_;
	for my $section (qw(pre-data data post-data))
	{
		restore($node, $database, "$tmp/game.custom", "--section=$section");
		next if $section eq 'post-data';
		is(psql_value($node, $database, 'SELECT sum(events) FROM generate_series(1, 3), lb_refresh()'), '0',
			"$what: a refresh after $section counts nothing");
		is(psql_value($node, $database, "CALL lb_refresh_loop('30 ms', '1 ms')"), '',
			"$what: nor does the loop after $section");
		is($node->safe_psql($database, q{
				DO $$
				BEGIN
					PERFORM lb_submit('points', 'early', 1, 'early');
					RAISE 'accepted';
				EXCEPTION WHEN object_not_in_prerequisite_state OR undefined_object THEN
				END
				$$}), '', "$what: a submission after $section is refused");
		like($node->safe_psql($database, $restoring), qr/^restoring/, "$what: lb.health says restoring after $section");
	}
	check_restored($node, $database, $what);
}
# The extension is there already, and has counted for a while.
$node{b}->safe_psql('postgres', 'CREATE DATABASE early');
$node{b}->safe_psql('early', "CREATE EXTENSION leaderboard; CALL lb_refresh_loop('1 second', '1 ms')");
in_sections($node{b}, 'early', 'extension made before');

# The same cluster, where the transaction numbers of the log are its own.
$a->safe_psql('postgres', 'CREATE DATABASE copy');
in_sections($a, 'copy', 'same cluster');

# Refreshes and loops that never stop while pg_restore works in parallel.
sub hammer
{
	my ($node, $database) = @_;
	my $script = join('', map { "SELECT lb_refresh();\nCALL lb_refresh_loop('0', '1 ms');\n" } 1 .. 200000);
	return map { client($node, $database, "hammer$_-$database", $script, go_on => 1) } 1, 2;
}
sub stop_hammer
{
	my ($node, $database, $what, @clients) = @_;
	$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '$database' AND query LIKE '%lb_refresh%' AND pid <> pg_backend_pid()");
	finish_client($_) for @clients;
	my @errors = grep { !/42883|3F000|57P01/ } map { client_errors($_) } @clients;
	is(join("\n", @errors[ 0 .. ($#errors < 4 ? $#errors : 4) ]), '', "$what: no refresh failed meanwhile");
}
for my $way ([ 'parallel', "$tmp/game.dir", '-j', '4' ])
{
	my ($what, $from, @options) = @$way;
	$node{b}->safe_psql('postgres', "CREATE DATABASE $what");
	my @clients = hammer($node{b}, $what);
	restore($node{b}, $what, $from, @options);
	sleep(0.3);
	stop_hammer($node{b}, $what, $what, @clients);
	check_restored($node{b}, $what, $what);
}
$node{b}->safe_psql('postgres', 'CREATE DATABASE plain');
command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-o', '/dev/null', '-d', $node{b}->connstr('plain'), '-f', "$tmp/game.sql" ], 'a plain dump through psql');
check_restored($node{b}, 'plain', 'plain');

# One cluster further: two origins, neither its own.
$kept = text_of($node{b}, 'parallel', @kept);
$answers = text_of($node{b}, 'parallel', @answers);
%versions = versions($node{b}, 'parallel');
dump_of($node{b}, 'parallel', "$tmp/second.dir", '-Fd');
$node{c}->safe_psql('postgres', 'CREATE DATABASE game');
restore($node{c}, 'game', "$tmp/second.dir", '-j', '4');
is($node{c}->safe_psql('game', 'SELECT count(DISTINCT origin) FROM lb.event'), '2', 'events of two clusters');
is($node{c}->safe_psql('game', q{SELECT status FROM lb_submit('points', 'newcomer', 5, 'new event')}), 'duplicate',
	'the event of the first hop is a duplicate after the second');
is($node{c}->safe_psql('game', 'SELECT events = (SELECT count(*) FROM lb.event JOIN lb.counter USING (counter_id) WHERE retired_at IS NULL) FROM lb_refresh()'),
	't', 'second hop: all is counted at once');
is(violations($node{c}, 'game', 11), '', 'second hop: right');
ok(text_of($node{c}, 'game', @kept) eq $kept, 'second hop: log and definitions are whole');
ok(text_of($node{c}, 'game', @answers) eq $answers, 'second hop: every answer is the old one');

$_->stop('immediate') for values %node;
done_testing();
