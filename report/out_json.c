/*
 * JSON through yajl's generator, which handles commas and nesting. Strings and large numbers are
 * passed as preformatted tokens (yajl_gen_number writes its text unchanged): yajl's own strings
 * would leave direction overrides and C1 controls unescaped, and its integers end at 2^63 - 1.
 *
 * Each row is on its own line, so that files can be compared with diff.
 */
#include "report/loss_notes.h"
#include "report/names.h"
#include "report/out_backend.h"

#include <inttypes.h>
#include <string.h>

#include <yajl/yajl_gen.h>

static void print(void *context, const char *text, size_t n)
{
	struct ctx_out *out = context;
	FILE *file = out->options->out;

	fwrite(text, 1, n, file);
	if (out->gen_at_row && n == 1 && (*text == ',' || *text == '[')) {
		fputc('\n', file);
		out->gen_at_row = false;
	}
}

static void check(struct ctx_out *out, yajl_gen_status status)
{
	if (status != yajl_gen_status_ok)
		ctx_out_fail(out, CTX_E_INTERNAL);
}

static void put_token(struct ctx_out *out)
{
	if (out->line.failed) {
		ctx_out_fail(out, CTX_E_NOMEM);
		return;
	}
	check(out, yajl_gen_number(out->gen, (const char *)out->line.bytes, out->line.n));
}

static void put_name(struct ctx_out *out, const char *name)
{
	ctx_buf_clear(&out->line);
	ctx_name_put_json(&out->line, name);
	put_token(out);
}

static void put_number(struct ctx_out *out, uint64_t number)
{
	ctx_buf_clear(&out->line);
	ctx_buf_printf(&out->line, "%" PRIu64, number);
	put_token(out);
}

static void put_key(struct ctx_out *out, const char *key)
{
	check(out, yajl_gen_string(out->gen, (const unsigned char *)key, strlen(key)));
}

static void put_warning(void *context, const char *text)
{
	put_name(context, text);
}

static void put_selection(struct ctx_out *out)
{
	const struct ctx_report_selection *selection = &out->head.selection;

	put_key(out, "intervals_ns");
	check(out, yajl_gen_array_open(out->gen));
	for (size_t i = 0; i < selection->n_intervals; i++) {
		check(out, yajl_gen_array_open(out->gen));
		put_number(out, selection->intervals[i].begin_ns);
		put_number(out, selection->intervals[i].end_ns);
		check(out, yajl_gen_array_close(out->gen));
	}
	check(out, yajl_gen_array_close(out->gen));
	put_key(out, "threads");
	if (selection->threads == NULL) {
		check(out, yajl_gen_null(out->gen));
	} else {
		check(out, yajl_gen_array_open(out->gen));
		for (size_t i = 0; i < selection->n_threads; i++)
			put_number(out, (uint64_t)ctx_head_tid(out->profile, selection->threads[i]));
		check(out, yajl_gen_array_close(out->gen));
	}
}

static void put_metric(struct ctx_out *out, struct ctx_metric_info metric)
{
	check(out, yajl_gen_map_open(out->gen));
	put_key(out, "name");
	put_name(out, metric.name);
	if (metric.word != NULL) {
		put_key(out, "word");
		put_name(out, metric.word);
	}
	put_key(out, "unit");
	put_name(out, ctx_unit_word(metric.unit));
	check(out, yajl_gen_map_close(out->gen));
}

static void put_loss(struct ctx_out *out, const struct ctx_loss *loss)
{
	static const char *const KINDS[CTX_LOSS_KIND_N] = {"samples", "changes", "others", "calls"};

	check(out, yajl_gen_map_open(out->gen));
	if (loss->located) {
		put_key(out, "begin");
		put_number(out, loss->time.begin_ns);
		put_key(out, "end");
		put_number(out, loss->time.end_ns);
	}
	if (loss->cpu >= 0) {
		put_key(out, "cpu");
		put_number(out, (uint64_t)loss->cpu);
	}
	put_key(out, "count");
	put_number(out, loss->count);
	if (loss->has_thread && loss->thread < out->profile->n_threads) {
		put_key(out, "thread");
		put_number(out, (uint64_t)out->profile->threads[loss->thread].tid);
		put_key(out, "thread_id");
		put_number(out, loss->thread);
	}
	for (int i = 0; i < CTX_LOSS_KIND_N && loss->has_kinds; i++) {
		if (i == CTX_LOSS_CALLS && loss->kinds[i] == 0)
			continue;
		put_key(out, KINDS[i]);
		put_number(out, loss->kinds[i]);
	}
	check(out, yajl_gen_map_close(out->gen));
}

/* Those that touch the selection; without any there is no such key. */
static void put_losses(struct ctx_out *out)
{
	const struct ctx_profile_losses *losses = &out->profile->losses;
	bool any = false;

	for (size_t i = 0; i < losses->n_items; i++) {
		if (!ctx_loss_notes_touch(&out->head.selection, &losses->items[i]))
			continue;
		if (!any) {
			put_key(out, "losses");
			check(out, yajl_gen_array_open(out->gen));
		}
		any = true;
		put_loss(out, &losses->items[i]);
	}
	if (any)
		check(out, yajl_gen_array_close(out->gen));
}

static void put_head(struct ctx_out *out)
{
	const struct ctx_head *head = &out->head;
	char share[CTX_FIGURE_MAX];

	put_key(out, "report");
	put_name(out, head->report);
	put_key(out, "experiment");
	put_name(out, out->profile->name);
	put_selection(out);
	put_key(out, "metric");
	put_metric(out, ctx_head_metric(head));
	if (head->n_more != 0) {
		put_key(out, "more_metrics");
		check(out, yajl_gen_array_open(out->gen));
		for (size_t i = 0; i < head->n_more; i++)
			put_metric(out, ctx_head_metric_of(out->profile, head->selection.metrics[i + 1]));
		check(out, yajl_gen_array_close(out->gen));
	}
	put_key(out, "samples");
	put_number(out, head->totals.samples);
	put_key(out, "weight");
	put_number(out, head->totals.weight);
	put_key(out, "coverage");
	ctx_figure_share(share, head->totals.weight - head->omitted.weight, head->totals.weight);
	check(out, yajl_gen_number(out->gen, share, strlen(share)));
	put_key(out, "largest_omitted");
	put_number(out, head->omitted.largest);
	if (out->profile->losses.call_stacks) {
		put_key(out, "call_stacks");
		check(out, yajl_gen_bool(out->gen, false));
	}
	put_key(out, "lost_samples");
	put_number(out, out->profile->losses.samples);
	put_losses(out);
	put_key(out, "warnings");
	check(out, yajl_gen_array_open(out->gen));
	ctx_head_warnings(head, put_warning, out);
	check(out, yajl_gen_array_close(out->gen));
}

static void begin(struct ctx_out *out)
{
	out->gen = yajl_gen_alloc(NULL);
	if (out->gen == NULL) {
		ctx_out_fail(out, CTX_E_NOMEM);
		return;
	}
	yajl_gen_config(out->gen, yajl_gen_print_callback, print, out);
	check(out, yajl_gen_map_open(out->gen));
	put_head(out);
	put_key(out, "rows");
	check(out, yajl_gen_array_open(out->gen));
	fputc('\n', out->options->out);
}

static void rows_end(struct ctx_out *out)
{
	if (out->status != CTX_OK)
		return;
	fputc('\n', out->options->out);
	check(out, yajl_gen_array_close(out->gen));
}

static void end(struct ctx_out *out)
{
	if (out->gen == NULL)
		return;
	if (out->status == CTX_OK) {
		check(out, yajl_gen_map_close(out->gen));
		fputc('\n', out->options->out);
	}
	yajl_gen_free(out->gen);
	out->gen = NULL;
}

static void put_cells(struct ctx_out *out, const struct ctx_column *columns, size_t n,
		      const struct ctx_cell *cells)
{
	for (size_t i = 0; i < n && out->status == CTX_OK; i++) {
		if (columns[i].key == NULL || cells[i].kind == CTX_CELL_ABSENT)
			continue;
		put_key(out, columns[i].key);
		switch (cells[i].kind) {
		case CTX_CELL_ABSENT:
		case CTX_CELL_NULL:
			check(out, yajl_gen_null(out->gen));
			break;
		case CTX_CELL_NUMBER:
			put_number(out, cells[i].number);
			break;
		case CTX_CELL_SIGNED:
			check(out, yajl_gen_integer(out->gen, (long long)(int64_t)cells[i].number));
			break;
		case CTX_CELL_NAME:
			put_name(out, cells[i].name);
			break;
		case CTX_CELL_FIGURE:
			check(out, yajl_gen_number(out->gen, cells[i].name, strlen(cells[i].name)));
			break;
		case CTX_CELL_BOOL:
			check(out, yajl_gen_bool(out->gen, cells[i].number != 0));
			break;
		}
	}
}

static void list_row_begin(struct ctx_out *out, const struct ctx_column *columns, size_t n,
			   const struct ctx_cell *cells)
{
	out->gen_at_row = true;
	check(out, yajl_gen_map_open(out->gen));
	out->gen_at_row = false;
	put_cells(out, columns, n, cells);
}

static void row_begin(struct ctx_out *out, const struct ctx_cell *cells)
{
	list_row_begin(out, out->columns, out->n_columns, cells);
}

static void row_end(struct ctx_out *out)
{
	check(out, yajl_gen_map_close(out->gen));
}

static void list_begin(struct ctx_out *out, const char *key)
{
	put_key(out, key);
	check(out, yajl_gen_array_open(out->gen));
}

static void put_map(struct ctx_out *out, const char *key, const struct ctx_column *columns, size_t n,
		    const struct ctx_cell *cells)
{
	put_key(out, key);
	check(out, yajl_gen_map_open(out->gen));
	put_cells(out, columns, n, cells);
	if (out->status == CTX_OK)
		check(out, yajl_gen_map_close(out->gen));
}

static void list_end(struct ctx_out *out)
{
	check(out, yajl_gen_array_close(out->gen));
}

const struct ctx_out_backend ctx_out_json = {
	.begin = begin,
	.row_begin = row_begin,
	.row_end = row_end,
	.list_begin = list_begin,
	.list_row_begin = list_row_begin,
	.list_row_end = row_end,
	.list_name = put_name,
	.list_end = list_end,
	.map = put_map,
	.rows_end = rows_end,
	.end = end,
};
