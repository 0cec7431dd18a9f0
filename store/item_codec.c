/*
 * Blocks of items other than samples: ended waits, traced operations. Each kind of item defines its
 * columns.
 */
#include "base/bisect.h"
#include "base/mem.h"
#include "store/block_codec.h"

struct item_form {
	const char *items;	    /* in messages */
	int n_columns;		    /* as in the figure in the header; */
	int narrow_from, narrow_to; /* those of them with only 32 bits */
	/* Copies one column from the items, and returns how often its value changes; or into them. n is not 0. */
	size_t (*collect)(uint64_t *values, const void *items, size_t n, int column);
	void (*scatter)(const uint64_t *values, void *items, size_t n, int column);
};

static enum ctx_status encode(struct ctx_block_codec *codec, const struct item_form *form, const void *items,
			      size_t n, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&codec->values, &codec->values_cap, n, err);

	if (status != CTX_OK)
		return status;
	ctx_buf_clear(&codec->columns);
	for (int column = 0; column < form->n_columns; column++) {
		size_t changes = form->collect(codec->values, items, n, column);

		ctx_column_put_changing(&codec->columns, codec->values, n, changes);
	}
	return ctx_columns_pack(codec, err);
}

struct items { /* being decoded */
	const struct item_form *form;
	void *items;
	size_t n;
};

static enum ctx_status decode(struct ctx_block_codec *codec, struct ctx_bytes payload,
			      const struct items *out, struct ctx_err *err)
{
	const struct item_form *form = out->form;
	struct ctx_cursor cursor;
	size_t n = out->n;
	enum ctx_status status;

	if (n == 0 || n > CTX_CHUNK_ENTRIES)
		return ctx_err_set(err, CTX_E_FORMAT, "a block of %zu %s", n, form->items);
	status = ctx_grow(&codec->values, &codec->values_cap, n, err);
	if (status == CTX_OK)
		status = ctx_columns_unpack(
			codec, payload, (n + 1) * (size_t)form->n_columns * COLUMN_VARINT_MAX, &cursor, err);
	for (int column = 0; column < form->n_columns && status == CTX_OK; column++) {
		status = ctx_column_get(&cursor, codec->values, n, err);
		if (status == CTX_OK && column >= form->narrow_from && column < form->narrow_to)
			status = ctx_column_fits_32_bits(codec->values, n, err);
		if (status == CTX_OK)
			form->scatter(codec->values, out->items, n, column);
	}
	return status == CTX_OK ? ctx_columns_end(&cursor, err) : status;
}

static enum ctx_status check_number(const struct item_form *form, size_t n, struct ctx_err *err)
{
	if (n == 0 || n > CTX_CHUNK_ENTRIES)
		return ctx_err_set(err, n == 0 ? CTX_E_ARG : CTX_E_LIMIT, "a block of %zu %s", n,
				   form->items);
	return CTX_OK;
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
		return wakeup->external_waker + 1u;
	default:
		return wakeup->waker_raw_stack;
	}
}

static size_t collect_wakeups(uint64_t *values, const void *items, size_t n, int column)
{
	size_t changes = 0;

	for (size_t i = 0; i < n; i++) {
		values[i] = wakeup_value(items, i, column);
		changes += i != 0 && values[i] != values[i - 1];
	}
	return changes;
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
		wakeup->external_waker = id - 1u;
		break;
	default:
		wakeup->waker_raw_stack = id;
		break;
	}
}

static void scatter_wakeups(const uint64_t *values, void *items, size_t n, int column)
{
	for (size_t i = 0; i < n; i++)
		scatter_wakeup(items, i, values[i], column);
}

static const struct item_form wakeup_form = {"waits", 9, 3, 9, collect_wakeups, scatter_wakeups};

enum ctx_status ctx_wakeups_encode(struct ctx_block_codec *codec, const struct ctx_wakeup *wakeups, size_t n,
				   struct ctx_err *err)
{
	enum ctx_status status = check_number(&wakeup_form, n, err);

	return status == CTX_OK ? encode(codec, &wakeup_form, wakeups, n, err) : status;
}

enum ctx_status ctx_wakeups_decode(struct ctx_block_codec *codec, struct ctx_bytes payload,
				   struct ctx_wakeup *wakeups, size_t n, struct ctx_err *err)
{
	return decode(codec, payload, &(struct items){&wakeup_form, wakeups, n}, err);
}

/* ---- traced operations ---- */

CTX_ALWAYS_INLINE uint64_t traced_value(const struct ctx_traced *operations, size_t i, int column)
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
		return operation->leaked ? operation->size - operation->leaked_size : operation->physical;
	}
}

CTX_ALWAYS_INLINE size_t collect_column(uint64_t *values, const struct ctx_traced *operations, size_t n,
					int column)
{
	uint64_t last = values[0] = traced_value(operations, 0, column);
	size_t changes = 0;

	for (size_t i = 1; i < n; i++) {
		uint64_t value = traced_value(operations, i, column);

		changes += value != last;
		values[i] = last = value;
	}
	return changes;
}

/* A loop for each column: of which one it is, is asked once. */
static size_t collect_operations(uint64_t *values, const void *items, size_t n, int column)
{
	switch (column) {
	case 0:
		return collect_column(values, items, n, 0);
	case 1:
		return collect_column(values, items, n, 1);
	case 2:
		return collect_column(values, items, n, 2);
	case 3:
		return collect_column(values, items, n, 3);
	case 4:
		return collect_column(values, items, n, 4);
	case 5:
		return collect_column(values, items, n, 5);
	case 6:
		return collect_column(values, items, n, 6);
	case 7:
		return collect_column(values, items, n, 7);
	case 8:
		return collect_column(values, items, n, 8);
	case 9:
		return collect_column(values, items, n, 9);
	case 10:
		return collect_column(values, items, n, 10);
	case 11:
		return collect_column(values, items, n, 11);
	default:
		return collect_column(values, items, n, column);
	}
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
		operation->leaked_size = operation->leaked ? operation->size - value : value;
		break;
	}
}

static void scatter_operations(const uint64_t *values, void *items, size_t n, int column)
{
	for (size_t i = 0; i < n; i++)
		scatter_traced(items, i, values[i], column);
}

static const struct item_form traced_form = {"operations", 13, 5, 12, collect_operations, scatter_operations};

static enum ctx_status check_order(const struct ctx_traced *operations, size_t n, struct ctx_err *err)
{
	for (size_t i = 1; i < n; i++) {
		if (operations[i].time_ns < operations[i - 1].time_ns)
			return ctx_err_set(err, CTX_E_ARG, "operation %zu is older than the one before it",
					   i);
	}
	return CTX_OK;
}

enum ctx_status ctx_traced_encode(struct ctx_block_codec *codec, const struct ctx_traced *operations,
				  size_t n, struct ctx_err *err)
{
	enum ctx_status status = check_number(&traced_form, n, err);

	if (status == CTX_OK)
		status = check_order(operations, n, err);
	return status == CTX_OK ? encode(codec, &traced_form, operations, n, err) : status;
}

enum ctx_status ctx_traced_decode(struct ctx_block_codec *codec, struct ctx_bytes payload,
				  struct ctx_traced *operations, size_t n, struct ctx_err *err)
{
	return decode(codec, payload, &(struct items){&traced_form, operations, n}, err);
}
