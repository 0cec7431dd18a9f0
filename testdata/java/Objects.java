/*
 * Allocations and waits for monitors that are known: COUNT arrays of 102400 bytes in big(), one thread that waits for a
 * monitor in enter() while another one has it, and one that waits in Object.wait() until it is notified.
 */
public class Objects {
	static final class Lock {
		boolean isReady;
	}

	static final Lock monitor = new Lock(), condition = new Lock();
	static volatile byte[] last;

	static void big() {
		last = new byte[102400];
	}

	static void enter() {
		synchronized (monitor) {
			monitor.isReady = true;
		}
	}

	static void await() {
		synchronized (condition) {
			while (!condition.isReady) {
				try {
					condition.wait();
				} catch (InterruptedException e) {
					return;
				}
			}
		}
	}

	static void waitFor(Thread thread, Thread.State state) throws InterruptedException {
		while (thread.getState() != state)
			Thread.sleep(1);
	}

	public static void main(String[] arguments) throws InterruptedException {
		Thread entering = new Thread(Objects::enter), waiting = new Thread(Objects::await);

		for (int i = 0; i < Integer.parseInt(arguments[0]); i++)
			big();
		synchronized (monitor) {
			entering.start();
			waitFor(entering, Thread.State.BLOCKED);
		}
		entering.join();
		waiting.start();
		waitFor(waiting, Thread.State.WAITING);
		synchronized (condition) {
			condition.isReady = true;
			condition.notifyAll();
		}
		waiting.join();
		System.out.println("done");
	}
}
