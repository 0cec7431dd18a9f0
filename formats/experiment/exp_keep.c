#include "formats/experiment/exp_keep.h"

const char *const ctx_exp_unwinding_names[CTX_TRUNCATED_N] = {
	[CTX_TRUNCATED_NOT] = "root",	       [CTX_TRUNCATED_UNKNOWN] = "unknown",
	[CTX_TRUNCATED_NO_TABLE] = "no_table", [CTX_TRUNCATED_NO_MAP] = "no_map",
	[CTX_TRUNCATED_COPY] = "copy",	       [CTX_TRUNCATED_BAD_CFA] = "bad_cfa",
	[CTX_TRUNCATED_DEPTH] = "depth",       [CTX_TRUNCATED_SKIPPED] = "skipped",
	[CTX_TRUNCATED_BUDGET] = "budget",     [CTX_TRUNCATED_COUNTED] = "counted",
};

void ctx_exp_put_kept(struct ctx_buf *out, uint64_t previous_ns, const struct ctx_exp_kept_record *record)
{
	const struct ctx_user_regs *regs = &record->state.regs;
	uint64_t valid = regs->valid & (((uint64_t)1 << CTX_USER_REGS_MAX) - 1);

	ctx_buf_put_zigzag(out, (int64_t)(record->time_ns - previous_ns));
	ctx_buf_put_varint(out, record->thread);
	ctx_buf_put_u8(out, (uint8_t)regs->machine);
	ctx_buf_put_varint(out, valid);
	for (unsigned i = 0; i < CTX_USER_REGS_MAX; i++) {
		if ((valid >> i & 1) != 0)
			ctx_buf_put_u64(out, regs->value[i]);
	}
	ctx_buf_put_varint(out, record->state.stack_bytes);
	ctx_buf_put(out, record->state.stack, record->state.stack_bytes);
}

enum ctx_status ctx_exp_get_kept(struct ctx_cursor *cursor, uint64_t previous_ns,
				 struct ctx_exp_kept_record *ret, struct ctx_err *err)
{
	struct ctx_exp_kept_record record = {0};
	struct ctx_user_regs *regs = &record.state.regs;
	uint64_t n;

	if (ctx_cursor_left(cursor) == 0)
		return CTX_END;
	record.time_ns = previous_ns + (uint64_t)ctx_cursor_get_zigzag(cursor);
	record.thread = ctx_cursor_get_varint32(cursor);
	regs->machine = (enum ctx_machine)ctx_cursor_get_u8(cursor);
	regs->valid = ctx_cursor_get_varint(cursor);
	if (regs->machine > CTX_MACHINE_AARCH64 || regs->valid >> CTX_USER_REGS_MAX != 0)
		return ctx_err_set(err, CTX_E_FORMAT,
				   "kept stack of an unknown machine, or with unknown registers");
	for (unsigned i = 0; i < CTX_USER_REGS_MAX; i++) {
		if ((regs->valid >> i & 1) != 0)
			regs->value[i] = ctx_cursor_get_u64(cursor);
	}
	n = ctx_cursor_get_varint(cursor);
	if (cursor->failed || n > ctx_cursor_left(cursor))
		return ctx_err_set(err, CTX_E_FORMAT, "kept stack ends early");
	record.state.stack_bytes = (size_t)n;
	record.state.stack = ctx_cursor_get_bytes(cursor, (size_t)n);
	*ret = record;
	return CTX_OK;
}
