/*
 * The store as the reader of one time tree.
 */
#ifndef CTX_QUERY_TREE_READER_H
#define CTX_QUERY_TREE_READER_H

#include "store/store.h"
#include "timetree/timetree.h"

struct ctx_tree_place {
	struct ctx_store *store;
	uint32_t tree; /* id in the store */
};

/* Without a CCT, which the caller adds if calls are needed. `place` must outlive the reader. */
struct ctx_timetree_reader ctx_tree_reader(struct ctx_tree_place *place);

#endif
