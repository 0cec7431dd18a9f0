/*
 * What coverage must not disturb: own handlers of SIGTRAP, blocked signals, handlers that block everything, forks, a child that is killed,
 * and a library that is opened. Prints what happened.
 *
 *	covered [LIBRARY]	LIBRARY has a function `opened`
 *	covered die		dies of its own SIGTRAP
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t traps, alarms;

static void on_trap(int number)
{
	(void)number;
	traps++;
}

static void on_alarm(int number)
{
	(void)number;
	alarms++; /* a handler meets sites, too */
}

static void *run_blocked(void *unused)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	puts("all signals are blocked"); /* a site with SIGTRAP blocked would end the program */
	fflush(stdout);
	return unused;
}

static void wait_for_alarm(void)
{
	struct sigaction action = {.sa_handler = on_alarm};
	sigset_t alarm_only, others;

	sigfillset(&action.sa_mask);
	sigaction(SIGALRM, &action, NULL);
	sigemptyset(&alarm_only);
	sigaddset(&alarm_only, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarm_only, NULL);
	ualarm(1000, 0);
	sigfillset(&others);
	sigdelset(&others, SIGALRM);
	while (alarms == 0)
		sigsuspend(&others);
	printf("alarms %d\n", (int)alarms);
}

static int in_child(void)
{
	return 7; /* executed in the child alone, which ends by _exit */
}

static void fork_once(void)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(in_child());
	waitpid(pid, &status, 0);
	printf("child %d\n", WEXITSTATUS(status));
}

static void open_library(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	int (*opened)(int) = library != NULL ? (int (*)(int))dlsym(library, "opened") : NULL;

	printf("opened %d\n", opened != NULL ? opened(1) : -1);
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_trap}, old;
	pthread_t thread;

	if (argc > 1 && strcmp(argv[1], "die") == 0) {
		raise(SIGTRAP);
		return 3; /* never */
	}
	sigaction(SIGTRAP, &action, NULL);
	raise(SIGTRAP);
	__asm__ volatile("int3");
	sigaction(SIGTRAP, NULL, &old);
	printf("traps %d, handler %s\n", (int)traps, old.sa_handler == on_trap ? "kept" : "lost");
	fflush(stdout);
	pthread_create(&thread, NULL, run_blocked, NULL);
	pthread_join(thread, NULL);
	wait_for_alarm();
	fork_once();
	if (argc > 1)
		open_library(argv[1]);
	return 0;
}
