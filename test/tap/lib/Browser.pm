# A headless Chromium, driven by chromedriver over its HTTP protocol.
package Browser;

use strict;
use warnings;

use HTTP::Tiny;
use IPC::Run;
use JSON::PP;
use MIME::Base64;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

# Nothing where there is no Chromium, or no driver for it.
sub new
{
	my ($class, %options) = @_;
	for my $program ('chromium', 'chromedriver')
	{
		return if system("command -v $program >/dev/null 2>&1") != 0;
	}
	my $room = PostgreSQL::Test::Utils::tempdir();
	my $port = PostgreSQL::Test::Cluster::get_free_port();
	local %ENV = (%ENV, HOME => $room, XDG_CONFIG_HOME => $room, XDG_CACHE_HOME => $room);
	my $run = IPC::Run::start([ 'chromedriver', "--port=$port", '--silent' ], '<', '/dev/null', '>', "$room/out", '2>', "$room/err");
	my $self = bless { run => $run, base => "http://127.0.0.1:$port", http => HTTP::Tiny->new(timeout => 60) }, $class;
	for (1 .. 200)
	{
		last if $self->{http}->get("$self->{base}/status")->{success};
		select(undef, undef, undef, 0.05);
	}
	# The page is our own and the network is not there: no sandbox, which a
	# container would not let it have.
	my $session = $self->command('POST', '/session', { capabilities => { alwaysMatch => { 'goog:chromeOptions' => { args => [
		'--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--hide-scrollbars',
		"--user-data-dir=$room/profile", '--window-size=' . ($options{size} // '800,900'),
		$options{dark} ? '--blink-settings=preferredColorScheme=0' : ()] } } } });
	$self->{base} .= "/session/$session->{sessionId}";
	return $self;
}

sub command
{
	my ($self, $method, $path, $body) = @_;
	my $answer = $self->{http}->request($method, $self->{base} . $path,
		$body ? { content => encode_json($body), headers => { 'Content-Type' => 'application/json' } } : {});
	die "$path: $answer->{status} $answer->{content}" unless $answer->{success};
	return decode_json($answer->{content})->{value};
}

sub go { my ($self, $url) = @_; return $self->command('POST', '/url', { url => $url }); }

# What a function's body returns.
sub script
{
	my ($self, $body) = @_;
	return $self->command('POST', '/execute/sync', { script => $body, args => [] });
}

# Whether an expression comes true within a while.
sub wait_for
{
	my ($self, $expression) = @_;
	for (1 .. 400)
	{
		return 1 if $self->script("return Boolean($expression)");
		select(undef, undef, undef, 0.05);
	}
	return 0;
}

sub screenshot
{
	my ($self, $path) = @_;
	open(my $file, '>:raw', $path) or die "$path: $!";
	print $file decode_base64($self->command('GET', '/screenshot'));
	close($file);
	return;
}

sub quit
{
	my ($self) = @_;
	eval { $self->command('DELETE', '') };
	$self->{run}->signal('TERM');
	IPC::Run::finish($self->{run});
	return;
}

1;
