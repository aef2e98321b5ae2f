# NOTIFY: whoever listens to a board's channel is told of every round that
# changed it, once, and finds what is new; otherwise nothing is said.
use strict;
use warnings;

use JSON::PP;
use LbTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('notify', 'max_prepared_transactions = 5');
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION leaderboard;
	SELECT lb_create_tenant('acme');
	SELECT lb_create_counter('points'), lb_create_counter('quiet'), lb_create_counter('acme/points');
	SELECT lb_create_board('all', 'points'), lb_create_board('day "7"', 'points', 'day'), lb_create_board('rolling', 'points', 'last 10 minutes', ranks => 'bounded', head => 2),
		lb_create_board('leagues', 'points', scoped => true), lb_create_board('quiet', 'quiet'), lb_create_board('acme/all', 'acme/points');
});
my %channel = map { split /=/ } split /\n/,
  $node->safe_psql('postgres', q{SELECT format('%s=%s', v.channel, concat(nullif(tenant, 'default') || '/', board)) FROM lb_boards() AS b, LATERAL lb_version(tenant || '/' || board) AS v});
my %listening = reverse %channel;
is(scalar keys %channel, 6, 'every board has a channel of its own');

my $listener = $node->background_psql('postgres');
$listener->query_safe("LISTEN $_") for keys %channel;

# What was heard since the last time, until a notification of our own comes.
my $beat = 0;
sub heard
{
	my @heard;
	$beat++;
	$listener->query_safe('LISTEN beat');
	$node->safe_psql('postgres', "NOTIFY beat, '$beat'");
	for (1 .. 200)
	{
		my $out = $listener->query_safe('SELECT pg_sleep(0.02)');
		my $done = 0;
		while ($out =~ /Asynchronous notification "([^"]+)" with payload "(.*)" received from server process/g)
		{
			if ($1 eq 'beat') { $done = $2 eq $beat; next; }
			my $payload = decode_json($2);
			is($channel{$1}, $payload->{board}, "payload and channel are of the board $payload->{board}");
			push @heard, $payload;
		}
		return sort { $a->{board} cmp $b->{board} || $a->{version} <=> $b->{version} } @heard if $done;
	}
	die 'nothing was heard';
}
sub boards { return join(', ', map { $_->{board} } @_); }
sub submit
{
	my ($counter, $member, $delta) = @_;
	$node->safe_psql('postgres', "SELECT lb_submit('$counter', '$member', $delta, gen_random_uuid()::text)");
}
sub refresh { $node->safe_psql('postgres', 'SELECT lb_refresh()'); }

is(boards(heard()), '', 'a board without events has nothing to say');
submit('points', "m$_", $_) for 1 .. 5;
is(boards(heard()), '', 'nor has a submission');
refresh();
my @told = heard();
is(boards(@told), 'all, day "7", leagues, rolling', 'a round tells once of each board that it changed');
is(join(',', map { $_->{scopes} // 'null' } @told), 'null,null,null,null', 'scopes are null where none changed');
refresh() for 1 .. 3;
is(boards(heard()), '', 'rounds without news are silent');

# Whoever hears of a version finds it, and had not seen it before.
my %seen = map { $_->{board} => $_->{version} } @told;
for my $i (1 .. 3)
{
	submit('points', 'm1', 10);
	refresh();
	for my $payload (heard())
	{
		my $top = $node->safe_psql('postgres', "SELECT version, member FROM lb_top('$payload->{board}', 1, newer_than => $seen{$payload->{board}})");
		is($top, "$payload->{version}|m1", "reading $payload->{board} with newer_than finds the version told, $i");
		$seen{$payload->{board}} = $payload->{version};
	}
}
submit('acme/points', 'm1', 1);
refresh();
is(boards(heard()), 'acme/all', 'a board of another tenant is named with it');

# Scopes: those that changed, in order, each once; null when they do not fit.
$node->safe_psql('postgres', q{SELECT lb_join('leagues', s, ARRAY['m1', 'm2']) FROM unnest(ARRAY['z', 'a "b" \ c', 'ž', 'm']) AS s});
refresh();
@told = heard();
is(boards(@told), 'leagues', 'a change of scopes is one of their board');
is_deeply($told[0]{scopes}, ['a "b" \ c', 'm', 'z', chr(0x17e)], 'which are named in order');
$node->safe_psql('postgres', q{SELECT lb_leave('leagues', 'z', ARRAY['m2']), lb_leave('leagues', 'm', ARRAY['m1', 'm2'])});
submit('points', 'm2', 1);
refresh();
@told = grep { $_->{board} eq 'leagues' } heard();
is_deeply([ map { $_->{scopes} } @told ], [ [ 'a "b" \ c', 'm', 'z', chr(0x17e) ] ], 'also those that somebody left');
$node->safe_psql('postgres', q{SELECT lb_join('leagues', repeat('s', 100) || i, ARRAY['m5']) FROM generate_series(1, 70) AS i});
refresh();
@told = heard();
is(scalar @{$told[0]{scopes}}, 70, 'seventy long names fit');
$node->safe_psql('postgres', q{SELECT lb_join('leagues', repeat('s', 120) || i, ARRAY['m5']) FROM generate_series(1, 70) AS i});
refresh();
@told = heard();
is(boards(@told) . ($told[0]{scopes} // 'null'), 'leaguesnull', 'of more it is not said which');
$node->safe_psql('postgres', q{SELECT lb_join('leagues', 't' || i, ARRAY['m5']) FROM generate_series(1, 2500) AS i});
refresh();
@told = heard();
is(boards(@told) . ($told[0]{scopes} // 'null'), 'leaguesnull', 'nor of thousands');

# What is undone was not told.
submit('quiet', 'm1', 1);
$node->safe_psql('postgres', 'BEGIN; SELECT lb_refresh(); ROLLBACK');
$node->safe_psql('postgres', q{DO $$ BEGIN BEGIN PERFORM lb_refresh(); RAISE 'no'; EXCEPTION WHEN raise_exception THEN NULL; END; END $$});
is(boards(heard()), '', 'a round that was rolled back says nothing');
$node->safe_psql('postgres', q{DO $$ BEGIN BEGIN PERFORM lb_refresh(); EXCEPTION WHEN raise_exception THEN NULL; END; END $$});
is(boards(heard()), 'quiet', 'one in a subtransaction does');
submit('quiet', 'm1', 1);
$node->safe_psql('postgres', q{BEGIN; SELECT lb_refresh(); PREPARE TRANSACTION 'round'});
$node->safe_psql('postgres', q{COMMIT PREPARED 'round'});
is(boards(heard()), '', 'a round in a prepared transaction is possible, and tells nobody');
is($node->safe_psql('postgres', q{SELECT value FROM lb_rank('quiet', 'm1')}), 2, 'but counts');

# What moves without events; what an operator does.
$node->safe_psql('postgres', q{SELECT lb._refresh(NULL, clock_timestamp() + interval '1 hour')});
is(boards(heard()), 'rolling', 'a rolling window that moves on is news');
$node->safe_psql('postgres', q{SELECT lb_alter_board('rolling', head => 5)});
is(boards(heard()), 'rolling', 'a larger head too');
$node->safe_psql('postgres', q{SELECT lb_create_board('new', 'points')});
is(boards(heard()), '', 'a new board has no listeners yet');

# The loop: one a round at most.
submit('points', 'm3', 1);
$node->safe_psql('postgres', q{CALL lb_refresh_loop('1 second', '20 ms')});
is(boards(heard()), 'all, day "7", leagues, rolling', 'a loop tells of what it counted, once');
$listener->quit;
$node->stop('immediate');
done_testing();
