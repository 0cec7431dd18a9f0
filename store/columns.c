#include "store/columns.h"

#include <stdlib.h>
#include <string.h>

enum form { FORM_PLAIN = 0, FORM_ZSTD = 1 };
enum kind { KIND_CONST = 0, KIND_PLAIN = 1, KIND_RUNS = 2 };

#define ZSTD_LEVEL (-1) /* columns are already packed; level 1 takes twice the time and saves a sixth */
#define BYTES_LEVEL 3	/* texts and code: each is written once, and few are read */
#define SMALL_BYTES 64	/* fewer bytes are not worth a zstd frame */

void ctx_block_codec_deinit(struct ctx_block_codec *codec)
{
	ctx_compressor_deinit(&codec->compressor);
	ctx_buf_deinit(&codec->columns);
	ctx_buf_deinit(&codec->payload);
	free(codec->values);
	*codec = (struct ctx_block_codec){0};
}

/* ---- a column ---- */

static void put_runs(struct ctx_buf *out, const uint64_t *values, size_t n)
{
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && values[end] == values[i]; end++)
			;
		ctx_buf_put_varint(out, end - i);
		ctx_buf_put_varint(out, values[i]);
	}
}

/* Room for a whole varint; most values have one or two bytes, in no order that a processor could guess. */
static inline size_t put_value(uint8_t *at, uint64_t value)
{
	uint8_t more = value >= 0x80;

	if (value >= 0x4000)
		return ctx_varint_encode(at, value);
	at[0] = (uint8_t)(value | (uint8_t)(more << 7));
	at[1] = (uint8_t)(value >> 7);
	return 1u + more;
}

static void put_plain(struct ctx_buf *out, const uint64_t *values, size_t n)
{
	uint8_t *start = ctx_buf_reserve(out, n * COLUMN_VARINT_MAX);
	uint8_t *at = start;

	if (start == NULL)
		return;
	for (size_t i = 0; i < n; i++)
		at += put_value(at, values[i]);
	out->n += (size_t)(at - start);
}

void ctx_column_put_changing(struct ctx_buf *out, const uint64_t *values, size_t n, size_t changes)
{
	if (changes == 0) {
		ctx_buf_put_u8(out, KIND_CONST);
		ctx_buf_put_varint(out, n != 0 ? values[0] : 0);
	} else if ((changes + 1) * 4 <= n) {
		ctx_buf_put_u8(out, KIND_RUNS);
		put_runs(out, values, n);
	} else {
		ctx_buf_put_u8(out, KIND_PLAIN);
		put_plain(out, values, n);
	}
}

void ctx_column_put(struct ctx_buf *out, const uint64_t *values, size_t n)
{
	size_t changes = 0;

	/* Many columns are the same everywhere. */
	if (n > 1 && memcmp(values, values + 1, (n - 1) * sizeof(*values)) == 0) {
		ctx_column_put_changing(out, values, n, 0);
		return;
	}
	for (size_t i = 1; i < n; i++)
		changes += values[i] != values[i - 1];
	ctx_column_put_changing(out, values, n, changes);
}

static enum ctx_status get_runs(struct ctx_cursor *cursor, uint64_t *values, size_t n, struct ctx_err *err)
{
	for (size_t i = 0; i < n;) {
		uint64_t length = ctx_cursor_get_varint(cursor);
		uint64_t value = ctx_cursor_get_varint(cursor);

		if (cursor->failed || length == 0 || length > n - i)
			return ctx_err_set(err, CTX_E_FORMAT, "a run of a column does not fit");
		for (size_t end = i + (size_t)length; i < end; i++)
			values[i] = value;
	}
	return CTX_OK;
}

enum ctx_status ctx_column_get(struct ctx_cursor *cursor, uint64_t *values, size_t n, struct ctx_err *err)
{
	uint8_t kind = ctx_cursor_get_u8(cursor);

	if (kind == KIND_CONST) {
		uint64_t value = ctx_cursor_get_varint(cursor);

		for (size_t i = 0; i < n; i++)
			values[i] = value;
	} else if (kind == KIND_PLAIN) {
		if (ctx_cursor_left(cursor) < n)
			return ctx_err_set(err, CTX_E_FORMAT, "a column is truncated");
		for (size_t i = 0; i < n; i++)
			values[i] = ctx_cursor_get_varint(cursor);
	} else if (kind == KIND_RUNS) {
		enum ctx_status status = get_runs(cursor, values, n, err);

		if (status != CTX_OK)
			return status;
	} else {
		return ctx_err_set(err, CTX_E_FORMAT, "a column of unknown kind %u", kind);
	}
	if (cursor->failed)
		return ctx_err_set(err, CTX_E_FORMAT, "a column is truncated");
	return CTX_OK;
}

enum ctx_status ctx_column_fits_32_bits(const uint64_t *values, size_t n, struct ctx_err *err)
{
	uint64_t all = 0;

	for (size_t i = 0; i < n; i++)
		all |= values[i];
	if (all > UINT32_MAX)
		return ctx_err_set(err, CTX_E_FORMAT, "a number of a column is out of range");
	return CTX_OK;
}

/* ---- a payload ---- */

/* Turns `bytes` into codec->payload. */
static enum ctx_status pack_bytes(struct ctx_block_codec *codec, int level, struct ctx_bytes bytes,
				  struct ctx_err *err)
{
	enum ctx_status status;

	ctx_buf_clear(&codec->payload);
	if (bytes.n >= SMALL_BYTES) {
		ctx_buf_put_u8(&codec->payload, FORM_ZSTD);
		ctx_buf_put_varint(&codec->payload, bytes.n);
		status = ctx_compress(&codec->compressor, level, bytes, &codec->payload, err);
		if (status != CTX_OK || codec->payload.n <= bytes.n)
			return status;
		ctx_buf_clear(&codec->payload);
	}
	ctx_buf_put_u8(&codec->payload, FORM_PLAIN);
	ctx_buf_put(&codec->payload, bytes.at, bytes.n);
	return ctx_buf_check(&codec->payload, err);
}

enum ctx_status ctx_columns_pack(struct ctx_block_codec *codec, struct ctx_err *err)
{
	enum ctx_status status = ctx_buf_check(&codec->columns, err);

	if (status != CTX_OK)
		return status;
	return pack_bytes(codec, ZSTD_LEVEL, (struct ctx_bytes){codec->columns.bytes, codec->columns.n}, err);
}

struct payload {
	enum form form;
	size_t raw_bytes;	  /* that it produces */
	struct ctx_cursor cursor; /* start of its bytes or of its frame */
};

static enum ctx_status read_form(struct ctx_bytes bytes, size_t max_bytes, struct payload *ret,
				 struct ctx_err *err)
{
	struct ctx_cursor cursor = ctx_cursor_make(bytes.at, bytes.n);
	uint8_t form = ctx_cursor_get_u8(&cursor);
	uint64_t raw_bytes;

	if (cursor.failed || form > FORM_ZSTD)
		return ctx_err_set(err, CTX_E_FORMAT, "a block of unknown form");
	raw_bytes = form == FORM_ZSTD ? ctx_cursor_get_varint(&cursor) : ctx_cursor_left(&cursor);
	if (cursor.failed || (form == FORM_ZSTD && (raw_bytes == 0 || raw_bytes > max_bytes)))
		return ctx_err_set(err, CTX_E_FORMAT, "a block claims %llu bytes",
				   (unsigned long long)raw_bytes);
	*ret = (struct payload){form, (size_t)raw_bytes, cursor};
	return CTX_OK;
}

/* Appends the decompressed contents of a payload's frame. */
static enum ctx_status unpack_frame(struct ctx_block_codec *codec, const struct payload *payload,
				    struct ctx_buf *to, struct ctx_err *err)
{
	struct ctx_bytes frame = {payload->cursor.at, ctx_cursor_left(&payload->cursor)};

	return ctx_decompress(&codec->compressor, frame, payload->raw_bytes, to, err);
}

enum ctx_status ctx_columns_unpack(struct ctx_block_codec *codec, struct ctx_bytes payload, size_t max_bytes,
				   struct ctx_cursor *ret, struct ctx_err *err)
{
	struct payload packed;
	enum ctx_status status = read_form(payload, max_bytes, &packed, err);

	if (status != CTX_OK)
		return status;
	if (packed.form == FORM_PLAIN) {
		*ret = packed.cursor;
		return CTX_OK;
	}
	ctx_buf_clear(&codec->columns);
	status = unpack_frame(codec, &packed, &codec->columns, err);
	if (status == CTX_OK)
		*ret = ctx_cursor_make(codec->columns.bytes, codec->columns.n);
	return status;
}

enum ctx_status ctx_columns_end(const struct ctx_cursor *cursor, struct ctx_err *err)
{
	if (ctx_cursor_left(cursor) != 0)
		return ctx_err_set(err, CTX_E_FORMAT, "%zu bytes after the last column",
				   ctx_cursor_left(cursor));
	return CTX_OK;
}

enum ctx_status ctx_bytes_encode(struct ctx_block_codec *codec, const void *bytes, size_t n,
				 struct ctx_err *err)
{
	return pack_bytes(codec, BYTES_LEVEL, (struct ctx_bytes){bytes, n}, err);
}

enum ctx_status ctx_bytes_decode(struct ctx_block_codec *codec, struct ctx_bytes payload, size_t max,
				 struct ctx_buf *to, struct ctx_err *err)
{
	struct payload packed;
	enum ctx_status status = read_form(payload, max, &packed, err);

	if (status != CTX_OK)
		return status;
	if (packed.form == FORM_ZSTD)
		return unpack_frame(codec, &packed, to, err);
	if (packed.raw_bytes > max)
		return ctx_err_set(err, CTX_E_FORMAT, "a text or code of %zu bytes", packed.raw_bytes);
	ctx_buf_put(to, packed.cursor.at, packed.raw_bytes);
	return ctx_buf_check(to, err);
}
