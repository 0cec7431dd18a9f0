/*
 * Return addresses that are not on the stack: where functions return to whose return address is ctx_rt_calls_return.
 *
 *	CFA: bits 32-46 -> root -> bits 16-31 -> middle -> bits 3-15 -> chunk: the address
 *
 * By place alone, for all threads: so they are found whatever stack a thread runs on, and unwinders find them by the call frame
 * information of ctx_rt_calls_return, which is this look-up. A chunk is for 64 KiB of stack; chunks stay. A forked child has them all.
 */
#ifndef CTX_RUNTIME_RT_RETURNS_H
#define CTX_RUNTIME_RT_RETURNS_H

#include <stdatomic.h>
#include <stdint.h>

#define CTX_RT_RETURNS_ROOT 32768u
#define CTX_RT_RETURNS_MIDDLE 65536u
#define CTX_RT_RETURNS_CHUNK 65536u /* bytes */

extern _Atomic uint64_t ctx_rt_returns[CTX_RT_RETURNS_ROOT] __attribute__((visibility("hidden")));

/* The chunk for a CFA; 0: none. */
static inline uint64_t ctx_rt_returns_chunk(uint64_t cfa)
{
	uint64_t middle;

	if (cfa >> 47 != 0)
		return 0;
	middle = atomic_load_explicit(&ctx_rt_returns[cfa >> 32], memory_order_acquire);
	return middle != 0
		       ? atomic_load_explicit((_Atomic uint64_t *)(uintptr_t)middle + (cfa >> 16 & 0xffff),
					      memory_order_acquire)
		       : 0;
}

/* Where the return address of a CFA is kept; NULL: nowhere. */
static inline uint64_t *ctx_rt_returns_at(uint64_t cfa)
{
	uint64_t chunk = ctx_rt_returns_chunk(cfa);

	return chunk != 0 ? (uint64_t *)(uintptr_t)(chunk + (cfa & 0xfff8)) : NULL;
}

#endif
