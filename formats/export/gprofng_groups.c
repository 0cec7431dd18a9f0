#include "formats/export/gprofng_groups.h"

#include "base/mem.h"

#include <stdlib.h>

enum ctx_status ctx_gpx_groups_init(struct ctx_gpx_groups *groups, const struct ctx_gpx_grouping *grouping,
				    struct ctx_err *err)
{
	uint32_t n_groups = grouping->n_groups, n_items = grouping->n_items;
	uint32_t at = 0;

	*groups =
		(struct ctx_gpx_groups){.items = ctx_calloc(n_items, sizeof(*groups->items)),
					.begins = ctx_calloc((size_t)n_groups + 2, sizeof(*groups->begins))};
	if (groups->items == NULL || groups->begins == NULL) {
		ctx_gpx_groups_deinit(groups);
		return ctx_err_nomem(err);
	}
	/*
	 * Counting sort: begins[g + 1] first counts the items before group g, then is the place of
	 * its next item, and finally its end.
	 */
	for (uint32_t i = 0; i < n_items; i++) {
		uint32_t group = grouping->group_of(grouping->context, i);

		if (group < n_groups)
			groups->begins[group + 2]++;
	}
	for (uint32_t group = 0; group < n_groups; group++) {
		at += groups->begins[group + 1];
		groups->begins[group + 1] = at;
	}
	for (uint32_t i = 0; i < n_items; i++) {
		uint32_t group = grouping->group_of(grouping->context, i);

		if (group < n_groups)
			groups->items[groups->begins[group + 1]++] = i;
	}
	return CTX_OK;
}

void ctx_gpx_groups_deinit(struct ctx_gpx_groups *groups)
{
	free(groups->items);
	free(groups->begins);
	*groups = (struct ctx_gpx_groups){0};
}
