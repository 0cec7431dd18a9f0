/*
 * What a thread waits for, and the place in the program that made it wait, by the names of the
 * functions on the stack of the wait.
 *
 * The kernel's functions divide pipes, sockets, files, time and children; a futex is divided by the
 * functions of the C library that called it (mutex, condition variable, join, ...), or those of a virtual machine of Java
 * (safepoint, mutex, ...), where they have names. The kinds
 * divide the states of waits (model/thread_state.h), they do not replace them. Names are those of
 * Linux, glibc and musl; libraries linked into the program are recognised by the same names.
 */
#ifndef CTX_MODEL_WAIT_KIND_H
#define CTX_MODEL_WAIT_KIND_H

#include "model/profile.h"
#include "model/sample.h"

enum ctx_wait_kind {
	CTX_WAIT_KIND_OTHER = 0, /* nothing on the stack tells */
	CTX_WAIT_KIND_MUTEX,
	CTX_WAIT_KIND_RWLOCK,
	CTX_WAIT_KIND_CONDITION,
	CTX_WAIT_KIND_JOIN,
	CTX_WAIT_KIND_BARRIER,
	CTX_WAIT_KIND_SEMAPHORE,
	CTX_WAIT_KIND_INTERPRETER, /* the lock of an interpreter, which lets one thread run: CPython's */
	CTX_WAIT_KIND_SAFEPOINT, /* the end of a safepoint, in which a virtual machine of Java stops its threads */
	CTX_WAIT_KIND_PARK,	 /* LockSupport.park: a lock or condition of java.util.concurrent */
	CTX_WAIT_KIND_FUTEX, /* none of the above is named */
	CTX_WAIT_KIND_POLL,  /* poll, select, epoll */
	CTX_WAIT_KIND_PIPE,
	CTX_WAIT_KIND_SOCKET,
	CTX_WAIT_KIND_FILE,
	CTX_WAIT_KIND_TIMER,
	CTX_WAIT_KIND_CHILD, /* the end of another process */
	CTX_WAIT_KIND_PAGE_FAULT,
	CTX_WAIT_KIND_STOPPED,
	CTX_WAIT_KIND_START, /* until the recorder was ready: of the first wait ctx_wait_is_start tells, not the stack */
	CTX_WAIT_KIND_N,
};

/* For display and for keys: "mutex", "condition variable", "page fault", "other". */
const char *ctx_wait_kind_text(enum ctx_wait_kind kind);

/* What the names of all functions of a profile say; of_function is owned. */
struct ctx_wait_kinds {
	const struct ctx_profile *profile; /* borrowed */
	uint16_t *of_function;
};

/* O(functions + objects). Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_wait_kinds_init(struct ctx_wait_kinds *kinds,
						   const struct ctx_profile *profile, struct ctx_err *err);
void ctx_wait_kinds_deinit(struct ctx_wait_kinds *kinds);

/*
 * Whether a function is of the program: not of the kernel, the C or C++ library or the dynamic linker, and
 * not a placeholder for what was not recorded. False for an id that is not in the profile.
 */
bool ctx_wait_kinds_is_program(const struct ctx_wait_kinds *kinds, uint32_t function);

struct ctx_wait_place {
	enum ctx_wait_kind kind;
	uint32_t caller; /* function id; CTX_NONE: the stack has none in the program */
};

/*
 * The kind of a wait in `state` with this call stack (a node of the CCT), and its caller in the
 * program: the innermost function that is not of the kernel, the C or C++ library, the dynamic
 * linker or a runtime of OpenMP. Where there is none, it is what a worker of OpenMP does: "<OMP-idle>".
 * O(depth).
 */
struct ctx_wait_place ctx_wait_kinds_find(const struct ctx_wait_kinds *kinds, enum ctx_thread_state state,
					  uint32_t stack);

/*
 * Whether a span of the state SLEEP is the command's wait for the recorder: it has no callers and
 * begins with the first thread, of a recording of a command. A part of it that begins later is not
 * recognised.
 */
bool ctx_wait_is_start(const struct ctx_profile *profile, const struct ctx_sample *span);

#endif
