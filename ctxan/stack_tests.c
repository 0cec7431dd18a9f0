#include "ctxan/stack_tests.h"

#include "base/buf.h"
#include "base/mem.h"

#include <regex.h>
#include <string.h>

/* By option: what is around the set of matching frames. */
static const struct {
	const char *option, *before, *after;
} tests[] = {
	{"focus", "STACK SOME IN ", ""},
	{"ignore", "!(STACK SOME IN ", ")"},
	{"show", "STACK SOME IN ", ""},
	{"hide", "!(STACK IN ", ")"},
};

static enum ctx_status check(const char *option, const char *pattern, struct ctx_err *err)
{
	char why[128];
	regex_t regex;
	int code = regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB);

	if (code == 0) {
		regfree(&regex);
		return CTX_OK;
	}
	regerror(code, &regex, why, sizeof(why));
	return ctx_err_set(err, CTX_E_ARG, "--%s '%.200s': %s", option, pattern, why);
}

/* A part of a name: filters' patterns match whole ones. */
static void put_pattern(struct ctx_buf *text, const char *any, const char *pattern)
{
	ctx_buf_printf(text, "\"%s(", any);
	for (; *pattern != '\0'; pattern++) {
		if (*pattern == '"')
			ctx_buf_put_u8(text, '\\');
		ctx_buf_put_u8(text, (uint8_t)*pattern);
	}
	ctx_buf_printf(text, ")%s\"", any);
}

static enum ctx_status add(struct ctx_selection_spec *spec, struct ctx_buf *text, struct ctx_buf *label,
			   struct ctx_err *err)
{
	enum ctx_status status;

	ctx_buf_put_u8(text, '\0');
	ctx_buf_put_u8(label, '\0');
	status = ctx_buf_check(text, err);
	if (status == CTX_OK)
		status = ctx_buf_check(label, err);
	if (status == CTX_OK)
		status = ctx_grow(&spec->tests, &spec->tests_cap, spec->n_tests + 1, err);
	if (status != CTX_OK)
		return status;
	spec->tests[spec->n_tests] = (struct ctx_stack_test){.expression = ctx_memdup0(text->bytes, text->n),
							     .label = ctx_memdup0(label->bytes, label->n)};
	if (spec->tests[spec->n_tests].expression == NULL || spec->tests[spec->n_tests].label == NULL)
		status = ctx_err_nomem(err);
	spec->n_tests++;
	return status;
}

enum ctx_status ctx_stack_test_add(struct ctx_selection_spec *spec, const char *option, const char *pattern,
				   struct ctx_err *err)
{
	struct ctx_buf text CTX_AUTO_BUF = {0}, label CTX_AUTO_BUF = {0};
	enum ctx_status status = check(option, pattern, err);
	size_t test = 0;

	if (status != CTX_OK)
		return status;
	while (test + 1 < CTX_COUNT_OF(tests) && strcmp(tests[test].option, option) != 0)
		test++;
	ctx_buf_put_text(&text, tests[test].before);
	ctx_buf_put_u8(&text, '(');
	put_pattern(&text, ".*", pattern);
	ctx_buf_put_text(&text, ", OBJECT(");
	put_pattern(&text, "[^/]*", pattern);
	ctx_buf_printf(&text, "))%s", tests[test].after);
	ctx_buf_printf(&label, "%s %s", option, pattern);
	return add(spec, &text, &label, err);
}
