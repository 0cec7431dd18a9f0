#include "store/block_codec.h"

#include "base/mem.h"

#define SAMPLE_COLUMNS 8 /* as in the figure in the header */
#define MORE_CALLS 7	 /* the last one, which may be missing */

static enum ctx_status collect_times(uint64_t *values, const struct ctx_sample *samples, size_t n,
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
	case MORE_CALLS:
		return sample->more_calls;
	default:
		return sample->thread;
	}
}

/*
 * One column of the samples. Inlined for each column, so that the column is selected outside the
 * loop. Returns how often the value changes.
 */
static inline __attribute__((always_inline)) size_t collect(uint64_t *values,
							    const struct ctx_sample *samples, size_t n,
							    int column)
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

static size_t collect_column(uint64_t *values, const struct ctx_sample *samples, size_t n, int column)
{
	switch (column) {
	case 1:
		return collect(values, samples, n, 1);
	case 2:
		return collect(values, samples, n, 2);
	case 3:
		return collect(values, samples, n, 3);
	case 4:
		return collect(values, samples, n, 4);
	case 5:
		return collect(values, samples, n, 5);
	case MORE_CALLS:
		return collect(values, samples, n, MORE_CALLS);
	default:
		return collect(values, samples, n, 6);
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
		status = collect_times(codec->values, samples, n, err);
	if (status != CTX_OK)
		return status;
	ctx_buf_clear(&codec->columns);
	ctx_buf_put_varint(&codec->columns, samples[0].metric);
	ctx_column_put(&codec->columns, codec->values, n);
	for (int column = 1; column < SAMPLE_COLUMNS; column++) {
		size_t changes = collect_column(codec->values, samples, n, column);

		if (column == MORE_CALLS && changes == 0 && codec->values[0] == 0)
			break;
		ctx_column_put_changing(&codec->columns, codec->values, n, changes);
	}
	return ctx_columns_pack(codec, err);
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
		case MORE_CALLS:
			samples[i].more_calls = value;
			break;
		default:
			samples[i].thread = value;
			break;
		}
	}
}

enum ctx_status ctx_block_decode(struct ctx_block_codec *codec, struct ctx_bytes payload,
				 struct ctx_sample *samples, size_t n, struct ctx_err *err)
{
	struct ctx_cursor cursor;
	enum ctx_status status;
	uint32_t metric;

	if (n == 0 || n > CTX_BLOCK_SAMPLES_MAX)
		return ctx_err_set(err, CTX_E_FORMAT, "a leaf of %zu samples", n);
	status = ctx_grow(&codec->values, &codec->values_cap, n, err);
	if (status == CTX_OK)
		status = ctx_columns_unpack(codec, payload, (n + 1) * SAMPLE_COLUMNS * COLUMN_VARINT_MAX,
					    &cursor, err);
	if (status != CTX_OK)
		return status;
	metric = ctx_cursor_get_varint32(&cursor);
	status = ctx_column_get(&cursor, codec->values, n, err);
	if (status == CTX_OK)
		status = scatter_times(codec->values, samples, n, metric, err);
	for (int column = 1; column < SAMPLE_COLUMNS && status == CTX_OK; column++) {
		if (column == MORE_CALLS && ctx_cursor_left(&cursor) == 0)
			break;
		status = ctx_column_get(&cursor, codec->values, n, err);
		if (status == CTX_OK && column != 4)
			status = ctx_column_fits_32_bits(codec->values, n, err);
		if (status == CTX_OK)
			scatter(codec->values, samples, n, column);
	}
	return status == CTX_OK ? ctx_columns_end(&cursor, err) : status;
}

enum ctx_status ctx_column_encode(struct ctx_block_codec *codec, const uint64_t *values, size_t n,
				  struct ctx_err *err)
{
	if (n > CTX_CHUNK_ENTRIES)
		return ctx_err_set(err, CTX_E_LIMIT, "a chunk of %zu entries", n);
	ctx_buf_clear(&codec->columns);
	ctx_column_put(&codec->columns, values, n);
	return ctx_columns_pack(codec, err);
}

enum ctx_status ctx_column_decode(struct ctx_block_codec *codec, struct ctx_bytes payload, uint64_t *values,
				  size_t n, struct ctx_err *err)
{
	struct ctx_cursor cursor;
	enum ctx_status status;

	if (n > CTX_CHUNK_ENTRIES)
		return ctx_err_set(err, CTX_E_FORMAT, "a chunk of %zu entries", n);
	status = ctx_columns_unpack(codec, payload, (n + 1) * COLUMN_VARINT_MAX, &cursor, err);
	if (status == CTX_OK)
		status = ctx_column_get(&cursor, values, n, err);
	return status == CTX_OK ? ctx_columns_end(&cursor, err) : status;
}
