/*
 * Names of functions after an ingest, on programs that the test builds: functions of one name, and
 * addresses without one.
 */
#include "base/fileio.h"
#include "base/mem.h"
#include "ingest/resolver.h"
#include "shell_commands.h"

#include <string.h>
#include <unistd.h>

#define TWINS 3u

static char directory[] = "/tmp/ctx-names-XXXXXX";

/* main.c has one function `twin` and the only `single`, first/b.c and second/b.c one `twin` each. */
static void build_program(const char *flags)
{
	static const char *const files[] = {"main.c", "first/b.c", "second/b.c"};

	run("cd %s && rm -rf * && mkdir first second", directory);
	for (size_t i = 0; i < CTX_COUNT_OF(files); i++)
		run("cd %s && echo 'static int twin(int x) { return x + %zu; } int call_%zu(int x) { return "
		    "twin(x); }' >%s",
		    directory, i, i, files[i]);
	run("cd %s && echo 'static int single(int x) { return x; } int main(void) { return single(0); }' "
	    ">>main.c && cc -O0 -fno-inline %s main.c first/b.c second/b.c -o program",
	    directory, flags);
}

/* The addresses of all functions of that name, ascending. */
static size_t addresses_of(const char *function, uint64_t *ret, size_t room)
{
	char command[256];
	unsigned long long address;
	size_t n = 0;
	FILE *nm;

	snprintf(command, sizeof(command), "nm %s/program | sed -n 's/ t %s$//p' | sort", directory,
		 function);
	nm = popen(command, "r");
	assert_non_null(nm);
	while (n < room && fscanf(nm, "%llx", &address) == 1)
		ret[n++] = address;
	pclose(nm);
	return n;
}

/* Every address becomes a function; the names in the order of the addresses, with spaces between. */
static void resolve(const char *function, size_t want, char *names, size_t size)
{
	const struct ctx_resolver_options options = {.kallsyms = "", .debug_root = "", .symfs = ""};
	char *path CTX_AUTO_FREE = ctx_path_join(directory, "program");
	const struct ctx_map_event map = {.path = path, .build_id = "", .archive = "", .function = ""};
	struct ctx_arena arena = {0};
	struct ctx_profile profile = {0};
	struct ctx_resolver *resolver;
	uint64_t addresses[8];
	size_t n = addresses_of(function, addresses, CTX_COUNT_OF(addresses)), used = 0;
	uint32_t object, locations[8];

	assert_int_equal(n, want);
	assert_int_equal(ctx_resolver_create(&options, &arena, &resolver, NULL), CTX_OK);
	assert_int_equal(ctx_resolver_object(resolver, &map, &object, NULL), CTX_OK);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(ctx_resolver_in_object(resolver, object, addresses[i], &locations[i], NULL),
				 CTX_OK);
	assert_int_equal(ctx_resolver_tell_apart(resolver, NULL), CTX_OK);
	for (size_t i = 0; i < n; i++)
		used += (size_t)snprintf(
			names + used, size - used, "%s%s", i != 0 ? ", " : "",
			ctx_resolver_function_name(resolver,
						   ctx_resolver_location_function(resolver, locations[i])));
	assert_int_equal(ctx_resolver_take(resolver, &profile, NULL), CTX_OK);
	for (uint32_t i = 0; i < profile.n_functions; i++)
		assert_true(profile.functions[i].kind != CTX_FUNCTION_ORDINARY ||
			    strcmp(profile.functions[i].linkage_name, function) == 0);
	ctx_resolver_destroy(resolver);
	free(profile.functions);
	free(profile.objects);
	ctx_arena_deinit(&arena);
}

static void test_resolver_names__functions_of_one_name_have_their_file(void **state)
{
	char names[256];

	(void)state;
	need_command("cc");
	build_program("-g");
	resolve("twin", TWINS, names, sizeof(names));
	assert_string_equal(names, "twin (main.c), twin (first/b.c), twin (second/b.c)");
	resolve("single", 1, names, sizeof(names));
	assert_string_equal(names, "single");
}

/* The symbol table alone knows names of files without folders. */
static void test_resolver_names__without_lines_the_symbols_tell_the_file(void **state)
{
	char names[256];

	(void)state;
	need_command("cc");
	build_program("-g0");
	resolve("twin", TWINS, names, sizeof(names));
	assert_string_equal(names, "twin (main.c), twin (b.c), twin (b.c)");
}

/* One file, included by several units: there is nothing to tell them apart by. */
static void test_resolver_names__functions_of_one_file_keep_their_name(void **state)
{
	char names[256];

	(void)state;
	need_command("cc");
	build_program("-g");
	run("cd %s && echo 'static int twin(int x) { return x; }' >twin.h && "
	    "for i in 0 1 2; do echo \"#include \\\"twin.h\\\"\nint call_$i(int x) { return twin(x); }\" "
	    ">unit$i.c; done && echo 'int main(void) { return 0; }' >>unit0.c && "
	    "cc -O0 -g unit0.c unit1.c unit2.c -o program",
	    directory);
	resolve("twin", TWINS, names, sizeof(names));
	assert_string_equal(names, "twin, twin, twin");
}

/* A missing binary: few addresses are apart, many are by page, and each keeps its function. */
static void test_resolver_names__addresses_without_names_are_apart_or_by_page(void **state)
{
	const struct ctx_resolver_options options = {.kallsyms = "", .debug_root = "", .symfs = ""};
	const struct ctx_map_event map = {
		.path = "/no/such/file", .build_id = "0123", .archive = "", .function = ""};
	struct ctx_arena arena = {0};
	struct ctx_profile profile = {0};
	struct ctx_resolver *resolver;
	uint32_t object, functions[300], again;

	(void)state;
	assert_int_equal(ctx_resolver_create(&options, &arena, &resolver, NULL), CTX_OK);
	assert_int_equal(ctx_resolver_object(resolver, &map, &object, NULL), CTX_OK);
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < CTX_COUNT_OF(functions); i++) {
			uint32_t location;

			assert_int_equal(
				ctx_resolver_in_object(resolver, object, 0x1234 + 64 * i, &location, NULL),
				CTX_OK);
			again = ctx_resolver_location_function(resolver, location);
			assert_true(round == 0 || again == functions[i]);
			functions[i] = again;
		}
	}
	assert_int_equal(ctx_resolver_take(resolver, &profile, NULL), CTX_OK);
	assert_string_equal(profile.functions[functions[0]].name, "<Unknown>@0x1234");
	assert_string_equal(profile.functions[functions[63]].name, "<Unknown>@0x21f4");
	assert_string_equal(profile.functions[functions[64]].name, "<Unknown>@0x2000-0x2fff");
	assert_int_equal(functions[64], functions[65]);
	assert_string_equal(profile.functions[functions[299]].name, "<Unknown>@0x5000-0x5fff");
	/* The two artificial ones, 64 addresses, 4 pages. */
	assert_int_equal(profile.n_functions, 2 + 64 + 4);
	for (uint32_t i = 2; i < profile.n_functions; i++) {
		assert_int_equal(profile.functions[i].kind, CTX_FUNCTION_UNKNOWN);
		assert_int_equal(profile.functions[i].object, object);
	}
	ctx_resolver_destroy(resolver);
	free(profile.functions);
	free(profile.objects);
	ctx_arena_deinit(&arena);
}

static int make_directory(void **state)
{
	(void)state;
	return mkdtemp(directory) != NULL ? 0 : -1;
}

static int remove_directory(void **state)
{
	(void)state;
	return ran("rm -rf %s", directory) ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resolver_names__functions_of_one_name_have_their_file),
		cmocka_unit_test(test_resolver_names__without_lines_the_symbols_tell_the_file),
		cmocka_unit_test(test_resolver_names__functions_of_one_file_keep_their_name),
		cmocka_unit_test(test_resolver_names__addresses_without_names_are_apart_or_by_page),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
