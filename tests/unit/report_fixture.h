/*
 * A small profile that shows what reports have to show: two processes, two threads, recursion, the
 * kernel, a truncated stack, a function without a name.
 */
#ifndef CTX_TESTS_REPORT_FIXTURE_H
#define CTX_TESTS_REPORT_FIXTURE_H

#include "base/mem.h"
#include "fake_source.h"
#include "report/report.h"
#include "report_golden.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

struct fixture {
	struct ctx_profile profile;
	struct ctx_histogram all, main_thread, worker;
	struct ctx_report_part parts[2];
	struct ctx_report_slice slices[40];
	struct ctx_report_level levels[3];
	struct fake_source input;
};

static struct ctx_function_info functions[] = {
	{.name = "main", .linkage_name = "main", .aliases = "", .object = 0},
	{.name = "solve<std::vector<double>, 42>(int)",
	 .linkage_name = "_Z5solve",
	 .aliases = "",
	 .object = 0},
	{.name = "walk", .linkage_name = "walk", .aliases = "", .object = 0},
	{.name = "read", .linkage_name = "read", .aliases = "", .object = 1},
	{.name = "do_syscall_64", .linkage_name = "do_syscall_64", .aliases = "", .object = 2},
	{.name = "<Truncated-stack>",
	 .linkage_name = "<Truncated-stack>",
	 .aliases = "",
	 .object = CTX_NONE,
	 .kind = CTX_FUNCTION_TRUNCATED},
	{.name = "<Unknown>",
	 .linkage_name = "<Unknown>",
	 .aliases = "",
	 .object = CTX_NONE,
	 .kind = CTX_FUNCTION_UNKNOWN},
	{.name = "start_thread", .linkage_name = "start_thread", .aliases = "", .object = 1},
};

static struct ctx_object_info objects[] = {
	{"/home/user/bin/app", "0123abcd", "archive"},
	{"/usr/lib/x86_64-linux-gnu/libc.so.6", "ffee", "none: no symbol table"},
	{"[kernel]", "", "kallsyms"},
};

static struct ctx_process_info processes[] = {
	{.parent = CTX_NONE,
	 .pid = 100,
	 .has_exit_status = true,
	 .command = "./app --size 10",
	 .lineage = "",
	 .life = {0, 1000 * MS},
	 .samples = 300,
	 .weight = 300 * MS},
	{.parent = 0,
	 .pid = 101,
	 .exit_status = 11,
	 .has_exit_status = true,
	 .command = "sh -c \"echo 1\"",
	 .lineage = "_f1_x1",
	 .cgroup = "/system.slice/docker-"
		   "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope",
	 .inner_pid = 1,
	 .life = {200 * MS, 300 * MS}},
};

static struct ctx_thread_info threads[] = {
	{.process = 0, .tid = 100, .name = "app", .life = {0, 1000 * MS}, .samples = 240, .weight = 240 * MS},
	{.process = 0,
	 .tid = 102,
	 .inner_tid = 3,
	 .name = "worker/1",
	 .life = {100 * MS, 900 * MS},
	 .samples = 60,
	 .weight = 60 * MS},
};

static struct ctx_metric_info metrics[] = {{.name = "cpu-clock",
					    .kind = CTX_METRIC_CPU_TIME,
					    .unit = CTX_UNIT_NS,
					    .samples = 300,
					    .weight = 300 * MS}};
static struct ctx_property properties[] = {
	{"collector", "ctxrec 0.1.0"},
	{"host", "target1"},
	{"command", "./app --size 10 --with a-rather-long-command-line --that does --not fit --into 80 "
		    "--columns at --all"},
};
static struct ctx_usage_info usage[] = {
	{.time_ns = 0, .process = 0, .user_ns = 7 * MS, .rss_bytes = 1 << 20, .threads = 1},
	{.time_ns = 500 * MS,
	 .process = 0,
	 .user_ns = 407 * MS,
	 .system_ns = 50 * MS,
	 .rss_bytes = 5 << 20,
	 .minor_faults = 800,
	 .voluntary_switches = 12,
	 .read_bytes = 3 << 20,
	 .threads = 2},
	{.time_ns = 1000 * MS,
	 .process = 0,
	 .user_ns = 800 * MS,
	 .system_ns = 90 * MS,
	 .rss_bytes = 6 << 20,
	 .minor_faults = 850,
	 .major_faults = 1,
	 .voluntary_switches = 20,
	 .involuntary_switches = 3,
	 .read_bytes = 3 << 20,
	 .write_bytes = 1 << 19,
	 .threads = 2},
};
static const struct ctx_interval whole_run = {0, 1000 * MS};

/* The stack of these function ids, ended by CTX_NONE, from the root. */
static inline uint32_t stack_of(struct fixture *fixture, const uint32_t *path)
{
	uint32_t stack = CTX_TRIE_ROOT;

	for (; *path != CTX_NONE; path++)
		assert_int_equal(ctx_trie_child(&fixture->profile.cct, stack, *path, &stack, NULL), CTX_OK);
	return stack;
}

/* So many samples of 1 ms with this stack, entered `calls` times from the root. */
static void add(struct fixture *fixture, struct ctx_histogram *histogram, uint64_t samples, int64_t calls,
		const uint32_t *path)
{
	uint32_t stack = stack_of(fixture, path);

	assert_int_equal(ctx_histogram_add(histogram,
					   (struct ctx_hist_entry){.stack = stack,
								   .weight = samples * MS,
								   .samples = samples,
								   .calls = calls},
					   NULL),
			 CTX_OK);
	assert_int_equal(ctx_histogram_add(histogram,
					   (struct ctx_hist_entry){.stack = CTX_TRIE_ROOT, .calls = -calls},
					   NULL),
			 CTX_OK);
}

#define PATH(...) ((const uint32_t[]){__VA_ARGS__, CTX_NONE})

static void make_slices(struct fixture *fixture)
{
	for (uint32_t i = 0; i < 40; i++) {
		uint32_t thread = i / 20;
		uint64_t begin = (i % 20) * 50 * MS;

		fixture->slices[i] = (struct ctx_report_slice){.thread = thread,
							       .interval = {begin, begin + 50 * MS},
							       .samples = i % 20 * 5 / 2,
							       .weight = i % 20 * 5 / 2 * MS,
							       .function = i % 20 == 0 ? CTX_NONE : i % 3};
	}
	fixture->levels[0] = (struct ctx_report_level){0, 1, 0, 0, 120, 40};
	fixture->levels[1] = (struct ctx_report_level){1, 8, 3, 90, 400, 90};
	fixture->levels[2] = (struct ctx_report_level){2, 40, 40, 210, 0, 0};
}

static int setup(void **state)
{
	struct fixture *fixture = ctx_calloc(1, sizeof(*fixture));
	struct ctx_profile *profile = &fixture->profile;

	*profile = (struct ctx_profile){.name = "test.1.er", .run = whole_run, .closed = true, .notes = ""};
	profile->functions = functions;
	profile->n_functions = CTX_COUNT_OF(functions);
	profile->objects = objects;
	profile->n_objects = CTX_COUNT_OF(objects);
	profile->processes = processes;
	profile->n_processes = CTX_COUNT_OF(processes);
	profile->threads = threads;
	profile->n_threads = CTX_COUNT_OF(threads);
	profile->metrics = metrics;
	profile->n_metrics = CTX_COUNT_OF(metrics);
	profile->properties = properties;
	profile->n_properties = CTX_COUNT_OF(properties);
	profile->usage = usage;
	profile->n_usage = CTX_COUNT_OF(usage);
	assert_int_equal(ctx_trie_init(&profile->cct, NULL), CTX_OK);
	add(fixture, &fixture->main_thread, 20, 1, PATH(0));
	add(fixture, &fixture->main_thread, 120, 3, PATH(0, 1));
	add(fixture, &fixture->main_thread, 40, 2, PATH(0, 2));
	add(fixture, &fixture->main_thread, 30, 2, PATH(0, 2, 2));
	add(fixture, &fixture->main_thread, 18, 1, PATH(0, 2, 2, 3, 4));
	add(fixture, &fixture->main_thread, 12, 1, PATH(5, 3));
	add(fixture, &fixture->worker, 55, 4, PATH(7, 1));
	add(fixture, &fixture->worker, 4, 1, PATH(7, 6));
	add(fixture, &fixture->worker, 1, 1, PATH(7, 3));
	assert_int_equal(ctx_histogram_merge(&fixture->all, &fixture->main_thread, NULL), CTX_OK);
	assert_int_equal(ctx_histogram_merge(&fixture->all, &fixture->worker, NULL), CTX_OK);
	make_slices(fixture);
	fixture->parts[0] = (struct ctx_report_part){.thread = CTX_NONE, .histograms = &fixture->all};
	fixture->input = (struct fake_source){.profile = profile,
					      .path = "test.1.er",
					      .intervals = &whole_run,
					      .n_intervals = 1,
					      .filter = "",
					      .parts = fixture->parts,
					      .n_parts = 1,
					      .slices = fixture->slices,
					      .n_slices = 40,
					      .slices_per_thread = 20,
					      .levels = fixture->levels,
					      .n_levels = 3};
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	ctx_trie_deinit(&fixture->profile.cct);
	ctx_histogram_deinit(&fixture->all);
	ctx_histogram_deinit(&fixture->main_thread);
	ctx_histogram_deinit(&fixture->worker);
	free(fixture);
	return 0;
}

#define with_fixture(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

#endif
