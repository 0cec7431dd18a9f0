/*
 *	lines --> dialect --> records, in order of time (ct_parts.c) --> threads with their open calls (ct_threads.c) --> events
 */
#include "formats/calltrace/calltrace.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "formats/calltrace/ct_parts.h"
#include "formats/calltrace/ct_threads.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD_BYTES 8192u
#define SHOWN_BYTES 60 /* of a bad line, in its message */

/* The kernel's text can look like trace-cmd's, and strace's lines like ours: ours are tried last. */
static const struct ctx_ct_dialect *const dialects[] = {&ctx_ct_uftrace, &ctx_ct_ftrace, &ctx_ct_trace_cmd,
							&ctx_ct_strace, &ctx_ct_own};

enum stage { STAGE_PROCESS, STAGE_LINES, STAGE_WARNINGS, STAGE_END };

struct reader {
	struct ctx_event_source source;
	int fd;
	char *path; /* owned */
	struct ctx_ct_parts parts;
	struct ctx_ct_threads threads;
	struct ctx_ct_contents contents; /* its counters are threads.counters */
	const struct ctx_ct_record *last;
	struct ctx_property properties[1];
	struct ctx_source_metric samples;
	struct ctx_source_metric *counters; /* owned */
	enum stage stage;
	char **damage; /* owned: messages */
	size_t damage_at, n_damage, damage_cap;
	char warning[256];
};

/* The dialect of a text that begins so. NULL: none. */
static const struct ctx_ct_dialect *dialect_of(int fd, const char *path)
{
	struct ctx_file_place place = {fd, path, 0};
	char bytes[HEAD_BYTES];
	struct ctx_ct_text head = {bytes, 0};
	enum ctx_status status = ctx_file_pread(&place, bytes, sizeof(bytes), &head.n, NULL);

	if (status == CTX_OK) { /* whole lines alone */
		head.n = sizeof(bytes);
		while (head.n != 0 && bytes[head.n - 1] != '\n')
			head.n--;
	} else if (status != CTX_END) {
		return NULL;
	}
	for (size_t i = 0; i < head.n; i++) {
		if (bytes[i] == '\0')
			return NULL;
	}
	for (size_t i = 0; i < CTX_COUNT_OF(dialects); i++) {
		if (dialects[i]->is(head))
			return dialects[i];
	}
	return NULL;
}

bool ctx_calltrace_is(const char *path)
{
	struct stat info;
	int fd CTX_AUTO_CLOSE =
		stat(path, &info) == 0 && S_ISREG(info.st_mode) ? open(path, O_RDONLY | O_CLOEXEC) : -1;

	return fd >= 0 && dialect_of(fd, path) != NULL;
}

/* --- lines that cannot be read --- */

static bool keep_bad_line(void *context, const struct ctx_ct_line *line, const char *why)
{
	struct reader *reader = context;
	int n = line->n < SHOWN_BYTES ? (int)line->n : SHOWN_BYTES;

	if (ctx_grow(&reader->damage, &reader->damage_cap, reader->n_damage + 1, NULL) != CTX_OK)
		return false;
	if (asprintf(&reader->damage[reader->n_damage], "%s: line %llu: %s: '%.*s%s'",
		     ctx_path_base(reader->path), (unsigned long long)line->number, why, n, line->text,
		     line->n > SHOWN_BYTES ? "..." : "") < 0)
		return false;
	reader->n_damage++;
	return true;
}

static void forget_damage(struct reader *reader)
{
	for (size_t i = 0; i < reader->n_damage; i++)
		free(reader->damage[i]);
	reader->n_damage = reader->damage_at = 0;
}

/* --- events --- */

static void process_event(const struct reader *reader, struct ctx_event *ret)
{
	*ret = (struct ctx_event){.kind = CTX_EV_PROCESS_START};
	ret->process_start.pid = 0;
	ret->process_start.parent = CTX_NONE;
	ret->process_start.command = ctx_path_base(reader->path);
	ret->process_start.lineage = "";
}

/* Makes events of the next record, or of the end. */
static enum ctx_status read_more(struct reader *reader, struct ctx_err *err)
{
	const struct ctx_ct_bad_lines bad = {reader, keep_bad_line};
	struct ctx_ct_threads *threads = &reader->threads;
	struct ctx_ct_record record;
	enum ctx_status status;

	threads->at = threads->n_events = 0;
	forget_damage(reader);
	status = ctx_ct_parts_next(&reader->parts, &bad, &reader->last, err);
	if (status == CTX_END) {
		reader->stage = STAGE_WARNINGS;
		return ctx_ct_threads_go_on(threads, UINT64_MAX, err);
	}
	if (status != CTX_OK)
		return status;
	record = *reader->last;
	record.time_ns -= reader->contents.begin_ns;
	return ctx_ct_threads_add(threads, &record, err);
}

static bool warn(struct reader *reader, struct ctx_event *ret)
{
	const struct ctx_ct_threads *threads = &reader->threads;
	uint64_t open = ctx_ct_threads_count_open(threads);

	reader->stage = STAGE_END;
	if (threads->unmatched == 0 && threads->mended == 0)
		return false;
	snprintf(reader->warning, sizeof(reader->warning),
		 "of %llu ends of calls the begin is missing: left out; of %llu calls the end is missing: "
		 "they end "
		 "with their caller; %llu were open at the end",
		 (unsigned long long)threads->unmatched, (unsigned long long)threads->mended,
		 (unsigned long long)open);
	*ret = (struct ctx_event){.kind = CTX_EV_WARNING,
				  .time_ns = reader->contents.end_ns - reader->contents.begin_ns};
	ret->text = reader->warning;
	return true;
}

static enum ctx_status next(struct ctx_event_source *source, struct ctx_event *ret, struct ctx_err *err)
{
	struct reader *reader = source->impl;
	struct ctx_ct_threads *threads = &reader->threads;

	if (reader->stage == STAGE_PROCESS) {
		reader->stage = STAGE_LINES;
		process_event(reader, ret);
		return CTX_OK;
	}
	for (;;) {
		enum ctx_status status;

		if (reader->damage_at < reader->n_damage) {
			*ret = (struct ctx_event){.kind = CTX_EV_DAMAGE};
			ret->text = reader->damage[reader->damage_at++];
			return CTX_OK;
		}
		if (threads->at < threads->n_events) {
			*ret = threads->events[threads->at++];
			return CTX_OK;
		}
		if (reader->stage == STAGE_WARNINGS && warn(reader, ret))
			return CTX_OK;
		if (reader->stage == STAGE_END)
			return CTX_END;
		status = read_more(reader, err);
		if (status != CTX_OK)
			return status;
	}
}

static uint64_t progress(const struct ctx_event_source *source)
{
	const struct reader *reader = source->impl;

	return ctx_ct_parts_progress(&reader->parts);
}

/* --- opening and closing --- */

static void close_reader(struct ctx_event_source *source)
{
	struct reader *reader = source->impl;

	ctx_ct_parts_deinit(&reader->parts);
	ctx_ct_threads_deinit(&reader->threads);
	forget_damage(reader);
	free(reader->damage);
	free(reader->counters);
	free(reader->path);
	if (reader->fd >= 0)
		close(reader->fd);
	free(reader);
}

static enum ctx_status fill_info(struct reader *reader, uint64_t size, struct ctx_err *err)
{
	const struct ctx_ct_contents *contents = &reader->contents;
	const struct ctx_strtab *words = &reader->threads.counters;

	reader->counters = ctx_calloc(words->n, sizeof(*reader->counters));
	if (reader->counters == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < words->n; i++)
		reader->counters[i] = (struct ctx_source_metric){
			.name = ctx_strtab_get(words, i), .kind = CTX_METRIC_EVENTS, .unit = CTX_UNIT_EVENTS};
	reader->samples = (struct ctx_source_metric){
		.name = "samples", .kind = CTX_METRIC_EVENTS, .unit = CTX_UNIT_EVENTS};
	reader->properties[0] = (struct ctx_property){"format", reader->parts.dialect->format};
	reader->threads.has_states = contents->changes != 0;
	reader->threads.module = reader->parts.dialect->object != NULL ? reader->parts.dialect->object
								       : ctx_path_base(reader->path);
	reader->source.info =
		(struct ctx_source_info){.name = ctx_path_base(reader->path),
					 .format = reader->parts.dialect->format,
					 .duration_ns = contents->end_ns - contents->begin_ns + 1,
					 .closed = true,
					 .notes = "",
					 .kallsyms = "",
					 .fallback_root = "",
					 .properties = reader->properties,
					 .n_properties = 1,
					 .metrics = &reader->samples,
					 .n_metrics = contents->samples != 0,
					 .has_states = contents->changes != 0,
					 .has_calls = true,
					 .call_counters = reader->counters,
					 .n_call_counters = (uint32_t)words->n,
					 .bytes = size};
	return CTX_OK;
}

static enum ctx_status begin(struct reader *reader, struct ctx_err *err)
{
	const struct ctx_ct_bad_lines bad = {reader, keep_bad_line};
	struct stat info;
	enum ctx_status status;

	if (reader->fd < 0 || fstat(reader->fd, &info) != 0)
		return ctx_err_errno(err, CTX_E_IO, "%s", reader->path);
	reader->parts = (struct ctx_ct_parts){
		.dialect = dialect_of(reader->fd, reader->path), .fd = reader->fd, .name = reader->path};
	if (reader->parts.dialect == NULL)
		return ctx_err_set(err, CTX_E_FORMAT, "%s: no text of calls that is known", reader->path);
	status = ctx_ct_parts_find(&reader->parts, (uint64_t)info.st_size, err);
	if (status == CTX_OK) {
		status = ctx_ct_parts_measure(&reader->parts, &reader->contents, err);
		reader->threads.counters = reader->contents.counters;
	}
	if (status == CTX_OK && reader->contents.begin_ns > reader->contents.end_ns)
		return ctx_err_set(err, CTX_E_FORMAT, "%s: %s without a line of a call", reader->path,
				   reader->parts.dialect->format);
	if (status == CTX_OK)
		status = fill_info(reader, (uint64_t)info.st_size, err);
	return status == CTX_OK ? ctx_ct_parts_begin(&reader->parts, &bad, err) : status;
}

enum ctx_status ctx_calltrace_open(const char *path, struct ctx_event_source **ret, struct ctx_err *err)
{
	struct reader *reader = ctx_calloc(1, sizeof(*reader));
	enum ctx_status status;

	if (reader == NULL)
		return ctx_err_nomem(err);
	reader->source = (struct ctx_event_source){
		.impl = reader, .next = next, .progress = progress, .close = close_reader};
	reader->fd = open(path, O_RDONLY | O_CLOEXEC);
	reader->path = ctx_memdup0(path, __builtin_strlen(path));
	status = reader->path != NULL ? begin(reader, err) : ctx_err_nomem(err);
	if (status != CTX_OK) {
		close_reader(&reader->source);
		return status;
	}
	*ret = &reader->source;
	return CTX_OK;
}
