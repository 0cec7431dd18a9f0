/* What is mapped where data is: maps, forks, exec, ends, how stacks grow; and this process itself. */
#include "collect/data_maps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void take(struct ctx_data_maps *maps, struct ctx_perf_record record)
{
	assert_int_equal(ctx_data_maps_record(maps, &record, NULL), CTX_OK);
}

static void map(struct ctx_data_maps *maps, uint32_t pid, uint64_t address, uint64_t size, const char *path)
{
	struct ctx_perf_record record = {.type = PERF_RECORD_MMAP2, .pid = pid, .tid = pid};

	record.mmap.address = address;
	record.mmap.size = size;
	record.mmap.path = path;
	take(maps, record);
}

static void fork_of(struct ctx_data_maps *maps, uint32_t parent, uint32_t pid, uint32_t tid)
{
	struct ctx_perf_record record = {.type = PERF_RECORD_FORK, .pid = pid, .tid = tid};

	record.task.parent_pid = (int32_t)parent;
	take(maps, record);
}

static void exec_of(struct ctx_data_maps *maps, uint32_t pid)
{
	take(maps, (struct ctx_perf_record){.type = PERF_RECORD_COMM,
					    .misc = PERF_RECORD_MISC_COMM_EXEC,
					    .pid = pid,
					    .tid = pid,
					    .comm = "c"});
}

static const char *at(struct ctx_data_maps *maps, int64_t pid, uint64_t address)
{
	const char *name = "unset";

	assert_int_equal(ctx_data_maps_find(maps, pid, address, &name, NULL), CTX_OK);
	return name;
}

/* Processes that cannot exist: nothing is read from /proc. */
#define PID 2000000001u
#define CHILD 2000000002u

static void test_data_maps__the_newest_map_counts(void **state)
{
	struct ctx_data_maps maps = {0};

	(void)state;
	map(&maps, PID, 0x1000, 0x3000, "/a");
	map(&maps, PID, 0x2000, 0x1000, "[heap]");
	assert_string_equal(at(&maps, PID, 0x1fff), "/a");
	assert_string_equal(at(&maps, PID, 0x2000), "[heap]");
	assert_string_equal(at(&maps, PID, 0x3000), "/a");
	assert_null(at(&maps, PID, 0x4000));
	assert_null(at(&maps, PID, 0xfff));
	assert_null(at(&maps, CHILD, 0x1000));
	assert_string_equal(at(&maps, PID, UINT64_MAX), "[kernel]");
	map(&maps, PID, UINT64_MAX, 2, "/beyond the end");
	map(&maps, PID, 0x9000, 0, "/empty");
	assert_null(at(&maps, PID, 0x9000));
	ctx_data_maps_deinit(&maps);
}

static void test_data_maps__a_child_has_its_parents_until_it_executes_another_program(void **state)
{
	struct ctx_data_maps maps = {0};

	(void)state;
	map(&maps, PID, 0x1000, 0x1000, "/a");
	fork_of(&maps, PID, PID, PID + 7); /* a thread */
	fork_of(&maps, PID, CHILD, CHILD);
	map(&maps, PID, 0x1000, 0x1000, "/b");
	assert_string_equal(at(&maps, CHILD, 0x1000), "/a");
	assert_string_equal(at(&maps, PID, 0x1000), "/b");
	exec_of(&maps, CHILD);
	assert_null(at(&maps, CHILD, 0x1000));
	map(&maps, CHILD, 0x5000, 0x1000, "/c");
	assert_string_equal(at(&maps, CHILD, 0x5000), "/c");
	ctx_data_maps_deinit(&maps);
}

static void test_data_maps__processes_that_ended_leave_no_memory(void **state)
{
	struct ctx_data_maps maps = {0};

	(void)state;
	map(&maps, PID, 0x1000, 0x1000, "/a");
	for (uint32_t pid = CHILD; pid < CHILD + 1000; pid++) {
		fork_of(&maps, PID, pid, pid);
		assert_string_equal(at(&maps, pid, 0x1000), "/a");
		take(&maps, (struct ctx_perf_record){.type = PERF_RECORD_EXIT, .pid = pid, .tid = pid + 1});
		assert_string_equal(at(&maps, pid, 0x1000), "/a"); /* one of its threads */
		take(&maps, (struct ctx_perf_record){.type = PERF_RECORD_EXIT, .pid = pid, .tid = pid});
	}
	assert_int_equal(maps.n, 2);
	assert_null(at(&maps, CHILD, 0x1000));
	ctx_data_maps_deinit(&maps);
}

static void test_data_maps__stacks_grow_down_to_the_next_map(void **state)
{
	struct ctx_data_maps maps = {0};

	(void)state;
	map(&maps, PID, 0x7ffff0000000, 0x21000, "[stack]");
	map(&maps, PID, 0x7fffeff00000, 0x1000, "/a");
	assert_string_equal(at(&maps, PID, 0x7fffefff0000), "[stack]");
	assert_string_equal(at(&maps, PID, 0x7fffeff00800), "/a");
	assert_null(at(&maps, PID, 0x7fffeff00000 - 1)); /* /a is between */
	assert_null(at(&maps, PID, 0x7ffff0021000));
	ctx_data_maps_deinit(&maps);
}

static int known;

static void test_data_maps__a_process_from_before_is_read_when_it_is_asked_for(void **state)
{
	struct ctx_data_maps maps = {0};
	char path[4096] = "";
	int *block = malloc(sizeof(*block));

	(void)state;
	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	assert_string_equal(at(&maps, getpid(), (uintptr_t) & "constant"), path);
	assert_non_null(at(&maps, getpid(), (uintptr_t)&known));
	assert_non_null(at(&maps, getpid(), (uintptr_t)block));
	assert_string_equal(at(&maps, getpid(), (uintptr_t)&maps), "[stack]");
	assert_null(at(&maps, getpid(), 0x10));
	free(block);
	ctx_data_maps_deinit(&maps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_data_maps__the_newest_map_counts),
		cmocka_unit_test(test_data_maps__a_child_has_its_parents_until_it_executes_another_program),
		cmocka_unit_test(test_data_maps__processes_that_ended_leave_no_memory),
		cmocka_unit_test(test_data_maps__stacks_grow_down_to_the_next_map),
		cmocka_unit_test(test_data_maps__a_process_from_before_is_read_when_it_is_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
