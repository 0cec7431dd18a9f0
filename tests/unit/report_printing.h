/*
 * Printing reports in tests, and what must hold of any text and JSON.
 */
#ifndef CTX_TESTS_REPORT_PRINTING_H
#define CTX_TESTS_REPORT_PRINTING_H

#include "report/names.h"
#include "report/report.h"
#include "report_golden.h"

#include <yajl/yajl_parse.h>

/* The report's text; free() it. */
static char *print_report(const char *name, const struct ctx_report_input *input,
			  struct ctx_report_options options)
{
	const struct ctx_report_kind *kind = ctx_report_find(name);
	struct ctx_err err = {0};
	char *text = NULL;
	size_t n = 0;

	assert_non_null(kind);
	options.out = open_memstream(&text, &n);
	if (kind->print(input, &options, &err) != CTX_OK)
		fail_msg("%s: %s", name, err.msg);
	fclose(options.out);
	return text;
}

static void assert_json(const char *text)
{
	yajl_handle parser = yajl_alloc(NULL, NULL, NULL);
	yajl_status status = yajl_parse(parser, (const unsigned char *)text, strlen(text));

	if (status == yajl_status_ok)
		status = yajl_complete_parse(parser);
	if (status != yajl_status_ok) {
		unsigned char *message = yajl_get_error(parser, 1, (const unsigned char *)text, strlen(text));

		fail_msg("%s", (const char *)message);
	}
	yajl_free(parser);
}

static void assert_fits(const char *text, size_t width)
{
	while (*text != '\0') {
		size_t n = strcspn(text, "\n");

		if (ctx_text_width(text, n) > width)
			fail_msg("wider than %zu columns: %.*s", width, (int)n, text);
		text += n + (text[n] == '\n');
	}
}

#endif
