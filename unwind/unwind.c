#include "unwind/unwind.h"

enum ctx_truncation ctx_unwind(const struct ctx_unwind_space *space, const struct ctx_user_state *state,
			       struct ctx_unwind_frame *frames, size_t max, size_t *ret_n)
{
	unsigned pc = ctx_machine_pc(state->regs.machine);

	(void)space;
	(void)max;
	frames[0] = (struct ctx_unwind_frame){.address = state->regs.value[pc]};
	*ret_n = 1;
	return CTX_TRUNCATED_NO_TABLE;
}
