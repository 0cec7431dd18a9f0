#include "model/traced.h"

#include "base/mem.h"

const char *ctx_traced_kind_name(enum ctx_traced_kind kind)
{
	static const char *const names[CTX_TRACED_N] = {"heap", "sync", "io"};

	return (unsigned)kind < CTX_TRACED_N ? names[kind] : "?";
}

const char *ctx_traced_operation_name(enum ctx_traced_kind kind, unsigned operation)
{
	static const char *const heap[] = {"allocate", "free", "reallocate", "map", "unmap"};
	static const char *const io[] = {"read", "write", "open", "close", "other"};

	if (kind == CTX_TRACED_HEAP)
		return operation < CTX_COUNT_OF(heap) ? heap[operation] : "?";
	if (kind == CTX_TRACED_IO)
		return operation < CTX_COUNT_OF(io) ? io[operation] : "?";
	return kind == CTX_TRACED_SYNC && operation == 0 ? "wait" : "?";
}

unsigned ctx_traced_n_operations(enum ctx_traced_kind kind)
{
	static const unsigned n[CTX_TRACED_N] = {CTX_HEAP_UNMAP + 1, 1, CTX_IO_OTHER + 1};

	return (unsigned)kind < CTX_TRACED_N ? n[kind] : 0;
}
