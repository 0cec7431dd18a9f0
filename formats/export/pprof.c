/*
 * pprof's profile.proto. One sample for each stack of each thread:
 *
 *	sample    locations (leaf first), samples and weight, labels: thread, process, tid, pid
 *	location  an address with its lines; where samples have none (differences, archived runs), a function
 *	mapping   where an object stands, the program first
 *
 * Samples without a stack get a synthetic function, whose id follows those of the profile.
 *
 * Of a difference side B's values are as they are, side A's negative, with the label pprof::base=true: what pprof
 * itself makes of -diff_base, so that sums are changes, and percentages are of side A.
 */
#include "base/fileio.h"
#include "base/mem.h"
#include "formats/export/export_names.h"
#include "formats/export/export_stack.h"
#include "formats/export/exports.h"
#include "formats/export/pprof_file.h"
#include "formats/export/pprof_locations.h"
#include "formats/export/pprof_stacks.h"

#include <inttypes.h>
#include <profile.pb-c.h>
#include <string.h>
#include <time.h>

#define NS_PER_SECOND INT64_C(1000000000)

enum { LABELS = 4, VALUES = 2 };

#define BASE 0u /* of a difference: the thread that is side A */

struct pprof {
	const struct ctx_export_input *input;
	struct ctx_pprof_stacks stacks;	      /* owned */
	struct ctx_pprof_file *file;	      /* owned */
	struct ctx_export_names names;	      /* owned */
	struct ctx_pprof_locations locations; /* owned */
	uint32_t *frames;		      /* owned; room for the deepest stack */
	uint64_t *numbers;		      /* owned; the same */
	uint64_t too_large;		      /* values that overflow a signed number */
};

static int64_t to_signed(struct pprof *pprof, uint64_t value)
{
	if (value <= INT64_MAX)
		return (int64_t)value;
	pprof->too_large++;
	return INT64_MAX;
}

/* The unit as spelled by the format's documentation. Readers scale by it, and accept "ns" too. */
static const char *unit_name(enum ctx_unit unit)
{
	if (unit == CTX_UNIT_NS)
		return "nanoseconds";
	return unit == CTX_UNIT_EVENTS ? "count" : ctx_unit_word(unit);
}

static enum ctx_status put_type(struct pprof *pprof, const char *name, const char *unit, bool is_period,
				struct ctx_err *err)
{
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__ValueType type = PPROF__VALUE_TYPE__INIT;
	Pprof__ValueType *types = &type;
	enum ctx_status status = ctx_pprof_file_string(pprof->file, name, &type.type, err);

	if (status == CTX_OK)
		status = ctx_pprof_file_string(pprof->file, unit, &type.unit, err);
	if (is_period) {
		const struct ctx_metric_info *metric = &pprof->input->profile->metrics[pprof->input->metric];

		piece.period_type = &type;
		piece.default_sample_type = type.type;
		/* Known only if all samples have the same period; a mean would be misleading. */
		if (!pprof->input->is_difference && metric->samples != 0 &&
		    metric->weight % metric->samples == 0)
			piece.period = to_signed(pprof, metric->weight / metric->samples);
	} else {
		piece.sample_type = &types;
		piece.n_sample_type = 1;
	}
	return status == CTX_OK ? ctx_pprof_file_put(pprof->file, &piece, err) : status;
}

static enum ctx_status put_comment(struct pprof *pprof, const char *text, struct ctx_err *err)
{
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	int64_t comment;
	enum ctx_status status = ctx_pprof_file_string(pprof->file, text, &comment, err);

	piece.comment = &comment;
	piece.n_comment = 1;
	return status == CTX_OK ? ctx_pprof_file_put(pprof->file, &piece, err) : status;
}

/* Start of the recording, in ns since 1970; 0 unknown. */
static int64_t start_ns(const struct ctx_profile *profile)
{
	const char *end, *text = ctx_profile_property(profile, "start", "");
	struct tm parts = {0};
	time_t seconds;

	end = strptime(text, "%Y-%m-%d %H:%M:%S UTC", &parts);
	seconds = end != NULL && *end == '\0' ? timegm(&parts) : 0;
	return seconds > 0 && seconds < INT64_MAX / NS_PER_SECOND ? seconds * NS_PER_SECOND : 0;
}

static enum ctx_status put_times(struct pprof *pprof, struct ctx_err *err)
{
	const struct ctx_export_input *input = pprof->input;
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	uint64_t duration_ns = 0;
	int64_t start = start_ns(input->profile);

	for (size_t i = 0; i < input->selection->n_intervals; i++)
		duration_ns +=
			input->selection->intervals[i].end_ns - input->selection->intervals[i].begin_ns;
	if (input->is_difference)
		return CTX_OK;
	piece.duration_nanos = to_signed(pprof, duration_ns);
	if (start != 0 && input->selection->n_intervals != 0 &&
	    input->selection->intervals[0].begin_ns <= (uint64_t)(INT64_MAX - start))
		piece.time_nanos = start + (int64_t)input->selection->intervals[0].begin_ns;
	return ctx_pprof_file_put(pprof->file, &piece, err);
}

/* Describes the recording, for readers who have only this file. */
static enum ctx_status put_comments(struct pprof *pprof, struct ctx_err *err)
{
	const struct ctx_export_input *input = pprof->input;
	struct ctx_buf text = {0};
	enum ctx_status status = CTX_OK;

	for (size_t i = 0;
	     status == CTX_OK && i <= (input->is_difference ? 0 : input->selection->n_intervals); i++) {
		ctx_buf_clear(&text);
		if (i == 0)
			ctx_buf_printf(&text, "recording: %s", input->selection->path);
		else
			ctx_buf_printf(&text, "interval: %" PRIu64 " to %" PRIu64 " ns from its start",
				       input->selection->intervals[i - 1].begin_ns,
				       input->selection->intervals[i - 1].end_ns);
		ctx_buf_put_u8(&text, 0);
		status = ctx_buf_check(&text, err);
		if (status == CTX_OK)
			status = put_comment(pprof, (const char *)text.bytes, err);
	}
	ctx_buf_deinit(&text);
	for (size_t i = 0; status == CTX_OK && i < input->profile->n_warnings; i++)
		status = put_comment(pprof, input->profile->warnings[i], err);
	return status;
}

static enum ctx_status put_header(struct pprof *pprof, struct ctx_err *err)
{
	const struct ctx_metric_info *metric = &pprof->input->profile->metrics[pprof->input->metric];
	const char *unit = unit_name(metric->unit);
	enum ctx_status status = put_type(pprof, "samples", "count", false, err);

	if (status == CTX_OK)
		status = put_type(pprof, metric->name, unit, false, err);
	if (status == CTX_OK)
		status = put_type(pprof, metric->name, unit, true, err);
	if (status == CTX_OK)
		status = put_times(pprof, err);
	return status == CTX_OK ? put_comments(pprof, err) : status;
}

static enum ctx_status make_labels(struct pprof *pprof, uint32_t thread, Pprof__Label *labels,
				   struct ctx_err *err)
{
	static const char *const keys[LABELS] = {"process", "thread", "pid", "tid"};
	const struct ctx_profile *profile = pprof->input->profile;
	const struct ctx_thread_info *info = &profile->threads[thread];
	const struct ctx_process_info *process = &profile->processes[info->process];
	enum ctx_status status = CTX_OK;

	for (int i = 0; i < LABELS && status == CTX_OK; i++) {
		pprof__label__init(&labels[i]);
		status = ctx_pprof_file_string(pprof->file, keys[i], &labels[i].key, err);
	}
	if (status == CTX_OK)
		status = ctx_pprof_file_string(pprof->file, process->command, &labels[0].str, err);
	if (status == CTX_OK)
		status = ctx_pprof_file_string(pprof->file, info->name, &labels[1].str, err);
	labels[2].num = process->pid;
	labels[3].num = info->tid;
	return status;
}

/* Of a difference: one label of side A, none of side B. */
static enum ctx_status make_base_label(struct pprof *pprof, Pprof__Label *label, struct ctx_err *err)
{
	enum ctx_status status;

	pprof__label__init(label);
	status = ctx_pprof_file_string(pprof->file, "pprof::base", &label->key, err);
	return status == CTX_OK ? ctx_pprof_file_string(pprof->file, "true", &label->str, err) : status;
}

/* The labels of a part's samples. */
struct labels {
	Pprof__Label items[LABELS];
	Pprof__Label *list[LABELS];
	size_t n;
	bool is_base; /* their values are negative */
};

/* The numbers of a stack's locations, leaf first; returns how many. */
static size_t number_frames(struct pprof *pprof, const struct ctx_pprof_stack *stack)
{
	const struct ctx_profile *profile = pprof->input->profile;
	const struct ctx_code *code = pprof->stacks.code.code;
	size_t n = 0;

	for (uint32_t raw = stack->raw; raw != CTX_TRIE_ROOT; raw = code->raw_stacks->parent[raw]) {
		uint32_t location = code->raw_stacks->key[raw];

		if (!code->locations[location].joins)
			pprof->numbers[n++] = ctx_pprof_location_of_address(&pprof->locations, location);
	}
	if (stack->raw != CTX_TRIE_ROOT)
		return n;
	n = ctx_export_frames(profile, stack->stack, pprof->frames);
	if (n == 0)
		pprof->frames[n++] = profile->n_functions;
	for (size_t i = 0; i < n; i++)
		pprof->numbers[i] =
			ctx_pprof_location_of_function(&pprof->locations, pprof->frames[n - 1 - i]);
	return n;
}

static enum ctx_status put_sample(struct pprof *pprof, const struct ctx_pprof_stack *stack,
				  struct labels *labels, struct ctx_err *err)
{
	int64_t values[VALUES] = {to_signed(pprof, stack->samples), to_signed(pprof, stack->weight)};
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__Sample sample = PPROF__SAMPLE__INIT;
	Pprof__Sample *samples = &sample;

	for (size_t i = 0; i < VALUES && labels->is_base; i++)
		values[i] = -values[i];
	sample.n_location_id = number_frames(pprof, stack);
	sample.location_id = pprof->numbers;
	sample.value = values;
	sample.n_value = VALUES;
	sample.label = labels->list;
	sample.n_label = labels->n;
	piece.sample = &samples;
	piece.n_sample = 1;
	return ctx_pprof_file_put(pprof->file, &piece, err);
}

static enum ctx_status begin_thread(struct pprof *pprof, uint32_t thread, struct labels *labels,
				    struct ctx_err *err)
{
	bool is_difference = pprof->input->is_difference;

	*labels = (struct labels){.n = LABELS, .is_base = is_difference && thread == BASE};
	if (is_difference)
		labels->n = labels->is_base;
	for (int i = 0; i < LABELS; i++)
		labels->list[i] = &labels->items[i];
	return is_difference ? make_base_label(pprof, &labels->items[0], err)
			     : make_labels(pprof, thread, labels->items, err);
}

static enum ctx_status put_samples(struct pprof *pprof, struct ctx_err *err)
{
	struct labels labels;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < pprof->stacks.n && status == CTX_OK; i++) {
		const struct ctx_pprof_stack *stack = &pprof->stacks.items[i];

		if (i == 0 || stack->thread != stack[-1].thread)
			status = begin_thread(pprof, stack->thread, &labels, err);
		if (status == CTX_OK)
			status = put_sample(pprof, stack, &labels, err);
	}
	return status;
}

/* The object that has the name of the first process's program; CTX_NONE if none has. */
static uint32_t program(const struct pprof *pprof)
{
	const struct ctx_profile *profile = pprof->input->profile;
	const char *command, *name;
	size_t n;

	if (pprof->stacks.n == 0)
		return CTX_NONE;
	command = profile->processes[profile->threads[pprof->stacks.items[0].thread].process].command;
	n = strcspn(command, " ");
	for (name = command + n; name > command && name[-1] != '/';)
		name--;
	n -= (size_t)(name - command);
	for (uint32_t i = 0; i < profile->n_objects; i++) {
		const char *base = ctx_path_base(profile->objects[i].path);

		if (n != 0 && strncmp(base, name, n) == 0 && base[n] == '\0')
			return i;
	}
	return CTX_NONE;
}

static enum ctx_status put_all(struct pprof *pprof, struct ctx_err *err)
{
	enum ctx_status status = put_header(pprof, err);

	if (status == CTX_OK)
		status = put_samples(pprof, err);
	if (status == CTX_OK)
		status = ctx_pprof_locations_write(&pprof->locations, program(pprof), pprof->file, err);
	return status == CTX_OK ? ctx_pprof_file_close(pprof->file, err) : status;
}

static void remark(const struct pprof *pprof)
{
	const struct ctx_export_input *input = pprof->input;

	if (input->is_difference)
		input->remark(input->remark_context, "side A's values are negative: all are changes");
	input->remark(
		input->remark_context,
		"this format has no time: the samples of the interval are added up by thread and stack");
	if (pprof->stacks.code.code == NULL)
		input->remark(input->remark_context, "no addresses are written: one location per function");
	if (pprof->too_large != 0)
		input->remark(input->remark_context, "values of 2^63 and more are cut to 2^63 - 1");
}

/* Frames of the deepest stack. */
static size_t deepest(const struct pprof *pprof)
{
	const struct ctx_code *code = pprof->stacks.code.code;
	size_t functions = ctx_export_deepest(&pprof->input->profile->cct);
	size_t addresses = code != NULL ? ctx_export_deepest(code->raw_stacks) : 0;

	return functions > addresses ? functions : addresses;
}

static enum ctx_status prepare(struct pprof *pprof, FILE *out, struct ctx_err *err)
{
	size_t depth = deepest(pprof) + 1;
	enum ctx_status status;

	pprof->frames = ctx_calloc(depth, sizeof(*pprof->frames));
	pprof->numbers = ctx_calloc(depth, sizeof(*pprof->numbers));
	if (pprof->frames == NULL || pprof->numbers == NULL)
		return ctx_err_nomem(err);
	status = ctx_export_names_init(&pprof->names, pprof->input->profile, err);
	if (status == CTX_OK)
		status = ctx_pprof_locations_init(&pprof->locations, pprof->input, &pprof->stacks.code,
						  &pprof->names, err);
	return status == CTX_OK ? ctx_pprof_file_create(out, &pprof->file, err) : status;
}

static enum ctx_status write_pprof(const struct ctx_export_input *input, FILE *out, struct ctx_err *err)
{
	struct pprof pprof = {.input = input};
	enum ctx_status status = ctx_pprof_stacks_init(&pprof.stacks, input, err);

	if (status == CTX_OK)
		status = prepare(&pprof, out, err);
	if (status == CTX_OK)
		status = put_all(&pprof, err);
	if (status == CTX_OK)
		remark(&pprof);
	ctx_pprof_file_destroy(pprof.file);
	ctx_pprof_locations_deinit(&pprof.locations);
	ctx_export_names_deinit(&pprof.names);
	ctx_pprof_stacks_deinit(&pprof.stacks);
	free(pprof.frames);
	free(pprof.numbers);
	return status;
}

const struct ctx_export_kind ctx_export_pprof = {
	.name = "pprof",
	.suffix = ".pb.gz",
	.binary = true,
	.takes_difference = true,
	.write = write_pprof,
};
