#include "formats/experiment/exp_heap_coder.h"

#include "formats/experiment/exp_streams.h"

struct decoding {
	struct ctx_exp_heap_coder *coder;
	struct ctx_cursor streams[CTX_EXP_HEAP_STREAMS];
	struct ctx_exp_heap_own_in own[CTX_EXP_HEAP_SLOTS]; /* [0] for all threads if not by_thread */
	size_t left[CTX_EXP_HEAP_SLOTS]; /* allocations before the next operation that is none */
	unsigned shift, tick;
	size_t n;
	bool by_thread;
	bool failed;
	uint64_t address, older, mapping; /* the last ones */
	uint32_t n_allocated;
};

static bool begin_own(struct decoding *decoding)
{
	decoding->by_thread = ctx_cursor_left(&decoding->streams[OWN_LENGTHS]) != 0;
	if (decoding->by_thread)
		return ctx_exp_heap_split(&decoding->streams[OWN_LENGTHS], &decoding->streams[OWN_STREAMS],
					  decoding->own);
	for (size_t i = 0; i < CTX_EXP_HEAP_OWN; i++)
		decoding->own[0].streams[i] = decoding->streams[common[i]];
	return true;
}

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
	if (n < COMMON_STREAMS || decoding->shift > 12 || decoding->tick > 32 ||
	    !ctx_exp_take_streams(&cursor, bytes, CTX_EXP_HEAP_STREAMS, decoding->streams) ||
	    !begin_own(decoding))
		return ctx_err_set(err, CTX_E_FORMAT, "streams of the block end early");
	return CTX_OK;
}

static struct ctx_cursor *own_in(struct decoding *decoding, uint32_t thread, enum own which)
{
	return &decoding->own[decoding->by_thread ? thread % CTX_EXP_HEAP_SLOTS : 0].streams[which];
}

static bool has_failed(const struct decoding *decoding)
{
	bool failed = decoding->failed;

	for (size_t i = 0; i < CTX_EXP_HEAP_STREAMS; i++)
		failed = failed || decoding->streams[i].failed;
	for (size_t i = 0; i < CTX_EXP_HEAP_SLOTS * CTX_EXP_HEAP_OWN; i++)
		failed = failed || decoding->own[i / CTX_EXP_HEAP_OWN].streams[i % CTX_EXP_HEAP_OWN].failed;
	return failed;
}

/* Before the first operation of a slot, and after each that is no allocation. */
static void take_run(struct decoding *decoding, uint32_t slot)
{
	struct ctx_cursor *runs = &decoding->own[slot].streams[RUN];

	/* After the last one there are allocations to the end. */
	decoding->left[slot] = ctx_cursor_left(runs) != 0 ? (size_t)ctx_cursor_get_varint(runs) : SIZE_MAX;
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
	uint32_t slot = decoding->by_thread ? thread % CTX_EXP_HEAP_SLOTS : 0;
	struct ctx_cursor *frees = &decoding->own[slot].streams[FREE];
	uint64_t token, kind;
	bool fine = true;

	*ret = (struct step){.operation = CTX_HEAP_ALLOCATE, .freed = NO_NUMBER};
	if (decoding->left[slot] != 0) {
		decoding->left[slot]--;
		return;
	}
	take_run(decoding, slot);
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
	struct ctx_cursor *runs = &decoding->streams[decoding->by_thread ? THREAD_RUNS : THREADS];
	struct ctx_cursor *changes = &decoding->streams[decoding->by_thread ? THREAD_CHANGES : THREADS];
	uint32_t thread = 0, *threads = decoding->coder->threads;

	for (size_t i = 0; i < decoding->n;) {
		uint64_t run = ctx_cursor_get_varint(runs);

		thread += (uint32_t)ctx_cursor_get_zigzag(changes);
		if (run == 0 || run > decoding->n - i || thread == CTX_NONE || runs->failed ||
		    changes->failed)
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
	for (uint32_t slot = 0; slot < CTX_EXP_HEAP_SLOTS; slot++)
		take_run(decoding, slot);
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
	uint32_t *last = &stacks->last_of_thread[thread % THREADS_KEPT];
	uint32_t *followers = stacks->followers[*last];
	uint64_t token = ctx_cursor_get_varint(own_in(decoding, thread, STACK));
	uint32_t at = token != 0 && token <= FOLLOWERS ? (uint32_t)token - 1 : FOLLOWERS;
	uint64_t number = at < FOLLOWERS ? followers[at] : 0;

	if (token == 0)
		number = ctx_cursor_get_varint(own_in(decoding, thread, OTHER_STACK));
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
	*last = (uint32_t)number;
	return (uint32_t)number;
}

static uint64_t take_size(struct decoding *decoding, uint32_t stack, uint32_t thread)
{
	uint64_t *last = &decoding->coder->stacks.sizes[stack];
	uint64_t token = ctx_cursor_get_varint(own_in(decoding, thread, SIZE));

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
	packet->size = take_size(decoding, stack, packet->thread);
	if (step->operation == CTX_HEAP_REALLOCATE)
		addresses->old_address = take_old(decoding, step);
	if (!step->has_nothing)
		addresses->address = take_new(decoding);
}

enum ctx_status ctx_exp_heap_decode(struct ctx_exp_heap_coder **coder, struct ctx_bytes payload,
				    const struct ctx_exp_heap_block *ret, struct ctx_err *err)
{
	enum ctx_status status = ctx_exp_heap_begin(coder, err);
	struct decoding decoding = {.coder = *coder, .n = ret->n};

	if (status == CTX_OK)
		status = begin_decoding(&decoding, payload, err);
	if (status == CTX_OK)
		status = take_steps(&decoding, err);
	if (status != CTX_OK)
		return status;
	for (size_t i = 0; i < ret->n && !decoding.failed; i++) {
		ret->packets[i] =
			(struct ctx_exp_packet){.thread = (*coder)->threads[i], .place = (uint32_t)i};
		ret->addresses[i] = (struct ctx_exp_heap_addresses){0};
		take_operation(&decoding, &(*coder)->steps[i], &ret->packets[i], &ret->addresses[i]);
	}
	if (has_failed(&decoding) || !take_times(&decoding, ret))
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
	enum ctx_status status = ctx_exp_heap_begin(made, err);
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
	*ret = (struct ctx_exp_heap_list){coder->lasting, n_out};
	return has_failed(&decoding) ? ctx_err_set(err, CTX_E_FORMAT, "addresses of the block end early")
				     : CTX_OK;
}
