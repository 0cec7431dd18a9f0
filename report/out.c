#include "report/out.h"

#include "base/mem.h"
#include "report/head.h"
#include "report/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void ctx_out_fail(struct ctx_out *out, enum ctx_status status)
{
	if (out->status == CTX_OK)
		out->status = status;
}

bool ctx_out_is_text(const struct ctx_out *out)
{
	return out->options->format == CTX_REPORT_TEXT;
}

struct ctx_metric_info ctx_out_metric(const struct ctx_out *out)
{
	return out->topic != NULL ? out->topic->metric : ctx_head_metric(out->input);
}

static void begin(struct ctx_out *out)
{
	if (out->topic != NULL)
		out->totals = out->topic->totals;
	else
		ctx_head_totals(out->input, &out->totals);
	out->scale = ctx_scale_for(ctx_out_metric(out).unit, out->totals.weight);
	switch (out->options->format) {
	case CTX_REPORT_TEXT:
		ctx_head_print(out);
		break;
	case CTX_REPORT_JSON:
		ctx_out_json_begin(out);
		break;
	case CTX_REPORT_CSV:
		ctx_out_csv_header(out);
		break;
	}
}

void ctx_out_begin(struct ctx_out *out, const struct ctx_report_input *input,
		   const struct ctx_report_options *options, const char *report,
		   const struct ctx_column *columns, size_t n_columns)
{
	*out = (struct ctx_out){.input = input,
				.options = options,
				.report = report,
				.columns = columns,
				.n_columns = n_columns};
	begin(out);
}

void ctx_out_begin_topic(struct ctx_out *out, const struct ctx_report_input *input,
			 const struct ctx_report_options *options, const struct ctx_out_topic *topic,
			 const char *report, const struct ctx_column *columns, size_t n_columns)
{
	*out = (struct ctx_out){.input = input,
				.options = options,
				.report = report,
				.topic = topic,
				.note = topic->note,
				.columns = columns,
				.n_columns = n_columns};
	begin(out);
}

void ctx_out_begin_whole(struct ctx_out *out, const struct ctx_report_input *input,
			 struct ctx_report_input *whole, const char *note,
			 const struct ctx_report_options *options, const char *report,
			 const struct ctx_column *columns, size_t n_columns)
{
	*whole = ctx_head_whole_run(input);
	*out = (struct ctx_out){.input = whole,
				.options = options,
				.report = report,
				.note = ctx_head_is_whole_run(input) ? NULL : note,
				.columns = columns,
				.n_columns = n_columns};
	begin(out);
}

void ctx_out_row(struct ctx_out *out, const struct ctx_cell *cells)
{
	ctx_out_row_begin(out, cells);
	ctx_out_row_end(out);
}

void ctx_out_row_begin(struct ctx_out *out, const struct ctx_cell *cells)
{
	if (out->status != CTX_OK)
		return;
	switch (out->options->format) {
	case CTX_REPORT_TEXT:
		ctx_out_text_row(out, cells);
		break;
	case CTX_REPORT_JSON:
		ctx_out_json_row_begin(out);
		ctx_out_json_cells(out, out->columns, out->n_columns, cells);
		break;
	case CTX_REPORT_CSV:
		ctx_out_csv_row(out, cells);
		break;
	}
}

void ctx_out_row_end(struct ctx_out *out)
{
	if (out->options->format == CTX_REPORT_JSON)
		ctx_out_json_row_end(out);
}

void ctx_out_list_begin(struct ctx_out *out, const char *key)
{
	if (out->options->format == CTX_REPORT_JSON)
		ctx_out_json_list_begin(out, key);
}

void ctx_out_list_row(struct ctx_out *out, const struct ctx_column *columns, size_t n,
		      const struct ctx_cell *cells)
{
	if (out->options->format != CTX_REPORT_JSON)
		return;
	ctx_out_json_row_begin(out);
	ctx_out_json_cells(out, columns, n, cells);
	ctx_out_json_row_end(out);
}

void ctx_out_list_name(struct ctx_out *out, const char *name)
{
	if (out->options->format == CTX_REPORT_JSON)
		ctx_out_json_name(out, name);
}

void ctx_out_map(struct ctx_out *out, const char *key, const struct ctx_column *columns, size_t n,
		 const struct ctx_cell *cells)
{
	if (out->options->format == CTX_REPORT_JSON)
		ctx_out_json_map(out, key, columns, n, cells);
}

void ctx_out_list_end(struct ctx_out *out)
{
	if (out->options->format == CTX_REPORT_JSON)
		ctx_out_json_list_end(out);
}

void ctx_out_rule(struct ctx_out *out)
{
	out->next_has_rule = true;
}

/* Both make their line before the table is printed: the text may live in the arena that this empties. */
static void flush_and_print(struct ctx_out *out, struct ctx_buf *line)
{
	ctx_buf_put_u8(line, '\n');
	ctx_out_text_flush(out);
	if (line->failed)
		ctx_out_fail(out, CTX_E_NOMEM);
	else
		fwrite(line->bytes, 1, line->n, out->options->out);
	ctx_buf_deinit(line);
}

static size_t line_width(const struct ctx_out *out)
{
	return out->options->width != 0 ? out->options->width : SIZE_MAX;
}

void ctx_out_section(struct ctx_out *out, const char *title)
{
	struct ctx_buf safe = {0}, line = {0};

	if (!ctx_out_is_text(out))
		return;
	if (title == NULL) {
		ctx_out_text_flush(out);
		return;
	}
	ctx_name_put_text(&safe, title, out->options->ascii);
	ctx_buf_put_u8(&line, '\n');
	if (safe.failed)
		ctx_out_fail(out, CTX_E_NOMEM);
	else
		ctx_text_cut(&line, (const char *)safe.bytes, safe.n, line_width(out), out->options->ascii);
	ctx_buf_deinit(&safe);
	flush_and_print(out, &line);
}

void ctx_out_line(struct ctx_out *out, const char *text)
{
	struct ctx_buf line = {0};

	if (!ctx_out_is_text(out))
		return;
	ctx_text_cut(&line, text, strlen(text), line_width(out), out->options->ascii);
	if (out->n_rows != 0) {
		flush_and_print(out, &line);
		return;
	}
	ctx_buf_put_u8(&line, '\n');
	if (line.failed)
		ctx_out_fail(out, CTX_E_NOMEM);
	else
		fwrite(line.bytes, 1, line.n, out->options->out);
	ctx_buf_deinit(&line);
}

void ctx_out_more(struct ctx_out *out, uint64_t left_out, const char *what)
{
	if (left_out != 0)
		ctx_out_line(out, ctx_out_format(out, "(%" PRIu64 " more %s%s)", left_out, what,
						 left_out == 1 ? "" : "s"));
}

void ctx_out_rows_end(struct ctx_out *out)
{
	if (ctx_out_is_text(out))
		ctx_out_text_flush(out);
	else if (out->options->format == CTX_REPORT_JSON)
		ctx_out_json_rows_end(out);
}

enum ctx_status ctx_out_end(struct ctx_out *out, struct ctx_err *err)
{
	enum ctx_status status;

	if (ctx_out_is_text(out))
		ctx_out_text_flush(out);
	else if (out->options->format == CTX_REPORT_JSON)
		ctx_out_json_end(out);
	if (fflush(out->options->out) != 0 || ferror(out->options->out) != 0)
		ctx_out_fail(out, CTX_E_IO);
	status = out->status;
	ctx_arena_deinit(&out->arena);
	ctx_buf_deinit(&out->line);
	free(out->rows);
	if (status == CTX_E_NOMEM)
		return ctx_err_nomem(err);
	if (status == CTX_E_IO)
		return ctx_err_set(err, status, "report %s: the output could not be written", out->report);
	return status == CTX_OK ? CTX_OK
				: ctx_err_set(err, status, "report %s: could not be printed", out->report);
}

const char *ctx_out_format(struct ctx_out *out, const char *fmt, ...)
{
	va_list args;
	char *text;
	int n;

	va_start(args, fmt);
	n = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	text = n >= 0 ? ctx_arena_alloc(&out->arena, (size_t)n + 1) : NULL;
	if (text == NULL) {
		ctx_out_fail(out, CTX_E_NOMEM);
		return "";
	}
	va_start(args, fmt);
	vsnprintf(text, (size_t)n + 1, fmt, args);
	va_end(args);
	return text;
}
