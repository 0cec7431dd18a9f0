/*
 * Processes and maps of the writer; samples and state changes are in exp_samples.c, threads and
 * single events in exp_events.c.
 *
 *	writer -- procs, by number -- maps (shared with forked children)
 *	   |          `-------------- live: dictionary of stacks, buffers of frames, samples, map lines (while samples arrive)
 *	   |-- threads, by number: leaf of the last sample: the next stack is compared with it before hashing
 *	   `-- log: lines of log.xml
 *
 * All live parts together stay below memory_max: before they would exceed it, all are retired
 * (everything is written, each dictionary begins a new epoch).
 */
#include "base/mem.h"
#include "base/xxh.h"
#include "formats/experiment/exp_state.h"
#include "formats/experiment/exp_xml.h"

#include <stdio.h>
#include <string.h>

/* Live parts */

/* Where a process's map lines go. They are written at the latest with the next samples. */
static struct ctx_buf *map_lines(struct ctx_exp_writer *writer, struct ctx_exp_live *live)
{
	return ctx_exp_proc(writer, live->process)->home == CTX_EXP_HOME_ROOT ? &writer->shared.map_lines
									      : &live->map_lines;
}

static void put_map_line(struct ctx_exp_writer *writer, struct ctx_exp_live *live,
			 const struct ctx_exp_map_entry *entry)
{
	struct ctx_buf *out = map_lines(writer, live);
	struct ctx_exp_proc *proc = ctx_exp_proc(writer, live->process);
	size_t before = out->n;

	if (!ctx_exp_may_describe(writer, CTX_EXP_DESCRIBED_MAP, proc->n_map_lines,
				  CTX_EXP_MAPS_OF_PROCESS_MAX))
		return;
	proc->n_map_lines++;

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
	ctx_exp_describes(writer, out, before);
}

/* Map lines were added, of records about as old as the last tick: they are written when they are old. */
static enum ctx_status after_map_lines(struct ctx_exp_writer *writer, struct ctx_exp_live *live,
				       struct ctx_err *err)
{
	uint64_t time_ns = writer->start_ns + writer->last.alive_ns;

	ctx_exp_account(writer, live);
	if (ctx_exp_proc(writer, live->process)->home == CTX_EXP_HOME_ROOT)
		return ctx_exp_note_shared(writer, time_ns, err);
	if (time_ns < live->oldest_ns)
		live->oldest_ns = time_ns;
	if (live->map_lines.n >= CTX_EXP_BUFFER_BYTES || live->map_lines.failed)
		return ctx_exp_flush_process(writer, live, err);
	return CTX_OK;
}

/*
 * One line instead of many: it has the maps of its parent. What it refers to is written before it
 * is, wherever either of them has its lines.
 */
static enum ctx_status put_inherited(struct ctx_exp_writer *writer, struct ctx_exp_live *live,
				     struct ctx_err *err)
{
	struct ctx_exp_proc *proc = ctx_exp_proc(writer, live->process);
	const struct ctx_exp_proc *parent = ctx_exp_proc(writer, proc->maps_of);
	struct ctx_buf *out = map_lines(writer, live);
	enum ctx_status status = CTX_OK;
	size_t before;

	if (!ctx_exp_may_describe(writer, CTX_EXP_DESCRIBED_MAP, proc->n_map_lines,
				  CTX_EXP_MAPS_OF_PROCESS_MAX))
		return CTX_OK;
	if ((parent == NULL || parent->home == CTX_EXP_HOME_ROOT) && proc->home != CTX_EXP_HOME_ROOT)
		status = ctx_exp_write_shared(writer, err);
	else if (parent != NULL && parent->home != CTX_EXP_HOME_ROOT && parent->live != NULL &&
		 parent->live->map_lines.n != 0)
		status = ctx_exp_flush_process(writer, parent->live, err);
	proc->n_map_lines++;
	before = out->n;
	if (!ctx_exp_brief_maps(writer, live->process, proc->maps_of))
		ctx_exp_put_maps_of(out, proc->forked_ns, live->process, proc->maps_of);
	ctx_exp_describes(writer, out, before);
	proc->maps_of = CTX_NONE;
	return status;
}

/* The map lines: the maps at the first sample, then each later change. */
static enum ctx_status put_first_maps(struct ctx_exp_writer *writer, struct ctx_exp_live *live,
				      struct ctx_err *err)
{
	const struct ctx_exp_proc *proc = ctx_exp_proc(writer, live->process);
	enum ctx_status status = CTX_OK;

	if (proc->home == CTX_EXP_HOME_DIR)
		ctx_buf_printf(&live->map_lines, "<experiment version=\"%d\"/>\n", CTX_EXP_VERSION);
	if (proc->maps_of != CTX_NONE) {
		status = put_inherited(writer, live, err);
	} else {
		for (size_t i = 0; proc->maps != NULL && i < proc->maps->n; i++)
			put_map_line(writer, live, &proc->maps->entries[i]);
	}
	return status == CTX_OK ? after_map_lines(writer, live, err) : status;
}

/* The first data of a process. */
static enum ctx_status settle(struct ctx_exp_writer *writer, struct ctx_exp_live *live, struct ctx_err *err)
{
	struct ctx_exp_proc *proc = ctx_exp_proc(writer, live->process);

	proc->has_samples = true;
	if (!proc->is_root_process && writer->stats.directories < CTX_EXP_DIRECTORIES_MAX &&
	    writer->n_shared < CTX_EXP_DIRECTORY_TRIES) {
		writer->stats.directories++;
		proc->home = CTX_EXP_HOME_DIR;
	}
	return put_first_maps(writer, live, err);
}

enum ctx_status ctx_exp_get_live(struct ctx_exp_writer *writer, uint32_t process, struct ctx_exp_live **ret,
				 struct ctx_err *err)
{
	struct ctx_exp_proc *proc = ctx_exp_proc(writer, process);
	struct ctx_exp_live *live = proc->live;
	enum ctx_status status = CTX_OK;

	if (live == NULL) {
		status = ctx_grow(&writer->live.items, &writer->live.cap, writer->live.n + 1, err);
		if (status != CTX_OK)
			return status;
		live = ctx_calloc(1, sizeof(*live));
		if (live == NULL)
			return ctx_err_nomem(err);
		live->process = process;
		live->oldest_ns = live->first_ns = UINT64_MAX;
		live->place = (uint32_t)writer->live.n;
		writer->live.items[writer->live.n++] = live;
		proc->live = live;
		ctx_exp_account(writer, live);
		if (!proc->has_samples)
			status = settle(writer, live, err);
	}
	*ret = live;
	return status;
}

/* Processes */

#define PRESENT_MAX 65536u /* processes whose pids are remembered */

/* The lineage of a fork or exec of `parent`; NULL: out of memory. */
static char *descend(struct ctx_exp_proc *parent, enum ctx_exp_origin origin)
{
	bool is_fork = origin == CTX_EXP_FORK;
	uint32_t ordinal = is_fork ? ++parent->n_forks : ++parent->n_execs;
	char *lineage;

	return asprintf(&lineage, "%s_%c%u", parent->lineage, is_fork ? 'f' : 'x', ordinal) >= 0 ? lineage
												 : NULL;
}

/* Whether a process from before the recording is named by its pid: each pid once. */
static bool is_first_of_pid(struct ctx_exp_writer *writer, int64_t pid, uint32_t number)
{
	uint32_t *taken =
		writer->present.n < PRESENT_MAX ? ctx_map64_place(&writer->present, (uint64_t)pid) : NULL;

	if (taken == NULL || *taken != CTX_MAP64_NONE)
		return false;
	*taken = number;
	return true;
}

/*
 * A new beginning, by number, where the parent's lineage is too long or forgotten, or the pid was
 * there before.
 */
static char *make_lineage(struct ctx_exp_writer *writer, const struct ctx_exp_process *process,
			  uint32_t number)
{
	struct ctx_exp_proc *parent = NULL;
	char *lineage;

	if (process->origin == CTX_EXP_ROOT_PROCESS && !writer->has_root_process)
		return strdup("");
	if (process->parent != CTX_NONE &&
	    (process->origin == CTX_EXP_FORK || process->origin == CTX_EXP_EXEC)) {
		parent = ctx_exp_proc(writer, process->parent);
		if (parent != NULL && strlen(parent->lineage) + 12 <= CTX_EXP_LINEAGE_MAX)
			return descend(parent, process->origin);
	} else if (is_first_of_pid(writer, process->pid, number)) {
		return asprintf(&lineage, "_p%lld", (long long)process->pid) >= 0 ? lineage : NULL;
	}
	return asprintf(&lineage, "_n%u", number) >= 0 ? lineage : NULL;
}

static uint64_t hash_of_command(const struct ctx_exp_writer *writer, const struct ctx_exp_process *process)
{
	const struct ctx_exp_proc *parent;

	if (process->command != NULL)
		return ctx_xxh3(process->command, strlen(process->command));
	parent = process->parent != CTX_NONE ? ctx_exp_proc(writer, process->parent) : NULL;
	return parent != NULL ? parent->title : 0;
}

enum ctx_status ctx_exp_process_start(struct ctx_exp_writer *writer, const struct ctx_exp_process *process,
				      uint32_t *ret_process, struct ctx_err *err)
{
	static const char *const ORIGINS[] = {"founder", "fork", "exec", "present"};
	enum ctx_status status = ctx_exp_check(writer, err);
	uint32_t number = (uint32_t)writer->procs.n;
	struct ctx_exp_proc *proc = NULL;
	char *lineage = NULL;
	struct ctx_buf *out;
	size_t before;

	if (status == CTX_OK && process->parent != CTX_NONE)
		status = ctx_exp_check_process(writer, process->parent, err);
	if (status == CTX_OK && writer->procs.n >= CTX_NONE - 1)
		status = ctx_err_set(err, CTX_E_LIMIT, "too many processes");
	if (status == CTX_OK && ((lineage = make_lineage(writer, process, number)) == NULL ||
				 (proc = ctx_exp_numbers_add(&writer->procs)) == NULL))
		status = ctx_err_nomem(err);
	if (status != CTX_OK) {
		free(lineage);
		return status;
	}
	*proc = (struct ctx_exp_proc){
		.pid = process->pid, .lineage = lineage, .maps_of = CTX_NONE, .epoch = 1};
	proc->title = hash_of_command(writer, process);
	proc->is_root_process = lineage[0] == '\0';
	writer->has_root_process |= proc->is_root_process;
	*ret_process = number;
	if (!ctx_exp_may_describe(writer, CTX_EXP_DESCRIBED_PROCESS, 0, 1))
		return CTX_OK;
	proc->is_described = true;
	ctx_exp_brief_tell_since(writer, process->time_ns);
	if (ctx_exp_brief_begin(writer, number, process))
		return CTX_OK;
	before = writer->log.n;
	out = ctx_exp_log_event(writer, "process", process->time_ns);
	ctx_exp_xml_number(out, "process", number);
	ctx_exp_xml_attribute(out, "origin", ORIGINS[process->origin & 3]);
	ctx_exp_put_process_attributes(out, process, lineage);
	ctx_exp_describes(writer, out, before);
	return ctx_exp_log_end(writer, err);
}

/* Whether a title is a new one, and not too soon after the last. */
static bool takes_title(struct ctx_exp_proc *proc, uint64_t title, uint64_t relative_ns)
{
	uint32_t doublings = proc->n_titles / CTX_EXP_TITLES_OF_INTERVAL;
	uint64_t least_ns = UINT64_C(1000000000) << (doublings < 30 ? doublings : 30);

	if (title == proc->title || (doublings != 0 && relative_ns < proc->titled_ns + least_ns))
		return false;
	proc->title = title;
	proc->titled_ns = relative_ns;
	proc->n_titles++;
	return true;
}

enum ctx_status ctx_exp_process_title(struct ctx_exp_writer *writer, uint32_t process, const char *title,
				      uint64_t time_ns, struct ctx_err *err)
{
	enum ctx_status status = ctx_exp_check_process(writer, process, err);
	struct ctx_exp_proc *proc = status == CTX_OK ? ctx_exp_proc(writer, process) : NULL;
	struct ctx_buf *out;
	size_t before;

	if (status != CTX_OK || proc == NULL || proc->has_ended || !proc->is_described ||
	    !takes_title(proc, ctx_xxh3(title, strlen(title)), ctx_exp_relative(writer, time_ns)) ||
	    !ctx_exp_may_describe(writer, CTX_EXP_DESCRIBED_NAME, 0, 1))
		return status;
	ctx_exp_brief_tell(writer, process);
	before = writer->log.n;
	out = ctx_exp_log_event(writer, "process-title", time_ns);
	ctx_exp_xml_number(out, "process", process);
	ctx_exp_put_command(out, title, false);
	ctx_exp_describes(writer, out, before);
	return ctx_exp_log_end(writer, err);
}

/* A process whose directory is not made yet is one of those without. Its map lines are the first of its data. */
static enum ctx_status share(struct ctx_exp_writer *writer, struct ctx_exp_live *live, struct ctx_err *err)
{
	const uint8_t *lines = live->map_lines.bytes;
	const uint8_t *end = live->map_lines.n != 0 ? memchr(lines, '\n', live->map_lines.n) : NULL;
	size_t version = end != NULL ? (size_t)(end - lines) + 1 : 0;

	ctx_exp_proc(writer, live->process)->home = CTX_EXP_HOME_ROOT;
	writer->stats.directories--;
	writer->n_shared++;
	if (live->map_lines.failed)
		return ctx_err_nomem(err);
	if (live->map_lines.n == 0)
		return CTX_OK;
	ctx_buf_put(&writer->shared.map_lines, lines + version, live->map_lines.n - version);
	ctx_buf_clear(&live->map_lines);
	return ctx_exp_note_shared(writer, live->oldest_ns, err);
}

enum ctx_status ctx_exp_process_exit(struct ctx_exp_writer *writer, uint32_t process,
				     const struct ctx_exp_exit *how, struct ctx_err *err)
{
	enum ctx_status status = ctx_exp_check_process(writer, process, err);
	struct ctx_exp_proc *proc;
	struct ctx_buf *out;

	if (status != CTX_OK)
		return status;
	proc = ctx_exp_proc(writer, process);
	if (proc == NULL)
		return CTX_OK;
	if (!proc->has_ended)
		ctx_exp_numbers_end(&writer->procs, process);
	proc->has_ended = true;
	if (ctx_exp_brief_end(writer, process, how)) {
		status = ctx_exp_log_end(writer, err);
	} else if (proc->is_described) {
		out = ctx_exp_log_event(writer, "process-exit", how->time_ns);
		ctx_exp_xml_number(out, "process", process);
		if (how->has_status)
			ctx_exp_xml_signed(out, "status", how->status);
		status = ctx_exp_log_end(writer, err);
	}
	if (status == CTX_OK && proc->live != NULL && proc->home == CTX_EXP_HOME_DIR &&
	    (how->time_ns <= proc->live->first_ns ||
	     how->time_ns - proc->live->first_ns < CTX_EXP_DIRECTORY_NS))
		status = share(writer, proc->live, err);
	if (status == CTX_OK && proc->live != NULL)
		status = ctx_exp_retire(writer, proc->live, err);
	ctx_exp_map_list_release(proc->maps);
	proc->maps = NULL;
	return status;
}

/* What is left of a process, of samples that came after its end too. */
static void release(void *context, void *row)
{
	struct ctx_exp_proc *proc = row;

	(void)context;
	ctx_exp_map_list_release(proc->maps);
	free(proc->lineage);
}

/*
 * A chunk goes with the second tick after all in it have ended: an exec's new image refers to the
 * old one, whose end comes first.
 */
enum ctx_status ctx_exp_forget_ended(struct ctx_exp_writer *writer, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK, step;

	for (size_t i = writer->live.n; i-- > 0;) {
		if (!ctx_exp_proc(writer, writer->live.items[i]->process)->has_ended)
			continue;
		step = ctx_exp_retire(writer, writer->live.items[i], status == CTX_OK ? err : NULL);
		status = status == CTX_OK ? step : status;
	}
	ctx_exp_numbers_sweep(&writer->procs, release, NULL);
	ctx_exp_numbers_sweep(&writer->threads, NULL, NULL);
	return status;
}

void ctx_exp_forget_all(struct ctx_exp_writer *writer)
{
	ctx_exp_numbers_deinit(&writer->procs, release, NULL);
	ctx_exp_numbers_deinit(&writer->threads, NULL, NULL);
}

/* Maps */

enum ctx_status ctx_exp_fork_maps(struct ctx_exp_writer *writer, uint32_t parent, uint32_t child,
				  uint64_t time_ns, struct ctx_err *err)
{
	enum ctx_status status = ctx_exp_check_process(writer, parent, err);
	struct ctx_exp_proc *proc;
	const struct ctx_exp_proc *from;
	struct ctx_exp_live *live;

	if (status == CTX_OK)
		status = ctx_exp_check_process(writer, child, err);
	if (status != CTX_OK || parent == child)
		return status;
	proc = ctx_exp_proc(writer, child);
	from = ctx_exp_proc(writer, parent);
	if (proc == NULL || from == NULL)
		return CTX_OK;
	ctx_exp_map_list_release(proc->maps);
	proc->maps = ctx_exp_map_list_share(from->maps);
	proc->maps_of = CTX_NONE;
	proc->forked_ns = ctx_exp_relative(writer, time_ns);
	/* A reader refuses lines about processes that it does not know. */
	if (from->has_samples && from->maps != NULL && from->is_described && proc->is_described &&
	    parent < child)
		proc->maps_of = parent;
	if (!proc->has_samples)
		return CTX_OK;
	status = ctx_exp_get_live(writer, child, &live, err);
	return status == CTX_OK ? put_first_maps(writer, live, err) : status;
}

/* Whether nothing changes: mprotect reports the same mapping again and again. */
static bool is_mapped_so(const struct ctx_exp_writer *writer, uint32_t process,
			 const struct ctx_exp_map_entry *entry, const struct ctx_exp_map *map)
{
	const struct ctx_exp_map_entry *old =
		ctx_exp_map_list_find(ctx_exp_proc(writer, process)->maps, entry->address);

	return old != NULL && old->address == entry->address && old->size == entry->size &&
	       old->file_offset == entry->file_offset && old->protection == entry->protection &&
	       strcmp(ctx_exp_objects_path(&writer->objects, old->object), map->path) == 0 &&
	       strcmp(ctx_exp_objects_build_id(&writer->objects, old->object), map->build_id) == 0;
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
	if (entry.size == 0 || ctx_exp_proc(writer, process) == NULL)
		return CTX_OK;
	if (entry.size > UINT64_MAX - entry.address)
		entry.size = UINT64_MAX - entry.address;
	if (is_mapped_so(writer, process, &entry, map))
		return CTX_OK;
	status = ctx_exp_objects_add(&writer->objects, map->path, map->build_id, &entry.object, err);
	if (status == CTX_OK)
		status = ctx_exp_map_list_add(&ctx_exp_proc(writer, process)->maps, &writer->objects, &entry,
					      &replaced, err);
	if (status != CTX_OK)
		return status;
	ctx_exp_proc(writer, process)->maps_of = CTX_NONE;
	/*
	 * Known stacks are not looked up again: an object that replaces a sampled one counts as
	 * sampled.
	 */
	if (replaced)
		ctx_exp_objects_sample(&writer->objects, entry.object);
	if (replaced && writer->keep_places)
		ctx_exp_places_add_all(&writer->places, entry.object);
	if (!ctx_exp_proc(writer, process)->has_samples)
		return CTX_OK;
	status = ctx_exp_get_live(writer, process, &live, err);
	if (status != CTX_OK)
		return status;
	put_map_line(writer, live, &entry);
	return after_map_lines(writer, live, err);
}

enum ctx_status ctx_exp_unmap(struct ctx_exp_writer *writer, uint32_t process,
			      const struct ctx_exp_map *range, struct ctx_err *err)
{
	enum ctx_status status = ctx_exp_check_process(writer, process, err);
	uint64_t size = range->size;
	struct ctx_exp_live *live;
	struct ctx_buf *out;

	if (status != CTX_OK || size == 0 || ctx_exp_proc(writer, process) == NULL)
		return status;
	if (size > UINT64_MAX - range->address)
		size = UINT64_MAX - range->address;
	status = ctx_exp_map_list_remove(&ctx_exp_proc(writer, process)->maps, range->address, size, err);
	ctx_exp_proc(writer, process)->maps_of = CTX_NONE;
	if (status != CTX_OK || !ctx_exp_proc(writer, process)->has_samples)
		return status;
	status = ctx_exp_get_live(writer, process, &live, err);
	if (status != CTX_OK)
		return status;
	out = map_lines(writer, live);
	ctx_buf_put_text(out, "<unmap");
	ctx_exp_xml_time(out, "tstamp", ctx_exp_relative(writer, range->time_ns));
	ctx_exp_xml_number(out, "process", process);
	ctx_exp_xml_hex(out, "address", range->address);
	ctx_exp_xml_hex(out, "size", size);
	ctx_buf_put_text(out, "/>\n");
	return after_map_lines(writer, live, err);
}

/* Resource use */

/* Not of processes that are not described, nor long after the limit of bytes was reached. */
static bool may_use(const struct ctx_exp_writer *writer, uint32_t process)
{
	const struct ctx_exp_proc *proc = ctx_exp_proc(writer, process);

	return proc != NULL && proc->is_described &&
	       (!writer->limits.reached || writer->limits.text_used < writer->limits.text_bytes);
}

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
	size_t before = writer->overview.records.n;

	if (status != CTX_OK || !may_use(writer, usage->process))
		return status;
	ctx_exp_put_usage(&writer->overview.records, &record);
	if (writer->limits.reached)
		ctx_exp_describes(writer, &writer->overview.records, before);
	if (writer->overview.n == 0 || record.time_ns < writer->overview.first_ns)
		writer->overview.first_ns = record.time_ns;
	if (writer->overview.n == 0 || record.time_ns > writer->overview.last_ns)
		writer->overview.last_ns = record.time_ns;
	writer->overview.n++;
	if (usage->time_ns < writer->overview.oldest_ns)
		writer->overview.oldest_ns = usage->time_ns;
	return writer->overview.records.n >= CTX_EXP_BUFFER_BYTES ? ctx_exp_flush_overview(writer, err)
								  : CTX_OK;
}

const struct ctx_exp_map_list *ctx_exp_maps(const struct ctx_exp_writer *writer, uint32_t process)
{
	const struct ctx_exp_proc *proc = ctx_exp_proc(writer, process);

	return proc != NULL ? proc->maps : NULL;
}

const struct ctx_exp_objects *ctx_exp_all_objects(const struct ctx_exp_writer *writer)
{
	return &writer->objects;
}
