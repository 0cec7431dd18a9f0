/*
 * The parser driven by rows, the manual text, and that the two agree in both programs.
 */
#include "base/manual.h"
#include "base/mem.h"
#include "base/option_table.h"
#include "collect/recargs.h"
#include "ctxan/export_kinds.h"
#include "ctxan/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct sample_options {
	bool loud;
	const char *color;
	uint32_t size;
	char order[16]; /* letters of options in the order in which they were set */
};

static enum ctx_status set_color(void *context, const struct ctx_option *option, const char *value,
				 struct ctx_err *err)
{
	int choice = 0;
	enum ctx_status status = ctx_option_choice(option, value, &choice, err);

	strcat(((struct sample_options *)context)->order, "c");
	return status == CTX_OK ? ctx_option_set_text(context, option, option->words[choice], err) : status;
}

static enum ctx_status set_size(void *context, const struct ctx_option *option, const char *value,
				struct ctx_err *err)
{
	strcat(((struct sample_options *)context)->order, "s");
	return ctx_option_set_number(context, option, value, err);
}

static const char *const colors[] = {"red", "green", NULL};
static const struct ctx_option rows[] = {
	{"loud", 'l', CTX_OPTION_FLAG, .set = ctx_option_set_flag,
	 .at = offsetof(struct sample_options, loud)},
	{"color", 'c', CTX_OPTION_TEXT, .set = set_color, .alias = "colour", .words = colors,
	 .at = offsetof(struct sample_options, color)},
	{"size", 0, CTX_OPTION_TEXT, .set = set_size, .at = offsetof(struct sample_options, size), .min = 2,
	 .max = 9},
};
static const struct ctx_option_table permuting = {.program = "paint", .rows = rows, .n_rows = 3};
static const struct ctx_option_table stopping = {
	.program = "paint", .rows = rows, .n_rows = 3, .stops_at_argument = true};

#define WORDS(...) ((char *[]){(char *)"paint", __VA_ARGS__, NULL})

static enum ctx_status parse(const struct ctx_option_table *table, char **words,
			     struct sample_options *options, int *ret_first, struct ctx_err *err)
{
	struct ctx_arguments arguments = {.words = words};
	enum ctx_status status;

	while (words[arguments.n] != NULL)
		arguments.n++;
	*options = (struct sample_options){0};
	status = ctx_option_parse(table, &arguments, options, err);
	*ret_first = arguments.first;
	return status;
}

static void test_option_table__takes_values_in_every_notation(void **state)
{
	struct sample_options options;
	int first;

	(void)state;
	assert_int_equal(parse(&permuting, WORDS("wall", "--size=3", "-cred", "-l"), &options, &first, NULL),
			 CTX_OK);
	assert_true(options.loud);
	assert_string_equal(options.color, "red");
	assert_int_equal(options.size, 3);
	assert_string_equal(options.order, "sc");
	assert_int_equal(first, 4); /* "wall" moved behind the options */
	assert_int_equal(parse(&permuting, WORDS("--colour", "green", "--si", "9"), &options, &first, NULL),
			 CTX_OK);
	assert_string_equal(options.color, "green");
	assert_int_equal(options.size, 9);
	assert_int_equal(parse(&permuting, WORDS("--col", "red", "--", "-l"), &options, &first, NULL),
			 CTX_OK);
	assert_false(options.loud);
	assert_int_equal(first, 4);
}

static void test_option_table__an_argument_ends_the_options_where_that_is_asked_for(void **state)
{
	char **words = WORDS("-l", "echo", "-c", "blue");
	struct sample_options options;
	int first;

	(void)state;
	assert_int_equal(parse(&stopping, words, &options, &first, NULL), CTX_OK);
	assert_int_equal(first, 2);
	assert_string_equal(words[first], "echo");
	assert_null(options.color);
}

static void refuse(char **words, const char *message)
{
	struct sample_options options;
	struct ctx_err err = {0};
	int first;

	assert_int_equal(parse(&permuting, words, &options, &first, &err), CTX_E_ARG);
	assert_string_equal(err.msg, message);
}

static void test_option_table__an_error_names_option_and_value(void **state)
{
	(void)state;
	refuse(WORDS("--colr=red"), "unknown option '--colr', perhaps --color (see paint --help)");
	refuse(WORDS("--qqqq"), "unknown option '--qqqq' (see paint --help)");
	refuse(WORDS("-lZ"), "unknown option '-Z' (see paint --help)");
	refuse(WORDS("--size"), "option '--size' needs a value (see paint --help)");
	refuse(WORDS("-c"), "option '-c' needs a value (see paint --help)");
	refuse(WORDS("--loud=yes"), "option '--loud=yes' takes no value (see paint --help)");
	refuse(WORDS("--size", "10"), "--size '10': a number from 2 to 9 is wanted");
	refuse(WORDS("--size", "-3"), "--size '-3': a number from 2 to 9 is wanted");
	refuse(WORDS("--size", "99999999999999999999"),
	       "--size '99999999999999999999': a number from 2 to 9 is wanted");
	refuse(WORDS("--color", "blue"), "--color 'blue' is not known (red, green)");
}

static const char small_manual[] = "Usage: paint\n"
				   "|.SH NAME\n"
				   "\n"
				   "What to paint:\n"
				   "  -c, --color red|green  the color\n"
				   "                         of it\n"
				   "| More of it.\n"
				   "      --size N  how large\n"
				   "        wall             flat\n"
				   "        and more of these, as they come\n"
				   "|";

static void expect_line(const char **at, enum ctx_manual_kind kind, const char *term, const char *text)
{
	struct ctx_manual_line line;

	assert_true(ctx_manual_next(at, &line));
	assert_int_equal(line.kind, kind);
	assert_int_equal(line.term_n, strlen(term));
	assert_memory_equal(line.term_n != 0 ? line.term : "", term, line.term_n);
	assert_int_equal(line.text_n, strlen(text));
	assert_memory_equal(line.text, text, line.text_n);
}

static void test_manual__lines_are_of_five_kinds(void **state)
{
	const char *at = small_manual;
	struct ctx_manual_line line;

	(void)state;
	expect_line(&at, CTX_MANUAL_TEXT, "", "Usage: paint");
	expect_line(&at, CTX_MANUAL_PAGE, "", ".SH NAME");
	expect_line(&at, CTX_MANUAL_TEXT, "", "");
	assert_true(ctx_manual_next(&at, &line));
	assert_int_equal(line.kind, CTX_MANUAL_HEADING);
	assert_int_equal(line.term_n, strlen("What to paint"));
	expect_line(&at, CTX_MANUAL_OPTION, "-c, --color red|green", "the color");
	expect_line(&at, CTX_MANUAL_TEXT, "", "of it");
	expect_line(&at, CTX_MANUAL_PAGE, "", "More of it.");
	expect_line(&at, CTX_MANUAL_OPTION, "--size N", "how large");
	expect_line(&at, CTX_MANUAL_ITEM, "wall", "flat");
	expect_line(&at, CTX_MANUAL_TEXT, "", "and more of these, as they come");
	expect_line(&at, CTX_MANUAL_PAGE, "", "");
	assert_false(ctx_manual_next(&at, &line));
}

static void test_manual__help_is_all_but_the_lines_of_the_page(void **state)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	(void)state;
	assert_non_null(out);
	ctx_manual_print_help("one\n|two\n\n  three|\n", out);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text, "one\n\n  three|\n");
	free(text);
}

/* "-i, --interval BEGIN:END", "    --exact", "    --coverage top|exact" */
static void check_term(const struct ctx_option *row, const struct ctx_manual_line *line)
{
	char want[128], *end = want;

	if (row->letter != '\0')
		end += sprintf(end, "-%c, ", row->letter);
	end += sprintf(end, "--%s", row->name);

	if (line->term_n < (size_t)(end - want) || memcmp(line->term, want, (size_t)(end - want)) != 0)
		fail_msg("'%.*s' in the manual is not '%s' of the table", (int)line->term_n, line->term,
			 want);
	if ((row->value != CTX_OPTION_FLAG) != (line->term_n > (size_t)(end - want)))
		fail_msg("'%.*s': table and manual differ in whether it has a value", (int)line->term_n,
			 line->term);
	/* A value in small letters lists what there is. */
	if (row->value == CTX_OPTION_FLAG || line->term[end - want + 1] < 'a')
		return;
	*end++ = ' ';
	*end = '\0';
	for (size_t i = 0; ctx_option_word(row, i) != NULL; i++)
		end += sprintf(end, "%s%s", i != 0 ? "|" : "", ctx_option_word(row, i));
	assert_int_equal(line->term_n, strlen(want));
	assert_memory_equal(line->term, want, line->term_n);
}

/* The words of an item: "json, csv" has two. */
static size_t check_item(const struct ctx_option *row, size_t i, const struct ctx_manual_line *line)
{
	for (const char *at = line->term, *end = at + line->term_n; at < end; i++) {
		size_t n = strcspn(at, ", ");
		const char *word = ctx_option_word(row, i);

		if (word == NULL || strlen(word) != n || memcmp(word, at, n) != 0)
			fail_msg("--%s: the manual has '%.*s' where the table has '%s'", row->name, (int)n,
				 at, word != NULL ? word : "nothing");
		at += n + strspn(at + n, ",");
		at += at < end ? strspn(at, " ") : 0;
	}
	return i;
}

/*
 * Each row has one entry, each entry a row, in the same order; so have the words of another table.
 */
static void check_agreement(const struct ctx_option_table *table)
{
	struct ctx_manual_line line;
	const struct ctx_option *row = NULL;
	size_t n_rows = 0, n_items = 0;

	for (const char *at = table->manual; ctx_manual_next(&at, &line);) {
		if (line.kind == CTX_MANUAL_OPTION) {
			if (row != NULL && row->word_at != NULL)
				assert_null(row->word_at(n_items));
			if (n_rows == table->n_rows)
				fail_msg("no row for '%.*s'", (int)line.term_n, line.term);
			row = &table->rows[n_rows++];
			n_items = 0;
			check_term(row, &line);
		} else if (line.kind == CTX_MANUAL_ITEM) {
			assert_non_null(row);
			n_items = check_item(row, n_items, &line);
		}
	}
	assert_int_equal(n_rows, table->n_rows);
}

static void test_options__tables_and_manuals_agree(void **state)
{
	(void)state;
	check_agreement(&ctx_options_table);
	check_agreement(&ctx_rec_options_table);
}

static void test_options__names_and_letters_are_unique(void **state)
{
	const struct ctx_option_table *tables[] = {&ctx_options_table, &ctx_rec_options_table};

	(void)state;
	for (size_t t = 0; t < CTX_COUNT_OF(tables); t++) {
		const struct ctx_option *all = tables[t]->rows;

		for (size_t i = 0; i < tables[t]->n_rows; i++) {
			for (size_t j = 0; j < i; j++) {
				assert_string_not_equal(all[i].name, all[j].name);
				assert_true(all[i].letter == '\0' || all[i].letter != all[j].letter);
			}
		}
	}
}

/* Reports and formats are the items of --report and --export: all of them. */
static void test_options__reports_and_formats_are_in_the_manual(void **state)
{
	size_t n = 0;

	(void)state;
	for (const struct ctx_report_kind *const *kind = ctx_report_kinds(); *kind != NULL; kind++, n++)
		assert_string_equal(ctx_option_word(&ctx_options_table.rows[0], n), (*kind)->name);
	assert_null(ctx_option_word(&ctx_options_table.rows[0], n));
	for (size_t i = 0; i < ctx_options_table.n_rows; i++) {
		if (strcmp(ctx_options_table.rows[i].name, "export") != 0)
			continue;
		for (n = 0; ctx_export_kind_at(n) != NULL; n++)
			assert_string_equal(ctx_option_word(&ctx_options_table.rows[i], n),
					    ctx_export_kind_at(n)->name);
		assert_string_equal(ctx_option_word(&ctx_options_table.rows[i], n), "json");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_option_table__takes_values_in_every_notation),
		cmocka_unit_test(test_option_table__an_argument_ends_the_options_where_that_is_asked_for),
		cmocka_unit_test(test_option_table__an_error_names_option_and_value),
		cmocka_unit_test(test_manual__lines_are_of_five_kinds),
		cmocka_unit_test(test_manual__help_is_all_but_the_lines_of_the_page),
		cmocka_unit_test(test_options__tables_and_manuals_agree),
		cmocka_unit_test(test_options__names_and_letters_are_unique),
		cmocka_unit_test(test_options__reports_and_formats_are_in_the_manual),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
