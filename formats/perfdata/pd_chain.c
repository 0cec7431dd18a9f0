#include "formats/perfdata/pd_chain.h"

#include "base/mem.h"
#include "model/event_source.h"

#include <string.h>

#define CONTEXT_MIN ((uint64_t)PERF_CONTEXT_MAX) /* marks are the numbers from here on */
#define USUAL_MAX_STACK 127u			 /* sysctl kernel.perf_event_max_stack */

enum part {
	PART_KERNEL,
	PART_USER,
	PART_ELSEWHERE, /* hypervisor and guests: addresses of another machine */
};

void ctx_pd_chain_deinit(struct ctx_pd_chain *chain)
{
	free(chain->frames);
	*chain = (struct ctx_pd_chain){0};
}

static enum part part_of_mark(uint64_t mark, enum part before)
{
	switch (mark) {
	case (uint64_t)PERF_CONTEXT_KERNEL:
		return PART_KERNEL;
	case (uint64_t)PERF_CONTEXT_USER:
		return PART_USER;
	case (uint64_t)PERF_CONTEXT_HV:
	case (uint64_t)PERF_CONTEXT_GUEST:
	case (uint64_t)PERF_CONTEXT_GUEST_KERNEL:
	case (uint64_t)PERF_CONTEXT_GUEST_USER:
		return PART_ELSEWHERE;
	default:
		return before;
	}
}

static enum part part_of_sample(uint16_t misc)
{
	switch (misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_KERNEL:
		return PART_KERNEL;
	case PERF_RECORD_MISC_USER:
		return PART_USER;
	default:
		return PART_ELSEWHERE;
	}
}

/* Marks are addresses of no part: a damaged sample does not bring ours in by its own address. */
static uint64_t address_in(enum part part, uint64_t address)
{
	if (part == PART_ELSEWHERE || address >= CONTEXT_MIN)
		return 0;
	return (part == PART_KERNEL) == (address >= CTX_KERNEL_START) ? address : 0;
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

enum ctx_status ctx_pd_chain_set(struct ctx_pd_chain *chain, const struct ctx_pd_sample *sample,
				 const struct ctx_pd_event *event, uint16_t misc, bool swap,
				 struct ctx_err *err)
{
	enum part own = part_of_sample(misc), part = own, first = own;
	uint32_t n = 0, n_entries = 0;
	bool exact = true;
	enum ctx_status status = ctx_grow(&chain->frames, &chain->cap, sample->n_chain + 3, err);

	if (status != CTX_OK)
		return status;
	for (size_t i = 0; i < sample->n_chain; i++) {
		uint64_t ip;

		memcpy(&ip, sample->chain + 8 * i, sizeof(ip));
		if (swap)
			ip = __builtin_bswap64(ip);
		if (ip >= CONTEXT_MIN) {
			part = part_of_mark(ip, part);
			exact = true;
			continue;
		}
		n_entries++;
		if (n == 0)
			first = part;
		chain->frames[n++] = address_in(part, exact ? ip : ip - 1);
		exact = false;
	}
	chain->n = n;
	chain->truncated = false;
	if (sample->has_ip)
		set_leaf(chain, address_in(own, sample->ip), n != 0 && first == own);
	if (event->exclude_callchain_user && sample->has_user_regs) {
		if (own == PART_KERNEL && sample->user_ip != 0)
			chain->frames[chain->n++] = address_in(PART_USER, sample->user_ip);
		add_truncation(chain);
	} else if (n_entries != 0 &&
		   n_entries == (event->max_stack != 0 ? event->max_stack : USUAL_MAX_STACK)) {
		add_truncation(chain);
	}
	return CTX_OK;
}
