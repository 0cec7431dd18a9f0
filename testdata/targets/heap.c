/*
 * Allocates known numbers of blocks in known functions, for ctxrec --heap:
 *
 *	heap all          each of the steps below, as often as its name says, and exits with 7
 *	heap child N      N blocks of 11 bytes in `in_child`, leaked
 *	heap count FILE   blocks until it is killed; their number so far is in FILE (8 bytes)
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "noinline.h"

static void *volatile kept;
static const char *self;

static void check(int is_right, const char *what)
{
	if (is_right)
		return;
	printf("wrong: %s\n", what);
	fflush(stdout);
	_exit(1);
}

NOINLINE void leaks_13_of_50(void)
{
	for (int i = 0; i < 13; i++)
		kept = malloc(50);
}

NOINLINE void churns_1000(void)
{
	for (int i = 0; i < 1000; i++) {
		kept = malloc((size_t)i + 1);
		free(kept);
	}
}

/* 300 reallocations of one block, which is freed. */
NOINLINE void grows_300(void)
{
	char *block = NULL;

	for (int i = 1; i <= 300; i++)
		kept = block = realloc(block, (size_t)i * 100);
	kept = realloc(block, 0);
}

NOINLINE void zeroes_20(void)
{
	for (int i = 0; i < 20; i++) {
		char *block = calloc(10, 30);

		for (int k = 0; k < 300; k++)
			check(block[k] == 0, "calloc gives zeroes");
		memset(block, 1, 300);
		kept = block;
		free(kept);
	}
}

static void check_aligned(void *block, size_t alignment)
{
	check(block != NULL && (uintptr_t)block % alignment == 0, "alignment");
	check(malloc_usable_size(block) >= 40, "usable size");
	kept = block;
	free(kept);
}

/* 7 blocks of 40 bytes, and one whole page. */
NOINLINE void aligns_8(void)
{
	void *block = NULL;

	check(posix_memalign(&block, 64, 40) == 0, "posix_memalign");
	check_aligned(block, 64);
	check_aligned(aligned_alloc(256, 40), 256);
	check_aligned(memalign(4096, 40), 4096);
	check_aligned(valloc(40), 4096);
	check_aligned(pvalloc(40), 4096);
	check_aligned(reallocarray(NULL, 8, 5), 16);
	check_aligned(realloc(NULL, 40), 16);
	check_aligned(malloc(40), 16);
}

/* None of these is an allocation. */
NOINLINE void fails(void)
{
	volatile size_t huge = SIZE_MAX / 2 + 1;
	void *volatile block = malloc(10);

	errno = 0;
	check(malloc(huge) == NULL && errno == ENOMEM, "malloc of too much");
	errno = 0;
	check(reallocarray(NULL, huge, 3) == NULL && errno == ENOMEM, "reallocarray of too much");
	errno = 0;
	kept = realloc(block, huge);
	check(kept == NULL && errno == ENOMEM, "realloc to too much");
	kept = block;
	errno = 77;
	free(kept);
	check(errno == 77, "free keeps errno");
	kept = malloc(10);
	check(errno == 77, "malloc keeps errno");
	free(kept);
}

static void *blocks[4][500];
static pthread_barrier_t barrier;

/* 500 in each of 4 threads; each frees what the next one allocated. */
NOINLINE void *hands_over_500(void *number)
{
	intptr_t own = (intptr_t)number;

	for (int i = 0; i < 500; i++)
		blocks[own][i] = malloc(24);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 500; i++)
		free(blocks[(own + 1) % 4][i]);
	return NULL;
}

static void in_threads(void)
{
	pthread_t threads[4];

	pthread_barrier_init(&barrier, NULL, 4);
	for (intptr_t i = 0; i < 4; i++)
		check(pthread_create(&threads[i], NULL, hands_over_500, (void *)i) == 0, "pthread_create");
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

NOINLINE void in_child(int n)
{
	for (int i = 0; i < n; i++)
		kept = malloc(11);
}

static void await(pid_t pid)
{
	int status;

	check(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0, "child");
}

/* A child that closes all descriptors, and frees what is its parent's: 5 blocks. */
NOINLINE void forks(void)
{
	void *volatile inherited = malloc(99);
	pid_t pid = fork();

	if (pid == 0) {
		for (int fd = 3; fd < 256; fd++)
			close(fd);
		free(inherited);
		in_child(5);
		_exit(0);
	}
	await(pid);
	free(inherited);
}

/* Programs in environments without the library: 1 + 2 + 4 + 8 + 16 blocks. */
static void executes(void)
{
	char *const none[] = {NULL}, *const other[] = {"A=1", "LD_PRELOAD=", NULL};
	char *two[] = {"heap", "child", "2", NULL};
	pid_t pid;

	if ((pid = fork()) == 0) {
		execle(self, "heap", "child", "1", NULL, none);
		_exit(1);
	}
	await(pid);
	check(posix_spawn(&pid, self, NULL, NULL, two, other) == 0, "posix_spawn");
	await(pid);
	if ((pid = fork()) == 0) {
		clearenv();
		execl(self, "heap", "child", "4", NULL);
		_exit(1);
	}
	await(pid);
	if ((pid = vfork()) == 0) {
		execle(self, "heap", "child", "8", NULL, other);
		_exit(1);
	}
	await(pid);
	if ((pid = fork()) == 0) {
		setenv("LD_PRELOAD", "", 1);
		execlp(self, "heap", "child", "16", NULL);
		_exit(1);
	}
	await(pid);
}

#define PAGE 4096L

static char *mapped(void *block)
{
	check(block != MAP_FAILED, "mmap");
	kept = block;
	return block;
}

/* The caller is the function that maps. */
#define MAP(at, pages, flags, fd)                                                                            \
	mapped(mmap(at, (size_t)((pages)*PAGE), PROT_READ | PROT_WRITE, MAP_PRIVATE | (flags), fd, 0))
#define UNMAP(at, pages) check(munmap(at, (size_t)((pages)*PAGE)) == 0, "munmap")

/* 6 maps of 3 pages, 2 of which are unmapped whole; of 3 a page is. 9 pages stay. */
NOINLINE void maps_6(void)
{
	char *at[6];

	for (int i = 0; i < 6; i++)
		at[i] = MAP(NULL, 3, MAP_ANONYMOUS, -1);
	UNMAP(at[0] + PAGE, 1);
	UNMAP(at[1], 1);
	UNMAP(at[2] + 2 * PAGE, 1);
	UNMAP(at[3], 3);
	UNMAP(at[4], 3);
	errno = 0;
	check(munmap(at[5] + 1, 1) == -1 && errno == EINVAL, "munmap of no page");
	check(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED && errno == EINVAL,
	      "mmap of nothing");
}

/* A page in the middle of 5, and these with another file: 2 allocations, of which 1 page and 2 stay. */
NOINLINE void maps_over_2(void)
{
	int fd = open(self, O_RDONLY);
	char *at = MAP(NULL, 5, MAP_ANONYMOUS, -1);

	MAP(at + 2 * PAGE, 1, MAP_ANONYMOUS | MAP_FIXED, -1);
	MAP(at + 3 * PAGE, 2, MAP_FIXED, fd);
	close(fd);
}

/* 2 maps and 4 of what mremap returns: it moves 2 pages, 4 grow to 8 elsewhere, 8 shrink to 3, which stay. */
NOINLINE void moves_6(void)
{
	char *at = MAP(NULL, 2, MAP_ANONYMOUS, -1), *room = MAP(NULL, 16, MAP_ANONYMOUS, -1);

	at[PAGE] = 1;
	at = mremap(at, 2 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, room);
	check(at == room && at[PAGE] == 1, "mremap that moves");
	at = mremap(at, 2 * PAGE, 4 * PAGE, MREMAP_MAYMOVE);
	check(at != MAP_FAILED && at[PAGE] == 1, "mremap that grows");
	at = mremap(at, 4 * PAGE, 8 * PAGE, MREMAP_MAYMOVE);
	check(at != MAP_FAILED, "mremap");
	errno = 0;
	check(mremap(at + 1, PAGE, 2 * PAGE, 0) == MAP_FAILED && errno == EINVAL, "mremap of no page");
	at = mremap(at, 8 * PAGE, 3 * PAGE, 0);
	check(at != MAP_FAILED && at[PAGE] == 1, "mremap that shrinks");
	UNMAP(room + 2 * PAGE, 14);
	kept = at;
}

/* 3 pages of a file, moved: no allocation. */
NOINLINE void maps_files(void)
{
	int fd = open(self, O_RDONLY);
	char *at = MAP(NULL, 3, 0, fd), *room = MAP(NULL, 3, 0, fd);

	at = mremap(at, 3 * PAGE, 3 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, room);
	check(at == room, "mremap of a file");
	close(fd);
}

/* 5 pages, of which 2 stay. */
NOINLINE void breaks_2(void)
{
	char *at = sbrk(4 * PAGE);

	check(at != (void *)-1 && sbrk(PAGE) == at + 4 * PAGE, "sbrk");
	check(brk(at + 3 * PAGE) == 0 && sbrk(-PAGE) == at + 3 * PAGE, "brk");
}

static volatile sig_atomic_t handled;

NOINLINE void handles_30(int number)
{
	kept = malloc(33);
	free(kept);
	handled = handled + (number == SIGUSR1);
}

NOINLINE void in_handlers(void)
{
	signal(SIGUSR1, handles_30);
	for (int i = 0; i < 30; i++)
		raise(SIGUSR1);
	check(handled == 30, "signals");
	signal(SIGUSR1, SIG_DFL);
}

/* The handler runs on a stack of its own. */
NOINLINE void handles_20(int number)
{
	kept = malloc(20);
	free(kept);
	handled = handled + (number == SIGUSR1);
}

NOINLINE void on_alternate_stack(void)
{
	static char stack[65536];
	const stack_t other = {.ss_sp = stack, .ss_size = sizeof(stack)}, none = {.ss_flags = SS_DISABLE};
	struct sigaction action = {.sa_handler = handles_20, .sa_flags = SA_ONSTACK};

	handled = 0;
	check(sigaltstack(&other, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0, "sigaltstack");
	for (int i = 0; i < 20; i++)
		raise(SIGUSR1);
	check(handled == 20, "signals on another stack");
	signal(SIGUSR1, SIG_DFL);
	sigaltstack(&none, NULL);
}

static ucontext_t main_context, contexts[2];

NOINLINE void switches_40(int own, int depth)
{
	volatile char room[500];

	room[0] = 1;
	if (depth > 0) {
		switches_40(own, depth - room[0]);
		return;
	}
	for (int i = 0; i < 40; i++) {
		kept = malloc(40);
		free(kept);
		check(swapcontext(&contexts[own], &contexts[1 - own]) == 0, "swapcontext");
	}
}

static void coroutine(int own)
{
	switches_40(own, 30);
}

static void begin_coroutine(int own)
{
	static char stacks[2][65536];

	check(getcontext(&contexts[own]) == 0, "getcontext");
	contexts[own].uc_stack.ss_sp = stacks[own];
	contexts[own].uc_stack.ss_size = sizeof(stacks[own]);
	contexts[own].uc_link = &main_context;
	makecontext(&contexts[own], (void (*)(void))coroutine, 1, own);
}

/* Two coroutines with several pages of frames, which take turns. */
NOINLINE void in_coroutines(void)
{
	begin_coroutine(0);
	begin_coroutine(1);
	check(swapcontext(&main_context, &contexts[0]) == 0, "swapcontext");
}

NOINLINE int count(const char *file)
{
	int fd = open(file, O_RDWR | O_CREAT | O_TRUNC, 0600);
	volatile long *n;

	if (fd < 0 || ftruncate(fd, 4096) != 0)
		return 1;
	n = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	for (;;) {
		kept = malloc(20);
		*n = *n + 1;
		free(kept);
		if (*n % 100 == 0)
			usleep(2000);
	}
}

int main(int argc, char **argv)
{
	char path[4096] = "";

	if (argc == 3 && strcmp(argv[1], "child") == 0) {
		in_child(atoi(argv[2]));
		return 0;
	}
	if (argc == 3 && strcmp(argv[1], "count") == 0)
		return count(argv[2]);
	check(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0, "own path");
	self = path;
	leaks_13_of_50();
	churns_1000();
	grows_300();
	zeroes_20();
	aligns_8();
	fails();
	maps_6();
	maps_over_2();
	moves_6();
	maps_files();
	breaks_2();
	in_threads();
	in_handlers();
	on_alternate_stack();
	in_coroutines();
	forks();
	executes();
	puts("all is right");
	return 7;
}
