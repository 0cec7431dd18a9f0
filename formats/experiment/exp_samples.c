/*
 * Records with a call stack: samples and thread state changes. Both become packets in a buffer of
 * their process.
 *
 *	sample -.               ,--> dictionary of stacks --> frames of the next block of frameinfo
 *	change -+--> record ----+
 *	                        `--> packet --> buffer of the metric's file, or of `states`
 */
#include "formats/experiment/exp_state.h"

#include "base/mem.h"
#include "formats/experiment/exp_xml.h"
#include "model/event_source.h"
#include "model/io_call.h"
#include "model/omp.h"

#include <string.h>

#define FRAMES_MAX ((size_t)1 << 16) /* of one stack; frames nearer to the root are cut */
#define EXTERNAL_WAKERS_MAX 65535u   /* names; further ones share one, to bound memory */
#define OTHER_EXTERNAL_WAKERS "<Others>"

#define PACKET_BYTES 4u /* in a block, about */

/* Size at which a process's buffer is written: larger blocks compress better but cost memory. */
#define KEPT_BYTES ((size_t)256 * 1024)

/* A packet and the inputs to complete it. */
struct record {
	struct ctx_exp_packet packet; /* without stack and order */
	uint64_t time_ns;	      /* absolute */
	uint32_t process;	      /* its dictionary gets the stack */
	uint32_t like;		      /* thread with the last stack to compare with; CTX_NONE: none */
	uint32_t file;
	const uint64_t *frames;
	size_t n_frames;				/* at most FRAMES_MAX */
	struct ctx_exp_known_stack *known;		/* of the frames; NULL: none */
	const struct ctx_exp_heap_addresses *addresses; /* of a heap operation */
	const struct ctx_exp_sync_rest *rest;		/* of synchronisation */
	const struct ctx_exp_io *io;			/* input or output */
	const char *mark;				/* name of what a program says */
	const struct ctx_exp_memory_access *access;	/* to memory */
};

/* Writes everything and empties all dictionaries, which frees almost all memory. */
static enum ctx_status begin_epoch(struct ctx_exp_writer *writer, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	while (writer->live.n != 0 && status == CTX_OK)
		status = ctx_exp_retire(writer, writer->live.items[writer->live.n - 1], err);
	writer->stats.epochs++;
	return status;
}

/* Bytes that another record of n frames may need in the live part. */
static size_t growth(const struct ctx_exp_live *live, uint32_t file, size_t n_frames)
{
	const struct ctx_exp_packet_buf *buf = &live->bufs[file];
	size_t bytes = ctx_exp_stacks_growth(&live->stacks, n_frames);

	if (buf->n == buf->cap) /* includes the first buffer, and the addresses of a heap operation */
		bytes += 2 * (buf->cap + 1) *
			 (sizeof(*buf->packets) + sizeof(*live->heap_addresses) + sizeof(*live->io.rest));
	if (live->frames.cap - live->frames.n < 40 + 10 * n_frames)
		bytes += 2 * (live->frames.cap + 40 + 10 * n_frames);
	return bytes;
}

/*
 * Makes room for another record, in a new epoch if memory is used up. Adding the record cannot fail
 * then.
 */
static enum ctx_status make_room(struct ctx_exp_writer *writer, const struct record *record,
				 struct ctx_exp_live **ret, struct ctx_err *err)
{
	enum ctx_status status = ctx_exp_get_live(writer, record->process, ret, err);
	struct ctx_exp_packet_buf *buf;
	size_t bytes;

	if (status != CTX_OK)
		return status;
	bytes = growth(*ret, record->file, record->n_frames);
	if (bytes == 0)
		return CTX_OK;
	if (writer->limits.memory_used + bytes > writer->limits.memory_bytes) {
		status = begin_epoch(writer, err);
		if (status == CTX_OK)
			status = ctx_exp_get_live(writer, record->process, ret, err);
		if (status != CTX_OK)
			return status;
	}
	buf = &(*ret)->bufs[record->file];
	status = ctx_exp_stacks_reserve(&(*ret)->stacks, record->n_frames, err);
	if (status == CTX_OK)
		status = ctx_grow(&buf->packets, &buf->cap, buf->n + 1, err);
	if (status == CTX_OK && record->addresses != NULL)
		status = ctx_grow(&(*ret)->heap_addresses, &(*ret)->heap_cap, buf->cap, err);
	if (status == CTX_OK && record->rest != NULL)
		status = ctx_grow(&(*ret)->sync_rests, &(*ret)->sync_cap, buf->cap, err);
	if (status == CTX_OK && record->io != NULL)
		status = ctx_exp_io_packets_reserve(&(*ret)->io, buf->cap, err);
	if (status == CTX_OK && record->mark != NULL)
		status = ctx_exp_io_packets_reserve(&(*ret)->marks, buf->cap, err);
	if (status == CTX_OK && record->access != NULL)
		status = ctx_exp_io_packets_reserve(&(*ret)->accesses, buf->cap, err);
	if (status == CTX_OK && ctx_buf_reserve(&(*ret)->frames, 40 + 10 * record->n_frames) == NULL)
		status = ctx_err_nomem(err);
	if ((*ret)->frames.failed)
		(*ret)->frames.failed = false; /* nothing is lost: the next call tries again */
	ctx_exp_account(writer, *ret);
	return status;
}

static void note_sampled(struct ctx_exp_writer *writer, const struct ctx_exp_map_entry *entry,
			 uint64_t address)
{
	ctx_exp_objects_sample(&writer->objects, entry->object);
	if (writer->keep_places)
		ctx_exp_places_add(&writer->places, entry->object,
				   address - entry->address + entry->file_offset);
}

/*
 * Adds the nodes from `first` on to the buffered frames, and marks their load objects as sampled.
 */
static void put_new_nodes(struct ctx_exp_writer *writer, struct ctx_exp_live *live, uint32_t first,
			  uint32_t prefix)
{
	const struct ctx_exp_map_list *maps = ctx_exp_proc(writer, live->process)->maps;
	uint32_t n = (uint32_t)live->stacks.n - first;

	if (live->frames.n == 0)
		ctx_buf_put_varint(&live->frames, first);
	ctx_buf_put_varint(&live->frames, prefix);
	ctx_buf_put_varint(&live->frames, n);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t address = live->stacks.nodes[first + i].address;
		const struct ctx_exp_map_entry *entry = ctx_exp_map_list_find(maps, address);

		ctx_buf_put_zigzag(&live->frames, (int64_t)(address - live->last_address));
		live->last_address = address;
		if (entry != NULL)
			note_sampled(writer, entry, address);
		else if (address >= CTX_KERNEL_START && !ctx_frame_is_mark(address))
			ctx_exp_kernel_see(&writer->copying.kernel, address);
	}
	live->n_frames += n;
	writer->stats.stacks += n;
}

static bool is_known(const struct record *record, uint32_t epoch)
{
	const struct ctx_exp_known_stack *known = record->known;

	return known != NULL && known->stack != 0 && known->process == record->process &&
	       known->epoch == epoch;
}

/* The stack's node in the dictionary. Call make_room first. */
static uint32_t intern(struct ctx_exp_writer *writer, struct ctx_exp_live *live, const struct record *record)
{
	uint32_t epoch = ctx_exp_proc(writer, record->process)->epoch;
	struct ctx_exp_last_stack *thread =
		record->like != CTX_NONE ? ctx_exp_thread_row(writer, record->like) : NULL;
	uint32_t first = (uint32_t)live->stacks.n;
	uint32_t prefix, stack, like = 0;

	if (record->n_frames == 0)
		return 0;
	if (is_known(record, epoch)) {
		stack = record->known->stack;
	} else {
		if (thread != NULL && thread->process == record->process && thread->epoch == epoch)
			like = thread->leaf;
		stack = ctx_exp_stacks_intern(&live->stacks, record->frames, record->n_frames, like, &prefix);
		if (live->stacks.n != first)
			put_new_nodes(writer, live, first, prefix);
		if (record->known != NULL)
			*record->known = (struct ctx_exp_known_stack){
				.process = record->process, .epoch = epoch, .stack = stack};
	}
	if (thread != NULL) {
		thread->process = record->process;
		thread->epoch = epoch;
		thread->leaf = stack;
	}
	return stack;
}

/* The later of two times, which the next one is not before. */
static uint64_t not_before(uint64_t *last_ns, uint64_t time_ns)
{
	if (time_ns > *last_ns)
		*last_ns = time_ns;
	return *last_ns;
}

/* The rest of the next packet. */
static enum ctx_status put_io(struct ctx_exp_live *live, const struct record *record, struct ctx_err *err)
{
	const struct ctx_exp_io *io = record->io;
	const struct ctx_exp_io_rest rest = {.duration_ns = io->duration_ns,
					     .descriptor = io->descriptor >= 0 ? io->descriptor : -1,
					     .error = io->error};

	return ctx_exp_io_packets_put(&live->io, live->bufs[record->file].n, &rest, io->name, err);
}

static enum ctx_status put_access(struct ctx_exp_live *live, const struct record *record, struct ctx_err *err)
{
	const struct ctx_exp_memory_access *access = record->access;
	const struct ctx_exp_io_rest rest = {.duration_ns = access->latency,
					     .descriptor = -1,
					     .detail = access->source,
					     .physical = access->physical};

	return ctx_exp_io_packets_put(&live->accesses, live->bufs[record->file].n, &rest, access->mapped,
				      err);
}

static enum ctx_status add(struct ctx_exp_writer *writer, struct record *record, struct ctx_err *err)
{
	struct ctx_exp_packet *packet = &record->packet;
	bool is_heap = record->addresses != NULL, packs = writer->data.heap != CTX_NONE;
	struct ctx_exp_packet_buf *buf;
	struct ctx_exp_live *live;
	enum ctx_status status;

	if (writer->limits.reached) {
		writer->stats.dropped_by_limit++;
		return CTX_OK;
	}
	if (ctx_exp_proc(writer, record->process) == NULL) {
		writer->stats.late++;
		return CTX_OK;
	}
	status = make_room(writer, record, &live, err);
	if (status == CTX_OK && record->io != NULL)
		status = put_io(live, record, err);
	if (status == CTX_OK && record->access != NULL)
		status = put_access(live, record, err);
	if (status == CTX_OK && record->mark != NULL)
		status = ctx_exp_io_packets_put(&live->marks, live->bufs[record->file].n,
						&(struct ctx_exp_io_rest){.descriptor = -1}, record->mark,
						err);
	if (status != CTX_OK)
		return status;
	packet->time_ns = ctx_exp_relative(writer, record->time_ns);
	if (is_heap)
		packet->time_ns =
			not_before(&ctx_exp_proc(writer, record->process)->heap_ns, packet->time_ns);
	packet->stack = intern(writer, live, record);
	buf = &live->bufs[record->file];
	packet->order = (uint16_t)buf->n;
	if (buf->n != 0 && packet->time_ns < buf->packets[buf->n - 1].time_ns)
		buf->unsorted = true;
	if (is_heap)
		live->heap_addresses[buf->n] = *record->addresses;
	if (record->rest != NULL)
		live->sync_rests[buf->n] = *record->rest;
	buf->packets[buf->n++] = *packet;
	if (record->time_ns < live->oldest_ns)
		live->oldest_ns = record->time_ns;
	if (record->time_ns < live->first_ns)
		live->first_ns = record->time_ns;
	if (buf->n >= ctx_exp_packets_max(is_heap) || (live->frames.n >= CTX_EXP_BUFFER_BYTES && !packs) ||
	    live->io.name_bytes >= CTX_EXP_BUFFER_BYTES || live->marks.name_bytes >= CTX_EXP_BUFFER_BYTES ||
	    live->accesses.name_bytes >= CTX_EXP_BUFFER_BYTES ||
	    ctx_exp_nears_limit(writer, live->frames.n + PACKET_BYTES * buf->n))
		return ctx_exp_flush_process(writer, live, err);
	/* Larger blocks of operations are worth more than that their stacks come just before them. */
	return live->frames.n >= CTX_EXP_PACKED_BYTES ? ctx_exp_flush_frames(writer, live, err) : CTX_OK;
}

static inline size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

enum ctx_status ctx_exp_sample(struct ctx_exp_writer *writer, const struct ctx_exp_sample *sample,
			       struct ctx_err *err)
{
	enum ctx_status status = ctx_exp_check_process(writer, sample->process, err);
	struct record record = {.time_ns = sample->time_ns,
				.process = sample->process,
				.like = sample->thread,
				.frames = sample->frames,
				.n_frames = smaller(sample->n_frames, FRAMES_MAX)};

	if (status == CTX_OK)
		status = ctx_exp_check_thread(writer, sample->thread, err);
	if (status == CTX_OK && sample->metric >= writer->data.n_metrics)
		status = ctx_err_set(err, CTX_E_ARG, "metric %u is unknown", sample->metric);
	if (status != CTX_OK)
		return status;
	record.file = writer->data.file_of[sample->metric];
	record.packet = (struct ctx_exp_packet){
		.weight = writer->data.periods[sample->metric] != 0 ? 0 : sample->weight,
		.thread = sample->thread,
		.cpu = sample->cpu >= 0 ? sample->cpu : -1,
		.metric = (uint16_t)sample->metric,
	};
	writer->stats.samples++;
	return add(writer, &record, err);
}

static enum ctx_status check_state(const struct ctx_exp_writer *writer, const struct ctx_exp_state *state,
				   struct ctx_err *err)
{
	enum ctx_status status = ctx_exp_check_process(writer, state->process, err);

	if (status == CTX_OK)
		status = ctx_exp_check_thread(writer, state->thread, err);
	if (status == CTX_OK && writer->data.states == CTX_NONE)
		status = ctx_err_set(err, CTX_E_ARG, "the experiment was created without states of threads");
	if (status == CTX_OK && state->change >= CTX_CHANGE_N)
		status = ctx_err_set(err, CTX_E_ARG, "change %d is unknown", (int)state->change);
	if (status != CTX_OK || !ctx_state_change_has_waker(state->change))
		return status;
	if (state->waker != CTX_NONE)
		return ctx_exp_check_thread(writer, state->waker, err);
	if (state->external_waker != CTX_NONE && state->external_waker >= writer->external_wakers.n)
		return ctx_err_set(err, CTX_E_ARG, "external waker %u was never named",
				   state->external_waker);
	return CTX_OK;
}

enum ctx_status ctx_exp_state(struct ctx_exp_writer *writer, const struct ctx_exp_state *state,
			      struct ctx_err *err)
{
	bool woken = ctx_state_change_has_waker(state->change);
	struct record record = {.time_ns = state->time_ns,
				.process = state->process,
				.like = woken ? state->waker : state->thread,
				.file = writer->data.states,
				.frames = state->frames,
				.n_frames = smaller(state->n_frames, FRAMES_MAX),
				.known = state->known};
	enum ctx_status status = check_state(writer, state, err);

	if (status != CTX_OK)
		return status;
	record.packet = (struct ctx_exp_packet){
		.waker = woken ? ctx_exp_waker(state->waker, state->external_waker) : 0,
		.thread = state->thread,
		.cpu = state->cpu >= 0 ? state->cpu : -1,
		.change = (uint16_t)state->change,
	};
	writer->stats.changes++;
	return add(writer, &record, err);
}

/* An operation of one kind, and what is common to all kinds. */
struct traced {
	enum ctx_traced_kind kind;
	uint32_t file; /* of the kind; CTX_NONE: the experiment was created without */
	unsigned operation, n_operations;
	uint32_t process, thread;
};

static enum ctx_status check_traced(const struct ctx_exp_writer *writer, const struct traced *traced,
				    struct ctx_err *err)
{
	static const char *const names[CTX_TRACED_N] = {
		[CTX_TRACED_HEAP] = "heap operation",	  [CTX_TRACED_SYNC] = "synchronisation",
		[CTX_TRACED_IO] = "input or output",	  [CTX_TRACED_OMP] = "event of OpenMP",
		[CTX_TRACED_MEMORY] = "access to memory",
	};
	enum ctx_status status = ctx_exp_check_process(writer, traced->process, err);

	if (status == CTX_OK)
		status = ctx_exp_check_thread(writer, traced->thread, err);
	if (status == CTX_OK && traced->file == CTX_NONE)
		status = ctx_err_set(err, CTX_E_ARG, "the experiment was created without: %s",
				     names[traced->kind]);
	if (status == CTX_OK && traced->operation >= traced->n_operations)
		status = ctx_err_set(err, CTX_E_ARG, "%s %u is unknown", names[traced->kind],
				     traced->operation);
	return status;
}

/* Checks it, and begins its record: without frames, and with a packet without size or duration. */
static enum ctx_status begin_traced(const struct ctx_exp_writer *writer, const struct traced *traced,
				    struct record *ret, struct ctx_err *err)
{
	enum ctx_status status = check_traced(writer, traced, err);

	if (status != CTX_OK)
		return status;
	*ret = (struct record){.process = traced->process, .like = traced->thread, .file = traced->file};
	ret->packet = (struct ctx_exp_packet){
		.thread = traced->thread, .cpu = -1, .operation = (uint16_t)traced->operation};
	return CTX_OK;
}

enum ctx_status ctx_exp_heap(struct ctx_exp_writer *writer, const struct ctx_exp_heap *heap,
			     struct ctx_err *err)
{
	const struct ctx_exp_heap_addresses addresses = {heap->address, heap->old_address};
	const struct traced traced = {.kind = CTX_TRACED_HEAP,
				      .file = writer->data.heap,
				      .operation = heap->operation,
				      .n_operations = CTX_HEAP_N,
				      .process = heap->process,
				      .thread = heap->thread};
	struct record record;
	enum ctx_status status = begin_traced(writer, &traced, &record, err);

	if (status != CTX_OK)
		return status;
	record.time_ns = heap->time_ns;
	record.frames = heap->frames;
	record.n_frames = smaller(heap->n_frames, FRAMES_MAX);
	record.addresses = &addresses;
	record.packet.size = heap->size;
	writer->stats.heap_operations++;
	return add(writer, &record, err);
}

enum ctx_status ctx_exp_sync(struct ctx_exp_writer *writer, const struct ctx_exp_sync *sync,
			     struct ctx_err *err)
{
	bool is_order = sync->operation == CTX_SYNC_ORDER;
	const struct ctx_exp_sync_rest rest = {.object = sync->object,
					       .other = is_order			   ? sync->held
							: sync->operation == CTX_SYNC_HOLD ? sync->detail
							: sync->other != CTX_NONE ? (uint64_t)sync->other + 1
										  : 0};
	const struct traced traced = {.kind = CTX_TRACED_SYNC,
				      .file = writer->data.sync,
				      .operation = sync->operation,
				      .n_operations = CTX_SYNC_N,
				      .process = sync->process,
				      .thread = sync->thread};
	struct record record;
	enum ctx_status status = begin_traced(writer, &traced, &record, err);

	if (status == CTX_OK && sync->other != CTX_NONE)
		status = ctx_exp_check_thread(writer, sync->other, err);
	if (status != CTX_OK)
		return status;
	record.time_ns = sync->time_ns;
	record.frames = sync->frames;
	record.n_frames = smaller(sync->n_frames, FRAMES_MAX);
	record.rest = &rest;
	record.packet.duration_ns = is_order ? sync->detail : sync->duration_ns;
	record.packet.operation |= sync->failed ? CTX_EXP_SYNC_FAILED : 0;
	writer->stats.syncs++;
	return add(writer, &record, err);
}

enum ctx_status ctx_exp_io(struct ctx_exp_writer *writer, const struct ctx_exp_io *io, struct ctx_err *err)
{
	const struct traced traced = {.kind = CTX_TRACED_IO,
				      .file = writer->data.io,
				      .operation = io->call,
				      .n_operations = io->call != CTX_CALL_NONE ? CTX_CALL_N : 0,
				      .process = io->process,
				      .thread = io->thread};
	struct record record;
	enum ctx_status status = begin_traced(writer, &traced, &record, err);

	if (status != CTX_OK)
		return status;
	record.time_ns = io->time_ns;
	record.frames = io->frames;
	record.n_frames = smaller(io->n_frames, FRAMES_MAX);
	record.io = io;
	record.packet.size = io->size;
	writer->stats.io_operations++;
	return add(writer, &record, err);
}

enum ctx_status ctx_exp_mark(struct ctx_exp_writer *writer, const struct ctx_exp_mark *mark,
			     struct ctx_err *err)
{
	enum ctx_status status = ctx_exp_check_process(writer, mark->process, err);
	struct record record = {.time_ns = mark->time_ns,
				.process = mark->process,
				.like = mark->thread,
				.file = writer->data.marks,
				.frames = mark->frames,
				.n_frames = smaller(mark->n_frames, FRAMES_MAX),
				.mark = mark->name};

	if (status == CTX_OK)
		status = ctx_exp_check_thread(writer, mark->thread, err);
	if (status == CTX_OK && writer->data.marks == CTX_NONE)
		status = ctx_err_set(err, CTX_E_ARG, "the experiment was created without marks");
	if (status == CTX_OK && (mark->operation >= CTX_MARK_N || mark->name == NULL || *mark->name == '\0'))
		status = ctx_err_set(err, CTX_E_ARG, "mark %u is unknown, or has no name", mark->operation);
	if (status != CTX_OK)
		return status;
	record.packet = (struct ctx_exp_packet){.size = ctx_zigzag_encode(mark->value),
						.thread = mark->thread,
						.cpu = -1,
						.operation = mark->operation};
	writer->stats.marks++;
	return add(writer, &record, err);
}

enum ctx_status ctx_exp_omp(struct ctx_exp_writer *writer, const struct ctx_exp_omp *omp, struct ctx_err *err)
{
	const struct traced traced = {.kind = CTX_TRACED_OMP,
				      .file = writer->data.omp,
				      .operation = omp->event,
				      .n_operations =
					      ctx_omp_is_value(omp->event, omp->value) ? CTX_OMP_EVENT_N : 0,
				      .process = omp->process,
				      .thread = omp->thread};
	struct record record;
	enum ctx_status status = begin_traced(writer, &traced, &record, err);

	if (status != CTX_OK)
		return status;
	record.time_ns = omp->time_ns;
	record.frames = omp->frames;
	record.n_frames = smaller(omp->n_frames, FRAMES_MAX);
	record.packet.size = omp->value;
	record.packet.operation |= omp->has_body && omp->n_frames != 0 ? CTX_EXP_OMP_BODY : 0;
	writer->stats.omp++;
	return add(writer, &record, err);
}

enum ctx_status ctx_exp_access(struct ctx_exp_writer *writer, const struct ctx_exp_memory_access *access,
			       struct ctx_err *err)
{
	const struct traced traced = {.kind = CTX_TRACED_MEMORY,
				      .file = writer->data.accesses,
				      .operation = access->operation,
				      .n_operations = CTX_MEMORY_OPERATION_N,
				      .process = access->process,
				      .thread = access->thread};
	struct record record;
	enum ctx_status status = begin_traced(writer, &traced, &record, err);

	if (status != CTX_OK)
		return status;
	record.time_ns = access->time_ns;
	record.frames = access->frames;
	record.n_frames = smaller(access->n_frames, FRAMES_MAX);
	record.access = access;
	record.packet.size = access->address;
	record.packet.cpu = access->cpu >= 0 ? access->cpu : -1;
	writer->stats.accesses++;
	return add(writer, &record, err);
}

enum ctx_status ctx_exp_external_waker(struct ctx_exp_writer *writer, const char *name, uint64_t time_ns,
				       uint32_t *ret, struct ctx_err *err)
{
	enum ctx_status status = ctx_exp_check(writer, err);
	uint32_t before = (uint32_t)writer->external_wakers.n;
	struct ctx_buf *out;

	if (status != CTX_OK)
		return status;
	if (before >= EXTERNAL_WAKERS_MAX &&
	    ctx_strtab_find(&writer->external_wakers, name, strlen(name)) == UINT32_MAX)
		name = OTHER_EXTERNAL_WAKERS;
	status = ctx_strtab_add_text(&writer->external_wakers, name, ret, err);
	if (status != CTX_OK || *ret < before)
		return status;
	out = ctx_exp_log_event(writer, "outsider", time_ns);
	ctx_exp_xml_number(out, "outsider", *ret);
	ctx_exp_xml_attribute(out, "name", name);
	return ctx_exp_log_end(writer, err);
}

enum ctx_status ctx_exp_keep_stack(struct ctx_exp_writer *writer, const struct ctx_exp_sample *sample,
				   const struct ctx_user_state *state, struct ctx_err *err)
{
	struct ctx_exp_kept_record record = {.time_ns = ctx_exp_relative(writer, sample->time_ns),
					     .thread = sample->thread,
					     .state = *state};
	enum ctx_status status = ctx_exp_check_process(writer, sample->process, err);
	struct ctx_exp_live *live;
	size_t before;

	if (status == CTX_OK)
		status = ctx_exp_check_thread(writer, sample->thread, err);
	if (status == CTX_OK && state->stack_bytes > UINT16_MAX)
		status = ctx_err_set(err, CTX_E_ARG, "stack of %zu bytes", state->stack_bytes);
	if (status != CTX_OK || writer->limits.reached || ctx_exp_proc(writer, sample->process) == NULL)
		return status;
	status = ctx_exp_get_live(writer, sample->process, &live, err);
	if (status != CTX_OK)
		return status;
	before = live->kept.n;
	ctx_exp_put_kept(&live->kept, live->n_kept != 0 ? live->kept_previous_ns : 0, &record);
	status = ctx_buf_check(&live->kept, err);
	if (status != CTX_OK) {
		live->kept.n = before; /* an incomplete record would damage the others */
		live->kept.failed = false;
		return status;
	}
	if (live->n_kept == 0 || record.time_ns < live->kept_first_ns)
		live->kept_first_ns = record.time_ns;
	if (live->n_kept == 0 || record.time_ns > live->kept_last_ns)
		live->kept_last_ns = record.time_ns;
	live->kept_previous_ns = record.time_ns;
	live->n_kept++;
	if (sample->time_ns < live->oldest_ns)
		live->oldest_ns = sample->time_ns;
	if (sample->time_ns < live->first_ns)
		live->first_ns = sample->time_ns;
	ctx_exp_account(writer, live);
	return live->kept.n >= KEPT_BYTES ? ctx_exp_flush_process(writer, live, err) : CTX_OK;
}
