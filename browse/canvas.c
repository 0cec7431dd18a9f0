#include "browse/canvas.h"

#include "base/utf8.h"
#include "report/names.h"

#include <string.h>

void ctx_canvas_deinit(struct ctx_canvas *canvas)
{
	ctx_buf_deinit(&canvas->text);
	free(canvas->pieces);
	*canvas = (struct ctx_canvas){0};
}

void ctx_canvas_begin(struct ctx_canvas *canvas, unsigned rows, unsigned columns)
{
	canvas->rows = rows;
	canvas->columns = columns;
	canvas->n = 0;
	canvas->has_cursor = false;
	ctx_buf_clear(&canvas->text);
}

/* The bytes of the text that take at most `width` columns; `*ret_width` are theirs. */
static size_t cut(const char *text, size_t width, size_t *ret_width)
{
	size_t n = strlen(text), at = 0, used = 0;

	while (at < n) {
		uint32_t code;
		size_t length = ctx_utf8_decode(text + at, n - at, &code);
		size_t columns = code != UINT32_MAX ? ctx_char_width(code) : 1;

		if (used + columns > width)
			break;
		used += columns;
		at += length;
	}
	*ret_width = used;
	return at;
}

static size_t put(struct ctx_canvas *canvas, const struct ctx_canvas_piece *place, const char *text)
{
	struct ctx_canvas_piece piece = *place;
	size_t width = 0;

	if (piece.row >= canvas->rows || piece.column >= canvas->columns)
		return 0;
	piece.at = canvas->text.n;
	piece.n = cut(text, canvas->columns - piece.column, &width);
	if (ctx_grow(&canvas->pieces, &canvas->cap, canvas->n + 1, NULL) != CTX_OK) {
		canvas->text.failed = true;
		return width;
	}
	ctx_buf_put(&canvas->text, text, piece.n);
	canvas->pieces[canvas->n++] = piece;
	return width;
}

void ctx_canvas_put(struct ctx_canvas *canvas, unsigned row, unsigned column, enum ctx_look look,
		    const char *text)
{
	put(canvas, &(struct ctx_canvas_piece){.row = row, .column = column, .look = look}, text);
}

void ctx_canvas_line(struct ctx_canvas *canvas, unsigned row, enum ctx_look look, const char *text)
{
	size_t used = put(canvas, &(struct ctx_canvas_piece){.row = row, .look = look}, text);

	if (row >= canvas->rows || canvas->n == 0)
		return;
	for (; used < canvas->columns; used++) {
		ctx_buf_put_u8(&canvas->text, ' ');
		canvas->pieces[canvas->n - 1].n++;
	}
}

enum ctx_status ctx_canvas_check(const struct ctx_canvas *canvas, struct ctx_err *err)
{
	return ctx_buf_check(&canvas->text, err);
}
