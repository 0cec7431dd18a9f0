/*
 * The HTML page: the template with metadata (JSON) and a profile (binary, gzip, base64) inserted.
 * The layout is in docs/html-page.md.
 *
 *	samples --html_cells--> cells ------+--html_profile--> bytes --gzip--> small enough? --no--> fewer buckets, fewer stacks
 *	raw stacks --html_sources--> sources'
 *	spans of states --html_cells, html_states--> states'
 */
#include "base/buf.h"
#include "base/mem.h"
#include "report/html_cells.h"
#include "report/html_profile.h"
#include "report/html_sources.h"
#include "report/html_states.h"
#include "report/html_template.h"
#include "report/names.h"
#include "report/report_exports.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <zlib.h>

#define MAX_BYTES ((size_t)5 << 20) /* unless --max-size says otherwise */
#define BUCKETS_MOST 4096u
#define BUCKETS_LEAST 64u
#define SOURCES_SHARE 5u /* the largest share of the available size that sources may use */
#define STATES_SHARE 5u	 /* and the states */
#define GZIP_WINDOW (15 + 16)
#define HEAD_MARK "/*CTX-HEAD*/"
#define PROFILE_MARK "/*CTX-PROFILE*/"

static enum ctx_status gzip(const struct ctx_buf *in, struct ctx_buf *out, struct ctx_err *err)
{
	z_stream stream = {0};
	uint8_t *room;
	int rc;

	if (in->n > UINT_MAX / 2)
		return ctx_err_set(err, CTX_E_LIMIT, "a profile of %zu bytes is too large for a page", in->n);
	if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 9, Z_DEFAULT_STRATEGY) != Z_OK)
		return ctx_err_nomem(err);
	ctx_buf_clear(out);
	room = ctx_buf_reserve(out, deflateBound(&stream, in->n));
	if (room == NULL) {
		deflateEnd(&stream);
		return ctx_err_nomem(err);
	}
	stream.next_in = in->bytes;
	stream.avail_in = (uInt)in->n;
	stream.next_out = room;
	stream.avail_out = (uInt)(out->cap - out->n);
	rc = deflate(&stream, Z_FINISH);
	out->n += stream.total_out;
	deflateEnd(&stream);
	return rc == Z_STREAM_END ? CTX_OK : ctx_err_set(err, CTX_E_INTERNAL, "zlib: %d", rc);
}

struct fitting {
	const struct ctx_export_input *input;
	struct ctx_cells cells;
	struct ctx_html_sources sources;
	struct ctx_cells states;
	bool has_states; /* and they fit */
	struct ctx_buf bytes, packed;
	size_t room; /* for the packed bytes */
};

static enum ctx_status pack(struct fitting *fitting, struct ctx_err *err)
{
	const struct ctx_html_profile page = {.profile = fitting->input->profile,
					      .cells = &fitting->cells,
					      .sources = &fitting->sources,
					      .states = fitting->has_states ? &fitting->states : NULL};
	enum ctx_status status;

	ctx_buf_clear(&fitting->bytes);
	status = ctx_html_profile_encode(&page, &fitting->bytes, err);
	return status == CTX_OK ? gzip(&fitting->bytes, &fitting->packed, err) : status;
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
			status = gzip(&fitting->bytes, &fitting->packed, err);
		fitting->has_states = fitting->packed.n <= fitting->room / STATES_SHARE;
		if (fitting->has_states || fitting->states.buckets <= BUCKETS_LEAST)
			break;
		ctx_cells_halve(&fitting->states);
	}
	return status;
}

/*
 * Reduces the page in steps: coarser in time; then without the lightest stacks, halving their
 * number each time; then without sources.
 */
static enum ctx_status fit(struct fitting *fitting, struct ctx_err *err)
{
	uint32_t n_stacks = fitting->input->profile->cct.n;
	enum ctx_status status = pack(fitting, err);

	while (status == CTX_OK && !fits(fitting) && fitting->cells.buckets > BUCKETS_LEAST) {
		ctx_cells_halve(&fitting->cells);
		status = pack(fitting, err);
	}
	for (uint32_t n = n_stacks / 2; status == CTX_OK && !fits(fitting) && n > 0; n /= 2) {
		status = ctx_cells_keep(&fitting->cells, n_stacks, n, err);
		if (status == CTX_OK)
			status = pack(fitting, err);
	}
	if (status == CTX_OK && !fits(fitting) && fitting->sources.n_groups != 0) {
		ctx_html_sources_drop(&fitting->sources, fitting->input->profile->n_functions);
		status = pack(fitting, err);
	}
	if (status == CTX_OK && !fits(fitting))
		status = ctx_err_set(err, CTX_E_LIMIT, "no page of this recording is as small as --max-size");
	return status;
}

static void put_pair(struct ctx_buf *head, const char *before, const struct ctx_property *property)
{
	ctx_buf_put_text(head, before);
	ctx_buf_put_u8(head, '[');
	ctx_name_put_json(head, property->key);
	ctx_buf_put_u8(head, ',');
	ctx_name_put_json(head, property->value);
	ctx_buf_put_u8(head, ']');
}

static void put_selected(struct ctx_buf *head, const struct ctx_export_input *input)
{
	const struct ctx_report_selection *selection = input->selection;

	ctx_buf_put_text(head, ",\"selected\":{\"intervals_ns\":[");
	for (size_t i = 0; i < selection->n_intervals; i++)
		ctx_buf_printf(head, "%s[%" PRIu64 ",%" PRIu64 "]", i != 0 ? "," : "",
			       selection->intervals[i].begin_ns, selection->intervals[i].end_ns);
	ctx_buf_put_text(head, "],\"threads\":");
	if (selection->threads == NULL) {
		ctx_buf_put_text(head, "null");
	} else {
		for (size_t i = 0; i < selection->n_threads; i++)
			ctx_buf_printf(head, "%c%u", i != 0 ? ',' : '[', selection->threads[i]);
		ctx_buf_put_text(head, selection->n_threads != 0 ? "]" : "[]");
	}
	ctx_buf_put_text(head, ",\"reports\":[");
	for (size_t i = 0; i < input->n_reports; i++) {
		ctx_buf_put_text(head, i != 0 ? "," : "");
		ctx_name_put_json(head, input->reports[i]);
	}
	ctx_buf_put_text(head, "]}}");
}

static bool is_spans(const struct ctx_profile *profile, const struct ctx_metric_info *metric)
{
	return ctx_metric_is_clipped(metric->n_parts != 0 ? &profile->metrics[metric->parts[0]] : metric);
}

static void put_head(struct ctx_buf *head, const struct ctx_export_input *input,
		     const struct ctx_cells *cells)
{
	const struct ctx_profile *profile = input->profile;
	const struct ctx_metric_info *metric = &profile->metrics[input->metric];

	ctx_buf_put_text(head, "{\"version\":1,\"experiment\":");
	ctx_name_put_json(head, profile->name);
	ctx_buf_put_text(head, ",\"metric\":{\"name\":");
	ctx_name_put_json(head, metric->name);
	ctx_buf_put_text(head, ",\"unit\":");
	ctx_name_put_json(head, ctx_unit_word(metric->unit));
	if (is_spans(profile, metric))
		ctx_buf_put_text(head, ",\"spans\":true");
	ctx_buf_printf(head,
		       "},\"duration_ns\":%" PRIu64 ",\"samples\":%" PRIu64 ",\"weight\":%" PRIu64
		       ",\"lost_samples\":%" PRIu64 ",\"coverage\":%.6f,\"omitted_weight\":%" PRIu64
		       ",\"resolution_ns\":%" PRIu64 ",\"buckets\":%u",
		       profile->run.end_ns, cells->samples, cells->weight, profile->losses.samples,
		       cells->weight != 0 ? 1.0 - (double)cells->dropped_weight / (double)cells->weight : 1.0,
		       cells->dropped_weight, profile->run.end_ns / cells->buckets, cells->buckets);
	ctx_buf_put_text(head, ",\"properties\":[");
	for (size_t i = 0; i < profile->n_properties; i++)
		put_pair(head, i != 0 ? "," : "", &profile->properties[i]);
	ctx_buf_put_text(head, "],\"warnings\":[");
	for (size_t i = 0; i < profile->n_warnings; i++) {
		ctx_buf_put_text(head, i != 0 ? "," : "");
		ctx_name_put_json(head, profile->warnings[i]);
	}
	ctx_buf_put_u8(head, ']');
	put_selected(head, input);
}

/* '<' occurs only in strings of the metadata: written as an escape, it cannot end the element. */
static void write_head(const struct ctx_buf *head, FILE *out)
{
	for (size_t i = 0; i < head->n; i++) {
		if (head->bytes[i] == '<')
			fputs("\\u003c", out);
		else
			putc(head->bytes[i], out);
	}
}

static void write_base64(const struct ctx_buf *bytes, FILE *out)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < bytes->n; i += 3) {
		size_t left = bytes->n - i;
		uint32_t three = (uint32_t)bytes->bytes[i] << 16 |
				 (left > 1 ? (uint32_t)bytes->bytes[i + 1] << 8 : 0) |
				 (left > 2 ? bytes->bytes[i + 2] : 0);

		putc(digits[three >> 18], out);
		putc(digits[three >> 12 & 63], out);
		putc(left > 1 ? digits[three >> 6 & 63] : '=', out);
		putc(left > 2 ? digits[three & 63] : '=', out);
	}
}

static enum ctx_status write_page(const struct fitting *fitting, const struct ctx_buf *head, FILE *out,
				  struct ctx_err *err)
{
	struct ctx_html_template page = ctx_html_template();
	const char *head_at = memmem(page.bytes, page.n, HEAD_MARK, strlen(HEAD_MARK));
	const char *profile_at = memmem(page.bytes, page.n, PROFILE_MARK, strlen(PROFILE_MARK));
	const char *end = page.bytes + page.n;

	if (head_at == NULL || profile_at == NULL || profile_at < head_at)
		return ctx_err_set(err, CTX_E_INTERNAL,
				   "the template of the page has no place for a profile");
	fwrite(page.bytes, 1, (size_t)(head_at - page.bytes), out);
	write_head(head, out);
	head_at += strlen(HEAD_MARK);
	fwrite(head_at, 1, (size_t)(profile_at - head_at), out);
	write_base64(&fitting->packed, out);
	profile_at += strlen(PROFILE_MARK);
	fwrite(profile_at, 1, (size_t)(end - profile_at), out);
	return CTX_OK;
}

static void CTX_PRINTF(2, 3) put_remark(const struct ctx_export_input *input, const char *format, ...)
{
	char text[160];
	va_list args;

	if (input->remark == NULL)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	input->remark(input->remark_context, text);
}

static void put_remarks(const struct fitting *fitting)
{
	const struct ctx_export_input *input = fitting->input;
	const struct ctx_cells *cells = &fitting->cells, *states = &fitting->states;
	double end_ms = (double)input->profile->run.end_ns / 1e6;

	if (cells->buckets < BUCKETS_MOST)
		put_remark(input, "to fit --max-size, intervals begin and end at multiples of %.3f ms",
			   end_ms / cells->buckets);
	if (cells->dropped_weight != 0)
		put_remark(input, "to fit --max-size, the page has the stacks of %.2f %% of the weight",
			   100.0 * (1.0 - (double)cells->dropped_weight / (double)cells->weight));
	if (input->profile->has_states && !fitting->has_states)
		put_remark(input, "to fit --max-size, the page has no thread states");
	else if (input->profile->has_states && states->buckets < cells->buckets)
		put_remark(input, "to fit --max-size, thread states are those of multiples of %.3f ms",
			   end_ms / states->buckets);
}

static enum ctx_status write_html(const struct ctx_export_input *input, FILE *out, struct ctx_err *err)
{
	size_t max = input->max_bytes != 0 ? input->max_bytes : MAX_BYTES;
	struct fitting fitting = {.input = input};
	struct ctx_buf head = {0};
	enum ctx_status status = ctx_cells_collect(&fitting.cells, input, BUCKETS_MOST, err);

	if (status == CTX_OK) {
		put_head(
			&head, input,
			&fitting.cells); /* only for its size: the final one differs by a few bytes at most */
		status = ctx_buf_check(&head, err);
	}
	if (status == CTX_OK) {
		size_t fixed = ctx_html_template().n + head.n + 64;

		fitting.room = max > fixed ? (max - fixed) / 4 * 3 : 0;
		status = ctx_html_sources_make(input->source, fitting.cells.unit_weight,
					       fitting.room / SOURCES_SHARE, &fitting.sources, err);
	}
	if (status == CTX_OK)
		status = make_states(&fitting, err);
	if (status == CTX_OK)
		status = fit(&fitting, err);
	if (status == CTX_OK) {
		ctx_buf_clear(&head);
		put_head(&head, input, &fitting.cells);
		status = ctx_buf_check(&head, err);
	}
	if (status == CTX_OK)
		status = write_page(&fitting, &head, out, err);
	if (status == CTX_OK)
		put_remarks(&fitting);
	ctx_buf_deinit(&head);
	ctx_buf_deinit(&fitting.bytes);
	ctx_buf_deinit(&fitting.packed);
	ctx_cells_deinit(&fitting.cells);
	ctx_cells_deinit(&fitting.states);
	ctx_html_sources_deinit(&fitting.sources);
	return status;
}

const struct ctx_export_kind ctx_export_html = {
	.name = "html",
	.suffix = ".html",
	.binary = true,
	.takes_reports = true,
	.takes_max_size = true,
	.write = write_html,
};
