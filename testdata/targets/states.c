/*
 * Every state that a thread can be in, each for a known time: states [PHASE...]
 *
 * One thread a phase, one after the other (main waits in pthread_join meanwhile), so that they do
 * not compete for processors. A line of JSON a thread says how long its phase took and what CPU
 * time it used (own_times.h); its name is the phase's. Phases, with the function that is on the
 * stack and the state that it is about:
 *
 *	burn	   burn_cpu		USER	   300 ms of CPU time
 *	nap	   nap			SLEEP	   300 ms in nanosleep
 *	input	   wait_for_input	SLEEP	   100 ms and more in read of a pipe, once
 *	lock	   wait_for_lock	USER_LOCK  300 ms and more in pthread_mutex_lock; the thread "holder" naps with it
 *	stop	   be_stopped		STOPPED	   200 ms between SIGSTOP and SIGCONT, with main; a line "gap" says how long the
 *						   thread saw nothing of the world
 *	data	   touch_late_pages	DFAULT	   25 pages that come 10 ms after they are touched
 *	code	   run_late_code	TFAULT	   the same with pages of instructions; the kernel does not count such faults as
 *						   major, by which recorders know a text fault: DFAULT is what they see
 *	text	   run_cold_code	TFAULT	   1000 times a page of instructions that comes from disk; a line "calls" says how long
 *						   that took
 *	kernel	   read_into_late_pages	KFAULT	   the same with pages that read() touches
 *	compete	   compete_for_cpu	WAIT_CPU   two threads on one processor, 200 ms of CPU time each
 *	system	   call_kernel		SYSTEM	   300 ms of CPU time in read of /dev/zero
 *	trap	   touch_new_pages	TRAP	   300 ms of CPU time in page faults that do not wait
 *
 * Late pages are served by userfaultfd. Where it is refused (kernel: also where only root may see
 * faults of the kernel), or the file system of $TMPDIR has no disk, the phase is left out and a
 * line says so: {"phase":"text","refused":"..."}.
 */
#include "own_times.h"

#include <errno.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif
#define LATE_PAGES 25
#define COLD_CALLS 1000
#define PAGE_DELAY_NS (10 * MS)
#define THREADS_MAX 32

struct phase_thread {
	const char *name;
	void (*work)(void);
	pthread_t thread;
	int tid;
	struct own_times begin, end;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t lock_is_held;
static pthread_barrier_t both_compete;
static _Atomic int tid_at_pipe, tid_at_lock; /* who is about to wait there; 0: nobody yet */
static int pipe_ends[2];
static size_t one_cpu;
static unsigned char *late; /* LATE_PAGES pages */
static unsigned char *cold; /* a page of a file */
static int cold_file;
static int64_t cold_calls_ns, stopped_ns;
static size_t page_bytes;
static volatile int sink;

/* --- the phases --- */

NOINLINE void burn_cpu(void)
{
	compute_until(cpu_ns() + 300 * MS);
}

NOINLINE void nap(void)
{
	sleep_ns(300 * MS);
}

NOINLINE void wait_for_input(void)
{
	char byte;

	tid_at_pipe = (int)syscall(SYS_gettid);
	while (read(pipe_ends[0], &byte, 1) < 0 && errno == EINTR)
		;
}

/* Until a thread waits where it says that it will. */
static void wait_for_waiter(_Atomic int *tid)
{
	while (*tid == 0)
		sleep_ns(MS);
	wait_until_blocked(*tid);
}

static void write_late(void)
{
	wait_for_waiter(&tid_at_pipe);
	sleep_ns(100 * MS);
	while (write(pipe_ends[1], "", 1) < 0 && errno == EINTR)
		;
}

NOINLINE void wait_for_lock(void)
{
	tid_at_lock = (int)syscall(SYS_gettid);
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}

NOINLINE void hold_lock(void)
{
	pthread_mutex_lock(&lock);
	pthread_barrier_wait(&lock_is_held);
	wait_for_waiter(&tid_at_lock);
	sleep_ns(300 * MS);
	pthread_mutex_unlock(&lock);
}

/* A child stops this process, and lets it go on 200 ms later. */
static pid_t start_stopper(void)
{
	pid_t parent = getpid();
	pid_t child = fork();

	if (child != 0)
		return child;
	sleep_ns(20 * MS);
	kill(parent, SIGSTOP);
	sleep_ns(200 * MS);
	kill(parent, SIGCONT);
	_exit(0);
}

NOINLINE void be_stopped(void)
{
	int64_t begin = now_ns(), last = begin, now;
	pid_t child = start_stopper();

	/*
	 * The clock jumps when it was stopped. Other programs may take the CPU, but not for so
	 * long.
	 */
	for (now = begin; now - last < 150 * MS && now - begin < 2000 * MS; now = now_ns()) {
		last = now;
		compute();
	}
	stopped_ns = now - last;
	if (child > 0)
		waitpid(child, NULL, 0);
}

NOINLINE void touch_late_pages(void)
{
	for (int i = 0; i < LATE_PAGES; i++)
		sink += late[(size_t)i * page_bytes];
}

/* All pages have the same few instructions. */
static int call_code(const unsigned char *page)
{
	int (*function)(void);

	memcpy(&function, &page, sizeof(function));
	return function();
}

NOINLINE void run_late_code(void)
{
	for (int i = 0; i < LATE_PAGES; i++)
		sink += call_code(late + (size_t)i * page_bytes);
}

/* The page has to be read from disk again. */
static void forget_page(void)
{
	madvise(cold, page_bytes, MADV_DONTNEED);
	posix_fadvise(cold_file, 0, 0, POSIX_FADV_DONTNEED);
}

NOINLINE void run_cold_code(void)
{
	for (int i = 0; i < COLD_CALLS; i++) {
		int64_t begin = now_ns();

		sink += call_code(cold);
		cold_calls_ns += now_ns() - begin;
		forget_page();
	}
}

NOINLINE void read_into_late_pages(void)
{
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	for (int i = 0; i < LATE_PAGES; i++) {
		if (read(zero, late + (size_t)i * page_bytes, 16) != 16)
			break;
	}
	close(zero);
}

static void stay_on_one_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(one_cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

NOINLINE void compete_for_cpu(void)
{
	stay_on_one_cpu();
	pthread_barrier_wait(&both_compete);
	compute_until(cpu_ns() + 200 * MS);
}

NOINLINE void call_kernel(void)
{
	static char bytes[262144];
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	int64_t until = cpu_ns() + 300 * MS;

	while (cpu_ns() < until && read(zero, bytes, sizeof(bytes)) > 0)
		;
	close(zero);
}

NOINLINE void touch_new_pages(void)
{
	size_t size = 4 << 20;
	char *new = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int64_t until = cpu_ns() + 300 * MS;

	if (new == MAP_FAILED)
		return;
	madvise(new, size, MADV_NOHUGEPAGE);
	while (cpu_ns() < until) {
		for (size_t at = 0; at < size; at += page_bytes)
			((volatile char *)new)[at] = 1;
		madvise(new, size, MADV_DONTNEED);
	}
	munmap(new, size);
}

/* --- pages that come late --- */

struct page_server {
	int fd;
	int end_pipe[2];
	bool user_mode_only;
	unsigned char *page; /* what is served */
	pthread_t thread;
};

/* mov $1, %eax; ret, or the like. */
static void put_code(unsigned char *page)
{
#if defined(__x86_64__)
	static const unsigned char code[] = {0xb8, 1, 0, 0, 0, 0xc3};
#elif defined(__aarch64__)
	static const unsigned char code[] = {0x20, 0, 0x80, 0x52, 0xc0, 0x03, 0x5f, 0xd6};
#else
	static const unsigned char code[] = {0};
#endif
	memcpy(page, code, sizeof(code));
}

static void *serve_pages(void *argument)
{
	struct page_server *server = argument;
	struct pollfd ready[2] = {{.fd = server->fd, .events = POLLIN},
				  {.fd = server->end_pipe[0], .events = POLLIN}};
	struct uffd_msg message;

	pthread_setname_np(pthread_self(), "page-server");
	while (poll(ready, 2, -1) >= 0 || errno == EINTR) {
		if (ready[1].revents != 0)
			break;
		if (read(server->fd, &message, sizeof(message)) != (ssize_t)sizeof(message) ||
		    message.event != UFFD_EVENT_PAGEFAULT)
			continue;
		sleep_ns(PAGE_DELAY_NS);
		struct uffdio_copy copy = {
			.dst = message.arg.pagefault.address & ~((uint64_t)page_bytes - 1),
			.src = (uintptr_t)server->page,
			.len = page_bytes,
		};
		ioctl(server->fd, UFFDIO_COPY, &copy);
	}
	return NULL;
}

static int open_userfaultfd(bool *ret_user_mode_only)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	*ret_user_mode_only = fd < 0;
	return fd >= 0 ? fd : (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
}

/* False: errno says why there are no late pages here. */
static bool start_page_server(struct page_server *server)
{
	struct uffdio_api api = {.api = UFFD_API};

	server->fd = open_userfaultfd(&server->user_mode_only);
	if (server->fd < 0 || ioctl(server->fd, UFFDIO_API, &api) != 0 || pipe(server->end_pipe) != 0)
		return false;
	server->page = mmap(NULL, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	late = mmap(NULL, LATE_PAGES * page_bytes, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (server->page == MAP_FAILED || late == MAP_FAILED)
		return false;
	madvise(late, LATE_PAGES * page_bytes, MADV_NOHUGEPAGE);
	put_code(server->page);
	struct uffdio_register all = {
		.range = {.start = (uintptr_t)late, .len = LATE_PAGES * page_bytes},
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	if (ioctl(server->fd, UFFDIO_REGISTER, &all) != 0)
		return false;
	errno = pthread_create(&server->thread, NULL, serve_pages, server);
	return errno == 0;
}

static void stop_page_server(struct page_server *server)
{
	close(server->end_pipe[1]);
	pthread_join(server->thread, NULL);
	close(server->end_pipe[0]);
	close(server->fd);
	munmap(late, LATE_PAGES * page_bytes);
	munmap(server->page, page_bytes);
}

/* --- a page that comes from disk --- */

/* A file without a name that is a page of instructions; -1: errno says why not. */
static int make_file_of_code(void)
{
	const char *folder = getenv("TMPDIR") == NULL ? "/tmp" : getenv("TMPDIR");
	unsigned char *page = calloc(1, page_bytes);
	char path[4096];
	ssize_t written;
	int fd;

	snprintf(path, sizeof(path), "%s/states-XXXXXX", folder);
	fd = mkstemp(path);
	if (fd < 0 || page == NULL)
		return -1;
	unlink(path);
	put_code(page);
	written = write(fd, page, page_bytes);
	free(page);
	return written != (ssize_t)page_bytes || fsync(fd) != 0 ? -1 : fd;
}

/* False: what is dropped is still there, as on file systems without a disk. */
static bool can_forget(void)
{
	unsigned char resident = 1;

	forget_page();
	return mincore(cold, page_bytes, &resident) == 0 && (resident & 1) == 0;
}

/* --- which phases, and their threads --- */

static void *run_phase(void *argument)
{
	struct phase_thread *phase = argument;

	pthread_setname_np(pthread_self(), phase->name);
	phase->tid = (int)syscall(SYS_gettid);
	phase->begin = own_times();
	phase->work();
	phase->end = own_times();
	return NULL;
}

static void start(struct phase_thread *phase)
{
	if (pthread_create(&phase->thread, NULL, run_phase, phase) != 0) {
		perror("states: pthread_create");
		exit(1);
	}
}

static void finish(struct phase_thread *phase)
{
	pthread_join(phase->thread, NULL);
	print_phase(phase->name, phase->tid, phase->name, phase->begin, phase->end);
}

static void run_alone(struct phase_thread *phase)
{
	start(phase);
	finish(phase);
}

static void run_with_stopper(struct phase_thread *phase)
{
	run_alone(phase);
	printf("{\"phase\":\"gap\",\"thread\":\"%s\",\"wall\":%" PRId64 "}\n", phase->name, stopped_ns);
}

static void run_with_late_pages(struct phase_thread *phase)
{
	struct page_server server = {0};

	if (!start_page_server(&server))
		printf("{\"phase\":\"%s\",\"refused\":\"userfaultfd: %s\"}\n", phase->name, strerror(errno));
	else if (server.user_mode_only && strcmp(phase->name, "kernel") == 0)
		printf("{\"phase\":\"kernel\",\"refused\":\"userfaultfd: faults of the kernel are not for "
		       "ordinary users\"}\n");
	else
		run_alone(phase);
	if (server.thread != 0)
		stop_page_server(&server);
}

static void run_with_cold_file(struct phase_thread *phase)
{
	cold_file = make_file_of_code();
	cold = cold_file < 0 ? MAP_FAILED
			     : mmap(NULL, page_bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, cold_file, 0);
	if (cold == MAP_FAILED) {
		printf("{\"phase\":\"%s\",\"refused\":\"a file of instructions: %s\"}\n", phase->name,
		       strerror(errno));
		return;
	}
	if (can_forget()) {
		run_alone(phase);
		printf("{\"phase\":\"calls\",\"thread\":\"text\",\"wall\":%" PRId64 ",\"times\":%d}\n",
		       cold_calls_ns, COLD_CALLS);
	} else {
		printf("{\"phase\":\"%s\",\"refused\":\"files here stay in memory\"}\n", phase->name);
	}
	munmap(cold, page_bytes);
	close(cold_file);
}

static void run_with_holder(struct phase_thread *phase)
{
	struct phase_thread holder = {.name = "holder", .work = hold_lock};

	pthread_barrier_init(&lock_is_held, NULL, 2);
	start(&holder);
	pthread_barrier_wait(&lock_is_held);
	run_alone(phase);
	finish(&holder);
}

static void run_with_writer(struct phase_thread *phase)
{
	struct phase_thread writer = {.name = "writer", .work = write_late};

	if (pipe(pipe_ends) != 0)
		return;
	start(phase);
	start(&writer);
	finish(phase);
	finish(&writer);
	close(pipe_ends[0]);
	close(pipe_ends[1]);
}

static void run_twice_at_once(struct phase_thread *phase)
{
	struct phase_thread other = *phase;

	pthread_barrier_init(&both_compete, NULL, 2);
	start(phase);
	start(&other);
	finish(phase);
	finish(&other);
}

static const struct {
	const char *name;
	void (*work)(void);
	void (*run)(struct phase_thread *phase);
} phases[] = {
	{"burn", burn_cpu, run_alone},
	{"nap", nap, run_alone},
	{"input", wait_for_input, run_with_writer},
	{"lock", wait_for_lock, run_with_holder},
	{"stop", be_stopped, run_with_stopper},
	{"data", touch_late_pages, run_with_late_pages},
	{"code", run_late_code, run_with_late_pages},
	{"text", run_cold_code, run_with_cold_file},
	{"kernel", read_into_late_pages, run_with_late_pages},
	{"compete", compete_for_cpu, run_twice_at_once},
	{"system", call_kernel, run_alone},
	{"trap", touch_new_pages, run_alone},
};

static bool is_asked(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], name) == 0)
			return true;
	}
	return argc < 2;
}

static size_t first_allowed_cpu(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0) {
		for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
			if (CPU_ISSET(cpu, &set))
				return cpu;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct own_times begin = own_times();

	setvbuf(stdout, NULL, _IOLBF, 4096);
	page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	one_cpu = first_allowed_cpu();
	for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++) {
		struct phase_thread phase = {.name = phases[i].name, .work = phases[i].work};

		if (is_asked(phase.name, argc, argv))
			phases[i].run(&phase);
	}
	print_phase("states", getpid(), "main", begin, own_times());
	return 0;
}
