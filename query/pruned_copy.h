/*
 * A run without its samples, for archives (store/archive.h): the entities and the time trees of a database.
 *
 *	leaf's samples --histogram--> its lists, as inner nodes have them
 *
 * What time trees answer for the whole run, and for intervals that are whole nodes, is the same as before.
 */
#ifndef CTX_QUERY_PRUNED_COPY_H
#define CTX_QUERY_PRUNED_COPY_H

#include "base/buf.h"
#include "store/store.h"

struct ctx_pruned_spec {
	struct ctx_store *store;
	struct ctx_kept_figure *figures; /* that the copy keeps; borrowed */
	size_t n_figures;
	uint32_t levels; /* of time trees that are kept below the root */
};

/*
 * Appends the copy's database to `image`. CTX_E_NOMEM, CTX_E_FORMAT (a damaged database), CTX_E_LIMIT. O(nodes +
 * samples); the copy is in memory.
 */
CTX_MUST_CHECK enum ctx_status ctx_pruned_copy(const struct ctx_pruned_spec *spec, struct ctx_buf *image,
					       struct ctx_err *err);

#endif
