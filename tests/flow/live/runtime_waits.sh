# How processes wait for the recorder's memory: while it runs, however long that takes on a busy machine; a second where it was stopped, which is said.
. "$(dirname "$0")/../common.sh" "$@"
need python3 jq
need_runtime

version=$(sed -n 's/^#define CTX_RT_VERSION \([0-9]*\)u.*/\1/p' "$source_dir/runtime/shared_layout.h")
# Both kinds at a time: most of it is waiting.
python3 "$source_dir/tests/flow/runtime_waits.py" "$bin/libctxrt.so" "$bin/examples/heap" "$version" >of_64.txt 2>&1 &
of_64=$!
if [ -e "$bin/runtime/i386/libctxrt.so" ] && heap32 child 1; then
	python3 "$source_dir/tests/flow/runtime_waits.py" "$bin/runtime/i386/libctxrt.so" "$bin/examples/heap32" "$version" || fail "programs of 32 bits"
else
	leave_out "programs of 32 bits are not built, or do not run here"
fi
wait $of_64 || fail "programs of 64 bits: $(cat of_64.txt)"

# The recorder itself is stopped, and goes on: what began meanwhile is missing, and said; what begins then is recorded.
mkfifo go
ctxrec -q --no-archive -o run.er --heap --trace-full wait -- sh -c 'echo >began; read line <go; heap child 3; echo >done; read line <go; heap child 4' 2>err.txt &
recorder=$!
wait_for() { until [ -e "$1" ]; do sleep 0.01; done; }
wait_for began
kill -STOP $recorder
until grep -q '^State:.T' /proc/$recorder/status; do sleep 0.01; done
echo >go
wait_for done
kill -CONT $recorder
echo >go
wait $recorder || fail "a recorder that was stopped: $(cat err.txt)"
got=$(allocations_of in_child)
[ "$got" = 4 ] || fail "a recorder that was stopped: in_child has $got allocations instead of 4"
grep -q 'the heap of a process, or of some of its threads, is not recorded ([1-9] times*): the recorder was stopped' err.txt || fail "not said: $(cat err.txt)"
[ "$(wc -l <err.txt)" = 1 ] || fail "a recorder that was stopped: $(cat err.txt)"
finish
