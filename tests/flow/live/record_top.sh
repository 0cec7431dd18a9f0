# ctxrec --top on a terminal, and ctxan --follow beside ctxrec: a screen comes, the terminal is as before, the command's exit
# status and output are kept.
. "$(dirname "$0")/../common.sh" "$@"
need python3
need_perf
python3 -c 'import os, termios; os.login_tty, termios.tcsetwinsize' 2>/dev/null || skip "python3 is older than 3.11"
top() { python3 "$source_dir/tests/flow/record_top.py" "$@" >screen.txt || fail "$(cat screen.txt)"; }

cat >target.sh <<'END'
trap 'echo interrupted; exit 7' INT
echo begin
[ -t 1 ] && echo "is a terminal"
i=0
while [ $i -lt "$1" ]; do
	sleep 0.1
	i=$((i + 1))
done
exit 3
END
top none 3 ctxrec --top --no-archive -o none.er -- sh target.sh 5
grep -q '^begin' screen.txt || fail "the command's output is missing: $(cat screen.txt)"
grep -q 'is a terminal' screen.txt && fail "the command prints to the screen"
grep -q '^ctxrec: none.er: ' screen.txt || fail "the recorder's summary is missing"
# The interrupt key is for the command.
top interrupt 7 ctxrec --top --no-archive -o interrupt.er -- sh target.sh 300
grep -q '^interrupted' screen.txt || fail "the command was not interrupted: $(cat screen.txt)"
# q ends the screen, not the recording.
top q 3 ctxrec --top --no-archive -o q.er -- sh target.sh 25
[ -e q.er/last.xml ] && fail "q ended the recording"

# ctxan may be started first; it ends with the recording.
ctxan --follow later.er --format json >later.json 2>later.err &
follower=$!
while ! grep -q waiting later.err; do sleep 0.05; done
ctxrec -q --no-archive -o later.er -- sh target.sh 2 >later.out
wait $follower || fail "ctxan --follow: exit status $?: $(cat later.err)"
grep -q 'later.er: the recording has ended' later.err || fail "the end was not said: $(cat later.err)"
python3 -c 'import json, sys; lines = [json.loads(line) for line in open("later.json")]; sys.exit(len(lines) == 0 or "not closed" in str(lines[-1]["warnings"]))' ||
	fail "the last answer: $(tail -n 1 later.json)"
# Elsewhere than on a terminal there is no screen.
expect 1 'needs a terminal' setsid -w ctxrec --top -o nowhere.er -- true
[ -e nowhere.er ] && fail "it recorded nevertheless"
finish
