/*
 * A recursion far deeper than what is copied of a stack: _start < main < work < recurse < ... < leaf.
 *
 *	deepest SECONDS DEPTH thread	in a second thread
 *	deepest SECONDS DEPTH two	from two functions in turn: first < recurse < ... < leaf_of_first, second < recurse < ... < leaf_of_second
 *	deepest SECONDS DEPTH other	between the recursions most of the time is spent at other < shallow
 *	deepest SECONDS DEPTH watches FILE	naps where the recursion is deepest, until the file has grown three times
 *
 * SECONDS are of CPU time.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "noinline.h"
#include "process_seconds.h"

static volatile unsigned long sink;
static double seconds = 1;
static int depth = 100000;
static const char *mode = "", *file;

NOINLINE void leaf(int n)
{
	for (int i = 0; i < n; i++)
		sink += (unsigned long)i;
}

NOINLINE void leaf_of_first(int n)
{
	for (int i = 0; i < n; i++)
		sink += (unsigned long)i;
}

NOINLINE void leaf_of_second(int n)
{
	for (int i = 0; i < n; i++)
		sink += (unsigned long)i;
}

/* How often the file was seen to have grown. */
static int grown(void)
{
	static off_t size;
	static int n;
	struct stat now;

	if (stat(file, &now) == 0 && now.st_size > size) {
		size = now.st_size;
		n++;
	}
	return n;
}

NOINLINE int recurse(int n, void (*last)(int))
{
	char room[16];

	last(20);
	room[n % 16] = (char)n;
	if (n > 0)
		n = recurse(n - 1, last);
	else if (file != NULL)
		nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
	last(20);
	return n + room[n % 16];
}

NOINLINE int first(void)
{
	return recurse(depth, leaf_of_first) + 1;
}

NOINLINE int second(void)
{
	return recurse(depth, leaf_of_second) + 1;
}

NOINLINE void shallow(void)
{
	for (int i = 0; i < 20000000; i++)
		sink += (unsigned long)i;
}

NOINLINE int other(void)
{
	char room[3000]; /* words of the recursion stay in it */

	room[depth % 8] = 1;
	shallow();
	return room[depth % 8];
}

NOINLINE void *work(void *argument)
{
	double end = process_seconds() + seconds;

	while (process_seconds() < end && (file == NULL || grown() < 3)) {
		if (strcmp(mode, "two") == 0)
			sink += (unsigned long)(first() + second());
		else
			sink += (unsigned long)recurse(depth, leaf);
		if (strcmp(mode, "other") == 0)
			sink += (unsigned long)other();
	}
	return argument;
}

static int in_thread(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, (size_t)64 << 20);
	return pthread_create(&thread, &attributes, work, NULL) != 0 || pthread_join(thread, NULL) != 0;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		seconds = atof(argv[1]);
	if (argc > 2)
		depth = atoi(argv[2]);
	if (argc > 3)
		mode = argv[3];
	if (argc > 4)
		file = argv[4];
	if (strcmp(mode, "thread") == 0)
		return in_thread();
	work(NULL);
	puts("done");
	return 0;
}
