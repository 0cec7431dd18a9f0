#include "formats/perfevent/pe_layout.h"

/*
 * perf's register numbers of the program counter and the stack pointer. Register 32 exists on aarch64 only, and a mask of
 * aarch64 registers without it is useless: the bit identifies the machine.
 */
#define REG_X86_PC 8
#define REG_X86_SP 7
#define REG_ARM64_PC 32
#define REG_ARM64_SP 31

static int8_t index_of(uint64_t mask, int reg)
{
	return mask >> reg & 1 ? (int8_t)ctx_pe_count_bits(mask & ((UINT64_C(1) << reg) - 1)) : (int8_t)-1;
}

struct ctx_pe_layout ctx_pe_layout_make(const struct perf_event_attr *attr, bool swap)
{
	uint64_t mask = attr->sample_regs_user;
	bool is_arm64 = mask >> REG_ARM64_PC & 1;

	return (struct ctx_pe_layout){
		.sample_type = attr->sample_type,
		.read_format = attr->read_format,
		.branch_sample_type = attr->branch_sample_type,
		.regs_user = mask,
		.period = attr->freq ? 1 : attr->sample_period,
		.swap = swap,
		.n_words = (uint8_t)ctx_pe_count_bits(attr->sample_type & CTX_PE_WORDS),
		.n_trailer_words = (uint8_t)ctx_pe_count_bits(attr->sample_type & CTX_PE_TRAILER_WORDS),
		.n_regs = (uint8_t)ctx_pe_count_bits(mask),
		.n_regs_intr = (uint8_t)ctx_pe_count_bits(attr->sample_regs_intr),
		.pc_reg = index_of(mask, is_arm64 ? REG_ARM64_PC : REG_X86_PC),
		.sp_reg = index_of(mask, is_arm64 ? REG_ARM64_SP : REG_X86_SP),
		.machine = is_arm64 ? CTX_MACHINE_AARCH64 : CTX_MACHINE_X86_64,
	};
}
