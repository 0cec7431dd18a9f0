/*
 * Printing reports in tests, and what must hold of any text and JSON.
 */
#ifndef CTX_TESTS_REPORT_PRINTING_H
#define CTX_TESTS_REPORT_PRINTING_H

#include "base/buf.h"
#include "base/mem.h"
#include "fake_source.h"
#include "report/names.h"
#include "report/report.h"
#include "report_golden.h"

#include <yajl/yajl_parse.h>

/* The report's text; free() it. */
static char *print_report(const char *name, struct fake_source *input, struct ctx_report_options options)
{
	const struct ctx_report_kind *kind = ctx_report_find(name);
	struct ctx_err err = {0};
	char *text = NULL;
	size_t n = 0;

	assert_non_null(kind);
	options.out = open_memstream(&text, &n);
	if (ctx_report_print(kind, fake_open(input), &options, &err) != CTX_OK)
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

/*
 * What no name may bring about: control characters, bytes that are no UTF-8, text that runs from
 * right to left.
 */
static inline void assert_harmless(const char *text, enum ctx_report_format format, size_t width)
{
	for (const char *c = text; *c != '\0'; c++)
		assert_true((unsigned char)*c >= 0x20 || *c == '\n' ||
			    (*c == '\r' && format == CTX_REPORT_CSV));
	assert_null(strstr(text, "\xe2\x80\xae"));
	assert_null(strstr(text, "\xc2\x9b"));
	assert_null(strchr(text, '\xff'));
	if (format == CTX_REPORT_TEXT)
		assert_fits(text, width);
	if (format == CTX_REPORT_JSON)
		assert_json(text);
}

static inline void assert_every_format(const char *report, struct fake_source *input,
				       struct ctx_report_options options, const char *golden, ...)
	CTX_PRINTF(4, 5);

/* A folded tree: text of two widths; JSON and CSV are not folded. */
static inline void assert_folded(struct fake_source *input, struct ctx_report_options options,
				 const char *name)
{
	char whole[128];

	for (options.width = 80; options.width <= 200; options.width += 120) {
		char *text = print_report("tree", input, options);

		assert_fits(text, options.width);
		snprintf(whole, sizeof(whole), "folded-%s-%u", name, options.width);
		assert_golden(whole, text);
		free(text);
	}
	for (options.format = CTX_REPORT_JSON; options.format <= CTX_REPORT_CSV; options.format++) {
		char *folded = print_report("tree", input, options), *unfolded;

		options.no_fold = true;
		unfolded = print_report("tree", input, options);
		options.no_fold = false;
		assert_string_equal(folded, unfolded);
		free(folded);
		free(unfolded);
	}
}

/*
 * Text of two widths, JSON and CSV against golden files of the name `golden`; a tree unfolded, and
 * folded besides.
 */
static inline void assert_every_format(const char *report, struct fake_source *input,
				       struct ctx_report_options options, const char *golden, ...)
{
	static const struct {
		const char *suffix;
		enum ctx_report_format format;
		unsigned width;
	} ways[] = {{"-80", CTX_REPORT_TEXT, 80},
		    {"-200", CTX_REPORT_TEXT, 200},
		    {".json", CTX_REPORT_JSON, 0},
		    {".csv", CTX_REPORT_CSV, 0}};
	char name[100], whole[128];
	va_list args;

	va_start(args, golden);
	vsnprintf(name, sizeof(name), golden, args);
	va_end(args);
	if (strcmp(report, "tree") == 0 && !options.no_fold)
		assert_folded(input, options, name);
	for (size_t i = 0; i < CTX_COUNT_OF(ways); i++) {
		char *text;

		options.no_fold |= strcmp(report, "tree") == 0;
		options.format = ways[i].format;
		options.width = ways[i].width;
		text = print_report(report, input, options);
		if (options.width != 0)
			assert_fits(text, options.width);
		if (options.format == CTX_REPORT_JSON)
			assert_json(text);
		snprintf(whole, sizeof(whole), "%s%s", name, ways[i].suffix);
		assert_golden(whole, text);
		free(text);
	}
}

/* What one of the functions of names.h that cut makes of a text. */
static inline void assert_cut(void (*cut)(struct ctx_buf *buf, const char *text, size_t n, size_t width,
					  bool ascii),
			      const char *text, size_t width, bool ascii, const char *want)
{
	struct ctx_buf buf = {0};

	cut(&buf, text, strlen(text), width, ascii);
	ctx_buf_put_u8(&buf, 0);
	assert_string_equal((const char *)buf.bytes, want);
	ctx_buf_deinit(&buf);
}

#endif
