/*
 * A program whose call stacks are known: each of three methods runs for a time that is measured by the thread's own clock,
 * below callers that never change.
 *
 *	java Shares MS [forever]	MS in leaf, below mid; twice that in deep, below 40 calls of itself; MS in a lambda
 */
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.function.IntUnaryOperator;

public class Shares {
    static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    static int sink;

    static int leaf(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++)
            sum += i * i ^ n;
        return sum;
    }

    static void mid(long ns) {
        long end = THREADS.getCurrentThreadCpuTime() + ns;
        while (THREADS.getCurrentThreadCpuTime() < end)
            for (int i = 0; i < 20; i++)
                sink += leaf(2000);
    }

    static void deep(int depth, long ns) {
        if (depth > 1) {
            deep(depth - 1, ns);
            sink++;
            return;
        }
        long end = THREADS.getCurrentThreadCpuTime() + ns;
        while (THREADS.getCurrentThreadCpuTime() < end)
            for (int i = 0; i < 40000; i++)
                sink += i % 7 * i;
    }

    static void by(IntUnaryOperator function, long ns) {
        long end = THREADS.getCurrentThreadCpuTime() + ns;
        while (THREADS.getCurrentThreadCpuTime() < end)
            for (int i = 0; i < 20; i++)
                sink += function.applyAsInt(i);
    }

    static void work(long ns) {
        mid(ns);
        deep(40, 2 * ns);
        by(n -> {
            int sum = n;
            for (int i = 0; i < 2000; i++)
                sum = sum * 31 + i;
            return sum;
        }, ns);
    }

    public static void main(String[] words) {
        long ns = Long.parseLong(words[0]) * 1000000;
        boolean forever = words.length > 1;
        if (forever)
            System.out.println("begins");
        do {
            work(ns);
        } while (forever);
        System.gc();
        System.gc();
        System.out.println("done");
    }
}
