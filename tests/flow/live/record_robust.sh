# Recordings that go wrong: killed recorder, killed target, many children, exec, unloading, vanished descriptors. What only root can try is in record_root.
. "$(dirname "$0")/../common.sh" "$@"
need jq
need_perf

# wait_for COMMAND...: until it succeeds, at most five minutes: how long something takes is not tested.
wait_for() {
	i=0
	until "$@"; do
		[ $i -lt 3000 ] || { fail "waited in vain for: $*"; return 1; }
		sleep 0.1
		i=$((i + 1))
	done
}
# has_used PID HUNDREDTHS: so much CPU time.
has_used() { [ "$(awk '{ print $14 + $15 }' "/proc/$1/stat")" -ge "$2" ]; }
samples() { ctxan -q "$1" -r functions --format json | jq .samples; }
spin='i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done'

# The target's status is ours.
ctxrec -q -o status.er -- sh -c 'exit 7' ; [ $? = 7 ] || fail "exit status 7"
ctxrec -q -o signal.er -- sh -c 'kill -9 $$' ; [ $? = 137 ] || fail "killed target: 128 + 9"
expect 127 "no-such-command" ctxrec -o none.er -- no-such-command
[ ! -e none.er ] || fail "an experiment of a command that is not there"
touch not-executable && expect 126 "not-executable" ctxrec -o none.er -- ./not-executable
expect 1 "unknown option" ctxrec --nonsense -- true
expect 1 "" ctxrec
expect 1 "no-such-event" ctxrec -e no-such-event -o e.er -- true

# Never over something else.
mkdir precious && touch precious/file
expect 1 "precious" ctxrec -O -o precious -- true
[ -e precious/file ] || fail "-O removed a directory that is no experiment"
mkdir precious.er && touch precious.er/file
expect 1 "precious.er" ctxrec -O -o precious.er -- true
[ -e precious.er/file ] || fail "-O removed a directory that is no experiment"
expect 1 "status.er: exists already \(-O replaces" ctxrec -o status.er -- true
expect 1 "No such file" ctxrec -o nowhere/x.er -- touch ran
[ ! -e ran ] || fail "the command was run although nothing could be recorded"
ctxan -q status.er >/dev/null || fail "ctxan before -O" # leaves its database there
ctxrec -q -O -o status.er -- true || fail "-O over an experiment"
# A foreign file, a foreign link: nothing is removed.
cp -r status.er foreign.er && echo 'my thesis' >foreign.er/thesis.txt
expect 1 'foreign.er: holds "thesis.txt"' ctxrec -O -o foreign.er -- true
rm foreign.er/thesis.txt && mkdir foreign.er/_f9.er && echo 'my thesis' >foreign.er/_f9.er/thesis.txt
expect 1 'foreign.er: holds "thesis.txt"' ctxrec -O -o foreign.er -- true
rm -r foreign.er/_f9.er && ln -s /etc/hostname foreign.er/notes
expect 1 'foreign.er: holds "notes"' ctxrec -O -o foreign.er -- true
[ -e foreign.er/log.xml ] && [ -e foreign.er/map.xml ] && [ -e foreign.er/archives ] || fail "-O removed a part: $(ls foreign.er)"
rm foreign.er/notes
ctxrec -q -O -o foreign.er -- true || fail "-O over a copy of an experiment"
# Not while it is being recorded.
ctxrec -q -o twice.er -- sh -c 'touch begun; until [ -e end ]; do sleep 0.05; done' &
recorder=$!
wait_for test -e begun
expect 1 "twice.er: is being recorded" ctxrec -o twice.er -- true
expect 1 "twice.er: is being recorded" ctxrec -O -o twice.er -- true
touch end
wait $recorder || fail "the recording that another one wanted to replace: $?"
ctxan -q twice.er -r header | grep -Eq '^closed +yes' || fail "the recording that another one wanted to replace was harmed"

# Recorders that begin at the same moment take different numbers.
mkdir numbers
(cd numbers && seq 48 | xargs -P 16 -I{} ctxrec -q --no-archive -- true) || fail "48 recorders at once"
[ "$(ls -d numbers/true.*.er | wc -l)" = 48 ] || fail "48 recorders at once: $(ls numbers | wc -l) experiments"

# kill -9 of the recorder in mid-run: what it has written can be read, and the header says that the run was not closed. (How much that is:
# record_killed, record_killed_kept.)
larger() { [ -e killed.er/profile ] && [ "$(stat -c %s killed.er/profile)" -gt "$1" ]; }
ctxrec -q -o killed.er -- sh -c 'echo $$ >target.pid; while :; do :; done' &
recorder=$!
wait_for larger 0
wait_for larger "$(stat -c %s killed.er/profile)"
kill -9 $recorder
wait $recorder 2>/dev/null
kill -9 "$(cat target.pid)" 2>/dev/null
n=$(samples killed.er)
# At least one each time.
[ "$n" -ge 2 ] || fail "killed recorder: only $n samples"
ctxan -q killed.er -r header | grep -qi 'not closed' || fail "the header does not say that the run was not closed"

ctxan -q killed.er -r header | grep -q 'recorder was killed: its last sign of life is [0-9.]* s after' || fail "the header does not say until when something is known"

# A limit on file sizes: the recorder gets no signal, the target has its own again.
(ulimit -f 16 && exec ctxrec --no-archive -F 4999 --states off -o limited.er -- sh -c "($spin; $spin; $spin; $spin; echo done >ran.limited); head -c 100000 /dev/zero >large; exit 6") 2>limited.err
status=$?
[ $status = 6 ] || fail "ulimit -f: exit status $status instead of the target's: $(cat limited.err)"
[ -e ran.limited ] || fail "ulimit -f: the target did not run on"
grep -q 'recording failed: .*File too large' limited.err || fail "ulimit -f: not said: $(cat limited.err)"
ctxan -q limited.er --db limited.db -r header >limited.txt || fail "ulimit -f: report"
grep -q 'recording failed [0-9.]* s after its begin: .*File too large' limited.txt || fail "ulimit -f: the experiment does not say what happened: $(cat limited.txt)"
[ "$(samples limited.er)" -ge 1 ] || fail "ulimit -f: what was written before is not there"

# kill -9 of the target.
rm target.pid
timeout 300 ctxrec -q -o target.er -- sh -c 'echo $$ >target.pid; while :; do :; done' &
guard=$!
wait_for test -s target.pid
target=$(cat target.pid)
wait_for has_used "$target" 100
kill -9 "$target"
wait $guard
[ $? = 137 ] || fail "target killed: status"
[ "$(samples target.er)" -ge 1 ] || fail "target killed: no sample of a second"

# SIGINT and SIGTERM end the recording cleanly and reach the target. (A shell's background jobs begin with SIGINT ignored.)
for signal in INT TERM; do
	timeout 300 env --default-signal=INT,TERM ctxrec -q -o $signal.er -- \
		sh -c "trap 'echo got >got.$signal; exit 3' INT TERM; echo \$PPID >recorder.$signal; while :; do sleep 0.05; done" &
	guard=$!
	wait_for test -s recorder.$signal
	kill -$signal "$(cat recorder.$signal)"
	wait $guard
	got=$?
	[ -e got.$signal ] || fail "SIG$signal did not reach the target"
	[ $got = 3 ] || fail "SIG$signal: status $got"
	ctxan -q $signal.er -r header >header.txt || fail "SIG$signal: experiment"
	grep -Eq '^closed +yes' header.txt || fail "SIG$signal: the experiment is not closed"
done

# Many children, exec, unloading a library, exiting at once, no descriptors.
for target in fork1000 execchain dlclose_reload exit_at_once closefds; do
	command -v $target >/dev/null || { fail "$target was not built"; continue; }
	(cd "$build/bin/examples" && exec timeout 300 ctxrec -q -o "$work/$target.er" -- ./$target >/dev/null)
	[ $? -lt 124 ] || fail "$target: hang or crash"
	ctxan -q $target.er >/dev/null || fail "$target: report"
done
# Every process is seen. Without copies of stacks all that the kernel has to say fits into the rings, whether the recorder gets a processor or not; with
# them it drops events where the recorder does not, and some processes are missing.
processes() { ctxan -q "$1" -r processes --format json | jq '.rows | length'; }
n=$(processes fork1000.er)
[ "$n" -ge 100 ] && [ "$n" -le 1001 ] || fail "fork1000: $n processes"
(cd "$build/bin/examples" && exec ctxrec -q --unwind none --states off --no-archive -o "$work/forks.er" -- ./fork1000 >/dev/null)
n=$(processes forks.er)
lost=$(ctxan -q forks.er -r header --format json | jq .lost_samples)
[ "$n" = 1001 ] && [ "$lost" = 0 ] || fail "fork1000 without copies of stacks: $n processes, $lost events lost"
# Longer than the 0.1 s below which a process has no directory.
ctxrec -q -o sub.er -- sh -c "($spin; $spin; $spin); exec sh -c '$spin; $spin; $spin'"
[ -d sub.er/_f1.er ] && [ -d sub.er/_x1.er ] || fail "sub-experiments: $(ls sub.er)"
[ "$(ctxan -q sub.er -r processes --format json | jq '[.rows[] | select(.samples > 0)] | length')" -ge 2 ] || fail "samples by process"

# Whose samples and states are not recorded is not in the recording at all: it did not wait for a processor all its life.
ctxrec -q --no-follow -o alone.er -- sh -c 'sleep 0.1; exit 0'
ctxan -q alone.er -r processes --format json >alone.json
[ "$(jq '.rows | length' alone.json)" = 1 ] || fail "--no-follow: $(jq -c .rows alone.json)"

# Too few files for states: reported, and the rest is recorded. The limit is found: a little above it the files of the experiment do not fit.
n=$((24 + 8 * $(getconf _NPROCESSORS_ONLN)))
while [ $n -gt 8 ]; do
	rm -rf files.er
	(ulimit -n $n && ctxrec --no-archive -o files.er -- true 2>files.err) && grep -q 'states" *value="off' files.er/log.xml && break
	n=$((n - 1))
done
if grep -q 'value="off: too many' files.er/log.xml 2>/dev/null; then
	grep -q 'what threads wait for is not recorded.*ulimit -n' files.err || fail "no states, and nothing said: $(cat files.err)"
	ctxan -q files.er -r functions | grep -q 'what threads wait for is not recorded' || fail "no states: no note in reports"
else
	leave_out "no limit of open files turns states off here"
fi

# However few files there are: it is recorded, or nothing is left, and the reason is said.
for n in 12 16 18 19 20 21 22 24 28; do
	rm -rf few && mkdir few
	if (cd few && ulimit -n $n && exec ctxrec -q --no-archive -o few.er -- true 2>few.err); then
		ctxan -q few/few.er --db few.db -r header >/dev/null || fail "ulimit -n $n: no experiment"
	else
		[ ! -e few/few.er ] || fail "ulimit -n $n: a half made experiment is left: $(cat few/few.err)"
		grep -q 'Too many open files\|too many open files\|cannot' few/few.err || fail "ulimit -n $n: not said: $(cat few/few.err)"
	fi
done

# --wait-descendants: what the command leaves behind is waited for, though it was started just before the end.
timeout 300 ctxrec -q --no-archive --wait-descendants -o left.er -- sh -c '(sleep 0.7; echo late >late) & exit 5'
[ $? = 5 ] || fail "--wait-descendants: exit status"
[ -e late ] || fail "--wait-descendants: the recording ended with the command"
# The command ends with its own last record, before the process that it leaves behind.
ctxan -q left.er -r processes --format json | jq -e '.rows | (min_by(.begin).end) < (map(.end) | max)' >/dev/null ||
	fail "--wait-descendants: the command does not end before what it left behind"
[ "$(ctxan -q left.er --sql "select count(*) from process where end_ns >= 700000000" | tail -n 1)" -ge 1 ] ||
	fail "--wait-descendants: nobody was there at the end"

expect 2 "standard output" sh -c 'exec ctxrec --help >/dev/full'
expect 2 "standard output" sh -c 'exec ctxan --help >/dev/full'
# Rings that were asked for are not blamed on a limit.
ctxrec -q --no-archive -m 8 -o tight.er -- true 2>tight.err
grep -q 'limit on locked memory' tight.err && fail "-m 8: $(cat tight.err)"
grep -q 'as small as -m says' tight.err || fail "-m 8: $(cat tight.err)"
# --max-size bounds the experiment.
ctxrec -q -F 9999 --max-size 60k --no-archive -o bounded.er -- sh -c "$spin; $spin; $spin; $spin; $spin; $spin; $spin; $spin"
bytes=$(cat bounded.er/profile bounded.er/frameinfo | wc -c)
[ "$bytes" -le 61440 ] || fail "--max-size: $(du -b bounded.er/profile bounded.er/frameinfo)"
# What was recorded before the limit is kept, however many samples that is: an eighth of it at least.
[ "$bytes" -ge 7680 ] && [ "$(samples bounded.er)" -ge 1 ] || fail "--max-size: $bytes bytes, $(samples bounded.er) samples kept"
ctxan -q bounded.er -r functions | grep -q 'beyond the limit' || fail "--max-size: what was dropped is not said"

# A long command line is cut, and no fork repeats it.
ctxrec -q --no-archive --states off -o long.er -- sh -c "sh -c '(true); sleep 1; exit 0' $(head -c 100000 /dev/zero | tr '\0' x)"
# The recorded command itself is written in full, once.
longest=$(text long.er/log.xml | grep '<event kind="process"' | grep -v 'origin="founder"' | awk '{ if (length($0) > n) n = length($0) } END { print n + 0 }')
[ "$longest" -gt 4096 ] && [ "$longest" -le 20000 ] || fail "a command line of $longest bytes in the log"
text long.er/log.xml | grep 'origin="fork"' | grep -q 'command=' && fail "forks repeat the command"

# Nothing of ours is left running.
left() {
	for pid in $(pgrep -x ctxrec); do
		case $(readlink "/proc/$pid/cwd") in
		"$work"*) echo "$pid" ;;
		esac
	done
}
none_left() { [ -z "$(left)" ]; }
wait_for none_left || fail "a ctxrec is left: $(left)"
finish
