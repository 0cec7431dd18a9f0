/*
 * Finds what is in an experiment's directory, or what is new there since the last time.
 *
 *	log.xml, last.xml, map.xml, _f1_x2.er/map.xml --> log
 *	data files of the same directories -------------> index of blocks
 */
#include "formats/experiment/exp_reader.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "formats/experiment/exp_keep.h"
#include "formats/experiment/exp_reader_state.h"
#include "formats/experiment/exp_text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_data_file(const char *name)
{
	return name[0] != '.' && name[0] != '_' && strchr(name, '.') == NULL && strcmp(name, "notes") != 0 &&
	       strcmp(name, "archives") != 0;
}

enum ctx_status ctx_exp_reader_list(int dir, const char *below, struct ctx_strtab *names, struct ctx_err *err)
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

/* Sorted, so that an experiment always gives the same events. */
static enum ctx_status list_sorted(int dir, const char *below, struct ctx_strtab *names, struct ctx_err *err)
{
	enum ctx_status status = ctx_exp_reader_list(dir, below, names, err);

	if (status == CTX_OK && names->n != 0)
		qsort(names->strings, names->n, sizeof(*names->strings), by_text);
	return status;
}

/* A file that exists but cannot be opened (errno) is reported, unlike a missing one. */
static enum ctx_status add_open_damage(struct ctx_exp_reader *reader, const char *name, struct ctx_err *err)
{
	struct ctx_err why = {0};

	if (reader->scan.grows)
		return CTX_OK;
	ctx_err_errno(&why, CTX_E_IO, "%s: cannot be opened", name);
	return ctx_exp_log_damage(&reader->log, why.msg, err);
}

/* How far a text has been read. */
static enum ctx_status place_of(struct ctx_exp_scan *scan, const char *name, struct ctx_exp_lines_place **ret,
				struct ctx_err *err)
{
	uint32_t before = (uint32_t)scan->texts.n, number;
	enum ctx_status status = ctx_strtab_add_text(&scan->texts, name, &number, err);

	if (status == CTX_OK)
		status = ctx_grow(&scan->places, &scan->places_cap, scan->texts.n, err);
	if (status != CTX_OK)
		return status;
	if (number == before)
		scan->places[number] = (struct ctx_exp_lines_place){0};
	*ret = &scan->places[number];
	return CTX_OK;
}

static enum ctx_status read_text_file(struct ctx_exp_reader *reader, const char *name, struct ctx_err *err)
{
	struct ctx_exp_text text = {.grows = reader->scan.grows};
	int fd CTX_AUTO_CLOSE = ctx_exp_open_text(reader->dir, name, &text.is_packed);
	char packed[320];
	struct ctx_exp_lines_place *place;
	struct ctx_err local = {0};
	enum ctx_status status;

	if (fd < 0)
		return add_open_damage(reader, name, err);
	status = place_of(&reader->scan, name, &place, err);
	if (status != CTX_OK)
		return status;
	snprintf(packed, sizeof(packed), "%s" CTX_EXP_PACKED_END, name);
	text.fd = fd;
	text.name = text.is_packed ? packed : name;
	text.read = *place;
	status = ctx_exp_log_read(&reader->log, &text, &local);
	*place = text.read;
	if ((status == CTX_E_VERSION || status == CTX_E_LIMIT) && strcmp(name, CTX_EXP_LOG_FILE) != 0)
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

/* Reads the file `last` of a directory, if it is a map or a data file: not other files. */
static enum ctx_status read_file(struct ctx_exp_reader *reader, const char *below, const char *last,
				 struct ctx_err *err)
{
	char *name CTX_AUTO_FREE = strcmp(below, ".") == 0 ? strdup(last) : ctx_path_join(below, last);
	struct ctx_err damage = {0};
	int fd CTX_AUTO_CLOSE = -1;

	if (name == NULL)
		return ctx_err_nomem(err);
	if (strcmp(last, CTX_EXP_MAP_FILE) == 0)
		return read_text_file(reader, name, err);
	if (!is_data_file(last))
		return CTX_OK;
	fd = ctx_exp_reader_open_data(reader, name, &damage);
	if (damage.msg[0] != '\0') {
		enum ctx_status status = ctx_exp_log_damage(&reader->log, damage.msg, err);

		if (status != CTX_OK)
			return status;
	}
	if (fd >= 0)
		return ctx_exp_index_add(&reader->index, fd, name, &reader->log, err);
	return errno == EACCES || errno == EPERM || errno == EIO ? add_open_damage(reader, name, err)
								 : CTX_OK;
}

/* Without the end of a packed file, malloc'ed. */
static char *plain_name(const char *name)
{
	size_t n = strlen(name), end = strlen(CTX_EXP_PACKED_END);

	return ctx_memdup0(name, n > end && strcmp(name + n - end, CTX_EXP_PACKED_END) == 0 ? n - end : n);
}

/* Reads map and data files of the root process (`below` is ".") or of a descendant. */
static enum ctx_status read_directory(struct ctx_exp_reader *reader, const char *below, struct ctx_err *err)
{
	struct ctx_strtab names = {0};
	bool has_map = false;
	enum ctx_status status = list_sorted(reader->dir, below, &names, err);

	for (size_t i = 0; i < names.n && status == CTX_OK; i++) {
		char *name CTX_AUTO_FREE = plain_name(names.strings[i]);

		/* One that is there twice is plain, and has been read to its end when its name comes again. */
		status = name != NULL ? read_file(reader, below, name, err) : ctx_err_nomem(err);
		has_map = has_map || (name != NULL && strcmp(name, CTX_EXP_MAP_FILE) == 0);
	}
	if (status == CTX_OK && !has_map)
		status = add_map_damage(reader, below, err);
	ctx_strtab_deinit(&names);
	return status;
}

/* The same while it grows: what recorders write, without a list of the directory. */
static enum ctx_status read_growing(struct ctx_exp_reader *reader, const char *below, struct ctx_err *err)
{
	static const char *const NAMES[] = {"frameinfo", "hwcounters", CTX_EXP_MAP_FILE, "overview",
					    "profile"};
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < CTX_COUNT_OF(NAMES) && status == CTX_OK; i++)
		status = read_file(reader, below, NAMES[i], err);
	for (size_t i = 0; i < CTX_EXP_RECORD_FILES && status == CTX_OK; i++)
		status = read_file(reader, below, ctx_exp_record_files[i], err);
	return status;
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

static enum ctx_status read_directories(struct ctx_exp_reader *reader, struct ctx_err *err)
{
	struct ctx_strtab names = {0};
	enum ctx_status status = read_directory(reader, ".", err);

	if (status == CTX_OK)
		status = list_sorted(reader->dir, ".", &names, err);
	for (size_t i = 0; i < names.n && status == CTX_OK; i++) {
		if (ctx_exp_is_lineage(names.strings[i]))
			status = read_directory(reader, names.strings[i], err);
	}
	ctx_strtab_deinit(&names);
	return status;
}

/* Those of the processes that run: nothing is new elsewhere. */
static enum ctx_status read_running(struct ctx_exp_reader *reader, struct ctx_err *err)
{
	enum ctx_status status = read_growing(reader, ".", err);

	for (size_t i = 0; i < reader->log.n_processes && status == CTX_OK; i++) {
		const struct ctx_exp_process_row *process = &reader->log.processes[i];
		char name[256];

		if (!process->has_ended &&
		    snprintf(name, sizeof(name), "%s.er", process->lineage) < (int)sizeof(name) &&
		    ctx_exp_is_lineage(name))
			status = read_growing(reader, name, err);
	}
	return status;
}

enum ctx_status ctx_exp_reader_scan(struct ctx_exp_reader *reader, struct ctx_err *err)
{
	enum ctx_status status = read_text_file(reader, CTX_EXP_LOG_FILE, err);

	reader->index.grows = reader->scan.grows;
	if (reader->scan.grows) {
		/* Which metrics there are is known at the beginning; blocks of others are left out. */
		reader->index.is_followed = true;
		reader->index.has_traced[CTX_TRACED_HEAP] = reader->log.begin.has_heap;
		reader->index.has_traced[CTX_TRACED_SYNC] = reader->log.begin.has_sync;
		reader->index.has_traced[CTX_TRACED_IO] = reader->log.begin.has_io;
		reader->index.has_traced[CTX_TRACED_MARK] = reader->log.begin.has_marks;
		reader->index.has_traced[CTX_TRACED_OMP] = reader->log.begin.has_omp;
		reader->index.has_traced[CTX_TRACED_MEMORY] = reader->log.begin.has_accesses;
	}
	if (status == CTX_OK && !reader->log.begin.has_run)
		status = ctx_err_set(err, CTX_E_FORMAT, "log.xml: no run event in it");
	if (status == CTX_OK && !reader->scan.grows)
		status = read_last(reader, err);
	if (status == CTX_OK)
		status = reader->scan.grows ? read_running(reader, err) : read_directories(reader, err);
	if (status != CTX_OK)
		return status;
	ctx_exp_log_sort(&reader->log);
	ctx_exp_index_sort(&reader->index);
	return CTX_OK;
}
