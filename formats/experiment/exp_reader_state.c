/*
 * Operations shared by all parts of the reader: queue an event, announce a process, read a block.
 */
#include "formats/experiment/exp_reader_state.h"

#include "base/fileio.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Pending events */

enum ctx_status ctx_exp_reader_push(struct ctx_exp_reader *reader, const struct ctx_event *event, char *text,
				    struct ctx_err *err)
{
	enum ctx_status status;

	if (reader->pending.at == reader->pending.n)
		reader->pending.at = reader->pending.n = 0;
	status = ctx_grow(&reader->pending.items, &reader->pending.cap, reader->pending.n + 1, err);
	if (status != CTX_OK) {
		free(text);
		return status;
	}
	reader->pending.items[reader->pending.n++] = (struct ctx_exp_pending){*event, text};
	return CTX_OK;
}

enum ctx_status ctx_exp_reader_push_damage(struct ctx_exp_reader *reader, uint64_t time_ns,
					   const struct ctx_exp_place *place, const char *why,
					   struct ctx_err *err)
{
	struct ctx_event event = {.kind = CTX_EV_DAMAGE, .time_ns = time_ns};
	char *text;

	if (asprintf(&text, "%s: offset %llu: %s; block skipped",
		     ctx_strtab_get(&reader->index.names, place->file), (unsigned long long)place->offset,
		     why) < 0)
		return ctx_err_nomem(err);
	event.text = text;
	return ctx_exp_reader_push(reader, &event, text, err);
}

/* Announcements */

enum ctx_status ctx_exp_reader_announce(struct ctx_exp_reader *reader, uint32_t row, uint64_t time_ns,
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
	event.process_start.lineage = process->lineage;
	parent = process->parent_key != CTX_NONE
			 ? ctx_map64_get(&reader->log.process_of_key, process->parent_key)
			 : CTX_MAP64_NONE;
	event.process_start.parent =
		parent != CTX_MAP64_NONE && parent != row ? reader->log.processes[parent].number : CTX_NONE;
	if (process->cgroup == NULL && event.process_start.parent != CTX_NONE)
		process->cgroup = reader->log.processes[parent].cgroup;
	if (process->command == NULL)
		process->command = event.process_start.parent != CTX_NONE
					   ? reader->log.processes[parent].command
					   : "<Unknown>";
	event.process_start.command = process->command;
	event.process_start.cgroup = process->cgroup;
	event.process_start.inner_pid = process->inner_pid;
	return ctx_exp_reader_push(reader, &event, NULL, err);
}

/* Blocks */

int ctx_exp_reader_open_data(struct ctx_exp_reader *reader, const char *name, struct ctx_err *damage)
{
	size_t number = ctx_exp_packed_data(name);
	int fd = ctx_exp_open_file(reader->dir, name), packed CTX_AUTO_CLOSE = -1;
	struct stat before, after;
	char packed_name[32];
	enum ctx_status status;

	if (fd >= 0 || errno != ENOENT || number == CTX_EXP_PACKED_DATA_FILES)
		return fd;
	if (reader->scan.unpacked[number] == 0) {
		snprintf(packed_name, sizeof(packed_name), "%s" CTX_EXP_PACKED_END, name);
		packed = ctx_exp_open_file(reader->dir, packed_name);
		if (packed < 0)
			return -1;
		status = ctx_exp_unpack_data(packed, &fd, damage);
		if (status != CTX_OK)
			ctx_err_prefix(damage, status, "%s", packed_name);
		if (status != CTX_OK && status != CTX_E_FORMAT) {
			errno = EINVAL;
			return -1;
		}
		reader->scan.unpacked[number] = fd + 1;
		if (fstat(packed, &before) == 0 && fstat(fd, &after) == 0 && after.st_size > before.st_size)
			reader->scan.unpacked_excess += (uint64_t)(after.st_size - before.st_size);
	}
	return fcntl(reader->scan.unpacked[number] - 1, F_DUPFD_CLOEXEC, 0);
}

enum ctx_status ctx_exp_reader_read_place(struct ctx_exp_reader *reader, const struct ctx_exp_place *place,
					  struct ctx_exp_block_header *ret, struct ctx_err *err)
{
	const char *name = ctx_strtab_get(&reader->index.names, place->file);
	enum ctx_status status;

	if (reader->file.fd < 0 || reader->file.number != place->file) {
		if (reader->file.fd >= 0)
			close(reader->file.fd);
		reader->file.fd = ctx_exp_reader_open_data(reader, name, NULL);
		reader->file.number = place->file;
		if (reader->file.fd < 0)
			return ctx_err_errno(err, CTX_E_FORMAT, "cannot be opened any more");
	}
	status = ctx_exp_read_block(&reader->file, name, place->offset, ret, err);
	if (status == CTX_OK)
		reader->consumed += ret->header_bytes + (uint64_t)ret->frame_bytes;
	return status;
}

void ctx_exp_open_block_free(struct ctx_exp_open_block *block)
{
	if (block == NULL)
		return;
	free(block->packets);
	free(block->addresses);
	free(block->rests);
	if (block->io != NULL) {
		free(block->io->rest);
		ctx_exp_io_block_deinit(block->io);
		free(block->io);
	}
	free(block->usage);
	ctx_exp_open_calls_free(block->calls);
	free(block);
}

#define COUNTED_ALWAYS ((uint64_t)4 << 20)
#define COUNTED_PER_BYTE 16u

enum ctx_status ctx_exp_reader_has_room(struct ctx_exp_reader *reader, enum ctx_exp_counted what, uint64_t n,
					struct ctx_err *err)
{
	static const char *const NAMES[] = {"samples and changes", "frames of call stacks"};
	uint64_t excess = reader->scan.unpacked_excess, real = reader->index.real_bytes;
	uint64_t bytes = real > excess ? real - excess : 0;
	uint64_t max = COUNTED_ALWAYS + COUNTED_PER_BYTE * bytes;

	if (n > max || reader->n_read[what] > max - n)
		return ctx_err_set(err, CTX_E_FORMAT,
				   "more than %llu %s in data files of %llu bytes: no recorder packs so many",
				   (unsigned long long)max, NAMES[what], (unsigned long long)bytes);
	reader->n_read[what] += n;
	return CTX_OK;
}
