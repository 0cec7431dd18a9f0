/* ctx_rt_calls_heavy, and the same of counters: no register of the program changes, whatever the C library does. */
#include "runtime/rt_calls_needs.h"
#include "runtime/rt_calls_open.h"

#ifdef __x86_64__

#define HIDDEN __attribute__((visibility("hidden"), used))

HIDDEN uint32_t ctx_rt_calls_has_xsave;

__attribute__((constructor)) static void look_at_processor(void)
{
	uint32_t a = 1, b, c = 0, d;

	__asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	ctx_rt_calls_has_xsave = c >> 27 & 1; /* used by the kernel */
}

// clang-format off
#define LOCAL(name) ".globl " name "\n.hidden " name "\n.type " name ", @function\n" name ":\n"
#define END(name) ".size " name ", . - " name "\n"

/* Registers of integers, and with xsave those of vectors of all sizes, on a stack of its own alignment. */
#define HEAVY(name, work)                                                                                    \
	LOCAL(name)                                                                                          \
	".cfi_startproc\n"                                                                                   \
	"push %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset %rbp, 0\n"                                     \
	"mov %rsp, %rbp\n.cfi_def_cfa_register %rbp\n"                                                       \
	"push %rax\npush %rcx\npush %rdx\npush %rsi\npush %rdi\npush %r8\npush %r9\npush %r10\npush %r11\n"     \
	"sub $2816, %rsp\n"                                                                                  \
	"and $-64, %rsp\n"                                                                                   \
	"cmpl $0, ctx_rt_calls_has_xsave(%rip)\n"                                                            \
	"je 1f\n"                                                                                            \
	"movq $0, 512(%rsp)\nmovq $0, 520(%rsp)\nmovq $0, 528(%rsp)\nmovq $0, 536(%rsp)\n"                   \
	"movq $0, 544(%rsp)\nmovq $0, 552(%rsp)\nmovq $0, 560(%rsp)\nmovq $0, 568(%rsp)\n"                   \
	"mov $0xe7, %eax\nxor %edx, %edx\n"                                                                 \
	"xsave64 (%rsp)\n"                                                                                   \
	"cld\n"                                                                                              \
	"call " work "\n"                                                                                    \
	"mov $0xe7, %eax\nxor %edx, %edx\n"                                                                 \
	"xrstor64 (%rsp)\n"                                                                                  \
	"jmp 2f\n"                                                                                           \
	"1: fxsave64 (%rsp)\n"                                                                               \
	"cld\n"                                                                                              \
	"call " work "\n"                                                                                    \
	"fxrstor64 (%rsp)\n"                                                                                 \
	"2: lea -72(%rbp), %rsp\n"                                                                           \
	"pop %r11\npop %r10\npop %r9\npop %r8\npop %rdi\npop %rsi\npop %rdx\npop %rcx\npop %rax\n"             \
	"pop %rbp\n.cfi_def_cfa %rsp, 8\n"                                                                   \
	"ret\n"                                                                                              \
	".cfi_endproc\n" END(name)

__asm__(".text\n.p2align 4\n"
	HEAVY("ctx_rt_calls_heavy", "ctx_rt_calls_work")
	HEAVY("ctx_rt_count_heavy", "ctx_rt_count_work"));
// clang-format on

#else

void ctx_rt_calls_heavy(struct ctx_rt_calls_request *request)
{
	ctx_rt_calls_work(request);
}

#endif
