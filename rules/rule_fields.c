#include "rules/rule_fields.h"

#include "base/mem.h"

#include <string.h>

#define MEASURES(list) (list), CTX_COUNT_OF(list)

static const struct ctx_rule_measure times[] = {{"self", CTX_RULE_MS}, {"total", CTX_RULE_MS}};
static const struct ctx_rule_measure lines[] = {{"self", CTX_RULE_MS}};
static const struct ctx_rule_measure threads[] = {{"total", CTX_RULE_MS}};
/* In the order of enum ctx_thread_state. */
static const struct ctx_rule_measure states[] = {
	{"user", CTX_RULE_MS},	     {"system", CTX_RULE_MS},	  {"trap", CTX_RULE_MS},
	{"text_fault", CTX_RULE_MS}, {"data_fault", CTX_RULE_MS}, {"kernel_fault", CTX_RULE_MS},
	{"user_lock", CTX_RULE_MS},  {"sleep", CTX_RULE_MS},	  {"stopped", CTX_RULE_MS},
	{"wait_cpu", CTX_RULE_MS},   {"unknown", CTX_RULE_MS},
};
/* In the order of enum ctx_wait_kind up to `stopped`, then sums. */
static const struct ctx_rule_measure waits[] = {
	{"other", CTX_RULE_MS},	       {"mutex", CTX_RULE_MS},	       {"rwlock", CTX_RULE_MS},
	{"condition", CTX_RULE_MS},    {"join", CTX_RULE_MS},	       {"barrier", CTX_RULE_MS},
	{"semaphore", CTX_RULE_MS},    {"interpreter", CTX_RULE_MS},   {"safepoint", CTX_RULE_MS},
	{"park", CTX_RULE_MS},	       {"futex", CTX_RULE_MS},	       {"poll", CTX_RULE_MS},
	{"pipe", CTX_RULE_MS},	       {"socket", CTX_RULE_MS},	       {"file", CTX_RULE_MS},
	{"timer", CTX_RULE_MS},	       {"child", CTX_RULE_MS},	       {"page_fault", CTX_RULE_MS},
	{"stopped", CTX_RULE_MS},      {"lock", CTX_RULE_MS},	       {"any", CTX_RULE_MS},
	{"count", CTX_RULE_COUNT},     {"lock_count", CTX_RULE_COUNT}, {"longest", CTX_RULE_MS},
	{"lock_longest", CTX_RULE_MS},
};
static const struct ctx_rule_measure heap[] = {{"peak", CTX_RULE_BYTES},
					       {"leaked", CTX_RULE_BYTES},
					       {"allocated", CTX_RULE_BYTES},
					       {"allocations", CTX_RULE_COUNT}};
static const struct ctx_rule_measure run[] = {
	{"wall", CTX_RULE_MS}, {"cpu", CTX_RULE_MS}, {"samples", CTX_RULE_COUNT}, {"lost", CTX_RULE_COUNT}};

static const struct {
	const char *name;
	const struct ctx_rule_measure *measures;
	size_t n;
} kinds[CTX_RULE_KINDS] = {
	[CTX_RULE_FUNCTION] = {"function", MEASURES(times)},
	[CTX_RULE_OBJECT] = {"object", MEASURES(times)},
	[CTX_RULE_LINE] = {"line", MEASURES(lines)},
	[CTX_RULE_THREAD] = {"thread", MEASURES(threads)},
	[CTX_RULE_STATE] = {"state", MEASURES(states)},
	[CTX_RULE_WAIT] = {"wait", MEASURES(waits)},
	[CTX_RULE_HEAP] = {"heap", MEASURES(heap)},
	[CTX_RULE_RUN] = {"run", MEASURES(run)},
};

const char *ctx_rule_unit_text(enum ctx_rule_unit unit)
{
	switch (unit) {
	case CTX_RULE_PLAIN:
		return "a number";
	case CTX_RULE_MS:
		return "a time";
	case CTX_RULE_SHARE:
		return "a share";
	case CTX_RULE_PER_SECOND:
		return "an amount per second";
	case CTX_RULE_PER_COUNT:
		return "an amount per unit of work";
	case CTX_RULE_BYTES:
		return "a size";
	case CTX_RULE_COUNT:
		return "a count";
	case CTX_RULE_WORDS:
		break;
	}
	return "a text";
}

const char *ctx_rule_kind_name(enum ctx_rule_kind kind)
{
	return kinds[kind].name;
}

bool ctx_rule_kind_has_rows(enum ctx_rule_kind kind)
{
	return kind < CTX_RULE_STATE;
}

size_t ctx_rule_n_measures(enum ctx_rule_kind kind)
{
	return kinds[kind].n;
}

const struct ctx_rule_measure *ctx_rule_measure_at(enum ctx_rule_kind kind, size_t measure)
{
	return &kinds[kind].measures[measure];
}

static bool is_word(const char *word, const char *text, size_t n)
{
	return strlen(word) == n && memcmp(word, text, n) == 0;
}

enum ctx_rule_kind ctx_rule_find_kind(const char *text, size_t n)
{
	enum ctx_rule_kind kind = CTX_RULE_FUNCTION;

	while (kind < CTX_RULE_KINDS && !is_word(kinds[kind].name, text, n) &&
	       !(n > 1 && text[n - 1] == 's' && is_word(kinds[kind].name, text, n - 1)))
		kind++;
	return kind;
}

size_t ctx_rule_find_measure(enum ctx_rule_kind kind, const char *text, size_t n)
{
	for (size_t i = 0; i < kinds[kind].n; i++) {
		if (is_word(kinds[kind].measures[i].name, text, n))
			return i;
	}
	return CTX_RULE_MEASURES_MAX;
}

bool ctx_rule_find_unit(const struct ctx_rule_measure *measure, const char *text, size_t n,
			enum ctx_rule_unit *ret)
{
	*ret = measure->unit;
	if (n == 0)
		return true;
	if (is_word("ms", text, n))
		return measure->unit == CTX_RULE_MS;
	*ret = is_word("share", text, n)       ? CTX_RULE_SHARE
	       : is_word("per_count", text, n) ? CTX_RULE_PER_COUNT
					       : CTX_RULE_PER_SECOND;
	if (*ret == CTX_RULE_SHARE)
		return measure->unit == CTX_RULE_MS;
	return (*ret == CTX_RULE_PER_COUNT || is_word("per_second", text, n)) &&
	       (measure->unit == CTX_RULE_MS || measure->unit == CTX_RULE_COUNT);
}

void ctx_rule_put_measures(struct ctx_buf *buf, enum ctx_rule_kind kind)
{
	for (size_t i = 0; i < kinds[kind].n; i++)
		ctx_buf_printf(buf, "%s%s", i != 0 ? ", " : "", kinds[kind].measures[i].name);
}

void ctx_rule_put_kinds(struct ctx_buf *buf)
{
	for (size_t i = 0; i < CTX_RULE_KINDS; i++)
		ctx_buf_printf(buf, "%s%s", i != 0 ? ", " : "", kinds[i].name);
}
