/*
 * What the writer appends to files, in the order log.xml, map.xml, frameinfo, data files: a reader
 * that sees a block finds everything it refers to.
 *
 * The root process's files hold lines and blocks of many processes. They are collected here and
 * written together, so that a process that lives for a millisecond costs no file operation of its
 * own. A file is opened, appended to with one write, and closed. An incomplete write (disk full) is
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
#define PARTS_LEVEL 3
#define PARTS_FROM 2048u /* bytes; a part costs some */
#define SHARED_BYTES ((size_t)256 * 1024)

static enum ctx_status stick(struct ctx_exp_writer *writer, struct ctx_err *err)
{
	if (writer->failed.status == CTX_OK)
		writer->failed = *err;
	ctx_exp_fail(writer, err->msg);
	return err->status;
}

/* Bytes that a file takes on disk. */
static uint64_t on_disk(uint64_t bytes)
{
	return (bytes + CTX_EXP_DISK_BLOCK - 1) / CTX_EXP_DISK_BLOCK * CTX_EXP_DISK_BLOCK;
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
		uint64_t old = (uint64_t)info.st_size;

		if (ctx_file_write(fd, name, (const uint8_t *)bytes.at + skip, bytes.n - skip, &local) ==
		    CTX_OK) {
			writer->stats.bytes_written += bytes.n - skip;
			writer->limits.disk_used += on_disk(old + bytes.n - skip) - on_disk(old);
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

enum ctx_status ctx_exp_make_folder(struct ctx_exp_writer *writer, const char *name, struct ctx_err *err)
{
	struct ctx_err local = {0};

	if (mkdirat(writer->dir, name, CTX_EXP_DIR_MODE(writer)) == 0 || errno == EEXIST) {
		writer->limits.disk_used += CTX_EXP_DISK_BLOCK;
		return CTX_OK;
	}
	ctx_err_errno(&local, CTX_E_IO, "%s/%s", writer->path, name);
	stick(writer, &local);
	return ctx_err_set(err, CTX_E_IO, "%s", local.msg);
}

enum ctx_status ctx_exp_append_lines(struct ctx_exp_writer *writer, const char *name, struct ctx_buf *lines,
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
	ctx_exp_brief_tell_all(writer);
	writer->log_oldest_ns = UINT64_MAX;
	return ctx_exp_append_lines(writer, "log.xml", &writer->log, err);
}

/* The limit of bytes on disk */

/* Bytes that wait to be appended to the root process's files. */
static size_t shared_bytes(const struct ctx_exp_writer *writer)
{
	size_t bytes = writer->shared.map_lines.n;

	for (size_t i = 0; i < CTX_EXP_SHARED_FILES; i++)
		bytes += writer->shared.blocks[i].n;
	return bytes;
}

/* Logs once that the limit of bytes was reached, and the time from which records are missing. */
static void log_limit(struct ctx_exp_writer *writer, uint64_t time_ns)
{
	struct ctx_exp_limits *limits = &writer->limits;
	uint64_t rest = limits->text_used + limits->disk_bytes / CTX_EXP_TEXT_BEYOND;

	limits->reached = true;
	if (rest < limits->text_bytes)
		limits->text_bytes = rest;
	for (size_t i = 0; i < writer->live.n; i++) {
		uint64_t oldest_ns = writer->live.items[i]->oldest_ns;

		if (oldest_ns != UINT64_MAX && ctx_exp_relative(writer, oldest_ns) < time_ns)
			time_ns = ctx_exp_relative(writer, oldest_ns);
	}
	writer->log_oldest_ns = 0; /* the next tick writes it */
	ctx_buf_put_text(&writer->log, "<event kind=\"limit\"");
	ctx_exp_xml_time(&writer->log, "tstamp", time_ns);
	ctx_exp_xml_number(&writer->log, "bytes", limits->disk_bytes);
	ctx_buf_put_text(&writer->log, "/>\n");
}

bool ctx_exp_is_full(struct ctx_exp_writer *writer, size_t more, uint64_t time_ns)
{
	uint64_t bytes = writer->limits.disk_used + writer->log.n + shared_bytes(writer) + more;

	if (writer->limits.disk_bytes == 0)
		return false;
	if (!writer->limits.reached && bytes > writer->limits.disk_bytes)
		log_limit(writer, time_ns);
	return writer->limits.reached;
}

#define LEAST_BYTES 512u /* that are worth a block */

bool ctx_exp_nears_limit(const struct ctx_exp_writer *writer, size_t buffered)
{
	const struct ctx_exp_limits *limits = &writer->limits;
	uint64_t used = limits->disk_used + writer->log.n + shared_bytes(writer);

	if (limits->disk_bytes == 0 || limits->reached || buffered < LEAST_BYTES)
		return false;
	return used >= limits->disk_bytes || buffered >= (limits->disk_bytes - used) / 2;
}

/* Blocks */

static enum ctx_status compress(struct ctx_exp_writer *writer, uint32_t kind, struct ctx_buf *block,
				struct ctx_err *err)
{
	struct ctx_exp_block_scratch *scratch = &writer->scratch;
	struct ctx_bytes bytes = {scratch->raw.bytes, scratch->raw.n};
	struct ctx_parts parts = {bytes, scratch->parts.ends, scratch->parts.n};

	if (kind != CTX_EXP_BLOCK_HEAP && kind != CTX_EXP_BLOCK_LARGE_HEAP && kind != CTX_EXP_BLOCK_CALLS)
		return ctx_compress(&scratch->compressor, LEVEL, bytes, block, err);
	if (bytes.n < PARTS_FROM)
		return ctx_compress(&scratch->compressor, PARTS_LEVEL, bytes, block, err);
	return ctx_compress_parts(&scratch->compressor, PARTS_LEVEL, parts, block, err);
}

/* writer->scratch.raw as one block in writer->scratch.block, with a file header before it. */
static enum ctx_status encode_block(struct ctx_exp_writer *writer, struct ctx_exp_block_header *header,
				    struct ctx_err *err)
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
		status = compress(writer, header->kind, block, err);
	if (status != CTX_OK)
		return status;
	header->raw_bytes = (uint32_t)writer->scratch.raw.n;
	header->frame_bytes = (uint32_t)(block->n - before);
	header->checksum = ctx_xxh3(block->bytes + before, block->n - before);
	ctx_exp_encode_block_header(header, block->bytes + CTX_EXP_FILE_HEADER_BYTES);
	return CTX_OK;
}

/* Appends the block to one of the buffers; the file header stands before the first one. */
static enum ctx_status share_block(struct ctx_exp_writer *writer, uint32_t file, struct ctx_err *err)
{
	const struct ctx_buf *block = &writer->scratch.block;
	struct ctx_buf *out = &writer->shared.blocks[file];
	size_t skip = out->n != 0 ? CTX_EXP_FILE_HEADER_BYTES : 0;

	if (ctx_buf_reserve(out, block->n) == NULL) {
		out->failed = false; /* nothing is lost: the next call tries again */
		return ctx_err_nomem(err);
	}
	ctx_buf_put(out, block->bytes + skip, block->n - skip);
	return CTX_OK;
}

enum ctx_status ctx_exp_put_block(struct ctx_exp_writer *writer, uint32_t file, const char *name,
				  struct ctx_exp_block_header *header, struct ctx_err *err)
{
	const struct ctx_buf *block = &writer->scratch.block;
	enum ctx_status status = encode_block(writer, header, err);

	if (status != CTX_OK)
		return status;
	/*
	 * After the first dropped block nothing is written any more: samples would refer to missing
	 * call stacks.
	 */
	if (header->kind != CTX_EXP_BLOCK_OVERVIEW &&
	    ctx_exp_is_full(writer, block->n, writer->limits.flushing_ns))
		return ctx_err_set(err, CTX_E_LIMIT, "limit of bytes reached");
	if (name == NULL)
		return share_block(writer, file, err);
	return append(writer, name, (struct ctx_bytes){block->bytes, block->n}, CTX_EXP_FILE_HEADER_BYTES,
		      err);
}

const char *ctx_exp_name_of_file(const struct ctx_exp_writer *writer, uint32_t file)
{
	if (file == CTX_EXP_FILE_FRAMES)
		return "frameinfo";
	return file == CTX_EXP_FILE_KEPT ? CTX_EXP_KEPT_FILE : writer->data.names[file - CTX_EXP_FILE_DATA];
}

enum ctx_status ctx_exp_write_shared(struct ctx_exp_writer *writer, struct ctx_err *err)
{
	struct ctx_exp_shared *shared = &writer->shared;
	enum ctx_status status;

	if (shared_bytes(writer) == 0 && !shared->map_lines.failed)
		return CTX_OK;
	status = ctx_exp_flush_log(writer, err);
	if (status == CTX_OK)
		status = ctx_exp_append_lines(writer, "map.xml", &shared->map_lines, err);
	for (uint32_t file = 0; file < CTX_EXP_SHARED_FILES && status == CTX_OK; file++) {
		const struct ctx_buf *blocks = &shared->blocks[file];

		if (blocks->n != 0)
			status = append(writer, ctx_exp_name_of_file(writer, file),
					(struct ctx_bytes){blocks->bytes, blocks->n},
					CTX_EXP_FILE_HEADER_BYTES, err);
	}
	/* Also after a failure: nothing may be written that refers to what was not. */
	ctx_buf_clear(&shared->map_lines);
	for (uint32_t file = 0; file < CTX_EXP_SHARED_FILES; file++)
		ctx_buf_clear(&shared->blocks[file]);
	shared->oldest_ns = UINT64_MAX;
	return status;
}

enum ctx_status ctx_exp_note_shared(struct ctx_exp_writer *writer, uint64_t oldest_ns, struct ctx_err *err)
{
	if (oldest_ns < writer->shared.oldest_ns)
		writer->shared.oldest_ns = oldest_ns;
	if (shared_bytes(writer) < SHARED_BYTES && !writer->shared.map_lines.failed)
		return CTX_OK;
	return ctx_exp_write_shared(writer, err);
}
