/*
 * Writes buffers to disk in the order log.xml, map.xml, frameinfo, data files: a reader that sees a
 * block finds everything it refers to.
 *
 * A file is opened, appended to with one write, and closed. An incomplete write (disk full) is
 * undone by truncating the file.
 */
#include "formats/experiment/exp_state.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "base/xxh.h"
#include "formats/experiment/exp_xml.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LEVEL 1

void ctx_exp_lineage(const struct ctx_exp_writer *writer, uint32_t process, char out[CTX_EXP_DIR_NAME_MAX])
{
	char text[CTX_EXP_DIR_NAME_MAX];
	size_t at = sizeof(text) - 1;

	/* Built back to front: a lineage is the parent's plus a suffix. */
	text[at] = '\0';
	for (;;) {
		const struct ctx_exp_proc *proc = &writer->procs[process];
		char part[32] = "";
		size_t n;

		if (proc->is_root && proc->by_number)
			snprintf(part, sizeof(part), "_n%u", process);
		else if (proc->is_root && proc->origin != CTX_EXP_ROOT_PROCESS)
			snprintf(part, sizeof(part), "_p%lld", (long long)proc->pid);
		else if (!proc->is_root)
			snprintf(part, sizeof(part), "_%c%u", proc->origin == CTX_EXP_EXEC ? 'x' : 'f',
				 proc->ordinal);
		n = strlen(part);
		if (n > at)
			break;
		at -= n;
		memcpy(text + at, part, n);
		if (proc->is_root)
			break;
		process = proc->parent;
	}
	memcpy(out, text + at, sizeof(text) - at);
}

static enum ctx_status stick(struct ctx_exp_writer *writer, struct ctx_err *err)
{
	if (writer->failed.status == CTX_OK)
		writer->failed = *err;
	ctx_exp_fail(writer, err->msg);
	return err->status;
}

/*
 * Appends to a file of the root process or of a descendant (`name` is relative to the root
 * process's directory). The first `skip_if_old` bytes (the file header) are skipped if the file is
 * not empty.
 */
static enum ctx_status append(struct ctx_exp_writer *writer, const char *name, struct ctx_bytes bytes,
			      size_t skip_if_old, struct ctx_err *err)
{
	int fd CTX_AUTO_CLOSE =
		openat(writer->dir, name, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
		       CTX_EXP_FILE_MODE(writer));
	struct ctx_err local = {0};
	struct stat info;

	if (fd < 0 || fstat(fd, &info) != 0) {
		ctx_err_errno(&local, CTX_E_IO, "%s/%s", writer->path, name);
	} else {
		size_t skip = info.st_size != 0 ? skip_if_old : 0;

		if (ctx_file_write(fd, name, (const uint8_t *)bytes.at + skip, bytes.n - skip, &local) ==
		    CTX_OK) {
			writer->stats.bytes_written += bytes.n - skip;
			return CTX_OK;
		}
		ctx_err_prefix(&local, CTX_E_IO, "%s", writer->path);
		if (ftruncate(fd, info.st_size) != 0)
			ctx_err_prefix(&local, CTX_E_IO, "and could not be cut back");
	}
	stick(writer, &local);
	return ctx_err_set(err, CTX_E_IO, "%s", local.msg);
}

enum ctx_status ctx_exp_make_file(struct ctx_exp_writer *writer, const char *name, const void *bytes,
				  size_t n, struct ctx_err *err)
{
	return append(writer, name, (struct ctx_bytes){bytes, n}, 0, err);
}

/*
 * Appends lines and empties the buffer, also after an I/O error: failed lines must not be written
 * after later ones.
 */
static enum ctx_status append_lines(struct ctx_exp_writer *writer, const char *name, struct ctx_buf *lines,
				    struct ctx_err *err)
{
	enum ctx_status status = ctx_buf_check(lines, err);

	if (status == CTX_OK && lines->n != 0)
		status = append(writer, name, (struct ctx_bytes){lines->bytes, lines->n}, 0, err);
	ctx_buf_clear(lines);
	return status;
}

enum ctx_status ctx_exp_flush_log(struct ctx_exp_writer *writer, struct ctx_err *err)
{
	writer->log_oldest_ns = UINT64_MAX;
	return append_lines(writer, "log.xml", &writer->log, err);
}

/* Logs once that the limit of bytes was reached, and the time from which records are missing. */
static void log_limit(struct ctx_exp_writer *writer)
{
	uint64_t time_ns = writer->limits.flushing_ns;

	if (writer->limits.reached)
		return;
	writer->limits.reached = true;
	for (size_t i = 0; i < writer->n_live; i++) {
		uint64_t oldest_ns = writer->live[i]->oldest_ns;

		if (oldest_ns != UINT64_MAX && ctx_exp_relative(writer, oldest_ns) < time_ns)
			time_ns = ctx_exp_relative(writer, oldest_ns);
	}
	writer->log_oldest_ns = 0; /* the next tick writes it */
	ctx_buf_put_text(&writer->log, "<event kind=\"limit\"");
	ctx_exp_xml_time(&writer->log, "tstamp", time_ns);
	ctx_exp_xml_number(&writer->log, "bytes", writer->limits.disk_bytes);
	ctx_buf_put_text(&writer->log, "/>\n");
}

/*
 * Compresses writer->scratch.raw and appends it as one block. CTX_E_LIMIT: it would exceed
 * max_bytes.
 */
static enum ctx_status append_block(struct ctx_exp_writer *writer, const char *name,
				    struct ctx_exp_block_header *header, struct ctx_err *err)
{
	const size_t before = CTX_EXP_FILE_HEADER_BYTES + CTX_EXP_BLOCK_HEADER_BYTES;
	struct ctx_buf *block = &writer->scratch.block;
	enum ctx_status status = ctx_buf_check(&writer->scratch.raw, err);
	uint8_t *room;

	ctx_buf_clear(block);
	ctx_exp_put_file_header(block);
	room = ctx_buf_reserve(block, CTX_EXP_BLOCK_HEADER_BYTES);
	if (room == NULL)
		return ctx_err_nomem(err);
	block->n += CTX_EXP_BLOCK_HEADER_BYTES;
	if (status == CTX_OK)
		status = ctx_compress(&writer->scratch.compressor, LEVEL,
				      (struct ctx_bytes){writer->scratch.raw.bytes, writer->scratch.raw.n},
				      block, err);
	if (status != CTX_OK)
		return status;
	header->raw_bytes = (uint32_t)writer->scratch.raw.n;
	header->frame_bytes = (uint32_t)(block->n - before);
	header->checksum = ctx_xxh3(block->bytes + before, block->n - before);
	ctx_exp_encode_block_header(header, block->bytes + CTX_EXP_FILE_HEADER_BYTES);
	/*
	 * After the first dropped block nothing is written any more: samples would refer to missing
	 * call stacks.
	 */
	if (writer->limits.disk_bytes != 0 && header->kind != CTX_EXP_BLOCK_OVERVIEW &&
	    (writer->limits.reached || writer->stats.bytes_written + block->n > writer->limits.disk_bytes)) {
		log_limit(writer);
		return ctx_err_set(err, CTX_E_LIMIT, "limit of bytes reached");
	}
	return append(writer, name, (struct ctx_bytes){block->bytes, block->n}, CTX_EXP_FILE_HEADER_BYTES,
		      err);
}

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
		status = append_block(writer, "overview", &header, err);
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
	char lineage[CTX_EXP_DIR_NAME_MAX];

	ctx_exp_lineage(writer, process, lineage);
	if (lineage[0] == '\0')
		snprintf(out, size, "%s", file);
	else
		snprintf(out, size, "%s.er/%s", lineage, file);
}

#define NAME_BYTES (CTX_EXP_DIR_NAME_MAX + CTX_EXP_FILE_NAME_MAX + 8)

/* Creates a descendant's directory, with a log.xml that names its process. */
static enum ctx_status make_dir(struct ctx_exp_writer *writer, uint32_t process, struct ctx_err *err)
{
	struct ctx_exp_proc *proc = &writer->procs[process];
	char lineage[CTX_EXP_DIR_NAME_MAX];
	char name[NAME_BYTES];
	struct ctx_buf lines = {0};
	enum ctx_status status;

	ctx_exp_lineage(writer, process, lineage);
	if (lineage[0] != '\0') {
		name_of(writer, process, "", name, sizeof(name));
		if (mkdirat(writer->dir, name, CTX_EXP_DIR_MODE(writer)) != 0 && errno != EEXIST) {
			struct ctx_err local = {0};

			ctx_err_errno(&local, CTX_E_IO, "%s/%s", writer->path, name);
			stick(writer, &local);
			return ctx_err_set(err, CTX_E_IO, "%s", local.msg);
		}
		ctx_buf_printf(&lines, "<experiment version=\"%d\"/>\n<process number=\"%u\"",
			       CTX_EXP_VERSION, process);
		ctx_exp_xml_signed(&lines, "pid", proc->pid);
		ctx_exp_xml_attribute(&lines, "lineage", lineage);
		ctx_buf_put_text(&lines, "/>\n");
		name_of(writer, process, "log.xml", name, sizeof(name));
		status = append_lines(writer, name, &lines, err);
		ctx_buf_deinit(&lines);
		if (status != CTX_OK)
			return status;
	}
	writer->stats.directories++;
	proc->has_dir = true;
	return CTX_OK;
}

static enum ctx_status flush_maps(struct ctx_exp_writer *writer, struct ctx_exp_live *live,
				  struct ctx_err *err)
{
	char name[NAME_BYTES];

	if (live->map_lines.n == 0 && !live->map_lines.failed)
		return CTX_OK;
	name_of(writer, live->process, "map.xml", name, sizeof(name));
	return append_lines(writer, name, &live->map_lines, err);
}

static enum ctx_status flush_frames(struct ctx_exp_writer *writer, struct ctx_exp_live *live,
				    struct ctx_err *err)
{
	struct ctx_exp_block_header header = {.kind = CTX_EXP_BLOCK_FRAMES,
					      .n_records = live->n_frames,
					      .epoch = writer->procs[live->process].epoch,
					      .process = live->process};
	char name[NAME_BYTES];
	enum ctx_status status;

	if (live->n_frames == 0)
		return CTX_OK;
	name_of(writer, live->process, "frameinfo", name, sizeof(name));
	ctx_buf_clear(&writer->scratch.raw);
	ctx_buf_put(&writer->scratch.raw, live->frames.bytes, live->frames.n);
	status = append_block(writer, name, &header, err);
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
	char name[NAME_BYTES];
	enum ctx_status status;

	if (live->n_kept == 0)
		return CTX_OK;
	name_of(writer, live->process, CTX_EXP_KEPT_FILE, name, sizeof(name));
	ctx_buf_clear(&writer->scratch.raw);
	ctx_buf_put(&writer->scratch.raw, live->kept.bytes, live->kept.n);
	status = append_block(writer, name, &header, err);
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

static enum ctx_status flush_packets(struct ctx_exp_writer *writer, struct ctx_exp_live *live, uint32_t file,
				     struct ctx_err *err)
{
	struct ctx_exp_packet_buf *buf = &live->bufs[file];
	struct ctx_exp_block_header header = {.kind = file == writer->data.states ? CTX_EXP_BLOCK_SEEN
										  : CTX_EXP_BLOCK_PROFILE,
					      .n_records = (uint32_t)buf->n,
					      .epoch = writer->procs[live->process].epoch,
					      .process = live->process};
	char name[NAME_BYTES];
	enum ctx_status status;

	if (buf->n == 0)
		return CTX_OK;
	if (buf->unsorted)
		qsort(buf->packets, buf->n, sizeof(*buf->packets), by_time);
	buf->unsorted = false;
	for (size_t i = 0; i < buf->n; i++)
		buf->packets[i].order = (uint16_t)i;
	header.first_ns = buf->packets[0].time_ns;
	header.last_ns = buf->packets[buf->n - 1].time_ns;
	name_of(writer, live->process, writer->data.names[file], name, sizeof(name));
	ctx_buf_clear(&writer->scratch.raw);
	ctx_exp_encode_packets(buf->packets, buf->n, &writer->scratch.raw);
	status = append_block(writer, name, &header, err);
	if (status == CTX_E_NOMEM)
		return status;
	if (status == CTX_E_LIMIT)
		writer->stats.dropped_by_limit += buf->n;
	buf->n = 0;
	return status;
}

enum ctx_status ctx_exp_flush_process(struct ctx_exp_writer *writer, struct ctx_exp_live *live,
				      struct ctx_err *err)
{
	struct ctx_exp_proc *proc = &writer->procs[live->process];
	enum ctx_status status = CTX_OK;

	/* The first map lines are written before any sample. */
	if (live->oldest_ns == UINT64_MAX && live->map_lines.n == 0)
		return CTX_OK;
	writer->limits.flushing_ns =
		live->oldest_ns != UINT64_MAX ? ctx_exp_relative(writer, live->oldest_ns) : 0;
	if (writer->log.n != 0)
		status = ctx_exp_flush_log(writer, err);
	if (status == CTX_OK && !proc->has_dir)
		status = make_dir(writer, live->process, err);
	if (status == CTX_OK)
		status = flush_maps(writer, live, err);
	if (status == CTX_OK)
		status = flush_frames(writer, live, err);
	for (uint32_t file = 0; file < writer->data.n_files && (status == CTX_OK || status == CTX_E_LIMIT);
	     file++)
		status = flush_packets(writer, live, file, err);
	if (status == CTX_OK)
		status = flush_kept(writer, live, err);
	ctx_exp_account(writer, live);
	if (status != CTX_OK && status != CTX_E_LIMIT)
		return status;
	live->oldest_ns = UINT64_MAX;
	return CTX_OK;
}

void ctx_exp_account(struct ctx_exp_writer *writer, struct ctx_exp_live *live)
{
	size_t bytes = sizeof(*live) + ctx_exp_stacks_bytes(&live->stacks) + live->frames.cap +
		       live->map_lines.cap + live->kept.cap;

	for (uint32_t file = 0; file < writer->data.n_files; file++)
		bytes += live->bufs[file].cap * sizeof(*live->bufs[file].packets);
	writer->limits.memory_used += bytes - live->accounted;
	live->accounted = bytes;
}

enum ctx_status ctx_exp_retire(struct ctx_exp_writer *writer, struct ctx_exp_live *live, struct ctx_err *err)
{
	struct ctx_exp_proc *proc = &writer->procs[live->process];
	enum ctx_status status = ctx_exp_flush_process(writer, live, err);

	writer->limits.memory_used -= live->accounted;
	writer->live[live->place] = writer->live[--writer->n_live];
	writer->live[live->place]->place = live->place;
	proc->live = NULL;
	proc->epoch++;
	ctx_exp_stacks_deinit(&live->stacks);
	ctx_buf_deinit(&live->frames);
	ctx_buf_deinit(&live->map_lines);
	ctx_buf_deinit(&live->kept);
	for (uint32_t file = 0; file < writer->data.n_files; file++)
		free(live->bufs[file].packets);
	free(live);
	return status;
}
