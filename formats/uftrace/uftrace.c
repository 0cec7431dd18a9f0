/*
 * Merges moments, records of threads and events of processors by time.
 *
 *	                        .-- moments: images, lives, libraries
 *	next_event --> later <--+-- turns: a heap of files by the time of their next record
 *	                        '-- notes: warnings, damage, sums at the end
 */
#include "formats/uftrace/uftrace.h"

#include "base/buf.h"
#include "base/dir_state.h"
#include "base/fileio.h"
#include "base/heap.h"
#include "base/mem.h"
#include "base/xxh.h"
#include "formats/uftrace/uf_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define USER_EVENTS 1000000u /* numbers of events of programs (SDT) from here on */
#define NAME_MAX_BYTES 15    /* of a thread, as the kernel has it */

/* Turns */

static bool is_turn_before(const void *a, const void *b)
{
	const struct ctx_uf_turn *one = a, *other = b;

	return one->time_ns != other->time_ns ? one->time_ns < other->time_ns : one->index < other->index;
}

/* Reads the next record of the file. CTX_END. */
static enum ctx_status read_ahead(struct ctx_uf_reader *reader, uint32_t index, uint64_t *ret_time_ns,
				  struct ctx_err *err)
{
	enum ctx_status status;

	if (index < reader->n_files) {
		struct ctx_uf_task *task = &reader->files[index];

		status = ctx_uf_records_next(&task->records, &task->next, err);
		*ret_time_ns = task->next.time_ns;
		if (*ret_time_ns <
		    reader->tasks.lives[task->lives[0]].begin_ns) /* lost before the first one */
			*ret_time_ns = reader->tasks.lives[task->lives[0]].begin_ns;
		return status;
	}
	index -= (uint32_t)reader->n_files;
	status = ctx_uf_perf_next(&reader->perfs[index], &reader->perf_next[index], err);
	*ret_time_ns = reader->perf_next[index].time_ns;
	return status;
}

static void release_file(struct ctx_uf_reader *reader, uint32_t index)
{
	struct ctx_uf_task *task = &reader->files[index];

	if (index >= reader->n_files)
		return;
	free(task->records.stream.bytes);
	task->records.stream.bytes = NULL;
	free(task->hints);
	task->hints = NULL;
	task->n_hints = 0;
}

static enum ctx_status make_turns(struct ctx_uf_reader *reader, struct ctx_err *err)
{
	size_t n = reader->n_files + reader->n_perfs;

	reader->turns = ctx_calloc(n + 1, sizeof(*reader->turns));
	reader->perf_next = ctx_calloc(reader->n_perfs + 1, sizeof(*reader->perf_next));
	if (reader->turns == NULL || reader->perf_next == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < n; i++) {
		struct ctx_uf_turn turn = {.index = i};
		enum ctx_status status = read_ahead(reader, i, &turn.time_ns, err);

		if (status < 0)
			return status;
		if (status == CTX_END)
			continue;
		if (i < reader->n_files)
			ctx_uf_stream_park(&reader->files[i].records.stream);
		reader->turns[reader->n_turns++] = turn;
		ctx_heap_rise(reader->turns, reader->n_turns, sizeof(*reader->turns), is_turn_before);
	}
	return CTX_OK;
}

/* Moments */

static struct ctx_event *add_event(struct ctx_uf_reader *reader, enum ctx_event_kind kind, uint64_t time_ns)
{
	struct ctx_event *event = ctx_uf_later_add(&reader->later);

	if (event != NULL) {
		event->kind = kind;
		event->time_ns = time_ns - reader->begin_ns;
	}
	return event;
}

static enum ctx_status map_object(struct ctx_uf_reader *reader, uint32_t process, uint64_t time_ns,
				  const struct ctx_map_event *map, struct ctx_err *err)
{
	struct ctx_event *event = add_event(reader, CTX_EV_MAP, time_ns);

	if (event == NULL)
		return ctx_err_nomem(err);
	event->process = process;
	event->map = *map;
	event->map.archive = event->map.function = "";
	return CTX_OK;
}

static enum ctx_status start_image(struct ctx_uf_reader *reader, uint32_t index, struct ctx_err *err)
{
	const struct ctx_uf_image *image = &reader->tasks.images[index];
	const struct ctx_uf_space *space =
		image->session < reader->symbols.n_spaces ? &reader->symbols.spaces[image->session] : NULL;
	struct ctx_event *event = add_event(reader, CTX_EV_PROCESS_START, image->begin_ns);
	enum ctx_status status = CTX_OK;

	if (event == NULL)
		return ctx_err_nomem(err);
	event->process = reader->process_of[index] = reader->n_processes++;
	event->process_start = (struct ctx_event_process_start){
		.pid = image->pid,
		.parent = image->parent != CTX_NONE ? reader->process_of[image->parent] : CTX_NONE,
		.command = image->session != CTX_NONE ? reader->tasks.sessions[image->session].exe : "",
		.lineage = image->lineage};
	for (size_t i = 0; space != NULL && i < space->n && status == CTX_OK; i++) {
		const struct ctx_uf_table *table = &reader->symbols.tables[space->maps[i].table];
		struct ctx_map_event map = {.address = space->maps[i].begin,
					    .size = space->maps[i].end - space->maps[i].begin,
					    .path = table->path,
					    .build_id = table->build_id};

		status = map_object(reader, reader->process_of[index], image->begin_ns, &map, err);
	}
	return status == CTX_OK ? ctx_uf_calls_inherit(reader, index, err) : status;
}

static enum ctx_status start_life(struct ctx_uf_reader *reader, uint32_t index, struct ctx_err *err)
{
	const struct ctx_uf_life *life = &reader->tasks.lives[index];
	uint32_t session = reader->tasks.images[life->image].session;
	const char *exe = session != CTX_NONE ? ctx_path_base(reader->tasks.sessions[session].exe) : "";
	struct ctx_event *event = add_event(reader, CTX_EV_THREAD_START, life->begin_ns);
	char *name = ctx_arena_strndup(&reader->notes.arena, exe, strnlen(exe, NAME_MAX_BYTES));

	if (event == NULL || name == NULL)
		return ctx_err_nomem(err);
	event->process = reader->process_of[life->image];
	event->thread = reader->thread_of[index] = reader->n_threads++;
	event->thread_start = (struct ctx_event_thread_start){.tid = life->tid, .name = name};
	return CTX_OK;
}

/* Its end in memory is not recorded: as far as its file is large. */
static enum ctx_status open_library(struct ctx_uf_reader *reader, uint32_t index, struct ctx_err *err)
{
	const struct ctx_uf_library *library = &reader->tasks.libraries[index];
	struct ctx_map_event map = {.address = library->base, .path = library->path, .build_id = ""};
	enum ctx_status status = CTX_OK;
	struct stat info;

	ctx_uf_symbols_open_library(&reader->symbols, index);
	if (stat(library->path, &info) != 0 || info.st_size <= 0 ||
	    __builtin_add_overflow(library->base, (uint64_t)info.st_size, &map.size))
		return CTX_OK;
	map.size = (uint64_t)info.st_size;
	for (size_t i = 0; i < reader->tasks.n_images && status == CTX_OK; i++) {
		const struct ctx_uf_image *image = &reader->tasks.images[i];

		if (image->session == library->session && image->begin_ns <= library->time_ns &&
		    library->time_ns <= image->end_ns)
			status = map_object(reader, reader->process_of[i], library->time_ns, &map, err);
	}
	return status;
}

static enum ctx_status take_moment(struct ctx_uf_reader *reader, struct ctx_err *err)
{
	const struct ctx_uf_moment *moment = &reader->moments.items[reader->moments.at++];
	const struct ctx_uf_tasks *tasks = &reader->tasks;
	struct ctx_event *event;

	switch (moment->kind) {
	case CTX_UF_IMAGE_BEGINS:
		return start_image(reader, moment->index, err);
	case CTX_UF_LIFE_BEGINS:
		return start_life(reader, moment->index, err);
	case CTX_UF_LIBRARY_OPENS:
		return open_library(reader, moment->index, err);
	case CTX_UF_LIFE_ENDS:
		event = add_event(reader, CTX_EV_THREAD_EXIT, moment->time_ns);
		if (event == NULL)
			return ctx_err_nomem(err);
		event->process = reader->process_of[tasks->lives[moment->index].image];
		event->thread = reader->thread_of[moment->index];
		return CTX_OK;
	case CTX_UF_IMAGE_ENDS:
		event = add_event(reader, CTX_EV_PROCESS_EXIT, moment->time_ns);
		if (event == NULL)
			return ctx_err_nomem(err);
		event->process = reader->process_of[moment->index];
		return CTX_OK;
	}
	return CTX_OK;
}

/* Records of threads */

static enum ctx_status take_loss(struct ctx_uf_reader *reader, struct ctx_uf_task *task,
				 const struct ctx_uf_record *record, struct ctx_err *err)
{
	struct ctx_event *event = add_event(reader, CTX_EV_LOST, task->last_ns);

	if (event == NULL)
		return ctx_err_nomem(err);
	event->lost.loss = (struct ctx_loss){
		.time = {task->last_ns - reader->begin_ns, task->last_ns - reader->begin_ns + 1},
		.located = true,
		.cpu = -1,
		.count = record->address};
	return CTX_OK;
}

/* An event of the program is a mark; others are counted. */
static enum ctx_status take_user_event(struct ctx_uf_reader *reader, const struct ctx_uf_task *task,
				       const struct ctx_uf_record *record, struct ctx_err *err)
{
	uint32_t life = task->lives[task->life];
	struct ctx_event *event;
	char name[32];

	if (record->address < USER_EVENTS) {
		reader->sums.events++;
		return CTX_OK;
	}
	event = add_event(reader, CTX_EV_TRACED, task->last_ns);
	snprintf(name, sizeof(name), "event %llu", (unsigned long long)record->address);
	if (event == NULL)
		return ctx_err_nomem(err);
	event->process = reader->process_of[reader->tasks.lives[life].image];
	event->thread = reader->thread_of[life];
	reader->mark = (struct ctx_traced){.kind = CTX_TRACED_MARK,
					   .operation = CTX_MARK_POINT,
					   .cpu = -1,
					   .descriptor = -1,
					   .file = CTX_NONE};
	event->traced.operation = &reader->mark;
	event->traced.file = ctx_arena_strdup(&reader->notes.arena, name);
	return event->traced.file != NULL ? CTX_OK : ctx_err_nomem(err);
}

static enum ctx_status take_record(struct ctx_uf_reader *reader, struct ctx_uf_task *task,
				   struct ctx_err *err)
{
	struct ctx_uf_record *record = &task->next;
	uint64_t begin_ns = reader->tasks.lives[task->lives[task->life]].begin_ns;

	if (task->last_ns < begin_ns)
		task->last_ns = begin_ns;
	if (record->type == CTX_UF_LOST || task->n_breaks != task->records.n_breaks) {
		task->n_breaks = task->records.n_breaks;
		task->segment++;
		task->begins_segment = true;
	}
	if (record->type == CTX_UF_LOST)
		return take_loss(reader, task, record, err);
	ctx_uf_task_live(reader, task, record->time_ns);
	if (record->time_ns < task->last_ns)
		reader->sums.late++;
	else
		task->last_ns = record->time_ns;
	if (record->type == CTX_UF_EVENT)
		return take_user_event(reader, task, record, err);
	return ctx_uf_calls_take(reader, task, record, err);
}

/* Events of processors */

/* The life of a thread at a time; CTX_NONE. */
static uint32_t life_at(const struct ctx_uf_reader *reader, int64_t tid, uint64_t time_ns)
{
	uint32_t first = ctx_map64_get(&reader->lives_at, (uint64_t)tid), found = CTX_NONE;

	for (size_t i = first; i < reader->tasks.n_lives; i++) {
		const struct ctx_uf_life *life = &reader->tasks.lives[reader->lives_by_tid[i]];

		if (life->tid != tid || life->begin_ns > time_ns)
			break;
		found = time_ns <= life->end_ns ? reader->lives_by_tid[i] : CTX_NONE;
	}
	return found;
}

static enum ctx_status take_perf(struct ctx_uf_reader *reader, uint32_t index, struct ctx_err *err)
{
	static const enum ctx_state_change changes[] = {
		[CTX_UF_PERF_RUNS] = CTX_CHANGE_RUNS,
		[CTX_UF_PERF_PREEMPTED] = CTX_CHANGE_PREEMPTED,
		[CTX_UF_PERF_BLOCKED] = CTX_CHANGE_BLOCKED,
	};
	const struct ctx_uf_perf_event *seen = &reader->perf_next[index];
	uint32_t life = life_at(reader, seen->tid, seen->time_ns);
	struct ctx_event *event;

	if (life == CTX_NONE || seen->kind == CTX_UF_PERF_EXIT)
		return CTX_OK;
	event = add_event(reader, seen->kind == CTX_UF_PERF_NAME ? CTX_EV_THREAD_NAME : CTX_EV_STATE,
			  seen->time_ns);
	if (event == NULL)
		return ctx_err_nomem(err);
	event->process = reader->process_of[reader->tasks.lives[life].image];
	event->thread = reader->thread_of[life];
	if (seen->kind == CTX_UF_PERF_NAME) {
		event->thread_name = ctx_arena_strdup(&reader->notes.arena, seen->name);
		return event->thread_name != NULL ? CTX_OK : ctx_err_nomem(err);
	}
	event->state = (struct ctx_event_state){
		.change = changes[seen->kind], .cpu = reader->perfs[index].cpu, .waker = CTX_NONE};
	return CTX_OK;
}

/* The source */

static enum ctx_status tell_sums(struct ctx_uf_reader *reader, struct ctx_err *err)
{
	const struct ctx_uf_sums *sums = &reader->sums;
	struct ctx_source_notes *notes = &reader->notes;
	enum ctx_status status = CTX_OK;

	reader->ended = true;
	for (size_t i = 0; i < reader->n_files; i++)
		reader->sums.open += reader->files[i].n_open;
	if (reader->info.features & CTX_UF_HAS_ESTIMATES)
		status = ctx_source_notes_warn(
			notes, err,
			"recorded without ends of calls (--estimate-return): a call ends when the "
			"next one of its depth or above begins");
	if (status == CTX_OK && sums->mended != 0)
		status =
			ctx_source_notes_warn(notes, err, "%llu calls without a begin or an end are mended%s",
					      (unsigned long long)sums->mended,
					      sums->unknown != 0 ? "; some functions are unknown" : "");
	if (status == CTX_OK && sums->open != 0)
		status = ctx_source_notes_warn(notes, err,
					       "%llu calls were open when their thread or program ended",
					       (unsigned long long)sums->open);
	if (status == CTX_OK && sums->late != 0)
		status = ctx_source_notes_warn(notes, err,
					       "%llu records have a time before the one before them",
					       (unsigned long long)sums->late);
	if (status == CTX_OK && sums->events != 0)
		status = ctx_source_notes_warn(notes, err,
					       "%llu records of counters and of memory are not read",
					       (unsigned long long)sums->events);
	return status == CTX_OK ? ctx_source_notes_end(notes, err) : status;
}

static enum ctx_status take_turn(struct ctx_uf_reader *reader, struct ctx_err *err)
{
	struct ctx_uf_turn *turn = &reader->turns[0];
	enum ctx_status status = turn->index < reader->n_files
					 ? take_record(reader, &reader->files[turn->index], err)
					 : take_perf(reader, turn->index - (uint32_t)reader->n_files, err);

	if (status != CTX_OK)
		return status;
	status = read_ahead(reader, turn->index, &turn->time_ns, err);
	if (status == CTX_END) {
		release_file(reader, turn->index);
		*turn = reader->turns[--reader->n_turns];
		status = CTX_OK;
	}
	ctx_heap_sink(reader->turns, reader->n_turns, sizeof(*reader->turns), is_turn_before);
	return status;
}

static bool is_moment_due(const struct ctx_uf_reader *reader)
{
	const struct ctx_uf_moment *moment;
	uint64_t next_ns;

	if (reader->moments.at == reader->moments.n)
		return false;
	moment = &reader->moments.items[reader->moments.at];
	next_ns = reader->n_turns != 0 ? reader->turns[0].time_ns : UINT64_MAX;
	return moment->kind >= CTX_UF_LIFE_ENDS ? moment->time_ns < next_ns : moment->time_ns <= next_ns;
}

static enum ctx_status next_event(struct ctx_event_source *source, struct ctx_event *ret, struct ctx_err *err)
{
	struct ctx_uf_reader *reader = source->impl;

	for (;;) {
		enum ctx_status status;

		if (reader->later.at < reader->later.n) {
			*ret = reader->later.items[reader->later.at++];
			return CTX_OK;
		}
		reader->later.at = reader->later.n = 0;
		if (ctx_source_notes_take(&reader->notes, ret))
			return CTX_OK;
		if (is_moment_due(reader))
			status = take_moment(reader, err);
		else if (reader->n_turns != 0)
			status = take_turn(reader, err);
		else if (!reader->ended)
			status = tell_sums(reader, err);
		else
			return CTX_END;
		if (status != CTX_OK)
			return status;
	}
}

static uint64_t progress(const struct ctx_event_source *source)
{
	const struct ctx_uf_reader *reader = source->impl;
	uint64_t bytes = 0;

	for (size_t i = 0; i < reader->n_files; i++)
		bytes += ctx_uf_stream_offset(&reader->files[i].records.stream);
	for (size_t i = 0; i < reader->n_perfs; i++)
		bytes += ctx_uf_stream_offset(&reader->perfs[i].stream);
	return bytes;
}

static void close_reader(struct ctx_event_source *source)
{
	struct ctx_uf_reader *reader = source->impl;

	for (size_t i = 0; i < reader->n_files; i++) {
		ctx_uf_records_deinit(&reader->files[i].records);
		free(reader->files[i].hints);
		free(reader->files[i].open);
		free(reader->files[i].inherited);
	}
	for (size_t i = 0; i < reader->n_perfs; i++)
		ctx_uf_stream_deinit(&reader->perfs[i].stream);
	free(reader->files);
	free(reader->perfs);
	free(reader->perf_next);
	free(reader->lives_by_tid);
	free(reader->process_of);
	free(reader->thread_of);
	free(reader->moments.items);
	free(reader->turns);
	free(reader->later.items);
	ctx_map64_deinit(&reader->lives_at);
	ctx_map64_deinit(&reader->file_of);
	ctx_uf_symbols_deinit(&reader->symbols);
	ctx_uf_tasks_deinit(&reader->tasks);
	ctx_source_notes_deinit(&reader->notes);
	free(reader->directory);
	free(reader);
}

static enum ctx_status fill_info(struct ctx_uf_reader *reader, struct ctx_err *err)
{
	struct ctx_source_info *info = &reader->source.info;

	char format[32];

	snprintf(format, sizeof(format), "uftrace %u", reader->info.version);
	info->name = ctx_path_base(reader->directory);
	info->format = ctx_arena_strdup(&reader->notes.arena, format);
	info->duration_ns = reader->end_ns - reader->begin_ns + 1;
	info->closed = true;
	info->notes = info->kallsyms = info->fallback_root = "";
	info->kernel = (struct ctx_source_kernel){.build_id = "", .release = "", .symbol = ""};
	info->properties = reader->notes.properties;
	info->n_properties = reader->notes.n_properties;
	info->has_states = reader->n_perfs != 0;
	info->has_calls = true;
	info->n_threads = (uint32_t)reader->tasks.n_lives;
	return info->format != NULL ? CTX_OK : ctx_err_nomem(err);
}

/* The path without slashes at its end. */
static char *trimmed(const char *path)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	return ctx_memdup0(path, n);
}

enum ctx_status ctx_uftrace_open(const char *path, struct ctx_event_source **ret, struct ctx_err *err)
{
	struct ctx_uf_reader *reader = ctx_calloc(1, sizeof(*reader));
	enum ctx_status status;

	if (reader == NULL)
		return ctx_err_nomem(err);
	reader->source = (struct ctx_event_source){
		.impl = reader, .next = next_event, .progress = progress, .close = close_reader};
	reader->unknown = CTX_NONE;
	reader->directory = trimmed(path);
	status = reader->directory != NULL ? ctx_uf_scan(reader, err) : ctx_err_nomem(err);
	if (status == CTX_OK)
		status = make_turns(reader, err);
	if (status == CTX_OK)
		status = fill_info(reader, err);
	if (status != CTX_OK) {
		close_reader(&reader->source);
		return ctx_err_prefix(err, status, "%s", path);
	}
	*ret = &reader->source;
	return CTX_OK;
}

bool ctx_uftrace_is(const char *path)
{
	return ctx_uf_info_is(path);
}

enum ctx_status ctx_uftrace_fingerprint(const char *path, char ret[17], struct ctx_err *err)
{
	struct ctx_buf all CTX_AUTO_BUF = {0};
	enum ctx_status status = ctx_dir_put_state(&all, path, "ctxan.db", err);

	if (status == CTX_OK)
		status = ctx_buf_check(&all, err);
	if (status == CTX_OK)
		snprintf(ret, 17, "%016llx", (unsigned long long)ctx_xxh3(all.bytes, all.n));
	return status;
}
