#!/bin/sh
# Builds, records the bundled example program, and asks about the whole run and about a part of it.
set -eu
cd "$(dirname "$0")/.."

tools/build.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bin=$PWD/build/bin
cd "$work"

say() {
	printf '\n$ %s\n' "$*"
}

say "ctxrec -o phases.er -- phases"
"$bin/ctxrec" -o phases.er -- "$bin/examples/phases"
say "ctxan phases.er --report tree"
"$bin/ctxan" phases.er --report tree --min-percent 1
say "ctxan phases.er --report tree --interval 300:700"
"$bin/ctxan" phases.er --report tree --interval 300:700 --min-percent 1
say "ctxan phases.er --report timeline"
"$bin/ctxan" phases.er --report timeline
