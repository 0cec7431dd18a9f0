#include "report/summary_tables.h"

#include "base/mem.h"
#include "report/names.h"
#include "report/part_cells.h"

#include <inttypes.h>
#include <string.h>

#define FUNCTION_WIDTH 20u /* of one in the column of wakers */

static void begin_table(struct ctx_summary_screen *screen, const struct ctx_column *columns, size_t n)
{
	ctx_summary_put_blank(screen);
	screen->out->columns = columns;
	screen->out->n_columns = n;
}

static struct ctx_cell percent_cell(struct ctx_out *out, uint64_t part, uint64_t whole)
{
	char figure[CTX_FIGURE_MAX];

	ctx_figure_percent(figure, part, whole, 1);
	return ctx_cell_name(ctx_out_format(out, "%s", figure));
}

static struct ctx_cell time_cell(struct ctx_summary_screen *screen, uint64_t ns)
{
	struct ctx_buf text = {0};
	struct ctx_cell cell;

	ctx_summary_put_time(&text, ns);
	ctx_buf_put_u8(&text, '\0');
	cell = ctx_cell_name(text.failed ? "" : ctx_out_format(screen->out, "%s", (const char *)text.bytes));
	ctx_buf_deinit(&text);
	return cell;
}

static const struct ctx_column function_columns[] = {
	{NULL, "", CTX_STYLE_NAME},
	{NULL, "Time %", CTX_STYLE_COUNT},
	{NULL, "Self %", CTX_STYLE_COUNT},
	{NULL, "Total %", CTX_STYLE_COUNT},
	{NULL, "Hottest line", CTX_STYLE_PLACE},
	{NULL, "Function", CTX_STYLE_NAME},
};

enum { TOTAL = 3, PLACE, FUNCTION };

static bool has_places(const struct ctx_summary_screen *screen)
{
	for (size_t i = 0; i < screen->plan.functions; i++) {
		if (screen->summary->functions.rows[i].file != CTX_NONE)
			return true;
	}
	return false;
}

/* Columns that the figures and places of the table leave to names. */
static size_t name_room(const struct ctx_summary_screen *screen)
{
	const struct ctx_hot_functions *functions = &screen->summary->functions;
	size_t used = 24, widest = 0;

	for (size_t i = 0; i < screen->plan.functions; i++) {
		const struct ctx_hot_function *row = &functions->rows[i];
		const char *base;
		size_t width;

		if (row->file == CTX_NONE)
			continue;
		base = ctx_name_of_path(functions->code->files[row->file].path);
		width = ctx_text_width(base, strlen(base)) + 5;
		widest = width > widest ? width : widest;
	}
	used += widest != 0 && widest < sizeof("Hottest line") ? sizeof("Hottest line") : widest;
	return used < screen->width ? screen->width - used : 0;
}

/* "NAME › CALLEE" where it has most of its time in a callee. */
static struct ctx_cell function_cell(struct ctx_summary_screen *screen, const struct ctx_hot_function *row)
{
	const struct ctx_summary *summary = screen->summary;
	struct ctx_cell cell = ctx_function_cell(&summary->fold.profile, row->function);
	struct ctx_buf text = {0};

	if (row->function >= summary->profile->n_functions)
		cell.link = 0;
	cell.name = ctx_summary_name(screen, row->function);
	if (!ctx_hot_function_calls(row))
		return cell;
	cell.object = NULL;
	ctx_summary_put_call(screen, row, name_room(screen), &text);
	ctx_buf_put_u8(&text, '\0');
	if (text.failed)
		ctx_out_fail(screen->out, CTX_E_NOMEM);
	else
		cell.name = ctx_out_format(screen->out, "%s", (const char *)text.bytes);
	ctx_buf_deinit(&text);
	return cell;
}

/* "Function (% of 0.203 s on a CPU)": rows of a run that waits are of little. */
static const char *function_title(struct ctx_summary_screen *screen)
{
	const struct ctx_summary *summary = screen->summary;
	const char *usual = function_columns[FUNCTION].title, *title = usual;
	struct ctx_buf text = {0};

	if (!summary->profile->has_states || !ctx_metric_is_time(&summary->metric) ||
	    !ctx_metric_shows_running(summary->metric.kind, summary->metric.name))
		return usual;
	ctx_buf_printf(&text, "%s (%% of ", usual);
	ctx_summary_put_time(&text, summary->cpu_ns);
	ctx_buf_put_text(&text, " on a CPU)");
	ctx_buf_put_u8(&text, '\0');
	if (text.failed)
		ctx_out_fail(screen->out, CTX_E_NOMEM);
	else if (text.n - 1 <= name_room(screen))
		title = ctx_out_format(screen->out, "%s", (const char *)text.bytes);
	ctx_buf_deinit(&text);
	return title;
}

void ctx_summary_put_functions(struct ctx_summary_screen *screen)
{
	const struct ctx_summary *summary = screen->summary;
	const struct ctx_hot_functions *functions = &summary->functions;
	struct ctx_out *out = screen->out;
	struct ctx_column columns[CTX_COUNT_OF(function_columns)];

	if (screen->plan.functions == 0)
		return;
	for (size_t i = 0; i < CTX_COUNT_OF(columns); i++)
		columns[i] = function_columns[i];
	if (!has_places(screen))
		columns[PLACE].title = NULL;
	if (summary->profile->losses.call_stacks)
		columns[TOTAL].title = NULL;
	columns[FUNCTION].title = function_title(screen);
	begin_table(screen, columns, CTX_COUNT_OF(columns));
	for (size_t i = 0; i < screen->plan.functions; i++) {
		const struct ctx_hot_function *row = &functions->rows[i];
		const char *place = "";

		if (row->file != CTX_NONE)
			place = ctx_out_format(out, "%s:%" PRIu32,
					       ctx_name_of_path(functions->code->files[row->file].path),
					       row->line);
		ctx_out_row(out, (struct ctx_cell[]){
					 ctx_cell_name(ctx_out_format(out, "%c", 'A' + (int)i)),
					 percent_cell(out, row->with_callees, functions->weight),
					 percent_cell(out, row->self, functions->weight),
					 percent_cell(out, row->total, functions->weight),
					 ctx_cell_name(place),
					 function_cell(screen, row),
				 });
	}
	ctx_out_section(out, NULL);
}

static const struct ctx_column wait_columns[] = {
	{NULL, "Wait", CTX_STYLE_COUNT},    {NULL, "%", CTX_STYLE_COUNT},  {NULL, "Waits", CTX_STYLE_COUNT},
	{NULL, "Longest", CTX_STYLE_COUNT}, {NULL, "For", CTX_STYLE_NAME}, {NULL, "Ended by", CTX_STYLE_NAME},
	{NULL, "Caller", CTX_STYLE_NAME},
};

/* "keeper: save_sessions": and the function, if it is another one than that which waits. */
static struct ctx_cell waker_cell(struct ctx_summary_screen *screen, const struct ctx_wait_row *row)
{
	struct ctx_buf text = {0};
	struct ctx_cell cell = ctx_cell_name(NULL);

	/* An interrupt tells nothing. */
	if (row->waker == NULL || *row->waker == '<')
		return cell;
	ctx_summary_put_waker(screen, row->waker, &text);
	if (row->waker_function != CTX_NONE && row->waker_function != row->caller) {
		ctx_buf_put_text(&text, ": ");
		ctx_summary_put_name(screen, row->waker_function, FUNCTION_WIDTH, &text);
	}
	ctx_buf_put_u8(&text, '\0');
	if (text.failed)
		ctx_out_fail(screen->out, CTX_E_NOMEM);
	else
		cell = ctx_cell_name(ctx_out_format(screen->out, "%s", (const char *)text.bytes));
	ctx_buf_deinit(&text);
	return cell;
}

/* "run_engine (idle)". The load object says something where the name does not. */
static struct ctx_cell caller_cell(struct ctx_summary_screen *screen, const struct ctx_wait_row *row)
{
	struct ctx_cell cell = ctx_wait_caller_cell(screen->summary->profile, row);

	if (row->caller != CTX_NONE && *cell.name != '<') {
		cell.name = ctx_summary_name(screen, row->caller);
		cell.object = NULL;
	}
	if (ctx_summary_is_idle(screen->summary, row))
		cell.name = ctx_out_format(screen->out, "%s (idle)", cell.name);
	return cell;
}

void ctx_summary_put_waits(struct ctx_summary_screen *screen)
{
	const struct ctx_summary *summary = screen->summary;
	struct ctx_out *out = screen->out;

	if (screen->plan.waits == 0)
		return;
	begin_table(screen, wait_columns, CTX_COUNT_OF(wait_columns));
	for (size_t i = 0; i < screen->plan.waits; i++) {
		const struct ctx_wait_row *row = &summary->waits.rows[summary->wait_order[i].index];

		ctx_out_row(out, (struct ctx_cell[]){
					 time_cell(screen, row->wait_ns),
					 percent_cell(out, row->wait_ns, summary->thread_ns),
					 ctx_cell_number(row->waits),
					 time_cell(screen, row->max_ns),
					 ctx_cell_name(ctx_summary_kind_word(row->kind)),
					 waker_cell(screen, row),
					 caller_cell(screen, row),
				 });
	}
	ctx_out_section(out, NULL);
}

static const struct ctx_column region_columns[] = {
	{NULL, "Team time", CTX_STYLE_COUNT},	   {NULL, "Wait %", CTX_STYLE_COUNT},
	{NULL, "Imbalance %", CTX_STYLE_COUNT},	   {NULL, "Waits mostly for", CTX_STYLE_NAME},
	{NULL, "Parallel region", CTX_STYLE_NAME},
};

/* A text of bytes, ended here. */
static struct ctx_cell text_cell(struct ctx_summary_screen *screen, struct ctx_buf *text)
{
	struct ctx_cell cell = ctx_cell_name("");

	ctx_buf_put_u8(text, '\0');
	if (text->failed)
		ctx_out_fail(screen->out, CTX_E_NOMEM);
	else
		cell = ctx_cell_name(ctx_out_format(screen->out, "%s", (const char *)text->bytes));
	ctx_buf_deinit(text);
	return cell;
}

void ctx_summary_put_regions(struct ctx_summary_screen *screen)
{
	const struct ctx_summary *summary = screen->summary;
	struct ctx_out *out = screen->out;

	if (screen->plan.regions == 0)
		return;
	begin_table(screen, region_columns, CTX_COUNT_OF(region_columns));
	for (size_t i = 0; i < screen->plan.regions; i++) {
		const struct ctx_summary_omp_region *region = &summary->waiting.omp.regions[i];
		struct ctx_buf state = {0}, name = {0};

		ctx_summary_omp_put_state(summary->profile, region->state, &state);
		ctx_summary_omp_put_construct(summary->profile, region->function, &name);
		ctx_out_row(
			out,
			(struct ctx_cell[]){
				time_cell(screen, region->work_ns + region->wait_ns),
				percent_cell(out, region->wait_ns, region->work_ns + region->wait_ns),
				percent_cell(out, (uint64_t)(region->imbalance_ns + 0.5), region->longest_ns),
				text_cell(screen, &state),
				text_cell(screen, &name),
			});
	}
	ctx_out_section(out, NULL);
}

static const struct ctx_column group_columns[] = {
	{NULL, "Weight", CTX_STYLE_COUNT},    {NULL, "CPU", CTX_STYLE_COUNT},
	{NULL, "%", CTX_STYLE_COUNT},	      {NULL, "Wall", CTX_STYLE_COUNT},
	{NULL, "Processes", CTX_STYLE_COUNT}, {NULL, "Command", CTX_STYLE_NAME},
	{NULL, "Threads", CTX_STYLE_COUNT},   {NULL, "Name", CTX_STYLE_NAME},
};

enum { WEIGHT, CPU, WALL = 3, PROCESSES, COMMAND, THREADS, NAME };

/* Without the columns that do not apply. */
static void choose_group_columns(const struct ctx_summary *summary, struct ctx_column *columns)
{
	for (size_t i = 0; i < CTX_COUNT_OF(group_columns); i++)
		columns[i] = group_columns[i];
	columns[summary->has_cpu ? WEIGHT : CPU].title = NULL;
	columns[summary->groups_are_commands ? THREADS : PROCESSES].title = NULL;
	columns[summary->groups_are_commands ? NAME : COMMAND].title = NULL;
	if (!summary->profile->has_states)
		columns[WALL].title = NULL;
}

void ctx_summary_put_groups(struct ctx_summary_screen *screen)
{
	const struct ctx_summary *summary = screen->summary;
	struct ctx_column columns[CTX_COUNT_OF(group_columns)];
	struct ctx_out *out = screen->out;

	if (screen->plan.groups == 0)
		return;
	choose_group_columns(summary, columns);
	begin_table(screen, columns, CTX_COUNT_OF(columns));
	for (size_t i = 0; i < screen->plan.groups; i++) {
		const struct ctx_summary_group *group = &summary->groups[i];

		ctx_out_row(out, (struct ctx_cell[]){
					 ctx_cell_number(group->cpu),
					 time_cell(screen, group->cpu),
					 percent_cell(out, group->cpu, summary->functions.weight),
					 time_cell(screen, group->wall_ns),
					 ctx_cell_number(group->n),
					 ctx_cell_name(group->name),
					 ctx_cell_number(group->n),
					 ctx_cell_name(group->name),
				 });
	}
	ctx_out_section(out, NULL);
}
