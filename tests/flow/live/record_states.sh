# Thread states: a program that does each by construction and counts its own waits and preemptions, recorded with all that there is (full), with system calls,
# without tracepoints (min), and by an ordinary user. How long each state lasts is held against its clocks in flow.states_kept and flow.states_measured.
. "$(dirname "$0")/../common.sh" "$@"
need python3
need_perf
programs=$build/bin/examples

# check HOW OUTPUT RECORDING
check() {
	python3 "$source_dir/tests/flow/record_states.py" "$@" >check.out
	status=$?
	grep -v '^SKIP: ' check.out
	case $status in
	0) ;;
	77) leave_out "states, $1: $(sed -n 's/^SKIP: //p' check.out | tr '\n' ';')" ;;
	*) fail "states, $1" ;;
	esac
}

# record HOW OPTION... -- COMMAND...: HOW.er. Every stack is copied: on a busy machine the budget would leave some out (record_budget).
record() {
	how=$1
	shift
	ctxrec -q -O --budget off -o "$how.er" "$@" >"$how.out" 2>"$how.err" || fail "recording $*: $(head -c 300 "$how.err")"
}

level() { ctxan -q "$1" -r header | sed -n 's/^states  *//p'; }

# As root with tracefs: all. Without system calls, and with them.
need_tracefs || leave_out "states full and syscalls: $tracefs_is_missing"
record auto -- states
case $(level auto.er) in
full*)
	check full auto.out auto.er
	# Two recorders of the same threads: the kernel gives samples of both the same ids.
	record outer -- ctxrec -q -O --budget off --no-archive -o inner.er -- states nap text
	check full outer.out inner.er
	ctxan -q outer.er -r functions --no-inlines --metric other-wait --limit 0 | grep -q '^.* nap \[states\]' || fail "the outer recorder has no stack of the nap"
	record syscalls --states syscalls -- states burn nap lock system
	check syscalls syscalls.out syscalls.er
	level syscalls.er | grep -q 'system calls' || fail "the header does not say that system calls were recorded"
	# Each read of the program is a call of its own.
	[ "$(ctxan -q syscalls.er --sql "select count(*) > 1000 from thread_state where state = 'SYSTEM'" --format csv | tail -n 1)" = 1 ] ||
		fail "system calls are not spans of their own"
	;;
*)
	[ -n "$tracefs_is_missing" ] || fail "root with tracefs has not full states: $(level auto.er)"
	ctxrec -O -o loud.er -- true 2>loud.err
	grep -q 'tracefs\|needs root' loud.err || level loud.er | grep -q 'needs root' || fail "states are not full, and it is not said: $(cat loud.err)"
	;;
esac

# Without tracepoints: the same, but nobody tells when a wait was over.
record min --states min -- states
case $(level min.er) in
min*) check min min.out min.er ;;
*) leave_out "states min is refused: $(level min.er)" ;;
esac

# None: clock samples alone.
ctxrec -q --states off -o off.er -- states nap >off.out || fail "recording with --states off"
[ ! -e off.er/states ] || fail "--states off has states"
expect 1 "states" ctxan off.er -r states

# An ordinary user: often switches alone, said in one line.
if [ "$(id -u)" != 0 ] || ! command -v setpriv >/dev/null; then
	leave_out "only root can become an ordinary user, with setpriv"
	finish
fi
mkdir user && chown 65534 user && chmod 755 "$work"
(cd user && setpriv --reuid=65534 --regid=65534 --clear-groups ctxrec -O --budget off --no-archive -o user.er -- "$programs/states" >user.out 2>user.err)
status=$?
if grep -q perf_event_paranoid user/user.err && [ $status = 1 ]; then
	leave_out "ordinary users are refused here: $(head -n 1 user/user.err)"
	finish
fi
[ $status = 0 ] || fail "ordinary user: $(head -c 300 user/user.err)"
# How much is left is up to kernel.perf_event_paranoid; the kernel's functions, by which waits are told apart, are not for all.
case $(level user/user.er) in
full* | min*) ;;
*) [ "$(grep -ci 'kernel' user/user.err)" = 1 ] || fail "ordinary user: what is missing is not said in one line: $(cat user/user.err)" ;;
esac
check user user/user.out user/user.er
ctxan -q user/user.er -r header | grep -A2 '^states ' | tr '\n' ' ' | grep -Eq 'full:|needs root' || fail "ordinary user: the header does not say what states lack"
finish
