/*
 * Says what it does by ctx_trace.h, in numbers that are known.
 *
 *	marks		prints "done": 4 marks, 12 intervals of 3 names, one that may end elsewhere 3 times, 5 values of a
 *			counter, an end without a begin, an interval that stays open
 *	marks pause	reads in and after a pause; allocates before, in and after another, and frees what it had before
 *	marks fork	a child that is forked in a pause
 *	marks steps	intervals without end, until it is killed
 *	marks hang	begins an interval, says "ready", and waits to be killed
 */
#include <ctx_trace.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile kept[64];

__attribute__((noinline)) static void parse(void)
{
	ctx_trace_begin("parse");
	ctx_trace_begin("token");
	ctx_trace_end("token");
	ctx_trace_begin("token");
	ctx_trace_end("token");
	ctx_trace_end("parse");
}

static void *finish(void *unused)
{
	for (int i = 0; i < 3; i++)
		ctx_trace_end_id("request", i);
	ctx_trace_end("load"); /* of another thread: an end of nothing */
	return unused;
}

static void say_all(void)
{
	pthread_t thread;

	ctx_trace_mark("ready");
	ctx_trace_begin("load");
	for (int i = 0; i < 3; i++)
		parse();
	ctx_trace_end("load");
	ctx_trace_begin("load");
	ctx_trace_begin("load");
	ctx_trace_end("load");
	ctx_trace_end("load");
	for (int i = 0; i < 3; i++)
		ctx_trace_begin_id("request", i);
	pthread_create(&thread, NULL, finish, NULL);
	pthread_join(thread, NULL);
	for (int i = 0; i < 5; i++)
		ctx_trace_counter("queue", i == 3 ? -7 : 10 * i);
	ctx_trace_mark("tick");
	ctx_trace_mark("tick");
	ctx_trace_begin("open");
	ctx_trace_mark(""); /* these two are nothing */
	ctx_trace_mark(NULL);
	ctx_trace_mark("done");
}

__attribute__((noinline)) static void allocate(int first, int n)
{
	for (int i = first; i < first + n; i++)
		kept[i] = malloc(1000 + (size_t)i);
}

__attribute__((noinline)) static void release(int first, int n)
{
	for (int i = first; i < first + n; i++) {
		free(kept[i]);
		kept[i] = NULL;
	}
}

/* Opened in a pause, read in it and behind it. */
static void use_file(void)
{
	char bytes[8];
	int fd;

	ctx_trace_pause();
	fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	if (read(fd, bytes, 5) != 5)
		exit(1);
	ctx_trace_resume();
	if (read(fd, bytes, 3) != 3)
		exit(1);
	close(fd);
}

static void pause_and_allocate(void)
{
	use_file();
	allocate(0, 16);
	ctx_trace_pause();
	ctx_trace_pause(); /* they do not nest */
	release(0, 8);
	kept[8] = realloc(kept[8], 5000);
	allocate(16, 16);
	release(16, 8);
	ctx_trace_resume();
	release(8, 8);	/* recorded before the pause, one moved in it */
	release(24, 4); /* allocated in the pause */
	allocate(32, 4);
	release(32, 2); /* two leak; four of the pause do too, and nobody knows */
	ctx_trace_resume();
}

static void fork_in_pause(void)
{
	pid_t child;

	ctx_trace_pause();
	child = fork();
	if (child == 0) {
		allocate(0, 8);
		ctx_trace_resume();
		allocate(8, 4);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	ctx_trace_resume();
	ctx_trace_mark("after");
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "pause") == 0) {
		pause_and_allocate();
	} else if (strcmp(what, "fork") == 0) {
		fork_in_pause();
	} else if (strcmp(what, "steps") == 0) {
		for (;;) {
			ctx_trace_begin("step");
			usleep(1000);
			ctx_trace_end("step");
		}
	} else if (strcmp(what, "hang") == 0) {
		parse();
		ctx_trace_begin("hang");
		ctx_trace_mark("ready");
		puts("ready");
		fflush(stdout);
		for (;;)
			pause();
	} else {
		say_all();
	}
	puts("done");
	return 0;
}
