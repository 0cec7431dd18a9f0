#include "report/diff_forms.h"

#include "report/code_rows.h"
#include "report/kinds.h"
#include "report/part_cells.h"
#include "report/wakers_rows.h"

#include <inttypes.h>

/* Ids of functions are those of the item's own profile: nothing of the page is linked to them. */
static struct ctx_cell function_cell(const struct ctx_diff_item *item, uint32_t function)
{
	struct ctx_cell cell = {.kind = CTX_CELL_NULL};

	if (function == CTX_NONE)
		return cell;
	cell = ctx_function_cell(item->profile, function);
	cell.link = 0;
	return cell;
}

static const struct ctx_diff_item *item_at(const struct ctx_diff_items *items, uint32_t item)
{
	return &items->items[item];
}

/* ---- functions and objects ---- */

static const struct ctx_column function_columns[] = {{"function", "Name", CTX_STYLE_NAME},
						     {"object", NULL, CTX_STYLE_NAME}};
static const struct ctx_column object_columns[] = {{"object", "Name", CTX_STYLE_NAME}};

static void fill_function(struct ctx_out *out, const struct ctx_diff_items *items, uint32_t item,
			  struct ctx_cell *cells)
{
	const struct ctx_diff_item *it = item_at(items, item);

	(void)out;
	cells[0] = function_cell(it, it->function);
	cells[1] = ctx_cell_name(cells[0].object);
}

static void fill_object(struct ctx_out *out, const struct ctx_diff_items *items, uint32_t item,
			struct ctx_cell *cells)
{
	const struct ctx_diff_item *it = item_at(items, item);
	struct ctx_cell function = function_cell(it, it->function);

	(void)out;
	cells[0] = function.object != NULL ? ctx_cell_name(function.object) : function;
}

/* ---- lines ---- */

static const struct ctx_column line_columns[] = {
	{NULL, "Line", CTX_STYLE_PLACE},   {"function", "Function", CTX_STYLE_NAME},
	{"object", NULL, CTX_STYLE_NAME},  {"file", NULL, CTX_STYLE_NAME},
	{"line_a", NULL, CTX_STYLE_COUNT}, {"line_b", NULL, CTX_STYLE_COUNT},
};

static struct ctx_cell line_cell(uint32_t line)
{
	return line != 0 ? ctx_cell_number(line) : ctx_cell_name(NULL);
}

/* "solve.c:12", "solve.c:12>15" where it moved. */
static void fill_line(struct ctx_out *out, const struct ctx_diff_items *items, uint32_t item,
		      struct ctx_cell *cells)
{
	const struct ctx_diff_item *it = item_at(items, item);
	uint32_t a = it->line[CTX_COMPARE_A], b = it->line[CTX_COMPARE_B];
	const char *place = CTX_NO_LINE;

	if (it->file != NULL && a != 0 && b != 0 && a != b)
		place = ctx_out_format(out, "%s:%" PRIu32 ">%" PRIu32, it->file, a, b);
	else if (it->file != NULL)
		place = ctx_out_format(out, "%s:%" PRIu32, it->file, b != 0 ? b : a);
	cells[0] = ctx_cell_name(place);
	cells[1] = function_cell(it, it->function);
	cells[2] = ctx_cell_name(cells[1].object);
	cells[3] = ctx_cell_name(it->file);
	cells[4] = line_cell(a);
	cells[5] = line_cell(b);
}

/* ---- stacks ---- */

static const struct ctx_column call_columns[] = {
	{NULL, "Call", CTX_STYLE_NAME},		 {"caller", NULL, CTX_STYLE_NAME},
	{"caller_object", NULL, CTX_STYLE_NAME}, {"function", NULL, CTX_STYLE_NAME},
	{"object", NULL, CTX_STYLE_NAME},
};
static const struct ctx_column stack_columns[] = {{NULL, "Call stack", CTX_STYLE_NAME},
						  {"frames", NULL, CTX_STYLE_NAME}};
static const struct ctx_column tree_columns[] = {{"level", NULL, CTX_STYLE_COUNT},
						 {"function", NULL, CTX_STYLE_NAME},
						 {"object", NULL, CTX_STYLE_NAME},
						 {NULL, "Call tree", CTX_STYLE_NAME}};
static const struct ctx_column frame_columns[] = {{"function", NULL, CTX_STYLE_NAME},
						  {"object", NULL, CTX_STYLE_NAME}};

/* "main > parse", for back ends that have names alone; "" if memory runs out. */
static const char *frames_text(struct ctx_out *out, const struct ctx_fold_frame *frames, size_t n)
{
	struct ctx_buf text CTX_AUTO_BUF = {0};
	const char *kept = NULL;

	for (size_t i = 0; i < n; i++) {
		ctx_buf_put_text(&text, i != 0 ? " \u203a " : "");
		ctx_buf_put_text(&text, frames[i].name);
	}
	ctx_buf_put_u8(&text, '\0');
	if (!text.failed)
		kept = ctx_arena_strdup(&out->arena, (const char *)text.bytes);
	if (kept == NULL)
		ctx_out_fail(out, CTX_E_NOMEM);
	return kept != NULL ? kept : "";
}

/* An array of `n` frames as a cell; the array lives as long as the section. */
static struct ctx_cell frames_cell(struct ctx_out *out, struct ctx_fold_frame *frames, size_t n)
{
	struct ctx_cell_frames *all = ctx_arena_alloc(&out->arena, sizeof(*all));
	struct ctx_cell cell = ctx_cell_name("");

	if (all == NULL || frames == NULL) {
		ctx_out_fail(out, CTX_E_NOMEM);
		return cell;
	}
	if (out->options->format != CTX_REPORT_TEXT) {
		cell.name = frames_text(out, frames, n);
		return cell;
	}
	*all = (struct ctx_cell_frames){.frames = frames, .n = n};
	cell.frames = n != 0 ? all : NULL;
	return cell;
}

static void fill_call(struct ctx_out *out, const struct ctx_diff_items *items, uint32_t item,
		      struct ctx_cell *cells)
{
	const struct ctx_diff_item *it = item_at(items, item);
	struct ctx_fold_frame *frames = ctx_arena_alloc(&out->arena, 2 * sizeof(*frames));
	size_t n = 0;

	if (frames != NULL && it->caller != CTX_NONE)
		frames[n++] = ctx_fold_frame(it->profile, it->caller, 1);
	if (frames != NULL)
		frames[n++] = ctx_fold_frame(it->profile, it->function, 1);
	cells[0] = frames_cell(out, frames, n);
	cells[1] = function_cell(it, it->caller);
	cells[2] = ctx_cell_name(cells[1].object);
	cells[3] = function_cell(it, it->function);
	cells[4] = ctx_cell_name(cells[3].object);
}

static size_t depth_below(const struct ctx_diff_items *items, uint32_t item, uint32_t from)
{
	size_t n = 0;

	for (; item != from && item != CTX_NONE; item = items->items[item].parent)
		n++;
	return n;
}

struct ctx_cell ctx_diff_frames_cell(struct ctx_out *out, const struct ctx_diff_items *items, uint32_t item,
				     uint32_t from)
{
	size_t n = depth_below(items, item, from);
	struct ctx_fold_frame *frames = ctx_arena_alloc(&out->arena, (n + 1) * sizeof(*frames));

	for (size_t i = n; frames != NULL && i-- > 0; item = items->items[item].parent)
		frames[i] = ctx_fold_frame(items->items[item].profile, items->items[item].function, 1);
	return frames_cell(out, frames, n);
}

/* The items from the outermost function to `item`, *ret_n of them; NULL: no memory. */
static const uint32_t *path_of(struct ctx_out *out, const struct ctx_diff_items *items, uint32_t item,
			       uint32_t from, size_t *ret_n)
{
	size_t n = depth_below(items, item, from);
	uint32_t *path = ctx_arena_alloc(&out->arena, (n + 1) * sizeof(*path));

	*ret_n = path != NULL ? n : 0;
	for (size_t i = *ret_n; i-- > 0; item = items->items[item].parent)
		path[i] = item;
	if (path == NULL)
		ctx_out_fail(out, CTX_E_NOMEM);
	return path;
}

void ctx_diff_put_path(struct ctx_out *out, const char *key, const struct ctx_diff_items *items,
		       uint32_t item, uint32_t from)
{
	size_t n;
	const uint32_t *path = path_of(out, items, item, from, &n);

	ctx_out_list_begin(out, key);
	for (size_t i = 0; i < n; i++) {
		const struct ctx_diff_item *it = &items->items[path[i]];

		ctx_out_list_name(out, function_cell(it, it->function).name);
	}
	ctx_out_list_end(out);
}

void ctx_diff_put_lists(struct ctx_out *out, const struct ctx_diff_items *items, uint32_t item,
			enum ctx_diff_subject subject)
{
	const uint32_t *path;
	size_t n;

	if (subject != CTX_DIFF_STACKS)
		return;
	path = path_of(out, items, item, CTX_NONE, &n);
	ctx_out_list_begin(out, "frames");
	for (size_t i = 0; i < n; i++) {
		const struct ctx_diff_item *it = &items->items[path[i]];
		struct ctx_cell name = function_cell(it, it->function);

		ctx_out_list_row(out, frame_columns, CTX_COUNT_OF(frame_columns),
				 (struct ctx_cell[]){name, ctx_cell_name(name.object)});
	}
	ctx_out_list_end(out);
}

/* "main;parse;read" */
static const char *joined(struct ctx_out *out, const struct ctx_diff_items *items, uint32_t item)
{
	struct ctx_buf text CTX_AUTO_BUF = {0};
	const char *kept;
	size_t n;
	const uint32_t *path = path_of(out, items, item, CTX_NONE, &n);

	for (size_t i = 0; i < n; i++) {
		const struct ctx_diff_item *it = &items->items[path[i]];

		ctx_buf_put_text(&text, i != 0 ? ";" : "");
		ctx_buf_put_text(&text, function_cell(it, it->function).name);
	}
	ctx_buf_put_u8(&text, '\0');
	kept = text.failed ? NULL : ctx_arena_strdup(&out->arena, (const char *)text.bytes);
	if (kept == NULL)
		ctx_out_fail(out, CTX_E_NOMEM);
	return kept != NULL ? kept : "";
}

static void fill_stack(struct ctx_out *out, const struct ctx_diff_items *items, uint32_t item,
		       struct ctx_cell *cells)
{
	cells[0] = cells[1] = (struct ctx_cell){.kind = CTX_CELL_ABSENT};
	if (ctx_out_is_text(out))
		cells[0] = ctx_diff_frames_cell(out, items, item, CTX_NONE);
	else if (!ctx_out_has_lists(out))
		cells[1] = ctx_cell_name(joined(out, items, item));
}

/* The drawing and the level are the tree's. */
static void fill_tree(struct ctx_out *out, const struct ctx_diff_items *items, uint32_t item,
		      struct ctx_cell *cells)
{
	const struct ctx_diff_item *it = item_at(items, item);

	(void)out;
	cells[0] = ctx_cell_number(depth_below(items, item, CTX_NONE));
	cells[1] = function_cell(it, it->function);
	cells[2] = ctx_cell_name(cells[1].object);
	cells[3] = cells[1];
}

/* ---- threads, states, waits ---- */

static const struct ctx_column thread_columns[] = {{"name", "Thread", CTX_STYLE_NAME}};
static const struct ctx_column state_columns[] = {{"state", NULL, CTX_STYLE_NAME},
						  {NULL, "State", CTX_STYLE_NAME}};
static const struct ctx_column wait_columns[] = {
	{NULL, "Kind", CTX_STYLE_NAME},	  {"caller", "Caller", CTX_STYLE_NAME},
	{"object", NULL, CTX_STYLE_NAME}, {"kind", NULL, CTX_STYLE_NAME},
	{"state", NULL, CTX_STYLE_NAME},
};

static void fill_thread(struct ctx_out *out, const struct ctx_diff_items *items, uint32_t item,
			struct ctx_cell *cells)
{
	const struct ctx_diff_item *it = item_at(items, item);

	(void)out;
	cells[0] = ctx_cell_name(it->profile->threads[it->thread].name);
}

static void fill_state(struct ctx_out *out, const struct ctx_diff_items *items, uint32_t item,
		       struct ctx_cell *cells)
{
	(void)out;
	cells[0] = ctx_cell_name(ctx_wakers_state(item_at(items, item)->state, true));
	cells[1] = ctx_cell_name(ctx_wakers_state(item_at(items, item)->state, false));
}

static void fill_wait(struct ctx_out *out, const struct ctx_diff_items *items, uint32_t item,
		      struct ctx_cell *cells)
{
	const struct ctx_diff_item *it = item_at(items, item);
	const char *kind = ctx_wait_kind_text(it->kind);

	cells[0] = ctx_cell_name(kind);
	cells[1] = function_cell(it, it->function);
	if (it->function == CTX_NONE && ctx_out_is_text(out))
		cells[1] = ctx_cell_name("<no function of the program>");
	cells[2] = ctx_cell_name(cells[1].object);
	cells[3] = ctx_cell_name(kind);
	cells[4] = ctx_cell_name(ctx_wakers_state(it->state, true));
}

/* ---- all ---- */

static const struct ctx_diff_form forms[CTX_DIFF_SUBJECTS] = {
	[CTX_DIFF_FUNCTIONS] = {&ctx_report_functions, "functions", "function", NULL, function_columns,
				CTX_COUNT_OF(function_columns), 0, fill_function},
	[CTX_DIFF_OBJECTS] = {&ctx_report_objects, "load objects", "object", NULL, object_columns,
			      CTX_COUNT_OF(object_columns), 0, fill_object},
	[CTX_DIFF_LINES] = {&ctx_report_lines, "lines", "line", NULL, line_columns,
			    CTX_COUNT_OF(line_columns), 1, fill_line},
	[CTX_DIFF_CALLERS] = {&ctx_report_callers_callees, "calls", "call",
			      "total time of the called function", call_columns, CTX_COUNT_OF(call_columns),
			      3, fill_call},
	[CTX_DIFF_STACKS] = {&ctx_report_stacks, "call stacks", "stack", "self time", stack_columns,
			     CTX_COUNT_OF(stack_columns), 0, fill_stack},
	[CTX_DIFF_TREE] = {&ctx_report_tree, "call trees", "node", "total time", tree_columns,
			   CTX_COUNT_OF(tree_columns), 1, fill_tree},
	[CTX_DIFF_THREADS] = {&ctx_report_threads, "threads", "thread", "self time", thread_columns,
			      CTX_COUNT_OF(thread_columns), 0, fill_thread},
	[CTX_DIFF_STATES] = {&ctx_report_states, "thread states", "state", "time of threads", state_columns,
			     CTX_COUNT_OF(state_columns), 0, fill_state},
	[CTX_DIFF_WAITS] = {&ctx_report_waits, "waits", "place", "time of threads", wait_columns,
			    CTX_COUNT_OF(wait_columns), 1, fill_wait},
};

const struct ctx_diff_form *ctx_diff_form_of(enum ctx_diff_subject subject)
{
	return &forms[subject];
}

static bool function_matches(const struct ctx_diff_item *item, uint32_t function, const char *filter)
{
	return function != CTX_NONE && ctx_function_matches(item->profile, function, filter);
}

bool ctx_diff_item_matches(const struct ctx_diff_items *items, uint32_t item, const char *filter)
{
	if (filter == NULL)
		return true;
	for (; item != CTX_NONE; item = items->items[item].parent) {
		const struct ctx_diff_item *it = &items->items[item];

		if (function_matches(it, it->function, filter) || function_matches(it, it->caller, filter))
			return true;
	}
	return false;
}
