# Drivers as the distribution has them play the same scene, straight and through
# pgbouncer in transaction mode.  The programs are in test/drivers; they print
# what they got, and here is what they have to get.
#
# The scene: a login without rights of its own takes the role game_app, to which
# a few functions are granted.  It sends a batch of arrays, twice (both ends of
# bigint, and a member whom an array has to quote); JSON; an event that is rolled
# back and sent again.  When the loop has counted them it reads a rank, lists,
# a composite and an array, and hears of the next round.
use strict;
use warnings;

use LbTest;
use Pooler;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# The first python that has a module, if any has.
sub python_with
{
	my ($module) = @_;
	for my $python ('/usr/bin/python3', 'python3')
	{
		return $python if system("$python -c 'import $module' >/dev/null 2>&1") == 0;
	}
	return;
}

my $top = '1 bob "the" {b}, \ 9223372036854775807;2 fay 9007199254740995;3 ann 9007199254740993;4 gus 3;5 eve 0;6 cé -9223372036854775808';
my %everywhere = (
	# the server's own refusal
	'without the role' => '42501 no hint',
	'not granted' => '42501 no hint',
	'no such board' => '42704 hint',
	batch => 'accepted,accepted,accepted,rejected bad_delta,accepted',
	again => 'duplicate,duplicate,duplicate,rejected bad_delta,duplicate',
	'same ids' => 'true',
	json => 'accepted,rejected bad_field',
	'after a rollback' => 'accepted',
	rank => '3,9007199254740993,exact,6,false',
	top => $top,
	ranks => '2,unranked,3',
	prepared => '9007199254740993',
	notified => 'true');
my $answer = '(ann,3,exact';

# What each driver makes of a type is its own; README.md has the same in a table.
my @drivers;
{
	my $packaged = join(':', '.drivers/usr/share/nodejs', '/usr/share/nodejs');
	my $there = system("NODE_PATH=$packaged node -e 'require(\"pg\")' >/dev/null 2>&1") == 0;
	push @drivers, {
		name => 'node-postgres',
		command => $there ? [ 'env', "NODE_PATH=$packaged", 'node', 'test/drivers/node.js' ] : undef,
		without => 'no node with the package node-pg here',
		types => 'string,number,boolean,Date',
		composite => "string $answer",
		array => 'array of string 9223372036854775807' };
}
for my $version (3, 2)
{
	my $python = python_with($version == 3 ? 'psycopg' : 'psycopg2');
	push @drivers, {
		name => $version == 3 ? 'psycopg' : 'psycopg2',
		command => $python ? [ 'env', 'PYTHONIOENCODING=utf-8', $python, 'test/drivers/python.py', $version ] : undef,
		without => $version == 3 ? 'no python3-psycopg here' : 'no python3-psycopg2 here',
		types => 'int,float,bool,datetime',
		composite => "str $answer",
		'registered composite' => 'lb_answer int 9007199254740993',
		array => 'list of int 9223372036854775807' };
}
{
	my ($jar) = grep { -e } '/usr/share/java/postgresql.jar';
	my $compiler = system('javac -version >/dev/null 2>&1') == 0;
	push @drivers, {
		name => 'pgjdbc',
		tcp => 1,
		compile => [ 'javac', '-encoding', 'UTF-8', '-cp', $jar // '', '-d', "${PostgreSQL::Test::Utils::tmp_check}", 'test/drivers/Jdbc.java' ],
		command => $jar && $compiler
		? [ 'java', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xshare:auto', '-cp', "$jar:${PostgreSQL::Test::Utils::tmp_check}", 'Jdbc' ]
		: undef,
		without => $jar ? 'no JDK here (it is large, and not installed for this)' : 'no libpostgresql-jdbc-java here',
		types => 'Long,Double,Boolean,Timestamp',
		composite => "PGobject $answer",
		array => 'PgArray of Long 9223372036854775807' };
}

my $node = new_node('driven');
$node->append_conf('postgresql.conf', "listen_addresses = '127.0.0.1'\n");
# Only Java comes by TCP, and with the password, as everybody else here would have to.
open(my $hba, '>', $node->data_dir . '/pg_hba.conf') or die $!;
print $hba "local all all trust\nhost all game_login 127.0.0.1/32 scram-sha-256\n";
close($hba);
$node->start;
install($node, 'postgres');
$node->safe_psql('postgres', q{
	CREATE ROLE game_app;
	GRANT EXECUTE ON FUNCTION lb_submit, lb_submit_batch, lb_submit_json, lb_rank, lb_ranks, lb_top, lb_version TO game_app;
	CREATE ROLE game_login LOGIN NOINHERIT PASSWORD 'secret' IN ROLE game_app;
});
my $pooler = find_pooler() ? start_pooler($node, 2, game_login => 'secret') : undef;
my $loop = client($node, 'postgres', 'loop', "CALL lb_refresh_loop('10 minutes', '20 ms');");

# One play of the scene: name => value of what the program printed.
sub play
{
	my ($driver, $board, %env) = @_;
	$node->safe_psql('postgres', qq{SELECT lb_create_counter('$board'); SELECT lb_create_board('$board', '$board', freshness => '1 hour')});
	local %ENV = (%ENV, LB_BOARD => $board, LB_DATABASE => 'postgres', LB_USER => 'game_login', LB_PASSWORD => 'secret', %env);
	my ($out, $err) = ('', '');
	IPC::Run::run($driver->{command}, '<', '/dev/null', '>', \$out, '2>', \$err, IPC::Run::timeout(100));
	diag($err) if $? != 0;
	is($? >> 8, 0, "$board: the program ends well");
	return map { /^([^=]+)=(.*)$/ ? ($1 => $2) : () } split /\n/, $out;
}

sub check
{
	my ($driver, $board, $without, %env) = @_;
	my %got = play($driver, $board, %env);
	my %want = (%everywhere, map { exists $driver->{$_} ? ($_ => $driver->{$_}) : () } 'types', 'composite', 'registered composite', 'array');
	delete $want{$_} for @$without;
	is($got{$_}, $want{$_}, "$board: $_") for sort keys %want;
}

for my $driver (@drivers)
{
  SKIP:
	{
		skip "$driver->{name}: $driver->{without}", 1 unless $driver->{command};
		if ($driver->{compile})
		{
			system(@{ $driver->{compile} }) == 0 or die 'javac failed';
		}
		check($driver, $driver->{name}, [], LB_HOST => $node->host, LB_PORT => $node->port,
			LB_TCP_PORT => $node->port, LB_POOLED => 0, LB_NAMED => 1);
		skip "$driver->{name}: no pgbouncer here", 1 unless $pooler;
		check($driver, "$driver->{name} by pgbouncer", [ 'notified', $pooler->{named} ? () : 'prepared' ],
			LB_HOST => $pooler->{host}, LB_PORT => $pooler->{port}, LB_TCP_PORT => $pooler->{port},
			LB_POOLED => 1, LB_NAMED => $pooler->{named});
	}
}

$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'CALL lb_refresh_loop%'});
finish_client($loop);
no_violations($node, 'postgres', 'the boards say what the log says');
stop_pooler($pooler) if $pooler;
$node->stop;

done_testing();
