# Thread ids that the kernel uses again: each thread, told apart by id and life, has its own metrics and nothing of the one before.
. "$(dirname "$0")/../common.sh" "$@"
need python3 unshare
need_perf
[ "$(id -u)" = 0 ] || skip "a small pid_max needs root"

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
