/*
 *	line --st_line--> sample, frame --here--> the sample that is open --> named (processes, threads, functions) --> events
 *
 * The file is read twice: for events, periods and times, which a source must know when it is opened,
 * and for samples.
 */
#include "formats/stacktext/stacktext.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "formats/named/named.h"
#include "formats/stacktext/st_line.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_BYTES ((size_t)1 << 20)
#define PROBE_LINES 200 /* of a file's beginning */
#define PROBE_FOLDED 3	/* lines that make a text folded stacks, or all if there are fewer */
#define DAMAGE_MAX 64u	/* lines that are named; more are counted */
#define PERIOD_MAX (UINT64_C(1) << 56)

struct reader {
	struct ctx_named named; /* first */
	FILE *file;
	const char *name;
	char *line; /* owned */
	size_t cap;
	uint64_t number; /* of the line */
	bool is_folded, has_times;
	bool is_headed; /* no line of it is a sample's by itself: see ctx_st_head_parse */
	char *head;	/* owned; the line before, which may be one of a sample */
	size_t n_head, head_cap;
	uint64_t head_number;
	bool head_waits;
	bool is_probing;	    /* lines that are too long are not read to their end */
	uint64_t first_ns, last_ns; /* of all samples */
	bool *without_period;	    /* owned; by metric */
	/* The sample whose frames are being read. */
	bool is_open;
	struct ctx_event sample;
	uint64_t *frames; /* owned */
	uint32_t n_frames;
	size_t frames_cap;
	uint32_t *inlined; /* owned; names of inlined functions that wait for their module */
	size_t n_inlined, inlined_cap;
	uint64_t n_damaged, n_bytes_read;
};

static void destroy(struct ctx_named *named)
{
	struct reader *reader = (struct reader *)named;

	if (reader->file != NULL)
		fclose(reader->file);
	ctx_named_deinit(named);
	free(reader->line);
	free(reader->head);
	free(reader->without_period);
	free(reader->frames);
	free(reader->inlined);
	free(reader);
}

/* Sets byte `n` of the line; what is behind LINE_MAX_BYTES is dropped. */
static enum ctx_status set_byte(struct reader *reader, size_t n, int c, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	if (n >= LINE_MAX_BYTES)
		return CTX_OK;
	if (n >= reader->cap)
		status = ctx_grow(&reader->line, &reader->cap, n + 1, err);
	if (status == CTX_OK)
		reader->line[n] = (char)c;
	return status;
}

/* The next line without its end. CTX_END; CTX_E_IO. Longer ones are cut. */
static enum ctx_status next_line(struct reader *reader, size_t *ret, struct ctx_err *err)
{
	enum ctx_status status = set_byte(reader, 0, '\0', err);
	size_t n = 0;
	int c = 0;

	while (status == CTX_OK && !(reader->is_probing && n == LINE_MAX_BYTES) &&
	       (c = getc_unlocked(reader->file)) != EOF && c != '\n')
		status = set_byte(reader, n++, c, err);
	if (status != CTX_OK)
		return status;
	if (c == EOF && ferror(reader->file))
		return ctx_err_errno(err, CTX_E_IO, "%s", reader->name);
	if (c == EOF && n == 0)
		return CTX_END;
	reader->number++;
	reader->n_bytes_read += n + (c == '\n');
	n = n < LINE_MAX_BYTES ? n : LINE_MAX_BYTES;
	while (n > 0 && reader->line[n - 1] == '\r')
		n--;
	*ret = n;
	return CTX_OK;
}

/* --- lines that need the next one --- */

static enum ctx_status keep_head(struct reader *reader, size_t n, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&reader->head, &reader->head_cap, n + 1, err);

	if (status != CTX_OK)
		return status;
	memcpy(reader->head, reader->line, n);
	reader->n_head = n;
	reader->head_number = reader->number;
	reader->head_waits = true;
	return CTX_OK;
}

/* Whether this line is a frame, so that the one before begins a sample. */
static bool begins_headed(struct reader *reader, size_t n, struct ctx_st_sample *ret)
{
	if (!reader->head_waits || !ctx_st_frame_is_sure(reader->line, n))
		return false;
	reader->head_waits = false;
	return ctx_st_head_parse(reader->head, reader->n_head, ret);
}

/* --- recognising --- */

bool ctx_stacktext_is(const char *path)
{
	FILE *file = ctx_file_open_plain_stream(path);
	struct reader reader = {.file = file, .is_probing = true};
	unsigned samples = 0, frames = 0, folded = 0, others = 0, headed = 0;
	unsigned *counted = NULL; /* as what the last line was counted */
	size_t n;

	if (file == NULL)
		return false;
	while (reader.number < PROBE_LINES && next_line(&reader, &n, NULL) == CTX_OK) {
		struct ctx_st_sample sample;
		struct ctx_st_frame frame;
		struct ctx_st_text stack;
		uint64_t count;

		if (memchr(reader.line, 0, n) != NULL || n == LINE_MAX_BYTES) {
			others++;
			break;
		}
		if (n != 0 && reader.line[0] == '#')
			continue;
		if (begins_headed(&reader, n, &sample)) {
			if (counted != NULL)
				(*counted)--;
			headed++;
			continue;
		}
		if (ctx_st_sample_parse(reader.line, n, &sample))
			counted = &samples;
		else if (ctx_st_frame_parse(reader.line, n, &frame))
			counted = &frames;
		else if (n == 0)
			counted = NULL;
		else if (ctx_st_folded_parse(reader.line, n, &stack, &count))
			counted = &folded;
		else
			counted = &others;
		if (counted != NULL)
			(*counted)++;
		if (counted != &frames && keep_head(&reader, n, NULL) != CTX_OK)
			break;
		reader.head_waits = counted != &samples && counted != &frames;
	}
	free(reader.line);
	free(reader.head);
	fclose(file);
	/* Frames alone are any indented text. */
	if (samples != 0 && folded == 0)
		return others <= samples / 4;
	if (samples == 0 && headed != 0)
		return others <= headed / 4;
	return samples == 0 && frames == 0 && others * 8 <= folded && folded != 0 &&
	       (folded >= PROBE_FOLDED || reader.number < PROBE_LINES);
}

/* --- metrics --- */

/* Ticks of time where every sample has a period. */
static enum ctx_unit unit_of(struct ctx_st_text event)
{
	return (event.n >= 9 && memcmp(event.at, "cpu-clock", 9) == 0) ||
			       (event.n >= 10 && memcmp(event.at, "task-clock", 10) == 0)
		       ? CTX_UNIT_NS
		       : CTX_UNIT_EVENTS;
}

static enum ctx_status metric_of(struct reader *reader, const struct ctx_st_sample *sample, uint32_t *ret,
				 struct ctx_err *err)
{
	static const struct ctx_st_text nameless = {"samples", 7};
	struct ctx_st_text event = sample->event.n != 0 ? sample->event : nameless;
	uint32_t n_before = reader->named.source.info.n_metrics;
	char *name CTX_AUTO_FREE = strndup(event.at, event.n);
	enum ctx_status status = name != NULL
					 ? ctx_named_metric(&reader->named, name, unit_of(event), ret, err)
					 : ctx_err_nomem(err);

	if (status == CTX_OK && *ret == n_before) {
		bool *without = realloc(reader->without_period, n_before + 1);

		if (without == NULL)
			return ctx_err_nomem(err);
		reader->without_period = without;
		without[n_before] = false;
	}
	return status;
}

/* --- the first reading --- */

static enum ctx_status look_at(struct reader *reader, size_t n, struct ctx_err *err)
{
	struct ctx_st_sample sample;
	struct ctx_st_frame frame;
	uint32_t metric;
	enum ctx_status status;

	if (reader->is_headed && n != 0 && reader->line[0] == '#')
		return CTX_OK;
	if (reader->is_headed && !begins_headed(reader, n, &sample)) {
		reader->head_waits = false;
		return ctx_st_frame_parse(reader->line, n, &frame) ? CTX_OK : keep_head(reader, n, err);
	}
	if (!reader->is_headed && !ctx_st_sample_parse(reader->line, n, &sample))
		return CTX_OK;
	status = metric_of(reader, &sample, &metric, err);
	if (status != CTX_OK)
		return status;
	if (sample.period == 0 || sample.period > PERIOD_MAX)
		reader->without_period[metric] = true;
	if (!sample.has_time)
		return CTX_OK;
	if (!reader->has_times || sample.time_ns < reader->first_ns)
		reader->first_ns = sample.time_ns;
	if (!reader->has_times || sample.time_ns > reader->last_ns)
		reader->last_ns = sample.time_ns;
	reader->has_times = true;
	return CTX_OK;
}

static enum ctx_status look_through(struct reader *reader, struct ctx_err *err)
{
	struct ctx_source_info *info = &reader->named.source.info;
	enum ctx_status status;
	uint32_t metric;
	size_t n;

	if (reader->is_folded) {
		status = ctx_named_metric(&reader->named, "count", CTX_UNIT_EVENTS, &metric, err);
	} else {
		do {
			status = next_line(reader, &n, err);
			if (status == CTX_OK)
				status = look_at(reader, n, err);
		} while (status == CTX_OK);
		status = status == CTX_END ? CTX_OK : status;
	}
	if (status == CTX_OK && info->n_metrics == 0)
		return ctx_err_set(err, CTX_E_FORMAT, "%s: no sample in it", reader->name);
	for (uint32_t i = 0; status == CTX_OK && !reader->is_folded && i < info->n_metrics; i++) {
		if (reader->without_period[i])
			info->metrics[i].unit = CTX_UNIT_EVENTS;
	}
	info->duration_ns = reader->has_times ? reader->last_ns - reader->first_ns + 1 : 1;
	info->bytes = reader->n_bytes_read;
	reader->number = reader->n_bytes_read = 0;
	reader->head_waits = false;
	rewind(reader->file);
	return status;
}

/* --- samples --- */

static enum ctx_status add_frame(struct reader *reader, const struct ctx_named_function *function,
				 uint64_t offset, struct ctx_err *err)
{
	enum ctx_status status;

	if (reader->n_frames == LINE_MAX_BYTES) /* as many as a line of folded stacks can have */
		return CTX_OK;
	status = ctx_grow(&reader->frames, &reader->frames_cap, reader->n_frames + 1, err);
	if (status != CTX_OK)
		return status;
	if (function->n_name == 0) { /* an address that has no name */
		reader->frames[reader->n_frames++] = 0;
		return CTX_OK;
	}
	return ctx_named_frame(&reader->named, function, offset < CTX_FRAME_POSITIONS ? (uint32_t)offset : 0,
			       &reader->frames[reader->n_frames++], err);
}

/* Functions that were inlined into one of this module; they come first, from the leaf. */
static enum ctx_status add_inlined(struct reader *reader, struct ctx_st_text module, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < reader->n_inlined && status == CTX_OK; i++) {
		const char *name = ctx_strtab_get(&reader->named.names, reader->inlined[i]);

		status = add_frame(reader,
				   &(struct ctx_named_function){.name = name,
								.n_name = strlen(name),
								.module = module.n != 0 ? module.at : "",
								.n_module = module.n},
				   0, err);
	}
	reader->n_inlined = 0;
	return status;
}

static enum ctx_status on_frame(struct reader *reader, const struct ctx_st_frame *frame, struct ctx_err *err)
{
	static const char unknown[] = "<Unknown>";
	bool is_named = frame->name.n != 0 || frame->module.n == 0;
	struct ctx_named_function function = {.name = is_named ? frame->name.at : unknown,
					      .n_name = is_named ? frame->name.n : strlen(unknown),
					      .module = frame->module.n != 0 ? frame->module.at : "",
					      .n_module = frame->module.n};
	enum ctx_status status;

	if (frame->is_inlined && reader->n_inlined == CTX_NAMED_FRAMES_MAX)
		return CTX_OK;
	if (frame->is_inlined) {
		status = ctx_grow(&reader->inlined, &reader->inlined_cap, reader->n_inlined + 1, err);
		return status == CTX_OK ? ctx_strtab_add(&reader->named.names, function.name, function.n_name,
							 &reader->inlined[reader->n_inlined++], err)
					: status;
	}
	status = add_inlined(reader, frame->module, err);
	return status == CTX_OK ? add_frame(reader, &function, frame->offset, err) : status;
}

/* All frames of the open sample are there. */
static enum ctx_status end_sample(struct reader *reader, struct ctx_err *err)
{
	enum ctx_status status;

	if (!reader->is_open)
		return CTX_OK;
	reader->is_open = false;
	status = add_inlined(reader, (struct ctx_st_text){NULL, 0}, err);
	return status == CTX_OK ? ctx_named_sample(&reader->named, &reader->sample, reader->frames,
						   reader->n_frames, err)
				: status;
}

static enum ctx_status begin_sample(struct reader *reader, const struct ctx_st_sample *sample,
				    struct ctx_err *err)
{
	char *command CTX_AUTO_FREE = strndup(sample->command.at, sample->command.n);
	struct ctx_event *event = &reader->sample;
	struct ctx_named_thread thread = {.time_ns =
						  sample->has_time ? sample->time_ns - reader->first_ns : 0,
					  .pid = sample->pid,
					  .tid = sample->tid,
					  .process_name = command,
					  .thread_name = command};
	uint32_t metric;
	enum ctx_status status =
		command != NULL ? metric_of(reader, sample, &metric, err) : ctx_err_nomem(err);

	*event = (struct ctx_event){.time_ns = thread.time_ns};
	/* Without numbers threads are told apart by their names. */
	if (status == CTX_OK && !sample->has_ids) {
		status = ctx_strtab_add_text(&reader->named.names, command, &thread.life, err);
		thread.process_life = ++thread.life;
	}
	if (status == CTX_OK)
		status = ctx_named_thread(&reader->named, &thread, event, err);
	if (status != CTX_OK)
		return status;
	event->sample.metric = metric;
	event->sample.weight = reader->without_period[metric] ? 1 : sample->period;
	event->sample.cpu = sample->cpu;
	reader->is_open = true;
	reader->n_frames = 0;
	return sample->has_leaf ? on_frame(reader, &sample->leaf, err) : CTX_OK;
}

static enum ctx_status on_damage(struct reader *reader, uint64_t number, struct ctx_err *err)
{
	if (++reader->n_damaged > DAMAGE_MAX)
		return CTX_OK;
	return ctx_named_damage(&reader->named, err, "%s: line %llu: neither a sample nor a frame",
				reader->name, (unsigned long long)number);
}

static enum ctx_status on_line(struct reader *reader, size_t n, struct ctx_err *err)
{
	struct ctx_st_sample sample;
	struct ctx_st_frame frame;
	enum ctx_status status;
	bool is_sample;

	if (n != 0 && reader->line[0] == '#')
		return CTX_OK;
	if (n == 0)
		return end_sample(reader, err);
	is_sample = ctx_st_sample_parse(reader->line, n, &sample);
	if (!is_sample && reader->is_open && ctx_st_frame_parse(reader->line, n, &frame))
		return on_frame(reader, &frame, err);
	status = end_sample(reader, err);
	if (status != CTX_OK)
		return status;
	return is_sample ? begin_sample(reader, &sample, err) : on_damage(reader, reader->number, err);
}

/* The line before was neither. */
static enum ctx_status drop_head(struct reader *reader, struct ctx_err *err)
{
	bool is_damage = reader->head_waits && reader->n_head != 0;

	reader->head_waits = false;
	return is_damage ? on_damage(reader, reader->head_number, err) : CTX_OK;
}

static enum ctx_status on_headed_line(struct reader *reader, size_t n, struct ctx_err *err)
{
	struct ctx_st_sample sample;
	struct ctx_st_frame frame;
	enum ctx_status status;
	bool is_frame;

	if (n != 0 && reader->line[0] == '#')
		return CTX_OK;
	if (begins_headed(reader, n, &sample)) {
		status = begin_sample(reader, &sample, err);
		(void)ctx_st_frame_parse(reader->line, n, &frame);
		return status == CTX_OK ? on_frame(reader, &frame, err) : status;
	}
	/* What is indented is no head, as in the first reading. */
	is_frame = ctx_st_frame_parse(reader->line, n, &frame);
	if (is_frame && reader->is_open)
		return on_frame(reader, &frame, err);
	status = end_sample(reader, err);
	if (status == CTX_OK)
		status = drop_head(reader, err);
	if (status != CTX_OK)
		return status;
	return is_frame ? on_damage(reader, reader->number, err) : keep_head(reader, n, err);
}

static void reverse(uint64_t *frames, uint32_t n)
{
	for (uint32_t i = 0; i < n / 2; i++) {
		uint64_t frame = frames[i];

		frames[i] = frames[n - 1 - i];
		frames[n - 1 - i] = frame;
	}
}

/* Frames come from the root; inlined ones are those of the function before. */
static enum ctx_status on_folded(struct reader *reader, size_t n, struct ctx_err *err)
{
	static const struct ctx_named_thread thread = {
		.pid = 1, .tid = 1, .process_name = "folded stacks", .thread_name = "folded stacks"};
	struct ctx_event event = {.sample = {.cpu = -1}};
	struct ctx_st_text stack;
	struct ctx_st_frame frame;
	enum ctx_status status;
	uint64_t count;

	if (n == 0 || reader->line[0] == '#')
		return CTX_OK;
	if (!ctx_st_folded_parse(reader->line, n, &stack, &count) || count > PERIOD_MAX)
		return on_damage(reader, reader->number, err);
	status = ctx_named_thread(&reader->named, &thread, &event, err);
	reader->n_frames = 0;
	while (status == CTX_OK && ctx_st_folded_next(&stack, &frame)) {
		frame.is_inlined = false;
		status = on_frame(reader, &frame, err);
	}
	if (status != CTX_OK || count == 0)
		return status;
	reverse(reader->frames, reader->n_frames);
	event.sample.weight = count;
	return ctx_named_sample(&reader->named, &event, reader->frames, reader->n_frames, err);
}

static enum ctx_status end_reading(struct reader *reader, struct ctx_err *err)
{
	enum ctx_status status = end_sample(reader, err);

	if (status == CTX_OK)
		status = drop_head(reader, err);
	if (status == CTX_OK && reader->n_damaged > DAMAGE_MAX)
		status = ctx_named_warn(&reader->named, err, "%llu more lines are neither samples nor frames",
					(unsigned long long)(reader->n_damaged - DAMAGE_MAX));
	reader->n_damaged = 0;
	return status == CTX_OK ? CTX_END : status;
}

static enum ctx_status read_on(struct ctx_named *named, struct ctx_err *err)
{
	struct reader *reader = (struct reader *)named;

	while (named->n == 0) {
		size_t n;
		enum ctx_status status = next_line(reader, &n, err);

		if (status == CTX_END)
			return end_reading(reader, err);
		if (status == CTX_OK)
			status = reader->is_folded   ? on_folded(reader, n, err)
				 : reader->is_headed ? on_headed_line(reader, n, err)
						     : on_line(reader, n, err);
		if (status != CTX_OK)
			return status;
	}
	return CTX_OK;
}

static uint64_t progress(const struct ctx_event_source *source)
{
	const struct reader *reader = source->impl;

	return reader->n_bytes_read;
}

/* --- opening --- */

static enum ctx_status find_form(struct reader *reader, struct ctx_err *err)
{
	struct ctx_st_sample sample;
	struct ctx_st_frame frame;
	enum ctx_status status;
	size_t n;

	reader->is_folded = true;
	do {
		status = next_line(reader, &n, err);
		if (status != CTX_OK)
			break;
		if (n != 0 && reader->line[0] == '#')
			continue;
		if (ctx_st_sample_parse(reader->line, n, &sample)) {
			reader->is_folded = reader->is_headed = false;
		} else if (begins_headed(reader, n, &sample)) {
			reader->is_headed = true;
		} else if (ctx_st_frame_parse(reader->line, n, &frame)) {
			reader->head_waits = false;
		} else {
			status = keep_head(reader, n, err);
		}
	} while (status == CTX_OK && reader->is_folded && reader->number < PROBE_LINES);
	reader->is_folded = reader->is_folded && !reader->is_headed;
	reader->head_waits = false;
	reader->number = reader->n_bytes_read = 0;
	rewind(reader->file);
	return status == CTX_END ? CTX_OK : status;
}

enum ctx_status ctx_stacktext_open(const char *path, struct ctx_event_source **ret, struct ctx_err *err)
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
	reader->file = fopen(path, "re");
	status = reader->file != NULL
			 ? find_form(reader, err)
			 : ctx_err_errno(err, errno == ENOENT ? CTX_E_NOTFOUND : CTX_E_IO, "%s", path);
	if (status == CTX_OK)
		status = look_through(reader, err);
	if (status == CTX_OK && !reader->has_times)
		status = ctx_named_warn(&reader->named, err, "no times in the file: all samples are at 0");
	if (status != CTX_OK) {
		destroy(&reader->named);
		return status;
	}
	reader->named.source.info.name = reader->name;
	reader->named.source.info.format = reader->is_folded ? "folded stacks" : "perf script";
	*ret = &reader->named.source;
	return CTX_OK;
}
