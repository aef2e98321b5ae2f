#!/usr/bin/perl
# META.json is what the PGXN Meta Spec 1.0.0 asks for, and the version, the
# files and the names are the same in it, the control file and the Makefile.
use strict;
use warnings;

use JSON::PP;
use Test::More;

sub slurp { my ($f) = @_; open(my $in, '<', $f) or BAIL_OUT("$f: $!"); local $/; return <$in> }

my $meta = eval { decode_json(slurp('META.json')) };
ok($meta, 'META.json is JSON') or BAIL_OUT($@);
my ($version) = slurp('leaderboard.control') =~ /^default_version\s*=\s*'([^']+)'/m;
my ($comment) = slurp('leaderboard.control') =~ /^comment\s*=\s*'([^']+)'/m;

my $semver = qr/^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/;
ok(defined $meta->{$_} && length $meta->{$_}, "META.json has $_")
  for qw(name version abstract maintainer license provides meta-spec);
is($meta->{name}, 'leaderboard', 'its name');
like($meta->{version}, $semver, 'its version is a semantic one');
is($meta->{'meta-spec'}{version}, '1.0.0', 'it follows the Meta Spec 1.0.0');
is($meta->{license}, 'postgresql', 'the licence is PostgreSQL\'s');
is($meta->{version}, "$version.0", 'distribution and extension have one version');

my $provided = $meta->{provides}{leaderboard};
like($provided->{version}, $semver, 'the provided extension has a semantic version');
is($provided->{version}, $meta->{version}, 'which is the distribution\'s');
is($provided->{file}, "leaderboard--$version.sql", 'its file is the install script');
ok(-e $provided->{file}, 'which is there');
is($provided->{abstract}, $comment, 'its abstract is the control file\'s comment');
like(slurp('Makefile'), qr/^DATA = .*\Q$provided->{file}\E/m, 'the Makefile installs it');

# The keys that the specification knows; others start with x_.
my %known = map { $_ => 1 } qw(name version abstract maintainer license provides
  meta-spec description generated_by tags no_index prereqs release_status resources);
is_deeply([ grep { !$known{$_} && !/^x_/i } sort keys %$meta ], [], 'no unknown key');
ok(length($_) <= 255 && !m{[/\\[:cntrl:]]}, "tag \"$_\"") for @{ $meta->{tags} };
done_testing();
