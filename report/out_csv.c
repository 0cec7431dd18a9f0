#include "report/names.h"
#include "report/out_backend.h"

#include <inttypes.h>
#include <string.h>

static void print_line(struct ctx_out *out)
{
	ctx_buf_put_text(&out->line, "\r\n");
	if (out->line.failed)
		ctx_out_fail(out, CTX_E_NOMEM);
	else
		fwrite(out->line.bytes, 1, out->line.n, out->options->out);
}

/* A key that is an expression may need quotes. */
static void put_key(struct ctx_out *out, const char *key)
{
	if (strpbrk(key, ",\"\r\n") != NULL)
		ctx_name_put_csv(&out->line, key);
	else
		ctx_buf_put_text(&out->line, key);
}

static void begin(struct ctx_out *out)
{
	bool first = true;

	ctx_buf_clear(&out->line);
	for (size_t i = 0; i < out->n_columns; i++) {
		if (out->columns[i].key == NULL)
			continue;
		ctx_buf_put_text(&out->line, first ? "" : ",");
		put_key(out, out->columns[i].key);
		first = false;
	}
	print_line(out);
}

static void row_begin(struct ctx_out *out, const struct ctx_cell *cells)
{
	bool first = true;

	ctx_buf_clear(&out->line);
	for (size_t i = 0; i < out->n_columns; i++) {
		const struct ctx_cell *cell = &cells[i];

		if (out->columns[i].key == NULL)
			continue;
		if (!first)
			ctx_buf_put_u8(&out->line, ',');
		first = false;
		if (cell->kind == CTX_CELL_NUMBER)
			ctx_buf_printf(&out->line, "%" PRIu64, cell->number);
		else if (cell->kind == CTX_CELL_SIGNED)
			ctx_buf_printf(&out->line, "%" PRId64, (int64_t)cell->number);
		else if (cell->kind == CTX_CELL_FIGURE)
			ctx_buf_put_text(&out->line, cell->name);
		else if (cell->kind == CTX_CELL_NAME)
			ctx_name_put_csv(&out->line, cell->name);
		else if (cell->kind == CTX_CELL_BOOL)
			ctx_buf_put_text(&out->line, cell->number != 0 ? "true" : "false");
	}
	print_line(out);
}

const struct ctx_out_backend ctx_out_csv = {.begin = begin, .row_begin = row_begin};
