# Thread states: a program that does each for a known time, and measures itself, recorded with all that there is (full), without tracepoints (min),
# by an ordinary user, and by perf. Nothing is compared with a clock on the wall: other load makes waits for a CPU, which the
# program measures too.
. "$(dirname "$0")/../common.sh" "$@"
need python3
need_perf
programs=$build/bin/examples

# check HOW OUTPUT RECORDING [LEAST]
check() {
	python3 "$source_dir/tests/flow/record_states.py" "$@"
}

# measure HOW LEAST OPTION... -- COMMAND...: records HOW.er, and checks it. As root.
measure() {
	how=$1
	least=$2
	shift 2
	ctxrec -q -O -o "$how.er" "$@" >"$how.out" 2>"$how.err" || fail "recording $*: $(head -c 300 "$how.err")"
	case $(level "$how.er") in
	full*) check full "$how.out" "$how.er" $least ;;
	min*) check min "$how.out" "$how.er" ;;
	*) echo "$how is refused here: $(cat "$how.err")" ;;
	esac
}

level() { ctxan -q "$1" -r header | sed -n 's/^states  *//p'; }

# As root with tracefs: all.
three_times measure auto "" -- states || fail "states, auto"
case $(level auto.er) in
full*) ;;
*) [ -s auto.err ] || fail "states are not full, and it is not said" ;;
esac

# With system calls: these divide the time on a CPU, samples only what is outside of them.
case $(level auto.er) in
full*)
	three_times measure calls 5 --states syscalls -- states burn nap lock system || fail "states, syscalls"
	level calls.er | grep -q 'system calls' || fail "the header does not say that system calls were recorded"
	[ "$(ctxan -q calls.er --sql "select count(*) > 20000 from thread_state where state = 'SYSTEM'" --format csv | tail -n 1)" = 1 ] ||
		fail "system calls are not spans of their own"
	;;
esac

# Without tracepoints: the same, but nobody tells when a wait was over.
three_times measure min "" --states min -- states || fail "states, min"

# None: clock samples alone, as ever.
ctxrec -q --states off -o off.er -- states nap >off.out || fail "recording with --states off"
[ ! -e off.er/states ] || fail "--states off has states"
expect 1 "states" ctxan off.er -r states

# An ordinary user: often switches alone, said in one line.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	mkdir user && chown 65534 user && chmod 755 "$work"
	record_as_user() {
		(cd user && setpriv --reuid=65534 --regid=65534 --clear-groups ctxrec -O --no-archive -o user.er -- "$programs/states" >user.out 2>user.err)
	}
	record_and_check_as_user() { record_as_user && check user user/user.out user/user.er; }
	record_as_user
	status=$?
	if grep -q perf_event_paranoid user/user.err && [ $status = 1 ]; then
		echo "ordinary users are refused here: $(head -n 1 user/user.err)"
	else
		[ $status = 0 ] || fail "ordinary user: $(head -c 300 user/user.err)"
		# How much is left is up to kernel.perf_event_paranoid; the kernel's functions, by which waits are told apart, are not for all.
		case $(level user/user.er) in
		full* | min*) ;;
		*) [ "$(grep -ci 'kernel' user/user.err)" = 1 ] || fail "ordinary user: what is missing is not said in one line: $(cat user/user.err)" ;;
		esac
		check user user/user.out user/user.er || three_times record_and_check_as_user || fail "states, user"
		ctxan -q user/user.er -r header | grep -A2 '^states ' | tr '\n' ' ' | grep -Eq 'full:|needs root' || fail "ordinary user: the header does not say what states lack"
	fi
fi

# perf's own recording of switches. Without "stop": perf takes a command that is stopped for one that has ended. Its files lack a switch now and
# then, without a word of it: three attempts.
phases="burn nap input lock data code text kernel compete system trap"
record_with_perf() {
	perf record -e cpu-clock/freq=499/ -e sched:sched_switch --switch-events --call-graph dwarf,4096 -m 16M -o perf.data -- \
		"$programs/states" $phases >perf.out 2>perf.err
}
agreed=no
for attempt in 1 2 3; do
	if ! record_with_perf; then
		echo "perf record: left out: $(head -c 200 perf.err)"
		agreed=yes
	elif grep -q 'lost' perf.err; then
		echo "perf lost events: left out: $(grep lost perf.err)"
		agreed=yes
	elif python3 "$source_dir/tests/flow/record_states.py" perf perf.out perf.data; then
		agreed=yes
	fi
	[ "$agreed" = no ] || break
done
[ "$agreed" = yes ] || fail "states, perf: three times in a row"
finish
