#include "report/rules_report.h"

#include "report/names.h"

#include <math.h>
#include <string.h>

/* What is written, in a format's escapes. */
struct writing {
	const struct ctx_rules_report *report;
	struct ctx_buf out;
};

static void put(struct writing *writing, const char *text)
{
	ctx_buf_put_text(&writing->out, text);
}

static size_t count(const struct ctx_rules_report *report, enum ctx_rule_action action)
{
	return ctx_rule_findings_count(report->rules, report->findings, action);
}

static size_t n_unjudged(const struct ctx_rules_report *report)
{
	size_t n = 0;

	for (size_t i = 0; i < report->findings->n_rules; i++)
		n += report->findings->unjudged[i] != NULL;
	return n;
}

/* The findings of a rule are next to each other: [*at, the result). */
static size_t end_of_rule(const struct ctx_rules_report *report, uint32_t rule, size_t at)
{
	while (at < report->findings->n && report->findings->items[at].rule == rule)
		at++;
	return at;
}

static size_t shown(const struct ctx_rules_report *report, size_t n)
{
	return report->limit != 0 && n > report->limit ? report->limit : n;
}

/* "1 failure, 2 warnings, 0 notes of 6 rules" */
static void put_counts(struct writing *writing)
{
	const struct ctx_rules_report *report = writing->report;
	size_t fails = count(report, CTX_RULE_FAIL), warns = count(report, CTX_RULE_WARN),
	       notes = count(report, CTX_RULE_NOTE), unjudged = n_unjudged(report),
	       n = ctx_rules_n(report->rules);

	ctx_buf_printf(&writing->out, "%zu failure%s, %zu warning%s, %zu note%s of %zu rule%s", fails,
		       fails == 1 ? "" : "s", warns, warns == 1 ? "" : "s", notes, notes == 1 ? "" : "s", n,
		       n == 1 ? "" : "s");
	if (unjudged != 0)
		ctx_buf_printf(&writing->out, ", %zu not judged", unjudged);
}

/* ---- text ---- */

static void put_safe(struct writing *writing, const char *text)
{
	ctx_name_put_text(&writing->out, text, writing->report->ascii);
}

static void put_text_sides(struct writing *writing)
{
	for (size_t side = 0; side < CTX_COMPARE_SIDES; side++) {
		const struct ctx_diff_side *given = &writing->report->sides[side];

		if (given->n == 0)
			continue;
		ctx_buf_printf(&writing->out, "%c: ", "AB"[side]);
		for (size_t i = 0; i < given->n; i++) {
			put(writing, i != 0 ? ", " : "");
			put_safe(writing, given->sources[i]->selection.path);
		}
		put(writing, "\n");
	}
}

static void put_text_rule(struct writing *writing, uint32_t rule, size_t begin, size_t end)
{
	const struct ctx_rules_report *report = writing->report;
	struct ctx_rule_info info = ctx_rules_at(report->rules, rule);
	size_t n = shown(report, end - begin);

	ctx_buf_printf(&writing->out, "\n%s, line %zu: ", ctx_rule_action_word(info.action), info.line);
	put_safe(writing, info.condition);
	put(writing, "\n");
	for (size_t i = begin; i < begin + n; i++) {
		put(writing, "  ");
		put_safe(writing, report->findings->items[i].message);
		put(writing, "\n");
	}
	if (begin + n < end)
		ctx_buf_printf(&writing->out, "  (%zu more)\n", end - begin - n);
}

static void put_text(struct writing *writing)
{
	const struct ctx_rules_report *report = writing->report;
	size_t at = 0;

	put(writing, "Rules ");
	put_safe(writing, report->name);
	put(writing, ": ");
	put_counts(writing);
	put(writing, "\n");
	put_text_sides(writing);
	for (uint32_t rule = 0; rule < ctx_rules_n(report->rules); rule++) {
		size_t end = end_of_rule(report, rule, at);

		if (end != at)
			put_text_rule(writing, rule, at, end);
		at = end;
	}
	if (n_unjudged(report) != 0)
		put(writing, "\nNot judged:\n");
	for (uint32_t rule = 0; rule < ctx_rules_n(report->rules); rule++) {
		struct ctx_rule_info info = ctx_rules_at(report->rules, rule);

		if (report->findings->unjudged[rule] == NULL)
			continue;
		ctx_buf_printf(&writing->out, "  line %zu: ", info.line);
		put_safe(writing, info.condition);
		ctx_buf_printf(&writing->out, ": %s\n", report->findings->unjudged[rule]);
	}
}

/* ---- JSON ---- */

static void put_json_number(struct writing *writing, const char *key, double value)
{
	ctx_buf_printf(&writing->out, ",\"%s\":", key);
	if (isfinite(value))
		ctx_buf_printf(&writing->out, "%.9g", value);
	else
		put(writing, "null");
}

static void put_json_text(struct writing *writing, const char *key, const char *value)
{
	ctx_buf_printf(&writing->out, ",\"%s\":", key);
	if (value != NULL && value[0] != '\0')
		ctx_name_put_json(&writing->out, value);
	else
		put(writing, "null");
}

static void put_json_finding(struct writing *writing, const struct ctx_rule_finding *finding)
{
	static const char *const units[] = {
		[CTX_RULE_PLAIN] = "number",	    [CTX_RULE_MS] = "ms",
		[CTX_RULE_SHARE] = "share",	    [CTX_RULE_BYTES] = "bytes",
		[CTX_RULE_COUNT] = "count",	    [CTX_RULE_PER_SECOND] = "per_second",
		[CTX_RULE_PER_COUNT] = "per_count", [CTX_RULE_WORDS] = "text",
	};

	put(writing, "{\"message\":");
	ctx_name_put_json(&writing->out, finding->message);
	put_json_text(writing, "name", finding->name);
	put_json_text(writing, "object", finding->object);
	ctx_buf_printf(&writing->out, ",\"unit\":\"%s\"", units[finding->unit]);
	put_json_number(writing, "a", finding->a);
	put_json_number(writing, "b", finding->b);
	put_json_number(writing, "change_percent", 100 * finding->change);
	put_json_text(writing, "verdict", finding->verdict);
	put(writing, "}");
}

static void put_json_rule(struct writing *writing, uint32_t rule, size_t begin, size_t end)
{
	const struct ctx_rules_report *report = writing->report;
	struct ctx_rule_info info = ctx_rules_at(report->rules, rule);
	const char *why = report->findings->unjudged[rule];

	ctx_buf_printf(&writing->out,
		       "%s\n{\"line\":%zu,\"action\":\"%s\",\"condition\":", rule != 0 ? "," : "", info.line,
		       ctx_rule_action_word(info.action));
	ctx_name_put_json(&writing->out, info.condition);
	ctx_buf_printf(&writing->out, ",\"kind\":\"%s\",\"judged\":%s", ctx_rule_kind_name(info.kind),
		       why == NULL ? "true" : "false");
	put_json_text(writing, "reason", why);
	put(writing, ",\"findings\":[");
	for (size_t i = begin; i < end; i++) {
		put(writing, i != begin ? ",\n" : "\n");
		put_json_finding(writing, &report->findings->items[i]);
	}
	put(writing, "]}");
}

static void put_json(struct writing *writing)
{
	const struct ctx_rules_report *report = writing->report;
	size_t at = 0;

	put(writing, "{\"report\":\"rules\",\"file\":");
	ctx_name_put_json(&writing->out, report->name);
	ctx_buf_printf(
		&writing->out,
		",\"failed\":%s,\"counts\":{\"fail\":%zu,\"warn\":%zu,\"note\":%zu,\"not_judged\":%zu}",
		count(report, CTX_RULE_FAIL) != 0 ? "true" : "false", count(report, CTX_RULE_FAIL),
		count(report, CTX_RULE_WARN), count(report, CTX_RULE_NOTE), n_unjudged(report));
	put(writing, ",\"sides\":[");
	for (size_t side = 0; side < CTX_COMPARE_SIDES; side++) {
		put(writing, side != 0 ? ",{\"inputs\":[" : "{\"inputs\":[");
		for (size_t i = 0; i < report->sides[side].n; i++) {
			put(writing, i != 0 ? "," : "");
			ctx_name_put_json(&writing->out, report->sides[side].sources[i]->selection.path);
		}
		put(writing, "]}");
	}
	put(writing, "],\"rules\":[");
	for (uint32_t rule = 0; rule < ctx_rules_n(report->rules); rule++) {
		size_t end = end_of_rule(report, rule, at);

		put_json_rule(writing, rule, at, end);
		at = end;
	}
	put(writing, "]}\n");
}

/* ---- Markdown ---- */

/* No name makes markup, a mention of a user, or a reference to an issue. */
static void put_markdown(struct writing *writing, const char *text)
{
	struct ctx_buf safe CTX_AUTO_BUF = {0};

	ctx_name_put_text(&safe, text, false);
	writing->out.failed |= safe.failed;
	for (size_t i = 0; i < safe.n; i++) {
		char c = (char)safe.bytes[i];

		if (strchr("<>&@#|", c) != NULL)
			ctx_buf_printf(&writing->out, "&#%d;", c);
		else if (strchr("\\`*_[]~!", c) != NULL)
			ctx_buf_printf(&writing->out, "\\%c", c);
		else
			ctx_buf_put_u8(&writing->out, (uint8_t)c);
	}
}

static void put_markdown_rows(struct writing *writing, uint32_t rule, size_t begin, size_t end)
{
	const struct ctx_rules_report *report = writing->report;
	struct ctx_rule_info info = ctx_rules_at(report->rules, rule);
	size_t n = shown(report, end - begin);

	for (size_t i = begin; i < begin + n; i++) {
		const struct ctx_rule_finding *finding = &report->findings->items[i];

		ctx_buf_printf(&writing->out, "| %s | ", ctx_rule_action_word(info.action));
		put_markdown(writing, finding->message);
		put(writing, " | ");
		ctx_rule_put_number(&writing->out, finding->unit, finding->a);
		put(writing, " | ");
		ctx_rule_put_number(&writing->out, finding->unit, finding->b);
		put(writing, " | ");
		ctx_rule_put_change(&writing->out, finding->change);
		ctx_buf_printf(&writing->out, " | %s |\n", finding->verdict != NULL ? finding->verdict : "-");
	}
	if (begin + n < end)
		ctx_buf_printf(&writing->out, "| %s | %zu more of line %zu | | | | |\n",
			       ctx_rule_action_word(info.action), end - begin - n, info.line);
}

static void put_markdown_page(struct writing *writing)
{
	const struct ctx_rules_report *report = writing->report;
	size_t at = 0;

	ctx_buf_printf(&writing->out, "### Performance: %s\n\n",
		       count(report, CTX_RULE_FAIL) != 0 ? "failed" : "passed");
	put(writing, "Rules ");
	put_markdown(writing, report->name);
	put(writing, ": ");
	put_counts(writing);
	put(writing, ".\n");
	if (report->findings->n != 0)
		put(writing, "\n| | What | A | B | Change | Verdict |\n|---|---|---:|---:|---:|---|\n");
	for (uint32_t rule = 0; rule < ctx_rules_n(report->rules); rule++) {
		size_t end = end_of_rule(report, rule, at);

		put_markdown_rows(writing, rule, at, end);
		at = end;
	}
	if (n_unjudged(report) != 0)
		put(writing, "\nNot judged:\n\n");
	for (uint32_t rule = 0; rule < ctx_rules_n(report->rules); rule++) {
		if (report->findings->unjudged[rule] == NULL)
			continue;
		ctx_buf_printf(&writing->out, "- line %zu: ", ctx_rules_at(report->rules, rule).line);
		put_markdown(writing, ctx_rules_at(report->rules, rule).condition);
		ctx_buf_printf(&writing->out, ": %s\n", report->findings->unjudged[rule]);
	}
}

/* ---- JUnit XML ---- */

/* Text that no XML document may hold was made safe before; of what is left U+FFFE and U+FFFF are none. */
static void put_xml(struct writing *writing, const char *text)
{
	struct ctx_buf safe CTX_AUTO_BUF = {0};

	ctx_name_put_text(&safe, text, false);
	writing->out.failed |= safe.failed;
	for (size_t i = 0; i < safe.n; i++) {
		uint8_t c = safe.bytes[i];

		if (strchr("<>&\"'", (char)c) != NULL && c != '\0')
			ctx_buf_printf(&writing->out, "&#%d;", c);
		else if (c == 0xef && i + 2 < safe.n && safe.bytes[i + 1] == 0xbf &&
			 safe.bytes[i + 2] >= 0xbe) {
			ctx_buf_printf(&writing->out, "\\xef\\xbf\\x%02x", safe.bytes[i + 2]);
			i += 2;
		} else
			ctx_buf_put_u8(&writing->out, c);
	}
}

/* A failure has all findings of the rule; what other actions found is output of the case. */
static void put_xml_findings(struct writing *writing, enum ctx_rule_action action, size_t begin, size_t end)
{
	const struct ctx_rule_finding *items = writing->report->findings->items;
	bool fails = action == CTX_RULE_FAIL;

	if (begin == end)
		return;
	if (fails) {
		put(writing, "\n   <failure type=\"fail\" message=\"");
		put_xml(writing, items[begin].message);
		if (end - begin > 1)
			ctx_buf_printf(&writing->out, " (%zu more)", end - begin - 1);
		put(writing, "\">");
	} else {
		ctx_buf_printf(&writing->out, "\n   <system-out>%s:\n", ctx_rule_action_word(action));
	}
	for (size_t i = begin; i < end; i++) {
		put_xml(writing, items[i].message);
		put(writing, "\n");
	}
	put(writing, fails ? "</failure>\n  " : "</system-out>\n  ");
}

static void put_xml_case(struct writing *writing, uint32_t rule, size_t begin, size_t end)
{
	const struct ctx_rules_report *report = writing->report;
	struct ctx_rule_info info = ctx_rules_at(report->rules, rule);

	put(writing, "  <testcase classname=\"");
	put_xml(writing, report->name);
	ctx_buf_printf(&writing->out, "\" name=\"line %zu: ", info.line);
	put_xml(writing, info.condition);
	put(writing, "\">");
	if (report->findings->unjudged[rule] != NULL) {
		put(writing, "\n   <skipped message=\"");
		put_xml(writing, report->findings->unjudged[rule]);
		put(writing, "\"/>\n  ");
	}
	put_xml_findings(writing, info.action, begin, end);
	put(writing, "</testcase>\n");
}

static void put_junit(struct writing *writing)
{
	const struct ctx_rules_report *report = writing->report;
	size_t n = ctx_rules_n(report->rules), failed = 0, at = 0;

	for (uint32_t rule = 0; rule < n; rule++) {
		size_t end = end_of_rule(report, rule, at);

		failed += end != at && ctx_rules_at(report->rules, rule).action == CTX_RULE_FAIL;
		at = end;
	}
	ctx_buf_printf(&writing->out,
		       "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		       "<testsuites name=\"ctxan rules\" tests=\"%zu\" failures=\"%zu\" errors=\"0\">\n"
		       " <testsuite name=\"",
		       n, failed);
	put_xml(writing, report->name);
	ctx_buf_printf(&writing->out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n", n,
		       failed, n_unjudged(report));
	at = 0;
	for (uint32_t rule = 0; rule < n; rule++) {
		size_t end = end_of_rule(report, rule, at);

		put_xml_case(writing, rule, at, end);
		at = end;
	}
	put(writing, " </testsuite>\n</testsuites>\n");
}

enum ctx_status ctx_rules_report_print(const struct ctx_rules_report *report, enum ctx_rules_format format,
				       FILE *out, struct ctx_err *err)
{
	struct writing writing = {.report = report};
	enum ctx_status status;

	switch (format) {
	case CTX_RULES_TEXT:
		put_text(&writing);
		break;
	case CTX_RULES_JSON:
		put_json(&writing);
		break;
	case CTX_RULES_MARKDOWN:
		put_markdown_page(&writing);
		break;
	case CTX_RULES_JUNIT:
		put_junit(&writing);
		break;
	}
	status = ctx_buf_check(&writing.out, err);
	if (status == CTX_OK)
		fwrite(writing.out.bytes, 1, writing.out.n, out);
	ctx_buf_deinit(&writing.out);
	return status;
}
