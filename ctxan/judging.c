#include "ctxan/judging.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "ctxan/comparing.h"
#include "report/rule_rows.h"
#include "report/rules_report.h"

#include <string.h>

#define DEFAULT_NAME "default"
#define SHOWN 20u /* findings of a rule in text and Markdown */

/* The line of the text, with blanks for tabs, to be shown with a caret below it. NULL: no memory. */
static char *line_at(const char *text, size_t n, size_t line)
{
	const char *end = text + n;
	char *copy;

	while (--line > 0) {
		const char *next = memchr(text, '\n', (size_t)(end - text));

		text = next != NULL ? next + 1 : end;
	}
	n = (size_t)(end - text);
	for (size_t i = 0; i < n; i++) {
		if (text[i] == '\n' || text[i] == '\0')
			n = i;
	}
	copy = ctx_memdup0(text, n);
	for (char *at = copy; at != NULL && *at != '\0'; at++)
		*at = *at == '\t' ? ' ' : *at;
	return copy;
}

enum ctx_status ctx_judging_load(struct ctx_baseline_options *baseline, struct ctx_wrong_place *ret_place,
				 struct ctx_err *err)
{
	struct ctx_buf text CTX_AUTO_BUF = {0};
	struct ctx_rule_place place = {0};
	enum ctx_status status = CTX_OK;

	if (strcmp(baseline->rules, DEFAULT_NAME) == 0)
		ctx_buf_put_text(&text, ctx_rules_default());
	else
		status = ctx_file_read(baseline->rules, CTX_RULES_TEXT_MAX, &text, err);
	if (status == CTX_E_NOTFOUND)
		return ctx_err_set(err, status,
				   "--rules %s: no such file (--rules default needs none: docs/rules.md)",
				   baseline->rules);
	if (status == CTX_OK)
		status = ctx_buf_check(&text, err);
	if (status != CTX_OK)
		return status;
	status = ctx_rules_parse(text.bytes != NULL ? (const char *)text.bytes : "", text.n,
				 &baseline->parsed, &place, err);
	if (status == CTX_OK)
		return CTX_OK;
	if (place.line != 0) {
		baseline->wrong_line = line_at((const char *)text.bytes, text.n, place.line);
		*ret_place = (struct ctx_wrong_place){baseline->wrong_line, place.column};
	}
	return ctx_err_prefix(err, status, "%s", baseline->rules);
}

static enum ctx_status judge(struct ctx_options *options, const struct ctx_comparing *opened,
			     struct ctx_err *err)
{
	const struct ctx_diff_side sides[CTX_COMPARE_SIDES] = {ctx_comparing_side(opened, CTX_COMPARE_A),
							       ctx_comparing_side(opened, CTX_COMPARE_B)};
	struct ctx_baseline_options *baseline = &options->baseline;
	struct ctx_rules_report report = {.rules = baseline->parsed,
					  .name = baseline->rules,
					  .sides = sides,
					  .limit = options->limit_given ? options->report.limit : SHOWN,
					  .ascii = options->report.ascii};
	const struct ctx_weighting *weighting = &options->diff.weighting;
	struct ctx_rule_world *world;
	struct ctx_rule_findings findings;
	enum ctx_status status = ctx_rule_world_make(
		&(struct ctx_rule_world_spec){baseline->parsed,
					      {sides[CTX_COMPARE_A], sides[CTX_COMPARE_B]},
					      ctx_comparing_renames(opened),
					      weighting->weights == CTX_WEIGHTS_PER_COUNT ? weighting : NULL},
		&world, err);

	if (status != CTX_OK)
		return status;
	status = ctx_rules_apply(baseline->parsed, ctx_rule_world_rows(world), &findings, err);
	if (status == CTX_OK) {
		report.findings = &findings;
		status = ctx_rules_report_print(&report, baseline->format, options->report.out, err);
		baseline->failed = ctx_rule_findings_count(baseline->parsed, &findings, CTX_RULE_FAIL) != 0;
		ctx_rule_findings_deinit(&findings);
	}
	ctx_rule_world_destroy(world);
	return status;
}

enum ctx_status ctx_judging_answer(struct ctx_options *options, const char *input, struct ctx_err *err)
{
	struct ctx_comparing *opened;
	enum ctx_status status = ctx_comparing_open(options, input, &opened, err);

	if (status != CTX_OK)
		return status;
	status = judge(options, opened, err);
	ctx_comparing_close(opened);
	return status;
}
