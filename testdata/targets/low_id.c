/*
 * Wakes a child that has a lower id than its parent, as after the ids have begun anew (pid_max):
 *
 *	low_id WAKES
 *
 * The child is woken that often in wake_child, each time once it sleeps, and only after the recorder (the parent of this
 * program) has opened one more perf event for each CPU, or ten seconds. It does not where ids will begin anew soon. Prints
 * the child's id; "refused" where a process may not choose an id.
 */
#include <dirent.h>
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FIRST_ID 301 /* lower ones are the kernel's */

static int to_child[2];

static long number_in(const char *path, char before)
{
	char text[256] = "";
	FILE *file = fopen(path, "re");
	char *at;

	if (file == NULL || fgets(text, sizeof(text), file) == NULL)
		exit(1);
	fclose(file);
	at = before != 0 ? strrchr(text, before) : text;
	return at != NULL ? strtol(before != 0 ? at + 1 : at, NULL, 10) : 0;
}

static int count_events(void)
{
	char path[64], link[64];
	struct dirent *entry;
	int n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)getppid());
	dir = opendir(path);
	if (dir == NULL)
		exit(1);
	while ((entry = readdir(dir)) != NULL) {
		ssize_t bytes = readlinkat(dirfd(dir), entry->d_name, link, sizeof(link));

		n += bytes > 0 && memmem(link, (size_t)bytes, "[perf_event]", 12) != NULL;
	}
	closedir(dir);
	return n;
}

static void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

__attribute__((noinline)) static void wait_for_parent(void)
{
	char byte;

	while (read(to_child[0], &byte, 1) == 1)
		;
}

__attribute__((noinline)) static void wake_child(void)
{
	if (write(to_child[1], "", 1) != 1)
		exit(1);
}

static bool sleeps(pid_t pid)
{
	char path[64], text[256] = "";
	FILE *file;
	char *at;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (file == NULL || fgets(text, sizeof(text), file) == NULL)
		exit(1);
	fclose(file);
	at = strrchr(text, ')');
	return at != NULL && at[2] == 'S';
}

static pid_t start_child(void)
{
	for (pid_t id = FIRST_ID; id < getpid(); id++) {
		struct clone_args args = {
			.exit_signal = SIGCHLD, .set_tid = (uint64_t)(uintptr_t)&id, .set_tid_size = 1};
		pid_t child = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

		if (child == 0) {
			close(to_child[1]);
			wait_for_parent();
			_exit(0);
		}
		if (child > 0 || errno != EEXIST)
			return child;
	}
	return -1;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? strtol(argv[1], NULL, 10) : 1, max = number_in("/proc/sys/kernel/pid_max", 0);
	bool is_high = number_in("/proc/loadavg", ' ') > max / 8 * 7 + max / 64;
	int after = count_events() + (int)sysconf(_SC_NPROCESSORS_ONLN);
	pid_t child;

	if (pipe(to_child) != 0 || (child = start_child()) < 0) {
		printf("refused\n");
		return 0;
	}
	for (int i = 0; i < 1000 && count_events() < after && !is_high; i++)
		nap();
	while (!sleeps(getppid())) /* it has come to the end of what it does about it */
		nap();
	while (n-- > 0) {
		while (!sleeps(child))
			nap();
		wake_child();
	}
	close(to_child[1]);
	waitpid(child, NULL, 0);
	printf("%d\n", (int)child);
	return 0;
}
