/*
 * A made-up profile for the tests of writers: functions with hostile names, several threads, and
 * random samples with recursion of all kinds, of which the truth is kept beside the histograms.
 */
#ifndef CTX_TESTS_UNIT_EXPORT_WORLD_H
#define CTX_TESTS_UNIT_EXPORT_WORLD_H

#include "base/mem.h"
#include "base/utf8.h"
#include "fake_source.h"
#include "formats/export/exports.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 9, THREADS = 3, MAX_SAMPLES = 400 };

static const char *const names[] = {
	"main",
	"main",
	"clock_gettime",
	"clock_gettime",
	"clock_gettime",
	"f;g",
	"(1) x",
	"(12)",
	"cfn=(3) y",
	"line\nbreak",
	"  ",
	"",
	"\xff\xfe",
	"a\001b",
	"a\002b",
	"<Total>",
	"<No stack>",
	"dup #1",
	"dup",
	"dup",
	"dup",
	"dup #19",
	"totals: 7",
	"calls=7 0",
	"quote\"'s",
	"\xe2\x80\xa8sep",
	"std::map<int, x>::f(int)",
	"<No stack>",
	"  main",
	"main [libc.so.6]",
	"\t",
	"<Unknown>",
};
enum { N = CTX_COUNT_OF(names), TOTAL = N + 1, NO_STACK = N };

static struct ctx_object_info objects[] = {
	{"/bin/prog", "00ff", ""},
	{"/lib/libc.so.6", "", ""},
	{"/other/libc.so.6", "aa", ""},
	{"[kernel]", "", ""},
	{"\n", "", ""},
	{"", "", ""},
	{"(3) x\xff y", "zz\"", ""},
};

struct frames { /* a sample as it was made up: the truth */
	uint32_t thread;
	uint32_t n, kept;
	uint32_t functions[DEPTH];
	uint64_t weight;
};

struct world {
	struct ctx_profile profile; /* its arrays are static or here */
	struct ctx_function_info functions[N];
	struct ctx_process_info processes[2];
	struct ctx_thread_info threads[THREADS];
	struct ctx_metric_info metric;
	struct ctx_property properties[2];
	struct frames samples[MAX_SAMPLES];
	size_t n;
	struct ctx_histogram whole, by_thread[THREADS];
	struct ctx_report_part parts[THREADS];
	struct ctx_interval interval;
	struct fake_source input;
	char remarks[1024];
	char *text; /* the file */
	size_t size;
};

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

static void on_remark(void *context, const char *text)
{
	struct world *world = context;
	size_t n = strlen(world->remarks);

	assert_null(strchr(text, '\n'));
	snprintf(world->remarks + n, sizeof(world->remarks) - n, "%s\n", text);
}

static void make_entities(struct world *world)
{
	struct ctx_profile *profile = &world->profile;

	for (uint32_t i = 0; i < N; i++)
		world->functions[i] = (struct ctx_function_info){
			.name = names[i],
			.linkage_name =
				strcmp(names[i], "std::map<int, x>::f(int)") == 0 ? "_ZN3map1fEi" : names[i],
			.aliases = "",
			.object = i % 8 < CTX_COUNT_OF(objects) ? i % 8 : CTX_NONE,
			.offset = 0x1000 + (i & ~1u) * 16,
			.kind = i == N - 1 ? CTX_FUNCTION_UNKNOWN : CTX_FUNCTION_ORDINARY,
		};
	world->processes[0] = (struct ctx_process_info){.parent = CTX_NONE, .pid = 7, .command = "./prog -x"};
	world->processes[1] = (struct ctx_process_info){.parent = 0, .pid = 8, .command = "ch\"ild\n"};
	world->threads[0] = (struct ctx_thread_info){.process = 0, .tid = 7, .name = "prog"};
	world->threads[1] = (struct ctx_thread_info){.process = 0, .tid = 9, .name = "wor;ker 1\xff"};
	world->threads[2] = (struct ctx_thread_info){.process = 1, .tid = 8, .name = ""};
	world->metric = (struct ctx_metric_info){
		.name = "cpu-clock:u", .kind = CTX_METRIC_CPU_TIME, .unit = CTX_UNIT_NS};
	world->properties[0] = (struct ctx_property){"start", "2026-11-21 07:04:05 UTC"};
	world->properties[1] = (struct ctx_property){"command", "prog\nevents: x"};
	*profile = (struct ctx_profile){
		.name = "x.er",
		.notes = "",
		.functions = world->functions,
		.n_functions = N,
		.objects = objects,
		.n_objects = CTX_COUNT_OF(objects),
		.processes = world->processes,
		.n_processes = 2,
		.threads = world->threads,
		.n_threads = THREADS,
		.metrics = &world->metric,
		.n_metrics = 1,
		.properties = world->properties,
		.n_properties = 2,
	};
	assert_int_equal(ctx_trie_init(&profile->cct, NULL), CTX_OK);
}

/*
 * A stack that often goes on from the thread's last one, with few functions: recursion of all
 * kinds.
 */
static void make_sample(struct world *world, uint32_t *seed, size_t at)
{
	struct frames *sample = &world->samples[at], *last = NULL;

	sample->thread = next_random(seed) % THREADS;
	sample->weight = 1 + next_random(seed) % 1000;
	for (size_t i = at; i > 0 && last == NULL; i--) {
		if (world->samples[i - 1].thread == sample->thread)
			last = &world->samples[i - 1];
	}
	sample->n = next_random(seed) % (DEPTH + 1);
	for (uint32_t i = 0; i < sample->n; i++) {
		bool same = last != NULL && sample->kept == i && i < last->n && next_random(seed) % 4 != 0;
		uint32_t range = next_random(seed) % 3 == 0 ? N : 5;

		sample->functions[i] = same ? last->functions[i] : next_random(seed) % range;
		if (last != NULL && sample->kept == i && i < last->n &&
		    sample->functions[i] == last->functions[i])
			sample->kept++;
	}
}

static void add_sample(struct world *world, const struct frames *from)
{
	uint32_t nodes[DEPTH + 1] = {CTX_TRIE_ROOT};
	struct ctx_sample sample = {.weight = from->weight, .thread = from->thread, .kept_depth = from->kept};
	struct ctx_trie *cct = &world->profile.cct;

	assert_int_equal(ctx_trie_path(cct, CTX_TRIE_ROOT, (struct ctx_trie_keys){from->functions, from->n},
				       nodes + 1, NULL),
			 CTX_OK);
	sample.stack = nodes[from->n];
	assert_int_equal(ctx_histogram_add_samples(&world->by_thread[from->thread], cct, &sample, 1, NULL),
			 CTX_OK);
	assert_int_equal(ctx_histogram_add_samples(&world->whole, cct, &sample, 1, NULL), CTX_OK);
	world->metric.weight += from->weight;
	world->metric.samples++;
}

static struct world *make_world(uint32_t seed, size_t n)
{
	struct world *world = ctx_calloc(1, sizeof(*world));
	size_t n_parts = 0;

	assert_non_null(world);
	make_entities(world);
	for (; world->n < n; world->n++) {
		make_sample(world, &seed, world->n);
		add_sample(world, &world->samples[world->n]);
	}
	for (uint32_t i = 0; i < THREADS; i++) {
		if (world->by_thread[i].n != 0)
			world->parts[n_parts++] =
				(struct ctx_report_part){.thread = i, .histograms = &world->by_thread[i]};
	}
	world->interval = (struct ctx_interval){1000, 5001000};
	world->input = (struct fake_source){
		.profile = &world->profile,
		.path = "dir/x\n.er",
		.intervals = &world->interval,
		.n_intervals = 1,
		.whole = &world->whole,
		.parts = world->parts,
		.n_parts = n_parts,
		.remark = on_remark,
		.remark_context = world,
	};
	return world;
}

static void free_world(struct world *world)
{
	ctx_trie_deinit(&world->profile.cct);
	ctx_histogram_deinit(&world->whole);
	for (int i = 0; i < THREADS; i++)
		ctx_histogram_deinit(&world->by_thread[i]);
	free(world->text);
	free(world);
}

static inline enum ctx_status write_file(struct world *world, const struct ctx_export_kind *kind,
					 struct ctx_err *err)
{
	enum ctx_status status;
	FILE *out;

	free(world->text);
	world->text = NULL;
	out = open_memstream(&world->text, &world->size);
	assert_non_null(out);
	world->remarks[0] = '\0';
	status = kind->write(fake_export(&world->input), out, err);
	assert_int_equal(fclose(out), 0);
	return status;
}

static inline void assert_clean(const char *text, size_t n)
{
	while (n > 0) {
		uint32_t code;
		size_t length = ctx_utf8_decode(text, n, &code);

		assert_true(code != UINT32_MAX && (code >= ' ' || code == '\n'));
		text += length;
		n -= length;
	}
}

static inline bool is_first_of_kind(const struct world *world, size_t at)
{
	const struct frames *sample = &world->samples[at];

	for (size_t i = 0; i < at; i++) {
		const struct frames *other = &world->samples[i];

		if (other->thread == sample->thread && other->n == sample->n &&
		    memcmp(other->functions, sample->functions, sample->n * sizeof(uint32_t)) == 0)
			return false;
	}
	return true;
}

/* What the samples with this thread and stack add up to; returns how many there are. */
static inline uint64_t sum_of(const struct world *world, uint32_t thread, const uint32_t *functions,
			      uint32_t n, uint64_t *ret_weight)
{
	uint64_t samples = 0;

	*ret_weight = 0;
	for (size_t i = 0; i < world->n; i++) {
		const struct frames *sample = &world->samples[i];

		if (sample->thread != thread || sample->n != n ||
		    memcmp(sample->functions, functions, n * sizeof(*functions)) != 0)
			continue;
		samples++;
		*ret_weight += sample->weight;
	}
	return samples;
}

static inline size_t n_stacks(const struct world *world)
{
	size_t n = 0;

	for (size_t i = 0; i < world->n; i++)
		n += is_first_of_kind(world, i);
	return n;
}

#endif
