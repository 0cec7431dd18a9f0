#!/usr/bin/perl
# Folds what `perf script` prints: one line for each distinct stack, "program;outermost;...;innermost COUNT".
#   perf script -i perf.data | bench/stackcollapse.pl >folded.txt
#
# The peer of bench/perfdata.sh. The usual script for this (stackcollapse-perf.pl) is not packaged; this one does
# the same work with its defaults: samples are counted, offsets and argument lists dropped, a function without a
# name is called after its object.
use strict;
use warnings;

my (%count, @stack, $program);

sub finish {
	$count{join(';', $program, reverse @stack)}++ if defined $program;
	@stack = ();
	undef $program;
}

while (my $line = <STDIN>) {
	chomp $line;
	if ($line eq '') {
		finish();
	} elsif ($line =~ /^\s*[0-9a-f]+ (.+) \((.*)\)$/) { # an address, a function, its object
		my ($function, $object) = ($1, $2);

		next unless defined $program;
		$function =~ s/\+0x[0-9a-f]+$//;
		if ($function eq '[unknown]') {
			$object =~ s{.*/}{};
			$function = $object eq '[unknown]' ? '[unknown]' : "[$object]";
		}
		$function =~ tr/;/:/;
		$function =~ s/\((?!anonymous namespace\)).*//;
		push @stack, $function;
	} elsif ($line =~ /^\s*(\S.*?)\s+\d+(?:\/\d+)?\s/) { # program, thread, ...
		finish(); # samples without a stack have no empty line between them
		($program = $1) =~ tr/ /_/;
	}
}
finish();
print "$_ $count{$_}\n" for sort keys %count;
