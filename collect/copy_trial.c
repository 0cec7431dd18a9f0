#include "collect/copy_trial.h"

/* Whether frames of the stack are outside of the small copy. */
static bool is_deep(const struct ctx_copy_trial *trial, const struct ctx_unwind_job *job)
{
	const struct ctx_user_state *state = job->state;
	uint64_t sp = state->regs.value[ctx_machine_sp(state->regs.machine)];

	if (state->stack_bytes <= trial->bytes)
		return false;
	/* The root has no CFA. */
	for (size_t i = job->n; i-- > 0 && i + 3 > job->n;) {
		if (job->frames[i].cfa > sp)
			return job->frames[i].cfa - sp > trial->bytes;
	}
	return true;
}

struct whole { /* an unwound stack, with the start code that its chain does not have */
	const struct ctx_unwind_job *job;
	struct ctx_stack_part bottom;
	size_t n;
};

/* False: it does not reach its root. */
static bool complete(const struct ctx_copy_trial *trial, const struct ctx_unwind_job *job, struct whole *ret)
{
	*ret = (struct whole){.job = job, .n = job->n};
	if (job->end == CTX_TRUNCATED_NOT)
		return true;
	if (job->end == CTX_TRUNCATED_COPY && job->steps.by_chain != 0)
		ret->bottom = ctx_stack_bottoms_callers(trial->bottoms, job->view.process,
							job->frames[job->n - 1].address);
	ret->n += ret->bottom.n;
	return ret->bottom.frames != NULL;
}

static uint64_t address_at(const struct whole *whole, size_t i)
{
	return i < whole->job->n ? whole->job->frames[i].address
				 : whole->bottom.frames[i - whole->job->n].address;
}

static bool is_same(const struct whole *a, const struct whole *b)
{
	bool is = a->n == b->n;

	for (size_t i = 0; i < a->n && is; i++)
		is = address_at(a, i) == address_at(b, i);
	return is;
}

void ctx_copy_trial_take(struct ctx_copy_trial *trial, const struct ctx_unwind_job *job)
{
	struct ctx_user_state state;
	struct ctx_unwind_job again;
	struct whole with_all, with_less;

	if (!trial->is_on || trial->bytes == 0)
		return;
	trial->stacks++;
	if (!is_deep(trial, job))
		return;
	trial->deep++;
	state = *job->state;
	state.stack_bytes = trial->bytes;
	again = (struct ctx_unwind_job){.state = &state,
					.view = job->view,
					.chain = job->chain,
					.frames = trial->frames,
					.max = trial->max};
	ctx_unwind_job_do(&again);
	if (!complete(trial, job, &with_all) || !complete(trial, &again, &with_less) ||
	    !is_same(&with_all, &with_less))
		trial->failed++;
}
