# pg_restore with several jobs brings the pieces of a dump in whatever order:
# here one after the other in random orders, with rounds between them.
use strict;
use warnings;

use LbTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = $ENV{LB_SEED} ? int($ENV{LB_SEED} * 1e6) : int(rand(1e6));
srand($seed);

my $node = new_node('order', 'fsync = off');
$node->start;
$node->safe_psql('postgres', 'CREATE DATABASE game');
install($node, 'game');
# Events that are late for some windows and in time for others, and boards that
# settle in ways of their own: what they are is told from several tables.
$node->safe_psql('game', q{
	SELECT lb_create_tenant('asia', 'Asia/Kathmandu');
	SELECT oracle.make('points'), oracle.make('best', 'max'), oracle.make('asia/points');
	SELECT lb_create_board('tonight', 'points', 'day', lateness => '2 hours'),
		lb_create_board('tuesdays', 'points', 'week', starts => '1 day 6 hours', lateness => '6 hours'),
		lb_create_board('recent', 'points', 'last 30 days'),
		lb_create_board('asia/tonight', 'asia/points', 'day', starts => '2 hours', lateness => '0');
	SELECT count(*) FROM (VALUES ('points'), ('best'), ('asia/points')) c(counter),
	LATERAL (SELECT array_agg('m' || i * i % 97) AS members, array_agg((i * 7919 % 2000 - 300)::bigint) AS deltas,
		array_agg('k' || i) AS keys, array_agg(now() - i % 90 * interval '1 hour') AS times FROM generate_series(1, 600) i) s,
	LATERAL lb._submit_batch(lb._counter_id(c.counter), s.members, s.deltas, s.keys, s.times, NULL, NULL, 'e', now()) b;
});
no_violations($node, 'game', 'the original is right');

my $answers = q{SELECT b.tenant, b.board, w.opens, t.member, t.rank, t.value, t.reached_at, t.population
	FROM lb_boards() b JOIN lb.ranking w USING (board_id), LATERAL lb_top(b.tenant || '/' || b.board, 100,
		at => CASE WHEN isfinite(w.opens) THEN w.opens END) t ORDER BY b.board_id, w.opens, t.place};
my $kept = $node->safe_psql('game', $answers);
my $tmp = $PostgreSQL::Test::Utils::tmp_check;
command_ok([ 'pg_dump', '-Fc', '-d', $node->connstr('game'), '-f', "$tmp/game.dump" ], 'a dump');
my @entries = grep { /^\d/ } split /\n/, `pg_restore -l $tmp/game.dump`;
my @data = grep { / (?:TABLE DATA|SEQUENCE SET) / } @entries;
my @later = grep { / (?:INDEX|TRIGGER|CONSTRAINT) / } @entries;
my %is_later = map { $_ => 1 } @data, @later;
my @before = grep { !$is_later{$_} } @entries;

sub restore
{
	my ($database, @pieces) = @_;
	append_to_file("$tmp/$database.list", '');
	unlink "$tmp/$database.list";
	append_to_file("$tmp/$database.list", "$_\n") for @pieces;
	return system_log('pg_restore', '--exit-on-error', '-L', "$tmp/$database.list",
		'-d', $node->connstr($database), "$tmp/game.dump") == 0;
}

sub shuffled
{
	my @list = @_;
	for (my $i = @list; --$i > 0;)
	{
		my $j = int(rand($i + 1));
		@list[ $i, $j ] = @list[ $j, $i ];
	}
	return @list;
}

# An index or a trigger comes after its table's rows, as pg_restore has it.
sub in_some_order
{
	my (@pieces) = @_;
	my (@order, %waits);
	for my $piece (@pieces)
	{
		my ($partition) = $piece =~ /\b(event_(?:default|\d+))/;
		my $is_data = $piece =~ / TABLE DATA /;
		if ($partition && !$is_data && !$waits{$partition}{loaded})
		{
			push @{ $waits{$partition}{pieces} }, $piece;
			next;
		}
		push @order, $piece;
		next if !$partition || !$is_data;
		$waits{$partition}{loaded} = 1;
		push @order, @{ $waits{$partition}{pieces} || [] };
	}
	return @order;
}

sub check_order
{
	my ($what, @order) = @_;
	my $database = "order_$what";
	my @portion;
	my $restored;
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$restored = restore($database, @before);
	while (@order)
	{
		my $piece = shift @order;
		push @portion, $piece;
		# every table of definitions is a step of its own, others go together
		next if @order && $piece =~ / event_/ && @portion < 6;
		$restored &&= restore($database, @portion);
		@portion = ();
		$node->psql($database, 'SELECT lb_refresh()') if rand() < 0.8;
	}
	ok($restored, "$what, seed $seed: restored");
	is(psql_value($node, $database, 'SELECT events >= 0 FROM lb_refresh()'), 't', "$what, seed $seed: a refresh");
	ok($node->safe_psql($database, $answers) eq $kept, "$what, seed $seed: every answer is the old one");
	is(violations($node, $database), '', "$what, seed $seed: right by the log");
	$node->safe_psql($database, q{SELECT lb_submit('points', 'newcomer', 5, 'new event')});
	is(psql_value($node, $database, 'SELECT events FROM lb_refresh()'), '1', "$what, seed $seed: a new event is counted once");
	is(violations($node, $database), '', "$what, seed $seed: right with it");
	$node->safe_psql('postgres', "DROP DATABASE $database");
}

# The log first, then the definitions, and last of all what says who is late:
# boards are counted without it and must be counted again.
my ($late) = grep { / late_class / } @data;
my ($boards) = grep { / TABLE DATA lb board / } @data;
isnt($late, undef, 'the dump has late classes');
my @rest = grep { $_ ne $late && $_ ne $boards } @data;
check_order('late_last', in_some_order(@rest, @later), $boards, $late);
check_order('late_first', $late, in_some_order(@rest, @later), $boards);
check_order("random$_", in_some_order(shuffled(@data, @later))) for 1 .. 5;

$node->stop('immediate');
done_testing();
