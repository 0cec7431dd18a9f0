/*
 * Encodes the buffers of processes: map lines, call stacks, samples, changes of state. They go to
 * the root process's files (exp_output.c), those of a process with a directory to its own.
 */
#include "formats/experiment/exp_state.h"

#include "base/mem.h"
#include "formats/experiment/exp_calls.h"
#include "formats/experiment/exp_xml.h"

#include <stdio.h>
#include <string.h>

enum ctx_status ctx_exp_flush_overview(struct ctx_exp_writer *writer, struct ctx_err *err)
{
	struct ctx_exp_block_header header = {.kind = CTX_EXP_BLOCK_OVERVIEW,
					      .n_records = writer->overview.n,
					      .process = CTX_NONE,
					      .first_ns = writer->overview.first_ns,
					      .last_ns = writer->overview.last_ns};
	enum ctx_status status;

	if (writer->overview.n == 0)
		return CTX_OK;
	status = ctx_exp_flush_log(writer, err);
	if (status == CTX_OK)
		status = ctx_buf_check(&writer->overview.records, err);
	if (status == CTX_OK) {
		ctx_buf_clear(&writer->scratch.raw);
		ctx_buf_put(&writer->scratch.raw, writer->overview.records.bytes, writer->overview.records.n);
		status = ctx_exp_put_block(writer, 0, "overview", &header, err);
	}
	ctx_buf_clear(&writer->overview.records);
	writer->overview.n = 0;
	writer->overview.oldest_ns = UINT64_MAX;
	return status;
}

/* "profile" or "_f1.er/profile". */
static void name_of(const struct ctx_exp_writer *writer, uint32_t process, const char *file, char *out,
		    size_t size)
{
	const char *lineage = ctx_exp_proc(writer, process)->lineage;

	if (lineage[0] == '\0')
		snprintf(out, size, "%s", file);
	else
		snprintf(out, size, "%s.er/%s", lineage, file);
}

#define NAME_BYTES (CTX_EXP_DIR_NAME_MAX + CTX_EXP_FILE_NAME_MAX + 8)

/* Has it a directory, made or not? */
static bool has_files(const struct ctx_exp_writer *writer, uint32_t process)
{
	return ctx_exp_proc(writer, process)->home != CTX_EXP_HOME_ROOT;
}

#define DIRECTORY_BYTES (5 * (size_t)CTX_EXP_DISK_BLOCK) /* itself, and a small file of each kind */

/* Creates a descendant's directory, with a log.xml that names its process. */
static enum ctx_status make_dir(struct ctx_exp_writer *writer, uint32_t process, struct ctx_err *err)
{
	struct ctx_exp_proc *proc = ctx_exp_proc(writer, process);
	char name[NAME_BYTES];
	struct ctx_buf lines = {0};
	enum ctx_status status;

	if (ctx_exp_is_full(writer, DIRECTORY_BYTES, writer->limits.flushing_ns))
		return CTX_OK;
	name_of(writer, process, "", name, sizeof(name));
	status = ctx_exp_make_folder(writer, name, err);
	if (status != CTX_OK)
		return status;
	ctx_buf_printf(&lines, "<experiment version=\"%d\"/>\n<process number=\"%u\"", CTX_EXP_VERSION,
		       process);
	ctx_exp_xml_signed(&lines, "pid", proc->pid);
	ctx_exp_xml_attribute(&lines, "lineage", proc->lineage);
	ctx_buf_put_text(&lines, "/>\n");
	name_of(writer, process, "log.xml", name, sizeof(name));
	status = ctx_exp_append_lines(writer, name, &lines, err);
	ctx_buf_deinit(&lines);
	proc->home = CTX_EXP_HOME_MADE;
	return status;
}

/* Map lines of a process without a directory are in the shared buffer already. */
static enum ctx_status flush_maps(struct ctx_exp_writer *writer, struct ctx_exp_live *live,
				  struct ctx_err *err)
{
	char name[NAME_BYTES];

	if (live->map_lines.n == 0 && !live->map_lines.failed)
		return CTX_OK;
	if (ctx_exp_proc(writer, live->process)->home !=
	    CTX_EXP_HOME_MADE) { /* the limit of bytes was reached */
		ctx_buf_clear(&live->map_lines);
		return CTX_OK;
	}
	name_of(writer, live->process, "map.xml", name, sizeof(name));
	return ctx_exp_append_lines(writer, name, &live->map_lines, err);
}

/* Puts the block in writer->scratch.raw where the process's data is. */
static enum ctx_status put_block(struct ctx_exp_writer *writer, const struct ctx_exp_live *live,
				 uint32_t file, struct ctx_exp_block_header *header, struct ctx_err *err)
{
	char name[NAME_BYTES];

	if (!has_files(writer, live->process))
		return ctx_exp_put_block(writer, file, NULL, header, err);
	name_of(writer, live->process, ctx_exp_name_of_file(writer, file), name, sizeof(name));
	return ctx_exp_put_block(writer, file, name, header, err);
}

static enum ctx_status flush_frames(struct ctx_exp_writer *writer, struct ctx_exp_live *live,
				    struct ctx_err *err)
{
	bool packs = writer->data.heap != CTX_NONE;
	struct ctx_exp_block_header header = {.kind = packs ? CTX_EXP_BLOCK_CALLS : CTX_EXP_BLOCK_FRAMES,
					      .n_records = live->n_frames,
					      .epoch = ctx_exp_proc(writer, live->process)->epoch,
					      .process = live->process};
	enum ctx_status status = CTX_OK;

	if (live->n_frames == 0)
		return CTX_OK;
	ctx_buf_clear(&writer->scratch.raw);
	if (packs)
		status = ctx_exp_pack_calls((struct ctx_bytes){live->frames.bytes, live->frames.n},
					    &writer->scratch.raw, writer->scratch.parts.ends, err);
	else
		ctx_buf_put(&writer->scratch.raw, live->frames.bytes, live->frames.n);
	writer->scratch.parts.n = CTX_EXP_CALLS_STREAMS + 1;
	if (status == CTX_OK)
		status = put_block(writer, live, CTX_EXP_FILE_FRAMES, &header, err);
	if (status == CTX_E_NOMEM)
		return status;
	ctx_buf_clear(&live->frames);
	live->n_frames = 0;
	live->last_address = 0;
	return status;
}

static enum ctx_status flush_kept(struct ctx_exp_writer *writer, struct ctx_exp_live *live,
				  struct ctx_err *err)
{
	struct ctx_exp_block_header header = {.kind = CTX_EXP_BLOCK_KEPT,
					      .n_records = live->n_kept,
					      .process = live->process,
					      .first_ns = live->kept_first_ns,
					      .last_ns = live->kept_last_ns};
	enum ctx_status status;

	if (live->n_kept == 0)
		return CTX_OK;
	ctx_buf_clear(&writer->scratch.raw);
	ctx_buf_put(&writer->scratch.raw, live->kept.bytes, live->kept.n);
	status = put_block(writer, live, CTX_EXP_FILE_KEPT, &header, err);
	if (status == CTX_E_NOMEM)
		return status;
	ctx_buf_clear(&live->kept);
	live->n_kept = 0;
	return status;
}

static int by_time(const void *a, const void *b)
{
	const struct ctx_exp_packet *left = a;
	const struct ctx_exp_packet *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	return (left->order > right->order) - (left->order < right->order);
}

/*
 * The first n heap operations in the buffer, as a block. *ret_fits is false if its payload would be too large,
 * which that of CTX_EXP_HEAP_FEW operations never is.
 */
static enum ctx_status put_heap(struct ctx_exp_writer *writer, struct ctx_exp_live *live, size_t n,
				bool *ret_fits, struct ctx_err *err)
{
	uint32_t file = writer->data.heap;
	struct ctx_exp_packet *packets = live->bufs[file].packets;
	const struct ctx_exp_heap_block block = {.packets = packets,
						 .addresses = live->heap_addresses,
						 .n = n,
						 .keeps_addresses = writer->data.accesses != CTX_NONE};
	struct ctx_exp_block_header header = {.kind = n > CTX_EXP_HEAP_FEW ? CTX_EXP_BLOCK_LARGE_HEAP
									   : CTX_EXP_BLOCK_HEAP,
					      .n_records = (uint32_t)n,
					      .epoch = ctx_exp_proc(writer, live->process)->epoch,
					      .process = live->process,
					      .first_ns = packets[0].time_ns,
					      .last_ns = packets[n - 1].time_ns};
	enum ctx_status status;

	ctx_buf_clear(&writer->scratch.raw);
	status = ctx_exp_heap_encode(&writer->scratch.heap, &block, &writer->scratch.raw,
				     &writer->scratch.parts, err);
	*ret_fits = writer->scratch.raw.n <= CTX_EXP_RAW_MAX;
	return status == CTX_OK && *ret_fits ? put_block(writer, live, CTX_EXP_FILE_DATA + file, &header, err)
					     : status;
}

/* Removes the first n operations of the buffer. */
static void drop_heap(struct ctx_exp_live *live, struct ctx_exp_packet_buf *buf, size_t n)
{
	buf->n -= n;
	memmove(buf->packets, buf->packets + n, buf->n * sizeof(*buf->packets));
	memmove(live->heap_addresses, live->heap_addresses + n, buf->n * sizeof(*live->heap_addresses));
}

static enum ctx_status flush_heap(struct ctx_exp_writer *writer, struct ctx_exp_live *live,
				  struct ctx_exp_packet_buf *buf, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	while (buf->n != 0 && status == CTX_OK) {
		size_t n = buf->n;
		bool fits;

		status = put_heap(writer, live, n, &fits, err);
		if (status == CTX_OK && !fits) {
			n = CTX_EXP_HEAP_FEW;
			status = put_heap(writer, live, n, &fits, err);
		}
		if (status == CTX_OK)
			drop_heap(live, buf, n);
	}
	if (status == CTX_E_LIMIT)
		writer->stats.dropped_by_limit += buf->n;
	if (status != CTX_E_NOMEM)
		buf->n = 0;
	return status;
}

static enum ctx_status flush_packets(struct ctx_exp_writer *writer, struct ctx_exp_live *live, uint32_t file,
				     struct ctx_err *err)
{
	struct ctx_exp_packet_buf *buf = &live->bufs[file];
	bool is_sync = file == writer->data.sync;
	struct ctx_exp_io_packets *named = file == writer->data.io	   ? &live->io
					   : file == writer->data.marks	   ? &live->marks
					   : file == writer->data.accesses ? &live->accesses
									   : NULL;
	struct ctx_exp_block_header header = {.kind = is_sync			      ? CTX_EXP_BLOCK_SYNC
						      : file == writer->data.io	      ? CTX_EXP_BLOCK_IO
						      : file == writer->data.marks    ? CTX_EXP_BLOCK_MARKS
						      : file == writer->data.accesses ? CTX_EXP_BLOCK_ACCESSES
						      : file == writer->data.omp      ? CTX_EXP_BLOCK_OMP
						      : file == writer->data.states   ? CTX_EXP_BLOCK_SEEN
										      : CTX_EXP_BLOCK_PROFILE,
					      .n_records = (uint32_t)buf->n,
					      .epoch = ctx_exp_proc(writer, live->process)->epoch,
					      .process = live->process};
	enum ctx_status status = CTX_OK;

	if (buf->n == 0)
		return CTX_OK;
	if (file == writer->data.heap) /* always sorted */
		return flush_heap(writer, live, buf, err);
	if (buf->unsorted)
		qsort(buf->packets, buf->n, sizeof(*buf->packets), by_time);
	buf->unsorted = false;
	header.first_ns = buf->packets[0].time_ns;
	header.last_ns = buf->packets[buf->n - 1].time_ns;
	ctx_buf_clear(&writer->scratch.raw);
	if (is_sync)
		ctx_exp_encode_sync(buf->packets, live->sync_rests, buf->n, &writer->scratch.raw);
	else if (file == writer->data.accesses)
		ctx_exp_encode_accesses(buf->packets, named, buf->n, &writer->scratch.raw);
	else if (named != NULL)
		ctx_exp_encode_io(buf->packets, named, buf->n, &writer->scratch.raw);
	else
		ctx_exp_encode_packets(buf->packets, buf->n, &writer->scratch.raw);
	if (status == CTX_OK)
		status = put_block(writer, live, CTX_EXP_FILE_DATA + file, &header, err);
	if (status == CTX_E_NOMEM)
		return status;
	if (status == CTX_E_LIMIT)
		writer->stats.dropped_by_limit += buf->n;
	buf->n = 0;
	if (named != NULL)
		ctx_exp_io_packets_clear(named);
	return status;
}

static enum ctx_status flush_call_block(struct ctx_exp_writer *writer, struct ctx_exp_live *live,
					struct ctx_exp_call_block *block, struct ctx_err *err)
{
	struct ctx_exp_block_header header = {.kind = CTX_EXP_BLOCK_CALL_EVENTS,
					      .n_records = block->n,
					      .process = live->process,
					      .first_ns = block->first_ns,
					      .last_ns = block->last_ns};
	enum ctx_status status;

	if (block->n == 0)
		return CTX_OK;
	ctx_buf_clear(&writer->scratch.raw);
	status = ctx_exp_calls_encode(block, &writer->scratch.raw, err);
	if (status == CTX_OK)
		status = put_block(writer, live, CTX_EXP_FILE_DATA + writer->data.calls, &header, err);
	if (status == CTX_E_NOMEM)
		return status;
	if (status == CTX_E_LIMIT)
		writer->stats.dropped_by_limit += block->n;
	ctx_exp_call_block_clear(block);
	return status;
}

static enum ctx_status flush_calls(struct ctx_exp_writer *writer, struct ctx_exp_live *live,
				   struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < live->calls.n && (status == CTX_OK || status == CTX_E_LIMIT); i++)
		status = flush_call_block(writer, live, live->calls.items[i], err);
	return status;
}

/* The log comes first, then the directory. */
static enum ctx_status prepare_dir(struct ctx_exp_writer *writer, uint32_t process, struct ctx_err *err)
{
	enum ctx_status status = ctx_exp_flush_log(writer, err);

	if (status == CTX_OK && ctx_exp_proc(writer, process)->home == CTX_EXP_HOME_DIR)
		status = make_dir(writer, process, err);
	return status;
}

/* What samples and operations refer to: the process's directory, maps and call stacks. */
static enum ctx_status flush_referred(struct ctx_exp_writer *writer, struct ctx_exp_live *live,
				      struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	writer->limits.flushing_ns =
		live->oldest_ns != UINT64_MAX ? ctx_exp_relative(writer, live->oldest_ns) : 0;
	if (has_files(writer, live->process))
		status = prepare_dir(writer, live->process, err);
	if (status == CTX_OK)
		status = flush_maps(writer, live, err);
	return status == CTX_OK ? flush_frames(writer, live, err) : status;
}

enum ctx_status ctx_exp_flush_frames(struct ctx_exp_writer *writer, struct ctx_exp_live *live,
				     struct ctx_err *err)
{
	enum ctx_status status = flush_referred(writer, live, err);

	ctx_exp_account(writer, live);
	return status == CTX_E_LIMIT ? CTX_OK : status;
}

enum ctx_status ctx_exp_flush_process(struct ctx_exp_writer *writer, struct ctx_exp_live *live,
				      struct ctx_err *err)
{
	uint64_t oldest_ns = live->oldest_ns;
	enum ctx_status status;

	if (live->oldest_ns == UINT64_MAX && live->map_lines.n == 0)
		return CTX_OK;
	status = flush_referred(writer, live, err);
	for (uint32_t file = 0; file < writer->data.n_files && (status == CTX_OK || status == CTX_E_LIMIT);
	     file++)
		status = flush_packets(writer, live, file, err);
	if (status == CTX_OK || status == CTX_E_LIMIT)
		status = flush_calls(writer, live, err);
	if (status == CTX_OK)
		status = flush_kept(writer, live, err);
	ctx_exp_account(writer, live);
	if (status != CTX_OK && status != CTX_E_LIMIT)
		return status;
	live->oldest_ns = UINT64_MAX;
	return has_files(writer, live->process) ? CTX_OK : ctx_exp_note_shared(writer, oldest_ns, err);
}

void ctx_exp_account(struct ctx_exp_writer *writer, struct ctx_exp_live *live)
{
	size_t bytes = sizeof(*live) + ctx_exp_stacks_bytes(&live->stacks) + live->frames.cap +
		       live->map_lines.cap + live->kept.cap;

	for (uint32_t file = 0; file < writer->data.n_files; file++)
		bytes += live->bufs[file].cap * sizeof(*live->bufs[file].packets);
	bytes += live->heap_cap * sizeof(*live->heap_addresses) + live->sync_cap * sizeof(*live->sync_rests);
	bytes += ctx_exp_io_packets_bytes(&live->io) + ctx_exp_io_packets_bytes(&live->marks) +
		 ctx_exp_io_packets_bytes(&live->accesses);
	bytes += ctx_exp_call_bufs_bytes(&live->calls);
	writer->limits.memory_used += bytes - live->accounted;
	live->accounted = bytes;
}

enum ctx_status ctx_exp_retire(struct ctx_exp_writer *writer, struct ctx_exp_live *live, struct ctx_err *err)
{
	struct ctx_exp_proc *proc = ctx_exp_proc(writer, live->process);
	enum ctx_status status = ctx_exp_flush_process(writer, live, err);

	writer->limits.memory_used -= live->accounted;
	writer->live.items[live->place] = writer->live.items[--writer->live.n];
	writer->live.items[live->place]->place = live->place;
	proc->live = NULL;
	proc->epoch++;
	ctx_exp_stacks_deinit(&live->stacks);
	ctx_buf_deinit(&live->frames);
	ctx_buf_deinit(&live->map_lines);
	ctx_buf_deinit(&live->kept);
	for (uint32_t file = 0; file < writer->data.n_files; file++)
		free(live->bufs[file].packets);
	free(live->heap_addresses);
	free(live->sync_rests);
	ctx_exp_io_packets_deinit(&live->io);
	ctx_exp_io_packets_deinit(&live->marks);
	ctx_exp_io_packets_deinit(&live->accesses);
	ctx_exp_call_bufs_deinit(&live->calls);
	free(live);
	return status;
}
