/* BPF programs of perf.data's header: functions, instructions, lines; damage; texts and types of BTF. */
#include "formats/perfdata/pd_bpf.h"
#include "formats/perfdata/pd_btf.h"
#include "formats/perfdata/pd_reader.h"
#include "pd_facts_fixture.h"

#include "base/mem.h"

#include <limits.h>

#define MAIN UINT64_C(0xffffffffc0001000)
#define SUB UINT64_C(0xffffffffc0001100)
#define ARRAYS (1u << 0 | 1u << 3 | 1u << 4 | 1u << 5 | 1u << 6 | 1u << 7 | 1u << 8)

static const char texts[] = "\0busy\0mixed\0/src/busy.c\0/src/other.h";
enum { BUSY = 1, MIXED = 6, FILE_BUSY = 12, FILE_OTHER = 24 };

/* Types: 1 an integer, 2 a prototype of two parameters, 3 and 4 functions, 5 a structure of one member. */
static void make_btf(struct maker *maker, const char *strings, size_t n)
{
	struct maker types = {.swap = maker->swap};

	put32(&types, 0), put32(&types, 1u << 24), put32(&types, 4), put32(&types, 32);
	put32(&types, 0), put32(&types, 13u << 24 | 2), put32(&types, 1), put_zeros(&types, 16);
	put32(&types, BUSY), put32(&types, 12u << 24 | 1), put32(&types, 2);
	put32(&types, MIXED), put32(&types, 12u << 24), put32(&types, 2);
	put32(&types, BUSY), put32(&types, 4u << 24 | 1), put32(&types, 4), put_zeros(&types, 12);
	put16(maker, 0xeb9f), ctx_buf_put_u8(&maker->buf, 1), ctx_buf_put_u8(&maker->buf, 0);
	put32(maker, 24), put32(maker, 0), put32(maker, (uint32_t)types.buf.n);
	put32(maker, (uint32_t)types.buf.n), put32(maker, (uint32_t)n);
	ctx_buf_put(&maker->buf, types.buf.bytes, types.buf.n);
	ctx_buf_put(&maker->buf, strings, n);
	ctx_buf_deinit(&types.buf);
}

static void make_btfs(struct maker *maker, const char *strings, size_t n)
{
	struct maker btf = {.swap = maker->swap};

	make_btf(&btf, strings, n);
	put32(maker, 1);
	put32(maker, 7);
	put32(maker, (uint32_t)btf.buf.n);
	ctx_buf_put(&maker->buf, btf.buf.bytes, btf.buf.n);
	ctx_buf_deinit(&btf.buf);
}

/* What a test changes of a program. */
struct change {
	uint64_t arrays, lines_at;
	uint32_t n_addresses, btf, line_bytes;
};
static const struct change none = {ARRAYS, 96, 5, 7, 16};

/*
 * Two functions of 32 and 16 bytes. Lines: three places of the first, two of which are one line, one of the second, and
 * one that is nowhere.
 */
static void make_program(struct maker *maker, uint32_t id, const struct change *change)
{
	static const struct {
		uint64_t address;
		uint32_t file, line;
	} lines[] = {{MAIN, FILE_BUSY, 10},
		     {SUB, FILE_OTHER, 3},
		     {MAIN + 8, FILE_BUSY, 11},
		     {MAIN + 12, FILE_BUSY, 11},
		     {0x1000, FILE_BUSY, 12}};
	size_t at = maker->buf.n;

	put32(maker, 192), put32(maker, 256), put64(maker, change->arrays);
	at = maker->buf.n;
	put32(maker, 1), put32(maker, id), put_zeros(maker, 8), put32(maker, 48), put32(maker, 0);
	put64(maker, 0), put_zeros(maker, 32); /* instructions */
	ctx_buf_put(&maker->buf, "busy\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	put_zeros(maker, 24);
	put32(maker, 2), put32(maker, 2), put64(maker, 48), put64(maker, 64); /* addresses, lengths */
	put32(maker, change->btf), put32(maker, 8), put64(maker, 72), put32(maker, 2);
	put32(maker, 5), put64(maker, change->lines_at), put64(maker, 176), put32(maker, change->n_addresses);
	put32(maker, change->line_bytes), put32(maker, 8), put32(maker, 1), put64(maker, 88);
	assert_int_equal(maker->buf.n - at, 192);
	for (uint8_t i = 0; i < 48; i++)
		ctx_buf_put_u8(&maker->buf, i);
	put64(maker, MAIN), put64(maker, SUB), put32(maker, 32), put32(maker, 16);
	put32(maker, 0), put32(maker, 3), put32(maker, 4), put32(maker, 4);
	ctx_buf_put(&maker->buf, "\x01\x23\x45\x67\x89\xab\xcd\xef", 8);
	for (size_t i = 0; i < CTX_COUNT_OF(lines); i++)
		put32(maker, 0), put32(maker, lines[i].file), put32(maker, 0),
			put32(maker, lines[i].line << 10 | 5);
	for (size_t i = 0; i < CTX_COUNT_OF(lines); i++)
		put64(maker, lines[i].address);
	put_zeros(maker, 40);
	assert_int_equal(maker->buf.n - at, 192 + 256);
}

/* A program, with its BTF in another feature. */
static void read_program_with(struct ctx_pd_facts *facts, bool swap, const struct change *change,
			      const char *strings, size_t n)
{
	struct maker maker = {.swap = swap}, btf = {.swap = swap};

	*facts = (struct ctx_pd_facts){0};
	put32(&maker, 1);
	make_program(&maker, 21, change);
	add(facts, CTX_PD_FEATURE_BPF_PROG_INFO, &maker);
	make_btfs(&btf, strings, n);
	add(facts, CTX_PD_FEATURE_BPF_BTF, &btf);
	assert_int_equal(facts->damage.n, 0);
	assert_int_equal(ctx_pd_bpf_settle(&facts->bpf, &facts->arena, NULL), CTX_OK);
	ctx_buf_deinit(&maker.buf);
	ctx_buf_deinit(&btf.buf);
}

static void read_program(struct ctx_pd_facts *facts, bool swap, const struct change *change)
{
	read_program_with(facts, swap, change, texts, sizeof(texts));
}

static void test_perfdata_bpf__functions_have_names_instructions_and_lines(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		struct ctx_pd_facts facts;
		const struct ctx_pd_bpf_function *functions;
		const struct ctx_jit_places *places;
		size_t n;

		read_program(&facts, swap != 0, &none);
		functions = ctx_pd_bpf_of(&facts.bpf, 21, &n);
		assert_int_equal(n, 2);
		assert_int_equal(functions[0].address, MAIN);
		assert_int_equal(functions[1].address, SUB);
		assert_int_equal(functions[1].size, 16);
		assert_string_equal(functions[0].name, "bpf_prog_0123456789abcdef_busy");
		assert_string_equal(functions[1].name, "bpf_prog__mixed"); /* there is one tag */
		assert_int_equal(functions[1].code[0], 32);
		places = &functions[0].places;
		assert_int_equal(places->n_rows, 3);
		assert_int_equal(places->n_sites, 2);
		assert_int_equal(places->rows[1].begin, 8);
		assert_int_equal(places->rows[1].site, 1);
		assert_int_equal(places->rows[2].begin, 12);
		assert_int_equal(places->rows[2].site, 1);
		assert_int_equal(places->sites[0].line, 10);
		assert_int_equal(places->sites[1].line, 11);
		assert_string_equal(places->sites[1].file, "/src/busy.c");
		assert_string_equal(places->sites[1].function, functions[0].name);
		assert_int_equal(functions[1].places.n_rows, 1);
		assert_int_equal(functions[1].places.sites[0].line, 3);
		assert_string_equal(functions[1].places.sites[0].file, "/src/other.h");
		assert_null(ctx_pd_bpf_of(&facts.bpf, 20, &n));
		assert_null(ctx_pd_bpf_of(&facts.bpf, 22, &n));
		ctx_pd_facts_deinit(&facts);
	}
}

/* One text without an end: the second function's name, the file of the first, and a shorter one of the second. */
static void test_perfdata_bpf__long_names_are_cut_and_long_files_are_not_known(void **state)
{
	char strings[FILE_BUSY + PATH_MAX + 1] = "\0busy";
	struct ctx_pd_facts facts;
	const struct ctx_pd_bpf_function *functions;
	size_t n;

	(void)state;
	memset(&strings[MIXED], 'x', sizeof(strings) - 1 - MIXED);
	read_program_with(&facts, false, &none, strings, sizeof(strings));
	functions = ctx_pd_bpf_of(&facts.bpf, 21, &n);
	assert_int_equal(n, 2);
	assert_string_equal(functions[0].name, "bpf_prog_0123456789abcdef_busy");
	assert_int_equal(strlen(functions[1].name), 511);
	assert_memory_equal(functions[1].name, "bpf_prog__xx", 12);
	assert_int_equal(functions[0].places.n_rows, 3);
	assert_int_equal(functions[0].places.n_sites, 0);
	assert_int_equal(functions[0].places.rows[0].site, CTX_NONE);
	assert_int_equal(functions[1].places.n_sites, 1);
	assert_int_equal(strlen(functions[1].places.sites[0].file), PATH_MAX - (FILE_OTHER - FILE_BUSY));
	ctx_pd_facts_deinit(&facts);
}

static void test_perfdata_bpf__what_is_malformed_is_left_out(void **state)
{
	static const struct {
		struct change change;
		bool has_code, has_lines;
		size_t n;
	} cases[] = {
		{{ARRAYS & ~1u, 96, 5, 7, 16}, false, true, 2},	 /* no instructions */
		{{ARRAYS & ~8u, 96, 5, 7, 16}, false, false, 0}, /* no addresses */
		{{ARRAYS & ~16u, 96, 5, 7, 16}, false, false, 0},
		{{ARRAYS & ~64u, 96, 5, 7, 16}, true, false, 2}, /* no lines */
		{{ARRAYS & ~128u, 96, 5, 7, 16}, true, false, 2},
		{{ARRAYS, 177, 5, 7, 16}, true, false, 2}, /* outside the data */
		{{ARRAYS, UINT64_MAX, 5, 7, 16}, true, false, 2},
		{{ARRAYS, 96, 4, 7, 16}, true, false, 2}, /* fewer addresses than lines */
		{{ARRAYS, 96, 5, 8, 16}, true, false, 2}, /* no such BTF */
		{{ARRAYS, 96, 5, 7, 8}, true, false, 2},  /* rows that are too short */
		{{ARRAYS, 96, 5, 7, UINT32_MAX}, true, false, 2},
	};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(cases); i++) {
		struct ctx_pd_facts facts;
		const struct ctx_pd_bpf_function *functions;
		size_t n;

		read_program(&facts, false, &cases[i].change);
		functions = ctx_pd_bpf_of(&facts.bpf, 21, &n);
		assert_int_equal(n, cases[i].n);
		for (size_t k = 0; k < n; k++) {
			assert_int_equal(functions[k].code != NULL, cases[i].has_code);
			assert_int_equal(functions[k].places.n_rows != 0, cases[i].has_lines);
		}
		ctx_pd_facts_deinit(&facts);
	}
}

static void test_perfdata_bpf__a_feature_that_is_cut_off_keeps_what_is_whole(void **state)
{
	struct maker programs = {0}, btfs = {0};
	size_t whole;

	(void)state;
	put32(&programs, 2);
	make_program(&programs, 20, &none);
	whole = programs.buf.n;
	make_program(&programs, 21, &none);
	make_btfs(&btfs, texts, sizeof(texts));
	for (size_t n = 0; n < programs.buf.n + btfs.buf.n; n++) {
		struct ctx_pd_facts facts = {0};
		bool is_programs = n < programs.buf.n;
		const struct maker *maker = is_programs ? &programs : &btfs;
		size_t length = is_programs ? n : n - programs.buf.n, found;
		/* Exactly as long, for the sanitizer. */
		uint8_t *bytes = malloc(length + 1);

		assert_non_null(bytes);
		memcpy(bytes + 1, maker->buf.bytes, length);
		assert_int_equal(
			ctx_pd_facts_add(&facts,
					 is_programs ? CTX_PD_FEATURE_BPF_PROG_INFO : CTX_PD_FEATURE_BPF_BTF,
					 ctx_pe_wire_make(bytes + 1, length, false), NULL),
			CTX_OK);
		free(bytes);
		assert_int_equal(facts.damage.n, 1);
		assert_string_equal(facts.damage.lines[0], "header: BPF programs: cut short");
		assert_int_equal(ctx_pd_bpf_settle(&facts.bpf, &facts.arena, NULL), CTX_OK);
		ctx_pd_bpf_of(&facts.bpf, 20, &found);
		assert_int_equal(found, is_programs && n >= whole ? 2 : 0);
		ctx_pd_facts_deinit(&facts);
	}
	ctx_buf_deinit(&programs.buf);
	ctx_buf_deinit(&btfs.buf);
}

static void test_perfdata_btf__texts_and_names_of_functions_are_read_in_either_byte_order(void **state)
{
	(void)state;
	for (int swap = 0; swap < 4; swap++) {
		struct maker maker = {.swap = swap % 2 != 0};
		struct ctx_pd_btf btf;

		make_btf(&maker, texts, sizeof(texts));
		/* Its own order counts, not that of the file around it. */
		assert_int_equal(
			ctx_pd_btf_open(ctx_pe_wire_make(maker.buf.bytes, maker.buf.n, swap / 2 != 0), &btf,
					NULL),
			CTX_OK);
		assert_string_equal(ctx_pd_btf_text(&btf, FILE_BUSY), "/src/busy.c");
		assert_string_equal(ctx_pd_btf_text(&btf, 0), "");
		assert_null(ctx_pd_btf_text(&btf, sizeof(texts)));
		assert_null(ctx_pd_btf_text(&btf, UINT32_MAX));
		assert_string_equal(ctx_pd_btf_function(&btf, 3), "busy");
		assert_string_equal(ctx_pd_btf_function(&btf, 4), "mixed");
		for (uint32_t i = 0; i < 8; i++) {
			if (i != 3 && i != 4)
				assert_null(ctx_pd_btf_function(&btf, i));
		}
		ctx_pd_btf_close(&btf);
		ctx_buf_deinit(&maker.buf);
	}
}

static void test_perfdata_btf__other_bytes_are_none(void **state)
{
	struct maker maker = {0};

	(void)state;
	make_btf(&maker, texts, sizeof(texts));
	for (size_t n = 0; n <= maker.buf.n; n++) {
		struct ctx_pd_btf btf;
		uint8_t *bytes = malloc(n + 1);

		assert_non_null(bytes);
		memcpy(bytes + 1, maker.buf.bytes, n);
		assert_int_equal(ctx_pd_btf_open(ctx_pe_wire_make(bytes + 1, n, false), &btf, NULL), CTX_OK);
		assert_int_equal(btf.n_strings, n == maker.buf.n ? sizeof(texts) : 0);
		ctx_pd_btf_close(&btf);
		if (n == maker.buf.n) {
			bytes[n] = 'x'; /* the last text without an end */
			assert_int_equal(ctx_pd_btf_open(ctx_pe_wire_make(bytes + 1, n, false), &btf, NULL),
					 CTX_OK);
			assert_int_equal(btf.n_strings, 0);
			ctx_pd_btf_close(&btf);
		}
		free(bytes);
	}
	ctx_buf_deinit(&maker.buf);
}

static void test_perfdata_bpf__short_memory_is_a_status(void **state)
{
	struct maker maker = {0}, btf = {0};
	enum ctx_status status = CTX_E_NOMEM;
	int failures = -1;

	(void)state;
	put32(&maker, 1);
	make_program(&maker, 21, &none);
	make_btfs(&btf, texts, sizeof(texts));
	for (long after = 0; status == CTX_E_NOMEM; after++, failures++) {
		struct ctx_pd_facts facts = {0};

		fail_after = after;
		status = ctx_pd_facts_add(&facts, CTX_PD_FEATURE_BPF_PROG_INFO,
					  ctx_pe_wire_make(maker.buf.bytes, maker.buf.n, false), NULL);
		if (status == CTX_OK)
			status = ctx_pd_facts_add(&facts, CTX_PD_FEATURE_BPF_BTF,
						  ctx_pe_wire_make(btf.buf.bytes, btf.buf.n, false), NULL);
		if (status == CTX_OK)
			status = ctx_pd_bpf_settle(&facts.bpf, &facts.arena, NULL);
		fail_after = -1;
		ctx_pd_facts_deinit(&facts);
	}
	assert_int_equal(status, CTX_OK);
	assert_true(failures > 8);
	ctx_buf_deinit(&maker.buf);
	ctx_buf_deinit(&btf.buf);
}

/* Records of a program: how many of each kind of event come of one. */
struct came {
	size_t maps, unmaps, damage;
};

static struct came take_event(struct ctx_pd_reader *reader, uint16_t type, uint32_t program)
{
	struct maker record = {0};
	struct ctx_pd_queued item = {0};
	struct came came = {0};

	put32(&record, PERF_RECORD_BPF_EVENT), put16(&record, 0), put16(&record, 24);
	put16(&record, type), put16(&record, 0), put32(&record, program), put64(&record, 0);
	item.record.bytes = record.buf.bytes;
	item.record.header.size = (uint16_t)record.buf.n;
	assert_int_equal(ctx_pd_maps_bpf(reader, &item, NULL), CTX_OK);
	for (; reader->out.at < reader->out.n; reader->out.at++) {
		const struct ctx_event *event = &reader->out.items[reader->out.at];

		came.maps += event->kind == CTX_EV_MAP;
		came.unmaps += event->kind == CTX_EV_UNMAP;
		came.damage += event->kind == CTX_EV_DAMAGE;
	}
	ctx_buf_deinit(&record.buf);
	return came;
}

static void check_event(struct ctx_pd_reader *reader, uint16_t type, uint32_t program, struct came wanted)
{
	struct came came = take_event(reader, type, program);

	assert_int_equal(came.maps, wanted.maps);
	assert_int_equal(came.unmaps, wanted.unmaps);
	assert_int_equal(came.damage, wanted.damage);
}

static void test_perfdata_bpf__a_program_is_mapped_once_while_it_is_loaded(void **state)
{
	static const struct came nothing = {0}, maps = {.maps = 2}, unmaps = {.unmaps = 2},
				 damage = {.damage = 1};
	const uint16_t load = PERF_BPF_EVENT_PROG_LOAD, unload = PERF_BPF_EVENT_PROG_UNLOAD;
	struct ctx_pd_queue queue = {.stream = {.name = "bpf.data"}};
	struct ctx_pd_reader *reader = calloc(1, sizeof(*reader));

	(void)state;
	assert_non_null(reader);
	reader->queues = &queue;
	read_program(&reader->file.facts, false, &none);
	check_event(reader, unload, 21, nothing);
	check_event(reader, load, 20, nothing);
	for (int i = 0; i < 4; i++) {
		check_event(reader, load, 21, maps);
		for (int k = 0; k < 3; k++)
			check_event(reader, load, 21, nothing);
		check_event(reader, unload, 21, unmaps);
		check_event(reader, unload, 21, nothing);
	}
	/* Records of one program do not multiply its functions. */
	check_event(reader, load, 21, damage);
	check_event(reader, unload, 21, nothing);
	check_event(reader, load, 21, damage);
	ctx_map64_deinit(&reader->bpf_loads);
	ctx_pd_tasks_deinit(&reader->tasks);
	ctx_pd_outbox_deinit(&reader->out);
	ctx_pd_facts_deinit(&reader->file.facts);
	free(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_perfdata_bpf__functions_have_names_instructions_and_lines),
		cmocka_unit_test(test_perfdata_bpf__long_names_are_cut_and_long_files_are_not_known),
		cmocka_unit_test(test_perfdata_bpf__what_is_malformed_is_left_out),
		cmocka_unit_test(test_perfdata_bpf__a_feature_that_is_cut_off_keeps_what_is_whole),
		cmocka_unit_test(
			test_perfdata_btf__texts_and_names_of_functions_are_read_in_either_byte_order),
		cmocka_unit_test(test_perfdata_btf__other_bytes_are_none),
		cmocka_unit_test(test_perfdata_bpf__short_memory_is_a_status),
		cmocka_unit_test(test_perfdata_bpf__a_program_is_mapped_once_while_it_is_loaded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
