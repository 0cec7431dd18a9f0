# Thread ids that the kernel uses again: each thread, told apart by id and life, has its own metrics and nothing of the one before.
. "$(dirname "$0")/../common.sh" "$@"
need python3 unshare
need_perf
[ "$(id -u)" = 0 ] || skip "a small pid_max needs root"

# A child with a lower id than its parent, as when ids begin anew: until then the wake-ups of such threads are left out by a filter.
if ! need_tracefs; then
	leave_out "wake-ups of low ids: $tracefs_is_missing"
elif [ "$(readlink /proc/self/ns/pid)" != 'pid:[4026531836]' ]; then
	leave_out "wake-ups of low ids: in an inner pid namespace there is no filter"
else
	ctxrec -q -O --budget off --no-archive -o low.er -- low_id 20 >low.out 2>low.err || fail "low_id: $(head -c 300 low.err)"
	case $(cat low.out) in
	refused) leave_out "wake-ups of low ids: $(cat low.out)" ;;
	*)
		ctxan -q low.er -r wakers --limit 0 | grep -Eq '^ +20 .* low_id [0-9]+: .*wake_child' ||
			fail "wake-ups of a low id: $(ctxan -q low.er -r wakers --limit 0)"
		;;
	esac
fi

# Inside of a namespace of its own pid_max is its own, on kernels that have it (6.14).
cat >inside.sh <<'SCRIPT'
echo 310 >/proc/sys/kernel/pid_max || exit 3
# The first time around all ids are new.
i=0
while [ $i -lt 305 ]; do (:); i=$((i + 1)); done
ctxrec -q -O --budget off --no-archive -o reuse.er -- reuse_tids 120 >reuse.out
SCRIPT
before=$(cat /proc/sys/kernel/pid_max)
record() { unshare -pf --mount-proc sh inside.sh 2>inside.err; }
record
status=$?
after=$(cat /proc/sys/kernel/pid_max)
if [ "$before" != "$after" ]; then
	echo "$before" >/proc/sys/kernel/pid_max
	skip "pid_max is that of the whole machine"
fi
[ $status != 3 ] || skip "pid_max: $(head -n 1 inside.err)"
[ $status = 0 ] || fail "recording: $(head -c 300 inside.err)"
python3 "$source_dir/tests/flow/record_reused_tids.py" reuse.out reuse.er || fail "reused thread ids"
finish
