/*
 * Creates an experiment and its first files, writes old buffers at each tick, and closes it.
 */
#include "base/fileio.h"
#include "base/mem.h"
#include "formats/experiment/exp_reader.h"
#include "formats/experiment/exp_remove.h"
#include "formats/experiment/exp_state.h"
#include "formats/experiment/exp_text.h"
#include "formats/experiment/exp_xml.h"
#include "model/call_counter.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MEMORY_DEFAULT ((size_t)64 << 20)
#define TEXT_DEFAULT ((uint64_t)1 << 30)
#define MEMORY_SMALLEST ((size_t)256 << 10)

/* Creation */

/* Ensures that nothing exists at `path`: removes an experiment if that is allowed. */
static enum ctx_status clear_place(const char *path, bool overwrite, struct ctx_err *err)
{
	struct stat info;

	if (lstat(path, &info) != 0)
		return errno == ENOENT ? CTX_OK : ctx_err_errno(err, CTX_E_IO, "%s", path);
	if (overwrite)
		return ctx_exp_remove(path, err);
	return ctx_err_set(err, CTX_E_ARG,
			   ctx_exp_is_recorded(path) ? "%s: is being recorded by another ctxrec"
						     : "%s: exists already",
			   path);
}

static bool is_file_name(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");

	return n > 0 && name[n] == '\0' && n < CTX_EXP_FILE_NAME_MAX && strcmp(name, "overview") != 0 &&
	       strcmp(name, "frameinfo") != 0 && strcmp(name, "notes") != 0 &&
	       strcmp(name, "archives") != 0 && strcmp(name, CTX_EXP_KEPT_FILE) != 0 &&
	       !ctx_exp_is_record_file(name) && name[0] != '_';
}

/* CTX_NONE: there is none. */
static uint32_t add_file(struct ctx_exp_data_files *data, bool wanted, const char *name)
{
	if (!wanted)
		return CTX_NONE;
	snprintf(data->names[data->n_files], CTX_EXP_FILE_NAME_MAX, "%s", name);
	return data->n_files++;
}

static enum ctx_status set_metrics(struct ctx_exp_writer *writer, const struct ctx_exp_options *options,
				   struct ctx_err *err)
{
	if (options->n_metrics > UINT8_MAX)
		return ctx_err_set(err, CTX_E_ARG, "more than %d metrics", UINT8_MAX);
	writer->data.n_metrics = options->n_metrics;
	for (uint32_t i = 0; i < options->n_metrics; i++) {
		const char *file = options->metrics[i].file;
		uint32_t at = 0;

		if (!is_file_name(file))
			return ctx_err_set(err, CTX_E_ARG, "\"%s\" is not a valid name of a data file", file);
		while (at < writer->data.n_files && strcmp(writer->data.names[at], file) != 0)
			at++;
		if (at == CTX_EXP_METRIC_FILES_MAX)
			return ctx_err_set(err, CTX_E_ARG, "more than %u data files",
					   CTX_EXP_METRIC_FILES_MAX);
		if (at == writer->data.n_files)
			snprintf(writer->data.names[writer->data.n_files++], CTX_EXP_FILE_NAME_MAX, "%s",
				 file);
		writer->data.file_of[i] = (uint8_t)at;
		writer->data.periods[i] = options->metrics[i].period;
	}
	writer->data.states = add_file(&writer->data, options->has_states, CTX_EXP_STATES_FILE);
	writer->data.heap = add_file(&writer->data, options->has_heap, CTX_EXP_HEAP_FILE);
	writer->data.sync = add_file(&writer->data, options->has_sync, CTX_EXP_SYNC_FILE);
	writer->data.io = add_file(&writer->data, options->has_io, CTX_EXP_IO_FILE);
	writer->data.marks = add_file(&writer->data, options->has_marks, CTX_EXP_MARKS_FILE);
	writer->data.calls = add_file(&writer->data, options->has_calls, CTX_EXP_CALLS_FILE);
	writer->data.omp = add_file(&writer->data, options->has_omp, CTX_EXP_OMP_FILE);
	writer->data.accesses = add_file(&writer->data, options->has_accesses, CTX_EXP_ACCESSES_FILE);
	return CTX_OK;
}

/* The fields common to all packets. */
#define FIRST_FIELDS                                                                                         \
	"<field name=\"time\" type=\"delta\" unit=\"ns\"/><field name=\"thread\" type=\"varint\"/>"          \
	"<field name=\"cpu\" type=\"varint\" bias=\"-1\"/><field name=\"stack\" type=\"varint\" "            \
	"file=\"frameinfo\"/>"

/* The <profile> line: a metric and the fields of its packets. */
static void put_profile(struct ctx_buf *out, const struct ctx_exp_metric *metric, uint32_t number)
{
	static const char FIELDS[] = FIRST_FIELDS "<field name=\"metric\" type=\"varint\"/>"
						  "<field name=\"weight\" type=\"varint\"";

	ctx_buf_put_text(out, "<profile");
	ctx_exp_xml_number(out, "metric", number);
	ctx_exp_xml_attribute(out, "name", metric->name);
	ctx_exp_xml_attribute(out, "file", metric->file);
	ctx_exp_xml_attribute(out, "unit", metric->unit);
	ctx_exp_xml_number(out, "period", metric->period);
	ctx_buf_printf(out, " frequency=\"%.3f\">", metric->frequency_hz);
	ctx_buf_put_text(out, FIELDS);
	ctx_exp_xml_attribute(out, "unit", metric->unit);
	ctx_buf_put_text(out, "/></profile>\n");
}

/* The <scheduling> line: the same for thread state changes. */
static void put_states(struct ctx_buf *out)
{
	ctx_buf_put_text(out, "<scheduling");
	ctx_exp_xml_attribute(out, "file", CTX_EXP_STATES_FILE);
	ctx_buf_put_text(out, ">" FIRST_FIELDS "<field name=\"change\" type=\"varint\"/>"
			      "<field name=\"waker\" type=\"varint\"/></scheduling>\n");
}

/* The lines <heap> and <calls>: the file. Its streams are always the same. */
static void put_file(struct ctx_buf *out, const char *name, const char *file)
{
	ctx_buf_printf(out, "<%s", name);
	ctx_exp_xml_attribute(out, "file", file);
	ctx_buf_put_text(out, "/>\n");
}

/* The lines of the other traced operations: the file, and the fields of its packets. */
static void put_traced(struct ctx_buf *out, const char *name, const char *file, const char *fields)
{
	ctx_buf_printf(out, "<%s", name);
	ctx_exp_xml_attribute(out, "file", file);
	ctx_buf_printf(out, ">%s%s</%s>\n", FIRST_FIELDS, fields, name);
}

static void put_sync(struct ctx_buf *out)
{
	put_traced(out, "sync", CTX_EXP_SYNC_FILE,
		   "<field name=\"operation\" type=\"varint\"/>"
		   "<field name=\"duration\" type=\"varint\" unit=\"ns\"/>"
		   "<field name=\"object\" type=\"delta\"/>"
		   "<field name=\"other\" type=\"varint\"/>");
}

static void put_io(struct ctx_buf *out)
{
	put_traced(out, "io", CTX_EXP_IO_FILE,
		   "<field name=\"call\" type=\"varint\"/>"
		   "<field name=\"size\" type=\"varint\" unit=\"bytes\"/>"
		   "<field name=\"duration\" type=\"varint\" unit=\"ns\"/>"
		   "<field name=\"descriptor\" type=\"varint\" bias=\"-1\"/>"
		   "<field name=\"error\" type=\"varint\"/>"
		   "<field name=\"name\" type=\"varint\"/>");
}

static void put_marks(struct ctx_buf *out)
{
	put_traced(out, "marks", CTX_EXP_MARKS_FILE,
		   "<field name=\"operation\" type=\"varint\"/>"
		   "<field name=\"value\" type=\"varint\"/>"
		   "<field name=\"unused\" type=\"varint\"/>"
		   "<field name=\"unused\" type=\"varint\"/>"
		   "<field name=\"unused\" type=\"varint\"/>"
		   "<field name=\"name\" type=\"varint\"/>");
}

static void put_omp(struct ctx_buf *out)
{
	put_traced(out, "omp", CTX_EXP_OMP_FILE,
		   "<field name=\"event\" type=\"varint\"/>"
		   "<field name=\"value\" type=\"varint\"/>");
}

static void put_accesses(struct ctx_buf *out)
{
	put_traced(out, "accesses", CTX_EXP_ACCESSES_FILE,
		   "<field name=\"operation\" type=\"varint\"/>"
		   "<field name=\"address\" type=\"varint\"/>"
		   "<field name=\"latency\" type=\"varint\" unit=\"cycles\"/>"
		   "<field name=\"unused\" type=\"varint\"/>"
		   "<field name=\"unused\" type=\"varint\"/>"
		   "<field name=\"mapped\" type=\"varint\"/>"
		   "<field name=\"source\" type=\"varint\"/>"
		   "<field name=\"physical\" type=\"varint\"/>");
}

static enum ctx_status put_first_lines(struct ctx_exp_writer *writer, const struct ctx_exp_options *options,
				       struct ctx_err *err)
{
	char counters[CTX_CALL_COUNTERS_TEXT_MAX];
	struct ctx_buf *out = &writer->log;

	ctx_buf_printf(out, "<experiment version=\"%d\"/>\n", CTX_EXP_VERSION);
	for (size_t i = 0; i < options->n_properties; i++) {
		ctx_buf_put_text(out, "<setting");
		ctx_exp_xml_attribute(out, "name", options->properties[i].key);
		ctx_exp_xml_attribute(out, "value", options->properties[i].value);
		ctx_buf_put_text(out, "/>\n");
	}
	for (uint32_t i = 0; i < options->n_metrics; i++)
		put_profile(out, &options->metrics[i], i);
	if (options->has_states)
		put_states(out);
	if (options->has_heap)
		put_file(out, "heap", CTX_EXP_HEAP_FILE);
	if (options->has_sync)
		put_sync(out);
	if (options->has_io)
		put_io(out);
	if (options->has_marks)
		put_marks(out);
	if (options->has_omp)
		put_omp(out);
	if (options->has_accesses)
		put_accesses(out);
	ctx_call_counters_text(options->call_counters, counters);
	if (options->has_calls && options->has_call_sums)
		ctx_buf_put_text(out, "<calls file=\"" CTX_EXP_CALLS_FILE "\" sums=\"1\"/>\n");
	else if (options->has_calls && options->call_counters != 0)
		ctx_buf_printf(out, "<calls file=\"" CTX_EXP_CALLS_FILE "\" counters=\"%s\"/>\n", counters);
	else if (options->has_calls)
		put_file(out, "calls", CTX_EXP_CALLS_FILE);
	ctx_buf_put_text(out, "<event kind=\"run\"");
	ctx_exp_xml_time(out, "tstamp", options->start_ns);
	ctx_exp_xml_signed(out, "unix_ns", options->start_unix_ns);
	ctx_buf_put_text(out, "/>\n");
	return ctx_exp_flush_log(writer, err);
}

/* Keeps the experiment from being replaced, for as long as the writer lives. */
static enum ctx_status lock_log(struct ctx_exp_writer *writer, struct ctx_err *err)
{
	writer->access.lock = openat(writer->dir, "log.xml",
				     O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
				     CTX_EXP_FILE_MODE(writer));
	if (writer->access.lock < 0)
		return ctx_err_errno(err, CTX_E_IO, "%s/log.xml", writer->path);
	(void)flock(writer->access.lock, LOCK_EX | LOCK_NB); /* file systems without locks */
	return CTX_OK;
}

static enum ctx_status make_files(struct ctx_exp_writer *writer, const struct ctx_exp_options *options,
				  struct ctx_err *err)
{
	char map_first[64];
	enum ctx_status status;

	if (mkdir(writer->path, CTX_EXP_DIR_MODE(writer)) != 0)
		return errno == EEXIST
			       ? ctx_err_set(err, CTX_E_ARG, "%s: exists already", writer->path)
			       : ctx_err_errno(err, errno == EACCES || errno == EPERM ? CTX_E_PERM : CTX_E_IO,
					       "%s", writer->path);
	writer->dir = open(writer->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (writer->dir < 0)
		return ctx_err_errno(err, CTX_E_IO, "%s", writer->path);
	writer->limits.disk_used = CTX_EXP_DISK_BLOCK;
	snprintf(map_first, sizeof(map_first), "<experiment version=\"%d\"/>\n", CTX_EXP_VERSION);
	status = lock_log(writer, err);
	if (status == CTX_OK)
		status = ctx_exp_last_begin(writer, err);
	if (status == CTX_OK)
		status = put_first_lines(writer, options, err);
	if (status == CTX_OK)
		status = ctx_exp_make_file(writer, "map.xml", map_first, strlen(map_first), err);
	if (status == CTX_OK) {
		ctx_buf_clear(&writer->scratch.raw);
		ctx_exp_put_file_header(&writer->scratch.raw);
		status = ctx_buf_check(&writer->scratch.raw, err);
	}
	if (status == CTX_OK)
		status = ctx_exp_make_file(writer, "overview", writer->scratch.raw.bytes,
					   writer->scratch.raw.n, err);
	if (status == CTX_OK && options->comment != NULL && options->comment[0] != '\0')
		status = ctx_exp_make_file(writer, "notes", options->comment, strlen(options->comment), err);
	return status;
}

static void close_files(struct ctx_exp_writer *writer)
{
	int *const files[] = {&writer->last.fd, &writer->dir, &writer->access.lock};

	for (size_t i = 0; i < CTX_COUNT_OF(files); i++) {
		if (*files[i] >= 0)
			close(*files[i]);
		*files[i] = -1;
	}
}

static void release(struct ctx_exp_writer *writer)
{
	ctx_exp_brief_tell_all(writer);
	ctx_exp_forget_all(writer);
	close_files(writer);
	free(writer->path);
	free(writer->live.items);
	ctx_map64_deinit(&writer->present);
	ctx_exp_kernel_deinit(&writer->copying.kernel);
	ctx_exp_objects_deinit(&writer->objects);
	ctx_exp_places_deinit(&writer->places);
	ctx_strtab_deinit(&writer->external_wakers);
	ctx_strtab_deinit(&writer->functions);
	ctx_buf_deinit(&writer->log);
	ctx_buf_deinit(&writer->shared.map_lines);
	for (size_t i = 0; i < CTX_EXP_SHARED_FILES; i++)
		ctx_buf_deinit(&writer->shared.blocks[i]);
	ctx_buf_deinit(&writer->overview.records);
	ctx_compressor_deinit(&writer->scratch.compressor);
	ctx_buf_deinit(&writer->scratch.raw);
	ctx_buf_deinit(&writer->scratch.block);
	ctx_exp_heap_coder_free(writer->scratch.heap);
	free(writer);
}

/* The path without trailing slashes, if it ends in .er. */
static enum ctx_status clean_path(const char *path, char **ret, struct ctx_err *err)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	if (n < 4 || memcmp(path + n - 3, ".er", 3) != 0 || path[n - 4] == '/')
		return ctx_err_set(err, CTX_E_ARG, "%s: the name of an experiment must end in .er", path);
	*ret = ctx_memdup0(path, n);
	return *ret != NULL ? CTX_OK : ctx_err_nomem(err);
}

enum ctx_status ctx_exp_create(const struct ctx_exp_options *options, struct ctx_exp_writer **ret,
			       struct ctx_err *err)
{
	struct ctx_exp_writer *writer = ctx_calloc(1, sizeof(*writer));
	enum ctx_status status;

	if (writer == NULL)
		return ctx_err_nomem(err);
	writer->dir = writer->access.lock = writer->last.fd = -1;
	writer->procs.row_bytes = sizeof(struct ctx_exp_proc);
	writer->threads.row_bytes = sizeof(struct ctx_exp_last_stack);
	writer->start_ns = options->start_ns;
	writer->limits.disk_bytes = options->max_bytes;
	writer->limits.text_bytes = options->max_text_bytes != 0 ? options->max_text_bytes : TEXT_DEFAULT;
	writer->keep_places = options->keep_places;
	writer->access.share = options->share;
	writer->objects.opener = options->opener;
	writer->copying.store = options->store;
	writer->limits.memory_bytes = options->memory_bytes != 0 ? options->memory_bytes : MEMORY_DEFAULT;
	if (writer->limits.memory_bytes < MEMORY_SMALLEST)
		writer->limits.memory_bytes = MEMORY_SMALLEST;
	writer->log_oldest_ns = writer->shared.oldest_ns = writer->overview.oldest_ns = UINT64_MAX;
	writer->stats.epochs = 1;
	status = set_metrics(writer, options, err);
	if (status == CTX_OK)
		status = clean_path(options->path, &writer->path, err);
	if (status == CTX_OK)
		status = clear_place(writer->path, options->overwrite, err);
	if (status == CTX_OK)
		status = make_files(writer, options, err);
	if (status != CTX_OK) {
		/* Remove an incomplete experiment: it could not be opened or overwritten. */
		bool was_made = writer->dir >= 0;

		close_files(writer); /* removing needs some */
		if (was_made && ctx_dir_remove(writer->path, NULL) != CTX_OK)
			ctx_err_prefix(err, status, "%s is left half made", writer->path);
		release(writer);
		return status;
	}
	*ret = writer;
	return CTX_OK;
}

/* Ticks and the end */

#define FLUSH_NS 600000000u
#define FLUSH_FIRST_NS 200000000u /* in the first second: a short recording is not all in memory */

static bool is_old(const struct ctx_exp_writer *writer, uint64_t oldest_ns, uint64_t now_ns)
{
	uint64_t age_ns = ctx_exp_relative(writer, now_ns) < CTX_EXP_SECOND_NS ? FLUSH_FIRST_NS : FLUSH_NS;

	return oldest_ns <= now_ns && now_ns - oldest_ns >= age_ns;
}

enum ctx_status ctx_exp_write_old(struct ctx_exp_writer *writer, uint64_t now_ns, struct ctx_err *err)
{
	enum ctx_status status = ctx_exp_check(writer, err);

	if (status == CTX_OK && is_old(writer, writer->log_oldest_ns, now_ns))
		status = ctx_exp_flush_log(writer, err);
	for (size_t i = 0; i < writer->live.n && status == CTX_OK; i++) {
		if (is_old(writer, writer->live.items[i]->oldest_ns, now_ns))
			status = ctx_exp_flush_process(writer, writer->live.items[i], err);
	}
	if (status == CTX_OK && is_old(writer, writer->shared.oldest_ns, now_ns))
		status = ctx_exp_write_shared(writer, err);
	if (status == CTX_OK && is_old(writer, writer->overview.oldest_ns, now_ns))
		status = ctx_exp_flush_overview(writer, err);
	return status;
}

enum ctx_status ctx_exp_tick(struct ctx_exp_writer *writer, uint64_t now_ns, struct ctx_err *err)
{
	enum ctx_status status = ctx_exp_check(writer, err);

	ctx_exp_last_alive(writer, now_ns);
	if (status == CTX_OK)
		status = ctx_exp_forget_ended(writer, err);
	if (status == CTX_OK)
		status = ctx_exp_write_old(writer, now_ns, err);
	if (status == CTX_OK)
		ctx_exp_last_tick(writer);
	return status;
}

struct ctx_exp_stats ctx_exp_stats(const struct ctx_exp_writer *writer)
{
	struct ctx_exp_stats stats = writer->stats;

	stats.memory_bytes = writer->limits.memory_used;
	stats.processes = (uint32_t)writer->procs.n;
	stats.threads = (uint32_t)writer->threads.n;
	return stats;
}

/* The maps of processes with a directory; then the root process's files, and the log, which is the experiment, last. */
static void pack_files(const struct ctx_exp_writer *writer)
{
	const unsigned mode = CTX_EXP_FILE_MODE(writer);
	int below = writer->stats.directories != 0 ? openat(writer->dir, ".", O_RDONLY | O_CLOEXEC) : -1;
	DIR *stream = below >= 0 ? fdopendir(below) : NULL;
	const struct dirent *item;

	while (stream != NULL && (item = readdir(stream)) != NULL) {
		char name[CTX_EXP_DIR_NAME_MAX + sizeof("/" CTX_EXP_MAP_FILE)];

		if (ctx_exp_is_lineage(item->d_name) &&
		    snprintf(name, sizeof(name), "%s/" CTX_EXP_MAP_FILE, item->d_name) < (int)sizeof(name))
			ctx_exp_pack_text(writer->dir, name, mode);
	}
	if (stream != NULL)
		closedir(stream);
	else if (below >= 0)
		close(below);
	for (uint32_t file = CTX_EXP_FILE_FRAMES; file < CTX_EXP_FILE_DATA + writer->data.n_files; file++) {
		const char *name = ctx_exp_name_of_file(writer, file);

		if (ctx_exp_packed_data(name) < CTX_EXP_PACKED_DATA_FILES)
			ctx_exp_pack_data(writer->dir, name, mode);
	}
	ctx_exp_pack_text(writer->dir, CTX_EXP_MAP_FILE, mode);
	ctx_exp_pack_text(writer->dir, CTX_EXP_LOG_FILE, mode);
}

uint64_t ctx_exp_start_ns(const struct ctx_exp_writer *writer)
{
	return writer->start_ns;
}

enum ctx_status ctx_exp_close(struct ctx_exp_writer *writer, uint64_t time_ns, struct ctx_err *err)
{
	enum ctx_status status, step;

	if (writer == NULL)
		return CTX_OK;
	status = ctx_exp_check(writer, err);
	while (writer->live.n != 0) {
		step = ctx_exp_retire(writer, writer->live.items[writer->live.n - 1],
				      status == CTX_OK ? err : NULL);
		status = status == CTX_OK ? step : status;
	}
	step = ctx_exp_write_shared(writer, status == CTX_OK ? err : NULL);
	status = status == CTX_OK ? step : status;
	step = ctx_exp_flush_overview(writer, status == CTX_OK ? err : NULL);
	status = status == CTX_OK ? step : status;
	step = ctx_exp_put_late(writer, time_ns, "late", writer->stats.late, NULL);
	status = status == CTX_OK ? step : status;
	step = ctx_exp_put_late(writer, time_ns, "limit", writer->stats.dropped_by_limit, NULL);
	status = status == CTX_OK ? step : status;
	ctx_exp_put_left_out(writer, time_ns);
	ctx_exp_brief_tell_all(writer);
	ctx_exp_log_event(writer, "exit", time_ns);
	ctx_buf_put_text(&writer->log, "/>\n");
	step = ctx_exp_flush_log(writer, status == CTX_OK ? err : NULL);
	status = status == CTX_OK ? step : status;
	ctx_exp_last_end(writer);
	if (status == CTX_OK && !writer->last.has_failed)
		pack_files(writer);
	release(writer);
	return status;
}
