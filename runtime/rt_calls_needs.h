/*
 * What hooks need of the C library and the kernel, one function for all of it: it is called behind ctx_rt_calls_heavy, which saves all registers.
 */
#ifndef CTX_RUNTIME_RT_CALLS_NEEDS_H
#define CTX_RUNTIME_RT_CALLS_NEEDS_H

#include "runtime/rt_calls_work.h"

/* errno is kept. */
void ctx_rt_calls_work(struct ctx_rt_calls_request *request);

#endif
