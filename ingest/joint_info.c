#include "ingest/joint_impl.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/strtab.h"
#include "model/heap_sampling.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define OWN_PROPERTIES 2 /* of each part, at most */

/* A text of the merged source; NULL: out of memory. */
CTX_PRINTF(2, 3) static const char *text(struct ctx_joint *merged, const char *format, ...)
{
	char *owned CTX_AUTO_FREE = NULL;
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(&owned, format, args);
	va_end(args);
	if (n < 0) {
		owned = NULL;
		return NULL;
	}
	return ctx_arena_strdup(&merged->arena, owned);
}

/* ---- metrics ---- */

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* `of` of a count is a number of all. */
static bool is_same_metric(const struct ctx_source_metric *a, const struct ctx_source_metric *b)
{
	enum ctx_metric_kind kind = ctx_source_metric_kind(a);

	return kind == ctx_source_metric_kind(b) && a->unit == b->unit && a->exact_calls == b->exact_calls &&
	       is_same_text(a->word, b->word) && (kind != CTX_METRIC_COUNT || a->of == b->of);
}

static uint32_t find_metric(const struct ctx_source_info *info, const char *name)
{
	uint32_t i = 0;

	while (i < info->n_metrics && strcmp(info->metrics[i].name, name) != 0)
		i++;
	return i;
}

static enum ctx_status add_metric(struct ctx_joint *merged, const struct ctx_joint_part *part,
				  struct ctx_source_metric metric, uint32_t *ret, struct ctx_err *err)
{
	struct ctx_source_info *info = &merged->source.info;
	uint32_t found = find_metric(info, metric.name);

	if (found < info->n_metrics && is_same_metric(&info->metrics[found], &metric)) {
		*ret = found;
		return CTX_OK;
	}
	if (found < info->n_metrics) {
		metric.name = text(merged, "%s (%s)", metric.name, part->name);
		if (metric.name == NULL)
			return ctx_err_nomem(err);
	}
	*ret = info->n_metrics;
	info->metrics[info->n_metrics++] = metric;
	return CTX_OK;
}

static enum ctx_status add_metrics(struct ctx_joint *merged, struct ctx_joint_part *part, struct ctx_err *err)
{
	const struct ctx_source_info *from = &part->source->info;
	enum ctx_status status = CTX_OK;

	part->metrics = ctx_calloc(from->n_metrics, sizeof(*part->metrics));
	if (part->metrics == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < from->n_metrics && status == CTX_OK; i++) {
		struct ctx_source_metric metric = from->metrics[i];

		if (metric.kind == CTX_METRIC_COUNT && metric.of >= i)
			return ctx_err_set(err, CTX_E_FORMAT, "%s: metric %u counts what it cannot",
					   part->name, i);
		if (metric.kind == CTX_METRIC_COUNT)
			metric.of = part->metrics[metric.of];
		status = add_metric(merged, part, metric, &part->metrics[i], err);
	}
	return status;
}

/* ---- properties ---- */

static const struct ctx_property *find_property(const struct ctx_source_info *info, const char *key)
{
	for (size_t i = 0; i < info->n_properties; i++) {
		if (strcmp(info->properties[i].key, key) == 0)
			return &info->properties[i];
	}
	return NULL;
}

static enum ctx_status add_property(struct ctx_joint *merged, const struct ctx_joint_part *part,
				    const struct ctx_property *property, struct ctx_err *err)
{
	struct ctx_source_info *info = &merged->source.info;
	const struct ctx_property *found = find_property(info, property->key);
	const char *key = property->key;

	if (found != NULL && strcmp(found->value, property->value) == 0)
		return CTX_OK;
	if (found != NULL)
		key = text(merged, "%s (%s)", key, part->name);
	if (key == NULL)
		return ctx_err_nomem(err);
	info->properties[info->n_properties++] = (struct ctx_property){key, property->value};
	return CTX_OK;
}

/* "b.perf: perf.data, from 0.512345 s on (CLOCK_MONOTONIC)" */
static enum ctx_status add_properties(struct ctx_joint *merged, const struct ctx_joint_part *part,
				      const char *placed, struct ctx_err *err)
{
	struct ctx_source_info *info = &merged->source.info;
	const struct ctx_source_info *from = &part->source->info;
	const char *value = text(merged, "%s: %s, from %" PRIu64 ".%09" PRIu64 " s on (%s)", part->name,
				 from->format, part->offset_ns / 1000000000, part->offset_ns % 1000000000,
				 placed[0] != '\0' ? placed : "the first");
	enum ctx_status status = CTX_OK;

	if (value == NULL)
		return ctx_err_nomem(err);
	info->properties[info->n_properties++] = (struct ctx_property){"recording", value};
	for (size_t i = 0; i < from->n_properties && status == CTX_OK; i++)
		status = add_property(merged, part, &from->properties[i], err);
	return status;
}

/* ---- sources and symbols ---- */

static enum ctx_status add_sources(struct ctx_joint *merged, const struct ctx_source_info *from,
				   struct ctx_strtab *known, struct ctx_err *err)
{
	struct ctx_source_info *info = &merged->source.info;
	struct ctx_source_text *to = (struct ctx_source_text *)info->sources;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < from->n_sources && status == CTX_OK; i++) {
		size_t before = known->n;
		uint32_t id;

		status = ctx_strtab_add_text(known, from->sources[i].path, &id, err);
		if (status == CTX_OK && known->n != before)
			to[info->n_sources++] = from->sources[i];
	}
	return status;
}

static enum ctx_status add_symbols(struct ctx_joint *merged, const struct ctx_source_info *from,
				   struct ctx_strtab *known, struct ctx_err *err)
{
	struct ctx_source_info *info = &merged->source.info;
	struct ctx_source_symbols *to = (struct ctx_source_symbols *)info->symbols;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < from->n_symbols && status == CTX_OK; i++) {
		size_t before = known->n;
		uint32_t id;

		status = ctx_strtab_add_text(known, from->symbols[i].path, &id, err);
		if (status == CTX_OK && known->n != before)
			to[info->n_symbols++] = from->symbols[i];
	}
	return status;
}

/* ---- kernel ---- */

static const char *release_of(const struct ctx_source_info *info)
{
	const struct ctx_property *property = find_property(info, "kernel");

	if (info->kernel.release != NULL && info->kernel.release[0] != '\0')
		return info->kernel.release;
	return property != NULL ? property->value : "";
}

bool ctx_joint_has_kernel(const struct ctx_joint *merged, const struct ctx_joint_part *part)
{
	const struct ctx_source_info *kernel = &merged->parts[merged->kernel].source->info;
	const struct ctx_source_info *own = &part->source->info;

	if (own == kernel)
		return true;
	if (own->clock.host == NULL || kernel->clock.host == NULL ||
	    strcmp(own->clock.host, kernel->clock.host) != 0 ||
	    strcmp(release_of(own), release_of(kernel)) != 0)
		return false;
	return own->kernel.address == 0 || kernel->kernel.address == 0 ||
	       !is_same_text(own->kernel.symbol, kernel->kernel.symbol) ||
	       own->kernel.address == kernel->kernel.address;
}

/* ---- all ---- */

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

static enum ctx_status allocate(struct ctx_joint *merged, struct ctx_err *err)
{
	struct ctx_source_info *info = &merged->source.info;
	size_t n_metrics = 0, n_properties = 0, n_sources = 0, n_symbols = 0;

	for (size_t i = 0; i < merged->n; i++) {
		const struct ctx_source_info *from = &merged->parts[i].source->info;

		n_metrics += from->n_metrics;
		n_properties += from->n_properties + OWN_PROPERTIES;
		n_sources += from->n_sources;
		n_symbols += from->n_symbols;
	}
	info->metrics = ctx_calloc(larger(n_metrics, 1), sizeof(*info->metrics));
	info->properties = ctx_calloc(n_properties, sizeof(*info->properties));
	info->sources = ctx_calloc(larger(n_sources, 1), sizeof(*info->sources));
	info->symbols = ctx_calloc(larger(n_symbols, 1), sizeof(*info->symbols));
	return info->metrics != NULL && info->properties != NULL && info->sources != NULL &&
			       info->symbols != NULL
		       ? CTX_OK
		       : ctx_err_nomem(err);
}

static bool has_heap(const struct ctx_source_info *info)
{
	for (uint32_t i = 0; i < info->n_metrics; i++) {
		enum ctx_traced_kind kind;

		if (info->metrics[i].word != NULL &&
		    ctx_traced_kind_of_metric(info->metrics[i].word, &kind) && kind == CTX_TRACED_HEAP)
			return true;
	}
	return false;
}

/* Sampled allocations count for others, by a number that is one for all. */
static enum ctx_status check_heaps(const struct ctx_joint *merged, struct ctx_err *err)
{
	const struct ctx_joint_part *first = NULL;

	for (size_t i = 0; i < merged->n; i++) {
		const struct ctx_joint_part *part = &merged->parts[i];
		const struct ctx_source_info *info = &part->source->info;

		if (!has_heap(info))
			continue;
		if (first != NULL && ctx_heap_sample_bytes(info->properties, info->n_properties) !=
					     ctx_heap_sample_bytes(first->source->info.properties,
								   first->source->info.n_properties))
			return ctx_err_set(err, CTX_E_ARG,
					   "--merge: allocations of %s and %s were sampled differently",
					   first->name, part->name);
		first = first == NULL ? part : first;
	}
	return CTX_OK;
}

/* Reports of calls are of single ones, or of sums. */
static enum ctx_status check_calls(const struct ctx_joint *merged, struct ctx_err *err)
{
	const struct ctx_joint_part *first = NULL;

	for (size_t i = 0; i < merged->n; i++) {
		const struct ctx_joint_part *part = &merged->parts[i];

		if (!part->source->info.has_calls)
			continue;
		first = first == NULL ? part : first;
		if (part->source->info.call_sums != first->source->info.call_sums)
			return ctx_err_set(err, CTX_E_ARG,
					   "--merge: of %s and %s one has single calls, the other sums of "
					   "calls (ctxrec --calls=summary)",
					   first->name, part->name);
	}
	return CTX_OK;
}

static void add_times(struct ctx_source_info *info, const struct ctx_joint_part *part)
{
	const struct ctx_source_info *from = &part->source->info;
	uint64_t end_ns = part->offset_ns + from->duration_ns;
	uint64_t states_end_ns = part->offset_ns + from->states_end_ns;

	info->duration_ns = end_ns > info->duration_ns ? end_ns : info->duration_ns;
	if (from->states_end_ns != 0 && (info->states_end_ns == 0 || states_end_ns < info->states_end_ns))
		info->states_end_ns = states_end_ns;
}

/* Of the sources with states all have to agree on what the clock is. */
static void add_clocks(struct ctx_source_info *info, const struct ctx_source_info *from)
{
	if (!from->has_states)
		return;
	if (!info->has_states) {
		info->user_clock_ns = from->user_clock_ns;
		info->kernel_clock = from->kernel_clock;
	} else if (info->user_clock_ns != from->user_clock_ns) {
		info->user_clock_ns = 0;
	}
	info->kernel_clock = info->kernel_clock && from->kernel_clock;
	info->has_states = true;
}

static void add_facts(struct ctx_joint *merged, struct ctx_joint_part *part)
{
	struct ctx_source_info *info = &merged->source.info;
	const struct ctx_source_info *from = &part->source->info;
	bool is_first = part == merged->parts;

	add_times(info, part);
	add_clocks(info, from);
	info->closed = (is_first || info->closed) && from->closed;
	info->has_calls |= from->has_calls;
	info->call_sums |= from->call_sums;
	info->has_omp |= from->has_omp;
	if (info->n_call_counters == 0 && from->n_call_counters != 0) {
		info->call_counters = from->call_counters;
		info->n_call_counters = from->n_call_counters;
		part->has_counters = true;
	}
	if (info->fallback_root[0] == '\0')
		info->fallback_root = from->fallback_root;
	if (is_first)
		info->n_threads = from->n_threads;
	else
		info->n_threads = info->n_threads != 0 && from->n_threads != 0 &&
						  from->n_threads <= UINT32_MAX - info->n_threads
					  ? info->n_threads + from->n_threads
					  : 0;
	info->bytes += from->bytes;
}

/* "a.perf + b.perf", and the notes of all. */
static enum ctx_status join_texts(struct ctx_joint *merged, struct ctx_err *err)
{
	struct ctx_source_info *info = &merged->source.info;
	struct ctx_buf name CTX_AUTO_BUF = {0}, notes CTX_AUTO_BUF = {0};
	enum ctx_status status;

	for (size_t i = 0; i < merged->n; i++) {
		const struct ctx_source_info *from = &merged->parts[i].source->info;

		ctx_buf_printf(&name, "%s%s", i != 0 ? " + " : "", from->name);
		if (from->notes[0] != '\0')
			ctx_buf_printf(&notes, "%s%s: %s", notes.n != 0 ? "\n" : "", merged->parts[i].name,
				       from->notes);
	}
	ctx_buf_put_u8(&name, 0);
	ctx_buf_put_u8(&notes, 0);
	status = ctx_buf_check(&name, err);
	if (status == CTX_OK)
		status = ctx_buf_check(&notes, err);
	if (status != CTX_OK)
		return status;
	info->name = ctx_arena_strdup(&merged->arena, (const char *)name.bytes);
	info->notes = ctx_arena_strdup(&merged->arena, (const char *)notes.bytes);
	return info->name != NULL && info->notes != NULL ? CTX_OK : ctx_err_nomem(err);
}

enum ctx_status ctx_joint_describe(struct ctx_joint *merged, const struct ctx_joint_input *inputs,
				   struct ctx_err *err)
{
	struct ctx_source_info *info = &merged->source.info;
	struct ctx_strtab sources CTX_CLEANUP(ctx_strtab_deinit) = {0};
	struct ctx_strtab symbols CTX_CLEANUP(ctx_strtab_deinit) = {0};
	enum ctx_status status = allocate(merged, err);

	info->format = "merged";
	info->fallback_root = "";
	if (status == CTX_OK)
		status = check_heaps(merged, err);
	if (status == CTX_OK)
		status = check_calls(merged, err);
	for (size_t i = 0; i < merged->n && status == CTX_OK; i++) {
		struct ctx_joint_part *part = &merged->parts[i];

		add_facts(merged, part);
		status = add_metrics(merged, part, err);
		if (status == CTX_OK)
			status = add_properties(merged, part, inputs[i].placed, err);
		if (status == CTX_OK)
			status = add_sources(merged, &part->source->info, &sources, err);
		if (status == CTX_OK)
			status = add_symbols(merged, &part->source->info, &symbols, err);
	}
	while (merged->kernel + 1 < merged->n &&
	       merged->parts[merged->kernel].source->info.clock.host == NULL)
		merged->kernel++;
	if (merged->parts[merged->kernel].source->info.clock.host == NULL)
		merged->kernel = 0;
	info->kallsyms = merged->parts[merged->kernel].source->info.kallsyms;
	info->kernel = merged->parts[merged->kernel].source->info.kernel;
	return status == CTX_OK ? join_texts(merged, err) : status;
}
