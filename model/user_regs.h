/*
 * User registers: a thread's registers in a sample, as they were when it was last in user mode, for
 * the unwinder.
 *
 * Registers have DWARF numbers, as in call frame information. Source: System V ABI, AMD64
 * supplement, figure 3.36; DWARF for the Arm 64-bit architecture; perf's numbers:
 * arch/{x86,arm64}/include/uapi/asm/perf_regs.h.
 */
#ifndef CTX_MODEL_USER_REGS_H
#define CTX_MODEL_USER_REGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ctx_machine {
	CTX_MACHINE_UNKNOWN,
	CTX_MACHINE_X86_64,
	CTX_MACHINE_AARCH64,
	CTX_MACHINE_I386, /* in the runtime alone: no recording has registers of it */
};

#define CTX_USER_REGS_MAX 33 /* aarch64: x0-x30, sp, pc */

/* i386: eax ecx edx ebx esp ebp esi edi eip. x86-64: rax rdx rcx rbx rsi rdi rbp rsp r8-r15 rip. aarch64: x0-x30 (29 fp, 30 lr), sp, pc. */
struct ctx_user_regs {
	enum ctx_machine machine; /* CTX_MACHINE_UNKNOWN: no registers (a kernel thread) */
	uint64_t valid;		  /* bit i: value[i] is known */
	uint64_t value[CTX_USER_REGS_MAX];
};

/* Numbers of the registers that an unwinder uses by role; 0 for an unknown machine. */
unsigned ctx_machine_sp(enum ctx_machine machine);
unsigned ctx_machine_fp(enum ctx_machine machine);
unsigned ctx_machine_pc(enum ctx_machine machine);

/* The machine that this program was built for. */
enum ctx_machine ctx_machine_own(void);

/* The machine of an ELF header's e_machine. */
enum ctx_machine ctx_machine_of_elf(uint16_t e_machine);

/* The mask for perf (attr.sample_regs_user): the registers above; 0 for an unknown machine. */
uint64_t ctx_user_regs_perf_mask(enum ctx_machine machine);

/* The same for the stack pointer and pc alone. */
uint64_t ctx_user_regs_perf_place(enum ctx_machine machine);

/*
 * From a perf sample: `values` holds one number of 8 bytes (any alignment, `swap`: of the other
 * byte order) for each bit of `mask`, the lowest first. Registers that unwinders do not need are
 * skipped.
 */
void ctx_user_regs_from_perf(struct ctx_user_regs *regs, enum ctx_machine machine, uint64_t mask,
			     const uint8_t *values, bool swap);

/* The registers and the stack of one sample. Borrowed from the creator of the sample. */
struct ctx_user_state {
	struct ctx_user_regs regs;
	const uint8_t *stack; /* copy of the memory from the stack pointer upward */
	size_t stack_bytes;
};

#endif
