# Many short processes: the first four have a directory, the others are in common files; each is whole, wherever it is.
. "$(dirname "$0")/../common.sh" "$@"
need jq
need_perf
programs=$build/bin/examples

ctxrec -q --budget off --no-archive -m 8M -o many.er -- "$programs/fork_naps" 300 2>many.err || fail "recording: $(head -c 300 many.err)"
[ "$(find many.er -mindepth 1 -type d | wc -l)" -le 4 ] || fail "directories: $(ls many.er | head -c 300)"
[ "$(find many.er -type f | wc -l)" -le 40 ] || fail "files: $(find many.er -type f | wc -l)"
[ "$(du -sk many.er | cut -f1)" -le 2500 ] || fail "du: $(du -sk many.er)"
lost=$(ctxan -q many.er -r header --format json | jq .lost_samples)
images=$(ctxan -q many.er -r processes --format json --limit 0 | jq '[.rows[].images[]] | length')
[ "$lost" != 0 ] || [ "$images" = 331 ] || fail "$images processes and images, nothing lost"

# naps LINEAGE FUNCTION: it has this function in the stacks of its waits.
naps() {
	ctxan -q "many.er/$1.er" -r functions --metric wall --limit 0 >naps.txt 2>naps.err || fail "$1: $(head -c 300 naps.err)"
	grep -qw "$2" naps.txt || fail "$1: no $2: $(head -c 800 naps.txt)"
}
if ctxan -q many.er -r header | grep -q '^states  *full' && [ "$lost" = 0 ]; then
	naps _f3 nap_of_child
	[ -e many.er/_f200.er ] && fail "_f200 has a directory"
	for lineage in _f40 _f200 _f299; do
		naps $lineage nap_of_child
	done
	naps _f200_x1 nap_of_image
else
	leave_out "stacks of waits need states full, and nothing lost: $(ctxan -q many.er -r header | sed -n 's/^states  *//p'), $lost lost"
fi

# A large log is packed when the recording is closed; unpacked by hand it is the same.
ctxrec -q --no-archive --unwind none --states off -o packed.er -- sh -c 'i=0; while [ $i -lt 1500 ]; do (:); i=$((i + 1)); done'
cp -r packed.er plain.er
if [ -e packed.er/log.xml ]; then
	[ "$(wc -c <packed.er/log.xml)" -lt 131072 ] || fail "a log of $(wc -c <packed.er/log.xml) bytes is not packed: $(ls packed.er)"
elif zstd --version >/dev/null 2>&1; then
	zstd -dq --rm plain.er/log.xml.zst || fail "zstd -d: $(ls plain.er)"
	[ "$(wc -c <plain.er/log.xml)" -ge 131072 ] && [ "$(wc -c <packed.er/log.xml.zst)" -lt 65536 ] || fail "packed: $(ls -l plain.er packed.er)"
	for experiment in plain packed; do
		ctxan -q $experiment.er -r processes --format json --limit 0 | jq -S .rows >$experiment.json
	done
	cmp plain.json packed.json || fail "the packed log says something else than the plain one"
	[ "$(jq length packed.json)" -ge 1000 ] || fail "$(jq length packed.json) processes of a log that was packed"
else
	leave_out "zstd is not installed"
fi

# A process costs the recorder one look at its namespace while it exists, and none when it has gone.
if strace -V >/dev/null 2>&1 && strace -qq -o looks.txt -e trace=%stat,%file,kill "$bin/ctxrec" -q --no-archive -o looks.er -- "$programs/fork_naps" 100 2>looks.err; then
	images=$(ctxan -q looks.er -r processes --format json --limit 0 | jq '[.rows[].images[]] | length')
	looks=$(grep -c '"/proc/[0-9a-z]*/\(ns/pid\|status\)"' looks.txt)
	asked=$(grep -c '^kill([0-9]*, 0)' looks.txt)
	gone=$(grep '^kill([0-9]*, 0)' looks.txt | grep -c ESRCH)
	[ "$asked" -ge 100 ] || fail "strace saw $asked processes asked for"
	[ "$looks" -le $((asked - gone + 20)) ] || fail "$looks looks at namespaces of $((asked - gone)) processes that existed"
	[ "$looks" -le $((images + 20)) ] || fail "$looks looks at namespaces of $images processes and images"
else
	leave_out "no strace, or it may not trace: $(head -c 200 looks.err 2>/dev/null)"
fi
finish
