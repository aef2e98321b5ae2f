# kill -9 of the server, again and again, under submitters and refresh loops:
# what was acknowledged is there once, and all that is counted is right.  (What a
# killed process has written the kernel keeps, so fsync makes no difference.)
use strict;
use warnings;

use LbTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

my $crashes = 16;
my $writers = 4;
srand(20261201);

my $node = new_node('crash', 'max_wal_size = 32MB', 'min_wal_size = 32MB',
	'restart_after_crash = off', 'wal_level = replica', 'full_page_writes = on');
$node->start;
install($node, 'postgres');
$node->safe_psql('postgres', q{
	SELECT oracle.make('points');
	SELECT oracle.make('best', 'max');
	SELECT oracle.make('last', 'last');
});

# What was sent, and what of it was answered accepted or duplicate.
my $next = 0;
my (%sent, %acked, @retry, @odd);

sub event
{
	my $key = @retry && rand() < 0.5 ? shift @retry : 'k' . ++$next;
	my ($n) = $key =~ /(\d+)/;
	$sent{$key} = { counter => (qw(points points best last))[ $n % 4 ],
		member => 'm' . ($n * $n % 211), delta => $n % 97 - 20 };
	return $key;
}

sub submit
{
	my ($key, $say) = @_;
	my $e = $sent{$key};
	return "SELECT '$say', '$key', coalesce(reason, status) FROM lb_submit('$e->{counter}', '$e->{member}', $e->{delta}, key => '$key');\n";
}

sub submit_batch
{
	my ($counter, @keys) = @_;
	my $members = join(',', map { "'$sent{$_}{member}'" } @keys);
	my $deltas = join(',', map { $sent{$_}{delta} } @keys);
	my $names = join(',', map { "'$_'" } @keys);
	return "SELECT 'ack', k, coalesce(reason, status) FROM lb_submit_batch('$counter', ARRAY[$members], ARRAY[$deltas], ARRAY[$names]) "
	  . "JOIN unnest(ARRAY[$names]) WITH ORDINALITY u(k, o) ON o = ordinal;\n";
}

# Single events, batches, transactions that commit and that do not.
sub work
{
	my $script = '';
	for (1 .. 250)
	{
		my $kind = int(rand(10));
		if ($kind < 6)
		{
			$script .= submit(event(), 'ack');
		}
		elsif ($kind < 8)
		{
			my @keys = grep { $sent{$_}{counter} eq 'points' } map { event() } 1 .. 12;
			my %seen;
			@keys = grep { !$seen{$_}++ } @keys or next;
			$script .= submit_batch('points', @keys);
		}
		elsif ($kind == 8)
		{
			my @keys = map { event() } 1 .. 3;
			$script .= "BEGIN;\n" . submit($keys[0], 'in') . "SAVEPOINT s;\n" . submit($keys[1], 'in')
			  . "ROLLBACK TO s;\n" . submit($keys[1], 'in') . submit($keys[2], 'in') . "COMMIT;\n"
			  . join('', map { "\\echo ack $_ accepted\n" } @keys);
		}
		else
		{
			my $key = 'never' . ++$next;
			$sent{$key} = { counter => 'points', member => 'never', delta => 1000000 };
			$script .= "BEGIN;\n" . submit($key, 'in') . "ROLLBACK;\n";
		}
	}
	return $script;
}

sub read_acks
{
	for (@_)
	{
		my ($what, $key, $status) = split / /;
		next unless defined $key && $what eq 'ack';
		$acked{$key} = 1;
		push @odd, "$key: $status" unless $status =~ /^(accepted|duplicate)$/;
	}
}

# Every acknowledged event once, with its content; none that was rolled back.
sub check_log
{
	my %logged;
	my @wrong;
	for (split /\n/, $node->safe_psql('postgres',
			'SELECT key, member, delta FROM lb.event'))
	{
		my ($key, $member, $delta) = split /\|/;
		$logged{$key}++;
		push @wrong, "$key is wrong"
		  unless $sent{$key} && $sent{$key}{member} eq $member && $sent{$key}{delta} == $delta;
		push @wrong, "$key was rolled back" if $key =~ /^never/;
	}
	push @wrong, map { "$_ is there $logged{$_} times" } grep { $logged{$_} > 1 } keys %logged;
	push @wrong, map { "$_ was acknowledged and is lost" } grep { !$logged{$_} } keys %acked;
	@retry = grep { !$acked{$_} && !/^never/ } sort keys %sent;
	return @wrong > 5 ? (@wrong[ 0 .. 4 ], scalar(@wrong) . ' in all') : @wrong;
}

my $version = 0;
for my $crash (1 .. $crashes)
{
	my @clients = map { client($node, 'postgres', "writer$_", work()) } 1 .. $writers;
	push @clients, map { client($node, 'postgres', "loop$_", "CALL lb_refresh_loop('1 minute', '15 ms');") } 1, 2;
	my $readers = client($node, 'postgres', 'board',
		"SELECT lb_create_board('b$crash', 'points', period => 'month') > 0;\n");
	sleep(0.2 + rand(0.8));
	$node->safe_psql('postgres', 'CHECKPOINT') if $crash % 5 == 0;
	if ($crash % 3 == 0) { $node->stop('immediate'); }
	else { kill_server($node); }
	my @lines = map { finish_client($_) } @clients;
	finish_client($readers);
	read_acks(@lines);
	$node->start;

	my @wrong = check_log();
	my $now = $node->safe_psql('postgres', q{SELECT version FROM lb_version('points')}) || 0;
	push @wrong, "version $version became $now" if $now < $version;
	$version = $now;
	if ($crash % 4 == 1)
	{
		$node->safe_psql('postgres', 'SELECT lb_refresh()');
		push @wrong, violations($node, 'postgres');
	}
	@wrong = grep { $_ ne '' } @wrong;
	is(join("\n", @wrong), '', "crash $crash: " . scalar(@lines) . ' lines, all acknowledged events are there once');
}
is(join("\n", @odd), '', 'no answer but accepted and duplicate');

# What nobody acknowledged is sent again, and so is all the rest.
my %again = map { $_ => 1 } grep { !/^never/ } keys %sent;
my $again = '';
for my $counter (qw(points best last))
{
	my @keys = grep { $sent{$_}{counter} eq $counter } sort keys %again;
	while (my @some = splice(@keys, 0, 1000)) { $again .= submit_batch($counter, @some); }
}
my $client = client($node, 'postgres', 'again', $again);
read_acks(finish_client($client));
is(join("\n", check_log()), '', 'sent once more, every event is there once');
is($node->safe_psql('postgres', 'SELECT count(*) FROM lb.event'), scalar(keys %again), 'and no other');
no_violations($node, 'postgres', 'and every board is what the log says');
diag(scalar(keys %again) . ' events, ' . scalar(keys %acked) . " acknowledged, $crashes crashes");
$node->stop('immediate');

done_testing();
