#include "timetree/timenode_codec.h"

#define BLOCK 256

/* The weight of one sample if it is the same for all entries, otherwise 0. */
static uint64_t common_unit(const struct ctx_hist_item *entries, size_t n)
{
	uint64_t unit = entries[0].samples != 0 ? entries[0].weight / entries[0].samples : 0;
	uint64_t weight;

	for (size_t i = 0; i < n; i++) {
		if (__builtin_mul_overflow(entries[i].samples, unit, &weight) || weight != entries[i].weight)
			return 0;
	}
	return unit;
}

static size_t run_length(const struct ctx_hist_item *entries, size_t n)
{
	size_t length = 1;

	while (length < n && entries[length].weight == entries[0].weight &&
	       entries[length].samples == entries[0].samples)
		length++;
	return length;
}

void ctx_timenode_list_encode(const struct ctx_hist_item *entries, size_t n, struct ctx_buf *out)
{
	uint64_t unit, before = 0;
	size_t length;

	if (n == 0)
		return;
	unit = common_unit(entries, n);
	ctx_buf_put_varint(out, n);
	ctx_buf_put_varint(out, unit);
	for (size_t i = 0; i < n; i += length) {
		uint64_t size = unit != 0 ? entries[i].samples : entries[i].weight;

		length = run_length(entries + i, n - i);
		ctx_buf_put_varint(out, i == 0 ? size : before - size);
		before = size;
		if (unit == 0)
			ctx_buf_put_varint(out, entries[i].samples);
		ctx_buf_put_varint(out, (uint64_t)entries[i].stack << 1 | (length > 1));
		if (length > 1)
			ctx_buf_put_varint(out, length - 2);
		for (size_t k = i + 1; k < i + length; k++)
			ctx_buf_put_varint(out, entries[k].stack - entries[k - 1].stack - 1);
	}
}

void ctx_timenode_calls_encode(const struct ctx_timenode_calls *calls, size_t n, struct ctx_buf *out)
{
	if (n == 0)
		return;
	ctx_buf_put_varint(out, n);
	for (size_t i = 0; i < n; i++) {
		ctx_buf_put_varint(out, i == 0 ? calls[i].stack : calls[i].stack - calls[i - 1].stack - 1);
		ctx_buf_put_zigzag(out, calls[i].calls);
	}
}

static enum ctx_status broken(struct ctx_err *err, const char *what)
{
	return ctx_err_set(err, CTX_E_FORMAT, "time tree list: %s", what);
}

struct ctx_timenode_list ctx_timenode_list_open(const uint8_t *bytes, size_t n)
{
	return (struct ctx_timenode_list){
		.cursor = ctx_cursor_make(bytes, n), .weight_left = UINT64_MAX, .samples_left = UINT64_MAX};
}

static enum ctx_status read_head(struct ctx_timenode_list *list, struct ctx_err *err)
{
	list->opened = true;
	if (ctx_cursor_left(&list->cursor) == 0)
		return CTX_OK;
	list->left = ctx_cursor_get_varint(&list->cursor);
	list->unit = ctx_cursor_get_varint(&list->cursor);
	if (list->cursor.failed)
		return broken(err, "truncated");
	/* Every entry takes a byte at least. */
	if (list->left == 0 || list->left > ctx_cursor_left(&list->cursor))
		return broken(err, "its length cannot be right");
	return CTX_OK;
}

/* Subtracts the run's share from the room that the sums have left. */
static enum ctx_status spend(uint64_t *left, uint64_t each, uint64_t n, struct ctx_err *err)
{
	uint64_t sum;

	if (__builtin_mul_overflow(each, n, &sum) || sum > *left)
		return broken(err, "its sum overflows");
	*left -= sum;
	return CTX_OK;
}

/* The weight and samples of the next run, from the difference to the previous one. */
static enum ctx_status read_size(struct ctx_timenode_list *list, struct ctx_err *err)
{
	uint64_t drop = ctx_cursor_get_varint(&list->cursor);
	uint64_t before = list->unit != 0 ? list->samples : list->weight;
	uint64_t size = list->started ? before - drop : drop;

	if (list->started && drop > before)
		return broken(err, "not in descending order");
	if (list->unit == 0) {
		list->weight = size;
		list->samples = ctx_cursor_get_varint(&list->cursor);
	} else {
		if (list->started && drop == 0)
			return broken(err, "a run is cut in two");
		list->samples = size;
		if (__builtin_mul_overflow(size, list->unit, &list->weight))
			return broken(err, "a weight overflows");
	}
	if (list->samples == 0)
		return broken(err, list->cursor.failed ? "truncated" : "an entry without samples");
	return CTX_OK;
}

/* Everything of the next run except the ids after its first. */
static enum ctx_status read_run(struct ctx_timenode_list *list, struct ctx_err *err)
{
	uint64_t weight_before = list->weight;
	uint64_t length = 1, id;
	enum ctx_status status;

	status = read_size(list, err);
	if (status != CTX_OK)
		return status;
	id = ctx_cursor_get_varint(&list->cursor);
	if ((id & 1) != 0)
		length = ctx_cursor_get_varint(&list->cursor);
	if (list->cursor.failed)
		return broken(err, "truncated");
	if ((id & 1) != 0 && __builtin_add_overflow(length, 2, &length))
		return broken(err, "a run is too long");
	if (id >> 1 > UINT32_MAX)
		return broken(err, "a stack id is too large");
	if (length > list->left)
		return broken(err, "a run is too long");
	if (list->started && list->weight == weight_before && id >> 1 <= list->stack)
		return broken(err, "equal weights are not in the order of their ids");
	status = spend(&list->weight_left, list->weight, length, err);
	if (status == CTX_OK)
		status = spend(&list->samples_left, list->samples, length, err);
	if (status != CTX_OK)
		return status;
	list->started = true;
	list->stack = (uint32_t)(id >> 1);
	list->run_left = length;
	return CTX_OK;
}

/*
 * Returns `n` entries of a run. list->stack is the next one's id; it stays after the last entry of
 * the run.
 */
static enum ctx_status read_ids(struct ctx_timenode_list *list, struct ctx_hist_item *ret, size_t n,
				struct ctx_err *err)
{
	const uint64_t weight = list->weight, samples = list->samples;
	uint64_t stack = list->stack;

	for (size_t i = 0; i < n; i++) {
		ret[i] = (struct ctx_hist_item){
			.weight = weight, .samples = samples, .stack = (uint32_t)stack};
		if (i + 1 == list->run_left)
			break;
		stack += ctx_cursor_get_varint32(&list->cursor);
		stack++;
		if (stack > UINT32_MAX)
			return broken(err, "a stack id is too large");
	}
	list->stack = (uint32_t)stack;
	list->run_left -= n;
	list->left -= n;
	return list->cursor.failed ? broken(err, "truncated, or a stack id is too large") : CTX_OK;
}

enum ctx_status ctx_timenode_list_read(struct ctx_timenode_list *list, struct ctx_hist_item *ret, size_t cap,
				       size_t *ret_n, struct ctx_err *err)
{
	enum ctx_status status = list->opened ? CTX_OK : read_head(list, err);
	size_t n = 0;

	while (status == CTX_OK && n < cap && list->left != 0) {
		size_t part;

		if (list->run_left == 0)
			status = read_run(list, err);
		if (status != CTX_OK)
			return status;
		part = list->run_left < cap - n ? (size_t)list->run_left : cap - n;
		status = read_ids(list, ret + n, part, err);
		n += part;
	}
	if (status != CTX_OK)
		return status;
	if (list->left == 0 && ctx_cursor_left(&list->cursor) != 0)
		return broken(err, "bytes after its end");
	if (n == 0)
		return CTX_END;
	*ret_n = n;
	return CTX_OK;
}

enum ctx_status ctx_timenode_list_decode(const uint8_t *bytes, size_t n, struct ctx_histogram *out,
					 size_t *ret_n, struct ctx_err *err)
{
	struct ctx_timenode_list list = ctx_timenode_list_open(bytes, n);
	struct ctx_hist_item block[BLOCK];
	enum ctx_status status;
	size_t got = 0, total = 0;

	while ((status = ctx_timenode_list_read(&list, block, BLOCK, &got, err)) == CTX_OK) {
		status = ctx_histogram_add_many(out, block, got, err);
		if (status != CTX_OK)
			return status;
		total += got;
	}
	if (status != CTX_END)
		return status;
	*ret_n = total;
	return CTX_OK;
}

enum ctx_status ctx_timenode_calls_decode(const uint8_t *bytes, size_t n, struct ctx_histogram *out,
					  size_t *ret_n, struct ctx_err *err)
{
	struct ctx_cursor cursor = ctx_cursor_make(bytes, n);
	uint64_t total = n != 0 ? ctx_cursor_get_varint(&cursor) : 0;
	uint64_t stack = 0;
	enum ctx_status status;

	if (n != 0 && (total == 0 || total > ctx_cursor_left(&cursor) / 2))
		return broken(err, "the length of its calls cannot be right");
	for (uint64_t i = 0; i < total; i++) {
		uint32_t delta = ctx_cursor_get_varint32(&cursor);
		int64_t calls = ctx_cursor_get_zigzag(&cursor);

		stack += (uint64_t)delta + (i != 0);
		if (cursor.failed || stack > UINT32_MAX)
			return broken(err,
				      cursor.failed ? "its calls are truncated" : "a stack id is too large");
		status = ctx_histogram_add(
			out, (struct ctx_hist_entry){.stack = (uint32_t)stack, .calls = calls}, err);
		if (status != CTX_OK)
			return status;
	}
	if (ctx_cursor_left(&cursor) != 0)
		return broken(err, "bytes after the end of its calls");
	*ret_n = (size_t)total;
	return CTX_OK;
}
