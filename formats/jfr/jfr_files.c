#include "formats/jfr/jfr_files.h"

#include "base/file_hash.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "base/xxh.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_MAX 65536u
#define SEARCH_BYTES ((size_t)1 << 20)
#define MAJOR 2u

void ctx_jfr_files_deinit(struct ctx_jfr_files *files)
{
	for (size_t i = 0; i < files->n_paths; i++)
		free(files->paths[i]);
	free(files->paths);
	free(files->places);
	ctx_buf_deinit(&files->notes);
	*files = (struct ctx_jfr_files){0};
}

static int open_file(const char *path)
{
	return open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

static bool is_file(const char *path)
{
	uint8_t bytes[CTX_JFR_HEADER_BYTES];
	int fd CTX_AUTO_CLOSE = open_file(path);
	struct ctx_jfr_header header;
	struct stat info;

	return fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
	       pread(fd, bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes) &&
	       ctx_jfr_header_read(bytes, &header);
}

/* --- files of a directory --- */

static int by_name(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

static enum ctx_status add_path(struct ctx_jfr_files *files, char *path, struct ctx_err *err)
{
	enum ctx_status status;

	if (path == NULL)
		return ctx_err_nomem(err);
	status = ctx_grow(&files->paths, &files->paths_cap, files->n_paths + 1, err);
	if (status == CTX_OK)
		files->paths[files->n_paths++] = path;
	else
		free(path);
	return status;
}

static enum ctx_status list_directory(struct ctx_jfr_files *files, const char *path, struct ctx_err *err)
{
	DIR *dir = opendir(path);
	enum ctx_status status = CTX_OK;
	struct dirent *entry;

	if (dir == NULL)
		return ctx_err_errno(err, CTX_E_IO, "%s", path);
	while (status == CTX_OK && (entry = readdir(dir)) != NULL && files->n_paths < FILES_MAX) {
		size_t n = strlen(entry->d_name);
		char *file;

		if (n <= 4 || strcmp(entry->d_name + n - 4, ".jfr") != 0)
			continue;
		file = ctx_path_join(path, entry->d_name);
		if (file == NULL || is_file(file))
			status = add_path(files, file, err);
		else
			free(file);
	}
	closedir(dir);
	if (files->n_paths != 0)
		qsort(files->paths, files->n_paths, sizeof(*files->paths), by_name);
	return status;
}

static enum ctx_status list_paths(struct ctx_jfr_files *files, const char *path, struct ctx_err *err)
{
	struct stat info;

	if (stat(path, &info) != 0)
		return ctx_err_errno(err, CTX_E_NOTFOUND, "%s", path);
	return S_ISDIR(info.st_mode) ? list_directory(files, path, err) : add_path(files, strdup(path), err);
}

bool ctx_jfr_files_is(const char *path)
{
	struct ctx_jfr_files files = {0};
	struct stat info;
	bool is;

	if (stat(path, &info) != 0)
		return false;
	if (!S_ISDIR(info.st_mode))
		return is_file(path);
	is = list_directory(&files, path, NULL) == CTX_OK && files.n_paths != 0;
	ctx_jfr_files_deinit(&files);
	return is;
}

/* --- chunks --- */

static enum ctx_status note(struct ctx_jfr_files *files, const char *path, uint64_t offset, const char *what,
			    struct ctx_err *err)
{
	struct ctx_buf *notes = &files->notes;

	ctx_buf_printf(notes, "%s: offset %llu: %s", ctx_path_base(path), (unsigned long long)offset, what);
	ctx_buf_put_u8(notes, 0);
	return ctx_buf_check(notes, err);
}

/* Searches the next chunk from an offset; the file's size: none. */
static enum ctx_status search(const struct ctx_file_place *from, uint64_t size, uint64_t *ret,
			      struct ctx_err *err)
{
	uint8_t *bytes CTX_AUTO_FREE = malloc(SEARCH_BYTES);
	struct ctx_file_place at = *from;

	*ret = size;
	if (bytes == NULL)
		return ctx_err_nomem(err);
	while (at.offset + CTX_JFR_HEADER_BYTES <= size) {
		struct ctx_jfr_header header;
		size_t got;
		enum ctx_status status = ctx_file_pread(&at, bytes, SEARCH_BYTES, &got, err);
		const uint8_t *hit = bytes;

		if (status != CTX_OK && status != CTX_END)
			return status;
		while (got >= CTX_JFR_HEADER_BYTES &&
		       (hit = memmem(hit, got - (size_t)(hit - bytes), "FLR\0", 4)) != NULL &&
		       got - (size_t)(hit - bytes) >= CTX_JFR_HEADER_BYTES) {
			if (ctx_jfr_header_read(hit, &header) && header.major == MAJOR) {
				*ret = at.offset + (uint64_t)(hit - bytes);
				return CTX_OK;
			}
			hit++;
		}
		if (status == CTX_END || got < CTX_JFR_HEADER_BYTES)
			return CTX_OK;
		at.offset += got - CTX_JFR_HEADER_BYTES + 1;
	}
	return CTX_OK;
}

static enum ctx_status add_place(struct ctx_jfr_files *files, const struct ctx_jfr_place *place,
				 struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&files->places, &files->places_cap, files->n_places + 1, err);

	if (status == CTX_OK)
		files->places[files->n_places++] = *place;
	files->bytes += place->n;
	return status;
}

/* A chunk that does not begin with a header is left out, up to the next one. */
static enum ctx_status skip_to_next(struct ctx_jfr_files *files, struct ctx_file_place *at, uint64_t size,
				    struct ctx_err *err)
{
	uint64_t next;
	char text[64];
	struct ctx_file_place from = *at;
	enum ctx_status status;

	from.offset++;
	status = search(&from, size, &next, err);
	if (status != CTX_OK)
		return status;
	snprintf(text, sizeof(text), "no chunk: %llu bytes are left out",
		 (unsigned long long)(next - at->offset));
	status = note(files, at->name, at->offset, text, err);
	at->offset = next;
	return status;
}

static enum ctx_status find_chunks(struct ctx_jfr_files *files, uint32_t file, struct ctx_err *err)
{
	const char *path = files->paths[file];
	int fd CTX_AUTO_CLOSE = open_file(path);
	struct ctx_file_place at = {.fd = fd, .name = path};
	enum ctx_status status = CTX_OK;
	struct stat info;
	uint64_t size;

	if (fd < 0 || fstat(fd, &info) != 0)
		return ctx_err_errno(err, CTX_E_IO, "%s", path);
	size = (uint64_t)info.st_size;
	while (at.offset < size && status == CTX_OK) {
		struct ctx_jfr_place place = {.file = file, .offset = at.offset, .n = size - at.offset};
		uint8_t bytes[CTX_JFR_HEADER_BYTES];
		size_t got;

		status = ctx_file_pread(&at, bytes, sizeof(bytes), &got, err);
		if (status != CTX_OK && status != CTX_END)
			return status;
		if (status == CTX_END || !ctx_jfr_header_read(bytes, &place.header) ||
		    place.header.major != MAJOR ||
		    (place.header.size != 0 && place.header.size < CTX_JFR_HEADER_BYTES)) {
			status = skip_to_next(files, &at, size, err);
			continue;
		}
		if (place.header.size != 0 && place.header.size < place.n)
			place.n = place.header.size;
		status = add_place(files, &place, err);
		at.offset += place.n;
	}
	return status;
}

static int by_begin(const void *left, const void *right)
{
	const struct ctx_jfr_place *a = left, *b = right;

	if (a->header.start_ns != b->header.start_ns)
		return a->header.start_ns < b->header.start_ns ? -1 : 1;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

enum ctx_status ctx_jfr_files_find(struct ctx_jfr_files *files, const char *path, struct ctx_err *err)
{
	enum ctx_status status = list_paths(files, path, err);

	for (size_t i = 0; i < files->n_paths && status == CTX_OK; i++)
		status = find_chunks(files, (uint32_t)i, err);
	if (status != CTX_OK)
		return status;
	if (files->n_places == 0)
		return ctx_err_set(err, CTX_E_FORMAT, "%s: no chunk of version %u of JFR", path, MAJOR);
	qsort(files->places, files->n_places, sizeof(*files->places), by_begin);
	return CTX_OK;
}

enum ctx_status ctx_jfr_files_read(const struct ctx_jfr_files *files, size_t place, struct ctx_buf *buf,
				   struct ctx_err *err)
{
	const struct ctx_jfr_place *at = &files->places[place];
	const char *path = files->paths[at->file];
	int fd CTX_AUTO_CLOSE = open_file(path);
	struct ctx_file_place from = {.fd = fd, .name = path, .offset = at->offset};
	enum ctx_status status;
	uint8_t *bytes;
	size_t got;

	if (fd < 0)
		return ctx_err_errno(err, CTX_E_IO, "%s", path);
	ctx_buf_clear(buf);
	bytes = ctx_buf_reserve(buf, (size_t)at->n);
	if (bytes == NULL)
		return ctx_err_nomem(err);
	status = ctx_file_pread(&from, bytes, (size_t)at->n, &got, err);
	if (status == CTX_OK || status == CTX_END)
		buf->n = got;
	return status == CTX_END ? CTX_OK : status;
}

enum ctx_status ctx_jfr_files_fingerprint(const char *path, char ret[17], struct ctx_err *err)
{
	struct ctx_jfr_files files = {0};
	struct ctx_buf all CTX_AUTO_BUF = {0};
	enum ctx_status status = list_paths(&files, path, err);

	if (status == CTX_OK && files.n_paths == 1 && strcmp(files.paths[0], path) == 0) {
		ctx_jfr_files_deinit(&files);
		return ctx_file_fingerprint(path, ret, err);
	}
	for (size_t i = 0; i < files.n_paths && status == CTX_OK; i++) {
		status = ctx_file_fingerprint(files.paths[i], ret, err);
		if (status == CTX_OK)
			ctx_buf_printf(&all, "%s %s\n", ctx_path_base(files.paths[i]), ret);
	}
	ctx_jfr_files_deinit(&files);
	if (status == CTX_OK)
		status = ctx_buf_check(&all, err);
	if (status == CTX_OK)
		snprintf(ret, 17, "%016llx", (unsigned long long)ctx_xxh3(all.bytes, all.n));
	return status;
}
