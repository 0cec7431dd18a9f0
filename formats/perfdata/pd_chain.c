#include "formats/perfdata/pd_chain.h"

#include "base/mem.h"
#include "formats/perfdata/pd_record.h"
#include "model/chainwalk.h"
#include "model/event_source.h"

#include <linux/perf_event.h>
#include <string.h>

#define USUAL_MAX_STACK 127u /* sysctl kernel.perf_event_max_stack */

void ctx_pd_chain_deinit(struct ctx_pd_chain *chain)
{
	free(chain->frames);
	free(chain->stack);
	*chain = (struct ctx_pd_chain){0};
}

/* Our markers are in no part: an address that equals one, in a damaged sample, becomes 0. */
static uint64_t address_in(enum ctx_chainwalk_part part, uint64_t address)
{
	if (part == CTX_CHAINWALK_ELSEWHERE || ctx_chainwalk_is_mark(address))
		return 0;
	if (part == CTX_CHAINWALK_KERNEL)
		address = ctx_pd_kernel_address(address);
	return (part == CTX_CHAINWALK_KERNEL) == (address >= CTX_KERNEL_START) ? address : 0;
}

/*
 * Replaces the leaf with the sample's address, or inserts it when the chain begins in another part.
 */
static void set_leaf(struct ctx_pd_chain *chain, uint64_t leaf, bool replaces)
{
	if (!replaces) {
		memmove(chain->frames + 1, chain->frames, chain->n * sizeof(*chain->frames));
		chain->n++;
	}
	chain->frames[0] = leaf;
}

static void add_truncation(struct ctx_pd_chain *chain, enum ctx_truncation reason)
{
	chain->frames[chain->n++] = ctx_frame_truncated(reason);
	chain->truncated = true;
}

/*
 * Replaces callers in user mode by those that the processor recorded: its branches are the calls
 * that have not returned. All of its 8, 16 or 32 registers in use: there may be more callers.
 * `chain` has room for them. Source: resolve_lbr_callchain_sample in tools/perf/util/machine.c of
 * Linux.
 */
static void set_lbr_callers(struct ctx_pd_chain *chain, const struct ctx_pe_sample *sample)
{
	uint64_t n = sample->n_branches;
	uint32_t at = 0;

	while (at < chain->n && chain->frames[at] >= CTX_KERNEL_START)
		at++;
	if (at < chain->n)
		at++; /* where user mode was left, or sampled */
	chain->n = at;
	for (size_t i = 0; i < n; i++) {
		uint64_t from = ctx_pe_sample_branch_from(sample, i);

		if (from != 0 && from < CTX_KERNEL_START)
			chain->frames[chain->n++] = from;
	}
	if (n == 8 || n == 16 || n == 32)
		add_truncation(chain, CTX_TRUNCATED_DEPTH);
}

/* Copies what an unwinder needs: 64-bit registers and the stack. */
static enum ctx_status take_user_state(struct ctx_pd_chain *chain, const struct ctx_pe_sample *sample,
				       const struct ctx_pd_event *event, struct ctx_err *err)
{
	struct ctx_user_regs *regs = &chain->user.regs;
	enum ctx_status status;

	chain->has_user = false;
	if (!event->exclude_callchain_user || sample->user_regs == NULL || sample->user_stack == NULL ||
	    sample->regs_abi != PERF_SAMPLE_REGS_ABI_64)
		return CTX_OK;
	status = ctx_grow(&chain->stack, &chain->stack_cap, (size_t)sample->user_stack_bytes + 1, err);
	if (status != CTX_OK)
		return status;
	ctx_pe_sample_user_state(sample, &chain->user);
	memcpy(chain->stack, sample->user_stack, (size_t)sample->user_stack_bytes);
	chain->user.stack = chain->stack;
	chain->has_user = (regs->valid >> ctx_machine_pc(regs->machine) & 1) != 0 &&
			  (regs->valid >> ctx_machine_sp(regs->machine) & 1) != 0;
	return CTX_OK;
}

enum ctx_status ctx_pd_chain_set(struct ctx_pd_chain *chain, const struct ctx_pe_sample *sample,
				 const struct ctx_pd_event *event, uint16_t misc, struct ctx_err *err)
{
	enum ctx_chainwalk_part own = ctx_chainwalk_part_of(misc), first = own;
	struct ctx_chainwalk walk = ctx_chainwalk_begin(own);
	bool swap = sample->layout->swap;
	uint32_t n = 0;
	enum ctx_status status =
		ctx_grow(&chain->frames, &chain->cap, sample->n_chain + (size_t)sample->n_branches + 3, err);

	if (status != CTX_OK)
		return status;
	for (size_t i = 0; i < sample->n_chain; i++) {
		uint64_t ip = ctx_pe_word(sample->chain + 8 * i, swap);

		if (!ctx_chainwalk_step(&walk, &ip))
			continue;
		if (n == 0)
			first = walk.part;
		chain->frames[n++] = address_in(walk.part, ip);
	}
	chain->n = n;
	chain->truncated = false;
	status = take_user_state(chain, sample, event, err);
	if (status != CTX_OK)
		return status;
	if (chain->has_user && own == CTX_CHAINWALK_USER)
		chain->n = 0; /* the registers hold the program counter */
	else if (sample->has_ip)
		set_leaf(chain, address_in(own, sample->ip), n != 0 && first == own);
	if (chain->has_user)
		return CTX_OK;
	if (ctx_pe_sample_has_lbr_stack(sample)) {
		set_lbr_callers(chain, sample);
		return CTX_OK;
	}
	if (event->exclude_callchain_user && sample->user_regs != NULL) {
		uint64_t pc = own == CTX_CHAINWALK_KERNEL ? ctx_pe_sample_user_pc(sample) : 0;

		if (pc != 0)
			chain->frames[chain->n++] = address_in(CTX_CHAINWALK_USER, pc);
		add_truncation(chain, CTX_TRUNCATED_UNKNOWN);
	} else if (n != 0 && n == (event->max_stack != 0 ? event->max_stack : USUAL_MAX_STACK)) {
		add_truncation(chain, CTX_TRUNCATED_UNKNOWN);
	}
	return CTX_OK;
}
