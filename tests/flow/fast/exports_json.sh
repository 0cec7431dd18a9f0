# speedscope, Firefox and Chrome trace of kept recordings: what readers written from the formats' descriptions find in our exports is what ctxan reports
# (exports_json.py). The tools' own readers: flow.exports_readers.
. "$(dirname "$0")/../common.sh" "$@"
need python3 xz

# check RECORDING [METRIC]...
check() {
	recording=$1
	shift
	python3 "$source_dir/tests/flow/exports_json.py" "$recording" - "$@" || fail "$recording"
}

unpack recordings/phases recordings/execs
check phases.er page-faults
# Processes that execute programs keep their number: each program that a process runs is a process of its own in the files.
check execs.er

# What a format cannot hold is said, and nothing is said with -q.
for kind in speedscope firefox chrome-trace; do
	expect 0 "^ctxan: $kind: .*processors" ctxan phases.er --export $kind -o said.json
	expect 0 '' ctxan -q phases.er --export $kind -o said.json
	[ ! -s err.txt ] || fail "$kind: -q says $(cat err.txt)"
done
expect 0 'not a time' ctxan phases.er --export speedscope --metric page-faults -o said.json
finish
