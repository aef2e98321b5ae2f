# 1,000 members assigned to leagues of 30 from 16 connections, each by two of
# them at the same time, beside events and rounds; then a dump, restored.
use strict;
use warnings;

use LbTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my ($members, $sessions, $size) = (1000, 16, 30);
my $node = new_node('leagues', 'fsync = off');
$node->start;
my $tmp = $PostgreSQL::Test::Utils::tmp_check;
$node->safe_psql('postgres', 'CREATE DATABASE game');
install($node, 'game');
$node->safe_psql('game', q{
	SELECT lb_create_counter('points'), lb_create_board('week', 'points', 'week', scoped => true),
		lb_create_board('all', 'points', scoped => true, ranks => 'bounded', head => 3);
	SELECT lb_join('all', 'odd', ARRAY(SELECT 'm' || i FROM generate_series(1, 1000, 2) AS i));
});

my $loop = client($node, 'game', 'loop', "SELECT pg_sleep(1); CALL lb_refresh_loop('5 minutes', '20 ms');");
my $gate = $node->background_psql('game');
$gate->query_safe('SELECT pg_advisory_lock(1)');
my @clients;
for my $session (0 .. $sessions - 1)
{
	my $script = "SELECT 'ready' FROM pg_advisory_xact_lock_shared(1);\n";
	for (my $i = $session % ($sessions / 2); $i < $members; $i += $sessions / 2)
	{
		$script .= "SELECT 'm$i', lb_assign('week', 'm$i', $size, 'gold-');\n";
		$script .= "SELECT 0 FROM lb_submit('points', 'm$i', " . ($i * 7919 % 1000) . ", key => 'k$i') WHERE status <> 'accepted';\n"
		  if $session < $sessions / 2;
	}
	push @clients, client($node, 'game', "s$session", $script, go_on => 1);
}
$node->poll_query_until('game',
	"SELECT count(*) = $sessions FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
  or die 'not all clients came';
$gate->query_safe('SELECT pg_advisory_unlock(1)');
$gate->quit;

my (%league, @others, @failures);
for my $client (@clients)
{
	for (finish_client($client))
	{
		next unless /^(m\d+) (\S+)$/;
		push @others, $1 if defined $league{$1} && $league{$1} ne $2;
		$league{$1} = $2;
	}
	push @failures, client_errors($client);
}
is(join("\n", @failures), '', "$sessions connections: no call failed");
is(scalar(keys %league), $members, 'everybody was told a league');
is("@others", '', 'and both calls the same one');
my %size;
$size{$_}++ for values %league;
is(scalar(keys %size), 34, '34 leagues');
is(join(' ', sort { $a <=> $b } values %size), join(' ', 10, (30) x 33), 'of 30 each, and the rest');
is(join(' ', map { $size{"gold-$_"} } 1 .. 34), join(' ', (30) x 33, 10), 'filled from the first on');
is($node->safe_psql('game', q{SELECT count(*), count(DISTINCT member), count(DISTINCT scope) FROM lb.membership
	WHERE scope LIKE 'gold-%' AND until = 'infinity'}), "$members|$members|34", 'nobody twice');
$node->safe_psql('game', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'CALL lb_refresh_loop%'});
finish_client($loop);
is(join("\n", grep { !/57014/ } client_errors($loop)), '', 'the loop ran all the time');
no_violations($node, 'game', 'all are counted');
is($node->safe_psql('game', 'SELECT * FROM oracle.scope_violations() LIMIT 10'), '', 'in their leagues, too');
is($node->safe_psql('game', q{SELECT string_agg(DISTINCT population::text, ' ') FROM lb_scopes('week') s, lb_version('week', s.scope)}),
	'10 30', 'as many are on their boards');

# A dump has the memberships and their dates; the boards are counted anew.
$node->safe_psql('game', q{
	SELECT lb_move('week', 'm1', 'silver-1', from_scope => s.scope) FROM lb_scopes('week', 'm1') s;
	SELECT lb_leave('all', 'odd', ARRAY['m3']);
	SELECT lb_refresh();
	SELECT lb_join('all', 'news', ARRAY['m5', 'm7']);
});
my $answers = q{SELECT b.board, s.scope, t.member, t.rank, t.kind, t.rank_low, t.rank_high, t.value, t.population
	FROM (VALUES ('week'), ('all')) AS b (board), LATERAL lb_scopes(board) AS s,
	LATERAL lb_ranks(board, ARRAY(SELECT 'm' || i FROM generate_series(0, 999) AS i), s.scope) AS t
	WHERE kind <> 'unranked' ORDER BY 1, 2, 3};
my $kept = q{SELECT m::text FROM lb.membership m UNION ALL SELECT s::text FROM lb.scope s ORDER BY 1};
command_ok([ 'pg_dump', '-Fd', '-j', '2', '-d', $node->connstr('game'), '-f', "$tmp/leagues.dump" ], 'a dump');
$node->safe_psql('game', 'SELECT lb_refresh()');
my $said = $node->safe_psql('game', $answers);
like($said, qr/all\|news\|m5\|1\|exact/, 'the last news are in');
for my $jobs (1, 4)
{
	my $database = "restored$jobs";
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	command_ok([ 'pg_restore', '--exit-on-error', '-j', $jobs, '-d', $node->connstr($database), "$tmp/leagues.dump" ],
		"restored by $jobs");
	is(psql_value($node, $database, 'SELECT events > 0 FROM lb_refresh()'), 't', "$database: a refresh");
	is($node->safe_psql($database, $kept), $node->safe_psql('game', $kept), "$database: memberships are whole");
	ok($node->safe_psql($database, $answers) eq $said, "$database: every answer is the old one");
	is($node->safe_psql($database, 'SELECT * FROM oracle.scope_violations() LIMIT 10'), '', "$database: right by the log");
	is($node->safe_psql($database, 'SELECT count(*) FROM lb.membership_news'), '0', "$database: nothing is left to do");
	is($node->safe_psql($database, qq{SELECT lb_assign('week', 'm0', $size, 'gold-'), lb_assign('week', 'new', $size, 'gold-')}),
		"$league{m0}|$league{m1}", "$database: assigning goes on where it was");
}
$node->stop('immediate');

done_testing();
