/*
 * Kinds of memory in the report of the heap, and which allocations are temporary.
 */
#ifndef CTX_REPORT_HEAP_KINDS_H
#define CTX_REPORT_HEAP_KINDS_H

#include "model/traced.h"

enum ctx_heap_kind {
	CTX_HEAP_KIND_MALLOC, /* and its like */
	CTX_HEAP_KIND_REALLOC,
	CTX_HEAP_KIND_MMAP, /* of no file */
	CTX_HEAP_KIND_MREMAP,
	CTX_HEAP_KIND_BRK,
	CTX_HEAP_KIND_FILE, /* mapped files: no allocations */
	CTX_HEAP_KINDS,
};

/* Of an operation that allocates or maps. */
enum ctx_heap_kind ctx_heap_kind_of(unsigned operation);

/* "malloc", ..., "file" */
const char *ctx_heap_kind_name(enum ctx_heap_kind kind);

/* A thread's operation before the current one, if it allocated. */
struct ctx_heap_last {
	uint64_t address; /* 0: it did not */
	uint32_t stack;
};

/* `counts`: it is selected. A mapping is never temporary. */
struct ctx_heap_last ctx_heap_last_of(const struct ctx_traced *operation, bool counts);

/* Whether the operation frees, or resizes, what the one before allocated. */
bool ctx_heap_last_is_freed(const struct ctx_heap_last *last, const struct ctx_traced *operation);

#endif
