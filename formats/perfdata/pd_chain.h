/*
 * Chain: a sample's call chain as frames of the model.
 *
 * perf's chain is the program counter and then return addresses, with marks where the kernel's part ends and the
 * user's begins. Ours are addresses to look up: callers are return address - 1, marks are gone, and an address that
 * cannot be of its part is 0, which has no name. Source: enum perf_callchain_context in
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
	bool has_user;		    /* the user's part is to be unwound from `user`, and not in `frames` */
	struct ctx_user_state user; /* its stack is `stack` */
	uint8_t *stack;		    /* owned: the sample's record is gone when the frames are looked at */
	size_t stack_cap;
};

void ctx_pd_chain_deinit(struct ctx_pd_chain *chain);

/*
 * Sets the frames of a sample. `misc` is of its record's header. The leaf is the sample's own address where it has
 * one (a processor's precise address differs from where the chain was taken). A sample whose user stack was copied
 * instead of walked has its registers and that copy in `user`; where they cannot be unwound (32-bit code, no copy) its user
 * program counter alone, truncated. Fails with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_pd_chain_set(struct ctx_pd_chain *chain,
						const struct ctx_pe_sample *sample,
						const struct ctx_pd_event *event, uint16_t misc,
						struct ctx_err *err);

#endif
