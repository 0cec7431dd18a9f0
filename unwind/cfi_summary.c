/*
 * The 8 bytes that are sufficient for most frames. Apart from the rules, which allocate: the runtime
 * needs no more.
 */
#include "unwind/cfi_rules.h"

/* The rule of the caller's frame pointer: false if a summary cannot express it. */
static bool summarize_fp(const struct ctx_cfi_place *place, int16_t *ret)
{
	*ret = 0;
	if (place->how == CTX_CFI_UNSPECIFIED || place->how == CTX_CFI_SAME)
		return true;
	if (place->how != CTX_CFI_OFFSET || place->value == 0 || place->value < INT16_MIN ||
	    place->value > INT16_MAX)
		return false;
	*ret = (int16_t)place->value;
	return true;
}

static bool summarize_x86(enum ctx_machine machine, const struct ctx_cfi_state *state,
			  struct ctx_cfi_summary *ret)
{
	const struct ctx_cfi_place *sp = &state->registers[ctx_machine_sp(machine)];
	int64_t word = machine == CTX_MACHINE_X86_64 ? 8 : 4;
	const struct ctx_cfi_place *address = &state->registers[state->return_register];

	if (state->cfa.how != CTX_CFI_REGISTER || state->cfa.value < INT32_MIN ||
	    state->cfa.value > INT32_MAX)
		return false;
	if (address->how != CTX_CFI_OFFSET || address->value != -word || sp->how != CTX_CFI_UNSPECIFIED)
		return false;
	if (!summarize_fp(&state->registers[ctx_machine_fp(machine)], &ret->fp_offset))
		return false;
	ret->cfa_offset = (int32_t)state->cfa.value;
	if (state->cfa_register == ctx_machine_sp(machine))
		ret->kind = CTX_CFI_SP;
	else if (state->cfa_register == ctx_machine_fp(machine))
		ret->kind = CTX_CFI_FP;
	return ret->kind != CTX_CFI_NONE;
}

struct ctx_cfi_summary ctx_cfi_summarize(enum ctx_machine machine, const struct ctx_cfi_state *state)
{
	struct ctx_cfi_summary summary = {0};

	if (state->registers[state->return_register].how == CTX_CFI_UNDEFINED)
		return (struct ctx_cfi_summary){.kind = CTX_CFI_ROOT};
	if (!state->signal && (machine == CTX_MACHINE_X86_64 || machine == CTX_MACHINE_I386) &&
	    summarize_x86(machine, state, &summary))
		return summary;
	return (struct ctx_cfi_summary){.kind = CTX_CFI_FULL, .signal = state->signal};
}
