/*
 * Counting the executions of functions in the program itself: their entries, where the compiler left room, jump to code that adds one to
 * a counter of the thread, which the recorder reads (count_layout.h, rt_count_code.h).
 *
 *	constructor --> shared file --> objects that are loaded --> entries with room --> jumps, code near the object
 *	thread's first execution --> block of the shared file --TLS--> the code
 *
 * An execution costs some 2 ns, makes no system call, takes no lock, and changes no register. A forked child has the jumps and the file,
 * and takes blocks of its own: the pointers to its parent's are in pages that the kernel wipes at fork. A program that is executed
 * begins anew. When the recorder is gone nothing changes. Each N-th execution, where one asked for that, is recorded with its call stack
 * as the other collectors record theirs (rt_process.h).
 *
 * As with calls, code is changed as long as there is one thread, or in a library that has just been loaded.
 */
#ifndef CTX_RUNTIME_RT_COUNT_H
#define CTX_RUNTIME_RT_COUNT_H

#include "runtime/rt_loaded.h"

#include <stdbool.h>

/* Whether counters are on in this process. */
bool ctx_rt_count_is_on(void);

/* A library has been opened: its entries count, as far as no other thread can be in its code. errno is kept. */
void ctx_rt_count_opened(const struct ctx_rt_loaded *before, const void *handle);

#endif
