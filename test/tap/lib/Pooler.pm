# A pgbouncer in transaction mode, for the tests that work through one.
package Pooler;

use strict;
use warnings;

use Exporter 'import';
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

our @EXPORT = qw(find_pooler start_pooler stop_pooler);

# Its program and version, (program, 1.18); nothing where there is none.
sub find_pooler
{
	for my $program ('/usr/sbin/pgbouncer', 'pgbouncer')
	{
		my $version = `$program --version 2>/dev/null` // '';
		return ($program, $1) if $version =~ /PgBouncer (\d+\.\d+)/;
	}
	return;
}

# At most $connections server connections a user and database, for whatever
# number of clients.  The users and their passwords are as given.
sub start_pooler
{
	my ($node, $connections, %password) = @_;
	my ($program, $version) = find_pooler();
	my $room = "${PostgreSQL::Test::Utils::tmp_check}/pooler-" . $node->name;
	my $socket = PostgreSQL::Test::Utils::tempdir_short();
	my $port = PostgreSQL::Test::Cluster::get_free_port();
	# From 1.21 on it knows which server connection has which statement.
	my $named = $version =~ /^1\.(\d+)$/ && $1 < 21 ? 0 : 1;
	mkdir $room;
	open(my $users, '>', "$room/users") or die "$room/users: $!";
	print $users qq("$_" "$password{$_}"\n) for sort keys %password;
	close($users);
	open(my $config, '>', "$room/pgbouncer.ini") or die "$room/pgbouncer.ini: $!";
	print $config join("\n", '[databases]',
		'* = host=' . $node->host . ' port=' . $node->port,
		'[pgbouncer]', 'listen_addr = 127.0.0.1', "listen_port = $port", "unix_socket_dir = $socket",
		'auth_type = scram-sha-256', "auth_file = $room/users",
		'pool_mode = transaction', "default_pool_size = $connections", 'max_client_conn = 200',
		# sent by pgjdbc
		'ignore_startup_parameters = extra_float_digits',
		$named ? 'max_prepared_statements = 100' : '',
		"logfile = $room/log", "pidfile = $room/pid"), "\n";
	close($config);
	my $run = IPC::Run::start([ $program, '-q', "$room/pgbouncer.ini" ],
		'<', '/dev/null', '>', "$room/out", '2>', "$room/err");
	for (1 .. 500)
	{
		last if -S "$socket/.s.PGSQL.$port";
		select(undef, undef, undef, 0.02);
	}
	-S "$socket/.s.PGSQL.$port" or die "pgbouncer does not start, see $room";
	return { run => $run, host => $socket, port => $port, named => $named, version => $version, log => "$room/log" };
}

sub stop_pooler
{
	my ($pooler) = @_;
	$pooler->{run}->signal('INT');
	IPC::Run::finish($pooler->{run});
	return;
}

1;
