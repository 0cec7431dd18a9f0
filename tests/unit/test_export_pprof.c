/*
 * pprof with addresses: raw stacks, sites, mappings and an ELF file made up here go in; the file is read again by the
 * code generated from profile.proto.
 */
#include "base/mem.h"
#include "tests/unit/export_world.h"
#include "tests/unit/failing_malloc.h"

#include <elf.h>
#include <profile.pb-c.h>
#include <zlib.h>

enum {
	MAIN = 0,
	LIBC_MAIN = 1,
	CALLEE = 8,
	INLINED = 24
}; /* functions; LIBC_MAIN is of object 1, others of 0 */
enum { AT_MAIN, AT_INLINED, AT_LIBC, AT_JOIN, AT_OTHER, LOCATIONS };
enum { PAGE = 4096, CODE = 0x1000 };

static const uint64_t bias_libc = 0x7f0000000000;
static const struct ctx_source_file files[] = {{"/src/main.c", ""}, {"/src/inline.h", ""}};
static const struct ctx_site sites[] = {
	{MAIN, 0, 10, CTX_NONE}, {CALLEE, 0, 20, CTX_NONE}, {INLINED, 1, 5, 1}, {CALLEE, 1, 7, CTX_NONE}};
static const struct ctx_location locations[LOCATIONS] = {
	[AT_MAIN] = {.object = 0, .function = MAIN, .address = 0x1010, .site = 0},
	[AT_INLINED] = {.object = 0, .function = INLINED, .address = 0x1123, .site = 2},
	[AT_LIBC] = {.object = 1, .function = LIBC_MAIN, .address = 0x2345, .site = CTX_NONE},
	[AT_JOIN] = {.object = CTX_NONE, .function = CTX_NONE, .site = CTX_NONE, .joins = true},
	[AT_OTHER] = {.object = 0, .function = CALLEE, .address = 0x1777, .site = 3},
};

/* What one test changes. */
struct scene {
	struct world *world;
	struct ctx_trie raw;
	struct ctx_code code;
	struct ctx_sample samples[16];
	size_t n;
	struct ctx_mapping_info mappings[3];
	bool has_file;
	uint64_t file_offset; /* of the only segment, which is at address CODE */
};

static enum ctx_status each_sample(void *context, const struct ctx_samples_query *query,
				   ctx_report_sample_fn each, void *each_context, struct ctx_err *err)
{
	const struct scene *scene = context;
	enum ctx_status status = CTX_OK;

	assert_int_equal(query->thread, CTX_NONE);
	for (size_t i = 0; i < scene->n && status == CTX_OK; i++)
		status = each(each_context, &scene->samples[i], err);
	return status;
}

static enum ctx_status object_file(void *context, uint32_t object, struct ctx_buf *out, struct ctx_err *err)
{
	const struct scene *scene = context;
	Elf64_Ehdr head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			   .e_type = ET_DYN,
			   .e_machine = EM_X86_64,
			   .e_version = EV_CURRENT,
			   .e_phoff = sizeof(head),
			   .e_ehsize = sizeof(head),
			   .e_phentsize = sizeof(Elf64_Phdr),
			   .e_phnum = 1};
	const Elf64_Phdr segment = {.p_type = PT_LOAD,
				    .p_flags = PF_R | PF_X,
				    .p_offset = scene->file_offset + 0x10,
				    .p_vaddr = CODE + 0x10,
				    .p_filesz = 0x800,
				    .p_memsz = 0x800,
				    .p_align = PAGE};

	if (object != 0 || !scene->has_file)
		return ctx_err_set(err, CTX_E_NOTFOUND, "no file");
	ctx_buf_put(out, &head, sizeof(head));
	ctx_buf_put(out, &segment, sizeof(segment));
	while (!out->failed && out->n < (size_t)4 * PAGE)
		ctx_buf_put_u8(out, 0);
	return ctx_buf_check(out, err);
}

static uint32_t node_of(struct ctx_trie *trie, const uint32_t *keys, uint32_t n)
{
	uint32_t nodes[DEPTH + 1] = {CTX_TRIE_ROOT};

	assert_int_equal(ctx_trie_path(trie, CTX_TRIE_ROOT, (struct ctx_trie_keys){keys, n}, nodes + 1, NULL),
			 CTX_OK);
	return nodes[n];
}

struct ids {
	uint32_t n;
	const uint32_t *items;
};

#define LIST(...)                                                                                            \
	((struct ids){sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), (uint32_t[]){__VA_ARGS__}})
#define NOTHING ((struct ids){0})

/* A sample of a thread: locations root first, and the functions of the stack. */
static void add(struct scene *scene, uint32_t thread, struct ids at, struct ids functions)
{
	struct ctx_sample *sample = &scene->samples[scene->n];

	*sample = (struct ctx_sample){.thread = thread, .weight = UINT64_C(1) << scene->n};
	sample->raw_stack = node_of(&scene->raw, at.items, at.n);
	sample->stack = node_of(&scene->world->profile.cct, functions.items, functions.n);
	scene->n++;
}

static struct scene *make_scene(void)
{
	struct scene *scene = ctx_calloc(1, sizeof(*scene));

	assert_non_null(scene);
	scene->world = make_world(1, 0);
	assert_int_equal(ctx_trie_init(&scene->raw, NULL), CTX_OK);
	scene->has_file = true;
	scene->file_offset = CODE;
	scene->code = (struct ctx_code){.raw_stacks = &scene->raw,
					.locations = locations,
					.n_locations = LOCATIONS,
					.sites = sites,
					.n_sites = CTX_COUNT_OF(sites),
					.files = files,
					.n_files = CTX_COUNT_OF(files)};
	scene->mappings[0] = (struct ctx_mapping_info){
		.process = 0, .object = 0, .address = 0x550000001000, .size = PAGE, .file_offset = CODE};
	scene->mappings[1] = (struct ctx_mapping_info){.process = 0,
						       .object = 1,
						       .address = bias_libc + 0x1000,
						       .size = 0x4000,
						       .file_offset = 0x1000};
	/* The same object in another process: elsewhere. */
	scene->mappings[2] = scene->mappings[1];
	scene->mappings[2].process = 1;
	scene->mappings[2].address += 0x10000;
	scene->world->input.code = &scene->code;
	scene->world->input.samples = each_sample;
	scene->world->input.samples_context = scene;
	scene->world->input.object_file = object_file;
	scene->world->input.object_context = scene;
	scene->world->input.mappings = scene->mappings;
	scene->world->input.n_mappings = CTX_COUNT_OF(scene->mappings);
	return scene;
}

static void free_scene(struct scene *scene)
{
	free_world(scene->world);
	ctx_trie_deinit(&scene->raw);
	free(scene);
}

static Pprof__Profile *write_and_read(struct scene *scene)
{
	static uint8_t plain[1 << 16];
	z_stream in = {0};
	Pprof__Profile *profile;

	assert_int_equal(write_file(scene->world, &ctx_export_pprof, NULL), CTX_OK);
	in = (z_stream){.next_in = (Bytef *)scene->world->text,
			.avail_in = (uInt)scene->world->size,
			.next_out = plain,
			.avail_out = sizeof(plain)};
	assert_int_equal(inflateInit2(&in, 15 + 16), Z_OK);
	assert_int_equal(inflate(&in, Z_FINISH), Z_STREAM_END);
	inflateEnd(&in);
	profile = pprof__profile__unpack(NULL, in.total_out, plain);
	assert_non_null(profile);
	return profile;
}

static const Pprof__Location *location_of(const Pprof__Profile *file, size_t sample, size_t frame)
{
	uint64_t id = file->sample[sample]->location_id[frame];

	assert_true(frame < file->sample[sample]->n_location_id);
	assert_true(id >= 1 && id <= file->n_location);
	assert_int_equal(file->location[id - 1]->id, id);
	return file->location[id - 1];
}

static void assert_line(const Pprof__Profile *file, const Pprof__Line *line, const char *name,
			const char *path, int64_t number)
{
	const Pprof__Function *function;

	assert_true(line->function_id >= 1 && line->function_id <= file->n_function);
	function = file->function[line->function_id - 1];
	assert_int_equal(function->id, line->function_id);
	assert_string_equal(file->string_table[function->name], name);
	assert_string_equal(file->string_table[function->filename], path);
	assert_int_equal(line->line, number);
}

static const Pprof__Mapping *mapping_of(const Pprof__Profile *file, const Pprof__Location *location)
{
	assert_true(location->mapping_id >= 1 && location->mapping_id <= file->n_mapping);
	assert_int_equal(file->mapping[location->mapping_id - 1]->id, location->mapping_id);
	return file->mapping[location->mapping_id - 1];
}

/* The place in the object's file that a reader computes. */
static uint64_t file_place(const Pprof__Profile *file, const Pprof__Location *location)
{
	const Pprof__Mapping *mapping = mapping_of(file, location);

	assert_in_range(location->address, mapping->memory_start, mapping->memory_limit - 1);
	return location->address - mapping->memory_start + mapping->file_offset;
}

static void test_export_pprof__a_location_has_its_address_and_lines_the_inlined_one_first(void **state)
{
	struct scene *scene = make_scene();
	const Pprof__Location *inlined, *main_at, *libc;
	Pprof__Profile *file;

	(void)state;
	add(scene, 0, LIST(AT_MAIN, AT_JOIN, AT_INLINED), LIST(MAIN, CALLEE, INLINED));
	add(scene, 1, LIST(AT_LIBC), LIST(LIBC_MAIN));
	file = write_and_read(scene);
	assert_null(strstr(scene->world->remarks, "no addresses"));
	assert_int_equal(file->n_sample, 2);
	assert_int_equal(file->sample[0]->n_location_id, 2); /* the mark of a joined stack is none */
	inlined = location_of(file, 0, 0);
	main_at = location_of(file, 0, 1);
	libc = location_of(file, 1, 0);
	assert_int_equal(inlined->n_line, 2);
	assert_line(file, inlined->line[0], "quote\"'s", "/src/inline.h", 5);
	assert_line(file, inlined->line[1], "cfn=(3) y", "/src/main.c", 20);
	assert_int_equal(main_at->n_line, 1);
	assert_line(file, main_at->line[0], "main [prog]", "/src/main.c", 10);
	assert_int_equal(libc->n_line, 1);
	assert_line(file, libc->line[0], "main [libc.so.6] +0x1000", "", 0);
	/* With its file an object stands at its own addresses, without where its first process had it. */
	assert_int_equal(inlined->address, 0x1123);
	assert_int_equal(file_place(file, inlined), 0x1123);
	assert_int_equal(libc->address, bias_libc + 0x2345);
	assert_int_equal(file_place(file, libc), 0x2345);
	assert_int_equal(inlined->mapping_id, 1); /* the program */
	assert_true(mapping_of(file, inlined)->has_filenames && mapping_of(file, inlined)->has_line_numbers &&
		    mapping_of(file, inlined)->has_inline_frames);
	assert_true(mapping_of(file, libc)->has_functions && !mapping_of(file, libc)->has_filenames);
	pprof__profile__free_unpacked(file, NULL);
	free_scene(scene);
}

static void test_export_pprof__the_file_place_follows_the_programs_segments(void **state)
{
	struct scene *scene = make_scene();
	Pprof__Profile *file;

	(void)state;
	scene->file_offset = 0x3000; /* addresses are two pages below their places in the file */
	add(scene, 0, LIST(AT_MAIN), LIST(MAIN));
	file = write_and_read(scene);
	assert_int_equal(location_of(file, 0, 0)->address, 0x1010);
	assert_int_equal(file_place(file, location_of(file, 0, 0)), 0x3010);
	pprof__profile__free_unpacked(file, NULL);
	free_scene(scene);
}

static void test_export_pprof__without_a_file_a_fixed_program_keeps_its_addresses(void **state)
{
	struct scene *scene = make_scene();
	Pprof__Profile *file;

	(void)state;
	scene->has_file = false;
	scene->mappings[0] = (struct ctx_mapping_info){
		.process = 0, .object = 0, .address = 0x1000, .size = PAGE, .file_offset = 0x3000};
	add(scene, 0, LIST(AT_MAIN), LIST(MAIN));
	file = write_and_read(scene);
	assert_int_equal(location_of(file, 0, 0)->address, 0x1010);
	assert_int_equal(file_place(file, location_of(file, 0, 0)), 0x3010);
	pprof__profile__free_unpacked(file, NULL);
	/* No mapping holds it: no address, but the line is known. */
	scene->mappings[0].address = 0x8000;
	file = write_and_read(scene);
	assert_int_equal(location_of(file, 0, 0)->address, 0);
	assert_int_equal(mapping_of(file, location_of(file, 0, 0))->memory_limit, 0);
	assert_line(file, location_of(file, 0, 0)->line[0], "main [prog]", "/src/main.c", 10);
	pprof__profile__free_unpacked(file, NULL);
	free_scene(scene);
}

static void test_export_pprof__objects_do_not_overlap(void **state)
{
	struct scene *scene = make_scene();
	const Pprof__Mapping *first, *second;
	Pprof__Profile *file;

	(void)state;
	/* Both were mapped at one address, one after the other. */
	scene->mappings[1].address = 0x1000;
	add(scene, 0, LIST(AT_MAIN), LIST(MAIN));
	add(scene, 1, LIST(AT_LIBC), LIST(LIBC_MAIN));
	file = write_and_read(scene);
	first = mapping_of(file, location_of(file, 0, 0));
	second = mapping_of(file, location_of(file, 1, 0));
	assert_true(first->memory_limit <= second->memory_start ||
		    second->memory_limit <= first->memory_start);
	assert_int_equal(file_place(file, location_of(file, 0, 0)), 0x1010);
	assert_int_equal(file_place(file, location_of(file, 1, 0)), 0x2345);
	pprof__profile__free_unpacked(file, NULL);
	free_scene(scene);
}

static void test_export_pprof__lines_of_another_file_are_a_function_of_the_same_name(void **state)
{
	struct scene *scene = make_scene();
	Pprof__Profile *file;

	(void)state;
	add(scene, 0, LIST(AT_INLINED), LIST(CALLEE, INLINED));
	add(scene, 0, LIST(AT_OTHER), LIST(CALLEE));
	file = write_and_read(scene);
	assert_line(file, location_of(file, 0, 0)->line[1], "cfn=(3) y", "/src/main.c", 20);
	assert_line(file, location_of(file, 1, 0)->line[0], "cfn=(3) y", "/src/inline.h", 7);
	pprof__profile__free_unpacked(file, NULL);
	free_scene(scene);
}

static void test_export_pprof__a_stack_that_is_not_its_addresses_has_functions(void **state)
{
	struct scene *scene = make_scene();
	Pprof__Profile *file;
	uint64_t total = 0;

	(void)state;
	add(scene, 0, LIST(AT_MAIN, AT_INLINED), LIST(MAIN, INLINED)); /* a frame is hidden */
	add(scene, 0, LIST(AT_MAIN, AT_OTHER), LIST(MAIN, INLINED)); /* another raw stack: the same sample */
	add(scene, 0, NOTHING, LIST(MAIN, INLINED));		     /* no addresses */
	add(scene, 0, LIST(AT_MAIN, AT_INLINED),
	    LIST(MAIN, CALLEE, INLINED)); /* it was another stack before */
	add(scene, 2, NOTHING, NOTHING);
	file = write_and_read(scene);
	assert_int_equal(file->n_sample, 3);
	assert_int_equal(file->sample[0]->n_location_id, 2);
	assert_int_equal(file->sample[0]->value[0], 3);
	assert_int_equal(file->sample[0]->value[1], 7);
	assert_int_equal(location_of(file, 0, 0)->address, 0);
	assert_line(file, location_of(file, 0, 0)->line[0], "quote\"'s", "", 0);
	assert_int_equal(file->sample[1]->n_location_id, 3);
	assert_line(file, location_of(file, 2, 0)->line[0], "<No stack>", "", 0);
	for (size_t i = 0; i < file->n_sample; i++)
		total += (uint64_t)file->sample[i]->value[1];
	assert_int_equal(total, 31);
	pprof__profile__free_unpacked(file, NULL);
	free_scene(scene);
}

static void test_export_pprof__unknown_ids_are_errors(void **state)
{
	struct scene *scene = make_scene();

	(void)state;
	add(scene, 0, LIST(AT_MAIN), LIST(MAIN));
	scene->samples[0].raw_stack = scene->raw.n;
	assert_int_equal(write_file(scene->world, &ctx_export_pprof, NULL), CTX_E_FORMAT);
	scene->samples[0].raw_stack = 0;
	scene->samples[0].thread = THREADS;
	assert_int_equal(write_file(scene->world, &ctx_export_pprof, NULL), CTX_E_FORMAT);
	free_scene(scene);
}

static void test_export_pprof__archived_runs_have_functions_alone(void **state)
{
	struct scene *scene = make_scene();

	(void)state;
	scene->world->profile.losses.sample_blocks = true;
	assert_int_equal(write_file(scene->world, &ctx_export_pprof, NULL), CTX_OK);
	assert_non_null(strstr(scene->world->remarks, "no addresses"));
	free_scene(scene);
}

static void test_export_pprof__memory_that_runs_out_is_an_error(void **state)
{
	struct scene *scene = make_scene();
	enum ctx_status status = CTX_E_NOMEM;
	long n = 0;

	(void)state;
	add(scene, 0, LIST(AT_MAIN, AT_JOIN, AT_INLINED), LIST(MAIN, CALLEE, INLINED));
	add(scene, 1, LIST(AT_LIBC), LIST(LIBC_MAIN));
	for (; status != CTX_OK && n < 2000; n++) {
		struct ctx_err err = {0};

		fail_after = n;
		status = write_file(scene->world, &ctx_export_pprof, &err);
		if (fail_after < 0 && status != CTX_OK)
			assert_int_equal(status, CTX_E_NOMEM);
		if (status == CTX_OK && fail_after < 0)
			fail_msg("allocation %ld failed, and nobody said so", n);
		fail_after = -1;
	}
	assert_int_equal(status, CTX_OK);
	assert_true(n > 20);
	free_scene(scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_export_pprof__a_location_has_its_address_and_lines_the_inlined_one_first),
		cmocka_unit_test(test_export_pprof__the_file_place_follows_the_programs_segments),
		cmocka_unit_test(test_export_pprof__without_a_file_a_fixed_program_keeps_its_addresses),
		cmocka_unit_test(test_export_pprof__objects_do_not_overlap),
		cmocka_unit_test(test_export_pprof__lines_of_another_file_are_a_function_of_the_same_name),
		cmocka_unit_test(test_export_pprof__a_stack_that_is_not_its_addresses_has_functions),
		cmocka_unit_test(test_export_pprof__unknown_ids_are_errors),
		cmocka_unit_test(test_export_pprof__archived_runs_have_functions_alone),
		cmocka_unit_test(test_export_pprof__memory_that_runs_out_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
