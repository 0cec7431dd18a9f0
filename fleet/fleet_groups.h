/*
 * The chosen recordings by a key: how many, from when to when, what they lost, and their weight.
 */
#ifndef CTX_FLEET_FLEET_GROUPS_H
#define CTX_FLEET_FLEET_GROUPS_H

#include "fleet/fleet_index.h"

struct ctx_fleet_groups; /* opaque */

/* `spec->by` is a single key of recordings. Errors as of ctx_fleet_index_make. O(recordings). */
CTX_MUST_CHECK enum ctx_status ctx_fleet_groups_make(const struct ctx_fleet_index_spec *spec,
						     struct ctx_fleet_groups **ret, struct ctx_err *err);
void ctx_fleet_groups_destroy(struct ctx_fleet_groups *groups); /* NULL does nothing */

/* The heaviest first; those of the same weight by their values. Borrowed from the groups. */
const struct ctx_report_fleet_group *ctx_fleet_groups_rows(const struct ctx_fleet_groups *groups,
							   size_t *ret_n);

#endif
