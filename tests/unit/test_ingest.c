/*
 * Ingest, against a source made of arrays: what went in is known, so what comes out of the database
 * is too.
 */
#include "base/fileio.h"
#include "base/mem.h"
#include "ingest/addrspace.h"
#include "ingest/ingest.h"
#include "ingest/resolver.h"
#include "ingest/stack_paths.h"
#include "store/store.h"
#include "tests/unit/failing_malloc.h"
#include "tests/unit/list_source.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define PAGES 400

/* Against an array with one object for each page: the obvious slow address space. */
static void test_ingest__an_address_space_agrees_with_an_array_of_pages(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 200; seed++) {
		int64_t page[PAGES]; /* object * PAGES + page in the file; -1: nothing */
		struct ctx_addrspace space = {0};

		srand(seed);
		for (int i = 0; i < PAGES; i++)
			page[i] = -1;
		for (int step = 0; step < 60; step++) {
			uint64_t begin = (uint64_t)(rand() % PAGES), end = (uint64_t)(rand() % (PAGES + 1));
			uint64_t offset = (uint64_t)(rand() % 50);
			struct ctx_mapped map = {
				.begin = begin, .end = end, .file_offset = offset, .object = (uint32_t)step};

			if (rand() % 4 == 0)
				assert_int_equal(ctx_addrspace_unmap(&space, begin, end, NULL), CTX_OK);
			else
				assert_int_equal(ctx_addrspace_map(&space, &map, NULL), CTX_OK);
		}
		/* The same steps again, slowly. */
		srand(seed);
		for (int step = 0; step < 60; step++) {
			uint64_t begin = (uint64_t)(rand() % PAGES), end = (uint64_t)(rand() % (PAGES + 1));
			int64_t offset = rand() % 50;
			int unmap = rand() % 4 == 0;

			for (uint64_t i = begin; i < end; i++)
				page[i] = unmap ? -1 : (int64_t)step * 10000 + offset + (int64_t)(i - begin);
		}
		for (uint64_t i = 0; i < PAGES; i++) {
			struct ctx_mapped map;

			if (page[i] < 0) {
				assert_false(ctx_addrspace_find(&space, i, &map));
				continue;
			}
			assert_true(ctx_addrspace_find(&space, i, &map));
			assert_in_range(i, map.begin, map.end - 1);
			assert_int_equal((int64_t)map.object * 10000 +
						 (int64_t)(map.file_offset + i - map.begin),
					 page[i]);
			for (uint64_t at = map.begin; at < map.end; at++)
				assert_int_equal(page[at] - page[i], (int64_t)at - (int64_t)i);
		}
		ctx_addrspace_deinit(&space);
	}
}

static int64_t answer_of(struct ctx_addrspace *space, uint64_t address)
{
	struct ctx_mapped map;

	if (!ctx_addrspace_find(space, address, &map))
		return -1;
	return (int64_t)map.object * 10000 + (int64_t)(map.file_offset + address - map.begin);
}

/* Results cached while the generation is unchanged are never wrong; and a map at an unused address
 * invalidates nothing. */
static void test_ingest__an_answer_holds_as_long_as_its_generation(void **state)
{
	unsigned kept = 0, quiet = 0;

	(void)state;
	for (unsigned seed = 1; seed <= 200; seed++) {
		struct ctx_addrspace space = {0};
		int64_t answers[PAGES];
		bool asked[PAGES] = {false};

		srand(seed);
		for (uint32_t step = 0; step < 60; step++) {
			uint64_t begin = (uint64_t)(rand() % PAGES), size = (uint64_t)(rand() % 40);
			uint32_t generation = space.generation;
			struct ctx_mapped map = {.begin = begin, .end = begin + size, .object = step};

			if (rand() % 4 == 0)
				assert_int_equal(ctx_addrspace_unmap(&space, begin, begin + size, NULL),
						 CTX_OK);
			else
				assert_int_equal(ctx_addrspace_map(&space, &map, NULL), CTX_OK);
			if (space.generation != generation)
				memset(asked, 0, sizeof(asked));
			else
				quiet++;
			for (uint64_t i = 0; i < PAGES; i++) {
				if (!asked[i])
					continue;
				assert_int_equal(answer_of(&space, i), answers[i]);
				kept++;
			}
			for (int i = 0; i < 3; i++) {
				uint64_t address = (uint64_t)(rand() % PAGES);

				answers[address] = answer_of(&space, address);
				asked[address] = true;
			}
		}
		ctx_addrspace_deinit(&space);
	}
	assert_true(kept > 1000 && quiet > 200);
}

static char program[4096]; /* this file */
static char directory[] = "/tmp/ctx-ingest-XXXXXX";

/* The database of the list's events. */
static struct ctx_store *store_of_list(struct list_source *list)
{
	struct ctx_ingest_options options = {
		.tree = ctx_timetree_default_params(), .debug_root = "", .symfs = "", .fingerprint = "f"};
	struct ctx_err err = {0};
	char *path CTX_AUTO_FREE = ctx_path_join(directory, "test.db");
	struct ctx_store *store = NULL;

	assert_non_null(path);
	if (ctx_ingest(&list->source, path, &options, NULL, &err) != CTX_OK)
		fail_msg("%s", err.msg);
	if (ctx_store_open(path, &store, &err) != CTX_OK)
		fail_msg("%s", err.msg);
	return store;
}

/* Of a run of 100 ns. */
static struct ctx_store *store_of(struct ctx_event *events, size_t n)
{
	struct list_source list;

	list_open(&list, events, n, 100);
	return store_of_list(&list);
}

/* All samples; they are few enough to be in one leaf. */
static const struct ctx_sample *samples_of(struct ctx_store *store, size_t *ret_n)
{
	const struct ctx_sample *samples;

	assert_int_equal(
		ctx_store_get_leaf(store,
				   (struct ctx_store_node){ctx_store_find_tree(store, CTX_NONE, 0)->id, 0},
				   &samples, ret_n, NULL),
		CTX_OK);
	return samples;
}

static const char *object_of_leaf(const struct ctx_profile *profile, uint32_t stack)
{
	uint32_t object = profile->functions[profile->cct.key[stack]].object;

	return object != CTX_NONE ? profile->objects[object].path : "";
}

/* E14: one address, three meanings. */
static void test_ingest__an_address_is_resolved_in_the_current_mapping(void **state)
{
	static const uint32_t parents[] = {0, 1};
	static const uint64_t addresses[] = {0x1000, 0x2010};
	struct ctx_event events[] = {
		process_start(0, 0, 100),
		thread_start(0, 0, 0, 100),
		stacks_event(1, 2, parents, addresses),
		sample_event(5, 0, 0, 2),
		map_event(10, 0x2000, 0x1000, "/lib/first.so"),
		sample_event(20, 0, 0, 2),
		map_event(30, 0x2000, 0x1000, "/lib/second.so"),
		sample_event(40, 0, 0, 2),
	};
	static const char *const expected[] = {"", "/lib/first.so", "/lib/second.so"};
	const struct ctx_sample *samples;
	struct ctx_store *store;
	size_t n;

	(void)state;
	store = store_of(events, CTX_COUNT_OF(events));
	samples = samples_of(store, &n);
	assert_int_equal(n, 3);
	for (size_t i = 0; i < n; i++)
		assert_string_equal(object_of_leaf(ctx_store_profile(store), samples[i].stack), expected[i]);
	ctx_store_close(store);
}

static const char *name_of_leaf(const struct ctx_profile *profile, uint32_t stack)
{
	return profile->functions[profile->cct.key[stack]].name;
}

static struct ctx_event function_event(uint64_t time, uint64_t address, uint64_t size, uint64_t file_offset,
				       const char *name)
{
	struct ctx_event event = map_event(time, address, size, "/tmp/jit-100.dump");

	event.map.file_offset = file_offset;
	event.map.function = name;
	return event;
}

/* E14 for code that is made at run time: it moves, is replaced, and its names come again. */
static void test_ingest__an_address_is_resolved_to_the_latest_jit_function(void **state)
{
	static const uint32_t parents[] = {0};
	static const uint64_t addresses[] = {0x2010};
	struct ctx_event unmap = map_event(70, 0x2000, 0x1000, "");
	struct ctx_event events[] = {
		process_start(0, 0, 100),
		thread_start(0, 0, 0, 100),
		stacks_event(1, 1, parents, addresses),
		function_event(5, 0x2000, 0x100, 900, "first"),
		sample_event(10, 0, 0, 1),
		function_event(15, 0x2000, 0x20, 100, "second"),
		sample_event(20, 0, 0, 1),
		function_event(25, 0x2000, 0x100, 500, "first"),
		sample_event(30, 0, 0, 1),
		function_event(35, 0x2000, 0x20, 100, "second"),
		sample_event(40, 0, 0, 1),
		function_event(45, 0x2010, 0x20, 300, "_ZN3foo3barEv"),
		sample_event(50, 0, 0, 1),
		map_event(55, 0x2000, 0x1000, "/tmp/jit-100.dump"),
		sample_event(60, 0, 0, 1),
		unmap,
		sample_event(80, 0, 0, 1),
	};
	static const struct {
		const char *name, *path;
		uint64_t offset;
	} expected[] = {
		{"first", "/tmp/jit-100.dump", 900},
		{"second", "/tmp/jit-100.dump", 100},
		{"first", "/tmp/jit-100.dump", 500},
		{"second", "/tmp/jit-100.dump", 100},
		{"foo::bar()", "/tmp/jit-100.dump", 300},
		{"<Unknown>@0x10", "/tmp/jit-100.dump", 0},
		{"<Unknown>", "", 0},
	};
	const struct ctx_profile *profile;
	const struct ctx_sample *samples;
	struct ctx_store *store;
	size_t n;

	(void)state;
	events[15].kind = CTX_EV_UNMAP;
	store = store_of(events, CTX_COUNT_OF(events));
	profile = ctx_store_profile(store);
	samples = samples_of(store, &n);
	assert_int_equal(n, CTX_COUNT_OF(expected));
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(name_of_leaf(profile, samples[i].stack), expected[i].name);
		assert_string_equal(object_of_leaf(profile, samples[i].stack), expected[i].path);
		assert_int_equal(profile->functions[profile->cct.key[samples[i].stack]].offset,
				 expected[i].offset);
	}
	/* One function, met twice, is one function; two of one name are two. */
	assert_int_equal(samples[1].stack, samples[3].stack);
	assert_int_not_equal(samples[0].stack, samples[2].stack);
	ctx_store_close(store);
}

/*
 * Many functions of one object in no order, against the list of them; some are mapped in two
 * places.
 */
static void test_ingest__functions_made_at_run_time_are_found_in_any_order(void **state)
{
	enum { FUNCTIONS = 2000 };
	const struct ctx_resolver_options options = {.kallsyms = "", .debug_root = "", .symfs = ""};
	struct ctx_resolver *resolver;
	struct ctx_arena arena = {0};
	struct ctx_mapped maps[FUNCTIONS];
	uint64_t file_offsets[FUNCTIONS];
	struct ctx_profile profile = {0};
	size_t n_locations;
	uint32_t used = 2; /* the two artificial ones */

	(void)state;
	srand(1);
	assert_int_equal(ctx_resolver_create(&options, &arena, &resolver, NULL), CTX_OK);
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		char name[32];
		struct ctx_event event;
		struct ctx_mapped again;

		file_offsets[i] = (uint64_t)rand() << 20 | i;
		snprintf(name, sizeof(name), "f%u", i);
		/* Two at one offset: the source's fault, and two functions all the same. */
		if (i % 100 == 99)
			file_offsets[i] = file_offsets[i - 1];
		event = function_event(0, 0x1000 * (uint64_t)i, 1 + i % 0x800, file_offsets[i], name);
		maps[i] = (struct ctx_mapped){.begin = event.map.address,
					      .end = event.map.address + event.map.size};
		again = maps[i];
		assert_int_equal(ctx_resolver_dynamic(resolver, &event.map, &maps[i], NULL), CTX_OK);
		assert_int_equal(ctx_resolver_dynamic(resolver, &event.map, &again, NULL), CTX_OK);
		assert_int_equal(again.file_offset, maps[i].file_offset);
	}
	for (int round = 0; round < 20000; round++) {
		uint32_t i = (uint32_t)rand() % FUNCTIONS;
		uint64_t at = (uint64_t)rand() % (maps[i].end - maps[i].begin);
		const struct ctx_location *locations;
		uint32_t location;

		assert_int_equal(ctx_resolver_in_object(resolver, maps[i].object, maps[i].file_offset + at,
							&location, NULL),
				 CTX_OK);
		locations = ctx_resolver_locations(resolver, &n_locations);
		assert_int_equal(locations[location].address, file_offsets[i] + at);
		maps[i].record = locations[location].function;
	}
	assert_int_equal(ctx_resolver_take(resolver, &profile, NULL), CTX_OK);
	assert_int_equal(profile.n_objects, 1);
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "f%u", i);
		if (maps[i].record == 0)
			continue;
		assert_string_equal(profile.functions[maps[i].record].name, name);
		used++;
	}
	assert_int_equal(profile.n_functions, used);
	free(profile.functions);
	free(profile.objects);
	ctx_resolver_destroy(resolver);
	ctx_arena_deinit(&arena);
}

/* Longer than an offset within a function can be: cut, not mistaken for the next one. */
static void test_ingest__a_function_without_end_is_cut(void **state)
{
	const struct ctx_resolver_options options = {.kallsyms = "", .debug_root = "", .symfs = ""};
	struct ctx_event event = function_event(0, 0x1000, UINT64_MAX - 0x1000, 7, "endless");
	struct ctx_mapped map = {.begin = 0x1000, .end = UINT64_MAX};
	struct ctx_resolver *resolver;
	struct ctx_arena arena = {0};

	(void)state;
	assert_int_equal(ctx_resolver_create(&options, &arena, &resolver, NULL), CTX_OK);
	assert_int_equal(ctx_resolver_dynamic(resolver, &event.map, &map, NULL), CTX_OK);
	assert_int_equal(map.end, 0x1000 + ((uint64_t)1 << 32));
	ctx_resolver_destroy(resolver);
	ctx_arena_deinit(&arena);
}

/* Puts a function or an object into the kernel's address space. */
static void map_kernel(struct ctx_resolver *resolver, struct ctx_addrspace *space,
		       const struct ctx_event *event)
{
	struct ctx_mapped map = {.begin = event->map.address, .end = event->map.address + event->map.size};

	if (event->map.function[0] != '\0')
		assert_int_equal(ctx_resolver_dynamic(resolver, &event->map, &map, NULL), CTX_OK);
	else
		assert_int_equal(ctx_resolver_object(resolver, &event->map, &map.object, NULL), CTX_OK);
	assert_int_equal(ctx_addrspace_map(space, &map, NULL), CTX_OK);
}

/*
 * "FUNCTION in OBJECT" of kernel addresses: of the kernel, of a module that is mapped, of one that
 * kallsyms knows and the recording does not, of one that lies where kallsyms has another, and of a
 * function made at run time.
 */
static void compare_kernel(const struct ctx_resolver_options *options, const char *const *expected)
{
	static const uint64_t addresses[] = {0xffffffff81000110, 0xffffffffc0000010, 0xffffffffc0001010,
					     0xffffffffc0002010, 0xffffffffc0003010, 0xffffffffc0004010};
	const struct ctx_event maps[] = {
		map_event(0, 0xffffffff81000000, 0x1000, "[kernel.kallsyms]"),
		map_event(0, 0xffffffffc0000000, 0x1000, "/lib/modules/6/kernel/fs/ext-4.ko.xz"),
		map_event(0, 0xffffffffc0002000, 0x1000, "[other]"),
		function_event(0, 0xffffffffc0003000, 0x100, 1, "bpf_prog_1234"),
	};
	struct ctx_addrspace space = {0};
	uint32_t found[CTX_COUNT_OF(addresses)];
	struct ctx_resolver *resolver;
	struct ctx_profile profile = {0};
	struct ctx_arena arena = {0};
	size_t n;

	assert_int_equal(ctx_resolver_create(options, &arena, &resolver, NULL), CTX_OK);
	for (size_t i = 0; i < CTX_COUNT_OF(maps); i++)
		map_kernel(resolver, &space, &maps[i]);
	for (size_t i = 0; i < CTX_COUNT_OF(addresses); i++) {
		uint32_t location;

		assert_int_equal(ctx_resolver_kernel(resolver, &space, addresses[i], &location, NULL),
				 CTX_OK);
		found[i] = ctx_resolver_locations(resolver, &n)[location].function;
	}
	assert_int_equal(ctx_resolver_take(resolver, &profile, NULL), CTX_OK);
	for (size_t i = 0; i < CTX_COUNT_OF(addresses); i++) {
		const struct ctx_function_info *function = &profile.functions[found[i]];
		char text[256];

		snprintf(text, sizeof(text), "%s in %s", function->name,
			 profile.objects[function->object].path);
		assert_string_equal(text, expected[i]);
	}
	free(profile.functions);
	free(profile.objects);
	ctx_resolver_destroy(resolver);
	ctx_addrspace_deinit(&space);
	ctx_arena_deinit(&arena);
}

static void test_ingest__kernel_addresses_are_looked_up_in_what_is_mapped_first(void **state)
{
	static const char kallsyms[] = "ffffffff81000000 T _text\n"
				       "ffffffff81000100 t kernel_function\n"
				       "ffffffff81000200 D data\n"
				       "ffffffffc0000000 t mapped\t[ext_4]\n"
				       "ffffffffc0001000 t unmapped\t[gone]\n"
				       "ffffffffc0002000 t elsewhere\t[moved]\n"
				       "ffffffffc0003000 t bpf_prog_later\t[bpf]\n";
	static const char *const recorded[] = {"kernel_function in [kernel]",
					       "mapped in [ext_4]",
					       "unmapped in [gone]",
					       "elsewhere in [moved]",
					       "bpf_prog_1234 in /tmp/jit-100.dump",
					       "bpf_prog_later in [bpf]"};
	/* A kallsyms of another time: modules only where they are known to have been. */
	static const char *const found[] = {"kernel_function in [kernel]",
					    "mapped in [ext_4]",
					    "<Unknown> in [kernel]",
					    "<Unknown> in [other]",
					    "bpf_prog_1234 in /tmp/jit-100.dump",
					    "<Unknown> in [kernel]"};
	static const char *const none[] = {"<Unknown> in [kernel]",
					   "<Unknown>@0x10 in /lib/modules/6/kernel/fs/ext-4.ko.xz",
					   "<Unknown> in [kernel]",
					   "<Unknown> in [other]",
					   "bpf_prog_1234 in /tmp/jit-100.dump",
					   "<Unknown> in [kernel]"};
	const struct ctx_source_kernel kernel = {
		.build_id = "0123456789", .symbol = "_text", .address = 0xffffffff81000000};
	const char *caches[] = {directory, NULL};
	char *folder = NULL, *path = NULL;
	struct ctx_resolver_options options = {
		.kallsyms = "", .debug_root = "", .symfs = "", .caches = caches};

	(void)state;
	assert_true(asprintf(&folder, "%s/[kernel.kallsyms]/0123456789", directory) > 0);
	assert_true(asprintf(&path, "mkdir -p '%s'", folder) > 0);
	assert_int_equal(system(path), 0);
	free(path);
	path = ctx_path_join(folder, "kallsyms");
	assert_int_equal(ctx_file_replace(path, kallsyms, sizeof(kallsyms) - 1, NULL), CTX_OK);
	compare_kernel(&options, none);
	options.kernel = &kernel;
	compare_kernel(&options, found);
	options.kallsyms = path;
	compare_kernel(&options, recorded);
	free(folder);
	free(path);
}

/*
 * A caller's address is its return address less one; a trampoline and what an interrupt met return
 * to a first byte.
 */
static void test_ingest__what_is_entered_exactly_is_found_one_byte_earlier(void **state)
{
	static const char kallsyms[] = "ffffffff81000000 t before\n"
				       "ffffffff810000f0 t __pfx_met\n"
				       "ffffffff81000100 t met\n"
				       "ffffffff81000200 t __pfx_other\n"
				       "ffffffff81000210 t not_other\n"
				       "ffffffff81000300 t __restore_rt\n";
	static const struct {
		uint64_t address;
		const char *name;
	} expected[] = {
		{0xffffffff810000ff, "met"},	      {0xffffffff81000100, "met"},
		{0xffffffff810000fe, "__pfx_met"},    {0xffffffff8100020f, "__pfx_other"},
		{0xffffffff810002ff, "__restore_rt"}, {0xffffffff810002fe, "not_other"},
		{0xffffffff810000ef, "before"},
	};
	char *path = ctx_path_join(directory, "exact.kallsyms");
	struct ctx_resolver_options options = {.kallsyms = path, .debug_root = "", .symfs = ""};
	struct ctx_profile profile = {0};
	struct ctx_addrspace space = {0};
	struct ctx_resolver *resolver;

	(void)state;
	assert_int_equal(ctx_file_replace(path, kallsyms, sizeof(kallsyms) - 1, NULL), CTX_OK);
	assert_int_equal(ctx_resolver_create(&options, &profile.arena, &resolver, NULL), CTX_OK);
	for (size_t i = 0; i < CTX_COUNT_OF(expected); i++) {
		uint32_t location;
		size_t n;

		assert_int_equal(ctx_resolver_kernel(resolver, &space, expected[i].address, &location, NULL),
				 CTX_OK);
		(void)ctx_resolver_locations(resolver, &n);
		assert_true(location < n);
	}
	{
		size_t n;
		const struct ctx_location *locations = ctx_resolver_locations(resolver, &n);

		assert_int_equal(n, CTX_COUNT_OF(expected));
		assert_int_equal(ctx_resolver_take(resolver, &profile, NULL), CTX_OK);
		for (size_t i = 0; i < n; i++)
			assert_string_equal(profile.functions[locations[i].function].name, expected[i].name);
	}
	ctx_resolver_destroy(resolver);
	ctx_addrspace_deinit(&space);
	ctx_profile_deinit(&profile);
	free(path);
}

/* From events to the database, with the kernel's maps among them. */
static void test_ingest__a_map_of_no_process_is_the_kernels(void **state)
{
	struct ctx_event unmap = map_event(6, 0xffffffffc0000000, 0x1000, "");
	struct ctx_event events[] = {
		process_start(0, 0, 100),
		thread_start(0, 0, 0, 100),
		function_event(5, 0xffffffffc0000000, 0x1000, 1, "bpf_prog"),
		unmap,
		sample_event(7, 0, 0, 0),
	};
	struct ctx_store *store;

	(void)state;
	events[2].process = events[3].process = CTX_NONE;
	events[3].kind = CTX_EV_UNMAP;
	store = store_of(events, CTX_COUNT_OF(events));
	assert_int_equal(ctx_store_profile(store)->n_processes, 1);
	assert_string_equal(ctx_store_profile(store)->objects[0].symbols, "recorded");
	ctx_store_close(store);
}

static struct ctx_event fork_maps_event(uint64_t time, uint32_t process, uint32_t of)
{
	struct ctx_event event = {.kind = CTX_EV_FORK_MAPS, .time_ns = time, .process = process};

	event.maps_of = of;
	return event;
}

/* As they are at that time, whatever either does later. */
static void test_ingest__a_fork_has_the_maps_of_its_parent(void **state)
{
	static const uint32_t parents[] = {0, 0};
	static const uint64_t addresses[] = {0x7000, 0x9000};
	static const char *const expected[] = {"/bin/parent", "/bin/low", "/bin/later", "/bin/childs"};
	struct ctx_event events[] = {
		process_start(0, 0, 100),
		thread_start(0, 0, 0, 100),
		map_event(1, 0x7000, 0x1000, "/bin/parent"),
		map_event(1, 0x8000, 0x2000, "/bin/low"),
		process_start(2, 1, 101),
		thread_start(2, 1, 1, 101),
		fork_maps_event(2, 1, 0),
		map_event(3, 0x7000, 0x1000, "/bin/later"),
		map_event(3, 0x9000, 0x1000, "/bin/childs"),
		stacks_event(4, 2, parents, addresses),
		stacks_event(4, 2, parents, addresses),
		sample_event(5, 1, 1, 1),
		sample_event(6, 0, 0, 2),
		sample_event(7, 0, 0, 1),
		sample_event(8, 1, 1, 2),
	};
	const struct ctx_profile *profile;
	const struct ctx_sample *samples;
	struct ctx_store *store;
	size_t n;

	(void)state;
	events[8].process = events[10].process = 1;
	store = store_of(events, CTX_COUNT_OF(events));
	profile = ctx_store_profile(store);
	samples = samples_of(store, &n);
	assert_int_equal(n, CTX_COUNT_OF(expected));
	for (size_t i = 0; i < n; i++)
		assert_string_equal(object_of_leaf(profile, samples[i].stack), expected[i]);
	assert_int_equal((int)profile->losses.damaged, 0);
	ctx_store_close(store);
}

/* A line of a few bytes does not stand for more maps than a process can have. */
static void test_ingest__copied_maps_are_bounded(void **state)
{
	enum { MAPS = 65537, EVENTS = MAPS + 6 };
	struct ctx_event *events = ctx_calloc(EVENTS, sizeof(*events));
	const struct ctx_profile *profile;
	struct ctx_store *store;
	size_t n = 0;

	(void)state;
	assert_non_null(events);
	events[n++] = process_start(0, 0, 100);
	events[n++] = thread_start(0, 0, 0, 100);
	for (uint32_t i = 0; i < MAPS; i++) /* downwards, as most are mapped */
		events[n++] = map_event(1, 0x100000000 - (uint64_t)i * 0x2000, 0x1000, "/bin/many");
	events[n++] = process_start(2, 1, 101);
	events[n++] = fork_maps_event(2, 1, 0);
	events[n++] = process_start(3, 2, 102);
	events[n++] = fork_maps_event(3, 2, 0);
	assert_int_equal(n, EVENTS);
	store = store_of(events, n);
	profile = ctx_store_profile(store);
	assert_int_equal((int)profile->losses.damaged, 1); /* once */
	ctx_store_close(store);
	free(events);
}

/* The path says that the file is a perf map; only the one of this process is surely not in use. */
static void test_ingest__a_perf_map_names_what_is_mapped_under_its_path(void **state)
{
	static const uint32_t parents[] = {0, 0};
	static const uint64_t addresses[] = {0x7000, 0x7040};
	struct ctx_event events[] = {
		process_start(0, 0, 100),
		thread_start(0, 0, 0, 100),
		stacks_event(1, 2, parents, addresses),
		map_event(2, 0x7000, 0x1000, NULL),
		sample_event(3, 0, 0, 1),
		sample_event(4, 0, 0, 2),
	};
	const struct ctx_profile *profile;
	const struct ctx_sample *samples;
	struct ctx_store *store;
	char *map = NULL;
	size_t n;

	(void)state;
	assert_true(asprintf(&map, "/tmp/perf-%ld.map", (long)getpid()) > 0);
	assert_int_equal(ctx_file_replace(map, "7000 40 made at run time\n", 25, NULL), CTX_OK);
	events[3].map.path = map;
	events[3].map.file_offset = 0x7000;
	store = store_of(events, CTX_COUNT_OF(events));
	unlink(map);
	profile = ctx_store_profile(store);
	samples = samples_of(store, &n);
	assert_int_equal(n, 2);
	assert_string_equal(name_of_leaf(profile, samples[0].stack), "made at run time");
	assert_string_equal(name_of_leaf(profile, samples[1].stack), "<Unknown>");
	assert_string_equal(object_of_leaf(profile, samples[1].stack), map);
	ctx_store_close(store);
	free(map);
}

/* A frame pointer that some code did not keep ends the stack in any function, without a mark. */
static void test_ingest__stacks_of_frame_pointers_without_their_root_are_counted(void **state)
{
	static const char names[] = "7000 40 _start\n7040 40 work\n7080 40 helper\n";
	static const uint32_t parents[] = {0, 1, 0};
	static const uint64_t addresses[] = {0x7010, 0x7050, 0x7090};
	char *map = NULL;

	(void)state;
	assert_true(asprintf(&map, "/tmp/perf-%ld.map", (long)getpid()) > 0);
	for (int i = 0; i < 3; i++) {
		struct ctx_event settings = {
			.kind = CTX_EV_PROPERTY,
			.property = {"stacks", i != 1 ? "frame pointers" : "call frame information"}};
		struct ctx_event events[] = {
			settings,
			process_start(0, 0, 100),
			thread_start(0, 0, 0, 100),
			stacks_event(1, 3, parents, addresses),
			map_event(2, 0x7000, 0x1000, map),
			sample_event(3, 0, 0, 2),
			sample_event(4, 0, 0, 1),
			sample_event(5, 0, 0, 2),
			sample_event(6, 0, 0, i == 2 ? 2 : 3),
		};
		const struct ctx_profile *profile;
		struct ctx_store *store;

		events[4].map.file_offset = 0x7000;
		assert_int_equal(ctx_file_replace(map, names, strlen(names), NULL), CTX_OK);
		store = store_of(events, CTX_COUNT_OF(events));
		unlink(map);
		profile = ctx_store_profile(store);
		assert_int_equal(profile->n_warnings, i == 0);
		if (i == 0)
			assert_non_null(
				strstr(profile->warnings[0], "25.0 % of the stacks do not reach their root"));
		ctx_store_close(store);
	}
	free(map);
}

/* ---- stubs of procedure linkage tables ---- */

/* A program as the linker makes it, and where it lies in its file. */
struct linked {
	char *path;
	uint64_t caller, other, binder,
		first_stub; /* addresses in the file: return addresses less one; code */
};

/* The value of a symbol of the program, or where a section begins. */
static uint64_t address_in(const char *path, const char *list, const char *name)
{
	char command[512], line[256];
	uint64_t address = 0;
	FILE *out;

	snprintf(command, sizeof(command), "%s '%s' | awk '$NF == \"%s\" || $2 == \"%s\" {print}'", list,
		 path, name, name);
	out = popen(command, "r");
	assert_non_null(out);
	if (fgets(line, sizeof(line), out) != NULL)
		assert_int_equal(
			sscanf(line, line[0] == ' ' ? " %*s %*s %*s %" SCNx64 : "%" SCNx64, &address), 1);
	pclose(out);
	return address;
}

/* Linked without gaps and at address 0x400000: an address less that is the place in the file. */
static bool link_program(struct linked *ret)
{
	static const char source[] =
		"#if defined(__aarch64__)\n#define CALL bl puts\n#define INDIRECT blr x9\n"
		"#else\n#define CALL call puts@PLT\n#define INDIRECT call *%rax\n#endif\n"
		".text\n.globl main, work, binder_made\n"
		".type work,%function\nmain:\nwork: nop\n CALL\nafter_call: nop\n INDIRECT\n"
		"after_other: nop\n.size work,.-work\n"
		".type _dl_runtime_resolve_made,%function\n.globl _dl_runtime_resolve_made\n"
		"_dl_runtime_resolve_made: nop\n nop\n nop\n"
		".size _dl_runtime_resolve_made,.-_dl_runtime_resolve_made\n"
		".section .note.GNU-stack,\"\",%progbits\n";
	char *code CTX_AUTO_FREE = ctx_path_join(directory, "stub.S");
	char command[1024];

	ret->path = ctx_path_join(directory, "stub");
	assert_non_null(code);
	assert_non_null(ret->path);
	assert_int_equal(ctx_file_replace(code, source, strlen(source), NULL), CTX_OK);
	snprintf(command, sizeof(command),
		 "command -v nm >/dev/null && command -v objdump >/dev/null && "
		 "cc -no-pie -Wl,-z,lazy,-z,noseparate-code,-Ttext-segment=0x400000 -o '%s' '%s' 2>/dev/null",
		 ret->path, code);
	if (system(command) != 0)
		return false;
	ret->caller = address_in(ret->path, "nm", "after_call") - 1 - 0x400000;
	ret->other = address_in(ret->path, "nm", "after_other") - 1 - 0x400000;
	ret->binder = address_in(ret->path, "nm", "_dl_runtime_resolve_made") + 1 - 0x400000;
	ret->first_stub = address_in(ret->path, "objdump -h", ".plt") + 2 - 0x400000;
	return true;
}

static void assert_stack(const struct ctx_profile *profile, uint32_t stack, const char *const *from_leaf)
{
	for (; *from_leaf != NULL; from_leaf++, stack = profile->cct.parent[stack])
		assert_string_equal(name_of_leaf(profile, stack), *from_leaf);
	assert_int_equal(stack, CTX_TRIE_ROOT);
}

/* The stub has jumped to the dynamic linker: the caller's instruction knows which one it was. */
static void test_ingest__binding_a_function_belongs_to_its_stub(void **state)
{
	static const uint32_t parents[] = {0, 1, 0, 3, 1};
	static const char *const stacks[3][4] = {{"_dl_runtime_resolve_made", "puts@plt", "work"},
						 {"_dl_runtime_resolve_made", "work"},
						 {"puts@plt", "work"}};
	uint64_t addresses[5];
	struct linked linked;
	struct ctx_event events[] = {
		process_start(0, 0, 100),
		thread_start(0, 0, 0, 100),
		map_event(1, 0x10000, 0x10000, NULL),
		stacks_event(2, 5, parents, addresses),
		sample_event(3, 0, 0, 2),
		sample_event(4, 0, 0, 4),
		sample_event(5, 0, 0, 5),
	};
	const struct ctx_sample *samples;
	struct ctx_store *store;
	size_t n;

	(void)state;
	if (!link_program(&linked)) {
		free(linked.path);
		print_message("skipped: no compiler with nm and objdump\n");
		skip();
	}
	addresses[0] = 0x10000 + linked.caller;
	addresses[1] = addresses[3] = 0x10000 + linked.binder;
	addresses[2] = 0x10000 + linked.other;
	addresses[4] = 0x10000 + linked.first_stub;
	events[2].map.path = linked.path;
	store = store_of(events, CTX_COUNT_OF(events));
	samples = samples_of(store, &n);
	assert_int_equal(n, 3);
	for (size_t i = 0; i < n; i++)
		assert_stack(ctx_store_profile(store), samples[i].stack, stacks[i]);
	ctx_store_close(store);
	free(linked.path);
}

/* C9: the tid comes again, the thread does not. */
static void test_ingest__a_reused_tid_is_another_thread(void **state)
{
	static const uint32_t parents[] = {0};
	static const uint64_t addresses[] = {0x1000};
	struct ctx_event exit_event = {.kind = CTX_EV_THREAD_EXIT, .time_ns = 20};
	struct ctx_event events[] = {
		process_start(0, 0, 100),   thread_start(0, 0, 0, 77), stacks_event(1, 1, parents, addresses),
		sample_event(5, 0, 0, 1),   sample_event(6, 0, 0, 1),  exit_event,
		thread_start(30, 0, 1, 77), sample_event(40, 0, 1, 1),
	};
	const struct ctx_profile *profile;
	struct ctx_store *store;

	(void)state;
	store = store_of(events, CTX_COUNT_OF(events));
	profile = ctx_store_profile(store);
	assert_int_equal(profile->n_threads, 2);
	assert_int_equal(profile->threads[0].tid, 77);
	assert_int_equal(profile->threads[0].samples, 2);
	assert_int_equal(profile->threads[0].life.end_ns, 20);
	assert_int_equal(profile->threads[1].tid, 77);
	assert_int_equal(profile->threads[1].samples, 1);
	assert_int_equal(profile->threads[1].life.begin_ns, 30);
	assert_int_equal(profile->processes[0].weight, 30);
	ctx_store_close(store);
}

/* A thread running when the limit is reached is not known to run for the rest of the run. */
static void test_ingest__where_changes_are_missing_states_end(void **state)
{
	static const uint32_t parents[] = {0};
	static const uint64_t addresses[] = {0x1000};
	struct ctx_event lost = {
		.kind = CTX_EV_LOST, .time_ns = 900, .lost.loss.count = 5, .lost.beyond_limit = true};
	struct ctx_event events[] = {
		process_start(0, 0, 100),
		thread_start(0, 0, 0, 100),
		stacks_event(1, 1, parents, addresses),
		change_event(2, 0, CTX_CHANGE_RUNS),
		sample_event(300, 0, 0, 1),
		change_event(400, 0, CTX_CHANGE_BLOCKED), /* the first behind the limit */
		thread_start(450, 0, 1, 101),
		change_event(500, 1, CTX_CHANGE_RUNS),
		sample_event(600, 0, 0, 1),
		lost,
	};
	struct list_source list;
	struct ctx_store *store;
	const struct ctx_profile *profile;
	uint64_t on_cpu_ns = 0, all_ns = 0;

	(void)state;
	list_open(&list, events, CTX_COUNT_OF(events), 1000);
	list.source.info.has_states = true;
	list.source.info.states_end_ns = 400;
	store = store_of_list(&list);
	profile = ctx_store_profile(store);
	for (uint32_t i = 0; i < CTX_STATE_N; i++)
		all_ns += profile->metrics[profile->states + i].weight;
	for (uint32_t i = CTX_STATE_USER; i <= CTX_STATE_TRAP; i++)
		on_cpu_ns += profile->metrics[profile->states + i].weight;
	assert_int_equal(all_ns, 400);
	assert_int_equal(on_cpu_ns, 398);
	assert_int_equal(profile->threads[0].samples, 2);
	assert_int_equal(profile->losses.samples, 0);
	assert_int_equal(profile->n_warnings, 1);
	assert_non_null(
		strstr(profile->warnings[0], "5 samples and changes of state beyond the limit were dropped"));
	ctx_store_close(store);
}

/* The second process is waiting when its records are lost; it is seen a second later, if `usage`. */
static struct ctx_store *store_with_losses(bool usage)
{
	static const uint32_t parents[] = {0};
	static const uint64_t addresses[] = {0x1000};
	struct ctx_event lost = {.kind = CTX_EV_LOST,
				 .time_ns = 700,
				 .lost.loss = {{600, 700}, .located = true, .cpu = -1, .count = 5}};
	struct ctx_event total = {.kind = CTX_EV_LOST, .time_ns = 9999, .lost.loss.count = 2};
	struct ctx_event lost_nothing = {.kind = CTX_EV_THROTTLE, .time_ns = 800};
	struct ctx_event seen = {
		.kind = CTX_EV_USAGE, .time_ns = 800, .process = 1, .usage = {.process = 1, .threads = 1}};
	struct ctx_event events[] = {
		process_start(0, 0, 100),
		thread_start(0, 0, 0, 100),
		stacks_event(1, 1, parents, addresses),
		change_event(2, 0, CTX_CHANGE_RUNS),
		process_start(300, 1, 101),
		thread_start(300, 1, 1, 101),
		change_event(500, 1, CTX_CHANGE_RUNS),
		lost,
		usage ? seen : lost_nothing,
		sample_event(900, 0, 0, 1),
		change_event(1000, 0, CTX_CHANGE_BLOCKED),
		total,
	};
	struct list_source list;
	events[3].state.cpu = 0;
	events[6].state.cpu = 1;
	events[9].sample.cpu = 0;
	list_open(&list, events, CTX_COUNT_OF(events), 10000);
	list.source.info.has_states = true;
	return store_of_list(&list);
}

/* A process whose exit was lost does not live to the end of the run. */
static void test_ingest__a_life_ends_where_its_last_records_were_lost(void **state)
{
	struct ctx_store *store = store_with_losses(false);
	const struct ctx_profile *profile = ctx_store_profile(store);
	uint64_t all_ns = 0;

	(void)state;
	for (uint32_t i = 0; i < CTX_STATE_N; i++)
		all_ns += profile->metrics[profile->states + i].weight;
	assert_int_equal(profile->threads[0].life.end_ns, 10000);
	assert_int_equal(profile->processes[0].life.end_ns, 10000);
	assert_int_equal(profile->threads[1].life.end_ns, 700);
	assert_int_equal(profile->processes[1].life.end_ns, 700);
	assert_int_equal(all_ns, 10000 + 700 - 300);
	assert_int_equal(profile->losses.samples, 7);
	assert_int_equal(profile->n_warnings, 1);
	assert_string_equal(profile->warnings[0],
			    "1 thread was not seen again after records were lost: its time ends there");
	ctx_store_close(store);
}

static void test_ingest__a_life_goes_on_that_is_seen_after_a_loss(void **state)
{
	struct ctx_store *store = store_with_losses(true);
	const struct ctx_profile *profile = ctx_store_profile(store);

	(void)state;
	assert_int_equal(profile->threads[1].life.end_ns, 10000);
	assert_int_equal(profile->processes[1].life.end_ns, 10000);
	assert_int_equal(profile->n_warnings, 0);
	ctx_store_close(store);
}

/*
 * Threads that are shorter than the clock's tick: their time is in the states only, which is
 * reported.
 */
static void test_ingest__time_missed_by_the_clock_is_reported(void **state)
{
	static const uint32_t parents[] = {0};
	static const uint64_t addresses[] = {0x1000};
	enum { MS = 1000000 };

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		/*
		 * On a CPU for 400 ms; without states, a clock that sees, one for user mode:
		 * nothing to say.
		 */
		struct ctx_event events[] = {
			process_start(0, 0, 100),
			thread_start(0, 0, 0, 100),
			stacks_event(1, 1, parents, addresses),
			change_event(2, 0, CTX_CHANGE_RUNS),
			sample_event(300 * MS, 0, 0, 1),
			change_event(400 * MS, 0, CTX_CHANGE_BLOCKED),
		};
		struct list_source list;
		struct ctx_store *store;
		const struct ctx_profile *profile;

		events[4].sample.weight = i == 2 ? 350 * MS : 40 * MS;
		list_open(&list, events, i != 1 ? CTX_COUNT_OF(events) : 3, 1000 * MS);
		list.source.info.has_states = i != 1;
		list.source.info.user_clock_ns = i == 3 ? MS : 0;
		store = store_of_list(&list);
		profile = ctx_store_profile(store);
		assert_int_equal(profile->n_warnings, i == 0);
		if (i == 0)
			assert_non_null(
				strstr(profile->warnings[0], "cpu-clock saw 10 % of the time on CPUs"));
		ctx_store_close(store);
	}
}

/* Many threads of half a tick, beside a long one: what the clock saw of them is said, with their share. */
static void test_ingest__short_threads_that_the_clock_does_not_see_are_reported(void **state)
{
	static const uint32_t parents[] = {0};
	static const uint64_t addresses[] = {0x1000};
	enum { MS = 1000000, SHORT = 400, N = 3 + 2 + 4 * SHORT };
	static struct ctx_event events[N];
	const struct ctx_profile *profile;
	struct list_source list;
	struct ctx_store *store;
	size_t n = 0;

	(void)state;
	events[n++] = process_start(0, 0, 100);
	events[n++] = thread_start(0, 0, 0, 100);
	events[n++] = stacks_event(1, 1, parents, addresses);
	events[n++] = change_event(2, 0, CTX_CHANGE_RUNS);
	for (unsigned i = 0; i < SHORT; i++) {
		uint64_t begin = 3 + (uint64_t)i * MS;

		events[n++] = thread_start(begin, 0, i + 1, 101 + i);
		events[n++] = change_event(begin + 1, i + 1, CTX_CHANGE_RUNS);
		if (i % 10 == 0) {
			events[n] = sample_event(begin + MS / 2, 0, i + 1, 1);
			events[n++].sample.weight = MS;
		}
		events[n++] = change_event(begin + MS / 2 + 1, i + 1, CTX_CHANGE_BLOCKED);
	}
	events[n] = sample_event(401 * (uint64_t)MS, 0, 0, 1);
	events[n++].sample.weight = 400 * (uint64_t)MS;
	list_open(&list, events, n, 600 * (uint64_t)MS);
	list.source.info.has_states = true;
	store = store_of_list(&list);
	profile = ctx_store_profile(store);
	assert_int_equal(profile->n_warnings, 1);
	assert_non_null(strstr(profile->warnings[0], "cpu-clock saw 20 % of the time on CPUs of 400 short "
						     "threads, which is 50 % of all"));
	ctx_store_close(store);
}

static void test_ingest__a_truncated_stack_is_below_its_own_function(void **state)
{
	static const uint32_t parents[] = {0, 1};
	static const uint64_t addresses[] = {CTX_FRAME_TRUNCATED, 0x1000};
	struct ctx_event events[] = {
		process_start(0, 0, 100),
		thread_start(0, 0, 0, 100),
		stacks_event(1, 2, parents, addresses),
		sample_event(5, 0, 0, 2),
	};
	const struct ctx_profile *profile;
	struct ctx_store *store;

	(void)state;
	store = store_of(events, CTX_COUNT_OF(events));
	profile = ctx_store_profile(store);
	assert_int_equal(profile->cct.n, 3);
	assert_string_equal(profile->functions[profile->cct.key[1]].name, "<Truncated-stack>");
	assert_string_equal(profile->functions[profile->cct.key[2]].name, "<Unknown>");
	ctx_store_close(store);
}

static void test_ingest__each_reason_of_a_truncation_is_a_function(void **state)
{
	static const uint32_t parents[] = {0, 0, 1};
	static const uint64_t addresses[] = {
		CTX_FRAME_TRUNCATED + 1 - CTX_TRUNCATED_COPY,
		CTX_FRAME_TRUNCATED + 1 - CTX_TRUNCATED_NO_TABLE,
		0x1000,
	};
	struct ctx_event events[] = {
		process_start(0, 0, 100), thread_start(0, 0, 0, 100), stacks_event(1, 3, parents, addresses),
		sample_event(5, 0, 0, 1), sample_event(6, 0, 0, 2),   sample_event(7, 0, 0, 3),
	};
	const struct ctx_profile *profile;
	struct ctx_store *store;

	(void)state;
	store = store_of(events, CTX_COUNT_OF(events));
	profile = ctx_store_profile(store);
	assert_int_equal(profile->cct.n, 4);
	assert_string_equal(name_of_leaf(profile, 1), "<Truncated-stack: copied stack too short>");
	assert_string_equal(name_of_leaf(profile, 2), "<Truncated-stack: no call frame information>");
	assert_int_equal(profile->functions[profile->cct.key[1]].kind, CTX_FUNCTION_TRUNCATED);
	assert_int_equal(profile->functions[profile->cct.key[2]].kind, CTX_FUNCTION_TRUNCATED);
	assert_int_equal(profile->cct.parent[3], 1);
	ctx_store_close(store);
}

/* A gap in the middle of a stack, and the end of one in an execve, are frames of their own, and no end of unwinding. */
static void test_ingest__a_gap_and_an_execve_have_names(void **state)
{
	static const uint32_t parents[] = {0, 1, 2, 0, 4};
	static const uint64_t addresses[] = {0x1000, CTX_FRAME_GAP, 0x2000, CTX_FRAME_EXEC, 0x3000};
	struct ctx_event events[] = {
		process_start(0, 0, 100), thread_start(0, 0, 0, 100), stacks_event(1, 5, parents, addresses),
		sample_event(5, 0, 0, 3), sample_event(6, 0, 0, 5),
	};
	const struct ctx_profile *profile;
	struct ctx_store *store;

	(void)state;
	store = store_of(events, CTX_COUNT_OF(events));
	profile = ctx_store_profile(store);
	assert_int_equal(profile->cct.n, 6);
	assert_string_equal(name_of_leaf(profile, 2), "<Frames-left-out>");
	assert_string_equal(name_of_leaf(profile, 4), "<execve>");
	assert_int_equal(profile->functions[profile->cct.key[2]].kind, CTX_FUNCTION_ARTIFICIAL);
	assert_int_equal(profile->functions[profile->cct.key[4]].kind, CTX_FUNCTION_ARTIFICIAL);
	assert_true(ctx_frame_is_mark(CTX_FRAME_GAP) && ctx_frame_is_mark(CTX_FRAME_JOINED) &&
		    ctx_frame_is_mark(CTX_FRAME_EXEC) && ctx_frame_is_mark(CTX_FRAME_LOST) &&
		    !ctx_frame_is_mark(CTX_FRAME_LOST - 1) && !ctx_frame_is_mark(CTX_FRAME_JOINED + 1));
	ctx_store_close(store);
}

/* Where a stack was continued with an earlier one is known in the raw stacks, and is no call. */
static void test_ingest__a_join_is_not_a_frame(void **state)
{
	static const uint32_t parents[] = {0, 1, 2, 1};
	static const uint64_t addresses[] = {0x1000, CTX_FRAME_JOINED, 0x2000, 0x2000};
	struct ctx_event events[] = {
		process_start(0, 0, 100), thread_start(0, 0, 0, 100), stacks_event(1, 4, parents, addresses),
		sample_event(5, 0, 0, 3), sample_event(6, 0, 0, 4),
	};
	const struct ctx_profile *profile;
	const struct ctx_code *code;
	struct ctx_store *store;
	size_t joins = 0;

	(void)state;
	store = store_of(events, CTX_COUNT_OF(events));
	profile = ctx_store_profile(store);
	assert_int_equal(profile->cct.n, 3);
	assert_int_equal(ctx_store_code(store, &code, NULL), CTX_OK);
	assert_int_equal(code->raw_stacks->n, 5);
	assert_int_equal(code->raw_to_stack[3], code->raw_to_stack[4]);
	assert_int_equal(profile->cct.depth[code->raw_to_stack[3]], 2);
	for (size_t i = 0; i < code->n_locations; i++)
		joins += code->locations[i].joins;
	assert_int_equal(joins, 1);
	ctx_store_close(store);
}

static void expect_failure(struct ctx_event *events, size_t n, const char *reason)
{
	struct ctx_ingest_options options = {
		.tree = ctx_timetree_default_params(), .debug_root = "", .symfs = "", .fingerprint = "f"};
	struct ctx_err err = {0};
	struct list_source list;
	char *path = ctx_path_join(directory, "failed.db");

	list_open(&list, events, n, 100);
	assert_int_equal(ctx_ingest(&list.source, path, &options, NULL, &err), CTX_E_FORMAT);
	if (strstr(err.msg, reason) == NULL)
		fail_msg("%s", err.msg);
	assert_int_not_equal(access(path, F_OK), 0);
	free(path);
}

static void test_ingest__a_source_that_breaks_its_rules_leaves_no_database(void **state)
{
	static const uint32_t later_parent[] = {5};
	static const uint64_t addresses[] = {0x1000};
	struct ctx_event unknown_thread[] = {process_start(0, 0, 1), sample_event(1, 0, 3, 0)};
	struct ctx_event unknown_stack[] = {process_start(0, 0, 1), thread_start(0, 0, 0, 1),
					    sample_event(1, 0, 0, 9)};
	struct ctx_event bad_parent[] = {process_start(0, 0, 1), stacks_event(0, 1, later_parent, addresses)};

	(void)state;
	expect_failure(unknown_thread, 2, "thread 3 was not announced");
	expect_failure(unknown_stack, 3, "stack 9 is not in the dictionary");
	expect_failure(bad_parent, 2, "later stack 5");
}

enum { MANY_SAMPLES = 20000, MANY_NODES = 3000, MANY_DEEP = 40 };

/* One history, emitted twice: as samples of interned stacks, and as samples with whole ones. */
struct history {
	uint32_t parents[MANY_NODES];
	uint64_t addresses[MANY_NODES];
	uint64_t frames[MANY_SAMPLES][MANY_DEEP];
	struct ctx_event interned[MANY_SAMPLES + 64], whole[MANY_SAMPLES + 64];
	size_t n;
};

static void put_event(struct history *history, const struct ctx_event *event)
{
	history->interned[history->n] = *event;
	history->whole[history->n++] = *event;
}

static struct history *make_history(unsigned seed)
{
	struct history *history = ctx_calloc(1, sizeof(*history));
	struct ctx_event event;

	assert_non_null(history);
	srand(seed);
	for (uint32_t i = 0; i < MANY_NODES; i++) {
		uint32_t depth = 0;

		history->parents[i] = i != 0 ? (uint32_t)rand() % (i + 1) : 0;
		history->addresses[i] = 0x1000u * (1 + (uint64_t)rand() % 8) + (uint64_t)rand() % 50;
		for (uint32_t node = i + 1; node != 0; node = history->parents[node - 1])
			depth++;
		if (depth > MANY_DEEP)
			history->parents[i] = 0;
	}
	event = process_start(0, 0, 100);
	put_event(history, &event);
	event = thread_start(0, 0, 0, 100);
	put_event(history, &event);
	event = thread_start(0, 0, 1, 101);
	put_event(history, &event);
	event = stacks_event(0, MANY_NODES, history->parents, history->addresses);
	put_event(history, &event);
	for (uint32_t i = 0; i < MANY_SAMPLES; i++) {
		uint32_t leaf = 1 + (uint32_t)rand() % (MANY_NODES - 1), n = 0;

		if (i % 1000 == 500) { /* what is at an address changes now and then */
			event = map_event(i, 0x1000u * (1 + (uint64_t)rand() % 8), 0x1000,
					  i % 2000 == 500 ? "/lib/a.so" : "/lib/b.so");
			put_event(history, &event);
		}
		for (uint32_t node = leaf; node != 0; node = history->parents[node - 1])
			history->frames[i][n++] = history->addresses[node - 1];
		event = sample_event(i, 0, i % 2, leaf);
		history->interned[history->n] = event;
		event.sample.stack.frames = history->frames[i];
		event.sample.stack.n_frames = n;
		history->whole[history->n++] = event;
	}
	return history;
}

/* A source that numbers whole stacks: the same numbers as of the nodes. */
struct numbered_source {
	struct list_source list;
	const struct history *history;
	uint64_t frames[MANY_DEEP + 2];
	uint64_t asked;
};

static enum ctx_status numbered_frames(struct ctx_event_source *source, uint32_t process, uint32_t stack,
				       struct ctx_event_stack *ret, struct ctx_err *err)
{
	struct numbered_source *numbered = source->impl;

	(void)err;
	assert_int_equal(process, 0);
	numbered->asked++;
	*ret = (struct ctx_event_stack){.id = stack, .frames = numbered->frames};
	for (; stack != 0; stack = numbered->history->parents[stack - 1])
		numbered->frames[ret->n_frames++] = numbered->history->addresses[stack - 1];
	return CTX_OK;
}

static struct ctx_buf bytes_of_source(struct ctx_event_source *source, bool one_thread)
{
	struct ctx_ingest_options options = {.tree = ctx_timetree_default_params(),
					     .debug_root = "",
					     .symfs = "",
					     .fingerprint = "f",
					     .one_thread = one_thread};
	char *path = ctx_path_join(directory, "bytes.db");
	struct ctx_buf bytes = {0};
	struct ctx_err err = {0};

	if (ctx_ingest(source, path, &options, NULL, &err) != CTX_OK)
		fail_msg("%s", err.msg);
	assert_int_equal(ctx_file_read(path, SIZE_MAX / 2, &bytes, NULL), CTX_OK);
	free(path);
	return bytes;
}

static struct ctx_buf bytes_of(struct ctx_event *events, size_t n, bool one_thread)
{
	struct list_source list;

	list_open(&list, events, n, MANY_SAMPLES);
	return bytes_of_source(&list.source, one_thread);
}

static void check_equal(struct ctx_buf *a, struct ctx_buf b)
{
	assert_int_equal(a->n, b.n);
	assert_memory_equal(a->bytes, b.bytes, b.n);
	ctx_buf_deinit(&b);
}

static void test_ingest__twice_or_with_one_thread_gives_the_same_bytes(void **state)
{
	struct history *history = make_history(1);
	struct ctx_buf bytes = bytes_of(history->interned, history->n, false);

	(void)state;
	check_equal(&bytes, bytes_of(history->interned, history->n, false));
	check_equal(&bytes, bytes_of(history->interned, history->n, true));
	ctx_buf_deinit(&bytes);
	free(history);
}

static void test_ingest__whole_stacks_give_the_same_bytes_as_interned_ones(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 5; seed++) {
		struct history *history = make_history(seed);
		struct ctx_buf bytes = bytes_of(history->interned, history->n, false);

		check_equal(&bytes, bytes_of(history->whole, history->n, seed % 2 == 0));
		ctx_buf_deinit(&bytes);
		free(history);
	}
}

/* They are asked for when a stack is new or the maps have changed, not for each sample. */
static void test_ingest__numbered_stacks_give_the_same_bytes_and_are_rarely_resolved(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 5; seed++) {
		struct history *history = make_history(seed);
		struct ctx_buf bytes = bytes_of(history->interned, history->n, false);
		struct numbered_source numbered = {.history = history};

		list_open(&numbered.list, history->interned, history->n, MANY_SAMPLES);
		numbered.list.source.stack_frames = numbered_frames;
		check_equal(&bytes, bytes_of_source(&numbered.list.source, seed % 2 == 0));
		/*
		 * Of a thousand samples between two changes of the maps some 850 have stacks of
		 * their own.
		 */
		assert_true(numbered.asked > MANY_NODES && numbered.asked < MANY_SAMPLES / 10 * 9);
		ctx_buf_deinit(&bytes);
		free(history);
	}
}

static void test_ingest__common_stacks_from_paths_are_those_of_a_walk(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 50; seed++) {
		struct ctx_stack_paths paths = {0};
		struct ctx_trie cct;

		srand(seed);
		assert_int_equal(ctx_trie_init(&cct, NULL), CTX_OK);
		for (int i = 0; i < 400; i++) {
			uint32_t parent = (uint32_t)rand() % cct.n, a, b;

			if (rand() % 3 != 0)
				parent = cct.n - 1; /* deep ones too */
			assert_int_equal(ctx_trie_child(&cct, parent, (uint32_t)rand() % 3, &a, NULL),
					 CTX_OK);
			b = (uint32_t)rand() % cct.n;
			assert_int_equal(ctx_stack_paths_common(&paths, &cct, a, b),
					 ctx_trie_common_ancestor(&cct, a, b));
			assert_int_equal(ctx_stack_paths_common(&paths, &cct, a, a), a);
			assert_int_equal(ctx_stack_paths_common(&paths, &cct, CTX_TRIE_ROOT, b),
					 CTX_TRIE_ROOT);
		}
		ctx_stack_paths_deinit(&paths);
		ctx_trie_deinit(&cct);
	}
}

/* Each allocation of an ingest fails once: a status, no crash, no leak, no database. */
static void test_ingest__out_of_memory_is_a_status_and_leaves_no_database(void **state)
{
	static const uint32_t parents[] = {0, 1, 1};
	static const uint64_t addresses[] = {0x10, 0x20, 0x30};
	struct ctx_event events[] = {
		process_start(0, 0, 100),
		thread_start(0, 0, 0, 100),
		thread_start(0, 0, 1, 101),
		stacks_event(0, 3, parents, addresses),
		sample_event(1, 0, 0, 2),
		map_event(2, 0x20, 0x10, "/lib/a.so"),
		sample_event(3, 0, 1, 2),
		sample_event(4, 0, 0, 3),
		function_event(5, 0x30, 0x10, 8, "_ZN3foo3barEv"),
		sample_event(6, 0, 0, 3),
	};
	struct ctx_ingest_options options = {.tree = ctx_timetree_default_params(),
					     .debug_root = "",
					     .symfs = "",
					     .fingerprint = "f",
					     .one_thread = true};
	char *path = ctx_path_join(directory, "little.db");
	enum ctx_status status = CTX_E_NOMEM;
	long n = 0;

	(void)state;
	options.tree.leaf_samples = 2;
	for (; status != CTX_OK; n++) {
		struct ctx_err err = {0};
		struct list_source list;

		assert_true(n < 10000);
		list_open(&list, events, CTX_COUNT_OF(events), 100);
		fail_after = n;
		status = ctx_ingest(&list.source, path, &options, NULL, &err);
		fail_after = -1;
		if (status != CTX_OK)
			assert_int_not_equal(access(path, F_OK), 0);
	}
	assert_int_equal(access(path, F_OK), 0);
	/* With a thread more the same allocations come in another order. */
	options.one_thread = false;
	for (long i = 0; i < n + 10; i++) {
		struct ctx_err err = {0};
		struct list_source list;

		assert_int_equal(unlink(path), 0);
		list_open(&list, events, CTX_COUNT_OF(events), 100);
		fail_after = i;
		status = ctx_ingest(&list.source, path, &options, NULL, &err);
		fail_after = -1;
		if (status != CTX_OK) {
			assert_int_not_equal(access(path, F_OK), 0);
			assert_int_equal(symlink("nowhere", path), 0); /* for the next unlink */
		}
	}
	free(path);
}

static int make_directory(void **state);

/* Where this program's code is mapped: one map, and an address in each of two of its functions. */
static void find_code(struct ctx_map_event *map, uint64_t addresses[2])
{
	FILE *maps = fopen("/proc/self/maps", "r");
	uintptr_t here = (uintptr_t)find_code;
	char line[4096];

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps) != NULL) {
		uint64_t begin, end, offset;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &begin, &end, &offset) != 3 ||
		    here < begin || here >= end)
			continue;
		map->address = begin;
		map->size = end - begin;
		map->file_offset = offset;
	}
	fclose(maps);
	assert_true(here - map->address < map->size);
	addresses[0] = here + 4;
	addresses[1] = (uintptr_t)make_directory + 4;
}

/*
 * The same with an object that has debug information, this program: symbols, sites, code and texts
 * are read.
 */
static void test_ingest__out_of_memory_for_debug_information_is_a_status(void **state)
{
	static const uint32_t parents[] = {0, 1};
	uint64_t addresses[2];
	struct ctx_event events[] = {
		process_start(0, 0, 100),	  thread_start(0, 0, 0, 100),
		map_event(0, 0, 0x1000, program), stacks_event(1, 2, parents, addresses),
		sample_event(2, 0, 0, 2),
	};
	struct ctx_ingest_options options = {.tree = ctx_timetree_default_params(),
					     .debug_root = "/nonexistent",
					     .symfs = "",
					     .fingerprint = "f",
					     .one_thread = true};
	char *path = ctx_path_join(directory, "debug.db");
	enum ctx_status status = CTX_E_NOMEM;

	(void)state;
	find_code(&events[2].map, addresses);
	for (long n = 0; status != CTX_OK; n++) {
		struct ctx_err err = {0};
		struct list_source list;

		assert_true(n < 100000);
		list_open(&list, events, CTX_COUNT_OF(events), 100);
		fail_after = n;
		status = ctx_ingest(&list.source, path, &options, NULL, &err);
		if (fail_after >= 0)
			status = CTX_OK; /* nothing failed */
		else if (status == CTX_OK)
			status = CTX_E_NOMEM, assert_int_equal(unlink(path), 0); /* it was not needed */
		else if (access(path, F_OK) == 0)
			fail_msg("allocation %ld: %s, and a database", n, err.msg);
		fail_after = -1;
	}
	assert_int_equal(access(path, F_OK), 0);
	free(path);
}

static int make_directory(void **state)
{
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);

	(void)state;
	return n > 0 && mkdtemp(directory) != NULL ? 0 : -1;
}

static int remove_directory(void **state)
{
	(void)state;
	return ctx_dir_remove(directory, NULL) == CTX_OK ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ingest__an_address_space_agrees_with_an_array_of_pages),
		cmocka_unit_test(test_ingest__an_answer_holds_as_long_as_its_generation),
		cmocka_unit_test(test_ingest__an_address_is_resolved_in_the_current_mapping),
		cmocka_unit_test(test_ingest__an_address_is_resolved_to_the_latest_jit_function),
		cmocka_unit_test(test_ingest__functions_made_at_run_time_are_found_in_any_order),
		cmocka_unit_test(test_ingest__a_function_without_end_is_cut),
		cmocka_unit_test(test_ingest__kernel_addresses_are_looked_up_in_what_is_mapped_first),
		cmocka_unit_test(test_ingest__what_is_entered_exactly_is_found_one_byte_earlier),
		cmocka_unit_test(test_ingest__a_map_of_no_process_is_the_kernels),
		cmocka_unit_test(test_ingest__a_fork_has_the_maps_of_its_parent),
		cmocka_unit_test(test_ingest__copied_maps_are_bounded),
		cmocka_unit_test(test_ingest__a_perf_map_names_what_is_mapped_under_its_path),
		cmocka_unit_test(test_ingest__stacks_of_frame_pointers_without_their_root_are_counted),
		cmocka_unit_test(test_ingest__binding_a_function_belongs_to_its_stub),
		cmocka_unit_test(test_ingest__a_reused_tid_is_another_thread),
		cmocka_unit_test(test_ingest__a_life_ends_where_its_last_records_were_lost),
		cmocka_unit_test(test_ingest__a_life_goes_on_that_is_seen_after_a_loss),
		cmocka_unit_test(test_ingest__time_missed_by_the_clock_is_reported),
		cmocka_unit_test(test_ingest__short_threads_that_the_clock_does_not_see_are_reported),
		cmocka_unit_test(test_ingest__where_changes_are_missing_states_end),
		cmocka_unit_test(test_ingest__a_truncated_stack_is_below_its_own_function),
		cmocka_unit_test(test_ingest__each_reason_of_a_truncation_is_a_function),
		cmocka_unit_test(test_ingest__a_gap_and_an_execve_have_names),
		cmocka_unit_test(test_ingest__a_join_is_not_a_frame),
		cmocka_unit_test(test_ingest__a_source_that_breaks_its_rules_leaves_no_database),
		cmocka_unit_test(test_ingest__twice_or_with_one_thread_gives_the_same_bytes),
		cmocka_unit_test(test_ingest__whole_stacks_give_the_same_bytes_as_interned_ones),
		cmocka_unit_test(test_ingest__numbered_stacks_give_the_same_bytes_and_are_rarely_resolved),
		cmocka_unit_test(test_ingest__common_stacks_from_paths_are_those_of_a_walk),
		cmocka_unit_test(test_ingest__out_of_memory_for_debug_information_is_a_status),
		cmocka_unit_test(test_ingest__out_of_memory_is_a_status_and_leaves_no_database),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
