/*
 * A metadata file of indicators for the next recording (formats/indicators/indicator_file.h): the functions that most samples are in. Where
 * callers are uncertain, since stacks are cut, every thousandth call is recorded with its call stack.
 */
#include "base/mem.h"
#include "formats/export/exports.h"

#include <inttypes.h>
#include <stdlib.h>

#define FUNCTIONS_MAX 32u
#define SHARE_ENOUGH 0.9 /* of the weight */
#define THRESHOLD 1000u

struct hot {
	uint32_t function;
	uint64_t weight, truncated; /* by samples in it: all, and those whose stack is cut */
};

/* The function that has the code: none that is inlined there. CTX_NONE: unknown. */
static uint32_t function_of(const struct ctx_profile *profile, uint32_t node)
{
	while (node != 0 && node < profile->cct.n) {
		uint32_t function = profile->cct.key[node];

		if (function >= profile->n_functions)
			return CTX_NONE;
		if (!profile->functions[function].inlined)
			return function;
		node = profile->cct.parent[node];
	}
	return CTX_NONE;
}

/* Of a node below the root. */
static bool is_truncated(const struct ctx_profile *profile, uint32_t node)
{
	uint32_t outermost = profile->cct.key[ctx_trie_ancestor(&profile->cct, node, 1)];

	return outermost < profile->n_functions &&
	       profile->functions[outermost].kind == CTX_FUNCTION_TRUNCATED;
}

/* An indicator needs a file and a place in it. */
static bool can_be_counted(const struct ctx_profile *profile, uint32_t function)
{
	const struct ctx_function_info *info;

	if (function >= profile->n_functions)
		return false;
	info = &profile->functions[function];
	return info->kind == CTX_FUNCTION_ORDINARY && info->object < profile->n_objects &&
	       profile->objects[info->object].path[0] == '/' &&
	       profile->objects[info->object].path[1] != '/' &&
	       profile->objects[info->object].build_id[0] != '\0' && info->size != 0;
}

static int by_weight(const void *a, const void *b)
{
	const struct hot *left = a, *right = b;

	if (left->weight != right->weight)
		return left->weight > right->weight ? -1 : 1;
	return (left->function > right->function) - (left->function < right->function);
}

static int by_object(const void *a, const void *b, void *context)
{
	const struct ctx_profile *profile = context;
	const struct ctx_function_info *left = &profile->functions[((const struct hot *)a)->function];
	const struct ctx_function_info *right = &profile->functions[((const struct hot *)b)->function];

	if (left->object != right->object)
		return left->object < right->object ? -1 : 1;
	return (left->offset > right->offset) - (left->offset < right->offset);
}

static void put_attribute(FILE *out, const char *name, const char *value)
{
	fprintf(out, " %s=\"", name);
	for (; *value != '\0'; value++) {
		unsigned char c = (unsigned char)*value;

		if (c < ' ' || c == '&' || c == '<' || c == '>' || c == '"')
			fprintf(out, "&#%u;", c < ' ' ? '?' : c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

static void put_function(const struct ctx_profile *profile, const struct hot *hot, FILE *out)
{
	const struct ctx_function_info *function = &profile->functions[hot->function];

	fprintf(out, "    <indicator offset=\"0x%" PRIx64 "\" length=\"%" PRIu64 "\"", function->offset,
		function->size);
	if (hot->truncated != 0)
		fprintf(out, " flags=\"count raise\" threshold=\"%u\"", THRESHOLD);
	else
		fputs(" flags=\"count\"", out);
	put_attribute(out, "name", function->linkage_name);
	fputs("/>\n", out);
}

/* Adds up by function; returns the sum. */
static uint64_t add_up(const struct ctx_profile *profile, const struct ctx_report_parts *parts,
		       struct hot *all)
{
	uint64_t sum = 0;

	for (size_t p = 0; p < parts->n; p++) {
		const struct ctx_histogram *histogram = parts->parts[p].histograms;

		for (size_t i = 0; i < histogram->n; i++) {
			const struct ctx_hist_entry *entry = &histogram->entries[i];
			uint32_t function = function_of(profile, entry->stack);

			sum += entry->weight;
			if (!can_be_counted(profile, function))
				continue;
			all[function].function = function;
			all[function].weight += entry->weight;
			if (is_truncated(profile, entry->stack))
				all[function].truncated += entry->weight;
		}
	}
	return sum;
}

static enum ctx_status write_indicators(const struct ctx_export_input *input, FILE *out, struct ctx_err *err)
{
	const struct ctx_profile *profile = input->profile;
	struct hot *all CTX_AUTO_FREE = ctx_calloc((size_t)profile->n_functions + 1, sizeof(*all));
	struct ctx_report_parts parts;
	uint64_t sum, taken = 0;
	uint32_t object = CTX_NONE;
	size_t n = 0;
	enum ctx_status status =
		input->source->parts(input->source, &(struct ctx_parts_query){0}, &parts, err);

	if (status == CTX_OK && all == NULL)
		status = ctx_err_nomem(err);
	if (status != CTX_OK)
		return status;
	sum = add_up(profile, &parts, all);
	qsort(all, profile->n_functions, sizeof(*all), by_weight);
	while (n < FUNCTIONS_MAX && n < profile->n_functions && all[n].weight != 0 &&
	       (double)taken < SHARE_ENOUGH * (double)sum)
		taken += all[n++].weight;
	if (n != 0)
		qsort_r(all, n, sizeof(*all), by_object, (void *)(uintptr_t)profile);
	fputs("<?xml version=\"1.0\"?>\n<indicators version=\"1\">\n", out);
	for (size_t i = 0; i < n; i++) {
		uint32_t next = profile->functions[all[i].function].object;

		if (next != object) {
			fprintf(out, "%s  <object", object != CTX_NONE ? "  </object>\n" : "");
			put_attribute(out, "path", profile->objects[next].path);
			put_attribute(out, "build_id", profile->objects[next].build_id);
			fputs(">\n", out);
		}
		object = next;
		put_function(profile, &all[i], out);
	}
	fprintf(out, "%s</indicators>\n", object != CTX_NONE ? "  </object>\n" : "");
	return CTX_OK;
}

const struct ctx_export_kind ctx_export_indicators = {
	.name = "indicators",
	.suffix = ".xml",
	.write = write_indicators,
};
