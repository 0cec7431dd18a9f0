/*
 * What comes in: processes and maps; samples and changes of state are in exp_samples.c, threads and single events in exp_events.c.
 *
 *	writer -- procs[number] -- maps (shared with forked children)
 *	   |          `----------- live: dictionary of stacks, buffers of frames, samples, map lines (only while samples come)
 *	   |-- threads[number]: leaf of the last sample, so that the next stack is compared before it is hashed
 *	   `-- log: lines of log.xml
 *
 * All live parts together stay below memory_max: what would grow beyond it retires all of them first (everything is written, each dictionary begins a new epoch).
 */
#include "formats/experiment/exp_state.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "formats/experiment/exp_reader.h"
#include "formats/experiment/exp_xml.h"
#include "model/event_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MEMORY_DEFAULT ((size_t)64 << 20)
#define MEMORY_SMALLEST ((size_t)256 << 10)

/* Creation */

/* Makes sure that nothing is at `path`: removes an experiment if that is allowed. */
static enum ctx_status clear_place(const char *path, bool overwrite, struct ctx_err *err)
{
	struct stat info;

	if (lstat(path, &info) != 0)
		return errno == ENOENT ? CTX_OK : ctx_err_errno(err, CTX_E_IO, "%s", path);
	if (!overwrite)
		return ctx_err_set(err, CTX_E_ARG, "%s: exists already", path);
	if (!S_ISDIR(info.st_mode) || !ctx_exp_is_experiment(path))
		return ctx_err_set(err, CTX_E_ARG, "%s: is no experiment, so it is not overwritten", path);
	return ctx_dir_remove(path, err);
}

static bool is_file_name(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");

	return n > 0 && name[n] == '\0' && n < CTX_EXP_FILE_NAME_MAX && strcmp(name, "overview") != 0 &&
	       strcmp(name, "frameinfo") != 0 && strcmp(name, "notes") != 0 &&
	       strcmp(name, "archives") != 0 && strcmp(name, CTX_EXP_KEPT_FILE) != 0 &&
	       strcmp(name, CTX_EXP_STATES_FILE) != 0 && name[0] != '_';
}

static enum ctx_status set_metrics(struct ctx_exp_writer *writer, const struct ctx_exp_options *options,
				   struct ctx_err *err)
{
	if (options->n_metrics > UINT8_MAX)
		return ctx_err_set(err, CTX_E_ARG, "more than %d metrics", UINT8_MAX);
	writer->n_metrics = options->n_metrics;
	for (uint32_t i = 0; i < options->n_metrics; i++) {
		const char *file = options->metrics[i].file;
		uint32_t at = 0;

		if (!is_file_name(file))
			return ctx_err_set(err, CTX_E_ARG, "\"%s\" is no name for a data file", file);
		while (at < writer->n_files && strcmp(writer->files[at], file) != 0)
			at++;
		if (at == CTX_EXP_METRIC_FILES_MAX)
			return ctx_err_set(err, CTX_E_ARG, "more than %u data files",
					   CTX_EXP_METRIC_FILES_MAX);
		if (at == writer->n_files)
			snprintf(writer->files[writer->n_files++], CTX_EXP_FILE_NAME_MAX, "%s", file);
		writer->file_of[i] = (uint8_t)at;
		writer->periods[i] = options->metrics[i].period;
	}
	writer->states_file = CTX_NONE;
	if (options->has_states) {
		writer->states_file = writer->n_files++;
		snprintf(writer->files[writer->states_file], CTX_EXP_FILE_NAME_MAX, "%s",
			 CTX_EXP_STATES_FILE);
	}
	return CTX_OK;
}

/* What every packet begins with. */
#define FIRST_FIELDS                                                                                         \
	"<field name=\"time\" type=\"delta\" unit=\"ns\"/><field name=\"thread\" type=\"varint\"/>"          \
	"<field name=\"cpu\" type=\"varint\" bias=\"-1\"/><field name=\"stack\" type=\"varint\" "            \
	"file=\"frameinfo\"/>"

/* The <profile> line: the metric, and the fields of a packet of it. */
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

/* The <states> line: the same for changes of what a thread does. */
static void put_states(struct ctx_buf *out)
{
	ctx_buf_put_text(out, "<states");
	ctx_exp_xml_attribute(out, "file", CTX_EXP_STATES_FILE);
	ctx_buf_put_text(out, ">" FIRST_FIELDS "<field name=\"change\" type=\"varint\"/>"
			      "<field name=\"waker\" type=\"varint\"/></states>\n");
}

static enum ctx_status put_first_lines(struct ctx_exp_writer *writer, const struct ctx_exp_options *options,
				       struct ctx_err *err)
{
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
	ctx_buf_put_text(out, "<event kind=\"run\"");
	ctx_exp_xml_time(out, "tstamp", options->start_ns);
	ctx_exp_xml_signed(out, "unix_ns", options->start_unix_ns);
	ctx_buf_put_text(out, "/>\n");
	return ctx_exp_flush_log(writer, err);
}

static enum ctx_status make_files(struct ctx_exp_writer *writer, const struct ctx_exp_options *options,
				  struct ctx_err *err)
{
	static const char MAP_FIRST[] = "<experiment version=\"1\"/>\n";
	enum ctx_status status;

	if (mkdir(writer->path, 0755) != 0)
		return errno == EEXIST
			       ? ctx_err_set(err, CTX_E_ARG, "%s: exists already", writer->path)
			       : ctx_err_errno(err, errno == EACCES || errno == EPERM ? CTX_E_PERM : CTX_E_IO,
					       "%s", writer->path);
	writer->dir = open(writer->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (writer->dir < 0)
		return ctx_err_errno(err, CTX_E_IO, "%s", writer->path);
	status = put_first_lines(writer, options, err);
	if (status == CTX_OK)
		status = ctx_exp_make_file(writer, "map.xml", MAP_FIRST, sizeof(MAP_FIRST) - 1, err);
	if (status == CTX_OK) {
		ctx_buf_clear(&writer->raw);
		ctx_exp_put_file_header(&writer->raw);
		status = ctx_buf_check(&writer->raw, err);
	}
	if (status == CTX_OK)
		status = ctx_exp_make_file(writer, "overview", writer->raw.bytes, writer->raw.n, err);
	if (status == CTX_OK && options->comment != NULL && options->comment[0] != '\0')
		status = ctx_exp_make_file(writer, "notes", options->comment, strlen(options->comment), err);
	return status;
}

static void release(struct ctx_exp_writer *writer)
{
	for (size_t i = 0; i < writer->n_procs; i++)
		ctx_exp_map_list_release(writer->procs[i].maps);
	if (writer->dir >= 0)
		close(writer->dir);
	free(writer->path);
	free(writer->procs);
	free(writer->threads);
	free(writer->live);
	ctx_map64_deinit(&writer->present);
	ctx_exp_objects_deinit(&writer->objects);
	ctx_exp_places_deinit(&writer->places);
	ctx_strtab_deinit(&writer->outsiders);
	ctx_buf_deinit(&writer->log);
	ctx_buf_deinit(&writer->overview);
	ctx_compressor_deinit(&writer->compressor);
	ctx_buf_deinit(&writer->raw);
	ctx_buf_deinit(&writer->block);
	free(writer);
}

/* The path without slashes at its end, if it ends in .er. */
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
	writer->dir = -1;
	writer->start_ns = options->start_ns;
	writer->max_bytes = options->max_bytes;
	writer->keep_places = options->keep_places;
	writer->memory_max = options->memory_bytes != 0 ? options->memory_bytes : MEMORY_DEFAULT;
	if (writer->memory_max < MEMORY_SMALLEST)
		writer->memory_max = MEMORY_SMALLEST;
	writer->log_oldest_ns = writer->overview_oldest_ns = UINT64_MAX;
	writer->stats.epochs = 1;
	status = set_metrics(writer, options, err);
	if (status == CTX_OK)
		status = clean_path(options->path, &writer->path, err);
	if (status == CTX_OK)
		status = clear_place(writer->path, options->overwrite, err);
	if (status == CTX_OK)
		status = make_files(writer, options, err);
	if (status != CTX_OK) {
		/* Half an experiment is none: it could not even be overwritten. */
		if (writer->dir >= 0 && ctx_dir_remove(writer->path, NULL) != CTX_OK)
			ctx_err_prefix(err, status, "%s is left half made", writer->path);
		release(writer);
		return status;
	}
	*ret = writer;
	return CTX_OK;
}

/* Live parts */

static void put_map_line(struct ctx_exp_writer *writer, struct ctx_exp_live *live,
			 const struct ctx_exp_map_entry *entry)
{
	struct ctx_buf *out = &live->map_lines;
	uint64_t time_ns = entry->time_ns + writer->start_ns;

	ctx_buf_put_text(out, "<map");
	ctx_exp_xml_time(out, "tstamp", entry->time_ns);
	ctx_exp_xml_number(out, "process", live->process);
	ctx_exp_xml_hex(out, "address", entry->address);
	ctx_exp_xml_hex(out, "size", entry->size);
	ctx_exp_xml_hex(out, "offset", entry->file_offset);
	ctx_exp_xml_number(out, "protection", entry->protection);
	ctx_exp_xml_attribute(out, "build_id", ctx_exp_objects_build_id(&writer->objects, entry->object));
	ctx_exp_xml_attribute(out, "path", ctx_exp_objects_path(&writer->objects, entry->object));
	ctx_buf_put_text(out, "/>\n");
	if (time_ns < live->oldest_ns)
		live->oldest_ns = time_ns;
}

/* Lines behind the first sample are for the map as it was then and each change later. */
static void put_first_maps(struct ctx_exp_writer *writer, struct ctx_exp_live *live)
{
	const struct ctx_exp_map_list *maps = writer->procs[live->process].maps;
	char lineage[CTX_EXP_DIR_NAME_MAX];

	ctx_exp_lineage(writer, live->process, lineage);
	if (lineage[0] != '\0')
		ctx_buf_printf(&live->map_lines, "<experiment version=\"%d\"/>\n", CTX_EXP_VERSION);
	for (size_t i = 0; maps != NULL && i < maps->n; i++)
		put_map_line(writer, live, &maps->entries[i]);
}

enum ctx_status ctx_exp_get_live(struct ctx_exp_writer *writer, uint32_t process, struct ctx_exp_live **ret,
				 struct ctx_err *err)
{
	struct ctx_exp_proc *proc = &writer->procs[process];
	struct ctx_exp_live *live = proc->live;
	enum ctx_status status;

	if (live == NULL) {
		status = ctx_grow(&writer->live, &writer->live_cap, writer->n_live + 1, err);
		if (status != CTX_OK)
			return status;
		live = ctx_calloc(1, sizeof(*live));
		if (live == NULL)
			return ctx_err_nomem(err);
		live->process = process;
		live->oldest_ns = UINT64_MAX;
		live->place = (uint32_t)writer->n_live;
		writer->live[writer->n_live++] = live;
		proc->live = live;
		if (!proc->has_samples)
			put_first_maps(writer, live);
		proc->has_samples = true;
		ctx_exp_account(writer, live);
	}
	*ret = live;
	return CTX_OK;
}

/* Processes */

static void set_lineage(struct ctx_exp_writer *writer, struct ctx_exp_proc *proc, uint32_t number)
{
	struct ctx_exp_proc *parent = proc->parent != CTX_NONE ? &writer->procs[proc->parent] : NULL;
	uint32_t *taken;
	char lineage[CTX_EXP_DIR_NAME_MAX];

	if (parent != NULL && (proc->origin == CTX_EXP_FORK || proc->origin == CTX_EXP_EXEC)) {
		proc->ordinal = proc->origin == CTX_EXP_FORK ? ++parent->n_forks : ++parent->n_execs;
		ctx_exp_lineage(writer, proc->parent, lineage);
		proc->is_root = proc->by_number = strlen(lineage) + 12 > CTX_EXP_LINEAGE_MAX;
		return;
	}
	proc->is_root = true;
	if (proc->origin == CTX_EXP_FOUNDER && !writer->has_founder) {
		writer->has_founder = true;
		return;
	}
	proc->origin = CTX_EXP_PRESENT;
	taken = ctx_map64_place(&writer->present, (uint64_t)proc->pid);
	proc->by_number = taken == NULL || *taken != CTX_MAP64_NONE;
	if (!proc->by_number)
		*taken = number;
}

enum ctx_status ctx_exp_process_start(struct ctx_exp_writer *writer, const struct ctx_exp_process *process,
				      uint32_t *ret_process, struct ctx_err *err)
{
	static const char *const ORIGINS[] = {"founder", "fork", "exec", "present"};
	enum ctx_status status = ctx_exp_check(writer, err);
	uint32_t number = (uint32_t)writer->n_procs;
	char lineage[CTX_EXP_DIR_NAME_MAX];
	struct ctx_exp_proc *proc;
	struct ctx_buf *out;

	if (status == CTX_OK && process->parent != CTX_NONE)
		status = ctx_exp_check_process(writer, process->parent, err);
	if (status == CTX_OK && writer->n_procs >= CTX_NONE - 1)
		status = ctx_err_set(err, CTX_E_LIMIT, "too many processes");
	if (status == CTX_OK)
		status = ctx_grow(&writer->procs, &writer->procs_cap, writer->n_procs + 1, err);
	if (status != CTX_OK)
		return status;
	proc = &writer->procs[writer->n_procs++];
	*proc = (struct ctx_exp_proc){.pid = process->pid,
				      .parent = process->parent,
				      .epoch = 1,
				      .origin = (uint8_t)process->origin};
	set_lineage(writer, proc, number);
	ctx_exp_lineage(writer, number, lineage);
	out = ctx_exp_log_event(writer, "process", process->time_ns);
	ctx_exp_xml_number(out, "process", number);
	ctx_exp_xml_signed(out, "pid", process->pid);
	if (process->parent != CTX_NONE)
		ctx_exp_xml_number(out, "parent", process->parent);
	ctx_exp_xml_attribute(out, "origin", ORIGINS[process->origin & 3]);
	ctx_exp_xml_attribute(out, "lineage", lineage);
	ctx_exp_xml_attribute(out, "command", process->command);
	*ret_process = number;
	return ctx_exp_log_end(writer, err);
}

enum ctx_status ctx_exp_process_exit(struct ctx_exp_writer *writer, uint32_t process, uint64_t time_ns,
				     bool has_status, int32_t status_value, struct ctx_err *err)
{
	enum ctx_status status = ctx_exp_check_process(writer, process, err);
	struct ctx_exp_proc *proc;
	struct ctx_buf *out;

	if (status != CTX_OK)
		return status;
	proc = &writer->procs[process];
	out = ctx_exp_log_event(writer, "process-exit", time_ns);
	ctx_exp_xml_number(out, "process", process);
	if (has_status)
		ctx_exp_xml_signed(out, "status", status_value);
	status = ctx_exp_log_end(writer, err);
	if (status == CTX_OK && proc->live != NULL)
		status = ctx_exp_retire(writer, proc->live, err);
	ctx_exp_map_list_release(proc->maps);
	proc->maps = NULL;
	return status;
}

/* Maps */

enum ctx_status ctx_exp_fork_maps(struct ctx_exp_writer *writer, uint32_t parent, uint32_t child,
				  uint64_t time_ns, struct ctx_err *err)
{
	enum ctx_status status = ctx_exp_check_process(writer, parent, err);
	struct ctx_exp_proc *proc;

	if (status == CTX_OK)
		status = ctx_exp_check_process(writer, child, err);
	if (status != CTX_OK || parent == child)
		return status;
	(void)time_ns; /* each map keeps the time when it was made: that is before any sample of the child */
	proc = &writer->procs[child];
	ctx_exp_map_list_release(proc->maps);
	proc->maps = ctx_exp_map_list_share(writer->procs[parent].maps);
	if (proc->has_samples) {
		struct ctx_exp_live *live;

		status = ctx_exp_get_live(writer, child, &live, err);
		if (status == CTX_OK)
			put_first_maps(writer, live);
	}
	return status;
}

static enum ctx_status after_map_line(struct ctx_exp_writer *writer, struct ctx_exp_live *live,
				      struct ctx_err *err)
{
	ctx_exp_account(writer, live);
	if (live->map_lines.n >= CTX_EXP_BUFFER_BYTES || live->map_lines.failed)
		return ctx_exp_flush_process(writer, live, err);
	return CTX_OK;
}

enum ctx_status ctx_exp_map(struct ctx_exp_writer *writer, uint32_t process, const struct ctx_exp_map *map,
			    struct ctx_err *err)
{
	struct ctx_exp_map_entry entry = {.address = map->address,
					  .size = map->size,
					  .file_offset = map->file_offset,
					  .time_ns = ctx_exp_relative(writer, map->time_ns),
					  .protection = map->protection};
	enum ctx_status status = ctx_exp_check_process(writer, process, err);
	struct ctx_exp_live *live;
	bool replaced;

	if (status != CTX_OK)
		return status;
	if (entry.size == 0)
		return CTX_OK;
	if (entry.size > UINT64_MAX - entry.address)
		entry.size = UINT64_MAX - entry.address;
	status = ctx_exp_objects_add(&writer->objects, map->path, map->build_id, &entry.object, err);
	if (status == CTX_OK)
		status = ctx_exp_map_list_add(&writer->procs[process].maps, &writer->objects, &entry,
					      &replaced, err);
	if (status != CTX_OK)
		return status;
	/* Stacks that are known already are not looked up again: an object in the place of a sampled one counts as sampled. */
	if (replaced)
		ctx_exp_objects_sample(&writer->objects, entry.object);
	if (replaced && writer->keep_places)
		ctx_exp_places_add_all(&writer->places, entry.object);
	if (!writer->procs[process].has_samples)
		return CTX_OK;
	status = ctx_exp_get_live(writer, process, &live, err);
	if (status != CTX_OK)
		return status;
	put_map_line(writer, live, &entry);
	return after_map_line(writer, live, err);
}

enum ctx_status ctx_exp_unmap(struct ctx_exp_writer *writer, uint32_t process, uint64_t address,
			      uint64_t size, uint64_t time_ns, struct ctx_err *err)
{
	enum ctx_status status = ctx_exp_check_process(writer, process, err);
	struct ctx_exp_live *live;

	if (status != CTX_OK || size == 0)
		return status;
	if (size > UINT64_MAX - address)
		size = UINT64_MAX - address;
	status = ctx_exp_map_list_remove(&writer->procs[process].maps, address, size, err);
	if (status != CTX_OK || !writer->procs[process].has_samples)
		return status;
	status = ctx_exp_get_live(writer, process, &live, err);
	if (status != CTX_OK)
		return status;
	ctx_buf_put_text(&live->map_lines, "<unmap");
	ctx_exp_xml_time(&live->map_lines, "tstamp", ctx_exp_relative(writer, time_ns));
	ctx_exp_xml_number(&live->map_lines, "process", process);
	ctx_exp_xml_hex(&live->map_lines, "address", address);
	ctx_exp_xml_hex(&live->map_lines, "size", size);
	ctx_buf_put_text(&live->map_lines, "/>\n");
	if (time_ns < live->oldest_ns)
		live->oldest_ns = time_ns;
	return after_map_line(writer, live, err);
}

/* The rest */

enum ctx_status ctx_exp_usage(struct ctx_exp_writer *writer, const struct ctx_usage_info *usage,
			      struct ctx_err *err)
{
	enum ctx_status status = ctx_exp_check_process(writer, usage->process, err);
	struct ctx_exp_usage_record record = {
		.process = usage->process,
		.time_ns = ctx_exp_relative(writer, usage->time_ns),
		.fields = {usage->user_ns, usage->system_ns, usage->rss_bytes, usage->vsize_bytes,
			   usage->minor_faults, usage->major_faults, usage->voluntary_switches,
			   usage->involuntary_switches, usage->read_bytes, usage->write_bytes,
			   usage->threads},
	};

	if (status != CTX_OK)
		return status;
	ctx_exp_put_usage(&writer->overview, &record);
	if (writer->n_overview == 0 || record.time_ns < writer->overview_first_ns)
		writer->overview_first_ns = record.time_ns;
	if (writer->n_overview == 0 || record.time_ns > writer->overview_last_ns)
		writer->overview_last_ns = record.time_ns;
	writer->n_overview++;
	if (usage->time_ns < writer->overview_oldest_ns)
		writer->overview_oldest_ns = usage->time_ns;
	return writer->overview.n >= CTX_EXP_BUFFER_BYTES ? ctx_exp_flush_overview(writer, err) : CTX_OK;
}

static bool is_old(uint64_t oldest_ns, uint64_t now_ns)
{
	return oldest_ns <= now_ns && now_ns - oldest_ns >= CTX_EXP_SECOND_NS;
}

enum ctx_status ctx_exp_tick(struct ctx_exp_writer *writer, uint64_t now_ns, struct ctx_err *err)
{
	enum ctx_status status = ctx_exp_check(writer, err);

	if (status == CTX_OK && is_old(writer->log_oldest_ns, now_ns))
		status = ctx_exp_flush_log(writer, err);
	for (size_t i = 0; i < writer->n_live && status == CTX_OK; i++) {
		if (is_old(writer->live[i]->oldest_ns, now_ns))
			status = ctx_exp_flush_process(writer, writer->live[i], err);
	}
	if (status == CTX_OK && is_old(writer->overview_oldest_ns, now_ns))
		status = ctx_exp_flush_overview(writer, err);
	return status;
}

struct ctx_exp_stats ctx_exp_stats(const struct ctx_exp_writer *writer)
{
	struct ctx_exp_stats stats = writer->stats;

	stats.memory_bytes = writer->memory_bytes;
	stats.processes = (uint32_t)writer->n_procs;
	stats.threads = (uint32_t)writer->n_threads;
	return stats;
}

enum ctx_status ctx_exp_close(struct ctx_exp_writer *writer, uint64_t time_ns, struct ctx_err *err)
{
	enum ctx_status status, step;

	if (writer == NULL)
		return CTX_OK;
	status = ctx_exp_check(writer, err);
	while (writer->n_live != 0) {
		step = ctx_exp_retire(writer, writer->live[writer->n_live - 1],
				      status == CTX_OK ? err : NULL);
		status = status == CTX_OK ? step : status;
	}
	step = ctx_exp_flush_overview(writer, status == CTX_OK ? err : NULL);
	status = status == CTX_OK ? step : status;
	if (writer->stats.dropped_by_limit != 0) {
		ctx_exp_xml_number(ctx_exp_log_event(writer, "lost", time_ns), "count",
				   writer->stats.dropped_by_limit);
		ctx_exp_xml_attribute(&writer->log, "reason", "limit");
		ctx_buf_put_text(&writer->log, "/>\n");
	}
	ctx_exp_log_event(writer, "exit", time_ns);
	ctx_buf_put_text(&writer->log, "/>\n");
	step = ctx_exp_flush_log(writer, status == CTX_OK ? err : NULL);
	status = status == CTX_OK ? step : status;
	release(writer);
	return status;
}

const struct ctx_exp_map_list *ctx_exp_maps(const struct ctx_exp_writer *writer, uint32_t process)
{
	return process < writer->n_procs ? writer->procs[process].maps : NULL;
}

const struct ctx_exp_objects *ctx_exp_all_objects(const struct ctx_exp_writer *writer)
{
	return &writer->objects;
}
