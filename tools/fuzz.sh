#!/bin/sh
# Runs one fuzz target for some time, from its corpus; prints its output only if it finds a failure. The failing input is added to the corpus.
#   tools/fuzz.sh SECONDS build-fuzz/bin/fuzz_NAME
set -eu
name=${2##*/}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if "$2" -max_total_time="$1" -rss_limit_mb=2048 -verbosity=0 -print_final_stats=0 -artifact_prefix="$PWD/" "$work" "fuzz/corpus/$name" >"$work/log" 2>&1; then
	echo "fuzz: $name ok"
else
	cat "$work/log"
	echo "fuzz: $name failed"
	exit 255 # makes xargs stop
fi
