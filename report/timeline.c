#include "base/mem.h"
#include "report/head.h"
#include "report/kinds.h"
#include "report/part_cells.h"
#include "report/state_cells.h"
#include "report/strip.h"

static const struct ctx_column slice_columns[] = {
	{"thread", NULL, CTX_STYLE_COUNT},    {"begin", NULL, CTX_STYLE_TIME},
	{"end", NULL, CTX_STYLE_TIME},	      {"samples", NULL, CTX_STYLE_COUNT},
	{"weight", NULL, CTX_STYLE_WEIGHT},   {"function", NULL, CTX_STYLE_NAME},
	{"thread_id", NULL, CTX_STYLE_COUNT}, {"state", NULL, CTX_STYLE_NAME},
};

static const struct ctx_column level_columns[] = {
	{"level", "Level", CTX_STYLE_COUNT},	     {"nodes", "Nodes", CTX_STYLE_COUNT},
	{"leaves", "Leaves", CTX_STYLE_COUNT},	     {"samples_in_leaves", "Samples", CTX_STYLE_COUNT},
	{"top_bytes", "Top bytes", CTX_STYLE_COUNT}, {"tail_bytes", "Tail bytes", CTX_STYLE_COUNT},
};

static void put_slice(struct ctx_out *out, const struct ctx_report_slice *slice)
{
	const struct ctx_profile *profile = out->input->profile;
	unsigned most = profile->has_states ? ctx_state_most(slice->state_ns) : CTX_STATE_N;
	struct ctx_cell states[CTX_STATE_N];
	bool has_function = slice->function < profile->n_functions;
	struct ctx_cell cells[CTX_COUNT_OF(slice_columns)] = {
		ctx_thread_cell(profile, slice->thread),
		ctx_cell_number(slice->interval.begin_ns),
		ctx_cell_number(slice->interval.end_ns),
		ctx_cell_number(slice->samples),
		ctx_cell_number(slice->weight),
		ctx_cell_name(has_function ? profile->functions[slice->function].name : NULL),
		slice->thread == CTX_NONE ? ctx_cell_name(NULL) : ctx_cell_number(slice->thread),
		ctx_cell_name(most != CTX_STATE_N ? ctx_state_name((enum ctx_thread_state)most) : NULL),
	};

	ctx_out_row_begin(out, cells);
	if (profile->has_states) {
		ctx_state_fill(slice->state_ns, states);
		ctx_out_map(out, "states", ctx_state_columns, CTX_STATE_N, states);
	}
	ctx_out_row_end(out);
}

static void fill_level(const struct ctx_report_level *level, struct ctx_cell *cells)
{
	const uint64_t numbers[CTX_COUNT_OF(level_columns)] = {
		level->level,	  level->nodes,	     level->leaves, level->samples_in_leaves,
		level->top_bytes, level->tail_bytes,
	};

	for (size_t i = 0; i < CTX_COUNT_OF(numbers); i++)
		cells[i] = ctx_cell_number(numbers[i]);
}

static void put_levels(struct ctx_out *out)
{
	const struct ctx_report_input *input = out->input;

	if (ctx_out_is_text(out)) {
		if (input->n_levels != 0)
			ctx_out_section(out, "Time tree");
		/* From here on the table is another one. */
		out->columns = level_columns;
		out->n_columns = CTX_COUNT_OF(level_columns);
	}
	if (out->options->format == CTX_REPORT_CSV)
		return;
	ctx_out_rows_end(out);
	ctx_out_list_begin(out, "levels");
	for (size_t i = 0; i < input->n_levels; i++) {
		struct ctx_cell cells[CTX_COUNT_OF(level_columns)];

		fill_level(&input->levels[i], cells);
		if (ctx_out_is_text(out))
			ctx_out_row(out, cells);
		else
			ctx_out_list_row(out, level_columns, CTX_COUNT_OF(level_columns), cells);
	}
	ctx_out_list_end(out);
}

enum ctx_status ctx_report_timeline(const struct ctx_report_input *input,
				    const struct ctx_report_options *options, struct ctx_err *err)
{
	struct ctx_strips strips;
	struct ctx_out out;
	enum ctx_status status = ctx_strips_init(&strips, input, err);

	if (status != CTX_OK)
		return status;
	if (options->sort != NULL)
		return ctx_err_set(err, CTX_E_ARG, "timeline cannot be sorted: it is in order of time");
	/* The last column is there only where there are states. */
	ctx_out_begin(&out, input, options, "timeline", slice_columns,
		      CTX_COUNT_OF(slice_columns) - (input->profile->has_states ? 0 : 1));
	if (ctx_out_is_text(&out))
		ctx_strips_print(&strips, &out);
	for (size_t i = 0; i < input->n_slices && !ctx_out_is_text(&out); i++)
		put_slice(&out, &input->slices[i]);
	put_levels(&out);
	return ctx_out_end(&out, err);
}
