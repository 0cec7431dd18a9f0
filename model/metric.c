#include "model/metric.h"

#include <string.h>

static const char *const unit_words[CTX_UNIT_N] = {
	[CTX_UNIT_NONE] = "",
	[CTX_UNIT_NS] = "ns",
	[CTX_UNIT_BYTES] = "bytes",
	[CTX_UNIT_EVENTS] = "events",
};

static const char *const kind_words[CTX_METRIC_KIND_N] = {
	[CTX_METRIC_BY_UNIT] = "",
	[CTX_METRIC_EVENTS] = "events",
	[CTX_METRIC_CPU_TIME] = "cpu-time",
	[CTX_METRIC_THREAD_TIME] = "thread-time",
	[CTX_METRIC_SPAN] = "span",
	[CTX_METRIC_DURATION] = "duration",
	[CTX_METRIC_BYTES] = "bytes",
	[CTX_METRIC_COUNT] = "count",
	[CTX_METRIC_CALL_SPAN] = "call-span",
	[CTX_METRIC_OMP_SPAN] = "omp-span",
};

/* 0: none. */
static unsigned find(const char *const *words, unsigned n, const char *word)
{
	for (unsigned i = 0; i < n; i++) {
		if (strcmp(words[i], word) == 0)
			return i;
	}
	return 0;
}

const char *ctx_unit_word(enum ctx_unit unit)
{
	return unit_words[unit];
}

enum ctx_unit ctx_unit_of_word(const char *word)
{
	return (enum ctx_unit)find(unit_words, CTX_UNIT_N, word);
}

const char *ctx_metric_kind_word(enum ctx_metric_kind kind)
{
	return kind_words[kind];
}

enum ctx_metric_kind ctx_metric_kind_of_word(const char *word)
{
	return (enum ctx_metric_kind)find(kind_words, CTX_METRIC_KIND_N, word);
}

enum ctx_metric_kind ctx_metric_kind_of_unit(enum ctx_unit unit)
{
	switch (unit) {
	case CTX_UNIT_NS:
		return CTX_METRIC_CPU_TIME;
	case CTX_UNIT_BYTES:
		return CTX_METRIC_BYTES;
	default:
		return CTX_METRIC_EVENTS;
	}
}

bool ctx_metric_shows_running(enum ctx_metric_kind kind, const char *name)
{
	return kind == CTX_METRIC_CPU_TIME || strstr(name, "cycles") != NULL ||
	       strstr(name, "instructions") != NULL;
}
