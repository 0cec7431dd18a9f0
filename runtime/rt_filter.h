/*
 * Filters of system calls (seccomp) that the program installs: may the runtime still make the calls that it needs?
 *
 * What is recorded of a thread that is known needs none: its ring is there, and the clock is the vdso's. Others are made when a
 * thread or a process begins, when a stack is not the thread's own, when a program is executed, and when a ring is full and the thread
 * waits. A filter that forbids one of them may kill the program for it. So each filter is looked at before it is installed:
 * after one that does not allow all of them, the runtime makes no system call of its own any more, in this process and its children.
 *
 * Filters that a program installs without the C library's prctl and syscall are not seen.
 */
#ifndef CTX_RUNTIME_RT_FILTER_H
#define CTX_RUNTIME_RT_FILTER_H

#include <linux/filter.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The runtime makes no system call of its own. */
extern _Atomic bool ctx_rt_restricted_now;

static inline bool ctx_rt_is_restricted(void)
{
	return __builtin_expect(atomic_load_explicit(&ctx_rt_restricted_now, memory_order_relaxed), 0);
}

/* Whether the filter allows the call of this number, with arguments of zero. A filter that makes no sense allows nothing. */
bool ctx_rt_filter_allows(const struct sock_filter *filter, size_t n, uint32_t number);

/* Whether it allows all that the runtime needs. */
bool ctx_rt_filter_is_harmless(const struct sock_filter *filter, size_t n);

#endif
