# ctxrec --marks: what a program says of itself by ctx_trace.h, whose numbers are known; pauses; without ctxrec; killed in the middle.
. "$(dirname "$0")/../common.sh" "$@"
need jq
[ -e "$bin/libctxrt.so" ] || skip "the runtime is for x86-64"
need_perf

# Without ctxrec a program that has the header does the same, in whatever way it is linked; so does one that has switched it off.
for way in pie fixed noplt static off; do
	for what in all pause fork; do
		[ "$(marks_$way $what 2>&1)" = "done" ] || fail "marks_$way $what alone: $(marks_$way $what 2>&1)"
	done
done

# rows NAME SECTION KEYS: of -r marks, sorted.
rows() { ctxan "$1" -r marks --format json | jq -r ".rows[] | select(.section == \"$2\") | [$3] | map(tostring) | join(\" \")" | sort; }

cat >intervals.txt <<'END'
load 3 0 1
open 0 1 0
parse 3 0 0
request 3 0 0
token 6 0 0
END
for way in pie fixed noplt; do
	for option in --marks --io; do
		rm -rf run.er
		ctxrec -q -o run.er $option --trace-full wait -- marks_$way >out.txt 2>err.txt || fail "$way $option: exit status"
		[ "$(cat out.txt)" = "done" ] || fail "$way $option: another output: $(cat out.txt)"
		[ -s err.txt ] && fail "$way $option: messages: $(cat err.txt)"
		rows run.er interval .name,.count,.open,.unbegun >got.txt
		cmp -s intervals.txt got.txt || fail "$way $option: intervals: $(cat got.txt)"
		[ "$(rows run.er mark .name,.count | tr '\n' ,)" = "done 1,ready 1,tick 2," ] || fail "$way $option: marks: $(rows run.er mark .name,.count)"
		[ "$(rows run.er counter .name,.count,.min,.mean,.max,.last)" = "queue 5 -7 12.6 40 40" ] || fail "$way $option: counter: $(rows run.er counter .)"
		[ -z "$(rows run.er pause .count)" ] || fail "$way $option: a pause"
	done
	ctxan run.er -r io >/dev/null || fail "$way: no report io"
done

# Percentiles are in order, and none is longer than all of them together.
ctxan run.er -r marks --format json | jq -e '[.rows[] | select(.section == "interval" and .count > 0)
	| (.min_ns <= .p50_ns and .p50_ns <= .p99_ns and .p99_ns <= .max_ns and .max_ns <= .total_ns)] | all' >/dev/null || fail "durations are not in order"

# The stack of a mark is that of the function that called, which is inline code of the program: no frame of the library.
ctxan run.er -r marks --function parse --format json | jq -r '.rows[] | select(.section == "interval") | "\(.name) \(.count)"' | sort | tr '\n' , >got.txt
[ "$(cat got.txt)" = "parse 3,token 6," ] || fail "--function parse: $(cat got.txt)"

# Intervals by mark. The second "load" and the third are one in the other; each "parse" holds two tokens.
count() { ctxan run.er -r marks -i "$1" --format json | jq -r ".rows[] | select(.section == \"$2\" and .name == \"$3\") | .count"; }
[ "$(count mark:load interval token)" = 6 ] || fail "mark:load: $(count mark:load interval token)"
[ "$(count 'mark:load#2' interval load)" = 2 ] || fail "mark:load#2: $(count 'mark:load#2' interval load)"
[ "$(count 'mark:load#3' interval load)" = 1 ] || fail "mark:load#3: $(count 'mark:load#3' interval load)"
[ "$(count 'mark:parse#2' interval token)" = 2 ] || fail "mark:parse#2: $(count 'mark:parse#2' interval token)"
[ "$(count 'mark:parse#*' interval token)" = 6 ] || fail "mark:parse#*: $(count 'mark:parse#*' interval token)"
[ "$(count mark:ready..mark:tick counter queue)" = 5 ] || fail "mark:ready..mark:tick: $(count mark:ready..mark:tick counter queue)"
[ "$(count mark:ready..mark:tick mark tick)" = 1 ] || fail "mark:ready..mark:tick: $(count mark:ready..mark:tick mark tick)"
[ "$(count mark:tick.. mark tick)" = 2 ] || fail "mark:tick..: $(count mark:tick.. mark tick)"
[ "$(count ..mark:ready mark ready)" = 1 ] || fail "..mark:ready: $(count ..mark:ready mark ready)"
expect 1 "no mark 'lod'; there are: 'load'" ctxan run.er -r marks -i mark:lod
expect 1 "'load' is there 3 times" ctxan run.er -r marks -i 'mark:load#4'
expect 1 "the mark is a point" ctxan run.er -r marks -i mark:ready
ctxan run.er | grep -q '^ .*ctxan run.er -r marks$\|Next: ctxan run.er -r marks$' || fail "the first screen does not say where marks are: $(ctxan run.er)"
ctxan run.er -r timeline >line.txt || fail "no time line"
grep -q '^ *request  *=' line.txt || fail "no interval on the time line: $(cat line.txt)"

# A pause: what was allocated before it and freed in it is no leak, nor is what was moved in it; what was allocated in it is not there.
ctxrec -q -o pause.er --trace heap,sync,io --trace-full wait -- marks_pie pause >/dev/null 2>err.txt || fail "pause: exit status"
grep -q 'the program has paused the recording of heap, synchronisation, input and output 2 times (ctx_trace_pause)' err.txt || fail "pause: messages: $(cat err.txt)"
ctxan pause.er -r leaks --function allocate --format json | jq -r '.rows[] | select(.section == "total") | "\(.leaks) \(.leaked_bytes)"' >got.txt
[ "$(cat got.txt)" = "2 2069" ] || fail "leaks: $(cat got.txt)"
ctxan pause.er -r heap --function allocate --format json | jq -r '.rows[] | select(.section == "total") | "\(.allocations) \(.held)"' >got.txt
[ "$(cat got.txt)" = "20 16" ] || fail "heap: $(cat got.txt)"
[ "$(ctxan pause.er --sql "SELECT count(*) FROM traced WHERE kind = 'heap' AND size = 5000" --format csv | tail -n 1)" = 0 ] || fail "what was moved in the pause is there"
[ "$(rows pause.er pause .count,.open)" = "2 null" ] || fail "pauses: $(rows pause.er pause .count,.open)"
ctxan pause.er -r io --format json | jq -r '.rows[] | select(.section == "file" and .file == "/dev/zero") | "\(.opens) \(.reads) \(.read_bytes) \(.closes)"' >got.txt
[ "$(cat got.txt)" = "1 1 3 1" ] || fail "io: $(cat got.txt)"
ctxan pause.er -r timeline | grep -q '^ *paused  *x' || fail "no pause on the time line"
ctxan pause.er -r header 2>&1 | grep -q 'the program has paused the recording' || ctxan pause.er 2>&1 | grep -q 'has paused' || fail "no pause in the header"

# The same where allocations are sampled.
ctxrec -q -o sampled.er --heap-sample 1 -- marks_pie pause >/dev/null 2>&1 || fail "sampled: exit status"
ctxan sampled.er -r leaks --function allocate --format json | jq -r '.rows[] | select(.section == "total") | "\(.leaks)"' >got.txt
[ "$(cat got.txt)" = 2 ] || fail "sampled: leaks: $(cat got.txt)"

# A child that is forked in a pause is in one, until it resumes.
ctxrec -q -o fork.er --heap --trace-full wait -- marks_pie fork >/dev/null 2>&1 || fail "fork: exit status"
[ "$(rows fork.er pause .count)" = 2 ] || fail "fork: pauses: $(rows fork.er pause .count)"
ctxan fork.er -r heap --function allocate --format json | jq -r '.rows[] | select(.section == "total") | .allocations' >got.txt
[ "$(cat got.txt)" = 4 ] || fail "fork: allocations: $(cat got.txt)"
[ "$(rows fork.er mark .name,.count)" = "after 1" ] || fail "fork: marks"

# Killed in the middle: all that was said is there, and what had begun is open.
mkfifo ready
ctxrec -q -o killed.er --marks -- sh -c 'echo $$ >pid; exec marks_pie hang' >ready 2>/dev/null &
recorder=$!
read -r said <ready
[ "$said" = ready ] || fail "the program said: $said"
kill -9 "$(cat pid)"
wait $recorder
[ "$(rows killed.er interval .name,.count,.open | tr '\n' ,)" = "hang 0 1,parse 1 0,token 2 0," ] || fail "killed: $(rows killed.er interval .name,.count,.open)"
ctxan killed.er -r marks -i mark:hang >/dev/null || fail "an interval that is open is not to be selected"

# A program that runs already: what it says from then on.
marks_fixed steps >/dev/null &
program=$!
ctxrec -q -o attached.er --marks -p $program -d 2 >out.txt 2>err.txt
if grep -q 'cannot be traced\|not permitted\|ptrace' err.txt; then
	leave_out "attaching: $(head -n 1 err.txt)"
else
	[ "$(rows attached.er interval .name)" = step ] || fail "attached: $(rows attached.er interval .name,.count): $(cat err.txt)"
	kill -0 $program || fail "attached: the program has ended"
fi
kill $program
wait $program

# Programs that say nothing, and recordings that did not ask.
ctxrec -q -o silent.er --marks -- true 2>err.txt
grep -q 'no mark was recorded' err.txt || fail "nothing said: $(cat err.txt)"
ctxan silent.er -r marks >/dev/null || fail "an empty report is none"
ctxrec -q -o none.er -- true
expect 1 'ctxrec --marks' ctxan none.er -r marks
expect 1 'the recording has no marks' ctxan none.er -r functions -i mark:load
expect 1 'statically linked' ctxrec -q -o x.er --marks -- marks_static

# The browser in the terminal: a tick on the axis where a mark is, and none in a recording without.
python=
for candidate in python3 /usr/bin/python3; do
	"$candidate" -c 'import pyte' 2>/dev/null && { python=$candidate; break; }
done
if [ -n "$python" ]; then
	cat >look.py <<'END'
import os, sys
sys.path.insert(0, sys.argv[1])
from browse_terminal import Terminal
for name, wanted in {"run.er": True, "silent.er": False}.items():
	with Terminal(["ctxan", "-q", "--browse", name], 24, 80, {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}) as t:
		t.until("the axis", lambda: "━━━━" in t.text())
		if wanted:
			t.until("marks", lambda: any(tick in t.text() for tick in "┷╟╢"))
		elif any(tick in t.text() for tick in "┷╟╢"):
			sys.exit(f"{name}: marks on the axis")
		t.type("q")
		t.end()
END
	"$python" look.py "$source_dir/tests/flow" 2>look.txt || fail "the browser: $(tail -n 1 look.txt)"
else
	leave_out "python3-pyte is not installed: the browser"
fi
finish
