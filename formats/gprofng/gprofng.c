/*
 *	log.xml, map.xml, overview --gp_experiment--> gp_timeline --> moments by time --.
 *	profile, hwcounters, ...   --gp_events--> events by time ----------------------+--> events of the source
 *	data.frameinfo             --gp_frames--> frames of an event's stack ----------'
 */
#include "formats/gprofng/gprofng.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "formats/gprofng/gp_archive.h"
#include "formats/gprofng/gp_reader.h"
#include "formats/gprofng/gp_traced.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NS_PER_HOUR ((int64_t)3600 * 1000000000)

/* Stacks */

/* The number of an event's stack. */
static enum ctx_status find_stack(struct ctx_gp_reader *reader, struct ctx_gp_experiment *experiment,
				  const struct ctx_gp_event *event, uint32_t *ret, struct ctx_err *err)
{
	struct ctx_gp_image *image = &reader->images[experiment->number];
	struct ctx_gp_stacks *stacks = &image->stacks;
	enum ctx_gp_stack_state state;
	size_t before = stacks->n;
	enum ctx_status status = CTX_OK;

	if (event->stack == 0) { /* it has none */
		*ret = 0;
		return CTX_OK;
	}
	if (!experiment->has_frames)
		status = ctx_gp_experiment_read_frames(&reader->experiments, experiment, err);
	if (status == CTX_OK)
		status = ctx_gp_stacks_number(stacks, event->stack, &reader->last, ret, err);
	if (status == CTX_OK && stacks->n != before) {
		struct ctx_gp_numbered *stack = &stacks->items[*ret - 1];

		stack->time_ns = event->time_ns;
		status = ctx_gp_jimage_take(&image->java, &experiment->frames, stack, &reader->last, err);
		stacks->n_broken += stack->state != CTX_GP_STACK_WHOLE;
	}
	if (status != CTX_OK || stacks->n_broken == 0)
		return status;
	state = stacks->items[*ret - 1].state;
	if (state == CTX_GP_STACK_MISSING)
		reader->sums.missing++;
	else if (state == CTX_GP_STACK_CUT)
		reader->sums.cut++;
	return CTX_OK;
}

static enum ctx_status stack_frames(struct ctx_event_source *source, uint32_t process, uint32_t stack,
				    struct ctx_event_stack *ret, struct ctx_err *err)
{
	struct ctx_gp_reader *reader = source->impl;
	uint32_t number = reader->experiment_of[process];
	const struct ctx_gp_frames *frames = &reader->experiments.items[number]->frames;
	struct ctx_gp_image *image = &reader->images[number];
	struct ctx_gp_stacks *stacks = &image->stacks;
	bool is_last = reader->last.of == stacks && reader->last.number == stack;
	enum ctx_status status = CTX_OK;

	*ret = (struct ctx_event_stack){.id = stack, .frames = reader->last.frames};
	if (stack == 0)
		return CTX_OK;
	if (!ctx_gp_stacks_frames(stacks, stack, &reader->last))
		return ctx_err_set(err, CTX_E_INTERNAL, "no stack %u of process %u", stack, process);
	if (!is_last && stacks->items[stack - 1].is_java)
		status = ctx_gp_jimage_take(&image->java, frames, &stacks->items[stack - 1], &reader->last,
					    err);
	ret->n_frames = reader->last.n;
	return status;
}

/* Threads */

static const char *thread_name(const struct ctx_gp_log *log, int64_t tid)
{
	for (size_t i = 0; i < log->n_threads; i++) {
		if (log->threads[i].tid == tid)
			return log->threads[i].name;
	}
	return "";
}

/* The thread of a sample; a new one is announced first. */
static enum ctx_status set_thread(struct ctx_gp_reader *reader, const struct ctx_gp_experiment *experiment,
				  int64_t tid, struct ctx_event *sample, struct ctx_err *err)
{
	struct ctx_gp_image *image = &reader->images[experiment->number];
	uint32_t *place = ctx_map64_place(&image->thread_of_tid, (uint64_t)tid);
	struct ctx_event *start = &reader->later.events[reader->later.n];

	if (place == NULL)
		return ctx_err_nomem(err);
	if (*place == CTX_MAP64_NONE) {
		if (reader->n_threads == UINT32_MAX - 1)
			return ctx_err_set(err, CTX_E_LIMIT, "more than 4 G threads");
		*place = reader->n_threads++;
		*start = (struct ctx_event){.kind = CTX_EV_THREAD_START,
					    .time_ns = tid == experiment->log.process.pid
							       ? (uint64_t)experiment->shift_ns
							       : sample->time_ns,
					    .process = image->number,
					    .thread = *place};
		start->thread_start.tid = tid;
		start->thread_start.name = thread_name(&experiment->log, tid);
		reader->later.n++;
	}
	sample->thread = *place;
	return CTX_OK;
}

/* Events */

/* The event was used if anything waits in `later` afterwards. */
static enum ctx_status take_event(struct ctx_gp_reader *reader, uint64_t time_ns, struct ctx_err *err)
{
	struct ctx_event sample = {.kind = CTX_EV_SAMPLE, .time_ns = time_ns};
	struct ctx_gp_experiment *experiment;
	struct ctx_gp_event event;
	bool is_traced;
	enum ctx_status status = ctx_gp_events_next(reader->events, &event, err);

	reader->later.n = reader->later.at = 0;
	if (status != CTX_OK)
		return status;
	experiment = reader->experiments.items[event.owner];
	ctx_gp_stacks_prefetch(&reader->images[event.owner].stacks, event.later_stack);
	is_traced = ctx_gp_traced_is(&event);
	if (!is_traced && !ctx_gp_metrics_are_of(&event))
		return CTX_OK;
	sample.process = reader->images[event.owner].number;
	sample.sample.cpu = event.cpu;
	sample.sample.stack = (struct ctx_event_stack){0};
	reader->jstacks.time_ns = time_ns;
	status = find_stack(reader, experiment, &event, &sample.sample.stack.id, err);
	if (status == CTX_OK)
		status = set_thread(reader, experiment, event.lwp, &sample, err);
	if (status != CTX_OK)
		return status;
	if (is_traced)
		return ctx_gp_traced_take(reader, &event, &sample, err);
	ctx_gp_metrics_take(reader, &event, &sample);
	return CTX_OK;
}

/* Moments */

static void forget(struct ctx_gp_image *image)
{
	ctx_map64_deinit(&image->thread_of_tid);
	ctx_gp_stacks_deinit(&image->stacks);
	ctx_gp_jimage_deinit(&image->java);
}

static void start_process(struct ctx_gp_reader *reader, const struct ctx_gp_experiment *experiment,
			  struct ctx_event *ret)
{
	struct ctx_gp_image *image = &reader->images[experiment->number];
	const struct ctx_gp_log *log = &experiment->log;
	uint32_t parent = image->parent;

	image->number = reader->n_processes++;
	image->stacks.frames = &experiment->frames;
	image->stacks.truncations = experiment->map.truncations;
	reader->experiment_of[image->number] = experiment->number;
	ret->kind = CTX_EV_PROCESS_START;
	ret->process_start.pid = log->process.pid;
	ret->process_start.parent = parent != CTX_NONE ? reader->images[parent].number : CTX_NONE;
	ret->process_start.command = log->process.command;
	ret->process_start.lineage = experiment->lineage;
}

/* The copy of a load object in the root process's archives; "" none. */
static const char *find_archive(struct ctx_gp_reader *reader, const struct ctx_gp_experiment *experiment,
				const char *path)
{
	const struct ctx_gp_experiment *root_process = reader->experiments.items[experiment->root_process];
	char name[CTX_GP_ARCHIVE_NAME];

	bool is_alone = ctx_path_base(root_process->path)[0] == '_'; /* a descendant opened on its own */

	ctx_gp_archive_name(path, name);
	if ((size_t)snprintf(reader->text, sizeof(reader->text), "%s/%sarchives/%s", root_process->path,
			     is_alone ? "../" : "", name) >= sizeof(reader->text) ||
	    access(reader->text, R_OK) != 0)
		return "";
	return reader->text;
}

static uint16_t machine_of(const struct ctx_gp_log *log)
{
	if (strcmp(log->machine.arch, "x86_64") == 0)
		return log->machine.is_32bit ? EM_386 : EM_X86_64;
	if (log->machine.arch[0] == 'i' && strcmp(log->machine.arch + 2, "86") == 0)
		return EM_386;
	return strcmp(log->machine.arch, "aarch64") == 0 ? EM_AARCH64 : EM_NONE;
}

/* JIT code: methods are identified by their names, other functions by their addresses. */
static enum ctx_status name_code(struct ctx_gp_reader *reader, struct ctx_gp_experiment *experiment,
				 const struct ctx_gp_map_entry *entry, struct ctx_event *ret,
				 struct ctx_err *err)
{
	uint32_t name;
	enum ctx_status status = ctx_gp_experiment_read_code(&reader->experiments, experiment, err);

	if (status != CTX_OK)
		return status;
	ret->map.code = ctx_gp_code_find(&experiment->code, entry->address, entry->size, entry->reported_ns,
					 &ret->map.n_code);
	ret->map.machine = machine_of(&experiment->log);
	if (entry->method == 0) {
		ret->map.function = ctx_strtab_get(&experiment->map.names, entry->function);
		ret->map.file_offset = entry->address;
		if (ret->map.path[0] != '[')
			ret->map.path = "<dynamic functions>";
		return CTX_OK;
	}
	status = ctx_gp_jimage_name(&reader->images[experiment->number].java, entry->method,
				    experiment->log.times.run_ns + entry->reported_ns, &name, err);
	if (status != CTX_OK)
		return status;
	ret->map.path = "<compiled Java methods>";
	ret->map.function = ctx_strtab_get(&reader->jstacks.names, name);
	ret->map.file_offset = ctx_gp_jstacks_place(name);
	return CTX_OK;
}

static enum ctx_status map_moment(struct ctx_gp_reader *reader, struct ctx_gp_experiment *experiment,
				  uint32_t item, struct ctx_event *ret, struct ctx_err *err)
{
	const struct ctx_gp_map *map = &experiment->map;
	const struct ctx_gp_map_entry *entry = &map->entries[item];

	ret->kind = entry->is_unmap ? CTX_EV_UNMAP : CTX_EV_MAP;
	ret->map = (struct ctx_map_event){.address = entry->address,
					  .size = entry->size,
					  .file_offset = entry->file_offset,
					  .path = ctx_strtab_get(&map->names, entry->path),
					  .build_id = "",
					  .archive = "",
					  .function = ""};
	if (entry->is_unmap)
		return CTX_OK;
	if (entry->method != 0 || entry->function != UINT32_MAX)
		return name_code(reader, experiment, entry, ret, err);
	ret->map.archive = find_archive(reader, experiment, ret->map.path);
	return CTX_OK;
}

static void usage_moment(const struct ctx_gp_experiment *experiment, uint32_t item, struct ctx_event *ret)
{
	const struct ctx_gp_usage *record = &experiment->overview.records[item];

	ret->kind = CTX_EV_USAGE;
	ret->usage = (struct ctx_usage_info){
		.time_ns = ret->time_ns,
		.process = ret->process,
		.user_ns = record->user_ns,
		.system_ns = record->system_ns,
		.minor_faults = record->minor_faults,
		.major_faults = record->major_faults,
		.voluntary_switches = record->voluntary_switches,
		.involuntary_switches = record->involuntary_switches,
		.read_bytes = record->blocks_read * 512,
		.write_bytes = record->blocks_written * 512,
	};
}

/* Java methods may then lack their names. */
static enum ctx_status start_java(struct ctx_gp_reader *reader, const struct ctx_gp_experiment *experiment,
				  struct ctx_err *err)
{
	struct ctx_err why = {0};
	char prefix[256];
	enum ctx_status status =
		ctx_gp_jimage_start(&reader->images[experiment->number].java, experiment, &why);

	if (status == CTX_OK || status == CTX_E_NOMEM)
		return status == CTX_OK ? CTX_OK : ctx_err_nomem(err);
	return ctx_gp_experiments_damage(&reader->experiments, err, "%s%s: methods may lack their names",
					 ctx_gp_experiment_prefix(experiment, prefix), why.msg);
}

static enum ctx_status take_moment(struct ctx_gp_reader *reader, struct ctx_event *ret, struct ctx_err *err)
{
	const struct ctx_gp_moment *moment = &reader->moments.items[reader->moments.at++];
	struct ctx_gp_experiment *experiment = reader->experiments.items[moment->experiment];

	enum ctx_status status = CTX_OK;

	*ret = (struct ctx_event){.time_ns = moment->time_ns};
	if (moment->kind == CTX_GP_MOMENT_START) {
		start_process(reader, experiment, ret);
		status = start_java(reader, experiment, err);
	}
	ret->process = reader->images[moment->experiment].number;
	if (moment->kind == CTX_GP_MOMENT_MAP)
		status = map_moment(reader, experiment, moment->item, ret, err);
	else if (moment->kind == CTX_GP_MOMENT_USAGE)
		usage_moment(experiment, moment->item, ret);
	else if (moment->kind == CTX_GP_MOMENT_END) {
		ret->kind = CTX_EV_PROCESS_EXIT;
		ctx_gp_frames_deinit(&experiment->frames);
		reader->last.of = NULL;
		forget(&reader->images[moment->experiment]);
	}
	return status;
}

/* The source */

static enum ctx_status tell_sums(struct ctx_gp_reader *reader, struct ctx_err *err)
{
	struct ctx_gp_experiments *experiments = &reader->experiments;
	enum ctx_status status = CTX_OK;

	reader->ended = true;
	if (reader->sums.missing != 0)
		status = ctx_gp_experiments_damage(experiments, err,
						   "the call stacks of %llu samples are missing",
						   (unsigned long long)reader->sums.missing);
	if (status == CTX_OK && reader->sums.cut != 0)
		status = ctx_gp_experiments_damage(experiments, err,
						   "the call stacks of %llu samples lack their callers",
						   (unsigned long long)reader->sums.cut);
	if (status == CTX_OK && reader->sums.impossible != 0)
		status = ctx_gp_experiments_damage(
			experiments, err, "%llu samples with an impossible weight or counter are left out",
			(unsigned long long)reader->sums.impossible);
	if (status == CTX_OK && experiments->n_more_damage != 0) {
		experiments->n_damage--; /* the last entry is reserved for this */
		status = ctx_gp_experiments_damage(experiments, err, "and %llu more such places",
						   (unsigned long long)experiments->n_more_damage + 1);
	}
	return status;
}

/* Reports problems found meanwhile. True: *ret is one. */
static bool take_text(struct ctx_gp_reader *reader, struct ctx_event *ret)
{
	if (reader->warnings.at < reader->warnings.n) {
		*ret = (struct ctx_event){.kind = CTX_EV_WARNING,
					  .text = reader->warnings.texts[reader->warnings.at++]};
		return true;
	}
	if (reader->damage_at < reader->experiments.n_damage) {
		*ret = (struct ctx_event){.kind = CTX_EV_DAMAGE,
					  .text = reader->experiments.damage[reader->damage_at++]};
		return true;
	}
	return false;
}

/* Is a moment due before the next event? Ends come after the events of their time. */
static bool is_due(const struct ctx_gp_reader *reader, uint64_t event_ns)
{
	const struct ctx_gp_moment *moment = &reader->moments.items[reader->moments.at];

	if (reader->moments.at == reader->moments.n)
		return false;
	return moment->kind == CTX_GP_MOMENT_END ? moment->time_ns < event_ns : moment->time_ns <= event_ns;
}

static enum ctx_status next_event(struct ctx_event_source *source, struct ctx_event *ret, struct ctx_err *err)
{
	struct ctx_gp_reader *reader = source->impl;

	for (;;) {
		int64_t time;
		enum ctx_status status;

		if (ctx_gp_jstacks_next(&reader->jstacks, ret))
			return CTX_OK;
		if (reader->later.at < reader->later.n) {
			*ret = reader->later.events[reader->later.at++];
			return CTX_OK;
		}
		if (take_text(reader, ret))
			return CTX_OK;
		if (reader->ended)
			return CTX_END;
		status = ctx_gp_events_peek(reader->events, &time, err);
		if (status < 0)
			return status;
		if (is_due(reader, status == CTX_END ? UINT64_MAX : (uint64_t)time)) {
			return take_moment(reader, ret, err);
		}
		if (status == CTX_END) {
			status = tell_sums(reader, err);
			if (status != CTX_OK)
				return status;
			continue;
		}
		status = take_event(reader, (uint64_t)time, err);
		if (status != CTX_OK)
			return status;
	}
}

static uint64_t progress(const struct ctx_event_source *source)
{
	const struct ctx_gp_reader *reader = source->impl;

	return ctx_gp_events_progress(reader->events);
}

static void close_reader(struct ctx_event_source *source)
{
	struct ctx_gp_reader *reader = source->impl;

	for (size_t i = 0; reader->images != NULL && i < reader->experiments.n; i++)
		forget(&reader->images[i]);
	ctx_gp_jstacks_deinit(&reader->jstacks);
	ctx_gp_events_destroy(reader->events);
	ctx_gp_traced_destroy(reader->traced);
	ctx_gp_experiments_deinit(&reader->experiments);
	ctx_arena_deinit(&reader->arena);
	free(reader->images);
	free(reader->experiment_of);
	free(reader->moments.items);
	free(reader->counter_metrics);
	free(reader->warnings.texts);
	free(reader->source.info.metrics);
	free(reader->source.info.properties);
	free(reader);
}

/* Opening */

/* Adds one data file: reads through it for its times. A missing or damaged one is skipped. */
static enum ctx_status add_data(struct ctx_gp_reader *reader, struct ctx_gp_experiment *experiment,
				size_t file, int64_t latest_ns, struct ctx_err *err)
{
	struct ctx_gp_experiments *experiments = &reader->experiments;
	char *path CTX_AUTO_FREE = ctx_path_join(experiment->path, experiment->log.files[file]);
	struct ctx_gp_events_found found = {0};
	char prefix[256];
	struct ctx_err why = {0};
	enum ctx_status status =
		path != NULL ? ctx_gp_events_add(reader->events,
						 &(struct ctx_gp_data_file){.path = path,
									    .log = &experiment->log,
									    .file = file,
									    .owner = experiment->number,
									    .shift_ns = experiment->shift_ns,
									    .latest_ns = latest_ns},
						 &found, &why)
			     : CTX_E_NOMEM;

	if (status == CTX_E_NOMEM)
		return ctx_err_nomem(err);
	if (status != CTX_OK)
		return ctx_gp_experiments_damage(experiments, err, "%s: its events are missing", why.msg);
	ctx_gp_experiment_prefix(experiment, prefix);
	reader->n_events += found.n;
	reader->source.info.bytes += found.bytes;
	if (found.n != 0)
		ctx_gp_traced_note(reader->traced, &experiment->log, file);
	if (found.n != 0 && found.last_ns - experiment->log.times.run_ns > experiment->end_ns)
		experiment->end_ns = found.last_ns - experiment->log.times.run_ns;
	if (found.invalid != 0)
		status = ctx_gp_experiments_damage(
			experiments, err, "%s%s: %llu records cannot be read, the first at offset %llu",
			prefix, experiment->log.files[file], (unsigned long long)found.invalid,
			(unsigned long long)found.invalid_at);
	if (status == CTX_OK && found.impossible != 0)
		status = ctx_gp_experiments_damage(
			experiments, err, "%s%s: %llu records with a time that cannot be", prefix,
			experiment->log.files[file], (unsigned long long)found.impossible);
	return status;
}

/* The latest valid time of events: a closed experiment records when it ended. */
static int64_t latest_of(const struct ctx_gp_experiment *experiment)
{
	const struct ctx_gp_log *log = &experiment->log;
	int64_t after = log->times.has_exit || log->times.has_exec ? NS_PER_HOUR : NS_PER_HOUR * 24 * 365,
		latest;

	return __builtin_add_overflow(log->times.run_ns, experiment->end_ns + after, &latest) ? INT64_MAX
											      : latest;
}

static enum ctx_status add_all(struct ctx_gp_reader *reader, struct ctx_err *err)
{
	struct ctx_gp_experiments *experiments = &reader->experiments;
	uint64_t *duration = &reader->source.info.duration_ns;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < experiments->n && status == CTX_OK; i++) {
		struct ctx_gp_experiment *item = experiments->items[i];
		int64_t latest_ns = latest_of(item);

		for (size_t k = 0; k < item->log.n_files && status == CTX_OK; k++)
			status = add_data(reader, item, k, latest_ns, err);
		if (status == CTX_OK)
			status = ctx_gp_traced_read(reader, item, latest_ns, err);
		if (*duration < (uint64_t)(item->shift_ns + item->end_ns) + 1)
			*duration = (uint64_t)(item->shift_ns + item->end_ns) + 1;
	}
	return status;
}

enum ctx_status ctx_gprofng_open(const char *path, struct ctx_event_source **ret, struct ctx_err *err)
{
	struct ctx_gp_reader *reader = ctx_calloc(1, sizeof(*reader));
	enum ctx_status status;

	if (reader == NULL)
		return ctx_err_nomem(err);
	reader->source = (struct ctx_event_source){.impl = reader,
						   .next = next_event,
						   .stack_frames = stack_frames,
						   .progress = progress,
						   .close = close_reader};
	status = ctx_gp_events_create(&reader->events, err);
	if (status == CTX_OK)
		status = ctx_gp_experiments_open(&reader->experiments, path, err);
	if (status == CTX_OK)
		status = ctx_gp_timeline_place(reader, err);
	if (status == CTX_OK)
		status = ctx_gp_info_fill(reader, err);
	if (status == CTX_OK)
		status = ctx_gp_traced_create(reader, err);
	if (status == CTX_OK)
		status = add_all(reader, err);
	if (status == CTX_OK)
		status = ctx_gp_traced_metrics(reader, err);
	if (status == CTX_OK)
		status = ctx_gp_timeline_fill(reader, err);
	if (status == CTX_OK) {
		reader->source.info.name = ctx_arena_strdup(&reader->arena, ctx_path_base(path));
		status = reader->source.info.name != NULL ? CTX_OK : ctx_err_nomem(err);
	}
	if (status != CTX_OK) {
		close_reader(&reader->source);
		return status;
	}
	*ret = &reader->source;
	return CTX_OK;
}

bool ctx_gprofng_is_experiment(const char *path)
{
	return ctx_gp_experiment_is(path);
}

bool ctx_gprofng_is_group(const char *path)
{
	return ctx_gp_group_is(path);
}
