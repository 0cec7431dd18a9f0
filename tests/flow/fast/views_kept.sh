# --view user, expert and machine: what each shows of stacks that are known, and that sums, reports, exports and pages agree in all three.
. "$(dirname "$0")/../common.sh" "$@"
need jq python3

# A Java program: a method that computes, one that writes (native code below it), one that is in the virtual machine; a thread of the collector, the main
# thread before any method; a native program beside them. OpenMP: a region, a barrier, the caller.
python3 - >known.txt <<'PY'
jvm, java, libc, jli = "/jvm/lib/server/libjvm.so", "<Java methods>", "/lib/libc.so.6", "/jvm/lib/libjli.so"
gomp, omp = "/lib/libgomp.so.1", "/bin/omp"
time = 100.0
def sample(comm, pid, tid, frames, n):
    global time
    for _ in range(n):
        time += 0.001
        print(f"{comm} {pid}/{tid} [000] {time:.6f}: 1000000 cpu-clock:")
        for name, dso in frames:
            print(f"\t    1000 {name}+0x1 ({dso})")
        print()
base = [("Demo.main(java.lang.String[])", java), ("JavaCalls::call_helper", jvm), ("jni_CallStaticVoidMethod", jvm), ("JavaMain", jli), ("start_thread", libc)]
sample("java", 10, 11, [("Demo.fib(int)", java)] + base, 30)
sample("java", 10, 11, [("__write", libc), ("Java_java_io_write", jvm), ("Demo.print()", java)] + base, 10)
sample("java", 10, 11, [("Unsafe_Park", jvm), ("Demo.fib(int)", java)] + base, 5)
sample("GC", 10, 12, [("G1ParScanThreadState::trim", jvm), ("GangWorker::run", jvm), ("start_thread", libc)], 20)
sample("java", 10, 11, [("malloc", libc), ("ClassLoader::load", jvm), ("JavaMain", jli), ("start_thread", libc)], 7)
sample("native", 20, 20, [("burn", "/bin/native"), ("main", "/bin/native"), ("__libc_start_main", libc)], 13)
outer = [("GOMP_parallel", gomp), ("solve", omp), ("main", omp), ("__libc_start_main", libc)]
sample("omp", 30, 30, [("solve._omp_fn.0", omp)] + outer, 9)
sample("omp", 30, 30, [("do_wait", gomp), ("GOMP_barrier", gomp), ("solve._omp_fn.0", omp)] + outer, 6)
sample("omp", 30, 30, [("gomp_team_start", gomp)] + outer, 2)
PY

samples() { # VIEW NAME: exclusive and inclusive
	ctxan -q known.txt -r functions --limit 0 --view "$1" --format json |
		jq -r --arg name "$2" '.rows[] | select(.function == $name) | "\(.exclusive / 1000000) \(.inclusive / 1000000)"'
}
says() { # VIEW NAME WANTED
	got=$(samples "$1" "$2")
	[ "$got" = "$3" ] || fail "--view $1: $2: '$got', not '$3'"
}

says user 'Demo.fib(int)' '35 35'
says user 'Demo.print()' '10 10'
says user 'Demo.main(java.lang.String[])' '0 45'
says user '<JVM-System>' '27 27'
says user burn '13 13'
says user JavaMain ''
says user Unsafe_Park ''
says user start_thread ''
says user solve '0 17'
says user '<OMP-overhead>' '8 8'
says user GOMP_parallel ''
says expert 'Demo.fib(int)' '30 35'
says expert start_thread '0 72'
says expert Unsafe_Park '5 5'
says expert '<JVM-System>' ''
says expert solve._omp_fn.0 '9 15'
says machine __write '10 10'
says machine do_wait '6 6'

# Nothing is lost or counted twice, whatever is asked.
for report in functions tree objects lines pcs stacks threads timeline callers-callees summary; do
	for view in user expert machine; do
		ctxan -q known.txt -r $report --limit 0 --view $view >out.txt || fail "$report --view $view"
		ctxan -q known.txt -r $report --limit 0 --view $view --format json >out.json || fail "$report --view $view, json"
	done
done
for view in user expert machine; do
	sum=$(ctxan -q known.txt -r tree --limit 0 --view $view --format json | jq '[.rows[].base] | add')
	[ "$sum" = 102000000 ] || fail "tree --view $view: $sum"
	sum=$(ctxan -q known.txt --export folded --view $view | awk '{ sum += $NF } END { print sum }')
	[ "$sum" = 102000000 ] || fail "folded --view $view: $sum"
	sum=$(ctxan -q known.txt -r index --by function --limit 0 --view $view --format json | jq '[.rows[].weight] | add')
	[ "$sum" = 102000000 ] || fail "index --view $view: $sum"
	ctxan -q known.txt --export html --view $view -o $view.html || fail "html --view $view"
	ctxan -q known.txt --export flamegraph --view $view -o $view.svg || fail "flamegraph --view $view"
done
for view in user expert; do
	ctxan -q known.txt -r functions,tree --limit 0 --format html --view $view >$view.html || fail "--format html --view $view"
done
grep -q JVM-System user.html || fail "the page of users has no <JVM-System>"
grep -q JVM-System expert.html && fail "the page of experts has <JVM-System>"
grep -q GangWorker user.html && fail "the page of users has frames of the virtual machine"
ctxan -q known.txt --export folded --view user | grep -q '^java;Demo.main(java.lang.String\[\]);Demo.fib(int) 35000000' || fail "folded: $(ctxan -q known.txt --export folded --view user)"

# By parts: an interval, a thread, hidden frames, two sides.
[ "$(ctxan -q known.txt -r functions -t 12 --view user --format json | jq -c '[.rows[] | select(.exclusive > 0 and .function != "<Total>") | .function]')" = '["<JVM-System>"]' ] || fail "the collector's thread"
ctxan -q known.txt -r functions --view user --hide fib --format json | jq -e '.rows[] | select(.function | startswith("Demo.main")) | .exclusive == 35000000' >has.txt || fail "--view with --hide"
ctxan -q known.txt known.txt --diff -r functions --view user --limit 0 >diff.txt || fail "--diff: $(cat diff.txt)"
grep -q Unsafe_Park diff.txt && fail "--diff has frames of the virtual machine"

# Refused.
ctxan -q known.txt --view boss 2>err.txt && fail "--view boss"
grep -q "user, expert" err.txt || fail "--view boss says: $(cat err.txt)"
finish
