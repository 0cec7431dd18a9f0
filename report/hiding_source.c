#include "report/hiding_source.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "report/fold.h"
#include "report/hidden_calls.h"
#include "report/viewed_stacks.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL_OBJECT 1u /* region of the kernel's functions */

struct answer {
	struct ctx_parts_query query;
	struct ctx_report_parts parts;
	struct ctx_report_part *items;
	struct ctx_histogram *histograms;
	size_t n_histograms;
};

struct sliced_list {
	struct sliced {
		struct ctx_report_slices given; /* the inner source's */
		struct ctx_report_slice *items; /* owned */
	} * answers;				/* owned */
	size_t n, cap;
};

struct source {
	struct ctx_report_source base; /* first: the public part */
	struct ctx_report_source *inner;
	struct ctx_viewed viewed;
	const struct ctx_profile *profile; /* the inner source's, or in the view */
	struct ctx_fold fold;
	bool *hidden;	   /* by function */
	uint32_t *regions; /* by function */
	bool folds_kernel;
	/* Raw stacks, once they were asked for. */
	struct ctx_restack raw;
	struct ctx_restack_rule *raw_rules; /* by location */
	uint32_t *raw_to_stack;
	struct ctx_code code;
	bool has_raw;
	struct ctx_histogram raw_histogram;
	bool has_raw_histogram;
	/* Of indexes. */
	struct ctx_index_stacks index_stacks;
	uint32_t *stack_of;  /* by CCT node of the recording */
	uint32_t *common_of; /* the same: what is common to all below it */
	uint32_t *raw_of;    /* by raw stack of the recording, once raw stacks were asked for */
	uint32_t n_raw_of;
	struct answer *answers; /* of `parts`: each is kept until the source is closed */
	size_t n_answers, answers_cap;
	struct ctx_phases
		phases; /* of what is selected; groups and histograms are owned, all else is the inner source's */
	bool has_phases;
	/* Answers of `slices`: the same. */
	struct sliced_list sliced;
};

bool ctx_hiding_has_patterns(const struct ctx_hiding *hiding)
{
	return hiding->n_hide != 0 || hiding->show != NULL || hiding->objects != NULL;
}

static bool has_view(const struct source *source)
{
	return source->viewed.rules.changes;
}

/* ---- what is hidden ---- */

static const char *object_of(const struct ctx_profile *profile, uint32_t function)
{
	uint32_t object = profile->functions[function].object;

	return object < profile->n_objects ? profile->objects[object].path : "";
}

/* Sets hidden[i] of the functions for which matching is `matching`. */
static enum ctx_status hide(struct source *source, const char *pattern, bool matching, struct ctx_err *err)
{
	const struct ctx_profile *profile = source->profile;
	regex_t regex;

	if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0)
		return ctx_err_set(err, CTX_E_ARG, "'%.200s' is not a regular expression", pattern);
	for (uint32_t i = 0; i < profile->n_functions; i++) {
		bool matches = regexec(&regex, profile->functions[i].name, 0, NULL, 0) == 0 ||
			       regexec(&regex, profile->functions[i].linkage_name, 0, NULL, 0) == 0 ||
			       regexec(&regex, ctx_path_base(object_of(profile, i)), 0, NULL, 0) == 0;

		source->hidden[i] |= matches == matching;
	}
	regfree(&regex);
	return CTX_OK;
}

/* libc: libc.so.6, libc-2.36.so, and not libcrypto.so */
static bool is_called(const char *path, const char *name, size_t n)
{
	const char *base = ctx_path_base(path);

	if (n == 6 && strncmp(name, "kernel", n) == 0)
		return *path != '\0' && ctx_object_is_kernel(path);
	return strncmp(base, name, n) == 0 && (base[n] == '\0' || base[n] == '.' || base[n] == '-');
}

static void find_regions(struct source *source, const char *objects)
{
	const struct ctx_profile *profile = source->profile;

	for (uint32_t number = KERNEL_OBJECT; objects != NULL && *objects != '\0'; number++) {
		size_t n = strcspn(objects, ",");

		for (uint32_t i = 0; i < profile->n_functions; i++) {
			if (n != 0 && is_called(object_of(profile, i), objects, n))
				source->regions[i] = number;
		}
		source->folds_kernel |= n == 6 && strncmp(objects, "kernel", n) == 0;
		objects += n + (objects[n] == ',');
	}
}

static enum ctx_status find_hidden(struct source *source, const struct ctx_hiding *hiding,
				   struct ctx_err *err)
{
	size_t n = (size_t)source->profile->n_functions + 1;
	enum ctx_status status = CTX_OK;

	source->hidden = ctx_calloc(n, sizeof(*source->hidden));
	source->regions = ctx_calloc(n, sizeof(*source->regions));
	if (source->hidden == NULL || source->regions == NULL)
		return ctx_err_nomem(err);
	for (unsigned i = 0; i < hiding->n_hide && status == CTX_OK; i++)
		status = hide(source, hiding->hide[i], true, err);
	if (status == CTX_OK && hiding->show != NULL)
		status = hide(source, hiding->show, false, err);
	find_regions(source, hiding->objects);
	return status;
}

/* ---- histograms ---- */

static void answer_deinit(struct answer *answer)
{
	for (size_t i = 0; i < answer->n_histograms; i++)
		ctx_histogram_deinit(&answer->histograms[i]);
	free(answer->histograms);
	free(answer->items);
	*answer = (struct answer){0};
}

/* Adds an entry's weight to its stack; where calls went on from it, they went on from what is common below. */
static enum ctx_status map_histogram(const struct source *source, const struct ctx_histogram *from,
				     struct ctx_histogram *to, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < from->n && status == CTX_OK; i++) {
		struct ctx_hist_entry entry = from->entries[i];
		struct ctx_hist_entry kept = {.stack = source->common_of[entry.stack], .calls = entry.calls};

		entry.stack = source->stack_of[entry.stack];
		if (entry.calls < 0 && kept.stack != entry.stack) {
			entry.calls = 0;
			status = ctx_histogram_add(to, kept, err);
		}
		if (status == CTX_OK && (entry.samples != 0 || entry.weight != 0 || entry.calls != 0))
			status = ctx_histogram_add(to, entry, err);
	}
	return status;
}

static enum ctx_status make_answer(struct source *source, const struct ctx_report_parts *given,
				   struct answer *answer, struct ctx_err *err)
{
	size_t n_metrics = given->n_metrics;
	enum ctx_status status = CTX_OK;

	answer->parts = *given;
	answer->items = ctx_calloc(given->n, sizeof(*answer->items));
	answer->histograms = ctx_calloc(given->n, n_metrics * sizeof(*answer->histograms));
	if (answer->items == NULL || answer->histograms == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < given->n * n_metrics && status == CTX_OK; i++)
		status = map_histogram(source, &given->parts[i / n_metrics].histograms[i % n_metrics],
				       &answer->histograms[answer->n_histograms++], err);
	for (size_t i = 0; i < given->n; i++) {
		answer->items[i] = given->parts[i];
		answer->items[i].histograms = &answer->histograms[i * n_metrics];
	}
	answer->parts.parts = answer->items;
	return status;
}

static bool is_same_query(const struct ctx_parts_query *a, const struct ctx_parts_query *b)
{
	return a->per_thread == b->per_thread && a->calls == b->calls && a->every_metric == b->every_metric;
}

static enum ctx_status parts(struct ctx_report_source *base, const struct ctx_parts_query *query,
			     struct ctx_report_parts *ret, struct ctx_err *err)
{
	struct source *source = (struct source *)base;
	struct answer answer = {.query = *query};
	struct ctx_report_parts given;
	enum ctx_status status;

	for (size_t i = 0; i < source->n_answers; i++) {
		if (is_same_query(&source->answers[i].query, query)) {
			*ret = source->answers[i].parts;
			return CTX_OK;
		}
	}
	status = source->inner->parts(source->inner, query, &given, err);
	if (status == CTX_OK)
		status = ctx_grow(&source->answers, &source->answers_cap, source->n_answers + 1, err);
	if (status != CTX_OK)
		return status;
	status = make_answer(source, &given, &answer, err);
	if (status != CTX_OK) {
		answer_deinit(&answer);
		return status;
	}
	source->answers[source->n_answers++] = answer;
	*ret = answer.parts;
	return CTX_OK;
}

/* ---- raw stacks ---- */

/* Whether no function of a location is shown: inlined ones are functions too. */
static bool is_hidden(const struct source *source, const struct ctx_code *code,
		      const struct ctx_location *location)
{
	uint32_t n = source->profile->n_functions;

	if (location->joins || location->function >= n || !source->hidden[location->function])
		return false;
	for (uint32_t site = location->site; site != CTX_NONE; site = code->sites[site].caller) {
		if (code->sites[site].function < n && !source->hidden[code->sites[site].function])
			return false;
	}
	return true;
}

static enum ctx_status begin_raw(struct source *source, const struct ctx_code *code, struct ctx_err *err)
{
	struct ctx_restack_rules rules = {.keep = true};
	uint32_t n_functions = source->profile->n_functions;

	source->raw_rules = ctx_calloc(code->n_locations + 1, sizeof(*source->raw_rules));
	if (source->raw_rules == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < code->n_locations; i++) {
		uint32_t function = code->locations[i].function;

		source->raw_rules[i] = (struct ctx_restack_rule){
			.key = i,
			.region = function < n_functions ? source->regions[function] : 0,
			.refines = true,
			.hidden = is_hidden(source, code, &code->locations[i])};
		source->raw_rules[i].inner = source->folds_kernel && function < n_functions &&
					     is_called(object_of(source->profile, function), "kernel", 6);
	}
	rules.of_key = source->raw_rules;
	return ctx_restack_init(&source->raw, code->raw_stacks, &rules, err);
}

/* Every old raw stack, so that the new ones are known before anything borrows them. */
static enum ctx_status map_raw(struct source *source, const struct ctx_code *code, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (uint32_t i = 0, node; i < code->raw_stacks->n && status == CTX_OK; i++)
		status = ctx_restack_find(&source->raw, i, &node, err);
	if (status != CTX_OK)
		return status;
	source->raw_to_stack = ctx_calloc(source->raw.to.n, sizeof(*source->raw_to_stack));
	if (source->raw_to_stack == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0, node; i < code->raw_stacks->n && status == CTX_OK; i++) {
		source->raw_to_stack[i] = code->raw_to_stack[i];
		status = ctx_restack_find(&source->raw, i, &node, err);
		if (status == CTX_OK && node >= code->raw_stacks->n)
			status = ctx_fold_find(&source->fold, code->raw_to_stack[i],
					       &source->raw_to_stack[node], err);
	}
	return status;
}

/* By raw stack of the recording: its node at the end. */
static enum ctx_status find_raw(struct source *source, const struct ctx_code *code, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	source->n_raw_of = code->raw_stacks->n;
	source->raw_of = ctx_calloc(source->n_raw_of, sizeof(*source->raw_of));
	if (source->raw_of == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < source->n_raw_of && status == CTX_OK; i++)
		status =
			ctx_restack_find(&source->raw, has_view(source) ? source->viewed.raw_stacks.of[i] : i,
					 &source->raw_of[i], err);
	return status;
}

static enum ctx_status need_raw(struct source *source, struct ctx_err *err)
{
	struct ctx_report_code given;
	const struct ctx_code *code;
	enum ctx_status status;

	if (source->has_raw)
		return CTX_OK;
	status = source->inner->code(source->inner, &given, err);
	if (status == CTX_OK && has_view(source) && source->viewed.locations == NULL)
		status = ctx_viewed_code(&source->viewed, given.code, err);
	if (status != CTX_OK)
		return status;
	code = has_view(source) ? &source->viewed.code : given.code;
	status = begin_raw(source, code, err);
	if (status == CTX_OK)
		status = map_raw(source, code, err);
	if (status == CTX_OK)
		status = find_raw(source, given.code, err);
	if (status != CTX_OK) {
		ctx_restack_deinit(&source->raw);
		free(source->raw_rules);
		free(source->raw_to_stack);
		free(source->raw_of);
		source->raw_rules = NULL;
		source->raw_to_stack = NULL;
		source->raw_of = NULL;
		return status;
	}
	source->code = *code;
	source->code.raw_stacks = &source->raw.to;
	source->code.raw_to_stack = source->raw_to_stack;
	source->has_raw = true;
	return CTX_OK;
}

static enum ctx_status raw_histogram(struct ctx_report_source *base, const struct ctx_histogram **ret,
				     struct ctx_err *err)
{
	struct source *source = (struct source *)base;
	const struct ctx_histogram *given;
	enum ctx_status status = need_raw(source, err);

	if (status == CTX_OK && !source->has_raw_histogram) {
		status = source->inner->raw_histogram(source->inner, &given, err);
		for (size_t i = 0; status == CTX_OK && i < given->n; i++) {
			struct ctx_hist_entry entry = given->entries[i];

			entry.stack = source->raw_of[entry.stack];
			status = ctx_histogram_add(&source->raw_histogram, entry, err);
		}
		source->has_raw_histogram = status == CTX_OK;
	}
	if (status == CTX_OK)
		*ret = &source->raw_histogram;
	return status;
}

static enum ctx_status code(struct ctx_report_source *base, struct ctx_report_code *ret, struct ctx_err *err)
{
	struct source *source = (struct source *)base;
	enum ctx_status status = need_raw(source, err);

	if (status == CTX_OK)
		status = source->inner->code(source->inner, ret, err);
	if (status == CTX_OK)
		ret->code = &source->code;
	return status;
}

/* ---- fleets ---- */

static enum ctx_status fleet_groups(struct ctx_report_source *base, const char *key,
				    const struct ctx_report_fleet_group **ret, size_t *ret_n,
				    struct ctx_err *err)
{
	struct source *source = (struct source *)base;

	return source->inner->fleet_groups(source->inner, key, ret, ret_n, err);
}

/* ---- indexes ---- */

/* Raw stacks and the nodes that they became: those of the recording keep their numbers. */
static enum ctx_status raw_of_index(void *context, struct ctx_index_raw *ret, struct ctx_err *err)
{
	struct source *source = context;
	enum ctx_status status = need_raw(source, err);

	if (status == CTX_OK)
		*ret = (struct ctx_index_raw){
			.code = &source->code, .raw_of = source->raw_of, .n = source->n_raw_of};
	return status;
}

static enum ctx_status sums_by_index(struct ctx_report_source *base, const char *by,
				     const struct ctx_index_stacks *stacks, struct ctx_report_index *ret,
				     struct ctx_err *err)
{
	struct source *source = (struct source *)base;

	(void)stacks;
	return source->inner->index(source->inner, by, &source->index_stacks, ret, err);
}

/* ---- samples ---- */

struct each {
	struct source *source;
	ctx_report_sample_fn put;
	void *context;
};

static enum ctx_status put_sample(void *context, const struct ctx_sample *given, struct ctx_err *err)
{
	const struct each *each = context;
	struct source *source = each->source;
	const struct ctx_trie *cct = &source->inner->selection.profile->cct;
	const struct ctx_trie *shown = &source->fold.profile.cct;
	struct ctx_sample sample = *given;
	uint32_t kept = cct->depth[given->stack] > given->kept_depth
				? ctx_trie_ancestor(cct, given->stack, given->kept_depth)
				: given->stack;

	sample.stack = source->stack_of[given->stack];
	sample.kept_stack = source->stack_of[kept];
	if (has_view(source))
		sample.kept_stack = ctx_trie_common_ancestor(shown, sample.kept_stack, sample.stack);
	if (source->has_raw)
		sample.raw_stack = source->raw_of[given->raw_stack];
	sample.kept_depth = shown->depth[sample.kept_stack];
	return each->put(each->context, &sample, err);
}

static enum ctx_status samples(struct ctx_report_source *base, const struct ctx_samples_query *query,
			       ctx_report_sample_fn put, void *context, struct ctx_err *err)
{
	struct each each = {.source = (struct source *)base, .put = put, .context = context};

	return each.source->inner->samples(each.source->inner, query, put_sample, &each, err);
}

/* ---- what stays as it is ---- */

#define INNER(base) (((struct source *)(base))->inner)

static enum ctx_status thread_sums(struct ctx_report_source *base, struct ctx_report_thread_sums *ret,
				   struct ctx_err *err)
{
	return INNER(base)->thread_sums(INNER(base), ret, err);
}

static enum ctx_status vm_samples(struct ctx_report_source *base, struct ctx_report_vm_samples *ret,
				  struct ctx_err *err)
{
	return INNER(base)->vm_samples(INNER(base), ret, err);
}

static enum ctx_status states(struct ctx_report_source *base, const struct ctx_report_states **ret,
			      size_t *ret_n, struct ctx_err *err)
{
	return INNER(base)->states(INNER(base), ret, ret_n, err);
}

static enum ctx_status wakers(struct ctx_report_source *base, const struct ctx_report_wakers **ret,
			      size_t *ret_n, struct ctx_err *err)
{
	return INNER(base)->wakers(INNER(base), ret, ret_n, err);
}

static enum ctx_status waits(struct ctx_report_source *base, const struct ctx_report_waits **ret,
			     size_t *ret_n, struct ctx_err *err)
{
	return INNER(base)->waits(INNER(base), ret, ret_n, err);
}

static enum ctx_status traced(struct ctx_report_source *base, enum ctx_traced_kind kind,
			      struct ctx_report_traced *ret, struct ctx_err *err)
{
	return INNER(base)->traced(INNER(base), kind, ret, err);
}

static enum ctx_status allocations(struct ctx_report_source *base, struct ctx_report_traced *ret,
				   struct ctx_err *err)
{
	return INNER(base)->allocations(INNER(base), ret, err);
}

/* Their histograms are by other stacks; what they are made of stays. */
static enum ctx_status map_phases(struct source *source, const struct ctx_phases *given, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	source->phases = *given;
	source->phases.groups = ctx_calloc(given->n_groups, sizeof(*source->phases.groups));
	if (source->phases.groups == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < given->n_groups && status == CTX_OK; i++) {
		const struct ctx_phase_group *from = &given->groups[i];
		struct ctx_phase_group *to = &source->phases.groups[i];

		*to = *from;
		to->phases = ctx_calloc(from->n + 1, sizeof(*to->phases));
		if (to->phases == NULL)
			return ctx_err_nomem(err);
		for (size_t j = 0; j < from->n && status == CTX_OK; j++) {
			to->phases[j] = from->phases[j];
			to->phases[j].histogram = (struct ctx_histogram){0};
			status = map_histogram(source, &from->phases[j].histogram, &to->phases[j].histogram,
					       err);
		}
	}
	return status;
}

static void phases_deinit(struct ctx_phases *phases)
{
	for (size_t i = 0; phases->groups != NULL && i < phases->n_groups; i++) {
		struct ctx_phase_group *group = &phases->groups[i];

		for (size_t j = 0; group->phases != NULL && j < group->n; j++)
			ctx_histogram_deinit(&group->phases[j].histogram);
		free(group->phases);
	}
	free(phases->groups);
	*phases = (struct ctx_phases){0};
}

static enum ctx_status phases(struct ctx_report_source *base, bool of_run, const struct ctx_phases **ret,
			      struct ctx_err *err)
{
	struct source *source = (struct source *)base;
	const struct ctx_phases *given;
	enum ctx_status status = INNER(base)->phases(INNER(base), of_run, &given, err);

	if (status != CTX_OK || of_run) {
		if (status == CTX_OK)
			*ret = given;
		return status;
	}
	if (!source->has_phases) {
		status = map_phases(source, given, err);
		if (status != CTX_OK) {
			phases_deinit(&source->phases);
			return status;
		}
		source->has_phases = true;
	}
	*ret = &source->phases;
	return CTX_OK;
}

static enum ctx_status calls(struct ctx_report_source *base, uint64_t from_ns, ctx_report_call_fn each,
			     void *context, struct ctx_err *err)
{
	struct source *source = (struct source *)base;
	struct ctx_hidden_calls shown = {.cct = &source->inner->selection.profile->cct,
					 .stack_of = source->stack_of,
					 .sums = source->inner->selection.profile->losses.call_log,
					 .each = each,
					 .context = context};
	enum ctx_status status = INNER(base)->calls(INNER(base), from_ns, ctx_hidden_calls_pass, &shown, err);

	ctx_hidden_calls_deinit(&shown);
	return status;
}

static enum ctx_status add_sliced(struct source *source, const struct ctx_report_slices *given,
				  struct ctx_err *err)
{
	struct ctx_report_slice *items = ctx_calloc(given->n, sizeof(*items));
	enum ctx_status status = items != NULL ? ctx_grow(&source->sliced.answers, &source->sliced.cap,
							  source->sliced.n + 1, err)
					       : ctx_err_nomem(err);

	if (status != CTX_OK) {
		free(items);
		return status;
	}
	for (size_t i = 0; i < given->n; i++) {
		items[i] = given->slices[i];
		items[i].call = source->stack_of[given->slices[i].call];
		/* A caller that is open for as long. */
		if (items[i].call != given->slices[i].call)
			items[i].entered = 0;
	}
	source->sliced.answers[source->sliced.n++] = (struct sliced){*given, items};
	return CTX_OK;
}

/* Functions stay as they are; what a thread was in is what is left of it. */
static enum ctx_status slices(struct ctx_report_source *base, size_t per_thread, size_t max_threads,
			      struct ctx_report_slices *ret, struct ctx_err *err)
{
	struct source *source = (struct source *)base;
	struct ctx_report_slices given;
	enum ctx_status status = INNER(base)->slices(INNER(base), per_thread, max_threads, &given, err);
	size_t i = 0;

	if (status != CTX_OK)
		return status;
	while (i < source->sliced.n && source->sliced.answers[i].given.slices != given.slices)
		i++;
	if (i == source->sliced.n)
		status = add_sliced(source, &given, err);
	if (status != CTX_OK)
		return status;
	*ret = given;
	ret->slices = source->sliced.answers[i].items;
	return CTX_OK;
}

static enum ctx_status levels(struct ctx_report_source *base, const struct ctx_report_level **ret,
			      size_t *ret_n, struct ctx_err *err)
{
	return INNER(base)->levels(INNER(base), ret, ret_n, err);
}

static enum ctx_status mappings(struct ctx_report_source *base, const struct ctx_mapping_info **ret,
				size_t *ret_n, struct ctx_err *err)
{
	return INNER(base)->mappings(INNER(base), ret, ret_n, err);
}

static enum ctx_status object_file(struct ctx_report_source *base, uint32_t object, struct ctx_buf *out,
				   struct ctx_err *err)
{
	return INNER(base)->object_file(INNER(base), object, out, err);
}

/* ---- opening and closing ---- */

/* Every stack of the CCT is folded at once, so that the profile does not change afterwards. */
static enum ctx_status fold_all(struct source *source, struct ctx_err *err)
{
	const struct ctx_profile *profile = source->profile;
	uint32_t n = source->inner->selection.profile->cct.n;
	const struct ctx_fold_options options = {.kernel = source->folds_kernel,
						 .hidden = source->hidden,
						 .regions = source->regions,
						 .keep = true};
	enum ctx_status status = ctx_fold_init(&source->fold, profile, &options, err);

	source->stack_of = ctx_calloc(n, sizeof(*source->stack_of));
	source->common_of = ctx_calloc(n, sizeof(*source->common_of));
	if (status == CTX_OK && (source->stack_of == NULL || source->common_of == NULL))
		status = ctx_err_nomem(err);
	for (uint32_t i = 0; i < profile->cct.n && status == CTX_OK; i++) {
		uint32_t node;

		status = ctx_fold_find(&source->fold, i, &node, err);
	}
	for (uint32_t i = 0; i < n && status == CTX_OK; i++) {
		status = ctx_fold_find(&source->fold, has_view(source) ? source->viewed.stacks.of[i] : i,
				       &source->stack_of[i], err);
		if (status == CTX_OK)
			status = ctx_fold_find(&source->fold,
					       has_view(source) ? source->viewed.stacks.common[i] : i,
					       &source->common_of[i], err);
	}
	source->index_stacks = (struct ctx_index_stacks){.profile = &source->fold.profile,
							 .stack_of = source->stack_of,
							 .n = n,
							 .raw = raw_of_index,
							 .context = source};
	return status;
}

/* Sets the profile, in the view if there is one. */
static enum ctx_status find_view(struct source *source, enum ctx_view asked, struct ctx_err *err)
{
	const struct ctx_profile *given = source->inner->selection.profile;
	enum ctx_status status = ctx_viewed_make(&source->viewed, given, ctx_view_of(given, asked), err);

	source->profile = has_view(source) ? &source->viewed.profile : given;
	return status;
}

enum ctx_status ctx_hiding_source_open(struct ctx_report_source *inner, const struct ctx_hiding *hiding,
				       struct ctx_report_source **ret, struct ctx_err *err)
{
	struct source *source = ctx_calloc(1, sizeof(*source));
	enum ctx_status status;

	if (source == NULL)
		return ctx_err_nomem(err);
	source->inner = inner;
	status = find_view(source, hiding->view, err);
	if (status != CTX_OK || (!has_view(source) && !ctx_hiding_has_patterns(hiding))) {
		ctx_hiding_source_close(&source->base);
		*ret = inner;
		return status;
	}
	source->base =
		(struct ctx_report_source){.selection = inner->selection,
					   .parts = parts,
					   .raw_histogram = raw_histogram,
					   .thread_sums = thread_sums,
					   .vm_samples = vm_samples,
					   .states = states,
					   .wakers = wakers,
					   .waits = waits,
					   .traced = traced,
					   .allocations = allocations,
					   .calls = calls,
					   .index = sums_by_index,
					   .fleet_groups = inner->fleet_groups != NULL ? fleet_groups : NULL,
					   .slices = slices,
					   .phases = phases,
					   .levels = levels,
					   .code = code,
					   .samples = samples,
					   .mappings = mappings,
					   .object_file = object_file,
					   .data_namer = inner->data_namer};
	status = find_hidden(source, hiding, err);
	if (status == CTX_OK)
		status = fold_all(source, err);
	if (status != CTX_OK) {
		ctx_hiding_source_close(&source->base);
		return status;
	}
	source->base.selection.profile = &source->fold.profile;
	inner->shown = &source->index_stacks;
	*ret = &source->base;
	return CTX_OK;
}

void ctx_hiding_source_close(struct ctx_report_source *base)
{
	struct source *source = (struct source *)base;

	if (source == NULL)
		return;
	source->inner->shown = NULL;
	for (size_t i = 0; i < source->n_answers; i++)
		answer_deinit(&source->answers[i]);
	free(source->answers);
	phases_deinit(&source->phases);
	for (size_t i = 0; i < source->sliced.n; i++)
		free(source->sliced.answers[i].items);
	free(source->sliced.answers);
	ctx_histogram_deinit(&source->raw_histogram);
	ctx_restack_deinit(&source->raw);
	free(source->raw_rules);
	free(source->raw_to_stack);
	ctx_fold_deinit(&source->fold);
	free(source->stack_of);
	free(source->common_of);
	free(source->raw_of);
	ctx_viewed_deinit(&source->viewed);
	free(source->hidden);
	free(source->regions);
	free(source);
}
