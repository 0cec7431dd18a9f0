#!/bin/sh
# Functions, files and lines of 10,000 addresses of a large C++ program, inlined calls included: time and memory of ours,
# llvm-symbolizer and addr2line, one after the other.
#
#	bench/symbols.sh BUILD [PROGRAM] >bench/results/symbols.md
#
# Without a program, one with some 380 MB is made: 90 files of C++ that are full of templates of the standard library
# (10 minutes of compiling).
set -eu
build=$(cd "${1:?usage: symbols.sh BUILD [PROGRAM]}" && pwd)
PATH=$build/bin:$build/bench:$PATH
source_dir=$(cd "$(dirname "$0")/.." && pwd)
program=${2-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ -z "$program" ]; then
	python3 "$source_dir/bench/gen_templates.py" 90 "$work"
	(cd "$work" && ls ./*.cc | xargs -n 1 -P "$(nproc)" g++ -std=c++17 -O2 -g -ffunction-sections -c)
	(cd "$work" && g++ -Wl,--build-id -o program ./*.o && rm -f ./*.o)
	program=$work/program
fi
symbolize --random 10000 --print-addresses "$program" >"$work/addresses"

# one NAME COMMAND...: a row with CPU seconds, peak MB, frames.
one() {
	name=$1
	shift
	rm -f "$work/figures"
	measure "$work/figures" sh -c 'out=$1; shift; exec "$@" >"$out" 2>/dev/null <"${out%/*}/addresses"' sh "$work/out" "$@" || true
	read -r cpu peak elapsed _ <"$work/figures" || true
	echo "| $name | $cpu | $elapsed | $peak | $(grep -c ':[0-9?]*' "$work/out" || true) |"
}

echo "# Symbolising 10,000 addresses"
echo
echo "Machine: $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), $(nproc) processors. Commit $(git -C "$source_dir" rev-parse --short HEAD)."
echo "Program: $(($(stat -c %s "$program") / 1000000)) MB, of it .debug_info $(size -A "$program" | awk '$1 == ".debug_info" { print int($2 / 1000000) }') MB."
echo "Addresses at random over the bytes of all functions, sorted. Method: bench/README.md."
echo
echo "| | CPU s | elapsed s | peak MB | lines with a place |"
echo "|---|---|---|---|---|"
one "ours" symbolize "$program"
one "llvm-symbolizer" llvm-symbolizer --inlines --functions=linkage --demangle --output-style=GNU -a -e "$program"
one "addr2line" timeout 600 addr2line -a -i -f -C -e "$program"
