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
	       "#\n"
	       "# Shares: a machine that is slower as a whole changes none.\n"
	       "function.self.share > 1% && change > +3% && verdict == \"slower|new\"\n"
	       "  -> fail \"{function}: {a} -> {b} of all ({change})\"\n"
	       "object.self.share > 5% && change > +10% && verdict == \"slower|new\"\n"
	       "  -> warn \"{object}: {a} -> {b} of all ({change})\"\n"
	       "\n"
	       "# What a unit of work costs (--per-count), else a run and a second of it.\n"
	       "run.cpu.per_count change > +5% && verdict == \"slower\"\n"
	       "  -> fail \"CPU time of a unit of work: {a} -> {b} ms ({change})\"\n"
	       "function.self.per_count change > +5% && verdict == \"slower|new\" && function.self.share > "
	       "1%\n"
	       "  -> fail \"{function}: {a} -> {b} ms for a unit of work ({change})\"\n"
	       "run.cpu change > +10% && verdict == \"slower\" -> warn \"CPU time of a run: {a} -> {b} "
	       "({change})\"\n"
	       "run.wall change > +10% && verdict == \"slower\" -> warn \"time of a run: {a} -> {b} "
	       "({change})\"\n"
	       "function.self.per_second > 10 && change > +10% && verdict == \"slower|new\"\n"
	       "  -> warn \"{function}: {a} -> {b} (ms, {change})\"\n"
	       "\n"
	       "wait.lock.per_second > 10 && change > +20% && verdict == \"slower|new\"\n"
	       "  -> fail \"waits for locks: {a} -> {b} (ms, {change})\"\n"
	       "wait.lock_count.per_second > 10 && change > +50% && verdict == \"slower|new\"\n"
	       "  -> warn \"number of waits for locks: {a} -> {b} ({change})\"\n"
	       "wait.lock_longest > 10ms && change > +100% && verdict == \"slower|new\"\n"
	       "  -> warn \"longest wait for a lock: {a} -> {b} ({change})\"\n"
	       "\n"
	       "heap.peak change > +10% && difference > 1M\n"
	       "  -> fail \"peak of the heap: {a} -> {b} ({change})\"\n"
	       "heap.leaked change > +10% && difference > 1M\n"
	       "  -> warn \"never freed: {a} -> {b} ({change})\"\n"
	       "heap.allocations.per_second > 1000 && change > +20% && verdict == \"slower|new\"\n"
	       "  -> warn \"allocations: {a} -> {b} ({change})\"\n"
	       "run.lost > 0 -> note \"{run.lost} records were lost\"\n";
}

/* Whether some field of the rule's condition or message passes. */
static bool has_field(const struct rule *rule, bool (*passes)(const struct rule_field *, const void *),
		      const void *context)
{
	for (size_t k = 0; k < rule->n; k++) {
		if (rule->nodes[k].op == RULE_FIELD && passes(&rule->nodes[k].field, context))
			return true;
	}
	for (size_t k = 0; k < rule->n_pieces; k++) {
		if (rule->pieces[k].text == NULL && passes(&rule->pieces[k].field, context))
			return true;
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

	for (size_t i = 0; i < rules->n; i++) {
		if (has_field(&rules->rules[i], is_wanted, &wanted))
			return true;
	}
	return false;
}

static bool is_time(const struct rule_field *field, const void *context)
{
	(void)context;
	return ctx_rule_kind_has_rows(field->kind) && !is_name(field) && field->base != CTX_RULE_SHARE;
}

bool ctx_rule_asks_times(const struct rule *rule)
{
	return has_field(rule, is_time, NULL);
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
