#include "formats/traceevent/traceevent.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "formats/traceevent/te_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#define BEGIN_BYTES ((size_t)64 << 10) /* in which the format is recognised */

/* Recognition */

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Is it the begin of a trace? `text` is zero-terminated. */
static bool is_begin(const char *text)
{
	if (strncmp(text, "\xef\xbb\xbf", 3) == 0)
		text += 3;
	while (is_space(*text))
		text++;
	if (*text == '{')
		return strstr(text, "\"traceEvents\"") != NULL;
	if (*text != '[')
		return false;
	do
		text++;
	while (is_space(*text));
	return *text == ']' || (*text == '{' && strstr(text, "\"ph\"") != NULL);
}

bool ctx_traceevent_is(const char *path)
{
	struct stat info;
	char *text CTX_AUTO_FREE = NULL;
	gzFile file;
	int got;

	if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
		return false;
	text = malloc(BEGIN_BYTES + 1);
	file = text != NULL ? gzopen(path, "rbe") : NULL;
	if (file == NULL)
		return false;
	got = gzread(file, text, (unsigned)BEGIN_BYTES);
	gzclose(file);
	text[got > 0 ? got : 0] = '\0';
	return is_begin(text);
}

/* The source */

static enum ctx_status next_event(struct ctx_event_source *source, struct ctx_event *ret, struct ctx_err *err)
{
	return ctx_te_play_next(source->impl, ret, err);
}

static uint64_t progress(const struct ctx_event_source *source)
{
	return ((const struct ctx_te_reader *)source->impl)->n_played;
}

static void close_reader(struct ctx_event_source *source)
{
	struct ctx_te_reader *reader = source->impl;

	ctx_te_model_deinit(&reader->model);
	ctx_te_sort_deinit(&reader->sort);
	ctx_source_notes_deinit(&reader->notes);
	ctx_map64_deinit(&reader->lane_of);
	free(reader->due);
	free(reader->later.items);
	free(reader);
}

static void fill_info(struct ctx_te_reader *reader)
{
	struct ctx_source_info *info = &reader->source.info;

	info->name = reader->file_name;
	info->format = "trace events (JSON)";
	info->duration_ns = (uint64_t)(reader->end_ns - reader->begin_ns) + 1;
	info->closed = true;
	info->notes = info->kallsyms = info->fallback_root = "";
	info->kernel = (struct ctx_source_kernel){.build_id = "", .release = "", .symbol = ""};
	info->properties = reader->notes.properties;
	info->n_properties = reader->notes.n_properties;
	info->has_calls = true;
	info->bytes = reader->n_records; /* progress counts them */
	if (reader->has_cpu) {
		reader->cpu_counter = (struct ctx_source_metric){
			.name = "Thread CPU Time", .word = "threadcpu", .unit = CTX_UNIT_NS};
		info->call_counters = &reader->cpu_counter;
		info->n_call_counters = 1;
	}
}

static enum ctx_status read_file(struct ctx_te_reader *reader, const char *path, struct ctx_err *err)
{
	struct ctx_te_parse *parse CTX_AUTO_FREE = ctx_calloc(1, sizeof(*parse));
	char number[32];
	enum ctx_status status;

	reader->file_name = ctx_arena_strdup(&reader->notes.arena, ctx_path_base(path));
	if (parse == NULL || reader->file_name == NULL)
		return ctx_err_nomem(err);
	parse->names = &reader->model.names;
	parse->notes = &reader->notes;
	parse->take = ctx_te_collect;
	parse->context = reader;
	reader->begin_ns = INT64_MAX;
	reader->end_ns = INT64_MIN;
	status = ctx_te_parse_file(parse, path, err);
	if (status != CTX_OK)
		return status;
	if (reader->n_records == 0)
		return ctx_err_set(err, CTX_E_FORMAT, "%s: has no events with a time", path);
	snprintf(number, sizeof(number), "%llu", (unsigned long long)parse->n_events);
	return ctx_source_notes_property(&reader->notes, "events", number, err);
}

enum ctx_status ctx_traceevent_open(const char *path, struct ctx_event_source **ret, struct ctx_err *err)
{
	struct ctx_te_reader *reader = ctx_calloc(1, sizeof(*reader));
	enum ctx_status status;

	if (reader == NULL)
		return ctx_err_nomem(err);
	reader->source = (struct ctx_event_source){
		.impl = reader, .next = next_event, .progress = progress, .close = close_reader};
	status = read_file(reader, path, err);
	if (status == CTX_OK)
		status = ctx_te_play_begin(reader, err);
	if (status != CTX_OK) {
		close_reader(&reader->source);
		return status;
	}
	fill_info(reader);
	*ret = &reader->source;
	return CTX_OK;
}
