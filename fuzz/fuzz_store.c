/*
 * The columns of sample blocks. The first byte selects what is done with the rest: decode it as a
 * block, decode it as one column, or make samples from it and check the round trip; 128 and more:
 * decode it as waits, 192 and more: as traced operations.
 */
#include "store/block_codec.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ENTRIES 512

static void round_trip(struct ctx_block_codec *codec, const uint8_t *data, size_t size)
{
	struct ctx_sample in[ENTRIES], out[ENTRIES];
	size_t n = size / 12 < ENTRIES ? size / 12 : ENTRIES;
	uint64_t time_ns = 0;

	memset(in, 0, sizeof(in));
	for (size_t i = 0; i < n; i++, data += 12) {
		uint16_t shorts[6];

		memcpy(shorts, data, sizeof(shorts));
		time_ns += (uint64_t)shorts[0] << (shorts[1] & 31);
		in[i].time_ns = time_ns;
		in[i].weight = (uint64_t)shorts[1] << (shorts[0] & 47);
		in[i].raw_stack = shorts[2] & 0x8000 ? 0 : shorts[2] * 65537u;
		in[i].stack = in[i].raw_stack == 0 ? shorts[3] : 0;
		in[i].kept_depth = shorts[3] >> 8;
		in[i].thread = shorts[4];
		in[i].cpu = (int32_t)(shorts[5] & 1023) - 1;
	}
	if (n == 0 || ctx_block_encode(codec, in, n, NULL) != CTX_OK)
		return;
	memset(out, 0, sizeof(out));
	if (ctx_block_decode(codec, (struct ctx_bytes){codec->payload.bytes, codec->payload.n}, out, n,
			     NULL) != CTX_OK ||
	    memcmp(in, out, n * sizeof(in[0])) != 0)
		abort();
}

/* Decoded data can be encoded, and decodes to the same again. */
static void decode_waits(struct ctx_block_codec *codec, const uint8_t *data, size_t size, size_t n)
{
	struct ctx_wakeup waits[ENTRIES], again[ENTRIES];

	if (ctx_wakeups_decode(codec, (struct ctx_bytes){data, size}, waits, n, NULL) != CTX_OK)
		return;
	if (ctx_wakeups_encode(codec, waits, n, NULL) != CTX_OK ||
	    ctx_wakeups_decode(codec, (struct ctx_bytes){codec->payload.bytes, codec->payload.n}, again, n,
			       NULL) != CTX_OK ||
	    memcmp(waits, again, n * sizeof(waits[0])) != 0)
		abort();
}

static bool is_same(const struct ctx_traced *a, const struct ctx_traced *b)
{
	return a->time_ns == b->time_ns && a->duration_ns == b->duration_ns && a->size == b->size &&
	       a->address == b->address && a->old_address == b->old_address && a->thread == b->thread &&
	       a->cpu == b->cpu && a->raw_stack == b->raw_stack && a->file == b->file &&
	       a->descriptor == b->descriptor && a->operation == b->operation && a->failed == b->failed &&
	       a->leaked == b->leaked && a->leaked_size == b->leaked_size;
}

/* The same; overflowing times are refused. */
static void decode_traced(struct ctx_block_codec *codec, const uint8_t *data, size_t size, size_t n)
{
	struct ctx_traced operations[ENTRIES], again[ENTRIES];

	if (ctx_traced_decode(codec, (struct ctx_bytes){data, size}, operations, n, NULL) != CTX_OK ||
	    ctx_traced_encode(codec, operations, n, NULL) != CTX_OK)
		return;
	if (ctx_traced_decode(codec, (struct ctx_bytes){codec->payload.bytes, codec->payload.n}, again, n,
			      NULL) != CTX_OK)
		abort();
	for (size_t i = 0; i < n; i++) {
		if (!is_same(&operations[i], &again[i]))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctx_block_codec codec = {0};
	struct ctx_sample samples[ENTRIES];
	uint64_t values[ENTRIES];
	size_t n;

	if (size < 3)
		return 0;
	n = (data[1] | (size_t)data[2] << 8) % (ENTRIES + 1);
	/* Any status is valid; the sanitizers detect invalid accesses. */
	if (data[0] >= 192) {
		decode_traced(&codec, data + 3, size - 3, n);
	} else if (data[0] >= 128) {
		decode_waits(&codec, data + 3, size - 3, n);
	} else if (data[0] % 3 == 0 && ctx_block_decode(&codec, (struct ctx_bytes){data + 3, size - 3},
							samples, n, NULL) == CTX_OK) {
		for (size_t i = 1; i < n; i++) {
			if (samples[i].time_ns < samples[i - 1].time_ns)
				abort();
		}
	} else if (data[0] % 3 == 1 && ctx_column_decode(&codec, (struct ctx_bytes){data + 3, size - 3},
							 values, n, NULL) == CTX_OK) {
		if (ctx_column_encode(&codec, values, n, NULL) != CTX_OK)
			abort();
	} else if (data[0] % 3 == 2) {
		round_trip(&codec, data + 3, size - 3);
	}
	ctx_block_codec_deinit(&codec);
	return 0;
}
