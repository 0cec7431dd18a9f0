/*
 * Opens a directory: what its text files say, then one pass over the data files.
 */
#include "base/fileio.h"
#include "base/mem.h"
#include "formats/uftrace/uf_reader.h"
#include "formats/uftrace/uf_text.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Files */

/* "<beginning><number>.dat". */
static bool take_number(const char *name, const char *beginning, int64_t *ret)
{
	char digits[16];
	size_t n;

	if (strncmp(name, beginning, strlen(beginning)) != 0)
		return false;
	name += strlen(beginning);
	n = strspn(name, "0123456789");
	if (n == 0 || n >= sizeof(digits) || strcmp(name + n, ".dat") != 0)
		return false;
	memcpy(digits, name, n);
	digits[n] = '\0';
	*ret = atoll(digits);
	return *ret <= INT32_MAX;
}

static enum ctx_status add_file(struct ctx_uf_reader *reader, char *path, int64_t tid, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&reader->files, &reader->files_cap, reader->n_files + 1, err);
	uint32_t *place = status == CTX_OK ? ctx_map64_place(&reader->file_of, (uint64_t)tid) : NULL;

	if (place == NULL) {
		free(path);
		return ctx_err_nomem(err);
	}
	*place = (uint32_t)reader->n_files;
	reader->files[reader->n_files] = (struct ctx_uf_task){.tid = tid, .begins_segment = true};
	reader->files[reader->n_files++].records.stream.path = path;
	return CTX_OK;
}

static enum ctx_status add_perf(struct ctx_uf_reader *reader, char *path, int64_t cpu, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&reader->perfs, &reader->perfs_cap, reader->n_perfs + 1, err);

	if (status != CTX_OK) {
		free(path);
		return status;
	}
	reader->perfs[reader->n_perfs] = (struct ctx_uf_perf){.cpu = (int32_t)cpu};
	reader->perfs[reader->n_perfs++].stream.path = path;
	return CTX_OK;
}

static enum ctx_status add_by_name(struct ctx_uf_reader *reader, const char *name, uint64_t *n_kernel,
				   struct ctx_err *err)
{
	struct stat info;
	int64_t number;
	char *path = ctx_path_join(reader->directory, name);

	if (path == NULL)
		return ctx_err_nomem(err);
	if (stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size != 0) {
		reader->source.info.bytes += (uint64_t)info.st_size;
		if (take_number(name, "", &number) && number != 0)
			return add_file(reader, path, number, err);
		if (take_number(name, "perf-cpu", &number))
			return add_perf(reader, path, number, err);
		*n_kernel += take_number(name, "kernel-cpu", &number);
		reader->source.info.bytes -= (uint64_t)info.st_size;
	}
	free(path);
	return CTX_OK;
}

static enum ctx_status list_files(struct ctx_uf_reader *reader, struct ctx_err *err)
{
	struct dirent **entries;
	int n = scandir(reader->directory, &entries, NULL, alphasort);
	uint64_t n_kernel = 0;
	enum ctx_status status = CTX_OK;

	if (n < 0)
		return errno == ENOMEM ? ctx_err_nomem(err)
				       : ctx_err_errno(err, CTX_E_IO, "%s", reader->directory);
	for (int i = 0; i < n; i++) {
		if (status == CTX_OK)
			status = add_by_name(reader, entries[i]->d_name, &n_kernel, err);
		free(entries[i]);
	}
	free(entries);
	if (status == CTX_OK && n_kernel != 0)
		status = ctx_source_notes_warn(
			&reader->notes, err,
			"the kernel's functions (kernel-cpu*.dat, %llu files) are not read",
			(unsigned long long)n_kernel);
	return status;
}

/* Threads that no line of task.txt has: from the first of their records. */
static enum ctx_status add_unknown_lives(struct ctx_uf_reader *reader, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < reader->n_files && status == CTX_OK; i++) {
		struct ctx_uf_task *task = &reader->files[i];
		struct ctx_uf_record record;

		if (ctx_map64_get(&reader->tasks.life_of_tid, (uint64_t)task->tid) != CTX_MAP64_NONE)
			continue;
		status = ctx_uf_records_next(&task->records, &record, err);
		if (status == CTX_OK)
			status = ctx_uf_tasks_add_unknown(&reader->tasks, task->tid, record.time_ns, err);
		else if (status == CTX_END)
			status = ctx_uf_tasks_add_unknown(&reader->tasks, task->tid, 0, err);
		ctx_uf_records_rewind(&task->records);
		if (status == CTX_OK)
			status = ctx_source_notes_warn(
				&reader->notes, err,
				"task.txt does not have thread %lld: its process is unknown",
				(long long)task->tid);
	}
	return status;
}

static int compare_lives(const void *a, const void *b, void *context)
{
	const struct ctx_uf_life *lives = context;
	const uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;

	if (lives[one].tid != lives[other].tid)
		return lives[one].tid < lives[other].tid ? -1 : 1;
	return one < other ? -1 : one > other; /* a tid's are by time */
}

static enum ctx_status index_lives(struct ctx_uf_reader *reader, struct ctx_err *err)
{
	const struct ctx_uf_tasks *tasks = &reader->tasks;

	reader->lives_by_tid = ctx_calloc(tasks->n_lives + 1, sizeof(*reader->lives_by_tid));
	reader->thread_of = ctx_calloc(tasks->n_lives + 1, sizeof(*reader->thread_of));
	reader->process_of = ctx_calloc(tasks->n_images + 1, sizeof(*reader->process_of));
	if (reader->lives_by_tid == NULL || reader->thread_of == NULL || reader->process_of == NULL)
		return ctx_err_nomem(err);
	memset(reader->thread_of, 0xff, (tasks->n_lives + 1) * sizeof(*reader->thread_of)); /* CTX_NONE */
	memset(reader->process_of, 0xff, (tasks->n_images + 1) * sizeof(*reader->process_of));
	for (size_t i = 0; i < tasks->n_lives; i++)
		reader->lives_by_tid[i] = (uint32_t)i;
	qsort_r(reader->lives_by_tid, tasks->n_lives, sizeof(*reader->lives_by_tid), compare_lives,
		tasks->lives);
	for (size_t i = 0; i < tasks->n_lives; i++) {
		int64_t tid = tasks->lives[reader->lives_by_tid[i]].tid;
		uint32_t *place = ctx_map64_place(&reader->lives_at, (uint64_t)tid);
		uint32_t file = ctx_map64_get(&reader->file_of, (uint64_t)tid);

		if (place == NULL)
			return ctx_err_nomem(err);
		if (*place == CTX_MAP64_NONE)
			*place = (uint32_t)i;
		if (file == CTX_MAP64_NONE)
			continue;
		reader->files[file].lives = &reader->lives_by_tid[*place];
		reader->files[file].n_lives = i - *place + 1;
	}
	return CTX_OK;
}

/* The pass over the data */

struct segment {      /* of a thread */
	uint32_t low; /* calls that were open before it, and still are */
	bool has_low;
};

static enum ctx_status add_hint(struct ctx_uf_task *task, const struct ctx_uf_record *record,
				struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&task->hints, &task->hints_cap, task->n_hints + 1, err);

	if (status == CTX_OK)
		task->hints[task->n_hints++] = (struct ctx_uf_hint){
			.address = record->address, .segment = task->segment, .depth = record->depth};
	return status;
}

static enum ctx_status look(struct ctx_uf_task *task, struct segment *segment,
			    const struct ctx_uf_record *record, struct ctx_err *err)
{
	if (!segment->has_low)
		segment->low = record->depth + (record->type == CTX_UF_EXIT ? 1u : 0u);
	segment->has_low = true;
	if (record->depth >= segment->low)
		return CTX_OK;
	segment->low = record->depth;
	return record->type == CTX_UF_EXIT ? add_hint(task, record, err) : CTX_OK;
}

/* Where the present one begins. */
static void begin_segments(struct ctx_uf_reader *reader, struct ctx_uf_task *task, struct segment *segment,
			   const struct ctx_uf_record *record)
{
	uint32_t before = task->segment;

	if (record->type != CTX_UF_LOST)
		ctx_uf_task_live(reader, task, record->time_ns);
	task->segment += record->type == CTX_UF_LOST || task->n_breaks != task->records.n_breaks;
	task->n_breaks = task->records.n_breaks;
	if (task->segment != before)
		segment->has_low = false;
}

static enum ctx_status tell_damage(struct ctx_uf_reader *reader, const struct ctx_uf_records *records,
				   struct ctx_err *err)
{
	const char *name = ctx_path_base(records->stream.path);
	enum ctx_status status = CTX_OK;

	if (records->n_skipped != 0)
		status = ctx_source_notes_damage(
			&reader->notes, err, "%s: offset %llu: %llu bytes are no records", name,
			(unsigned long long)records->skipped_at, (unsigned long long)records->n_skipped);
	if (status == CTX_OK && records->n_cut != 0)
		status = ctx_source_notes_damage(
			&reader->notes, err, "%s: offset %llu: cut: the last record lacks its end", name,
			(unsigned long long)(ctx_uf_stream_offset(&records->stream) - records->n_cut));
	return status;
}

static void see_time(struct ctx_uf_reader *reader, uint64_t time_ns)
{
	if (time_ns < reader->begin_ns)
		reader->begin_ns = time_ns;
	if (time_ns > reader->end_ns)
		reader->end_ns = time_ns;
}

static enum ctx_status scan_file(struct ctx_uf_reader *reader, struct ctx_uf_task *task, struct ctx_err *err)
{
	struct segment segment = {0};
	struct ctx_uf_record record;
	enum ctx_status status;

	while ((status = ctx_uf_records_next(&task->records, &record, err)) == CTX_OK) {
		begin_segments(reader, task, &segment, &record);
		if (record.type == CTX_UF_LOST)
			continue;
		see_time(reader, record.time_ns);
		ctx_uf_tasks_extend(&reader->tasks, task->lives[task->life], record.time_ns);
		if (record.type != CTX_UF_EVENT)
			status = look(task, &segment, &record, err);
		if (status != CTX_OK)
			return status;
	}
	if (status == CTX_END)
		status = tell_damage(reader, &task->records, err);
	ctx_uf_records_rewind(&task->records);
	task->segment = 0;
	task->n_breaks = 0;
	task->life = 0;
	return status;
}

static enum ctx_status scan_perf(struct ctx_uf_reader *reader, struct ctx_uf_perf *perf, struct ctx_err *err)
{
	struct ctx_uf_stream stream;
	struct ctx_uf_perf_event event;
	enum ctx_status status;

	while ((status = ctx_uf_perf_next(perf, &event, err)) == CTX_OK) {
		uint32_t last = ctx_map64_get(&reader->tasks.life_of_tid, (uint64_t)event.tid);

		if (last == CTX_MAP64_NONE || event.time_ns < reader->tasks.lives[last].begin_ns)
			continue;
		see_time(reader, event.time_ns);
		ctx_uf_tasks_extend(&reader->tasks, last, event.time_ns);
	}
	if (status == CTX_END && perf->is_bad)
		status = ctx_source_notes_damage(&reader->notes, err, "%s: offset %llu: cut, or no record",
						 ctx_path_base(perf->stream.path),
						 (unsigned long long)perf->bad_at);
	ctx_uf_stream_rewind(&perf->stream);
	stream = perf->stream;
	*perf = (struct ctx_uf_perf){.stream = stream, .cpu = perf->cpu};
	return status == CTX_END ? CTX_OK : status;
}

/* Moments */

static enum ctx_status add_moment(struct ctx_uf_reader *reader, enum ctx_uf_moment_kind kind, size_t index,
				  uint64_t time_ns, struct ctx_err *err)
{
	struct ctx_uf_moments *moments = &reader->moments;
	enum ctx_status status = ctx_grow(&moments->items, &moments->cap, moments->n + 1, err);

	see_time(reader, time_ns);
	if (status == CTX_OK)
		moments->items[moments->n++] = (struct ctx_uf_moment){time_ns, (uint32_t)index, kind};
	return status;
}

static int compare_moments(const void *a, const void *b)
{
	const struct ctx_uf_moment *one = a, *other = b;

	if (one->time_ns != other->time_ns)
		return one->time_ns < other->time_ns ? -1 : 1;
	if (one->kind != other->kind)
		return one->kind < other->kind ? -1 : 1;
	return one->index < other->index ? -1 : one->index > other->index;
}

static enum ctx_status make_moments(struct ctx_uf_reader *reader, struct ctx_err *err)
{
	const struct ctx_uf_tasks *tasks = &reader->tasks;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < tasks->n_lives && status == CTX_OK; i++) {
		ctx_uf_tasks_extend(&reader->tasks, (uint32_t)i, tasks->lives[i].begin_ns);
		status = add_moment(reader, CTX_UF_LIFE_BEGINS, i, tasks->lives[i].begin_ns, err);
		if (status == CTX_OK)
			status = add_moment(reader, CTX_UF_LIFE_ENDS, i, tasks->lives[i].end_ns, err);
	}
	for (size_t i = 0; i < tasks->n_images && status == CTX_OK; i++) {
		status = add_moment(reader, CTX_UF_IMAGE_BEGINS, i, tasks->images[i].begin_ns, err);
		if (status == CTX_OK)
			status = add_moment(reader, CTX_UF_IMAGE_ENDS, i, tasks->images[i].end_ns, err);
	}
	for (size_t i = 0; i < tasks->n_libraries && status == CTX_OK; i++)
		status = add_moment(reader, CTX_UF_LIBRARY_OPENS, i, tasks->libraries[i].time_ns, err);
	if (status == CTX_OK && reader->moments.n != 0)
		qsort(reader->moments.items, reader->moments.n, sizeof(*reader->moments.items),
		      compare_moments);
	return status;
}

enum ctx_status ctx_uf_scan(struct ctx_uf_reader *reader, struct ctx_err *err)
{
	enum ctx_status status = ctx_uf_info_read(&reader->info, reader->directory, &reader->notes, err);

	if (status == CTX_OK)
		status = ctx_uf_tasks_read(&reader->tasks, reader->directory, &reader->notes, err);
	if (status == CTX_OK)
		status = ctx_uf_symbols_read(&reader->symbols, reader->directory, &reader->tasks,
					     &reader->notes, err);
	if (status == CTX_OK)
		status = list_files(reader, err);
	if (status == CTX_OK)
		status = add_unknown_lives(reader, err);
	if (status == CTX_OK)
		status = index_lives(reader, err);
	reader->begin_ns = UINT64_MAX;
	for (size_t i = 0; i < reader->n_files && status == CTX_OK; i++)
		status = scan_file(reader, &reader->files[i], err);
	for (size_t i = 0; i < reader->n_perfs && status == CTX_OK; i++)
		status = scan_perf(reader, &reader->perfs[i], err);
	if (status == CTX_OK)
		status = make_moments(reader, err);
	if (status == CTX_OK && reader->n_files == 0)
		status = ctx_err_set(err, CTX_E_FORMAT, "contains no records of calls (TID.dat)");
	return status;
}
