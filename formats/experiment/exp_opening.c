/*
 * Opens an experiment as an event source: the directory, its log and maps, and the index of its
 * data files; and closes it.
 *
 *	log.xml, map.xml, _f1_x2.er/map.xml --> log
 *	data files of the same directories ---> index of blocks
 *	notes, archives/ ---------------------> info
 */
#include "formats/experiment/exp_reader.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "formats/experiment/exp_archive.h"
#include "formats/experiment/exp_reader_state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOTES_MAX ((size_t)1 << 20)

static void close_reader(struct ctx_event_source *source)
{
	struct ctx_exp_reader *reader = source->impl;

	for (size_t i = 0; i < reader->open.n; i++)
		ctx_exp_open_block_free(reader->open.items[i].block);
	for (size_t i = reader->pending.at; i < reader->pending.n; i++)
		free(reader->pending.items[i].text);
	for (size_t i = 0; i < reader->n_dictionaries; i++) {
		ctx_exp_dictionary_deinit(&reader->dictionaries[i]);
	}
	if (reader->file.fd >= 0)
		close(reader->file.fd);
	if (reader->dir >= 0)
		close(reader->dir);
	ctx_exp_open_block_free(reader->loading.block);
	free(reader->path);
	free(reader->dictionaries);
	free(reader->open.items);
	free(reader->pending.items);
	free(reader->pending.shown);
	free(reader->nodes.parents);
	free(reader->nodes.addresses);
	free(reader->archive.kallsyms);
	free(reader->archive.root);
	free(reader->archive.sources);
	ctx_arena_deinit(&reader->archive.source_paths);
	ctx_strtab_deinit(&reader->archive.names);
	ctx_buf_deinit(&reader->archive.path);
	ctx_buf_deinit(&reader->notes);
	ctx_buf_deinit(&reader->file.scratch);
	ctx_buf_deinit(&reader->file.payload);
	ctx_compressor_deinit(&reader->file.compressor);
	ctx_exp_log_deinit(&reader->log);
	ctx_exp_index_deinit(&reader->index);
	free(reader);
}

/*
 * Opens a regular file in the experiment, or returns -1. Does not follow links, does not block on a
 * pipe.
 */
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

/* Sorted names of a directory, so that an experiment always gives the same events. */
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
		return CTX_OK; /* nothing usable */
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

/* A file that exists but cannot be opened (errno) is reported, unlike a missing one. */
static enum ctx_status add_open_damage(struct ctx_exp_reader *reader, const char *name, struct ctx_err *err)
{
	struct ctx_err why = {0};

	ctx_err_errno(&why, CTX_E_IO, "%s: cannot be opened", name);
	return ctx_exp_log_damage(&reader->log, why.msg, err);
}

static enum ctx_status read_text_file(struct ctx_exp_reader *reader, const char *name, struct ctx_err *err)
{
	int fd CTX_AUTO_CLOSE = open_file(reader->dir, name);
	struct ctx_err local = {0};
	enum ctx_status status;

	if (fd < 0)
		return add_open_damage(reader, name, err);
	status = ctx_exp_log_read(&reader->log, fd, name, &local);
	if (status == CTX_E_VERSION && strcmp(name, "log.xml") != 0)
		return ctx_exp_log_damage(&reader->log, local.msg, err);
	return status == CTX_OK ? CTX_OK : ctx_err_set(err, status, "%s", local.msg);
}

static enum ctx_status add_map_damage(struct ctx_exp_reader *reader, const char *below, struct ctx_err *err)
{
	char text[512];

	snprintf(text, sizeof(text), "%s%smap.xml: missing, so no address has a name",
		 strcmp(below, ".") == 0 ? "" : below, strcmp(below, ".") == 0 ? "" : "/");
	return ctx_exp_log_damage(&reader->log, text, err);
}

/*
 * Reads map and data files of the root process (`below` is ".") or of a descendant. Ignores files
 * that are not regular: they are not part of the experiment.
 */
static enum ctx_status read_directory(struct ctx_exp_reader *reader, const char *below, struct ctx_err *err)
{
	struct ctx_strtab names = {0};
	bool root_process = strcmp(below, ".") == 0, has_map = false;
	enum ctx_status status = list_names(reader->dir, below, &names, err);
	char *name = NULL;

	if (status == CTX_OK && names.n != 0)
		qsort(names.strings, names.n, sizeof(*names.strings), by_text);
	for (size_t i = 0; i < names.n && status == CTX_OK; i++) {
		const char *last = names.strings[i];
		int fd CTX_AUTO_CLOSE = -1;

		free(name);
		name = root_process ? strdup(last) : ctx_path_join(below, last);
		if (name == NULL)
			status = ctx_err_nomem(err);
		else if (strcmp(last, "map.xml") == 0)
			status = read_text_file(reader, name, err);
		else if (is_data_file(last) && (fd = open_file(reader->dir, name)) >= 0)
			status = ctx_exp_index_add(&reader->index, fd, name, &reader->log, err);
		else if (is_data_file(last) && (errno == EACCES || errno == EPERM || errno == EIO))
			status = add_open_damage(reader, name, err);
		has_map = has_map || strcmp(last, "map.xml") == 0;
	}
	if (status == CTX_OK && !has_map)
		status = add_map_damage(reader, below, err);
	free(name);
	ctx_strtab_deinit(&names);
	return status;
}

bool ctx_exp_is_lineage(const char *name)
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

/* What is known of an end that was not in order. Older recorders leave no last words. */
static enum ctx_status read_last(struct ctx_exp_reader *reader, struct ctx_err *err)
{
	enum ctx_status status;
	char text[160];

	if (faccessat(reader->dir, "last.xml", F_OK, AT_SYMLINK_NOFOLLOW) != 0)
		return CTX_OK;
	status = read_text_file(reader, "last.xml", err);
	if (status != CTX_OK || reader->log.closed || reader->log.last.has_failed)
		return status;
	if (ctx_exp_is_recorded(reader->path))
		return ctx_exp_log_warning(&reader->log, "the recording goes on: this is its beginning", err);
	snprintf(text, sizeof(text),
		 "the recorder was killed: its last sign of life is %.3f s after the begin of the recording",
		 (double)reader->log.last.alive_ns / 1e9);
	return ctx_exp_log_warning(&reader->log, text, err);
}

static enum ctx_status read_all(struct ctx_exp_reader *reader, struct ctx_err *err)
{
	struct ctx_strtab names = {0};
	enum ctx_status status = read_text_file(reader, "log.xml", err);

	if (status == CTX_OK && !reader->log.has_run)
		status = ctx_err_set(err, CTX_E_FORMAT, "log.xml: no run event in it");
	if (status == CTX_OK)
		status = read_last(reader, err);
	if (status == CTX_OK)
		status = read_directory(reader, ".", err);
	if (status == CTX_OK)
		status = list_names(reader->dir, ".", &names, err);
	if (status == CTX_OK && names.n != 0)
		qsort(names.strings, names.n, sizeof(*names.strings), by_text);
	for (size_t i = 0; i < names.n && status == CTX_OK; i++) {
		if (ctx_exp_is_lineage(names.strings[i]))
			status = read_directory(reader, names.strings[i], err);
	}
	ctx_strtab_deinit(&names);
	return status;
}

static enum ctx_status read_rest(struct ctx_exp_reader *reader, struct ctx_err *err)
{
	int notes CTX_AUTO_CLOSE = open_file(reader->dir, "notes");
	int kallsyms CTX_AUTO_CLOSE = open_file(reader->dir, "archives/kallsyms.zst");
	enum ctx_status status = list_names(reader->dir, "archives", &reader->archive.names, err);

	reader->archive.n = reader->archive.names.n;
	reader->archive.root = ctx_path_join(reader->path, "archives");
	if (status != CTX_OK || reader->archive.root == NULL)
		return ctx_err_nomem(err);
	if (kallsyms >= 0) {
		reader->archive.kallsyms = ctx_path_join(reader->archive.root, "kallsyms.zst");
		if (reader->archive.kallsyms == NULL)
			return ctx_err_nomem(err);
	}
	if (notes >= 0) {
		uint8_t *room = ctx_buf_reserve(&reader->notes, NOTES_MAX);
		size_t got;

		if (room == NULL)
			return ctx_err_nomem(err);
		status = ctx_file_pread(&(struct ctx_file_place){notes, "notes", 0}, room, NOTES_MAX, &got,
					err);
		if (status < 0)
			return status;
		reader->notes.n = strnlen((const char *)room, got);
	}
	ctx_buf_put_u8(&reader->notes, 0);
	return ctx_buf_check(&reader->notes, err);
}

/*
 * Lists the source copies that the log names and that exist. The log is not trusted: only names as
 * made by the recorder are accepted, and only regular files in archives/.
 */
static enum ctx_status find_sources(struct ctx_exp_reader *reader, struct ctx_err *err)
{
	for (size_t i = 0; i < reader->log.sources.n; i++) {
		const struct ctx_exp_source_row *row = &reader->log.sources.rows[i];
		char *name CTX_AUTO_FREE = NULL, *path CTX_AUTO_FREE = NULL;
		struct ctx_source_text *text;
		int fd CTX_AUTO_CLOSE = -1;
		enum ctx_status status;

		if (!ctx_exp_is_source_name(row->archive) ||
		    ctx_strtab_find(&reader->archive.names, row->archive, strlen(row->archive)) == UINT32_MAX)
			continue;
		name = ctx_path_join("archives", row->archive);
		path = ctx_path_join(reader->archive.root, row->archive);
		if (name == NULL || path == NULL)
			return ctx_err_nomem(err);
		fd = open_file(reader->dir, name);
		if (fd < 0)
			continue;
		status = ctx_grow(&reader->archive.sources, &reader->archive.sources_cap,
				  reader->archive.n_sources + 1, err);
		if (status != CTX_OK)
			return status;
		text = &reader->archive.sources[reader->archive.n_sources];
		text->path = row->path;
		text->archive = ctx_arena_strdup(&reader->archive.source_paths, path);
		if (text->archive == NULL)
			return ctx_err_nomem(err);
		reader->archive.n_sources++;
	}
	return CTX_OK;
}

/* The modifier of an event name: 'u', 'k', ...; 0 none. */
static char modifier_of(const char *name)
{
	size_t n = strlen(name);

	return n < 2 || name[n - 2] != ':' ? 0 : name[n - 1];
}

/*
 * Does a clock sample in one mode only? By `modifier` of its name, or because the recording is
 * limited to `mode`.
 */
static bool is_limited_to(const struct ctx_exp_log *log, size_t metric, char modifier, const char *mode)
{
	char own = modifier_of(log->metrics[metric].name);

	if (own != 0)
		return own == modifier;
	for (size_t i = 0; i < log->n_properties; i++) {
		if (strcmp(log->properties[i].key, "modes") == 0)
			return strcmp(log->properties[i].value, mode) == 0;
	}
	return false;
}

/* See struct ctx_source_info. With two user-mode clocks it is unknown which one took no sample. */
static void find_clocks(const struct ctx_exp_log *log, struct ctx_source_info *info)
{
	size_t n = 0, n_user = 0, n_kernel = 0;

	for (size_t i = 0; i < log->n_metrics; i++) {
		if (ctx_source_metric_kind(&log->metrics[i]) != CTX_METRIC_CPU_TIME)
			continue;
		n++;
		if (is_limited_to(log, i, 'k', "kernel"))
			n_kernel++;
		if (is_limited_to(log, i, 'u', "user")) {
			n_user++;
			info->user_clock_ns = log->periods[i];
		}
	}
	if (n != 1 || n_user != 1)
		info->user_clock_ns = 0;
	info->kernel_clock = n != 0 && n_kernel == n;
}

/* Recorded with --unwind none: collect/recmeta.c writes this. */
static bool took_no_callers(const struct ctx_exp_log *log)
{
	for (size_t i = 0; i < log->n_properties; i++) {
		if (strcmp(log->properties[i].key, "stacks") == 0)
			return strcmp(log->properties[i].value, "program counter alone") == 0;
	}
	return false;
}

static void fill_info(struct ctx_exp_reader *reader)
{
	struct ctx_source_info *info = &reader->source.info;
	uint64_t last =
		reader->log.last_ns > reader->index.last_ns ? reader->log.last_ns : reader->index.last_ns;

	info->name = ctx_path_base(reader->path);
	info->format = "experiment 1";
	info->duration_ns = last < UINT64_MAX ? last + 1 : last;
	info->closed = reader->log.closed;
	info->notes = (const char *)reader->notes.bytes;
	info->kallsyms = reader->archive.kallsyms != NULL ? reader->archive.kallsyms : "";
	info->fallback_root = reader->archive.n > 0 ? reader->archive.root : "";
	info->properties = reader->log.properties;
	info->n_properties = reader->log.n_properties;
	info->metrics = reader->log.metrics;
	info->n_metrics = (uint32_t)reader->log.n_metrics;
	info->sources = reader->archive.sources;
	info->n_sources = reader->archive.n_sources;
	info->has_states = reader->log.has_states || reader->index.has_states;
	info->states_end_ns = reader->log.limit_ns;
	info->no_call_stacks = took_no_callers(&reader->log);
	find_clocks(&reader->log, info);
	info->bytes = reader->index.bytes;
}

static enum ctx_status open_directory(struct ctx_exp_reader *reader, const char *path, struct ctx_err *err)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	reader->path = ctx_memdup0(path, n);
	if (reader->path == NULL)
		return ctx_err_nomem(err);
	reader->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (reader->dir < 0 && errno == ENOTDIR)
		return ctx_err_set(err, CTX_E_FORMAT, "%s: not a directory", path);
	if (reader->dir < 0)
		return ctx_err_errno(err, errno == ENOENT ? CTX_E_NOTFOUND : CTX_E_IO, "%s", path);
	if (!ctx_exp_is_experiment(path))
		return ctx_err_set(err, CTX_E_FORMAT, "%s: not an experiment: no valid log.xml in it", path);
	return CTX_OK;
}

enum ctx_status ctx_exp_open(const char *path, struct ctx_event_source **ret, struct ctx_err *err)
{
	struct ctx_exp_reader *reader = ctx_calloc(1, sizeof(*reader));
	enum ctx_status status;

	if (reader == NULL)
		return ctx_err_nomem(err);
	reader->dir = reader->file.fd = -1;
	reader->source = (struct ctx_event_source){.impl = reader,
						   .next = ctx_exp_reader_next,
						   .progress = ctx_exp_reader_progress,
						   .close = close_reader};
	status = open_directory(reader, path, err);
	if (status == CTX_OK) {
		status = read_all(reader, err);
		if (status == CTX_OK)
			status = read_rest(reader, err);
		if (status == CTX_OK)
			status = find_sources(reader, err);
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
