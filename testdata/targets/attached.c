/*
 * Runs until its input ends, for ctxrec --trace -p: each line of input is a command, which it answers with a line when it
 * has been done. Counts are those of the functions' names.
 *
 *	attached WAYS	begins with "PID"; a letter of WAYS each: b waits by way of read, n nanosleep, f a futex (a condition
 *			variable), e epoll_wait in a thread each; l allocates in a loop in a thread, p waits in poll
 *	attached WAYS W	the main thread waits in the way W, and another one takes the commands
 *
 *	heap		allocates_200: 200 blocks of 30 bytes, of which 50 stay; libc_allocates_40: 40 by strdup, freed
 *	free		frees 10 blocks that it has had from its beginning
 *	threads		100 blocks in each of 3 new threads
 *	sync		waits_5: for a lock that another thread holds until it waits
 *	io		writes_20: 20 writes of 10 bytes to /dev/null; reads_7: 7 reads of 3 bytes
 *	child		a child, 30 blocks of 12 bytes in `in_child`
 *	exec PROGRAM N	runs PROGRAM child N, waits
 *	load FILE FUNCTION	dlopen, dlsym, calls it
 *	signals N	waits until N signals SIGRTMIN have come
 *	end		its threads end; exit status 7
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define WAYS_MAX 16
#define OLD 10

static void *volatile kept;
static void *old[OLD];
static atomic_int ends;
static int wake[2], event_fd; /* the former is a pipe on which nothing comes before the end */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, ending = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static atomic_int holder_tid, waiter_tid;

static void check(int is_right, const char *what)
{
	if (is_right)
		return;
	printf("wrong: %s: %s\n", what, strerror(errno));
	fflush(stdout);
	_exit(1);
}

/* What threads wait for */

static void *blocks_in_read(void *unused)
{
	char byte;

	check(read(wake[0], &byte, 1) == 0, "read");
	return unused;
}

static void *blocks_in_poll(void *unused)
{
	struct pollfd item = {.fd = wake[0], .events = POLLIN};

	check(poll(&item, 1, 3600 * 1000) == 1, "poll");
	return unused;
}

static void *blocks_in_epoll(void *unused)
{
	int fd = epoll_create1(0);
	struct epoll_event event = {.events = EPOLLIN};

	check(fd >= 0 && epoll_ctl(fd, EPOLL_CTL_ADD, event_fd, &event) == 0, "epoll_ctl");
	check(epoll_wait(fd, &event, 1, -1) == 1, "epoll_wait");
	close(fd);
	return unused;
}

static void *blocks_in_futex(void *unused)
{
	pthread_mutex_lock(&ending);
	while (!ends)
		pthread_cond_wait(&ended, &ending);
	pthread_mutex_unlock(&ending);
	return unused;
}

/* It is never over early: what is left is given only where the sleep was interrupted. */
static void *blocks_in_nanosleep(void *unused)
{
	struct timespec pause = {.tv_nsec = 20000000}, rest;

	while (!ends)
		check(nanosleep(&pause, &rest) == 0, "nanosleep");
	return unused;
}

NOINLINE static void *loops(void *unused)
{
	/* Each block is freed in the next round: what it has does not grow. */
	for (unsigned i = 0; !ends; i++) {
		char *block = malloc(i % 500 + 1), *other;

		check(block != NULL, "malloc");
		memset(block, (int)i, i % 500 + 1);
		other = realloc(block, i % 900 + 1);
		check(other != NULL && (unsigned char)other[0] == (i & 0xff), "a block's bytes");
		free(other);
	}
	return unused;
}

/* Commands */

NOINLINE void allocates_200(void)
{
	for (int i = 0; i < 200; i++) {
		kept = malloc(30);
		if (i % 4 != 0)
			free(kept);
	}
}

NOINLINE void libc_allocates_40(void)
{
	for (int i = 0; i < 40; i++) {
		kept = strdup("0123456");
		free(kept);
	}
}

NOINLINE void frees_10(void)
{
	for (int i = 0; i < OLD; i++) {
		free(old[i]);
		old[i] = NULL;
	}
}

NOINLINE static void *in_thread_100(void *unused)
{
	for (int i = 0; i < 100; i++) {
		kept = malloc(16);
		free(kept);
	}
	return unused;
}

static void threads_3(void)
{
	pthread_t threads[3];

	for (int i = 0; i < 3; i++) {
		check(pthread_create(&threads[i], NULL, in_thread_100, NULL) == 0, "pthread_create");
		pthread_join(threads[i], NULL);
	}
}

/* Whether a thread sleeps: the kernel says so. */
static int sleeps(int tid)
{
	char path[64], text[256] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	fd = open(path, O_RDONLY);
	if (fd >= 0) {
		(void)!syscall(SYS_read, fd, text, sizeof(text) - 1);
		close(fd);
	}
	return strstr(text, ") S ") != NULL;
}

static void *holds(void *unused)
{
	pthread_mutex_lock(&lock);
	holder_tid = (int)syscall(SYS_gettid);
	while (waiter_tid == 0 || !sleeps(waiter_tid))
		sched_yield();
	pthread_mutex_unlock(&lock);
	return unused;
}

NOINLINE void waits_5(void)
{
	for (int i = 0; i < 5; i++) {
		pthread_t thread;

		holder_tid = waiter_tid = 0;
		check(pthread_create(&thread, NULL, holds, NULL) == 0, "pthread_create");
		while (holder_tid == 0)
			sched_yield();
		waiter_tid = (int)syscall(SYS_gettid);
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
		pthread_join(thread, NULL);
	}
}

NOINLINE void writes_20(void)
{
	int fd = open("/dev/null", O_WRONLY);

	for (int i = 0; i < 20; i++)
		check(write(fd, "0123456789", 10) == 10, "write");
	close(fd);
}

NOINLINE void reads_7(void)
{
	int fd = open("/dev/zero", O_RDONLY);
	char bytes[3];

	for (int i = 0; i < 7; i++)
		check(read(fd, bytes, 3) == 3, "read");
	close(fd);
}

NOINLINE void in_child(void)
{
	for (int i = 0; i < 30; i++)
		kept = malloc(12);
}

static void wait_for(pid_t pid)
{
	int status;

	check(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0, "child");
}

static void forks(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		in_child();
		_exit(0);
	}
	wait_for(pid);
}

static void executes(char *program, char *n)
{
	char *const argv[] = {program, "child", n, NULL};
	pid_t pid = fork();

	if (pid == 0) {
		execv(program, argv);
		_exit(1);
	}
	wait_for(pid);
}

static void loads(const char *file, const char *function)
{
	void *library = dlopen(file, RTLD_NOW);
	void (*found)(void);

	check(library != NULL, "dlopen");
	*(void **)&found = dlsym(library, function);
	check(found != NULL, "dlsym");
	found();
	dlclose(library);
}

static atomic_int n_signals;

static void count_signal(int number)
{
	(void)number;
	n_signals++;
}

static void waits_for_signals(int n)
{
	while (n_signals < n)
		sched_yield();
	check(n_signals == n, "signals");
}

static void obey(char *line)
{
	char *name = strtok(line, " \n"), *first = strtok(NULL, " \n"), *second = strtok(NULL, " \n");

	if (strcmp(name, "heap") == 0) {
		allocates_200();
		libc_allocates_40();
	} else if (strcmp(name, "free") == 0) {
		frees_10();
	} else if (strcmp(name, "threads") == 0) {
		threads_3();
	} else if (strcmp(name, "sync") == 0) {
		waits_5();
	} else if (strcmp(name, "io") == 0) {
		writes_20();
		reads_7();
	} else if (strcmp(name, "child") == 0) {
		forks();
	} else if (strcmp(name, "exec") == 0) {
		executes(first, second);
	} else if (strcmp(name, "signals") == 0) {
		waits_for_signals(atoi(first));
	} else if (strcmp(name, "load") == 0) {
		loads(first, second);
	} else {
		check(0, name);
	}
	printf("%s\n", name);
	fflush(stdout);
}

static void *(*way_of(char letter))(void *)
{
	switch (letter) {
	case 'b':
		return blocks_in_read;
	case 'n':
		return blocks_in_nanosleep;
	case 'f':
		return blocks_in_futex;
	case 'e':
		return blocks_in_epoll;
	case 'p':
		return blocks_in_poll;
	default:
		return loops;
	}
}

static void *obeys(void *unused)
{
	char line[4096];

	while (fgets(line, sizeof(line), stdin) != NULL && strcmp(line, "end\n") != 0)
		obey(line);
	pthread_mutex_lock(&ending);
	ends = 1;
	pthread_cond_broadcast(&ended);
	pthread_mutex_unlock(&ending);
	close(wake[1]);
	check(write(event_fd, &(uint64_t){1}, 8) == 8, "eventfd");
	return unused;
}

int main(int argc, char **argv)
{
	struct sigaction counts = {.sa_handler = count_signal, .sa_flags = SA_RESTART};
	pthread_t threads[WAYS_MAX + 1];
	int n = 0;

	if (argc < 2 || argc > 3 || strlen(argv[1]) > WAYS_MAX || sigaction(SIGRTMIN, &counts, NULL) != 0)
		return 2;
	for (int i = 0; i < OLD; i++)
		old[i] = malloc(100);
	event_fd = eventfd(0, EFD_CLOEXEC);
	check(pipe2(wake, O_CLOEXEC) == 0 && event_fd >= 0, "pipe");
	for (; argv[1][n] != '\0'; n++)
		check(pthread_create(&threads[n], NULL, way_of(argv[1][n]), NULL) == 0, "pthread_create");
	printf("%ld\n", (long)getpid());
	fflush(stdout);
	if (argc == 3) {
		check(pthread_create(&threads[n++], NULL, obeys, NULL) == 0, "pthread_create");
		way_of(argv[2][0])(NULL);
	} else {
		obeys(NULL);
	}
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	puts("all is right");
	return 7;
}
