#include "collect/attach_thread.h"

#include "base/clock.h"
#include "base/mem.h"
#include "collect/attach_target.h"
#include "collect/permissions.h"
#include "collect/procfs.h"

#ifdef __x86_64__
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RED_ZONE 128u
#define RETURN_TO UINT64_C(0x7ffffffff000) /* behind the last page that a process may map */
#define XSTATE_MAX ((size_t)16 << 10)
#define STOP_NS UINT64_C(10000000000)
#define CALL_NS UINT64_C(30000000000)
#define SPINS 100u     /* looks before it sleeps in between */
#define PAUSE_NS 20000 /* between two looks */
#define CARRY_DIRECTION 0x400u
#define STEP 0x100u
#define SET_OF_SIGNALS 8u

struct ctx_attach_thread {
	pid_t pid, tid;
	struct user_regs_struct regs;
	uint8_t *vectors; /* owned; as the kernel gives them */
	size_t n_vectors;
	uint64_t mask;	    /* signals that it has blocked */
	uint64_t low, high; /* stack of calls; 0: its own */
	bool is_gone;
	bool is_changed;       /* its registers are to be restored */
	bool was_told_to_stop; /* by SIGSTOP, which is still to be obeyed */
};

/* Stops */

enum seen {
	SEEN_STOP,
	SEEN_END,
	SEEN_NOTHING,
};

static enum seen wait_for_stop(struct ctx_attach_thread *thread, uint64_t limit_ns, int *status)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	uint64_t end_ns = ctx_clock_ns(CLOCK_MONOTONIC) + limit_ns;

	for (unsigned i = 0;; i++) {
		pid_t got = waitpid(thread->tid, status, __WALL | WNOHANG);

		if (got == thread->tid && WIFSTOPPED(*status))
			return SEEN_STOP;
		if (got == thread->tid || (got < 0 && errno != EINTR)) {
			thread->is_gone = true;
			return SEEN_END;
		}
		if (ctx_clock_ns(CLOCK_MONOTONIC) > end_ns)
			return SEEN_NOTHING;
		if (i < SPINS)
			(void)syscall(SYS_sched_yield);
		else
			(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	}
}

static bool is_event(int status)
{
	return status >> 16 == PTRACE_EVENT_STOP;
}

static bool request(const struct ctx_attach_thread *thread, int what, size_t n, void *data)
{
	return ptrace((enum __ptrace_request)what, thread->tid, (void *)n, data) == 0;
}

static enum ctx_status may_not(const struct ctx_attach_thread *thread, struct ctx_err *err)
{
	int scope = ctx_permissions_setting("/proc/sys/kernel/yama/ptrace_scope", 0);

	if (scope >= 1)
		return ctx_err_set(err, CTX_E_PERM,
				   "process %lld cannot be traced: kernel.yama.ptrace_scope is %d (0 allows "
				   "it, or root%s)",
				   (long long)thread->pid, scope,
				   scope >= 3 ? " where it is less than 3" : "");
	return ctx_err_set(err, CTX_E_PERM, "process %lld cannot be traced: ptrace is not permitted",
			   (long long)thread->pid);
}

/* It stops at once; signals that come before are its own. */
static enum ctx_status stop(struct ctx_attach_thread *thread, struct ctx_err *err)
{
	int status;

	if (!request(thread, PTRACE_SEIZE, 0, NULL)) {
		thread->is_gone = true;
		return errno == EPERM ? may_not(thread, err) : CTX_END;
	}
	if (!request(thread, PTRACE_INTERRUPT, 0, NULL))
		return CTX_END;
	for (;;) {
		enum seen seen = wait_for_stop(thread, STOP_NS, &status);

		if (seen == SEEN_NOTHING) {
			thread->is_gone =
				true; /* nothing can be asked of it; the recorder's end lets it go */
			return ctx_err_set(err, CTX_E_IO, "thread %lld does not stop",
					   (long long)thread->tid);
		}
		if (seen != SEEN_STOP)
			return CTX_END;
		if (!is_event(status)) {
			(void)request(thread, PTRACE_CONT, 0, (void *)(uintptr_t)WSTOPSIG(status));
			continue;
		}
		return WSTOPSIG(status) == SIGTRAP
			       ? CTX_OK
			       : ctx_err_set(err, CTX_E_ARG, "process %lld cannot be traced: it is stopped",
					     (long long)thread->pid);
	}
}

static bool save(struct ctx_attach_thread *thread)
{
	struct iovec vectors = {thread->vectors, XSTATE_MAX};

	if (!request(thread, PTRACE_GETREGS, 0, &thread->regs) ||
	    !request(thread, PTRACE_GETREGSET, NT_X86_XSTATE, &vectors) ||
	    !request(thread, PTRACE_GETSIGMASK, SET_OF_SIGNALS, &thread->mask))
		return false;
	thread->n_vectors = vectors.iov_len;
	return true;
}

/* Going on */

/* Whether a signal waits that it would get. */
static bool has_signal(const struct ctx_attach_thread *thread)
{
	struct ctx_buf status = {0};
	uint64_t pending = UINT64_MAX;
	char file[64];

	snprintf(file, sizeof(file), "task/%lld/status", (long long)thread->tid);
	if (ctx_procfs_text(thread->pid, file, &status, NULL) == CTX_OK)
		pending = ctx_attach_status_number((const char *)status.bytes, "SigPnd", 16, UINT64_MAX) |
			  ctx_attach_status_number((const char *)status.bytes, "ShdPnd", 16, UINT64_MAX);
	ctx_buf_deinit(&status);
	return (pending & ~thread->mask) != 0;
}

/* System calls that fail with EINTR also where no signal was handled: this stop did it. */
static bool was_broken_off(const struct user_regs_struct *regs)
{
	static const uint16_t numbers[] = {
		SYS_epoll_wait,	     SYS_epoll_pwait,  SYS_epoll_pwait2,  SYS_semop,	      SYS_semtimedop,
		SYS_rt_sigtimedwait, SYS_io_getevents, SYS_io_pgetevents, SYS_read,	      SYS_recvfrom,
		SYS_recvmsg,	     SYS_recvmmsg,     SYS_accept,	  SYS_accept4,	      SYS_sendto,
		SYS_sendmsg,	     SYS_sendmmsg,     SYS_write,	  SYS_io_uring_enter,
	};

	if ((int64_t)regs->rax != -EINTR)
		return false;
	for (size_t i = 0; i < CTX_COUNT_OF(numbers); i++) {
		if (regs->orig_rax == numbers[i])
			return true;
	}
	return false;
}

static void restore(struct ctx_attach_thread *thread)
{
	struct iovec vectors = {thread->vectors, thread->n_vectors};
	struct user_regs_struct regs = thread->regs;

	if (was_broken_off(&regs) && !has_signal(thread)) {
		regs.rax = regs.orig_rax;
		regs.orig_rax = UINT64_MAX;
		regs.rip -= 2; /* the instruction syscall */
		thread->is_changed = true;
	}
	if (!thread->is_changed)
		return;
	(void)request(thread, PTRACE_SETREGSET, NT_X86_XSTATE, &vectors);
	(void)request(thread, PTRACE_SETREGS, 0, &regs);
	(void)request(thread, PTRACE_SETSIGMASK, SET_OF_SIGNALS, &thread->mask);
}

void ctx_attach_thread_end(struct ctx_attach_thread *thread)
{
	if (thread == NULL)
		return;
	if (!thread->is_gone) {
		restore(thread);
		(void)request(thread, PTRACE_DETACH, 0, NULL);
		if (thread->was_told_to_stop)
			(void)syscall(SYS_tgkill, thread->pid, thread->tid, SIGSTOP);
	}
	free(thread->vectors);
	free(thread);
}

enum ctx_status ctx_attach_thread_begin(int64_t pid, int64_t tid, struct ctx_attach_thread **ret,
					struct ctx_err *err)
{
	struct ctx_attach_thread *thread = ctx_calloc(1, sizeof(*thread));
	enum ctx_status status;

	if (thread == NULL)
		return ctx_err_nomem(err);
	thread->pid = (pid_t)pid;
	thread->tid = (pid_t)tid;
	thread->vectors = ctx_calloc(1, XSTATE_MAX);
	if (thread->vectors == NULL) {
		free(thread);
		return ctx_err_nomem(err);
	}
	status = stop(thread, err);
	if (status == CTX_OK && !save(thread))
		status = errno == ESRCH
				 ? CTX_END
				 : ctx_err_errno(err, CTX_E_IO, "registers of thread %lld", (long long)tid);
	if (status != CTX_OK) {
		thread->regs.rax = 0; /* nothing to begin again */
		ctx_attach_thread_end(thread);
		return status;
	}
	*ret = thread;
	return CTX_OK;
}

struct ctx_user_regs ctx_attach_thread_regs(const struct ctx_attach_thread *thread)
{
	const struct user_regs_struct *regs = &thread->regs;

	return (struct ctx_user_regs){.machine = CTX_MACHINE_X86_64,
				      .valid = (UINT64_C(1) << 17) - 1,
				      .value = {regs->rax, regs->rdx, regs->rcx, regs->rbx, regs->rsi,
						regs->rdi, regs->rbp, regs->rsp, regs->r8, regs->r9,
						regs->r10, regs->r11, regs->r12, regs->r13, regs->r14,
						regs->r15, regs->rip}};
}

void ctx_attach_thread_use_stack(struct ctx_attach_thread *thread, uint64_t low, uint64_t high)
{
	thread->low = low;
	thread->high = high;
}

/* Memory */

bool ctx_attach_thread_read(const struct ctx_attach_thread *thread, uint64_t at, void *out, size_t n)
{
	struct iovec local = {out, n}, remote = {(void *)at, n};

	return process_vm_readv(thread->pid, &local, 1, &remote, 1, 0) == (ssize_t)n;
}

bool ctx_attach_thread_write(const struct ctx_attach_thread *thread, uint64_t at, const void *in, size_t n)
{
	struct iovec local = {(void *)in, n}, remote = {(void *)at, n};

	return process_vm_writev(thread->pid, &local, 1, &remote, 1, 0) == (ssize_t)n;
}

/* Calls */

/* All signals but those by which the thread itself says that it cannot go on. */
static uint64_t meanwhile_blocked(void)
{
	static const int own[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};
	uint64_t mask = UINT64_MAX;

	for (size_t i = 0; i < CTX_COUNT_OF(own); i++)
		mask &= ~(UINT64_C(1) << (own[i] - 1));
	return mask;
}

static bool enter(struct ctx_attach_thread *thread, uint64_t function,
		  const uint64_t arguments[CTX_ATTACH_ARGUMENTS])
{
	struct user_regs_struct regs = thread->regs;
	uint64_t mask = meanwhile_blocked(), to = RETURN_TO;

	regs.rsp = thread->high != 0 ? thread->high : regs.rsp - RED_ZONE;
	/* As a call leaves it: a multiple of 16 above the return address. */
	regs.rsp = (regs.rsp & ~UINT64_C(15)) - sizeof(to);
	regs.rdi = arguments[0];
	regs.rsi = arguments[1];
	regs.rdx = arguments[2];
	regs.rcx = arguments[3];
	regs.r8 = arguments[4];
	regs.r9 = arguments[5];
	regs.rax = 0;
	regs.orig_rax = UINT64_MAX; /* in no system call */
	regs.eflags &= ~(unsigned long long)(CARRY_DIRECTION | STEP);
	regs.rip = function;
	thread->is_changed = true;
	return ctx_attach_thread_write(thread, regs.rsp, &to, sizeof(to)) &&
	       request(thread, PTRACE_SETSIGMASK, SET_OF_SIGNALS, &mask) &&
	       request(thread, PTRACE_SETREGS, 0, &regs) && request(thread, PTRACE_CONT, 0, NULL);
}

/*
 * It waits for a lock that another thread does not give back. As it is it would wait for ever; taken away from there, the
 * locks that it has got already stay locked.
 */
static enum ctx_status give_up(struct ctx_attach_thread *thread, struct ctx_err *err)
{
	int status;

	(void)request(thread, PTRACE_INTERRUPT, 0, NULL);
	(void)wait_for_stop(thread, STOP_NS, &status);
	return ctx_err_set(err, CTX_E_IO, "process %lld: a call in it has not returned",
			   (long long)thread->pid);
}

enum ctx_status ctx_attach_thread_call(struct ctx_attach_thread *thread, uint64_t function,
				       const uint64_t arguments[CTX_ATTACH_ARGUMENTS], uint64_t *ret,
				       struct ctx_err *err)
{
	struct user_regs_struct regs;
	int status;

	if (!enter(thread, function, arguments))
		return ctx_err_errno(err, CTX_E_IO, "process %lld: a call in it", (long long)thread->pid);
	for (;;) {
		enum seen seen = wait_for_stop(thread, CALL_NS, &status);

		if (seen == SEEN_NOTHING)
			return give_up(thread, err);
		if (seen == SEEN_END)
			return ctx_err_set(err, CTX_E_IO, "process %lld has ended meanwhile",
					   (long long)thread->pid);
		if (is_event(status) || WSTOPSIG(status) == SIGSTOP) {
			thread->was_told_to_stop = thread->was_told_to_stop || !is_event(status);
			(void)request(thread, PTRACE_CONT, 0, NULL);
			continue;
		}
		if (!request(thread, PTRACE_GETREGS, 0, &regs))
			return ctx_err_errno(err, CTX_E_IO, "process %lld", (long long)thread->pid);
		if (WSTOPSIG(status) != SIGSEGV || regs.rip != RETURN_TO)
			return ctx_err_set(err, CTX_E_IO,
					   "process %lld: a call in it has ended with signal %d",
					   (long long)thread->pid, WSTOPSIG(status));
		*ret = regs.rax;
		return CTX_OK;
	}
}

#else /* the runtime is for x86-64, and what calls these functions refuses before (ctx_attach_check) */

enum ctx_status ctx_attach_thread_begin(int64_t pid, int64_t tid, struct ctx_attach_thread **ret,
					struct ctx_err *err)
{
	(void)tid;
	(void)ret;
	return ctx_err_set(err, CTX_E_ARG, "process %lld cannot be traced on this machine", (long long)pid);
}

void ctx_attach_thread_end(struct ctx_attach_thread *thread)
{
	(void)thread;
}

struct ctx_user_regs ctx_attach_thread_regs(const struct ctx_attach_thread *thread)
{
	(void)thread;
	return (struct ctx_user_regs){0};
}

void ctx_attach_thread_use_stack(struct ctx_attach_thread *thread, uint64_t low, uint64_t high)
{
	(void)thread;
	(void)low;
	(void)high;
}

bool ctx_attach_thread_read(const struct ctx_attach_thread *thread, uint64_t at, void *out, size_t n)
{
	(void)thread;
	(void)at;
	(void)out;
	(void)n;
	return false;
}

bool ctx_attach_thread_write(const struct ctx_attach_thread *thread, uint64_t at, const void *in, size_t n)
{
	(void)thread;
	(void)at;
	(void)in;
	(void)n;
	return false;
}

enum ctx_status ctx_attach_thread_call(struct ctx_attach_thread *thread, uint64_t function,
				       const uint64_t arguments[CTX_ATTACH_ARGUMENTS], uint64_t *ret,
				       struct ctx_err *err)
{
	(void)thread;
	(void)function;
	(void)arguments;
	(void)ret;
	return ctx_err_set(err, CTX_E_ARG, "there are no calls on this machine");
}
#endif
