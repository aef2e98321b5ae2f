#!/usr/bin/perl
# The table of ratios.
#
#   report.pl RESULTS CLAIMS                      print it
#   report.pl --into README.md HOW RESULTS CLAIMS put it there, between the
#                                                 marks, with date and how; a
#                                                 line that did not run stays
#
# A ratio is that of the medians; in brackets the least and the greatest ratio
# of turns of the same round.
use strict;
use warnings;
use utf8;
use open qw(:std :encoding(UTF-8));

my ($into, $how);
if ($ARGV[0] eq '--into')
{
	(undef, $into, $how) = splice @ARGV, 0, 3;
}
my ($results, $claims) = @ARGV;

sub rows
{
	my ($path) = @_;
	open my $in, '<', $path or die "$path: $!\n";
	my @rows = map { chomp; [ split /\t/ ] } <$in>;
	close $in;
	return @rows;
}

my %turns;		# line, metric, who, x => { round => value }
for my $row (rows($results))
{
	my ($line, $x, $who, $round, $metric, $value) = @$row;
	$turns{"$line\t$metric\t$who\t$x"}{$round} = $value;
}

sub median
{
	my @v = sort { $a <=> $b } @_;
	return ($v[ $#v / 2 ] + $v[ @v / 2 ]) / 2;
}

sub number
{
	my ($n) = @_;
	return sprintf '%.2g', $n if $n > 0 && $n < 1;
	return sprintf '%.1f', $n if $n < 100 && $n != int $n;
	$n = sprintf '%.0f', $n;
	1 while $n =~ s/^(\d+)(\d{3})/$1,$2/;
	return $n;
}

sub verdict
{
	my ($sense, $aim, $value) = @_;
	return ('', '') if $sense eq '-';
	my $met = $sense eq 'least' ? $value >= $aim : $value <= $aim;
	return (($sense eq 'least' ? '≥ ' : '≤ ') . $aim, $met ? 'yes' : '**no**');
}

sub table_row
{
	my ($line, $metric, $who, $x, $peer, $peer_x, $sense, $aim, $what) = @_;
	my $scale = $metric =~ s|/(\d+)$|| ? $1 : 1;
	my $ours = $turns{"$line\t$metric\t$who\t$x"} or return;
	my $theirs = $turns{"$line\t$metric\t$peer\t$peer_x"} or return;
	my ($mine, $other) = (median(values %$ours) / $scale, median(values %$theirs) / $scale);
	my $ratio = '';
	my $value = $mine;

	if ($other > 0 && $metric ne 'failures')
	{
		my @pairs = sort { $a <=> $b }
		  map { $ours->{$_} / $theirs->{$_} } grep { $theirs->{$_} } keys %$ours;
		$value = $mine / $other;
		$ratio = sprintf '%.2f', $value;
		$ratio .= sprintf ' (%.2f–%.2f)', @pairs[ 0, -1 ] if @pairs > 1;
	}
	my ($want, $met) = verdict($sense, $aim, $value);
	return '| ' . join(' | ', $what, $who, number($mine), $peer, number($other), $ratio, $want, $met) . " |\n";
}

my $head = "| what | ours | | peer | | ratio (range) | aim | met |\n|---|---|---:|---|---:|---|---|---|\n";
my %sections;
for my $claim (rows($claims))
{
	my $row = table_row(@$claim) // next;
	my $line = $claim->[0];
	$sections{$line} //= "**$line**" . ($into ? ', ' . today() . ", $how" : '') . "\n\n$head";
	$sections{$line} .= $row;
}

sub today
{
	my ($day, $month, $year) = (gmtime)[ 3, 4, 5 ];
	return sprintf '%04d-%02d-%02d', $year + 1900, $month + 1, $day;
}

# The sections in the order of the lines.
sub table
{
	my ($sections) = @_;
	my $folder = $0 =~ s|[^/]*$|lines|r;
	my @lines = map { m|([a-z]+)\.sh$| } sort glob "'$folder'/*.sh";
	return join "\n", map { $sections->{$_} // () } @lines;
}

if (!$into)
{
	print table(\%sections);
	exit;
}
open my $in, '<', $into or die "$into: $!\n";
my $text = do { local $/; <$in> };
close $in;
my ($before, $old, $after) =
  $text =~ /^(.*<!-- figures -->\n)(.*?)(<!-- end of figures -->.*)$/s
  or die "$into has no marks for the figures\n";
# A line that did not run keeps what it had.
my %kept = map { /^\*\*(\w+)\*\*/ ? ("$1" => $_ =~ s/\n+$/\n/r) : () } split /^(?=\*\*\w+\*\*)/m, $old;
open my $out, '>', $into or die "$into: $!\n";
print $out $before, "\n", table({ %kept, %sections }), "\n", $after;
close $out or die "$into: $!\n";
