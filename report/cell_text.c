#include "report/cell_text.h"

#include "report/fold.h"
#include "report/names.h"

#include <string.h>

#define MIN_OBJECT_WIDTH 6 /* of one that is cut to leave room for a name */

static void put_frames(const struct ctx_cell *cell, size_t width, bool ascii, struct ctx_buf *buf)
{
	const struct ctx_cell_frames *frames = cell->frames;
	const struct ctx_fold_line_style style = {
		.width = width, .ascii = ascii, .upward = frames->upward, .object = frames->object};

	ctx_buf_put_text(buf, cell->drawing != NULL ? cell->drawing : "");
	ctx_fold_line(buf, frames->frames, frames->n, &style);
}

/* Columns of a function's last component, without arguments. */
static size_t shortest_width(const char *name, size_t n, bool ascii)
{
	struct ctx_buf usual CTX_AUTO_BUF = {0}, last CTX_AUTO_BUF = {0};

	ctx_text_abbreviate(&usual, name, n);
	ctx_text_collapse(&last, (const char *)usual.bytes, usual.n, CTX_TEXT_NO_SCOPES, ascii);
	return usual.failed || last.failed ? 0 : ctx_text_width((const char *)last.bytes, last.n);
}

/*
 * Drawing, name and object within `width` columns: the name is shortened first, the object if it
 * takes more than half, or if the name's last component would be cut.
 */
static void put_name(const struct ctx_cell *cell, size_t width, bool ascii, struct ctx_buf *buf)
{
	struct ctx_buf name = {0}, object = {0};
	size_t drawing_width =
		cell->drawing != NULL ? ctx_text_width(cell->drawing, strlen(cell->drawing)) : 0;
	size_t index_width = cell->index != NULL ? ctx_text_width(cell->index, strlen(cell->index)) : 0;
	size_t left = width > drawing_width + index_width + 1 ? width - drawing_width - index_width : 1;
	size_t shortest;

	if (cell->frames != NULL) {
		put_frames(cell, left, ascii, buf);
		return;
	}
	ctx_name_put_text(&name, cell->name, ascii);
	if (cell->object != NULL)
		ctx_name_put_object(&object, cell->object, ascii);
	if (cell->drawing != NULL)
		ctx_buf_put_text(buf, cell->drawing);
	if (!name.failed && !object.failed) {
		size_t object_width = ctx_text_width((const char *)object.bytes, object.n);
		size_t object_room = object_width < left / 2 ? object_width : left / 2;
		size_t name_width = ctx_text_width((const char *)name.bytes, name.n);

		if (name_width + object_width <= left || left - name_width > object_room)
			object_room = name_width < left ? left - name_width : object_room;
		if (object_room > object_width)
			object_room = object_width;
		shortest = shortest_width((const char *)name.bytes, name.n, ascii);
		if (shortest < left && left - object_room < shortest)
			object_room = left - shortest >= MIN_OBJECT_WIDTH ? left - shortest : 0;
		if (object_room < 4)
			object_room = object_room < object_width ? 0 : object_room;
		ctx_text_shorten(buf, (const char *)name.bytes, name.n, left - object_room, ascii);
		if (object_room != 0)
			ctx_text_cut(buf, (const char *)object.bytes, object.n, object_room, ascii);
	} else {
		buf->failed = true;
	}
	if (cell->index != NULL)
		ctx_buf_put_text(buf, cell->index);
	ctx_buf_deinit(&name);
	ctx_buf_deinit(&object);
}

/* A place loses its directories, a line of source its end. */
static void put_place(const struct ctx_cell *cell, bool is_path, size_t width, bool ascii,
		      struct ctx_buf *buf)
{
	struct ctx_buf safe = {0};

	ctx_name_put_text(&safe, cell->name, ascii);
	if (safe.failed)
		buf->failed = true;
	else if (is_path)
		ctx_text_cut_path(buf, (const char *)safe.bytes, safe.n, width, ascii);
	else
		ctx_text_cut_end(buf, (const char *)safe.bytes, safe.n, width, ascii);
	ctx_buf_deinit(&safe);
}

void ctx_cell_put_text(struct ctx_buf *buf, const struct ctx_cell *cell, enum ctx_style style, size_t width,
		       bool ascii)
{
	if (style == CTX_STYLE_PLACE || style == CTX_STYLE_SOURCE)
		put_place(cell, style == CTX_STYLE_PLACE, width, ascii, buf);
	else
		put_name(cell, width, ascii, buf);
}
