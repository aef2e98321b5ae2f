#!/usr/bin/perl
# The table of widths of the line "width".
#
#   widths.pl RESULTS BUCKETS...                    print it
#   widths.pl --into README.md RESULTS BUCKETS...   put it there, between the marks
use strict;
use warnings;
use utf8;
use open qw(:std :encoding(UTF-8));

my $into;
if ($ARGV[0] eq '--into')
{
	(undef, $into) = splice @ARGV, 0, 2;
}
my ($results, @buckets) = @ARGV;

my (%width, @kinds);
open my $in, '<', $results or die "$results: $!\n";
while (<$in>)
{
	chomp;
	my ($line, $x, $who, undef, $metric, $value) = split /\t/;
	next unless $line eq 'width' && $metric =~ s/^(fit_)?((?:ranks|points)\d+)$/$2/;
	$who .= ', fitting ceiling' if $1;
	push @kinds, $who unless $width{$who};
	$width{$who}{$metric}{$x} = $value;
}
close $in;

sub number
{
	my ($n) = @_;
	return $n == 0 ? '0' : $n < 1 ? sprintf '%.2f', $n : sprintf '%.1f', $n;
}

# A cell: percentile points, and ranks in brackets.
sub cell
{
	my ($kind, $part, $x) = @_;
	my $of = $width{$kind};
	my $ranks = $of->{"ranks$part"}{$x};
	1 while $ranks =~ s/^(\d+)(\d{3})/$1,$2/;
	return number($of->{"points$part"}{$x}) . " ($ranks)";
}

my $table = '| values | |' . join('', map { " $_ |" } @buckets) . "\n|---|---|" . '---:|' x @buckets . "\n";
for my $kind (@kinds)
{
	$table .= "| $kind | median |" . join('', map { ' ' . cell($kind, 50, $_) . ' |' } @buckets) . "\n";
	$table .= '| | 99 % |' . join('', map { ' ' . cell($kind, 99, $_) . ' |' } @buckets) . "\n";
}

if (!$into)
{
	print $table;
	exit;
}
local $/;
open my $old, '<', $into or die "$into: $!\n";
my $text = <$old>;
close $old;
$text =~ s/(<!-- widths -->\n).*?(<!-- end of widths -->)/$1\n$table\n$2/s or die "$into has no marks for the widths\n";
open my $new, '>', $into or die "$into: $!\n";
print $new $text;
close $new;
