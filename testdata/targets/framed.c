/*
 * A recursion of functions with frame pointers, with 300 bytes of stack each: _start < main < work < recurse < ... < leaf, which has none. It goes on until the
 * log of the recording says of how much of each stack is copied from now on, at most SECONDS, and a while after that.
 *
 *	framed SECONDS DEPTH LOG
 *
 * SECONDS are of CPU time. Compile with -fno-omit-frame-pointer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "noinline.h"
#include "process_seconds.h"

static volatile unsigned long sink;
static double end = 1;
static const char *file;

NOINLINE void leaf(int n)
{
	for (int i = 0; i < n; i++)
		sink += (unsigned long)i;
}

NOINLINE int recurse(int n, int times)
{
	char room[256];

	room[n % 256] = (char)n;
	if (n > 0)
		n = recurse(n - 1, times);
	else
		for (int i = 0; i < times; i++)
			leaf(1000);
	return n + room[n % 256];
}

NOINLINE int says(void)
{
	static char text[1 << 16];
	FILE *log = fopen(file, "r");
	size_t n = log != NULL ? fread(text, 1, sizeof(text) - 1, log) : 0;

	text[n] = '\0';
	if (log != NULL)
		fclose(log);
	return strstr(text, "of each stack are copied") != NULL;
}

NOINLINE int work(int depth)
{
	int n = 0, has_said = 0;

	while (process_seconds() < end) {
		n += recurse(depth, 20000);
		if (!has_said && says()) {
			has_said = 1;
			end = process_seconds() + 0.2;
		}
	}
	return n;
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	end = atof(argv[1]);
	file = argv[3];
	sink += (unsigned long)work(atoi(argv[2]));
	return 0;
}
