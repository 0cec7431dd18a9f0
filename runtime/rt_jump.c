/*
 * Functions that the runtime only looks at: prctl and syscall, for filters of system calls (rt_filter.h); dlopen and dlmopen, for
 * libraries whose calls do not come to the runtime.
 *
 * Each looks at its arguments, and jumps to the real one: the caller's address stays where it is, by which dlopen finds the search path
 * and the namespace of the library that calls it, and arguments of any number are handed on as they are.
 */
#include "runtime/rt_calls_patch.h"
#include "runtime/rt_calls_work.h"
#include "runtime/rt_code.h"
#include "runtime/rt_count.h"
#include "runtime/rt_filter.h"
#include "runtime/rt_io.h"
#include "runtime/rt_once.h"
#include "runtime/rt_process.h"
#include "runtime/rt_walk.h"

#include <dlfcn.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define HIDDEN __attribute__((visibility("hidden"), used))

/* What each looks with: they return the real function. On x86-64 a fifth argument is the caller's address. */
HIDDEN void *ctx_rt_look_at_prctl(long option, long mode, const struct sock_fprog *program);
HIDDEN void *ctx_rt_look_at_syscall(long number, long first, long second, const void *third);
HIDDEN void *ctx_rt_look_at_dlopen(const char *name, int flags, long third, long fourth, const void *caller);
HIDDEN void *ctx_rt_look_at_dlmopen(Lmid_t space, const char *name, int flags);

enum { PRCTL, SYSCALL, DLOPEN, DLMOPEN, REAL_N };

HIDDEN void *ctx_rt_jump_reals[REAL_N];

#ifdef __x86_64__
/* All registers with arguments are kept, also rax, which says how many vector registers have some. */
// clang-format off
#define JUMP(name, look)                                                                                     \
	#name ":\n"                                                                                          \
	".cfi_startproc\n"                                                                                   \
	"endbr64\n"                                                                                          \
	"push %rax\n.cfi_adjust_cfa_offset 8\n"                                                              \
	"push %rdi\n.cfi_adjust_cfa_offset 8\n"                                                              \
	"push %rsi\n.cfi_adjust_cfa_offset 8\n"                                                              \
	"push %rdx\n.cfi_adjust_cfa_offset 8\n"                                                              \
	"push %rcx\n.cfi_adjust_cfa_offset 8\n"                                                              \
	"push %r8\n.cfi_adjust_cfa_offset 8\n"                                                               \
	"push %r9\n.cfi_adjust_cfa_offset 8\n"                                                               \
	"mov 56(%rsp), %r8\n"                                                                                \
	"call " #look "\n"                                                                                   \
	"mov %rax, %r11\n"                                                                                   \
	"pop %r9\n.cfi_adjust_cfa_offset -8\n"                                                               \
	"pop %r8\n.cfi_adjust_cfa_offset -8\n"                                                               \
	"pop %rcx\n.cfi_adjust_cfa_offset -8\n"                                                              \
	"pop %rdx\n.cfi_adjust_cfa_offset -8\n"                                                              \
	"pop %rsi\n.cfi_adjust_cfa_offset -8\n"                                                              \
	"pop %rdi\n.cfi_adjust_cfa_offset -8\n"                                                              \
	"pop %rax\n.cfi_adjust_cfa_offset -8\n"                                                              \
	"jmp *%r11\n"                                                                                        \
	".cfi_endproc\n"                                                                                     \
	".size " #name ", . - " #name "\n"

#define FUNCTION(name) ".globl " #name "\n.type " #name ", @function\n"

__asm__(".text\n.p2align 4\n"
	FUNCTION(prctl) JUMP(prctl, ctx_rt_look_at_prctl)
	FUNCTION(dlopen) JUMP(dlopen, ctx_rt_look_at_dlopen)
	FUNCTION(dlmopen) JUMP(dlmopen, ctx_rt_look_at_dlmopen)
	/* Only these two numbers are looked at: 317 is seccomp, 157 prctl. */
	FUNCTION(syscall)
	"syscall:\n"
	".cfi_startproc\n"
	"endbr64\n"
	"mov ctx_rt_jump_reals + 8(%rip), %r11\n"
	"test %r11, %r11\n"
	"jz ctx_rt_jump_syscall\n"
	"cmp $317, %edi\n"
	"je ctx_rt_jump_syscall\n"
	"cmp $157, %edi\n"
	"je ctx_rt_jump_syscall\n"
	"jmp *%r11\n"
	".cfi_endproc\n"
	".size syscall, . - syscall\n"
	".type ctx_rt_jump_syscall, @function\n"
	JUMP(ctx_rt_jump_syscall, ctx_rt_look_at_syscall));
// clang-format on

_Static_assert(SYSCALL == 1 && SYS_seccomp == 317 && SYS_prctl == 157, "as in syscall");
#else
/*
 * Arguments are on the stack, where they stay. What looks gets a copy of four words, whatever they are; the stack is aligned for it.
 */
// clang-format off
#define JUMP(name, look)                                                                                     \
	".globl " #name "\n.type " #name ", @function\n"                                                     \
	#name ":\n"                                                                                          \
	".cfi_startproc\n"                                                                                   \
	"sub $12, %esp\n.cfi_adjust_cfa_offset 12\n"                                                         \
	"pushl 28(%esp)\n.cfi_adjust_cfa_offset 4\n"                                                         \
	"pushl 28(%esp)\n.cfi_adjust_cfa_offset 4\n"                                                         \
	"pushl 28(%esp)\n.cfi_adjust_cfa_offset 4\n"                                                         \
	"pushl 28(%esp)\n.cfi_adjust_cfa_offset 4\n"                                                         \
	"call " #look "\n"                                                                                   \
	"add $28, %esp\n.cfi_adjust_cfa_offset -28\n"                                                        \
	"jmp *%eax\n"                                                                                        \
	".cfi_endproc\n"                                                                                     \
	".size " #name ", . - " #name "\n"

__asm__(".text\n.p2align 4\n"
	JUMP(prctl, ctx_rt_look_at_prctl)
	JUMP(dlopen, ctx_rt_look_at_dlopen)
	JUMP(dlmopen, ctx_rt_look_at_dlmopen)
	JUMP(syscall, ctx_rt_look_at_syscall));
// clang-format on
#endif

static void *find(unsigned which)
{
	static const char *const names[REAL_N] = {"prctl", "syscall", "dlopen", "dlmopen"};
	void *real = __atomic_load_n(&ctx_rt_jump_reals[which], __ATOMIC_ACQUIRE);

	if (real == NULL) {
		real = ctx_rt_find(names[which], NULL);
		__atomic_store_n(&ctx_rt_jump_reals[which], real, __ATOMIC_RELEASE);
	}
	return real;
}

__attribute__((constructor)) static void find_all(void)
{
	for (unsigned i = 0; i < REAL_N; i++)
		(void)find(i);
}

/* Filters */

static bool is_readable(const void *from, size_t n)
{
	const uint64_t first = (uintptr_t)from;

	if (first < CTX_RT_PAGE) /* the kernel takes NULL for no address */
		return false;
	for (uint64_t at = first & ~(uint64_t)(CTX_RT_PAGE - 1); at < first + n; at += CTX_RT_PAGE) {
		if (!ctx_rt_is_readable(at))
			return false;
	}
	return true;
}

/* The kernel refuses what cannot be read, or is of another length. */
static bool is_harmless(const struct sock_fprog *program)
{
	if (!is_readable(program, sizeof(*program)) || program->len == 0 || program->len > BPF_MAXINSNS ||
	    !is_readable(program->filter, program->len * sizeof(*program->filter)))
		return true;
	return ctx_rt_filter_is_harmless(program->filter, program->len) &&
	       ((ctx_rt_calls_settings.counters & CTX_CALL_COUNTERS_OF_KERNEL) == 0 ||
		ctx_rt_filter_allows(program->filter, program->len, SYS_getrusage));
}

static void stop(void)
{
	ctx_rt_process_stop();
	ctx_rt_calls_set(NULL);
}

static void look(long mode, const struct sock_fprog *program)
{
	if (!ctx_rt_is_restricted() && (mode != SECCOMP_MODE_FILTER || !is_harmless(program))) {
		ctx_rt_io_list();
		ctx_rt_process_restrict();
	}
	if (mode == SECCOMP_MODE_STRICT)
		stop();
}

void *ctx_rt_look_at_prctl(long option, long mode, const struct sock_fprog *program)
{
	if ((int)option == PR_SET_SECCOMP && (mode == SECCOMP_MODE_STRICT || mode == SECCOMP_MODE_FILTER))
		look(mode, program);
	if ((int)option == PR_SET_TSC && mode == PR_TSC_SIGSEGV)
		stop();
	return find(PRCTL);
}

void *ctx_rt_look_at_syscall(long number, long first, long second, const void *third)
{
	if ((int)number == SYS_seccomp && (uint32_t)first == SECCOMP_SET_MODE_STRICT)
		look(SECCOMP_MODE_STRICT, NULL);
	else if ((int)number == SYS_seccomp && (uint32_t)first == SECCOMP_SET_MODE_FILTER)
		look(SECCOMP_MODE_FILTER, third);
	else if ((int)number == SYS_prctl)
		(void)ctx_rt_look_at_prctl(first, second, third);
	return find(SYSCALL);
}

/* Libraries */

/* Their functions call the C library's, or those of a C library of their own, whatever stands in front of them. */
static void note(const char *name)
{
	if (name != NULL)
		ctx_rt_note_apart(name);
}

static __thread void *opened CTX_RT_TLS;

/* In place of the real one, which has been called. */
static void *return_opened(void)
{
	return opened;
}

/*
 * Where the loader searches for whoever opens a library as it does for the runtime, and always by a path, the runtime opens it, and what
 * is new gets its hooks before the program knows of it.
 */
static bool open_here(const char *name, int flags, const void *caller)
{
	void *(*real)(const char *, int);
	struct ctx_rt_loaded before;
	bool is_path;

	if (name == NULL || strchr(name, '$') != NULL || (flags & RTLD_NOLOAD) != 0)
		return false;
	ctx_rt_calls_see_loaded(&before, caller);
	is_path = strchr(name, '/') != NULL;
	if (!before.is_wanted || (before.is_inherited_search && (before.has_hooks || !is_path)) ||
	    (before.is_own_search && !is_path))
		return false;
	*(void **)&real = find(DLOPEN);
	opened = real(name, flags);
	if (opened != NULL) {
		ctx_rt_calls_patch_opened(&before, opened);
		ctx_rt_once_opened();
		ctx_rt_count_opened(&before, opened);
	}
	return true;
}

void *ctx_rt_look_at_dlopen(const char *name, int flags, long third, long fourth, const void *caller)
{
	union {
		void *(*function)(void);
		void *address;
	} done = {.function = return_opened};

	(void)third;
	(void)fourth;
	if ((flags & (RTLD_DEEPBIND | RTLD_NOLOAD)) == RTLD_DEEPBIND)
		note(name);
	return open_here(name, flags, caller) ? done.address : find(DLOPEN);
}

void *ctx_rt_look_at_dlmopen(Lmid_t space, const char *name, int flags)
{
	if ((space != LM_ID_BASE || (flags & RTLD_DEEPBIND) != 0) && (flags & RTLD_NOLOAD) == 0)
		note(name);
	return find(DLMOPEN);
}
