# ctxrec --vm java for long: virtual machines that start and end, every collector at 10 kHz, attach and detach, many threads, classes that are unloaded, no memory left, kills at random
# moments. No virtual machine may crash, hang or say anything else than without ctxrec. How much of it is in the environment: STARTS (1000), SECONDS_EACH (120, of each of five collectors),
# ATTACHES (100), THREADS (500), KILLS (40).
. "$(dirname "$0")/../common.sh" "$@"
need jq java javac
[ -e "$bin/libctxjvm.so" ] || skip "the agent for Java is not built: no jvmti.h"
cat >Endure.java <<'EOF'
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

public class Endure {
    static final ReentrantLock lock = new ReentrantLock();
    static long shared;
    static volatile Object last;

    public static class Loaded {
        public int value(int n) {
            int sum = 0;
            for (int i = 0; i < n; i++)
                sum += i ^ n;
            return sum;
        }
    }

    static void churn(long end) {
        Object[] keep = new Object[500];
        for (int i = 0; System.nanoTime() < end; i++) {
            keep[i % 500] = new byte[i % 3000];
            if (i % 64 == 0) {
                lock.lock();
                shared++;
                lock.unlock();
                synchronized (Endure.class) {
                    shared++;
                }
            }
            if (i % 5000 == 0)
                LockSupport.parkNanos(20000);
            try {
                if (i % 1000 == 0)
                    throw new IllegalStateException("now and then");
            } catch (IllegalStateException e) {
                last = e;
            }
        }
    }

    static void run(int n, long ns) throws Exception {
        long end = System.nanoTime() + ns;
        Thread[] threads = new Thread[n];
        for (int i = 0; i < n; i++)
            (threads[i] = new Thread(() -> churn(end))).start();
        for (Thread thread : threads)
            thread.join();
    }

    /* Each round loads a class anew, and forgets it. */
    static void unload(int rounds) throws Exception {
        for (int i = 0; i < rounds; i++) {
            URL[] here = {Path.of(".").toUri().toURL()};
            try (URLClassLoader loader = new URLClassLoader(here, null)) {
                Class<?> loaded = loader.loadClass("Endure$Loaded");
                Object object = loaded.getConstructor().newInstance();
                for (int k = 0; k < 2000; k++)
                    last = loaded.getMethod("value", int.class).invoke(object, 100);
            }
            if (i % 20 == 0)
                System.gc();
        }
    }

    static void exhaust() {
        try {
            java.util.ArrayList<long[]> all = new java.util.ArrayList<>();
            for (;;)
                all.add(new long[10000]);
        } catch (OutOfMemoryError e) {
            last = e;
        }
    }

    public static void main(String[] words) throws Exception {
        int n = Integer.parseInt(words[1]);
        switch (words[0]) {
        case "run": run(n, Long.parseLong(words[2]) * 1000000); break;
        case "unload": unload(n); break;
        case "exhaust": exhaust(); break;
        case "forever":
            System.out.println("begins");
            run(n, Long.MAX_VALUE / 4);
            break;
        }
        System.out.println("done");
    }
}
EOF
javac Endure.java 2>javac.txt || fail "javac: $(cat javac.txt)"
record() { ctxrec --vm java --heap --heap-sample 64k --sync -q --no-archive --max-size 2G "$@"; }
# check NAME STATUS: the program did what it does, and no virtual machine wrote of an error of its own.
check() {
	[ "$2" = 0 ] || fail "$1: exit status $2: $(head -5 err.txt)"
	ls hs_err_pid* core* >/dev/null 2>&1 && fail "$1: a virtual machine crashed: $(ls hs_err_pid* core*)"
	rm -rf run.er
}

# Many starts, four at a time, under one recorder; then as many as are left, by turns.
cat >starts.sh <<'EOF'
n=$1
while [ "$n" -gt 0 ]; do
	for i in 1 2 3 4; do
		java -Xshare:auto -XX:+UseSerialGC -Xmx32m -cp . Endure run 2 20 2>>starts.err || echo "status $?" &
	done
	wait
	n=$((n - 4))
done
EOF
starts=${STARTS:-1000}
for options in "" "--vm-round-robin 100ms --vm-limit 2"; do
	record $options -o run.er -- sh starts.sh $((starts / 2)) >out.txt 2>err.txt
	status=$?
	[ "$(grep -c '^done$' out.txt)" = $(((starts / 2 + 3) / 4 * 4)) ] || fail "starts $options: $(sort out.txt | uniq -c)"
	ctxan run.er -r vms --limit 0 --format json | jq -c '[(.rows | length), ([.rows[] | select(.inside_samples > 0)] | length)]' | sed "s/^/starts $options: virtual machines, those with methods: /"
	check "starts $options" $status
done

for collector in Serial Parallel G1 Shenandoah Z; do
	record -F 10000 -o run.er -- java -Xmx256m -XX:+UnlockExperimentalVMOptions -XX:+Use${collector}GC -cp . Endure run 4 $((${SECONDS_EACH:-120} * 1000)) >out.txt 2>err.txt
	status=$?
	[ "$(cat out.txt)" = done ] || fail "$collector: $(cat out.txt)"
	check "$collector" $status
done

record -o run.er -- java -Xmx512m -Xss256k -cp . Endure run "${THREADS:-500}" 3000 >out.txt 2>err.txt
check "threads" $?
record -o run.er -- java -Xmx64m -cp . Endure unload 300 >out.txt 2>err.txt
check "unload" $?
record -o run.er -- java -Xmx64m -cp . Endure exhaust 0 >out.txt 2>err.txt
check "exhaust" $?

# Attach and detach; then the recorder is killed, then the virtual machine.
mkfifo ready
java -Xmx64m -cp . Endure forever 3 >ready 2>/dev/null &
program=$!
read -r said <ready
for i in $(seq "${ATTACHES:-100}"); do
	rm -rf run.er
	record -d 0.1 -o run.er -p $program 2>err.txt || fail "attach $i: exit status"
	kill -0 $program 2>/dev/null || { fail "attach $i: the program has ended"; break; }
done
for i in $(seq "${KILLS:-40}"); do
	rm -rf run.er
	# The agent alone: a kill while libctxrt.so is being attached (--heap, --sync) is another matter.
	timeout -s KILL "0.$((37 * i % 90 + 10))" "$bin/ctxrec" --vm java -q --no-archive -o run.er -p $program 2>/dev/null
	kill -0 $program 2>/dev/null || { fail "killed $i: the program has ended"; break; }
done
[ "$(ls /proc/$program/fd | wc -l)" -lt 40 ] || fail "descriptors are left: $(ls -l /proc/$program/fd)"
kill $program
wait $program 2>/dev/null
for i in $(seq "${KILLS:-40}"); do
	rm -rf run.er
	record -o run.er -- timeout -s KILL "0.$((37 * i % 90 + 10))" java -Xmx64m -cp . Endure run 3 2000 >out.txt 2>err.txt
	ctxan run.er -r vms -r functions >/dev/null 2>&1 || ctxan run.er -r functions >/dev/null 2>err2.txt || fail "killed machine $i: $(cat err2.txt)"
done
finish
