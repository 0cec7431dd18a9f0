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
 * Encoding and decoding go through the same states: what lives (struct ctx_exp_heap_live) and which stacks
 * followed on which (struct stacks).
 */
#include "formats/experiment/exp_heap_code.h"

#include "base/map64.h"
#include "base/mem.h"
#include "formats/experiment/exp_streams.h"

#include <stdlib.h>
#include <string.h>

enum stream {
	RUNS,
	FREES,
	KINDS,
	OLDER,
	ADDRESSES,
	MAPPINGS,
	STACKS,
	OTHER_STACKS,
	NEW_STACKS,
	SIZES,
	THREADS,
	SAME_TIMES,
	TIMES,
};
_Static_assert(TIMES + 1 == CTX_EXP_HEAP_STREAMS, "all of them");

#define THREADS_KEPT 64u /* marks and stacks are by number of the thread, modulo this */
#define FOLLOWERS 8u
#define NO_SIZE UINT64_MAX
#define NO_NUMBER UINT32_MAX
#define TICK_MAX 13u	      /* 2^13 ns */
#define OPERATIONS_OF_TICK 8u /* about, where there are so many; so ticks are finer then */
#define ADDRESS_UNIT_MAX (UINT64_C(1) << 12)
#define SLOTS_MAX (2 * CTX_EXP_HEAP_LIVE_MAX)

struct stacks {
	uint32_t n; /* numbers 1 to n */
	uint32_t last_new;
	uint16_t last_of_thread[THREADS_KEPT];
	uint16_t followers[CTX_EXP_HEAP_MAX + 1][FOLLOWERS]; /* the last ones first */
	uint64_t sizes[CTX_EXP_HEAP_MAX + 1];
	uint32_t ids[CTX_EXP_HEAP_MAX + 1];
};

struct stack_slot { /* encoding: id -> number; 0: free */
	uint32_t id;
	uint32_t number;
};

struct address_slot {	  /* encoding */
	uint64_t address; /* 0: free */
	uint32_t number;  /* of the living allocation; NO_NUMBER: none, or two of them */
	uint32_t thread;  /* that allocated it */
	bool is_unclear;
};

/* An operation, as far as RUNS, FREES and KINDS say. */
struct step {
	uint32_t operation;
	uint32_t freed; /* number in the block; NO_NUMBER: none, or an older one */
	bool has_nothing;
};

struct ctx_exp_heap_coder {
	struct ctx_exp_heap_live live;
	uint32_t marks[THREADS_KEPT]; /* number that the thread freed last */
	struct stacks stacks;
	struct stack_slot stack_slots[SLOTS_MAX];
	struct address_slot slots[SLOTS_MAX];
	uint32_t slot_mask;
	uint64_t addresses[CTX_EXP_HEAP_MAX]; /* encoding: by number of the allocation */
	uint64_t older[CTX_EXP_HEAP_MAX];
	uint32_t n_older;
	uint32_t threads[CTX_EXP_HEAP_MAX]; /* decoding: of the operations */
	struct step steps[CTX_EXP_HEAP_MAX];
	struct ctx_exp_heap_lasting lasting[CTX_EXP_HEAP_MAX];
	struct ctx_buf streams[CTX_EXP_HEAP_STREAMS];
};

void ctx_exp_heap_coder_free(struct ctx_exp_heap_coder *coder)
{
	if (coder == NULL)
		return;
	for (size_t i = 0; i < CTX_EXP_HEAP_STREAMS; i++)
		ctx_buf_deinit(&coder->streams[i]);
	free(coder);
}

static enum ctx_status begin(struct ctx_exp_heap_coder **coder, struct ctx_err *err)
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

static bool is_mapping(unsigned operation)
{
	return operation > CTX_HEAP_REALLOCATE;
}

/* --- stacks --- */

static uint32_t add_stack(struct stacks *stacks, uint32_t id)
{
	uint32_t number = ++stacks->n;

	stacks->ids[number] = id;
	stacks->sizes[number] = NO_SIZE;
	memset(stacks->followers[number], 0, sizeof(stacks->followers[number]));
	return number;
}

/* Makes the stack the first follower; `at`: where it is, FOLLOWERS: nowhere. */
static void follow(uint16_t *followers, uint32_t number, uint32_t at)
{
	for (uint32_t i = at < FOLLOWERS ? at : FOLLOWERS - 1; i > 0; i--)
		followers[i] = followers[i - 1];
	followers[0] = (uint16_t)number;
}

/* --- encoding --- */

static struct stack_slot *find_stack(struct ctx_exp_heap_coder *coder, uint32_t id)
{
	uint32_t i = (uint32_t)(ctx_hash64(id) >> 40) & coder->slot_mask;

	while (coder->stack_slots[i].number != 0 && coder->stack_slots[i].id != id)
		i = (i + 1) & coder->slot_mask;
	return &coder->stack_slots[i];
}

/* The number of the stack. */
static uint32_t put_stack(struct ctx_exp_heap_coder *coder, uint32_t id, uint32_t thread)
{
	struct stacks *stacks = &coder->stacks;
	uint16_t *last = &stacks->last_of_thread[thread % THREADS_KEPT];
	uint16_t *followers = stacks->followers[*last];
	struct stack_slot *slot = find_stack(coder, id);
	bool is_new = slot->number == 0;
	uint32_t at = 0;

	if (is_new)
		*slot = (struct stack_slot){id, add_stack(stacks, id)};
	while (at < FOLLOWERS && followers[at] != slot->number)
		at++;
	ctx_buf_put_varint(&coder->streams[STACKS], at < FOLLOWERS ? at + 1 : 0);
	if (at == FOLLOWERS)
		ctx_buf_put_varint(&coder->streams[OTHER_STACKS], is_new ? 0 : slot->number);
	if (is_new) {
		ctx_buf_put_zigzag(&coder->streams[NEW_STACKS], (int64_t)id - (int64_t)stacks->last_new);
		stacks->last_new = id;
	}
	follow(followers, slot->number, at);
	*last = (uint16_t)slot->number;
	return slot->number;
}

static void put_size(struct ctx_exp_heap_coder *coder, uint32_t stack, uint64_t size)
{
	uint64_t *last = &coder->stacks.sizes[stack];

	ctx_buf_put_varint(&coder->streams[SIZES], *last == size ? 0 : size + 1);
	*last = size;
}

static struct address_slot *find_address(struct ctx_exp_heap_coder *coder, uint64_t address)
{
	uint32_t i = (uint32_t)(ctx_hash64(address) >> 40) & coder->slot_mask;

	while (coder->slots[i].address != 0 && coder->slots[i].address != address)
		i = (i + 1) & coder->slot_mask;
	return &coder->slots[i];
}

/*
 * An allocation at an address where one lives: a release was not recorded, or will be (a reallocation has the
 * time of its end). Both keep their addresses, and so does all else at this address: the reader, who knows all
 * blocks, finds out.
 */
static void allocate(struct ctx_exp_heap_coder *coder, uint64_t address, uint32_t thread)
{
	struct address_slot *slot = find_address(coder, address);
	bool again = slot->address != 0 && (slot->is_unclear || slot->number != NO_NUMBER);
	uint32_t number = ctx_exp_heap_live_add(&coder->live);

	coder->addresses[number] = address;
	*slot = (struct address_slot){.address = address,
				      .number = again ? NO_NUMBER : number,
				      .thread = thread,
				      .is_unclear = again};
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

	if (number == NO_NUMBER)
		return number;
	slot->number = NO_NUMBER;
	if (packet->operation == CTX_HEAP_REALLOCATE && slot->thread != packet->thread) {
		slot->is_unclear = true;
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

	if (packet->operation != CTX_HEAP_FREE || number == NO_NUMBER) {
		ctx_buf_put_varint(&coder->streams[FREES], 0);
		ctx_buf_put_varint(&coder->streams[KINDS],
				   (uint64_t)packet->operation << 2 | nothing << 1 | (number != NO_NUMBER));
	}
	if (number != NO_NUMBER) {
		ctx_buf_put_varint(&coder->streams[FREES],
				   1 + ctx_exp_heap_live_distance(&coder->live, *mark, number));
		ctx_exp_heap_live_remove(&coder->live, number);
		*mark = number;
	} else if (frees) {
		coder->older[coder->n_older++] = address;
	}
}

/* All but times and threads. */
static void put_operations(struct ctx_exp_heap_coder *coder, const struct ctx_exp_heap_block *block)
{
	uint32_t run = 0;
	uint64_t mapping = 0;

	for (size_t i = 0; i < block->n; i++) {
		const struct ctx_exp_packet *packet = &block->packets[i];
		const struct ctx_exp_heap_addresses *at = &block->addresses[packet->order];
		uint32_t stack = 0;

		if (packet->operation == CTX_HEAP_ALLOCATE && at->address != 0) {
			run++;
		} else {
			ctx_buf_put_varint(&coder->streams[RUNS], run);
			run = 0;
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
		put_size(coder, stack, packet->size);
		if (at->address != 0)
			allocate(coder, at->address, packet->thread);
	}
}

static void put_threads(struct ctx_exp_heap_coder *coder, const struct ctx_exp_heap_block *block)
{
	uint32_t last = 0;

	for (size_t i = 0, begin; i < block->n;) {
		uint32_t thread = block->packets[i].thread;

		for (begin = i; i < block->n && block->packets[i].thread == thread;)
			i++;
		ctx_buf_put_varint(&coder->streams[THREADS], i - begin);
		ctx_buf_put_zigzag(&coder->streams[THREADS], (int64_t)thread - (int64_t)last);
		last = thread;
	}
}

static unsigned choose_tick(const struct ctx_exp_heap_block *block)
{
	uint64_t span_ns = block->packets[block->n - 1].time_ns - block->packets[0].time_ns;
	unsigned tick = 0;

	while (tick < TICK_MAX && ((uint64_t)block->n << tick) / OPERATIONS_OF_TICK < span_ns)
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
	enum ctx_status status = begin(made, err);
	struct ctx_exp_heap_coder *coder = *made;
	unsigned tick = choose_tick(block), shift;
	uint32_t slots = 16;

	if (status != CTX_OK)
		return status;
	while (slots < 2 * block->n)
		slots *= 2;
	coder->slot_mask = slots - 1;
	memset(coder->stack_slots, 0, slots * sizeof(*coder->stack_slots));
	memset(coder->slots, 0, slots * sizeof(*coder->slots));
	put_operations(coder, block);
	put_threads(coder, block);
	put_times(coder, block, tick);
	shift = put_addresses(coder);
	ctx_buf_put_varint(out, CTX_EXP_HEAP_STREAMS);
	ctx_exp_put_lengths(coder->streams, CTX_EXP_HEAP_STREAMS, out);
	ctx_buf_put_varint(out, shift);
	ctx_buf_put_varint(out, tick);
	ret->n = CTX_EXP_HEAP_STREAMS + 1;
	return ctx_exp_put_streams(coder->streams, CTX_EXP_HEAP_STREAMS, out, ret->ends, err);
}

/* --- decoding --- */

struct decoding {
	struct ctx_exp_heap_coder *coder;
	struct ctx_cursor streams[CTX_EXP_HEAP_STREAMS];
	unsigned shift, tick;
	size_t n;
	size_t left; /* allocations before the next operation that is none */
	bool failed;
	uint64_t address, older, mapping; /* the last ones */
	uint32_t n_allocated;
};

static enum ctx_status begin_decoding(struct decoding *decoding, struct ctx_bytes payload,
				      struct ctx_err *err)
{
	struct ctx_cursor cursor = ctx_cursor_make(payload.at, payload.n);
	uint64_t n = ctx_cursor_get_varint(&cursor), bytes[CTX_EXP_HEAP_STREAMS] = {0};

	for (uint64_t i = 0; i < n && !cursor.failed; i++) {
		uint64_t length = ctx_cursor_get_varint(&cursor);

		if (i < CTX_EXP_HEAP_STREAMS)
			bytes[i] = length;
	}
	decoding->shift = ctx_cursor_get_varint32(&cursor);
	decoding->tick = ctx_cursor_get_varint32(&cursor);
	if (n < CTX_EXP_HEAP_STREAMS || decoding->shift > 12 || decoding->tick > 32 ||
	    !ctx_exp_take_streams(&cursor, bytes, CTX_EXP_HEAP_STREAMS, decoding->streams))
		return ctx_err_set(err, CTX_E_FORMAT, "streams of the block end early");
	return CTX_OK;
}

/* Before the first operation, and after each that is no allocation. */
static void take_run(struct decoding *decoding)
{
	struct ctx_cursor *runs = &decoding->streams[RUNS];

	/* After the last one there are allocations to the end. */
	decoding->left = ctx_cursor_left(runs) != 0 ? (size_t)ctx_cursor_get_varint(runs) : SIZE_MAX;
	decoding->failed = decoding->failed || runs->failed;
}

static bool take_freed(struct decoding *decoding, uint64_t token, uint32_t thread, uint32_t *ret)
{
	struct ctx_exp_heap_coder *coder = decoding->coder;
	uint32_t *mark = &coder->marks[thread % THREADS_KEPT];

	if (token == 0 || !ctx_exp_heap_live_at(&coder->live, *mark, token - 1, ret))
		return false;
	ctx_exp_heap_live_remove(&coder->live, *ret);
	*mark = *ret;
	return true;
}

static bool allocates(const struct step *step)
{
	return step->operation <= CTX_HEAP_REALLOCATE && step->operation != CTX_HEAP_FREE &&
	       !step->has_nothing;
}

/* Takes the next operation. */
static void take_step(struct decoding *decoding, uint32_t thread, struct step *ret)
{
	struct ctx_cursor *frees = &decoding->streams[FREES];
	uint64_t token, kind;
	bool fine = true;

	*ret = (struct step){.operation = CTX_HEAP_ALLOCATE, .freed = NO_NUMBER};
	if (decoding->left != 0) {
		decoding->left--;
		return;
	}
	take_run(decoding);
	token = ctx_cursor_get_varint(frees);
	if (token != 0) {
		ret->operation = CTX_HEAP_FREE;
		fine = take_freed(decoding, token, thread, &ret->freed);
	} else {
		kind = ctx_cursor_get_varint(&decoding->streams[KINDS]);
		fine = kind >> 2 <= UINT8_MAX;
		ret->operation = (uint32_t)(kind >> 2) & UINT8_MAX;
		ret->has_nothing = (kind & 2) != 0;
		if ((kind & 1) != 0)
			fine = fine &&
			       take_freed(decoding, ctx_cursor_get_varint(frees), thread, &ret->freed);
	}
	decoding->failed = decoding->failed || !fine || frees->failed || decoding->streams[KINDS].failed;
}

static uint64_t take_address(struct decoding *decoding, enum stream stream, uint64_t *last)
{
	*last += (uint64_t)ctx_cursor_get_zigzag(&decoding->streams[stream]) << decoding->shift;
	return *last;
}

static bool take_threads(struct decoding *decoding)
{
	struct ctx_cursor *cursor = &decoding->streams[THREADS];
	uint32_t thread = 0, *threads = decoding->coder->threads;

	for (size_t i = 0; i < decoding->n;) {
		uint64_t run = ctx_cursor_get_varint(cursor);

		thread += (uint32_t)ctx_cursor_get_zigzag(cursor);
		if (run == 0 || run > decoding->n - i || thread == CTX_NONE || cursor->failed)
			return false;
		for (size_t end = i + (size_t)run; i < end; i++)
			threads[i] = thread;
	}
	return true;
}

/* All operations, as far as is said without their sizes and stacks; what lives at the end lasts. */
static enum ctx_status take_steps(struct decoding *decoding, struct ctx_err *err)
{
	struct ctx_exp_heap_coder *coder = decoding->coder;

	decoding->failed = !take_threads(decoding);
	take_run(decoding);
	for (size_t i = 0; i < decoding->n && !decoding->failed; i++) {
		struct step *step = &coder->steps[i];

		take_step(decoding, coder->threads[i], step);
		if (allocates(step))
			ctx_exp_heap_live_add(&coder->live);
	}
	return decoding->failed ? ctx_err_set(err, CTX_E_FORMAT, "operations of the block make no sense")
				: CTX_OK;
}

static bool take_times(struct decoding *decoding, const struct ctx_exp_heap_block *block)
{
	struct ctx_cursor *same = &decoding->streams[SAME_TIMES], *times = &decoding->streams[TIMES];
	uint64_t ticks = 0, max = (block->last_ns - block->first_ns) >> decoding->tick;

	for (size_t i = 0; i < block->n;) {
		uint64_t run = ctx_cursor_left(same) != 0 ? ctx_cursor_get_varint(same) : block->n - i;
		uint64_t time_ns = block->first_ns + (ticks << decoding->tick);

		if (run > block->n - i || (run == 0 && i != 0) || same->failed || times->failed)
			return false;
		for (size_t end = i + (size_t)run; i < end; i++)
			block->packets[i].time_ns = time_ns;
		if (i < block->n) {
			uint64_t more = ctx_cursor_get_varint(times);

			if (more >= max - ticks)
				return false;
			ticks += more + 1;
		}
	}
	return true;
}

static uint32_t take_stack(struct decoding *decoding, uint32_t thread)
{
	struct stacks *stacks = &decoding->coder->stacks;
	uint16_t *last = &stacks->last_of_thread[thread % THREADS_KEPT];
	uint16_t *followers = stacks->followers[*last];
	uint64_t token = ctx_cursor_get_varint(&decoding->streams[STACKS]);
	uint32_t at = token != 0 && token <= FOLLOWERS ? (uint32_t)token - 1 : FOLLOWERS;
	uint64_t number = at < FOLLOWERS ? followers[at] : 0;

	if (token == 0)
		number = ctx_cursor_get_varint(&decoding->streams[OTHER_STACKS]);
	else if (number == 0)
		decoding->failed = true;
	if (token == 0 && number == 0 && stacks->n < CTX_EXP_HEAP_MAX) {
		stacks->last_new += (uint32_t)ctx_cursor_get_zigzag(&decoding->streams[NEW_STACKS]);
		number = add_stack(stacks, stacks->last_new);
	}
	if (number == 0 || number > stacks->n) {
		decoding->failed = true;
		return 0;
	}
	follow(followers, (uint32_t)number, at);
	*last = (uint16_t)number;
	return (uint32_t)number;
}

static uint64_t take_size(struct decoding *decoding, uint32_t stack)
{
	uint64_t *last = &decoding->coder->stacks.sizes[stack];
	uint64_t token = ctx_cursor_get_varint(&decoding->streams[SIZES]);

	if (token != 0)
		*last = token - 1;
	return *last;
}

/* The address, or what stands for it, of what is freed, and of what is allocated. */
static uint64_t take_old(struct decoding *decoding, const struct step *step)
{
	return step->freed != NO_NUMBER ? (uint64_t)step->freed + 1
					: take_address(decoding, OLDER, &decoding->older);
}

static uint64_t take_new(struct decoding *decoding)
{
	uint32_t number = decoding->n_allocated++;

	return ctx_exp_heap_live_has(&decoding->coder->live, number)
		       ? take_address(decoding, ADDRESSES, &decoding->address)
		       : (uint64_t)number + 1;
}

static void take_mapping(struct decoding *decoding, uint64_t *address, uint64_t *size)
{
	struct ctx_cursor *mappings = &decoding->streams[MAPPINGS];

	decoding->mapping += (uint64_t)ctx_cursor_get_zigzag(mappings);
	*address = decoding->mapping;
	*size = ctx_cursor_get_varint(mappings);
}

static void take_operation(struct decoding *decoding, const struct step *step, struct ctx_exp_packet *packet,
			   struct ctx_exp_heap_addresses *addresses)
{
	uint32_t stack = 0;

	packet->operation = (uint16_t)step->operation;
	packet->cpu = -1;
	if (step->operation == CTX_HEAP_FREE) {
		addresses->address = take_old(decoding, step);
		return;
	}
	stack = take_stack(decoding, packet->thread);
	packet->stack = decoding->coder->stacks.ids[stack];
	if (is_mapping(step->operation)) {
		take_mapping(decoding, &addresses->address, &packet->size);
		return;
	}
	packet->size = take_size(decoding, stack);
	if (step->operation == CTX_HEAP_REALLOCATE)
		addresses->old_address = take_old(decoding, step);
	if (!step->has_nothing)
		addresses->address = take_new(decoding);
}

enum ctx_status ctx_exp_heap_decode(struct ctx_exp_heap_coder **coder, struct ctx_bytes payload,
				    const struct ctx_exp_heap_block *ret, struct ctx_err *err)
{
	enum ctx_status status = begin(coder, err);
	struct decoding decoding = {.coder = *coder, .n = ret->n};

	if (status == CTX_OK)
		status = begin_decoding(&decoding, payload, err);
	if (status == CTX_OK)
		status = take_steps(&decoding, err);
	if (status != CTX_OK)
		return status;
	for (size_t i = 0; i < ret->n && !decoding.failed; i++) {
		ret->packets[i] =
			(struct ctx_exp_packet){.thread = (*coder)->threads[i], .order = (uint16_t)i};
		ret->addresses[i] = (struct ctx_exp_heap_addresses){0};
		take_operation(&decoding, &(*coder)->steps[i], &ret->packets[i], &ret->addresses[i]);
	}
	for (size_t i = 0; i < CTX_EXP_HEAP_STREAMS; i++)
		decoding.failed = decoding.failed || decoding.streams[i].failed;
	if (decoding.failed || !take_times(&decoding, ret))
		return ctx_err_set(err, CTX_E_FORMAT, "a stream of the block ends early or is out of range");
	return CTX_OK;
}

/* An operation with addresses: does it outlive the block, or free something older? */
static bool take_lasting(struct decoding *decoding, const struct step *step, struct ctx_exp_heap_lasting *ret)
{
	bool lasts = false;

	ret->address = ret->old_address = ret->size = 0;
	if (is_mapping(step->operation)) {
		take_mapping(decoding, &ret->address, &ret->size);
		return true;
	}
	if (step->operation == CTX_HEAP_FREE) {
		ret->address = take_address(decoding, OLDER, &decoding->older);
		return true;
	}
	if (step->operation == CTX_HEAP_REALLOCATE && step->freed == NO_NUMBER) {
		ret->old_address = take_address(decoding, OLDER, &decoding->older);
		lasts = ret->old_address != 0;
	}
	if (allocates(step) && ctx_exp_heap_live_has(&decoding->coder->live, decoding->n_allocated++)) {
		ret->address = take_address(decoding, ADDRESSES, &decoding->address);
		lasts = true;
	}
	return lasts;
}

enum ctx_status ctx_exp_heap_find_lasting(struct ctx_exp_heap_coder **made, struct ctx_bytes payload,
					  size_t n, struct ctx_exp_heap_list *ret, struct ctx_err *err)
{
	enum ctx_status status = begin(made, err);
	struct ctx_exp_heap_coder *coder = *made;
	struct decoding decoding = {.coder = coder, .n = n};
	size_t n_out = 0;

	if (status == CTX_OK)
		status = begin_decoding(&decoding, payload, err);
	if (status == CTX_OK)
		status = take_steps(&decoding, err);
	if (status != CTX_OK)
		return status;
	for (size_t i = 0; i < n; i++) {
		const struct step *step = &coder->steps[i];
		struct ctx_exp_heap_lasting *out = &coder->lasting[n_out];

		if (step->operation == CTX_HEAP_FREE && step->freed != NO_NUMBER)
			continue;
		if (step->operation == CTX_HEAP_ALLOCATE && !step->has_nothing &&
		    !ctx_exp_heap_live_has(&coder->live, decoding.n_allocated)) {
			decoding.n_allocated++;
			continue;
		}
		out->place = (uint32_t)i;
		out->operation = step->operation;
		n_out += take_lasting(&decoding, step, out);
	}
	for (size_t i = 0; i < CTX_EXP_HEAP_STREAMS; i++)
		decoding.failed = decoding.failed || decoding.streams[i].failed;
	*ret = (struct ctx_exp_heap_list){coder->lasting, n_out};
	return decoding.failed ? ctx_err_set(err, CTX_E_FORMAT, "addresses of the block end early") : CTX_OK;
}
