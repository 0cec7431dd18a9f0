#include "report/out.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const struct ctx_out_backend *const backends[] = {
	[CTX_REPORT_TEXT] = &ctx_out_text, [CTX_REPORT_JSON] = &ctx_out_json, [CTX_REPORT_CSV] = &ctx_out_csv,
	[CTX_REPORT_HTML] = &ctx_out_html, [CTX_REPORT_ROWS] = &ctx_out_rows,
};

bool ctx_out_is_text(const struct ctx_out *out)
{
	return out->backend->for_reading;
}

bool ctx_out_has_lists(const struct ctx_out *out)
{
	return out->backend->list_begin != NULL;
}

void ctx_out_begin(struct ctx_out *out, const struct ctx_out_spec *spec)
{
	const struct ctx_report_selection *selection = spec->selection;
	struct ctx_head head = {.selection = *selection,
				.report = spec->kind->name,
				.totals = spec->topic != NULL ? spec->topic->totals : spec->totals,
				.omitted = spec->omitted,
				.has_other = spec->has_other,
				.more_weights = spec->more_weights,
				.n_more = spec->n_more,
				.topic = spec->topic,
				.preamble = spec->preamble};

	if (spec->whole_note != NULL)
		ctx_head_make_whole(&head, spec->whole_note);
	ctx_head_scale(&head);
	*out = (struct ctx_out){.backend = backends[spec->options->format],
				.profile = selection->profile,
				.options = spec->options,
				.head = head,
				.own_title = spec->own_title,
				.columns = spec->columns != NULL ? spec->columns : spec->kind->columns,
				.n_columns = spec->columns != NULL ? spec->n_columns : spec->kind->n_columns};
	out->backend->begin(out);
}

void ctx_out_spec_parts(struct ctx_out_spec *spec, const struct ctx_report_parts *parts)
{
	spec->totals = ctx_totals_of_parts(spec->selection->profile, parts);
	spec->omitted = parts->omitted;
	spec->has_other = parts->omitted.weight != 0 && parts->n == 1 && parts->n_metrics == 1;
}

void ctx_out_part(struct ctx_out *out, uint32_t thread, uint64_t weight)
{
	out->has_part = thread != CTX_NONE;
	out->part_weight = weight + (out->head.has_other ? out->head.omitted.weight : 0);
}

void ctx_out_row(struct ctx_out *out, const struct ctx_cell *cells)
{
	ctx_out_row_begin(out, cells);
	ctx_out_row_end(out);
}

void ctx_out_row_begin(struct ctx_out *out, const struct ctx_cell *cells)
{
	if (out->status == CTX_OK)
		out->backend->row_begin(out, cells);
}

void ctx_out_row_end(struct ctx_out *out)
{
	if (out->status == CTX_OK && out->backend->row_end != NULL)
		out->backend->row_end(out);
}

void ctx_out_list_begin(struct ctx_out *out, const char *key)
{
	if (out->status == CTX_OK && out->backend->list_begin != NULL)
		out->backend->list_begin(out, key);
}

void ctx_out_list_row(struct ctx_out *out, const struct ctx_column *columns, size_t n,
		      const struct ctx_cell *cells)
{
	ctx_out_list_row_begin(out, columns, n, cells);
	ctx_out_list_row_end(out);
}

void ctx_out_list_row_begin(struct ctx_out *out, const struct ctx_column *columns, size_t n,
			    const struct ctx_cell *cells)
{
	if (out->status == CTX_OK && out->backend->list_row_begin != NULL)
		out->backend->list_row_begin(out, columns, n, cells);
}

void ctx_out_list_row_end(struct ctx_out *out)
{
	if (out->status == CTX_OK && out->backend->list_row_end != NULL)
		out->backend->list_row_end(out);
}

void ctx_out_list_name(struct ctx_out *out, const char *name)
{
	if (out->status == CTX_OK && out->backend->list_name != NULL)
		out->backend->list_name(out, name);
}

void ctx_out_map(struct ctx_out *out, const char *key, const struct ctx_column *columns, size_t n,
		 const struct ctx_cell *cells)
{
	if (out->status == CTX_OK && out->backend->map != NULL)
		out->backend->map(out, key, columns, n, cells);
}

void ctx_out_list_end(struct ctx_out *out)
{
	if (out->status == CTX_OK && out->backend->list_end != NULL)
		out->backend->list_end(out);
}

void ctx_out_rule(struct ctx_out *out)
{
	out->next_has_rule = true;
}

void ctx_out_section(struct ctx_out *out, const char *title)
{
	if (out->backend->section != NULL)
		out->backend->section(out, title);
}

void ctx_out_line(struct ctx_out *out, const char *text)
{
	if (out->backend->line != NULL)
		out->backend->line(out, text);
}

void ctx_out_whole_line(struct ctx_out *out, const char *text)
{
	out->whole_line = true;
	ctx_out_line(out, text);
	out->whole_line = false;
}

void ctx_out_name_line(struct ctx_out *out, const char *before, const struct ctx_cell *cell)
{
	if (out->backend->name_line != NULL)
		out->backend->name_line(out, before, cell);
}

void ctx_out_wrapped(struct ctx_out *out, const char *first, const char *text, unsigned indent)
{
	if (out->backend->wrapped != NULL)
		out->backend->wrapped(out, first, text, indent);
}

void ctx_out_more(struct ctx_out *out, uint64_t left_out, const char *what)
{
	if (left_out != 0)
		ctx_out_line(out, ctx_out_format(out, "(%" PRIu64 " more %s%s)", left_out, what,
						 left_out == 1 ? "" : "s"));
}

void ctx_out_rows_end(struct ctx_out *out)
{
	if (out->backend->rows_end != NULL)
		out->backend->rows_end(out);
}

enum ctx_status ctx_out_end(struct ctx_out *out, struct ctx_err *err)
{
	const char *report = out->head.report;
	enum ctx_status status;

	if (out->backend->end != NULL)
		out->backend->end(out);
	if (fflush(out->options->out) != 0 || ferror(out->options->out) != 0)
		ctx_out_fail(out, CTX_E_IO);
	status = out->status;
	ctx_arena_deinit(&out->arena);
	ctx_buf_deinit(&out->line);
	free(out->rows);
	if (status == CTX_E_NOMEM)
		return ctx_err_nomem(err);
	if (status == CTX_E_IO)
		return ctx_err_set(err, status, "report %s: the output could not be written", report);
	return status == CTX_OK ? CTX_OK
				: ctx_err_set(err, status, "report %s: could not be printed", report);
}
