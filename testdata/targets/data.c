/*
 * Accesses to data that are known by construction.
 *
 *	data ROUNDS	counter: ROUNDS writes, and as many reads; one structure: ROUNDS writes of `i`, half as many of `in.d`;
 *			64 pages of a mapping and 255 pages of a block of the heap are touched, each for the first time;
 *			32 nodes of a page each, by their member `in.d`
 *
 * Built with -O0 -no-pie: addresses are those of nm, and each access is an instruction.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE 4096
#define MAPPED_PAGES 64
#define BLOCK_PAGES 256
#define NODES 32

enum color { RED, GREEN };

struct inner {
	short s[2];
	double d;
};

typedef struct foo {
	int i;
	char c;
	long l;
	struct inner in;
	enum color color : 3;
	struct foo *next;
} foo_t;

/* A page each. */
struct node {
	long key;
	struct inner in;
	char rest[PAGE - sizeof(long) - sizeof(struct inner)];
};

int counter;
foo_t thing;
static volatile long sum;

__attribute__((noinline)) static void touch(char *pages, int from, int to)
{
	for (int i = from; i < to; i++)
		pages[(size_t)i * PAGE] = 1;
}

/* The first page has malloc's own words. */
__attribute__((noinline)) static void touch_block(char *pages)
{
	touch(pages, 1, BLOCK_PAGES);
}

__attribute__((noinline)) static void touch_mapping(char *pages)
{
	touch(pages, 0, MAPPED_PAGES);
}

__attribute__((noinline)) static char *make_block(void)
{
	return malloc((size_t)BLOCK_PAGES * PAGE);
}

__attribute__((noinline)) static void count(int rounds)
{
	for (int i = 0; i < rounds; i++) {
		counter = i;
		sum += counter;
	}
}

__attribute__((noinline)) static void change(foo_t *foo, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		foo->i = i;
		if (i % 2 == 0)
			foo->in.d = i;
	}
}

__attribute__((noinline)) static void fill_nodes(struct node *nodes, int n)
{
	for (int i = 0; i < n; i++)
		nodes[i].in.d = i;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 100;
	char *mapping = mmap(NULL, (size_t)MAPPED_PAGES * PAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct node *nodes =
		mmap(NULL, (size_t)NODES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *block = make_block();

	if (mapping == MAP_FAILED || nodes == MAP_FAILED || block == NULL)
		return 1;
	madvise(mapping, (size_t)MAPPED_PAGES * PAGE, MADV_NOHUGEPAGE);
	madvise(nodes, (size_t)NODES * PAGE, MADV_NOHUGEPAGE);
	touch_mapping(mapping);
	fill_nodes(nodes, NODES);
	touch_block(block);
	count(rounds);
	change(&thing, rounds);
	free(block);
	printf("%ld\n", sum);
	return 0;
}
