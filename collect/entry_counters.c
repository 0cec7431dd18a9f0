/*
 *	block of a thread --copy--> seen, at a time --the tree has come there--> seen - written --> samples
 */
#include "collect/entry_counters.h"

#include "base/clock.h"
#include "base/mem.h"
#include "collect/shared_file.h"
#include "runtime/count_layout.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROUND_NS 100000000u		  /* between two looks at the counters */
#define ROUND_COSTS 50u			  /* looks take no more than one part of so many of the time */
#define BLOCKS_BYTES ((uint64_t)64 << 20) /* of the file, if that is enough for BLOCKS_MIN */
#define BLOCKS_MIN 64u
#define BLOCKS_MAX 16384u

struct site {
	uint64_t address;
	uint32_t object;
	struct ctx_entry_metrics metrics;
	uint64_t executed; /* that have been written */
};

struct block {			  /* what is known of it */
	uint64_t *seen, *written; /* by site; owned in one piece, `seen`; NULL: nothing yet */
	bool is_seen;		  /* `seen` is of the last look */
};

struct ctx_entry_counters {
	struct ctx_shared_objects objects;
	struct site *sites; /* owned */
	size_t n_sites, sites_cap;
	struct block *blocks;		    /* owned; n_blocks of them */
	struct ctx_rt_count_header *shared; /* mapped; NULL: not yet */
	/* As it was made: what targets write to the shared one moves nothing. */
	struct ctx_rt_count_header shape;
	struct ctx_rt_count_owner *owners; /* there */
	int fd;
	uint64_t looked_ns, next_look_ns; /* 0: there was none that is not written */
	uint32_t process, thread;	  /* the last one that was known; CTX_NONE */
	bool has_thresholds;
	uint64_t others; /* executions of threads that have no block */
};

enum ctx_status ctx_entry_counters_create(struct ctx_entry_counters **ret, struct ctx_err *err)
{
	struct ctx_entry_counters *counters = ctx_calloc(1, sizeof(*counters));

	if (counters == NULL)
		return ctx_err_nomem(err);
	counters->fd = -1;
	counters->process = counters->thread = CTX_NONE;
	*ret = counters;
	return CTX_OK;
}

void ctx_entry_counters_destroy(struct ctx_entry_counters *counters)
{
	if (counters == NULL)
		return;
	for (uint32_t i = 0; counters->blocks != NULL && i < counters->shape.n_blocks; i++)
		free(counters->blocks[i].seen);
	if (counters->shared != NULL)
		munmap(counters->shared, (size_t)counters->shape.bytes);
	if (counters->fd >= 0)
		close(counters->fd);
	ctx_shared_objects_deinit(&counters->objects);
	free(counters->blocks);
	free(counters->sites);
	free(counters);
}

enum ctx_status ctx_entry_counters_add(struct ctx_entry_counters *counters,
				       const struct ctx_indicator_place *place,
				       const struct ctx_entry_metrics *metrics, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&counters->sites, &counters->sites_cap, counters->n_sites + 1, err);
	uint32_t object = 0;

	if (status == CTX_OK)
		status = ctx_shared_objects_find(&counters->objects, place->path, "counters", &object, err);
	if (status != CTX_OK)
		return status;
	counters->sites[counters->n_sites++] =
		(struct site){.address = place->address, .object = object, .metrics = *metrics};
	counters->has_thresholds = counters->has_thresholds || metrics->threshold != 0;
	return CTX_OK;
}

static int by_address(const void *a, const void *b)
{
	const struct site *left = a, *right = b;

	if (left->object != right->object)
		return left->object < right->object ? -1 : 1;
	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return (left->metrics.executed > right->metrics.executed) -
	       (left->metrics.executed < right->metrics.executed);
}

static void fill(struct ctx_entry_counters *counters)
{
	struct ctx_rt_count_object *objects = ctx_rt_count_objects(counters->shared);
	struct ctx_rt_count_site *sites = ctx_rt_count_sites(counters->shared);

	for (size_t i = 0; i < counters->objects.n; i++) {
		objects[i].device = counters->objects.items[i].device;
		objects[i].inode = counters->objects.items[i].inode;
	}
	for (size_t i = counters->n_sites; i-- > 0;) {
		const struct site *site = &counters->sites[i];

		objects[site->object].first = (uint32_t)i;
		objects[site->object].n++;
		sites[i] = (struct ctx_rt_count_site){.address = site->address,
						      .object = site->object,
						      .threshold = site->metrics.threshold};
	}
}

enum ctx_status ctx_entry_counters_share(struct ctx_entry_counters *counters, int *ret_fd,
					 struct ctx_err *err)
{
	struct ctx_rt_count_header header = {.magic = CTX_RT_COUNT_MAGIC,
					     .version = CTX_RT_COUNT_VERSION,
					     .n_objects = (uint32_t)counters->objects.n,
					     .n_sites = (uint32_t)counters->n_sites,
					     .n_blocks = BLOCKS_MIN};
	enum ctx_status status;
	void *at;

	if (counters->n_sites != 0)
		qsort(counters->sites, counters->n_sites, sizeof(*counters->sites), by_address);
	ctx_rt_count_shape(&header, counters->has_thresholds);
	if (BLOCKS_BYTES / header.block_bytes > BLOCKS_MIN)
		header.n_blocks = BLOCKS_BYTES / header.block_bytes < BLOCKS_MAX
					  ? (uint32_t)(BLOCKS_BYTES / header.block_bytes)
					  : BLOCKS_MAX;
	ctx_rt_count_shape(&header, counters->has_thresholds);
	counters->blocks = ctx_calloc(header.n_blocks, sizeof(*counters->blocks));
	if (counters->blocks == NULL)
		return ctx_err_nomem(err);
	status = ctx_shared_file_make("counters", header.bytes, &counters->fd, &at, err);
	if (status != CTX_OK) {
		free(counters->blocks);
		counters->blocks = NULL;
		return status;
	}
	counters->shared = at;
	*counters->shared = counters->shape = header;
	counters->owners = ctx_rt_count_owners(counters->shared);
	fill(counters);
	*ret_fd = counters->fd;
	return CTX_OK;
}

static const uint64_t *block_of(const struct ctx_entry_counters *counters, uint32_t number)
{
	return (const uint64_t *)((const uint8_t *)counters->shared + counters->shape.blocks_at +
				  number * counters->shape.block_bytes);
}

/* Samples */

struct putting { /* the counts of one block, as of a time */
	const struct ctx_entry_target *target;
	uint64_t time_ns;
	uint32_t number;
	uint32_t process, thread;
};

static enum ctx_status put(struct ctx_entry_counters *counters, const struct putting *putting, size_t number,
			   uint64_t n, struct ctx_err *err)
{
	struct site *site = &counters->sites[number];
	const uint64_t base =
		__atomic_load_n(&block_of(counters, putting->number)[site->object], __ATOMIC_RELAXED);
	const uint64_t at = base + site->address;
	/* The target writes the base: it has no frames of the kernel, and none that stand for something else. */
	const uint64_t frames[] = {at < CTX_KERNEL_START && !ctx_frame_is_named(at) ? at : 0,
				   ctx_frame_truncated(CTX_TRUNCATED_COUNTED)};

	site->executed += n;
	counters->others += putting->number == 0 ? n : 0;
	return ctx_exp_sample(putting->target->writer,
			      &(struct ctx_exp_sample){.time_ns = putting->time_ns,
						       .process = putting->process,
						       .thread = putting->thread,
						       .metric = site->metrics.executed,
						       .cpu = -1,
						       .weight = n,
						       .frames = frames,
						       .n_frames = CTX_COUNT_OF(frames)},
			      err);
}

/* What was seen and is not written yet. */
static enum ctx_status put_block(struct ctx_entry_counters *counters, const struct putting *putting,
				 struct ctx_err *err)
{
	struct block *block = &counters->blocks[putting->number];
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < counters->n_sites && status == CTX_OK; i++) {
		uint64_t n = block->seen[i] - block->written[i];

		block->written[i] = block->seen[i];
		if (n != 0)
			status = put(counters, putting, i, n, err);
	}
	return status;
}

/* Of nobody who is recorded: the next owner has nothing of it. */
static void forget_block(struct ctx_entry_counters *counters, uint32_t number)
{
	struct block *block = &counters->blocks[number];

	memcpy(block->written, block->seen, counters->n_sites * sizeof(*block->seen));
}

/* Copies the counters of a block. */
static enum ctx_status see(struct ctx_entry_counters *counters, uint32_t number, struct ctx_err *err)
{
	struct block *block = &counters->blocks[number];
	const uint64_t *shared = block_of(counters, number) + ctx_rt_count_counter(&counters->shape, 0);

	if (block->seen == NULL) {
		block->seen = ctx_calloc(2 * counters->n_sites, sizeof(*block->seen));
		if (block->seen == NULL)
			return ctx_err_nomem(err);
		block->written = block->seen + counters->n_sites;
	}
	for (size_t i = 0; i < counters->n_sites; i++)
		block->seen[i] = __atomic_load_n(&shared[i], __ATOMIC_RELAXED);
	block->is_seen = true;
	return CTX_OK;
}

/* One page of a file that targets write to: nothing but the range of its numbers is relied on. */
static uint32_t blocks_used(const struct ctx_entry_counters *counters)
{
	uint32_t n = atomic_load(&counters->shared->n_used);

	return n < counters->shape.n_blocks ? n : counters->shape.n_blocks;
}

static struct ctx_rt_count_owner *owner_of(const struct ctx_entry_counters *counters, uint32_t number)
{
	return &counters->owners[number];
}

static bool is_owned(const struct ctx_entry_counters *counters, uint32_t number)
{
	return number == 0 || atomic_load(&owner_of(counters, number)->state) == CTX_RT_COUNT_OWNED;
}

/* Whose a block is: in the end, and of who has none, the last one's that was known. */
static bool find_thread(struct ctx_entry_counters *counters, struct putting *putting, bool is_last)
{
	const struct ctx_rt_count_owner *owner = owner_of(counters, putting->number);

	if (putting->number != 0 &&
	    ctx_proctree_lookup(putting->target->tree, owner->tid, &putting->process, &putting->thread)) {
		counters->process = putting->process;
		counters->thread = putting->thread;
		return true;
	}
	putting->process = counters->process;
	putting->thread = counters->thread;
	return putting->thread != CTX_NONE && !putting->target->drops_others &&
	       (is_last || putting->number == 0);
}

/* Of all blocks what the last look has seen. */
static enum ctx_status put_seen(struct ctx_entry_counters *counters, const struct ctx_entry_target *target,
				bool is_last, struct ctx_err *err)
{
	uint32_t n = blocks_used(counters);
	enum ctx_status status = CTX_OK;

	for (uint32_t i = 0; (i < n || i == 0) && status == CTX_OK; i++) {
		/* The first one last: it is the last known thread's. */
		uint32_t number = i + 1 < n ? i + 1 : 0;
		struct putting putting = {.target = target, .time_ns = counters->looked_ns, .number = number};

		if (!counters->blocks[number].is_seen)
			continue;
		if (find_thread(counters, &putting, is_last))
			status = put_block(counters, &putting, err);
		counters->blocks[number].is_seen = false;
	}
	counters->looked_ns = 0;
	return status;
}

/* `all`: also what is nobody's any more. */
static enum ctx_status look(struct ctx_entry_counters *counters, bool all, struct ctx_err *err)
{
	uint64_t now = ctx_clock_ns(CLOCK_MONOTONIC), cost;
	uint32_t n = blocks_used(counters);
	enum ctx_status status = CTX_OK;

	for (uint32_t i = 0; (i < n || i == 0) && status == CTX_OK; i++) {
		if (all || is_owned(counters, i))
			status = see(counters, i, err);
	}
	cost = ctx_clock_ns(CLOCK_MONOTONIC) - now;
	counters->looked_ns = now;
	counters->next_look_ns = now + (cost * ROUND_COSTS > ROUND_NS ? cost * ROUND_COSTS : ROUND_NS);
	return status;
}

enum ctx_status ctx_entry_counters_take(struct ctx_entry_counters *counters,
					const struct ctx_entry_target *target, uint64_t limit_ns,
					struct ctx_err *err)
{
	bool is_last = limit_ns == UINT64_MAX;
	enum ctx_status status = CTX_OK;

	if (counters->looked_ns != 0 && counters->looked_ns <= limit_ns && !is_last)
		status = put_seen(counters, target, false, err);
	if (status == CTX_OK && (is_last || (counters->looked_ns == 0 &&
					     ctx_clock_ns(CLOCK_MONOTONIC) >= counters->next_look_ns)))
		status = look(counters, is_last, err);
	return status == CTX_OK && is_last ? put_seen(counters, target, true, err) : status;
}

/* Whether the owner of a block ends with a record. */
static bool ends(const struct ctx_rt_count_owner *owner, const struct ctx_perf_record *record)
{
	return owner->begin_ns <= record->time_ns &&
	       (record->type == PERF_RECORD_EXIT ? owner->tid == record->tid : owner->pid == record->pid);
}

enum ctx_status ctx_entry_counters_end(struct ctx_entry_counters *counters,
				       const struct ctx_entry_target *target,
				       const struct ctx_perf_record *record, struct ctx_err *err)
{
	uint32_t n = blocks_used(counters);
	enum ctx_status status = CTX_OK;

	for (uint32_t i = 1; i < n && status == CTX_OK; i++) {
		struct ctx_rt_count_owner *owner = owner_of(counters, i);
		struct putting putting = {.target = target, .time_ns = record->time_ns, .number = i};

		if (!is_owned(counters, i) || !ends(owner, record))
			continue;
		status = see(counters, i, err);
		counters->blocks[i].is_seen = false;
		if (status == CTX_OK && find_thread(counters, &putting, true))
			status = put_block(counters, &putting, err);
		else if (status == CTX_OK)
			forget_block(counters, i);
		atomic_store(&owner->state, CTX_RT_COUNT_FREE);
	}
	return status;
}

/* What there is to say */

uint64_t ctx_entry_counters_count(const struct ctx_entry_counters *counters, uint32_t metric)
{
	uint64_t n = 0;

	for (size_t i = 0; i < counters->n_sites; i++)
		n += counters->sites[i].metrics.executed == metric ? counters->sites[i].executed : 0;
	return n;
}

uint32_t ctx_entry_counters_raised(const struct ctx_entry_counters *counters, uint64_t site)
{
	return site < counters->n_sites ? counters->sites[site].metrics.raised : CTX_NONE;
}

bool ctx_entry_counters_next_warning(const struct ctx_entry_counters *counters, size_t *at, char *text,
				     size_t size)
{
	const struct ctx_rt_count_object *objects = ctx_rt_count_objects(counters->shared);
	uint32_t unmapped = atomic_load(&counters->shared->unmapped);

	for (; *at < 2 * counters->objects.n; (*at)++) {
		const char *path = counters->objects.items[*at / 2].path;
		uint64_t patched = atomic_load(&objects[*at / 2].patched);
		uint64_t refused = atomic_load(&objects[*at / 2].refused);

		if (*at % 2 == 0 && patched + refused == 0)
			snprintf(text, size, "indicators: no process has loaded %s with the runtime in it",
				 path);
		else if (*at % 2 == 1 && refused != 0)
			snprintf(text, size,
				 "indicators: %" PRIu64 " functions of %s are not counted: their code could "
				 "not be changed, since threads ran already or memory near it is lacking",
				 refused, path);
		else
			continue;
		(*at)++;
		return true;
	}
	if (*at == 2 * counters->objects.n) {
		(*at)++;
		snprintf(text, size,
			 "indicators: %" PRIu32 " processes are not counted: a limit on their memory (ulimit "
			 "-v) leaves no room for the counters",
			 unmapped);
		if (unmapped != 0)
			return true;
	}
	if (*at == 2 * counters->objects.n + 1) {
		(*at)++;
		snprintf(text, size,
			 "indicators: %" PRIu64 " executions are counted, but not by thread: there were more "
			 "threads than counters, or the program forbids itself to ask for their ids "
			 "(seccomp)",
			 counters->others);
		return counters->others != 0;
	}
	return false;
}
