#include "report/slice_tops.h"

#include "base/bisect.h"
#include "base/map64.h"
#include "base/mem.h"
#include "model/sample.h"

#include <stdlib.h>

struct counting {
	struct ctx_fold *fold;
	const struct ctx_wait_kinds *kinds;
	const struct ctx_report_slices *slices;
	const struct ctx_profile *profile;
	struct ctx_map64 sum_of; /* by slice and function */
	struct sum {
		uint32_t slice, function;
		uint64_t weight;
	} * sums;
	size_t n, cap;
};

/* The slice of a time; per_thread: after the last. */
static size_t slice_at(const struct counting *counting, uint64_t time_ns)
{
	return ctx_count_up_to(counting->slices->slices, counting->slices->per_thread, interval.end_ns,
			       time_ns);
}

static enum ctx_status add(struct counting *counting, size_t slice, uint32_t function, uint64_t weight,
			   struct ctx_err *err)
{
	uint32_t *at = ctx_map64_place(&counting->sum_of, (uint64_t)slice << 32 | function);
	enum ctx_status status;

	if (at == NULL)
		return ctx_err_nomem(err);
	if (*at == CTX_MAP64_NONE) {
		status = ctx_grow(&counting->sums, &counting->cap, counting->n + 1, err);
		if (status != CTX_OK)
			return status;
		counting->sums[counting->n] = (struct sum){(uint32_t)slice, function, 0};
		*at = (uint32_t)counting->n++;
	}
	counting->sums[*at].weight += weight;
	return CTX_OK;
}

static enum ctx_status take(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	struct counting *counting = context;
	const struct ctx_report_slices *slices = counting->slices;
	bool clipped = sample->metric < counting->profile->n_metrics &&
		       ctx_metric_is_clipped(&counting->profile->metrics[sample->metric]);
	uint32_t node, function;
	enum ctx_status status = ctx_fold_find(counting->fold, sample->stack, &node, err);

	if (status != CTX_OK || node == CTX_TRIE_ROOT)
		return status;
	function = ctx_hot_function_of(counting->fold, counting->kinds, node);
	for (size_t i = slice_at(counting, clipped ? ctx_sample_begin(sample) : sample->time_ns);
	     i < slices->per_thread && slices->slices[i].interval.begin_ns <= sample->time_ns &&
	     status == CTX_OK;
	     i++) {
		struct ctx_sample part = *sample;

		if (!clipped || ctx_sample_clip(&part, slices->slices[i].interval))
			status = add(counting, i, function, part.weight, err);
	}
	return status;
}

static enum ctx_status choose(const struct counting *counting, struct ctx_slice_top **ret,
			      struct ctx_err *err)
{
	struct ctx_slice_top *tops = ctx_calloc(counting->slices->per_thread, sizeof(*tops));

	if (tops == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < counting->slices->per_thread; i++)
		tops[i].function = CTX_NONE;
	for (size_t i = 0; i < counting->n; i++) {
		const struct sum *sum = &counting->sums[i];
		struct ctx_slice_top *top = &tops[sum->slice];

		if (sum->weight > top->weight ||
		    (sum->weight == top->weight && sum->weight != 0 && sum->function < top->function))
			*top = (struct ctx_slice_top){sum->function, sum->weight};
	}
	*ret = tops;
	return CTX_OK;
}

enum ctx_status ctx_slice_tops_find(struct ctx_report_source *source,
				    const struct ctx_slice_tops_input *input, struct ctx_slice_top **ret,
				    struct ctx_err *err)
{
	struct counting counting = {.fold = input->fold,
				    .kinds = input->kinds,
				    .slices = input->slices,
				    .profile = source->selection.profile};
	enum ctx_status status = source->samples(source, &(struct ctx_samples_query){.thread = CTX_NONE},
						 take, &counting, err);

	if (status == CTX_OK)
		status = choose(&counting, ret, err);
	ctx_map64_deinit(&counting.sum_of);
	free(counting.sums);
	return status;
}
