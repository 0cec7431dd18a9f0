/*
 * Runs a command and appends one line to a file: CPU seconds (user and system of the command and
 * all it waited for), peak memory in MB (the largest process), elapsed seconds, bytes read from
 * storage; "failed" if the command failed.
 *
 *	measure FILE COMMAND [ARGUMENT...]
 *
 * Like time(1), but in microseconds: an interval query takes less than time's resolution of 0.01 s.
 */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	struct rusage use;
	double begin = now();
	int wait_status, error;
	pid_t pid;
	FILE *file;

	if (argc < 3) {
		fprintf(stderr, "usage: measure FILE COMMAND [ARGUMENT...]\n");
		return 2;
	}
	error = posix_spawnp(&pid, argv[2], NULL, NULL, argv + 2, environ);
	if (error != 0) {
		fprintf(stderr, "measure: %s: %s\n", argv[2], strerror(error));
		return 2;
	}
	while (wait4(pid, &wait_status, 0, &use) < 0)
		if (errno != EINTR)
			return 2;
	file = fopen(argv[1], "ae");
	if (file == NULL) {
		fprintf(stderr, "measure: %s: %s\n", argv[1], strerror(errno));
		return 2;
	}
	if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0)
		fprintf(file, "%.6f %.1f %.6f %ld\n", seconds(use.ru_utime) + seconds(use.ru_stime),
			(double)use.ru_maxrss / 1024, now() - begin, use.ru_inblock * 512);
	else
		fprintf(file, "failed\n");
	if (fclose(file) != 0)
		return 2;
	return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 1;
}
