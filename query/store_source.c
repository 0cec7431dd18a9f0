/*
 *	struct source
 *	  query     one query object, whose counters --explain prints
 *	  results   one slot for each query, filled on first use; queries with arbitrary parameters
 *		    (slices, index) have lists
 */
#include "query/store_source.h"

#include "base/clock.h"
#include "base/mem.h"
#include "query/phase_query.h"
#include "query/query.h"
#include "query/query_samples.h"
#include "query/vm_sums.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* By thread or not, with calls or not, of every metric or of one. */
#define PARTS_QUERIES 8u

struct parts {
	bool asked;
	struct ctx_query_parts own;
	struct ctx_report_parts shown;
};

struct slices {
	struct slices *next;
	size_t max_threads;
	struct ctx_report_slices shown; /* its slices are owned */
};

struct index {
	struct index *next;
	char *by; /* owned; NULL: as --by says */
	const struct ctx_index_stacks *stacks;
	struct ctx_index_keys keys;
	struct ctx_buf phases; /* the expression of a key that is a phase */
	struct ctx_query_index rows;
	struct ctx_report_index shown;
};

/* Of thread states. */
struct lives {
	bool has_states, has_wakers, has_waits;
	struct ctx_report_states *states;
	struct ctx_report_wakers *wakers;
	struct ctx_report_waits *waits;
	size_t n_states, n_wakers, n_waits;
	bool has_vm_sums;
	struct ctx_vm_sums vm_sums;
};

struct source {
	struct ctx_report_source base; /* first */
	struct ctx_query_source_spec spec;
	struct ctx_query query;
	double cpu_ms;
	struct parts parts[PARTS_QUERIES];
	struct lives lives;
	bool has_raw, has_sums, has_levels, has_mappings, has_traced[CTX_TRACED_N], has_allocations;
	struct ctx_histogram raw;
	uint64_t *thread_samples, *thread_weight; /* NULL: the selection is the whole run */
	struct ctx_report_omitted sums_omitted;
	struct ctx_report_level *levels;
	size_t n_levels;
	struct ctx_report_traced traced[CTX_TRACED_N], allocations; /* items are owned */
	struct slices *slices;
	bool has_phases[2]; /* of what is selected, of the run */
	struct ctx_phases phases[2];
	struct index *indexes;
	struct ctx_code_reader reader;
	struct ctx_mapping_info *mappings;
	size_t n_mappings, mappings_cap;
};

static struct source *source_of(struct ctx_report_source *base)
{
	return base->impl;
}

static double cpu_ms(void)
{
	return (double)ctx_clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e6;
}

/* Every query is enclosed by these two. */
static void begin(struct source *source, bool calls)
{
	struct ctx_timetree_cost *cost = &source->query.cost;

	source->query.flags =
		(source->spec.top_only ? CTX_TIMETREE_TOP_ONLY : 0u) | (calls ? 0u : CTX_TIMETREE_NO_CALLS);
	cost->omitted_weight = cost->omitted_samples = cost->omitted_largest = 0;
	source->cpu_ms -= cpu_ms();
}

static struct ctx_report_omitted end(struct source *source)
{
	const struct ctx_timetree_cost *cost = &source->query.cost;

	source->cpu_ms += cpu_ms();
	return (struct ctx_report_omitted){.weight = cost->omitted_weight,
					   .samples = cost->omitted_samples,
					   .largest = cost->omitted_largest};
}

static enum ctx_status pull_parts(struct ctx_report_source *base, const struct ctx_parts_query *asked,
				  struct ctx_report_parts *ret, struct ctx_err *err)
{
	struct source *source = source_of(base);
	bool every = asked->every_metric && base->selection.n_metrics > 1;
	const struct ctx_query_metrics metrics = {base->selection.metrics,
						  every ? base->selection.n_metrics : 1};
	struct parts *parts = &source->parts[(asked->per_thread ? 4 : 0) + (asked->calls ? 2 : 0) + every];
	enum ctx_status status;

	if (!parts->asked) {
		begin(source, asked->calls);
		status = ctx_query_parts(&source->query, &metrics, asked->per_thread, &parts->own, err);
		parts->shown.omitted = end(source);
		if (status != CTX_OK)
			return status;
		parts->asked = true;
		parts->shown.parts = parts->own.parts;
		parts->shown.n = parts->own.n;
		parts->shown.n_metrics = metrics.n;
	}
	*ret = parts->shown;
	return CTX_OK;
}

static enum ctx_status pull_raw(struct ctx_report_source *base, const struct ctx_histogram **ret,
				struct ctx_err *err)
{
	struct source *source = source_of(base);
	enum ctx_status status = CTX_OK;

	if (!source->has_raw) {
		begin(source, false);
		status = ctx_query_raw_histogram(&source->query, base->selection.metrics[0], &source->raw,
						 err);
		end(source);
		if (status != CTX_OK) {
			ctx_histogram_deinit(&source->raw);
			return status;
		}
		source->has_raw = true;
	}
	*ret = &source->raw;
	return CTX_OK;
}

static bool is_whole_run(const struct source *source)
{
	const struct ctx_selection *selection = source->spec.selection;

	return !ctx_selection_is_filtered(selection) && selection->threads == NULL &&
	       selection->metrics[0] == 0 && selection->n_intervals == 1 &&
	       ctx_interval_contains(selection->intervals[0], source->base.selection.profile->run);
}

static enum ctx_status pull_thread_sums(struct ctx_report_source *base, struct ctx_report_thread_sums *ret,
					struct ctx_err *err)
{
	struct source *source = source_of(base);
	enum ctx_status status = CTX_OK;

	if (!source->has_sums && !is_whole_run(source)) {
		begin(source, false);
		status = ctx_query_thread_sums(&source->query, base->selection.metrics[0],
					       &source->thread_samples, &source->thread_weight, err);
		source->sums_omitted = end(source);
		if (status != CTX_OK)
			return status;
	}
	source->has_sums = true;
	*ret = (struct ctx_report_thread_sums){source->thread_samples, source->thread_weight,
					       source->sums_omitted};
	return CTX_OK;
}

static enum ctx_status pull_vm_samples(struct ctx_report_source *base, struct ctx_report_vm_samples *ret,
				       struct ctx_err *err)
{
	struct source *source = source_of(base);
	enum ctx_status status = CTX_OK;

	if (!source->lives.has_vm_sums)
		status = ctx_vm_sums_make(base, &source->lives.vm_sums, err);
	if (status != CTX_OK)
		return status;
	source->lives.has_vm_sums = true;
	*ret = (struct ctx_report_vm_samples){source->lives.vm_sums.inside, source->lives.vm_sums.gc,
					      source->lives.vm_sums.outside};
	return CTX_OK;
}

static enum ctx_status pull_states(struct ctx_report_source *base, const struct ctx_report_states **ret,
				   size_t *ret_n, struct ctx_err *err)
{
	struct source *source = source_of(base);

	if (!source->lives.has_states) {
		enum ctx_status status;

		begin(source, false);
		status =
			ctx_query_states(&source->query, &source->lives.states, &source->lives.n_states, err);
		end(source);
		if (status != CTX_OK)
			return status;
		source->lives.has_states = true;
	}
	*ret = source->lives.states;
	*ret_n = source->lives.n_states;
	return CTX_OK;
}

static enum ctx_status pull_wakers(struct ctx_report_source *base, const struct ctx_report_wakers **ret,
				   size_t *ret_n, struct ctx_err *err)
{
	struct source *source = source_of(base);

	if (!source->lives.has_wakers) {
		enum ctx_status status;

		begin(source, false);
		status =
			ctx_query_wakers(&source->query, &source->lives.wakers, &source->lives.n_wakers, err);
		end(source);
		if (status != CTX_OK)
			return status;
		source->lives.has_wakers = true;
	}
	*ret = source->lives.wakers;
	*ret_n = source->lives.n_wakers;
	return CTX_OK;
}

static enum ctx_status pull_waits(struct ctx_report_source *base, const struct ctx_report_waits **ret,
				  size_t *ret_n, struct ctx_err *err)
{
	struct source *source = source_of(base);

	if (!source->lives.has_waits) {
		enum ctx_status status;

		begin(source, false);
		status = ctx_query_waits(&source->query, &source->lives.waits, &source->lives.n_waits, err);
		end(source);
		if (status != CTX_OK)
			return status;
		source->lives.has_waits = true;
	}
	*ret = source->lives.waits;
	*ret_n = source->lives.n_waits;
	return CTX_OK;
}

static enum ctx_status pull_traced(struct ctx_report_source *base, enum ctx_traced_kind kind,
				   struct ctx_report_traced *ret, struct ctx_err *err)
{
	struct source *source = source_of(base);

	if (!source->has_traced[kind]) {
		enum ctx_status status;

		begin(source, false);
		status = ctx_query_traced(&source->query, kind, &source->traced[kind], err);
		end(source);
		if (status != CTX_OK)
			return status;
		source->has_traced[kind] = true;
	}
	*ret = source->traced[kind];
	return CTX_OK;
}

static enum ctx_status pull_allocations(struct ctx_report_source *base, struct ctx_report_traced *ret,
					struct ctx_err *err)
{
	struct source *source = source_of(base);

	if (!source->has_allocations) {
		enum ctx_status status;

		begin(source, false);
		status = ctx_query_allocations(&source->query, &source->allocations, err);
		end(source);
		if (status != CTX_OK)
			return status;
		source->has_allocations = true;
	}
	*ret = source->allocations;
	return CTX_OK;
}

static enum ctx_status pull_phases(struct ctx_report_source *base, bool of_run, const struct ctx_phases **ret,
				   struct ctx_err *err)
{
	struct source *source = source_of(base);
	struct ctx_phases *phases = &source->phases[of_run];
	enum ctx_status status;

	if (!source->has_phases[of_run]) {
		begin(source, false);
		status = of_run ? ctx_query_phases_of_run(source->spec.store, phases, err)
				: ctx_query_phases(&source->query, true, phases, err);
		end(source);
		if (status != CTX_OK)
			return status;
		source->has_phases[of_run] = true;
	}
	*ret = phases;
	return CTX_OK;
}

/* "TSTAMP<500?0:TSTAMP<700?1:0" as a tree of conditions: the letters of the phases from `begin` up to `end`. */
static void put_letters(const struct ctx_phase_group *group, size_t begin, size_t end, struct ctx_buf *out)
{
	size_t middle = begin + (end - begin) / 2;

	if (end - begin == 1) {
		ctx_buf_printf(out, "%" PRIu32, group->phases[begin].letter);
		return;
	}
	ctx_buf_printf(out, "(TSTAMP<%" PRIu64 "?", group->phases[middle].interval.begin_ns);
	put_letters(group, begin, middle, out);
	ctx_buf_put_u8(out, ':');
	put_letters(group, middle, end, out);
	ctx_buf_put_u8(out, ')');
}

/* The text of the keys that are phases. */
static enum ctx_status fill_phases(struct source *source, struct index *index, struct ctx_err *err)
{
	const struct ctx_phases *phases;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < index->keys.n && status == CTX_OK; i++) {
		if (index->keys.keys[i].entity != CTX_INDEX_PHASE)
			continue;
		status = pull_phases(&source->base, true, &phases, err);
		if (status != CTX_OK)
			return status;
		if (phases->groups[0].n != 0)
			put_letters(&phases->groups[0], 0, phases->groups[0].n, &index->phases);
		else
			ctx_buf_put_text(&index->phases, "-1");
		ctx_buf_put_u8(&index->phases, '\0');
		status = ctx_buf_check(&index->phases, err);
		index->keys.texts[i] = (const char *)index->phases.bytes;
	}
	return status;
}

static enum ctx_status pull_calls(struct ctx_report_source *base, uint64_t from_ns, ctx_report_call_fn each,
				  void *context, struct ctx_err *err)
{
	struct source *source = source_of(base);
	enum ctx_status status;

	begin(source, false);
	status = ctx_query_calls(&source->query, from_ns, each, context, err);
	end(source);
	return status;
}

static enum ctx_status query_index(struct source *source, struct index *index, struct ctx_err *err)
{
	enum ctx_status status = ctx_index_keys_read(source->spec.words, index->by, &index->keys, err);

	if (status == CTX_OK)
		status = fill_phases(source, index, err);
	if (status != CTX_OK)
		return status;
	begin(source, false);
	status = ctx_query_index(&source->query, &index->keys, index->stacks, &index->rows, err);
	end(source);
	index->shown = (struct ctx_report_index){
		.by = index->keys.keys,
		.n_by = index->keys.n,
		.keys = index->rows.keys,
		.names = index->rows.names.strings,
		.files = index->rows.files,
		.n = index->rows.n,
		.sums = index->rows.sums,
		.totals = index->rows.totals,
	};
	return status;
}

static void index_free(struct index *index)
{
	ctx_query_index_free(&index->rows);
	ctx_index_keys_deinit(&index->keys);
	ctx_buf_deinit(&index->phases);
	free(index->by);
	free(index);
}

static bool same_key(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static enum ctx_status pull_index(struct ctx_report_source *base, const char *by,
				  const struct ctx_index_stacks *stacks, struct ctx_report_index *ret,
				  struct ctx_err *err)
{
	struct source *source = source_of(base);
	struct index *index = source->indexes;
	enum ctx_status status;

	while (index != NULL && (!same_key(index->by, by) || index->stacks != stacks))
		index = index->next;
	if (index == NULL) {
		index = ctx_calloc(1, sizeof(*index));
		if (index == NULL)
			return ctx_err_nomem(err);
		index->by = by != NULL ? strdup(by) : NULL;
		index->stacks = stacks;
		status = by != NULL && index->by == NULL ? ctx_err_nomem(err)
							 : query_index(source, index, err);
		if (status != CTX_OK) {
			index_free(index);
			return status;
		}
		index->next = source->indexes;
		source->indexes = index;
	}
	*ret = index->shown;
	return CTX_OK;
}

static enum ctx_status pull_slices(struct ctx_report_source *base, size_t per_thread, size_t max_threads,
				   struct ctx_report_slices *ret, struct ctx_err *err)
{
	struct source *source = source_of(base);
	const struct ctx_query_slicing slicing = {base->selection.metrics[0], per_thread, max_threads};
	struct slices *slices = source->slices;
	enum ctx_status status;

	while (slices != NULL &&
	       (slices->shown.per_thread != per_thread || slices->max_threads != max_threads))
		slices = slices->next;
	if (slices == NULL) {
		slices = ctx_calloc(1, sizeof(*slices));
		if (slices == NULL)
			return ctx_err_nomem(err);
		slices->max_threads = max_threads;
		begin(source, false);
		source->query.shown = base->shown;
		status = ctx_query_slices(&source->query, &slicing, &slices->shown, err);
		end(source);
		if (status != CTX_OK) {
			free(slices);
			return status;
		}
		slices->next = source->slices;
		source->slices = slices;
	}
	*ret = slices->shown;
	return CTX_OK;
}

static enum ctx_status pull_levels(struct ctx_report_source *base, const struct ctx_report_level **ret,
				   size_t *ret_n, struct ctx_err *err)
{
	struct source *source = source_of(base);

	if (!source->has_levels) {
		enum ctx_status status;

		begin(source, false);
		status = ctx_query_levels(&source->query, base->selection.metrics[0], &source->levels,
					  &source->n_levels, err);
		end(source);
		if (status != CTX_OK)
			return status;
		source->has_levels = true;
	}
	*ret = source->levels;
	*ret_n = source->n_levels;
	return CTX_OK;
}

static enum ctx_status pull_code(struct ctx_report_source *base, struct ctx_report_code *ret,
				 struct ctx_err *err)
{
	struct source *source = source_of(base);
	const struct ctx_code *code;
	enum ctx_status status = ctx_store_code(source->spec.store, &code, err);

	if (status == CTX_OK)
		*ret = (struct ctx_report_code){code, &source->reader};
	return status;
}

static enum ctx_status pull_samples(struct ctx_report_source *base, const struct ctx_samples_query *query,
				    ctx_report_sample_fn each, void *context, struct ctx_err *err)
{
	const struct ctx_query_samples samples = {
		.query = &source_of(base)->query, .wanted = query, .each = each, .context = context};

	return ctx_query_samples(&samples, err);
}

static enum ctx_status take_mapping(void *context, const struct ctx_sql_result_row *row, struct ctx_err *err)
{
	struct source *source = context;
	uint64_t values[7] = {0};

	if (ctx_grow(&source->mappings, &source->mappings_cap, source->n_mappings + 1, err) != CTX_OK)
		return CTX_E_NOMEM;
	for (int i = 0; i < 7 && i < row->n; i++)
		values[i] = row->values[i] != NULL ? (uint64_t)strtoll(row->values[i], NULL, 10) : CTX_NONE;
	source->mappings[source->n_mappings++] = (struct ctx_mapping_info){.process = (uint32_t)values[0],
									   .object = (uint32_t)values[1],
									   .address = values[2],
									   .size = values[3],
									   .file_offset = values[4],
									   .life = {values[5], values[6]}};
	return CTX_OK;
}

static enum ctx_status pull_mappings(struct ctx_report_source *base, const struct ctx_mapping_info **ret,
				     size_t *ret_n, struct ctx_err *err)
{
	struct source *source = source_of(base);

	if (!source->has_mappings) {
		enum ctx_status status;

		source->n_mappings = 0;
		status = ctx_store_sql(source->spec.store,
				       "SELECT process, object, address, size, file_offset, begin_ns, "
				       "end_ns FROM mapping ORDER BY id",
				       take_mapping, source, err);
		if (status != CTX_OK)
			return status;
		source->has_mappings = true;
	}
	*ret = source->mappings;
	*ret_n = source->n_mappings;
	return CTX_OK;
}

static enum ctx_status read_object_file(struct ctx_report_source *base, uint32_t object, struct ctx_buf *out,
					struct ctx_err *err)
{
	const struct ctx_query_source_spec *spec = &source_of(base)->spec;

	return spec->object_file(spec->object_context, object, out, err);
}

static struct ctx_report_selection describe(struct source *source)
{
	const struct ctx_selection *selection = source->spec.selection;
	const struct ctx_profile *profile = ctx_store_profile(source->spec.store);

	return (struct ctx_report_selection){
		.profile = profile,
		.path = source->spec.path,
		.intervals = selection->intervals,
		.n_intervals = selection->n_intervals,
		.threads = selection->threads,
		.n_threads = selection->n_threads,
		.filter = selection->filter != NULL ? selection->filter : "",
		.options = source->spec.options,
		.metrics = selection->metrics,
		.n_metrics = selection->n_metrics,
		.wait_states = profile->has_states ? ctx_query_wait_states(&source->query) : 0,
	};
}

enum ctx_status ctx_query_source_open(const struct ctx_query_source_spec *spec,
				      struct ctx_report_source **ret, struct ctx_err *err)
{
	struct source *source = ctx_calloc(1, sizeof(*source));

	if (source == NULL)
		return ctx_err_nomem(err);
	source->spec = *spec;
	ctx_query_init(&source->query, spec->store, spec->selection, 0);
	source->reader = ctx_store_code_reader(spec->store);
	source->base = (struct ctx_report_source){
		.selection = describe(source),
		.impl = source,
		.parts = pull_parts,
		.raw_histogram = pull_raw,
		.thread_sums = pull_thread_sums,
		.vm_samples = pull_vm_samples,
		.states = pull_states,
		.wakers = pull_wakers,
		.waits = pull_waits,
		.traced = pull_traced,
		.allocations = pull_allocations,
		.calls = pull_calls,
		.index = pull_index,
		.slices = pull_slices,
		.phases = pull_phases,
		.levels = pull_levels,
		.code = pull_code,
		.samples = pull_samples,
		.mappings = pull_mappings,
		.data_namer = spec->data_namer,
		.object_file = spec->object_file != NULL ? read_object_file : NULL,
	};
	*ret = &source->base;
	return CTX_OK;
}

void ctx_query_source_close(struct ctx_report_source *base)
{
	struct source *source = base != NULL ? source_of(base) : NULL;

	if (source == NULL)
		return;
	for (unsigned i = 0; i < PARTS_QUERIES; i++)
		ctx_query_parts_free(&source->parts[i].own);
	for (struct slices *next; source->slices != NULL; source->slices = next) {
		next = source->slices->next;
		free((struct ctx_report_slice *)(uintptr_t)source->slices->shown.slices);
		free(source->slices);
	}
	for (struct index *next; source->indexes != NULL; source->indexes = next) {
		next = source->indexes->next;
		index_free(source->indexes);
	}
	for (unsigned i = 0; i < CTX_TRACED_N; i++)
		free((struct ctx_traced *)(uintptr_t)source->traced[i].items);
	free((struct ctx_traced *)(uintptr_t)source->allocations.items);
	ctx_phases_deinit(&source->phases[0]);
	ctx_phases_deinit(&source->phases[1]);
	ctx_histogram_deinit(&source->raw);
	ctx_vm_sums_deinit(&source->lives.vm_sums);
	free(source->lives.states);
	free(source->lives.waits);
	free(source->lives.wakers);
	free(source->thread_samples);
	free(source->thread_weight);
	free(source->levels);
	free(source->mappings);
	ctx_query_deinit(&source->query);
	free(source);
}

struct ctx_query_source_cost ctx_query_source_take_cost(struct ctx_report_source *base)
{
	struct source *source = source_of(base);
	struct ctx_query_source_cost cost = {.tree = source->query.cost,
					     .samples_scanned = source->query.samples_scanned,
					     .cpu_ms = source->cpu_ms};

	source->query.cost = (struct ctx_timetree_cost){0};
	source->query.samples_scanned = 0;
	source->cpu_ms = 0;
	return cost;
}
