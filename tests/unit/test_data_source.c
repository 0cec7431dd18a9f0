/*
 * Data sources of accesses to memory: every value of each part, with all other bits set and clear.
 */
#include "base/mem.h"
#include "model/data_source.h"

#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t word_of(union perf_mem_data_src parts)
{
	return parts.val;
}

static void test_data_source__operations_are_those_of_the_kernels_bits(void **state)
{
	static const struct {
		unsigned bits;
		enum ctx_memory_operation operation;
	} cases[] = {{PERF_MEM_OP_NA, CTX_MEMORY_UNKNOWN},
		     {PERF_MEM_OP_LOAD, CTX_MEMORY_LOAD},
		     {PERF_MEM_OP_STORE, CTX_MEMORY_STORE},
		     {PERF_MEM_OP_LOAD | PERF_MEM_OP_STORE, CTX_MEMORY_LOAD_STORE},
		     {PERF_MEM_OP_LOAD | PERF_MEM_OP_PFETCH, CTX_MEMORY_PREFETCH},
		     {PERF_MEM_OP_EXEC, CTX_MEMORY_EXECUTE}};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(cases); i++) {
		uint64_t word = word_of((union perf_mem_data_src){.mem_op = (uint8_t)(cases[i].bits & 31)});

		assert_int_equal(ctx_data_operation_of(word), cases[i].operation);
		assert_int_equal(ctx_data_operation_of(word | ~UINT64_C(31)), cases[i].operation);
	}
}

static void test_data_source__levels_are_the_new_number_else_the_nearest_of_the_old_bits(void **state)
{
	static const struct {
		union perf_mem_data_src word;
		enum ctx_data_level level;
	} cases[] = {
		{{.mem_lvl = PERF_MEM_LVL_NA}, CTX_DATA_UNKNOWN},
		{{.mem_lvl = PERF_MEM_LVL_HIT | PERF_MEM_LVL_L1}, CTX_DATA_L1},
		{{.mem_lvl = PERF_MEM_LVL_LFB | PERF_MEM_LVL_L3}, CTX_DATA_FILL_BUFFER},
		{{.mem_lvl = PERF_MEM_LVL_L2}, CTX_DATA_L2},
		{{.mem_lvl = PERF_MEM_LVL_LOC_RAM}, CTX_DATA_RAM},
		{{.mem_lvl = PERF_MEM_LVL_REM_RAM1}, CTX_DATA_REMOTE_RAM},
		{{.mem_lvl = PERF_MEM_LVL_REM_CCE2}, CTX_DATA_REMOTE_CACHE},
		{{.mem_lvl = PERF_MEM_LVL_IO}, CTX_DATA_IO},
		{{.mem_lvl = PERF_MEM_LVL_UNC}, CTX_DATA_UNCACHED},
		{{.mem_lvl_num = PERF_MEM_LVLNUM_L4}, CTX_DATA_L4},
		{{.mem_lvl_num = PERF_MEM_LVLNUM_L3, .mem_lvl = PERF_MEM_LVL_L1}, CTX_DATA_L3},
		{{.mem_lvl_num = PERF_MEM_LVLNUM_NA, .mem_lvl = PERF_MEM_LVL_L1}, CTX_DATA_L1},
		{{.mem_lvl_num = PERF_MEM_LVLNUM_RAM}, CTX_DATA_RAM},
		{{.mem_lvl_num = PERF_MEM_LVLNUM_RAM, .mem_remote = 1}, CTX_DATA_REMOTE_RAM},
		{{.mem_lvl_num = PERF_MEM_LVLNUM_ANY_CACHE, .mem_remote = 1}, CTX_DATA_REMOTE_CACHE},
		{{.mem_lvl_num = PERF_MEM_LVLNUM_PMEM}, CTX_DATA_PERSISTENT},
		{{.mem_lvl_num = 5}, CTX_DATA_UNKNOWN}, /* no level has this number */
	};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(cases); i++)
		assert_int_equal(ctx_data_level_of(cases[i].word.val), cases[i].level);
	assert_true(ctx_data_is_miss(word_of((union perf_mem_data_src){.mem_lvl = PERF_MEM_LVL_MISS})));
	assert_false(ctx_data_is_miss(~word_of((union perf_mem_data_src){.mem_lvl = PERF_MEM_LVL_MISS})));
	assert_true(ctx_data_is_locked(word_of((union perf_mem_data_src){.mem_lock = PERF_MEM_LOCK_LOCKED})));
	assert_false(ctx_data_is_locked(word_of((union perf_mem_data_src){.mem_lock = PERF_MEM_LOCK_NA})));
}

static void test_data_source__snoops_and_tlbs_are_named(void **state)
{
	static const struct {
		union perf_mem_data_src word;
		const char *snoop, *tlb;
	} cases[] = {
		{{.val = 0}, "?", "?"},
		{{.mem_snoop = PERF_MEM_SNOOP_NONE, .mem_dtlb = PERF_MEM_TLB_HIT | PERF_MEM_TLB_L1},
		 "none",
		 "L1"},
		{{.mem_snoop = PERF_MEM_SNOOP_HIT, .mem_dtlb = PERF_MEM_TLB_HIT | PERF_MEM_TLB_L2},
		 "hit",
		 "L2"},
		{{.mem_snoop = PERF_MEM_SNOOP_MISS,
		  .mem_dtlb = PERF_MEM_TLB_HIT | PERF_MEM_TLB_L1 | PERF_MEM_TLB_L2},
		 "miss",
		 "L1 or L2"},
		{{.mem_snoop = PERF_MEM_SNOOP_HITM | PERF_MEM_SNOOP_HIT, .mem_dtlb = PERF_MEM_TLB_MISS},
		 "hit modified",
		 "miss"},
		{{.mem_snoopx = PERF_MEM_SNOOPX_FWD, .mem_dtlb = PERF_MEM_TLB_HIT | PERF_MEM_TLB_WK},
		 "forward",
		 "walk"},
		{{.mem_snoopx = PERF_MEM_SNOOPX_PEER, .mem_dtlb = PERF_MEM_TLB_OS | PERF_MEM_TLB_MISS},
		 "peer",
		 "fault"},
	};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(cases); i++) {
		assert_string_equal(ctx_data_snoop_name(ctx_data_snoop_of(cases[i].word.val)),
				    cases[i].snoop);
		assert_string_equal(ctx_data_tlb_name(ctx_data_tlb_of(cases[i].word.val)), cases[i].tlb);
	}
	assert_string_equal(ctx_data_level_name(CTX_DATA_LEVEL_N), "?");
	assert_string_equal(ctx_data_level_name(CTX_DATA_REMOTE_RAM), "remote RAM");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_data_source__operations_are_those_of_the_kernels_bits),
		cmocka_unit_test(
			test_data_source__levels_are_the_new_number_else_the_nearest_of_the_old_bits),
		cmocka_unit_test(test_data_source__snoops_and_tlbs_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
