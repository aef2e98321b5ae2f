#!/usr/bin/perl
# Run TAP producers of one kind and write "passed failed skipped" to a file.
#
#   harness.pl guard|pgtap|tap COUNTS FILE...
#
# prove and pg_prove, but counting what happened: a script that dies, breaks
# its plan or tests nothing is one failure more.  Each pgTAP script gets a
# database of its own, made from the template that test/run prepared, so that
# one that commits does not disturb the next.
use strict;
use warnings;

use File::Basename qw(basename);
use TAP::Harness;

my ($kind, $counts, @files) = @ARGV;
my ($passed, $failed, $skipped) = (0, 0, 0);

# Written after each file, so that a time-out leaves what was counted, with
# the file that hung as a failure.
sub save
{
	my ($hung) = @_;
	open(my $out, '>', $counts) or die "$counts: $!";
	print $out join(' ', $passed, $failed + $hung, $skipped), "\n";
	close($out) or die "$counts: $!";
}

sub options_of
{
	my ($file) = @_;
	if ($kind eq 'pgtap')
	{
		my $database = 'pgtap_' . basename($file, '.sql');
		my @to = ('-h', $ENV{LB_SOCKET}, '-U', 'postgres');
		system('createdb', @to, '-T', 'pgtap_template', $database) == 0
		  or die "no database for $file";
		return (sources => {
			pgTAP => {
				dbname => $database,
				host => $ENV{LB_SOCKET},
				username => 'postgres',
				suffix => '.sql',
			}
		});
	}
	return (exec => [ $file =~ /\.pl$/ ? 'perl' : 'bash' ]);
}

@files = grep { -e $_ } @files;
print "none is there yet\n" unless @files;
save(0);
for my $file (@files)
{
	save(1);
	my $harness = TAP::Harness->new(
		{ verbosity => $ENV{VERBOSE} ? 1 : 0, failures => 1, merge => 0,
			options_of($file) });
	my $result = $harness->runtests($file);

	my $bad = $result->failed;
	# What the assertions do not show: a bad plan, a death, no test at all.
	$bad ||= 1 if $result->has_problems || !$result->total && !$result->skipped;
	my $unreached = 0;
	$unreached = 1 if $bad == 0 && $result->exit;
	$passed += $result->passed - $result->skipped;
	$failed += $bad + $unreached;
	$skipped += $result->skipped;
	print "# $file: $_\n" for map { basename($_) . ' skipped an assertion' } $result->skipped ? ($file) : ();
	save(0);
}
exit($failed ? 1 : 0);
