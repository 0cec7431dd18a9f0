/*
 * Reports as HTML tables: well-formed, linked within the page, harmless, whatever is printed to it.
 */
#include "base/mem.h"
#include "report/embedded.h"
#include "report/html_tables.h"
#include "report_fixture.h"
#include "xml_document.h"

#define HOSTILE "]]></script></style></title><script>alert(1)</script><!-- & \"'"

static const char *const reports[] = {"header",	 "overview",  "samples",	 "functions",
				      "objects", "tree",      "callers-callees", "stacks",
				      "threads", "processes", "timeline"};

/* All reports on one page, for each of `n` recordings; free() it. */
static char *print_page(struct fixture *fixture, struct ctx_report_options options, size_t n)
{
	struct ctx_html_tables *page = NULL;
	struct ctx_err err = {0};
	char *text = NULL;
	size_t size = 0;

	assert_int_equal(ctx_html_tables_create(&page, NULL), CTX_OK);
	options.format = CTX_REPORT_HTML;
	options.page = page;
	options.out = open_memstream(&text, &size);
	for (size_t i = 0; i < n; i++) {
		ctx_html_tables_recording(page, fixture->profile.name);
		for (size_t j = 0; j < CTX_COUNT_OF(reports); j++) {
			if (fake_print(reports[j], &fixture->input, &options, &err) != CTX_OK)
				fail_msg("%s: %s", reports[j], err.msg);
		}
	}
	fflush(options.out);
	assert_int_equal(size, 0); /* links are known when all is printed */
	assert_int_equal(ctx_html_tables_write(page, options.out, &err), CTX_OK);
	fclose(options.out);
	ctx_html_tables_destroy(page);
	return text;
}

static size_t occurrences(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)) != NULL; text++)
		n++;
	return n;
}

static void test_html_tables__names_lead_to_stanzas_and_rows(void **state)
{
	char *text = print_page(*state, (struct ctx_report_options){.sort = NULL}, 1);
	xmlDoc *document = parse(text);

	check_links(document);
	assert_int_equal(count(document, "h1"), 1);
	assert_int_equal(count(document, "h2"), CTX_COUNT_OF(reports));
	assert_int_equal(count(document, "script"), 0);
	assert_non_null(strstr(text, "<a href=\"#s2\">walk</a>"));
	assert_non_null(strstr(text, "<tr id=\"s2\" class=\"self\">"));
	/* From its stanza it goes back to its row. */
	assert_non_null(strstr(text, "<a href=\"#f2\">walk</a>"));
	assert_non_null(strstr(text, "<tr id=\"f2\">"));
	xmlFreeDoc(document);
	free(text);
}

static void test_html_tables__rows_beyond_a_limit_are_counted_and_not_linked(void **state)
{
	char *text = print_page(*state, (struct ctx_report_options){.limit = 2}, 1);
	xmlDoc *document = parse(text);

	check_links(document);
	assert_non_null(strstr(text, "<p class=\"faint\">(6 more functions)</p>"));
	assert_null(strstr(text, "start_thread</a>"));
	xmlFreeDoc(document);
	free(text);
}

/* The same warning is not said of each report again; a recording has its own places. */
static void test_html_tables__several_recordings_are_one_page(void **state)
{
	static const char *warnings[] = {"perf_event_paranoid is 2: no kernel samples"};
	struct fixture *fixture = *state;
	char *text;
	xmlDoc *document;

	fixture->profile.warnings = warnings;
	fixture->profile.n_warnings = 1;
	text = print_page(fixture, (struct ctx_report_options){.limit = 0}, 2);
	document = parse(text);
	check_links(document);
	assert_int_equal(count(document, "h1"), 2);
	assert_int_equal(occurrences(text, warnings[0]), 2);
	assert_non_null(strstr(text, "<a href=\"#s2-2\">walk</a>"));
	xmlFreeDoc(document);
	free(text);
}

static void test_html_tables__hostile_names_are_text(void **state)
{
	struct fixture *fixture = *state;
	struct ctx_function_info hostile[CTX_COUNT_OF(functions)];
	static const char *const names[] = {HOSTILE, "\033[31mred\nline\ttab", "bad\xff\xc0utf",
					    "bidi\xe2\x80\xae"
					    "evil\xc2\x9b"
					    "31m",
					    ""};
	char *text;
	xmlDoc *document;
	xmlChar *content;

	memcpy(hostile, functions, sizeof(hostile));
	for (size_t i = 0; i < CTX_COUNT_OF(names); i++)
		hostile[i].name = names[i];
	fixture->profile.functions = hostile;
	fixture->profile.name = HOSTILE;
	fixture->profile.notes = HOSTILE "\nsecond line";
	fixture->input.filter = HOSTILE;
	text = print_page(fixture, (struct ctx_report_options){.limit = 0}, 1);
	fixture->profile.functions = functions;
	document = parse(text);
	content = xmlNodeGetContent(xmlDocGetRootElement(document));
	assert_non_null(strstr((const char *)content, HOSTILE));
	assert_int_equal(count(document, "script"), 0);
	assert_int_equal(count(document, "style"), 1);
	check_links(document);
	for (const char *c = text; *c != '\0'; c++)
		assert_true((unsigned char)*c >= 0x20 || *c == '\n' || *c == '\t');
	assert_null(strstr(text, "\xe2\x80\xae"));
	assert_null(strchr(text, '\xff'));
	xmlFree(content);
	xmlFreeDoc(document);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_fixture(test_html_tables__names_lead_to_stanzas_and_rows),
		with_fixture(test_html_tables__rows_beyond_a_limit_are_counted_and_not_linked),
		with_fixture(test_html_tables__several_recordings_are_one_page),
		with_fixture(test_html_tables__hostile_names_are_text),
	};

	return cmocka_run_group_tests_name("html_tables", tests, NULL, NULL);
}
