#include "formats/experiment/exp_index.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "base/xxh.h"
#include "formats/experiment/exp_keep.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define WINDOW ((size_t)64 * 1024)

void ctx_exp_index_deinit(struct ctx_exp_index *index)
{
	ctx_strtab_deinit(&index->names);
	free(index->files);
	free(index->blocks);
	free(index->frames);
	free(index->kept);
	*index = (struct ctx_exp_index){0};
}

static enum ctx_status damage(struct ctx_exp_log *log, const char *name, uint64_t offset, const char *why,
			      struct ctx_err *err)
{
	char text[CTX_ERR_MAX + 320];

	snprintf(text, sizeof(text), "%s: offset %llu: %s", name, (unsigned long long)offset, why);
	return ctx_exp_log_damage(log, text, err);
}

struct file {
	int fd;
	const char *name;
	uint32_t number;
	uint64_t size;
	uint64_t real_size; /* without holes */
};

/* The offset of the next block magic from `from` on, or the file's size. */
static enum ctx_status find_magic(const struct file *file, uint64_t from, uint64_t *ret, struct ctx_err *err)
{
	char *window CTX_AUTO_FREE = malloc(WINDOW);

	if (window == NULL)
		return ctx_err_nomem(err);
	while (from < file->size && (from = ctx_file_next_data(file->fd, from)) < file->size) {
		size_t got;
		enum ctx_status status = ctx_file_pread(&(struct ctx_file_place){file->fd, file->name, from},
							window, WINDOW, &got, err);
		const char *hit;

		if (status < 0)
			return status;
		hit = memmem(window, got, CTX_EXP_BLOCK_MAGIC, 4);
		if (hit != NULL) {
			*ret = from + (uint64_t)(hit - window);
			return CTX_OK;
		}
		if (got < WINDOW)
			break;
		from += got - 3;
	}
	*ret = file->size;
	return CTX_OK;
}

/* Adds the block at the file's `offset`. */
static enum ctx_status add_block(struct ctx_exp_index *index, const struct ctx_exp_block_header *header,
				 uint32_t file, struct ctx_err *err)
{
	struct ctx_exp_place place = {.first_ns = header->first_ns,
				      .offset = index->files[file].offset,
				      .file = file,
				      .process = header->process,
				      .epoch = header->epoch,
				      .n_records = header->n_records,
				      .is_heap = ctx_exp_block_has_heap(header)};
	enum ctx_traced_kind kind = ctx_exp_block_traced(header);
	enum ctx_status status;

	if (ctx_exp_block_has_frames(header)) {
		status = ctx_grow(&index->frames, &index->frames_cap, index->n_frames + 1, err);
		if (status == CTX_OK)
			index->frames[index->n_frames++] = place;
		return status;
	}
	if (header->kind == CTX_EXP_BLOCK_KEPT) {
		status = ctx_grow(&index->kept, &index->kept_cap, index->n_kept + 1, err);
		if (status == CTX_OK)
			index->kept[index->n_kept++] = place;
		return status;
	}
	if (index->is_followed && kind != CTX_TRACED_N && !index->has_traced[kind])
		return CTX_OK;
	if (kind == CTX_TRACED_N && header->kind != CTX_EXP_BLOCK_PROFILE &&
	    header->kind != CTX_EXP_BLOCK_OVERVIEW && header->kind != CTX_EXP_BLOCK_CALL_EVENTS &&
	    !ctx_exp_block_has_changes(header))
		return CTX_OK;
	if (kind != CTX_TRACED_N)
		index->has_traced[kind] = true;
	index->has_calls = index->has_calls || header->kind == CTX_EXP_BLOCK_CALL_EVENTS;
	index->has_states = index->has_states || ctx_exp_block_has_changes(header);
	status = ctx_grow(&index->blocks, &index->blocks_cap, index->n_blocks + 1, err);
	if (status == CTX_OK)
		index->blocks[index->n_blocks++] = place;
	if (header->last_ns > index->last_ns)
		index->last_ns = header->last_ns;
	return status;
}

/* Reads the header at `offset`, also one longer than ours. */
static enum ctx_status read_header(int fd, const char *name, uint64_t offset,
				   struct ctx_exp_block_header *ret, struct ctx_err *err)
{
	uint8_t bytes[CTX_EXP_BLOCK_HEADER_MAX];
	size_t got;
	enum ctx_status status = ctx_file_pread(&(struct ctx_file_place){fd, name, offset}, bytes,
						CTX_EXP_BLOCK_HEADER_BYTES, &got, err);

	if (status < 0)
		return status;
	status = ctx_exp_decode_block_header(bytes, got, ret, err);
	if (status != CTX_E_LIMIT)
		return status;
	status = ctx_file_pread(&(struct ctx_file_place){fd, name, offset}, bytes, ret->header_bytes, &got,
				err);
	if (status < 0)
		return status;
	status = ctx_exp_decode_block_header(bytes, got, ret, err);
	return status == CTX_E_LIMIT ? CTX_E_FORMAT : status;
}

/* After damage: to the next magic, of which a growing file may have the first bytes at its end. */
static enum ctx_status skip_damage(const struct ctx_exp_index *index, const struct file *file,
				   uint64_t *offset, struct ctx_err *err)
{
	uint64_t from = *offset + 1;
	enum ctx_status status = find_magic(file, from, offset, err);

	if (status == CTX_OK && index->grows && *offset == file->size && from + 3 <= file->size)
		*offset = file->size - 3;
	return status;
}

/* Walks from block to block. */
static enum ctx_status walk(struct ctx_exp_index *index, const struct file *file, struct ctx_exp_log *log,
			    struct ctx_err *err)
{
	struct ctx_exp_data_file *place = &index->files[file->number];
	enum ctx_status status = CTX_OK;

	while (place->offset < file->size && status == CTX_OK) {
		struct ctx_exp_block_header header;
		struct ctx_err local = {0};
		uint64_t rest = file->size - place->offset;

		if (index->grows && rest < CTX_EXP_BLOCK_HEADER_BYTES)
			return CTX_OK;
		status = read_header(file->fd, file->name, place->offset, &header, &local);
		if (status == CTX_OK && header.frame_bytes > rest - header.header_bytes) {
			if (index->grows)
				return CTX_OK;
			status = ctx_err_set(&local, CTX_E_FORMAT, "the file ends within a block");
		}
		if (status == CTX_OK) {
			status = add_block(index, &header, file->number, err);
			place->offset += header.header_bytes + (uint64_t)header.frame_bytes;
			place->lost = false;
		} else if (status == CTX_E_FORMAT) {
			status =
				place->lost ? CTX_OK : damage(log, file->name, place->offset, local.msg, err);
			place->lost = true;
			if (status == CTX_OK)
				status = skip_damage(index, file, &place->offset, err);
		} else if (err != NULL) {
			*err = local;
		}
	}
	return status;
}

static bool is_known(const char *name)
{
	return strcmp(name, "profile") == 0 || strcmp(name, "hwcounters") == 0 ||
	       strcmp(name, "frameinfo") == 0 || strcmp(name, "overview") == 0 ||
	       strcmp(name, CTX_EXP_KEPT_FILE) == 0 || ctx_exp_is_record_file(name);
}

/* Counts what is new of a file. */
static void count_bytes(struct ctx_exp_index *index, const struct file *file)
{
	struct ctx_exp_data_file *place = &index->files[file->number];

	if (strcmp(ctx_path_base(file->name), CTX_EXP_KEPT_FILE) == 0) /* read separately from events */
		return;
	if (file->size > place->size)
		index->bytes += file->size - place->size;
	if (file->real_size > place->real_size)
		index->real_bytes += file->real_size - place->real_size;
	place->size = file->size;
	place->real_size = file->real_size;
}

/* `header` is the result of the check of the file header. */
static enum ctx_status add_file(struct ctx_exp_index *index, struct file *file, const struct ctx_err *header,
				struct ctx_exp_log *log, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&index->files, &index->files_cap, index->names.n + 1, err);
	struct ctx_exp_data_file *place;

	if (status == CTX_OK)
		status = ctx_strtab_add_text(&index->names, file->name, &file->number, err);
	if (status != CTX_OK)
		return status;
	place = &index->files[file->number];
	*place = (struct ctx_exp_data_file){.offset = CTX_EXP_FILE_HEADER_BYTES};
	count_bytes(index, file);
	if (header->status != CTX_OK) {
		status = damage(log, file->name, 0, header->msg, err);
		place->refused = header->status == CTX_E_VERSION;
		if (status != CTX_OK || place->refused)
			return status;
		status = find_magic(file, 0, &place->offset, err);
		if (status != CTX_OK)
			return status;
	}
	return walk(index, file, log, err);
}

static enum ctx_status add_new_file(struct ctx_exp_index *index, struct file *file, struct ctx_exp_log *log,
				    struct ctx_err *err)
{
	uint8_t bytes[CTX_EXP_FILE_HEADER_BYTES];
	struct ctx_err local = {0};
	enum ctx_status status;
	size_t got;

	if (index->grows && file->size < sizeof(bytes))
		return CTX_OK;
	status = ctx_file_pread(&(struct ctx_file_place){file->fd, file->name, 0}, bytes, sizeof(bytes), &got,
				err);
	if (status < 0)
		return status;
	status = got == sizeof(bytes) ? ctx_exp_check_file_header(bytes, &local)
				      : ctx_err_set(&local, CTX_E_FORMAT, "the file ends within its header");
	if (status == CTX_E_FORMAT && !is_known(ctx_path_base(file->name)))
		return CTX_OK; /* not a file of the experiment */
	return add_file(index, file, &local, log, err);
}

enum ctx_status ctx_exp_index_add(struct ctx_exp_index *index, int fd, const char *name,
				  struct ctx_exp_log *log, struct ctx_err *err)
{
	struct file file = {.fd = fd, .name = name};
	struct stat info;

	if (fstat(fd, &info) != 0)
		return ctx_err_errno(err, CTX_E_IO, "%s", name);
	if (info.st_size == 0)
		return CTX_OK;
	file.size = file.real_size = (uint64_t)info.st_size;
	if ((uint64_t)info.st_blocks < file.size / 512)
		file.real_size = (uint64_t)info.st_blocks * 512;
	file.number = ctx_strtab_find(&index->names, name, strlen(name));
	if (file.number == UINT32_MAX)
		return add_new_file(index, &file, log, err);
	if (index->files[file.number].refused)
		return CTX_OK;
	count_bytes(index, &file);
	return walk(index, &file, log, err);
}

static int by_time(const void *a, const void *b)
{
	const struct ctx_exp_place *left = a;
	const struct ctx_exp_place *right = b;

	if (left->first_ns != right->first_ns)
		return left->first_ns < right->first_ns ? -1 : 1;
	if (left->file != right->file)
		return left->file < right->file ? -1 : 1;
	return (left->offset > right->offset) - (left->offset < right->offset);
}

static int by_process(const void *a, const void *b)
{
	const struct ctx_exp_place *left = a;
	const struct ctx_exp_place *right = b;

	if (left->process != right->process)
		return left->process < right->process ? -1 : 1;
	return by_time(a, b); /* frames have time 0: sorted by file, then offset */
}

void ctx_exp_index_sort(struct ctx_exp_index *index)
{
	for (size_t i = 0; i < index->n_frames; i++)
		index->frames[i].first_ns = 0;
	if (index->n_blocks != 0)
		qsort(index->blocks, index->n_blocks, sizeof(*index->blocks), by_time);
	if (index->n_kept != 0)
		qsort(index->kept, index->n_kept, sizeof(*index->kept), by_time);
	if (index->n_frames != 0)
		qsort(index->frames, index->n_frames, sizeof(*index->frames), by_process);
}

void ctx_exp_index_drop(struct ctx_exp_index *index, size_t n)
{
	index->n_blocks -= n;
	if (index->n_blocks != 0)
		memmove(index->blocks, index->blocks + n, index->n_blocks * sizeof(*index->blocks));
}

enum ctx_status ctx_exp_read_block(struct ctx_exp_block_file *file, const char *name, uint64_t offset,
				   struct ctx_exp_block_header *ret, struct ctx_err *err)
{
	enum ctx_status status = read_header(file->fd, name, offset, ret, err);
	uint8_t *room;
	size_t got;

	if (status != CTX_OK)
		return status;
	ctx_buf_clear(&file->scratch);
	room = ctx_buf_reserve(&file->scratch, ret->frame_bytes + 1);
	if (room == NULL)
		return ctx_err_nomem(err);
	status = ctx_file_pread(&(struct ctx_file_place){file->fd, name, offset + ret->header_bytes}, room,
				ret->frame_bytes, &got, err);
	if (status != CTX_OK)
		return status < 0 ? status : ctx_err_set(err, CTX_E_FORMAT, "the file ends within a block");
	if (ctx_xxh3(room, ret->frame_bytes) != ret->checksum)
		return ctx_err_set(err, CTX_E_FORMAT, "checksum differs");
	ctx_buf_clear(&file->payload);
	return ctx_decompress(&file->compressor, (struct ctx_bytes){room, ret->frame_bytes}, ret->raw_bytes,
			      &file->payload, err);
}
