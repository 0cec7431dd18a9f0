# Recordings that go wrong: killed recorder, killed target, many children, exec, unloading, vanished descriptors, set-uid, a full disk.
. "$(dirname "$0")/../common.sh" "$@"
need jq
need_perf

samples() { ctxan -q "$1" -r functions --format json | jq .samples; }
spin='i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done'

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
ctxrec -q -O -o status.er -- true || fail "-O over an experiment"

# Recorders that begin at the same moment take different numbers.
mkdir numbers
(cd numbers && seq 48 | xargs -P 16 -I{} ctxrec -q --no-archive -- true) || fail "48 recorders at once"
[ "$(ls -d numbers/true.*.er | wc -l)" = 48 ] || fail "48 recorders at once: $(ls numbers | wc -l) experiments"

# kill -9 of the recorder in mid-run: all but the last second is there, and the head says so.
ctxrec -q -o killed.er -- sh -c 'while :; do :; done' &
recorder=$!
sleep 1
target=$(pgrep -P $recorder | head -n 1)
# until_used PID HUNDREDTHS: until it has had so much of a processor; on a busy machine that takes longer.
until_used() {
	i=0
	while [ "$(awk '{ print $14 + $15 }' "/proc/$1/stat")" -lt "$2" ] && [ $i -lt 600 ]; do sleep 0.1; i=$((i + 1)); done
}
until_used "$target" 400
kill -9 $recorder
wait $recorder 2>/dev/null
kill -9 "$target" 2>/dev/null
n=$(samples killed.er)
[ "$n" -gt 2400 ] || fail "killed recorder: only $n samples of four seconds"
ctxan -q killed.er -r header | grep -qi 'not closed' || fail "the header does not say that the run was not closed"

# kill -9 of the target.
timeout 60 ctxrec -q -o target.er -- sh -c 'while :; do :; done' &
guard=$!
sleep 1
target=$(pgrep -P "$(pgrep -P $guard ctxrec)")
until_used "$target" 100
kill -9 "$target"
wait $guard
[ $? = 137 ] || fail "target killed: status"
[ "$(samples target.er)" -gt 500 ] || fail "target killed: samples"

# SIGINT and SIGTERM end the recording cleanly and reach the target. (A shell's background jobs begin with SIGINT ignored.)
for signal in INT TERM; do
	timeout 30 env --default-signal=INT,TERM ctxrec -q -o $signal.er -- sh -c "trap 'echo got >got.$signal; exit 3' INT TERM; while :; do sleep 0.05; done" &
	guard=$!
	sleep 1
	kill -$signal "$(pgrep -P $guard ctxrec)"
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
	(cd "$build/bin/examples" && exec timeout 120 ctxrec -q -o "$work/$target.er" -- ./$target >/dev/null)
	[ $? -lt 124 ] || fail "$target: hang or crash"
	ctxan -q $target.er >/dev/null || fail "$target: report"
done
ctxan -q fork1000.er -r processes --format json >processes.json
# Where the recorder does not get a processor in time, the kernel drops events; then that is said.
least=1000
[ "$(jq .lost_samples processes.json)" = 0 ] || least=800
[ "$(jq '.rows | length' processes.json)" -ge $least ] || fail "fork1000: $(jq '.rows | length' processes.json) processes, $(jq .lost_samples processes.json) lost"
ctxrec -q -o sub.er -- sh -c "($spin); exec sh -c '$spin'"
[ -d sub.er/_f1.er ] && [ -d sub.er/_x1.er ] || fail "sub-experiments: $(ls sub.er)"
[ "$(ctxan -q sub.er -r processes --format json | jq '[.rows[] | select(.samples > 50)] | length')" -ge 2 ] || fail "samples by process"

# Whose samples and states are not recorded is not in the recording at all: it did not wait for a processor all its life.
ctxrec -q --no-follow -o alone.er -- sh -c 'sleep 0.1; exit 0'
ctxan -q alone.er -r processes --format json >alone.json
[ "$(jq '.rows | length' alone.json)" = 1 ] || fail "--no-follow: $(jq -c .rows alone.json)"

# Set-uid: perf events may stop there; nothing may hang.
if [ "$(id -u)" = 0 ] && id nobody >/dev/null 2>&1; then
	cp "$(command -v sleep)" suid-sleep && chown nobody suid-sleep && chmod 4755 suid-sleep
	timeout 20 ctxrec -q -o suid.er -- ./suid-sleep 0.2 || fail "set-uid target"
fi

# As an ordinary user: user space only, said once.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	mkdir user && chown nobody user && chmod 755 "$work"
	(cd user && setpriv --reuid=nobody --clear-groups ctxrec --no-archive -o user.er -- sh -c "$spin" 2>err.txt)
	status=$?
	if grep -q perf_event_paranoid user/err.txt && [ $status = 1 ]; then
		echo "ordinary users are refused here: $(head -n 1 user/err.txt)"
	else
		[ $status = 0 ] || fail "ordinary user: $(cat user/err.txt)"
		[ "$(samples user/user.er)" -gt 20 ] || fail "ordinary user: samples"
		grep -qi 'kernel' user/err.txt || fail "ordinary user: not told what is missing"
	fi
fi

# Too few files for states: said, and the rest is recorded. The limit is found: below it there are no states.
n=64
while [ $n -gt 8 ]; do
	(ulimit -n $n && ctxrec --no-archive -O -o files.er -- true 2>files.err) || break
	grep -q 'states" *value="off' files.er/log.xml && break
	n=$((n - 2))
done
if grep -q 'value="off: too many' files.er/log.xml 2>/dev/null; then
	grep -q 'what threads wait for is not recorded.*ulimit -n' files.err || fail "no states, and nothing said: $(cat files.err)"
	ctxan -q files.er -r functions | grep -q 'what threads wait for is not recorded' || fail "no states: no note in reports"
fi

# --wait-descendants: what the command leaves behind is waited for, though it was started just before the end.
timeout 60 ctxrec -q --no-archive --wait-descendants -o left.er -- sh -c '(sleep 0.7; echo late >late) & exit 5'
[ $? = 5 ] || fail "--wait-descendants: exit status"
[ -e late ] || fail "--wait-descendants: the recording ended with the command"
[ "$(ctxan -q left.er --sql "select count(*) from process where end_ns >= 700000000" | tail -n 1)" -ge 1 ] ||
	fail "--wait-descendants: nobody was there at the end"

# A full disk: the target runs on, what is on disk is used, nothing crashes.
if [ "$(id -u)" = 0 ] && mkdir small && mount -t tmpfs -o size=64k tmpfs small 2>/dev/null; then
	timeout 60 ctxrec -F 4999 -o small/full.er -- sh -c "$spin; $spin; $spin; $spin; echo done >ran" 2>full.err
	[ -e ran ] || fail "full disk: the target did not run to its end"
	grep -qi 'space' full.err || fail "full disk: not said: $(cat full.err)"
	ctxan -q small/full.er --db full.db -r header >full.txt || fail "full disk: report"
	umount small
fi
expect 2 "standard output" sh -c 'exec ctxrec --help >/dev/full'
expect 2 "standard output" sh -c 'exec ctxan --help >/dev/full'
# Rings that were asked for are not blamed on a limit.
ctxrec -q --no-archive -m 8 -o tight.er -- true 2>tight.err
grep -q 'limit on locked memory' tight.err && fail "-m 8: $(cat tight.err)"
grep -q 'as small as -m says' tight.err || fail "-m 8: $(cat tight.err)"
# --max-size bounds the experiment.
ctxrec -q -F 9999 --max-size 150k --no-archive -o bounded.er -- sh -c "$spin; $spin; $spin; $spin; $spin; $spin; $spin; $spin"
[ "$(cat bounded.er/profile bounded.er/frameinfo | wc -c)" -le 153600 ] || fail "--max-size: $(du -b bounded.er/profile)"
[ "$(samples bounded.er)" -gt 1000 ] || fail "--max-size: nothing was kept"
ctxan -q bounded.er -r functions | grep -q 'beyond the limit' || fail "--max-size: what was dropped is not said"

# Nothing of ours is left running.
sleep 0.2
for pid in $(pgrep -x ctxrec); do
	case $(readlink "/proc/$pid/cwd") in
	"$work"*) fail "a ctxrec is left: $pid" ;;
	esac
done
finish
