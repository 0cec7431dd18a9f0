/*
 *	RUNS		of every operation but an allocation: allocations since the last such one
 *	FREES		of each of them: 0, see KINDS; else what is freed, a distance in living ones, plus 1
 *	KINDS		of each 0: operation << 2 | returned nothing << 1 | something of this block is freed
 *	OLDER		addresses of what is freed and is not of this block
 *	ADDRESSES	of allocations that are not freed in this block
 *	MAPPINGS	address and size of each
 *	STACKS		of each operation with a stack: which of those that followed on the thread's last one, or 0
 *	OTHER_STACKS	of each 0: number of the stack in this block, or 0: a new one
 *	NEW_STACKS	difference of its id to that of the new one before
 *	SIZES		0: as the last one of this stack; else the size, plus 1
 *	THREADS		runs of operations of one thread: number of them, difference of the thread to the one before
 *	SAME_TIMES	operations before the next tick that has any
 *	TIMES		ticks to it, minus 1
 *
 * Where a block has several threads, RUNS, FREES, STACKS, OTHER_STACKS, SIZES and THREADS are empty, and in their
 * place are
 *
 *	THREAD_RUNS	of each run of operations of one thread: number of them
 *	THREAD_CHANGES	of each: difference of the thread to the one before
 *	OWN_LENGTHS	see exp_heap_threads.h
 *	OWN_RUNS ...	the others, thread by thread; a run is of allocations of the thread
 *
 * Decoding is in exp_heap_decode.c.
 */
#include "formats/experiment/exp_heap_code.h"

#include "base/map64.h"
#include "base/mem.h"
#include "formats/experiment/exp_heap_coder.h"
#include "formats/experiment/exp_streams.h"

#include <stdlib.h>

#define TICK_MAX 14u	       /* 2^14 ns */
#define OPERATIONS_OF_TICK 32u /* about, where there are so many; so ticks are finer then */
#define ADDRESS_UNIT_MAX (UINT64_C(1) << 12)

void ctx_exp_heap_coder_free(struct ctx_exp_heap_coder *coder)
{
	if (coder == NULL)
		return;
	for (size_t i = 0; i < CTX_EXP_HEAP_STREAMS; i++)
		ctx_buf_deinit(&coder->streams[i]);
	ctx_exp_heap_own_deinit(coder->own);
	free(coder);
}

enum ctx_status ctx_exp_heap_begin(struct ctx_exp_heap_coder **coder, struct ctx_err *err)
{
	if (*coder == NULL)
		*coder = ctx_calloc(1, sizeof(**coder));
	if (*coder == NULL)
		return ctx_err_nomem(err);
	memset(&(*coder)->live, 0, sizeof((*coder)->live));
	memset((*coder)->marks, 0, sizeof((*coder)->marks));
	(*coder)->n_older = 0;
	(*coder)->stacks.n = (*coder)->stacks.last_new = 0;
	memset((*coder)->stacks.last_of_thread, 0, sizeof((*coder)->stacks.last_of_thread));
	memset((*coder)->stacks.followers[0], 0, sizeof((*coder)->stacks.followers[0]));
	for (size_t i = 0; i < CTX_EXP_HEAP_STREAMS; i++)
		ctx_buf_clear(&(*coder)->streams[i]);
	return CTX_OK;
}

static struct ctx_buf *own_stream(struct ctx_exp_heap_coder *coder, uint32_t thread, enum own which)
{
	return &coder->own[thread % CTX_EXP_HEAP_SLOTS].streams[which];
}

static struct stack_slot *find_stack(struct ctx_exp_heap_coder *coder, uint32_t id)
{
	uint32_t i = (uint32_t)(ctx_hash64(id) >> 40) & coder->stack_mask;

	while (coder->stack_slots[i].number != 0 && coder->stack_slots[i].id != id)
		i = (i + 1) & coder->stack_mask;
	return &coder->stack_slots[i];
}

/* Twice as many slots, before more than half of them are in use. */
static void grow_stacks(struct ctx_exp_heap_coder *coder)
{
	coder->stack_mask = 2 * coder->stack_mask + 1;
	memset(coder->stack_slots, 0, ((size_t)coder->stack_mask + 1) * sizeof(*coder->stack_slots));
	for (uint32_t number = 1; number <= coder->stacks.n; number++) {
		uint32_t id = coder->stacks.ids[number];

		*find_stack(coder, id) = (struct stack_slot){id, number};
	}
}

/* The number of the stack. */
static uint32_t put_stack(struct ctx_exp_heap_coder *coder, uint32_t id, uint32_t thread)
{
	struct stacks *stacks = &coder->stacks;
	uint32_t *last = &stacks->last_of_thread[thread % THREADS_KEPT];
	uint32_t *followers = stacks->followers[*last];
	struct stack_slot *slot = find_stack(coder, id);
	uint32_t number = slot->number, at = 0;
	bool is_new = number == 0;

	if (is_new) {
		number = add_stack(stacks, id);
		*slot = (struct stack_slot){id, number};
		if (stacks->n > coder->stack_mask / 2)
			grow_stacks(coder);
	}
	while (at < FOLLOWERS && followers[at] != number)
		at++;
	ctx_buf_put_varint(own_stream(coder, thread, STACK), at < FOLLOWERS ? at + 1 : 0);
	if (at == FOLLOWERS)
		ctx_buf_put_varint(own_stream(coder, thread, OTHER_STACK), is_new ? 0 : number);
	if (is_new) {
		ctx_buf_put_zigzag(&coder->streams[NEW_STACKS], (int64_t)id - (int64_t)stacks->last_new);
		stacks->last_new = id;
	}
	follow(followers, number, at);
	*last = number;
	return number;
}

static void put_size(struct ctx_exp_heap_coder *coder, uint32_t stack, const struct ctx_exp_packet *packet)
{
	uint64_t *last = &coder->stacks.sizes[stack];

	ctx_buf_put_varint(own_stream(coder, packet->thread, SIZE),
			   *last == packet->size ? 0 : packet->size + 1);
	*last = packet->size;
}

static struct address_slot *find_address(struct ctx_exp_heap_coder *coder, uint64_t address)
{
	uint32_t i = (uint32_t)(ctx_hash64(address) >> 40) & coder->slot_mask;

	while (coder->slots[i].address != 0 && coder->slots[i].address != address)
		i = (i + 1) & coder->slot_mask;
	return &coder->slots[i];
}

/* Twice as many slots, before more than half of them are in use. The old ones are copied behind the new ones. */
static void grow_addresses(struct ctx_exp_heap_coder *coder)
{
	size_t n = (size_t)coder->slot_mask + 1;
	struct address_slot *old = coder->slots + 2 * n;

	memcpy(old, coder->slots, n * sizeof(*old));
	memset(coder->slots, 0, 2 * n * sizeof(*old));
	coder->slot_mask = (uint32_t)(2 * n - 1);
	for (size_t i = 0; i < n; i++) {
		if (old[i].address != 0)
			*find_address(coder, old[i].address) = old[i];
	}
}

/*
 * An allocation at an address where one lives: a release was not recorded, or will be (a reallocation has the
 * time of its end). Both keep their addresses, and so does all else at this address: the reader, who knows all
 * blocks, finds out. Where addresses are to be kept this is so of all.
 */
static void allocate(struct ctx_exp_heap_coder *coder, const struct ctx_exp_heap_block *block,
		     uint64_t address, uint32_t thread)
{
	struct address_slot *slot = find_address(coder, address);
	bool again = block->keeps_addresses || (slot->address != 0 && slot->number != NO_NUMBER);
	uint32_t number = ctx_exp_heap_live_add(&coder->live);

	coder->addresses[number] = address;
	coder->n_slots += slot->address == 0;
	*slot = (struct address_slot){
		.address = address, .number = again ? UNCLEAR : number, .thread = thread};
	if (coder->n_slots > coder->slot_mask / 2)
		grow_addresses(coder);
}

/*
 * The living allocation of this block at an address; NO_NUMBER: none. What another thread reallocates is
 * none: it may have been one of an earlier block, whose address this thread has got already.
 */
static uint32_t release(struct ctx_exp_heap_coder *coder, const struct ctx_exp_packet *packet,
			uint64_t address)
{
	struct address_slot *slot = find_address(coder, address);
	uint32_t number = slot->address != 0 ? slot->number : NO_NUMBER;

	if (number == NO_NUMBER || number == UNCLEAR)
		return NO_NUMBER;
	slot->number = NO_NUMBER;
	if (packet->operation == CTX_HEAP_REALLOCATE && slot->thread != packet->thread) {
		slot->number = UNCLEAR;
		return NO_NUMBER;
	}
	return number;
}

/* What the operation frees. */
static void put_free(struct ctx_exp_heap_coder *coder, const struct ctx_exp_packet *packet,
		     const struct ctx_exp_heap_addresses *at)
{
	uint64_t address = packet->operation == CTX_HEAP_FREE ? at->address : at->old_address;
	bool frees = packet->operation == CTX_HEAP_FREE || packet->operation == CTX_HEAP_REALLOCATE;
	uint32_t number = frees ? release(coder, packet, address) : NO_NUMBER;
	uint32_t *mark = &coder->marks[packet->thread % THREADS_KEPT];
	uint32_t nothing = packet->operation != CTX_HEAP_FREE && at->address == 0;
	struct ctx_buf *tokens = own_stream(coder, packet->thread, FREE);

	if (packet->operation != CTX_HEAP_FREE || number == NO_NUMBER) {
		ctx_buf_put_varint(tokens, 0);
		ctx_buf_put_varint(&coder->streams[KINDS],
				   (uint64_t)packet->operation << 2 | nothing << 1 | (number != NO_NUMBER));
	}
	if (number != NO_NUMBER) {
		ctx_buf_put_varint(tokens, 1 + ctx_exp_heap_live_distance(&coder->live, *mark, number));
		ctx_exp_heap_live_remove(&coder->live, number);
		*mark = number;
	} else if (frees) {
		coder->older[coder->n_older++] = address;
	}
}

/* All but times and threads. */
static void put_operations(struct ctx_exp_heap_coder *coder, const struct ctx_exp_heap_block *block)
{
	uint32_t runs[CTX_EXP_HEAP_SLOTS] = {0};
	uint64_t mapping = 0;

	for (size_t i = 0; i < block->n; i++) {
		const struct ctx_exp_packet *packet = &block->packets[i];
		const struct ctx_exp_heap_addresses *at = &block->addresses[i];
		uint32_t stack = 0, *run = &runs[packet->thread % CTX_EXP_HEAP_SLOTS];

		if (packet->operation == CTX_HEAP_ALLOCATE && at->address != 0) {
			++*run;
		} else {
			ctx_buf_put_varint(own_stream(coder, packet->thread, RUN), *run);
			*run = 0;
			put_free(coder, packet, at);
		}
		if (packet->operation == CTX_HEAP_FREE)
			continue;
		stack = put_stack(coder, packet->stack, packet->thread);
		if (is_mapping(packet->operation)) {
			ctx_buf_put_zigzag(&coder->streams[MAPPINGS], (int64_t)(at->address - mapping));
			ctx_buf_put_varint(&coder->streams[MAPPINGS], packet->size);
			mapping = at->address;
			continue;
		}
		put_size(coder, stack, packet);
		if (at->address != 0)
			allocate(coder, block, at->address, packet->thread);
	}
}

/* All of them have the thread of the first one. */
static bool has_one_thread(const struct ctx_exp_heap_block *block)
{
	size_t i = 1;

	while (i < block->n && block->packets[i].thread == block->packets[0].thread)
		i++;
	return i == block->n;
}

static void put_threads(struct ctx_exp_heap_coder *coder, const struct ctx_exp_heap_block *block, bool is_one)
{
	struct ctx_buf *runs = &coder->streams[is_one ? THREADS : THREAD_RUNS];
	struct ctx_buf *changes = &coder->streams[is_one ? THREADS : THREAD_CHANGES];
	uint32_t last = 0;

	for (size_t i = 0, begin; i < block->n;) {
		uint32_t thread = block->packets[i].thread;

		for (begin = i; i < block->n && block->packets[i].thread == thread;)
			i++;
		ctx_buf_put_varint(runs, i - begin);
		ctx_buf_put_zigzag(changes, (int64_t)thread - (int64_t)last);
		last = thread;
	}
}

/* The streams of the only thread are those of the block. */
static void put_own_of(struct ctx_exp_heap_coder *coder, uint32_t thread)
{
	for (unsigned i = 0; i < CTX_EXP_HEAP_OWN; i++) {
		struct ctx_buf *own = own_stream(coder, thread, (enum own)i),
			       empty = coder->streams[common[i]];

		coder->streams[common[i]] = *own;
		*own = empty;
	}
}

static unsigned choose_tick(const struct ctx_exp_heap_block *block)
{
	uint64_t span_ns = block->packets[block->n - 1].time_ns - block->packets[0].time_ns;
	unsigned tick = 0;

	while (!block->keeps_addresses && tick < TICK_MAX &&
	       ((uint64_t)block->n << tick) / OPERATIONS_OF_TICK < span_ns)
		tick++;
	return tick;
}

static void put_times(struct ctx_exp_heap_coder *coder, const struct ctx_exp_heap_block *block, unsigned tick)
{
	uint64_t first = block->packets[0].time_ns, last = 0;
	size_t begin = 0;

	for (size_t i = 0; i < block->n; i++) {
		uint64_t now = (block->packets[i].time_ns - first) >> tick;

		if (now == last)
			continue;
		ctx_buf_put_varint(&coder->streams[SAME_TIMES], i - begin);
		ctx_buf_put_varint(&coder->streams[TIMES], now - last - 1);
		begin = i;
		last = now;
	}
}

static void put_differences(struct ctx_buf *out, const uint64_t *addresses, size_t n, unsigned shift)
{
	uint64_t last = 0;

	for (size_t i = 0; i < n; i++) {
		ctx_buf_put_zigzag(out, (int64_t)((addresses[i] >> shift) - (last >> shift)));
		last = addresses[i];
	}
}

/* Moves those that live to the front of coder->addresses. */
static size_t keep_living(struct ctx_exp_heap_coder *coder)
{
	size_t n = 0;

	for (uint32_t word = 0; word * 64 < coder->live.n; word++) {
		for (uint64_t set = coder->live.words[word]; set != 0; set &= set - 1)
			coder->addresses[n++] = coder->addresses[word * 64 + (uint32_t)__builtin_ctzll(set)];
	}
	return n;
}

/* Both lists of addresses; returns by how many bits they are shifted, since all are aligned. */
static unsigned put_addresses(struct ctx_exp_heap_coder *coder)
{
	size_t n_living = keep_living(coder);
	uint64_t all = ADDRESS_UNIT_MAX;
	unsigned shift;

	for (size_t i = 0; i < n_living; i++)
		all |= coder->addresses[i];
	for (size_t i = 0; i < coder->n_older; i++)
		all |= coder->older[i];
	shift = (unsigned)__builtin_ctzll(all);
	put_differences(&coder->streams[ADDRESSES], coder->addresses, n_living, shift);
	put_differences(&coder->streams[OLDER], coder->older, coder->n_older, shift);
	return shift;
}

enum ctx_status ctx_exp_heap_encode(struct ctx_exp_heap_coder **made, const struct ctx_exp_heap_block *block,
				    struct ctx_buf *out, struct ctx_exp_heap_parts *ret, struct ctx_err *err)
{
	enum ctx_status status = ctx_exp_heap_begin(made, err);
	struct ctx_exp_heap_coder *coder = *made;
	unsigned tick = choose_tick(block), shift;
	bool is_one = has_one_thread(block);
	size_t n = is_one ? COMMON_STREAMS : CTX_EXP_HEAP_STREAMS;

	if (status != CTX_OK)
		return status;
	coder->stack_mask = coder->slot_mask = SLOTS_MIN - 1;
	coder->n_slots = 0;
	memset(coder->stack_slots, 0, SLOTS_MIN * sizeof(*coder->stack_slots));
	memset(coder->slots, 0, SLOTS_MIN * sizeof(*coder->slots));
	ctx_exp_heap_own_clear(coder->own);
	put_operations(coder, block);
	put_threads(coder, block, is_one);
	if (is_one)
		put_own_of(coder, block->packets[0].thread);
	else
		ctx_exp_heap_join(coder->own, &coder->streams[OWN_LENGTHS], &coder->streams[OWN_STREAMS]);
	put_times(coder, block, tick);
	shift = put_addresses(coder);
	ctx_buf_put_varint(out, n);
	ctx_exp_put_lengths(coder->streams, n, out);
	ctx_buf_put_varint(out, shift);
	ctx_buf_put_varint(out, tick);
	ret->n = n + 1;
	return ctx_exp_put_streams(coder->streams, n, out, ret->ends, err);
}
