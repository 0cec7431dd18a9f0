/* Of indicators: which are counted in the memory of the targets, by the runtime in them, and not by the kernel. */
#include "collect/indicators_impl.h"

#include "base/map64.h"
#include "collect/trace_library.h"
#include "runtime/program_check.h"

#include <string.h>

/* Whether executions need nothing that the kernel knows: callers, order in time, returns. */
static bool is_counted_alone(const struct ctx_indicator_spec *spec)
{
	return (spec->what == CTX_INDICATOR_FUNCTION || spec->what == CTX_INDICATOR_ADDRESS) &&
	       !spec->callers && !spec->once && spec->window == CTX_INDICATOR_NO_WINDOW &&
	       spec->slower_than_ns == 0;
}

/* Whether the runtime can be in the command, and nothing of the recording forbids that entries are changed. */
static bool is_possible(const struct ctx_indicators *indicators)
{
	struct ctx_trace_library library;

	if (!indicators->may_count_in_memory || ctx_trace_library_find(&library, NULL) != CTX_OK ||
	    ctx_program_check(indicators->objects.paths[0]) != CTX_PROGRAM_FITS)
		return false;
	for (size_t i = 0; i < indicators->n; i++) {
		const struct ctx_indicator_spec *spec = &indicators->items[i].spec;

		/* Windows are judged by executions in their order; traps of coverage are at entries, too. */
		if (spec->once || spec->window != CTX_INDICATOR_NO_WINDOW)
			return false;
	}
	return true;
}

/* Another program that the command executes, or a library that it opens. */
static bool can_have_runtime(const struct ctx_indicators *indicators, const char *path)
{
	for (size_t i = 0; i < indicators->objects.n; i++) {
		if (strcmp(indicators->objects.paths[i], path) == 0)
			return true;
	}
	switch (ctx_program_check(path)) {
	case CTX_PROGRAM_FITS:
	case CTX_PROGRAM_UNKNOWN:
	case CTX_PROGRAM_STATIC: /* or a library */
		return true;
	default:
		return false;
	}
}

/* Of an indicator whose other places have no uprobes, but hardware breakpoints, which have one metric with a threshold. */
static bool is_torn(const struct ctx_indicators *indicators, const struct ctx_indicator *indicator)
{
	return indicators->no_uprobes.status != CTX_OK && indicator->spec.threshold != 0 &&
	       indicator->n_in_memory != indicator->places.n;
}

static void choose(const struct ctx_indicators *indicators, struct ctx_indicator *indicator,
		   const struct ctx_map64 *taken)
{
	const char *last = NULL;
	bool can = false;

	for (size_t i = 0; i < indicator->places.n; i++) {
		struct ctx_indicator_place *place = &indicator->places.items[i];

		if (last != place->path)
			can = can_have_runtime(indicators, place->path);
		last = place->path;
		place->in_memory =
			can && place->has_room && ctx_map64_get(taken, place->address) == CTX_MAP64_NONE;
		indicator->n_in_memory += place->in_memory;
	}
	if (!is_torn(indicators, indicator))
		return;
	for (size_t i = 0; i < indicator->places.n; i++)
		indicator->places.items[i].in_memory = false;
	indicator->n_in_memory = 0;
}

enum ctx_status ctx_indicators_choose_memory(struct ctx_indicators *indicators, struct ctx_err *err)
{
	struct ctx_map64 taken = {
		0}; /* addresses where the kernel counts; of whatever object: that errs on its side */
	enum ctx_status status = CTX_OK;

	if (!is_possible(indicators))
		return CTX_OK;
	for (size_t i = 0; i < indicators->n; i++) {
		const struct ctx_indicator *indicator = &indicators->items[i];

		for (size_t p = 0;
		     p < indicator->places.n && !is_counted_alone(&indicator->spec) && status == CTX_OK;
		     p++) {
			uint32_t *place = ctx_map64_place(&taken, indicator->places.items[p].address);

			if (place == NULL)
				status = ctx_err_nomem(err);
			else
				*place = 0;
		}
	}
	for (size_t i = 0; i < indicators->n && status == CTX_OK; i++) {
		if (is_counted_alone(&indicators->items[i].spec))
			choose(indicators, &indicators->items[i], &taken);
	}
	ctx_map64_deinit(&taken);
	return status;
}

enum ctx_status ctx_indicators_add_entries(struct ctx_indicators *indicators,
					   const struct ctx_indicator *indicator, struct ctx_err *err)
{
	const struct ctx_entry_metrics metrics = {.executed = indicator->metric,
						  .raised = indicator->raised,
						  .threshold = indicator->spec.threshold};
	enum ctx_status status = CTX_OK;

	if (indicator->n_in_memory != 0 && indicators->entries == NULL)
		status = ctx_entry_counters_create(&indicators->entries, err);
	for (size_t i = 0; i < indicator->places.n && status == CTX_OK; i++) {
		if (indicator->places.items[i].in_memory)
			status = ctx_entry_counters_add(indicators->entries, &indicator->places.items[i],
							&metrics, err);
	}
	return status;
}
