/*
 * A just-in-time compiler in small: jit_alpha and jit_beta are machine code in anonymous memory,
 * each burns MS milliseconds of CPU time, so that each has half of all samples.
 *
 *	jit map MS	two addresses; names in /tmp/perf-PID.map, which stays
 *	jit map MS wait	then prints "done", and ends when its standard input does
 *	jit dump DIR MS	beta takes the place of alpha, at the same address, so that only the time tells which of
 *			them a sample is in; names, times and code in DIR/jit-PID.dump
 *
 * The path of the file is printed first. Call stacks have frame pointers: main, with_map or
 * with_dump, run, jit_alpha. Any profiler of Linux reads a map. For the dump: perf record -k
 * CLOCK_MONOTONIC -g, then perf inject -j.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "noinline.h"

#define ITERATIONS 100000 /* of one call, some 50 us */
#define MS 1000000
#define FUNCTION_BYTES_MAX 64
#define REGION_BYTES 65536 /* a page anywhere */

/*
 * void f(long n): a frame, n times around a loop of one decrement, back. Beta has one instruction
 * more, in front of the loop.
 */
#if defined(__x86_64__)
#define MACHINE EM_X86_64
static const uint8_t alpha_code[] = {0x55, 0x48, 0x89, 0xe5, /* push %rbp; mov %rsp, %rbp */
				     0x48, 0xff, 0xcf,	     /* 1: dec %rdi */
				     0x75, 0xfb,	     /* jnz 1b */
				     0x5d, 0xc3};	     /* pop %rbp; ret */
static const uint8_t beta_code[] = {0x55, 0x48, 0x89, 0xe5, 0x90, 0x48, 0xff, 0xcf, 0x75, 0xfb, 0x5d, 0xc3};
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
static const uint32_t alpha_code[] = {0xa9bf7bfd,  /* stp x29, x30, [sp, #-16]! */
				      0x910003fd,  /* mov x29, sp */
				      0xf1000400,  /* 1: subs x0, x0, #1 */
				      0x54ffffe1,  /* b.ne 1b */
				      0xa8c17bfd,  /* ldp x29, x30, [sp], #16 */
				      0xd65f03c0}; /* ret */
static const uint32_t beta_code[] = {0xa9bf7bfd, 0x910003fd, 0xd503201f, 0xf1000400,
				     0x54ffffe1, 0xa8c17bfd, 0xd65f03c0};
#else
#error "no machine code for this processor here"
#endif

struct function {
	const char *name;
	const void *code;
	size_t size;
};

static const struct function alpha = {"jit_alpha", alpha_code, sizeof(alpha_code)};
static const struct function beta = {"jit_beta", beta_code, sizeof(beta_code)};

struct dump_header {
	uint32_t magic, version, size, machine, padding, pid;
	uint64_t time_ns, flags;
};

struct dump_record {
	uint32_t id, size;
	uint64_t time_ns;
};

struct dump_load {
	struct dump_record record;
	uint32_t pid, thread;
	uint64_t virtual_address, address, size, index;
};

enum { LOAD = 0, CLOSE = 3 };

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* Calls the code for so long; its own samples are few: the clock is asked once in some 50 us. */
NOINLINE void run(void *at, uint64_t for_ns)
{
	uint64_t until = clock_ns(CLOCK_THREAD_CPUTIME_ID) + for_ns;
	void (*function)(long n);

	memcpy(&function, &at, sizeof(function));
	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until)
		function(ITERATIONS);
}

static char *make_region(void)
{
	char *region = mmap(NULL, REGION_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (region == MAP_FAILED)
		die("mmap");
	return region;
}

/* Memory is never writable and executable at a time: systems that are strict allow no more. */
static void place(char *region, size_t offset, const struct function *function)
{
	if (mprotect(region, REGION_BYTES, PROT_READ | PROT_WRITE) != 0)
		die("mprotect");
	memcpy(region + offset, function->code, function->size);
	if (mprotect(region, REGION_BYTES, PROT_READ | PROT_EXEC) != 0)
		die("mprotect");
	__builtin___clear_cache(region + offset, region + offset + function->size);
}

static FILE *create(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	FILE *file = fd >= 0 ? fdopen(fd, "w+") : NULL;

	if (file == NULL)
		die(path);
	printf("%s\n", path);
	fflush(stdout);
	return file;
}

static void wait_for_end_of_input(void)
{
	char byte;

	puts("done");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
}

NOINLINE int with_map(uint64_t for_ns)
{
	char *region = make_region();
	char path[64];
	FILE *map;

	place(region, 0, &alpha);
	place(region, FUNCTION_BYTES_MAX, &beta);
	snprintf(path, sizeof(path), "/tmp/perf-%ld.map", (long)getpid());
	map = create(path);
	fprintf(map, "%lx %zx %s\n", (unsigned long)(uintptr_t)region, alpha.size, alpha.name);
	fprintf(map, "%lx %zx %s\n", (unsigned long)(uintptr_t)region + FUNCTION_BYTES_MAX, beta.size,
		beta.name);
	if (fclose(map) != 0)
		die(path);
	run(region, for_ns);
	run(region + FUNCTION_BYTES_MAX, for_ns);
	return 0;
}

static void dump_open(FILE *dump)
{
	struct dump_header header = {.magic = 0x4a695444,
				     .version = 1,
				     .size = sizeof(header),
				     .machine = MACHINE,
				     .pid = (uint32_t)getpid(),
				     .time_ns = clock_ns(CLOCK_MONOTONIC)};

	fwrite(&header, sizeof(header), 1, dump);
	if (fflush(dump) != 0)
		die("dump");
	/* What a profiler sees of it: an executable mapping of a file of this name. */
	if (mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0) ==
	    MAP_FAILED)
		die("mmap of the dump");
}

static void dump_load(FILE *dump, const char *at, const struct function *function, uint64_t index)
{
	struct dump_load load = {.record = {LOAD, 0, clock_ns(CLOCK_MONOTONIC)},
				 .pid = (uint32_t)getpid(),
				 .thread = (uint32_t)syscall(SYS_gettid),
				 .virtual_address = (uintptr_t)at,
				 .address = (uintptr_t)at,
				 .size = function->size,
				 .index = index};

	load.record.size = (uint32_t)(sizeof(load) + strlen(function->name) + 1 + function->size);
	fwrite(&load, sizeof(load), 1, dump);
	fwrite(function->name, strlen(function->name) + 1, 1, dump);
	fwrite(function->code, function->size, 1, dump);
	if (fflush(dump) != 0)
		die("dump");
}

NOINLINE int with_dump(const char *dir, uint64_t for_ns)
{
	struct dump_record end = {CLOSE, sizeof(end), 0};
	char *region = make_region();
	char path[4096];
	FILE *dump;

	snprintf(path, sizeof(path), "%s/jit-%ld.dump", dir, (long)getpid());
	dump = create(path);
	dump_open(dump);
	place(region, 0, &alpha);
	dump_load(dump, region, &alpha, 0);
	run(region, for_ns);
	place(region, 0, &beta);
	dump_load(dump, region, &beta, 1);
	run(region, for_ns);
	end.time_ns = clock_ns(CLOCK_MONOTONIC);
	fwrite(&end, sizeof(end), 1, dump);
	if (fclose(dump) != 0)
		die(path);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "map") == 0)
		return with_map(strtoul(argv[2], NULL, 10) * MS);
	if (argc == 4 && strcmp(argv[1], "map") == 0 && strcmp(argv[3], "wait") == 0) {
		with_map(strtoul(argv[2], NULL, 10) * MS);
		wait_for_end_of_input();
		return 0;
	}
	if (argc == 4 && strcmp(argv[1], "dump") == 0)
		return with_dump(argv[2], strtoul(argv[3], NULL, 10) * MS);
	fprintf(stderr, "usage: jit map MS | jit dump DIR MS\n");
	return 2;
}
