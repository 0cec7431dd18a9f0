/*
 * The lists of a time tree's nodes: arbitrary bytes are decoded or refused, and decoded lists are
 * unchanged by encoding and decoding again.
 */
#include "timetree/timenode_codec.h"

#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct entries {
	struct ctx_hist_item *items;
	size_t n, cap;
};

static enum ctx_status read_all(const uint8_t *bytes, size_t size, struct entries *entries)
{
	struct ctx_timenode_list list = ctx_timenode_list_open(bytes, size);
	enum ctx_status status;
	size_t got = 0;

	do {
		status = ctx_grow(&entries->items, &entries->cap, entries->n + 7, NULL);
		if (status == CTX_OK)
			status = ctx_timenode_list_read(&list, entries->items + entries->n, 7, &got, NULL);
		entries->n += status == CTX_OK ? got : 0;
	} while (status == CTX_OK);
	return status;
}

static void round_trip(const uint8_t *bytes, size_t size)
{
	struct entries first = {0}, second = {0};
	struct ctx_buf again = {0};

	if (read_all(bytes, size, &first) == CTX_END) {
		ctx_timenode_list_encode(first.items, first.n, &again);
		if (again.failed || read_all(again.bytes, again.n, &second) != CTX_END || first.n != second.n)
			abort();
		if (first.n != 0 && memcmp(first.items, second.items, first.n * sizeof(*first.items)) != 0)
			abort();
	}
	free(first.items);
	free(second.items);
	ctx_buf_deinit(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctx_histogram histogram = {0};
	size_t n = 0;

	/* The first byte selects the kind of list. */
	if (size == 0)
		return 0;
	if ((data[0] & 1) != 0) {
		if (ctx_timenode_calls_decode(data + 1, size - 1, &histogram, &n, NULL) == CTX_OK &&
		    n != histogram.n)
			abort();
	} else {
		round_trip(data + 1, size - 1);
		if (ctx_timenode_list_decode(data + 1, size - 1, &histogram, &n, NULL) == CTX_OK &&
		    histogram.n > n)
			abort();
	}
	ctx_histogram_deinit(&histogram);
	return 0;
}
