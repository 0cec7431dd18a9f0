/*
 * Threads, and the time of each by state. In text, depending on the width:
 *
 *	the ten states, ms and % of each	(200 columns)
 *	the seven metrics, ms and % of each
 *	the seven metrics in ms, and below them a line with the shares
 *
 * then a small table of the ten states, and of the unknown time if there is any. JSON and CSV have
 * all of it in each row.
 */
#include "base/mem.h"
#include "report/kinds.h"
#include "report/order.h"
#include "report/out.h"
#include "report/part_cells.h"
#include "report/state_cells.h"

#include <string.h>

#define METRICS (CTX_STATE_METRICS_N - 1) /* those that are parts of Wall */
#define KINDS (METRICS + 1)		  /* and the unknown time */
#define ALL_STATES (CTX_STATE_BIT(CTX_STATE_N) - 1)
#define MAX_COLUMNS (4 + 2 * CTX_STATE_N)
#define NAME_WANTED 16u

/* JSON has the spans as an object; CSV flat. */
static const struct ctx_column columns[] = {
	{"process", NULL, CTX_STYLE_COUNT},
	{"thread", NULL, CTX_STYLE_COUNT},
	{"name", NULL, CTX_STYLE_NAME},
	{"wall", NULL, CTX_STYLE_TIME},
	{"user", NULL, CTX_STYLE_TIME},
	{"system", NULL, CTX_STYLE_TIME},
	{"wait-cpu", NULL, CTX_STYLE_TIME},
	{"lock", NULL, CTX_STYLE_TIME},
	{"text-fault", NULL, CTX_STYLE_TIME},
	{"data-fault", NULL, CTX_STYLE_TIME},
	{"other-wait", NULL, CTX_STYLE_TIME},
	{"USER", NULL, CTX_STYLE_TIME},
	{"SYSTEM", NULL, CTX_STYLE_TIME},
	{"TRAP", NULL, CTX_STYLE_TIME},
	{"TFAULT", NULL, CTX_STYLE_TIME},
	{"DFAULT", NULL, CTX_STYLE_TIME},
	{"KFAULT", NULL, CTX_STYLE_TIME},
	{"USER_LOCK", NULL, CTX_STYLE_TIME},
	{"SLEEP", NULL, CTX_STYLE_TIME},
	{"STOPPED", NULL, CTX_STYLE_TIME},
	{"WAIT_CPU", NULL, CTX_STYLE_TIME},
	{"UNKNOWN", NULL, CTX_STYLE_TIME},
	{"process_id", NULL, CTX_STYLE_COUNT},
	{"thread_id", NULL, CTX_STYLE_COUNT},
	{"spans.USER", NULL, CTX_STYLE_COUNT},
	{"spans.SYSTEM", NULL, CTX_STYLE_COUNT},
	{"spans.TRAP", NULL, CTX_STYLE_COUNT},
	{"spans.TFAULT", NULL, CTX_STYLE_COUNT},
	{"spans.DFAULT", NULL, CTX_STYLE_COUNT},
	{"spans.KFAULT", NULL, CTX_STYLE_COUNT},
	{"spans.USER_LOCK", NULL, CTX_STYLE_COUNT},
	{"spans.SLEEP", NULL, CTX_STYLE_COUNT},
	{"spans.STOPPED", NULL, CTX_STYLE_COUNT},
	{"spans.WAIT_CPU", NULL, CTX_STYLE_COUNT},
	{"spans.UNKNOWN", NULL, CTX_STYLE_COUNT},
};

enum { FIRST_METRIC = 4, FIRST_STATE = 11, FIRST_SPANS = 24 };

static const struct ctx_column sum_columns[] = {
	{NULL, "State", CTX_STYLE_NAME},
	{NULL, "Total", CTX_STYLE_WEIGHT},
	{NULL, "%", CTX_STYLE_PERCENT},
	{NULL, "Spans", CTX_STYLE_COUNT},
};

/* The last three belong to the thread. */
static const char *const sort_keys[] = {
	"wall",	   "user",     "system",  "wait-cpu", "lock",	"text-fault", "data-fault", "other-wait",
	"USER",	   "SYSTEM",   "TRAP",	  "TFAULT",   "DFAULT", "KFAULT",     "USER_LOCK",  "SLEEP",
	"STOPPED", "WAIT_CPU", "UNKNOWN", "thread",   "name",	"process",    NULL,
};

/* A column of text: the time in some states, below two short words. */
struct kind {
	const char *first, *second, *title;
	unsigned states;
};

static const struct kind metric_kinds[KINDS] = {
	{"User", "CPU", "User CPU", CTX_STATE_BIT(CTX_STATE_USER)},
	{"System", "CPU", "System CPU", CTX_STATE_BIT(CTX_STATE_SYSTEM) | CTX_STATE_BIT(CTX_STATE_TRAP)},
	{"Wait", "CPU", "Wait CPU", CTX_STATE_BIT(CTX_STATE_WAIT_CPU)},
	{"Lock", "wait", "User lock", CTX_STATE_BIT(CTX_STATE_USER_LOCK)},
	{"Text", "fault", "Text page fault", CTX_STATE_BIT(CTX_STATE_TEXT_FAULT)},
	{"Data", "fault", "Data page fault", CTX_STATE_BIT(CTX_STATE_DATA_FAULT)},
	{"Other", "wait", "Other wait",
	 CTX_STATE_BIT(CTX_STATE_KERNEL_FAULT) | CTX_STATE_BIT(CTX_STATE_SLEEP) |
		 CTX_STATE_BIT(CTX_STATE_STOPPED)},
	{"Un-", "known", "<Unknown>", CTX_STATE_BIT(CTX_STATE_UNKNOWN)},
};

static const struct kind state_kinds[CTX_STATE_N] = {
	{NULL, NULL, "User", CTX_STATE_BIT(CTX_STATE_USER)},
	{NULL, NULL, "System", CTX_STATE_BIT(CTX_STATE_SYSTEM)},
	{NULL, NULL, "Trap", CTX_STATE_BIT(CTX_STATE_TRAP)},
	{NULL, NULL, "Text fault", CTX_STATE_BIT(CTX_STATE_TEXT_FAULT)},
	{NULL, NULL, "Data fault", CTX_STATE_BIT(CTX_STATE_DATA_FAULT)},
	{NULL, NULL, "Kernel fault", CTX_STATE_BIT(CTX_STATE_KERNEL_FAULT)},
	{NULL, NULL, "User lock", CTX_STATE_BIT(CTX_STATE_USER_LOCK)},
	{NULL, NULL, "Sleep", CTX_STATE_BIT(CTX_STATE_SLEEP)},
	{NULL, NULL, "Stopped", CTX_STATE_BIT(CTX_STATE_STOPPED)},
	{NULL, NULL, "Wait CPU", CTX_STATE_BIT(CTX_STATE_WAIT_CPU)},
	{NULL, NULL, "<Unknown>", CTX_STATE_BIT(CTX_STATE_UNKNOWN)},
};

struct page {
	struct ctx_out *out;
	const struct ctx_report_states *states; /* by thread */
	size_t n_states;
	struct ctx_report_states total;
	const struct kind *kinds; /* text: the columns that are not 0 */
	unsigned shown[CTX_STATE_N], n_shown;
	bool has_pid;	   /* there are several processes */
	bool shares_below; /* in a line of their own */
	struct ctx_column columns[MAX_COLUMNS];
	const char *groups[MAX_COLUMNS];
	struct ctx_scale scales[MAX_COLUMNS];
	size_t n_columns;
};

static const char *name_of(const struct ctx_thread_info *thread)
{
	return thread != NULL ? thread->name : "<Total>";
}

static void put_data_row(const struct page *page, const struct ctx_report_states *states)
{
	const struct ctx_profile *profile = page->out->profile;
	const struct ctx_thread_info *thread = ctx_profile_thread(profile, states->thread);
	struct ctx_cell spans[CTX_STATE_N], cells[CTX_COUNT_OF(columns)] = {0};

	cells[0] = ctx_pid_cell(profile, ctx_profile_process_of(profile, states->thread));
	cells[1] = ctx_thread_cell(profile, states->thread);
	cells[2] = ctx_cell_name(name_of(thread));
	cells[3] = ctx_cell_number(ctx_state_sum(states->ns, ALL_STATES));
	for (unsigned i = 0; i < METRICS; i++)
		cells[FIRST_METRIC + i] =
			ctx_cell_number(ctx_state_sum(states->ns, ctx_state_metrics[i].states));
	ctx_state_fill(states->ns, &cells[FIRST_STATE]);
	cells[FIRST_SPANS - 2] = thread != NULL ? ctx_cell_number(thread->process) : ctx_cell_name(NULL);
	cells[FIRST_SPANS - 1] = thread != NULL ? ctx_cell_number(states->thread) : ctx_cell_name(NULL);
	ctx_state_fill(states->spans, spans);
	memcpy(&cells[FIRST_SPANS], spans, sizeof(spans));
	ctx_out_row_begin(page->out, cells);
	ctx_out_map(page->out, "spans", ctx_state_columns, CTX_STATE_N, spans);
	ctx_out_row_end(page->out);
}

static struct ctx_cell share_cell(struct ctx_out *out, uint64_t part, uint64_t whole)
{
	char figure[CTX_FIGURE_MAX];

	ctx_figure_percent(figure, part, whole, 1);
	return ctx_cell_name(ctx_out_format(out, "%s", figure));
}

static void put_text_row(const struct page *page, const struct ctx_report_states *states)
{
	struct ctx_out *out = page->out;
	const struct ctx_profile *profile = out->profile;
	const struct ctx_thread_info *thread = ctx_profile_thread(profile, states->thread);
	uint64_t wall = ctx_state_sum(states->ns, ALL_STATES);
	struct ctx_cell cells[MAX_COLUMNS] = {0}, shares[MAX_COLUMNS] = {0};
	size_t n = 0;

	if (page->has_pid)
		cells[n++] = ctx_pid_cell(profile, ctx_profile_process_of(profile, states->thread));
	cells[n++] = ctx_thread_cell(profile, states->thread);
	cells[n++] = ctx_cell_number(wall);
	for (unsigned i = 0; i < page->n_shown; i++) {
		uint64_t ns = ctx_state_sum(states->ns, page->kinds[page->shown[i]].states);

		cells[n++] = ctx_cell_number(ns);
		if (page->shares_below)
			shares[n - 1] =
				ctx_cell_name(ctx_out_format(out, "%s%%", share_cell(out, ns, wall).name));
		else
			cells[n++] = share_cell(out, ns, wall);
	}
	cells[n] = ctx_cell_name(name_of(thread));
	ctx_out_row(out, cells);
	if (page->shares_below)
		ctx_out_row(out, shares);
}

static void add_column(struct page *page, const char *group, const char *title, struct ctx_scale scale)
{
	page->columns[page->n_columns].title = title;
	page->columns[page->n_columns].style = CTX_STYLE_WEIGHT;
	page->groups[page->n_columns] = group;
	page->scales[page->n_columns++] = scale;
}

static size_t at_least(size_t value, size_t least)
{
	return value > least ? value : least;
}

/* Chooses the columns of `kinds`; returns their width, without the name. */
static size_t make_columns(struct page *page, const struct kind *kinds, unsigned n_kinds, bool shares_below,
			   struct ctx_scale scale)
{
	uint64_t wall = ctx_state_sum(page->total.ns, ALL_STATES);
	char figure[CTX_FIGURE_MAX];
	size_t number, used = 20;

	ctx_figure_fixed(figure, wall, scale.divisor, scale.digits);
	number = strlen(figure);
	page->kinds = kinds;
	page->n_shown = 0;
	page->n_columns = 0;
	page->shares_below = shares_below;
	if (page->has_pid) {
		page->columns[page->n_columns++] = (struct ctx_column){NULL, "PID", CTX_STYLE_COUNT};
		used += 8;
	}
	page->columns[page->n_columns++] = (struct ctx_column){NULL, "TID", CTX_STYLE_COUNT};
	add_column(page, "Wall", scale.unit, scale);
	for (unsigned i = 0; i < n_kinds; i++) {
		if (ctx_state_sum(page->total.ns, kinds[i].states) == 0)
			continue;
		page->shown[page->n_shown++] = i;
		if (shares_below) {
			add_column(page, kinds[i].first, kinds[i].second, scale);
			used += at_least(number, 6) + 1;
		} else {
			add_column(page, kinds[i].title, scale.unit, scale);
			add_column(page, kinds[i].title, "%", scale);
			used += at_least(number + 1 + 5, strlen(kinds[i].title)) + 1;
		}
	}
	page->columns[page->n_columns++] = (struct ctx_column){NULL, "Name", CTX_STYLE_NAME};
	return used;
}

static void lay_out(struct page *page, struct ctx_scale scale)
{
	size_t width = page->out->options->width != 0 ? page->out->options->width : SIZE_MAX;
	struct ctx_scale narrow = scale;

	if (make_columns(page, state_kinds, CTX_STATE_N, false, scale) + NAME_WANTED <= width)
		return;
	if (make_columns(page, metric_kinds, KINDS, false, scale) + NAME_WANTED <= width)
		return;
	if (make_columns(page, metric_kinds, KINDS, true, scale) + NAME_WANTED <= width)
		return;
	narrow.digits = 1;
	make_columns(page, metric_kinds, KINDS, true, narrow);
}

/* "Nothing in: text fault, stopped" */
static void put_zeros(const struct page *page)
{
	struct ctx_buf line = {0};
	unsigned n_kinds = page->kinds == state_kinds ? CTX_STATE_N : KINDS, n = 0;

	for (unsigned i = 0, next = 0; i < n_kinds; i++) {
		if (next < page->n_shown && page->shown[next] == i) {
			next++;
			continue;
		}
		/* Nothing is unknown where nothing was lost. */
		if (page->kinds[i].states == CTX_STATE_BIT(CTX_STATE_UNKNOWN))
			continue;
		ctx_buf_put_text(&line, n++ == 0 ? "(no time in: " : ", ");
		ctx_buf_put_text(&line, page->kinds[i].title);
	}
	ctx_buf_put_text(&line, n != 0 ? ")" : "");
	ctx_buf_put_u8(&line, '\0');
	if (line.failed)
		ctx_out_fail(page->out, CTX_E_NOMEM);
	else if (n != 0)
		ctx_out_line(page->out, (const char *)line.bytes);
	ctx_buf_deinit(&line);
}

/* The table of states follows. */
static void put_sums(struct page *page)
{
	struct ctx_out *out = page->out;

	ctx_out_line(out, "");
	out->columns = sum_columns;
	out->n_columns = CTX_COUNT_OF(sum_columns);
	out->groups = NULL;
	out->scales = NULL;
	for (unsigned state = 0; state < CTX_STATE_N; state++) {
		const struct ctx_cell cells[CTX_COUNT_OF(sum_columns)] = {
			ctx_cell_name(ctx_state_text((enum ctx_thread_state)state)),
			ctx_cell_number(page->total.ns[state]),
			ctx_cell_number(page->total.ns[state]),
			ctx_cell_number(page->total.spans[state]),
		};

		if (state != CTX_STATE_UNKNOWN || page->total.spans[state] != 0)
			ctx_out_row(out, cells);
	}
	ctx_out_section(out, NULL);
}

static struct ctx_order_item sort_item(const struct ctx_profile *profile,
				       const struct ctx_report_states *states, uint32_t i, size_t key)
{
	const struct ctx_thread_info *thread = ctx_profile_thread(profile, states->thread);
	struct ctx_order_item item = {.index = i};

	/*
	 * In a system-wide recording most threads exist the whole time: those that only slept come
	 * last.
	 */
	item.second = key == 0 ? ctx_state_sum(states->ns, ALL_STATES & ~CTX_STATE_BIT(CTX_STATE_SLEEP)) : 0;
	if (key == 0)
		item.number = ctx_state_sum(states->ns, ALL_STATES);
	else if (key <= METRICS)
		item.number = ctx_state_sum(states->ns, ctx_state_metrics[key - 1].states);
	else if (key <= METRICS + CTX_STATE_N)
		item.number = states->ns[key - METRICS - 1];
	else if (key == METRICS + CTX_STATE_N + 1)
		item.number = ctx_order_ascending((uint64_t)ctx_head_tid(profile, states->thread));
	else if (key == METRICS + CTX_STATE_N + 2)
		item.text = name_of(thread);
	else
		item.number = ctx_order_ascending(ctx_profile_process_of(profile, states->thread));
	return item;
}

static void add_up(struct page *page)
{
	struct ctx_report_states *total = &page->total;

	*total = (struct ctx_report_states){.thread = CTX_NONE};
	for (size_t i = 0; i < page->n_states; i++) {
		for (unsigned state = 0; state < CTX_STATE_N; state++) {
			total->ns[state] += page->states[i].ns[state];
			total->spans[state] += page->states[i].spans[state];
		}
	}
}

static bool has_processes(const struct page *page, const struct ctx_profile *profile)
{
	const struct ctx_thread_info *first =
		page->n_states != 0 ? ctx_profile_thread(profile, page->states[0].thread) : NULL;

	for (size_t i = 1; i < page->n_states && first != NULL; i++) {
		const struct ctx_thread_info *thread = ctx_profile_thread(profile, page->states[i].thread);

		if (thread != NULL && thread->process != first->process)
			return true;
	}
	return false;
}

static void put_rows(struct page *page, const struct ctx_order_item *items)
{
	bool text = ctx_out_is_text(page->out);
	size_t limit = page->out->options->limit != 0 ? page->out->options->limit : SIZE_MAX;

	for (size_t i = 0; i <= page->n_states && i <= limit; i++) {
		const struct ctx_report_states *states =
			i == 0 ? &page->total : &page->states[items[i - 1].index];

		if (text)
			put_text_row(page, states);
		else
			put_data_row(page, states);
	}
	ctx_out_section(page->out, NULL);
	if (page->n_states > limit)
		ctx_out_more(page->out, page->n_states - limit, "thread");
	if (text && page->n_states != 0) {
		put_zeros(page);
		put_sums(page);
	}
}

static enum ctx_status put_page(struct page *page, struct ctx_out_spec *spec, size_t key, struct ctx_err *err)
{
	const struct ctx_profile *profile = spec->selection->profile;
	struct ctx_order_item *items CTX_AUTO_FREE = ctx_calloc(page->n_states, sizeof(*items));
	char note[320];
	struct ctx_head_topic topic = {.counted = "spans",
				       .note = ctx_state_note(profile, note, sizeof(note))};
	struct ctx_out out;

	if (items == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < page->n_states; i++)
		items[i] = sort_item(profile, &page->states[i], i, key);
	ctx_order_sort(items, page->n_states);
	add_up(page);
	topic.metric = ctx_head_metric_of(profile, ctx_profile_state_sum(profile, CTX_STATE_METRICS_N - 1));
	topic.totals.weight = ctx_state_sum(page->total.ns, ALL_STATES);
	topic.totals.samples = ctx_state_sum(page->total.spans, ALL_STATES);
	spec->topic = &topic;
	page->out = &out;
	ctx_out_begin(&out, spec);
	if (ctx_out_is_text(&out)) {
		lay_out(page, out.head.scale);
		out.columns = page->columns;
		out.n_columns = page->n_columns;
		out.groups = page->groups;
		out.scales = page->scales;
	}
	put_rows(page, items);
	ctx_out_rows_end(&out);
	return ctx_out_end(&out, err);
}

static enum ctx_status print(struct ctx_report_source *source, const struct ctx_report_options *options,
			     struct ctx_err *err)
{
	const struct ctx_profile *profile = source->selection.profile;
	struct ctx_out_spec spec = {.kind = &ctx_report_states,
				    .selection = &source->selection,
				    .options = options,
				    .columns = columns,
				    .n_columns = CTX_COUNT_OF(columns)};
	struct page page = {.out = NULL};
	size_t key;
	enum ctx_status status = ctx_order_find("states", options->sort, sort_keys, &key, err);

	if (options->format == CTX_REPORT_JSON)
		spec.n_columns = FIRST_SPANS; /* the spans are an object */
	if (status == CTX_OK)
		status = ctx_state_check(profile, err);
	if (status == CTX_OK)
		status = source->states(source, &page.states, &page.n_states, err);
	if (status != CTX_OK)
		return status;
	page.has_pid = has_processes(&page, profile);
	return put_page(&page, &spec, key, err);
}

const struct ctx_report_kind ctx_report_states = {
	.name = "states",
	.metrics = CTX_REPORT_NO_METRIC,
	.no_function = true,
	.columns = columns,
	.n_columns = CTX_COUNT_OF(columns),
	.print = print,
};
