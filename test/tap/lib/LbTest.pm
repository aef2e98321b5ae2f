# What the TAP tests share: clusters, clients in the background, and the oracle.
package LbTest;

use strict;
use warnings;

use Exporter 'import';
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(new_node install violations no_violations client finish_client
  client_errors kill_server slurp_lines psql_value);

# A cluster for tests of crashes and restores; its system identifier is its own.
sub new_node
{
	my ($name, @lines) = @_;
	delete $ENV{INITDB_TEMPLATE};
	my $node = PostgreSQL::Test::Cluster->new($name);
	$node->init;
	$node->append_conf('postgresql.conf', "$_\n")
	  for "timezone = 'UTC'", 'autovacuum_naptime = 5s', 'max_connections = 300', @lines;
	return $node;
}

# The first block of the isolation test "oracle" makes the oracle's functions.
sub oracle_sql
{
	my $spec = slurp_file('test/isolation/specs/oracle.spec');
	$spec =~ /^setup\n\{\n(.*?)^\}/ms or die 'no oracle in oracle.spec';
	return $1;
}

sub install
{
	my ($node, $database) = @_;
	$node->safe_psql($database, 'CREATE EXTENSION leaderboard');
	$node->safe_psql($database, oracle_sql());
}

sub violations
{
	my ($node, $database, $one_in) = @_;
	$one_in //= 1;
	return $node->safe_psql($database, "SELECT * FROM oracle.violations($one_in) LIMIT 10");
}

# Count what there is, then compare every board with the log.
sub no_violations
{
	my ($node, $database, $what, $one_in) = @_;
	$node->safe_psql($database, 'SELECT lb_refresh()');
	is(violations($node, $database, $one_in), '', $what);
}

sub psql_value
{
	my ($node, $database, $query) = @_;
	my ($code, $out, $err) = $node->psql($database, $query);
	return $code == 0 ? $out : "error: $err";
}

# A psql in the background that works off a script.  Its output is complete
# when finish_client() returns, however the server ended.
sub client
{
	my ($node, $database, $name, $script, %options) = @_;
	my $base = "${PostgreSQL::Test::Utils::tmp_check}/" . $node->name . "-$name";
	open(my $file, '>', "$base.sql") or die "$base.sql: $!";
	print $file $script;
	close($file);
	my $stop = $options{go_on} ? 0 : 1;
	my $run = IPC::Run::start(
		[ 'psql', '-XAtq', '-F', ' ', '-v', "ON_ERROR_STOP=$stop", '-v', 'VERBOSITY=verbose',
			'-d', $node->connstr($database), '-f', "$base.sql" ],
		'<', '/dev/null', '>', "$base.out", '2>', "$base.err");
	return { run => $run, out => "$base.out", err => "$base.err", database => $database };
}

# Wait for the end; the lines that it printed.
sub finish_client
{
	my ($client) = @_;
	IPC::Run::finish($client->{run});
	return slurp_lines($client->{out});
}

sub client_errors
{
	my ($client) = @_;
	return grep { /ERROR|FATAL|PANIC/ } slurp_lines($client->{err});
}

sub slurp_lines
{
	my ($path) = @_;
	open(my $file, '<', $path) or die "$path: $!";
	chomp(my @lines = <$file>);
	close($file);
	return @lines;
}

# kill -9 of the postmaster and of each of its children, all at once.
sub kill_server
{
	my ($node) = @_;
	my $postmaster = (slurp_lines($node->data_dir . '/postmaster.pid'))[0];
	kill('STOP', $postmaster);
	my @children;
	for my $stat (glob '/proc/[0-9]*/stat')
	{
		open(my $file, '<', $stat) or next;
		my $line = <$file> // '';
		close($file);
		push @children, $1 if $line =~ /^(\d+) \(.*\) \S (\d+) / && $2 == $postmaster;
	}
	die 'the server has no children' unless @children;
	kill('KILL', @children);
	$node->kill9;
	for my $pid ($postmaster, @children)
	{
		for (1 .. 500) { last unless kill(0, $pid); select(undef, undef, undef, 0.01); }
	}
}

1;
