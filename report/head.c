#include "report/head.h"

#include "base/utf8.h"
#include "report/names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool is_truncated_root(const struct ctx_profile *profile, uint32_t node)
{
	uint32_t function = profile->cct.key[node];

	return profile->cct.parent[node] == CTX_TRIE_ROOT && function < profile->n_functions &&
	       profile->functions[function].kind == CTX_FUNCTION_TRUNCATED;
}

/* Whether there are nodes below which the stacks hang whose root is not known: one for each reason. */
static bool has_truncated_roots(const struct ctx_profile *profile)
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
 * Samples of stacks that begin at <Truncated-stack>. O(nodes of the CCT), and O(entries * depth) where there
 * are such stacks.
 */
static uint64_t count_truncated(const struct ctx_profile *profile, const struct ctx_histogram *histogram)
{
	bool any = has_truncated_roots(profile);
	uint64_t truncated = 0;

	for (size_t i = 0; any && i < histogram->n; i++) {
		if (ctx_head_truncated_function(profile, histogram->entries[i].stack) != CTX_NONE)
			truncated += histogram->entries[i].samples;
	}
	return truncated;
}

/* By raw stack. */
static void add_raw_totals(const struct ctx_report_input *input, struct ctx_totals *ret)
{
	const struct ctx_code *code = input->code;
	bool any = code != NULL && has_truncated_roots(input->profile);

	ret->samples += input->raw->samples;
	ret->weight += input->raw->weight;
	for (size_t i = 0; any && i < input->raw->n; i++) {
		const struct ctx_hist_entry *entry = &input->raw->entries[i];

		if (entry->stack < code->raw_stacks->n &&
		    ctx_head_truncated_function(input->profile, code->raw_to_stack[entry->stack]) != CTX_NONE)
			ret->truncated += entry->samples;
	}
}

void ctx_head_totals(const struct ctx_report_input *input, struct ctx_totals *ret)
{
	*ret = (struct ctx_totals){.samples = input->omitted_samples, .weight = input->omitted_weight};
	for (size_t i = 0; i < input->n_parts; i++) {
		ret->samples += input->parts[i].histogram->samples;
		ret->weight += input->parts[i].histogram->weight;
		ret->truncated += count_truncated(input->profile, input->parts[i].histogram);
	}
	if (input->n_parts != 0)
		return;
	if (input->index != NULL) {
		ret->samples += input->index->totals->samples;
		ret->weight += input->index->totals->weight;
		return;
	}
	if (input->raw != NULL) {
		add_raw_totals(input, ret);
		return;
	}
	for (size_t i = 0; i < input->n_slices; i++) {
		ret->samples += input->slices[i].samples;
		ret->weight += input->slices[i].weight;
	}
	if (input->n_slices != 0)
		return;
	if (input->thread_samples != NULL && input->thread_weight != NULL) {
		for (uint32_t i = 0; i < input->profile->n_threads; i++) {
			ret->samples += input->thread_samples[i];
			ret->weight += input->thread_weight[i];
		}
		return;
	}
	ret->samples += ctx_head_metric(input).samples;
	ret->weight += ctx_head_metric(input).weight;
}

bool ctx_head_is_whole_run(const struct ctx_report_input *input)
{
	return input->threads == NULL && *input->filter == '\0' &&
	       (input->n_intervals == 0 ||
		(input->n_intervals == 1 && ctx_interval_contains(input->intervals[0], input->profile->run)));
}

struct ctx_report_input ctx_head_whole_run(const struct ctx_report_input *input)
{
	return (struct ctx_report_input){
		.profile = input->profile,
		.path = input->path,
		.intervals = &input->profile->run,
		.n_intervals = 1,
		.filter = "",
		.metric = input->metric,
	};
}

struct ctx_metric_info ctx_head_metric(const struct ctx_report_input *input)
{
	if (input->metric >= input->profile->n_metrics)
		return (struct ctx_metric_info){.name = "", .unit = "events"};
	return input->profile->metrics[input->metric];
}

struct ctx_metric_info ctx_head_more_metric(const struct ctx_report_input *input, size_t i)
{
	return ctx_head_metric(
		&(struct ctx_report_input){.profile = input->profile, .metric = input->more_metrics[i]});
}

bool ctx_head_is_measured(const struct ctx_metric_info *metric)
{
	return metric->spans || (metric->parts != NULL && !metric->counts);
}

/* Whether its samples are traced operations: every one is there. */
static bool is_traced(const struct ctx_profile *profile, const struct ctx_metric_info *metric)
{
	enum ctx_traced_kind kind;

	if (metric->counts && metric->n_parts != 0 && metric->parts[0] < profile->n_metrics)
		metric = &profile->metrics[metric->parts[0]];
	return ctx_traced_kind_of_metric(metric->word, &kind) && profile->traced[kind] != 0;
}

int64_t ctx_head_tid(const struct ctx_profile *profile, uint32_t thread)
{
	return thread < profile->n_threads ? profile->threads[thread].tid : -1;
}

const char *ctx_head_thread_title(struct ctx_out *out, uint32_t thread)
{
	const struct ctx_profile *profile = out->input->profile;
	const struct ctx_thread_info *info;
	int64_t pid = -1;

	if (thread >= profile->n_threads)
		return NULL;
	info = &profile->threads[thread];
	if (info->process < profile->n_processes)
		pid = profile->processes[info->process].pid;
	return ctx_out_format(out, "pt_%" PRId64 "_%" PRId64 " (%s)", pid, info->tid, info->name);
}

static void warn_losses(struct ctx_out *out, void (*put)(void *context, const char *text), void *context)
{
	const struct ctx_profile *profile = out->input->profile;
	char text[160];

	if (!profile->closed)
		put(context, "the run was not closed: the recorder was killed or is still running");
	if (profile->lost_samples != 0) {
		snprintf(text, sizeof(text), "%" PRIu64 " samples were lost: the kernel's buffer was full",
			 profile->lost_samples);
		put(context, text);
	}
	if (profile->throttled != 0) {
		snprintf(text, sizeof(text), "the kernel throttled sampling %" PRIu64 " time%s",
			 profile->throttled, profile->throttled == 1 ? "" : "s");
		put(context, text);
	}
	if (profile->damaged != 0) {
		snprintf(text, sizeof(text), "damaged and left out: %" PRIu64 " (blocks, lines or records)",
			 profile->damaged);
		put(context, text);
	}
}

static const char *counted(const struct ctx_out *out)
{
	struct ctx_metric_info metric = ctx_out_metric(out);

	if (out->topic != NULL)
		return out->topic->counted;
	if (is_traced(out->input->profile, &metric))
		return "operations";
	return ctx_head_is_measured(&metric) ? "spans" : "samples";
}

void ctx_count_text(uint64_t n, const char *many, char ret[CTX_HEAD_COUNT_MAX])
{
	snprintf(ret, CTX_HEAD_COUNT_MAX, "%" PRIu64 " %.*s", n, (int)strlen(many) - (n == 1), many);
}

void ctx_head_count(const struct ctx_out *out, uint64_t n, char ret[CTX_HEAD_COUNT_MAX])
{
	ctx_count_text(n, counted(out), ret);
}

/* Of a further metric, in the selection. */
static uint64_t more_weight(const struct ctx_report_input *input, size_t i)
{
	uint64_t sum = 0;

	for (size_t part = 0; part < input->n_parts; part++)
		sum += input->parts[part].more[i].weight;
	return input->n_parts == 0 && input->index != NULL ? input->index->totals[i + 1].weight : sum;
}

static bool has_more_weight(const struct ctx_report_input *input)
{
	for (size_t i = 0; i < input->n_more; i++) {
		if (more_weight(input, i) != 0)
			return true;
	}
	return false;
}

void ctx_head_warnings(struct ctx_out *out, void (*put)(void *context, const char *text), void *context)
{
	const struct ctx_report_input *input = out->input;
	const struct ctx_totals *totals = &out->totals;
	struct ctx_metric_info metric = ctx_out_metric(out);
	bool measured = ctx_head_is_measured(&metric) || is_traced(input->profile, &metric);
	char text[320], percent[CTX_FIGURE_MAX], largest[CTX_FIGURE_MAX];

	if (out->note != NULL)
		put(context, out->note);
	if (out->topic != NULL && out->topic->second_note != NULL)
		put(context, out->topic->second_note);
	for (size_t i = 0; i < input->profile->n_warnings; i++)
		put(context, input->profile->warnings[i]);
	warn_losses(out, put, context);
	if (totals->samples < CTX_FEW_SAMPLES &&
	    (totals->samples == 0 ? !has_more_weight(input) : !measured)) {
		if (totals->samples == 0)
			snprintf(text, sizeof(text), "no %s in this selection", counted(out));
		else
			snprintf(text, sizeof(text),
				 "only %" PRIu64 " sample%s: too few for percentages to mean much",
				 totals->samples, totals->samples == 1 ? "" : "s");
		put(context, text);
	}
	if (totals->truncated != 0) {
		/* Few of very many are not none. */
		if (totals->truncated < totals->samples / 1000)
			snprintf(percent, sizeof(percent), "less than 0.1");
		else
			ctx_figure_percent(percent, totals->truncated, totals->samples, 1);
		snprintf(text, sizeof(text),
			 "%s %% of the %s have truncated stacks: their outer callers are not known", percent,
			 counted(out));
		put(context, text);
	}
	if (input->omitted_weight != 0) {
		ctx_figure_percent(percent, totals->weight - input->omitted_weight, totals->weight, 2);
		ctx_figure_fixed(largest, input->omitted_largest, out->scale.divisor, out->scale.digits);
		snprintf(text, sizeof(text),
			 "coverage %s %%: the rest is <Other>; no stack in it has more than %s %.100s",
			 percent, largest, out->scale.unit);
		put(context, text);
	}
}

static void print_line(struct ctx_out *out, const char *line, size_t n, unsigned indent, bool first)
{
	fprintf(out->options->out, "%*s%.*s\n", first ? 0 : (int)indent, "", (int)n, line);
}

/* Breaks at the last space that fits, or hard. `text` is safe. */
static void wrap(struct ctx_out *out, const char *text, unsigned indent)
{
	size_t limit = out->options->width != 0 ? out->options->width : SIZE_MAX;
	bool first = true;

	for (;;) {
		size_t room = first ? limit : limit > indent + 20 ? limit - indent : 20;
		size_t n = 0, width = 0, space = 0;

		while (text[n] != '\0') {
			uint32_t code;
			size_t length =
				ctx_utf8_decode(text + n, strlen(text + n) < 4 ? strlen(text + n) : 4, &code);

			width += ctx_char_width(code);
			if (width > room)
				break;
			if (text[n] == ' ')
				space = n;
			n += length;
		}
		if (text[n] != '\0' && text[n] != ' ' && space > indent)
			n = space;
		print_line(out, text, n, indent, first);
		text += n;
		text += strspn(text, " ");
		if (*text == '\0')
			return;
		first = false;
	}
}

void ctx_head_print_wrapped(struct ctx_out *out, const char *first, const char *text, unsigned indent)
{
	struct ctx_buf buf = {0};
	bool is_first = true;

	do {
		const char *newline = strchrnul(text, '\n');
		char *line = strndup(text, (size_t)(newline - text));

		ctx_buf_clear(&buf);
		ctx_buf_printf(&buf, "%*s", is_first ? 0 : (int)indent, "");
		if (is_first)
			ctx_name_put_text(&buf, first, out->options->ascii);
		if (line != NULL)
			ctx_name_put_text(&buf, line, out->options->ascii);
		ctx_buf_put_u8(&buf, '\0');
		if (line == NULL || buf.failed)
			ctx_out_fail(out, CTX_E_NOMEM);
		else
			wrap(out, (const char *)buf.bytes, indent);
		free(line);
		is_first = false;
		text = *newline != '\0' ? newline + 1 : newline;
	} while (*text != '\0');
	ctx_buf_deinit(&buf);
}

static void print_warning(void *context, const char *text)
{
	struct ctx_out *out = context;

	if (out->options->color)
		fputs("\033[33m", out->options->out);
	ctx_head_print_wrapped(out, "note: ", text, 6);
	if (out->options->color)
		fputs("\033[0m", out->options->out);
}

static void put_interval(struct ctx_buf *title, const struct ctx_profile *profile,
			 struct ctx_interval interval, const char *before)
{
	char begin[CTX_FIGURE_MAX], end[CTX_FIGURE_MAX];
	bool whole = interval.begin_ns == profile->run.begin_ns && interval.end_ns == profile->run.end_ns;

	ctx_figure_fixed(begin, interval.begin_ns, 1000 * 1000, 3);
	ctx_figure_fixed(end, interval.end_ns, 1000 * 1000, 3);
	ctx_buf_printf(title, "%s%s-%s ms%s", before, begin, end, whole ? " (whole run)" : "");
}

static void put_threads(struct ctx_buf *title, const struct ctx_report_input *input)
{
	if (input->threads == NULL) {
		ctx_buf_put_text(title, " | all threads");
		return;
	}
	ctx_buf_put_text(title, input->n_threads == 1 ? " | thread" : " | threads");
	for (size_t i = 0; i < input->n_threads && i < 8; i++)
		ctx_buf_printf(title, " %" PRId64, ctx_head_tid(input->profile, input->threads[i]));
	if (input->n_threads > 8)
		ctx_buf_printf(title, " and %zu more", input->n_threads - 8);
}

void ctx_head_put_selection(const struct ctx_report_input *input, struct ctx_buf *buf)
{
	for (size_t i = 0; i < input->n_intervals; i++)
		put_interval(buf, input->profile, input->intervals[i], i != 0 ? " | " : "");
	put_threads(buf, input);
	if (*input->filter != '\0')
		ctx_buf_printf(buf, " | %s", input->filter);
}

static void put_more_metrics(struct ctx_buf *title, const struct ctx_report_input *input)
{
	for (size_t i = 0; i < input->n_more; i++) {
		struct ctx_metric_info metric = ctx_head_more_metric(input, i);
		uint64_t sum = more_weight(input, i);
		struct ctx_scale scale = ctx_scale_for(metric.unit, sum);
		char weight[CTX_FIGURE_MAX];

		ctx_figure_fixed(weight, sum, scale.divisor, scale.digits);
		ctx_buf_printf(title, " | %s %s%s%s", metric.name, weight, *scale.unit != '\0' ? " " : "",
			       scale.unit);
	}
}

void ctx_head_print(struct ctx_out *out)
{
	const struct ctx_report_input *input = out->input;
	struct ctx_metric_info metric = ctx_out_metric(out);
	struct ctx_buf title = {0};
	char weight[CTX_FIGURE_MAX], count[CTX_HEAD_COUNT_MAX];

	ctx_buf_printf(&title, "%s: %s%s", input->profile->name, out->report,
		       input->n_intervals != 0 ? " | " : "");
	ctx_head_put_selection(input, &title);
	ctx_figure_fixed(weight, out->totals.weight, out->scale.divisor, out->scale.digits);
	ctx_head_count(out, out->totals.samples, count);
	ctx_buf_printf(&title, " | %s | %s | %s%s%s", metric.name, count, weight,
		       *out->scale.unit != '\0' ? " " : "", out->scale.unit);
	put_more_metrics(&title, input);
	ctx_buf_put_u8(&title, '\0');
	if (title.failed) {
		ctx_out_fail(out, CTX_E_NOMEM);
	} else {
		/* A name is one line here. */
		for (size_t i = 0; i + 1 < title.n; i++)
			title.bytes[i] = title.bytes[i] == '\n' ? '?' : title.bytes[i];
		ctx_head_print_wrapped(out, "", (const char *)title.bytes, 2);
	}
	ctx_buf_deinit(&title);
	ctx_head_warnings(out, print_warning, out);
	fputc('\n', out->options->out);
}
