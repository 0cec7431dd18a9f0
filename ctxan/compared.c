#include "ctxan/compared.h"

#include "base/mem.h"

#include <string.h>

/* Adjacent tables of one report belong together. */
static const struct ctx_compared tables[] = {
	{"functions", CTX_DIFF_FUNCTIONS, NULL, NULL},
	{"objects", CTX_DIFF_OBJECTS, NULL, NULL},
	{"lines", CTX_DIFF_LINES, NULL, NULL},
	{"callers-callees", CTX_DIFF_CALLERS, NULL, NULL},
	{"stacks", CTX_DIFF_STACKS, NULL, NULL},
	{"tree", CTX_DIFF_TREE, NULL, NULL},
	{"threads", CTX_DIFF_THREADS, NULL, NULL},
	{"states", CTX_DIFF_STATES, NULL, NULL},
	{"waits", CTX_DIFF_WAITS, NULL, NULL},
	{"heap", CTX_DIFF_FUNCTIONS, "heapallocbytes", "the heap by function, bytes allocated"},
	{"heap", CTX_DIFF_FUNCTIONS, "heapalloccnt", "the heap by function, allocations"},
	{"heap", CTX_DIFF_FUNCTIONS, "heapleakbytes", "the heap by function, bytes leaked"},
	{"heap", CTX_DIFF_FUNCTIONS, "heapleakcnt", "the heap by function, leaks"},
};

const struct ctx_compared *ctx_compared_of(const char *report, size_t *ret_n)
{
	size_t first = 0, n = 0;

	while (first < CTX_COUNT_OF(tables) && strcmp(tables[first].report, report) != 0)
		first++;
	while (first + n < CTX_COUNT_OF(tables) && strcmp(tables[first + n].report, report) == 0)
		n++;
	*ret_n = n;
	return n != 0 ? &tables[first] : NULL;
}
