#include "report/head.h"

#include "base/utc.h"
#include "report/loss_notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A selection without samples below this part of the run may be a mistake of units. */
#define SHORT_SELECTION 100u

static bool is_truncated_root(const struct ctx_profile *profile, uint32_t node)
{
	uint32_t function = profile->cct.key[node];

	return profile->cct.parent[node] == CTX_TRIE_ROOT && function < profile->n_functions &&
	       profile->functions[function].kind == CTX_FUNCTION_TRUNCATED;
}

bool ctx_head_has_truncated(const struct ctx_profile *profile)
{
	for (uint32_t i = 1; i < profile->cct.n; i++) {
		if (is_truncated_root(profile, i))
			return true;
	}
	return false;
}

uint32_t ctx_head_truncated_function(const struct ctx_profile *profile, uint32_t stack)
{
	if (stack >= profile->cct.n || stack == CTX_TRIE_ROOT)
		return CTX_NONE;
	stack = ctx_trie_ancestor(&profile->cct, stack, 1);
	return is_truncated_root(profile, stack) ? profile->cct.key[stack] : CTX_NONE;
}

/*
 * Samples of stacks that begin at <Truncated-stack>. O(nodes of the CCT), plus O(entries * depth)
 * if there are such stacks.
 */
static uint64_t count_truncated(const struct ctx_profile *profile, const struct ctx_histogram *histogram)
{
	bool any = ctx_head_has_truncated(profile);
	uint64_t truncated = 0;

	for (size_t i = 0; any && i < histogram->n; i++) {
		if (ctx_head_truncated_function(profile, histogram->entries[i].stack) != CTX_NONE)
			truncated += histogram->entries[i].samples;
	}
	return truncated;
}

struct ctx_totals ctx_totals_of_parts(const struct ctx_profile *profile, const struct ctx_report_parts *parts)
{
	struct ctx_totals totals = {.samples = parts->omitted.samples, .weight = parts->omitted.weight};

	for (size_t i = 0; i < parts->n; i++) {
		totals.samples += parts->parts[i].histograms->samples;
		totals.weight += parts->parts[i].histograms->weight;
		totals.truncated += count_truncated(profile, parts->parts[i].histograms);
	}
	return totals;
}

struct ctx_totals ctx_totals_of_raw(const struct ctx_profile *profile, const struct ctx_code *code,
				    const struct ctx_histogram *raw)
{
	struct ctx_totals totals = {.samples = raw->samples, .weight = raw->weight};
	bool any = ctx_head_has_truncated(profile);

	for (size_t i = 0; any && i < raw->n; i++) {
		const struct ctx_hist_entry *entry = &raw->entries[i];

		if (entry->stack < code->raw_stacks->n &&
		    ctx_head_truncated_function(profile, code->raw_to_stack[entry->stack]) != CTX_NONE)
			totals.truncated += entry->samples;
	}
	return totals;
}

struct ctx_totals ctx_totals_of_run(const struct ctx_report_selection *selection)
{
	struct ctx_metric_info metric = ctx_head_metric_of(selection->profile, selection->metrics[0]);

	return (struct ctx_totals){.samples = metric.samples, .weight = metric.weight};
}

struct ctx_totals ctx_totals_of_threads(const struct ctx_report_selection *selection,
					const struct ctx_report_thread_sums *sums)
{
	struct ctx_totals totals = {.samples = sums->omitted.samples, .weight = sums->omitted.weight};

	if (sums->samples == NULL || sums->weight == NULL)
		return ctx_totals_of_run(selection);
	for (uint32_t i = 0; i < selection->profile->n_threads; i++) {
		totals.samples += sums->samples[i];
		totals.weight += sums->weight[i];
	}
	return totals;
}

bool ctx_head_is_whole_run(const struct ctx_report_selection *selection)
{
	return selection->threads == NULL && *selection->filter == '\0' &&
	       (selection->n_intervals == 0 ||
		(selection->n_intervals == 1 &&
		 ctx_interval_contains(selection->intervals[0], selection->profile->run)));
}

void ctx_head_make_whole(struct ctx_head *head, const char *note)
{
	struct ctx_report_selection *selection = &head->selection;

	head->note = ctx_head_is_whole_run(selection) ? NULL : note;
	selection->intervals = &selection->profile->run;
	selection->n_intervals = 1;
	selection->threads = NULL;
	selection->n_threads = 0;
	selection->filter = "";
	head->totals = ctx_totals_of_run(selection);
	head->omitted = (struct ctx_report_omitted){0};
}

struct ctx_head ctx_head_of_parts(const struct ctx_report_selection *selection,
				  const struct ctx_report_parts *parts)
{
	struct ctx_head head = {.selection = *selection,
				.totals = ctx_totals_of_parts(selection->profile, parts),
				.omitted = parts->omitted};

	ctx_head_scale(&head);
	return head;
}

void ctx_head_scale(struct ctx_head *head)
{
	head->scale = ctx_scale_for(ctx_head_metric(head).unit, head->totals.weight);
}

struct ctx_metric_info ctx_head_metric_of(const struct ctx_profile *profile, uint32_t metric)
{
	if (metric >= profile->n_metrics)
		return (struct ctx_metric_info){.name = "", .unit = CTX_UNIT_EVENTS};
	return profile->metrics[metric];
}

struct ctx_metric_info ctx_head_metric(const struct ctx_head *head)
{
	if (head->topic != NULL)
		return head->topic->metric;
	return ctx_head_metric_of(head->selection.profile, head->selection.metrics[0]);
}

/* Whether its samples are measured spans: a small number of them is exact too. */
static bool is_measured(const struct ctx_metric_info *metric)
{
	return ctx_metric_is_clipped(metric) || (metric->parts != NULL && !ctx_metric_is_count(metric));
}

/* Whether its samples are traced operations, of which all were recorded. */
static bool is_traced(const struct ctx_profile *profile, const struct ctx_metric_info *metric)
{
	enum ctx_traced_kind kind;

	if (ctx_metric_is_count(metric) && metric->n_parts != 0 && metric->parts[0] < profile->n_metrics)
		metric = &profile->metrics[metric->parts[0]];
	return ctx_traced_kind_of_metric(metric->word, &kind) && profile->traced[kind] != 0;
}

int64_t ctx_head_tid(const struct ctx_profile *profile, uint32_t thread)
{
	return thread < profile->n_threads ? profile->threads[thread].tid : -1;
}

/* "; what threads did is unknown for 1.2 % of their time"; "" where all is known. */
static const char *unknown_share(const struct ctx_profile *profile, char *text, size_t size)
{
	uint64_t whole = 0, unknown = 0;
	char percent[CTX_FIGURE_MAX];

	text[0] = '\0';
	for (unsigned state = 0; state < CTX_STATE_N && profile->has_states; state++)
		whole += profile->metrics[profile->states + state].weight;
	if (whole != 0)
		unknown = profile->metrics[profile->states + CTX_STATE_UNKNOWN].weight;
	if (unknown == 0)
		return text;
	ctx_figure_percent(percent, unknown, whole, 1);
	snprintf(text, size, "; what threads did is unknown for %s %% of their time", percent);
	return text;
}

static void warn_losses(const struct ctx_report_selection *selection,
			void (*put)(void *context, const char *text), void *context)
{
	const struct ctx_profile *profile = selection->profile;
	struct ctx_buf lost = {0};
	char text[240], share[120];

	if (!profile->closed)
		put(context, "the run was not closed: the recorder was killed or is still running");
	ctx_loss_notes_put(selection, &lost);
	if (lost.n != 0) {
		if (ctx_loss_notes_of_run(selection))
			ctx_buf_put_text(&lost, unknown_share(profile, share, sizeof(share)));
		ctx_buf_put_u8(&lost, '\0');
		put(context, lost.failed ? "records were lost" : (const char *)lost.bytes);
	}
	ctx_buf_clear(&lost);
	ctx_loss_notes_put_calls(selection, &lost);
	if (lost.n != 0) {
		ctx_buf_put_u8(&lost, '\0');
		put(context, lost.failed ? "calls were lost" : (const char *)lost.bytes);
	}
	ctx_buf_deinit(&lost);
	if (profile->losses.throttled != 0) {
		snprintf(text, sizeof(text), "the kernel throttled sampling %" PRIu64 " time%s",
			 profile->losses.throttled, profile->losses.throttled == 1 ? "" : "s");
		put(context, text);
	}
	if (profile->losses.damaged != 0) {
		snprintf(text, sizeof(text), "damaged and left out: %" PRIu64 " (blocks, lines or records)",
			 profile->losses.damaged);
		put(context, text);
	}
}

static const char *counted(const struct ctx_head *head)
{
	struct ctx_metric_info metric = ctx_head_metric(head);

	if (head->topic != NULL)
		return head->topic->counted;
	if (is_traced(head->selection.profile, &metric))
		return "operations";
	return is_measured(&metric) ? "spans" : "samples";
}

void ctx_count_text(uint64_t n, const char *many, char ret[CTX_HEAD_COUNT_MAX])
{
	snprintf(ret, CTX_HEAD_COUNT_MAX, "%" PRIu64 " %.*s", n, (int)strlen(many) - (n == 1), many);
}

void ctx_head_count(const struct ctx_head *head, uint64_t n, char ret[CTX_HEAD_COUNT_MAX])
{
	ctx_count_text(n, counted(head), ret);
}

static bool has_more_weight(const struct ctx_head *head)
{
	for (size_t i = 0; i < head->n_more; i++) {
		if (head->more_weights[i] != 0)
			return true;
	}
	return false;
}

/* Who means seconds and types 0.3:0.7 selects 0.4 ms. */
static void put_empty(const struct ctx_head *head, char *text, size_t size)
{
	const struct ctx_report_selection *selection = &head->selection;
	uint64_t run_ns = selection->profile->run.end_ns, selected_ns = 0;
	char selected[32], run[32];

	for (size_t i = 0; i < selection->n_intervals; i++)
		selected_ns += selection->intervals[i].end_ns - selection->intervals[i].begin_ns;
	ctx_time_format(selected_ns, selected, sizeof(selected));
	ctx_time_format(run_ns, run, sizeof(run));
	if (selected_ns < run_ns / SHORT_SELECTION)
		snprintf(text, size,
			 "no %s in this selection, which is %s of %s (numbers without a unit are ms)",
			 counted(head), selected, run);
	else
		snprintf(text, size, "no %s in this selection", counted(head));
}

const char *ctx_head_no_call_stacks(const struct ctx_profile *profile)
{
	if (!profile->losses.call_stacks)
		return NULL;
	if (strncmp(ctx_profile_property(profile, "collector", ""), "ctxrec", 6) == 0)
		return "no call stacks in this recording: record without --unwind none";
	return "no call stacks in this recording: record with perf record -g";
}

void ctx_head_warnings(const struct ctx_head *head, void (*put)(void *context, const char *text),
		       void *context)
{
	const struct ctx_profile *profile = head->selection.profile;
	const struct ctx_totals *totals = &head->totals;
	struct ctx_metric_info metric = ctx_head_metric(head);
	bool measured = is_measured(&metric) || is_traced(profile, &metric);
	char text[320], percent[CTX_FIGURE_MAX], largest[CTX_FIGURE_MAX];

	if (head->topic != NULL && head->topic->note != NULL)
		put(context, head->topic->note);
	if (head->topic != NULL && head->topic->second_note != NULL)
		put(context, head->topic->second_note);
	if (head->note != NULL)
		put(context, head->note);
	if (profile->losses.call_stacks)
		put(context, ctx_head_no_call_stacks(profile));
	for (size_t i = 0; i < profile->n_warnings; i++)
		put(context, profile->warnings[i]);
	warn_losses(&head->selection, put, context);
	if (totals->samples < CTX_FEW_SAMPLES &&
	    (totals->samples == 0 || !ctx_profile_is_timeless(profile)) &&
	    (totals->samples == 0 ? !has_more_weight(head) : !measured)) {
		if (totals->samples == 0)
			put_empty(head, text, sizeof(text));
		else
			snprintf(text, sizeof(text),
				 "only %" PRIu64 " sample%s: too few for percentages to mean much",
				 totals->samples, totals->samples == 1 ? "" : "s");
		put(context, text);
	}
	if (totals->truncated != 0) {
		/* A small share of very many is not shown as 0. */
		if (totals->truncated < totals->samples / 1000)
			snprintf(percent, sizeof(percent), "less than 0.1");
		else
			ctx_figure_percent(percent, totals->truncated, totals->samples, 1);
		snprintf(text, sizeof(text),
			 "%s %% of the %s have truncated stacks: their outer callers are not known", percent,
			 counted(head));
		put(context, text);
	}
	if (head->omitted.weight != 0) {
		ctx_figure_percent(percent, totals->weight - head->omitted.weight, totals->weight, 2);
		ctx_figure_fixed(largest, head->omitted.largest, head->scale.divisor, head->scale.digits);
		snprintf(text, sizeof(text),
			 "coverage %s %%: the rest is <Other>; no stack in it has more than %s %.100s",
			 percent, largest, head->scale.unit);
		put(context, text);
	}
}

static void put_time_of_day(struct ctx_buf *title, uint64_t time_ns)
{
	char text[CTX_UTC_MAX];

	(void)ctx_utc_text((int64_t)(time_ns / 1000000000), text);
	ctx_buf_put_text(title, text);
}

/* To the microsecond; short ones, such as single calls, to the nanosecond. */
static void put_interval(struct ctx_buf *title, const struct ctx_profile *profile,
			 struct ctx_interval interval, const char *before)
{
	char begin[CTX_FIGURE_MAX], end[CTX_FIGURE_MAX];
	bool whole = interval.begin_ns == profile->run.begin_ns && interval.end_ns == profile->run.end_ns;
	unsigned digits = !whole && interval.end_ns - interval.begin_ns < 100 * 1000 ? 6 : 3;

	ctx_figure_fixed(begin, interval.begin_ns, 1000 * 1000, digits);
	ctx_figure_fixed(end, interval.end_ns, 1000 * 1000, digits);
	ctx_buf_printf(title, "%s%s-%s ms%s", before, begin, end, whole ? " (whole run)" : "");
}

static void put_threads(struct ctx_buf *title, const struct ctx_report_selection *selection)
{
	if (selection->threads == NULL) {
		ctx_buf_put_text(title, " | all threads");
		return;
	}
	ctx_buf_put_text(title, selection->n_threads == 1 ? " | thread" : " | threads");
	for (size_t i = 0; i < selection->n_threads && i < 8; i++)
		ctx_buf_printf(title, " %" PRId64, ctx_head_tid(selection->profile, selection->threads[i]));
	if (selection->n_threads > 8)
		ctx_buf_printf(title, " and %zu more", selection->n_threads - 8);
}

/* "0.000-1000.000 ms (whole run) | all threads | cpu 3"; "2026-11-21 10:00:00 to 2026-11-21 11:00:00 UTC | all threads" */
static void put_selection(const struct ctx_report_selection *selection, struct ctx_buf *buf)
{
	for (size_t i = 0; i < selection->n_intervals && selection->clock_ns == 0; i++)
		put_interval(buf, selection->profile, selection->intervals[i], i != 0 ? " | " : "");
	for (size_t i = 0; i < selection->n_intervals && selection->clock_ns != 0; i++) {
		put_time_of_day(buf, selection->clock_ns + selection->intervals[i].begin_ns);
		ctx_buf_put_text(buf, " to ");
		put_time_of_day(buf, selection->clock_ns + selection->intervals[i].end_ns);
		ctx_buf_put_text(buf, " UTC");
	}
	put_threads(buf, selection);
	if (*selection->filter != '\0')
		ctx_buf_printf(buf, " | %s", selection->filter);
}

static void put_weight(struct ctx_buf *buf, uint64_t sum, struct ctx_scale scale)
{
	char weight[CTX_FIGURE_MAX];

	ctx_figure_fixed(weight, sum, scale.divisor, scale.digits);
	ctx_buf_printf(buf, "%s%s%s", weight, *scale.unit != '\0' ? " " : "", scale.unit);
}

void ctx_head_put_summary(const struct ctx_head *head, struct ctx_buf *buf)
{
	char count[CTX_HEAD_COUNT_MAX];

	put_selection(&head->selection, buf);
	ctx_head_count(head, head->totals.samples, count);
	ctx_buf_printf(buf, " | %s | %s | ", ctx_head_metric(head).name, count);
	put_weight(buf, head->totals.weight, head->scale);
}

void ctx_head_put_title(const struct ctx_head *head, struct ctx_buf *buf)
{
	const struct ctx_report_selection *selection = &head->selection;

	ctx_buf_printf(buf, "%s: %s%s", selection->profile->name, head->report,
		       selection->n_intervals != 0 ? " | " : "");
	ctx_head_put_summary(head, buf);
	for (size_t i = 0; i < head->n_more; i++) {
		struct ctx_metric_info metric =
			ctx_head_metric_of(selection->profile, selection->metrics[i + 1]);

		ctx_buf_printf(buf, " | %s ", metric.name);
		put_weight(buf, head->more_weights[i], ctx_scale_for(metric.unit, head->more_weights[i]));
	}
}
