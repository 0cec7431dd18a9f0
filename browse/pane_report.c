/*
 * Panes of a report: its rows as cells (report/rows.h), of the same code that prints it.
 */
#include "browse/pane.h"

#include "base/mem.h"
#include "report/names.h"
#include "report/rows.h"
#include "report/thread_labels.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MANY_WAITS 50000u /* so many are not looked at one by one */

static struct ctx_rows *rows_of(const struct ctx_pane *pane)
{
	return pane->impl;
}

static enum ctx_status print(struct ctx_pane *pane, struct ctx_report_source *source, const char *report,
			     struct ctx_report_options *options, struct ctx_err *err)
{
	enum ctx_status status;

	if (pane->impl == NULL)
		pane->impl = ctx_calloc(1, sizeof(struct ctx_rows));
	if (pane->impl == NULL)
		return ctx_err_nomem(err);
	options->format = CTX_REPORT_ROWS;
	options->out = stdout;
	options->rows = pane->impl;
	options->ascii = pane->data->ascii;
	status = ctx_report_print(ctx_report_find(report), source, options, err);
	pane->n_rows = status == CTX_OK ? rows_of(pane)->n : 0;
	return status;
}

static void put_heading(const struct ctx_pane *pane, size_t width, struct ctx_buf *buf)
{
	(void)width;
	if (rows_of(pane) != NULL)
		ctx_rows_put_heading(rows_of(pane), buf);
}

static void put_row(const struct ctx_pane *pane, size_t row, size_t width, struct ctx_buf *buf)
{
	ctx_rows_put(rows_of(pane), row, width, buf);
}

static uint32_t function_of(const struct ctx_pane *pane, size_t row)
{
	return rows_of(pane)->rows[row].function;
}

static uint64_t id_of(const struct ctx_pane *pane, size_t row)
{
	return rows_of(pane)->rows[row].function;
}

static enum ctx_look look_of(const struct ctx_pane *pane, size_t row)
{
	enum ctx_rows_kind kind = rows_of(pane)->rows[row].kind;

	return kind == CTX_ROWS_TITLE  ? CTX_LOOK_HEADING
	       : kind == CTX_ROWS_LINE ? CTX_LOOK_DIM
				       : CTX_LOOK_PLAIN;
}

static void close_pane(struct ctx_pane *pane)
{
	if (pane->impl != NULL)
		ctx_rows_deinit(pane->impl);
	free(pane->impl);
}

size_t ctx_pane_n_notes(const struct ctx_pane *pane)
{
	return pane->impl != NULL ? rows_of(pane)->n_notes : 0;
}

const char *ctx_pane_note(const struct ctx_pane *pane, size_t i)
{
	return rows_of(pane)->notes[i];
}

static size_t second_row(const struct ctx_pane *pane)
{
	return pane->n_rows > 1 ? 1 : 0; /* behind <Total> */
}

static enum ctx_status load_functions(struct ctx_pane *pane, struct ctx_err *err)
{
	struct ctx_report_options options = {0};
	struct ctx_report_source *source;
	enum ctx_status status = ctx_browse_data_source(pane->data, &source, err);

	return status == CTX_OK ? print(pane, source, "functions", &options, err) : status;
}

const struct ctx_pane_kind ctx_pane_functions = {
	.title = "Functions",
	.load = load_functions,
	.heading = put_heading,
	.put = put_row,
	.look = look_of,
	.function = function_of,
	.id = id_of,
	.first = second_row,
	.close = close_pane,
};

/* ---- threads ---- */

static enum ctx_status load_threads(struct ctx_pane *pane, struct ctx_err *err)
{
	struct ctx_report_options options = {0};
	struct ctx_report_source *source;
	enum ctx_status status = ctx_browse_data_all_threads(pane->data, &source, err);

	return status == CTX_OK ? print(pane, source, "threads", &options, err) : status;
}

/* The first column is its number. */
uint32_t ctx_pane_thread(const struct ctx_pane *pane, size_t row)
{
	const struct ctx_rows_row *at = &rows_of(pane)->rows[row];

	return at->cells != NULL ? (uint32_t)at->cells[0].number : CTX_NONE;
}

static uint64_t thread_id(const struct ctx_pane *pane, size_t row)
{
	return ctx_pane_thread(pane, row);
}

static enum ctx_look look_of_thread(const struct ctx_pane *pane, size_t row)
{
	uint32_t thread = ctx_pane_thread(pane, row);

	return thread != CTX_NONE && thread == pane->data->thread ? CTX_LOOK_HEADING : look_of(pane, row);
}

const struct ctx_pane_kind ctx_pane_threads = {
	.title = "Threads",
	.load = load_threads,
	.heading = put_heading,
	.put = put_row,
	.look = look_of_thread,
	.id = thread_id,
	.close = close_pane,
};

/* ---- sources with an answer of ours ---- */

/* Everything else is answered by the source that it is a copy of. */
struct answering {
	struct ctx_report_source base; /* first */
	const struct ctx_histogram *raw;
	const struct ctx_report_waits *waits;
	size_t n_waits;
};

static enum ctx_status give_raw(struct ctx_report_source *source, const struct ctx_histogram **ret,
				struct ctx_err *err)
{
	(void)err;
	*ret = ((struct answering *)source)->raw;
	return CTX_OK;
}

static enum ctx_status give_waits(struct ctx_report_source *source, const struct ctx_report_waits **ret,
				  size_t *ret_n, struct ctx_err *err)
{
	(void)err;
	*ret = ((struct answering *)source)->waits;
	*ret_n = ((struct answering *)source)->n_waits;
	return CTX_OK;
}

static enum ctx_status give_no_wakers(struct ctx_report_source *source, const struct ctx_report_wakers **ret,
				      size_t *ret_n, struct ctx_err *err)
{
	(void)source;
	(void)err;
	*ret = NULL;
	*ret_n = 0;
	return CTX_OK;
}

/* ---- waits ---- */

static bool is_wait(unsigned state)
{
	return (CTX_STATES_OF_WAITS & CTX_STATE_BIT(state)) != 0;
}

/* The waits by state and stack, as time trees have them: how long and how many, not the longest. */
static enum ctx_status waits_of_trees(const struct ctx_histogram *states, struct ctx_report_waits **ret,
				      size_t *ret_n, struct ctx_err *err)
{
	size_t most = 0, n = 0;

	for (unsigned i = 0; i < CTX_STATE_N; i++)
		most += is_wait(i) ? states[i].n : 0;
	*ret = ctx_calloc(most, sizeof(**ret));
	if (*ret == NULL)
		return ctx_err_nomem(err);
	for (unsigned i = 0; i < CTX_STATE_N; i++) {
		for (size_t k = 0; is_wait(i) && k < states[i].n; k++) {
			const struct ctx_hist_entry *entry = &states[i].entries[k];

			if (entry->samples != 0)
				(*ret)[n++] = (struct ctx_report_waits){.state = i,
									.stack = entry->stack,
									.waits = entry->samples,
									.wait_ns = entry->weight};
		}
	}
	*ret_n = n;
	return CTX_OK;
}

static void clear_cell(struct ctx_rows *rows, const char *title)
{
	for (size_t i = 0; i < rows->n_columns; i++) {
		if (strncmp(rows->columns[i].title, title, strlen(title)) != 0)
			continue;
		for (size_t row = 0; row < rows->n; row++) {
			if (rows->rows[row].cells != NULL)
				rows->rows[row].cells[i] = ctx_cell_name("?");
		}
	}
}

static enum ctx_status print_many_waits(struct ctx_pane *pane, struct ctx_report_source *source,
					const struct ctx_histogram *states, struct ctx_err *err)
{
	struct ctx_report_waits *waits CTX_AUTO_FREE = NULL;
	struct ctx_report_options options = {0};
	struct answering answering = {.base = *source};
	enum ctx_status status = waits_of_trees(states, &waits, &answering.n_waits, err);

	answering.waits = waits;
	answering.base.waits = give_waits;
	answering.base.wakers = give_no_wakers;
	if (status == CTX_OK)
		status = print(pane, &answering.base, "waits", &options, err);
	if (status == CTX_OK) {
		clear_cell(rows_of(pane), "Longest");
		clear_cell(rows_of(pane), "Ended by");
	}
	return status;
}

static enum ctx_status load_waits(struct ctx_pane *pane, struct ctx_err *err)
{
	struct ctx_report_options options = {0};
	const struct ctx_histogram *states;
	struct ctx_report_source *source;
	uint64_t n = 0;
	enum ctx_status status = ctx_browse_data_source(pane->data, &source, err);

	if (status == CTX_OK)
		status = ctx_browse_data_states(pane->data, &states, err);
	if (status != CTX_OK)
		return status;
	for (unsigned i = 0; i < CTX_STATE_N; i++)
		n += is_wait(i) ? states[i].samples : 0;
	return n > MANY_WAITS ? print_many_waits(pane, source, states, err)
			      : print(pane, source, "waits", &options, err);
}

/* The report's samples are waits. */
static void put_waits_heading(const struct ctx_pane *pane, size_t width, struct ctx_buf *buf)
{
	put_heading(pane, width, buf);
	if (rows_of(pane) != NULL && rows_of(pane)->samples > MANY_WAITS)
		ctx_buf_put_text(buf, " (?: narrow the interval)");
}

const struct ctx_pane_kind ctx_pane_waits = {
	.title = "Waits",
	.load = load_waits,
	.heading = put_waits_heading,
	.put = put_row,
	.look = look_of,
	.function = function_of,
	.first = second_row,
	.close = close_pane,
};

/* ---- source and instructions ---- */

static enum ctx_status load_code(struct ctx_pane *pane, const char *report, bool whole, struct ctx_err *err)
{
	const struct ctx_browse_data *data = pane->data;
	struct ctx_report_options options = {.whole = whole};
	struct ctx_report_source *source;
	struct answering answering;
	enum ctx_status status;

	if (data->subject == CTX_NONE)
		return ctx_err_set(err, CTX_E_NOTFOUND, "select a function first, in another pane");
	if (data->subject >= data->host->profile->n_functions)
		return ctx_err_set(err, CTX_E_NOTFOUND,
				   "this row is several functions of the kernel: no code of one of them");
	status = data->scan.has_begun ? CTX_OK : ctx_browse_data_work(pane->data, err);
	if (status == CTX_OK)
		status = ctx_browse_data_source(pane->data, &source, err);
	if (status != CTX_OK)
		return status;
	answering = (struct answering){.base = *source, .raw = &data->scan.raw};
	answering.base.raw_histogram = give_raw;
	options.subject = data->host->profile->functions[data->subject].name;
	return print(pane, &answering.base, report, &options, err);
}

static enum ctx_status load_source(struct ctx_pane *pane, struct ctx_err *err)
{
	return load_code(pane, "source", true, err);
}

static enum ctx_status load_instructions(struct ctx_pane *pane, struct ctx_err *err)
{
	return load_code(pane, "disasm", false, err);
}

/* The first columns are the mark of hot rows and the exclusive weight. */
static bool is_hot(const struct ctx_rows_row *row)
{
	return row->cells != NULL && row->cells[0].kind == CTX_CELL_NAME;
}

static size_t hottest_row(const struct ctx_pane *pane)
{
	const struct ctx_rows *rows = rows_of(pane);
	uint64_t most = 0;
	size_t found = 0;

	for (size_t i = 0; i < rows->n; i++) {
		const struct ctx_cell *cells = rows->rows[i].cells;

		if (cells == NULL || cells[1].kind != CTX_CELL_NUMBER || cells[1].number <= most)
			continue;
		most = cells[1].number;
		found = i;
	}
	return found;
}

static enum ctx_look look_of_code(const struct ctx_pane *pane, size_t row)
{
	return is_hot(&rows_of(pane)->rows[row]) ? CTX_LOOK_HOT : look_of(pane, row);
}

/* How far the counting is, in front of the heading. */
static void put_code_heading(const struct ctx_pane *pane, size_t width, struct ctx_buf *buf)
{
	const struct ctx_address_scan *scan = &pane->data->scan;

	put_heading(pane, width, buf);
	if (ctx_browse_data_has_work(pane->data))
		ctx_buf_printf(buf, "  (counting samples: %" PRIu64 " %%)",
			       scan->n_done * 100 / scan->n_steps);
}

const struct ctx_pane_kind ctx_pane_source = {
	.title = "Source",
	.load = load_source,
	.heading = put_code_heading,
	.put = put_row,
	.look = look_of_code,
	.first = hottest_row,
	.close = close_pane,
};

const struct ctx_pane_kind ctx_pane_instructions = {
	.title = "Disasm",
	.load = load_instructions,
	.heading = put_code_heading,
	.put = put_row,
	.look = look_of_code,
	.first = hottest_row,
	.close = close_pane,
};
