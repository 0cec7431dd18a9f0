/*
 * Prints functions, files and lines of addresses as addr2line -a -i -f -C does, inlined calls
 * included:
 *
 *	symbolize [--random N] [--seed N] [--quiet] [--debug-root DIR] FILE [ADDRESS...]
 *
 * Without addresses they are read from standard input, one per line, hexadecimal. --random picks N
 * addresses, spread over the bytes of the file's functions, and takes them in order;
 * --print-addresses prints those only. Seconds and peak memory are printed to standard error.
 */
#include "symbols/source_map.h"
#include "symbols/symtab.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

struct options {
	const char *file, *debug_root;
	uint64_t random, seed;
	bool quiet, print_addresses;
};

struct addresses {
	uint64_t *items;
	size_t n, cap;
};

static void fail(const char *what)
{
	fprintf(stderr, "symbolize: %s\n", what);
	exit(1);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void add(struct addresses *list, uint64_t address)
{
	if (list->n == list->cap) {
		list->cap = list->cap == 0 ? 1024 : 2 * list->cap;
		list->items = realloc(list->items, list->cap * sizeof(*list->items));
		if (list->items == NULL)
			fail("out of memory");
	}
	list->items[list->n++] = address;
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static int compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left;
	uint64_t b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

/* Every byte of the functions' code is equally likely. */
static void pick(struct ctx_symtab *symbols, const struct options *options, struct addresses *list)
{
	uint32_t n = ctx_symtab_count(symbols);
	uint64_t *ends = calloc((size_t)n + 1, sizeof(*ends));
	uint64_t state = options->seed * 2654435761u + 88172645463325252u;
	uint64_t bytes = 0;
	struct ctx_symbol symbol;

	if (ends == NULL)
		fail("out of memory");
	for (uint32_t i = 0; i < n; i++) {
		if (ctx_symtab_get(symbols, i, &symbol, NULL) != CTX_OK)
			fail("out of memory");
		bytes += symbol.size;
		ends[i] = bytes;
	}
	for (uint64_t i = 0; i < options->random && bytes > 0; i++) {
		uint64_t at = next_random(&state) % bytes;
		uint32_t low = 0, high = n - 1;

		while (low < high) {
			uint32_t middle = low + (high - low) / 2;

			if (ends[middle] <= at)
				low = middle + 1;
			else
				high = middle;
		}
		if (ctx_symtab_get(symbols, low, &symbol, NULL) == CTX_OK)
			add(list, symbol.start + symbol.size - (ends[low] - at));
	}
	qsort(list->items, list->n, sizeof(*list->items), compare);
	free(ends);
}

static void print_place(const char *name, const struct ctx_source_frame *frame)
{
	printf("%s\n%s:", name, frame->file != NULL ? frame->file : "??");
	if (frame->line != 0)
		printf("%u\n", frame->line);
	else
		printf("?\n");
}

static void resolve(struct ctx_symtab *symbols, struct ctx_source_map *map, uint64_t address, bool quiet)
{
	struct ctx_source_frame frames[CTX_SOURCE_FRAMES_MAX] = {{0}};
	struct ctx_symbol symbol = {.name = "??"};
	struct ctx_err err;
	uint32_t index;
	size_t n;

	if (ctx_source_map_find(map, address, frames, &n, &err) != CTX_OK)
		fail(err.msg);
	if (ctx_symtab_find(symbols, address, &index) &&
	    ctx_symtab_get(symbols, index, &symbol, NULL) != CTX_OK)
		fail("out of memory");
	if (quiet)
		return;
	printf("0x%016" PRIx64 "\n", address);
	for (size_t i = 0; i < (n > 0 ? n : 1); i++)
		print_place(frames[i].function != NULL ? frames[i].function : symbol.name, &frames[i]);
}

static bool parse(struct options *options, struct addresses *list, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--random") == 0 && i + 1 < argc)
			options->random = strtoull(argv[++i], NULL, 10);
		else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
			options->seed = strtoull(argv[++i], NULL, 10);
		else if (strcmp(argv[i], "--debug-root") == 0 && i + 1 < argc)
			options->debug_root = argv[++i];
		else if (strcmp(argv[i], "--quiet") == 0)
			options->quiet = true;
		else if (strcmp(argv[i], "--print-addresses") == 0)
			options->print_addresses = true;
		else if (argv[i][0] == '-')
			return false;
		else if (options->file == NULL)
			options->file = argv[i];
		else
			add(list, strtoull(argv[i], NULL, 16));
	}
	return options->file != NULL;
}

static void report(const struct addresses *list, const struct ctx_source_map *map, double opened,
		   double resolved)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	fprintf(stderr, "%zu addresses: open %.3f s, resolve %.3f s, peak %.1f MB, from %s\n", list->n,
		opened, resolved, (double)use.ru_maxrss / 1024, ctx_source_map_origin(map));
}

int main(int argc, char **argv)
{
	struct options options = {.debug_root = "", .seed = 1};
	struct ctx_file_request request = {"", "", "", "", "", NULL};
	struct addresses list = {0};
	struct ctx_symtab *symbols;
	struct ctx_source_map *map;
	double begin, opened;
	char line[256];

	if (!parse(&options, &list, argc, argv)) {
		fprintf(stderr, "usage: symbolize [--random N] [--seed N] [--quiet] [--print-addresses]"
				" [--debug-root DIR] FILE [ADDRESS...]\n");
		return 2;
	}
	request.path = options.file;
	request.debug_root = options.debug_root;
	if (ctx_symtab_open(&request, &symbols, NULL) != CTX_OK)
		fail("out of memory");
	if (options.random != 0)
		pick(symbols, &options, &list);
	else if (list.n == 0)
		while (fgets(line, sizeof(line), stdin) != NULL)
			add(&list, strtoull(line, NULL, 16));
	for (size_t i = 0; i < list.n && options.print_addresses; i++)
		printf("0x%" PRIx64 "\n", list.items[i]);
	if (options.print_addresses)
		return 0;
	begin = now();
	if (ctx_source_map_open(&request, &map, NULL) != CTX_OK)
		fail("out of memory");
	opened = now();
	for (size_t i = 0; i < list.n; i++)
		resolve(symbols, map, list.items[i], options.quiet);
	report(&list, map, opened - begin, now() - opened);
	ctx_source_map_close(map);
	ctx_symtab_close(symbols);
	free(list.items);
	return 0;
}
