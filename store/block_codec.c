#include "store/block_codec.h"

#include "base/cursor.h"
#include "base/mem.h"

enum form { FORM_PLAIN = 0, FORM_ZSTD = 1 };
enum kind { KIND_CONST = 0, KIND_PLAIN = 1, KIND_RUNS = 2 };

#define ZSTD_LEVEL (-1)	 /* columns are packed before; level 1 costs twice the time and saves a sixth */
#define BYTES_LEVEL 3	 /* texts and code: each is written once, and few are read */
#define SMALL_BYTES 64	 /* fewer are not worth a zstd frame */
#define VARINT_MAX 10	 /* bytes */
#define SAMPLE_COLUMNS 7 /* as in the picture in the header */
#define WAKEUP_COLUMNS 9 /* the same */
#define TRACED_COLUMNS 13

void ctx_block_codec_deinit(struct ctx_block_codec *codec)
{
	ctx_compressor_deinit(&codec->compressor);
	ctx_buf_deinit(&codec->columns);
	ctx_buf_deinit(&codec->payload);
	free(codec->values);
	*codec = (struct ctx_block_codec){0};
}

static void put_runs(struct ctx_buf *out, const uint64_t *values, size_t n)
{
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && values[end] == values[i]; end++)
			;
		ctx_buf_put_varint(out, end - i);
		ctx_buf_put_varint(out, values[i]);
	}
}

static void put_plain(struct ctx_buf *out, const uint64_t *values, size_t n)
{
	uint8_t *start = ctx_buf_reserve(out, n * VARINT_MAX);
	uint8_t *at = start;

	if (start == NULL)
		return;
	for (size_t i = 0; i < n; i++)
		at += ctx_varint_encode(at, values[i]);
	out->n += (size_t)(at - start);
}

/* A column of `n` values that change `changes` times. */
static void put_changing(struct ctx_buf *out, const uint64_t *values, size_t n, size_t changes)
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

static void put_column(struct ctx_buf *out, const uint64_t *values, size_t n)
{
	size_t changes = 0;

	for (size_t i = 1; i < n; i++)
		changes += values[i] != values[i - 1];
	put_changing(out, values, n, changes);
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

static enum ctx_status get_column(struct ctx_cursor *cursor, uint64_t *values, size_t n, struct ctx_err *err)
{
	uint8_t kind = ctx_cursor_get_u8(cursor);

	if (kind == KIND_CONST) {
		uint64_t value = ctx_cursor_get_varint(cursor);

		for (size_t i = 0; i < n; i++)
			values[i] = value;
	} else if (kind == KIND_PLAIN) {
		if (ctx_cursor_left(cursor) < n)
			return ctx_err_set(err, CTX_E_FORMAT, "a column is cut short");
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
		return ctx_err_set(err, CTX_E_FORMAT, "a column is cut short");
	return CTX_OK;
}

/* `bytes` become codec->payload. */
static enum ctx_status pack_bytes(struct ctx_block_codec *codec, int level, const void *bytes, size_t n,
				  struct ctx_err *err)
{
	enum ctx_status status;

	ctx_buf_clear(&codec->payload);
	if (n >= SMALL_BYTES) {
		ctx_buf_put_u8(&codec->payload, FORM_ZSTD);
		ctx_buf_put_varint(&codec->payload, n);
		status = ctx_compress(&codec->compressor, level, bytes, n, &codec->payload, err);
		if (status != CTX_OK || codec->payload.n <= n)
			return status;
		ctx_buf_clear(&codec->payload);
	}
	ctx_buf_put_u8(&codec->payload, FORM_PLAIN);
	ctx_buf_put(&codec->payload, bytes, n);
	return ctx_buf_check(&codec->payload, err);
}

/* codec->columns becomes codec->payload. */
static enum ctx_status pack(struct ctx_block_codec *codec, struct ctx_err *err)
{
	enum ctx_status status = ctx_buf_check(&codec->columns, err);

	if (status != CTX_OK)
		return status;
	return pack_bytes(codec, ZSTD_LEVEL, codec->columns.bytes, codec->columns.n, err);
}

/* The form of a payload, how many bytes it makes, and a cursor where its bytes or its frame begin. */
static enum ctx_status read_form(const void *payload, size_t size_bytes, size_t max_bytes,
				 enum form *ret_form, size_t *ret_raw_bytes, struct ctx_cursor *ret,
				 struct ctx_err *err)
{
	struct ctx_cursor cursor = ctx_cursor_make(payload, size_bytes);
	uint8_t form = ctx_cursor_get_u8(&cursor);
	uint64_t raw_bytes;

	if (cursor.failed || form > FORM_ZSTD)
		return ctx_err_set(err, CTX_E_FORMAT, "a block of unknown form");
	raw_bytes = form == FORM_ZSTD ? ctx_cursor_get_varint(&cursor) : ctx_cursor_left(&cursor);
	if (cursor.failed || (form == FORM_ZSTD && (raw_bytes == 0 || raw_bytes > max_bytes)))
		return ctx_err_set(err, CTX_E_FORMAT, "a block claims %llu bytes",
				   (unsigned long long)raw_bytes);
	*ret_form = form;
	*ret_raw_bytes = (size_t)raw_bytes;
	*ret = cursor;
	return CTX_OK;
}

/* A cursor over the columns of a payload; compressed ones must not be longer than `max_bytes`. */
static enum ctx_status unpack(struct ctx_block_codec *codec, const void *payload, size_t size_bytes,
			      size_t max_bytes, struct ctx_cursor *ret, struct ctx_err *err)
{
	struct ctx_cursor cursor;
	enum form form;
	size_t raw_bytes;
	enum ctx_status status = read_form(payload, size_bytes, max_bytes, &form, &raw_bytes, &cursor, err);

	if (status != CTX_OK)
		return status;
	if (form == FORM_PLAIN) {
		*ret = cursor;
		return CTX_OK;
	}
	ctx_buf_clear(&codec->columns);
	status = ctx_decompress(&codec->compressor, cursor.at, ctx_cursor_left(&cursor), raw_bytes,
				&codec->columns, err);
	if (status == CTX_OK)
		*ret = ctx_cursor_make(codec->columns.bytes, codec->columns.n);
	return status;
}

static enum ctx_status at_end(const struct ctx_cursor *cursor, struct ctx_err *err)
{
	if (ctx_cursor_left(cursor) != 0)
		return ctx_err_set(err, CTX_E_FORMAT, "%zu bytes behind the last column",
				   ctx_cursor_left(cursor));
	return CTX_OK;
}

static enum ctx_status gather_times(uint64_t *values, const struct ctx_sample *samples, size_t n,
				    struct ctx_err *err)
{
	uint64_t last = 0;

	for (size_t i = 0; i < n; i++) {
		if (samples[i].time_ns < last)
			return ctx_err_set(err, CTX_E_ARG,
					   "sample %zu of a leaf is earlier than the one before", i);
		if (samples[i].metric != samples[0].metric)
			return ctx_err_set(err, CTX_E_ARG, "samples of two metrics in one leaf");
		values[i] = samples[i].time_ns - last;
		last = samples[i].time_ns;
	}
	return CTX_OK;
}

static uint64_t column_value(const struct ctx_sample *sample, int column)
{
	switch (column) {
	case 1:
		return sample->raw_stack;
	case 2:
		return sample->raw_stack == 0 ? sample->stack : 0;
	case 3:
		return sample->kept_depth;
	case 4:
		return sample->weight;
	case 5:
		return (uint32_t)sample->cpu + 1u;
	default:
		return sample->thread;
	}
}

/* One column of the samples. Inlined for each column: which one it is, is asked outside the loop. Returns how often it changes. */
static inline __attribute__((always_inline)) size_t gather(uint64_t *values, const struct ctx_sample *samples,
							   size_t n, int column)
{
	uint64_t last = column_value(&samples[0], column);
	size_t changes = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t value = column_value(&samples[i], column);

		changes += value != last;
		values[i] = last = value;
	}
	return changes;
}

static size_t gather_column(uint64_t *values, const struct ctx_sample *samples, size_t n, int column)
{
	switch (column) {
	case 1:
		return gather(values, samples, n, 1);
	case 2:
		return gather(values, samples, n, 2);
	case 3:
		return gather(values, samples, n, 3);
	case 4:
		return gather(values, samples, n, 4);
	case 5:
		return gather(values, samples, n, 5);
	default:
		return gather(values, samples, n, 6);
	}
}

enum ctx_status ctx_block_encode(struct ctx_block_codec *codec, const struct ctx_sample *samples, size_t n,
				 struct ctx_err *err)
{
	enum ctx_status status;

	if (n == 0 || n > CTX_BLOCK_SAMPLES_MAX)
		return ctx_err_set(err, n == 0 ? CTX_E_ARG : CTX_E_LIMIT, "a leaf of %zu samples", n);
	status = ctx_grow(&codec->values, &codec->values_cap, n, err);
	if (status == CTX_OK)
		status = gather_times(codec->values, samples, n, err);
	if (status != CTX_OK)
		return status;
	ctx_buf_clear(&codec->columns);
	ctx_buf_put_varint(&codec->columns, samples[0].metric);
	put_column(&codec->columns, codec->values, n);
	for (int column = 1; column < SAMPLE_COLUMNS; column++) {
		size_t changes = gather_column(codec->values, samples, n, column);

		put_changing(&codec->columns, codec->values, n, changes);
	}
	return pack(codec, err);
}

static enum ctx_status scatter_times(const uint64_t *values, struct ctx_sample *samples, size_t n,
				     uint32_t metric, struct ctx_err *err)
{
	uint64_t time_ns = 0;

	for (size_t i = 0; i < n; i++) {
		if (__builtin_add_overflow(time_ns, values[i], &time_ns))
			return ctx_err_set(err, CTX_E_FORMAT, "a sample's time is out of range");
		samples[i] = (struct ctx_sample){.time_ns = time_ns, .metric = metric};
	}
	return CTX_OK;
}

static void scatter(const uint64_t *values, struct ctx_sample *samples, size_t n, int column)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t value = (uint32_t)values[i];

		switch (column) {
		case 1:
			samples[i].raw_stack = value;
			break;
		case 2:
			samples[i].stack = value;
			break;
		case 3:
			samples[i].kept_depth = value;
			break;
		case 4:
			samples[i].weight = values[i];
			break;
		case 5:
			samples[i].cpu = (int32_t)(value - 1u);
			break;
		default:
			samples[i].thread = value;
			break;
		}
	}
}

static enum ctx_status fits_32_bits(const uint64_t *values, size_t n, struct ctx_err *err)
{
	uint64_t all = 0;

	for (size_t i = 0; i < n; i++)
		all |= values[i];
	if (all > UINT32_MAX)
		return ctx_err_set(err, CTX_E_FORMAT, "a number of a column is out of range");
	return CTX_OK;
}

enum ctx_status ctx_block_decode(struct ctx_block_codec *codec, const void *payload, size_t size_bytes,
				 struct ctx_sample *samples, size_t n, struct ctx_err *err)
{
	struct ctx_cursor cursor;
	enum ctx_status status;
	uint32_t metric;

	if (n == 0 || n > CTX_BLOCK_SAMPLES_MAX)
		return ctx_err_set(err, CTX_E_FORMAT, "a leaf of %zu samples", n);
	status = ctx_grow(&codec->values, &codec->values_cap, n, err);
	if (status == CTX_OK)
		status = unpack(codec, payload, size_bytes, (n + 1) * SAMPLE_COLUMNS * VARINT_MAX, &cursor,
				err);
	if (status != CTX_OK)
		return status;
	metric = ctx_cursor_get_varint32(&cursor);
	status = get_column(&cursor, codec->values, n, err);
	if (status == CTX_OK)
		status = scatter_times(codec->values, samples, n, metric, err);
	for (int column = 1; column < SAMPLE_COLUMNS && status == CTX_OK; column++) {
		status = get_column(&cursor, codec->values, n, err);
		if (status == CTX_OK && column != 4)
			status = fits_32_bits(codec->values, n, err);
		if (status == CTX_OK)
			scatter(codec->values, samples, n, column);
	}
	return status == CTX_OK ? at_end(&cursor, err) : status;
}

enum ctx_status ctx_column_encode(struct ctx_block_codec *codec, const uint64_t *values, size_t n,
				  struct ctx_err *err)
{
	if (n > CTX_CHUNK_ENTRIES)
		return ctx_err_set(err, CTX_E_LIMIT, "a chunk of %zu entries", n);
	ctx_buf_clear(&codec->columns);
	put_column(&codec->columns, values, n);
	return pack(codec, err);
}

enum ctx_status ctx_column_decode(struct ctx_block_codec *codec, const void *payload, size_t size_bytes,
				  uint64_t *values, size_t n, struct ctx_err *err)
{
	struct ctx_cursor cursor;
	enum ctx_status status;

	if (n > CTX_CHUNK_ENTRIES)
		return ctx_err_set(err, CTX_E_FORMAT, "a chunk of %zu entries", n);
	status = unpack(codec, payload, size_bytes, (n + 1) * VARINT_MAX, &cursor, err);
	if (status == CTX_OK)
		status = get_column(&cursor, values, n, err);
	return status == CTX_OK ? at_end(&cursor, err) : status;
}

/* ---- wake-ups ---- */

static uint64_t wakeup_value(const struct ctx_wakeup *wakeups, size_t i, int column)
{
	const struct ctx_wakeup *wakeup = &wakeups[i];

	switch (column) {
	case 0:
		return ctx_zigzag_encode((int64_t)(wakeup->time_ns - (i != 0 ? wakeups[i - 1].time_ns : 0)));
	case 1:
		return wakeup->wait_ns;
	case 2:
		return wakeup->delay_ns;
	case 3:
		return wakeup->thread;
	case 4:
		return wakeup->state;
	case 5:
		return wakeup->raw_stack;
	case 6:
		return wakeup->waker + 1u;
	case 7:
		return wakeup->outsider + 1u;
	default:
		return wakeup->waker_raw_stack;
	}
}

enum ctx_status ctx_wakeups_encode(struct ctx_block_codec *codec, const struct ctx_wakeup *wakeups, size_t n,
				   struct ctx_err *err)
{
	enum ctx_status status;

	if (n == 0 || n > CTX_CHUNK_ENTRIES)
		return ctx_err_set(err, n == 0 ? CTX_E_ARG : CTX_E_LIMIT, "a block of %zu waits", n);
	status = ctx_grow(&codec->values, &codec->values_cap, n, err);
	if (status != CTX_OK)
		return status;
	ctx_buf_clear(&codec->columns);
	for (int column = 0; column < WAKEUP_COLUMNS; column++) {
		for (size_t i = 0; i < n; i++)
			codec->values[i] = wakeup_value(wakeups, i, column);
		put_column(&codec->columns, codec->values, n);
	}
	return pack(codec, err);
}

static void scatter_wakeup(struct ctx_wakeup *wakeups, size_t i, uint64_t value, int column)
{
	struct ctx_wakeup *wakeup = &wakeups[i];
	uint32_t id = (uint32_t)value;

	switch (column) {
	case 0:
		*wakeup = (struct ctx_wakeup){.time_ns = (i != 0 ? wakeups[i - 1].time_ns : 0) +
							 (uint64_t)ctx_zigzag_decode(value)};
		break;
	case 1:
		wakeup->wait_ns = value;
		break;
	case 2:
		wakeup->delay_ns = value;
		break;
	case 3:
		wakeup->thread = id;
		break;
	case 4:
		wakeup->state = id;
		break;
	case 5:
		wakeup->raw_stack = id;
		break;
	case 6:
		wakeup->waker = id - 1u;
		break;
	case 7:
		wakeup->outsider = id - 1u;
		break;
	default:
		wakeup->waker_raw_stack = id;
		break;
	}
}

enum ctx_status ctx_wakeups_decode(struct ctx_block_codec *codec, const void *payload, size_t size_bytes,
				   struct ctx_wakeup *wakeups, size_t n, struct ctx_err *err)
{
	struct ctx_cursor cursor;
	enum ctx_status status;

	if (n == 0 || n > CTX_CHUNK_ENTRIES)
		return ctx_err_set(err, CTX_E_FORMAT, "a block of %zu waits", n);
	status = ctx_grow(&codec->values, &codec->values_cap, n, err);
	if (status == CTX_OK)
		status = unpack(codec, payload, size_bytes, (n + 1) * WAKEUP_COLUMNS * VARINT_MAX, &cursor,
				err);
	for (int column = 0; column < WAKEUP_COLUMNS && status == CTX_OK; column++) {
		status = get_column(&cursor, codec->values, n, err);
		if (status == CTX_OK && column > 2)
			status = fits_32_bits(codec->values, n, err);
		for (size_t i = 0; i < n && status == CTX_OK; i++)
			scatter_wakeup(wakeups, i, codec->values[i], column);
	}
	return status == CTX_OK ? at_end(&cursor, err) : status;
}

/* ---- traced operations ---- */

static uint64_t traced_value(const struct ctx_traced *operations, size_t i, int column)
{
	const struct ctx_traced *operation = &operations[i];

	switch (column) {
	case 0:
		return operation->time_ns - (i != 0 ? operations[i - 1].time_ns : 0);
	case 1:
		return operation->duration_ns;
	case 2:
		return operation->size;
	case 3:
		return ctx_zigzag_encode(
			(int64_t)(operation->address - (i != 0 ? operations[i - 1].address : 0)));
	case 4:
		return operation->old_address;
	case 5:
		return operation->thread;
	case 6:
		return (uint32_t)operation->cpu + 1u;
	case 7:
		return operation->raw_stack;
	case 8:
		return operation->file + 1u;
	case 9:
		return (uint32_t)operation->descriptor + 1u;
	case 10:
		return operation->operation;
	case 11:
		return (uint64_t)operation->failed | (uint64_t)operation->leaked << 1;
	default:
		return operation->leaked ? operation->size - operation->leaked_size : 0;
	}
}

enum ctx_status ctx_traced_encode(struct ctx_block_codec *codec, const struct ctx_traced *operations,
				  size_t n, struct ctx_err *err)
{
	enum ctx_status status;

	if (n == 0 || n > CTX_CHUNK_ENTRIES)
		return ctx_err_set(err, n == 0 ? CTX_E_ARG : CTX_E_LIMIT, "a block of %zu operations", n);
	for (size_t i = 1; i < n; i++) {
		if (operations[i].time_ns < operations[i - 1].time_ns)
			return ctx_err_set(err, CTX_E_ARG, "operation %zu is older than the one before it",
					   i);
	}
	status = ctx_grow(&codec->values, &codec->values_cap, n, err);
	if (status != CTX_OK)
		return status;
	ctx_buf_clear(&codec->columns);
	for (int column = 0; column < TRACED_COLUMNS; column++) {
		for (size_t i = 0; i < n; i++)
			codec->values[i] = traced_value(operations, i, column);
		put_column(&codec->columns, codec->values, n);
	}
	return pack(codec, err);
}

static void scatter_traced(struct ctx_traced *operations, size_t i, uint64_t value, int column)
{
	struct ctx_traced *operation = &operations[i];
	uint32_t id = (uint32_t)value;

	switch (column) {
	case 0:
		*operation = (struct ctx_traced){.time_ns = (i != 0 ? operations[i - 1].time_ns : 0) + value};
		break;
	case 1:
		operation->duration_ns = value;
		break;
	case 2:
		operation->size = value;
		break;
	case 3:
		operation->address =
			(i != 0 ? operations[i - 1].address : 0) + (uint64_t)ctx_zigzag_decode(value);
		break;
	case 4:
		operation->old_address = value;
		break;
	case 5:
		operation->thread = id;
		break;
	case 6:
		operation->cpu = (int32_t)(id - 1u);
		break;
	case 7:
		operation->raw_stack = id;
		break;
	case 8:
		operation->file = id - 1u;
		break;
	case 9:
		operation->descriptor = (int32_t)(id - 1u);
		break;
	case 10:
		operation->operation = id <= UINT8_MAX ? (uint8_t)id : UINT8_MAX;
		break;
	case 11:
		operation->failed = (id & 1) != 0;
		operation->leaked = (id & 2) != 0;
		break;
	default:
		operation->leaked_size = operation->leaked ? operation->size - value : 0;
		break;
	}
}

enum ctx_status ctx_traced_decode(struct ctx_block_codec *codec, const void *payload, size_t size_bytes,
				  struct ctx_traced *operations, size_t n, struct ctx_err *err)
{
	struct ctx_cursor cursor;
	enum ctx_status status;

	if (n == 0 || n > CTX_CHUNK_ENTRIES)
		return ctx_err_set(err, CTX_E_FORMAT, "a block of %zu operations", n);
	status = ctx_grow(&codec->values, &codec->values_cap, n, err);
	if (status == CTX_OK)
		status = unpack(codec, payload, size_bytes, (n + 1) * TRACED_COLUMNS * VARINT_MAX, &cursor,
				err);
	for (int column = 0; column < TRACED_COLUMNS && status == CTX_OK; column++) {
		status = get_column(&cursor, codec->values, n, err);
		if (status == CTX_OK && column > 4 && column < 12)
			status = fits_32_bits(codec->values, n, err);
		for (size_t i = 0; i < n && status == CTX_OK; i++)
			scatter_traced(operations, i, codec->values[i], column);
	}
	return status == CTX_OK ? at_end(&cursor, err) : status;
}

/* ---- code ---- */

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
	put_column(&codec->columns, values, n);
	for (size_t i = 0; i < n; i++)
		values[i] = lines[i].file + 1u;
	put_column(&codec->columns, values, n);
	for (size_t i = 0; i < n; i++)
		values[i] =
			ctx_zigzag_encode((int64_t)lines[i].line - (int64_t)(i != 0 ? lines[i - 1].line : 0));
	put_column(&codec->columns, values, n);
	return pack(codec, err);
}

/* The three columns into `n` rows that are there already. */
static enum ctx_status get_lines(struct ctx_block_codec *codec, struct ctx_cursor *cursor, uint64_t address,
				 struct ctx_line_row *rows, size_t n, struct ctx_err *err)
{
	uint64_t *values = codec->values;
	enum ctx_status status = get_column(cursor, values, n, err);
	int64_t line = 0;

	for (size_t i = 0; i < n && status == CTX_OK; i++)
		rows[i].address = address += values[i];
	if (status == CTX_OK)
		status = get_column(cursor, values, n, err);
	if (status == CTX_OK)
		status = fits_32_bits(values, n, err);
	for (size_t i = 0; i < n && status == CTX_OK; i++)
		rows[i].file = (uint32_t)values[i] - 1u;
	if (status == CTX_OK)
		status = get_column(cursor, values, n, err);
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
	enum ctx_status status =
		unpack(codec, payload, size_bytes, (3 * n_bytes + 2) * VARINT_MAX, &cursor, err);
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
		status = at_end(&cursor, err);
	if (status == CTX_OK)
		status = check_lines(address, n_bytes, to->rows + to->n, (size_t)n, CTX_E_FORMAT, err);
	if (status == CTX_OK)
		to->n += (size_t)n;
	return status;
}

enum ctx_status ctx_bytes_encode(struct ctx_block_codec *codec, const void *bytes, size_t n,
				 struct ctx_err *err)
{
	return pack_bytes(codec, BYTES_LEVEL, bytes, n, err);
}

enum ctx_status ctx_bytes_decode(struct ctx_block_codec *codec, const void *payload, size_t size_bytes,
				 size_t max, struct ctx_buf *to, struct ctx_err *err)
{
	struct ctx_cursor cursor;
	enum form form;
	size_t raw_bytes;
	enum ctx_status status = read_form(payload, size_bytes, max, &form, &raw_bytes, &cursor, err);

	if (status != CTX_OK)
		return status;
	if (form == FORM_ZSTD)
		return ctx_decompress(&codec->compressor, cursor.at, ctx_cursor_left(&cursor), raw_bytes, to,
				      err);
	if (raw_bytes > max)
		return ctx_err_set(err, CTX_E_FORMAT, "a text or code of %zu bytes", raw_bytes);
	ctx_buf_put(to, cursor.at, raw_bytes);
	return ctx_buf_check(to, err);
}
