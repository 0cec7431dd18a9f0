#include "report/html_head.h"

#include "base/mem.h"
#include "report/head.h"
#include "report/html_marks.h"
#include "report/missing_objects.h"
#include "report/names.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- Warnings ---- */

static void put_warning(void *context, const char *text)
{
	struct ctx_buf *warnings = context;

	if (warnings->n != 0)
		ctx_buf_put_u8(warnings, ',');
	ctx_name_put_json(warnings, text);
}

static enum ctx_status warn_missing(const struct ctx_profile *profile, const struct ctx_report_parts *parts,
				    struct ctx_buf *warnings, struct ctx_err *err)
{
	struct ctx_missing_objects missing = {0};
	struct ctx_buf text = {0};
	enum ctx_status status = ctx_missing_objects_find(profile, parts, &missing, err);

	if (status == CTX_OK && missing.n != 0) {
		ctx_missing_objects_put(&missing, profile, &text);
		ctx_buf_put_u8(&text, '\0');
		status = ctx_buf_check(&text, err);
		if (status == CTX_OK)
			put_warning(warnings, (const char *)text.bytes);
	}
	ctx_buf_deinit(&text);
	ctx_missing_objects_deinit(&missing);
	return status;
}

/* Of the whole run, which the page has: its reader selects. */
static enum ctx_status warn_of_run(const struct ctx_html_head *head, const struct ctx_histogram *histogram,
				   struct ctx_buf *warnings, struct ctx_err *err)
{
	const struct ctx_html_metrics *metrics = head->metrics;
	struct ctx_report_selection run = *head->input->selection;
	const struct ctx_report_part part = {.thread = CTX_NONE, .histograms = histogram};
	const struct ctx_report_parts parts = {.parts = &part, .n = 1, .n_metrics = 1};
	uint64_t *more CTX_AUTO_FREE = ctx_calloc(metrics->n, sizeof(*more));
	enum ctx_status status;
	struct ctx_head texts;

	if (more == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 1; i < metrics->n; i++)
		more[i - 1] = ctx_html_metrics_sums(metrics, &metrics->metrics[i]).weight;
	run.intervals = &run.profile->run;
	run.n_intervals = 1;
	run.threads = NULL;
	run.n_threads = 0;
	texts = ctx_head_of_parts(&run, &parts);
	texts.more_weights = more;
	texts.n_more = metrics->n - 1;
	status = warn_missing(run.profile, &parts, warnings, err);
	if (status == CTX_OK)
		ctx_head_warnings(&texts, put_warning, warnings);
	return status;
}

enum ctx_status ctx_html_head_warn(struct ctx_html_head *head, struct ctx_err *err)
{
	struct ctx_histogram histogram = {0};
	enum ctx_status status =
		ctx_html_metrics_histogram(head->metrics, &head->metrics->metrics[0], &histogram, err);

	if (status == CTX_OK)
		status = warn_of_run(head, &histogram, &head->warnings, err);
	ctx_histogram_deinit(&histogram);
	return status == CTX_OK ? ctx_buf_check(&head->warnings, err) : status;
}

/* ---- The object ---- */

static void put_pair(struct ctx_buf *out, const char *before, const struct ctx_property *property)
{
	ctx_buf_put_text(out, before);
	ctx_buf_put_u8(out, '[');
	ctx_name_put_json(out, property->key);
	ctx_buf_put_u8(out, ',');
	ctx_name_put_json(out, property->value);
	ctx_buf_put_u8(out, ']');
}

static void put_selected(struct ctx_buf *out, const struct ctx_export_input *input)
{
	const struct ctx_report_selection *selection = input->selection;

	ctx_buf_put_text(out, ",\"selected\":{\"intervals_ns\":[");
	for (size_t i = 0; i < selection->n_intervals; i++)
		ctx_buf_printf(out, "%s[%" PRIu64 ",%" PRIu64 "]", i != 0 ? "," : "",
			       selection->intervals[i].begin_ns, selection->intervals[i].end_ns);
	ctx_buf_put_text(out, "],\"threads\":");
	if (selection->threads == NULL) {
		ctx_buf_put_text(out, "null");
	} else {
		for (size_t i = 0; i < selection->n_threads; i++)
			ctx_buf_printf(out, "%c%u", i != 0 ? ',' : '[', selection->threads[i]);
		ctx_buf_put_text(out, selection->n_threads != 0 ? "]" : "[]");
	}
	ctx_buf_put_text(out, ",\"reports\":[");
	for (size_t i = 0; i < input->n_reports; i++) {
		ctx_buf_put_text(out, i != 0 ? "," : "");
		ctx_name_put_json(out, input->reports[i]);
	}
	ctx_buf_put_text(out, "]}}");
}

static void put_metric(const struct ctx_html_metric *metric, struct ctx_buf *out)
{
	ctx_buf_put_text(out, "{\"name\":");
	ctx_name_put_json(out, metric->name);
	ctx_buf_put_text(out, ",\"word\":");
	ctx_name_put_json(out, metric->word);
	ctx_buf_put_text(out, ",\"unit\":");
	ctx_name_put_json(out, ctx_unit_word(metric->unit));
	ctx_buf_put_text(out, ",\"kind\":");
	ctx_name_put_json(out, ctx_metric_kind_word(metric->kind));
	if (metric->kind == CTX_METRIC_SPAN || metric->kind == CTX_METRIC_CALL_SPAN ||
	    metric->kind == CTX_METRIC_OMP_SPAN)
		ctx_buf_put_text(out, ",\"spans\":true");
}

static void put_metrics(const struct ctx_html_metrics *metrics, struct ctx_buf *out)
{
	const struct ctx_profile *profile = metrics->input->profile;

	ctx_buf_put_text(out, ",\"metrics\":[");
	for (size_t i = 0; i < metrics->n; i++) {
		ctx_buf_put_text(out, i != 0 ? "," : "");
		put_metric(&metrics->metrics[i], out);
		ctx_buf_put_text(out, ",\"bases\":[");
		for (uint32_t k = 0; k < metrics->metrics[i].n_bases; k++)
			ctx_buf_printf(out, "%s%u", k != 0 ? "," : "", metrics->metrics[i].bases[k]);
		ctx_buf_put_text(out, "]}");
	}
	ctx_buf_put_text(out, "],\"bases\":[");
	for (size_t i = 0; i < metrics->n_bases; i++) {
		const struct ctx_html_base *base = &metrics->bases[i];
		const struct ctx_metric_info *info = &profile->metrics[base->metric];
		enum ctx_thread_state state = ctx_html_base_state(profile, base);
		const struct ctx_html_metric shown = {.name = state != CTX_STATE_N ? ctx_state_text(state)
										   : info->name,
						      .word = info->word != NULL ? info->word : info->name,
						      .kind = base->counts ? CTX_METRIC_COUNT : info->kind,
						      .unit = base->counts ? CTX_UNIT_NONE : info->unit};

		ctx_buf_put_text(out, i != 0 ? "," : "");
		put_metric(&shown, out);
		if (state != CTX_STATE_N)
			ctx_buf_printf(out, ",\"state\":%u", (unsigned)state);
		ctx_buf_printf(out,
			       ",\"samples\":%" PRIu64 ",\"weight\":%" PRIu64 ",\"omitted_weight\":%" PRIu64
			       "}",
			       base->cells.samples, base->cells.weight, base->cells.dropped_weight);
	}
	ctx_buf_put_u8(out, ']');
}

/* A size as --max-size takes it: whole megabytes. */
static void put_left_out(const struct ctx_html_left_out *left_out, struct ctx_buf *out)
{
	ctx_buf_put_text(out, ",\"left_out\":[");
	for (size_t i = 0; i < left_out->n; i++) {
		ctx_buf_put_text(out, i != 0 ? "," : "");
		ctx_name_put_json(out, left_out->texts[i]);
	}
	ctx_buf_printf(out, "],\"whole_size\":\"%zuM\"", (left_out->whole_bytes >> 20) + 1);
}

/* For the marks on the time line: begin, end, records. */
static void put_losses(const struct ctx_profile *profile, struct ctx_buf *out)
{
	const char *before = "],\"losses\":[";

	for (size_t i = 0; i < profile->losses.n_items; i++) {
		const struct ctx_loss *loss = &profile->losses.items[i];

		if (!loss->located)
			continue;
		ctx_buf_printf(out, "%s[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", before, loss->time.begin_ns,
			       loss->time.end_ns, loss->count);
		before = ",";
	}
}

static void put_figures(const struct ctx_html_head *head, struct ctx_buf *out)
{
	const struct ctx_profile *profile = head->input->profile;
	const struct ctx_html_metric *metric = &head->metrics->metrics[0];
	struct ctx_html_sums sums = ctx_html_metrics_sums(head->metrics, metric);
	uint32_t buckets = head->metrics->buckets;

	ctx_buf_put_text(out, "{\"version\":1,\"experiment\":");
	ctx_name_put_json(out, profile->name);
	ctx_buf_put_text(out, ",\"metric\":");
	put_metric(metric, out);
	ctx_buf_printf(out,
		       "},\"duration_ns\":%" PRIu64 ",\"samples\":%" PRIu64 ",\"weight\":%" PRIu64
		       ",\"lost_samples\":%" PRIu64 ",\"coverage\":%.6f,\"omitted_weight\":%" PRIu64
		       ",\"resolution_ns\":%" PRIu64 ",\"buckets\":%u",
		       profile->run.end_ns, sums.samples, sums.weight, profile->losses.samples,
		       sums.weight != 0 ? 1.0 - (double)sums.dropped_weight / (double)sums.weight : 1.0,
		       sums.dropped_weight, profile->run.end_ns / buckets, buckets);
}

enum ctx_status ctx_html_head_put(const struct ctx_html_head *head, struct ctx_buf *out, struct ctx_err *err)
{
	const struct ctx_profile *profile = head->input->profile;
	enum ctx_status status;

	put_figures(head, out);
	put_metrics(head->metrics, out);
	if (head->left_out != NULL && head->left_out->n != 0)
		put_left_out(head->left_out, out);
	ctx_buf_put_text(out, ",\"properties\":[");
	for (size_t i = 0; i < profile->n_properties; i++)
		put_pair(out, i != 0 ? "," : "", &profile->properties[i]);
	put_losses(profile, out);
	ctx_buf_put_text(out, "],\"warnings\":[");
	ctx_buf_put(out, head->warnings.bytes, head->warnings.n);
	ctx_buf_put_u8(out, ']');
	status = ctx_html_marks_put(head->input->source, out, err);
	if (status != CTX_OK)
		return status;
	put_selected(out, head->input);
	return ctx_buf_check(out, err);
}

void ctx_html_head_deinit(struct ctx_html_head *head)
{
	ctx_buf_deinit(&head->warnings);
}
