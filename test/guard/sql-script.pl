#!/usr/bin/perl
# Laws of the install script: every routine says its volatility and its
# parallel safety, runs with a fixed search_path where it is SECURITY DEFINER,
# and every object that users see has a comment.
#
# The catalogue cannot tell a label left out from the default chosen on
# purpose, so this reads the text.
use strict;
use warnings;

use Test::More;

my $file = 'leaderboard--1.0.sql';
open(my $in, '<', $file) or BAIL_OUT("$file: $!");
my $text = do { local $/; <$in> };
close($in);

# One statement per element, with comments gone and quoted bodies emptied, so
# that what is found below is the script's own.
my @statements;
my $current = '';
while ($text =~ /\G(?: (--[^\n]*) | (\/\*.*?\*\/) | (\$(\w*)\$.*?\$\4\$) | ('(?:[^']|'')*') | (;) | ([^-\/\$';]+|.) )/gsx)
{
	if (defined $1 || defined $2) { $current .= ' ' }
	elsif (defined $3) { $current .= '$$' }
	elsif (defined $5) { $current .= length($5) > 2 ? "'x'" : "''" }
	elsif (defined $6) { push @statements, $current; $current = '' }
	else { $current .= $7 }
}
s/^\s*(?:\\echo[^\n]*\s*)?//, s/\s+/ /g for @statements;

sub none { my ($name, @bad) = @_; ok(!@bad, $name) or diag(join "\n", @bad) }

my (@no_volatility, @no_parallel, @no_path, @replace, %public, %commented);
for my $statement (@statements)
{
	push @replace, substr($statement, 0, 60) if $statement =~ /^CREATE OR REPLACE/i;
	if ($statement =~ /^COMMENT ON (?:FUNCTION|PROCEDURE|AGGREGATE|TYPE|VIEW|TABLE|SCHEMA|OPERATOR|CAST) (?:lb\.|\@extschema\@\.)?([\w.+-]+)/i)
	{
		$commented{lc $1} = 1;
	}
	next unless $statement =~ /^CREATE (?:OR REPLACE )?(FUNCTION|PROCEDURE|AGGREGATE|TYPE|VIEW) ([\w.@]+)/i;
	my ($kind, $name) = (uc $1, lc $2);
	(my $bare = $name) =~ s/^(?:\@extschema\@|lb)\.//;
	$public{$bare} = 1
	  if $bare !~ /^_/ && ($kind ne 'TYPE' || $statement !~ /^CREATE TYPE [\w.@]+$/i)
	  # The inner functions of a type belong to it.
	  && !($kind eq 'FUNCTION' && $bare =~ /_(in|out|recv|send|typmod|typmod_in|typmod_out)$/);

	if ($kind eq 'FUNCTION')
	{
		push @no_volatility, $name unless $statement =~ /\b(IMMUTABLE|STABLE|VOLATILE)\b/i;
		push @no_parallel, $name unless $statement =~ /\bPARALLEL (SAFE|RESTRICTED|UNSAFE)\b/i;
	}
	elsif ($kind eq 'AGGREGATE')
	{
		push @no_parallel, $name unless $statement =~ /\bPARALLEL\s*=\s*(SAFE|RESTRICTED|UNSAFE)\b/i;
	}
	if ($kind =~ /FUNCTION|PROCEDURE/ && $statement =~ /SECURITY DEFINER/i)
	{
		push @no_path, $name
		  unless $statement =~ /SET search_path (?:=|TO) pg_catalog, lb, pg_temp/i
		  || $statement =~ /LANGUAGE C\b|LANGUAGE 'x'/i;
	}
}

none('no OR REPLACE in the install script', @replace);
none('every function says its volatility', @no_volatility);
none('every function and aggregate says whether it is parallel safe', @no_parallel);
none('every SECURITY DEFINER routine not in C fixes its search_path', @no_path);
none('every public object has a comment', grep { !$commented{$_} } sort keys %public);
done_testing();
