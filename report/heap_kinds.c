#include "report/heap_kinds.h"

enum ctx_heap_kind ctx_heap_kind_of(unsigned operation)
{
	switch (operation) {
	case CTX_HEAP_REALLOCATE:
		return CTX_HEAP_KIND_REALLOC;
	case CTX_HEAP_MAP:
		return CTX_HEAP_KIND_MMAP;
	case CTX_HEAP_REMAP:
		return CTX_HEAP_KIND_MREMAP;
	case CTX_HEAP_GROW:
		return CTX_HEAP_KIND_BRK;
	case CTX_HEAP_MAP_FILE:
	case CTX_HEAP_REMAP_FILE:
		return CTX_HEAP_KIND_FILE;
	default:
		return CTX_HEAP_KIND_MALLOC;
	}
}

const char *ctx_heap_kind_name(enum ctx_heap_kind kind)
{
	static const char *const names[CTX_HEAP_KINDS] = {"malloc", "realloc", "mmap",
							  "mremap", "brk",     "file"};

	return names[kind];
}

struct ctx_heap_last ctx_heap_last_of(const struct ctx_traced *operation, bool counts)
{
	bool is_block = counts && (operation->operation == CTX_HEAP_ALLOCATE ||
				   operation->operation == CTX_HEAP_REALLOCATE);

	return (struct ctx_heap_last){is_block ? operation->address : 0, operation->stack};
}

bool ctx_heap_last_is_freed(const struct ctx_heap_last *last, const struct ctx_traced *operation)
{
	return last->address != 0 && ctx_traced_freed(operation) == last->address;
}
