/*
 * Writes a gprofng experiment: a directory for each process, all inside that of the root process.
 *
 *	samples --1--> stacks, their addresses --> archives/ (a file for each load object)
 *	process --> objects' places --> data.frameinfo, map.xml, log.xml, overview
 *	samples --2--> profile or hwcounters of their processes
 *
 * The samples are read twice and never kept.
 */
#include "base/fileio.h"
#include "base/mem.h"
#include "base/strtab.h"
#include "formats/export/exports.h"
#include "formats/export/gprofng_blocks.h"
#include "formats/export/gprofng_frames.h"
#include "formats/export/gprofng_texts.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define TICKS_MAX ((uint64_t)INT32_MAX) /* of a packet: gprofng reads an int */
#define LINEAGE_MAX 200u		/* length limit: it names a directory */
#define LIFE_STEP 10000000		/* between the thread numbers of two uses of one tid */
#define TYPE_CLOCK 8u
#define TYPE_COUNTER 3u
#define CLOCK_BYTES 56u
#define WEIGHT_BYTES 8u
#define COUNTER_BYTES 64u
#define LINUX_CPU 10u /* the only state of threads that gprofng knows on Linux */

/* MSTATE of gprofng's on Solaris, which has nothing for unknown time: it is other wait. */
static const uint8_t state_numbers[CTX_STATE_N] = {
	[CTX_STATE_USER] = 0,	    [CTX_STATE_SYSTEM] = 1,	[CTX_STATE_TRAP] = 2,
	[CTX_STATE_TEXT_FAULT] = 3, [CTX_STATE_DATA_FAULT] = 4, [CTX_STATE_KERNEL_FAULT] = 5,
	[CTX_STATE_USER_LOCK] = 6,  [CTX_STATE_SLEEP] = 7,	[CTX_STATE_WAIT_CPU] = 8,
	[CTX_STATE_STOPPED] = 9,    [CTX_STATE_UNKNOWN] = 7,
};

struct exporting {
	const struct ctx_export_input *input;
	const char *directory;
	struct ctx_gpx_stacks stacks;
	struct ctx_gpx_objects objects;
	struct ctx_gpx_data data;
	struct ctx_gpx_pair bare;	   /* of samples without a stack */
	int64_t owed_ns;		   /* total over all stacks */
	struct ctx_gpx_process *processes; /* owned; by process id */
	bool has_lineages;		   /* those of the recording can be used */
	struct ctx_gpx_blocks *events;	   /* owned; by process id */
	uint64_t *thread_numbers;	   /* owned; by thread id */
};

/* What kind of experiment */

static bool is_state(const struct ctx_profile *profile, uint32_t metric)
{
	return profile->has_states && metric >= profile->states && metric - profile->states < CTX_STATE_N;
}

static bool are_states(const struct ctx_profile *profile, uint32_t metric)
{
	const struct ctx_metric_info *info = &profile->metrics[metric];

	for (uint32_t i = 0; i < info->n_parts; i++) {
		if (!is_state(profile, info->parts[i]))
			return false;
	}
	return !ctx_metric_is_count(info) && (info->n_parts != 0 || is_state(profile, metric));
}

/*
 * Measured times (waits, input and output) are not clock profiles: gprofng would show them as CPU
 * time.
 */
static bool is_cpu_clock(const struct ctx_metric_info *info)
{
	return info->kind == CTX_METRIC_CPU_TIME && info->parts == NULL;
}

/*
 * The coarsest tick of which every weight is a multiple; otherwise a microsecond, the finest
 * possible.
 */
static void choose_data(struct exporting *exporting)
{
	const struct ctx_profile *profile = exporting->input->profile;
	uint32_t metric = exporting->input->metric;
	uint64_t divisor = exporting->stacks.divisor_ns, tick = divisor / 1000;
	struct ctx_gpx_data *data = &exporting->data;

	*data = (struct ctx_gpx_data){.kind = CTX_GPX_COUNTER, .tick_us = 1, .is_exact = true};
	if (are_states(profile, metric))
		data->kind = CTX_GPX_STATES;
	else if (is_cpu_clock(&profile->metrics[metric]))
		data->kind = CTX_GPX_CLOCK;
	else
		return;
	data->is_exact = divisor % 1000 == 0;
	while (tick > TICKS_MAX)
		tick = tick % 10 == 0 ? tick / 10 : 1;
	if (data->is_exact && tick != 0)
		data->tick_us = tick;
}

/* Processes */

static uint32_t parent_of(const struct ctx_profile *profile, uint32_t process)
{
	uint32_t parent = profile->processes[process].parent;

	return parent < process ? parent
				: 0; /* a process without a parent becomes a child of the root process */
}

/* Whether the recording has a unique lineage for each process: "_f1_x2". */
static enum ctx_status has_lineages(const struct ctx_profile *profile, bool *ret, struct ctx_err *err)
{
	struct ctx_strtab known = {0};
	enum ctx_status status = CTX_OK;
	uint32_t id;

	*ret = true;
	for (uint32_t i = 1; i < profile->n_processes && *ret && status == CTX_OK; i++) {
		const char *lineage = profile->processes[i].lineage;
		size_t n = strlen(lineage);

		*ret = n > 1 && n <= LINEAGE_MAX && lineage[0] == '_' &&
		       strspn(lineage, "_fxc0123456789") == n;
		if (*ret)
			status = ctx_strtab_add(&known, lineage, n, &id, err);
		*ret = *ret && status == CTX_OK && id == i - 1;
	}
	ctx_strtab_deinit(&known);
	return status;
}

/* The parent's lineage plus one step; one that gets too long is replaced by a number. */
static char *make_lineage(const struct exporting *exporting, uint32_t process, uint32_t *forks,
			  uint32_t *execs)
{
	const struct ctx_profile *profile = exporting->input->profile;
	uint32_t parent = parent_of(profile, process);
	bool is_exec = exporting->processes[parent].successor == process;
	char *lineage = NULL;

	if (process == 0)
		return strdup("");
	if (exporting->has_lineages)
		return strdup(profile->processes[process].lineage);
	if (asprintf(&lineage, "%s_%c%u", exporting->processes[parent].lineage, is_exec ? 'x' : 'f',
		     is_exec ? ++execs[parent] : ++forks[parent]) < 0)
		return NULL;
	if (strlen(lineage) <= LINEAGE_MAX)
		return lineage;
	free(lineage);
	return asprintf(&lineage, "_f%u", profile->n_processes + process) >= 0 ? lineage : NULL;
}

static enum ctx_status make_process(struct exporting *exporting, uint32_t id, uint32_t *forks,
				    uint32_t *execs, struct ctx_err *err)
{
	const struct ctx_process_info *info = &exporting->input->profile->processes[id];
	const struct ctx_gpx_use *use = &exporting->stacks.uses[id];
	struct ctx_gpx_process *process = &exporting->processes[id];
	char *name CTX_AUTO_FREE = NULL;

	process->lineage = make_lineage(exporting, id, forks, execs);
	if (process->lineage == NULL || asprintf(&name, "%s.er", process->lineage) < 0)
		return ctx_err_nomem(err);
	process->path = id == 0 ? strdup(exporting->directory) : ctx_path_join(exporting->directory, name);
	exporting->events[id].path =
		process->path != NULL
			? ctx_path_join(process->path,
					exporting->data.kind == CTX_GPX_COUNTER ? "hwcounters" : "profile")
			: NULL;
	if (exporting->events[id].path == NULL)
		return ctx_err_nomem(err);
	process->begin_ns = id == 0 ? 0 : info->life.begin_ns;
	process->end_ns = info->life.end_ns > process->begin_ns ? info->life.end_ns : process->begin_ns;
	if (use->samples != 0 && use->first_ns < process->begin_ns)
		process->begin_ns = use->first_ns;
	if (use->samples != 0 && use->last_ns >= process->end_ns)
		process->end_ns = use->last_ns + 1;
	process->closed = exporting->input->profile->closed || info->has_exit_status;
	if (id != 0 && mkdir(process->path, 0777) != 0)
		return ctx_err_errno(err, CTX_E_IO, "%s", process->path);
	return CTX_OK;
}

/* A child with its parent's number is the parent after exec. */
static void find_successors(struct exporting *exporting)
{
	const struct ctx_profile *profile = exporting->input->profile;

	for (uint32_t i = 0; i < profile->n_processes; i++)
		exporting->processes[i].successor = CTX_NONE;
	for (uint32_t i = 1; i < profile->n_processes; i++) {
		uint32_t parent = profile->processes[i].parent;

		if (parent < i && profile->processes[parent].pid == profile->processes[i].pid &&
		    exporting->processes[parent].successor == CTX_NONE)
			exporting->processes[parent].successor = i;
	}
}

static enum ctx_status make_processes(struct exporting *exporting, struct ctx_err *err)
{
	uint32_t n = exporting->input->profile->n_processes;
	uint32_t *forks CTX_AUTO_FREE = ctx_calloc(n, sizeof(*forks));
	uint32_t *execs CTX_AUTO_FREE = ctx_calloc(n, sizeof(*execs));
	enum ctx_status status;

	exporting->processes = ctx_calloc(n, sizeof(*exporting->processes));
	exporting->events = ctx_calloc(n, sizeof(*exporting->events));
	if (forks == NULL || execs == NULL || exporting->processes == NULL || exporting->events == NULL)
		return ctx_err_nomem(err);
	find_successors(exporting);
	status = has_lineages(exporting->input->profile, &exporting->has_lineages, err);
	for (uint32_t i = 0; i < n && status == CTX_OK; i++)
		status = make_process(exporting, i, forks, execs, err);
	return status;
}

struct life {
	uint32_t process, thread;
	int64_t tid;
};

static int by_tid(const void *a, const void *b)
{
	const struct life *left = a, *right = b;

	if (left->process != right->process)
		return left->process < right->process ? -1 : 1;
	if (left->tid != right->tid)
		return left->tid < right->tid ? -1 : 1;
	return (left->thread > right->thread) - (left->thread < right->thread);
}

/*
 * A thread is identified by its tid; the second one with that tid in a process gets another number.
 */
static enum ctx_status number_threads(struct exporting *exporting, struct ctx_err *err)
{
	const struct ctx_profile *profile = exporting->input->profile;
	struct life *lives CTX_AUTO_FREE = ctx_calloc(profile->n_threads, sizeof(*lives));
	uint64_t turn = 0;

	exporting->thread_numbers = ctx_calloc(profile->n_threads, sizeof(*exporting->thread_numbers));
	if (lives == NULL || exporting->thread_numbers == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < profile->n_threads; i++)
		lives[i] = (struct life){profile->threads[i].process, i, profile->threads[i].tid};
	if (profile->n_threads != 0)
		qsort(lives, profile->n_threads, sizeof(*lives), by_tid);
	for (uint32_t i = 0; i < profile->n_threads; i++) {
		bool again = i != 0 && lives[i].process == lives[i - 1].process &&
			     lives[i].tid == lives[i - 1].tid;

		turn = again ? turn + 1 : 0;
		exporting->thread_numbers[lives[i].thread] =
			(uint64_t)(lives[i].tid >= 0 ? lives[i].tid : 0) + turn * LIFE_STEP;
	}
	return CTX_OK;
}

/* "2026-11-21 16:33:58 UTC" */
static int64_t start_of(const struct ctx_profile *profile)
{
	struct tm parts = {0};
	const char *end = strptime(ctx_profile_property(profile, "start", ""), "%Y-%m-%d %H:%M:%S", &parts);

	return end != NULL ? (int64_t)timegm(&parts) : 0;
}

static uint32_t thread_group(const void *context, uint32_t thread)
{
	return ((const struct ctx_profile *)context)->threads[thread].process;
}

static uint32_t child_group(const void *context, uint32_t process)
{
	uint32_t parent = ((const struct ctx_profile *)context)->processes[process].parent;

	return parent != process ? parent : CTX_NONE;
}

static uint32_t usage_group(const void *context, uint32_t i)
{
	return ((const struct ctx_profile *)context)->usage[i].process;
}

static void remark_moved(const struct ctx_export_input *input, uint64_t n)
{
	char text[160];

	if (n == 0)
		return;
	snprintf(text, sizeof(text),
		 "%" PRIu64 " times a load object is at another address than it was mapped at", n);
	input->remark(input->remark_context, text);
}

static enum ctx_status write_each(struct exporting *exporting, const struct ctx_gpx_texts *texts,
				  struct ctx_err *err)
{
	const struct ctx_export_input *input = exporting->input;
	struct ctx_gpx_places places;
	struct ctx_gpx_frames frames = {0};
	enum ctx_status status = ctx_gpx_places_init(&places, input, &exporting->objects, err);

	if (status == CTX_OK)
		status = ctx_gpx_frames_init(&frames, &exporting->stacks, &places, err);
	for (uint32_t i = 0; i < input->profile->n_processes && status == CTX_OK; i++) {
		char *path CTX_AUTO_FREE = ctx_path_join(exporting->processes[i].path, "data.frameinfo");

		ctx_gpx_places_begin(&places, i);
		status = path != NULL ? ctx_gpx_frames_write(&frames, path, err) : ctx_err_nomem(err);
		if (status == CTX_OK)
			status = ctx_gpx_texts_write(texts, i, &places, err);
	}
	if (status == CTX_OK)
		remark_moved(input, places.n_moved);
	ctx_gpx_frames_deinit(&frames);
	ctx_gpx_places_deinit(&places);
	return status;
}

static enum ctx_status write_processes(struct exporting *exporting, struct ctx_err *err)
{
	const struct ctx_profile *profile = exporting->input->profile;
	struct ctx_gpx_groups threads = {0}, children = {0}, usage = {0};
	struct ctx_gpx_texts texts = {.input = exporting->input,
				      .data = &exporting->data,
				      .processes = exporting->processes,
				      .thread_numbers = exporting->thread_numbers,
				      .threads = &threads,
				      .children = &children,
				      .usage = &usage,
				      .start_unix = start_of(profile)};
	uint32_t n = profile->n_processes;
	enum ctx_status status = ctx_gpx_groups_init(
		&threads, &(struct ctx_gpx_grouping){n, profile->n_threads, thread_group, profile}, err);

	if (status == CTX_OK)
		status = ctx_gpx_groups_init(&children,
					     &(struct ctx_gpx_grouping){n, n, child_group, profile}, err);
	if (status == CTX_OK)
		status = ctx_gpx_groups_init(
			&usage,
			&(struct ctx_gpx_grouping){n, (uint32_t)profile->n_usage, usage_group, profile}, err);
	if (status == CTX_OK)
		status = write_each(exporting, &texts, err);
	ctx_gpx_groups_deinit(&threads);
	ctx_gpx_groups_deinit(&children);
	ctx_gpx_groups_deinit(&usage);
	return status;
}

/* Events */

static uint8_t *add_event(struct exporting *exporting, const struct ctx_sample *sample, uint16_t type,
			  size_t n, struct ctx_err *err)
{
	uint32_t process = exporting->input->profile->threads[sample->thread].process;
	uint64_t thread = exporting->thread_numbers[sample->thread];
	uint64_t time_ns = (uint64_t)CTX_GPX_RUN_NS + sample->time_ns;
	uint8_t *at = ctx_gpx_blocks_add(&exporting->events[process], type, n, err);
	size_t packed = type == TYPE_CLOCK ? 4 : 0; /* clock records have no padding after the CPU */

	if (at == NULL)
		return NULL;
	ctx_gpx_put_u64(at + 8, thread);
	ctx_gpx_put_u64(at + 16, thread);
	ctx_gpx_put_u32(at + 24, (uint32_t)sample->cpu);
	ctx_gpx_put_u64(at + 32 - packed, time_ns);
	ctx_gpx_put_u64(at + 40 - packed, ctx_gpx_frames_number(ctx_gpx_node(&exporting->stacks, sample)));
	return at;
}

/*
 * Ticks of a sample. The remainder below a tick is carried by the stack, so that a stack is never
 * off by more than a tick. A new stack takes over the global carry, at most half a tick, so
 * that the total is not off by more either.
 */
static uint64_t ticks_of(struct exporting *exporting, const struct ctx_sample *sample, uint32_t process)
{
	int64_t tick_ns = (int64_t)exporting->data.tick_us * 1000, half = tick_ns / 2, owed_ns;
	uint64_t ticks = sample->weight / (uint64_t)tick_ns;
	struct ctx_gpx_pair *pair = &exporting->bare;
	uint32_t node = ctx_gpx_node(&exporting->stacks, sample);

	if (exporting->data.is_exact)
		return ticks;
	if (node != 0 && (pair = ctx_gpx_pair(&exporting->stacks, process, node)) == NULL)
		return ticks; /* the samples differ from the first pass */
	if (!pair->begun) {
		int64_t all = exporting->owed_ns;

		pair->begun = true;
		pair->owed_ns = all > half ? half : all < -half ? -half : all;
	}
	owed_ns = pair->owed_ns + (int64_t)(sample->weight % (uint64_t)tick_ns);
	exporting->owed_ns += (int64_t)(sample->weight % (uint64_t)tick_ns);
	if (owed_ns >= half) {
		owed_ns -= tick_ns;
		exporting->owed_ns -= tick_ns;
		ticks++;
	}
	pair->owed_ns = owed_ns;
	return ticks;
}

/* A record has 31 bits of ticks: a larger weight is split into several. */
static enum ctx_status write_clock(struct exporting *exporting, const struct ctx_sample *sample,
				   struct ctx_err *err)
{
	const struct ctx_profile *profile = exporting->input->profile;
	uint32_t process = profile->threads[sample->thread].process;
	uint64_t ticks = ticks_of(exporting, sample, process), exact = sample->weight;
	uint32_t state = LINUX_CPU;

	if (exporting->data.kind == CTX_GPX_STATES && is_state(profile, sample->metric))
		state = state_numbers[sample->metric - profile->states];
	do {
		uint64_t some = ticks < TICKS_MAX ? ticks : TICKS_MAX;
		uint8_t *at = add_event(exporting, sample, TYPE_CLOCK,
					CLOCK_BYTES + (exporting->data.is_exact ? 0 : WEIGHT_BYTES), err);

		if (at == NULL)
			return exporting->events[process].status;
		ctx_gpx_put_u32(at + 44, state);
		ctx_gpx_put_u32(at + 48, (uint32_t)some);
		if (!exporting->data.is_exact)
			ctx_gpx_put_u64(at + 56, exact);
		exact = 0; /* the first one has all of it */
		ticks -= some;
	} while (ticks != 0);
	return CTX_OK;
}

static enum ctx_status write_counter(struct exporting *exporting, const struct ctx_sample *sample,
				     struct ctx_err *err)
{
	uint8_t *at = add_event(exporting, sample, TYPE_COUNTER, COUNTER_BYTES, err);

	if (at == NULL)
		return exporting->events[exporting->input->profile->threads[sample->thread].process].status;
	ctx_gpx_put_u64(at + 56, sample->weight);
	return CTX_OK;
}

static enum ctx_status write_event(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	struct exporting *exporting = context;

	return exporting->data.kind == CTX_GPX_COUNTER ? write_counter(exporting, sample, err)
						       : write_clock(exporting, sample, err);
}

static enum ctx_status write_events(struct exporting *exporting, struct ctx_err *err)
{
	const struct ctx_export_input *input = exporting->input;
	enum ctx_status status = input->source->samples(
		input->source, &(struct ctx_samples_query){.thread = CTX_NONE}, write_event, exporting, err);

	for (uint32_t i = 0; i < input->profile->n_processes && status == CTX_OK; i++)
		status = ctx_gpx_blocks_finish(&exporting->events[i], err);
	return status;
}

/* All of it */

static void emit_remarks(const struct exporting *exporting)
{
	const struct ctx_export_input *input = exporting->input;
	const struct ctx_gpx_objects *objects = &exporting->objects;
	char text[300];

	if (objects->n_made != 0) {
		snprintf(text, sizeof(text),
			 "%u of %u load objects are not available: their archives have names but no lines",
			 objects->n_made, objects->n_made + objects->n_copies);
		input->remark(input->remark_context, text);
	}
	if (exporting->data.kind == CTX_GPX_COUNTER) {
		snprintf(text, sizeof(text), "%.200s is not CPU time: it is written as a hardware counter",
			 input->profile->metrics[input->metric].name);
		input->remark(input->remark_context, text);
	} else if (!exporting->data.is_exact) {
		input->remark(input->remark_context,
			      "gprofng counts microseconds: each stack is rounded to one");
	}
}

static enum ctx_status write_all(struct exporting *exporting, struct ctx_err *err)
{
	char *archives CTX_AUTO_FREE = ctx_path_join(exporting->directory, "archives");
	enum ctx_status status = archives != NULL ? CTX_OK : ctx_err_nomem(err);

	if (status == CTX_OK && exporting->input->profile->n_processes == 0)
		return ctx_err_set(err, CTX_E_ARG, "nothing to export: there is no process");
	if (status == CTX_OK)
		status = ctx_gpx_stacks_init(&exporting->stacks, exporting->input, err);
	if (status == CTX_OK)
		choose_data(exporting);
	if (status == CTX_OK)
		status = ctx_gpx_objects_init(&exporting->objects, &exporting->stacks, archives, err);
	if (status == CTX_OK)
		status = ctx_gpx_kallsyms_write(exporting->input, &exporting->objects, exporting->directory,
						err);
	if (status == CTX_OK)
		status = make_processes(exporting, err);
	if (status == CTX_OK)
		status = number_threads(exporting, err);
	if (status == CTX_OK)
		status = write_processes(exporting, err);
	if (status == CTX_OK)
		status = write_events(exporting, err);
	if (status == CTX_OK)
		emit_remarks(exporting);
	return status;
}

static enum ctx_status write_gprofng(const struct ctx_export_input *input, const char *path,
				     struct ctx_err *err)
{
	struct exporting exporting = {.input = input, .directory = path};
	enum ctx_status status = write_all(&exporting, err);

	for (uint32_t i = 0; i < input->profile->n_processes; i++) {
		if (exporting.processes != NULL) {
			free(exporting.processes[i].path);
			free(exporting.processes[i].lineage);
		}
		if (exporting.events != NULL)
			ctx_gpx_blocks_deinit(&exporting.events[i]);
	}
	free(exporting.processes);
	free(exporting.events);
	free(exporting.thread_numbers);
	ctx_gpx_objects_deinit(&exporting.objects);
	ctx_gpx_stacks_deinit(&exporting.stacks);
	return status;
}

const struct ctx_export_kind ctx_export_gprofng = {
	.name = "gprofng",
	.suffix = ".er",
	.binary = true,
	.write_directory = write_gprofng,
};
