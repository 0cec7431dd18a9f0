/*
 * Counters of a virtual machine: files that are made by hand, whole and cut, and safepoints between readings; marks in order of time.
 */
#include "base/mem.h"
#include "collect/vm_marks.h"
#include "collect/vm_perfdata.h"
#include "model/traced.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ENTRY_BYTES 20u

static void put_entry(struct ctx_buf *file, const char *name, char type, uint64_t value)
{
	uint32_t name_bytes = (uint32_t)(strlen(name) / 8 + 1) * 8 + 4; /* the value is aligned */
	uint8_t zeros[128] = {0};

	ctx_buf_put_u32(file, ENTRY_BYTES + name_bytes + 8);
	ctx_buf_put_u32(file, ENTRY_BYTES);
	ctx_buf_put_u32(file, 0);
	ctx_buf_put_u8(file, (uint8_t)type);
	ctx_buf_put(file, zeros, 3);
	ctx_buf_put_u32(file, ENTRY_BYTES + name_bytes);
	memcpy(zeros, name, strlen(name));
	ctx_buf_put(file, zeros, name_bytes);
	ctx_buf_put_u64(file, value);
}

static void put_prologue(struct ctx_buf *file, uint32_t n)
{
	ctx_buf_clear(file);
	ctx_buf_put(file, "\xca\xfe\xc0\xc0\x01\x02\x00\x01", 8);
	ctx_buf_put_u32(file, 0);
	ctx_buf_put_u32(file, 0);
	ctx_buf_put_u64(file, 0);
	ctx_buf_put_u32(file, 32);
	ctx_buf_put_u32(file, n);
}

static const struct {
	const char *name;
	char type;
	uint64_t value;
} entries[] = {{"sun.os.hrt.frequency", 'J', 1000000000},
	       {"sun.gc.collector.0.invocations", 'J', 27},
	       {"sun.gc.collector.1.invocations", 'J', 4},
	       {"sun.gc.collector.0.time", 'J', 44000000},
	       {"sun.gc.collector.1.time", 'J', 56000000},
	       {"sun.gc.collector.0.lastEntryTime", 'J', 999},
	       {"sun.gc.generation.0.space.0.used", 'J', 1000},
	       {"sun.gc.generation.1.space.0.used", 'J', 500},
	       {"java.cls.loadedClasses", 'J', 4},
	       {"java.cls.sharedLoadedClasses", 'J', 400},
	       {"sun.ci.totalCompiles", 'J', 7},
	       {"java.ci.totalTime", 'J', 1944599},
	       {"sun.rt.safepoints", 'J', 31},
	       {"sun.rt.safepointTime", 'J', 102747352},
	       {"sun.rt.safepointSyncTime", 'J', 154808},
	       {"sun.rt.applicationTime", 'J', 316582876},
	       {"sun.rt.javaCommand", 'B', 77}};

static void put_all(struct ctx_buf *file, uint64_t frequency)
{
	put_prologue(file, (uint32_t)CTX_COUNT_OF(entries));
	for (size_t i = 0; i < CTX_COUNT_OF(entries); i++)
		put_entry(file, entries[i].name, entries[i].type, i == 0 ? frequency : entries[i].value);
}

static void test_vm_perfdata__counters_are_figures_those_of_several_entries_as_their_sum(void **state)
{
	struct ctx_buf file CTX_AUTO_BUF = {0};
	struct ctx_vm_counters counters;

	(void)state;
	put_all(&file, 1000000000);
	assert_true(ctx_vm_perfdata_parse(file.bytes, file.n, &counters));
	assert_int_equal(counters.figures[CTX_VM_GC_COUNT], 31);
	assert_int_equal(counters.figures[CTX_VM_GC_NS], 100000000);
	assert_int_equal(counters.figures[CTX_VM_HEAP_USED], 1500);
	assert_int_equal(counters.figures[CTX_VM_HEAP_MAX], CTX_VM_UNKNOWN);
	assert_int_equal(counters.figures[CTX_VM_CLASSES], 404);
	assert_int_equal(counters.figures[CTX_VM_CLASS_LOAD_NS], CTX_VM_UNKNOWN);
	assert_int_equal(counters.figures[CTX_VM_COMPILATIONS], 7);
	assert_int_equal(counters.figures[CTX_VM_COMPILE_NS], 1944599);
	assert_int_equal(counters.figures[CTX_VM_SAFEPOINTS], 31);
	assert_int_equal(counters.figures[CTX_VM_SAFEPOINT_NS], 102747352);
	assert_int_equal(counters.figures[CTX_VM_SAFEPOINT_SYNC_NS], 154808);
	assert_int_equal(counters.running_ns, 316582876);
}

static void test_vm_perfdata__ticks_that_are_no_ns_are_not_taken(void **state)
{
	struct ctx_buf file CTX_AUTO_BUF = {0};
	struct ctx_vm_counters counters;

	(void)state;
	put_all(&file, 1000000);
	assert_true(ctx_vm_perfdata_parse(file.bytes, file.n, &counters));
	assert_int_equal(counters.figures[CTX_VM_GC_COUNT], 31);
	assert_int_equal(counters.figures[CTX_VM_GC_NS], CTX_VM_UNKNOWN);
	assert_int_equal(counters.running_ns, CTX_VM_UNKNOWN);
}

static void test_vm_perfdata__a_file_that_is_cut_or_another_one_is_none(void **state)
{
	struct ctx_buf file CTX_AUTO_BUF = {0};
	struct ctx_vm_counters counters;

	(void)state;
	put_all(&file, 1000000000);
	for (size_t n = 0; n < file.n; n++) {
		/* Bytes behind the last one are not mapped: a sanitizer sees who reads them. */
		uint8_t *cut = malloc(n + 1);

		assert_non_null(cut);
		memcpy(cut, file.bytes, n);
		assert_false(ctx_vm_perfdata_parse(cut, n, &counters));
		free(cut);
	}
	for (size_t i = 0; i < 6; i++) {
		if (i == 5)
			continue;
		file.bytes[i] ^= 0xff;
		assert_false(ctx_vm_perfdata_parse(file.bytes, file.n, &counters));
		file.bytes[i] ^= 0xff;
	}
	/* An entry of no bytes would never end. */
	memset(file.bytes + 32, 0, 4);
	assert_false(ctx_vm_perfdata_parse(file.bytes, file.n, &counters));
}

static void test_vm_perfdata__an_entry_that_points_outside_itself_is_left_out(void **state)
{
	struct ctx_buf file CTX_AUTO_BUF = {0};
	struct ctx_vm_counters counters;
	const uint32_t outside = 0x7fffffff;

	(void)state;
	for (size_t at = 4; at <= 16; at += 12) { /* name, data */
		put_prologue(&file, 2);
		put_entry(&file, "sun.rt.safepoints", 'J', 5);
		put_entry(&file, "sun.ci.totalCompiles", 'J', 6);
		memcpy(file.bytes + 32 + at, &outside, sizeof(outside));
		assert_true(ctx_vm_perfdata_parse(file.bytes, file.n, &counters));
		assert_int_equal(counters.figures[CTX_VM_SAFEPOINTS], CTX_VM_UNKNOWN);
		assert_int_equal(counters.figures[CTX_VM_COMPILATIONS], 6);
	}
}

static struct ctx_vm_counters counters_of(uint64_t running_ns, uint64_t safepoint_ns, uint64_t sync_ns)
{
	struct ctx_vm_counters counters = {.running_ns = running_ns};

	counters.figures[CTX_VM_SAFEPOINT_NS] = safepoint_ns;
	counters.figures[CTX_VM_SAFEPOINT_SYNC_NS] = sync_ns;
	return counters;
}

static void test_vm_perfdata__safepoints_between_readings_are_where_the_best_reading_puts_them(void **state)
{
	struct ctx_vm_safepoints safepoints = {0};
	struct ctx_vm_safepoint safepoint;
	struct ctx_vm_counters counters = counters_of(100, 10, 1);

	(void)state;
	/* The counters began at 1000. What was before the first reading is no span. */
	assert_false(ctx_vm_safepoints_update(&safepoints, &counters, 1200, &safepoint));
	assert_false(ctx_vm_safepoints_update(&safepoints, &counters, 1300, &safepoint));
	/* From 1210 to 1250, read 30 later. */
	counters = counters_of(200, 50, 5);
	assert_true(ctx_vm_safepoints_update(&safepoints, &counters, 1280, &safepoint));
	assert_int_equal(safepoint.begin_ns, 1240);
	assert_int_equal(safepoint.end_ns, 1280);
	assert_int_equal(safepoint.sync_ns, 4);
	/* From 1350 to 1360, read at once: from here on places are exact. */
	counters = counters_of(300, 60, 6);
	assert_true(ctx_vm_safepoints_update(&safepoints, &counters, 1360, &safepoint));
	assert_int_equal(safepoint.begin_ns, 1350);
	assert_int_equal(safepoint.end_ns, 1360);
	counters = counters_of(400, 65, 7);
	assert_true(ctx_vm_safepoints_update(&safepoints, &counters, 1500, &safepoint));
	assert_int_equal(safepoint.begin_ns, 1460);
	assert_int_equal(safepoint.end_ns, 1465);
	/* One that has begun has no end. */
	counters = counters_of(450, 65, 7);
	assert_false(ctx_vm_safepoints_update(&safepoints, &counters, 1520, &safepoint));
	/* More time than has passed since the machine was started. */
	counters = counters_of(4500, 66, 7);
	assert_false(ctx_vm_safepoints_update(&safepoints, &counters, 1530, &safepoint));
}

static void test_vm_perfdata__marks_are_in_order_of_time_whenever_they_come(void **state)
{
	struct ctx_vm_marks marks = {0};
	const struct ctx_vm_mark inner = {.time_ns = 20, .tid = 2, .name = "GC pause"};
	const struct ctx_vm_mark outer = {.time_ns = 10, .tid = 2, .name = "safepoint"};
	static const uint64_t times[] = {10, 20, 25, 30};
	static const uint8_t operations[] = {CTX_MARK_BEGIN, CTX_MARK_BEGIN, CTX_MARK_END, CTX_MARK_END};

	(void)state;
	assert_int_equal(ctx_vm_marks_add_interval(&marks, &inner, 25, NULL), CTX_OK);
	assert_int_equal(ctx_vm_marks_add_interval(&marks, &outer, 30, NULL), CTX_OK);
	assert_int_equal(marks.n, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(marks.items[i].time_ns, times[i]);
		assert_int_equal(marks.items[i].operation, operations[i]);
	}
	while (marks.n + 2 <= CTX_VM_MARKS_MAX)
		assert_int_equal(ctx_vm_marks_add_interval(&marks,
							   &(struct ctx_vm_mark){.time_ns = 30 + marks.n},
							   31 + marks.n, NULL),
				 CTX_OK);
	assert_int_equal(ctx_vm_marks_add_interval(&marks, &outer, 30, NULL), CTX_E_LIMIT);
	ctx_vm_marks_deinit(&marks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_vm_perfdata__counters_are_figures_those_of_several_entries_as_their_sum),
		cmocka_unit_test(test_vm_perfdata__ticks_that_are_no_ns_are_not_taken),
		cmocka_unit_test(test_vm_perfdata__a_file_that_is_cut_or_another_one_is_none),
		cmocka_unit_test(test_vm_perfdata__an_entry_that_points_outside_itself_is_left_out),
		cmocka_unit_test(
			test_vm_perfdata__safepoints_between_readings_are_where_the_best_reading_puts_them),
		cmocka_unit_test(test_vm_perfdata__marks_are_in_order_of_time_whenever_they_come),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
