/*
 * Where the program's code meets the hooks (rt_calls.h). All of it keeps what a function may expect of its registers, where no call was
 * expected all of them.
 *
 * A function with a hook at its first instruction is called anew, from the place where its caller stood: the hook's own
 * call takes the place of the return address. So both returns are as the processor predicts them.
 *
 *	stack		at the hook	body, return address
 *			in the body	ctx_rt_calls_return	(the address is in rt_returns.h)
 */
#include "runtime/rt_calls.h"
#include "runtime/rt_calls_work.h"
#include "runtime/rt_real.h"

#include <stddef.h>
#include <string.h>

#define HIDDEN __attribute__((visibility("hidden"), used))

enum { LONGJMP, LONGJMP_2, SIGLONGJMP, LONGJMP_CHK, BEGIN_CATCH, MCOUNT, FENTRY, REAL_N };

#ifdef __x86_64__

HIDDEN void *ctx_rt_calls_look(unsigned which, const uint64_t *jump, uint64_t sp);
HIDDEN void *ctx_rt_calls_reals[REAL_N];

static void *find(unsigned which)
{
	static const char *const names[REAL_N] = {"longjmp",	   "_longjmp",		"siglongjmp",
						  "__longjmp_chk", "__cxa_begin_catch", "_mcount",
						  "__fentry__"};
	void *real = __atomic_load_n(&ctx_rt_calls_reals[which], __ATOMIC_ACQUIRE);

	if (real == NULL) {
		real = ctx_rt_find(names[which], NULL);
		__atomic_store_n(&ctx_rt_calls_reals[which], real, __ATOMIC_RELEASE);
	}
	return real;
}

__attribute__((constructor)) static void find_all(void)
{
	/* A name that nobody has costs an allocation: __cxa_begin_catch is looked for when it is called. */
	for (unsigned i = 0; i < REAL_N; i++) {
		if (i != BEGIN_CATCH)
			(void)find(i);
	}
}

/* The stack pointer behind setjmp, as glibc keeps it; 0: not known. */
static uint64_t sp_of(const uint64_t *jump)
{
	enum { SP = 6 }; /* of what __setjmp writes */
	uint64_t sp = jump[SP], guard;

	__asm__("mov %%fs:0x30, %0" : "=r"(guard));
	sp = (sp >> 17 | sp << 47) ^ guard;
	return sp % 8 == 0 && sp >> 47 == 0 ? sp : 0;
}

/* Returns the real function, which is jumped to. */
void *ctx_rt_calls_look(unsigned which, const uint64_t *jump, uint64_t sp)
{
	if (which != BEGIN_CATCH)
		sp = sp_of(jump);
	if (sp != 0 && atomic_load_explicit(&ctx_rt_calls_mode, memory_order_relaxed) != CTX_RT_CALLS_OFF)
		ctx_rt_calls_jump(sp);
	return find(which);
}

// clang-format off
#define FUNCTION(name) ".globl " name "\n.type " name ", @function\n" name ":\n"
#define LOCAL(name) ".globl " name "\n.hidden " name "\n.type " name ", @function\n" name ":\n"
#define END(name) ".size " name ", . - " name "\n"
#define PUSH(register) "push %" register "\n.cfi_adjust_cfa_offset 8\n"
#define POP(register) "pop %" register "\n.cfi_adjust_cfa_offset -8\n"

/* Functions that never return, or whose arguments are in rdi. */
#define LOOK(name, which)                                                                                    \
	FUNCTION(name)                                                                                       \
	".cfi_startproc\n"                                                                                   \
	"endbr64\n"                                                                                          \
	PUSH("rdi") PUSH("rsi")                                                                              \
	"lea 24(%rsp), %rdx\n"                                                                               \
	"mov %rdi, %rsi\n"                                                                                   \
	"mov $" which ", %edi\n"                                                                             \
	"sub $8, %rsp\n.cfi_adjust_cfa_offset 8\n"                                                           \
	"call ctx_rt_calls_look\n"                                                                           \
	"add $8, %rsp\n.cfi_adjust_cfa_offset -8\n"                                                          \
	POP("rsi") POP("rdi")                                                                                \
	"jmp *%rax\n"                                                                                        \
	".cfi_endproc\n" END(name)

/* The hook of a sled: the place is 24 above, or 16 where the sled has jumped. */
#define SLED(name, at, what, function)                                                                       \
	LOCAL(name)                                                                                          \
	".cfi_startproc\n"                                                                                   \
	PUSH("rdi") PUSH("rsi")                                                                              \
	"lea " at "(%rsp), %rdi\n"                                                                           \
	function                                                                                             \
	"call " what "\n"                                                                                    \
	POP("rsi") POP("rdi")                                                                                \
	"ret\n"                                                                                              \
	".cfi_endproc\n" END(name)

__asm__(".text\n.p2align 4\n"
	LOOK("longjmp", "0") LOOK("_longjmp", "1") LOOK("siglongjmp", "2") LOOK("__longjmp_chk", "3")
	LOOK("__cxa_begin_catch", "4")

	/* -pg: in a function that has its frame pointer. */
	".globl _mcount\n.type _mcount, @function\n"
	FUNCTION("mcount")
	"_mcount:\n"
	".cfi_startproc\n"
	"endbr64\n"
	"cmpl $0, ctx_rt_calls_mode(%rip)\n"
	"je 1f\n"
	PUSH("rax") PUSH("rdi") PUSH("rsi")
	"lea 8(%rbp), %rdi\n"
	"cmp %rsp, %rdi\n"
	"jbe 2f\n"
	"mov 24(%rsp), %rsi\n"
	"dec %rsi\n"
	"call ctx_rt_calls_enter_here\n"
	"2:\n"
	POP("rsi") POP("rdi") POP("rax")
	"3: ret\n"
	"1: cmpq $0, 40 + ctx_rt_calls_reals(%rip)\n"
	"je 3b\n"
	"jmp *40 + ctx_rt_calls_reals(%rip)\n"
	".cfi_endproc\n"
	END("mcount") ".size _mcount, . - _mcount\n"

	/* -pg -mfentry, and functions that were patched: the first instruction, or behind an endbr64. */
	FUNCTION("__fentry__")
	".cfi_startproc\n"
	"endbr64\n"
	"cmpl $0, ctx_rt_calls_mode(%rip)\n"
	"je 1f\n"
	".globl ctx_rt_calls_patched_entry\n.hidden ctx_rt_calls_patched_entry\n"
	"ctx_rt_calls_patched_entry:\n"
	PUSH("rax") PUSH("rdi") PUSH("rsi")
	"lea 32(%rsp), %rdi\n"
	"mov 24(%rsp), %rsi\n"
	"dec %rsi\n"
	"sub $8, %rsp\n.cfi_adjust_cfa_offset 8\n"
	"call ctx_rt_calls_enter\n"
	"add $8, %rsp\n.cfi_adjust_cfa_offset -8\n"
	"test %eax, %eax\n"
	POP("rsi") POP("rdi") POP("rax")
	"jnz 4f\n"
	"2: ret\n"
	"4: add $16, %rsp\n.cfi_def_cfa_offset -8\n"
	"jmp ctx_rt_calls_through\n"
	".cfi_def_cfa_offset 8\n"
	"1: cmpq $0, 48 + ctx_rt_calls_reals(%rip)\n"
	"je 2b\n"
	"jmp *48 + ctx_rt_calls_reals(%rip)\n"
	".cfi_endproc\n" END("__fentry__")

	/* -fxray-instrument */
	SLED("ctx_rt_calls_sled_enter", "24", "ctx_rt_calls_enter_sled", "mov 16(%rsp), %rsi\ndec %rsi\n")
	SLED("ctx_rt_calls_sled_tail", "24", "ctx_rt_calls_leave_sled", "")
	SLED("ctx_rt_calls_sled_leave", "16", "ctx_rt_calls_leave_sled", ""));
// clang-format on

#else

typedef int ctx_rt_calls_nothing; /* hooks of i386 need no entry */

#endif
