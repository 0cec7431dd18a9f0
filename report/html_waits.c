#include "report/html_waits.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static enum ctx_status find_place(struct ctx_html_waits *waits, struct ctx_wait_place place,
				  enum ctx_thread_state state, uint32_t *ret, struct ctx_err *err)
{
	uint64_t key = (uint64_t)place.caller << 32 | (uint64_t)place.kind << 8 | (uint64_t)state;
	uint32_t *at = ctx_map64_place(&waits->place_of, key);
	enum ctx_status status;

	if (at == NULL)
		return ctx_err_nomem(err);
	if (*at == CTX_MAP64_NONE) {
		status = ctx_grow(&waits->places, &waits->places_cap, waits->n_places + 1, err);
		if (status != CTX_OK)
			return status;
		*at = (uint32_t)waits->n_places;
		waits->places[waits->n_places++] =
			(struct ctx_html_wait_place){.place = place, .state = state};
	}
	*ret = *at;
	return CTX_OK;
}

struct making {
	struct ctx_html_waits *waits;
	const struct ctx_html_base *base;
	struct ctx_wait_kinds kinds;
	bool *used; /* by stack */
	uint32_t number;
	enum ctx_thread_state state;
};

static enum ctx_status add_stack(struct making *making, uint32_t stack, struct ctx_err *err)
{
	struct ctx_html_waits *waits = making->waits;
	uint64_t longest = making->base->cells.longest[stack];
	enum ctx_status status = ctx_grow(&waits->stacks, &waits->stacks_cap, waits->n_stacks + 1, err);
	uint32_t place = 0;

	if (status == CTX_OK)
		status = find_place(waits, ctx_wait_kinds_find(&making->kinds, making->state, stack),
				    making->state, &place, err);
	if (status != CTX_OK)
		return status;
	waits->stacks[waits->n_stacks++] = (struct ctx_html_wait_stack){making->number, stack, place};
	if (longest > waits->places[place].longest_ns)
		waits->places[place].longest_ns = longest;
	return CTX_OK;
}

static enum ctx_status add_base(struct making *making, uint32_t n_stacks, struct ctx_err *err)
{
	const struct ctx_cells *cells = &making->base->cells;
	enum ctx_status status = CTX_OK;

	memset(making->used, 0, n_stacks);
	for (uint32_t t = 0; t < cells->n_threads; t++) {
		const struct ctx_thread_cells *thread = &cells->threads[t];

		for (size_t k = 0; k < thread->n; k++) {
			if (thread->entries[k].stack != CTX_CELLS_OTHER)
				making->used[thread->entries[k].stack] = true;
		}
	}
	for (uint32_t stack = 0; stack < n_stacks && status == CTX_OK; stack++) {
		if (making->used[stack])
			status = add_stack(making, stack, err);
	}
	return status;
}

enum ctx_status ctx_html_waits_make(struct ctx_html_waits *waits, const struct ctx_html_metrics *metrics,
				    struct ctx_err *err)
{
	const struct ctx_profile *profile = metrics->input->profile;
	bool *used CTX_AUTO_FREE = ctx_calloc(profile->cct.n, sizeof(*used));
	struct making making = {.waits = waits, .used = used};
	enum ctx_status status;

	*waits = (struct ctx_html_waits){0};
	if (used == NULL)
		return ctx_err_nomem(err);
	status = ctx_wait_kinds_init(&making.kinds, profile, err);
	for (; making.number < metrics->n_bases && status == CTX_OK; making.number++) {
		making.base = &metrics->bases[making.number];
		making.state = ctx_html_base_state(profile, making.base);
		if (making.state != CTX_STATE_N && (CTX_STATES_OF_WAITS & CTX_STATE_BIT(making.state)) != 0)
			status = add_base(&making, profile->cct.n, err);
	}
	ctx_wait_kinds_deinit(&making.kinds);
	return status;
}

void ctx_html_waits_deinit(struct ctx_html_waits *waits)
{
	free(waits->places);
	free(waits->stacks);
	ctx_map64_deinit(&waits->place_of);
	*waits = (struct ctx_html_waits){0};
}
