# examples/live: the server answers and tells of rounds, and in a real browser,
# where there is one, the page moves by itself and shows one's own line at once.
use strict;
use warnings;

use Browser;
use HTTP::Tiny;
use IO::Select;
use IO::Socket::INET;
use IPC::Run;
use JSON::PP;
use LbTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $packaged = join(':', '.drivers/usr/share/nodejs', '/usr/share/nodejs');
plan skip_all => 'no node with the package node-pg here'
  if system("NODE_PATH=$packaged node -e 'require(\"pg\")' >/dev/null 2>&1") != 0;

my $node = new_node('live');
$node->start;
install($node, 'postgres');
$node->safe_psql('postgres', q{
	SET client_min_messages = warning;
	SELECT lb_create_counter('points');
	SELECT lb_create_board('weekly', 'points', period => 'week', freshness => '1 hour');
	CREATE ROLE live_app LOGIN;
	GRANT EXECUTE ON FUNCTION lb_version, lb_page, lb_page_json, lb_rank, lb_submit TO live_app;
	SELECT count(*) FROM generate_series(1, 40) i, lb_submit('points', 'player ' || i, 9007199254740993 - i, 'k' || i);
	SELECT lb_refresh();
});
my $port = PostgreSQL::Test::Cluster::get_free_port();
my $base = "http://127.0.0.1:$port";
my ($out, $err) = ('', '');
my $server;
{
	local %ENV = (%ENV, NODE_PATH => $packaged, PGHOST => $node->host, PGPORT => $node->port, PGUSER => 'live_app',
		PGDATABASE => 'postgres', PORT => $port);
	$server = IPC::Run::start([ 'node', 'examples/live/server.js' ], '<', '/dev/null', '>', \$out, '2>', \$err);
}
END { $server->kill_kill if $server; }
my $http = HTTP::Tiny->new(timeout => 20);
for (1 .. 200)
{
	last if $http->get("$base/")->{success};
	select(undef, undef, undef, 0.05);
}

sub page
{
	my ($query) = @_;
	my $answer = $http->get("$base/page?$query");
	diag($answer->{content}) unless $answer->{success};
	return decode_json($answer->{content});
}

my $page = page('viewer=&newer_than=');
is(scalar(@{ $page->{rows} }), 15, 'a page');
is($page->{rows}[0]{value}, '9007199254740992', 'values are exact, as strings');
is($page->{rows}[1]{value}, '9007199254740991', 'each of them');
is(page("viewer=&newer_than=$page->{version}")->{rows}, undef, 'nothing newer');
isnt(page('viewer=&newer_than=' . ($page->{version} - 1))->{rows}, undef, 'newer than the one before');

my $played = $http->post("$base/play", { content => encode_json({ member => '<b>new</b>', key => 'one' }) });
is(decode_json($played->{content})->{status}, 'accepted', 'a game');
$played = $http->post("$base/play", { content => encode_json({ member => '<b>new</b>', key => 'one' }) });
is(decode_json($played->{content})->{status}, 'duplicate', 'counts once');
my $own = page('viewer=%3Cb%3Enew%3C/b%3E&newer_than=' . $page->{version});
is($own->{viewer}{kind}, 'exact', 'the own line is there before the round');
is($own->{viewer}{rank}, '41', 'at its place');
is(page('viewer=other&newer_than=')->{viewer}{kind}, 'unranked', 'somebody else is not');

# A round is one event.
my $listening = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port") or die "no connection: $!";
print $listening "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n";
my $heard = '';
sub hear
{
	my ($what) = @_;
	for (1 .. 400)
	{
		return 1 if $heard =~ $what;
		$listening->sysread($heard, 10000, length $heard) if IO::Select->new($listening)->can_read(0.05);
	}
	return 0;
}
ok(hear(qr{text/event-stream.*retry: 1000}s), 'a stream of events');
$node->safe_psql('postgres', 'SELECT lb_refresh()');
my $version = $node->safe_psql('postgres', q{SELECT version FROM lb_version('weekly')});
ok(hear(qr/^data: $version$/m), 'a round is told');
$node->safe_psql('postgres', q{SELECT lb_refresh(); SELECT lb_submit('points', 'player 1', 1, 'next'); SELECT lb_refresh()});
$version = $node->safe_psql('postgres', q{SELECT version FROM lb_version('weekly')});
ok(hear(qr/^data: $version$/m), 'and the next');
is(scalar(() = $heard =~ /^data: \d/mg), 2, 'one event each, none of a round without news');
close($listening);

SKIP:
{
	my $browser = Browser->new(size => '800,820', dark => $ENV{LB_DARK}) or skip 'no chromium with chromium-driver here', 1;
	$browser->go("$base/");
	ok($browser->wait_for("document.querySelectorAll('#rows li').length == 15"), 'the page shows the board');
	ok($browser->wait_for("document.getElementById('light').className == 'live'"), 'and is live');
	is($browser->script("return document.querySelector('#rows .value').textContent"), '9,007,199,254,740,993', 'exact there too');

	$node->safe_psql('postgres', q{SELECT lb_submit('points', 'player 30', 1000, 'up'); SELECT lb_refresh()});
	ok($browser->wait_for("document.querySelector('#rows .member').textContent == 'player 30'"), 'a round moves it by itself');

	# One's own game, before any round.
	$browser->script(q{document.getElementById('name').value = '<i>me</i>'; document.querySelector('button').click(); return 1});
	ok($browser->wait_for("document.querySelector('#below li.own')"), 'the own line is there at once');
	is($browser->script("return document.querySelector('#below .member').textContent"), '<i>me</i>', 'names are text');
	like($browser->script("return document.querySelector('#below .rank').textContent"), qr/^4[12]$/, 'behind the others');
	$node->safe_psql('postgres', q{SELECT lb_submit('points', '<i>me</i>', 9100000000000000, 'lucky')});
	$node->safe_psql('postgres', q{SELECT lb_refresh()});
	ok($browser->wait_for("document.querySelector('#rows li.own .rank')?.textContent == '1'"), 'and first after a round');

	# The server's listening connection is lost: nothing stays unseen.
	$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'});
	$node->safe_psql('postgres', q{SELECT lb_submit('points', 'player 29', 9200000000000000, 'unheard'); SELECT lb_refresh()});
	ok($browser->wait_for("document.querySelector('#rows .member').textContent == 'player 29'"), 'a round that nobody heard is seen');
	$browser->quit;
}
is(join('', grep { !/terminat/ } split /^/, $err), '', 'the server has no complaints');
$node->safe_psql('postgres', 'SELECT lb_refresh()');
$server->kill_kill;
undef $server;
no_violations($node, 'postgres', 'the board says what the log says');
$node->stop;

done_testing();
