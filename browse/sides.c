#include "browse/sides.h"

#include "base/mem.h"
#include "browse/layout.h"
#include "browse/list_keys.h"
#include "report/names.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEARCH_WIDTH 4096u /* columns of a row that are searched */
#define INDENT 2u	   /* columns of a level */
#define LEVELS_MOST 40u	   /* that are indented */

enum ctx_status ctx_sides_init(struct ctx_sides *sides, const struct ctx_sides_host *host, bool ascii,
			       struct ctx_err *err)
{
	*sides = (struct ctx_sides){.host = host, .ascii = ascii};
	sides->tables = ctx_calloc(host->n_tables, sizeof(*sides->tables));
	return sides->tables != NULL ? CTX_OK : ctx_err_nomem(err);
}

void ctx_sides_deinit(struct ctx_sides *sides)
{
	for (size_t i = 0; sides->tables != NULL && i < sides->host->n_tables; i++) {
		ctx_rows_deinit(&sides->tables[i].rows);
		free(sides->tables[i].outline);
		free(sides->tables[i].seen);
	}
	free(sides->tables);
	sides->tables = NULL;
}

void ctx_sides_resize(struct ctx_sides *sides, unsigned rows, unsigned columns)
{
	sides->n_rows = rows;
	sides->n_columns = columns;
}

bool ctx_sides_is_too_small(const struct ctx_sides *sides)
{
	return sides->n_rows < CTX_LAYOUT_LEAST_ROWS || sides->n_columns < CTX_LAYOUT_LEAST_COLUMNS;
}

size_t ctx_sides_height(const struct ctx_sides *sides)
{
	return sides->n_rows - CTX_SIDES_TABLE_ROW - 1;
}

struct ctx_sides_table *ctx_sides_shown(const struct ctx_sides *sides)
{
	return &sides->tables[sides->shown];
}

static void say(struct ctx_sides *sides, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(sides->message, sizeof(sides->message), fmt, args);
	va_end(args);
}

/* ---- tables ---- */

/* The cell of the names: the last one; its level is that of a tree. NULL: the row has no cells. */
static struct ctx_cell *name_of(const struct ctx_sides_table *table, size_t row)
{
	struct ctx_cell *cells = table->rows.rows[table->first + row].cells;

	return cells != NULL && table->rows.n_columns != 0 ? &cells[table->rows.n_columns - 1] : NULL;
}

static void see(struct ctx_sides_table *table, size_t height)
{
	size_t selected = table->list.selected < table->list.n ? table->seen[table->list.selected] : 0,
	       at = 0;
	size_t n = ctx_outline_see(table->outline, table->rows.n - table->first, table->seen);

	while (at + 1 < n && table->seen[at + 1] <= selected)
		at++;
	ctx_list_fit(&table->list, n, height, at);
}

/* The sign behind the blanks of a level: the end of a text. */
static const char *drawing_of(const struct ctx_outline_row *row)
{
#define BLANKS "                                                                                "
	static const char leaf[] = BLANKS "  ", open[] = BLANKS "- ", closed[] = BLANKS "+ ";
	const char *text = !row->has_children ? leaf : row->is_open ? open : closed;
	unsigned level = row->level < LEVELS_MOST ? row->level : LEVELS_MOST;

	_Static_assert(sizeof(BLANKS) - 1 == INDENT * LEVELS_MOST, "the blanks of all levels");
	return text + (size_t)INDENT * (LEVELS_MOST - level);
}

/* Rows of a tree are drawn with a sign, which says whether those below are seen. */
static void draw_signs(struct ctx_sides_table *table)
{
	for (size_t i = 0; i < table->rows.n - table->first; i++) {
		struct ctx_cell *name = name_of(table, i);

		if (name != NULL && name->drawing != NULL)
			name->drawing = drawing_of(&table->outline[i]);
	}
}

/* Remarks about the table as a whole are the lines in front of its rows. */
static enum ctx_status outline(struct ctx_sides_table *table, size_t height, struct ctx_err *err)
{
	size_t n;

	for (table->first = 0; table->first < table->rows.n; table->first++) {
		if (table->rows.rows[table->first].kind == CTX_ROWS_CELLS)
			break;
	}
	n = table->rows.n - table->first;
	table->outline = ctx_calloc(n + 1, sizeof(*table->outline));
	table->seen = ctx_calloc(n + 1, sizeof(*table->seen));
	if (table->outline == NULL || table->seen == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < n; i++) {
		const struct ctx_cell *name = name_of(table, i);

		table->outline[i] =
			(struct ctx_outline_row){.level = name != NULL ? name->level : 0, .is_open = true};
	}
	see(table, height);
	draw_signs(table);
	/* Behind <Total>. */
	ctx_list_fit(&table->list, table->list.n, height, table->list.n > 1 ? 1 : 0);
	return CTX_OK;
}

enum ctx_status ctx_sides_load(struct ctx_sides *sides, struct ctx_err *err)
{
	struct ctx_sides_table *table = ctx_sides_shown(sides);
	const struct ctx_report_options options = {.format = CTX_REPORT_ROWS,
						   .out = stdout,
						   .rows = &table->rows,
						   .ascii = sides->ascii,
						   .whole = true};
	struct ctx_err why = {0};
	enum ctx_status status;

	if (table->is_loaded) {
		ctx_list_fit(&table->list, table->list.n, ctx_sides_height(sides), table->list.selected);
		return CTX_OK;
	}
	table->is_loaded = true;
	status = sides->host->print(sides->host->context, sides->shown, &options, &why);
	if (status == CTX_OK)
		status = outline(table, ctx_sides_height(sides), &why);
	if (status == CTX_E_NOMEM)
		return ctx_err_nomem(err);
	if (status != CTX_OK) {
		ctx_rows_deinit(&table->rows);
		snprintf(table->message, sizeof(table->message), "%s", why.msg);
	}
	return CTX_OK;
}

/* ---- keys ---- */

struct searched {
	const struct ctx_sides_table *table;
	const char *word;
	struct ctx_buf text;
};

static bool has_word(void *context, size_t row)
{
	struct searched *searched = context;
	const struct ctx_sides_table *table = searched->table;

	ctx_buf_clear(&searched->text);
	ctx_rows_put(&table->rows, table->first + table->seen[row], SEARCH_WIDTH, &searched->text);
	ctx_buf_put_u8(&searched->text, '\0');
	return !searched->text.failed &&
	       ctx_text_has_word((const char *)searched->text.bytes, searched->word);
}

static void find(struct ctx_sides *sides, bool backward, bool here)
{
	struct ctx_sides_table *table = ctx_sides_shown(sides);
	struct searched searched = {.table = table, .word = sides->search};
	const struct ctx_list_search search = {
		.match = has_word, .context = &searched, .backward = backward, .here = here};

	if (sides->search[0] == '\0')
		return;
	if (!ctx_list_find(&table->list, &search))
		say(sides, "no row has '%s'", sides->search);
	ctx_buf_deinit(&searched.text);
}

static void type(struct ctx_sides *sides, uint32_t key)
{
	if (key == CTX_KEY_ENTER || key == '\r') {
		sides->asks = false;
		snprintf(sides->search, sizeof(sides->search), "%s", sides->prompt.text);
		find(sides, false, true);
	} else if (key == CTX_KEY_ESCAPE) {
		sides->asks = false;
	} else {
		ctx_prompt_type(&sides->prompt, key);
	}
}

/* How a row of a tree is unfolded. */
static void unfold(struct ctx_sides *sides, enum ctx_action action)
{
	struct ctx_sides_table *table = ctx_sides_shown(sides);
	size_t n = table->rows.n - table->first, row;
	struct ctx_outline_row *at;

	if (table->list.selected >= table->list.n)
		return;
	row = table->seen[table->list.selected];
	at = &table->outline[row];
	if (action == CTX_ACTION_COLLAPSE && (!at->is_open || !at->has_children)) {
		size_t parent = ctx_outline_parent(table->outline, row);

		for (size_t i = 0; i < table->list.n && parent != row; i++) {
			if (table->seen[i] == parent)
				ctx_list_fit(&table->list, table->list.n, table->list.height, i);
		}
		return;
	}
	if (action == CTX_ACTION_EXPAND_ALL) {
		for (size_t i = row + 1; i < n && table->outline[i].level > at->level; i++)
			table->outline[i].is_open = true;
	}
	at->is_open = action == CTX_ACTION_OPEN ? !at->is_open : action != CTX_ACTION_COLLAPSE;
	see(table, table->list.height);
	draw_signs(table);
}

static void show(struct ctx_sides *sides, size_t table)
{
	if (table < sides->host->n_tables)
		sides->shown = table;
}

static void act_on_table(struct ctx_sides *sides, enum ctx_action action, uint32_t key)
{
	size_t n = sides->host->n_tables;
	bool moved;

	if (ctx_list_act(&ctx_sides_shown(sides)->list, action, &moved))
		return;
	switch (action) {
	case CTX_ACTION_PANE:
		show(sides, key - '1');
		break;
	case CTX_ACTION_NEXT_PANE:
		show(sides, (sides->shown + 1) % n);
		break;
	case CTX_ACTION_PREVIOUS_PANE:
		show(sides, (sides->shown + n - 1) % n);
		break;
	case CTX_ACTION_OPEN:
	case CTX_ACTION_EXPAND:
	case CTX_ACTION_COLLAPSE:
	case CTX_ACTION_EXPAND_ALL:
		unfold(sides, action);
		break;
	case CTX_ACTION_SEARCH:
		sides->asks = true;
		ctx_prompt_begin(&sides->prompt, "");
		break;
	case CTX_ACTION_SEARCH_NEXT:
	case CTX_ACTION_SEARCH_PREVIOUS:
		find(sides, action == CTX_ACTION_SEARCH_PREVIOUS, false);
		break;
	case CTX_ACTION_NONE:
	case CTX_ACTION_CANCEL:
		break;
	default:
		say(sides, "not in a comparison: ? has the keys; options of the command line select");
	}
}

static void act(struct ctx_sides *sides, enum ctx_action action, uint32_t key)
{
	bool shows_text = sides->shows_help || sides->shows_remarks, moved;

	if (action == CTX_ACTION_QUIT) {
		sides->quits = true;
	} else if (action == CTX_ACTION_REDRAW) {
		sides->redraws = true;
	} else if (action == CTX_ACTION_HELP || action == CTX_ACTION_NOTES) {
		bool help = action == CTX_ACTION_HELP;

		sides->shows_remarks = !help && !sides->shows_remarks;
		sides->shows_help = help && !sides->shows_help;
		sides->text = (struct ctx_list){0};
	} else if (!shows_text) {
		act_on_table(sides, action, key);
	} else if (!ctx_list_act(&sides->text, action, &moved)) {
		sides->shows_help = sides->shows_remarks = false;
		if (action == CTX_ACTION_PANE)
			show(sides, key - '1');
	}
}

/* ---- the mouse ---- */

static void press_tab(struct ctx_sides *sides, unsigned column)
{
	unsigned at = 0;

	for (size_t i = 0; i < sides->host->n_tables; i++) {
		at += CTX_TAB_WIDTH(sides->host->tables[i]);
		if (column < at) {
			sides->shows_help = sides->shows_remarks = false;
			show(sides, i);
			return;
		}
	}
}

static void point(struct ctx_sides *sides, uint32_t key, unsigned row, unsigned column)
{
	bool shows_text = sides->shows_help || sides->shows_remarks;
	struct ctx_list *list = shows_text ? &sides->text : &ctx_sides_shown(sides)->list;
	size_t at = list->top + row - CTX_SIDES_TABLE_ROW;

	if (key != CTX_KEY_PRESS)
		(void)ctx_list_scroll(list, key == CTX_KEY_WHEEL_UP ? -3 : 3);
	else if (row == CTX_SIDES_TABS_ROW)
		press_tab(sides, column);
	else if (row >= CTX_SIDES_TABLE_ROW && row + 1 < sides->n_rows && at < list->n)
		(void)ctx_list_move(list, (long)at - (long)list->selected);
}

enum ctx_status ctx_sides_press(struct ctx_sides *sides, uint32_t key, unsigned row, unsigned column,
				struct ctx_err *err)
{
	enum ctx_action action = ctx_key_action(key);
	enum ctx_status status;

	if (ctx_sides_is_too_small(sides)) {
		sides->quits = action == CTX_ACTION_QUIT;
		return CTX_OK;
	}
	/* Keys that came together are taken before anything is drawn. */
	status = ctx_sides_load(sides, err);
	if (status != CTX_OK)
		return status;
	sides->message[0] = '\0';
	if (key == CTX_KEY_PRESS || key == CTX_KEY_WHEEL_UP || key == CTX_KEY_WHEEL_DOWN)
		point(sides, key, row, column);
	else if (key == CTX_KEY_RELEASE)
		return CTX_OK;
	else if (sides->asks)
		type(sides, key);
	else
		act(sides, action, key);
	return CTX_OK;
}
