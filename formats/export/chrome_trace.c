/*
 * Trace events (the JSON object form), for Perfetto and chrome://tracing.
 *
 * Nested slices are the only way to show a stack over time in both: Perfetto ignores the object's
 * "samples" list. So samples of a clock become slices: the slice of a frame begins (B) with the
 * first of consecutive samples that have it at the same depth and ends (E) with the last. The self
 * times of the slices add up to the weights.
 *
 *	samples	  main;read  main;parse		main	   main
 *	slices	 [main-----------------] idle  [main-----------]
 *		 [read---][parse-------]
 *
 * Where calls are exact, a slice is a call: it ends where the call does, also if the next one of the same
 * function begins at once.
 *
 * Samples of other metrics have no length. They are instants (i) with the leaf's name and the
 * weight; their stack is an entry of "stackFrames", which chrome://tracing shows.
 */
#include "formats/export/export_ids.h"
#include "formats/export/export_json.h"
#include "formats/export/export_lane.h"
#include "formats/export/export_names.h"
#include "formats/export/export_stack.h"
#include "formats/export/export_used.h"
#include "formats/export/exports.h"

#include "base/mem.h"

#include <inttypes.h>

/* Added for each reuse of a pid or tid: 4242, then 10004242. Larger than any Linux pid (2^22). */
#define TURN 10000000

struct trace {
	const struct ctx_export_input *input;
	const struct ctx_profile *profile;
	struct ctx_export_json json;
	struct ctx_export_used used;
	struct ctx_export_ids ids;
	struct ctx_export_names names; /* the viewers add up slices by name */
	struct ctx_export_lane lane;
	struct ctx_buf token;
	uint32_t *frames;  /* owned; room for the deepest stack */
	uint64_t pid, tid; /* of the current thread */
	uint32_t open;	   /* the stack with open slices; CTX_TRIE_ROOT: none */
	bool bare_open;	   /* the slice of samples without a stack is open */
};

static void put_place(struct trace *trace, const char *phase)
{
	ctx_export_json_key_text(&trace->json, "ph", phase);
	ctx_export_json_key_number(&trace->json, "pid", trace->pid);
	ctx_export_json_key_number(&trace->json, "tid", trace->tid);
}

static void put_time(struct trace *trace, uint64_t time_ns)
{
	ctx_export_json_key(&trace->json, "ts");
	ctx_export_json_decimal(&trace->json, time_ns, 3); /* in us */
}

static void put_frame_name(struct trace *trace, uint32_t stack)
{
	uint32_t function =
		stack != CTX_TRIE_ROOT ? trace->profile->cct.key[stack] : trace->profile->n_functions;

	ctx_export_json_key_text(&trace->json, "name", ctx_export_names_get(&trace->names, function));
}

/* The object is written as the category of the viewers. */
static void put_frame_object(struct trace *trace, const char *key, uint32_t stack)
{
	const char *object = stack != CTX_TRIE_ROOT
				     ? ctx_export_object(trace->profile, trace->profile->cct.key[stack])
				     : "";

	ctx_export_json_key_text(&trace->json, key, object);
}

static void put_edge(struct trace *trace, const char *phase, uint32_t stack, uint64_t time_ns)
{
	ctx_export_json_open(&trace->json);
	put_place(trace, phase);
	put_time(trace, time_ns);
	put_frame_name(trace, stack);
	if (*phase == 'B')
		put_frame_object(trace, "cat", stack);
	ctx_export_json_close(&trace->json);
	ctx_export_json_line(&trace->json);
}

/* Ends the slices of the open stack that are below `keep`, one of its ancestors. */
static void end_slices(struct trace *trace, uint32_t keep, uint64_t time_ns)
{
	const struct ctx_trie *cct = &trace->profile->cct;

	for (; trace->open != keep; trace->open = cct->parent[trace->open])
		put_edge(trace, "E", trace->open, time_ns);
	if (trace->bare_open)
		put_edge(trace, "E", CTX_TRIE_ROOT, time_ns);
	trace->bare_open = false;
}

static void begin_slices(struct trace *trace, uint32_t stack, uint64_t time_ns)
{
	const struct ctx_trie *cct = &trace->profile->cct;
	uint32_t depth = cct->depth[stack] - cct->depth[trace->open];
	uint32_t node = stack;

	for (uint32_t i = depth; i > 0; i--) {
		trace->frames[i - 1] = node;
		node = cct->parent[node];
	}
	for (uint32_t i = 0; i < depth; i++)
		put_edge(trace, "B", trace->frames[i], time_ns);
	trace->open = stack;
}

static enum ctx_status each_slice(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	struct trace *trace = context;
	uint64_t end = trace->lane.end_ns;
	struct ctx_export_span span;
	uint32_t row, keep;
	enum ctx_status status = ctx_export_used_stack(&trace->used, sample->stack, &row, err);

	if (status != CTX_OK)
		return status;
	if (sample->weight == 0 && !trace->lane.exact) /* no length */
		return CTX_OK;
	span = ctx_export_lane_place(&trace->lane, sample);
	if (span.idle_ns != 0)
		end_slices(trace, CTX_TRIE_ROOT, end);
	if (sample->stack == CTX_TRIE_ROOT && trace->bare_open)
		return trace->json.status;
	keep = ctx_export_lane_kept(&trace->lane, &trace->profile->cct, trace->open, sample);
	end_slices(trace, keep, span.begin_ns);
	begin_slices(trace, sample->stack, span.begin_ns);
	if (sample->stack == CTX_TRIE_ROOT) {
		put_edge(trace, "B", CTX_TRIE_ROOT, span.begin_ns);
		trace->bare_open = true;
	}
	return trace->json.status;
}

static enum ctx_status each_instant(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	struct trace *trace = context;
	struct ctx_export_json *json = &trace->json;
	uint32_t row;
	enum ctx_status status = ctx_export_used_stack(&trace->used, sample->stack, &row, err);

	if (status != CTX_OK)
		return status;
	ctx_export_json_open(json);
	put_place(trace, "i");
	ctx_export_json_key_text(json, "s", "t"); /* of the thread */
	put_time(trace, sample->time_ns);
	put_frame_name(trace, sample->stack);
	put_frame_object(trace, "cat", sample->stack);
	ctx_export_json_key_number(json, "sf", row);
	ctx_export_json_key(json, "args");
	ctx_export_json_open(json);
	ctx_export_json_key_number(json, "weight", sample->weight);
	ctx_export_json_close(json);
	ctx_export_json_close(json);
	ctx_export_json_line(json);
	return json->status;
}

static void put_name(struct trace *trace, const char *kind, const char *name)
{
	ctx_export_json_open(&trace->json);
	put_place(trace, "M");
	ctx_export_json_key_text(&trace->json, "name", kind);
	ctx_export_json_key(&trace->json, "args");
	ctx_export_json_open(&trace->json);
	ctx_export_json_key_text(&trace->json, "name", name);
	ctx_export_json_close(&trace->json);
	ctx_export_json_close(&trace->json);
	ctx_export_json_line(&trace->json);
}

static void put_thread(struct trace *trace, uint32_t thread)
{
	const struct ctx_export_input *input = trace->input;
	const struct ctx_thread_info *info = &trace->profile->threads[thread];
	const struct ctx_process_info *process = &trace->profile->processes[info->process];
	bool is_clock = ctx_export_is_clock(input);

	trace->pid = ctx_export_id(process->pid) + (uint64_t)TURN * trace->ids.process_turn[info->process];
	trace->tid = ctx_export_id(info->tid) + (uint64_t)TURN * trace->ids.thread_turn[thread];
	put_name(trace, "process_name", process->command);
	put_name(trace, "thread_name", info->name);
	ctx_export_lane_begin(&trace->lane, input);
	if (trace->json.status == CTX_OK)
		ctx_export_json_fail(
			&trace->json,
			input->source->samples(input->source, &(struct ctx_samples_query){.thread = thread},
					       is_clock ? each_slice : each_instant, trace, trace->json.err));
	if (is_clock && trace->json.status == CTX_OK)
		end_slices(trace, CTX_TRIE_ROOT, trace->lane.end_ns);
}

static void put_stack_frame(struct trace *trace, uint32_t stack, uint32_t row)
{
	struct ctx_export_json *json = &trace->json;
	uint32_t parent = trace->profile->cct.parent[stack];

	ctx_buf_clear(&trace->token);
	ctx_buf_printf(&trace->token, "%" PRIu32, row);
	ctx_export_json_buf(json, &trace->token); /* the key */
	ctx_export_json_open(json);
	put_frame_object(trace, "category", stack);
	put_frame_name(trace, stack);
	if (stack != CTX_TRIE_ROOT && parent != CTX_TRIE_ROOT)
		ctx_export_json_key_number(json, "parent", trace->used.stacks.row[parent]);
	ctx_export_json_close(json);
	ctx_export_json_line(json);
}

static void put_stack_frames(struct trace *trace)
{
	ctx_export_json_key(&trace->json, "stackFrames");
	ctx_export_json_open(&trace->json);
	for (uint32_t i = 1; i < trace->profile->cct.n; i++) {
		if (trace->used.stacks.row[i] != CTX_NONE)
			put_stack_frame(trace, i, trace->used.stacks.row[i]);
	}
	if (trace->used.has_bare)
		put_stack_frame(trace, CTX_TRIE_ROOT, trace->used.stacks.n);
	ctx_export_json_close(&trace->json);
}

static void put_file(struct trace *trace)
{
	const struct ctx_export_input *input = trace->input;
	struct ctx_export_json *json = &trace->json;

	ctx_export_json_open(json);
	ctx_export_json_key_text(json, "displayTimeUnit", "ns");
	ctx_export_json_key(json, "otherData");
	ctx_export_json_open(json);
	ctx_export_json_key_text(json, "exporter", "ctxan " CTX_VERSION);
	ctx_export_json_key_text(json, "experiment", trace->profile->name);
	if (input->metric < trace->profile->n_metrics) {
		ctx_export_json_key_text(json, "metric", trace->profile->metrics[input->metric].name);
		ctx_export_json_key_text(json, "unit",
					 ctx_unit_word(trace->profile->metrics[input->metric].unit));
	}
	ctx_export_json_close(json);
	ctx_export_json_line(json);
	if (!ctx_export_is_clock(input))
		put_stack_frames(trace);
	ctx_export_json_key(json, "traceEvents");
	ctx_export_json_open_list(json);
	for (size_t i = 0; i < trace->used.parts.n && json->status == CTX_OK; i++) {
		if (trace->used.parts.parts[i].histograms->samples != 0)
			put_thread(trace, trace->used.parts.parts[i].thread);
	}
	ctx_export_json_close_list(json);
	ctx_export_json_close(json);
}

static void remark(const struct trace *trace)
{
	const struct ctx_export_input *input = trace->input;

	if (ctx_export_is_clock(input)) {
		input->remark(input->remark_context, "a slice lasts while samples have the frame: it need "
						     "not be one call, and samples are "
						     "not counted");
		ctx_export_lane_remark(&trace->lane, input);
	} else {
		input->remark(input->remark_context, "the metric is not a time: samples are instants; their "
						     "stacks show in chrome://tracing only");
		ctx_export_remark_rounding(input, &trace->used.parts);
	}
	input->remark(input->remark_context, "processors are not in the file; a pid or tid that came again "
					     "has 10000000 added for each time");
}

static enum ctx_status write_chrome_trace(const struct ctx_export_input *input, FILE *out,
					  struct ctx_err *err)
{
	struct trace trace = {.input = input, .profile = input->profile};
	enum ctx_status status = ctx_export_names_init(&trace.names, input->profile, err);

	if (status != CTX_OK)
		return status;
	status = ctx_export_used_init(&trace.used, input, err);
	if (status == CTX_OK)
		status = ctx_export_ids_init(&trace.ids, input->profile, err);
	if (status == CTX_OK) {
		trace.frames = ctx_calloc(trace.used.deepest, sizeof(*trace.frames));
		status = trace.frames != NULL ? CTX_OK : ctx_err_nomem(err);
	}
	if (status == CTX_OK) {
		status = ctx_export_json_init(&trace.json, out, err);
		if (status == CTX_OK)
			put_file(&trace);
		status = ctx_export_json_finish(&trace.json);
	}
	if (status == CTX_OK)
		remark(&trace);
	free(trace.frames);
	ctx_buf_deinit(&trace.token);
	ctx_export_ids_deinit(&trace.ids);
	ctx_export_used_deinit(&trace.used);
	ctx_export_names_deinit(&trace.names);
	return status;
}

const struct ctx_export_kind ctx_export_chrome_trace = {
	.name = "chrome-trace",
	.suffix = ".trace.json",
	.write = write_chrome_trace,
};
