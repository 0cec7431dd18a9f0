#include "model/call_counter.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	enum ctx_unit unit;
} counters[CTX_CALL_COUNTERS] = {
	[CTX_CALL_COUNTER_FAULTS] = {"page-faults", CTX_UNIT_EVENTS},
	[CTX_CALL_COUNTER_MAJOR_FAULTS] = {"major-faults", CTX_UNIT_EVENTS},
	[CTX_CALL_COUNTER_SWITCHES] = {"context-switches", CTX_UNIT_EVENTS},
	[CTX_CALL_COUNTER_ALLOCATED] = {"bytes-allocated", CTX_UNIT_BYTES},
};

const char *ctx_call_counter_name(enum ctx_call_counter counter)
{
	return counters[counter].name;
}

enum ctx_unit ctx_call_counter_unit(enum ctx_call_counter counter)
{
	return counters[counter].unit;
}

static bool add(const char *name, size_t n, uint32_t *set)
{
	for (unsigned i = 0; i < CTX_CALL_COUNTERS; i++) {
		if (strlen(counters[i].name) == n && memcmp(counters[i].name, name, n) == 0) {
			*set |= 1u << i;
			return true;
		}
	}
	return false;
}

bool ctx_call_counters_parse(const char *text, uint32_t *ret)
{
	uint32_t set = 0;

	for (;;) {
		size_t n = strcspn(text, ",");

		if (!add(text, n, &set))
			return false;
		if (text[n] == '\0')
			break;
		text += n + 1;
	}
	*ret = set;
	return true;
}

void ctx_call_counters_text(uint32_t set, char text[CTX_CALL_COUNTERS_TEXT_MAX])
{
	size_t n = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < CTX_CALL_COUNTERS; i++) {
		if ((set >> i & 1) != 0)
			n += (size_t)snprintf(text + n, CTX_CALL_COUNTERS_TEXT_MAX - n, "%s%s",
					      n != 0 ? "," : "", counters[i].name);
	}
}
