/*
 * A thread of a running process that is stopped for a moment to call functions in it (ptrace).
 *
 *	seize, interrupt --> registers saved --> calls --> registers restored --> goes on
 *
 * Only this thread stands still. A call begins below the red zone of its stack, or on a stack of its own, and returns to
 * an address where no code can be; the fault that this causes is the recorder's and does not reach the thread. Signals
 * are blocked meanwhile, and so stay pending in the kernel. What it was doing goes on: all registers are restored, those
 * of vectors too, and a system call that was interrupted is restarted by the kernel; those that the kernel lets fail
 * with EINTR instead, as epoll_wait, are begun again.
 *
 * All of these are to be called by one thread of the recorder. If the recorder is killed between begin and end, the
 * process is, too.
 */
#ifndef CTX_COLLECT_ATTACH_THREAD_H
#define CTX_COLLECT_ATTACH_THREAD_H

#include "base/err.h"
#include "model/user_regs.h"

#include <stdbool.h>
#include <stdint.h>

struct ctx_attach_thread;

/*
 * Stops a thread. CTX_END: not this one, which has ended. Fails with CTX_E_PERM (the kernel does not allow it; the
 * message says why), CTX_E_ARG (the process is stopped), CTX_E_NOMEM, CTX_E_IO (it does not stop in ten seconds: the
 * recorder has to end then, or it would stand still from its next stop on).
 */
CTX_MUST_CHECK enum ctx_status ctx_attach_thread_begin(int64_t pid, int64_t tid,
						       struct ctx_attach_thread **ret, struct ctx_err *err);
/* Lets it go on as if nothing had been. NULL is allowed. */
void ctx_attach_thread_end(struct ctx_attach_thread *thread);

/* Where it is; of the machine's registers all. */
struct ctx_user_regs ctx_attach_thread_regs(const struct ctx_attach_thread *thread);

/* From here on calls use the memory [low, high) as their stack; 0, 0: the thread's own. */
void ctx_attach_thread_use_stack(struct ctx_attach_thread *thread, uint64_t low, uint64_t high);

#define CTX_ATTACH_ARGUMENTS 6u

/*
 * Calls a function. Fails with CTX_E_IO: the thread has ended (with its process), the function has crashed, or has not
 * returned in half a minute.
 */
CTX_MUST_CHECK enum ctx_status ctx_attach_thread_call(struct ctx_attach_thread *thread, uint64_t function,
						      const uint64_t arguments[CTX_ATTACH_ARGUMENTS],
						      uint64_t *ret, struct ctx_err *err);

/* Memory of its process. False: not all of it can be read, or written. */
bool ctx_attach_thread_read(const struct ctx_attach_thread *thread, uint64_t at, void *out, size_t n);
bool ctx_attach_thread_write(const struct ctx_attach_thread *thread, uint64_t at, const void *in, size_t n);

#endif
