/*
 * The table of call frame information of this program: each part, read when it is asked for, says what the descriptions say,
 * whether the linker's list of them is used or not.
 */
#include "tests/unit/cfi_assembly.h"
#include "tests/unit/failing_malloc.h"
#include "unwind/cfi_program.h"
#include "unwind/cfi_table.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define THREADS 4

struct own { /* the sections of this program */
	struct ctx_elf_file file;
	struct ctx_cfi_source source;
};

static struct own open_own(void)
{
	struct own own = {0};

	assert_int_equal(ctx_elf_open_path(&own.file, "/proc/self/exe", NULL), CTX_OK);
	own.source = (struct ctx_cfi_source){.machine = ctx_machine_of_elf(own.file.machine),
					     .segments = own.file.segments,
					     .n_segments = own.file.n_segments,
					     .sections.n = 1};
	assert_true(ctx_cfi_section_open(&own.file, CTX_CFI_EH_FRAME, &own.source.sections.items[0]));
	assert_true(ctx_cfi_section_open(&own.file, CTX_CFI_EH_FRAME_HDR, &own.source.header));
	return own;
}

static struct ctx_cfi_table *build(const struct ctx_cfi_source *source)
{
	struct ctx_cfi_table *table = NULL;

	assert_int_equal(ctx_cfi_build(source, &table, NULL), CTX_OK);
	return table;
}

/* The obvious slow way: descriptions one after the other, each run by itself. */
struct slowly {
	const struct ctx_cfi_table *table;
	size_t rows;
};

static void check(const struct ctx_cfi_table *table, uint64_t address, const struct ctx_cfi_summary *expected)
{
	const struct ctx_cfi_summary *found = ctx_cfi_table_summary(table, address);

	assert_int_equal(found->kind, expected->kind);
	assert_int_equal(found->signal, expected->signal);
	if (found->kind == CTX_CFI_FULL)
		return;
	assert_int_equal(found->cfa_offset, expected->cfa_offset);
	assert_int_equal(found->fp_offset, expected->fp_offset);
}

static enum ctx_status check_row(void *context, const struct ctx_cfi_state *state, uint64_t begin,
				 uint64_t end, struct ctx_err *err)
{
	struct slowly *slowly = context;
	struct ctx_cfi_summary summary = ctx_cfi_summarize(slowly->table->machine, state);

	(void)err;
	check(slowly->table, begin, &summary);
	check(slowly->table, end - 1, &summary);
	slowly->rows++;
	return CTX_OK;
}

static enum ctx_status number_expression(void *context, const uint8_t *bytes, size_t n, int64_t *ret,
					 struct ctx_err *err)
{
	(void)context, (void)bytes, (void)n, (void)err;
	*ret = 0;
	return CTX_OK;
}

static void check_fde(const struct ctx_cfi_section *section, const struct ctx_cfi_entry *entry,
		      struct slowly *slowly)
{
	static struct ctx_cfi_machine machine;
	const struct ctx_cfi_sink sink = {slowly, check_row, number_expression};
	struct ctx_cfi_state initial;
	struct ctx_cfi_entry of_cie;
	struct ctx_cfi_cie cie;
	struct ctx_cfi_fde fde;
	uint64_t begin, end;
	size_t at = entry->cie_offset;

	machine.section = section;
	machine.sink = &sink;
	assert_int_equal(ctx_cfi_entry_next(section, &at, &of_cie), CTX_OK);
	assert_true(ctx_cfi_cie_read(section, &of_cie, &cie));
	assert_int_equal(ctx_cfi_run_cie(&machine, &cie, NULL), CTX_OK);
	initial = machine.state;
	assert_true(ctx_cfi_fde_read(section, entry, &cie, &fde));
	assert_int_equal(ctx_cfi_run_fde(&machine, &cie, &initial, &fde, NULL), CTX_OK);
	assert_true(ctx_cfi_table_function(slowly->table, fde.end - 1, &begin, &end));
	assert_int_equal(begin, fde.begin);
	assert_int_equal(end, fde.end);
}

static void check_all(const struct ctx_cfi_source *source, const struct ctx_cfi_table *table)
{
	const struct ctx_cfi_section *section = &source->sections.items[0];
	struct slowly slowly = {.table = table};
	struct ctx_cfi_entry entry;
	size_t at = 0;

	while (ctx_cfi_entry_next(section, &at, &entry) == CTX_OK) {
		if (entry.kind == CTX_CFI_ENTRY_FDE)
			check_fde(section, &entry, &slowly);
	}
	assert_true(slowly.rows > 100);
}

static void test_cfi_table__says_what_each_description_says(void **state)
{
	struct own own = open_own();
	struct ctx_cfi_table *listed = build(&own.source), *described;

	(void)state;
	check_all(&own.source, listed);
	own.source.header.n = 0;
	described = build(&own.source);
	check_all(&own.source, described);
	assert_int_equal(listed->n_listed, described->n_listed);
	assert_int_equal(ctx_cfi_table_stats(listed).damaged, 0);
	assert_int_equal(ctx_cfi_table_stats(listed).functions, ctx_cfi_table_stats(described).functions);
	/* Outside nothing applies. */
	assert_int_equal(ctx_cfi_table_summary(listed, listed->base)->kind, CTX_CFI_NONE);
	assert_int_equal(ctx_cfi_table_summary(listed, listed->base - 1)->kind, CTX_CFI_NONE);
	assert_int_equal(ctx_cfi_table_summary(listed, listed->base + 0x7fffffff)->kind, CTX_CFI_NONE);
	assert_int_equal(ctx_cfi_table_summary(listed, listed->base + UINT64_C(0x100000000))->kind,
			 CTX_CFI_NONE);
	ctx_cfi_table_close(listed);
	ctx_cfi_table_close(described);
	ctx_elf_close(&own.file);
}

/* Each row has its successor, that of the next part included: what an address behind a call is judged by. */
static void test_cfi_table__a_part_goes_on_with_the_function_behind_it(void **state)
{
	static const uint8_t frame[] = {0x44, 0x0e, 16};
	struct assembly assembly = {0};
	struct ctx_cfi_table *table = NULL;

	(void)state;
	put_cie(&assembly, false);
	for (unsigned i = 0; i < 3 * CTX_CFI_PART; i++)
		put_fde(&assembly, 0x1000 + 0x10 * (uint64_t)i, 0x10, frame, sizeof(frame));
	assert_int_equal(build_raw(assembly.buf.bytes, assembly.buf.n, true, &table), CTX_OK);
	ctx_buf_deinit(&assembly.buf);
	for (unsigned i = 0; i + 1 < 3 * CTX_CFI_PART; i++) {
		uint64_t next = 0x1000 + 0x10 * (uint64_t)(i + 1);
		const struct ctx_cfi_part *part = ctx_cfi_table_part(table, next - 1);
		uint32_t row = ctx_cfi_part_row(part, next - 1);

		assert_true(row + 1 < part->rows.n);
		assert_int_equal(part->rows.items[row + 1].pc, next - table->base);
		assert_int_equal(part->rules.summaries[part->rows.items[row + 1].rule].cfa_offset, 8);
	}
	assert_int_equal(ctx_cfi_table_stats(table).functions, 3 * CTX_CFI_PART);
	ctx_cfi_table_close(table);
}

enum { VERSION, ENCODING, PLACE, COUNT, ORDER, TWICE, OUTSIDE, SHORT, DEFECTS };

static void damage(uint8_t *bytes, size_t *n, unsigned defect)
{
	uint32_t word;

	switch (defect) {
	case VERSION:
		bytes[0] = 2;
		break;
	case ENCODING:
		bytes[3] = 0x1b;
		break;
	case PLACE:
		bytes[4] ^= 8;
		break;
	case COUNT:
		memset(bytes + 8, 0xff, 4);
		break;
	case ORDER:
		memcpy(&word, bytes + 12, 4);
		memcpy(bytes + 12, bytes + 20, 4);
		memcpy(bytes + 20, &word, 4);
		break;
	case TWICE:
		memcpy(bytes + 20, bytes + 12, 4);
		break;
	case OUTSIDE:
		memset(bytes + 16, 0x7f, 4);
		break;
	default:
		*n = 16;
	}
}

static void test_cfi_table__a_list_that_is_not_sound_is_not_used(void **state)
{
	struct own own = open_own();
	struct ctx_cfi_section sound = own.source.header;
	uint8_t *bytes = malloc(sound.n);
	struct ctx_cfi_table *table = build(&own.source);
	size_t all = table->n_listed;
	uint32_t few = 3;

	(void)state;
	assert_non_null(bytes);
	ctx_cfi_table_close(table);
	/* A sound one is used: here it lists three. */
	memcpy(bytes, sound.bytes, sound.n);
	memcpy(bytes + 8, &few, sizeof(few));
	own.source.header.bytes = bytes;
	table = build(&own.source);
	assert_int_equal(table->n_listed, few);
	ctx_cfi_table_close(table);
	for (unsigned defect = 0; defect < DEFECTS; defect++) {
		memcpy(bytes, sound.bytes, sound.n);
		own.source.header.n = sound.n;
		damage(bytes, &own.source.header.n, defect);
		table = build(&own.source);
		assert_int_equal(table->n_listed, all);
		check_all(&own.source, table);
		ctx_cfi_table_close(table);
	}
	/* An entry at the wrong description costs that function. */
	memcpy(bytes, sound.bytes, sound.n);
	memcpy(bytes + 16, bytes + 24, 4);
	own.source.header.n = sound.n;
	table = build(&own.source);
	assert_int_equal(ctx_cfi_table_stats(table).damaged, 1);
	assert_int_equal(ctx_cfi_table_stats(table).functions, all - 1);
	ctx_cfi_table_close(table);
	free(bytes);
	ctx_elf_close(&own.file);
}

#define OVERLAPPING 200u
#define OVERLAPPING_BYTES 27u

/*
 * Descriptions of functions that lie in each other: each goes to the section's end, and its program passes over the
 * headers of the others. `header` lists them.
 */
static void put_overlapping(struct ctx_buf *section, uint64_t at, struct ctx_buf *header, uint64_t header_at)
{
	static const uint8_t cie[] = {12, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1};
	size_t end = sizeof(cie) + 1 + OVERLAPPING * OVERLAPPING_BYTES;

	ctx_buf_put_u8(section, sizeof(cie) + 1 - 4);
	ctx_buf_put(section, cie + 1, sizeof(cie) - 1);
	ctx_buf_put_u8(section, 0); /* addresses as they are */
	ctx_buf_put(header, (const uint8_t[]){1, 0x1b, 3, 0x3b}, 4);
	ctx_buf_put_u32(header, (uint32_t)(at - header_at - 4));
	ctx_buf_put_u32(header, OVERLAPPING);
	for (uint32_t i = 0; i < OVERLAPPING; i++) {
		uint64_t begin = header_at + 0x10000 + i * 16;

		ctx_buf_put_u32(header, (uint32_t)(begin - header_at));
		ctx_buf_put_u32(header, (uint32_t)(at + section->n - header_at));
		ctx_buf_put_u32(section, (uint32_t)(end - section->n - 4));
		ctx_buf_put_u32(section, (uint32_t)section->n);
		ctx_buf_put_u64(section, begin);
		ctx_buf_put_u64(section, 16);
		ctx_buf_put_u8(section, 0);
		/* An expression of the next one's header; at the end nothing. */
		ctx_buf_put_u8(section, i + 1 < OVERLAPPING ? 0x0f : 0);
		ctx_buf_put_u8(section, i + 1 < OVERLAPPING ? OVERLAPPING_BYTES - 2 : 0);
	}
	assert_int_equal(section->n, end);
}

static void test_cfi_table__descriptions_that_overlap_cost_no_more_than_their_section(void **state)
{
	struct ctx_buf section = {0}, header = {0};
	struct ctx_cfi_source source = {.machine = CTX_MACHINE_X86_64, .sections.n = 1};
	struct ctx_cfi_table *table;
	struct ctx_cfi_stats stats;

	(void)state;
	put_overlapping(&section, 0x10000, &header, 0x20000);
	source.sections.items[0] = (struct ctx_cfi_section){
		.bytes = section.bytes, .n = section.n, .address = 0x10000, .is_eh = true};
	source.header = (struct ctx_cfi_section){.bytes = header.bytes, .n = header.n, .address = 0x20000};
	table = build(&source);
	assert_int_equal(table->n_listed, OVERLAPPING);
	stats = ctx_cfi_table_stats(table);
	assert_true(stats.functions > 0 && stats.functions < OVERLAPPING / 2);
	assert_true(stats.damaged >= OVERLAPPING - stats.functions);
	ctx_cfi_table_close(table);
	ctx_buf_deinit(&section);
	ctx_buf_deinit(&header);
}

static void test_cfi_table__a_part_for_which_memory_runs_out_is_read_later(void **state)
{
	struct own own = open_own();
	struct ctx_cfi_table *table = build(&own.source);
	uint64_t address = table->base + table->listed[0].begin, begin, end;
	bool is_known = false;

	(void)state;
	for (long i = 0; !is_known; i++) {
		fail_after = i;
		is_known = ctx_cfi_table_function(table, address, &begin, &end);
		fail_after = -1;
		assert_true(is_known || table->parts[0] == NULL);
	}
	assert_int_equal(begin, address);
	ctx_cfi_table_close(table);
	ctx_elf_close(&own.file);
}

static void *look_at_all(void *context)
{
	const struct ctx_cfi_table *table = context;
	size_t found = 0;
	uint64_t begin, end;

	for (size_t i = 0; i < table->n_listed; i++)
		found += ctx_cfi_table_function(table, table->base + table->listed[i].begin, &begin, &end);
	return (void *)(uintptr_t)found;
}

static void test_cfi_table__any_number_of_threads_may_use_it(void **state)
{
	struct ctx_cfi_table *table;
	pthread_t threads[THREADS];
	void *found;

	(void)state;
	assert_int_equal(ctx_cfi_table_open("/proc/self/exe", &table, NULL), CTX_OK);
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, look_at_all, table), 0);
	for (unsigned i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], &found), 0);
		assert_int_equal((uintptr_t)found, table->n_listed);
	}
	ctx_cfi_table_close(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cfi_table__says_what_each_description_says),
		cmocka_unit_test(test_cfi_table__a_part_goes_on_with_the_function_behind_it),
		cmocka_unit_test(test_cfi_table__a_list_that_is_not_sound_is_not_used),
		cmocka_unit_test(test_cfi_table__descriptions_that_overlap_cost_no_more_than_their_section),
		cmocka_unit_test(test_cfi_table__a_part_for_which_memory_runs_out_is_read_later),
		cmocka_unit_test(test_cfi_table__any_number_of_threads_may_use_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
