/*
 * The Firefox Profiler's processed profile, format version 70 (docs-developer/CHANGELOG-formats.md
 * of its repository). Tables are columns of equal length that refer to each other by row; all
 * threads share them:
 *
 *	thread.samples.stack --> stackTable.frame --> frameTable.func --> funcTable.name --> stringArray
 *				 stackTable.prefixOffset		  funcTable.resource --> resourceTable
 *
 * Where calls are exact a sample stands where a call begins or ends, and is what the thread is in from then on: the profiler draws it
 * up to the next one. Between two calls of one function that follow each other there is one of their caller, which takes no time;
 * when no call is open, one without a stack.
 *
 *	calls	|A |B||B|   |	samples  0 A, 3 A B, 6 A, 6 A B, 9 A, 12 null
 *
 * A row of stackTable is a CCT node, rows of frameTable and funcTable are functions, those of
 * resourceTable and libs are objects. Each column of samples is written in a pass of its own over
 * the thread's samples, so none are kept in memory.
 */
#include "formats/export/export_ids.h"
#include "formats/export/export_json.h"
#include "formats/export/export_lane.h"
#include "formats/export/export_stack.h"
#include "formats/export/export_used.h"
#include "formats/export/exports.h"

#include "base/fileio.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PROCESSED_VERSION 70
#define GECKO_VERSION 36 /* of Firefox's own recordings; nothing here depends on it */
#define RESOURCE_LIBRARY 1

enum category { CATEGORY_OTHER, CATEGORY_USER, CATEGORY_KERNEL };

struct fox {
	const struct ctx_export_input *input;
	const struct ctx_profile *profile;
	struct ctx_export_json json;
	struct ctx_export_used used;
	struct ctx_export_ids ids;
	struct ctx_buf token;
	uint64_t last_ns; /* of the column of time differences */
	uint64_t n_samples;
	bool is_clock;
	bool is_first; /* the next sample of a column is the thread's first one */
	/* Of exact calls. */
	struct ctx_export_lane lane;
	bool is_exact;
	uint32_t open;	      /* the stack of the sample before */
	uint64_t last_weight; /* its weight */
	ctx_report_sample_fn each;
};

/* Names in brackets are the kernel and its modules, except these special maps of processes. */
static enum category object_category(const char *path)
{
	static const char *const user[] = {"[vdso]", "[vsyscall]", "[vvar",    "[heap]",
					   "[stack", "[anon",	   "[uprobes]"};

	if (*path != '[')
		return CATEGORY_USER;
	for (size_t i = 0; i < sizeof(user) / sizeof(*user); i++) {
		if (strncmp(path, user[i], strlen(user[i])) == 0)
			return CATEGORY_USER;
	}
	return CATEGORY_KERNEL;
}

struct cells {
	void (*cell)(struct fox *fox, uint32_t id); /* values of each id that has a row */
	void (*bare)(struct fox *fox); /* value of the row of samples without a stack; NULL: no such row */
};

/* One column. */
static void put_cells(struct fox *fox, const char *key, const struct ctx_export_rows *rows, uint32_t n_ids,
		      struct cells cells)
{
	ctx_export_json_key(&fox->json, key);
	ctx_export_json_open_list(&fox->json);
	for (uint32_t i = 0; i < n_ids; i++) {
		if (rows->row[i] != CTX_NONE)
			cells.cell(fox, i);
	}
	if (cells.bare != NULL && fox->used.has_bare)
		cells.bare(fox);
	ctx_export_json_close_list(&fox->json);
}

static void put_null(struct fox *fox)
{
	ctx_export_json_null(&fox->json);
}

static void put_false(struct fox *fox)
{
	ctx_export_json_bool(&fox->json, false);
}

static void put_zero(struct fox *fox)
{
	ctx_export_json_number(&fox->json, 0);
}

static void put_none(struct fox *fox) /* the format does not allow null here */
{
	ctx_export_json_minus(&fox->json, 1);
}

/* A column of one value. */
static void put_same(struct fox *fox, const char *key, uint64_t n, void (*cell)(struct fox *fox))
{
	ctx_export_json_key(&fox->json, key);
	ctx_export_json_open_list(&fox->json);
	for (uint64_t i = 0; i < n; i++)
		cell(fox);
	ctx_export_json_close_list(&fox->json);
}

static void put_empty_table(struct fox *fox, const char *key, const char *const *columns)
{
	ctx_export_json_key(&fox->json, key);
	ctx_export_json_open(&fox->json);
	for (; *columns != NULL; columns++)
		put_same(fox, *columns, 0, put_null);
	ctx_export_json_key_number(&fox->json, "length", 0);
	ctx_export_json_close(&fox->json);
}

static uint32_t n_functions(const struct fox *fox)
{
	return fox->used.functions.n + fox->used.has_bare;
}

/* ---- stacks ---- */

static void put_stack_frame(struct fox *fox, uint32_t node)
{
	ctx_export_json_number(&fox->json, fox->used.functions.row[fox->profile->cct.key[node]]);
}

static void put_bare_frame(struct fox *fox)
{
	ctx_export_json_number(&fox->json, fox->used.functions.n);
}

static void put_prefix_offset(struct fox *fox, uint32_t node)
{
	const uint32_t *row = fox->used.stacks.row;
	uint32_t parent = fox->profile->cct.parent[node];

	ctx_export_json_number(&fox->json, parent != CTX_TRIE_ROOT ? row[node] - row[parent] : 0);
}

static void put_stacks(struct fox *fox)
{
	struct ctx_export_json *json = &fox->json;
	uint32_t n = fox->profile->cct.n;

	ctx_export_json_key(json, "stackTable");
	ctx_export_json_open(json);
	put_cells(fox, "frame", &fox->used.stacks, n, (struct cells){put_stack_frame, put_bare_frame});
	put_cells(fox, "prefixOffset", &fox->used.stacks, n, (struct cells){put_prefix_offset, put_zero});
	ctx_export_json_key_number(json, "length", fox->used.stacks.n + fox->used.has_bare);
	ctx_export_json_close(json);
	ctx_export_json_line(json);
}

/* ---- frames and functions: one frame a function ---- */

static void put_object_row(struct fox *fox, uint32_t function)
{
	uint32_t object = fox->profile->functions[function].object;

	if (object == CTX_NONE)
		put_none(fox);
	else
		ctx_export_json_number(&fox->json, fox->used.objects.row[object]);
}

static void put_category(struct fox *fox, uint32_t function)
{
	uint32_t object = fox->profile->functions[function].object;

	ctx_export_json_number(&fox->json, object != CTX_NONE
						   ? object_category(fox->profile->objects[object].path)
						   : CATEGORY_OTHER);
}

static void put_function_row(struct fox *fox, uint32_t function)
{
	ctx_export_json_number(&fox->json, fox->used.functions.row[function]);
}

static void put_function_name(struct fox *fox, uint32_t function)
{
	ctx_export_json_name(&fox->json, fox->profile, function);
}

static void put_bare_name(struct fox *fox)
{
	ctx_export_json_text(&fox->json, CTX_EXPORT_NO_STACK);
}

static void put_frames(struct fox *fox)
{
	const struct ctx_export_rows *rows = &fox->used.functions;
	uint32_t n = n_functions(fox), n_ids = fox->profile->n_functions;

	ctx_export_json_key(&fox->json, "frameTable");
	ctx_export_json_open(&fox->json);
	put_same(fox, "address", n, put_none);
	put_cells(fox, "lib", rows, n_ids, (struct cells){put_object_row, put_none});
	put_same(fox, "inlineDepth", n, put_zero);
	put_cells(fox, "category", rows, n_ids, (struct cells){put_category, put_zero});
	put_same(fox, "subcategory", n, put_zero);
	put_cells(fox, "func", rows, n_ids, (struct cells){put_function_row, put_bare_frame});
	put_same(fox, "nativeSymbol", n, put_null);
	put_same(fox, "innerWindowID", n, put_zero);
	put_same(fox, "line", n, put_null);
	put_same(fox, "column", n, put_null);
	put_same(fox, "originalLocation", n, put_null);
	ctx_export_json_key_number(&fox->json, "length", n);
	ctx_export_json_close(&fox->json);
	ctx_export_json_line(&fox->json);
}

/* The strings of functions come first, in the order of their rows. */
static void put_functions(struct fox *fox)
{
	const struct ctx_export_rows *rows = &fox->used.functions;
	uint32_t n = n_functions(fox), n_ids = fox->profile->n_functions;

	ctx_export_json_key(&fox->json, "funcTable");
	ctx_export_json_open(&fox->json);
	put_cells(fox, "name", rows, n_ids, (struct cells){put_function_row, put_bare_frame});
	put_same(fox, "isJS", n, put_false);
	put_same(fox, "relevantForJS", n, put_false);
	put_cells(fox, "resource", rows, n_ids, (struct cells){put_object_row, put_none});
	put_same(fox, "source", n, put_null);
	put_same(fox, "lineNumber", n, put_null);
	put_same(fox, "columnNumber", n, put_null);
	put_same(fox, "originalLocation", n, put_null);
	ctx_export_json_key_number(&fox->json, "length", n);
	ctx_export_json_close(&fox->json);
	ctx_export_json_line(&fox->json);
}

/* ---- objects ---- */

static void put_resource_name(struct fox *fox, uint32_t object)
{
	ctx_export_json_number(&fox->json, n_functions(fox) + fox->used.objects.row[object]);
}

static void put_object_name(struct fox *fox, uint32_t object)
{
	ctx_export_json_text(&fox->json, ctx_path_base(fox->profile->objects[object].path));
}

static void put_resource_type(struct fox *fox)
{
	ctx_export_json_number(&fox->json, RESOURCE_LIBRARY);
}

static void put_resources(struct fox *fox)
{
	const struct ctx_export_rows *rows = &fox->used.objects;

	ctx_export_json_key(&fox->json, "resourceTable");
	ctx_export_json_open(&fox->json);
	put_cells(fox, "name", rows, fox->profile->n_objects, (struct cells){put_resource_name, NULL});
	put_same(fox, "host", rows->n, put_null);
	put_same(fox, "type", rows->n, put_resource_type);
	ctx_export_json_key_number(&fox->json, "length", rows->n);
	ctx_export_json_close(&fox->json);
}

static void put_texts(struct fox *fox)
{
	ctx_export_json_key(&fox->json, "stringArray");
	ctx_export_json_open_list(&fox->json);
	for (uint32_t i = 0; i < fox->profile->n_functions; i++) {
		if (fox->used.functions.row[i] != CTX_NONE)
			put_function_name(fox, i);
	}
	if (fox->used.has_bare)
		put_bare_name(fox);
	for (uint32_t i = 0; i < fox->profile->n_objects; i++) {
		if (fox->used.objects.row[i] != CTX_NONE)
			put_object_name(fox, i);
	}
	ctx_export_json_close_list(&fox->json);
	ctx_export_json_line(&fox->json);
}

/*
 * Breakpad's id of a GNU build id: its first 16 bytes as a GUID, whose first three fields are
 * little-endian numbers, and an age of 0.
 */
static void put_breakpad_id(struct fox *fox, const char *build_id)
{
	static const unsigned char order[] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
	size_t n = strlen(build_id);
	char text[34] = "";

	if (n != 0 && strspn(build_id, "0123456789abcdef") == n) {
		for (size_t i = 0; i < 32; i++) {
			size_t at = (size_t)order[i / 2] * 2 + i % 2;

			text[i] = at < n ? (char)toupper((unsigned char)build_id[at]) : '0';
		}
		text[32] = '0';
	}
	ctx_export_json_key_text(&fox->json, "breakpadId", text);
}

static void put_lib(struct fox *fox, uint32_t object)
{
	const struct ctx_object_info *info = &fox->profile->objects[object];
	const char *name = ctx_path_base(info->path);

	ctx_export_json_open(&fox->json);
	ctx_export_json_key_text(&fox->json, "arch", ctx_profile_property(fox->profile, "arch", ""));
	ctx_export_json_key_text(&fox->json, "name", name);
	ctx_export_json_key_text(&fox->json, "path", info->path);
	ctx_export_json_key_text(&fox->json, "debugName", name);
	ctx_export_json_key_text(&fox->json, "debugPath", info->path);
	put_breakpad_id(fox, info->build_id);
	ctx_export_json_key(&fox->json, "codeId");
	if (info->build_id[0] != '\0')
		ctx_export_json_text(&fox->json, info->build_id);
	else
		ctx_export_json_null(&fox->json);
	ctx_export_json_close(&fox->json);
}

static void put_shared(struct fox *fox)
{
	static const char *const symbols[] = {"libIndex", "address", "name", "functionSize", NULL};
	static const char *const sources[] = {"id",	      "filename", "startLine", "startColumn",
					      "sourceMapURL", "content",  NULL};
	static const char *const places[] = {"source", "line", "column", NULL};

	put_cells(fox, "libs", &fox->used.objects, fox->profile->n_objects, (struct cells){put_lib, NULL});
	ctx_export_json_line(&fox->json);
	ctx_export_json_key(&fox->json, "shared");
	ctx_export_json_open(&fox->json);
	put_stacks(fox);
	put_frames(fox);
	put_functions(fox);
	put_resources(fox);
	put_empty_table(fox, "nativeSymbols", symbols);
	put_empty_table(fox, "sources", sources);
	put_empty_table(fox, "sourceLocationTable", places);
	put_texts(fox);
	ctx_export_json_close(&fox->json);
	ctx_export_json_line(&fox->json);
}

/* ---- samples ---- */

static enum ctx_status each_stack(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	struct fox *fox = context;
	enum ctx_status status = CTX_OK;
	uint32_t row = 0;

	fox->n_samples++;
	if (fox->is_exact && sample->stack == CTX_TRIE_ROOT) {
		ctx_export_json_null(&fox->json);
		return fox->json.status;
	}
	status = ctx_export_used_stack(&fox->used, sample->stack, &row, err);
	if (status != CTX_OK)
		return status;
	ctx_export_json_number(&fox->json, row);
	return fox->json.status;
}

static enum ctx_status each_time(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	struct fox *fox = context;

	if (sample->time_ns < fox->last_ns)
		return ctx_err_set(err, CTX_E_FORMAT, "samples of a thread are not in order of time");
	ctx_export_json_decimal(&fox->json, sample->time_ns - fox->last_ns, 6);
	fox->last_ns = sample->time_ns;
	return fox->json.status;
}

static enum ctx_status each_weight(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	struct fox *fox = context;

	(void)err;
	ctx_export_json_decimal(&fox->json, sample->weight, fox->is_clock ? 6 : 0);
	return fox->json.status;
}

/* CPU time since the sample before; of the first one the profiler takes no notice. */
static enum ctx_status each_cpu_time(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	struct fox *fox = context;

	(void)err;
	ctx_export_json_number(&fox->json, fox->is_first   ? 0
					   : fox->is_exact ? fox->last_weight
							   : sample->weight);
	fox->is_first = false;
	fox->last_weight = sample->weight;
	return fox->json.status;
}

/* --- exact calls --- */

static enum ctx_status put_point(struct fox *fox, uint32_t stack, uint64_t time_ns, uint64_t weight,
				 struct ctx_err *err)
{
	fox->open = stack;
	return fox->each(fox, &(struct ctx_sample){.stack = stack, .time_ns = time_ns, .weight = weight},
			 err);
}

/* A span at open calls, with what lies between it and the one before. */
static enum ctx_status each_span(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	struct fox *fox = context;
	uint64_t end_ns = fox->lane.end_ns;
	struct ctx_export_span span;
	enum ctx_status status = CTX_OK;
	uint32_t kept;

	if (sample->stack == CTX_TRIE_ROOT)
		return CTX_OK;
	span = ctx_export_lane_place(&fox->lane, sample);
	if (span.idle_ns != 0 && fox->open != CTX_TRIE_ROOT)
		status = put_point(fox, CTX_TRIE_ROOT, end_ns, 0, err);
	if (status != CTX_OK)
		return status;
	kept = ctx_export_lane_kept(&fox->lane, &fox->profile->cct, fox->open, sample);
	if (kept != ctx_trie_common_ancestor(&fox->profile->cct, fox->open, sample->stack))
		status = put_point(fox, kept, span.begin_ns, 0, err);
	return status == CTX_OK ? put_point(fox, sample->stack, span.begin_ns, sample->weight, err) : status;
}

static enum ctx_status put_calls(struct fox *fox, uint32_t thread, ctx_report_sample_fn each)
{
	const struct ctx_export_input *input = fox->input;
	const struct ctx_samples_query query = {.thread = thread};
	enum ctx_status status;

	ctx_export_lane_begin(&fox->lane, input);
	fox->each = each;
	fox->open = CTX_TRIE_ROOT;
	fox->last_weight = 0;
	status = input->source->samples(input->source, &query, each_span, fox, fox->json.err);
	if (status == CTX_OK && fox->open != CTX_TRIE_ROOT)
		status = put_point(fox, CTX_TRIE_ROOT, fox->lane.end_ns, 0, fox->json.err);
	return status;
}

static void put_column(struct fox *fox, const char *key, uint32_t thread, ctx_report_sample_fn each)
{
	const struct ctx_export_input *input = fox->input;

	if (fox->json.status != CTX_OK)
		return;
	ctx_export_json_key(&fox->json, key);
	ctx_export_json_open_list(&fox->json);
	fox->is_first = true;
	if (thread != CTX_NONE && fox->is_exact)
		ctx_export_json_fail(&fox->json, put_calls(fox, thread, each));
	else if (thread != CTX_NONE)
		ctx_export_json_fail(&fox->json,
				     input->source->samples(input->source,
							    &(struct ctx_samples_query){.thread = thread},
							    each, fox, fox->json.err));
	ctx_export_json_close_list(&fox->json);
	ctx_export_json_line(&fox->json);
}

static const char *weight_type(const struct fox *fox)
{
	if (fox->is_clock)
		return "tracing-ms";
	if (fox->input->metric < fox->profile->n_metrics &&
	    fox->profile->metrics[fox->input->metric].unit == CTX_UNIT_BYTES)
		return "bytes";
	return "samples";
}

static void put_samples(struct fox *fox, uint32_t thread)
{
	ctx_export_json_key(&fox->json, "samples");
	ctx_export_json_open(&fox->json);
	fox->n_samples = 0;
	fox->last_ns = 0;
	put_column(fox, "stack", thread, each_stack);
	put_column(fox, "timeDeltas", thread, each_time);
	put_column(fox, "weight", thread, each_weight);
	ctx_export_json_key_text(&fox->json, "weightType", weight_type(fox));
	/* Makes the height of a thread's graph its CPU usage. */
	if (fox->is_clock)
		put_column(fox, "threadCPUDelta", thread, each_cpu_time);
	ctx_export_json_key_number(&fox->json, "length", fox->n_samples);
	ctx_export_json_close(&fox->json);
}

/* ---- threads ---- */

static void put_ms(struct fox *fox, const char *key, uint64_t time_ns)
{
	ctx_export_json_key(&fox->json, key);
	ctx_export_json_decimal(&fox->json, time_ns, 6);
}

/* A thread without a recorded end lasts until the end of the run. */
static void put_life(struct fox *fox, const char *begin, const char *end, struct ctx_interval life)
{
	put_ms(fox, begin, life.begin_ns);
	if (life.end_ns <= fox->profile->run.end_ns) {
		put_ms(fox, end, life.end_ns);
	} else {
		ctx_export_json_key(&fox->json, end);
		ctx_export_json_null(&fox->json);
	}
}

static void put_id(struct fox *fox, const char *key, int64_t id, uint32_t turn, bool as_text)
{
	ctx_export_json_key(&fox->json, key);
	if (!as_text && turn == 0) {
		ctx_export_json_number(&fox->json, ctx_export_id(id));
		return;
	}
	ctx_buf_clear(&fox->token);
	ctx_buf_printf(&fox->token, "%" PRIu64, ctx_export_id(id));
	if (turn != 0)
		ctx_buf_printf(&fox->token, ".%" PRIu32, turn);
	ctx_export_json_buf(&fox->json, &fox->token);
}

static void put_who(struct fox *fox, uint32_t thread)
{
	const struct ctx_thread_info *info = &fox->profile->threads[thread];
	const struct ctx_process_info *process = &fox->profile->processes[info->process];

	put_life(fox, "processStartupTime", "processShutdownTime", process->life);
	put_life(fox, "registerTime", "unregisterTime", info->life);
	ctx_export_json_key_text(&fox->json, "name", info->name);
	ctx_export_json_key(&fox->json, "isMainThread");
	ctx_export_json_bool(&fox->json, info->tid == process->pid);
	ctx_export_json_key_text(&fox->json, "processName", process->command);
	put_id(fox, "pid", process->pid, fox->ids.process_turn[info->process], true);
	put_id(fox, "tid", info->tid, fox->ids.thread_turn[thread], false);
}

static void put_nobody(struct fox *fox)
{
	put_life(fox, "processStartupTime", "processShutdownTime", fox->profile->run);
	put_life(fox, "registerTime", "unregisterTime", fox->profile->run);
	ctx_export_json_key_text(&fox->json, "name", "no samples");
	ctx_export_json_key(&fox->json, "isMainThread");
	ctx_export_json_bool(&fox->json, true);
	put_id(fox, "pid", 0, 0, true);
	put_id(fox, "tid", 0, 0, false);
}

/* The thread CTX_NONE has no samples: the profiler rejects files without threads. */
static void put_thread(struct fox *fox, uint32_t thread)
{
	static const char *const markers[] = {"data",  "name",	   "startTime", "endTime",
					      "phase", "category", NULL};

	ctx_export_json_open(&fox->json);
	ctx_export_json_key_text(&fox->json, "processType", "default");
	if (thread != CTX_NONE)
		put_who(fox, thread);
	else
		put_nobody(fox);
	put_same(fox, "pausedRanges", 0, put_null);
	put_samples(fox, thread);
	put_empty_table(fox, "markers", markers);
	ctx_export_json_close(&fox->json);
	ctx_export_json_line(&fox->json);
}

static void put_threads(struct fox *fox)
{
	size_t n = 0;

	ctx_export_json_key(&fox->json, "threads");
	ctx_export_json_open_list(&fox->json);
	for (size_t i = 0; i < fox->used.parts.n && fox->json.status == CTX_OK; i++) {
		if (fox->used.parts.parts[i].histograms->samples == 0)
			continue;
		put_thread(fox, fox->used.parts.parts[i].thread);
		n++;
	}
	if (n == 0)
		put_thread(fox, CTX_NONE);
	ctx_export_json_close_list(&fox->json);
}

/* ---- the header ---- */

static void put_categories(struct fox *fox)
{
	static const struct {
		const char *name, *color;
	} categories[] = {
		[CATEGORY_OTHER] = {"Other", "grey"},
		[CATEGORY_USER] = {"User", "yellow"},
		[CATEGORY_KERNEL] = {"Kernel", "orange"},
	};

	ctx_export_json_key(&fox->json, "categories");
	ctx_export_json_open_list(&fox->json);
	for (size_t i = 0; i < sizeof(categories) / sizeof(*categories); i++) {
		ctx_export_json_open(&fox->json);
		ctx_export_json_key_text(&fox->json, "name", categories[i].name);
		ctx_export_json_key_text(&fox->json, "color", categories[i].color);
		ctx_export_json_key(&fox->json, "subcategories");
		ctx_export_json_open_list(&fox->json);
		ctx_export_json_text(&fox->json, "Other");
		ctx_export_json_close_list(&fox->json);
		ctx_export_json_close(&fox->json);
	}
	ctx_export_json_close_list(&fox->json);
}

/* The wall-clock time when the run began, 0 unknown. */
static uint64_t start_seconds(const struct ctx_profile *profile)
{
	const char *text = ctx_profile_property(profile, "start", "");
	struct tm parts = {0};
	const char *end = strptime(text, "%Y-%m-%d %H:%M:%S UTC", &parts);
	time_t seconds = end != NULL && *end == '\0' ? timegm(&parts) : 0;

	return seconds > 0 ? (uint64_t)seconds : 0;
}

/* The mean time between samples of a running thread, in ns. */
static uint64_t sampling_interval(const struct fox *fox)
{
	struct ctx_export_sums sums = ctx_export_sum(&fox->used.parts);
	struct ctx_interval extent = ctx_export_extent(fox->input);
	uint64_t time = fox->is_clock ? sums.weight : extent.end_ns - extent.begin_ns;
	uint64_t interval = sums.samples != 0 ? time / sums.samples : 0;

	return interval != 0 ? interval : 1000000;
}

static void put_units(struct fox *fox)
{
	ctx_export_json_key(&fox->json, "sampleUnits");
	ctx_export_json_open(&fox->json);
	ctx_export_json_key_text(&fox->json, "time", "ms");
	ctx_export_json_key_text(&fox->json, "eventDelay", "ms");
	ctx_export_json_key_text(&fox->json, "threadCPUDelta", "ns");
	ctx_export_json_close(&fox->json);
}

/* "AMD EPYC, 2 online of 2, ...", as perf's recordings say it: the name, and how many are online (0 unknown). */
static uint64_t put_processors(struct fox *fox, const char *text)
{
	const char *online = strstr(text, " online of "), *begin = online;
	size_t n = strcspn(text, ",");

	while (begin != NULL && begin > text && isdigit((unsigned char)begin[-1]))
		begin--;
	ctx_buf_clear(&fox->token);
	ctx_buf_put(&fox->token, text, begin != text ? n : 0);
	if (fox->token.n != 0) {
		ctx_export_json_key(&fox->json, "CPUName");
		ctx_export_json_buf(&fox->json, &fox->token);
	}
	return begin != NULL && begin != online ? strtoull(begin, NULL, 10) : 0;
}

/* Where it was recorded; left out where the recording does not say. */
static void put_machine(struct fox *fox)
{
	const char *kernel = ctx_profile_property(fox->profile, "kernel", "");
	const char *arch = ctx_profile_property(fox->profile, "arch", "");
	const char *os = ctx_profile_property(fox->profile, "os", kernel[0] != '\0' ? "Linux" : "");
	const char *const words[] = {os, kernel, arch};
	uint64_t online = put_processors(fox, ctx_profile_property(fox->profile, "processors", ""));
	uint64_t cpus = strtoull(ctx_profile_property(fox->profile, "cpus", "0"), NULL, 10);

	ctx_buf_clear(&fox->token);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		ctx_buf_printf(&fox->token, "%s%s", fox->token.n != 0 && words[i][0] != '\0' ? " " : "",
			       words[i]);
	ctx_export_json_key(&fox->json, "oscpu"); /* the profiler asks for it always */
	ctx_export_json_buf(&fox->json, &fox->token);
	if (os[0] != '\0')
		ctx_export_json_key_text(&fox->json, "platform", os);
	if (arch[0] != '\0')
		ctx_export_json_key_text(&fox->json, "abi", arch);
	if (cpus != 0 || online != 0)
		ctx_export_json_key_number(&fox->json, "logicalCPUs", cpus != 0 ? cpus : online);
}

static void put_meta(struct fox *fox)
{
	struct ctx_interval extent = ctx_export_extent(fox->input);
	struct ctx_export_json *json = &fox->json;

	ctx_export_json_key(json, "meta");
	ctx_export_json_open(json);
	ctx_export_json_key_number(json, "version", GECKO_VERSION);
	ctx_export_json_key_number(json, "preprocessedProfileVersion", PROCESSED_VERSION);
	ctx_export_json_key_text(json, "importedFrom", "ctxan " CTX_VERSION);
	ctx_export_json_key_text(json, "product",
				 ctx_profile_property(fox->profile, "command", fox->profile->name));
	put_ms(fox, "interval", sampling_interval(fox));
	ctx_export_json_key_number(json, "startTime", start_seconds(fox->profile) * 1000);
	put_ms(fox, "profilingStartTime", extent.begin_ns);
	put_ms(fox, "profilingEndTime", extent.end_ns);
	ctx_export_json_key_number(json, "processType", 0);
	ctx_export_json_key_number(json, "stackwalk", 1);
	put_machine(fox);
	put_categories(fox);
	put_same(fox, "markerSchema", 0, put_null);
	if (fox->is_clock)
		put_units(fox);
	/* Names are complete: the viewer must not ask a symbol server. */
	ctx_export_json_key(json, "symbolicated");
	ctx_export_json_bool(json, true);
	ctx_export_json_key(json, "symbolicationNotSupported");
	ctx_export_json_bool(json, true);
	ctx_export_json_key(json, "usesOnlyOneStackType");
	ctx_export_json_bool(json, true);
	ctx_export_json_key(json, "sourceCodeIsNotOnSearchfox");
	ctx_export_json_bool(json, true);
	ctx_export_json_close(json);
	ctx_export_json_line(json);
}

static void put_file(struct fox *fox)
{
	ctx_export_json_open(&fox->json);
	put_meta(fox);
	put_shared(fox);
	put_threads(fox);
	ctx_export_json_close(&fox->json);
}

static void remark(const struct fox *fox)
{
	const struct ctx_export_input *input = fox->input;

	if (strcmp(weight_type(fox), "samples") == 0)
		input->remark(input->remark_context,
			      "the metric is neither time nor bytes: its weights are shown as \"samples\"");
	ctx_export_remark_rounding(input, &fox->used.parts);
	input->remark(input->remark_context,
		      "processors, addresses and the parents of processes are not in the file");
}

static enum ctx_status write_firefox(const struct ctx_export_input *input, FILE *out, struct ctx_err *err)
{
	struct fox fox = {.input = input,
			  .profile = input->profile,
			  .is_clock = ctx_export_is_clock(input),
			  .is_exact = ctx_export_is_exact(input)};
	enum ctx_status status = ctx_export_used_init(&fox.used, input, err);

	if (status == CTX_OK)
		status = ctx_export_ids_init(&fox.ids, input->profile, err);
	if (status == CTX_OK) {
		status = ctx_export_json_init(&fox.json, out, err);
		if (status == CTX_OK)
			put_file(&fox);
		status = ctx_export_json_finish(&fox.json);
	}
	if (status == CTX_OK)
		remark(&fox);
	ctx_buf_deinit(&fox.token);
	ctx_export_ids_deinit(&fox.ids);
	ctx_export_used_deinit(&fox.used);
	return status;
}

const struct ctx_export_kind ctx_export_firefox = {
	.name = "firefox",
	.suffix = ".firefox.json",
	.write = write_firefox,
};
