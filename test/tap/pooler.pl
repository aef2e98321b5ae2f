# Everything works through pgbouncer in transaction mode: no call needs what a
# session keeps.  Many clients share two server connections, by each protocol,
# while boards come and go; nothing is lost or counted twice.
use strict;
use warnings;

use LbTest;
use Pooler;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'no pgbouncer here' unless find_pooler();

my $node = new_node('pooled');
$node->start;
install($node, 'postgres');
# What a session would SET is set where the role is made.
$node->safe_psql('postgres', q{
	SELECT lb_create_tenant('arcade');
	CREATE ROLE app LOGIN PASSWORD 'secret';
	ALTER ROLE app SET leaderboard.tenant = 'arcade';
	GRANT EXECUTE ON FUNCTION lb_submit, lb_submit_batch, lb_rank, lb_top, lb_page, lb_around, lb_version, lb_refresh TO app;
	CREATE ROLE maker LOGIN PASSWORD 'secret' IN ROLE app;
	ALTER ROLE maker SET leaderboard.tenant = 'arcade';
	GRANT EXECUTE ON FUNCTION lb_create_board, lb_drop_board TO maker;
	SELECT oracle.make('arcade/points');
});
my $pooler = start_pooler($node, 2, app => 'secret', maker => 'secret');
note("pgbouncer $pooler->{version}");
my $to = "host=$pooler->{host} port=$pooler->{port} dbname=postgres password=secret user=";

# A command's exit code, output and errors.
sub run_through
{
	my ($user, @command) = @_;
	local $ENV{PGOPTIONS} = '';
	my ($out, $err) = ('', '');
	IPC::Run::run(\@command, '<', '/dev/null', '>', \$out, '2>', \$err, IPC::Run::timeout(60));
	return ($? >> 8, $out, $err);
}

sub ask
{
	my ($user, $sql) = @_;
	my ($code, $out, $err) = run_through($user, 'psql', '-XAtq', '-F', ' ', '-v', 'VERBOSITY=verbose', '-d', "$to$user", '-c', $sql);
	chomp $out;
	return $code == 0 ? $out : "error: $err";
}

is(ask('app', q{SELECT ordinal, status FROM lb_submit_batch('points', '{ann,ben}', '{3,4}', '{a,b}')}), "1 accepted\n2 accepted",
	'a name without its tenant, by the setting of the role');
is(ask('app', q{SELECT events FROM lb_refresh()}), '2', 'a refresh');
is(ask('app', q{SELECT rank, member, value FROM lb_top('points')}), "1 ben 4\n2 ann 3", 'a list');
like(ask('app', q{SELECT lb_drop_board('points')}), qr/ERROR:  42501/, 'what is not granted');
like(ask('app', q{BEGIN; SELECT lb_submit('points', 'ann', 1, 'gone'); ROLLBACK; SELECT status FROM lb_submit('points', 'ann', 1, 'gone')}),
	qr/^accepted$/m, 'a transaction rolled back leaves nothing, not even its key');

# Clients by each protocol; a board comes and goes meanwhile, made through the
# pooler, so that every server connection meets definitions it did not make.
my $folder = $PostgreSQL::Test::Utils::tmp_check;
my $script = "$folder/pooled.sql";
open(my $file, '>', $script) or die "$script: $!";
print $file <<'SQL';
\set i random(1, 1000000000)
\set member random(1, 50)
SELECT status FROM lb_submit('points', 'm' || :member::bigint, :i::bigint, key => 'k' || :i::bigint);
SELECT status FROM lb_submit('points', 'm' || :member::bigint, :i::bigint, key => 'k' || :i::bigint);
BEGIN;
SELECT status FROM lb_submit_batch('points', ARRAY['n' || :member::bigint], ARRAY[:i::bigint], ARRAY['n' || :i::bigint]);
SELECT rank, value FROM lb_rank('points', 'm' || :member::bigint);
COMMIT;
SELECT count(*) FROM lb_around('points', 'm' || :member::bigint, 3);
SQL
close($file);

my $loop = client($node, 'postgres', 'loop', "CALL lb_refresh_loop('5 minutes', '20 ms');");
my $made = client($node, 'postgres', 'made', '\c \'' . $to . "maker'\n" . join('', map {
	"SELECT lb_create_board('brief', 'points', ties => '" . (qw(dense ordinal))[ $_ % 2 ] . "');\n"
	  . "SELECT count(*) FROM lb_top('brief');\nSELECT lb_drop_board('brief');\n" } 1 .. 20));
my @protocols = ('simple', 'extended', $pooler->{named} ? 'prepared' : ());
for my $protocol (@protocols)
{
	my ($code, $out, $err) = run_through('app', 'pgbench', '-n', '-M', $protocol, '-c', 8, '-t', 25, '-f', $script,
		"${to}app");
	is($code, 0, "8 clients, the $protocol protocol") or diag($err);
	like($out, qr{processed: 200/200}, 'all of it done');
}
is(scalar(finish_client($made)), 60, 'boards come and go through it') or diag(client_errors($made));
is(ask('app', q{SELECT count(*) FROM lb_top('points', 1000)}) > 2, 1, 'all of it seen through it');
note('named statements need pgbouncer 1.21 or later') unless $pooler->{named};

$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'CALL lb_refresh_loop%'});
finish_client($loop);
cmp_ok($node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE usename = 'app'}), '<=', 2,
	'the clients shared two connections');
# A submission is in the log once though each client sent it twice.
is($node->safe_psql('postgres', q{SELECT count(*) > 300 AND count(*) = count(DISTINCT key) FROM lb.event}), 't', 'each event is there once');
no_violations($node, 'postgres', 'and the boards say what the log says');
stop_pooler($pooler);
$node->stop;

done_testing();
