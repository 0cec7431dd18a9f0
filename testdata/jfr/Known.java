import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.util.concurrent.locks.LockSupport;

/** Does some of everything that ctxan reads of JFR: args[0] rounds of running, allocating, waiting, sleeping, files and collections. */
public class Known {
	static final Object lock = new Object();
	static volatile long sink;
	static volatile Object kept;

	static void burn(long ms) {
		long end = System.nanoTime() + ms * 1_000_000;
		long x = 1;
		while (System.nanoTime() < end)
			for (int i = 0; i < 1000; i++)
				x = x * 6364136223846793005L + 1;
		sink = x;
	}

	static void outer(long ms) {
		burn(ms);
	}

	static int deep(int n) {
		if (n == 0) {
			burn(30);
			return 0;
		}
		return deep(n - 1) + 1;
	}

	static void allocate(int n) {
		for (int i = 0; i < n; i++)
			kept = new byte[1000 + i % 7];
		kept = new long[300_000];
		kept = new String[1000][2];
	}

	static void hold() throws Exception {
		synchronized (lock) {
			Thread.sleep(40);
		}
	}

	static void contend() {
		synchronized (lock) {
			sink++;
		}
	}

	static void files() throws Exception {
		try (FileOutputStream out = new FileOutputStream("known.txt")) {
			out.write(new byte[12345]);
		}
		try (FileInputStream in = new FileInputStream("known.txt")) {
			in.read(new byte[20000]);
		}
	}

	public static void main(String[] args) throws Exception {
		for (int round = 0; round < Integer.parseInt(args[0]); round++) {
			Thread holder = new Thread(() -> {
				try {
					hold();
				} catch (Exception e) {
					throw new RuntimeException(e);
				}
			}, "holder-" + round);
			holder.start();
			Thread.sleep(15);
			contend();
			holder.join();
			outer(150);
			deep(100);
			allocate(20_000);
			synchronized (lock) {
				lock.wait(12);
			}
			LockSupport.parkNanos(11_000_000);
			files();
			System.gc();
		}
	}
}
