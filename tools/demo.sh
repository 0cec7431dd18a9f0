#!/bin/sh
# Builds, records the bundled example program, and prints reports of the whole run and of a part of it.
set -eu
cd "$(dirname "$0")/.."

CTX_TARGETS="ctxrec ctxan phases" tools/build.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PATH=$PWD/build/bin:$PWD/build/bin/examples:$PATH
cd "$work"

show() {
	printf '\n$ %s\n' "$*"
	"$@"
}

show ctxrec -o phases.er -- phases
show ctxan phases.er --report tree --min-percent 1
show ctxan phases.er --report tree --interval 300:700 --min-percent 1
show ctxan phases.er --report timeline
