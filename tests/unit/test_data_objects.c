/* Data objects of this program itself: variables, members, padding, layouts, and what its instructions access. */
#include "symbols/data_objects.h"

#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum color { RED, GREEN };

struct inner {
	short s[2];
	double d;
};

typedef struct foo {
	int i;
	char c;
	long l;
	struct inner in;
	unsigned low : 3, high : 20;
	enum color color;
	struct foo *next;
	struct {
		char first, second;
	} unnamed;
} foo_t;

typedef struct {
	long a;
	union {
		int as_int;
		char as_text[12];
	};
} alias_t;

volatile int counter = 3;
foo_t thing = {.i = 1};
static foo_t things[3] = {{.i = 2}};
alias_t alias = {.a = 1};
int (*function)(void) = NULL;
static const char text[] = "text";

/* Compilers name types differently. */
#if defined(__clang__)
#define LONG "long"
#define SHORT "short"
#else
#define LONG "long int"
#define SHORT "short int"
#endif

static uint64_t bias;

static int find_bias(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	(void)context;
	bias = info->dlpi_addr;
	return 1; /* the program is the first */
}

static int begin(void **state)
{
	char path[4096] = "";
	struct ctx_data_objects *objects;
	struct ctx_file_request request = {
		.path = path, .build_id = "", .archive = "", .debug_root = "", .symfs = ""};

	dl_iterate_phdr(find_bias, NULL);
	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	assert_int_equal(ctx_data_objects_open(&request, &objects, NULL), CTX_OK);
	*state = objects;
	return 0;
}

static int end(void **state)
{
	ctx_data_objects_close(*state);
	return 0;
}

static void check(struct ctx_data_objects *objects, const volatile void *at, const char *object,
		  const char *member, uint64_t offset)
{
	struct ctx_data_name name;
	enum ctx_status status = ctx_data_objects_at(objects, (uintptr_t)at - bias, &name, NULL);

	if (status != CTX_OK)
		fail_msg("%s: status %d", member, status);
	if (object == NULL)
		assert_null(name.object);
	else
		assert_string_equal(name.object, object);
	if (member == NULL)
		assert_null(name.member);
	else
		assert_string_equal(name.member, member);
	assert_int_equal(name.offset, offset);
}

static void test_data_objects__variables_are_known_by_their_addresses(void **state)
{
	struct ctx_data_name name;

	check(*state, &counter, NULL, "{int counter}", 0);
	check(*state, (const volatile char *)&counter + 3, NULL, "{int counter}", 0);
	check(*state, &text[2], NULL, "{char text}", 0);
	check(*state, &function, NULL, "{pointer+function function}", 0);
	assert_int_equal(ctx_data_objects_at(*state, (uintptr_t)find_bias - bias, &name, NULL),
			 CTX_E_NOTFOUND);
	assert_int_equal(ctx_data_objects_at(*state, 0, &name, NULL), CTX_E_NOTFOUND);
	assert_int_equal(ctx_data_objects_at(*state, UINT64_MAX, &name, NULL), CTX_E_NOTFOUND);
}

static void test_data_objects__members_have_offsets_and_padding_has_none(void **state)
{
	static const char foo[] = "{structure:foo}";

	check(*state, &thing.i, foo, "{int i}", offsetof(foo_t, i));
	check(*state, &thing.c, foo, "{char c}", offsetof(foo_t, c));
	check(*state, &thing.c + 1, foo, NULL, offsetof(foo_t, c) + 1);
	check(*state, (char *)&thing.l + 7, foo, "{" LONG " l}", offsetof(foo_t, l));
	check(*state, &thing.in.s[1], foo, "{" SHORT " in.s}", offsetof(foo_t, in.s));
	check(*state, &thing.in.d, foo, "{double in.d}", offsetof(foo_t, in.d));
	check(*state, &thing.color, foo, "{enumeration:color color}", offsetof(foo_t, color));
	check(*state, &thing.next, foo, "{pointer+structure:foo next}", offsetof(foo_t, next));
	check(*state, &thing.unnamed.second, foo, "{char unnamed.second}", offsetof(foo_t, unnamed.second));
	/* Elements of arrays are alike. */
	check(*state, &things[2].in.d, foo, "{double in.d}", offsetof(foo_t, in.d));
	/* A structure without a tag has its typedef's name; of a union the first member counts. */
	check(*state, &alias.as_text[1], "{structure:alias_t}", "{int as_int}", offsetof(alias_t, as_int));
	check(*state, &alias.as_text[9], "{structure:alias_t}", "{char as_text}", offsetof(alias_t, as_text));
}

static void test_data_objects__layouts_have_all_members(void **state)
{
	struct ctx_data_layout layout;

	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(ctx_data_objects_layout(*state, i == 0 ? "foo" : "foo_t", &layout, NULL),
				 CTX_OK);
		assert_int_equal(layout.size, sizeof(foo_t));
		assert_string_equal(layout.object, "{structure:foo}");
		assert_int_equal(layout.n, 11);
		assert_string_equal(layout.members[3].text, "{array+" SHORT " in.s}");
		assert_int_equal(layout.members[3].size, 4);
		assert_int_equal(layout.members[4].offset, offsetof(foo_t, in.d));
		assert_string_equal(layout.members[10].text, "{char unnamed.second}");
	}
	assert_int_equal(ctx_data_objects_layout(*state, "alias_t", &layout, NULL), CTX_OK);
	assert_int_equal(layout.n, 3);
	assert_int_equal(ctx_data_objects_layout(*state, "no_such_type", &layout, NULL), CTX_E_NOTFOUND);
	assert_int_equal(ctx_data_objects_layout(*state, "color", &layout, NULL), CTX_E_NOTFOUND);
}

/* ---- instructions ---- */

/* Functions whose code is that of their source, whatever checks it. */
#define PLAIN __attribute__((noinline, no_sanitize("address", "undefined")))

PLAIN static void set_member(foo_t *foo, long value)
{
	foo->in.d = (double)value;
}

PLAIN static void set_element(foo_t *all, int i)
{
	all[i].l = 5;
}

PLAIN static int follow(const foo_t *foo)
{
	return foo->next->i;
}

PLAIN static int of_variable(void)
{
	return ++counter;
}

PLAIN static int of_frame(int n)
{
	foo_t local = {.i = 0};
	volatile int k = n;

	local.l = k;
	return (int)local.l + k;
}

/* What all bytes of a function's code access: nothing of a structure but the wanted members, and these. */
static void check_code(struct ctx_data_objects *objects, uintptr_t code, const char *wanted, const char *also)
{
	bool found = false, found_also = also == NULL;

	for (uint64_t at = code - bias; at < code - bias + 200; at++) {
		struct ctx_data_name before, name;

		if (ctx_data_objects_accessed(objects, at, false, &name, NULL) != CTX_OK)
			continue;
		if (name.object == NULL) {
			found |= strcmp(name.member, wanted) == 0;
			continue;
		}
		assert_string_equal(name.object, "{structure:foo}");
		found |= name.member != NULL && strcmp(name.member, wanted) == 0;
		found_also |= also != NULL && name.member != NULL && strcmp(name.member, also) == 0;
		/* The instruction behind it says the same, as the one before it. */
		for (uint64_t next = at + 1; next < at + 16; next++) {
			if (ctx_data_objects_accessed(objects, next, true, &before, NULL) == CTX_OK) {
				assert_string_equal(before.object != NULL ? before.object : "", name.object);
				break;
			}
		}
		if (found && found_also)
			return;
	}
	if (!found || !found_also)
		fail_msg("%s is not found", !found ? wanted : also);
}

static void test_data_objects__instructions_access_members(void **state)
{
#if defined(__x86_64__)
	static foo_t other;
	foo_t first = {.next = &other};

	set_member(&other, 1);
	set_element(things, 2);
	assert_int_equal(follow(&first) + of_variable() + of_frame(3), 4 + 6);
	check_code(*state, (uintptr_t)set_member, "{double in.d}", NULL);
	check_code(*state, (uintptr_t)set_element, "{" LONG " l}", NULL);
	check_code(*state, (uintptr_t)follow, "{pointer+structure:foo next}", "{int i}");
	check_code(*state, (uintptr_t)of_variable, "{int counter}", NULL);
	check_code(*state, (uintptr_t)of_frame, "{int k}", "{" LONG " l}");
#else
	(void)state;
	skip();
#endif
}

static void test_data_objects__addresses_in_memory_are_found_by_where_code_is_mapped(void **state)
{
	struct ctx_data_map map = {0};
	uint64_t address = 0;

	/* Wherever the first code is: its address in the file is added again. */
	for (uint64_t offset = 0; offset < 1 << 20; offset += 4096) {
		map.file_offset = offset;
		map.address = 0;
		if (ctx_data_objects_locate(*state, &map, 0, &address))
			break;
	}
	map.address = bias + address;
	assert_true(ctx_data_objects_locate(*state, &map, (uintptr_t)&counter, &address));
	assert_int_equal(address, (uintptr_t)&counter - bias);
	assert_false(ctx_data_objects_locate(*state, &map, (uintptr_t)&map, &address));
	map.file_offset = UINT64_MAX;
	assert_false(ctx_data_objects_locate(*state, &map, (uintptr_t)&counter, &address));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_data_objects__variables_are_known_by_their_addresses),
		cmocka_unit_test(test_data_objects__members_have_offsets_and_padding_has_none),
		cmocka_unit_test(test_data_objects__layouts_have_all_members),
		cmocka_unit_test(test_data_objects__instructions_access_members),
		cmocka_unit_test(test_data_objects__addresses_in_memory_are_found_by_where_code_is_mapped),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
