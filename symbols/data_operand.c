#include "symbols/data_operand.h"

#include "base/mem.h"

#include <capstone/capstone.h>
#include <stdlib.h>
#include <string.h>

#define AFTER_CALLS                                                                                          \
	(1u << 0 | 1u << 1 | 1u << 2 | 1u << 4 | 1u << 5 | 1u << 8 | 1u << 9 | 1u << 10 |                    \
	 1u << 11) /* what a called function may change: rax, rdx, rcx, rsi, rdi, r8 to r11 */

struct ctx_data_code {
	csh handle;
	bool is_open;
	cs_insn *scratch;
	const uint8_t *bytes;
	size_t n, at;
	uint64_t address;
	uint8_t *targets; /* owned; a bit for each byte of the code */
	size_t targets_cap;
};

enum ctx_status ctx_data_code_create(struct ctx_data_code **ret, struct ctx_err *err)
{
	struct ctx_data_code *code = ctx_calloc(1, sizeof(*code));

	if (code == NULL)
		return ctx_err_nomem(err);
	code->is_open = cs_open(CS_ARCH_X86, CS_MODE_64, &code->handle) == CS_ERR_OK;
	if (code->is_open && cs_option(code->handle, CS_OPT_DETAIL, CS_OPT_ON) == CS_ERR_OK)
		code->scratch = cs_malloc(code->handle);
	if (code->scratch == NULL) {
		ctx_data_code_destroy(code);
		return ctx_err_nomem(err);
	}
	*ret = code;
	return CTX_OK;
}

void ctx_data_code_destroy(struct ctx_data_code *code)
{
	if (code == NULL)
		return;
	if (code->scratch != NULL)
		cs_free(code->scratch, 1);
	if (code->is_open)
		cs_close(&code->handle);
	free(code->targets);
	free(code);
}

/* rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15: with its parts of 64, 32, 16 and 8 bits. */
static int number_of(unsigned reg)
{
	static const uint16_t names[CTX_DATA_REGISTERS][5] = {
		{X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH},
		{X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH},
		{X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH},
		{X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH},
		{X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL, 0},
		{X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL, 0},
		{X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL, 0},
		{X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL, 0},
		{X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B, 0},
		{X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B, 0},
		{X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B, 0},
		{X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B, 0},
		{X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B, 0},
		{X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B, 0},
		{X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B, 0},
		{X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B, 0},
	};

	for (unsigned i = 0; reg != X86_REG_INVALID && i < CTX_DATA_REGISTERS; i++) {
		for (unsigned k = 0; k < 5; k++) {
			if (names[i][k] == reg)
				return (int)i;
		}
	}
	return CTX_DATA_NO_REGISTER;
}

static bool disassemble(struct ctx_data_code *code)
{
	const uint8_t *bytes = code->bytes + code->at;
	size_t left = code->n - code->at;
	uint64_t address = code->address + code->at;

	if (!cs_disasm_iter(code->handle, &bytes, &left, &address, code->scratch))
		return false;
	code->at = code->n - left;
	return true;
}

/* Where jumps of the function lead in it. */
static void find_targets(struct ctx_data_code *code)
{
	while (disassemble(code)) {
		const cs_x86 *x86 = &code->scratch->detail->x86;
		uint64_t target;

		if (!cs_insn_group(code->handle, code->scratch, CS_GRP_JUMP) || x86->op_count != 1 ||
		    x86->operands[0].type != X86_OP_IMM)
			continue;
		target = (uint64_t)x86->operands[0].imm - code->address;
		if (target < code->n)
			code->targets[target / 8] |= (uint8_t)(1u << target % 8);
	}
}

enum ctx_status ctx_data_code_begin(struct ctx_data_code *code, const uint8_t *bytes, size_t n,
				    uint64_t address, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&code->targets, &code->targets_cap, n / 8 + 1, err);

	if (status != CTX_OK)
		return status;
	code->bytes = bytes;
	code->n = n;
	code->at = 0;
	code->address = address;
	memset(code->targets, 0, n / 8 + 1);
	find_targets(code);
	code->at = 0;
	return CTX_OK;
}

/* With a segment (thread-local data) it is not what it looks like. */
static bool read_operand(const cs_insn *insn, const cs_x86_op *op, struct ctx_data_operand *ret)
{
	const x86_op_mem *mem = &op->mem;

	if (mem->segment == X86_REG_FS || mem->segment == X86_REG_GS)
		return false;
	*ret = (struct ctx_data_operand){
		.base = number_of(mem->base), .index = number_of(mem->index), .offset = mem->disp};
	if (mem->base == X86_REG_RIP) {
		ret->offset += (int64_t)(insn->address + insn->size);
		ret->is_absolute = true;
	} else if (mem->base == X86_REG_INVALID) {
		ret->is_absolute = true;
	} else if (ret->base == CTX_DATA_NO_REGISTER) {
		return false;
	}
	return true;
}

/* Whether the operand is computed, and not accessed. */
static bool is_address_only(unsigned id)
{
	return id == X86_INS_LEA || id == X86_INS_NOP || id == X86_INS_PREFETCHT0 ||
	       id == X86_INS_PREFETCHT1 || id == X86_INS_PREFETCHT2 || id == X86_INS_PREFETCHNTA ||
	       id == X86_INS_PREFETCHW;
}

static void read_effect(struct ctx_data_code *code, const struct ctx_data_operand *memory, bool has_memory,
			struct ctx_data_step *ret)
{
	const cs_insn *insn = code->scratch;
	const cs_x86 *x86 = &insn->detail->x86;
	const cs_x86_op *to = &x86->operands[0], *from = &x86->operands[1];
	bool of_two = x86->op_count == 2 && to->type == X86_OP_REG && to->size == 8;
	bool is_sum = insn->id == X86_INS_ADD || insn->id == X86_INS_SUB;
	int sign = insn->id == X86_INS_SUB ? -1 : 1;

	if (!of_two)
		return;
	ret->to = number_of(to->reg);
	if (ret->to == CTX_DATA_NO_REGISTER)
		return;
	if (insn->id == X86_INS_MOV && from->type == X86_OP_MEM && has_memory)
		ret->effect = CTX_DATA_LOADS;
	else if (insn->id == X86_INS_LEA && memory != NULL)
		ret->effect = CTX_DATA_ADDRESSES;
	else if (insn->id == X86_INS_MOV && from->type == X86_OP_REG)
		ret->effect = CTX_DATA_COPIES;
	else if (is_sum && from->type == X86_OP_IMM)
		ret->effect = CTX_DATA_ADDS;
	else if (insn->id == X86_INS_ADD && from->type == X86_OP_REG)
		ret->effect = CTX_DATA_INDEXES;
	ret->addend = from->type == X86_OP_IMM ? sign * from->imm : 0;
	ret->from = from->type == X86_OP_REG ? number_of(from->reg) : CTX_DATA_NO_REGISTER;
}

static uint32_t written_by(struct ctx_data_code *code)
{
	cs_regs read, write;
	uint8_t n_read = 0, n_write = 0;
	uint32_t written = cs_insn_group(code->handle, code->scratch, CS_GRP_CALL) ? AFTER_CALLS : 0;

	if (cs_regs_access(code->handle, code->scratch, read, &n_read, write, &n_write) != CS_ERR_OK)
		return UINT32_MAX;
	for (uint8_t i = 0; i < n_write; i++) {
		int number = number_of(write[i]);

		if (number != CTX_DATA_NO_REGISTER)
			written |= 1u << number;
	}
	return written;
}

bool ctx_data_code_next(struct ctx_data_code *code, struct ctx_data_step *ret)
{
	size_t begin = code->at, n_memory = 0;
	struct ctx_data_operand operand;
	const cs_x86 *x86;
	bool is_plain = true;

	if (begin >= code->n || !disassemble(code))
		return false;
	x86 = &code->scratch->detail->x86;
	*ret = (struct ctx_data_step){.address = code->scratch->address,
				      .next = code->scratch->address + code->scratch->size,
				      .to = CTX_DATA_NO_REGISTER,
				      .from = CTX_DATA_NO_REGISTER,
				      .is_target = (code->targets[begin / 8] >> begin % 8 & 1) != 0};
	for (uint8_t i = 0; i < x86->op_count; i++) {
		if (x86->operands[i].type != X86_OP_MEM)
			continue;
		is_plain = read_operand(code->scratch, &x86->operands[i], &operand);
		n_memory++;
	}
	if (n_memory == 1 && is_plain) {
		ret->operand = operand;
		ret->has_memory = !is_address_only(code->scratch->id);
	}
	ret->written = written_by(code);
	read_effect(code, n_memory == 1 && is_plain ? &operand : NULL, ret->has_memory, ret);
	return true;
}
