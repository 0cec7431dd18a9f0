#include "report/summary.h"

#include "base/mem.h"
#include "report/kinds.h"
#include "report/order.h"
#include "report/part_cells.h"
#include "report/state_cells.h"
#include "report/wakers_rows.h"

#include <inttypes.h>
#include <string.h>

/* JSON has the states as an object, and lists; CSV flat. */
static const struct ctx_column columns[] = {
	{"command", NULL, CTX_STYLE_NAME},	    {"wall_ns", NULL, CTX_STYLE_TIME},
	{"cpu_ns", NULL, CTX_STYLE_TIME},	    {"cpus", NULL, CTX_STYLE_COUNT},
	{"threads", NULL, CTX_STYLE_COUNT},	    {"processes", NULL, CTX_STYLE_COUNT},
	{"thread_ns", NULL, CTX_STYLE_TIME},	    {"states.USER", NULL, CTX_STYLE_COUNT},
	{"states.SYSTEM", NULL, CTX_STYLE_COUNT},   {"states.TRAP", NULL, CTX_STYLE_COUNT},
	{"states.TFAULT", NULL, CTX_STYLE_COUNT},   {"states.DFAULT", NULL, CTX_STYLE_COUNT},
	{"states.KFAULT", NULL, CTX_STYLE_COUNT},   {"states.USER_LOCK", NULL, CTX_STYLE_COUNT},
	{"states.SLEEP", NULL, CTX_STYLE_COUNT},    {"states.STOPPED", NULL, CTX_STYLE_COUNT},
	{"states.WAIT_CPU", NULL, CTX_STYLE_COUNT}, {"states.UNKNOWN", NULL, CTX_STYLE_COUNT},
};

enum { FIRST_STATE = 7 };

static const struct ctx_column share_columns[] = {
	{"kind", NULL, CTX_STYLE_NAME},
	{"ns", NULL, CTX_STYLE_TIME},
};

static const struct ctx_column wait_columns[] = {
	{"caller", NULL, CTX_STYLE_NAME},  {"object", NULL, CTX_STYLE_NAME},
	{"kind", NULL, CTX_STYLE_NAME},	   {"state", NULL, CTX_STYLE_NAME},
	{"waits", NULL, CTX_STYLE_COUNT},  {"wait_ns", NULL, CTX_STYLE_TIME},
	{"mean_ns", NULL, CTX_STYLE_TIME}, {"max_ns", NULL, CTX_STYLE_TIME},
	{"waker", NULL, CTX_STYLE_NAME},   {"waker_function", NULL, CTX_STYLE_NAME},
};

/* Of the first wait. */
static const struct ctx_column during_columns[] = {
	{"function", NULL, CTX_STYLE_NAME},
	{"ns", NULL, CTX_STYLE_TIME},
	{"waker_ns", NULL, CTX_STYLE_TIME},
};

/* Of the first wait. */
static const struct ctx_column waiters_columns[] = {
	{"threads", NULL, CTX_STYLE_COUNT},
	{"wall_ns", NULL, CTX_STYLE_TIME},
};

static const struct ctx_column function_columns[] = {
	{"function", NULL, CTX_STYLE_NAME},    {"object", NULL, CTX_STYLE_NAME},
	{"callee", NULL, CTX_STYLE_NAME},      {"with_callees", NULL, CTX_STYLE_WEIGHT},
	{"exclusive", NULL, CTX_STYLE_WEIGHT}, {"inclusive", NULL, CTX_STYLE_WEIGHT},
	{"file", NULL, CTX_STYLE_NAME},	       {"line", NULL, CTX_STYLE_COUNT},
};

static const struct ctx_column group_columns[] = {
	{"name", NULL, CTX_STYLE_NAME},
	{"number", NULL, CTX_STYLE_COUNT},
	{"weight", NULL, CTX_STYLE_WEIGHT},
	{"wall_ns", NULL, CTX_STYLE_TIME},
};

static void put_shares(const struct ctx_summary *summary, struct ctx_out *out)
{
	ctx_out_list_begin(out, "shares");
	for (size_t i = 0; i < summary->n_shares; i++)
		ctx_out_list_row(out, share_columns, CTX_COUNT_OF(share_columns),
				 (struct ctx_cell[]){
					 ctx_cell_name(summary->shares[i].text),
					 ctx_cell_number(summary->shares[i].ns),
				 });
	ctx_out_list_end(out);
}

/* Rows of a list: --limit, ten without; 0 is all. */
static size_t limited(const struct ctx_summary *summary, size_t n)
{
	size_t limit = summary->options->limit != 0 ? summary->options->limit : CTX_SUMMARY_ROWS;

	return n < limit || summary->options->whole ? n : limit;
}

static void put_waits(const struct ctx_summary *summary, struct ctx_out *out)
{
	size_t n = limited(summary, summary->waits.n);

	ctx_out_list_begin(out, "waits");
	for (size_t i = 0; i < n; i++) {
		const struct ctx_wait_row *row = &summary->waits.rows[summary->wait_order[i].index];
		struct ctx_cell caller = ctx_wait_caller_cell(summary->profile, row);

		ctx_out_list_row(out, wait_columns, CTX_COUNT_OF(wait_columns),
				 (struct ctx_cell[]){
					 ctx_cell_name(row->caller != CTX_NONE ? caller.name : NULL),
					 ctx_cell_name(caller.object),
					 ctx_cell_name(ctx_wait_kind_text(row->kind)),
					 ctx_cell_name(ctx_wakers_state(row->state, true)),
					 ctx_cell_number(row->waits),
					 ctx_cell_number(row->wait_ns),
					 ctx_cell_number(ctx_wait_row_mean(row)),
					 ctx_cell_number(row->max_ns),
					 ctx_cell_name(row->waker),
					 ctx_wait_waker_cell(summary->profile, row),
				 });
	}
	ctx_out_list_end(out);
}

static void put_during(const struct ctx_summary *summary, struct ctx_out *out)
{
	const struct ctx_wait_during *during = &summary->during;

	if (during->function != CTX_NONE)
		ctx_out_map(out, "waker_during", during_columns, CTX_COUNT_OF(during_columns),
			    (struct ctx_cell[]){
				    ctx_cell_name(summary->profile->functions[during->function].name),
				    ctx_cell_number(during->ns),
				    ctx_cell_number(during->waker_ns),
			    });
}

static void put_waiters(const struct ctx_summary *summary, struct ctx_out *out)
{
	if (summary->waiting.waiters.n != 0)
		ctx_out_map(out, "waiters", waiters_columns, CTX_COUNT_OF(waiters_columns),
			    (struct ctx_cell[]){
				    ctx_cell_number(summary->waiting.waiters.n),
				    ctx_cell_number(summary->waiting.waiters.wall_ns),
			    });
}

static void put_functions(const struct ctx_summary *summary, struct ctx_out *out)
{
	const struct ctx_hot_functions *functions = &summary->functions;
	size_t n = limited(summary, functions->n);

	ctx_out_list_begin(out, "functions");
	for (size_t i = 0; i < n && functions->rows[i].with_callees != 0; i++) {
		const struct ctx_hot_function *row = &functions->rows[i];
		struct ctx_cell name = ctx_function_cell(&summary->fold.profile, row->function);
		bool known = row->file != CTX_NONE;

		ctx_out_list_row(
			out, function_columns, CTX_COUNT_OF(function_columns),
			(struct ctx_cell[]){
				name,
				ctx_cell_name(name.object),
				ctx_cell_name(row->callee != CTX_NONE
						      ? summary->fold.profile.functions[row->callee].name
						      : NULL),
				ctx_cell_number(row->with_callees),
				ctx_cell_number(row->self),
				ctx_cell_number(row->total),
				ctx_cell_name(known ? functions->code->files[row->file].path : NULL),
				known ? ctx_cell_number(row->line) : ctx_cell_name(NULL),
			});
	}
	ctx_out_list_end(out);
}

static const struct ctx_column region_columns[] = {
	{"function", NULL, CTX_STYLE_NAME},	{"work_ns", NULL, CTX_STYLE_TIME},
	{"wait_ns", NULL, CTX_STYLE_TIME},	{"waits_for", NULL, CTX_STYLE_NAME},
	{"imbalance_ns", NULL, CTX_STYLE_TIME},
};

/* Those of the screen. */
static void put_regions(const struct ctx_summary *summary, struct ctx_out *out)
{
	const struct ctx_summary_omp *omp = &summary->waiting.omp;

	if (summary->profile->traced[CTX_TRACED_OMP] == 0)
		return;
	ctx_out_list_begin(out, "omp_regions");
	for (size_t i = 0; i < omp->n_regions; i++) {
		const struct ctx_summary_omp_region *region = &omp->regions[i];
		const char *state =
			region->state != CTX_NONE ? summary->profile->functions[region->state].name : NULL;

		ctx_out_list_row(out, region_columns, CTX_COUNT_OF(region_columns),
				 (struct ctx_cell[]){
					 ctx_cell_name(summary->profile->functions[region->function].name),
					 ctx_cell_number(region->work_ns),
					 ctx_cell_number(region->wait_ns),
					 ctx_cell_name(state),
					 ctx_cell_number((uint64_t)(region->imbalance_ns + 0.5)),
				 });
	}
	ctx_out_list_end(out);
}

static void put_groups(const struct ctx_summary *summary, struct ctx_out *out)
{
	size_t n = limited(summary, summary->n_groups);

	ctx_out_list_begin(out, summary->groups_are_commands ? "commands" : "thread_groups");
	for (size_t i = 0; i < n; i++) {
		const struct ctx_summary_group *group = &summary->groups[i];

		ctx_out_list_row(out, group_columns, CTX_COUNT_OF(group_columns),
				 (struct ctx_cell[]){
					 ctx_cell_name(group->name),
					 ctx_cell_number(group->n),
					 ctx_cell_number(group->cpu),
					 ctx_cell_number(group->wall_ns),
				 });
	}
	ctx_out_list_end(out);
}

static const struct ctx_column missing_columns[] = {
	{"object", NULL, CTX_STYLE_NAME},
	{"samples", NULL, CTX_STYLE_COUNT},
};

static void put_missing(const struct ctx_summary *summary, struct ctx_out *out)
{
	ctx_out_list_begin(out, "missing_objects");
	for (size_t i = 0; i < summary->missing.n; i++) {
		const struct ctx_missing_object *missing = &summary->missing.items[i];

		ctx_out_list_row(out, missing_columns, CTX_COUNT_OF(missing_columns),
				 (struct ctx_cell[]){
					 ctx_cell_name(summary->profile->objects[missing->object].path),
					 ctx_cell_number(missing->samples),
				 });
	}
	ctx_out_list_end(out);
}

static void put_path(const struct ctx_summary *summary, struct ctx_out *out)
{
	struct ctx_fold_frame *frames CTX_AUTO_FREE = NULL;
	size_t n = 0;

	ctx_out_fail(out, ctx_fold_path(&summary->fold, summary->functions.hottest, &frames, &n, NULL));
	ctx_out_list_begin(out, "hottest_path");
	for (size_t i = 0; out->status == CTX_OK && !summary->profile->losses.call_stacks && i < n; i++)
		ctx_out_list_name(out, frames[i].name);
	ctx_out_list_end(out);
}

static void put_text(void *context, const char *text)
{
	ctx_out_list_name(context, text);
}

static void put_data(const struct ctx_summary *summary, struct ctx_out *out)
{
	const struct ctx_profile *profile = summary->profile;
	const char *command = ctx_summary_command(summary);
	struct ctx_cell states[CTX_STATE_N],
		cells[CTX_COUNT_OF(columns)] = {
			ctx_cell_name(*command != '\0' ? command : NULL),
			ctx_cell_number(summary->elapsed_ns),
			summary->has_cpu ? ctx_cell_number(summary->cpu_ns) : ctx_cell_name(NULL),
			summary->cpus != 0 ? ctx_cell_number(summary->cpus) : ctx_cell_name(NULL),
			ctx_cell_number(summary->n_threads),
			ctx_cell_number(summary->n_processes),
			profile->has_states ? ctx_cell_number(summary->thread_ns) : ctx_cell_name(NULL),
		};

	ctx_state_fill(summary->states, states);
	if (profile->has_states)
		memcpy(&cells[FIRST_STATE], states, sizeof(states));
	ctx_out_row_begin(out, cells);
	if (ctx_out_has_lists(out)) {
		if (profile->has_states)
			ctx_out_map(out, "states", ctx_state_columns, CTX_STATE_N, states);
		put_shares(summary, out);
		put_waits(summary, out);
		put_waiters(summary, out);
		put_during(summary, out);
		put_functions(summary, out);
		put_regions(summary, out);
		put_groups(summary, out);
		put_path(summary, out);
		put_missing(summary, out);
		ctx_out_list_begin(out, "next");
		ctx_summary_next(summary, put_text, out);
		ctx_out_list_end(out);
	}
	ctx_out_row_end(out);
}

static enum ctx_status print(struct ctx_report_source *source, const struct ctx_report_options *options,
			     struct ctx_err *err)
{
	struct ctx_out_spec spec = {.kind = &ctx_report_summary,
				    .selection = &source->selection,
				    .options = options,
				    .columns = columns,
				    .n_columns = CTX_COUNT_OF(columns),
				    .own_title = true};
	struct ctx_summary summary;
	struct ctx_out out;
	enum ctx_status status = ctx_summary_collect(&summary, source, options, err);

	/* JSON has the states in an object. */
	if (options->format == CTX_REPORT_JSON)
		spec.n_columns = FIRST_STATE;
	if (status == CTX_OK) {
		spec.totals = summary.functions.totals;
		ctx_out_begin(&out, &spec);
		if (ctx_out_is_text(&out))
			ctx_summary_print(&summary, &out);
		else
			put_data(&summary, &out);
		ctx_out_rows_end(&out);
		status = ctx_out_end(&out, err);
	}
	ctx_summary_deinit(&summary);
	return status;
}

const struct ctx_report_kind ctx_report_summary = {
	.name = "summary",
	.no_function = true,
	.order = "",
	.columns = columns,
	.n_columns = CTX_COUNT_OF(columns),
	.print = print,
};
