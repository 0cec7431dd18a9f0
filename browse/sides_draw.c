#include "browse/sides_draw.h"

#include "base/mem.h"
#include "browse/draw_parts.h"
#include "browse/layout.h"
#include "report/names.h"
#include "report/wrapping.h"

#include <stdlib.h>
#include <string.h>

#define NAME_ROOM 20u /* of a side, in the title */
#define VERDICT "Verdict"

struct drawing {
	struct ctx_sides *sides;
	struct ctx_canvas *canvas;
	struct ctx_buf text; /* of a line */
};

static const char keys_line[] = "q quit ? help Tab table Enter Left Right tree / n N find w remarks";

static const char *const help[] = {
	"Rows: the weight on side A and on side B, the change from A to B, that in per",
	"cent of A, half of its 95 % interval (+-), and the verdict; 'no evidence':",
	"chance explains it.",
	"",
	"Up Down PgUp PgDn  move, as do j k Space g G Home End, the mouse and its wheel",
	"1 ... 8, Tab       tables; Shift-Tab goes back",
	"Left Right *       the tree: collapse, expand, expand all below (h l too)",
	"Enter              the tree: expands or collapses the row",
	"/ n N              finds a row; the next one, the one before",
	"w                  remarks: recordings, what could be found, what explains it",
	"? q                this help; quits",
	"",
	"Options of the command line select, on both sides or on one: -i 300:700,",
	"--thread A:worker, --filter; --per second divides, -r chooses the tables.",
};

static const char *take(struct drawing *drawing)
{
	return ctx_draw_take(&drawing->text, drawing->canvas);
}

static void put_name(struct drawing *drawing, const char *name, size_t width)
{
	ctx_draw_put_name(&drawing->text, name, width, drawing->sides->ascii);
}

/* "before.1.er and 2 more": names of a side are divided by commas. */
static void put_side(struct drawing *drawing, const char *names)
{
	const char *comma = strchr(names, ',');
	char *first CTX_AUTO_FREE =
		ctx_memdup0(names, comma != NULL ? (size_t)(comma - names) : strlen(names));
	unsigned more = 0;

	for (const char *at = names; (at = strchr(at, ',')) != NULL; at++)
		more++;
	put_name(drawing, first != NULL ? ctx_name_of_path(first) : "?", NAME_ROOM);
	if (more != 0)
		ctx_buf_printf(&drawing->text, " and %u more", more);
}

/* The first remark is the table's title. */
static void draw_title(struct drawing *drawing)
{
	const struct ctx_sides *sides = drawing->sides;
	const struct ctx_sides_table *table = ctx_sides_shown(sides);

	ctx_buf_clear(&drawing->text);
	for (int i = 0; i < 2; i++) {
		ctx_buf_printf(&drawing->text, " %c: ", "AB"[i]);
		put_side(drawing, sides->host->names[i]);
		ctx_buf_put_u8(&drawing->text, ' ');
	}
	if (table->first != 0)
		ctx_buf_printf(&drawing->text, " %s", table->rows.rows[0].text);
	ctx_canvas_line(drawing->canvas, CTX_SIDES_TITLE_ROW, CTX_LOOK_BAR, take(drawing));
}

static void draw_tabs(struct drawing *drawing)
{
	const struct ctx_sides *sides = drawing->sides;
	unsigned column = 0;

	for (size_t i = 0; i < sides->host->n_tables; i++) {
		bool shown = i == sides->shown && !sides->shows_help && !sides->shows_remarks;

		ctx_buf_clear(&drawing->text);
		ctx_buf_printf(&drawing->text, "%zu %s", i + 1, sides->host->tables[i]);
		ctx_canvas_put(drawing->canvas, CTX_SIDES_TABS_ROW, column + 1,
			       shown ? CTX_LOOK_SELECTED : CTX_LOOK_PLAIN, take(drawing));
		column += CTX_TAB_WIDTH(sides->host->tables[i]);
	}
}

/* ---- a table ---- */

static void draw_heading(struct drawing *drawing)
{
	const struct ctx_sides_table *table = ctx_sides_shown(drawing->sides);
	size_t used, n = table->first;

	ctx_buf_clear(&drawing->text);
	ctx_rows_put_heading(&table->rows, &drawing->text);
	used = drawing->text.n;
	ctx_canvas_line(drawing->canvas, CTX_SIDES_HEADING_ROW, CTX_LOOK_HEADING, take(drawing));
	ctx_buf_clear(&drawing->text);
	ctx_buf_printf(&drawing->text, n == 1 ? " %zu/%zu, %zu remark: w" : " %zu/%zu, %zu remarks: w",
		       table->list.selected + 1, table->list.n, n);
	if (used + drawing->text.n <= drawing->sides->n_columns)
		ctx_draw_at_end(drawing->canvas, CTX_SIDES_HEADING_ROW, CTX_LOOK_NOTE, take(drawing));
}

static enum ctx_look look_of(const struct ctx_rows *rows, const struct ctx_cell *cells)
{
	for (size_t i = 0; cells != NULL && i < rows->n_columns; i++) {
		if (strcmp(rows->columns[i].title, VERDICT) != 0 || cells[i].name == NULL)
			continue;
		if (strcmp(cells[i].name, "slower") == 0 || strcmp(cells[i].name, "new") == 0)
			return CTX_LOOK_MORE;
		if (strcmp(cells[i].name, "faster") == 0 || strcmp(cells[i].name, "gone") == 0)
			return CTX_LOOK_LESS;
	}
	return CTX_LOOK_PLAIN;
}

static void draw_rows(struct drawing *drawing)
{
	const struct ctx_sides *sides = drawing->sides;
	const struct ctx_sides_table *table = ctx_sides_shown(sides);

	for (size_t i = 0; i < table->list.height && table->list.top + i < table->list.n; i++) {
		size_t seen = table->list.top + i, row = table->first + table->seen[seen];

		ctx_buf_clear(&drawing->text);
		ctx_rows_put(&table->rows, row, sides->n_columns, &drawing->text);
		ctx_canvas_line(drawing->canvas, CTX_SIDES_TABLE_ROW + (unsigned)i,
				seen == table->list.selected
					? CTX_LOOK_SELECTED
					: look_of(&table->rows, table->rows.rows[row].cells),
				take(drawing));
	}
}

static void draw_table(struct drawing *drawing)
{
	const struct ctx_sides_table *table = ctx_sides_shown(drawing->sides);

	if (table->message[0] == '\0') {
		draw_heading(drawing);
		draw_rows(drawing);
		return;
	}
	ctx_buf_clear(&drawing->text);
	put_name(drawing, table->message, drawing->sides->n_columns - 2);
	ctx_canvas_put(drawing->canvas, CTX_SIDES_TABLE_ROW + 1, 1, CTX_LOOK_NOTE, take(drawing));
}

/* ---- texts in place of the table ---- */

struct lines {
	struct drawing *drawing;
	size_t n;
};

/* Each line is wrapped; those that are seen are drawn. */
static void put_line(void *context, const char *line, size_t n, unsigned indent)
{
	struct lines *lines = context;
	struct drawing *drawing = lines->drawing;
	const struct ctx_list *list = &drawing->sides->text;
	size_t at = lines->n++;

	if (at < list->top || at >= list->top + list->height)
		return;
	ctx_buf_clear(&drawing->text);
	ctx_buf_printf(&drawing->text, " %*s%.*s", (int)indent, "", (int)n, line);
	ctx_canvas_line(drawing->canvas, CTX_SIDES_TABLE_ROW + (unsigned)(at - list->top),
			at == list->selected ? CTX_LOOK_SELECTED : CTX_LOOK_PLAIN, take(drawing));
}

static size_t put_text(struct drawing *drawing)
{
	const struct ctx_sides *sides = drawing->sides;
	const struct ctx_sides_table *table = ctx_sides_shown(sides);
	struct lines lines = {drawing, 0};
	size_t width = sides->n_columns - 2;

	for (size_t i = 0; i < CTX_COUNT_OF(help) && sides->shows_help; i++)
		put_line(&lines, help[i], strlen(help[i]), 0);
	for (size_t i = 0; i < table->first && sides->shows_remarks; i++)
		ctx_text_wrap(table->rows.rows[i].text, width, 2, put_line, &lines);
	return lines.n;
}

/* Twice: how many lines there are decides which are seen. */
static void draw_text(struct drawing *drawing)
{
	struct ctx_list *list = &drawing->sides->text;
	size_t n;

	list->top = list->height = 0;
	n = put_text(drawing);
	ctx_list_fit(list, n, ctx_sides_height(drawing->sides), list->selected);
	(void)put_text(drawing);
	ctx_canvas_line(drawing->canvas, CTX_SIDES_HEADING_ROW, CTX_LOOK_HEADING,
			drawing->sides->shows_help ? "Keys (Esc leaves)" : "Remarks (Esc leaves)");
}

static void draw_keys(struct drawing *drawing)
{
	const struct ctx_sides *sides = drawing->sides;
	struct ctx_canvas *canvas = drawing->canvas;
	unsigned row = sides->n_rows - 1;

	ctx_buf_clear(&drawing->text);
	if (sides->asks) {
		ctx_buf_put_u8(&drawing->text, '/');
		ctx_draw_prompt(canvas, row, &drawing->text, &sides->prompt, sides->ascii);
	} else if (sides->message[0] != '\0') {
		put_name(drawing, sides->message, sides->n_columns);
		ctx_canvas_line(canvas, row, CTX_LOOK_NOTE, take(drawing));
	} else {
		ctx_canvas_line(canvas, row, CTX_LOOK_DIM, keys_line);
	}
}

enum ctx_status ctx_sides_draw(struct ctx_sides *sides, struct ctx_canvas *canvas, struct ctx_err *err)
{
	struct drawing drawing = {.sides = sides, .canvas = canvas};
	enum ctx_status status = CTX_OK;

	ctx_canvas_begin(canvas, sides->n_rows, sides->n_columns);
	if (ctx_sides_is_too_small(sides)) {
		ctx_draw_too_small(canvas);
	} else {
		status = ctx_sides_load(sides, err);
		draw_title(&drawing);
		draw_tabs(&drawing);
		if (sides->shows_help || sides->shows_remarks)
			draw_text(&drawing);
		else
			draw_table(&drawing);
		draw_keys(&drawing);
	}
	ctx_buf_deinit(&drawing.text);
	return status == CTX_OK ? ctx_canvas_check(canvas, err) : status;
}
