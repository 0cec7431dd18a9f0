/* The payload of blocks of heap operations: what is encoded comes back, and its bytes are those that are documented. */
#include "chance.h"
#include "formats/experiment/exp_calls.h"
#include "formats/experiment/exp_heap_code.h"
#include "formats/experiment/exp_packed_frames.h"

#include "base/compress.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MALLOC = CTX_HEAP_ALLOCATE, FREE = CTX_HEAP_FREE, REALLOC = CTX_HEAP_REALLOCATE, MAP = CTX_HEAP_MAP };

struct written {
	struct ctx_exp_packet packets[CTX_EXP_HEAP_MAX];
	struct ctx_exp_heap_addresses addresses[CTX_EXP_HEAP_MAX];
	size_t n;
};

static void put(struct written *out, unsigned operation, uint32_t thread, uint64_t address, uint64_t old)
{
	size_t i = out->n++;

	out->packets[i] = (struct ctx_exp_packet){.time_ns = 10 + 5 * i,
						  .thread = thread,
						  .cpu = -1,
						  .operation = (uint16_t)operation,
						  .order = (uint16_t)i};
	out->addresses[i] = (struct ctx_exp_heap_addresses){address, old};
}

/* Encodes it, and decodes it into `ret`, and what lasts. */
static size_t turn_around(const struct written *in, struct written *ret,
			  const struct ctx_exp_heap_lasting **ret_lasting, struct ctx_exp_heap_coder **coder,
			  struct ctx_buf *bytes)
{
	struct ctx_exp_heap_block from = {.packets = (struct ctx_exp_packet *)in->packets,
					  .addresses = (struct ctx_exp_heap_addresses *)in->addresses,
					  .n = in->n};
	struct ctx_exp_heap_block to = {.packets = ret->packets,
					.addresses = ret->addresses,
					.n = in->n,
					.first_ns = in->packets[0].time_ns,
					.last_ns = in->packets[in->n - 1].time_ns};
	struct ctx_exp_heap_parts parts;
	struct ctx_exp_heap_list list;

	ctx_buf_clear(bytes);
	assert_int_equal(ctx_exp_heap_encode(coder, &from, bytes, &parts, NULL), CTX_OK);
	assert_int_equal(parts.ends[parts.n - 1], bytes->n);
	assert_int_equal(ctx_exp_heap_decode(coder, (struct ctx_bytes){bytes->bytes, bytes->n}, &to, NULL),
			 CTX_OK);
	ret->n = in->n;
	assert_int_equal(ctx_exp_heap_find_lasting(coder, (struct ctx_bytes){bytes->bytes, bytes->n}, in->n,
						   &list, NULL),
			 CTX_OK);
	*ret_lasting = list.items;
	return list.n;
}

/* docs/experiment-format.md, section 8. */
static void test_heap_code__bytes_are_those_of_the_documentation(void **state)
{
	static const uint8_t wanted[] = {0x0d, 0x02, 0x03, 0x02, 0x02, 0x02, 0x00, 0x03, 0x03, 0x02,
					 0x03, 0x02, 0x00, 0x00, 0x0c, 0x07, 0x02, 0x00, 0x00, 0x02,
					 0x00, 0x09, 0x04, 0xa0, 0x01, 0x40, 0x20, 0x00, 0x00, 0x00,
					 0x00, 0x00, 0x02, 0x02, 0x02, 0x65, 0x33, 0x47, 0x04, 0x00};
	static struct written in, out;
	struct ctx_exp_heap_coder *coder = NULL;
	const struct ctx_exp_heap_lasting *lasting;
	struct ctx_buf bytes = {0};

	(void)state;
	in.n = 0;
	put(&in, MALLOC, 0, 0x10000, 0);
	put(&in, MALLOC, 0, 0x20000, 0);
	put(&in, REALLOC, 0, 0x30000, 0x10000);
	put(&in, FREE, 0, 0x50000, 0);
	in.packets[0].size = 100;
	in.packets[1].size = 50;
	in.packets[2].size = 70;
	in.packets[0].stack = 1;
	in.packets[1].stack = in.packets[2].stack = 2;
	assert_int_equal(turn_around(&in, &out, &lasting, &coder, &bytes), 3);
	assert_int_equal(bytes.n, sizeof(wanted));
	assert_memory_equal(bytes.bytes, wanted, sizeof(wanted));
	assert_int_equal(out.addresses[0].address, 1);
	assert_int_equal(out.addresses[1].address, 0x20000);
	assert_int_equal(out.addresses[2].old_address, 1);
	ctx_buf_deinit(&bytes);
	ctx_exp_heap_coder_free(coder);
}

/* Slow and obvious: an array of flags. */
static void test_heap_live__distances_lead_back_to_where_they_are_from(void **state)
{
	static struct ctx_exp_heap_live live;
	uint64_t seed = 5;
	uint32_t mark = 0;

	(void)state;
	memset(&live, 0, sizeof(live));
	while (live.n < CTX_EXP_HEAP_LIVE_MAX) {
		uint32_t i = random_below(&seed, 3) == 0 && live.n > 300
				     ? live.n - 1 - (uint32_t)random_below(&seed, 300)
				     : (uint32_t)random_below(&seed, live.n + 1),
			 found;

		if (random_below(&seed, 5) < 3 || live.n_live == 0) {
			found = live.n;
			assert_int_equal(ctx_exp_heap_live_add(&live), found);
			continue;
		}
		while (i < live.n && !ctx_exp_heap_live_has(&live, i))
			i++;
		if (i >= live.n)
			continue;
		assert_true(ctx_exp_heap_live_at(&live, mark, ctx_exp_heap_live_distance(&live, mark, i),
						 &found));
		assert_int_equal(found, i);
		if (random_below(&seed, 1000) == 0) {
			uint64_t n = 0;

			for (uint32_t k = i < mark ? i : mark; k < (i < mark ? mark : i); k++)
				n += ctx_exp_heap_live_has(&live, k);
			if (ctx_exp_heap_live_distance(&live, mark, i) != 0)
				assert_int_equal(ctx_exp_heap_live_distance(&live, mark, i),
						 i < mark ? 2 * n : 1 + 2 * n);
		}
		ctx_exp_heap_live_remove(&live, i);
		mark = i;
	}
	assert_false(ctx_exp_heap_live_at(&live, mark, 2 * (uint64_t)live.n_live + 1, &mark));
}

#define SLOTS 3000u

/* Addresses are reused at random, also those in use, and what is not there is freed. */
static void make(struct written *out, uint64_t seed, size_t n)
{
	out->n = 0;
	while (out->n < n) {
		uint32_t thread = (uint32_t)random_below(&seed, 3), kind = (uint32_t)random_below(&seed, 20);
		uint64_t address = (0x10000 + random_below(&seed, SLOTS)) * 16;
		uint64_t other = (0x10000 + random_below(&seed, SLOTS)) * 16;
		struct ctx_exp_packet *packet = &out->packets[out->n];

		if (kind < 8)
			put(out, MALLOC, thread, kind != 7 ? address : 0, 0);
		else if (kind < 15)
			put(out, FREE, thread, address, 0);
		else if (kind < 19)
			put(out, REALLOC, thread, kind != 18 ? address : 0, other);
		else
			put(out, MAP + (unsigned)random_below(&seed, 2), thread,
			    random_below(&seed, 1u << 30), 0);
		packet->time_ns = out->n > 1 ? packet[-1].time_ns + random_below(&seed, 9000) : 7;
		if (packet->operation == FREE)
			continue;
		packet->size = random_below(&seed, 4) == 0 ? UINT64_C(1) << random_below(&seed, 57) : 24;
		packet->stack = 1 + (uint32_t)random_below(&seed, random_below(&seed, 9) == 0 ? 100000 : 40);
	}
}

/* The number of the operation whose allocation the address, or what stands for it, is; by those that came before. */
static int64_t find(const struct written *all, size_t at, uint64_t address)
{
	while (at-- > 0) {
		unsigned operation = all->packets[at].operation;

		if ((operation == MALLOC || operation == REALLOC) && all->addresses[at].address == address)
			return (int64_t)at;
	}
	return -1;
}

static void check_same(const struct written *in, const struct written *out)
{
	for (size_t i = 0; i < in->n; i++) {
		const struct ctx_exp_packet *a = &in->packets[i], *b = &out->packets[i];
		const struct ctx_exp_heap_addresses *x = &in->addresses[i], *y = &out->addresses[i];

		assert_int_equal(a->operation, b->operation);
		assert_int_equal(a->thread, b->thread);
		assert_int_equal(a->size, b->size);
		assert_int_equal(a->stack, b->stack);
		assert_in_range(a->time_ns - b->time_ns, 0, 16383);
		assert_int_equal(x->address != 0, y->address != 0);
		if (y->address > CTX_EXP_HEAP_MAX)
			assert_int_equal(x->address, y->address);
		if (y->old_address > CTX_EXP_HEAP_MAX)
			assert_int_equal(x->old_address, y->old_address);
		/* A number leads to the allocation that the address was the last one to have. */
		if (a->operation == FREE && y->address <= CTX_EXP_HEAP_MAX)
			assert_int_equal(find(in, i, x->address), find(out, i, y->address));
		if (a->operation == REALLOC && y->old_address != 0 && y->old_address <= CTX_EXP_HEAP_MAX)
			assert_int_equal(find(in, i, x->old_address), find(out, i, y->old_address));
	}
}

static void test_heap_code__what_is_encoded_comes_back(void **state)
{
	static const size_t sizes[] = {1, 2, 3, 63, 64, 65, 1000, 4000};
	static struct written in, out;
	struct ctx_exp_heap_coder *coder = NULL;
	const struct ctx_exp_heap_lasting *lasting;
	struct ctx_buf bytes = {0};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(sizes); i++) {
		size_t n, n_long = 0;

		make(&in, i + 1, sizes[i]);
		n = turn_around(&in, &out, &lasting, &coder, &bytes);
		check_same(&in, &out);
		/* What lasts are all operations with a true address, and the same. */
		for (size_t k = 0; k < n; k++) {
			const struct ctx_exp_heap_lasting *operation = &lasting[k];
			const struct ctx_exp_heap_addresses *at = &out.addresses[lasting[k].place];

			assert_int_equal(operation->operation, out.packets[lasting[k].place].operation);
			if (operation->address != 0)
				assert_int_equal(operation->address, at->address);
			if (operation->old_address != 0)
				assert_int_equal(operation->old_address, at->old_address);
		}
		for (size_t k = 0; k < sizes[i]; k++)
			n_long += out.addresses[k].address > CTX_EXP_HEAP_MAX ||
				  out.addresses[k].old_address > CTX_EXP_HEAP_MAX ||
				  out.packets[k].operation >= MAP;
		assert_int_equal(n, n_long);
	}
	ctx_buf_deinit(&bytes);
	ctx_exp_heap_coder_free(coder);
}

/* An allocation that is like no other. */
static void put_new(struct written *out)
{
	size_t i = out->n;

	put(out, MALLOC, UINT32_MAX - 1 - (uint32_t)i % 2 * (UINT32_MAX - 2), (i * 7919 + 4096) << 40, 0);
	out->packets[i].stack = (uint32_t)(i * 2654435761u) | 1;
	out->packets[i].size = CTX_TRACED_WEIGHT_MAX - i;
	out->packets[i].time_ns = i << 30;
}

/* Full blocks, all of whose stacks and sizes are new; and one of a loop, which takes next to nothing. */
static void test_heap_code__the_largest_block_fits(void **state)
{
	static struct written in, out;
	struct ctx_exp_heap_coder *coder = NULL;
	const struct ctx_exp_heap_lasting *lasting;
	struct ctx_compressor compressor = {0};
	struct ctx_buf bytes = {0}, packed = {0};

	(void)state;
	in.n = 0;
	for (size_t n = CTX_EXP_HEAP_FEW;; n = CTX_EXP_HEAP_MAX) {
		while (in.n < n)
			put_new(&in);
		assert_int_equal(turn_around(&in, &out, &lasting, &coder, &bytes), n);
		check_same(&in, &out);
		if (n == CTX_EXP_HEAP_MAX)
			break;
		assert_in_range(bytes.n, 1, CTX_EXP_RAW_MAX);
	}
	for (in.n = 0; in.n < CTX_EXP_HEAP_MAX - 1;) {
		put(&in, MALLOC, 1, 0x10000, 0);
		put(&in, FREE, 1, 0x10000, 0);
	}
	assert_int_equal(turn_around(&in, &out, &lasting, &coder, &bytes), 0);
	assert_int_equal(
		ctx_compress(&compressor, 3, (struct ctx_bytes){bytes.bytes, bytes.n}, &packed, NULL),
		CTX_OK);
	assert_in_range(packed.n, 1, 600);
	ctx_buf_deinit(&bytes);
	ctx_buf_deinit(&packed);
	ctx_compressor_deinit(&compressor);
	ctx_exp_heap_coder_free(coder);
}

/* A reallocation by another thread may be of an older block at the same address: neither is taken for sure. */
static void test_heap_code__what_another_thread_reallocates_keeps_its_address(void **state)
{
	static struct written in, out;
	struct ctx_exp_heap_coder *coder = NULL;
	const struct ctx_exp_heap_lasting *lasting;
	struct ctx_buf bytes = {0};

	(void)state;
	in.n = 0;
	put(&in, MALLOC, 1, 0x20000, 0);
	put(&in, REALLOC, 2, 0x40000, 0x20000);
	put(&in, FREE, 1, 0x20000, 0);
	put(&in, FREE, 1, 0x40000, 0);
	assert_int_equal(turn_around(&in, &out, &lasting, &coder, &bytes), 3);
	assert_int_equal(out.addresses[0].address, 0x20000);
	assert_int_equal(out.addresses[1].old_address, 0x20000);
	assert_int_equal(out.addresses[2].address, 0x20000);
	assert_int_equal(out.addresses[3].address, out.addresses[1].address);
	assert_int_equal(lasting[1].address, 0);
	ctx_buf_deinit(&bytes);
	ctx_exp_heap_coder_free(coder);
}

/* Older recorders wrote the streams of all threads in order of time. */
static void test_heap_code__threads_in_order_of_time_are_read(void **state)
{
	/* Thread 0 and 1 allocate 100 bytes with the same stack, thread 0 frees its block. */
	static const uint8_t payload[] = {13, 1,    1,	  0,	0, 3, 0, 2,  1,	  1, 2, 6, 0, 0, 4, 0, 2,
					  2,  0x80, 0x80, 0x01, 0, 1, 0, 10, 101, 0, 1, 0, 1, 2, 1, 1};
	static struct ctx_exp_packet packets[3];
	static struct ctx_exp_heap_addresses addresses[3];
	const struct ctx_exp_heap_block block = {.packets = packets, .addresses = addresses, .n = 3};
	struct ctx_exp_heap_coder *coder = NULL;

	(void)state;
	assert_int_equal(
		ctx_exp_heap_decode(&coder, (struct ctx_bytes){payload, sizeof(payload)}, &block, NULL),
		CTX_OK);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(packets[i].thread, i % 2);
		assert_int_equal(packets[i].operation, i == 2 ? FREE : MALLOC);
		assert_int_equal(packets[i].size, i == 2 ? 0 : 100);
		assert_int_equal(packets[i].stack, i == 2 ? 0 : 5);
	}
	assert_int_equal(addresses[0].address, 1);
	assert_int_equal(addresses[1].address, 0x20000);
	assert_int_equal(addresses[2].address, 1);
	ctx_exp_heap_coder_free(coder);
}

/* Three threads that do the same, in turn or one after the other: the order costs what it says. */
static size_t packed_bytes(bool in_turn, struct ctx_exp_heap_coder **coder)
{
	static struct written in, out;
	struct ctx_compressor compressor = {0};
	struct ctx_buf bytes = {0}, packed = {0};
	const struct ctx_exp_heap_lasting *lasting;
	uint64_t steps[3] = {0}, seed = 4;
	size_t n;

	in.n = 0;
	while (in.n < 30000) {
		uint32_t thread = in_turn ? (uint32_t)random_below(&seed, 3) : (uint32_t)(in.n / 10000);
		uint64_t address = 0x100000 * (thread + 1), size = steps[thread]++ % 10 * 7 % 4;

		put(&in, MALLOC, thread, address, 0);
		in.packets[in.n - 1].size = 100 + size;
		in.packets[in.n - 1].stack = 1 + (uint32_t)size + 4 * thread;
		put(&in, FREE, thread, address, 0);
	}
	assert_int_equal(turn_around(&in, &out, &lasting, coder, &bytes), 0);
	check_same(&in, &out);
	assert_int_equal(
		ctx_compress(&compressor, 3, (struct ctx_bytes){bytes.bytes, bytes.n}, &packed, NULL),
		CTX_OK);
	n = packed.n;
	ctx_buf_deinit(&bytes);
	ctx_buf_deinit(&packed);
	ctx_compressor_deinit(&compressor);
	return n;
}

static void test_heap_code__threads_in_turn_take_little_more(void **state)
{
	struct ctx_exp_heap_coder *coder = NULL;
	size_t one_after_the_other = packed_bytes(false, &coder), in_turn = packed_bytes(true, &coder);

	(void)state;
	/* 15000 choices of one in three are 3000 bytes. */
	assert_in_range(in_turn, one_after_the_other, one_after_the_other + 6000);
	ctx_exp_heap_coder_free(coder);
}

/* Two operations, 2^32 - 1 + 1 ticks of 2^`tick` ns apart, in a block of 2^40 ns. */
static enum ctx_status decode_far_times(uint8_t tick, uint64_t *ret_ns)
{
	const uint8_t payload[] = {
		13, 0, 0, 0, 0, 2, 0, 2, 2, 1, 2, 2, 1,	   5,	 4,    tick, /* lengths, shifts */
		2,  2, 0, 0, 0, 1, 2, 1, 0, 2, 0, 1, 0xff, 0xff, 0xff, 0xff, 0x0f};
	struct ctx_exp_packet packets[2];
	struct ctx_exp_heap_addresses addresses[2];
	const struct ctx_exp_heap_block block = {
		.packets = packets, .addresses = addresses, .n = 2, .last_ns = UINT64_C(1) << 40};
	struct ctx_exp_heap_coder *coder = NULL;
	enum ctx_status status =
		ctx_exp_heap_decode(&coder, (struct ctx_bytes){payload, sizeof(payload)}, &block, NULL);

	*ret_ns = status == CTX_OK ? packets[1].time_ns : 0;
	ctx_exp_heap_coder_free(coder);
	return status;
}

static void test_heap_code__times_beyond_the_block_are_refused(void **state)
{
	uint64_t time_ns;

	(void)state;
	assert_int_equal(decode_far_times(8, &time_ns), CTX_OK);
	assert_int_equal(time_ns, UINT64_C(1) << 40);
	assert_int_equal(decode_far_times(9, &time_ns), CTX_E_FORMAT);
	assert_int_equal(decode_far_times(32, &time_ns), CTX_E_FORMAT); /* 2^64 ns */
}

/* Three stacks that begin alike, and one below a node of an earlier block, as kind 2. */
static const uint8_t few_stacks[] = {0x28, 0x00, 0x03, 0x80, 0xc0, 0x80, 0x04, 0xa0, 0x40, 0xa0, 0x40, 0x28,
				     0x01, 0x00, 0x29, 0x02, 0x9f, 0x40, 0xe0, 0xbf, 0xff, 0xfb, 0xff, 0xbf,
				     0x3f, 0x07, 0x01, 0xff, 0xff, 0xff, 0xfb, 0xff, 0xbf, 0x3f};

static void test_packed_frames__of_older_recorders_are_read(void **state)
{
	static const uint8_t packed[] = {0x28, 0x04, 0x04, 0x07, 0x0f, 0x28, 0x03, 0x03, 0x27,
					 0x03, 0x01, 0x02, 0x01, 0x00, 0x00, 0x00, 0x03, 0x02,
					 0x00, 0x01, 0x80, 0xc0, 0x80, 0x04, 0xa0, 0x40, 0xa0,
					 0x40, 0xc0, 0xff, 0xfe, 0xfb, 0xff, 0xbf, 0x3f};
	struct ctx_buf raw = {0};

	(void)state;
	assert_int_equal(ctx_exp_unpack_frames((struct ctx_bytes){packed, sizeof(packed)}, &raw, NULL),
			 CTX_OK);
	assert_int_equal(raw.n, sizeof(few_stacks));
	assert_memory_equal(raw.bytes, few_stacks, sizeof(few_stacks));
	for (size_t n = 0; n < sizeof(packed); n++)
		assert_int_equal(ctx_exp_unpack_frames((struct ctx_bytes){packed, n}, &raw, NULL),
				 CTX_E_FORMAT);
	ctx_buf_deinit(&raw);
}

/* docs/experiment-format.md, section 7. */
static void test_calls__bytes_are_those_of_the_documentation(void **state)
{
	static const uint8_t wanted[] = {0x28, 0x04, 0x03, 0x04, 0x07, 0x02, 0x07, 0x08, 0x00, 0x03, 0x00,
					 0x00, 0x28, 0x03, 0x27, 0x03, 0x01, 0x02, 0x01, 0x00, 0x00, 0x00,
					 0x01, 0x01, 0x00, 0x02, 0x03, 0x02, 0xe0, 0xbf, 0xff, 0xfb, 0xff,
					 0xbf, 0x3f, 0x80, 0xc0, 0x80, 0x04, 0xa0, 0x40, 0xa0, 0x40};
	struct ctx_buf packed = {0};
	size_t ends[CTX_EXP_CALLS_STREAMS + 1];

	(void)state;
	assert_int_equal(
		ctx_exp_pack_calls((struct ctx_bytes){few_stacks, sizeof(few_stacks)}, &packed, ends, NULL),
		CTX_OK);
	assert_int_equal(packed.n, sizeof(wanted));
	assert_memory_equal(packed.bytes, wanted, sizeof(wanted));
	ctx_buf_deinit(&packed);
}

/* Stacks of random functions, which call some others again and again. */
static void make_stacks(struct ctx_buf *out, uint64_t seed, uint32_t first, int n)
{
	uint64_t address = 0;
	uint32_t id = first;

	ctx_buf_clear(out);
	ctx_buf_put_varint(out, id);
	for (int i = 0; i < n; i++) {
		uint32_t k = 1 + (uint32_t)random_below(&seed, 5);
		uint64_t back = random_below(&seed, 3) != 0 ? 1 + random_below(&seed, 4)
							    : 1 + random_below(&seed, id);

		ctx_buf_put_varint(out, back <= id ? id - back : 0);
		ctx_buf_put_varint(out, k);
		for (id += k; k != 0; k--) {
			uint64_t next = UINT64_C(0x7f0000000000) +
					(address / 256 % 64 * 3 + random_below(&seed, 12)) % 64 * 256 +
					random_below(&seed, 4);

			if (random_below(&seed, 50) == 0)
				next = random_of(&seed) << 33;
			ctx_buf_put_zigzag(out, (int64_t)(next - address));
			address = next;
		}
	}
}

static void test_calls__come_back_and_are_refused_when_cut(void **state)
{
	struct ctx_buf raw = {0}, packed = {0}, again = {0};
	size_t ends[CTX_EXP_CALLS_STREAMS + 1];

	(void)state;
	for (uint64_t seed = 1; seed < 40; seed++) {
		make_stacks(&raw, seed, seed % 3 == 0 ? 1 : 40, (int)(seed * seed));
		ctx_buf_clear(&packed);
		ctx_buf_clear(&again);
		assert_int_equal(
			ctx_exp_pack_calls((struct ctx_bytes){raw.bytes, raw.n}, &packed, ends, NULL),
			CTX_OK);
		assert_int_equal(ends[CTX_EXP_CALLS_STREAMS], packed.n);
		assert_int_equal(
			ctx_exp_unpack_calls((struct ctx_bytes){packed.bytes, packed.n}, &again, NULL),
			CTX_OK);
		assert_int_equal(again.n, raw.n);
		assert_memory_equal(again.bytes, raw.bytes, raw.n);
	}
	for (size_t n = 0; n < packed.n; n += 1 + n / 40) {
		ctx_buf_clear(&again);
		assert_int_equal(ctx_exp_unpack_calls((struct ctx_bytes){packed.bytes, n}, &again, NULL),
				 CTX_E_FORMAT);
	}
	ctx_buf_deinit(&raw);
	ctx_buf_deinit(&packed);
	ctx_buf_deinit(&again);
}

/* One record of one node: its stream values. */
static enum ctx_status unpack_one(uint8_t route, uint8_t prefix, uint8_t length, uint8_t call)
{
	const uint8_t packed[] = {1, 1, 1, 1, 1, 1, 1, 1, route, prefix, length, call, 1, 2, 2};
	struct ctx_buf out = {0};
	enum ctx_status status = ctx_exp_unpack_calls((struct ctx_bytes){packed, sizeof(packed)}, &out, NULL);

	ctx_buf_deinit(&out);
	return status;
}

static void test_calls__that_make_no_sense_are_refused(void **state)
{
	(void)state;
	assert_int_equal(unpack_one(1, 0, 1, 0), CTX_OK);
	assert_int_equal(unpack_one(0, 1, 1, 0), CTX_OK);
	assert_int_equal(unpack_one(2, 0, 1, 0), CTX_E_FORMAT); /* above what is known */
	assert_int_equal(unpack_one(0, 0, 1, 0), CTX_E_FORMAT); /* below itself */
	assert_int_equal(unpack_one(0, 2, 1, 0), CTX_E_FORMAT); /* before all ids */
	assert_int_equal(unpack_one(1, 0, 0, 0), CTX_E_FORMAT); /* no node */
	assert_int_equal(unpack_one(1, 0, 2, 0), CTX_E_FORMAT); /* more than there are */
	assert_int_equal(unpack_one(1, 0, 1, 1), CTX_E_FORMAT); /* no such address, */
	assert_int_equal(unpack_one(1, 0, 1, 2), CTX_E_FORMAT); /* or follower */
	assert_int_equal(unpack_one(1, 0, 1, 10), CTX_E_FORMAT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_heap_code__bytes_are_those_of_the_documentation),
		cmocka_unit_test(test_heap_live__distances_lead_back_to_where_they_are_from),
		cmocka_unit_test(test_heap_code__what_is_encoded_comes_back),
		cmocka_unit_test(test_heap_code__the_largest_block_fits),
		cmocka_unit_test(test_heap_code__what_another_thread_reallocates_keeps_its_address),
		cmocka_unit_test(test_heap_code__threads_in_order_of_time_are_read),
		cmocka_unit_test(test_heap_code__threads_in_turn_take_little_more),
		cmocka_unit_test(test_heap_code__times_beyond_the_block_are_refused),
		cmocka_unit_test(test_packed_frames__of_older_recorders_are_read),
		cmocka_unit_test(test_calls__bytes_are_those_of_the_documentation),
		cmocka_unit_test(test_calls__come_back_and_are_refused_when_cut),
		cmocka_unit_test(test_calls__that_make_no_sense_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
