/*
 * Opens an experiment as an event source, and closes it.
 *
 *	log, maps, data files (exp_scan.c) --> log, index of blocks --> info
 *	notes, archives/ ---------------------------------------------> info
 */
#include "formats/experiment/exp_reader.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "formats/experiment/exp_archive.h"
#include "formats/experiment/exp_reader_state.h"
#include "formats/experiment/exp_text.h"
#include "model/call_counter.h"

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
	for (size_t i = 0; i < CTX_COUNT_OF(reader->scan.unpacked); i++) {
		if (reader->scan.unpacked[i] != 0)
			close(reader->scan.unpacked[i] - 1);
	}
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
	ctx_exp_heaps_deinit(&reader->heaps);
	ctx_exp_traced_deinit(reader->traced);
	ctx_exp_ios_deinit(&reader->ios);
	ctx_exp_marks_deinit(&reader->marks);
	ctx_strtab_deinit(&reader->mapped);
	ctx_exp_log_deinit(&reader->log);
	ctx_exp_index_deinit(&reader->index);
	ctx_strtab_deinit(&reader->scan.texts);
	free(reader->scan.places);
	free(reader);
}

static enum ctx_status read_rest(struct ctx_exp_reader *reader, struct ctx_err *err)
{
	int notes CTX_AUTO_CLOSE = ctx_exp_open_file(reader->dir, "notes");
	int kallsyms CTX_AUTO_CLOSE = ctx_exp_open_file(reader->dir, "archives/kallsyms.zst");
	enum ctx_status status = ctx_exp_reader_list(reader->dir, "archives", &reader->archive.names, err);

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
		fd = ctx_exp_open_file(reader->dir, name);
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

static void find_origin(const struct ctx_exp_log *log, struct ctx_source_clock *clock)
{
	if (!log->begin.has_run)
		return;
	*clock = (struct ctx_source_clock){
		.name = "CLOCK_MONOTONIC", .begin_ns = log->begin.run_ns, .wall_ns = log->begin.run_wall_ns};
	for (size_t i = 0; i < log->n_properties && clock->host == NULL; i++) {
		if (strcmp(log->properties[i].key, "host") == 0)
			clock->host = log->properties[i].value;
	}
}

static void find_counters(struct ctx_exp_reader *reader)
{
	struct ctx_source_info *info = &reader->source.info;

	info->call_counters = reader->log.begin.call_metrics;
	info->n_call_counters = 0;
	for (unsigned i = 0; i < CTX_CALL_COUNTERS; i++) {
		if ((reader->log.begin.call_counters >> i & 1) != 0)
			reader->log.begin.call_metrics[info->n_call_counters++] = (struct ctx_source_metric){
				.name = ctx_call_counter_name((enum ctx_call_counter)i),
				.kind = CTX_METRIC_EVENTS,
				.unit = ctx_call_counter_unit((enum ctx_call_counter)i)};
	}
}

void ctx_exp_reader_fill_info(struct ctx_exp_reader *reader)
{
	struct ctx_source_info *info = &reader->source.info;
	uint64_t last =
		reader->log.last_ns > reader->index.last_ns ? reader->log.last_ns : reader->index.last_ns;

	info->name = ctx_path_base(reader->path);
	info->format = reader->log.begin.version > 1 ? "experiment 2" : "experiment 1";
	info->duration_ns = reader->scan.grows	? reader->scan.horizon_ns
			    : last < UINT64_MAX ? last + 1
						: last;
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
	info->has_states = reader->log.begin.has_states || reader->index.has_states;
	info->has_omp = reader->index.has_traced[CTX_TRACED_OMP];
	info->has_calls = reader->log.begin.has_calls || reader->index.has_calls;
	info->call_sums = reader->log.begin.has_call_sums;
	find_counters(reader);
	info->states_end_ns = reader->log.bounds.limit_ns;
	info->no_call_stacks = took_no_callers(&reader->log);
	find_clocks(&reader->log, info);
	find_origin(&reader->log, &info->clock);
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

enum ctx_status ctx_exp_reader_open(const char *path, bool grows, struct ctx_exp_reader **ret,
				    struct ctx_err *err)
{
	struct ctx_exp_reader *reader = ctx_calloc(1, sizeof(*reader));
	enum ctx_status status;

	if (reader == NULL)
		return ctx_err_nomem(err);
	reader->dir = reader->file.fd = -1;
	reader->scan.grows = grows;
	reader->source = (struct ctx_event_source){.impl = reader,
						   .next = ctx_exp_reader_next,
						   .progress = ctx_exp_reader_progress,
						   .close = close_reader};
	status = open_directory(reader, path, err);
	if (status == CTX_OK) {
		status = ctx_exp_reader_scan(reader, err);
		if (status == CTX_OK)
			status = read_rest(reader, err);
		if (status == CTX_OK)
			status = find_sources(reader, err);
		if (status == CTX_OK)
			status = ctx_exp_reader_find_leaks(reader, err);
		if (status != CTX_OK)
			status = ctx_err_prefix(err, status, "%s", ctx_path_base(reader->path));
	}
	if (status != CTX_OK) {
		close_reader(&reader->source);
		return status;
	}
	ctx_exp_reader_fill_info(reader);
	for (unsigned kind = 0; kind < CTX_TRACED_N && status == CTX_OK; kind++)
		status = ctx_exp_reader_add_traced_metrics(reader, (enum ctx_traced_kind)kind, err);
	if (status == CTX_OK)
		ctx_exp_reader_note_sampling(reader);
	if (status != CTX_OK) {
		close_reader(&reader->source);
		return status;
	}
	*ret = reader;
	return CTX_OK;
}

enum ctx_status ctx_exp_open(const char *path, struct ctx_event_source **ret, struct ctx_err *err)
{
	struct ctx_exp_reader *reader;
	enum ctx_status status = ctx_exp_reader_open(path, false, &reader, err);

	if (status == CTX_OK)
		*ret = &reader->source;
	return status;
}
