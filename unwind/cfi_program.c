/*
 *	state (CFA, a rule for each register) --advance--> row from the old pc on --instructions--> next state
 */
#include "unwind/cfi_program.h"

#include "elf/elf_bytes.h"

#include <dwarf.h>
/* Those of a .debug_frame may overlap, so that their sum is not bounded by the section. */
#define MAX_CIE_PROGRAM 4096

static enum ctx_status damaged(struct ctx_err *err)
{
	return ctx_err_set(err, CTX_E_FORMAT, "damaged call frame program");
}

static enum ctx_status emit(const struct ctx_cfi_machine *machine, uint64_t end, struct ctx_err *err)
{
	return machine->sink->row(machine->sink->context, &machine->state, machine->pc, end, err);
}

/* The current state applies from the old pc to the new one. */
static enum ctx_status move_to(struct ctx_cfi_machine *machine, uint64_t pc, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	if (machine->initial == NULL || pc < machine->pc)
		return damaged(err);
	if (pc > machine->pc && machine->pc < machine->end)
		status = emit(machine, pc < machine->end ? pc : machine->end, err);
	machine->pc = pc;
	return status;
}

static enum ctx_status advance(struct ctx_cfi_machine *machine, uint64_t delta, struct ctx_err *err)
{
	uint64_t bytes;

	if (__builtin_mul_overflow(delta, machine->cie->code_align, &bytes) ||
	    bytes > UINT64_MAX - machine->pc)
		return damaged(err);
	return move_to(machine, machine->pc + bytes, err);
}

/* Registers that are not tracked (floating point, vectors) are ignored. */
static void set(struct ctx_cfi_machine *machine, uint64_t reg, enum ctx_cfi_how how, int64_t value)
{
	if (reg >= CTX_USER_REGS_MAX)
		return;
	machine->state.touched |= UINT64_C(1) << reg;
	machine->state.registers[reg] = (struct ctx_cfi_place){.value = value, .how = (uint8_t)how};
}

static int64_t factored(const struct ctx_cfi_machine *machine, int64_t offset)
{
	return (int64_t)((uint64_t)offset * (uint64_t)machine->cie->data_align);
}

static void restore(struct ctx_cfi_machine *machine, uint64_t reg)
{
	static const struct ctx_cfi_place unspecified;

	if (reg < CTX_USER_REGS_MAX)
		machine->state.registers[reg] =
			machine->initial != NULL ? machine->initial->registers[reg] : unspecified;
}

/* The operand of the instructions with an expression. */
static enum ctx_status get_expression(struct ctx_cfi_machine *machine, struct ctx_cursor *program,
				      int64_t *ret, struct ctx_err *err)
{
	uint64_t n = ctx_cursor_get_varint(program);
	const uint8_t *bytes;

	if (program->failed || n > ctx_cursor_left(program))
		return damaged(err);
	bytes = ctx_cursor_get_bytes(program, (size_t)n);
	return machine->sink->expression(machine->sink->context, bytes, (size_t)n, ret, err);
}

static enum ctx_status remember(struct ctx_cfi_machine *machine, struct ctx_err *err)
{
	if (machine->remembered == CTX_CFI_REMEMBER_MAX)
		return ctx_err_set(err, CTX_E_LIMIT, "too many remembered states");
	machine->stack[machine->remembered++] = machine->state;
	return CTX_OK;
}

static enum ctx_status recall(struct ctx_cfi_machine *machine, struct ctx_err *err)
{
	uint64_t touched = machine->state.touched;

	if (machine->remembered == 0)
		return damaged(err);
	machine->state = machine->stack[--machine->remembered];
	/* Registers touched since then become unspecified; the bits only say where to look. */
	machine->state.touched |= touched;
	return CTX_OK;
}

static enum ctx_status define_cfa(struct ctx_cfi_machine *machine, uint64_t reg, int64_t offset)
{
	machine->state.cfa = (struct ctx_cfi_place){.value = offset, .how = CTX_CFI_REGISTER};
	machine->state.cfa_register = reg;
	return CTX_OK;
}

static enum ctx_status define_cfa_part(struct ctx_cfi_machine *machine, uint8_t code,
				       struct ctx_cursor *program, struct ctx_err *err)
{
	struct ctx_cfi_state *state = &machine->state;

	if (state->cfa.how != CTX_CFI_REGISTER)
		return damaged(err); /* only part of an expression */
	if (code == DW_CFA_def_cfa_register)
		state->cfa_register = ctx_cursor_get_varint(program);
	else if (code == DW_CFA_def_cfa_offset)
		state->cfa.value = (int64_t)ctx_cursor_get_varint(program);
	else
		state->cfa.value = factored(machine, ctx_elf_get_sleb(program));
	return CTX_OK;
}

static enum ctx_status run_cfa(struct ctx_cfi_machine *machine, uint8_t code, struct ctx_cursor *program,
			       struct ctx_err *err)
{
	enum ctx_status status;
	uint64_t reg;

	switch (code) {
	case DW_CFA_def_cfa:
		reg = ctx_cursor_get_varint(program);
		return define_cfa(machine, reg, (int64_t)ctx_cursor_get_varint(program));
	case DW_CFA_def_cfa_sf:
		reg = ctx_cursor_get_varint(program);
		return define_cfa(machine, reg, factored(machine, ctx_elf_get_sleb(program)));
	case DW_CFA_def_cfa_expression:
		status = get_expression(machine, program, &machine->state.cfa.value, err);
		machine->state.cfa.how = CTX_CFI_VAL_EXPRESSION;
		machine->state.cfa_register = 0;
		return status;
	default:
		return define_cfa_part(machine, code, program, err);
	}
}

/* Instructions that set the rule of one register. */
static enum ctx_status run_register(struct ctx_cfi_machine *machine, uint8_t code, struct ctx_cursor *program,
				    struct ctx_err *err)
{
	uint64_t reg = ctx_cursor_get_varint(program);
	enum ctx_status status = CTX_OK;
	int64_t value = 0;

	switch (code) {
	case DW_CFA_restore_extended:
		restore(machine, reg);
		break;
	case DW_CFA_undefined:
		set(machine, reg, CTX_CFI_UNDEFINED, 0);
		break;
	case DW_CFA_same_value:
		set(machine, reg, CTX_CFI_SAME, 0);
		break;
	case DW_CFA_offset_extended:
		value = factored(machine, (int64_t)ctx_cursor_get_varint(program));
		set(machine, reg, CTX_CFI_OFFSET, value);
		break;
	case DW_CFA_offset_extended_sf:
		set(machine, reg, CTX_CFI_OFFSET, factored(machine, ctx_elf_get_sleb(program)));
		break;
	case DW_CFA_GNU_negative_offset_extended:
		value = factored(machine, (int64_t)(0 - ctx_cursor_get_varint(program)));
		set(machine, reg, CTX_CFI_OFFSET, value);
		break;
	case DW_CFA_val_offset:
		value = factored(machine, (int64_t)ctx_cursor_get_varint(program));
		set(machine, reg, CTX_CFI_VAL_OFFSET, value);
		break;
	case DW_CFA_val_offset_sf:
		set(machine, reg, CTX_CFI_VAL_OFFSET, factored(machine, ctx_elf_get_sleb(program)));
		break;
	case DW_CFA_register:
		set(machine, reg, CTX_CFI_REGISTER, (int64_t)ctx_cursor_get_varint(program));
		break;
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		status = get_expression(machine, program, &value, err);
		set(machine, reg, code == DW_CFA_expression ? CTX_CFI_EXPRESSION : CTX_CFI_VAL_EXPRESSION,
		    value);
		break;
	default:
		return damaged(err);
	}
	return status;
}

static enum ctx_status run_extended(struct ctx_cfi_machine *machine, uint8_t code, struct ctx_cursor *program,
				    struct ctx_err *err)
{
	switch (code) {
	case DW_CFA_nop:
	case DW_CFA_AARCH64_negate_ra_state: /* return-address signatures are masked off anyway */
		return CTX_OK;
	case DW_CFA_GNU_args_size:
		(void)ctx_cursor_get_varint(program);
		return CTX_OK;
	case DW_CFA_set_loc:
		return move_to(machine,
			       ctx_cfi_get_pointer(machine->section, program, machine->cie->encoding), err);
	case DW_CFA_advance_loc1:
		return advance(machine, ctx_cursor_get_u8(program), err);
	case DW_CFA_advance_loc2:
		return advance(machine, ctx_cursor_get_u16(program), err);
	case DW_CFA_advance_loc4:
		return advance(machine, ctx_cursor_get_u32(program), err);
	case DW_CFA_remember_state:
		return remember(machine, err);
	case DW_CFA_restore_state:
		return recall(machine, err);
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
	case DW_CFA_def_cfa_register:
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
	case DW_CFA_def_cfa_expression:
		return run_cfa(machine, code, program, err);
	default:
		return run_register(machine, code, program, err);
	}
}

static enum ctx_status run(struct ctx_cfi_machine *machine, struct ctx_cursor program, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	machine->remembered = 0;
	while (status == CTX_OK && program.at < program.end) {
		uint8_t byte = ctx_cursor_get_u8(&program);
		uint8_t low = byte & 0x3f;

		if ((byte & 0xc0) == DW_CFA_advance_loc)
			status = advance(machine, low, err);
		else if ((byte & 0xc0) == DW_CFA_offset)
			set(machine, low, CTX_CFI_OFFSET,
			    factored(machine, (int64_t)ctx_cursor_get_varint(&program)));
		else if ((byte & 0xc0) == DW_CFA_restore)
			restore(machine, low);
		else
			status = run_extended(machine, byte, &program, err);
		if (status == CTX_OK && program.failed)
			status = damaged(err);
	}
	return status;
}

enum ctx_status ctx_cfi_run_cie(struct ctx_cfi_machine *machine, const struct ctx_cfi_cie *cie,
				struct ctx_err *err)
{
	if (cie->return_register >= CTX_USER_REGS_MAX || ctx_cursor_left(&cie->program) > MAX_CIE_PROGRAM)
		return damaged(err);
	machine->cie = cie;
	machine->initial = NULL;
	machine->pc = machine->end = 0;
	machine->state = (struct ctx_cfi_state){.return_register = (uint8_t)cie->return_register,
						.signal = cie->signal};
	return run(machine, cie->program, err);
}

enum ctx_status ctx_cfi_run_fde(struct ctx_cfi_machine *machine, const struct ctx_cfi_cie *cie,
				const struct ctx_cfi_state *initial, const struct ctx_cfi_fde *fde,
				struct ctx_err *err)
{
	enum ctx_status status;

	machine->cie = cie;
	machine->initial = initial;
	machine->pc = fde->begin;
	machine->end = fde->end;
	machine->state = *initial;
	status = run(machine, fde->program, err);
	if (status == CTX_OK && machine->pc < machine->end)
		status = emit(machine, machine->end, err);
	return status;
}
