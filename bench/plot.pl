#!/usr/bin/perl
# Draw one picture of the benchmark.
#
#   plot.pl RESULTS OUT.svg LINE METRIC TITLE XLABEL YLABEL log|linear log|linear
#
# One curve a contestant, in the order in which they were entered: medians,
# with a bar from the least to the greatest of the turns.
use strict;
use warnings;
use utf8;
use open qw(:std :encoding(UTF-8));

binmode STDOUT;
my ($results, $out, $line, $metric, @labels) = @ARGV;
utf8::decode($_) for @labels;
my ($title, $xlabel, $ylabel, $xscale, $yscale) = @labels;

# Okabe and Ito's colours, which the colour-blind can tell apart.
my @colours = map { "#$_" } qw(0072b2 d55e00 009e73 cc79a7 e69f00 56b4e9 555555);
my ($width, $height) = (760, 460);
my ($left, $right, $bottom) = (92, 24, 62);

my (%values, @names);
open my $in, '<', $results or die "$results: $!\n";
while (<$in>)
{
	chomp;
	my ($l, $x, $who, undef, $m, $value) = split /\t/;
	next unless $l eq $line && $m eq $metric;
	push @names, $who unless $values{$who};
	push @{ $values{$who}{$x} }, $value;
}
close $in;
die "no figures of $line\n" unless @names;

# x => [least, median, greatest]
my %curves;
for my $who (@names)
{
	for my $x (keys %{ $values{$who} })
	{
		my @v = sort { $a <=> $b } @{ $values{$who}{$x} };
		$curves{$who}{$x} = [ $v[0], ($v[ $#v / 2 ] + $v[ @v / 2 ]) / 2, $v[-1] ];
	}
}

sub log10 { return log($_[0]) / log(10); }

# The ends and the ticks of an axis, [value, whether it has a label].
sub axis
{
	my ($scale, $min, $max) = @_;
	my @ticks;

	if ($scale eq 'log')
	{
		$min = 1e-3 if $min <= 0;
		my $low = int(1000 + log10($min) + 1e-9) - 1000;
		my $high = -int(1000 - log10($max) + 1e-9) + 1000;
		$high = $low + 1 if $high <= $low;
		for my $e ($low .. $high)
		{
			push @ticks, [ 10**$e, 1 ];
			push @ticks, map { [ $_ * 10**$e, 0 ] } 2 .. 9 if $e < $high;
		}
		return (10**$low, 10**$high, \@ticks);
	}
	$min = 0 if $min > 0;
	$max = $min + 1 if $max <= $min;
	my $step = 10**int(log10($max - $min));
	for my $part (0.2, 0.25, 0.5, 1, 2)
	{
		next if ($max - $min) / ($step * $part) > 6;
		$step *= $part;
		last;
	}
	my $top = $min;
	while ($top < $max + $step * 0.05)
	{
		push @ticks, [ $top, 1 ];
		$top += $step;
	}
	push @ticks, [ $top, 1 ];
	return ($min, $top, \@ticks);
}

# Log axes of x end at the figures themselves, not at a power of ten.
my @xs = map { keys %$_ } values %curves;
my @ys = map { map { @$_ } values %$_ } values %curves;
@xs = sort { $a <=> $b } @xs;
@ys = sort { $a <=> $b } @ys;
my ($xmin, $xmax, $xticks) = axis($xscale, $xs[0], $xs[-1]);
my ($ymin, $ymax, $yticks) = axis($yscale, $ys[0], $ys[-1]);
if ($xscale eq 'log')
{
	($xmin, $xmax) = ($xs[0] / 1.25, $xs[-1] * 1.25);
	my %seen;
	@$xticks = grep { $_->[0] > $xmin && $_->[0] < $xmax } @$xticks;
	# Few decades: the figures' own places say more.
	$xticks = [ map { [ $_, 1 ] } grep { !$seen{$_}++ } @xs ] if $xs[-1] / $xs[0] < 100;
}

# The legend flows above the picture.
my @legend;
my ($lx, $ly) = (0, 0);
for my $who (@names)
{
	my $text = $who;
	utf8::decode($text) unless utf8::is_utf8($text);
	my $w = 34 + (@legend ? 6.6 : 7.4) * length $text;
	($lx, $ly) = (0, $ly + 20) if $lx > 0 && $lx + $w > $width - $left - $right;
	push @legend, [ $lx, $ly, $text ];
	$lx += $w + 16;
}
my $top = 66 + $ly + 20;
$height += $ly;

sub place
{
	my ($scale, $min, $max, $from, $to, $value) = @_;
	if ($scale eq 'log')
	{
		$value = $min if $value < $min;
		($min, $max, $value) = map { log10($_) } $min, $max, $value;
	}
	return $from + ($to - $from) * ($value - $min) / ($max - $min);
}
sub px { return place($xscale, $xmin, $xmax, $left, $width - $right, $_[0]); }
sub py { return place($yscale, $ymin, $ymax, $height - $bottom, $top, $_[0]); }

sub number
{
	my ($n) = @_;
	return sprintf '%g M', $n / 1e6 if $n >= 1e6;
	return sprintf '%g', $n if $n < 1000;
	$n = sprintf '%.0f', $n;
	1 while $n =~ s/^(\d+)(\d{3})/$1,$2/;
	return $n;
}

sub escape
{
	my ($text) = @_;
	$text =~ s/&/&amp;/g;
	$text =~ s/</&lt;/g;
	return $text;
}

my @svg;
my $n = sub { return join ' ', map { sprintf '%.1f', $_ } @_; };
sub element { push @svg, sprintf(shift, @_); return; }

element('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="Helvetica, Arial, \'DejaVu Sans\', sans-serif" font-size="13" fill="#222">',
	$width, $height, $width, $height);
element('<title>%s</title>', escape($title));
element('<rect width="100%%" height="100%%" fill="#fff"/>');
element('<text x="%d" y="30" font-size="17" font-weight="600">%s</text>', $left, escape($title));

for my $tick (@$yticks)
{
	my ($value, $labelled) = @$tick;
	element('<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="%s"/>',
		$left, $width - $right, py($value), py($value), $labelled ? '#d8d8d8' : '#f1f1f1');
	element('<text x="%d" y="%.1f" text-anchor="end">%s</text>', $left - 8, py($value) + 4.5, number($value))
	  if $labelled;
}
for my $tick (@$xticks)
{
	my ($value, $labelled) = @$tick;
	element('<line x1="%.1f" x2="%.1f" y1="%d" y2="%d" stroke="#888"/>',
		px($value), px($value), $height - $bottom, $height - $bottom + ($labelled ? 6 : 3));
	element('<text x="%.1f" y="%d" text-anchor="middle">%s</text>', px($value), $height - $bottom + 21, number($value))
	  if $labelled;
}
element('<line x1="%d" x2="%d" y1="%d" y2="%d" stroke="#888"/>',
	$left, $width - $right, $height - $bottom, $height - $bottom);
element('<text x="%d" y="%d" text-anchor="middle" fill="#444">%s</text>',
	($left + $width - $right) / 2, $height - 16, escape($xlabel));
element('<text transform="translate(22 %d) rotate(-90)" text-anchor="middle" fill="#444">%s</text>',
	($top + $height - $bottom) / 2, escape($ylabel));

# Ours is drawn last and boldest.
for my $i (reverse 0 .. $#names)
{
	my $curve = $curves{ $names[$i] };
	my $colour = $colours[ $i % @colours ];
	my @x = sort { $a <=> $b } keys %$curve;
	my $first = $i == 0;

	element('<g stroke="%s" fill="none" stroke-width="%s">', $colour, $first ? 3 : 1.8);
	element('<polyline stroke-linejoin="round" points="%s"/>',
		join(' ', map { sprintf '%.1f,%.1f', px($_), py($curve->{$_}[1]) } @x))
	  if @x > 1;
	# One that was measured at one place only is the same everywhere.
	element('<line stroke-dasharray="5 5" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>',
		$left, $width - $right, py($curve->{ $x[0] }[1]), py($curve->{ $x[0] }[1]))
	  if @x == 1;
	for my $x (@x)
	{
		my ($low, $middle, $high) = @{ $curve->{$x} };
		element('<path stroke-width="1.2" d="M%s V%s"/>', $n->(px($x), py($low)), $n->(py($high)));
		element('<circle cx="%.1f" cy="%.1f" r="%s" fill="%s" stroke="#fff" stroke-width="1.2"/>',
			px($x), py($middle), $first ? 5 : 4, $colour);
	}
	element('</g>');
}
for my $i (0 .. $#legend)
{
	my ($x, $y, $text) = @{ $legend[$i] };
	my $colour = $colours[ $i % @colours ];

	($x, $y) = ($left + $x, 56 + $y);
	element('<line x1="%.1f" x2="%.1f" y1="%d" y2="%d" stroke="%s" stroke-width="%s"/><circle cx="%.1f" cy="%d" r="4" fill="%s"/>',
		$x, $x + 24, $y, $y, $colour, $i == 0 ? 3 : 1.8, $x + 12, $y, $colour);
	element('<text x="%.1f" y="%.1f"%s>%s</text>', $x + 31, $y + 4.5, $i == 0 ? ' font-weight="600"' : '', escape($text));
}
element('</svg>');

open my $file, '>', $out or die "$out: $!\n";
print $file join("\n", @svg), "\n";
close $file or die "$out: $!\n";
