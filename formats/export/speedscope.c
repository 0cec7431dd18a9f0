/*
 * speedscope's own format (https://www.speedscope.app/file-format-schema.json): frames once, and a
 * "sampled" profile for each thread: a list of stacks and a list of weights of the same length,
 * drawn end to end.
 *
 *	shared.frames	   [main, parse, read]
 *	profiles[thread]   samples  [[0,1,2], [], [0]]	  a list of frames each, root first
 *			   weights  [ 1000000, 5000000, 1000000]
 *
 * Where calls are exact it is an "evented" profile: a list of frames that open (O) and close (C).
 *
 * Time without samples is an empty stack, which speedscope does not draw and excludes from its
 * percentages; so samples of a clock appear at their times. Each list is written in a pass of its
 * own over the samples, so none are kept in memory.
 */
#include "formats/export/export_json.h"
#include "formats/export/export_lane.h"
#include "formats/export/export_stack.h"
#include "formats/export/export_used.h"
#include "formats/export/exports.h"

#include "base/mem.h"

#include <inttypes.h>
#include <string.h>

struct scope {
	const struct ctx_export_input *input;
	struct ctx_export_json json;
	struct ctx_export_used used;
	struct ctx_export_lane lane;
	struct ctx_buf token;
	uint32_t *frames; /* owned; room for the deepest stack */
	bool is_clock;
	uint32_t open; /* exact calls: the stack whose frames are open */
};

static void put_frames(struct scope *scope)
{
	const struct ctx_profile *profile = scope->input->profile;
	struct ctx_export_json *json = &scope->json;

	ctx_export_json_key(json, "shared");
	ctx_export_json_open(json);
	ctx_export_json_key(json, "frames");
	ctx_export_json_open_list(json);
	for (uint32_t i = 0; i < profile->n_functions; i++) {
		uint32_t object = profile->functions[i].object;

		if (scope->used.functions.row[i] == CTX_NONE)
			continue;
		ctx_export_json_open(json);
		ctx_export_json_key(json, "name");
		ctx_export_json_name(json, profile, i);
		if (object != CTX_NONE)
			ctx_export_json_key_text(json, "file", profile->objects[object].path);
		ctx_export_json_close(json);
		ctx_export_json_line(json);
	}
	if (scope->used.has_bare) {
		ctx_export_json_open(json);
		ctx_export_json_key_text(json, "name", CTX_EXPORT_NO_STACK);
		ctx_export_json_close(json);
	}
	ctx_export_json_close_list(json);
	ctx_export_json_close(json);
}

static struct ctx_export_span place(struct scope *scope, const struct ctx_sample *sample)
{
	if (scope->is_clock)
		return ctx_export_lane_place(&scope->lane, sample);
	scope->lane.end_ns += sample->weight;
	return (struct ctx_export_span){0};
}

static enum ctx_status put_stack(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	struct scope *scope = context;
	struct ctx_buf *token = &scope->token;
	uint32_t row;
	size_t n;
	enum ctx_status status = ctx_export_used_stack(&scope->used, sample->stack, &row, err);

	if (status != CTX_OK)
		return status;
	if (place(scope, sample).idle_ns != 0) {
		ctx_export_json_open_list(&scope->json);
		ctx_export_json_close_list(&scope->json);
	}
	ctx_buf_clear(token);
	if (row == scope->used.stacks.n) {
		ctx_buf_printf(token, "[%" PRIu32 "]", scope->used.functions.n);
	} else {
		n = ctx_export_frames(scope->input->profile, sample->stack, scope->frames);
		for (size_t i = 0; i < n; i++)
			ctx_buf_printf(token, "%c%" PRIu32, i == 0 ? '[' : ',',
				       scope->used.functions.row[scope->frames[i]]);
		ctx_buf_put_u8(token, ']');
	}
	ctx_export_json_ready(&scope->json, token);
	return scope->json.status;
}

static enum ctx_status put_weight(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	struct scope *scope = context;
	struct ctx_export_span span = place(scope, sample);

	(void)err;
	if (span.idle_ns != 0)
		ctx_export_json_number(&scope->json, span.idle_ns);
	ctx_export_json_number(&scope->json, sample->weight);
	return scope->json.status;
}

static void put_column(struct scope *scope, const char *key, uint32_t thread, ctx_report_sample_fn each)
{
	const struct ctx_export_input *input = scope->input;

	if (scope->json.status != CTX_OK)
		return;
	if (scope->is_clock)
		ctx_export_lane_begin(&scope->lane, input);
	else
		scope->lane.end_ns = 0;
	ctx_export_json_key(&scope->json, key);
	ctx_export_json_open_list(&scope->json);
	if (thread != CTX_NONE)
		ctx_export_json_fail(&scope->json,
				     input->source->samples(input->source,
							    &(struct ctx_samples_query){.thread = thread},
							    each, scope, scope->json.err));
	ctx_export_json_close_list(&scope->json);
	ctx_export_json_line(&scope->json);
}

static const char *unit(const struct scope *scope)
{
	const struct ctx_export_input *input = scope->input;

	if (scope->is_clock)
		return "nanoseconds";
	if (input->metric < input->profile->n_metrics &&
	    input->profile->metrics[input->metric].unit == CTX_UNIT_BYTES)
		return "bytes";
	return "none";
}

static void put_thread_name(struct scope *scope, uint32_t thread)
{
	const struct ctx_thread_info *info = &scope->input->profile->threads[thread];

	ctx_buf_clear(&scope->token);
	ctx_export_put_text(&scope->token, info->name);
	if (!scope->input->is_difference)
		ctx_buf_printf(&scope->token, " (pid %" PRId64 ", tid %" PRId64 ")",
			       scope->input->profile->processes[info->process].pid, info->tid);
	ctx_export_json_buf(&scope->json, &scope->token);
}

/* --- exact calls: an "evented" profile, which opens and closes frames --- */

static void put_event(struct scope *scope, const char *type, uint32_t stack, uint64_t time_ns)
{
	struct ctx_export_json *json = &scope->json;

	ctx_export_json_open(json);
	ctx_export_json_key_text(json, "type", type);
	ctx_export_json_key_number(json, "frame",
				   scope->used.functions.row[scope->input->profile->cct.key[stack]]);
	ctx_export_json_key_number(json, "at", time_ns);
	ctx_export_json_close(json);
}

static void close_frames(struct scope *scope, uint32_t keep, uint64_t time_ns)
{
	for (; scope->open != keep; scope->open = scope->input->profile->cct.parent[scope->open])
		put_event(scope, "C", scope->open, time_ns);
}

static enum ctx_status put_events(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	struct scope *scope = context;
	const struct ctx_trie *cct = &scope->input->profile->cct;
	uint64_t end_ns = scope->lane.end_ns;
	struct ctx_export_span span;
	uint32_t row, keep, node = sample->stack, n = 0;
	enum ctx_status status = ctx_export_used_stack(&scope->used, sample->stack, &row, err);

	if (status != CTX_OK || sample->stack == CTX_TRIE_ROOT)
		return status;
	span = ctx_export_lane_place(&scope->lane, sample);
	if (span.idle_ns != 0)
		close_frames(scope, CTX_TRIE_ROOT, end_ns);
	keep = ctx_export_lane_kept(&scope->lane, cct, scope->open, sample);
	close_frames(scope, keep, span.begin_ns);
	for (; node != keep; node = cct->parent[node])
		scope->frames[n++] = node;
	while (n != 0)
		put_event(scope, "O", scope->frames[--n], span.begin_ns);
	scope->open = sample->stack;
	return scope->json.status;
}

static void put_calls(struct scope *scope, uint32_t thread)
{
	const struct ctx_export_input *input = scope->input;
	struct ctx_export_json *json = &scope->json;

	if (json->status != CTX_OK)
		return;
	ctx_export_lane_begin(&scope->lane, input);
	scope->open = CTX_TRIE_ROOT;
	ctx_export_json_key(json, "events");
	ctx_export_json_open_list(json);
	ctx_export_json_fail(json, input->source->samples(input->source,
							  &(struct ctx_samples_query){.thread = thread},
							  put_events, scope, json->err));
	if (json->status == CTX_OK)
		close_frames(scope, CTX_TRIE_ROOT, scope->lane.end_ns);
	ctx_export_json_close_list(json);
	ctx_export_json_line(json);
}

/* The thread CTX_NONE is a profile without samples: speedscope rejects files without profiles. */
static void put_profile(struct scope *scope, uint32_t thread)
{
	struct ctx_export_json *json = &scope->json;
	struct ctx_interval extent = ctx_export_extent(scope->input);
	bool evented = scope->is_clock && thread != CTX_NONE && ctx_export_is_exact(scope->input);
	uint64_t end;

	ctx_export_json_open(json);
	ctx_export_json_key_text(json, "type", evented ? "evented" : "sampled");
	ctx_export_json_key(json, "name");
	if (thread != CTX_NONE)
		put_thread_name(scope, thread);
	else
		ctx_export_json_text(json, "no samples");
	ctx_export_json_key_text(json, "unit", unit(scope));
	if (evented) {
		put_calls(scope, thread);
	} else {
		put_column(scope, "samples", thread, put_stack);
		put_column(scope, "weights", thread, put_weight);
	}
	end = scope->lane.end_ns;
	if (scope->is_clock && end < extent.end_ns)
		end = extent.end_ns;
	ctx_export_json_key_number(json, "startValue", scope->is_clock ? extent.begin_ns : 0);
	ctx_export_json_key_number(json, "endValue", end);
	ctx_export_json_close(json);
	ctx_export_json_line(json);
}

static void put_profiles(struct scope *scope)
{
	const struct ctx_report_parts *parts = &scope->used.parts;
	size_t active = 0, n = 0;

	ctx_export_json_key(&scope->json, "profiles");
	ctx_export_json_open_list(&scope->json);
	for (size_t i = 0; i < parts->n && scope->json.status == CTX_OK; i++) {
		if (parts->parts[i].histograms->samples == 0)
			continue;
		if (i == ctx_export_sum(parts).heaviest)
			active = n;
		put_profile(scope, parts->parts[i].thread);
		n++;
	}
	if (n == 0)
		put_profile(scope, CTX_NONE);
	ctx_export_json_close_list(&scope->json);
	ctx_export_json_key_number(&scope->json, "activeProfileIndex", active);
}

static void put_file(struct scope *scope)
{
	struct ctx_export_json *json = &scope->json;

	ctx_export_json_open(json);
	ctx_export_json_key_text(json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	ctx_export_json_key_text(json, "exporter", "ctxan@" CTX_VERSION);
	ctx_export_json_key_text(json, "name", scope->input->profile->name);
	put_frames(scope);
	put_profiles(scope);
	ctx_export_json_close(json);
}

static void remark(const struct scope *scope)
{
	const struct ctx_export_input *input = scope->input;

	if (input->is_difference)
		input->remark(input->remark_context,
			      "two profiles, A and B: stacks follow one another by weight, not by time");
	else if (scope->is_clock)
		ctx_export_lane_remark(&scope->lane, input);
	else
		input->remark(input->remark_context, "the metric is not a time: stacks follow one another by "
						     "weight, pauses are not shown");
	ctx_export_remark_rounding(input, &scope->used.parts);
	input->remark(input->remark_context, "processors and processes' lives are not in the file");
}

static enum ctx_status write_speedscope(const struct ctx_export_input *input, FILE *out, struct ctx_err *err)
{
	struct scope scope = {.input = input, .is_clock = ctx_export_is_clock(input)};
	enum ctx_status status = ctx_export_used_init(&scope.used, input, err);

	if (status == CTX_OK) {
		scope.frames = ctx_calloc(scope.used.deepest, sizeof(*scope.frames));
		status = scope.frames != NULL ? CTX_OK : ctx_err_nomem(err);
	}
	if (status == CTX_OK) {
		status = ctx_export_json_init(&scope.json, out, err);
		if (status == CTX_OK)
			put_file(&scope);
		status = ctx_export_json_finish(&scope.json);
	}
	if (status == CTX_OK)
		remark(&scope);
	free(scope.frames);
	ctx_buf_deinit(&scope.token);
	ctx_export_used_deinit(&scope.used);
	return status;
}

const struct ctx_export_kind ctx_export_speedscope = {
	.name = "speedscope",
	.suffix = ".speedscope.json",
	.takes_difference = true,
	.write = write_speedscope,
};
