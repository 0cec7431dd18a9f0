/*
 * Wakers of the waits. JSON and CSV have all rows with whole stacks; text is in wakers_text.c.
 */
#include "base/mem.h"
#include "report/kinds.h"
#include "report/order.h"
#include "report/out.h"
#include "report/part_cells.h"
#include "report/stack_cells.h"
#include "report/state_cells.h"
#include "report/wakers_text.h"

#include <inttypes.h>
#include <string.h>

#define UNSEEN_PERCENT 1u /* of the waiting time: less is not reported */

/* JSON has the stacks as lists, after these; in CSV they are names joined by semicolons. */
static const struct ctx_column columns[] = {
	{"process", NULL, CTX_STYLE_COUNT},    {"thread", NULL, CTX_STYLE_COUNT},
	{"thread_name", NULL, CTX_STYLE_NAME}, {"thread_id", NULL, CTX_STYLE_COUNT},
	{"state", NULL, CTX_STYLE_NAME},       {"waits", NULL, CTX_STYLE_COUNT},
	{"wait_ns", NULL, CTX_STYLE_TIME},     {"wait_max_ns", NULL, CTX_STYLE_TIME},
	{"delay_ns", NULL, CTX_STYLE_TIME},    {"delay_max_ns", NULL, CTX_STYLE_TIME},
	{"waker", NULL, CTX_STYLE_COUNT},      {"waker_name", NULL, CTX_STYLE_NAME},
	{"waker_id", NULL, CTX_STYLE_COUNT},   {"outsider", NULL, CTX_STYLE_NAME},
	{"stack", NULL, CTX_STYLE_NAME},       {"waker_stack", NULL, CTX_STYLE_NAME},
};

#define N_STACKS 2u

static const char *const sort_keys[] = {"wait_ns",	"waits",	"wait_max_ns", "delay_ns",
					"delay_max_ns", "wait_mean_ns", NULL};

struct page {
	struct ctx_wakers_view view;
	const struct ctx_report_states *states; /* of all threads, for waits without a recorded waker */
	size_t n_states;
};

static void put_data_row(struct ctx_out *out, const struct ctx_report_wakers *row, struct ctx_buf *bufs)
{
	const struct ctx_profile *profile = out->profile;
	const struct ctx_thread_info *thread = ctx_profile_thread(profile, row->thread);
	const struct ctx_thread_info *waker = ctx_profile_thread(profile, row->waker);
	bool csv = out->options->format == CTX_REPORT_CSV;
	const struct ctx_cell cells[CTX_COUNT_OF(columns)] = {
		ctx_pid_cell(profile, ctx_profile_process_of(profile, row->thread)),
		ctx_thread_cell(profile, row->thread),
		ctx_cell_name(thread != NULL ? thread->name : NULL),
		ctx_cell_number(row->thread),
		ctx_cell_name(ctx_wakers_state(row->state, true)),
		ctx_cell_number(row->waits),
		ctx_cell_number(row->wait_ns),
		ctx_cell_number(row->wait_max_ns),
		ctx_cell_number(row->delay_ns),
		ctx_cell_number(row->delay_max_ns),
		ctx_thread_cell(profile, row->waker),
		ctx_cell_name(waker != NULL ? waker->name : NULL),
		waker != NULL ? ctx_cell_number(row->waker) : ctx_cell_name(NULL),
		ctx_cell_name(ctx_wakers_external_waker(profile, row)),
		csv ? ctx_stack_joined_cell(out, row->stack, &bufs[0]) : ctx_cell_name(NULL),
		csv ? ctx_stack_joined_cell(out, row->waker_stack, &bufs[1]) : ctx_cell_name(NULL),
	};

	ctx_out_row_begin(out, cells);
	ctx_stack_put_list(out, "stack", row->stack);
	ctx_stack_put_list(out, "waker_stack", row->waker_stack);
	ctx_out_row_end(out);
}

static enum ctx_status put_data(const struct ctx_wakers_view *view, struct ctx_err *err)
{
	const struct ctx_report_options *options = view->out->options;
	struct ctx_order_item *items CTX_AUTO_FREE = ctx_calloc(view->n_wakers, sizeof(*items));
	struct ctx_buf bufs[N_STACKS] = {0};
	size_t n = 0;

	if (items == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < view->n_wakers; i++) {
		struct ctx_wakers_sums sums = ctx_wakers_sums_of(&view->wakers[i]);

		if (ctx_wakers_passes(view->profile, options, view->wakers[i].stack))
			items[n++] = (struct ctx_order_item){.index = i,
							     .number = ctx_wakers_key(&sums, view->key),
							     .second = sums.wait_ns};
	}
	ctx_order_sort(items, n);
	for (size_t i = 0; i < n && (options->limit == 0 || i < options->limit); i++)
		put_data_row(view->out, &view->wakers[items[i].index], bufs);
	ctx_buf_deinit(&bufs[0]);
	ctx_buf_deinit(&bufs[1]);
	return CTX_OK;
}

/* "Waits", or "Waits: user lock, stopped" if not all are selected. */
static void name_waits(unsigned states, char *name, size_t size)
{
	size_t at = (size_t)snprintf(name, size, "Waits");

	for (unsigned state = 0, n = 0; state < CTX_STATE_N && at < size; state++) {
		if ((states & CTX_STATE_BIT(state)) != 0)
			at += (size_t)snprintf(name + at, size - at, "%s%s", n++ == 0 ? ": " : ", ",
					       ctx_wakers_state(state, false));
	}
}

/*
 * Waits without a recorded end are in the report of states only; the note says so if they are a
 * large part. The waits of a single function cannot be separated there. NULL: little is missing.
 */
static const char *note_unseen(const struct page *page, unsigned states, uint64_t seen_ns, char *buf,
			       size_t size)
{
	const struct ctx_report_options *options = page->view.options;
	char percent[CTX_FIGURE_MAX], unseen[CTX_FIGURE_MAX];
	struct ctx_scale scale = ctx_scale_for(CTX_UNIT_NS, seen_ns);
	uint64_t all_ns = 0;

	for (size_t i = 0; i < page->n_states; i++)
		all_ns += ctx_state_sum(page->states[i].ns, states != 0 ? states : CTX_STATES_OF_WAITS);
	if (options->function != NULL || options->subject != NULL || all_ns <= seen_ns ||
	    all_ns - seen_ns < all_ns / 100 * UNSEEN_PERCENT)
		return NULL;
	ctx_figure_percent(percent, all_ns - seen_ns, all_ns, 1);
	ctx_figure_fixed(unseen, all_ns - seen_ns, scale.divisor, scale.digits);
	snprintf(buf, size, "%s %% of the waiting (%s %s) is not here: nobody was seen to end it", percent,
		 unseen, scale.unit);
	return buf;
}

static enum ctx_status put_page(struct page *page, struct ctx_out_spec *spec, struct ctx_err *err)
{
	unsigned states = spec->selection->wait_states;
	char name[160], note[320], unseen[160];
	struct ctx_head_topic topic = {.metric = {.name = name, .unit = CTX_UNIT_NS, .kind = CTX_METRIC_SPAN},
				       .counted = "waits",
				       .note = ctx_state_note(page->view.profile, note, sizeof(note))};
	struct ctx_wakers_sums total = {0};
	struct ctx_out out;
	enum ctx_status status;

	name_waits(states, name, sizeof(name));
	for (size_t i = 0; i < page->view.n_wakers; i++) {
		struct ctx_wakers_sums sums = ctx_wakers_sums_of(&page->view.wakers[i]);

		if (ctx_wakers_passes(page->view.profile, page->view.options, page->view.wakers[i].stack))
			ctx_wakers_add(&total, &sums);
	}
	topic.totals.samples = total.waits;
	topic.totals.weight = total.wait_ns;
	topic.second_note = note_unseen(page, states, total.wait_ns, unseen, sizeof(unseen));
	spec->topic = &topic;
	page->view.out = &out;
	ctx_out_begin(&out, spec);
	status = ctx_out_is_text(&out) ? ctx_wakers_put_text(&page->view, &total, err)
				       : put_data(&page->view, err);
	ctx_out_fail(&out, status);
	ctx_out_rows_end(&out);
	return ctx_out_end(&out, err);
}

static enum ctx_status print(struct ctx_report_source *source, const struct ctx_report_options *options,
			     struct ctx_err *err)
{
	const struct ctx_profile *profile = source->selection.profile;
	struct ctx_out_spec spec = {.kind = &ctx_report_wakers,
				    .selection = &source->selection,
				    .options = options,
				    .columns = columns,
				    .n_columns = CTX_COUNT_OF(columns)};
	struct page page = {.view = {.profile = profile, .options = options}};
	enum ctx_status status = ctx_order_find("wakers", options->sort, sort_keys, &page.view.key, err);

	if (options->format == CTX_REPORT_JSON)
		spec.n_columns -= N_STACKS; /* they are lists */
	if (status == CTX_OK)
		status = ctx_wakers_check(profile, options, err);
	if (status == CTX_OK)
		status = source->states(source, &page.states, &page.n_states, err);
	if (status == CTX_OK)
		status = source->wakers(source, &page.view.wakers, &page.view.n_wakers, err);
	return status == CTX_OK ? put_page(&page, &spec, err) : status;
}

const struct ctx_report_kind ctx_report_wakers = {
	.name = "wakers",
	.metrics = CTX_REPORT_NO_METRIC,
	.takes_subject = true,
	.no_cpu = "who waits is on none",
	.columns = columns,
	.n_columns = CTX_COUNT_OF(columns),
	.print = print,
};
