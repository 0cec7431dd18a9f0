/*
 * Coverage: single-shot traps in the own text, which a handler of SIGTRAP takes out when they are met (runtime/once_layout.h).
 *
 * Traps and handler are both in the target: when the recorder is gone, nothing changes. A forked child has both; a program that is
 * executed begins anew. SIGTRAP is never blocked, since a trap would end the program then: the runtime stands in front of the functions that
 * block signals and set handlers, and hands traps that are not its own on to the program's handler. Where the text may be
 * made writable it stays so, and a trap costs one signal; where not, it is written through /proc/self/mem.
 */
#ifndef CTX_RUNTIME_RT_ONCE_H
#define CTX_RUNTIME_RT_ONCE_H

#include <signal.h>
#include <stdbool.h>

/* Whether sites are armed in this process, or its parent armed them. */
bool ctx_rt_once_is_on(void);

/* A library has been opened: its sites are armed. errno is kept. */
void ctx_rt_once_opened(void);

/* The set without SIGTRAP, in `room`, while sites are armed; else the set itself. NULL stays NULL. */
const sigset_t *ctx_rt_once_set(const sigset_t *set, sigset_t *room);

#define CTX_RT_ONCE_SET(set) ctx_rt_once_set(set, &(sigset_t){{0}})

#endif
