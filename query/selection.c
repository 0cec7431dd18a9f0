#include "query/selection.h"

#include "model/traced_metrics.h"

#include "base/buf.h"
#include "base/mem.h"
#include "model/mark_spans.h"
#include "model/phase.h"
#include "query/filters.h"
#include "query/metric_choice.h"

#include <stdio.h>
#include <stdlib.h>

static int compare_intervals(const void *left, const void *right)
{
	const struct ctx_interval *a = left, *b = right;

	return a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
}

#define SECOND_NS 1000000000u

/* Overlapping intervals count once: sort, then join. */
static void join_intervals(struct ctx_selection *selection)
{
	size_t n = 0;

	qsort(selection->intervals, selection->n_intervals, sizeof(*selection->intervals), compare_intervals);
	for (size_t i = 0; i < selection->n_intervals; i++) {
		struct ctx_interval *last = n != 0 ? &selection->intervals[n - 1] : NULL;
		struct ctx_interval next = selection->intervals[i];

		if (last != NULL && next.begin_ns <= last->end_ns)
			last->end_ns = next.end_ns > last->end_ns ? next.end_ns : last->end_ns;
		else
			selection->intervals[n++] = next;
	}
	selection->n_intervals = n;
}

static enum ctx_status add_interval(struct ctx_mark_intervals *all, const char *text, struct ctx_interval run,
				    struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&all->items, &all->cap, all->n + 1, err);

	if (status == CTX_OK)
		status = ctx_interval_parse(text, run, &all->items[all->n], err);
	all->n += status == CTX_OK;
	return status;
}

static enum ctx_status add_phases(const struct ctx_selection_spec *spec, size_t interval,
				  struct ctx_mark_intervals *all, struct ctx_err *err)
{
	static const struct ctx_phase_group none;
	struct ctx_interval_list list = {all->items, all->n, all->cap};
	enum ctx_status status = ctx_phase_intervals_find(
		spec->phases != NULL ? spec->phases[interval] : &none, spec->intervals[interval], &list, err);

	*all = (struct ctx_mark_intervals){list.items, list.n, list.cap};
	return status;
}

static enum ctx_status make_intervals(const struct ctx_selection_spec *spec,
				      const struct ctx_profile *profile, struct ctx_selection *selection,
				      struct ctx_err *err)
{
	static const struct ctx_mark_spans no_spans;
	const struct ctx_mark_view none = {.spans = &no_spans, .run = profile->run};
	struct ctx_mark_intervals all = {0};
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < spec->n_intervals && status == CTX_OK; i++)
		status = ctx_mark_text_is(spec->intervals[i])
				 ? ctx_mark_intervals_find(spec->marks != NULL ? spec->marks : &none,
							   spec->intervals[i], &all, err)
			 : ctx_phase_text_is(spec->intervals[i])
				 ? add_phases(spec, i, &all, err)
				 : add_interval(&all, spec->intervals[i], profile->run, err);
	if (status == CTX_OK && spec->n_intervals == 0) {
		status = ctx_grow(&all.items, &all.cap, 1, err);
		if (status == CTX_OK)
			all.items[all.n++] = profile->run;
	}
	if (status == CTX_OK && all.n == 0)
		status = ctx_err_set(err, CTX_E_ARG, "interval '%s' lies behind the end of the run",
				     spec->intervals[0]);
	selection->intervals = all.items;
	selection->n_intervals = all.n;
	if (status == CTX_OK)
		join_intervals(selection);
	return status;
}

static enum ctx_status make_filters(const struct ctx_selection_spec *spec, const struct ctx_profile *profile,
				    struct ctx_selection *selection, struct ctx_err *err)
{
	enum ctx_status status;

	selection->profile = profile;
	if (spec->n_filters + spec->n_tests == 0)
		return CTX_OK;
	status = ctx_filters_bind(spec, profile, &selection->filters, err);
	if (status == CTX_OK)
		selection->n_filters = spec->n_filters + spec->n_tests;
	for (size_t i = 0; i < selection->n_filters; i++)
		selection->asks_operations |=
			ctx_expression_asks_operations(selection->filters[i]) != CTX_EXPRESSION_NAMES_N;
	return status;
}

void ctx_selection_put_filters(const struct ctx_selection_spec *spec, struct ctx_buf *text)
{
	if (spec->cpus != NULL)
		ctx_buf_printf(text, "cpu %s", spec->cpus);
	for (size_t i = 0; i < spec->n_filters; i++)
		ctx_buf_printf(text, "%sfilter %s", text->n != 0 ? " | " : "", spec->filters[i]);
	for (size_t i = 0; i < spec->n_tests; i++)
		ctx_buf_printf(text, "%s%s", text->n != 0 ? " | " : "", spec->tests[i].label);
}

static enum ctx_status describe_filters(const struct ctx_selection_spec *spec,
					struct ctx_selection *selection, struct ctx_err *err)
{
	struct ctx_buf text CTX_AUTO_BUF = {0};

	ctx_selection_put_filters(spec, &text);
	selection->filter =
		text.failed ? NULL : ctx_memdup0(text.n != 0 ? (const void *)text.bytes : "", text.n);
	return selection->filter != NULL ? CTX_OK : ctx_err_nomem(err);
}

enum ctx_status ctx_selection_make(const struct ctx_selection_spec *spec, const struct ctx_profile *profile,
				   struct ctx_selection *ret, struct ctx_err *err)
{
	struct ctx_selection selection = {0};
	enum ctx_status status = make_intervals(spec, profile, &selection, err);

	if (status == CTX_OK)
		status = ctx_thread_list_read(spec, profile, &selection.threads, &selection.n_threads, err);
	if (status == CTX_OK && spec->cpus != NULL)
		status = ctx_cpu_list_read(spec->cpus, profile, &selection.cpus, &selection.n_cpus, err);
	if (status == CTX_OK)
		status = make_filters(spec, profile, &selection, err);
	if (status == CTX_OK)
		status = describe_filters(spec, &selection, err);
	if (status == CTX_OK)
		status = ctx_metric_choice_read(spec, profile, &selection.metrics, &selection.n_metrics, err);
	if (status != CTX_OK) {
		ctx_selection_deinit(&selection);
		return status;
	}
	*ret = selection;
	return CTX_OK;
}

bool ctx_selection_widen(struct ctx_selection *selection, const struct ctx_profile *profile, bool shows_calls)
{
	bool widened = false;

	for (size_t i = 0; i < selection->n_metrics; i++)
		shows_calls |= ctx_metric_has_exact_calls(&profile->metrics[selection->metrics[i]]);
	for (size_t i = 0; i < selection->n_intervals && shows_calls && profile->losses.call_log; i++) {
		struct ctx_interval *interval = &selection->intervals[i];
		struct ctx_interval given = *interval;
		uint64_t over_ns = interval->end_ns % SECOND_NS;

		interval->begin_ns -= interval->begin_ns % SECOND_NS;
		if (over_ns != 0)
			interval->end_ns += SECOND_NS - over_ns;
		if (interval->end_ns > profile->run.end_ns || interval->end_ns < given.end_ns)
			interval->end_ns = profile->run.end_ns;
		widened |= interval->begin_ns != given.begin_ns || interval->end_ns != given.end_ns;
	}
	if (widened)
		join_intervals(selection);
	return widened;
}

void ctx_selection_deinit(struct ctx_selection *selection)
{
	free(selection->intervals);
	free(selection->threads);
	free(selection->cpus);
	for (size_t i = 0; i < selection->n_filters; i++)
		ctx_expression_destroy(selection->filters[i]);
	free(selection->filters);
	free(selection->filter);
	free(selection->metrics);
	*selection = (struct ctx_selection){0};
}

bool ctx_selection_has_cpu(const struct ctx_selection *selection, int32_t cpu)
{
	for (size_t i = 0; i < selection->n_cpus; i++) {
		if (selection->cpus[i].first <= cpu && cpu <= selection->cpus[i].last)
			return true;
	}
	return selection->cpus == NULL;
}

bool ctx_selection_is_filtered(const struct ctx_selection *selection)
{
	return selection->cpus != NULL || selection->n_filters != 0;
}

static bool passes(const struct ctx_selection *selection, const struct ctx_sample *sample,
		   const struct ctx_traced *operation)
{
	struct ctx_expression_subject subject;

	if (selection->n_filters == 0)
		return true;
	ctx_expression_subject_of(selection->profile, sample, &subject);
	if (operation != NULL)
		ctx_expression_subject_add(operation, &subject);
	for (size_t i = 0; i < selection->n_filters; i++) {
		if (!ctx_expression_is_true(selection->filters[i], &subject))
			return false;
	}
	return true;
}

bool ctx_selection_passes_filters(const struct ctx_selection *selection, const struct ctx_sample *sample)
{
	return passes(selection, sample, NULL);
}

bool ctx_selection_passes_until(const struct ctx_selection *selection,
				const struct ctx_expression_subject *subject, uint64_t *last_ns)
{
	uint64_t passes_ns = *last_ns, fails_ns = 0;
	bool passes = true;

	/* Of filters that fail the one that fails longest decides. */
	for (size_t i = 0; i < selection->n_filters; i++) {
		const struct ctx_expression *filter = selection->filters[i];
		uint64_t until_ns = ctx_expression_truth_until(filter, subject, *last_ns);

		if (!ctx_expression_is_true(filter, subject)) {
			passes = false;
			fails_ns = until_ns > fails_ns ? until_ns : fails_ns;
		} else if (until_ns < passes_ns) {
			passes_ns = until_ns;
		}
	}
	*last_ns = passes ? passes_ns : fails_ns;
	return passes;
}

bool ctx_selection_has(const struct ctx_selection *selection, const struct ctx_sample *sample)
{
	return ctx_selection_has_operation(selection, sample, NULL);
}

bool ctx_selection_has_operation(const struct ctx_selection *selection, const struct ctx_sample *sample,
				 const struct ctx_traced *operation)
{
	return ctx_selection_has_cpu(selection, sample->cpu) && passes(selection, sample, operation);
}

/* Whether any operations with metrics are there. */
static bool is_traced(const struct ctx_profile *profile)
{
	uint64_t n = 0;

	for (unsigned kind = 0; kind < CTX_TRACED_N; kind++)
		n += ctx_traced_metrics((enum ctx_traced_kind)kind).n != 0 ? profile->traced[kind] : 0;
	return n != 0;
}

/* The kind of traced operations of a metric or of its parts; CTX_TRACED_N: none. */
static enum ctx_traced_kind kind_of(const struct ctx_profile *profile, uint32_t metric)
{
	const struct ctx_metric_info *info = metric < profile->n_metrics ? &profile->metrics[metric] : NULL;
	enum ctx_traced_kind kind = CTX_TRACED_N;

	if (info != NULL && info->parts != NULL && info->n_parts != 0)
		info = &profile->metrics[info->parts[0]];
	if (info == NULL || !ctx_traced_kind_of_metric(info->word, &kind))
		return CTX_TRACED_N;
	/* Of a recording with the sums alone no operation says more. */
	return is_traced(profile) ? kind : CTX_TRACED_N;
}

static bool is_of_kinds(const struct ctx_profile *profile, uint32_t metric, unsigned kinds)
{
	enum ctx_traced_kind kind = kind_of(profile, metric);

	return kind != CTX_TRACED_N && (kinds & 1u << kind) != 0;
}

enum ctx_status ctx_selection_check_asked(const struct ctx_selection *selection,
					  const struct ctx_profile *profile, const char *option,
					  const struct ctx_expression *expression, struct ctx_err *err)
{
	enum ctx_expression_name name = ctx_expression_asks_operations(expression);
	unsigned kinds;
	char words[CTX_ERR_MAX / 2] = "";
	size_t used = 0;

	if (name == CTX_EXPRESSION_NAMES_N)
		return CTX_OK;
	kinds = ctx_expression_kinds(name);
	for (size_t i = 0; i < selection->n_metrics; i++) {
		if (is_of_kinds(profile, selection->metrics[i], kinds))
			return CTX_OK;
	}
	for (uint32_t i = 0; i < profile->n_metrics && used < sizeof(words); i++) {
		if (is_of_kinds(profile, i, kinds))
			used += (size_t)snprintf(words + used, sizeof(words) - used, "%s%s",
						 used == 0 ? "" : ", ", profile->metrics[i].word);
	}
	if (used == 0)
		return ctx_err_set(err, CTX_E_ARG, "%s asks for %s, but no such operations were recorded",
				   option, ctx_expression_name(name));
	return ctx_err_set(err, CTX_E_ARG, "%s asks for %s, which samples of '%s' do not have (--metric %s)",
			   option, ctx_expression_name(name), profile->metrics[selection->metrics[0]].name,
			   words);
}

struct ctx_interval ctx_selection_hull(const struct ctx_selection *selection)
{
	if (selection->n_intervals == 0)
		return (struct ctx_interval){0};
	return (struct ctx_interval){selection->intervals[0].begin_ns,
				     selection->intervals[selection->n_intervals - 1].end_ns};
}

enum ctx_status ctx_selection_mark_threads(const struct ctx_selection *selection,
					   const struct ctx_profile *profile, bool **ret, struct ctx_err *err)
{
	bool *selected;

	*ret = NULL;
	if (selection->threads == NULL)
		return CTX_OK;
	selected = ctx_calloc(profile->n_threads, sizeof(*selected));
	if (selected == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < selection->n_threads; i++)
		selected[selection->threads[i]] = true;
	*ret = selected;
	return CTX_OK;
}

uint32_t ctx_selection_thread(const struct ctx_selection *selection, size_t n)
{
	return selection->threads != NULL ? selection->threads[n] : (uint32_t)n;
}

size_t ctx_selection_n_threads(const struct ctx_selection *selection, const struct ctx_profile *profile)
{
	return selection->threads != NULL ? selection->n_threads : profile->n_threads;
}
