# Folded stacks, callgrind and pprof of kept recordings: what other tools read in our exports is what ctxan reports (exports_tools.py).
. "$(dirname "$0")/../common.sh" "$@"
need python3 jq xz

command -v callgrind_annotate >/dev/null 2>&1 || leave_out "callgrind_annotate (valgrind) is not installed: callgrind files are not read"
command -v go >/dev/null 2>&1 || leave_out "go is not installed: pprof files are not read"
# pprof keeps files, and looks for programs, where the user has none of them.
PPROF_TMPDIR=$HOME
export PPROF_TMPDIR

check() {
	python3 "$source_dir/tests/flow/exports_tools.py" "$@" || fail "$*"
}

unpack recordings/hostile_names recordings/phases

# Names that look like a line of the formats, in a program whose functions call each other in circles.
check hostile_names.er
ctxan -q hostile_names.er --format json -r functions >functions.json || fail "functions of hostile_names"
for name in '(1)' '(2) x' 'calls=7 0' '<Total>' 'a;b c' 'totals: 5' 'f(int, char)::g<x>' 'fn=(3)' "a<b>&'quoted'" 'a`b'; do
	jq -e --arg name "$name" 'any(.rows[]; .function == $name and .object != null)' functions.json >/dev/null ||
		fail "the recording has no function $name"
done

# Threads, intervals, two metrics; a recursion; names that two objects have.
check phases.er -- -i 300:700 -- -i 10%:20% -i 1500: -- --thread 1,2 -- --metric page-faults

# Inlined functions, lines, addresses of which some are hidden.
unpack answers/code
check code.er -- --hide 'root_sum' -- --fold-object libc

# What a format cannot hold is said, and nothing is said with -q.
for kind in pprof callgrind; do
	expect 0 "^ctxan: $kind: this format has no time" ctxan phases.er --export $kind -o said
	expect 0 '' ctxan -q phases.er --export $kind -o said
	[ ! -s err.txt ] || fail "$kind: -q says $(cat err.txt)"
done
expect 0 'threads are added up' ctxan phases.er --export callgrind -o said
ctxan phases.er --export callgrind --thread 1 -o said 2>err.txt || fail "one thread"
grep -q 'threads' err.txt && fail "one thread: $(cat err.txt)"

# The same again: the same bytes.
for kind in folded pprof callgrind; do
	ctxan -q phases.er --export $kind -o first && ctxan -q phases.er --export $kind -o second && cmp first second || fail "$kind: other bytes"
done

# An interval without samples is a file that its tool opens.
for kind in pprof callgrind; do
	ctxan -q phases.er --export $kind -i 0ns:1ns -o empty.$kind || fail "empty: $kind"
done
if command -v go >/dev/null 2>&1; then
	go tool pprof -top empty.pprof >out.txt 2>err.txt || fail "empty: pprof: $(cat err.txt)"
	grep -q 'of 0 total' out.txt || fail "empty: pprof: $(cat out.txt)"
fi
if command -v callgrind_annotate >/dev/null 2>&1; then
	callgrind_annotate empty.callgrind >out.txt 2>err.txt || fail "empty: callgrind_annotate: $(cat err.txt)"
	[ ! -s err.txt ] || fail "empty: callgrind_annotate says $(cat err.txt)"
fi
finish
