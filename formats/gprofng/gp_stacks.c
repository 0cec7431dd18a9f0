#include "formats/gprofng/gp_stacks.h"

#include "base/mem.h"
#include "model/event_source.h"

#define MARK_UNSURE ((uint64_t)-1)
#define MARK_TRUNCATED ((uint64_t)-2)
#define MARK_FAILED ((uint64_t)-3)
#define MARKS_FROM ((uint64_t)-64) /* values from here on are not addresses */

void ctx_gp_stacks_deinit(struct ctx_gp_stacks *stacks)
{
	ctx_map64_deinit(&stacks->number_of_uid);
	free(stacks->items);
	*stacks = (struct ctx_gp_stacks){0};
}

/* Markers are translated to ours; other values that are not addresses become 0. */
static size_t translate_marks(uint64_t *frames, size_t n, uint64_t truncations)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t reason = (frames[i] - truncations) / CTX_GP_TRUNCATION_STEP;

		if (truncations != 0 && reason != CTX_TRUNCATED_NOT && reason < CTX_TRUNCATED_N) {
			frames[kept++] = ctx_frame_truncated((enum ctx_truncation)reason);
			continue;
		}
		if (frames[i] == MARK_UNSURE)
			continue;
		if (frames[i] == MARK_TRUNCATED)
			frames[kept++] = ctx_frame_truncated(CTX_TRUNCATED_DEPTH);
		else if (frames[i] == MARK_FAILED)
			frames[kept++] = ctx_frame_truncated(CTX_TRUNCATED_UNKNOWN);
		else
			frames[kept++] = frames[i] < MARKS_FROM ? ctx_frame_address(frames[i]) : 0;
	}
	return kept;
}

static enum ctx_gp_stack_state get_frames(const struct ctx_gp_stacks *stacks, uint64_t uid,
					  struct ctx_gp_stack_frames *to)
{
	size_t n;
	enum ctx_gp_stack_state state =
		ctx_gp_frames_get(stacks->frames, uid, to->frames, CTX_GP_STACK_MAX - 1, &n);

	n = translate_marks(to->frames, n, stacks->truncations);
	if (state != CTX_GP_STACK_WHOLE)
		to->frames[n++] = ctx_frame_truncated(CTX_TRUNCATED_UNKNOWN);
	to->n = (uint32_t)n;
	return state;
}

static enum ctx_status add(struct ctx_gp_stacks *stacks, uint64_t uid, struct ctx_gp_stack_frames *last,
			   struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&stacks->items, &stacks->cap, stacks->n + 1, err);

	if (status == CTX_OK && stacks->n + 1 >= CTX_MAP64_NONE)
		status = ctx_err_set(err, CTX_E_LIMIT, "more than 4 G stacks");
	if (status != CTX_OK)
		return status;
	stacks->items[stacks->n++] =
		(struct ctx_gp_numbered){.uid = uid, .state = get_frames(stacks, uid, last)};
	last->of = stacks;
	last->number = (uint32_t)stacks->n;
	return CTX_OK;
}

enum ctx_status ctx_gp_stacks_number(struct ctx_gp_stacks *stacks, uint64_t uid,
				     struct ctx_gp_stack_frames *last, uint32_t *ret_number,
				     struct ctx_err *err)
{
	uint32_t *place = ctx_map64_place(&stacks->number_of_uid, uid);

	if (place == NULL)
		return ctx_err_nomem(err);
	if (*place == CTX_MAP64_NONE) {
		enum ctx_status status = add(stacks, uid, last, err);

		if (status != CTX_OK)
			return status;
		*place = (uint32_t)stacks->n;
	}
	*ret_number = *place;
	return CTX_OK;
}

bool ctx_gp_stacks_frames(const struct ctx_gp_stacks *stacks, uint32_t number,
			  struct ctx_gp_stack_frames *last)
{
	if (last->of == stacks && last->number == number)
		return true;
	if (number == 0 || number > stacks->n)
		return false;
	get_frames(stacks, stacks->items[number - 1].uid, last);
	last->of = stacks;
	last->number = number;
	return true;
}
