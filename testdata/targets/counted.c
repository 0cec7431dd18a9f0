/*
 * Executions of functions, by construction, where it is hard to count them: threads that come and go, processes that fork, vfork and
 * execute something, signal handlers, a killed child. Prints how often f was executed, in all processes.
 *
 *	counted [exec N | kill | signals | library PATH]
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static volatile int sink;
static volatile long handled;

NOINLINE void f(void)
{
	sink++;
}

NOINLINE void g(void)
{
	sink++;
	f();
}

static void on_alarm(int signal)
{
	(void)signal;
	f();
	handled++;
}

static void *run(void *unused)
{
	for (int i = 0; i < 100; i++)
		f();
	return unused;
}

static long threads(void)
{
	pthread_t ids[20];

	for (int round = 0; round < 10; round++) {
		for (int i = 0; i < 20; i++)
			pthread_create(&ids[i], NULL, run, NULL);
		for (int i = 0; i < 20; i++)
			pthread_join(ids[i], NULL);
	}
	return 20000;
}

static long forks(void)
{
	for (int i = 0; i < 30; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			f();
			if (fork() == 0) {
				f();
				f();
				_exit(0);
			}
			wait(NULL);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	return 90;
}

static long vforks(void)
{
	for (int i = 0; i < 10; i++) {
		pid_t pid = vfork();

		if (pid == 0) {
			f();
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	return 10;
}

/* By a system call that the C library does not know of. */
static long bare(void)
{
	for (int i = 0; i < 5; i++) {
		long pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

		if (pid == 0) {
			f();
			f();
			syscall(SYS_exit_group, 0);
		}
		waitpid((pid_t)pid, NULL, 0);
	}
	return 10;
}

static long killed(void)
{
	int ends[2];
	char byte;
	pid_t pid;

	if (pipe(ends) != 0)
		return 0;
	pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 12345; i++)
			f();
		(void)!write(ends[1], "x", 1);
		for (;;)
			pause();
	}
	(void)!read(ends[0], &byte, 1);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return 12345;
}

static long signals(void)
{
	struct itimerval timer = {{0, 200}, {0, 200}};

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &timer, NULL);
	for (int i = 0; i < 3000000; i++)
		f();
	timer = (struct itimerval){0};
	setitimer(ITIMER_REAL, &timer, NULL);
	return 3000000 + handled;
}

static long library(const char *path)
{
	void *opened;
	void (*from)(void);
	long n = 0;

	/* Twice: it is closed in between. */
	for (int round = 0; round < 2; round++) {
		opened = dlopen(path, RTLD_NOW);
		if (opened == NULL)
			return -1;
		*(void **)&from = dlsym(opened, "from_library");
		for (int i = 0; i < 50; i++, n++)
			from();
		dlclose(opened);
	}
	return n;
}

int main(int argc, char **argv)
{
	char text[32];

	if (argc > 2 && strcmp(argv[1], "exec") == 0) {
		for (int i = 0; i < 7; i++)
			g();
		printf("%ld\n", atol(argv[2]) + 7);
	} else if (argc > 2) {
		printf("%ld\n", library(argv[2]));
	} else if (argc > 1 && strcmp(argv[1], "kill") == 0) {
		printf("%ld\n", killed());
	} else if (argc > 1) {
		printf("%ld\n", signals());
	} else {
		snprintf(text, sizeof(text), "%ld", threads() + forks() + vforks() + bare());
		execl(argv[0], argv[0], "exec", text, NULL);
		return 1;
	}
	return 0;
}
