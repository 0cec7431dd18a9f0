/* Fuzz target: a file of rules, applied to a few rows. */
#include "rules/rules.h"

#include <stdlib.h>
#include <string.h>

#define FIGURES (CTX_RULE_MEASURES_MAX * CTX_RULE_WEIGHTINGS)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct ctx_rule_figure figures[2][FIGURES];
static struct ctx_rule_row rows[2] = {{"parse", "app", figures[0]}, {"solve(int)\n\xff", "", figures[1]}};

static void apply(const struct ctx_rules *rules, bool compared)
{
	struct ctx_rule_rows world = {.compared = compared};
	struct ctx_rule_findings findings;

	for (size_t i = 0; i < FIGURES; i++) {
		figures[0][i] = (struct ctx_rule_figure){true, {1, 2}, 0.5, 1.5, 0.01, "slower"};
		figures[1][i] = (struct ctx_rule_figure){i % 2 == 0, {0, (double)i}, 0, 0, 0, NULL};
	}
	for (enum ctx_rule_kind kind = CTX_RULE_FUNCTION; kind < CTX_RULE_KINDS; kind++)
		world.tables[kind] =
			(struct ctx_rule_table){rows, ctx_rule_kind_has_rows(kind) ? 2 : 1, NULL};
	if (ctx_rules_apply(rules, &world, &findings, NULL) != CTX_OK)
		abort();
	for (size_t i = 0; i < findings.n; i++) {
		if (findings.items[i].rule >= ctx_rules_n(rules) || findings.items[i].message == NULL)
			abort();
	}
	ctx_rule_findings_deinit(&findings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctx_rules *rules;
	struct ctx_rule_place place;

	if (ctx_rules_parse(size != 0 ? (const char *)data : "", size, &rules, &place, NULL) != CTX_OK) {
		/* Too large a text has no place; no other error is without one. */
		if (size <= CTX_RULES_TEXT_MAX && (place.line == 0 || place.column == 0))
			abort();
		return 0;
	}
	for (size_t i = 0; i < ctx_rules_n(rules); i++) {
		if (ctx_rules_at(rules, i).condition[0] == '\0')
			abort();
	}
	apply(rules, true);
	apply(rules, false);
	ctx_rules_destroy(rules);
	return 0;
}
