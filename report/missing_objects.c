#include "report/missing_objects.h"

#include "base/mem.h"
#include "report/figures.h"
#include "report/names.h"

#include <stdlib.h>
#include <string.h>

const char *ctx_missing_object_reason(const struct ctx_profile *profile, uint32_t object)
{
	static const char none[] = "none: ";
	const struct ctx_object_info *info;

	if (object >= profile->n_objects)
		return NULL;
	info = &profile->objects[object];
	/* "//anon", "[vdso]", "[kernel]" */
	if (info->path[0] != '/' || info->path[1] == '/')
		return NULL;
	if (strncmp(info->symbols, none, sizeof(none) - 1) != 0 || strstr(info->symbols, "no symbol") != NULL)
		return NULL;
	return info->symbols + sizeof(none) - 1;
}

static void add_up(const struct ctx_profile *profile, const struct ctx_histogram *histogram,
		   struct ctx_missing_object *by_object)
{
	for (size_t i = 0; i < histogram->n; i++) {
		const struct ctx_hist_entry *entry = &histogram->entries[i];
		uint32_t function = CTX_NONE, object;

		if (entry->stack != CTX_TRIE_ROOT && entry->stack < profile->cct.n)
			function = profile->cct.key[entry->stack];
		if (function >= profile->n_functions)
			continue;
		object = profile->functions[function].object;
		if (object >= profile->n_objects)
			continue;
		by_object[object].samples += entry->samples;
		by_object[object].weight += entry->weight;
	}
}

static int compare(const void *left, const void *right)
{
	const struct ctx_missing_object *a = left, *b = right;

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return a->object < b->object ? -1 : a->object > b->object;
}

enum ctx_status ctx_missing_objects_find(const struct ctx_profile *profile,
					 const struct ctx_report_parts *parts,
					 struct ctx_missing_objects *ret, struct ctx_err *err)
{
	struct ctx_missing_objects missing = {.all_samples = parts->omitted.samples,
					      .all_weight = parts->omitted.weight};

	missing.items = ctx_calloc((size_t)profile->n_objects + 1, sizeof(*missing.items));
	if (missing.items == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < parts->n; i++) {
		add_up(profile, parts->parts[i].histograms, missing.items);
		missing.all_samples += parts->parts[i].histograms->samples;
		missing.all_weight += parts->parts[i].histograms->weight;
	}
	for (uint32_t i = 0; i < profile->n_objects; i++) {
		struct ctx_missing_object item = missing.items[i];

		item.object = i;
		item.reason = ctx_missing_object_reason(profile, i);
		if (item.reason == NULL || item.samples == 0)
			continue;
		missing.samples += item.samples;
		missing.weight += item.weight;
		missing.items[missing.n++] = item;
	}
	qsort(missing.items, missing.n, sizeof(*missing.items), compare);
	*ret = missing;
	return CTX_OK;
}

void ctx_missing_objects_put(const struct ctx_missing_objects *missing, const struct ctx_profile *profile,
			     struct ctx_buf *out)
{
	for (size_t i = 0; i < missing->n; i++) {
		const struct ctx_missing_object *item = &missing->items[i];
		char percent[CTX_FIGURE_MAX];

		ctx_figure_percent(percent, item->samples, missing->all_samples, 1);
		ctx_buf_printf(out, "%s%s (%s %%%s)", i == 0 ? "missing binaries: " : ", ",
			       ctx_name_of_path(profile->objects[item->object].path), percent,
			       i == 0 ? " of the samples" : "");
	}
}

void ctx_missing_objects_deinit(struct ctx_missing_objects *missing)
{
	free(missing->items);
	*missing = (struct ctx_missing_objects){0};
}
