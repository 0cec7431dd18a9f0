#include "rules/rule_impl.h"

#include <stdlib.h>

const char *ctx_rule_action_word(enum ctx_rule_action action)
{
	static const char *const words[CTX_RULE_ACTIONS] = {"fail", "warn", "note"};

	return words[action];
}

const char *ctx_rules_default(void)
{
	return "# The rules of ctxan --rules default: docs/rules.md.\n"
	       "function.self.share > 1% && change > +3% && verdict == \"slower|new\"\n"
	       "  -> fail \"{function}: {a} -> {b} of all ({change})\"\n"
	       "object.self.share > 5% && change > +10% && verdict == \"slower|new\"\n"
	       "  -> warn \"{object}: {a} -> {b} of all ({change})\"\n"
	       "wait.lock.per_second > 10 && change > +20% && verdict == \"slower|new\"\n"
	       "  -> fail \"waits for locks: {a} -> {b} (ms, {change})\"\n"
	       "run.cpu change > +10% && verdict == \"slower\" -> warn \"CPU time of all: {a} -> {b} "
	       "({change})\"\n"
	       "heap.peak change > +10% && difference > 1M\n"
	       "  -> fail \"peak of the heap: {a} -> {b} ({change})\"\n"
	       "heap.leaked change > +10% && difference > 1M\n"
	       "  -> warn \"never freed: {a} -> {b} ({change})\"\n"
	       "run.lost > 0 -> note \"{run.lost} records were lost\"\n";
}

/* Whether some field of a condition or message passes. */
static bool has_field(const struct ctx_rules *rules, bool (*passes)(const struct rule_field *, const void *),
		      const void *context)
{
	for (size_t i = 0; i < rules->n; i++) {
		const struct rule *rule = &rules->rules[i];

		for (size_t k = 0; k < rule->n; k++) {
			if (rule->nodes[k].op == RULE_FIELD && passes(&rule->nodes[k].field, context))
				return true;
		}
		for (size_t k = 0; k < rule->n_pieces; k++) {
			if (rule->pieces[k].text == NULL && passes(&rule->pieces[k].field, context))
				return true;
		}
	}
	return false;
}

static bool is_name(const struct rule_field *field)
{
	return field->aspect == RULE_NAME || field->aspect == RULE_OBJECT;
}

struct wanted {
	enum ctx_rule_kind kind;
	size_t measure;
	enum ctx_rule_weighting weighting;
};

static bool is_wanted(const struct rule_field *field, const void *context)
{
	const struct wanted *wanted = context;

	return field->kind == wanted->kind && field->measure == wanted->measure && !is_name(field) &&
	       ctx_rule_weighting_of(field) == wanted->weighting;
}

bool ctx_rules_use(const struct ctx_rules *rules, enum ctx_rule_kind kind, size_t measure,
		   enum ctx_rule_weighting weighting)
{
	const struct wanted wanted = {kind, measure, weighting};

	return has_field(rules, is_wanted, &wanted);
}

static bool is_time(const struct rule_field *field, const void *context)
{
	(void)context;
	return ctx_rule_kind_has_rows(field->kind) && !is_name(field) && field->base != CTX_RULE_SHARE;
}

bool ctx_rules_ask_times(const struct ctx_rules *rules)
{
	return has_field(rules, is_time, NULL);
}

size_t ctx_rules_n(const struct ctx_rules *rules)
{
	return rules->n;
}

struct ctx_rule_info ctx_rules_at(const struct ctx_rules *rules, size_t rule)
{
	return rules->rules[rule].info;
}

void ctx_rules_destroy(struct ctx_rules *rules)
{
	if (rules == NULL)
		return;
	for (size_t i = 0; i < rules->n; i++) {
		free(rules->rules[i].nodes);
		free(rules->rules[i].selectors);
		free(rules->rules[i].pieces);
	}
	for (size_t i = 0; i < rules->n_patterns; i++)
		regfree(rules->patterns[i]);
	free(rules->patterns);
	free(rules->rules);
	ctx_arena_deinit(&rules->arena);
	free(rules);
}
