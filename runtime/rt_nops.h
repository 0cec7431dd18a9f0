/*
 * Instructions of x86 that do nothing, of those that compilers write: 90, and 0f 1f with an address, with prefixes 66 and 2e.
 */
#ifndef CTX_RUNTIME_RT_NOPS_H
#define CTX_RUNTIME_RT_NOPS_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the one at `code`; 0: it is none, or longer than n. */
size_t ctx_rt_nop(const uint8_t *code, size_t n);

/* Bytes of all that follow on each other, within n. */
size_t ctx_rt_nops(const uint8_t *code, size_t n);

#endif
