#include "base/mem.h"
#include "report/kinds.h"
#include "report/missing_objects.h"
#include "report/out.h"

#include <inttypes.h>
#include <string.h>

#define KEY_WIDTH 18u
#define KEY_WIDTH_MAX 24u
#define LOSSES_SHOWN 8u /* in text */

/* Text output prints lines, not a table: commands and notes are shown whole, wrapped. */
static const struct ctx_column columns[] = {
	{"section", NULL, CTX_STYLE_NAME},
	{"key", NULL, CTX_STYLE_NAME},
	{"value", NULL, CTX_STYLE_NAME},
};

static void put_cell(struct ctx_out *out, const char *section, const char *key, struct ctx_cell value)
{
	ctx_out_row(out, (struct ctx_cell[]){ctx_cell_name(section), ctx_cell_name(key), value});
}

/* The width of the longest key, so that values are aligned. */
static int key_width(const struct ctx_profile *profile)
{
	size_t width = KEY_WIDTH;

	for (size_t i = 0; i < profile->n_properties; i++) {
		size_t n = strlen(profile->properties[i].key);

		width = n > width && n <= KEY_WIDTH_MAX ? n : width;
	}
	return (int)width;
}

static void put_text(struct ctx_out *out, const char *section, const char *key, const char *value)
{
	int width = ctx_out_is_text(out) ? key_width(out->profile) : 0;

	if (ctx_out_is_text(out))
		ctx_out_wrapped(out, ctx_out_format(out, "%-*.60s ", width, key), value, (unsigned)width + 1);
	else
		put_cell(out, section, key, ctx_cell_name(value));
}

static void put_number(struct ctx_out *out, const char *section, const char *key, uint64_t value)
{
	if (ctx_out_is_text(out))
		put_text(out, section, key, ctx_out_format(out, "%" PRIu64, value));
	else
		put_cell(out, section, key, ctx_cell_number(value));
}

static void put_title(struct ctx_out *out, const char *title)
{
	if (!ctx_out_is_text(out))
		return;
	ctx_out_line(out, "");
	ctx_out_line(out, title);
}

/* "lost on CPU 1      9142 records, 970.304-2158.319 ms" */
static void put_loss_text(struct ctx_out *out, const struct ctx_loss *loss)
{
	static const char *const WHAT[CTX_LOSS_KIND_N] = {"samples", "changes of state", "others",
							  "begins and ends of calls"};
	const char *key = loss->cpu >= 0 ? ctx_out_format(out, "lost on CPU %d", (int)loss->cpu)
			  : loss->has_thread && loss->thread < out->profile->n_threads
				  ? ctx_out_format(out, "lost in thread %" PRId64,
						   out->profile->threads[loss->thread].tid)
				  : "lost";
	struct ctx_buf text = {0};
	char begin[CTX_FIGURE_MAX], end[CTX_FIGURE_MAX];

	ctx_buf_printf(&text, "%" PRIu64 " record%s, ", loss->count, loss->count == 1 ? "" : "s");
	ctx_figure_fixed(begin, loss->time.begin_ns, 1000 * 1000, 3);
	ctx_figure_fixed(end, loss->time.end_ns, 1000 * 1000, 3);
	if (loss->located)
		ctx_buf_printf(&text, "%s-%s ms", begin, end);
	else
		ctx_buf_put_text(&text, "at an unknown time");
	for (int i = 0; i < CTX_LOSS_KIND_N && loss->has_kinds; i++) {
		if (loss->kinds[i] != 0)
			ctx_buf_printf(&text, ", %" PRIu64 " %s", loss->kinds[i], WHAT[i]);
	}
	ctx_buf_put_u8(&text, '\0');
	if (text.failed)
		ctx_out_fail(out, CTX_E_NOMEM);
	else
		put_text(out, "run", key, (const char *)text.bytes);
	ctx_buf_deinit(&text);
}

/* Text has the first ones. */
static void put_losses(struct ctx_out *out)
{
	const struct ctx_profile_losses *losses = &out->profile->losses;

	for (size_t i = 0; i < losses->n_items; i++) {
		const struct ctx_loss *loss = &losses->items[i];

		if (ctx_out_is_text(out) && i == LOSSES_SHOWN) {
			put_text(out, "run", "lost",
				 ctx_out_format(out, "%zu more times (--format json, --sql: table loss)",
						losses->n_items - i));
			return;
		}
		if (ctx_out_is_text(out)) {
			put_loss_text(out, loss);
			continue;
		}
		if (loss->located) {
			put_number(out, "loss", "begin", loss->time.begin_ns);
			put_number(out, "loss", "end", loss->time.end_ns);
		}
		if (loss->cpu >= 0)
			put_number(out, "loss", "cpu", (uint64_t)loss->cpu);
		if (loss->has_thread && loss->thread < out->profile->n_threads)
			put_number(out, "loss", "thread", (uint64_t)out->profile->threads[loss->thread].tid);
		put_number(out, "loss", "count", loss->count);
	}
}

static void put_run(struct ctx_out *out)
{
	const struct ctx_profile *profile = out->profile;
	char duration[CTX_FIGURE_MAX];

	for (size_t i = 0; i < profile->n_properties; i++)
		put_text(out, "property", profile->properties[i].key, profile->properties[i].value);
	if (ctx_out_is_text(out)) {
		ctx_figure_fixed(duration, profile->run.end_ns, 1000 * 1000, 3);
		put_text(out, "run", "duration", ctx_out_format(out, "%s ms", duration));
	} else {
		put_number(out, "run", "duration", profile->run.end_ns);
	}
	put_text(out, "run", "closed", profile->closed ? "yes" : "no");
	put_number(out, "run", ctx_out_is_text(out) ? "lost records" : "lost samples",
		   profile->losses.samples);
	put_losses(out);
	put_number(out, "run", "throttled", profile->losses.throttled);
	put_number(out, "run", "damaged", profile->losses.damaged);
}

/*
 * Text shows the usual sums, the time of calls and that of OpenMP only, if there are any; the time in each state is in the report
 * `states`.
 */
static bool is_for_people(const struct ctx_metric_info *metric)
{
	return !ctx_metric_is_clipped(metric) ||
	       (ctx_metric_has_exact_calls(metric) && metric->samples != 0) ||
	       ((metric->n_parts != 0 || metric->kind == CTX_METRIC_OMP_SPAN) && metric->weight != 0);
}

static void put_metric_text(struct ctx_out *out, const struct ctx_metric_info *metric, const char *weight,
			    const char *unit)
{
	const char *word = metric->word != NULL ? ctx_out_format(out, "  (--metric %s)", metric->word) : "";
	char count[CTX_HEAD_COUNT_MAX];

	ctx_count_text(metric->samples, ctx_metric_is_clipped(metric) ? "spans" : "samples", count);
	put_text(out, "metric", metric->name,
		 ctx_out_format(out, "%s, %s%s%s%s", count, weight, *unit != '\0' ? " " : "", unit, word));
}

static void put_metrics(struct ctx_out *out)
{
	const struct ctx_profile *profile = out->profile;

	if (profile->n_metrics != 0)
		put_title(out, "Metrics");
	for (uint32_t i = 0; i < profile->n_metrics; i++) {
		const struct ctx_metric_info *metric = &profile->metrics[i];
		struct ctx_scale scale = ctx_scale_for(metric->unit, metric->weight);
		char weight[CTX_FIGURE_MAX];

		ctx_figure_fixed(weight, metric->weight, scale.divisor, scale.digits);
		if (ctx_out_is_text(out)) {
			if (is_for_people(metric))
				put_metric_text(out, metric, weight, scale.unit);
			continue;
		}
		put_text(out, "metric", "name", metric->name);
		put_text(out, "metric", "unit", ctx_unit_word(metric->unit));
		put_number(out, "metric", "samples", metric->samples);
		put_number(out, "metric", "weight", metric->weight);
	}
}

static void put_counts(struct ctx_out *out)
{
	const struct ctx_profile *profile = out->profile;
	uint32_t n_processes = ctx_profile_count_processes(profile);

	put_title(out, "Counts");
	put_number(out, "count", "processes", n_processes);
	if (n_processes != profile->n_processes)
		put_number(out, "count", "program images", profile->n_processes);
	put_number(out, "count", "threads", profile->n_threads);
	put_number(out, "count", "functions", profile->n_functions);
	put_number(out, "count", "stacks", profile->cct.n != 0 ? profile->cct.n - 1 : 0);
	put_number(out, "count", "objects", profile->n_objects);
}

/* Binaries without which the samples in them have no names. */
static void put_missing(struct ctx_out *out, const struct ctx_missing_objects *missing)
{
	for (size_t i = 0; i < missing->n; i++) {
		const struct ctx_missing_object *item = &missing->items[i];
		const char *path = out->profile->objects[item->object].path;
		char percent[CTX_FIGURE_MAX];

		if (i == 0)
			put_title(out, "Missing binaries (share of the samples)");
		if (!ctx_out_is_text(out)) {
			put_number(out, "missing object", path, item->samples);
			continue;
		}
		ctx_figure_percent(percent, item->samples, missing->all_samples, 2);
		ctx_out_wrapped(out, ctx_out_format(out, "%6s %% ", percent),
				ctx_out_format(out, "%s (%s)", path, item->reason), 9);
	}
}

static bool is_listed(const struct ctx_missing_objects *missing, uint32_t object)
{
	for (size_t i = 0; i < missing->n; i++) {
		if (missing->items[i].object == object)
			return true;
	}
	return false;
}

/* In text, those that are not in the list of missing binaries. */
static void put_objects(struct ctx_out *out, const struct ctx_missing_objects *missing)
{
	const struct ctx_profile *profile = out->profile;
	bool first = true;

	for (uint32_t i = 0; i < profile->n_objects; i++) {
		const struct ctx_object_info *object = &profile->objects[i];

		if (strncmp(object->symbols, "none", 4) != 0 ||
		    (ctx_out_is_text(out) && is_listed(missing, i)))
			continue;
		if (first)
			put_title(out, "Objects without symbols");
		first = false;
		if (ctx_out_is_text(out))
			ctx_out_wrapped(out, "",
					ctx_out_format(out, "%s (%s)", object->path, object->symbols), 4);
		else
			put_text(out, "object without symbols", object->path, object->symbols);
	}
}

/*
 * The reasons for truncated stacks, with the number of samples; only if the parts cover the whole
 * run.
 */
static void put_truncated(struct ctx_out *out, const struct ctx_report_parts *parts)
{
	const struct ctx_profile *profile = out->profile;
	uint64_t *samples CTX_AUTO_FREE = ctx_calloc((size_t)profile->n_functions + 1, sizeof(*samples));
	bool first = true, any = ctx_head_has_truncated(profile);

	if (samples == NULL) {
		ctx_out_fail(out, CTX_E_NOMEM);
		return;
	}
	for (size_t i = 0; any && i < parts->n; i++) {
		const struct ctx_histogram *histogram = parts->parts[i].histograms;

		for (size_t j = 0; j < histogram->n; j++) {
			uint32_t function = ctx_head_truncated_function(profile, histogram->entries[j].stack);

			if (function != CTX_NONE)
				samples[function] += histogram->entries[j].samples;
		}
	}
	for (uint32_t i = 0; i < profile->n_functions; i++) {
		if (samples[i] == 0)
			continue;
		if (first)
			put_title(out, "Truncated stacks (samples)");
		first = false;
		put_number(out, "truncated stacks", profile->functions[i].name, samples[i]);
	}
}

static enum ctx_status print(struct ctx_report_source *source, const struct ctx_report_options *options,
			     struct ctx_err *err)
{
	const struct ctx_profile *profile = source->selection.profile;
	struct ctx_out_spec spec = {.kind = &ctx_report_header,
				    .selection = &source->selection,
				    .options = options,
				    .whole_note = "this report is about the whole run"};
	struct ctx_report_parts parts = {0};
	struct ctx_missing_objects missing = {0};
	struct ctx_out out;
	enum ctx_status status = CTX_OK;

	if (ctx_head_is_whole_run(&source->selection))
		status = source->parts(source, &(struct ctx_parts_query){.per_thread = options->per_thread},
				       &parts, err);
	if (status == CTX_OK && parts.omitted.samples == 0)
		status = ctx_missing_objects_find(profile, &parts, &missing, err);
	if (status != CTX_OK)
		return status;
	/* Notes come before everything else (E3). */
	if (*profile->notes != '\0')
		spec.preamble = profile->notes;
	ctx_out_begin(&out, &spec);
	if (!ctx_out_is_text(&out) && *profile->notes != '\0')
		put_text(&out, "notes", "notes", profile->notes);
	put_run(&out);
	put_metrics(&out);
	put_counts(&out);
	if (parts.omitted.samples == 0)
		put_truncated(&out, &parts);
	put_missing(&out, &missing);
	put_objects(&out, &missing);
	ctx_out_rows_end(&out);
	ctx_missing_objects_deinit(&missing);
	return ctx_out_end(&out, err);
}

static const struct ctx_report_alias aliases[] = {
	{"experiment-list", false},  {"exp-list", false},     {"experiments", false},
	{"metric-list", false},	     {"cmetric-list", false}, {"gmetric-list", false},
	{"indx-metric-list", false}, {NULL, false},
};

const struct ctx_report_kind ctx_report_header = {
	.name = "header",
	.metrics = CTX_REPORT_NO_METRIC,
	.order = "",
	.aliases = aliases,
	.columns = columns,
	.n_columns = CTX_COUNT_OF(columns),
	.print = print,
};
