/* Of indicators: what the header of a recording says, in the beginning and in the end. */
#include "collect/indicators.h"
#include "collect/indicators_impl.h"

#include "base/clock.h"
#include "collect/session_late.h"
#include "model/indicator.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static enum ctx_indicator_kind header_kind(const struct ctx_indicator_spec *spec)
{
	switch (spec->what) {
	case CTX_INDICATOR_RETURN:
		return CTX_INDICATOR_KIND_RETURN;
	case CTX_INDICATOR_RANGE:
	case CTX_INDICATOR_OBJECT:
		return CTX_INDICATOR_KIND_RANGE;
	case CTX_INDICATOR_DATA:
		return spec->reads ? CTX_INDICATOR_KIND_ACCESS : CTX_INDICATOR_KIND_WRITE;
	default:
		return CTX_INDICATOR_KIND_EXECUTE;
	}
}

/* Of more than one where they divide the places. */
static const char *mechanism_of(const struct ctx_indicator *indicator)
{
	if (indicator->spec.once)
		return "single-shot trap";
	if (indicator->n_in_memory == indicator->places.n)
		return "in-process counter";
	if (indicator->n_in_memory != 0)
		return indicator->is_breakpoint ? "in-process counter, hardware breakpoint"
						: "in-process counter, uprobe";
	return indicator->is_breakpoint ? "hardware breakpoint" : "uprobe";
}

static enum ctx_status describe(const struct ctx_indicator *indicator, size_t number,
				struct ctx_exp_writer *writer, struct ctx_err *err)
{
	const struct ctx_indicator_place *first = &indicator->places.items[0];
	struct ctx_indicator_info info = {.name = indicator->spec.text,
					  .kind = header_kind(&indicator->spec),
					  .mechanism = mechanism_of(indicator),
					  .function = first->name,
					  .object = first->path,
					  .offset = first->address,
					  .places = (uint32_t)indicator->places.n,
					  .threshold = indicator->spec.threshold,
					  .metric = indicator->metric,
					  .raised = indicator->raised,
					  .slower_than_ns = indicator->spec.slower_than_ns,
					  .slower = indicator->slower,
					  .sites = indicator->sites};
	struct ctx_buf text CTX_AUTO_BUF = {0};
	char key[32];

	if (indicator->spec.once)
		info.function = indicator->spec.name[0] != '\0' ? indicator->spec.name : "*";
	for (size_t i = 0; i < indicator->places.n; i++)
		info.inlined += indicator->places.items[i].at == CTX_INDICATOR_AT_INLINED;
	snprintf(key, sizeof(key), "indicator %zu", number);
	ctx_indicator_put(&info, &text);
	ctx_buf_put_u8(&text, 0);
	return text.failed ? ctx_err_nomem(err) : ctx_exp_setting(writer, key, (const char *)text.bytes, err);
}

enum ctx_status ctx_indicators_describe(const struct ctx_indicators *indicators,
					struct ctx_exp_writer *writer, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < indicators->n && status == CTX_OK; i++)
		status = describe(&indicators->items[i], i + 1, writer, err);
	return status;
}

/* What was not covered, and why. */
static enum ctx_status end_once(const struct ctx_indicators *indicators, struct ctx_exp_writer *writer,
				struct ctx_err *err)
{
	uint64_t now = ctx_clock_ns(CLOCK_MONOTONIC), refused = ctx_once_refused(indicators->once);
	enum ctx_status status = CTX_OK;
	const char *path;
	char text[PATH_MAX + 128];
	size_t at = 0;

	while (status == CTX_OK && (path = ctx_once_next_missing(indicators->once, &at)) != NULL) {
		snprintf(text, sizeof(text), "coverage: no process has loaded %s with the runtime in it",
			 path);
		status = ctx_exp_warning(writer, now, text, err);
	}
	snprintf(text, sizeof(text), "coverage: %llu sites could not be armed: the text may not be written",
		 (unsigned long long)refused);
	return status == CTX_OK && refused != 0 ? ctx_exp_warning(writer, now, text, err) : status;
}

/* What could not be counted in memory, or not by thread. */
static enum ctx_status end_entries(const struct ctx_indicators *indicators, struct ctx_exp_writer *writer,
				   struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	char text[PATH_MAX + 256];
	size_t at = 0;

	while (status == CTX_OK &&
	       ctx_entry_counters_next_warning(indicators->entries, &at, text, sizeof(text)))
		status = ctx_exp_warning(writer, ctx_clock_ns(CLOCK_MONOTONIC), text, err);
	return status;
}

/* Exactly, whatever became of samples. */
static uint64_t count_of(const struct ctx_indicators *indicators, const struct ctx_session *session,
			 const struct ctx_indicator *indicator)
{
	uint64_t n = 0;

	if (indicator->spec.once)
		return ctx_once_count(indicators->once, indicator->metric);
	if (indicator->n_in_memory != 0)
		n = ctx_entry_counters_count(indicators->entries, indicator->metric);
	return n + ctx_session_count(session, indicator->metric);
}

enum ctx_status ctx_indicators_count(const struct ctx_indicators *indicators,
				     const struct ctx_session *session, struct ctx_exp_writer *writer,
				     struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	char late[200];

	snprintf(late, sizeof(late),
		 "%llu processes were forked by ones that were less than 0.2 s old: executions of indicators "
		 "in libraries "
		 "may be missing there",
		 (unsigned long long)indicators->guard.n_late);
	if (indicators->guard.n_late != 0)
		status = ctx_exp_warning(writer, ctx_clock_ns(CLOCK_MONOTONIC), late, err);
	if (status == CTX_OK && indicators->once != NULL)
		status = end_once(indicators, writer, err);
	if (status == CTX_OK && indicators->entries != NULL)
		status = end_entries(indicators, writer, err);
	/* The counters do not know of windows. */
	for (size_t i = 0; i < indicators->n && status == CTX_OK && !ctx_indicators_have_windows(indicators);
	     i++) {
		char key[48], value[32];

		snprintf(key, sizeof(key), "indicator %zu count", i + 1);
		snprintf(value, sizeof(value), "%llu",
			 (unsigned long long)count_of(indicators, session, &indicators->items[i]));
		status = ctx_exp_setting(writer, key, value, err);
	}
	return status;
}
