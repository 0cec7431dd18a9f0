#include "model/user_regs.h"

#include <elf.h>
#include <string.h>

#define NOT_NEEDED 0xff

/* By perf's number: AX BX CX DX SI DI BP SP IP FLAGS CS SS DS ES FS GS R8 ... R15. */
static const uint8_t x86_64_of_perf[24] = {
	0,	    3,		2,	    1,		4, 5, 6,  7,  16, NOT_NEEDED, NOT_NEEDED, NOT_NEEDED,
	NOT_NEEDED, NOT_NEEDED, NOT_NEEDED, NOT_NEEDED, 8, 9, 10, 11, 12, 13,	      14,	  15,
};

static const struct {
	uint8_t sp, fp, pc;
} numbers[] = {
	[CTX_MACHINE_UNKNOWN] = {0, 0, 0},
	[CTX_MACHINE_X86_64] = {7, 6, 16},
	[CTX_MACHINE_AARCH64] = {31, 29, 32},
	[CTX_MACHINE_I386] = {4, 5, 8},
};

unsigned ctx_machine_sp(enum ctx_machine machine)
{
	return numbers[machine].sp;
}

unsigned ctx_machine_fp(enum ctx_machine machine)
{
	return numbers[machine].fp;
}

unsigned ctx_machine_pc(enum ctx_machine machine)
{
	return numbers[machine].pc;
}

enum ctx_machine ctx_machine_own(void)
{
#if defined(__x86_64__)
	return CTX_MACHINE_X86_64;
#elif defined(__aarch64__)
	return CTX_MACHINE_AARCH64;
#elif defined(__i386__)
	return CTX_MACHINE_I386;
#else
	return CTX_MACHINE_UNKNOWN;
#endif
}

enum ctx_machine ctx_machine_of_elf(uint16_t e_machine)
{
	return e_machine == EM_X86_64	 ? CTX_MACHINE_X86_64
	       : e_machine == EM_AARCH64 ? CTX_MACHINE_AARCH64
					 : CTX_MACHINE_UNKNOWN;
}

uint64_t ctx_user_regs_perf_mask(enum ctx_machine machine)
{
	uint64_t mask = 0;

	if (machine == CTX_MACHINE_AARCH64)
		return (UINT64_C(1) << 33) - 1;
	if (machine != CTX_MACHINE_X86_64)
		return 0;
	for (unsigned i = 0; i < sizeof(x86_64_of_perf); i++) {
		if (x86_64_of_perf[i] != NOT_NEEDED)
			mask |= UINT64_C(1) << i;
	}
	return mask;
}

uint64_t ctx_user_regs_perf_place(enum ctx_machine machine)
{
	return machine == CTX_MACHINE_X86_64	? UINT64_C(3) << 7
	       : machine == CTX_MACHINE_AARCH64 ? UINT64_C(3) << 31
						: 0;
}

static unsigned number_of_perf(enum ctx_machine machine, unsigned perf)
{
	if (machine == CTX_MACHINE_X86_64)
		return perf < sizeof(x86_64_of_perf) ? x86_64_of_perf[perf] : NOT_NEEDED;
	return perf < CTX_USER_REGS_MAX ? perf : NOT_NEEDED;
}

void ctx_user_regs_from_perf(struct ctx_user_regs *regs, enum ctx_machine machine, uint64_t mask,
			     const uint8_t *values, bool swap)
{
	regs->machine = machine;
	regs->valid = 0;
	if (machine == CTX_MACHINE_UNKNOWN)
		return;
	for (unsigned perf = 0; perf < 64; perf++) {
		unsigned number;
		uint64_t value;

		if ((mask >> perf & 1) == 0)
			continue;
		memcpy(&value, values, sizeof(value));
		values += sizeof(value);
		number = number_of_perf(machine, perf);
		if (number == NOT_NEEDED)
			continue;
		regs->value[number] = swap ? __builtin_bswap64(value) : value;
		regs->valid |= UINT64_C(1) << number;
	}
}
