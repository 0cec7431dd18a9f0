#include "collect/vm_choice.h"

#include "base/mem.h"
#include "model/name_pattern.h"

#include <stdlib.h>
#include <string.h>

#define RULES_MAX 256u

struct ctx_vm_rule {
	enum ctx_vm_key key;
	bool is_pattern;
	char *text;	 /* owned; NULL: a pattern */
	regex_t pattern; /* of a pattern */
};

static const char *const keys[CTX_VM_KEY_N] = {
	[CTX_VM_KEY_PID] = "pid",	  [CTX_VM_KEY_NAME] = "name",
	[CTX_VM_KEY_MAIN] = "main",	  [CTX_VM_KEY_COMMAND] = "command",
	[CTX_VM_KEY_VERSION] = "version", [CTX_VM_KEY_COLLECTOR] = "collector",
};

void ctx_vm_rules_deinit(struct ctx_vm_rules *rules)
{
	for (size_t i = 0; i < rules->n; i++) {
		free(rules->items[i].text);
		if (rules->items[i].is_pattern)
			regfree(&rules->items[i].pattern);
	}
	free(rules->items);
	*rules = (struct ctx_vm_rules){0};
}

static enum ctx_vm_key find_key(const char *text, size_t n)
{
	enum ctx_vm_key key = 0;

	while (key < CTX_VM_KEY_N && (strlen(keys[key]) != n || strncmp(keys[key], text, n) != 0))
		key++;
	return key;
}

enum ctx_status ctx_vm_rules_add(struct ctx_vm_rules *rules, const char *text, struct ctx_err *err)
{
	size_t n = strcspn(text, "=");
	struct ctx_vm_rule rule = {.key = find_key(text, n)};
	enum ctx_status status;

	if (text[n] == '\0' || text[n + 1] == '\0' || rule.key == CTX_VM_KEY_N)
		return ctx_err_set(err, CTX_E_ARG,
				   "\"%.100s\" is no KEY=TEXT or KEY=~PATTERN with the key pid, name, main, "
				   "command, version or collector",
				   text);
	if (rules->n == RULES_MAX)
		return ctx_err_set(err, CTX_E_LIMIT, "more than %u of them", RULES_MAX);
	status = ctx_grow(&rules->items, &rules->cap, rules->n + 1, err);
	if (status != CTX_OK)
		return status;
	rule.is_pattern = text[n + 1] == '~';
	if (rule.is_pattern) {
		status = ctx_name_pattern_compile(text + n + 2, &rule.pattern, err);
	} else {
		rule.text = ctx_memdup0(text + n + 1, strlen(text + n + 1));
		status = rule.text != NULL ? CTX_OK : ctx_err_nomem(err);
	}
	if (status == CTX_OK)
		rules->items[rules->n++] = rule;
	return status;
}

static bool fits(const struct ctx_vm_rule *rule, const char *text)
{
	return rule->is_pattern ? ctx_name_pattern_fits(&rule->pattern, text) : strcmp(rule->text, text) == 0;
}

bool ctx_vm_rules_fit(const struct ctx_vm_rules *rules, const char *const texts[CTX_VM_KEY_N])
{
	unsigned asked = 0, fitting = 0;

	for (size_t i = 0; i < rules->n; i++) {
		const struct ctx_vm_rule *rule = &rules->items[i];

		asked |= 1u << rule->key;
		if (fits(rule, texts[rule->key]))
			fitting |= 1u << rule->key;
	}
	return asked == fitting;
}

/* Those that have ended leave. Returns how many are there; `*ret_chosen` of them are chosen. */
static size_t drop_ended(struct ctx_vm_candidate *items, size_t n, size_t *ret_chosen)
{
	size_t there = 0;

	*ret_chosen = 0;
	for (size_t i = 0; i < n; i++) {
		items[i].is_chosen = items[i].is_chosen && items[i].is_there;
		*ret_chosen += items[i].is_chosen;
		there += items[i].is_there;
	}
	return there;
}

void ctx_vm_choice_update(struct ctx_vm_choice *choice, struct ctx_vm_candidate *items, size_t n,
			  uint64_t now_ns)
{
	size_t chosen, there = drop_ended(items, n, &chosen), limit = choice->limit;

	if (limit == 0)
		limit = choice->turn_ns != 0 ? 1 : n;
	if (choice->turn_ns != 0 && now_ns >= choice->next_ns) {
		choice->next_ns = now_ns + choice->turn_ns;
		for (size_t i = 0; i < n && there > limit; i++)
			items[i].is_chosen = false;
		chosen = there > limit ? 0 : chosen;
	}
	for (size_t i = 0, from = choice->last; i < n && chosen < limit; i++) {
		size_t at = (from + i) % n;

		if (!items[at].is_there || items[at].is_chosen)
			continue;
		items[at].is_chosen = true;
		choice->last = at + 1;
		chosen++;
	}
}
