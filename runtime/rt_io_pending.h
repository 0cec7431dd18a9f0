/*
 * Asynchronous operations that were submitted and whose results were not fetched: control block -> when, descriptor,
 * what. For all threads, in a table of fixed size without locks.
 */
#ifndef CTX_RUNTIME_RT_IO_PENDING_H
#define CTX_RUNTIME_RT_IO_PENDING_H

#include <stdbool.h>
#include <stdint.h>

struct ctx_rt_pending {
	uint64_t begin_ns;
	int32_t fd;
	uint16_t what; /* the caller's */
};

/* Of a block that is there already the older one is forgotten. Where the table is full it is not kept. */
void ctx_rt_pending_add(const void *block, const struct ctx_rt_pending *operation);

/* Removes it. False: it was not there. */
bool ctx_rt_pending_take(const void *block, struct ctx_rt_pending *ret);

#endif
