/*
 * The HTML page: the template with metadata (JSON) and a profile (binary, gzip, base64) inserted.
 * The layout is in docs/html-page.md.
 *
 *	samples --html_metrics--> cells ----+--html_profile--> bytes --gzip--> small enough? --no--> fewer buckets, metrics, stacks
 *	raw stacks --html_sources--> sources'
 *	spans of states --html_cells, html_states--> states'
 *	calls, locks --html_calls--> spans of calls'
 *
 * What was left out stands in the metadata, with the size of a page that has everything.
 */
#include "base/buf.h"
#include "base/mem.h"
#include "report/head.h"
#include "report/html_calls.h"
#include "report/html_file.h"
#include "report/html_head.h"
#include "report/html_profile.h"
#include "report/html_states.h"
#include "report/html_template.h"
#include "report/report_exports.h"

#include <stdarg.h>
#include <string.h>

#define MAX_BYTES ((size_t)20 << 20) /* unless --max-size says otherwise */
#define BUCKETS_MOST 4096u
#define BUCKETS_METRICS 512u /* at least so many before metrics that nobody named are left out */
#define BUCKETS_LEAST 64u
#define SOURCES_SHARE 5u /* the largest share of the available size that sources may use */
#define STATES_SHARE 5u	 /* and the states */
#define CALLS_SHARE 3u	 /* and the calls */
#define CALL_BYTES 6u	 /* that a packed span of calls takes, about: only so many are made */

struct fitting {
	const struct ctx_export_input *input;
	struct ctx_html_metrics metrics;
	size_t n_metrics; /* before any were left out */
	struct ctx_html_sources sources;
	struct ctx_cells states;
	bool has_states; /* and they fit */
	struct ctx_html_calls calls;
	bool has_calls; /* and they fit */
	struct ctx_buf bytes, packed;
	size_t fixed;	    /* bytes of the page besides the profile */
	size_t room;	    /* for the packed bytes */
	size_t states_full; /* packed states with the finest resolution */
	size_t calls_full;  /* packed calls if each had a span, about */
	struct ctx_html_left_out left_out;
};

static enum ctx_status pack(struct fitting *fitting, struct ctx_err *err)
{
	const struct ctx_html_profile page = {.metrics = &fitting->metrics,
					      .sources = &fitting->sources,
					      .states = fitting->has_states ? &fitting->states : NULL,
					      .calls = fitting->has_calls ? &fitting->calls : NULL};
	enum ctx_status status;

	ctx_buf_clear(&fitting->bytes);
	status = ctx_html_profile_encode(&page, &fitting->bytes, err);
	return status == CTX_OK ? ctx_html_gzip(&fitting->bytes, &fitting->packed, err) : status;
}

static bool fits(const struct fitting *fitting)
{
	return fitting->packed.n <= fitting->room;
}

/* Adds thread states with the finest resolution that fits into their share of the size. */
static enum ctx_status make_states(struct fitting *fitting, struct ctx_err *err)
{
	const struct ctx_profile *profile = fitting->input->profile;
	enum ctx_status status = CTX_OK;

	if (profile->has_states)
		status = ctx_cells_collect_states(&fitting->states, fitting->input, BUCKETS_MOST, err);
	while (profile->has_states && status == CTX_OK) {
		ctx_buf_clear(&fitting->bytes);
		ctx_html_states_put(&fitting->states, profile->run.end_ns, &fitting->bytes);
		status = ctx_buf_check(&fitting->bytes, err);
		if (status == CTX_OK)
			status = ctx_html_gzip(&fitting->bytes, &fitting->packed, err);
		if (fitting->states_full == 0)
			fitting->states_full = fitting->packed.n;
		fitting->has_states = fitting->packed.n <= fitting->room / STATES_SHARE;
		if (fitting->has_states || fitting->states.buckets <= BUCKETS_LEAST)
			break;
		ctx_cells_halve(&fitting->states);
	}
	return status;
}

static enum ctx_status pack_calls(struct fitting *fitting, const uint32_t *nodes, struct ctx_err *err)
{
	enum ctx_status status;

	ctx_buf_clear(&fitting->bytes);
	ctx_html_calls_put(&fitting->calls, nodes, &fitting->bytes);
	status = ctx_buf_check(&fitting->bytes, err);
	return status == CTX_OK ? ctx_html_gzip(&fitting->bytes, &fitting->packed, err) : status;
}

/* Joins calls to runs until they fit into their share of the size. */
static enum ctx_status fit_calls(struct fitting *fitting, const uint32_t *nodes, struct ctx_err *err)
{
	size_t room = fitting->room / CALLS_SHARE, n = SIZE_MAX;
	enum ctx_status status = pack_calls(fitting, nodes, err);

	while (status == CTX_OK && fitting->packed.n > room &&
	       fitting->calls.spans.n + fitting->calls.locks.n < n) {
		size_t most;

		n = fitting->calls.spans.n + fitting->calls.locks.n;
		most = (size_t)((double)n * (double)room / (double)fitting->packed.n * 0.9);
		status = ctx_html_calls_reduce(&fitting->calls, most, err);
		if (status == CTX_OK)
			status = pack_calls(fitting, nodes, err);
	}
	fitting->has_calls = status == CTX_OK && fitting->packed.n <= room;
	return status;
}

/* Those of the whole run; where not each has a span those of the selection, if that is less, which has more room for each. */
static enum ctx_status make_calls(struct fitting *fitting, struct ctx_err *err)
{
	const struct ctx_profile *profile = fitting->input->profile;
	uint32_t *nodes CTX_AUTO_FREE = NULL; /* their numbers in the page are as long */
	size_t most = fitting->room / CALLS_SHARE / CALL_BYTES + 1;
	enum ctx_status status;

	if (!ctx_html_calls_are_there(profile))
		return CTX_OK;
	nodes = ctx_calloc(profile->cct.n, sizeof(*nodes));
	if (nodes == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < profile->cct.n; i++)
		nodes[i] = i;
	fitting->calls.input = fitting->input;
	status = ctx_html_calls_collect(&fitting->calls, most, err);
	if (status == CTX_OK)
		status = fit_calls(fitting, nodes, err);
	if (status != CTX_OK)
		return status;
	if (fitting->calls.spans.n != 0)
		fitting->calls_full = (size_t)((double)fitting->packed.n * (double)fitting->calls.n_calls /
					       (double)fitting->calls.spans.n);
	if (ctx_html_calls_width(&fitting->calls) == 0 || ctx_head_is_whole_run(fitting->input->selection))
		return CTX_OK;
	fitting->calls.is_restricted = true;
	status = ctx_html_calls_collect(&fitting->calls, most, err);
	return status == CTX_OK ? fit_calls(fitting, nodes, err) : status;
}

/*
 * Halves the number of buckets until the page fits, or there are only so many. Half as many buckets
 * have at least half of the entries: what cannot fit is not packed.
 */
static enum ctx_status coarsen(struct fitting *fitting, uint32_t least, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	while (status == CTX_OK && !fits(fitting) && fitting->metrics.buckets > least) {
		size_t smallest = fitting->packed.n;

		do {
			ctx_html_metrics_halve(&fitting->metrics);
			smallest /= 2;
		} while (smallest > fitting->room && fitting->metrics.buckets > least);
		status = pack(fitting, err);
	}
	return status;
}

static enum ctx_status leave_out_metrics(struct fitting *fitting, struct ctx_err *err)
{
	enum ctx_status status = ctx_html_metrics_first(&fitting->metrics, BUCKETS_MOST, err);

	return status == CTX_OK ? pack(fitting, err) : status;
}

/* The size of a page in which nothing of this one is missing, with some room to spare. */
static size_t whole_bytes(const struct fitting *fitting)
{
	bool fine_states = fitting->has_states && fitting->states.buckets == BUCKETS_MOST;
	size_t room = fitting->packed.n + (fine_states ? 0 : fitting->states_full);

	if (room < fitting->states_full * STATES_SHARE)
		room = fitting->states_full * STATES_SHARE;
	if (room < fitting->calls_full * CALLS_SHARE)
		room = fitting->calls_full * CALLS_SHARE;
	return fitting->fixed + room / 3 * 4 + room / 10 + 4096;
}

/*
 * Reduces the page in steps: coarser in time, and if that is not enough without the metrics that
 * nobody named; then without the lightest stacks, halving their number each time; then without
 * sources; then without calls.
 */
static enum ctx_status fit(struct fitting *fitting, struct ctx_err *err)
{
	uint32_t n_stacks = fitting->input->profile->cct.n;
	enum ctx_status status = pack(fitting, err);

	fitting->left_out.whole_bytes = whole_bytes(fitting);
	if (status == CTX_OK && fitting->metrics.usual && fitting->metrics.n > 1) {
		if (fitting->packed.n / (BUCKETS_MOST / BUCKETS_METRICS) <= fitting->room)
			status = coarsen(fitting, BUCKETS_METRICS, err);
		if (status == CTX_OK && !fits(fitting))
			status = leave_out_metrics(fitting, err);
	}
	if (status == CTX_OK)
		status = coarsen(fitting, BUCKETS_LEAST, err);
	for (uint32_t n = n_stacks / 2; status == CTX_OK && !fits(fitting) && n > 0; n /= 2) {
		status = ctx_html_metrics_keep(&fitting->metrics, n, err);
		if (status == CTX_OK)
			status = pack(fitting, err);
	}
	if (status == CTX_OK && !fits(fitting) && fitting->sources.n_groups != 0) {
		ctx_html_sources_drop(&fitting->sources, fitting->input->profile->n_functions);
		status = pack(fitting, err);
	}
	if (status == CTX_OK && !fits(fitting) && fitting->has_calls) {
		fitting->has_calls = false;
		status = pack(fitting, err);
	}
	if (status == CTX_OK && !fits(fitting))
		status = ctx_err_set(err, CTX_E_LIMIT, "no page of this recording is as small as --max-size");
	return status;
}

static void CTX_PRINTF(2, 3) leave_out(struct ctx_html_left_out *left_out, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(left_out->texts[left_out->n], sizeof(left_out->texts[0]), format, args);
	va_end(args);
	left_out->n++;
}

/* What of the metrics the stacks of the page have, the least of all. */
static double coverage(const struct ctx_html_metrics *metrics)
{
	double least = 1;

	for (size_t i = 0; i < metrics->n; i++) {
		struct ctx_html_sums sums = ctx_html_metrics_sums(metrics, &metrics->metrics[i]);
		double share = sums.weight != 0 ? 1.0 - (double)sums.dropped_weight / (double)sums.weight : 1;

		least = share < least ? share : least;
	}
	return least;
}

/* At most CTX_HTML_LEFT_OUT_MAX texts: one for each step of fit(), two of calls. */
static void list_left_out(struct fitting *fitting)
{
	struct ctx_html_left_out *list = &fitting->left_out;
	const struct ctx_html_metrics *metrics = &fitting->metrics;
	double end_ms = (double)fitting->input->profile->run.end_ns / 1e6, kept = coverage(metrics);
	bool has_states = fitting->input->profile->has_states;

	if (metrics->buckets < BUCKETS_MOST)
		leave_out(list, "intervals begin and end at multiples of %.3f ms", end_ms / metrics->buckets);
	if (metrics->n < fitting->n_metrics)
		leave_out(list, "the page has no stacks of Wall and of waits");
	if (kept < 1)
		leave_out(list, "the page has the stacks of %.2f %% of the weight", 100.0 * kept);
	if (fitting->sources.dropped)
		leave_out(list, "the page has no source lines");
	if (has_states && !fitting->has_states)
		leave_out(list, "the page has no thread states");
	else if (has_states && fitting->states.buckets < metrics->buckets)
		leave_out(list, "thread states are those of multiples of %.3f ms",
			  end_ms / fitting->states.buckets);
}

static void list_calls(struct fitting *fitting)
{
	const struct ctx_html_calls *calls = &fitting->calls;
	uint64_t width_ns = ctx_html_calls_width(calls);
	char width[40];

	if (ctx_html_calls_are_there(fitting->input->profile) && !fitting->has_calls) {
		leave_out(&fitting->left_out, "the page has no calls over time");
		return;
	}
	if (calls->is_restricted)
		leave_out(&fitting->left_out, "the page has the calls over time of what was selected alone");
	ctx_time_format(width_ns, width, sizeof(width));
	if (width_ns != 0)
		leave_out(&fitting->left_out,
			  "calls of less than %s are in runs of several (-i, -t: those of an interval have "
			  "more room)",
			  width);
}

static void put_remarks(const struct fitting *fitting)
{
	const struct ctx_export_input *input = fitting->input;
	const struct ctx_html_left_out *left_out = &fitting->left_out;

	for (size_t i = 0; i < left_out->n && input->remark != NULL; i++) {
		char text[2 * sizeof(left_out->texts[0])];

		snprintf(text, sizeof(text), "to fit --max-size, %s", left_out->texts[i]);
		input->remark(input->remark_context, text);
	}
}

static enum ctx_status make(struct fitting *fitting, struct ctx_err *err)
{
	enum ctx_status status =
		ctx_html_sources_make(fitting->input->source, fitting->metrics.bases[0].cells.unit_weight,
				      fitting->room / SOURCES_SHARE, &fitting->sources, err);

	if (status == CTX_OK)
		status = make_states(fitting, err);
	if (status == CTX_OK)
		status = make_calls(fitting, err);
	if (status == CTX_OK)
		status = fit(fitting, err);
	if (status == CTX_OK) {
		list_left_out(fitting);
		list_calls(fitting);
	}
	return status;
}

static enum ctx_status write_html(const struct ctx_export_input *input, FILE *out, struct ctx_err *err)
{
	size_t max = input->max_bytes != 0 ? input->max_bytes : MAX_BYTES;
	struct fitting fitting = {.input = input};
	struct ctx_html_head head = {.input = input, .metrics = &fitting.metrics};
	struct ctx_buf text = {0};
	enum ctx_status status = ctx_html_metrics_collect(&fitting.metrics, input, BUCKETS_MOST, err);

	fitting.n_metrics = fitting.metrics.n;
	if (status == CTX_OK)
		status = ctx_html_head_warn(&head, err);
	if (status == CTX_OK) { /* only for its size: the final one has what is left out besides */
		status = ctx_html_head_put(&head, &text, err);
		fitting.fixed = ctx_html_template().n + text.n + sizeof(fitting.left_out.texts) + 64;
		fitting.room = max > fitting.fixed ? (max - fitting.fixed) / 4 * 3 : 0;
	}
	if (status == CTX_OK)
		status = make(&fitting, err);
	if (status == CTX_OK) {
		ctx_buf_clear(&text);
		head.left_out = &fitting.left_out;
		status = ctx_html_head_put(&head, &text, err);
	}
	if (status == CTX_OK)
		status = ctx_html_file_write(ctx_html_template(),
					     &(struct ctx_html_file){&text, &fitting.packed}, out, err);
	if (status == CTX_OK)
		put_remarks(&fitting);
	ctx_buf_deinit(&text);
	ctx_html_head_deinit(&head);
	ctx_buf_deinit(&fitting.bytes);
	ctx_buf_deinit(&fitting.packed);
	ctx_html_metrics_deinit(&fitting.metrics);
	ctx_cells_deinit(&fitting.states);
	ctx_html_calls_deinit(&fitting.calls);
	ctx_html_sources_deinit(&fitting.sources);
	return status;
}

const struct ctx_export_kind ctx_export_html = {
	.name = "html",
	.suffix = ".html",
	.binary = true,
	.takes_reports = true,
	.takes_max_size = true,
	.takes_metrics = true,
	.takes_difference = true, /* another page: report/diff_html.h */
	.write = write_html,
};
