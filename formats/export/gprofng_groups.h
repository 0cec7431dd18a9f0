/*
 * Items by group, in order: threads of processes, children of processes. Two arrays, filled by a
 * counting sort.
 */
#ifndef CTX_FORMATS_EXPORT_GPROFNG_GROUPS_H
#define CTX_FORMATS_EXPORT_GPROFNG_GROUPS_H

#include "base/err.h"

#include <stdint.h>

struct ctx_gpx_groups {	  /* all zero is a valid empty one */
	uint32_t *items;  /* owned; items begins[g] .. begins[g + 1] are those of group g, ascending */
	uint32_t *begins; /* owned; one more than groups */
};

struct ctx_gpx_grouping {
	uint32_t n_groups, n_items;
	/* The group of an item; items whose group is out of range belong to none. */
	uint32_t (*group_of)(const void *context, uint32_t item);
	const void *context;
};

/* O(groups + items). CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_gpx_groups_init(struct ctx_gpx_groups *groups,
						   const struct ctx_gpx_grouping *grouping,
						   struct ctx_err *err);
void ctx_gpx_groups_deinit(struct ctx_gpx_groups *groups);

#endif
