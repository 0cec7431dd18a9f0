/*
 * Preloaded into ctxan (LD_PRELOAD), so that a test meets an ingest in its middle: when the
 * database has been written for the STOP_AT-th time (while its name ends in .tmp) the process stops
 * itself, as by SIGSTOP. With SLOW_MS it waits so long when it opens the database.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long number_in(const char *variable)
{
	const char *text = getenv(variable);

	return text != NULL ? atol(text) : 0;
}

static int is_database(int fd)
{
	char link[64], path[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path));
	return n > 4 && memcmp(path + n - 4, ".tmp", 4) == 0;
}

static void written(int fd)
{
	static long times;

	if (is_database(fd) && ++times == number_in("STOP_AT"))
		kill(getpid(), SIGSTOP);
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at)
{
	ssize_t done = syscall(SYS_pwrite64, fd, bytes, n, at);

	written(fd);
	return done;
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
	return pwrite64(fd, bytes, n, at);
}

int ftruncate64(int fd, off64_t size)
{
	struct timespec wait = {number_in("SLOW_MS") / 1000, number_in("SLOW_MS") % 1000 * 1000000};

	if (is_database(fd))
		nanosleep(&wait, NULL);
	return (int)syscall(SYS_ftruncate, fd, size);
}

int ftruncate(int fd, off_t size)
{
	return ftruncate64(fd, size);
}
