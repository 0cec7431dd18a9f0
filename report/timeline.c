#include "base/mem.h"
#include "report/kinds.h"
#include "report/out.h"
#include "report/part_cells.h"
#include "report/state_cells.h"
#include "report/strip.h"

#include <string.h>

#define THREADS 16u	 /* with a strip, unless --limit says otherwise */
#define MARGIN 30u	 /* columns for a thread's name */
#define LEAST_SLICES 20u /* of a thread */
#define MOST_SLICES 200u
#define DATA_SLICES 100u /* in JSON and CSV */

static const struct ctx_column slice_columns[] = {
	{"thread", NULL, CTX_STYLE_COUNT},    {"begin", NULL, CTX_STYLE_TIME},
	{"end", NULL, CTX_STYLE_TIME},	      {"samples", NULL, CTX_STYLE_COUNT},
	{"weight", NULL, CTX_STYLE_WEIGHT},   {"function", NULL, CTX_STYLE_NAME},
	{"thread_id", NULL, CTX_STYLE_COUNT}, {"state", NULL, CTX_STYLE_NAME},
	{"call", NULL, CTX_STYLE_NAME},
};

#define ALWAYS (CTX_COUNT_OF(slice_columns) - 2) /* the last two are of recordings with states, with calls */

static const struct ctx_column level_columns[] = {
	{"level", "Level", CTX_STYLE_COUNT},	     {"nodes", "Nodes", CTX_STYLE_COUNT},
	{"leaves", "Leaves", CTX_STYLE_COUNT},	     {"samples_in_leaves", "Samples", CTX_STYLE_COUNT},
	{"top_bytes", "Top bytes", CTX_STYLE_COUNT}, {"tail_bytes", "Tail bytes", CTX_STYLE_COUNT},
};

static void put_slice(struct ctx_out *out, const struct ctx_report_slice *slice)
{
	const struct ctx_profile *profile = out->profile;
	unsigned most = profile->has_states ? ctx_state_most(slice->state_ns) : CTX_STATE_N;
	struct ctx_cell states[CTX_STATE_N];
	bool has_function = slice->function < profile->n_functions;
	uint32_t called = slice->call != CTX_TRIE_ROOT ? profile->cct.key[slice->call] : CTX_NONE;
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

	cells[profile->has_states ? ALWAYS + 1 : ALWAYS] =
		ctx_cell_name(called < profile->n_functions ? profile->functions[called].name : NULL);

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

static void put_levels(struct ctx_out *out, const struct ctx_report_level *levels, size_t n)
{
	if (ctx_out_is_text(out)) {
		if (n != 0)
			ctx_out_section(out, "Time tree");
		/* The table of levels follows. */
		out->columns = level_columns;
		out->n_columns = CTX_COUNT_OF(level_columns);
	}
	if (out->options->format == CTX_REPORT_CSV)
		return;
	ctx_out_rows_end(out);
	ctx_out_list_begin(out, "levels");
	for (size_t i = 0; i < n; i++) {
		struct ctx_cell cells[CTX_COUNT_OF(level_columns)];

		fill_level(&levels[i], cells);
		if (ctx_out_is_text(out))
			ctx_out_row(out, cells);
		else
			ctx_out_list_row(out, level_columns, CTX_COUNT_OF(level_columns), cells);
	}
	ctx_out_list_end(out);
}

/* The useful number of slices of a thread: one per column. */
static size_t slices_wanted(const struct ctx_report_options *options)
{
	size_t width = options->width != 0 ? options->width : 120;

	if (options->format == CTX_REPORT_JSON || options->format == CTX_REPORT_CSV)
		return DATA_SLICES;
	width = width > MARGIN + LEAST_SLICES ? width - MARGIN : LEAST_SLICES;
	return width < MOST_SLICES ? width : MOST_SLICES;
}

struct timeline {
	struct ctx_report_parts parts; /* for the head */
	struct ctx_report_slices slices;
	const struct ctx_report_level *levels;
	size_t n_levels;
	struct ctx_mark_spans marks;	  /* owned; of text */
	struct ctx_held_locks held;	  /* the same */
	struct ctx_report_traced regions; /* of text */
	const struct ctx_phases *phases;  /* of text */
};

static enum ctx_status pull(struct ctx_report_source *source, const struct ctx_report_options *options,
			    struct timeline *ret, struct ctx_err *err)
{
	const struct ctx_profile *profile = source->selection.profile;
	struct ctx_report_traced marks = {0};
	enum ctx_status status = source->parts(
		source, &(struct ctx_parts_query){.per_thread = options->per_thread}, &ret->parts, err);

	if (status == CTX_OK)
		status = source->slices(source, slices_wanted(options),
					options->whole	      ? SIZE_MAX
					: options->limit != 0 ? options->limit
							      : THREADS,
					&ret->slices, err);
	if (status == CTX_OK)
		status = source->levels(source, &ret->levels, &ret->n_levels, err);
	if (status == CTX_OK && options->format == CTX_REPORT_TEXT)
		status = ctx_held_locks_make(source, &ret->slices, UINT64_MAX, &ret->held, err);
	if (status == CTX_OK && options->format == CTX_REPORT_TEXT)
		status = source->phases(source, true, &ret->phases, err);
	if (status == CTX_OK && profile->traced[CTX_TRACED_MARK] != 0 && options->format == CTX_REPORT_TEXT)
		status = source->traced(source, CTX_TRACED_MARK, &marks, err);
	if (status == CTX_OK && profile->traced[CTX_TRACED_OMP] != 0 && options->format == CTX_REPORT_TEXT)
		status = source->traced(source, CTX_TRACED_OMP, &ret->regions, err);
	if (status == CTX_OK)
		status = ctx_mark_spans_make(marks.items, marks.n, profile->run.end_ns, &ret->marks, err);
	return status;
}

static void put_strips(struct ctx_out *out, const struct ctx_strips *strips)
{
	size_t left_out = strips->slices.threads_left_out;

	ctx_strips_print(strips, out);
	if (left_out != 0)
		ctx_out_line(out,
			     ctx_out_format(out, "(%zu more thread%s have no strip of their own: --limit 0)",
					    left_out, left_out == 1 ? "" : "s"));
}

static enum ctx_status print(struct ctx_report_source *source, const struct ctx_report_options *options,
			     struct ctx_err *err)
{
	const struct ctx_profile *profile = source->selection.profile;
	bool has_calls = ctx_profile_elapsed_metric(profile) != CTX_NONE;
	struct ctx_column columns[CTX_COUNT_OF(slice_columns)];
	struct ctx_out_spec spec = {.kind = &ctx_report_timeline,
				    .selection = &source->selection,
				    .options = options,
				    .columns = columns,
				    .n_columns = ALWAYS + profile->has_states + has_calls};
	struct timeline timeline = {0};
	struct ctx_strips strips;
	struct ctx_out out;
	enum ctx_status status = pull(source, options, &timeline, err);

	memcpy(columns, slice_columns, sizeof(columns));
	if (!profile->has_states)
		columns[ALWAYS] = slice_columns[ALWAYS + 1];
	if (status == CTX_OK)
		status = ctx_strips_init(&strips, spec.selection, &timeline.slices, err);
	if (status != CTX_OK) {
		ctx_held_locks_deinit(&timeline.held);
		ctx_mark_spans_deinit(&timeline.marks);
		return status;
	}
	strips.marks = &timeline.marks;
	strips.held = &timeline.held;
	strips.regions = timeline.regions;
	if (timeline.phases != NULL && timeline.phases->n_groups != 0)
		strips.phases = timeline.phases->groups;
	ctx_out_spec_parts(&spec, &timeline.parts);
	ctx_out_begin(&out, &spec);
	if (ctx_out_is_text(&out))
		put_strips(&out, &strips);
	for (size_t i = 0; i < timeline.slices.n && !ctx_out_is_text(&out); i++)
		put_slice(&out, &timeline.slices.slices[i]);
	put_levels(&out, timeline.levels, timeline.n_levels);
	ctx_held_locks_deinit(&timeline.held);
	ctx_mark_spans_deinit(&timeline.marks);
	return ctx_out_end(&out, err);
}

const struct ctx_report_kind ctx_report_timeline = {
	.name = "timeline",
	.no_function = true,
	.order = ": it is in order of time",
	.columns = slice_columns,
	.n_columns = CTX_COUNT_OF(slice_columns),
	.print = print,
};
