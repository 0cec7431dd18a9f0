/*
 * Kept stacks: the inputs of unwinding (registers and stack memory) of each sample, stored for the
 * comparison of unwinders. Format of the file `stacks`, used by writer and reader.
 *
 * The payload of a block is a sequence of records: zigzag difference of the time to the previous
 * record (initially 0), varint thread, u8 machine (enum ctx_machine), varint mask of the known
 * registers, a u64 for each of them in order of register number, varint length of the stack, its
 * bytes.
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

/* Appends a record after one with time `previous_ns`. An allocation failure is sticky in `out`. */
void ctx_exp_put_kept(struct ctx_buf *out, uint64_t previous_ns, const struct ctx_exp_kept_record *record);

/*
 * The next record; its stack is borrowed from the payload. CTX_END at the end. Fails with
 * CTX_E_FORMAT.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_get_kept(struct ctx_cursor *cursor, uint64_t previous_ns,
						struct ctx_exp_kept_record *ret, struct ctx_err *err);

#endif
