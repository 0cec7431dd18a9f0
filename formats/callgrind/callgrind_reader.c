/*
 *	line --callgrind_lines--> name, costs --here--> function and line --> named (functions, samples) --> events
 */
#include "formats/callgrind/callgrind_reader.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "formats/callgrind/callgrind_lines.h"
#include "formats/named/named.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROBE_LINES 32
#define LINE_MAX_BYTES ((size_t)1 << 20)
#define DAMAGE_MAX 64u /* lines that are named; more are counted */
#define COST_MAX (UINT64_C(1) << 56)

/* Texts by their numbers in the file: of objects, of files, of functions. */
struct texts {
	struct ctx_map64 of; /* number -> id of the text among the reader's */
};

struct reader {
	struct ctx_named named; /* first */
	struct ctx_strtab texts;
	struct texts objects, files, functions;
	FILE *file;
	const char *name;
	char *line; /* owned */
	size_t cap;
	uint64_t number, n_bytes_read, n_damaged;
	size_t n_positions;
	bool has_lines; /* the last position is a line of the source */
	uint32_t n_events;
	uint32_t metrics[CTX_CG_EVENTS_MAX];
	struct ctx_cg_costs costs;
	uint32_t object, own_file, at_file, function; /* ids of texts; CTX_NONE: none yet */
	bool is_call;				      /* the next costs are those of a call */
};

static void destroy(struct ctx_named *named)
{
	struct reader *reader = (struct reader *)named;

	if (reader->file != NULL)
		fclose(reader->file);
	ctx_named_deinit(named);
	ctx_map64_deinit(&reader->objects.of);
	ctx_map64_deinit(&reader->files.of);
	ctx_map64_deinit(&reader->functions.of);
	ctx_strtab_deinit(&reader->texts);
	free(reader->line);
	free(reader);
}

bool ctx_callgrind_is(const char *path)
{
	FILE *file = ctx_file_open_plain_stream(path);
	char line[256];
	bool has_version = false, is = false;

	for (int i = 0; file != NULL && i < PROBE_LINES && !is && fgets(line, sizeof(line), file) != NULL;
	     i++) {
		const char *creator = ctx_cg_value(line, "creator:");

		is = ctx_cg_value(line, "# callgrind format") != NULL ||
		     (creator != NULL && strncmp(creator, "callgrind", 9) == 0) ||
		     (has_version && ctx_cg_value(line, "events:") != NULL);
		has_version |= ctx_cg_value(line, "version:") != NULL;
	}
	if (file != NULL)
		fclose(file);
	return is;
}

/* ---- lines ---- */

/* The next line, zero-terminated, without its end. CTX_END; CTX_E_IO; CTX_E_LIMIT; CTX_E_NOMEM. */
static enum ctx_status next_line(struct reader *reader, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	size_t n = 0;
	int c = 0;

	while (status == CTX_OK && c != '\n' && (c = getc_unlocked(reader->file)) != EOF) {
		if (n == LINE_MAX_BYTES)
			return ctx_err_set(err, CTX_E_LIMIT, "%s: line %llu is longer than a mebibyte",
					   reader->name, (unsigned long long)reader->number + 1);
		status = ctx_grow(&reader->line, &reader->cap, n + 2, err);
		if (status == CTX_OK)
			reader->line[n++] = (char)c;
	}
	if (status != CTX_OK)
		return status;
	if (ferror(reader->file))
		return ctx_err_errno(err, CTX_E_IO, "%s", reader->name);
	if (n == 0)
		return CTX_END;
	reader->number++;
	reader->n_bytes_read += n;
	while (n > 0 && (reader->line[n - 1] == '\n' || reader->line[n - 1] == '\r'))
		n--;
	reader->line[n] = '\0';
	return CTX_OK;
}

static enum ctx_status damage(struct reader *reader, const char *what, struct ctx_err *err)
{
	if (++reader->n_damaged > DAMAGE_MAX)
		return CTX_OK;
	return ctx_named_damage(&reader->named, err, "line %llu: %s", (unsigned long long)reader->number,
				what);
}

/* The text of a name; a number without one has that of before. */
static enum ctx_status set_name(struct reader *reader, struct texts *texts, const char *value, uint32_t *ret,
				struct ctx_err *err)
{
	struct ctx_cg_name name;
	uint32_t *place;
	enum ctx_status status = CTX_OK;

	if (!ctx_cg_name_parse(value, &name))
		return damage(reader, "a number of a name that cannot be", err);
	if (!name.has_number || name.text[0] != '\0')
		status = ctx_strtab_add_text(&reader->texts, name.text, ret, err);
	if (status != CTX_OK || !name.has_number)
		return status;
	if (name.text[0] == '\0') {
		*ret = ctx_map64_get(&texts->of, name.number);
		return *ret != CTX_MAP64_NONE ? CTX_OK : damage(reader, "a number that has no name", err);
	}
	place = ctx_map64_place(&texts->of, name.number);
	if (place == NULL)
		return ctx_err_nomem(err);
	*place = *ret;
	return CTX_OK;
}

/* Lines that name something. `*ret_taken`: it was one. Those of callees keep what their numbers stand for. */
static enum ctx_status take_name(struct reader *reader, bool *ret_taken, struct ctx_err *err)
{
	uint32_t ignored = CTX_NONE;
	const struct {
		const char *key;
		struct texts *texts;
		uint32_t *to;
	} names[] = {
		{"ob=", &reader->objects, &reader->object},
		{"fl=", &reader->files, &reader->own_file},
		{"fi=", &reader->files, &reader->at_file},
		{"fe=", &reader->files, &reader->at_file},
		{"fn=", &reader->functions, &reader->function},
		{"cob=", &reader->objects, &ignored},
		{"cfi=", &reader->files, &ignored},
		{"cfl=", &reader->files, &ignored},
		{"cfn=", &reader->functions, &ignored},
		{"jfi=", &reader->files, &ignored},
		{"jfn=", &reader->functions, &ignored},
	};

	*ret_taken = true;
	for (size_t i = 0; i < CTX_COUNT_OF(names); i++) {
		const char *value = ctx_cg_value(reader->line, names[i].key);
		enum ctx_status status;

		if (value == NULL)
			continue;
		status = set_name(reader, names[i].texts, value, names[i].to, err);
		if (names[i].to == &reader->own_file)
			reader->at_file = reader->own_file;
		return status;
	}
	*ret_taken = false;
	return CTX_OK;
}

/* "": not known. */
static const char *text_of(const struct reader *reader, uint32_t id)
{
	const char *text = id != CTX_NONE ? ctx_strtab_get(&reader->texts, id) : "";

	return strcmp(text, "???") != 0 ? text : "";
}

/* ---- costs ---- */

/* Code of another file is inlined: its lines are none of the function's file. */
static enum ctx_status frame_of(struct reader *reader, uint64_t *ret, struct ctx_err *err)
{
	const char *name = text_of(reader, reader->function), *object = text_of(reader, reader->object);
	const char *file = text_of(reader, reader->own_file);
	uint64_t line = reader->has_lines ? reader->costs.positions[reader->n_positions - 1] : 0;
	struct ctx_named_function function = {.name = name[0] != '\0' ? name : "<Unknown>",
					      .module = object,
					      .file = file[0] != '\0' ? file : NULL};

	function.n_name = strlen(function.name);
	function.n_module = strlen(function.module);
	if (function.file == NULL || reader->at_file != reader->own_file || line > UINT32_MAX)
		line = 0;
	return ctx_named_frame(&reader->named, &function, (uint32_t)line, ret, err);
}

static enum ctx_status put_costs(struct reader *reader, struct ctx_err *err)
{
	static const struct ctx_named_thread thread = {
		.pid = 1, .tid = 1, .process_name = "callgrind.out", .thread_name = "all"};
	uint64_t frame;
	enum ctx_status status = frame_of(reader, &frame, err);

	for (uint32_t i = 0; i < reader->costs.n && i < reader->n_events && status == CTX_OK; i++) {
		struct ctx_event event = {.sample = {.cpu = -1}};

		if (reader->costs.costs[i] == 0)
			continue;
		if (reader->costs.costs[i] > COST_MAX)
			return damage(reader, "a cost that cannot be", err);
		event.sample.metric = reader->metrics[i];
		event.sample.weight = reader->costs.costs[i];
		status = ctx_named_thread(&reader->named, &thread, &event, err);
		if (status == CTX_OK)
			status = ctx_named_sample(&reader->named, &event, &frame, 1, err);
	}
	return status;
}

static bool is_header(const char *line)
{
	size_t n = strspn(line, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");

	return n != 0 && line[n] == ':';
}

static enum ctx_status take_line(struct reader *reader, struct ctx_err *err)
{
	const char *line = reader->line;
	bool taken;
	enum ctx_status status = take_name(reader, &taken, err);

	if (status != CTX_OK || taken || line[0] == '\0' || line[0] == '#' || is_header(line))
		return status;
	if (ctx_cg_value(line, "calls=") != NULL) {
		reader->is_call = true;
		return CTX_OK;
	}
	if (ctx_cg_value(line, "jump=") != NULL || ctx_cg_value(line, "jcnd=") != NULL)
		return CTX_OK;
	if (!ctx_cg_costs_parse(line, reader->n_positions, &reader->costs))
		return damage(reader, "neither a name nor costs", err);
	if (reader->is_call || reader->function == CTX_NONE) {
		reader->is_call = false;
		return CTX_OK;
	}
	return put_costs(reader, err);
}

static enum ctx_status read_on(struct ctx_named *named, struct ctx_err *err)
{
	struct reader *reader = (struct reader *)named;
	size_t before = named->n;
	enum ctx_status status = CTX_OK;

	while (status == CTX_OK && named->n == before) {
		status = next_line(reader, err);
		if (status == CTX_OK)
			status = take_line(reader, err);
	}
	if (status != CTX_END)
		return status;
	named->source.info.no_call_stacks = true;
	if (reader->n_damaged > DAMAGE_MAX)
		status = ctx_named_warn(named, err, "%llu further lines cannot be read",
					(unsigned long long)(reader->n_damaged - DAMAGE_MAX));
	reader->n_damaged = 0;
	return status == CTX_OK ? CTX_END : status;
}

static uint64_t progress(const struct ctx_event_source *source)
{
	const struct reader *reader = source->impl;

	return reader->n_bytes_read;
}

/* ---- header ---- */

static enum ctx_status add_events(struct reader *reader, const char *value, struct ctx_err *err)
{
	char *list CTX_AUTO_FREE = strdup(value), *rest = NULL;

	if (list == NULL)
		return ctx_err_nomem(err);
	for (char *word = strtok_r(list, " \t", &rest); word != NULL; word = strtok_r(NULL, " \t", &rest)) {
		enum ctx_status status;

		if (reader->n_events == CTX_CG_EVENTS_MAX)
			return ctx_err_set(err, CTX_E_LIMIT, "%s: more than %u events", reader->name,
					   CTX_CG_EVENTS_MAX);
		status = ctx_named_metric(&reader->named, word, CTX_UNIT_EVENTS,
					  &reader->metrics[reader->n_events++], err);
		if (status != CTX_OK)
			return status;
	}
	return CTX_OK;
}

/* Up to the first name: events, positions, what ran. The costs are read from the beginning. */
static enum ctx_status read_header(struct reader *reader, struct ctx_err *err)
{
	const char *value;
	enum ctx_status status = CTX_OK;

	reader->n_positions = 1;
	reader->has_lines = true;
	while (status == CTX_OK && (status = next_line(reader, err)) == CTX_OK) {
		if (ctx_cg_value(reader->line, "fn=") != NULL)
			break;
		if ((value = ctx_cg_value(reader->line, "events:")) != NULL && reader->n_events == 0) {
			status = add_events(reader, value, err);
		} else if ((value = ctx_cg_value(reader->line, "positions:")) != NULL) {
			reader->has_lines = strstr(value, "line") != NULL;
			reader->n_positions = reader->has_lines && strstr(value, "instr") != NULL ? 2 : 1;
		} else if ((value = ctx_cg_value(reader->line, "cmd:")) != NULL) {
			status = ctx_named_property(&reader->named, "command", value, err);
		} else if ((value = ctx_cg_value(reader->line, "creator:")) != NULL) {
			status = ctx_named_property(&reader->named, "collector", value, err);
		}
	}
	if (status != CTX_OK && status != CTX_END)
		return status;
	if (reader->n_events == 0)
		return ctx_err_set(err, CTX_E_FORMAT, "%s: callgrind's format without events", reader->name);
	rewind(reader->file);
	reader->number = reader->n_bytes_read = 0;
	return CTX_OK;
}

enum ctx_status ctx_callgrind_open(const char *path, struct ctx_event_source **ret, struct ctx_err *err)
{
	struct reader *reader = ctx_calloc(1, sizeof(*reader));
	enum ctx_status status;

	if (reader == NULL)
		return ctx_err_nomem(err);
	reader->named.read = read_on;
	reader->named.destroy = destroy;
	reader->named.source.progress = progress;
	ctx_named_init(&reader->named);
	reader->name = ctx_path_base(path);
	reader->object = reader->own_file = reader->at_file = reader->function = CTX_NONE;
	reader->file = ctx_file_open_plain_stream(path);
	status = reader->file != NULL
			 ? read_header(reader, err)
			 : ctx_err_errno(err, errno == ENOENT ? CTX_E_NOTFOUND : CTX_E_IO, "%s", path);
	if (status == CTX_OK)
		status = ctx_named_warn(&reader->named, err,
					"callgrind's format has sums by function and call, no call stacks: "
					"own costs are shown, callers are unknown (no times: all is at 0)");
	if (status != CTX_OK) {
		destroy(&reader->named);
		return status;
	}
	reader->named.source.info.name = reader->name;
	reader->named.source.info.format = "callgrind";
	reader->named.source.info.duration_ns = 1;
	*ret = &reader->named.source;
	return CTX_OK;
}
