#include "report/strip.h"

#include "base/mem.h"
#include "report/loss_notes.h"
#include "report/names.h"
#include "report/order.h"
#include "report/part_cells.h"
#include "report/state_cells.h"
#include "report/strip_regions.h"

#include <inttypes.h>
#include <string.h>

#define LABEL_WIDTH 16
#define MAX_COLUMNS 400

/*
 * Assigns letters to the functions counted by `items` (by function), the largest count first. counts[letter]: their
 * counts; NULL not wanted. Returns the sum of those without one.
 */
static uint64_t give_letters(struct ctx_strips *strips, struct ctx_order_item *items, uint32_t n_functions,
			     uint64_t *counts)
{
	uint64_t others = 0;

	ctx_order_sort(items, n_functions);
	for (uint32_t i = 0; i < n_functions && items[i].number != 0; i++) {
		if (strips->n_letters == CTX_STRIP_LETTERS) {
			strips->has_others = true;
			others += items[i].number;
			continue;
		}
		strips->functions[strips->n_letters] = items[i].index;
		if (counts != NULL)
			counts[strips->n_letters] = items[i].number;
		strips->n_letters++;
	}
	return others;
}

static void count_slices(const struct ctx_report_slice *slices, size_t n, struct ctx_order_item *items,
			 uint32_t n_functions)
{
	for (uint32_t i = 0; i < n_functions; i++)
		items[i] = (struct ctx_order_item){.index = i};
	for (size_t i = 0; i < n; i++) {
		if (slices[i].function < n_functions)
			items[slices[i].function].number++;
	}
}

/* The function of the call that a slice is in; CTX_NONE. */
static uint32_t called_function(const struct ctx_strips *strips, uint32_t call)
{
	return call != CTX_TRIE_ROOT ? strips->selection->profile->cct.key[call] : CTX_NONE;
}

/* Those that have none yet; counts the slices of all. */
static void give_letters_to_calls(struct ctx_strips *strips, struct ctx_order_item *items,
				  uint32_t n_functions)
{
	unsigned before = strips->n_letters;

	strips->first_call = before;
	strips->has_calls = ctx_profile_elapsed_metric(strips->selection->profile) != CTX_NONE;
	if (!strips->has_calls)
		return;
	for (uint32_t i = 0; i < n_functions; i++)
		items[i] = (struct ctx_order_item){.index = i};
	for (size_t i = 0; i < strips->slices.n; i++) {
		uint32_t function = called_function(strips, strips->slices.slices[i].call);

		if (function < n_functions)
			items[function].number++;
	}
	for (unsigned letter = 0; letter < before; letter++) {
		strips->calls[letter] = items[strips->functions[letter]].number;
		items[strips->functions[letter]].number = 0;
	}
	(void)give_letters(strips, items, n_functions, strips->calls);
}

enum ctx_status ctx_strips_init(struct ctx_strips *strips, const struct ctx_report_selection *selection,
				const struct ctx_report_slices *slices, struct ctx_err *err)
{
	uint32_t n_functions = selection->profile->n_functions;
	struct ctx_order_item *items CTX_AUTO_FREE = ctx_calloc(n_functions, sizeof(*items));
	size_t n_first = slices->per_thread < slices->n ? slices->per_thread : slices->n;

	*strips = (struct ctx_strips){.selection = selection, .slices = *slices};
	if (items == NULL)
		return ctx_err_nomem(err);
	if (slices->n == 0)
		return CTX_OK;
	count_slices(slices->slices, n_first, items, n_functions);
	strips->other_slices = give_letters(strips, items, n_functions, strips->dominated);
	count_slices(slices->slices + n_first, slices->n - n_first, items, n_functions);
	for (unsigned letter = 0; letter < strips->n_letters; letter++)
		items[strips->functions[letter]].number = 0;
	(void)give_letters(strips, items, n_functions, NULL);
	give_letters_to_calls(strips, items, n_functions);
	return CTX_OK;
}

char ctx_strip_letter(const struct ctx_strips *strips, uint32_t function)
{
	if (function == CTX_NONE)
		return ' ';
	for (unsigned i = 0; i < strips->n_letters; i++) {
		if (strips->functions[i] == function)
			return (char)('A' + i);
	}
	return '.';
}

static bool is_selected(const struct ctx_report_selection *selection, struct ctx_interval slice)
{
	for (size_t i = 0; i < selection->n_intervals; i++) {
		if (ctx_interval_overlaps(selection->intervals[i], slice))
			return true;
	}
	return selection->n_intervals == 0;
}

/*
 * A column of the strip: the sum of its slices; those in gaps between the selected intervals are
 * left out, so that they do not reduce the height.
 */
struct cell {
	uint64_t weight, length;
	uint64_t state_ns[CTX_STATE_N];
	uint32_t function;
	uint32_t call; /* of its first slice that is in one; CTX_TRIE_ROOT: none is */
	uint64_t held_ns;
};

static struct cell column_cell(const struct ctx_strips *strips, const struct ctx_report_slice *slices,
			       size_t column, size_t n_columns)
{
	size_t n = strips->slices.per_thread;
	size_t begin = column * n / n_columns, end = (column + 1) * n / n_columns;
	uint64_t heaviest = 0;
	struct cell cell = {.function = CTX_NONE};

	if (end == begin)
		end = begin + 1;
	for (size_t i = begin; i < end && i < n; i++) {
		if (!is_selected(strips->selection, slices[i].interval))
			continue;
		if (cell.call == CTX_TRIE_ROOT)
			cell.call = slices[i].call;
		if (strips->held != NULL && strips->held->ns != NULL)
			cell.held_ns += strips->held->ns[&slices[i] - strips->slices.slices];
		cell.weight += slices[i].weight;
		cell.length += slices[i].interval.end_ns - slices[i].interval.begin_ns;
		for (unsigned state = 0; state < CTX_STATE_N; state++)
			cell.state_ns[state] += slices[i].state_ns[state];
		if (slices[i].function != CTX_NONE &&
		    (cell.function == CTX_NONE || slices[i].weight > heaviest)) {
			cell.function = slices[i].function;
			heaviest = slices[i].weight;
		}
	}
	return cell;
}

struct layout {
	size_t columns;
	bool is_time; /* weights are ns of time, so that a busy slice is full */
	double full;  /* weight per ns that fills the height, or the largest weight of a column */
};

static double height_of(const struct cell *cell, const struct layout *layout)
{
	if (layout->is_time)
		return cell->length != 0 ? (double)cell->weight / (double)cell->length : 0;
	return (double)cell->weight;
}

static struct layout make_layout(const struct ctx_strips *strips, const struct ctx_out *out)
{
	size_t width = out->options->width != 0 ? out->options->width : 120;
	size_t room = width > LABEL_WIDTH + 21 ? width - LABEL_WIDTH - 1 : 20;
	size_t n = strips->slices.per_thread;
	const struct ctx_metric_info metric = ctx_head_metric(&out->head);
	struct layout layout = {.is_time = ctx_metric_is_time(&metric)};

	if (room > MAX_COLUMNS)
		room = MAX_COLUMNS;
	/* A whole number of columns per slice, as long as all fit. */
	layout.columns = n <= room ? n * (room / n) : room;
	layout.full = layout.is_time ? 1 : 0;
	for (size_t first = 0; first + n <= strips->slices.n; first += n) {
		for (size_t i = 0; i < layout.columns; i++) {
			struct cell cell =
				column_cell(strips, strips->slices.slices + first, i, layout.columns);
			double height = height_of(&cell, &layout);

			/* The sum over several threads can exceed the elapsed time. */
			if (height > layout.full &&
			    (!layout.is_time || strips->slices.slices[first].thread == CTX_NONE))
				layout.full = height;
		}
	}
	return layout;
}

const char *ctx_strip_block(double share, bool ascii)
{
	static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const plain[] = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};
	int level = share <= 0 ? 0 : (int)(share * 8 + 0.5);

	if (share > 0 && level < 1)
		level = 1;
	if (level > 8)
		level = 8;
	return ascii ? plain[level] : blocks[level];
}

static void put_label(struct ctx_out *out, struct ctx_buf *line, uint32_t thread)
{
	const struct ctx_profile *profile = out->profile;
	struct ctx_buf label = {0};
	size_t width;

	if (thread < profile->n_threads) {
		ctx_buf_printf(&label, "%" PRId64 " ", profile->threads[thread].tid);
		ctx_name_put_text(&label, profile->threads[thread].name, out->options->ascii);
	} else {
		ctx_buf_put_text(&label, "all threads");
	}
	width = ctx_text_width((const char *)label.bytes, label.n);
	ctx_text_cut(line, (const char *)label.bytes, label.n, LABEL_WIDTH, out->options->ascii);
	for (; width <= LABEL_WIDTH; width++)
		ctx_buf_put_u8(line, ' ');
	if (width > LABEL_WIDTH + 1)
		ctx_buf_put_u8(line, ' ');
	ctx_buf_deinit(&label);
}

/* Trailing spaces are removed. */
static void print_line(struct ctx_out *out, struct ctx_buf *line)
{
	while (line->n > 0 && line->bytes[line->n - 1] == ' ')
		line->n--;
	ctx_buf_put_u8(line, '\0');
	if (line->failed)
		ctx_out_fail(out, CTX_E_NOMEM);
	else
		ctx_out_line(out, (const char *)line->bytes);
	ctx_buf_clear(line);
}

/* Terminal colours: green is running, red is waiting for others. */
static const char *const state_colors[CTX_STATE_N] = {
	[CTX_STATE_USER] = "32",       [CTX_STATE_SYSTEM] = "36",     [CTX_STATE_TRAP] = "36",
	[CTX_STATE_TEXT_FAULT] = "35", [CTX_STATE_DATA_FAULT] = "35", [CTX_STATE_KERNEL_FAULT] = "35",
	[CTX_STATE_USER_LOCK] = "31",  [CTX_STATE_SLEEP] = "90",      [CTX_STATE_STOPPED] = "90",
	[CTX_STATE_WAIT_CPU] = "33",   [CTX_STATE_UNKNOWN] = "90",
};

/*
 * The dominant state of each column. Escapes have no width, so the line is not cut by its bytes; it
 * always fits.
 */
static void print_states(const struct ctx_strips *strips, struct ctx_out *out, const struct layout *layout,
			 const struct ctx_report_slice *slices, struct ctx_buf *line)
{
	unsigned before = CTX_STATE_N;

	ctx_buf_printf(line, "%*s ", LABEL_WIDTH, "state");
	for (size_t i = 0; i <= layout->columns; i++) {
		unsigned state = CTX_STATE_N;

		if (i < layout->columns) {
			struct cell cell = column_cell(strips, slices, i, layout->columns);

			state = ctx_state_most(cell.state_ns);
		}
		if (out->options->color && state != before && before != CTX_STATE_N)
			ctx_buf_put_text(line, "\033[0m");
		if (out->options->color && state != before && state != CTX_STATE_N)
			ctx_buf_printf(line, "\033[%sm", state_colors[state]);
		if (i < layout->columns)
			ctx_buf_put_u8(line, state != CTX_STATE_N
						     ? (uint8_t)ctx_state_letter((enum ctx_thread_state)state)
						     : ' ');
		before = state;
	}
	if (!out->options->color) {
		print_line(out, line);
		return;
	}
	ctx_buf_put_u8(line, '\n');
	if (line->failed)
		ctx_out_fail(out, CTX_E_NOMEM);
	else
		fwrite(line->bytes, 1, line->n, out->options->out);
	ctx_buf_clear(line);
}

/* Whether locks were held; no line of a thread that held none. */
static void print_held(const struct ctx_strips *strips, struct ctx_out *out, const struct layout *layout,
		       const struct ctx_report_slice *slices, struct ctx_buf *line)
{
	size_t first = (size_t)(slices - strips->slices.slices);

	if (strips->held == NULL || !ctx_held_locks_any(strips->held, first, strips->slices.per_thread))
		return;
	ctx_buf_printf(line, "%*s ", LABEL_WIDTH, "lock held");
	for (size_t i = 0; i < layout->columns; i++) {
		struct cell cell = column_cell(strips, slices, i, layout->columns);

		ctx_buf_put_u8(line, (uint8_t)ctx_held_locks_mark(cell.held_ns, cell.length));
	}
	print_line(out, line);
}

/* What each column is in. */
static void print_calls(const struct ctx_strips *strips, struct ctx_out *out, const struct layout *layout,
			const struct ctx_report_slice *slices, struct ctx_buf *line)
{
	ctx_buf_printf(line, "%*s ", LABEL_WIDTH, "in call");
	for (size_t i = 0; i < layout->columns; i++) {
		struct cell cell = column_cell(strips, slices, i, layout->columns);

		ctx_buf_put_u8(line, (uint8_t)ctx_strip_letter(strips, called_function(strips, cell.call)));
	}
	print_line(out, line);
}

static void print_thread(const struct ctx_strips *strips, struct ctx_out *out, const struct layout *layout,
			 const struct ctx_report_slice *slices, struct ctx_buf *line)
{
	put_label(out, line, slices->thread);
	for (size_t i = 0; i < layout->columns; i++) {
		struct cell cell = column_cell(strips, slices, i, layout->columns);

		ctx_buf_put_text(
			line, ctx_strip_block(layout->full > 0 ? height_of(&cell, layout) / layout->full : 0,
					      out->options->ascii));
	}
	print_line(out, line);
	ctx_buf_printf(line, "%*s ", LABEL_WIDTH,
		       out->profile->has_states || strips->has_calls ? "function" : "");
	for (size_t i = 0; i < layout->columns; i++) {
		struct cell cell = column_cell(strips, slices, i, layout->columns);

		ctx_buf_put_u8(line, (uint8_t)ctx_strip_letter(strips, cell.function));
	}
	print_line(out, line);
	if (strips->has_calls && slices->thread != CTX_NONE)
		print_calls(strips, out, layout, slices, line);
	if (slices->thread != CTX_NONE)
		print_held(strips, out, layout, slices, line);
	if (out->profile->has_states && slices->thread != CTX_NONE)
		print_states(strips, out, layout, slices, line);
}

/* A mark in each column in which records were lost; no line without any. */
static void print_losses(const struct ctx_strips *strips, struct ctx_out *out, const struct layout *layout,
			 struct ctx_buf *line)
{
	const struct ctx_report_slice *slices = strips->slices.slices;
	size_t n = strips->slices.per_thread;
	bool any = false;

	ctx_buf_printf(line, "%*s ", LABEL_WIDTH, "lost records");
	for (size_t i = 0; i < layout->columns; i++) {
		size_t first = i * n / layout->columns, end = (i + 1) * n / layout->columns;
		struct ctx_interval time = {slices[first].interval.begin_ns,
					    slices[end > first ? end - 1 : first].interval.end_ns};
		bool lost =
			is_selected(strips->selection, time) && ctx_loss_notes_count(out->profile, time) != 0;

		ctx_buf_put_u8(line, lost ? '!' : ' ');
		any = any || lost;
	}
	if (any)
		print_line(out, line);
	ctx_buf_clear(line);
}

static void print_marks(const struct ctx_strips *strips, struct ctx_out *out, const struct layout *layout)
{
	const struct ctx_report_slice *slices = strips->slices.slices;
	size_t n = strips->slices.per_thread;
	uint64_t edges[MAX_COLUMNS + 1];
	const struct ctx_strip_columns columns = {edges, layout->columns, LABEL_WIDTH};

	if (strips->marks == NULL && strips->phases == NULL && strips->regions.n == 0)
		return;
	for (size_t i = 0; i < layout->columns; i++)
		edges[i] = slices[i * n / layout->columns].interval.begin_ns;
	edges[layout->columns] = slices[n - 1].interval.end_ns;
	if (strips->phases != NULL)
		ctx_strip_phases_print(strips->phases, &columns, out);
	if (strips->marks != NULL)
		ctx_strip_marks_print(strips->marks,
				      &(struct ctx_strip_names){out->profile->files, out->profile->n_files,
								"name of marks: -r marks",
								"names of marks: -r marks"},
				      &columns, out);
	if (strips->regions.n != 0)
		ctx_strip_regions_print(strips->regions.items, strips->regions.n, &columns, out);
}

static void print_axis(const struct ctx_strips *strips, struct ctx_out *out, const struct layout *layout,
		       struct ctx_buf *line)
{
	char begin[CTX_FIGURE_MAX], end[CTX_FIGURE_MAX];
	size_t used;

	ctx_figure_fixed(begin, strips->slices.slices[0].interval.begin_ns, 1000 * 1000, 3);
	ctx_figure_fixed(end, strips->slices.slices[strips->slices.per_thread - 1].interval.end_ns,
			 1000 * 1000, 3);
	ctx_buf_printf(line, "%*s", LABEL_WIDTH + 1, "");
	for (size_t i = 0; i < layout->columns; i++)
		ctx_buf_put_text(line, out->options->ascii ? (i == 0 || i + 1 == layout->columns ? "+" : "-")
				       : i == 0		   ? "└"
				       : i + 1 == layout->columns ? "┘"
								  : "─");
	print_line(out, line);
	used = strlen(begin) + 3 + strlen(end) + 3;
	ctx_buf_printf(line, "%*s%s ms%*s%s ms", LABEL_WIDTH + 1, "", begin,
		       (int)(layout->columns > used ? layout->columns - used : 1), "", end);
	print_line(out, line);
}

/* "<Unknown>" of two objects are two functions. Other names need no object. */
static void put_function(struct ctx_out *out, struct ctx_buf *line, uint32_t function)
{
	const struct ctx_profile *profile = out->profile;
	struct ctx_cell name = ctx_function_cell(profile, function);

	ctx_name_put_text(line, name.name, out->options->ascii);
	if (name.object != NULL && profile->functions[function].kind == CTX_FUNCTION_UNKNOWN)
		ctx_name_put_object(line, name.object, out->options->ascii);
}

static void print_legend(const struct ctx_strips *strips, struct ctx_out *out, struct ctx_buf *line)
{
	size_t n = strips->slices.per_thread;
	bool together = strips->slices.slices[0].thread == CTX_NONE;

	for (unsigned i = 0; i < strips->n_letters; i++) {
		ctx_buf_printf(line, "%c  ", 'A' + (int)i);
		if (strips->dominated[i] != 0)
			ctx_buf_printf(line, "heaviest in %" PRIu64 " of %zu slices", strips->dominated[i],
				       n);
		else if (i < strips->first_call)
			ctx_buf_printf(line, "heaviest only in slices of %s",
				       together ? "single threads" : "other threads");
		if (strips->calls[i] != 0)
			ctx_buf_printf(line, "%sthe deepest call in %" PRIu64 " slice%s of threads",
				       i < strips->first_call ? ", " : "", strips->calls[i],
				       strips->calls[i] == 1 ? "" : "s");
		ctx_buf_put_text(line, ": ");
		put_function(out, line, strips->functions[i]);
		print_line(out, line);
	}
	if (strips->has_others) {
		ctx_buf_put_text(line, ".  other functions");
		if (strips->other_slices != 0)
			ctx_buf_printf(line, " in %" PRIu64 " of %zu slices", strips->other_slices, n);
		print_line(out, line);
	}
}

/* "States: U user, L user lock", of those that dominate some column. */
static void print_state_legend(const struct ctx_strips *strips, struct ctx_out *out,
			       const struct layout *layout, struct ctx_buf *line)
{
	size_t n = strips->slices.per_thread;
	uint64_t columns[CTX_STATE_N + 1] = {0};
	bool first = true;

	for (size_t strip = 0; strip + n <= strips->slices.n; strip += n) {
		for (size_t i = 0; i < layout->columns && strips->slices.slices[strip].thread != CTX_NONE;
		     i++) {
			struct cell cell =
				column_cell(strips, strips->slices.slices + strip, i, layout->columns);

			columns[ctx_state_most(cell.state_ns)]++;
		}
	}
	for (unsigned state = 0; state < CTX_STATE_N; state++) {
		if (columns[state] == 0)
			continue;
		ctx_buf_printf(line, "%s%c %s", first ? "States: " : ", ",
			       ctx_state_letter((enum ctx_thread_state)state),
			       ctx_state_text((enum ctx_thread_state)state));
		first = false;
	}
	if (!first) {
		print_line(out, line);
		ctx_out_line(out, "");
	}
}

void ctx_strips_print(const struct ctx_strips *strips, struct ctx_out *out)
{
	struct layout layout;
	struct ctx_buf line = {0};

	if (strips->slices.per_thread == 0 || strips->slices.n < strips->slices.per_thread)
		return;
	layout = make_layout(strips, out);
	for (size_t i = 0; i + strips->slices.per_thread <= strips->slices.n; i += strips->slices.per_thread)
		print_thread(strips, out, &layout, strips->slices.slices + i, &line);
	print_losses(strips, out, &layout, &line);
	print_marks(strips, out, &layout);
	print_axis(strips, out, &layout, &line);
	ctx_out_line(out, "");
	if (out->profile->has_states)
		print_state_legend(strips, out, &layout, &line);
	if (strips->held != NULL && ctx_held_locks_any(strips->held, 0, strips->held->n))
		ctx_out_line(out, "Locks held: = for more than half of a column, - for some of it\n");
	print_legend(strips, out, &line);
	ctx_buf_deinit(&line);
}
