#include "report/instructions.h"

#include "base/bisect.h"
#include "base/mem.h"

#include <inttypes.h>

#include <capstone/capstone.h>

#define MACHINE_386 3 /* ELF's EM_386, EM_X86_64, EM_AARCH64 */
#define MACHINE_X86_64 62
#define MACHINE_AARCH64 183

struct ctx_disassembler {
	csh handle;
	cs_insn *scratch;
	bool is_x86;
};

enum ctx_status ctx_disassembler_open(uint16_t machine, struct ctx_disassembler **ret, struct ctx_err *err)
{
	bool is_x86 = machine == MACHINE_X86_64 || machine == MACHINE_386;
	struct ctx_disassembler *made;

	if (!is_x86 && machine != MACHINE_AARCH64)
		return ctx_err_set(err, CTX_E_NOTFOUND, "instructions of machine %u are not known", machine);
	made = ctx_calloc(1, sizeof(*made));
	if (made == NULL)
		return ctx_err_nomem(err);
	made->is_x86 = is_x86;
	if (cs_open(is_x86 ? CS_ARCH_X86 : CS_ARCH_ARM64,
		    !is_x86			? CS_MODE_ARM
		    : machine == MACHINE_X86_64 ? CS_MODE_64
						: CS_MODE_32,
		    &made->handle) != CS_ERR_OK) {
		free(made);
		return ctx_err_nomem(err);
	}
	cs_option(made->handle, CS_OPT_DETAIL, CS_OPT_ON);
	if (is_x86)
		cs_option(made->handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	made->scratch = cs_malloc(made->handle);
	if (made->scratch == NULL) {
		ctx_disassembler_close(made);
		return ctx_err_nomem(err);
	}
	*ret = made;
	return CTX_OK;
}

void ctx_disassembler_close(struct ctx_disassembler *disassembler)
{
	if (disassembler == NULL)
		return;
	if (disassembler->scratch != NULL)
		cs_free(disassembler->scratch, 1);
	cs_close(&disassembler->handle);
	free(disassembler);
}

/* Decodes one instruction into the scratch; false: the bytes are not an instruction. */
static bool decode(struct ctx_disassembler *disassembler, const uint8_t *bytes, size_t n, uint64_t address)
{
	return cs_disasm_iter(disassembler->handle, &bytes, &n, &address, disassembler->scratch);
}

static bool in_group(const struct ctx_disassembler *disassembler, uint8_t group)
{
	return cs_insn_group(disassembler->handle, disassembler->scratch, group);
}

/* Direct targets are immediates, the last operand: "cbz x0, #0x10". */
static bool direct_target(const struct ctx_disassembler *disassembler, uint64_t *ret)
{
	const cs_detail *detail = disassembler->scratch->detail;

	if (disassembler->is_x86) {
		if (detail->x86.op_count != 1 || detail->x86.operands[0].type != X86_OP_IMM)
			return false;
		*ret = (uint64_t)detail->x86.operands[0].imm;
		return true;
	}
	if (detail->arm64.op_count == 0 ||
	    detail->arm64.operands[detail->arm64.op_count - 1].type != ARM64_OP_IMM)
		return false;
	*ret = (uint64_t)detail->arm64.operands[detail->arm64.op_count - 1].imm;
	return true;
}

static struct ctx_instruction describe(struct ctx_disassembler *disassembler, const uint8_t *bytes, size_t n,
				       uint64_t address)
{
	struct ctx_instruction made = {.address = address,
				       .kind = CTX_INSTRUCTION_DATA,
				       .size = disassembler->is_x86 || n < 4 ? 1 : 4};
	bool call;

	if (!decode(disassembler, bytes, n, address))
		return made;
	made.size = (uint8_t)disassembler->scratch->size;
	made.kind = CTX_INSTRUCTION_OTHER;
	call = in_group(disassembler, CS_GRP_CALL) ||
	       (!disassembler->is_x86 && disassembler->scratch->id == ARM64_INS_BL);
	if (call || in_group(disassembler, CS_GRP_JUMP)) {
		made.kind = call ? CTX_INSTRUCTION_CALL : CTX_INSTRUCTION_JUMP;
		made.has_target = direct_target(disassembler, &made.target);
	}
	return made;
}

size_t ctx_instructions_find(const struct ctx_instructions *instructions, uint64_t address)
{
	size_t low = ctx_count_up_to(instructions->list, instructions->n, address, address);

	if (low == 0 || address - instructions->list[low - 1].address >= instructions->list[low - 1].size)
		return SIZE_MAX;
	return low - 1;
}

static void mark_targets(struct ctx_instructions *instructions)
{
	for (size_t i = 0; i < instructions->n; i++) {
		const struct ctx_instruction *from = &instructions->list[i];
		size_t to;

		if (from->kind != CTX_INSTRUCTION_JUMP || !from->has_target)
			continue;
		to = ctx_instructions_find(instructions, from->target);
		if (to != SIZE_MAX && instructions->list[to].address == from->target)
			instructions->list[to].is_target = true;
	}
}

enum ctx_status ctx_instructions_decode(struct ctx_disassembler *disassembler,
					const struct ctx_function_code *code, struct ctx_instructions *ret,
					struct ctx_err *err)
{
	struct ctx_instructions made = {0};

	for (size_t at = 0; at < code->n_bytes;) {
		enum ctx_status status = ctx_grow(&made.list, &made.cap, made.n + 1, err);

		if (status != CTX_OK) {
			ctx_instructions_deinit(&made);
			return status;
		}
		made.list[made.n] =
			describe(disassembler, code->bytes + at, code->n_bytes - at, code->address + at);
		at += made.list[made.n++].size;
	}
	mark_targets(&made);
	*ret = made;
	return CTX_OK;
}

void ctx_instructions_deinit(struct ctx_instructions *instructions)
{
	free(instructions->list);
	*instructions = (struct ctx_instructions){0};
}

void ctx_instruction_put(struct ctx_disassembler *disassembler, const struct ctx_function_code *code,
			 const struct ctx_instruction *instruction, int pad, struct ctx_buf *buf)
{
	const uint8_t *bytes = code->bytes + (instruction->address - code->address);

	if (instruction->kind == CTX_INSTRUCTION_DATA && instruction->size == 4)
		ctx_buf_printf(buf, "%-*s 0x%02x%02x%02x%02x", pad, ".inst", bytes[3], bytes[2], bytes[1],
			       bytes[0]);
	else if (instruction->kind == CTX_INSTRUCTION_DATA ||
		 !decode(disassembler, bytes, instruction->size, instruction->address))
		ctx_buf_printf(buf, "%-*s 0x%02x", pad, ".byte", bytes[0]);
	else if (disassembler->scratch->op_str[0] != '\0')
		ctx_buf_printf(buf, "%-*s %s", pad, disassembler->scratch->mnemonic,
			       disassembler->scratch->op_str);
	else
		ctx_buf_put_text(buf, disassembler->scratch->mnemonic);
}
