/*
 * Records and tracepoints as the kernel writes and describes them. test_perfdata_record feeds the
 * parsers of samples, maps and trailers with every set of fields in both byte orders, test_collect
 * with the recorder's own layout.
 */
#include "base/mem.h"
#include "formats/perfevent/pe_record.h"
#include "formats/perfevent/pe_sample.h"
#include "formats/perfevent/pe_tracepoint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* --- tracepoints --- */

static const char SWITCH_FORMAT[] = "name: sched_switch\nID: 372\nformat:\n"
				    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
				    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
				    "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
				    "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
				    "\tfield:long prev_state;\toffset:32;\tsize:8;\n"
				    "\nprint fmt: \"prev_pid=%d\", REC->prev_pid\n";

static bool find(const char *format, const char *name, struct ctx_pe_field *ret)
{
	return ctx_pe_format_field(format, strlen(format), name, ret);
}

static void test_perfevent__fields_are_at_the_offsets_of_the_format(void **state)
{
	struct ctx_pe_field field;
	uint64_t id;
	size_t n;

	(void)state;
	assert_true(find(SWITCH_FORMAT, "prev_state", &field));
	assert_int_equal(field.offset, 32);
	assert_int_equal(field.size, 8);
	assert_true(field.is_signed); /* old kernels do not say */
	assert_true(find(SWITCH_FORMAT, "common_type", &field));
	assert_int_equal(field.size, 2);
	assert_false(field.is_signed);
	assert_true(ctx_pe_format_id(SWITCH_FORMAT, strlen(SWITCH_FORMAT), &id));
	assert_int_equal(id, 372);
	assert_memory_equal(ctx_pe_format_name(SWITCH_FORMAT, strlen(SWITCH_FORMAT), &n), "sched_switch\n",
			    13);
	assert_int_equal(n, 12);
	assert_null(ctx_pe_format_name("ID: 4\n", 6, &n));
	assert_false(ctx_pe_format_id("name: a\n", 8, &id));
}

static void test_perfevent__non_numeric_fields_are_refused(void **state)
{
	static const char *const broken[] = {"\tfield:int pid;\n",
					     "\tfield:int pid;\toffset:4;\tsize:3;\tsigned:1;\n",
					     "\tfield:int pid;\toffset:4;\tsize:16;\tsigned:1;\n",
					     "\tfield:int pid;\toffset:4;\tsize:0;\tsigned:1;\n",
					     "\tfield:int pid;\toffset:99999999;\tsize:4;\tsigned:1;\n",
					     "\tfield:int pid",
					     ""};
	struct ctx_pe_field field;

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(broken); i++)
		assert_false(find(broken[i], "pid", &field));
	/* A part of a name is another name. */
	assert_false(find(SWITCH_FORMAT, "pid", &field));
	assert_false(find(SWITCH_FORMAT, "prev_comm", &field));
}

static void test_perfevent__values_are_signed_and_only_of_existing_bytes(void **state)
{
	static const uint8_t raw[] = {0xff, 0xfe, 0xff, 0xff, 0xff, 0x80, 0, 0, 0};
	static const struct {
		struct ctx_pe_field field;
		bool swap, found;
		int64_t value;
	} cases[] = {
		{{0, 1, true}, false, true, -1},
		{{5, 1, true}, false, true, -128},
		{{8, 1, true}, true, true, 0},
		{{0, 2, true}, false, true, -257},
		{{0, 2, true}, true, true, -2},
		{{1, 4, true}, false, true, -2},
		{{5, 4, true}, false, true, 128},
		{{5, 4, true}, true, true, INT32_MIN},
		{{1, 8, true}, false, true, 0x80fffffffe},
		{{9, 1, true}, false, false, 0},
		{{6, 4, true}, false, false, 0},
		{{2, 8, true}, false, false, 0},
		{{65535, 8, true}, false, false, 0},
		{{0, 0, true}, false, false, 0},
		{{0, 1, false}, false, true, 255},
		{{0, 2, false}, true, true, 0xfffe},
		{{1, 4, false}, false, true, 0xfffffffe},
	};

	(void)state;
	assert_true(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
	for (size_t i = 0; i < CTX_COUNT_OF(cases); i++) {
		int64_t value = 0;

		assert_int_equal(ctx_pe_field_read(&cases[i].field, raw, sizeof(raw), cases[i].swap, &value),
				 cases[i].found);
		assert_int_equal(value, cases[i].value);
	}
}

/* Without letters in the format: as Linux has them since 4.14. */
static void test_perfevent__prev_state_is_the_reason_of_leaving(void **state)
{
	static const char letters[] =
		"print fmt: \"%s\", { 0x0001, \"S\" }, { 0x0004, \"T\" }, { 0x0040, \"x\" }\n";
	struct ctx_pe_prev_states usual = ctx_pe_prev_states_parse(SWITCH_FORMAT, strlen(SWITCH_FORMAT));
	struct ctx_pe_prev_states old = ctx_pe_prev_states_parse(letters, strlen(letters));

	(void)state;
	assert_int_equal(ctx_pe_leaving_of(&usual, 0), CTX_PE_LEAVING_PREEMPTED);
	assert_int_equal(ctx_pe_leaving_of(&usual, 0x100), CTX_PE_LEAVING_PREEMPTED);
	assert_int_equal(ctx_pe_leaving_of(&usual, 1), CTX_PE_LEAVING_BLOCKED);
	assert_int_equal(ctx_pe_leaving_of(&usual, 2), CTX_PE_LEAVING_BLOCKED);
	assert_int_equal(ctx_pe_leaving_of(&usual, 4), CTX_PE_LEAVING_STOPPED);
	assert_int_equal(ctx_pe_leaving_of(&usual, 8), CTX_PE_LEAVING_STOPPED);
	assert_int_equal(ctx_pe_leaving_of(&usual, 0x10), CTX_PE_LEAVING_DEAD);
	assert_int_equal(ctx_pe_leaving_of(&usual, 0x20), CTX_PE_LEAVING_DEAD);
	assert_int_equal(ctx_pe_leaving_of(&usual, 0x80), CTX_PE_LEAVING_BLOCKED);
	assert_int_equal(ctx_pe_leaving_of(&old, 0x40), CTX_PE_LEAVING_DEAD);
	assert_int_equal(ctx_pe_leaving_of(&old, 0x20), CTX_PE_LEAVING_PREEMPTED);
}

/* --- records --- */

/* A map with these 24 bytes where a build id is, if it is one. */
static struct ctx_pe_mmap map_with(const uint8_t object_id[24], uint16_t misc)
{
	const struct perf_event_header header = {.type = PERF_RECORD_MMAP2, .misc = misc};
	uint8_t body[32 + 24 + 8 + 8] = {0};
	struct ctx_pe_mmap map;

	memcpy(body + 32, object_id, 24);
	memcpy(body + 64, "/bin/a", 7);
	assert_int_equal(ctx_pe_mmap_parse(ctx_pe_wire_make(body, sizeof(body), false), &header, &map, NULL),
			 CTX_OK);
	map.path = NULL;
	return map;
}

static void test_perfevent__a_build_id_needs_the_bit_and_the_form_of_one(void **state)
{
	static const uint8_t id[24] = {4, 0, 0, 0, 0xde, 0xad, 0xbe, 0xef};
	static const uint8_t inode[24] = {4, 0, 0, 0, 1, 0, 0, 0, 0x39, 0x30};

	(void)state;
	assert_string_equal(map_with(id, PERF_RECORD_MISC_MMAP_BUILD_ID).build_id, "deadbeef");
	assert_string_equal(map_with(id, 0).build_id, "");
	assert_string_equal(map_with(inode, PERF_RECORD_MISC_MMAP_BUILD_ID).build_id, "");
}

static void test_perfevent__a_kernel_symbol_may_have_no_address_and_no_size(void **state)
{
	static const uint64_t addresses[] = {UINT64_C(0xffffffffc0000000), 0};
	uint8_t body[32] = {0};
	struct ctx_pe_ksymbol symbol;

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(addresses); i++) {
		uint32_t size = i == 0 ? 64 : 0;

		memcpy(body, &addresses[i], 8);
		memcpy(body + 8, &size, 4);
		body[14] = 1;
		memcpy(body + 16, "bpf_prog", 9);
		assert_int_equal(
			ctx_pe_ksymbol_parse(ctx_pe_wire_make(body, sizeof(body), false), &symbol, NULL),
			CTX_OK);
		assert_true(symbol.is_released);
		assert_int_equal(symbol.address, addresses[i]);
		assert_int_equal(symbol.size, size);
		assert_string_equal(symbol.name, "bpf_prog");
	}
	memset(body, 0xff, 16); /* past the end of the address space */
	assert_int_equal(ctx_pe_ksymbol_parse(ctx_pe_wire_make(body, sizeof(body), false), &symbol, NULL),
			 CTX_E_FORMAT);
}

/* --- layouts --- */

static void test_perfevent__a_layout_knows_the_machine_and_its_program_counter(void **state)
{
	static const struct {
		uint64_t mask;
		enum ctx_machine machine;
		int pc;
	} cases[] = {
		{UINT64_C(0xff0fff), CTX_MACHINE_X86_64, 8},
		{UINT64_C(0x1ffffffff), CTX_MACHINE_AARCH64, 32},
		{UINT64_C(0x10f), CTX_MACHINE_X86_64, 4},
		{UINT64_C(0xff), CTX_MACHINE_X86_64, -1},
	};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(cases); i++) {
		struct perf_event_attr attr = {
			.sample_regs_user = cases[i].mask, .freq = 1, .sample_freq = 99};
		struct ctx_pe_layout layout = ctx_pe_layout_make(&attr, false);

		assert_int_equal(layout.machine, cases[i].machine);
		assert_int_equal(layout.pc_reg, cases[i].pc);
		assert_int_equal(layout.period, 1);
	}
}

/* --- samples of branches and of memory --- */

/* Words in the recorder's byte order. */
static size_t put_words(uint8_t *record, const uint64_t *words, size_t n, bool swap)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t word = swap ? __builtin_bswap64(words[i]) : words[i];

		memcpy(record + CTX_PE_HEADER_BYTES + 8 * i, &word, sizeof(word));
	}
	return CTX_PE_HEADER_BYTES + 8 * n;
}

static void test_perfevent__entries_of_branch_stacks_are_read_in_either_byte_order(void **state)
{
	/* mispredicted, 1000 cycles, a call; on a machine of the other order bits begin at the other end */
	const uint64_t little = 1 | UINT64_C(1000) << 4 | UINT64_C(4) << 20;
	const uint64_t big = UINT64_C(1) << 63 | UINT64_C(1000) << 44 | UINT64_C(4) << 40;
	struct ctx_pe_sample sample;
	uint8_t record[128] = {0};

	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		/* counters behind all entries, and an index in front of them */
		const uint64_t words[] = {2,	  77,	  0x1000, 0x2000, swap ? big : little,
					  0x3000, 0x4000, 0,	  5,	  6};
		const struct perf_event_attr attr = {.sample_type = PERF_SAMPLE_BRANCH_STACK,
						     .branch_sample_type = 1u << 3 | 1u << 17 | 1u << 19};
		struct ctx_pe_layout layout = ctx_pe_layout_make(&attr, swap != 0);
		size_t size = put_words(record, words, CTX_COUNT_OF(words), swap != 0);
		struct ctx_pe_branch branch;

		assert_int_equal(ctx_pe_sample_parse(&layout, record, size, &sample, NULL), CTX_OK);
		assert_int_equal(sample.n_branches, 2);
		assert_false(sample.is_longer);
		assert_true(ctx_pe_sample_has_all_branches(&sample));
		branch = ctx_pe_sample_branch(&sample, 0);
		assert_int_equal(branch.from, 0x1000);
		assert_int_equal(branch.to, 0x2000);
		assert_int_equal(branch.cycles, 1000);
		assert_int_equal(branch.type, PERF_BR_CALL);
		assert_true(branch.mispredicted && !branch.predicted && !branch.aborts);
		branch = ctx_pe_sample_branch(&sample, 1);
		assert_int_equal(branch.from, 0x3000);
		assert_int_equal(branch.cycles, 0);
		assert_false(branch.mispredicted || branch.predicted);
		assert_int_equal(ctx_pe_sample_parse(&layout, record, size - 8, &sample, NULL), CTX_E_FORMAT);
	}
}

static void test_perfevent__what_follows_the_users_stack_is_read(void **state)
{
	const struct perf_event_attr attr = {
		.sample_type = PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION |
			       PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP,
		.sample_regs_intr = 5,
	};
	/* the latency is the first half; two registers */
	const uint64_t words[] = {UINT64_C(9) << 32 | 345, 0x1234, 1, 2, 0xaa, 0xbb, 0x5000, 88};
	struct ctx_pe_layout layout = ctx_pe_layout_make(&attr, false);
	struct ctx_pe_sample sample;
	uint8_t record[128] = {0};
	size_t size = put_words(record, words, CTX_COUNT_OF(words), false);

	(void)state;
	assert_int_equal(ctx_pe_sample_parse(&layout, record, size, &sample, NULL), CTX_OK);
	assert_int_equal(sample.weight, 345);
	assert_int_equal(sample.data_source, 0x1234);
	assert_int_equal(sample.physical, 0x5000);
	assert_int_equal(sample.cgroup, 88);
	assert_false(sample.is_longer);
	assert_int_equal(ctx_pe_sample_parse(&layout, record, size - 8, &sample, NULL), CTX_E_FORMAT);
	assert_int_equal(ctx_pe_sample_parse(&layout, record, size + 8, &sample, NULL), CTX_OK);
	assert_true(sample.is_longer);
}

static void test_perfevent__a_control_group_has_an_id_and_a_path(void **state)
{
	static const uint8_t body[] = {7, 0, 0, 0, 0, 0, 0, 0, '/', 'a', 0, 0, 0, 0, 0, 0};
	static const uint8_t none[16] = {0};
	struct ctx_pe_cgroup cgroup;

	(void)state;
	assert_int_equal(ctx_pe_cgroup_parse(ctx_pe_wire_make(body, sizeof(body), false), &cgroup, NULL),
			 CTX_OK);
	assert_int_equal(cgroup.id, 7);
	assert_string_equal(cgroup.path, "/a");
	/* no id, no end of the path, no path */
	assert_int_equal(ctx_pe_cgroup_parse(ctx_pe_wire_make(none, sizeof(none), false), &cgroup, NULL),
			 CTX_E_FORMAT);
	assert_int_equal(ctx_pe_cgroup_parse(ctx_pe_wire_make(body, 10, false), &cgroup, NULL), CTX_E_FORMAT);
	assert_int_equal(ctx_pe_cgroup_parse(ctx_pe_wire_make(body, 8, false), &cgroup, NULL), CTX_E_FORMAT);
	assert_int_equal(ctx_pe_cgroup_parse(ctx_pe_wire_make(body, 7, false), &cgroup, NULL), CTX_E_FORMAT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_perfevent__fields_are_at_the_offsets_of_the_format),
		cmocka_unit_test(test_perfevent__non_numeric_fields_are_refused),
		cmocka_unit_test(test_perfevent__values_are_signed_and_only_of_existing_bytes),
		cmocka_unit_test(test_perfevent__prev_state_is_the_reason_of_leaving),
		cmocka_unit_test(test_perfevent__a_build_id_needs_the_bit_and_the_form_of_one),
		cmocka_unit_test(test_perfevent__a_kernel_symbol_may_have_no_address_and_no_size),
		cmocka_unit_test(test_perfevent__a_layout_knows_the_machine_and_its_program_counter),
		cmocka_unit_test(test_perfevent__entries_of_branch_stacks_are_read_in_either_byte_order),
		cmocka_unit_test(test_perfevent__what_follows_the_users_stack_is_read),
		cmocka_unit_test(test_perfevent__a_control_group_has_an_id_and_a_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
