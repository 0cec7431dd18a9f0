/*
 * A source of reports and exports for tests: it returns the fields of a struct that the test fills.
 */
#ifndef CTX_TESTS_FAKE_SOURCE_H
#define CTX_TESTS_FAKE_SOURCE_H

#include "base/mem.h"
#include "model/export.h"
#include "model/report_source.h"
#include "report/report.h"

#include <stdio.h>

#define FAKE_METRICS 8u

struct fake_source {
	const struct ctx_profile *profile;
	const char *path;
	const struct ctx_interval *intervals;
	size_t n_intervals;
	const uint32_t *threads;
	size_t n_threads;
	const char *filter; /* NULL: none */
	uint32_t metric;
	const uint32_t *more_metrics;
	size_t n_more; /* fewer than FAKE_METRICS */
	unsigned wait_states;
	const struct ctx_report_part
		*parts; /* all together, or a part for each thread, as the test wants them */
	size_t n_parts;
	const struct ctx_histogram *whole; /* exports: all together */
	struct ctx_report_omitted omitted;
	const struct ctx_histogram *raw;
	const uint64_t *thread_samples, *thread_weight;
	struct ctx_report_vm_samples vm_samples;
	const struct ctx_report_states *states;
	size_t n_states;
	const struct ctx_report_wakers *wakers;
	size_t n_wakers;
	const struct ctx_report_waits *waits;
	size_t n_waits;
	struct ctx_report_traced traced[CTX_TRACED_N];
	const struct ctx_report_index *index;
	const struct ctx_report_slice *slices;
	size_t n_slices, slices_per_thread;
	const struct ctx_phases *phases; /* NULL: there are none */
	const struct ctx_report_level *levels;
	size_t n_levels;
	const struct ctx_code *code;
	const struct ctx_code_reader *reader;
	enum ctx_status (*samples)(void *context, const struct ctx_samples_query *query,
				   ctx_report_sample_fn each, void *each_context, struct ctx_err *err);
	void *samples_context;
	const struct ctx_mapping_info *mappings;
	size_t n_mappings;
	enum ctx_status (*object_file)(void *context, uint32_t object, struct ctx_buf *out,
				       struct ctx_err *err);
	void *object_context;
	/* Of exports. */
	const char *const *reports;
	size_t n_reports, max_bytes;
	void (*remark)(void *context, const char *text);
	void *remark_context;
	/* Set by fake_open and fake_export. */
	uint32_t metrics[FAKE_METRICS];
	struct ctx_report_part one;
	struct ctx_report_source source;
	struct ctx_export_input input;
};

static inline const struct fake_source *fake_of(const struct ctx_report_source *source)
{
	return source->impl;
}

static inline enum ctx_status fake_parts(struct ctx_report_source *source,
					 const struct ctx_parts_query *query, struct ctx_report_parts *ret,
					 struct ctx_err *err)
{
	const struct fake_source *fake = fake_of(source);

	(void)err;
	*ret = (struct ctx_report_parts){.parts = fake->parts,
					 .n = fake->n_parts,
					 .n_metrics = query->every_metric ? fake->n_more + 1 : 1,
					 .omitted = fake->omitted};
	if (!query->per_thread && fake->whole != NULL) {
		ret->parts = &fake->one;
		ret->n = 1;
	}
	return CTX_OK;
}

static inline enum ctx_status fake_raw(struct ctx_report_source *source, const struct ctx_histogram **ret,
				       struct ctx_err *err)
{
	(void)err;
	*ret = fake_of(source)->raw;
	return CTX_OK;
}

static inline enum ctx_status fake_sums(struct ctx_report_source *source, struct ctx_report_thread_sums *ret,
					struct ctx_err *err)
{
	const struct fake_source *fake = fake_of(source);

	(void)err;
	*ret = (struct ctx_report_thread_sums){fake->thread_samples, fake->thread_weight, fake->omitted};
	return CTX_OK;
}

static inline enum ctx_status fake_vm_samples(struct ctx_report_source *source,
					      struct ctx_report_vm_samples *ret, struct ctx_err *err)
{
	(void)err;
	*ret = fake_of(source)->vm_samples;
	return CTX_OK;
}

static inline enum ctx_status fake_states(struct ctx_report_source *source,
					  const struct ctx_report_states **ret, size_t *ret_n,
					  struct ctx_err *err)
{
	(void)err;
	*ret = fake_of(source)->states;
	*ret_n = fake_of(source)->n_states;
	return CTX_OK;
}

static inline enum ctx_status fake_wakers(struct ctx_report_source *source,
					  const struct ctx_report_wakers **ret, size_t *ret_n,
					  struct ctx_err *err)
{
	(void)err;
	*ret = fake_of(source)->wakers;
	*ret_n = fake_of(source)->n_wakers;
	return CTX_OK;
}

static inline enum ctx_status fake_waits(struct ctx_report_source *source,
					 const struct ctx_report_waits **ret, size_t *ret_n,
					 struct ctx_err *err)
{
	(void)err;
	*ret = fake_of(source)->waits;
	*ret_n = fake_of(source)->n_waits;
	return CTX_OK;
}

static inline enum ctx_status fake_traced(struct ctx_report_source *source, enum ctx_traced_kind kind,
					  struct ctx_report_traced *ret, struct ctx_err *err)
{
	(void)err;
	*ret = fake_of(source)->traced[kind];
	return CTX_OK;
}

/* Those of `traced`; all pass, but of other threads than the selected ones. */
static inline enum ctx_status fake_calls(struct ctx_report_source *source, uint64_t from_ns,
					 ctx_report_call_fn each, void *context, struct ctx_err *err)
{
	const struct fake_source *fake = fake_of(source);
	const struct ctx_report_traced *calls = &fake->traced[CTX_TRACED_CALL];
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < calls->n && status == CTX_OK; i++) {
		bool passes = fake->threads == NULL;

		for (size_t k = 0; k < fake->n_threads; k++)
			passes |= fake->threads != NULL && fake->threads[k] == calls->items[i].thread;
		if (calls->items[i].time_ns >= from_ns)
			status = each(context, &calls->items[i], passes, err);
	}
	return status;
}

static inline enum ctx_status fake_index(struct ctx_report_source *source, const char *by,
					 const struct ctx_index_stacks *stacks, struct ctx_report_index *ret,
					 struct ctx_err *err)
{
	static const struct ctx_report_index_key key = {"thread", true, CTX_INDEX_THREAD};
	static const struct ctx_report_sum none[FAKE_METRICS];
	static const struct ctx_report_index empty = {.by = &key, .n_by = 1, .totals = none};

	(void)by;
	(void)stacks;
	(void)err;
	*ret = fake_of(source)->index != NULL ? *fake_of(source)->index : empty;
	return CTX_OK;
}

static inline enum ctx_status fake_slices(struct ctx_report_source *source, size_t per_thread,
					  size_t max_threads, struct ctx_report_slices *ret,
					  struct ctx_err *err)
{
	const struct fake_source *fake = fake_of(source);

	(void)per_thread;
	(void)max_threads;
	(void)err;
	*ret = (struct ctx_report_slices){
		.slices = fake->slices, .n = fake->n_slices, .per_thread = fake->slices_per_thread};
	return CTX_OK;
}

static inline enum ctx_status fake_levels(struct ctx_report_source *source,
					  const struct ctx_report_level **ret, size_t *ret_n,
					  struct ctx_err *err)
{
	(void)err;
	*ret = fake_of(source)->levels;
	*ret_n = fake_of(source)->n_levels;
	return CTX_OK;
}

static inline enum ctx_status fake_code(struct ctx_report_source *source, struct ctx_report_code *ret,
					struct ctx_err *err)
{
	(void)err;
	*ret = (struct ctx_report_code){fake_of(source)->code, fake_of(source)->reader};
	return CTX_OK;
}

static inline enum ctx_status fake_samples(struct ctx_report_source *source,
					   const struct ctx_samples_query *query, ctx_report_sample_fn each,
					   void *context, struct ctx_err *err)
{
	const struct fake_source *fake = fake_of(source);

	return fake->samples(fake->samples_context, query, each, context, err);
}

static inline enum ctx_status fake_mappings(struct ctx_report_source *source,
					    const struct ctx_mapping_info **ret, size_t *ret_n,
					    struct ctx_err *err)
{
	(void)err;
	*ret = fake_of(source)->mappings;
	*ret_n = fake_of(source)->n_mappings;
	return CTX_OK;
}

static inline enum ctx_status fake_object_file(struct ctx_report_source *source, uint32_t object,
					       struct ctx_buf *out, struct ctx_err *err)
{
	const struct fake_source *fake = fake_of(source);

	return fake->object_file(fake->object_context, object, out, err);
}

static inline enum ctx_status fake_phases(struct ctx_report_source *source, bool of_run,
					  const struct ctx_phases **ret, struct ctx_err *err)
{
	static const struct ctx_phases none;
	const struct fake_source *fake = fake_of(source);

	(void)of_run;
	(void)err;
	*ret = fake->phases != NULL ? fake->phases : &none;
	return CTX_OK;
}

/* The source of the fields as they are now; lives in `fake`. */
static inline struct ctx_report_source *fake_open(struct fake_source *fake)
{
	fake->metrics[0] = fake->metric;
	for (size_t i = 0; i < fake->n_more; i++)
		fake->metrics[i + 1] = fake->more_metrics[i];
	fake->one = (struct ctx_report_part){.thread = CTX_NONE, .histograms = fake->whole};
	fake->source = (struct ctx_report_source){
		.selection = {.profile = fake->profile,
			      .path = fake->path,
			      .intervals = fake->intervals,
			      .n_intervals = fake->n_intervals,
			      .threads = fake->threads,
			      .n_threads = fake->n_threads,
			      .filter = fake->filter != NULL ? fake->filter : "",
			      .metrics = fake->metrics,
			      .n_metrics = fake->n_more + 1,
			      .wait_states = fake->wait_states},
		.impl = fake,
		.parts = fake_parts,
		.raw_histogram = fake_raw,
		.thread_sums = fake_sums,
		.vm_samples = fake_vm_samples,
		.states = fake_states,
		.wakers = fake_wakers,
		.waits = fake_waits,
		.traced = fake_traced,
		.calls = fake_calls,
		.index = fake_index,
		.slices = fake_slices,
		.phases = fake_phases,
		.levels = fake_levels,
		.code = fake_code,
		.samples = fake->samples != NULL ? fake_samples : NULL,
		.mappings = fake_mappings,
		.object_file = fake->object_file != NULL ? fake_object_file : NULL,
	};
	return &fake->source;
}

static inline enum ctx_status fake_print(const char *report, struct fake_source *fake,
					 const struct ctx_report_options *options, struct ctx_err *err)
{
	return ctx_report_print(ctx_report_find(report), fake_open(fake), options, err);
}

/* What an export gets of the fields as they are now; lives in `fake`. */
static inline const struct ctx_export_input *fake_export(struct fake_source *fake)
{
	struct ctx_report_source *source = fake_open(fake);

	fake->input = (struct ctx_export_input){.source = source,
						.selection = &source->selection,
						.profile = fake->profile,
						.metric = fake->metric,
						.reports = fake->reports,
						.n_reports = fake->n_reports,
						.max_bytes = fake->max_bytes,
						.remark = fake->remark,
						.remark_context = fake->remark_context};
	return &fake->input;
}

#endif
