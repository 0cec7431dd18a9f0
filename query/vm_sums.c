/*
 *	function's kind of code --> stacks with a method on them --histogram of a thread--> inside
 *	marks "GC pause" of a thread --> windows --its samples--------------------------> gc
 *	name of a thread that collects -------------------------------------------------> gc
 */
#include "query/vm_sums.h"

#include "base/mem.h"
#include "model/code_kind_of.h"
#include "model/mark_spans.h"

#include <stdlib.h>

void ctx_vm_sums_deinit(struct ctx_vm_sums *sums)
{
	free(sums->inside);
	free(sums->gc);
	free(sums->outside);
	*sums = (struct ctx_vm_sums){0};
}

static bool is_method(const struct ctx_profile *profile, uint32_t function)
{
	enum ctx_code_kind kind =
		function < profile->n_functions ? ctx_code_kind_of(profile, function) : CTX_CODE_NATIVE;

	return ctx_code_is_java(kind) || kind == CTX_CODE_PYTHON;
}

/* By CCT node: a method is on the stack. NULL: no memory. `*ret_any`: there is one. */
static bool *find_inside(const struct ctx_profile *profile, bool *ret_any)
{
	const struct ctx_trie *cct = &profile->cct;
	bool *methods CTX_AUTO_FREE = ctx_calloc((size_t)profile->n_functions + 1, sizeof(*methods));
	bool *inside = ctx_calloc((size_t)cct->n + 1, sizeof(*inside));

	*ret_any = false;
	if (methods == NULL || inside == NULL) {
		free(inside);
		return NULL;
	}
	for (uint32_t i = 0; i < profile->n_functions; i++) {
		methods[i] = is_method(profile, i);
		*ret_any |= methods[i];
	}
	for (uint32_t i = 1; i < cct->n; i++)
		inside[i] = inside[cct->parent[i]] ||
			    (cct->key[i] < profile->n_functions && methods[cct->key[i]]);
	return inside;
}

struct counting {
	const bool *inside;
	const struct ctx_mark_span *windows; /* of a thread, by begin */
	size_t n_windows;
	uint64_t gc;
};

/* Windows of a thread do not overlap. */
static enum ctx_status count_sample(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	struct counting *counting = context;
	size_t from = 0, to = counting->n_windows;

	(void)err;
	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (counting->windows[middle].begin_ns <= sample->time_ns)
			from = middle + 1;
		else
			to = middle;
	}
	counting->gc += from != 0 && sample->time_ns <= counting->windows[from - 1].end_ns &&
			!counting->inside[sample->stack];
	return CTX_OK;
}

static int by_thread(const void *a, const void *b)
{
	const struct ctx_mark_span *left = a, *right = b;

	if (left->thread != right->thread)
		return left->thread < right->thread ? -1 : 1;
	return left->begin_ns < right->begin_ns ? -1 : left->begin_ns > right->begin_ns;
}

/* The pauses to collect garbage, by thread and begin. */
static enum ctx_status find_pauses(struct ctx_report_source *source, struct ctx_mark_spans *spans,
				   struct ctx_err *err)
{
	const struct ctx_profile *profile = source->selection.profile;
	struct ctx_report_traced marks = {0};
	enum ctx_status status = CTX_OK;
	size_t n = 0;

	if (profile->traced[CTX_TRACED_MARK] != 0)
		status = source->traced(source, CTX_TRACED_MARK, &marks, err);
	if (status == CTX_OK)
		status = ctx_mark_spans_make(marks.items, marks.n, profile->run.end_ns, spans, err);
	for (size_t i = 0; i < spans->n && status == CTX_OK; i++) {
		const struct ctx_mark_span *span = &spans->items[i];

		if (span->name < profile->n_files && span->thread < profile->n_threads &&
		    (ctx_vm_span_of(profile->files[span->name]) & CTX_VM_SPAN_GC_PAUSE) != 0)
			spans->items[n++] = *span;
	}
	spans->n = n;
	if (n != 0)
		qsort(spans->items, n, sizeof(*spans->items), by_thread);
	return status;
}

static enum ctx_status count_pauses(struct ctx_report_source *source, const struct ctx_mark_spans *pauses,
				    const bool *inside, struct ctx_vm_sums *sums, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = 0, end; i < pauses->n && status == CTX_OK; i = end) {
		uint32_t thread = pauses->items[i].thread;
		struct counting counting = {.inside = inside, .windows = &pauses->items[i]};

		for (end = i; end < pauses->n && pauses->items[end].thread == thread; end++)
			;
		counting.n_windows = end - i;
		if (ctx_vm_thread_collects(source->selection.profile->threads[thread].name) ||
		    sums->outside[thread] == 0)
			continue; /* all of its samples are counted, or it has none */
		status = source->samples(source, &(struct ctx_samples_query){.thread = thread}, count_sample,
					 &counting, err);
		counting.gc = counting.gc < sums->outside[thread] ? counting.gc : sums->outside[thread];
		sums->gc[thread] = counting.gc;
		sums->outside[thread] -= counting.gc;
	}
	return status;
}

static void count_part(const struct ctx_profile *profile, const struct ctx_report_part *part,
		       const bool *inside, struct ctx_vm_sums *sums)
{
	const struct ctx_histogram *histogram = part->histograms;
	uint64_t within = 0;

	for (size_t i = 0; i < histogram->n; i++) {
		if (inside[histogram->entries[i].stack])
			within += histogram->entries[i].samples;
	}
	sums->inside[part->thread] = within;
	if (ctx_vm_thread_collects(profile->threads[part->thread].name))
		sums->gc[part->thread] = histogram->samples - within;
	else
		sums->outside[part->thread] = histogram->samples - within;
}

static enum ctx_status make(struct ctx_report_source *source, const bool *inside, struct ctx_vm_sums *sums,
			    struct ctx_err *err)
{
	const struct ctx_profile *profile = source->selection.profile;
	struct ctx_mark_spans pauses CTX_CLEANUP(ctx_mark_spans_deinit) = {0};
	struct ctx_report_parts parts;
	enum ctx_status status;

	sums->inside = ctx_calloc((size_t)profile->n_threads + 1, sizeof(*sums->inside));
	sums->gc = ctx_calloc((size_t)profile->n_threads + 1, sizeof(*sums->gc));
	sums->outside = ctx_calloc((size_t)profile->n_threads + 1, sizeof(*sums->outside));
	if (sums->inside == NULL || sums->gc == NULL || sums->outside == NULL)
		return ctx_err_nomem(err);
	status = source->parts(source, &(struct ctx_parts_query){.per_thread = true}, &parts, err);
	for (size_t i = 0; i < parts.n && status == CTX_OK; i++)
		count_part(profile, &parts.parts[i], inside, sums);
	if (status == CTX_OK)
		status = find_pauses(source, &pauses, err);
	return status == CTX_OK ? count_pauses(source, &pauses, inside, sums, err) : status;
}

enum ctx_status ctx_vm_sums_make(struct ctx_report_source *source, struct ctx_vm_sums *ret,
				 struct ctx_err *err)
{
	bool any, *inside CTX_AUTO_FREE = find_inside(source->selection.profile, &any);
	enum ctx_status status;

	*ret = (struct ctx_vm_sums){0};
	if (inside == NULL)
		return ctx_err_nomem(err);
	if (!any && source->selection.profile->vms.n == 0)
		return CTX_OK;
	status = make(source, inside, ret, err);
	if (status != CTX_OK)
		ctx_vm_sums_deinit(ret);
	return status;
}
