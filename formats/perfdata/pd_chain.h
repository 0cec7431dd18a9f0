/*
 * Chain: a sample's call chain as frames of the model.
 *
 * perf's chain is the program counter followed by return addresses, with context markers
 * (PERF_CONTEXT_KERNEL, PERF_CONTEXT_USER) between kernel and user part. Frames of the model are
 * addresses to look up: callers are return address - 1, markers are removed, and an address outside
 * the range of its part is 0, which has no name. Source: enum perf_callchain_context in
 * include/uapi/linux/perf_event.h.
 */
#ifndef CTX_FORMATS_PERFDATA_PD_CHAIN_H
#define CTX_FORMATS_PERFDATA_PD_CHAIN_H

#include "formats/perfdata/pd_events.h"
#include "formats/perfevent/pe_sample.h"
#include "model/user_regs.h"

struct ctx_pd_chain {	  /* all zero is a valid empty one */
	uint64_t *frames; /* owned; leaf first */
	size_t cap;
	uint32_t n;
	bool truncated;		    /* the root-most frame is CTX_FRAME_TRUNCATED */
	bool has_user;		    /* the user part is not in `frames`: it has to be unwound from `user` */
	struct ctx_user_state user; /* its stack is `stack` */
	uint8_t *stack;		    /* owned: the frames outlive the sample's record */
	size_t stack_cap;
};

void ctx_pd_chain_deinit(struct ctx_pd_chain *chain);

/*
 * Sets the frames of a sample. `misc` comes from its record's header. The leaf is the sample's
 * address if it has one (with precise sampling it differs from the start of the chain). Callers
 * in user mode are those of the processor's branch stack where it holds calls. When the
 * user stack was copied instead of walked, `user` gets the registers and the copy; when these
 * cannot be unwound (32-bit code, no copy), the user part is the program counter and a truncation.
 * Fails with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_pd_chain_set(struct ctx_pd_chain *chain,
						const struct ctx_pe_sample *sample,
						const struct ctx_pd_event *event, uint16_t misc,
						struct ctx_err *err);

#endif
