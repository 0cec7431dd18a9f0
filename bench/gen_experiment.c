/*
 * Writes an experiment from a seed, for the benchmarks and the flow tests.
 *
 *	gen_experiment --samples N --threads T --stacks S --depth D --seed K --duration-ms MS -o NAME.er
 *			[--changes N] [--command NAME] [--host NAME] [--start-unix-ns NS] [--thread-name NAME]...
 *
 * The call stacks are the nodes of a random call tree of S nodes, at most D deep, over a thousand
 * functions of this program, so that addresses resolve to symbols. Half of the samples are in 25
 * hot stacks, which change from one twentieth of the run to the next; the other half is spread over
 * all stacks. Threads take turns at random; they get the given names in turn. The same arguments
 * give the same experiment, except for the addresses: link without PIE to keep those too.
 *
 * With --changes the threads of each CPU run in turn: the running thread wakes the next one and
 * waits. That is three state changes, with the stacks of a waker and of a wait. Samples are then of
 * the running thread.
 */
#include "base/mem.h"
#include "bench/generated_load.h"
#include "formats/experiment/exp_writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAMES 16u
#define CPUS 2u
#define CHANGES_OF_SWITCH 3u
#define START_NS UINT64_C(1000000000000)

/* A thousand functions, each a few bytes of its own. */
/* clang-format off */
#define ONE(a, b, c) \
	__attribute__((noinline, used)) static int work_##a##b##c(void) \
	{ \
		__asm__ volatile("nop; nop; nop; nop"); \
		return a * 100 + b * 10 + c; \
	}
#define ONE_NAME(a, b, c) work_##a##b##c,
#define TEN(one, a, b) \
	one(a, b, 0) one(a, b, 1) one(a, b, 2) one(a, b, 3) one(a, b, 4) \
	one(a, b, 5) one(a, b, 6) one(a, b, 7) one(a, b, 8) one(a, b, 9)
#define HUNDRED(one, a) \
	TEN(one, a, 0) TEN(one, a, 1) TEN(one, a, 2) TEN(one, a, 3) TEN(one, a, 4) \
	TEN(one, a, 5) TEN(one, a, 6) TEN(one, a, 7) TEN(one, a, 8) TEN(one, a, 9)
#define THOUSAND(one) \
	HUNDRED(one, 0) HUNDRED(one, 1) HUNDRED(one, 2) HUNDRED(one, 3) HUNDRED(one, 4) \
	HUNDRED(one, 5) HUNDRED(one, 6) HUNDRED(one, 7) HUNDRED(one, 8) HUNDRED(one, 9)

THOUSAND(ONE)

static int (*const functions[])(void) = {THOUSAND(ONE_NAME)};
/* clang-format on */

struct settings {
	struct load load;
	uint64_t duration_ms;
	uint64_t changes; /* 0: no thread states */
	const char *command;
	const char *host;	  /* NULL: none is named */
	int64_t start_unix_ns;	  /* time of day at its begin */
	const char *names[NAMES]; /* of threads */
	uint32_t n_names;	  /* 0: they are workers */
};

struct stacks {
	uint32_t *parent; /* by stack; stack 0 is the bottom-most frame */
	uint32_t *depth;  /* frames */
	uint64_t *address;
	uint32_t n;
};

static int make_stacks(const struct settings *settings, uint64_t *random, struct stacks *ret)
{
	uint32_t n = (uint32_t)settings->load.stacks;

	*ret = (struct stacks){
		.parent = ctx_calloc(n, sizeof(*ret->parent)),
		.depth = ctx_calloc(n, sizeof(*ret->depth)),
		.address = ctx_calloc(n, sizeof(*ret->address)),
		.n = n,
	};
	if (ret->parent == NULL || ret->depth == NULL || ret->address == NULL)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t parent = i;

		if (i != 0) {
			/*
			 * Mostly below the last one, so that stacks are deep; else a branch
			 * anywhere.
			 */
			parent = next_random(random) % 10 < 7 ? i - 1 : (uint32_t)(next_random(random) % i);
			while (ret->depth[parent] >= settings->load.depth)
				parent = ret->parent[parent] != parent ? ret->parent[parent] : 0;
		}
		ret->parent[i] = parent;
		ret->depth[i] = i != 0 ? ret->depth[parent] + 1 : 1;
		ret->address[i] =
			(uint64_t)(uintptr_t)functions[next_random(random) % CTX_COUNT_OF(functions)] + 1;
	}
	return 0;
}

static size_t frames_of(const struct stacks *stacks, uint32_t stack, uint64_t *frames)
{
	size_t n = 0;

	for (;; stack = stacks->parent[stack]) {
		frames[n++] = stacks->address[stack];
		if (stack == 0)
			return n;
	}
}

/* Records the mapping of this program's own code, to which the addresses belong. */
static enum ctx_status announce_maps(struct ctx_exp_writer *writer, uint32_t process, struct ctx_err *err)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	enum ctx_status status = CTX_OK;
	char path[4096], line[8192];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (maps == NULL || n < 0) {
		if (maps != NULL)
			fclose(maps);
		return ctx_err_errno(err, CTX_E_IO, "/proc/self");
	}
	path[n] = '\0';
	while (status == CTX_OK && fgets(line, sizeof(line), maps) != NULL) {
		uint64_t begin, end, offset;
		char mode[8];
		struct ctx_exp_map map = {.protection = 5, .path = path, .build_id = "", .time_ns = START_NS};

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64, &begin, &end, mode, &offset) != 4)
			continue;
		if (mode[2] != 'x' || strstr(line, path) == NULL)
			continue;
		map.address = begin;
		map.size = end - begin;
		map.file_offset = offset;
		status = ctx_exp_map(writer, process, &map, err);
	}
	fclose(maps);
	return status;
}

/* Who runs on the CPUs. */
struct turns {
	struct ctx_exp_writer *writer;
	const struct settings *settings;
	const struct stacks *stacks;
	const uint32_t *threads;
	uint64_t *frames; /* scratch */
	uint32_t process;
	uint64_t random;
	uint64_t switches; /* done */
	uint32_t at[CPUS]; /* indices of threads: on CPU c those with index % CPUS == c */
};

static enum ctx_status put_change(struct turns *turns, struct ctx_exp_state change, bool has_stack,
				  struct ctx_err *err)
{
	change.process = turns->process;
	change.external_waker = CTX_NONE;
	change.frames = turns->frames;
	if (has_stack)
		change.n_frames =
			frames_of(turns->stacks, (uint32_t)(next_random(&turns->random) % turns->stacks->n),
				  turns->frames);
	return ctx_exp_state(turns->writer, &change, err);
}

/* The thread on the CPU wakes the next one, if there is another, and waits. */
static enum ctx_status switch_over(struct turns *turns, uint64_t time_ns, struct ctx_err *err)
{
	uint32_t cpu = (uint32_t)(turns->switches++ % CPUS);
	uint32_t leaving = turns->at[cpu], coming = leaving + CPUS;
	struct ctx_exp_state woken = {.time_ns = time_ns, .change = CTX_CHANGE_WOKEN, .cpu = -1};
	struct ctx_exp_state waits = {
		.time_ns = time_ns + 1, .change = CTX_CHANGE_BLOCKED, .cpu = (int32_t)cpu, .waker = CTX_NONE};
	struct ctx_exp_state runs = {
		.time_ns = time_ns + 2, .change = CTX_CHANGE_RUNS, .cpu = (int32_t)cpu, .waker = CTX_NONE};
	enum ctx_status status;

	if (coming >= turns->settings->load.threads)
		coming = cpu;
	if (coming >= turns->settings->load.threads)
		return CTX_OK; /* fewer threads than CPUs */
	turns->at[cpu] = coming;
	woken.thread = runs.thread = turns->threads[coming];
	woken.waker = waits.thread = turns->threads[leaving];
	status = coming != leaving ? put_change(turns, woken, true, err) : CTX_OK;
	if (status == CTX_OK)
		status = put_change(turns, waits, true, err);
	return status == CTX_OK ? put_change(turns, runs, false, err) : status;
}

static enum ctx_status switch_until(struct turns *turns, uint64_t at_ns, struct ctx_err *err)
{
	uint64_t n = turns->settings->changes / CHANGES_OF_SWITCH;
	uint64_t duration = turns->settings->duration_ms * 1000000;
	enum ctx_status status = CTX_OK;

	while (status == CTX_OK && turns->switches < n) {
		uint64_t next_ns = (uint64_t)((unsigned __int128)duration * turns->switches / n);

		if (next_ns > at_ns)
			break;
		status = switch_over(turns, START_NS + next_ns, err);
	}
	return status;
}

static uint32_t thread_at(struct turns *turns, uint32_t cpu, uint64_t *random)
{
	const struct settings *settings = turns->settings;

	if (settings->changes == 0)
		return turns->threads[next_random(random) % settings->load.threads];
	return turns->threads[turns->at[cpu % settings->load.threads]];
}

static enum ctx_status write_samples(struct ctx_exp_writer *writer, const struct settings *settings,
				     const uint32_t *threads, uint32_t process, struct ctx_err *err)
{
	uint64_t random = settings->load.seed * 2 + 1;
	uint64_t duration = settings->duration_ms * 1000000;
	uint64_t last_tick = START_NS;
	uint64_t *frames CTX_AUTO_FREE = ctx_calloc(settings->load.depth + 1, sizeof(*frames));
	struct stacks stacks;
	struct turns turns = {.writer = writer,
			      .settings = settings,
			      .stacks = &stacks,
			      .threads = threads,
			      .frames = frames,
			      .process = process,
			      .random = settings->load.seed * 2 + 2,
			      .at = {0, 1}};
	enum ctx_status status = CTX_OK;

	if (frames == NULL || make_stacks(settings, &random, &stacks) != 0)
		return ctx_err_nomem(err);
	for (uint64_t i = 0; status == CTX_OK && i < settings->load.samples; i++) {
		uint64_t at = (uint64_t)((unsigned __int128)duration * i / settings->load.samples);
		uint32_t stack = pick_stack(&settings->load, i, &random);
		struct ctx_exp_sample sample = {
			.time_ns = START_NS + at,
			.process = process,
			.cpu = (int32_t)(i % CPUS),
		};

		status = switch_until(&turns, at, err);
		sample.thread = thread_at(&turns, (uint32_t)(i % CPUS), &random);
		sample.frames = frames;
		sample.n_frames = frames_of(&stacks, stack, frames);
		if (status == CTX_OK)
			status = ctx_exp_sample(writer, &sample, err);
		if (status == CTX_OK && sample.time_ns - last_tick >= 100000000) {
			last_tick = sample.time_ns;
			status = ctx_exp_tick(writer, last_tick, err);
		}
	}
	if (status == CTX_OK)
		status = switch_until(&turns, duration, err);
	free(stacks.parent);
	free(stacks.depth);
	free(stacks.address);
	return status;
}

static const char *thread_name(const struct settings *settings, uint32_t i)
{
	return settings->n_names != 0 ? settings->names[i % settings->n_names] : "worker";
}

static enum ctx_status generate(const struct settings *settings, struct ctx_err *err)
{
	uint64_t period = settings->duration_ms * 1000000 / settings->load.samples;
	struct ctx_exp_metric metric = {
		.name = "cpu-clock", .unit = "ns", .file = "profile", .period = period != 0 ? period : 1};
	const struct ctx_property properties[] = {{"collector", "gen_experiment"}, {"host", settings->host}};
	struct ctx_exp_options options = {
		.path = settings->load.path,
		.overwrite = true,
		.comment = "",
		.metrics = &metric,
		.n_metrics = 1,
		.has_states = settings->changes != 0,
		.properties = properties,
		.n_properties = settings->host != NULL ? 2 : 1,
		.start_ns = START_NS,
		.start_unix_ns = settings->start_unix_ns,
	};
	struct ctx_exp_process process = {.origin = CTX_EXP_ROOT_PROCESS,
					  .parent = CTX_NONE,
					  .pid = 1000,
					  .command = settings->command,
					  .time_ns = START_NS};
	uint64_t end_ns = START_NS + settings->duration_ms * 1000000;
	uint32_t *threads CTX_AUTO_FREE = ctx_calloc(settings->load.threads, sizeof(*threads));
	struct ctx_exp_writer *writer;
	uint32_t number = 0;
	enum ctx_status status =
		threads != NULL ? ctx_exp_create(&options, &writer, err) : ctx_err_nomem(err);

	if (status != CTX_OK)
		return status;
	status = ctx_exp_process_start(writer, &process, &number, err);
	if (status == CTX_OK)
		status = announce_maps(writer, number, err);
	for (uint32_t i = 0; status == CTX_OK && i < settings->load.threads; i++)
		status = ctx_exp_thread_start(
			writer,
			&(struct ctx_exp_thread){number, 1000 + i, thread_name(settings, i), START_NS, 0},
			&threads[i], err);
	if (status == CTX_OK)
		status = write_samples(writer, settings, threads, number, err);
	if (status == CTX_OK)
		status = ctx_exp_process_exit(writer, number, &(struct ctx_exp_exit){end_ns, true, 0}, err);
	if (status == CTX_OK)
		return ctx_exp_close(writer, end_ns, err);
	if (ctx_exp_close(writer, end_ns, NULL) != CTX_OK)
		return status; /* the first failure is reported */
	return status;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		LOAD_OPTIONS,
		{"duration-ms", required_argument, NULL, 'm'},
		{"command", required_argument, NULL, 'c'},
		{"thread-name", required_argument, NULL, 'N'},
		{"changes", required_argument, NULL, 'C'},
		{"host", required_argument, NULL, 'H'},
		{"start-unix-ns", required_argument, NULL, 'U'},
		{NULL, 0, NULL, 0},
	};
	struct settings settings = {.load = {.samples = 100000,
					     .stacks = 2000,
					     .seed = 1,
					     .threads = 1,
					     .depth = 30,
					     .path = "generated.er"},
				    .duration_ms = 10000,
				    .command = "generated",
				    .start_unix_ns = INT64_C(1700000000000000000)};
	struct ctx_err err = {0};
	int option;

	while ((option = getopt_long(argc, argv, "o:", options, NULL)) != -1) {
		switch (option) {
		case 'm':
			settings.duration_ms = strtoull(optarg, NULL, 10);
			break;
		case 'c':
			settings.command = optarg;
			break;
		case 'C':
			settings.changes = strtoull(optarg, NULL, 10);
			break;
		case 'H':
			settings.host = optarg;
			break;
		case 'U':
			settings.start_unix_ns = strtoll(optarg, NULL, 10);
			break;
		case 'N':
			if (settings.n_names == NAMES)
				return 1;
			settings.names[settings.n_names++] = optarg;
			break;
		default:
			if (!take_load_option(&settings.load, option, optarg))
				return 1;
		}
	}
	if (settings.load.samples == 0 || settings.load.threads == 0 || settings.load.stacks == 0 ||
	    settings.load.stacks >= UINT32_MAX || settings.load.depth == 0 || settings.duration_ms == 0) {
		fprintf(stderr, "gen_experiment: every number must be at least 1\n");
		return 1;
	}
	if (generate(&settings, &err) != CTX_OK) {
		fprintf(stderr, "gen_experiment: %s\n", err.msg);
		return 1;
	}
	return 0;
}
