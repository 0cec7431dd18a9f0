/*
 * Event attributes of arbitrary bytes. Each is added as it is and, byte-swapped, as a machine of
 * the other byte order would have written it: the results must be equal. Then field positions in
 * records are looked up, and compared with those of each event.
 *
 * Input: a sequence of attributes, each after a byte of its length and a byte of bits: 1, it has an
 * id; 2, it has a name.
 */
#include "base/cursor.h"
#include "formats/perfdata/pd_events.h"
#include "model/profile.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void turn_bytes(uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		uint8_t byte = bytes[i];

		bytes[i] = bytes[n - 1 - i];
		bytes[n - 1 - i] = byte;
	}
}

/* Bit fields are filled from the other end of each byte. */
static void turn_bits(uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint8_t turned = 0;

		for (unsigned bit = 0; bit < 8; bit++)
			turned = (uint8_t)(turned | ((unsigned)bytes[i] >> bit & 1u) << (7 - bit));
		bytes[i] = turned;
	}
}

/* Writes an attribute in the other byte order. */
static void turn(uint8_t *attr, size_t n)
{
	/* Sizes of the fields, in order; 0: the flags. */
	static const uint8_t widths[] = {4, 4, 8, 8, 8, 8, 0, 4, 4, 8, 8, 8, 8, 4, 4, 8, 4, 2, 2, 4, 4, 8};
	size_t at = 0;

	for (size_t i = 0; i < sizeof(widths); i++) {
		size_t width = widths[i] != 0 ? widths[i] : 8;

		if (at + width > n)
			return;
		if (widths[i] != 0)
			turn_bytes(attr + at, width);
		else
			turn_bits(attr + at, width);
		at += width;
	}
}

static void check_same(const struct ctx_pd_event *a, const struct ctx_pd_event *b)
{
	require(a->type == b->type && a->config == b->config && a->sample_period == b->sample_period);
	require(a->layout.sample_type == b->layout.sample_type);
	require(a->layout.read_format == b->layout.read_format);
	require(a->layout.branch_sample_type == b->layout.branch_sample_type);
	require(a->layout.regs_user == b->layout.regs_user);
	require(a->sample_id_all == b->sample_id_all && a->freq == b->freq);
	require(a->exclude_callchain_kernel == b->exclude_callchain_kernel);
	require(a->exclude_callchain_user == b->exclude_callchain_user);
	require(a->use_clockid == b->use_clockid && a->clockid == b->clockid);
	require(a->max_stack == b->max_stack);
}

static void name(struct ctx_pd_events *events, const uint8_t *attr, size_t n, uint8_t bits)
{
	uint32_t index = (uint32_t)events->n - 1;
	uint64_t id = (uint64_t)n << 8 | bits;

	if (bits & 1) {
		if (ctx_pd_events_add_id(events, id, index, NULL) != CTX_OK)
			abort();
		require(ctx_map64_get(&events->by_id, id) == index);
	}
	if ((bits & 2) && ctx_pd_events_name(events, index, (const char *)attr, n, NULL) != CTX_OK)
		abort();
}

/* If all events agree, the position is that of each; otherwise there is none. */
static void check_places(const struct ctx_pd_events *events)
{
	bool all_ids = true;

	for (size_t i = 0; i < events->n; i++) {
		struct ctx_pd_events alone = {.items = &events->items[i], .n = 1};

		require(events->items[i].name[0] != '\0');
		if (ctx_pd_events_settle(&alone, NULL) != CTX_OK)
			abort();
		require(events->sample_time_at == -1 || events->sample_time_at == alone.sample_time_at);
		require(events->sample_id_at == -1 || events->sample_id_at == alone.sample_id_at);
		require(events->trailer_time_at == -1 || events->trailer_time_at == alone.trailer_time_at);
		require(events->trailer_id_at == -1 || events->trailer_id_at == alone.trailer_id_at);
		require(alone.sample_time_at <= 3 && alone.trailer_time_at <= 5);
		require(alone.sample_id_at <= 4 && alone.trailer_id_at <= 3);
		all_ids = all_ids && events->items[i].sample_id_all;
	}
	require(events->has_trailer == (all_ids && events->n != 0));
}

static void add(struct ctx_pd_events *little, struct ctx_pd_events *big, const uint8_t *bytes, size_t n,
		uint8_t bits)
{
	uint8_t attr[UINT8_MAX];
	struct ctx_err err = {0};
	enum ctx_status status;

	if (n != 0)
		memcpy(attr, bytes, n);
	status = ctx_pd_events_add(little, bytes, n, false, &err);
	turn(attr, n);
	require(ctx_pd_events_add(big, attr, n, true, NULL) == status);
	if (status != CTX_OK) {
		require(status == CTX_E_FORMAT && err.msg[0] != '\0');
		return;
	}
	require(little->n == big->n);
	if (bytes[4] % 8 == 0) /* otherwise the end of the attribute may split a field */
		check_same(&little->items[little->n - 1], &big->items[big->n - 1]);
	name(little, bytes, n, bits);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctx_cursor cursor = ctx_cursor_make(data, size);
	struct ctx_pd_events little = {0}, big = {0};

	while (ctx_cursor_left(&cursor) >= 2) {
		size_t n = ctx_cursor_get_u8(&cursor);
		uint8_t bits = ctx_cursor_get_u8(&cursor);
		size_t left = ctx_cursor_left(&cursor);

		n = n < left ? n : left;
		add(&little, &big, ctx_cursor_get_bytes(&cursor, n), n, bits);
	}
	if (ctx_pd_events_settle(&little, NULL) != CTX_OK)
		abort();
	check_places(&little);
	ctx_pd_events_deinit(&little);
	ctx_pd_events_deinit(&big);
	return 0;
}
