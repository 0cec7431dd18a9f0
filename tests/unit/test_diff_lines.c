/*
 * What is the same on both sides of a comparison: lines that moved, functions that were renamed.
 */
#include "base/mem.h"
#include "compare/line_matching.h"
#include "diff_fixture.h"
#include "failing_malloc.h"

#include <math.h>
#include <stdio.h>

static enum ctx_status text_of(void *context, uint32_t file, const char **ret, size_t *ret_n,
			       struct ctx_err *err)
{
	const struct world *world = context;

	assert_int_equal(file, 0);
	if (world->text == NULL)
		return ctx_err_set(err, CTX_E_NOTFOUND, "no text");
	*ret = world->text;
	*ret_n = strlen(world->text);
	return CTX_OK;
}

/* A sample of 10 ms of each line, in the one function "main"; `lines` ends with 0. */
static struct world *world_of_lines(const char *text, const uint32_t *lines)
{
	struct world *world = world_new(0);
	uint32_t n = 0;

	world->text = text;
	world->file = (struct ctx_source_file){.path = "/src/solve.c", .origin = "archive"};
	ctx_histogram_clear(&world->histogram);
	assert_int_equal(ctx_trie_init(&world->raw, NULL), CTX_OK);
	for (; lines[n] != 0; n++) {
		struct ctx_sample *sample = &world->samples[n];

		world->sites[n] =
			(struct ctx_site){.function = 0, .file = 0, .line = lines[n], .caller = CTX_NONE};
		world->locations[n] = (struct ctx_location){.function = 0, .address = n, .site = n};
		*sample = (struct ctx_sample){.time_ns = (200 + n) * MS, .weight = 10 * MS};
		assert_int_equal(ctx_trie_child(&world->raw, 0, n, &sample->raw_stack, NULL), CTX_OK);
		assert_int_equal(ctx_trie_child(&world->profile.cct, 0, 0, &sample->stack, NULL), CTX_OK);
		/* By stack and by raw stack: a number of both. */
		assert_int_equal(ctx_histogram_add(&world->histogram,
						   (struct ctx_hist_entry){.weight = 10 * MS,
									   .samples = 1,
									   .stack = sample->raw_stack},
						   NULL),
				 CTX_OK);
	}
	for (size_t i = n; i < N_SAMPLES; i++)
		world->samples[i].metric = N_METRICS; /* none that is asked for */
	world->code = (struct ctx_code){.raw_stacks = &world->raw,
					.locations = world->locations,
					.n_locations = n,
					.sites = world->sites,
					.n_sites = n,
					.files = &world->file,
					.n_files = 1};
	world->reader = (struct ctx_code_reader){.text = text_of, .context = world};
	world->fake.code = &world->code;
	world->fake.reader = &world->reader;
	world->fake.raw = &world->histogram;
	return world;
}

static void check_line(const struct ctx_diff *diff, uint32_t a, uint32_t b)
{
	for (size_t i = 0; i < diff->n; i++) {
		const struct ctx_diff_item *item = &diff->items.items[diff->rows[i].item];

		if (item->line[0] != a || item->line[1] != b)
			continue;
		assert_string_equal(item->file, "/src/solve.c");
		assert_true(diff->rows[i].weight[0] == (a != 0 ? 10.0 * MS : 0));
		assert_true(diff->rows[i].weight[1] == (b != 0 ? 10.0 * MS : 0));
		return;
	}
	fail_msg("no row of %u and %u", a, b);
}

static void test_diff_lines__are_the_same_where_they_moved(void **unused)
{
	static const char
		before[] = "int f(void)\n{\n\tstep();\n\treturn go(1, 2);\n}\n",
		after[] = "#include <x.h>\n\nint f(void)\n{\n\tlog();\n\tstep();\n\treturn go(1, 3);\n}\n";
	struct world *a = world_of_lines(before, (const uint32_t[]){3, 4, 0});
	struct world *b = world_of_lines(after, (const uint32_t[]){5, 6, 7, 0});
	struct ctx_report_source *sources[] = {fake_open(&a->fake), fake_open(&b->fake)};
	const struct ctx_diff_spec spec = spec_of(sources, CTX_DIFF_LINES, false);
	struct ctx_diff diff;
	enum ctx_status status = CTX_E_NOMEM;

	(void)unused;
	for (long i = 0; status != CTX_OK; i++) {
		fail_after = i;
		status = ctx_diff_make(&spec, &diff, NULL);
		fail_after = -1;
		assert_true(status == CTX_OK || status == CTX_E_NOMEM);
		assert_true(i < 1000);
	}
	assert_int_equal(diff.n, 3);
	check_line(&diff, 3, 6);
	check_line(&diff, 4, 7);
	check_line(&diff, 0, 5);
	ctx_diff_deinit(&diff);
	/* Without the text of one side: by number. */
	b->text = NULL;
	assert_int_equal(ctx_diff_make(&spec, &diff, NULL), CTX_OK);
	assert_int_equal(diff.n, 5);
	check_line(&diff, 3, 0);
	check_line(&diff, 0, 7);
	ctx_diff_deinit(&diff);
	b->sites[0].line = 4;
	assert_int_equal(ctx_diff_make(&spec, &diff, NULL), CTX_OK);
	check_line(&diff, 4, 4);
	ctx_diff_deinit(&diff);
	/* An id that does not exist. */
	b->sites[0].file = 1;
	assert_int_equal(ctx_diff_make(&spec, &diff, NULL), CTX_E_FORMAT);
	world_free(a);
	world_free(b);
}

static struct ctx_line_text text_at(const char *text)
{
	return (struct ctx_line_text){text, strlen(text)};
}

static void assert_lines(const char *a, const char *b, const uint32_t *expected, size_t n)
{
	uint32_t *b_of_a;
	size_t n_lines;

	assert_int_equal(ctx_lines_match(text_at(a), text_at(b), &b_of_a, &n_lines, NULL), CTX_OK);
	assert_int_equal(n_lines, n + 1);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(b_of_a[i + 1], expected[i]);
	free(b_of_a);
}

static void test_lines__match_by_text_wherever_they_are(void **unused)
{
	(void)unused;
	assert_lines("", "", NULL, 0);
	assert_lines("", "x\n", NULL, 0);
	assert_lines("x", "", (const uint32_t[]){0}, 1);
	assert_lines("a\nb\nc\n", "a\nb\nc", (const uint32_t[]){1, 2, 3}, 3);
	/* A block that moved, with lines that are everywhere. */
	assert_lines("f\n{\n}\ng\n{\n}\n", "g\n{\n}\nf\n{\n}\n", (const uint32_t[]){4, 5, 6, 1, 2, 3}, 6);
	/* Indented. */
	assert_lines("a\n  call();\nb\n", "a\n\tcall();\r\nb\n", (const uint32_t[]){1, 2, 3}, 3);
	/* Edited, one more in front of it. */
	assert_lines("begin\nsum += weight[i];\nend\n", "begin\nnew();\nsum += weights[i] * 2;\nend\n",
		     (const uint32_t[]){1, 3, 4}, 3);
	/* Nothing alike. */
	assert_lines("begin\nabc\nend\n", "begin\nxyz\nend\n", (const uint32_t[]){1, 0, 3}, 3);
	assert_true(ctx_line_likeness(text_at("abcd"), text_at("abcd")) == 1);
	assert_true(ctx_line_likeness(text_at("abcd"), text_at("wxyz")) == 0);
	assert_true(fabs(ctx_line_likeness(text_at("abc"), text_at("abd")) - 0.5) < 1e-9);
	assert_true(ctx_line_likeness(text_at(""), text_at("")) == 1);
}

/* Files of lines that are there once each, cut, shuffled and added to: each line is where it is found by looking. */
static void test_lines__match_as_by_looking_for_each(void **unused)
{
	(void)unused;
	for (int round = 0; round < 200; round++) {
		uint32_t of_a[40], of_b[40], *b_of_a;
		size_t n_a = below(40), n_b = below(40), n_lines, used = 0;
		char a[400] = "", b[400] = "";

		for (size_t i = 0; i < 40; i++) {
			size_t k = below(i + 1);

			of_a[i] = of_a[k];
			of_a[k] = (uint32_t)i;
		}
		memcpy(of_b, of_a, sizeof(of_b));
		for (size_t i = 0; i < 5; i++) {
			size_t x = below(40), y = below(40);
			uint32_t swapped = of_b[x];

			of_b[x] = of_b[y];
			of_b[y] = swapped;
		}
		/* No two are alike: letters of its own. */
		for (size_t i = 0; i < n_a; i++)
			sprintf(a + strlen(a), "%c%c%c\n", 'A' + of_a[i], 'A' + of_a[i], '!' + of_a[i] % 30);
		for (size_t i = 0; i < n_b; i++)
			sprintf(b + strlen(b), "%c%c%c\n", 'A' + of_b[i], 'A' + of_b[i], '!' + of_b[i] % 30);
		assert_int_equal(ctx_lines_match(text_at(a), text_at(b), &b_of_a, &n_lines, NULL), CTX_OK);
		for (size_t i = 0; i < n_a; i++) {
			uint32_t found = 0;

			for (size_t k = 0; k < n_b; k++)
				found = of_b[k] == of_a[i] ? (uint32_t)k + 1 : found;
			assert_int_equal(b_of_a[i + 1], found);
			used += found != 0;
		}
		assert_true(used <= n_b);
		free(b_of_a);
	}
}

/* ---- names ---- */

static void assert_renamed(const char *rule, const char *name, const char *expected)
{
	struct ctx_renames *renames;
	struct ctx_buf out CTX_AUTO_BUF = {0};

	assert_int_equal(ctx_renames_make(&rule, 1, &renames, NULL), CTX_OK);
	ctx_renames_put(renames, name, strlen(name), &out);
	ctx_buf_put_u8(&out, '\0');
	assert_string_equal((const char *)out.bytes, expected);
	ctx_renames_destroy(renames);
}

static void refuse_rename(const char *rule, const char *expected)
{
	struct ctx_renames *renames;
	struct ctx_err err = {0};

	assert_int_equal(ctx_renames_make(&rule, 1, &renames, &err), CTX_E_ARG);
	assert_non_null(strstr(err.msg, expected));
}

static void test_renames__replace_as_sed_does(void **unused)
{
	static const char *const both[] = {"old=mid", "mid=new"};
	struct ctx_renames *renames;
	struct ctx_buf out CTX_AUTO_BUF = {0};

	(void)unused;
	assert_renamed("old_(.*)=new_\\1", "old_sum", "new_sum");
	assert_renamed("o=0", "foo::bo", "f00::b0");
	assert_renamed("^v1::=v2::", "v1::v1::f", "v2::v1::f");
	assert_renamed("(a)(b)=\\2\\1[&]\\0\\&\\\\", "xaby", "xba[ab]ab&\\y");
	assert_renamed("operator\\=\\==equals", "T::operator==", "T::equals");
	assert_renamed("x*=-", "ab", "-a-b-");
	assert_renamed("(a)|(b)=<\\2>", "ab", "<><b>");
	assert_renamed("none=some", "main", "main");
	assert_renamed("main=", "main", "");
	assert_int_equal(ctx_renames_make(both, 2, &renames, NULL), CTX_OK);
	ctx_renames_put(renames, "old", 3, &out);
	assert_int_equal(out.n, 3);
	assert_memory_equal(out.bytes, "new", 3);
	ctx_renames_destroy(renames);
	assert_int_equal(ctx_renames_make(NULL, 0, &renames, NULL), CTX_OK);
	assert_null(renames);
	refuse_rename("abc", "--rename 'abc': expected RE=TEXT");
	refuse_rename("=abc", "expected RE=TEXT");
	refuse_rename("a\\=b", "expected RE=TEXT");
	refuse_rename("(=x", "--rename '(=x': ");
	refuse_rename("(a)=\\2", "\\2, but the expression has 1 groups");
}

static void assert_clone(const char *name, const char *expected)
{
	assert_int_equal(ctx_match_without_clones(name, strlen(name)), strlen(expected));
	assert_memory_equal(name, expected, strlen(expected));
}

static void test_matching__finds_renamed_functions_clones_and_build_ids(void **unused)
{
	struct world *worlds[] = {world_new(0), world_new(0)};
	const struct ctx_match_recording recordings[] = {{&worlds[0]->profile, CTX_COMPARE_A},
							 {&worlds[1]->profile, CTX_COMPARE_B}};
	const char *rule = "^rd$=read";
	struct ctx_match_spec spec = {.recordings = recordings, .n = 2};
	struct ctx_renames *renames;
	struct ctx_matching matching;

	(void)unused;
	assert_clone("f.isra.0", "f");
	assert_clone("f.constprop.0.isra.1.cold", "f");
	assert_clone("f(int) [clone .part.0]", "f(int)");
	assert_clone("f.llvm.1234", "f");
	assert_clone("f.0", "f.0");
	assert_clone("main.work", "main.work");
	assert_clone(".cold", ".cold");
	worlds[1]->functions[1].name = worlds[1]->functions[1].linkage_name = "parse.isra.0";
	worlds[1]->functions[3].name = worlds[1]->functions[3].linkage_name = "rd";
	worlds[1]->functions[4].name = worlds[1]->functions[4].linkage_name = "sub_4000";
	assert_int_equal(ctx_renames_make(&rule, 1, &renames, NULL), CTX_OK);
	spec.renames = renames;
	assert_int_equal(ctx_matching_make(&spec, &matching, NULL), CTX_OK);
	for (uint32_t i = 0; i < N_FUNCTIONS; i++)
		assert_int_equal(matching.item_of[0][i] == matching.item_of[1][i], i != 4);
	ctx_matching_deinit(&matching);
	for (int side = 0; side < 2; side++) {
		worlds[side]->objects[0].build_id = "c0ffee";
		for (uint32_t i = 0; i < N_FUNCTIONS; i++)
			worlds[side]->functions[i].offset = 0x1000 * i;
	}
	spec.renames = NULL;
	assert_int_equal(ctx_matching_make(&spec, &matching, NULL), CTX_OK);
	for (uint32_t i = 0; i < N_FUNCTIONS; i++)
		assert_int_equal(matching.item_of[0][i], matching.item_of[1][i]);
	ctx_matching_deinit(&matching);
	ctx_renames_destroy(renames);
	world_free(worlds[0]);
	world_free(worlds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_diff_lines__are_the_same_where_they_moved),
		cmocka_unit_test(test_lines__match_by_text_wherever_they_are),
		cmocka_unit_test(test_lines__match_as_by_looking_for_each),
		cmocka_unit_test(test_renames__replace_as_sed_does),
		cmocka_unit_test(test_matching__finds_renamed_functions_clones_and_build_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
