#include "browse/draw_parts.h"

#include "base/mem.h"
#include "browse/layout.h"
#include "report/names.h"

#include <stdio.h>
#include <string.h>

const char *ctx_draw_take(struct ctx_buf *text, struct ctx_canvas *canvas)
{
	ctx_buf_put_u8(text, '\0');
	if (text->failed) {
		canvas->text.failed = true;
		return "";
	}
	return (const char *)text->bytes;
}

void ctx_draw_put_name(struct ctx_buf *text, const char *name, size_t width, bool ascii)
{
	struct ctx_buf safe CTX_AUTO_BUF = {0};

	ctx_name_put_text(&safe, name, ascii);
	ctx_text_cut(text, (const char *)safe.bytes, safe.n, width, ascii);
}

void ctx_draw_at_end(struct ctx_canvas *canvas, unsigned row, enum ctx_look look, const char *text)
{
	size_t width = strlen(text);

	if (width < canvas->columns)
		ctx_canvas_put(canvas, row, canvas->columns - (unsigned)width, look, text);
}

void ctx_draw_prompt(struct ctx_canvas *canvas, unsigned row, struct ctx_buf *text,
		     const struct ctx_prompt *prompt, bool ascii)
{
	struct ctx_buf typed CTX_AUTO_BUF = {0};
	size_t width;

	ctx_buf_put(&typed, prompt->text, prompt->at);
	ctx_buf_put_u8(&typed, '\0');
	if (!typed.failed)
		ctx_name_put_text(text, (const char *)typed.bytes, ascii);
	width = text->failed ? 0 : ctx_text_width((const char *)text->bytes, text->n);
	ctx_name_put_text(text, prompt->text + prompt->at, ascii);
	ctx_canvas_line(canvas, row, CTX_LOOK_PLAIN, ctx_draw_take(text, canvas));
	canvas->has_cursor = true;
	canvas->cursor_row = row;
	canvas->cursor_column = width < canvas->columns ? (unsigned)width : canvas->columns - 1;
}

void ctx_draw_too_small(struct ctx_canvas *canvas)
{
	char text[80];

	snprintf(text, sizeof(text), "%ux%u is too small: %ux%u at least (q quits)", canvas->columns,
		 canvas->rows, CTX_LAYOUT_LEAST_COLUMNS, CTX_LAYOUT_LEAST_ROWS);
	ctx_canvas_put(canvas, 0, 0, CTX_LOOK_PLAIN, text);
}
