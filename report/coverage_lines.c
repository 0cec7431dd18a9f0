#include "report/coverage_lines.h"

#include "base/map64.h"
#include "base/mem.h"
#include "model/indicator.h"

#include <stdlib.h>
#include <string.h>

#define INLINED " (inlined)"

struct adding {
	const struct ctx_profile *profile;
	const struct ctx_code *code;
	uint32_t *line_of; /* by location: its line + 1; 0: not yet seen; owned */
	struct ctx_coverage_line *items;
	size_t n, cap;
	bool are_sites; /* those that are added now */
};

void ctx_coverage_lines_deinit(struct ctx_coverage_lines *lines)
{
	free(lines->items);
	*lines = (struct ctx_coverage_lines){0};
}

const char *ctx_coverage_function(const struct ctx_profile *profile, uint32_t function, size_t *ret_n)
{
	const char *name = function < profile->n_functions ? profile->functions[function].name : "";
	size_t n = strlen(name), n_more = strlen(INLINED);

	*ret_n = n > n_more && strcmp(name + n - n_more, INLINED) == 0 ? n - n_more : n;
	return name;
}

static struct ctx_coverage_line line_at(const struct adding *adding, uint32_t location)
{
	const struct ctx_location *at = &adding->code->locations[location];
	struct ctx_coverage_line line = {.function = at->function, .file = CTX_NONE};
	const struct ctx_site *site =
		at->site < adding->code->n_sites ? &adding->code->sites[at->site] : NULL;

	if (site == NULL)
		return line;
	line.function = site->function;
	if (site->file < adding->code->n_files && site->line != 0) {
		line.file = site->file;
		line.line = site->line;
	}
	return line;
}

static enum ctx_status take_sample(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	struct adding *adding = context;
	const struct ctx_code *code = adding->code;
	uint32_t location =
		sample->raw_stack < code->raw_stacks->n ? code->raw_stacks->key[sample->raw_stack] : CTX_NONE;
	struct ctx_coverage_line *line;

	if (location >= code->n_locations)
		return CTX_OK;
	if (adding->line_of[location] == 0) {
		enum ctx_status status = ctx_grow(&adding->items, &adding->cap, adding->n + 1, err);

		if (status != CTX_OK)
			return status;
		adding->items[adding->n++] = line_at(adding, location);
		adding->line_of[location] = (uint32_t)adding->n;
	}
	line = &adding->items[adding->line_of[location] - 1];
	*(adding->are_sites ? &line->sites : &line->executed) += sample->weight;
	return CTX_OK;
}

static int by_name(const struct ctx_profile *profile, uint32_t a, uint32_t b)
{
	size_t n_a, n_b;
	const char *left = ctx_coverage_function(profile, a, &n_a);
	const char *right = ctx_coverage_function(profile, b, &n_b);
	int order = memcmp(left, right, n_a < n_b ? n_a : n_b);

	return order != 0 ? order : (n_a > n_b) - (n_a < n_b);
}

static int by_place(const void *a, const void *b, void *context)
{
	const struct adding *adding = context;
	const struct ctx_coverage_line *left = a, *right = b;

	if (left->file != right->file) {
		int order;

		if (left->file == CTX_NONE || right->file == CTX_NONE)
			return left->file == CTX_NONE ? 1 : -1;
		order = strcmp(adding->code->files[left->file].path, adding->code->files[right->file].path);
		if (order != 0)
			return order;
	}
	if (left->line != right->line)
		return left->line < right->line ? -1 : 1;
	return by_name(adding->profile, left->function, right->function);
}

/* One row of those of equal places. */
static void join(struct adding *adding)
{
	size_t n = 0;

	if (adding->n != 0)
		qsort_r(adding->items, adding->n, sizeof(*adding->items), by_place, adding);
	for (size_t i = 0; i < adding->n; i++) {
		struct ctx_coverage_line *last = n != 0 ? &adding->items[n - 1] : NULL;

		if (last == NULL || by_place(last, &adding->items[i], adding) != 0) {
			adding->items[n++] = adding->items[i];
			continue;
		}
		last->sites += adding->items[i].sites;
		last->executed += adding->items[i].executed;
	}
	adding->n = n;
}

static enum ctx_status add_all(struct adding *adding, struct ctx_report_source *source,
			       const struct ctx_indicator_list *list, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < list->n && status == CTX_OK; i++) {
		struct ctx_samples_query query = {.thread = CTX_NONE,
						  .whole_run = true,
						  .has_metric = true,
						  .metric = list->items[i].sites};

		if (list->items[i].sites == CTX_NONE)
			continue;
		adding->are_sites = true;
		status = source->samples(source, &query, take_sample, adding, err);
		query.whole_run = false;
		query.metric = list->items[i].metric;
		adding->are_sites = false;
		if (status == CTX_OK)
			status = source->samples(source, &query, take_sample, adding, err);
	}
	return status;
}

enum ctx_status ctx_coverage_lines_pull(struct ctx_report_source *source, struct ctx_coverage_lines *ret,
					struct ctx_err *err)
{
	const struct ctx_profile *profile = source->selection.profile;
	struct ctx_indicator_list list CTX_CLEANUP(ctx_indicator_list_deinit) = {0};
	struct adding adding = {.profile = profile};
	struct ctx_report_code code = {0};
	enum ctx_status status = ctx_indicator_list_read(&list, profile->properties, profile->n_properties,
							 profile->n_metrics, err);

	*ret = (struct ctx_coverage_lines){0};
	for (size_t i = 0; i < list.n; i++)
		ret->has_any = ret->has_any || list.items[i].sites != CTX_NONE;
	if (status != CTX_OK || !ret->has_any)
		return status;
	status = source->code(source, &code, err);
	if (status != CTX_OK)
		return status;
	adding.code = code.code;
	adding.line_of = ctx_calloc(code.code->n_locations + 1, sizeof(*adding.line_of));
	status = adding.line_of != NULL ? add_all(&adding, source, &list, err) : ctx_err_nomem(err);
	free(adding.line_of);
	if (status != CTX_OK) {
		free(adding.items);
		return status;
	}
	join(&adding);
	ret->items = adding.items;
	ret->n = adding.n;
	ret->code = code.code;
	return CTX_OK;
}
