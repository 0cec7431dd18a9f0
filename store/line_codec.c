/*
 * The lines of a function's code.
 */
#include "base/mem.h"
#include "store/block_codec.h"

static enum ctx_status check_lines(const struct ctx_function_code *code, const struct ctx_line_row *lines,
				   size_t n, enum ctx_status wrong, struct ctx_err *err)
{
	for (size_t i = 0; i < n; i++) {
		if (lines[i].address - code->address >= code->n_bytes ||
		    (i != 0 && lines[i].address <= lines[i - 1].address))
			return ctx_err_set(err, wrong, "line %zu of a function is outside it or out of order",
					   i);
	}
	return CTX_OK;
}

enum ctx_status ctx_lines_encode(struct ctx_block_codec *codec, const struct ctx_function_code *code,
				 struct ctx_err *err)
{
	const struct ctx_line_row *lines = code->lines;
	size_t n = code->n_lines;
	enum ctx_status status = check_lines(code, lines, n, CTX_E_ARG, err);
	uint64_t *values;

	if (status == CTX_OK)
		status = ctx_grow(&codec->values, &codec->values_cap, n, err);
	if (status != CTX_OK)
		return status;
	values = codec->values;
	ctx_buf_clear(&codec->columns);
	ctx_buf_put_varint(&codec->columns, n);
	for (size_t i = 0; i < n; i++)
		values[i] = lines[i].address - (i != 0 ? lines[i - 1].address : code->address);
	ctx_column_put(&codec->columns, values, n);
	for (size_t i = 0; i < n; i++)
		values[i] = lines[i].file + 1u;
	ctx_column_put(&codec->columns, values, n);
	for (size_t i = 0; i < n; i++)
		values[i] =
			ctx_zigzag_encode((int64_t)lines[i].line - (int64_t)(i != 0 ? lines[i - 1].line : 0));
	ctx_column_put(&codec->columns, values, n);
	return ctx_columns_pack(codec, err);
}

struct rows {
	struct ctx_line_row *rows;
	size_t n;
};

/* The three columns into `n` existing rows, of code from `address` on. */
static enum ctx_status get_lines(uint64_t *values, struct ctx_cursor *cursor, uint64_t address,
				 struct rows out, struct ctx_err *err)
{
	struct ctx_line_row *rows = out.rows;
	size_t n = out.n;
	enum ctx_status status = ctx_column_get(cursor, values, n, err);
	int64_t line = 0;

	for (size_t i = 0; i < n && status == CTX_OK; i++)
		rows[i].address = address += values[i];
	if (status == CTX_OK)
		status = ctx_column_get(cursor, values, n, err);
	if (status == CTX_OK)
		status = ctx_column_fits_32_bits(values, n, err);
	for (size_t i = 0; i < n && status == CTX_OK; i++)
		rows[i].file = (uint32_t)values[i] - 1u;
	if (status == CTX_OK)
		status = ctx_column_get(cursor, values, n, err);
	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		if (__builtin_add_overflow(line, ctx_zigzag_decode(values[i]), &line) || line < 0 ||
		    line > UINT32_MAX)
			return ctx_err_set(err, CTX_E_FORMAT, "a line number is out of range");
		rows[i].line = (uint32_t)line;
	}
	return status;
}

enum ctx_status ctx_lines_decode(struct ctx_block_codec *codec, struct ctx_bytes payload,
				 const struct ctx_function_code *code, struct ctx_line_rows *to,
				 struct ctx_err *err)
{
	struct ctx_cursor cursor;
	enum ctx_status status =
		ctx_columns_unpack(codec, payload, (3 * code->n_bytes + 2) * COLUMN_VARINT_MAX, &cursor, err);
	uint64_t n;

	if (status != CTX_OK)
		return status;
	n = ctx_cursor_get_varint(&cursor);
	if (cursor.failed || n > code->n_bytes)
		return ctx_err_set(err, CTX_E_FORMAT, "a function with more lines than bytes");
	status = ctx_grow(&codec->values, &codec->values_cap, (size_t)n, err);
	if (status == CTX_OK)
		status = ctx_grow(&to->rows, &to->cap, to->n + (size_t)n + 1, err);
	if (status == CTX_OK)
		status = get_lines(codec->values, &cursor, code->address,
				   (struct rows){to->rows + to->n, (size_t)n}, err);
	if (status == CTX_OK)
		status = ctx_columns_end(&cursor, err);
	if (status == CTX_OK)
		status = check_lines(code, to->rows + to->n, (size_t)n, CTX_E_FORMAT, err);
	if (status == CTX_OK)
		to->n += (size_t)n;
	return status;
}
