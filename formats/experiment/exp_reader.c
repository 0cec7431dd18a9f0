/*
 * Merges the events of an experiment by time.
 *
 *	log entries (sorted) ---------------.
 *	blocks by first time --> open blocks +--> the earliest event
 *	                         (a heap)   -'
 *
 * A block is read when the merge reaches its first time, and freed after its last packet. Before
 * the samples of a block, the dictionary of its process (exp_frames.c) is extended up to the
 * largest stack id in it: frames blocks are read and emitted one by one.
 */
#include "base/heap.h"
#include "formats/experiment/exp_reader_state.h"

#include "base/mem.h"
#include "formats/experiment/exp_archive.h"

#include <stdio.h>

#define OPEN_BYTES_MAX ((size_t)1 << 30) /* of open blocks; beyond it the order by time is given up */

static void pop(struct ctx_exp_reader *reader, struct ctx_event *ret)
{
	struct ctx_exp_pending *pending = &reader->pending.items[reader->pending.at++];

	*ret = pending->event;
	reader->pending.shown = pending->text;
}

/* Announcements */

static enum ctx_status announce_thread(struct ctx_exp_reader *reader, uint32_t row, uint32_t process,
				       uint64_t time_ns, struct ctx_err *err)
{
	struct ctx_exp_thread_row *thread = &reader->log.threads[row];
	struct ctx_event event = {.kind = CTX_EV_THREAD_START, .time_ns = time_ns};
	enum ctx_status status;

	if (thread->number != CTX_NONE)
		return CTX_OK;
	if (thread->process == CTX_NONE)
		thread->process = process;
	status = ctx_exp_reader_announce(reader, thread->process, time_ns, err);
	if (status != CTX_OK)
		return status;
	thread->number = reader->next_thread++;
	event.thread = thread->number;
	event.process = reader->log.processes[thread->process].number;
	event.thread_start.tid = thread->tid;
	event.thread_start.inner_tid = thread->inner_tid;
	event.thread_start.name = thread->name;
	if (!thread->known && !reader->thread_damage_reported) {
		struct ctx_event damage = {.kind = CTX_EV_DAMAGE, .time_ns = time_ns};

		reader->thread_damage_reported = true;
		damage.text = "log.xml: samples name threads that the log does not have";
		status = ctx_exp_reader_push(reader, &damage, NULL, err);
	}
	return status == CTX_OK ? ctx_exp_reader_push(reader, &event, NULL, err) : status;
}

/* Log entries */

/* The path of a load object's archived copy, or ""; valid until the next call. */
static const char *archive_of(struct ctx_exp_reader *reader, const char *path, const char *build_id)
{
	char name[CTX_EXP_ARCHIVE_NAME_MAX];
	struct ctx_buf *out = &reader->archive.path;
	uint32_t before = (uint32_t)reader->archive.names.n;
	uint32_t id;

	if (before == 0)
		return "";
	ctx_exp_archive_name(path, build_id, name);
	/* Unknown names get ids beyond those of the files in the directory. */
	if (ctx_strtab_add_text(&reader->archive.names, name, &id, NULL) != CTX_OK || id >= reader->archive.n)
		return "";
	ctx_buf_clear(out);
	ctx_buf_printf(out, "%s/%s", reader->archive.root, name);
	ctx_buf_put_u8(out, 0);
	return out->failed ? "" : (const char *)out->bytes;
}

/* A process gets the maps of another one, if both are described. */
static enum ctx_status push_fork_maps(struct ctx_exp_reader *reader, const struct ctx_exp_entry *entry,
				      struct ctx_err *err)
{
	const struct ctx_exp_process_row *child = &reader->log.processes[entry->process];
	const struct ctx_exp_process_row *parent = &reader->log.processes[entry->a];
	struct ctx_event event = {.kind = CTX_EV_FORK_MAPS, .time_ns = entry->time_ns};
	enum ctx_status status;
	char *text;

	if (!child->known || !parent->known) {
		if (asprintf(&text,
			     "map.xml: process %u cannot have the maps of process %u: the log does not have "
			     "both",
			     child->key, parent->key) < 0)
			return ctx_err_nomem(err);
		event.kind = CTX_EV_DAMAGE;
		event.text = text;
		return ctx_exp_reader_push(reader, &event, text, err);
	}
	status = ctx_exp_reader_announce(reader, (uint32_t)entry->a, entry->time_ns, err);
	if (status == CTX_OK)
		status = ctx_exp_reader_announce(reader, entry->process, entry->time_ns, err);
	event.process = child->number;
	event.maps_of = parent->number;
	return status == CTX_OK ? ctx_exp_reader_push(reader, &event, NULL, err) : status;
}

static enum ctx_status push_entry(struct ctx_exp_reader *reader, const struct ctx_exp_entry *entry,
				  struct ctx_err *err)
{
	struct ctx_event event = {.kind = entry->kind, .time_ns = entry->time_ns};
	uint32_t process = entry->process;
	enum ctx_status status = CTX_OK;

	if (entry->kind == CTX_EV_PROCESS_START)
		return ctx_exp_reader_announce(reader, entry->process, entry->time_ns, err);
	if (entry->kind == CTX_EV_FORK_MAPS)
		return push_fork_maps(reader, entry, err);
	if (entry->thread != CTX_NONE) {
		uint32_t of = reader->log.threads[entry->thread].process;

		/* A thread without a line of its own is assigned to the first process. */
		if (of == CTX_NONE)
			status = ctx_exp_log_process(&reader->log, 0, &of, err);
		if (status == CTX_OK)
			status = announce_thread(reader, entry->thread, of, entry->time_ns, err);
		if (status != CTX_OK || entry->kind == CTX_EV_THREAD_START)
			return status;
		event.thread = reader->log.threads[entry->thread].number;
		process = reader->log.threads[entry->thread].process;
	}
	if (process != CTX_NONE) {
		status = ctx_exp_reader_announce(reader, process, entry->time_ns, err);
		if (status != CTX_OK)
			return status;
		event.process = reader->log.processes[process].number;
	}
	switch (entry->kind) {
	case CTX_EV_PROCESS_EXIT:
		event.process_exit.status = (int32_t)entry->a;
		event.process_exit.has_status = entry->b != 0;
		/* What is before the horizon is written: nothing of the process follows. */
		reader->log.processes[process].has_ended = true;
		break;
	case CTX_EV_PROCESS_TITLE:
		event.text = entry->text;
		/* Forks have it from now on. */
		reader->log.processes[process].command = entry->text;
		break;
	case CTX_EV_THREAD_NAME:
		event.thread_name = entry->text;
		break;
	case CTX_EV_FUNCTION:
		event.function = ctx_exp_code_lines_event(&reader->log.codes, (uint32_t)entry->a);
		break;
	case CTX_EV_MAP:
	case CTX_EV_UNMAP:
		if (entry->text == NULL) { /* code that is in no file */
			event.map = ctx_exp_code_lines_map(&reader->log.codes, (uint32_t)entry->c, entry->a,
							   entry->b);
			break;
		}
		event.map = (struct ctx_map_event){.address = entry->a,
						   .size = entry->b,
						   .file_offset = entry->c,
						   .path = entry->text,
						   .build_id = entry->text2,
						   .archive = archive_of(reader, entry->text, entry->text2),
						   .function = ""};
		break;
	case CTX_EV_VM:
		event.vm = reader->log.codes.vms[entry->a];
		event.vm.process = event.process;
		break;
	case CTX_EV_LOST:
		event.lost.loss = reader->log.losses.rows[entry->a];
		event.lost.beyond_limit = entry->b != 0;
		break;
	case CTX_EV_THROTTLE:
		event.lost.loss.count = entry->a;
		break;
	case CTX_EV_DAMAGE:
	case CTX_EV_WARNING:
		event.text = entry->text;
		break;
	default:
		break;
	}
	return ctx_exp_reader_push(reader, &event, NULL, err);
}

/* The heap of open blocks */

static bool is_before(const void *left, const void *right)
{
	const struct ctx_exp_heap_item *a = left, *b = right;

	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->order < b->order;
}

static bool has_packets(const struct ctx_exp_open_block *block)
{
	return block->kind != CTX_EXP_BLOCK_OVERVIEW && block->kind != CTX_EXP_BLOCK_CALL_EVENTS;
}

static uint64_t time_of_next(const struct ctx_exp_open_block *block)
{
	if (block->kind == CTX_EXP_BLOCK_CALL_EVENTS)
		return block->calls->next.time_ns;
	return has_packets(block) ? block->packets[block->at].time_ns : block->usage[block->at].time_ns;
}

static enum ctx_status heap_push(struct ctx_exp_reader *reader, struct ctx_exp_open_block *block,
				 struct ctx_err *err)
{
	struct ctx_exp_heap_item item = {.order = reader->open.order++, .block = block};
	enum ctx_status status = ctx_grow(&reader->open.items, &reader->open.cap, reader->open.n + 1, err);

	if (status != CTX_OK)
		return status;
	item.time_ns = time_of_next(block);
	reader->open.items[reader->open.n++] = item;
	ctx_heap_rise(reader->open.items, reader->open.n, sizeof(item), is_before);
	return CTX_OK;
}

/* The current record of the top was emitted. */
static void advance(struct ctx_exp_reader *reader)
{
	struct ctx_exp_open_block *block = reader->open.items[0].block;

	if (++block->at < block->n) {
		reader->open.items[0].time_ns = time_of_next(block);
	} else {
		if (has_packets(block))
			reader->dictionaries[block->process].n_open--;
		reader->open.bytes -= block->bytes;
		ctx_exp_open_block_free(block);
		reader->open.items[0] = reader->open.items[--reader->open.n];
	}
	ctx_heap_sink(reader->open.items, reader->open.n, sizeof(*reader->open.items), is_before);
}

/* Reading blocks */

/* What a block has that is in the index. */
static uint32_t kind_of(const struct ctx_exp_block_header *header)
{
	if (ctx_exp_block_has_changes(header))
		return CTX_EXP_BLOCK_SEEN;
	if (ctx_exp_block_has_heap(header))
		return CTX_EXP_BLOCK_HEAP;
	return header->kind == CTX_EXP_BLOCK_OVERVIEW || header->kind == CTX_EXP_BLOCK_CALL_EVENTS ||
			       ctx_exp_block_traced(header) != CTX_TRACED_N
		       ? header->kind
		       : (uint32_t)CTX_EXP_BLOCK_PROFILE;
}

/* False: the sample has to be dropped. */
static bool translate_sample(const struct ctx_exp_reader *reader, struct ctx_exp_packet *sample)
{
	if (sample->metric >= reader->log.n_metrics)
		return false;
	if (sample->weight == 0)
		sample->weight = reader->log.periods[sample->metric];
	return true;
}

/* Numbers of a packet to rows. *ret_fine is false if it has to be dropped. */
static enum ctx_status translate(struct ctx_exp_reader *reader, const struct ctx_exp_open_block *block,
				 struct ctx_exp_packet *packet, bool *ret_fine, struct ctx_err *err)
{
	switch (block->kind) {
	case CTX_EXP_BLOCK_SEEN:
		return ctx_exp_reader_translate_change(reader, block->process, packet, ret_fine, err);
	case CTX_EXP_BLOCK_SYNC:
		return ctx_exp_reader_translate_sync(reader, block, packet, ret_fine, err);
	case CTX_EXP_BLOCK_HEAP:
		*ret_fine = ctx_exp_heap_is_fine(packet);
		return CTX_OK;
	case CTX_EXP_BLOCK_IO:
		*ret_fine = ctx_exp_io_is_fine(block, packet);
		return CTX_OK;
	case CTX_EXP_BLOCK_OMP:
		*ret_fine = packet->operation <= (CTX_EXP_OMP_EVENT | CTX_EXP_OMP_BODY) &&
			    (packet->operation & CTX_EXP_OMP_EVENT) < CTX_OMP_EVENT_N &&
			    ctx_omp_is_value(packet->operation & CTX_EXP_OMP_EVENT, packet->size);
		return CTX_OK;
	case CTX_EXP_BLOCK_MARKS:
		*ret_fine = ctx_exp_mark_is_fine(block, packet);
		return CTX_OK;
	case CTX_EXP_BLOCK_ACCESSES:
		*ret_fine = ctx_exp_access_is_fine(block, packet);
		return CTX_OK;
	default:
		*ret_fine = translate_sample(reader, packet);
		return CTX_OK;
	}
}

static enum ctx_status push_strange(struct ctx_exp_reader *reader, const struct ctx_exp_open_block *block,
				    size_t lost, size_t strange, struct ctx_err *err)
{
	static const struct {
		const char *packets, *unknown;
	} names[] = {
		[CTX_EXP_BLOCK_PROFILE] = {"samples", "metric"},
		[CTX_EXP_BLOCK_SEEN] = {"changes of state", "kind, thread or waker"},
		[CTX_EXP_BLOCK_HEAP] = {"heap operations", "kind or size"},
		[CTX_EXP_BLOCK_SYNC] = {"operations of synchronisation", "kind, duration or thread"},
		[CTX_EXP_BLOCK_IO] = {"inputs and outputs", "kind or size"},
		[CTX_EXP_BLOCK_MARKS] = {"marks", "kind or name"},
		[CTX_EXP_BLOCK_OMP] = {"events of OpenMP", "kind or value"},
		[CTX_EXP_BLOCK_ACCESSES] = {"accesses to memory", "kind or name"},
	};
	char text[128];

	snprintf(text, sizeof(text), "%zu %s lost their call stacks, %zu are of an unknown %s", lost,
		 names[block->kind].packets, strange, names[block->kind].unknown);
	return ctx_exp_reader_push_damage(reader, reader->loading.place.first_ns, &reader->loading.place,
					  text, err);
}

/* Translates packets: numbers to rows, stack ids of the file to emitted ids. */
static enum ctx_status translate_packets(struct ctx_exp_reader *reader, struct ctx_exp_open_block *block,
					 const struct ctx_exp_epoch *epoch, struct ctx_err *err)
{
	size_t n = 0, lost = 0, strange = 0;
	uint32_t last = CTX_NONE, last_row = 0; /* thread; many packets in a row are of one */
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < block->n && status == CTX_OK; i++) {
		struct ctx_exp_packet packet = block->packets[i];
		bool fine = true;

		status = translate(reader, block, &packet, &fine, err);
		if (!fine) {
			strange++;
			continue;
		}
		if (!ctx_exp_epoch_translate(epoch, packet.stack, &packet.stack)) {
			packet.stack = 0;
			lost++;
		}
		if (status == CTX_OK && (packet.thread != last || last == CTX_NONE)) {
			last = packet.thread;
			status = ctx_exp_log_thread(&reader->log, last, block->process, &last_row, err);
		}
		packet.thread = last_row;
		block->packets[n++] = packet;
	}
	block->n = n;
	if (status == CTX_OK && (lost != 0 || strange != 0))
		status = push_strange(reader, block, lost, strange, err);
	return status;
}

/* The block in reader->loading.block is complete: moves it to the heap. */
static enum ctx_status finish_loading(struct ctx_exp_reader *reader, struct ctx_err *err)
{
	struct ctx_exp_open_block *block = reader->loading.block;
	enum ctx_status status;

	if (block->n == 0) {
		ctx_exp_open_block_free(block);
		reader->loading.block = NULL;
		return CTX_OK;
	}
	status = heap_push(reader, block, err);
	if (status != CTX_OK)
		return status;
	reader->loading.block = NULL;
	reader->open.bytes += block->bytes;
	if (has_packets(block))
		reader->dictionaries[block->process].n_open++;
	return CTX_OK;
}

/* One step: loads a frames block that the samples need, or the samples. */
static enum ctx_status go_on_loading(struct ctx_exp_reader *reader, struct ctx_err *err)
{
	struct ctx_exp_open_block *block = reader->loading.block;
	struct ctx_exp_epoch *epoch;
	enum ctx_status status = ctx_exp_reader_epoch(reader, &epoch, err);
	bool some = false;

	if (status != CTX_OK)
		return status;
	if (epoch->highest < reader->loading.max_stack) {
		status = ctx_exp_reader_load_frames(reader, epoch, &some, err);
		if (status != CTX_OK || some)
			return status;
	}
	status = translate_packets(reader, block, epoch, err);
	return status == CTX_OK ? finish_loading(reader, err) : status;
}

static int by_usage_time(const void *a, const void *b)
{
	uint64_t left = ((const struct ctx_exp_usage_record *)a)->time_ns;
	uint64_t right = ((const struct ctx_exp_usage_record *)b)->time_ns;

	return (left > right) - (left < right);
}

static enum ctx_status decode_usage(struct ctx_exp_reader *reader, const struct ctx_exp_block_header *header,
				    struct ctx_exp_open_block *block, struct ctx_err *err)
{
	struct ctx_cursor cursor = ctx_cursor_make(reader->file.payload.bytes, reader->file.payload.n);
	enum ctx_status status = CTX_OK;

	if (header->n_records > reader->file.payload.n / (2 + CTX_EXP_USAGE_FIELDS)) /* a byte each */
		return ctx_err_set(err, CTX_E_FORMAT, "fewer records than the header says");
	block->n = header->n_records;
	block->bytes = block->n * sizeof(*block->usage);
	block->usage = ctx_calloc(block->n, sizeof(*block->usage));
	if (block->usage == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < block->n && status == CTX_OK; i++) {
		struct ctx_exp_usage_record *usage = &block->usage[i];

		status = ctx_exp_get_usage(&cursor, usage, err);
		if (status == CTX_OK && (usage->time_ns > header->last_ns || usage->process == CTX_NONE))
			status = ctx_err_set(err, CTX_E_FORMAT, "a record is outside of its block");
		if (status == CTX_OK)
			status = ctx_exp_log_process(&reader->log, usage->process, &usage->process, err);
	}
	qsort(block->usage, block->n, sizeof(*block->usage), by_usage_time);
	return status;
}

static enum ctx_status decode_packets(struct ctx_exp_reader *reader,
				      const struct ctx_exp_block_header *header,
				      struct ctx_exp_open_block *block, struct ctx_err *err)
{
	bool is_heap = block->kind == CTX_EXP_BLOCK_HEAP;
	uint32_t max = is_heap ? CTX_EXP_HEAP_MAX : CTX_EXP_PACKETS_MAX;
	enum ctx_status status;

	if (header->n_records > max || header->process == CTX_NONE)
		return ctx_err_set(err, CTX_E_FORMAT, "block of %u packets", header->n_records);
	status = ctx_exp_reader_has_room(
		reader, CTX_EXP_COUNTED_PACKETS,
		is_heap ? ctx_exp_heap_counted(header->n_records) : header->n_records, err);
	if (status != CTX_OK)
		return status;
	block->n = header->n_records;
	block->bytes = block->n * sizeof(*block->packets);
	block->packets = ctx_calloc(block->n, sizeof(*block->packets));
	if (block->packets == NULL)
		return ctx_err_nomem(err);
	if (is_heap)
		status = ctx_exp_reader_decode_heap(reader, header, block, err);
	else if (block->kind == CTX_EXP_BLOCK_SYNC)
		status = ctx_exp_reader_decode_sync(reader, header, block, err);
	else if (block->kind == CTX_EXP_BLOCK_IO || block->kind == CTX_EXP_BLOCK_MARKS ||
		 block->kind == CTX_EXP_BLOCK_ACCESSES)
		status = ctx_exp_reader_decode_io(reader, header->first_ns, block, err);
	else
		status = ctx_exp_decode_packets(
			(struct ctx_bytes){reader->file.payload.bytes, reader->file.payload.n},
			header->first_ns, block->packets, block->n, err);
	if (status == CTX_OK && block->packets[block->n - 1].time_ns > header->last_ns)
		status = ctx_err_set(err, CTX_E_FORMAT, "a packet is outside of its block");
	if (status == CTX_OK)
		status = ctx_exp_log_process(&reader->log, header->process, &block->process, err);
	reader->loading.max_stack = 0;
	for (size_t i = 0; i < block->n; i++) {
		if (block->packets[i].stack > reader->loading.max_stack)
			reader->loading.max_stack = block->packets[i].stack;
	}
	return status;
}

/* Reads the next block of the index and starts loading it. */
static enum ctx_status begin_loading(struct ctx_exp_reader *reader, struct ctx_err *err)
{
	const struct ctx_exp_place *place = &reader->index.blocks[reader->next_block++];
	struct ctx_exp_open_block *block = ctx_calloc(1, sizeof(*block));
	struct ctx_exp_block_header header;
	struct ctx_err local = {0};
	enum ctx_status status;

	if (block == NULL)
		return ctx_err_nomem(err);
	block->first_record = place->first_record;
	status = ctx_exp_reader_read_place(reader, place, &header, &local);
	if (status == CTX_OK && header.n_records == 0)
		status = ctx_err_set(&local, CTX_E_FORMAT, "an empty block");
	if (status == CTX_OK) {
		block->kind = kind_of(&header);
		status = has_packets(block) ? decode_packets(reader, &header, block, &local)
			 : block->kind == CTX_EXP_BLOCK_OVERVIEW
				 ? decode_usage(reader, &header, block, &local)
				 : ctx_exp_reader_decode_calls(reader, &header, block, &local);
	}
	if (status != CTX_OK) {
		ctx_exp_open_block_free(block);
		if (status == CTX_E_FORMAT)
			return ctx_exp_reader_push_damage(reader, place->first_ns, place, local.msg, err);
		return ctx_err_set(err, status, "%s", local.msg);
	}
	reader->loading.block = block;
	reader->loading.place = *place;
	reader->loading.epoch = header.epoch;
	return has_packets(block) ? CTX_OK : finish_loading(reader, err);
}

/* Emitting */

static enum ctx_status hand_out_usage(struct ctx_exp_reader *reader, struct ctx_event *ret,
				      struct ctx_err *err)
{
	struct ctx_exp_open_block *block = reader->open.items[0].block;
	const struct ctx_exp_usage_record *usage = &block->usage[block->at];
	const uint64_t *fields = usage->fields;
	enum ctx_status status = ctx_exp_reader_announce(reader, usage->process, usage->time_ns, err);

	if (status != CTX_OK)
		return status;
	*ret = (struct ctx_event){.kind = CTX_EV_USAGE, .time_ns = usage->time_ns};
	ret->process = reader->log.processes[usage->process].number;
	ret->usage = (struct ctx_usage_info){.time_ns = usage->time_ns,
					     .process = ret->process,
					     .user_ns = fields[0],
					     .system_ns = fields[1],
					     .rss_bytes = fields[2],
					     .vsize_bytes = fields[3],
					     .minor_faults = fields[4],
					     .major_faults = fields[5],
					     .voluntary_switches = fields[6],
					     .involuntary_switches = fields[7],
					     .read_bytes = fields[8],
					     .write_bytes = fields[9],
					     .threads = fields[10]};
	advance(reader);
	if (reader->pending.at == reader->pending.n)
		return CTX_OK;
	status = ctx_exp_reader_push(reader, ret, NULL, err); /* after the announcement */
	if (status == CTX_OK)
		pop(reader, ret);
	return status;
}

static enum ctx_status hand_out_call(struct ctx_exp_reader *reader, struct ctx_event *ret,
				     struct ctx_err *err)
{
	struct ctx_exp_open_block *block = reader->open.items[0].block;
	uint32_t thread = block->calls->thread;
	enum ctx_status status;

	if (reader->log.threads[thread].number == CTX_NONE) {
		status = announce_thread(reader, thread, block->process, block->calls->next.time_ns, err);
		if (status == CTX_OK)
			pop(reader, ret);
		return status;
	}
	*ret = (struct ctx_event){.kind = CTX_EV_CALL};
	ret->process = reader->log.processes[block->process].number;
	ret->thread = reader->log.threads[thread].number;
	status = ctx_exp_reader_fill_call(reader, block, ret, err);
	advance(reader);
	return status;
}

/* The row of a thread to be announced before the packet; CTX_NONE: none. */
static uint32_t unannounced(const struct ctx_exp_reader *reader, const struct ctx_exp_open_block *block,
			    const struct ctx_exp_packet *packet)
{
	const struct ctx_exp_thread_row *threads = reader->log.threads;
	uint32_t waker = block->kind == CTX_EXP_BLOCK_SEEN   ? ctx_exp_waking_thread(packet)
			 : block->kind == CTX_EXP_BLOCK_SYNC ? ctx_exp_sync_thread(block, packet)
							     : CTX_NONE;

	if (threads[packet->thread].number == CTX_NONE)
		return packet->thread;
	return waker != CTX_NONE && threads[waker].number == CTX_NONE ? waker : CTX_NONE;
}

static void fill_sample(const struct ctx_exp_packet *packet, struct ctx_event *ret)
{
	ret->sample.weight = packet->weight;
	ret->sample.stack = (struct ctx_event_stack){.id = packet->stack};
	ret->sample.metric = packet->metric;
	ret->sample.cpu = packet->cpu;
}

static void fill_omp(const struct ctx_exp_packet *packet, struct ctx_event *ret)
{
	ret->omp.event = (enum ctx_omp_event)(packet->operation & CTX_EXP_OMP_EVENT);
	ret->omp.has_body = packet->stack != 0 && (packet->operation & CTX_EXP_OMP_BODY) != 0;
	ret->omp.value = (uint32_t)packet->size;
	ret->omp.stack = (struct ctx_event_stack){.id = packet->stack};
}

/* Fills the event of the next packet except time, process and thread. *ret_some: there is one. */
static enum ctx_status fill(struct ctx_exp_reader *reader, const struct ctx_exp_open_block *block,
			    struct ctx_event *event, bool *ret_some, struct ctx_err *err)
{
	switch (block->kind) {
	case CTX_EXP_BLOCK_HEAP:
		event->kind = CTX_EV_TRACED;
		return ctx_exp_reader_fill_heap(reader, block, event, err);
	case CTX_EXP_BLOCK_SYNC:
		event->kind = CTX_EV_TRACED;
		return ctx_exp_reader_fill_sync(reader, block, event, err);
	case CTX_EXP_BLOCK_MARKS:
		event->kind = CTX_EV_TRACED;
		return ctx_exp_reader_fill_mark(reader, block, event, err);
	case CTX_EXP_BLOCK_ACCESSES:
		event->kind = CTX_EV_TRACED;
		return ctx_exp_reader_fill_access(reader, block, event, err);
	case CTX_EXP_BLOCK_IO:
		event->kind = CTX_EV_TRACED;
		return ctx_exp_reader_fill_io(reader, block, event, ret_some, err);
	case CTX_EXP_BLOCK_OMP:
		event->kind = CTX_EV_OMP;
		fill_omp(&block->packets[block->at], event);
		return CTX_OK;
	case CTX_EXP_BLOCK_SEEN:
		event->kind = CTX_EV_STATE;
		ctx_exp_reader_fill_change(reader, &block->packets[block->at], event);
		return CTX_OK;
	default:
		event->kind = CTX_EV_SAMPLE;
		fill_sample(&block->packets[block->at], event);
		return CTX_OK;
	}
}

/* CTX_END: the packet is no event. */
static enum ctx_status hand_out(struct ctx_exp_reader *reader, struct ctx_event *ret, struct ctx_err *err)
{
	struct ctx_exp_open_block *block = reader->open.items[0].block;
	const struct ctx_exp_packet *packet;
	enum ctx_status status = CTX_OK;
	uint32_t unknown;
	bool some = true;

	if (block->kind == CTX_EXP_BLOCK_CALL_EVENTS)
		return hand_out_call(reader, ret, err);
	if (!has_packets(block))
		return hand_out_usage(reader, ret, err);
	packet = &block->packets[block->at];
	unknown = unannounced(reader, block, packet);
	if (unknown != CTX_NONE) {
		status = announce_thread(reader, unknown, block->process, packet->time_ns, err);
		if (status == CTX_OK)
			pop(reader, ret);
		return status;
	}
	*ret = (struct ctx_event){.time_ns = packet->time_ns};
	ret->process = reader->log.processes[block->process].number;
	ret->thread = reader->log.threads[packet->thread].number;
	status = fill(reader, block, ret, &some, err);
	advance(reader);
	return status == CTX_OK && !some ? CTX_END : status;
}

enum ctx_status ctx_exp_reader_next(struct ctx_event_source *source, struct ctx_event *ret,
				    struct ctx_err *err)
{
	struct ctx_exp_reader *reader = source->impl;
	enum ctx_status status = CTX_OK;

	free(reader->pending.shown);
	reader->pending.shown = NULL;
	while (status == CTX_OK) {
		uint64_t top, entry, block;

		if (reader->pending.at < reader->pending.n) {
			pop(reader, ret);
			return CTX_OK;
		}
		if (reader->loading.block != NULL) {
			status = go_on_loading(reader, err);
			continue;
		}
		top = reader->open.n != 0 ? reader->open.items[0].time_ns : UINT64_MAX;
		entry = reader->next_entry < reader->log.n_entries
				? reader->log.entries[reader->next_entry].time_ns
				: UINT64_MAX;
		block = reader->next_block < reader->index.n_blocks
				? reader->index.blocks[reader->next_block].first_ns
				: UINT64_MAX;
		if (reader->scan.grows && top >= reader->scan.horizon_ns &&
		    entry >= reader->scan.horizon_ns && block >= reader->scan.horizon_ns)
			return CTX_END;
		if (reader->next_entry < reader->log.n_entries && entry <= top && entry <= block)
			status = push_entry(reader, &reader->log.entries[reader->next_entry++], err);
		else if (reader->next_block < reader->index.n_blocks && block <= top &&
			 (reader->open.n == 0 || reader->open.bytes < OPEN_BYTES_MAX))
			status = begin_loading(reader, err);
		else if (reader->open.n == 0)
			return CTX_END;
		else if ((status = hand_out(reader, ret, err)) != CTX_END)
			return status;
		else
			status = CTX_OK;
	}
	return status;
}

uint64_t ctx_exp_reader_progress(const struct ctx_event_source *source)
{
	const struct ctx_exp_reader *reader = source->impl;

	return reader->consumed < reader->index.bytes ? reader->consumed : reader->index.bytes;
}
