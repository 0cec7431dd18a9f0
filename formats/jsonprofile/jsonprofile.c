#include "formats/jsonprofile/jsonprofile.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "formats/jsonprofile/jp_forms.h"
#include "formats/named/named.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PROBE_BYTES ((size_t)256 << 20) /* of a file are searched for its members */

struct reader {
	struct ctx_named named; /* first */
	yajl_val root;
	struct ctx_jp_model model;
	size_t at; /* next sample */
	uint32_t *
		function_of; /* owned; of the model's functions the source's numbers, CTX_NONE: not used yet */
	uint64_t *frames;    /* owned */
	size_t frames_cap;
	bool ended;
};

typedef enum ctx_status form_fn(yajl_val root, struct ctx_jp_model *model, struct ctx_err *err);

/* Both forms have the same members; which it is shows their tables. */
static enum ctx_status read_firefox(yajl_val root, struct ctx_jp_model *model, struct ctx_err *err)
{
	return ctx_jp_is_gecko(root) ? ctx_jp_gecko(root, model, err) : ctx_jp_firefox(root, model, err);
}

/* Members, by which a form is known: all of them. */
static const struct form {
	const char *members[3];
	form_fn *read;
} forms[] = {
	{{"\"ProfileChunk\"", "\"cpuProfile\"", "\"ph\""}, ctx_jp_devtools},
	{{"\"$schema\"", "speedscope.app/file-format-schema.json", NULL}, ctx_jp_speedscope},
	{{"\"timeDeltas\"", "\"callFrame\"", NULL}, ctx_jp_cpuprofile},
	{{"\"head\"", "\"timestamps\"", NULL}, ctx_jp_cpuprofile},
	{{"\"stackTable\"", "\"frameTable\"", "\"threads\""}, read_firefox},
};

static void destroy(struct ctx_named *named)
{
	struct reader *reader = (struct reader *)named;

	ctx_named_deinit(named);
	ctx_jp_model_deinit(&reader->model);
	yajl_tree_free(reader->root);
	free(reader->function_of);
	free(reader->frames);
	free(reader);
}

/* A file's first bytes, mapped. NULL: it does not begin as an object or a list of JSON. */
static const char *map_probe(const char *path, size_t *ret_n)
{
	uint64_t size = 0;
	int fd CTX_AUTO_CLOSE = ctx_file_open_plain(path, &size);
	size_t at = 0;
	char *bytes;

	if (fd < 0 || size == 0)
		return NULL;
	*ret_n = size < PROBE_BYTES ? (size_t)size : PROBE_BYTES;
	bytes = mmap(NULL, *ret_n, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return NULL;
	while (at < *ret_n && strchr(" \n\r\t", bytes[at]) != NULL && bytes[at] != '\0')
		at++;
	if (at < *ret_n && (bytes[at] == '{' || bytes[at] == '['))
		return bytes;
	munmap(bytes, *ret_n);
	return NULL;
}

static bool has_all(const struct form *form, const char *bytes, size_t n)
{
	for (size_t i = 0; i < CTX_COUNT_OF(form->members) && form->members[i] != NULL; i++) {
		if (memmem(bytes, n, form->members[i], strlen(form->members[i])) == NULL)
			return false;
	}
	return true;
}

/* The first of `n` forms that it has. */
static const struct form *form_among(const char *path, size_t n_forms)
{
	const struct form *found = NULL;
	size_t n;
	const char *bytes = map_probe(path, &n);

	if (bytes == NULL)
		return NULL;
	for (size_t i = 0; i < n_forms && found == NULL; i++)
		found = has_all(&forms[i], bytes, n) ? &forms[i] : NULL;
	munmap((void *)(uintptr_t)bytes, n);
	return found;
}

static const struct form *form_of(const char *path)
{
	return form_among(path, CTX_COUNT_OF(forms));
}

bool ctx_jsonprofile_is_in_trace(const char *path)
{
	return form_among(path, 1) != NULL;
}

bool ctx_jsonprofile_is(const char *path)
{
	return form_of(path) != NULL;
}

/* Announces a function of the model at its first use. */
static enum ctx_status use_function(struct reader *reader, uint32_t number, struct ctx_err *err)
{
	const struct ctx_jp_function *function = &reader->model.functions[number];
	struct ctx_named_function named = {.name = function->name,
					   .n_name = strlen(function->name),
					   .module = function->module,
					   .n_module = strlen(function->module),
					   .file = function->file[0] != '\0' ? function->file : NULL,
					   .line = function->line};

	if (reader->function_of[number] != CTX_NONE)
		return CTX_OK;
	return ctx_named_function(&reader->named, &named, &reader->function_of[number], err);
}

/* The frames of a node, leaf first; no more than are needed. */
static enum ctx_status frames_of(struct reader *reader, uint32_t node, uint32_t *ret_n, struct ctx_err *err)
{
	const struct ctx_jp_model *model = &reader->model;
	enum ctx_status status = CTX_OK;

	for (*ret_n = 0; node != CTX_JP_ROOT && *ret_n <= CTX_NAMED_FRAMES_MAX && status == CTX_OK;
	     node = model->nodes[node].parent) {
		uint32_t function = model->nodes[node].function, line = model->nodes[node].line;

		status = ctx_grow(&reader->frames, &reader->frames_cap, *ret_n + 1, err);
		if (status == CTX_OK)
			status = use_function(reader, function, err);
		if (status == CTX_OK)
			reader->frames[(*ret_n)++] =
				ctx_frame_named(reader->function_of[function],
						model->functions[function].file[0] != '\0' ? line : 0);
	}
	return status;
}

static enum ctx_status put_sample(struct reader *reader, const struct ctx_jp_sample *sample,
				  struct ctx_err *err)
{
	const struct ctx_jp_thread *thread = &reader->model.threads[sample->thread];
	struct ctx_named_thread named = {.time_ns = sample->time_ns,
					 .pid = thread->pid,
					 .tid = thread->tid,
					 .process_name = thread->process,
					 .thread_name = thread->name};
	struct ctx_event event = {.time_ns = sample->time_ns,
				  .sample = {.weight = sample->weight, .metric = sample->metric, .cpu = -1}};
	uint32_t n;
	enum ctx_status status = ctx_named_thread(&reader->named, &named, &event, err);

	if (status == CTX_OK)
		status = frames_of(reader, sample->node, &n, err);
	return status == CTX_OK ? ctx_named_sample(&reader->named, &event, reader->frames, n, err) : status;
}

static enum ctx_status read_on(struct ctx_named *named, struct ctx_err *err)
{
	struct reader *reader = (struct reader *)named;

	if (reader->at < reader->model.n_samples)
		return put_sample(reader, &reader->model.samples[reader->at++], err);
	if (reader->ended || reader->model.n_damaged == 0)
		return CTX_END;
	reader->ended = true;
	return ctx_named_damage(named, err,
				"%llu entries refer to nothing, or have no time or weight that can be",
				(unsigned long long)reader->model.n_damaged);
}

static uint64_t progress(const struct ctx_event_source *source)
{
	const struct reader *reader = source->impl;

	return reader->at;
}

static enum ctx_status fill(struct reader *reader, const struct form *form, struct ctx_err *err)
{
	struct ctx_source_info *info = &reader->named.source.info;
	struct ctx_jp_model *model = &reader->model;
	enum ctx_status status = form->read(reader->root, model, err);

	for (uint32_t i = 0; i < model->n_metrics && status == CTX_OK; i++) {
		uint32_t id;

		status = ctx_named_metric(&reader->named, model->metrics[i].name, model->metrics[i].unit, &id,
					  err);
		if (status == CTX_OK)
			info->metrics[id].kind = model->metrics[i].kind;
	}
	if (status == CTX_OK && model->exporter != NULL && model->exporter[0] != '\0')
		status = ctx_named_property(&reader->named, "collector", model->exporter, err);
	if (status == CTX_OK && model->without_times)
		status = ctx_named_warn(&reader->named, err, "no times in the file: all samples are at 0");
	if (status == CTX_OK && model->n_left_out != 0)
		status = ctx_named_warn(
			&reader->named, err,
			"the CPU profile in the trace is read; its slices, moments and counters are not");
	if (status != CTX_OK)
		return status;
	reader->function_of = malloc((model->n_functions + 1) * sizeof(*reader->function_of));
	if (reader->function_of == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < model->n_functions; i++)
		reader->function_of[i] = CTX_NONE;
	ctx_jp_sort(model);
	info->format = model->format;
	info->duration_ns = model->without_times || model->duration_ns == 0 ? 1 : model->duration_ns;
	info->bytes = model->n_samples;
	info->n_threads = (uint32_t)model->n_threads;
	return CTX_OK;
}

enum ctx_status ctx_jsonprofile_open(const char *path, struct ctx_event_source **ret, struct ctx_err *err)
{
	const struct form *form = form_of(path);
	struct reader *reader = ctx_calloc(1, sizeof(*reader));
	enum ctx_status status;

	if (reader == NULL)
		return ctx_err_nomem(err);
	reader->named.read = read_on;
	reader->named.destroy = destroy;
	reader->named.source.progress = progress;
	ctx_named_init(&reader->named);
	status = form != NULL ? ctx_jp_json_read(path, &reader->root, err)
			      : ctx_err_set(err, CTX_E_FORMAT, "%s: no profile in JSON", path);
	if (status == CTX_OK)
		status = fill(reader, form, err);
	if (status != CTX_OK) {
		destroy(&reader->named);
		return status;
	}
	reader->named.source.info.name = ctx_path_base(path);
	*ret = &reader->named.source;
	return CTX_OK;
}
