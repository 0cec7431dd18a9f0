/*
 * Kept stacks: what samples were unwound from, stored for those who compare unwinders. The bytes of the file `stacks`, for
 * both sides.
 *
 * The payload of a block is records one after the other: zigzag difference of the time to the record before (the first: to 0),
 * varint thread, u8 machine (enum ctx_machine), varint mask of the registers that are known, a u64 for each of them, the lowest
 * number first, varint length of the stack, its bytes.
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_KEEP_H
#define CTX_FORMATS_EXPERIMENT_EXP_KEEP_H

#include "base/buf.h"
#include "base/cursor.h"
#include "model/event_source.h"

#define CTX_EXP_KEPT_FILE "stacks"

/* Names of the attributes of <event kind="unwinding">, by enum ctx_truncation. */
extern const char *const ctx_exp_unwinding_names[CTX_TRUNCATED_N];

struct ctx_exp_kept_record {
	uint64_t time_ns; /* relative */
	uint32_t thread;
	struct ctx_user_state state; /* its stack is borrowed */
};

/* Appends a record behind one of the time `previous_ns`. Running out of memory stays in `out`. */
void ctx_exp_put_kept(struct ctx_buf *out, uint64_t previous_ns, const struct ctx_exp_kept_record *record);

/* The next record; the stack is borrowed from the payload. CTX_END, CTX_E_FORMAT. */
CTX_MUST_CHECK enum ctx_status ctx_exp_get_kept(struct ctx_cursor *cursor, uint64_t previous_ns,
						struct ctx_exp_kept_record *ret, struct ctx_err *err);

#endif
