import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/*
 * Allocations and waits that are known: COUNT arrays of 102400 bytes in big(), one thread that waits for a monitor in enter()
 * and one for a lock in lock(), while the main thread has them, one that waits in Object.wait() until it is notified, and one
 * that is parked in park().
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

	static final ReentrantLock reentrant = new ReentrantLock();

	static void lock() {
		reentrant.lock();
		reentrant.unlock();
	}

	static void park() {
		while (!condition.isReady)
			LockSupport.park(condition);
	}

	static void waitFor(Thread thread, Thread.State state) throws InterruptedException {
		while (thread.getState() != state)
			Thread.sleep(1);
	}

	public static void main(String[] arguments) throws InterruptedException {
		Thread entering = new Thread(Objects::enter), waiting = new Thread(Objects::await);
		Thread locking = new Thread(Objects::lock), parking = new Thread(Objects::park);

		for (int i = 0; i < Integer.parseInt(arguments[0]); i++)
			big();
		synchronized (monitor) {
			entering.start();
			waitFor(entering, Thread.State.BLOCKED);
		}
		entering.join();
		reentrant.lock();
		locking.start();
		waitFor(locking, Thread.State.WAITING);
		reentrant.unlock();
		locking.join();
		waiting.start();
		parking.start();
		waitFor(waiting, Thread.State.WAITING);
		waitFor(parking, Thread.State.WAITING);
		synchronized (condition) {
			condition.isReady = true;
			condition.notifyAll();
		}
		LockSupport.unpark(parking);
		waiting.join();
		parking.join();
		System.out.println("done");
	}
}
