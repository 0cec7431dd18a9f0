# ctxrec --marks: what a program says of itself by ctx_trace.h, whose numbers are known; pauses; without ctxrec; killed in the middle.
. "$(dirname "$0")/../common.sh" "$@"
need jq
need_runtime

# Without ctxrec a program that has the header does the same, in whatever way it is linked; so does one that has switched it off.
for way in pie fixed noplt static off; do
	for what in all pause fork; do
		[ "$(marks_$way $what 2>&1)" = "done" ] || fail "marks_$way $what alone: $(marks_$way $what 2>&1)"
	done
done

. "$(dirname "$0")/../marks_facts.sh"
for way in pie fixed noplt; do
	for option in --marks --io; do
		rm -rf run.er
		ctxrec -q -o run.er $option --trace-full wait -- marks_$way >out.txt 2>err.txt || fail "$way $option: exit status"
		[ "$(cat out.txt)" = "done" ] || fail "$way $option: another output: $(cat out.txt)"
		[ -s err.txt ] && fail "$way $option: messages: $(cat err.txt)"
		check_marks "$way $option"
	done
	ctxan run.er -r io >/dev/null || fail "$way: no report io"
done

check_marked_intervals
ctxan run.er | grep -q '^Next: ctxan run.er -r marks,io$' || fail "the first screen does not say where marks are: $(ctxan run.er)"
ctxan run.er -r timeline >line.txt || fail "no time line"
grep -q '^ *request  *=' line.txt || fail "no interval on the time line: $(cat line.txt)"

# A pause: what was allocated before it and freed in it is no leak, nor is what was moved in it; what was allocated in it is not there.
ctxrec -q -o pause.er --trace heap,sync,io --trace-full wait -- marks_pie pause >/dev/null 2>err.txt || fail "pause: exit status"
grep -q 'the program has paused the recording of heap, synchronisation, input and output 2 times (ctx_trace_pause)' err.txt || fail "pause: messages: $(cat err.txt)"
check_pause
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
check_killed

# A program that runs already: what it says from then on.
marks_fixed steps >/dev/null &
program=$!
ctxrec -q -o attached.er --marks -p $program -d 2 >out.txt 2>err.txt
if grep -q 'cannot be traced\|not permitted\|ptrace' err.txt; then
	leave_out "attaching: $(head -n 1 err.txt)"
else
	check_attached
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
