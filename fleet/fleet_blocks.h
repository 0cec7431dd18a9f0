/*
 * The recordings of a fleet in blocks, for comparisons: each is a source of its own, with a histogram of the fleet's first metric.
 *
 *	recordings --by host, or one by one--> blocks --struct ctx_report_source--> sides of compare/diff.h
 *
 * Recordings of one host are not independent, so hosts are the units of the test where there are enough. A block
 * has no samples one by one, as a recording that was archived without (struct ctx_losses).
 */
#ifndef CTX_FLEET_FLEET_BLOCKS_H
#define CTX_FLEET_FLEET_BLOCKS_H

#include "fleet/fleet_index.h"

#define CTX_FLEET_BLOCKS_MAX 200u

struct ctx_fleet_blocks; /* opaque */

/*
 * By `spec->by`, a key of recordings ("host", "recording"), of the first metric. More than CTX_FLEET_BLOCKS_MAX are put together, neighbours
 * by name. `groups` are those of the same key. All of the spec is borrowed while the blocks live, and so is `selection`, which
 * the sources have but for their names and times. Hosts and recordings without samples are left out; CTX_E_NOTFOUND: all are. Otherwise
 * errors as of ctx_fleet_index_make.
 */
CTX_MUST_CHECK enum ctx_status ctx_fleet_blocks_make(const struct ctx_fleet_index_spec *spec,
						     const struct ctx_report_selection *selection,
						     struct ctx_fleet_blocks **ret, struct ctx_err *err);
void ctx_fleet_blocks_destroy(struct ctx_fleet_blocks *blocks); /* NULL does nothing */

/* Borrowed from the blocks; at least one. */
struct ctx_report_source *const *ctx_fleet_blocks_sources(const struct ctx_fleet_blocks *blocks,
							  size_t *ret_n);
/* Hosts or recordings in all blocks: more than blocks where several are put together. */
size_t ctx_fleet_blocks_n_groups(const struct ctx_fleet_blocks *blocks);

#endif
