/*
 * The store's inside, shared by its own files only.
 *
 *	store_write.c     create, trees, nodes, leaves, commit        store_open.c   open, check the header, small queries store_contents.c  nouns and call stacks: writing              store_load.c   nouns and call stacks: reading store_read.c      nodes and leaves, scan                      store_sql.c    SQL that only reads; vtab_*.c: its virtual tables
 *
 * A row of tree t, node n has the id t << 32 | n, in node_row, node_list and sample_block alike: no index is
 * needed, and the rows of a tree lie together.
 */
#ifndef CTX_STORE_STORE_IMPL_H
#define CTX_STORE_STORE_IMPL_H

#include "base/map64.h"
#include "store/block_codec.h"
#include "store/statement.h"
#include "store/store.h"

enum put_statement { PUT_TREE, PUT_NODE, PUT_LIST, PUT_BLOCK, N_PUT };

/* Reads sample blocks: the store has one for its callers, every SQL cursor its own. */
struct leaf_reader {
	const struct ctx_store *store;
	sqlite3_stmt *stmt;
	struct ctx_block_codec codec;
	struct ctx_sample *samples;
	size_t cap;
};

struct ctx_store {
	sqlite3 *db;
	char *path;	 /* as the caller named it: in every message */
	char *temp_path; /* NULL: not writing */
	int lock_fd;	 /* writing: holds the lock that says that the temporary file is alive */
	bool failed;	 /* writing: something could not be put; commit refuses */
	bool has_contents;
	sqlite3_stmt *put[N_PUT];
	struct ctx_block_codec codec;

	struct ctx_profile profile;
	const char *fingerprint; /* in the profile's arena */
	struct ctx_tree_info *trees;
	size_t n_trees, trees_cap;
	struct ctx_map64 tree_of; /* thread << 32 | metric -> tree id */
	uint32_t *raw_to_stack;
	uint32_t n_raw_stacks, n_locations;
	uint32_t *raw_parent, *raw_location, *location_object,
		*location_function; /* for SQL, from its first use on */
	uint64_t *location_address;
	uint64_t max_entries; /* of one long array: what a file of this size can reasonably hold */
	struct leaf_reader leaf;
	sqlite3_stmt *get_node, *get_list;
	struct ctx_store_cost cost;
	int pages_at_open;
	bool has_modules; /* the virtual tables are registered */
};

static inline int64_t node_rowid(uint32_t tree, uint32_t node)
{
	return (int64_t)((uint64_t)tree << 32 | node);
}

/* Ids in range, no process its own ancestor: both before writing (CTX_E_ARG) and after reading
 * (CTX_E_FORMAT); `wrong` says which. */
CTX_MUST_CHECK enum ctx_status store_check_profile(const struct ctx_profile *profile, enum ctx_status wrong,
						   struct ctx_err *err);

/* Reads everything that open promises, and checks it. */
CTX_MUST_CHECK enum ctx_status store_load(struct ctx_store *store, struct ctx_err *err);

/* The chunks of `column` of `table` as one array of exactly `n` numbers, each at most UINT32_MAX if `narrow`
 * (uint32_t array) or any (uint64_t array). malloc'ed. */
CTX_MUST_CHECK enum ctx_status store_load_column(struct ctx_store *store, const char *table,
						 const char *column, uint32_t n, bool narrow, void *ret,
						 struct ctx_err *err);

void leaf_reader_deinit(struct leaf_reader *reader);

/* The samples of one leaf, checked; n 0 when it has none. Borrowed until the next call with this reader. */
CTX_MUST_CHECK enum ctx_status leaf_reader_get(struct leaf_reader *reader, uint32_t tree, uint32_t node,
					       struct ctx_store_cost *cost,
					       const struct ctx_sample **ret_samples, size_t *ret_n,
					       struct ctx_err *err);

/*
 * The leaves of a tree that overlap a window, in time order: depth first over the nodes. Several walks may be
 * under way at once.
 */
struct pending_node {
	uint32_t node, parent;
};

struct leaf_walk {
	struct ctx_store *store;
	uint32_t tree;
	struct ctx_interval window;
	struct leaf_reader reader;
	struct pending_node *pending; /* to visit, the next one last */
	size_t n_pending, pending_cap;
};

/* leaf_walk_deinit is due also after a failure. */
CTX_MUST_CHECK enum ctx_status leaf_walk_init(struct leaf_walk *walk, struct ctx_store *store, uint32_t tree,
					      struct ctx_interval window, struct ctx_err *err);

/* All samples of the next leaf (those outside the window too; there may be none); CTX_END behind the last. */
CTX_MUST_CHECK enum ctx_status leaf_walk_next(struct leaf_walk *walk, const struct ctx_sample **ret_samples,
					      size_t *ret_n, struct ctx_err *err);
void leaf_walk_deinit(struct leaf_walk *walk);

#endif
