/*
 * Merges what an experiment holds, by time.
 *
 *	log entries (sorted) ---------------.
 *	blocks by first time --> open blocks +--> the earliest event
 *	                         (a heap)   -'
 *
 * A block is read when the merge reaches its first time, and freed behind its last packet. Opening a block of samples first brings the dictionary of its process up to the largest stack id in it: blocks of
 * frames are read one by one and handed out. Ids in the files begin anew in each epoch; `ranges` maps them to the ids handed out, which skip nothing even when frames were lost.
 */
#include "formats/experiment/exp_reader.h"

#include "base/compress.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "formats/experiment/exp_archive.h"
#include "formats/experiment/exp_index.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOTES_MAX ((size_t)1 << 20)
#define OPEN_BYTES_MAX ((size_t)1 << 30) /* of open blocks; beyond it order gives way */

struct range {
	uint32_t first, n; /* ids in the file */
	uint32_t out;	   /* id handed out for `first` */
};

struct epoch {
	uint32_t epoch;
	size_t next;	    /* frames block to look at next */
	uint32_t highest;   /* id in the file */
	uint32_t truncated; /* the node that stands for lost frames, 0 not made yet */
	struct range *ranges;
	size_t n_ranges, ranges_cap;
};

struct dictionary { /* of one process row */
	struct epoch *epochs;
	size_t n_epochs, epochs_cap;
	uint32_t n_ids;	 /* handed out */
	uint32_t n_open; /* blocks that are being handed out */
};

struct open_block {
	uint32_t process; /* row */
	size_t n, at, bytes;
	struct ctx_exp_packet *packets;	    /* or */
	struct ctx_exp_usage_record *usage; /* its process fields are rows */
};

struct heap_item {
	uint64_t time_ns;
	uint64_t order;
	struct open_block *block;
};

struct pending {
	struct ctx_event event;
	char *text; /* owned */
};

struct reader {
	struct ctx_event_source source;
	char *path;
	int dir;
	struct ctx_exp_log log;
	struct ctx_exp_index index;
	struct dictionary *dictionaries; /* by process row */
	size_t n_dictionaries, dictionaries_cap;
	struct heap_item *heap;
	size_t n_heap, heap_cap;
	size_t next_entry, next_block, open_bytes;
	uint64_t order, consumed;
	struct pending *pending;
	size_t n_pending, pending_at, pending_cap;
	char *shown; /* text of the event handed out last */
	struct open_block *loading;
	uint32_t loading_max, loading_epoch;
	struct ctx_exp_place loading_place;
	uint32_t *parents;
	uint64_t *addresses;
	size_t n_nodes, parents_cap, addresses_cap;
	uint32_t next_process, next_thread;
	int fd; /* of file `fd_file` */
	uint32_t fd_file;
	struct ctx_compressor compressor;
	struct ctx_buf scratch, payload;
	struct ctx_strtab archives; /* names in archives/ */
	size_t n_archives;
	struct ctx_buf archive_path, notes;
	char *kallsyms, *archive_root;
	bool thread_damage_told;
};

/* Pending events */

static enum ctx_status push(struct reader *reader, const struct ctx_event *event, char *text,
			    struct ctx_err *err)
{
	enum ctx_status status;

	if (reader->pending_at == reader->n_pending)
		reader->pending_at = reader->n_pending = 0;
	status = ctx_grow(&reader->pending, &reader->pending_cap, reader->n_pending + 1, err);
	if (status != CTX_OK) {
		free(text);
		return status;
	}
	reader->pending[reader->n_pending++] = (struct pending){*event, text};
	return CTX_OK;
}

static enum ctx_status push_damage(struct reader *reader, uint64_t time_ns, const struct ctx_exp_place *place,
				   const char *why, struct ctx_err *err)
{
	struct ctx_event event = {.kind = CTX_EV_DAMAGE, .time_ns = time_ns};
	char *text;

	if (asprintf(&text, "%s: offset %llu: %s; block skipped", reader->index.files[place->file],
		     (unsigned long long)place->offset, why) < 0)
		return ctx_err_nomem(err);
	event.text = text;
	return push(reader, &event, text, err);
}

static void pop(struct reader *reader, struct ctx_event *ret)
{
	struct pending *pending = &reader->pending[reader->pending_at++];

	*ret = pending->event;
	reader->shown = pending->text;
}

/* Announcements */

static enum ctx_status announce_process(struct reader *reader, uint32_t row, uint64_t time_ns,
					struct ctx_err *err)
{
	struct ctx_exp_process_row *process = &reader->log.processes[row];
	struct ctx_event event = {.kind = CTX_EV_PROCESS_START, .time_ns = time_ns};
	uint32_t parent;

	if (process->number != CTX_NONE)
		return CTX_OK;
	process->number = reader->next_process++;
	event.process = process->number;
	event.process_start.pid = process->pid;
	event.process_start.command = process->command;
	event.process_start.lineage = process->lineage;
	parent = process->parent_key != CTX_NONE
			 ? ctx_map64_get(&reader->log.process_of_key, process->parent_key)
			 : CTX_MAP64_NONE;
	event.process_start.parent =
		parent != CTX_MAP64_NONE && parent != row ? reader->log.processes[parent].number : CTX_NONE;
	return push(reader, &event, NULL, err);
}

static enum ctx_status announce_thread(struct reader *reader, uint32_t row, uint32_t process,
				       uint64_t time_ns, struct ctx_err *err)
{
	struct ctx_exp_thread_row *thread = &reader->log.threads[row];
	struct ctx_event event = {.kind = CTX_EV_THREAD_START, .time_ns = time_ns};
	enum ctx_status status;

	if (thread->number != CTX_NONE)
		return CTX_OK;
	if (thread->process == CTX_NONE)
		thread->process = process;
	status = announce_process(reader, thread->process, time_ns, err);
	if (status != CTX_OK)
		return status;
	thread->number = reader->next_thread++;
	event.thread = thread->number;
	event.process = reader->log.processes[thread->process].number;
	event.thread_start.tid = thread->tid;
	event.thread_start.name = thread->name;
	if (!thread->known && !reader->thread_damage_told) {
		struct ctx_event told = {.kind = CTX_EV_DAMAGE, .time_ns = time_ns};

		reader->thread_damage_told = true;
		told.text = "log.xml: samples name threads that the log does not have";
		status = push(reader, &told, NULL, err);
	}
	return status == CTX_OK ? push(reader, &event, NULL, err) : status;
}

/* Log entries */

/* The archived copy of a load object, if there is one; valid until the next call. */
static const char *archive_of(struct reader *reader, const char *path, const char *build_id)
{
	char name[CTX_EXP_ARCHIVE_NAME_MAX];
	struct ctx_buf *out = &reader->archive_path;
	uint32_t before = (uint32_t)reader->archives.n;
	uint32_t id;

	if (before == 0)
		return "";
	ctx_exp_archive_name(path, build_id, name);
	/* A name that was not there is remembered with an id beyond those that the directory holds. */
	if (ctx_strtab_add_text(&reader->archives, name, &id, NULL) != CTX_OK || id >= reader->n_archives)
		return "";
	ctx_buf_clear(out);
	ctx_buf_printf(out, "%s/%s", reader->archive_root, name);
	ctx_buf_put_u8(out, 0);
	return out->failed ? "" : (const char *)out->bytes;
}

static enum ctx_status push_entry(struct reader *reader, const struct ctx_exp_entry *entry,
				  struct ctx_err *err)
{
	struct ctx_event event = {.kind = entry->kind, .time_ns = entry->time_ns};
	uint32_t process = entry->process;
	enum ctx_status status = CTX_OK;

	if (entry->kind == CTX_EV_PROCESS_START)
		return announce_process(reader, entry->process, entry->time_ns, err);
	if (entry->thread != CTX_NONE) {
		uint32_t of = reader->log.threads[entry->thread].process;

		/* A thread without a line of its own is put under the first process. */
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
		status = announce_process(reader, process, entry->time_ns, err);
		if (status != CTX_OK)
			return status;
		event.process = reader->log.processes[process].number;
	}
	switch (entry->kind) {
	case CTX_EV_PROCESS_EXIT:
		event.process_exit.status = (int32_t)entry->a;
		event.process_exit.has_status = entry->b != 0;
		break;
	case CTX_EV_THREAD_NAME:
		event.thread_name = entry->text;
		break;
	case CTX_EV_MAP:
	case CTX_EV_UNMAP:
		event.map = (struct ctx_map_event){.address = entry->a,
						   .size = entry->b,
						   .file_offset = entry->c,
						   .path = entry->text,
						   .build_id = entry->text2,
						   .archive = archive_of(reader, entry->text, entry->text2)};
		break;
	case CTX_EV_LOST:
	case CTX_EV_THROTTLE:
		event.count = entry->a;
		break;
	case CTX_EV_DAMAGE:
	case CTX_EV_WARNING:
		event.text = entry->text;
		break;
	default:
		break;
	}
	return push(reader, &event, NULL, err);
}

/* The heap of open blocks */

static inline bool before(const struct heap_item *a, const struct heap_item *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->order < b->order;
}

static void sift_down(struct reader *reader)
{
	struct heap_item *heap = reader->heap;
	struct heap_item item = heap[0];
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child + 1 < reader->n_heap && before(&heap[child + 1], &heap[child]))
			child++;
		if (child >= reader->n_heap || !before(&heap[child], &item))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = item;
}

static enum ctx_status heap_push(struct reader *reader, struct open_block *block, struct ctx_err *err)
{
	struct heap_item item = {.order = reader->order++, .block = block};
	enum ctx_status status = ctx_grow(&reader->heap, &reader->heap_cap, reader->n_heap + 1, err);
	size_t at;

	if (status != CTX_OK)
		return status;
	item.time_ns = block->packets != NULL ? block->packets[0].time_ns : block->usage[0].time_ns;
	for (at = reader->n_heap++; at != 0 && before(&item, &reader->heap[(at - 1) / 2]); at = (at - 1) / 2)
		reader->heap[at] = reader->heap[(at - 1) / 2];
	reader->heap[at] = item;
	return CTX_OK;
}

static void free_block(struct open_block *block)
{
	if (block == NULL)
		return;
	free(block->packets);
	free(block->usage);
	free(block);
}

/* The top's current record was handed out. */
static void advance(struct reader *reader)
{
	struct open_block *block = reader->heap[0].block;

	if (++block->at < block->n) {
		reader->heap[0].time_ns = block->packets != NULL ? block->packets[block->at].time_ns
								 : block->usage[block->at].time_ns;
	} else {
		if (block->packets != NULL)
			reader->dictionaries[block->process].n_open--;
		reader->open_bytes -= block->bytes;
		free_block(block);
		reader->heap[0] = reader->heap[--reader->n_heap];
	}
	if (reader->n_heap > 1)
		sift_down(reader);
}

/* Reading blocks */

static enum ctx_status read_place(struct reader *reader, const struct ctx_exp_place *place,
				  struct ctx_exp_block_header *ret, struct ctx_err *err)
{
	const char *name = reader->index.files[place->file];
	enum ctx_status status;

	if (reader->fd < 0 || reader->fd_file != place->file) {
		if (reader->fd >= 0)
			close(reader->fd);
		reader->fd = openat(reader->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		reader->fd_file = place->file;
		if (reader->fd < 0)
			return ctx_err_errno(err, CTX_E_FORMAT, "cannot be opened any more");
	}
	status = ctx_exp_read_block(reader->fd, name, place->offset, &reader->compressor, &reader->scratch,
				    ret, &reader->payload, err);
	if (status == CTX_OK)
		reader->consumed += ret->header_bytes + (uint64_t)ret->frame_bytes;
	return status;
}

static struct dictionary *get_dictionary(struct reader *reader, uint32_t row, struct ctx_err *err)
{
	if (ctx_grow(&reader->dictionaries, &reader->dictionaries_cap, (size_t)row + 1, err) != CTX_OK)
		return NULL;
	while (reader->n_dictionaries <= row)
		reader->dictionaries[reader->n_dictionaries++] = (struct dictionary){0};
	return &reader->dictionaries[row];
}

static void clear_dictionary(struct dictionary *dictionary)
{
	for (size_t i = 0; i < dictionary->n_epochs; i++)
		free(dictionary->epochs[i].ranges);
	dictionary->n_epochs = 0;
	dictionary->n_ids = 0;
}

/* First frames block of a process (by key). */
static size_t first_frames(const struct ctx_exp_index *index, uint32_t process)
{
	size_t low = 0, high = index->n_frames;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (index->frames[middle].process < process)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The epoch of a process, made if it is new: then, if nothing of the old ones is open, the dictionary is begun anew. */
static enum ctx_status get_epoch(struct reader *reader, uint32_t row, uint32_t epoch, uint64_t time_ns,
				 struct epoch **ret, struct ctx_err *err)
{
	struct dictionary *dictionary = get_dictionary(reader, row, err);
	struct ctx_event event = {.kind = CTX_EV_STACKS_RESET, .time_ns = time_ns};
	enum ctx_status status;

	if (dictionary == NULL)
		return CTX_E_NOMEM;
	for (size_t i = 0; i < dictionary->n_epochs; i++) {
		if (dictionary->epochs[i].epoch == epoch) {
			*ret = &dictionary->epochs[i];
			return CTX_OK;
		}
	}
	status = announce_process(reader, row, time_ns, err);
	if (status == CTX_OK && dictionary->n_epochs != 0 && dictionary->n_open == 0) {
		clear_dictionary(dictionary);
		event.process = reader->log.processes[row].number;
		status = push(reader, &event, NULL, err);
	}
	if (status == CTX_OK)
		status =
			ctx_grow(&dictionary->epochs, &dictionary->epochs_cap, dictionary->n_epochs + 1, err);
	if (status != CTX_OK)
		return status;
	*ret = &dictionary->epochs[dictionary->n_epochs++];
	**ret = (struct epoch){.epoch = epoch,
			       .next = first_frames(&reader->index, reader->log.processes[row].key)};
	return CTX_OK;
}

/* The id handed out for an id of the file; false if it is lost. */
static inline bool translate(const struct epoch *epoch, uint32_t id, uint32_t *ret)
{
	size_t low = 0, high = epoch->n_ranges;

	if (id == 0) {
		*ret = 0;
		return true;
	}
	while (low < high) { /* the first range that ends behind id */
		size_t middle = low + (high - low) / 2;

		if (epoch->ranges[middle].first + (epoch->ranges[middle].n - 1) < id)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == epoch->n_ranges || epoch->ranges[low].first > id)
		return false;
	*ret = epoch->ranges[low].out + (id - epoch->ranges[low].first);
	return true;
}

static enum ctx_status add_node(struct reader *reader, uint32_t parent, uint64_t address, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&reader->parents, &reader->parents_cap, reader->n_nodes + 1, err);

	if (status == CTX_OK)
		status = ctx_grow(&reader->addresses, &reader->addresses_cap, reader->n_nodes + 1, err);
	if (status != CTX_OK)
		return status;
	reader->parents[reader->n_nodes] = parent;
	reader->addresses[reader->n_nodes++] = address;
	return CTX_OK;
}

/* Reads a payload of frames as ids of the file; CTX_E_FORMAT leaves the epoch as it was. */
static enum ctx_status decode_frames(struct reader *reader, const struct epoch *epoch, uint32_t *ret_first,
				     struct ctx_err *err)
{
	struct ctx_exp_frames_in in;
	enum ctx_status status = ctx_exp_frames_begin(reader->payload.bytes, reader->payload.n, &in, err);
	uint32_t id, parent;
	uint64_t address;

	if (status != CTX_OK)
		return status;
	*ret_first = in.next_id;
	if (*ret_first <= epoch->highest)
		return ctx_err_set(err, CTX_E_FORMAT, "call stacks that are there already");
	reader->n_nodes = 0;
	while ((status = ctx_exp_frames_next(&in, &id, &parent, &address, err)) == CTX_OK) {
		status = add_node(reader, parent, address, err);
		if (status != CTX_OK)
			return status;
	}
	return status == CTX_END ? CTX_OK : status;
}

/* Turns the parents of the nodes just decoded into ids handed out. If some are lost, a <Truncated-stack> node, last of the array's front, takes their place. */
static enum ctx_status adopt_frames(struct reader *reader, uint32_t row, struct epoch *epoch, uint32_t first,
				    struct ctx_err *err)
{
	struct dictionary *dictionary = &reader->dictionaries[row];
	uint32_t n = (uint32_t)reader->n_nodes;
	bool missing = false;
	uint32_t out, shift;
	enum ctx_status status;

	for (uint32_t i = 0; i < n && !missing; i++)
		missing = reader->parents[i] < first && !translate(epoch, reader->parents[i], &out);
	if (n > UINT32_MAX - 2 - dictionary->n_ids)
		return ctx_err_set(err, CTX_E_FORMAT, "too many call stacks");
	shift = missing && epoch->truncated == 0;
	if (shift != 0) {
		status = add_node(reader, 0, 0, err);
		if (status != CTX_OK)
			return status;
		memmove(reader->parents + 1, reader->parents, n * sizeof(*reader->parents));
		memmove(reader->addresses + 1, reader->addresses, n * sizeof(*reader->addresses));
		reader->parents[0] = 0;
		reader->addresses[0] = CTX_FRAME_TRUNCATED;
		epoch->truncated = dictionary->n_ids + 1;
	}
	status = ctx_grow(&epoch->ranges, &epoch->ranges_cap, epoch->n_ranges + 1, err);
	if (status != CTX_OK)
		return status;
	out = dictionary->n_ids + 1 + shift;
	for (uint32_t i = shift; i < n + shift; i++) {
		uint32_t *parent = &reader->parents[i];

		if (*parent >= first)
			*parent = out + (*parent - first);
		else if (!translate(epoch, *parent, parent))
			*parent = epoch->truncated;
	}
	epoch->ranges[epoch->n_ranges++] = (struct range){first, n, out};
	epoch->highest = first + n - 1;
	return CTX_OK;
}

/* Takes in the next frames block of the epoch; *ret_some tells whether there was one. */
static enum ctx_status load_frames(struct reader *reader, uint32_t row, struct epoch *epoch, uint64_t time_ns,
				   bool *ret_some, struct ctx_err *err)
{
	uint32_t key = reader->log.processes[row].key;
	struct ctx_event event = {.kind = CTX_EV_STACKS, .time_ns = time_ns};
	struct dictionary *dictionary = &reader->dictionaries[row];
	const struct ctx_exp_place *place;
	struct ctx_exp_block_header header;
	struct ctx_err local = {0};
	enum ctx_status status;
	uint32_t first;

	while (epoch->next < reader->index.n_frames && reader->index.frames[epoch->next].process == key &&
	       reader->index.frames[epoch->next].epoch != epoch->epoch)
		epoch->next++;
	*ret_some = epoch->next < reader->index.n_frames && reader->index.frames[epoch->next].process == key;
	if (!*ret_some)
		return CTX_OK;
	place = &reader->index.frames[epoch->next++];
	status = read_place(reader, place, &header, &local);
	if (status == CTX_OK)
		status = decode_frames(reader, epoch, &first, &local);
	if (status == CTX_OK && reader->n_nodes == 0)
		return CTX_OK;
	if (status == CTX_OK)
		status = adopt_frames(reader, row, epoch, first, &local);
	if (status == CTX_E_FORMAT)
		return push_damage(reader, time_ns, place, local.msg, err);
	if (status != CTX_OK)
		return ctx_err_set(err, status, "%s", local.msg);
	event.process = reader->log.processes[row].number;
	event.stacks.first = dictionary->n_ids + 1;
	event.stacks.n = (uint32_t)reader->n_nodes;
	event.stacks.parents = reader->parents;
	event.stacks.addresses = reader->addresses;
	dictionary->n_ids += (uint32_t)reader->n_nodes;
	return push(reader, &event, NULL, err);
}

/* Makes packets ready to be handed out: rows instead of numbers, ids handed out instead of those of the file. */
static enum ctx_status translate_packets(struct reader *reader, struct open_block *block,
					 const struct epoch *epoch, struct ctx_err *err)
{
	size_t n = 0, lost = 0, strange = 0;
	enum ctx_status status = CTX_OK;
	char text[128];

	for (size_t i = 0; i < block->n && status == CTX_OK; i++) {
		struct ctx_exp_packet packet = block->packets[i];

		if (packet.metric >= reader->log.n_metrics) {
			strange++;
			continue;
		}
		if (!translate(epoch, packet.stack, &packet.stack)) {
			packet.stack = 0;
			lost++;
		}
		if (packet.weight == 0)
			packet.weight = reader->log.periods[packet.metric];
		status = ctx_exp_log_thread(&reader->log, packet.thread, block->process, &packet.thread, err);
		block->packets[n++] = packet;
	}
	block->n = n;
	if (status == CTX_OK && (lost != 0 || strange != 0)) {
		snprintf(text, sizeof(text),
			 "%zu samples lost their call stacks, %zu are of an unknown metric", lost, strange);
		status = push_damage(reader, reader->loading_place.first_ns, &reader->loading_place, text,
				     err);
	}
	return status;
}

/* The block in reader->loading is complete: it goes to the heap. */
static enum ctx_status finish_loading(struct reader *reader, struct ctx_err *err)
{
	struct open_block *block = reader->loading;
	enum ctx_status status;

	if (block->n == 0) {
		free_block(block);
		reader->loading = NULL;
		return CTX_OK;
	}
	status = heap_push(reader, block, err);
	if (status != CTX_OK)
		return status;
	reader->loading = NULL;
	reader->open_bytes += block->bytes;
	if (block->packets != NULL)
		reader->dictionaries[block->process].n_open++;
	return CTX_OK;
}

/* One step: a frames block that the samples need, or the samples themselves. */
static enum ctx_status go_on_loading(struct reader *reader, struct ctx_err *err)
{
	struct open_block *block = reader->loading;
	struct epoch *epoch;
	enum ctx_status status = get_epoch(reader, block->process, reader->loading_epoch,
					   reader->loading_place.first_ns, &epoch, err);
	bool some = false;

	if (status != CTX_OK)
		return status;
	if (epoch->highest < reader->loading_max) {
		status = load_frames(reader, block->process, epoch, reader->loading_place.first_ns, &some,
				     err);
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

static enum ctx_status decode_usage(struct reader *reader, const struct ctx_exp_block_header *header,
				    struct open_block *block, struct ctx_err *err)
{
	struct ctx_cursor cursor = ctx_cursor_make(reader->payload.bytes, reader->payload.n);
	enum ctx_status status = CTX_OK;

	if (header->n_records > reader->payload.n)
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

static enum ctx_status decode_samples(struct reader *reader, const struct ctx_exp_block_header *header,
				      struct open_block *block, struct ctx_err *err)
{
	enum ctx_status status;

	if (header->n_records > CTX_EXP_PACKETS_MAX || header->process == CTX_NONE)
		return ctx_err_set(err, CTX_E_FORMAT, "block of %u samples", header->n_records);
	block->n = header->n_records;
	block->bytes = block->n * sizeof(*block->packets);
	block->packets = ctx_calloc(block->n, sizeof(*block->packets));
	if (block->packets == NULL)
		return ctx_err_nomem(err);
	status = ctx_exp_decode_packets(reader->payload.bytes, reader->payload.n, header->first_ns,
					block->packets, block->n, err);
	if (status == CTX_OK && block->packets[block->n - 1].time_ns > header->last_ns)
		status = ctx_err_set(err, CTX_E_FORMAT, "a sample is outside of its block");
	if (status == CTX_OK)
		status = ctx_exp_log_process(&reader->log, header->process, &block->process, err);
	reader->loading_max = 0;
	for (size_t i = 0; i < block->n; i++) {
		if (block->packets[i].stack > reader->loading_max)
			reader->loading_max = block->packets[i].stack;
	}
	return status;
}

/* Reads the next block of the index and begins to load it. */
static enum ctx_status begin_loading(struct reader *reader, struct ctx_err *err)
{
	const struct ctx_exp_place *place = &reader->index.blocks[reader->next_block++];
	struct open_block *block = ctx_calloc(1, sizeof(*block));
	struct ctx_exp_block_header header;
	struct ctx_err local = {0};
	enum ctx_status status;

	if (block == NULL)
		return ctx_err_nomem(err);
	status = read_place(reader, place, &header, &local);
	if (status == CTX_OK && header.n_records == 0)
		status = ctx_err_set(&local, CTX_E_FORMAT, "an empty block");
	if (status == CTX_OK)
		status = header.kind == CTX_EXP_BLOCK_OVERVIEW
				 ? decode_usage(reader, &header, block, &local)
				 : decode_samples(reader, &header, block, &local);
	if (status != CTX_OK) {
		free_block(block);
		if (status == CTX_E_FORMAT)
			return push_damage(reader, place->first_ns, place, local.msg, err);
		return ctx_err_set(err, status, "%s", local.msg);
	}
	reader->loading = block;
	reader->loading_place = *place;
	reader->loading_epoch = header.epoch;
	return block->packets != NULL ? CTX_OK : finish_loading(reader, err);
}

/* Handing out */

static enum ctx_status hand_out_usage(struct reader *reader, struct ctx_event *ret, struct ctx_err *err)
{
	struct open_block *block = reader->heap[0].block;
	const struct ctx_exp_usage_record *usage = &block->usage[block->at];
	const uint64_t *fields = usage->fields;
	enum ctx_status status = announce_process(reader, usage->process, usage->time_ns, err);

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
	if (reader->pending_at == reader->n_pending)
		return CTX_OK;
	status = push(reader, ret, NULL, err); /* behind the announcement */
	if (status == CTX_OK)
		pop(reader, ret);
	return status;
}

static enum ctx_status hand_out(struct reader *reader, struct ctx_event *ret, struct ctx_err *err)
{
	struct open_block *block = reader->heap[0].block;
	const struct ctx_exp_packet *packet;
	const struct ctx_exp_thread_row *thread;

	if (block->packets == NULL)
		return hand_out_usage(reader, ret, err);
	packet = &block->packets[block->at];
	thread = &reader->log.threads[packet->thread];
	if (thread->number == CTX_NONE) {
		enum ctx_status status =
			announce_thread(reader, packet->thread, block->process, packet->time_ns, err);

		if (status == CTX_OK)
			pop(reader, ret);
		return status;
	}
	ret->kind = CTX_EV_SAMPLE;
	ret->time_ns = packet->time_ns;
	ret->process = reader->log.processes[block->process].number;
	ret->thread = thread->number;
	ret->sample.weight = packet->weight;
	ret->sample.stack = packet->stack;
	ret->sample.metric = packet->metric;
	ret->sample.cpu = packet->cpu;
	advance(reader);
	return CTX_OK;
}

static enum ctx_status next(struct ctx_event_source *source, struct ctx_event *ret, struct ctx_err *err)
{
	struct reader *reader = source->impl;
	enum ctx_status status = CTX_OK;

	free(reader->shown);
	reader->shown = NULL;
	while (status == CTX_OK) {
		uint64_t top, entry, block;

		if (reader->pending_at < reader->n_pending) {
			pop(reader, ret);
			return CTX_OK;
		}
		if (reader->loading != NULL) {
			status = go_on_loading(reader, err);
			continue;
		}
		top = reader->n_heap != 0 ? reader->heap[0].time_ns : UINT64_MAX;
		entry = reader->next_entry < reader->log.n_entries
				? reader->log.entries[reader->next_entry].time_ns
				: UINT64_MAX;
		block = reader->next_block < reader->index.n_blocks
				? reader->index.blocks[reader->next_block].first_ns
				: UINT64_MAX;
		if (reader->next_entry < reader->log.n_entries && entry <= top && entry <= block)
			status = push_entry(reader, &reader->log.entries[reader->next_entry++], err);
		else if (reader->next_block < reader->index.n_blocks && block <= top &&
			 (reader->n_heap == 0 || reader->open_bytes < OPEN_BYTES_MAX))
			status = begin_loading(reader, err);
		else if (reader->n_heap != 0)
			return hand_out(reader, ret, err);
		else
			return CTX_END;
	}
	return status;
}

static uint64_t progress(const struct ctx_event_source *source)
{
	const struct reader *reader = source->impl;

	return reader->consumed < reader->index.bytes ? reader->consumed : reader->index.bytes;
}

static void close_reader(struct ctx_event_source *source)
{
	struct reader *reader = source->impl;

	for (size_t i = 0; i < reader->n_heap; i++)
		free_block(reader->heap[i].block);
	for (size_t i = reader->pending_at; i < reader->n_pending; i++)
		free(reader->pending[i].text);
	for (size_t i = 0; i < reader->n_dictionaries; i++) {
		clear_dictionary(&reader->dictionaries[i]);
		free(reader->dictionaries[i].epochs);
	}
	if (reader->fd >= 0)
		close(reader->fd);
	if (reader->dir >= 0)
		close(reader->dir);
	free_block(reader->loading);
	free(reader->path);
	free(reader->dictionaries);
	free(reader->heap);
	free(reader->pending);
	free(reader->shown);
	free(reader->parents);
	free(reader->addresses);
	free(reader->kallsyms);
	free(reader->archive_root);
	ctx_strtab_deinit(&reader->archives);
	ctx_buf_deinit(&reader->archive_path);
	ctx_buf_deinit(&reader->notes);
	ctx_buf_deinit(&reader->scratch);
	ctx_buf_deinit(&reader->payload);
	ctx_compressor_deinit(&reader->compressor);
	ctx_exp_log_deinit(&reader->log);
	ctx_exp_index_deinit(&reader->index);
	free(reader);
}

/* Opening */

/* A regular file below the experiment, or -1. Links are not followed, and a pipe does not hold us up. */
static int open_file(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat info;

	if (fd >= 0 && (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))) {
		close(fd);
		errno = EINVAL;
		return -1;
	}
	return fd;
}

static bool is_data_file(const char *name)
{
	return name[0] != '.' && name[0] != '_' && strchr(name, '.') == NULL && strcmp(name, "notes") != 0 &&
	       strcmp(name, "archives") != 0;
}

/* Names of a directory, sorted, so that the same experiment gives the same events. */
static enum ctx_status list_names(int dir, const char *below, struct ctx_strtab *names, struct ctx_err *err)
{
	int fd = openat(dir, below, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
	enum ctx_status status = CTX_OK;
	struct dirent *item;
	uint32_t id;

	if (stream == NULL) {
		if (fd >= 0)
			close(fd);
		return CTX_OK; /* nothing that can be used */
	}
	while (status == CTX_OK && (item = readdir(stream)) != NULL)
		status = ctx_strtab_add_text(names, item->d_name, &id, err);
	closedir(stream);
	return status;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* A file that is there and cannot be opened (errno says why) is not the same as none. */
static enum ctx_status tell_closed(struct reader *reader, const char *name, struct ctx_err *err)
{
	struct ctx_err why = {0};

	ctx_err_errno(&why, CTX_E_IO, "%s: cannot be opened", name);
	return ctx_exp_log_damage(&reader->log, why.msg, err);
}

static enum ctx_status read_text_file(struct reader *reader, const char *name, struct ctx_err *err)
{
	int fd CTX_AUTO_CLOSE = open_file(reader->dir, name);
	struct ctx_err local = {0};
	enum ctx_status status;

	if (fd < 0)
		return tell_closed(reader, name, err);
	status = ctx_exp_log_read(&reader->log, fd, name, &local);
	if (status == CTX_E_VERSION && strcmp(name, "log.xml") != 0)
		return ctx_exp_log_damage(&reader->log, local.msg, err);
	return status == CTX_OK ? CTX_OK : ctx_err_set(err, status, "%s", local.msg);
}

static enum ctx_status tell_mapless(struct reader *reader, const char *below, struct ctx_err *err)
{
	char text[512];

	snprintf(text, sizeof(text), "%s%smap.xml: missing, so no address has a name",
		 strcmp(below, ".") == 0 ? "" : below, strcmp(below, ".") == 0 ? "" : "/");
	return ctx_exp_log_damage(&reader->log, text, err);
}

/* The data files and the map of the founder (`below` is ".") or of a descendant. */
static enum ctx_status read_directory(struct reader *reader, const char *below, struct ctx_err *err)
{
	struct ctx_strtab names = {0};
	bool founder = strcmp(below, ".") == 0, has_map = false;
	enum ctx_status status = list_names(reader->dir, below, &names, err);
	char *name = NULL;

	if (status == CTX_OK && names.n != 0)
		qsort(names.strings, names.n, sizeof(*names.strings), by_text);
	for (size_t i = 0; i < names.n && status == CTX_OK; i++) {
		const char *last = names.strings[i];
		int fd CTX_AUTO_CLOSE = -1;

		free(name);
		name = founder ? strdup(last) : ctx_path_join(below, last);
		if (name == NULL)
			status = ctx_err_nomem(err);
		else if (strcmp(last, "map.xml") == 0)
			status = read_text_file(reader, name, err);
		else if (is_data_file(last) && (fd = open_file(reader->dir, name)) >= 0)
			status = ctx_exp_index_add(&reader->index, fd, name, &reader->log, err);
		else if (is_data_file(last) && (errno == EACCES || errno == EPERM || errno == EIO))
			status = tell_closed(reader, name,
					     err); /* what is no file at all belongs to somebody else */
		has_map = has_map || strcmp(last, "map.xml") == 0;
	}
	if (status == CTX_OK && !has_map)
		status = tell_mapless(reader, below, err);
	free(name);
	ctx_strtab_deinit(&names);
	return status;
}

/* "_f1_x2.er": parts of '_', a letter and digits. */
static bool is_lineage(const char *name)
{
	if (*name != '_')
		return false;
	while (*name == '_') {
		size_t n;

		if (strchr("fxpn", name[1]) == NULL || name[1] == '\0')
			return false;
		n = strspn(name + 2, "0123456789");
		if (n == 0)
			return false;
		name += 2 + n;
	}
	return strcmp(name, ".er") == 0;
}

static enum ctx_status read_all(struct reader *reader, struct ctx_err *err)
{
	struct ctx_strtab names = {0};
	enum ctx_status status = read_text_file(reader, "log.xml", err);

	if (status == CTX_OK && !reader->log.has_run)
		status = ctx_err_set(err, CTX_E_FORMAT, "log.xml: no run event in it");
	if (status == CTX_OK)
		status = read_directory(reader, ".", err);
	if (status == CTX_OK)
		status = list_names(reader->dir, ".", &names, err);
	if (status == CTX_OK && names.n != 0)
		qsort(names.strings, names.n, sizeof(*names.strings), by_text);
	for (size_t i = 0; i < names.n && status == CTX_OK; i++) {
		if (is_lineage(names.strings[i]))
			status = read_directory(reader, names.strings[i], err);
	}
	ctx_strtab_deinit(&names);
	return status;
}

static enum ctx_status read_rest(struct reader *reader, struct ctx_err *err)
{
	int notes CTX_AUTO_CLOSE = open_file(reader->dir, "notes");
	int kallsyms CTX_AUTO_CLOSE = open_file(reader->dir, "archives/kallsyms.zst");
	enum ctx_status status = list_names(reader->dir, "archives", &reader->archives, err);

	reader->n_archives = reader->archives.n;
	reader->archive_root = ctx_path_join(reader->path, "archives");
	if (status != CTX_OK || reader->archive_root == NULL)
		return ctx_err_nomem(err);
	if (kallsyms >= 0) {
		reader->kallsyms = ctx_path_join(reader->archive_root, "kallsyms.zst");
		if (reader->kallsyms == NULL)
			return ctx_err_nomem(err);
	}
	if (notes >= 0) {
		uint8_t *room = ctx_buf_reserve(&reader->notes, NOTES_MAX);
		size_t got;

		if (room == NULL)
			return ctx_err_nomem(err);
		status = ctx_file_pread(notes, "notes", room, NOTES_MAX, 0, &got, err);
		if (status < 0)
			return status;
		reader->notes.n = strnlen((const char *)room, got);
	}
	ctx_buf_put_u8(&reader->notes, 0);
	return ctx_buf_check(&reader->notes, err);
}

static void fill_info(struct reader *reader)
{
	struct ctx_source_info *info = &reader->source.info;
	uint64_t last =
		reader->log.last_ns > reader->index.last_ns ? reader->log.last_ns : reader->index.last_ns;

	info->name = ctx_path_base(reader->path);
	info->format = "experiment 1";
	info->duration_ns = last < UINT64_MAX ? last + 1 : last;
	info->closed = reader->log.closed;
	info->notes = (const char *)reader->notes.bytes;
	info->kallsyms = reader->kallsyms != NULL ? reader->kallsyms : "";
	info->fallback_root = reader->n_archives > 0 ? reader->archive_root : "";
	info->properties = reader->log.properties;
	info->n_properties = reader->log.n_properties;
	info->metrics = reader->log.metrics;
	info->n_metrics = (uint32_t)reader->log.n_metrics;
	info->bytes = reader->index.bytes;
}

static enum ctx_status open_directory(struct reader *reader, const char *path, struct ctx_err *err)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	reader->path = ctx_memdup0(path, n);
	if (reader->path == NULL)
		return ctx_err_nomem(err);
	reader->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (reader->dir < 0 && errno == ENOTDIR)
		return ctx_err_set(err, CTX_E_FORMAT, "%s: is no directory", path);
	if (reader->dir < 0)
		return ctx_err_errno(err, errno == ENOENT ? CTX_E_NOTFOUND : CTX_E_IO, "%s", path);
	if (!ctx_exp_is_experiment(path))
		return ctx_err_set(err, CTX_E_FORMAT, "%s: no log.xml, or not one of an experiment, in it",
				   path);
	return CTX_OK;
}

enum ctx_status ctx_exp_open(const char *path, struct ctx_event_source **ret, struct ctx_err *err)
{
	struct reader *reader = ctx_calloc(1, sizeof(*reader));
	enum ctx_status status;

	if (reader == NULL)
		return ctx_err_nomem(err);
	reader->dir = reader->fd = -1;
	reader->source = (struct ctx_event_source){
		.impl = reader, .next = next, .progress = progress, .close = close_reader};
	status = open_directory(reader, path, err);
	if (status == CTX_OK) {
		status = read_all(reader, err);
		if (status == CTX_OK)
			status = read_rest(reader, err);
		if (status != CTX_OK)
			status = ctx_err_prefix(err, status, "%s", ctx_path_base(reader->path));
	}
	if (status != CTX_OK) {
		close_reader(&reader->source);
		return status;
	}
	ctx_exp_log_sort(&reader->log);
	ctx_exp_index_sort(&reader->index);
	fill_info(reader);
	*ret = &reader->source;
	return CTX_OK;
}
