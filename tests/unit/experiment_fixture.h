/*
 * Experiments made and read by tests: a recording that keeps its input, and a reading that keeps
 * the output, with stacks as lists of addresses. Pids and tids are never used twice, so that they
 * name rows on both sides.
 */
#ifndef CTX_TESTS_EXPERIMENT_FIXTURE_H
#define CTX_TESTS_EXPERIMENT_FIXTURE_H

#include "base/fileio.h"
#include "base/mem.h"
#include "formats/experiment/exp_block.h"
#include "formats/experiment/exp_reader.h"
#include "formats/experiment/exp_writer.h"
#include "tests/unit/scratch.h"
#include "tests/unit/source_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define FIXTURE_START_NS UINT64_C(5000000000000)
#define FIXTURE_FRAMES 40u

struct fixture_sample {
	uint64_t time_ns; /* relative */
	uint64_t weight;
	int64_t pid, tid;
	uint32_t metric;
	int32_t cpu;
	uint32_t n_frames;
	uint32_t objects;		 /* a sum over the load objects that the frames are in */
	uint64_t frames[FIXTURE_FRAMES]; /* leaf first */
};

/* A change of what a thread does. */
struct fixture_change {
	uint64_t time_ns;
	int64_t pid; /* that the stack is of */
	int64_t tid;
	int64_t waker_tid; /* -1 none */
	enum ctx_state_change change;
	int32_t cpu;
	uint32_t n_frames;
	char external_waker[28]; /* "" none */
	uint64_t frames[FIXTURE_FRAMES];
};

struct fixture_process {
	int64_t pid;
	int64_t parent_pid; /* -1 none */
	uint64_t time_ns, exit_ns;
	bool exited, has_status;
	int32_t status;
	char command[300], lineage[300];
	char cgroup[300]; /* "": unknown */
	int64_t inner_pid;
};

struct fixture_thread {
	int64_t tid, pid, inner_tid;
	uint64_t time_ns;
	bool exited;
	char name[300];
};

struct fixture_map {
	int64_t pid;
	uint64_t time_ns, address, size, offset;
	bool removed;
	char path[300], build_id[300];
};

/* What went in, or what came out. */
struct fixture_contents {
	struct fixture_sample *samples;
	size_t n_samples, samples_cap;
	struct fixture_change *changes;
	size_t n_changes, changes_cap;
	struct fixture_process *processes; /* by number */
	size_t n_processes, processes_cap;
	struct fixture_thread *threads;
	size_t n_threads, threads_cap;
	struct fixture_map *maps;
	size_t n_maps, maps_cap;
	struct ctx_usage_info *usage; /* process: a pid */
	size_t n_usage, usage_cap;
	char *damage; /* lines */
	size_t n_damage;
	char *warnings;		   /* lines */
	struct ctx_vm_info vms[8]; /* of CTX_EV_VM, in order; texts are only valid while it is read */
	size_t n_vms;
	uint64_t lost, gaps, throttles, unthrottles, resets, late, events, titles;
	uint64_t duration_ns, states_end_ns;
	bool closed, has_states;
	bool goes_on; /* the reader says that the recorder still runs */
};

static inline uint64_t fixture_random(uint64_t *seed, uint64_t below)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (*seed >> 24) % below;
}

/* A sum over the paths of the maps that hold the frames now: the latest map is searched first. */
static inline uint32_t fixture_sum_objects(const struct fixture_contents *contents,
					   const struct fixture_sample *sample)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < sample->n_frames; i++) {
		for (size_t m = contents->n_maps; m-- > 0;) {
			const struct fixture_map *map = &contents->maps[m];

			if (map->pid != sample->pid || sample->frames[i] - map->address >= map->size)
				continue;
			for (const char *at = map->path; !map->removed && *at != '\0'; at++)
				sum = (sum ^ (uint8_t)*at) * 16777619u + i;
			break;
		}
	}
	return sum;
}

static inline void fixture_contents_deinit(struct fixture_contents *contents)
{
	free(contents->samples);
	free(contents->changes);
	free(contents->processes);
	free(contents->threads);
	free(contents->maps);
	free(contents->usage);
	free(contents->damage);
	free(contents->warnings);
	*contents = (struct fixture_contents){0};
}

/* A fresh directory; NAME.er in it is the experiment. */
static inline char *fixture_directory(void)
{
	char *path = scratch_directory("ctx-test-exp");

	assert_non_null(path);
	return path;
}

static inline void fixture_remove(char *directory)
{
	assert_int_equal(ctx_dir_remove(directory, NULL), CTX_OK);
	free(directory);
}

/* Appends one zeroed item and returns it. */
#define fixture_append(items, n, cap)                                                                        \
	(assert_int_equal(ctx_grow(&(items), &(cap), (n) + 1, NULL), CTX_OK),                                \
	 memset(&(items)[n], 0, sizeof((items)[n])), &(items)[(n)++])

static inline void fixture_add_line(char **lines, const char *text)
{
	size_t before = *lines != NULL ? strlen(*lines) : 0;
	char *grown = realloc(*lines, before + strlen(text) + 2);

	assert_non_null(grown);
	sprintf(grown + before, "%s\n", text);
	*lines = grown;
}

/* ---- writing ---- */

static const struct ctx_exp_metric FIXTURE_METRICS[] = {
	{"cpu-clock", "ns", "profile", 1000000, 1000.0},
	{"task-clock", "ns", "profile", 0, 997.0},
	{"cache-misses", "events", "hwcounters", 0, 0.0},
	{"page-faults", "events", "hwcounters", 1, 0.0},
};

static const struct ctx_property FIXTURE_PROPERTIES[] = {
	{"collector", "test 1"},
	{"host", "no-such-host"},
	{"command", "./app \"x\" <y>"},
};

static inline struct ctx_exp_options fixture_options(const char *path)
{
	return (struct ctx_exp_options){.path = path,
					.metrics = FIXTURE_METRICS,
					.n_metrics = CTX_COUNT_OF(FIXTURE_METRICS),
					.properties = FIXTURE_PROPERTIES,
					.n_properties = CTX_COUNT_OF(FIXTURE_PROPERTIES),
					.start_ns = FIXTURE_START_NS,
					.start_unix_ns = INT64_C(1700000000000000000)};
}

/* A recording: the writer, and its input so far. */
struct fixture_recording {
	struct ctx_exp_writer *writer;
	struct fixture_contents in;
	uint64_t seed;
	uint64_t now_ns;	/* relative */
	bool has_states;	/* thread states are recorded too */
	enum ctx_status status; /* the first failure; later input is not kept */
};

static inline bool fixture_note(struct fixture_recording *recording, enum ctx_status status)
{
	if (recording->status == CTX_OK)
		recording->status = status;
	return recording->status == CTX_OK;
}

static inline uint32_t fixture_start_process(struct fixture_recording *recording, enum ctx_exp_origin origin,
					     uint32_t parent, const char *command)
{
	uint32_t number = 0;
	struct fixture_process process = {.pid = 1000 + (int64_t)recording->in.n_processes,
					  .parent_pid = parent != CTX_NONE ? 1000 + (int64_t)parent : -1,
					  .time_ns = recording->now_ns};
	struct ctx_exp_process given = {.origin = origin,
					.parent = parent,
					.pid = process.pid,
					.command = command,
					.time_ns = FIXTURE_START_NS + recording->now_ns};

	/* Each fourth is in another control group than its parent, each third in another pid namespace. */
	if (process.pid % 4 == 1) {
		snprintf(process.cgroup, sizeof(process.cgroup), "/a <group>/%lld", (long long)process.pid);
		given.cgroup = process.cgroup;
	} else if (parent != CTX_NONE) {
		snprintf(process.cgroup, sizeof(process.cgroup), "%s",
			 recording->in.processes[parent].cgroup);
	}
	process.inner_pid = given.inner_pid = process.pid % 3 == 1 ? process.pid - 999 : 0;
	if (!fixture_note(recording, ctx_exp_process_start(recording->writer, &given, &number, NULL)))
		return 0;
	assert_int_equal(number, recording->in.n_processes);
	snprintf(process.command, sizeof(process.command), "%s",
		 command != NULL ? command : recording->in.processes[parent].command);
	*fixture_append(recording->in.processes, recording->in.n_processes, recording->in.processes_cap) =
		process;
	return number;
}

static inline uint32_t fixture_start_thread(struct fixture_recording *recording, uint32_t process,
					    const char *name)
{
	uint32_t number = 0;
	struct fixture_thread thread = {.tid = 50000 + (int64_t)recording->in.n_threads,
					.pid = 1000 + (int64_t)process,
					.inner_tid = (int64_t)(recording->in.n_threads % 3),
					.time_ns = recording->now_ns};
	const struct ctx_exp_thread given = {.process = process,
					     .tid = thread.tid,
					     .name = name,
					     .time_ns = FIXTURE_START_NS + recording->now_ns,
					     .inner_tid = thread.inner_tid};

	if (!fixture_note(recording, ctx_exp_thread_start(recording->writer, &given, &number, NULL)))
		return 0;
	assert_int_equal(number, recording->in.n_threads);
	snprintf(thread.name, sizeof(thread.name), "%s", name);
	*fixture_append(recording->in.threads, recording->in.n_threads, recording->in.threads_cap) = thread;
	return number;
}

static inline void fixture_put_map(struct fixture_recording *recording, uint32_t process, uint64_t address,
				   uint64_t size, const char *path, const char *build_id)
{
	struct ctx_exp_map given = {address, size,     address / 16 & ~UINT64_C(4095),	    5,
				    path,    build_id, FIXTURE_START_NS + recording->now_ns};
	struct fixture_map map = {.pid = 1000 + (int64_t)process,
				  .time_ns = recording->now_ns,
				  .address = address,
				  .size = size,
				  .offset = given.file_offset};

	if (!fixture_note(recording, ctx_exp_map(recording->writer, process, &given, NULL)))
		return;
	snprintf(map.path, sizeof(map.path), "%s", path);
	snprintf(map.build_id, sizeof(map.build_id), "%s", build_id);
	*fixture_append(recording->in.maps, recording->in.n_maps, recording->in.maps_cap) = map;
}

/* A stack whose prefixes from the root are those of others. `width`: of how many functions. */
static inline void fixture_draw_frames(struct fixture_recording *recording, uint64_t *frames,
				       uint32_t n_frames, uint32_t width)
{
	for (uint32_t i = 0; i < n_frames; i++) {
		uint64_t draw = fixture_random(&recording->seed, i + 4 < n_frames ? 2 : width);

		frames[i] = UINT64_C(0x400000) + draw * 4096 + (n_frames - i);
		if (i == 0 && draw % 7 == 6)
			frames[i] = UINT64_C(0xffffffff81000000) + draw;
	}
	if (n_frames != 0 && fixture_random(&recording->seed, 10) == 0)
		frames[n_frames - 1] = CTX_FRAME_TRUNCATED;
}

/* A sample of `n_frames` addresses. */
static inline void fixture_put_sample(struct fixture_recording *recording, uint32_t process, uint32_t thread,
				      uint32_t metric, uint32_t n_frames, uint32_t width)
{
	struct fixture_sample sample = {.time_ns = recording->now_ns,
					.pid = 1000 + (int64_t)process,
					.tid = 50000 + (int64_t)thread,
					.metric = metric,
					.cpu = (int32_t)fixture_random(&recording->seed, 5) - 1,
					.n_frames = n_frames};
	struct ctx_exp_sample given = {.time_ns = FIXTURE_START_NS + recording->now_ns,
				       .process = process,
				       .thread = thread,
				       .metric = metric,
				       .cpu = sample.cpu,
				       .frames = sample.frames,
				       .n_frames = n_frames};

	fixture_draw_frames(recording, sample.frames, n_frames, width);
	given.weight = 1 + fixture_random(&recording->seed,
					  UINT64_C(1) << (1 + fixture_random(&recording->seed, 38)));
	sample.weight = FIXTURE_METRICS[metric].period != 0 ? FIXTURE_METRICS[metric].period : given.weight;
	if (!fixture_note(recording, ctx_exp_sample(recording->writer, &given, NULL)))
		return;
	sample.objects = fixture_sum_objects(&recording->in, &sample);
	*fixture_append(recording->in.samples, recording->in.n_samples, recording->in.samples_cap) = sample;
}

/* Records the change `given`, now; its external waker is the one of this name (NULL: none). */
static inline void fixture_put_change(struct fixture_recording *recording, struct ctx_exp_state *given,
				      const char *external_waker)
{
	struct fixture_change change = {.time_ns = recording->now_ns,
					.pid = 1000 + (int64_t)given->process,
					.tid = 50000 + (int64_t)given->thread,
					.waker_tid =
						given->waker != CTX_NONE ? 50000 + (int64_t)given->waker : -1,
					.change = given->change,
					.cpu = given->cpu,
					.n_frames = (uint32_t)given->n_frames};

	given->time_ns = FIXTURE_START_NS + recording->now_ns;
	if (external_waker != NULL &&
	    !fixture_note(recording, ctx_exp_external_waker(recording->writer, external_waker, given->time_ns,
							    &given->external_waker, NULL)))
		return;
	if (!fixture_note(recording, ctx_exp_state(recording->writer, given, NULL)))
		return;
	snprintf(change.external_waker, sizeof(change.external_waker), "%s",
		 external_waker != NULL ? external_waker : "");
	for (size_t i = 0; i < given->n_frames; i++)
		change.frames[i] = given->frames[i];
	*fixture_append(recording->in.changes, recording->in.n_changes, recording->in.changes_cap) = change;
}

/* Any change of a thread; it is woken by any live thread, by an external waker, or by none. */
static inline void fixture_put_any_change(struct fixture_recording *recording, uint32_t thread,
					  uint32_t width)
{
	static const char *const EXTERNAL_WAKERS[] = {"kworker/0:1", "swapper", "<\xff & \"co\">"};
	uint64_t *seed = &recording->seed;
	uint32_t other = (uint32_t)fixture_random(seed, recording->in.n_threads);
	uint32_t waker = CTX_NONE;
	const char *external_waker = NULL;
	uint64_t frames[FIXTURE_FRAMES];
	struct ctx_exp_state given = {.thread = thread, .external_waker = CTX_NONE, .frames = frames};

	given.change = (enum ctx_state_change)fixture_random(seed, CTX_CHANGE_N);
	given.cpu = (int32_t)fixture_random(seed, 5) - 1;
	if (ctx_state_change_has_waker(given.change)) {
		int64_t pid = recording->in.threads[other].pid;

		if (fixture_random(seed, 3) == 0)
			external_waker = EXTERNAL_WAKERS[fixture_random(seed, CTX_COUNT_OF(EXTERNAL_WAKERS))];
		else if (!recording->in.threads[other].exited && !recording->in.processes[pid - 1000].exited)
			waker = other;
	}
	given.waker = waker;
	given.process = (uint32_t)(recording->in.threads[waker != CTX_NONE ? waker : thread].pid - 1000);
	if (given.change != CTX_CHANGE_RUNS)
		given.n_frames = (size_t)fixture_random(seed, FIXTURE_FRAMES + 1);
	fixture_draw_frames(recording, frames, (uint32_t)given.n_frames, width);
	fixture_put_change(recording, &given, external_waker);
}

/* All input so far is in the files from here on: the flush interval has passed. */
static inline void fixture_flush(struct fixture_recording *recording)
{
	fixture_note(recording, ctx_exp_tick(recording->writer,
					     FIXTURE_START_NS + recording->now_ns + 2000000000, NULL));
}

static inline void fixture_close(struct fixture_recording *recording)
{
	fixture_note(recording, ctx_exp_close(recording->writer, FIXTURE_START_NS + recording->now_ns, NULL));
	recording->writer = NULL;
}

static inline void fixture_remove_map(struct fixture_recording *recording, uint32_t process, uint64_t address,
				      uint64_t size)
{
	if (!fixture_note(recording, ctx_exp_unmap(recording->writer, process,
						   &(struct ctx_exp_map){.address = address,
									 .size = size,
									 .time_ns = FIXTURE_START_NS +
										    recording->now_ns},
						   NULL)))
		return;
	*fixture_append(recording->in.maps, recording->in.n_maps, recording->in.maps_cap) =
		(struct fixture_map){.pid = 1000 + (int64_t)process,
				     .time_ns = recording->now_ns,
				     .address = address,
				     .size = size,
				     .removed = true};
}

/* `child` has the maps of `parent` so far. */
static inline void fixture_inherit_maps(struct fixture_contents *contents, int64_t parent, int64_t child)
{
	size_t n = contents->n_maps;

	for (size_t i = 0; i < n; i++) {
		struct fixture_map map = contents->maps[i];

		if (map.pid != parent)
			continue;
		map.pid = child;
		*fixture_append(contents->maps, contents->n_maps, contents->maps_cap) = map;
	}
}

/* A fork or exec of `parent` with a thread of its own; a fork has the parent's maps. */
static inline uint32_t fixture_descend(struct fixture_recording *recording, enum ctx_exp_origin origin,
				       uint32_t parent)
{
	char name[32];
	uint32_t process;

	snprintf(name, sizeof(name), "child %zu", recording->in.n_processes);
	/* Each second fork has the command of its parent. */
	process = fixture_start_process(recording, origin, parent,
					origin == CTX_EXP_FORK && recording->in.n_processes % 2 == 0 ? NULL
												     : name);
	fixture_start_thread(recording, process, name);
	if (origin != CTX_EXP_FORK ||
	    !fixture_note(recording, ctx_exp_fork_maps(recording->writer, parent, process,
						       FIXTURE_START_NS + recording->now_ns, NULL)))
		return process;
	fixture_inherit_maps(&recording->in, 1000 + (int64_t)parent, 1000 + (int64_t)process);
	return process;
}

static inline void fixture_put_usage(struct fixture_recording *recording, uint32_t process)
{
	uint64_t *seed = &recording->seed;
	struct ctx_usage_info usage = {.time_ns = FIXTURE_START_NS + recording->now_ns,
				       .process = process,
				       .user_ns = fixture_random(seed, 1u << 30),
				       .system_ns = fixture_random(seed, 1000),
				       .rss_bytes = fixture_random(seed, 5),
				       .vsize_bytes = UINT64_MAX,
				       .minor_faults = 7,
				       .major_faults = fixture_random(seed, 3),
				       .voluntary_switches = 1,
				       .involuntary_switches = 2,
				       .read_bytes = fixture_random(seed, UINT64_C(1) << 39),
				       .write_bytes = 4,
				       .threads = fixture_random(seed, 100)};

	if (!fixture_note(recording, ctx_exp_usage(recording->writer, &usage, NULL)))
		return;
	usage.time_ns = recording->now_ns;
	usage.process += 1000;
	*fixture_append(recording->in.usage, recording->in.n_usage, recording->in.usage_cap) = usage;
}

/* A random event of a live process. */
static inline void fixture_step(struct fixture_recording *recording, uint32_t width)
{
	uint64_t *seed = &recording->seed;
	uint32_t thread = (uint32_t)fixture_random(seed, recording->in.n_threads);
	uint32_t process = (uint32_t)(recording->in.threads[thread].pid - 1000);
	uint64_t absolute, address;

	recording->now_ns += 1 + fixture_random(seed, 2000000);
	absolute = FIXTURE_START_NS + recording->now_ns;
	address = UINT64_C(0x400000) + fixture_random(seed, width) * 4096;
	if (recording->in.processes[process].exited || recording->in.threads[thread].exited)
		return;
	switch (fixture_random(seed, 120)) {
	case 0:
		fixture_descend(recording, CTX_EXP_FORK, process);
		break;
	case 1:
		fixture_descend(recording, CTX_EXP_EXEC, process);
		break;
	case 2:
		fixture_start_thread(recording, process, "worker");
		break;
	case 3:
	case 4:
		fixture_put_map(recording, process, address, 1 + fixture_random(seed, 5u << 14),
				fixture_random(seed, 2) != 0 ? "/usr/lib/liba.so" : "/usr/bin/app & co",
				"00ff");
		break;
	case 5:
		fixture_remove_map(recording, process, address, 1 + fixture_random(seed, 1u << 14));
		break;
	case 6:
		fixture_put_usage(recording, process);
		break;
	case 7:
		if (process != 0 &&
		    fixture_note(recording,
				 ctx_exp_process_exit(recording->writer, process,
						      &(struct ctx_exp_exit){absolute, thread % 2 != 0, -7},
						      NULL)))
			recording->in.processes[process].exited = true;
		if (recording->in.processes[process].exited) {
			recording->in.processes[process].exit_ns = recording->now_ns;
			recording->in.processes[process].has_status = thread % 2 != 0;
			recording->in.processes[process].status = thread % 2 != 0 ? -7 : 0;
		}
		break;
	case 8:
		if (thread != 0 &&
		    fixture_note(recording, ctx_exp_thread_exit(recording->writer, thread, absolute, NULL)))
			recording->in.threads[thread].exited = true;
		break;
	case 9:
		if (fixture_note(recording,
				 ctx_exp_lost(recording->writer,
					      &(struct ctx_loss){.time = {absolute - 1000, absolute},
								 .located = true,
								 .has_kinds = thread % 2 != 0,
								 .cpu = (int32_t)thread - 1,
								 .count = 3,
								 .kinds = {1, 0, 2}},
					      NULL)))
			recording->in.lost += 3, recording->in.gaps++;
		break;
	case 10:
		if (fixture_note(recording, ctx_exp_throttle(recording->writer, absolute, true, NULL)))
			recording->in.throttles++;
		break;
	case 11:
		if (fixture_note(recording, ctx_exp_throttle(recording->writer, absolute, false, NULL)))
			recording->in.unthrottles++;
		break;
	case 12:
		fixture_note(recording, ctx_exp_tick(recording->writer, absolute, NULL));
		break;
	case 13:
		if (fixture_note(recording,
				 ctx_exp_warning(recording->writer, absolute, "no \"kernel\" stacks", NULL)))
			fixture_add_line(&recording->in.warnings, "no \"kernel\" stacks");
		break;
	case 14:
		if (fixture_note(recording,
				 ctx_exp_thread_name(recording->writer, thread, "renamed", absolute, NULL)))
			snprintf(recording->in.threads[thread].name, sizeof(recording->in.threads->name),
				 "renamed");
		break;
	default:
		if (recording->has_states && fixture_random(seed, 3) != 0)
			fixture_put_any_change(recording, thread, width);
		else
			fixture_put_sample(recording, process, thread, (uint32_t)fixture_random(seed, 4),
					   (uint32_t)fixture_random(seed, FIXTURE_FRAMES + 1), width);
		break;
	}
}

/* Begins a recording with a root process, its thread and a map. */
static inline void fixture_begin(struct fixture_recording *recording, const struct ctx_exp_options *options)
{
	uint32_t process;

	if (!fixture_note(recording, ctx_exp_create(options, &recording->writer, NULL)))
		return;
	recording->has_states = options->has_states;
	process = fixture_start_process(recording, CTX_EXP_ROOT_PROCESS, CTX_NONE, "./app");
	fixture_start_thread(recording, process, "app");
	recording->now_ns += 1000;
	fixture_put_map(recording, process, 0x400000, 0x8000, "/usr/bin/app", "abcdef");
}

/* ---- reading ---- */

struct fixture_node {
	uint32_t parent;
	uint64_t address;
};

struct fixture_dictionary {
	struct fixture_node *nodes; /* nodes[id - 1] */
	size_t n, cap;
};

struct fixture_reading {
	struct fixture_contents *out;
	struct fixture_dictionary *dictionaries; /* by process */
	size_t n_dictionaries, dictionaries_cap;
	uint64_t last_ns;
	const struct ctx_source_info *info; /* borrowed */
	struct source_check check;
};

static inline void fixture_read_stacks(struct fixture_dictionary *dictionary, const struct ctx_event *event)
{
	assert_int_equal(event->stacks.first, dictionary->n + 1);
	assert_true(event->stacks.n > 0);
	for (uint32_t i = 0; i < event->stacks.n; i++) {
		assert_true(event->stacks.parents[i] < event->stacks.first + i);
		*fixture_append(dictionary->nodes, dictionary->n, dictionary->cap) =
			(struct fixture_node){event->stacks.parents[i], event->stacks.addresses[i]};
	}
}

/* The frames of a node, leaf first; how many there are. */
static inline uint32_t fixture_read_frames(const struct fixture_reading *reading, uint32_t process,
					   uint32_t id, uint64_t *frames)
{
	const struct fixture_dictionary *dictionary = &reading->dictionaries[process];
	uint32_t n = 0;

	for (; id != 0; id = dictionary->nodes[id - 1].parent) {
		assert_true(id <= dictionary->n);
		if (n < FIXTURE_FRAMES)
			frames[n++] = dictionary->nodes[id - 1].address;
	}
	return n;
}

static inline void fixture_read_change(struct fixture_reading *reading, const struct ctx_event *event)
{
	struct fixture_contents *out = reading->out;
	uint32_t waker = event->state.waker;
	struct fixture_change *change = fixture_append(out->changes, out->n_changes, out->changes_cap);

	assert_null(event->state.stack.frames);
	assert_int_equal(event->state.stack.n_frames, 0);
	assert_null(event->state.stack.user);
	change->time_ns = event->time_ns;
	change->pid = out->processes[event->process].pid;
	change->tid = out->threads[event->thread].tid;
	change->waker_tid = waker != CTX_NONE ? out->threads[waker].tid : -1;
	change->change = event->state.change;
	change->cpu = event->state.cpu;
	change->n_frames =
		fixture_read_frames(reading, event->process, event->state.stack.id, change->frames);
	snprintf(change->external_waker, sizeof(change->external_waker), "%s",
		 event->state.external_waker != NULL ? event->state.external_waker : "");
}

/* As fixture_put_random writes them. */
static inline void fixture_check_loss(const struct ctx_event *event)
{
	const struct ctx_loss *loss = &event->lost.loss;

	assert_int_equal(event->time_ns, loss->time.begin_ns);
	assert_true(loss->time.end_ns - loss->time.begin_ns == 1000 || loss->time.begin_ns == 0);
	assert_int_equal(loss->has_kinds, loss->cpu % 2 == 0);
	assert_int_equal(loss->kinds[CTX_LOSS_SAMPLES], loss->has_kinds ? 1 : 0);
	assert_int_equal(loss->kinds[CTX_LOSS_CHANGES], 0);
	assert_int_equal(loss->kinds[CTX_LOSS_OTHERS], loss->has_kinds ? 2 : 0);
}

static inline void fixture_read_sample(struct fixture_reading *reading, const struct ctx_event *event)
{
	struct fixture_contents *out = reading->out;
	struct fixture_sample *sample;

	assert_true(event->thread < out->n_threads);
	assert_null(event->sample.stack.frames); /* stacks are interned here */
	sample = fixture_append(out->samples, out->n_samples, out->samples_cap);
	sample->time_ns = event->time_ns;
	sample->weight = event->sample.weight;
	sample->pid = out->processes[event->process].pid;
	sample->tid = out->threads[event->thread].tid;
	sample->metric = event->sample.metric;
	sample->cpu = event->sample.cpu;
	sample->n_frames =
		fixture_read_frames(reading, event->process, event->sample.stack.id, sample->frames);
	sample->objects = fixture_sum_objects(out, sample);
}

static inline void fixture_read_process(struct fixture_reading *reading, const struct ctx_event *event)
{
	struct fixture_contents *out = reading->out;
	struct fixture_process *process;
	uint32_t parent = event->process_start.parent;

	assert_int_equal(event->process, out->n_processes);
	assert_true(parent == CTX_NONE || parent < out->n_processes);
	process = fixture_append(out->processes, out->n_processes, out->processes_cap);
	process->pid = event->process_start.pid;
	process->parent_pid = parent != CTX_NONE ? out->processes[parent].pid : -1;
	process->time_ns = event->time_ns;
	snprintf(process->command, sizeof(process->command), "%s", event->process_start.command);
	snprintf(process->lineage, sizeof(process->lineage), "%s", event->process_start.lineage);
	snprintf(process->cgroup, sizeof(process->cgroup), "%s",
		 event->process_start.cgroup != NULL ? event->process_start.cgroup : "");
	process->inner_pid = event->process_start.inner_pid;
	fixture_append(reading->dictionaries, reading->n_dictionaries, reading->dictionaries_cap);
}

static inline void fixture_read_map(struct fixture_contents *out, const struct ctx_event *event)
{
	struct fixture_map *map = fixture_append(out->maps, out->n_maps, out->maps_cap);

	map->pid = out->processes[event->process].pid;
	map->time_ns = event->time_ns;
	map->address = event->map.address;
	map->size = event->map.size;
	map->removed = event->kind == CTX_EV_UNMAP;
	if (map->removed)
		return;
	map->offset = event->map.file_offset;
	snprintf(map->path, sizeof(map->path), "%s", event->map.path);
	snprintf(map->build_id, sizeof(map->build_id), "%s", event->map.build_id);
}

static inline void fixture_read_thread(struct fixture_contents *out, const struct ctx_event *event)
{
	struct fixture_thread *thread;

	assert_int_equal(event->thread, out->n_threads);
	thread = fixture_append(out->threads, out->n_threads, out->threads_cap);
	thread->tid = event->thread_start.tid;
	thread->inner_tid = event->thread_start.inner_tid;
	thread->pid = out->processes[event->process].pid;
	thread->time_ns = event->time_ns;
	snprintf(thread->name, sizeof(thread->name), "%s", event->thread_start.name);
}

static inline void fixture_read_event(struct fixture_reading *reading, const struct ctx_event *event)
{
	struct fixture_contents *out = reading->out;

	out->events++;
	out->late += event->time_ns < reading->last_ns;
	reading->last_ns = event->time_ns > reading->last_ns ? event->time_ns : reading->last_ns;
	source_check_event(&reading->check, reading->info, event);
	switch (event->kind) {
	case CTX_EV_PROCESS_START:
		fixture_read_process(reading, event);
		break;
	case CTX_EV_PROCESS_EXIT:
		out->processes[event->process].exited = true;
		out->processes[event->process].exit_ns = event->time_ns;
		out->processes[event->process].has_status = event->process_exit.has_status;
		out->processes[event->process].status = event->process_exit.status;
		break;
	case CTX_EV_PROCESS_TITLE:
		snprintf(out->processes[event->process].command, sizeof(out->processes->command), "%s",
			 event->text);
		out->titles++;
		break;
	case CTX_EV_THREAD_START:
		fixture_read_thread(out, event);
		break;
	case CTX_EV_THREAD_NAME:
		assert_true(event->thread < out->n_threads);
		snprintf(out->threads[event->thread].name, sizeof(out->threads->name), "%s",
			 event->thread_name);
		break;
	case CTX_EV_THREAD_EXIT:
		assert_true(event->thread < out->n_threads);
		out->threads[event->thread].exited = true;
		break;
	case CTX_EV_MAP:
	case CTX_EV_UNMAP:
		fixture_read_map(out, event);
		break;
	case CTX_EV_FORK_MAPS:
		fixture_inherit_maps(out, out->processes[event->maps_of].pid,
				     out->processes[event->process].pid);
		break;
	case CTX_EV_STACKS:
		fixture_read_stacks(&reading->dictionaries[event->process], event);
		break;
	case CTX_EV_STACKS_RESET:
		reading->dictionaries[event->process].n = 0;
		out->resets++;
		break;
	case CTX_EV_SAMPLE:
		fixture_read_sample(reading, event);
		break;
	case CTX_EV_USAGE:
		*fixture_append(out->usage, out->n_usage, out->usage_cap) = event->usage;
		assert_int_equal(event->usage.process, event->process);
		out->usage[out->n_usage - 1].process = (uint32_t)out->processes[event->process].pid;
		break;
	case CTX_EV_LOST:
		out->lost += event->lost.loss.count;
		out->gaps += event->lost.loss.located;
		if (event->lost.loss.located)
			fixture_check_loss(event);
		break;
	case CTX_EV_THROTTLE:
		out->throttles += event->lost.loss.count == 1;
		out->unthrottles += event->lost.loss.count == 0;
		break;
	case CTX_EV_DAMAGE:
		out->n_damage++;
		fixture_add_line(&out->damage, event->text);
		break;
	case CTX_EV_WARNING:
		if (strncmp(event->text, "the recording goes on", 21) == 0)
			out->goes_on = true; /* nobody has put that in */
		else
			fixture_add_line(&out->warnings, event->text);
		break;
	case CTX_EV_VM:
		if (out->n_vms < sizeof(out->vms) / sizeof(*out->vms))
			out->vms[out->n_vms++] = event->vm;
		break;
	case CTX_EV_PROPERTY:
		fail_msg("an experiment knows its properties from the start");
		break;
	case CTX_EV_FUNCTION:
		fail_msg("an experiment has addresses");
		break;
	case CTX_EV_TRACED:
	case CTX_EV_CALL:
	case CTX_EV_OMP:
		fail_msg("an experiment has no traced operations");
		break;
	case CTX_EV_STATE:
		fixture_read_change(reading, event);
		break;
	}
}

/*
 * Reads all of an experiment. Checks the guarantees of every source: dense numbers, announced
 * before use, parents before children, valid ids. A failure to open, or in the middle, is returned.
 * `may_disagree`: as in struct source_check.
 */
static inline enum ctx_status fixture_read_harmed(const char *path, bool may_disagree,
						  struct fixture_contents *out, struct ctx_err *err)
{
	struct fixture_reading reading = {.out = out, .check = {.may_disagree = may_disagree}};
	struct ctx_event_source *source;
	struct ctx_event event;
	enum ctx_status status = ctx_exp_open(path, &source, err);

	*out = (struct fixture_contents){0};
	if (status != CTX_OK)
		return status;
	reading.info = &source->info;
	out->duration_ns = source->info.duration_ns;
	out->closed = source->info.closed;
	out->has_states = source->info.has_states;
	out->states_end_ns = source->info.states_end_ns;
	/* The event's old contents do not matter: a source sets all fields of its kind. */
	while (memset(&event, 0xa5, sizeof(event)), (status = source->next(source, &event, err)) == CTX_OK)
		fixture_read_event(&reading, &event);
	assert_true(source->progress(source) <= source->info.bytes);
	source->close(source);
	for (size_t i = 0; i < reading.n_dictionaries; i++)
		free(reading.dictionaries[i].nodes);
	free(reading.dictionaries);
	source_check_deinit(&reading.check);
	return status == CTX_END ? CTX_OK : status;
}

static inline enum ctx_status fixture_read(const char *path, struct fixture_contents *out,
					   struct ctx_err *err)
{
	return fixture_read_harmed(path, false, out, err);
}

/* ---- comparing ---- */

static inline int fixture_by_sample(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct fixture_sample));
}

static inline void fixture_sort_samples(struct fixture_contents *contents)
{
	if (contents->n_samples != 0)
		qsort(contents->samples, contents->n_samples, sizeof(*contents->samples), fixture_by_sample);
}

/* The same samples, whatever the order at equal times. Sorts both. */
static inline void fixture_check_samples(struct fixture_contents *in, struct fixture_contents *out)
{
	assert_int_equal(out->n_samples, in->n_samples);
	fixture_sort_samples(in);
	fixture_sort_samples(out);
	for (size_t i = 0; i < in->n_samples; i++)
		assert_memory_equal(&out->samples[i], &in->samples[i], sizeof(*in->samples));
}

static inline int fixture_by_change(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct fixture_change));
}

/* The same changes, whatever the order at equal times. Sorts both. */
static inline void fixture_check_changes(struct fixture_contents *in, struct fixture_contents *out)
{
	assert_int_equal(out->n_changes, in->n_changes);
	if (in->n_changes == 0)
		return;
	qsort(in->changes, in->n_changes, sizeof(*in->changes), fixture_by_change);
	qsort(out->changes, out->n_changes, sizeof(*out->changes), fixture_by_change);
	for (size_t i = 0; i < in->n_changes; i++)
		assert_memory_equal(&out->changes[i], &in->changes[i], sizeof(*in->changes));
}

static inline int fixture_by_usage(const void *a, const void *b)
{
	const struct ctx_usage_info *left = a;
	const struct ctx_usage_info *right = b;

	return (left->time_ns > right->time_ns) - (left->time_ns < right->time_ns);
}

static inline void fixture_check_processes(const struct fixture_contents *in,
					   const struct fixture_contents *out)
{
	assert_int_equal(out->n_processes, in->n_processes);
	for (size_t i = 0; i < out->n_processes; i++) {
		const struct fixture_process *found = &out->processes[i];
		const struct fixture_process *given = &in->processes[found->pid - 1000];

		assert_int_equal(found->parent_pid, given->parent_pid);
		assert_int_equal(found->time_ns, given->time_ns);
		assert_string_equal(found->command, given->command);
		assert_string_equal(found->cgroup, given->cgroup);
		assert_int_equal(found->inner_pid, given->inner_pid);
		assert_int_equal(found->exited, given->exited);
		assert_int_equal(found->exit_ns, given->exit_ns);
		assert_int_equal(found->has_status, given->has_status);
		assert_int_equal(found->status, given->status);
	}
}

/* All but lineages. Sorts both. */
static inline void fixture_check(struct fixture_contents *in, struct fixture_contents *out)
{
	assert_string_equal(out->damage != NULL ? out->damage : "", "");
	assert_int_equal(out->late, 0);
	fixture_check_processes(in, out);
	assert_int_equal(out->n_threads, in->n_threads);
	for (size_t i = 0; i < out->n_threads; i++) {
		const struct fixture_thread *found = &out->threads[i];
		const struct fixture_thread *given = &in->threads[found->tid - 50000];

		assert_int_equal(found->pid, given->pid);
		assert_int_equal(found->inner_tid, given->inner_tid);
		assert_int_equal(found->time_ns, given->time_ns);
		assert_int_equal(found->exited, given->exited);
		assert_string_equal(found->name, given->name);
	}
	assert_int_equal(out->n_usage, in->n_usage);
	if (in->n_usage != 0)
		qsort(in->usage, in->n_usage, sizeof(*in->usage), fixture_by_usage);
	for (size_t i = 0; i < in->n_usage; i++) {
		assert_int_equal(out->usage[i].time_ns, in->usage[i].time_ns);
		assert_int_equal(out->usage[i].process, in->usage[i].process);
		/*
		 * What may lie between the fields before is nobody's; the others are of one type,
		 * without gaps.
		 */
		assert_memory_equal(&out->usage[i].user_ns, &in->usage[i].user_ns,
				    sizeof(*in->usage) - offsetof(struct ctx_usage_info, user_ns));
	}
	assert_int_equal(out->lost, in->lost);
	assert_int_equal(out->gaps, in->gaps);
	assert_int_equal(out->throttles, in->throttles);
	assert_int_equal(out->unthrottles, in->unthrottles);
	assert_string_equal(out->warnings != NULL ? out->warnings : "",
			    in->warnings != NULL ? in->warnings : "");
	fixture_check_samples(in, out);
	fixture_check_changes(in, out);
}

#endif
