#!/bin/sh
# What recording every heap operation, and every input and output, costs, beside heaptrack, gprofng and valgrind in the same run: ns for a malloc and its free, CPU time of
# a compiler, bytes on disk; and what recording locks costs where they are free. Prints the tables of bench/results/collectors.md.
#   bench/collectors.sh BUILD_DIR [ROUNDS]
set -eu
build=$(cd "$1" && pwd)
rounds=${2:-5}
source=$(cd "$(dirname "$0")/.." && pwd)
PATH=$build/bin:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cc -O2 -o pairs "$source/bench/pairs.c"
cc -O2 -o locks "$source/bench/locks.c" -pthread
cc1=$(cc -print-prog-name=cc1)
cc -O2 -E -D_GNU_SOURCE -I"$source" -o input.i "$source/ingest/ingest_events.c"
compile="$cc1 -quiet -O2 input.i -o output.s"

# run RECORDER COMMAND...: COMMAND's output alone; what is recorded is in `out`
run() {
	recorder=$1
	shift
	rm -rf out out.*
	case $recorder in
	bare) "$@" ;;
	ctxrec) ctxrec -q --no-archive --states off -F 49 -o out.er --heap --trace-full wait -- "$@" ;;
	off) LD_PRELOAD=$build/bin/libctxrt.so "$@" ;;
	sampled) ctxrec -q --no-archive --states off -F 49 -o out.er --heap-sample 512k -- "$@" ;;
	samples) ctxrec -q --no-archive --states off -F 49 -o out.er -- "$@" ;;
	heaptrack) heaptrack -o out "$@" 2>&1 | sed -n '/^[0-9.]* [0-9.]*$/p' ;;
	gprofng) gprofng collect app -H on -p off -o out.er "$@" 2>&1 | sed -n '/^[0-9.]* [0-9.]*$/p' ;;
	valgrind) valgrind -q "$@" ;;
	sync) ctxrec -q --no-archive --states off -F 49 -o out.er --sync -- "$@" ;;
	sync-all) ctxrec -q --no-archive --states off -F 49 -o out.er --sync --sync-threshold all --trace-full wait -- "$@" ;;
	gprofng-sync) gprofng collect app -s on -p off -o out.er "$@" 2>&1 | sed -n '/^[0-9.]* [0-9.]*$/p' ;;
	gprofng-sync-all) gprofng collect app -s all -p off -o out.er "$@" 2>&1 | sed -n '/^[0-9.]* [0-9.]*$/p' ;;
	marks) ctxrec -q --no-archive --states off -F 49 -o out.er --marks --trace-full wait -- "$@" ;;
	io) ctxrec -q --no-archive --states off -F 49 -o out.er --io --trace-full wait -- "$@" ;;
	gprofng-io) gprofng collect app -i on -p off -o out.er "$@" 2>&1 | sed -n '/^[0-9.]* [0-9.]*$/p' ;;
	strace) strace -f -o out "$@" ;;
	esac
}
is_ours() { case $1 in bare | off | samples | sampled) ;; *) false ;; esac; }
middle() { sort -n | awk '{ v[NR] = $1 } END { printf "%s %s\n", v[1], v[int((NR + 1) / 2)] }'; }

echo '| recorder | ns, 12 frames: least | median | ns, 44 frames: least | median |'
echo '|---|---:|---:|---:|---:|'
for recorder in bare off samples sampled ctxrec heaptrack gprofng valgrind; do
	command -v "$recorder" >/dev/null 2>&1 || is_ours $recorder || continue
	for depth in 8 40; do
		for round in $(seq "$rounds"); do run $recorder ./pairs $depth 40 | cut -d' ' -f1; done | middle >"ns.$depth"
	done
	awk -v r=$recorder '{ a[NR] = $1; b[NR] = $2 } END { printf "| %s | %s | %s | %s | %s |\n", r, a[1], b[1], a[2], b[2] }' ns.8 ns.40
done
echo
echo '| recorder | ns for a pread of a byte: least | median | an open and its close | median | an fputs into a buffer | median |'
echo '|---|---:|---:|---:|---:|---:|---:|'
for recorder in bare samples ctxrec io gprofng-io strace; do
	command -v "${recorder%-io}" >/dev/null 2>&1 || case $recorder in gprofng-io | strace) continue ;; esac
	for what in pread open fputs; do
		n=40
		[ $recorder != strace ] || n=2
		for round in $(seq "$rounds"); do run $recorder ./pairs 8 $n $what | cut -d' ' -f1; done | middle
	done | awk -v r=$recorder '{ t = t " | " $1 " | " $2 } END { print "| " r t " |" }'
done
echo
echo '| recorder | ns for an interval, two calls of ctx_trace.h, 12 frames: least | median | 44 frames | median |'
echo '|---|---:|---:|---:|---:|'
for recorder in bare off marks; do
	for depth in 8 40; do
		for round in $(seq "$rounds"); do run $recorder ./pairs $depth 40 marks | cut -d' ' -f1; done | middle
	done | awk -v r=$recorder '{ t = t " | " $1 " | " $2 } END { print "| " r t " |" }'
done
echo
echo '| recorder | CPU s of cc1 and the recorder: least | median | bytes on disk |'
echo '|---|---:|---:|---:|'
for recorder in bare off samples sampled ctxrec heaptrack gprofng valgrind; do
	command -v "$recorder" >/dev/null 2>&1 || is_ours $recorder || continue
	for round in $(seq "$rounds"); do
		(run $recorder $compile >/dev/null 2>&1; times >cpu)
		tail -n 1 cpu | awk '{ split($1, u, /[ms]/); split($2, s, /[ms]/); print u[1] * 60 + u[2] + s[1] * 60 + s[2] }'
	done >all
	case $recorder in
	heaptrack) run heaptrack $compile >/dev/null 2>&1; bytes=$(cat out* | wc -c) ;;
	gprofng) run gprofng $compile >/dev/null 2>&1; bytes=$(find out.er -type f -name 'data.*' -exec cat {} + | wc -c) ;;
	ctxrec) run ctxrec $compile; bytes=$(cat out.er/heaptrace out.er/frameinfo | wc -c) ;;
	*) bytes= ;;
	esac
	echo "| $recorder | $(middle <all | sed 's/ / | /') | $bytes |"
done
echo
echo '| recorder | ns, a free lock: least | median | ns, two within each other: least | median |'
echo '|---|---:|---:|---:|---:|'
for recorder in bare samples ctxrec sync sync-all gprofng-sync gprofng-sync-all; do
	case $recorder in
	gprofng*) command -v gprofng >/dev/null 2>&1 || continue ;;
	esac
	for round in $(seq "$rounds"); do run $recorder ./locks 20; done >all
	cut -d' ' -f1 all | middle >one
	cut -d' ' -f2 all | middle >two
	echo "| $recorder | $(sed 's/ / | /' one) | $(sed 's/ / | /' two) |"
done
