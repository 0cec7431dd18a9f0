#include "formats/experiment/exp_log.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/utc.h"
#include "formats/experiment/exp_block.h"
#include "formats/experiment/exp_keep.h"
#include "formats/experiment/exp_lines.h"
#include "model/call_counter.h"

#include <stdio.h>
#include <string.h>

#define DAMAGE_MAX 10000u
#define METRICS_MAX 255u

void ctx_exp_log_deinit(struct ctx_exp_log *log)
{
	ctx_arena_deinit(&log->arena);
	ctx_strtab_deinit(&log->strings);
	free(log->processes);
	free(log->threads);
	ctx_map64_deinit(&log->process_of_key);
	ctx_map64_deinit(&log->thread_of_key);
	free(log->entries);
	free(log->properties);
	free(log->metrics);
	free(log->periods);
	free(log->sources.rows);
	ctx_strtab_deinit(&log->sources.paths);
	free(log->losses.rows);
	ctx_exp_code_lines_deinit(&log->codes);
	free(log->external_wakers.names);
	ctx_map64_deinit(&log->external_wakers.of_key);
	*log = (struct ctx_exp_log){0};
}

/* The id of an equal string that lives as long as the log. */
static enum ctx_status keep(struct ctx_exp_log *log, const char *text, const char **ret, struct ctx_err *err)
{
	*ret = ctx_arena_strdup(&log->arena, text != NULL ? text : "");
	return *ret != NULL ? CTX_OK : ctx_err_nomem(err);
}

static enum ctx_status keep_once(struct ctx_exp_log *log, const char *text, const char **ret,
				 struct ctx_err *err)
{
	uint32_t id;
	enum ctx_status status = ctx_strtab_add_text(&log->strings, text != NULL ? text : "", &id, err);

	if (status == CTX_OK)
		*ret = ctx_strtab_get(&log->strings, id);
	return status;
}

enum ctx_status ctx_exp_log_process(struct ctx_exp_log *log, uint32_t key, uint32_t *ret_row,
				    struct ctx_err *err)
{
	uint32_t *row;
	enum ctx_status status = ctx_grow(&log->processes, &log->processes_cap, log->n_processes + 1, err);

	if (status != CTX_OK)
		return status;
	row = ctx_map64_place(&log->process_of_key, key);
	if (row == NULL)
		return ctx_err_nomem(err);
	if (*row == CTX_MAP64_NONE) {
		*row = (uint32_t)log->n_processes;
		log->processes[log->n_processes++] = (struct ctx_exp_process_row){.key = key,
										  .number = CTX_NONE,
										  .parent_key = CTX_NONE,
										  .pid = -1,
										  .command = "<Unknown>",
										  .lineage = "?"};
	}
	*ret_row = *row;
	return CTX_OK;
}

enum ctx_status ctx_exp_log_thread(struct ctx_exp_log *log, uint32_t key, uint32_t process, uint32_t *ret_row,
				   struct ctx_err *err)
{
	uint32_t *row;
	enum ctx_status status;

	if (key < log->n_threads && log->threads[key].key == key) {
		*ret_row = key;
		return CTX_OK;
	}
	status = ctx_grow(&log->threads, &log->threads_cap, log->n_threads + 1, err);
	if (status != CTX_OK)
		return status;
	row = ctx_map64_place(&log->thread_of_key, key);
	if (row == NULL)
		return ctx_err_nomem(err);
	if (*row == CTX_MAP64_NONE) {
		*row = (uint32_t)log->n_threads;
		log->threads[log->n_threads++] = (struct ctx_exp_thread_row){
			.key = key, .number = CTX_NONE, .process = process, .tid = -1, .name = "<Unknown>"};
	}
	*ret_row = *row;
	return CTX_OK;
}

static enum ctx_status add_entry(struct ctx_exp_log *log, const struct ctx_exp_entry *entry,
				 struct ctx_err *err)
{
	enum ctx_status status;

	if (log->n_entries >= UINT32_MAX - 1)
		return ctx_err_set(err, CTX_E_LIMIT, "more than 2^32 events in the logs");
	status = ctx_grow(&log->entries, &log->entries_cap, log->n_entries + 1, err);
	if (status != CTX_OK)
		return status;
	log->entries[log->n_entries] = *entry;
	log->entries[log->n_entries].order = (uint32_t)log->n_entries;
	log->n_entries++;
	if (entry->time_ns > log->last_ns)
		log->last_ns = entry->time_ns;
	return CTX_OK;
}

enum ctx_status ctx_exp_log_damage(struct ctx_exp_log *log, const char *text, struct ctx_err *err)
{
	struct ctx_exp_entry entry = {.kind = CTX_EV_DAMAGE, .process = CTX_NONE, .thread = CTX_NONE};
	enum ctx_status status;

	if (log->bounds.n_damage > DAMAGE_MAX)
		return CTX_OK;
	if (log->bounds.n_damage++ == DAMAGE_MAX)
		text = "more damage than this is not listed";
	status = keep(log, text, &entry.text, err);
	return status == CTX_OK ? add_entry(log, &entry, err) : status;
}

enum ctx_status ctx_exp_log_warning(struct ctx_exp_log *log, const char *text, struct ctx_err *err)
{
	struct ctx_exp_entry entry = {.kind = CTX_EV_WARNING, .process = CTX_NONE, .thread = CTX_NONE};
	enum ctx_status status = keep(log, text, &entry.text, err);

	return status == CTX_OK ? add_entry(log, &entry, err) : status;
}

/*
 * The handlers below return CTX_E_FORMAT for a line that is skipped, without a message when a
 * required attribute is missing.
 */

static enum ctx_status read_process(struct ctx_exp_log *log, const struct ctx_exp_line *line,
				    struct ctx_exp_entry *entry, struct ctx_err *err)
{
	struct ctx_exp_process_row *row;
	uint32_t parent = CTX_NONE;
	int64_t pid;
	enum ctx_status status;

	if (!ctx_exp_line_signed(line, "pid", &pid))
		return CTX_E_FORMAT;
	if (ctx_exp_line_text(line, "parent") != NULL && !ctx_exp_line_number32(line, "parent", &parent))
		return CTX_E_FORMAT;
	row = &log->processes[entry->process];
	if (row->known)
		return CTX_E_FORMAT;
	row->command = NULL;
	status = keep(log, ctx_exp_line_text(line, "lineage"), &row->lineage, err);
	if (status == CTX_OK && ctx_exp_line_text(line, "command") != NULL)
		status = keep(log, ctx_exp_line_text(line, "command"), &row->command, err);
	if (status == CTX_OK && ctx_exp_line_text(line, "cgroup") != NULL)
		status = keep(log, ctx_exp_line_text(line, "cgroup"), &row->cgroup, err);
	(void)ctx_exp_line_signed(line, "inner-pid", &row->inner_pid);
	row->pid = pid;
	row->parent_key = parent;
	row->start_ns = entry->time_ns;
	row->known = true;
	entry->kind = CTX_EV_PROCESS_START;
	return status;
}

static enum ctx_status read_thread(struct ctx_exp_log *log, const struct ctx_exp_line *line,
				   struct ctx_exp_entry *entry, struct ctx_err *err)
{
	struct ctx_exp_thread_row *row = &log->threads[entry->thread];
	int64_t tid;

	if (!ctx_exp_line_signed(line, "tid", &tid) || entry->process == CTX_NONE || row->known)
		return CTX_E_FORMAT;
	row->tid = tid;
	(void)ctx_exp_line_signed(line, "inner-tid", &row->inner_tid);
	row->process = entry->process;
	row->start_ns = entry->time_ns;
	row->known = true;
	entry->kind = CTX_EV_THREAD_START;
	return keep(log, ctx_exp_line_text(line, "name"), &row->name, err);
}

static enum ctx_status read_process_exit(const struct ctx_exp_line *line, struct ctx_exp_entry *entry)
{
	int64_t status = 0;

	entry->kind = CTX_EV_PROCESS_EXIT;
	entry->b = ctx_exp_line_signed(line, "status", &status) && status >= INT32_MIN && status <= INT32_MAX;
	entry->a = (uint64_t)status;
	return CTX_OK;
}

static enum ctx_status read_limit(struct ctx_exp_log *log, const struct ctx_exp_line *line,
				  struct ctx_exp_entry *entry, struct ctx_err *err)
{
	char text[160];
	uint64_t bytes = 0;

	if (!ctx_exp_line_number(line, "bytes", &bytes))
		return CTX_E_FORMAT;
	log->bounds.limit_ns = entry->time_ns != 0 ? entry->time_ns : 1;
	entry->kind = CTX_EV_WARNING;
	snprintf(text, sizeof(text),
		 "the limit of %llu bytes was reached at %.3f ms: later samples were not recorded",
		 (unsigned long long)bytes, (double)entry->time_ns / 1e6);
	return keep(log, text, &entry->text, err);
}

static enum ctx_status read_run(struct ctx_exp_log *log, const struct ctx_exp_line *line, uint64_t run_ns,
				struct ctx_err *err)
{
	int64_t unix_ns;
	char text[CTX_UTC_MAX];
	enum ctx_status status = CTX_OK;

	log->begin.has_run = true;
	log->begin.run_ns = run_ns;
	if (!ctx_exp_line_signed(line, "unix_ns", &unix_ns) || unix_ns == 0)
		return CTX_OK;
	log->begin.run_wall_ns = unix_ns > 0 ? (uint64_t)unix_ns : 0;
	if (!ctx_utc_stamp(unix_ns / 1000000000, text))
		return CTX_OK;
	for (size_t i = 0; i < log->n_properties; i++) {
		if (strcmp(log->properties[i].key, "start") == 0)
			return CTX_OK;
	}
	status = ctx_grow(&log->properties, &log->properties_cap, log->n_properties + 1, err);
	if (status != CTX_OK)
		return status;
	log->properties[log->n_properties].key = "start";
	status = keep(log, text, &log->properties[log->n_properties].value, err);
	log->n_properties += status == CTX_OK;
	return status;
}

/* An external waker: not a thread of the recording. */
static enum ctx_status read_external_waker(struct ctx_exp_log *log, const struct ctx_exp_line *line,
					   struct ctx_err *err)
{
	uint32_t key, *row;
	enum ctx_status status;

	if (!ctx_exp_line_number32(line, "outsider", &key))
		return CTX_E_FORMAT;
	status = ctx_grow(&log->external_wakers.names, &log->external_wakers.cap, log->external_wakers.n + 1,
			  err);
	if (status != CTX_OK)
		return status;
	row = ctx_map64_place(&log->external_wakers.of_key, key);
	if (row == NULL)
		return ctx_err_nomem(err);
	if (*row != CTX_MAP64_NONE)
		return CTX_E_FORMAT;
	status = keep(log, ctx_exp_line_text(line, "name"),
		      &log->external_wakers.names[log->external_wakers.n], err);
	if (status == CTX_OK)
		*row = (uint32_t)log->external_wakers.n++;
	return status;
}

/* Rows of the process and the thread of an event. */
static enum ctx_status read_subjects(struct ctx_exp_log *log, const struct ctx_exp_line *line,
				     struct ctx_exp_entry *entry, struct ctx_err *err)
{
	uint32_t key;
	enum ctx_status status = CTX_OK;

	entry->process = entry->thread = CTX_NONE;
	if (ctx_exp_line_number32(line, "process", &key))
		status = ctx_exp_log_process(log, key, &entry->process, err);
	if (status == CTX_OK && ctx_exp_line_number32(line, "thread", &key)) {
		uint32_t process = entry->process;

		/*
		 * A thread that is only referred to has no process yet; it gets one when it is
		 * announced.
		 */
		status = ctx_exp_log_thread(log, key, process, &entry->thread, err);
	}
	return status;
}

/* The recorder's last words: why it stopped, and when. */
static enum ctx_status read_failed(struct ctx_exp_log *log, const struct ctx_exp_line *line,
				   struct ctx_exp_entry *entry, struct ctx_err *err)
{
	const char *why = ctx_exp_line_text(line, "text");
	char *text CTX_AUTO_FREE = NULL;

	if (why == NULL)
		return CTX_E_FORMAT;
	if (asprintf(&text, "recording failed %.3f s after its begin: %s; what came later is missing",
		     (double)entry->time_ns / 1e9, why) < 0) {
		text = NULL;
		return ctx_err_nomem(err);
	}
	log->last.has_failed = true;
	entry->kind = CTX_EV_WARNING;
	return keep(log, text, &entry->text, err);
}

/* What was not described because there was too much of it. */
static enum ctx_status read_left_out(struct ctx_exp_log *log, const struct ctx_exp_line *line,
				     struct ctx_exp_entry *entry, struct ctx_err *err)
{
	static const char *const NAMES[] = {"processes", "threads", "names", "maps"};
	uint64_t counts[CTX_COUNT_OF(NAMES)];
	char text[200];

	for (size_t i = 0; i < CTX_COUNT_OF(NAMES); i++) {
		if (!ctx_exp_line_number(line, NAMES[i], &counts[i]))
			return CTX_E_FORMAT;
	}
	snprintf(text, sizeof(text),
		 "not described, since there were too many: %llu processes, %llu threads, %llu names of "
		 "threads, %llu maps",
		 (unsigned long long)counts[0], (unsigned long long)counts[1], (unsigned long long)counts[2],
		 (unsigned long long)counts[3]);
	entry->kind = CTX_EV_WARNING;
	return keep(log, text, &entry->text, err);
}

static enum ctx_status read_event(struct ctx_exp_log *log, const struct ctx_exp_line *line,
				  struct ctx_err *err)
{
	const char *kind = ctx_exp_line_text(line, "kind");
	struct ctx_exp_entry entry = {0};
	bool has_process, has_thread;
	enum ctx_status status;

	if (kind == NULL || !ctx_exp_line_time(line, "tstamp", &entry.time_ns))
		return CTX_E_FORMAT;
	if (strcmp(kind, "run") == 0)
		return read_run(log, line, entry.time_ns, err);
	status = read_subjects(log, line, &entry, err);
	if (status != CTX_OK)
		return status;
	has_process = entry.process != CTX_NONE;
	has_thread = entry.thread != CTX_NONE;
	if (strcmp(kind, "process") == 0) {
		status = has_process ? read_process(log, line, &entry, err) : CTX_E_FORMAT;
	} else if (strcmp(kind, "process-exit") == 0) {
		status = has_process ? read_process_exit(line, &entry) : CTX_E_FORMAT;
	} else if (strcmp(kind, "process-title") == 0) {
		entry.kind = CTX_EV_PROCESS_TITLE;
		status = has_process ? keep(log, ctx_exp_line_text(line, "command"), &entry.text, err)
				     : CTX_E_FORMAT;
	} else if (strcmp(kind, "thread") == 0) {
		status = has_thread ? read_thread(log, line, &entry, err) : CTX_E_FORMAT;
	} else if (strcmp(kind, "thread-name") == 0) {
		entry.kind = CTX_EV_THREAD_NAME;
		status = has_thread ? keep(log, ctx_exp_line_text(line, "name"), &entry.text, err)
				    : CTX_E_FORMAT;
	} else if (strcmp(kind, "thread-exit") == 0) {
		entry.kind = CTX_EV_THREAD_EXIT;
		status = has_thread ? CTX_OK : CTX_E_FORMAT;
	} else if (strcmp(kind, "lost") == 0) {
		status = ctx_exp_log_loss(log, line, &entry, err);
	} else if (strcmp(kind, "throttle") == 0 || strcmp(kind, "unthrottle") == 0) {
		entry.kind = CTX_EV_THROTTLE;
		entry.a = kind[0] == 't';
	} else if (strcmp(kind, "warning") == 0) {
		entry.kind = CTX_EV_WARNING;
		status = keep(log, ctx_exp_line_text(line, "text"), &entry.text, err);
	} else if (strcmp(kind, "failed") == 0) {
		status = read_failed(log, line, &entry, err);
	} else if (strcmp(kind, "left-out") == 0) {
		status = read_left_out(log, line, &entry, err);
	} else if (strcmp(kind, "vm") == 0 || strcmp(kind, "vm-figures") == 0 ||
		   strcmp(kind, "vm-end") == 0) {
		entry.kind = CTX_EV_VM;
		status = has_process ? ctx_exp_log_vm(log, line, &entry, err) : CTX_E_FORMAT;
	} else if (strcmp(kind, "limit") == 0) {
		status = read_limit(log, line, &entry, err);
	} else {
		if (strcmp(kind, "exit") == 0)
			log->closed = true;
		else if (strcmp(kind, "alive") == 0)
			log->last.alive_ns = entry.time_ns;
		else if (strcmp(kind, "unwinding") == 0)
			status = ctx_exp_log_unwinding(log, line, err);
		else if (strcmp(kind, "outsider") == 0)
			status = read_external_waker(log, line, err);
		if (status != CTX_OK)
			return status;
		if (entry.time_ns > log->last_ns)
			log->last_ns = entry.time_ns;
		return CTX_OK; /* kinds of later versions are skipped */
	}
	return status == CTX_OK ? add_entry(log, &entry, err) : status;
}

#define MAPS_MAX ((uint32_t)1 << 20)
#define MAPS_OF_PROCESS_MAX 65536u /* as many as the kernel allows at once (vm.max_map_count) */

/* Whether another map is taken; the first one that is not is reported. */
static bool has_room_for_map(struct ctx_exp_log *log, uint32_t process, struct ctx_err *err,
			     enum ctx_status *ret)
{
	struct ctx_exp_process_row *row = &log->processes[process];
	char text[160];

	*ret = CTX_OK;
	if (row->n_maps < MAPS_OF_PROCESS_MAX && log->bounds.n_maps < MAPS_MAX) {
		row->n_maps++;
		log->bounds.n_maps++;
		return true;
	}
	if (log->bounds.maps_left_out++ != 0)
		return false;
	snprintf(text, sizeof(text),
		 "more than %u maps of a process, or %u in all: the others are left out, code in them has no "
		 "name",
		 MAPS_OF_PROCESS_MAX, MAPS_MAX);
	*ret = ctx_exp_log_damage(log, text, err);
	return false;
}

static enum ctx_status read_function(struct ctx_exp_log *log, const struct ctx_exp_line *line,
				     struct ctx_err *err)
{
	struct ctx_exp_entry entry = {.kind = CTX_EV_FUNCTION, .process = CTX_NONE, .thread = CTX_NONE};
	uint32_t row = 0;
	enum ctx_status status = ctx_exp_code_lines_function(&log->codes, line, &row, err);

	entry.a = row;
	return status == CTX_OK ? add_entry(log, &entry, err) : status;
}

/* The time and addresses of a line <map>, <unmap> or <code>, and the key of its process. False: not usable. */
static bool read_range(const struct ctx_exp_line *line, struct ctx_exp_entry *entry, uint32_t *ret_key)
{
	return ctx_exp_line_time(line, "tstamp", &entry->time_ns) &&
	       ctx_exp_line_number32(line, "process", ret_key) &&
	       ctx_exp_line_number(line, "address", &entry->a) &&
	       ctx_exp_line_number(line, "size", &entry->b) && entry->b <= UINT64_MAX - entry->a;
}

static enum ctx_status read_code(struct ctx_exp_log *log, const struct ctx_exp_line *line,
				 struct ctx_err *err)
{
	struct ctx_exp_entry entry = {.kind = CTX_EV_MAP, .thread = CTX_NONE};
	uint32_t key, row = 0;
	enum ctx_status status;

	if (!read_range(line, &entry, &key))
		return CTX_E_FORMAT;
	status = ctx_exp_log_process(log, key, &entry.process, err);
	if (status == CTX_OK && !has_room_for_map(log, entry.process, err, &status))
		return status;
	if (status == CTX_OK)
		status = ctx_exp_code_lines_code(&log->codes, line, &row, err);
	entry.c = row;
	return status == CTX_OK ? add_entry(log, &entry, err) : status;
}

static enum ctx_status read_map(struct ctx_exp_log *log, const struct ctx_exp_line *line,
				enum ctx_event_kind kind, struct ctx_err *err)
{
	struct ctx_exp_entry entry = {.kind = kind, .thread = CTX_NONE};
	uint32_t key;
	enum ctx_status status;

	if (!read_range(line, &entry, &key))
		return CTX_E_FORMAT;
	if (kind == CTX_EV_MAP && !ctx_exp_line_number(line, "offset", &entry.c))
		return CTX_E_FORMAT;
	status = ctx_exp_log_process(log, key, &entry.process, err);
	if (status == CTX_OK && !has_room_for_map(log, entry.process, err, &status))
		return status;
	if (status == CTX_OK)
		status = keep_once(log, ctx_exp_line_text(line, "path"), &entry.text, err);
	if (status == CTX_OK)
		status = keep_once(log, ctx_exp_line_text(line, "build_id"), &entry.text2, err);
	return status == CTX_OK ? add_entry(log, &entry, err) : status;
}

/*
 * A process has the maps of another one, whose number is in the attribute `name`. That one began before: so there are no circles. Whether both
 * are described shows when the line is used: while the experiment grows, its log may be read later.
 */
static enum ctx_status read_maps(struct ctx_exp_log *log, const struct ctx_exp_line *line, const char *name,
				 struct ctx_err *err)
{
	struct ctx_exp_entry entry = {.kind = CTX_EV_FORK_MAPS, .thread = CTX_NONE};
	uint32_t key, of, row;
	enum ctx_status status;

	if (!ctx_exp_line_time(line, "tstamp", &entry.time_ns) ||
	    !ctx_exp_line_number32(line, "process", &key) || !ctx_exp_line_number32(line, name, &of))
		return CTX_E_FORMAT;
	if (of >= key)
		return ctx_err_set(err, CTX_E_FORMAT,
				   "line %zu: process %u cannot have the maps of process %u", line->number,
				   key, of);
	status = ctx_exp_log_process(log, key, &entry.process, err);
	if (status == CTX_OK)
		status = ctx_exp_log_process(log, of, &row, err);
	if (status != CTX_OK)
		return status;
	entry.a = row;
	if (!has_room_for_map(log, entry.process, err, &status))
		return status;
	return add_entry(log, &entry, err);
}

/* A whole life in one line: of a process with one thread. */
static enum ctx_status read_life(struct ctx_exp_log *log, const struct ctx_exp_line *line,
				 struct ctx_err *err)
{
	struct ctx_exp_entry begin = {0}, entry;
	struct ctx_exp_thread_row *thread;
	uint64_t life_ns, end_ns;
	enum ctx_status status;

	if (!ctx_exp_line_time(line, "tstamp", &begin.time_ns) ||
	    !ctx_exp_line_number(line, "ns", &life_ns) ||
	    __builtin_add_overflow(begin.time_ns, life_ns, &end_ns) || end_ns > INT64_MAX)
		return CTX_E_FORMAT;
	status = read_subjects(log, line, &begin, err);
	if (status != CTX_OK)
		return status;
	if (begin.process == CTX_NONE || begin.thread == CTX_NONE || log->threads[begin.thread].known)
		return CTX_E_FORMAT;
	entry = begin;
	entry.thread = CTX_NONE;
	status = read_process(log, line, &entry, err);
	if (status == CTX_OK)
		status = add_entry(log, &entry, err);
	if (status != CTX_OK)
		return status;
	thread = &log->threads[begin.thread];
	if (!ctx_exp_line_signed(line, "tid", &thread->tid))
		thread->tid = log->processes[begin.process].pid;
	(void)ctx_exp_line_signed(line, "inner-tid", &thread->inner_tid);
	thread->process = begin.process;
	thread->start_ns = begin.time_ns;
	thread->known = true;
	begin.kind = CTX_EV_THREAD_START;
	status = keep(log, ctx_exp_line_text(line, "name"), &thread->name, err);
	if (status == CTX_OK)
		status = add_entry(log, &begin, err);
	begin.time_ns = end_ns;
	begin.kind = CTX_EV_THREAD_EXIT;
	if (status == CTX_OK)
		status = add_entry(log, &begin, err);
	entry.time_ns = end_ns;
	entry.kind = CTX_EV_PROCESS_EXIT;
	if (status == CTX_OK)
		status = add_entry(log, &entry, err);
	return status == CTX_OK && ctx_exp_line_text(line, "maps") != NULL ? read_maps(log, line, "maps", err)
									   : status;
}

static enum ctx_status read_setting(struct ctx_exp_log *log, const struct ctx_exp_line *line,
				    struct ctx_err *err)
{
	const char *name = ctx_exp_line_text(line, "name");
	const char *value = ctx_exp_line_text(line, "value");
	enum ctx_status status;
	struct ctx_property *property;

	if (name == NULL || value == NULL)
		return CTX_E_FORMAT;
	status = ctx_grow(&log->properties, &log->properties_cap, log->n_properties + 1, err);
	if (status != CTX_OK)
		return status;
	property = &log->properties[log->n_properties];
	status = keep(log, name, &property->key, err);
	if (status == CTX_OK)
		status = keep(log, value, &property->value, err);
	log->n_properties += status == CTX_OK;
	return status;
}

static enum ctx_status read_profile(struct ctx_exp_log *log, const struct ctx_exp_line *line,
				    struct ctx_err *err)
{
	const char *name = ctx_exp_line_text(line, "name");
	const char *unit = ctx_exp_line_text(line, "unit");
	uint64_t period;
	uint32_t number;
	enum ctx_status status;

	if (name == NULL || unit == NULL || !ctx_exp_line_number32(line, "metric", &number) ||
	    !ctx_exp_line_number(line, "period", &period) || number >= METRICS_MAX)
		return CTX_E_FORMAT;
	status = ctx_grow(&log->metrics, &log->metrics_cap, number + 1, err);
	if (status == CTX_OK)
		status = ctx_grow(&log->periods, &log->periods_cap, number + 1, err);
	if (status != CTX_OK)
		return status;
	for (; log->n_metrics <= number; log->n_metrics++) {
		log->metrics[log->n_metrics] =
			(struct ctx_source_metric){.name = "<Unknown>", .unit = CTX_UNIT_EVENTS};
		log->periods[log->n_metrics] = 1;
	}
	log->periods[number] = period;
	log->metrics[number].unit = ctx_unit_of_word(unit);
	return keep(log, name, &log->metrics[number].name, err);
}

/*
 * A copy of a source file. A line about a missing copy is informative only. The first line per path
 * counts.
 */
static enum ctx_status read_source(struct ctx_exp_log *log, const struct ctx_exp_line *line,
				   struct ctx_err *err)
{
	const char *path = ctx_exp_line_text(line, "path");
	const char *archive = ctx_exp_line_text(line, "archive");
	struct ctx_exp_source_row *row;
	enum ctx_status status;
	uint32_t id;

	if (path == NULL)
		return CTX_E_FORMAT;
	if (archive == NULL)
		return CTX_OK;
	status = ctx_grow(&log->sources.rows, &log->sources.cap, log->sources.n + 1, err);
	if (status == CTX_OK)
		status = ctx_strtab_add_text(&log->sources.paths, path, &id, err);
	if (status != CTX_OK || id < log->sources.n)
		return status;
	row = &log->sources.rows[log->sources.n];
	row->path = ctx_strtab_get(&log->sources.paths, id);
	status = keep(log, archive, &row->archive, err);
	log->sources.n += status == CTX_OK;
	return status;
}

static enum ctx_status read_element(struct ctx_exp_log *log, const struct ctx_exp_line *line,
				    struct ctx_err *err)
{
	uint32_t version;

	if (strcmp(line->element, "experiment") == 0) {
		if (!ctx_exp_line_number32(line, "version", &version))
			return CTX_E_FORMAT;
		if (version > CTX_EXP_VERSION)
			return ctx_err_set(err, CTX_E_VERSION,
					   "made by a newer version (%u; this program reads up to %d)",
					   version, CTX_EXP_VERSION);
		if (log->begin.version == 0)
			log->begin.version = version;
		return CTX_OK;
	}
	if (strcmp(line->element, "event") == 0)
		return read_event(log, line, err);
	if (strcmp(line->element, "map") == 0)
		return read_map(log, line, CTX_EV_MAP, err);
	if (strcmp(line->element, "unmap") == 0)
		return read_map(log, line, CTX_EV_UNMAP, err);
	if (strcmp(line->element, "maps") == 0)
		return read_maps(log, line, "of", err);
	if (strcmp(line->element, "life") == 0)
		return read_life(log, line, err);
	if (strcmp(line->element, "setting") == 0)
		return read_setting(log, line, err);
	if (strcmp(line->element, "profile") == 0)
		return read_profile(log, line, err);
	if (strcmp(line->element, "function") == 0)
		return read_function(log, line, err);
	if (strcmp(line->element, "code") == 0)
		return read_code(log, line, err);
	if (strcmp(line->element, "source") == 0)
		return read_source(log, line, err);
	log->begin.has_states = log->begin.has_states || strcmp(line->element, "states") == 0 ||
				strcmp(line->element, "scheduling") == 0;
	log->begin.has_heap = log->begin.has_heap || strcmp(line->element, "heap") == 0;
	log->begin.has_sync = log->begin.has_sync || strcmp(line->element, "sync") == 0;
	log->begin.has_io = log->begin.has_io || strcmp(line->element, "io") == 0;
	log->begin.has_marks = log->begin.has_marks || strcmp(line->element, "marks") == 0;
	log->begin.has_omp = log->begin.has_omp || strcmp(line->element, "omp") == 0;
	log->begin.has_accesses = log->begin.has_accesses || strcmp(line->element, "accesses") == 0;
	log->begin.has_calls = log->begin.has_calls || strcmp(line->element, "calls") == 0;
	log->begin.has_call_sums = log->begin.has_call_sums || (strcmp(line->element, "calls") == 0 &&
								ctx_exp_line_text(line, "sums") != NULL);
	if (strcmp(line->element, "calls") == 0 && ctx_exp_line_text(line, "counters") != NULL &&
	    !ctx_call_counters_parse(ctx_exp_line_text(line, "counters"), &log->begin.call_counters))
		log->begin.call_counters = 0; /* of a later version */
	return CTX_OK;
}

enum ctx_status ctx_exp_log_read(struct ctx_exp_log *log, struct ctx_exp_text *file, struct ctx_err *err)
{
	struct ctx_exp_lines *lines;
	struct ctx_exp_line line = {0};
	enum ctx_status status = ctx_exp_lines_open(file, &lines, err);

	if (status != CTX_OK)
		return status;
	for (;;) {
		struct ctx_err local = {0};
		char text[CTX_ERR_MAX + 320];
		bool is_element;

		status = ctx_exp_lines_next(lines, &line, &local);
		is_element = status == CTX_OK;
		if (is_element) {
			status = read_element(log, &line, &local);
			if (status == CTX_E_FORMAT && local.msg[0] == '\0')
				ctx_err_set(&local, status,
					    "line %zu: <%s> lacks an attribute or has one twice told",
					    line.number, line.element);
		}
		if (status == CTX_E_FORMAT) {
			snprintf(text, sizeof(text), "%s: %s%s", file->name, local.msg,
				 is_element ? "; line skipped" : "");
			status = ctx_exp_log_damage(log, text, &local);
		}
		if (status != CTX_OK) {
			if (err != NULL)
				*err = local;
			break;
		}
	}
	file->read = ctx_exp_lines_place(lines);
	ctx_exp_lines_close(lines);
	return status == CTX_END ? CTX_OK : ctx_err_prefix(err, status, "%s", file->name);
}

static int by_time(const void *a, const void *b)
{
	const struct ctx_exp_entry *left = a;
	const struct ctx_exp_entry *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	return (left->order > right->order) - (left->order < right->order);
}

/*
 * Moves inherited maps, which have the time of their creation, to the start of the child: otherwise
 * they would announce the child before its start, or even before its parent.
 */
static void move_inherited_maps(struct ctx_exp_log *log)
{
	for (size_t i = 0; i < log->n_entries; i++) {
		struct ctx_exp_entry *entry = &log->entries[i];
		const struct ctx_exp_process_row *process;

		if (entry->kind != CTX_EV_MAP && entry->kind != CTX_EV_UNMAP &&
		    entry->kind != CTX_EV_FORK_MAPS)
			continue;
		process = &log->processes[entry->process];
		if (process->known && entry->time_ns < process->start_ns)
			entry->time_ns = process->start_ns;
	}
}

/* The entries that stay are renumbered: later ones come after them at equal times. */
void ctx_exp_log_drop(struct ctx_exp_log *log, size_t n)
{
	log->n_entries -= n;
	if (log->n_entries != 0)
		memmove(log->entries, log->entries + n, log->n_entries * sizeof(*log->entries));
	for (size_t i = 0; i < log->n_entries; i++)
		log->entries[i].order = (uint32_t)i;
}

void ctx_exp_log_sort(struct ctx_exp_log *log)
{
	move_inherited_maps(log);
	if (log->n_entries != 0)
		qsort(log->entries, log->n_entries, sizeof(*log->entries), by_time);
}
