/*
 * The lines of a function's code.
 */
#include "store/columns.h"

#include "base/mem.h"

static enum ctx_status check_lines(uint64_t address, size_t n_bytes, const struct ctx_line_row *lines,
				   size_t n, enum ctx_status wrong, struct ctx_err *err)
{
	for (size_t i = 0; i < n; i++) {
		if (lines[i].address - address >= n_bytes ||
		    (i != 0 && lines[i].address <= lines[i - 1].address))
			return ctx_err_set(err, wrong,
					   "line %zu of a function lies outside it or behind another", i);
	}
	return CTX_OK;
}

enum ctx_status ctx_lines_encode(struct ctx_block_codec *codec, uint64_t address, size_t n_bytes,
				 const struct ctx_line_row *lines, size_t n, struct ctx_err *err)
{
	enum ctx_status status = check_lines(address, n_bytes, lines, n, CTX_E_ARG, err);
	uint64_t *values;

	if (status == CTX_OK)
		status = ctx_grow(&codec->values, &codec->values_cap, n, err);
	if (status != CTX_OK)
		return status;
	values = codec->values;
	ctx_buf_clear(&codec->columns);
	ctx_buf_put_varint(&codec->columns, n);
	for (size_t i = 0; i < n; i++)
		values[i] = lines[i].address - (i != 0 ? lines[i - 1].address : address);
	column_put(&codec->columns, values, n);
	for (size_t i = 0; i < n; i++)
		values[i] = lines[i].file + 1u;
	column_put(&codec->columns, values, n);
	for (size_t i = 0; i < n; i++)
		values[i] =
			ctx_zigzag_encode((int64_t)lines[i].line - (int64_t)(i != 0 ? lines[i - 1].line : 0));
	column_put(&codec->columns, values, n);
	return columns_pack(codec, err);
}

/* The three columns into `n` rows that are there already. */
static enum ctx_status get_lines(struct ctx_block_codec *codec, struct ctx_cursor *cursor, uint64_t address,
				 struct ctx_line_row *rows, size_t n, struct ctx_err *err)
{
	uint64_t *values = codec->values;
	enum ctx_status status = column_get(cursor, values, n, err);
	int64_t line = 0;

	for (size_t i = 0; i < n && status == CTX_OK; i++)
		rows[i].address = address += values[i];
	if (status == CTX_OK)
		status = column_get(cursor, values, n, err);
	if (status == CTX_OK)
		status = column_fits_32_bits(values, n, err);
	for (size_t i = 0; i < n && status == CTX_OK; i++)
		rows[i].file = (uint32_t)values[i] - 1u;
	if (status == CTX_OK)
		status = column_get(cursor, values, n, err);
	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		if (__builtin_add_overflow(line, ctx_zigzag_decode(values[i]), &line) || line < 0 ||
		    line > UINT32_MAX)
			return ctx_err_set(err, CTX_E_FORMAT, "a line number is out of range");
		rows[i].line = (uint32_t)line;
	}
	return status;
}

enum ctx_status ctx_lines_decode(struct ctx_block_codec *codec, const void *payload, size_t size_bytes,
				 uint64_t address, size_t n_bytes, struct ctx_line_rows *to,
				 struct ctx_err *err)
{
	struct ctx_cursor cursor;
	enum ctx_status status = columns_unpack(codec, payload, size_bytes,
						(3 * n_bytes + 2) * COLUMN_VARINT_MAX, &cursor, err);
	uint64_t n;

	if (status != CTX_OK)
		return status;
	n = ctx_cursor_get_varint(&cursor);
	if (cursor.failed || n > n_bytes)
		return ctx_err_set(err, CTX_E_FORMAT, "a function with more lines than bytes");
	status = ctx_grow(&codec->values, &codec->values_cap, (size_t)n, err);
	if (status == CTX_OK)
		status = ctx_grow(&to->rows, &to->cap, to->n + (size_t)n + 1, err);
	if (status == CTX_OK)
		status = get_lines(codec, &cursor, address, to->rows + to->n, (size_t)n, err);
	if (status == CTX_OK)
		status = columns_end(&cursor, err);
	if (status == CTX_OK)
		status = check_lines(address, n_bytes, to->rows + to->n, (size_t)n, CTX_E_FORMAT, err);
	if (status == CTX_OK)
		to->n += (size_t)n;
	return status;
}
