#include "formats/perfdata/pd_chain.h"

#include "base/mem.h"
#include "model/chainwalk.h"
#include "model/event_source.h"

#include <linux/perf_event.h>
#include <string.h>

#define ARM64_PC 32 /* perf's number of the register; x86 has no such one */

#define USUAL_MAX_STACK 127u /* sysctl kernel.perf_event_max_stack */

void ctx_pd_chain_deinit(struct ctx_pd_chain *chain)
{
	free(chain->frames);
	free(chain->stack);
	*chain = (struct ctx_pd_chain){0};
}

/* Marks are addresses of no part: a damaged sample does not bring ours in by its own address. */
static uint64_t address_in(enum ctx_chainwalk_part part, uint64_t address)
{
	if (part == CTX_CHAINWALK_ELSEWHERE || ctx_chainwalk_is_mark(address))
		return 0;
	return (part == CTX_CHAINWALK_KERNEL) == (address >= CTX_KERNEL_START) ? address : 0;
}

/* Puts the sample's own address in the place of the leaf, or in front where the chain begins elsewhere. */
static void set_leaf(struct ctx_pd_chain *chain, uint64_t leaf, bool replaces)
{
	if (!replaces) {
		memmove(chain->frames + 1, chain->frames, chain->n * sizeof(*chain->frames));
		chain->n++;
	}
	chain->frames[0] = leaf;
}

static void add_truncation(struct ctx_pd_chain *chain)
{
	chain->frames[chain->n++] = CTX_FRAME_TRUNCATED;
	chain->truncated = true;
}

/* Registers of 64-bit code and a copy of the stack: what an unwinder needs. */
static enum ctx_status take_user_state(struct ctx_pd_chain *chain, const struct ctx_pd_sample *sample,
				       const struct ctx_pd_event *event, bool swap, struct ctx_err *err)
{
	enum ctx_status status;

	enum ctx_machine machine =
		event->regs_user >> ARM64_PC & 1 ? CTX_MACHINE_AARCH64 : CTX_MACHINE_X86_64;

	chain->has_user = false;
	if (!event->exclude_callchain_user || !sample->has_user_regs || sample->user_stack == NULL ||
	    sample->regs_abi != PERF_SAMPLE_REGS_ABI_64)
		return CTX_OK;
	status = ctx_grow(&chain->stack, &chain->stack_cap, (size_t)sample->user_stack_bytes + 1, err);
	if (status != CTX_OK)
		return status;
	memcpy(chain->stack, sample->user_stack, (size_t)sample->user_stack_bytes);
	ctx_user_regs_from_perf(&chain->user.regs, machine, event->regs_user, sample->user_regs, swap);
	chain->user.stack = chain->stack;
	chain->user.stack_bytes = (size_t)sample->user_stack_bytes;
	chain->has_user = (chain->user.regs.valid >> ctx_machine_pc(machine) & 1) != 0 &&
			  (chain->user.regs.valid >> ctx_machine_sp(machine) & 1) != 0;
	return CTX_OK;
}

enum ctx_status ctx_pd_chain_set(struct ctx_pd_chain *chain, const struct ctx_pd_sample *sample,
				 const struct ctx_pd_event *event, uint16_t misc, bool swap,
				 struct ctx_err *err)
{
	enum ctx_chainwalk_part own = ctx_chainwalk_part_of(misc), first = own;
	struct ctx_chainwalk walk = ctx_chainwalk_begin(own);
	uint32_t n = 0;
	enum ctx_status status = ctx_grow(&chain->frames, &chain->cap, sample->n_chain + 3, err);

	if (status != CTX_OK)
		return status;
	for (size_t i = 0; i < sample->n_chain; i++) {
		uint64_t ip;

		memcpy(&ip, sample->chain + 8 * i, sizeof(ip));
		if (swap)
			ip = __builtin_bswap64(ip);
		if (!ctx_chainwalk_step(&walk, &ip))
			continue;
		if (n == 0)
			first = walk.part;
		chain->frames[n++] = address_in(walk.part, ip);
	}
	chain->n = n;
	chain->truncated = false;
	status = take_user_state(chain, sample, event, swap, err);
	if (status != CTX_OK)
		return status;
	if (chain->has_user && own == CTX_CHAINWALK_USER)
		chain->n = 0; /* the registers say where it was */
	else if (sample->has_ip)
		set_leaf(chain, address_in(own, sample->ip), n != 0 && first == own);
	if (chain->has_user)
		return CTX_OK;
	if (event->exclude_callchain_user && sample->has_user_regs) {
		if (own == CTX_CHAINWALK_KERNEL && sample->user_ip != 0)
			chain->frames[chain->n++] = address_in(CTX_CHAINWALK_USER, sample->user_ip);
		add_truncation(chain);
	} else if (n != 0 && n == (event->max_stack != 0 ? event->max_stack : USUAL_MAX_STACK)) {
		add_truncation(chain);
	}
	return CTX_OK;
}
